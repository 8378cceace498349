// The measures: see the header.
#include "engine/explain/power/test_power.hpp"

#include <algorithm>
#include <utility>

#include "base/hash_table.hpp"
#include "data/workload/generate.hpp"
#include "data/workload/inject.hpp"
#include "engine/explain/power/inject.hpp"
#include "engine/explain/power/opportunities.hpp"

namespace cupel::power {

using history::kNoTime;
using history::OpKind;
using history::Time;
using history::TxnStatus;
using history::ValueId;

namespace {

constexpr std::size_t kOperationsOfKeys = 2'000'000;  // beyond, some of the keys only
constexpr std::size_t kOperationsOfPlaces = 300'000;  // beyond, some of the transactions only
constexpr std::size_t kPlaces = 5;                    // injected, of each anomaly

// What a transaction did to a key, in the order of the history.
struct Access {
  std::uint32_t key, txn;
  bool reads = false, writes = false;
  std::uint32_t seen = kUnknown;  // the version read: its writer, or one of these
  std::uint32_t list_length = 0;

  static constexpr std::uint32_t kUnknown = 0xffffffff;  // not known, or of several writers
  static constexpr std::uint32_t kInitial = 0xfffffffe;
  static constexpr std::uint32_t kOwn = 0xfffffffd;
};

class Measure {
 public:
  Measure(const History& history, base::Budget& budget) : history_(history), budget_(budget) {}

  TestPower measure() {
    concurrency();
    if (!over()) {
      one_in_ = std::max<std::size_t>(
          1, (history_.op_count() + kOperationsOfKeys - 1) / kOperationsOfKeys);
      power_.keys_sampled_one_in = one_in_;
      collect();
      if (!over()) by_key();
    }
    if (!over()) inject();
    return std::move(power_);
  }

 private:
  bool over() { return power_.limit_met = power_.limit_met || budget_.exceeded(); }
  [[nodiscard]] bool may_commit(std::uint32_t t) const {
    return history_.status(TxnId(t)) != TxnStatus::kAborted;
  }
  [[nodiscard]] bool timed(std::uint32_t t) const {
    return history_.invoke(TxnId(t)) != kNoTime && history_.complete(TxnId(t)) != kNoTime;
  }

  void concurrency() {
    std::vector<std::pair<Time, int>> ends;
    double open_time = 0;
    for (std::uint32_t t = 0; t < history_.txn_count(); ++t) {
      if (!may_commit(t)) continue;
      ++power_.transactions;
      if (!timed(t)) continue;
      ++power_.timed;
      const auto from = history_.invoke(TxnId(t)), to = history_.complete(TxnId(t));
      ends.emplace_back(from, -1);  // at one instant the begins come first
      ends.emplace_back(to, 1);
      open_time += static_cast<double>(to) - static_cast<double>(from);
    }
    if (ends.empty()) return;
    std::sort(ends.begin(), ends.end());
    std::int64_t open = 0, most = 0;
    for (const auto& [time, change] : ends) most = std::max(most, open -= change);
    power_.most_open = static_cast<std::uint64_t>(most);
    const double span =
        static_cast<double>(ends.back().first) - static_cast<double>(ends.front().first);
    power_.mean_open = span > 0 ? open_time / span : static_cast<double>(most);
  }

  [[nodiscard]] bool sampled(KeyId key) const { return key.valid() && key.raw % one_in_ == 0; }
  static std::uint64_t version(KeyId key, ValueId value) {
    return std::uint64_t{key.raw} << 32 | value.raw;
  }

