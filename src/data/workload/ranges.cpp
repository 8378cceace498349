// range-b, range-rqh, range-idh: VIPER's V-Range (section 7). A transaction is of
// one kind: reads, writes, inserts, deletes or range queries.
//
// An insert makes the largest key yet, or brings back one of those there have
// been. Which key is the largest must not depend on the other sessions: session s
// of n makes keys + 1 + s, keys + 1 + s + n …, and takes it that the others are as
// far. It is a plain write, since any row may be there already.
//
// With tombstones (VIPER, section 4) a delete writes a value of its own, to be
// found by the range queries after it, and the history has only writes; without
// them rows really go, and the checker must find out which delete a missing row
// shows.
#include <array>

#include "data/workload/key_value.hpp"
#include "data/workload/workload_spec.hpp"

namespace cupel::workload {

namespace {

struct Mix {
  double range, insert, erase, read;  // the rest writes
};

class Ranges final : public KeyValueWorkload {
 public:
  Ranges(const WorkloadOptions& options, const Mix& mix)
      : KeyValueWorkload(options), mix_(mix), made_(options.sessions, 0) {}

  [[nodiscard]] Needs needs() const override {
    return {.multiple = true, .ranges = true, .deletes = !options().tombstones};
  }
  [[nodiscard]] Datum default_initial() const override { return {}; }

 private:
  [[nodiscard]] Datum initial(std::int64_t key) const override {
    return key % 2 == 0 ? Datum(std::int64_t{0}) : Datum();
  }

  Job job(std::uint32_t session, base::Random& random) override {
    Job job;
    double kind = random.unit();
    const auto is = [&](double share, const char* name) {
      if (job.name.empty() && kind < share) job.name = name;
      kind -= share;
      return job.name == name;
    };
    const bool range = is(mix_.range, "range");
    const bool insert = is(mix_.insert, "insert");
    const bool erase = is(mix_.erase, "delete");
    const bool read = is(mix_.read, "read");
    if (job.name.empty()) job.name = "write";
    for (auto count = choose_count(random); count > 0; --count) {
      job.statements.push_back(range    ? range_query(session, random)
                               : insert ? make(session, random)
                               : erase  ? remove(session, random)
                               : read   ? read_of(any_key(session, random))
                                        : write_of(any_key(session, random), choose_value(random)));
    }
    return job;
  }

  // The largest key that there may be by now, as this session sees it.
  [[nodiscard]] std::int64_t largest(std::uint32_t session) const {
    return static_cast<std::int64_t>(options().keys) + made_[session] * options().sessions;
  }
  // By the distribution among the first keys, or any of the later ones, each in
  // proportion to their number.
  [[nodiscard]] std::int64_t any_key(std::uint32_t session, base::Random& random) const {
    const auto first = static_cast<std::int64_t>(options().keys);
    const auto key = random.between(1, largest(session));
    return key <= first ? choose_key(random) : key;
  }

  Statement range_query(std::uint32_t session, base::Random& random) const {
    auto low = random.between(1, largest(session));
    auto high = random.between(1, largest(session));
    if (low > high) std::swap(low, high);
    return {.kind = StatementKind::kRange, .key = {low}, .high = {high}};
  }

  Statement make(std::uint32_t session, base::Random& random) {
    if (random.chance(0.5)) return write_of(any_key(session, random), choose_value(random));
    const auto key = largest(session) + 1 + session;
    ++made_[session];
    return write_of(key, choose_value(random));
  }

  Statement remove(std::uint32_t session, base::Random& random) const {
    const auto key = any_key(session, random);
    if (options().tombstones) return write_of(key, {});
    return {.kind = StatementKind::kDelete, .key = {key}};
  }

  Mix mix_;
  std::vector<std::int64_t> made_;  // by session: keys made
};

}  // namespace

extern constinit const WorkloadSpec kRangeBWorkload{
    {.name = "range-b",
     .summary = "reads, writes, inserts, deletes and range queries, 20 % each",
     .source = "VIPER, section 7",
     .page = "docs/reference/workloads/ranges.md",
     .defaults = {.min_ops = 8, .max_ops = 8, .keys = 100}},
    [](const WorkloadOptions& options) -> WorkloadPointer {
      return std::make_unique<Ranges>(options, Mix{0.2, 0.2, 0.2, 0.2});
    }};

extern constinit const WorkloadSpec kRangeRqhWorkload{
    {.name = "range-rqh",
     .summary = "50 % range queries, 12.5 % each of the others",
     .source = "VIPER, section 7",
     .page = "docs/reference/workloads/ranges.md",
     .defaults = {.min_ops = 8, .max_ops = 8, .keys = 100}},
    [](const WorkloadOptions& options) -> WorkloadPointer {
      return std::make_unique<Ranges>(options, Mix{0.5, 0.125, 0.125, 0.125});
    }};

extern constinit const WorkloadSpec kRangeIdhWorkload{
    {.name = "range-idh",
     .summary = "35 % inserts, 35 % deletes, 10 % each of the others",
     .source = "VIPER, section 7",
     .page = "docs/reference/workloads/ranges.md",
     .defaults = {.min_ops = 8, .max_ops = 8, .keys = 100}},
    [](const WorkloadOptions& options) -> WorkloadPointer {
      return std::make_unique<Ranges>(options, Mix{0.1, 0.35, 0.35, 0.1});
    }};

}  // namespace cupel::workload
