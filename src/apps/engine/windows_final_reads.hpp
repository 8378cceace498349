// Final reads of a history that does not fit into memory. What they say of a key depends on the
// operations on that key alone, so the file is gone through as often as needed, for some of the
// keys each time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "data/history/history.hpp"
#include "engine/analysis/final_reads.hpp"
#include "engine/online/file_plan.hpp"

namespace cupel::apps {

struct WindowedFinalReads {
  // All that was read from the keys in `found`, and written to them.
  history::History history;
  analysis::FinalReads found;  // its counts are of all keys
  std::uint64_t left_out = 0;  // keys with findings for which there is no memory
};

// `readers`: analysis::kFinalReaders of the history. None: no reader has a session, or `stop` said
// so. Errors: those of the file.
base::Result<std::optional<WindowedFinalReads>> final_reads_in_passes(
    const online::OpenHistory& open, const online::FilePlan& plan, const std::string& readers,
    std::uint64_t memory_limit_bytes, const std::function<bool()>& stop);

}  // namespace cupel::apps
