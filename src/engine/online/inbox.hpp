// Inbox: where the lines of recorders come from: files that grow, recordings of several files
// (data/formats/recording.hpp), standard input, pipes, and a Unix or loopback socket to which any
// number of recorders connect.
//
// One thread; nothing blocks longer than it is told to. Only whole lines come out.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "data/formats/input.hpp"
#include "data/formats/open_file.hpp"

namespace cupel::online {

class Inbox {
 public:
  // `follow`: a regular file is not over at its end.
  explicit Inbox(bool follow) : follow_(follow) {}
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // "-", a file, a recording, a named pipe, unix:PATH, tcp:PORT or tcp:HOST:PORT (a loopback
  // address). Errors: it cannot be opened, or listened on.
  base::Status add(const std::string& source);
  // A regular file or a recording from this byte on, where a line begins.
  base::Status add_from(const std::string& file, std::uint64_t byte);

  // Whole lines of one recorder, numbered in the order in which they came.
  using Take = std::function<base::Status(std::size_t recorder, std::string_view lines)>;
  // What is there, at most about a megabyte of each; waits for something if there is nothing.
  // The number of bytes; or the error of `take`, of a read, of a file that became shorter.
  base::Result<std::size_t> poll(std::chrono::milliseconds wait, const Take& take);

  // The last lines that only want their end: nothing of a map that is closed was cut. When nothing
  // more will come. Of a single file, which is its own record, the line comes as it is; any other
  // gets its end.
  base::Status take_whole_maps(const Take& take);
  // Whoever goes on after it would not begin at the beginning of a line.
  [[nodiscard]] bool took_open_line() const { return took_open_line_; }

  [[nodiscard]] std::size_t recorders() const { return inputs_.size(); }
  [[nodiscard]] const std::string& name(std::size_t recorder) const {
    return inputs_[recorder].name;
  }
  // Nothing more will come: all that has an end has ended, and nothing listens.
  [[nodiscard]] bool ended() const;
  // Recorders that have connected and gone again.
  [[nodiscard]] std::size_t gone() const;
  // Bytes of a last line without an end.
  [[nodiscard]] std::uint64_t cut_bytes() const;

 private:
  enum class Kind : std::uint8_t { kFile, kPipe, kSocket };
  struct Input {
    std::string name;
    Kind kind;
    formats::OpenFile file;
    std::string pending = {};  // of a line that has not ended
    std::uint64_t read = 0;
    std::uint64_t at = 0;  // of the file that is read now, or of its content
    bool ended = false;
    // Of a recording of several files: which is read, and its content if it is compressed.
    std::string folder = {};
    std::uint32_t part = 0;
    formats::MappedFile packed = {};
  };
  base::Status open(const std::string& path);
  base::Status listen(const std::string& address);
  void accept(std::size_t listener);
  base::Result<std::size_t> read(std::size_t recorder, const Take& take);
  // As read(2); 0: there is nothing more at the moment.
  static base::Result<std::size_t> bytes_of(Input& input, char* to, bool& later);
  static base::Result<std::size_t> bytes_of_part(Input& input, char* to, bool& later);
  static base::Status open_next_part(Input& input);
  static base::Status skip(Input& input, std::uint64_t bytes);

  struct Listener {
    std::string name, path;  // the path of a Unix socket, which goes with it
    base::Descriptor socket;
  };

  const bool follow_;
  std::vector<Input> inputs_;
  std::vector<Listener> listeners_;
  std::string buffer_;
  bool took_open_line_ = false;
};

}  // namespace cupel::online
