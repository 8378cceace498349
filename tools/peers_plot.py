#!/usr/bin/env python3
"""Draws docs/plots/peers.svg from the table in docs/reference/benchmarks.md.

Usage: tools/peers_plot.py [--check]

A pair of bars for each row: the seconds of the other checker and of cupel, on a logarithmic axis.
--check changes nothing, and fails if the picture differs from the table.
"""
import math
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "reference", "benchmarks.md")
PLOT = os.path.join(ROOT, "docs", "plots", "peers.svg")
LEFT, WIDTH, TOP, ROW, BAR = 330, 860, 58, 44, 15
RIGHT = WIDTH - 60
LEAST, MOST = 0.001, 1000  # seconds, the ends of the axis
PEER, CUPEL, INK, FAINT, GRID = "#b0b7bf", "#0b6fb8", "#222222", "#666666", "#e3e3e3"


def rows_of(page):
    """(checker, history, level, its seconds, seconds of cupel) of each row."""
    rows = []
    for line in page.split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 7 and cells[0] != "checker":
            rows.append((*cells[:3], cells[3], cells[4]))
    if len(rows) < 8:
        sys.exit("peers_plot: docs/reference/benchmarks.md has no table of checkers")
    return rows


def across(seconds):
    share = math.log(seconds / LEAST) / math.log(MOST / LEAST)
    return LEFT + share * (RIGHT - LEFT)


def text(x, y, words, size=12, colour=INK, anchor="start"):
    words = words.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}">{words}</text>'


def bar(y, colour, seconds):
    end = across(float(seconds))
    return [f'<rect x="{LEFT}" y="{y}" width="{end - LEFT:.1f}" height="{BAR}" fill="{colour}"/>',
            text(end + 5, y + 12, f"{seconds} s", 11, FAINT)]


def picture_of(rows):
    height = TOP + ROW * len(rows) + 34
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
           f'height="{height}" font-family="sans-serif" role="img">',
           "<title>Seconds of each checker and of cupel on the same history</title>",
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
           f'<rect x="{LEFT}" y="14" width="14" height="14" fill="{PEER}"/>', text(LEFT + 20, 26, "the other checker"),
           f'<rect x="{LEFT + 160}" y="14" width="14" height="14" fill="{CUPEL}"/>', text(LEFT + 180, 26, "cupel")]
    bottom = TOP + ROW * len(rows)
    for power in range(-3, 4):
        x = across(10.0 ** power)
        out.append(f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{bottom}" stroke="{GRID}"/>')
        out.append(text(x, bottom + 18, f"{10.0 ** power:g} s", 11, FAINT, "middle"))
    for index, (checker, history, level, theirs, ours) in enumerate(rows):
        y = TOP + ROW * index
        out += [text(LEFT - 12, y + 12, f"{checker}: {history}", 12, INK, "end"), text(LEFT - 12, y + 27, level, 11, FAINT, "end")]
        out += bar(y, PEER, theirs) + bar(y + BAR + 1, CUPEL, ours)
    return "\n".join([*out, "</svg>"]) + "\n"


def main():
    with open(PAGE, encoding="utf-8") as file:
        picture = picture_of(rows_of(file.read()))
    if "--check" in sys.argv[1:]:
        with open(PLOT, encoding="utf-8") as file:
            if file.read() != picture:
                sys.exit("peers_plot: docs/plots/peers.svg differs from the table in docs/reference/benchmarks.md; "
                         "run tools/peers_plot.py")
        return
    with open(PLOT, "w", encoding="utf-8") as file:
        file.write(picture)


if __name__ == "__main__":
    main()
