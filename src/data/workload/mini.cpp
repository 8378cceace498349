// mini and lwt: the workloads of MTC.
//
// A mini-transaction has one or two reads and at most two writes, each write after
// a read of its key (definition in section III). A lightweight transaction is one
// operation on one object: insert if absent, or compare-and-set from the value
// that the session saw last (section IV-E); reads, so that it sees some.

#include "base/hash_table.hpp"
#include "data/workload/key_value.hpp"
#include "data/workload/workload_spec.hpp"

namespace cupel::workload {

namespace {

class Mini final : public KeyValueWorkload {
 public:
  using KeyValueWorkload::KeyValueWorkload;

 private:
  Job job(std::uint32_t, base::Random& random) override {
    Job job{.name = "transaction"};
    const auto first = choose_key(random);
    const bool two = options().keys > 1 && random.chance(0.5);
    auto second = first;
    while (two && second == first) second = choose_key(random);
    const bool write_first = writes(random);
    const bool write_second = two && writes(random);
    const bool at_once = random.chance(0.5);  // r w r w, or r r w w
    const auto write = [&](std::int64_t key) {
      job.statements.push_back(write_of(key, choose_value(random)));
    };
    job.statements.push_back(read_of(first));
    if (write_first && at_once) write(first);
    if (two) job.statements.push_back(read_of(second));
    if (write_first && !at_once) write(first);
    if (write_second) write(second);
    return job;
  }

  [[nodiscard]] bool writes(base::Random& random) const {
    return !random.chance(options().read_share);
  }
};

class Lightweight final : public KeyValueWorkload {
 public:
  explicit Lightweight(const WorkloadOptions& options)
      : KeyValueWorkload(options), seen_(options.sessions) {}

  [[nodiscard]] Needs needs() const override { return {.compare_and_set = true}; }
  [[nodiscard]] Datum default_initial() const override { return {}; }

 private:
  // What a session knows of a key. At first it takes a key to be absent; a
  // compare-and-set that failed shows that it must look again.
  struct LastSeen {
    bool stale = false;
    Datum value;
  };

  [[nodiscard]] Datum initial(std::int64_t) const override { return {}; }

  Job job(std::uint32_t session, base::Random& random) override {
    const auto key = choose_key(random);
    const bool read = random.chance(options().read_share);
    const Datum desired = choose_value(random);
    auto& known = seen_[session][key];
    if (read || known.stale) {
      return {
          .name = "read",
          .statements = {read_of(key)},
          .seen = [this, session, key](std::span<const Statement>, std::span<const Reply> replies) {
            const auto& rows = replies[0].rows;
            const bool there = !rows.empty() && !rows[0].values.empty();
            seen_[session][key] = {false, there ? rows[0].values[0] : Datum()};
          }};
    }
    const bool absent = std::holds_alternative<std::monostate>(known.value);
    return {.name = absent ? "insert-if-absent" : "compare-and-set",
            .statements = {{.kind = StatementKind::kCompareAndSet,
                            .key = {key},
                            .values = {known.value, desired}}},
            .seen = [this, session, key](std::span<const Statement> issued,
                                         std::span<const Reply> replies) {
              seen_[session][key] = {!replies[0].succeeded, issued[0].values[1]};
            }};
  }

  std::vector<base::HashMap<std::int64_t, LastSeen>> seen_;  // by session
};

}  // namespace

extern constinit const WorkloadSpec kMiniWorkload{
    {.name = "mini",
     .summary = "mini-transactions: one or two reads, each write after a read of its key",
     .source = "MTC, sections III and V-A",
     .page = "docs/reference/workloads/mini.md",
     .defaults = {.keys = 100}},
    [](const WorkloadOptions& options) -> WorkloadPointer {
      return std::make_unique<Mini>(options);
    }};

extern constinit const WorkloadSpec kLwtWorkload{
    {.name = "lwt",
     .summary = "insert-if-absent, compare-and-set and reads of single objects",
     .source = "MTC, section IV-E",
     .page = "docs/reference/workloads/mini.md",
     .defaults = {.keys = 100}},
    [](const WorkloadOptions& options) -> WorkloadPointer {
      return std::make_unique<Lightweight>(options);
    }};

}  // namespace cupel::workload
