// Soundness, by search: of what a level does allow, nothing may be proven.
//
// On small random histories that the oracle says satisfy a level, edges of every kind
// are tried with fields taken at random; those that the verifier lets pass as edges are
// kept, and every cycle they make is offered as a contradiction, alone and as clauses
// over all choices there are. None may be accepted. And random orders: accepted only
// where the oracle says satisfied. Of anomalies inside one transaction every claim is
// tried. CUPEL_CERTIFY_SEEDS=N: so many histories of each kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <span>

#include "base/random.hpp"
#include "certify/certificates.hpp"
#include "engine/certify/internal.hpp"
#include "engine/levels/level.hpp"
#include "oracle/oracle.hpp"
#include "property/random_history.hpp"

namespace cupel::test {
namespace {

using base::Random;
using history::History;
using history::OpId;
using history::OpKind;
using history::TxnId;
using levels::Level;

std::uint64_t seeds_per_kind() {
  const char* said = std::getenv("CUPEL_CERTIFY_SEEDS");
  return said == nullptr ? 3 : std::strtoull(said, nullptr, 10);
}

bool level_applies(const History& h, Level level) {
  if (levels::needs_real_time(level) && !h.has_all_times()) return false;
  return level != Level::kLinearizable || oracle::is_single_object(h);
}

// Tries edges, and keeps those that pass.
class Prover {
 public:
  Prover(const History& h, Level level, Random& random)
      : h_(h), level_(level), random_(random), certificate_(empty_certificate(h)) {
    certificate_["answers"].push_back(
        {{"level", levels::name(level)}, {"verdict", "violated"}, {"proof", 0}});
    certificate_["proofs"].push_back({{"level", levels::name(level)}, {"verdict", "violated"}});
    for (std::size_t t = 0; t < h.txn_count(); ++t) {
      for (auto i = h.first_op(TxnId(t)); i < h.last_op(TxnId(t)); ++i) {
        const auto op = h.op(OpId(i));
        if (op.key.valid())
          (op.kind == OpKind::kRead || op.kind == OpKind::kListRead ? reads_ : writes_)
              .push_back({t, i, op.key.raw});
        if (op.kind == OpKind::kCompareAndSet) reads_.push_back({t, i, op.key.raw});
        if (op.kind != OpKind::kRangeRead) continue;
        for (std::size_t k = 0; k < h.key_count(); ++k) reads_.push_back({t, i, k});
      }
    }
  }

  // "" or the certificate that was accepted.
  std::string run(int tries) {
    for (int i = 0; i < tries; ++i) {
      Json edge = random_edge();
      edges_.push_back(edge);
      if (passes()) continue;
      edges_.erase(edges_.size() - 1);
    }
    const auto found = cycles();
    for (const auto& cycle : found) {
      if (offer({{"edges", edges_}, {"cycle", cycle}})) return certificate_.dump();
    }
    if (found.empty()) return {};
    // As clauses, with all the choices that are any.
    Json choices = choices_that_pass();
    Json clauses = Json::array();
    for (const auto& cycle : found) {
      clauses.push_back(cycle);
      const auto said = trouble_of({{"choices", choices},
                                    {"edges", edges_},
                                    {"clauses", clauses},
                                    {"refutation", Json::array({Json::array()})}});
      if (said.empty()) return certificate_.dump();
      if (said.find("refutation[0]") == std::string::npos) clauses.erase(clauses.size() - 1);
    }
    clauses_ += static_cast<int>(clauses.size());
    // Units that follow, so that propagation goes deeper.
    Json refutation = Json::array();
    for (int round = 0; round < 2; ++round) {
      for (int v = 1; v <= static_cast<int>(choices.size()); ++v) {
        for (const int literal : {v, -v}) {
          refutation.push_back(Json::array({literal}));
          refutation.push_back(Json::array());
          const auto said = trouble_of({{"choices", choices},
                                        {"edges", edges_},
                                        {"clauses", clauses},
                                        {"refutation", refutation}});
          if (said.empty()) return certificate_.dump();
          refutation.erase(refutation.size() - 1);
          if (said.find("refutation[" + std::to_string(refutation.size() - 1) + "]") !=
              std::string::npos) {
            refutation.erase(refutation.size() - 1);
          }
        }
      }
    }
    return {};
  }

