#!/usr/bin/env python3
"""How often PostgreSQL aborts mini-transactions, and general ones of 20 operations, on
the same keys (MTC, figure 11): runs `cupel run --json` for several numbers of keys and
writes docs/plots/abort-rate.json (the tool's numbers) and abort-rate.svg (the plot).

    tools/abort_rate_plot.py [--cupel PATH] [--db URL] [--keys 50,100,…] [--seeds 3]
    tools/abort_rate_plot.py --draw       # the plot again, from the numbers that are there

Without --db, a server of `cupel lab` is started and stopped. Needs nothing but Python.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORKLOADS = [
    {"name": "mini", "label": "mini-transactions", "arguments": []},
    {"name": "general", "label": "general, 20 operations", "arguments": ["--ops", "20"]},
]


def stop(why):
    sys.exit(f"abort_rate_plot: {why}")


def measure(cupel, db, folder, workload, keys, seed, options):
    """The object `run` of one `cupel run --json`."""
    command = [cupel, "run", "--db", db, "--isolation", options.isolation, "--workload",
               workload["name"], *workload["arguments"], "--keys", str(keys), "--sessions",
               str(options.sessions), "--txns", str(options.txns), "--seed", str(seed),
               "-o", os.path.join(folder, "history.jsonl"), "--overwrite", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        stop(f"exit code {done.returncode}, expected 0 (satisfied), from {' '.join(command)}\n"
             f"{done.stderr}{done.stdout[:2000]}")
    return json.loads(done.stdout)["run"]


def measure_all(options, db, folder):
    series, facts = [], {}
    for workload in WORKLOADS:
        points = []
        for keys in options.keys:
            runs = [measure(options.cupel, db, folder, workload, keys, seed, options)
                    for seed in range(1, options.seeds + 1)]
            committed = sum(run["committed"] for run in runs)
            aborted = sum(run["aborted"] for run in runs)
            reasons = {}
            for run in runs:
                for reason, count in run["reasons"].items():
                    reasons[reason] = reasons.get(reason, 0) + count
            points.append({"keys": keys, "committed": committed, "aborted": aborted,
                           "abort_rate": aborted / (committed + aborted),
                           "abort_rates": [run["abort_rate"] for run in runs],
                           "reasons": reasons})
            facts = {name: runs[0][name] for name in ("database", "version", "isolation")}
            print(f"{workload['name']:8} {keys:6} keys: {100 * points[-1]['abort_rate']:5.1f} % "
                  f"of {committed + aborted} aborted", file=sys.stderr)
        series.append({"workload": workload["name"], "label": workload["label"],
                       "arguments": workload["arguments"], "points": points})
    return {**facts, "sessions": options.sessions, "txns": options.txns,
            "seeds": options.seeds, "series": series}


# ---- The plot.

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM, INSET = 78, 190, 84, 372, 28  # INSET: of the first and last point
COLOURS = ["#0b6fb8", "#c4500a"]
INK, FAINT, GRID = "#222222", "#666666", "#e3e3e3"


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def text(x, y, words, size=13, colour=INK, anchor="start", more=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" '
            f'text-anchor="{anchor}"{more}>{escape(words)}</text>')


def draw(numbers):
    keys = [point["keys"] for point in numbers["series"][0]["points"]]
    low, high = math.log(keys[0]), math.log(keys[-1])
    right = WIDTH - RIGHT
    highest = max(rate for one in numbers["series"] for point in one["points"]
                  for rate in point["abort_rates"])
    top = min(1.0, math.ceil(highest * 10 + 0.01) / 10)
    step = 0.1 if top <= 0.6 else 0.2

    def x(count):
        width = right - LEFT - 2 * INSET
        return LEFT + INSET + width * (math.log(count) - low) / max(high - low, 1e-9)

    def y(rate):
        return BOTTOM - (BOTTOM - TOP) * rate / top

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="Helvetica, Arial, sans-serif" '
           'role="img" aria-label="Abort rate by number of keys">',
           '<!-- Written by tools/abort_rate_plot.py from abort-rate.json. -->',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
           text(24, 32, "Mini-transactions abort less often than long ones", 18,
                more=' font-weight="bold"'),
           text(24, 54, f"{numbers['database']} {numbers['version']} at {numbers['isolation']}, "
                f"{numbers['sessions']} sessions of {numbers['txns']} transactions, "
                f"{numbers['seeds']} seeds (bars: lowest and highest)", 12, FAINT)]
    for tick in range(round(top / step) + 1):
        rate = tick * step
        out.append(f'<line x1="{LEFT}" x2="{right}" y1="{y(rate):.1f}" y2="{y(rate):.1f}" '
                   f'stroke="{GRID if tick else FAINT}"/>')
        out.append(text(LEFT - 10, y(rate) + 4, f"{round(100 * rate)} %", 12, FAINT, "end"))
    for count in keys:
        out.append(f'<line x1="{x(count):.1f}" x2="{x(count):.1f}" y1="{BOTTOM}" '
                   f'y2="{BOTTOM + 5}" stroke="{FAINT}"/>')
        out.append(text(x(count), BOTTOM + 21, str(count), 12, FAINT, "middle"))
    out.append(text((LEFT + right) / 2, BOTTOM + 48, "keys (logarithmic)", 13, INK, "middle"))
    middle = (TOP + BOTTOM) / 2
    out.append(text(22, middle, "aborted transactions", 13, INK, "middle",
                    f' transform="rotate(-90 22 {middle:.1f})"'))
    for one, colour in zip(numbers["series"], COLOURS):
        points = one["points"]
        line = " ".join(f"{x(p['keys']):.1f},{y(p['abort_rate']):.1f}" for p in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2.5" '
                   'stroke-linejoin="round"/>')
        for p in points:
            at = x(p["keys"])
            out.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y(min(p["abort_rates"])):.1f}" '
                       f'y2="{y(max(p["abort_rates"])):.1f}" stroke="{colour}"/>')
            out.append(f'<circle cx="{at:.1f}" cy="{y(p["abort_rate"]):.1f}" r="4.5" '
                       f'fill="{colour}" stroke="#ffffff" stroke-width="1.5"/>')
            out.append(text(at, y(max(p["abort_rates"])) - 9, f"{100 * p['abort_rate']:.0f} %", 11,
                            colour, "middle"))
        out.append(text(right + 14, y(points[-1]["abort_rate"]) + 5, one["label"], 13, colour,
                        more=' font-weight="bold"'))
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--cupel", default=os.path.join(ROOT, "build/release/cupel"))
    parser.add_argument("--db", help="a PostgreSQL to run on; without, one is started")
    parser.add_argument("--isolation", default="serializable")
    parser.add_argument("--keys", default="50,100,200,500,1000,10000",
                        type=lambda words: sorted(int(word) for word in words.split(",")))
    parser.add_argument("--sessions", type=int, default=24)
    parser.add_argument("--txns", type=int, default=100, help="of each session")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--output", default=os.path.join(ROOT, "docs/plots"), metavar="FOLDER")
    parser.add_argument("--draw", action="store_true", help="draw the numbers that are there")
    options = parser.parse_args()
    os.makedirs(options.output, exist_ok=True)
    numbers_file = os.path.join(options.output, "abort-rate.json")
    if not options.draw:
        with tempfile.TemporaryDirectory() as folder:
            db, started = options.db, None
            if db is None:
                # A state folder of its own: `stop` stops this server and no other.
                started = {**os.environ, "XDG_STATE_HOME": folder}
                lab = subprocess.run([options.cupel, "lab", "start", "postgres", "--fast", "-o",
                                      "deadlock_timeout=20ms"], env=started, text=True,
                                     stdout=subprocess.PIPE)
                if lab.returncode != 0:
                    stop("no server; give one with --db")
                db = lab.stdout.strip()
            try:
                numbers = measure_all(options, db, folder)
            finally:
                if started is not None:
                    subprocess.run([options.cupel, "lab", "stop", "postgres"], env=started,
                                   stdout=subprocess.DEVNULL, check=False)
        with open(numbers_file, "w", encoding="utf-8") as file:
            json.dump(numbers, file, indent=1)
            file.write("\n")
    with open(numbers_file, encoding="utf-8") as file:
        numbers = json.load(file)
    with open(os.path.join(options.output, "abort-rate.svg"), "w", encoding="utf-8") as file:
        file.write(draw(numbers))


if __name__ == "__main__":
    main()
