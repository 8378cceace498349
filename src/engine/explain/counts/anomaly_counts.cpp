// AnomalyCounts: see the header.
#include "engine/explain/counts/anomaly_counts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "base/hash_table.hpp"
#include "base/offsets.hpp"
#include "base/parallel.hpp"
#include "engine/explain/counts/severity.hpp"

namespace cupel::counts {

using levels::InternalKind;

namespace {

// Long forks and write skews: looking into hot keys that nobody read before writing
// would be quadratic.
constexpr std::uint64_t kStepsPerOperation = 40;
constexpr std::uint64_t kStepsAtLeast = 1'000'000;
// Pairs of versions of which one was seen and the other missed, 8 bytes each.
constexpr std::size_t kMostForkFacts = 32'000'000;

// With elements that may stand at several places these do not depend on the choice.
bool whatever_the_places(InternalKind kind) {
  return kind == InternalKind::kThinAirRead || kind == InternalKind::kAbortedRead ||
         kind == InternalKind::kDuplicateElement;
}

}  // namespace

std::string_view name(Mark mark) {
  switch (mark) {
    case Mark::kNonMonotonicRead:
      return "non-monotonic-read";
    case Mark::kSessionGuarantee:
      return "session-guarantee-violation";
    case Mark::kFracturedRead:
      return "fractured-read";
    case Mark::kCausality:
      return "causality-violation";
    case Mark::kLongFork:
      return "long-fork";
    case Mark::kLostUpdate:
      return "lost-update";
    case Mark::kWriteSkew:
      return "write-skew";
  }
  return "?";
}

// Counts by name, and the keys of each.
class AnomalyCounts::Tally {
 public:
  explicit Tally(const History& history) : history_(history) {}

  void add(std::string_view name, std::uint64_t count = 1) { entry(name).count += count; }
  void concern(std::string_view name, KeyId key) {
    if (!key.valid()) return;
    auto& seen = entry(name).keys;
    if (seen.empty()) seen.assign(history_.key_count(), false);
    seen[key.index()] = true;
  }
  void at_least(std::string_view name) { entry(name).exact = false; }

  [[nodiscard]] std::vector<AnomalyCount> sum() const {
    std::vector<AnomalyCount> all;
    for (const auto& [name, e] : entries_) {
      if (e.count == 0) continue;
      AnomalyCount& one = all.emplace_back();
      one.name = name;
      one.count = e.count;
      one.exact = e.exact;
      for (std::size_t k = 0; k < e.keys.size(); ++k) {
        if (!e.keys[k]) continue;
        ++one.key_count;
        one.keys.emplace_back(k);
        if (one.keys.size() >= 2 * kKeysNamed) keep_first(one.keys);
      }
      keep_first(one.keys);
    }
    std::sort(all.begin(), all.end(), [](const AnomalyCount& a, const AnomalyCount& b) {
      return std::tuple(severity(a.name), a.name) < std::tuple(severity(b.name), b.name);
    });
    return all;
  }

 private:
  struct Entry {
    std::uint64_t count = 0;
    bool exact = true;
    std::vector<bool> keys;
  };
  Entry& entry(std::string_view name) { return entries_[name]; }
  // In the order of the keys themselves, not of their numbers.
  void keep_first(std::vector<KeyId>& keys) const {
    std::sort(keys.begin(), keys.end(),
              [&](KeyId x, KeyId y) { return history_.key(x) < history_.key(y); });
    if (keys.size() > kKeysNamed) keys.resize(kKeysNamed);
  }