  [[nodiscard]] std::size_t edges() const { return edges_.size(); }
  [[nodiscard]] int cycles_offered() const { return offered_; }
  [[nodiscard]] int clauses() const { return clauses_; }

 private:
  struct Use {
    std::size_t txn, op, key;
  };

  std::string trouble_of(const Json& derivation) {
    certificate_["proofs"][0]["derivation"] = derivation;
    return trouble(h_, certificate_);
  }
  bool offer(const Json& derivation) {
    ++offered_;
    return trouble_of(derivation).empty();
  }
  // The last edge is well if what is wrong is the missing cycle.
  bool passes() {
    return trouble_of({{"edges", edges_}, {"cycle", Json::array()}}).find("derivation: cycle: ") !=
           std::string::npos;
  }

  const Use& use(const std::vector<Use>& of) { return of[random_.below(of.size())]; }
  std::size_t final_write(std::size_t t, std::size_t key) {
    std::size_t last = random_.below(h_.op_count());
    for (const auto& w : writes_) {
      if (w.txn == t && w.key == key) last = w.op;
    }
    return last;
  }

  Json random_edge() {
    const bool split = levels::has_begin_and_commit(level_);
    const std::size_t a = random_.below(h_.txn_count()), b = random_.below(h_.txn_count());
    const auto at = [&](Json& e, const char* likely) {
      static constexpr const char* kPoints[] = {"bb", "bc", "cb", "cc"};
      if (split) e["at"] = random_.chance(0.8) ? likely : kPoints[random_.below(4)];
    };
    Json e = {{"from", a}, {"to", b}, {"kind", "so"}, {"reason", "given"}};
    const auto dice = random_.below(14);
    if (dice < 2 || reads_.empty() || writes_.empty()) {
      at(e, "cb");
      if (dice == 1) e["kind"] = "rt";
      return e;
    }
    if (dice == 2) {
      e["kind"] = "own";
      e["to"] = a;
      at(e, "bc");
      return e;
    }
    const Use& read = use(reads_);
    // A writer of the same key, mostly.
    Use write = use(writes_);
    for (int i = 0; i < 6 && write.key != read.key; ++i) write = use(writes_);
    Use other = use(writes_);
    for (int i = 0; i < 6 && other.key != read.key; ++i) other = use(writes_);
    e["key"] = read.key;
    const bool no_split_target = level_ == Level::kPrefix;
    if (dice < 6) {
      e = {{"from", write.txn}, {"to", read.txn},
           {"kind", "wr"},      {"reason", dice < 5 ? "given" : "assumed"},
           {"key", read.key},   {"write", final_write(write.txn, read.key)},
           {"read", read.op}};
      at(e, "cb");
      if (dice == 5 && random_.chance(0.3)) e["bound"] = random_.chance(0.5) ? "later" : "earlier";
      if (dice == 4 && random_.chance(0.7)) {
        e["reason"] = "only-writer";
        e["excluded"] = random_exclusions();
      }
    } else if (dice < 10) {
      e = {{"from", other.txn},
           {"to", write.txn},
           {"kind", "ww"},
           {"reason", "visible"},
           {"key", read.key},
           {"writes", {final_write(other.txn, read.key), final_write(write.txn, read.key)}}};
      at(e, no_split_target ? "cc" : "cb");
      if (dice == 6) {
        e["reason"] = "list-order";
        e["read"] = read.op;
      } else if (dice == 7) {
        e["reason"] = "no-overlap";
        e["because"] = random_path(e["from"], e["to"]);
      } else if (dice == 8 && random_.chance(0.5)) {
        e["reason"] = "assumed";
      } else {
        e["read"] = read.op;
        e["because"] = random_path(e["from"], read.txn);
        if (random_.chance(0.3)) e["bound"] = random_.chance(0.8) ? "earlier" : "later";
      }
    } else if (dice < 13) {
      e = {{"from", read.txn},    {"to", other.txn}, {"kind", "rw"},
           {"reason", "initial"}, {"key", read.key}, {"read", read.op}};
      at(e, "bc");
      if (dice > 10) {
        e["reason"] = dice == 11 ? "overwritten" : "assumed";
        if (random_.chance(0.9))
          e["writer"] = write.txn;
        else
          e["writer"] = nullptr;
        if (dice == 11 || random_.chance(0.3)) e["because"] = random_path(write.txn, other.txn);
      }
    } else {
      e = {{"from", read.txn},
           {"to", read.txn},
           {"kind", "saw"},
           {"reason", "only-writer"},
           {"key", read.key},
           {"read", read.op},
           {"excluded", random_exclusions()}};
    }
    return e;
  }

