// Layout: where the boxes and arrows of a figure go. y grows downwards.
//
// The layers of layered_layout.cpp decide it, without any library, so a figure has the same bytes
// everywhere.
#pragma once

#include <vector>

#include "base/text/svg.hpp"
#include "report/figure.hpp"

namespace cupel::report {

struct Layout {
  struct Route {
    std::vector<text::Point> spline;  // of 3n+1 points; empty: the arrow is not drawn
    text::Point tip;
    text::Point label;  // its middle
  };
  double width = 0, height = 0;
  std::vector<text::Point> boxes;  // top left corners
  std::vector<Route> arrows;
};

inline double box_height(const Figure::Box& box) {
  return kHeadHeight + kLineHeight * static_cast<double>(box.lines.size());
}

// Boxes in layers, an arrow a smooth line from a row of a box to a row of another. Never fails.
// Same figure, same layout. At most O(n^2) with n boxes and labels, of which a figure has few.
Layout layered_layout(const Figure& figure);

}  // namespace cupel::report
