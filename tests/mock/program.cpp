// Enumeration of a program by the store, and of its outcomes by the oracle.
#include "mock/program.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "data/history/builder.hpp"
#include "engine/levels/level.hpp"
#include "oracle/oracle.hpp"

namespace cupel::test {

namespace {

using history::ScalarView;

// The value of the write at this place.
int value_of(std::size_t session, std::size_t txn, std::size_t step) {
  return static_cast<int>(100 * (session + 1) + 10 * txn + step);
}

Outcome in_words(const std::vector<std::vector<std::string>>& reads) {
  Outcome text;
  for (const auto& session : reads) {
    for (const auto& read : session) text += read + " ";
    text += "| ";
  }
  return text;
}

// One run: transactions in this order of sessions. Empty if one did not commit.
std::optional<Outcome> run(const Program& program, const std::vector<int>& order,
                           const mock::Options& options) {
  mock::Store store(options);
  std::vector<std::uint32_t> sessions;
  for (std::size_t s = 0; s < program.sessions.size(); ++s) {
    sessions.push_back(store.open_session("s" + std::to_string(s)));
  }
  std::vector<std::size_t> done(sessions.size(), 0);
  std::vector<std::vector<std::string>> reads(sessions.size());
  for (const int s : order) {
    const auto place = done[s]++;
    mock::Store::BeginOptions begin;
    if (!program.levels.empty()) begin.level = program.levels[s][place];
    const auto txn = store.begin(sessions[s], begin);
    const auto& steps = program.sessions[s][place];
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::string key = "k" + std::to_string(steps[i].key);
      if (steps[i].write) {
        if (!txn->write(key, mock::Value::of(value_of(s, place, i)))) return std::nullopt;
      } else {
        const auto seen = txn->read(key);
        reads[s].push_back(seen->kind == mock::Value::Kind::kNull ? "n"
                                                                  : std::to_string(seen->integer));
      }
    }
    if (!txn->commit()) return std::nullopt;
  }
  return in_words(reads);
}

}  // namespace

std::string Program::to_string() const {
  std::string text;
  for (std::size_t s = 0; s < sessions.size(); ++s) {
    text += (s ? " | s" : "s") + std::to_string(s) + ":";
    for (std::size_t t = 0; t < sessions[s].size(); ++t) {
      if (t) text += " ;";
      for (const auto& step : sessions[s][t])
        text += (step.write ? " w" : " r") + std::to_string(step.key);
    }
  }
  return text;
}

Program random_program(base::Random& random, int sessions, int transactions, int steps, int keys) {
  Program program;
  const double writes = 0.25 + 0.5 * random.unit();
  program.sessions.resize(1 + random.below(sessions));
  for (auto& session : program.sessions) {
    session.resize(1 + random.below(transactions));
    for (auto& txn : session) {
      txn.resize(1 + random.below(steps));
      for (auto& step : txn) step = {random.chance(writes), static_cast<int>(random.below(keys))};
    }
  }
  return program;
}

namespace {

Order first_order(const Program& program) {
  Order order;
  for (std::size_t s = 0; s < program.sessions.size(); ++s) {
    order.insert(order.end(), program.sessions[s].size(), static_cast<int>(s));
  }
  return order;
}

}  // namespace

Order random_order(const Program& program, base::Random& random) {
  Order order = first_order(program);
  random.shuffle(std::span(order));
  return order;
}

std::set<Outcome> reached(const Program& program, mock::Level level, const Order& order) {
  std::set<Outcome> found;
  // The choices of a run as digits; the last that can be raised is raised next.
  struct Digit {
    std::size_t at, of;
  };
  std::vector<Digit> digits;
  for (;;) {
    std::size_t next = 0;
    mock::Options options;
    options.level = level;
    options.choose = [&](std::size_t allowed) {
      if (next == digits.size()) digits.push_back({0, allowed});
      return digits[next++].at;
    };
    if (const auto outcome = run(program, order, options)) found.insert(*outcome);
    digits.resize(next);
    while (!digits.empty() && digits.back().at + 1 == digits.back().of) digits.pop_back();
    if (digits.empty()) return found;
    ++digits.back().at;
  }
}

