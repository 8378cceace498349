// Stream set-up: the operations of a stream that come before all others and only write. They are
// kept back until another one comes: then they are initial contents or transactions (op_setup.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "data/history/history.hpp"
#include "data/history/operations.hpp"
#include "data/history/state.hpp"
#include "data/history/streamed.hpp"

namespace cupel::formats {

class StreamSetUp {
 public:
  struct Operation {
    std::uint32_t process = 0;
    std::optional<std::uint64_t> invoked_at = {}, ended_at = {};  // places in the source
    history::Moment invoked = {}, ended = {};
    history::TxnStatus status = history::TxnStatus::kIndeterminate;
    history::Operations seen = {};  // once it has ended
    bool is_content = false;        // after end()
  };

  [[nodiscard]] bool is_over() const { return over_; }
  void invoked(std::uint32_t process, std::uint64_t place, history::Moment at);
  // Takes `seen` away.
  void ended(std::uint32_t process, std::uint64_t place, history::Moment at,
             history::TxnStatus status, history::Operations& seen);

  struct End {
    bool others = false;  // another operation of this source has come, and it is the first of all
    history::Time others_begin = history::kNoTime;
    bool has_clock = false;
    // What a process asked for that has not ended. Borrowed.
    std::function<const history::Operations&(std::uint32_t process)> tried;
  };
  // All operations, in the order in which they ended.
  std::vector<Operation> end(const End& how);

  void save(history::StateWriter& out) const;
  void load(history::StateReader& in, std::size_t processes, std::size_t keys);

 private:
  bool over_ = false;
  std::vector<Operation> operations_;
};

}  // namespace cupel::formats
