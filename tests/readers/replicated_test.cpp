// Histories of replicated data types: JSON and EDN, with any spelling and order of members, are the
// same history.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "crdt/io/reader.hpp"
#include "crdt/random_history.hpp"
#include "readers/document.hpp"
#include "support/rounds.hpp"

namespace cupel::test {
namespace {

// A value for each number of the random history: a text that must be escaped, a nested value.
Document with_other_values(Document d, base::Random& random,
                           std::map<std::int64_t, Document>& all) {
  static const Document kValues[] = {
      Document::of("say \"hi\""),
      Document::of("back\\slash \n\t\x01"),
      Document::of("\xc3\xa4\xf0\x9f\x98\x80"),
      Document::of(-1),
      Document::of(std::numeric_limits<std::int64_t>::max()),
      Document::of("7"),
      Document::vector({Document::of("a"), Document::vector({Document::of(1)})}),
      Document::map({{"b", Document::of(1)}, {"a", Document::null()}})};
  if (d.kind == Document::Kind::kInteger) {
    const auto [at, fresh] = all.try_emplace(d.integer, d);
    if (fresh && random.chance(0.5) && d.integer >= 0 && d.integer < 8)
      at->second = kValues[d.integer];
    return at->second;
  }
  for (auto& item : d.items) item = with_other_values(item, random, all);
  return d;
}

// Numbers are elements, and may be any value, of these types only.
bool has_free_elements(crdt::Type type) {
  using crdt::Type;
  return type == Type::kAddWinsSet || type == Type::kRemoveWinsSet || type == Type::kGrowOnlySet ||
         type == Type::kTwoPhaseSet || type == Type::kMultiValueRegister ||
         type == Type::kLastWriterWinsRegister || type == Type::kStrongList;
}

std::string first_difference(const crdt::History& a, const crdt::History& b) {
  if (a.replicas != b.replicas) return "replicas";
  if (a.keys != b.keys) return "keys";
  if (a.elements.size() != b.elements.size()) return "elements";
  for (std::size_t e = 0; e < a.elements.size(); ++e) {
    if (a.elements[e].key != b.elements[e].key || a.elements[e].text != b.elements[e].text)
      return "element " + a.elements[e].text + " and " + b.elements[e].text;
  }
  if (a.ops.size() != b.ops.size()) return "operations";
  for (std::size_t i = 0; i < a.ops.size(); ++i) {
    const auto &x = a.ops[i], &y = b.ops[i];
    const auto left = a.list(x), right = b.list(y);
    if (x.kind != y.kind || x.replica != y.replica || x.key != y.key || x.element != y.element ||
        x.parent != y.parent || x.amount != y.amount || x.returned != y.returned ||
        x.time != y.time || !std::equal(left.begin(), left.end(), right.begin(), right.end())) {
      return "operation " + std::to_string(i);
    }
  }
  return crdt::write(a) == crdt::write(b) ? "" : "what is written of them";
}

TEST(Readers, AgreeOnReplicatedDataTypes) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < rounds(2000u); ++seed) {
    base::Random random(seed);
    const auto types = crdt::all_types();
    const auto type = types[seed % types.size()];
    const auto shape = crdt::small_shape(type, static_cast<int>(seed / types.size()), random);
    const auto written = crdt::write(crdt::random_history(type, shape, random));
    std::string json, styled, edn;
    std::map<std::int64_t, Document> values;
    for (std::string_view rest = written; !rest.empty();) {
      const auto line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      auto map = document_of(line);
      ASSERT_TRUE(map) << line;
      for (auto& [name, value] : map->members) {
        if (name == "value" && has_free_elements(type))
          value = with_other_values(value, random, values);
      }
      const Style style{.random = &random, .one_line = true, .string_names = false, .tags = false};
      json += to_json(*map) + "\n";
      styled += to_json(*map, style) + "\n";
      edn += op_map_to_edn(*map, style) + "\n";
    }
    const auto plain = crdt::read(json, "input", {type});
    const auto other = crdt::read(styled, "input", {type}, 1 + seed % 3);
    const auto third = crdt::read(edn, "input", {type}, 1 + seed % 2);
    ASSERT_EQ(plain.ok(), other.ok()) << json << styled;
    ASSERT_EQ(plain.ok(), third.ok())
        << (plain.ok() ? third.error() : plain.error()).to_string() << "\n"
        << json << edn;
    if (!plain.ok()) continue;
    ASSERT_EQ(first_difference(*plain, *other), "") << json << styled;
    ASSERT_EQ(first_difference(*plain, *third), "") << json << edn;
    const auto back = crdt::read(crdt::write(*plain, /*edn=*/true), "input", {type});
    ASSERT_TRUE(back.ok()) << back.error().to_string();
    ASSERT_EQ(first_difference(*plain, *back), "") << json;
    ++compared;
  }
  EXPECT_GT(compared, rounds(1900u));
}

}  // namespace
}  // namespace cupel::test
