// Graphviz's structures are read right after its layout: y grows upwards there,
// and an arrow's spline ends where its head begins.
#include <fmt/format.h>
#include <graphviz/gvc.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "report/dot.hpp"
#include "report/layout.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace cupel::report {

using text::Point;

namespace {

// The error messages of Graphviz, which it would print otherwise.
std::string& graphviz_errors() {
  static std::string text;
  return text;
}
int keep_error(char* message) {
  graphviz_errors() += message;
  return 0;
}

}  // namespace

base::Result<Layout> graphviz_layout(const Figure& figure) {
#ifdef __SANITIZE_ADDRESS__
  // Graphviz 2.43 forgets a few hundred bytes at every layout with ports.
  const __lsan::ScopedDisabler graphviz_leaks;
#endif
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  graphviz_errors().clear();
  agseterrf(keep_error);
  // One for the process: making it reads the list of plugins, and freeing it leaks in 2.43.
  static GVC_t* const context = gvContext();
  const auto text = dot(figure, {.text = false});
  Agraph_t* const graph = agmemread(text.c_str());
  const auto failed = [&](std::string_view what) {
    return base::Error{
        .message = fmt::format("the picture could not be laid out: {}{}{}; is Graphviz (libgvc) "
                               "installed whole?",
                               what, graphviz_errors().empty() ? "" : ": ", graphviz_errors())};
  };
  if (graph == nullptr) return failed("Graphviz did not read its input");
  if (gvLayout(context, graph, "dot") != 0) {
    agclose(graph);
    return failed("Graphviz has no layout `dot`");
  }
  Layout layout;
  const auto bounds = GD_bb(graph);
  layout.width = bounds.UR.x - bounds.LL.x;
  layout.height = bounds.UR.y - bounds.LL.y;
  const auto at = [&](pointf p) { return Point{p.x - bounds.LL.x, bounds.UR.y - p.y}; };
  layout.boxes.resize(figure.boxes.size());
  layout.arrows.resize(figure.arrows.size());
  std::size_t arrow_count = 0;
  std::vector<std::pair<unsigned long, Layout::Route>> routes;
  for (auto* node = agfstnode(graph); node != nullptr; node = agnxtnode(graph, node)) {
    const auto index = static_cast<std::size_t>(std::strtoul(agnameof(node) + 1, nullptr, 10));
    const auto& box = figure.boxes[index];
    const Point middle = at(ND_coord(node));
    layout.boxes[index] = {middle.x - std::ceil(box.width) / 2, middle.y - box_height(box) / 2};
    for (auto* edge = agfstout(graph, node); edge != nullptr; edge = agnxtout(graph, edge)) {
      Layout::Route route;
      ++arrow_count;
      if (const auto* splines = ED_spl(edge); splines != nullptr && splines->size > 0) {
        const auto& bezier = splines->list[0];
        for (int i = 0; i < bezier.size; ++i) route.spline.push_back(at(bezier.list[i]));
        route.tip = bezier.eflag != 0 ? at(bezier.ep) : route.spline.back();
      }
      if (const auto* label = ED_label(edge); label != nullptr) route.label = at(label->pos);
      routes.emplace_back(static_cast<unsigned long>(AGSEQ(edge)), std::move(route));
    }
  }
  // Edges are numbered as they were read.
  std::sort(routes.begin(), routes.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  const bool all = arrow_count == figure.arrows.size();
  for (std::size_t i = 0; all && i < routes.size(); ++i)
    layout.arrows[i] = std::move(routes[i].second);
  gvFreeLayout(context, graph);
  agclose(graph);
  if (!all) return failed("Graphviz lost an edge");
  return layout;
}

}  // namespace cupel::report
