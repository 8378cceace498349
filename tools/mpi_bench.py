#!/usr/bin/env python3
"""Measures one history over MPI, and models more processes than there are.

    tools/mpi_bench.py build/release/cupel build/release/cupel-mpi FOLDER [REPEATS]

For each level a history is made and checked by 1, 2, 4 and 8 processes on this machine. The processes
share its cores, so the wall time says little; `cupel-mpi --verbose` prints the CPU time that each
process takes for its part. From it: part(N) = described + divided / N, by least squares over 2, 4
and 8, and the rest, which only the first process does. The model of the time with N processes on
machines of their own is rest + described + divided / N + bytes / bandwidth.
"""
import os
import re
import subprocess
import sys

SIZES = [2, 4, 8]
BANDWIDTH = 1.25e9  # bytes a second: 10 Gbit/s
CASES = [  # level, options of generate
    ("read-committed", ["--level", "serializable", "--sessions", "64", "--txns", "2500", "--keys", "20000"]),
    ("read-atomic", ["--level", "serializable", "--sessions", "64", "--txns", "2500", "--keys", "20000"]),
    ("causal", ["--level", "serializable", "--sessions", "64", "--txns", "2500", "--keys", "20000"]),
    ("linearizable", ["--level", "strict-serializable", "--sessions", "64", "--txns", "8000", "--ops", "1",
                      "--keys", "20000", "--duplicates", "0.3"]),
]
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_tcp_if_include="lo",
                   OMPI_MCA_oob_tcp_if_include="lo", OMPI_MCA_mpi_yield_when_idle="1")


def run(command):
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return done


def fit(points):
    """described and divided of part(N) = described + divided / N."""
    n = len(points)
    xs, ys = [1 / size for size, _ in points], [part for _, part in points]
    mx, my = sum(xs) / n, sum(ys) / n
    slope = sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)
    return max(0.0, my - slope * mx), slope


def measure(mpi, level, history, size, repeats):
    """The least of all repeats: CPU seconds of the whole first process and of its part, of the slowest
    other part, and the bytes sent."""
    best = None
    for _ in range(repeats):
        done = run(["mpirun", "-n", str(size), mpi, "check", "--verbose", "--threads", "1",
                    "--no-history-analysis", "-l", level, history])
        whole = re.search(r"([\d.]+) s of user and ([\d.]+) s of system", done.stderr)
        total = float(whole.group(1)) + float(whole.group(2))
        own, others, sent = 0.0, 0.0, 0.0
        line = re.search(rf"cupel: {level} \d+ took ([\d.]+) s of CPU here; there(.*)", done.stderr)
        if line:
            own = float(line.group(1))
            parts = re.findall(r"([\d.]+) s and ([\d.]+) MB", line.group(2))
            others = max(float(seconds) for seconds, _ in parts)
            sent = sum(float(megabytes) for _, megabytes in parts) * 1e6
        if best is None or total < best[0]:
            best = (total, own, others, sent)
    return best


def main():
    cupel, mpi, folder = sys.argv[1:4]
    repeats = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    os.makedirs(folder, exist_ok=True)
    print("| level | processes | first process, s | its part, s | slowest other part, s | sent, MB |")
    print("|---|---:|---:|---:|---:|---:|")
    models = []
    for level, options in CASES:
        history = os.path.join(folder, level + ".cupel")
        if not os.path.exists(history):
            run([cupel, "generate", *options, "-o", history])
        alone = measure(mpi, level, history, 1, repeats)
        print(f"| {level} | 1 | {alone[0]:.2f} | | | |")
        points, sent, rest = [], 0.0, []
        for size in SIZES:
            total, own, others, bytes_sent = measure(mpi, level, history, size, repeats)
            print(f"| | {size} | {total:.2f} | {own:.2f} | {others:.2f} | {bytes_sent / 1e6:.1f} |", flush=True)
            points.append((size, max(own, others)))
            rest.append(total - own)
            sent = max(sent, bytes_sent)
        models.append((level, alone[0], sum(rest) / len(rest), *fit(points), sent))
    print("\n| level | rest, s | described, s | divided, s | model of 8, s | of 64, s | of 1,024, s | most, times |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for level, alone, rest, described, divided, sent in models:
        times = [rest + described + divided / n + sent / BANDWIDTH for n in (8, 64, 1024)]
        print(f"| {level} | {rest:.2f} | {described:.2f} | {divided:.2f} | " +
              " | ".join(f"{time:.2f}" for time in times) + f" | {alone / times[-1]:.1f} |")


if __name__ == "__main__":
    main()
