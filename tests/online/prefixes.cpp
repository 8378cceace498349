// See the header.
#include "online/prefixes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/budget.hpp"
#include "base/random.hpp"
#include "base/read_file.hpp"
#include "base/temp_dir.hpp"
#include "base/verdict.hpp"
#include "engine/levels/decide.hpp"
#include "engine/online/chain.hpp"
#include "engine/online/watch.hpp"
#include "engine/online/window.hpp"

namespace cupel::test {

using base::Random;
using base::Verdict;
using history::kNoTime;
using history::OpKind;
using history::Time;
using history::TxnStatus;
using levels::Level;

namespace {

// What a client says before it knows the answers.
SketchTxn as_tried(const SketchTxn& txn) {
  SketchTxn tried = txn;
  tried.status = TxnStatus::kIndeterminate;
  tried.complete = kNoTime;
  for (auto& op : tried.ops) op.succeeded = true;
  return tried;
}

class Feed {
 public:
  Feed(const Sketch& sketch, Level level, Time drift, std::uint64_t seed, std::size_t slide = 0,
       bool evidence = false)
      : sketch_(sketch),
        random_(seed),
        level_(level),
        drift_(drift),
        window_({.level = level,
                 .drift = drift,
                 .sessions = count_sessions(),
                 .doubt_ends_session = false,
                 .slide = slide,
                 .evidence = evidence}) {
    arrived_.initial = sketch.initial;
    window_.set_default_initial(sketch.initial.view());
    for (const auto& session : sketch.sessions) {
      arrived_.sessions.push_back({session.name});
      if (!session.txns.empty()) {
        sessions_.push_back(window_.session(session.name));
      } else {
        sessions_.push_back(0);
      }
      begun_at_.push_back(kNoTime);
      begun_.push_back(0);
      ended_.push_back(0);
    }
    for (const auto& session : sketch.sessions) {
      Time free = kNoTime;
      for (const auto& txn : session.txns) {
        timed_ = timed_ || txn.invoke != kNoTime;
        sequential_ = sequential_ && txn.invoke >= free;
        free = std::max(free, txn.complete);
      }
    }
  }

  PrefixRun run_sliding() && {
    PrefixRun run;
    for (bool more = true; more;) {
      more = step();
      ++run.looks;
      const auto whole = verdict_of_all();
      if (whole == Verdict::kRefused) break;
      const bool slid = window_.held().forgotten > 0;
      const auto look = window_.look(budget_);
      const bool found = look.status == Verdict::kViolated;
      const bool wrong = whole == Verdict::kViolated;
      run.violated = found && wrong;
      if (found && !wrong) {
        run.asked = true;
        if (look.sure || !slid || !repeats_values()) {
          run.difference =
              fmt::format("{}: the window says violated, the check satisfied, of\n  {}",
                          levels::name(level_), to_text(arrived_));
        }
        window_.forget_reads();
      } else if (wrong && !found && compares_open()) {
        ++run.waited;
        continue;
      } else if (wrong && !found && !slid) {
        run.difference = fmt::format("{}: not found, with nothing forgotten\n  {}",
                                     levels::name(level_), to_text(arrived_));
      }
      if (wrong || !run.difference.empty()) break;
    }
    run.transactions = window_.held().transactions;
    run.forgotten = window_.held().forgotten;
    return run;
  }

