// cupel watch: judges a history while it grows, in bounded memory.
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <deque>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/command.hpp"
#include "apps/emit.hpp"
#include "apps/engine/check_history.hpp"
#include "apps/engine/watch_end.hpp"
#include "apps/engine/watch_keys.hpp"
#include "apps/engine/watch_state.hpp"
#include "apps/engine/windows_check.hpp"
#include "apps/interrupt.hpp"
#include "apps/options.hpp"
#include "apps/result_line.hpp"
#include "apps/units.hpp"
#include "base/budget.hpp"
#include "base/read_file.hpp"
#include "base/temp_dir.hpp"
#include "data/formats/decompress.hpp"
#include "data/formats/formats.hpp"
#include "data/formats/input.hpp"
#include "data/formats/line_pieces.hpp"
#include "data/formats/recording.hpp"
#include "data/formats/store_directory.hpp"
#include "data/formats/transaction_stream.hpp"
#include "data/history/facts.hpp"
#include "data/history/ignored.hpp"
#include "data/history/mask.hpp"
#include "data/merge/join.hpp"
#include "engine/analysis/analyze.hpp"
#include "engine/levels/product.hpp"
#include "engine/online/chain.hpp"
#include "engine/online/checker.hpp"
#include "engine/online/inbox.hpp"
#include "engine/online/merge.hpp"
#include "report/evidence.hpp"
#include "report/render.hpp"
#include "report/wording.hpp"

namespace cupel::apps {

namespace {

using online::Checker;
using report::grouped;
using Clock = std::chrono::steady_clock;

struct WatchArguments {
  std::vector<std::string> sources;
  CheckArguments check;
  std::string output, end_after, window_timeout, state;
  std::uint64_t sessions = 0, recorders = 0;
  bool no_follow = false, keep_going = false;
};

// The first lines that are not of a header are waited for no longer than this many bytes.
constexpr std::size_t kMostHeader = 64 << 20;

// Lines of one recorder may come this much later than what others read of their transactions:
// recorders write at least once a second.
constexpr std::chrono::seconds kLateness{3};

// --keep-going ends here: each costs a check of all that was recorded.
constexpr std::size_t kMostViolations = 100;
// What the whole record may take at the end, without --timeout.
constexpr double kEndSeconds = 600;

// None: windows are never given up. Throws a usage error.
std::optional<double> window_seconds(const WatchArguments& arguments) {
  if (arguments.window_timeout.empty()) return online::WatchOptions().window_seconds;
  const auto seconds = or_throw(parse_duration(arguments.window_timeout, 1), "--window-timeout");
  return seconds > 0 ? std::optional(seconds) : std::nullopt;
}

std::int64_t monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// It can be read again: a file, or a recording of several.
bool is_record(const std::string& source) {
  std::error_code unknown;
  return source != "-" &&
         (std::filesystem::is_regular_file(source, unknown) || formats::is_recording(source));
}

bool is_columnar(const std::string& source) {
  std::error_code unknown;
  return source != "-" && std::filesystem::is_regular_file(source, unknown) &&
         formats::holds_cupel(source);
}

base::Error no_growing_columns(const std::string& source) {
  return {
      .message = fmt::format(
          "found a history in cupel's format, expected JSON lines: it begins with the tables of "
          "all keys and values, so it is written when a history is over, and does not grow; "
          "`cupel check {}` takes it, however large it is",
          shell_word(source)),
      .file = source};
}

// Why the source cannot be watched: it is compressed, or a folder of Jepsen. None: it may be.
std::optional<base::Error> finished_history(const std::string& source) {
  std::error_code unknown;
  if (std::filesystem::is_regular_file(source, unknown)) {
    const auto file = formats::MappedFile::open_as_it_is(source);
    if (!file.ok() || !formats::is_compressed(file->bytes())) return std::nullopt;
    return base::Error{.message = fmt::format(
                           "found a compressed file, which does not grow. Use `cupel check {}`, "
                           "with --memory-limit if the history is larger than the memory",
                           shell_word(source)),
                       .file = source};
  }
  if (!std::filesystem::is_directory(source, unknown) || formats::is_recording(source))
    return std::nullopt;
  const auto runs = formats::histories_at({source}, std::nullopt);
  if (runs.front() == source) return std::nullopt;
  return base::Error{.message = fmt::format(
                         "found a folder of Jepsen, expected a file that grows. Use `cupel check "
                         "{}`, or name the file, such as {}",
                         shell_word(source), shell_word(runs.back())),
                     .file = source};
}

// Whole lines of what was recorded, kept for the check that explains a violation.
class Record {
 public:
  // Of a regular file: that file. Else `path` is written.
  base::Status open(const std::string& path, bool written) {
    path_ = path;
    if (!written) return base::Ok{};
    file_ = base::Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!file_) {
      const bool there = errno == EEXIST;
      return base::Error{.message = there ? "is there already; name another file with -o"
                                          : fmt::format("cannot be made: {}", std::strerror(errno)),
                         .file = path};
    }
    return base::Ok{};
  }
  base::Status add(std::string_view lines) {
    while (file_ && !lines.empty()) {
      const auto written = ::write(file_.get(), lines.data(), lines.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        return base::Error{.message = fmt::format("cannot be written: {}", std::strerror(errno)),
                           .file = path_};
      }
      lines.remove_prefix(static_cast<std::size_t>(written));
    }
    return base::Ok{};
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool written() const { return static_cast<bool>(file_); }

 private:
  std::string path_;
  base::Descriptor file_;
};

class WatchRun {
 public:
  explicit WatchRun(const WatchArguments& arguments)
      : arguments_(arguments),
        inbox_(!arguments.no_follow),
        merge_(std::all_of(arguments.sources.begin(), arguments.sources.end(), is_record)) {}

