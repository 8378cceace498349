// Canonical text: see the header. Times are counted from the earliest one, so that they are
// small and not negative.
#include "engine/certify/canonical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "data/history/naming.hpp"

namespace cupel::certify {

namespace {

using history::OpKind;
using history::Time;
using history::TxnStatus;

constexpr std::uint64_t kFirstNumbered = std::uint64_t{1} << 60;
constexpr std::size_t kChunk = 1 << 16;

class Writer {
 public:
  Writer(const History& history, const Sink& sink) : h_(history), sink_(sink) {}

  std::optional<std::string> run() {
    if (auto wrong = find_epoch()) return wrong;
    comments();
    put("H {} {}\n", number(h_.null_value()), number(h_.default_initial_value()));
    for (const auto& [key, value] : h_.initial_overrides())
      put("I {} {}\n", key.raw, number(value));
    ranges();
    for (std::uint32_t i = 0; i < h_.txn_count(); ++i) transaction(TxnId(i));
    sink_(text_);
    return std::nullopt;
  }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    if (text_.size() < kChunk) return;
    sink_(text_);
    text_.clear();
  }
  [[nodiscard]] std::uint64_t number(ValueId value) const { return value_number(h_, value); }

  std::optional<std::string> find_epoch() {
    Time last = std::numeric_limits<Time>::min();
    bool any = false;
    for (std::uint32_t i = 0; i < h_.txn_count(); ++i) {
      for (const Time t : {h_.invoke(TxnId(i)), h_.complete(TxnId(i))}) {
        if (t == history::kNoTime) continue;
        epoch_ = any ? std::min(epoch_, t) : t;
        last = std::max(last, t);
        any = true;
      }
    }
    if (!any) return std::nullopt;
    const auto span = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(epoch_);
    if (span <= std::uint64_t{1} << 62) return std::nullopt;
    return std::string("the times of the history span more than 2^62 ns");
  }

  void comments() {
    put("# times are in ns since {}\n", epoch_);
    for (std::uint32_t k = 0; k < h_.key_count(); ++k)
      put("# key {} is {}\n", k, one_line(history::shown_key(h_.key(KeyId(k)))));
    for (std::uint32_t s = 0; s < h_.session_count(); ++s)
      put("# session {} is {}\n", s, one_line(history::session_text(h_, history::SessionId(s))));
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      if (h_.label(TxnId(t)) != t)
        put("# transaction {} is {}\n", t, history::transaction_name(h_, TxnId(t)));
    }
    for (std::uint32_t v = 0; v < h_.value_count(); ++v) {
      if (number(ValueId(v)) < kFirstNumbered) continue;
      put("# value {} is {}\n", number(ValueId(v)), one_line(h_.value(ValueId(v)).to_string()));
    }
  }
  static std::string one_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return text;
  }

  [[nodiscard]] std::string time(Time t) const {
    if (t == history::kNoTime) return "-";
    return std::to_string(static_cast<std::uint64_t>(t) - static_cast<std::uint64_t>(epoch_));
  }

  // A range read that returned nothing may have no line of its own.
  void ranges() {
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      if (h_.status(TxnId(t)) == TxnStatus::kAborted) continue;
      for (auto i = h_.first_op(TxnId(t)); i < h_.last_op(TxnId(t)); ++i) {
        if (h_.op(OpId(i)).kind == OpKind::kRangeRead) put("R {}\n", i);
      }
    }
  }

  void transaction(TxnId t) {
    const auto status = h_.status(t);
    put("T {} {} {} {} {}\n", t.raw, h_.session(t).raw,
        status == TxnStatus::kCommitted ? 'C'
        : status == TxnStatus::kAborted ? 'A'
                                        : 'I',
        time(h_.invoke(t)), time(h_.complete(t)));
    for (const OpLine& line : lines_of(h_, t)) {
      put("O {} {} ", line.op.raw, line.key.raw);
      change(line);
      seen(line);
    }
  }
  void change(const OpLine& line) {
    if (!line.writes) return put("- ");
    const auto version = certify::version(h_, line.op);
    const char kind = h_.op(line.op).kind == OpKind::kAppend ? 'a' : version.deleted ? 'd' : 'w';
    put("{} {} ", kind, number(version.value));
  }
  void seen(const OpLine& line) {
    if (!line.seen) return put("-\n");
    switch (line.seen->what) {
      case Seen::kValue:
        return put("= {}\n", number(line.seen->value));
      case Seen::kAbsence:
        return put("_\n");
      case Seen::kOther:
        return put("! {}\n", number(line.seen->value));
      case Seen::kList:
        put("[");
        for (const ValueId v : line.seen->list) put(" {}", number(v));
        return put("\n");
    }
  }

  const History& h_;
  const Sink& sink_;
  Time epoch_ = 0;
  std::string text_;
};

}  // namespace

std::vector<OpLine> lines_of(const History& h, TxnId txn) {
  std::vector<OpLine> lines;
  for (auto i = h.first_op(txn); i < h.last_op(txn); ++i) {
    const auto op = h.op(OpId(i));
    const auto before = lines.size();
    const bool writes = certify::writes(h, op);
    // Of an aborted transaction it does not matter what it read.
    if (h.status(txn) != TxnStatus::kAborted) {
      for_each_seen(h, txn, OpId(i), [&](KeyId key, const Seen& seen) {
        lines.push_back({OpId(i), key, seen, writes});
      });
    }
    if (lines.size() == before && op.kind != OpKind::kRangeRead)
      lines.push_back({OpId(i), op.key, std::nullopt, writes});
  }
  return lines;
}

std::uint64_t value_number(const History& history, ValueId value) {
  if (!value.valid()) return kFirstNumbered + ValueId::kNoneRaw;
  const auto scalar = history.value(value);
  if (scalar.kind == history::ScalarKind::kInteger && scalar.integer >= 0 &&
      static_cast<std::uint64_t>(scalar.integer) < kFirstNumbered)
    return static_cast<std::uint64_t>(scalar.integer);
  return kFirstNumbered + value.raw;
}

std::optional<std::string> write_canonical(const History& history, const Sink& sink) {
  return Writer(history, sink).run();
}

}  // namespace cupel::certify
