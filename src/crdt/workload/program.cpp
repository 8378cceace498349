// Program: see the header.
#include "crdt/workload/program.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/budget.hpp"
#include "base/text/excerpt.hpp"
#include "base/text/json.hpp"

namespace cupel::crdt {

namespace {

using base::Line;
using base::Seconds;
using Json = nlohmann::json;

std::string long_excerpt(std::string_view output) {
  return text::excerpt(output, text::kLongExcerpt);
}

}  // namespace

base::Result<Program> Program::start(std::string name, base::ProcessOptions options,
                                     double timeout_seconds) {
  options.input = base::Stream::pipe();
  options.output = base::Stream::pipe();
  options.errors = base::Stream::inherited();
  auto process = base::Process::start(options);
  if (!process.ok()) return std::move(process).error();
  return Program(std::move(name), std::move(*process), timeout_seconds);
}

base::Error Program::error(const std::string& what) const {
  return {.message = fmt::format("{} {}", name_, what)};
}

base::Error Program::no_answer(const Line& line, const std::string& question) {
  switch (line.kind) {
    case Line::Kind::kEnd: {
      const auto status = process_.wait(Seconds(1));
      return error(fmt::format("{} and did not answer `{}`",
                               status ? status->to_string() : "closed its output", question));
    }
    case Line::Kind::kTooLong:
      return error(fmt::format("answered `{}` with a line longer than {} MiB", question,
                               base::kLongestLine >> 20));
    default:
      return error(fmt::format("did not answer `{}` in {} s", question, timeout_.count()));
  }
}

base::Result<Json> Program::ask(const Json& question) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const auto sent_line = text::dump(question);
  const auto asked = long_excerpt(sent_line);
  if (const auto sent = process_.write_line(sent_line, timeout_); !sent.ok()) {
    const auto status = process_.wait(Seconds(1));
    return error(status ? fmt::format("{} and did not take `{}`", status->to_string(), asked)
                        : fmt::format("did not take `{}`: {}", asked, sent.error().message));
  }
  const auto line = process_.read_line(timeout_);
  ++lines_;
  if (line.kind != Line::Kind::kLine) return no_answer(line, asked);
  const auto beyond = text::beyond_bounds(line.text);
  Json answer = beyond ? Json() : Json::parse(line.text, nullptr, false);
  if (answer.is_object() && answer.contains("type") &&
      (answer["type"] == "ok" || answer["type"] == "fail" || answer["type"] == "info"))
    return answer;
  return error(
      fmt::format("answered `{}` with line {} of its output, `{}`{}; expected a JSON "
                  "object with the `type` \"ok\", \"fail\" or \"info\"",
                  asked, lines_, long_excerpt(line.text), beyond ? ": " + *beyond : ""));
}

base::Error Program::refused(const Json& question, const Json& answer, std::string_view why) const {
  return error(fmt::format("answered `{}` with line {} of its output, `{}`{}",
                           long_excerpt(text::dump(question)), lines_,
                           long_excerpt(text::dump(answer)), why));
}

void Program::close() {
  process_.close_input();
  if (!process_.wait(Seconds(1))) process_.stop(Seconds(1));
}

}  // namespace cupel::crdt
