// One thread, poll() on all sockets; see the header.
#include "mock/proxy/scheduling_proxy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <set>
#include <system_error>
#include <thread>

#include "base/no_thread.hpp"
#include "base/tcp.hpp"
#include "base/text.hpp"
#include "mock/proxy/activity.hpp"
#include "mock/wire/mysql/codec.hpp"
#include "mock/wire/socket.hpp"

namespace cupel::proxy {

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

constexpr std::size_t kChunk = 65536;
constexpr std::size_t kMostUnsent = std::size_t{4} << 20;  // then nothing more is read for it
constexpr std::size_t kMostClients = 256;
constexpr base::Seconds kConnecting{10};
// A wait for a lock is one that is seen twice, so much apart.
constexpr Milliseconds kBetweenLooks{10};
// A command whose threads sleep again and again, but never for long, is quiet after so many times
// the settle time; one that never sleeps, after it has worked so long. On a loaded machine, threads
// that are about to send something wait long for a processor.
constexpr int kSettlesAsleep = 20, kSettlesRunning = 400;
constexpr int kSettlesStuck = 10 * kSettlesRunning;  // then, whatever its threads do

base::Result<base::Descriptor> connect_to(const Endpoint& server) {
  if (server.socket.empty())
    return base::connect_tcp({server.host, server.port}, base::Patience(kConnecting));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto& path = server.socket;
  if (path.size() >= sizeof address.sun_path)
    return base::Error{.message = "the path of the socket is too long", .file = path};
  std::memcpy(address.sun_path, path.c_str(), path.size());
  base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return base::Error{.message = std::strerror(errno), .file = path};
  ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  return socket;
}

void send_at_once(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// False: nothing came.
bool receive(Line& line) {
  char bytes[kChunk];
  bool anything = false;
  for (;;) {
    const auto size = line.tls ? line.tls->receive(bytes, sizeof bytes)
                               : ::recv(line.socket.get(), bytes, sizeof bytes, 0);
    if (size > 0) line.in.add({bytes, static_cast<std::size_t>(size)});
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) line.ended = true;
    anything |= size > 0 || line.ended;
    // The rest can wait until there is room for it.
    if (size <= 0 || !line.tls || !line.tls->has_more()) return anything;
  }
}
void send(Line& line) {
  const auto size = line.tls
                        ? line.tls->send(line.out.data(), line.out.size())
                        : ::send(line.socket.get(), line.out.data(), line.out.size(), MSG_NOSIGNAL);
  if (size > 0) line.out.erase(0, static_cast<std::size_t>(size));
  if (size < 0 && errno != EAGAIN && errno != EINTR) {
    line.out.clear();
    line.ended = true;
  }
}

// More of what the server says first. False: nothing comes in time.
bool receive_first(Line& line, const base::Patience& patience) {
  return patience.wait(line.socket.get(), POLLIN) && receive(line) && !line.ended;
}

// Asks for TLS in the words of the protocol.
base::Status ask_for_tls(Line& line, Dialect dialect, const base::Patience& patience) {
  const base::Error none{.message = "it offers no TLS, and the URL asks for it"};
  if (dialect == Dialect::kPostgres) {
    const std::string_view request("\0\0\0\x08\x04\xd2\x16\x2f", 8);
    if (auto sent = base::send_all(line.socket, request, patience); !sent.ok()) return sent;
    if (!receive_first(line, patience)) return patience.late();
    const auto answer = line.in.bytes();
    if (answer != "S") return none;  // more would not be from within TLS
    line.in.drop(1);
    return base::Ok{};
  }
  wire::mysql::Packet greeting;
  while (greeting.kind != wire::mysql::Packet::Kind::kPacket) {
    if (!receive_first(line, patience)) return patience.late();
    wire::mysql::decode_packet(line.in.bytes(), kChunk, greeting);
    if (greeting.kind == wire::mysql::Packet::Kind::kTooLong) return none;
  }
  if (greeting.size != line.in.bytes().size() || !wire::mysql::offers_tls(greeting.payload))
    return none;
  std::string request;
  wire::mysql::put_packet(request, wire::mysql::tls_request(), 1);
  return base::send_all(line.socket, request, patience);
}

struct Client : Link {
  std::unique_ptr<Dialogue> dialogue;
  bool stuck = false;  // it waits for a lock of a client that is not running
};

}  // namespace

