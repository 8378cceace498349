(* What each theorem rests on: tools/prove.sh reads the output of this file and fails on any
   axiom but those of Coq's native integers. *)
From Cupel Require Import Ladder Witness Weak Extend Clauses Derivation Format Verify Text Examples.
From Cupel Require Import ReplicatedCheck ReplicatedFormat.

Print Assumptions implies_sound.
Print Assumptions implies_violates.
Print Assumptions check_order_sound.
Print Assumptions check_weak_sound.
Print Assumptions extend_order.
Print Assumptions extend_weak.
Print Assumptions follows_sound.
Print Assumptions axiom_holds.
Print Assumptions refute_level_sound.
Print Assumptions parse_print.
Print Assumptions accept_sound.
Print Assumptions reject_sound.
Print Assumptions verify_sound.
Print Assumptions decides_sound.
Print Assumptions weakest_sound.
Print Assumptions ladder_is_strict.
Print Assumptions replicated_sound.
Print Assumptions parse_print_r.
