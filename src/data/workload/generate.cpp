// generate: see the header.
//
// One commit order underlies every store: versions of a key are kept in it, and
// what a read may see is a set of commits. Each level is a rule for that set:
//   read-committed   commits up to a moment that may advance between reads
//   read-atomic      a random prefix of each session's commits, own ones all
//   causal           the same, closed under what those transactions had seen
//   prefix, SI, …    all commits up to one moment
// Then a read returns the last visible version in the commit order, which makes
// the commit order a witness for the level. Sessions are interleaved by a heap
// of simulated clocks.
#include "data/workload/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <queue>

#include "base/hash_table.hpp"
#include "base/random.hpp"
#include "data/history/builder.hpp"
#include "data/workload/inject.hpp"
#include "data/workload/keys.hpp"

namespace cupel::workload {

using namespace history;

namespace {

constexpr std::uint32_t kNone = 0xffffffff;
constexpr std::uint32_t kRangeWidth = 10;
constexpr int kMaxRetries = 1000;

struct Version {
  std::uint32_t previous;  // of the same key, older in the commit order
  std::uint32_t session;
  std::uint32_t session_commit;  // its writer is this commit of the session, from 1
  bool deleted;
  std::uint64_t commit;  // place in the commit order, from 1
  std::int64_t value;
};

enum class Act : std::uint8_t { kRead, kWrite, kDelete, kRange };

struct Step {
  Act act;
  std::uint64_t key;
  std::int64_t value = 0;
  std::vector<std::int64_t> list;                               // a list read's elements
  std::vector<std::pair<std::uint64_t, std::int64_t>> entries;  // a range read's
  bool found = false;
};

struct Client {
  std::uint32_t left;  // transactions still to commit
  std::uint32_t incarnation = 0;
  std::uint64_t moment = 0;  // commits its last transaction saw, or made
  std::uint32_t commits = 0;
  Time now = 0;
  Time invoked = 0;
  Time busy_until = 0;  // with an injected anomaly
  bool open = false;
  std::uint64_t snapshot = 0;
  int retries = 0;
  std::vector<Step> steps;
  std::vector<std::uint32_t> seen;  // per session: commits visible (read-atomic, causal)
};

class Simulation {
 public:
  explicit Simulation(const GenerateOptions& o)
      : o_(o), random_(o.seed), keys_(o.distribution, o.keys) {}

  base::Result<History> run() {
    clients_.resize(o_.sessions);
    for (std::uint32_t s = 0; s < o_.sessions; ++s) {
      clients_[s].left = o_.txns_per_session;
      clients_[s].now = static_cast<Time>(random_.below(1000));
      clients_[s].seen.assign(by_session() ? o_.sessions : 0, 0);
      if (o_.txns_per_session > 0) events_.push({clients_[s].now, s});
    }
    commits_of_.resize(o_.sessions);
    while (!events_.empty()) {
      const auto [time, s] = events_.top();
      events_.pop();
      Client& c = clients_[s];
      if (time < c.busy_until) {  // with what was injected since it was put here
        events_.push({c.busy_until, s});
        continue;
      }
      c.now = time;
      c.open ? commit(s) : begin(s);
      if (c.open || c.left > 0) events_.push({c.now, s});
      if (o_.inject_at) inject_among_clients(time, *o_.inject_at);
    }
    if (o_.inject_at) {
      while (injected_ < o_.inject.size()) inject_among_clients(last_time(), 0);
    } else {
      const Time middle = last_time() / 2;
      for (std::size_t i = 0; i < o_.inject.size(); ++i) inject_apart(i, middle);
    }
    builder_.set_metadata("format", "generated");
    builder_.set_metadata("store", name(o_.store));
    builder_.set_metadata("seed", std::to_string(o_.seed));
    return std::move(builder_).finish();
  }

 private:
  struct Event {
    Time time;
    std::uint32_t session;
    friend bool operator<(const Event& a, const Event& b) {
      return a.time != b.time ? a.time > b.time : a.session > b.session;
    }
  };