  const History& history_;
  std::map<std::string_view, Entry> entries_;
};

AnomalyCounts::AnomalyCounts(const History& history, base::Budget& budget, PriorResult known)
    : history_(history), known_(std::move(known)), accesses_(known_.accesses) {
  finished_ = scan(budget);
}
AnomalyCounts::~AnomalyCounts() = default;

bool AnomalyCounts::scan(base::Budget& budget) {
  const levels::ListChoices choices(history_);
  lists_open_ = choices.any();
  if (!accesses_) {
    accesses_ = std::make_shared<Accesses>(levels::collect_accesses(history_, choices, {}, budget));
  }
  if (!accesses_->complete) return false;
  Tally tally(history_);
  count_internal(tally);
  const auto done = [&] {
    versions_ = std::make_unique<Versions>(history_, *accesses_, lists_open_);
    marks_.assign(accesses_->reads.size(), 0);
    count_lost_updates(tally);
    if (!known_.causal) {
      past_ = std::make_unique<CausalPast>(history_, *accesses_, *versions_);
      if (!past_->compute(budget)) return false;
      count_cycles(tally);
      if (!count_missed(tally, budget)) return false;
    }
    return count_write_skews(tally, budget) && count_long_forks(tally, budget);
  }();
  if (versions_ && !versions_->reads_known()) {
    for (std::size_t m = 0; m < kMarkCount; ++m) tally.at_least(name(static_cast<Mark>(m)));
    tally.at_least("G1c");
    tally.at_least("G1c-process");
  }
  counts_ = tally.sum();
  past_.reset();  // the largest of all, and nobody asks it again
  return done;
}

void AnomalyCounts::count_internal(Tally& tally) {
  std::vector<std::uint64_t> seen;
  for (const auto& found : accesses_->internal) {
    const auto kind = levels::name(found.kind);
    if (lists_open_ && found.key.valid() && history_.is_list(found.key) &&
        !whatever_the_places(found.kind)) {
      tally.at_least(kind);
      continue;
    }
    // They come by read. A list may hold many elements that nobody appended.
    const auto same = [&](const levels::InternalAnomaly& other) {
      return other.read == found.read && other.kind == found.kind && other.key == found.key;
    };
    bool again = false;
    for (auto it = internal_.rbegin(); it != internal_.rend() && it->read == found.read; ++it) {
      again = again || same(*it);
    }
    if (again) continue;
    internal_.push_back(found);
    tally.add(kind);
    tally.concern(kind, found.key);
  }
}

void AnomalyCounts::count_lost_updates(Tally& tally) {
  const auto name_of = name(Mark::kLostUpdate);
  for (Version v = 0; v < versions_->count(); ++v) {
    const auto readers = versions_->readers(v);
    if (readers.size() < 2) continue;
    const auto updates = [&](std::uint32_t r) {
      return versions_->written(accesses_->reads[r].owner, versions_->key(v)) != kNone;
    };
    if (std::count_if(readers.begin(), readers.end(), updates) < 2) continue;
    tally.add(name_of);
    tally.concern(name_of, versions_->key(v));
    for (const auto r : readers) {
      if (updates(r)) mark(r, Mark::kLostUpdate);
    }
  }
}

void AnomalyCounts::count_cycles(Tally& tally) const {
  for (const auto& cycle : past_->cycles()) {
    const std::string_view name_of = cycle.by_reads ? "G1c" : "G1c-process";
    tally.add(name_of);
    for (const Owner o : cycle.owners) {
      for (auto r = accesses_->read_first[o]; r < accesses_->read_first[o + 1]; ++r) {
        const Version v = versions_->of_read(r);
        if (v == kNone || versions_->is_initial(v)) continue;
        if (std::binary_search(cycle.owners.begin(), cycle.owners.end(), versions_->writer(v))) {
          tally.concern(name_of, accesses_->reads[r].key);
        }
      }
    }
  }
}

// Is `seen` certainly older than `other`, another version of the same key?
bool AnomalyCounts::older(Version seen, Version other) const {
  if (versions_->is_initial(seen)) return true;
  const Owner w = versions_->writer(seen), k = versions_->writer(other);
  if (versions_->older_in_list(seen, other)) return true;
  if (!past_->too_large()) return past_->before(w, k);
  return past_->session(w) == past_->session(k) && past_->position(w) != 0 &&
         past_->position(k) > past_->position(w);
}

bool AnomalyCounts::missed(std::uint32_t r) const {
  return marked(r, Mark::kNonMonotonicRead) || marked(r, Mark::kSessionGuarantee) ||
         marked(r, Mark::kFracturedRead) || marked(r, Mark::kCausality);
}

// The committed writers of each key, session by session.
struct AnomalyCounts::Writers {
  struct Group {
    std::uint32_t session, first, last;
  };
  std::vector<Version> versions;      // by key, by session, in its order
  std::vector<Owner> owners;          // their writers
  std::vector<std::uint32_t> places;  // of these
  std::vector<Group> groups;
  std::vector<std::uint32_t> group_first;  // by key
};

AnomalyCounts::Writers AnomalyCounts::committed_writers() const {
  const auto& a = *accesses_;
  Writers found;
  const auto key_first = base::offsets_by(history_.key_count(), a.writes,
                                          [](const auto& write) { return write.key.index(); });
  found.versions.resize(a.writes.size());
  found.owners.resize(a.writes.size());
  found.places.resize(a.writes.size());
  {
    auto next = key_first;
    for (Version w = 0; w < a.writes.size(); ++w)
      found.versions[next[a.writes[w].key.index()]++] = w;
  }
  found.group_first.assign(history_.key_count() + 1, 0);
  auto& groups = found.groups;
  for (std::size_t k = 0; k < history_.key_count(); ++k) {
    std::uint32_t kept = key_first[k];
    for (auto i = key_first[k]; i < key_first[k + 1]; ++i) {
      const Owner o = versions_->writer(found.versions[i]);
      if (past_->position(o) == 0) continue;  // its place is not known
      found.versions[kept] = found.versions[i];
      found.owners[kept] = o;
      found.places[kept] = past_->position(o);
      if (groups.size() == found.group_first[k] || groups.back().session != past_->session(o)) {
        groups.push_back({past_->session(o), kept, kept});
      }
      groups.back().last = ++kept;
    }
    found.group_first[k + 1] = static_cast<std::uint32_t>(groups.size());
  }
  return found;
}

// Is there a write by a transaction that o reads from, of what o read otherwise, that
// o may have missed? `reads` is room to work in.
bool AnomalyCounts::may_miss_a_source(Owner o, std::vector<std::uint32_t>& reads) const {
  const auto& a = *accesses_;
  const auto by_key = versions_->reads_by_key(o);
  reads.clear();
  for (const auto r : by_key) {
    const Version v = versions_->of_read(r);
    if (v != kNone && versions_->writer(v) != o) reads.push_back(r);
  }
  for (const auto from : reads) {
    const Version source = versions_->of_read(from);
    if (versions_->is_initial(source)) continue;
    const Owner k = versions_->writer(source);
    if (past_->position(k) == 0) return true;  // in nobody's past, yet a list may fix its position
    auto w = a.write_first[k];
    for (const auto r : reads) {
      const KeyId x = a.reads[r].key;
      while (w < a.write_first[k + 1] && a.writes[w].key < x) ++w;
      if (w == a.write_first[k + 1]) break;
      const Version seen = versions_->of_read(r);
      if (a.writes[w].key != x || seen == w) continue;
      if (older(seen, w)) return true;
      // Or each of the two wrote both keys.
      if (versions_->writer(seen) != k && !versions_->is_initial(seen) &&
          versions_->written(versions_->writer(seen), a.reads[from].key) != kNone) {
        return true;
      }
    }
  }
  return false;
}

// By transaction: may it have missed anything? Few have, and they are looked at one by
// one. Key by key, so that the clocks of a key's writers are at hand.
std::vector<std::uint8_t> AnomalyCounts::suspects(const Writers& writers,
                                                  base::Budget& budget) const {
  const auto& a = *accesses_;
  const auto owners = static_cast<Owner>(a.txns.size());
  std::vector<std::uint8_t> suspect(owners, past_->too_large() ? 1 : 0);
  if (past_->too_large()) return suspect;
  for (const auto& cycle : past_->cycles()) {
    for (const Owner o : cycle.owners) suspect[o] = 1;
  }
  constexpr std::size_t kBlock = 4096;
  base::for_each_index((owners + kBlock - 1) / kBlock, known_.threads, [&](std::size_t block) {
    if (budget.exceeded()) return;
    std::vector<std::uint32_t> room;
    const auto end = static_cast<Owner>(std::min<std::size_t>(owners, (block + 1) * kBlock));
    for (auto o = static_cast<Owner>(block * kBlock); o < end; ++o) {
      if (suspect[o] == 0 && may_miss_a_source(o, room)) suspect[o] = 1;
    }
  });
  const std::size_t row_bytes = sizeof(std::uint32_t) * past_->session_count();
  base::for_each_index(
      (history_.key_count() + kBlock - 1) / kBlock, known_.threads, [&](std::size_t block) {
        if (budget.exceeded()) return;
        const auto end = std::min(history_.key_count(), (block + 1) * kBlock);
        for (std::size_t x = block * kBlock; x < end; ++x) {
          const auto groups = std::span(writers.groups)
                                  .subspan(writers.group_first[x],
                                           writers.group_first[x + 1] - writers.group_first[x]);
          if (groups.empty()) continue;
          // The rows are all over memory: asked for ahead.
          const auto fetch = [&](Owner o) {
            const char* const row = reinterpret_cast<const char*>(past_->row(o).data());
            for (std::size_t at = 0; at < row_bytes; at += 64) __builtin_prefetch(row + at);
          };
          const auto fetch_readers = [&](Version seen) {
            for (const auto r : versions_->readers(seen)) fetch(a.reads[r].owner);
          };
          fetch_readers(versions_->initial(KeyId(x)));
          for (auto i = groups.front().first; i < groups.back().last; ++i) {
            fetch(writers.owners[i]);
            fetch_readers(writers.versions[i]);
          }
          const auto look = [&](Version seen, Owner w) {
            const std::uint32_t w_session = w == kInitialOwner ? 0 : past_->session(w);
            const std::uint32_t w_place = w == kInitialOwner ? 0 : past_->position(w);
            for (const auto r : versions_->readers(seen)) {
              const Owner o = a.reads[r].owner;
              // Threads may set it at once. std::atomic_ref is not in every library of C++20.
              std::uint8_t* const flag = &suspect[o];
              if (w == o || __atomic_load_n(flag, __ATOMIC_RELAXED) != 0) continue;
              const auto row = past_->row(o);
              const std::uint32_t session = past_->session(o),
                                  before = std::max(past_->position(o), 1u) - 1;
              for (const auto& group : groups) {
                // In its own session what is before it; else as far as its past reaches.
                const std::uint32_t reach = group.session == session ? before : row[group.session];
                if (writers.places[group.first] > reach) continue;
                const auto* const first = writers.places.data() + group.first;
                const auto* const last = writers.places.data() + group.last;
                const auto found = static_cast<std::size_t>(std::upper_bound(first, last, reach) -
                                                            1 - writers.places.data());
                const Owner k = writers.owners[found];
                if (k == w) continue;
                if (past_->row(k)[w_session] < w_place &&
                    !versions_->older_in_list(seen, writers.versions[found])) {
                  continue;
                }
                __atomic_store_n(flag, std::uint8_t{1}, __ATOMIC_RELAXED);
                break;
              }
            }
          };
          look(versions_->initial(KeyId(x)), kInitialOwner);
          for (auto i = groups.front().first; i < groups.back().last; ++i) {
            look(writers.versions[i], writers.owners[i]);
          }
        }
      });
  return suspect;
}

// Reads that missed a write: of a writer that the transaction reads from elsewhere
// (non-monotonic and fractured reads), or that is in its past (session guarantees,
// causality). Along a session the past only grows, so each session is one scan.
class AnomalyCounts::MissedReads {
 public:
  explicit MissedReads(AnomalyCounts& counts)
      : counts_(counts),
        accesses_(*counts.accesses_),
        versions_(*counts.versions_),
        past_(*counts.past_),
        committed_(counts.committed_writers()),
        pointer_(committed_.groups.size(), 0) {
    for (const auto& one : accesses_.internal) {
      if (one.kind == levels::InternalKind::kNonRepeatableRead)
        contradictory_.insert({accesses_.owner_of[one.txn.index()], one.key});
    }
  }

