// inject: see the header. Each anomaly is a line of a tiny language: sessions
// separated by '|', transactions by ';' ('!' aborted), operations wx1, rx1, rx-
// (the initial value) on the keys x and y; digits name values.
#include "data/workload/inject.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <vector>

#include "data/workload/generate.hpp"

namespace cupel::workload {

using namespace history;

namespace {

struct Plan {
  std::string_view name, text;
};

// The 14 of mini-transactions, and then Adya's.
constexpr std::size_t kFourteen = 14;
constexpr std::array<Plan, 15> kPlans = {{
    {"thin-air-read", "rx1"},
    {"aborted-read", "!wx1 | rx1"},
    {"future-read", "rx1 wx1"},
    {"not-my-last-write", "wx1 wx2 rx1"},
    {"not-my-own-write", "wx1 | wx2 rx1"},
    {"intermediate-read", "wx1 wx2 | rx1"},
    {"non-repeatable-read", "wx1 | wx2 | rx1 rx2"},
    {"session-guarantee-violation", "wx1 ; rx-"},
    {"non-monotonic-read", "wx1 ; wx2 wy3 | ry3 rx1"},
    {"fractured-read", "wx1 wy2 | ry- rx1"},
    {"causality-violation", "wx1 | rx1 wy2 | ry2 rx-"},
    {"long-fork", "wx1 | wy2 | rx1 ry- | rx- ry2"},
    {"lost-update", "rx- wx1 | rx- wx2"},
    {"write-skew", "rx- ry- wx1 | rx- ry- wy2"},
    {"G1c", "rx1 wy2 | ry2 wx1"},
}};

std::string_view text_of(std::string_view anomaly) {
  for (const Plan& plan : kPlans) {
    if (plan.name == anomaly) return plan.text;
  }
  assert(false && "generate() refuses unknown anomalies");
  return {};
}

}  // namespace

std::span<const std::string_view> injectable_anomalies() {
  static const auto names = [] {
    std::array<std::string_view, kPlans.size()> all;
    for (std::size_t i = 0; i < kPlans.size(); ++i) all[i] = kPlans[i].name;
    return all;
  }();
  return names;
}

std::span<const std::string_view> mini_transaction_anomalies() {
  return injectable_anomalies().first(kFourteen);
}

std::uint32_t sessions_of_injection(std::string_view anomaly) {
  const auto text = text_of(anomaly);
  return 1 + static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '|'));
}

void inject_anomaly(std::string_view anomaly, std::int64_t first_key,
                    const std::function<SessionId(std::uint32_t)>& session_of, Time start,
                    const InjectionTarget& target) {
  HistoryBuilder& builder = target.builder;
  const std::string_view text = text_of(anomaly);
  // Those of one session share the time, one after the other; those of others overlap.
  struct Txn {
    char session;
    std::vector<std::string_view> ops;
    bool aborted = false;
    int place = 0;
  };
  std::vector<Txn> txns = {{'a', {}}};
  std::map<char, int> count = {{'a', 1}};
  for (std::size_t i = 0; i < text.size();) {
    switch (text[i]) {
      case ' ':
        ++i;
        break;
      case '!':
        txns.back().aborted = true;
        ++i;
        break;
      case '|': {
        const char next = static_cast<char>(txns.back().session + 1);
        txns.push_back({next, {}});
        count[next] = 1;
        ++i;
        break;
      }
      case ';': {
        const char same = txns.back().session;
        txns.push_back({same, {}, false, count[same]++});
        ++i;
        break;
      }
      default:
        txns.back().ops.push_back(text.substr(i, 3));
        i += 3;
    }
  }
  std::map<char, ValueId> values = {{'-', builder.null_value()}};
  for (const Txn& txn : txns) {
    HistoryBuilder::TxnFacts facts{.label = target.label++};
    if (start != kNoTime) {
      const Time slice = kInjectionTime / count[txn.session];
      facts.invoke = start + txn.place * slice + 1;
      facts.complete = start + (txn.place + 1) * slice;
    }
    builder.begin(session_of(static_cast<std::uint32_t>(txn.session - 'a')),
                  txn.aborted ? TxnStatus::kAborted : TxnStatus::kCommitted, facts);
    for (const auto op : txn.ops) {
      const auto key = builder.key(first_key + (op[1] - 'x'));
      auto it = values.find(op[2]);
      if (it == values.end()) it = values.emplace(op[2], builder.value(target.next_value++)).first;
      op[0] == 'w' ? builder.write(key, it->second) : builder.read(key, it->second);
    }
    builder.end();
  }
}

}  // namespace cupel::workload
