// Pictures of violations: which boxes and arrows, and the bytes of DOT and SVG.
//
// The golden files are what `golden/NAME.dot` and `.svg` hold; after a change that
// is meant, CUPEL_WRITE_GOLDEN=1 writes them anew: look at them before committing.
#include "report/figure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <ostream>
#include <sstream>

#include "data/history/builder.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/explain/why/interpretation.hpp"
#include "report/dot.hpp"
#include "report/layout.hpp"
#include "report/svg.hpp"
#include "source_dir.hpp"
#include "support/history_language.hpp"

namespace cupel::report {
namespace {

using history::History;
using levels::EdgeKind;
using levels::Level;

struct Case {
  const char* name;
  Level level;
  const char* history;
  friend void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }
};

// The text says what is drawn; the names are those of explain().
constexpr Case kCases[] = {
    {"lost-update", Level::kSnapshotIsolation, "init=0 s1: r(x,0) w(x,1) | s2: r(x,0) w(x,2)"},
    {"write-skew", Level::kSerializable,
     "init=0 s1: r(x,0) r(y,0) w(x,1) | s2: r(x,0) r(y,0) w(y,1)"},
    {"long-fork", Level::kSnapshotIsolation,
     "init=0 s1: w(x,1) | s2: w(y,1) | s3: r(x,1) r(y,0) | s4: r(x,0) r(y,1)"},
    {"causality-violation", Level::kCausal,
     "init=0 s1: w(x,1) ; w(y,1) | s2: r(y,1) w(z,1) | s3: r(z,1) r(x,0)"},
    {"lists", Level::kSerializable,
     "s1: a(x,1) | s2: a(x,2) | s3: l(x,[1]) a(y,1) | s4: l(x,[1 2]) l(y,[])"},
    {"aborted-read", Level::kReadCommitted, "init=0 s1: ! w(x,1) | s2: r(x,1)"},
    // What PolySI's authors found in Galera: the picture in docs/reference/report.md.
    {"galera", Level::kSnapshotIsolation,
     "s1: w(0,1) w(0,2) ; w(0,3) w(0,4) ; r(0,4) w(0,5) ; r(0,5) r(0,5) | s2: r(0,4) w(0,10) ; "
     "w(0,11) w(0,12) ; w(0,13) w(0,14)"},
    {"real-time", Level::kStrictSerializable, "init=0 s1: w(x,1) @0-10 | s2: r(x,0) @20-30"},
    // The cycle has no rw edge, and the name G-single-realtime speaks of one.
    {"stale-read", Level::kStrictSerializable,
     "s1: w(x,1) @0-10 ; w(x,2) @20-30 | s2: r(x,1) @40-50"},
};

struct Drawn {
  History history;
  Figure figure;
  std::string adya;
};

Drawn draw(const Case& one) {
  Drawn drawn{test::history_of(one.history), {}, {}};
  check::Options options;
  options.asked = {one.level};
  const auto result = check::check(drawn.history, options);
  EXPECT_EQ(result.levels.at(0).verdict, check::Verdict::kViolated) << one.name;
  if (!result.levels.at(0).violation) return drawn;
  auto violation = *result.levels[0].violation;
  const auto level = result.levels[0].explained_at.value_or(one.level);
  // As the shrinker reports it.
  base::Budget budget;
  if (auto retold = explain::shorten(drawn.history, level, violation, budget)) {
    violation.derivation = std::move(retold->derivation);
  }
  const auto anomalies = explain::explain(drawn.history, level, violation);
  drawn.figure = figure_of(drawn.history, level, violation, anomalies.at(0));
  drawn.adya = anomalies[0].adya;
  return drawn;
}

explain::Anomaly named(const char* name) {
  explain::Anomaly anomaly;
  anomaly.name = name;
  return anomaly;
}

std::string golden(const std::string& name, const std::string& now) {
  const auto path = std::string(CUPEL_SOURCE_DIR) + "/tests/report/golden/" + name;
  if (std::getenv("CUPEL_WRITE_GOLDEN") != nullptr) std::ofstream(path) << now;
  std::ifstream in(path);
  EXPECT_TRUE(in) << path << " is not there; CUPEL_WRITE_GOLDEN=1 writes it";
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class Pictures : public testing::TestWithParam<Case> {};

TEST_P(Pictures, AreAsTheyWere) {
  const auto drawn = draw(GetParam());
  const std::string name = GetParam().name;
  const auto text = dot(drawn.figure);
  EXPECT_EQ(text, golden(name + ".dot", text));
  const auto picture = svg(drawn.figure);
  EXPECT_EQ(picture, golden(name + ".svg", picture));
  EXPECT_EQ(picture, svg(drawn.figure));
}

TEST_P(Pictures, ArrowsJoinTheOperationsTheyAreAbout) {
  const auto drawn = draw(GetParam());
  const auto& figure = drawn.figure;
  ASSERT_FALSE(figure.boxes.empty());
  for (const auto& arrow : figure.arrows) {
    ASSERT_LT(arrow.from, figure.boxes.size());
    ASSERT_LT(arrow.to, figure.boxes.size());
    EXPECT_FALSE(arrow.sentence.empty());
    EXPECT_EQ(arrow.certain || arrow.otherwise, arrow.evidence.empty()) << arrow.sentence;
    for (const auto index : arrow.evidence) EXPECT_LT(index, figure.arrows.size());
    const bool about_key = arrow.kind != EdgeKind::kSession && arrow.kind != EdgeKind::kRealTime;
    if (!about_key) continue;
    ASSERT_LT(arrow.from_line, figure.boxes[arrow.from].lines.size()) << arrow.sentence;
    ASSERT_LT(arrow.to_line, figure.boxes[arrow.to].lines.size()) << arrow.sentence;
    const auto key_of = [&](std::size_t box, std::size_t line) {
      return drawn.history.op(figure.boxes[box].lines[line].op).key;
    };
    EXPECT_EQ(key_of(arrow.from, arrow.from_line), key_of(arrow.to, arrow.to_line));
  }
}

TEST_P(Pictures, ShowTheEdgesThatTheNameSpeaksOf) {
  const auto drawn = draw(GetParam());
  const auto rw = static_cast<std::size_t>(
      std::count_if(drawn.figure.arrows.begin(), drawn.figure.arrows.end(),
                    [](const auto& arrow) { return arrow.kind == EdgeKind::kReadWrite; }));
  const std::string_view name = drawn.adya;
  const std::size_t spoken = name.starts_with("G-single")                                  ? 1
                             : name.starts_with("G2") || name.starts_with("G-nonadjacent") ? 2
                                                                                           : 0;
  EXPECT_GE(rw, spoken) << name;
  for (const auto& arrow : drawn.figure.arrows) {
    if (!arrow.otherwise) continue;
    EXPECT_FALSE(arrow.in_cycle);
    const auto index = static_cast<std::uint32_t>(&arrow - drawn.figure.arrows.data());
    EXPECT_TRUE(
        std::any_of(drawn.figure.arrows.begin(), drawn.figure.arrows.end(), [&](const auto& step) {
          return step.in_cycle && std::find(step.evidence.begin(), step.evidence.end(), index) !=
                                      step.evidence.end();
        }));
  }
}

struct Area {
  double left, top, right, bottom;
  [[nodiscard]] bool meets(const Area& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

// What is wrong with a layout, or "". Boxes and labels keep apart and inside; each arrow runs,
// without a break, from its row of its box to its row of the other.
std::string fault_of(const Figure& figure, const Layout& layout) {
  std::vector<Area> areas;
  for (std::size_t i = 0; i < figure.boxes.size(); ++i) {
    const auto corner = layout.boxes.at(i);
    areas.push_back({corner.x, corner.y, corner.x + std::ceil(figure.boxes[i].width),
                     corner.y + box_height(figure.boxes[i])});
  }
  for (std::size_t i = 0; i < figure.arrows.size(); ++i) {
    if (layout.arrows.at(i).spline.empty()) return "an arrow is missing";
    const auto middle = layout.arrows[i].label;
    const double half = label_width(figure, i) / 2;
    areas.push_back({middle.x - half, middle.y - kLabelHeight / 2, middle.x + half,
                     middle.y + kLabelHeight / 2});
  }
  for (std::size_t i = 0; i < areas.size(); ++i) {
    if (areas[i].left < -0.01 || areas[i].top < -0.01 || areas[i].right > layout.width + 0.01 ||
        areas[i].bottom > layout.height + 0.01) {
      return "area " + std::to_string(i) + " is outside";
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (areas[i].meets(areas[j]))
        return "areas " + std::to_string(j) + " and " + std::to_string(i) + " overlap";
    }
  }
  const auto at_row = [&](text::Point p, std::size_t box, std::size_t line) {
    const auto& area = areas[box];
    const double row = line == Figure::kHead
                           ? kHeadHeight / 2
                           : kHeadHeight + kLineHeight * (static_cast<double>(line) + 0.5);
    return std::abs(p.y - area.top - row) < 0.01 &&
           std::min(std::abs(p.x - area.left), std::abs(p.x - area.right)) < 0.01;
  };
  for (std::size_t i = 0; i < figure.arrows.size(); ++i) {
    const auto& arrow = figure.arrows[i];
    const auto& route = layout.arrows[i];
    if (route.spline.size() % 3 != 1) return "a spline of " + std::to_string(route.spline.size());
    if (!at_row(route.spline.front(), arrow.from, arrow.from_line)) return "a wrong begin";
    if (!at_row(route.tip, arrow.to, arrow.to_line)) return "a wrong end";
    const auto end = route.spline.back();
    if (std::hypot(end.x - route.tip.x, end.y - route.tip.y) > 10) return "a far tip";
  }
  return {};
}

TEST_P(Pictures, AreLaidOutWithoutFaults) {
  const auto figure = draw(GetParam()).figure;
  EXPECT_EQ(fault_of(figure, layered_layout(figure)), "");
}

INSTANTIATE_TEST_SUITE_P(Anomalies, Pictures, testing::ValuesIn(kCases), [](const auto& info) {
  std::string name = info.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(Widths, SixTransactionsFitAPage) {
  const auto drawn =
      draw({"chain", Level::kCausal,
            "init=0 s1: w(balance,1) ; w(customera,1) | "
            "s2: r(customera,1) w(customerb,1) | s3: r(customerb,1) w(customerc,1) | "
            "s4: r(customerc,1) w(customerd,1) | s5: r(customerd,1) r(balance,0)"});
  ASSERT_EQ(drawn.figure.boxes.size(), 6U);
  EXPECT_TRUE(runs_down(drawn.figure));
  const auto picture = svg(drawn.figure);
  const auto at = picture.find(" width=\"");
  EXPECT_LE(std::stod(picture.substr(at + 8)), 1000) << picture.substr(0, 200);
  EXPECT_FALSE(runs_down(draw(kCases[0]).figure));
}

TEST(LayeredLayout, HoldsForAnyFigure) {
  std::uint64_t state = 7;
  const auto below = [&](std::size_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state >> 33) % n;
  };
  for (int round = 0; round < 400; ++round) {
    Figure figure;
    for (std::size_t i = 0, count = 1 + below(9); i < count; ++i) {
      Figure::Box box;
      box.lines.resize(below(5));
      box.width = 96 + static_cast<double>(below(round % 2 == 0 ? 40 : 400));
      figure.boxes.push_back(box);
    }
    for (std::size_t i = 0, count = below(14); i < count && figure.boxes.size() > 1; ++i) {
      Figure::Arrow arrow{};
      arrow.number = std::to_string(i + 1);
      arrow.from = below(figure.boxes.size());
      arrow.to = (arrow.from + 1 + below(figure.boxes.size() - 1)) % figure.boxes.size();
      const auto line = [&](std::size_t box) {
        const auto lines = figure.boxes[box].lines.size();
        return lines == 0 || below(4) == 0 ? Figure::kHead : below(lines);
      };
      arrow.from_line = line(arrow.from);
      arrow.to_line = line(arrow.to);
      arrow.kind = EdgeKind::kWriteRead;
      arrow.in_cycle = below(2) == 0;
      arrow.about = std::string(below(12), 'x');
      figure.arrows.push_back(arrow);
    }
    ASSERT_EQ(fault_of(figure, layered_layout(figure)), "") << "round " << round;
  }
}

TEST(LayeredLayout, ATransactionAloneHasNoArrows) {
  const auto figure =
      draw({"future-read", Level::kReadCommitted, "init=0 s1: r(x,1) w(x,1)"}).figure;
  ASSERT_EQ(figure.boxes.size(), 1U);
  const auto layout = layered_layout(figure);
  EXPECT_EQ(layout.width, std::ceil(figure.boxes[0].width));
  EXPECT_EQ(layout.height, box_height(figure.boxes[0]));
}

TEST(FigureOf, ACycleIsClosedByItsArrows) {
  const auto figure = draw(kCases[1]).figure;
  std::vector<std::size_t> from, to;
  for (const auto& arrow : figure.arrows) {
    if (!arrow.in_cycle) continue;
    from.push_back(arrow.from);
    to.push_back(arrow.to);
  }
  ASSERT_GE(from.size(), 2u);
  for (std::size_t i = 0; i < from.size(); ++i) EXPECT_EQ(to[i], from[(i + 1) % from.size()]);
}

TEST(FigureOf, LongTransactionsShowWhatMatters) {
  std::string text = "init=0 s1: r(x,0) w(x,1)";
  for (int i = 0; i < 30; ++i) text += " w(k" + std::to_string(i) + ",1)";
  const auto history = test::history_of(text + " | s2: r(x,0) w(x,2)");
  check::Options options;
  options.asked = {Level::kSnapshotIsolation};
  const auto result = check::check(history, options);
  ASSERT_TRUE(result.levels[0].violation);
  const auto figure = figure_of(history, Level::kSnapshotIsolation, *result.levels[0].violation,
                                named("lost-update"));
  const auto& lines = figure.boxes[0].txn.raw == 0 ? figure.boxes[0].lines : figure.boxes[1].lines;
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[2].text, "… 30 more");
}

// Words of a history are data: they end no label, no attribute and no tag.
TEST(Svg, EscapesTheWordsOfTheHistory) {
  history::HistoryBuilder builder;
  const std::string nasty = "a<b>&\"'\n]]></svg>\\";
  const auto key = builder.key(history::ScalarView::of(std::string_view(nasty)));
  for (int i = 0; i < 2; ++i) {
    builder.begin(builder.session(i == 0 ? "<s>&\"" : "t"), history::TxnStatus::kCommitted);
    builder.read(key, builder.null_value());
    builder.write(
        key, builder.value(history::ScalarView::of(std::string_view(nasty + std::to_string(i)))));
    builder.end();
  }
  const auto history = std::move(builder).finish().value();
  check::Options options;
  options.asked = {Level::kSnapshotIsolation};
  const auto result = check::check(history, options);
  ASSERT_TRUE(result.levels[0].violation);
  const auto figure =
      figure_of(history, Level::kSnapshotIsolation, *result.levels[0].violation, named("x"));
  const auto picture = svg(figure);
  EXPECT_EQ(picture.find("a<b"), std::string::npos);
  EXPECT_EQ(picture.find("</svg>"), picture.size() - 7);
  EXPECT_NE(picture.find("&lt;s&gt;&amp;&quot;"), std::string::npos);
}

// A cycle of a thousand transactions is drawn in part, and the picture says so.
TEST(FigureOf, ALongCycleIsDrawnInPart) {
  constexpr int kLong = 1000;
  std::string text = "init=0";
  for (int i = 0; i < kLong; ++i) {
    text += (i == 0 ? " s" : " | s") + std::to_string(i) + ": r(k" +
            std::to_string((i + 1) % kLong) + ",0) w(k" + std::to_string(i) + ",1)";
  }
  const auto history = test::history_of(text);
  levels::Violation violation;
  for (std::size_t i = 0; i < kLong; ++i) {
    levels::Edge edge;
    edge.from = edge.reader = history::TxnId(i);
    edge.to = history::TxnId((i + 1) % kLong);
    edge.kind = EdgeKind::kReadWrite;
    edge.reason = levels::Reason::kInitial;
    edge.from_op = history::OpId(history.first_op(edge.from));
    edge.to_op = history::OpId(history.first_op(edge.to) + 1);
    edge.key = history.op(edge.from_op).key;
    violation.derivation.edges.push_back(edge);
    violation.derivation.cycle.push_back(static_cast<std::uint32_t>(i));
  }
  const auto figure = figure_of(history, Level::kSerializable, violation, named("G2-item"));
  EXPECT_LE(figure.arrows.size(), kMostArrows);
  EXPECT_EQ(figure.left_out + figure.arrows.size(), static_cast<std::size_t>(kLong));
  const auto picture = svg(figure);
  EXPECT_NE(picture.find("910 more dependencies are left out"), std::string::npos);
}

}  // namespace
}  // namespace cupel::report
