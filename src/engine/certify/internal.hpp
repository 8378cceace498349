// Internal: is an anomaly inside one transaction, or of one read, really there?
//
// Each of them is alone a violation: no execution at any level that forbids it has
// that read. What is asked is that, and the circumstances that the anomaly's name
// reports (docs/reference/anomalies.md): the aborted write of an aborted read, for example.
#pragma once

#include "engine/certify/context.hpp"

namespace cupel::certify {

// At the context's level.
Rejection shows_internal(Context& context, const InternalAnomaly& anomaly);

}  // namespace cupel::certify
