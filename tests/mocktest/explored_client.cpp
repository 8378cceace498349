// A test command for `cupel mock test --explore`: several clients at a time, over HTTP.
//
//   explored_client "r0 w0;r1|r0 w0"
//
// Sessions are separated by |, their transactions by ;. Reads and writes are of the keys k0,
// k1 …, and each write has the value that mock/program.hpp gives it. Each session has a
// thread of its own, and all begin together. Prints what was read, as mock/program.hpp does,
// or "conflict" where a transaction did not commit. Exit code: 1 if a transaction of the
// second session read null, 3 if it went wrong.
#include <httplib.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Seen {
  std::string words;
  bool conflict = false, null = false, wrong = false;
};

// None: refused with 409.
bool post(httplib::Client& http, const std::string& route, const nlohmann::json& body,
          nlohmann::json& answer) {
  const auto response = http.Post(route, body.dump(), "application/json");
  if (!response || (response->status >= 300 && response->status != 409)) {
    throw std::runtime_error(route + (response ? ": " + response->body : ": no answer"));
  }
  answer = nlohmann::json::parse(response->body);
  return response->status != 409;
}

void run(const std::string& url, std::size_t s, const std::string& session, Seen& seen) {
  httplib::Client http(url);
  http.set_keep_alive(true);
  http.set_tcp_nodelay(true);
  nlohmann::json answer;
  post(http, "/sessions", {{"name", "s" + std::to_string(s)}}, answer);
  const std::string base = "/sessions/" + answer["session"].get<std::string>() + "/";
  std::istringstream transactions(session);
  std::size_t t = 0;
  for (std::string transaction; std::getline(transactions, transaction, ';'); ++t) {
    post(http, base + "begin", nlohmann::json::object(), answer);
    std::istringstream steps(transaction);
    bool alive = true;
    std::size_t i = 0;
    for (std::string step; alive && steps >> step; ++i) {
      const auto key = "k" + step.substr(1);
      if (step[0] == 'w') {
        alive = post(http, base + "write", {{"key", key}, {"value", 100 * (s + 1) + 10 * t + i}},
                     answer);
        continue;
      }
      alive = post(http, base + "read", {{"key", key}}, answer);
      if (!alive) break;
      const auto& value = answer["value"];
      seen.words += value.is_null() ? "n " : std::to_string(value.get<int>()) + " ";
      seen.null = seen.null || value.is_null();
    }
    if (!alive || !post(http, base + "commit", nlohmann::json::object(), answer))
      seen.conflict = true;
  }
  seen.words += "| ";
}

}  // namespace

int main(int argc, char** argv) {
  const char* url = std::getenv("CUPEL_MOCK_HTTP_URL");
  if (argc != 2 || url == nullptr) return 3;
  std::vector<std::string> sessions;
  std::istringstream program(argv[1]);
  for (std::string session; std::getline(program, session, '|');) sessions.push_back(session);
  std::vector<Seen> seen(sessions.size());
  std::vector<std::thread> threads;
  for (std::size_t s = 0; s < sessions.size(); ++s) {
    threads.emplace_back([&, s] {
      try {
        run(url, s, sessions[s], seen[s]);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        seen[s].wrong = true;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::string words;
  bool conflict = false;
  for (const auto& each : seen) {
    if (each.wrong) return 3;
    conflict = conflict || each.conflict;
    words += each.words;
  }
  std::printf("%s\n", conflict ? "conflict" : words.c_str());
  return seen.size() > 1 && seen[1].null ? 1 : 0;
}
