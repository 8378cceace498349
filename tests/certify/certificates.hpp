// Certificates for tests: written by hand around one proof.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/certify/verify.hpp"
#include "support/history_language.hpp"

namespace cupel::test {

using Json = nlohmann::ordered_json;

// A certificate for the history, without answers and proofs.
Json empty_certificate(const history::History& history);
// One with this proof, an object as text: its level and verdict are the answer.
Json certificate(const history::History& history, std::string_view proof, history::Time drift = 0);

// "" if it is valid, else the reason.
std::string trouble(const history::History& history, const Json& certificate,
                    history::Time drift = 0);
std::string trouble(std::string_view history, std::string_view proof, history::Time drift = 0);

}  // namespace cupel::test
