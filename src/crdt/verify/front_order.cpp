// Front order: see the header.
#include "crdt/verify/front_order.hpp"

#include <vector>

namespace cupel::crdt {

namespace {

constexpr int kMostBranches = 3000;

class FrontMatrix {
 public:
  explicit FrontMatrix(std::size_t count) : count_(count), front_(count * count, false) {}
  [[nodiscard]] bool at(std::size_t a, std::size_t b) const { return front_[a * count_ + b]; }
  // With all that follows. False: it contradicts what is known.
  bool add(std::size_t a, std::size_t b) {
    if (at(a, b)) return true;
    if (a == b || at(b, a)) return false;
    for (std::size_t i = 0; i < count_; ++i) {
      if (i != a && !at(i, a)) continue;
      for (std::size_t k = 0; k < count_; ++k) {
        if (k != b && !at(b, k)) continue;
        if (i == k || at(k, i)) return false;
        front_[i * count_ + k] = true;
      }
    }
    return true;
  }

 private:
  std::size_t count_;
  std::vector<bool> front_;
};

class FrontSearch {
 public:
  FrontSearch(std::size_t count, const std::vector<FrontDemand>& demands)
      : count_(count), demands_(demands) {}

  bool search(FrontMatrix front) {
    if (++branches_ > kMostBranches) return false;
    const FrontDemand* open = nullptr;
    for (bool again = true; again;) {
      again = false;
      open = nullptr;
      for (const FrontDemand& demand : demands_) {
        const auto& [e, left, x] = demand;
        if (front.at(e, x) || (left != count_ && front.at(x, left))) continue;
        const bool after = left == count_ || front.at(left, x);
        if (!after && !front.at(x, e)) {
          open = &demand;
          continue;
        }
        if (!(after ? front.add(e, x) : front.add(x, left))) return false;
        again = true;
      }
    }
    if (open == nullptr) return true;
    FrontMatrix other = front;
    if (front.add(open->e, open->x) && search(std::move(front))) return true;
    return other.add(open->x, open->left) && search(std::move(other));
  }

  [[nodiscard]] bool gave_up() const { return branches_ > kMostBranches; }

 private:
  const std::size_t count_;
  const std::vector<FrontDemand>& demands_;
  int branches_ = 0;
};

}  // namespace

std::optional<bool> has_front_order(std::size_t count,
                                    const std::vector<std::pair<std::size_t, std::size_t>>& given,
                                    const std::vector<FrontDemand>& demands) {
  FrontMatrix front(count);
  for (const auto& [a, b] : given) {
    if (!front.add(a, b)) return false;
  }
  FrontSearch search(count, demands);
  const bool found = search.search(std::move(front));
  if (!found && search.gave_up()) return std::nullopt;
  return found;
}

}  // namespace cupel::crdt
