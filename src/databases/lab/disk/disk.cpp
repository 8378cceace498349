// Disk: its file system, by libfuse. What is asked of it is done to the stored files; before a
// file changes, what it loses is kept (Unsynced).
#define FUSE_USE_VERSION 312
#include "databases/lab/disk/disk.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "base/no_thread.hpp"
#include "base/random.hpp"
#include "databases/lab/namespaces.hpp"

namespace cupel::lab {

namespace {

using base::Descriptor;
using base::Error;
using base::Status;

constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();
constexpr mode_t kAnyMode = 07777;

// A stored file that is open, or has something that is not synced.
struct File {
  std::mutex mutex;  // of what it holds
  Unsynced unsynced;
  Descriptor stored;  // for reading and writing, as long as something is not synced
};

// An open file.
struct Handle {
  Descriptor descriptor;
  std::shared_ptr<File> file = {};
  bool synchronous = false;  // O_SYNC, O_DSYNC
};

using FileId = std::pair<dev_t, ino_t>;

// What a mounted disk knows; the functions of the file system have it as their context.
struct Stored {
  std::string folder;
  std::mutex mutex;  // of `files` and `random`
  std::map<FileId, std::shared_ptr<File>> files;
  base::Random random{1};
  std::atomic<bool> full = false;
  std::atomic<double> errors = 0;
  std::atomic<std::uint64_t> refused = 0, failed = 0;

