// ObjectHistory: see the header.
#include "data/history/object_history.hpp"

#include "data/history/fold.hpp"

namespace cupel::history {

std::vector<std::vector<std::uint32_t>> ObjectHistory::by_object() const {
  std::vector<std::vector<std::uint32_t>> groups(objects.size());
  for (std::uint32_t i = 0; i < ops.size(); ++i) groups[ops[i].object].push_back(i);
  return groups;
}

std::string ObjectHistory::fact(std::string_view name) const {
  const auto found = metadata.find(name);
  return found == metadata.end() ? std::string() : found->second;
}

void ObjectHistory::allow_drift(Time drift) {
  if (drift <= 0) return;
  for (auto& op : ops) {
    constexpr auto kFirst = std::numeric_limits<Time>::min();
    op.invoke = op.invoke < kFirst + drift ? kFirst : op.invoke - drift;
    op.complete = op.complete > kNever - drift ? kNever : op.complete + drift;
  }
}

std::uint64_t digest(const ObjectHistory& history) {
  Fold fold;
  fold.add(static_cast<std::uint64_t>(history.kind));
  for (const auto* table : {&history.objects, &history.elements}) {
    fold.add(table->size());
    for (std::uint32_t i = 0; i < table->size(); ++i) fold.add(table->at(i));
  }
  fold.add(history.ops.size());
  for (const auto& op : history.ops) {
    fold.add(static_cast<std::uint64_t>(op.object) << 32 |
             static_cast<std::uint64_t>(op.call) << 16 |
             static_cast<std::uint64_t>(op.status) << 8 | static_cast<std::uint64_t>(op.known));
    fold.add(static_cast<std::uint64_t>(op.invoke));
    fold.add(static_cast<std::uint64_t>(op.complete));
    fold.add(op.count);
    fold.add(static_cast<std::uint64_t>(op.number));
    for (const auto value : history.values_of(op)) fold.add(value);
  }
  for (const auto number : history.numbers) fold.add(static_cast<std::uint64_t>(number));
  return fold.value();
}

std::string_view name(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kSet:
      return "set";
    case ObjectKind::kCounter:
      return "counter";
    case ObjectKind::kUniqueIds:
      return "unique-ids";
    case ObjectKind::kFifoQueue:
      return "fifo-queue";
    case ObjectKind::kBag:
      return "total-queue";
    case ObjectKind::kBank:
      break;
  }
  return "bank";
}

std::string_view name(Call call) {
  switch (call) {
    case Call::kAdd:
      return "add";
    case Call::kRead:
      return "read";
    case Call::kGenerate:
      return "generate";
    case Call::kEnqueue:
      return "enqueue";
    case Call::kDequeue:
      return "dequeue";
    case Call::kTransfer:
      break;
  }
  return "transfer";
}

}  // namespace cupel::history