  PrefixRun run(unsigned every) && {
    PrefixRun run;
    unsigned since = 0;
    bool more = true;
    while (more) {
      more = step();
      if (more && ++since < every) continue;
      since = 0;
      ++run.looks;
      const auto whole = verdict_of_all();
      if (whole == Verdict::kRefused) break;
      const auto look = window_.look(budget_);
      run.doubt = window_.held().doubt;
      // What the window is not sure of it asks; it may not miss anything. It has to be sure where
      // sessions wait for the ends of their transactions and no read has several writers.
      const bool asks = !look.sure && look.status == Verdict::kViolated;
      const bool may_doubt = !sequential_ || run.doubt.starts_with("a read may be of several") ||
                             look.detail.starts_with("a range read that was forgotten");
      run.asked = asks && whole != Verdict::kViolated;
      if (whole == Verdict::kViolated && look.status == Verdict::kSatisfied && compares_open()) {
        ++run.waited;
        continue;
      }
      if ((look.status != whole && !asks) || (!look.sure && !may_doubt)) {
        run.difference = fmt::format(
            "{}: the window says {}{}{}, the check {}, of\n  {}\n  held: "
            "{}\n  whole: {}",
            levels::name(level_), word(look.status),
            look.sure ? "" : " (not sure: " + window_.held().doubt + ")", look.detail, word(whole),
            to_text(arrived_), to_text(window_.history()), to_text(sketch_));
      }
      if (asks || !run.difference.empty() || whole == Verdict::kViolated) {
        run.violated = whole == Verdict::kViolated;
        break;
      }
    }
    run.transactions = window_.held().transactions;
    run.forgotten = window_.held().forgotten;
    return run;
  }

  AloneRun run_alone(Level asked) && {
    AloneRun run;
    for (bool more = true; more;) {
      more = step();
      const auto look = window_.look(budget_);
      if (look.status == Verdict::kRefused) break;
      if (look.status != Verdict::kViolated) continue;
      const bool alone = window_.violates_alone(asked, budget_);
      level_ = asked;
      run.violated = verdict_of_all() == Verdict::kViolated;
      run.found = alone && run.violated;
      run.forgotten = window_.held().forgotten;
      if (!alone || run.violated || repeats_values()) break;
      run.difference = fmt::format(
          "{}: violated by what is held, and the check says satisfied, of\n  {}\n  held: {}",
          levels::name(asked), to_text(arrived_), to_text(window_.history()));
      break;
    }
    return run;
  }

  AloneRun run_given_up(Level asked) && {
    AloneRun run;
    bool given_up = false;
    for (bool more = true; more;) {
      more = step();
      const auto look = window_.look(budget_);
      if (look.status == Verdict::kRefused) break;
      if (look.status == Verdict::kViolated) {
        if (!given_up) break;
        level_ = asked;
        run.violated = verdict_of_all() == Verdict::kViolated;
        run.found = run.violated;
        if (!run.violated && (look.sure || !repeats_values())) {
          run.difference = fmt::format(
              "{}: violated after a window was given up, and the check says satisfied, "
              "of\n  {}\n  held: {}",
              levels::name(asked), to_text(arrived_), to_text(window_.history()));
        }
        if (run.violated || !run.difference.empty()) break;
        window_.forget_reads();
      }
      if (!random_.chance(0.08)) continue;
      window_.give_up(asked, 50);
      given_up = true;
      EXPECT_EQ(window_.held().held, window_.held().open);
    }
    run.forgotten = window_.held().forgotten;
    return run;
  }

  CertifiedRun certify(unsigned every) && {
    CertifiedRun run;
    const auto folder = base::TempDir::make("cupel-test-");
    const auto file = folder->file("chain");
    auto chain = *online::Chain::begin(file, level_, level_, drift_);
    unsigned since = 0;
    bool more = true;
    while (more) {
      more = step();
      if (more && ++since < every) continue;
      since = 0;
      const auto look = window_.look(budget_, /*ended=*/!more);
      if (look.status != Verdict::kSatisfied) return run;
      EXPECT_TRUE(chain.add(window_).ok());
    }
    EXPECT_TRUE(chain.end(window_).ok());
    run.satisfied = true;
    run.chain = *base::read_file(file);
    run.transactions = std::move(streamed_);
    for (std::size_t s = 0; s < sessions_.size(); ++s) {
      if (sketch_.sessions[s].txns.empty() || !window_.is_open(sessions_[s])) continue;
      run.transactions.push_back({sessions_[s], TxnStatus::kIndeterminate, begun_at_[s], kNoTime, 0,
                                  window_.tried(sessions_[s])});
    }
    const auto initial = sketch_.initial.view();
    run.initial.push_back({true, 0, initial.kind, initial.integer, std::string(initial.text)});
    for (online::Key key = 0; key < window_.keys().size(); ++key) {
      run.keys.intern(window_.keys().name(key));
      run.lists.push_back(window_.keys().is_list(key));
    }
    return run;
  }

