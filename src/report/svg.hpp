// SVG: a figure, laid out inside this process (layout.hpp) and drawn here.
//
// All sizes are given: no font is measured. A page can restyle, highlight and read aloud what it
// shows: every box and arrow is a group with classes and data attributes, its sentence as its
// title. No ids, dates, scripts or references to other files.
#pragma once

#include <string>

#include "report/figure.hpp"

namespace cupel::report {

struct SvgOptions {
  // A file of its own: with its style, a title and a legend. false: for a page that
  // has these (web/report.css), where the colours follow the page's theme.
  bool standalone = true;
};

// Classes: `box` (`cycle`, `uncommitted`, with data-txn = TxnId), `arrow` (the kind,
// `certain` or `inferred`, `cycle`, with data-arrow = its index, data-from and data-to = TxnIds).
// Thread-safe.
std::string svg(const Figure& figure, const SvgOptions& options = {});

// The same figure both ways, laid out once: the layout takes most of the time.
struct Pictures {
  std::string in_page, standalone;
};
Pictures pictures_of(const Figure& figure);

}  // namespace cupel::report