class SchedulingProxy::Loop {
 public:
  explicit Loop(Options options) : options_(std::move(options)) {
    options_.dialogue.tls = options_.server.tls.has_value();
  }
  ~Loop() { stop(); }

  base::Status start() {
    auto listening = wire::listen_on("127.0.0.1", 0);
    if (!listening.ok()) return std::move(listening).error();
    listening_ = std::move(*listening);
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
      return base::no_thread("the proxy", error);
    }
    return base::Ok{};
  }
  void stop() {
    if (!thread_.joinable()) return;
    stop_.signal();
    thread_.join();
    clients_.clear();
  }

  [[nodiscard]] std::uint16_t port() const { return listening_.port; }
  void watch(pid_t command) { command_ = command; }
  [[nodiscard]] const std::vector<Executed>& executed() const { return executed_; }
  [[nodiscard]] std::uint64_t connections() const { return connections_; }
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  [[nodiscard]] std::chrono::nanoseconds now() const { return Clock::now() - began_; }
  [[nodiscard]] bool holds() const { return options_.dialogue.holds; }

  // --- The sockets

  void run() {
    std::vector<pollfd> entries;
    std::vector<std::pair<Client*, Line*>> lines;
    while (!stop_.signaled()) {
      entries = {{listening_.socket.get(), POLLIN, 0}, {stop_.number(), POLLIN, 0}};
      lines.clear();
      bool busy = false;
      for (auto& client : clients_) {
        busy |= client.waiting.has_value() || client.running.has_value();
        for (auto* line : {&client.client, &client.server}) {
          if (!line->socket) continue;
          const auto& other = line == &client.client ? client.server : client.client;
          short events = 0;
          const bool full =
              other.out.size() >= kMostUnsent ||
              (line == &client.client && client.waiting && line->in.bytes().size() >= kMostUnsent);
          if (!line->ended && !full) events |= POLLIN;
          if (!line->out.empty()) events |= POLLOUT;
          entries.push_back(
              {line->ended && line->out.empty() ? -1 : line->socket.get(), events, 0});
          lines.emplace_back(&client, line);
        }
      }
      const int found = ::poll(entries.data(), entries.size(), busy ? 2 : 100);
      bool anything = false;
      if (found > 0) {
        for (std::size_t i = 0; i < lines.size(); ++i) {
          if (serve(*lines[i].first, *lines[i].second, entries[i + 2].revents)) anything = true;
        }
        if (entries[0].revents != 0) anything |= accept_one();
        for (auto& client : clients_) tend(client);
        remove_gone();
      }
      if (anything) {
        last_event_ = Clock::now();
        looked_.reset();
      } else if (holds()) {
        decide();
      }
    }
    end_turn();
  }

  bool accept_one() {
    base::Descriptor socket(
        ::accept4(listening_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket || clients_.size() >= kMostClients) return false;
    send_at_once(socket.get());
    auto& client = clients_.emplace_back();
    client.client.socket = std::move(socket);
    const bool mysql = options_.dialect == Dialect::kMysql;
    client.dialogue =
        mysql ? mysql_dialogue(options_.dialogue) : postgres_dialogue(options_.dialogue);
    // The server speaks first, or the client does.
    client.phase = mysql ? Client::Phase::kStartup : Client::Phase::kOpening;
    return true;
  }

  static bool serve(Client&, Line& line, short events) {
    bool anything = false;
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && !line.ended) anything = receive(line);
    if ((events & POLLOUT) != 0) {
      send(line);
      anything = true;
    }
    return anything;
  }

  // Works on what came, as far as it goes.
  void tend(Client& client) {
    from_server(client);
    from_client(client);
    if (client.phase == Client::Phase::kStartup && !client.server.socket) connect(client);
    if (client.server.socket && client.server.ended && client.phase != Client::Phase::kClosing) {
      if (client.running) done(client);
      client.phase = Client::Phase::kClosing;
      client.waiting.reset();
    }
    for (auto* line : {&client.client, &client.server}) {
      if (line->socket && !line->out.empty() && !line->ended) send(*line);
    }
  }

  void remove_gone() {
    clients_.remove_if([](const Client& client) {
      if (client.phase == Client::Phase::kClosing)
        return client.client.out.empty() || client.client.ended;
      return client.client.ended && !client.server.socket;
    });
  }

  void connect(Client& client) {
    auto server = connect_to(options_.server);
    auto secured = server.ok() ? base::Status(base::Ok{}) : base::Status(server.error());
    if (server.ok()) {
      client.server.socket = std::move(*server);
      send_at_once(client.server.socket.get());
      if (options_.server.tls) secured = start_tls(client.server);
      if (secured.ok()) return;
    }
    trouble_ = secured.error().to_string();
    client.dialogue->refuse(client, "08001", "the server cannot be reached: " + trouble_);
  }

  base::Status start_tls(Line& line) const {
    const base::Patience patience(kConnecting);
    if (auto asked = ask_for_tls(line, options_.dialect, patience); !asked.ok()) return asked;
    auto tls = wire::Tls::connect(line.socket.get(), *options_.server.tls, patience);
    if (!tls.ok()) return std::move(tls).error();
    line.tls = std::move(*tls);
    return base::Ok{};
  }

  // --- What clients send

  void from_client(Client& client) {
    using Phase = Client::Phase;
    while (client.phase != Phase::kClosing) {
      if (client.waiting || (client.running && !client.copying)) return;
      if (!client.dialogue->from_client(client)) break;
      if (client.name.empty() && !client.wanted_name.empty()) {
        client.name = name_for(client.wanted_name);
        ++connections_;
      }
      if (client.waiting) arrived(client);
    }
    if (client.client.ended && client.server.socket && !client.waiting && !client.running) {
      if (client.phase == Phase::kReady && holds()) {
        client.waiting = client.dialogue->farewell();
        arrived(client);
      } else if (client.server.out.empty()) {
        client.phase = Phase::kClosing;
        client.server.socket.reset();
      }
    }
  }

  [[nodiscard]] std::string name_for(const std::string& wanted) const {
    const auto taken = [&](const std::string& name) {
      return std::any_of(clients_.begin(), clients_.end(), [&](const Client& other) {
        return other.name == name && other.phase != Client::Phase::kClosing;
      });
    };
    auto name = wanted;
    for (int number = 2; taken(name); ++number) name = fmt::format("{}#{}", wanted, number);
    return name;
  }

  // A whole batch: it waits for its turn, unless it concerns nobody else.
  void arrived(Client& client) {
    const auto& batch = *client.waiting;
    for (const auto& request : batch.requests) {
      const auto text = base::to_lower(request.text);
      for (const auto* lock : {"advisory", "get_lock", "lock table", "with read lock"})
        client.keeps_locks |= text.find(lock) != std::string::npos;
    }
    const bool local = batch.leaves ? client.state == 'I' && !client.keeps_locks
                                    : client.dialogue->is_local(client);
    if (local) go_on(client, 0);
  }

  void go_on(Client& client, std::uint64_t turn) {
    client.running = std::move(*client.waiting);
    client.waiting.reset();
    auto& batch = *client.running;
    client.doing = {.client = client.name,
                    .requests = batch.requests,
                    .unreadable = batch.unreadable || (batch.leaves && client.keeps_locks),
                    .left = batch.leaves,
                    .before = client.state == 'F' ? 'T' : client.state,
                    .own_settings = client.own_settings,
                    .turn = turn,
                    .began = now()};
    client.answer = {};
    client.row_bytes = 0;
    client.stuck = false;
    client.server.out += batch.bytes;
    batch.bytes.clear();
    if (client.dialogue->sent(client)) done(client);
  }

  // --- What the server answers

  void from_server(Client& client) {
    using Step = Dialogue::Step;
    for (;;) {
      if (!client.server.socket || client.client.out.size() >= kMostUnsent) return;
      const auto step = client.dialogue->from_server(client);
      if (step == Step::kIncomplete) return;
      if (step == Step::kDone && client.running) done(client);
    }
  }

  // The batch under way has its answers.
  void done(Client& client) {
    auto& doing = client.doing;
    if (!client.answer.recorded.empty()) doing.answers.push_back(std::exchange(client.answer, {}));
    if (options_.recorded && !doing.requests.empty() && !doing.left) take_recorded(client);
    doing.after = client.running->leaves ? 'I' : client.state == 'F' ? 'T' : client.state;
    doing.ended = now();
    doing.done_in = turn_;
    client.running.reset();
    client.stuck = false;
    if (doing.left) {
      client.phase = Client::Phase::kClosing;
      client.server.socket.reset();
    }
    if (holds() && (!doing.requests.empty() || doing.before != doing.after || doing.unreadable))
      of_turn_.push_back(std::move(doing));
    doing = {};
  }

  void take_recorded(Client& client) {
    auto recorded = options_.recorded(client.backend);
    if (!recorded.ok()) {
      trouble_ = recorded.error().to_string();
      return;
    }
    auto& answers = client.doing.answers;
    if (recorded->empty()) return;
    // Of several statements that were sent together it is not known which one wrote a row.
    if (answers.size() != 1) answers.emplace_back();
    answers.back().recorded = std::move(*recorded);
  }

  // --- Whose turn it is

  void decide() {
    const bool any_waits = std::any_of(clients_.begin(), clients_.end(),
                                       [](const Client& client) { return client.waiting; });
    const bool any_runs = std::any_of(clients_.begin(), clients_.end(),
                                      [](const Client& client) { return client.running; });
    if (any_runs && !all_stuck()) return;
    end_turn();
    if (!any_waits || !quiet()) return;
    std::vector<Client*> able;
    for (auto& client : clients_) {
      if (client.waiting) able.push_back(&client);
    }
    std::sort(able.begin(), able.end(),
              [](const Client* one, const Client* other) { return one->name < other->name; });
    std::vector<Interleavings::Waiting> waiting;
    for (const auto* client : able) waiting.push_back({client->name, label(*client->waiting)});
    const auto chosen = std::min(options_.choose(waiting), able.size() - 1);
    ++turn_;
    turn_of_ = able[chosen]->name;
    turn_open_ = true;
    go_on(*able[chosen], turn_);
    tend(*able[chosen]);
    last_event_ = Clock::now();
    looked_.reset();
  }

  static std::string label(const Batch& batch) {
    if (batch.leaves) return "(leaves)";
    std::string text;
    for (const auto& request : batch.requests) {
      text += request.text;
      for (const auto& parameter : request.parameters)
        text += "\n" + parameter.value.value_or("NULL");
      text += '\n';
    }
    return text;
  }

  // The turn's own statement was done before those that it let go on.
  void end_turn() {
    if (!turn_open_ && of_turn_.empty()) return;
    std::stable_partition(of_turn_.begin(), of_turn_.end(), [&](const Executed& one) {
      return turn_open_ && one.client == turn_of_;
    });
    const auto waits = std::find_if(clients_.begin(), clients_.end(), [&](const Client& client) {
      return turn_open_ && client.running && client.name == turn_of_;
    });
    turn_open_ = false;
    if (options_.ran) options_.ran(of_turn_, waits == clients_.end() ? nullptr : &waits->doing);
    std::move(of_turn_.begin(), of_turn_.end(), std::back_inserter(executed_));
    of_turn_.clear();
  }

  // Whether each statement under way waits for a lock that a client without one under way holds,
  // directly or behind others that do.
  bool all_stuck() {
    const auto since = Clock::now() - last_event_;
    if (looked_ ? Clock::now() - *looked_ < kBetweenLooks : since < Milliseconds(2)) return false;
    std::vector<std::int32_t> backends;
    for (const auto& client : clients_) {
      if (client.running) backends.push_back(client.backend);
    }
    const auto blockers = options_.blockers(backends);
    if (!blockers.ok()) {
      trouble_ = blockers.error().to_string();
      return false;
    }
    std::set<std::int32_t> held{kSomeClient};
    for (const auto& client : clients_) {
      if (!client.running && client.backend != 0) held.insert(client.backend);
    }
    for (bool more = true; more;) {
      more = false;
      for (const auto& [backend, others] : *blockers) {
        if (held.contains(backend)) continue;
        if (std::any_of(others.begin(), others.end(),
                        [&](std::int32_t other) { return held.contains(other); })) {
          held.insert(backend);
          more = true;
        }
      }
    }
    const bool all = std::all_of(clients_.begin(), clients_.end(), [&](const Client& client) {
      return !client.running || held.contains(client.backend);
    });
    const bool before = looked_.has_value() && stuck_before_;
    looked_ = Clock::now();
    stuck_before_ = all;
    if (!all || !before) return false;
    for (auto& client : clients_) {
      if (client.running) client.stuck = client.doing.waited = true;
    }
    return true;
  }

  bool quiet() {
    const auto at = Clock::now();
    const auto calm = at - last_event_;
    if (calm < options_.settle) return false;
    if (std::any_of(clients_.begin(), clients_.end(),
                    [](const Client& client) {
                      return client.phase == Client::Phase::kStartup ||
                             client.phase == Client::Phase::kOpening;
                    }) &&
        calm < kSettlesRunning * options_.settle) {
      return false;
    }
    const pid_t command = command_;
    if (command == 0) return true;
    if (calm >= kSettlesStuck * options_.settle) return true;
    auto threads = threads_of(command);
    if (threads.running) {
      sampled_.reset();
      if (!worked_ || worked_->first < last_event_ || worked_->second > threads.worked)
        worked_.emplace(at, threads.worked);
      return threads.worked - worked_->second >= kSettlesRunning * options_.settle;
    }
    if (calm >= kSettlesAsleep * options_.settle) return true;
    if (!sampled_ || sampled_->second != threads || sampled_->first < last_event_) {
      sampled_.emplace(at, std::move(threads));
      return false;
    }
    return at - sampled_->first >= options_.settle;
  }

  Options options_;
  const Clock::time_point began_ = Clock::now();
  wire::Listening listening_;
  wire::StopEvent stop_;
  std::thread thread_;
  std::atomic<pid_t> command_ = 0;

  // Of the thread.
  std::list<Client> clients_;
  std::uint64_t turn_ = 0;
  std::atomic<std::uint64_t> connections_ = 0;
  std::string turn_of_;
  bool turn_open_ = false;
  std::vector<Executed> of_turn_, executed_;
  Clock::time_point last_event_ = Clock::now();
  std::optional<Clock::time_point> looked_;  // at the locks, since the last event
  bool stuck_before_ = false;
  std::optional<std::pair<Clock::time_point, ThreadCounts>> sampled_;
  std::optional<std::pair<Clock::time_point, std::chrono::nanoseconds>> worked_;
  std::string trouble_;
};

SchedulingProxy::SchedulingProxy(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
SchedulingProxy::~SchedulingProxy() = default;

base::Result<std::unique_ptr<SchedulingProxy>> SchedulingProxy::start(Options options) {
  auto loop = std::make_unique<Loop>(std::move(options));
  if (auto started = loop->start(); !started.ok()) return std::move(started).error();
  return std::unique_ptr<SchedulingProxy>(new SchedulingProxy(std::move(loop)));
}
std::uint16_t SchedulingProxy::port() const {
  return loop_->port();
}
void SchedulingProxy::watch(pid_t command) {
  loop_->watch(command);
}
void SchedulingProxy::stop() {
  loop_->stop();
}
const std::vector<Executed>& SchedulingProxy::executed() const {
  return loop_->executed();
}
std::uint64_t SchedulingProxy::connections() const {
  return loop_->connections();
}
const std::string& SchedulingProxy::trouble() const {
  return loop_->trouble();
}

}  // namespace cupel::proxy