  // Along the edges so far, from anywhere of one transaction towards another.
  Json random_path(const Json& from, const Json& to) {
    Json path = Json::array();
    std::string here;
    std::size_t txn = from;
    for (int steps = 0; steps < 4; ++steps) {
      std::vector<std::size_t> next;
      for (std::size_t i = 0; i < edges_.size(); ++i) {
        if (edges_[i]["kind"] == "saw" || edges_[i]["from"] != txn) continue;
        if (!here.empty() && here != begins(i)) continue;
        next.push_back(i);
        if (edges_[i]["to"] == to) next.insert(next.end(), 3, i);
      }
      if (next.empty()) break;
      const auto i = next[random_.below(next.size())];
      path.push_back(i);
      txn = edges_[i]["to"];
      here = ends(i);
      if (txn == to && random_.chance(0.7)) break;
    }
    return path;
  }
  [[nodiscard]] std::string begins(std::size_t i) const { return point(i, 0); }
  [[nodiscard]] std::string ends(std::size_t i) const { return point(i, 1); }
  [[nodiscard]] std::string point(std::size_t i, std::size_t which) const {
    return edges_[i].contains("at") ? edges_[i]["at"].get<std::string>().substr(which, 1) : "w";
  }

  Json random_exclusions() {
    Json excluded = Json::array();
    const auto found = cycles();
    if (found.empty()) return excluded;
    for (auto count = 1 + random_.below(2); count > 0; --count) {
      Json x = {{"writer", random_.below(h_.txn_count())},
                {"cycle", found[random_.below(found.size())]}};
      if (random_.chance(0.2)) x["writer"] = nullptr;
      excluded.push_back(std::move(x));
    }
    return excluded;
  }

  // Short cycles of the edges, each once.
  std::vector<std::vector<std::size_t>> cycles() const {
    std::map<std::string, std::vector<std::size_t>> out;
    const auto node = [&](std::size_t i, std::size_t which) {
      return std::to_string(edges_[i][which == 0 ? "from" : "to"].get<std::size_t>()) +
             point(i, which);
    };
    std::vector<std::string> from, to;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      from.push_back(node(i, 0));
      to.push_back(node(i, 1));
      if (edges_[i]["kind"] != "saw") out[from.back()].push_back(i);
    }
    std::vector<std::vector<std::size_t>> found;
    std::vector<std::size_t> path;
    int steps = 0;
    const auto walk = [&](const auto& self, std::size_t start) -> void {
      if (++steps > 2000 || found.size() > 60) return;
      const auto& here = to[path.back()];
      if (here == from[start]) {
        found.push_back(path);
        return;
      }
      if (path.size() == 5) return;
      const auto it = out.find(here);
      if (it == out.end()) return;
      for (const auto i : it->second) {
        if (i <= start) continue;
        path.push_back(i);
        self(self, start);
        path.pop_back();
      }
    };
    for (std::size_t start = 0; start < edges_.size(); ++start) {
      if (edges_[start]["kind"] == "saw") continue;
      path = {start};
      walk(walk, start);
    }
    return found;
  }

  Json choices_that_pass() {
    Json choices = Json::array();
    const auto consider = [&](Json choice) {
      choices.push_back(std::move(choice));
      if (choices.size() > 60 ||
          trouble_of({{"choices", choices}, {"edges", edges_}, {"cycle", Json::array()}})
                  .find("derivation: cycle: ") == std::string::npos) {
        choices.erase(choices.size() - 1);
      }
    };
    for (std::size_t a = 0; a < h_.txn_count(); ++a) {
      for (std::size_t b = a + 1; b < h_.txn_count(); ++b) consider({{"before", {a, b}}});
    }
    for (const auto& read : reads_) {
      consider({{"read", read.op}, {"key", read.key}, {"writer", nullptr}});
      for (std::size_t w = 0; w < h_.txn_count(); ++w) {
        consider({{"read", read.op}, {"key", read.key}, {"writer", w}});
        consider({{"read", read.op}, {"key", read.key}, {"writer", w}, {"bound", "earlier"}});
        consider({{"read", read.op}, {"key", read.key}, {"writer", w}, {"bound", "later"}});
      }
    }
    return choices;
  }

