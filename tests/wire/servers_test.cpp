// The servers with the clients that people use: libpq, psql, curl and an extended-protocol client
// as JDBC's is; then their limits and their end. On the fake backend, so that what is tested is the
// protocols. A client program that is not installed is a failure: tools/install-packages.sh
// installs all of them.
#include <gtest/gtest.h>
#include <httplib.h>
#include <libpq-fe.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <thread>

#include "base/process.hpp"
#include "mock/wire/http/service.hpp"
#include "mock/wire/server.hpp"
#include "mock/wire/socket.hpp"
#include "support/polling.hpp"
#include "wire/fake_backend.hpp"
#include "wire/golden.hpp"
#include "wire/stress.hpp"

namespace cupel::wire {
namespace {

using Clock = std::chrono::steady_clock;

class Servers : public ::testing::Test {
 protected:
  void SetUp() override { start({.postgres = 0, .http = 0}); }
  void start(const ServerOptions& options) {
    server_.reset();
    auto started = Server::start(backend_, options);
    ASSERT_TRUE(started.ok()) << started.error().to_string();
    server_ = std::move(*started);
  }
  [[nodiscard]] std::uint16_t port(Interface interface) const { return server_->port(interface); }

  [[nodiscard]] PGconn* postgres(const std::string& more = "") const {
    return PQconnectdb(("host=127.0.0.1 user=alice dbname=any port=" +
                        std::to_string(port(Interface::kPostgres)) + " " + more)
                           .c_str());
  }
  // None: no connection, and `error` says why.
  [[nodiscard]] base::Descriptor raw(Interface interface) const {
    return connect_raw(port(interface), {.tv_sec = 20, .tv_usec = 0});
  }
  static void send_all(const base::Descriptor& socket, std::string_view bytes) {
    EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Until the other side closes, or `end` is there.
  static std::string receive(const base::Descriptor& socket, std::string_view end = "") {
    std::string all;
    char bytes[65536];
    while (end.empty() || !all.ends_with(end)) {
      const auto size = ::recv(socket.get(), bytes, sizeof bytes, 0);
      if (size <= 0) break;
      all.append(bytes, static_cast<std::size_t>(size));
    }
    return all;
  }
  struct Ran {
    int code = -1;
    std::string output;
  };
  static Ran run(std::vector<std::string> arguments,
                 std::vector<std::pair<std::string, std::string>> environment = {}) {
    auto process = base::Process::start({.arguments = std::move(arguments),
                                         .environment = std::move(environment),
                                         .output = base::Stream::pipe(),
                                         .errors = base::Stream::output()});
    if (!process.ok())
      return {-1, process.error().to_string() + "; tools/install-packages.sh installs it"};
    auto output = process->read_all(base::Seconds(30)).value_or("timeout");
    const auto ended = process->wait(base::Seconds(30));
    return {ended ? ended->code : -1, output};
  }

  FakeBackend backend_;
  std::unique_ptr<Server> server_;
};

TEST_F(Servers, Libpq) {
  PGconn* client = postgres("application_name=test-app");
  ASSERT_EQ(PQstatus(client), CONNECTION_OK) << PQerrorMessage(client);
  EXPECT_EQ(PQserverVersion(client), 150000);
  EXPECT_STREQ(PQparameterStatus(client, "standard_conforming_strings"), "on");
  const auto look = [](PGresult* result, ExecStatusType status, const std::string& value) {
    EXPECT_EQ(PQresultStatus(result), status) << PQresultErrorMessage(result);
    EXPECT_EQ(PQgetvalue(result, 0, 0), value);
    PQclear(result);
  };
  look(PQexec(client, "select 5"), PGRES_TUPLES_OK, "5");
  // Extended, text and binary parameters and results.
  const char* values[] = {"77"};
  look(PQexecParams(client, "select $1", 1, nullptr, values, nullptr, nullptr, 0), PGRES_TUPLES_OK,
       "77");
  const auto number = bytes_of("00000102");
  const char* binary[] = {number.data()};
  const Oid types[] = {23};
  const int lengths[] = {4}, formats[] = {1};
  look(PQexecParams(client, "select $1", 1, types, binary, lengths, formats, 0), PGRES_TUPLES_OK,
       "258");
  PGresult* result = PQexecParams(client, "select $1", 1, types, binary, lengths, formats, 1);
  ASSERT_EQ(PQgetlength(result, 0, 0), 8);
  EXPECT_EQ(std::string(PQgetvalue(result, 0, 0), 8), bytes_of("0000000000000102"));
  PQclear(result);

  PQclear(PQprepare(client, "named", "select $1", 1, nullptr));
  look(PQexecPrepared(client, "named", 1, values, nullptr, nullptr, 0), PGRES_TUPLES_OK, "77");
  result = PQdescribePrepared(client, "named");
  EXPECT_EQ(PQnparams(result), 1);
  EXPECT_EQ(PQftype(result, 0), 20u);
  PQclear(result);

  result = PQexec(client, "begin; fail 23505");
  EXPECT_STREQ(PQresultErrorField(result, PG_DIAG_SQLSTATE), "23505");
  EXPECT_STREQ(PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL), "in detail");
  PQclear(result);
  EXPECT_EQ(PQtransactionStatus(client), PQTRANS_INERROR);
  PQclear(PQexec(client, "rollback"));
  EXPECT_EQ(PQtransactionStatus(client), PQTRANS_IDLE);
  result = PQexec(client, "nonsense");
  EXPECT_STREQ(PQresultErrorField(result, PG_DIAG_STATEMENT_POSITION), "1");
  PQclear(result);