  [[nodiscard]] std::string path(const char* name) const { return folder + name; }
  bool fails() {
    const double share = errors;
    if (share <= 0) return false;
    const std::lock_guard lock(mutex);
    if (!random.chance(share)) return false;
    ++failed;
    return true;
  }
  bool refuses() {
    if (!full) return false;
    ++refused;
    return true;
  }
  std::shared_ptr<File> file_of(int descriptor) {
    struct stat facts {};
    if (::fstat(descriptor, &facts) != 0) return std::make_shared<File>();
    const std::lock_guard lock(mutex);
    auto& file = files[{facts.st_dev, facts.st_ino}];
    if (file == nullptr) file = std::make_shared<File>();
    return file;
  }
  // Those that are neither open nor unsynced, and those without a name.
  void forget_files() {
    const std::lock_guard lock(mutex);
    std::erase_if(files, [](const auto& entry) {
      const auto& file = entry.second;
      if (file.use_count() > 1) return false;
      const std::lock_guard held(file->mutex);
      struct stat facts {};
      const bool gone =
          file->stored && ::fstat(file->stored.get(), &facts) == 0 && facts.st_nlink == 0;
      return gone || !file->unsynced.any();
    });
  }
};

Stored& stored() {
  return *static_cast<Stored*>(fuse_get_context()->private_data);
}
int done(int result) {
  return result == 0 ? 0 : -errno;
}
Handle& handle_of(const fuse_file_info* info) {
  return *reinterpret_cast<Handle*>(info->fh);
}

// With the file's mutex held: what is there from `begin` to `end` is about to change.
bool keep(File& file, int descriptor, std::uint64_t begin, std::uint64_t end) {
  if (!file.stored) file.stored = Descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  return file.stored && file.unsynced.keep(file.stored.get(), begin, end).ok();
}
void synced(File& file) {
  file.unsynced.sync();
  file.stored.reset();
}

// Made by us, owned by who asked for it.
int owned(const std::string& path) {
  if (::geteuid() != 0) return 0;
  const auto* asker = fuse_get_context();
  return done(::lchown(path.c_str(), asker->uid, asker->gid));
}

int on_getattr(const char* name, struct stat* facts, fuse_file_info* info) {
  if (info != nullptr) return done(::fstat(handle_of(info).descriptor.get(), facts));
  return done(::lstat(stored().path(name).c_str(), facts));
}
int on_readlink(const char* name, char* target, std::size_t size) {
  const auto length = ::readlink(stored().path(name).c_str(), target, size - 1);
  if (length < 0) return -errno;
  target[length] = 0;
  return 0;
}
int on_mkdir(const char* name, mode_t mode) {
  if (stored().refuses()) return -ENOSPC;
  const auto path = stored().path(name);
  if (::mkdir(path.c_str(), mode) != 0) return -errno;
  const int failed = owned(path);
  return failed != 0 ? failed : done(::chmod(path.c_str(), mode & kAnyMode));
}
int on_unlink(const char* name) {
  const int result = done(::unlink(stored().path(name).c_str()));
  stored().forget_files();
  return result;
}
int on_rmdir(const char* name) {
  return done(::rmdir(stored().path(name).c_str()));
}
int on_symlink(const char* target, const char* name) {
  const auto path = stored().path(name);
  if (::symlink(target, path.c_str()) != 0) return -errno;
  return owned(path);
}
int on_mknod(const char* name, mode_t mode, dev_t device) {
  const auto path = stored().path(name);
  if (::mknod(path.c_str(), mode, device) != 0) return -errno;
  return owned(path);
}
int on_rename(const char* from, const char* to, unsigned flags) {
  if (flags != 0) return -EINVAL;  // exchange and the like: the caller has another way
  auto& disk = stored();
  const int result = done(::rename(disk.path(from).c_str(), disk.path(to).c_str()));
  disk.forget_files();
  return result;
}
int on_link(const char* from, const char* to) {
  return done(::link(stored().path(from).c_str(), stored().path(to).c_str()));
}
int on_chmod(const char* name, mode_t mode, fuse_file_info* info) {
  if (info != nullptr) return done(::fchmod(handle_of(info).descriptor.get(), mode));
  return done(::chmod(stored().path(name).c_str(), mode));
}
int on_chown(const char* name, uid_t user, gid_t group, fuse_file_info* info) {
  if (info != nullptr) return done(::fchown(handle_of(info).descriptor.get(), user, group));
  return done(::lchown(stored().path(name).c_str(), user, group));
}
int on_utimens(const char* name, const timespec times[2], fuse_file_info* info) {
  if (info != nullptr) return done(::futimens(handle_of(info).descriptor.get(), times));
  return done(::utimensat(AT_FDCWD, stored().path(name).c_str(), times, AT_SYMLINK_NOFOLLOW));
}

int cut(File& file, int descriptor, off_t length) {
  const std::lock_guard lock(file.mutex);
  if (!keep(file, descriptor, static_cast<std::uint64_t>(length), kEnd)) return -EIO;
  return done(::ftruncate(descriptor, length));
}
int on_truncate(const char* name, off_t length, fuse_file_info* info) {
  if (info != nullptr) return cut(*handle_of(info).file, handle_of(info).descriptor.get(), length);
  const Descriptor opened(::open(stored().path(name).c_str(), O_RDWR | O_CLOEXEC));
  return opened ? cut(*stored().file_of(opened.get()), opened.get(), length) : -errno;
}

// The kernel has checked what the flags allow. Old bytes are read, so a file is opened for reading
// too, and it sees what the page cache of the machine holds.
int open_stored(const char* name, fuse_file_info* info, int create, mode_t mode) {
  const int flags = info->flags;
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  Handle handle{
      .descriptor = Descriptor(
          ::open(stored().path(name).c_str(),
                 (writes ? O_RDWR : O_RDONLY) | create | (flags & O_NOFOLLOW) | O_CLOEXEC, mode))};
  if (!handle.descriptor) return -errno;
  const int file = handle.descriptor.get();
  if (create != 0) {
    const int failed = owned(stored().path(name));
    if (failed != 0 || ::fchmod(file, mode & kAnyMode) != 0) return failed != 0 ? failed : -errno;
  }
  handle.file = stored().file_of(file);
  handle.synchronous = (flags & O_DSYNC) != 0;  // O_SYNC has this bit too
  if (create == 0 && (flags & O_TRUNC) != 0) {
    if (const int failed = cut(*handle.file, file, 0); failed != 0) return failed;
  }
  info->fh = reinterpret_cast<std::uint64_t>(new Handle(std::move(handle)));
  return 0;
}
int on_open(const char* name, fuse_file_info* info) {
  return open_stored(name, info, 0, 0);
}
int on_create(const char* name, mode_t mode, fuse_file_info* info) {
  return open_stored(name, info, O_CREAT | (info->flags & O_EXCL), mode);
}
int on_release(const char* /*name*/, fuse_file_info* info) {
  delete &handle_of(info);
  stored().forget_files();
  return 0;
}
int on_read(const char* /*name*/, char* bytes, std::size_t size, off_t offset,
            fuse_file_info* info) {
  const auto count = ::pread(handle_of(info).descriptor.get(), bytes, size, offset);
  return count < 0 ? -errno : static_cast<int>(count);
}

// How much of a write a full disk takes: what is there already can be overwritten.
std::size_t room(int descriptor, std::size_t size, off_t offset) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0 || offset >= facts.st_size) return 0;
  return std::min(size, static_cast<std::size_t>(facts.st_size - offset));
}
int on_write(const char* /*name*/, const char* bytes, std::size_t size, off_t offset,
             fuse_file_info* info) {
  auto& disk = stored();
  auto& handle = handle_of(info);
  const int descriptor = handle.descriptor.get();
  if (disk.fails()) return -EIO;
  if (disk.full && room(descriptor, size, offset) < size) {
    size = room(descriptor, size, offset);
    disk.refuses();
    if (size == 0) return -ENOSPC;
  }
  const std::lock_guard lock(handle.file->mutex);
  const auto begin = static_cast<std::uint64_t>(offset);
  if (!keep(*handle.file, descriptor, begin, begin + size)) return -EIO;
  const auto count = ::pwrite(descriptor, bytes, size, offset);
  if (count < 0) return -errno;
  if (handle.synchronous) synced(*handle.file);
  return static_cast<int>(count);
}
int on_fallocate(const char* /*name*/, int mode, off_t offset, off_t length, fuse_file_info* info) {
  auto& handle = handle_of(info);
  const int descriptor = handle.descriptor.get();
  const auto size = static_cast<std::size_t>(length);
  if (room(descriptor, size, offset) < size && stored().refuses()) return -ENOSPC;
  const std::lock_guard lock(handle.file->mutex);
  if (!keep(*handle.file, descriptor, static_cast<std::uint64_t>(offset), kEnd)) return -EIO;
  return done(::fallocate(descriptor, mode, offset, length));
}
int on_fsync(const char* /*name*/, int /*only_data*/, fuse_file_info* info) {
  if (stored().fails()) return -EIO;
  const std::lock_guard lock(handle_of(info).file->mutex);
  synced(*handle_of(info).file);
  return 0;
}
int on_statfs(const char* name, struct statvfs* facts) {
  if (::statvfs(stored().path(name).c_str(), facts) != 0) return -errno;
  if (stored().full) facts->f_bfree = facts->f_bavail = 0;
  return 0;
}
off_t on_lseek(const char* /*name*/, off_t offset, int whence, fuse_file_info* info) {
  const auto result = ::lseek(handle_of(info).descriptor.get(), offset, whence);
  return result < 0 ? -errno : result;
}
int on_opendir(const char* name, fuse_file_info* info) {
  DIR* folder = ::opendir(stored().path(name).c_str());
  if (folder == nullptr) return -errno;
  info->fh = reinterpret_cast<std::uint64_t>(folder);
  return 0;
}
int on_readdir(const char* /*name*/, void* buffer, fuse_fill_dir_t fill, off_t /*offset*/,
               fuse_file_info* info, fuse_readdir_flags /*flags*/) {
  DIR* folder = reinterpret_cast<DIR*>(info->fh);
  ::rewinddir(folder);
  while (const dirent* entry = ::readdir(folder)) {
    struct stat facts {};
    facts.st_ino = entry->d_ino;
    facts.st_mode = DTTOIF(entry->d_type);
    if (fill(buffer, entry->d_name, &facts, 0, fuse_fill_dir_flags()) != 0) break;
  }
  return 0;
}
int on_releasedir(const char* /*name*/, fuse_file_info* info) {
  return done(::closedir(reinterpret_cast<DIR*>(info->fh)));
}
int on_fsyncdir(const char* /*name*/, int /*only_data*/, fuse_file_info* /*info*/) {
  return stored().fails() ? -EIO : 0;
}

