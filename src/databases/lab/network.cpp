// Network: with `ip` (iproute2) and `nft` (nftables).
#include "databases/lab/network.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/budget.hpp"
#include "base/folder.hpp"
#include "base/process.hpp"
#include "databases/lab/namespaces.hpp"
#include "databases/lab/programs.hpp"
#include "databases/lab/remains.hpp"
#include "databases/lab/slow_links.hpp"

namespace cupel::lab {

namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Ok;
using base::Status;

constexpr const char* kNamed = "cupel-";            // … of one with a name, and six letters
constexpr const char* kUnnamed = "cupel";           // the bridge of a network without a name
constexpr const char* kNamesFolder = "/run/netns";  // of `ip netns`
constexpr const char* kNodesInterface = "eth0";
constexpr unsigned kClientsHost = 254, kLastSubnet = 255;
constexpr base::Seconds kPatience{20};
constexpr std::uint64_t kShares = 1'000'000;  // in which a loss is counted

std::string address_in(unsigned subnet, unsigned host) {
  return fmt::format("198.18.{}.{}", subnet, host);
}

// Of a node's namespace, and of its interface at the bridge.
std::string link_name(const std::string& bridge, std::size_t node) {
  return fmt::format("{}-{}", bridge, node);
}

// The names of a network's namespaces.
std::vector<std::string> namespaces_of(const std::string& id) {
  std::vector<std::string> names;
  for (auto& name : base::names_in_folder(kNamesFolder).value_or(std::vector<std::string>())) {
    if (name.starts_with(id + "-")) names.push_back(std::move(name));
  }
  return names;
}

// A program that reads commands from its input, if there are any, while it runs.
class Commands {
 public:
  static base::Result<Commands> start(std::vector<std::string> arguments, const std::string& text,
                                      const std::string& network = {}) {
    const auto program = arguments.front();
    arguments.front() = find_program(program);
    if (auto found = need(arguments.front(), fmt::format("program `{}`", program),
                          program == "ip" ? "iproute2" : "nftables");
        !found.ok()) {
      return std::move(found).error();
    }
    auto process = base::Process::start(
        {.arguments = std::move(arguments),
         .input = text.empty() ? base::Stream::nothing() : base::Stream::pipe(),
         .output = base::Stream::pipe(),
         .errors = base::Stream::output(),
         .network = network});
    if (!process.ok()) return std::move(process).error();
    // If it ends before it has read all, what it says is the better error.
    if (!text.empty()) static_cast<void>(process->write_line(text, kPatience));
    process->close_input();
    return Commands(program, std::move(*process));
  }
  // What it wrote.
  base::Result<std::string> end() {
    auto text = process_.read_all(kPatience);
    const auto status = process_.wait(kPatience);
    if (text && status && status->well()) return *std::move(text);
    return Error{.message =
                     fmt::format("`{}` {}: {}", program_,
                                 status ? status->to_string() : "did not end", text.value_or(""))};
  }

