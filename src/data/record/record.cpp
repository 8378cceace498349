// The recorder. A session spells its operations as they happen, into two texts of
// its own: as invoked (reads without values) and as completed. Only finished lines
// meet the lock; a thread writes what has gathered.
#include "cupel/record.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <ctime>
#include <fstream>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/no_thread.hpp"
#include "data/record/json_text.hpp"
#include "data/record/rotation.hpp"

namespace cupel {

using record::append_json;

namespace {

constexpr std::size_t kWakeBytes = 1 << 18;   // the writer is woken early: what stays in a cache
constexpr std::size_t kWaitBytes = 64 << 20;  // sessions wait for the disk

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// A watch that went away must not end the program with a signal.
bool write_all(int file, bool socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = socket ? ::send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL)
                                : ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

constexpr std::string_view kUnix = "unix:";

// The file, or the socket of a watch that listens at unix:PATH; -1, and errno.
int open_output(const std::string& path) {
  if (!path.starts_with(kUnix)) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  const auto place = path.substr(kUnix.size());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (place.empty() || place.size() >= sizeof address.sun_path) {
    errno = place.empty() ? EINVAL : ENAMETOOLONG;
    return -1;
  }
  std::memcpy(address.sun_path, place.data(), place.size());
  const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) return -1;
  if (::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return file;
  const int code = errno;
  ::close(file);
  errno = code;
  return -1;
}

// What tells whether two recorders read the same clock: of which start of which machine it is.
std::string machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace

struct Recorder::State {
  int file = -1;
  bool socket = false;
  std::string path;
  std::int64_t start_ns = 0;
  double flush_seconds = 1;
  Scalar default_initial;
  std::atomic<std::int64_t> next_id{1};
  std::atomic<std::int64_t> next_process{0};

  std::mutex mutex;
  std::condition_variable wake, written;
  std::string gathered;
  std::int64_t lines = 0;                      // the next index
  std::unique_ptr<record::Rotation> rotation;  // the writer's
  bool closing = false;
  std::string error;
  std::string final_readers;  // "PROCESS NODE", a line each
  std::thread writer;

  // `line` without its index and closing brace.
  void hand_over(std::string_view line) {
    std::unique_lock lock(mutex);
    written.wait(lock, [&] { return gathered.size() < kWaitBytes || closing || !error.empty(); });
    if (closing || !error.empty()) return;
    gathered += line;
    gathered += ",\"index\":";
    append_json(gathered, lines++);
    gathered += "}\n";
    if (gathered.size() >= kWakeBytes) wake.notify_one();
  }

  // Why it failed, in a sentence.
  std::string write(std::string_view batch, bool last) {
    do {
      const auto part = batch.substr(0, rotation ? rotation->fitting(batch) : batch.size());
      batch.remove_prefix(part.size());
      if (!write_all(file, socket, part)) {
        return fmt::format("{}: could not write the history: {}", path, std::strerror(errno));
      }
      auto failure = rotation ? rotation->wrote(part, last && batch.empty(), file) : "";
      if (!failure.empty()) return failure;
    } while (!batch.empty());
    return "";
  }

  void write_until_closed() {
    std::string batch;
    std::unique_lock lock(mutex);
    for (bool last = false; !last;) {
      wake.wait_for(lock, std::chrono::duration<double>(flush_seconds),
                    [&] { return closing || gathered.size() >= kWakeBytes; });
      last = closing;
      batch.clear();
      batch.swap(gathered);
      lock.unlock();
      const auto failure = write(batch, last);
      lock.lock();
      if (error.empty()) error = failure;
      written.notify_all();
    }
  }
};

struct RecordedSession::State {
  Recorder::State* recorder = nullptr;
  std::int64_t process = 0;
  std::string node;
  bool open = false;
  bool invoked = false;  // the invocation line is handed over
  bool retold = false;   // operations came after it
  std::int64_t begin_ns = 0;
  std::string as_invoked, as_completed, line;
  std::string notes;

