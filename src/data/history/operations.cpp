// Operations: see the header.
#include "data/history/operations.hpp"

namespace cupel::history {

Value Operations::keep(ScalarView scalar) {
  if (scalar.kind == ScalarKind::kNull) return {};
  if (scalar.kind == ScalarKind::kInteger) return {scalar.kind, 0, scalar.integer};
  const auto at = static_cast<std::int64_t>(text_.size());
  text_ += scalar.text;
  return {scalar.kind, static_cast<std::uint32_t>(scalar.text.size()), at};
}

std::string_view Operations::text_of(const Value& value) const {
  if (value.kind == ScalarKind::kNull || value.kind == ScalarKind::kInteger) return {};
  return std::string_view(text_).substr(static_cast<std::size_t>(value.integer), value.size);
}

void Operations::read(Key key, Value value, bool known) {
  all_.push_back({.kind = OpKind::kRead, .known = known, .key = key, .value = value});
}

void Operations::write(OpKind kind, Key key, Value value) {
  all_.push_back({.kind = kind, .key = key, .value = value});
}

void Operations::compare_and_set(Key key, Value expected, Value desired, bool succeeded) {
  all_.push_back({.kind = OpKind::kCompareAndSet,
                  .succeeded = succeeded,
                  .key = key,
                  .value = expected,
                  .other = desired});
}

void Operations::list_read(Key key, bool known) {
  all_.push_back({.kind = OpKind::kListRead,
                  .known = known,
                  .key = key,
                  .first = static_cast<std::uint32_t>(elements_.size())});
}

void Operations::element(Value value) {
  elements_.push_back(value);
  ++all_.back().count;
}

void Operations::range_read(Value low, Value high) {
  all_.push_back({.kind = OpKind::kRangeRead,
                  .value = low,
                  .other = high,
                  .first = static_cast<std::uint32_t>(entries_.size())});
}

void Operations::entry(Key key, Value value) {
  entries_.push_back({key, value});
  ++all_.back().count;
}

void Operations::append(const Operations& from) {
  const auto shift = [&](Value value) {
    if (value.kind != ScalarKind::kNull && value.kind != ScalarKind::kInteger) {
      value.integer += static_cast<std::int64_t>(text_.size());
    }
    return value;
  };
  for (auto op : from.all_) {
    if (op.kind == OpKind::kListRead) op.first += static_cast<std::uint32_t>(elements_.size());
    if (op.kind == OpKind::kRangeRead) op.first += static_cast<std::uint32_t>(entries_.size());
    op.value = shift(op.value);
    op.other = shift(op.other);
    all_.push_back(op);
  }
  for (const auto& value : from.elements_) elements_.push_back(shift(value));
  for (const auto& entry : from.entries_) entries_.push_back({entry.key, shift(entry.value)});
  text_ += from.text_;
}

void Operations::append(const Operations& from, const Operation& op, bool known) {
  const auto again = [&](const Value& value) { return keep(from.view(value)); };
  auto copy = op;
  copy.first = copy.count = 0;
  const bool list = op.kind == OpKind::kListRead, range = op.kind == OpKind::kRangeRead;
  copy.known = op.known && (known || !(list || range || op.kind == OpKind::kRead));
  copy.value = copy.known ? again(op.value) : Value();
  copy.other = again(op.other);
  if (list) copy.first = static_cast<std::uint32_t>(elements_.size());
  if (range) copy.first = static_cast<std::uint32_t>(entries_.size());
  all_.push_back(copy);
  if (!copy.known) return;
  if (list) {
    for (const auto& value : from.elements(op)) element(again(value));
  } else if (range) {
    for (const auto& found : from.entries(op)) entry(found.key, again(found.value));
  }
}

void Operations::save(StateWriter& out) const {
  out.number(all_.size());
  for (const auto& op : all_) {
    out.number(static_cast<std::uint64_t>(op.kind));
    out.flag(op.known);
    out.flag(op.succeeded);
    out.number(op.key);
    out.scalar(view(op.value));
    out.scalar(view(op.other));
    out.number(op.count);
    if (op.kind == OpKind::kListRead) {
      for (const auto& element : elements(op)) out.scalar(view(element));
    } else if (op.kind == OpKind::kRangeRead) {
      for (const auto& entry : entries(op)) {
        out.number(entry.key);
        out.scalar(view(entry.value));
      }
    }
  }
}

void Operations::load(StateReader& in, std::size_t keys) {
  constexpr auto kKinds = static_cast<std::size_t>(OpKind::kCompareAndSet) + 1;
  const auto size = in.count();
  for (std::size_t i = 0; i < size && in.good(); ++i) {
    const auto kind = static_cast<OpKind>(in.below(kKinds));
    const bool known = in.flag(), succeeded = in.flag();
    const Key key = kind == OpKind::kRangeRead ? (in.number(), 0) : in.below(keys);
    const Value value = keep(in.scalar()), other = keep(in.scalar());
    const auto count = in.count();
    Operation op{.kind = kind,
                 .known = known,
                 .succeeded = succeeded,
                 .key = key,
                 .value = value,
                 .other = other,
                 .count = static_cast<std::uint32_t>(count)};
    if (kind == OpKind::kListRead) {
      op.first = static_cast<std::uint32_t>(elements_.size());
      for (std::size_t j = 0; j < count && in.good(); ++j) elements_.push_back(keep(in.scalar()));
    } else if (kind == OpKind::kRangeRead) {
      op.first = static_cast<std::uint32_t>(entries_.size());
      for (std::size_t j = 0; j < count && in.good(); ++j) {
        const Key of = in.below(keys);
        entries_.push_back({of, keep(in.scalar())});
      }
    }
    all_.push_back(op);
  }
}

std::uint64_t Operations::resident_bytes() const {
  return all_.capacity() * sizeof(Operation) + elements_.capacity() * sizeof(Value) +
         entries_.capacity() * sizeof(Entry) + text_.capacity();
}

}  // namespace cupel::history
