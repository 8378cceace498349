// Fuzz target: SQL over the mock store, after a first byte of no meaning. Whatever the text, it is
// answered or refused with an SQLSTATE of five characters.
#include "mock/sql/session.hpp"
#include "touch_history.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace mock = cupel::mock;
  namespace sql = cupel::sql;
  if (size == 0 || size > 4096) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  mock::Store store(mock::Options{});
  sql::Catalog catalog(mock::Level::kCausal);
  const auto session = sql::Session::open(store, catalog, "fuzz");
  session->run("CREATE TABLE t (id int PRIMARY KEY, a int, w text)");
  session->run("INSERT INTO t VALUES (1, 2, 'x'), (2, NULL, 'y')");
  (void)session->prepare(text);
  const auto run = session->run(text);
  if (run.error) {
    cupel::fuzz::require(run.error->sqlstate.size() == 5, "an error has an SQLSTATE");
    cupel::fuzz::require(!run.error->message.empty(), "an error says what is wrong");
  }
  for (const auto& result : run.results) {
    for (const auto& row : result.rows) {
      cupel::fuzz::require(row.size() == result.columns.size(), "a row has a cell a column");
    }
  }
  return 0;
}
