// The order language: see order_language.hpp.
#include "order_language.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>

#include "engine/order/proof.hpp"

namespace cupel::test {

namespace {

using order::ArcKind;
using order::FixedKind;
using order::Node;
using order::Object;
using order::Owner;

[[noreturn]] void fail(std::string_view what, std::string_view where) {
  throw std::invalid_argument(fmt::format("order language: {}: {}", what, where));
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \n") - first + 1));
}

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const auto end = text.find(separator, begin);
    parts.push_back(trimmed(text.substr(begin, end - begin)));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

struct ReadText {
  std::string object;
  std::vector<std::string> candidates;
  std::uint32_t step;
};
struct OwnerText {
  std::string name;
  std::vector<ReadText> reads;
  std::vector<std::string> writes;
};
struct ProblemText {
  std::set<std::string> flags;
  std::vector<std::vector<OwnerText>> chains;
  std::vector<std::vector<std::string>> directives;
};

// One access; `text` begins at it, and is left after it.
void parse_access(std::string_view& text, OwnerText& owner, std::uint32_t& step) {
  const auto close = text.find(')');
  if (text.size() < 4 || text[1] != '(' || close == std::string_view::npos) fail("no access", text);
  const auto inside = text.substr(2, close - 2);
  if (text[0] == 'w') {
    owner.writes.emplace_back(inside);
  } else if (text[0] == 'r') {
    const auto comma = inside.find(',');
    if (comma == std::string_view::npos) fail("a read of what", inside);
    owner.reads.push_back(
        {std::string(inside.substr(0, comma)), words_of(inside.substr(comma + 1)), step});
  } else {
    fail("no access", text);
  }
  text.remove_prefix(close + 1);
  if (text.starts_with('&')) {
    text.remove_prefix(1);
    return;
  }
  ++step;
}

OwnerText parse_owner(std::string_view text) {
  OwnerText owner;
  const auto blank = text.find(' ');
  owner.name = std::string(text.substr(0, blank));
  if (owner.name.empty() || owner.name.find('(') != std::string::npos)
    fail("an owner without a name", text);
  std::string_view rest = blank == std::string_view::npos ? "" : text.substr(blank);
  std::uint32_t step = 0;
  while (!rest.empty()) {
    if (rest.front() == ' ') {
      rest.remove_prefix(1);
    } else {
      parse_access(rest, owner, step);
    }
  }
  return owner;
}

ProblemText parse(std::string_view text) {
  static const std::set<std::string> kDirectives = {"session", "list", "time", "hints"};
  ProblemText result;
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    for (auto& flag : words_of(text.substr(0, colon))) {
      if (flag != "split" && flag != "no-overlap" && flag != "optional" && flag != "whole" &&
          flag != "unrepaired" && flag != "nearby")
        fail("unknown flag", flag);
      result.flags.insert(std::move(flag));
    }
    text.remove_prefix(colon + 1);
  }
  for (const auto& part : split_at(text, '|')) {
    auto words = words_of(part);
    if (words.empty()) fail("an empty part", text);
    if (kDirectives.contains(words.front())) {
      result.directives.push_back(std::move(words));
      continue;
    }
    auto& chain = result.chains.emplace_back();
    for (const auto& owner : split_at(part, ';')) chain.push_back(parse_owner(owner));
  }
  return result;
}

template <typename T>
std::uint32_t index_of(const std::vector<T>& names, std::string_view name) {
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) fail("unknown name", name);
  return static_cast<std::uint32_t>(it - names.begin());
}

