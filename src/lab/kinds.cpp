// The table of kinds, and the user that each runs as.
#include "lab/kinds.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace cupel::lab {

namespace {

constexpr std::array kKinds{
    Kind::kPostgres, Kind::kPostgresStandby, Kind::kMariadb, Kind::kMariadbReplica,
    Kind::kGalera,   Kind::kRedis,           Kind::kEtcd};

}  // namespace

const KindSpec& spec_of(Kind kind) {
  switch (kind) {
    case Kind::kPostgres:
      return kPostgresKind;
    case Kind::kPostgresStandby:
      return kPostgresStandbyKind;
    case Kind::kMariadb:
      return kMariadbKind;
    case Kind::kMariadbReplica:
      return kMariadbReplicaKind;
    case Kind::kGalera:
      return kGaleraKind;
    case Kind::kRedis:
      return kRedisKind;
    case Kind::kEtcd:
      break;
  }
  return kEtcdKind;
}

std::span<const Kind> all_kinds() {
  return kKinds;
}

std::string_view name(Kind kind) {
  return spec_of(kind).name;
}
std::string_view summary(Kind kind) {
  return spec_of(kind).summary;
}
bool has_standbys(Kind kind) {
  return spec_of(kind).has_standbys;
}
NodeCount node_count(Kind kind) {
  return {spec_of(kind).least_nodes, spec_of(kind).default_nodes, spec_of(kind).most_nodes};
}

std::optional<Kind> parse_kind(std::string_view text) {
  const auto found =
      std::find_if(kKinds.begin(), kKinds.end(), [text](Kind kind) { return name(kind) == text; });
  return found == kKinds.end() ? std::nullopt : std::optional(*found);
}

std::optional<base::Credentials> user_of(Kind kind) {
  if (::geteuid() != 0) return std::nullopt;
  for (const auto& user : {std::string(spec_of(kind).user), std::string("nobody")}) {
    passwd entry{};
    passwd* found = nullptr;
    std::vector<char> buffer(16384);
    if (::getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
        found != nullptr) {
      return base::Credentials{found->pw_uid, found->pw_gid};
    }
  }
  constexpr uid_t kNobodyUser = 65534;  // "nobody"
  return base::Credentials{kNobodyUser, kNobodyUser};
}

}  // namespace cupel::lab
