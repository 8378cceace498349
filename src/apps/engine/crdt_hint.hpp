// The hint of `cupel check` at a file that is a history of replicated data types.
#pragma once

#include <string>

namespace cupel::apps {

// Of a file that is no history of transactions: "; it is …: `cupel crdt check FILE`" if it is, as a
// whole, one of replicated data types. cupel-crdt says so; without it there is no hint.
std::string crdt_hint(const std::string& file);

}  // namespace cupel::apps
