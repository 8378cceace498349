// Fuzz target: what clients and servers of MySQL's protocol send to the scheduling proxy: packets,
// logins, commands, answers, conversations, and SQL.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mock/proxy/footprint.hpp"
#include "mock/proxy/mysql_locks.hpp"
#include "mock/proxy/mysql_text.hpp"
#include "mock/wire/mysql/codec.hpp"
#include "proxy_conversation.hpp"
#include "touch_history.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using cupel::fuzz::require;
  namespace mysql = cupel::wire::mysql;
  namespace proxy = cupel::proxy;
  if (size == 0) return 0;
  const std::uint8_t command = data[0];
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto text = bytes;
  const auto dialogue = proxy::mysql_dialogue(
      {.database_asked = "shop", .database_given = "copy", .tls = command % 2 == 1});
  cupel::fuzz::converse(*dialogue, proxy::Link::Phase::kStartup, bytes);
  mysql::Answer answer(command);
  std::vector<mysql::Column> columns;
  for (;;) {
    mysql::Packet packet;
    mysql::decode_packet(bytes, std::size_t{1} << 20, packet);
    if (packet.kind != mysql::Packet::Kind::kPacket) break;
    require(packet.size >= 4 && packet.size <= bytes.size(), "a packet is within the bytes");
    require(packet.payload.size() + 4 <= packet.size, "and its payload is within the packet");
    const auto payload = packet.payload;
    std::string greeting(payload);
    if (mysql::simplify_greeting(greeting)) {
      require(greeting.size() == payload.size(), "a greeting keeps its size");
      const auto simple = mysql::decode_greeting(greeting);
      require(simple && (simple->capabilities & (mysql::kSsl | mysql::kCompress)) == 0,
              "and offers no encryption");
    }
    for (const auto& login :
         {mysql::decode_login(payload), mysql::decode_change_user(payload, ~0U)}) {
      if (!login) continue;
      require(login->database_at + login->database.size() <= payload.size(),
              "a database's name is within the payload");
    }
    std::vector<mysql::ParameterType> types;
    static_cast<void>(mysql::decode_execute_values(payload, command % 9, types, {}));
    static_cast<void>(mysql::decode_execute_head(payload));
    const auto part = answer.take(payload);
    if (part == mysql::Answer::Part::kColumn)
      columns.push_back(mysql::decode_column(payload).value_or(mysql::Column()));
    const auto row = mysql::decode_binary_row(payload, columns);
    require(!row || row->size() == columns.size(), "a row has a cell for each column");
    static_cast<void>(mysql::decode_text_row(payload));
    static_cast<void>(mysql::decode_error(payload));
    if (answer.status())
      require(answer.status_at() + 2 <= payload.size(), "a status is within the payload");
    bytes.remove_prefix(packet.size);
  }
  static_cast<void>(proxy::statements_of(text, proxy::Dialect::kMysql));
  static_cast<void>(proxy::names_tables_of(text, "shop"));
  static_cast<void>(proxy::uses_database(text, "shop"));
  static_cast<void>(proxy::with_values(text, {{"1", true}}));
  static_cast<void>(proxy::waiting_connections(text));
  return 0;
}
