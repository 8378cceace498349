// lost_facts: see the header.
#include "data/formats/lost_facts.hpp"

#include <algorithm>
#include <unordered_set>

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
bool numbers_are_kept(const History& h, const KeptFacts& kept) {
  std::unordered_set<std::uint32_t> seen;
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    const auto label = h.label(TxnId(t));
    if (!kept.transaction_numbers) {
      if (label != t) return false;
    } else if (h.status(TxnId(t)) == TxnStatus::kAborted || !seen.insert(label).second) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> lost_facts(const History& h, const KeptFacts& kept) {
  std::vector<std::string> lost;
  if (h.has_times()) lost.emplace_back("times");
  if (!sessions_are_numbered(h)) lost.emplace_back("session names");
  if (!kept.empty_sessions && a_session_is_empty(h)) {
    lost.emplace_back("sessions without transactions");
  }
  if (!numbers_are_kept(h, kept)) lost.emplace_back("transaction numbers");
  std::string facts;
  for (const auto& [name, text] : h.metadata()) {
    const bool is_kept =
        std::find(kept.metadata.begin(), kept.metadata.end(), name) != kept.metadata.end();
    if (name != "format" && !is_kept) facts += (facts.empty() ? "" : ", ") + name;
  }
  if (!facts.empty()) lost.push_back("metadata (" + facts + ")");
  return lost;
}

}  // namespace cupel::formats
