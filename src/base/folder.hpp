// Folders: what is in one. Not by std::filesystem, whose iterators end the program if they cannot
// allocate.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cupel::base {

// The names in a folder, without "." and "..", in no order. None: it cannot be read to its end.
std::optional<std::vector<std::string>> names_in_folder(const std::string& folder);

}  // namespace cupel::base
