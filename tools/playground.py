#!/usr/bin/env python3
"""playground: web/playground and the core in WebAssembly as one page that asks nobody for anything.

    tools/playground.py -o FILE [--wasm FOLDER] [--link NAME=URL]…

The page works from a static server and from disk. Its content security policy allows the scripts and
the style in it, by their hashes, and no connection. --wasm is the folder of cupel.wasm and cupel.mjs
(tools/wasm_core.sh; default: build/wasm), --link adds a link to the head of the page.
"""
import argparse
import base64
import gzip
import hashlib
import html
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def text(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def classic(module):
    """A module's text as part of a script: without imports and exports."""
    module = re.sub(r"^import [^;]*;\n", "", module, flags=re.M)
    module = re.sub(r"^export default \w+;\s*$", "", module, flags=re.M)
    return re.sub(r"^export (?=class|function|const)", "", module, flags=re.M)




def hash_of(content):
    return "'sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() + "'"


def gallery():
    groups = json.loads(text("web", "playground", "gallery.json"))
    for group in groups:
        for entry in group["entries"]:
            if "file" in entry:
                entry["text"] = text(entry.pop("file"))
    return json.dumps(groups, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def page(wasm_folder, links):
    with open(os.path.join(wasm_folder, "cupel.wasm"), "rb") as file:
        wasm = base64.b64encode(gzip.compress(file.read(), 9, mtime=0)).decode()
    with open(os.path.join(wasm_folder, "cupel.mjs"), encoding="utf-8") as file:
        loader = file.read()
    core = "\n".join([classic(loader), classic(text("node", "short.mjs")), classic(text("node", "core.mjs")),
                      text("web", "playground", "worker.js")])
    # In scripts a `<` stands in expressions too, so only what ends the element may not be there.
    for script in (core, text("web", "playground", "page.js")):
        if re.search(r"</script|<!--", script, re.I):
            sys.exit("playground: a script holds what would end its element")
    style = text("web", "report.css") + text("web", "playground", "page.css")
    script = text("web", "playground", "page.js")
    policy = "; ".join([
        "default-src 'none'", f"script-src {hash_of(script)} 'wasm-unsafe-eval' blob:", "worker-src blob:",
        f"style-src {hash_of(style)}", "img-src data:", "base-uri 'none'", "form-action 'none'"])
    listed = "".join(f'<a href="{html.escape(url)}">{html.escape(name)}</a>' for name, url in links)
    parts = {
        "POLICY": policy, "STYLE": style, "CORE": core, "WASM": wasm, "GALLERY": gallery(), "SCRIPT": script,
        "LINKS": f"<nav aria-label=\"Manual\">{listed}</nav>" if links else ""}
    return re.sub(r"@([A-Z]+)@", lambda part: parts[part.group(1)], text("web", "playground", "page.html"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--wasm", default=os.path.join(ROOT, "build", "wasm"))
    parser.add_argument("--link", action="append", default=[])
    arguments = parser.parse_args()
    if not os.path.exists(os.path.join(arguments.wasm, "cupel.wasm")):
        print(f"playground: {arguments.wasm}/cupel.wasm is not there; tools/wasm_core.sh builds it", file=sys.stderr)
        sys.exit(3)
    made = page(arguments.wasm, [link.split("=", 1) for link in arguments.link])
    os.makedirs(os.path.dirname(os.path.abspath(arguments.output)), exist_ok=True)
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write(made)


if __name__ == "__main__":
    main()
