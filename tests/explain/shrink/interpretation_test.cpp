// interpret: PolySI's minimality, of random violations, by trying every choice.
//
// The dependencies of an interpretation are read as a polygraph: what is certain
// holds, of every other ww and of every read with several writers each side is a
// choice. A side that is not listed was refuted, and says what it would have said of
// the readers; one that is listed says what is listed. Then no choice is acyclic, and
// without any one of the dependencies some choice is.
#include "engine/explain/why/interpretation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/budget.hpp"
#include "base/verdict.hpp"
#include "engine/certify/verify.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/shrink/shrink.hpp"
#include "engine/levels/accesses.hpp"
#include "engine/levels/decide.hpp"
#include "property/random_history.hpp"
#include "report/certificate.hpp"
#include "support/history_language.hpp"

namespace cupel::explain {
namespace {

using levels::EdgeKind;
using levels::Level;
using levels::Reason;

// Does some choice pass, of the dependencies but the one left out?
class Choices {
 public:
  Choices(const History& history, Level level, const Interpretation& interpretation,
          std::size_t left_out)
      : history_(history), level_(level), split_(levels::has_begin_and_commit(level)) {
    for (std::size_t i = 0; i < interpretation.dependencies.size(); ++i) {
      const auto& d = interpretation.dependencies[i];
      if (i == left_out) {
        gone_ = &d;
      } else {
        listed_.push_back(&d);
      }
      all_.push_back(&d);
    }
    base::Budget budget;
    accesses_ = levels::collect_accesses(history, levels::ListChoices(history), {}, budget);
    find_choices();
  }

  bool some_passes() { return levels::is_weak(level_) ? weak_passes(0) : passes(0); }

  static constexpr double kMost = 20'000;
  double count() const {
    double product = 1;
    for (std::size_t i = 0; i < pairs_.size(); ++i) product *= 2;
    for (const auto& read : reads_) product *= static_cast<double>(read.writers.size());
    return product;
  }

 private:
  struct Pair {
    TxnId a, b;
    KeyId key;
    bool a_first = false, chosen = false;
  };
  struct ManyRead {
    TxnId reader;
    KeyId key;
    OpId op;
    std::vector<TxnId> writers;  // none(): the initial version
    std::size_t chosen = 0;
  };

  static bool is_list(const Dependency& d) {
    return d.kind == EdgeKind::kWriteWrite && d.reason == Reason::kListOrder;
  }
  bool is_gone(TxnId from, TxnId to, EdgeKind kind, KeyId key) const {
    return gone_ != nullptr && gone_->from == from && gone_->to == to && gone_->kind == kind &&
           gone_->key == key;
  }

  void find_choices() {
    std::set<std::tuple<TxnId, TxnId, KeyId>> pairs;
    std::map<std::pair<KeyId, OpId>, TxnId> spoken;  // reads that are not of an only writer
    for (const auto* d : all_) {
      if (d->kind == EdgeKind::kWriteWrite && !is_list(*d)) {
        const bool removed = is_gone(d->from, d->to, d->kind, d->key);
        const auto pair = std::tuple(std::min(d->from, d->to), std::max(d->from, d->to), d->key);
        if (removed) gone_pairs_.insert(pair);
        pairs.insert(pair);
      }
      if (d->kind == EdgeKind::kWriteRead && !d->certain) spoken[{d->key, d->to_op}] = d->to;
      const bool initial = d->reason == Reason::kInitial || d->reason == Reason::kAssumed;
      if (d->kind == EdgeKind::kReadWrite && initial && !d->certain) {
        spoken[{d->key, d->from_op}] = d->from;
      }
    }
    for (const auto& pair : pairs) {
      if (gone_pairs_.contains(pair)) continue;
      pairs_.push_back({std::get<0>(pair), std::get<1>(pair), std::get<2>(pair)});
    }
    for (const auto& [what, reader] : spoken) {
      ManyRead read{reader, what.first, what.second, {}};
      for (const auto& known : accesses_.reads) {
        if (known.op != read.op || known.key != read.key) continue;
        const bool each = level_ == Level::kReadCommitted;
        const auto first = each ? known.first_candidate : known.joint_first;
        const auto last = each ? known.last_candidate : known.joint_last;
        for (auto c = first; c < last; ++c) {
          const auto owner = accesses_.candidates[c];
          read.writers.push_back(owner == levels::kInitialOwner ? TxnId::none()
                                                                : accesses_.txns[owner]);
        }
      }
      reads_.push_back(std::move(read));
    }
  }