// Names and numbers of owners and objects, as they come.
OrderSketch numbered(const ProblemText& text) {
  OrderSketch sketch;
  const auto add = [&](const std::string& object) {
    auto& objects = sketch.objects;
    if (std::find(objects.begin(), objects.end(), object) == objects.end())
      objects.push_back(object);
  };
  for (const auto& chain : text.chains) {
    for (const auto& owner : chain) {
      sketch.owners.push_back(owner.name);
      for (const auto& read : owner.reads) add(read.object);
      for (const auto& object : owner.writes) add(object);
    }
  }
  order::Problem& p = sketch.problem;
  p.split = text.flags.contains("split") || text.flags.contains("no-overlap");
  p.write_to_begin = text.flags.contains("no-overlap");
  p.optional_session_order = text.flags.contains("optional");
  p.whole_proofs = text.flags.contains("whole");
  p.repair = !text.flags.contains("unrepaired");
  if (text.flags.contains("nearby")) {
    p.nearby_from = 0;
    p.nearby_owners = 3;
  }
  p.owner_count = static_cast<Owner>(sketch.owners.size());
  p.object_count = static_cast<Object>(sketch.objects.size());
  for (Owner o = 0; o < p.owner_count; ++o) p.hint.push_back(o);
  return sketch;
}

Owner writer_named(const OrderSketch& sketch, const std::string& name) {
  return name == "init" ? order::kInitial : sketch.owner(name);
}

void add_arc(OrderSketch& sketch, const std::vector<std::string>& words) {
  order::Problem& p = sketch.problem;
  const bool list = words.front() == "list";
  if (words.size() != (list ? 5U : 4U) || words[words.size() - 2] != "->")
    fail("an arc is FROM -> TO", words.front());
  const auto& from = words[words.size() - 3];
  const auto& to = words.back();
  for (const auto& end : {from, to}) {
    if (end.starts_with('#')) {
      p.helper_count = std::max(p.helper_count, static_cast<std::uint32_t>(end[1] - '0') + 1);
    }
  }
  const Node tail = from.starts_with('#') ? sketch.node(from) : p.commit(sketch.owner(from));
  if (list) {
    p.fixed.push_back({tail, p.write_target(sketch.owner(to)), FixedKind::kListOrder,
                       sketch.object(words[1]), 0});
    return;
  }
  const Node head = to.starts_with('#') ? sketch.node(to) : p.begin(sketch.owner(to));
  p.fixed.push_back(
      {tail, head, words.front() == "time" ? FixedKind::kRealTime : FixedKind::kSession, 0, 0});
}

void add_directives(OrderSketch& sketch, const ProblemText& text) {
  for (const auto& words : text.directives) {
    if (words.front() != "hints") {
      add_arc(sketch, words);
      continue;
    }
    for (std::size_t i = 1; i < words.size(); ++i) sketch.problem.hint[sketch.owner(words[i])] = i;
  }
}

std::vector<Object> written(const OrderSketch& sketch, const OwnerText& owner) {
  std::vector<Object> objects;
  for (const auto& object : owner.writes) objects.push_back(sketch.object(object));
  std::sort(objects.begin(), objects.end());
  return objects;
}

// Prints one arc of a proof, with its reasons inside.
class ArcText {
 public:
  ArcText(const OrderSketch& sketch, const order::Proof& proof) : s_(sketch), proof_(proof) {}

  // A cycle may be read from any of its arcs: here from the one whose text is the least.
  [[nodiscard]] std::string cycle(std::span<const std::uint32_t> arcs) const {
    std::vector<std::string> parts = texts(arcs);
    std::rotate(parts.begin(), std::min_element(parts.begin(), parts.end()), parts.end());
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }

 private:
  [[nodiscard]] std::vector<std::string> texts(std::span<const std::uint32_t> arcs) const {
    std::vector<std::string> parts;
    for (const auto i : arcs) parts.push_back(arc(proof_.arcs[i]));
    return parts;
  }

  [[nodiscard]] std::string arc(const order::ProofArc& a) const {
    const std::string ends = s_.name(a.from) + "->" + s_.name(a.to);
    std::string text = order::names_read(a.kind) ? of_read(a, ends) : plain(a, ends);
    if (!a.because.empty() && a.kind != ArcKind::kOnlyWriter)
      text += fmt::format(" {{{}}}", fmt::join(texts(a.because), ", "));
    for (const auto& exclusion : a.excluded)
      text += " not " + s_.owner_name(exclusion.candidate) + " " + cycle(exclusion.cycle);
    return text;
  }