  const History& h_;
  const Level level_;
  Random& random_;
  Json certificate_;
  Json edges_ = Json::array();
  std::vector<Use> reads_, writes_;
  int offered_ = 0, clauses_ = 0;
};

class Sound : public testing::TestWithParam<int> {};

TEST_P(Sound, NothingIsProvenOfWhatALevelAllows) {
  const auto kind = static_cast<Kind>(GetParam());
  std::size_t edges = 0;
  int cycles = 0, clauses = 0;
  for (std::uint64_t i = 0; i < seeds_per_kind(); ++i) {
    const std::uint64_t seed = (1000 + i) * kKindCount + static_cast<std::uint64_t>(kind);
    const History h = build(random_sketch(kind, seed));
    if (oracle::writer_choices(h) > 400 || h.op_count() == 0) continue;
    Random random(seed);
    for (const Level level : levels::all_levels()) {
      if (!level_applies(h, level) || !oracle::oracle_satisfies(h, level)) continue;
      Prover prover(h, level, random);
      const auto accepted = prover.run(250);
      ASSERT_EQ(accepted, "") << "seed " << seed << "\n" << to_text(h);
      edges += prover.edges();
      cycles += prover.cycles_offered();
      clauses += prover.clauses();
    }
  }
  std::printf("  %zu edges passed, %d cycles refused, %d clauses\n", edges, cycles, clauses);
}

// How many claims of an anomaly inside one transaction are accepted, of all that name an
// operation, a key and another operation.
int internal_claims(const History& h, Level level) {
  certify::Subject subject(h);
  certify::Context context(subject, certify::shape_of(*certify::level_named(levels::name(level))),
                           0);
  int accepted = 0;
  for (std::uint32_t read = 0; read < h.op_count(); ++read) {
    for (std::uint32_t key = 0; key < h.key_count(); ++key) {
      for (std::uint32_t other = 0; other <= h.op_count(); ++other) {
        const bool none = other == h.op_count();
        for (const auto* name :
             {"thin-air-read", "aborted-read", "intermediate-read", "future-read",
              "not-my-own-write", "not-my-last-write", "incompatible-order", "duplicate-element",
              "non-repeatable-read", "failed-compare-read"}) {
          const certify::InternalAnomaly claim{
              name,
              subject.txn_of(OpId(read)).raw,
              read,
              key,
              none ? certify::kNone : other,
              none ? certify::kNone : subject.txn_of(OpId(other)).raw};
          accepted += certify::shows_internal(context, claim) ? 0 : 1;
        }
      }
    }
  }
  return accepted;
}

TEST_P(Sound, NoAnomalyIsFoundInsideWhatALevelAllows) {
  const auto kind = static_cast<Kind>(GetParam());
  int accepted = 0;
  for (std::uint64_t i = 0; i < 15 * seeds_per_kind(); ++i) {
    const std::uint64_t seed = (2000 + i) * kKindCount + static_cast<std::uint64_t>(kind);
    const History h = build(random_sketch(kind, seed));
    if (oracle::writer_choices(h) > 400) continue;
    for (const Level level : {Level::kReadCommitted, Level::kReadAtomic, Level::kSerializable}) {
      const int claims = internal_claims(h, level);
      accepted += claims;
      if (claims == 0) continue;
      ASSERT_FALSE(oracle::oracle_satisfies(h, level))
          << levels::name(level) << ", seed " << seed << "\n"
          << to_text(h);
    }
  }
  EXPECT_GT(accepted, 0);
}

// The same search does prove violations, so it would find what it looks for. (Of those that
// show inside one transaction it knows nothing.)
TEST(Search, FindsProofs) {
  int proven = 0, asked = 0;
  for (std::uint64_t seed = 0; seed < 4000 && asked < 24; ++seed) {
    const History h = build(random_sketch(kind_of_seed(seed), seed));
    if (oracle::writer_choices(h) > 400 || h.op_count() == 0) continue;
    const Level level = seed % 2 == 0 ? Level::kCausal : Level::kStrongSessionSerializable;
    if (oracle::oracle_satisfies(h, level) || !oracle::oracle_satisfies(h, Level::kReadCommitted))
      continue;
    Random random(seed);
    ++asked;
    proven += !Prover(h, level, random).run(400).empty();
  }
  std::printf("  %d of %d violations proven by chance\n", proven, asked);
  EXPECT_GE(proven, 4);
}

TEST_P(Sound, RandomOrdersAreAcceptedOnlyWhereSatisfied) {
  const auto kind = static_cast<Kind>(GetParam());
  int accepted = 0, refused = 0;
  for (std::uint64_t i = 0; i < 16 * seeds_per_kind(); ++i) {
    const std::uint64_t seed = (5000 + i) * kKindCount + static_cast<std::uint64_t>(kind);
    const History h = build(random_sketch(kind, seed));
    if (oracle::writer_choices(h) > 400) continue;
    Random random(seed);
    for (const Level level : levels::all_levels()) {
      if (!level_applies(h, level)) continue;
      for (int t = 0; t < 25; ++t) {
        std::vector<std::size_t> order;
        for (std::size_t txn = 0; txn < h.txn_count(); ++txn) {
          const bool in =
              h.status(TxnId(txn)) == history::TxnStatus::kCommitted ||
              (h.status(TxnId(txn)) == history::TxnStatus::kIndeterminate && random.chance(0.5));
          if (in) order.push_back(txn);
          if (in && levels::has_begin_and_commit(level)) order.push_back(txn);
        }
        random.shuffle(std::span(order));
        // Every other time the sessions in their order.
        if (t % 2 == 0) {
          std::map<std::uint32_t, std::vector<std::size_t>> places;
          for (std::size_t p = 0; p < order.size(); ++p)
            places[h.session(TxnId(order[p])).raw].push_back(p);
          for (const auto& [session, at] : places) {
            std::vector<std::size_t> txns;
            for (const auto p : at) txns.push_back(order[p]);
            std::sort(txns.begin(), txns.end());
            for (std::size_t j = 0; j < at.size(); ++j) order[at[j]] = txns[j];
          }
        }
        Json c = empty_certificate(h);
        c["answers"].push_back(
            {{"level", levels::name(level)}, {"verdict", "satisfied"}, {"proof", 0}});
        Json proof = {{"level", levels::name(level)}, {"verdict", "satisfied"}};
        if (level == Level::kLinearizable) {
          proof["orders"] = Json::array();
          for (std::size_t k = 0; k < h.key_count(); ++k) {
            Json of_key = Json::array();
            for (const auto txn : order) {
              const auto first = h.first_op(TxnId(txn));
              if (first != h.last_op(TxnId(txn)) && h.op(OpId(first)).key.raw == k)
                of_key.push_back(txn);
            }
            proof["orders"].push_back({{"key", k}, {"order", of_key}});
          }
        } else {
          proof["order"] = order;
        }
        if (levels::is_weak(level)) {
          proof["reads_from"] = Json::array();
          // Where the verifier asks for a writer: any.
          for (std::size_t o = 0; o < h.op_count() && random.chance(0.3); ++o) {
            const auto op = h.op(OpId(o));
            if (op.kind != OpKind::kRead || !random.chance(0.5)) continue;
            proof["reads_from"].push_back({o, op.key.raw, random.below(h.txn_count())});
          }
        }
        c["proofs"].push_back(proof);
        const bool valid = trouble(h, c).empty();
        ++(valid ? accepted : refused);
        if (!valid) continue;
        ASSERT_TRUE(oracle::oracle_satisfies(h, level)) << to_text(h) << "\n" << c.dump();
      }
    }
  }
  std::printf("  %d orders accepted, %d refused\n", accepted, refused);
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Sound, testing::Range(0, kKindCount), [](const auto& info) {
  std::string text(name(static_cast<Kind>(info.param)));
  for (char& c : text) c = c == '-' ? '_' : c;
  return text;
});

}  // namespace
}  // namespace cupel::test
