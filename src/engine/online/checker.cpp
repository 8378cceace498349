// Checker: see the header.
#include "engine/online/checker.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "engine/online/inbox.hpp"

namespace cupel::online {

namespace {

// Where only the record can say, it is asked again when it has grown by this factor.
constexpr double kAskAgain = 1.5;
constexpr int kMostRestarts = 20;
constexpr const char* kNotAgain =
    "the memory limit was met while the recorded history was read again";

}  // namespace

Checker::Checker(const WatchOptions& options, std::string name, std::string record, Ask ask)
    : options_(options), name_(std::move(name)), record_(std::move(record)), ask_(std::move(ask)) {
  make_watch();
}

void Checker::make_watch() {
  auto options = options_;
  if (slides_) options.slide = kSlide;
  watch_ = std::make_unique<Watch>(options);
  auto& stream = watch_->add(name_);
  for (std::uint32_t i = 0; i < masked_.size(); ++i) stream.mask(masked_.at(i));
}

base::Status Checker::take(std::string_view lines) {
  taken_ += lines.size();
  if (only_record_) return base::Ok{};
  return watch_->stream(0).take(lines);
}

Checker::State Checker::unknown(std::string why) {
  why_ = std::move(why);
  return State::kUnknown;
}

base::Result<Checker::State> Checker::look_if_due(bool idle) {
  const bool grown = static_cast<double>(taken_) >= kAskAgain * static_cast<double>(asked_at_);
  if (only_record_) return grown ? ask_instead(/*going_on=*/true) : State::kSatisfied;
  // What is wrong over more than the window.
  if (slides_ && grown && windows_given_up_ == 0) {
    auto answer = ask({.going_on = true});
    if (!answer.ok() || *answer == State::kViolated) return answer;
  }
  return watch_->due(idle) ? look() : base::Result<State>(State::kSatisfied);
}

base::Result<Checker::State> Checker::finish(bool over) {
  if (only_record_) {
    const bool known = satisfied_at_ >= taken_ && (!over || nothing_more_comes_);
    return known ? State::kSatisfied : ask_instead(/*going_on=*/!over);
  }
  auto state = look(over);
  // What was built again from the record has not been looked at.
  if (chain_ != nullptr && !slides_ && state.ok() && *state == State::kSatisfied &&
      looked_at_ != taken_) {
    state = look(over);
  }
  if (only_record_) return state;
  if (chain_ != nullptr && !slides_ && state.ok() && *state == State::kSatisfied) {
    state = end_chain(over);
  }
  const bool known = satisfied_at_ >= taken_ && !(over && watch_->window().waits());
  if (!slides_ || !state.ok() || *state != State::kSatisfied || known) return state;
  state = ask({.going_on = !over});
  if (!state.ok() || *state != State::kUnknown) return state;
  if (windows_given_up_ > 0) {
    return unknown(fmt::format(
        "{} transactions in {} could not be decided within {} s a window, nor could the recorded "
        "history as a whole; no violation was found in the rest",
        transactions_given_up_,
        windows_given_up_ == 1 ? "1 window" : fmt::format("{} windows", windows_given_up_),
        *options_.window_seconds));
  }
  return unknown(
      fmt::format("satisfied within any {} transactions in a row; the recorded history could not "
                  "be checked as a whole within the limits",
                  kSlideInWords));
}

// A verifier takes what is going on for what was tried.
base::Result<Checker::State> Checker::end_chain(bool over) {
  auto ended = base::Status(base::Ok{});
  if (!over && watch_->window().waits() && watch_->look(/*ended=*/true) != Finding::kSatisfied) {
    ended = chain_->end_unknown(
        "a transaction is still going on, and it is satisfied only if a compare-and-set of it "
        "fails");
  } else {
    ended = chain_->end(watch_->window());
  }
  if (!ended.ok()) return std::move(ended).error();
  return State::kSatisfied;
}

// The record may be ahead of what was taken: a file that is already whole.
base::Result<Checker::State> Checker::ask(Question question) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(record_, unknown);
  asked_at_ = unknown ? taken_ : std::max<std::uint64_t>(taken_, size);
  // Where the watch goes on without an answer, a hard history keeps it no longer than a hard
  // window.
  if (windows_given_up_ > 0 || watch_->watched() != options_.level)
    question.seconds = options_.window_seconds;
  auto answer = ask_(question);
  if (answer.ok() && *answer == State::kSatisfied) {
    satisfied_at_ = asked_at_;
    if (!only_record_) decided_ = watch_->window().held().transactions;
  }
  return answer;
}

