// The server of all interfaces: its connections, and how they end.
#include "mock/wire/server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <system_error>
#include <vector>

#include "base/budget.hpp"
#include "base/no_thread.hpp"
#include "mock/wire/acceptor.hpp"
#include "mock/wire/conversation.hpp"
#include "mock/wire/http/connection.hpp"
#include "mock/wire/socket.hpp"

namespace cupel::wire {

namespace {

constexpr Seconds kStartup{10}, kWriting{30};
constexpr std::chrono::seconds kLeaving{2};
constexpr std::size_t kMostRejecting = 16;  // connections that get an error; more are just closed
constexpr std::size_t kSendAt = 65536;
constexpr const char* kTooMany = "sorry, too many clients already";

bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1";
}

}  // namespace

class Server::State {
 public:
  State(Backend& backend, const ServerOptions& options)
      : backend_(backend),
        options_(options),
        service_(backend, options.password, own_names(options.address)),
        engine_(service_),
        acceptor_(stop_, options.max_connections + kMostRejecting) {}
  ~State() { stop(); }

  base::Status listen() {
    const std::pair<Interface, std::optional<std::uint16_t>> wanted[] = {
        {Interface::kPostgres, options_.postgres}, {Interface::kHttp, options_.http}};
    for (const auto& [interface, port] : wanted) {
      if (!port) continue;
      auto listening = listen_on(options_.address, *port);
      if (!listening.ok()) return std::move(listening).error();
      listeners_.push_back({interface, std::move(*listening)});
    }
    std::vector<int> sockets;
    sockets.reserve(listeners_.size());
    for (const auto& listener : listeners_) sockets.push_back(listener.listening.socket.get());
    try {
      acceptor_.start(std::move(sockets),
                      [this](Acceptor::Connection connection) { serve(std::move(connection)); });
    } catch (const std::system_error& error) {
      return base::no_thread("the server", error);
    }
    return base::Ok{};
  }

  [[nodiscard]] std::uint16_t port(Interface interface) const {
    for (const auto& listener : listeners_) {
      if (listener.interface == interface) return listener.listening.port;
    }
    return 0;
  }

  [[nodiscard]] std::size_t connections() const { return serving_; }

  bool wait_for_connections(std::size_t most, Seconds timeout) {
    std::unique_lock lock(clients_mutex_);
    return connection_ended_.wait_for(lock, timeout, [&] { return serving_ <= most; });
  }

  void stop() {
    if (!acceptor_.started()) return;
    // The store's shutting down allocates, and half an end would leave clients waiting.
    const base::AllocationWatch::Deferral deferral;
    stop_.signal();
    backend_.shut_down();
    acceptor_.join();
    service_.clear();
    listeners_.clear();
  }