 private:
  static const char* word(Verdict status) {
    switch (status) {
      case Verdict::kSatisfied:
        return "satisfied";
      case Verdict::kViolated:
        return "violated";
      case Verdict::kUnknown:
        return "unknown";
      case Verdict::kRefused:
        return "refused";
    }
    return "";
  }

  [[nodiscard]] bool repeats_values() const {
    std::set<std::pair<Atom, Atom>> versions;
    for (const auto& session : sketch_.sessions) {
      for (const auto& txn : session.txns) {
        for (const auto& op : txn.ops) {
          if (op.kind == OpKind::kRead || op.kind == OpKind::kListRead ||
              op.kind == OpKind::kRangeRead) {
            continue;
          }
          const auto& value = op.kind == OpKind::kCompareAndSet ? op.desired : op.value;
          if (value == sketch_.initial || !versions.emplace(op.key, value).second) return true;
        }
      }
    }
    return false;
  }

  [[nodiscard]] std::size_t count_sessions() const {
    return static_cast<std::size_t>(
        std::count_if(sketch_.sessions.begin(), sketch_.sessions.end(),
                      [](const auto& session) { return !session.txns.empty(); }));
  }

  // One event: a begin or an end. By time, where there are times; else at random, but so that
  // what is read has been begun if that is possible. False when there is none left.
  bool step() {
    std::vector<std::size_t> possible;
    for (std::size_t s = 0; s < sketch_.sessions.size(); ++s) {
      const auto& txns = sketch_.sessions[s].txns;
      if (begun_[s] > ended_[s] || begun_[s] < txns.size()) possible.push_back(s);
    }
    if (possible.empty()) return false;
    if (timed_) {
      std::sort(possible.begin(), possible.end(), [&](auto a, auto b) {
        return std::pair(time_of(a), a) < std::pair(time_of(b), b);
      });
      next(possible.front());
      return true;
    }
    std::vector<std::size_t> fit;
    for (const auto s : possible) {
      if (begun_[s] == ended_[s] || all_begun(sketch_.sessions[s].txns[ended_[s]]))
        fit.push_back(s);
    }
    if (fit.empty()) fit = possible;
    next(fit[random_.below(fit.size())]);
    return true;
  }

  [[nodiscard]] Time time_of(std::size_t s) const {
    const auto& txns = sketch_.sessions[s].txns;
    if (begun_[s] == ended_[s]) return txns[begun_[s]].invoke;
    const auto& txn = txns[ended_[s]];
    return txn.complete != kNoTime ? txn.complete : txn.invoke;
  }

  // Has everything that it read been begun by somebody, as far as anybody ever writes it?
  bool all_begun(const SketchTxn& txn) const {
    for (const auto& op : txn.ops) {
      if (op.kind == OpKind::kRead || op.kind == OpKind::kCompareAndSet) {
        if (awaited(op.key, op.value)) return false;
      }
      for (const auto& element : op.list) {
        if (awaited(op.key, element)) return false;
      }
      for (const auto& [key, value] : op.entries) {
        if (awaited(key, value)) return false;
      }
    }
    return true;
  }
  bool awaited(const Atom& key, const Atom& value) const {
    bool ever = false;
    for (std::size_t s = 0; s < sketch_.sessions.size(); ++s) {
      const auto& txns = sketch_.sessions[s].txns;
      for (std::size_t t = 0; t < txns.size(); ++t) {
        for (const auto& op : txns[t].ops) {
          const bool writes =
              op.key == key && ((op.kind == OpKind::kCompareAndSet && op.desired == value) ||
                                (op.kind != OpKind::kCompareAndSet && op.kind != OpKind::kRead &&
                                 op.kind != OpKind::kListRead && op.value == value));
          if (writes && t < begun_[s]) return false;
          ever = ever || writes;
        }
      }
    }
    return ever;
  }