  bool run(Tally& tally, base::Budget& budget) {
    const auto suspect = counts_.suspects(committed_, budget);
    const auto owners = static_cast<Owner>(accesses_.txns.size());
    for (Owner o = 0; o < owners; ++o) {
      if ((o & 0x3ff) == 0 && budget.exceeded()) return false;
      if (suspect[o] == 0) continue;
      enter(o);
      collect_sources();
      mark_missed_of_sources();
      mark_missed_in_past();
      name_marks(tally);
    }
    if (past_.some_outside() || past_.too_large()) {
      for (const Mark m : kMissed) tally.at_least(name(m));
    }
    return true;
  }

 private:
  static constexpr Mark kMissed[] = {Mark::kNonMonotonicRead, Mark::kSessionGuarantee,
                                     Mark::kFracturedRead, Mark::kCausality};

  void enter(Owner o) {
    owner_ = o;
    begin_ = accesses_.read_first[o];
    end_ = accesses_.read_first[o + 1];
    if (past_.session(o) == session_) return;
    for (const auto g : touched_) pointer_[g] = 0;
    touched_.clear();
    session_ = past_.session(o);
  }

  // The writers that the transaction reads from, each with those reads.
  void collect_sources() {
    sources_.clear();
    for (auto r = begin_; r < end_; ++r) {
      const Version v = versions_.of_read(r);
      if (v == kNone || versions_.is_initial(v) || versions_.writer(v) == owner_) continue;
      sources_.emplace_back(versions_.writer(v), r);
    }
    std::sort(sources_.begin(), sources_.end());
  }