 private:
  Commands(std::string program, base::Process process)
      : program_(std::move(program)), process_(std::move(process)) {}
  std::string program_;
  base::Process process_;
};

Status run_ip(const std::string& commands, const std::string& network = {}) {
  auto started = Commands::start({"ip", "-batch", "-"}, commands, network);
  if (!started.ok()) return std::move(started).error();
  auto ended = started->end();
  if (!ended.ok()) return std::move(ended).error();
  return Ok{};
}

// Where packets arrive: a node, or the clients.
struct End {
  Namespace network;
  std::string interface;
  std::string address;
  std::optional<std::string> rules = {};  // in force; none: not known
};

// What is wrong between two ends, all faults together.
LinkFault merged(LinkFault one, const LinkFault& other) {
  one.loss = 1 - (1 - one.loss) * (1 - other.loss);
  one.reset = one.reset || other.reset;
  one.delay += other.delay;
  one.jitter += other.jitter;
  if (one.bytes_per_second == 0 ||
      (other.bytes_per_second != 0 && other.bytes_per_second < one.bytes_per_second)) {
    one.bytes_per_second = other.bytes_per_second;
  }
  return one;
}

bool is_slow(const LinkFault& fault) {
  return fault.delay > 0 || fault.jitter > 0 || fault.bytes_per_second > 0;
}

// The rules for what comes from one end, as lines of nft.
std::string rules_for(const std::string& table, const LinkFault& fault, std::size_t number,
                      const std::string& address) {
  std::string rules;
  const auto add = [&](std::string_view counter, const std::string& match,
                       std::string_view verdict) {
    rules += fmt::format("add counter ip {} {}_{}\n", table, counter, number);
    rules += fmt::format("add rule ip {} input ip saddr {} {} counter name {}_{} {}\n", table,
                         address, match, counter, number, verdict);
  };
  // SlowLinks has a copy, and what it delivers meets the other faults.
  if (is_slow(fault)) add("slow", fmt::format("meta mark != {}", kDeliveredMark), "drop");
  if (fault.loss >= 1) {
    add("lost", "", "drop");
  } else if (fault.loss > 0) {
    const auto share = static_cast<std::uint64_t>(fault.loss * static_cast<double>(kShares));
    add("lost", fmt::format("numgen random mod {} < {}", kShares, share), "drop");
  }
  if (fault.reset) add("reset", "meta l4proto tcp", "reject with tcp reset");
  return rules;
}

}  // namespace

struct Network::State {
  NetworkName name;
  std::vector<End> ends;  // the nodes, then the clients
  SlowLinks slow;

  bool disturbed = false;

  // The bridge, and the table of nft in each network.
  [[nodiscard]] std::string bridge() const { return name.id.empty() ? kUnnamed : name.id; }
  [[nodiscard]] std::size_t number_of(std::size_t node_or_clients) const {
    return node_or_clients == kClients ? ends.size() - 1 : node_or_clients;
  }

  [[nodiscard]] Status check(const LinkFault& fault) const {
    for (const auto end : {fault.from, fault.to}) {
      if (end != kClients && end >= name.nodes) {
        return Error{.message = fmt::format("found node {}, but the nodes are 0 to {}", end,
                                            name.nodes - 1)};
      }
    }
    if (fault.from == fault.to) return Error{.message = "found a link from an end to itself"};
    if (fault.loss < 0 || fault.loss > 1 || fault.delay < 0 || fault.jitter < 0) {
      return Error{.message = "expected a loss from 0 to 1, and no negative delay or jitter"};
    }
    return Ok{};
  }

  // By the ends, the receiver first.
  using Links = std::map<std::pair<std::size_t, std::size_t>, LinkFault>;
  [[nodiscard]] base::Result<Links> links_of(std::span<const LinkFault> faults) const {
    Links links;
    for (const auto& fault : faults) {
      if (auto good = check(fault); !good.ok()) return std::move(good).error();
      const auto [at, fresh] =
          links.try_emplace({number_of(fault.to), number_of(fault.from)}, fault);
      if (!fresh) at->second = merged(at->second, fault);
    }
    return links;
  }

  [[nodiscard]] std::vector<SlowLink> slow_ones(const Links& links) const {
    std::vector<SlowLink> found;
    for (const auto& [numbers, fault] : links) {
      if (!is_slow(fault)) continue;
      const auto& to = ends[numbers.first];
      SlowLink link{.network = &to.network,
                    .interface = to.interface,
                    .delay = fault.delay,
                    .jitter = fault.jitter,
                    .bytes_per_second = fault.bytes_per_second};
      ::inet_pton(AF_INET, ends[numbers.second].address.c_str(), &link.from);
      ::inet_pton(AF_INET, to.address.c_str(), &link.to);
      found.push_back(std::move(link));
    }
    return found;
  }