  void next(std::size_t s) {
    const auto& txns = sketch_.sessions[s].txns;
    auto& arrived = arrived_.sessions[s].txns;
    if (begun_[s] == ended_[s]) {
      const auto tried = as_tried(txns[begun_[s]++]);
      begun_at_[s] = tried.invoke;
      arrived.push_back(tried);
      window_.begin(sessions_[s], {tried.invoke, 0}, operations(tried, false));
      return;
    }
    const auto& txn = txns[ended_[s]++];
    arrived.back() = txn;
    const auto seen = operations(txn, true);
    window_.end(sessions_[s], txn.status, {txn.complete, 0}, seen);
    streamed_.push_back({sessions_[s], txn.status, txn.invoke,
                         txn.status == TxnStatus::kCommitted ? txn.complete : kNoTime, 0, seen});
    if (ended_[s] == txns.size() && random_.chance(0.5)) window_.close(sessions_[s]);
  }

  online::Operations operations(const SketchTxn& txn, bool seen) {
    online::Operations out;
    auto& keys = window_.keys();
    const auto keep = [&](const Atom& atom) { return out.keep(atom.view()); };
    for (const auto& op : txn.ops) {
      const auto key = op.kind == OpKind::kRangeRead ? 0 : keys.of(op.key.view());
      switch (op.kind) {
        case OpKind::kRead:
          if (seen && op.value.known && op.value != Atom::null()) keys.note_register(key);
          out.read(key, keep(op.value), seen && op.value.known);
          break;
        case OpKind::kListRead:
          keys.note_list(key);
          out.list_read(key, seen && op.value.known);
          for (const auto& element : op.list) out.element(keep(element));
          break;
        case OpKind::kRangeRead: {
          out.range_read(keep(op.low), keep(op.high));
          for (const auto& [k, v] : op.entries) {
            const auto row = keys.of(k.view());
            keys.note_register(row);
            out.entry(row, keep(v));
          }
          break;
        }
        case OpKind::kCompareAndSet:
          keys.note_register(key);
          out.compare_and_set(key, keep(op.value), keep(op.desired), op.succeeded);
          break;
        case OpKind::kAppend:
          keys.note_list(key);
          out.write(op.kind, key, keep(op.value));
          break;
        default:
          keys.note_register(key);
          out.write(op.kind, key, keep(op.value));
      }
    }
    return out;
  }

  Verdict verdict_of(const Sketch& sketch) {
    const auto h = build(with_empty_lists(sketch));
    levels::Decider decider(h, drift_, 1, false);
    return decider.decide(level_, budget_).status;
  }

  // As the readers of whole files understand it: null read of a list is an empty one.
  static Sketch with_empty_lists(Sketch sketch) {
    std::set<Atom> lists;
    for (const auto& session : sketch.sessions) {
      for (const auto& txn : session.txns) {
        for (const auto& op : txn.ops) {
          if (op.kind == OpKind::kAppend || op.kind == OpKind::kListRead) lists.insert(op.key);
        }
      }
    }
    for (auto& session : sketch.sessions) {
      for (auto& txn : session.txns) {
        for (auto& op : txn.ops) {
          if (op.kind == OpKind::kRead && lists.contains(op.key)) op.kind = OpKind::kListRead;
        }
      }
    }
    return sketch;
  }

