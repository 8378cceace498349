// Names of the internal anomalies, and where each is first forbidden.
#include "engine/levels/derivation.hpp"

namespace cupel::levels {

std::string_view name(InternalKind kind) {
  switch (kind) {
    case InternalKind::kThinAirRead:
      return "thin-air-read";
    case InternalKind::kAbortedRead:
      return "aborted-read";
    case InternalKind::kIntermediateRead:
      return "intermediate-read";
    case InternalKind::kFutureRead:
      return "future-read";
    case InternalKind::kNotMyOwnWrite:
      return "not-my-own-write";
    case InternalKind::kNotMyLastWrite:
      return "not-my-last-write";
    case InternalKind::kIncompatibleOrder:
      return "incompatible-order";
    case InternalKind::kDuplicateElement:
      return "duplicate-element";
    case InternalKind::kNonRepeatableRead:
      return "non-repeatable-read";
    case InternalKind::kFailedCompareRead:
      return "failed-compare-read";
  }
  return "?";
}

Level forbidden_by(InternalKind kind) {
  return kind == InternalKind::kNonRepeatableRead ? Level::kReadAtomic : Level::kReadCommitted;
}

}  // namespace cupel::levels
