// Keys: see the header.
#include "engine/online/keys.hpp"

#include <algorithm>
#include <bit>

#include "data/history/streamed.hpp"

namespace cupel::online {

using history::ScalarKind;
using history::ScalarView;

namespace {

// The steps of MurmurHash3's last mix.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0xa0761d6478bd642full + std::rotl(b, 29) + 0xe7037ed1a0b428dbull;
  x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
  return x ^ x >> 33;
}

bool has_text(ScalarKind kind) {
  return kind != ScalarKind::kNull && kind != ScalarKind::kInteger;
}

}  // namespace

void ListHash::add(ScalarView element) {
  std::uint64_t one = 0x8ebc6af09c88c6e3ull + static_cast<std::uint64_t>(element.kind);
  std::uint64_t two = ~one;
  const auto take = [&](std::uint64_t word) {
    one = mixed(one, word);
    two = mixed(word + 0x589965cc75374cc3ull, two);
  };
  take(static_cast<std::uint64_t>(element.integer));
  take(element.text.size());
  for (std::size_t i = 0; i < element.text.size(); i += 8) {
    std::uint64_t word = 0;
    for (std::size_t j = i; j < std::min(i + 8, element.text.size()); ++j) {
      word = word << 8 | static_cast<unsigned char>(element.text[j]);
    }
    take(word);
  }
  low = mixed(low, one);
  high = mixed(two, high + 1);
}

std::optional<ScalarView> Keys::held(Key key) const {
  const auto& facts = facts_[key];
  if (!facts.holds) return std::nullopt;
  if (!has_text(facts.kind)) return ScalarView{facts.kind, facts.integer, {}};
  return ScalarView{facts.kind, 0, texts_[static_cast<std::size_t>(facts.place)]};
}

void Keys::hold(Key key, ScalarView value) {
  auto& facts = facts_[key];
  if (const auto before = held(key)) {
    digest_ -= history::held_digest(name(key), history::kOfRegister, *before);
  }
  digest_ += history::held_digest(name(key), history::kOfRegister, value);
  if (has_text(value.kind) && facts.place < 0) {
    facts.place = static_cast<std::int32_t>(texts_.size());
    texts_.emplace_back();
  }
  if (has_text(value.kind)) texts_[static_cast<std::size_t>(facts.place)] = value.text;
  facts.holds = true;
  facts.kind = value.kind;
  facts.integer = value.integer;
}

bool Keys::begins_with_forgotten(Key key, const Operations& from,
                                 std::span<const Value> elements) const {
  const auto& facts = facts_[key];
  if (facts.forgotten == 0) return true;
  if (elements.size() < facts.forgotten) return false;
  ListHash hash;
  for (std::size_t i = 0; i < facts.forgotten; ++i) hash.add(from.view(elements[i]));
  return hash == hashes_[static_cast<std::size_t>(facts.place)];
}

void Keys::forget_element(Key key, ScalarView element) {
  auto& facts = facts_[key];
  digest_ += history::held_digest(name(key), facts.forgotten, element);
  if (facts.forgotten++ == 0) {
    facts.place = static_cast<std::int32_t>(hashes_.size());
    hashes_.emplace_back();
  }
  hashes_[static_cast<std::size_t>(facts.place)].add(element);
}

void Keys::save(StateWriter& out) const {
  out.number(digest_);
  out.number(facts_.size());
  for (Key key = 0; key < facts_.size(); ++key) {
    const auto& facts = facts_[key];
    out.scalar(name(key));
    out.number((facts.list ? 1u : 0u) | (facts.written ? 2u : 0u) | (facts.holds ? 4u : 0u));
    if (facts.holds) out.scalar(*held(key));
    out.number(facts.forgotten);
    if (facts.forgotten == 0) continue;
    const auto& hash = hashes_[static_cast<std::size_t>(facts.place)];
    out.number(hash.low);
    out.number(hash.high);
  }
}

void Keys::load(StateReader& in) {
  const auto digest = in.number();
  const auto count = in.count();
  for (std::size_t i = 0; i < count && in.good(); ++i) {
    const Key key = of(in.scalar());
    if (key != i) return in.spoil();  // it was there already
    const auto bits = in.below(8);
    if ((bits & 1) != 0) note_list(key);
    if ((bits & 2) != 0) note_register(key);
    if ((bits & 4) != 0) hold(key, in.scalar());
    auto& facts = facts_[key];
    facts.forgotten = in.below(0xffffffff);
    if (facts.forgotten == 0) continue;
    facts.place = static_cast<std::int32_t>(hashes_.size());
    auto& hash = hashes_.emplace_back();
    hash.low = in.number();
    hash.high = in.number();
  }
  digest_ = digest;
}

}  // namespace cupel::online
