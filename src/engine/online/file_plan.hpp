// File plan: what a first pass over a history that has ended finds out, so that a second pass can
// give its transactions to a window as if they came just now.
//
// A watch has to guess which invocations may still come, and whether a session goes on; here it is
// known. The order of the file matters little: of each place in it, the plan has the earliest
// invocation that is still to be read, and a transaction that comes much later in the file than
// it began (a client that waited for hours) is held aside from the beginning on.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "data/history/scalar.hpp"
#include "data/history/streamed.hpp"

namespace cupel::online {

// Opens the history, each time from its beginning on.
using OpenHistory = std::function<base::Result<std::unique_ptr<history::TransactionSource>>()>;

struct FilePlan {
  std::uint64_t block = 1024;  // transactions of the file are looked at in blocks of so many
  static constexpr history::Time kNothingLeft = std::numeric_limits<history::Time>::max();

  std::uint64_t transactions = 0, committed = 0, operations = 0, sessions = 0;
  history::ScalarTable keys;  // by number; one that is held aside has keys that are still to come
  std::vector<bool> lists;    // by key: whether it is one
  // By block: the earliest invocation from there on, but for those that are held aside.
  std::vector<history::Time> no_earlier;
  std::vector<std::string> session_names;
  // By session: how many transactions it has, and how many come in the file before its first.
  std::vector<std::uint32_t> counts;
  std::vector<std::uint64_t> born;

  struct Late {
    std::uint32_t place;  // in its session, from 1
    history::StreamedTransaction transaction;
    std::uint64_t number = 0;  // of those that were not aborted
  };
  std::map<std::uint64_t, Late> late;  // by number in the file, from 0

  // A transaction that touches more than one key: linearizability is not about such histories.
  std::optional<std::uint32_t> several_keys;  // its label

  // A transaction of unknown outcome has a compare-and-set.
  bool doubtful_compares = false;

  // A key was only read as null, and registers start with another value: if the file still grows,
  // it may turn out to be a list.
  bool doubtful_nulls = false;

  // Why the history cannot be decided in windows; empty: it can.
  std::string unfit;

  // Of how many sessions the first transaction is among so many.
  [[nodiscard]] std::uint64_t sessions_by(std::uint64_t number) const;
};

// For tests: smaller ones.
struct PlanSizes {
  std::uint64_t block = FilePlan().block;
  // A transaction is held aside if others that began later stand so many blocks before it.
  std::size_t late_blocks = 64;
};

// `stop`: asked now and then; then the plan is unfit. Errors: those of the file.
base::Result<FilePlan> plan_of(history::TransactionSource& source,
                               const std::function<bool()>& stop, const PlanSizes& sizes = {});

}  // namespace cupel::online
