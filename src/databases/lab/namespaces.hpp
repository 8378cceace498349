// Namespaces: whether this process may make networks of its own, and networks that no name keeps:
// they vanish with the last process or descriptor that holds them, however that ends.
#pragma once

#include <functional>
#include <string>

#include "base/descriptor.hpp"
#include "base/result.hpp"

namespace cupel::lab {

// Prepares this process for networks of its own; to be called before it starts its first thread.
// As root it gets mounts and System V memory of its own; otherwise it becomes the owner of a user
// namespace, in which it may make networks. Where neither is allowed nothing changes:
// networks_forbidden() says so.
void enter_namespaces();

// Whether enter_namespaces() gave this process mounts of its own, which end with it.
bool own_mounts();

// Why this thread can make no network, as a sentence; empty if it can.
std::string networks_forbidden();

// A network namespace.
class Namespace {
 public:
  // The thread's.
  static base::Result<Namespace> current();
  // A new one, with nothing in it.
  static base::Result<Namespace> make();
  // One that has a name, by its file.
  static base::Result<Namespace> open(const std::string& file);

  // A file that names it, for this process and its children until they execute another program.
  [[nodiscard]] std::string file() const;
  // The same for other processes of this user.
  [[nodiscard]] std::string file_for_others() const;
  // From now on the thread, and those that it starts, are in it.
  [[nodiscard]] base::Status enter() const;
  // Runs a function in it, on a thread of its own.
  [[nodiscard]] base::Status run(const std::function<base::Status()>& function) const;

 private:
  explicit Namespace(base::Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  base::Descriptor descriptor_;
};

// The thread moves to a new network that has nothing but a loopback interface.
base::Status enter_new_network();

}  // namespace cupel::lab