  [[nodiscard]] bool by_session() const {
    return o_.store == Store::kReadAtomic || o_.store == Store::kCausal;
  }
  [[nodiscard]] bool lags() const { return o_.store != Store::kStrictSerializable; }
  // Does a commit fail when another transaction got in between?
  [[nodiscard]] bool validates() const {
    return o_.store == Store::kSnapshotIsolation || o_.store == Store::kSerializable ||
           o_.store == Store::kStrictSerializable;
  }

  [[nodiscard]] Time last_time() const {
    Time end = 1;
    for (const Client& c : clients_) end = std::max(end, c.now);
    return end;
  }
  // The i-th anomaly's two keys are its own.
  [[nodiscard]] std::int64_t injected_key(std::size_t i) const {
    return static_cast<std::int64_t>(o_.keys) + 10 + 10 * static_cast<std::int64_t>(i);
  }

  // In sessions of its own, named injected-1-a, injected-1-b …
  void inject_apart(std::size_t i, Time start) {
    const auto session_of = [&](std::uint32_t number) {
      return builder_.session(
          fmt::format("injected-{}-{}", i + 1, static_cast<char>('a' + number)));
    };
    inject_anomaly(o_.inject[i], injected_key(i), session_of, o_.times ? start : kNoTime,
                   {builder_, next_value_, label_});
  }

  // What is left to inject, once `share` of the transactions are made and enough clients
  // are between two of theirs.
  void inject_among_clients(Time now, double share) {
    const double all = static_cast<double>(o_.txns_per_session) * o_.sessions;
    while (injected_ < o_.inject.size() && static_cast<double>(finished_) >= share * all) {
      std::vector<std::uint32_t> free;
      const auto wanted = sessions_of_injection(o_.inject[injected_]);
      for (std::uint32_t s = 0; s < o_.sessions && free.size() < wanted; ++s) {
        const Client& c = clients_[s];
        if (!c.open && c.retries == 0 && c.busy_until <= now) free.push_back(s);
      }
      if (free.size() < wanted) return;
      Time start = now;
      for (const auto s : free) start = std::max(start, clients_[s].now);
      inject_anomaly(o_.inject[injected_], injected_key(injected_),
                     [&](std::uint32_t number) { return session_of(free[number]); },
                     o_.times ? start : kNoTime, {builder_, next_value_, label_});
      ++injected_;
      // To the store it is one commit of them all: what they do next sees all that any of
      // them had seen, so that the injected reads tie the rest to no order it does not have.
      for (const auto s : free) {
        clients_[s].now = clients_[s].busy_until = start + kInjectionTime + 1;
        clients_[s].moment = commit_count_;
      }
      if (!by_session()) continue;
      std::vector<std::uint32_t> joint(o_.sessions, 0);
      for (const auto s : free) {
        for (std::uint32_t i = 0; i < o_.sessions; ++i) {
          joint[i] = std::max(joint[i], i == s ? clients_[s].commits : clients_[s].seen[i]);
        }
      }
      for (const auto s : free) clients_[s].seen = joint;
    }
  }

  SessionId session_of(std::uint32_t s) {
    const auto incarnation = clients_[s].incarnation;
    return builder_.session(incarnation == 0 ? std::to_string(s)
                                             : fmt::format("{}.{}", s, incarnation));
  }

  void begin(std::uint32_t s) {
    Client& c = clients_[s];
    c.open = true;
    c.invoked = c.now;
    if (by_session()) {
      c.seen[s] = c.commits;
      for (std::uint32_t other = 0; other < o_.sessions; ++other) {
        if (other == s) continue;
        const auto commits = clients_[other].commits;
        if (o_.store == Store::kReadAtomic) {
          const auto lag = static_cast<std::uint32_t>(random_.below(4));
          c.seen[other] = commits > lag ? commits - lag : 0;
        } else if (commits > c.seen[other] && random_.chance(0.4)) {
          deliver(c, other,
                  c.seen[other] + 1 +
                      static_cast<std::uint32_t>(random_.below(commits - c.seen[other])));
        }
      }
    } else {
      // Up to a few commits old, but never older than what the session knows;
      // read committed has no such memory.
      const std::uint64_t lag =
          lags() && random_.chance(0.25) ? random_.below(2 * o_.sessions + 1) : 0;
      const std::uint64_t moment = commit_count_ > lag ? commit_count_ - lag : 0;
      c.snapshot = o_.store == Store::kReadCommitted ? moment : std::max(moment, c.moment);
    }
    if (c.retries == 0) choose_steps(c);
    // Serializable writers read the newest state: an old one would not validate.
    const bool writes = std::any_of(c.steps.begin(), c.steps.end(), [](const Step& t) {
      return t.act == Act::kWrite || t.act == Act::kDelete;
    });
    if (o_.store == Store::kSerializable && writes) c.snapshot = commit_count_;
    perform(s);
    c.now += 100 + static_cast<Time>(random_.below(900));
  }

