#!/usr/bin/env python3
"""tools/coq_assumptions.py finds what takes something for true without a proof, in a file of Coq
and in what Coq prints of a theorem, and nothing in files without it."""

import lzma
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOL = ROOT / "tools/coq_assumptions.py"


def text_of(file):
    return lzma.open(file, "rt").read() if file.suffix == ".xz" else file.read_text()


class CoqAssumptions(unittest.TestCase):
    def run_tool(self, mode, *texts):
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder) / f"{i}" for i in range(len(texts))]
            for file, text in zip(files, texts):
                file.write_text(text)
            return subprocess.run([sys.executable, TOOL, mode, *files], capture_output=True,
                                  text=True).returncode

    def test_what_is_not_proved_is_found(self):
        for line in ("Axiom a : False.", "Axioms a b : False.", "Parameters (x y : nat).",
                     "Lemma x : False. Proof. Admitted.", "Proof. admit. Defined.",
                     "Variable x : False.", "Section A.\nEnd A.\nVariables x y : False.",
                     "Hypothesis h : False.", "Context {x : False}.", "Conjecture x : False.",
                     "Unset Guard Checking.", "#[bypass_check(guard)] Fixpoint f x := f x.",
                     'Extract Constant f => "g".', 'Extract Inlined Constant f => "g".',
                     "(* a *) Axiom b : False. (* c *)", 'Definition s := "(*". Axiom b : False.'):
            self.assertEqual(self.run_tool("search", line + "\n"), 1, line)

    def test_words_and_sections_are_none(self):
        for line in ("(* Admitted (* nested *) Axiom *)", 'Definition a := "Axiom".',
                     "Section A.\nVariables (x : nat).\nHypothesis h : x = 0.\nEnd A.",
                     'Extraction "f.ml" f.', "Inductive axiom := OneAxiom."):
            self.assertEqual(self.run_tool("search", line + "\n"), 0, line)
        self.assertEqual(subprocess.run([sys.executable, TOOL, "search",
                                         *(ROOT / "proofs").rglob("*.v"),
                                         *(ROOT / "proofs").rglob("*.v.xz")]).returncode, 0)

    def test_every_line_that_coq_prints_is_known(self):
        asked = "Print Assumptions a.\n"
        fine = "Axioms:\nPrimInt63.int : Set\nUint63.eqb_correct\n  : forall i : PrimInt63.int,\n"
        for text in ("Closed under the global context\n", fine):
            self.assertEqual(self.run_tool("check", asked, text), 0, text)
        for text in ("", fine + fine, "Axioms:\nx' : False\n", "Axioms:\nfix is assumed to be guarded.\n",
                     "Axioms:\nPrimInt63.int is assumed to be positive.\n",
                     "Axioms:\nUint63.other : False\n", "Section Variables:\nx : nat\n"):
            self.assertEqual(self.run_tool("check", asked, text), 1, text)

    def test_theorems_are_asked_about_by_their_whole_name(self):
        written = subprocess.run([sys.executable, TOOL, "write", "Verify", "Examples"], cwd=ROOT,
                                 capture_output=True, text=True).stdout
        for name in ("Verify.accept_sound", "Examples.long_fork.weakest_level", "Examples.ladder_is_strict"):
            self.assertIn(f"(@Cupel.{name},\n", written)
        self.assertEqual(written.count("Print Assumptions file_"), 2)

    def test_findings_claim_what_their_files_prove(self):
        levels = {"read atomic": "ReadAtomic", "causal": "Causal", "prefix": "Prefix",
                  "snapshot isolation": "SnapshotIsolation"}
        rows = re.findall(r"^\|[^|]*\|[^|]*\|([^|]*)\| \[\w+\]\(\.\./\.\./(proofs/findings/\w+\.v(?:\.xz)?)\) \|$",
                          (ROOT / "docs/internals/findings.md").read_text(), re.MULTILINE)
        self.assertEqual({file for _, file in rows},
                         {str(file.relative_to(ROOT)) for file in (ROOT / "proofs/findings").glob("*.v*")})
        for claims, file in rows:
            proved = set(re.findall(r"^Theorem answer_\d+ : exists h, .* (satisfies|violates) h 0 (\w+)\.$",
                                    text_of(ROOT / file), re.MULTILINE))
            claimed = re.findall(rf"(not )?\b({'|'.join(levels)})\b", claims)
            self.assertTrue(claimed)
            for no, level in claimed:
                self.assertIn(("violates" if no else "satisfies", levels[level]), proved, file)

    def test_every_smallest_example_has_a_theorem(self):
        page = (ROOT / "docs/reference/anomalies.md").read_text()
        names = re.findall(r"^(\S+)\n(?:  .*\n)*?  Smallest example$", page, re.MULTILINE)
        self.assertEqual(len(names), page.count("  Smallest example\n"))
        examples = text_of(ROOT / "proofs/Examples.v.xz")
        for name in names:
            module = "example_" + name.replace("-", "_")
            start = examples.index(f"\nModule {module}.\n")
            self.assertIn("\nTheorem as_explained ", examples[start:examples.index(f"\nEnd {module}.\n")])


if __name__ == "__main__":
    unittest.main()
