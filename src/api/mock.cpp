// Implements include/cupel/mock.hpp and mock_explore.hpp: the mock store, its values
// and levels translated.
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "api/content.hpp"
#include "base/utf8.hpp"
#include "cupel/mock_explore.hpp"
#include "engine/mock/explore.hpp"
#include "engine/mock/store.hpp"

namespace cupel {

namespace {

std::optional<mock::Level> inner(Level level) {
  switch (level) {
    case Level::kReadCommitted:
      return mock::Level::kReadCommitted;
    case Level::kReadAtomic:
      return mock::Level::kReadAtomic;
    case Level::kCausal:
      return mock::Level::kCausal;
    case Level::kPrefix:
      return mock::Level::kPrefix;
    case Level::kSnapshotIsolation:
    case Level::kStrongSessionSnapshotIsolation:
      return mock::Level::kStrongSessionSnapshotIsolation;
    case Level::kSerializable:
    case Level::kStrongSessionSerializable:
      return mock::Level::kStrongSessionSerializable;
    default:
      return std::nullopt;
  }
}

std::string no_such_level(Level level) {
  return "found the level " + std::string(name(level)) +
         ", which the mock store does not have; expected read-committed, read-atomic, causal, "
         "prefix, "
         "strong-session-snapshot-isolation or strong-session-serializable";
}

mock::Value inner(const Scalar& scalar) {
  if (const auto* integer = std::get_if<std::int64_t>(&scalar)) return mock::Value::of(*integer);
  if (const auto* text = std::get_if<std::string>(&scalar)) return mock::Value::of(*text);
  return {};
}

Scalar outer(mock::Value value) {
  switch (value.kind) {
    case mock::Value::Kind::kInteger:
      return value.integer;
    case mock::Value::Kind::kText:
      return std::move(value.text);
    case mock::Value::Kind::kNull:
      break;
  }
  return {};
}

}  // namespace

struct MockTransaction::State {
  std::unique_ptr<mock::Transaction> transaction;  // null: there never was one, `failure` says why
  std::string failure;
};

MockTransaction::MockTransaction(std::unique_ptr<State> state) : state_(std::move(state)) {}
MockTransaction::MockTransaction(MockTransaction&&) noexcept = default;
MockTransaction& MockTransaction::operator=(MockTransaction&&) noexcept = default;
MockTransaction::~MockTransaction() = default;

std::optional<Scalar> MockTransaction::read(std::string_view key) {
  if (!state_->transaction) return std::nullopt;
  auto value = state_->transaction->read(key);
  if (!value) return std::nullopt;
  return outer(*std::move(value));
}
bool MockTransaction::write(std::string_view key, const Scalar& value) {
  return state_->transaction && state_->transaction->write(key, inner(value));
}
bool MockTransaction::commit() {
  return state_->transaction && state_->transaction->commit();
}
void MockTransaction::rollback() {
  if (state_->transaction) state_->transaction->rollback();
}
std::size_t MockTransaction::savepoint() {
  return state_->transaction ? state_->transaction->savepoint() : 0;
}
void MockTransaction::rollback_to(std::size_t savepoint) {
  if (state_->transaction) state_->transaction->rollback_to(savepoint);
}
std::vector<std::string> MockTransaction::keys_with_prefix(std::string_view prefix) {
  return state_->transaction ? state_->transaction->keys_with_prefix(prefix)
                             : std::vector<std::string>();
}
std::string MockTransaction::failure() const {
  if (!state_->transaction) return state_->failure;
  const auto& failure = state_->transaction->failure();
  return failure ? failure->message : std::string();
}

struct MockStore::State {
  explicit State(const mock::Options& options) : store(options) {}
  mock::Store store;
  std::mutex mutex;  // of the sessions
  std::map<std::string, std::uint32_t, std::less<>> sessions;
};

MockStore::MockStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
MockStore::MockStore(MockStore&&) noexcept = default;
MockStore& MockStore::operator=(MockStore&&) noexcept = default;
MockStore::~MockStore() = default;

namespace {

// None, and why, if an option is out of range.
std::optional<mock::Options> inner(const MockOptions& options, std::string& error) {
  const auto level = inner(options.level);
  if (!level) {
    error = no_such_level(options.level);
    return std::nullopt;
  }
  // Negated, so that what is no number is refused too.
  if (!(options.uniform >= 0 && options.latest >= 0 && options.adversarial >= 0) ||
      !(options.uniform + options.latest + options.adversarial > 0)) {
    error = "the weights uniform, latest and adversarial must not be negative, nor all 0";
    return std::nullopt;
  }
  if (!(options.abort_rate >= 0 && options.abort_rate <= 1)) {
    error = "abort_rate must be between 0 and 1";
    return std::nullopt;
  }
  if (!(options.delay_ms >= 0 && options.latency_ms >= 0 && options.patience_s >= 0)) {
    error = "delay_ms, latency_ms and patience_s must not be negative";
    return std::nullopt;
  }
  mock::Options inside;
  inside.level = *level;
  inside.seed = options.seed;
  inside.uniform = options.uniform;
  inside.latest = options.latest;
  inside.adversarial = options.adversarial;
  inside.choose = options.choose;
  inside.abort_rate = options.abort_rate;
  inside.delay_ms = options.delay_ms;
  inside.latency_ms = options.latency_ms;
  inside.patience_s = options.patience_s;
  return inside;
}

}  // namespace

std::optional<MockStore> MockStore::open(const MockOptions& options, std::string& error) {
  const auto inside = inner(options, error);
  if (!inside) return std::nullopt;
  return MockStore(std::make_unique<State>(*inside));
}

MockTransaction MockStore::begin(std::string_view session, std::optional<Level> level) {
  auto state = std::make_unique<MockTransaction::State>();
  // It comes back in the history, whose formats are text.
  if (!base::valid_utf8(session)) {
    state->failure = "found a session's name that is not UTF-8, expected text in UTF-8";
    return MockTransaction(std::move(state));
  }
  mock::Store::BeginOptions options;
  if (level) {
    options.level = inner(*level);
    if (!options.level) {
      state->failure = no_such_level(*level);
      return MockTransaction(std::move(state));
    }
  }
  std::uint32_t id = 0;
  {
    const std::lock_guard lock(state_->mutex);
    auto known = state_->sessions.find(session);
    if (known == state_->sessions.end()) {
      known =
          state_->sessions.emplace(session, state_->store.open_session(std::string(session))).first;
    }
    id = known->second;
  }
  state->transaction = state_->store.begin(id, options);
  if (!state->transaction) state->failure = "the store has been shut down";
  return MockTransaction(std::move(state));
}

bool MockStore::set_initial(std::string_view key, const Scalar& value) {
  return state_->store.set_initial(key, inner(value));
}
void MockStore::interleave(const std::vector<std::function<void()>>& clients) {
  state_->store.interleave(clients);
}
void MockStore::reset(std::uint64_t seed) {
  state_->store.reset(seed);
}
void MockStore::shut_down() {
  state_->store.shut_down();
}

std::optional<History> MockStore::history(std::string& error) const {
  auto history = state_->store.history();
  if (!history) {
    error = history.error().to_string();
    return std::nullopt;
  }
  return History(std::make_shared<const History::Content>(History::Content{*std::move(history)}));
}

// ---- exploring ----

std::optional<MockExplored> explore(const MockOptions& options,
                                    const std::function<MockOutcome(MockStore&)>& program,
                                    const MockExploreLimits& limits, std::string& error) {
  auto inside = inner(options, error);
  if (!inside) return std::nullopt;
  if (inside->abort_rate > 0) {
    error =
        fmt::format("found an abort_rate of {:g}; expected 0, since which commits abort is chance",
                    inside->abort_rate);
    return std::nullopt;
  }
  if (options.choose) {
    error = "found a function choose, which is what exploring is done by; expected none";
    return std::nullopt;
  }
  std::optional<mock::Explorer> explorer(std::in_place);
  mock::Store* running = nullptr;
  bool in_order = false;  // equivalence is not what it is elsewhere where levels are mixed
  inside->choose = [&](std::size_t allowed) { return explorer->choose(allowed); };
  inside->before_turn = [&](const mock::Progress& progress) {
    explorer->reached(in_order ? progress.in_order : progress.history, progress.turns);
  };
  const auto start = std::chrono::steady_clock::now();
  MockExplored explored;
  for (bool more = true; more;) {
    if (explored.runs >= limits.runs) {
      explored.incomplete = fmt::format("the limit of {} runs was reached", limits.runs);
      break;
    }
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >
        limits.time_s) {
      explored.incomplete = fmt::format("the limit of {:g} s was reached", limits.time_s);
      break;
    }
    // A store a run: one that is reset would know the keys of the run before.
    auto state = std::make_unique<MockStore::State>(*inside);
    running = &state->store;
    MockStore store(std::move(state));
    auto outcome = program(store);
    if (running->mixed() && !in_order) {
      in_order = true;
      explorer.emplace();
      explored = MockExplored{.runs = explored.runs + 1};
      continue;
    }
    more = explorer->next(running->digest());
    ++explored.runs;
    if (explorer->repeated()) continue;
    ++explored.histories;
    explored.failures += !outcome.good;
    if (!outcome.good && !explored.first_failure) {
      auto history = store.history(error);
      if (!history) return std::nullopt;
      explored.first_failure =
          MockFailure{explored.runs, explorer->choices(), outcome.state, *std::move(history)};
    }
    if (outcome.state.empty()) outcome.state = running->observed();
    ++explored.states[std::move(outcome.state)];
    if (limits.until_failure && explored.first_failure && more) {
      explored.incomplete = "it stopped at the first failure";
      break;
    }
  }
  if (explorer->diverged() > 0) {
    explored.incomplete += fmt::format(
        "{}{} runs did not repeat what the runs before them did: the program is "
        "not decided by what it reads",
        explored.incomplete.empty() ? "" : ", and ", explorer->diverged());
  }
  return explored;
}

std::function<std::size_t(std::size_t)> prescribed(std::vector<std::size_t> choices) {
  const auto explorer = std::make_shared<mock::Explorer>(choices);
  return [explorer](std::size_t allowed) { return explorer->choose(allowed); };
}

}  // namespace cupel
