// Nodes: which server a transaction ran on, in words.
//
// A recorder may write the field `node` of an operation map: a name, and of a database with one
// primary also the part that the server had then, as in "198.18.1.1:5432, primary". Faults name
// nodes by number; the fact "nodes" of a history says which is which.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/history/history.hpp"
#include "engine/explain/why/explain.hpp"

namespace cupel::report {

// The fact of a history that numbers its nodes: lines "NUMBER NAME".
inline constexpr const char* kNodes = "nodes";

struct Node {
  std::string name;  // empty: not known
  std::string role;  // "primary", "replica", or empty
};

// Of all transactions: names as the file writes them, and by label which one it is.
struct NodesByLabel {
  std::vector<std::string> names;
  std::vector<std::uint16_t> of_label = {};  // 0: not known; n: names[n - 1]
};

// "198.18.1.1:5432, primary".
Node parse_node(std::string_view text);
// Of the transaction with this label.
Node node_in(const explain::FieldsByLabel& fields, std::uint32_t label);
// "node 0 (198.18.1.1:5432)" if the history numbers its nodes, else the name.
std::string numbered_name(const history::History& history, const std::string& name);
// The number alone, "0"; empty: it has none.
std::string number_of_node(const history::History& history, std::string_view name);

}  // namespace cupel::report
