// What the servers serve: a store, and SQL on it. An interface, so that the protocols
// are tested and fuzzed without a store.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/mock/store.hpp"
#include "mock/sql/session.hpp"

namespace cupel::wire {

// Thread safe. Outlives the sessions and transactions that it gives.
class Backend {
 public:
  virtual ~Backend() = default;
  // A new session, or the one of this name that was closed last, which then goes on.
  virtual std::unique_ptr<sql::Session> open_sql(const std::string& name) = 0;
  // mock::is_versioned(): transactions may not choose a level.
  [[nodiscard]] virtual bool is_versioned() const = 0;
  // Keys and values. begin() may wait; none: the store is shutting down.
  virtual std::uint32_t open_keys(const std::string& name) = 0;
  virtual void close_keys(std::uint32_t session) = 0;
  virtual std::unique_ptr<mock::Transaction> begin(std::uint32_t session,
                                                   const mock::Store::BeginOptions& options) = 0;
  // Ends every wait.
  virtual void shut_down() = 0;
};

// That of a store; both are borrowed.
std::unique_ptr<Backend> make_backend(mock::Store& store, sql::Catalog& catalog);

}  // namespace cupel::wire
