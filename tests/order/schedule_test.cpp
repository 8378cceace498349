// The greedy order of stage 2 where an owner is one event.
#include "order/schedule.hpp"

#include <gtest/gtest.h>

#include "order/event_graph.hpp"

namespace cupel::order {
namespace {

// Owner 0 writes x; owner 1 reads that and overwrites it; owner 3 reads it too, but only after
// owner 2 in their chain. Owner 1 comes before 2 by the hints, so it has to wait for 3, and
// what it waits for in the end is its own read alone.
Problem one_that_waits_for_its_own_read() {
  Problem problem;
  problem.owner_count = 4;
  problem.object_count = 2;
  problem.chains = {{0, 1}, {2, 3}};
  problem.write_first = {0, 1, 2, 3, 3};
  problem.write_object = {0, 0, 1};
  problem.candidates = {0};
  problem.reads = {{1, 0, 0, 1}, {3, 0, 0, 1}};
  problem.hint = {0, 1, 2, 3};
  return problem;
}

TEST(Schedule, WakesAnOwnerThatIsTheLastReaderOfWhatItOverwrites) {
  const Problem problem = one_that_waits_for_its_own_read();
  base::Budget budget;
  EventGraph graph(problem, RelaxedChains{});
  Versions versions(problem, graph);
  OpenReads open(problem);
  Saturation saturation(problem, graph, versions, open, budget);
  saturation.add_reads();
  const ScheduleResult scheduled = schedule(problem, versions, open, versions.writers_of_reads(),
                                            graph.digraph(), {}, problem.hint, budget, true);
  ASSERT_TRUE(scheduled.is_witness());
  EXPECT_EQ(scheduled.order, (std::vector<Node>{0, 2, 3, 1}));
  EXPECT_TRUE(is_solution(problem, scheduled.order, scheduled.writers));
}

}  // namespace
}  // namespace cupel::order
