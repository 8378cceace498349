// Stream agreement: see the header.
#include "readers/stream_agreement.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "data/formats/jepsen_reader.hpp"
#include "data/formats/stream_operations.hpp"
#include "data/history/operations.hpp"
#include "readers/given_lines.hpp"

namespace cupel::test {

namespace {

using history::History;
using history::OpKind;
using history::SessionId;
using history::TxnId;
using history::TxnStatus;

std::string shown_value(history::ScalarView v) {
  return fmt::format("{}/{}", static_cast<int>(v.kind), v.to_string());
}

// An operation of a committed transaction, or one that writes. `list`: its key is one.
std::string line_of(const history::TransactionSource& source, const history::Operations& all,
                    const history::Operations::Operation& op) {
  const bool list = op.kind != OpKind::kRangeRead && source.is_list(op.key);
  const auto value = [&](const history::Value& v) { return shown_value(all.view(v)); };
  const std::string key = op.kind == OpKind::kRangeRead ? "" : shown_value(source.key(op.key));
  switch (op.kind) {
    case OpKind::kRead:
    case OpKind::kListRead: {
      if (!op.known) return "read " + key + " ?";
      if (!list) return "read " + key + " " + value(op.value);
      std::string text = "read " + key + " [";
      if (op.kind == OpKind::kListRead) {
        for (const auto& element : all.elements(op)) text += value(element) + " ";
      }
      return text + "]";
    }
    case OpKind::kRangeRead: {
      std::string text = "range " + value(op.value) + " " + value(op.other);
      for (const auto& entry : all.entries(op)) {
        text += " " + shown_value(source.key(entry.key)) + "=" + value(entry.value);
      }
      return text;
    }
    case OpKind::kCompareAndSet:
      return fmt::format("cas {} {} {} {}", key, value(op.value), value(op.other), op.succeeded);
    default:
      return fmt::format("{} {} {}", history::to_string(op.kind), key, value(op.value));
  }
}

std::string line_of(const History& h, const history::Operation& op) {
  const auto value = [&](history::ValueId v) { return shown_value(h.value(v)); };
  const std::string key = op.kind == OpKind::kRangeRead ? "" : shown_value(h.key(op.key));
  switch (op.kind) {
    case OpKind::kRead:
      return "read " + key + " " + (op.value.valid() ? value(op.value) : "?");
    case OpKind::kListRead: {
      if (!h.list_known(op)) return "read " + key + " ?";
      std::string text = "read " + key + " [";
      for (const auto element : h.list(op)) text += value(element) + " ";
      return text + "]";
    }
    case OpKind::kRangeRead: {
      const auto range = h.range(op);
      std::string text = "range " + value(range.low) + " " + value(range.high);
      for (const auto& entry : range.entries) {
        text += " " + shown_value(h.key(entry.key)) + "=" + value(entry.value);
      }
      return text;
    }
    case OpKind::kCompareAndSet: {
      const auto cas = h.compare_and_set(op);
      return fmt::format("cas {} {} {} {}", key, value(cas.expected), value(cas.desired),
                         cas.succeeded);
    }
    default:
      return fmt::format("{} {} {}", history::to_string(op.kind), key, value(op.value));
  }
}

bool is_plain_read(OpKind kind) {
  return kind == OpKind::kRead || kind == OpKind::kListRead || kind == OpKind::kRangeRead;
}

// No level asks what a transaction read that did not commit, and the stream may not know what it
// asked for.
template <typename All>
std::string shown_operations(bool committed, const All& all, const auto& line) {
  std::string text;
  for (const auto& op : all) {
    if (committed || !is_plain_read(op.kind)) text += line(op) + "; ";
  }
  return text;
}

std::string compare_operations(const history::TransactionSource& source, const History& h, TxnId t,
                               const history::Operations& operations) {
  const bool committed = h.status(t) == TxnStatus::kCommitted;
  std::vector<history::Operation> all;
  for (auto o = h.first_op(t); o < h.last_op(t); ++o) all.push_back(h.op(history::OpId(o)));
  const auto mine =
      shown_operations(committed, all, [&](const auto& op) { return line_of(h, op); });
  const auto other = shown_operations(
      committed, operations.all(), [&](const auto& op) { return line_of(source, operations, op); });
  if (mine == other) return {};
  return fmt::format("transaction {} is \"{}\", and in the whole \"{}\"", t.raw, other, mine);
}

// Which transaction of the whole is the next of a session, and whether it is the same.
class TransactionMatch {
 public:
  TransactionMatch(const History& h, bool times)
      : h_(h), times_(times), next_(h.session_count(), 0) {
    for (std::size_t s = 0; s < h.session_count(); ++s) {
      sessions_.emplace(h.session_name(SessionId(s)), SessionId(s));
    }
  }

