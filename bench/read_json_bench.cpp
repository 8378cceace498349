// read_json_bench: bytes a second of reading Jepsen JSON lines, from memory to
// a history, and of the parse alone, on one thread and on all.
//
//   read_json_bench [--benchmark_filter=…]     CUPEL_BENCH_TXNS=N  (default 400000)
//
// The input imitates a recorded run: registers (reads, writes), invocation and
// completion lines, times; or lists. Counts are checked before anything is timed.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <string>

#include "base/random.hpp"
#include "data/formats/jepsen_events.hpp"
#include "data/formats/jepsen_reader.hpp"

namespace {

using namespace cupel;

constexpr std::uint64_t kSeed = 7;
constexpr int kSessions = 20, kKeys = 1000, kOpsPerTxn = 6, kListLength = 8;

std::size_t txns() {
  const char* text = std::getenv("CUPEL_BENCH_TXNS");
  return text ? std::strtoull(text, nullptr, 10) : 400'000;
}

std::string lines(bool lists) {
  base::Random random(kSeed);
  std::string text;
  auto out = std::back_inserter(text);
  std::uint64_t value = 0;
  for (std::size_t t = 0; t < txns(); ++t) {
    std::string invoke, ok;
    for (int i = 0; i < kOpsPerTxn; ++i) {
      const auto key = random.below(kKeys);
      const char* comma = i == 0 ? "" : ",";
      if (random.below(2) == 0) {
        const auto op =
            fmt::format(R"({}["{}",{},{}])", comma, lists ? "append" : "w", key, ++value);
        invoke += op;
        ok += op;
      } else {
        invoke += fmt::format(R"({}["r",{},null])", comma, key);
        ok += fmt::format(R"({}["r",{},)", comma, key);
        if (lists) {
          ok += '[';
          for (int j = 0; j < kListLength; ++j)
            ok += fmt::format("{}{}", j == 0 ? "" : ",", value + static_cast<std::uint64_t>(j));
          ok += ']';
        } else {
          ok += std::to_string(value);
        }
        ok += ']';
      }
    }
    const auto line = [&](std::size_t index, const char* type, const std::string& ops) {
      fmt::format_to(out,
                     R"({{"index":{},"type":"{}","process":{},"f":"txn","value":[{}],"time":{}}})"
                     "\n",
                     index, type, t % kSessions, ops, 1000 * index);
    };
    line(2 * t, "invoke", invoke);
    line(2 * t + 1, "ok", ok);
  }
  return text;
}

const std::string& input(bool lists) {
  static const std::string registers_text = lines(false), lists_text = lines(true);
  return lists ? lists_text : registers_text;
}

// range(0): lists; range(1): threads, 0 for all.
void read(benchmark::State& state) {
  const auto& text = input(state.range(0) != 0);
  const auto threads = static_cast<unsigned>(state.range(1));
  for (auto _ : state) {
    auto history = formats::read_jepsen(text, "bench.jsonl", threads);
    if (!history || history->op_count() != txns() * kOpsPerTxn || history->txn_count() != txns()) {
      std::fprintf(stderr, "read_json_bench: a wrong history; no time is printed\n");
      std::exit(1);
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

void parse(benchmark::State& state) {
  const auto& text = input(state.range(0) != 0);
  const auto threads = static_cast<unsigned>(state.range(1));
  for (auto _ : state) {
    std::size_t events = 0;
    for (const auto& chunk : formats::jepsen::parse_json(text, threads))
      events += chunk.events.size();
    if (events != 2 * txns()) {
      std::fprintf(stderr, "read_json_bench: lost lines; no time is printed\n");
      std::exit(1);
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

// One thread by its own time, so that a busy machine does not distort it; all by the clock.
BENCHMARK(parse)->ArgNames({"lists", "threads"})->ArgsProduct({{0, 1}, {1}});
BENCHMARK(read)->ArgNames({"lists", "threads"})->ArgsProduct({{0, 1}, {1}});
BENCHMARK(parse)->ArgNames({"lists", "threads"})->ArgsProduct({{0, 1}, {0}})->UseRealTime();
BENCHMARK(read)->ArgNames({"lists", "threads"})->ArgsProduct({{0, 1}, {0}})->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