  // Accesses, one for each transaction and key, and who wrote which version.
  void collect() {
    for (std::uint32_t t = 0; t < history_.txn_count(); ++t) {
      if (!may_commit(t)) continue;
      each_write(t, [&](KeyId key, ValueId value) {
        const auto [it, fresh] = writer_.try_emplace(version(key, value), t);
        if (!fresh && it->second != t) it->second = Access::kUnknown;
      });
    }
    base::HashMap<KeyId, std::size_t> opportunity;
    for (std::uint32_t t = 0; t < history_.txn_count() && !((t & 1023) == 0 && over()); ++t) {
      if (!may_commit(t)) continue;
      const bool committed = history_.status(TxnId(t)) == TxnStatus::kCommitted;
      opportunity.clear();
      const auto access = [&](KeyId key) -> Access& {
        const auto [it, fresh] = opportunity.try_emplace(key, accesses_.size());
        if (fresh) accesses_.push_back({key.raw, t});
        return accesses_[it->second];
      };
      const auto read = [&](KeyId key, ValueId value, std::size_t length) {
        if (!sampled(key)) return;
        Access& one = access(key);
        if (one.writes || one.reads) return;  // its own, or known already
        one.reads = committed;
        if (!committed) return;
        one.list_length = static_cast<std::uint32_t>(length);
        if (history_.is_list(key)) {
          one.seen = length == 0 ? Access::kInitial : writer_of(key, value);
        } else if (value.valid()) {
          const auto writer = writer_of(key, value);
          one.seen = value != history_.initial_value(key) ? writer
                     : writer == Access::kUnknown && !writer_.contains(version(key, value))
                         ? Access::kInitial
                         : Access::kUnknown;
        }
        if (one.seen == t) one.seen = Access::kOwn;
      };
      for (auto raw = history_.first_op(TxnId(t)); raw < history_.last_op(TxnId(t)); ++raw) {
        const auto op = history_.op(OpId(raw));
        switch (op.kind) {
          case OpKind::kRead:
            read(op.key, op.value, 0);
            break;
          case OpKind::kListRead:
            if (history_.list_known(op)) {
              const auto list = history_.list(op);
              read(op.key, list.empty() ? ValueId::none() : list.back(), list.size());
            } else {
              read(op.key, ValueId::none(), 1);
            }
            break;
          case OpKind::kRangeRead:
            for (const auto& entry : history_.range(op).entries) read(entry.key, entry.value, 0);
            break;
          case OpKind::kCompareAndSet: {
            const auto swap = history_.compare_and_set(op);
            if (!swap.succeeded) break;
            read(op.key, swap.expected, 0);
            if (sampled(op.key)) access(op.key).writes = true;
            break;
          }
          default:
            if (sampled(op.key)) access(op.key).writes = true;
            break;
        }
      }
    }
    std::stable_sort(accesses_.begin(), accesses_.end(),
                     [](const Access& a, const Access& b) { return a.key < b.key; });
  }
  template <typename Use>
  void each_write(std::uint32_t t, Use use) const {
    for (auto raw = history_.first_op(TxnId(t)); raw < history_.last_op(TxnId(t)); ++raw) {
      const auto op = history_.op(OpId(raw));
      if (!sampled(op.key)) continue;
      switch (op.kind) {
        case OpKind::kWrite:
        case OpKind::kAppend:
        case OpKind::kInsert:
          use(op.key, op.value);
          break;
        case OpKind::kDelete:
          use(op.key, op.value.valid() ? op.value : history_.null_value());
          break;
        case OpKind::kCompareAndSet:
          if (const auto swap = history_.compare_and_set(op); swap.succeeded)
            use(op.key, swap.desired);
          break;
        default:
          break;
      }
    }
  }
  [[nodiscard]] std::uint32_t writer_of(KeyId key, ValueId value) const {
    if (!value.valid()) return Access::kUnknown;
    const auto found = writer_.find(version(key, value));
    return found == writer_.end() ? Access::kUnknown : found->second;
  }

  void by_key() {
    std::vector<bool> met(history_.txn_count(), false);
    for (std::size_t i = 0, end; i < accesses_.size() && !over(); i = end) {
      end = i;
      while (end < accesses_.size() && accesses_[end].key == accesses_[i].key) ++end;
      const std::span<const Access> key(accesses_.data() + i, end - i);
      reads(key);
      meetings(key, met);
      order(key);
    }
    power_.met = static_cast<std::uint64_t>(std::count(met.begin(), met.end(), true));
  }

  void reads(std::span<const Access> key) {
    std::size_t writers = 0;
    for (const Access& one : key) writers += one.writes ? 1 : 0;
    for (const Access& one : key) {
      if (!one.reads) continue;
      ++power_.reads;
      const bool others = writers > (one.writes ? 1u : 0u);
      const bool known = one.seen != Access::kUnknown || one.list_length > 0;
      if (others && known && one.seen != Access::kOwn) ++power_.constraining;
    }
  }

  // Overlaps of one key, by sweeping over the ends in time.
  void meetings(std::span<const Access> key, std::vector<bool>& met) {
    struct End {
      Time time;
      bool closes, writes;
      bool operator<(const End& other) const {
        return time != other.time ? time < other.time : closes < other.closes;
      }
    };
    std::vector<End> ends;
    std::vector<Time> begins[2], closes[2];  // of all, of writers
    std::uint64_t all = 0, writers = 0;
    for (const Access& one : key) {
      if (!timed(one.txn) || (!one.reads && !one.writes)) continue;
      const auto from = history_.invoke(TxnId(one.txn)), to = history_.complete(TxnId(one.txn));
      ++all;
      begins[0].push_back(from);
      closes[0].push_back(to);
      if (one.writes) {
        ++writers;
        begins[1].push_back(from);
        closes[1].push_back(to);
      }
      ends.push_back({from, false, one.writes});
      ends.push_back({to, true, one.writes});
    }
    const auto choose = [](std::uint64_t n) { return n * (n - (n > 0 ? 1 : 0)) / 2; };
    power_.pairs += choose(all) - choose(all - writers);
    if (writers == 0 || all < 2) return;
    std::sort(ends.begin(), ends.end());
    std::uint64_t open = 0, open_writers = 0;
    for (const End& end : ends) {
      if (end.closes) {
        --open;
        open_writers -= end.writes ? 1 : 0;
      } else {
        power_.pairs_overlapped += end.writes ? open : open_writers;
        ++open;
        open_writers += end.writes ? 1 : 0;
      }
    }
    for (auto* list : {&begins[0], &begins[1], &closes[0], &closes[1]}) {
      std::sort(list->begin(), list->end());
    }
    for (const Access& one : key) {
      if (!timed(one.txn) || met[one.txn] || (!one.reads && !one.writes)) continue;
      // Who began before its end and did not end before its begin, itself included.
      const int which = one.writes ? 0 : 1;
      const auto from = history_.invoke(TxnId(one.txn)), to = history_.complete(TxnId(one.txn));
      const auto began =
          std::upper_bound(begins[which].begin(), begins[which].end(), to) - begins[which].begin();
      const auto ended = std::lower_bound(closes[which].begin(), closes[which].end(), from) -
                         closes[which].begin();
      if (began - ended > (one.writes ? 1 : 0)) met[one.txn] = true;
    }
  }