  // Of what has arrived, whatever the compare-and-sets of the open transactions turn out to do.
  Verdict verdict_of_all() {
    Sketch all = arrived_;
    std::vector<SketchOp*> open;
    for (std::size_t s = 0; s < all.sessions.size(); ++s) {
      if (begun_[s] == ended_[s]) continue;
      for (auto& op : all.sessions[s].txns.back().ops) {
        if (op.kind == OpKind::kCompareAndSet) open.push_back(&op);
      }
    }
    std::vector<SketchOp> tried;
    for (const auto* op : open) tried.push_back(*op);
    auto status = verdict_of(all);
    for (std::size_t fail = 1; status == Verdict::kViolated && fail < std::size_t{1} << open.size();
         ++fail) {
      for (std::size_t i = 0; i < open.size(); ++i) {
        const bool fails = (fail >> i & 1) != 0;
        *open[i] =
            fails ? SketchOp{.kind = OpKind::kRead, .key = tried[i].key, .value = Atom::unknown()}
                  : tried[i];
      }
      status = verdict_of(all);
    }
    return status;
  }

  [[nodiscard]] bool compares_open() const {
    for (std::size_t s = 0; s < begun_.size(); ++s) {
      if (begun_[s] == ended_[s]) continue;
      const auto& ops = arrived_.sessions[s].txns.back().ops;
      const auto writes = std::count_if(ops.begin(), ops.end(), [](const SketchOp& op) {
        return op.kind != OpKind::kRead && op.kind != OpKind::kListRead &&
               op.kind != OpKind::kRangeRead;
      });
      const bool compares = std::any_of(ops.begin(), ops.end(), [](const SketchOp& op) {
        return op.kind == OpKind::kCompareAndSet;
      });
      if (compares && writes > 1) return true;
    }
    return false;
  }

