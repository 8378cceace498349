// SqlEngine: a real SQL server whose tables are as weak as a mock store's level allows.
//
// The lab starts the server, as an unprivileged user in a temporary folder on the loopback
// interface. It loads a library of ours, which asks the store of a StoreService. The database for
// clients is kMainDatabase.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/temp_dir.hpp"
#include "databases/lab/server.hpp"
#include "engine/mock/store.hpp"
#include "mock/engines/store_service.hpp"

namespace cupel::engines {

class SqlEngine {
 public:
  struct Options {
    mock::Options store = {};
    // UPDATE, DELETE, FOR UPDATE and the like lock rows. PostgreSQL: transactions overlap, and the
    // store has no locks but those of its product.
    bool locks = true;
    // Unique constraints and foreign keys are checked on what was committed last, and not on what
    // the level allows a transaction to see.
    bool strong_constraints = false;
    const std::atomic<bool>* interrupted = nullptr;  // once it is true, start() gives up
  };

  virtual ~SqlEngine() = default;
  SqlEngine(const SqlEngine&) = delete;
  SqlEngine& operator=(const SqlEngine&) = delete;

  [[nodiscard]] std::string url() const { return server_.url(); }
  [[nodiscard]] std::uint16_t port() const { return server_.port(); }
  [[nodiscard]] StoreService& store() { return *service_; }
  [[nodiscard]] const StoreService& store() const { return *service_; }
  [[nodiscard]] lab::Server& server() { return server_; }

  // What clients have made becomes what start_over() makes again. There are no clients.
  virtual base::Status keep_as_template() = 0;
  // Clients lose their connections, and their transactions end.
  virtual base::Status end_clients() = 0;
  // A new store with what was kept. Clients lose their connections.
  virtual base::Status start_over(const mock::Options& store) = 0;

 protected:
  // What a server needs, in the order of their lives: the server ends first.
  struct Parts {
    base::TempDir folder;
    std::unique_ptr<StoreService> service;
    lab::Server server;
  };
  struct Library {
    std::string_view bytes;    // empty: the build had no headers of the server
    std::string name;          // of its file
    std::string server;        // "PostgreSQL"
    std::string instructions;  // how to build with it
  };
  // The options of the server: `settings` of the library's folder, its file and the socket.
  struct Places {
    std::string folder, library, socket;
  };
  template <typename Settings>
  static base::Result<Parts> start_parts(lab::Kind kind, const Library& library,
                                         const Options& options, const Settings& settings) {
    auto folder = prepare_folder(library);
    if (!folder.ok()) return std::move(folder).error();
    const Places places{folder->path().string(), folder->file(library.name), folder->file("store")};
    auto service = StoreService::start(places.socket, options.store);
    if (!service.ok()) return std::move(service).error();
    auto server = lab::start(
        kind,
        {.server_options = settings(places), .durable = false, .interrupted = options.interrupted});
    if (!server.ok()) return std::move(server).error();
    (*service)->set_engine_port(server->port());
    return Parts{std::move(*folder), std::move(*service), std::move(*server)};
  }

  explicit SqlEngine(Parts parts)
      : folder_(std::move(parts.folder)),
        service_(std::move(parts.service)),
        server_(std::move(parts.server)) {}

  [[nodiscard]] std::string library_file(const std::string& name) const {
    return folder_.file(name);
  }
  // Runs a client program that executes statements. Error: what it printed.
  static base::Status run_client(std::vector<std::string> command, const char* cleared_variable,
                                 std::string_view server);

 private:
  // With the library in it.
  static base::Result<base::TempDir> prepare_folder(const Library& library);

  base::TempDir folder_;
  std::unique_ptr<StoreService> service_;
  lab::Server server_;
};

}  // namespace cupel::engines
