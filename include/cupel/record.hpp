// cupel: record what your own application saw, as a history that cupel checks.
//
// Call it from the data layer: once for each transaction begun, once for each
// value read or written, once for the outcome.
//
//   std::string error;
//   auto recorder = cupel::Recorder::open("history.jsonl", {}, error);
//   if (!recorder) return error;
//   cupel::RecordedSession session = recorder->session();   // one for each connection
//   session.begin();
//   session.read("account:7", 100);          // what the database returned
//   session.write("account:7", 90);
//   session.committing();                    // just before COMMIT is sent
//   session.committed();                     // it was acknowledged
//   recorder->close(error);
//
// Write values that are unique for each key if you can, because then every read
// shows which transaction it saw: unique_id() gives numbers that no other write
// of this recorder has, and tag() and untag() carry one inside a text ("90#1742"),
// as VIPER's and Cobra's history collectors do.
//
// Say committed() only when the database acknowledged the commit, aborted() only
// when it certainly did not commit; everything else (time-out, lost connection) is
// indeterminate(). committing() is what makes a crash of your program harmless:
// what is in flight then is in the file as indeterminate.
//
// Cost: under a microsecond an operation. A thread writes the file, at least once a
// second. Times are CLOCK_MONOTONIC since open(), in nanoseconds. Errors are reported by
// a sentence, never by an exception.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cupel/scalar.hpp"

namespace cupel {

// The facts of the history's header, and how often the file is written.
struct RecordOptions {
  // Facts for the header: {"database", "PostgreSQL"}, {"isolation", "repeatable
  // read"} let `cupel check` say what the product calls a level.
  std::vector<std::pair<std::string, std::string>> metadata = {};
  Scalar default_initial = {};  // what every key holds at first; null: absent
  double flush_seconds = 1;     // a crash loses at most this much
  // For recordings of days: the path is a folder, which is made, and the lines go to
  // history.00001.jsonl in it, then to history.00002.jsonl …: a new file after about so many
  // bytes. A full one is compressed (zstd) in the background, and its name and size go to
  // history.index.jsonl. `cupel check`, `stats` and `watch` take the folder. 0: one file.
  std::uint64_t rotate_bytes = 0;
};

class Recorder;

// The recording of one client. Belongs to one thread at a time; sessions of different
// threads do not wait for each other but for the hand-over of finished lines.
class RecordedSession {
 public:
  RecordedSession(RecordedSession&&) noexcept;
  RecordedSession& operator=(RecordedSession&&) noexcept;
  ~RecordedSession();  // an open transaction becomes indeterminate

  void begin();
  // The server that the transactions from here on run on: the field `node` of their operation
  // maps, which explanations show. Empty: none.
  void on(std::string_view node);
  // Operations, in program order.
  void read(const Scalar& key, const Scalar& value);
  void write(const Scalar& key, const Scalar& value);
  void insert(const Scalar& key, const Scalar& value);
  void erase(const Scalar& key);
  void append(const Scalar& list, const Scalar& element);
  void read_list(const Scalar& list, const std::vector<Scalar>& elements);
  // `found`: every row that the database returned, in its order; a key may come several times.
  void read_range(const Scalar& low, const Scalar& high,
                  const std::vector<std::pair<Scalar, Scalar>>& found);
  void compare_and_set(const Scalar& key, const Scalar& expected, const Scalar& desired,
                       bool succeeded);

  // Optional but recommended: see above. If the database runs a transaction in one
  // piece, report its operations with reads of null, call this, and report them again
  // with what they returned: the first operation after this call forgets those
  // before it.
  // Something more to know about the open transaction, in a sentence. Explanations show it as the
  // field `note`; no verdict depends on it.
  void note(std::string_view text);
  void committing();
  void committed();
  void aborted(std::string_view why = {});
  // The session goes on as a new process: what an unknown transaction did may
  // still be going on.
  void indeterminate(std::string_view why = {});

 private:
  friend class Recorder;
  struct State;
  explicit RecordedSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The history file, shared by all sessions. Every function but open() and close()
// may be called by any thread.
class Recorder {
 public:
  // Begins a history file (JSON lines). None, and a sentence in `error`, if it
  // cannot be made. "unix:PATH" instead of a file sends the lines to a `cupel watch unix:PATH`,
  // together with when this recorder began, so that several agree about time; set
  // flush_seconds to 0.01 or so, to be judged without delay.
  static std::unique_ptr<Recorder> open(const std::string& path, const RecordOptions& options,
                                        std::string& error);
  ~Recorder();  // close()

  // Any thread. The recorder must outlive its sessions.
  RecordedSession session();
  // A session for the final reads of a run, which come when all others have ended and everything
  // is repaired: it reads every key from one server, `node`. `cupel check` then names
  // acknowledged writes that are gone (lost-write), and keys on which the nodes differ
  // (divergent-replicas).
  RecordedSession final_reader(std::string_view node);
  // The value of a key before the recording, if not the default. Before the first
  // use of the key by any session is handed over; any thread.
  void initial(const Scalar& key, const Scalar& value);
  // Something was begun to be done to the database from outside (a crash, a cut
  // network), or repaired. Drawn on the timeline of a report, ignored by every check; any
  // thread. `what` in one or two words, the same for both.
  void fault_begins(std::string_view what);
  void fault_ends(std::string_view what);
  // A fact for the header that is known only later; one of the same name is replaced. Any thread.
  void fact(std::string_view name, std::string_view text);
  // Unique among the writes of this recorder, from 1. Any thread.
  std::int64_t unique_id();
  // Nanoseconds since open().
  [[nodiscard]] std::int64_t now_ns() const;
  // CLOCK_MONOTONIC at open(): what the times count from.
  [[nodiscard]] std::int64_t started_ns() const;

  // Something could not be written, so that what comes is lost: close() says why.
  [[nodiscard]] bool failed() const;

  // Everything handed over reaches the file; the sessions' further lines are
  // dropped. False, and a sentence, if something could not be written.
  bool close(std::string& error);

 private:
  struct State;
  explicit Recorder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  friend class RecordedSession;
};

// "90#1742": a value with the number of the write that made it.
std::string tag(std::string_view value, std::int64_t unique_id);
// The value without the number; `unique_id` is -1 if there is none.
std::string_view untag(std::string_view tagged, std::int64_t* unique_id = nullptr);

}  // namespace cupel
