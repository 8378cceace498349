// Figure: a violation as boxes and arrows, before it is drawn.
//
// A box is a transaction with its operations as lines; an arrow is a dependency
// from the operation it comes from to the one it goes to. dot.hpp writes it for
// Graphviz, svg.hpp draws it, page.hpp shows it with its evidence: the three
// agree because all read this. Sizes are in points, of a font of which every
// character is 0.6 em wide, so that nothing depends on the fonts of a machine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/history/history.hpp"
#include "engine/analysis/violations.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/levels/derivation.hpp"
#include "engine/levels/level.hpp"

namespace cupel::report {

struct Figure {
  static constexpr std::size_t kHead = static_cast<std::size_t>(-1);  // of a box: no line of it

  struct Line {
    history::OpId op;     // none(): stands for operations left out
    std::string text;     // "read x = 3"
    bool marked = false;  // an arrow begins or ends here, or the anomaly is this operation
  };
  struct Box {
    history::TxnId txn;  // of the whole history, where the figure is of a part of one
    std::string name;    // "T5"
    std::string place;   // "session 2, its 3rd", with the outcome unless it committed
    bool committed = true;
    std::vector<Line> lines;
    double width = 0;
  };
  struct Arrow {
    std::string number;              // "1", "1.2": as the steps of the text are numbered
    std::size_t from, to;            // boxes
    std::size_t from_line, to_line;  // of those, or kHead
    levels::EdgeKind kind;           // never kOwn
    bool certain;                    // recorded in the history; else inferred
    bool in_cycle;
    std::string about;                    // the key, "x"; empty for so and rt
    std::string sentence;                 // "T7 read x = 3, which T4 wrote"
    std::vector<std::uint32_t> evidence;  // arrows that it is inferred from
    // Not so: it would hold if an arrow of the cycle was the other way round. The name of an
    // anomaly counts such arrows, because the order of the versions is inferred
    // (engine/explain/why/cycle.hpp).
    bool otherwise = false;
  };

  std::string title;  // "lost-update at snapshot-isolation: T3, T8"
  std::vector<Box> boxes;
  std::vector<Arrow> arrows;  // those of the cycle first
  std::size_t left_out = 0;   // arrows, of a violation too large to draw
};

struct FigureOptions {
  std::size_t internal = 0;  // which of `violation.internal`, if it is one of these
  // Where `history` is a part of another: which transaction it was there, by transaction.
  std::span<const history::TxnId> originals = {};
  // More about transactions; a box shows the node that one ran on.
  const explain::FieldsByLabel* fields = nullptr;
};

// The figure of a violation found at `level`, which `anomaly` explains. An anomaly inside one
// transaction or one read shows the operations at fault. At most kMostArrows arrows, the cycle
// before its evidence; the middle of a longer cycle is left out.
Figure figure_of(const history::History& history, levels::Level level,
                 const levels::Violation& violation, const explain::Anomaly& anomaly,
                 const FigureOptions& options = {});

// The same of a violation as analysis::violations_of() reports it.
Figure figure_of(const analysis::ReportedViolation& reported, const explain::FieldsByLabel& fields);

inline constexpr std::size_t kMostArrows = 90;

// Of the drawing, in points.
inline constexpr double kCharacter = 6.6;  // of a column (text::columns) at 11 points
inline constexpr double kHeadHeight = 38, kLineHeight = 19, kLabelHeight = 15;
double label_width(const Figure& figure, std::size_t arrow);
// Is it drawn from top to bottom? From left to right is how one reads, as long as boxes and
// labels in a row take no more than a page is wide (1000 pixels).
bool runs_down(const Figure& figure);
// "rw", with which an arrow's label begins after its number.
std::string_view kind_name(levels::EdgeKind kind);
// "#0072b2": of Okabe and Ito's palette, which colour-blind readers can distinguish.
std::string_view colour_of(levels::EdgeKind kind);

}  // namespace cupel::report
