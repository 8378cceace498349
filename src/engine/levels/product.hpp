// product: what a database's own name for an isolation level means here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/history/history.hpp"
#include "engine/levels/level.hpp"

namespace cupel::levels {

// "PostgreSQL's REPEATABLE READ" if the history says that it was recorded from a
// database under an isolation level which that database implements as `level`;
// else empty. From the metadata "database", "isolation"
// and "settings".
std::string product_name(const history::History& history, Level level);

// The metadata "servers" of a history whose sessions used several servers of the database.
inline constexpr std::string_view kSeveralServers = "several";

// The metadata that says, in a sentence, why nothing is promised of what the recorder did to the
// database.
inline constexpr const char* kNoPromise = "no promise";

// The level that the product promises under that name, if known. `settings`: what
// else decides it, as the recorder noted it ("innodb_snapshot_isolation=ON"). Where several
// servers were used, only a promise about the whole cluster counts.
std::optional<Level> promised(std::string_view database, std::string_view isolation,
                              std::string_view settings = {}, bool several_servers = false);
// The level that the database promises from which the history was recorded: from the
// same metadata as product_name.
std::optional<Level> promised(const history::History& history);

// Where the product promises it: "PostgreSQL's manual, chapter Transaction Isolation". Empty
// if it promises nothing.
std::string_view source_of_promise(std::string_view database, std::string_view isolation,
                                   std::string_view settings = {});

}  // namespace cupel::levels
