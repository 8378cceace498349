// Editing traces: recorded edits of a text, in the public JSON form of josephg/editing-traces.
//
//   {"startContent":"","endContent":"ab","txns":[{"time":"…","patches":[[0,0,"b"],[0,0,"a"]]}]}
//
// A patch is a position, a number of characters to delete there and characters to insert there; all
// in Unicode code points. A trace of several agents has "kind":"concurrent", and each transaction
// the `agent` and its `parents`, the numbers of the transactions that the agent had seen last.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "crdt/model/type.hpp"

namespace cupel::crdt {

struct RecordedEdit {
  std::uint64_t position, deleted;
  std::string inserted;
};

struct EditTransaction {
  std::uint32_t agent = 0;
  std::vector<std::uint32_t> parents = {};  // each before it
  std::vector<RecordedEdit> patches = {};
};

struct RecordedEdits {
  std::string start, end;
  bool concurrent = false;
  std::uint32_t agents = 1;
  std::vector<EditTransaction> transactions = {};
  std::uint64_t patches = 0;
};

// Errors: what is not of this form, with the number of the transaction, from 0; a concurrent trace
// with a startContent.
base::Result<RecordedEdits> read_edits(std::string_view json, const std::string& file);

// Of objects of these types, the one that a trace edits: the only text, or if there is none the
// only text with marks, which a trace does not set. Otherwise how many there are to choose from.
struct TracedObject {
  std::size_t candidates = 0;
  std::size_t object = 0;  // of one candidate
};
TracedObject traced_object(std::span<const Type> types);

// The text of one agent as the numbers of its characters, in order of insertion.
class TracedText {
 public:
  struct Place {
    std::uint64_t before;           // the character before it; kBeginning: none
    std::uint64_t units;            // of UTF-16 before it
    std::vector<std::uint64_t> at;  // the characters to be deleted
  };
  static constexpr std::uint64_t kBeginning = ~std::uint64_t{0};

  // False: the text is shorter than that.
  bool edit(std::uint64_t position, std::uint64_t deleted, std::uint64_t inserted, Place& place);
  // How many characters have been inserted.
  [[nodiscard]] std::uint64_t count() const { return next_; }
  [[nodiscard]] std::vector<std::uint64_t> characters() const;

 private:
  struct Chunk {
    std::vector<std::uint64_t> characters;
    std::uint64_t wide = 0;  // of them, two units of UTF-16 each
  };
  std::vector<Chunk> chunks_ = {Chunk()};
  std::uint64_t next_ = 0;
};

}  // namespace cupel::crdt
