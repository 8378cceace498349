// Near write: see the header. Linear in the operations.
#include "engine/explain/why/near_write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/text.hpp"
#include "data/history/scalar.hpp"

namespace cupel::explain {

namespace {

using history::ScalarKind;
using history::ScalarView;

std::string_view kind_word(ScalarView value) {
  switch (value.kind) {
    case ScalarKind::kNull:
      return "null";
    case ScalarKind::kInteger:
      return "an integer";
    case ScalarKind::kString:
      return "a string";
    case ScalarKind::kKeyword:
      return "a keyword";
    case ScalarKind::kLiteral:
      break;
  }
  return "a literal";
}

// Without type, case and blanks; 5.0 is 5.
std::string bare_text(ScalarView value) {
  if (value.kind == ScalarKind::kNull) return {};
  auto text =
      value.kind == ScalarKind::kInteger ? std::to_string(value.integer) : std::string(value.text);
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto begin = text.find_first_not_of(kBlanks);
  if (begin == std::string::npos) return {};
  text = text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return base::to_lower(text);
}

}  // namespace

std::string near_write(const history::History& history, history::ScalarView key,
                       history::ScalarView value, std::string_view name) {
  const auto text = bare_text(value);
  for (std::uint32_t o = 0; o < history.op_count(); ++o) {
    const auto op = history.op(history::OpId(o));
    if (op.kind == history::OpKind::kRangeRead || op.kind == history::OpKind::kRead ||
        op.kind == history::OpKind::kListRead || !(history.key(op.key) == key))
      continue;
    const auto id =
        op.kind == history::OpKind::kCompareAndSet ? history.compare_and_set(op).desired : op.value;
    const auto written = history.value(id);
    if (written == value || bare_text(written) != text) continue;
    const auto types = written.kind == value.kind
                           ? std::string("in another spelling")
                           : fmt::format("{} and not {}", kind_word(written), kind_word(value));
    const char* quote = written.kind == ScalarKind::kString ? "\"" : "";
    return fmt::format(
        " {}{}{} was written to {}: {}. If this is the value, record it in one form.", quote,
        written.to_string(), quote, name, types);
  }
  return {};
}

}  // namespace cupel::explain
