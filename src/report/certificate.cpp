// certificate: see the header. Written by hand rather than through a JSON tree,
// because an order may have millions of entries.
#include "report/certificate.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <set>

#include "base/text/json.hpp"
#include "data/history/digest.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/levels/level.hpp"

namespace cupel::report {

using history::KeyId;
using history::OpId;
using history::TxnId;
using levels::Derivation;
using levels::Edge;
using levels::EdgeKind;
using levels::Level;
using levels::Violation;
using levels::Witness;

namespace {

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void witness(const Witness& w) {
    if (levels::is_single_object(w.level)) {
      list("\"orders\": ", w.by_key, [&](const Witness::OfKey& of) {
        out_ += "{\"key\": ";
        key(of.key);
        out_ += ", ";
        ids("\"order\": ", of.order);
        out_ += '}';
      });
      return;
    }
    ids("\"order\": ", w.order);
    if (!w.reads_from.empty()) {
      out_ += ", ";
      list("\"reads_from\": ", w.reads_from, [&](const levels::ReadFrom& from) {
        out_ += '[';
        id(from.read);
        out_ += ", ";
        key(from.key);
        out_ += ", ";
        id(from.writer);
        out_ += ']';
      });
    }
    if (!w.placings.empty()) {
      out_ += ", ";
      placings("\"placings\": ", w.placings);
    }
  }

  void violation(const Violation& v, bool split) {
    if (!v.placing_branches.empty()) {
      list("\"placings\": ", v.placing_branches, [&](const levels::PlacingBranch& placed) {
        out_ += '{';
        placings("\"places\": ", placed.places);
        out_ += ", \"proof\": {";
        violation(placed.violation, split);
        out_ += "}}";
      });
    } else if (v.assumed.valid()) {
      out_ += "\"suppose\": {\"transaction\": ";
      id(v.assumed);
      out_ += ", \"happened\": {";
      violation(v.branches[0], split);
      out_ += "}, \"never\": {";
      violation(v.branches[1], split);
      out_ += "}}";
    } else if (!v.internal.empty()) {
      list("\"internal\": ", v.internal, [&](const levels::InternalAnomaly& a) {
        out_ += fmt::format("{{\"name\": \"{}\", \"transaction\": ", levels::name(a.kind));
        id(a.txn);
        out_ += ", \"read\": ";
        id(a.read);
        out_ += ", \"key\": ";
        key(a.key);
        out_ += ", \"other\": ";
        id(a.other);
        out_ += ", \"other_transaction\": ";
        id(a.other_txn);
        out_ += '}';
      });
    } else {
      derivation(v.derivation, split);
    }
  }

  [[nodiscard]] const std::set<KeyId>& keys() const { return keys_; }

 private:
  template <typename Id>
  void id(Id value) {
    if (value.valid()) {
      fmt::format_to(std::back_inserter(out_), "{}", value.raw);
    } else {
      out_ += "null";
    }
  }
  void key(KeyId value) {
    id(value);
    if (value.valid()) keys_.insert(value);
  }
  template <typename Items, typename Each>
  void list(std::string_view head, const Items& items, const Each& each) {
    out_ += head;
    out_ += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ", ";
      first = false;
      each(item);
    }
    out_ += ']';
  }
  template <typename Ids>
  void ids(std::string_view head, const Ids& all) {
    list(head, all, [&](TxnId txn) { id(txn); });
  }
  void numbers(std::string_view head, const std::vector<std::uint32_t>& all) {
    list(head, all, [&](std::uint32_t i) { fmt::format_to(std::back_inserter(out_), "{}", i); });
  }
  void placings(std::string_view head, const std::vector<levels::Placing>& all) {
    list(head, all, [&](const levels::Placing& p) {
      out_ += '[';
      key(p.key);
      fmt::format_to(std::back_inserter(out_), ", {}, ", p.position);
      id(p.append);
      out_ += ']';
    });
  }

  void derivation(const Derivation& d, bool split) {
    out_ += "\"derivation\": {";
    if (d.refutation) {
      list("\"choices\": ", d.refutation->choices, [&](const levels::Choice& c) { choice(c); });
      out_ += ",\n   ";
    }
    list("\"edges\": ", d.edges, [&](const Edge& e) {
      out_ += "\n    ";
      edge(e, split);
    });
    if (!d.cycle.empty()) {
      numbers(",\n   \"cycle\": ", d.cycle);
    }
    if (d.refutation) {
      list(",\n   \"clauses\": ", d.refutation->cases,
           [&](std::uint32_t i) { numbers({}, d.cases[i].cycle); });
      list(",\n   \"refutation\": ", d.refutation->lemmas,
           [&](const std::vector<std::int32_t>& lemma) {
             list({}, lemma, [&](std::int32_t literal) {
               fmt::format_to(std::back_inserter(out_), "{}", literal);
             });
           });
    }
    out_ += '}';
  }

  void choice(const levels::Choice& c) {
    if (!c.read.valid()) {
      fmt::format_to(std::back_inserter(out_), "{{\"before\": [{}, {}]}}", c.before.raw,
                     c.after.raw);
      return;
    }
    out_ += "{\"read\": ";
    id(c.read);
    out_ += ", \"key\": ";
    key(c.key);
    out_ += ", \"writer\": ";
    id(c.writer);
    bound(c.bound);
    out_ += '}';
  }
  void bound(levels::Bound value) {
    if (value == levels::Bound::kEarlier) out_ += ", \"bound\": \"earlier\"";
    if (value == levels::Bound::kLater) out_ += ", \"bound\": \"later\"";
  }

