// cupel: every run of a small program on the mock store, instead of some of them.
//
// clang-format off
//   std::string error;
//   const auto overdraw = [](cupel::MockStore& store) {
//     auto opening = store.begin("bank");
//     opening.write("balance", 100);
//     opening.commit();
//     int paid[2] = {0, 0};
//     const auto withdraw = [&](int client) {
//       auto transaction = store.begin(client == 0 ? "alice" : "bob");
//       const auto seen = transaction.read("balance");
//       const auto* balance = seen ? std::get_if<std::int64_t>(&*seen) : nullptr;
//       if (balance == nullptr || *balance < 60) return;
//       transaction.write("balance", *balance - 60);
//       if (transaction.commit()) paid[client] = 60;
//     };
//     store.interleave({[&] { withdraw(0); }, [&] { withdraw(1); }});
//     return cupel::MockOutcome{std::to_string(paid[0]) + " " + std::to_string(paid[1]),
//                               paid[0] + paid[1] <= 100};
//   };
//   const auto explored = cupel::explore({.level = cupel::Level::kPrefix}, overdraw, {}, error);
//   if (!explored) return error;
//   return std::to_string(explored->states.size()) + " states, of " +
//          std::to_string(explored->histories) + " histories " + std::to_string(explored->failures) +
//          " fail";
// clang-format on
//
// It returns:
//
//   4 states, of 6 histories 1 fail
//
// All choices are tried: what each read returns, and, under MockStore::interleave, which
// client goes on. Two runs are equivalent when each client did and read the same, from the
// same writers; they differ in the order of transactions only. Each history is counted
// once; a run that comes to where one before it was makes no choices of its own any more.
//
// The program is called once a run, with a fresh store. The behaviour of a client must depend
// only on its reads: clients that share anything but the store, clocks and chance of their
// own make runs that differ where they should not, which `incomplete` reports where it
// is seen. The number of runs grows exponentially: three clients of three operations are
// small, five of five are not. Source: Biswas, thesis 2021, section 4.5.3.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cupel/mock.hpp"

namespace cupel {

// The outcome of one run.
struct MockOutcome {
  // The clients' view of it, in any words; equal if they saw the same. Empty: the
  // values that each session read.
  std::string state = {};
  bool good = true;
};

// The limits of exploring. If one is reached first, `incomplete` says so.
struct MockExploreLimits {
  std::uint64_t runs = 1'000'000;
  double time_s = 60;  // looked at between runs
  bool until_failure = false;
};

// A run whose outcome is not good.
struct MockFailure {
  std::uint64_t run;                 // from 1
  std::vector<std::size_t> choices;  // prescribed() repeats them
  std::string state;
  History history;
};

// The findings, in numbers of runs or of different histories.
struct MockExplored {
  std::uint64_t runs = 0;
  std::uint64_t histories = 0;  // different ones; the other runs repeated one of them
  std::uint64_t failures = 0;   // histories whose outcome is not good
  // Client-observable states, and how many of the histories show each.
  std::map<std::string, std::uint64_t> states = {};
  std::optional<MockFailure> first_failure = {};
  std::string incomplete = {};  // why this may not be all, a sentence; empty: it is all
};

// None, and why, if an option is out of range, or abort_rate is not 0, or `choose` is set.
std::optional<MockExplored> explore(const MockOptions& options,
                                    const std::function<MockOutcome(MockStore&)>& program,
                                    const MockExploreLimits& limits, std::string& error);

// For MockOptions::choose: these choices, then always the first. For one run.
std::function<std::size_t(std::size_t)> prescribed(std::vector<std::size_t> choices);

}  // namespace cupel
