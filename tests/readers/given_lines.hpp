// Given lines: a text as the transactions of an op stream (data/formats/op_stream.hpp) that gets
// one line at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/formats/op_stream.hpp"
#include "data/formats/stream_sink.hpp"
#include "data/history/scalar.hpp"
#include "data/history/streamed.hpp"

namespace cupel::test {

class GivenLines final : public history::TransactionSource, private formats::StreamSink {
 public:
  explicit GivenLines(std::string_view text) : rest_(text) {}

  base::Result<bool> next(history::StreamedTransaction& out) override {
    while (ready_.empty()) {
      const auto more = stream_.step();
      if (!more.ok()) return more;
      if (*more) continue;
      if (over_) return next_open(out);
      if (rest_.empty()) {
        over_ = true;
        if (auto finished = stream_.finish(); !finished.ok()) return std::move(finished).error();
        continue;
      }
      const auto line = rest_.substr(
          0, rest_.find('\n') == std::string_view::npos ? rest_.size() : rest_.find('\n') + 1);
      rest_.remove_prefix(line.size());
      given_ += line.size();
      stream_.give(line);
    }
    out = std::move(ready_.front());
    ready_.pop_front();
    return true;
  }

  [[nodiscard]] const std::vector<Initial>& initial() const override { return initial_; }
  [[nodiscard]] std::size_t key_count() const override { return uses_.size(); }
  [[nodiscard]] history::ScalarView key(history::Key key) const override { return keys_.at(key); }
  [[nodiscard]] bool is_list(history::Key key) const override { return (uses_[key] & kList) != 0; }
  [[nodiscard]] const std::string& session_name(std::uint32_t session) const override {
    return sessions_[session];
  }
  [[nodiscard]] std::string fact(const std::string& name) const override {
    return stream_.fact(name);
  }
  // Bytes of the text: up to the line at hand.
  [[nodiscard]] std::size_t given() const { return given_; }
  [[nodiscard]] bool any_client() const { return stream_.any_client(); }

 private:
  // What never ended.
  base::Result<bool> next_open(history::StreamedTransaction& out) {
    while (next_open_ < stream_.process_count() && !stream_.is_open(next_open_)) ++next_open_;
    if (next_open_ == stream_.process_count()) return false;
    const auto& process = stream_.process(next_open_++);
    out = {.session = process.session.value_or(0),
           .status = history::TxnStatus::kIndeterminate,
           .invoke = process.invoked.time,
           .label = process.invoked.label,
           .operations = process.tried};
    return true;
  }

  history::Key key_of(history::ScalarView name) override {
    const auto key = keys_.intern(name);
    if (key >= uses_.size()) uses_.resize(key + 1, 0);
    return key;
  }
  history::ScalarView name_of(history::Key key) override { return keys_.at(key); }
  std::uint8_t use(history::Key key, std::uint8_t as) override { return uses_[key] |= as; }
  void set_default_initial(history::ScalarView value) override {
    initial_.push_back({true, 0, value.kind, value.integer, std::string(value.text)});
  }
  void set_initial(history::Key key, history::ScalarView value) override {
    initial_.push_back({false, key, value.kind, value.integer, std::string(value.text)});
  }
  [[nodiscard]] bool has_begun() const override { return false; }
  history::Time note_set_up(history::Time ended) override {
    return set_up_ended_ = std::max(set_up_ended_, ended);
  }
  std::uint32_t session(const std::string& name) override {
    sessions_.push_back(name);
    return static_cast<std::uint32_t>(sessions_.size() - 1);
  }
  void begin(std::uint32_t /*session*/, history::Moment /*at*/,
             const history::Operations& /*tried*/, bool /*silent*/) override {}
  void end(std::uint32_t session, history::TxnStatus status, history::Moment invoked,
           history::Moment at, history::Operations& seen) override {
    const bool committed = status == history::TxnStatus::kCommitted;
    ready_.push_back({.session = session,
                      .status = status,
                      .invoke = invoked.time,
                      .complete = committed ? at.time : history::kNoTime,
                      .label = at.label,
                      .operations = std::move(seen)});
    seen = {};
  }

  std::string_view rest_;
  std::size_t given_ = 0;
  bool over_ = false;
  std::deque<history::StreamedTransaction> ready_;
  std::vector<Initial> initial_;
  history::ScalarTable keys_;
  std::vector<std::uint8_t> uses_;  // by key
  std::deque<std::string> sessions_;
  std::uint32_t next_open_ = 0;
  history::Time set_up_ended_ = history::kNoTime;
  formats::OpStream stream_{*this, "input", {}};
};

}  // namespace cupel::test