  bool passes(std::size_t choice) {
    if (choice < pairs_.size()) {
      for (const bool first : {true, false}) {
        pairs_[choice].a_first = first;
        if (passes(choice + 1)) return true;
      }
      return false;
    }
    const auto r = choice - pairs_.size();
    if (r < reads_.size()) {
      for (std::size_t c = 0; c < reads_[r].writers.size(); ++c) {
        reads_[r].chosen = c;
        if (passes(choice + 1)) return true;
      }
      return false;
    }
    return acyclic();
  }

  using Node = std::pair<TxnId, bool>;  // and is it the commit?
  Node begin(TxnId t) const { return {t, false}; }
  Node commit(TxnId t) const { return {t, split_}; }

  // Is the order of the two known, by the list or by choice? In this choice.
  bool before(TxnId a, TxnId b, KeyId key) const {
    for (const auto* d : listed_) {
      if (is_list(*d) && d->from == a && d->to == b && d->key == key) return true;
    }
    for (const auto& pair : pairs_) {
      if (pair.key != key) continue;
      if (pair.a == a && pair.b == b) return pair.a_first;
      if (pair.a == b && pair.b == a) return !pair.a_first;
    }
    return false;
  }
  bool side_listed(TxnId a, TxnId b, KeyId key) const {
    return std::any_of(all_.begin(), all_.end(), [&](const auto* d) {
      return d->kind == EdgeKind::kWriteWrite && d->from == a && d->to == b && d->key == key;
    });
  }
  bool overwrite_listed(TxnId reader, TxnId later, KeyId key, OpId op) const {
    return std::any_of(listed_.begin(), listed_.end(), [&](const auto* d) {
      return d->kind == EdgeKind::kReadWrite && d->from == reader && d->to == later &&
             d->key == key && d->from_op == op && d->reason != Reason::kInitial;
    });
  }
  bool writer_listed(TxnId writer, OpId op, KeyId key) const {
    return std::any_of(all_.begin(), all_.end(), [&](const auto* d) {
      return d->kind == EdgeKind::kWriteRead && d->from == writer && d->to_op == op &&
             d->key == key;
    });
  }
  // The repeated reads by which the reader saw nothing but the same write.
  std::vector<OpId> other_reads_of(const Dependency& d) const {
    std::vector<OpId> ops;
    for (const auto& known : accesses_.reads) {
      if (known.owner == levels::kInitialOwner || accesses_.txns[known.owner] != d.to) continue;
      if (known.key != d.key || known.op == d.to_op) continue;
      if (known.last_candidate != known.first_candidate + 1) continue;
      const auto writer = accesses_.candidates[known.first_candidate];
      if (writer != levels::kInitialOwner && accesses_.txns[writer] == d.from) {
        ops.push_back(known.op);
      }
    }
    return ops;
  }
  std::vector<TxnId> writers_of(KeyId key) const {
    std::vector<TxnId> writers;
    for (std::size_t o = 0; o < accesses_.txns.size(); ++o) {
      for (auto w = accesses_.write_first[o]; w < accesses_.write_first[o + 1]; ++w) {
        if (accesses_.writes[w].key == key) writers.push_back(accesses_.txns[o]);
      }
    }
    return writers;
  }

