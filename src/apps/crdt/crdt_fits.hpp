// What replicated data types a file can be the history of: cupel-crdt --fits FILE.
#pragma once

#include <string>

namespace cupel::apps {

// "; it is a history of replicated data types …: `cupel crdt check FILE`"; empty if it is none, or
// if its question is another one.
std::string crdt_fits(const std::string& file);

}  // namespace cupel::apps
