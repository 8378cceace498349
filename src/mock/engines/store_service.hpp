// StoreService: a mock store on a Unix socket, for the backends of an SQL engine.
//
// Each connection is a session of the store, whose transactions follow one another. Reads go to the
// store at once, writes at the commit (messages.hpp). A connection that ends has its transaction
// rolled back. Rows are locked by the engine, which tells of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "data/history/history.hpp"
#include "engine/mock/store.hpp"
#include "mock/engines/messages.hpp"

namespace cupel::engines {

// The least that a client of a product's level gets; none: it is the level of no product.
std::optional<ChooseRequest::Isolation> isolation_of_product(const mock::Options& options);

class StoreService {
 public:
  // Listens on a socket file that this makes; every local user who finds it may connect. Beside it,
  // with ".commits" after its name, is the file of a CommitCount. Errors: a file cannot be made.
  static base::Result<std::unique_ptr<StoreService>> start(const std::string& socket,
                                                           const mock::Options& options);
  ~StoreService();
  StoreService(const StoreService&) = delete;
  StoreService& operator=(const StoreService&) = delete;

  // What ChooseRequest takes for a store with these options, with commas between; empty: nothing.
  static std::string known_levels(const mock::Options& options);
  static std::string known_policies();

  // Where clients connect to the engine. A new connection continues the session of one with the
  // same name whose client has hung up, even before the engine has noticed.
  void set_engine_port(std::uint16_t port);

  // The rows of the database that is now called so survive start_over().
  void keep_database(const std::string& name);
  // A new store, for the connections that are made from now on. All rows are forgotten but those of
  // the kept database: a copy of it starts with them, and every session has seen them.
  void start_over(const mock::Options& options);

  // Of the store, with rows as "accounts(5)" and their values in words.
  [[nodiscard]] base::Result<history::History> history() const;
  // As mock::Store::statements().
  [[nodiscard]] std::map<std::uint32_t, std::vector<std::string>> statements() const;
  [[nodiscard]] std::uint64_t asked_for() const;
  [[nodiscard]] std::uint32_t commits() const;
  [[nodiscard]] std::uint64_t conflicts() const;

 private:
  class State;
  explicit StoreService(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cupel::engines
