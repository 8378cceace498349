// What is behind include/cupel/mock.hpp: the mock store, its values and levels translated.
#include "cupel/mock.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "api/content.hpp"
#include "mock/store.hpp"

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
         ", which the mock store does not have; expected read-committed, read-atomic, causal, prefix, "
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
bool MockTransaction::commit() { return state_->transaction && state_->transaction->commit(); }
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
  return state_->transaction ? state_->transaction->keys_with_prefix(prefix) : std::vector<std::string>();
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

std::optional<MockStore> MockStore::open(const MockOptions& options, std::string& error) {
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
  return MockStore(std::make_unique<State>(inside));
}

MockTransaction MockStore::begin(std::string_view session, std::optional<Level> level) {
  auto state = std::make_unique<MockTransaction::State>();
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
      known = state_->sessions.emplace(session, state_->store.open_session(std::string(session))).first;
    }
    id = known->second;
  }
  state->transaction = state_->store.begin(id, options);
  if (!state->transaction) state->failure = "the store has been shut down";
  return MockTransaction(std::move(state));
}

void MockStore::reset(std::uint64_t seed) { state_->store.reset(seed); }
void MockStore::shut_down() { state_->store.shut_down(); }

std::optional<History> MockStore::history(std::string& error) const {
  auto history = state_->store.history();
  if (!history) {
    error = history.error().to_string();
    return std::nullopt;
  }
  return History(std::make_shared<const History::Content>(History::Content{*std::move(history)}));
}

}  // namespace cupel
