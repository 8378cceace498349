// PlainPostgres in a build without libpq: no connection can be made.
#include "drivers/postgres/plain.hpp"

namespace cupel::drivers {

struct PlainPostgres::State {
  std::string empty;
};

PlainPostgres::PlainPostgres(std::unique_ptr<State> state) : state_(std::move(state)) {}
PlainPostgres::PlainPostgres(PlainPostgres&&) noexcept = default;
PlainPostgres& PlainPostgres::operator=(PlainPostgres&&) noexcept = default;
PlainPostgres::~PlainPostgres() = default;

base::Result<PlainPostgres> PlainPostgres::connect(
    const std::vector<std::pair<std::string, std::string>>& /*parameters*/) {
  return base::Error{.message = "this build has no libpq; install libpq-dev and build again"};
}
base::Result<std::vector<PlainPostgres::Cells>> PlainPostgres::run(
    const std::string& /*statements*/) {
  return base::Error{.message = "not connected"};
}
base::Result<std::vector<PlainPostgres::Cells>> PlainPostgres::run(
    const std::string& /*statement*/, const std::vector<Parameter>& /*parameters*/,
    bool /*binary_rows*/) {
  return base::Error{.message = "not connected"};
}
const std::string& PlainPostgres::sqlstate() const {
  return state_->empty;
}
std::string PlainPostgres::literal(const std::string& text) const {
  return text;
}
std::string PlainPostgres::identifier(const std::string& name) const {
  return name;
}

}  // namespace cupel::drivers
