// A store, a catalog and sessions for tests; answers as one line of text.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "mock/sql/session.hpp"

namespace cupel::sql {

inline std::string row_text(const std::vector<Datum>& row) {
  std::string text;
  for (const auto& cell : row) text += (text.empty() ? "" : ",") + cell.value_or("null");
  return text;
}

// "1,a | 2,b"; the tag where there are no rows; "error 42601: …".
inline std::string told(const Result& result) {
  if (!result.has_rows) return result.tag;
  std::string text;
  for (const auto& row : result.rows) text += (text.empty() ? "" : " | ") + row_text(row);
  return text;
}

struct Bench {
  explicit Bench(const mock::Options& options = serializable())
      : store(options), catalog(options.level) {
    session = Session::open(store, catalog, "one");
    other = Session::open(store, catalog, "other");
  }
  static mock::Options serializable() {
    mock::Options options;
    options.level = mock::Level::kStrongSessionSerializable;
    return options;
  }
  static std::string in(Session& session, std::string_view sql) {
    const auto run = session.run(sql);
    if (run.error) return "error " + run.error->sqlstate;
    return run.results.empty() ? "" : told(run.results.back());
  }
  std::string operator()(std::string_view sql) { return in(*session, sql); }

  mock::Store store;
  Catalog catalog;
  std::unique_ptr<Session> session;
  std::unique_ptr<Session> other;
};

}  // namespace cupel::sql
