// cupel: the commands that need no database, and the way to those of the other programs.
#include "cli/main.hpp"

int main(int argc, char** argv) {
  return cupel::cli::run_program(argc, argv, cupel::cli::engine_commands());
}