  // Makes a commit of another session visible, with all it had seen.
  void deliver(Client& c, std::uint32_t other, std::uint32_t commit) {
    const std::uint32_t* const had = &dependencies_[commits_of_[other][commit - 1]];
    for (std::uint32_t i = 0; i < o_.sessions; ++i) c.seen[i] = std::max(c.seen[i], had[i]);
    c.seen[other] = std::max(c.seen[other], commit);
  }

  void choose_steps(Client& c) {
    c.steps.clear();
    if (o_.shape == Shape::kMini) {
      const auto reads = 1 + random_.below(2);
      std::vector<std::uint64_t> keys;
      for (std::uint64_t i = 0; i < reads; ++i) {
        const auto key = keys_.choose(random_);
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
      }
      for (const auto key : keys) c.steps.push_back(step(Act::kRead, key));
      for (const auto key : keys) {
        if (!random_.chance(o_.read_share)) c.steps.push_back(step(Act::kWrite, key));
      }
      return;
    }
    const auto count = o_.min_ops + random_.below(o_.max_ops - o_.min_ops + 1);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto key = keys_.choose(random_);
      Act act = random_.chance(o_.read_share) ? Act::kRead : Act::kWrite;
      if (o_.shape == Shape::kRange) {
        if (act == Act::kRead && random_.chance(0.5)) act = Act::kRange;
        if (act == Act::kWrite && random_.chance(0.3)) act = Act::kDelete;
      }
      // A list read after own appends promises that nobody's come between;
      // only a store that validates at commit can keep that.
      if (o_.shape == Shape::kListAppend && act == Act::kRead && !validates() &&
          std::any_of(c.steps.begin(), c.steps.end(),
                      [&](const Step& t) { return t.act == Act::kWrite && t.key == key; })) {
        act = Act::kWrite;
      }
      c.steps.push_back(step(act, key));
    }
  }

  static Step step(Act act, std::uint64_t key) {
    Step s;
    s.act = act;
    s.key = key;
    return s;
  }

  [[nodiscard]] bool visible(const Client& c, const Version& v) const {
    return by_session() ? v.session_commit <= c.seen[v.session] : v.commit <= c.snapshot;
  }
  [[nodiscard]] std::uint32_t newest(std::uint64_t key) const {
    const auto it = head_.find(key);
    return it == head_.end() ? kNone : it->second;
  }
  [[nodiscard]] std::uint32_t find(const Client& c, std::uint64_t key) const {
    auto v = newest(key);
    while (v != kNone && !visible(c, versions_[v])) v = versions_[v].previous;
    return v;
  }

  // Fills in what the steps see and write.
  void perform(std::uint32_t s) {
    Client& c = clients_[s];
    base::HashMap<std::uint64_t, const Step*> own;
    base::HashMap<std::uint64_t, std::vector<std::int64_t>> own_appends;
    for (Step& t : c.steps) {
      if (o_.store == Store::kReadCommitted && t.act != Act::kWrite && c.snapshot < commit_count_) {
        c.snapshot += random_.below(commit_count_ - c.snapshot + 1);
      }
      switch (t.act) {
        case Act::kWrite:
          t.value = new_value(t.key);
          own[t.key] = &t;
          if (o_.shape == Shape::kListAppend) own_appends[t.key].push_back(t.value);
          break;
        case Act::kDelete:
          own[t.key] = &t;
          break;
        case Act::kRead:
          if (o_.shape == Shape::kListAppend) {
            t.list = list_at(c, t.key);
            const auto it = own_appends.find(t.key);
            if (it != own_appends.end())
              t.list.insert(t.list.end(), it->second.begin(), it->second.end());
          } else {
            t.found = see(c, own, t.key, t.value);
          }
          break;
        case Act::kRange:
          t.entries.clear();
          for (std::uint64_t key = t.key; key < std::min(o_.keys, t.key + kRangeWidth); ++key) {
            std::int64_t value;
            if (see(c, own, key, value)) t.entries.emplace_back(key, value);
          }
          break;
      }
    }
  }

