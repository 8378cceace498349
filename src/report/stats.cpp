// See the header.
#include "report/stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/text/json.hpp"
#include "engine/analysis/final_reads.hpp"
#include "report/nodes.hpp"
#include "report/wording.hpp"

namespace cupel::report {

using namespace history;

namespace {

struct Write {
  std::uint64_t version;  // key and value
  std::uint32_t txn;
  friend auto operator<=>(const Write&, const Write&) = default;
};

std::uint64_t version_of(KeyId key, ValueId value) {
  return std::uint64_t{key.raw} << 32 | value.raw;
}

// Every write and every read of one version, whatever operation they are part of.
template <typename OnWrite, typename OnRead>
void visit(const History& h, OnWrite on_write, OnRead on_read) {
  for (std::size_t i = 0; i < h.txn_count(); ++i) {
    const TxnId t(i);
    for (auto o = h.first_op(t); o < h.last_op(t); ++o) {
      const auto op = h.op(OpId(o));
      switch (op.kind) {
        case OpKind::kRead:
          on_read(op.key, op.value);
          break;
        case OpKind::kWrite:
        case OpKind::kAppend:
        case OpKind::kInsert:
        case OpKind::kDelete:
          on_write(t, op.key, op.value);
          break;
        case OpKind::kListRead:
          if (h.list_known(op)) {
            const auto list = h.list(op);
            on_read(op.key, list.empty() ? ValueId::none() : list.back());
          }
          break;
        case OpKind::kCompareAndSet: {
          const auto swap = h.compare_and_set(op);
          if (swap.succeeded) {
            on_read(op.key, swap.expected);
            on_write(t, op.key, swap.desired);
          }
          break;
        }
        case OpKind::kRangeRead:
          break;
      }
    }
  }
}

// Sorts by version, key by key: a key has few writes. Each write once. Where each key's begin.
std::vector<std::size_t> sort_by_key(std::vector<Write>& writes, std::size_t keys) {
  std::vector<std::size_t> first(keys + 1, 0);
  const auto key_of = [](const Write& write) {
    return static_cast<std::size_t>(write.version >> 32);
  };
  for (const auto& write : writes) ++first[key_of(write) + 1];
  for (std::size_t k = 0; k < keys; ++k) first[k + 1] += first[k];
  std::vector<Write> placed(writes.size());
  auto next = first;
  for (const auto& write : writes) placed[next[key_of(write)]++] = write;
  writes.clear();
  for (std::size_t k = 0; k < keys; ++k) {
    const auto begin = placed.begin() + static_cast<std::ptrdiff_t>(first[k]);
    const auto end = placed.begin() + static_cast<std::ptrdiff_t>(first[k + 1]);
    std::sort(begin, end);
    first[k] = writes.size();
    writes.insert(writes.end(), begin, std::unique(begin, end));
  }
  first[keys] = writes.size();
  return first;
}

void count_versions(const History& h, Stats& stats) {
  std::vector<Write> writes;
  visit(
      h,
      [&](TxnId t, KeyId key, ValueId value) {
        ++stats.writes;
        writes.push_back({version_of(key, value), t.raw});
      },
      [](KeyId, ValueId) {});
  const auto first = sort_by_key(writes, h.key_count());

  std::vector<std::uint64_t> duplicated;  // sorted, as writes are
  std::uint64_t last_key = ~std::uint64_t{0};
  for (std::size_t i = 0, end; i < writes.size(); i = end) {
    end = i + 1;
    while (end < writes.size() && writes[end].version == writes[i].version) ++end;
    ++stats.distinct_values;
    stats.most_writers = std::max<std::uint64_t>(stats.most_writers, end - i);
    if (end - i < 2) continue;
    duplicated.push_back(writes[i].version);
    if (const auto key = writes[i].version >> 32; key != last_key) {
      ++stats.keys_with_duplicates;
      last_key = key;
    }
  }
  stats.duplicated_values = duplicated.size();

  visit(
      h, [](TxnId, KeyId, ValueId) {},
      [&](KeyId key, ValueId value) {
        ++stats.reads;
        const bool list = h.is_list(key);
        if (!value.valid()) {
          stats.initial_reads += list;
          return;
        }
        const auto version = version_of(key, value);
        const bool initial = !list && value == h.initial_value(key);
        stats.initial_reads += initial;
        const auto end = writes.begin() + static_cast<std::ptrdiff_t>(first[key.index() + 1]);
        const auto it =
            std::lower_bound(writes.begin() + static_cast<std::ptrdiff_t>(first[key.index()]), end,
                             Write{version, 0});
        const bool written = it != end && it->version == version;
        stats.ambiguous_reads +=
            initial ? written : std::binary_search(duplicated.begin(), duplicated.end(), version);
      });
}

void measure_time(const History& h, Stats& stats) {
  std::vector<std::pair<Time, int>> edges;
  double open_time = 0;
  for (std::size_t i = 0; i < h.txn_count(); ++i) {
    const auto from = h.invoke(TxnId(i)), to = h.complete(TxnId(i));
    if (from == kNoTime || to == kNoTime) continue;
    ++stats.timed_transactions;
    edges.emplace_back(from, 1);
    edges.emplace_back(to, -1);
    open_time += static_cast<double>(to) - static_cast<double>(from);
  }
  if (edges.empty()) return;
  // At one instant the begins come first: intervals that touch overlap.
  std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  std::int64_t open = 0, most = 0;
  for (const auto& [time, change] : edges) most = std::max(most, open += change);
  stats.most_open = static_cast<std::uint64_t>(most);
  stats.span_ns = static_cast<Time>(static_cast<std::uint64_t>(edges.back().first) -
                                    static_cast<std::uint64_t>(edges.front().first));
  const double span =
      static_cast<double>(edges.back().first) - static_cast<double>(edges.front().first);
  stats.mean_open = span > 0 ? open_time / span : static_cast<double>(most);
}

std::string duration(Time ns) {
  const auto t = static_cast<double>(ns);
  if (t < 1e3) return fmt::format("{} ns", ns);
  if (t < 1e6) return fmt::format("{:.1f} us", t / 1e3);
  if (t < 1e9) return fmt::format("{:.1f} ms", t / 1e6);
  if (t < 120e9) return fmt::format("{:.2f} s", t / 1e9);
  if (t < 7200e9) return fmt::format("{:.1f} min", t / 60e9);
  return fmt::format("{:.1f} h", t / 3600e9);
}

std::string size(std::uint64_t bytes) {
  const auto b = static_cast<double>(bytes);
  if (b < 1024) return fmt::format("{} B", bytes);
  if (b < 1024 * 1024) return fmt::format("{:.1f} KiB", b / 1024);
  return fmt::format("{:.1f} MiB", b / (1024 * 1024));
}

}  // namespace

Stats compute_stats(const History& h) {
  Stats stats;
  stats.sessions = h.session_count();
  stats.transactions = h.txn_count();
  for (std::size_t i = 0; i < h.txn_count(); ++i) {
    switch (h.status(TxnId(i))) {
      case TxnStatus::kCommitted:
        ++stats.committed;
        break;
      case TxnStatus::kAborted:
        ++stats.aborted;
        break;
      case TxnStatus::kIndeterminate:
        ++stats.indeterminate;
        break;
    }
  }
  stats.operations = h.op_count();
  for (std::size_t o = 0; o < h.op_count(); ++o)
    ++stats.operations_by_kind[static_cast<std::size_t>(h.kind(OpId(o)))];
  stats.keys = h.key_count();
  for (std::size_t k = 0; k < h.key_count(); ++k) stats.list_keys += h.is_list(KeyId(k));
  count_versions(h, stats);
  measure_time(h, stats);
  stats.times_are_places = h.times_are_places();
  stats.resident_bytes = h.resident_bytes();
  stats.metadata = h.metadata();
  return stats;
}

std::string span_in_places(const Stats& stats) {
  return counted(static_cast<std::uint64_t>(stats.span_ns), "place") + " of the file";
}

std::string stats_text(const Stats& s, const std::string& file) {
  std::string text = file + "\n";
  const auto line = [&](std::string_view label, const std::string& value) {
    text += fmt::format("  {:<30}{}\n", label, value);
  };
  const auto part = [&](std::string_view label, std::uint64_t n) {
    if (n) text += fmt::format("    {:<28}{}\n", label, grouped(n));
  };
  for (const auto& [name, value] : s.metadata) {
    if (name == analysis::kFinalReaders || name == kNodes) continue;
    // One a line of the text: how many is enough here.
    line(name,
         name == "faults"
             ? grouped(static_cast<std::uint64_t>(std::count(value.begin(), value.end(), '\n') + 1))
             : value);
  }
  line("sessions", grouped(s.sessions));
  line("transactions", grouped(s.transactions));
  part("committed", s.committed);
  part("aborted", s.aborted);
  part("indeterminate", s.indeterminate);
  line("operations", grouped(s.operations));
  for (std::size_t kind = 0; kind < s.operations_by_kind.size(); ++kind) {
    part(to_string(static_cast<OpKind>(kind)), s.operations_by_kind[kind]);
  }
  line("operations a transaction",
       s.transactions ? fmt::format("{:.1f}", static_cast<double>(s.operations) /
                                                  static_cast<double>(s.transactions))
                      : "-");
  line("keys",
       grouped(s.keys) + (s.list_keys ? fmt::format(" ({})", counted(s.list_keys, "list")) : ""));
  line("reads a write", s.writes ? fmt::format("{:.2f}", static_cast<double>(s.reads) /
                                                             static_cast<double>(s.writes))
                                 : "-");
  line("reads of the initial value", grouped(s.initial_reads));
  line("distinct written values", grouped(s.distinct_values));
  line("values with several writers",
       s.duplicated_values
           ? fmt::format("{} (on {}; at most {} writers)", grouped(s.duplicated_values),
                         counted(s.keys_with_duplicates, "key"), grouped(s.most_writers))
           : "0");
  line("reads with several writers", grouped(s.ambiguous_reads));
  if (s.timed_transactions) {
    if (s.times_are_places) {
      line("time span", "not recorded; " + span_in_places(s));
    } else {
      line("time span", duration(s.span_ns));
    }
    line("open transactions",
         fmt::format("{:.1f} on average, at most {}", s.mean_open, grouped(s.most_open)));
    if (s.timed_transactions != s.transactions)
      line("transactions with both times", grouped(s.timed_transactions));
  } else {
    line("time span", "not recorded");
  }
  line("in memory", size(s.resident_bytes));
  return text;
}

std::string stats_json(const Stats& s, const std::string& file) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  nlohmann::ordered_json by_kind;
  for (std::size_t kind = 0; kind < s.operations_by_kind.size(); ++kind) {
    by_kind[std::string(to_string(static_cast<OpKind>(kind)))] = s.operations_by_kind[kind];
  }
  nlohmann::ordered_json json{
      {"file", file},
      {"format", s.metadata.contains("format") ? s.metadata.at("format") : ""},
      {"sessions", s.sessions},
      {"transactions", s.transactions},
      {"committed", s.committed},
      {"aborted", s.aborted},
      {"indeterminate", s.indeterminate},
      {"operations", s.operations},
      {"operations_by_kind", by_kind},
      {"keys", s.keys},
      {"list_keys", s.list_keys},
      {"reads", s.reads},
      {"writes", s.writes},
      {"initial_reads", s.initial_reads},
      {"distinct_values", s.distinct_values},
      {"duplicated_values", s.duplicated_values},
      {"keys_with_duplicates", s.keys_with_duplicates},
      {"most_writers", s.most_writers},
      {"ambiguous_reads", s.ambiguous_reads},
      {"timed_transactions", s.timed_transactions},
      {"span_ns", s.timed_transactions && !s.times_are_places ? nlohmann::ordered_json(s.span_ns)
                                                              : nlohmann::ordered_json(nullptr)},
      {"mean_open", s.mean_open},
      {"most_open", s.most_open},
      {"resident_bytes", s.resident_bytes},
      {"metadata", s.metadata},
  };
  return text::dump(json);
}

}  // namespace cupel::report
