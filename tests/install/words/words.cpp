// What is violated in the history of a file at a level, from C++: "NAME: EXPLANATION" for each
// anomaly. Usage: words FILE LEVEL
#include <cupel/check.hpp>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) return 3;
  std::string error;
  const auto history = cupel::read_history(argv[1], error);
  const auto level = cupel::parse_level(argv[2]);
  if (!history || !level) {
    std::cerr << error << "\n";
    return 3;
  }
  const auto answer = cupel::check_history(*history, {.levels = {*level}});
  for (const auto& anomaly : answer.levels.front().anomalies) {
    std::cout << anomaly.name << ": " << anomaly.explanation << "\n";
  }
}
