// Fuzz target: what clients and servers send to the scheduling proxy: frames, batches, answers,
// conversations.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "mock/proxy/messages.hpp"
#include "proxy_conversation.hpp"
#include "touch_history.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using cupel::fuzz::require;
  using cupel::proxy::Frame;
  using Kind = cupel::wire::postgres::Decoded<Frame>::Kind;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto dialogue = cupel::proxy::postgres_dialogue(
      {.database_asked = "shop", .database_given = "copy", .mark = "mark:"});
  cupel::fuzz::converse(*dialogue, cupel::proxy::Link::Phase::kOpening, bytes);
  const auto renamed = cupel::proxy::with_database(bytes, "a", "b");
  require(renamed.size() <= bytes.size() + 16, "a startup message grows by no more than a name");
  cupel::proxy::Batches batches;
  std::size_t passed = 0, framed = 0;
  for (;;) {
    const auto frame = cupel::proxy::decode_frame(bytes);
    if (frame.kind != Kind::kMessage) break;
    require(frame.size >= 5 && frame.size <= bytes.size(), "a frame is within the bytes");
    framed += frame.size;
    if (batches.add(frame.message, bytes.substr(0, frame.size)))
      passed += batches.take().bytes.size();
    static_cast<void>(cupel::proxy::report_fields(frame.message.body));
    static_cast<void>(cupel::proxy::result_columns(frame.message.body));
    static_cast<void>(cupel::proxy::result_row(frame.message.body));
    bytes.remove_prefix(frame.size);
  }
  require(passed + batches.size() == framed, "every byte of a client passes");
  return 0;
}
