// Fuzz target: the reader of histories of replicated data types. Whatever it is given, for
// any type, it does not crash; what it accepts it writes so that it reads the same again;
// and small ones are decided, with a certificate that the verifier finds valid.
#include "crdt/explain/explain.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/solve/decide.hpp"
#include "crdt/verify/verify.hpp"
#include "touch_history.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cupel;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  constexpr std::size_t kSmall = 8;
  for (const auto type : crdt::all_types()) {
    const auto history = crdt::read(bytes, "fuzz", {type});
    if (!history.ok()) {
      fuzz::require(!history.error().message.empty(), "a refusal says why");
      continue;
    }
    const auto lines = crdt::write(*history);
    const auto again = crdt::read(lines, "fuzz", {type});
    fuzz::require(again.ok() && crdt::write(*again) == lines, "what is written is read back");
    const auto edn = crdt::read(crdt::write(*history, true), "fuzz", {type});
    fuzz::require(edn.ok() && crdt::write(*edn) == lines, "EDN says the same");
    const bool searched = !crdt::replicated_type(*history).traits().needs_deliveries;
    if (!searched || history->ops.size() > kSmall) continue;
    base::Budget budget;
    const auto decision = crdt::decide(*history, {}, budget);
    fuzz::require(decision.verdict != crdt::Verdict::kUnknown, "a small one is decided");
    const auto certificate =
        decision.witness
            ? crdt::certificate_of_witness(*history, {}, *decision.witness)
            : crdt::certificate_of_core(
                  *history, {},
                  crdt::explain(*history, *decision.violation, {}, {.seconds = 60}).core);
    fuzz::require(crdt::verify(*history, certificate).status == crdt::CertificateStatus::kValid,
                  "the certificate is valid");
  }
  return 0;
}