  bool acyclic() const {
    std::set<std::pair<Node, Node>> arcs;
    const auto arc = [&](Node from, Node to) { arcs.emplace(from, to); };
    const auto write_target = [&](TxnId t) {
      return level_ == Level::kPrefix ? commit(t) : begin(t);
    };
    // A read of `writer`'s version; `whole`: with all that follows, not what is listed.
    const auto saw = [&](TxnId writer, TxnId reader, KeyId key, OpId op, bool whole) {
      arc(commit(writer), begin(reader));
      for (const TxnId later : writers_of(key)) {
        if (later == reader || later == writer || !before(writer, later, key)) continue;
        if (whole || !side_listed(writer, later, key) || overwrite_listed(reader, later, key, op)) {
          arc(begin(reader), commit(later));
        }
      }
    };
    for (const auto* d : listed_) {
      if (!d->certain) continue;
      switch (d->kind) {
        case EdgeKind::kSession:
          arc(commit(d->from), begin(d->to));
          break;
        case EdgeKind::kRealTime:
          // Of generalized snapshot isolation: between commits, and from begin to commit.
          if (level_ == Level::kGeneralizedSnapshotIsolation) {
            arc(commit(d->from), commit(d->to));
            arc(begin(d->from), commit(d->to));
          } else {
            arc(commit(d->from), begin(d->to));
          }
          break;
        case EdgeKind::kWriteRead:
          saw(d->from, d->to, d->key, d->to_op, false);
          break;
        case EdgeKind::kWriteWrite:
          arc(commit(d->from), write_target(d->to));
          break;
        case EdgeKind::kReadWrite:
          arc(begin(d->from), commit(d->to));
          break;
        default:
          break;
      }
    }
    for (const auto& pair : pairs_) {
      arc(commit(pair.a_first ? pair.a : pair.b), write_target(pair.a_first ? pair.b : pair.a));
    }
    for (const auto& read : reads_) {
      const TxnId writer = read.writers[read.chosen];
      if (!writer.valid()) {
        bool listed = false;
        for (const auto* d : all_) {
          const bool mine = d->reason == Reason::kInitial && d->from_op == read.op;
          if (!mine || d->key != read.key) continue;
          listed = true;
          if (d != gone_) arc(begin(read.reader), commit(d->to));
        }
        if (listed) continue;
        for (const TxnId later : writers_of(read.key)) {
          if (later != read.reader) arc(begin(read.reader), commit(later));
        }
        continue;
      }
      if (gone_ != nullptr && gone_->kind == EdgeKind::kWriteRead && gone_->from == writer &&
          gone_->to_op == read.op && gone_->key == read.key) {
        continue;  // may be seen, and says nothing
      }
      saw(writer, read.reader, read.key, read.op, !writer_listed(writer, read.op, read.key));
    }
    std::set<TxnId> txns;
    for (const auto& [from, to] : arcs) {
      txns.insert(from.first);
      txns.insert(to.first);
    }
    if (split_) {
      for (const TxnId t : txns) arc(begin(t), commit(t));
    }
    return !has_cycle(arcs);
  }

  template <typename Arcs>
  static bool has_cycle(const Arcs& arcs) {
    auto left = arcs;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto it = left.begin(); it != left.end();) {
        const bool entered = std::any_of(
            left.begin(), left.end(), [&](const auto& other) { return other.second == it->first; });
        if (entered) {
          ++it;
        } else {
          it = left.erase(it);
          changed = true;
        }
      }
    }
    return !left.empty();
  }