  int run() {
    for (const auto& source : arguments_.sources) once_.emplace_back(source);
    if (const auto opened = open(); !opened.ok()) return bad(opened.error());
    while (!code_) {
      const bool over = stop();
      const auto bytes = inbox_.poll(std::chrono::milliseconds(over ? 0 : 5), take_);
      if (!bytes.ok()) return bad(bytes.error());
      if (*bytes > 0) last_bytes_ = Clock::now();
      if (checker_) act_on(checker_->look_if_due(*bytes == 0));
      if (checker_ && !code_) save(state_.save_if_due(*checker_, level_, sessions_));
      if (!code_) show(false);
      if (over && *bytes == 0) break;
    }
    if (!code_) {
      if (const auto taken = inbox_.take_whole_maps(take_); !taken.ok()) return bad(taken.error());
    }
    if (!code_) finish();
    clear_line();
    return *code_;
  }

 private:
  base::Status open() {
    const auto& first = arguments_.sources.front();
    const bool one = arguments_.sources.size() == 1;
    several_ = !one || first.starts_with("unix:") || first.starts_with("tcp:");
    const bool itself = one && is_record(first);
    name_ = one ? first : fmt::format("{} and {} more", first, arguments_.sources.size() - 1);
    auto path = itself ? first : arguments_.output;
    if (path.empty()) path = unused_name("cupel-watch", ".jsonl");
    once_.emplace_back(path);
    if (itself && !arguments_.output.empty()) {
      return base::Error{.message =
                             "found -o, but this history is a file already, which is what a "
                             "violation is explained from",
                         .file = first};
    }
    if (!arguments_.state.empty() && !itself) {
      return base::Error{
          .message =
              "found --state, which needs one file: what came from a pipe, a socket "
              "or several files cannot be read again; record it to a file, and watch "
              "that",
          .file = name_};
    }
    if (itself && !arguments_.state.empty()) {
      if (auto opened = state_.open(arguments_.state, first); !opened.ok()) return opened;
    }
    if (state_.found()) return go_on(first);
    for (const auto& source : arguments_.sources) {
      if (is_columnar(source)) return no_growing_columns(source);
      if (auto finished = finished_history(source)) return *std::move(finished);
      if (auto added = inbox_.add(source); !added.ok()) return added;
    }
    return record_.open(path, !itself);
  }

  // From where an earlier watch was.
  base::Status go_on(const std::string& file) {
    const auto byte = state_.byte();
    if (auto added = inbox_.add_from(file, byte); !added.ok()) return added;
    if (auto opened = record_.open(file, /*written=*/false); !opened.ok()) return opened;
    const auto& asked = arguments_.check.levels;
    level_ = asked.empty() ? state_.level() : levels_of(asked).front();
    sessions_ = arguments_.sessions > 0 ? arguments_.sessions : state_.sessions();
    make_checker();
    if (auto loaded = state_.load(*checker_); !loaded.ok()) return loaded;
    if (const auto& certificate = arguments_.check.certificate;
        !certificate.empty() && checker_->leaves_windows()) {
      if (auto chain = keep_chain(checker_->chain_again(certificate)); !chain.ok()) return chain;
    }
    say(fmt::format("{}: watching: {}", name_, online::promise_of(level_)));
    say(fmt::format("goes on after {} transactions, at byte {} of {}",
                    grouped(checker_->watch().window().held().transactions), grouped(byte), file));
    shown_transactions_ = checker_->watch().window().held().transactions;
    return base::Ok{};
  }

  void save(const base::Status& saved) {
    if (!saved.ok()) code_ = bad(saved.error());
  }

  // Nothing more can come.
  [[nodiscard]] bool source_is_over() const {
    return inbox_.ended() || (arguments_.recorders > 0 && inbox_.gone() >= arguments_.recorders);
  }

  // Is it over? What is there is still read to its end.
  [[nodiscard]] bool stop() const {
    if (interruptible_.stopped() || source_is_over()) return true;
    const std::chrono::duration<double> idle = Clock::now() - last_bytes_;
    return end_after_ > 0 && idle.count() >= end_after_;
  }

  base::Status take(std::size_t recorder, std::string_view lines) {
    if (several_) {
      merged_.clear();
      if (auto merged = merge_.take(recorder, lines, monotonic_now(), merged_); !merged.ok()) {
        auto error = std::move(merged).error();
        error.file = inbox_.name(recorder);
        return error;
      }
      lines = merged_;
    }
    if (auto kept = record_.add(lines); !kept.ok()) return kept;
    if (asking_) {
      waiting_ += lines;
      return base::Ok{};
    }
    if (checker_) {
      auto known = know_clocks();
      return known.ok() ? checker_->take(lines) : known;
    }
    waiting_ += lines;
    if (auto begun = begin(/*over=*/false); !begun.ok()) return begun;
    return checker_ ? know_clocks() : base::Ok{};
  }

