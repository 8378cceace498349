// PlainMysql in a build without libmariadb: no connection can be made.
#include "drivers/mysql/plain.hpp"

namespace cupel::drivers {

struct PlainMysql::State {};

PlainMysql::PlainMysql(std::unique_ptr<State> state) : state_(std::move(state)) {}
PlainMysql::PlainMysql(PlainMysql&&) noexcept = default;
PlainMysql& PlainMysql::operator=(PlainMysql&&) noexcept = default;
PlainMysql::~PlainMysql() = default;

base::Result<PlainMysql> PlainMysql::connect(const Options& /*options*/) {
  return base::Error{.message =
                         "this build has no libmariadb; install libmariadb-dev and build again"};
}
base::Result<std::vector<PlainMysql::Cells>> PlainMysql::run(const std::string& /*statement*/) {
  return base::Error{.message = "not connected"};
}
unsigned PlainMysql::error_number() const {
  return 0;
}

}  // namespace cupel::drivers
