// File feed: the transactions of a history that has ended, begun and ended in a window in the order
// of their times, whatever their order in the file.
//
// A block is read at a time; then all begins and ends come that are before the earliest invocation
// that is still to be read (file_plan.hpp). Clocks that may be off by `drift` count: a write is
// begun before any read that may be of it ends.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "base/result.hpp"
#include "data/history/streamed.hpp"
#include "engine/online/file_plan.hpp"
#include "engine/online/window.hpp"

namespace cupel::online {

class FileFeed {
 public:
  // All are borrowed. The source stands at its beginning, and the plan is of it.
  // `evidence`: the window leaves evidence for who reads the source in its own order.
  FileFeed(Window& window, history::TransactionSource& source, const FilePlan& plan,
           history::Time drift, bool evidence = false);

  // Reads a block more. False: all have ended in the window.
  base::Result<bool> step();
  // How many transactions were read and have not ended in the window.
  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  // How many of a session of the file have begun in the window.
  [[nodiscard]] std::uint32_t begun(std::uint32_t session) const {
    return session < lanes_.size() ? lanes_[session].begun : 0;
  }

 private:
  struct Waiting {
    std::uint64_t number;
    history::StreamedTransaction txn;
  };
  struct Lane {
    std::map<std::uint32_t, Waiting> waiting;  // by place in the session
    std::uint32_t read = 0, begun = 0;
    bool open = false;
    std::optional<Session> session;  // of the window
  };
  // When, whether it ends, the session of the file.
  using Event = std::tuple<history::Time, bool, std::uint32_t>;

  void begin_history();
  Lane& lane(std::uint32_t session);
  void hold(std::uint32_t session, std::uint32_t place, Waiting waiting);
  void note_read();
  void let_in_late(history::Time before);
  void emit(history::Time before);
  void begin(Lane& lane, std::uint32_t session);
  void end(Lane& lane, std::uint32_t session);
  void know_key(Key key);
  void note_keys(const Operations& operations);
  [[nodiscard]] history::Time when_begun(const history::StreamedTransaction& txn) const;

  Window& window_;
  history::TransactionSource& source_;
  const FilePlan& plan_;
  const bool evidence_;
  history::Fold digest_;
  std::uint64_t digest_counted_ = 0, counted_ = 0;  // of those that were not aborted
  const history::Time slack_;                       // a begin comes so much earlier
  bool begun_ = false;
  std::uint64_t read_ = 0;
  std::size_t waiting_ = 0;
  std::vector<Lane> lanes_;
  std::set<Event> events_;
  std::vector<std::uint64_t> late_;  // numbers of those held aside, the last to begin first
  history::StreamedTransaction txn_;
  Operations tried_;
};

}  // namespace cupel::online
