// WiredTiger for `cupel run --db 'exec:./exec_wiredtiger FOLDER'`;
// docs/reference/drivers/exec-clients.md has the commands.
//
// WiredTiger takes one process. So the first client starts a server in the background, with a
// thread and a WT_SESSION per session of cupel, and every client only passes lines through the Unix
// socket FOLDER.sock. The server ends by itself a few seconds after its last client. A key is an
// integer, a value its JSON text.
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <wiredtiger.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

using nlohmann::json;

namespace {

const std::string kVersion = std::to_string(WIREDTIGER_VERSION_MAJOR) + "." +
                             std::to_string(WIREDTIGER_VERSION_MINOR) + "." +
                             std::to_string(WIREDTIGER_VERSION_PATCH);

// The transaction was refused; it is rolled back, and nothing of it is committed.
struct Refused {
  std::string why;
};

void check(int code) {
  if (code != 0) throw Refused{wiredtiger_strerror(code)};
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class Session {
 public:
  Session(WT_CONNECTION* connection, const json& hello) : isolation_(hello["isolation"]) {
    if (isolation_ == "unspecified") isolation_ = "snapshot";
    const std::string name = hello["table"];
    const auto table = "table:" + (name.empty() ? "kv" : name);
    check(connection->open_session(connection, nullptr, nullptr, &session_));
    if (hello["session"] == "setup" || hello["session"] == "clean")
      session_->drop(session_, table.c_str(), "force");
    if (hello["session"] == "clean") return;
    check(session_->create(session_, table.c_str(), "key_format=q,value_format=S"));
    check(session_->open_cursor(session_, table.c_str(), nullptr, nullptr, &cursor_));
  }
  ~Session() {
    if (session_ != nullptr) session_->close(session_, nullptr);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  json answer(const json& operations) {
    if (operations.empty()) {
      return {{"type", "ok"},
              {"value", json::array()},
              {"database", "WiredTiger"},
              {"version", kVersion},
              {"isolation", isolation_}};
    }
    auto done = json::array();
    try {
      check(session_->begin_transaction(session_, ("isolation=" + isolation_).c_str()));
      for (const auto& operation : operations) done.push_back(apply(operation));
    } catch (const Refused& refused) {
      cursor_->reset(cursor_);
      session_->rollback_transaction(session_, nullptr);
      return {{"type", "fail"}, {"error", refused.why}};
    }
    cursor_->reset(cursor_);
    // "If commit_transaction returns an error, the transaction is rolled back": WT_ROLLBACK is
    // certain.
    const int code = session_->commit_transaction(session_, nullptr);
    if (code == 0) return {{"type", "ok"}, {"value", done}};
    return {{"type", code == WT_ROLLBACK ? "fail" : "info"}, {"error", wiredtiger_strerror(code)}};
  }

 private:
  json read(std::int64_t key) {
    cursor_->set_key(cursor_, key);
    const int code = cursor_->search(cursor_);
    if (code == WT_NOTFOUND) return nullptr;
    check(code);
    const char* text = nullptr;
    check(cursor_->get_value(cursor_, &text));
    return json::parse(text);
  }

  void write(std::int64_t key, const json& value) {
    const auto text = value.dump();
    cursor_->set_key(cursor_, key);
    cursor_->set_value(cursor_, text.c_str());
    check(cursor_->insert(cursor_));  // a cursor overwrites by default
  }

  json range(std::int64_t low, std::int64_t high) {
    auto found = json::array();
    cursor_->set_key(cursor_, low);
    int exact = 0;
    int code = cursor_->search_near(cursor_, &exact);
    if (code == 0 && exact < 0) code = cursor_->next(cursor_);
    for (; code == 0; code = cursor_->next(cursor_)) {
      std::int64_t key = 0;
      const char* text = nullptr;
      check(cursor_->get_key(cursor_, &key));
      if (key > high) return found;
      check(cursor_->get_value(cursor_, &text));
      found.push_back({key, json::parse(text)});
    }
    if (code != WT_NOTFOUND) check(code);
    return found;
  }

  json apply(json operation) {
    const std::string action = operation[0];
    auto& value = operation[2];
    if (action == "range") {
      value = range(operation[1][0], operation[1][1]);
      return operation;
    }
    const std::int64_t key = operation[1];
    if (action == "r") {
      value = read(key);
    } else if (action == "w") {
      write(key, value);
    } else if (isolation_ != "snapshot" &&
               (action == "append" || action == "cas" || action == "insert")) {
      // What it reads could change before it writes, by a fault of this client.
      throw Refused{"statement refused: " + action + " needs --isolation snapshot"};
    } else if (action == "append") {
      auto list = read(key);
      if (list.is_null()) list = json::array();
      list.push_back(value);
      write(key, list);
    } else if (action == "cas") {
      if (read(key) != value[0])
        operation.push_back(false);
      else
        write(key, value[1]);
    } else if (action == "insert") {
      if (!read(key).is_null()) throw Refused{"constraint: the key exists"};
      write(key, value);
    } else if (action == "delete") {
      cursor_->set_key(cursor_, key);
      const int code = cursor_->remove(cursor_);
      if (code != WT_NOTFOUND) check(code);
    } else {
      throw Refused{"statement refused: operation " + action};
    }
    return operation;
  }

  std::string isolation_;
  WT_SESSION* session_ = nullptr;
  WT_CURSOR* cursor_ = nullptr;
};

// Lines of a file descriptor.
class Lines {
 public:
  explicit Lines(int from) : from_(from) {}
  bool next(std::string& line) {
    for (;;) {
      if (const auto end = text_.find('\n'); end != std::string::npos) {
        line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return true;
      }
      char part[65536];
      const auto size = ::read(from_, part, sizeof part);
      if (size <= 0) return false;
      text_.append(part, static_cast<std::size_t>(size));
    }
  }

 private:
  int from_;
  std::string text_;
};

bool put(int to, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto size = ::write(to, text.data() + at, text.size() - at);
    if (size <= 0) return false;
    at += static_cast<std::size_t>(size);
  }
  return true;
}

sockaddr_un address(const std::string& folder) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  (folder + ".sock").copy(name.sun_path, sizeof name.sun_path - 1);
  return name;
}

void serve_session(WT_CONNECTION* connection, int peer) {
  Lines lines(peer);
  std::string line;
  try {
    if (!lines.next(line)) return;
    Session session(connection, json::parse(line));
    while (lines.next(line)) {
      if (!put(peer, session.answer(json::parse(line)["value"]).dump() + "\n")) return;
    }
  } catch (const Refused& refused) {
    std::cerr << "exec_wiredtiger: " << refused.why << "\n";
  }
}

int serve(const std::string& folder, int listener) {
  ::mkdir(folder.c_str(), 0700);
  WT_CONNECTION* connection = nullptr;
  check(wiredtiger_open(folder.c_str(), nullptr, "create,cache_size=100M,log=(enabled)",
                        &connection));
  std::atomic<int> sessions = 0;
  for (int idle = 0; idle < 30;) {
    pollfd ready{.fd = listener, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 100) == 1) {
      const int peer = ::accept(listener, nullptr, nullptr);
      ++sessions;
      std::thread([connection, peer, &sessions] {
        serve_session(connection, peer);
        ::close(peer);
        --sessions;
      }).detach();
    }
    idle = sessions == 0 ? idle + 1 : 0;
  }
  ::unlink(address(folder).sun_path);
  return connection->close(connection, nullptr);
}

