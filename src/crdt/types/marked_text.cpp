// Marked text: a text whose ranges get marks, such as bold or a colour (Litt, Lim, Kleppmann, van
// Hardenberg: Peritext, CSCW 2022). Decided by solve/marked_text.hpp, with known deliveries only.
// The simulated replica lets a mark cover what stands between the first and the last character of
// its range that are shown.
#include "crdt/solve/marked_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "base/text/flat_json.hpp"
#include "base/text/json.hpp"
#include "base/visible.hpp"
#include "crdt/explain/context_explainer.hpp"
#include "crdt/explain/read_explainer.hpp"
#include "crdt/model/element_json.hpp"
#include "crdt/types/common_bugs.hpp"
#include "crdt/types/text.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kByArrival = "marks-by-arrival", kFirstOnly = "marks-first-of-range",
                           kNotInside = "inserts-unmarked", kBeyond = "marks-beyond-range";

// By name, the value of each mark of one character.
using Marks = std::map<std::string, Json>;

// What a read shows, from the marks of its characters, in their order; kNone: no marks.
std::uint32_t marks_element(History& history, std::uint32_t key,
                            const std::vector<std::pair<std::string, Marks>>& runs) {
  Json by_name = Json::object();
  for (const auto& [characters, marks] : runs) {
    for (const auto& [name, value] : marks) {
      Json& text = by_name[name][text::dump(value)];
      if (text.is_null()) text = "";
      text.get_ref<std::string&>() += characters;
    }
  }
  return by_name.empty() ? kNone : history.element(key, text::dump(by_name));
}

// A read as flat JSON; of what marks_element() needs, the same without a tree.
class FlatRuns {
 public:
  // False: it is something else, or one that only the JSON parser writes as marks_element() does.
  bool scan(std::string_view value) {
    text::FlatScanner scanner(value);
    if (!scanner.take('[')) return false;
    for (; !scanner.take(']'); scanner.take(',')) {
      if (!scanner.take('[') || scanner.take(']')) return false;
      const auto characters = scanner.value();
      if (!text::is_flat_text(characters) || characters.size() == 2) return false;
      runs_.push_back(text::flat_text(characters));
      if (scanner.take(',') && !marks(scanner)) return false;
      if (!scanner.take(']')) return false;
    }
    return true;
  }
  [[nodiscard]] const std::vector<std::string_view>& runs() const { return runs_; }

  // {"bold":{"true":"abd"}}; empty: no marks.
  [[nodiscard]] std::string text() {
    std::sort(marks_.begin(), marks_.end(), [](const Given& a, const Given& b) {
      const auto name = text::flat_text(a.name), other = text::flat_text(b.name);
      return std::tie(name, a.value, a.run) < std::tie(other, b.value, b.run);
    });
    std::string text;
    for (std::size_t i = 0; i < marks_.size(); ++i) {
      const Given& mark = marks_[i];
      const bool same_name = i > 0 && marks_[i - 1].name == mark.name;
      if (!same_name || marks_[i - 1].value != mark.value) {
        text.append(i == 0 ? "{" : same_name ? "\"," : "\"},");
        if (!same_name) text.append(mark.name).append(":{");
        text.append(text::quoted(mark.value)).append(":\"");
      }
      text.append(runs_[mark.run]);
    }
    return text.empty() ? text : base::visible(text.append("\"}}"));
  }

 private:
  struct Given {
    std::string_view name, value;
    std::size_t run;
  };

  bool marks(text::FlatScanner& scanner) {
    if (!scanner.take('{')) return false;
    const auto begin = marks_.size(), run = runs_.size() - 1;
    const auto is_ascii = [](std::string_view one) {
      return std::all_of(one.begin(), one.end(), [](char c) { return c > 0; });
    };
    for (; !scanner.take('}'); scanner.take(',')) {
      const auto name = scanner.scalar();
      scanner.take(':');
      const auto value = scanner.value();
      const bool twice = std::any_of(marks_.begin() + static_cast<std::ptrdiff_t>(begin),
                                     marks_.end(), [&](const Given& g) { return g.name == name; });
      if (twice || !is_ascii(name) || !is_ascii(value) || value[0] == '[' || value[0] == '{')
        return false;
      marks_.push_back({name, value, run});
    }
    std::erase_if(marks_, [](const Given& mark) { return mark.value == "null"; });
    return true;
  }

