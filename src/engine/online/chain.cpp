// Chain: see the header. Written by hand rather than through a JSON tree, because a long run has
// hundreds of millions of entries.
#include "engine/online/chain.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>

#include "base/text/json.hpp"

namespace cupel::online {

using history::ScalarKind;
using history::ScalarView;

namespace {

// As verify reads the name of a key: its kind, and its content.
void add_scalar(std::string& out, ScalarView scalar) {
  const auto kind = static_cast<int>(scalar.kind);
  if (scalar.kind == ScalarKind::kNull) {
    fmt::format_to(std::back_inserter(out), "[{}]", kind);
  } else if (scalar.kind == ScalarKind::kInteger) {
    fmt::format_to(std::back_inserter(out), "[{},{}]", kind, scalar.integer);
  } else {
    fmt::format_to(std::back_inserter(out), "[{},{}]", kind, text::quoted(scalar.text));
  }
}

template <typename Items, typename Each>
void add_list(std::string& out, const char* field, const Items& items, const Each& each) {
  if (items.empty()) return;
  fmt::format_to(std::back_inserter(out), ",\"{}\":[", field);
  for (const auto& item : items) {
    each(item);
    out += ',';
  }
  out.back() = ']';
}

void add_part(std::string& out, const Evidence::Part& part, std::span<const std::uint64_t> gone,
              const history::History& h) {
  std::uint64_t from = std::numeric_limits<std::uint64_t>::max();
  for (const auto number : part.order) from = std::min(from, number);
  for (const auto number : gone) from = std::min(from, number);
  if (part.order.empty() && gone.empty()) from = 0;
  const auto add = [&](std::uint64_t number) {
    fmt::format_to(std::back_inserter(out), "{}", number - from);
  };
  fmt::format_to(std::back_inserter(out), ",\"from\":{}", from);
  add_list(out, "order", part.order, add);
  if (part.order.empty()) out += ",\"order\":[]";
  add_list(out, "gone", gone, add);
  add_list(out, "reads_from", part.reads_from, [&](const Evidence::ReadFrom& read) {
    out += '[';
    add(read.transaction);
    fmt::format_to(std::back_inserter(out), ",{},", read.operation);
    add_scalar(out, h.key(read.key));
    out += ',';
    if (read.writer) {
      add(*read.writer);
    } else {
      out += "null";
    }
    out += ']';
  });
  add_list(out, "placings", part.placings, [&](const Evidence::Place& place) {
    out += '[';
    add_scalar(out, h.key(place.key));
    fmt::format_to(std::back_inserter(out), ",{},", place.position);
    add(place.transaction);
    fmt::format_to(std::back_inserter(out), ",{}]", place.operation);
  });
}

base::Error chain_error(const std::string& file, const char* what) {
  return {.message = fmt::format("the certificate cannot be {}: {}", what, std::strerror(errno)),
          .file = file};
}

}  // namespace

base::Result<Chain> Chain::begin(const std::string& file, levels::Level watched,
                                 levels::Level asked, history::Time drift) {
  Chain chain;
  chain.file_ = file;
  chain.watched_ = watched;
  chain.descriptor_ =
      base::Descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!chain.descriptor_) return chain_error(file, "written");
  chain.line_ =
      fmt::format(R"({{"cupel_certificate_windows":1,"level":"{}")", levels::name(watched));
  if (asked != watched) chain.line_ += fmt::format(R"(,"asked":"{}")", levels::name(asked));
  chain.line_ += fmt::format(R"(,"clock_drift_ns":{}}})", drift);
  chain.line_ += '\n';
  chain.head_ = chain.line_;
  if (auto written = chain.write(); !written.ok()) return std::move(written).error();
  return chain;
}