base::Result<Checker::State> Checker::look(bool ended) {
  if (std::exchange(full_, false)) return begin_to_ask(kNotAgain);
  const auto finding = watch_->look(ended);
  looked_at_ = taken_;
  most_held_ = std::max(most_held_, watch_->window().held().held);
  switch (finding) {
    case Finding::kSatisfied:
      if (!slides_) decided_ = watch_->window().held().transactions;
      if (chain_ == nullptr || slides_) break;
      if (auto added = chain_->add(watch_->window()); !added.ok()) return std::move(added).error();
      break;
    case Finding::kUnknown:
      if (!slides_) decided_ = std::max(decided_, watch_->decided());
      return begin_to_ask(watch_->why());
    case Finding::kGivenUp:
      note_given_up();
      break;
    case Finding::kRefused:
      return base::Error{.message = watch_->why(), .file = name_};
    case Finding::kViolated:
    case Finding::kAsk:
      return ask_record({.certain = finding == Finding::kViolated,
                         .certain_if_unique = watch_->violated_alone(),
                         .going_on = !ended});
  }
  return State::kSatisfied;
}

base::Result<Checker::State> Checker::ask_record(Question question) {
  auto answer = ask(question);
  if (!answer.ok()) return answer;
  if (*answer == State::kUnknown) {
    if (question.certain) {
      from_window_ = true;
      return State::kViolated;
    }
    if (watch_->watched() != options_.level) return begin_to_slide();
    if (windows_given_up_ > 0) {
      notes_.push_back(
          fmt::format("the last transactions violate {}, unless {}, and the recorded history could "
                      "not be decided: they count as unknown",
                      levels::name(options_.level), watch_->why()));
      watch_->forget_reads();
      return State::kSatisfied;
    }
    return begin_to_ask(
        fmt::format("{}, and the recorded history does not fit as a whole", watch_->why()));
  }
  return *answer == State::kViolated ? State::kViolated : go_on();
}

// The history as a whole is satisfied.
base::Result<Checker::State> Checker::go_on() {
  if (slides_) {
    watch_->forget_reads();
    return State::kSatisfied;
  }
  if (watch_->watched() != options_.level) return begin_to_slide();
  notes_.push_back(
      fmt::format("the recorded history was asked, and is satisfied so far ({})", watch_->why()));
  if (++restarts_ > kMostRestarts) {
    return unknown(fmt::format("the recorded history had to be asked {} times", restarts_));
  }
  start_again();
  if (chain_ != nullptr) {
    if (auto begun = chain_->begin_again(); !begun.ok()) return std::move(begun).error();
  }
  if (auto fed = feed_again(); !fed.ok()) return std::move(fed).error();
  return State::kSatisfied;  // the next look begins with nothing forgotten
}

void Checker::note_given_up() {
  const auto& window = *watch_->given_up();
  slides_ = true;
  if (window.last < window.first && windows_given_up_ > 0) return;  // nothing had come since
  ++windows_given_up_;
  transactions_given_up_ += window.last + 1 - window.first;
  notes_.push_back(
      fmt::format("transactions {} to {} could not be decided within {} s and count as unknown: "
                  "from here on any "
                  "{} transactions in a row are watched at {}",
                  window.first, window.last, *options_.window_seconds, kSlideInWords,
                  levels::name(options_.level)));
}

// The level that was watched is violated; the one that is asked is not, or nobody could tell.
base::Result<Checker::State> Checker::begin_to_slide() {
  notes_.push_back(fmt::format(
      "{} is violated, {}: from here on any {} transactions in a row are watched at {}; the "
      "recorded history is asked when it has grown by half, and at the end",
      levels::name(watch_->watched()),
      satisfied_at_ >= taken_
          ? fmt::format("{} is not", levels::name(options_.level))
          : std::string("and the recorded history could not be checked within the limits"),
      kSlideInWords, levels::name(options_.level)));
  slides_ = true;
  start_again();
  if (auto fed = feed_again(); !fed.ok()) return std::move(fed).error();
  if (std::exchange(full_, false)) return begin_to_ask(kNotAgain);
  if (!fed_finding_) return State::kSatisfied;
  looked_at_ = taken_;
  const auto finding = *std::exchange(fed_finding_, std::nullopt);
  if (finding == Finding::kUnknown) return begin_to_ask(kNotAgain);
  return ask_record({.certain = finding == Finding::kViolated, .going_on = true});
}

// The window did not fit into memory, or the record as a whole, which it asked.
base::Result<Checker::State> Checker::begin_to_ask(std::string why) {
  limit_ = std::move(why);
  taken_before_ = watch_->window().held().transactions;
  only_record_ = true;
  slides_ = false;
  if (chain_ != nullptr) {
    if (auto ended = chain_->end_unknown(limit_); !ended.ok()) return std::move(ended).error();
  }
  start_again();
  ::malloc_trim(0);  // the limit is of what is resident
  notes_.push_back(
      fmt::format("{}: from here on the recorded history is checked: now, when it has grown by "
                  "half, and at the end",
                  limit_));
  return ask_instead(/*going_on=*/true);
}

