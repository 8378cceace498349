// Cases: see the header.
#include "bench/cases.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "bench/measure.hpp"
#include "data/formats/formats.hpp"
#include "engine/levels/level.hpp"
#include "golden/collection.hpp"

namespace cupel::bench {

namespace fs = std::filesystem;

namespace {

constexpr const char* kSatisfied = "satisfied";
constexpr const char* kViolated = "violated";

// What a sweep keeps while it changes one thing: about the papers' middle values.
struct Setting {
  std::string store = "strong-session-snapshot-isolation";
  std::string shape = "register";
  std::uint64_t sessions = 20;
  std::uint64_t txns = 10'000;  // of all sessions
  std::string ops = "8";
  double read_share = 0.5;
  std::uint64_t keys = 10'000;
  std::string distribution = "uniform";
  double duplicates = 0;
  std::string inject = {};
  std::string inject_at = {};
  bool times = true;
  std::uint64_t seed = 1;

  [[nodiscard]] Recipe recipe() const {
    Recipe made;
    const auto add = [&](const char* option, std::string value) {
      made.generate.emplace_back(option);
      made.generate.push_back(std::move(value));
    };
    add("--level", store);
    add("--shape", shape);
    add("--sessions", std::to_string(sessions));
    add("--txns", std::to_string(std::max<std::uint64_t>(1, txns / sessions)));
    if (shape != "mini") add("--ops", ops);
    add("--read-share", fmt::format("{}", read_share));
    add("--keys", std::to_string(keys));
    add("--distribution", distribution);
    if (duplicates > 0) add("--duplicates", fmt::format("{}", duplicates));
    if (!inject.empty()) {
      add("--inject", inject);
      if (!inject_at.empty()) add("--inject-at", inject_at);
    }
    add("--seed", std::to_string(seed));
    if (!times) made.generate.emplace_back("--no-times");
    return made;
  }
};

class Collector {
 public:
  Collector(Size size, fs::path cache) : size_(size), cache_(std::move(cache)) {}

  std::vector<Case> take() && { return std::move(cases_); }

  void transactions() {
    // Keys grow with the transactions, so that only the size changes.
    for (const auto n : counts(1'000'000)) {
      for (const char* store : {"read-committed", "read-atomic", "causal", "prefix",
                                "strong-session-snapshot-isolation", "strong-session-serializable",
                                "strict-serializable"}) {
        add("transactions", store, n, {.store = store, .txns = n, .keys = n}, store);
      }
      add("transactions", "strong-snapshot-isolation", n,
          {.store = "strict-serializable", .txns = n, .keys = n}, "strong-snapshot-isolation");
    }
    for (const auto n : counts(1'000'000)) {
      add("transactions-same-keys", "strong-session-snapshot-isolation", n, {.txns = n},
          "strong-session-snapshot-isolation");
      add("transactions-same-keys", "strong-session-serializable", n,
          {.store = "strong-session-serializable", .txns = n}, "strong-session-serializable");
    }
    // Without times saturation has the work.
    for (const auto n : counts(1'000'000)) {
      for (const char* level : {"prefix", "strong-session-snapshot-isolation"}) {
        add("transactions-same-keys-no-times", level, n, {.txns = n, .times = false}, level);
      }
      for (const char* level : {"serializable", "strong-session-serializable"}) {
        add("transactions-same-keys-no-times", level, n,
            {.store = "strong-session-serializable", .txns = n, .times = false}, level);
      }
    }
    for (const auto n : counts(10'000'000)) {
      for (const char* store :
           {"strong-session-snapshot-isolation", "strong-session-serializable"}) {
        add("mini-transactions", store, n, {.store = store, .shape = "mini", .txns = n, .keys = n},
            store);
      }
    }
    for (const auto n : counts(100'000'000)) {
      add("single-operations", "linearizable", n,
          {.store = "strict-serializable",
           .txns = n,
           .ops = "1",
           .keys = std::max<std::uint64_t>(1, n / 100)},
          "linearizable");
    }
    for (const auto n : counts(1'000'000)) {
      add("list-append", "strong-session-serializable", n,
          {.store = "strong-session-serializable",
           .shape = "list-append",
           .txns = n,
           .ops = "4",
           .keys = n},
          "strong-session-serializable");
      add("ranges", "strong-session-snapshot-isolation", n,
          {.shape = "range", .txns = n, .ops = "4", .keys = n},
          "strong-session-snapshot-isolation");
      add("duplicates", "half of the values", n, {.txns = n, .keys = n, .duplicates = 0.5},
          "strong-session-snapshot-isolation");
    }
  }

