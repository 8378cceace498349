// Final reads: see the header.
#include "run/final_reads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <thread>

namespace cupel::run {

namespace {

using Clock = std::chrono::steady_clock;
using workload::Reply;
using workload::Statement;

constexpr std::size_t kRowsOfTransaction = 100;  // etcd takes no more than 128
constexpr std::chrono::milliseconds kPause{100};
constexpr int kTries = 5;  // of a transaction: it may meet a conflict, or a connection that broke

// One host, its connection and what it holds.
class Reader {
 public:
  Reader(const RunParts& parts, std::optional<std::uint32_t> host, std::string name,
         const std::atomic<bool>& stop)
      : parts_(parts), host_(host), name_(std::move(name)), stop_(&stop) {}

  // What it holds of the rows, as one text; none: it does not answer, see error().
  std::optional<std::string> read(const std::vector<std::vector<Statement>>& transactions) {
    std::string held;
    gone_.clear();
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
    gone_.clear();
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
      const auto gone = gone_.find(statements.front().table);
      if (gone != gone_.end()) session_->note("the table is gone: " + gone->second);
      session_->committed();
    }
    return true;
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& error() const { return error_; }
  // It answers, and does not take such transactions.
  [[nodiscard]] bool refuses() const { return refuses_; }
  // The tables that were not there in the last read, with the database's words.
  [[nodiscard]] const std::map<std::uint32_t, std::string>& gone() const { return gone_; }

 private:
  bool transact(const std::vector<Statement>& statements, std::vector<Reply>& replies) {
    for (int tries = 1; *stop_ || !try_once(statements, replies); ++tries) {
      if (tries == kTries || refuses_ || *stop_) return false;
      std::this_thread::sleep_for(kPause / kTries);
    }
    return true;
  }

