// State: see the header.
#include "data/history/state.hpp"

#include "base/fnv.hpp"

namespace cupel::history {

namespace {

constexpr std::string_view kVersion = "cupel watch state 11\n";
constexpr std::size_t kHashBytes = 8;
constexpr auto kLastKind = static_cast<std::size_t>(ScalarKind::kLiteral);

std::string spelled(std::uint64_t hash) {
  std::string bytes;
  for (std::size_t i = 0; i < kHashBytes; ++i) bytes += static_cast<char>(hash >> 8 * i & 0xff);
  return bytes;
}

bool is_number(ScalarKind kind) {
  return kind == ScalarKind::kNull || kind == ScalarKind::kInteger;
}

}  // namespace

void StateWriter::number(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
  bytes_ += static_cast<char>(value);
}

void StateWriter::integer(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  number(bits << 1 ^ (value < 0 ? ~std::uint64_t{0} : 0));
}

void StateWriter::text(std::string_view value) {
  number(value.size());
  bytes_ += value;
}

void StateWriter::scalar(ScalarView value) {
  number(static_cast<std::uint64_t>(value.kind));
  if (value.kind == ScalarKind::kInteger) integer(value.integer);
  if (!is_number(value.kind)) text(value.text);
}

std::string StateWriter::sealed() && {
  bytes_.insert(0, kVersion);
  bytes_ += spelled(base::fnv(bytes_));
  return std::move(bytes_);
}

StateReader::StateReader(std::string_view sealed) : left_(sealed) {
  good_ = sealed.size() >= kVersion.size() + kHashBytes && sealed.starts_with(kVersion) &&
          sealed.ends_with(spelled(base::fnv(sealed.substr(0, sealed.size() - kHashBytes))));
  if (!good_) return;
  left_.remove_prefix(kVersion.size());
  left_.remove_suffix(kHashBytes);
}

std::uint64_t StateReader::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; good_ && shift < 64 && !left_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  spoil();
  return 0;
}

std::int64_t StateReader::integer() {
  const auto bits = number();
  return static_cast<std::int64_t>(bits >> 1 ^ ((bits & 1) != 0 ? ~std::uint64_t{0} : 0));
}

bool StateReader::flag() {
  return below(2) != 0;
}

std::size_t StateReader::count() {
  return below(left_.size() + 1);
}

std::uint32_t StateReader::below(std::size_t limit) {
  const auto value = number();
  if (value < limit && value <= 0xffffffff) return static_cast<std::uint32_t>(value);
  spoil();
  return 0;
}

std::string_view StateReader::text() {
  const auto size = count();
  if (!good_ || size > left_.size()) {
    spoil();
    return {};
  }
  const auto value = left_.substr(0, size);
  left_.remove_prefix(size);
  return value;
}

ScalarView StateReader::scalar() {
  const auto kind = static_cast<ScalarKind>(below(kLastKind + 1));
  if (kind == ScalarKind::kInteger) return ScalarView::of(integer());
  return {kind, 0, is_number(kind) ? std::string_view() : text()};
}

}  // namespace cupel::history
