// Arguments that several commands of `cupel crdt` have: types, axioms, limits, requests to
// replicas, and the files that they read.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/command.hpp"
#include "base/result.hpp"
#include "crdt/model/recording.hpp"
#include "crdt/workload/generate.hpp"

namespace cupel::apps {

struct CrdtArguments {
  std::string type, spec, certificate, svg, page, timeout, memory_limit, shrink_time = "5s";
  std::vector<std::string> histories;
  std::string history;
  std::string context;
  std::string clock_drift;
  bool json = false, strict = false, witness = false, converge = false, converged_only = false;
  bool non_interleaving = false;
  bool proved = false;      // of verify
  std::string proved_text;  // then a file for the canonical text; empty: none
  unsigned threads = 0;
};

struct CrdtLimits {
  std::optional<std::chrono::duration<double>> timeout;
  std::uint64_t memory_bytes = 0;
  double shrink_seconds = 5;
  std::int64_t clock_drift_ns = 0;
  unsigned threads = 0;
};

// `--type list --spec weak` is another way to write `--type weak-list`.
struct CrdtSpec {
  crdt::Type type;
  std::string_view spec;
  crdt::Type means;
};
constexpr std::array kCrdtSpecs = {
    CrdtSpec{crdt::Type::kStrongList, "strong", crdt::Type::kStrongList},
    CrdtSpec{crdt::Type::kStrongList, "weak", crdt::Type::kWeakList},
    CrdtSpec{crdt::Type::kStrongList, "non-interleaving", crdt::Type::kNonInterleavingList},
    CrdtSpec{crdt::Type::kLastWriterWinsRegister, "last-writer-wins",
             crdt::Type::kLastWriterWinsRegister},
    CrdtSpec{crdt::Type::kLastWriterWinsRegister, "any-maximal", crdt::Type::kAnyMaximalRegister},
    CrdtSpec{crdt::Type::kLastWriterWinsRegister, "multi-value", crdt::Type::kMultiValueRegister},
    CrdtSpec{crdt::Type::kLastWriterWinsRegister, "max", crdt::Type::kMaxRegister},
    CrdtSpec{crdt::Type::kMap, "last-writer-wins", crdt::Type::kMap},
    CrdtSpec{crdt::Type::kMap, "remove-wins", crdt::Type::kRemoveWinsMap},
    CrdtSpec{crdt::Type::kMap, "update-wins", crdt::Type::kUpdateWinsMap},
    CrdtSpec{crdt::Type::kMap, "reset", crdt::Type::kResetMap}};

// Usage errors: an unknown type, a specification that the type does not have.
crdt::NamedType crdt_type(const std::string& name);
crdt::NamedType crdt_type(const std::string& name, const std::string& spec);
crdt::NamedType with_crdt_spec(crdt::NamedType type, const std::string& spec);
// --non-interleaving is another way to write --spec non-interleaving.
std::string crdt_spec(const CrdtArguments& arguments);
std::int64_t crdt_clock_drift(const CrdtArguments& arguments);
CrdtLimits crdt_limits(const CrdtArguments& arguments);

// `otherwise` ends the help text.
Option* add_crdt_type_option(Command& command, std::string& type,
                             const std::string& otherwise = "");
Option* add_crdt_type_option(Command& command, std::vector<std::string>& types,
                             const std::string& otherwise);
// How a history is decided and what is printed: check and run.
void add_crdt_answer_options(Command& command, CrdtArguments& arguments);
// What replicas are asked: generate and run.
void add_crdt_request_options(Command& command, crdt::Requests& requests);

// A file, or standard input; it may be compressed.
base::Result<std::string> crdt_contents(const std::string& file);
// The same of a history, which is not empty.
base::Result<std::string> crdt_lines(const std::string& file);
// Without a type, the lines name objects and their types.
base::Result<crdt::Recording> read_crdt_recording(const std::string& lines, const std::string& file,
                                                  std::optional<crdt::NamedType> type,
                                                  unsigned threads, std::int64_t clock_drift_ns,
                                                  crdt::UnknownOutcome unknown_outcome);

}  // namespace cupel::apps