// Starts the server in a process group of its own, unless another client was faster.
void start_server(const std::string& folder) {
  const auto name = address(folder);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
    ::unlink(name.sun_path);  // of a server that was killed; the next attempt binds
    ::close(listener);
    return;
  }
  ::listen(listener, 64);
  if (::fork() == 0) {
    ::setsid();
    ::close(0);
    ::close(1);
    std::_Exit(serve(folder, listener));
  }
  ::close(listener);
}

int connect_to(const std::string& folder) {
  const auto name = address(folder);
  for (int attempt = 0; attempt < 50; ++attempt) {
    const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::connect(server, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0)
      return server;
    ::close(server);
    start_server(folder);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return -1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: exec_wiredtiger FOLDER\n";
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  const int server = connect_to(argv[1]);
  if (server < 0) {
    std::cerr << "exec_wiredtiger: " << argv[1] << ".sock: no server\n";
    return 1;
  }
  const json hello = {{"session", environment("CUPEL_SESSION")},
                      {"table", environment("CUPEL_TABLE")},
                      {"isolation", environment("CUPEL_ISOLATION")}};
  put(server, hello.dump() + "\n");
  Lines input(0);
  Lines answers(server);
  std::string line;
  while (input.next(line)) {
    if (!put(server, line + "\n") || !answers.next(line)) return 1;
    if (!put(1, line + "\n")) return 1;
  }
}