 private:
  struct Listener {
    Interface interface;
    Listening listening;
  };
  // In the thread of the connection.
  void serve(Acceptor::Connection connection) {
    const int on = 1;
    ::setsockopt(connection.socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(connection.socket.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    const bool served = begin_connection();
    {
      Socket socket(std::move(connection.socket), stop_);
      serve(socket, listeners_[connection.listener].interface,
            static_cast<std::uint32_t>(connection.number), !served);
    }
    if (served) end_connection();
  }

  // False: as many as are served at a time are served already.
  bool begin_connection() {
    const std::lock_guard lock(clients_mutex_);
    if (serving_ >= options_.max_connections) return false;
    ++serving_;
    return true;
  }
  void end_connection() {
    const std::lock_guard lock(clients_mutex_);
    --serving_;
    connection_ended_.notify_all();
  }

  void serve(Socket& socket, Interface interface, std::uint32_t number, bool full) {
    const auto refusal = full ? std::optional<std::string>(kTooMany) : std::nullopt;
    if (interface == Interface::kHttp) return engine_.serve(socket, refusal);
    const auto peer = socket.peer();
    std::random_device random;
    const auto secret = std::uint64_t{random()} << 32 | random();
    ConversationOptions options{
        .open =
            [&](const std::string& client) {
              const auto name = is_loopback(peer) ? client : client + "@" + peer;
              add_client(number, socket, name);
              auto session = backend_.open_sql(name);
              if (session) introduce(*session, number, static_cast<std::uint32_t>(secret));
              return session;
            },
        .password = options_.password,
        .number = number,
        .secret = secret,
        .cancel = [this](std::uint32_t other,
                         std::uint32_t secret_given) { cancel(other, secret_given); },
        .refusal = refusal};
    converse(socket, *make_postgres(std::move(options)));
    remove_client(number);
  }

  // A client that authenticated. An earlier client of the same name may have hung up while its
  // session is still open. The new one continues that session, so it waits for the session to
  // close, but not for long: a statement of the earlier client may be waiting for its turn.
  void add_client(std::uint32_t number, const Socket& socket, const std::string& name) {
    const auto until = std::chrono::steady_clock::now() + kLeaving;
    std::unique_lock lock(clients_mutex_);
    const auto leaving = [&](const auto& entry) {
      const auto& [other, client] = entry;
      return other != number && client.name == name && client.socket->hung_up();
    };
    while (!stop_.signaled() && std::any_of(clients_.begin(), clients_.end(), leaving)) {
      if (client_removed_.wait_until(lock, until) == std::cv_status::timeout) break;
    }
    clients_[number] = {&socket, name, {}, 0};
  }
  void introduce(sql::Session& session, std::uint32_t number, std::uint32_t secret) {
    const std::lock_guard lock(clients_mutex_);
    clients_[number].cancel = session.canceller();
    clients_[number].secret = secret;
  }
  // Nothing if there is no such connection, or the secret is wrong.
  void cancel(std::uint32_t number, std::uint32_t secret) {
    const std::lock_guard lock(clients_mutex_);
    const auto found = clients_.find(number);
    if (found == clients_.end() || !found->second.cancel) return;
    if (secret == found->second.secret) found->second.cancel();
  }
  // After its session was closed.
  void remove_client(std::uint32_t number) {
    const std::lock_guard lock(clients_mutex_);
    clients_.erase(number);
    client_removed_.notify_all();
  }

  static bool send(Socket& socket, Conversation& conversation) {
    return socket.write(conversation.take_output(), kWriting) == Socket::Outcome::kWell;
  }

  static void converse(Socket& socket, Conversation& conversation) {
    using Outcome = Socket::Outcome;
    std::string bytes;
    const auto began = std::chrono::steady_clock::now();
    for (;;) {
      if (!send(socket, conversation)) return;
      if (conversation.over()) return socket.part();
      // All of a startup has to come in this time, not each byte.
      std::optional<Seconds> timeout;
      if (!conversation.open()) timeout = kStartup - (std::chrono::steady_clock::now() - began);
      const auto outcome = socket.read(bytes, timeout);
      if (outcome == Outcome::kEnded) return;
      if (outcome == Outcome::kWell) conversation.receive(bytes);
      if (outcome == Outcome::kTimeout) {
        conversation.refuse("57014", "the client took too long to authenticate");
      }
      if (outcome == Outcome::kStopped) {
        conversation.refuse("57P01", "terminating connection: the mock store is shutting down");
        continue;
      }
      while (conversation.advance()) {
        if (conversation.output_size() >= kSendAt && !send(socket, conversation)) return;
      }
    }
  }

  Backend& backend_;
  ServerOptions options_;
  HttpService service_;
  HttpEngine engine_;
  StopEvent stop_;
  std::vector<Listener> listeners_;
  Acceptor acceptor_;
  std::atomic<std::size_t> serving_ = 0;
  struct Client {
    const Socket* socket = nullptr;
    std::string name;
    sql::Session::Cancel cancel;
    std::uint32_t secret = 0;
  };
  std::mutex clients_mutex_;
  std::condition_variable client_removed_, connection_ended_;
  std::map<std::uint32_t, Client> clients_;  // by number: those that authenticated
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() = default;

base::Result<std::unique_ptr<Server>> Server::start(Backend& backend,
                                                    const ServerOptions& options) {
  auto state = std::make_unique<State>(backend, options);
  if (const auto listening = state->listen(); !listening.ok()) return listening.error();
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

std::uint16_t Server::port(Interface interface) const {
  return state_->port(interface);
}
std::size_t Server::connections() const {
  return state_->connections();
}
bool Server::wait_for_connections(std::size_t most, std::chrono::duration<double> timeout) const {
  return state_->wait_for_connections(most, timeout);
}
void Server::stop() {
  state_->stop();
}

}  // namespace cupel::wire
