// Recorder: the requests of a run and the history that their answers make.
//
//   Recorder recorder(requests, Arguments::kAsRequested);
//   const Operation op = recorder.next(0);
//   const auto question = recorder.question(op);             // {"f":"add","key":"x","value":"e1"}
//   recorder.record(op, question, {{"type", "ok"}});         // a line of lines()
//
// A history may have several objects, each of a type of its own and with keys of its own. The key
// of an operation counts through the keys of all objects.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "crdt/model/replicated_type.hpp"
#include "crdt/workload/generate.hpp"

namespace cupel::crdt {

// What an update did: what was requested, or what the `value` of the answer says.
enum class Arguments : std::uint8_t { kAsRequested, kAsAnswered };

// One of several objects of a history.
struct RecordedObject {
  std::string name;
  NamedType type;
};

class Recorder {
 public:
  // Without objects it is one, of the type of the requests and without a name.
  Recorder(const Requests& requests, Arguments arguments,
           const std::vector<RecordedObject>& objects = {});

  [[nodiscard]] Operation next(std::uint32_t replica);
  [[nodiscard]] Operation read_of(std::uint32_t replica, std::uint32_t key) const;
  [[nodiscard]] base::Random& random() { return objects_[0].requester->random(); }
  // As requests name them, each another.
  [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }
  [[nodiscard]] const NamedType& type_of(std::uint32_t key) const {
    return objects_[object_of(key)].type;
  }
  // Empty: it is the only one.
  [[nodiscard]] const std::string& object_name(std::uint32_t key) const {
    return objects_[object_of(key)].name;
  }
  // As the lines name it, in its object.
  [[nodiscard]] const std::string& key_in_object(std::uint32_t key) const {
    return objects_[object_of(key)].history->keys[key % keys_of_each_];
  }
  // By object: what the operations refer to; those of another recorder with the same requests can
  // be used here.
  [[nodiscard]] std::vector<History> names() const;
  void use_names(const std::vector<History>& names);
  [[nodiscard]] std::uint64_t line_count() const { return lines_.size(); }

  [[nodiscard]] nlohmann::json question(const Operation& op) const;
  struct Outcome {
    std::string update = {};                // its id, if it is an update that happened
    std::optional<std::string> wrong = {};  // the type cannot return this
  };
  // A read without an answer and an update that failed are no line.
  Outcome record(const Operation& op, const nlohmann::json& question, const nlohmann::json& answer);
  // The process of the replica in the lines. After a crash it is a new one.
  [[nodiscard]] const nlohmann::json& process(std::uint32_t replica) const {
    return processes_[replica];
  }
  void begin_again(std::uint32_t replica);
  // An update whose line is known: its id.
  std::string update(std::uint32_t replica, std::string line);
  // A line of the context (docs/reference/formats/crdt.md#context).
  void note(const nlohmann::json& line);

  [[nodiscard]] std::string lines(bool with_context = true) const;

 private:
  struct Object {
    std::string name;  // empty: it is the only one
    NamedType type;
    std::unique_ptr<History> history;  // of requests: names only
    std::unique_ptr<Requester> requester = nullptr;
    // Arrays: the characters that requests to a replica may name, by replica and key.
    std::vector<std::vector<std::vector<std::uint32_t>>> visible = {};
  };

  // The object of a key, and the operation with the object's own key.
  [[nodiscard]] std::size_t object_of(std::uint32_t key) const { return key / keys_of_each_; }
  [[nodiscard]] Operation own(const Operation& op) const;
  std::string next_id(std::uint32_t replica);
  static void learn(Object& object, const Operation& op, const History& understood, bool certain);

  using Clock = std::chrono::steady_clock;

  Arguments arguments_;
  std::uint32_t keys_of_each_;
  std::vector<Object> objects_;
  std::vector<std::string> keys_;
  Clock::time_point began_ = Clock::now();
  std::vector<nlohmann::json> processes_;            // by replica
  std::vector<std::uint64_t> begun_;                 // by replica: how often
  std::vector<std::uint64_t> updates_;               // by replica, of its process
  std::vector<std::pair<bool, std::string>> lines_;  // is it of the context?
};

}  // namespace cupel::crdt
