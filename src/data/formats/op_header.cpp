// Op header: see the header.
#include "data/formats/op_header.hpp"

#include <fmt/format.h>

#include "data/formats/formats.hpp"
#include "data/history/starts_empty.hpp"

namespace cupel::formats::jepsen {

Refusal Contents::take_header(const Chunk& chunk, const Event& event) {
  const Cell value = chunk.values[event.first];
  if (!value.is_vector()) return malformed_header(event.f);
  switch (event.f) {
    case F::kMetadata:
      return take_metadata(chunk, value);
    case F::kSessions:
      return take_sessions(chunk, value);
    default:
      return take_initial(chunk, value);
  }
}

Refusal Contents::take_metadata(const Chunk& chunk, const Cell& pairs) {
  for (std::size_t i = 0; i < pairs.size; ++i) {
    const Cell pair = chunk.child(pairs, i);
    if (!pair.is_vector() || pair.size != 2) return malformed_header(F::kMetadata);
    const Cell name = chunk.child(pair, 0), text = chunk.child(pair, 1);
    if (name.tag != Tag::kString || text.tag != Tag::kString) return malformed_header(F::kMetadata);
    says_nothing_happened_ = says_nothing_happened_ || name.view() == kNothingHappened;
    if (name.view() == "kind") said_kind_ = text.view();
    set_fact(name.view(), text.view());
  }
  return std::nullopt;
}

Refusal Contents::take_sessions(const Chunk& chunk, const Cell& names) {
  std::vector<std::string_view> all;
  for (std::size_t i = 0; i < names.size; ++i) {
    const Cell name = chunk.child(names, i);
    if (name.tag != Tag::kString) return malformed_header(F::kSessions);
    all.push_back(name.view());
  }
  set_sessions(all);
  return std::nullopt;
}

Refusal Contents::take_initial(const Chunk& chunk, const Cell& value) {
  if (value.size != 2 || !chunk.child(value, 1).is_vector()) return malformed_header(F::kInitial);
  if (auto refused = may_set_initial()) return refused;
  std::string key_text, value_text;
  const auto of_all = scalar_of(chunk, chunk.child(value, 0), value_text);
  starts_as_collection_ = is_collection(of_all);
  collection_held_ = collection_held_ || starts_as_collection_;
  set_default_initial(of_all);
  const Cell pairs = chunk.child(value, 1);
  history::ScalarTable keys;
  for (std::size_t i = 0; i < pairs.size; ++i) {
    const Cell pair = chunk.child(pairs, i);
    if (!pair.is_vector() || pair.size != 2) return malformed_header(F::kInitial);
    const auto key = scalar_of(chunk, chunk.child(pair, 0), key_text);
    if (keys.intern(key) != i)
      return fmt::format("found two initial values of key {}", shown(chunk, chunk.child(pair, 0)));
    const auto started = scalar_of(chunk, chunk.child(pair, 1), value_text);
    if (auto refused = start_with(key, started)) return refused;
  }
  return std::nullopt;
}

Refusal Contents::start_with(history::ScalarView key, history::ScalarView value) {
  const bool is_register = !history::starts_empty(value);
  collection_held_ = collection_held_ || (is_register && is_collection(value));
  return set_initial(key, value, is_register);
}

}  // namespace cupel::formats::jepsen
