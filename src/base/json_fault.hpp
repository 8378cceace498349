// JSON faults: why a text is no JSON, in words of ours. Those of simdjson differ from version to
// version, and some begin with the name of a constant.
#pragma once

#include <simdjson.h>

#include <string_view>

namespace cupel::base {

inline std::string_view json_fault(simdjson::error_code error) {
  switch (error) {
    case simdjson::TAPE_ERROR:
      return "a comma, a colon, a brace or a key is missing or superfluous";
    case simdjson::UNCLOSED_STRING:
      return "a string has no closing quote";
    case simdjson::STRING_ERROR:
      return "a string has a malformed escape";
    case simdjson::UNESCAPED_CHARS:
      return "a string has a control character that is not escaped";
    case simdjson::NUMBER_ERROR:
      return "a number is malformed";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR:
      return "the only words without quotes are true, false and null";
    case simdjson::UTF8_ERROR:
      return "the text is not UTF-8";
    case simdjson::EMPTY:
      return "there is no value";
    case simdjson::DEPTH_ERROR:
      return "it is nested too deep";
    case simdjson::CAPACITY:
    case simdjson::MEMALLOC:
      return "it is too large";
    default:
      return "it is malformed";
  }
}

}  // namespace cupel::base
