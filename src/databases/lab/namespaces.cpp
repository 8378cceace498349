// Namespaces: user_namespaces(7), network_namespaces(7), capabilities(7).
#include "databases/lab/namespaces.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <future>
#include <string>
#include <string_view>

#include "base/process.hpp"
#include "databases/lab/programs.hpp"

namespace cupel::lab {

namespace {

using base::Descriptor;
using base::Error;
using base::Ok;
using base::Status;

std::atomic<bool> mounts_are_ours = false;

constexpr int kOfProcess = CLONE_NEWNS | CLONE_NEWIPC;
constexpr const char* kThreadsNetwork = "/proc/thread-self/ns/net";

Error of_system(const std::string& what) {
  return Error{.message = what + ": " + std::strerror(errno)};
}

// Between fork() and _exit() of a program with threads nothing may allocate or wait for a lock:
// what another thread held stays held for ever. So the texts are made before, and the functions
// that a child calls (write_text to own_user_namespace) only make system calls.
struct IdMaps {
  std::string user = fmt::format("{0} {0} 1", ::geteuid());
  std::string group = fmt::format("{0} {0} 1", ::getegid());
};

bool write_text(const char* path, std::string_view text) {
  const Descriptor file(::open(path, O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool raise_loopback() {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
  request.ifr_flags = IFF_UP;
  return socket && ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0;
}

// Only what networks and mounts need, and the programs that we start have it too: `ip` may look
// at our descriptors only if it may do all that we may. Our files stay as protected as they were.
bool keep_capabilities() {
  constexpr std::array kKept{CAP_NET_ADMIN, CAP_NET_RAW, CAP_NET_BIND_SERVICE, CAP_SYS_ADMIN};
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> sets{};
  for (const unsigned one : kKept) {
    auto& set = sets.at(one / 32);
    const std::uint32_t bit = 1U << (one % 32);
    set.effective |= bit;
    set.permitted |= bit;
    set.inheritable |= bit;
  }
  if (::syscall(SYS_capset, &header, sets.data()) != 0) return false;
  for (const unsigned one : kKept) {
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, one, 0, 0) != 0) return false;
  }
  return true;
}

// A user namespace in which we keep our ids: PostgreSQL refuses to run as root.
bool own_user_namespace(const IdMaps& maps, int others) {
  return ::unshare(CLONE_NEWUSER | others) == 0 && write_text("/proc/self/setgroups", "deny") &&
         write_text("/proc/self/uid_map", maps.user) &&
         write_text("/proc/self/gid_map", maps.group) && keep_capabilities();
}

// Tried in a child: a user namespace without rights, as some systems give it, would spoil ours.
bool user_namespaces_work(const IdMaps& maps) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(own_user_namespace(maps, kOfProcess | CLONE_NEWNET) && raise_loopback() ? 0 : 1);
  }
  int status = 0;
  pid_t waited = -1;
  do {
    waited = child > 0 ? ::waitpid(child, &status, 0) : -1;
  } while (waited < 0 && child > 0 && errno == EINTR);
  return waited == child && child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

bool own_mounts() {
  return mounts_are_ours;
}

void enter_namespaces() {
  if (mounts_are_ours) return;
  if (::geteuid() == 0) {
    if (::unshare(kOfProcess) != 0) return;
  } else {
    const IdMaps maps;
    if (!user_namespaces_work(maps) || !own_user_namespace(maps, kOfProcess)) return;
  }
  // Mounts that are made elsewhere are still seen, and ours nowhere else.
  mounts_are_ours = ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0;
  base::Process::prepare();
}

std::string networks_forbidden() {
  int error = 0;
  std::async(std::launch::async, [&] {
    if (::unshare(CLONE_NEWNET) != 0) error = errno;
  }).get();
  if (error != 0) {
    return fmt::format("this machine lets {} make no network namespaces ({})",
                       ::geteuid() == 0 ? "root" : "this user", std::strerror(error));
  }
  for (const auto& [program, package] :
       {std::pair("ip", "iproute2"), std::pair("nft", "nftables")}) {
    auto found = need(find_program(program), fmt::format("program `{}`", program), package);
    if (!found.ok()) return found.error().message;
  }
  return {};
}

base::Result<Namespace> Namespace::open(const std::string& file) {
  Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor) return of_system("cannot open the network " + file);
  return Namespace(std::move(descriptor));
}

base::Result<Namespace> Namespace::current() {
  return open(kThreadsNetwork);
}

base::Result<Namespace> Namespace::make() {
  base::Result<Namespace> made = Error{};
  std::async(std::launch::async, [&] {
    if (auto entered = enter_new_network(); entered.ok()) {
      made = current();
    } else {
      made = std::move(entered).error();
    }
  }).get();
  return made;
}

std::string Namespace::file() const {
  return fmt::format("/proc/self/fd/{}", descriptor_.get());
}

std::string Namespace::file_for_others() const {
  return fmt::format("/proc/{}/fd/{}", ::getpid(), descriptor_.get());
}

Status Namespace::enter() const {
  if (::setns(descriptor_.get(), CLONE_NEWNET) != 0) return of_system("cannot enter a network");
  return Ok{};
}

Status Namespace::run(const std::function<Status()>& function) const {
  Status done = Ok{};
  std::async(std::launch::async, [&] {
    done = enter();
    if (done.ok()) done = function();
  }).get();
  return done;
}

Status enter_new_network() {
  if (::unshare(CLONE_NEWNET) != 0) return of_system("cannot make a network");
  if (!raise_loopback()) return of_system("cannot use a network that was just made");
  return Ok{};
}

}  // namespace cupel::lab
