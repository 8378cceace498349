// Programs: cupel is one command line in four programs. `cupel` has the commands that need no
// database and starts the program of any other command, as git does. Each program finds the
// others beside itself, or below the same prefix in libexec/cupel.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apps/command.hpp"
#include "base/result.hpp"

namespace cupel::apps {

enum class Program : std::uint8_t { kEngine, kRun, kMock, kCrdt };

struct CommandSpec {
  std::string_view name, summary;
  Program program;
};

// In the order of the help.
inline constexpr std::array kCommandSpecs{
    CommandSpec{"check", "Decide which isolation levels histories satisfy", Program::kEngine},
    CommandSpec{"run", "Run a workload on a database and check the recorded history",
                Program::kRun},
    CommandSpec{"campaign", "Run a matrix of databases, isolation levels, workloads and seeds",
                Program::kRun},
    CommandSpec{"watch",
                "Check a history while it grows, in bounded memory; stop at the first violation",
                Program::kEngine},
    CommandSpec{"verify", "Check the evidence for a verdict with code independent of check",
                Program::kEngine},
    CommandSpec{"stats", "Count the transactions, operations and keys of histories",
                Program::kEngine},
    CommandSpec{"convert", "Write a history in another format", Program::kEngine},
    CommandSpec{"generate", "Make a synthetic history from a simulated store", Program::kEngine},
    CommandSpec{"merge", "Join what shards and workers left: results, campaigns, histories",
                Program::kRun},
    CommandSpec{"lab", "Start and stop database servers for tests", Program::kRun},
    CommandSpec{"mock",
                "Serve a simulated database that returns any value its isolation level allows",
                Program::kMock},
    CommandSpec{"crdt", "Check replicated data types: sets, flags, registers, counters and arrays",
                Program::kCrdt},
    CommandSpec{"elle", "Check histories with the command line of elle-cli", Program::kEngine},
    CommandSpec{"explain", "Explain a level, an anomaly or a format", Program::kEngine},
    CommandSpec{"levels", "List the isolation levels, and which implies which", Program::kEngine},
    CommandSpec{"completion", "Print the completion of commands for bash, zsh or fish",
                Program::kEngine},
    CommandSpec{"doctor", "Show what works on this machine, and what to install for the rest",
                Program::kRun},
};

// "cupel-run".
std::string_view name(Program program);
// The program's file. Error: it is neither beside this one nor below libexec.
base::Result<std::string> find_program(Program program);

// The program that has the command, unless it is one of `own` or none.
std::optional<Program> program_elsewhere(std::string_view command,
                                         std::span<const NamedCommand> own);
// Replaces this process by the program, with the same arguments. Returns only with an error.
base::Error become(Program program, char** argv);

}  // namespace cupel::apps
