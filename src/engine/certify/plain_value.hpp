// Plain values: JSON and EDN as trees, read by a tokenizer of their own.
//
// The reader of histories (src/data/formats) has fast parsers, columns and borrowed text. This one
// has none of them: it shares no code with that reader, so that a fault of one shows as a
// difference (plain_reader.hpp). Linear in the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::certify {

struct PlainValue {
  enum class Kind : std::uint8_t {
    kAbsent,
    kNull,
    kInteger,
    kString,
    kKeyword,
    kLiteral,  // any other scalar, a set or a tagged value: as canonical text
    kVector,   // items
    kMap,      // items: name, value, name, value
  };
  Kind kind = Kind::kAbsent;
  std::int64_t integer = 0;
  std::string text = {};
  std::vector<PlainValue> items = {};

  [[nodiscard]] bool is_nothing() const { return kind == Kind::kAbsent || kind == Kind::kNull; }
  [[nodiscard]] bool is_name() const { return kind == Kind::kString || kind == Kind::kKeyword; }
  [[nodiscard]] bool is_vector() const { return kind == Kind::kVector; }
  [[nodiscard]] bool is_pair() const { return is_vector() && items.size() == 2; }
};

// nil, 7, "a", :a, [1 2], {"a" 1}: the text of a value that is a key or a value of a history.
std::string canonical_text(const PlainValue& value);

// One value after the other, from text in JSON or EDN.
class PlainText {
 public:
  PlainText(std::string_view text, bool edn) : text_(text), edn_(edn) {}

  // Past white space and, in EDN, commas, comments and discarded forms. False: that is the end.
  bool more();
  // The next character; after more().
  [[nodiscard]] char peek() const { return text_[at_]; }
  void advance() { ++at_; }
  // False after a mistake, which error() describes.
  bool value(PlainValue& out);
  // A map, or that of a record: #jepsen.history.Op{…}. Of fields that have no meaning in an
  // operation map the value is passed over, whatever it is made of.
  bool record(PlainValue& out);
  bool pass_edn();  // over a form, whatever it is made of; false: it has no end
  // After record(): what is wrong with the field `value`, if it could not be read.
  [[nodiscard]] const std::string& unread() const { return unread_; }

  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  bool fail(std::string message);
  bool fields(PlainValue& out);
  bool field(const PlainValue& name, PlainValue& out);
  bool pass_over(), pass_string();
  bool string(std::string& out);
  bool unicode(std::string& out);
  bool collection(char close, PlainValue& out);
  bool json_object(PlainValue& out);
  bool json_word(PlainValue& out);
  bool edn_word(PlainValue& out);
  bool namespaced(std::string_view space, PlainValue& map, PlainValue& out);
  bool edn_dispatch(PlainValue& out);
  std::string_view word();

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  const bool edn_;
  std::string error_, unread_;
};

}  // namespace cupel::certify
