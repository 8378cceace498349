// cupel-run: the commands that run databases.
#include "apps/main.hpp"

int main(int argc, char** argv) {
  return cupel::apps::run_program(argc, argv, cupel::apps::run_commands());
}