  // Row by row, each type as text and as bytes.
  ASSERT_EQ(PQsendQuery(client, "rows 70000"), 1);
  PQsetSingleRowMode(client);
  int rows = 0;
  while ((result = PQgetResult(client)) != nullptr) {
    rows += PQntuples(result);
    PQclear(result);
  }
  EXPECT_EQ(rows, 70000);
  result = PQexec(client, "types");
  const auto expected = FakeSession::all_values();
  for (int i = 0; i < PQnfields(result); ++i) {
    EXPECT_EQ(PQgetisnull(result, 0, i) != 0, !expected[static_cast<std::size_t>(i)]);
    EXPECT_EQ(PQgetvalue(result, 0, i), expected[static_cast<std::size_t>(i)].value_or(""));
  }
  PQclear(result);

  // A pipeline, in which an error takes the rest with it.
  ASSERT_EQ(PQenterPipelineMode(client), 1);
  for (const char* text : {"nothing", "fail 23503", "nothing"})
    PQsendQueryParams(client, text, 0, nullptr, nullptr, nullptr, nullptr, 0);
  PQpipelineSync(client);
  std::string seen;
  for (int nulls = 0; nulls < 4;) {
    result = PQgetResult(client);
    if (result == nullptr) {
      ++nulls;
      continue;
    }
    seen += std::string(PQresStatus(PQresultStatus(result))) + " ";
    const bool last = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
    PQclear(result);
    if (last) break;
  }
  EXPECT_EQ(seen, "PGRES_COMMAND_OK PGRES_FATAL_ERROR PGRES_PIPELINE_ABORTED PGRES_PIPELINE_SYNC ");
  EXPECT_EQ(PQexitPipelineMode(client), 1) << PQerrorMessage(client);