  const Sketch& sketch_;
  Random random_;
  Level level_;
  const Time drift_;
  online::Window window_;
  base::Budget budget_;
  Sketch arrived_;
  std::vector<online::Session> sessions_;
  std::vector<std::size_t> begun_, ended_;  // by session
  std::vector<Time> begun_at_;              // the last one, by session
  std::vector<history::StreamedTransaction> streamed_;
  bool timed_ = false, sequential_ = true;
};

}  // namespace

PrefixRun compare_prefixes(const Sketch& sketch, Level level, Time drift, std::uint64_t seed,
                           unsigned every) {
  return Feed(sketch, level, drift, seed).run(every);
}

PrefixRun compare_sliding(const Sketch& sketch, Level level, std::uint64_t seed,
                          std::size_t slide) {
  return Feed(sketch, level, 0, seed, slide).run_sliding();
}

AloneRun compare_alone(const Sketch& sketch, Level level, std::uint64_t seed) {
  return Feed(sketch, online::watched_for(level), 0, seed).run_alone(level);
}

AloneRun compare_given_up(const Sketch& sketch, Level level, std::uint64_t seed) {
  return Feed(sketch, online::watched_for(level), 0, seed).run_given_up(level);
}

CertifiedRun certify_run(const Sketch& sketch, Level level, Time drift, std::uint64_t seed,
                         unsigned every) {
  return Feed(sketch, level, drift, seed, /*slide=*/0, /*evidence=*/true).certify(every);
}

// A store in which a transaction takes effect at one moment, and ends some moments later.
Sketch compare_sketch(std::uint64_t seed) {
  Random random(seed);
  const auto sessions = static_cast<std::size_t>(random.between(2, 4));
  const auto key_count = random.between(1, 4);
  const bool times = random.chance(0.5), one_key = random.chance(0.25);
  static constexpr double kStale[] = {0, 0, 0.02, 0.1};
  const double stale = kStale[random.below(4)];
  const double fails = random.unit(), doubtful = random.chance(0.3) ? 0.1 : 0;
  const double again = random.chance(0.3) ? 0.3 : 0;
  Sketch sketch;
  for (std::size_t s = 0; s < sessions; ++s) sketch.sessions.push_back({fmt::format("s{}", s)});
  std::map<Atom, std::vector<Atom>> versions;
  std::vector<Atom> keys;
  for (std::int64_t k = 0; k < key_count; ++k) {
    keys.push_back(Atom::of(k));
    versions[keys.back()] = {Atom::null()};
  }
  std::vector<Time> free(sessions, 0);
  Time now = 0;
  std::int64_t next = 1;
  const auto count = random.between(6, 24);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto s = random.below(sessions);
    SketchTxn txn;
    const auto only = keys[random.below(keys.size())];
    const auto ops = random.between(1, 4);
    std::map<Atom, Atom> own;
    const auto see = [&](const Atom& key) {
      if (const auto it = own.find(key); it != own.end()) return it->second;
      const auto& all = versions[key];
      return all[all.size() - 1 - (random.chance(stale) ? random.below(all.size()) : 0)];
    };
    const auto fresh = [&] {
      return Atom::of(next > 3 && random.chance(again) ? random.between(1, next - 1) : next++);
    };
    for (std::int64_t o = 0; o < ops; ++o) {
      const auto key = one_key ? only : keys[random.below(keys.size())];
      const auto dice = random.unit();
      if (dice < 0.3) {
        txn.ops.push_back({.kind = OpKind::kRead, .key = key, .value = see(key)});
      } else if (dice < 0.6) {
        own[key] = fresh();
        txn.ops.push_back({.kind = OpKind::kWrite, .key = key, .value = own[key]});
      } else {
        const auto seen = see(key), desired = fresh();
        const auto expected = random.chance(fails) ? Atom::of(random.between(1, next)) : seen;
        const bool succeeds = expected == seen;
        txn.ops.push_back({.kind = OpKind::kCompareAndSet,
                           .key = key,
                           .value = expected,
                           .desired = desired,
                           .succeeded = succeeds});
        if (succeeds) own[key] = desired;
      }
    }
    const bool in_doubt = random.chance(doubtful);
    if (in_doubt) txn.status = random.chance(0.5) ? TxnStatus::kIndeterminate : TxnStatus::kAborted;
    if (!in_doubt || (txn.status == TxnStatus::kIndeterminate && random.chance(0.5))) {
      for (const auto& [key, value] : own) versions[key].push_back(value);
    }
    if (times) {
      now += 10;
      txn.invoke = std::max(free[s] + 1, now - random.between(0, 30));
      txn.complete = std::max(txn.invoke, now) + random.between(1, 100);
      now = std::max(now, txn.invoke);
      free[s] = txn.complete;
    }
    sketch.sessions[s].txns.push_back(std::move(txn));
  }
  return sketch;
}

Sketch with_null_lists(Sketch sketch, std::uint64_t seed) {
  Random random(seed ^ 0x5bd1e995);
  std::set<Atom> appended;
  for (const auto& session : sketch.sessions) {
    for (const auto& txn : session.txns) {
      for (const auto& op : txn.ops) {
        if (op.kind == OpKind::kAppend) appended.insert(op.key);
      }
    }
  }
  for (auto& session : sketch.sessions) {
    for (auto& txn : session.txns) {
      for (auto& op : txn.ops) {
        const bool empty = op.kind == OpKind::kListRead && op.value.known && op.list.empty();
        if (!empty || !appended.contains(op.key) || random.chance(0.3)) continue;
        op.kind = OpKind::kRead;
        op.value = Atom::null();
      }
    }
  }
  return sketch;
}

