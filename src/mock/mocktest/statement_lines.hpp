// Statement lines: the SQL of an application as explanations show it, and where it comes from.
//
// Comments of a statement leave its text and follow it: many clients put the place in the
// application's source there. sqlcommenter's (https://google.github.io/sqlcommenter/spec/), of
// Django, Rails, Sequelize, Hibernate and others, are read, all others are shown as they are.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/explain/why/explain.hpp"

namespace cupel::mocktest {

// "UPDATE item SET stock = 9 WHERE id = 1 -- shop/views.py:12": one line, at most about 200 bytes.
std::string statement_line(std::string_view sql);

// Of mock::Store::statements(); for analysis::Options::fields.
explain::FieldsByLabel statement_fields(
    const std::map<std::uint32_t, std::vector<std::string>>& statements);

}  // namespace cupel::mocktest