  // What those writers wrote, of what the transaction reads from others.
  void mark_missed_of_sources() {
    for (std::size_t s = 0; s < sources_.size();) {
      const Owner k = sources_[s].first;
      Source source{s, s, false, accesses_.reads[sources_[s].second].op};
      for (; source.end < sources_.size() && sources_[source.end].first == k; ++source.end) {
        source.first_read =
            source.first_read || !accesses_.reads[sources_[source.end].second].repeated;
      }
      outdated_.clear();
      if (accesses_.write_first[k + 1] - accesses_.write_first[k] <= end_ - begin_) {
        for (Version w = accesses_.write_first[k]; w < accesses_.write_first[k + 1]; ++w) {
          for (const auto i : versions_.reads_of(owner_, accesses_.writes[w].key)) {
            compare(source, i, w);
          }
        }
      } else {
        for (auto i = begin_; i < end_; ++i) {
          const Version other = versions_.written(k, accesses_.reads[i].key);
          if (other != kNone) compare(source, i, other);
        }
      }
      s = source.end;
    }
  }

  // Reads from one writer: sources_[begin, end).
  struct Source {
    std::size_t begin, end;
    bool first_read;  // is one of them the first of its key?
    history::OpId earliest;
  };

  // Read `i`, of a key to which the source wrote `other`.
  void compare(const Source& source, std::uint32_t i, Version other) {
    const Version seen = versions_.of_read(i);
    if (seen == kNone || seen == other || versions_.writer(seen) == owner_) return;
    const bool earlier = source.earliest < accesses_.reads[i].op;
    const bool both_first = source.first_read && !accesses_.reads[i].repeated;
    if (!earlier && !both_first) return;
    if (counts_.older(seen, other)) {
      counts_.mark(i, earlier ? Mark::kNonMonotonicRead : Mark::kFracturedRead);
      return;
    }
    if (!both_first) return;
    const auto [known, fresh] = outdated_.try_emplace(versions_.writer(seen), false);
    for (std::size_t u = source.begin; fresh && !known->second && u < source.end; ++u) {
      const auto& from_source = accesses_.reads[sources_[u].second];
      known->second =
          !from_source.repeated && versions_.written(known->first, from_source.key) != kNone;
    }
    if (known->second) counts_.mark(i, Mark::kFracturedRead);
  }

