// Messages of PostgreSQL's protocol as a proxy sees them: where each one ends, what a client asks
// for in a batch, and what the server answers. Bytes in, no socket; every length is checked.
//
// Source: PostgreSQL 15 documentation, chapter 55.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mock/proxy/request.hpp"
#include "mock/wire/postgres/codec.hpp"

namespace cupel::proxy {

// A message with a letter. Its body is borrowed from the buffer.
struct Frame {
  char letter = 0;
  std::string_view body;
};
wire::postgres::Decoded<Frame> decode_frame(std::string_view bytes);

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
std::optional<std::vector<ResultColumn>> result_columns(std::string_view body);
std::optional<std::vector<std::optional<std::string>>> result_row(std::string_view body);

// A StartupMessage with another database, or as it is if it names another than `from`.
std::string with_database(std::string_view startup, std::string_view from, std::string_view to);

}  // namespace cupel::proxy
