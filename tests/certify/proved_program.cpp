// proved_program: see the header.
#include "certify/proved_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "engine/certify/canonical.hpp"

namespace cupel::test {

namespace {

constexpr base::Seconds kLong{60};

base::Process start() {
  auto process = base::Process::start({.arguments = {CUPEL_PROVED_PROGRAM, "--many"},
                                       .input = base::Stream::pipe(),
                                       .output = base::Stream::pipe(),
                                       .errors = base::Stream::inherited()});
  if (!process.ok()) throw std::runtime_error(process.error().message);
  return std::move(*process);
}

}  // namespace

ProvedProgram::ProvedProgram()
    : folder_(std::move(*base::TempDir::make("cupel-proved-test-"))), process_(start()) {}

ProvedProgram::Said ProvedProgram::run(const history::History& history, const std::string& proof,
                                       history::Time drift) {
  std::string text;
  if (auto wrong = certify::write_canonical(history, [&](std::string_view part) { text += part; }))
    throw std::runtime_error(*wrong);
  return ask("", text, proof, " " + std::to_string(drift));
}

ProvedProgram::Said ProvedProgram::run_replicated(const std::string& history,
                                                  const std::string& witness) {
  return ask("--replicated ", history, witness, "");
}

ProvedProgram::Said ProvedProgram::ask(const std::string& before, const std::string& history,
                                       const std::string& proof, const std::string& after) {
  const auto text_file = folder_.file("history.txt"), file = folder_.file("certificate.txt");
  for (const auto& [name, content] : {std::pair{text_file, &history}, std::pair{file, &proof}}) {
    // Not base::write_file, which waits for the disk.
    std::ofstream out(name, std::ios::binary);
    out << *content;
    if (!out.flush()) throw std::runtime_error("cannot write " + name);
  }
  const auto asked =
      process_.write_line(fmt::format("{}{} {}{}", before, text_file, file, after), kLong);
  if (!asked.ok()) throw std::runtime_error(asked.error().message);
  const auto line = process_.read_line(kLong);
  if (line.kind != base::Line::Kind::kLine) throw std::runtime_error("cupel-proved ended");
  output_ = line.text;
  return output_.starts_with("proved ")     ? Said::kProved
         : output_.starts_with("bad input") ? Said::kBadInput
                                            : Said::kNotProved;
}

std::vector<std::string> ProvedProgram::proved() const {
  std::vector<std::string> answers;
  std::string_view rest = output_;
  while (!rest.empty()) {
    auto line = rest.substr(0, rest.find("; "));
    rest.remove_prefix(std::min(rest.size(), line.size() + 2));
    if (line.starts_with("proved ")) answers.emplace_back(line.substr(7, line.find(',') - 7));
  }
  return answers;
}

}  // namespace cupel::test