  // Real time between clocks that are only guessed would accuse the innocent.
  [[nodiscard]] base::Status know_clocks() const {
    if (!merge_.guessed_clock() || !arguments_.check.limits.clock_drift.empty() ||
        !levels::needs_real_time(online::watched_for(level_))) {
      return base::Ok{};
    }
    return base::Error{
        .message = fmt::format("{} is about real time, and nothing says that the times of the "
                               "sources are of one clock; say with --clock-drift how far they may "
                               "be apart, 0s if they are of one",
                               levels::name(level_)),
        .file = name_};
  }

  // Once the header has been read, the level is known.
  base::Status begin(bool over) {
    online::Watch header({.as = interpretation(arguments_.check.as)});
    auto& probe = header.add(name_);
    if (auto read = probe.take(waiting_); !read.ok()) return read;
    if (over && probe.nothing_happened()) return nothing_happened();
    if (over) {
      if (auto ended = probe.end(); !ended.ok()) return ended;
    }
    if (over && !probe.any_client() && !probe.fact("ignored").empty()) {
      return base::Error{.message = formats::kAllIgnored, .file = name_};
    }
    if (over && !probe.any_client()) {
      return base::Error{.message =
                             "found no operations of clients, expected op maps such as "
                             R"({"type":"ok","process":0,"f":"txn","value":[["w","x",1]]})",
                         .file = name_};
    }
    if (!probe.any_client() && !over && waiting_.size() < kMostHeader) return base::Ok{};
    if (const auto part = probe.metadata().find(merge::kSessionsFact);
        part != probe.metadata().end()) {
      return base::Error{
          .message = fmt::format("found the part of sessions {} of a run by several workers, "
                                 "expected the whole: without the others, what they wrote seems to "
                                 "come from nobody; `cupel merge` joins them when they have ended",
                                 part->second),
          .file = name_};
    }
    const auto level = level_of(probe.metadata());
    if (!level.ok()) return level.error();
    level_ = *level;
    if (levels::needs_real_time(online::watched_for(level_)) && probe.any_client() &&
        !probe.has_times()) {
      return base::Error{
          .message = fmt::format("{} needs times, which these operations do not have",
                                 levels::name(level_)),
          .file = name_};
    }
    const auto sessions = probe.metadata().find("sessions");
    sessions_ = arguments_.sessions;
    if (sessions_ == 0 && sessions != probe.metadata().end()) {
      sessions_ = std::strtoull(sessions->second.c_str(), nullptr, 10);
    }
    make_checker();
    if (const auto& certificate = arguments_.check.certificate; !certificate.empty()) {
      auto chain = online::Chain::begin(certificate, checker_->watch().watched(), level_,
                                        options_.check.clock_drift_ns);
      if (auto kept = keep_chain(std::move(chain)); !kept.ok()) return kept;
    }
    say(fmt::format("{}: watching: {}", name_, online::promise_of(level_)));
    if (record_.written()) say(fmt::format("what comes is recorded in {}", record_.path()));
    const auto waiting = std::move(waiting_);
    waiting_.clear();
    return checker_->take(waiting);
  }

  // As `cupel check` has it: satisfied, and nothing was tested.
  base::Status nothing_happened() {
    const auto asked = levels_of(arguments_.check.levels);
    say(fmt::format("{}: {}", name_, report::kNothingWasTested));
    code_ = kSatisfied;
    const auto level =
        levels::name(asked.empty() ? levels::Level::kStrictSerializable : asked.front());
    if (arguments_.check.json) {
      const nlohmann::ordered_json object = {
          {"file", name_}, {"level", level}, {"verdict", "satisfied"}, {"transactions", 0}};
      print(object.dump() + "\n");
    } else {
      print(fmt::format("{}\t{}\tsatisfied\n", name_, level));
    }
    return base::Ok{};
  }

  base::Result<levels::Level> level_of(const std::map<std::string, std::string>& facts) const {
    const auto& asked = arguments_.check.levels;
    if (!asked.empty()) return levels_of(asked).front();
    const auto fact = [&](const char* name) {
      const auto it = facts.find(name);
      return it != facts.end() ? it->second : std::string();
    };
    const auto level = levels::promised(fact("database"), fact("isolation"), fact("settings"),
                                        fact("servers") == levels::kSeveralServers);
    if (level && fact(levels::kNoPromise).empty()) return *level;
    return base::Error{.message =
                           "does not say which level its database promises; name one with -l, as "
                           "in -l strict-serializable",
                       .file = name_};
  }

  void make_checker() {
    const auto& options = options_.check;
    checker_ = std::make_unique<Checker>(
        online::WatchOptions{.level = level_,
                             .drift = options.clock_drift_ns,
                             .sessions = static_cast<std::size_t>(sessions_),
                             .memory_limit_bytes = options.memory_limit_bytes,
                             .evidence = !arguments_.check.certificate.empty(),
                             .window_seconds = window_seconds(arguments_),
                             .as = interpretation(arguments_.check.as)},
        name_, record_.path(), [this](Checker::Question question) { return ask(question); });
    if (record_is_whole()) checker_->expect_nothing_more();
  }