  // The rules of all ends whose rules change. All programs run at the same time.
  Status apply(const Links& links) {
    std::vector<std::string> rules(ends.size());
    for (const auto& [numbers, fault] : links) {
      rules[numbers.first] +=
          rules_for(bridge(), fault, numbers.second, ends[numbers.second].address);
    }
    std::map<std::size_t, Commands> running;
    Status result = Ok{};
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (rules[i] == ends[i].rules) continue;
      // One transaction. The counters stay, and count on.
      auto started = Commands::start(
          {"nft", "-f", "-"},
          fmt::format("add table ip {0}\n"
                      "add chain ip {0} input {{ type filter hook input priority -300 ; }}\n"
                      "flush chain ip {0} input\n{1}",
                      bridge(), rules[i]),
          ends[i].network.file());
      if (!started.ok()) {
        result = std::move(started).error();
        break;
      }
      running.emplace(i, *std::move(started));
    }
    for (auto& [i, commands] : running) {
      auto ended = commands.end();
      if (ended.ok()) {
        ends[i].rules = rules[i];
      } else {
        result = std::move(ended).error();
      }
    }
    return result;
  }

  Status set_links(std::span<const LinkFault> faults) {
    auto links = links_of(faults);
    if (!links.ok()) return std::move(links).error();
    const auto slow_links = slow_ones(*links);
    if (auto begun = slow.begin(slow_links); !begun.ok()) return begun;
    disturbed = !faults.empty();
    auto applied = apply(*links);
    if (applied.ok()) slow.end_others(slow_links);
    return applied;
  }
};

Network::Network(std::unique_ptr<State> state) : state_(std::move(state)) {}
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() {
  if (state_ != nullptr && state_->disturbed) static_cast<void>(state_->set_links({}));
}

const NetworkName& Network::name() const {
  return state_->name;
}
std::string Network::address(std::size_t node) const {
  return state_->ends.at(node).address;
}
std::string Network::file(std::size_t node) const {
  if (state_->name.id.empty()) return state_->ends.at(node).network.file();
  return fmt::format("{}/{}", kNamesFolder, link_name(state_->name.id, node));
}

Status Network::set_links(std::span<const LinkFault> faults) {
  return state_->set_links(faults);
}

base::Result<std::vector<LinkCount>> Network::disturbed() const {
  std::map<std::pair<std::size_t, std::size_t>, LinkCount> links;
  const auto& ends = state_->ends;
  const auto end_of = [&](std::size_t number) {
    return number + 1 == ends.size() ? kClients : number;
  };
  for (std::size_t to = 0; to < ends.size(); ++to) {
    auto started = Commands::start({"nft", "-j", "list", "counters"}, "", ends[to].network.file());
    if (!started.ok()) return std::move(started).error();
    auto text = started->end();
    if (!text.ok()) return std::move(text).error();
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    const auto all = nlohmann::json::parse(*text, nullptr, false);
    for (const auto& object : all.value("nftables", nlohmann::json::array())) {
      if (!object.contains("counter") || object["counter"].value("table", "") != state_->bridge()) {
        continue;
      }
      const auto& counter = object["counter"];
      const auto name = counter.value("name", "");
      const auto line = name.find('_');
      if (line == std::string::npos) continue;
      const auto from = static_cast<std::size_t>(std::strtoull(&name[line + 1], nullptr, 10));
      auto& link = links[{from, to}];
      link.from = end_of(from);
      link.to = end_of(to);
      const auto kind = name.substr(0, line);
      const auto packets = counter.value("packets", std::uint64_t{0});
      (kind == "lost" ? link.lost : kind == "reset" ? link.reset : link.slow) = packets;
    }
  }
  std::vector<LinkCount> counts;
  for (const auto& [numbers, link] : links) counts.push_back(link);
  return counts;
}

