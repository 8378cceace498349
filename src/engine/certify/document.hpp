// Document: a certificate as data, every number in range, every field known.
//
// Nothing here is proven yet; docs/reference/formats/certificate.md says what each part
// claims. Transactions, operations and keys are the certificate's numbers.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/certify/levels_table.hpp"

namespace cupel::certify {

using Number = std::uint32_t;
// As a writer: the initial transaction.
inline constexpr Number kNone = std::numeric_limits<Number>::max();

enum class EdgeKind : std::uint8_t { kOwn, kSo, kRt, kWr, kWw, kRw, kSaw };
enum class Reason : std::uint8_t {
  kGiven,
  kOnlyWriter,
  kAssumed,
  kListOrder,
  kVisible,
  kNoOverlap,
  kInitial,
  kOverwritten,
};
std::string_view name_of(EdgeKind kind);
std::string_view name_of(Reason reason);

// Which transactions "the read saw W" speaks of.
enum class Bound : std::uint8_t { kExact, kEarlier, kLater };
// An event of a transaction: all of it at levels with one.
enum class Point : std::uint8_t { kWhole, kBegin, kCommit };

struct Exclusion {
  Number writer;
  std::vector<Number> cycle;
};

struct Edge {
  EdgeKind kind = EdgeKind::kSo;
  Reason reason = Reason::kGiven;
  Number from = kNone, to = kNone;
  Point from_point = Point::kWhole, to_point = Point::kWhole;
  Number key = kNone, read = kNone, writer = kNone;
  Number write = kNone;  // kNone: not named
  std::array<Number, 2> writes = {kNone, kNone};
  Bound bound = Bound::kExact;
  bool has_because = false;
  std::vector<Number> because;
  std::vector<Exclusion> excluded;
};

// `before`: transaction a before b. Else: what a read saw.
struct Choice {
  bool is_before = false;
  Number first = kNone, second = kNone;  // before
  Number read = kNone, key = kNone, writer = kNone;
  Bound bound = Bound::kExact;
};

struct Derivation {
  std::vector<Choice> choices;
  std::vector<Edge> edges;
  bool by_clauses = false;
  std::vector<Number> cycle;                          // not by clauses
  std::vector<std::vector<Number>> clauses;           // cycles
  std::vector<std::vector<std::int32_t>> refutation;  // literals: choices from 1, negative = false
};

struct InternalAnomaly {
  std::string name;
  Number transaction, read, key;
  Number other, other_transaction;  // kNone: null
};

struct Place {
  Number key, position, operation;
};

struct CaseSplit;
struct Placing;
// One of four.
using Body = std::variant<std::vector<InternalAnomaly>, Derivation, std::unique_ptr<CaseSplit>,
                          std::vector<Placing>>;
// A proof by cases about an indeterminate transaction: field `suppose`.
struct CaseSplit {
  Number transaction;
  Body happened, never;
};
struct Placing {
  std::vector<Place> places;
  Body proof;
};

struct KeyOrder {
  Number key;
  std::vector<Number> order;
};
struct ReadFrom {
  Number operation, key, writer;
};

struct Proof {
  Level level = Level::kReadCommitted;
  bool satisfied = false;
  std::vector<Number> order;
  std::vector<KeyOrder> orders;  // linearizable
  std::vector<ReadFrom> reads_from;
  std::vector<Place> placings;
  Body body;
};

struct ClaimedAnswer {
  Level level;
  bool satisfied;
  std::size_t proof;
};

struct Document {
  std::string digest;
  std::uint64_t transactions = 0, operations = 0;
  std::int64_t clock_drift_ns = 0;
  std::vector<ClaimedAnswer> answers;
  std::vector<Proof> proofs;
};

// How many of each the history has: what numbers may go up to.
struct Sizes {
  std::size_t transactions, operations, keys;
};

struct Parsed {
  enum { kWell, kMalformed, kNoCertificate } what = kWell;
  std::string trouble;  // what was found and expected, and where: "proofs[1].order[3]: …"
  Document document;
};

// Checks the digest's shape, not its value; and the two counts before any other number.
Parsed parse(std::string_view json, const Sizes& sizes);

}  // namespace cupel::certify
