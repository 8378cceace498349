// satisfies_weak: see the header. Positions count from 1; the initial transaction
// stands at 0.
#include "engine/certify/weak.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "base/hash_table.hpp"
#include "base/offsets.hpp"

namespace cupel::certify {

namespace {

using history::OpKind;
using history::SessionId;
using Position = std::uint32_t;

// A read of another transaction's version, and whose.
struct ReadOf {
  TxnId reader;
  OpId op;
  KeyId key;
  TxnId writer;
};

// Lists of numbers by key, in one array.
struct ByKey {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> items;

  [[nodiscard]] std::span<const std::uint32_t> of(KeyId key) const {
    return std::span(items).subspan(first[key.index()],
                                    first[key.index() + 1] - first[key.index()]);
  }
};

class Weak {
 public:
  Weak(Subject& subject, const Shape& shape, const std::vector<Number>& order)
      : subject_(subject),
        h_(subject.history()),
        shape_(shape),
        order_(order),
        position_(h_.txn_count(), kNone),
        own_(h_.key_count()) {
    subject.index_writes();
  }

  // `seen`: where the writers of the reads go, if asked for, as soon as all are known.
  Rejection run(const std::vector<ReadFrom>& reads_from, const std::vector<Place>& placings,
                SeenWriters* seen) {
    if (seen != nullptr) seen_.assign(h_.txn_count(), {});
    if (auto wrong = enter()) return wrong;
    if (auto wrong = session_order()) return wrong;
    list_writers();
    lay_lists();
    for (const Place& place : placings) {
      const auto it = lists_.find(KeyId(place.key));
      const bool there = it != lists_.end() && place.position < it->second.appends.size() &&
                         it->second.appends[place.position] == OpId(place.operation);
      if (!there) {
        return fmt::format(
            "placings: operation {} does not stand at place {} of {} under this order",
            place.operation, place.position, shown_key(subject_, KeyId(place.key)));
      }
    }
    for (const auto& r : reads_from) {
      if (!named_.try_emplace({r.operation, r.key}, Named{TxnId::none(), false}).second) {
        return fmt::format("reads_from: operation {} and {} are named twice", r.operation,
                           shown_key(subject_, KeyId(r.key)));
      }
      if (r.writer != kNone) named_[{r.operation, r.key}].writer = TxnId(r.writer);
    }
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      read_first_.push_back(static_cast<std::uint32_t>(reads_.size()));
      if (position_[t] == kNone) continue;
      if (auto wrong = collect_reads(TxnId(t))) return wrong;
    }
    read_first_.push_back(static_cast<std::uint32_t>(reads_.size()));
    for (const auto& r : reads_from) {
      if (named_[{r.operation, r.key}].used) continue;
      return fmt::format(
          "reads_from: operation {} does not read {} from another transaction in this order{}",
          r.operation, shown_key(subject_, KeyId(r.key)),
          shape_.phi == Phi::kEarlierRead ? ""
                                          : ", or is not the first of its transaction to do so");
    }
    if (seen != nullptr) *seen = std::move(seen_);
    find_open();
    if (open_.empty()) return std::nullopt;
    switch (shape_.phi) {
      case Phi::kEarlierRead:
        return earlier_reads();
      case Phi::kOneStep:
        return one_step();
      default:
        return causal();
    }
  }

 private:
  [[nodiscard]] Position at(TxnId t) const { return t.valid() ? position_[t.index()] : 0; }
  [[nodiscard]] std::string operation(const ReadOf& r) const {
    return fmt::format("operation {} of {}", r.op.raw - h_.first_op(r.reader),
                       shown(subject_, r.reader));
  }
  [[nodiscard]] std::string writer_name(TxnId t) const {
    return t.valid() ? shown(subject_, t) : std::string("the initial transaction");
  }
  Rejection broken(const ReadOf& r, TxnId k, std::string_view why) const {
    return fmt::format(
        "{} read {} from {}; {} writes it too and is visible to the read ({}), but stands after "
        "that writer",
        operation(r), shown_key(subject_, r.key), writer_name(r.writer), shown(subject_, k), why);
  }