  base::Status keep_chain(base::Result<online::Chain> chain) {
    if (!chain.ok()) return std::move(chain).error();
    chain_.emplace(std::move(chain).value());
    checker_->leave(*chain_);
    return base::Ok{};
  }

  void act_on(const base::Result<Checker::State>& state) {
    if (const auto late = std::exchange(waiting_, {}); !late.empty()) {
      if (const auto taken = checker_->take(late); !taken.ok()) code_ = bad(taken.error());
    }
    for (const auto& note : checker_->take_notes()) say(note);
    if (chain_ && checker_->only_record_after()) state_.forget();  // its windows may be replaced
    if (!state.ok()) {
      clear_line();
      code_ = bad(state.error());
    } else if (*state == Checker::State::kUnknown) {
      clear_line();
      if (may_be_known_later()) return;
      if (chain_) save(chain_->end_unknown(checker_->why()));
      if (checker_->passed_over() > 0) return end_violated(checker_->why());
      code_ = kUnknown;
      print_verdict("unknown", checker_->why());
    } else if (*state == Checker::State::kViolated) {
      clear_line();
      code_ = report();
      if (arguments_.keep_going && *code_ == kViolated) keep_going();
    }
  }

  // The memory limit was met, and nothing can be said of what was recorded so far; at its end, the
  // windows of `cupel check` may. Says so once.
  bool may_be_known_later() {
    if (over_ || record_is_whole() || !checker_->only_record_after()) return false;
    if (!std::exchange(said_later_, true)) say(checker_->why() + "; goes on recording");
    return true;
  }

  // The violation that was found. The exit code.
  int report() {
    auto arguments = check_arguments();
    if (arguments_.keep_going) {
      const auto number = checker_->passed_over() + 1;
      if (!arguments.report.empty()) {
        arguments.report =
            (std::filesystem::path(arguments.report) / fmt::format("violation-{}", number))
                .string();
      }
      if (number > 1) arguments.certificate.clear();  // those after it are of a masked history
    }
    if (checker_->from_window()) return report_window(std::move(arguments));
    return print_and_certify(std::move(arguments));
  }

  // The record does not fit into the limits, and the window has the violation. It is explained if
  // it fits by itself.
  int report_window(CheckArguments arguments) {
    const auto held = check_window();
    if (!held.ok()) say(held.error().to_string());
    const bool explained = held.ok() && found_is_violated();
    const bool certified = !arguments.certificate.empty();
    arguments.certificate.clear();  // it would be of what is held
    int code = kViolated;
    if (explained) {
      code = print_checked_history(record_.path(), *found_, arguments);
    } else {
      print_verdict("violated",
                    "what is held has a violation, which cannot be explained within the limits");
      if (!arguments.report.empty())
        say(fmt::format("{}: no report was written: nothing is explained", arguments.report));
    }
    if (chain_) {
      const auto ended = chain_->end_unknown(
          "a violation was found, and the whole history did not fit into the limits of a check");
      if (!ended.ok()) return bad(ended.error());
    }
    if (certified)
      leave_no_certificate(
          "the violation is in what is held, and the recorded history does not "
          "fit into the limits of a check");
    return code;
  }

  [[nodiscard]] bool found_is_violated() const {
    return found_ && found_->ok() &&
           (*found_)->analysis.check.levels.front().verdict == check::Verdict::kViolated;
  }

  // The windows end with the certificate of the violation.
  int print_and_certify(CheckArguments arguments) {
    if (!chain_ || chain_->ended()) {
      const int code = print_checked_history(record_.path(), *found_, arguments);
      const bool in_windows = found_->ok() && (*found_)->analysis.windows;
      if (in_windows && !arguments.certificate.empty() && !certified_windows_) {
        leave_no_certificate("a violation that was found in windows leaves none");
      }
      return code;
    }
    const bool certified = !arguments.certificate.empty();
    const auto folder = base::TempDir::make("cupel-");
    if (!folder.ok()) return bad(folder.error());
    if (certified) arguments.certificate = folder->file("violation.json");
    const int code = print_checked_history(record_.path(), *found_, arguments);
    const auto violation = certified ? base::read_file(arguments.certificate)
                                     : base::Result<std::string>(std::string());
    const auto ended = certified && violation.ok()
                           ? chain_->end_violated(*violation)
                           : chain_->end_unknown("a violation was found, and no certificate of it");
    return ended.ok() ? code : bad(ended.error());
  }

  // After a violation was reported.
  void keep_going() {
    const auto& masked = checker_->masked();
    if (!found_is_violated()) {
      say("what depends on this violation is not known, so the watch ends here");
      return;
    }
    const auto keys = keys_of_violations(**found_, masked);
    if (keys.size() == 0) {
      say("nothing is left that does not depend on this violation");
      return;
    }
    if (checker_->passed_over() + 1 >= kMostViolations) {
      say(fmt::format("the watch ends here, with {} violations", kMostViolations));
      return;
    }
    code_.reset();
    std::vector<history::ScalarView> views;
    for (std::uint32_t i = 0; i < keys.size(); ++i) views.push_back(keys.at(i));
    if (const auto gone_on = checker_->go_on_without(views); !gone_on.ok()) {
      code_ = bad(gone_on.error());
      return;
    }
    say(fmt::format("goes on; what is seen of {} counts as unknown from now on",
                    names_of_keys(keys)));
  }

