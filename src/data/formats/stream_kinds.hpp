// Stream kinds: the kind of workload of a stream (op_kinds), from its first operation on. What was
// taken one way stays so; if a later line shows that the whole file has another kind, the stream
// refuses.
#pragma once

#include <cstdint>
#include <optional>

#include "data/formats/interpretation.hpp"
#include "data/formats/jepsen_events.hpp"
#include "data/formats/op_interpreter.hpp"
#include "data/formats/op_kinds.hpp"
#include "data/formats/op_pairing.hpp"
#include "data/history/state.hpp"

namespace cupel::formats {

class StreamKinds {
 public:
  // Borrowed.
  explicit StreamKinds(const Interpretation& as) : as_(as), classifier_(as) {}

  // The next map, at this place of the source. `open`: what the invocation said that its process
  // has open, if it is no transaction.
  jepsen::Refusal take(const jepsen::Chunk& chunk, const jepsen::Event& event,
                       const jepsen::Interpreter::Step& step, std::optional<jepsen::Said>& open,
                       std::uint64_t place);
  // Of transactions, only the first one needs a place.
  [[nodiscard]] bool needs_place(const jepsen::Interpreter::Step& step) const {
    return !step.is_txn || !classifier_.any_transaction();
  }
  void collection_held() { classifier_.collection_held(); }
  void converted(std::string_view kind) { classifier_.converted(kind); }
  void never_ended(jepsen::Said& open) { classifier_.never_ended(open); }
  // What all operations so far are. `again`: also if nothing that decides has come.
  jepsen::Refusal decide(bool again = false);
  // Of the last refusal; none: that of the map at hand.
  [[nodiscard]] std::optional<std::uint64_t> refused_place() const { return refused_place_; }

  [[nodiscard]] bool any() const { return classifier_.any(); }
  [[nodiscard]] jepsen::Kinds& kinds() { return kinds_; }
  [[nodiscard]] const jepsen::Kinds& kinds() const { return kinds_; }

  // Of an invocation: its completion has to say what it was.
  [[nodiscard]] bool tries_nothing(const jepsen::Event& event,
                                   const std::optional<jepsen::Said>& open) const;
  // Of a completion: it says what was done, and not only how it ended.
  [[nodiscard]] bool says_what_was_done(const jepsen::Chunk& chunk, const jepsen::Event& event,
                                        const jepsen::Interpreter::Step& step) const;
  // The operations of this map are taken.
  void taken(const jepsen::Event& event) {
    if (!event.is_txn) (kinds_.keyed ? took_keyed_ : took_plain_) = true;
  }
  // Of a completion, if this is a mutex. `holds`: of its process.
  [[nodiscard]] jepsen::Refusal wrong_lock(const jepsen::Chunk& chunk, const jepsen::Event& event,
                                           history::TxnStatus status, bool& holds) const;

  void save(history::StateWriter& out) const;
  void load(history::StateReader& in);

 private:
  // Its completion may be one.
  [[nodiscard]] bool may_become_transaction(const jepsen::Said& open) const;

  const Interpretation& as_;
  jepsen::Classifier classifier_;
  jepsen::Kinds kinds_;
  std::uint64_t decided_at_ = 0;                  // changes() of the classifier
  bool took_plain_ = false, took_keyed_ = false;  // single operations, without keys or with them
  std::optional<std::uint64_t> refused_place_;
};

}  // namespace cupel::formats
