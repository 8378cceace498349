// Stream: Jepsen's op maps as they come, one a line, into a window.
//
// data/formats/op_stream.hpp says which maps it can read and what they mean. Here they get their
// place among those of other recorders, and keys whose reads count as unknown.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/hash_table.hpp"
#include "base/result.hpp"
#include "data/formats/interpretation.hpp"
#include "data/formats/op_stream.hpp"
#include "engine/online/window.hpp"

namespace cupel::online {

// One recorder's lines. Several may feed one window; their sessions do not meet.
class Stream : private formats::OpStream::Sink {
 public:
  // `name` for messages. `sessions` before the name of each session: "2:" for the second recorder.
  Stream(Window& window, std::string name, std::string sessions = "",
         formats::Interpretation as = {})
      : window_(window),
        prefix_(std::move(sessions)),
        maps_(*this, std::move(name), std::move(as)) {}

  // What is seen of this key from here on counts as unknown. The window has taken nothing yet.
  void mask(history::ScalarView key) { masked_.insert(window_.keys().of(key)); }

  // Whole lines, in the order of the stream. Errors name the line. After one, nothing more.
  base::Status take(std::string_view lines);
  // Nothing more comes.
  base::Status end();

  // Between two calls of take(), with the window's state.
  void save(StateWriter& out) const;
  // Into a new stream, once the window has been loaded.
  void load(StateReader& in);

  // What the header says: "database", "isolation" …
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return maps_.facts(); }
  // The same, and how the maps were read: "kind", "ignored".
  [[nodiscard]] std::string fact(const std::string& name) const { return maps_.fact(name); }
  [[nodiscard]] std::uint64_t events() const { return maps_.maps(); }
  [[nodiscard]] std::uint64_t lines() const { return maps_.lines(); }
  // Whether the ends of transactions are in real time, or in the order of the lines.
  [[nodiscard]] bool has_times() const { return maps_.has_clock().has_value(); }
  [[nodiscard]] bool any_client() const { return maps_.any_client(); }
  [[nodiscard]] bool nothing_happened() const { return maps_.nothing_happened(); }
  [[nodiscard]] history::Time latest() const { return latest_; }

 private:
  Key key_of(history::ScalarView name) override { return window_.keys().of(name); }
  history::ScalarView name_of(Key key) override { return window_.keys().name(key); }
  std::uint8_t use(Key key, std::uint8_t as) override;
  void set_default_initial(history::ScalarView value) override {
    window_.set_default_initial(value);
  }
  void set_initial(Key key, history::ScalarView value) override { window_.set_initial(key, value); }
  [[nodiscard]] bool has_begun() const override { return window_.session_count() > sessions_; }
  history::Time note_set_up(history::Time ended) override { return window_.note_set_up(ended); }
  std::uint32_t session(const std::string& name) override {
    ++sessions_;
    return window_.session(prefix_ + name);
  }
  void begin(Session session, Moment at, const Operations& tried, bool silent) override;
  void end(Session session, history::TxnStatus status, Moment invoked, Moment at,
           Operations& seen) override;

  const Operations& without_masked(const Operations& all);
  [[nodiscard]] bool masks_between(history::ScalarView low, history::ScalarView high) const;

  Window& window_;
  const std::string prefix_;
  base::HashSet<Key> masked_;
  Operations unmasked_;
  history::Time latest_ = history::kNoTime;
  history::Time backward_ = 0;  // how far behind the latest time an invocation came
  std::uint64_t invocations_ = 0;
  std::size_t sessions_ = 0;  // of this stream
  formats::OpStream maps_;
};

}  // namespace cupel::online
