// Boxes in layers, as Sugiyama, Tagawa and Toda (1981) draw graphs, in four steps: arrows that
// close a cycle count as turned around; a box gets the layer behind all that point to it; the
// order in a layer follows the mean place of the neighbours, kept while crossings become fewer;
// places follow the neighbours' too, with what the boxes need between them. Between two layers of
// boxes is one of labels, so every arrow has room for its own.
//
// Our deviation: an arrow runs from a row of its box. In a figure that is read from left to right
// it leaves at the side that faces the other box. In one that runs down, arrows go down along the
// right sides and up along the left ones, so that a cycle looks like one.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "report/layout.hpp"

namespace cupel::report {

using text::Point;

namespace {

constexpr double kTip = 9;                // of an arrow's head
constexpr double kLine = 10;              // room for an arrow that passes a layer
constexpr double kAside = 16;             // how far an arrow that runs down keeps from its box
constexpr int kSweeps = 12;               // over all layers
constexpr double kBoxGap = 22, kGap = 9;  // between neighbours in a layer

// A box, or what an arrow needs in a layer that it passes. "Along" is the way from layer to
// layer, "across" the way within one; place is the middle, across.
struct Node {
  std::size_t layer = 0;
  double along = 0, across = 0;
  double place = 0;
  bool is_box = false;
  std::size_t arrow = 0;  // not of a box
};

// An arrow, from its lower layer to its higher one: from a box over nodes of its own to a box.
struct Chain {
  std::vector<std::size_t> nodes;
  bool turned = false;  // the arrow points from the higher layer to the lower
  std::size_t label = 0;
};

// Nearest to `wanted`, by the sum of squares, so that each is at least `apart` after the one
// before: adjacent violators are pooled.
std::vector<double> spread(const std::vector<double>& wanted, const std::vector<double>& apart) {
  struct Pool {
    double sum = 0, count = 0;
    [[nodiscard]] double mean() const { return sum / count; }
  };
  std::vector<Pool> pools;
  double offset = 0;
  std::vector<double> offsets;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i > 0) offset += apart[i - 1];
    offsets.push_back(offset);
    pools.push_back({wanted[i] - offset, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() >= pools.back().mean()) {
      pools[pools.size() - 2].sum += pools.back().sum;
      pools[pools.size() - 2].count += pools.back().count;
      pools.pop_back();
    }
  }
  std::vector<double> places;
  for (const auto& pool : pools) {
    for (int i = 0; i < static_cast<int>(pool.count); ++i) {
      places.push_back(pool.mean() + offsets[places.size()]);
    }
  }
  return places;
}

class Layers {
 public:
  explicit Layers(const Figure& figure) : figure_(figure), down_(runs_down(figure)) {}

  Layout draw() {
    turn_cycles();
    assign_layers();
    add_nodes();
    order_layers();
    for (int i = 0; i < kSweeps; ++i) place_nodes(i);
    place_layers();
    return finish();
  }

 private:
  // Depth first, the cycle's arrows before the others: an arrow back to a box that is not finished
  // closes a cycle.
  void turn_cycles() {
    const auto count = figure_.boxes.size();
    chains_.resize(figure_.arrows.size());
    std::vector<std::uint8_t> state(count, 0);               // 1: open, 2: finished
    std::vector<std::pair<std::size_t, std::size_t>> stack;  // a box, and its next arrow
    for (std::size_t root = 0; root < count; ++root) {
      if (state[root] != 0) continue;
      state[root] = 1;
      stack.emplace_back(root, 0);
      while (!stack.empty()) {
        const auto box = stack.back().first;
        const auto next = stack.back().second++;
        if (next == figure_.arrows.size()) {
          state[box] = 2;
          stack.pop_back();
          continue;
        }
        const auto& arrow = figure_.arrows[next];
        if (arrow.from != box || arrow.to == box) continue;
        if (state[arrow.to] == 1) chains_[next].turned = true;
        if (state[arrow.to] != 0) continue;
        state[arrow.to] = 1;
        stack.emplace_back(arrow.to, 0);
      }
    }
  }

  [[nodiscard]] std::size_t lower(std::size_t arrow) const {
    return chains_[arrow].turned ? figure_.arrows[arrow].to : figure_.arrows[arrow].from;
  }
  [[nodiscard]] std::size_t higher(std::size_t arrow) const {
    return chains_[arrow].turned ? figure_.arrows[arrow].from : figure_.arrows[arrow].to;
  }

