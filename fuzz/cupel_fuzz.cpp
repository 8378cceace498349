// Fuzz target: the reader of cupel files. The checksums would stop nearly every
// mutation at once, so the input is also taken as a list of raw columns
// (u8 column, u16 size, bytes), packed into a file whose checksums are right.
#include <zstd.h>

#include <cstdlib>

#include "data/formats/cupel_binary.hpp"
#include "touch_history.hpp"

namespace {

std::uint64_t fnv(std::string_view bytes, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}
template <typename Integer>
void put(std::string& out, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i));
}
void put_block(std::string& out, std::uint32_t column, std::size_t raw_size,
               std::string_view stored) {
  std::string header;
  put(header, column);
  put(header, static_cast<std::uint32_t>(raw_size));
  put(header, static_cast<std::uint32_t>(stored.size()));
  put(header, fnv(stored, fnv(header)));
  out += header;
  out += stored;
}

std::string packed(std::string_view columns, std::uint32_t version) {
  std::string file(
      "\x89"
      "CUPEL\r\n",
      8);
  put(file, version);
  put(file, static_cast<std::uint32_t>(fnv(file)));
  const std::uint32_t end = version == 1 ? 12 : 13;
  std::uint64_t blocks = 0;
  for (; columns.size() > 3; ++blocks) {
    const auto column = static_cast<unsigned char>(columns[0]) % end;
    const std::size_t claimed =
        static_cast<unsigned char>(columns[1]) | static_cast<unsigned char>(columns[2]) << 8;
    const auto raw = columns.substr(3, claimed);
    columns.remove_prefix(3 + raw.size());
    std::string stored(ZSTD_compressBound(raw.size()), '\0');
    stored.resize(ZSTD_compress(stored.data(), stored.size(), raw.data(), raw.size(), 1));
    put_block(file, column, raw.size(), stored);
  }
  std::string count;
  put(count, blocks);
  put_block(file, end, count.size(), count);
  return file;
}

// As many as are reported; each must be as the history has it, if the file is one.
struct Counting final : cupel::history::SingleOpSink {
  bool begin(const cupel::history::SingleOpFacts& facts) override {
    expected = facts.txns;
    return true;
  }
  bool add(std::span<const cupel::history::SingleOp> ops) override {
    reported += ops.size();
    return true;
  }
  std::size_t expected = 0, reported = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cupel;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto read = [](std::string_view file) { return formats::read_cupel(file, "input"); };
  formats::recognize_cupel(bytes);
  for (const std::string& file : {std::string(bytes), packed(bytes, 1), packed(bytes, 2)}) {
    const auto history = read(file);
    Counting sink;
    const bool streamed = formats::stream_cupel(file, {}, 0, sink);
    if (streamed &&
        (!history.ok() || sink.expected != history->txn_count() || sink.reported > sink.expected)) {
      std::abort();
    }
    if (!history.ok()) continue;
    fuzz::touch(*history);
    const auto nodes = formats::nodes_of_cupel(file);
    fuzz::round_trip(
        *history,
        [&](const history::History& h, std::ostream& out) {
          return formats::write_cupel(h, out, nodes);
        },
        read);
  }
  return 0;
}
