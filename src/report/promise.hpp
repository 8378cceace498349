// Promise: which levels decide whether a history is good, and whether they are satisfied.
//
// The text and the page read these answers, so that they agree about pass and fail. Whoever checks
// a run says which levels decide it. A check of every level takes the level that the database
// promises; what else is violated is nobody's promise and nobody's question.
#pragma once

#include <string>
#include <vector>

#include "base/verdict.hpp"
#include "report/render.hpp"

namespace cupel::report {

// Empty: no level decides more than the others.
std::vector<levels::Level> decisive_levels(const Checked& checked);

// Of the decisive levels together: violated if one is, else unknown if one is not satisfied.
// Without decisive levels: of all levels, apart from refused ones.
base::Verdict verdict_of_levels(const Checked& checked);

// There are decisive levels, and all are satisfied.
bool keeps_promise(const Checked& checked);

// "keeps the promise of PostgreSQL 15 at repeatable-read: snapshot-isolation", or that it breaks
// it; empty if nothing is promised, or what is promised is not decided. On one line.
std::string promise_text(const Checked& checked);

// The weakest violated levels, if the decisive ones are satisfied: "violates prefix, which it
// does not promise". Empty if there are none.
std::string not_promised_text(const Checked& checked);

}  // namespace cupel::report
