// Program: a child process that answers each line of JSON with one line of JSON.
//
//   auto program = Program::start("replica 0", {.arguments = {"sh", "-c", "./replica"}}, 10);
//   program->ask({{"f", "read"}, {"key", "x"}});  // {"type":"ok","value":["e1"]}
//
// The protocol is in docs/reference/crdt.md#run. Errors begin with the name and say which question
// they are about.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/process.hpp"
#include "base/result.hpp"

namespace cupel::crdt {

class Program {
 public:
  // The three streams of the options are set here; standard error is ours.
  static base::Result<Program> start(std::string name, base::ProcessOptions options,
                                     double timeout_seconds);

  // An object with the `type` "ok", "fail" or "info". Errors: it died, did not answer in time, or
  // answered otherwise.
  base::Result<nlohmann::json> ask(const nlohmann::json& question);
  // The error of an answer that was not expected.
  [[nodiscard]] base::Error refused(const nlohmann::json& question, const nlohmann::json& answer,
                                    std::string_view why) const;
  // Closes its input; ends it if it does not exit by itself.
  void close();

 private:
  Program(std::string name, base::Process process, double timeout_seconds)
      : name_(std::move(name)), process_(std::move(process)), timeout_(timeout_seconds) {}
  [[nodiscard]] base::Error error(const std::string& what) const;
  [[nodiscard]] base::Error no_answer(const base::Line& line, const std::string& question);

  std::string name_;
  base::Process process_;
  base::Seconds timeout_;
  std::uint64_t lines_ = 0;  // of its output
};

}  // namespace cupel::crdt