  std::vector<std::string_view> runs_;  // their characters
  std::vector<Given> marks_;
};

using MarksOfCharacters = std::map<std::uint32_t, Marks>;

MarksOfCharacters shown_marks(const History& history, const Operation& read) {
  MarksOfCharacters marks;
  for_shown_marks(history, read,
                  [&](const std::string& name, const std::string& value,
                      std::span<const std::uint32_t> characters) {
                    for (const auto e : characters)
                      marks[e][Json::parse(name).get<std::string>()] = Json::parse(value);
                  });
  return marks;
}

// The characters of a read with their marks, those with equal marks together.
Json runs_of(const History& history, const Operation& read, std::size_t most) {
  const auto marks = shown_marks(history, read);
  const Marks none;
  Json runs = Json::array();
  const Marks* last = nullptr;
  const auto list = history.list(read);
  for (const auto e : list.first(std::min(most, list.size()))) {
    const auto character = element_json(history, e).get<std::string>();
    const auto there = marks.find(e);
    const Marks* const own = there == marks.end() ? &none : &there->second;
    if (last == nullptr || *last != *own) {
      runs.push_back(Json::array({""}));
      if (!own->empty()) runs.back().push_back(*own);
    }
    runs.back()[0].get_ref<std::string&>() += character;
    last = own;
  }
  return runs;
}

class MarkedTextReplica final : public SimulatedReplica {
 public:
  MarkedTextReplica(const History& history, std::unique_ptr<SimulatedReplica> text,
                    std::string_view bug, std::uint32_t self)
      : SimulatedReplica(history, self),
        by_arrival_(bug == kByArrival),
        first_only_(bug == kFirstOnly),
        not_inside_(bug == kNotInside),
        beyond_(bug == kBeyond),
        text_(std::move(text)),
        marks_(history.keys.size()),
        visible_(history.keys.size()) {}

  void answer(Operation& read, std::vector<std::uint32_t>& list) override {
    text_->answer(read, list);
  }

  void answer(Operation& read, std::vector<std::uint32_t>& list, History& names) override {
    text_->answer(read, list);
    std::map<std::uint32_t, std::size_t> place;
    for (std::size_t at = 0; at < list.size(); ++at) place[list[at]] = at;
    std::vector<Marks> shown(list.size());
    for (const Given& mark : marks_[read.key]) {
      std::size_t first = list.size(), last = 0;
      for (const auto e : mark.range) {
        const auto at = place.find(e);
        if (at == place.end()) continue;
        first = std::min(first, at->second);
        last = std::max(last, at->second);
      }
      if (first == list.size()) continue;
      if (beyond_ && last + 1 < list.size()) ++last;
      const Json pair = element_json(names, mark.mark);
      for (auto at = first; at <= last; ++at) {
        if (not_inside_ &&
            std::find(mark.range.begin(), mark.range.end(), list[at]) == mark.range.end())
          continue;
        if (pair[1].is_null())
          shown[at].erase(pair[0].get<std::string>());
        else
          shown[at][pair[0].get<std::string>()] = pair[1];
      }
    }
    std::vector<std::pair<std::string, Marks>> runs;
    for (std::size_t at = 0; at < list.size(); ++at)
      runs.emplace_back(element_json(names, list[at]).get<std::string>(), std::move(shown[at]));
    read.parent = marks_element(names, read.key, runs);
  }

  [[nodiscard]] std::span<const std::vector<std::uint32_t>> visible() const override {
    return visible_;
  }

 private:
  struct Given {
    std::uint64_t stamp;
    std::uint32_t replica;
    std::vector<std::uint32_t> range;
    std::uint32_t mark;
  };

