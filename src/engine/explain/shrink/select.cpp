// Material: see the header. Everything but the one pass over the history costs
// what the material costs, so that a part can be tried a thousand times.
#include "engine/explain/shrink/select.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "base/hash_table.hpp"
#include "data/history/builder.hpp"
#include "data/history/text_order.hpp"
#include "data/history/written.hpp"

namespace cupel::shrink {

using history::HistoryBuilder;
using history::Operation;
using history::OpKind;
using history::written;

namespace {

bool is_absence(const History& h, const Operation& op) {
  return op.kind == OpKind::kDelete || written(h, op) == h.null_value();
}

// The keys that a range read covers, each with what it saw there (none(): nothing).
std::vector<std::pair<KeyId, ValueId>> covered(const History& h, const Operation& op) {
  const auto range = h.range(op);
  std::vector<std::pair<KeyId, ValueId>> keys;
  base::HashMap<KeyId, ValueId> returned;
  for (const auto& entry : range.entries) returned.emplace(entry.key, entry.value);
  for (const auto& entry : range.entries) keys.emplace_back(entry.key, entry.value);
  history::for_each_sure_key(h, range, [&](KeyId key) {
    if (!returned.contains(key) && !h.is_list(key)) keys.emplace_back(key, ValueId::none());
  });
  return keys;
}

}  // namespace

Material::Material(const History& history, std::span<const OperationRef> references,
                   bool whole_lists)
    : history_(history) {
  std::vector<OperationRef> all(references.begin(), references.end());
  for (const OperationRef& m : references) {
    if (!m.op.valid()) continue;
    want_all_of(m.op, whole_lists);
    for (const OpId append : own_appends_before(m.txn, m.op)) {
      want_all_of(append, whole_lists);
      all.push_back({m.txn, append});
    }
  }
  find_writers(all);
  number(std::move(all));
  note_needs();
}

Material::Group Material::want(Written how, KeyId key, ValueId value) {
  const auto [it, fresh] =
      groups_.try_emplace(Wanted{how, key, value}, static_cast<Group>(writers_.size()));
  if (fresh) {
    writers_.emplace_back();
    const auto [place, fresh_key] =
        number_of_key_.try_emplace(key, static_cast<std::uint32_t>(special_of_key_.size()));
    if (fresh_key) special_of_key_.emplace_back();
    if (how != Written::kValue) special_of_key_[place->second].push_back(it->second);
  }
  return it->second;
}

Material::Group Material::group_of(Written how, KeyId key, ValueId value) const {
  const auto it = groups_.find(Wanted{how, key, value});
  return it == groups_.end() ? kUnknown : it->second;
}

void Material::want_all_of(OpId id, bool whole_lists) {
  const Operation op = history_.op(id);
  switch (op.kind) {
    case OpKind::kRead:
      if (op.value.valid()) want(Written::kValue, op.key, op.value);
      break;
    case OpKind::kAppend:
      want(Written::kValue, op.key, op.value);  // whoever else appended it
      break;
    case OpKind::kListRead:
      if (whole_lists && history_.list_known(op)) {
        for (const ValueId v : history_.list(op)) want(Written::kValue, op.key, v);
      }
      break;
    case OpKind::kRangeRead:
      for (const auto& [key, value] : covered(history_, op)) {
        if (value.valid()) {
          want(Written::kValue, key, value);
        } else {
          want(Written::kAbsence, key, ValueId::none());
        }
      }
      break;
    case OpKind::kCompareAndSet: {
      const auto cas = history_.compare_and_set(op);
      want(cas.succeeded ? Written::kValue : Written::kOther, op.key, cas.expected);
      break;
    }
    default:
      break;
  }
}

std::vector<OpId> Material::own_appends_before(TxnId txn, OpId read) const {
  std::vector<OpId> appends;
  if (history_.kind(read) != OpKind::kListRead) return appends;
  const KeyId key = history_.op(read).key;
  for (auto i = history_.first_op(txn); i < read.raw; ++i) {
    const Operation op = history_.op(OpId(i));
    if (op.kind == OpKind::kAppend && op.key == key) appends.emplace_back(i);
  }
  return appends;
}

void Material::find_writers(std::vector<OperationRef>& found) {
  if (groups_.empty()) return;
  std::vector<std::uint8_t> wanted(history_.key_count(), 0);
  for (const auto& [key, unused] : number_of_key_) wanted[key.index()] = 1;
  std::vector<std::pair<Group, Wanted>> others;
  for (const auto& [what, group] : groups_) {
    if (what.written == Written::kOther) others.emplace_back(group, what);
  }
  std::sort(others.begin(), others.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t t = 0; t < history_.txn_count(); ++t) {
    const TxnId txn(t);
    for (auto i = history_.first_op(txn); i < history_.last_op(txn); ++i) {
      const Operation op = history_.op(OpId(i));
      if (!op.key.valid() || wanted[op.key.index()] == 0) continue;
      const ValueId value = written(history_, op);
      if (!value.valid()) continue;
      const auto add = [&](Group group) {
        writers_[group].push_back({txn, OpId(i)});
        found.push_back({txn, OpId(i)});
      };
      if (const Group g = group_of(Written::kValue, op.key, value); g != kUnknown) add(g);
      if (special_of_key_[number_of_key_.at(op.key)].empty()) continue;
      if (is_absence(history_, op)) {
        const Group g = group_of(Written::kAbsence, op.key, ValueId::none());
        if (g != kUnknown) add(g);
      }
      for (const auto& [group, what] : others) {
        if (what.key == op.key && what.value != value) add(group);
      }
    }
  }
}

void Material::number(std::vector<OperationRef> references) {
  for (const OperationRef& m : references) txns_.push_back(m.txn);
  std::sort(txns_.begin(), txns_.end());
  txns_.erase(std::unique(txns_.begin(), txns_.end()), txns_.end());
  for (std::uint32_t t = 0; t < txns_.size(); ++t) number_of_txn_.emplace(txns_[t], t);
  std::erase_if(references, [](const OperationRef& m) { return !m.op.valid(); });
  std::sort(references.begin(), references.end(), [](const OperationRef& a, const OperationRef& b) {
    return std::pair(a.txn, a.op) < std::pair(b.txn, b.op);
  });
  for (const OperationRef& m : references) {
    if (!number_of_op_.try_emplace(m.op, static_cast<std::uint32_t>(ops_.size())).second) continue;
    ops_.push_back({m.op, number_of_txn_.at(m.txn), {}, {}, {}});
  }
  writer_ops_.resize(writers_.size());
  for (std::size_t g = 0; g < writers_.size(); ++g) {
    for (const OperationRef& m : writers_[g]) writer_ops_[g].push_back(number_of_op_.at(m.op));
  }
}

void Material::note_needs() {
  list_readers_.resize(writers_.size());
  for (LocalOp& local : ops_) {
    const Operation op = history_.op(local.id);
    if (op.key.valid()) {
      const auto number = static_cast<std::uint32_t>(number_of_key_.size());
      if (number_of_key_.try_emplace(op.key, number).second) special_of_key_.emplace_back();
    }
    switch (op.kind) {
      case OpKind::kRead:
        if (op.value.valid()) local.needs = {group_of(Written::kValue, op.key, op.value)};
        break;
      case OpKind::kListRead:
        for (const OpId append : own_appends_before(txns_[local.txn], local.id)) {
          local.own_appends.push_back(number_of_op_.at(append));
        }
        for (std::size_t e = 0; history_.list_known(op) && e < history_.list(op).size(); ++e) {
          const Group g = group_of(Written::kValue, op.key, history_.list(op)[e]);
          if (g != kUnknown) list_readers_[g].push_back(number_of_op_.at(local.id));
        }
        break;
      case OpKind::kRangeRead:
        for (const auto& [key, value] : covered(history_, op)) {
          if (!value.valid()) {
            const Group g = group_of(Written::kAbsence, key, ValueId::none());
            local.range.push_back({key, g, false});
            continue;
          }
          const Group g = group_of(Written::kValue, key, value);
          const bool thin_air =
              g != kUnknown && writer_ops_[g].empty() && history_.initial_value(key) != value;
          local.range.push_back({key, g, thin_air});
        }
        break;
      case OpKind::kCompareAndSet: {
        const auto cas = history_.compare_and_set(op);
        local.needs = {
            group_of(cas.succeeded ? Written::kValue : Written::kOther, op.key, cas.expected)};
        break;
      }
      default:
        break;
    }
  }
}

bool Material::complete(const Kept& kept, Group group) const {
  return group != kUnknown && std::all_of(writer_ops_[group].begin(), writer_ops_[group].end(),
                                          [&](auto op) { return kept.ops[op] != State::kOut; });
}

bool Material::element_seen(const Kept& kept, Group group) const {
  return std::any_of(list_readers_[group].begin(), list_readers_[group].end(),
                     [&](auto op) { return kept.ops[op] != State::kOut; });
}

bool Material::element_kept(const Kept& kept, KeyId key, ValueId element) const {
  return complete(kept, group_of(Written::kValue, key, element));
}

// Keys that are in the part whatever range reads may be in it, by number.
std::vector<std::uint8_t> Material::live_keys(const Kept& kept) const {
  std::vector<std::uint8_t> live(number_of_key_.size(), 0);
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    if (kept.ops[i] == State::kOut) continue;
    const KeyId key = history_.op(ops_[i].id).key;
    if (key.valid()) live[number_of_key_.at(key)] = 1;
    for (const RangeKey& covers : ops_[i].range) {
      if (covers.thin_air) live[number_of_key_.at(covers.key)] = 1;
    }
  }
  return live;
}

