// A store and its tables as what the servers serve.
#include "mock/wire/backend.hpp"

namespace cupel::wire {

namespace {

class StoreBackend : public Backend {
 public:
  StoreBackend(mock::Store& store, sql::Catalog& catalog) : store_(store), catalog_(catalog) {}
  std::unique_ptr<sql::Session> open_sql(const std::string& name) override {
    return sql::Session::open(store_, catalog_, store_.continue_session(name));
  }
  [[nodiscard]] bool is_versioned() const override { return store_.is_versioned(); }
  std::uint32_t open_keys(const std::string& name) override {
    return store_.continue_session(name);
  }
  void close_keys(std::uint32_t session) override { store_.close_session(session); }
  std::unique_ptr<mock::Transaction> begin(std::uint32_t session,
                                           const mock::Store::BeginOptions& options) override {
    return store_.begin(session, options);
  }
  void shut_down() override { store_.shut_down(); }

 private:
  mock::Store& store_;
  sql::Catalog& catalog_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(mock::Store& store, sql::Catalog& catalog) {
  return std::make_unique<StoreBackend>(store, catalog);
}

}  // namespace cupel::wire