  void change(const Update& update, base::Random& random) override {
    const Operation& op = update.op;
    if (op.kind != Kind::kMark) {
      text_->apply(update, random);
      visible_[op.key].clear();
      Operation read{.kind = Kind::kList, .key = op.key};
      text_->answer(read, visible_[op.key]);
      return;
    }
    const auto named = h_.changed(op);
    Given given{update.stamp, update.tie, {named.begin(), named.end()}, op.parent};
    if (first_only_ && is_remote(update)) given.range.resize(1);
    auto& all = marks_[op.key];
    auto at = all.end();
    while (!by_arrival_ && at != all.begin() &&
           std::pair(given.stamp, given.replica) < std::pair((at - 1)->stamp, (at - 1)->replica))
      --at;
    all.insert(at, std::move(given));
  }

  const bool by_arrival_, first_only_, not_inside_, beyond_;
  const std::unique_ptr<SimulatedReplica> text_;
  std::vector<std::vector<Given>> marks_;  // by key, the one that wins last
  std::vector<std::vector<std::uint32_t>> visible_;
};

// A part of a history as a history of texts, without the marks.
struct TextPart {
  TextPart(const KnownContext& context)
      : part(part_of(context.history, without_marks(context.history))),
        visibility(context.visibility.of_part(part.history, part.origin)) {
    part.history.type = Type::kText;
    part.history.context.rule = context.history.context.rule;
    for (Operation& op : part.history.ops) {
      if (is_read(op.kind)) op.parent = kNone;
    }
  }
  TextPart(const TextPart&) = delete;  // its visibility refers to its history
  TextPart& operator=(const TextPart&) = delete;

  static Core without_marks(const History& history) {
    Core core;
    for (OpId id = 0; id < history.ops.size(); ++id) {
      if (history.ops[id].kind != Kind::kMark) core.ops.push_back(id);
    }
    for (std::uint32_t e = 0; e < history.elements.size(); ++e) core.elements.push_back(e);
    return core;
  }

  Part part;
  Visibility visibility;
};

class MarkedTextRead final : public FlatCall {
 public:
  explicit MarkedTextRead(FlatRuns runs) : runs_(std::move(runs)), marks_(runs_.text()) {}

  [[nodiscard]] std::optional<std::string> parse(const ParsedCall& call) const override {
    call.op.kind = Kind::kList;
    History::Shown shown(call.history, call.op.key);
    for (const auto run : runs_.runs()) add_shown(call, shown, run);
    if (!marks_.empty()) call.op.parent = call.history.element(call.op.key, marks_);
    return std::nullopt;
  }

 private:
  FlatRuns runs_;
  const std::string marks_;
};

TypeTraits traits_of_text() {
  auto traits = CharactersType::traits_of(
      {{"marked-text"}, {"rich-text"}},
      {ignores_timestamp(),
       forgets_removed_neighbour(),
       removes_first_of_range(),
       {kByArrival, "of concurrent marks of a character, the one that arrives last wins"},
       {kFirstOnly,
        "of a range that another replica marked, only the first character gets the mark"},
       {kNotInside, "a character that is inserted into a marked range does not get the mark"},
       {kBeyond, "the character after a marked range gets the mark, too"}},
      decide_known_marked_text);
  traits.order_by_object = true;
  traits.needs_deliveries = true;
  traits.simulate = [of_text = traits.simulate](const History& history, std::string_view bug,
                                                std::uint32_t self) {
    return std::make_unique<MarkedTextReplica>(history, of_text(history, bug, self), bug, self);
  };
  return traits;
}

class MarkedTextType final : public TextType {
 public:
  MarkedTextType() : TextType(traits_of_text()) {}

  [[nodiscard]] std::string_view method(const Operation& op) const override {
    return op.kind == Kind::kMark ? "mark" : TextType::method(op);
  }

  [[nodiscard]] Text text(const History& history, const Operation& op) const override {
    constexpr std::size_t kShown = 40;
    if (op.kind == Kind::kMark) {
      const Json pair = element_json(history, op.parent);
      return {{shown_text(history, history.changed(op)), text::dump(pair[0]), text::dump(pair[1])},
              ""};
    }
    if (op.kind != Kind::kList) return TextType::text(history, op);
    const auto count = history.list(op).size();
    std::string shown = text::dump(runs_of(history, op, kShown));
    if (count > kShown) shown += fmt::format(" and {} more", count - kShown);
    return {{}, shown};
  }