  // Is there one order of the writers that the edges we know allow?
  void order(std::span<const Access> key) {
    base::HashMap<std::uint32_t, std::uint32_t> number;  // of writers, by transaction
    std::uint32_t longest = 0;
    for (const Access& one : key) {
      if (one.writes) number.emplace(one.txn, static_cast<std::uint32_t>(number.size()));
      if (one.reads) longest = std::max(longest, one.list_length);
    }
    if (number.empty()) return;
    ++power_.written_keys;
    if (number.size() == 1) {
      ++power_.ordered_keys;
      ++power_.ordered_by_one_writer;
      return;
    }
    if (history_.is_list(KeyId(key.front().key))) {
      std::uint32_t elements = 0;
      for (const Access& one : key) {
        if (one.writes) {
          each_write(one.txn, [&](KeyId k, ValueId) { elements += k.raw == one.key ? 1 : 0; });
        }
      }
      if (longest >= elements) {
        ++power_.ordered_keys;
        ++power_.ordered_by_list;
        return;
      }
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    std::uint32_t session = 0xffffffff, last = Access::kUnknown;
    for (const Access& one : key) {
      const auto now = history_.session(TxnId(one.txn)).raw;
      if (now != session) last = Access::kUnknown;
      session = now;
      const auto follow = [&](std::uint32_t next) {
        if (!number.contains(next)) return;
        if (last != next && number.contains(last))
          edges.emplace_back(number.at(last), number.at(next));
        last = next;
      };
      if (one.reads) follow(one.seen);
      if (one.writes) follow(one.txn);
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    std::vector<std::uint32_t> waits(number.size(), 0), ready;
    for (const auto& [from, to] : edges) ++waits[to];
    for (std::uint32_t n = 0; n < waits.size(); ++n) {
      if (waits[n] == 0) ready.push_back(n);
    }
    std::size_t placed = 0;
    while (ready.size() == 1) {  // more than one: their order is open
      const auto n = ready.back();
      ready.pop_back();
      ++placed;
      for (auto at = std::lower_bound(edges.begin(), edges.end(), std::pair(n, 0u));
           at != edges.end() && at->first == n; ++at) {
        if (--waits[at->second] == 0) ready.push_back(at->second);
      }
    }
    if (placed != number.size()) return;
    ++power_.ordered_keys;
    ++power_.ordered_by_chain;
  }

  void inject() {
    const auto transactions = sample(history_, kOperationsOfPlaces);
    power_.transactions_sampled = transactions.size();
    const bool whole = transactions.size() == history_.txn_count();
    const OpportunityFinder finder(history_, transactions);
    for (const auto name : workload::mini_transaction_anomalies()) {
      if (over()) return;
      Anomaly anomaly;
      anomaly.name = name;
      const auto opportunities = finder.find(name, kPlaces);
      for (const auto& opportunity : opportunities.found) {
        ++anomaly.tried;
        const auto small = injected(history_, opportunity);
        if (!small || !finds(*small, name)) continue;
        ++anomaly.seen;
        if (anomaly.transactions.empty()) anomaly.transactions = opportunity.transactions;
      }
      if (anomaly.seen > 0) {
        anomaly.detection = Detection::kDetected;
      } else if (opportunities.found.empty()) {
        anomaly.detection =
            opportunities.certain && whole ? Detection::kImpossible : Detection::kNotFound;
        anomaly.reason = opportunities.reason;
      } else {
        anomaly.reason = "injected, it went under another name or was hidden by repeated values";
      }
      power_.anomalies.push_back(std::move(anomaly));
    }
  }

  const History& history_;
  base::Budget& budget_;
  TestPower power_;
  std::size_t one_in_ = 1;
  base::HashMap<std::uint64_t, std::uint32_t> writer_;  // of a version; kUnknown: several
  std::vector<Access> accesses_;
};

}  // namespace

std::string_view to_string(Detection detection) {
  switch (detection) {
    case Detection::kDetected:
      return "seen";
    case Detection::kImpossible:
      return "impossible";
    case Detection::kNotFound:
      return "not-found";
  }
  return "";
}

TestPower measure(const History& history, base::Budget& budget) {
  return Measure(history, budget).measure();
}

}  // namespace cupel::power