Sketch range_sketch(std::uint64_t seed) {
  Random random(seed);
  const auto sessions = static_cast<std::size_t>(random.between(2, 4));
  const auto key_count = random.between(2, 5);
  const bool times = random.chance(0.5);
  static constexpr double kWrong[] = {0, 0.01, 0.05, 0.2};
  const double wrong = kWrong[random.below(4)], overlap = random.unit();
  const double doubtful = random.chance(0.3) ? 0.05 : 0;
  std::int64_t next = 1;
  Sketch sketch;
  sketch.initial = Atom::of(0);
  for (std::size_t s = 0; s < sessions; ++s) sketch.sessions.push_back({fmt::format("s{}", s)});
  std::vector<std::vector<Atom>> versions(static_cast<std::size_t>(key_count), {Atom::of(0)});
  // Lists, with how many elements each version has: a range read returns none, and so is wrong if
  // it could have seen an element.
  const bool some_lists = random.chance(0.5);
  std::vector<bool> list;
  for (std::int64_t k = 0; k < key_count; ++k) {
    list.push_back(some_lists && random.chance(0.4));
    if (list.back()) versions[static_cast<std::size_t>(k)].clear();
  }
  const auto add_list_operation = [&](SketchTxn& txn, std::int64_t key, bool append) {
    auto& elements = versions[static_cast<std::size_t>(key)];
    if (!append) {
      auto seen = elements;
      if (!seen.empty() && random.chance(wrong)) seen.resize(random.below(seen.size()));
      txn.ops.push_back({.kind = OpKind::kListRead, .key = Atom::of(key), .list = std::move(seen)});
      return;
    }
    txn.ops.push_back({.kind = OpKind::kAppend, .key = Atom::of(key), .value = Atom::of(next++)});
    if (random.chance(doubtful)) txn.status = TxnStatus::kIndeterminate;
    if (txn.status == TxnStatus::kCommitted || random.chance(0.5))
      elements.push_back(txn.ops.back().value);
  };
  std::vector<Time> free(sessions, 0);
  Time now = 0;
  const auto count = random.between(8, 24);
  for (std::int64_t i = 0; i < count; ++i) {
    // The later keys appear later.
    const auto known = std::min<std::int64_t>(key_count, 1 + i * key_count / (count / 2));
    const auto s = random.below(sessions);
    SketchTxn txn;
    const auto seen = [&](std::int64_t k) {
      const auto& all = versions[static_cast<std::size_t>(k)];
      return all[all.size() - 1 - (random.chance(wrong) ? random.below(all.size()) : 0)];
    };
    const auto key = random.between(0, known - 1);
    const auto dice = random.unit();
    if (dice < 0.4) {
      const auto low = random.between(0, key_count - 1), high = random.between(low, key_count - 1);
      SketchOp op{.kind = OpKind::kRangeRead, .low = Atom::of(low), .high = Atom::of(high)};
      for (auto k = low; k <= high; ++k) {
        const auto at = static_cast<std::size_t>(k);
        if (list[at] && !versions[at].empty() && !random.chance(wrong)) op.high = Atom::of(-1);
        if (list[at]) continue;
        const auto value = seen(k);
        if (value != Atom::null() && !random.chance(wrong))
          op.entries.emplace_back(Atom::of(k), value);
      }
      if (op.high == Atom::of(-1))
        op = {.kind = OpKind::kRangeRead, .low = op.high, .high = op.high};
      txn.ops.push_back(std::move(op));
    } else if (list[static_cast<std::size_t>(key)]) {
      add_list_operation(txn, key, /*append=*/dice >= 0.6);
    } else if (dice < 0.55) {
      txn.ops.push_back({.kind = OpKind::kRead, .key = Atom::of(key), .value = seen(key)});
    } else {
      const bool deletes = random.chance(0.3);
      const auto value = deletes ? Atom::null() : Atom::of(next++);
      txn.ops.push_back({.kind = deletes ? OpKind::kDelete : OpKind::kWrite,
                         .key = Atom::of(key),
                         .value = value});
      if (random.chance(doubtful)) txn.status = TxnStatus::kIndeterminate;
      if (txn.status == TxnStatus::kCommitted || random.chance(0.5))
        versions[static_cast<std::size_t>(key)].push_back(value);
    }
    if (times) {
      now += 10;
      const auto wide = static_cast<Time>(overlap * 60);
      txn.invoke = std::max(free[s] + 1, now - random.between(0, wide));
      txn.complete = std::max(txn.invoke + 1, now + random.between(0, wide));
      now = std::max(now, txn.invoke);
      free[s] = txn.complete;
    }
    sketch.sessions[s].txns.push_back(std::move(txn));
  }
  return sketch;
}

