// A field reads its value where its pointer is, so the pointer is moved to the record and back.
#include "mock/engines/mariadb/row_image.hpp"

#include <cstring>
#include <string_view>

#include "mock/engines/messages.hpp"

namespace cupel::engines::mariadb {

namespace {

constexpr std::size_t kLongestValue = 60;

Field_blob* blob_of(const TABLE& table, uint number) {
  return static_cast<Field_blob*>(table.field[number]);
}

template <typename Visit>
void for_each_blob(const TABLE& table, const Visit& visit) {
  const auto* end = table.s->blob_field + table.s->blob_fields;
  for (const auto* number = table.s->blob_field; number != end; ++number) {
    const auto* field = blob_of(table, *number);
    visit(*field, static_cast<std::size_t>(field->ptr - table.record[0]));
  }
}

// While it lives, the field is that of the record.
class FieldOfRecord {
 public:
  FieldOfRecord(const TABLE& table, Field* field, const uchar* record)
      : field_(field), offset_(record - table.record[0]) {
    field_->move_field_offset(offset_);
  }
  ~FieldOfRecord() { field_->move_field_offset(-offset_); }
  FieldOfRecord(const FieldOfRecord&) = delete;
  FieldOfRecord& operator=(const FieldOfRecord&) = delete;

  [[nodiscard]] bool is_null() const { return field_->is_null(); }
  [[nodiscard]] std::string text() const {
    String buffer;
    const String* value = field_->val_str(&buffer);
    if (value == nullptr) return "";
    if (value->charset() == &my_charset_bin) return text_of_bytes({value->ptr(), value->length()});
    String converted;
    uint errors = 0;
    converted.copy(value->ptr(), value->length(), value->charset(), &my_charset_utf8mb4_bin,
                   &errors);
    return {converted.ptr(), converted.length()};
  }

 private:
  static std::string text_of_bytes(std::string_view bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string hexadecimal = "0x";
    bool plain = true;
    for (const char c : bytes) {
      plain = plain && c >= ' ' && c <= '~';
      hexadecimal += kDigits[static_cast<unsigned char>(c) >> 4];
      hexadecimal += kDigits[static_cast<unsigned char>(c) & 15];
    }
    return plain ? std::string(bytes) : hexadecimal;
  }

  Field* field_;
  my_ptrdiff_t offset_;
};

void append_part(std::string& text, std::string_view part) {
  for (const char c : part) text += c == kValue || c == kNextColumn ? ' ' : c;
}

const uchar* bytes_of(const std::string& text) {
  return reinterpret_cast<const uchar*>(text.data());
}

}  // namespace

std::string pack_row(const TABLE& table, const uchar* record) {
  std::string bytes(reinterpret_cast<const char*>(record), table.s->reclength);
  for_each_blob(table, [&](const Field_blob& field, std::size_t offset) {
    const auto* there = record + offset;
    const auto length = field.get_length(there);
    const auto size = field.pack_length_no_ptr();
    if (field.is_null_in_record(record) || length == 0) {
      std::memset(bytes.data() + offset, 0, size);
      return;
    }
    const char* content = nullptr;
    std::memcpy(&content, there + size, sizeof content);
    bytes.append(content, length);
  });
  return bytes;
}

void unpack_row(const TABLE& table, const std::string& bytes, uchar* record) {
  std::memcpy(record, bytes.data(), table.s->reclength);
  const char* content = bytes.data() + table.s->reclength;
  for_each_blob(table, [&](const Field_blob& field, std::size_t offset) {
    auto* there = record + offset;
    std::memcpy(there + field.pack_length_no_ptr(), &content, sizeof content);
    content += field.get_length(there);
  });
}

KeyOrder order_of(const KEY& key) {
  return [parts = key.key_part](const uchar* one, const uchar* other, std::size_t length) {
    const auto* end = one + length;
    for (const auto* part = parts; one < end; ++part) {
      const int sign = (part->key_part_flag & HA_REVERSE_SORT) != 0 ? -1 : 1;
      auto size = part->store_length;
      if (part->null_bit != 0) {
        if (*one != *other) return *one != 0 ? -sign : sign;
        if (*one == 0) {
          const int compared = part->field->key_cmp(one + 1, other + 1);
          if (compared != 0) return sign * compared;
        }
      } else if (const int compared = part->field->key_cmp(one, other); compared != 0) {
        return sign * compared;
      }
      one += size;
      other += size;
    }
    return 0;
  };
}

std::string key_of(const KEY& key, const uchar* record) {
  std::string bytes(key.key_length, '\0');
  key_copy(reinterpret_cast<uchar*>(bytes.data()), record, &key, key.key_length, true);
  return bytes;
}

bool has_null(const KEY& key, const uchar* record) {
  for (uint i = 0; i < key.user_defined_key_parts; ++i) {
    const auto& part = key.key_part[i];
    if (part.null_bit != 0 && (record[part.null_offset] & part.null_bit) != 0) return true;
  }
  return false;
}

bool key_has_null(const KEY& key, const uchar* bytes) {
  for (uint i = 0; i < key.user_defined_key_parts; ++i) {
    const auto& part = key.key_part[i];
    if (part.null_bit != 0 && *bytes != 0) return true;
    bytes += part.store_length;
  }
  return false;
}

std::string hash_text(const KEY& key, const uchar* record) {
  auto info = key;
  const auto bytes = key_of(key, record);
  return std::to_string(key_hashnr(&info, key.user_defined_key_parts, bytes_of(bytes)));
}

bool same_key(const KEY& key, const uchar* one, const uchar* other) {
  const auto first = key_of(key, one), second = key_of(key, other);
  return order_of(key)(bytes_of(first), bytes_of(second), first.size()) == 0;
}

std::string table_text(const char* database, const char* table) {
  return std::strcmp(database, "cupel") == 0 ? std::string(table)
                                             : std::string(database) + "." + table;
}

std::string key_text(const TABLE& table, const uchar* record) {
  if (table.s->primary_key >= MAX_KEY) return "";
  const auto& key = table.key_info[table.s->primary_key];
  std::string text;
  for (uint i = 0; i < key.user_defined_key_parts; ++i) {
    if (i > 0) text += ',';
    const auto part = FieldOfRecord(table, table.field[key.key_part[i].fieldnr - 1], record).text();
    if (part.empty()) text += "\\e";
    for (const char c : part) {
      if (c == ',' || c == '\\') text += '\\';
      text += c;
    }
  }
  return text;
}

std::string value_text(const TABLE& table, const uchar* record) {
  std::string text;
  for (auto** field = table.field; *field != nullptr; ++field) {
    if ((*field)->invisible >= INVISIBLE_SYSTEM) continue;
    if (!text.empty()) text += kNextColumn;
    append_part(text, {(*field)->field_name.str, (*field)->field_name.length});
    text += kValue;
    const FieldOfRecord value(table, *field, record);
    const auto words = value.is_null() ? "null" : value.text();
    append_part(text, words.size() > kLongestValue ? "…" : words);
  }
  return text;
}

}  // namespace cupel::engines::mariadb
