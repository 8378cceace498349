// mutate: see the header. The tree is flattened into pointers to its nodes, of which
// one that the mutation suits is taken.
#include "certify/mutate.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "engine/levels/spec.hpp"

namespace cupel::test {

namespace {

using base::Random;

constexpr const char* kWords[] = {
    "own",        "so",      "rt",          "wr",        "ww",         "rw",
    "saw",        "given",   "only-writer", "assumed",   "list-order", "visible",
    "no-overlap", "initial", "overwritten", "earlier",   "later",      "bb",
    "bc",         "cb",      "cc",          "satisfied", "violated"};
constexpr const char* kAnomalies[] = {
    "thin-air-read",       "aborted-read",       "intermediate-read",  "future-read",
    "not-my-own-write",    "not-my-last-write",  "incompatible-order", "duplicate-element",
    "non-repeatable-read", "failed-compare-read"};

std::string_view any_level(Random& random) {
  return levels::kLevelSpecs[random.below(levels::kLevelCount)].name;
}

using Nodes = std::vector<Json*>;

void flatten(Json& node, Nodes& into) {
  into.push_back(&node);
  if (!node.is_structured()) return;
  for (auto& child : node) flatten(child, into);
}

// One of those that suit; nullptr if there is none.
Json* pick(const Nodes& nodes, Random& random, const std::function<bool(const Json&)>& suits) {
  Nodes suitable;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(suitable),
               [&](const Json* n) { return suits(*n); });
  return suitable.empty() ? nullptr : suitable[random.below(suitable.size())];
}

bool is_list(const Json& n) {
  return n.is_array() && !n.empty();
}
bool has_two(const Json& n) {
  return n.is_array() && n.size() > 1;
}
bool is_number(const Json& n) {
  return n.is_number();
}

}  // namespace

std::string mutate(Json& certificate, Random& random) {
  while (true) {
    Nodes nodes;
    // Mostly inside the proofs.
    if (random.chance(0.85)) {
      for (auto& proof : certificate["proofs"]) flatten(proof, nodes);
    } else {
      flatten(certificate, nodes);
    }
    switch (random.below(12)) {
      case 0:
        if (Json* list = pick(nodes, random, is_list)) {
          list->erase(random.below(list->size()));
          return "an element dropped";
        }
        break;
      case 1:
        if (Json* list = pick(nodes, random, has_two)) {
          const auto i = random.below(list->size()), j = random.below(list->size());
          if ((*list)[i] == (*list)[j]) break;
          std::swap((*list)[i], (*list)[j]);
          return "two elements swapped";
        }
        break;
      case 2:
        if (Json* list = pick(nodes, random, is_list)) {
          const Json element = (*list)[random.below(list->size())];
          list->insert(list->begin() + static_cast<std::ptrdiff_t>(random.below(list->size() + 1)),
                       element);
          return "an element repeated";
        }
        break;
      case 3:
      case 4:
        if (Json* number = pick(nodes, random, is_number)) {
          const auto before = number->get<std::int64_t>();
          const auto after =
              random.chance(0.5) ? before + (random.chance(0.5) ? 1 : -1) : random.between(0, 12);
          if (after == before) break;
          *number = after;
          return "a number changed";
        }
        break;
      case 5:
        if (Json* number = pick(nodes, random, is_number)) {
          *number = nullptr;
          return "null for a number";
        }
        break;
      case 6:
      case 7:
        if (Json* word = pick(nodes, random, [](const Json& n) { return n.is_string(); })) {
          const auto dice = random.below(3);
          const std::string after(dice == 0   ? kWords[random.below(std::size(kWords))]
                                  : dice == 1 ? any_level(random)
                                              : kAnomalies[random.below(std::size(kAnomalies))]);
          if (*word == after) break;
          *word = after;
          return "a word changed";
        }
        break;
      case 8:
        if (Json* object =
                pick(nodes, random, [](const Json& n) { return n.is_object() && !n.empty(); })) {
          auto it = object->begin();
          std::advance(it, static_cast<std::ptrdiff_t>(random.below(object->size())));
          object->erase(it);
          return "a field dropped";
        }
        break;
      case 9: {  // a part moves to another place
        Json* from = pick(nodes, random, [](const Json& n) { return n.is_structured(); });
        Json* to = pick(nodes, random, [](const Json& n) { return n.is_structured(); });
        if (from == nullptr || *from == *to) break;
        const Json copy = *from;
        *to = copy;
        return "a part in another's place";
      }
      case 10: {
        auto& answers = certificate["answers"];
        if (!answers.is_array() || answers.empty()) break;
        Json& answer = answers[random.below(answers.size())];
        if (!answer.is_object() || !answer.contains("proof") || !answer.contains("verdict") ||
            !answer.contains("level"))
          break;
        switch (random.below(3)) {
          case 0:
            answer["verdict"] = answer["verdict"] == "satisfied" ? "violated" : "satisfied";
            break;
          case 1:
            answer["level"] = any_level(random);
            break;
          default:
            answer["proof"] = random.below(certificate["proofs"].size() + 1);
        }
        return "another answer";
      }
      default:
        if (random.chance(0.5)) {
          certificate["clock_drift_ns"] = random.between(0, 9);
        } else {
          certificate["history"]["digest"] = "0123456789abcdef";
        }
        return "another drift or digest";
    }
  }
}

}  // namespace cupel::test
