// Fuzz target: from a file to a proved verdict. Of a small history, as Jepsen's reader takes it,
// the engine says at every level what exhaustive search says, and the verifier accepts its
// certificate.
#include "data/formats/jepsen_reader.hpp"
#include "oracle/oracle.hpp"
#include "property/agreement.hpp"
#include "touch_history.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Exhaustive search tries every order, and every way to read.
  constexpr std::size_t kMostTransactions = 6, kMostOperations = 16;
  constexpr double kMostChoices = 32;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto history = cupel::formats::read_jepsen(bytes, "input", 1);
  if (!history.ok() || history->txn_count() > kMostTransactions ||
      history->op_count() > kMostOperations ||
      cupel::oracle::writer_choices(*history) > kMostChoices)
    return 0;
  if (!history->fact("part").empty()) return 0;  // of a part nothing is decided
  const auto wrong = cupel::test::disagreement(*history);
  cupel::fuzz::require(wrong.empty(), wrong.c_str());
  return 0;
}
