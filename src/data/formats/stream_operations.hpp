// Stream operations: what one operation map did, as operations on the keys of a sink. Here is what
// jepsen_build does for a whole file, as far as no later line is needed: a key is a list or a
// register from its first use on.
#pragma once

#include <cstdint>
#include <string>

#include "data/formats/interpretation.hpp"
#include "data/formats/jepsen_events.hpp"
#include "data/formats/op_kinds.hpp"
#include "data/formats/op_pairing.hpp"
#include "data/formats/stream_sink.hpp"
#include "data/history/operations.hpp"
#include "data/history/state.hpp"

namespace cupel::formats {

// Appended to the refusal of a source that only the reader of whole files may take.
inline constexpr const char* kNeedsTheWhole =
    "; a later line may decide: `cupel check`, with memory for the whole file, can say more";

// Appended where the first line is no op map: the reader of whole files takes several forms.
inline constexpr const char* kOneMapALine =
    "; expected op maps one a line, as `cupel convert` writes them. `cupel check` reads more forms";

class StreamOperations {
 public:
  // Both are borrowed.
  StreamOperations(StreamSink& sink, const Interpretation& as) : sink_(sink), as_(as) {}

  // Of a map, in `out`. `seen`: as the database answered; else as the client asked. `kinds`:
  // whether a register had a compare-and-set is noted there.
  jepsen::Refusal take(const jepsen::Chunk& chunk, const jepsen::Event& event, bool seen,
                       jepsen::Kinds& kinds, history::Operations& out);
  // What is wrong with a fail or an info on a register, beside what was tried.
  [[nodiscard]] jepsen::Refusal disagreement(const jepsen::Chunk& chunk, const jepsen::Event& event,
                                             const jepsen::Kinds& kinds,
                                             const history::Operations& tried) const;
  // Adds a use of the key. While the source is set up, use() does nothing: a set-up may say that a
  // list is empty.
  jepsen::Refusal use(history::Key key, std::uint8_t as);
  jepsen::Refusal claim(history::Key key, std::uint8_t as);
  history::Key key_of(history::ScalarView name);

  void end_set_up() { setting_up_ = false; }
  // A read may return a collection; of any key.
  void allow_collections(bool of_all) {
    collection_written_ = true;
    starts_as_collection_ = of_all;
  }
  [[nodiscard]] std::uint64_t keys() const { return keys_; }

  void save(history::StateWriter& out) const;
  void load(history::StateReader& in);

 private:
  using Chunk = jepsen::Chunk;
  using Event = jepsen::Event;
  using Refusal = jepsen::Refusal;

  Refusal single(const Chunk& chunk, const Event& event, bool seen, jepsen::Kinds& kinds,
                 history::Operations& out);
  Refusal mutex(const Chunk& chunk, const Event& event, history::Operations& out);
  Refusal operation(const Chunk& chunk, const jepsen::MicroOp& op, bool seen, Workload kind,
                    history::Operations& out);
  Refusal read(const Chunk& chunk, const jepsen::MicroOp& op, bool seen, Workload kind,
               history::Operations& out);
  Refusal range_read(const Chunk& chunk, const jepsen::MicroOp& op, bool seen, Workload kind,
                     history::Operations& out);
  history::Key key_of(const Chunk& chunk, const jepsen::Cell& cell);
  history::Value value_of(const Chunk& chunk, const jepsen::Cell& cell, history::Operations& out);
  void note_written(const jepsen::Cell& value);

  StreamSink& sink_;
  const Interpretation& as_;
  bool setting_up_ = true, collection_written_ = false, starts_as_collection_ = false;
  bool vector_of_register_ = false;  // a read of a register returned one
  bool invocation_ = false;          // the map at hand is one
  std::uint64_t keys_ = 0;           // that there are
  std::string text_;
};

}  // namespace cupel::formats
