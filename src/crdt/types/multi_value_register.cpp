// Multi-value register: a read returns the values of all visible writes that are not causally
// overwritten by any visible write.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/solve/encoder.hpp"
#include "crdt/types/kept_writes.hpp"
#include "crdt/types/register.hpp"

namespace cupel::crdt {

namespace {

class SiblingsReplica final : public KeptWrites {
 public:
  SiblingsReplica(const History& history, std::string_view bug, std::uint32_t self)
      : KeptWrites(history, bug.empty() ? Bug::kAbsent : Bug::kDropsSiblings, self) {}

  void answer(Operation& read, std::vector<std::uint32_t>& list) override {
    for (const OpId w : live(read.key)) {
      const auto e = h_.ops[w].element;
      if (std::find(list.begin(), list.end(), e) == list.end()) list.push_back(e);
    }
  }
};

class MultiValueRegister final : public RegisterType {
 public:
  MultiValueRegister()
      : RegisterType(
            {.names = {{"multi-value-register"}, {"mv-register"}, {"mvr"}},
             .whole_read = Kind::kValues,
             .bugs = {{"write-drops-sibling",
                       "a write that arrives also replaces values that it has not seen"}},
             .injected = {"loses-update", "applies-again", "reorders-updates"},
             // Replicas that return one value twice mean that two writes of it are concurrent.
             .calls = forms(Argument::kElement, Answer::kValues,
                            "the array of the values, none of them null"),
             .methods = kMethods,
             .decide_context = decide_known_siblings,
             .simulate = simulate_by<SiblingsReplica>}) {}

  std::optional<Decision> decide_quickly(const History& history, const Axioms& /*axioms*/,
                                         base::Budget& budget, Effort effort) const override {
    if (effort == Effort::kAgain) return std::nullopt;
    return decide_register(history, /*last_writer_wins=*/false, budget);
  }

 private:
  // A write that is seen is returned, or overwritten by one that is seen too; each value that is
  // returned has a write that is seen and not overwritten, as many as it is returned times.
  bool encode_read(Encoder& encoder, OpId read) const override {
    const History& h = encoder.history();
    const auto& writes = encoder.updates_of(h.ops[read].key);
    std::map<std::uint32_t, Clause> returned;
    std::map<std::uint32_t, std::map<std::uint32_t, Clause>> by_replica;  // the same
    std::map<std::uint32_t, std::size_t> times;
    for (const auto e : h.list(h.ops[read])) {
      returned[e];
      ++times[e];
    }
    for (const OpId w : writes) {
      const Literal s = encoder.seen(read, w);
      if (s == encoder.never()) continue;
      Clause explained{-s};
      const auto value = returned.find(h.ops[w].element);
      Literal maximal = 0;
      if (value != returned.end()) {
        maximal = encoder.new_variable();
        value->second.push_back(maximal);
        by_replica[value->first][h.ops[w].replica].push_back(maximal);
        explained.push_back(maximal);
        encoder.clause({-maximal, s});
      }
      for (const OpId other : writes) {
        if (encoder.too_much()) return false;
        if (other == w) continue;
        if (maximal != 0)
          encoder.clause({-maximal, -encoder.seen(read, other), -encoder.seen(other, w)});
        const Literal v = encoder.both(encoder.seen(read, other), encoder.seen(other, w));
        if (v != encoder.never()) explained.push_back(v);
      }
      encoder.clause(explained);
    }
    for (const auto& [value, some] : returned) {
      encoder.clause(some);
      if (times[value] > 1) encode_times(encoder, by_replica[value], times[value]);
      for (std::size_t a = 0; encoder.axioms().strict && a < some.size(); ++a) {
        for (std::size_t b = a + 1; b < some.size(); ++b) encoder.clause({-some[a], -some[b]});
      }
    }
    return true;
  }

  void explain_values(ReadExplainer& explainer) const override {
    const auto list = explainer.history().list(explainer.read());
    if (const auto value = returned_too_often(explainer); value != kNone) {
      explainer.report("value-twice",
                       fmt::format("{} returned {} more often than replicas have written it, and "
                                   "each overwrites its own writes",
                                   explainer.text(), explainer.history().element_text(value)));
    } else if (list.size() > 1) {
      explainer.report(
          "wrong-siblings",
          fmt::format("{} does not return exactly the writes that it has seen and that "
                      "are not causally overwritten by any visible write",
                      explainer.text()));
    } else if (is_stale(explainer, list[0])) {
      explainer.report(
          "stale-read",
          fmt::format("{} returned a value although its replica had seen a later write",
                      explainer.text()));
    } else {
      explainer.report(
          "lost-sibling",
          fmt::format("{} leaves out a write that it has seen and that what it returned "
                      "cannot have overwritten",
                      explainer.text()));
    }
  }

  // At least so many of these writes. A replica's later write overwrites its earlier one, so as
  // many replicas have one; they are counted one after the other.
  static void encode_times(Encoder& encoder, const std::map<std::uint32_t, Clause>& by_replica,
                           std::size_t times) {
    if (by_replica.size() < times) return encoder.clause({});
    std::vector<Literal> least(times + 1, encoder.never());  // so many of the replicas until now
    least[0] = encoder.always();
    for (const auto& [replica, writes] : by_replica) {
      auto with = least;
      for (std::size_t count = 1; count <= times; ++count) {
        with[count] = encoder.new_variable();
        Clause one{-with[count], least[count]};
        one.insert(one.end(), writes.begin(), writes.end());
        encoder.clause(one);
        encoder.clause({-with[count], least[count], least[count - 1]});
      }
      least = std::move(with);
    }
    encoder.clause({least[times]});
  }

  // A value that the read returned more often than replicas wrote it; kNone: none.
  static std::uint32_t returned_too_often(const ReadExplainer& explainer) {
    const History& h = explainer.history();
    const auto list = h.list(explainer.read());
    std::map<std::uint32_t, std::set<std::uint32_t>> writers;
    for (const Operation& op : h.ops) {
      if (op.kind == Kind::kWrite) writers[op.element].insert(op.replica);
    }
    const auto found = std::find_if(list.begin(), list.end(), [&](std::uint32_t e) {
      return static_cast<std::size_t>(std::count(list.begin(), list.end(), e)) > writers[e].size();
    });
    return found == list.end() ? kNone : *found;
  }

  // Every write of the value came before one that the read must have seen, by the order of
  // the replicas and by what other reads returned.
  static bool is_stale(const ReadExplainer& explainer, std::uint32_t value) {
    const History& h = explainer.history();
    std::vector<std::vector<OpId>> writes(h.elements.size());
    for (OpId id = 0; id < h.ops.size(); ++id) {
      if (h.ops[id].kind == Kind::kWrite) writes[h.ops[id].element].push_back(id);
    }
    StepGraph graph(h);
    for (OpId id = 0; id < h.ops.size(); ++id) {
      if (id == explainer.id()) continue;
      for (const auto e : h.list(h.ops[id])) {
        if (writes[e].size() == 1) graph.add({writes[e][0], id, Why::kReadFrom});
      }
    }
    const auto closed = graph.close();
    const auto& must_see = explainer.must_see();
    return closed && std::all_of(writes[value].begin(), writes[value].end(), [&](OpId w) {
             return std::any_of(must_see.begin(), must_see.end(),
                                [&](OpId later) { return before(h, closed->clocks, w, later); });
           });
  }
};

}  // namespace

const ReplicatedType& multi_value_register() {
  static const MultiValueRegister type;
  return type;
}

}  // namespace cupel::crdt