  // The last writer of the key in each session, as far as it is in the past.
  void mark_missed_in_past() {
    for (auto r = begin_; r < end_; ++r) {
      const Version seen = versions_.of_read(r);
      if (seen == kNone || accesses_.reads[r].repeated || versions_.writer(seen) == owner_) {
        continue;
      }
      const auto x = accesses_.reads[r].key.index();
      for (auto g = committed_.group_first[x]; g < committed_.group_first[x + 1]; ++g) {
        mark_missed_in_group(r, seen, g);
      }
    }
  }

  void mark_missed_in_group(std::uint32_t r, Version seen, std::uint32_t g) {
    const auto& writers = committed_.versions;
    const auto& group = committed_.groups[g];
    const bool own = group.session == session_;
    if (past_.too_large() && (!own || past_.position(owner_) == 0)) return;
    const std::uint32_t reach =
        past_.too_large() ? past_.position(owner_) - 1 : past_.reach(owner_, group.session);
    auto& at = pointer_[g];
    if (at == 0) touched_.push_back(g);
    while (group.first + at < group.last &&
           past_.position(versions_.writer(writers[group.first + at])) <= reach) {
      ++at;
    }
    auto found = group.first + at;
    if (own) {
      // Not the transaction itself. In a cycle its past may reach beyond it.
      const auto reached = found;
      while (found > group.first && versions_.writer(writers[found - 1]) >= owner_) --found;
      if (reached > group.first && versions_.writer(writers[reached - 1]) > owner_ &&
          writers[reached - 1] != seen && counts_.older(seen, writers[reached - 1])) {
        mark_causality(r);
      }
    }
    if (found == group.first) return;
    const Version other = writers[found - 1];
    if (other != seen && counts_.older(seen, other)) {
      if (own) {
        counts_.mark(r, Mark::kSessionGuarantee);
      } else {
        mark_causality(r);
      }
    }
  }

