// Plain reader: a second reader of operation maps in JSON and EDN
// (docs/reference/formats/jepsen.md), for `cupel verify`.
//
// A certificate speaks of the history that src/data/formats has read. If that reader takes an
// operation for another one, the engine and the verifier of certificates both believe it. So verify
// reads the file a second time with this reader, which was written from the page of the format,
// shares no code with the first one, and builds no History. compare() then names the first
// operation in which the two differ.
//
// It is simple rather than fast, and linear: a tree for each operation map, texts for all keys and
// values. It reads transactions, registers and mutexes. Stores of strings are left to the first
// reader, which has to find out which append made which text: `unread` says so.
//
// It accepts more than the first reader does: a file that the first one rejects is not verified.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "data/history/history.hpp"

namespace cupel::certify {

// Every key and value of a history, as text: "n", "i7", "sx", "k:x", "l1.5".
class PlainTable {
 public:
  using Id = std::uint32_t;
  Id id(std::string code);
  [[nodiscard]] const std::string& code(Id id) const { return *codes_[id]; }

 private:
  std::unordered_map<std::string, Id> ids_;
  std::vector<const std::string*> codes_;
};

struct PlainOperation {
  history::OpKind kind = history::OpKind::kRead;
  bool known = true;      // of a read
  bool succeeded = true;  // of a compare-and-set
  bool vector = false;    // a read returned a vector: `items`
  PlainTable::Id key = 0;
  PlainTable::Id value = 0, other = 0;     // expected and desired; the bounds of a range
  std::vector<PlainTable::Id> items = {};  // of a range: key, value, key, value
};

struct PlainTransaction {
  history::TxnStatus status = history::TxnStatus::kCommitted;
  history::Time invoke = history::kNoTime, complete = history::kNoTime;
  std::uint32_t label = 0;
  std::vector<PlainOperation> operations = {};
};

struct PlainSession {
  std::string name;
  std::vector<PlainTransaction> transactions = {};
};

struct PlainHistory {
  std::string unread = {};  // why this kind is left to the first reader; else empty
  PlainTable table = {};
  std::vector<PlainSession> sessions = {};
  PlainTable::Id initial = 0;  // of all keys but these
  std::vector<std::pair<PlainTable::Id, PlainTable::Id>> initial_of = {};
  std::vector<bool> lists = {};  // by key: it is a list
};

// How the user says that the file is to be read.
struct PlainOptions {
  std::vector<std::string> ignore = {};  // words of f
  bool transactions = false;             // `--kind transactions`
};

// Errors name the line.
base::Result<PlainHistory> read_plainly(std::string_view bytes, const std::string& file,
                                        const PlainOptions& options = {});

// The first difference, as a sentence; empty: there is none. `initial`: initial values, too.
std::string compare(const history::History& history, const PlainHistory& plain,
                    bool initial = true);

}  // namespace cupel::certify