  // Violations were reported and passed over. `why`: nothing more is known.
  void end_violated(const std::string& why) {
    code_ = kViolated;
    auto detail = fmt::format("as explained above; what was seen of {} then counted as unknown",
                              names_of_keys(checker_->masked()));
    if (!why.empty()) detail += "; " + why;
    print_verdict("violated", detail);
  }

  // The whole history, as recorded: by the check of `cupel check`, which also explains.
  base::Result<Checker::State> ask(Checker::Question question) {
    auto state = ask_record(question);
    if (!several_ || !state.ok() || *state != Checker::State::kViolated) return state;
    // Of several recorders, one may have read what another has written and not sent yet.
    asking_ = true;
    const auto end = Clock::now() + kLateness;
    while (Clock::now() < end && !inbox_.ended()) {
      const auto bytes = inbox_.poll(std::chrono::milliseconds(20), take_);
      if (!bytes.ok()) return bytes.error();
    }
    asking_ = false;
    return ask_record(question);
  }

  [[nodiscard]] bool record_is_whole() const { return arguments_.no_follow && !record_.written(); }

  // What was recorded by now: it may still grow. None: all, or not known, of a compressed file. Of
  // a folder that is whole, all: what ends after a part of it is not in doubt.
  [[nodiscard]] std::optional<std::uint64_t> recorded_bytes() const {
    if (formats::is_recording(record_.path()))
      return record_is_whole() ? std::nullopt : std::optional(checker_->taken());
    return formats::whole_lines(record_.path());
  }

  base::Result<Checker::State> ask_record(Checker::Question question) {
    clear_line();
    for (const auto& note : checker_->take_notes()) say(note);
    auto options = options_;
    options.check.asked = {level_};
    if (!options.check.timeout_seconds)
      options.check.timeout_seconds = time_of_a_question(question.seconds);
    analysis::FileOptions reading{.format = formats::Format::kJepsen,
                                  .going_on = question.going_on,
                                  .first_bytes = recorded_bytes(),
                                  .as = interpretation(arguments_.check.as)};
    const auto began = Clock::now();
    const auto& keys = checker_->masked();
    if (keys.size() > 0) {
      reading.masked = [&](const auto& h) { return history::operations_on(h, keys); };
    }
    forget_found();
    std::optional<Interruptible::EndsChecks> ends;  // the end has signals of its own: see below
    if (!over_ && !interruptible_.stopped()) ends.emplace(interruptible_);
    found_.emplace(analysis::analyze_file(record_.path(), reading, options));
    // What is still written must have a beginning that stays.
    const bool stays = reading.first_bytes || !question.going_on;
    if (question.in_windows && keys.size() == 0 && stays) {
      const bool last = over_ || record_is_whole();
      const auto certificate = last ? arguments_.check.certificate : std::string();
      found_ = with_windows(record_.path(), reading, options,
                            {.began = began, .certificate = certificate}, *std::move(found_));
      certified_windows_ = last && found_->ok() && (*found_)->analysis.windows;
    }
    if (!found_->ok()) return found_->error();
    if (found_is_violated() && (*found_)->left_open && !arguments_.check.certificate.empty()) {
      // The certificate is of the file as it is, which is violated then too.
      question.going_on = false;
      return ask_record(question);
    }
    const auto& level = (*found_)->analysis.check.levels.front();
    switch (level.verdict) {
      case check::Verdict::kSatisfied:
        return Checker::State::kSatisfied;
      case check::Verdict::kViolated:
        return Checker::State::kViolated;
      case check::Verdict::kUnknown:
        return Checker::State::kUnknown;
      case check::Verdict::kRefused:
        break;
    }
    return base::Error{.message = level.detail, .file = record_.path()};
  }

  // `window`: of one that ends within a window's time. At the end of the source nothing waits for
  // the answer but the user, who can interrupt it, or a job of CI, which must end by itself.
  std::optional<double> time_of_a_question(std::optional<double> window) {
    if (!over_ || interruptible_.stopped()) return window;
    if (window) {
      say(fmt::format(
          "the recorded history is decided as a whole, within {:.0f} minutes; --timeout "
          "sets another limit",
          kEndSeconds / 60));
      interruptible_.begin_check();
    }
    return kEndSeconds;
  }

  [[nodiscard]] CheckArguments check_arguments() const {
    auto arguments = arguments_.check;
    arguments.levels = {std::string(levels::name(level_))};
    return arguments;
  }

  // An earlier answer holds the history as it was: the next one has that memory, too.
  void forget_found() {
    if (!found_) return;
    found_.reset();
    ::malloc_trim(0);  // the limit is of what is resident
  }

