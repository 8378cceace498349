// Interleave: several clients, each a plain function on a stack of its own, of which one
// runs at a time and hands over where it begins a transaction.
//
// The store runs transactions one after another, so nothing but their order matters, and
// that order is decided here instead of by the scheduler of the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace cupel::mock {

// `next` gives which of those that wait goes on, by position in the order of `functions`;
// asked where more than one waits. `before` first gets how often each has gone on since
// its first transaction, and once more when all have ended. What a function throws is
// thrown here when all have ended.
void interleave(std::span<const std::function<void()>> functions,
                const std::function<std::size_t(std::size_t waiting)>& next,
                const std::function<void(std::span<const std::uint64_t> turns)>& before);

// The caller is about to begin a transaction: waits for its turn, if it is one of an
// interleaving.
void await_turn();
// The caller is one of an interleaving: who waits for another has to hand over.
bool interleaved();

}  // namespace cupel::mock
