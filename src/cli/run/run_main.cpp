// cupel-run: the commands that run databases.
#include "cli/main.hpp"

int main(int argc, char** argv) {
  return cupel::cli::run_program(argc, argv, cupel::cli::run_commands());
}