base::Result<Checker::State> Checker::ask_instead(bool going_on) {
  auto answer = ask({.going_on = going_on && !nothing_more_comes_, .in_windows = true});
  if (!answer.ok() || *answer == State::kViolated) return answer;
  if (*answer == State::kSatisfied) {
    record_satisfied_ = true;
    return answer;
  }
  return unknown(fmt::format(
      "{}, and the recorded history could not be decided within the limits; {}", limit_,
      record_satisfied_ ? fmt::format("nothing is known after its first {} bytes", satisfied_at_)
                        : unknown_after(decided_)));
}

bool Checker::is_full() const {
  const auto limit = options_.memory_limit_bytes;
  if (limit == 0 || base::resident_bytes() <= limit) return false;
  ::malloc_trim(0);  // freed pieces count as well
  return base::resident_bytes() > limit;
}

void Checker::start_again() {
  make_watch();
  looked_at_ = 0;
}

base::Status Checker::feed_again() {
  Inbox again(/*follow=*/false);
  if (auto opened = again.add(record_); !opened.ok()) return opened;
  std::uint64_t left = taken_;
  while (left > 0 && !again.ended()) {
    const auto read =
        again.poll(std::chrono::milliseconds(0), [&](std::size_t, std::string_view lines) {
          lines = lines.substr(0, left);
          left -= lines.size();
          return watch_->stream(0).take(lines);
        });
    if (!read.ok()) return read.error();
    if (is_full()) {
      full_ = true;
      break;
    }
    if (!slides_ || !watch_->due(/*idle=*/false)) continue;
    const auto finding = watch_->look();
    if (finding == Finding::kGivenUp) note_given_up();
    if (finding == Finding::kSatisfied || finding == Finding::kGivenUp) continue;
    if (satisfied_at_ >= taken_) {
      watch_->forget_reads();  // it is none of the whole
    } else {
      fed_finding_ = finding;
      break;
    }
  }
  return base::Ok{};
}

base::Status Checker::go_on_without(const std::vector<history::ScalarView>& keys) {
  ++passed_over_;
  for (const auto& key : keys) masked_.find_or_add(key);
  slides_ = from_window_ = only_record_ = false;
  satisfied_at_ = decided_ = 0;
  restarts_ = 0;
  start_again();
  return feed_again();
}

void Checker::save(StateWriter& out) const {
  out.text(levels::name(options_.level));
  out.integer(options_.drift);
  out.number(options_.sessions);
  out.number(taken_);
  out.number(asked_at_);
  out.flag(slides_);
  out.number(static_cast<std::uint64_t>(restarts_));
  out.number(most_held_);
  out.number(passed_over_);
  out.number(windows_given_up_);
  out.number(transactions_given_up_);
  out.number(masked_.size());
  for (std::uint32_t i = 0; i < masked_.size(); ++i) out.scalar(masked_.at(i));
  out.flag(options_.evidence);
  out.number(chain_ != nullptr ? chain_->windows() : 0);
  out.number(chain_ != nullptr ? chain_->bytes() : 0);
  out.flag(chain_ != nullptr && chain_->ended());
  watch_->save(out);
}

base::Status Checker::load(StateReader& in) {
  const auto wrong = [&](std::string what) {
    return base::Error{.message = std::move(what), .file = name_};
  };
  const std::string level(in.text());
  const auto drift = in.integer();
  const auto sessions = in.number();
  if (!in.good()) return wrong("found no state of a watch, or a damaged one");
  if (level != levels::name(options_.level) || drift != options_.drift ||
      sessions != options_.sessions) {
    return wrong(fmt::format(
        "found the state of a watch of {} with a clock drift of {} ns and {} sessions, "
        "expected {}, {} ns and {}",
        level, drift, sessions, levels::name(options_.level), options_.drift, options_.sessions));
  }
  taken_ = looked_at_ = in.number();
  asked_at_ = in.number();
  slides_ = in.flag();
  restarts_ = static_cast<int>(in.below(kMostRestarts + 1));
  most_held_ = static_cast<std::size_t>(in.number());
  passed_over_ = static_cast<std::size_t>(in.number());
  windows_given_up_ = in.number();
  transactions_given_up_ = in.number();
  const auto masked = in.count();
  for (std::size_t i = 0; i < masked && in.good(); ++i) masked_.find_or_add(in.scalar());
  make_watch();
  const bool had_chain = in.flag();
  chain_windows_ = in.number();
  chain_bytes_ = in.number();
  chain_ended_ = in.flag();
  if (in.good() && had_chain != options_.evidence) {
    return wrong(had_chain ? "found the state of a watch with --certificate, expected it here too"
                           : "found the state of a watch without --certificate, which cannot begin "
                             "in the middle");
  }
  watch_->load(in);
  if (!in.at_end()) return wrong("found the state of another version of cupel, or a damaged one");
  return base::Ok{};
}

}  // namespace cupel::online