  Rejection enter() {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const TxnId t(order_[i]);
      if (subject_.aborted(t))
        return fmt::format(
            "order[{}]: {} is aborted, and an aborted transaction has no place in an order", i,
            shown(subject_, t));
      if (position_[t.index()] != kNone)
        return fmt::format("order[{}]: {} stands there for the second time", i, shown(subject_, t));
      position_[t.index()] = static_cast<Position>(i + 1);
    }
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      if (position_[t] == kNone && subject_.committed(TxnId(t))) {
        return fmt::format("{} is committed, and does not stand in the order",
                           shown(subject_, TxnId(t)));
      }
    }
    return std::nullopt;
  }

  Rejection session_order() const {
    TxnId before;
    for (std::uint32_t i = 0; i < h_.txn_count(); ++i) {
      const TxnId t(i);
      if (position_[i] == kNone) continue;
      if (before.valid() && h_.session(before) == h_.session(t) && at(before) > at(t)) {
        return fmt::format("{} is after {} in session order, and before it in the order",
                           shown(subject_, t), shown(subject_, before));
      }
      if (subject_.committed(t)) before = t;
    }
    return std::nullopt;
  }

  // The positions of each key's writers, ascending.
  void list_writers() {
    writers_.first.assign(h_.key_count() + 1, 0);
    for (const Number t : order_) {
      for (const auto& w : subject_.final_writes(TxnId(t))) ++writers_.first[w.key.index() + 1];
    }
    base::counts_to_offsets(writers_.first);
    writers_.items.resize(writers_.first.back());
    auto next = writers_.first;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      for (const auto& w : subject_.final_writes(TxnId(order_[i]))) {
        writers_.items[next[w.key.index()]++] = static_cast<std::uint32_t>(i + 1);
      }
    }
  }

  // --- lists: under a total order a key's list is what its writers appended, one by one ---

  struct Laid {
    std::vector<ValueId> elements;
    std::vector<OpId> appends;                   // of the elements
    std::vector<TxnId> ends;                     // by length: whose appends end there
    base::HashMap<TxnId, std::uint32_t> starts;  // where a transaction's appends begin
  };

  void lay_lists() {
    for (std::uint32_t k = 0; k < h_.key_count(); ++k) {
      const KeyId key(k);
      if (!h_.is_list(key)) continue;
      Laid laid;
      for (const auto p : writers_.of(key)) {
        const TxnId t(order_[p - 1]);
        laid.starts[t] = static_cast<std::uint32_t>(laid.elements.size());
        for (auto i = h_.first_op(t); i < h_.last_op(t); ++i) {
          const auto op = h_.op(OpId(i));
          if (op.kind != OpKind::kAppend || op.key != key) continue;
          laid.elements.emplace_back(op.value);
          laid.appends.push_back(OpId(i));
        }
        laid.ends.resize(laid.elements.size() + 1);
        laid.ends.back() = t;
      }
      laid.ends.resize(laid.elements.size() + 1);
      lists_.emplace(key, std::move(laid));
    }
  }

  // The writer of what a list read saw, or why it could not see that.
  Rejection list_writer(TxnId t, OpId op, KeyId key, std::span<const ValueId> list, bool after_own,
                        TxnId& writer) const {
    const Laid& laid = lists_.at(key);
    const auto wrong = [&](std::string_view what) {
      return fmt::format("{} read a list of {} that {}", operation({t, op, key, {}}),
                         shown_key(subject_, key), what);
    };
    if (list.size() > laid.elements.size() ||
        !std::equal(list.begin(), list.end(), laid.elements.begin())) {
      return wrong("is not how the list begins under this order");
    }
    const auto own = laid.starts.find(t);
    if (after_own) {
      if (list.size() == own->second + own_appends_before(h_, t, op, key)) return std::nullopt;
      return wrong("does not end in the transaction's own appends so far");
    }
    if (own != laid.starts.end() && own->second < list.size())
      return wrong("has elements that the transaction appended later");
    if (list.empty()) return std::nullopt;
    writer = laid.ends[list.size()];
    if (!writer.valid()) return wrong("ends in the middle of a transaction's appends");
    return std::nullopt;
  }

  // --- whose version each read saw ---

  struct External {
    OpId op;
    KeyId key;
    Seen seen;
    std::size_t place;  // among those of the transaction
  };

  Rejection collect_reads(TxnId t) {
    externals_.clear();
    auto wrong = walk_reads(
        subject_, t, own_,
        [&](OpId op, KeyId key, const Seen& seen) -> Rejection {
          externals_.push_back({op, key, seen, externals_.size()});
          return std::nullopt;
        },
        [&](OpId op, KeyId key, const Seen& seen, OpId last) -> Rejection {
          if (!sees_own(subject_, t, op, key, seen, last)) {
            return fmt::format("{} did not read the transaction's own write of {}",
                               operation({t, op, key, {}}), shown_key(subject_, key));
          }
          TxnId unused;
          return seen.what == Seen::kList ? list_writer(t, op, key, seen.list, true, unused)
                                          : std::nullopt;
        });
    if (wrong) return wrong;
    if (!seen_.empty()) seen_[t.index()].resize(externals_.size());
    // By key, in program order: all reads of a key together.
    std::stable_sort(externals_.begin(), externals_.end(),
                     [](const External& a, const External& b) { return a.key < b.key; });
    for (std::size_t i = 0; i < externals_.size();) {
      std::size_t end = i + 1;
      const bool each = shape_.phi == Phi::kEarlierRead;
      if (each && is_further_row(i)) {
        if (auto why = further_row(t, externals_[i])) return why;
        i = end;
        continue;
      }
      while (!each && end < externals_.size() && externals_[end].key == externals_[i].key) ++end;
      const auto group = std::span(externals_).subspan(i, end - i);
      TxnId writer;
      if (auto why = writer_of(t, group, writer)) return why;
      for (const External& r : group) note(t, r, writer);
      if (writer.valid() && at(writer) >= at(t)) {
        return fmt::format("{} read {} from {}, which stands after it in the order",
                           operation({t, group.front().op, group.front().key, {}}),
                           shown_key(subject_, group.front().key), shown(subject_, writer));
      }
      if (!writers_.of(group.front().key).empty())
        reads_.push_back({t, group.front().op, group.front().key, writer});
      i = end;
    }
    return std::nullopt;
  }

  // Read-committed: the first row of a key is what a range read saw. Its other rows are of
  // the same moment, so they order nothing; but somebody in the order wrote each.
  [[nodiscard]] bool is_further_row(std::size_t i) const {
    return i > 0 && externals_[i - 1].op == externals_[i].op &&
           externals_[i - 1].key == externals_[i].key;
  }
  Rejection further_row(TxnId t, const External& row) {
    if (possible_writers(t, std::span(&row, 1)).first > 0) {
      note_further_row(t, row);
      return std::nullopt;
    }
    return fmt::format("{} returned a row of {} that nobody in the order wrote",
                       operation({t, row.op, row.key, {}}), shown_key(subject_, row.key));
  }

  // The other verifier wants to be told one of them.
  void note_further_row(TxnId t, const External& row) {
    if (seen_.empty()) return;
    const auto fits = [&](TxnId w) { return fits_all(t, w, std::span(&row, 1)); };
    if (fits(TxnId::none())) return note(t, row, TxnId::none());
    for (const auto& w : subject_.written(row.key)) {
      if (w.final && fits(w.txn)) return note(t, row, w.txn);
    }
  }
  void note(TxnId t, const External& read, TxnId writer) {
    if (!seen_.empty()) seen_[t.index()][read.place] = writer;
  }

  Rejection writer_of(TxnId t, std::span<const External> group, TxnId& writer) {
    const External& first = group.front();
    const auto read = [&] { return operation({t, first.op, first.key, {}}); };
    const auto named = named_.find({first.op.raw, first.key.raw});
    if (named != named_.end()) named->second.used = true;
    if (first.seen.what == Seen::kList) {
      for (const auto& r : group) {
        TxnId its;
        if (auto wrong = list_writer(t, r.op, r.key, r.seen.list, false, its)) return wrong;
        if (&r != &first && its != writer) {
          return fmt::format("{} read another list of {} than before",
                             operation({t, r.op, r.key, {}}), shown_key(subject_, r.key));
        }
        writer = its;
      }
      if (named != named_.end() && named->second.writer != writer) {
        return fmt::format("reads_from: {} did not read {} from {}", read(),
                           shown_key(subject_, first.key), writer_name(named->second.writer));
      }
      return std::nullopt;
    }
    if (named != named_.end()) {
      writer = named->second.writer;
      if (fits_all(t, writer, group)) return std::nullopt;
      return fmt::format("reads_from: {} cannot have read {} from {}", read(),
                         shown_key(subject_, first.key), writer_name(writer));
    }
    const auto [found, last] = possible_writers(t, group);
    if (found == 1) {
      writer = last;
      return std::nullopt;
    }
    if (found == 0)
      return fmt::format("{} read what nobody in the order wrote to {}", read(),
                         shown_key(subject_, first.key));
    return fmt::format(
        "{} may have read {} from several transactions, and reads_from does not say from which",
        read(), shown_key(subject_, first.key));
  }

  [[nodiscard]] bool fits_all(TxnId t, TxnId w, std::span<const External> group) const {
    const KeyId key = group.front().key;
    if (w.valid() && (w == t || position_[w.index()] == kNone)) return false;
    const OpId write = w.valid() ? subject_.final_write(w, key) : OpId::none();
    if (w.valid() && !write.valid()) return false;
    const Version version = w.valid() ? subject_.version(write) : subject_.initial(key);
    return std::all_of(group.begin(), group.end(),
                       [&](const External& r) { return r.seen.fits(version, h_.null_value()); });
  }

  // How many, up to two, and one of them.
  std::pair<int, TxnId> possible_writers(TxnId t, std::span<const External> group) {
    const KeyId key = group.front().key;
    int found = 0;
    TxnId last;
    const auto consider = [&](TxnId w) {
      if (!fits_all(t, w, group)) return;
      ++found;
      last = w;
    };
    consider(TxnId::none());
    for (const auto& r : group) {
      if (r.seen.what != Seen::kValue) continue;
      for (const auto& w : subject_.written(key, r.seen.value)) {
        if (!w.final || found == 2) continue;
        if (group.size() > 1) {
          consider(w.txn);
        } else if (w.txn != t && position_[w.txn.index()] != kNone) {
          ++found;  // the value is what was asked for
          last = w.txn;
        }
      }
      return {found, last};
    }
    // Absence, or anything but a value: reads that ask the same share what was found.
    if (group.size() == 1) {
      const Seen& seen = group.front().seen;
      const auto [it, fresh] =
          few_.try_emplace({static_cast<std::uint32_t>(seen.what), key.raw, seen.value.raw});
      if (fresh) {
        for (const auto& w : subject_.written(key)) {
          if (it->second.size() == 3) break;  // one of them may be the reader
          if (!w.final || position_[w.txn.index()] == kNone ||
              !seen.fits(subject_.version(w.op), h_.null_value()))
            continue;
          it->second.push_back(w.txn);
        }
      }
      for (const TxnId w : it->second) {
        if (found < 2) consider(w);
      }
      return {found, last};
    }
    for (const auto& w : subject_.written(key)) {
      if (found == 2) break;
      if (w.final) consider(w.txn);
    }
    return {found, last};
  }

  // --- the formula ---

  // The reads that some writer of the key between their writer and them could break.
  void find_open() {
    for (const auto& r : reads_) {
      if (!writers_between(r).empty()) open_.push_back(r);
    }
  }
  [[nodiscard]] std::span<const Position> writers_between(const ReadOf& r) const {
    const auto all = writers_.of(r.key);
    const auto begin = std::upper_bound(all.begin(), all.end(), at(r.writer));
    return {begin, std::lower_bound(begin, all.end(), at(r.reader))};
  }

  // Ranges of open_ with one reader.
  template <typename Visit>
  Rejection for_each_reader(const Visit& visit) {
    for (std::size_t i = 0; i < open_.size();) {
      std::size_t end = i + 1;
      while (end < open_.size() && open_[end].reader == open_[i].reader) ++end;
      if (auto wrong = visit(open_[i].reader, std::span<const ReadOf>(open_).subspan(i, end - i)))
        return wrong;
      i = end;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::span<const ReadOf> reads_of(TxnId t) const {
    return std::span(reads_).subspan(read_first_[t.index()],
                                     read_first_[t.index() + 1] - read_first_[t.index()]);
  }

  // For each writer that t reads from, the first operation that does.
  void find_sources(TxnId t) {
    sources_.clear();
    for (const auto& r : reads_of(t)) {
      if (r.writer.valid()) sources_.push_back(r);
    }
    std::sort(sources_.begin(), sources_.end(), [](const ReadOf& a, const ReadOf& b) {
      return a.writer != b.writer ? a.writer < b.writer : a.op < b.op;
    });
    sources_.erase(
        std::unique(sources_.begin(), sources_.end(),
                    [](const ReadOf& a, const ReadOf& b) { return a.writer == b.writer; }),
        sources_.end());
  }

  // visit(key) for the keys that k writes and an open read is of; open reads are by key.
  template <typename Visit>
  Rejection for_each_common_key(TxnId k, std::span<const ReadOf> open, const Visit& visit) const {
    const auto writes = subject_.final_writes(k);
    const auto by_key = [](const ReadOf& r, KeyId key) { return r.key < key; };
    if (writes.size() < open.size()) {
      for (const auto& w : writes) {
        const auto it = std::lower_bound(open.begin(), open.end(), w.key, by_key);
        if (it == open.end() || it->key != w.key) continue;
        if (auto wrong = visit(static_cast<std::size_t>(it - open.begin()))) return wrong;
      }
      return std::nullopt;
    }
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (i > 0 && open[i - 1].key == open[i].key) continue;
      if (!subject_.writes_key(k, open[i].key)) continue;
      if (auto wrong = visit(i)) return wrong;
    }
    return std::nullopt;
  }

  // Read-committed: an earlier read of the transaction is from k. A key may be read many
  // times; of the reads after k was met the two with the oldest versions decide, the
  // second if the first is of k itself.
  Rejection earlier_reads() {
    struct Oldest {
      // Into the open reads of the transaction; second: of another writer.
      std::size_t first, second;
    };
    std::vector<Oldest> oldest;
    return for_each_reader([&](TxnId t, std::span<const ReadOf> open) -> Rejection {
      oldest.assign(open.size(), {});
      for (std::size_t i = open.size(); i-- > 0;) {
        oldest[i] = {i, i};
        if (i + 1 == open.size() || open[i + 1].key != open[i].key) continue;
        for (const std::size_t other : {oldest[i + 1].first, oldest[i + 1].second}) {
          Oldest& o = oldest[i];
          if (open[other].writer == open[o.first].writer) continue;
          if (at(open[other].writer) < at(open[o.first].writer)) {
            o.second = std::exchange(o.first, other);
          } else if (o.second == o.first || open[o.second].writer == open[o.first].writer ||
                     at(open[other].writer) < at(open[o.second].writer)) {
            o.second = other;
          }
        }
      }
      find_sources(t);
      for (const ReadOf& source : sources_) {
        const TxnId k = source.writer;
        auto wrong = for_each_common_key(k, open, [&](std::size_t i) -> Rejection {
          const KeyId key = open[i].key;
          while (i < open.size() && open[i].key == key && open[i].op <= source.op) ++i;
          if (i == open.size() || open[i].key != key) return std::nullopt;
          for (const std::size_t r : {oldest[i].first, oldest[i].second}) {
            if (open[r].writer != k && at(k) > at(open[r].writer))
              return broken(open[r], k, "an earlier read of the transaction is from it");
          }
          return std::nullopt;
        });
        if (wrong) return wrong;
      }
      return std::nullopt;
    });
  }

  // Read-atomic: k is a step of wr or so before the reader. Of a session's writers the last
  // before the reader decides, as they stand in session order.
  Rejection one_step() {
    auto wrong = for_each_reader([&](TxnId t, std::span<const ReadOf> open) -> Rejection {
      find_sources(t);
      for (const ReadOf& source : sources_) {
        const TxnId k = source.writer;
        auto why = for_each_common_key(k, open, [&](std::size_t i) -> Rejection {
          if (open[i].writer == k || at(k) < at(open[i].writer)) return std::nullopt;
          return broken(open[i], k, "the transaction reads from it");
        });
        if (why) return why;
      }
      return std::nullopt;
    });
    if (wrong) return wrong;
    std::vector<TxnId> last(h_.key_count());
    std::size_t next = 0;
    for (std::uint32_t i = 0; i < h_.txn_count(); ++i) {
      const TxnId t(i);
      for (; next < open_.size() && open_[next].reader == t; ++next) {
        const ReadOf& r = open_[next];
        const TxnId k = last[r.key.index()];
        if (!k.valid() || h_.session(k) != h_.session(t) || k == r.writer || at(k) < at(r.writer))
          continue;
        return broken(r, k, "earlier in its session");
      }
      if (!subject_.committed(t)) continue;
      for (const auto& w : subject_.final_writes(t)) last[w.key.index()] = t;
    }
    return std::nullopt;
  }

  // Causal: k is before the reader by steps of wr and so. Clocks: for each transaction and
  // each of some sessions, how far the session is in its past.
  static constexpr std::string_view kByPath = "by steps of session order and reads";
  static constexpr std::size_t kSessions = 16;
  using Clock = std::array<std::uint32_t, kSessions>;
  static constexpr std::size_t kLoneWords = 8;
  using Lone = std::array<std::uint64_t, kLoneWords>;

  Rejection causal() {
    // What is directly before each: by transaction, the last committed one of its session.
    previous_.resize(h_.txn_count());
    TxnId before;
    for (std::uint32_t i = 0; i < h_.txn_count(); ++i) {
      const TxnId t(i);
      if (before.valid() && h_.session(before) == h_.session(t)) previous_[i] = before;
      if (subject_.committed(t)) before = t;
    }
    by_txn_.first.assign(h_.key_count() + 1, 0);
    for (std::uint32_t i = 0; i < h_.txn_count(); ++i) {
      if (!subject_.committed(TxnId(i))) continue;
      for (const auto& w : subject_.final_writes(TxnId(i))) ++by_txn_.first[w.key.index() + 1];
    }
    base::counts_to_offsets(by_txn_.first);
    by_txn_.items.resize(by_txn_.first.back());
    auto next = by_txn_.first;
    for (std::uint32_t i = 0; i < h_.txn_count(); ++i) {
      if (!subject_.committed(TxnId(i))) continue;
      for (const auto& w : subject_.final_writes(TxnId(i)))
        by_txn_.items[next[w.key.index()]++] = i;
    }
    for (std::size_t first = 0; first < h_.session_count(); first += kSessions) {
      if (auto wrong = causal_sessions(first, std::min(first + kSessions, h_.session_count())))
        return wrong;
    }
    return causal_lone();
  }

  Rejection causal_sessions(std::size_t first, std::size_t end) {
    clocks_.assign(h_.txn_count(), {});
    for (const Number number : order_) {
      const TxnId t(number);
      Clock& clock = clocks_[number];
      const auto after = [&](TxnId before) {
        const Clock& its = clocks_[before.index()];
        for (std::size_t c = 0; c < kSessions; ++c) clock[c] = std::max(clock[c], its[c]);
        const SessionId session = h_.session(before);
        if (!subject_.committed(before) || session.index() < first || session.index() >= end)
          return;
        auto& mine = clock[session.index() - first];
        mine = std::max(mine, before.raw - h_.session_begin(session).raw + 1);
      };
      if (previous_[number].valid()) after(previous_[number]);
      for (const auto& r : reads_of(t)) {
        if (r.writer.valid()) after(r.writer);
      }
    }
    for (const ReadOf& r : open_) {
      const Clock& clock = clocks_[r.reader.index()];
      const auto between = writers_between(r);
      // The shorter of: everybody who stands between writer and reader, or of each session
      // the last writer of the key in the past.
      if (between.size() <= end - first) {
        for (const Position p : between) {
          const TxnId k(order_[p - 1]);
          const SessionId session = h_.session(k);
          if (session.index() < first || session.index() >= end || !subject_.committed(k)) continue;
          if (k.raw - h_.session_begin(session).raw < clock[session.index() - first])
            return broken(r, k, kByPath);
        }
        continue;
      }
      const auto writers = by_txn_.of(r.key);
      for (std::size_t c = 0; first + c < end; ++c) {
        if (clock[c] == 0) continue;
        const auto begin = h_.session_begin(SessionId(first + c)).raw;
        const auto it = std::lower_bound(writers.begin(), writers.end(), begin + clock[c]);
        if (it == writers.begin() || *(it - 1) < begin) continue;
        const TxnId k(*(it - 1));
        if (k != r.writer && at(k) > at(r.writer)) return broken(r, k, kByPath);
      }
    }
    return std::nullopt;
  }

  // Indeterminate transactions that somebody read from: nothing follows them in their session.
  Rejection causal_lone() {
    std::vector<TxnId> lone;
    std::vector<std::uint32_t> number(h_.txn_count(), kNone);
    for (const auto& r : reads_) {
      if (!r.writer.valid() || subject_.committed(r.writer) || number[r.writer.index()] != kNone)
        continue;
      number[r.writer.index()] = static_cast<std::uint32_t>(lone.size());
      lone.push_back(r.writer);
    }
    if (lone.empty()) return std::nullopt;
    // The open reads of each key that one of them writes.
    base::HashMap<KeyId, std::vector<std::uint32_t>> open_of;
    for (const TxnId k : lone) {
      for (const auto& w : subject_.final_writes(k)) open_of.try_emplace(w.key);
    }
    for (std::uint32_t i = 0; i < open_.size(); ++i) {
      const auto it = open_of.find(open_[i].key);
      if (it != open_of.end()) it->second.push_back(i);
    }
    constexpr std::size_t kBlock = 64 * kLoneWords;
    std::vector<Lone> seen;
    for (std::size_t first = 0; first < lone.size(); first += kBlock) {
      seen.assign(h_.txn_count(), {});
      for (const Number t : order_) {
        Lone& mine = seen[t];
        const auto after = [&](TxnId before) {
          for (std::size_t i = 0; i < kLoneWords; ++i) mine[i] |= seen[before.index()][i];
          const std::size_t n = number[before.index()];
          if (n != kNone && n >= first && n < first + kBlock)
            mine[(n - first) / 64] |= std::uint64_t{1} << ((n - first) % 64);
        };
        if (previous_[t].valid()) after(previous_[t]);
        for (const auto& r : reads_of(TxnId(t))) {
          if (r.writer.valid()) after(r.writer);
        }
      }
      for (std::size_t n = first; n < std::min(first + kBlock, lone.size()); ++n) {
        const TxnId k = lone[n];
        for (const auto& w : subject_.final_writes(k)) {
          for (const auto i : open_of.at(w.key)) {
            const ReadOf& r = open_[i];
            const bool visible =
                (seen[r.reader.index()][(n - first) / 64] >> ((n - first) % 64) & 1) != 0;
            if (visible && k != r.writer && at(k) > at(r.writer)) return broken(r, k, kByPath);
          }
        }
      }
    }
    return std::nullopt;
  }

  struct Named {
    TxnId writer;
    bool used;
  };

  Subject& subject_;
  const History& h_;
  const Shape shape_;
  const std::vector<Number>& order_;
  SeenWriters seen_;  // empty: not asked for
  std::vector<Position> position_;
  OwnWrites own_;
  ByKey writers_;  // positions
  base::HashMap<KeyId, Laid> lists_;
  base::HashMap<std::pair<std::uint32_t, std::uint32_t>, Named> named_;  // by operation and key
  base::HashMap<std::array<std::uint32_t, 3>, std::vector<TxnId>> few_;
  std::vector<External> externals_;
  std::vector<ReadOf> reads_;  // by reader, then key, then operation
  std::vector<std::uint32_t> read_first_;
  std::vector<ReadOf> open_;  // likewise
  std::vector<ReadOf> sources_;
  std::vector<TxnId> previous_;
  ByKey by_txn_;  // committed writers, by number
  std::vector<Clock> clocks_;
};

}  // namespace

Rejection satisfies_weak(Subject& subject, const Shape& shape, const std::vector<Number>& order,
                         const std::vector<ReadFrom>& reads_from,
                         const std::vector<Place>& placings, SeenWriters* seen) {
  return Weak(subject, shape, order).run(reads_from, placings, seen);
}

}  // namespace cupel::certify