  // Layers of boxes are even. The longest way decides; a box that nothing points to is then moved
  // next to what it points to.
  void assign_layers() {
    nodes_.resize(figure_.boxes.size());
    bool moved = true;
    for (std::size_t round = 0; moved && round < nodes_.size(); ++round) {
      moved = false;
      for (std::size_t i = 0; i < chains_.size(); ++i) {
        auto& layer = nodes_[higher(i)].layer;
        const auto least = nodes_[lower(i)].layer + 2;
        if (lower(i) == higher(i) || layer >= least) continue;
        layer = least;
        moved = true;
      }
    }
    for (std::size_t box = 0; box < nodes_.size(); ++box) {
      std::size_t nearest = std::numeric_limits<std::size_t>::max();
      bool pointed_to = false;
      for (std::size_t i = 0; i < chains_.size(); ++i) {
        if (lower(i) == higher(i)) continue;
        pointed_to |= higher(i) == box;
        if (lower(i) == box) nearest = std::min(nearest, nodes_[higher(i)].layer);
      }
      if (!pointed_to && nearest != std::numeric_limits<std::size_t>::max()) {
        nodes_[box].layer = nearest - 2;
      }
    }
  }

  void add_nodes() {
    std::size_t layers = 1;
    for (std::size_t box = 0; box < figure_.boxes.size(); ++box) {
      const double width = std::ceil(figure_.boxes[box].width);
      const double height = box_height(figure_.boxes[box]);
      nodes_[box].is_box = true;
      nodes_[box].along = down_ ? height : width;
      nodes_[box].across = down_ ? width : height;
      layers = std::max(layers, nodes_[box].layer + 1);
    }
    layers_.resize(layers);
    for (std::size_t box = 0; box < figure_.boxes.size(); ++box) {
      layers_[nodes_[box].layer].push_back(box);
    }
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      if (lower(i) == higher(i)) continue;
      auto& chain = chains_[i].nodes;
      chain.push_back(lower(i));
      const auto from = nodes_[lower(i)].layer, to = nodes_[higher(i)].layer;
      const auto middle = from + 1 + (to - from - 2) / 4 * 2;  // of labels: odd
      for (auto layer = from + 1; layer < to; ++layer) {
        Node node{.layer = layer, .across = kLine, .arrow = i};
        if (layer == middle) {
          chains_[i].label = nodes_.size();
          node.along = down_ ? kLabelHeight : label_width(figure_, i);
          node.across = down_ ? label_width(figure_, i) + kLine : kLabelHeight + kLine;
        }
        layers_[layer].push_back(nodes_.size());
        chain.push_back(nodes_.size());
        nodes_.push_back(node);
      }
      chain.push_back(higher(i));
    }
  }

  // Where, off the middle, an arrow meets a node.
  [[nodiscard]] double offset(std::size_t arrow, std::size_t node, bool at_lower_end) const {
    const auto& n = nodes_[node];
    const bool turned = chains_[arrow].turned;
    if (!n.is_box) {
      if (chains_[arrow].label != node) return 0;
      if (down_) return (n.across / 2 - kLine / 2) * (turned ? 1 : -1);
      return n.across / 2 - kLine / 2;
    }
    if (down_) return (n.across / 2 + kAside) * (turned ? -1 : 1);
    const auto& a = figure_.arrows[arrow];
    return row(at_lower_end != turned ? a.from_line : a.to_line) - n.across / 2;
  }
  // The middle of a row of a box, from its top.
  static double row(std::size_t line) {
    return line == Figure::kHead ? kHeadHeight / 2
                                 : kHeadHeight + kLineHeight * (static_cast<double>(line) + 0.5);
  }

  struct End {
    std::size_t other;
    double shift;  // the other's place plus this is where the node's own would make a straight line
    double weight;
  };
  // What a node is joined to in the layer before or after.
  [[nodiscard]] std::vector<End> ends(std::size_t node, bool before) const {
    std::vector<End> found;
    const auto add = [&](std::size_t arrow, std::size_t at) {
      const auto& chain = chains_[arrow].nodes;
      if (before ? at == 0 : at + 1 == chain.size()) return;
      const auto other = chain[before ? at - 1 : at + 1];
      const auto own_end = at == 0, other_end = (before ? at - 1 : at + 1) == 0;
      found.push_back({other, offset(arrow, other, other_end) - offset(arrow, node, own_end),
                       figure_.arrows[arrow].in_cycle ? 4.0 : 1.0});
    };
    if (nodes_[node].is_box) {
      for (std::size_t i = 0; i < chains_.size(); ++i) {
        if (chains_[i].nodes.empty()) continue;
        if (chains_[i].nodes.front() == node) add(i, 0);
        if (chains_[i].nodes.back() == node) add(i, chains_[i].nodes.size() - 1);
      }
    } else {
      const auto& chain = chains_[nodes_[node].arrow].nodes;
      add(nodes_[node].arrow,
          static_cast<std::size_t>(std::find(chain.begin(), chain.end(), node) - chain.begin()));
    }
    return found;
  }

