// crdt proved: see the header.
#include "apps/crdt/crdt_proved.hpp"

#include <fmt/format.h>

#include "apps/command.hpp"
#include "base/temp_dir.hpp"
#include "base/write_file.hpp"

namespace cupel::apps {

base::Result<ProvedWitness> run_proved(const crdt::History& history, std::string_view certificate,
                                       const std::string& kept) {
  const auto texts = crdt::proof_texts(history, certificate);
  ProvedWitness proved{.left_out = texts.left_out, .program = {}};
  if (!proved.left_out.empty()) return proved;
  const auto folder = base::TempDir::make("cupel-proved-");
  if (!folder.ok()) return folder.error();
  const bool to_output = kept == "-";
  const std::string history_file = kept.empty() || to_output ? folder->file("history.txt") : kept;
  const std::string witness_file = folder->file("certificate.txt");
  if (auto status = base::write_file(history_file, texts.history); !status.ok())
    return status.error();
  if (auto status = base::write_file(witness_file, texts.witness); !status.ok())
    return status.error();
  if (to_output) print(texts.history);
  auto said = run_program({"--replicated", history_file, witness_file});
  if (!said.ok()) return said.error();
  proved.program = std::move(said).value();
  const std::vector<std::string> expected = {fmt::format("proved satisfied {}, deliveries {}known",
                                                         crdt::name(history.type),
                                                         texts.by_deliveries ? "" : "not ")};
  if (proved.program.agrees && proved.program.proved != expected) {
    proved.program.agrees = false;
    proved.program.output = fmt::format("the program says `{}`, expected `{}`",
                                        fmt::join(proved.program.proved, "; "), expected.front());
  }
  return proved;
}

std::string proved_text(const ProvedWitness& proved) {
  if (!proved.left_out.empty())
    return fmt::format("not proved: the proved verifier does not know {}\n", proved.left_out);
  if (!proved.program.agrees) {
    return fmt::format(
        "not proved: the two verifiers disagree: {}. Please report this history and certificate\n",
        proved.program.output);
  }
  return fmt::format("proved: satisfied\ncanonical text: sha256 {}\n", proved.program.digest);
}

}  // namespace cupel::apps
