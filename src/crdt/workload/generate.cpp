// Generate: operation-based replicas as in Shapiro et al. 2011; a bug is a line that differs.
#include "crdt/workload/generate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

namespace cupel::crdt {

namespace {

const std::vector<Bug>& bugs() {
  static const std::vector<Bug> all = {
      {"remove-kills-concurrent-add",
       {Type::kAddWinsSet},
       "a remove that arrives removes adds that it has not seen, too"},
      {"add-undoes-concurrent-remove",
       {Type::kRemoveWinsSet},
       "an add that arrives undoes removes that it has not seen, too"},
      {"disable-kills-concurrent-enable",
       {Type::kEnableWinsFlag},
       "a disable that arrives undoes enables that it has not seen, too"},
      {"enable-undoes-concurrent-disable",
       {Type::kDisableWinsFlag},
       "an enable that arrives undoes disables that it has not seen, too"},
      {"write-drops-sibling",
       {Type::kMultiValueRegister},
       "a write that arrives replaces values that it has not seen, too"},
      {"loses-increment", {Type::kCounter}, "now and then an update that arrives is not added"},
      {"ignores-timestamp",
       {Type::kLastWriterWinsRegister, Type::kGrowableArray},
       "what arrives last wins: the register keeps it, the array puts it first"},
      {"interleaves",
       {Type::kGrowableArray},
       "a character that arrives is put before older ones behind the same one, but into the middle "
       "of what stands behind newer ones"},
  };
  return all;
}

bool fits(const Bug& bug, Type type) {
  return std::find(bug.types.begin(), bug.types.end(), type) != bug.types.end();
}

struct Update {
  Operation op;
  OpId id = kNone;
  std::vector<std::uint32_t> past;  // updates seen, by replica
  std::uint64_t stamp = 0;          // Lamport's, at a replica above all that it has seen
  std::vector<OpId> observed;       // what it overwrites
};

// What the updates of a set's element, a flag, a register or a counter come to.
struct Object {
  std::vector<OpId> live;  // of the winning side, or a register's writes
  bool ever_up = false;
  std::int64_t sum = 0;
  std::uint64_t stamp = 0;
  std::uint32_t writer = 0;
  std::uint32_t value = kNone;
};

struct Character {
  std::uint32_t element;
  std::uint32_t parent;
  std::uint64_t stamp;
  std::uint32_t replica;
  bool removed;
};

enum class Fault : std::uint8_t { kNone, kTakesAll, kLoses, kIgnoresStamp, kInterleaves };

Fault fault_of(std::string_view bug) {
  if (bug.empty()) return Fault::kNone;
  if (bug == "loses-increment") return Fault::kLoses;
  if (bug == "ignores-timestamp") return Fault::kIgnoresStamp;
  if (bug == "interleaves") return Fault::kInterleaves;
  return Fault::kTakesAll;
}

class Replica {
 public:
  Replica(const History& history, Fault fault, std::uint32_t self)
      : h_(history),
        fault_(fault),
        self_(self),
        texts_(history.keys.size()),
        visible_(history.keys.size()) {}

  // Before it is applied: what an update of this replica overwrites.
  void prepare(Update& update) {
    update.stamp = ++clock_;
    if (h_.type != Type::kGrowableArray && h_.type != Type::kCounter)
      update.observed = object(update.op).live;
  }

  void apply(const Update& update, base::Random& random) {
    const Operation& op = update.op;
    clock_ = std::max(clock_, update.stamp);
    const bool remote = op.replica != self_;
    if (h_.type == Type::kGrowableArray) return edit(update, remote);
    Object& at = object(op);
    const auto overwrite = [&] {
      if (remote && fault_ == Fault::kTakesAll) at.live.clear();
      std::erase_if(at.live, [&](OpId id) {
        return std::find(update.observed.begin(), update.observed.end(), id) !=
               update.observed.end();
      });
    };
    switch (op.kind) {
      case Kind::kUp:
        at.ever_up = true;
        if (up_wins(h_.type))
          at.live.push_back(update.id);
        else
          overwrite();
        break;
      case Kind::kDown:
        if (up_wins(h_.type))
          overwrite();
        else
          at.live.push_back(update.id);
        break;
      case Kind::kInc:
        if (!(remote && fault_ == Fault::kLoses && random.chance(0.1))) at.sum += op.amount;
        break;
      case Kind::kWrite:
        if (h_.type == Type::kMultiValueRegister) {
          overwrite();
          at.live.push_back(update.id);
        } else if (at.value == kNone || fault_ == Fault::kIgnoresStamp ||
                   std::pair(at.stamp, at.writer) < std::pair(update.stamp, op.replica)) {
          at.stamp = update.stamp;
          at.writer = op.replica;
          at.value = op.element;
        }
        break;
      default:
        break;
    }
  }

