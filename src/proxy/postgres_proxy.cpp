// One thread, poll() on all sockets; see the header.
#include "proxy/postgres_proxy.hpp"

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
#include <thread>

#include "base/tcp.hpp"
#include "base/text.hpp"
#include "proxy/activity.hpp"
#include "wire/input_buffer.hpp"
#include "wire/socket.hpp"

namespace cupel::proxy {

namespace postgres = wire::postgres;

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

constexpr std::size_t kChunk = 65536;
constexpr std::size_t kMostUnsent = std::size_t{4} << 20;  // then nothing more is read for it
constexpr std::size_t kMostRows = 10'000,
                      kMostRowBytes = std::size_t{4} << 20;  // kept of an answer
constexpr std::size_t kMostClients = 256;
constexpr base::Seconds kConnecting{10};
// A wait for a lock is one that is seen twice, so much apart.
constexpr Milliseconds kBetweenLooks{10};
// A command that never sleeps for long is quiet after so many times the settle time.
constexpr int kSettlesAsleep = 20, kSettlesRunning = 400;

base::Result<base::Descriptor> connect_to(const Endpoint& server) {
  if (!server.host.starts_with('/'))
    return base::connect_tcp({server.host, server.port}, base::Patience(kConnecting));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path = fmt::format("{}/.s.PGSQL.{}", server.host, server.port);
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

// A socket with what is to be sent and what came.
struct Line {
  base::Descriptor socket;
  wire::InputBuffer in;
  std::string out;
  bool ended = false;  // the other side has closed

  // False: nothing came.
  bool receive() {
    char bytes[kChunk];
    const auto size = ::recv(socket.get(), bytes, sizeof bytes, 0);
    if (size > 0) in.add({bytes, static_cast<std::size_t>(size)});
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) ended = true;
    return size > 0 || ended;
  }
  void send() {
    const auto size = ::send(socket.get(), out.data(), out.size(), MSG_NOSIGNAL);
    if (size > 0) out.erase(0, static_cast<std::size_t>(size));
    if (size < 0 && errno != EAGAIN && errno != EINTR) {
      out.clear();
      ended = true;
    }
  }
};

struct Client {
  enum class Phase : std::uint8_t { kOpening, kStartup, kReady, kClosing };
  std::uint64_t number = 0;
  std::string name;
  Phase phase = Phase::kOpening;
  Line client, server;
  std::int32_t backend = 0;  // the server's process
  char state = 'I';
  bool skipping = false;     // the server leaves out what comes before the next Sync
  bool copying = false;      // the client sends data
  bool keeps_locks = false;  // beyond transactions, perhaps
  bool own_settings = false;

  Batches batches;
  std::optional<Batch> waiting;  // for its turn
  std::optional<Batch> running;
  std::size_t answers_left = 0;  // running: until a Flush is answered
  Executed doing;
  Answer answer;
  std::size_t row_bytes = 0;
  bool stuck = false;  // it waits for a lock of a client that is not running
};

}  // namespace

class PostgresProxy::Loop {
 public:
  explicit Loop(Options options) : options_(std::move(options)) {}
  ~Loop() { stop(); }

  base::Status start() {
    auto listening = wire::listen_on("127.0.0.1", 0);
    if (!listening.ok()) return std::move(listening).error();
    listening_ = std::move(*listening);
    thread_ = std::thread([this] { run(); });
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

  // --- The sockets

  void run() {
    std::vector<pollfd> entries;
    std::vector<std::pair<Client*, Line*>> lines;
    while (!stop_.signaled()) {
      entries = {{listening_.socket.number(), POLLIN, 0}, {stop_.number(), POLLIN, 0}};
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
      } else if (options_.holds) {
        decide();
      }
    }
    end_turn();
  }

  bool accept_one() {
    base::Descriptor socket(
        ::accept4(listening_.socket.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket || clients_.size() >= kMostClients) return false;
    send_at_once(socket.get());
    auto& client = clients_.emplace_back();
    client.number = ++last_number_;
    client.client.socket = std::move(socket);
    return true;
  }

  static bool serve(Client&, Line& line, short events) {
    bool anything = false;
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && !line.ended) anything = line.receive();
    if ((events & POLLOUT) != 0) {
      line.send();
      anything = true;
    }
    return anything;
  }

