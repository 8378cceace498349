// What of the mock works on this machine: cupel-mock --doctor.
#pragma once

#include <string>

namespace cupel::apps {

// A JSON array of {"name", "what", "problem"}, on one line; an empty problem: it works.
std::string mock_findings();

}  // namespace cupel::apps