  // The beginning of an operation, in both texts, or once the invocation is handed
  // over in the completed one alone.
  void operation(std::string_view f, const Scalar& key) {
    if (invoked && !retold) {
      retold = true;
      as_invoked.clear();
      as_completed.clear();
    }
    const auto start = as_completed.size();
    if (start > 0) as_completed += ',';
    as_completed += "[\"";
    as_completed += f;
    as_completed += "\",";
    append_json(as_completed, key);
    as_completed += ',';
    if (!invoked) as_invoked.append(as_completed, start);
  }
  void same(std::string_view text) {
    as_completed += text;
    if (!invoked) as_invoked += text;
  }
  void value(const Scalar& scalar) {
    const auto start = as_completed.size();
    append_json(as_completed, scalar);
    if (!invoked) as_invoked.append(as_completed, start);
  }
  void only_completed(const Scalar& scalar) {
    append_json(as_completed, scalar);
    unanswered();
    same("]");
  }
  void unanswered() {
    if (!invoked) as_invoked += "null";
  }

  void hand_over(std::string_view type, std::string_view operations, std::int64_t time,
                 std::string_view why) {
    line.assign("{\"type\":\"");
    line += type;
    line += "\",\"process\":";
    append_json(line, process);
    line += ",\"f\":\"txn\",\"value\":[";
    line += operations;
    line += "],\"time\":";
    append_json(line, time);
    if (!node.empty()) {
      line += ",\"node\":";
      append_json(line, std::string_view(node));
    }
    if (!why.empty()) {
      line += ",\"error\":";
      append_json(line, why);
    }
    if (!notes.empty() && type != "invoke") {
      line += ",\"note\":";
      append_json(line, std::string_view(notes));
    }
    recorder->hand_over(line);
  }
  void invoke() {
    if (invoked) return;
    invoked = true;
    hand_over("invoke", as_invoked, begin_ns, {});
  }
  void complete(std::string_view type, std::string_view why) {
    if (!open) return;
    invoke();
    hand_over(type, as_completed, monotonic_ns() - recorder->start_ns, why);
    open = false;
  }
};

RecordedSession::RecordedSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
RecordedSession::RecordedSession(RecordedSession&&) noexcept = default;

RecordedSession& RecordedSession::operator=(RecordedSession&& other) noexcept {
  if (this != &other) {
    if (state_) indeterminate("the session was dropped");
    state_ = std::move(other.state_);
  }
  return *this;
}

RecordedSession::~RecordedSession() {
  if (state_) indeterminate("the session was dropped");
}

void RecordedSession::begin() {
  if (state_->open) indeterminate("the next transaction began");
  state_->open = true;
  state_->invoked = state_->retold = false;
  state_->as_invoked.clear();
  state_->as_completed.clear();
  state_->notes.clear();
  state_->begin_ns = monotonic_ns() - state_->recorder->start_ns;
}

void RecordedSession::on(std::string_view node) {
  state_->node = node;
}

void RecordedSession::read(const Scalar& key, const Scalar& value) {
  state_->operation("r", key);
  state_->only_completed(value);
}

void RecordedSession::write(const Scalar& key, const Scalar& value) {
  state_->operation("w", key);
  state_->value(value);
  state_->same("]");
}

void RecordedSession::insert(const Scalar& key, const Scalar& value) {
  state_->operation("insert", key);
  state_->value(value);
  state_->same("]");
}

void RecordedSession::erase(const Scalar& key) {
  state_->operation("delete", key);
  state_->same("null]");
}

void RecordedSession::append(const Scalar& list, const Scalar& element) {
  state_->operation("append", list);
  state_->value(element);
  state_->same("]");
}

void RecordedSession::read_list(const Scalar& list, const std::vector<Scalar>& elements) {
  state_->operation("r", list);
  auto& completed = state_->as_completed;
  completed += '[';
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i > 0) completed += ',';
    append_json(completed, elements[i]);
  }
  completed += ']';
  state_->unanswered();
  state_->same("]");
}

