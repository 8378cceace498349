// join: see the header.
#include "data/merge/join.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "data/formats/op_setup.hpp"
#include "data/history/builder.hpp"
#include "data/history/facts.hpp"
#include "data/history/ignored.hpp"
#include "data/history/naming.hpp"
#include "data/history/times.hpp"

namespace cupel::merge {

using history::History;
using history::HistoryBuilder;
using history::KeyId;
using history::kNoTime;
using history::OpId;
using history::SessionId;
using history::TxnId;

namespace {

base::Error mistake(const Part& part, std::string message) {
  return base::Error{.message = std::move(message), .file = part.file};
}

// "10-19 of 40".
struct SessionsOf {
  std::uint64_t first = 0, last = 0, all = 0;
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<SessionsOf> parse_sessions(std::string_view text) {
  const auto dash = text.find('-'), of = text.find(" of ");
  if (dash == std::string_view::npos || of == std::string_view::npos || dash > of) {
    return std::nullopt;
  }
  const auto first = number(text.substr(0, dash)),
             last = number(text.substr(dash + 1, of - dash - 1)), all = number(text.substr(of + 4));
  if (!first || !last || !all || *first > *last || *last >= *all) return std::nullopt;
  return SessionsOf{*first, *last, *all};
}

std::string numbers(std::uint64_t first, std::uint64_t last) {
  return first == last ? fmt::format("session {}", first)
                       : fmt::format("sessions {} to {}", first, last);
}

// That the parts are those of one run, and all of them.
base::Status check_workers(const std::vector<Part>& parts) {
  const auto run = parts.front().history.fact(kRunFact);
  std::map<std::uint64_t, std::pair<std::uint64_t, const Part*>> last_of;  // by the first session
  std::uint64_t all = 0;
  for (const auto& part : parts) {
    const auto& h = part.history;
    if (const auto own = h.fact(kRunFact); own != run) {
      return mistake(part, fmt::format("found the run `{}`, expected `{}` as in {}; histories of "
                                       "different runs are not about the same tables",
                                       own, run, parts.front().file));
    }
    if (h.fact(kEndedFact) != "yes") {
      return mistake(part,
                     "the recording has no end, so writes that others read may be missing; "
                     "expected workers that ended. Run the load again");
    }
    const auto sessions = parse_sessions(h.fact(kSessionsFact));
    if (!sessions) {
      return mistake(part, fmt::format("found the sessions `{}`, expected as in `10-19 of 40`",
                                       h.fact(kSessionsFact)));
    }
    if (all != 0 && all != sessions->all) {
      return mistake(part, fmt::format("found {} sessions in all, expected {} as in {}",
                                       sessions->all, all, parts.front().file));
    }
    all = sessions->all;
    const auto [it, added] = last_of.try_emplace(sessions->first, sessions->last, &part);
    if (!added) {
      return mistake(
          part, fmt::format("found {}, which {} has too; expected each once",
                            numbers(sessions->first, sessions->last), it->second.second->file));
    }
  }
  std::uint64_t next = 0;
  for (const auto& [first, end] : last_of) {
    if (first < next) {
      return mistake(*end.second, fmt::format("found session {}, which another history has too; "
                                              "expected each once",
                                              first));
    }
    if (first > next) break;
    next = end.first + 1;
  }
  if (next == all) return base::Ok{};
  const auto after = last_of.upper_bound(next);
  return base::Error{
      .message = fmt::format(
          "found {} nowhere among {} histories of the run `{}`, expected all {} sessions: without "
          "them, what they wrote seems to come from nobody",
          numbers(next, after == last_of.end() ? all - 1 : after->first - 1), parts.size(), run,
          all)};
}

using history::kDataGone;
using history::kFinalReaders;
using history::kFinalReadsFailed;

// Why it is unknown whether writes of some part are lost; empty: no part says that it is. The whole
// has no final reads: a part that was recorded later may have written after those of another.
std::string final_reads_failed(const std::vector<Part>& parts, std::vector<std::string>& notes) {
  std::string failed;
  for (const auto& [file, h] : parts) {
    const auto gone = h.fact(kDataGone);
    const auto why = gone.empty() ? h.fact(kFinalReadsFailed) : gone;
    if (!why.empty()) failed += fmt::format("{}{}: {}", failed.empty() ? "" : "; ", file, why);
    if (!h.fact(kFinalReaders).empty()) {
      notes.push_back(fmt::format(
          "{} has final reads, which become ordinary reads. Check it alone for lost writes", file));
    }
  }
  return failed;
}

// What the whole says of its source: what all parts say.
std::map<std::string, std::string> common_facts(const std::vector<Part>& parts,
                                                std::vector<std::string>& notes) {
  static const std::set<std::string> kOwn{"format",   "times",    kRunFact,      kSessionsFact,
                                          kClockFact, kEndedFact, kFinalReaders, kFinalReadsFailed,
                                          kDataGone,  "kind",     "ignored",     "not ignored",
                                          "set-up"};
  std::map<std::string, std::string> facts;
  std::vector<std::string> differ;
  for (const auto& [name, text] : parts.front().history.metadata()) {
    if (kOwn.contains(name)) continue;
    const auto says_so = [&fact = name, &said = text](const Part& part) {
      return part.history.fact(fact) == said;
    };
    const bool same = std::all_of(parts.begin(), parts.end(), says_so);
    if (same) {
      facts.emplace(name, text);
    } else {
      differ.push_back(name);
    }
  }
  if (!differ.empty()) {
    notes.push_back(
        fmt::format("the histories do not agree on these facts, so they are omitted: {}",
                    fmt::join(differ, ", ")));
  }
  return facts;
}

// How the operations of the whole were read, if those of all parts were read alike; empty: as
// transactions, or in several ways. `keys`: of the whole.
std::string common_kind(const std::vector<Part>& parts, std::size_t keys) {
  constexpr std::string_view kRegisters = "registers", kCompare = " with compare-and-set";
  const auto first = parts.front().history.fact("kind");
  bool same = true, registers = true, compares = false;
  for (const auto& part : parts) {
    const auto kind = part.history.fact("kind");
    same = same && kind == first;
    registers = registers && kind.starts_with(kRegisters);
    compares = compares || kind.find(kCompare) != std::string::npos;
  }
  if (!registers) return same ? first : std::string();
  return fmt::format("{}{}, {} {}", kRegisters, compares ? kCompare : "", keys,
                     keys == 1 ? "key" : "keys");
}

history::IgnoredOpMaps ignored_by_all(const std::vector<Part>& parts) {
  history::IgnoredOpMaps all;
  for (const auto& part : parts) {
    for (const auto& [f, count] : history::ignored_op_maps(part.history.fact("ignored")))
      all[f] += count;
  }
  return all;
}

// Transactions are numbered part by part, and in each session by session.
class Joiner {
 public:
  Joiner(const std::vector<Part>& parts, const JoinOptions& options)
      : parts_(parts), options_(options) {}