  // Works on what came, as far as it goes.
  void tend(Client& client) {
    from_server(client);
    from_client(client);
    if (client.server.socket && client.server.ended && client.phase != Client::Phase::kClosing) {
      if (client.running) done(client);
      client.phase = Client::Phase::kClosing;
      client.waiting.reset();
    }
    for (auto* line : {&client.client, &client.server}) {
      if (line->socket && !line->out.empty() && !line->ended) line->send();
    }
  }

  void remove_gone() {
    clients_.remove_if([](const Client& client) {
      if (client.phase == Client::Phase::kClosing)
        return client.client.out.empty() || client.client.ended;
      return client.client.ended && !client.server.socket;
    });
  }

  // An error in the server's words, and the end.
  static void refuse(Client& client, std::string_view sqlstate, const std::string& message) {
    postgres::put_error(client.client.out,
                        {.severity = "FATAL", .sqlstate = sqlstate, .message = message});
    client.phase = Client::Phase::kClosing;
    client.server.socket.reset();
  }

  // --- What clients send

  void from_client(Client& client) {
    using Phase = Client::Phase;
    while (client.phase == Phase::kOpening && open(client)) {
    }
    while (client.phase == Phase::kStartup || client.phase == Phase::kReady) {
      if (client.waiting || (client.running && !client.copying)) return;
      const auto bytes = client.client.in.bytes();
      const auto frame = decode_frame(bytes);
      if (frame.kind == postgres::Decoded<Frame>::Kind::kMalformed)
        return refuse(client, "08P01", frame.wrong);
      if (frame.kind == postgres::Decoded<Frame>::Kind::kIncomplete) break;
      const auto whole = bytes.substr(0, frame.size);
      if (client.phase == Phase::kStartup || !options_.holds || client.copying) {
        if (client.copying && (frame.message.letter == 'c' || frame.message.letter == 'f'))
          client.copying = false;
        client.server.out += whole;
      } else if (client.batches.size() + whole.size() > kLongestPassed) {
        return refuse(client, "54000", "a batch of statements is too long for the proxy");
      } else if (client.batches.add(frame.message, whole)) {
        client.waiting = client.batches.take();
      }
      client.client.in.drop(frame.size);
      if (client.waiting) arrived(client);
    }
    if (client.client.ended && client.server.socket && !client.waiting && !client.running) {
      if (client.phase == Phase::kReady && options_.holds) {
        client.waiting = Batch{.bytes = std::string("X\0\0\0\4", 5), .end = 'X'};
        arrived(client);
      } else if (client.server.out.empty()) {
        client.phase = Phase::kClosing;
        client.server.socket.reset();
      }
    }
  }

  // The first messages. False: more has to come.
  bool open(Client& client) {
    using Kind = postgres::Decoded<postgres::Opening>::Kind;
    const auto bytes = client.client.in.bytes();
    const auto opening = postgres::decode_opening(bytes);
    if (opening.kind == Kind::kIncomplete) return false;
    if (opening.kind == Kind::kMalformed) {
      refuse(client, "08P01", opening.wrong);
      return false;
    }
    const std::string message(bytes.substr(0, opening.size));
    client.client.in.drop(opening.size);
    if (std::holds_alternative<postgres::EncryptionRequest>(opening.message)) {
      client.client.out += 'N';
      return true;
    }
    auto server = connect_to(options_.server);
    if (!server.ok()) {
      trouble_ = server.error().to_string();
      refuse(client, "08001", "the server cannot be reached: " + trouble_);
      return false;
    }
    client.server.socket = std::move(*server);
    send_at_once(client.server.socket.get());
    if (const auto* startup = std::get_if<postgres::Startup>(&opening.message)) {
      client.server.out = with_database(message, options_.database_asked, options_.database_given);
      client.phase = Client::Phase::kStartup;
      client.name = name_for(*startup);
      client.own_settings = has_own_settings(*startup);
      ++connections_;
      return false;
    }
    // A cancel request, or a version that the server refuses.
    client.server.out = message;
    client.phase = Client::Phase::kStartup;
    return false;
  }

