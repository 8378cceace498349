#!/usr/bin/env python3
"""Torture: what cupel promises, under bad input, full disks, short memory, kills and strangers.

    torture.py --cupel BIN --work DIR [--seconds N] [--seed N] [PART…]

Runs the parts, each for at most so many seconds (default 60), and prints a line for each: how often it
tried something, and what failed. Exit code 1 if anything did. docs/internals/reliability.md describes the parts."""

import argparse
import importlib
import pathlib
import sys
import time

import common

PARTS = ["disk", "kill", "limits", "bombs", "protocols", "passwords", "links", "outputs"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cupel", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=60, help="for each part")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; default: all")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"found {', '.join(sorted(unknown))}, expected some of {', '.join(PARTS)}")
    failed = False
    for name in options.parts or PARTS:
        part = common.Part(name, options.cupel.resolve(), options.work.resolve(), options.seed, options.seconds)
        begin = time.monotonic()
        importlib.import_module(name).torture(part)
        print(f"{'FAILED' if part.failures else 'ok':<8}{name:<12}{part.tries:>8,} commands {time.monotonic() - begin:7.1f} s"
              f"  {'; '.join(part.notes)}", flush=True)
        failed = failed or bool(part.failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
