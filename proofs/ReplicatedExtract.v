(* The verifier of replicated data types as OCaml: proofs/extracted/replicated.ml. *)
From Coq Require Import Extraction ExtrOcamlBasic ExtrOCamlInt63.
From Cupel Require Import Order Replicated ReplicatedCheck ReplicatedFormat.

Extraction "replicated.ml" nothing_r feed_r finish_r check_replicated.