base::Result<Chain> Chain::go_on(const std::string& file, const Written& before) {
  Chain chain;
  chain.file_ = file;
  chain.watched_ = before.watched;
  chain.ended_ = before.ended;
  chain.descriptor_ = base::Descriptor(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  struct stat facts {};
  if (!chain.descriptor_ || ::fstat(chain.descriptor_.get(), &facts) != 0) {
    return chain_error(file, "continued");
  }
  if (static_cast<std::uint64_t>(facts.st_size) < before.bytes) {
    return base::Error{.message = fmt::format("found a certificate of {} bytes, expected the {} "
                                              "that the watch had written",
                                              facts.st_size, before.bytes),
                       .file = file};
  }
  char first[4096];
  const auto got = ::pread(chain.descriptor_.get(), first, sizeof first, 0);
  const std::string_view head(first, static_cast<std::size_t>(std::max<::ssize_t>(got, 0)));
  if (!head.starts_with(R"({"cupel_certificate_windows")") ||
      head.find('\n') == std::string_view::npos) {
    return base::Error{.message = "found no certificate of a watch", .file = file};
  }
  chain.head_ = head.substr(0, head.find('\n') + 1);
  if (::ftruncate(chain.descriptor_.get(), static_cast<::off_t>(before.bytes)) != 0 ||
      ::lseek(chain.descriptor_.get(), 0, SEEK_END) < 0) {
    return chain_error(file, "continued");
  }
  chain.windows_ = before.windows;
  chain.bytes_ = before.bytes;
  return chain;
}

base::Status Chain::write() {
  std::string_view left = line_;
  while (!left.empty()) {
    const auto written = ::write(descriptor_.get(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return chain_error(file_, "written");
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  bytes_ += line_.size();
  line_.clear();
  return base::Ok{};
}

void Chain::window(const Evidence& evidence, const Evidence::Part& part, const Window& window,
                   bool last) {
  line_ += fmt::format(R"({{"window":{},"transactions":{},"history":"{:016x}")", ++windows_,
                       evidence.transactions + (last ? evidence.open : 0),
                       last && evidence.open > 0 ? window.digest_with_open() : evidence.history);
  if (evidence.level != watched_) {
    line_ += fmt::format(R"(,"level":"{}")", levels::name(evidence.level));
  }
  const std::span<const std::uint64_t> none;
  add_part(line_, part, last ? none : evidence.gone, window.history());
}

base::Status Chain::add(const Window& window) {
  const auto& evidence = window.evidence();
  if (!evidence || ended_) return base::Ok{};
  if (evidence->closed.order.empty() && evidence->gone.empty()) return base::Ok{};
  this->window(*evidence, evidence->closed, window, /*last=*/false);
  line_ += fmt::format(R"(,"frontier":"{:016x}"}})", evidence->frontier);
  line_ += '\n';
  return write();
}

base::Status Chain::end(const Window& window) {
  const auto& evidence = window.evidence();
  if (ended_) return base::Ok{};
  if (!evidence) return end_unknown("the last look left no order");
  if (!evidence->rest.order.empty()) {
    this->window(*evidence, evidence->rest, window, /*last=*/true);
    line_ += "}\n";
  }
  line_ +=
      fmt::format(R"({{"end":"satisfied","windows":{},"transactions":{},"history":"{:016x}"}})",
                  windows_, evidence->transactions + evidence->open, window.digest_with_open());
  line_ += '\n';
  ended_ = satisfied_ = true;
  return write();
}

base::Status Chain::end_violated(std::string_view certificate) {
  if (ended_) return base::Ok{};
  line_ += R"({"end":"violated","certificate":)";
  for (const char c : certificate) line_ += c == '\n' ? ' ' : c;
  line_ += "}\n";
  ended_ = true;
  return write();
}

base::Status Chain::end_unknown(std::string_view why) {
  if (ended_) return base::Ok{};
  line_ += fmt::format(R"({{"end":"unknown","why":{}}})", text::quoted(why));
  line_ += '\n';
  ended_ = true;
  return write();
}

base::Status Chain::begin_again() {
  if (ended_) return base::Ok{};
  if (::ftruncate(descriptor_.get(), 0) != 0 || ::lseek(descriptor_.get(), 0, SEEK_SET) != 0) {
    return chain_error(file_, "begun again");
  }
  windows_ = bytes_ = 0;
  line_ = head_;
  return write();
}

}  // namespace cupel::online
