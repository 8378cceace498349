// Op kinds: what the operations of a source are: transactions, registers, a mutex or a store of
// strings. Anything else is refused by name. One classifier for all readers
// (docs/reference/formats/jepsen.md#single-objects): a reader of whole files asks it at the end, a
// reader of streams after each operation that is no transaction.
//
// The answer is always about all operations so far. It takes a few numbers for each word of f.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/formats/interpretation.hpp"
#include "data/formats/jepsen_events.hpp"
#include "data/formats/op_pairing.hpp"
#include "data/history/state.hpp"

namespace cupel::formats::jepsen {

// What the operations of a source are: found out or stated.
struct Kinds {
  Workload kind = Workload::kTransactions;
  bool keyed = false;                     // the value of a single operation is [key value]
  bool compares = false;                  // some register has a compare-and-set
  std::vector<std::string> objects = {};  // f of single operations beside transactions
  std::uint64_t set_ups = 0;              // operations that are the initial contents
};
// Said in text and JSON: "registers with compare-and-set, 3 keys". Empty: transactions only.
std::string words_of(const Kinds& kinds, std::uint64_t keys);

// Whether such words say this kind.
bool is_of_kind(std::string_view words, Workload kind);

// What one op map says of a single operation, which is one that is no transaction.
struct Said {
  std::uint64_t place = 0;  // in the source
  Type type = Type::kInvoke;
  F f = F::kOther;
  std::string word;
  std::optional<bool> pair;  // as is_pair()
  bool nothing = true;       // it has no value
  bool collection = false;   // its value is one, and no pair
  bool without_key = false;  // a read invoked with null
  bool noted = false;        // by the classifier

  void save(history::StateWriter& out) const;
  void load(history::StateReader& in);
};
Said said_by(const Chunk& chunk, const Event& event, std::uint64_t place);

class Classifier {
 public:
  explicit Classifier(const Interpretation& as) : as_(as) {}

  // Places grow with the source; of what is told twice the first counts.
  void transaction(std::uint64_t place) { first(transaction_, place); }
  void invoked(Said& said);
  // `invocation`: borrowed; none: it has none.
  void ended(Said* invocation, Said completion, history::TxnStatus status);
  void never_ended(Said& invocation);
  // What was told of the invocation was none of a single operation.
  void became_transaction(const Said& invocation);
  // The source was converted from one of this kind, as words_of() says it. Its operations are
  // transactions now, and fit the kind if it is stated.
  void converted(std::string_view kind);
  // A key holds a collection at the start, so that a read may return one.
  void collection_held() { first(collection_written_, 0); }

  struct Answer {
    Kinds kinds = {};
    Refusal refusal = {};
    std::uint64_t place = 0;  // of the refusal
    bool is_final = true;     // no later operation can lift the refusal
  };
  [[nodiscard]] Answer decide() const;

  // Whether there is any operation, and whether a single one says if it has a key.
  [[nodiscard]] bool any() const { return transaction_ != kNone || !words_.empty(); }
  [[nodiscard]] bool any_transaction() const { return transaction_ != kNone; }
  [[nodiscard]] bool any_said() const { return pairs_ != kNone || plain_ != kNone; }
  // The answer is the same as long as this number is.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

  void save(history::StateWriter& out) const;
  void load(history::StateReader& in);

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct Word {
    std::uint64_t count = 0, first = kNone;  // op maps; the place of the first
    F f = F::kOther;
    bool unknown = false;  // beside transactions, nobody knows what one of them wrote
  };
  using Words = std::vector<std::pair<std::string_view, const Word*>>;

  void first(std::uint64_t& place, std::uint64_t at);
  void note(Said& said);
  void compare(const Said* invocation, const Said* completion, bool committed);
  [[nodiscard]] Words words() const;  // in the order of the source
  [[nodiscard]] Answer as_transactions() const;
  [[nodiscard]] Answer as_single() const;
  [[nodiscard]] Answer misfit() const;
  [[nodiscard]] Answer looks_like(std::string_view guess, std::uint64_t place) const;

  const Interpretation& as_;
  std::map<std::string, Word, std::less<>> words_;
  // The first places of what decides.
  std::uint64_t transaction_ = kNone, pairs_ = kNone, plain_ = kNone, collection_read_ = kNone,
                collection_written_ = kNone, without_key_ = kNone;
  std::uint64_t changes_ = 0;
  bool converted_ = false;  // from the stated kind
};

}  // namespace cupel::formats::jepsen
