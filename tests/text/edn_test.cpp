// The EDN scanner by itself: what it passes to a builder, and where it finds an error.
#include "base/text/edn.hpp"

#include <gtest/gtest.h>

namespace cupel::text {
namespace {

// Values as text: the calls of the scanner, one inside the other.
struct CallBuilder {
  using Value = std::string;
  static constexpr std::string_view kInput = "file";

  std::string* error;

  bool fail(std::uint64_t byte, std::string message) {
    if (error->empty()) *error = std::to_string(byte) + ": " + message;
    return false;
  }
  static Value null() { return "nil"; }
  static Value integer(std::int64_t value) { return "int " + std::to_string(value); }
  static bool string(std::string_view text, bool borrowed, std::size_t /*byte*/, Value& out) {
    out = (borrowed ? "string " : "copied ") + std::string(text);
    return true;
  }
  static bool keyword(std::string_view name, bool borrowed, std::size_t /*byte*/, Value& out) {
    out = (borrowed ? "keyword " : "copied keyword ") + std::string(name);
    return true;
  }
  static bool number(std::string_view digits, std::string_view word, std::size_t /*byte*/,
                     Value& out) {
    out = "number " + std::string(digits) + " of " + std::string(word);
    return true;
  }
  static bool symbol(std::string_view word, bool borrowed, std::size_t /*byte*/, Value& out) {
    out = (borrowed ? "symbol " : "copied symbol ") + std::string(word);
    return true;
  }
  bool tagged(std::string_view tag, Value inner, std::size_t byte, Value& out) {
    if (tag == "no") return fail(byte, "found #no");
    out = "tagged " + std::string(tag) + " " + inner;
    return true;
  }
  static bool joined(const char* kind, std::span<Value> values, Value& out) {
    out = kind;
    for (const auto& value : values) out += "<" + value + ">";
    return true;
  }
  static bool vector(std::span<Value> v, Value& out) { return joined("vector", v, out); }
  static bool set(std::span<Value> v, std::size_t /*byte*/, Value& out) {
    return joined("set", v, out);
  }
  static bool map(std::span<Value> v, std::size_t /*byte*/, Value& out) {
    return joined("map", v, out);
  }
};

struct Scanned {
  std::string value, error;
  std::size_t end;
};
Scanned scan(std::string_view bytes, int depth = 0) {
  Scanned scanned;
  EdnScanner scanner(bytes, CallBuilder{&scanned.error});
  const bool found = scanner.value(scanned.value, depth);
  EXPECT_EQ(found, scanned.error.empty()) << bytes;
  if (!found) scanned.value.clear();
  scanned.end = scanner.position();
  return scanned;
}

TEST(Edn, ScansEveryKindOfValue) {
  const std::pair<std::string, std::string> cases[] = {
      {"nil", "nil"},
      {" ,\t; a comment\n 7 8", "int 7"},
      {"+7", "int 7"},
      {"-9223372036854775808", "int -9223372036854775808"},
      {"5N", "int 5"},
      {"9223372036854775808", "number 9223372036854775808 of 9223372036854775808"},
      {"+1.5", "number 1.5 of +1.5"},
      {"1/2", "number 1/2 of 1/2"},
      {":a/b", "keyword a/b"},
      {"true", "symbol true"},
      {"-", "symbol -"},
      {"-a", "symbol -a"},
      {"\\( ", "symbol \\("},
      {"\\newline]", "symbol \\newline"},
      {"\\, ", "symbol \\,"},
      {"\\é]", "symbol \\é"},
      {"##Inf", "symbol ##Inf"},
      {R"("a;b")", "string a;b"},
      {R"("a\t\"\\\/\u00e9\ud83d\ude00")", "copied a\t\"\\/é😀"},
      {"[]", "vector"},
      {"(1 (2) nil)", "vector<int 1><vector<int 2>><nil>"},
      {"#{:a \"b\"}", "set<keyword a><string b>"},
      {"{:a 1, :b [2]}", "map<keyword a><int 1><keyword b><vector<int 2>>"},
      {"#inst \"2026\"", "tagged inst string 2026"},
      {"#a #b {}", "tagged a tagged b map"},
      {"#_ 1 [#_2 3 #_ [4 5] #_6]", "vector<int 3>"},
      {"{:a 1 #_ {:b 2}}", "map<keyword a><int 1>"},
      {"{#_ :b :a #_ 2 1}", "map<keyword a><int 1>"},
      {"[#_ #_ 1 2 3]", "vector<int 3>"},
      {"[1 #_ #_ 2 3]", "vector<int 1>"},
      {"#_ #no 1 [#_ #_ #no 1 #x 1.x 2]", "vector<int 2>"},
      {"^:quick [1 ^{:a 2} 3]", "vector<int 1><int 3>"},
      {"[0x1F 0XfFN -0x10 +0x1]", "vector<int 31><int 255><int -16><int 1>"},
      {"[017 -017 00 0 -0 0N 017N]", "vector<int 15><int -15><int 0><int 0><int 0><int 0><int 15>"},
      {"[2r101 36rZz 16R1f -8r17]", "vector<int 5><int 1295><int 31><int -15>"},
      {"[0x7fffffffffffffff -0x8000000000000000]",
       "vector<int 9223372036854775807><int -9223372036854775808>"},
      {"[1.5M 07.5 1e3]", "vector<number 1.5M of 1.5M><number 07.5 of 07.5><number 1e3 of 1e3>"},
      {"[\\a\\space]", "vector<symbol \\a><symbol \\space>"},
      {"[\\u0061 \\o101 \\u000a \\u \\o]",
       "vector<copied symbol \\a><copied symbol \\A><copied symbol \\newline><symbol \\u><symbol "
       "\\o>"},
      {R"("\101\0")", std::string("copied A") + '\0'},
      {"##-Inf", "symbol ##-Inf"},
      {"#:a{:b 1 :_/c 2 :d/e 3 \"f\" :g}",
       "map<copied keyword a/b><int 1><keyword c><int 2><keyword d/e><int 3><string f><keyword "
       "g>"},
  };
  for (const auto& [text, value] : cases) {
    const auto scanned = scan(text);
    EXPECT_EQ(scanned.value, value) << text << ": " << scanned.error;
  }
  EXPECT_EQ(scan(" ,\t; a comment\n 7 8").end, 17U);
  EXPECT_EQ(scan("[1]]").end, 3U);
}

TEST(Edn, SaysWhereAnErrorIs) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "0: found the end of the file, expected a value: it is truncated"},
      {" ; ", "3: found the end of the file"},
      {"[1 ", "0: found [ without its ]: truncated or corrupt"},
      {"{:a (1 ", "4: found ( without its )"},
      {"#{1", "1: found { without its }"},
      {"[1 }", "3: found }, expected a value"},
      {"[#_]", "3: found ], expected a value"},
      {"{:a 1 :b}", "0: found a map with a key that has no value, expected pairs"},
      {" \"a", "1: found a string without its closing quote"},
      {"\"a\\", "0: found a string without its closing quote"},
      {R"("ab\q")", "3: found an unknown escape in a string"},
      {R"("\u12")", "1: found a bad \\u escape"},
      {R"("\ud83d")", "1: found a bad \\u escape"},
      {R"("\ude00")", "1: found a bad \\u escape"},
      {"[: ]", "1: found a lone colon, expected a keyword"},
      {"[\\", "1: found a lone backslash, expected a character"},
      {"[\\ ]", "1: found a lone backslash, expected a character"},
      {"[\\\n]", "1: found a lone backslash, expected a character"},
      {"[# 1]", "1: found a lone #, expected a set or a tagged value"},
      {"[1 #no 2]", "3: found #no"},
      {"#_", "2: found the end of the file, expected a value"},
      {"{:a #_ 1}", "0: found a map with a key that has no value"},
      {"[1 #_ #_ 2]", "10: found ], expected a value"},
      {"[08]", "1: found a number that Clojure does not read"},
      {"[0x]", "1: found a number that Clojure does not read"},
      {"[0x1G]", "1: found a number that Clojure does not read"},
      {"[1r0]", "1: found a number that Clojure does not read"},
      {"[37r0]", "1: found a number that Clojure does not read"},
      {"[0x8000000000000000]", "1: found a number of more than 64 bits"},
      {"[\\aa]", "1: found an unknown character"},
      {"[\\ud800]", "1: found an unknown character"},
      {R"("\400")", "1: found a bad octal escape"},
      {"[##Infinity]", "1: found ##, expected ##Inf"},
      {"[::a]", "1: found a keyword with two colons"},
      {"#::a{:b 1}", "0: found #: without a namespace and a map"},
      {"#:a [1]", "0: found #: without a namespace and a map"},
      {"[#<Object 1>]", "1: found an object that was printed as #<"},
      {"[#1 2]", "1: found a # before no name"},
      {"[1 2 ...]", "5: found `...`"},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_EQ(scan(text).error.substr(0, error.size()), error) << text;
  }
}

// A hundred within each other, whatever they are made of; those that are open already count.
TEST(Edn, DepthIsBounded) {
  const auto nested = [](const char* open, const char* close, int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += open;
    text += '7';
    for (int i = 0; i < depth; ++i) text += close;
    return text;
  };
  for (const auto& [open, close] : {std::pair{"[", "]"}, std::pair{"(", ")"}, std::pair{"#{", "}"},
                                    std::pair{"{1 ", "}"}, std::pair{"#a ", ""}}) {
    EXPECT_EQ(scan(nested(open, close, kMaxDepth)).error, "") << open;
    EXPECT_EQ(scan(nested(open, close, kMaxDepth - 2), 2).error, "") << open;
    for (const auto& [depth, open_already] :
         {std::pair{kMaxDepth + 1, 0}, std::pair{kMaxDepth - 1, 2}, std::pair{200'000, 0}}) {
      EXPECT_NE(scan(nested(open, close, depth), open_already).error.find("nested more than 100"),
                std::string::npos)
          << open;
    }
  }
  std::string discards;
  for (int i = 0; i < 200'000; ++i) discards += "#_ ";
  EXPECT_NE(scan(discards).error.find("nested more than 100"), std::string::npos);
}

}  // namespace
}  // namespace cupel::text