  [[nodiscard]] std::string plain(const order::ProofArc& a, const std::string& ends) const {
    const auto object = [&] { return s_.objects[a.read_or_object]; };
    switch (a.kind) {
      case ArcKind::kOwn:
        return "own " + ends;
      case ArcKind::kChain:
        return "chain " + ends;
      case ArcKind::kSession:
        return "session " + ends;
      case ArcKind::kRealTime:
        return "time " + ends;
      case ArcKind::kListOrder:
        return "list " + object() + " " + ends;
      case ArcKind::kNoOverlap:
        return "no-overlap " + object() + " " + ends;
      case ArcKind::kAssumedBefore:
        return "assume " + object() + " " + ends;
      default:
        return "?";
    }
  }

  [[nodiscard]] std::string of_read(const order::ProofArc& a, const std::string& ends) const {
    const order::Read& read = s_.problem.reads[a.read_or_object];
    const std::string object = s_.objects[read.object] + " ";
    switch (a.kind) {
      case ArcKind::kRead:
        return "read " + object + ends;
      case ArcKind::kOnlyWriter:
        return "only " + object + ends;
      case ArcKind::kInitialRead:
        return "initial " + object + ends;
      case ArcKind::kVisible:
        return "visible " + object + ends + " for " + s_.owner_name(read.owner);
      case ArcKind::kOverwritten:
        return "overwritten " + object + ends + " after " + s_.owner_name(a.seen);
      case ArcKind::kSawInitial:
        return "saw-initial " + object + s_.owner_name(read.owner);
      case ArcKind::kAssumedWriter:
        return "assume read " + object + ends + bound(a);
      case ArcKind::kAssumedOverwritten:
        return "assume overwritten " + object + ends + " after " + s_.owner_name(a.seen);
      default:
        return "?";
    }
  }

  static std::string bound(const order::ProofArc& a) {
    return a.bound == order::Bound::kEarlier ? " or earlier"
           : a.bound == order::Bound::kLater ? " or later"
                                             : "";
  }

  const OrderSketch& s_;
  const order::Proof& proof_;
};

std::string_view stage_name(order::Stage stage) {
  return stage == order::Stage::kSaturation ? "saturation"
         : stage == order::Stage::kSchedule ? "schedule"
                                            : "refine";
}

}  // namespace

Owner OrderSketch::owner(std::string_view name) const {
  return index_of(owners, name);
}
Object OrderSketch::object(std::string_view name) const {
  return index_of(objects, name);
}
Node OrderSketch::node(std::string_view name) const {
  if (name.starts_with('#')) return problem.helper(static_cast<std::uint32_t>(name[1] - '0'));
  const auto dot = name.find('.');
  const Owner o = owner(name.substr(0, dot));
  return name.substr(dot + 1) == "commit" ? problem.commit(o) : problem.begin(o);
}
std::string OrderSketch::owner_name(Owner o) const {
  return o == order::kInitial ? "init" : o == order::kUnresolved ? "?" : owners[o];
}
std::string OrderSketch::name(Node v) const {
  if (problem.is_helper(v)) return fmt::format("#{}", v - problem.event_count());
  const Owner o = problem.owner_of(v);
  if (!problem.split) return owners[o];
  return owners[o] + (v == problem.begin(o) ? ".begin" : ".commit");
}

