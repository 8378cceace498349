// Objects: histories of sets and the like in operation maps (docs/reference/objects.md). The words
// of f and the values say which kind of object a file records; `--kind` states it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/formats/interpretation.hpp"
#include "data/formats/jepsen_pairs.hpp"
#include "data/history/object_history.hpp"

namespace cupel::formats::jepsen {

// The kind of objects that these operations are about. None: of no kind that is read as an
// ObjectHistory. False after an error.
bool find_objects(Pairs& pairs, const Interpretation& as, std::optional<ObjectsOf>& found);

// Whether some operation has a word that only objects have.
bool may_be_objects(const Pairs& pairs);

// The history of these objects, but for its metadata. False after an error. `timed`: operations
// have times.
bool resolve_objects(Pairs& pairs, Reading& reading, const ObjectsOf& what, bool timed,
                     history::ObjectHistory& out);

}  // namespace cupel::formats::jepsen
