// Slots: see the header.
#include "databases/drivers/redis/slots.hpp"

#include <algorithm>
#include <charconv>

namespace cupel::drivers::redis {

namespace {

// CRC-16/XMODEM, bit by bit: keys are short.
std::uint16_t checksum(std::string_view text) {
  constexpr std::uint16_t kPolynomial = 0x1021, kHighest = 0x8000;
  std::uint16_t sum = 0;
  for (const char c : text) {
    sum = static_cast<std::uint16_t>(sum ^ (static_cast<unsigned char>(c) << 8U));
    for (int bit = 0; bit < 8; ++bit) {
      const bool highest = (sum & kHighest) != 0;
      sum = static_cast<std::uint16_t>(sum << 1U);
      if (highest) sum ^= kPolynomial;
    }
  }
  return sum;
}

std::vector<std::string_view> words_of(std::string_view line, char separator) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const auto end = std::min(line.find(separator), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

std::optional<std::uint16_t> number_in(std::string_view text) {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "127.0.0.1:6381", "::1:6381"; without a name it is the node that was asked.
std::optional<Host> host_at(std::string_view place, const Host& asked) {
  const auto colon = place.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = number_in(place.substr(colon + 1));
  const auto name = place.substr(0, colon);
  if (!port || *port == 0 || name == "?") return std::nullopt;
  return Host{.name = name.empty() ? asked.name : std::string(name), .port = *port};
}

bool same(const Host& a, const Host& b) {
  return a.name == b.name && a.port == b.port;
}

}  // namespace

std::uint16_t slot_of(std::string_view key) {
  const auto open = key.find('{');
  if (open != std::string_view::npos) {
    const auto close = key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1) {
      key = key.substr(open + 1, close - open - 1);
    }
  }
  return checksum(key) % kSlotCount;
}

bool Slots::Node::has(std::uint16_t slot) const {
  return std::any_of(slots.begin(), slots.end(), [&](const auto& range) {
    return range.first <= slot && slot <= range.second;
  });
}

// ID ADDRESS:PORT@BUS[,NAME] FLAGS PRIMARY PINGED ANSWERED EPOCH LINK SLOTS…
std::optional<Slots::Node> Slots::parse_node(std::string_view line, const Host& asked) {
  constexpr std::size_t kPlace = 1, kFlags = 2, kPrimary = 3, kFirstSlots = 8;
  const auto words = words_of(line, ' ');
  if (words.size() < kFirstSlots) return std::nullopt;
  const auto host = host_at(words[kPlace].substr(0, words[kPlace].find('@')), asked);
  if (!host) return std::nullopt;
  Node node{.id = std::string(words[0]), .follows = std::string(words[kPrimary]), .host = *host};
  for (const auto flag : words_of(words[kFlags], ',')) {
    node.primary = node.primary || flag == "master";
    // "fail?" is what one node thinks, "fail" what a majority does.
    if (flag == "fail" || flag == "fail?" || flag == "handshake" || flag == "noaddr") {
      node.alive = false;
    }
  }
  for (std::size_t i = kFirstSlots; i < words.size(); ++i) {
    const auto dash = std::min(words[i].find('-'), words[i].size());
    const auto from = number_in(words[i].substr(0, dash));
    const auto to = dash == words[i].size() ? from : number_in(words[i].substr(dash + 1));
    if (from && to) node.slots.emplace_back(*from, *to);  // else one that is moving: "[7->-ID]"
  }
  return node;
}

Slots Slots::parse(std::string_view answer, const Host& asked) {
  Slots slots;
  for (const auto line : words_of(answer, '\n')) {
    if (auto node = parse_node(line, asked)) slots.nodes_.push_back(*std::move(node));
  }
  return slots;
}

const Slots::Node* Slots::owner_of(std::uint16_t slot) const {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                  [&](const Node& node) { return node.primary && node.has(slot); });
  return found == nodes_.end() ? nullptr : &*found;
}

std::optional<Host> Slots::primary_of(std::uint16_t slot) const {
  const auto* owner = owner_of(slot);
  return owner == nullptr ? std::nullopt : std::optional(owner->host);
}

std::vector<Host> Slots::replicas_of(std::uint16_t slot) const {
  std::vector<Host> found;
  const auto* owner = owner_of(slot);
  for (const auto& node : nodes_) {
    const bool follows = owner != nullptr && !node.primary && node.follows == owner->id;
    if (follows && node.alive) found.push_back(node.host);
  }
  return found;
}

std::vector<std::pair<Host, std::size_t>> Slots::primaries() const {
  std::vector<std::pair<Host, std::size_t>> found;
  for (const auto& node : nodes_) {
    if (!node.primary || node.slots.empty()) continue;
    const auto following = std::count_if(nodes_.begin(), nodes_.end(), [&](const Node& other) {
      return !other.primary && other.alive && other.follows == node.id;
    });
    found.emplace_back(node.host, static_cast<std::size_t>(following));
  }
  return found;
}

std::vector<Host> Slots::nodes() const {
  std::vector<Host> hosts;
  for (const auto& node : nodes_) hosts.push_back(node.host);
  return hosts;
}

bool Slots::is_primary(const Host& host) const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [&](const Node& node) { return node.primary && same(node.host, host); });
}

std::size_t Slots::replicas() const {
  return static_cast<std::size_t>(
      std::count_if(nodes_.begin(), nodes_.end(), [](const Node& node) { return !node.primary; }));
}

std::optional<Host> redirected(std::string_view error, const Host& asked) {
  constexpr std::size_t kAddress = 2;
  const auto words = words_of(error, ' ');
  return words.size() > kAddress ? host_at(words[kAddress], asked) : std::nullopt;
}

}  // namespace cupel::drivers::redis
