// File check: see the header.
#include "engine/online/file_check.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/budget.hpp"
#include "base/hash_table.hpp"
#include "data/history/scalar.hpp"
#include "engine/online/file_feed.hpp"

namespace cupel::online {

using history::History;
using history::OpId;
using history::OpKind;
using history::ScalarView;
using history::SessionId;
using history::StreamedTransaction;
using history::TxnId;
using history::TxnStatus;

namespace {

// Sessions that begin later than that are a bet: nothing could be forgotten before the last began.
constexpr std::uint64_t kSessionsKnownAfter = 200'000;

// So many are read ahead only if the file is not in the order of its times.
constexpr std::size_t kMuchReadAhead = 100'000;

// What the reads of a history saw: which writes would matter to it.
class Seen {
 public:
  explicit Seen(const History& h) {
    for (std::size_t i = 0; i < h.op_count(); ++i) {
      const auto op = h.op(OpId(i));
      switch (op.kind) {
        case OpKind::kRead:
          if (op.key.valid() && op.value.valid()) add(h.key(op.key), h.value(op.value));
          break;
        case OpKind::kListRead:
          if (!h.list_known(op)) break;
          for (const auto element : h.list(op)) add(h.key(op.key), h.value(element));
          break;
        case OpKind::kRangeRead:
          ranges_ = true;
          for (const auto& entry : h.range(op).entries) add(h.key(entry.key), h.value(entry.value));
          break;
        case OpKind::kCompareAndSet: {
          const auto cas = h.compare_and_set(op);
          if (cas.succeeded) {
            add(h.key(op.key), h.value(cas.expected));
          } else {
            any_value_.insert(keys_.intern(h.key(op.key)));
          }
          break;
        }
        default:
          break;
      }
    }
  }

  // `name_of`: of a key, as a ScalarView.
  template <typename NameOf>
  [[nodiscard]] bool may_be_of(const Operations& operations, const NameOf& name_of) const {
    for (const auto& op : operations.all()) {
      const bool deletes = op.kind == OpKind::kDelete;
      if (op.kind == OpKind::kRead || op.kind == OpKind::kListRead || op.kind == OpKind::kRangeRead)
        continue;
      if (deletes && ranges_) return true;
      const auto key = keys_.find(name_of(op.key));
      if (!key) continue;
      const auto& value = op.kind == OpKind::kCompareAndSet ? op.other : op.value;
      if (any_value_.contains(*key) || has(*key, operations.view(value)) ||
          (deletes && has(*key, ScalarView::null()))) {
        return true;
      }
    }
    return false;
  }

 private:
  static std::uint64_t pair(std::uint32_t key, std::uint32_t value) {
    return std::uint64_t{key} << 32 | value;
  }
  void add(ScalarView key, ScalarView value) {
    const auto number = keys_.intern(key);
    pairs_.insert(pair(number, values_.intern(value)));
  }
  [[nodiscard]] bool has(std::uint32_t key, ScalarView value) const {
    const auto number = values_.find(value);
    return number && pairs_.contains(pair(key, *number));
  }

  history::ScalarTable keys_, values_;
  base::HashSet<std::uint64_t> pairs_;
  base::HashSet<std::uint32_t> any_value_;  // a failed compare-and-set saw any but one
  bool ranges_ = false;                     // which may have seen that a key is absent
};

class FileCheck {
 public:
  FileCheck(const OpenHistory& open, const FilePlan& plan, const FileCheckOptions& options,
            bool bets)
      : open_(open),
        plan_(plan),
        options_(options),
        watch_({.level = options.level,
                .drift = options.drift,
                .sessions = static_cast<std::size_t>(bets ? plan.sessions_by(kSessionsKnownAfter)
                                                          : plan.sessions),
                .memory_limit_bytes = options.memory_limit_bytes,
                .forget_outcome_after = bets ? options.forget_outcome_after
                                             : std::numeric_limits<std::uint64_t>::max() / 2,
                .least_batch = options.least_batch,
                .slide = options.slide,
                .evidence = options.chain != nullptr,
                .doubt_ends_session = false,
                .bets = bets,
                .deadline = options.deadline,
                .window_seconds = std::nullopt}) {}

  // kAsk: of a bet.
  base::Result<FileAnswer> run() {
    auto source = open_();
    if (!source.ok()) return std::move(source).error();
    FileFeed feed(watch_.window(), **source, plan_, options_.drift, options_.chain != nullptr);
    for (bool more = true; more;) {
      const auto step = feed.step();
      if (!step.ok()) return step.error();
      more = *step;
      if (options_.stop()) return answer(Finding::kUnknown, "it was interrupted");
      if (const auto why = limit_met(feed); !why.empty()) return answer(Finding::kUnknown, why);
      if (more && !watch_.due(/*idle=*/false)) continue;
      auto looked = look(feed);
      if (!looked.ok() || looked->finding != Finding::kSatisfied) return looked;
      if (const auto left = leave(/*last=*/!more); !left.ok()) return left.error();
      options_.progress(looked->transactions);
    }
    return answer(Finding::kSatisfied, {});
  }
  // How many violations of a sliding window were not sure.
  [[nodiscard]] std::size_t passed_over() const { return passed_over_; }

 private:
  FileAnswer answer(Finding finding, std::string why) {
    FileAnswer answer{.finding = finding, .why = std::move(why)};
    if (finding == Finding::kViolated) answer.window = watch_.window().history();
    answer.transactions = watch_.window().held().transactions;
    answer.forgotten = watch_.window().held().forgotten;
    answer.most_held = most_held_;
    return answer;
  }

