// The options of a mock store; see the header.
#include "apps/mock/mock_options.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "apps/emit.hpp"
#include "apps/options.hpp"
#include "apps/spelling.hpp"
#include "apps/units.hpp"
#include "engine/levels/level.hpp"

namespace cupel::apps {

namespace {

std::vector<std::string> level_names_of_mock() {
  std::vector<std::string> names;
  for (const auto level : mock::kLevels) names.emplace_back(mock::name(level));
  return names;
}

// Of an SQL server the level that its transactions have by default.
std::string usual_level(const std::string& engine_name) {
  if (engine_name == "postgres") return "postgres:read-committed";
  if (engine_name == "mariadb") return "mysql:repeatable-read";
  return std::string(mock::name(mock::Options().level));
}

std::vector<std::string> product_level_names() {
  std::vector<std::string> names;
  for (const auto& level : mock::kProductLevels) names.emplace_back(level.name);
  return names;
}

}  // namespace

void add_engine_options(Command& command, StoreArguments& arguments) {
  const char* group = "SQL engine";
  command
      .add_option(
          "--engine", arguments.engine_name,
          "The SQL over the store: own, a subset of SQL in this program, or that of a server "
          "whose tables are in the store: postgres, mariadb")
      ->type_name("ENGINE")
      ->capture_default_str()
      ->check(one_of_names({"own", "postgres", "mariadb"}))
      ->group(group);
  command
      .add_option("--constraints", arguments.constraints,
                  "With --engine postgres or mariadb: unique constraints and foreign keys see what "
                  "was committed last, as those of the product (strong), or are as weak as the "
                  "level (weak). Default: strong at strict-serializable and the levels of "
                  "products, else weak")
      ->type_name("HOW")
      ->check(one_of_names({"weak", "strong"}))
      ->group(group);
}

void add_store_options(Command& command, StoreArguments& arguments) {
  const char* store = "Store";
  command
      .add_option(
          "--level", arguments.level,
          fmt::format(
              "The isolation level, which every history satisfies: {}, or a short name. Or "
              "strict-serializable, or what a product allows: {} (docs/reference/mock-levels.md). "
              "Default: {}; {} with --engine postgres, {} with --engine mariadb",
              one_of(level_names_of_mock()), one_of(product_level_names()), usual_level("own"),
              usual_level("postgres"), usual_level("mariadb")))
      ->type_name("LEVEL")
      ->group(store);
  command
      .add_option("--locks", arguments.locks,
                  "honoured: FOR UPDATE, UPDATE and DELETE lock rows and read what was committed "
                  "last; others wait. ignored: nobody waits, and they read like any other "
                  "statement. Default: ignored with --engine own, but for strict-serializable and "
                  "the levels of products; else honoured")
      ->type_name("WHAT")
      ->check(one_of_names({"honoured", "ignored"}))
      ->group(store);
  command
      .add_option("--seed", arguments.store.seed,
                  "The random seed. The same seed and the same requests return the same values")
      ->type_name("N")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str()
      ->group(store);
  command
      .add_option("--policy", arguments.policy,
                  "How a read chooses among the values that it may return: uniform, latest, "
                  "adversarial (a value that the next stronger level forbids), or weights: "
                  "uniform=3,adversarial=1")
      ->type_name("POLICY")
      ->capture_default_str()
      ->group(store);
  command
      .add_option(
          "--delay", arguments.delay,
          "The longest pause before a transaction, a statement and a commit; each is random. "
          "Transactions of concurrent clients overlap more often then. A number without a unit is "
          "milliseconds")
      ->type_name("DURATION")
      ->capture_default_str()
      ->group(store);
  command
      .add_option("--abort-rate", arguments.store.abort_rate,
                  "The share of commits that abort, from 0 to 1")
      ->type_name("SHARE")
      ->capture_default_str()
      ->check(share())
      ->group(store);
  command
      .add_option("--latency", arguments.latency,
                  "The pause before each read, write and commit; "
                  "milliseconds if there is no unit")
      ->type_name("DURATION")
      ->capture_default_str()
      ->group(store);
  command
      .add_option("--patience", arguments.patience,
                  "Roll back an open transaction that sends no request for this long while others "
                  "wait")
      ->type_name("DURATION")
      ->capture_default_str()
      ->group(store);
}

namespace {

// An SQL server has the levels of its own product.
void take_server(StoreArguments& arguments, bool has_level, const char* product,
                 const char* lock_timeout) {
  auto& store = arguments.store;
  if (store.product != mock::Product::kNone && !has_level) {
    throw UsageError("--level", fmt::format("found `{}` with --engine {}, expected a level of "
                                            "{}, or --engine own",
                                            *arguments.level, arguments.engine_name, product));
  }
  arguments.strong_constraints =
      arguments.constraints.empty() ? mock::is_versioned(store) : arguments.constraints == "strong";
  if (arguments.patience != StoreArguments().patience) {
    throw UsageError("--patience",
                     fmt::format("found it with --engine {}, expected it with --engine own: the "
                                 "server's clients wait for locks as long as their {}",
                                 arguments.engine_name, lock_timeout));
  }
  arguments.engine_locks = mock::is_versioned(store) || arguments.locks != "ignored";
  store.locks = false;  // the engine decides
}

void take_engine(StoreArguments& arguments) {
  if (arguments.engine_name == "postgres") {
    arguments.engine = mocktest::Engine::kPostgres;
    take_server(arguments, arguments.store.product == mock::Product::kPostgres, "postgres",
                "lock_timeout");
  } else if (arguments.engine_name == "mariadb") {
    arguments.engine = mocktest::Engine::kMariadb;
    take_server(arguments, arguments.store.product != mock::Product::kPostgres,
                "mysql, mariadb or galera", "innodb_lock_wait_timeout");
  } else if (!arguments.constraints.empty()) {
    throw UsageError("--constraints",
                     fmt::format("found `{}`, expected it with --engine postgres or mariadb",
                                 arguments.constraints));
  }
}

void take_policy(const std::string& text, mock::Options& options) {
  if (mock::is_versioned(options) && text != StoreArguments().policy) {
    throw UsageError("--policy",
                     fmt::format("found `{}` with --level {}, at which no value is "
                                 "chosen; expected a level of the mock's own: {}",
                                 text, mock::title(options), one_of(level_names_of_mock())));
  }
  for (const auto& known : mock::kPolicies) mock::weight_of(options, known.policy) = 0;
  double sum = 0;
  for (const auto& part : split(text, ',')) {
    const auto name = part.substr(0, part.find('='));
    double weight = 1;
    if (name.size() < part.size()) weight = number_of(part.substr(name.size() + 1)).value_or(-1);
    const auto policy = mock::policy_of(name);
    if (!policy || !(weight >= 0 && weight <= 1e9)) {
      throw UsageError("--policy",
                       fmt::format("found `{}`, expected uniform, latest or adversarial, each with "
                                   "a weight or without, as in uniform=3,adversarial=1",
                                   part));
    }
    mock::weight_of(options, *policy) += weight;
    sum += weight;
  }
  if (!(sum > 0))
    throw UsageError("--policy", fmt::format("found `{}`, expected a weight above 0", text));
}

// The strongest level of the mock that this one implies, or else the weakest that implies it.
std::string nearest_level_of_mock(levels::Level level) {
  std::optional<mock::Level> weaker, stronger;
  for (const auto served : mock::kLevels) {  // the weakest first
    const auto there = levels::parse_level(mock::name(served));
    if (levels::implies(level, *there)) weaker = served;
    if (!stronger && levels::implies(*there, level)) stronger = served;
  }
  if (weaker)
    return fmt::format("; the strongest level of the mock that it implies is {}",
                       mock::name(*weaker));
  if (stronger)
    return fmt::format("; the weakest level of the mock that implies it is {}",
                       mock::name(*stronger));
  return "";
}

// Why `text` is no level of the mock, and what may have been meant.
std::string no_level_of_mock(const std::string& text) {
  auto names = level_names_of_mock();
  names.emplace_back(mock::name(mock::Level::kStrictSerializable));
  if (const auto known = levels::parse_level(text)) {
    return fmt::format("found `{}`, expected {}; {}{}", text, one_of(names),
                       levels::needs_real_time(*known)
                           ? "the level orders transactions by real time, which the mock does at "
                             "strict-serializable only"
                           : "the mock does not simulate this level",
                       nearest_level_of_mock(*known));
  }
  const auto products = product_level_names();
  if (text.find(':') != std::string::npos) {
    const auto meant = nearest(text, products);
    return fmt::format("found `{}`, expected {}{}", text, one_of(products),
                       meant.empty() ? "" : fmt::format("; did you mean `{}`?", meant));
  }
  auto spelled = level_names();  // serializable is understood too
  std::erase_if(spelled, [](const std::string& name) { return !mock::level_of(name); });
  const auto meant = nearest(text, spelled);
  names.insert(names.end(), products.begin(), products.end());
  return fmt::format(
      "found `{}`, expected {}{}", text, one_of(names),
      meant.empty() ? "" : fmt::format("; did you mean `{}`?", mock::name(*mock::level_of(meant))));
}

void take_level(StoreArguments& arguments) {
  auto& store = arguments.store;
  const auto text = arguments.level.value_or(usual_level(arguments.engine_name));
  for (const auto& known : mock::kProductLevels) {
    if (known.name != text) continue;
    store.product = known.product;
    store.level = known.level;
    return;
  }
  const auto level = mock::level_of(text);
  if (!level) throw UsageError("--level", no_level_of_mock(text));
  store.level = *level;
  const auto asked = levels::parse_level(text);
  if (asked && levels::name(*asked) != mock::name(*level)) {
    arguments.note =
        fmt::format("the mock orders the transactions of a session, so {} is served as {}",
                    levels::name(*asked), mock::name(*level));
  }
}

void take_locks(StoreArguments& arguments) {
  auto& store = arguments.store;
  const bool always = mock::is_versioned(store);
  if (always && arguments.locks == "ignored") {
    throw UsageError("--locks", fmt::format("found `ignored`, expected `honoured`: {} is defined "
                                            "with locks",
                                            mock::title(store)));
  }
  store.locks = always || arguments.locks == "honoured";
}

}  // namespace

void take_store_options(StoreArguments& arguments) {
  take_level(arguments);
  take_locks(arguments);
  take_engine(arguments);
  auto& store = arguments.store;
  take_policy(arguments.policy, store);
  store.delay_ms = 1000 * or_throw(parse_duration(arguments.delay, 0.001), "--delay");
  store.latency_ms = 1000 * or_throw(parse_duration(arguments.latency, 0.001), "--latency");
  store.patience_s = or_throw(parse_duration(arguments.patience, 1), "--patience");
  const StoreArguments usual;
  const auto say = [&](const char* option, const std::string& value, const std::string& otherwise) {
    if (value != otherwise)
      arguments.given.push_back(fmt::format("{} {}", option, shell_word(value)));
  };
  arguments.given.push_back(fmt::format("--level {}", mock::title(store)));
  say("--locks", arguments.locks, usual.locks);
  say("--engine", arguments.engine_name, usual.engine_name);
  say("--constraints", arguments.constraints, usual.constraints);
  say("--policy", arguments.policy, usual.policy);
  say("--delay", arguments.delay, usual.delay);
  say("--latency", arguments.latency, usual.latency);
  say("--patience", arguments.patience, usual.patience);
  if (store.abort_rate != 0)
    arguments.given.push_back(fmt::format("--abort-rate {}", store.abort_rate));
}

namespace {

std::string host_of(const std::string& address) {
  if (address == "0.0.0.0") return "127.0.0.1";
  if (address == "::") return "[::1]";
  return address.find(':') != std::string::npos ? fmt::format("[{}]", address) : address;
}

}  // namespace

std::string url(const char* scheme, const std::string& address, std::uint16_t port) {
  return fmt::format("{}://cupel@{}:{}/cupel", scheme, host_of(address), port);
}
std::string http_url(const std::string& address, std::uint16_t port) {
  return fmt::format("http://{}:{}", host_of(address), port);
}

std::string of_another_run(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored)
             ? "; it still holds the history of another run"
             : "";
}

}  // namespace cupel::apps
