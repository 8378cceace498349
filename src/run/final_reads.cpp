// Final reads: see the header.
#include "run/final_reads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

namespace cupel::run {

namespace {

using Clock = std::chrono::steady_clock;
using workload::Reply;
using workload::Statement;

constexpr std::size_t kMostRows = 10'000;
constexpr std::size_t kRowsOfTransaction = 1'000;
constexpr std::chrono::seconds kQuiet{10};    // hosts that differ, and stay as they are
constexpr std::chrono::seconds kLongest{60};  // that hosts are waited for
constexpr std::chrono::milliseconds kPause{100};
constexpr int kTries = 5;  // of a transaction: it may meet a conflict, or a connection that broke

// One host, its connection and what it holds.
class Reader {
 public:
  Reader(const RunParts& parts, std::optional<std::uint32_t> host, std::string name)
      : parts_(parts), host_(host), name_(std::move(name)) {}

  // What it holds of the rows, as one text; none: it does not answer, see error().
  std::optional<std::string> read(const std::vector<std::vector<Statement>>& transactions) {
    std::string held;
    for (const auto& statements : transactions) {
      std::vector<Reply> replies;
      if (!transact(statements, replies)) return std::nullopt;
      add(replies, held);
    }
    return held;
  }

  bool record(const std::vector<std::vector<Statement>>& transactions, InitialValues& initials) {
    if (!session_) session_.emplace(parts_.recorder.final_reader(name_));
    const auto& schema = parts_.workload.schema();
    for (const auto& statements : transactions) {
      std::vector<Reply> replies;
      session_->begin();
      for (const auto& one : statements)
        run::record(schema, one, nullptr, true, initials, *session_);
      session_->committing();
      if (!transact(statements, replies)) {
        session_->aborted(error_);  // it only read
        return false;
      }
      for (std::size_t i = 0; i < statements.size(); ++i) {
        run::record(schema, statements[i], &replies[i], false, initials, *session_);
      }
      session_->committed();
    }
    return true;
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  bool transact(const std::vector<Statement>& statements, std::vector<Reply>& replies) {
    for (int tries = 1; !try_once(statements, replies); ++tries) {
      if (tries == kTries) return false;
      std::this_thread::sleep_for(kPause / kTries);
    }
    return true;
  }

  bool try_once(const std::vector<Statement>& statements, std::vector<Reply>& replies) {
    replies.clear();
    if (connection_ == nullptr) {
      auto made = host_ ? parts_.database.connect_to_host(*host_) : parts_.database.connect(0);
      if (!made.ok()) {
        error_ = made.error().message;
        return false;
      }
      connection_ = std::move(made).value();
    }
    const auto failure = connection_->transact(statements, replies);
    if (!failure) return true;
    error_ = failure->message;
    if (failure->connection_lost) connection_.reset();
    return false;
  }

  static void add(const std::vector<Reply>& replies, std::string& held) {
    for (const auto& reply : replies) {
      for (const auto& row : reply.rows) {
        for (const auto& value : row.values) held += workload::to_string(value) + ',';
      }
      for (const auto& element : reply.elements) held += workload::to_string(element) + ' ';
      held += ';';
    }
  }

  RunParts parts_;
  std::optional<std::uint32_t> host_;
  std::string name_, error_;
  std::unique_ptr<drivers::Connection> connection_;
  std::optional<RecordedSession> session_;
};

// In the order of the rows, and as many in a transaction as the database can take.
std::vector<std::vector<Statement>> transactions_for(const RowSet& rows,
                                                     const workload::Needs& can) {
  std::vector<RowSet::key_type> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.size() > kMostRows) sorted.resize(kMostRows);
  const std::size_t each = can.interactive || can.multiple ? kRowsOfTransaction : 1;
  std::vector<std::vector<Statement>> transactions;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i % each == 0) transactions.emplace_back();
    transactions.back().push_back({.table = sorted[i].first, .key = sorted[i].second});
  }
  return transactions;
}

// Until all hosts hold the same, or those that differ have not changed for a while.
void wait_for_agreement(std::vector<Reader>& readers,
                        const std::vector<std::vector<Statement>>& transactions,
                        const std::atomic<bool>& stop) {
  const auto latest = Clock::now() + kLongest;
  auto changed = Clock::now();
  std::vector<std::optional<std::string>> before;
  while (!stop && Clock::now() < latest) {
    std::vector<std::optional<std::string>> held;
    for (auto& reader : readers) held.push_back(reader.read(transactions));
    const bool agree = std::all_of(held.begin(), held.end(),
                                   [&](const auto& one) { return one && *one == held.front(); });
    if (agree) return;
    if (held != before) changed = Clock::now();
    if (Clock::now() - changed >= kQuiet) return;
    before = std::move(held);
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

std::vector<std::string> read_finally(const RunParts& parts, InitialValues& initials,
                                      const RowSet& rows, const std::atomic<bool>& stop) {
  std::vector<std::string> warnings;
  if (rows.empty()) return warnings;
  const auto transactions = transactions_for(rows, parts.database.can());
  const auto hosts = parts.database.hosts();
  std::vector<Reader> readers;
  for (std::uint32_t host = 0; host < hosts.size(); ++host) {
    readers.emplace_back(parts, host, hosts[host]);
  }
  if (readers.empty()) readers.emplace_back(parts, std::nullopt, "the database");
  wait_for_agreement(readers, transactions, stop);
  if (stop) return warnings;
  if (rows.size() > kMostRows) {
    warnings.push_back(fmt::format("{} of {} rows that were written were read at the end",
                                   kMostRows, rows.size()));
  }
  for (auto& reader : readers) {
    if (reader.record(transactions, initials)) continue;
    warnings.push_back(
        fmt::format("{} was not read at the end, so that nobody knows what it "
                    "lost: {}",
                    reader.name(), reader.error()));
  }
  return warnings;
}

}  // namespace cupel::run
