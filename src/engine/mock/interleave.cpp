// Each client is a fiber of the calling thread, which leaves at its next transaction.
#include "engine/mock/interleave.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <vector>

#include "engine/mock/fiber.hpp"

namespace cupel::mock {

void interleave(std::span<const std::function<void()>> functions,
                const std::function<std::size_t(std::size_t)>& next,
                const std::function<void(std::span<const std::uint64_t>)>& before) {
  std::deque<Fiber> clients;
  for (const auto& function : functions) clients.emplace_back(function);
  // Each to its first transaction: what comes before is no matter of order.
  for (auto& client : clients) client.run();
  std::vector<std::uint64_t> turns(clients.size(), 0);
  for (;;) {
    std::vector<std::size_t> waiting;
    for (std::size_t i = 0; i < clients.size(); ++i) {
      if (!clients[i].ended()) waiting.push_back(i);
    }
    before(turns);
    if (waiting.empty()) break;
    const auto chosen =
        waiting[waiting.size() == 1 ? 0 : std::min(next(waiting.size()), waiting.size() - 1)];
    ++turns[chosen];
    clients[chosen].run();
  }
  for (const auto& client : clients) {
    if (client.thrown()) std::rethrow_exception(client.thrown());
  }
}

void await_turn() {
  Fiber::leave();
}

bool interleaved() {
  return Fiber::inside();
}

}  // namespace cupel::mock
