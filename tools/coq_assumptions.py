#!/usr/bin/env python3
"""What the theorems of proofs/ rest on; tools/prove.sh runs this.

    coq_assumptions.py search FILE.v ...     prints what takes something for true without a proof,
                                             or changes what is proved or extracted; then fails
    coq_assumptions.py write FILE ...        writes Assumptions.v: `Print Assumptions` of all
                                             theorems of each proofs/FILE.v
    coq_assumptions.py check Assumptions.v OUTPUT
                                             Coq's answer has a part for each file and names
                                             nothing but what is listed below; else fails
"""

import lzma
import pathlib
import re
import sys

# Coq's native integers, and what its standard library assumes of them.
ASSUMED = set(
    ["PrimInt63." + name for name in "int add div eqb land leb lor lsl lsr ltb mod mul sub".split()] +
    ["Uint63." + name for name in (
        "add_spec div_spec eqb_correct eqb_refl land_spec leb_spec lsl_spec lsr_spec ltb_spec mod_spec mul_spec"
        " of_to_Z sub_spec").split()])

FORBIDDEN = re.compile(
    r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?|Primitive|Register|bypass_check|Abort"
    r"|Unset\s+(Guard|Positivity|Universe)\s+Checking|Typing\s+Flags|Extract|Declare\s+ML|Load|LoadPath)\b")
# Inside a section they are what its theorems are about; outside they are axioms.
OF_SECTION = re.compile(r"\b(Variables?|Hypothes[ie]s|Context)\b")


def read(file):
    """Its text. A proof that was generated and is large is kept compressed, as FILE.v.xz."""
    packed = pathlib.Path(file)
    if packed.suffix != ".xz":
        packed = packed.with_name(packed.name + ".xz")
    return lzma.open(packed, "rt").read() if packed.exists() else pathlib.Path(file).read_text()


def code(text):
    """Without comments, which nest, and without strings; lines stay."""
    result, depth, i, string = [], 0, 0, False
    while i < len(text):
        two = text[i:i + 2]
        if string:
            string = text[i] != '"'
        elif text[i] == '"':
            string = True
        elif two == "(*":
            depth += 1
            i += 1
        elif two == "*)" and depth:
            depth -= 1
            i += 1
        elif not depth:
            result.append(text[i])
        if (string or depth) and text[i] == "\n":
            result.append("\n")
        i += 1
    return "".join(result)


def search(files):
    found = False
    for file in files:
        depth = 0
        for number, line in enumerate(code(read(file)).splitlines(), 1):
            depth += len(re.findall(r"^\s*Section\b", line))
            depth -= len(re.findall(r"^\s*End\b", line)) if depth else 0
            wrong = FORBIDDEN.search(line) or (not depth and OF_SECTION.search(line))
            if wrong:
                print(f"{file}:{number}: {line.strip()}")
                found = True
    return not found


def theorems(file):
    """Their names, with those of the modules that they are in."""
    modules, names = [], []
    text = code(read(f"proofs/{file}.v"))
    for match in re.finditer(r"^\s*(?:#\[\w+\]\s*)?(Module|Section|End|Theorem|Corollary)\s+([\w']+)(?![\w']|\s*:=)",
                             text, re.MULTILINE):
        kind, name = match.groups()
        if kind in ("Module", "Section"):
            modules.append(name if kind == "Module" else None)
        elif kind == "End":
            modules.pop()
        else:
            names.append(".".join([m for m in modules if m] + [name]))
    return names


def write(files):
    for number, file in enumerate(files):
        library = "Cupel." + file.replace("/", ".")
        # All of a file at once: what they have in common is looked at once.
        proofs = "".join(f"  (@{library}.{name},\n" for name in theorems(file))
        print(f"Require {library}.\nDefinition file_{number} :=\n{proofs}  tt{')' * proofs.count('(@')}.")
        print(f"Print Assumptions file_{number}.")
    return True


def check(script, output):
    asked = pathlib.Path(script).read_text().count("Print Assumptions ")
    answers, well = 0, True
    for line in pathlib.Path(output).read_text().splitlines():
        if line in ("Closed under the global context", "Axioms:"):
            answers += 1
        elif not line.startswith(" "):  # else the type of the name before goes on
            name = re.match(r"\S+", line)
            if not name or name[0] not in ASSUMED or not re.match(r"\S+( :|$)", line):
                print(line)
                well = False
    if answers != asked or asked == 0:
        print(f"{answers} answers to {asked} questions")
        well = False
    return well


def main():
    mode, rest = sys.argv[1], sys.argv[2:]
    well = {"search": lambda: search(rest), "write": lambda: write(rest),
            "check": lambda: check(*rest)}[mode]()
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
