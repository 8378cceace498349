// Fuzz target: what a dqlite server may answer, as the body of each answer that the driver reads.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "databases/drivers/dqlite/protocol.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace dqlite = cupel::drivers::dqlite;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size >= dqlite::kHeaderSize) (void)dqlite::parse_header(bytes.substr(0, dqlite::kHeaderSize));
  (void)dqlite::parse_failure(bytes);
  (void)dqlite::parse_leader(bytes);
  (void)dqlite::parse_result(bytes);
  const auto rows = dqlite::parse_rows(bytes);
  if (!rows) return 0;
  // Every cell costs at least its word.
  std::size_t cells = 0;
  for (const auto& row : rows->rows) cells += row.size();
  if (cells > size / 8) std::abort();
  return 0;
}
