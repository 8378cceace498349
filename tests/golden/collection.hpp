// Collection: the histories beside the repository and every verdict that is known of
// them. Too large to ship; CUPEL_HISTORIES names another place for it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/check/check.hpp"

namespace cupel::golden {

// CUPEL_HISTORIES, or ../shared/histories.
std::filesystem::path collection_folder();

// By path under the collection: a file, or a directory that is one history.
using KnownCollection = std::map<std::string, std::map<levels::Level, check::Verdict>>;

// From expected.tsv, from the names of folders and files, and from what the papers and
// the tests beside this file say of single histories. Empty if there is no expected.tsv.
KnownCollection known_collection();

// The fields of a tab-separated file, without its header and # lines.
std::vector<std::vector<std::string>> read_tsv(const std::filesystem::path& path);

// "satisfied" or "violated"; anything else is a mistake in the data.
check::Verdict parse_verdict(std::string_view text);

}  // namespace cupel::golden
