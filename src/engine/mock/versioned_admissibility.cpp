// The levels of products, and strict serializability: versions in the order of the commits.
//
// What a product returns is not chosen at random: a read returns the version of its snapshot, and
// only who commits when is left to chance. So the commit order is the version order here, and a
// level is a rule for the snapshot and a rule for who is refused (docs/reference/mock-levels.md has
// the sentences of the manuals):
//
//                     snapshot                     refused
//   read committed    at each statement            nobody
//   repeatable read   at the first statement       PostgreSQL, MariaDB with
//                     (InnoDB: the first read)     innodb_snapshot_isolation: whoever writes or
//                                                  locks what changed since its snapshot
//   serializable      PostgreSQL: as above         whoever closes a cycle of dependencies
//                     InnoDB: none, reads lock
//   strict serializable  at the first operation    as PostgreSQL's serializable, with an arc from
//                                                  each transaction to all that began after its end
//   Galera            of a node that lags behind   whoever wrote a row that another node's
//                                                  transaction changed (first committer wins)
//
// The dependencies are held as a topological order of the committed serializable transactions
// (graph::OnlineOrder); real time is a chain of nodes, one a commit. Cost of a read: log of the
// key's versions; of a commit: its reads and writes, and the searches of arcs against the order.
#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/graph/online_order.hpp"
#include "base/hash_table.hpp"
#include "base/random.hpp"
#include "engine/mock/admissibility.hpp"

namespace cupel::mock {

namespace {

using Sequence = std::uint32_t;  // how many had committed

class VersionedAdmissibility final : public AdmissibilityChecker {
 public:
  VersionedAdmissibility(Product product, const TransactionLog& log, std::uint64_t seed)
      : product_(product), log_(log), random_(seed) {}

  void begin(Txn t, Session session, Level level) override {
    auto& open = open_[t];
    open = {};
    open.session = session;
    open.rules = rules_of(level);
    open.began = last_end_;
    txn_ = t;
    now_ = &open;
    if (open.rules.nodes) catch_up();
  }

  void select(Txn open) override {
    const auto found = open_.find(open);
    assert(found != open_.end());
    txn_ = open;
    now_ = &found->second;
  }

  // The snapshot stays.
  void begin_again(Txn /*t*/, Session /*session*/, Level /*level*/) override {
    now_->reads.clear();
    now_->writes.clear();
    now_->own_rows.clear();
  }

  // The number is of its snapshot, from 1; 0: that is still to be taken.
  std::uint32_t begin_statement(std::uint32_t commits) override {
    const bool first = !now_->statements;
    now_->statements = true;
    now_->commits = commits;
    next_statement();
    if (now_->rules.at_first_statement) take_snapshot();
    // It began when it could see no more than that.
    if (first && now_->rules.real_time && commits < ends_.size()) now_->began = ends_[commits];
    return now_->snapshot ? *now_->snapshot + 1 : 0;
  }

  void continue_statement(std::uint32_t number) override {
    if (now_->rules.each_statement && number > 0) now_->snapshot = number - 1;
  }

  std::optional<Txn> only_candidate(Key key) override {
    std::vector<Txn> found;
    candidates(key, found);
    return found.front();
  }

  void candidates(Key key, std::vector<Txn>& found) override {
    if (!now_->statements) next_statement();
    found.assign(1, now_->rules.current || own_row(key) ? latest(key) : at(key, snapshot()));
  }

  Txn latest(Key key) override { return at(key, now_->rules.nodes ? node() : commits_); }

  bool try_read(Key key, Txn writer) override {
    now_->reads.emplace_back(key, writer);
    undo_read_ = true;
    return true;
  }

  void undo_last() override {
    if (undo_read_) now_->reads.pop_back();
  }

  bool try_write(Key key) override {
    undo_read_ = false;
    if (!now_->statements) next_statement();
    if (!unchanged(versions(key).empty() ? 0 : versions(key).back().first)) return false;
    if (!now_->writes.emplace(key, seen()).second) return true;
    const auto& name = log_.name(key);
    const auto row = name.substr(0, name.rfind('/'));
    if (now_->locked.contains(row)) now_->own_rows.insert(row);
    return true;
  }

  bool try_lock(Key key) override {
    undo_read_ = false;
    if (!now_->statements) next_statement();
    const auto found = changed_.find(key);
    if (!unchanged(found == changed_.end() ? 0 : found->second)) return false;
    now_->locked.emplace(log_.name(key), std::pair(key, seen()));
    return true;
  }

