// A cluster of one's own: a kind that a JSON file describes by its commands.
//
//   {"url": "redis://HOSTS",
//    "nodes": 3,
//    "install": "mkdir -p \"$LAB_DATA\"",
//    "start": "exec redis-server --port $LAB_PORT --bind $LAB_ADDRESS --dir \"$LAB_DATA\"",
//    "status": "redis-cli -h $LAB_ADDRESS -p $LAB_PORT ping | grep -q PONG"}
//
// docs/reference/lab.md describes the fields. Each command is run by /bin/sh; the variables
// LAB_NODE (0 …), LAB_NODES, LAB_ADDRESS, LAB_PORT, LAB_PORT2 …, LAB_DATA, LAB_HOSTS ("A:P,B:P")
// and LAB_HOSTS2 … (of the second ports) tell a node which it is.
#pragma once

#include <string>

#include "base/result.hpp"
#include "databases/lab/server.hpp"

namespace cupel::lab {

// The kind that a file describes; its name is the path. The same file is the same kind, as it was
// at the first call. Any thread. Errors: no such file, a field that is unknown, missing or no text
// or number, as the file and the field.
base::Result<Kind> own_kind(const std::string& path);

// What the file said, as JSON; empty: the kind is none of one's own.
std::string description_of_kind(Kind kind);
// The kind of a server that was started by what such a file said, whatever it says by now.
base::Result<Kind> described_kind(const std::string& name, const std::string& text);

// Whether a name of a kind means such a file: it ends in .json.
bool names_own_kind(std::string_view name);

}  // namespace cupel::lab
