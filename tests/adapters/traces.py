#!/usr/bin/env python3
"""Texts of the libraries, with marks and without, are edited as a trace has it, and satisfy their type.

    traces.py CUPEL CACHE ADAPTER:OBJECT…

One trace of one agent, which many edits a message must not make slow, and one of three agents. Exit code 77, which
CTest counts as skipped, where the libraries cannot be had.
"""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRACES = {"one agent": ["--edits", "20000"], "three agents": ["--edits", "300", "--agents", "3"]}


def main():
    cupel, cache, *objects = sys.argv[1:]
    environment = {**os.environ, "CUPEL_ADAPTER_CACHE": cache, "CUPEL_ADAPTERS": os.path.join(HERE, "../../adapters")}
    if not shutil.which("node") or not shutil.which("npm"):
        skip("there is no node or no npm; tools/install-packages.sh installs them")
    with tempfile.TemporaryDirectory() as folder:
        for name, options in TRACES.items():
            trace = os.path.join(folder, name)
            with open(trace, "w", encoding="utf-8") as file:
                subprocess.run([sys.executable, os.path.join(HERE, "../../tools/editing_trace.py"), *options],
                               stdout=file, check=True)
            for its in objects:
                ran = subprocess.run([cupel, "crdt", "run", "--adapter", its, "--trace", trace], env=environment,
                                     capture_output=True, text=True, check=False)
                if ran.returncode == 3 and "npm ci" in ran.stderr:
                    skip(ran.stderr)
                if ran.returncode != 0:
                    sys.exit(f"{its}, {name}: exit code {ran.returncode}\n{ran.stdout}{ran.stderr}")
                print(f"{its}, {name}: satisfied")


def skip(why):
    print(f"SKIPPED: {why}", file=sys.stderr)
    sys.exit(1 if os.environ.get("CUPEL_ADAPTERS_TEST") == "required" else 77)


if __name__ == "__main__":
    main()
