// What every driver must do, whatever its database: one suite of tests, run on
// each by a factory. A driver's test file instantiates it:
//
//   INSTANTIATE_TEST_SUITE_P(Sqlite, Conformance, testing::Values(Subject{…}), subject_name);
//
// and lists conformance.cpp among its sources. Cases that need what the database
// cannot do (Database::can()) are skipped, and say so.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "databases/drivers/driver.hpp"

namespace cupel::drivers::testing {

struct Subject {
  std::string name;  // letters and digits
  // A new Database on the same data each time it is called within a case.
  std::function<base::Result<std::unique_ptr<Database>>()> open;
  bool prevents_lost_update = true;  // at this isolation level
  bool sees_uncommitted = false;     // reads may return what others have not committed
  bool others_lag = false;  // other sessions may read what was there before, as in the mock store
  bool same_data = true;    // open() again gives the same tables; else tables of its own
};
inline void PrintTo(const Subject& subject, std::ostream* out) {
  *out << subject.name;
}
std::string subject_name(const ::testing::TestParamInfo<Subject>& info);

// A schema and its rows, with no jobs.
class Tables final : public workload::Workload {
 public:
  explicit Tables(workload::Schema schema) : schema_(std::move(schema)) {}
  Tables& row(std::uint32_t table, std::vector<workload::Datum> key,
              std::vector<workload::Datum> values);

  [[nodiscard]] const workload::Schema& schema() const override { return schema_; }
  [[nodiscard]] workload::Needs needs() const override { return {}; }
  [[nodiscard]] std::uint32_t sessions() const override { return 1; }
  void load(const RowSink& sink) const override;
  [[nodiscard]] workload::Datum loaded(std::uint32_t table, const std::vector<workload::Datum>& key,
                                       std::uint32_t column) const override;
  [[nodiscard]] workload::Datum default_initial() const override { return {}; }
  std::optional<workload::Job> next(std::uint32_t) override { return std::nullopt; }

 private:
  workload::Schema schema_;
  std::vector<std::vector<workload::Row>> rows_;
};

// Statements on the table of kv_schema().
workload::Statement read(workload::Datum key, std::uint32_t table = 0);
workload::Statement write(workload::Datum key, workload::Datum value, std::uint32_t table = 0);
workload::Statement insert(workload::Datum key, workload::Datum value);
workload::Statement remove(workload::Datum key);
workload::Statement append(workload::Datum key, workload::Datum value);
workload::Statement range(workload::Datum low, workload::Datum high);
workload::Statement compare_and_set(workload::Datum key, workload::Datum expected,
                                    workload::Datum value);

// "7", "null", or every row as "key=value".
std::string shown(const workload::Reply& reply);
std::string shown(const MaybeFailure& outcome);

// One transaction that must succeed; the replies as shown() gives them.
std::vector<std::string> run(Connection& connection,
                             const std::vector<workload::Statement>& statements);

// What the URL names, and a session of it; null, and a failure of the case, if that cannot be had.
std::unique_ptr<Database> opened(const std::string& url, const std::string& isolation = {},
                                 double timeout = 10);
std::unique_ptr<Connection> connected(Database& database, std::uint32_t session = 0);
// 1=10 and 2=20.
Tables two_rows();

class Conformance : public ::testing::TestWithParam<Subject> {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Tables with these rows, and a connection a session. Fails the case if not.
  void prepare(const Tables& tables);
  std::unique_ptr<Connection> connect(std::uint32_t session = 0);
  // A session that did not take part sees this; at once, or in some of many tries where
  // others_lag.
  void others_see(const std::vector<workload::Statement>& statements,
                  const std::vector<std::string>& expected);

  std::unique_ptr<Database> database_;
};

}  // namespace cupel::drivers::testing
