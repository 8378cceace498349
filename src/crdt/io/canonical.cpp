// Canonical text of replicated data types: see the header. What operations had seen, if the
// certificate trusts the deliveries, comes from verify/seen_updates.hpp.
#include "crdt/io/canonical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "base/text/json.hpp"
#include "crdt/verify/seen_updates.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

// As proofs/ReplicatedFormat.v numbers them.
constexpr std::array kProved = {
    Type::kAddWinsSet,         Type::kRemoveWinsSet,
    Type::kGrowOnlySet,        Type::kTwoPhaseSet,
    Type::kEnableWinsFlag,     Type::kDisableWinsFlag,
    Type::kMultiValueRegister, Type::kLastWriterWinsRegister,
    Type::kAnyMaximalRegister, Type::kCounter,
    Type::kResettableCounter,  Type::kBoundedCounter,
    Type::kGrowableArray,
};

// Nothing: its axioms are not proved.
std::optional<int> number_of(Type type) {
  const auto* const found = std::find(kProved.begin(), kProved.end(), type);
  if (found == kProved.end()) return std::nullopt;
  return static_cast<int>(found - kProved.begin());
}

bool is_strict(const History& history, const Json& certificate) {
  return certificate.value("letter", false) &&
         (history.type == Type::kMultiValueRegister || history.type == Type::kGrowableArray);
}

// The clock of an operation: of each replica, how many of its operations it has seen.
using Clock = std::vector<std::uint64_t>;

// Those by the deliveries: up to the last update that was seen. Without those of its own replica.
std::vector<Clock> clocks_by_deliveries(const History& history) {
  std::vector<Clock> clocks(history.ops.size(), Clock(history.replicas.size(), 0));
  SeenUpdates seen(history);
  if (!seen.run()) return clocks;
  for (std::uint32_t r = 0; r < history.replicas.size(); ++r) {
    const auto log = seen.log(r);
    Clock now(history.replicas.size(), 0);
    std::size_t next = 0;
    for (const OpId id : history.by_replica[r]) {
      for (; next < log.size() && log[next].place <= history.ops[id].seq; ++next) {
        const Operation& update = history.ops[log[next].update];
        now[update.replica] = std::max<std::uint64_t>(now[update.replica], update.seq + 1);
      }
      clocks[id] = now;
      clocks[id][r] = 0;
    }
  }
  return clocks;
}

// Those of the certificate; what is no number is 0, which the program refuses.
std::vector<Clock> clocks_of(const History& history, const Json& certificate) {
  std::vector<Clock> clocks(history.ops.size());
  const Json rows = certificate.value("clocks", Json::array());
  for (OpId id = 0; rows.is_array() && id < history.ops.size() && id < rows.size(); ++id) {
    for (const Json& count : rows[id])
      clocks[id].push_back(count.is_number_unsigned() ? count.get<std::uint64_t>() : 0);
  }
  return clocks;
}

class HistoryWriter {
 public:
  // `clocks`: by the deliveries, if they are known.
  HistoryWriter(const History& history, const std::vector<Clock>* clocks)
      : h_(history), clocks_(clocks) {}

  // False: its times or numbers are too large.
  bool run() {
    if (!find_epoch()) return false;
    put("# times are in ns since {}\n", epoch_);
    for (std::size_t r = 0; r < h_.replicas.size(); ++r)
      put("# replica {} is {}\n", r, one_line(h_.replicas[r]));
    for (std::uint32_t k = 0; k < h_.keys.size(); ++k)
      put("# object {} is {}\n", k, one_line(h_.key_json(k)));
    for (std::uint32_t e = 0; e < h_.elements.size(); ++e)
      put("# element {} is {}\n", e, one_line(h_.elements[e].text));
    put("D {} {}\n", *number_of(h_.type), clocks_ != nullptr ? 1 : 0);
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const Operation& op = h_.ops[id];
      if (op.amount == std::numeric_limits<std::int64_t>::min()) return false;
      put("O {} {} {} {} {} ", id, op.replica, op.key, time(op.begun), time(op.ended));
      call(op);
      if (clocks_ != nullptr) received(id);
    }
    return true;
  }
  std::string take() { return std::move(text_); }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  bool find_epoch() {
    std::int64_t last = 0;
    bool any = false;
    for (const Operation& op : h_.ops) {
      for (const auto t : {op.begun, op.ended}) {
        if (t == kAlways || t == kNever) continue;
        epoch_ = any ? std::min(epoch_, t) : t;
        last = any ? std::max(last, t) : t;
        any = true;
      }
    }
    return static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(epoch_) <= std::uint64_t{1}
                                                                                        << 62;
  }
  [[nodiscard]] std::string time(std::int64_t t) const {
    if (t == kAlways || t == kNever) return "-";
    return std::to_string(static_cast<std::uint64_t>(t) - static_cast<std::uint64_t>(epoch_));
  }
  static std::string one_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return text;
  }

  // A flag is a set with the element 0.
  static std::uint32_t element(const Operation& op) { return op.element == kNone ? 0 : op.element; }
  static std::uint64_t magnitude(const Operation& op) {
    return static_cast<std::uint64_t>(op.amount < 0 ? -op.amount : op.amount);
  }
  void list(char open, const Operation& op) {
    put("{}", open);
    for (const auto e : h_.list(op)) put(" {}", e);
    put("\n");
  }
  void call(const Operation& op) {
    switch (op.kind) {
      case Kind::kUp:
        return put("+ {}\n", element(op));
      case Kind::kDown:
      case Kind::kDelete:
        return put("- {}\n", element(op));
      case Kind::kTest:
        return put("? {} {}\n", element(op), op.returned ? 1 : 0);
      case Kind::kState:
      case Kind::kList:
        return list('{', op);
      case Kind::kInc:
        return put("{} {}\n", op.amount < 0 ? 'd' : 'i', magnitude(op));
      case Kind::kReset:
        return put("z\n");
      case Kind::kValue:
        return put("= {} {}\n", op.amount < 0 ? 1 : 0, magnitude(op));
      case Kind::kWrite:
        return put("w {}\n", op.element);
      case Kind::kValues:
        return list('[', op);
      case Kind::kInsert:
        if (op.parent == kNone) return put("a - {}\n", op.element);
        return put("a {} {}\n", op.parent, op.element);
      case Kind::kMove:
      case Kind::kTree:
      case Kind::kPut:
      case Kind::kDocument:
      case Kind::kMark:
        break;
    }
    put("\n");  // of no type that has a number
  }
  void received(OpId id) {
    const Clock& clock = (*clocks_)[id];
    bool any = false;
    for (std::size_t r = 0; r < clock.size(); ++r) {
      if (clock[r] == 0) continue;
      put("{} {} {}", any ? "" : "V", r, h_.by_replica[r][clock[r] - 1]);
      any = true;
    }
    if (any) put("\n");
  }

  const History& h_;
  const std::vector<Clock>* clocks_;
  std::int64_t epoch_ = 0;
  std::string text_;
};