  // The sum over all neighbouring layers.
  [[nodiscard]] std::size_t crossings() const {
    std::size_t count = 0;
    for (std::size_t layer = 0; layer + 1 < layers_.size(); ++layer) {
      std::vector<std::pair<double, double>> lines;
      for (const auto node : layers_[layer]) {
        for (const auto& end : ends(node, false)) {
          lines.emplace_back(nodes_[node].place, nodes_[end.other].place + 1e-3 * end.shift);
        }
      }
      for (std::size_t i = 0; i < lines.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          count += (lines[i].first - lines[j].first) * (lines[i].second - lines[j].second) < 0;
        }
      }
    }
    return count;
  }

  void number_layers() {
    for (const auto& layer : layers_) {
      for (std::size_t i = 0; i < layer.size(); ++i)
        nodes_[layer[i]].place = static_cast<double>(i);
    }
  }
  void order_layer(std::vector<std::size_t>& layer, bool before) {
    std::vector<std::pair<double, std::size_t>> wanted;
    for (const auto node : layer) {
      double sum = 0, weight = 0;
      for (const auto& end : ends(node, before)) {
        sum += nodes_[end.other].place + end.shift / 1000;  // rows decide between equals
        weight += 1;
      }
      wanted.emplace_back(weight == 0 ? nodes_[node].place : sum / weight, node);
    }
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < layer.size(); ++i) {
      layer[i] = wanted[i].second;
      nodes_[layer[i]].place = static_cast<double>(i);
    }
  }
  void order_layers() {
    number_layers();
    auto best = layers_;
    auto fewest = crossings();
    for (int sweep = 0; sweep < kSweeps && fewest > 0; ++sweep) {
      const bool forward = sweep % 2 == 0;
      for (std::size_t i = 0; i < layers_.size(); ++i) {
        order_layer(layers_[forward ? i : layers_.size() - 1 - i], forward);
      }
      const auto count = crossings();
      if (count >= fewest) continue;
      fewest = count;
      best = layers_;
    }
    layers_ = std::move(best);
  }

  [[nodiscard]] double apart(std::size_t a, std::size_t b) const {
    const auto& x = nodes_[a];
    const auto& y = nodes_[b];
    const double gap = x.is_box && y.is_box ? kBoxGap : kGap;
    // Arrows that run down need their place beside a box.
    const double aside = down_ && x.is_box != y.is_box ? kAside / 2 : 0;
    return x.across / 2 + y.across / 2 + gap + aside;
  }
  void place_nodes(int sweep) {
    const bool forward = sweep % 2 == 0;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const auto& layer = layers_[forward ? i : layers_.size() - 1 - i];
      std::vector<double> wanted, between;
      for (std::size_t k = 0; k < layer.size(); ++k) {
        double sum = 0, weight = 0;
        // First towards what is placed already, at the end towards both sides.
        for (const bool before : {true, false}) {
          if (sweep + 4 < kSweeps && before != forward) continue;
          for (const auto& end : ends(layer[k], before)) {
            sum += end.weight * (nodes_[end.other].place + end.shift);
            weight += end.weight;
          }
        }
        if (sweep == 0 && i == 0) weight = 0;
        wanted.push_back(weight == 0 ? (sweep == 0 ? 0 : nodes_[layer[k]].place) : sum / weight);
        if (k > 0) between.push_back(apart(layer[k - 1], layer[k]));
      }
      const auto places = spread(wanted, between);
      for (std::size_t k = 0; k < layer.size(); ++k) nodes_[layer[k]].place = places[k];
    }
  }

  // Where each layer begins and ends, along.
  void place_layers() {
    double at = 0;
    for (const auto& layer : layers_) {
      double size = 0;
      for (const auto node : layer) size = std::max(size, nodes_[node].along);
      if (!begin_.empty()) at += down_ ? 13 : 24;
      begin_.push_back(at);
      size_.push_back(size);
      at += size;
    }
  }

  // Along and across to x and y.
  [[nodiscard]] Point at(double along, double across) const {
    return down_ ? Point{across, along} : Point{along, across};
  }
  [[nodiscard]] double box_begin(std::size_t box) const {
    const auto layer = nodes_[box].layer;
    return begin_[layer] + (size_[layer] - nodes_[box].along) / 2;
  }
  [[nodiscard]] Point corner(std::size_t box) const {
    return at(box_begin(box), nodes_[box].place - nodes_[box].across / 2);
  }

  // Where the arrow touches the box, and the way out of it.
  [[nodiscard]] std::pair<Point, Point> port(std::size_t arrow, bool lower_end) const {
    const auto box = lower_end ? lower(arrow) : higher(arrow);
    const auto& a = figure_.arrows[arrow];
    const bool turned = chains_[arrow].turned;
    const auto line = lower_end != turned ? a.from_line : a.to_line;
    const Point top_left = corner(box);
    const double width = std::ceil(figure_.boxes[box].width);
    const bool right = down_ ? !turned : lower_end;
    return {{top_left.x + (right ? width : 0), top_left.y + row(line)}, {right ? 1.0 : -1.0, 0}};
  }

  Layout::Route route(std::size_t arrow) const {
    const auto& chain = chains_[arrow];
    // Points, and at each the direction of the line from the lower to the higher layer.
    std::vector<std::pair<Point, Point>> stops;
    const bool tip_at_lower = chain.turned;
    auto first = port(arrow, true), last = port(arrow, false);
    const auto tip = tip_at_lower ? first.first : last.first;
    auto& pointed = tip_at_lower ? first : last;
    pointed.first.x += pointed.second.x * kTip;
    stops.push_back(first);
    const Point onward = at(1, 0);
    for (std::size_t i = 1; i + 1 < chain.nodes.size(); ++i) {
      const auto node = chain.nodes[i];
      const auto layer = nodes_[node].layer;
      const double across = nodes_[node].place + offset(arrow, node, false);
      stops.push_back({at(begin_[layer], across), onward});
      if (size_[layer] > 0) stops.push_back({at(begin_[layer] + size_[layer], across), onward});
    }
    stops.push_back({last.first, {-last.second.x, 0}});
    Layout::Route route;
    route.spline.push_back(stops.front().first);
    for (std::size_t i = 1; i < stops.size(); ++i) join(route.spline, stops[i - 1], stops[i]);
    if (chain.turned) std::reverse(route.spline.begin(), route.spline.end());
    route.tip = tip;
    const auto& label = nodes_[chain.label];
    const double middle = begin_[label.layer] + size_[label.layer] / 2;
    const double away = down_ ? kLine / 2 * (chain.turned ? -1 : 1) : 1.5 - kLine / 2;
    route.label = at(middle, label.place + away);
    return route;
  }
  static void join(std::vector<Point>& spline, const std::pair<Point, Point>& from,
                   const std::pair<Point, Point>& to) {
    const double dx = to.first.x - from.first.x, dy = to.first.y - from.first.y;
    const auto reach = [&](Point way) {
      const double along = std::abs(way.x) * std::abs(dx) + std::abs(way.y) * std::abs(dy);
      return std::max(along * 0.5, std::min(12.0, std::hypot(dx, dy) / 2));
    };
    const double a = reach(from.second), b = reach(to.second);
    spline.push_back({from.first.x + from.second.x * a, from.first.y + from.second.y * a});
    spline.push_back({to.first.x - to.second.x * b, to.first.y - to.second.y * b});
    spline.push_back(to.first);
  }

  // Everything moved to where x and y begin at 0.
  Layout finish() {
    Layout layout;
    for (std::size_t box = 0; box < figure_.boxes.size(); ++box)
      layout.boxes.push_back(corner(box));
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      layout.arrows.push_back(chains_[i].nodes.empty() ? Layout::Route{} : route(i));
    }
    Point low{0, 0}, high{0, 0};
    bool first = true;
    const auto see = [&](Point p) {
      low = first ? p : Point{std::min(low.x, p.x), std::min(low.y, p.y)};
      high = first ? p : Point{std::max(high.x, p.x), std::max(high.y, p.y)};
      first = false;
    };
    for (std::size_t box = 0; box < layout.boxes.size(); ++box) {
      const Point p = layout.boxes[box];
      see(p);
      see({p.x + std::ceil(figure_.boxes[box].width), p.y + box_height(figure_.boxes[box])});
    }
    for (std::size_t i = 0; i < layout.arrows.size(); ++i) {
      const auto& route = layout.arrows[i];
      if (route.spline.empty()) continue;
      for (const Point p : route.spline) see(p);
      const double half = label_width(figure_, i) / 2;
      see({route.label.x - half, route.label.y - kLabelHeight / 2});
      see({route.label.x + half, route.label.y + kLabelHeight / 2});
    }
    const auto move = [&](Point& p) { p = {p.x - low.x, p.y - low.y}; };
    for (auto& box : layout.boxes) move(box);
    for (auto& route : layout.arrows) {
      for (auto& p : route.spline) move(p);
      move(route.tip);
      move(route.label);
    }
    layout.width = high.x - low.x;
    layout.height = high.y - low.y;
    return layout;
  }

  const Figure& figure_;
  bool down_;
  std::vector<Node> nodes_;    // the boxes come first, in their order
  std::vector<Chain> chains_;  // by arrow
  std::vector<std::vector<std::size_t>> layers_;
  std::vector<double> begin_, size_;  // by layer
};

}  // namespace

Layout layered_layout(const Figure& figure) {
  return Layers(figure).draw();
}

}  // namespace cupel::report
