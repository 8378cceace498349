// Replicated type: everything that cupel knows about a replicated data type, behind one interface.
//
// The rest of src/crdt has no branches on the type, except the verifier. Some methods branch on the
// kinds of operations (history.hpp), which types share. A type describes its names and traits; how
// its operations are written and read; what its reads may return (encode); how a correct replica
// and a replica with a bug behave (simulate); which updates a counterexample may leave out
// (update_may_go); and how a violation reads in words. Each type has one file in types/; the list
// is in type.hpp.
//
// The verifier does not use this interface: it describes each type a second time
// (verify/semantics.hpp; for update_may_go, may_go in verify/verify.cpp).
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "crdt/model/history.hpp"

namespace cupel::crdt {

struct Axioms;
struct ContextDecision;
struct Decision;
struct Explanation;
struct ExplainOptions;
struct KnownContext;
struct ArbitrationCycle;
class ContextExplainer;
class Encoder;
class ReadExplainer;
class SimulatedReplica;
struct RequestChoice;
struct WrongRead;

struct TypeName {
  std::string_view name;
  bool grow_only = false;
};

// A bug that simulated replicas may have.
struct TypeBug {
  std::string_view name, what;
};

// What stands beside the method of a call.
enum class Argument : std::uint8_t {
  kAbsent,
  kElement,
  kNumber,    // an element that is a whole number: the `amount` of the operation, too
  kAfter,     // a pair: the one before it, null for the beginning, and the new element
  kTo,        // a pair: the element, and the one below or after which it comes, null for none
  kIncrease,  // an amount above 0, or none for 1
  kDecrease,  // the same; the `amount` of the operation is negative
};

// What a read returns.
enum class Answer : std::uint8_t {
  kAbsent,   // it is an update
  kBoolean,  // of an element the pair of both
  kSum,
  kMembers,  // each once, in any order
  kValues,   // in any order; null: none
  kList,
  kValue,   // one, or null
  kNumber,  // the same, a whole number
  kTree,    // each node with its parent; null: none
};

// An operation of a type as files, requests and words have it (types/calls.cpp).
struct CallForm {
  std::string_view method;  // of an operation the first one with its kind
  Kind kind;
  Argument argument = Argument::kAbsent;
  Answer answer = Answer::kAbsent;
  std::string_view expected = {};            // instead of a value that is not understood
  std::string_view refused_if_growing = {};  // of an update: the message for a grow-only type
};

using DecideContext = std::function<ContextDecision(const KnownContext&)>;
// A replica with this bug of the traits; empty: none.
using Simulate = std::function<std::unique_ptr<SimulatedReplica>(
    const History& history, std::string_view bug, std::uint32_t self)>;

// What methods that decide several types need to know of one.
struct TypeTraits {
  std::vector<TypeName> names;     // the first is its name, the others are aliases
  Kind whole_read = Kind::kState;  // the read that returns the whole value of a key
  std::vector<TypeBug> bugs = {};
  // Those at the way into a simulated replica, by name, that make sense for the type
  // (data/workload/generate.hpp).
  std::vector<std::string_view> injected = {"loses-update"};

  // An update is made to one element, independent of the others of its key.
  bool objects_are_elements = false;
  // A whole read lists elements, and what is left of it without one is a read of the others.
  bool reads_list_elements = false;
  // Sets and flags: an object is on or off. Of concurrent updates kUp wins, or kDown.
  struct Membership {
    bool up_wins;
    bool for_good = false;   // whatever the losing side does later
    bool last_wins = false;  // neither side: the update that is last in the order of the object
  };
  std::optional<Membership> membership = {};
  // Counters: a read returns the sum of what it has seen, and updates commute.
  bool sums = false;
  // Updates name elements that their replica must have seen.
  bool updates_use_elements = false;
  // Lists: all characters have one order, whatever the linearization.
  bool one_order = false;
  // The updates of each object have a linearization of their own.
  bool order_by_object = false;
  // Only histories with known deliveries are decided.
  bool needs_deliveries = false;
  // The key stands in the text of an operation even where there is only one.
  bool text_has_key = false;

  // The form of its operations, and their methods for a message; empty: the type overrides all
  // about them.
  std::vector<CallForm> calls = {};
  std::string_view methods = {};
  // A history whose deliveries are known (solve/context.hpp).
  DecideContext decide_context = {};
  Simulate simulate = {};
  // Of reads that no order fits, without one cycle that says it.
  std::string_view summary_of_no_order =
      "reads prefer writes in orders that no linearization has, whichever of the writes of one "
      "value they returned";
};

// An operation of a file on its way into a history.
struct ParsedCall {
  std::string_view method;
  const nlohmann::json& value;  // null: none
  bool indeterminate;           // a read of unknown outcome has no value
  bool grow_only;
  History& history;
  Operation& op;                     // to be filled in
  std::vector<std::uint32_t>& list;  // what a whole read returned, to be filled in

