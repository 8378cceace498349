// parse: see the header. An object's fields are visited one by one, so that an
// unknown or repeated one is found; which an edge may have is in one table.
#include "engine/certify/document.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <optional>

#include "base/simdjson_first_use.hpp"
#include "engine/certify/verify.hpp"

namespace cupel::certify {

namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

constexpr std::array<std::string_view, 7> kKindNames = {"own", "so", "rt", "wr", "ww", "rw", "saw"};
constexpr std::array<std::string_view, 8> kReasonNames = {"given",      "only-writer", "assumed",
                                                          "list-order", "visible",     "no-overlap",
                                                          "initial",    "overwritten"};

// Thrown and caught in this file only.
struct Trouble {
  std::string what;
};

// Where in the document we are; text is made only when something is wrong.
struct Whereabouts {
  const Whereabouts* parent;
  std::string_view field;
  std::size_t index;

  [[nodiscard]] std::string to_string() const {
    std::string text = parent != nullptr ? parent->to_string() : std::string();
    if (field.empty()) return parent == nullptr ? text : text + fmt::format("[{}]", index);
    return text + (text.empty() ? "" : ".") + std::string(field);
  }
};
using At = Whereabouts;

[[noreturn]] void fail(const At& at, const std::string& what) {
  const auto where = at.to_string();
  throw Trouble{where.empty() ? what : where + ": " + what};
}

std::string_view type_name(element e) {
  switch (e.type()) {
    case element_type::ARRAY:
      return "a list";
    case element_type::OBJECT:
      return "an object";
    case element_type::STRING:
      return "a string";
    case element_type::BOOL:
      return "true or false";
    case element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

object object_of(element e, const At& at) {
  object result;
  if (e.get(result) != simdjson::SUCCESS)
    fail(at, fmt::format("found {}, expected an object", type_name(e)));
  return result;
}
array array_of(element e, const At& at) {
  array result;
  if (e.get(result) != simdjson::SUCCESS)
    fail(at, fmt::format("found {}, expected a list", type_name(e)));
  return result;
}
std::string_view text_of(element e, const At& at) {
  std::string_view result;
  if (e.get(result) != simdjson::SUCCESS)
    fail(at, fmt::format("found {}, expected a string", type_name(e)));
  return result;
}
std::uint64_t natural_of(element e, const At& at) {
  std::uint64_t result = 0;
  if (e.get(result) != simdjson::SUCCESS) {
    fail(at, fmt::format("found {}, expected a whole number, 0 or more", simdjson::to_string(e)));
  }
  return result;
}
Number below(element e, std::size_t limit, std::string_view of_what, const At& at) {
  const auto number = natural_of(e, at);
  if (number >= limit) {
    fail(at, fmt::format("found {}, but there are {} {}, numbered from 0", number, limit, of_what));
  }
  return static_cast<Number>(number);
}

// The fields of an object: each known, each at most once, the required ones there.
// `visit(index, element, at)` with the index of the name in `names`.
template <std::size_t kCount, typename Visit>
std::uint32_t fields(element e, const At& at, const std::array<std::string_view, kCount>& names,
                     std::uint32_t required, const Visit& visit) {
  static_assert(kCount < 32);
  std::uint32_t seen = 0;
  for (const auto [name, value] : object_of(e, at)) {
    std::size_t i = 0;
    while (i < kCount && names[i] != name) ++i;
    if (i == kCount) fail(at, fmt::format("found the field `{}`, which has no meaning here", name));
    if ((seen >> i & 1) != 0) fail(at, fmt::format("found the field `{}` twice", name));
    seen |= 1u << i;
    visit(i, value, At{&at, names[i], 0});
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    if ((required >> i & 1) != 0 && (seen >> i & 1) == 0) {
      fail(at, fmt::format("expected the field `{}`", names[i]));
    }
  }
  return seen;
}

template <typename Visit>
void elements(element e, const At& at, const Visit& visit) {
  std::size_t i = 0;
  for (const element item : array_of(e, at)) {
    visit(item, At{&at, {}, i});
    ++i;
  }
}

// A tuple: a list of exactly so many.
template <std::size_t kCount, typename Visit>
void tuple(element e, const At& at, const Visit& visit) {
  const array items = array_of(e, at);
  if (items.size() != kCount) {
    fail(at, fmt::format("found a list of {}, expected one of {}", items.size(), kCount));
  }
  std::size_t i = 0;
  for (const element item : items) {
    visit(i, item, At{&at, {}, i});
    ++i;
  }
}

// Which fields an edge has, by kind and reason.
enum Field : std::uint32_t {
  kFrom = 1 << 0,
  kTo = 1 << 1,
  kAt = 1 << 2,
  kKind = 1 << 3,
  kReason = 1 << 4,
  kKey = 1 << 5,
  kWrite = 1 << 6,
  kWrites = 1 << 7,
  kRead = 1 << 8,
  kWriter = 1 << 9,
  kBound = 1 << 10,
  kBecause = 1 << 11,
  kExcluded = 1 << 12,
};
constexpr std::array<std::string_view, 13> kEdgeFields = {
    "from",   "to",   "at",     "kind",  "reason",  "key",     "write",
    "writes", "read", "writer", "bound", "because", "excluded"};
struct EdgeForm {
  EdgeKind kind;
  Reason reason;
  std::uint32_t required, optional;
};
constexpr std::uint32_t kEnds = kFrom | kTo | kKind | kReason;
constexpr EdgeForm kEdgeForms[] = {
    {EdgeKind::kOwn, Reason::kGiven, kEnds, 0},
    {EdgeKind::kSo, Reason::kGiven, kEnds, 0},
    {EdgeKind::kRt, Reason::kGiven, kEnds, 0},
    {EdgeKind::kWr, Reason::kGiven, kEnds | kKey | kWrite | kRead, 0},
    {EdgeKind::kWr, Reason::kOnlyWriter, kEnds | kKey | kWrite | kRead | kExcluded, 0},
    {EdgeKind::kWr, Reason::kAssumed, kEnds | kKey | kWrite | kRead, kBound},
    {EdgeKind::kWw, Reason::kListOrder, kEnds | kKey | kWrites | kRead, 0},
    {EdgeKind::kWw, Reason::kVisible, kEnds | kKey | kWrites | kRead | kBecause, kBound},
    {EdgeKind::kWw, Reason::kNoOverlap, kEnds | kKey | kWrites | kBecause, 0},
    {EdgeKind::kWw, Reason::kAssumed, kEnds | kKey | kWrites, 0},
    {EdgeKind::kRw, Reason::kInitial, kEnds | kKey | kRead, kWrite | kWriter},
    {EdgeKind::kRw, Reason::kOverwritten, kEnds | kKey | kRead | kWriter | kBecause, kWrite},
    {EdgeKind::kRw, Reason::kAssumed, kEnds | kKey | kRead | kWriter, kWrite | kBecause},
    {EdgeKind::kSaw, Reason::kOnlyWriter, kEnds | kKey | kRead | kExcluded, kWriter},
};

class Parser {
 public:
  explicit Parser(const Sizes& sizes) : sizes_(sizes) {}

  Document document(element root) {
    static constexpr std::array<std::string_view, 6> kNames = {
        "cupel_certificate", "history", "clock_drift_ns", "keys", "answers", "proofs"};
    Document d;
    const At top{nullptr, {}, 0};
    // The history first: with another one no number below means anything.
    element history;
    if (root["history"].get(history) == simdjson::SUCCESS)
      about(history, At{&top, "history", 0}, d);
    fields(root, top, kNames, 0b110111, [&](std::size_t field, element value, const At& at) {
      switch (field) {
        case 2: {
          const auto drift = natural_of(value, at);
          if (drift > kLongestDrift)
            fail(at, fmt::format("found {}, expected at most {}", drift, kLongestDrift));
          d.clock_drift_ns = static_cast<std::int64_t>(drift);
          break;
        }
        case 3:
          key_names(value, at);
          break;
        case 4:
          elements(value, at, [&](element e, const At& a) { d.answers.push_back(answer(e, a)); });
          break;
        case 5:
          elements(value, at, [&](element e, const At& a) { d.proofs.push_back(proof(e, a)); });
          break;
        default:
          break;
      }
    });
    for (std::size_t i = 0; i < d.answers.size(); ++i) {
      if (d.answers[i].proof < d.proofs.size()) continue;
      throw Trouble{
          fmt::format("answers[{}].proof: found {}, but there are {} proofs, numbered from 0", i,
                      d.answers[i].proof, d.proofs.size())};
    }
    return d;
  }

 private:
  static constexpr std::uint64_t kLongestDrift = std::uint64_t{1} << 61;

  void about(element e, const At& at, Document& d) const {
    static constexpr std::array<std::string_view, 4> kNames = {"digest", "transactions",
                                                               "operations", "bytes"};
    fields(e, at, kNames, 0b111, [&](std::size_t field, element value, const At& here) {
      switch (field) {
        case 0:
          d.digest = std::string(text_of(value, here));
          break;
        case 1:
          d.transactions = natural_of(value, here);
          break;
        case 2:
          d.operations = natural_of(value, here);
          break;
        default:
          natural_of(value, here);  // first_bytes_of() says what it is for
          break;
      }
    });
    if (d.transactions != sizes_.transactions || d.operations != sizes_.operations) {
      throw Trouble{
          fmt::format("the certificate is about a history of {} transactions and {} operations, "
                      "and this one has {} "
                      "and {}",
                      d.transactions, d.operations, sizes_.transactions, sizes_.operations)};
    }
  }

  // Names for people: they prove nothing, but must be names of keys.
  void key_names(element e, const At& at) const {
    for (const auto [name, value] : object_of(e, at)) {
      std::uint64_t number = 0;
      bool digits = !name.empty() && name.size() < 11;
      for (const char c : name) {
        digits = digits && c >= '0' && c <= '9';
        number = 10 * number + static_cast<unsigned char>(c - '0');
      }
      if (!digits || number >= sizes_.keys) {
        fail(at,
             fmt::format("found `{}`, but there are {} keys, numbered from 0", name, sizes_.keys));
      }
      text_of(value, At{&at, name, 0});
    }
  }

  Number transaction(element e, const At& at) const {
    return below(e, sizes_.transactions, "transactions", at);
  }
  Number operation(element e, const At& at) const {
    return below(e, sizes_.operations, "operations", at);
  }
  Number key(element e, const At& at) const { return below(e, sizes_.keys, "keys", at); }
  Number writer(element e, const At& at) const { return e.is_null() ? kNone : transaction(e, at); }

  static Level level(element e, const At& at) {
    const auto text = text_of(e, at);
    const auto found = level_named(text);
    if (!found) fail(at, fmt::format("found `{}`, expected the name of a level", text));
    return *found;
  }
  static bool satisfied(element e, const At& at) {
    const auto text = text_of(e, at);
    if (text != "satisfied" && text != "violated") {
      fail(at, fmt::format("found `{}`, expected satisfied or violated", text));
    }
    return text == "satisfied";
  }

  static ClaimedAnswer answer(element e, const At& at) {
    static constexpr std::array<std::string_view, 3> kNames = {"level", "verdict", "proof"};
    ClaimedAnswer a{};
    fields(e, at, kNames, 0b111, [&](std::size_t field, element value, const At& here) {
      switch (field) {
        case 0:
          a.level = level(value, here);
          break;
        case 1:
          a.satisfied = satisfied(value, here);
          break;
        default:
          a.proof = natural_of(value, here);
          break;
      }
    });
    return a;
  }

  std::vector<Number> transactions(element e, const At& at) const {
    std::vector<Number> result;
    result.reserve(array_of(e, at).size());
    elements(e, at,
             [&](element item, const At& here) { result.push_back(transaction(item, here)); });
    return result;
  }
  static std::vector<Number> edge_numbers(element e, const At& at) {
    std::vector<Number> result;
    elements(e, at, [&](element item, const At& here) {
      result.push_back(below(item, kNone, "edges", here));  // the list is not complete yet
    });
    return result;
  }

  Proof proof(element e, const At& at) const {
    static constexpr std::array<std::string_view, 9> kNames = {
        "level",    "verdict",    "order",   "orders",  "reads_from",
        "internal", "derivation", "suppose", "placings"};
    Proof p;
    element placings;
    const auto seen =
        fields(e, at, kNames, 0b11, [&](std::size_t field, element value, const At& here) {
          switch (field) {
            case 0:
              p.level = level(value, here);
              break;
            case 1:
              p.satisfied = satisfied(value, here);
              break;
            case 2:
              p.order = transactions(value, here);
              break;
            case 3:
              elements(value, here,
                       [&](element item, const At& a) { p.orders.push_back(key_order(item, a)); });
              break;
            case 4:
              elements(value, here, [&](element item, const At& a) {
                p.reads_from.push_back(read_from(item, a));
              });
              break;
            case 8:
              placings = value;
              break;
            default:
              break;
          }
        });
    const Shape shape = shape_of(p.level);
    const std::uint32_t body = seen >> 5, order = seen >> 2 & 0b111;
    if (!p.satisfied) {
      if (order != 0) fail(at, "found an order, which has no meaning for a violated level");
      p.body = one_body(e, body, at);
      return p;
    }
    const bool placed = body == 0b1000 && shape.is_weak();
    if (body != 0 && !placed)
      fail(at, "found evidence of a violation, which has no meaning for a satisfied level");
    if (placed) p.placings = places(placings, At{&at, "placings", 0});
    const std::uint32_t expected = shape.one_object ? 0b010 : 0b001;
    const std::uint32_t allowed = shape.is_weak() ? 0b101 : expected;
    if ((order & expected) == 0) {
      fail(at, fmt::format("expected the field `{}`", shape.one_object ? "orders" : "order"));
    }
    if ((order & ~allowed) != 0) {
      fail(at,
           fmt::format("found a field that has no meaning for {}, satisfied", name_of(p.level)));
    }
    return p;
  }

  KeyOrder key_order(element e, const At& at) const {
    static constexpr std::array<std::string_view, 2> kNames = {"key", "order"};
    KeyOrder result{};
    fields(e, at, kNames, 0b11, [&](std::size_t field, element value, const At& here) {
      if (field == 0)
        result.key = key(value, here);
      else
        result.order = transactions(value, here);
    });
    return result;
  }
  ReadFrom read_from(element e, const At& at) const {
    ReadFrom result{};
    tuple<3>(e, at, [&](std::size_t i, element item, const At& here) {
      if (i == 0)
        result.operation = operation(item, here);
      else if (i == 1)
        result.key = key(item, here);
      else
        result.writer = writer(item, here);
    });
    return result;
  }

  // `which`: the fields internal, derivation, suppose, placings as bits.
  Body one_body(element e, std::uint32_t which, const At& at) const {
    const auto field = [&](const char* name) { return e[name].value(); };
    switch (which) {
      case 1: {
        std::vector<InternalAnomaly> found;
        elements(field("internal"), At{&at, "internal", 0},
                 [&](element item, const At& a) { found.push_back(internal(item, a)); });
        return found;
      }
      case 2:
        return derivation(field("derivation"), At{&at, "derivation", 0});
      case 4:
        return case_split(field("suppose"), At{&at, "suppose", 0});
      case 8: {
        std::vector<Placing> placings;
        elements(field("placings"), At{&at, "placings", 0},
                 [&](element item, const At& a) { placings.push_back(placing(item, a)); });
        return placings;
      }
      default:
        fail(at, "expected one of the fields `internal`, `derivation`, `suppose` and `placings`");
    }
  }
  Body body(element e, const At& at) const {
    static constexpr std::array<std::string_view, 4> kNames = {"internal", "derivation", "suppose",
                                                               "placings"};
    return one_body(e, fields(e, at, kNames, 0, [](std::size_t, element, const At&) {}), at);
  }

  InternalAnomaly internal(element e, const At& at) const {
    static constexpr std::array<std::string_view, 6> kNames = {
        "name", "transaction", "read", "key", "other", "other_transaction"};
    InternalAnomaly a{{}, kNone, kNone, kNone, kNone, kNone};
    fields(e, at, kNames, 0b111111, [&](std::size_t field, element value, const At& here) {
      switch (field) {
        case 0:
          a.name = std::string(text_of(value, here));
          break;
        case 1:
          a.transaction = transaction(value, here);
          break;
        case 2:
          a.read = operation(value, here);
          break;
        case 3:
          a.key = key(value, here);
          break;
        case 4:
          a.other = value.is_null() ? kNone : operation(value, here);
          break;
        default:
          a.other_transaction = writer(value, here);
          break;
      }
    });
    return a;
  }

  std::unique_ptr<CaseSplit> case_split(element e, const At& at) const {
    static constexpr std::array<std::string_view, 3> kNames = {"transaction", "happened", "never"};
    auto result = std::make_unique<CaseSplit>();
    fields(e, at, kNames, 0b111, [&](std::size_t field, element value, const At& here) {
      switch (field) {
        case 0:
          result->transaction = transaction(value, here);
          break;
        case 1:
          result->happened = body(value, here);
          break;
        default:
          result->never = body(value, here);
          break;
      }
    });
    return result;
  }

  Placing placing(element e, const At& at) const {
    static constexpr std::array<std::string_view, 2> kNames = {"places", "proof"};
    Placing result;
    fields(e, at, kNames, 0b11, [&](std::size_t field, element value, const At& here) {
      if (field == 1) {
        result.proof = body(value, here);
        return;
      }
      result.places = places(value, here);
    });
    return result;
  }
  std::vector<Place> places(element e, const At& at) const {
    std::vector<Place> result;
    elements(e, at, [&](element item, const At& a) {
      Place place{};
      tuple<3>(item, a, [&](std::size_t i, element number, const At& b) {
        if (i == 0)
          place.key = key(number, b);
        else if (i == 1)
          place.position = below(number, kNone, "positions", b);
        else
          place.operation = operation(number, b);
      });
      result.push_back(place);
    });
    return result;
  }

  Derivation derivation(element e, const At& at) const {
    static constexpr std::array<std::string_view, 5> kNames = {"choices", "edges", "cycle",
                                                               "clauses", "refutation"};
    Derivation d;
    const auto seen =
        fields(e, at, kNames, 0b10, [&](std::size_t field, element value, const At& here) {
          switch (field) {
            case 0:
              elements(value, here,
                       [&](element item, const At& a) { d.choices.push_back(choice(item, a)); });
              break;
            case 1:
              elements(value, here,
                       [&](element item, const At& a) { d.edges.push_back(edge(item, a)); });
              break;
            case 2:
              d.cycle = edge_numbers(value, here);
              break;
            case 3:
              elements(value, here, [&](element item, const At& a) {
                d.clauses.push_back(edge_numbers(item, a));
              });
              break;
            default:
              elements(value, here, [&](element item, const At& a) {
                auto& clause = d.refutation.emplace_back();
                elements(item, a, [&](element number, const At& b) {
                  clause.push_back(literal(number, b));
                });
              });
          }
        });
    const auto ending = seen >> 2;
    if (ending != 0b001 && ending != 0b110) {
      fail(at, "expected either the field `cycle`, or `clauses` and `refutation`");
    }
    d.by_clauses = ending == 0b110;
    for (const auto& clause : d.refutation) {
      for (const auto l : clause) {
        if (static_cast<std::size_t>(std::abs(l)) > d.choices.size()) {
          fail(at, fmt::format("refutation: found {}, but there are {} choices, numbered from 1", l,
                               d.choices.size()));
        }
      }
    }
    return d;
  }
  static std::int32_t literal(element e, const At& at) {
    std::int64_t number = 0;
    if (e.get(number) != simdjson::SUCCESS || number == 0 ||
        number > std::numeric_limits<std::int32_t>::max() ||
        number < -std::numeric_limits<std::int32_t>::max()) {
      fail(at, fmt::format("found {}, expected the number of a choice, or its negative",
                           simdjson::to_string(e)));
    }
    return static_cast<std::int32_t>(number);
  }
  static Bound bound(element e, const At& at) {
    const auto text = text_of(e, at);
    if (text == "earlier") return Bound::kEarlier;
    if (text == "later") return Bound::kLater;
    fail(at, fmt::format("found `{}`, expected earlier or later", text));
  }

  Choice choice(element e, const At& at) const {
    static constexpr std::array<std::string_view, 5> kNames = {"before", "read", "key", "writer",
                                                               "bound"};
    Choice c;
    const auto seen =
        fields(e, at, kNames, 0, [&](std::size_t field, element value, const At& here) {
          switch (field) {
            case 0:
              c.is_before = true;
              tuple<2>(value, here, [&](std::size_t i, element item, const At& a) {
                (i == 0 ? c.first : c.second) = transaction(item, a);
              });
              break;
            case 1:
              c.read = operation(value, here);
              break;
            case 2:
              c.key = key(value, here);
              break;
            case 3:
              c.writer = writer(value, here);
              break;
            default:
              c.bound = bound(value, here);
              break;
          }
        });
    if (seen != 0b00001 && (seen & 0b01111) != 0b01110) {
      fail(at, "expected either the field `before`, or `read`, `key` and `writer`");
    }
    return c;
  }

  Edge edge(element e, const At& at) const {
    Edge result;
    const auto seen = fields(
        e, at, kEdgeFields, kKind | kReason, [&](std::size_t field, element value, const At& here) {
          switch (1u << field) {
            case kFrom:
              result.from = transaction(value, here);
              break;
            case kTo:
              result.to = transaction(value, here);
              break;
            case kAt:
              points(value, here, result);
              break;
            case kKind:
              result.kind = static_cast<EdgeKind>(one_of(value, kKindNames, here));
              break;
            case kReason:
              result.reason = static_cast<Reason>(one_of(value, kReasonNames, here));
              break;
            case kKey:
              result.key = key(value, here);
              break;
            case kWrite:
              result.write = operation(value, here);
              break;
            case kWrites:
              tuple<2>(value, here, [&](std::size_t i, element item, const At& a) {
                result.writes[i] = operation(item, a);
              });
              break;
            case kRead:
              result.read = operation(value, here);
              break;
            case kWriter:
              result.writer = writer(value, here);
              break;
            case kBound:
              result.bound = bound(value, here);
              break;
            case kBecause:
              result.because = edge_numbers(value, here);
              break;
            case kExcluded:
              elements(value, here, [&](element item, const At& a) {
                result.excluded.push_back(exclusion(item, a));
              });
              break;
            default:
              break;
          }
        });
    result.has_because = (seen & kBecause) != 0;
    for (const EdgeForm& form : kEdgeForms) {
      if (form.kind != result.kind || form.reason != result.reason) continue;
      const auto missing = form.required & ~seen;
      const auto foreign = seen & ~(form.required | form.optional |
                                    (form.kind == EdgeKind::kSaw ? 0u : std::uint32_t{kAt}));
      const auto first = [](std::uint32_t bits) {
        return kEdgeFields[static_cast<std::size_t>(__builtin_ctz(bits))];
      };
      if (missing != 0) fail(at, fmt::format("expected the field `{}`", first(missing)));
      if (foreign != 0)
        fail(at, fmt::format("found the field `{}`, which has no meaning here", first(foreign)));
      return result;
    }
    fail(at, fmt::format("found a {} edge with the reason {}, and there is no such rule",
                         name_of(result.kind), name_of(result.reason)));
  }

  template <std::size_t kCount>
  static std::size_t one_of(element e, const std::array<std::string_view, kCount>& names,
                            const At& at) {
    const auto text = text_of(e, at);
    const auto it = std::find(names.begin(), names.end(), text);
    if (it == names.end())
      fail(at, fmt::format("found `{}`, expected one of {}", text, fmt::join(names, ", ")));
    return static_cast<std::size_t>(it - names.begin());
  }
  static void points(element e, const At& at, Edge& edge) {
    const auto text = text_of(e, at);
    const auto point = [&](char c) {
      if (c != 'b' && c != 'c')
        fail(at, fmt::format("found `{}`, expected two letters, each b or c", text));
      return c == 'b' ? Point::kBegin : Point::kCommit;
    };
    if (text.size() != 2)
      fail(at, fmt::format("found `{}`, expected two letters, each b or c", text));
    edge.from_point = point(text[0]);
    edge.to_point = point(text[1]);
  }
  Exclusion exclusion(element e, const At& at) const {
    static constexpr std::array<std::string_view, 2> kNames = {"writer", "cycle"};
    Exclusion result{};
    fields(e, at, kNames, 0b11, [&](std::size_t field, element value, const At& here) {
      if (field == 0)
        result.writer = writer(value, here);
      else
        result.cycle = edge_numbers(value, here);
    });
    return result;
  }

  const Sizes& sizes_;
};

}  // namespace

std::string_view name_of(EdgeKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}
std::string_view name_of(Reason reason) {
  return kReasonNames[static_cast<std::size_t>(reason)];
}

namespace {

// Arrays and objects within each other. Cases within cases take three each, and Parser recurses.
constexpr std::size_t kMostDepth = 2048;

simdjson::error_code read_json(simdjson::dom::parser& parser, std::string_view json,
                               element& root) {
  base::prepare_simdjson();
  if (const auto error = parser.allocate(json.size(), kMostDepth); error != simdjson::SUCCESS)
    return error;
  return parser.parse(json.data(), json.size()).get(root);
}

}  // namespace

std::optional<std::uint64_t> first_bytes_of(std::string_view json) {
  simdjson::dom::parser parser;
  element root;
  std::uint64_t bytes = 0;
  if (read_json(parser, json, root) != simdjson::SUCCESS || !root.is_object() ||
      root["history"]["bytes"].get(bytes) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  return bytes;
}

Parsed parse(std::string_view json, const Sizes& sizes) {
  Parsed parsed;
  const auto no_certificate = [&](std::string what) {
    parsed.what = Parsed::kNoCertificate;
    parsed.trouble = std::move(what);
    return std::move(parsed);
  };
  constexpr std::string_view kExpected =
      "expected a certificate, the JSON document that `cupel check --certificate FILE HISTORY` "
      "writes";
  if (json.empty()) return no_certificate(fmt::format("found an empty file, {}", kExpected));
  simdjson::dom::parser parser;
  element root;
  if (const auto error = read_json(parser, json, root); error != simdjson::SUCCESS) {
    if (error == simdjson::DEPTH_ERROR) {
      return no_certificate(
          fmt::format("found more than {} arrays and objects within each other, expected a "
                      "certificate with fewer",
                      kMostDepth));
    }
    const auto first = json.find_first_not_of(" \t\r\n");
    if (first != json.npos && json[first] == '{') {
      return no_certificate(fmt::format(
          "found what begins as a JSON document and is none, {}; the history comes first: `cupel "
          "verify HISTORY CERTIFICATE`; a certificate that was cut off has to be written again",
          kExpected));
    }
    return no_certificate(fmt::format(
        "found a file that is no JSON document, {}; the history comes first: `cupel verify "
        "HISTORY CERTIFICATE`",
        kExpected));
  }
  std::uint64_t version = 0;
  if (!root.is_object() || root["cupel_certificate"].get(version) != simdjson::SUCCESS) {
    return no_certificate(
        fmt::format("found a JSON document without the field `cupel_certificate`, {}", kExpected));
  }
  if (version != 1) {
    return no_certificate(
        fmt::format("found a certificate of version {}, expected version 1", version));
  }
  try {
    parsed.document = Parser(sizes).document(root);
  } catch (const Trouble& trouble) {
    parsed.what = Parsed::kMalformed;
    parsed.trouble = trouble.what;
  }
  return parsed;
}

}  // namespace cupel::certify
