// cupel-mpi: `cupel check` of one history by several processes of MPI.
//
//   mpirun -n 8 cupel-mpi check -l causal --certificate c.json history.cupel
//
// Every process reads the file. The first does what `cupel check` does, and asks the others for
// parts of what each level needs (docs/how-to/scale.md); its output is the output. Messages are
// bytes: a tag says whether they are a question, an answer or the end.
#define OMPI_SKIP_MPICXX  // its C++ interface, which MPI has no more
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "apps/command.hpp"

namespace {

enum Tag : int { kQuestion = 1, kAnswer = 2, kEnd = 3 };

// A message has at most INT_MAX elements.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

void send(std::string_view bytes, int to, int tag) {
  const std::uint64_t size = bytes.size();
  MPI_Send(&size, 1, MPI_UINT64_T, to, tag, MPI_COMM_WORLD);
  while (!bytes.empty()) {
    const auto part = std::min(bytes.size(), kMostBytes);
    MPI_Send(bytes.data(), static_cast<int>(part), MPI_BYTE, to, tag, MPI_COMM_WORLD);
    bytes.remove_prefix(part);
  }
}

struct Message {
  int tag = kEnd;
  std::string bytes;
};

Message receive(int from) {
  std::uint64_t size = 0;
  MPI_Status status;
  MPI_Recv(&size, 1, MPI_UINT64_T, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  Message message{status.MPI_TAG, std::string(size, '\0')};
  for (std::size_t at = 0; at < size;) {
    const auto part = std::min<std::size_t>(size - at, kMostBytes);
    MPI_Recv(message.bytes.data() + at, static_cast<int>(part), MPI_BYTE, from, message.tag,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    at += part;
  }
  return message;
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// The first process's view of the others.
class MpiTeam : public cupel::base::Team {
 public:
  explicit MpiTeam(int size) : size_(size) {}

  [[nodiscard]] std::uint32_t size() const override { return static_cast<std::uint32_t>(size_); }
  void ask(std::string_view question) override {
    drain();
    question_ = question;
    outstanding_ = !question.empty();
    asked_at_ = cpu_seconds();
    for (int other = 1; other < size_; ++other) send(question, other, kQuestion);
  }
  std::vector<std::string> answers() override {
    const double own = cpu_seconds() - asked_at_;
    outstanding_ = false;
    std::vector<std::string> all;
    std::string detail;
    for (int other = 1; other < size_; ++other) {
      auto bytes = receive(other).bytes;
      // At its end: what it cost.
      double seconds = 0;
      bytes.copy(reinterpret_cast<char*>(&seconds), sizeof seconds, bytes.size() - sizeof seconds);
      bytes.resize(bytes.size() - sizeof seconds);
      char text[96];
      std::snprintf(text, sizeof text, " %.3f s and %.3f MB,", seconds,
                    static_cast<double>(bytes.size()) / 1e6);
      detail += text;
      all.push_back(std::move(bytes));
    }
    detail.back() = '\n';
    char text[64];
    std::snprintf(text, sizeof text, " took %.3f s of CPU here; there", own);
    cupel::apps::print_detail("cupel: " + question_ + text + detail);
    return all;
  }
  void end() {
    drain();
    for (int other = 1; other < size_; ++other) send({}, other, kEnd);
  }

 private:
  // Answers that nobody took, as after a limit was met.
  void drain() {
    if (!outstanding_) return;
    for (int other = 1; other < size_; ++other) receive(other);
    outstanding_ = false;
  }

  int size_;
  bool outstanding_ = false;
  std::string question_;
  double asked_at_ = 0;
};

// What a process that is not the first is asked.
class Questions {
 public:
  // None: the history is done, or everything is.
  std::optional<std::string> next() {
    if (over_) return std::nullopt;
    auto message = receive(0);
    asked_at_ = cpu_seconds();
    over_ = message.tag == kEnd;
    if (over_ || message.bytes.empty()) return std::nullopt;
    return std::move(message.bytes);
  }
  void answer(std::string bytes) const {
    const double seconds = cpu_seconds() - asked_at_;
    bytes.append(reinterpret_cast<const char*>(&seconds), sizeof seconds);
    send(bytes, 0, kAnswer);
  }
  void await_end() {
    while (!over_) {
      if (const auto question = next()) answer({});
    }
  }

 private:
  bool over_ = false;
  double asked_at_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int code = 0;
  if (rank == 0) {
    MpiTeam team(size);
    const cupel::apps::Processes processes{.team = size > 1 ? &team : nullptr,
                                           .part = {0, static_cast<std::uint32_t>(size)}};
    code = cupel::apps::run(argc, argv, cupel::apps::engine_commands(), &processes);
    team.end();
  } else {
    // Only the first process speaks.
    const bool silent = std::freopen("/dev/null", "w", stdout) != nullptr &&
                        std::freopen("/dev/null", "w", stderr) != nullptr;
    Questions questions;
    const cupel::apps::Processes processes{
        .part = {static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(size)},
        .question = [&] { return questions.next(); },
        .answer = [&](const std::string& bytes) { questions.answer(bytes); }};
    if (silent)
      static_cast<void>(cupel::apps::run(argc, argv, cupel::apps::engine_commands(), &processes));
    questions.await_end();
  }
  MPI_Finalize();
  return code;
}