  base::Result<Joined> join() && {
    if (auto fit = check_parts(); !fit.ok()) return std::move(fit).error();
    facts_ = common_facts(parts_, joined_.notes);
    find_lists();
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
      const auto& h = parts_[p].history;
      for (std::uint32_t t = 0; t < h.txn_count(); ++t) {
        part_of_.push_back(p);
        times_.push_back({h.invoke(TxnId(t)), h.complete(TxnId(t))});
      }
    }
    if (options_.times) {
      if (auto found = find_clocks(); !found.ok()) return std::move(found).error();
    }
    auto whole = build(!joined_.clocks.empty());
    if (!whole.ok()) return std::move(whole).error();
    joined_.history = *std::move(whole);
    const auto kind = common_kind(parts_, joined_.history.key_count());
    const auto ignored = history::ignored_fact(ignored_by_all(parts_));
    const auto failed = final_reads_failed(parts_, joined_.notes);
    for (const auto& [name, text] : {std::pair("kind", &kind), std::pair("ignored", &ignored),
                                     std::pair(kFinalReadsFailed, &failed)}) {
      if (text->empty()) continue;
      joined_.history = HistoryBuilder::with_metadata(std::move(joined_.history), name, *text);
    }
    return std::move(joined_);
  }

 private:
  base::Status check_parts() {
    bool workers = false;
    for (const auto& part : parts_) {
      workers = workers || !part.history.fact(kRunFact).empty();
      if (const auto cut = part.history.fact("cut"); !cut.empty()) {
        return mistake(part, fmt::format("{}, so writes that others read may be missing; expected "
                                         "a whole file",
                                         cut));
      }
    }
    if (workers) return check_workers(parts_);
    if (parts_.size() > 1) {
      joined_.notes.emplace_back(
          "the histories do not say that they are of one run; if they are not, or if one is "
          "missing, the verdicts about the whole mean nothing");
    }
    return base::Ok{};
  }

