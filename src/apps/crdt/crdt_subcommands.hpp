// The commands of `cupel crdt`, one file each. crdt_command.cpp has `check`.
#pragma once

#include "apps/command.hpp"

namespace cupel::apps {

void add_crdt_verify(Command& app, Run& run);
void add_crdt_generate(Command& app, Run& run);
void add_crdt_run(Command& app, Run& run);

}  // namespace cupel::apps