  std::optional<std::string> parse(const ParsedCall& call) const override {
    if (call.method == "mark") return parse_mark(call);
    if (call.method == "insert" || call.method == "delete") return TextType::parse(call);
    if (call.method != "read")
      return call.unknown_method("insert, delete, mark or read of a marked text");
    call.op.kind = Kind::kList;
    return call.indeterminate ? std::nullopt : parse_read(call);
  }

  [[nodiscard]] std::unique_ptr<FlatCall> flat_call(std::string_view method,
                                                    std::string_view value) const override {
    FlatRuns runs;
    if (method == "read" && runs.scan(value))
      return std::make_unique<MarkedTextRead>(std::move(runs));
    return tree_call(value);
  }

  [[nodiscard]] Json value(const History& history, const Operation& op) const override {
    return op.kind == Kind::kList ? runs_of(history, op, history.list(op).size())
                                  : argument(history, op);
  }

  [[nodiscard]] Json argument(const History& history, const Operation& op) const override {
    if (op.kind != Kind::kMark) return TextType::argument(history, op);
    const Json pair = element_json(history, op.parent);
    return Json::array({string_of(history, history.changed(op)), pair[0], pair[1]});
  }

  void choose(RequestChoice& choice) const override {
    auto& random = choice.random;
    const auto& known = choice.visible[choice.op.key];
    if (choice.read || known.size() < 2 || !random.chance(0.4)) {
      TextType::choose(choice);
      return;
    }
    constexpr std::uint64_t kKinds = 5;
    static constexpr std::array<std::pair<const char*, const char*>, kKinds> kMarks = {
        {{"bold", "true"},
         {"bold", "null"},
         {"color", "\"red\""},
         {"color", "\"blue\""},
         {"color", "null"}}};
    const auto& [name, value] = kMarks[random.below(kKinds)];
    choice.op.kind = Kind::kMark;
    choice.op.parent = choice.history.element(choice.op.key, mark_text(text::quoted(name), value));
    set_range(choice, choose_range(choice));
  }

  void explain_received(ContextExplainer& explainer) const override {
    if (!is_read(explainer.read().kind) || !explain_mark(explainer)) explainer.explain_content();
  }

  bool explain_known(const KnownContext& context, const WrongRead& wrong,
                     const ExplainOptions& options, Explanation& explanation) const override {
    if (wrong.read != kNone) return false;
    if (wrong.object == kNone) return explain_text(context, options, explanation);
    explain_order(context.history, wrong, explanation);
    return true;
  }

 private:
  static std::optional<std::string> parse_mark(const ParsedCall& call) {
    const Json& value = call.value;
    const bool three = value.is_array() && value.size() == 3 && value[1].is_string();
    if (!three || !take_characters(call, value[0], /*empty=*/false))
      return call.expected(
          "the characters, the name of the mark and its value (null takes it away), as in "
          "[\"abc\",\"bold\",true]");
    call.op.kind = Kind::kMark;
    call.op.element = call.list.front();
    call.op.parent =
        call.history.element(call.op.key, mark_text(text::dump(value[1]), text::dump(value[2])));
    return call.refuse_repeated_characters();
  }

  static std::optional<std::string> parse_read(const ParsedCall& call) {
    constexpr const char* kRuns =
        "the characters with their marks, as in [[\"ab\",{\"bold\":true}],[\"c\"]]";
    if (!call.value.is_array()) return call.expected(kRuns);
    std::vector<std::pair<std::string, Marks>> runs;
    for (const Json& run : call.value) {
      const bool is_run = run.is_array() && !run.empty() && run.size() <= 2 &&
                          (run.size() == 1 || run[1].is_object());
      if (!is_run || !take_characters(call, run[0], /*empty=*/false)) return call.expected(kRuns);
      Marks marks;
      const Json given = run.size() == 1 ? Json::object() : run[1];
      for (const auto& [name, value] : given.items()) {
        if (!value.is_null()) marks[name] = value;
      }
      runs.emplace_back(run[0].get<std::string>(), std::move(marks));
    }
    call.op.parent = marks_element(call.history, call.op.key, runs);
    return std::nullopt;
  }

