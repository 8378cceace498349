(* The verifier as OCaml: proofs/extracted/verifier.ml. Booleans, pairs, options and lists
   become OCaml's own; native integers become the functions of proofs/extracted/uint63.ml. *)
From Coq Require Import Extraction ExtrOcamlBasic ExtrOCamlInt63.
From Cupel Require Import History Levels Order Clauses Derivation Format Ladder Verify.

Extraction "verifier.ml" nothing feed finish verify check_proof check_answer applies_b.
