// StoreServer: a mock store, its SQL tables, and the servers through which clients reach both.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "engine/mock/store.hpp"
#include "mock/wire/backend.hpp"
#include "mock/wire/server.hpp"

namespace cupel::wire {

// In the order of their lives: the server ends first.
struct StoreServer {
  explicit StoreServer(const mock::Options& options)
      : store(options), catalog(options.level), backend(make_backend(store, catalog)) {}
  mock::Store store;
  sql::Catalog catalog;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Server> server;

  base::Status start(const ServerOptions& options) {
    auto started = Server::start(*backend, options);
    if (!started.ok()) return std::move(started).error();
    server = std::move(*started);
    return base::Ok{};
  }
};

}  // namespace cupel::wire