std::set<Outcome> reached(const Program& program, mock::Level level) {
  Order order = first_order(program);
  std::set<Outcome> found;
  do {
    found.merge(reached(program, level, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return found;
}

namespace {

// Final writes to each key by other transactions, and null, for each read that is not of
// an own write. With an order: by earlier ones.
void for_each_outcome(const Program& program, const Order* order,
                      const std::function<void(const history::History&, const Outcome&)>& visit) {
  struct Slot {
    std::size_t session, txn, step;
    std::vector<int> values;  // -1: null
  };
  const auto earlier = [&](std::size_t s, std::size_t t, std::size_t than_s, std::size_t than_t) {
    std::vector<std::size_t> done(program.sessions.size(), 0);
    for (const int session : *order) {
      const auto place = done[session]++;
      if (session == static_cast<int>(s) && place == t) return true;
      if (session == static_cast<int>(than_s) && place == than_t) return false;
    }
    return false;
  };
  std::vector<Slot> slots;
  for (std::size_t s = 0; s < program.sessions.size(); ++s) {
    for (std::size_t t = 0; t < program.sessions[s].size(); ++t) {
      const auto& steps = program.sessions[s][t];
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].write) continue;
        Slot slot{s, t, i, {}};
        for (std::size_t own = 0; own < i; ++own) {
          if (steps[own].write && steps[own].key == steps[i].key)
            slot.values = {value_of(s, t, own)};
        }
        if (slot.values.empty()) {
          slot.values.push_back(-1);
          for (std::size_t so = 0; so < program.sessions.size(); ++so) {
            for (std::size_t to = 0; to < program.sessions[so].size(); ++to) {
              if (so == s && to == t) continue;
              if (order != nullptr && !earlier(so, to, s, t)) continue;
              std::optional<int> last;
              const auto& other = program.sessions[so][to];
              for (std::size_t io = 0; io < other.size(); ++io) {
                if (other[io].write && other[io].key == steps[i].key) last = value_of(so, to, io);
              }
              if (last) slot.values.push_back(*last);
            }
          }
        }
        slots.push_back(std::move(slot));
      }
    }
  }
  std::vector<std::size_t> at(slots.size(), 0);
  for (;;) {
    history::HistoryBuilder builder;
    std::vector<std::vector<std::string>> reads(program.sessions.size());
    std::size_t slot = 0;
    for (std::size_t s = 0; s < program.sessions.size(); ++s) {
      for (std::size_t t = 0; t < program.sessions[s].size(); ++t) {
        builder.begin(builder.session("s" + std::to_string(s)), history::TxnStatus::kCommitted);
        const auto& steps = program.sessions[s][t];
        for (std::size_t i = 0; i < steps.size(); ++i) {
          const auto key = builder.key(std::int64_t{steps[i].key});
          if (steps[i].write) {
            builder.write(key, builder.value(std::int64_t{value_of(s, t, i)}));
            continue;
          }
          const int value = slots[slot].values[at[slot]];
          ++slot;
          builder.read(key, value < 0 ? builder.null_value() : builder.value(std::int64_t{value}));
          reads[s].push_back(value < 0 ? "n" : std::to_string(value));
        }
        builder.end();
      }
    }
    visit(*std::move(builder).finish(), in_words(reads));
    std::size_t i = 0;
    while (i < slots.size() && ++at[i] == slots[i].values.size()) at[i++] = 0;
    if (i == slots.size()) return;
  }
}

}  // namespace

std::set<Outcome> accepted(const Program& program, mock::Level level) {
  std::set<Outcome> found;
  const auto wanted = *levels::parse_level(mock::name(level));
  for_each_outcome(program, nullptr, [&](const history::History& history, const Outcome& outcome) {
    if (oracle::oracle_satisfies(history, wanted)) found.insert(outcome);
  });
  return found;
}

std::set<Outcome> accepted(const Program& program, mock::Level level, const Order& order) {
  std::set<Outcome> found;
  const auto wanted = *levels::parse_level(mock::name(level));
  for_each_outcome(program, &order, [&](const history::History& history, const Outcome& outcome) {
    if (oracle::oracle_satisfies(history, wanted)) found.insert(outcome);
  });
  return found;
}

