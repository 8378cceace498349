// shows_violation: see the header.
#include "engine/certify/violated.hpp"

#include <fmt/format.h>

#include <map>

#include "base/hash_table.hpp"
#include "engine/certify/derivation.hpp"
#include "engine/certify/internal.hpp"

namespace cupel::certify {

namespace {

using PlaceKey = std::pair<Number, Number>;  // key and position

// All ways of filling so many places are more than any file holds; every_way() calls
// itself as deep.
constexpr std::size_t kMostPlaces = 1'000;

class Violated {
 public:
  explicit Violated(Context& context) : c_(context), s_(context.subject()) {}

  Rejection body(const Body& body, std::string& how) {
    return std::visit([&](const auto& evidence) { return shows(evidence, how); }, body);
  }

 private:
  Rejection shows(const std::vector<InternalAnomaly>& anomalies, std::string& how) {
    if (anomalies.empty()) return std::string("internal: expected at least one anomaly");
    for (std::size_t i = 0; i < anomalies.size(); ++i) {
      if (auto wrong = shows_internal(c_, anomalies[i]))
        return fmt::format("internal[{}], {}: {}", i, anomalies[i].name, *wrong);
    }
    how = anomalies.size() == 1
              ? anomalies.front().name
              : counted(anomalies.size(), "anomaly", "anomalies") + " inside transactions";
    return std::nullopt;
  }

  Rejection shows(const Derivation& d, std::string& how) {
    if (auto wrong = shows_contradiction(c_, d)) return "derivation: " + *wrong;
    how = d.by_clauses ? fmt::format("{} and a refutation of {}",
                                     counted(d.clauses.size(), "cycle", "cycles"),
                                     counted(d.refutation.size(), "step", "steps"))
                       : fmt::format("a cycle of {}", counted(d.cycle.size(), "edge", "edges"));
    if (!d.by_clauses && d.edges.size() > d.cycle.size())
      how += fmt::format(", which follow from {} more", d.edges.size() - d.cycle.size());
    return std::nullopt;
  }

  Rejection shows(const std::unique_ptr<CaseSplit>& split, std::string& how) {
    const TxnId t(split->transaction);
    if (s_.aborted(t) || s_.committed(t))
      return fmt::format("`suppose`: {} is not indeterminate", shown(s_, t));
    if (c_.assumed(t) != AssumedOutcome::kOpen)
      return fmt::format("`suppose`: the outcome of {} is assumed already", shown(s_, t));
    std::string one, other;
    c_.assume(t, AssumedOutcome::kCommitted);
    if (auto wrong = body(split->happened, one))
      return fmt::format("assume that transaction {} happened: {}", t.raw, *wrong);
    c_.assume(t, AssumedOutcome::kAborted);
    if (auto wrong = body(split->never, other))
      return fmt::format("assume that transaction {} never happened: {}", t.raw, *wrong);
    c_.assume(t, AssumedOutcome::kOpen);
    how = fmt::format("two cases: {}; {}", one, other);
    return std::nullopt;
  }

  Rejection shows(const std::vector<Placing>& placings, std::string& how) {
    if (auto wrong = are_all(placings)) return "placings: " + *wrong;
    for (std::size_t i = 0; i < placings.size(); ++i) {
      for (const Place& p : placings[i].places)
        c_.place(KeyId(p.key), p.position, OpId(p.operation));
      std::string one;
      if (auto wrong = body(placings[i].proof, one))
        return fmt::format("placings[{}]: {}", i, *wrong);
      for (const Place& p : placings[i].places) c_.unplace(KeyId(p.key), p.position);
    }
    how = counted(placings.size(), "placing", "placings") + " of elements appended twice";
    return std::nullopt;
  }

  // Are these all the ways to fill the places, each once?
  Rejection are_all(const std::vector<Placing>& placings) {
    if (placings.empty()) return std::string("expected at least one");
    std::vector<PlaceKey> places;
    for (const Place& p : placings.front().places) places.emplace_back(p.key, p.position);
    if (places.empty()) return std::string("expected at least one place");
    std::sort(places.begin(), places.end());
    if (std::adjacent_find(places.begin(), places.end()) != places.end())
      return std::string("found a place twice");
    // What may stand at each.
    std::vector<std::vector<Number>> options;
    for (const auto& [key, position] : places) {
      if (c_.placed(KeyId(key), position).valid())
        return fmt::format("place {} of {} is settled already", position,
                           shown_key(s_, KeyId(key)));
      const auto list = s_.longest_list(KeyId(key));
      if (position >= list.size())
        return fmt::format("the longest list read of {} has no place {}", shown_key(s_, KeyId(key)),
                           position);
      auto& some = options.emplace_back();
      for (const auto& w : s_.written(KeyId(key), list[position])) {
        if (c_.counts(w.txn) && !c_.place_of(w.op)) some.push_back(w.op.raw);
      }
    }
    // Places of one element share their options, other places have others: with enough for
    // each element, no way ends before it is complete.
    std::map<std::vector<Number>, std::size_t> wanted;
    for (const auto& some : options) {
      if (++wanted[some] > some.size())
        return std::string("there are more places for an element than appends of it");
    }
    if (places.size() > kMostPlaces)
      return fmt::format("found {} places, expected at most {}", places.size(), kMostPlaces);
    base::HashSet<std::vector<Number>> given;
    for (std::size_t i = 0; i < placings.size(); ++i) {
      std::map<PlaceKey, Number> at;
      for (const Place& p : placings[i].places) at[{p.key, p.position}] = p.operation;
      std::vector<Number> chosen;
      for (const auto& place : places) {
        const auto it = at.find(place);
        if (it == at.end() || at.size() != placings[i].places.size() ||
            at.size() != places.size()) {
          return fmt::format("[{}] is about other places than [0]", i);
        }
        chosen.push_back(it->second);
      }
      if (!given.insert(std::move(chosen)).second) return fmt::format("[{}] is there twice", i);
    }
    // Every way, by backtracking; as many as are given, so no more than that.
    std::vector<Number> chosen;
    std::size_t found = 0;
    if (!every_way(options, given, chosen, found))
      return std::string("a way to fill the places is missing");
    if (found != given.size()) return std::string("found an append that cannot stand at its place");
    return std::nullopt;
  }

  static bool every_way(const std::vector<std::vector<Number>>& options,
                        const base::HashSet<std::vector<Number>>& given,
                        std::vector<Number>& chosen, std::size_t& found) {
    if (chosen.size() == options.size()) {
      ++found;
      return given.contains(chosen);
    }
    for (const Number op : options[chosen.size()]) {
      if (std::find(chosen.begin(), chosen.end(), op) != chosen.end()) continue;
      chosen.push_back(op);
      if (!every_way(options, given, chosen, found)) return false;
      chosen.pop_back();
    }
    return true;
  }

  Context& c_;
  Subject& s_;
};

}  // namespace

Rejection shows_violation(Context& context, const Body& body, std::string& how) {
  return Violated(context).body(body, how);
}

}  // namespace cupel::certify
