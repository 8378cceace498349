// cupel: the commands that need no database, and the way to those of the other programs.
#include "apps/main.hpp"

int main(int argc, char** argv) {
  return cupel::apps::run_program(argc, argv, cupel::apps::engine_commands());
}