OrderSketch order_problem(std::string_view text) {
  const ProblemText parsed = parse(text);
  OrderSketch sketch = numbered(parsed);
  order::Problem& p = sketch.problem;
  Owner o = 0;
  for (const auto& chain : parsed.chains) {
    auto& owners = p.chains.emplace_back();
    for (const auto& owner : chain) {
      owners.push_back(o);
      for (const Object x : written(sketch, owner)) p.write_object.push_back(x);
      p.write_first.push_back(static_cast<std::uint32_t>(p.write_object.size()));
      for (const auto& read : owner.reads) {
        const auto first = static_cast<std::uint32_t>(p.candidates.size());
        for (const auto& candidate : read.candidates)
          p.candidates.push_back(writer_named(sketch, candidate));
        p.reads.push_back({o, sketch.object(read.object), first,
                           static_cast<std::uint32_t>(p.candidates.size())});
      }
      ++o;
    }
  }
  add_directives(sketch, parsed);
  return sketch;
}

VisibilitySketch visibility_problem(std::string_view text) {
  const ProblemText parsed = parse(text);
  VisibilitySketch sketch;
  sketch.names = numbered(parsed);
  add_directives(sketch.names, parsed);
  order::VisibilityProblem& p = sketch.problem;
  p.whole_proofs = sketch.names.problem.whole_proofs;
  p.owner_count = sketch.names.problem.owner_count;
  p.object_count = sketch.names.problem.object_count;
  p.fixed = sketch.names.problem.fixed;
  Owner o = 0;
  for (const auto& chain : parsed.chains) {
    auto& owners = p.chains.emplace_back();
    for (const auto& owner : chain) {
      owners.push_back(o);
      for (const Object x : written(sketch.names, owner)) p.write_object.push_back(x);
      p.write_first.push_back(static_cast<std::uint32_t>(p.write_object.size()));
      for (const auto& read : owner.reads) {
        p.reads.push_back({o, sketch.names.object(read.object), read.step});
        auto& candidates = sketch.candidates.emplace_back();
        for (const auto& candidate : read.candidates)
          candidates.push_back(writer_named(sketch.names, candidate));
        // For the names in proofs.
        sketch.names.problem.reads.push_back({o, p.reads.back().object, 0, 0});
      }
      p.read_first.push_back(static_cast<std::uint32_t>(p.reads.size()));
      ++o;
    }
  }
  return sketch;
}

std::string text_of(const OrderSketch& sketch, const order::Proof& proof) {
  const ArcText arcs(sketch, proof);
  std::vector<std::string> cycles;
  for (const auto& cycle : proof.cycles) cycles.push_back(arcs.cycle(cycle));
  std::string text = fmt::format("{}", fmt::join(cycles, " "));
  // What a whole proof knows of the reads that its arcs speak of.
  std::vector<std::uint8_t> in_cycle(proof.arcs.size(), 0);
  for (const auto& cycle : proof.cycles) {
    for (const auto i : cycle) in_cycle[i] = 1;
  }
  std::set<std::string> facts;
  for (std::uint32_t i = 0; i < proof.arcs.size(); ++i) {
    const ArcKind kind = proof.arcs[i].kind;
    if (in_cycle[i] != 0 || (kind != ArcKind::kOnlyWriter && kind != ArcKind::kSawInitial))
      continue;
    const std::uint32_t fact[] = {i};
    facts.insert(" knowing " + arcs.cycle(fact));
  }
  text += fmt::format("{}", fmt::join(facts, ""));
  return proof.complete ? text : text + " incomplete";
}

std::string text_of(const OrderSketch& sketch, std::span<const Node> order) {
  std::vector<std::string> names;
  for (const Node v : order) names.push_back(sketch.name(v));
  return fmt::format("{}", fmt::join(names, " "));
}

std::string text_of(const OrderSketch& sketch, const order::KnownArc& arc) {
  order::Proof proof;
  proof.arcs.push_back({arc.from, arc.to, arc.kind, arc.read_or_object, arc.other, {}});
  if (arc.kind == ArcKind::kOverwritten) {
    const order::Read& read = sketch.problem.reads[arc.read_or_object];
    if (read.last_candidate - read.first_candidate == 1)
      proof.arcs.back().seen = sketch.problem.candidates[read.first_candidate];
  }
  const std::uint32_t cycle[] = {0};
  const std::string text = ArcText(sketch, proof).cycle(cycle);
  return text.substr(1, text.size() - 2);
}

