// A client and a server that send any bytes, on both sides of a dialogue of the scheduling proxy:
// each byte says whose the next ones are and how many. Every batch goes on at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "mock/proxy/dialogue.hpp"

namespace cupel::fuzz {

// `phase`: in which the protocol begins.
inline void converse(proxy::Dialogue& dialogue, proxy::Link::Phase phase, std::string_view bytes) {
  using proxy::Link;
  using Step = proxy::Dialogue::Step;
  Link link;
  link.phase = phase;
  const auto answered = [&] {
    link.running.reset();
    link.answer = {};
    link.doing = {};
  };
  while (!bytes.empty() && link.phase != Link::Phase::kClosing) {
    const auto head = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    const auto part = bytes.substr(0, std::size_t{1} + head / 2);
    bytes.remove_prefix(part.size());
    (head % 2 == 0 ? link.client : link.server).in.add(part);
    while (link.phase != Link::Phase::kClosing) {
      const auto step = dialogue.from_server(link);
      if (step == Step::kIncomplete) break;
      if (step == Step::kDone && link.running) answered();
    }
    while (link.phase != Link::Phase::kClosing && (!link.running || link.copying)) {
      if (!dialogue.from_client(link)) break;
      if (!link.waiting) continue;
      static_cast<void>(dialogue.is_local(link));
      link.running = std::exchange(link.waiting, {});
      link.doing = {.client = "a", .requests = link.running->requests, .before = link.state};
      link.server.out += std::exchange(link.running->bytes, {});
      if (dialogue.sent(link)) answered();
    }
    link.client.out.clear();
    link.server.out.clear();
  }
}

}  // namespace cupel::fuzz