  // Cancelling is accepted.
  PGcancel* cancel = PQgetCancel(client);
  char why[256];
  EXPECT_EQ(PQcancel(cancel, why, sizeof why), 1) << why;
  PQfreeCancel(cancel);
  look(PQexec(client, "select 6"), PGRES_TUPLES_OK, "6");
  PQfinish(client);
  EXPECT_EQ(backend_.log.names[0], "test-app");
}

TEST_F(Servers, APassword) {
  start({.postgres = 0, .http = 0, .password = "secret"});
  PGconn* good = postgres("password=secret");
  EXPECT_EQ(PQstatus(good), CONNECTION_OK) << PQerrorMessage(good);
  PQfinish(good);
  PGconn* bad = postgres("password=guess");
  EXPECT_EQ(PQstatus(bad), CONNECTION_BAD);
  PQfinish(bad);
  httplib::Client web("127.0.0.1", port(Interface::kHttp));
  EXPECT_EQ(web.Get("/")->status, 401);
  EXPECT_EQ(web.Get("/", {{"Authorization", "Bearer secret"}})->status, 200);
}

TEST_F(Servers, Psql) {
  const auto ran = run({"psql", "-X",         "-A", "-t",
                        "-h",   "127.0.0.1",  "-p", std::to_string(port(Interface::kPostgres)),
                        "-U",   "alice",      "-c", "begin",
                        "-c",   "select 5",   "-c", "rows 3",
                        "-c",   "fail 40001", "-c", "rollback",
                        "-c",   "nothing",    "any"});
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_EQ(ran.output,
            "BEGIN\n5\n1\n2\n3\nERROR:  as asked\nDETAIL:  in detail\nROLLBACK\nINSERT 0 3\n");
  EXPECT_EQ(backend_.log.names[0], "psql");
}

TEST_F(Servers, Curl) {
  const auto base = "http://127.0.0.1:" + std::to_string(port(Interface::kHttp));
  const auto post = [&](const std::string& path, const std::string& body) {
    const auto ran = run({"curl", "-sS", "-w", "%{http_code}", "--json", body, base + path});
    EXPECT_EQ(ran.code, 0) << ran.output;
    return ran.output;
  };
  EXPECT_EQ(post("/sessions", R"({"name": "shop"})"), "{\"session\":\"1\"}\n201");
  EXPECT_EQ(post("/sessions/1/read", R"({"key": "x"})"),
            "{\"error\":{\"sqlstate\":\"25P01\",\"message\":\"found no open transaction; begin one "
            "first\"}}\n409");
  EXPECT_EQ(post("/sessions/1/begin", R"({"level": "causal"})"), "{}\n200");
  EXPECT_EQ(post("/sessions/1/begin", "").substr(0, 28), "{\"error\":{\"sqlstate\":\"25001\"");
  EXPECT_EQ(post("/sessions/1/write", R"({"key": "x", "value": 7})"), "{}\n200");
  EXPECT_EQ(post("/sessions/1/write", R"({"key": "y", "value": "tea"})"), "{}\n200");
  EXPECT_EQ(post("/sessions/1/read", R"({"key": "x"})"), "{\"value\":7}\n200");
  EXPECT_EQ(post("/sessions/1/keys", R"({"prefix": "x"})"), "{\"keys\":[\"x\"]}\n200");
  EXPECT_EQ(post("/sessions/1/sql", R"({"sql": "select 1"})").substr(0, 28),
            "{\"error\":{\"sqlstate\":\"25001\"");
  EXPECT_EQ(post("/sessions/1/commit", ""), "{}\n200");
  EXPECT_EQ(
      post("/sessions/1/sql", R"({"sql": "select $1", "parameters": [12]})"),
      "{\"results\":[{\"tag\":\"SELECT "
      "1\",\"columns\":[{\"name\":\"n\",\"type\":\"bigint\"}],\"rows\":[[12]],\"affected\":0}],"
      "\"state\":\"idle\"}\n200");
  EXPECT_EQ(post("/sql", R"({"sql": "fail 0A000"})"),
            "{\"results\":[],\"state\":\"idle\",\"error\":{\"sqlstate\":\"0A000\",\"message\":\"as "
            "asked\",\"detail\":\"in detail\"}}\n501");
  // Without a body, as `curl -X POST` sends it.
  const auto bare = [&](const std::string& path) {
    return run({"curl", "-sS", "-m", "5", "-X", "POST", "-w", "%{http_code}", base + path}).output;
  };
  EXPECT_EQ(bare("/sessions"), "{\"session\":\"2\"}\n201");
  EXPECT_EQ(bare("/sessions/2/begin"), "{}\n200");
  EXPECT_EQ(bare("/sessions/2/keys").substr(0, 8), "{\"keys\":");
  EXPECT_EQ(bare("/sessions/2/commit"), "{}\n200");
  EXPECT_TRUE(bare("/sessions/2/write").ends_with("400"));
  EXPECT_EQ(run({"curl", "-sS", "-X", "DELETE", base + "/sessions/2"}).output, "");
  const auto closed =
      run({"curl", "-sS", "-X", "DELETE", "-w", "%{http_code}", base + "/sessions/1"});
  EXPECT_EQ(closed.output, "204");
  EXPECT_TRUE(post("/sessions/1/commit", "").ends_with("404"));
  EXPECT_EQ(backend_.log.open, 0);
}

TEST_F(Servers, HttpRefusesWhatItCannotRead) {
  httplib::Client web("127.0.0.1", port(Interface::kHttp));
  web.Post("/sessions", "", "application/json");
  const auto status = [&](const std::string& path, const std::string& body) {
    return web.Post(path, body, "application/json")->status;
  };
  EXPECT_EQ(status("/sessions/1/begin", "{"), 400);
  EXPECT_EQ(status("/sessions/1/begin", "[]"), 400);
  EXPECT_EQ(status("/sessions/1/begin", R"({"level": "perfect"})"), 400);
  EXPECT_EQ(status("/sessions/1/begin", R"({"lvel": "causal"})"), 400);
  EXPECT_EQ(status("/sessions/1/begin", "{}"), 200);
  EXPECT_EQ(status("/sessions/1/write", R"({"key": "x", "value": 1.5})"), 400);
  EXPECT_EQ(status("/sessions/1/write", R"({"key": "x", "value": 9223372036854775808})"), 400);
  EXPECT_EQ(status("/sessions/1/write", R"({"key": "x"})"), 400);
  EXPECT_EQ(status("/sessions/1/write", R"({"key": "conflict", "value": null})"), 200);
  EXPECT_EQ(status("/sessions/1/commit", ""), 409) << "the level does not allow it";
  EXPECT_EQ(status("/sessions/1/commit", ""), 409) << "and it is over";
  EXPECT_EQ(status("/sessions/9/commit", ""), 404);
  EXPECT_EQ(status("/sessions/1/dance", ""), 404);
  EXPECT_EQ(web.Get("/sessions")->status, 405);
  EXPECT_EQ(status("/sessions", std::string(HttpService::kLongestBody + 1, 'x')), 413);
  EXPECT_EQ(status("/sessions/1/begin", std::string(1 << 20, '[')), 400);
  // As `curl -d` sends them, and any page of the user's browser can.
  const auto form = R"({"sql": "select ')" + std::string(100'000, 'x') + R"('"})";
  for (const char* type : {"application/x-www-form-urlencoded", "text/plain", "application/jsonp",
                           "multipart/form-data; boundary=x"}) {
    EXPECT_EQ(web.Post("/sessions/1/sql", form, type)->status, 415) << type;
  }
  EXPECT_NE(web.Post("/sessions/1/sql", form, "Application/JSON ; charset=utf-8")->status, 415);
}

