// Adapter link: the requests to an adapter and their answers. After a failure, which is kept,
// nothing more is asked. It records what the library throws.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "crdt/workload/adapter.hpp"
#include "crdt/workload/adapter_run.hpp"

namespace cupel::crdt {

class AdapterLink {
 public:
  using Json = nlohmann::json;

  AdapterLink(Adapter& adapter, AdapterRecorded& recorded)
      : adapter_(adapter), recorded_(recorded) {}

  // Nothing: it failed.
  std::optional<Json> ask(const Json& question);
  // The answer to a request that is no operation.
  std::optional<Json> ask_ok(const Json& question);

  // Empty: what was recorded before an exception of the library counts.
  [[nodiscard]] std::optional<base::Error> failure() const {
    return ends_by_throw_ ? std::nullopt : failure_;
  }
  [[nodiscard]] bool has_failed() const { return failure_.has_value(); }
  void fail(base::Error error) { failure_ = std::move(error); }
  // The failure that follows is an exception of the library.
  void end_by_throw() { ends_by_throw_ = true; }
  // The answer is not what was expected.
  void refuse(const Json& question, const Json& answer, std::string_view why);

  [[nodiscard]] const Library& library() const { return adapter_.library(); }
  [[nodiscard]] Program& program() { return adapter_.program(); }

 private:
  void note_throw(const Json& question, const std::string& message);

  Adapter& adapter_;
  AdapterRecorded& recorded_;
  std::optional<base::Error> failure_;
  bool ends_by_throw_ = false;
};

}  // namespace cupel::crdt