void* on_init(fuse_conn_info* /*connection*/, fuse_config* config) {
  config->use_ino = 1;
  config->hard_remove = 1;  // an open file can be removed: its handle is enough for all
  config->nullpath_ok = 1;
  return fuse_get_context()->private_data;
}

fuse_operations operations() {
  fuse_operations all{};
  all.init = on_init;
  all.getattr = on_getattr;
  all.readlink = on_readlink;
  all.mkdir = on_mkdir;
  all.mknod = on_mknod;
  all.unlink = on_unlink;
  all.rmdir = on_rmdir;
  all.symlink = on_symlink;
  all.rename = on_rename;
  all.link = on_link;
  all.chmod = on_chmod;
  all.chown = on_chown;
  all.utimens = on_utimens;
  all.truncate = on_truncate;
  all.open = on_open;
  all.create = on_create;
  all.release = on_release;
  all.read = on_read;
  all.write = on_write;
  all.fallocate = on_fallocate;
  all.fsync = on_fsync;
  all.statfs = on_statfs;
  all.lseek = on_lseek;
  all.opendir = on_opendir;
  all.readdir = on_readdir;
  all.releasedir = on_releasedir;
  all.fsyncdir = on_fsyncdir;
  return all;
}

// Each file that is not synced has a descriptor.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void say_nothing(fuse_log_level /*level*/, const char* /*format*/, va_list /*values*/) {}

}  // namespace

