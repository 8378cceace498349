// Structure first: the dependencies that the violation rests on, each once, then
// the transactions they touch, then which of their operations get a line.
#include "report/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text/svg.hpp"
#include "base/visible.hpp"
#include "data/history/naming.hpp"
#include "data/history/text_order.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/explain/why/interpretation.hpp"
#include "engine/explain/why/words.hpp"
#include "report/nodes.hpp"

namespace cupel::report {

using explain::Words;
using history::History;
using history::OpId;
using history::TxnId;
using levels::EdgeKind;
using text::columns;
using text::fitting;

namespace {

constexpr std::size_t kWholeTransaction = 6;  // transactions up to this length are shown whole
constexpr std::size_t kMostLines = 16;
constexpr std::size_t kLongestLine = 46, kLongestName = 24;

// Which dependencies are drawn, and in which order, with their numbers.
struct Chosen {
  std::vector<std::uint32_t> dependencies;
  std::map<std::uint32_t, std::string> number;  // of those
  std::size_t left_out = 0;
};

// The cycle, then what it rests on, nearest first.
Chosen choose(const explain::Interpretation& interpretation) {
  Chosen chosen;
  const auto& all = interpretation.dependencies;
  std::vector<std::uint32_t> cycle;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].in_cycle) cycle.push_back(i);
  }
  const bool whole = cycle.size() <= kMostArrows;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    // Of a longer one, the beginning and the end; numbered as if all were there.
    if (!whole && i >= kMostArrows / 2 && i + kMostArrows / 2 < cycle.size()) continue;
    chosen.number.emplace(cycle[i], std::to_string(i + 1));
    chosen.dependencies.push_back(cycle[i]);
  }
  for (std::size_t i = 0; i < chosen.dependencies.size(); ++i) {
    const auto number = chosen.number.at(chosen.dependencies[i]);
    std::size_t count = 0;
    for (const auto index : all[chosen.dependencies[i]].evidence) {
      if (chosen.number.contains(index) || chosen.dependencies.size() >= kMostArrows) continue;
      chosen.number.emplace(index, fmt::format("{}.{}", number, ++count));
      chosen.dependencies.push_back(index);
    }
  }
  chosen.left_out = all.size() - chosen.dependencies.size();
  return chosen;
}

class Draughtsman {
 public:
  Draughtsman(const History& history, std::vector<TxnId> involved,
              const explain::FieldsByLabel* fields)
      : history_(history), words_(history, involved), fields_(fields) {}

  std::size_t box(TxnId txn) {
    const auto [it, fresh] = box_of_.try_emplace(txn, figure_.boxes.size());
    if (fresh) {
      Figure::Box box;
      box.txn = txn;
      box.name = fitting(words_.name(txn), kLongestName);
      const auto session = history_.session(txn);
      box.place =
          fmt::format("session {} · {}", fitting(base::visible(history_.session_name(session)), 20),
                      history::ordinal(history_.place(txn)));
      box.committed = history_.status(txn) == history::TxnStatus::kCommitted;
      if (!box.committed)
        box.place += fmt::format(" · {}", history::to_string(history_.status(txn)));
      if (const auto node = node_text(txn); !node.empty()) box.place += " · " + node;
      figure_.boxes.push_back(std::move(box));
    }
    return it->second;
  }

  void mark(TxnId txn, OpId op) {
    box(txn);
    if (op.valid()) marked_.insert(op);
  }

  void arrow(const explain::Dependency& dependency, std::string number) {
    Figure::Arrow arrow;
    arrow.number = std::move(number);
    arrow.from = box(dependency.from);
    arrow.to = box(dependency.to);
    arrow.from_line = arrow.to_line = Figure::kHead;
    arrow.kind = dependency.kind;
    arrow.certain = dependency.certain;
    arrow.in_cycle = dependency.in_cycle;
    arrow.sentence = dependency.sentence;
    if (dependency.key.valid()) {
      arrow.about = fitting(words_.key(dependency.key), kLongestName);
      for (const OpId op : {dependency.from_op, dependency.to_op}) {
        if (op.valid()) marked_.insert(op);
      }
    }
    figure_.arrows.push_back(std::move(arrow));
    ends_.emplace_back(dependency.from_op, dependency.to_op);
  }

  Figure finish(std::string title, std::size_t left_out) && {
    for (auto& box : figure_.boxes) {
      add_operations(box);
      std::size_t widest = std::max(columns(box.place), columns(box.name) + 2);
      for (const auto& line : box.lines) widest = std::max(widest, columns(line.text));
      box.width = std::max(96.0, static_cast<double>(widest) * kCharacter + 22);
    }
    for (std::size_t i = 0; i < figure_.arrows.size(); ++i) {
      auto& arrow = figure_.arrows[i];
      arrow.from_line = line_of(figure_.boxes[arrow.from], ends_[i].first);
      arrow.to_line = line_of(figure_.boxes[arrow.to], ends_[i].second);
    }
    figure_.title = std::move(title);
    figure_.left_out = left_out;
    return std::move(figure_);
  }

