// Mutate: one small random change to a certificate.
#pragma once

#include <string>

#include "base/random.hpp"
#include "certify/certificates.hpp"
#include "data/history/history.hpp"

namespace cupel::test {

// Changes the certificate in place, in one of these ways, and returns which: an
// element of a list dropped, repeated or swapped with another, a number or a word
// changed, a field dropped, null instead of a number, part of another proof in its
// place, another answer, another digest, another drift. What comes out is still JSON.
std::string mutate(Json& certificate, base::Random& random);

}  // namespace cupel::test
