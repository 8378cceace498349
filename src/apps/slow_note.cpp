// SlowNote: see the header.
#include "apps/slow_note.hpp"

#include <system_error>
#include <utility>

#include "apps/command.hpp"

namespace cupel::apps {

SlowNote::SlowNote(std::string text, std::chrono::milliseconds after) {
  try {
    thread_ = std::thread([this, text = std::move(text), after] {
      std::unique_lock lock(mutex_);
      if (!changed_.wait_for(lock, after, [this] { return over_; })) print_note(text);
    });
  } catch (const std::system_error&) {
    // The system has no thread for it. A check does without the note.
  }
}

SlowNote::~SlowNote() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace cupel::apps
