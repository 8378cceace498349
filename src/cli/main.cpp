// cupel: the command line. Everything is in command.cpp, so that it can be linked.
#include "cli/command.hpp"

int main(int argc, char** argv) {
  return cupel::cli::run(argc, argv);
}
