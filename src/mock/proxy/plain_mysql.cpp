// PlainMysql by libmariadb; see the header.
#include "mock/proxy/plain_mysql.hpp"

#include <mysql.h>

#include "databases/drivers/sql_connection.hpp"

namespace cupel::proxy {

namespace {

struct ClosePlain {
  void operator()(MYSQL* connection) const { mysql_close(connection); }
};
struct FreePlain {
  void operator()(MYSQL_RES* result) const { mysql_free_result(result); }
};

}  // namespace

struct PlainMysql::State {
  std::unique_ptr<MYSQL, ClosePlain> connection;
};

PlainMysql::PlainMysql(std::unique_ptr<State> state) : state_(std::move(state)) {}
PlainMysql::PlainMysql(PlainMysql&&) noexcept = default;
PlainMysql& PlainMysql::operator=(PlainMysql&&) noexcept = default;
PlainMysql::~PlainMysql() = default;

base::Result<PlainMysql> PlainMysql::connect(const Options& options) {
  static const bool ready = mysql_library_init(0, nullptr, nullptr) == 0;
  auto state = std::make_unique<State>();
  state->connection.reset(ready ? mysql_init(nullptr) : nullptr);
  auto* raw = state->connection.get();
  if (raw == nullptr) return base::Error{.message = "out of memory"};
  constexpr unsigned kSeconds = 10;
  mysql_options(raw, MYSQL_OPT_CONNECT_TIMEOUT, &kSeconds);
  mysql_options(raw, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  // Else the library takes "localhost" for a socket, whatever the port.
  const unsigned protocol = options.socket.empty() ? MYSQL_PROTOCOL_TCP : MYSQL_PROTOCOL_SOCKET;
  mysql_options(raw, MYSQL_OPT_PROTOCOL, &protocol);
  const my_bool on = 1;
  if (options.tls) mysql_options(raw, MYSQL_OPT_SSL_ENFORCE, &on);
  if (!options.authorities.empty())
    mysql_options(raw, MYSQL_OPT_SSL_CA, options.authorities.c_str());
  if (options.verifies_host) mysql_options(raw, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &on);
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
  };
  if (mysql_real_connect(raw, options.host.c_str(), text_or_null(options.user),
                         options.password.c_str(), text_or_null(options.database), options.port,
                         text_or_null(options.socket), 0) == nullptr) {
    return base::Error{.message = drivers::sql::one_line(mysql_error(raw))};
  }
  // The library is content without TLS if the server has none.
  if (options.tls && mysql_get_ssl_cipher(raw) == nullptr)
    return base::Error{.message = "the server offers no TLS, and the URL asks for it"};
  return PlainMysql(std::move(state));
}

base::Result<std::vector<PlainMysql::Cells>> PlainMysql::run(const std::string& statement) {
  auto* raw = state_->connection.get();
  const auto failed = [&] {
    return base::Error{.message = drivers::sql::one_line(mysql_error(raw))};
  };
  if (mysql_real_query(raw, statement.data(), statement.size()) != 0) return failed();
  const std::unique_ptr<MYSQL_RES, FreePlain> result(mysql_store_result(raw));
  std::vector<Cells> rows;
  if (!result) {
    if (mysql_errno(raw) != 0) return failed();
    return rows;
  }
  const auto fields = mysql_num_fields(result.get());
  while (auto* row = mysql_fetch_row(result.get())) {
    const auto* lengths = mysql_fetch_lengths(result.get());
    auto& cells = rows.emplace_back();
    for (unsigned i = 0; i < fields; ++i) {
      cells.push_back(row[i] == nullptr ? std::optional<std::string>()
                                        : std::string(row[i], lengths[i]));
    }
  }
  return rows;
}

unsigned PlainMysql::error_number() const {
  return mysql_errno(state_->connection.get());
}

}  // namespace cupel::proxy
