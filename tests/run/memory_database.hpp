// MemoryDatabase: a database in a map, which runs one transaction at a time, and
// misbehaves on request. For the runner's tests.
#pragma once

#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "base/random.hpp"
#include "databases/drivers/driver.hpp"

namespace cupel::run {

struct Misbehaviour {
  double conflict = 0;            // share of statements that end in a conflict
  double lost_before_commit = 0;  // the connection breaks: certainly not committed
  double lost_at_commit = 0;      // the connection breaks at commit: half of them did commit
  double stale_read = 0;          // share of reads that return the value before the last
  double silent_end = 0;          // share of statements after which all is rolled back, and OK said
  double lost_commit = 0;         // share of commits that are acknowledged, and undone
  bool refuse = false;            // every statement
  bool whole_only = false;        // no interactive transactions
};

class MemoryDatabase : public drivers::Database {
 public:
  explicit MemoryDatabase(Misbehaviour misbehaviour) : bad_(misbehaviour) {}

  [[nodiscard]] drivers::Facts facts() const override {
    return {"Memory", "1", "serializable", ""};
  }
  [[nodiscard]] workload::Needs can() const override {
    return {.interactive = !bad_.whole_only,
            .multiple = true,
            .tables = true,
            .ranges = true,
            .deletes = true,
            .lists = true,
            .compare_and_set = true};
  }
  base::Status prepare(const workload::Workload& workload) override;
  base::Result<std::unique_ptr<drivers::Connection>> connect(std::uint32_t session) override;
  void clean() override { cells_.clear(); }
  // Two of them, if `second_host` says what the second is like; both hold the same.
  [[nodiscard]] std::vector<std::string> hosts() const override {
    return second_host == Host::kNone ? std::vector<std::string>()
                                      : std::vector<std::string>{"one", "two"};
  }
  base::Result<std::unique_ptr<drivers::Connection>> connect_to_read(std::uint32_t host) override;

  // Empty at first and soon as the first one; empty forever; not there.
  enum class Host : std::uint8_t { kNone, kSame, kLags, kEmpty, kAbsent };
  Host second_host = Host::kNone;
  int reads_of_second = 0;  // transactions

  int connections = 0;                     // made
  std::atomic<std::uint64_t> commits = 0;  // for atomic::wait
  bool refuse_connections = false;
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t silent_after = kNever;      // commits
  std::uint64_t gone_after = kNever;        // commits, after which the tables are gone
  std::atomic<int> back_after = 1'000'000;  // refused statements, after which they are back
  std::uint64_t refuse_after = kNever;      // commits, after which every statement is refused

 private:
  class Session;
  class SecondHost;
  using RowId = std::pair<std::uint32_t, std::vector<workload::Datum>>;
  struct Cells {
    std::vector<workload::Datum> values, before;
    std::vector<workload::Datum> elements;
  };
  Misbehaviour bad_;
  workload::Schema schema_;
  std::mutex mutex_;  // held by a transaction from begin to end
  std::map<RowId, Cells> cells_;
};

}  // namespace cupel::run
