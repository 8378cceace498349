// Fuzz target: the reader of cobra logs. The input is one log, or two: a byte of
// 255 four times over divides them.
#include "data/formats/cobra.hpp"
#include "touch_history.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cupel;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  formats::recognize_cobra(bytes);
  const auto divide = bytes.find("\xff\xff\xff\xff");
  std::vector<formats::SessionLog> logs = {{"T0.log", bytes.substr(0, divide)}};
  if (divide != bytes.npos) logs.push_back({"T1.log", bytes.substr(divide + 4)});
  const auto history = formats::read_cobra(logs, "input");
  if (history.ok())
    fuzz::touch(*history);
  else
    fuzz::require(!history.error().message.empty(), "an error says something");
  return 0;
}