bool Material::satisfied(const Kept& kept, const LocalOp& op,
                         const std::vector<std::uint8_t>& live) const {
  for (const RangeKey& covers : op.range) {
    if (live[number_of_key_.at(covers.key)] != 0 && !complete(kept, covers.writers)) return false;
  }
  const auto in = [&](auto other) { return kept.ops[other] != State::kOut; };
  if (!op.own_appends.empty() && std::none_of(op.own_appends.begin(), op.own_appends.end(), in)) {
    return false;
  }
  return std::all_of(op.needs.begin(), op.needs.end(),
                     [&](Group group) { return complete(kept, group); });
}

Material::Kept Material::all() const {
  Kept kept{std::vector<std::uint8_t>(txns_.size(), 1),
            std::vector<State>(ops_.size(), State::kIn)};
  settle(kept);
  return kept;
}

Material::Kept Material::only(std::span<const OperationRef> references) const {
  Kept kept{std::vector<std::uint8_t>(txns_.size(), 0),
            std::vector<State>(ops_.size(), State::kOut)};
  const auto add = [&](std::uint32_t op) {
    kept.ops[op] = State::kIn;
    kept.txns[ops_[op].txn] = 1;
  };
  for (const OperationRef& m : references) {
    if (const auto t = number_of_txn_.find(m.txn); t != number_of_txn_.end()) {
      kept.txns[t->second] = 1;
    }
    if (!m.op.valid()) continue;
    const auto it = number_of_op_.find(m.op);
    if (it == number_of_op_.end()) continue;
    add(it->second);
    const LocalOp& local = ops_[it->second];
    for (const Group g : local.needs) {
      if (g == kUnknown) continue;
      for (const auto writer : writer_ops_[g]) add(writer);
    }
    for (const RangeKey& covers : local.range) {
      if (covers.writers == kUnknown) continue;
      for (const auto writer : writer_ops_[covers.writers]) add(writer);
    }
    const auto add_element = [&](std::uint32_t append) {
      const Operation op = history_.op(ops_[append].id);
      const Group g = group_of(Written::kValue, op.key, op.value);
      if (g == kUnknown) return;
      for (const auto writer : writer_ops_[g]) add(writer);
    };
    for (const auto append : local.own_appends) add_element(append);
    if (history_.kind(m.op) == OpKind::kAppend) add_element(it->second);
  }
  settle(kept);
  return kept;
}

