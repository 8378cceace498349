// Messages of PostgreSQL's protocol as a proxy sees them: where each one ends, what a client asks
// for in a batch, and what the server answers. Bytes in, no socket; every length is checked.
//
// Source: PostgreSQL 15 documentation, chapter 55.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/postgres/codec.hpp"

namespace cupel::proxy {

// The longest message that passes. A client's batch is held as a whole, and is no longer either.
inline constexpr std::size_t kLongestPassed = std::size_t{64} << 20;

// A message with a letter. Its body is borrowed from the buffer.
struct Frame {
  char letter = 0;
  std::string_view body;
};
wire::postgres::Decoded<Frame> decode_frame(std::string_view bytes);

// One statement that a client wants to be run.
struct Request {
  std::string text;
  struct Parameter {
    std::uint32_t type = 0;   // its OID; 0: the server decides
    std::int16_t format = 0;  // 1: binary
    std::optional<std::string> value = {};
  };
  std::vector<Parameter> parameters = {};
  bool simple = false;  // a Query: the text may be several statements
  enum class Format : std::uint8_t { kText, kBinary, kMixed } results = Format::kText;
};

// What a client sends before it waits for the server: a Query, or everything up to a Sync or Flush.
struct Batch {
  std::string bytes;
  std::vector<Request> requests = {};
  bool unreadable = false;  // something in it is not understood; it passes as it is
  char end = 0;             // the letter of its last message: Q, S, H, F; X: the client leaves
  std::size_t answers = 0;  // H: how many messages end one of its parts
};

// Cuts what a client sends into batches.
class Batches {
 public:
  // True: a batch is complete, and take() gives it. `frame` is the whole message, `bytes` too.
  bool add(const Frame& frame, std::string_view bytes);
  Batch take();
  [[nodiscard]] std::size_t size() const { return batch_.bytes.size(); }

 private:
  void understand(std::string_view bytes);

  Batch batch_;
  struct Prepared {
    std::string text;
    std::vector<std::uint32_t> types;
  };
  std::map<std::string, Prepared, std::less<>> prepared_;
  std::map<std::string, Request, std::less<>> portals_;
};

// The fields of an ErrorResponse or NoticeResponse by their letters.
std::map<char, std::string> report_fields(std::string_view body);

// RowDescription and DataRow. None: malformed.
struct ResultColumn {
  std::string name;
  std::int16_t format = 0;
};
std::optional<std::vector<ResultColumn>> result_columns(std::string_view body);
std::optional<std::vector<std::optional<std::string>>> result_row(std::string_view body);

// A StartupMessage with another database, or as it is if it names another than `from`.
std::string with_database(std::string_view startup, std::string_view from, std::string_view to);

}  // namespace cupel::proxy
