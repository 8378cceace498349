// Collection: see the header.
#include "golden/collection.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "source_dir.hpp"

namespace cupel::golden {

namespace fs = std::filesystem;
using check::Verdict;
using levels::Level;

fs::path collection_folder() {
  if (const char* place = std::getenv("CUPEL_HISTORIES")) return place;
  return fs::path(CUPEL_SOURCE_DIR) / "../shared/histories";
}

namespace {

void add_expected_tsv(KnownCollection& known) {
  for (const auto& row : read_tsv(collection_folder() / "expected.tsv")) {
    const auto level = levels::parse_level(row.at(1));
    if (!level) throw std::invalid_argument("expected.tsv: not a level: " + row[1]);
    known[row.at(0)][*level] = parse_verdict(row.at(2));
  }
}

void add_files(KnownCollection& known, const std::string& folder, std::string_view extension,
               const std::map<Level, Verdict>& verdicts) {
  if (!fs::exists(collection_folder() / folder)) return;
  for (const auto& entry : fs::recursive_directory_iterator(collection_folder() / folder)) {
    if (!entry.is_regular_file() || entry.path().extension() != extension) continue;
    known[fs::relative(entry.path(), collection_folder()).string()].insert(verdicts.begin(),
                                                                           verdicts.end());
  }
}

// The folder names the strongest of the three weak levels that holds.
void add_awdit(KnownCollection& known) {
  constexpr Level kWeak[] = {Level::kReadCommitted, Level::kReadAtomic, Level::kCausal};
  const std::pair<const char*, std::size_t> folders[] = {
      {"none", 0}, {"read-committed", 1}, {"read-atomic", 2}, {"causal", 3}};
  for (const auto& [folder, satisfied] : folders) {
    std::map<Level, Verdict> verdicts;
    for (std::size_t i = 0; i < std::size(kWeak); ++i) {
      verdicts[kWeak[i]] = i < satisfied ? Verdict::kSatisfied : Verdict::kViolated;
    }
    add_files(known, std::string("awdit/") + folder, ".txt", verdicts);
  }
}

void add_linearizable(KnownCollection& known) {
  const fs::path etcd = fs::path(CUPEL_SOURCE_DIR) / "tests/golden/etcd-expected.tsv";
  for (const auto& row : read_tsv(etcd)) {
    if (row.at(1) == "empty") continue;  // SharedCollection.AnEmptyLogIsAnError
    known["etcd-registers/" + row.at(0)][Level::kLinearizable] = parse_verdict(row.at(1));
  }
  for (const char* clients : {"c01", "c10", "c50"}) {
    const std::string file = std::string("porcupine-kv/") + clients;
    known[file + "-ok.txt"][Level::kLinearizable] = Verdict::kSatisfied;
    known[file + "-bad.txt"][Level::kLinearizable] = Verdict::kViolated;
  }
  for (const char* extension : {".edn", ".json"}) {
    for (const char* model : {"cas-register", "mutex"}) {
      const std::string folder = std::string("elle-cli/knossos/") + model;
      add_files(known, folder + "/good", extension, {{Level::kLinearizable, Verdict::kSatisfied}});
      add_files(known, folder + "/bad", extension, {{Level::kLinearizable, Verdict::kViolated}});
    }
  }
}

void add_elle(KnownCollection& known) {
  const auto satisfied = Verdict::kSatisfied;
  const auto violated = Verdict::kViolated;
  for (const char* folder : {"elle/", "elle-cli/elle/"}) {
    for (const char* extension : {".edn", ".json"}) {
      const auto at = [&](const std::string& name) -> std::map<Level, Verdict>* {
        const std::string path = folder + name + extension;
        return fs::exists(collection_folder() / path) ? &known[path] : nullptr;
      };
      // G-single (Kingsbury & Alvaro, VLDB 2021, section 7).
      if (auto* v = at("paper-example")) {
        *v = {{Level::kSnapshotIsolation, violated}, {Level::kSerializable, violated}};
      }
      // A read of 3, which nobody wrote.
      if (auto* v = at("rw-register")) *v = {{Level::kReadCommitted, violated}};
      // Two rw edges in a row in every cycle.
      if (auto* v = at("si-without-g-single")) {
        *v = {{Level::kSnapshotIsolation, satisfied}, {Level::kSerializable, violated}};
      }
      // Write skew between the first two transactions.
      if (auto* v = at("list-append-gh-30")) {
        *v = {{Level::kStrongSessionSnapshotIsolation, satisfied},
              {Level::kSerializable, violated}};
      }
      // Thousands of transactions in one component, but only by real time: the
      // engine's order without it was replayed against the history.
      if (auto* v = at("huge-scc")) {
        *v = {{Level::kStrongSessionSerializable, satisfied},
              {Level::kStrongSnapshotIsolation, violated},
              {Level::kStrictSerializable, violated}};
      }
    }
  }
}

// Violations of serializability in CockroachDB and YugabyteDB logs.
void add_veristrong(KnownCollection& known) {
  for (const char* folder : {"cock-blog", "cock-G2", "yuga-G2-a"}) {
    known[std::string("veristrong/ser-violations/") + folder][Level::kStrongSessionSerializable] =
        Verdict::kViolated;
  }
}

}  // namespace

KnownCollection known_collection() {
  KnownCollection known;
  if (!fs::exists(collection_folder() / "expected.tsv")) return known;
  add_expected_tsv(known);
  add_awdit(known);
  add_linearizable(known);
  add_elle(known);
  add_veristrong(known);
  return known;
}

std::vector<std::vector<std::string>> read_tsv(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::vector<std::string>> rows;
  bool header = true;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (header) {
      header = false;
      continue;
    }
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string field; std::getline(parts, field, '\t');) fields.push_back(field);
    rows.push_back(std::move(fields));
  }
  return rows;
}

check::Verdict parse_verdict(std::string_view text) {
  if (text == "satisfied") return check::Verdict::kSatisfied;
  if (text == "violated") return check::Verdict::kViolated;
  throw std::invalid_argument("not a verdict: " + std::string(text));
}

}  // namespace cupel::golden
