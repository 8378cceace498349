// What `cupel mock` and `cupel mock test` share: the options of a store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "engine/mock/store.hpp"
#include "mock/mocktest/test.hpp"

namespace cupel::apps {

// As given; `store` has their values.
struct StoreArguments {
  mock::Options store;
  std::optional<std::string> level;  // none: the usual one of the engine
  std::string locks;                 // empty: as the level has it
  std::string policy = "uniform", delay = "0ms", latency = "0ms", patience = "5s";
  // Which SQL is over the store: cupel's own, or that of a real server.
  mocktest::Engine engine = mocktest::Engine::kOwn;
  std::string engine_name = "own", constraints;  // empty: as the level has it
  bool strong_constraints = false, engine_locks = true;
  std::string note;                // to print at the start, if the level is another than asked for
  std::vector<std::string> given;  // options that repeat this behaviour, but for the seed
};

void add_engine_options(Command& command, StoreArguments& arguments);
void add_store_options(Command& command, StoreArguments& arguments);
// The texts made into values; throws UsageError.
void take_store_options(StoreArguments& arguments);

// Where clients find a server that listens on `address`, which may be all of them.
std::string url(const char* scheme, const std::string& address, std::uint16_t port);
std::string http_url(const std::string& address, std::uint16_t port);

// For a message that no history was written to `file`: "; it still holds the history of another
// run", or empty if there is no such file.
std::string of_another_run(const std::string& file);

// `cupel mock test`.
void add_mock_test(Command& mock, Run& run);

}  // namespace cupel::apps
