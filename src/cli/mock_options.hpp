// What `cupel mock` and `cupel mock test` share: the options of a store, and a store with its
// servers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "mock/store.hpp"
#include "sql/session.hpp"
#include "wire/server.hpp"

namespace cupel::cli {

// The weakest first.
inline constexpr mock::Level kMockLevels[] = {mock::Level::kReadCommitted,
                                              mock::Level::kReadAtomic,
                                              mock::Level::kCausal,
                                              mock::Level::kPrefix,
                                              mock::Level::kStrongSessionSnapshotIsolation,
                                              mock::Level::kStrongSessionSerializable};

// As given; `store` has what they come to.
struct StoreArguments {
  mock::Options store;
  std::string level = std::string(mock::name(mock::Options().level));
  std::string policy = "uniform", delay = "0ms", latency = "0ms", patience = "5s";
  std::vector<std::string>
      given;  // the options of a command line that gives the same, but for the seed
};

void add_store_options(Command& command, StoreArguments& arguments);
// The texts made into values; throws UsageError.
void take_store_options(StoreArguments& arguments);

// A store, its tables and its servers, in the order of their lives.
struct Served {
  explicit Served(const mock::Options& options)
      : store(options), catalog(options.level), backend(wire::make_backend(store, catalog)) {}
  mock::Store store;
  sql::Catalog catalog;
  std::unique_ptr<wire::Backend> backend;
  std::unique_ptr<wire::Server> server;

  base::Status start(const wire::ServerOptions& options) {
    auto started = wire::Server::start(*backend, options);
    if (!started.ok()) return std::move(started).error();
    server = std::move(*started);
    return base::Ok{};
  }
};

// Where clients find a server that listens on `address`, which may be all of them.
std::string host_of(const std::string& address);
std::string url(const char* scheme, const std::string& address, std::uint16_t port);
std::string http_url(const std::string& address, std::uint16_t port);

// Of a history that was not written to `file`: "; what is there is of another run", or empty.
std::string of_another_run(const std::string& file);

// `cupel mock test`.
void add_mock_test(Command& mock, Run& run);

}  // namespace cupel::cli