// What cannot be read as a request ends the connection: where the next would begin is not known.
TEST_F(Servers, HttpClosesAfterWhatIsNoRequest) {
  const auto answer = [&](const std::string& said) {
    const auto socket = raw(Interface::kHttp);
    send_all(socket, said);
    std::string all;
    char bytes[4096];
    const auto start = Clock::now();
    // Until it is closed, and soon.
    for (;;) {
      const auto count = ::recv(socket.get(), bytes, sizeof bytes, 0);
      if (count <= 0) break;
      all.append(bytes, static_cast<std::size_t>(count));
    }
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(60)) << said.substr(0, 80);
    return all;
  };
  EXPECT_TRUE(answer("THIS IS NO REQUEST\r\n\r\n").starts_with("HTTP/1.1 400"));
  EXPECT_TRUE(answer("GET / HTTP/9.9\r\n\r\nGET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400"));
  // A body that is said to be too long is not waited for.
  const auto long_one =
      answer("POST /sql HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n{");
  EXPECT_TRUE(long_one.starts_with("HTTP/1.1 413")) << long_one;
  EXPECT_NE(long_one.find("too long"), std::string::npos);
}

// A page from elsewhere, in the browser of whoever runs the mock.
TEST_F(Servers, HttpAnswersNoForeignPage) {
  const auto port_of_http = port(Interface::kHttp);
  const std::string own = "127.0.0.1:" + std::to_string(port_of_http);
  const auto asked = [&](httplib::Headers headers) {
    httplib::Client web("127.0.0.1", port_of_http);
    const auto answer = web.Post("/sql", headers, R"({"sql": "select 1"})", "application/json");
    EXPECT_EQ(web.Get("/", headers)->status, answer->status);
    return answer->status;
  };
  for (const auto& host :
       {own, std::string("localhost"), std::string("LocalHost.:1"), std::string("[::1]:8080"),
        std::string("10.0.0.7"), std::string("shop.localhost")}) {
    EXPECT_EQ(asked({{"Host", host}}), 200) << host;
  }
  // DNS rebinding: the page's own name leads here.
  for (const char* host : {"evil.example", "evil.example:80", "127.0.0.1.evil.example", "[evil]",
                           "localhost.evil.example", "notlocalhost", ":80", "127.0.0.1@evil"}) {
    EXPECT_EQ(asked({{"Host", host}}), 421) << host;
  }
  // A request that a page sends across origins.
  for (const char* origin :
       {"http://evil.example", "null", "https://localhost", "http://localhost:1"}) {
    EXPECT_EQ(asked({{"Host", own}, {"Origin", origin}}), 403) << origin;
  }
  EXPECT_EQ(asked({{"Host", own}, {"Sec-Fetch-Site", "cross-site"}}), 403);
  EXPECT_EQ(asked({{"Host", own}, {"Sec-Fetch-Site", "same-site"}}), 403);
  EXPECT_EQ(asked({{"Host", own}, {"Origin", "http://" + own}, {"Sec-Fetch-Site", "same-origin"}}),
            200);
  // It may not ask whether it may, nor look at the answer or put it into a frame.
  httplib::Client web("127.0.0.1", port_of_http);
  const auto preflight = web.Options("/sql", {{"Origin", "http://evil.example"}});
  EXPECT_EQ(preflight->get_header_value("Access-Control-Allow-Origin"), "");
  const auto answer = web.Get("/");
  EXPECT_EQ(answer->get_header_value("Access-Control-Allow-Origin"), "");
  EXPECT_EQ(answer->get_header_value("X-Frame-Options"), "DENY");
  EXPECT_EQ(answer->get_header_value("Cross-Origin-Resource-Policy"), "same-origin");
  EXPECT_EQ(answer->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_NE(answer->get_header_value("Content-Security-Policy").find("frame-ancestors 'none'"),
            std::string::npos);
}

TEST_F(Servers, HttpNamesAreUtf8) {
  httplib::Client web("127.0.0.1", port(Interface::kHttp));
  EXPECT_EQ(web.Post("/sessions", "{\"name\": \"\xff\"}", "application/json")->status, 400);
  EXPECT_EQ(web.Get("/%ff")->status, 404);
  EXPECT_EQ(web.Post("/sessions/%ff/commit", "", "application/json")->status, 404);
}

// A body without end, in chunks, is not kept.
TEST_F(Servers, HttpEndsARequestThatDoesNot) {
  const auto socket = raw(Interface::kHttp);
  send_all(socket, "POST /sql HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  const auto chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
  const auto end = Clock::now() + std::chrono::seconds(20);
  bool ended = false;
  while (!ended && Clock::now() < end)
    ended = ::send(socket.get(), chunk.data(), chunk.size(), MSG_NOSIGNAL) < 0;
  EXPECT_TRUE(ended);
}

// What JDBC's driver sends: unnamed statements, all in one piece, then reads.
TEST_F(Servers, PipelinesOnARawSocket) {
  const auto socket = raw(Interface::kPostgres);
  send_all(socket, bytes_of("00000023 00030000 'user' 00 'al' 00 'application_name' 00 00 00"));
  const auto ready = bytes_of("5a 00000005 'I'");
  receive(socket, ready);
  const auto parse = bytes_of("50 00000015 00 'select $1' 00 0001 00000014");
  const auto bound = bytes_of("42 0000001a 00 00 0001 0001 0001 00000008 0000000000000007 0000");
  const auto rest = bytes_of("44 00000006 'P' 00  45 00000009 00 00000000  53 00000004");
  std::string requests, answers;
  for (int i = 0; i < 1000; ++i) requests += parse + bound + rest;
  const auto once = bytes_of(
                        "31 00000004 32 00000004  54 0000001a 0001 'n' 00 00000000 0000 00000014 "
                        "0008 ffffffff 0000"
                        "44 0000000b 0001 00000001 '7'  43 0000000d 'SELECT' 20 '1' 00") +
                    ready;
  for (int i = 0; i < 1000; ++i) answers += once;
  std::thread sending([&] { send_all(socket, requests); });
  std::string seen;
  char bytes[65536];
  while (seen.size() < answers.size()) {
    const auto size = ::recv(socket.get(), bytes, sizeof bytes, 0);
    if (size <= 0) break;
    seen.append(bytes, static_cast<std::size_t>(size));
  }
  sending.join();
  EXPECT_EQ(seen.size(), answers.size());
  EXPECT_TRUE(seen == answers) << shown(std::string_view(seen).substr(0, once.size()));
  send_all(socket, bytes_of("58 00000004"));
  EXPECT_EQ(receive(socket), "");
}

TEST_F(Servers, TooManyConnectionsAreToldSo) {
  start({.postgres = 0, .http = 0, .max_connections = 2});
  PGconn* first = postgres();
  PGconn* second = postgres();
  ASSERT_EQ(PQstatus(second), CONNECTION_OK);
  PGconn* third = postgres();
  EXPECT_EQ(PQstatus(third), CONNECTION_BAD);
  EXPECT_NE(std::string(PQerrorMessage(third)).find("too many clients"), std::string::npos)
      << PQerrorMessage(third);
  PQfinish(third);
  httplib::Client web("127.0.0.1", port(Interface::kHttp));
  EXPECT_EQ(web.Get("/")->status, 503);
  PQfinish(first);
  PQfinish(second);
  EXPECT_TRUE(server_->wait_for_connections(0, Seconds(10)));
  PGconn* again = postgres();
  EXPECT_EQ(PQstatus(again), CONNECTION_OK) << PQerrorMessage(again);
  PQfinish(again);
}

TEST_F(Servers, StopIsQuickWhateverClientsDo) {
  const auto idle = raw(Interface::kPostgres);
  send_all(idle, bytes_of("00000011 00030000 'user' 00 'al' 00 00"));
  receive(idle, bytes_of("5a 00000005 'I'"));
  PGconn* waiting = postgres();
  ASSERT_EQ(PQsendQuery(waiting, "wait"), 1);
  PGconn* deaf = postgres();
  std::string many;
  for (int i = 0; i < 200; ++i) many += "rows 10000;";
  ASSERT_EQ(PQsendQuery(deaf, many.c_str()), 1);  // and does not read the answer
  const auto silent = raw(Interface::kPostgres);
  const auto half = raw(Interface::kHttp);
  send_all(half, "POST /sql HTTP/1.1\r\nContent-Le");
  // Until the server is blocked on the deaf client's socket: what waits there grows no more. No
  // event tells of it.
  int held = 0, same = 0;
  EXPECT_TRUE(cupel::test::poll_until([&] {
    int now = 0;
    ::ioctl(PQsocket(deaf), FIONREAD, &now);
    same = now > 0 && now == held ? same + 1 : 0;
    held = now;
    return same == 5;
  }));
  const auto began = Clock::now();
  server_->stop();
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - began).count(), 60);
  EXPECT_EQ(backend_.log.open, 0);
  EXPECT_NE(receive(idle).find("57P01"), std::string::npos);
  for (PGconn* client : {waiting, deaf}) PQfinish(client);
  server_->stop();
}