  // The clocks of recordings of one machine, whose difference is known.
  void add_shared_clocks(std::vector<OffsetBound>& bounds) const {
    std::map<std::string, std::pair<std::uint32_t, Time>> first_of;
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
      const auto text = parts_[p].history.fact(kClockFact);
      const auto space = text.rfind(' ');
      if (space == std::string::npos) continue;
      const auto start = number(std::string_view(text).substr(space + 1));
      if (!start) continue;
      const auto since = static_cast<Time>(*start);
      const auto [it, added] = first_of.try_emplace(text.substr(0, space), p, since);
      if (added) continue;
      const auto& [other, others] = it->second;
      bounds.push_back({p, other, since - others});
      bounds.push_back({other, p, others - since});
    }
  }

  // Over the longest of the recordings.
  [[nodiscard]] Time usual_drift() const {
    constexpr Time kLargestChange = 2000;  // adjtimex(2): 500 millionths
    Time longest = 0;
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
      std::optional<Interval> whole;
      for (std::size_t t = 0; t < times_.size(); ++t) {
        if (part_of_[t] != p || times_[t].invoke == kNoTime) continue;
        const Time end = std::max(times_[t].invoke, times_[t].complete);
        if (!whole) whole = {times_[t].invoke, end};
        whole = Interval{std::min(whole->invoke, times_[t].invoke), std::max(whole->complete, end)};
      }
      if (whole) longest = std::max(longest, history::between(whole->invoke, whole->complete));
    }
    return longest / kLargestChange;
  }

