// online_bench: a watch of a stream without end: throughput, and memory as a curve.
//
//   online_bench [--level strict|sssi|causal] [--txns N] [--sessions N] [--keys N] [--every N]
//
// A simulated store (20 sessions, 8 operations a transaction, half of them writes) runs in this
// process and spells its transactions as JSON lines, which go through the parser, the window and
// the engine, as in `cupel watch`. strict: validated reads of the newest state, with times; the
// others: snapshots and the first committer wins, without times. Every `--every` transactions a
// line: transactions, held, resident memory, processor seconds of this process, of which the store
// is subtracted (it is run alone first).
//
// The answer is checked: satisfied to the end; then a stale read, which must be found at once.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "base/random.hpp"
#include "engine/levels/level.hpp"
#include "engine/online/watch.hpp"

namespace {

using cupel::base::Random;
using cupel::levels::Level;
using cupel::online::Finding;

struct Options {
  Level level = Level::kStrictSerializable;
  std::uint64_t txns = 1'000'000, every = 100'000, keys = 10'000;
  std::uint32_t sessions = 20;
};

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Store {
 public:
  explicit Store(const Options& options)
      : options_(options),
        strict_(cupel::levels::needs_real_time(options.level)),
        versions_(options.keys),
        sessions_(options.sessions) {}

  // One event: a transaction begins or ends. Appends its line.
  void step(std::string& out) {
    const auto s = static_cast<std::uint32_t>(random_.below(sessions_.size()));
    auto& session = sessions_[s];
    ++time_;
    if (!session.open) {
      begin(session);
      line(out, "invoke", s, session, false);
    } else {
      finish(s, out);
    }
  }
  // A read of the newest version of a key, and after it one of the version before.
  void stale_read(std::string& out) {
    for (std::uint32_t s = 0; s < sessions_.size(); ++s) {
      if (!sessions_[s].open) continue;
      ++time_;
      finish(s, out);
    }
    std::uint64_t key = 0;
    while (versions_[key].count < 2) ++key;
    const auto& all = versions_[key];
    for (const auto value : {all.values[all.count - 1], all.values[all.count - 2]}) {
      auto& session = sessions_[0];
      session.operations = {{key, value, false}};
      ++time_;
      line(out, "invoke", 0, session, false);
      ++time_;
      line(out, "ok", 0, session, true);
    }
  }
  [[nodiscard]] std::uint64_t ended() const { return ended_; }

 private:
  static constexpr std::size_t kKept = 8;
  struct Versions {  // the last ones, oldest first
    std::array<std::uint64_t, kKept> commit{}, values{};
    std::size_t count = 0;
  };
  struct Operation {
    std::uint64_t key, value;
    bool writes;
  };
  struct Session {
    bool open = false;
    std::uint64_t snapshot = 0;
    std::vector<Operation> operations;
  };

  void begin(Session& session) {
    session.open = true;
    session.snapshot = clock_;
    session.operations.clear();
    for (int i = 0; i < 8; ++i) {
      session.operations.push_back({random_.below(options_.keys), 0, random_.chance(0.5)});
    }
    for (auto& op : session.operations) {
      if (op.writes) op.value = ++value_;
    }
  }

  // Without operations, the store has aborted the transaction.
  void finish(std::uint32_t s, std::string& out) {
    auto& session = sessions_[s];
    end(session);
    line(out, session.operations.empty() ? "fail" : "ok", s, session, true);
    ++ended_;
  }

  void end(Session& session) {
    session.open = false;
    // A transaction that would overwrite a version that it has not seen is aborted.
    bool conflict = false;
    for (const auto& op : session.operations) {
      const auto& all = versions_[op.key];
      const bool newer = all.count > 0 && all.commit[all.count - 1] > session.snapshot;
      const bool lost = all.count == kKept && all.commit[0] > session.snapshot;
      conflict = conflict || (!strict_ && ((op.writes && newer) || lost));
    }
    if (conflict) session.operations.clear();
    ++clock_;
    for (std::size_t i = 0; i < session.operations.size(); ++i) {
      auto& op = session.operations[i];
      if (!op.writes) op.value = seen(session, i);
    }
    for (const auto& op : session.operations) {
      if (op.writes) write(versions_[op.key], op.value);
    }
  }

  std::uint64_t seen(const Session& session, std::size_t i) const {
    const auto& op = session.operations[i];
    for (std::size_t j = i; j-- > 0;) {
      const auto& own = session.operations[j];
      if (own.writes && own.key == op.key) return own.value;
    }
    const auto& all = versions_[op.key];
    auto last = all.count;
    while (last > 0 && !strict_ && all.commit[last - 1] > session.snapshot) --last;
    return last == 0 ? 0 : all.values[last - 1];
  }

  void write(Versions& all, std::uint64_t value) const {
    if (all.count > 0 && all.commit[all.count - 1] == clock_) {
      all.values[all.count - 1] = value;
      return;
    }
    if (all.count == kKept) {
      std::copy(all.commit.begin() + 1, all.commit.end(), all.commit.begin());
      std::copy(all.values.begin() + 1, all.values.end(), all.values.begin());
      --all.count;
    }
    all.commit[all.count] = clock_;
    all.values[all.count++] = value;
  }

  void line(std::string& out, const char* type, std::uint32_t s, const Session& session,
            bool answered) const {
    fmt::format_to(std::back_inserter(out), R"({{"type":"{}","process":{},"f":"txn","value":[)",
                   type, s);
    const char* comma = "";
    for (const auto& op : session.operations) {
      if (op.writes) {
        fmt::format_to(std::back_inserter(out), R"({}["w",{},{}])", comma, op.key, op.value);
      } else if (answered && op.value != 0) {
        fmt::format_to(std::back_inserter(out), R"({}["r",{},{}])", comma, op.key, op.value);
      } else {
        fmt::format_to(std::back_inserter(out), R"({}["r",{},null])", comma, op.key);
      }
      comma = ",";
    }
    if (strict_) {
      fmt::format_to(std::back_inserter(out), R"(],"time":{}}})", time_);
    } else {
      out += "]}";
    }
    out += '\n';
  }

  const Options& options_;
  const bool strict_;
  std::vector<Versions> versions_;
  std::vector<Session> sessions_;
  Random random_{1};
  std::uint64_t clock_ = 0, value_ = 0, ended_ = 0;
  std::int64_t time_ = 0;
};

int fail(const std::string& why) {
  fmt::print(stderr, "online_bench: {}\n", why);
  return 1;
}

int measure(const Options& options) {
  constexpr std::size_t kPiece = 256 << 10;
  std::string lines;
  double store_alone = processor_seconds();
  {
    Store store(options);
    for (const auto end = std::min<std::uint64_t>(options.txns, 200'000); store.ended() < end;) {
      store.step(lines);
      if (lines.size() > kPiece) lines.clear();
    }
    store_alone = (processor_seconds() - store_alone) / static_cast<double>(store.ended());
  }
  Store store(options);
  cupel::online::Watch watch({.level = options.level, .sessions = options.sessions});
  auto& stream = watch.add("bench");
  const double began = processor_seconds();
  std::uint64_t next = options.every;
  fmt::print("{:>13} {:>9} {:>9} {:>11} {:>14}\n", "transactions", "held", "MB", "CPU s",
             "transactions/s");
  lines.clear();
  const auto take = [&] {
    if (const auto taken = stream.take(lines); !taken.ok()) {
      return fail(taken.error().to_string());
    }
    lines.clear();
    if (watch.due(false) && watch.look() != Finding::kSatisfied) {
      return fail("not satisfied: " + watch.why());
    }
    return 0;
  };
  std::size_t most = 0;
  while (store.ended() < options.txns) {
    store.step(lines);
    if (lines.size() > kPiece && take() != 0) return 1;
    most = std::max(most, watch.window().held().held);
    if (store.ended() < next) continue;
    next += options.every;
    const double seconds =
        processor_seconds() - began - store_alone * static_cast<double>(store.ended());
    fmt::print("{:>13} {:>9} {:>9} {:>11.2f} {:>14.0f}\n", store.ended(),
               watch.window().held().held, cupel::base::resident_bytes() >> 20, seconds,
               static_cast<double>(store.ended()) / seconds);
    std::fflush(stdout);
  }
  store.stale_read(lines);
  if (const auto taken = stream.take(lines); !taken.ok()) return fail(taken.error().to_string());
  if (watch.look() != Finding::kViolated) return fail("a stale read was not found");
  fmt::print("at most {} held; a stale read at the end was found at once\n", most);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const auto number = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--level") {
      const auto level = cupel::levels::parse_level(argv[i + 1]);
      if (!level) return fail("no level " + std::string(argv[i + 1]));
      options.level = *level;
    } else if (name == "--txns") {
      options.txns = number;
    } else if (name == "--sessions") {
      options.sessions = static_cast<std::uint32_t>(number);
    } else if (name == "--keys") {
      options.keys = number;
    } else if (name == "--every") {
      options.every = number;
    } else {
      return fail("no option " + name);
    }
  }
  utsname machine{};
  uname(&machine);
  fmt::print("{}, {} sessions, 8 operations, {} keys, {} {}\n", cupel::levels::name(options.level),
             options.sessions, options.keys, machine.sysname, machine.machine);
  return measure(options);
}