  bool see(const Client& c, const base::HashMap<std::uint64_t, const Step*>& own, std::uint64_t key,
           std::int64_t& value) const {
    if (const auto it = own.find(key); it != own.end()) {
      value = it->second->value;
      return it->second->act == Act::kWrite;
    }
    const auto v = find(c, key);
    if (v == kNone || versions_[v].deleted) return false;
    value = versions_[v].value;
    return true;
  }

  std::vector<std::int64_t> list_at(const Client& c, std::uint64_t key) const {
    std::vector<std::int64_t> list;
    for (auto v = find(c, key); v != kNone; v = versions_[v].previous)
      list.push_back(versions_[v].value);
    std::reverse(list.begin(), list.end());
    return list;
  }

  std::int64_t new_value(std::uint64_t key) {
    if (o_.duplicates > 0 && random_.chance(o_.duplicates)) {
      auto v = newest(key);
      for (auto back = random_.below(4); back > 0 && v != kNone && versions_[v].previous != kNone;
           --back) {
        v = versions_[v].previous;
      }
      if (v != kNone && !versions_[v].deleted) return versions_[v].value;
    }
    return next_value_++;
  }

  // Did someone commit a version of a key that this transaction depends on?
  bool conflicts(const Client& c) const {
    if (!validates()) return false;
    const bool writes = std::any_of(c.steps.begin(), c.steps.end(), [](const Step& t) {
      return t.act == Act::kWrite || t.act == Act::kDelete;
    });
    const bool check_reads =
        o_.store == Store::kStrictSerializable || (o_.store == Store::kSerializable && writes);
    const auto changed = [&](std::uint64_t key) {
      const auto v = newest(key);
      return v != kNone && versions_[v].commit > c.snapshot;
    };
    for (const Step& t : c.steps) {
      if (t.act == Act::kRange) {
        for (std::uint64_t key = t.key; check_reads && key < std::min(o_.keys, t.key + kRangeWidth);
             ++key) {
          if (changed(key)) return true;
        }
      } else if ((t.act != Act::kRead || check_reads) && changed(t.key)) {
        return true;
      }
    }
    return false;
  }

  void commit(std::uint32_t s) {
    Client& c = clients_[s];
    c.open = false;
    const bool conflict = conflicts(c);
    if (conflict && ++c.retries < kMaxRetries) {
      if (o_.conflict_aborts) record(s, TxnStatus::kAborted);
      rest(c);
      return;
    }
    if (conflict) {  // hopeless contention: give this one up, try another
      c.retries = 0;
      rest(c);
      return;
    }
    c.retries = 0;
    if (o_.abort_rate > 0 && random_.chance(o_.abort_rate)) {
      record(s, TxnStatus::kAborted);
      rest(c);
      return;
    }
    const bool unsure = o_.indeterminate_rate > 0 && random_.chance(o_.indeterminate_rate);
    if (!unsure || random_.chance(0.5)) apply(s);
    record(s, unsure ? TxnStatus::kIndeterminate : TxnStatus::kCommitted);
    --c.left;
    ++finished_;
    if (unsure) ++c.incarnation;  // the connection is gone: a new session
    rest(c);
  }

  void rest(Client& c) { c.now += 1 + static_cast<Time>(random_.below(200)); }

