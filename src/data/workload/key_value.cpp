// The shared part of the key-value workloads: preloading, keys and values.
#include "data/workload/key_value.hpp"

namespace cupel::workload {

base::Random session_random(std::uint64_t seed, std::uint32_t session) {
  return base::Random(base::Random(seed).next() + session);
}

Statement read_of(std::int64_t key) {
  return {.kind = StatementKind::kRead, .key = {key}};
}
Statement write_of(std::int64_t key, Datum value) {
  return {.kind = StatementKind::kWrite, .key = {key}, .values = {std::move(value)}};
}

KeyValueWorkload::KeyValueWorkload(const WorkloadOptions& options, ColumnType type)
    : options_(options), schema_(kv_schema(type)), keys_(options.distribution, options.keys) {
  for (std::uint32_t s = 0; s < options.sessions; ++s) {
    randoms_.push_back(session_random(options.seed, s));
  }
}

Datum KeyValueWorkload::initial(std::int64_t) const {
  return std::int64_t{0};
}

void KeyValueWorkload::load(const RowSink& sink) const {
  for (std::int64_t key = 1; key <= static_cast<std::int64_t>(options_.keys); ++key) {
    Datum value = initial(key);
    if (!std::holds_alternative<std::monostate>(value)) sink(0, {{key}, {std::move(value)}});
  }
}

Datum KeyValueWorkload::loaded(std::uint32_t, const std::vector<Datum>& key, std::uint32_t) const {
  const auto* integer = std::get_if<std::int64_t>(&key.front());
  const bool there =
      integer && *integer >= 1 && static_cast<std::uint64_t>(*integer) <= options_.keys;
  return there ? initial(*integer) : Datum();
}

std::optional<Job> KeyValueWorkload::next(std::uint32_t session) {
  return job(session, randoms_[session]);
}

std::int64_t KeyValueWorkload::choose_key(base::Random& random) const {
  return static_cast<std::int64_t>(keys_.choose(random)) + 1;
}

std::uint64_t KeyValueWorkload::choose_count(base::Random& random) const {
  return static_cast<std::uint64_t>(random.between(options_.min_ops, options_.max_ops));
}

Datum KeyValueWorkload::choose_value(base::Random& random) const {
  constexpr std::int64_t kFew = 4;
  if (options_.duplicates > 0 && random.chance(options_.duplicates))
    return -random.between(1, kFew);
  return {};
}

Statement KeyValueWorkload::random_read(base::Random& random) const {
  return read_of(choose_key(random));
}
Statement KeyValueWorkload::random_write(base::Random& random) const {
  const auto key = choose_key(random);
  return write_of(key, choose_value(random));
}

}  // namespace cupel::workload
