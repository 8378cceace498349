// general: transactions of reads and writes in any mixture, after the generators
// of PolySI (section 5.1: a read share) and Cobra (read-only, write-only and
// read-modify-write shares; MTC, section V-A). blindw: eight reads or eight writes
// (VIPER, section 7). long-fork: small updates, and reads of all keys.
#include "data/workload/key_value.hpp"
#include "data/workload/workload_spec.hpp"

namespace cupel::workload {

namespace {

class General final : public KeyValueWorkload {
 public:
  using KeyValueWorkload::KeyValueWorkload;

 private:
  Job job(std::uint32_t, base::Random& random) override {
    const auto& o = options();
    const auto count = choose_count(random);
    const double kind = random.unit();
    if (kind < o.read_only_share) return mixed("read-only", count, 1, random);
    if (kind < o.read_only_share + o.write_only_share) return mixed("write-only", count, 0, random);
    if (kind < o.read_only_share + o.write_only_share + o.rmw_share) {
      return read_modify_write(count, random);
    }
    return mixed("transaction", count, o.read_share, random);
  }

  [[nodiscard]] Job mixed(const char* name, std::uint64_t count, double read_share,
                          base::Random& random) const {
    Job job{.name = name};
    for (std::uint64_t i = 0; i < count; ++i) {
      job.statements.push_back(random.chance(read_share) ? random_read(random)
                                                         : random_write(random));
    }
    return job;
  }

  // Pairs of a read and a write of the same key, one pair at least; an odd
  // statement is a read.
  [[nodiscard]] Job read_modify_write(std::uint64_t count, base::Random& random) const {
    Job job{.name = "read-modify-write"};
    do {
      job.statements.push_back(random_read(random));
      if (job.statements.size() < count || count == 1) {
        const auto key = std::get<std::int64_t>(job.statements.back().key.front());
        job.statements.push_back(write_of(key, choose_value(random)));
      }
    } while (job.statements.size() < count);
    return job;
  }
};

// Small updates, and snapshots of all keys in one statement: two readers whose snapshots do not
// fit together show it in whichever two keys it is, and there are many of them.
class LongFork final : public KeyValueWorkload {
 public:
  using KeyValueWorkload::KeyValueWorkload;
  [[nodiscard]] Needs needs() const override { return {.multiple = true, .ranges = true}; }

 private:
  Job job(std::uint32_t, base::Random& random) override {
    if (random.chance(options().read_only_share)) {
      const auto last = static_cast<std::int64_t>(options().keys);
      return {.name = "read-only",
              .statements = {
                  {.kind = StatementKind::kRange, .key = {std::int64_t{1}}, .high = {last}}}};
    }
    const auto key = choose_key(random);
    return {.name = "read-modify-write",
            .statements = {read_of(key), write_of(key, choose_value(random))}};
  }
};

WorkloadPointer make_blindw(WorkloadOptions options, double read_only_share) {
  options.read_only_share = read_only_share;
  options.write_only_share = 1 - read_only_share;
  options.rmw_share = 0;
  return std::make_unique<General>(options);
}

}  // namespace

extern constinit const WorkloadSpec kGeneralWorkload{
    {.name = "general",
     .summary = "reads and writes of registers, in any mixture",
     .source = "PolySI, section 5.1; Cobra's, as in MTC, section V-A",
     .page = "docs/reference/workloads/general.md",
     .defaults = {.keys = 100}},
    [](const WorkloadOptions& options) -> WorkloadPointer {
      return std::make_unique<General>(options);
    }};

extern constinit const WorkloadSpec kBlindwRmWorkload{
    {.name = "blindw-rm",
     .summary = "eight reads (90 %) or eight blind writes",
     .source = "VIPER, section 7",
     .page = "docs/reference/workloads/general.md",
     .defaults = {.min_ops = 8, .max_ops = 8, .keys = 2000}},
    [](const WorkloadOptions& options) -> WorkloadPointer { return make_blindw(options, 0.9); }};

extern constinit const WorkloadSpec kBlindwRwWorkload{
    {.name = "blindw-rw",
     .summary = "eight reads (50 %) or eight blind writes",
     .source = "VIPER, section 7",
     .page = "docs/reference/workloads/general.md",
     .defaults = {.min_ops = 8, .max_ops = 8, .keys = 2000}},
    [](const WorkloadOptions& options) -> WorkloadPointer { return make_blindw(options, 0.5); }};

extern constinit const WorkloadSpec kLongForkWorkload{
    {.name = "long-fork",
     .summary = "one key read and then written (40 %), or all keys read by one range",
     .source = "Jepsen's test of that name",
     .page = "docs/reference/workloads/general.md",
     .defaults = {.min_ops = 2, .max_ops = 2, .keys = 16, .read_only_share = 0.6}},
    [](const WorkloadOptions& options) -> WorkloadPointer {
      return std::make_unique<LongFork>(options);
    }};

}  // namespace cupel::workload
