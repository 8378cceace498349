// Runs a fuzz target without a fuzzer: on every file of its corpus, cut off at
// every offset, and with thousands of mutations that are the same on every
// machine. Usage: NAME_fuzz_replay CORPUS_DIRECTORY [SECONDS [SEED]]
// SECONDS: others instead, for so long, by a seed that it prints first, which repeats them.
// An input that ends the target is printed in base64.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// Of the sanitizers, if there are any: called before they end the process.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

constexpr std::size_t kCutEverywhereBelow = 4096;
constexpr std::size_t kCutsOfLargerFiles = 256;
constexpr int kMutations = 4000;

const std::string* running = nullptr;

void print_running() {
  const auto* const input = std::exchange(running, nullptr);
  if (input == nullptr) return;
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::fputs("input: ", stderr);
  for (std::size_t i = 0; i < input->size(); i += 3) {
    const auto byte = [&](std::size_t at) -> std::uint32_t {
      return at < input->size() ? static_cast<unsigned char>((*input)[at]) : 0;
    };
    const auto three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (std::size_t digit = 0; digit < 4; ++digit) {
      std::fputc(i + digit > input->size() ? '=' : kDigits[three >> (18 - 6 * digit) & 63], stderr);
    }
  }
  std::fputc('\n', stderr);
}

void run(const std::string& input) {
  // A copy of exactly its size, so that a sanitizer sees a read past the end.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  running = &input;
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  running = nullptr;
}

std::string mutated(const std::vector<std::string>& corpus, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) {
    return n == 0 ? 0 : static_cast<std::size_t>(random() % n);
  };
  std::string input = corpus[below(corpus.size())];
  for (auto changes = 1 + below(4); changes > 0; --changes) {
    const auto at = below(input.size());
    switch (below(7)) {
      case 0:  // flip a bit
        if (!input.empty()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
        break;
      case 1:  // replace a byte
        if (!input.empty()) input[at] = static_cast<char>(random());
        break;
      case 2:  // cut a piece out
        input.erase(at, 1 + below(16));
        break;
      case 3:  // repeat a piece
        input.insert(at, input.substr(below(input.size()), 1 + below(64)));
        break;
      case 4: {  // the tail of another file
        const auto& other = corpus[below(corpus.size())];
        input = input.substr(0, at) + other.substr(below(other.size()));
        break;
      }
      case 5: {  // a hostile integer, binary
        constexpr std::uint64_t kHostile[] = {0,          1,          0x7fffffff, 0xffffffff,
                                              1ull << 32, 1ull << 62, 1ull << 63, ~0ull};
        const auto integer = kHostile[below(std::size(kHostile))];
        for (std::size_t i = 0; i < 8 && at + i < input.size(); ++i)
          input[at + i] = static_cast<char>(integer >> (8 * i));
        break;
      }
      case 6: {  // the same, decimal, and what text formats are made of
        constexpr const char* kPieces[] = {"9223372036854775807",
                                           "9223372036854775808",
                                           "-1",
                                           "18446744073709551616",
                                           "\n",
                                           "\r\n",
                                           "-----\n",
                                           "=====\n",
                                           "(",
                                           ")",
                                           ",",
                                           " ",
                                           "[",
                                           "]",
                                           "{",
                                           "}",
                                           "\"",
                                           "null",
                                           "true",
                                           "false",
                                           "0",
                                           "nil"};
        input.insert(at, kPieces[below(std::size(kPieces))]);
        break;
      }
    }
  }
  return input;
}

// The same inputs on every machine. How many there were besides the corpus.
std::uint64_t run_always(const std::vector<std::string>& corpus) {
  std::uint64_t runs = 0;
  for (const auto& input : corpus) {
    run(input);
    const std::size_t step =
        input.size() < kCutEverywhereBelow ? 1 : input.size() / kCutsOfLargerFiles;
    for (std::size_t cut = 0; cut < input.size(); cut += step, ++runs) run(input.substr(0, cut));
  }
  std::mt19937_64 random(20240607);
  for (int i = 0; i < kMutations; ++i, ++runs) run(mutated(corpus, random));
  return runs;
}

// How many inputs there were.
std::uint64_t run_for(std::chrono::duration<double> time, const std::vector<std::string>& corpus,
                      std::mt19937_64& random) {
  const auto end = std::chrono::steady_clock::now() + time;
  std::uint64_t runs = 0;
  for (; std::chrono::steady_clock::now() < end; ++runs) run(mutated(corpus, random));
  return runs;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: %s CORPUS_DIRECTORY [SECONDS [SEED]]\n", argv[0]);
    return 2;
  }
  std::signal(SIGABRT, [](int) { print_running(); });
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(print_running);
  std::vector<std::filesystem::path> paths;
  if (std::filesystem::is_directory(argv[1])) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[1])) {
      if (entry.is_regular_file()) paths.push_back(entry.path());
    }
  }
  if (paths.empty()) {
    std::fprintf(stderr, "%s: no corpus\n", argv[1]);
    return 1;
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> corpus;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  std::uint64_t runs = 0;
  if (argc == 2) {
    runs = run_always(corpus);
  } else {
    const std::uint64_t seed =
        argc > 3 ? std::strtoull(argv[3], nullptr, 10) : std::uint64_t{std::random_device()()};
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    std::mt19937_64 random(seed);
    runs = run_for(std::chrono::duration<double>(std::strtod(argv[2], nullptr)), corpus, random);
  }
  std::printf("%zu corpus files, %llu further inputs\n", corpus.size(),
              static_cast<unsigned long long>(runs));
}
