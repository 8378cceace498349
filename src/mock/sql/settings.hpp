// The settings of a session that SET and SHOW know by name: those with an effect here, and those
// that drivers set when they connect. Any other is 0A000, and so is a value that would mean
// something else than what is done here.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cupel::sql {

// By name, in lower case. transaction_isolation and transaction_read_only are in it only while a
// transaction has its own; else default_transaction_… holds.
using Settings = std::map<std::string, std::string, std::less<>>;

Settings first_settings();

// The value as SHOW writes it. Raises 22023 for what is no value of it, and 0A000 for a setting
// that is not known or a value that is not done.
std::string checked_setting(const std::string& name, const std::string& value);
// Of the value of one that is a time; 0 for none.
double milliseconds_of(const std::string& time);

}  // namespace cupel::sql