  void saw_absent(Key key, Txn reader) override {
    if (nodes_.contains(reader)) readers_[{key, kInitial}].push_back(reader);
  }

  bool commit() override {
    if (now_->rules.nodes && !certified()) return false;
    if (now_->rules.acyclic && !add_dependencies()) return false;
    return finish();
  }

  void abort() override {
    open_.erase(txn_);
    now_ = nullptr;
  }

  [[nodiscard]] std::vector<Txn> order() const override { return order_; }

 private:
  struct Rules {
    bool each_statement = false;      // a snapshot for each
    bool at_first_statement = false;  // not at the first read
    bool current = false;             // no snapshot: reads lock
    bool first_updater_wins = false;
    bool acyclic = false;
    bool real_time = false;
    bool nodes = false;
  };
  struct Open {
    Session session = 0;
    Rules rules = {};
    bool statements = false;         // it says where they begin
    Sequence commits = kAllCommits;  // that the last one may see
    std::optional<Sequence> snapshot = {};
    std::optional<graph::Node> began = {};  // whoever ended before that is before it
    std::vector<std::pair<Key, Txn>> reads = {};
    std::map<Key, Sequence> writes = {};  // and what had been seen then
    std::map<std::string, std::pair<Key, Sequence>, std::less<>> locked = {};
    std::set<std::string, std::less<>> own_rows = {};  // it holds and wrote
  };
  using Version = std::pair<Sequence, Txn>;

  [[nodiscard]] Rules rules_of(Level level) const {
    const bool committed = is_weak(level);
    const bool serializable = level >= Level::kStrongSessionSerializable;
    switch (product_) {
      case Product::kMysql:
        return {.each_statement = committed, .current = serializable, .acyclic = serializable};
      case Product::kMariadbSnapshot:
        return {.each_statement = committed,
                .current = serializable,
                .first_updater_wins = !committed && !serializable,
                .acyclic = serializable};
      case Product::kGalera:
        return {.each_statement = committed, .nodes = true};
      case Product::kNone:
      case Product::kPostgres:
        break;
    }
    return {.each_statement = committed,
            .at_first_statement = true,
            .first_updater_wins = !committed,
            .acyclic = serializable,
            .real_time = level == Level::kStrictSerializable};
  }

  std::vector<Version>& versions(Key key) {
    if (key >= versions_.size()) versions_.resize(key + 1);
    return versions_[key];
  }
  Txn at(Key key, Sequence until) {
    const auto& all = versions(key);
    const auto after = std::partition_point(
        all.begin(), all.end(), [&](const Version& version) { return version.first <= until; });
    return after == all.begin() ? kInitial : std::prev(after)->second;
  }
  // Whoever replaced this version first.
  std::optional<Txn> replaced(Key key, Txn writer) {
    const auto& all = versions(key);
    auto place = all.begin();
    if (writer != kInitial) {
      place = std::find_if(all.begin(), all.end(),
                           [&](const Version& version) { return version.second == writer; });
      ++place;
    }
    return place == all.end() ? std::nullopt : std::optional(place->second);
  }

  void next_statement() {
    if (now_->rules.nodes) catch_up();
    if (now_->rules.each_statement) now_->snapshot.reset();
  }
  void take_snapshot() {
    if (!now_->snapshot) now_->snapshot = std::min(seen(), now_->commits);
  }
  Sequence snapshot() {
    take_snapshot();
    return *now_->snapshot;
  }
  // What is there to be seen now.
  Sequence seen() { return now_->rules.nodes ? node() : commits_; }
  Sequence& node() { return applied_[now_->session % applied_.size()]; }
  void catch_up() { node() += static_cast<Sequence>(random_.below(commits_ - node() + 1)); }

  bool own_row(Key key) const {
    if (now_->own_rows.empty()) return false;
    const std::string_view name = log_.name(key);
    return now_->own_rows.contains(name.substr(0, name.rfind('/'))) ||
           now_->own_rows.contains(name);
  }

  // The level lets it write what was changed then.
  bool unchanged(Sequence changed) {
    if (!now_->rules.first_updater_wins) return true;
    if (now_->rules.at_first_statement) take_snapshot();
    return !now_->snapshot || changed <= *now_->snapshot;
  }