  // The weak levels: what is listed, as their formula has it.
  bool weak_passes(std::size_t r) {
    if (r < reads_.size()) {
      for (std::size_t c = 0; c < reads_[r].writers.size(); ++c) {
        reads_[r].chosen = c;
        if (weak_passes(r + 1)) return true;
      }
      return false;
    }
    struct Seen {
      TxnId writer, reader;
      KeyId key;
      OpId op;
    };
    std::vector<Seen> seen;
    std::set<std::pair<TxnId, TxnId>> arcs, visibility;
    for (const auto* d : listed_) {
      if (!d->certain) continue;
      if (d->kind == EdgeKind::kSession) visibility.emplace(d->from, d->to);
      if (is_list(*d)) arcs.emplace(d->from, d->to);
      if (d->kind == EdgeKind::kWriteRead) {
        seen.push_back({d->from, d->to, d->key, d->to_op});
        // The line stands for every read of the same version: as in r(b,2) range([b=1]) r(b,2).
        for (const OpId op : other_reads_of(*d)) seen.push_back({d->from, d->to, d->key, op});
      }
      if (d->kind == EdgeKind::kReadWrite) {
        seen.push_back({TxnId::none(), d->from, d->key, d->from_op});
      }
    }
    for (const auto& read : reads_) {
      const TxnId writer = read.writers[read.chosen];
      if (writer.valid() && gone_ != nullptr && gone_->kind == EdgeKind::kWriteRead &&
          gone_->from == writer && gone_->to_op == read.op && gone_->key == read.key) {
        continue;
      }
      seen.push_back({writer, read.reader, read.key, read.op});
    }
    for (const auto& one : seen) {
      if (one.writer.valid()) visibility.emplace(one.writer, one.reader);
    }
    const auto is_visible = [&](TxnId writer, const Seen& read) {
      if (level_ == Level::kReadCommitted) {
        return std::any_of(seen.begin(), seen.end(), [&](const Seen& other) {
          return other.writer == writer && other.reader == read.reader && other.op < read.op;
        });
      }
      if (level_ == Level::kReadAtomic) return visibility.contains({writer, read.reader});
      std::set<TxnId> reached = {writer};
      for (bool changed = true; changed;) {
        changed = false;
        for (const auto& [from, to] : visibility) {
          if (reached.contains(from)) changed = reached.insert(to).second || changed;
        }
      }
      return reached.contains(read.reader);
    };
    arcs.insert(visibility.begin(), visibility.end());
    for (const auto& read : seen) {
      for (const auto* d : listed_) {
        const bool initial = d->kind == EdgeKind::kReadWrite && !read.writer.valid() &&
                             d->from_op == read.op && d->key == read.key;
        if (initial && is_visible(d->to, read)) return false;
        const bool older = d->kind == EdgeKind::kWriteWrite && !is_list(*d) &&
                           d->to == read.writer && d->key == read.key && d->from != read.reader;
        if (older && is_visible(d->from, read)) arcs.emplace(d->from, d->to);
      }
    }
    return !has_cycle(arcs);
  }

  const History& history_;
  const Level level_;
  const bool split_;
  levels::Accesses accesses_;
  std::vector<const Dependency*> all_, listed_;
  const Dependency* gone_ = nullptr;
  std::vector<Pair> pairs_;
  std::set<std::tuple<TxnId, TxnId, KeyId>> gone_pairs_;
  std::vector<ManyRead> reads_;
};

int proofs = 0;  // that were looked at

std::string shown(const Interpretation& interpretation) {
  std::string text;
  for (std::size_t i = 0; i < interpretation.dependencies.size(); ++i) {
    const auto& d = interpretation.dependencies[i];
    text += "  " + std::to_string(i) + (d.in_cycle ? "*" : " ") + (d.certain ? "  " : "? ") +
            std::string(to_string(d.kind)) + " " + std::string(to_string(d.reason)) + ": " +
            d.sentence + " [";
    for (const auto e : d.evidence) text += " " + std::to_string(e);
    text += " ]\n";
  }
  return text;
}

// Evidence comes from somewhere, forms no cycle, and reaches what is certain.
void expect_sound_structure(const Interpretation& interpretation, const std::string& context) {
  const auto& all = interpretation.dependencies;
  std::vector<int> state(all.size(), 0);
  const std::function<void(std::uint32_t)> visit = [&](std::uint32_t i) {
    ASSERT_NE(state[i], 1) << "a cycle of evidence" << context;
    if (state[i] == 2) return;
    state[i] = 1;
    for (const auto e : all[i].evidence) {
      ASSERT_LT(e, all.size());
      visit(e);
    }
    state[i] = 2;
  };
  std::set<TxnId> txns(interpretation.transactions.begin(), interpretation.transactions.end());
  std::vector<std::uint8_t> used(all.size(), 0);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    visit(i);
    for (const auto e : all[i].evidence) used[e] = 1;
    if (all[i].certain) {
      EXPECT_TRUE(all[i].evidence.empty()) << context;
    }
    EXPECT_FALSE(all[i].sentence.empty());
    EXPECT_TRUE(txns.contains(all[i].from) && txns.contains(all[i].to));
    EXPECT_EQ(all[i].key.valid(),
              all[i].kind != EdgeKind::kSession && all[i].kind != EdgeKind::kRealTime);
    if (all[i].key.valid()) {
      EXPECT_TRUE(all[i].from_op.valid() && all[i].to_op.valid()) << context;
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(used[i] != 0 || all[i].in_cycle) << i << " is of no use" << context;
  }
}

