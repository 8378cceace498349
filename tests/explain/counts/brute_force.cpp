// counts_by_brute_force: see the header.
#include "explain/counts/brute_force.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

namespace cupel::test {

using history::History;
using history::KeyId;
using history::OpId;
using history::OpKind;
using history::TxnId;
using history::TxnStatus;
using history::ValueId;

namespace {

constexpr int kInitial = -1;

struct Read {
  std::uint32_t txn, op;
  std::uint32_t key;
  int writer;  // a transaction, or kInitial
  bool first;  // of its key in the transaction
};

class Counter {
 public:
  explicit Counter(const History& h) : h_(h), n_(h.txn_count()) {}

  std::optional<std::map<std::string, std::uint64_t>> run() {
    if (!collect()) return std::nullopt;
    close();
    cycles();
    missed();
    lost_updates();
    write_skews();
    long_forks();
    std::erase_if(counts_, [](const auto& one) { return one.second == 0; });
    return counts_;
  }

 private:
  bool collect() {
    writes_.resize(n_);
    for (std::uint32_t t = 0; t < n_; ++t) {
      if (h_.status(TxnId(t)) == TxnStatus::kIndeterminate) return false;
      for (auto i = h_.first_op(TxnId(t)); i < h_.last_op(TxnId(t)); ++i) {
        const auto op = h_.op(OpId(i));
        if (op.kind != OpKind::kRead && op.kind != OpKind::kWrite) return false;
        if (op.kind == OpKind::kWrite && committed(t)) writes_[t][op.key.raw] = op.value;
      }
    }
    for (std::uint32_t t = 0; t < n_; ++t) {
      if (!committed(t)) continue;
      std::set<std::uint32_t> own, seen;
      for (auto i = h_.first_op(TxnId(t)); i < h_.last_op(TxnId(t)); ++i) {
        const auto op = h_.op(OpId(i));
        if (op.kind == OpKind::kWrite) own.insert(op.key.raw);
        if (op.kind != OpKind::kRead || own.contains(op.key.raw) || !op.value.valid()) continue;
        std::vector<int> writers;
        if (h_.initial_value(op.key) == op.value) writers.push_back(kInitial);
        for (std::uint32_t w = 0; w < n_; ++w) {
          const auto it = writes_[w].find(op.key.raw);
          if (w != t && it != writes_[w].end() && it->second == op.value) {
            writers.push_back(static_cast<int>(w));
          }
        }
        if (writers.size() > 1) return false;
        if (writers.empty()) continue;  // an internal anomaly
        reads_.push_back({t, i, op.key.raw, writers[0], seen.insert(op.key.raw).second});
      }
    }
    return true;
  }
  [[nodiscard]] bool committed(std::uint32_t t) const {
    return h_.status(TxnId(t)) == TxnStatus::kCommitted;
  }
  [[nodiscard]] bool writes(int t, std::uint32_t key) const {
    return t != kInitial && writes_[static_cast<std::size_t>(t)].contains(key);
  }
  [[nodiscard]] bool same_session(std::uint32_t a, std::uint32_t b) const {
    return h_.session(TxnId(a)) == h_.session(TxnId(b));
  }

  static void transitive(std::vector<std::vector<bool>>& to) {
    for (std::size_t k = 0; k < to.size(); ++k) {
      for (std::size_t i = 0; i < to.size(); ++i) {
        for (std::size_t j = 0; to[i][k] && j < to.size(); ++j) {
          if (to[k][j]) to[i][j] = true;
        }
      }
    }
  }
  void close() {
    past_.assign(n_, std::vector<bool>(n_, false));
    by_reads_ = past_;
    for (std::uint32_t a = 0; a < n_; ++a) {
      for (std::uint32_t b = a + 1; b < n_; ++b) {
        past_[a][b] = committed(a) && committed(b) && same_session(a, b);
      }
    }
    for (const auto& r : reads_) {
      if (r.writer == kInitial) continue;
      past_[static_cast<std::size_t>(r.writer)][r.txn] = true;
      by_reads_[static_cast<std::size_t>(r.writer)][r.txn] = true;
    }
    transitive(past_);
    transitive(by_reads_);
  }
  [[nodiscard]] bool before(int a, int b) const {
    return past_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
  }
  [[nodiscard]] bool older(int w, int k) const { return w == kInitial || before(w, k); }

  void cycles() {
    std::vector<bool> done(n_, false);
    for (std::uint32_t a = 0; a < n_; ++a) {
      if (done[a] || !past_[a][a]) continue;
      bool reads = false;
      for (std::uint32_t b = 0; b < n_; ++b) {
        if (!past_[a][b] || !past_[b][a]) continue;
        done[b] = true;
        reads = reads || by_reads_[b][b];
      }
      ++counts_[reads ? "G1c" : "G1c-process"];
    }
  }

