// StreamedZones: see the header, and zones.cpp for the same of a History.
#include "engine/levels/streamed_zones.hpp"

#include <algorithm>

namespace cupel::levels {

using history::KeyId;
using history::OpKind;
using history::SingleOp;
using history::TxnStatus;
using history::ValueId;

bool StreamedZones::begin(const history::SingleOpFacts& facts) {
  if (!facts.default_initial.valid() || facts.values + facts.keys >= kNone) return false;
  values_ = facts.values;
  initial_.assign(facts.keys, facts.default_initial.raw);
  for (const auto& [key, value] : facts.initial) initial_[key.index()] = value.raw;
  versions_.resize(values_ + facts.keys);
  for (std::size_t k = 0; k < facts.keys; ++k) {
    Version& first = versions_[values_ + k];
    first.key = static_cast<std::uint32_t>(k);
    first.completed = first.written = kAlways;
  }
  completed_.assign(facts.sessions, kAlways);
  is_made_.assign(versions_.size(), 0);
  return true;
}

std::uint32_t StreamedZones::seen(KeyId key, ValueId value) const {
  return value.raw == initial_[key.index()] ? static_cast<std::uint32_t>(values_ + key.index())
                                            : value.raw;
}

// A value that is used at several keys would be several versions.
bool StreamedZones::belongs(std::uint32_t version, KeyId key) {
  auto& known = versions_[version].key;
  if (known == kNone) known = key.raw;
  return known == key.raw;
}

bool StreamedZones::add(std::span<const SingleOp> ops) {
  for (const SingleOp& op : ops) {
    const bool certain = op.status == TxnStatus::kCommitted;
    // Real time then says all that session order says.
    if (certain) {
      Time& last = completed_[op.session.index()];
      if (last != kAlways && op.invoke <= last) return false;
      last = op.complete;
    }
    std::uint32_t version = kNone;
    if (op.kind == OpKind::kRead) {
      if (!certain || !op.value.valid()) return false;
      version = seen(op.key, op.value);
    } else {
      version = op.value.raw;
      if (version == initial_[op.key.index()]) return false;
      Version& made = versions_[version];
      if (made.written != kForever) return false;  // written twice
      made.written = op.invoke;
      ++written_;
      if (op.kind == OpKind::kCompareAndSet) {
        if (!certain) return false;
        const auto before = seen(op.key, op.expected);
        if (before == version || !belongs(before, op.key) || versions_[before].next != kNone)
          return false;
        versions_[before].next = version;
        is_made_[version] = 1;
      }
    }
    if (!belongs(version, op.key)) return false;
    Version& v = versions_[version];
    if (certain) v.completed = std::min(v.completed, op.complete);
    v.invoked = std::max(v.invoked, op.invoke);
  }
  return true;
}

// Does a chain of versions agree with itself? Then its head has its bounds.
bool StreamedZones::chain(std::uint32_t head) {
  path_.clear();
  for (auto v = head; v != kNone; v = versions_[v].next) path_.push_back(v);
  chained_ += path_.size();
  Time completed = kForever, invoked = kAlways;  // of the versions after it
  for (auto i = path_.size(); i-- > 0;) {
    const Version& here = versions_[path_[i]];
    if (!is_initial(path_[i]) && here.completed < here.written) return false;
    if (completed < here.invoked) return false;
    completed = std::min(completed, here.completed);
    invoked = std::max(invoked, here.invoked);
  }
  versions_[head].completed = completed;
  versions_[head].invoked = invoked;
  return true;
}

std::optional<std::string_view> StreamedZones::decide() {
  for (std::uint32_t v = 0; v < versions_.size(); ++v) {
    if ((v & 0xffff) == 0 && budget_.exceeded()) return std::nullopt;
    const Version& version = versions_[v];
    if (version.key == kNone) continue;                    // a value nobody used
    if (version.written == kForever) return std::nullopt;  // seen, and written by nobody
    if (is_made_[v]) continue;
    if (!chain(v)) return std::nullopt;
  }
  if (chained_ != written_ + initial_.size()) return std::nullopt;  // compare-and-sets in a cycle

  // What is left of each chain is its bounds, at its head. What nobody saw for certain need
  // not have happened.
  std::uint32_t place = 0;
  for (std::uint32_t v = 0; v < versions_.size(); ++v) {
    if (versions_[v].key == kNone || is_made_[v] || versions_[v].completed == kForever) continue;
    versions_[place] = versions_[v];
    versions_[place++].next = is_initial(v) ? 1 : 0;
  }
  versions_.resize(place);
  const auto low = [](const Version& v) { return std::min(v.completed, v.invoked); };
  const auto before = [&](const Version& x, const Version& y) {
    if (x.key != y.key) return x.key < y.key;
    if (x.next != y.next) return x.next > y.next;
    if (low(x) != low(y)) return low(x) < low(y);
    return (x.completed >= x.invoked) > (y.completed >= y.invoked);
  };
  std::sort(versions_.begin(), versions_.end(), before);
  bool one_chain = true;            // a key, at most, but for an initial version nobody saw
  const Version* latest = nullptr;  // of those so far of the key, the one invoked last
  for (const Version& one : versions_) {
    if (latest != nullptr && latest->key != one.key) latest = nullptr;
    if (latest != nullptr) {
      if (one.completed < latest->invoked) return std::nullopt;
      one_chain = one_chain && latest->invoked == kAlways;
    }
    if (latest == nullptr || one.invoked > latest->invoked) latest = &one;
  }
  return one_chain ? "chain" : "zones";
}

}  // namespace cupel::levels