// The explanation is a proof in itself, to the eyes that look at the engine's certificates. The
// choices of cases and only writers are left out of it.
void expect_proof(const History& history, Level level, const ShortExplanation& retold,
                  const std::string& context) {
  const auto& edges = retold.derivation.edges;
  const bool open = std::any_of(edges.begin(), edges.end(), [](const levels::Edge& edge) {
    return edge.several_writers || edge.reason == Reason::kAssumed;
  });
  if (open || !retold.derivation.cases.empty()) return;
  check::Options options;
  options.asked = {level};
  options.evidence = true;
  auto result = check::check(history, options);
  auto& answer = result.levels.at(0);
  if (!answer.violation || answer.violation->assumed.valid() ||
      !answer.violation->placing_branches.empty() || answer.explained_at.value_or(level) != level) {
    return;
  }
  answer.violation->derivation = retold.derivation;
  const auto report = certify::verify(history, report::certificate(history, result, 0).json);
  EXPECT_EQ(report.validity, certify::Validity::kValid) << report.reason << context;
  ++proofs;
}

class Interpretations : public testing::TestWithParam<int> {};

TEST_P(Interpretations, AreMinimal) {
  int looked = 0, minimal = 0, shortened_text = 0;
  proofs = 0;
  for (std::uint64_t i = 0; i < 120; ++i) {
    const auto seed = i * test::kKindCount + static_cast<std::uint64_t>(GetParam());
    const auto h = test::build(test::random_sketch(static_cast<test::Kind>(GetParam()), seed));
    levels::Decider decider(h, 0, 1, false);
    for (const auto level : levels::all_levels()) {
      if (decider.refusal(level)) continue;
      base::Budget budget;
      const auto decision = decider.decide(level, budget);
      if (decision.status != base::Verdict::kViolated || !decision.violation->internal.empty())
        continue;
      // As it was found, and made small.
      const auto small = shrink::shrink(h, level, *decision.violation, {.seconds = 600});
      ASSERT_TRUE(small);
      for (const bool whole : {true, false}) {
        const auto& history = whole ? h : small->history;
        const auto& violation = whole ? *decision.violation : small->violation;
        const auto retold = shorten(history, level, violation, budget);
        if (retold) ++shortened_text;
        levels::Violation simple;
        if (retold) simple.derivation = retold->derivation;
        const auto found = interpret(history, retold ? simple : violation);
        const std::string context = "\nin " + test::to_text(history) + "\nat " +
                                    std::string(levels::name(level)) + ", seed " +
                                    std::to_string(seed) + "\n" + shown(found);
        ASSERT_FALSE(found.dependencies.empty()) << context;
        expect_sound_structure(found, context);
        if (HasFatalFailure()) return;
        ++looked;
        if (retold) expect_proof(history, level, *retold, context);
        if (!retold || !retold->minimal) continue;
        Choices every(history, level, found, found.dependencies.size());
        if (every.count() > Choices::kMost) continue;
        ++minimal;
        ASSERT_FALSE(every.some_passes()) << "no violation" << context;
        for (std::size_t d = 0; d < found.dependencies.size(); ++d) {
          Choices without(history, level, found, d);
          ASSERT_TRUE(without.some_passes()) << d << " can be left out" << context;
        }
      }
    }
  }
  RecordProperty("looked", looked);
  RecordProperty("proofs", proofs);
  EXPECT_GT(proofs, 10);
  RecordProperty("shortened_text", shortened_text);
  RecordProperty("minimal", minimal);
  EXPECT_GT(looked, 25);
  EXPECT_GE(minimal, looked * 95 / 100) << "of " << looked;
}

INSTANTIATE_TEST_SUITE_P(Kinds, Interpretations, testing::Range(0, test::kKindCount),
                         [](const auto& info) {
                           std::string text(name(static_cast<test::Kind>(info.param)));
                           for (char& c : text) c = c == '-' ? '_' : c;
                           return text;
                         });

}  // namespace
}  // namespace cupel::explain