TEST_F(Servers, APortThatIsTakenAndAnAddressThatIsNone) {
  FakeBackend other;
  const auto taken = Server::start(other, {.postgres = port(Interface::kPostgres)});
  ASSERT_FALSE(taken.ok());
  EXPECT_NE(taken.error().message.find("another port may do"), std::string::npos)
      << taken.error().message;
  EXPECT_FALSE(Server::start(other, {.address = "no such address", .http = 0}).ok());
}

// Random requests, some valid and some not, of 64 connections; CUPEL_STRESS_SECONDS says
// for how long. Nothing may crash, hang or stay. On a store: store_servers_test.cpp.
TEST_F(Servers, Stress) {
  const auto piece = [](base::Random& random, Interface interface,
                        unsigned /*connection*/) -> std::string {
    const auto from = [&](std::initializer_list<const char*> all) {
      return bytes_of(all.begin()[random.below(all.size())]);
    };
    if (interface == Interface::kPostgres) {
      return from(
          {"51 0000000d 'select 1' 00", "51 0000000c 'rows 99' 00", "51 0000000a 'begin' 00",
           "51 0000000b 'commit' 00", "51 0000000f 'fail 40001' 00",
           "50 00000012 00 'select $1' 00 0000", "50 00000010 00 'nothing' 00 0000",
           "42 00000013 00 00 0000 0001 00000001 '7' 0000", "42 0000000c 00 00 0000 0000 0000",
           "44 00000006 'P' 00", "45 00000009 00 00000001", "53 00000004", "48 00000004",
           "58 00000004", "51 7fffffff", "ff 00000004"});
    }
    return from(
        {"'GET / HTTP/1.1' 0d0a 'Host: localhost' 0d0a 0d0a",
         "'POST /sql HTTP/1.1' 0d0a 'Host: [::1]:80' 0d0a 'Content-Type: application/json' 0d0a "
         "'Content-Length: 19' 0d0a 0d0a '{\"sql\": \"select 1\"}'",
         "'POST /sessions HTTP/1.1' 0d0a 'Host: a.localhost' 0d0a 0d0a",
         "'POST /sessions/1/begin HTTP/1.1' 0d0a 0d0a",
         "'POST /sessions/1/write HTTP/1.1' 0d0a 'Host: 10.0.0.1' 0d0a "
         "'Content-Type: application/json' 0d0a 'Content-Length: 23' 0d0a 0d0a "
         "'{\"key\":\"x\",\"value\":1234}'",
         "'DELETE /sessions/1 HTTP/1.1' 0d0a 0d0a", "'NONSENSE' 0d0a 0d0a", "00 01 02 0d0a",
         "'GET /' 0d0a 'Content-Length: 99999999999999' 0d0a 0d0a"});
  };
  const auto [requests, answered] = stress(*server_, stress_seconds(3), 0, piece);
  EXPECT_GT(answered, 200u);
  RecordProperty("requests", std::to_string(requests));
  // Still there for who behaves.
  EXPECT_TRUE(server_->wait_for_connections(0, Seconds(20)));
  PGconn* client = postgres();
  PGresult* result = PQexec(client, "select 5");
  EXPECT_STREQ(PQgetvalue(result, 0, 0), "5");
  PQclear(result);
  PQfinish(client);
  server_->stop();
  EXPECT_EQ(backend_.log.open, 0);
  std::printf("%llu requests, %llu answered\n", static_cast<unsigned long long>(requests),
              static_cast<unsigned long long>(answered));
}

}  // namespace
}  // namespace cupel::wire
