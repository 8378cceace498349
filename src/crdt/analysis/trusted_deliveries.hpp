// Trusted deliveries: what the operations of a recording had seen, as far as a check may use it.
//
// Without deliveries cupel goes by causal order. So a recording that promises less is refused
// without them, unless its deliveries are causal anyway; and types that are decided only with
// deliveries are refused without them.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "crdt/model/recording.hpp"
#include "crdt/model/visibility.hpp"

namespace cupel::crdt {

struct TrustedDeliveries {
  std::optional<Visibility> visibility = {};  // nothing: it is decided without deliveries
  std::string note = {};                      // why, if the recording has some; or empty
};

// `context`: the option --context, or empty. Errors: deliveries that are asked for and not there,
// or that no execution has; a recording that is refused without them.
base::Result<TrustedDeliveries> trusted_deliveries(const std::string& file,
                                                   const Recording& recording,
                                                   const std::string& context);

}  // namespace cupel::crdt
