// Final reads in passes: see the header.
#include "apps/engine/windows_final_reads.hpp"

#include <malloc.h>

#include <algorithm>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/history/builder.hpp"
#include "data/history/streamed.hpp"

namespace cupel::apps {

using history::History;
using history::HistoryBuilder;
using history::Key;
using history::Operations;
using history::OpKind;
using history::TransactionSource;
using history::TxnStatus;

namespace {

// What a history of writes takes for each operation of the file, at most, and the share of the
// limit that it may take: the windows have left something behind.
constexpr std::uint64_t kBytesOfOperation = 64, kShareOfLimit = 4;

bool is_write(const Operations::Operation& op) {
  switch (op.kind) {
    case OpKind::kWrite:
    case OpKind::kAppend:
    case OpKind::kInsert:
    case OpKind::kDelete:
      return true;
    case OpKind::kCompareAndSet:
      return op.succeeded;
    default:
      return false;
  }
}

// The facts that the words for a finding need (report/nodes.hpp, report/timeline.hpp).
constexpr const char* kFacts[] = {"times", "nodes", "faults", "format"};

class Passes {
 public:
  Passes(const online::OpenHistory& open, const online::FilePlan& plan, const std::string& readers,
         std::uint64_t limit, const std::function<bool()>& stop)
      : open_(open), plan_(plan), fact_(readers), stop_(stop) {
    std::istringstream lines(readers);
    for (std::string line; std::getline(lines, line);)
      readers_.insert(line.substr(0, line.find(' ')));
    const auto bytes = plan.operations * kBytesOfOperation;
    const auto share = std::max<std::uint64_t>(limit / kShareOfLimit, 1 << 20);
    passes_ = std::max<std::uint64_t>(1, (bytes + share - 1) / share);
    most_keys_ = std::max<std::size_t>(1, plan.keys.size() / static_cast<std::size_t>(passes_));
  }

  base::Result<std::optional<WindowedFinalReads>> run() {
    std::optional<WindowedFinalReads> none;
    analysis::FinalReads counts;
    std::set<Key> wrong;
    for (std::uint64_t pass = 0; pass < passes_; ++pass) {
      auto history = history_of([&](Key key) { return key % passes_ == pass; });
      if (!history.ok()) return std::move(history).error();
      if (!*history) return none;
      const auto found = analysis::final_reads(**history);
      if (!found) return none;
      add_counts(*found, counts);
      const auto note = [&](history::KeyId key) {
        if (const auto number = plan_.keys.find((*history)->key(key))) wrong.insert(*number);
      };
      for (const auto& one : found->lost) note(one.key);
      for (const auto& one : found->divergent) note(one.key);
      history->reset();
      ::malloc_trim(0);  // the limit is of what is resident
    }
    WindowedFinalReads all;
    while (wrong.size() > most_keys_) {
      wrong.erase(std::prev(wrong.end()));
      ++all.left_out;
    }
    auto shown = history_of([&](Key key) { return wrong.contains(key); });
    if (!shown.ok()) return std::move(shown).error();
    if (!*shown) return none;
    all.history = **std::move(shown);
    if (auto found = analysis::final_reads(all.history)) all.found = *std::move(found);
    all.found.keys = counts.keys;
    all.found.keys_of_all = counts.keys_of_all;
    for (std::size_t i = 0; i < all.found.nodes.size() && i < counts.nodes.size(); ++i)
      all.found.nodes[i].keys = counts.nodes[i].keys;
    return std::optional(std::move(all));
  }

 private:
  static void add_counts(const analysis::FinalReads& found, analysis::FinalReads& counts) {
    counts.keys += found.keys;
    counts.keys_of_all += found.keys_of_all;
    if (counts.nodes.empty()) {
      counts.nodes = found.nodes;
      return;
    }
    for (std::size_t i = 0; i < found.nodes.size(); ++i)
      counts.nodes[i].keys += found.nodes[i].keys;
  }

