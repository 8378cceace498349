// etcd's command line and members, for the kind etcd and for those that keep who is primary in one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "databases/lab/kinds.hpp"

namespace cupel::lab {

// By their place among a node's ports.
struct EtcdPorts {
  std::size_t clients = 0, peers = 1;
};

// Of a node's etcd, whose members are one a node: the program and what it needs to know.
std::vector<std::string> etcd_arguments(const Site& site, const Node& node,
                                        const std::string& directory, EtcdPorts ports);

// Whom the members list that answer.
std::vector<std::size_t> etcd_members(const Site& site, EtcdPorts ports);
// By another member; nothing to do: no error. Returns what the others said if they refuse.
base::Status remove_etcd_member(const Site& site, std::size_t node, EtcdPorts ports);
// Of a node without data: further arguments of its next start.
base::Result<std::vector<std::string>> add_etcd_member(const Site& site, std::size_t node,
                                                       EtcdPorts ports);

}  // namespace cupel::lab
