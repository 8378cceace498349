// explain: what a violation is called and why it is one, in the words of the
// history.
//
// Two steps. Structure: the cycle of the derivation, with begin and commit of a
// transaction made one again, decides the name (cycle.hpp). Words: each edge
// becomes a sentence about operations (words.hpp), and the sentences a text that
// can be followed without knowing any theory. Nothing is decided again: whoever
// mistrusts the derivation checks its edges.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/history/history.hpp"
#include "engine/levels/derivation.hpp"
#include "engine/levels/level.hpp"

namespace cupel::explain {

using history::History;
using history::KeyId;
using history::OpId;
using history::TxnId;

// An edge of the cycle; begin and commit of a transaction are one here.
struct ExplainedEdge {
  TxnId from, to;         // none(): the initial transaction
  levels::EdgeKind kind;  // never kOwn
  levels::Reason reason;
  KeyId key;                  // none() for so and rt
  OpId from_op, to_op;        // none() where not meaningful
  std::uint32_t case_number;  // 0: the one cycle; else the case, from 1, whose cycle it is in
  std::string sentence;       // "T7 read x = 3, which T4 wrote"
};

struct Anomaly {
  std::string name;      // "lost-update"; Adya's where no other name is in use
  std::string adya;      // "G-single", "G1c-realtime" …; empty where Adya has no name
  std::string shown_as;  // "mutex held twice", for a lost-update of a mutex; empty: its name
  levels::Level at;      // where it was found: the weakest level looked at that forbids it
  std::vector<TxnId> transactions;  // in the order of the cycle
  std::vector<KeyId> keys;
  std::string summary;      // what went wrong, in sentences that need no theory; on one line
  std::string explanation;  // that and why, several lines, each but the first indented; no newline
                            // at its end
  std::vector<ExplainedEdge> edges;  // empty for anomalies inside one transaction or read
  std::vector<TxnId> listed;         // those the explanation lists, in its order; never none()
};

// Its name, or the one that fits the object better.
std::string_view heading_of(const Anomaly& anomaly);
// "lost-update (G-single, TAP-l)": Adya's name, where it is another, and Plume's letters.
// What heads an explanation, with ": " between; the explanation's lines are broken for that.
std::string title_of(const Anomaly& anomaly);

// Where a history is a part of another one: positions in sessions
// and numbers of operations refer to the whole.
struct Origin {
  const History& whole;
  std::span<const TxnId> txns;  // of `whole`, by transaction of the part
};

// What the source says of a transaction beyond a history's own columns, by its
// label: ("node", "\"n3\""), shown as it is.
using Field = std::pair<std::string, std::string>;
// Fields of this name are the transaction's SQL statements, in their order; explanations show each
// on a line of its own.
inline constexpr std::string_view kStatementField = "statement";
// A field of this name says in words when the transaction ran, and stands in for its times: "steps
// 1 and 3".
inline constexpr std::string_view kStepsField = "steps";
using FieldsByLabel = std::map<std::uint32_t, std::vector<Field>>;

// What an explanation may use besides the history. All borrowed.
struct Context {
  std::optional<Origin> origin = {};
  const FieldsByLabel* fields = nullptr;
};

// The anomalies of a violation found at `level`. Internal anomalies: one each,
// in the order given. A derivation: exactly one. Costs O(operations of the
// transactions involved); texts are cut, names and edges are not.
std::vector<Anomaly> explain(const History& history, levels::Level level,
                             const levels::Violation& violation, const Context& context = {});

std::string_view to_string(levels::EdgeKind kind);  // "so", "rt", "wr", "ww", "rw", "own"
std::string_view to_string(levels::Reason reason);  // "given", "only-writer" …

}  // namespace cupel::explain