  base::Status find_clocks() {
    for (const auto& part : parts_) {
      if (part.history.has_times() && !part.history.times_are_places()) continue;
      joined_.notes.push_back(fmt::format(
          "{} has no times, so the whole has none; levels of real time are refused", part.file));
      return base::Ok{};
    }
    joined_.drift = options_.drift.value_or(0);
    if (!options_.offsets.empty()) {
      for (const auto offset : options_.offsets) joined_.clocks.push_back({offset, offset});
      return base::Ok{};
    }
    // Without times: only for what equal values are.
    const auto untimed = build(false);
    if (!untimed.ok()) return untimed.error();
    auto bounds = bounds_of_reads(*untimed, part_of_, times_);
    std::vector<OffsetBound> shared;
    add_shared_clocks(shared);
    // One machine has one clock: its pace is that of all.
    const bool one_clock = shared.size() == 2 * (parts_.size() - 1);
    if (!options_.drift && !one_clock) joined_.drift = usual_drift();
    for (auto& bound : bounds) bound.most = history::later(bound.most, 2 * joined_.drift);
    bounds.insert(bounds.end(), shared.begin(), shared.end());
    const auto offsets = solve(static_cast<std::uint32_t>(parts_.size()), bounds);
    if (offsets.contradicted) {
      return base::Error{
          .message =
              "found reads that completed before their writes were invoked, whatever is added to "
              "the clocks; if the clocks do not keep the same pace, give --clock-drift, else "
              "--no-times"};
    }
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
      if (offsets.ranges[p]) continue;
      joined_.notes.push_back(fmt::format(
          "{}: too few reads across the histories show how far its clock is from the first, so the "
          "whole has no times, and levels of real time are refused; --clock-offset says it",
          parts_[p].file));
      return base::Ok{};
    }
    for (const auto& range : offsets.ranges) joined_.clocks.push_back(*range);
    return base::Ok{};
  }

  [[nodiscard]] HistoryBuilder::TxnFacts facts_of(std::size_t txn, std::uint32_t label,
                                                  bool timed) const {
    HistoryBuilder::TxnFacts facts{.label = label};
    if (!timed) return facts;
    const auto& clock = joined_.clocks[part_of_[txn]];
    const Time wider = history::later(clock.error(), joined_.drift), offset = clock.middle();
    if (times_[txn].invoke != kNoTime)
      facts.invoke = history::earlier(history::later(times_[txn].invoke, offset), wider);
    if (times_[txn].complete != kNoTime)
      facts.complete = history::later(history::later(times_[txn].complete, offset), wider);
    return facts;
  }

  // Every key starts with the same, and each key that starts otherwise with that.
  base::Status add_initial_values(HistoryBuilder& builder) const {
    std::map<std::uint32_t, std::pair<history::ValueId, const Part*>> initial;
    const auto& first = parts_.front().history;
    const auto usual = history::shown(first.value(first.default_initial_value()));
    for (const auto& part : parts_) {
      const auto& h = part.history;
      const auto own = history::shown(h.value(h.default_initial_value()));
      if (own != usual) {
        return mistake(part, fmt::format("found keys that start with {}, expected {} as in {}", own,
                                         usual, parts_.front().file));
      }
      for (const auto& [key, value] : h.initial_overrides()) {
        const auto id = builder.key(h.key(key));
        const auto starts = builder.value(h.value(value));
        const auto [it, added] = initial.try_emplace(id.raw, starts, &part);
        if (!added && it->second.first != starts) {
          return mistake(part,
                         fmt::format("found key {} to start with {}, and otherwise in {}",
                                     history::shown(h.key(key)), history::shown(h.value(value)),
                                     it->second.second->file));
        }
        if (added) builder.set_initial(id, starts);
      }
    }
    builder.set_default_initial(builder.value(first.value(first.default_initial_value())));
    return base::Ok{};
  }

  // The keys that some part appends to or reads as lists.
  void find_lists() {
    for (const auto& part : parts_) {
      const auto& h = part.history;
      for (std::uint32_t k = 0; k < h.key_count(); ++k) {
        if (h.is_list(KeyId(k))) lists_.intern(h.key(KeyId(k)));
      }
    }
  }

  // A part that only read nil from a list does not know that it is one: nil is the empty list.
  void add_operation(HistoryBuilder& builder, const History& h, OpId id) const {
    const auto op = h.op(id);
    const bool read_nil = op.kind == history::OpKind::kRead && !h.is_list(op.key) &&
                          (!op.value.valid() || op.value == h.null_value());
    if (!read_nil || !lists_.find(h.key(op.key))) return builder.copy(h, id);
    const auto key = builder.key(h.key(op.key));
    if (op.value.valid()) {
      builder.list_read(key, {});
    } else {
      builder.list_read_unknown(key);
    }
  }

  [[nodiscard]] base::Result<History> build(bool timed) const {
    HistoryBuilder builder;
    if (auto added = add_initial_values(builder); !added.ok()) return std::move(added).error();
    std::size_t txn = 0, session = 0;
    std::uint32_t labels = 0;
    for (const auto& part : parts_) {
      const auto& h = part.history;
      std::uint32_t most = 0;
      for (std::uint32_t s = 0; s < h.session_count(); ++s) {
        const auto id = builder.session(std::to_string(session++));
        for (auto t = h.session_begin(SessionId(s)).raw; t < h.session_end(SessionId(s)).raw; ++t) {
          most = std::max(most, h.label(TxnId(t)) + 1);
          builder.begin(id, h.status(TxnId(t)), facts_of(txn++, labels + h.label(TxnId(t)), timed));
          for (auto i = h.first_op(TxnId(t)); i < h.last_op(TxnId(t)); ++i) {
            add_operation(builder, h, OpId(i));
          }
          builder.end();
        }
      }
      labels += most;
    }
    for (const auto& [name, text] : facts_) builder.set_metadata(name, text);
    builder.set_metadata("merged from", fmt::format("{} histories", parts_.size()));
    return std::move(builder).finish();
  }

  const std::vector<Part>& parts_;
  const JoinOptions& options_;
  std::map<std::string, std::string> facts_;
  history::ScalarTable lists_;
  std::vector<std::uint32_t> part_of_;  // by transaction of the whole
  std::vector<Interval> times_;         // as recorded
  Joined joined_;
};

}  // namespace

base::Result<std::vector<Part>> read_parts(const std::vector<std::string>& files,
                                           const formats::ReadOptions& options) {
  std::vector<Part> parts;
  for (const auto& file : files) {
    auto history = formats::read(file, options);
    if (!history.ok()) return std::move(history).error();
    if (files.size() > 1 && !history->fact(formats::jepsen::kSetUp).empty()) {
      return base::Error{.message =
                             "found operations that set up (f=init or f=setup), and whether "
                             "they precede the operations of the other files is not known. "
                             "Record them with f=txn",
                         .file = file};
    }
    parts.push_back({file, std::move(history).value()});
  }
  return parts;
}

base::Result<Joined> join(const std::vector<Part>& parts, const JoinOptions& options) {
  return Joiner(parts, options).join();
}

}  // namespace cupel::merge
