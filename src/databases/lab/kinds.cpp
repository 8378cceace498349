// The table of kinds, and the user that each runs as.
#include "databases/lab/kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/spelling.hpp"
#include "databases/lab/own.hpp"

namespace cupel::lab {

namespace {

// In the order of the enumerators.
constexpr std::array kSpecs{&kPostgresKind,       &kPostgresStandbyKind, &kMariadbKind,
                            &kMariadbReplicaKind, &kGaleraKind,          &kRedisKind,
                            &kRedisReplicaKind,   &kRedisSentinelKind,   &kRedisClusterKind,
                            &kEtcdKind,           &kZookeeperKind,       &kNatsKind,
                            &kPatroniKind,        &kDqliteKind};

}  // namespace

const KindSpec& spec_of(Kind kind) {
  static_assert(kSpecs.size() == kBuiltInKinds);
  const auto number = static_cast<std::size_t>(kind);
  return number < kSpecs.size() ? *kSpecs[number] : spec_of_own(kind);
}

std::span<const Kind> all_kinds() {
  static const auto all = [] {
    std::array<Kind, kSpecs.size()> kinds{};
    std::transform(kSpecs.begin(), kSpecs.end(), kinds.begin(),
                   [](const KindSpec* spec) { return spec->kind; });
    return kinds;
  }();
  return all;
}

std::string_view name(Kind kind) {
  return spec_of(kind).name;
}
std::string_view summary(Kind kind) {
  return spec_of(kind).summary;
}
std::string_view url_form(Kind kind) {
  return spec_of(kind).url;
}
bool has_standbys(Kind kind) {
  return spec_of(kind).has_standbys;
}
NodeCount node_count(Kind kind) {
  return {spec_of(kind).least_nodes, spec_of(kind).default_nodes, spec_of(kind).most_nodes};
}

base::Status find_programs(Kind kind) {
  return spec_of(kind).find_programs();
}

base::Result<Kind> find_kind(const std::string& text) {
  if (names_own_kind(text)) return own_kind(text);
  std::vector<std::string> names;
  for (const auto* spec : kSpecs) {
    if (spec->name == text) return spec->kind;
    names.emplace_back(spec->name);
  }
  return base::Error{.message =
                         fmt::format("there is no test server `{}`.{} Write one of {}, or the path "
                                     "of a description of your own, which ends in .json",
                                     text, base::suggestion(text, names), fmt::join(names, ", "))};
}

std::vector<std::pair<std::string, std::string>> environment_of(const Site& site) {
  return {{"HOME", site.directory},
          {"TMPDIR", site.directory},
          {"LC_ALL", "C"},
          {kMark, site.directory}};
}

base::Status leave_by_ending(const Site& /*site*/, std::size_t /*node*/) {
  return base::Ok{};
}

std::string ask(const Node& node, std::string_view request, base::Seconds timeout) {
  return ask(node.address, node.ports[0], request, timeout);
}

std::optional<base::Credentials> credentials_of(const std::string& user) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  if (::getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return std::nullopt;
  }
  return base::Credentials{found->pw_uid, found->pw_gid};
}

std::optional<base::Credentials> user_of(Kind kind) {
  if (::geteuid() != 0) return std::nullopt;
  for (const auto& user : {std::string(spec_of(kind).user), std::string("nobody")}) {
    if (auto credentials = credentials_of(user)) return credentials;
  }
  constexpr uid_t kNobodyUser = 65534;  // "nobody"
  return base::Credentials{kNobodyUser, kNobodyUser};
}

}  // namespace cupel::lab