  void apply(std::uint32_t s) {
    Client& c = clients_[s];
    bool wrote = false;
    base::HashMap<std::uint64_t, std::uint32_t> mine;
    for (const Step& t : c.steps) {
      if (t.act != Act::kWrite && t.act != Act::kDelete) continue;
      if (!wrote) {
        ++commit_count_;
        ++c.commits;
        wrote = true;
      }
      Version v{newest(t.key), s, c.commits, t.act == Act::kDelete, commit_count_, t.value};
      const auto [it, fresh] =
          mine.try_emplace(t.key, static_cast<std::uint32_t>(versions_.size()));
      if (!fresh && o_.shape != Shape::kListAppend) {
        v.previous = versions_[it->second].previous;  // only the last write is a version
        versions_[it->second] = v;
        continue;
      }
      head_[t.key] = static_cast<std::uint32_t>(versions_.size());
      versions_.push_back(v);
    }
    if (wrote && o_.store == Store::kCausal) {
      commits_of_[s].push_back(dependencies_.size());
      dependencies_.insert(dependencies_.end(), c.seen.begin(), c.seen.end());
    }
    c.moment = std::max(c.moment, wrote ? commit_count_ : c.snapshot);
    if (o_.store == Store::kReadCommitted) c.moment = 0;
  }

  void record(std::uint32_t s, TxnStatus status) {
    Client& c = clients_[s];
    const auto session = session_of(s);
    HistoryBuilder::TxnFacts facts{.label = label_++};
    if (o_.times) {
      facts.invoke = c.invoked;
      facts.complete = status == TxnStatus::kIndeterminate ? kNoTime : c.now;
    }
    builder_.begin(session, status, facts);
    const bool known = status == TxnStatus::kCommitted;
    for (const Step& t : c.steps) {
      const auto key =
          t.act == Act::kRange ? KeyId() : builder_.key(static_cast<std::int64_t>(t.key));
      switch (t.act) {
        case Act::kWrite:
          if (o_.shape == Shape::kListAppend) {
            builder_.append(key, builder_.value(t.value));
          } else if (o_.shape == Shape::kRange) {
            builder_.insert(key, builder_.value(t.value));
          } else {
            builder_.write(key, builder_.value(t.value));
          }
          break;
        case Act::kDelete:
          builder_.erase(key, ValueId::none());
          break;
        case Act::kRead:
          if (o_.shape == Shape::kListAppend) {
            if (!known) {
              builder_.list_read_unknown(key);
              break;
            }
            scratch_.clear();
            for (const auto v : t.list) scratch_.push_back(builder_.value(v));
            builder_.list_read(key, scratch_);
          } else {
            builder_.read(key, !known    ? ValueId()
                               : t.found ? builder_.value(t.value)
                                         : builder_.null_value());
          }
          break;
        case Act::kRange: {
          if (!known) break;
          std::vector<RangeEntry> entries;
          for (const auto& [k, v] : t.entries) {
            entries.push_back({builder_.key(static_cast<std::int64_t>(k)), builder_.value(v)});
          }
          const auto last = std::min(o_.keys, t.key + kRangeWidth) - 1;
          builder_.range_read(builder_.value(static_cast<std::int64_t>(t.key)),
                              builder_.value(static_cast<std::int64_t>(last)), entries);
          break;
        }
      }
    }
    builder_.end();
  }