  base::Status leave(bool last) {
    if (options_.chain == nullptr) return base::Ok{};
    if (auto added = options_.chain->add(watch_.window()); !added.ok()) return added;
    return last ? options_.chain->end(watch_.window()) : base::Status(base::Ok{});
  }

  // While blocks are read that nothing can be decided of yet.
  std::string limit_met(const FileFeed& feed) const {
    if (options_.deadline && std::chrono::steady_clock::now() >= *options_.deadline) {
      return "the time limit was met";
    }
    const auto limit = options_.memory_limit_bytes;
    if (limit == 0 || base::resident_bytes() <= limit) return {};
    ::malloc_trim(0);  // what was freed in pieces counts until then
    if (base::resident_bytes() <= limit) return {};
    return fmt::format(
        "the memory limit was met with {} transactions held and {} read ahead{}; {}",
        watch_.window().held().held, feed.waiting(),
        feed.waiting() > kMuchReadAhead ? ", because of the order of the file" : "",
        unknown_after(watch_.window().held().transactions - watch_.window().fresh()));
  }

  base::Result<FileAnswer> look(const FileFeed& feed) {
    auto finding = watch_.look();
    most_held_ = std::max(most_held_, watch_.window().held().held);
    const bool slides = options_.slide > 0;
    const bool violated = finding == Finding::kViolated || (slides && finding == Finding::kAsk);
    if (finding == Finding::kUnknown) {
      return answer(finding, fmt::format("{}; {}", watch_.why(), unknown_after(watch_.decided())));
    }
    if (!violated) return answer(finding, finding == Finding::kSatisfied ? "" : watch_.why());
    if (!slides && levels::needs_real_time(options_.level)) return answer(finding, {});
    const auto certain = slides ? no_other_writer() : no_later_writer(feed);
    if (!certain.ok()) return certain.error();
    if (*certain) return answer(Finding::kViolated, {});
    if (!slides) {
      return answer(Finding::kUnknown,
                    "what is held violates it, but a read may be of a write that the history has "
                    "only later, which windows cannot decide");
    }
    watch_.window().forget_reads();
    ++passed_over_;
    return answer(Finding::kSatisfied, {});
  }

  // Does nobody write what the window read, but those that `is_known` says are in it, or before?
  template <typename IsKnown>
  base::Result<bool> nobody_else_writes(const IsKnown& is_known) const {
    const Seen seen(watch_.window().history());
    auto source = open_();
    if (!source.ok()) return std::move(source).error();
    std::vector<std::uint32_t> places(plan_.counts.size(), 0);
    StreamedTransaction txn;
    for (;;) {
      auto more = (*source)->next(txn);
      if (!more.ok()) return more;
      if (!*more) return true;
      if (txn.session >= places.size()) return false;  // the file has changed
      const auto place = ++places[txn.session];
      if (txn.status == TxnStatus::kAborted || is_known(**source, txn.session, place)) continue;
      const auto name_of = [&](Key key) { return (*source)->key(key); };
      if (seen.may_be_of(txn.operations, name_of)) return false;
      if (options_.stop()) return false;
    }
  }

  base::Result<bool> no_later_writer(const FileFeed& feed) const {
    return nobody_else_writes([&](const history::TransactionSource&, std::uint32_t session,
                                  std::uint32_t place) { return place <= feed.begun(session); });
  }

  base::Result<bool> no_other_writer() const {
    const auto& h = watch_.window().history();
    std::set<std::pair<std::string, std::uint32_t>> held;
    for (std::size_t t = 0; t < h.txn_count(); ++t) {
      held.emplace(h.session_name(h.session(TxnId(t))), h.place(TxnId(t)));
    }
    return nobody_else_writes(
        [&](const history::TransactionSource& source, std::uint32_t session, std::uint32_t place) {
          return held.contains({source.session_name(session), place});
        });
  }

  const OpenHistory& open_;
  const FilePlan& plan_;
  const FileCheckOptions& options_;
  Watch watch_;
  std::size_t most_held_ = 0, passed_over_ = 0;
};

}  // namespace

base::Result<FileAnswer> check_file(const OpenHistory& open, const FilePlan& plan,
                                    const FileCheckOptions& options) {
  if (levels::is_single_object(options.level) && plan.several_keys) {
    return FileAnswer{.finding = Finding::kRefused,
                      .why = fmt::format("{} is about operations on single objects, and "
                                         "transaction {} touches more than one key",
                                         levels::name(options.level), *plan.several_keys)};
  }
  FileCheck check(open, plan, options, /*bets=*/true);
  auto found = check.run();
  if (!found.ok()) return found;
  if (options.slide > 0 && found->finding == Finding::kSatisfied &&
      (found->transactions > options.slide || check.passed_over() > 0)) {
    found->finding = Finding::kUnknown;
    found->why = fmt::format(
        "satisfied within any {} transactions in a row, and there is no bound on what would have "
        "to be held for more",
        options.slide);
  }
  if (found->finding != Finding::kAsk) return found;
  auto why = std::move(found->why);
  if (options.chain != nullptr) {
    if (auto again = options.chain->begin_again(); !again.ok()) return std::move(again).error();
  }
  found = FileCheck(open, plan, options, /*bets=*/false).run();
  if (!found.ok() || found->finding != Finding::kAsk) return found;
  found->finding = Finding::kUnknown;
  found->why = fmt::format("what is held violates it, but {}", why);
  return found;
}

}  // namespace cupel::online