 private:
  // The server it ran on, if the source says so: "n1", "node 0, primary".
  [[nodiscard]] std::string node_text(TxnId txn) const {
    if (fields_ == nullptr) return {};
    const auto node = node_in(*fields_, history_.label(txn));
    if (node.name.empty()) return {};
    const auto number = number_of_node(history_, node.name);
    return fitting(number.empty() ? base::visible(node.name) : "node " + number, kLongestName) +
           (node.role.empty() ? "" : ", ") + node.role;
  }

  void add_operations(Figure::Box& box) {
    const auto first = history_.first_op(box.txn), last = history_.last_op(box.txn);
    std::size_t skipped = 0, shown = 0;
    const auto say_skipped = [&] {
      if (skipped > 0)
        box.lines.push_back({OpId::none(), fmt::format("… {} more", skipped), false});
      skipped = 0;
    };
    for (auto i = first; i < last; ++i) {
      const bool marked = marked_.contains(OpId(i));
      if (shown >= kMostLines || (!marked && last - first > kWholeTransaction)) {
        ++skipped;
        continue;
      }
      say_skipped();
      ++shown;
      box.lines.push_back({OpId(i), fitting(text_of(OpId(i)), kLongestLine), marked});
    }
    say_skipped();
  }

  std::string text_of(OpId op) {
    switch (history_.kind(op)) {
      case history::OpKind::kRead:
      case history::OpKind::kListRead:
      case history::OpKind::kCompareAndSet:
        return words_.read_clause(op, history_.op(op).key);
      case history::OpKind::kRangeRead: {
        const auto range = history_.range(history_.op(op));
        std::string text =
            fmt::format("read {} to {}:", history::shown_bound(history_.value(range.low)),
                        history::shown_bound(history_.value(range.high)));
        for (const auto& entry : range.entries) {
          text += fmt::format(" {} = {}", words_.list_name(entry.key), words_.value(entry.value));
          if (columns(text) > kLongestLine) break;
        }
        return range.entries.empty() ? text + " nothing" : text;
      }
      default:
        return words_.write_clause(op);
    }
  }

  static std::size_t line_of(const Figure::Box& box, OpId op) {
    if (!op.valid()) return Figure::kHead;
    for (std::size_t i = 0; i < box.lines.size(); ++i) {
      if (box.lines[i].op == op) return i;
    }
    return Figure::kHead;
  }

  const History& history_;
  Words words_;
  const explain::FieldsByLabel* fields_;
  Figure figure_;
  std::map<TxnId, std::size_t> box_of_;
  std::set<OpId> marked_;
  std::vector<std::pair<OpId, OpId>> ends_;  // of the arrows
};

// How many rw edges the name of an anomaly speaks of.
std::size_t anti_dependencies_of(const explain::Anomaly& anomaly) {
  const std::string_view name = anomaly.adya;
  if (name.starts_with("G-single")) return 1;
  return name.starts_with("G-nonadjacent") || name.starts_with("G2") ? 2 : 0;
}

// If the picture has fewer rw edges than the name speaks of: those that would hold if an edge of
// the cycle was the other way round. By dependency, the number of the arrow.
std::map<std::uint32_t, std::uint32_t> draw_otherwise(const explain::Interpretation& interpretation,
                                                      const Chosen& chosen,
                                                      const explain::Anomaly& anomaly,
                                                      Draughtsman& draughtsman) {
  std::map<std::uint32_t, std::uint32_t> drawn;
  const auto& all = interpretation.dependencies;
  const auto shown =
      std::count_if(chosen.dependencies.begin(), chosen.dependencies.end(),
                    [&](auto index) { return all[index].kind == EdgeKind::kReadWrite; });
  if (static_cast<std::size_t>(shown) >= anti_dependencies_of(anomaly)) return drawn;
  auto next = static_cast<std::uint32_t>(chosen.dependencies.size());
  for (const auto index : chosen.dependencies) {
    const auto& forced = all[index];
    if (!forced.in_cycle || !forced.reader.valid() || next >= kMostArrows) continue;
    explain::Dependency missed;
    missed.from = forced.reader, missed.from_op = forced.witness;
    missed.to = forced.from, missed.to_op = forced.from_op;
    missed.kind = EdgeKind::kReadWrite;
    missed.key = forced.key;
    missed.sentence = forced.otherwise;
    draughtsman.arrow(missed, chosen.number.at(index) + "′");
    drawn.emplace(index, next++);
  }
  return drawn;
}

