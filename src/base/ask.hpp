// A question over TCP: connects, sends a request, reads the answer.
//
// For protocols of one question: four letters to ZooKeeper, a line of HTTP, a server's greeting.
// Blocks its thread, and no longer than the timeout.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/process.hpp"
#include "base/result.hpp"
#include "base/tcp.hpp"

namespace cupel::base {

// Whether the answer so far is all of it. Null: it goes on until the other side closes.
using IsWhole = std::function<bool(std::string_view answer)>;

// What came of the answer in time, perhaps a part; empty if the other side closed without a word.
// Errors, in the system's words: an unknown name, no connection, not a byte in time.
Result<std::string> ask(const TcpPlace& place, std::string_view request, Seconds timeout,
                        const IsWhole& is_whole = nullptr);

// Whether somebody takes connections there.
bool listens(const TcpPlace& place, Seconds timeout);

}  // namespace cupel::base
