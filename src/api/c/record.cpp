// The recorder of cupel.h, over record.hpp.
#include "cupel/record.hpp"

#include <memory>
#include <mutex>
#include <string>

#include "api/c/values.hpp"
#include "cupel/cupel.h"

using cupel::c_api::guarded;
using cupel::c_api::scalar;
using cupel::c_api::set_error;
using cupel::c_api::text_of;

struct cupel_recorder {
  std::unique_ptr<cupel::Recorder> recorder;
  std::mutex mutex = {};
  bool closed = false;
  bool incomplete = false;  // a call of a session recorded nothing
  std::string why = {};     // that of the first
};
struct cupel_session {
  cupel::RecordedSession session;
  cupel_recorder* recorder;
};

namespace {

// One call of a session, which returns nothing: close() reports the first that failed. The history
// lacks what it would have recorded, and a check could accuse the database of it.
template <typename Call>
void record(cupel_session* session, Call&& call) noexcept {
  if (session == nullptr) return set_error("no session was given");
  const auto status = guarded(CUPEL_FAILED, [&] {
    call(session->session);
    return CUPEL_OK;
  });
  if (status == CUPEL_OK) return;
  auto& recorder = *session->recorder;
  const std::lock_guard lock(recorder.mutex);
  if (recorder.incomplete) return;
  recorder.incomplete = true;
  guarded(0, [&] {
    recorder.why = cupel_error();
    return 0;
  });
}

}  // namespace

cupel_recorder* cupel_recorder_open(const char* path, const char* database, const char* isolation) {
  return guarded<cupel_recorder*>(nullptr, [&]() -> cupel_recorder* {
    cupel::RecordOptions options;
    if (database != nullptr) options.metadata.emplace_back("database", database);
    if (isolation != nullptr) options.metadata.emplace_back("isolation", isolation);
    std::string error;
    auto recorder = cupel::Recorder::open(std::string(text_of(path)), options, error);
    if (!recorder) {
      set_error(error);
      return nullptr;
    }
    return new cupel_recorder{.recorder = std::move(recorder)};
  });
}
cupel_status cupel_recorder_close(cupel_recorder* recorder) {
  return guarded(CUPEL_FAILED, [&] {
    std::string error = "no recorder was given";
    if (recorder != nullptr) {
      const std::lock_guard lock(recorder->mutex);
      recorder->closed = true;
    }
    const bool closed = recorder != nullptr && recorder->recorder->close(error);
    if (closed) {
      const std::lock_guard lock(recorder->mutex);
      if (!recorder->incomplete) return CUPEL_OK;
      error = "the history is incomplete: an operation was not recorded: " + recorder->why;
    }
    set_error(error);
    return CUPEL_FAILED;
  });
}
void cupel_recorder_free(cupel_recorder* recorder) {
  delete recorder;
}
int64_t cupel_recorder_unique_id(cupel_recorder* recorder) {
  return recorder == nullptr ? 0 : recorder->recorder->unique_id();
}

cupel_session* cupel_session_new(cupel_recorder* recorder) {
  return guarded<cupel_session*>(nullptr, [&]() -> cupel_session* {
    if (recorder == nullptr) {
      set_error("no recorder was given");
      return nullptr;
    }
    {
      const std::lock_guard lock(recorder->mutex);
      if (recorder->closed) {
        set_error("the recorder is closed");
        return nullptr;
      }
    }
    return new cupel_session{recorder->recorder->session(), recorder};
  });
}
void cupel_session_free(cupel_session* session) {
  delete session;
}
void cupel_session_begin(cupel_session* session) {
  record(session, [](auto& to) { to.begin(); });
}
void cupel_session_read(cupel_session* session, cupel_value key, cupel_value value) {
  record(session, [&](auto& to) { to.read(scalar(key), scalar(value)); });
}
void cupel_session_write(cupel_session* session, cupel_value key, cupel_value value) {
  record(session, [&](auto& to) { to.write(scalar(key), scalar(value)); });
}
void cupel_session_erase(cupel_session* session, cupel_value key) {
  record(session, [&](auto& to) { to.erase(scalar(key)); });
}
void cupel_session_append(cupel_session* session, cupel_value list, cupel_value element) {
  record(session, [&](auto& to) { to.append(scalar(list), scalar(element)); });
}
void cupel_session_read_list(cupel_session* session, cupel_value list, const cupel_value* elements,
                             size_t count) {
  record(session,
         [&](auto& to) { to.read_list(scalar(list), cupel::c_api::scalars(elements, count)); });
}
void cupel_session_committing(cupel_session* session) {
  record(session, [](auto& to) { to.committing(); });
}
void cupel_session_committed(cupel_session* session) {
  record(session, [](auto& to) { to.committed(); });
}
void cupel_session_aborted(cupel_session* session, const char* why) {
  record(session, [&](auto& to) { to.aborted(text_of(why)); });
}
void cupel_session_indeterminate(cupel_session* session, const char* why) {
  record(session, [&](auto& to) { to.indeterminate(text_of(why)); });
}
