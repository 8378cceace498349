// etcd's command line, for the kind etcd and for those that keep who is primary in one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lab/kinds.hpp"

namespace cupel::lab {

// Of a node's etcd, whose members are one a node: the program and what it needs to know. The ports
// are those for clients and for the other members, by their place among a node's.
std::vector<std::string> etcd_arguments(const Site& site, const Node& node,
                                        const std::string& directory, std::size_t client_port,
                                        std::size_t peer_port);

}  // namespace cupel::lab