  void shapes() {
    const auto n = middle();
    const auto both = [&](const char* group, std::uint64_t value, const Setting& setting) {
      for (const char* store :
           {"strong-session-snapshot-isolation", "strong-session-serializable"}) {
        Setting one = setting;
        one.store = store;
        one.txns = n;
        add(group, store, value, one, store);
      }
    };
    for (const std::uint64_t sessions : some({5, 10, 20, 50, 100, 200})) {
      both("sessions", sessions, {.sessions = sessions});
    }
    for (const std::uint64_t ops : some({2, 5, 10, 15, 30, 50})) {
      both("operations", ops, {.ops = std::to_string(ops)});
    }
    for (const std::uint64_t percent : some({5, 30, 50, 70, 95})) {
      both("read-percentage", percent, {.read_share = static_cast<double>(percent) / 100});
    }
    for (const std::uint64_t keys : some({1'000, 10'000, 100'000, 1'000'000, 1'000'000'000})) {
      both("keys", keys, {.keys = keys});
    }
    for (const std::uint64_t percent : some({0, 1, 10, 50, 90})) {
      both("duplicate-percentage", percent, {.duplicates = static_cast<double>(percent) / 100});
    }
    for (const char* distribution : {"uniform", "zipf", "hotspot", "exponential"}) {
      Setting setting;
      setting.txns = n;
      setting.distribution = distribution;
      add("distribution", "strong-session-snapshot-isolation", distribution, setting,
          "strong-session-snapshot-isolation");
    }
  }

  // Injected into a history that is valid otherwise, which stands beside it.
  void violations() {
    struct Injected {
      const char* anomaly;
      const char* level;
    };
    // A fractured read is the G-single that needs nothing else.
    constexpr Injected kInjected[] = {{"G1c", "read-committed"},
                                      {"fractured-read", "read-atomic"},
                                      {"long-fork", "prefix"},
                                      {"lost-update", "strong-session-snapshot-isolation"},
                                      {"fractured-read", "strong-session-snapshot-isolation"},
                                      {"G1c", "strong-session-snapshot-isolation"},
                                      {"long-fork", "strong-session-snapshot-isolation"},
                                      {"lost-update", "strong-session-serializable"},
                                      {"write-skew", "strong-session-serializable"}};
    for (const auto n : size_ == Size::kFull
                            ? std::vector<std::uint64_t>{10'000, 100'000, 1'000'000}
                            : std::vector<std::uint64_t>{middle()}) {
      Setting setting;
      setting.store = "strict-serializable";
      setting.txns = setting.keys = n;
      std::vector<std::string> levels;
      for (const auto& [anomaly, level] : kInjected) {
        if (std::find(levels.begin(), levels.end(), level) == levels.end()) {
          levels.emplace_back(level);
          add("violations", "valid", n, setting, level);
        }
        for (const auto& [place, share] :
             {std::pair("start", "0.01"), {"middle", "0.5"}, {"end", "0.99"}}) {
          Setting bad = setting;
          bad.inject = anomaly;
          bad.inject_at = share;
          add("violations", fmt::format("{} at the {}", anomaly, place), n, bad, level, kViolated);
        }
      }
    }
    for (const char* shape : {"mini", "list-append", "range"}) {
      Setting bad;
      bad.shape = shape;
      bad.ops = "4";
      bad.txns = bad.keys = middle();
      bad.inject = "lost-update";
      bad.inject_at = "0.5";
      add("violations", fmt::format("lost-update in {}", shape), middle(), bad,
          "strong-session-snapshot-isolation", kViolated);
    }
    Setting register_history;
    register_history.store = "strict-serializable";
    register_history.ops = "1";
    register_history.txns = middle();
    register_history.keys = 10;
    register_history.inject = "session-guarantee-violation";
    register_history.inject_at = "0.5";
    add("violations", "stale read", middle(), register_history, "linearizable", kViolated);
  }

