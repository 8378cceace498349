// Adapter link: see the header.
#include "crdt/workload/adapter_link.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text/excerpt.hpp"
#include "base/text/json.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

// Of a message only where it is from, of a trace not its edits.
Json brief_request(Json question) {
  if (question["f"] == "deliver" || question["f"] == "hear" || question["f"] == "edit")
    question.erase("value");
  return question;
}

}  // namespace

std::optional<Json> AdapterLink::ask(const Json& question) {
  if (failure_) return std::nullopt;
  auto answer = adapter_.program().ask(question);
  if (!answer.ok()) {
    fail(std::move(answer).error());
    return std::nullopt;
  }
  if (const Json threw = answer->value("threw", Json()); threw.is_string())
    note_throw(question, threw.get<std::string>());
  return std::move(*answer);
}

std::optional<Json> AdapterLink::ask_ok(const Json& question) {
  auto answer = ask(question);
  if (answer && (*answer)["type"] != "ok") {
    refuse(question, *answer, ", expected the type \"ok\"");
    return std::nullopt;
  }
  return answer;
}

void AdapterLink::refuse(const Json& question, const Json& answer, std::string_view why) {
  fail(adapter_.program().refused(brief_request(question), answer, why));
}

void AdapterLink::note_throw(const Json& question, const std::string& message) {
  Json request = brief_request(question);
  if (recorded_.throws++ == 0)
    recorded_.first_throw = fmt::format("`{}`: {}", text::dump(request), message);
  if (recorded_.threw.size() == AdapterRecorded::kMostNamed) return;
  std::optional<std::uint32_t> replica;
  if (const Json its = request.value("replica", Json()); its.is_number_unsigned())
    replica = its.get<std::uint32_t>();
  request.erase("replica");
  recorded_.threw.push_back(
      {replica, text::dump(request), text::excerpt(message, text::kLongExcerpt)});
}

}  // namespace cupel::crdt