namespace {

// The bridge, and a pair of interfaces for each node, whose namespaces are there. TCP cuts its data
// itself (gso_max_segs): a packet of 64 KB would block a slow link for long.
std::string bridge_commands(const NetworkName& name, const std::string& bridge,
                            const std::vector<std::string>& namespaces) {
  auto commands = fmt::format(
      "link set {0} addrgenmode none gso_max_segs 1\n"
      "addr add {1}/24 dev {0}\n"
      "link set {0} up\n",
      bridge, address_in(name.subnet, kClientsHost));
  for (std::size_t node = 0; node < name.nodes; ++node) {
    commands += fmt::format(
        "link add {0} type veth peer name {1} netns {2}\n"
        "link set {0} addrgenmode none gso_max_segs 1 master {3} up\n",
        link_name(bridge, node), kNodesInterface, namespaces[node], bridge);
  }
  return commands;
}

Status configure_nodes(const NetworkName& name, const std::vector<End>& ends) {
  for (std::size_t node = 0; node < name.nodes; ++node) {
    auto done = run_ip(fmt::format("link set lo up\n"
                                   "link set {0} addrgenmode none gso_max_segs 1\n"
                                   "addr add {1}/24 dev {0}\n"
                                   "link set {0} up\n",
                                   kNodesInterface, ends[node].address),
                       ends[node].network.file());
    if (!done.ok()) return done;
  }
  return Ok{};
}

base::Result<Namespace> open_node(const NetworkName& name, std::size_t node) {
  return Namespace::open(fmt::format("{}/{}", kNamesFolder, link_name(name.id, node)));
}

// All ends, whose namespaces are there.
template <class OpenNode>
base::Result<std::vector<End>> ends_of(const NetworkName& name, const OpenNode& open) {
  std::vector<End> ends;
  for (std::size_t node = 0; node < name.nodes; ++node) {
    base::Result<Namespace> network = open(node);
    if (!network.ok()) return std::move(network).error();
    ends.push_back({.network = *std::move(network),
                    .interface = kNodesInterface,
                    .address = address_in(name.subnet, static_cast<unsigned>(node) + 1)});
  }
  auto here = Namespace::current();
  if (!here.ok()) return std::move(here).error();
  ends.push_back({.network = *std::move(here),
                  .interface = name.id.empty() ? kUnnamed : name.id,
                  .address = address_in(name.subnet, kClientsHost)});
  return ends;
}

// Of 198.18.S.0/24, those S of which an interface here has an address.
std::set<unsigned> taken_subnets() {
  std::set<unsigned> taken;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return taken;
  for (const auto* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    const auto address =
        ntohl(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr);
    constexpr std::uint32_t kRange = 198U << 8 | 18U;
    if (address >> 16 == kRange) taken.insert(address >> 8 & 0xffU);
  }
  ::freeifaddrs(first);
  return taken;
}

// Two programs at the same time would choose the same subnet. The lock goes with its owner.
base::Descriptor lock_names() {
  base::Descriptor file(::open("/run/cupel-lab.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (file) ::flock(file.get(), LOCK_EX);
  return file;
}

}  // namespace

base::Result<Network> Network::make(std::size_t nodes) {
  if (auto entered = enter_new_network(); !entered.ok()) return std::move(entered).error();
  auto state = std::make_unique<State>();
  state->name.nodes = nodes;
  auto ends = ends_of(state->name, [](std::size_t) { return Namespace::make(); });
  if (!ends.ok()) return std::move(ends).error();
  state->ends = *std::move(ends);
  for (auto& end : state->ends) end.rules = "";
  std::vector<std::string> namespaces;
  for (const auto& end : state->ends) namespaces.push_back(end.network.file_for_others());
  auto made = run_ip(fmt::format("link add {} type bridge\n", kUnnamed) +
                     bridge_commands(state->name, kUnnamed, namespaces));
  if (made.ok()) made = configure_nodes(state->name, state->ends);
  if (!made.ok()) return std::move(made).error();
  return Network(std::move(state));
}

base::Result<Network> Network::make_named(std::size_t nodes, const std::string& id,
                                          const std::string& owner) {
  auto state = std::make_unique<State>();
  auto& name = state->name;
  name = {.id = id, .nodes = nodes};
  const auto lock = lock_names();
  const auto taken = taken_subnets();
  while (taken.contains(name.subnet)) ++name.subnet;
  if (name.subnet > kLastSubnet) {
    return Error{.message =
                     "found no free network in 198.18.0.0/16; `cupel lab list` shows "
                     "the servers that run"};
  }
  const auto give_up = [&](Status status) {
    remove_network(id);
    return std::move(status).error();
  };
  auto commands = fmt::format("link add {0} type bridge\nlink set {0} alias \"{1}\"\n", id, owner);
  std::vector<std::string> namespaces;
  for (std::size_t node = 0; node < nodes; ++node) {
    namespaces.push_back(link_name(id, node));
    commands += fmt::format("netns add {}\n", namespaces.back());
  }
  auto made = run_ip(commands + bridge_commands(name, id, namespaces));
  if (!made.ok()) return give_up(std::move(made));
  auto ends = ends_of(name, [&](std::size_t node) { return open_node(name, node); });
  if (!ends.ok()) return give_up(std::move(ends).error());
  state->ends = *std::move(ends);
  for (auto& end : state->ends) end.rules = "";
  made = configure_nodes(name, state->ends);
  if (!made.ok()) return give_up(std::move(made));
  return Network(std::move(state));
}

base::Result<Network> Network::attach(const NetworkName& name) {
  if (!is_network_id(name.id)) return Error{.message = "found no name of a network: " + name.id};
  auto state = std::make_unique<State>();
  state->name = name;
  auto ends = ends_of(name, [&](std::size_t node) { return open_node(name, node); });
  if (!ends.ok()) return std::move(ends).error();
  state->ends = *std::move(ends);
  return Network(std::move(state));
}

bool is_network_id(std::string_view id) {
  constexpr std::size_t kLetters = 6;  // as mkdtemp() makes them
  if (!id.starts_with(kNamed)) return false;
  id.remove_prefix(std::strlen(kNamed));
  return id.size() == kLetters && std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
         });
}