void RecordedSession::read_range(const Scalar& low, const Scalar& high,
                                 const std::vector<std::pair<Scalar, Scalar>>& found) {
  auto& completed = state_->as_completed;
  std::string bounds = "[";
  append_json(bounds, low);
  bounds += ',';
  append_json(bounds, high);
  bounds += "],";
  state_->operation("range", Scalar{});
  // operation() spelled a key of null: the bounds take its place.
  completed.resize(completed.size() - 5);
  if (!state_->invoked) state_->as_invoked.resize(state_->as_invoked.size() - 5);
  state_->same(bounds);
  completed += '[';
  for (std::size_t i = 0; i < found.size(); ++i) {
    completed += i > 0 ? ",[" : "[";
    append_json(completed, found[i].first);
    completed += ',';
    append_json(completed, found[i].second);
    completed += ']';
  }
  completed += ']';
  state_->unanswered();
  state_->same("]");
}

void RecordedSession::compare_and_set(const Scalar& key, const Scalar& expected,
                                      const Scalar& desired, bool succeeded) {
  state_->operation("cas", key);
  state_->same("[");
  state_->value(expected);
  state_->same(",");
  state_->value(desired);
  state_->same("]");
  if (!succeeded) state_->as_completed += ",false";
  state_->same("]");
}

void RecordedSession::note(std::string_view text) {
  if (!state_->open || text.empty()) return;
  if (!state_->notes.empty()) state_->notes += "; ";
  state_->notes += text;
}

void RecordedSession::committing() {
  if (state_->open) state_->invoke();
}

void RecordedSession::committed() {
  state_->complete("ok", {});
}

void RecordedSession::aborted(std::string_view why) {
  state_->complete("fail", why);
}

void RecordedSession::indeterminate(std::string_view why) {
  if (!state_->open) return;
  state_->complete("info", why);
  state_->process = state_->recorder->next_process++;
}

Recorder::Recorder(std::unique_ptr<State> state) : state_(std::move(state)) {}

static std::string metadata_line(const std::vector<std::pair<std::string, std::string>>& metadata) {
  std::string line = R"({"type":"info","process":"nemesis","f":"cupel.metadata","value":[)";
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    line += i > 0 ? ",[" : "[";
    append_json(line, std::string_view(metadata[i].first));
    line += ',';
    append_json(line, std::string_view(metadata[i].second));
    line += ']';
  }
  return line + ']';
}

std::unique_ptr<Recorder> Recorder::open(const std::string& path, const RecordOptions& options,
                                         std::string& error) {
  const bool socket = path.starts_with(kUnix);
  std::unique_ptr<record::Rotation> rotation;
  if (!socket && options.rotate_bytes > 0) {
    rotation = std::make_unique<record::Rotation>(path, options.rotate_bytes);
    if (error = rotation->make_folder(); !error.empty()) return nullptr;
  }
  const int file = rotation ? rotation->open() : open_output(path);
  if (file < 0) {
    error = fmt::format("{}: could not {}: {}", path,
                        socket ? "connect to the watch" : "make the history file",
                        std::strerror(errno));
    return nullptr;
  }
  auto state = std::make_unique<State>();
  state->file = file;
  state->socket = socket;
  state->path = path;
  state->rotation = std::move(rotation);
  state->start_ns = monotonic_ns();
  state->flush_seconds = options.flush_seconds > 0 ? options.flush_seconds : 1;
  state->default_initial = options.default_initial;
  auto metadata = options.metadata;
  if (socket) metadata.emplace_back("clock", fmt::format("{} {}", machine(), state->start_ns));
  if (!metadata.empty()) state->hand_over(metadata_line(metadata));
  if (options.default_initial != Scalar{}) {
    std::string line = R"({"type":"info","process":"nemesis","f":"cupel.initial","value":[)";
    append_json(line, options.default_initial);
    line += ",[]]";
    state->hand_over(line);
  }
  auto* raw = state.get();
  std::unique_ptr<Recorder> recorder(new Recorder(std::move(state)));  // which ends the writer
  try {
    raw->writer = std::thread([raw] { raw->write_until_closed(); });
  } catch (const std::system_error& failure) {
    ::close(raw->file);
    error = base::no_thread("the recorder of " + path, failure).message;
    return nullptr;
  }
  return recorder;
}

