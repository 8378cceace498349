// One run: load, transact, check.
#include "application.hpp"
#include "mock_client.hpp"

namespace cupel::applications {

namespace {

// At the end each client says that it is done, and who checks reads that first: it then comes
// after all of them, also at a level that orders transactions otherwise than they came.
constexpr const char* kFinished = "CREATE TABLE finished (client int PRIMARY KEY)";

void finish(Client& client, std::size_t number) {
  for (;;) {
    try {
      return static_cast<void>(
          client.query("INSERT INTO finished VALUES ($1)", static_cast<std::int64_t>(number)));
    } catch (const Conflict&) {
    }
  }
}

// One transaction, tried again while it gets 40001.
void transact(Application& application, Client& client, base::Random& random, int tries,
              Outcome& outcome) {
  const base::Random same_inputs = random;
  for (int conflicts = 0;;) {
    random = same_inputs;
    bool committed = false, again = false;
    try {
      client.run("BEGIN");
      application.transact(client, random);
      client.run("COMMIT");
      committed = true;
      ++outcome.committed;
    } catch (const Conflict&) {
      ++outcome.conflicts;
      again = ++conflicts < tries;
      if (!again) ++outcome.given_up;
    } catch (const Rollback&) {
      ++outcome.rolled_back;
    } catch (const Refused& refused) {
      if (outcome.refused++ == 0) outcome.first_refusal = refused.sqlstate + " " + refused.message;
    }
    if (!committed) client.run("ROLLBACK");
    application.ended(committed);
    if (!again) return;
  }
}

}  // namespace

void make_tables(Application& application, Client& client) {
  client.run(kFinished);
  application.load(client);
}

// A transaction of the load would not be seen by sessions that have read nothing yet.
void load(Application& application, mock::Store& store, sql::Catalog& catalog) {
  mock::Options options;
  options.level = mock::Level::kStrongSessionSerializable;
  options.uniform = 0;
  options.latest = 1;
  mock::Store loading(options);
  {
    MockClient client(loading, catalog, "load");
    client.run("BEGIN");
    make_tables(application, client);
    client.run("COMMIT");
  }
  const auto session = loading.open_session("copy");
  const auto reading = loading.begin(session);
  for (const auto& key : reading->keys_with_prefix("")) {
    store.set_initial(key, *reading->read(key));
  }
  reading->rollback();
}

Outcome run(Application& application, std::span<const std::unique_ptr<Client>> clients,
            const RunOptions& options) {
  Outcome outcome;
  base::Random random(options.seed);
  const auto sessions = clients.size() - 1;
  for (int turn = 0; turn < options.transactions; ++turn) {
    Client& client = *clients[random.below(sessions)];
    do {
      transact(application, client, random, options.tries, outcome);
    } while (application.unfinished());
  }
  for (std::size_t i = 0; i < sessions; ++i) finish(*clients[i], i);
  Client& auditor = *clients.back();
  auditor.run("BEGIN");
  if (auditor.query("SELECT count(*) FROM finished").integer() !=
      static_cast<std::int64_t>(sessions)) {
    throw Refused{"02000",
                  "who checks does not see that all clients are done; it must read the freshest"};
  }
  outcome.violated = application.violated(auditor);
  auditor.run("COMMIT");
  return outcome;
}

Outcome run(Application& application, const RunOptions& options) {
  mock::Options dial;
  dial.level = options.level;
  dial.seed = options.seed;
  mock::Store store(dial);
  sql::Catalog catalog(options.level);
  load(application, store, catalog);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 1; i <= options.sessions; ++i) {
    clients.push_back(std::make_unique<MockClient>(store, catalog, "client " + std::to_string(i)));
  }
  clients.push_back(std::make_unique<MockClient>(store, catalog, "auditor"));
  clients.back()->run("SET cupel.policy = 'latest'");
  return run(application, clients, options);
}

}  // namespace cupel::applications