  const GenerateOptions& o_;
  base::Random random_;
  KeyDistribution keys_;
  HistoryBuilder builder_;
  std::vector<Client> clients_;
  std::priority_queue<Event> events_;
  base::HashMap<std::uint64_t, std::uint32_t> head_;
  std::vector<Version> versions_;
  std::uint64_t commit_count_ = 0;
  std::vector<std::vector<std::size_t>>
      commits_of_;  // causal: where each commit's dependencies start
  std::vector<std::uint32_t> dependencies_;
  std::vector<ValueId> scratch_;
  std::int64_t next_value_ = 1;
  std::uint32_t label_ = 0;
  std::uint64_t finished_ = 0;  // transactions
  std::size_t injected_ = 0;    // anomalies, of inject
};

constexpr std::array<Store, 7> kStores = {Store::kReadCommitted,
                                          Store::kReadAtomic,
                                          Store::kCausal,
                                          Store::kPrefix,
                                          Store::kSnapshotIsolation,
                                          Store::kSerializable,
                                          Store::kStrictSerializable};

constexpr std::array kShapes = {Shape::kRegister, Shape::kListAppend, Shape::kMini, Shape::kRange};
constexpr std::array kDistributions = {Distribution::kUniform, Distribution::kZipf,
                                       Distribution::kHotspot, Distribution::kExponential};

template <typename Enum, std::size_t N>
std::optional<Enum> parse(std::string_view text, const std::array<Enum, N>& all) {
  for (const Enum e : all) {
    if (name(e) == text) return e;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Store store) {
  switch (store) {
    case Store::kReadCommitted:
      return "read-committed";
    case Store::kReadAtomic:
      return "read-atomic";
    case Store::kCausal:
      return "causal";
    case Store::kPrefix:
      return "prefix";
    case Store::kSnapshotIsolation:
      return "strong-session-snapshot-isolation";
    case Store::kSerializable:
      return "strong-session-serializable";
    case Store::kStrictSerializable:
      return "strict-serializable";
  }
  return "?";
}

std::string_view name(Distribution distribution) {
  switch (distribution) {
    case Distribution::kUniform:
      return "uniform";
    case Distribution::kZipf:
      return "zipf";
    case Distribution::kHotspot:
      return "hotspot";
    case Distribution::kExponential:
      return "exponential";
  }
  return "?";
}

std::string_view name(Shape shape) {
  switch (shape) {
    case Shape::kRegister:
      return "register";
    case Shape::kListAppend:
      return "list-append";
    case Shape::kMini:
      return "mini";
    case Shape::kRange:
      return "range";
  }
  return "?";
}

std::span<const Store> all_stores() {
  return kStores;
}

std::optional<Store> parse_store(std::string_view text) {
  if (text == "snapshot-isolation") return Store::kSnapshotIsolation;
  if (text == "serializable") return Store::kSerializable;
  return parse(text, kStores);
}
std::span<const Shape> all_shapes() {
  return kShapes;
}
std::span<const Distribution> all_distributions() {
  return kDistributions;
}
std::optional<Distribution> parse_distribution(std::string_view text) {
  return parse(text, kDistributions);
}
std::optional<Shape> parse_shape(std::string_view text) {
  return parse(text, kShapes);
}

base::Result<History> generate(const GenerateOptions& o) {
  const auto refuse = [](std::string message) {
    return base::Error{.message = std::move(message)};
  };
  if (o.sessions == 0 || o.sessions > kMaxSessions) {
    return refuse(fmt::format("found {} sessions, expected 1 to {}", o.sessions, kMaxSessions));
  }
  if (o.keys == 0 || o.keys > kMaxKeys)
    return refuse(fmt::format("found {} keys, expected 1 to {}", o.keys, kMaxKeys));
  if (o.min_ops > o.max_ops) {
    return refuse(fmt::format("found at least {} and at most {} operations a transaction",
                              o.min_ops, o.max_ops));
  }
  const std::pair<const char*, double> shares[] = {{"read share", o.read_share},
                                                   {"share of duplicates", o.duplicates},
                                                   {"abort rate", o.abort_rate},
                                                   {"indeterminate rate", o.indeterminate_rate}};
  for (const auto& [what, share] : shares) {
    if (!(share >= 0 && share <= 1))
      return refuse(fmt::format("found a {} of {}, expected 0 to 1", what, share));
  }
  if (o.inject_at && !(*o.inject_at >= 0 && *o.inject_at <= 1)) {
    return refuse(
        fmt::format("found a place of {} for what is injected, expected 0 to 1", *o.inject_at));
  }
  if (o.abort_rate == 1)
    return refuse("found an abort rate of 1, with which nothing would ever commit; expected less");
  for (const auto& anomaly : o.inject) {
    const auto all = injectable_anomalies();
    if (std::find(all.begin(), all.end(), anomaly) == all.end()) {
      return refuse(fmt::format("found the anomaly \"{}\", expected one of: {}", anomaly,
                                fmt::join(all, ", ")));
    }
    if (const auto wanted = sessions_of_injection(anomaly); o.inject_at && wanted > o.sessions) {
      return refuse(fmt::format("found {} sessions, expected at least {}, in which {} is injected",
                                o.sessions, wanted, anomaly));
    }
  }
  if (o.shape == Shape::kListAppend && o.duplicates > 0) {
    return refuse("duplicate values are for registers; a list-append workload has unique elements");
  }
  return Simulation(o).run();
}

}  // namespace cupel::workload
