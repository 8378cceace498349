// What a format has no place for. Each rule restates what the format's writer
// writes; a test compares them with what a reader finds in the file.
#include <string>
#include <unordered_set>
#include <vector>

#include "formats/formats.hpp"

namespace cupel::formats {

using namespace history;

namespace {

bool sessions_are_numbered(const History& h) {
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    if (h.session_name(SessionId(s)) != std::to_string(s)) return false;
  }
  return true;
}

bool a_session_is_empty(const History& h) {
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    if (h.session_begin(SessionId(s)) == h.session_end(SessionId(s))) return true;
  }
  return false;
}

// Plume: an aborted transaction has no number of its own, and where two share
// one all are numbered anew. The others count transactions.
bool numbers_are_kept(const History& h, Format format) {
  std::unordered_set<std::uint32_t> seen;
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    const auto label = h.label(TxnId(t));
    if (format != Format::kPlume) {
      if (label != t) return false;
    } else if (h.status(TxnId(t)) == TxnStatus::kAborted || !seen.insert(label).second) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> left_out(const History& h, Format format) {
  std::vector<std::string> lost;
  if (format != Format::kPlume && format != Format::kAwdit && format != Format::kDbcop) return lost;
  if (h.has_times()) lost.emplace_back("times");
  if (!sessions_are_numbered(h)) lost.emplace_back("session names");
  if (format == Format::kPlume && a_session_is_empty(h)) {
    lost.emplace_back("sessions without transactions");
  }
  if (!numbers_are_kept(h, format)) lost.emplace_back("transaction numbers");
  std::string facts;
  for (const auto& [name, text] : h.metadata()) {
    const bool kept =
        format == Format::kDbcop && (name == "database" || name == "start" || name == "end");
    if (name != "format" && !kept) facts += (facts.empty() ? "" : ", ") + name;
  }
  if (!facts.empty()) lost.push_back("metadata (" + facts + ")");
  return lost;
}

}  // namespace cupel::formats