  // The whole does not fit into the limits; what is held contains the violation.
  base::Status check_window() {
    const auto folder = base::TempDir::make("cupel-");
    if (!folder.ok()) return folder.error();
    const auto file = folder->file("held.jsonl");
    if (auto written = formats::write(checker_->watch().window().history(), file, {});
        !written.ok()) {
      return written;
    }
    clear_line();
    print_error(
        "the recorded history does not fit into the limits of a check; this is about the part "
        "that was held, in which keys start with what was forgotten");
    auto options = options_;
    options.check.asked = {level_};
    options.whole_history = false;  // which this is not
    forget_found();
    found_.emplace(analysis::analyze_file(file, {}, options));
    return base::Ok{};
  }

  void finish() {
    over_ = true;
    if (!checker_) {
      if (const auto begun = begin(/*over=*/true); !begun.ok()) {
        code_ = bad(begun.error());
        return;
      }
      if (code_) return;
    }
    std::size_t before = 0;
    do {
      before = checker_->passed_over();
      act_on(checker_->finish(source_is_over()));
    } while (!code_ && checker_->passed_over() != before);  // again, for what is independent
    if (!code_ && !inbox_.took_open_line()) save(state_.save(*checker_, level_, sessions_));
    if (code_) return;
    clear_line();
    if (inbox_.cut_bytes() > 0) {
      print_error(
          fmt::format("{}: the last line was cut while it was written; it is left out", name_));
    }
    if (checker_->passed_over() > 0) return end_violated("");
    if (nothing_committed()) {
      code_ = bad(report::nothing_committed(name_));
      return;
    }
    code_ = kSatisfied;
    if (!arguments_.check.certificate.empty()) certify();
    const auto& held = checker_->watch().window().held();
    end_ = end_of(
        {.name = name_,
         .record = record_.path(),
         .first_bytes = recorded_bytes(),
         .as = interpretation(arguments_.check.as),
         .options = options_.check,
         .level = level_,
         .by_name = !arguments_.check.levels.empty(),
         .counts = checker_->only_record_after()
                       ? std::nullopt
                       : std::optional(EndedWatch::Counts{held.committed, held.transactions}),
         .fact = [this](const char* name) { return fact(name); }});
    code_ = exit_code_with(end_.losses, *code_);
    const bool unknown = end_.losses == base::Verdict::kUnknown;
    print_verdict(unknown ? "unknown" : "satisfied", unknown ? end_.why_unknown : "");
  }

  // Of a window that was given up only the recorded history knows.
  [[nodiscard]] bool nothing_committed() const {
    if (!checker_->only_record_after()) return checker_->watch().window().held().committed == 0;
    return found_ && found_->ok() &&
           report::nothing_committed({record_.path(), (*found_)->history, (*found_)->analysis});
  }

  void certify() {
    if (chain_ && chain_->satisfied()) return;
    if (!checker_->leaves_windows()) return certify_record();
    say(
        fmt::format("{}: the certificate ends without a verdict: a transaction is still going on, "
                    "and the history is satisfied only if a compare-and-set of it fails",
                    arguments_.check.certificate));
  }

  // Only the recorded history says that the level is satisfied, so the certificate is of a check of
  // it: as a whole, or in windows of its own.
  void certify_record() {
    const auto& file = arguments_.check.certificate;
    if (!found_is_as_recorded()) {
      const auto state =
          ask_record({.going_on = false, .in_windows = checker_->only_record_after().has_value()});
      if (!state.ok() || *state != Checker::State::kSatisfied) {
        return leave_no_certificate(
            "the history is satisfied only if a compare-and-set of a transaction that is still "
            "going on fails, or grew meanwhile; `cupel check --certificate` writes one once it has "
            "ended");
      }
    }
    const auto& found = **found_;
    if (found.analysis.windows) return;  // which have left it
    const CertificateOf of{options_.check.clock_drift_ns, found.first_bytes};
    state_.forget();  // which goes on with the windows in this file
    if (!write_certificate(file, found.history, found.analysis.check, of)) {
      code_ = kBad;
    } else {
      say(fmt::format("{}: the certificate is of the recorded history as a whole", file));
    }
  }

  // Can a certificate be made of what was found, or is there one?
  [[nodiscard]] bool found_is_as_recorded() const {
    if (!found_ || !found_->ok() || (*found_)->left_open) return false;
    const auto verdict = (*found_)->analysis.check.levels.front().verdict;
    if (verdict != check::Verdict::kSatisfied) return false;
    return !(*found_)->analysis.windows || certified_windows_;
  }

  void leave_no_certificate(std::string_view why) {
    std::error_code ignored;
    state_.forget();  // which goes on with the windows in this file
    std::filesystem::remove(arguments_.check.certificate, ignored);
    print_error(base::Error{.message = fmt::format("no certificate was written: {}", why),
                            .file = arguments_.check.certificate});
  }

