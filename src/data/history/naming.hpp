// Naming: how a transaction is called in anything shown to people. One way, in
// explanations, refusals and errors alike: T and its label, and where it stands.
#pragma once

#include <string>
#include <string_view>

#include "data/history/history.hpp"

namespace cupel::history {

// "T5"; "the initial state" for none(). Labels may repeat (formats number their
// transactions as they like): Words in explain/ adds what distinguishes them.
std::string transaction_name(const History& history, TxnId txn);
// "session a, its 3rd transaction". Long names of sessions are cut.
std::string transaction_place(const History& history, TxnId txn);
// "T5 (session a, its 3rd transaction)".
std::string transaction_in_full(const History& history, TxnId txn);

// The name of a session as shown to people; long ones are cut.
std::string session_text(const History& history, SessionId session);

// A scalar as shown to people: null, 7, :abc, "abc". Strings are quoted, with
// their quotes and control characters escaped, so that 5 and "5" differ; long
// ones are cut.
std::string shown(ScalarView scalar);
// The same for a key: a string that reads as a word stays bare (x, not "x").
std::string shown_key(ScalarView scalar);

// At most 48 bytes of it, whole characters, "..." where something was cut.
std::string cut(std::string text);
// "1st", "2nd", "3rd", "11th".
std::string ordinal(std::size_t number);

}  // namespace cupel::history