  std::uint32_t element(const nlohmann::json& text) const;
  // "found add with the value 3, expected …": errors.
  [[nodiscard]] std::optional<std::string> expected(std::string_view what) const;
  [[nodiscard]] std::optional<std::string> unknown_method(std::string_view expected) const;
  // An error if the list has one of the characters of a text twice.
  [[nodiscard]] std::optional<std::string> refuse_repeated_characters() const;
  // The value as an array without nulls, each of its elements into the list; `what` if it is none.
  std::optional<std::string> take_list(std::string_view what) const;
};

// What can be found out about a call of a file without its history, so that another thread may do
// it.
class FlatCall {
 public:
  FlatCall() = default;
  FlatCall(const FlatCall&) = delete;
  FlatCall& operator=(const FlatCall&) = delete;
  virtual ~FlatCall() = default;
  // As ReplicatedType::parse, without the value of `call`.
  [[nodiscard]] virtual std::optional<std::string> parse(const ParsedCall& call) const = 0;
};

// What the reads of a counterexample say, in all.
class ReadClaims {
 public:
  // Some read says that this element (of a set, an array) or this flag is there, is not there.
  [[nodiscard]] bool is_shown(std::uint32_t object) const { return shown_.contains(object); }
  [[nodiscard]] bool is_missing(std::uint32_t object) const { return missing_.contains(object); }
  // Some read of the key returned this value (registers), this number.
  [[nodiscard]] bool returned_value(std::uint32_t key, std::uint32_t element) const {
    return values_.contains({key, element});
  }
  [[nodiscard]] bool returned_number(std::uint32_t key, std::int64_t number) const {
    return numbers_.contains({key, number});
  }

  // Some read of the key returned a number below 0.
  [[nodiscard]] bool returned_below_zero(std::uint32_t key) const {
    const auto least = numbers_.lower_bound({key, std::numeric_limits<std::int64_t>::min()});
    return least != numbers_.end() && least->first == key && least->second < 0;
  }

  void add_object(std::uint32_t object, bool shown) { (shown ? shown_ : missing_).insert(object); }
  void add_value(std::uint32_t key, std::uint32_t element) { values_.insert({key, element}); }
  void add_number(std::uint32_t key, std::int64_t number) { numbers_.insert({key, number}); }

 private:
  std::set<std::uint32_t> shown_, missing_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> values_;
  std::set<std::pair<std::uint32_t, std::int64_t>> numbers_;
};

// Of a method that may be tried twice: before the others, after them, or once with all effort.
enum class Effort : std::uint8_t { kFirst, kAgain, kAll };

class ReplicatedType {
 public:
  explicit ReplicatedType(TypeTraits traits) : traits_(std::move(traits)) {}
  virtual ~ReplicatedType() = default;
  ReplicatedType(const ReplicatedType&) = delete;
  ReplicatedType& operator=(const ReplicatedType&) = delete;

  [[nodiscard]] const TypeTraits& traits() const { return traits_; }
  [[nodiscard]] std::string_view name() const { return traits_.names[0].name; }
  // The element or the key that an operation is about.
  [[nodiscard]] std::uint32_t object(const Operation& op) const {
    return traits_.objects_are_elements ? op.element : op.key;
  }

  // Text. What the type calls an operation of this kind.
  [[nodiscard]] virtual std::string_view method(const Operation& op) const;
  // The arguments after the key, and what was returned; empty: nothing.
  struct Text {
    std::vector<std::string> arguments;
    std::string result;
  };
  [[nodiscard]] virtual Text text(const History& history, const Operation& op) const;

  // Files. An error is the sentence; nothing: the call is understood.
  virtual std::optional<std::string> parse(const ParsedCall& call) const;
  // The same in two steps, of a value as flat JSON (base/text/flat_json.hpp; empty: none), which
  // the call refers to. Types find out of most calls of a history what they need without a tree of
  // values.
  [[nodiscard]] virtual std::unique_ptr<FlatCall> flat_call(std::string_view method,
                                                            std::string_view value) const;
  // Where updates of unknown outcome cannot have happened, the history without them.
  [[nodiscard]] virtual History without_impossible(History history) const { return history; }
  // The value that a file has for an operation; null: none.
  [[nodiscard]] virtual nlohmann::json value(const History& history, const Operation& op) const;
  // Programs as replicas. The value of the request; null: none.
  [[nodiscard]] virtual nlohmann::json argument(const History& history, const Operation& op) const;
  // The value that a file has for a read with this argument and this answer.
  [[nodiscard]] virtual nlohmann::json value_of_read(const Operation& op,
                                                     const nlohmann::json& argument,
                                                     const nlohmann::json& answer) const;

  // Solving. A method that decides this type in polynomial time, or gives up.
  virtual std::optional<Decision> decide_quickly(const History& history, const Axioms& axioms,
                                                 base::Budget& budget, Effort effort) const;
  // The axioms of the reads as clauses. False: the budget is spent.
  virtual bool encode(Encoder& encoder) const = 0;

  // Simulation. The next request to a replica; `choice` begins as the whole read of a key.
  virtual void choose(RequestChoice& choice) const = 0;

  // Counterexamples. May the history lose this update without becoming harder to explain, if its
  // reads say no more than this? Where it is always false, every update of a key that is read
  // stays, and the verifier answers unknown for more than a few dozen operations.
  [[nodiscard]] virtual bool update_may_go(const Operation& /*update*/,
                                           const ReadClaims& /*claims*/) const {
    return false;
  }

  // Words. Names and summary of a read that no execution explains.
  virtual void explain_read(ReadExplainer& explainer) const = 0;
  // Of a cycle in the linearization, where the type has one.
  virtual void explain_cycle(const ArbitrationCycle& cycle) const;
  // Of a read that is wrong for what its replica had received.
  virtual void explain_received(ContextExplainer& explainer) const = 0;
  // All of it, for a type whose histories are put together from those of others. False: as above.
  virtual bool explain_known(const KnownContext& /*context*/, const WrongRead& /*wrong*/,
                             const ExplainOptions& /*options*/,
                             Explanation& /*explanation*/) const {
    return false;
  }

 protected:
  // By a tree of values.
  [[nodiscard]] std::unique_ptr<FlatCall> tree_call(std::string_view value) const;

 private:
  TypeTraits traits_;
};

// The one description of a type; from the list in type.hpp.
const ReplicatedType& replicated_type(Type type);
inline const ReplicatedType& replicated_type(const History& history) {
  return replicated_type(history.type);
}

}  // namespace cupel::crdt
