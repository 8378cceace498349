// What a connection sent and is not worked on yet. Taking from its front costs
// nothing until the space is worth having back.
#pragma once

#include <string>
#include <string_view>

namespace cupel::wire {

class InputBuffer {
 public:
  void add(std::string_view bytes) {
    if (begin_ == bytes_.size() || begin_ >= kLeastMoved) {
      bytes_.erase(0, begin_);
      begin_ = 0;
    }
    bytes_ += bytes;
  }
  [[nodiscard]] std::string_view bytes() const { return std::string_view(bytes_).substr(begin_); }
  void drop(std::size_t size) { begin_ += size; }
  void clear() {
    bytes_.clear();
    bytes_.shrink_to_fit();
    begin_ = 0;
  }

 private:
  static constexpr std::size_t kLeastMoved = 65536;
  std::string bytes_;
  std::size_t begin_ = 0;
};

}  // namespace cupel::wire