  // The marks of the character are wrong. False: it is there wrongly, or should be.
  static bool explain_mark(ContextExplainer& explainer) {
    const History& h = explainer.history();
    const auto list = h.list(explainer.read());
    if (std::count(list.begin(), list.end(), explainer.object()) != 1) return false;
    MarkIndex index(h);
    const auto read = explainer.read_id();
    const auto wrong = wrong_mark(h, explainer.visibility(), index, read, explainer.object());
    if (!wrong) return false;
    const MarkIndex::Mark shown = wrong->shown;
    const MarksOfCharacter& marks = wrong->marks;
    const std::string claim = fmt::format(
        "{} shows {} {}", explainer.where(), h.element_text(explainer.object()),
        shown.value == kNone
            ? "without " + index.name(shown.name)
            : fmt::format("with {} = {}", index.name(shown.name), index.value(shown.value)));
    std::vector<OpId> same;  // of those that cover it, or may
    for (const auto* some : {&marks.covering, &marks.perhaps}) {
      std::copy_if(some->begin(), some->end(), std::back_inserter(same),
                   [&](OpId mark) { return index.of(mark) == shown; });
    }
    const auto last = std::find_if(marks.covering.begin(), marks.covering.end(), [&](OpId mark) {
      return std::none_of(marks.covering.begin(), marks.covering.end(),
                          [&](OpId other) { return explainer.sees(other, mark); });
    });
    const auto shows = [&](std::string name, const std::string& why, std::vector<OpId> operations) {
      const std::vector<std::uint32_t> elements = elements_of(h, operations);
      explainer.report(std::move(name), claim + why, std::move(operations), elements);
    };
    if (!same.empty() && shown.value != kNone) {
      std::vector<OpId> operations;
      OpId over = kNone;
      for (const OpId mark : same) {
        const auto by = std::find_if(marks.covering.begin(), marks.covering.end(), [&](OpId other) {
          return explainer.sees(other, mark) && index.of(other) != shown;
        });
        if (by != marks.covering.end()) over = *by;
        operations.push_back(mark);
      }
      if (over != kNone) operations.push_back(over);
      shows("stale-mark",
            over == kNone ? ""
                          : fmt::format("; it had received {}, which had seen that mark",
                                        explainer.text(over)),
            std::move(operations));
    } else if (shown.value == kNone) {
      shows("lost-mark",
            fmt::format("; it had received {}, and no later mark that covers it",
                        explainer.text(*last)),
            {*last});
    } else {
      explain_unfounded(explainer, index, shown, shows);
    }
    return true;
  }

  // Does the read show the object next to a character that the mark names?
  static bool is_beside(const History& h, const ContextExplainer& explainer,
                        const Operation& mark) {
    const auto list = h.list(explainer.read());
    const auto at = std::find(list.begin(), list.end(), explainer.object());
    if (at == list.end()) return false;
    const auto named = [&](std::uint32_t e) {
      return h.any_changed(mark, [&](std::uint32_t other) { return other == e; });
    };
    return (at != list.begin() && named(*(at - 1))) || (at + 1 != list.end() && named(*(at + 1)));
  }

