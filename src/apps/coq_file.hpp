// coq_file: a history and its certificate as a file for Coq (`verify --proved --coq`), with a
// theorem for each answer. The kernel of Coq evaluates the verifier of proofs/ on them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "data/history/history.hpp"

namespace cupel::apps {

// `history`, `certificate`: the canonical texts (docs/reference/formats/canonical.md).
base::Result<std::string> coq_file(std::string_view history, std::string_view certificate,
                                   history::Time drift);

}  // namespace cupel::apps