  // Fills in what it returns.
  void answer(Operation& op, std::vector<std::uint32_t>& list) {
    switch (op.kind) {
      case Kind::kTest:
        op.returned = on(object(op));
        break;
      case Kind::kState:
        for (std::uint32_t e = 0; e < h_.elements.size(); ++e) {
          if (h_.elements[e].key == op.key && e < objects_.size() && on(objects_[e]))
            list.push_back(e);
        }
        break;
      case Kind::kValue:
        op.amount = object(op).sum;
        break;
      case Kind::kValues:
        if (h_.type == Type::kLastWriterWinsRegister) {
          if (object(op).value != kNone) list.push_back(object(op).value);
        } else {
          for (const OpId w : object(op).live) {
            if (const auto e = h_.ops[w].element;
                std::find(list.begin(), list.end(), e) == list.end())
              list.push_back(e);
          }
        }
        break;
      case Kind::kList:
        for (const auto& c : texts_[op.key]) {
          if (!c.removed) list.push_back(c.element);
        }
        break;
      default:
        break;
    }
  }

  [[nodiscard]] std::span<const std::vector<std::uint32_t>> visible() const { return visible_; }

 private:
  Object& object(const Operation& op) {
    const auto at = is_set(h_.type) ? op.element : op.key;
    if (at >= objects_.size()) objects_.resize(at + 1);
    return objects_[at];
  }
  [[nodiscard]] bool on(const Object& at) const {
    return up_wins(h_.type) ? !at.live.empty() : at.ever_up && at.live.empty();
  }

  void edit(const Update& update, bool remote) {
    auto& text = texts_[update.op.key];
    auto& visible = visible_[update.op.key];
    const auto find = [&](std::uint32_t e) {
      return std::find_if(text.begin(), text.end(),
                          [&](const Character& c) { return c.element == e; });
    };
    if (update.op.kind == Kind::kDelete) {
      // Out of order it may not be there; then it will never be removed.
      if (const auto at = find(update.op.element); at != text.end()) at->removed = true;
      std::erase(visible, update.op.element);
      return;
    }
    auto at = text.begin();
    if (update.op.parent != kNone) {
      at = find(update.op.parent);
      if (at != text.end()) ++at;
    }
    // What was added later behind the same character, and what is behind that, has a
    // larger stamp each.
    const auto after = [&](const Character& c) {
      return std::pair(c.stamp, c.replica) > std::pair(update.stamp, update.op.replica);
    };
    while (at != text.end() && after(*at)) {
      if (remote && fault_ == Fault::kIgnoresStamp) break;
      if (remote && fault_ == Fault::kInterleaves && at->parent != update.op.parent) break;
      ++at;
    }
    text.insert(at, {update.op.element, update.op.parent, update.stamp, update.op.replica, false});
    visible.push_back(update.op.element);
  }

