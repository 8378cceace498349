// append: reads of lists and appends to them, as Elle's list-append (Kingsbury and
// Alvaro, PVLDB 14(3), 2020).
//
// A list read again and again as it grows would cost the square of its length, so
// keys are retired: `keys` of them are in use at a time, and the window moves on
// with each session's own committed transactions, at the pace at which all sessions
// together fill a list with about kAppendsPerKey elements. Not with its aborted ones:
// where new rows are what transactions abort for, as under InnoDB's gap locks, a window
// that ran ahead of what is filled would ask for nothing else, and nearly all abort.
#include "data/workload/key_value.hpp"
#include "data/workload/workload_spec.hpp"

namespace cupel::workload {

namespace {

constexpr double kAppendsPerKey = 100;

class Append final : public KeyValueWorkload {
 public:
  explicit Append(const WorkloadOptions& options)
      : KeyValueWorkload(options, ColumnType::kList), committed_(options.sessions, 0) {
    const double appends = (options.min_ops + options.max_ops) / 2.0 * (1 - options.read_share);
    keys_per_transaction_ = appends * options.sessions / kAppendsPerKey;
  }

  [[nodiscard]] Needs needs() const override { return {.multiple = true, .lists = true}; }
  [[nodiscard]] Datum default_initial() const override { return {}; }

 private:
  [[nodiscard]] Datum initial(std::int64_t) const override { return {}; }

  Job job(std::uint32_t session, base::Random& random) override {
    Job job{.name = "transaction"};
    auto& committed = committed_[session];
    job.committed = [&committed] { ++committed; };
    const auto retired =
        static_cast<std::int64_t>(static_cast<double>(committed) * keys_per_transaction_);
    for (auto count = choose_count(random); count > 0; --count) {
      const auto key = retired + choose_key(random);
      if (random.chance(options().read_share)) {
        job.statements.push_back(read_of(key));
      } else {
        job.statements.push_back(
            {.kind = StatementKind::kAppend, .key = {key}, .values = {choose_value(random)}});
      }
    }
    return job;
  }

  double keys_per_transaction_;           // that a transaction of each session retires
  std::vector<std::uint64_t> committed_;  // by session: transactions
};

}  // namespace

extern constinit const WorkloadSpec kAppendWorkload{
    {.name = "append",
     .summary = "appends to lists and reads of them",
     .source = "Elle, section 3",
     .page = "docs/reference/workloads/append.md",
     .defaults = {.min_ops = 1, .max_ops = 4, .keys = 10}},
    [](const WorkloadOptions& options) -> WorkloadPointer {
      return std::make_unique<Append>(options);
    }};

}  // namespace cupel::workload