  void print_verdict(std::string_view verdict, const std::string& why) {
    const auto& held = checker_->watch().window().held();
    if (arguments_.check.json) {
      auto object = status_object(verdict);
      if (!why.empty()) object["detail"] = why;
      if (verdict == "satisfied") object["warnings"] = end_.warnings;
      if (!end_.final_reads_object.is_null()) object["final_reads"] = end_.final_reads_object;
      if (arguments_.keep_going) object["reported"] = checker_->passed_over();
      object["most_held"] = checker_->most_held();
      print(object.dump() + "\n");
      return;
    }
    if (verdict == "satisfied") {
      for (const auto& warning : end_.warnings)
        print(fmt::format("  warning: {}: {}\n", name_, warning));
    }
    print(fmt::format("{}\t{}\t{}\n", name_, levels::name(level_), verdict));
    if (!why.empty()) print_text(fmt::format("  {}\n", why));
    print_text(end_.final_reads);
    print_reading();
    if (const auto after = checker_->only_record_after()) {
      return print(
          fmt::format("  of the recorded history; the memory limit was met after {} transactions\n",
                      grouped(*after)));
    }
    print(fmt::format(
        "  {} transactions that ended well or in doubt; {} held at the end, at most {}\n",
        grouped(held.transactions), grouped(held.held), grouped(checker_->most_held())));
  }

  // How the stream was read, and what was left out, in the words of `cupel check`.
  [[nodiscard]] std::string fact(const char* name) const {
    return checker_->watch().stream(0).fact(name);
  }
  void print_reading() const {
    if (const auto kind = fact("kind"); !kind.empty()) print(fmt::format("  read as {}\n", kind));
    if (const auto ignored = fact("ignored"); !ignored.empty())
      print(fmt::format("  left out: {}\n", report::ignored_text(ignored)));
    if (const auto missing = fact(history::kNotIgnored); !missing.empty())
      print_note(fmt::format("{}: {}", name_, missing));
  }

  // --- what is shown meanwhile ---

  nlohmann::ordered_json status_object(std::string_view verdict) const {
    const auto& held = checker_->watch().window().held();
    const auto kind = fact("kind");
    auto ignored = nlohmann::ordered_json::array();
    for (const auto& [f, count] : history::ignored_op_maps(fact("ignored")))
      ignored.push_back({{"f", f}, {"op_maps", count}});
    return {{"file", name_},
            {"kind", kind.empty() ? "transactions" : kind},
            {"ignored", std::move(ignored)},
            {"level", levels::name(level_)},
            {"watched", levels::name(checker_->watch().watched())},
            {"verdict", verdict},
            {"transactions", transactions()},
            {"forgotten", held.forgotten},
            {"held", held.held},
            {"not_seen_by_all", held.uncovered},
            {"order_open", held.undecided},
            {"outcome_open", held.outcome},
            {"going_on", held.open},
            {"windows_given_up", checker_->windows_given_up()},
            {"looks", checker_->watch().looks()},
            {"rate", rate_},
            {"resident_bytes", base::resident_bytes()}};
  }

  [[nodiscard]] std::uint64_t transactions() const {
    return checker_->only_record_after().value_or(checker_->watch().window().held().transactions);
  }

  void show(bool now) {
    const std::chrono::duration<double> passed = Clock::now() - shown_;
    const double interval = arguments_.check.json ? 1 : 0.2;
    if (!checker_ || (!now && passed.count() < interval)) return;
    const auto now_transactions = transactions();
    rate_ = static_cast<double>(now_transactions - shown_transactions_) / passed.count();
    shown_ = Clock::now();
    shown_transactions_ = now_transactions;
    if (arguments_.check.json) {
      print(status_object(is_unknown() ? "unknown so far" : "satisfied so far").dump() + "\n");
      flush_output();
    } else if (terminal_) {
      print_in_place(status_text());
      line_ = true;
    }
  }

  [[nodiscard]] bool is_unknown() const {
    return checker_->only_record_after().has_value() || checker_->windows_given_up() > 0;
  }

  [[nodiscard]] std::string status_text() const {
    const auto& held = checker_->watch().window().held();
    if (const auto after = checker_->only_record_after()) {
      return fmt::format("the memory limit was met after {} transactions; records",
                         grouped(*after));
    }
    auto text = fmt::format("{} so far: {} transactions, {}/s, {} held, {} MB",
                            is_unknown() ? "unknown" : "satisfied", grouped(held.transactions),
                            grouped(static_cast<std::uint64_t>(rate_)), grouped(held.held),
                            base::resident_bytes() >> 20);
    constexpr std::size_t kMany = 10'000;
    if (held.held > kMany) {
      const auto most = std::max({held.uncovered, held.undecided, held.outcome});
      text += most == held.uncovered   ? " (a session lags)"
              : most == held.undecided ? " (blind writes)"
                                       : " (unknown outcomes)";
    }
    return text;
  }

  void clear_line() {
    if (line_) print_in_place("");
    line_ = false;
  }
  // Not with --quiet.
  void say(const std::string& text) {
    clear_line();
    flush_output();
    print_status(fmt::format("cupel: {}\n", text));
  }

