// Stream: Jepsen's op maps as they come, one a line, into a window.
//
// It reads what `cupel check` reads of JSON lines (docs/formats/jepsen.md) with the parser and the
// rules of formats (op_pairing.hpp), where nothing is known of later lines. It refuses by name what
// needs the whole file: operations without a process, mutexes, stores of strings.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash_table.hpp"
#include "base/result.hpp"
#include "formats/interpretation.hpp"
#include "formats/jepsen_events.hpp"
#include "formats/op_pairing.hpp"
#include "online/window.hpp"

namespace cupel::online {

// One recorder's lines. Several may feed one window; their sessions do not meet.
class Stream {
 public:
  // `name` for messages. `sessions` before the name of each session: "2:" for the second recorder.
  Stream(Window& window, std::string name, std::string sessions = "",
         formats::Interpretation as = {})
      : window_(window), name_(std::move(name)), prefix_(std::move(sessions)), as_(std::move(as)) {}

  // What is seen of this key from here on counts as unknown. The window has taken nothing yet.
  void mask(history::ScalarView key) { masked_.insert(window_.keys().of(key)); }

  // Whole lines, in the order of the stream. Errors name the line. After one, nothing more.
  base::Status take(std::string_view lines);
  // Nothing more comes.
  void end();

  // Between two calls of take(), with the window's state.
  void save(StateWriter& out) const;
  // Into a new stream, once the window has been loaded.
  void load(StateReader& in);

  // What the header says: "database", "isolation" …
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }
  [[nodiscard]] std::uint64_t events() const { return ordinal_; }
  [[nodiscard]] std::uint64_t lines() const { return lines_; }
  // Whether the ends of transactions are in real time, or in the order of the lines.
  [[nodiscard]] bool has_times() const { return times_ && *times_ != Times::kNone; }
  [[nodiscard]] bool any_client() const { return kind_.has_value(); }
  [[nodiscard]] history::Time latest() const { return latest_; }

 private:
  enum class Kind : std::uint8_t { kTransactions, kRegisters };
  enum class Times : std::uint8_t { kClock, kLineOrder, kNone };
  struct Process {
    std::optional<Session> session;
    formats::jepsen::OpenOperation rules;
  };

  base::Status take(const formats::jepsen::Chunk& chunk, const formats::jepsen::Event& event);
  base::Status header(const formats::jepsen::Chunk& chunk, const formats::jepsen::Event& event);
  base::Status classify(const formats::jepsen::Chunk& chunk, const formats::jepsen::Event& event,
                        bool txn);
  base::Status invoke(const formats::jepsen::Chunk& chunk, const formats::jepsen::Event& event,
                      Process& process);
  base::Status complete(const formats::jepsen::Chunk& chunk, const formats::jepsen::Event& event,
                        Process& process);
  base::Status choose(const Operations& tried, const formats::jepsen::Event& event, bool says,
                      bool txn);
  base::Status timed(const formats::jepsen::Event& event);
  [[nodiscard]] history::Time time_of(const formats::jepsen::Event& event) const;
  Process& process_of(const formats::jepsen::Chunk& chunk, const formats::jepsen::Event& event);
  // `seen`: as a completion says it; else as an invocation tries it.
  base::Status operations(const formats::jepsen::Chunk& chunk, const formats::jepsen::Event& event,
                          bool seen);
  base::Status operation(const formats::jepsen::Chunk& chunk, const formats::jepsen::MicroOp& op,
                         bool seen);
  base::Status read(const formats::jepsen::Chunk& chunk, const formats::jepsen::MicroOp& op,
                    bool seen);
  void note_written(const formats::jepsen::Cell& value);
  void compare_and_set(Key key, const formats::jepsen::Chunk& chunk,
                       const formats::jepsen::Cell& pair, bool succeeded);
  base::Status register_operation(const formats::jepsen::Chunk& chunk,
                                  const formats::jepsen::Event& event, bool seen);
  [[nodiscard]] bool masks_between(history::ScalarView low, history::ScalarView high) const;
  Key key_of(const formats::jepsen::Chunk& chunk, const formats::jepsen::Cell& cell);
  Value value_of(const formats::jepsen::Chunk& chunk, const formats::jepsen::Cell& cell);
  [[nodiscard]] base::Error error(std::string message) const;
  void note_invocation(history::Time time);
  static void save_process(StateWriter& out, const Process& process);
  static Process load_process(StateReader& in, std::size_t sessions);

  Window& window_;
  const std::string name_, prefix_;
  const formats::Interpretation as_;
  std::map<std::string, std::string> metadata_;
  std::uint64_t ordinal_ = 0;  // of the next op map
  std::uint64_t lines_ = 0;    // before those that are read
  std::optional<Kind> kind_;
  std::optional<bool> independent_;  // registers: values are [key value]
  bool collection_written_ = false;
  std::optional<Times> times_;
  base::HashMap<std::int64_t, Process> numbered_;
  base::HashMap<std::string, Process> named_;
  base::HashSet<Key> masked_;
  Operations operations_;
  history::Time latest_ = history::kNoTime;
  history::Time backward_ = 0;  // how far behind the latest time an invocation came
  std::uint64_t invocations_ = 0;
};

}  // namespace cupel::online