  // The final reads and the writes of some keys. None: stopped.
  template <typename Takes>
  base::Result<std::optional<History>> history_of(const Takes& takes) {
    std::optional<History> none;
    auto source = open_();
    if (!source.ok()) return std::move(source).error();
    HistoryBuilder builder;
    // Every pass has the same nodes, also if one of them read none of its keys.
    for (const auto& name : plan_.session_names) {
      if (readers_.contains(name)) builder.session(name);
    }
    std::vector<std::uint32_t> places(plan_.counts.size(), 0);
    history::StreamedTransaction txn;
    for (std::uint64_t number = 0;; ++number) {
      const auto more = (*source)->next(txn);
      if (!more.ok()) return more.error();
      if (!*more) break;
      if (number % 1024 == 0 && stop_()) return none;
      if (txn.session >= places.size()) continue;  // the file has changed, which is found out later
      const auto place = ++places[txn.session];
      if (txn.status == TxnStatus::kAborted) continue;
      add(txn, place, **source, takes, builder);
    }
    for (const auto& initial : (*source)->initial()) {
      if (initial.of_all) {
        builder.set_default_initial(builder.value(initial.value()));
      } else if (takes(initial.key)) {
        builder.set_initial(builder.key((*source)->key(initial.key)),
                            builder.value(initial.value()));
      }
    }
    for (const char* fact : kFacts) {
      if (const auto text = (*source)->fact(fact); !text.empty()) builder.set_metadata(fact, text);
    }
    builder.set_metadata(analysis::kFinalReaders, fact_);
    auto history = std::move(builder).finish();
    if (!history.ok()) return std::move(history).error();
    return std::optional(std::move(history).value());
  }

  template <typename Takes>
  void add(const history::StreamedTransaction& txn, std::uint32_t place,
           const TransactionSource& source, const Takes& takes, HistoryBuilder& builder) const {
    const auto& name = source.session_name(txn.session);
    const bool reads = readers_.contains(name);
    bool began = false;
    for (const auto& op : txn.operations.all()) {
      if (op.kind == OpKind::kRangeRead || !takes(op.key) || !(is_write(op) || reads)) continue;
      if (!std::exchange(began, true)) {
        builder.begin(
            builder.session(name), txn.status,
            {.invoke = txn.invoke, .complete = txn.complete, .label = txn.label, .place = place});
      }
      add(txn.operations, op, source, builder);
    }
    if (began) builder.end();
  }

  void add(const Operations& from, const Operations::Operation& op, const TransactionSource& source,
           HistoryBuilder& builder) const {
    const auto key = builder.key(source.key(op.key));
    const auto value = [&](const history::Value& v) { return builder.value(from.view(v)); };
    switch (op.kind) {
      case OpKind::kRead:
        if (op.key < plan_.lists.size() && plan_.lists[op.key])
          return op.known ? builder.list_read(key, {}) : builder.list_read_unknown(key);
        return builder.read(key, op.known ? value(op.value) : history::ValueId::none());
      case OpKind::kListRead: {
        if (!op.known) return builder.list_read_unknown(key);
        std::vector<history::ValueId> elements;
        for (const auto& element : from.elements(op)) elements.push_back(value(element));
        return builder.list_read(key, elements);
      }
      case OpKind::kWrite:
        return builder.write(key, value(op.value));
      case OpKind::kAppend:
        return builder.append(key, value(op.value));
      case OpKind::kInsert:
        return builder.insert(key, value(op.value));
      case OpKind::kDelete:
        return builder.erase(key, value(op.value));
      case OpKind::kCompareAndSet:
        return builder.compare_and_set(key, value(op.value), value(op.other), op.succeeded);
      case OpKind::kRangeRead:
        break;
    }
  }

  const online::OpenHistory& open_;
  const online::FilePlan& plan_;
  const std::string& fact_;
  const std::function<bool()>& stop_;
  std::set<std::string> readers_;  // names of sessions
  std::uint64_t passes_ = 1;
  std::size_t most_keys_ = 1;  // whose operations fit
};

}  // namespace

base::Result<std::optional<WindowedFinalReads>> final_reads_in_passes(
    const online::OpenHistory& open, const online::FilePlan& plan, const std::string& readers,
    std::uint64_t memory_limit_bytes, const std::function<bool()>& stop) {
  return Passes(open, plan, readers, memory_limit_bytes, stop).run();
}

}  // namespace cupel::apps
