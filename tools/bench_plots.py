#!/usr/bin/env python3
"""Draws the results of bench/suite: for each group of cases whose values are numbers, the
CPU time and the peak memory against that number, both axes logarithmic, a line a series.
Where a series has three values or more, its exponent, the slope of the least squares line
through the logarithms, follows its name; points under 50 ms are mostly the start of
the process and are left out of the fit.

    tools/bench_plots.py build/bench/full.jsonl [--output docs/plots] [--only GROUP,…]

Writes OUTPUT/bench-GROUP.svg and prints the exponents. Needs nothing but Python."""
import argparse
import json
import math
import os
import sys

LEFT, RIGHT, TOP, HEIGHT = 70, 300, 64, 300
PANEL, GAP, WIDTH = 330, 84, 1130
COLOURS = ["#0b6fb8", "#c4500a", "#2e8540", "#8a3ab9", "#b0892c", "#c2255c", "#12a3a3", "#555555"]
INK, FAINT, GRID = "#222222", "#666666", "#e3e3e3"
LEAST_SECONDS = 0.05


def stop(why):
    sys.exit(f"bench_plots: {why}")


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def text(x, y, words, size=12, colour=INK, anchor="start", more=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" '
            f'text-anchor="{anchor}"{more}>{escape(words)}</text>')


def exponent(points):
    """The slope in log-log of (x, y), or None of fewer than three."""
    logs = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len({x for x, _ in logs}) < 3:
        return None
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    return (sum((x - mean_x) * (y - mean_y) for x, y in logs)
            / sum((x - mean_x) ** 2 for x, _ in logs))


def number(value):
    try:
        return float(value)
    except ValueError:
        return None


def read(path):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    if not lines or "size" not in lines[0]:
        stop(f"{path}: found no results of bench/suite, whose first line is about the machine")
    groups = {}
    for row in lines[1:]:
        x = number(row["value"])
        # An unknown has no cost but its limit's; a failure none at all.
        if x is None or x <= 0 or row.get("verdict") not in ("satisfied", "violated"):
            continue
        series = groups.setdefault(row["group"], {}).setdefault(row["series"], {})
        series.setdefault(x, []).append(row)
    return lines[0], groups


def middle(values):
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def series_points(rows_by_x, field, scale):
    return [(x, middle([row[field] for row in rows]) * scale)
            for x, rows in sorted(rows_by_x.items())]


def ticks(low, high):
    return [10.0 ** e for e in range(math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9) + 1)]


def short(value):
    if value >= 10000:
        e = round(math.log10(value))
        return f"10^{e}" if abs(10 ** e - value) < 1e-6 * value else f"{value:.0e}"
    return f"{value:g}"


def panel(out, left, title, unit, all_points, width):
    xs = [x for points in all_points for x, _ in points]
    ys = [y for points in all_points for _, y in points]
    x_ticks, y_ticks = ticks(min(xs), max(xs)), ticks(min(ys), max(ys))
    if len(x_ticks) < 2:
        x_ticks.append(10 * x_ticks[0])
    if len(y_ticks) < 2:
        y_ticks.append(10 * y_ticks[0])
    bottom = TOP + HEIGHT

    def place(value, marks, start, length):
        low, high = math.log(marks[0]), math.log(marks[-1])
        return start + length * (math.log(value) - low) / (high - low)

    for tick in x_ticks:
        x = place(tick, x_ticks, left, width)
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}" stroke="{GRID}"/>')
        out.append(text(x, bottom + 18, short(tick), 11, FAINT, "middle"))
    for tick in y_ticks:
        y = place(tick, y_ticks, bottom, -HEIGHT)
        out.append(f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GRID}"/>')
        out.append(text(left - 8, y + 4, short(tick), 11, FAINT, "end"))
    out.append(text(left, TOP - 10, f"{title}, {unit}", 12, INK))
    for i, points in enumerate(all_points):
        colour = COLOURS[i % len(COLOURS)]
        dash = ' stroke-dasharray="5 3"' if i >= len(COLOURS) else ""
        at = [(place(x, x_ticks, left, width), place(y, y_ticks, bottom, -HEIGHT)) for x, y in points]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in at]


def draw(group, series, about, source):
    names = list(series)
    cpu = [series_points(series[name], "cpu_seconds", 1) for name in names]
    memory = [series_points(series[name], "peak_bytes", 1e-6) for name in names]
    fits = [exponent([p for p in points if p[1] >= LEAST_SECONDS]) for points in cpu]
    height = max(TOP + HEIGHT + 50, TOP + 18 * len(names) + 40)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           f'viewBox="0 0 {WIDTH} {height}" font-family="Helvetica, Arial, sans-serif" role="img" '
           f'aria-label="{escape(f"Cost against {group}")}">',
           f'<!-- Written by tools/bench_plots.py from {escape(os.path.basename(source))}. -->',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
           text(24, 26, f"Cost against {group}", 16, more=' font-weight="bold"'),
           text(24, TOP + HEIGHT + 42, f"{about['processor']}, {about['hardware_threads']} hardware threads; "
                f"medians of {about['runs']}; logarithmic axes", 11, FAINT)]
    panel(out, LEFT, "CPU time", "seconds", cpu, PANEL)
    panel(out, LEFT + PANEL + GAP, "peak memory", "MB", memory, PANEL)
    right = LEFT + 2 * PANEL + GAP + 24
    for i, (name, fit) in enumerate(zip(names, fits)):
        y = TOP + 10 + 18 * i
        colour = COLOURS[i % len(COLOURS)]
        fitted = f": n^{fit:.2f}" if fit is not None else ""
        out.append(f'<circle cx="{right}" cy="{y - 4}" r="4" fill="{colour}"/>')
        out.append(text(right + 10, y, name + fitted, 11, INK))
    out.append("</svg>")
    return "\n".join(out) + "\n", list(zip(names, fits))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("results", help="the .jsonl file that bench/suite wrote")
    parser.add_argument("--output", default="docs/plots", metavar="FOLDER")
    parser.add_argument("--only", default="", help="groups, separated by commas")
    options = parser.parse_args()
    try:
        about, groups = read(options.results)
    except (OSError, json.JSONDecodeError, KeyError) as error:
        stop(f"{options.results}: {error!r}")
    wanted = [group for group in options.only.split(",") if group]
    for group in wanted:
        if group not in groups:
            stop(f"found no group {group} with numbers, expected one of {', '.join(groups)}")
    os.makedirs(options.output, exist_ok=True)
    drawn = 0
    for group, series in groups.items():
        if wanted and group not in wanted:
            continue
        if len({x for points in series.values() for x in points}) < 2:
            continue
        picture, fits = draw(group, series, about, options.results)
        path = os.path.join(options.output, f"bench-{group}.svg")
        with open(path, "w", encoding="utf-8") as file:
            file.write(picture)
        drawn += 1
        print(path)
        for name, fit in fits:
            if fit is not None:
                print(f"  {name}: n^{fit:.2f}")
    if drawn == 0:
        stop("found no group with two values, nothing was drawn")


if __name__ == "__main__":
    main()
