// Set-up agreement: see the header.
#include "readers/set_up_agreement.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "base/budget.hpp"
#include "base/random.hpp"
#include "base/verdict.hpp"
#include "data/formats/jepsen_reader.hpp"
#include "engine/certify/plain_reader.hpp"
#include "engine/levels/decide.hpp"
#include "engine/online/stream.hpp"
#include "engine/online/window.hpp"
#include "readers/given_lines.hpp"
#include "readers/stream_agreement.hpp"

namespace cupel::test {

using base::Verdict;
using levels::Level;

namespace {

// Set-ups that overlap in any way, and a store that applies each at one moment of its own.
std::string random_run(std::uint64_t seed, bool& lost) {
  base::Random random(seed);
  struct SetUp {
    std::string value, type;
    std::map<int, int> writes;
    bool applied;
  };
  std::string text;
  std::map<int, int> store;
  std::vector<std::optional<SetUp>> open(3);
  const bool timed = random.chance(0.5);
  int now = 0;
  const auto say = [&](const std::string& type, int process, const std::string& f,
                       const std::string& value) {
    ++now;
    text += op_line(type, process, f, value, timed ? std::optional(now) : std::nullopt);
  };
  const auto apply = [&](SetUp& one) {
    if (one.applied || one.type == "fail") return;
    one.applied = true;
    for (const auto& [key, value] : one.writes) store[key] = value;
  };
  int next = 0;
  const auto set_up_step = [&] {
    const int process = static_cast<int>(random.below(3));
    auto& at = open[process];
    if (!at) {
      SetUp one{.value = "[",
                .type = random.chance(0.7)   ? "ok"
                        : random.chance(0.5) ? "fail"
                                             : "info",
                .writes = {},
                .applied = false};
      for (int i = 1 + static_cast<int>(random.below(2)); i > 0; --i) {
        const int key = static_cast<int>(random.below(3));
        const int value = random.chance(0.3) ? 1 : ++next + 10;
        one.writes[key] = value;
        one.value += fmt::format("{}[{},{}]", one.value.size() > 1 ? "," : "", key, value);
      }
      one.value += "]";
      say("invoke", process, "init", one.value);
      at = one;
    } else if (random.chance(0.5)) {
      if (at->type == "ok" || random.chance(0.5)) apply(*at);
    } else {
      if (at->type == "ok") apply(*at);
      say(at->type, process, "init", random.chance(0.5) ? at->value : "null");
      at.reset();
    }
  };
  for (std::uint64_t i = random.below(14); i > 0; --i) set_up_step();
  for (int i = 0; i < 6; ++i) {
    if (random.chance(0.3)) set_up_step();
    const int key = static_cast<int>(random.below(3));
    const bool write = random.chance(0.3);
    const int value = ++next + 100;
    const auto held = store.contains(key) ? std::to_string(store[key]) : "null";
    const bool loses = lost && i == 5 && !write && held != "null" && store[key] < 100;
    const std::string asks = write ? fmt::format(R"([["w",{},{}]])", key, value)
                                   : fmt::format(R"([["r",{},null]])", key);
    const std::string says =
        write ? asks : fmt::format(R"([["r",{},{}]])", key, loses ? "null" : held);
    say("invoke", 3 + i % 2, "txn", asks);
    if (write) store[key] = value;
    say("ok", 3 + i % 2, "txn", says);
    if (i == 5) lost = loses;
  }
  return text;
}

std::string compare_violated(const std::string& text, const history::History& h, Level level,
                             bool violated) {
  if (is_violated(h, level) != violated) return "the whole: another verdict";
  online::Window window({.level = level});
  online::Stream stream(window, "input");
  if (auto taken = stream.take(text); !taken.ok()) return "watch: " + taken.error().to_string();
  if (auto ended = stream.end(); !ended.ok()) return "watch: " + ended.error().to_string();
  base::Budget budget;
  const bool found = window.look(budget).status == Verdict::kViolated;
  return found == violated ? "" : "watch: another verdict";
}

}  // namespace

std::string op_line(const std::string& type, int process, const std::string& f,
                    const std::string& value, std::optional<int> time) {
  return fmt::format(R"({{"type":"{}","process":{},"f":"{}","value":{}{}}})", type, process, f,
                     value, time ? fmt::format(R"(,"time":{})", *time) : "") +
         "\n";
}

bool is_violated(const history::History& h, Level level) {
  base::Budget budget;
  return levels::Decider(h, 0, 1, false).decide(level, budget).status == Verdict::kViolated;
}

std::string compare_readers(const std::string& text, Level level, bool violated,
                            std::size_t& transactions) {
  const auto told = [&](const std::string& wrong) {
    return fmt::format("{} at {}\n{}", wrong, levels::name(level), text);
  };
  const auto whole = formats::read_jepsen(text, "input", 1);
  if (!whole.ok()) return told(whole.error().to_string());
  transactions = whole->txn_count();
  const auto plain = certify::read_plainly(text, "input");
  if (!plain.ok()) return told("the second reader: " + plain.error().to_string());
  if (auto wrong = certify::compare(*whole, *plain); !wrong.empty()) return told(wrong);
  GivenLines lines(text);
  const auto streamed = compare_stream(lines, *whole);
  if (streamed.refused) return told("stream: " + streamed.refused->to_string());
  if (!streamed.difference.empty()) return told(streamed.difference);
  const auto wrong = compare_violated(text, *whole, level, violated);
  return wrong.empty() ? "" : told(wrong);
}

std::string SetUpAgreement::difference_of(std::uint64_t seed) {
  bool lost = false;
  const auto text = random_run(seed, lost);
  std::size_t transactions = 0;
  auto wrong = compare_readers(text, Level::kStrictSerializable, false, transactions);
  if (!wrong.empty()) return wrong;
  if (transactions < 6) return "fewer transactions than there were\n" + text;
  const auto whole = formats::read_jepsen(text, "input", 1);
  tally_.contents += !whole->fact("set-up").empty();
  lost = true;
  const auto with_loss = random_run(seed, lost);
  if (!lost) return {};
  ++tally_.lost_writes;
  const auto read = formats::read_jepsen(with_loss, "input", 1);
  if (!read.ok()) return read.error().to_string() + "\n" + with_loss;
  tally_.found += is_violated(*read, Level::kReadCommitted);
  return {};
}

}  // namespace cupel::test
