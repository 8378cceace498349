// Four applications over the mock store's keys and values, and what each of them promises.
//
// They are those of Biswas, thesis 2021, section 4.5.1, written as one would write them for
// a database that is serializable. Nothing in them is wrong there; each of the five
// promises breaks where the database is only causal. A test is a few clients with a few
// operations each, drawn by a seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cupel/mock_explore.hpp"

namespace apps {

// One operation of a client, with what it is about: numbers of users, items, students or
// values, by the application.
struct Operation {
  int kind = 0;
  int what = 0;
};

// What each client does, in order.
using Plan = std::vector<std::vector<Operation>>;

struct Application {
  const char* name;
  std::vector<const char*> promises;
  // A plan of so many clients and operations. The same seed, the same plan.
  Plan (*draw)(std::uint64_t seed, int clients, int operations);
  // Fills the store, which is fresh, and runs the clients: interleaved, or one after
  // another. `broken` says which of the promises do not hold of what they saw.
  struct Outcome {
    std::string seen;  // what the operations returned, a client a line
    std::vector<bool> broken;
  };
  Outcome (*run)(cupel::MockStore& store, const Plan& plan, bool interleaved);
};

// The stack, the courseware, the shopping cart and Twitter.
const std::vector<Application>& applications();

}  // namespace apps