  std::string take(const history::TransactionSource& source,
                   const history::StreamedTransaction& txn) {
    const auto session = sessions_.find(source.session_name(txn.session));
    if (session == sessions_.end()) return "found a session that is not in the history";
    const TxnId t(h_.session_begin(session->second).raw + next_[session->second.index()]++);
    if (t.raw >= h_.session_end(session->second).raw) return "found too many transactions";
    const auto differs = [&](const char* what, auto streamed, auto whole) {
      return fmt::format("the {} of {} is {}, and in the whole {}", what, t.raw, streamed, whole);
    };
    if (h_.status(t) != txn.status)
      return differs("status", static_cast<int>(txn.status), static_cast<int>(h_.status(t)));
    if (h_.label(t) != txn.label) return differs("label", txn.label, h_.label(t));
    if (times_ && h_.invoke(t) != txn.invoke)
      return differs("invocation", txn.invoke, h_.invoke(t));
    if (times_ && txn.status == TxnStatus::kCommitted && h_.complete(t) != txn.complete)
      return differs("completion", txn.complete, h_.complete(t));
    return compare_operations(source, h_, t, txn.operations);
  }

 private:
  const History& h_;
  const bool times_;
  std::map<std::string, SessionId> sessions_;
  std::vector<std::uint32_t> next_;
};

std::string compare_initial(const history::TransactionSource& source, const History& h) {
  std::string of_all = shown_value(history::ScalarView::null());
  std::map<std::string, std::string> of_keys;
  for (const auto& initial : source.initial()) {
    if (initial.of_all) {
      of_all = shown_value(initial.value());
    } else {
      of_keys.insert_or_assign(shown_value(source.key(initial.key)), shown_value(initial.value()));
    }
  }
  for (std::uint32_t k = 0; k < h.key_count(); ++k) {
    const history::KeyId key(k);
    if (h.is_list(key)) continue;
    const auto found = of_keys.find(shown_value(h.key(key)));
    const auto& streamed = found == of_keys.end() ? of_all : found->second;
    const auto whole = shown_value(h.value(h.initial_value(key)));
    if (streamed != whole) {
      return fmt::format("the initial value of {} is {}, and in the whole {}",
                         shown_value(h.key(key)), streamed, whole);
    }
  }
  return {};
}

}  // namespace

bool leaves_to_the_whole(const base::Error& refusal) {
  return refusal.message.ends_with(formats::kNeedsTheWhole);
}

bool has_unsaid_write(const base::Error& refusal) {
  return refusal.message.find("nor all that it wrote") != std::string::npos;
}

StreamComparison compare_stream(history::TransactionSource& source, const History& h, bool times) {
  std::vector<history::StreamedTransaction> all;
  for (history::StreamedTransaction txn;; all.push_back(std::exchange(txn, {}))) {
    const auto more = source.next(txn);
    if (!more.ok() && leaves_to_the_whole(more.error())) return {.refused = more.error()};
    if (!more.ok()) return {.difference = "stream: refused only here: " + more.error().to_string()};
    if (!*more) break;
  }
  if (all.size() != h.txn_count())
    return {.difference = "stream: found other transactions than in the whole"};
  TransactionMatch match(h, times);
  for (auto& txn : all) {
    std::string wrong = match.take(source, txn);
    if (!wrong.empty()) return {.difference = "stream: " + wrong};
  }
  if (auto wrong = compare_initial(source, h); !wrong.empty())
    return {.difference = "stream: " + wrong};
  return {};
}

namespace {

base::Result<History> read_whole(std::string_view text) {
  return formats::read_jepsen(text, "input", 1);
}

std::string compare_refusal(std::string_view text, const GivenLines& lines,
                            const base::Error& refusal) {
  if (leaves_to_the_whole(refusal)) return {};
  const auto message = "refused only as a stream: " + refusal.to_string();
  if (read_whole(text).ok()) return message;
  return read_whole(text.substr(0, lines.given())).ok() ? "too early: " + message : "";
}

// The reader of whole files has no times where an operation lacks its invocation, or a time. The
// stream, which may have read on before it sees this, keeps the places of the lines where the
// operation did not commit.
bool has_times(const History& h) {
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    if (h.invoke(TxnId(t)) == history::kNoTime) return false;
  }
  return true;
}

}  // namespace

std::string compare_maps(std::string_view text) {
  const auto whole = read_whole(text);
  GivenLines lines(text);
  if (!whole.ok()) {
    for (history::StreamedTransaction txn;;) {
      const auto more = lines.next(txn);
      if (!more.ok()) return compare_refusal(text, lines, more.error());
      if (!*more) break;
    }
    // A stream waits for a transaction that may say later what it wrote, and accuses nobody.
    const bool waits = has_unsaid_write(whole.error());
    return lines.any_client() && !waits ? "refused only as a file: " + whole.error().to_string()
                                        : "";
  }
  auto found = compare_stream(lines, *whole, has_times(*whole));
  if (!found.difference.empty()) return std::move(found.difference);
  if (!found.refused && lines.fact("kind") != whole->fact("kind"))
    return fmt::format("the kind is '{}', and in the whole '{}'", lines.fact("kind"),
                       whole->fact("kind"));
  return {};
}

}  // namespace cupel::test
