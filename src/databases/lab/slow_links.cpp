// SlowLinks: see the header.
#include "databases/lab/slow_links.hpp"

#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <thread>

#include "base/descriptor.hpp"
#include "base/random.hpp"

namespace cupel::lab {

namespace {

using base::Descriptor;
using base::Ok;
using base::Status;
using Clock = std::chrono::steady_clock;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kLongestPacket = 65'535;
constexpr int kBuffer = 16 << 20;  // of a socket
// A queue that is longer than this gets nothing more, as that of a slow line in a router.
constexpr std::chrono::duration<double> kLongestWait{0.5};
constexpr std::size_t kMostBytes = 64 << 20;  // that wait on a link, however long its delay
constexpr int kAtOnce = 64;                   // packets of a link, before it is another's turn

std::uint32_t sum_of(std::span<const std::uint8_t> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    sum += static_cast<std::uint32_t>(bytes[i] << 8 | bytes[i + 1]);
  }
  if (bytes.size() % 2 != 0) sum += static_cast<std::uint32_t>(bytes.back() << 8);
  while (sum > UINT32_MAX) sum = (sum & UINT32_MAX) + (sum >> 32);
  return static_cast<std::uint32_t>(sum);
}

// A sender in the same machine leaves the checksum to a network card that there is not.
void complete_checksum(Bytes& packet) {
  const std::size_t header = (packet[0] & 0xfU) * 4;
  const std::uint8_t protocol = packet[9];
  const bool fragment = (packet[6] & 0x3fU) != 0 || packet[7] != 0;
  const std::size_t place = header + (protocol == IPPROTO_TCP ? 16 : 6);
  if (fragment || (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP) ||
      packet.size() < place + 2) {
    return;
  }
  packet[place] = packet[place + 1] = 0;
  const std::span<const std::uint8_t> all(packet);
  std::uint64_t sum = std::uint64_t{sum_of(all.subspan(12, 8))} + protocol +
                      (packet.size() - header) + sum_of(all.subspan(header));
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  auto checksum = static_cast<std::uint16_t>(~sum);
  if (checksum == 0 && protocol == IPPROTO_UDP) checksum = 0xffff;  // 0 says that there is none
  packet[place] = static_cast<std::uint8_t>(checksum >> 8);
  packet[place + 1] = static_cast<std::uint8_t>(checksum & 0xff);
}

base::Error failed(std::string_view what) {
  return {.message = fmt::format("cannot slow a link down: {}: {}", what, std::strerror(errno))};
}

// Sees the packets that arrive from an address, in the network of this thread.
base::Result<Descriptor> open_tap(const SlowLink& link) {
  // ldw [12]: the sender
  std::array<sock_filter, 4> filter{
      sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, 12},
      sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, ntohl(link.from.s_addr)},
      sock_filter{BPF_RET | BPF_K, 0, 0, UINT32_MAX}, sock_filter{BPF_RET | BPF_K, 0, 0, 0}};
  const sock_fprog program{filter.size(), filter.data()};
  sockaddr_ll place{};
  place.sll_family = AF_PACKET;
  place.sll_protocol = htons(ETH_P_IP);
  place.sll_ifindex = static_cast<int>(::if_nametoindex(link.interface.c_str()));
  // It hears nothing before it has its filter and its interface.
  Descriptor tap(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!tap || place.sll_ifindex == 0 ||
      ::setsockopt(tap.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0 ||
      ::bind(tap.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) {
    return failed("a packet socket");
  }
  ::setsockopt(tap.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kBuffer, sizeof kBuffer);
  return tap;
}

// Sends whole packets, in the network of this thread.
base::Result<Descriptor> open_sender() {
  Descriptor sender(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_RAW));
  if (!sender || ::setsockopt(sender.get(), SOL_SOCKET, SO_MARK, &kDeliveredMark,
                              sizeof kDeliveredMark) != 0) {
    return failed("a raw socket");
  }
  ::setsockopt(sender.get(), SOL_SOCKET, SO_SNDBUFFORCE, &kBuffer, sizeof kBuffer);
  return sender;
}

// A slow link and what waits on it.
class Queue {
 public:
  static base::Result<std::unique_ptr<Queue>> open(const SlowLink& link) {
    auto queue = std::make_unique<Queue>(link);
    auto opened = link.network->run([&]() -> Status {
      auto tap = open_tap(link);
      if (!tap.ok()) return std::move(tap).error();
      auto sender = open_sender();
      if (!sender.ok()) return std::move(sender).error();
      queue->tap_ = *std::move(tap);
      queue->sender_ = *std::move(sender);
      return Ok{};
    });
    if (!opened.ok()) return std::move(opened).error();
    return queue;
  }
  explicit Queue(const SlowLink& link) : link_(link), random_(std::random_device{}()) {}

  [[nodiscard]] int tap() const { return tap_.get(); }
  [[nodiscard]] const SlowLink& link() const { return link_; }
  void change(const SlowLink& link) { link_ = link; }

  // Takes what has arrived; false: there may be more.
  bool take() {
    for (int i = 0; i < kAtOnce; ++i) {
      sockaddr_ll from{};
      socklen_t length = sizeof from;
      const auto count = ::recvfrom(tap_.get(), buffer_.data(), buffer_.size(), 0,
                                    reinterpret_cast<sockaddr*>(&from), &length);
      if (count < 0) return errno != EINTR;
      if (from.sll_pkttype == PACKET_HOST) add(static_cast<std::size_t>(count));
    }
    return false;
  }

