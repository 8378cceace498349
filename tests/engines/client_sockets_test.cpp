// Which clients are connected, by the kernel's table of sockets.
#include "mock/engines/client_sockets.hpp"

#include <gtest/gtest.h>

namespace cupel::engines {
namespace {

// Ports 5432 (1538) and 40000 (9C40); 40001 has sent its end.
constexpr const char* kSockets =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
    "   0: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000   104\n"
    "   1: 0100007F:1538 0100007F:9C40 01 00000000:00000000 00:00000000 00000000   104\n"
    "   2: 0100007F:9C40 0100007F:1538 01 00000000:00000000 00:00000000 00000000     0\n"
    "   3: 0100007F:1538 0100007F:9C41 08 00000000:00000000 00:00000000 00000000   104\n";

TEST(ClientSockets, TellsOpenFromClosed) {
  EXPECT_EQ(connected_clients(kSockets, 5432), std::set<std::uint16_t>{40000});
  EXPECT_EQ(connected_clients(kSockets, 40000), std::set<std::uint16_t>{5432});
  EXPECT_EQ(connected_clients(kSockets, 1), std::set<std::uint16_t>{});
  EXPECT_FALSE(connected_clients(0));
}

}  // namespace
}  // namespace cupel::engines
