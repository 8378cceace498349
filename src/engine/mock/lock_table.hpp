// LockTable: which transactions hold which locks, and who waits for whom.
//
// A lock is on a name and is held until its transaction ends. Requests for a name are served first
// come, first served, but one who holds a lock on the name does not queue behind others. Rows have
// the four modes of PostgreSQL; whoever scans locks the gaps between rows, and whoever adds a row
// asks to insert into them, as in InnoDB. Cost of a request: who holds and awaits the name; of a
// wait, also the search for a deadlock over all who wait.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/mock/store.hpp"
#include "engine/mock/transaction_log.hpp"

namespace cupel::mock {

bool exclude_each_other(LockMode one, LockMode other);

class LockTable {
 public:
  // Grants the lock, unless somebody is in the way. Takes back the owner's wait.
  bool acquire(Txn owner, std::string_view name, LockMode mode);
  // Who is in the way of it.
  [[nodiscard]] std::vector<Txn> blockers(Txn owner, std::string_view name, LockMode mode) const;
  // The owner waits for it from now on, unless it does already. False: a deadlock, since somebody
  // in the way waits for the owner.
  bool wait(Txn owner, std::string_view name, LockMode mode);
  void stop_waiting(Txn owner);
  // The owner holds a lock on this name that lets nobody else write.
  [[nodiscard]] bool owns(Txn owner, std::string_view name) const;
  // Nothing if the owner does not hold it.
  void release(Txn owner, std::string_view name, LockMode mode);
  // The end of the transaction.
  void release(Txn owner);
  void clear();

 private:
  struct Request {
    Txn owner;
    LockMode mode;
  };
  struct Lock {
    std::vector<Request> held, waiting;
  };
  struct Wait {
    std::string name;
    LockMode mode;
  };
  std::map<std::string, Lock, std::less<>> locks_;
  std::map<Txn, std::vector<std::string>> names_;  // that an owner holds
  std::map<Txn, Wait> waits_;
};

}  // namespace cupel::mock