  const WatchArguments& arguments_;
  const analysis::Options options_ = [this] { return analysis_options(arguments_.check); }();
  const double end_after_ =
      arguments_.end_after.empty() ? 0 : *parse_duration(arguments_.end_after, 1);
  const Interruptible interruptible_;
  online::Inbox inbox_;
  const online::Inbox::Take take_ = [this](auto from, auto lines) { return take(from, lines); };
  WatchState state_;
  online::Merge merge_;
  Record record_;
  std::deque<formats::OpenOnce> once_;  // the sources, and the record
  std::string name_, merged_, waiting_;
  bool asking_ = false, several_ = false, line_ = false, over_ = false, said_later_ = false,
       certified_windows_ = false;
  const bool terminal_ = isatty(STDERR_FILENO) != 0;
  levels::Level level_ = levels::Level::kStrictSerializable;
  std::uint64_t sessions_ = 0;
  std::optional<online::Chain> chain_;
  std::unique_ptr<Checker> checker_;
  std::optional<Found> found_;
  WatchEnd end_;
  Clock::time_point last_bytes_ = Clock::now(), shown_ = Clock::now();
  std::uint64_t shown_transactions_ = 0;
  double rate_ = 0;
  std::optional<int> code_;
};

// All arguments looked at.
void check_arguments(const WatchArguments& arguments) {
  const auto levels = levels_of(arguments.check.levels);
  if (levels.size() > 1) {
    throw UsageError(
        "--level", fmt::format("found {} levels, expected one: a watch checks one", levels.size()));
  }
  if (!arguments.end_after.empty()) {
    or_throw(parse_duration(arguments.end_after, 1), "--end-after");
  }
  window_seconds(arguments);
  analysis_options(arguments.check);
}

}  // namespace

void add_watch(Command& app, Run& run) {
  auto* command = add_command(app, "watch");
  auto arguments = std::make_shared<WatchArguments>();
  auto& check = arguments->check;
  command
      ->add_option("SOURCE", arguments->sources,
                   "Files of JSON lines that grow, folders of --rotate, named pipes, - for "
                   "standard input, or a socket "
                   "to listen on for recorders: unix:PATH, tcp:PORT or tcp:HOST:PORT (loopback)")
      ->required()
      ->check(not_empty("a source"))
      ->type_name("");
  command
      ->add_option("-l,--level", check.levels,
                   "The level to check. Default: the one that the database promises, if the "
                   "history says which database it is")
      ->type_name("LEVEL")
      ->allow_extra_args(false)  // what follows is a source
      ->group(kQuestionOptions);
  command
      ->add_option("--sessions", arguments->sessions,
                   "How many sessions there are: nothing is forgotten before each has ended a "
                   "transaction. Default: what the history says")
      ->type_name("N")
      ->check(whole_number(0, 1'000'000))
      ->group(kQuestionOptions);
  add_interpretation_options(*command, check.as);
  add_limit_options(*command, "The time for the check of the whole history after a violation",
                    check.limits);
  command
      ->add_option("--window-timeout", arguments->window_timeout,
                   "Give up a window that is not decided in this time: its transactions count as "
                   "unknown, and the watch goes on. Default: 10s. 0: never")
      ->type_name("DURATION");
  command
      ->add_option("--end-after", arguments->end_after,
                   "End if nothing has come for this long. Default: at the end of every pipe, when "
                   "--recorders have gone, or at Ctrl-C")
      ->type_name("DURATION");
  command
      ->add_option("--recorders", arguments->recorders,
                   "End when so many recorders have connected to the socket and gone again")
      ->type_name("N")
      ->check(whole_number(1, 100'000));
  command->add_flag("--keep-going", arguments->keep_going,
                    "After a violation go on with what is independent of it: what is seen of its "
                    "keys counts as unknown from then on");
  command->add_flag("--no-follow", arguments->no_follow,
                    "A file ends at its end: check it in bounded memory, however long it is");
  command
      ->add_option("-o,--output", arguments->output,
                   "Where to record what comes from pipes and sockets, so that a violation can be "
                   "explained. Default: cupel-watch-DATE-TIME.jsonl in this folder")
      ->check(not_standard_output("the file to write"))
      ->type_name("FILE");
  command
      ->add_option("--state", arguments->state,
                   "A folder in which the watch leaves what it knows, about once a second. A watch "
                   "that was killed goes on from there when it is started again with it. Needs one "
                   "file as SOURCE")
      ->check(not_standard_output("the folder to write to"))
      ->type_name("DIR");
  command->add_flag("--json", check.json,
                    "Print the state as one JSON object a second, and at a violation the object "
                    "that `cupel check --json` prints");
  command
      ->add_option("--report", check.report,
                   "At a violation, write the page of `cupel check --report` to this folder; with "
                   "--keep-going, to violation-1, violation-2 … in it")
      ->check(not_standard_output("the folder to write to"))
      ->type_name("DIR");
  command
      ->add_option("--certificate", check.certificate,
                   "Write the evidence to this file, window by window, and at the first violation "
                   "its own. `cupel verify` checks it")
      ->check(not_standard_output("the file to write"))
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  cupel watch -l strict-serializable history.jsonl\n"
      "  my-test | cupel watch -l strong-session-snapshot-isolation -o history.jsonl -\n"
      "  cupel watch -l causal --recorders 3 unix:/tmp/cupel.sock\n"
      "  cupel watch -l strict --no-follow month.jsonl");
  command->callback([arguments, &run] {
    check_arguments(*arguments);
    run = [arguments]() -> int { return WatchRun(*arguments).run(); };
  });
}

}  // namespace cupel::apps