  // Delivers what is due; returns when more will be.
  std::optional<Clock::time_point> deliver(Clock::time_point now) {
    while (!waiting_.empty() && waiting_.front().due <= now) {
      sockaddr_in to{};
      to.sin_family = AF_INET;
      to.sin_addr = link_.to;
      const auto& bytes = waiting_.front().bytes;
      // A packet that cannot be sent is one more that got lost.
      static_cast<void>(::sendto(sender_.get(), bytes.data(), bytes.size(), 0,
                                 reinterpret_cast<const sockaddr*>(&to), sizeof to));
      waiting_bytes_ -= bytes.size();
      waiting_.pop_front();
    }
    return waiting_.empty() ? std::nullopt : std::optional(waiting_.front().due);
  }

 private:
  struct Waiting {
    Clock::time_point due;
    Bytes bytes;
  };

  void add(std::size_t count) {
    constexpr std::size_t kHeader = 20;
    if (count < kHeader) return;
    const std::size_t total = std::size_t{buffer_[2]} << 8 | buffer_[3];
    if (total < kHeader || total > count) return;  // 0: longer than IPv4 can say
    if (waiting_bytes_ + total > kMostBytes) return;
    const auto now = Clock::now();
    const auto after = [](double seconds) {
      return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    };
    auto sent = now;
    if (link_.bytes_per_second > 0) {
      free_ = std::max(free_, now);
      if (free_ - now > kLongestWait) return;
      free_ += after(static_cast<double>(total) / static_cast<double>(link_.bytes_per_second));
      sent = free_;
    }
    last_ = std::max(last_, sent + after(link_.delay + link_.jitter * random_.unit()));
    Bytes bytes(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(total));
    complete_checksum(bytes);
    waiting_bytes_ += total;
    waiting_.push_back({last_, std::move(bytes)});
  }

  SlowLink link_;
  Descriptor tap_, sender_;
  base::Random random_;
  std::deque<Waiting> waiting_;
  std::size_t waiting_bytes_ = 0;
  Clock::time_point free_{}, last_{};  // when the line is free, the last packet arrives
  std::array<std::uint8_t, kLongestPacket + 1> buffer_{};
};

}  // namespace

class SlowLinks::Worker {
 public:
  Worker() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), thread_([this] { serve(); }) {}
  ~Worker() {
    {
      const std::scoped_lock lock(mutex_);
      ended_ = true;
    }
    wake();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Status begin(const std::vector<SlowLink>& links) {
    for (const auto& link : links) {
      if (change(link)) continue;
      auto opened = Queue::open(link);
      if (!opened.ok()) return std::move(opened).error();
      const std::scoped_lock lock(mutex_);
      queues_.push_back(*std::move(opened));
    }
    wake();
    return Ok{};
  }

  void end_others(const std::vector<SlowLink>& links) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(queues_, [&](const std::unique_ptr<Queue>& queue) {
      const bool stays = std::any_of(links.begin(), links.end(), [&](const SlowLink& link) {
        return link.same_ends(queue->link());
      });
      if (!stays) queue->deliver(Clock::time_point::max());
      return !stays;
    });
    wake();
  }

 private:
  void wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
  }

  // False: there is no such link yet.
  bool change(const SlowLink& link) {
    const std::scoped_lock lock(mutex_);
    for (const auto& queue : queues_) {
      if (!queue->link().same_ends(link)) continue;
      queue->change(link);
      return true;
    }
    return false;
  }

  void serve() {
    while (auto next = round()) {
      const auto left = std::max(*next - Clock::now(), Clock::duration::zero());
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
      const timespec timeout{
          .tv_sec = static_cast<time_t>(seconds.count()),
          .tv_nsec = static_cast<long>(std::chrono::nanoseconds(left - seconds).count())};
      ::ppoll(polls_.data(), polls_.size(), &timeout, nullptr);
    }
  }

  // Takes and delivers; returns when to do so again unless a packet arrives before; none: never.
  std::optional<Clock::time_point> round() {
    const std::scoped_lock lock(mutex_);
    if (ended_) {
      for (const auto& queue : queues_) queue->deliver(Clock::time_point::max());
      return std::nullopt;
    }
    std::uint64_t count = 0;
    [[maybe_unused]] const auto read = ::read(wake_.get(), &count, sizeof count);
    auto next = Clock::now() + std::chrono::hours(1);
    polls_.assign(1, {wake_.get(), POLLIN, 0});
    for (const auto& queue : queues_) {
      polls_.push_back({queue->tap(), POLLIN, 0});
      const bool all = queue->take();
      const auto now = Clock::now();
      if (const auto due = queue->deliver(now)) next = std::min(next, *due);
      if (!all) next = now;
    }
    return next;
  }

  Descriptor wake_;
  std::mutex mutex_;  // of what follows
  std::vector<std::unique_ptr<Queue>> queues_;
  bool ended_ = false;
  std::vector<pollfd> polls_;  // the thread's
  std::thread thread_;
};

SlowLinks::SlowLinks() = default;
SlowLinks::~SlowLinks() = default;

Status SlowLinks::begin(const std::vector<SlowLink>& links) {
  if (links.empty()) return Ok{};
  if (worker_ == nullptr) worker_ = std::make_unique<Worker>();
  return worker_->begin(links);
}

void SlowLinks::end_others(const std::vector<SlowLink>& links) {
  if (worker_ == nullptr) return;
  worker_->end_others(links);
  if (links.empty()) worker_.reset();
}

}  // namespace cupel::lab
