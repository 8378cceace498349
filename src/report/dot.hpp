// DOT: a figure in Graphviz's language, for `dot -Tsvg` or for an editor.
//
// A transaction is a table whose rows are ports, so that an arrow runs from an
// operation to an operation. Kinds differ in colour (Okabe and Ito) and in
// arrowhead, certain and inferred in solid and dashed, the cycle in thickness:
// the picture can be read in black and white. Every cell has its size, so the
// layout is the same whatever fonts there are.
#pragma once

#include <string>

#include "report/figure.hpp"

namespace cupel::report {

struct DotOptions {
  bool text = true;  // false: boxes and arrows with room for their text, but without it
};

// Nodes are b0, b1 … in the order of the boxes; ports h (the head), l0, l1 …;
// edges in the order of the arrows. Same figure, same bytes.
std::string dot(const Figure& figure, const DotOptions& options = {});

}  // namespace cupel::report
