// Op stream: operation maps as they come, one a line in JSON or EDN, as the transactions of
// sessions. It keeps the rules that need no later line; a source that needs the whole file is
// refused with the reason.
//
// Whoever reads on without a History takes it from here: a watch (engine/online/stream) and the
// transaction stream of a check in windows and of `cupel verify` (transaction_stream). Pairing
// (op_interpreter), the kind of the workload (op_kinds) and header lines (op_header) are those of
// the reader of whole files. At every line the stream refuses what that reader refuses of a file
// that ends there.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "data/formats/interpretation.hpp"
#include "data/formats/jepsen_events.hpp"
#include "data/formats/op_header.hpp"
#include "data/formats/op_interpreter.hpp"
#include "data/formats/op_kinds.hpp"
#include "data/formats/stream_kinds.hpp"
#include "data/formats/stream_operations.hpp"
#include "data/formats/stream_set_up.hpp"
#include "data/formats/stream_sink.hpp"
#include "data/history/operations.hpp"
#include "data/history/state.hpp"
#include "data/history/streamed.hpp"

namespace cupel::formats {

class OpStream : private jepsen::Contents {
 public:
  using Sink = StreamSink;
  static constexpr std::uint8_t kRegister = Sink::kRegister, kList = Sink::kList;

  // `name`: of the source, for messages. The sink is borrowed.
  OpStream(Sink& sink, std::string name, Interpretation as)
      : sink_(sink), name_(std::move(name)), interpreter_(std::move(as)) {}

  // Whole lines, when those before them have been read; borrowed until then.
  void give(std::string_view lines);
  // Nothing more comes.
  base::Status finish();
  // Reads the next map. False: all lines that were given have been read. After an error, nothing
  // more.
  base::Result<bool> step();

  // At the map at hand.
  [[nodiscard]] base::Error error(std::string message) const;
  // What the source says of itself: of its header lines, and "kind", "ignored", "times".
  [[nodiscard]] std::string fact(const std::string& name) const;
  [[nodiscard]] const std::map<std::string, std::string>& facts() const { return facts_; }
  [[nodiscard]] std::uint64_t maps() const { return ordinal_; }
  [[nodiscard]] std::uint64_t lines() const { return lines_; }
  // Whether moments are those of a clock, or places of lines; none: nothing has come.
  [[nodiscard]] std::optional<bool> has_clock() const { return clock_; }
  // An operation of a client whose meaning is known.
  [[nodiscard]] bool any_client() const { return kinds_.any(); }
  // The source has only op maps of a nemesis, or says that nothing happened.
  [[nodiscard]] bool nothing_happened() const;

  // What a process has open.
  struct Process {
    std::optional<std::uint32_t> session;  // none: it has only set up
    std::string name;                      // until it has a session
    history::Moment invoked;
    history::Operations tried;
    std::string read_with;             // the value that a single read was invoked with
    std::optional<jepsen::Said> said;  // of a single operation
    bool holds = false;                // a mutex
  };
  [[nodiscard]] bool is_open(std::uint32_t process) const { return interpreter_.is_open(process); }
  [[nodiscard]] std::size_t process_count() const { return processes_.size(); }
  [[nodiscard]] const Process& process(std::uint32_t number) const { return processes_[number]; }

  // When all lines that were given have been read.
  void save(history::StateWriter& out) const;
  // Into a new stream, whose sink has so many sessions and keys.
  void load(history::StateReader& in, std::size_t sessions, std::size_t keys);

 private:
  using Chunk = jepsen::Chunk;
  using Event = jepsen::Event;
  using Step = jepsen::Interpreter::Step;
  using Refusal = jepsen::Refusal;

  void set_fact(std::string_view name, std::string_view text) override {
    facts_.insert_or_assign(std::string(name), std::string(text));
  }
  void set_sessions(const std::vector<std::string_view>& names) override {
    facts_.try_emplace("sessions", std::to_string(names.size()));
  }
  [[nodiscard]] Refusal may_set_initial() const override;
  void set_default_initial(history::ScalarView value) override { sink_.set_default_initial(value); }
  Refusal set_initial(history::ScalarView key, history::ScalarView value,
                      bool is_register) override;

  Refusal take(const Chunk& chunk, const Event& event);
  Refusal take_operation(const Chunk& chunk, const Event& event, const Step& step,
                         Process& process);
  Refusal note_times(const Event& event);
  [[nodiscard]] history::Moment moment_of(const Event& event) const;
  Refusal invoke(const Chunk& chunk, const Event& event, const Step& step, Process& process);
  Refusal complete(const Chunk& chunk, const Event& event, const Step& step, Process& process);
  std::uint32_t session_of(Process& process);
  // The set-up is over. `others_begin`: when the first other operation was invoked, if there are
  // `others`.
  Refusal end_set_up(bool others, history::Time others_begin);
  void note_open();      // as operations that never ended
  std::uint64_t line();  // of the map at hand
  [[nodiscard]] base::Error refused(std::string message);

  Sink& sink_;
  const std::string name_;
  jepsen::Interpreter interpreter_;
  StreamKinds kinds_{interpreter_.as()};
  StreamOperations operations_{sink_, interpreter_.as()};
  StreamSetUp set_up_;
  std::string_view piece_;
  std::vector<Chunk> chunks_;  // of the piece
  std::size_t chunk_ = 0, event_ = 0;
  std::uint64_t byte_ = 0;                         // of the piece, where the map at hand is
  std::uint64_t lines_ = 0, ordinal_ = 0;          // before the piece; of the next map
  std::uint64_t counted_ = 0, counted_lines_ = 0;  // bytes of the piece, and their lines
  std::optional<bool> edn_;
  std::optional<bool> clock_;
  std::deque<Process> processes_;
  std::map<std::string, std::string> facts_;
  history::Operations seen_;
};

}  // namespace cupel::formats
