#!/usr/bin/env python3
"""A long text comes whole to another replica by a library's own sync protocol, and the adapter throws nothing.

    large.py CUPEL CACHE ADAPTER…

Exit code 77, which CTest counts as skipped, where the libraries cannot be had.
"""

import json
import os
import shutil
import subprocess
import sys

LENGTH = 300_000  # more than a call may have arguments


def main():
    cupel, cache, *adapters = sys.argv[1:]
    here = os.path.dirname(os.path.abspath(__file__))
    environment = {**os.environ, "CUPEL_ADAPTER_CACHE": cache, "CUPEL_ADAPTERS": os.path.join(here, "../../adapters")}
    if not shutil.which("node") or not shutil.which("npm"):
        skip("there is no node or no npm; tools/install-packages.sh installs them")
    for adapter in adapters:
        # It installs the libraries.
        ran = subprocess.run([cupel, "crdt", "run", "--adapter", f"{adapter}:text", "--ops", "1"], env=environment,
                             capture_output=True, text=True, check=False)
        if ran.returncode == 3 and "npm ci" in ran.stderr:
            skip(ran.stderr)
        exchange(adapter, cache)
        print(f"{adapter}: {LENGTH} characters came by the sync protocol")


def skip(why):
    print(f"SKIPPED: {why}", file=sys.stderr)
    sys.exit(1 if os.environ.get("CUPEL_ADAPTERS_TEST") == "required" else 77)


def exchange(adapter, cache):
    command = ["node", os.path.join(cache, "harness.mjs"), os.path.join(cache, f"{adapter}.mjs")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as harness:

        def ask(**request):
            harness.stdin.write(json.dumps(request) + "\n")
            harness.stdin.flush()
            answer = json.loads(harness.stdout.readline())
            if "threw" in answer:
                sys.exit(f"{adapter} threw at {request['f']}: {answer['threw']}")
            return answer

        text = "".join(chr(0x4E00 + i % 20_000) for i in range(LENGTH))
        ask(f="begin", replicas=2, keys=["x"], object="text")
        ask(f="insert", replica=0, key="x", value=[None, text], message=0)
        said = [(0, message) for message in ask(f="greet", replica=0, **{"from": 1})["say"]]
        while said:
            speaker, message = said.pop(0)
            answer = ask(f="hear", replica=1 - speaker, value=message, lacks=[0], **{"from": speaker})
            said += [(1 - speaker, more) for more in answer["say"]]
        if ask(f="read", replica=1, key="x")["value"] != text:
            sys.exit(f"{adapter}: the text did not come whole")
        harness.stdin.close()


if __name__ == "__main__":
    main()