  bool certified() {
    const auto changed = [&](Key key) {
      const auto found = changed_.find(key);
      return found == changed_.end() ? 0 : found->second;
    };
    return std::all_of(now_->writes.begin(), now_->writes.end(),
                       [&](const auto& write) {
                         const auto row = row_of(write.first);
                         return changed(write.first) <= write.second &&
                                (row == now_->locked.end() ||
                                 changed(row->second.first) <= row->second.second);
                       }) &&
           std::all_of(now_->locked.begin(), now_->locked.end(), [&](const auto& lock) {
             return !is_value(lock.first) || changed(lock.second.first) <= lock.second.second;
           });
  }
  // A lock on a value that has to be unique (store.hpp).
  static bool is_value(std::string_view name) { return name.find("/=") != name.npos; }

  // The lock that covers the key, on it or on what is above it.
  std::map<std::string, std::pair<Key, Sequence>, std::less<>>::const_iterator row_of(
      Key key) const {
    std::string_view name = log_.name(key);
    for (;;) {
      const auto found = now_->locked.find(name);
      const auto slash = name.rfind('/');
      if (found != now_->locked.end() || slash == name.npos) return found;
      name = name.substr(0, slash);
    }
  }

  // The open transaction's arcs from and to committed ones; false and nothing if one closes a
  // cycle.
  bool add_dependencies() {
    const auto arcs = graph_.arc_count();
    const auto own = graph_.add_node();
    bool acyclic = true;
    const auto add = [&](Txn from, bool forward) {
      const auto other = nodes_.find(from);
      if (other == nodes_.end() || !acyclic) return;
      acyclic = forward ? graph_.add_arc(other->second, own) : graph_.add_arc(own, other->second);
    };
    if (now_->rules.real_time && now_->began) acyclic = graph_.add_arc(*now_->began, own);
    for (const auto& [key, writer] : now_->reads) {
      if (writer != kInitial) add(writer, true);
      if (const auto next = replaced(key, writer)) add(*next, false);
    }
    for (const auto& [key, seen] : now_->writes) {
      const Txn before = at(key, commits_);
      if (before != kInitial) add(before, true);
      const auto readers = readers_.find({key, before});
      if (readers == readers_.end()) continue;
      for (const Txn reader : readers->second) add(reader, true);
    }
    if (!acyclic) {
      graph_.take_back_to(arcs);
      return false;
    }
    nodes_[txn_] = own;
    for (const auto& [key, writer] : now_->reads) readers_[{key, writer}].push_back(txn_);
    if (now_->rules.real_time) {
      const auto end = graph_.add_node();
      graph_.add_arc(own, end);
      if (last_end_) graph_.add_arc(*last_end_, end);
      last_end_ = end;
    }
    return true;
  }

  bool finish() {
    ++commits_;
    ends_.push_back(last_end_);
    for (const auto& [key, seen] : now_->writes) {
      versions(key).emplace_back(commits_, txn_);
      changed_[key] = commits_;
      if (const auto row = row_of(key); row != now_->locked.end())
        changed_[row->second.first] = commits_;
    }
    if (!now_->writes.empty()) {
      for (const auto& [name, lock] : now_->locked) {
        if (is_value(name)) changed_[lock.first] = commits_;
      }
    }
    // The node has applied what was before its own.
    if (now_->rules.nodes && !now_->writes.empty()) node() = commits_;
    order_.push_back(txn_);
    open_.erase(txn_);
    now_ = nullptr;
    return true;
  }

  Product product_;
  const TransactionLog& log_;
  base::Random random_;
  Sequence commits_ = 0;
  std::vector<std::vector<Version>> versions_;       // by key
  base::HashMap<Key, Sequence> changed_;             // keys, and what locks covered of them
  std::array<Sequence, kGaleraNodes> applied_ = {};  // by node
  std::vector<Txn> order_;

  graph::OnlineOrder graph_;
  base::HashMap<Txn, graph::Node> nodes_;  // of serializable transactions
  base::HashMap<std::pair<Key, Txn>, std::vector<Txn>> readers_;
  std::optional<graph::Node> last_end_;
  std::vector<std::optional<graph::Node>> ends_ = {std::nullopt};  // after so many commits

  std::map<Txn, Open> open_;
  Txn txn_ = 0;
  Open* now_ = nullptr;  // the selected one
  bool undo_read_ = false;
};

}  // namespace

std::unique_ptr<AdmissibilityChecker> versioned_admissibility(Product product,
                                                              const TransactionLog& log,
                                                              std::uint64_t seed) {
  return std::make_unique<VersionedAdmissibility>(product, log, seed);
}

}  // namespace cupel::mock