Figure internal_figure(const History& history, const levels::InternalAnomaly& anomaly,
                       const std::string& summary, std::string title,
                       const explain::FieldsByLabel* fields) {
  Draughtsman draughtsman(history, {anomaly.txn, anomaly.other_txn}, fields);
  const bool other = anomaly.other_txn.valid() && anomaly.other_txn != anomaly.txn;
  if (other) draughtsman.mark(anomaly.other_txn, anomaly.other);
  draughtsman.mark(anomaly.txn, anomaly.read);
  if (!other) draughtsman.mark(anomaly.txn, anomaly.other);
  using levels::InternalKind;
  const bool from_other =
      anomaly.kind == InternalKind::kAbortedRead || anomaly.kind == InternalKind::kIntermediateRead;
  if (other && from_other) {
    explain::Dependency read;
    read.from = anomaly.other_txn, read.from_op = anomaly.other;
    read.to = anomaly.txn, read.to_op = anomaly.read;
    read.kind = EdgeKind::kWriteRead;
    read.key = anomaly.key;
    read.certain = read.in_cycle = true;
    read.sentence = summary;
    if (read.sentence.ends_with('.')) read.sentence.pop_back();
    draughtsman.arrow(read, "1");
  }
  return std::move(draughtsman).finish(std::move(title), 0);
}

}  // namespace

std::string_view kind_name(EdgeKind kind) {
  return explain::to_string(kind);
}

std::string_view colour_of(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kWriteRead:
      return "#009e73";
    case EdgeKind::kWriteWrite:
      return "#d55e00";
    case EdgeKind::kReadWrite:
      return "#0072b2";
    case EdgeKind::kRealTime:
      return "#a8508a";  // the palette's purple, darkened to be legible
    default:
      return "#5f6770";
  }
}

double label_width(const Figure& figure, std::size_t index) {
  const auto& arrow = figure.arrows[index];
  const auto about = arrow.about.empty() ? 0 : columns(arrow.about) + 1;
  return static_cast<double>(columns(arrow.number) + 3 + about) * kCharacter + 8;
}

bool runs_down(const Figure& figure) {
  constexpr double kPage = 1000 / 1.2, kGap = 47;  // in points; between ranks
  double boxes = 0, label = 0;
  for (const auto& box : figure.boxes) boxes += box.width;
  for (std::size_t i = 0; i < figure.arrows.size(); ++i) {
    label = std::max(label, label_width(figure, i));
  }
  const auto gaps = static_cast<double>(figure.boxes.size()) - 1;
  return boxes + gaps * (label + kGap) > kPage;
}

Figure figure_of(const History& history, levels::Level level, const levels::Violation& violation,
                 const explain::Anomaly& anomaly, const FigureOptions& options) {
  auto title = fmt::format("{} at {}", heading_of(anomaly), levels::name(level));
  const auto in_the_whole = [&](Figure figure) {
    for (auto& box : figure.boxes) {
      if (box.txn.index() < options.originals.size()) box.txn = options.originals[box.txn.index()];
    }
    return figure;
  };
  if (!violation.internal.empty()) {
    const auto which = std::min(options.internal, violation.internal.size() - 1);
    return in_the_whole(internal_figure(history, violation.internal[which], anomaly.summary,
                                        std::move(title), options.fields));
  }
  const auto interpretation = explain::interpret(history, violation);
  const auto chosen = choose(interpretation);
  Draughtsman draughtsman(history, interpretation.transactions, options.fields);
  std::map<std::uint32_t, std::uint32_t> arrow_of;
  for (const auto index : chosen.dependencies) {
    arrow_of.emplace(index, static_cast<std::uint32_t>(arrow_of.size()));
    draughtsman.arrow(interpretation.dependencies[index], chosen.number.at(index));
  }
  const auto otherwise = draw_otherwise(interpretation, chosen, anomaly, draughtsman);
  auto figure = std::move(draughtsman).finish(std::move(title), chosen.left_out);
  for (const auto& [index, arrow] : otherwise) {
    figure.arrows[arrow].otherwise = true;
    figure.arrows[arrow_of.at(index)].evidence.push_back(arrow);
  }
  for (const auto& [index, arrow] : arrow_of) {
    for (const auto evidence : interpretation.dependencies[index].evidence) {
      const auto it = arrow_of.find(evidence);
      if (it != arrow_of.end()) figure.arrows[arrow].evidence.push_back(it->second);
    }
  }
  return in_the_whole(std::move(figure));
}

Figure figure_of(const analysis::ReportedViolation& reported,
                 const explain::FieldsByLabel& fields) {
  const auto originals = reported.small != nullptr
                             ? std::span<const history::TxnId>(reported.small->original_txn)
                             : std::span<const history::TxnId>();
  return figure_of(*reported.history, reported.level, *reported.violation, reported.anomaly,
                   {reported.internal, originals, &fields});
}

}  // namespace cupel::report
