// Clauses of a refutation: see the header. Propagation counts the literals of a clause that are
// not false yet; with one left it is true, with none there is the contradiction.
#include "engine/certify/clause_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/hash_table.hpp"

namespace cupel::certify {

namespace {

std::string writer_text(std::uint32_t raw) {
  return raw == TxnId::kNoneRaw ? "-" : std::to_string(raw);
}

std::string text_of(const Literal& l) {
  const int sign = l.positive ? 1 : 0;
  switch (l.kind) {
    case Literal::kBefore:
      return fmt::format("{} < {} {} {} {}", sign, l.parts[0], l.parts[1], l.parts[2], l.parts[3]);
    case Literal::kSaw:
      return fmt::format("{} s {} {} {}", sign, l.parts[0], l.parts[1], writer_text(l.parts[2]));
    case Literal::kBounded:
      return fmt::format("{} {} {} {} {}", sign, l.parts[3] != 0 ? 'e' : 'f', l.parts[0],
                         l.parts[1], l.parts[2]);
    case Literal::kBegins:
      return fmt::format("{} b {} {} {}", sign, l.parts[0], l.parts[1], l.parts[2]);
    case Literal::kLives:
      break;
  }
  return fmt::format("{} l {}", sign, l.parts[0]);
}

constexpr std::uint32_t kAssumed = 0xffffffff;

class Propagation {
 public:
  explicit Propagation(const std::vector<Clause>& from) : from_(from) {
    for (std::uint32_t i = 0; i < from.size(); ++i) {
      open_.push_back(static_cast<std::uint32_t>(from[i].literals.size()));
      for (const Literal& l : from[i].literals) clauses_of_[l].push_back(i);
    }
  }

  // The clauses that lead to a contradiction if all literals are false, in order.
  std::optional<std::vector<std::uint32_t>> contradiction(const std::vector<Literal>& literals) {
    for (const Literal& l : literals) assume(l.negated(), kAssumed);
    for (std::uint32_t i = 0; i < from_.size(); ++i) {
      if (open_[i] <= 1 && !visit(i)) return hints();
    }
    while (next_ < true_.size()) {
      const auto it = clauses_of_.find(true_[next_++].negated());
      if (it == clauses_of_.end()) continue;
      for (const std::uint32_t i : it->second) {
        if (--open_[i] <= 1 && !visit(i)) return hints();
      }
    }
    return std::nullopt;
  }

 private:
  void assume(const Literal& l, std::uint32_t reason) {
    if (reason_.try_emplace(l, reason).second) true_.push_back(l);
  }
  // A clause that may have one literal left or none. False: the contradiction is there.
  bool visit(std::uint32_t i) {
    const Literal* left = nullptr;
    for (const Literal& l : from_[i].literals) {
      if (reason_.contains(l.negated())) continue;
      if (left != nullptr) return true;  // the rest waits in the queue
      left = &l;
    }
    if (left != nullptr) {
      assume(*left, i);
      return true;
    }
    last_ = i;
    return false;
  }

  // Of the contradiction what it needs, in the order of propagation.
  [[nodiscard]] std::vector<std::uint32_t> hints() const {
    base::HashMap<std::uint32_t, bool> needed;
    std::vector<std::uint32_t> open = {last_};
    needed[last_] = true;
    while (!open.empty()) {
      const std::uint32_t i = open.back();
      open.pop_back();
      for (const Literal& l : from_[i].literals) {
        const auto it = reason_.find(l.negated());
        if (it == reason_.end() || it->second == kAssumed || it->second == i) continue;
        if (needed.try_emplace(it->second, true).second) open.push_back(it->second);
      }
    }
    std::vector<std::uint32_t> found;
    for (const Literal& l : true_) {
      const std::uint32_t i = reason_.at(l);
      if (i != kAssumed && i != last_ && needed.contains(i)) found.push_back(i);
    }
    found.push_back(last_);
    return found;
  }

  const std::vector<Clause>& from_;
  std::vector<std::uint32_t> open_;
  base::HashMap<Literal, std::vector<std::uint32_t>> clauses_of_;
  base::HashMap<Literal, std::uint32_t> reason_;
  std::vector<Literal> true_;
  std::size_t next_ = 0;
  std::uint32_t last_ = kAssumed;
};

}  // namespace

Literal before(EventRef x, EventRef y) {
  const bool below =
      x.txn < y.txn || (x.txn == y.txn && !x.commit && y.commit);  // as proofs/Derivation.v has it
  if (!below) std::swap(x, y);
  return {below, Literal::kBefore, {x.commit, x.txn.raw, y.commit, y.txn.raw}};
}
Literal saw(TxnId reader, std::uint32_t place, TxnId writer) {
  return {true, Literal::kSaw, {reader.raw, place, writer.raw, 0}};
}
Literal bounded(bool up, TxnId reader, std::uint32_t place, TxnId writer) {
  return {true, Literal::kBounded, {reader.raw, place, writer.raw, up}};
}
Literal begins(KeyId key, TxnId writer, std::uint32_t at) {
  return {true, Literal::kBegins, {key.raw, writer.raw, at, 0}};
}
Literal lives(TxnId t) {
  return {true, Literal::kLives, {t.raw, 0, 0, 0}};
}

Clause ClauseText::given(std::string_view words, std::vector<Literal> literals) {
  fmt::format_to(std::back_inserter(text_), "A {} {}\n", next_, words);
  return {next_++, std::move(literals)};
}

std::optional<Clause> ClauseText::derived(const std::vector<Literal>& literals,
                                          const std::vector<Clause>& from) {
  auto hints = Propagation(from).contradiction(literals);
  if (!hints) return std::nullopt;
  for (std::uint32_t& i : *hints) i = from[i].number;
  return write(literals, *hints);
}

Clause ClauseText::claimed(const std::vector<Literal>& literals, const std::vector<Clause>& from) {
  std::vector<std::uint32_t> hints;
  hints.reserve(from.size());
  for (const Clause& clause : from) hints.push_back(clause.number);
  return write(literals, hints);
}

Clause ClauseText::write(const std::vector<Literal>& literals,
                         const std::vector<std::uint32_t>& hints) {
  fmt::format_to(std::back_inserter(text_), "R {}", next_);
  for (const Literal& l : literals) text_ += " " + text_of(l);
  text_ += " /";
  for (const std::uint32_t i : hints) fmt::format_to(std::back_inserter(text_), " {}", i);
  text_ += "\n";
  return {next_++, literals};
}

}  // namespace cupel::certify