namespace {

// A transaction as the axioms see it.
struct Plain {
  std::size_t session, place;
  mock::Level level;
  struct Read {
    int key, writer;  // -1: the initial one
  };
  std::vector<Read> reads;
  std::set<int> writes;
};

bool follows_axioms(const std::vector<Plain>& txns, const std::vector<int>& at) {
  const auto n = static_cast<int>(txns.size());
  std::vector<std::vector<bool>> step(n, std::vector<bool>(n)), past;
  for (int t = 0; t < n; ++t) {
    for (int k = 0; k < n; ++k) {
      if (txns[k].session == txns[t].session && txns[k].place < txns[t].place) step[k][t] = true;
    }
    for (const auto& read : txns[t].reads) {
      if (read.writer >= 0) step[read.writer][t] = true;
    }
  }
  past = step;
  for (int m = 0; m < n; ++m) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        if (past[i][m] && past[m][j]) past[i][j] = true;
      }
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (step[i][j] && at[i] >= at[j]) return false;
    }
  }
  for (int t = 0; t < n; ++t) {
    for (std::size_t r = 0; r < txns[t].reads.size(); ++r) {
      const auto& read = txns[t].reads[r];
      for (int k = 0; k < n; ++k) {
        if (k == t || k == read.writer || !txns[k].writes.contains(read.key)) continue;
        bool seen = false;
        // co* then so ∪ wr; co* then a conflicting writer before t.
        const auto up_to = [&](auto last) {
          for (int p = 0; p < n; ++p) {
            if (last(p) && at[k] <= at[p]) seen = true;
          }
        };
        switch (txns[t].level) {
          case mock::Level::kReadCommitted:
            for (std::size_t earlier = 0; earlier < r; ++earlier)
              seen = seen || txns[t].reads[earlier].writer == k;
            break;
          case mock::Level::kReadAtomic:
            seen = step[k][t];
            break;
          case mock::Level::kCausal:
            seen = past[k][t];
            break;
          case mock::Level::kStrongSessionSnapshotIsolation:
            up_to([&](int p) {
              return at[p] < at[t] &&
                     std::any_of(txns[p].writes.begin(), txns[p].writes.end(),
                                 [&](int key) { return txns[t].writes.contains(key); });
            });
            [[fallthrough]];
          case mock::Level::kPrefix:
            up_to([&](int p) { return step[p][t]; });
            break;
          case mock::Level::kStrongSessionSerializable:
          case mock::Level::kStrictSerializable:
            seen = at[k] < at[t];
            break;
        }
        if (seen && (read.writer < 0 || at[k] > at[read.writer])) return false;
      }
    }
  }
  return true;
}

}  // namespace

std::set<Outcome> accepted_mixed(const Program& program) {
  std::set<Outcome> found;
  for_each_outcome(program, nullptr, [&](const history::History& h, const Outcome& outcome) {
    std::vector<Plain> txns;
    std::map<std::pair<int, std::int64_t>, int> writer;
    for (std::size_t i = 0; i < h.txn_count(); ++i) {
      const history::TxnId t(i);
      const auto session = h.session(t).index();
      const auto place = i - h.session_begin(h.session(t)).index();
      txns.push_back({session, place, program.levels[session][place], {}, {}});
      for (auto o = h.first_op(t); o < h.last_op(t); ++o) {
        const auto op = h.op(history::OpId(o));
        if (op.kind != history::OpKind::kWrite) continue;
        const int key = static_cast<int>(h.key(op.key).integer);
        txns.back().writes.insert(key);
        writer[{key, h.value(op.value).integer}] = static_cast<int>(i);
      }
    }
    for (std::size_t i = 0; i < h.txn_count(); ++i) {
      std::set<int> own;
      for (auto o = h.first_op(history::TxnId(i)); o < h.last_op(history::TxnId(i)); ++o) {
        const auto op = h.op(history::OpId(o));
        const int key = static_cast<int>(h.key(op.key).integer);
        if (op.kind == history::OpKind::kWrite) {
          own.insert(key);
        } else if (!own.contains(key)) {
          const auto value = h.value(op.value);
          txns[i].reads.push_back({key, value.kind == history::ScalarKind::kNull
                                            ? -1
                                            : writer.at({key, value.integer})});
        }
      }
    }
    std::vector<int> at(txns.size());
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<int>(i);
    do {
      if (follows_axioms(txns, at)) {
        found.insert(outcome);
        return;
      }
    } while (std::next_permutation(at.begin(), at.end()));
  });
  return found;
}

double outcome_count(const Program& program) {
  double product = 1;
  for (std::size_t s = 0; s < program.sessions.size(); ++s) {
    for (std::size_t t = 0; t < program.sessions[s].size(); ++t) {
      const auto& steps = program.sessions[s][t];
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].write) continue;
        double values = 1;
        bool own = false;
        for (std::size_t before = 0; before < i; ++before) {
          own = own || (steps[before].write && steps[before].key == steps[i].key);
        }
        for (std::size_t so = 0; so < program.sessions.size(); ++so) {
          for (std::size_t to = 0; to < program.sessions[so].size(); ++to) {
            if (so == s && to == t) continue;
            values += std::any_of(
                program.sessions[so][to].begin(), program.sessions[so][to].end(),
                [&](const Step& other) { return other.write && other.key == steps[i].key; });
          }
        }
        if (!own) product *= values;
      }
    }
  }
  return product;
}

}  // namespace cupel::test