// By operation: its place in the linearization.
std::vector<std::uint64_t> places_of(const History& history, const Json& certificate) {
  std::vector<std::uint64_t> place(history.ops.size(), 0);
  std::uint64_t next = 0;
  for (const Json& id : certificate.value("order", Json::array())) {
    if (id.is_number_unsigned() && id.get<std::uint64_t>() < place.size())
      place[id.get<std::size_t>()] = next;
    ++next;
  }
  return place;
}

// Of an array: the characters, the last in the linearization first, each with an interval that
// contains those of the characters below it. One walk through the tree.
std::string intervals(const History& history, const std::vector<std::uint64_t>& place) {
  std::vector<OpId> inserts;
  for (OpId id = 0; id < history.ops.size(); ++id) {
    if (history.ops[id].kind == Kind::kInsert) inserts.push_back(id);
  }
  std::stable_sort(inserts.begin(), inserts.end(),
                   [&](OpId a, OpId b) { return place[a] > place[b]; });
  std::vector<std::vector<OpId>> after(history.elements.size());
  std::vector<std::pair<OpId, std::size_t>> stack;  // a character, how many below it are done
  std::vector<std::uint64_t> begin(history.ops.size(), 0), end(history.ops.size(), 0);
  for (const OpId id : inserts) {
    if (history.ops[id].parent != kNone) after[history.ops[id].parent].push_back(id);
  }
  std::uint64_t last = 0;
  for (const OpId root : inserts) {
    if (history.ops[root].parent != kNone) continue;
    stack.emplace_back(root, 0);
    begin[root] = ++last;
    while (!stack.empty()) {
      auto& [id, done] = stack.back();
      const auto& below = after[history.ops[id].element];
      if (done == below.size()) {
        end[id] = last + 1;
        stack.pop_back();
        continue;
      }
      const OpId next = below[done++];
      begin[next] = ++last;
      stack.emplace_back(next, 0);
    }
  }
  std::string text;
  for (const OpId id : inserts) text += fmt::format("I {} {} {}\n", id, begin[id], end[id]);
  return text;
}

std::string witness_text(const History& history, const Json& certificate,
                         const std::vector<Clock>& clocks, bool by_deliveries) {
  const auto place = places_of(history, certificate);
  std::string text;
  for (OpId id = 0; id < history.ops.size(); ++id) {
    text += fmt::format("S {}", place[id]);
    for (std::size_t r = 0; r < clocks[id].size(); ++r) {
      const bool own = by_deliveries && r == history.ops[id].replica;
      const auto count = own ? history.ops[id].seq : clocks[id][r];
      if (count > 0) text += fmt::format(" {} {}", r, count);
    }
    text += "\n";
  }
  return history.type == Type::kGrowableArray ? text + intervals(history, place) : text;
}

// What of the certificate is not proved; nothing: all is.
std::optional<std::string> not_proved(const History& history, const Json& certificate) {
  const auto context = certificate.find("context");
  if (certificate.value("verdict", "") != "satisfied")
    return "the rules by which a replicated data type is violated";
  if (!number_of(history.type)) return fmt::format("the axioms of the type {}", name(history.type));
  if (is_strict(history, certificate)) return "the axioms exactly as printed (--strict-axioms)";
  if (context != certificate.end() && *context == "converged-only")
    return "that replicas which had seen the same return the same (--converged-only)";
  if (context != certificate.end() && history.context.rule != DeliveryRule::kCausal)
    return "the rules of delivery fifo and applied";
  return std::nullopt;
}

}  // namespace

std::span<const Type> proved_types() {
  return kProved;
}

ProofTexts proof_texts(const History& history, std::string_view text) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const Json certificate = Json::parse(text, nullptr, false);
  if (!certificate.is_object())
    return {.history = {}, .witness = {}, .left_out = "what is no JSON object"};
  if (auto what = not_proved(history, certificate))
    return {.history = {}, .witness = {}, .left_out = *what};
  const bool by_deliveries = certificate.contains("context");
  const auto clocks =
      by_deliveries ? clocks_by_deliveries(history) : clocks_of(history, certificate);
  HistoryWriter writer(history, by_deliveries ? &clocks : nullptr);
  if (!writer.run()) {
    return {.history = {},
            .witness = {},
            .left_out = "times that span more than 2^62 ns, and the number -2^63"};
  }
  return {.history = writer.take(),
          .witness = witness_text(history, certificate, clocks, by_deliveries),
          .left_out = {},
          .by_deliveries = by_deliveries};
}

}  // namespace cupel::crdt
