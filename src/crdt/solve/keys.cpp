// Keys: see the header.
#include "crdt/solve/keys.hpp"

namespace cupel::crdt {

Keys::Keys(const History& history, const Visibility& visibility)
    : h_(history),
      visibility_(visibility),
      ops_(history.keys.size()),
      order_(history.keys.size()),
      arrivals_(history.keys.size(), std::vector<std::vector<OpId>>(history.replicas.size())),
      elements_(history.keys.size()) {
  for (OpId id = 0; id < h_.ops.size(); ++id) ops_[h_.ops[id].key].push_back(id);
  for (const OpId id : visibility.order()) order_[h_.ops[id].key].push_back(id);
  for (std::uint32_t r = 0; r < h_.replicas.size(); ++r) {
    for (const OpId update : visibility.arrivals(r))
      arrivals_[h_.ops[update].key][r].push_back(update);
  }
  number_.reserve(h_.elements.size());
  for (std::uint32_t e = 0; e < h_.elements.size(); ++e) {
    auto& of_key = elements_[h_.elements[e].key];
    number_.push_back(static_cast<std::uint32_t>(of_key.size()));
    of_key.push_back(e);
  }
}

void Keys::take(std::uint32_t key, KeyPart& part) const {
  part.origin = ops_[key];
  part.elements = elements_[key];
  History& small = part.history;
  small = {};
  small.type = h_.type;
  small.context.rule = h_.context.rule;
  small.keys.emplace_back();
  small.replicas.resize(h_.replicas.size());
  small.by_replica.resize(h_.replicas.size());
  small.elements.assign(part.elements.size(), Element{0, ""});
  const auto number = [&](std::uint32_t e) { return e == kNone ? kNone : number_[e]; };
  std::vector<std::uint32_t> list;
  for (const OpId id : part.origin) {
    Operation op = h_.ops[id];
    list.clear();
    for (const auto e : h_.list(op)) list.push_back(number(e));
    op.key = 0;
    op.element = number(op.element);
    op.parent = number(op.parent);
    small.add(op, list);
  }
  part.visibility = visibility_.of_part(small, part.origin, arrivals_[key], order_[key]);
}

}  // namespace cupel::crdt
