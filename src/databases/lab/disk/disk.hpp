// Disk: a file system of our own under the data of one node, which can be full, fail, and lose
// what nobody synced, as a power loss does. The files are in a folder of the machine; the file
// system (FUSE) shows them at another place, where the node has its data.
//
// It sees what any program does, also one that is linked statically or writes through memory
// (mmap): that is written when the kernel writes it, at the latest when it is synced.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "databases/lab/disk/unsynced.hpp"
#include "databases/lab/server.hpp"

namespace cupel::lab {

// Why this process can make no file system, in a sentence; empty if it can.
std::string disks_forbidden();

class Disk {
 public:
  // Two folders that are there.
  static base::Result<Disk> mount(const std::string& stored, const std::string& place);
  Disk(Disk&&) noexcept;
  Disk& operator=(Disk&&) noexcept;
  ~Disk();  // unmounts

  // From now on it has these faults and no others.
  void set(const DiskFault& fault);
  [[nodiscard]] DiskCount count() const;
  // All that is on it now lasts.
  void sync();
  // What was not synced is lost. No process has a file of it open, or uses one of its folders.
  base::Result<LostBytes> lose_unsynced();

 private:
  struct State;
  explicit Disk(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cupel::lab