Sketch long_sketch(std::uint64_t seed) {
  Random random(seed);
  const auto sessions = static_cast<std::size_t>(random.between(2, 4));
  const auto key_count = random.between(1, 4);
  const bool lists = random.chance(0.25), times = random.chance(0.5), one_key = random.chance(0.25);
  static constexpr double kStale[] = {0, 0.01, 0.05, 0.2};
  const double blind = random.unit(), stale = kStale[random.below(4)];
  const double doubtful = random.chance(0.3) ? 0.05 : 0, again = random.chance(0.3) ? 0.2 : 0;
  const double overlap = random.unit();
  Sketch sketch;
  struct Version {
    Atom value;
    std::vector<Atom> list;
  };
  std::map<Atom, std::vector<Version>> versions;
  std::vector<Atom> keys;
  for (std::int64_t k = 0; k < key_count; ++k) {
    keys.push_back(Atom::of(k));
    versions[keys.back()] = {{Atom::null(), {}}};
  }
  std::vector<Time> free(sessions, 0);
  for (std::size_t s = 0; s < sessions; ++s) sketch.sessions.push_back({fmt::format("s{}", s)});
  Time now = 0;
  std::int64_t next = 1;
  const auto count = random.between(10, 30);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto s = random.below(sessions);
    SketchTxn txn;
    const auto only = keys[random.below(keys.size())];
    const auto ops = random.between(1, 3);
    std::set<Atom> touched;
    for (std::int64_t o = 0; o < ops; ++o) {
      const auto key = one_key ? only : keys[random.below(keys.size())];
      if (!touched.insert(key).second) continue;
      auto& all = versions[key];
      const auto back = random.chance(stale) ? random.below(all.size()) : 0;
      const Version seen = all[all.size() - 1 - back];
      const bool writes = random.chance(0.5);
      if (!writes || !random.chance(blind)) {
        if (lists) {
          txn.ops.push_back({.kind = OpKind::kListRead, .key = key, .list = seen.list});
        } else {
          txn.ops.push_back({.kind = OpKind::kRead, .key = key, .value = seen.value});
        }
      }
      if (!writes) continue;
      const auto value = Atom::of(
          next > 3 && random.chance(again) && !lists ? random.between(1, next - 1) : next++);
      txn.ops.push_back(
          {.kind = lists ? OpKind::kAppend : OpKind::kWrite, .key = key, .value = value});
      auto list = all.back().list;
      list.push_back(value);
      all.push_back({value, list});
    }
    if (random.chance(doubtful)) {
      txn.status = random.chance(0.5) ? TxnStatus::kIndeterminate : TxnStatus::kAborted;
      for (auto& op : txn.ops) {
        if ((op.kind != OpKind::kWrite && op.kind != OpKind::kAppend) ||
            (txn.status != TxnStatus::kAborted && random.chance(0.5)))
          continue;
        versions[op.key].pop_back();  // it did not take place
      }
    }
    if (times) {
      now += 10;
      const auto wide = static_cast<Time>(overlap * 60);
      txn.invoke = std::max(free[s] + 1, now - random.between(0, wide));
      txn.complete = std::max(txn.invoke + 1, now + random.between(0, wide));
      now = std::max(now, txn.invoke);
      free[s] = txn.complete;
    }
    sketch.sessions[s].txns.push_back(std::move(txn));
  }
  return sketch;
}

}  // namespace cupel::test
