// SVG: a figure, laid out inside this process (layout.hpp) and drawn here.
//
// Graphviz decides where boxes and arrows go (`dot`, from the text of dot.hpp, with
// all sizes given: no font is measured), or our own layers where it is not installed. Drawing is
// ours so that a page can restyle, highlight and read aloud what it shows: every box and arrow is a
// group with classes and data attributes, its sentence as its title. No ids, dates, scripts or
// references to other files.
#pragma once

#include <string>

#include "base/result.hpp"
#include "report/figure.hpp"

namespace cupel::report {

struct SvgOptions {
  // A file of its own: with its style, a title and a legend. false: for a page that
  // has these (web/report.css), where the colours follow the page's theme.
  bool standalone = true;
};

// Classes: `box` (`cycle`, `uncommitted`, with data-txn = TxnId), `arrow` (the kind,
// `certain` or `inferred`, `cycle`, with data-arrow = its index, data-from and data-to = TxnIds).
// Thread-safe, but one at a time in Graphviz. Fails only if Graphviz is there and cannot lay out
// (its plugins are missing).
base::Result<std::string> svg(const Figure& figure, const SvgOptions& options = {});

// The same figure both ways, laid out once: the layout takes most of the time.
struct Pictures {
  std::string in_page, standalone;
};
base::Result<Pictures> pictures_of(const Figure& figure);

}  // namespace cupel::report