  bool try_once(const std::vector<Statement>& statements, std::vector<Reply>& replies) {
    replies.clear();
    if (connection_ == nullptr) {
      auto made = host_ ? parts_.database.connect_to_read(*host_) : parts_.database.connect(0);
      if (!made.ok()) {
        error_ = made.error().message;
        return false;
      }
      connection_ = std::move(made).value();
    }
    const auto failure = connection_->transact(statements, replies);
    if (!failure) return true;
    error_ = failure->message;
    if (failure->cause == drivers::Cause::kGone) {
      // The table of these rows is not there, so none of them is.
      gone_.emplace(statements.front().table, failure->message);
      replies.assign(statements.size(), {});
      if (failure->connection_lost) connection_.reset();
      return true;
    }
    refuses_ = failure->cause == drivers::Cause::kStatement;
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
  const std::atomic<bool>* stop_;
  bool refuses_ = false;
  std::map<std::uint32_t, std::string> gone_;
  std::unique_ptr<drivers::Connection> connection_;
  std::optional<RecordedSession> session_;
};

// Those that were written last, of each session about as many. False: not all that were written.
bool choose_rows(const std::vector<const WrittenRows*>& written, std::vector<RowName>& rows) {
  RowSet chosen;
  bool all = true;
  const auto take = [&](const RowSet& some) {
    for (const auto& row : some) {
      if (chosen.size() < kMostFinalRows) {
        chosen.insert(row);
      } else {
        all = all && chosen.contains(row);
      }
    }
  };
  for (const auto* one : written) take(one->newer());
  for (const auto* one : written) take(one->older());
  for (const auto* one : written) all = all && !one->forgotten();
  rows.assign(chosen.begin(), chosen.end());
  std::sort(rows.begin(), rows.end());
  return all;
}

// As many rows in a transaction as the database can take, all of one table: if that is gone, those
// of the others are still read.
std::vector<std::vector<Statement>> transactions_for(const std::vector<RowName>& rows,
                                                     const workload::Needs& can) {
  const std::size_t each = can.interactive || can.multiple ? kRowsOfTransaction : 1;
  std::vector<std::vector<Statement>> transactions;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool other_table = i > 0 && rows[i].first != rows[i - 1].first;
    if (i == 0 || other_table || transactions.back().size() == each) transactions.emplace_back();
    transactions.back().push_back({.table = rows[i].first, .key = rows[i].second});
  }
  return transactions;
}

// Until all hosts hold the same, or those that differ have not changed for a while. A table that is
// gone may come back, as while a server recovers, so it counts as a difference. False: they still
// change.
bool wait_for_agreement(std::vector<Reader>& readers,
                        const std::vector<std::vector<Statement>>& transactions,
                        const FinalReadsOptions& options, const std::atomic<bool>& stop) {
  const auto begin = Clock::now();
  const auto passed = [](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  auto changed = begin;
  std::vector<std::optional<std::string>> before;
  while (!stop) {
    std::vector<std::optional<std::string>> held;
    for (auto& reader : readers) {
      if (!reader.refuses()) held.push_back(reader.read(transactions));
    }
    const bool complete = std::all_of(readers.begin(), readers.end(),
                                      [](const Reader& one) { return one.gone().empty(); });
    const bool agree = std::all_of(held.begin(), held.end(),
                                   [&](const auto& one) { return one && *one == held.front(); });
    if (agree && complete) return true;
    if (held != before) changed = Clock::now();
    if (passed(changed) >= options.quiet) return true;
    if (passed(begin) >= options.longest) return false;
    before = std::move(held);
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

FinalReadsDone failed_because(const std::string& why) {
  return {.warnings = {why}, .failed = why, .gone = {}};
}

// Warnings of tables that are gone, and of hosts that were not read.
FinalReadsDone conclude(const std::vector<Reader>& readers, const workload::Schema& schema,
                        const std::vector<bool>& recorded) {
  FinalReadsDone done;
  for (std::size_t i = 0; i < readers.size(); ++i) {
    const auto& reader = readers[i];
    if (!recorded[i]) {
      done.warnings.push_back(
          fmt::format("{} was not read at the end, so it is unknown what it lost: {}",
                      reader.name(), reader.error()));
      if (done.failed.empty())
        done.failed = fmt::format("{} was not read at the end: {}", reader.name(), reader.error());
      continue;
    }
    for (const auto& [table, words] : reader.gone()) {
      done.warnings.push_back(
          fmt::format("the table {} is gone on {}, so every row that the clients wrote to it is "
                      "read as absent: {}",
                      schema.tables[table].name, reader.name(), words));
      done.gone += (done.gone.empty() ? "" : "; ") + done.warnings.back();
    }
  }
  return done;
}

}  // namespace

FinalReadsDone read_finally(const RunParts& parts, InitialValues& initials,
                            const std::vector<const WrittenRows*>& rows,
                            const FinalReadsOptions& options, const std::atomic<bool>& stop) {
  constexpr const char* kInterrupted = "the run was interrupted, so there are no final reads";
  std::vector<RowName> chosen;
  const bool all = choose_rows(rows, chosen);
  if (chosen.empty()) return {};
  if (stop) return failed_because(kInterrupted);
  const auto transactions = transactions_for(chosen, parts.database.can());
  const auto hosts = parts.database.hosts();
  std::vector<Reader> readers;
  for (std::uint32_t host = 0; host < hosts.size(); ++host) {
    readers.emplace_back(parts, host, hosts[host], stop);
  }
  if (readers.empty()) readers.emplace_back(parts, std::nullopt, "the database", stop);
  if (!wait_for_agreement(readers, transactions, options, stop)) {
    return failed_because(
        fmt::format("the hosts still changed {:.0f} s after the load, so there are no final reads",
                    options.longest));
  }
  if (stop) return failed_because(kInterrupted);
  std::vector<bool> recorded;
  for (auto& reader : readers) recorded.push_back(reader.record(transactions, initials));
  const bool whole = std::find(recorded.begin(), recorded.end(), false) == recorded.end();
  if (stop && !whole) return failed_because(kInterrupted);
  auto done = conclude(readers, parts.workload.schema(), recorded);
  if (!all) {
    done.warnings.insert(
        done.warnings.begin(),
        fmt::format("the final reads are of the {} rows that were written last", chosen.size()));
  }
  return done;
}

}  // namespace cupel::run