  // The name of what the read missed, or nothing.
  std::string name_of(const Read& r) const {
    bool session = false, fractured = false, causal = false;
    for (const auto& e : reads_) {
      if (e.txn != r.txn || e.writer == kInitial || e.writer == r.writer) continue;
      if (!writes(e.writer, r.key)) continue;
      if (older(r.writer, e.writer) && e.op < r.op) return "non-monotonic-read";
      if (!e.first || !r.first) continue;
      if (older(r.writer, e.writer) || writes(r.writer, e.key)) fractured = true;
    }
    if (!r.first) return {};
    // The last writer of the key in each session, before it or in its past.
    int last = kInitial;
    for (std::uint32_t k = 0; k < r.txn; ++k) {
      if (committed(k) && same_session(k, r.txn) && writes(static_cast<int>(k), r.key)) {
        last = static_cast<int>(k);
      }
    }
    session = last != kInitial && last != r.writer && older(r.writer, last);
    // In a cycle the past of a transaction may hold what follows in its own session.
    std::map<std::uint32_t, int> last_of;
    for (std::uint32_t k = 0; k < n_; ++k) {
      if (k == r.txn || !writes(static_cast<int>(k), r.key)) continue;
      if (before(static_cast<int>(k), static_cast<int>(r.txn))) {
        last_of[h_.session(TxnId(k)).raw] = static_cast<int>(k);
      }
    }
    for (const auto& [in, k] : last_of) {
      if (k != r.writer && k != last && older(r.writer, k)) causal = true;
    }
    // A non-repeatable read.
    for (const auto& e : reads_) {
      if (e.txn == r.txn && e.key == r.key && e.writer != r.writer) causal = false;
    }
    return session     ? "session-guarantee-violation"
           : fractured ? "fractured-read"
           : causal    ? "causality-violation"
                       : "";
  }
  void missed() {
    std::set<std::pair<std::uint32_t, std::string>> found;
    for (const auto& r : reads_) {
      const auto name = name_of(r);
      stale_.push_back(!name.empty());
      if (!name.empty()) found.insert({r.txn, name});
    }
    for (const auto& [txn, name] : found) ++counts_[name];
  }

  [[nodiscard]] const Read* read_of(std::uint32_t t, std::uint32_t key) const {
    for (const auto& r : reads_) {
      if (r.txn == t && r.key == key && r.first) return &r;
    }
    return nullptr;
  }
  [[nodiscard]] bool fresh(const Read& r) const {
    return r.first && !stale_[static_cast<std::size_t>(&r - reads_.data())];
  }
  // Does t certainly overwrite that version?
  [[nodiscard]] bool overwrites(std::uint32_t t, int writer, std::uint32_t key) const {
    if (!writes(static_cast<int>(t), key) || static_cast<int>(t) == writer) return false;
    const Read* r = read_of(t, key);
    return r == nullptr ? writer == kInitial : r->writer == writer;
  }

  void lost_updates() {
    std::map<std::pair<int, std::uint32_t>, int> updaters;
    for (const auto& r : reads_) {
      if (r.first && writes(static_cast<int>(r.txn), r.key)) ++updaters[{r.writer, r.key}];
    }
    for (const auto& [version, number] : updaters) counts_["lost-update"] += number > 1 ? 1 : 0;
  }
  void write_skews() {
    for (std::uint32_t a = 0; a < n_; ++a) {
      for (std::uint32_t b = a + 1; b < n_; ++b) {
        bool skew = false, lost = false;
        for (const auto& p : reads_) {
          for (const auto& q : reads_) {
            if (p.txn != a || q.txn != b || !p.first || !q.first) continue;
            if (p.key == q.key && p.writer == q.writer &&
                !stale_[static_cast<std::size_t>(&q - reads_.data())]) {
              lost = lost ||
                     (writes(static_cast<int>(a), p.key) && writes(static_cast<int>(b), p.key));
            }
            if (p.key != q.key && fresh(p) && fresh(q) && overwrites(b, p.writer, p.key) &&
                overwrites(a, q.writer, q.key)) {
              skew = true;
            }
          }
        }
        counts_["write-skew"] += skew && !lost ? 1 : 0;
      }
    }
  }
  void long_forks() {
    using Version = std::pair<std::uint32_t, int>;  // key, writer
    std::set<std::pair<Version, Version>> facts;
    for (const auto& p : reads_) {
      for (const auto& q : reads_) {
        if (p.txn != q.txn || p.key == q.key || !fresh(p) || !fresh(q) || p.writer == kInitial)
          continue;
        for (std::uint32_t c = 0; c < n_; ++c) {
          if (c == p.txn || static_cast<int>(c) == p.writer || !overwrites(c, q.writer, q.key))
            continue;
          facts.insert({{p.key, p.writer}, {q.key, static_cast<int>(c)}});
        }
      }
    }
    for (const auto& [saw, lacked] : facts) {
      counts_["long-fork"] += saw < lacked && facts.contains({lacked, saw}) ? 1 : 0;
    }
  }

  const History& h_;
  const std::size_t n_;
  std::vector<std::map<std::uint32_t, ValueId>> writes_;  // by transaction and key
  std::vector<Read> reads_;
  std::vector<bool> stale_;  // by read
  std::vector<std::vector<bool>> past_, by_reads_;
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace

std::optional<std::map<std::string, std::uint64_t>> counts_by_brute_force(const History& history) {
  return Counter(history).run();
}

}  // namespace cupel::test