Recorder::~Recorder() {
  std::string error;
  close(error);
}

RecordedSession Recorder::session() {
  auto session = std::make_unique<RecordedSession::State>();
  session->recorder = state_.get();
  session->process = state_->next_process++;
  return RecordedSession(std::move(session));
}

RecordedSession Recorder::final_reader(std::string_view node) {
  auto reader = session();
  std::string name(node);
  std::replace(name.begin(), name.end(), '\n', ' ');
  std::string facts;
  {
    const std::lock_guard lock(state_->mutex);
    auto& readers = state_->final_readers;
    readers += fmt::format("{}{} {}", readers.empty() ? "" : "\n", reader.state_->process, name);
    facts = readers;
  }
  // The last line of a name is the one that counts.
  state_->hand_over(metadata_line({{"final readers", facts}}));
  reader.on(node);
  return reader;
}

void Recorder::initial(const Scalar& key, const Scalar& value) {
  std::string line = R"({"type":"info","process":"nemesis","f":"cupel.initial","value":[)";
  append_json(line, state_->default_initial);
  line += ",[[";
  append_json(line, key);
  line += ',';
  append_json(line, value);
  line += "]]]";
  state_->hand_over(line);
}

static std::string fault_line(std::string_view f, std::string_view what, std::int64_t time) {
  std::string line = R"({"type":"info","process":"nemesis","f":")";
  line += f;
  line += R"(","value":)";
  append_json(line, what);
  line += R"(,"time":)";
  append_json(line, time);
  return line;
}

void Recorder::fault_begins(std::string_view what) {
  state_->hand_over(fault_line("start-fault", what, now_ns()));
}
void Recorder::fault_ends(std::string_view what) {
  state_->hand_over(fault_line("stop-fault", what, now_ns()));
}

void Recorder::fact(std::string_view name, std::string_view text) {
  // The last line of a name is the one that counts.
  state_->hand_over(metadata_line({{std::string(name), std::string(text)}}));
}

std::int64_t Recorder::unique_id() {
  return state_->next_id++;
}

std::int64_t Recorder::now_ns() const {
  return monotonic_ns() - state_->start_ns;
}

std::int64_t Recorder::started_ns() const {
  return state_->start_ns;
}

bool Recorder::failed() const {
  const std::lock_guard lock(state_->mutex);
  return !state_->error.empty();
}

bool Recorder::close(std::string& error) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->closing = true;
    state_->wake.notify_one();
    state_->written.notify_all();
  }
  if (state_->writer.joinable()) {
    state_->writer.join();
    if (::close(state_->file) != 0 && state_->error.empty()) {
      state_->error =
          fmt::format("{}: could not write the history: {}", state_->path, std::strerror(errno));
    }
  }
  error = state_->error;
  return error.empty();
}

std::string tag(std::string_view value, std::int64_t unique_id) {
  return fmt::format("{}#{}", value, unique_id);
}

std::string_view untag(std::string_view tagged, std::int64_t* unique_id) {
  const auto mark = tagged.rfind('#');
  std::int64_t number = -1;
  if (mark != std::string_view::npos) {
    const char* last = tagged.data() + tagged.size();
    const auto [end, error] = std::from_chars(tagged.data() + mark + 1, last, number);
    if (error != std::errc() || end != last || number < 0) number = -1;
  }
  if (unique_id != nullptr) *unique_id = number;
  return number < 0 ? tagged : tagged.substr(0, mark);
}

}  // namespace cupel