std::string network_id_of(const std::string& directory) {
  const auto name = fs::path(directory).filename().string();
  if (!name.starts_with(kDirectory)) return {};
  auto id = kNamed + name.substr(std::strlen(kDirectory));
  return is_network_id(id) ? id : std::string();
}

void remove_network(const std::string& id) {
  if (!is_network_id(id)) return;
  // The bridge last: by it a half-removed network is found.
  std::string commands;
  for (const auto& name : namespaces_of(id)) commands += fmt::format("netns del {}\n", name);
  if (!commands.empty()) static_cast<void>(run_ip(commands));
  auto rules = Commands::start({"nft", "-f", "-"},
                               fmt::format("add table ip {0}\ndelete table ip {0}\n", id));
  if (rules.ok()) static_cast<void>(rules->end());
  static_cast<void>(run_ip(fmt::format("link del {}\n", id)));
}

std::vector<std::pair<std::string, std::string>> named_networks() {
  std::vector<std::pair<std::string, std::string>> found;
  const auto lock = lock_names();  // none is half made
  auto started = Commands::start({"ip", "-j", "link", "show", "type", "bridge"}, "");
  if (!started.ok()) return found;
  const auto text = started->end();
  if (!text.ok()) return found;
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const auto bridges = nlohmann::json::parse(*text, nullptr, false);
  if (!bridges.is_array()) return found;
  for (const auto& bridge : bridges) {
    const auto id = bridge.value("ifname", "");
    if (is_network_id(id)) found.emplace_back(id, bridge.value("ifalias", ""));
  }
  return found;
}

bool is_inhabited(const std::string& id) {
  std::set<ino_t> networks;
  struct stat facts {};
  for (const auto& name : namespaces_of(id)) {
    if (::stat(fmt::format("{}/{}", kNamesFolder, name).c_str(), &facts) == 0) {
      networks.insert(facts.st_ino);
    }
  }
  const auto processes = base::names_in_folder("/proc");
  if (!processes) return true;  // it may be
  return std::any_of(processes->begin(), processes->end(), [&](const std::string& process) {
    return ::stat(fmt::format("/proc/{}/ns/net", process).c_str(), &facts) == 0 &&
           networks.contains(facts.st_ino);
  });
}

}  // namespace cupel::lab