  const History& h_;
  Fault fault_;
  std::uint32_t self_;
  std::uint64_t clock_ = 0;
  std::vector<Object> objects_;
  std::vector<std::vector<Character>> texts_;
  std::vector<std::vector<std::uint32_t>> visible_;
};

}  // namespace

std::span<const Bug> all_bugs() {
  return bugs();
}

std::vector<std::string> bugs_of(Type type) {
  std::vector<std::string> names;
  for (const Bug& bug : bugs()) {
    if (fits(bug, type)) names.emplace_back(bug.name);
  }
  return names;
}

Requester::Requester(const Requests& requests, History& history)
    : requests_(requests), history_(history), random_(requests.seed) {
  history.type = requests.type.type;
  for (std::uint32_t r = 0; r < requests.replicas; ++r) history.replica(std::to_string(r));
  for (std::uint32_t k = 0; k < requests.keys; ++k)
    history.key(requests.keys == 1 ? std::string("x") : fmt::format("x{}", k));
  written_.resize(requests.keys);
}

Operation Requester::read_of(std::uint32_t replica, std::uint32_t key) const {
  Operation op;
  op.replica = replica;
  op.key = key;
  switch (history_.type) {
    case Type::kAddWinsSet:
    case Type::kRemoveWinsSet:
      op.kind = Kind::kState;
      break;
    case Type::kEnableWinsFlag:
    case Type::kDisableWinsFlag:
      op.kind = Kind::kTest;
      break;
    case Type::kCounter:
      op.kind = Kind::kValue;
      break;
    case Type::kMultiValueRegister:
    case Type::kLastWriterWinsRegister:
      op.kind = Kind::kValues;
      break;
    case Type::kGrowableArray:
      op.kind = Kind::kList;
      break;
  }
  return op;
}

Operation Requester::next(std::uint32_t replica,
                          std::span<const std::vector<std::uint32_t>> visible) {
  const Type type = history_.type;
  const auto key = static_cast<std::uint32_t>(random_.below(requests_.keys));
  Operation op = read_of(replica, key);
  const bool read = random_.chance(requests_.read_share);
  const bool down = !requests_.type.grow_only && random_.chance(0.4);
  if (is_set(type)) {
    if (read && random_.chance(0.5)) return op;
    op.kind = read ? Kind::kTest : down ? Kind::kDown : Kind::kUp;
    op.element = history_.element(key, fmt::format("\"e{}\"", random_.below(requests_.values)));
  } else if (read) {
    return op;
  } else if (is_flag(type)) {
    op.kind = down ? Kind::kDown : Kind::kUp;
  } else if (type == Type::kCounter) {
    op.kind = Kind::kInc;
    op.amount = random_.between(1, 3) * (down ? -1 : 1);
  } else if (is_register(type)) {
    op.kind = Kind::kWrite;
    auto& written = written_[key];
    if (!written.empty() && random_.chance(requests_.duplicates)) {
      op.element = written[random_.below(written.size())];
    } else {
      op.element = history_.element(key, std::to_string(fresh_++));
      written.push_back(op.element);
    }
  } else {
    const auto& known = visible[key];
    if (!known.empty() && down) {
      op.kind = Kind::kDelete;
      op.element = known[random_.below(known.size())];
    } else {
      op.kind = Kind::kInsert;
      op.parent =
          known.empty() || random_.chance(0.25) ? kNone : known[random_.below(known.size())];
      op.element = history_.element(key, fmt::format("\"{}-{}\"", replica, fresh_++));
    }
  }
  return op;
}

base::Result<History> generate(const GenerateOptions& options) {
  const Type type = options.type.type;
  const auto known = bugs_of(type);
  if (!options.bug.empty() && std::find(known.begin(), known.end(), options.bug) == known.end()) {
    return base::Error{.message = fmt::format("found the bug `{}`, expected of a {} {}",
                                              options.bug, name(type), fmt::join(known, ", "))};
  }
  const Fault fault = fault_of(options.bug);
  History history;
  Requester requester(options, history);
  auto& random = requester.random();
  std::vector<Replica> replicas;
  for (std::uint32_t r = 0; r < options.replicas; ++r) replicas.emplace_back(history, fault, r);
  std::vector<std::vector<Update>> log(options.replicas);
  std::vector<std::vector<std::uint32_t>> seen(options.replicas,
                                               std::vector<std::uint32_t>(options.replicas, 0));

  const auto deliverable = [&](const Update& update, std::uint32_t to) {
    for (std::uint32_t j = 0; j < options.replicas; ++j) {
      if (j != update.op.replica && update.past[j] > seen[to][j]) return false;
    }
    return true;
  };
  const auto deliver = [&](std::uint32_t to, double chance) {
    bool any = false;
    const auto first = static_cast<std::uint32_t>(random.below(options.replicas));
    for (std::uint32_t k = 0; k < options.replicas; ++k) {
      const auto from = (first + k) % options.replicas;
      while (from != to && seen[to][from] < log[from].size() && random.chance(chance)) {
        const Update& update = log[from][seen[to][from]];
        if (!deliverable(update, to)) break;
        replicas[to].apply(update, random);
        ++seen[to][from];
        any = true;
      }
    }
    return any;
  };
  const auto perform = [&](Operation op) {
    std::vector<std::uint32_t> list;
    if (options.times) op.time = static_cast<std::int64_t>(history.ops.size() + 1) * 1'000'000;
    if (is_read(op.kind)) {
      replicas[op.replica].answer(op, list);
      history.add(op, list);
      return;
    }
    Update update{op, history.add(op, list), seen[op.replica], 0, {}};
    replicas[op.replica].prepare(update);
    replicas[op.replica].apply(update, random);
    ++seen[op.replica][op.replica];
    log[op.replica].push_back(std::move(update));
  };

  for (std::uint64_t i = 0; i < options.ops; ++i) {
    const auto r = static_cast<std::uint32_t>(random.below(options.replicas));
    deliver(r, options.delivery);
    perform(requester.next(r, replicas[r].visible()));
  }
  if (options.final_reads) {
    for (bool again = true; again;) {
      again = false;
      for (std::uint32_t r = 0; r < options.replicas; ++r) again = deliver(r, 1) || again;
    }
    for (std::uint32_t r = 0; r < options.replicas; ++r) {
      for (std::uint32_t k = 0; k < options.keys; ++k) perform(requester.read_of(r, k));
    }
  }
  return history;
}

}  // namespace cupel::crdt
