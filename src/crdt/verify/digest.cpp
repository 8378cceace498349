// Digest: FNV-1a.
#include "crdt/verify/digest.hpp"

#include <fmt/format.h>

#include "base/fnv.hpp"

namespace cupel::crdt {

namespace {

class Digest {
 public:
  void operations(const History& history) {
    mix(name(history.type));
    for (OpId id = 0; id < history.ops.size(); ++id) {
      const auto& op = history.ops[id];
      mix(history.replicas[op.replica]);
      mix(history.keys[op.key]);
      mix(history.method(op));
      mix(op.element == kNone ? "" : history.elements[op.element].text);
      mix(op.parent == kNone ? "" : history.elements[op.parent].text);
      mix(std::to_string(op.amount));
      mix(op.returned ? "t" : "f");
      for (const auto e : history.list(op)) mix(history.elements[e].text);
    }
  }

  void context(const History& history) {
    if (history.context.is_known()) mix(std::to_string(static_cast<int>(history.context.rule)));
    for (const Reception& reception : history.context.receptions) {
      mix(fmt::format("{} {} {}", static_cast<int>(reception.kind),
                      history.replicas[reception.replica], reception.seq));
      for (const NamedUpdates& named : history.context.updates(reception))
        mix(fmt::format("{} {} {}", static_cast<int>(named.kind), named.of, named.count));
    }
  }

  void mix(std::string_view text) { hash_ = base::fnv("\x1f", base::fnv(text, hash_)); }

  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = base::fnv("");
};

}  // namespace

std::uint64_t digest(const History& history) {
  Digest digest;
  digest.operations(history);
  digest.context(history);
  return digest.value();
}

std::uint64_t digest(const Recording& recording) {
  if (!recording.is_named()) return digest(recording.whole());
  Digest digest;
  for (const ObjectHistory& object : recording.objects) {
    digest.mix(object.name);
    digest.operations(object.history);
  }
  // The order of the operations of a replica on several objects.
  for (const auto& place : recording.place) digest.mix(std::to_string(place.object));
  digest.context(recording.combined);
  return digest.value();
}

}  // namespace cupel::crdt
