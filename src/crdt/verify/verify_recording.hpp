// Verify a certificate of a recording.
//
// Of named objects it has a certificate of each, or of the first one that is violated; each is
// checked as one of a history of one type (verify.hpp). With deliveries, what the replicas had
// received of an object is computed here from the lines of the whole (seen_updates.hpp). Without,
// the clocks of all objects must be those of one happens-before: they are joined along the
// replicas, and no operation may thereby have seen more of its object than its own certificate
// says. If no object is violated alone, the certificate names operations of several, which must
// have no common execution (exhaustive_search.hpp).
#pragma once

#include <string_view>

#include "crdt/model/recording.hpp"
#include "crdt/verify/verify.hpp"

namespace cupel::crdt {

// Named objects get their deliveries, if the certificate needs them.
Verified verify(Recording& recording, std::string_view certificate);

}  // namespace cupel::crdt