  [[nodiscard]] std::string name_for(const postgres::Startup& startup) const {
    std::string user, application;
    for (const auto& [name, value] : startup.parameters) {
      if (name == "user") user = value;
      if (name == "application_name") application = value;
    }
    const auto& base = application.empty() ? user : application;
    const auto taken = [&](const std::string& name) {
      return std::any_of(clients_.begin(), clients_.end(), [&](const Client& other) {
        return other.name == name && other.phase != Client::Phase::kClosing;
      });
    };
    auto name = base;
    for (int number = 2; taken(name); ++number) name = fmt::format("{}#{}", base, number);
    return name;
  }

  [[nodiscard]] bool has_own_settings(const postgres::Startup& startup) const {
    return std::any_of(startup.parameters.begin(), startup.parameters.end(), [&](const auto& one) {
      const auto& [name, value] = one;
      return (name == "user" && value != options_.user) || name.ends_with("isolation") ||
             (name == "options" && value.find("isolation") != std::string::npos);
    });
  }

  // A whole batch: it waits for its turn, unless it concerns nobody else.
  void arrived(Client& client) {
    const auto& batch = *client.waiting;
    for (const auto& request : batch.requests) {
      client.keeps_locks |= base::to_lower(request.text).find("advisory") != std::string::npos;
    }
    bool local = false;
    if (batch.end == 'X') {
      local = client.state == 'I' && !client.keeps_locks;
    } else if (client.skipping) {
      local = true;
    } else {
      local = !batch.unreadable && client.state != 'F' &&
              concern_only_the_client(batch.requests, client.state != 'I');
    }
    if (local) go_on(client);
  }

  void go_on(Client& client) {
    client.running = std::move(*client.waiting);
    client.waiting.reset();
    auto& batch = *client.running;
    client.doing = {.client = client.name,
                    .requests = batch.requests,
                    .unreadable = batch.unreadable || (batch.end == 'X' && client.keeps_locks),
                    .left = batch.end == 'X',
                    .before = client.state == 'F' ? 'T' : client.state,
                    .own_settings = client.own_settings,
                    .turn = turn_,
                    .began = now()};
    client.answer = {};
    client.row_bytes = 0;
    client.stuck = false;
    client.answers_left = batch.answers;
    client.server.out += batch.bytes;
    const bool answered = batch.end == 'H' && (client.skipping || client.answers_left == 0);
    batch.bytes.clear();
    if (answered) done(client);
  }

  // --- What the server answers

  void from_server(Client& client) {
    for (;;) {
      if (!client.server.socket || client.client.out.size() >= kMostUnsent) return;
      const auto bytes = client.server.in.bytes();
      // A server that refuses a version, or encryption, may answer without a length.
      if (bytes.empty()) return;
      const auto frame = decode_frame(bytes);
      if (frame.kind == postgres::Decoded<Frame>::Kind::kMalformed)
        return refuse(client, "08P01", "the server's answer: " + frame.wrong);
      if (frame.kind == postgres::Decoded<Frame>::Kind::kIncomplete) return;
      if (!understand(client, frame.message)) client.client.out += bytes.substr(0, frame.size);
      client.server.in.drop(frame.size);
    }
  }

  // True: it is not for the client.
  bool understand(Client& client, const Frame& frame) {
    wire::Reader reader(frame.body);
    switch (frame.letter) {
      case 'K':
        client.backend = reader.big<std::int32_t>();
        break;
      case 'Z':
        client.state = static_cast<char>(reader.big<std::uint8_t>());
        client.phase = Client::Phase::kReady;
        client.skipping = client.copying = false;
        if (client.running) done(client);
        break;
      case 'G':
      case 'W':
        client.copying = true;
        break;
      case 'N':
        return is_recorded(client, frame.body);
      default:
        if (client.running) answered(client, frame);
    }
    return false;
  }

  bool is_recorded(Client& client, std::string_view body) const {
    if (options_.mark.empty()) return false;
    const auto fields = report_fields(body);
    const auto message = fields.find('M');
    if (message == fields.end() || !message->second.starts_with(options_.mark)) return false;
    client.answer.recorded.push_back(message->second.substr(options_.mark.size()));
    return true;
  }

