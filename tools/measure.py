"""What the benchmarks in tools/ that run the program share: measured commands, each in its own
process, and the lines that tools/bench_plots.py draws."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time


def measured(command, expected):
    """CPU and wall seconds and peak bytes of a command that must print this."""
    with tempfile.TemporaryFile("w+") as output:
        begun = time.monotonic()
        process = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begun
        output.seek(0)
        said = output.read(1000)
    if os.waitstatus_to_exitcode(status) != 0 or expected not in said:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {' '.join(command)}: found {said!r}, expected {expected}")
    return {"cpu_seconds": usage.ru_utime + usage.ru_stime, "wall_seconds": wall,
            "peak_bytes": usage.ru_maxrss * 1024}


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")


def main(description, things, all_things, output, history_name, commands_of):
    """Measures each thing, such as a type or a level, in each size. `commands_of(options, thing,
    size, history, proof)` writes the history and yields a group, a series, a command and what it
    must print."""
    parser = argparse.ArgumentParser(description=description.split("\n\n")[0])
    parser.add_argument("--cupel", default="build/release/cupel")
    parser.add_argument("--sizes", default="1000,10000,100000,1000000")
    parser.add_argument(f"--{things}", dest="things", default=",".join(all_things))
    parser.add_argument("--output", default=output)
    options = parser.parse_args()
    os.makedirs(os.path.dirname(options.output) or ".", exist_ok=True)
    with open(options.output, "w", encoding="utf-8") as out, tempfile.TemporaryDirectory() as folder:
        about = {"size": options.sizes, "processor": processor(), "hardware_threads": os.cpu_count(), "runs": 1}
        print(json.dumps(about), file=out)
        history, proof = os.path.join(folder, history_name), os.path.join(folder, "proof.json")
        for size in [int(size) for size in options.sizes.split(",")]:
            for thing in options.things.split(","):
                for group, series, command, expected in commands_of(options.cupel, thing, size, history, proof):
                    row = {"group": group, "series": series, "value": str(size), "verdict": "satisfied",
                           **measured(command, expected)}
                    print(json.dumps(row), file=out, flush=True)
                    print(f"{thing}, {size}, {series if series != thing else group}: {row['cpu_seconds']:.2f} CPU s, "
                          f"{row['wall_seconds']:.2f} s, {row['peak_bytes'] / 1e6:.0f} MB", flush=True)
