// A project outside that uses the library from C++: records what two clients saw, reads it, checks
// it, and says what lost_update.c says. Usage: in_cpp FILE
#include <cupel/check.hpp>
#include <cupel/mock.hpp>
#include <cupel/record.hpp>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) return 3;
  std::string error;
  cupel::HistoryBuilder builder;
  builder.transaction("alice").write("x", 1);
  builder.transaction("bob").read("x", 1).write("x", 2);
  builder.transaction("carol").read("x", 1).write("x", 3);
  const auto built = builder.build(error);
  if (!built || !cupel::write_history(*built, argv[1], "jepsen", error)) {
    std::cerr << error << "\n";
    return 3;
  }
  const auto answer = cupel::check_history(*built, {.levels = {cupel::Level::kSnapshotIsolation}});
  const auto& anomaly = answer.levels.front().anomalies.front();
  std::cout << anomaly.name << ": " << anomaly.explanation << "\n";
  auto recorder = cupel::Recorder::open(std::string(argv[1]) + ".2", {}, error);
  if (!recorder || !recorder->close(error)) return 3;
  return cupel::MockStore::open({.level = cupel::Level::kCausal}, error) ? 0 : 3;
}
