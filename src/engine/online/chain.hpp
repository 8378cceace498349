// Chain: the certificate of a watch, written window by window
// (docs/reference/formats/certificate.md).
//
// Each look that forgets something adds a line; the end of the watch adds the order of what was
// still held. `cupel verify` reads history and chain side by side, once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "data/history/history.hpp"
#include "engine/levels/level.hpp"
#include "engine/online/window.hpp"

namespace cupel::online {

class Chain {
 public:
  // `asked`: the level of the user; `watched`: that of the windows, which implies it.
  static base::Result<Chain> begin(const std::string& file, levels::Level watched,
                                   levels::Level asked, history::Time drift);
  // Goes on where a chain was.
  struct Written {
    levels::Level watched;
    std::uint64_t windows, bytes;
    bool ended;
  };
  static base::Result<Chain> go_on(const std::string& file, const Written& before);

  // Right after a look that was satisfied.
  base::Status add(const Window& window);
  // Nothing more comes: after add().
  base::Status end(const Window& window);
  base::Status end_violated(std::string_view certificate);
  base::Status end_unknown(std::string_view why);
  // The window is built again from the beginning.
  base::Status begin_again();

  [[nodiscard]] std::uint64_t windows() const { return windows_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool ended() const { return ended_; }
  // It has ended, and proves that the history is satisfied.
  [[nodiscard]] bool satisfied() const { return satisfied_; }

 private:
  void window(const Evidence& evidence, const Evidence::Part& part, const Window& window,
              bool last);
  base::Status write();

  std::string file_;
  base::Descriptor descriptor_;
  std::string line_;
  std::string head_;
  levels::Level watched_ = levels::Level::kCausal;
  std::uint64_t windows_ = 0, bytes_ = 0;
  bool ended_ = false, satisfied_ = false;
};

}  // namespace cupel::online
