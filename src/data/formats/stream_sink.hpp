// Stream sink: what a stream of operation maps becomes. A watch (engine/online/stream) and the
// transaction stream (transaction_stream) implement it, op_stream.hpp feeds it.
#pragma once

#include <cstdint>
#include <string>

#include "data/history/history.hpp"
#include "data/history/operations.hpp"
#include "data/history/scalar.hpp"
#include "data/history/streamed.hpp"

namespace cupel::formats {

// Takes what the source says, in its order.
class StreamSink {
 public:
  // The uses of a key, as bits.
  static constexpr std::uint8_t kRegister = 1, kList = 2;

  virtual history::Key key_of(history::ScalarView name) = 0;
  virtual history::ScalarView name_of(history::Key key) = 0;
  // Adds a use; all uses of the key so far.
  virtual std::uint8_t use(history::Key key, std::uint8_t as) = 0;
  virtual void set_default_initial(history::ScalarView value) = 0;
  virtual void set_initial(history::Key key, history::ScalarView value) = 0;
  // Whether an operation of another source has come, so that nothing here can precede all.
  [[nodiscard]] virtual bool has_begun() const = 0;
  // Operations that are initial contents ended at this time. The latest of all sources.
  virtual history::Time note_set_up(history::Time ended) = 0;
  // A session that has not been there before.
  virtual std::uint32_t session(const std::string& name) = 0;
  // `silent`: it may write, and does not say what.
  virtual void begin(std::uint32_t session, history::Moment at, const history::Operations& tried,
                     bool silent) = 0;
  // There was a begin(), at `invoked`. The sink may take `seen` away.
  virtual void end(std::uint32_t session, history::TxnStatus status, history::Moment invoked,
                   history::Moment at, history::Operations& seen) = 0;

 protected:
  ~StreamSink() = default;
};

}  // namespace cupel::formats