  void answered(Client& client, const Frame& frame) {
    auto& answer = client.answer;
    bool ends = false;
    switch (frame.letter) {
      case 'T':
        answer.columns = result_columns(frame.body).value_or(std::vector<ResultColumn>());
        break;
      case 'D':
        keep_row(client, frame.body);
        break;
      case 'C':
        answer.tag = std::string(frame.body.substr(0, frame.body.find('\0')));
        ends = true;
        break;
      case 'I':
      case 's':
        ends = true;
        break;
      case 'E': {
        auto fields = report_fields(frame.body);
        answer.sqlstate = fields['C'];
        answer.message = fields['M'];
        ends = true;
        if (client.running->end != 'Q') client.skipping = true;
        client.copying = false;
        break;
      }
      default:
        break;
    }
    if (ends) client.doing.answers.push_back(std::exchange(answer, {}));
    if (client.running->end != 'H') return;
    if (frame.letter == 'E') return done(client);
    if (std::string_view("123TnCIs").find(frame.letter) == std::string_view::npos) return;
    if (client.answers_left > 0 && --client.answers_left == 0) done(client);
  }

  void keep_row(Client& client, std::string_view body) const {
    if (!options_.holds) return;
    client.row_bytes += body.size();
    if (client.answer.rows.size() >= kMostRows || client.row_bytes > kMostRowBytes) {
      client.answer.rows_dropped = true;
      return;
    }
    if (auto row = result_row(body)) client.answer.rows.push_back(std::move(*row));
  }

  // The batch under way has its answers.
  void done(Client& client) {
    if (client.running->end == 'H' && client.state == 'I' && !client.doing.requests.empty())
      client.state = 'F';  // a transaction without BEGIN goes on until Sync
    auto& doing = client.doing;
    if (!client.answer.recorded.empty()) doing.answers.push_back(std::exchange(client.answer, {}));
    doing.after = client.running->end == 'X' ? 'I' : client.state == 'F' ? 'T' : client.state;
    doing.ended = now();
    doing.turn = turn_;
    client.running.reset();
    client.stuck = false;
    if (doing.left) {
      client.phase = Client::Phase::kClosing;
      client.server.socket.reset();
    }
    if (options_.holds &&
        (!doing.requests.empty() || doing.before != doing.after || doing.unreadable))
      of_turn_.push_back(std::move(doing));
    doing = {};
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
    go_on(*able[chosen]);
    tend(*able[chosen]);
    last_event_ = Clock::now();
    looked_.reset();
  }

  static std::string label(const Batch& batch) {
    if (batch.end == 'X') return "(leaves)";
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
    std::set<std::int32_t> held;
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
    if (calm >= kSettlesRunning * options_.settle) return true;
    auto threads = threads_of(command);
    if (threads.running) {
      sampled_.reset();
      return false;
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
  std::uint64_t last_number_ = 0, turn_ = 0;
  std::atomic<std::uint64_t> connections_ = 0;
  std::string turn_of_;
  bool turn_open_ = false;
  std::vector<Executed> of_turn_, executed_;
  Clock::time_point last_event_ = Clock::now();
  std::optional<Clock::time_point> looked_;  // at the locks, since the last event
  bool stuck_before_ = false;
  std::optional<std::pair<Clock::time_point, ThreadCounts>> sampled_;
  std::string trouble_;
};

PostgresProxy::PostgresProxy(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
PostgresProxy::~PostgresProxy() = default;

base::Result<std::unique_ptr<PostgresProxy>> PostgresProxy::start(Options options) {
  auto loop = std::make_unique<Loop>(std::move(options));
  if (auto started = loop->start(); !started.ok()) return std::move(started).error();
  return std::unique_ptr<PostgresProxy>(new PostgresProxy(std::move(loop)));
}
std::uint16_t PostgresProxy::port() const {
  return loop_->port();
}
void PostgresProxy::watch(pid_t command) {
  loop_->watch(command);
}
void PostgresProxy::stop() {
  loop_->stop();
}
const std::vector<Executed>& PostgresProxy::executed() const {
  return loop_->executed();
}
std::uint64_t PostgresProxy::connections() const {
  return loop_->connections();
}
const std::string& PostgresProxy::trouble() const {
  return loop_->trouble();
}

}  // namespace cupel::proxy