  void hard() {
    // Nothing is read, or next to nothing: all versions of a few keys are unordered.
    for (const auto n : size_ == Size::kTiny ? std::vector<std::uint64_t>{400}
                        : size_ == Size::kSmall
                            ? std::vector<std::uint64_t>{400, 1'000, 4'000}
                            : std::vector<std::uint64_t>{1'000, 4'000, 10'000, 40'000}) {
      for (const char* level : {"serializable", "strong-session-serializable", "snapshot-isolation",
                                "strong-session-snapshot-isolation"}) {
        Setting blind;
        blind.store = "strict-serializable";
        blind.sessions = 200;
        blind.txns = n;
        blind.keys = 5;
        blind.read_share = 0;
        add("blind-writes", fmt::format("no reads, {}", level), n, blind, level);
        blind.read_share = 0.02;
        add("blind-writes", fmt::format("2 % reads, {}", level), n, blind, level);
      }
    }
    for (const int variables : size_ == Size::kTiny ? std::vector<int>{5, 8}
                               : size_ == Size::kSmall
                                   ? std::vector<int>{10, 20, 30}
                                   : std::vector<int>{10, 20, 40, 60, 80, 100}) {
      for (std::uint64_t seed = 1; seed <= (size_ == Size::kTiny ? 2u : 4u); ++seed) {
        for (const char* level : {"prefix", "snapshot-isolation", "serializable"}) {
          Recipe recipe;
          recipe.variables = variables;
          recipe.clauses = static_cast<int>(std::lround(4.26 * variables));
          recipe.seed = seed;
          push({.group = "3-sat",
                .series = level,
                .value = std::to_string(variables),
                .history = {},
                .recipe = std::move(recipe),
                .level = level,
                .expected = {}});
        }
      }
    }
  }

  void collection() {
    // Each once at least in the smaller sizes, too: they are quick.
    if (size_ == Size::kTiny) return;
    for (const auto& [path, verdicts] : golden::known_collection()) {
      for (const auto& [level, verdict] : verdicts) {
        push({.group = "histories",
              .series = path.substr(0, path.find('/')),
              .value = path,
              .history = golden::collection_folder() / path,
              .recipe = {},
              .level = std::string(levels::name(level)),
              .expected = std::string(check::to_string(verdict))});
      }
    }
    // Serializable, which a witness shows, but not with its sessions, which have to be
    // given up in a hundred places.
    const fs::path disturbed =
        "veristrong/fig12/50_200_20_50000_0.3_r_0.5_0.5_1000/hist-00000/history.bincode";
    if (std::error_code ignored; fs::exists(golden::collection_folder() / disturbed, ignored)) {
      push({.group = "contradicted-sessions",
            .series = "serializable",
            .value = disturbed,
            .history = golden::collection_folder() / disturbed,
            .recipe = {},
            .level = "serializable",
            .expected = kSatisfied});
    }
  }