  // It shows a mark that none gives it.
  template <typename Shows>
  static void explain_unfounded(const ContextExplainer& explainer, const MarkIndex& index,
                                MarkIndex::Mark shown, Shows shows) {
    const History& h = explainer.history();
    const auto read = explainer.read_id();
    OpId outside = kNone, not_received = kNone;
    bool beside = false;  // of a character that the mark outside names
    for (OpId id = 0; id < h.ops.size(); ++id) {
      const Operation& op = h.ops[id];
      if (op.kind != Kind::kMark || op.key != explainer.read().key || index.of(id) != shown)
        continue;
      if (explainer.sees(read, id)) {
        if (!beside) outside = id;
        beside = beside || is_beside(h, explainer, op);
      } else if (h.any_changed(op, [&](std::uint32_t e) { return e == explainer.object(); }))
        not_received = id;
    }
    // What reaches a character too far is not what its replica cannot have had.
    if (not_received != kNone && !beside && (outside == kNone || not_received < read)) {
      shows("not-received", fmt::format("; it had not received {}", explainer.text(not_received)),
            {not_received});
    } else if (outside != kNone) {
      shows("mark-outside-range",
            fmt::format("; {}, which it had received, does not cover it", explainer.text(outside)),
            {outside});
    } else {
      shows("thin-air", ", which nobody gave it", {});
    }
  }

  static std::vector<std::uint32_t> elements_of(const History& h, const std::vector<OpId>& ops) {
    std::set<std::uint32_t> elements;
    for (const OpId id : ops) {
      for (const auto e : h.changed(h.ops[id])) elements.insert(e);
    }
    return {elements.begin(), elements.end()};
  }

  // The text alone is wrong.
  static bool explain_text(const KnownContext& context, const ExplainOptions& options,
                           Explanation& explanation) {
    const TextPart text(context);
    const auto own =
        decide_known_list({text.part.history, text.visibility, context.axioms, context.budget});
    if (!own.wrong) return false;
    explanation =
        explain_context(text.part.history, text.visibility, *own.wrong, context.axioms, options);
    for (auto* ops : {&explanation.core.ops, &explanation.part.origin}) {
      for (OpId& id : *ops) id = text.part.origin[id];
    }
    for (auto* elements : {&explanation.core.elements, &explanation.part.elements}) {
      for (auto& e : *elements) e = text.part.elements[e];
    }
    return true;
  }

  // Of the characters, those that two of the marks name show it.
  static void explain_order(const History& h, const WrongRead& wrong, Explanation& explanation) {
    std::set<OpId> ops(wrong.operations.begin(), wrong.operations.end());
    for (const Step& step : wrong.cycle) ops.insert({step.from, step.to, step.read});
    ops.erase(kNone);
    std::map<std::uint32_t, int> named;
    std::set<std::uint32_t> elements;
    for (const OpId id : ops) {
      const Operation& op = h.ops[id];
      if (op.kind == Kind::kMark) {
        for (const auto e : h.changed(op)) ++named[e];
      } else if (!is_read(op.kind)) {
        for (const auto e : h.changed(op)) elements.insert(e);
      }
    }
    for (const auto& [e, times] : named) {
      if (times > 1) elements.insert(e);
    }
    for (const OpId id : ops) {
      const auto is_kept = [&](std::uint32_t e) { return elements.contains(e); };
      if (h.ops[id].kind == Kind::kMark && !h.any_changed(h.ops[id], is_kept))
        elements.insert(h.ops[id].element);
    }
    explanation.name = "order-disagreement";
    explanation.summary =
        "no order of the marks gives the characters what these reads show, the last mark of each "
        "name";
    explanation.core = {{ops.begin(), ops.end()}, {elements.begin(), elements.end()}};
    explanation.part = part_of(h, explanation.core);
    const auto& origin = explanation.part.origin;
    const auto part_op = [&](OpId id) {
      return id == kNone ? kNone
                         : static_cast<OpId>(std::lower_bound(origin.begin(), origin.end(), id) -
                                             origin.begin());
    };
    for (Step step : wrong.cycle) {
      step.from = part_op(step.from);
      step.to = part_op(step.to);
      step.read = part_op(step.read);
      explanation.cycle.push_back(step);
      explanation.because.push_back(sentence(explanation.part.history, step));
    }
    for (OpId id = 0; id < origin.size(); ++id) {
      if (is_read(explanation.part.history.ops[id].kind)) explanation.read = id;
    }
  }
};

}  // namespace

const ReplicatedType& marked_text() {
  static const MarkedTextType type;
  return type;
}

}  // namespace cupel::crdt
