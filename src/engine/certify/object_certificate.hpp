// The certificate of a history of objects (docs/reference/formats/certificate.md#objects): an order
// for each object, or a pattern that no order explains. See object_proofs.hpp for the checks.
#pragma once

#include <string_view>

#include "data/history/object_history.hpp"
#include "engine/certify/verify.hpp"

namespace cupel::certify {

bool is_object_certificate(std::string_view certificate_json);

// As verify(), for linearizable. The intervals of the history are widened by the drift.
Report verify_objects(history::ObjectHistory& history, std::string_view certificate_json,
                      history::Time clock_drift_ns);

}  // namespace cupel::certify