void Material::settle(Kept& kept) const {
  for (bool changed = true; changed;) {
    changed = false;
    const auto set = [&](std::uint32_t op, State state) {
      changed = changed || kept.ops[op] != state;
      kept.ops[op] = state;
    };
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
      if (kept.ops[i] == State::kOut) continue;
      if (kept.txns[ops_[i].txn] == 0) set(i, State::kOut);
      // All appends of an element or none, if a list read saw it.
      const Operation op = history_.op(ops_[i].id);
      if (op.kind == OpKind::kAppend && !element_kept(kept, op.key, op.value)) {
        const Group group = group_of(Written::kValue, op.key, op.value);
        if (group != kUnknown && element_seen(kept, group)) set(i, State::kOut);
      }
    }
    const auto live = live_keys(kept);
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
      if (kept.ops[i] != State::kIn || satisfied(kept, ops_[i], live)) continue;
      const Operation op = history_.op(ops_[i].id);
      const bool writes = op.kind == OpKind::kCompareAndSet && written(history_, op).valid();
      set(i, writes ? State::kWriteOnly : State::kOut);
    }
  }
}

Part Material::part(const Kept& kept) const {
  const History& h = history_;
  Part part;
  HistoryBuilder builder;
  const auto live = live_keys(kept);
  const auto key_of = [&](KeyId key) { return builder.key(h.key(key)); };
  const auto value_of = [&](ValueId value) { return builder.value(h.value(value)); };
  std::vector<KeyId> keys;  // of the whole
  const auto add = [&](const LocalOp& local, State state) {
    const Operation op = h.op(local.id);
    if (op.key.valid()) keys.push_back(op.key);
    if (state == State::kWriteOnly) {
      return builder.write(key_of(op.key), value_of(written(h, op)));
    }
    if (op.kind == OpKind::kListRead && h.list_known(op)) {
      std::vector<ValueId> elements;
      for (const ValueId v : h.list(op)) {
        if (element_kept(kept, op.key, v)) elements.push_back(value_of(v));
      }
      return builder.list_read(key_of(op.key), elements);
    }
    if (op.kind == OpKind::kRangeRead) {
      const auto range = h.range(op);
      std::vector<history::RangeEntry> entries;
      for (const auto& entry : range.entries) {
        if (live[number_of_key_.at(entry.key)] == 0) continue;
        keys.push_back(entry.key);
        entries.push_back({key_of(entry.key), value_of(entry.value)});
      }
      return builder.range_read(value_of(range.low), value_of(range.high), entries);
    }
    builder.copy(h, local.id);
  };

  std::size_t next = 0;
  for (std::uint32_t t = 0; t < txns_.size(); ++t) {
    const auto first = next;
    while (next < ops_.size() && ops_[next].txn == t) ++next;
    if (kept.txns[t] == 0) continue;
    const TxnId txn = txns_[t];
    builder.begin(builder.session(h.session_name(h.session(txn))), h.status(txn),
                  {.invoke = h.invoke(txn),
                   .complete = h.complete(txn),
                   .label = h.label(txn),
                   .place = h.place(txn)});
    part.original_txn.push_back(txn);
    for (auto i = first; i < next; ++i) {
      if (kept.ops[i] == State::kOut) continue;
      add(ops_[i], kept.ops[i]);
      part.original_op.push_back(ops_[i].id);
    }
    builder.end();
  }
  builder.set_default_initial(value_of(h.default_initial_value()));
  for (const KeyId key : keys) {
    const ValueId initial = h.initial_value(key);
    if (initial != h.default_initial_value()) builder.set_initial(key_of(key), value_of(initial));
  }
  for (const auto& [name, text] : h.metadata()) builder.set_metadata(name, text);
  auto built = std::move(builder).finish();
  assert(built.ok() && "a part of a history that was sound");
  part.history = std::move(*built);
  return part;
}

}  // namespace cupel::shrink
