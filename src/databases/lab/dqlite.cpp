// dqlite: Debian's dqlite-demo, an application with the Go library's `app` package, which lets a
// node join, makes three nodes voters and the others stand-bys. Only the leader takes SQL.
//
// What the nodes say of their leader is asked in dqlite's wire protocol: words of 8 bytes, little
// endian. A message is its length in words (4 bytes), a type (1), three bytes of nothing, a body.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>

#include "databases/lab/failover.hpp"
#include "databases/lab/kinds.hpp"
#include "databases/lab/programs.hpp"

namespace cupel::lab {

namespace {

using base::Error;
using base::Seconds;

constexpr Seconds kDqliteAnswer{1}, kToTransfer{20}, kToRemoveNode{20};
constexpr auto kToJoin = std::chrono::seconds(20);
constexpr std::size_t kVoters = 3;  // by the `app` package; of two nodes, one
enum DqlitePort : std::uint8_t { kDatabase, kDemoApi };
enum RequestType : std::uint8_t { kAskLeader = 0, kRemove = 14, kAskCluster = 16, kTransfer = 17 };
enum AnswerType : std::uint8_t { kServer = 1, kServers = 3, kEmpty = 8 };
constexpr std::size_t kWord = 8;

base::Status find_dqlite() {
  return need(find_program("dqlite-demo"), "program `dqlite-demo`", "go-dqlite");
}

base::Status initialize_dqlite(const Site& /*site*/) {
  return base::Ok{};  // makes its own
}

std::string dqlite_address(const Node& node) {
  return fmt::format("{}:{}", node.address, node.ports[kDatabase]);
}

std::vector<std::string> dqlite_command(const Site& site, const Node& node) {
  std::vector<std::string> command{find_program("dqlite-demo"), "--verbose",
                                   "--dir=" + node.directory, "--db=" + dqlite_address(node),
                                   fmt::format("--api={}:{}", node.address, node.ports[kDemoApi])};
  // Only of a node that is new: the others know their cluster.
  if (site.number_of(node) > 0) command.push_back("--join=" + dqlite_address(site.nodes.front()));
  for (const auto& option : site.options.server_options) command.push_back("--" + option);
  return command;
}

std::string word(std::uint64_t number) {
  std::string bytes(kWord, '\0');
  std::memcpy(bytes.data(), &number, kWord);
  return bytes;
}

// Takes words from the front of a message's body; nothing is left of one that is cut off.
class DqliteBody {
 public:
  explicit DqliteBody(std::string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes_.data(), std::min(bytes_.size(), kWord));
    bytes_.erase(0, kWord);
    return value;
  }
  std::string text() {
    std::string value(bytes_.c_str());
    bytes_.erase(0, (value.size() / kWord + 1) * kWord);
    return value;
  }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  std::string bytes_;
};

// The body of the answer to a request of one word; none: another answer, or none in time.
std::optional<DqliteBody> ask_dqlite(const Node& node, RequestType request, std::uint64_t argument,
                                     AnswerType expected, Seconds timeout = kDqliteAnswer) {
  constexpr std::uint64_t kProtocol = 1, kOneWord = 1;
  const auto answer =
      ask(node, word(kProtocol) + word(kOneWord | std::uint64_t{request} << 32U) + word(argument),
          timeout);
  if (answer.size() <= kWord || static_cast<std::uint8_t>(answer[4]) != expected) {
    return std::nullopt;
  }
  return DqliteBody(answer.substr(kWord));
}

// Who a node says is the leader; empty: it knows none, or is no voter. None: it does not answer.
std::optional<std::string> leader_by(const Node& node) {
  auto answer = ask_dqlite(node, kAskLeader, 0, kServer);
  if (!answer) return std::nullopt;
  answer->number();  // its id
  return answer->text();
}

struct Member {
  std::uint64_t id = 0;
  std::string address;
  bool voter = false;
};

std::vector<Member> members_by(const Node& node) {
  constexpr std::uint64_t kWithRoles = 1, kVoter = 0;
  std::vector<Member> members;
  auto answer = ask_dqlite(node, kAskCluster, kWithRoles, kServers);
  if (!answer) return members;
  for (auto left = answer->number(); left > 0 && !answer->empty(); --left) {
    Member member{.id = answer->number(), .address = answer->text()};
    member.voter = answer->number() == kVoter;
    members.push_back(std::move(member));
  }
  return members;
}

std::size_t voters_in(const std::vector<Member>& members) {
  return static_cast<std::size_t>(
      std::count_if(members.begin(), members.end(), [](const Member& one) { return one.voter; }));
}

// It knows the leader, unless it is no voter, by what it knows: then it never learns.
bool dqlite_is_up(const Site& /*site*/, const Node& node, std::string_view /*written*/) {
  const auto leader = leader_by(node);
  if (!leader) return false;
  if (!leader->empty()) return true;
  const auto members = members_by(node);
  return std::none_of(members.begin(), members.end(), [&](const Member& member) {
    return member.voter && member.address == dqlite_address(node);
  });
}

std::vector<std::size_t> dqlite_leaders(const Site& site) {
  std::vector<std::size_t> found;
  for (const auto& node : site.nodes) {
    if (leader_by(node) == dqlite_address(node)) found.push_back(site.number_of(node));
  }
  return found;
}

// All have joined, and there are the voters that there will be.
bool dqlite_is_formed(const Site& site) {
  const auto leaders = dqlite_leaders(site);
  if (leaders.size() != 1) return false;
  const auto members = members_by(site.nodes[leaders.front()]);
  return members.size() == site.nodes.size() &&
         voters_in(members) == (members.size() < kVoters ? 1 : kVoters);
}

// The leader hands over to the next voter that answers.
base::Result<std::size_t> transfer_leadership(const Site& site) {
  const auto leaders = dqlite_leaders(site);
  if (leaders.empty()) return Error{.message = "no leader answers that could hand over"};
  const auto leader = leaders.front();
  const auto members = members_by(site.nodes[leader]);
  for (std::size_t i = 1; i < site.nodes.size(); ++i) {
    const auto& next = site.nodes[(leader + i) % site.nodes.size()];
    const auto member = std::find_if(members.begin(), members.end(), [&](const Member& one) {
      return one.voter && one.address == dqlite_address(next);
    });
    if (member == members.end() || !leader_by(next)) continue;
    if (!ask_dqlite(site.nodes[leader], kTransfer, member->id, kEmpty, kToTransfer)) {
      return Error{.message = "the leader does not hand over"};
    }
    return await_primary(kToTransfer, site, dqlite_leaders, leader);
  }
  return Error{.message = "no other voter answers that could be the leader"};
}

// By the leader; empty: none answers.
std::vector<Member> members_by_leader(const Site& site) {
  for (const auto leader : dqlite_leaders(site)) {
    auto members = members_by(site.nodes[leader]);
    if (!members.empty()) return members;
  }
  return {};
}

std::vector<std::size_t> dqlite_members(const Site& site) {
  const auto members = members_by_leader(site);
  std::vector<std::size_t> found;
  for (const auto& node : site.nodes) {
    if (std::any_of(members.begin(), members.end(),
                    [&](const Member& member) { return member.address == dqlite_address(node); })) {
      found.push_back(site.number_of(node));
    }
  }
  return found;
}

// New nodes come one after the other. Each makes the demo's table before it listens on the demo's
// port, and gives up if another one is about to.
void await_earlier(const Site& site, const Start& start) {
  const auto deadline = std::chrono::steady_clock::now() + kToJoin;
  const auto joined = [&] {
    const auto& earlier = site.nodes[start.node - 1];
    return listens(earlier.address, earlier.ports[kDemoApi], kDqliteAnswer);
  };
  while (start.first && start.node > 0 && !joined() &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// By the leader, which hands over before if it is the node itself.
base::Status remove_dqlite(const Site& site, std::size_t node) {
  const auto deadline = std::chrono::steady_clock::now() + kToRemoveNode;
  const auto address = dqlite_address(site.nodes[node]);
  for (; std::chrono::steady_clock::now() < deadline;
       std::this_thread::sleep_for(std::chrono::milliseconds(100))) {
    const auto leaders = dqlite_leaders(site);
    const auto members = members_by_leader(site);
    if (leaders.size() != 1 || members.empty()) continue;
    const auto member = std::find_if(members.begin(), members.end(),
                                     [&](const Member& one) { return one.address == address; });
    if (member == members.end()) return base::Ok{};
    if (leaders.front() == node) {
      auto next = transfer_leadership(site);
      if (!next.ok()) return std::move(next).error();
    } else {
      (void)ask_dqlite(site.nodes[leaders.front()], kRemove, member->id, kEmpty, kToTransfer);
    }
  }
  return Error{.message = "no leader removes the node"};
}

base::Result<std::vector<std::string>> prepare_dqlite(const Site& site, const Start& start) {
  std::vector<std::string> more;
  if (!start.joins) {
    await_earlier(site, start);
    return more;  // why one did not start is in its log
  }
  // An earlier try may have added it, and a member must not forget what it voted for.
  auto removed = remove_dqlite(site, start.node);
  if (!removed.ok()) return std::move(removed).error();
  for (const auto& other : site.nodes) {
    if (!other.left) more.push_back("--join=" + dqlite_address(other));
  }
  return more;
}

// It is a member, and there are the voters that there will be.
bool has_joined_dqlite(const Site& site, std::size_t node) {
  const auto all = dqlite_members(site);
  if (std::find(all.begin(), all.end(), node) == all.end()) return false;
  const auto members = members_by_leader(site);
  return voters_in(members) >= (members.size() < kVoters ? 1 : kVoters);
}

}  // namespace

constinit const KindSpec kDqliteKind{
    .kind = Kind::kDqlite,
    .name = "dqlite",
    .summary = "dqlite, a cluster or one node",
    .user = "nobody",
    .url = "dqlite://HOSTS",
    .default_nodes = 3,
    .most_nodes = 5,
    .ports = 2,  // database, the demo's own
    .together = true,
    .find_programs = find_dqlite,
    .initialize = initialize_dqlite,
    .command = dqlite_command,
    .is_up = dqlite_is_up,
    .prepare = prepare_dqlite,
    .starts_twice = true,
    .is_formed = dqlite_is_formed,
    .primaries = dqlite_leaders,
    .failover = transfer_leadership,
    .membership = {
        .leave = remove_dqlite, .has_joined = has_joined_dqlite, .members = dqlite_members}};

}  // namespace cupel::lab