std::string text_of(const OrderSketch& sketch, const order::EventGraph& graph,
                    std::span<const order::EventGraph::Step> steps) {
  std::vector<std::string> parts;
  for (const auto& step : steps) {
    parts.push_back(step.arc == order::EventGraph::kChainArc
                        ? "chain " + sketch.name(step.from) + "->" + sketch.name(step.to)
                        : text_of(sketch, graph.arcs()[step.arc]));
  }
  const bool closed = !steps.empty() && steps.back().to == steps.front().from;
  if (closed) std::rotate(parts.begin(), std::min_element(parts.begin(), parts.end()), parts.end());
  return fmt::format("{}", fmt::join(parts, ", "));
}

Engine::Engine(OrderSketch of, const order::RelaxedChains& relaxed)
    : sketch(std::move(of)),
      graph(sketch.problem, relaxed),
      versions(sketch.problem, graph),
      open(sketch.problem),
      saturation(sketch.problem, graph, versions, open, budget) {}

std::string saturated(std::string_view text) {
  Engine engine(text);
  const auto& problem = engine.sketch.problem;
  switch (engine.saturation.run()) {
    case order::SaturationResult::kFixpoint: {
      std::set<std::string> forced;
      for (const auto& arc : engine.graph.arcs().subspan(problem.fixed.size())) {
        if (arc.kind != ArcKind::kRead) forced.insert(text_of(engine.sketch, arc));
      }
      return fmt::format("fixpoint: {}", fmt::join(forced, ", "));
    }
    case order::SaturationResult::kCycle: {
      order::ProofBuilder builder(problem, engine.graph, engine.versions, engine.budget);
      builder.add_cycle(engine.graph.cycle());
      return "cycle: " + text_of(engine.sketch, builder.take());
    }
    case order::SaturationResult::kNoWriter: {
      order::ProofBuilder builder(problem, engine.graph, engine.versions, engine.budget);
      builder.add_orphan(engine.saturation.orphan());
      return "no writer: " + text_of(engine.sketch, builder.take());
    }
    case order::SaturationResult::kGaveUp:
      break;
  }
  return "gave up";
}

std::string decided(std::string_view text) {
  const OrderSketch sketch = order_problem(text);
  base::Budget budget;
  const order::OrderResult result = order::decide(sketch.problem, budget);
  const auto stage = stage_name(result.stage);
  switch (result.solvability) {
    case order::Solvability::kYes:
      return fmt::format("yes in {}: {}", stage, text_of(sketch, result.order));
    case order::Solvability::kNo:
      return fmt::format("no in {}: {}", stage, text_of(sketch, result.proof));
    case order::Solvability::kGaveUp:
      break;
  }
  return "gave up";
}

std::string decided(std::string_view text, order::Visible visible) {
  const VisibilitySketch sketch = visibility_problem(text);
  base::Budget budget;
  const bool choices = std::any_of(sketch.candidates.begin(), sketch.candidates.end(),
                                   [](const auto& list) { return list.size() > 1; });
  order::OrderResult result;
  if (choices) {
    const std::vector<std::span<const Owner>> candidates(sketch.candidates.begin(),
                                                         sketch.candidates.end());
    result = order::decide_visibility_by_cases(sketch.problem, visible, candidates,
                                               sketch.names.problem.hint, 1000, budget);
  } else {
    std::vector<Owner> writers;
    for (const auto& list : sketch.candidates) writers.push_back(list.front());
    result = order::decide_visibility(sketch.problem, visible, writers, budget);
  }
  switch (result.solvability) {
    case order::Solvability::kYes:
      return "yes: " + text_of(sketch.names, result.order);
    case order::Solvability::kNo:
      return "no: " + text_of(sketch.names, result.proof);
    case order::Solvability::kGaveUp:
      break;
  }
  return "gave up";
}

}  // namespace cupel::test
