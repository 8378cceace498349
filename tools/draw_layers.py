#!/usr/bin/env python3
"""Draws the picture of the parts in docs/internals/architecture.md from the table below it.

Usage: tools/draw_layers.py [--check]

A part of src/ is on the floor above the highest part that its folders may use, so a cycle of parts is an error.
Its folders stand in the order in which they use each other. --check changes nothing, and fails when the picture
in the page is another one.
"""
import os
import re
import sys
import textwrap

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "internals", "architecture.md")
# The first code block of the page.
PICTURE = re.compile(r"^```\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
WIDTH = 110


def table_of(page):
    """Folder to the folders that it may use, in the order of the table."""
    table = {}
    inside = False
    for line in page.split("\n"):
        cells = [cell.strip(" `") for cell in line.split("|")]
        if len(cells) < 4:
            inside = False
        elif cells[1:3] == ["folder", "may include"]:
            inside = True
        elif inside and not set(cells[1]) <= set("-: "):
            table[cells[1]] = [name.strip() for name in cells[2].split(",") if name.strip() != "std"]
    for folder, used in table.items():
        if used == ["anything"]:
            table[folder] = [other for other in table if other != folder]
    return table


def height(folder, table, known, path=()):
    if folder in path:
        sys.exit("draw_layers: a cycle: " + " -> ".join(path[path.index(folder):] + (folder,)))
    if folder not in table:
        sys.exit(f"draw_layers: {path[-1]} may include {folder}, which has no row")
    if folder not in known:
        known[folder] = 1 + max((height(used, table, known, path + (folder,)) for used in table[folder]), default=-1)
    return known[folder]


def parts_of(table):
    """Part (the first folder of a path) to the other parts that its folders may use."""
    parts = {}
    for folder, used in table.items():
        part = folder.split("/")[0]
        parts.setdefault(part, set()).update({name.split("/")[0] for name in used} - {part})
    return parts


def picture_of(table):
    parts, floors, heights = parts_of(table), {}, {}
    for folder in table:
        height(folder, table, heights)
    for part in parts:
        height(part, parts, floors)
    lines = []
    for part in sorted(parts, key=lambda part: -floors[part]):
        inside = [folder for folder in table if folder.startswith(part + "/")]
        inside.sort(key=lambda folder: heights[folder])
        lines.append(f"{floors[part]}  {part:<11}{'  '.join(folder[len(part) + 1:] for folder in inside)}".rstrip())
    return "\n".join(textwrap.fill(line, WIDTH, subsequent_indent=" " * 14, break_on_hyphens=False,
                                   drop_whitespace=True) if len(line) > WIDTH else line for line in lines) + "\n"


def main():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    table = table_of(page)
    drawn = PICTURE.search(page)
    if len(table) < 10 or not drawn:
        sys.exit("draw_layers: docs/internals/architecture.md has no table of layers, or no picture above it")
    picture = picture_of(table)
    if drawn.group(1) == picture:
        return 0
    if "--check" in sys.argv[1:]:
        sys.exit("draw_layers: the picture in docs/internals/architecture.md differs from its table; run tools/draw_layers.py. "
                 "It should be:\n" + picture)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page[: drawn.start(1)] + picture + page[drawn.end(1):])
    return 0


if __name__ == "__main__":
    sys.exit(main())