 private:
  // Transactions of the sweeps over size, three a decade up to `most`.
  [[nodiscard]] std::vector<std::uint64_t> counts(std::uint64_t most) const {
    if (size_ == Size::kTiny) return {200, 400};
    std::vector<std::uint64_t> found;
    for (std::uint64_t n = 1000; n <= (size_ == Size::kSmall ? 10'000 : most); n *= 10) {
      found.push_back(n);
      if (const auto more = n * 3; more <= (size_ == Size::kSmall ? 10'000 : most))
        found.push_back(more);
    }
    return found;
  }
  // Of the sweeps over everything else.
  [[nodiscard]] std::uint64_t middle() const {
    return size_ == Size::kTiny ? 400 : size_ == Size::kSmall ? 2'000 : 10'000;
  }
  // Tiny: the first and the last.
  [[nodiscard]] std::vector<std::uint64_t> some(std::initializer_list<std::uint64_t> values) const {
    if (size_ == Size::kTiny) return {*values.begin(), *(values.end() - 1)};
    return values;
  }

  void add(const char* group, std::string series, std::uint64_t value, const Setting& setting,
           std::string level, std::string expected = kSatisfied) {
    add(group, std::move(series), std::to_string(value), setting, std::move(level),
        std::move(expected));
  }
  void add(const char* group, std::string series, std::string value, const Setting& setting,
           std::string level, std::string expected = kSatisfied) {
    push({.group = group,
          .series = std::move(series),
          .value = std::move(value),
          .history = {},
          .recipe = setting.recipe(),
          .level = std::move(level),
          .expected = std::move(expected)});
  }
  void push(Case one) {
    if (one.recipe) one.history = cache_ / one.recipe->file_name();
    cases_.push_back(std::move(one));
  }

  Size size_;
  fs::path cache_;
  std::vector<Case> cases_;
};

}  // namespace

std::optional<Size> parse_size(std::string_view text) {
  for (const Size size : {Size::kTiny, Size::kSmall, Size::kFull}) {
    if (name(size) == text) return size;
  }
  return std::nullopt;
}

std::string_view name(Size size) {
  switch (size) {
    case Size::kTiny:
      return "tiny";
    case Size::kSmall:
      return "small";
    case Size::kFull:
      return "full";
  }
  return "?";
}

std::string Recipe::to_string() const {
  if (!generate.empty()) return "cupel generate " + to_shell(generate);
  return fmt::format("3-SAT, {} variables, {} clauses, seed {}", variables, clauses, seed);
}

std::string Recipe::file_name() const {
  // FNV-1a: the same on every machine.
  std::uint64_t digest = 14695981039346656037ull;
  for (const char c : to_string()) {
    digest = (digest ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  }
  return fmt::format("{:016x}.cupel", digest);
}

std::string Case::name() const {
  std::string text = fmt::format("{} / {} / {} / {}", group, series, value, level);
  if (recipe && recipe->generate.empty()) text += fmt::format(" / seed {}", recipe->seed);
  return text;
}

std::vector<Case> cases(Size size, const fs::path& cache) {
  Collector collector(size, cache);
  collector.collection();
  collector.shapes();
  collector.transactions();
  collector.violations();
  collector.hard();
  return std::move(collector).take();
}

base::Status make(const Case& one, const std::string& cupel) {
  std::error_code ignored;
  if (!one.recipe || fs::exists(one.history, ignored)) return base::Ok{};
  fs::create_directories(one.history.parent_path(), ignored);
  const std::string part = fmt::format("{}.{}.part", one.history.string(), ::getpid());
  if (one.recipe->generate.empty()) {
    const auto& recipe = *one.recipe;
    const auto history = history_of(random_formula(recipe.variables, recipe.clauses, recipe.seed));
    auto written = formats::write(history, part, {.format = formats::Format::kCupel});
    if (!written.ok()) return written;
  } else {
    std::vector<std::string> command = {cupel, "generate"};
    command.insert(command.end(), one.recipe->generate.begin(), one.recipe->generate.end());
    command.insert(command.end(), {"-t", "cupel", "-o", part});
    auto made = measure(command);
    if (!made.ok()) return std::move(made).error();
    if (made->exit_code != 0) {
      return base::Error{.message = fmt::format("exit code {}, expected 0, from {}\n{}",
                                                made->exit_code, to_shell(command), made->errors)};
    }
  }
  fs::rename(part, one.history, ignored);
  if (ignored)
    return base::Error{.message = "cannot be renamed: " + ignored.message(), .file = part};
  return base::Ok{};
}

std::string known_verdict(const Case& one) {
  if (!one.expected.empty()) return one.expected;
  const auto& recipe = *one.recipe;
  return has_model(random_formula(recipe.variables, recipe.clauses, recipe.seed)) ? kSatisfied
                                                                                  : kViolated;
}

}  // namespace cupel::bench