  void edge(const Edge& e, bool split) {
    const auto letter = [](levels::Point point) {
      return point == levels::Point::kBegin ? 'b' : 'c';
    };
    fmt::format_to(std::back_inserter(out_), "{{\"from\": {}, \"to\": {}, ", e.from.raw, e.to.raw);
    if (split && e.kind != EdgeKind::kSaw) {
      fmt::format_to(std::back_inserter(out_), "\"at\": \"{}{}\", ", letter(e.from_point),
                     letter(e.to_point));
    }
    fmt::format_to(std::back_inserter(out_), "\"kind\": \"{}\"", explain::to_string(e.kind));
    if (e.key.valid()) {
      out_ += ", \"key\": ";
      key(e.key);
    }
    const auto field = [&](std::string_view name, auto value) {
      fmt::format_to(std::back_inserter(out_), ", \"{}\": ", name);
      id(value);
    };
    switch (e.kind) {
      case EdgeKind::kWriteRead:
        field("write", e.from_op);
        field("read", e.to_op);
        break;
      case EdgeKind::kWriteWrite:
        out_ += ", \"writes\": [";
        id(e.from_op);
        out_ += ", ";
        id(e.to_op);
        out_ += ']';
        if (e.witness.valid()) field("read", e.witness);
        break;
      case EdgeKind::kReadWrite:
        field("read", e.from_op);
        field("write", e.to_op);
        field("writer", e.writer);
        break;
      case EdgeKind::kSaw:
        field("read", e.to_op);
        field("writer", TxnId::none());
        break;
      default:
        break;
    }
    fmt::format_to(std::back_inserter(out_), ", \"reason\": \"{}\"", explain::to_string(e.reason));
    bound(e.bound);
    if (!e.excluded.empty()) {
      list(", \"excluded\": ", e.excluded, [&](const levels::Exclusion& x) {
        out_ += "{\"writer\": ";
        id(x.writer);
        numbers(", \"cycle\": ", x.cycle);
        out_ += '}';
      });
    } else if (!e.because.empty()) {
      numbers(", \"because\": ", e.because);
    }
    out_ += '}';
  }

  std::string& out_;
  std::set<KeyId> keys_;
};

// Is all there that a stranger needs?
bool complete(const Violation& v) {
  for (const auto& one : v.branches) {
    if (!complete(one)) return false;
  }
  for (const auto& one : v.placing_branches) {
    if (!complete(one.violation)) return false;
  }
  if (v.assumed.valid() || !v.placing_branches.empty() || !v.internal.empty()) return true;
  return v.derivation.complete && (v.derivation.cases.empty() || v.derivation.refutation);
}

}  // namespace

Certificate certificate(const history::History& history, const check::CheckResult& result,
                        history::Time clock_drift_ns, std::optional<std::uint64_t> first_bytes) {
  Certificate made;
  std::string proofs, answers;
  Writer writer(proofs);
  std::map<std::pair<Level, bool>, std::size_t> by_level;  // proofs by level and satisfied
  for (const check::LevelResult& answer : result.levels) {
    const bool satisfied = answer.verdict == check::Verdict::kSatisfied;
    if (!satisfied && answer.verdict != check::Verdict::kViolated) continue;
    if (satisfied ? answer.witness == nullptr : !answer.violation || !complete(*answer.violation)) {
      made.missing.push_back(answer.level);
      continue;
    }
    const Level level = satisfied ? answer.witness->level : *answer.explained_at;
    const auto [it, fresh] = by_level.try_emplace({level, satisfied}, by_level.size());
    if (!answers.empty()) answers += ",\n  ";
    answers +=
        fmt::format(R"({{"level": "{}", "verdict": "{}", "proof": {}}})",
                    levels::name(answer.level), check::to_string(answer.verdict), it->second);
    if (!fresh) continue;
    if (!proofs.empty()) proofs += ",\n  ";
    proofs += fmt::format(R"({{"level": "{}", "verdict": "{}", )", levels::name(level),
                          check::to_string(answer.verdict));
    if (satisfied) {
      writer.witness(*answer.witness);
    } else {
      writer.violation(*answer.violation, levels::has_begin_and_commit(level));
    }
    proofs += '}';
  }
  std::string keys;
  for (const KeyId key : writer.keys()) {
    keys += fmt::format("{}\"{}\": {}", keys.empty() ? "" : ", ", key.raw,
                        text::quoted(history.key(key).to_string()));
  }
  made.json = fmt::format(
      "{{\"cupel_certificate\": 1,\n \"history\": {{\"digest\": \"{:016x}\", \"transactions\": {}, "
      "\"operations\": {}{}}},\n \"clock_drift_ns\": {},\n \"keys\": {{{}}},\n \"answers\": [\n  "
      "{}],\n "
      "\"proofs\": [\n  {}]}}\n",
      history::digest(history), history.txn_count(), history.op_count(),
      first_bytes ? fmt::format(", \"bytes\": {}", *first_bytes) : "", clock_drift_ns, keys,
      answers, proofs);
  return made;
}

}  // namespace cupel::report
