// See the header.
#include "apps/mock/mock_doctor.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "apps/findings.hpp"
#include "databases/lab/server.hpp"
#include "mock/engines/mariadb_engine.hpp"
#include "mock/engines/postgres_engine.hpp"

namespace cupel::apps {

namespace {

Finding engine(const char* name, lab::Kind kind, std::string_view library, const char* remedy) {
  Finding finding{fmt::format("--engine {}", name),
                  "all of its SQL, over a store as weak as its isolation level",
                  problem_of(lab::find_programs(kind))};
  if (library.empty()) finding.problem = fmt::format("left out of this build; {}", remedy);
  return finding;
}

}  // namespace

std::string mock_findings() {
  const Finding findings[] = {
      {"--engine own", "a subset of PostgreSQL's SQL"},
      engine("postgres", lab::Kind::kPostgres, engines::weak_table_library(),
             "run tools/server-headers.sh and build again"),
      engine("mariadb", lab::Kind::kMariadb, engines::weak_engine_library(),
             "run tools/server-headers.sh and build again")};
  auto all = nlohmann::ordered_json::array();
  for (const auto& [name, what, problem] : findings) {
    all.push_back({{"name", name}, {"what", what}, {"problem", problem}});
  }
  return all.dump();
}

}  // namespace cupel::apps
