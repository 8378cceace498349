// A baton: the caller of interleave() hands it to one thread and gets it back when that
// thread comes to its next transaction or ends.
#include "mock/interleave.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cupel::mock {

namespace {

// A semaphore that does not spin: the library's gives its time away by sched_yield first,
// which on a busy machine takes longer than all that is to be done.
class Signal {
 public:
  void release() {
    const std::lock_guard lock(mutex_);
    given_ = true;
    condition_.notify_one();
  }
  void acquire() {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return given_; });
    given_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool given_ = false;
};

struct Client {
  Signal go;
  Signal* back = nullptr;
  bool ended = false;
  std::exception_ptr thrown;
  std::thread thread;

  void run() {
    go.release();
    back->acquire();
  }
};

thread_local Client* here = nullptr;

}  // namespace

void interleave(std::span<const std::function<void()>> functions,
                const std::function<std::size_t(std::size_t)>& next,
                const std::function<void(std::span<const std::uint64_t>)>& before) {
  Signal back;
  std::deque<Client> clients(functions.size());
  for (std::size_t i = 0; i < functions.size(); ++i) {
    auto& client = clients[i];
    client.back = &back;
    client.thread = std::thread([&client, &function = functions[i]] {
      here = &client;
      client.go.acquire();
      try {
        function();
      } catch (...) {
        client.thrown = std::current_exception();
      }
      client.ended = true;
      client.back->release();
    });
  }
  // Each to its first transaction: what comes before is no matter of order.
  for (auto& client : clients) client.run();
  std::vector<std::uint64_t> turns(clients.size(), 0);
  for (;;) {
    std::vector<std::size_t> waiting;
    for (std::size_t i = 0; i < clients.size(); ++i) {
      if (!clients[i].ended) waiting.push_back(i);
    }
    before(turns);
    if (waiting.empty()) break;
    const auto chosen =
        waiting[waiting.size() == 1 ? 0 : std::min(next(waiting.size()), waiting.size() - 1)];
    ++turns[chosen];
    clients[chosen].run();
  }
  for (auto& client : clients) client.thread.join();
  for (auto& client : clients) {
    if (client.thrown) std::rethrow_exception(client.thrown);
  }
}

void await_turn() {
  if (here == nullptr) return;
  here->back->release();
  here->go.acquire();
}

}  // namespace cupel::mock
