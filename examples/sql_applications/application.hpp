// An application over SQL, what must always hold of its data, and how often that fails
// when a database of a weak isolation level runs it.
//
//   auto application = tpcc();
//   RunOptions options;
//   options.level = mock::Level::kCausal;
//   const Outcome outcome = run(*application, options);
//   // outcome.violated[0]: assertion A1 did not hold at the end
//
// Source: Biswas, thesis 2021, section 4.6: TPC-C with the twelve consistency conditions
// of its specification, clause 3.3.2 (A1 to A12), SmallBank (A13), Voter (A14) and
// Wikipedia (A15 to A17), at a small scale.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "client.hpp"
#include "engine/mock/store.hpp"
#include "mock/sql/session.hpp"

namespace cupel::applications {

struct Assertion {
  std::string name;   // "A4"
  std::string words;  // what holds
};

class Application {
 public:
  virtual ~Application() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual const std::vector<Assertion>& assertions() const = 0;
  // Makes and fills the tables; also forgets what earlier runs reported through ended().
  virtual void load(Client& client) = 0;
  // One transaction's body, between BEGIN and COMMIT; which one is drawn from `random`. It
  // lets the exceptions of client.hpp through.
  virtual void transact(Client& client, base::Random& random) = 0;
  // How the last one ended, for what a client keeps outside of the database.
  virtual void ended([[maybe_unused]] bool committed) {}
  // The client has to go on with a further transaction, before others take their turn.
  [[nodiscard]] virtual bool unfinished() const { return false; }
  // In the order of assertions(): true where one does not hold. Reads only.
  virtual std::vector<bool> violated(Client& client) = 0;
};

struct TpccScale {
  int districts = 2, customers = 3, items = 10;  // of the one warehouse; of a district
  // Lines of an order: TPC-C's numbers. Where both are equal, A4 and A6 are valid under
  // causal consistency (docs/reference/mock-applications.md).
  int lines_min = 5, lines_max = 15;
  // Orders, new orders and lines without primary keys: two orders of one number both stay.
  bool duplicates = false;
};
std::unique_ptr<Application> tpcc(const TpccScale& scale = {});
std::unique_ptr<Application> smallbank();  // five customers
std::unique_ptr<Application> voter();      // one telephone, ten votes allowed
// Two pages, two users. Who numbers its rows: the application, one more than the greatest
// number that it sees, or SERIAL, which the mock does not weaken (docs/reference/mock-sql.md).
enum class Numbers : std::uint8_t { kGreatest, kSerial };
std::unique_ptr<Application> wikipedia(Numbers numbers = Numbers::kGreatest);

struct RunOptions {
  mock::Level level = mock::Level::kCausal;
  int sessions = 3;
  int transactions = 60;  // of all sessions together
  int tries = 20;         // of a transaction that gets 40001; then it is given up
  std::uint64_t seed = 0;
};

struct Outcome {
  std::vector<bool> violated;  // by assertion
  int committed = 0;
  int rolled_back = 0;  // by the application itself
  int refused = 0;      // by an error of the database, such as a duplicate key
  int conflicts = 0;    // 40001, each followed by another try
  int given_up = 0;
  // "23505 duplicate key …" of the first that was refused; empty if none was.
  std::string first_refusal;
};

// Loads, lets `sessions` clients take turns at random, a transaction at a time, then
// checks the assertions in one transaction that comes after all of them and reads the
// freshest values that the level allows (Policy::kLatest). What is loaded is the initial
// state: every session has seen it. The same options give the same outcome. Throws Refused where
// loading or checking fails.
Outcome run(Application& application, const RunOptions& options);

// The same, with clients of your own: each takes turns, and the last checks. What was
// loaded must be there (make_tables), and is what `application` loaded last. `level` is theirs.
Outcome run(Application& application, std::span<const std::unique_ptr<Client>> clients,
            const RunOptions& options);
// Makes and fills the application's tables, and one of run()'s own.
void make_tables(Application& application, Client& client);
// The same into a store, as what its keys hold at first.
void load(Application& application, mock::Store& store, sql::Catalog& catalog);

}  // namespace cupel::applications