std::string disks_forbidden() {
  if (!own_mounts()) {
    return "this process may not mount a file system that nobody else sees";
  }
  const Descriptor device(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  if (device) return {};
  return std::string("a disk of its own for each node needs /dev/fuse: ") + std::strerror(errno);
}

struct Disk::State {
  Stored stored;
  std::string place;
  fuse* session = nullptr;
  std::thread serving;

  Status mount() {
    static std::once_flag once;
    std::call_once(once, [] {
      fuse_set_log_func(say_nothing);
      allow_many_files();
    });
    char name[] = "cupel", option[] = "-o",
         options[] = "allow_other,default_permissions,fsname=cupel";
    char* words[] = {name, option, options};
    fuse_args arguments = FUSE_ARGS_INIT(3, words);
    const auto table = operations();
    session = fuse_new(&arguments, &table, sizeof table, &stored);
    fuse_opt_free_args(&arguments);
    if (session == nullptr || fuse_mount(session, place.c_str()) != 0) {
      if (session != nullptr) fuse_destroy(session);
      session = nullptr;
      return Error{.message = std::string("cannot mount a file system: ") + std::strerror(errno),
                   .file = place};
    }
    try {
      serving = std::thread([this] {
        fuse_loop_config* config = fuse_loop_cfg_create();
        fuse_loop_mt(session, config);
        fuse_loop_cfg_destroy(config);
      });
    } catch (const std::system_error& error) {
      fuse_unmount(session);
      fuse_destroy(session);
      session = nullptr;
      return base::no_thread("the disk", error);
    }
    return base::Ok{};
  }

  // The kernel writes all that it holds before. Error: somebody uses a file.
  Status unmount() {
    if (session == nullptr) return base::Ok{};
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (::umount(place.c_str()) != 0 && errno != EINVAL) {  // EINVAL: it is gone
      if (std::chrono::steady_clock::now() > deadline) {
        return Error{.message = std::string("cannot unmount: ") + std::strerror(errno),
                     .file = place};
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    serving.join();
    fuse_unmount(session);
    fuse_destroy(session);
    session = nullptr;
    return base::Ok{};
  }
};

Disk::Disk(std::unique_ptr<State> state) : state_(std::move(state)) {}
Disk::Disk(Disk&&) noexcept = default;
Disk& Disk::operator=(Disk&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
Disk::~Disk() {
  if (state_ == nullptr || state_->unmount().ok()) return;
  // Somebody still uses it. It lasts as long as this process, and its mounts.
  state_->serving.detach();
  static_cast<void>(state_.release());
}

base::Result<Disk> Disk::mount(const std::string& stored, const std::string& place) {
  auto state = std::make_unique<State>();
  state->stored.folder = stored;
  state->place = place;
  if (auto mounted = state->mount(); !mounted.ok()) return std::move(mounted).error();
  return Disk(std::move(state));
}

void Disk::set(const DiskFault& fault) {
  state_->stored.full = fault.full;
  state_->stored.errors = fault.errors;
}
DiskCount Disk::count() const {
  return {.refused = state_->stored.refused, .failed = state_->stored.failed};
}

void Disk::sync() {
  std::vector<std::shared_ptr<File>> files;
  {
    const std::lock_guard lock(state_->stored.mutex);
    for (const auto& [id, file] : state_->stored.files) files.push_back(file);
  }
  for (const auto& file : files) {
    const std::lock_guard lock(file->mutex);
    synced(*file);
  }
  files.clear();
  state_->stored.forget_files();
}

base::Result<LostBytes> Disk::lose_unsynced() {
  if (auto unmounted = state_->unmount(); !unmounted.ok()) return std::move(unmounted).error();
  LostBytes lost;
  Status result = base::Ok{};
  for (const auto& [id, file] : state_->stored.files) {
    if (!file->unsynced.any()) continue;
    auto undone = file->unsynced.undo(file->stored.get(), lost);
    if (!undone.ok()) result = std::move(undone);
    synced(*file);
  }
  state_->stored.files.clear();
  auto mounted = state_->mount();
  if (!result.ok()) return std::move(result).error();
  if (!mounted.ok()) return std::move(mounted).error();
  return lost;
}

}  // namespace cupel::lab
