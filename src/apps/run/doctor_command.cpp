// cupel doctor: what of cupel works on this machine, and what to install for the rest.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "apps/command.hpp"
#include "apps/findings.hpp"
#include "apps/programs.hpp"
#include "apps/proved.hpp"
#include "apps/version.hpp"
#include "base/process.hpp"
#include "base/usable_memory.hpp"
#include "databases/drivers/driver.hpp"
#include "databases/lab/disk/disk.hpp"
#include "databases/lab/namespaces.hpp"
#include "databases/lab/server.hpp"

namespace cupel::apps {

namespace {

struct Group {
  std::string name;
  std::vector<Finding> findings;
};

Group drivers() {
  Group group{"Databases that `cupel run` can use", {}};
  for (const auto& driver : drivers::all_drivers()) {
    group.findings.push_back({std::string(driver.name), std::string(driver.url),
                              problem_of(drivers::usable(driver.name))});
  }
  return group;
}

Group servers() {
  Group group{"Servers that `cupel lab` and `--db lab:KIND` can start", {}};
  for (const auto kind : lab::all_kinds()) {
    group.findings.push_back({std::string(lab::name(kind)), std::string(lab::summary(kind)),
                              problem_of(lab::find_programs(kind))});
  }
  return group;
}

Group faults() {
  return {"Faults",
          {{"network", "partitions, loss, delay; a network of its own for each server",
            lab::networks_forbidden()},
           {"disk", "full and failing disks, writes lost in a crash", lab::disks_forbidden()}}};
}

// The mock is a program of its own, which knows.
Group mock() {
  Group group{"Mock", {}};
  const auto program = find_program(Program::kMock);
  if (!program.ok()) {
    group.findings.push_back({"cupel mock", "a simulated database", program.error().message});
    return group;
  }
  constexpr base::Seconds kPatience(30);
  auto process =
      base::Process::start({.arguments = {*program, "--doctor"}, .output = base::Stream::pipe()});
  const auto said = process.ok() ? process->read_all(kPatience) : std::nullopt;
  const auto parts = nlohmann::json::parse(said.value_or(""), nullptr, /*allow_exceptions=*/false);
  if (!parts.is_array()) {
    group.findings.push_back(
        {"cupel mock", "a simulated database",
         fmt::format("{} says nothing of itself; install it again", *program)});
    return group;
  }
  for (const auto& part : parts) {
    group.findings.push_back({part.at("name"), part.at("what"), part.at("problem")});
  }
  return group;
}

Group verifiers() {
  const auto program = find_proved_program();
  return {"Verifiers",
          {{"verify --proved", "the verifier that is itself proved, cupel-proved",
            program.ok() ? "" : program.error().message}}};
}

std::vector<Group> examine() {
  return {drivers(), servers(), faults(), mock(), verifiers()};
}

std::string in_words(const std::vector<Group>& groups, unsigned cores, std::uint64_t memory) {
  auto text = fmt::format("cupel {} (commit {}, build {})\n{} cores, {:.1f} GiB of memory to use\n",
                          version(), commit(), build_type(), cores,
                          static_cast<double>(memory) / (1U << 30));
  for (const auto& group : groups) {
    text += fmt::format("\n{}\n", group.name);
    for (const auto& finding : group.findings) {
      text += finding.problem.empty()
                  ? fmt::format("  {:<18} yes  {}\n", finding.name, finding.what)
                  : fmt::format("  {:<18} no   {}\n", finding.name, finding.problem);
    }
  }
  return text;
}

std::string in_json(const std::vector<Group>& groups, unsigned cores, std::uint64_t memory) {
  nlohmann::ordered_json object{{"version", version()},
                                {"commit", commit()},
                                {"cores", cores},
                                {"usable_memory", memory},
                                {"findings", nlohmann::ordered_json::array()}};
  for (const auto& group : groups) {
    for (const auto& finding : group.findings) {
      nlohmann::ordered_json entry{{"group", group.name},
                                   {"name", finding.name},
                                   {"what", finding.what},
                                   {"works", finding.problem.empty()}};
      if (!finding.problem.empty()) entry["problem"] = finding.problem;
      object["findings"].push_back(std::move(entry));
    }
  }
  return object.dump() + "\n";
}

}  // namespace

void add_doctor(Command& app, Run& run) {
  auto* command = add_command(app, "doctor");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print one JSON object on one line");
  command->callback([as_json, &run] {
    run = [as_json]() -> int {
      lab::enter_namespaces();
      const auto groups = examine();
      const auto cores = std::max(1U, std::thread::hardware_concurrency());
      const auto memory = base::usable_memory();
      if (*as_json) {
        print(in_json(groups, cores, memory));
      } else {
        print_text(in_words(groups, cores, memory));
      }
      return kSatisfied;
    };
  });
}

}  // namespace cupel::apps
