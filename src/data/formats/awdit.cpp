// awdit text. Sessions and transactions come whole and in order, so the scanner
// feeds the builder directly.
#include "data/formats/awdit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ostream>

#include "data/formats/input.hpp"
#include "data/formats/integer_registers.hpp"
#include "data/formats/lost_facts.hpp"
#include "data/history/builder.hpp"

namespace cupel::formats {

using namespace history;

namespace {

constexpr std::size_t kRuleLength = 5;  // what AWDIT writes; three or more are read

bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

bool is_rule(std::string_view text, char of) {
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text.size() >= 3 && text.find_first_not_of(of) == text.npos;
}

// The last operation reads what no transaction wrote, and what is not the initial value.
bool ends_with_read_of_nobody(const History& h) {
  const auto last = h.op(OpId(h.op_count() - 1));
  if (last.kind != OpKind::kRead || h.initial_value(last.key) == last.value) return false;
  for (std::uint32_t i = 0; i < h.op_count(); ++i) {
    const auto op = h.op(OpId(i));
    if (op.kind == OpKind::kWrite && op.key == last.key && op.value == last.value) return false;
  }
  return true;
}

}  // namespace

Match recognize_awdit(std::string_view bytes) {
  const auto head = bytes.substr(0, kHeadBytes);
  const std::size_t at = head.find_first_not_of(" \t\r\n");
  if (at == head.npos) return Match::kNo;
  const auto line = line_at(head, at).text;
  if (is_rule(line, '-') || is_rule(line, '=')) return Match::kBegins;
  if (line.size() < 3 || (line[0] != 'r' && line[0] != 'w') || !blank(line[1])) return Match::kNo;
  return line.find_first_not_of("0123456789- \t\r", 1) == line.npos ? Match::kBegins : Match::kNo;
}

base::Result<History> read_awdit(std::string_view bytes, const std::string& file, Reading reading) {
  HistoryBuilder builder;
  builder.set_default_initial(builder.value(0), /*unless_written=*/true);
  builder.set_metadata("format", "awdit");
  std::uint64_t line = 0;
  std::uint32_t sessions = 0;
  bool in_session = false, in_txn = false;
  const auto enter_session = [&] {
    if (!in_session) builder.session(std::to_string(sessions++));
    in_session = true;
  };
  const auto end_txn = [&] {
    if (in_txn) builder.end();
    in_txn = false;
  };

  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  bool open_line = false;
  while (p != end) {
    ++line;
    reading.step(p);
    const auto skip_blanks = [&] {
      while (p != end && blank(*p)) ++p;
    };
    skip_blanks();
    if (p == end) break;
    if (*p == '\n') {
      ++p;
      continue;
    }
    const auto begin = static_cast<std::size_t>(p - bytes.data());
    const auto malformed = [&] {
      return base::Error{.message = fmt::format(
                             "found {}, expected `r key value`, `w key value` (decimal, at most "
                             "9223372036854775807), ----- or =====",
                             shown(line_at(bytes, begin).text)),
                         .file = file,
                         .line = line};
    };
    if (*p == 'r' || *p == 'w') {
      const bool write = *p++ == 'w';
      std::int64_t key, value;
      if (p == end || !blank(*p)) return malformed();
      skip_blanks();
      if (!scan_integer(p, end, key) || p == end || !blank(*p)) return malformed();
      skip_blanks();
      if (!scan_integer(p, end, value)) return malformed();
      open_line = p == end;
      skip_blanks();
      if (p != end && *p++ != '\n') return malformed();
      if (!in_txn) {
        enter_session();
        builder.begin(SessionId(sessions - 1), TxnStatus::kCommitted,
                      {.label = static_cast<std::uint32_t>(builder.txn_count())});
        in_txn = true;
      }
      const auto k = builder.key(key);
      const auto v = builder.value(value);
      if (write)
        builder.write(k, v);
      else
        builder.read(k, v);
      continue;
    }
    const auto [text, next] = line_at(bytes, begin);
    if (is_rule(text, '-')) {
      end_txn();
    } else if (is_rule(text, '=')) {
      end_txn();
      enter_session();
      in_session = false;
    } else {
      return malformed();
    }
    p = bytes.data() + next;
  }
  end_txn();
  if (sessions == 0) {
    return base::Error{
        .message = "found no operation, expected lines like `w 0 1`, ----- and =====",
        .file = file};
  }
  auto history = std::move(builder).finish();
  if (!history.ok()) return base::Error{.message = history.error().message, .file = file};
  // Files of AWDIT may end without a newline. Of one that was cut, 1 may have been 12.
  if (open_line && ends_with_read_of_nobody(*history)) {
    return base::Error{.message =
                           "found a last line without its end, and nobody wrote what it "
                           "reads, so its number may be cut. End the line if it is whole",
                       .file = file,
                       .line = line};
  }
  return history;
}

base::Status write_awdit(const History& h, std::ostream& out) {
  if (auto fits = fits_integer_registers(h, {.format = "awdit"}); !fits.ok()) return fits;
  if (h.session_count() == 0) {
    return base::Error{
        .message = "the history has no session; awdit text has at least one: write cupel instead"};
  }
  fmt::memory_buffer text;
  const auto flush = [&] {
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    text.clear();
  };
  const auto rule = [&](char of) {
    fmt::format_to(std::back_inserter(text), "{}\n", std::string(kRuleLength, of));
  };
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    const auto first = h.session_begin(SessionId(s)).index(),
               last = h.session_end(SessionId(s)).index();
    for (auto i = first; i < last; ++i) {
      if (i != first) rule('-');
      for (auto o = h.first_op(TxnId(i)); o < h.last_op(TxnId(i)); ++o) {
        const auto op = h.op(OpId(o));
        fmt::format_to(std::back_inserter(text), "{} {} {}\n",
                       op.kind == OpKind::kWrite ? 'w' : 'r', integer_key(h, op.key),
                       integer_value(h, op.key, op.value));
      }
      if (text.size() > (1 << 20)) flush();
    }
    // AWDIT takes an end after the last session for an empty session, and
    // panics: written there only if the session is indeed empty.
    if (s + 1 < h.session_count() || first == last) rule('=');
  }
  flush();
  return base::Ok{};
}

extern constinit const FormatSpec kAwditFormat{
    .format = Format::kAwdit,
    .name = "awdit",
    .description = "`r 1 2`",
    .page = "docs/reference/formats/awdit.md",
    .example = "w 0 1\n-----\nr 0 1\n=====\n",
    .extensions = {{{".awdit"}}},
    .recognize = recognize_awdit,
    .read = [](const Source& source,
               Reading reading) { return read_awdit(source.files[0].bytes, source.path, reading); },
    .write = [](const History& history, std::ostream& out,
                const WriteOptions&) { return write_awdit(history, out); },
    .lost = [](const History& history) { return lost_facts(history, KeptFacts{}); }};

}  // namespace cupel::formats