  void mark_causality(std::uint32_t r) {
    if (!contradictory_.contains({owner_, accesses_.reads[r].key}))
      counts_.mark(r, Mark::kCausality);
  }

  // One name a read, each name once a transaction.
  void name_marks(Tally& tally) {
    bool named[kMarkCount] = {};
    for (auto r = begin_; r < end_; ++r) {
      for (const Mark m : kMissed) {
        if (!counts_.marked(r, m)) continue;
        auto& marks = counts_.marks_[r];
        marks = static_cast<std::uint8_t>((marks & 1u << static_cast<unsigned>(Mark::kLostUpdate)) |
                                          1u << static_cast<unsigned>(m));
        named[static_cast<std::size_t>(m)] = true;
        tally.concern(name(m), accesses_.reads[r].key);
        break;
      }
    }
    for (std::size_t m = 0; m < kMarkCount; ++m) {
      if (named[m]) tally.add(name(static_cast<Mark>(m)));
    }
  }

  AnomalyCounts& counts_;
  const Accesses& accesses_;
  const Versions& versions_;
  const CausalPast& past_;
  const Writers committed_;
  std::vector<std::uint32_t> pointer_, touched_;  // by group: how far its session is in the past
  std::vector<std::pair<Owner, std::uint32_t>> sources_;
  // Keys that a transaction read twice with different values: a non-repeatable read. The later
  // value puts its writer into the past that the earlier read then seems to miss.
  std::set<std::pair<Owner, KeyId>> contradictory_;
  base::HashMap<Owner, bool> outdated_;  // by writer: did it overwrite what was read?
  std::uint32_t session_ = kNone;
  Owner owner_ = 0;
  std::uint32_t begin_ = 0, end_ = 0;  // its reads
};

bool AnomalyCounts::count_missed(Tally& tally, base::Budget& budget) {
  return MissedReads(*this).run(tally, budget);
}

bool AnomalyCounts::count_write_skews(Tally& tally, base::Budget& budget) {
  const auto& a = *accesses_;
  const auto name_of = name(Mark::kWriteSkew);
  if (!versions_->orders_known()) tally.at_least(name_of);
  std::uint64_t steps = kStepsAtLeast + kStepsPerOperation * (a.reads.size() + a.writes.size());
  std::vector<std::pair<Owner, std::uint32_t>> overwrote;  // who, and the read
  for (Owner o = 0; o < a.txns.size(); ++o) {
    if ((o & 0x3ff) == 0 && budget.exceeded()) return false;
    if (a.write_first[o] == a.write_first[o + 1]) continue;
    overwrote.clear();
    for (auto r = a.read_first[o]; r < a.read_first[o + 1]; ++r) {
      const Version v = versions_->of_read(r);
      if (v == kNone || a.reads[r].repeated || missed(r)) continue;
      for (const Owner other : versions_->overwriters(v)) {
        // Each pair is looked at once, from its first.
        if (other > o) overwrote.emplace_back(other, r);
      }
      const auto found = versions_->overwriters(v).size();
      if (steps <= found) {
        tally.at_least(name_of);
        return true;
      }
      steps -= found;
    }
    std::sort(overwrote.begin(), overwrote.end());
    for (std::size_t i = 0; i < overwrote.size();) {
      const Owner other = overwrote[i].first;
      std::size_t j = i;
      while (j < overwrote.size() && overwrote[j].first == other) ++j;
      bool lost = false;
      std::vector<std::pair<std::uint32_t, std::uint32_t>> skewed;
      for (auto w = a.write_first[o]; w < a.write_first[o + 1]; ++w) {
        const KeyId y = a.writes[w].key;
        const auto read = versions_->first_read(other, y);
        if (read == kNone) continue;
        const Version v = versions_->of_read(read);
        if (v == kNone || missed(read)) continue;
        lost = lost || (versions_->updates(o, v) && versions_->updates(other, v));
        const auto back = versions_->overwriters(v);
        if (!std::binary_search(back.begin(), back.end(), o)) continue;
        for (std::size_t k = i; k < j; ++k) {
          if (a.reads[overwrote[k].second].key != y) skewed.emplace_back(overwrote[k].second, read);
        }
      }
      const std::uint64_t cost = a.write_first[o + 1] - a.write_first[o] + skewed.size();
      steps -= std::min(steps, cost);
      if (!skewed.empty() && !lost) {
        tally.add(name_of);
        for (const auto& [mine, theirs] : skewed) {
          for (const auto r : {mine, theirs}) {
            mark(r, Mark::kWriteSkew);
            tally.concern(name_of, a.reads[r].key);
          }
        }
      }
      i = j;
    }
    if (steps == 0) {
      tally.at_least(name_of);
      return true;
    }
  }
  return true;
}

// A fact is a pair of versions of two keys: some transaction saw the first and read
// what the second overwrote. Two facts that contradict each other are a long fork.
bool AnomalyCounts::count_long_forks(Tally& tally, base::Budget& budget) {
  const auto& a = *accesses_;
  const auto name_of = name(Mark::kLongFork);
  if (!versions_->orders_known()) tally.at_least(name_of);
  // Only versions that somebody saw, and in whose place somebody saw an older one,
  // can be in both kinds of facts.
  std::vector<std::uint8_t> candidate(a.writes.size(), 0);
  for (Version v = 0; v < versions_->count(); ++v) {
    if (versions_->readers(v).empty()) continue;
    if (!versions_->is_initial(v)) candidate[v] |= 1;
    for (const Owner o : versions_->overwriters(v)) {
      // Somebody besides the overwriter itself.
      const auto readers = versions_->readers(v);
      if (readers.size() > 1 || a.reads[readers.front()].owner != o) {
        candidate[versions_->written(o, versions_->key(v))] |= 2;
      }
    }
  }
  const auto good = [&](std::uint32_t r) {
    return versions_->of_read(r) != kNone && !a.reads[r].repeated && !missed(r);
  };
  std::uint64_t steps = kStepsAtLeast + kStepsPerOperation * (a.reads.size() + a.writes.size());
  bool bounded = false;
  // Calls fact(seen, overwritten-by, the two reads); false if the budget ended.
  const auto for_each = [&](const auto& fact) {
    std::uint64_t left = steps;
    std::vector<std::pair<std::uint32_t, Version>> saw, lacked;
    for (Owner o = 0; o < a.txns.size(); ++o) {
      if ((o & 0x3ff) == 0 && budget.exceeded()) return false;
      saw.clear();
      lacked.clear();
      for (auto r = a.read_first[o]; r < a.read_first[o + 1]; ++r) {
        if (!good(r)) continue;
        const Version v = versions_->of_read(r);
        if (!versions_->is_initial(v) && candidate[v] == 3) saw.emplace_back(r, v);
        for (const Owner other : versions_->overwriters(v)) {
          if (left == 0) break;
          --left;
          const Version next = versions_->written(other, a.reads[r].key);
          if (other != o && candidate[next] == 3) lacked.emplace_back(r, next);
        }
      }
      if (left <= saw.size() * lacked.size()) {
        bounded = true;
        return true;
      }
      left -= saw.size() * lacked.size();
      for (const auto& [r, v] : saw) {
        for (const auto& [q, next] : lacked) {
          if (r == q || versions_->writer(v) == versions_->writer(next)) continue;
          if (!fact(v, next, r, q)) return true;
        }
      }
    }
    return true;
  };
  const auto code = [](Version v, Version next) { return std::uint64_t{v} << 32 | next; };
  std::vector<std::uint64_t> facts;
  if (!for_each([&](Version v, Version next, std::uint32_t, std::uint32_t) {
        if (facts.size() == facts.capacity() &&
            (facts.size() >= kMostForkFacts || budget.would_exceed(16 * facts.size()))) {
          bounded = true;
          return false;
        }
        facts.push_back(code(v, next));
        return true;
      })) {
    return false;
  }
  std::sort(facts.begin(), facts.end());
  facts.erase(std::unique(facts.begin(), facts.end()), facts.end());
  const auto known = [&](std::uint64_t fact) {
    return std::binary_search(facts.begin(), facts.end(), fact);
  };
  bool some = false;
  for (const auto fact : facts) {
    const auto v = static_cast<Version>(fact >> 32), next = static_cast<Version>(fact);
    if (v > next || !known(code(next, v))) continue;
    some = true;
    tally.add(name_of);
    tally.concern(name_of, versions_->key(v));
    tally.concern(name_of, versions_->key(next));
  }
  if (bounded) tally.at_least(name_of);
  if (!some) return true;
  return for_each([&](Version v, Version next, std::uint32_t r, std::uint32_t q) {
    if (known(code(next, v)) && known(code(v, next))) {
      mark(r, Mark::kLongFork);
      mark(q, Mark::kLongFork);
    }
    return true;
  });
}

}  // namespace cupel::counts
