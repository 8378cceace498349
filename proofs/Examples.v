(* The smallest history of each anomaly of docs/anomalies.md violates the level that the page
   says, and no weaker one; and no two levels imply each other but as Ladder.v has it.
   Written by tools/coq_examples.py; decided by Coq's kernel. *)
From Coq Require Import List String Uint63.
From Cupel Require Import History Levels Ladder Clauses Derivation Verify Text.
Import ListNotations.
Local Open Scope uint63_scope.

(* T1: r(x,7) *)
Module thin_air_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 - = 7"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]]);
  Proof Causal false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]])
].
Definition answers : list answer := [
  Answer ReadCommitted false 0%nat;
  Answer ReadAtomic false 0%nat;
  Answer Causal false 1%nat;
  Answer Prefix false 0%nat;
  Answer SnapshotIsolation false 2%nat;
  Answer GeneralizedSI false 2%nat;
  Answer StrongSessionSI false 0%nat;
  Answer StrongSI false 0%nat;
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 4%nat;
  Answer Linearizable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End thin_air_read.

(* T1: w(x,1) aborted · T2: r(x,1) *)
Module aborted_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 A 0 10000";
  "O 0 0 w 1 -";
  "T 1 1 C 0 10000";
  "O 1 0 - = 1"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [] [0]]);
  Proof Causal false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [] [0]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [] [0]]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [] [0]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [] [0]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (Candidates 1 0);
    Derived 1 [] [0]])
].
Definition answers : list answer := [
  Answer ReadCommitted false 0%nat;
  Answer ReadAtomic false 0%nat;
  Answer Causal false 1%nat;
  Answer Prefix false 0%nat;
  Answer SnapshotIsolation false 2%nat;
  Answer GeneralizedSI false 2%nat;
  Answer StrongSessionSI false 0%nat;
  Answer StrongSI false 0%nat;
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 4%nat;
  Answer Linearizable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End aborted_read.

(* T1: r(x,1) w(x,1) *)
Module future_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 - = 1";
  "O 1 0 w 1 -"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]]);
  Proof Causal false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]])
].
Definition answers : list answer := [
  Answer ReadCommitted false 0%nat;
  Answer ReadAtomic false 0%nat;
  Answer Causal false 1%nat;
  Answer Prefix false 0%nat;
  Answer SnapshotIsolation false 2%nat;
  Answer GeneralizedSI false 2%nat;
  Answer StrongSessionSI false 0%nat;
  Answer StrongSI false 0%nat;
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 4%nat;
  Answer Linearizable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End future_read.

(* T1: w(x,1) w(x,2) r(x,1) *)
Module not_my_last_write.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 w 1 -";
  "O 1 0 w 2 -";
  "O 2 0 - = 1"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (Mismatch 0 2);
    Derived 1 [] [0]]);
  Proof Causal false (BySteps [
    Given 0 (Mismatch 0 2);
    Derived 1 [] [0]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Mismatch 0 2);
    Derived 1 [] [0]]);
  Proof Serializable false (BySteps [
    Given 0 (Mismatch 0 2);
    Derived 1 [] [0]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Mismatch 0 2);
    Derived 1 [] [0]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (Mismatch 0 2);
    Derived 1 [] [0]])
].
Definition answers : list answer := [
  Answer ReadCommitted false 0%nat;
  Answer ReadAtomic false 0%nat;
  Answer Causal false 1%nat;
  Answer Prefix false 0%nat;
  Answer SnapshotIsolation false 2%nat;
  Answer GeneralizedSI false 2%nat;
  Answer StrongSessionSI false 0%nat;
  Answer StrongSI false 0%nat;
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 4%nat;
  Answer Linearizable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End not_my_last_write.

(* T1: w(x,1) r(x,0) *)
Module not_my_own_write.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 w 1 -";
  "O 1 0 - = 0"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (Mismatch 0 1);
    Derived 1 [] [0]]);
  Proof Causal false (BySteps [
    Given 0 (Mismatch 0 1);
    Derived 1 [] [0]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Mismatch 0 1);
    Derived 1 [] [0]]);
  Proof Serializable false (BySteps [
    Given 0 (Mismatch 0 1);
    Derived 1 [] [0]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Mismatch 0 1);
    Derived 1 [] [0]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (Mismatch 0 1);
    Derived 1 [] [0]])
].
Definition answers : list answer := [
  Answer ReadCommitted false 0%nat;
  Answer ReadAtomic false 0%nat;
  Answer Causal false 1%nat;
  Answer Prefix false 0%nat;
  Answer SnapshotIsolation false 2%nat;
  Answer GeneralizedSI false 2%nat;
  Answer StrongSessionSI false 0%nat;
  Answer StrongSI false 0%nat;
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 4%nat;
  Answer Linearizable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End not_my_own_write.

(* T1: w(x,1) w(x,2) · T2: r(x,1) *)
Module intermediate_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 w 1 -";
  "O 1 0 w 2 -";
  "T 1 1 C 0 10000";
  "O 2 0 - = 1"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [] [0]]);
  Proof Causal false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [] [0]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [] [0]]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [] [0]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [] [0]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (Candidates 1 0);
    Derived 1 [] [0]])
].
Definition answers : list answer := [
  Answer ReadCommitted false 0%nat;
  Answer ReadAtomic false 0%nat;
  Answer Causal false 1%nat;
  Answer Prefix false 0%nat;
  Answer SnapshotIsolation false 2%nat;
  Answer GeneralizedSI false 2%nat;
  Answer StrongSessionSI false 0%nat;
  Answer StrongSI false 0%nat;
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 4%nat;
  Answer Linearizable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End intermediate_read.

(* T1: w(x,1) · T2: r(x,0) r(x,1) *)
Module non_repeatable_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 w 1 -";
  "T 1 1 C 0 10000";
  "O 1 0 - = 0";
  "O 2 0 - = 1"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted true (ByWeak [
    (0, []);
    (1, [None; (Some 0)])]);
  Proof ReadAtomic false (BySteps [
    Given 0 (Candidates 1 0);
    Given 1 (SameVersion 1 0 1 None);
    Given 2 (NotFrom 1 1 None);
    Derived 3 [] [0; 2; 1]]);
  Proof Causal false (BySteps [
    Given 0 (Candidates 1 0);
    Given 1 (SameVersion 1 0 1 None);
    Given 2 (NotFrom 1 1 None);
    Derived 3 [] [0; 2; 1]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Candidates 1 0);
    Given 1 (SameVersion 1 0 1 None);
    Given 2 (NotFrom 1 1 None);
    Derived 3 [] [0; 2; 1]]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 1 0);
    Given 1 (SameVersion 1 0 1 None);
    Given 2 (NotFrom 1 1 None);
    Derived 3 [] [0; 2; 1]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 1 0);
    Given 1 (SameVersion 1 0 1 None);
    Given 2 (NotFrom 1 1 None);
    Derived 3 [] [0; 2; 1]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (Candidates 1 0);
    Given 1 (SameVersion 1 0 1 None);
    Given 2 (NotFrom 1 1 None);
    Derived 3 [] [0; 2; 1]])
].
Definition answers : list answer := [
  Answer ReadCommitted true 0%nat;
  Answer ReadAtomic false 1%nat;
  Answer Causal false 2%nat;
  Answer Prefix false 1%nat;
  Answer SnapshotIsolation false 3%nat;
  Answer GeneralizedSI false 3%nat;
  Answer StrongSessionSI false 1%nat;
  Answer StrongSI false 1%nat;
  Answer Serializable false 4%nat;
  Answer StrongSessionSerializable false 1%nat;
  Answer StrictSerializable false 5%nat;
  Answer Linearizable false 6%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadAtomic /\
  forall l, implies ReadAtomic l = true -> l <> ReadAtomic -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadAtomic decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End non_repeatable_read.

(* T1: w(x,1), then T2: w(x,2) w(y,2) · T3: r(y,2) r(x,1) *)
Module non_monotonic_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 999";
  "O 0 0 w 1 -";
  "T 1 0 C 1000 10000";
  "O 1 0 w 2 -";
  "O 2 1 w 2 -";
  "T 2 1 C 0 10000";
  "O 3 1 - = 2";
  "O 4 0 - = 1"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 (Some 1))] [0];
    Given 2 (Reads 2 0 1);
    Derived 3 [(true, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 2 1);
    Derived 5 [(true, Saw 2 1 (Some 0))] [4];
    Given 6 (Visible 2 1 (Some 0) 1 [ByRead 2 0]);
    Derived 7 [(false, Lt true 0 true 1)] [5; 1; 6];
    Given 8 (Session 0 1);
    Derived 9 [(true, Lt true 0 true 1)] [8];
    Given 10 (Cycle [(true, 1); (true, 0)]);
    Derived 11 [] [7; 9]]);
  Proof Serializable true (ByOrder [1; 0; 2]);
  Proof GeneralizedSI false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 (Some 1))] [0];
    Given 2 (Reads 2 0 1);
    Derived 3 [(true, Lt true 1 false 2)] [1; 2];
    Given 4 (Own 0);
    Derived 5 [(true, Lt false 0 true 0)] [4];
    Given 6 (RealTime 0 1);
    Derived 7 [(true, Lt true 0 true 1)] [6];
    Given 8 (Candidates 2 1);
    Derived 9 [(true, Saw 2 1 (Some 0))] [8];
    Given 10 (Overwritten 2 1 (Some 0) 1);
    Given 11 (NoOverlap 0 1 0);
    Given 12 (Own 0);
    Given 13 (Cycle [(false, 0); (true, 0); (true, 1)]);
    Derived 14 [(false, Lt true 1 false 2)] [9; 7; 10];
    Given 15 (Cycle [(true, 1); (false, 2)]);
    Derived 16 [] [3; 14]])
].
Definition answers : list answer := [
  Answer ReadCommitted false 0%nat;
  Answer ReadAtomic false 0%nat;
  Answer Causal false 0%nat;
  Answer Prefix false 0%nat;
  Answer SnapshotIsolation true 1%nat;
  Answer GeneralizedSI false 2%nat;
  Answer StrongSessionSI false 0%nat;
  Answer StrongSI false 0%nat;
  Answer Serializable true 1%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 0%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End non_monotonic_read.

(* T1: w(x,1), then in its session T2: r(x,0) *)
Module session_guarantee_violation.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 999";
  "O 0 0 w 1 -";
  "T 1 0 C 1000 10000";
  "O 1 0 - = 0"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted true (ByWeak [
    (0, []);
    (1, [None])]);
  Proof ReadAtomic false (BySteps [
    Given 0 (Session 0 1);
    Derived 1 [(true, Lt true 0 true 1)] [0];
    Given 2 (Candidates 1 0);
    Derived 3 [(true, Saw 1 0 None)] [2];
    Given 4 (Visible 1 0 None 0 [BySession 1]);
    Derived 5 [] [3; 4]]);
  Proof Serializable true (ByOrder [1; 0]);
  Proof GeneralizedSI true (ByOrder [1; 0; 0; 1]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 0);
    Derived 3 [(false, Lt true 0 true 1)] [1; 2];
    Given 4 (Session 0 1);
    Derived 5 [(true, Lt true 0 true 1)] [4];
    Given 6 (Cycle [(true, 1); (true, 0)]);
    Derived 7 [] [3; 5]])
].
Definition answers : list answer := [
  Answer ReadCommitted true 0%nat;
  Answer ReadAtomic false 1%nat;
  Answer Causal false 1%nat;
  Answer Prefix false 1%nat;
  Answer SnapshotIsolation true 2%nat;
  Answer GeneralizedSI true 3%nat;
  Answer StrongSessionSI false 1%nat;
  Answer StrongSI false 1%nat;
  Answer Serializable true 2%nat;
  Answer StrongSessionSerializable false 1%nat;
  Answer StrictSerializable false 1%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadAtomic /\
  forall l, implies ReadAtomic l = true -> l <> ReadAtomic -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadAtomic decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End session_guarantee_violation.

(* T1: w(x,1) w(y,1) · T2: r(y,0) r(x,1) *)
Module fractured_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 w 1 -";
  "O 1 1 w 1 -";
  "T 1 1 C 0 10000";
  "O 2 1 - = 0";
  "O 3 0 - = 1"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted true (ByWeak [
    (0, []);
    (1, [None; (Some 0)])]);
  Proof ReadAtomic false (BySteps [
    Given 0 (Candidates 1 1);
    Derived 1 [(true, Saw 1 1 (Some 0))] [0];
    Given 2 (Reads 1 1 0);
    Derived 3 [(true, Lt true 0 true 1)] [1; 2];
    Given 4 (Candidates 1 0);
    Derived 5 [(true, Saw 1 0 None)] [4];
    Given 6 (Visible 1 0 None 0 [ByRead 1 1]);
    Derived 7 [] [5; 1; 6]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 0);
    Derived 3 [(false, Lt true 0 false 1)] [1; 2];
    Given 4 (Candidates 1 1);
    Derived 5 [(true, Saw 1 1 (Some 0))] [4];
    Given 6 (Reads 1 1 0);
    Derived 7 [(true, Lt true 0 false 1)] [5; 6];
    Given 8 (Cycle [(false, 1); (true, 0)]);
    Derived 9 [] [3; 7]]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 0);
    Derived 3 [(false, Lt true 0 true 1)] [1; 2];
    Given 4 (Candidates 1 1);
    Derived 5 [(true, Saw 1 1 (Some 0))] [4];
    Given 6 (Reads 1 1 0);
    Derived 7 [(true, Lt true 0 true 1)] [5; 6];
    Given 8 (Cycle [(true, 1); (true, 0)]);
    Derived 9 [] [3; 7]])
].
Definition answers : list answer := [
  Answer ReadCommitted true 0%nat;
  Answer ReadAtomic false 1%nat;
  Answer Causal false 1%nat;
  Answer Prefix false 1%nat;
  Answer SnapshotIsolation false 2%nat;
  Answer GeneralizedSI false 2%nat;
  Answer StrongSessionSI false 1%nat;
  Answer StrongSI false 1%nat;
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 1%nat;
  Answer StrictSerializable false 1%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadAtomic /\
  forall l, implies ReadAtomic l = true -> l <> ReadAtomic -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadAtomic decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End fractured_read.

(* T1: w(x,1) · T2: r(x,1) w(y,1) · T3: r(y,1) r(x,0) *)
Module causality_violation.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 w 1 -";
  "T 1 1 C 0 10000";
  "O 1 0 - = 1";
  "O 2 1 w 1 -";
  "T 2 2 C 0 10000";
  "O 3 1 - = 1";
  "O 4 0 - = 0"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted true (ByWeak [
    (0, []);
    (1, [(Some 0)]);
    (2, [(Some 1); None])]);
  Proof ReadAtomic true (ByWeak [
    (0, []);
    (1, [(Some 0)]);
    (2, [(Some 1); None])]);
  Proof Causal false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 (Some 0))] [0];
    Given 2 (Reads 1 0 0);
    Derived 3 [(true, Lt true 0 true 1)] [1; 2];
    Given 4 (Candidates 2 0);
    Derived 5 [(true, Saw 2 0 (Some 1))] [4];
    Given 6 (Reads 2 0 1);
    Derived 7 [(true, Lt true 1 true 2)] [5; 6];
    Given 8 (Candidates 2 1);
    Derived 9 [(true, Saw 2 1 None)] [8];
    Given 10 (Visible 2 1 None 0 [ByRead 1 0; ByRead 2 0]);
    Derived 11 [] [9; 1; 5; 10]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 (Some 1))] [0];
    Given 2 (Reads 2 0 1);
    Derived 3 [(true, Lt true 1 false 2)] [1; 2];
    Given 4 (Candidates 2 1);
    Derived 5 [(true, Saw 2 1 None)] [4];
    Given 6 (Overwritten 2 1 None 0);
    Derived 7 [(false, Lt true 0 false 2)] [5; 6];
    Given 8 (Candidates 1 0);
    Derived 9 [(true, Saw 1 0 (Some 0))] [8];
    Given 10 (Reads 1 0 0);
    Derived 11 [(true, Lt true 0 false 1)] [9; 10];
    Given 12 (Own 1);
    Derived 13 [(true, Lt false 1 true 1)] [12];
    Given 14 (Cycle [(true, 1); (false, 2); (true, 0); (false, 1)]);
    Derived 15 [] [3; 7; 11; 13; 14]]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 (Some 1))] [0];
    Given 2 (Reads 2 0 1);
    Derived 3 [(true, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 2 1);
    Derived 5 [(true, Saw 2 1 None)] [4];
    Given 6 (Overwritten 2 1 None 0);
    Derived 7 [(false, Lt true 0 true 2)] [5; 6];
    Given 8 (Candidates 1 0);
    Derived 9 [(true, Saw 1 0 (Some 0))] [8];
    Given 10 (Reads 1 0 0);
    Derived 11 [(true, Lt true 0 true 1)] [9; 10];
    Given 12 (Cycle [(true, 1); (true, 2); (true, 0)]);
    Derived 13 [] [3; 7; 11; 12]])
].
Definition answers : list answer := [
  Answer ReadCommitted true 0%nat;
  Answer ReadAtomic true 1%nat;
  Answer Causal false 2%nat;
  Answer Prefix false 2%nat;
  Answer SnapshotIsolation false 3%nat;
  Answer GeneralizedSI false 3%nat;
  Answer StrongSessionSI false 2%nat;
  Answer StrongSI false 2%nat;
  Answer Serializable false 4%nat;
  Answer StrongSessionSerializable false 2%nat;
  Answer StrictSerializable false 2%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 Causal /\
  forall l, implies Causal l = true -> l <> Causal -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers Causal decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End causality_violation.

(* T1: w(x,1) · T2: w(y,1) · T3: r(x,1) r(y,0) · T4: r(x,0) r(y,1) *)
Module long_fork.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 w 1 -";
  "T 1 1 C 0 10000";
  "O 1 1 w 1 -";
  "T 2 2 C 0 10000";
  "O 2 0 - = 1";
  "O 3 1 - = 0";
  "T 3 3 C 0 10000";
  "O 4 0 - = 0";
  "O 5 1 - = 1"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, []);
    (1, []);
    (2, [(Some 0); None]);
    (3, [None; (Some 1)])]);
  Proof Prefix false (BySteps [
    Given 0 (Candidates 2 1);
    Derived 1 [(true, Saw 2 1 None)] [0];
    Given 2 (Overwritten 2 1 None 1);
    Derived 3 [(false, Lt true 1 false 2)] [1; 2];
    Given 4 (Candidates 3 1);
    Derived 5 [(true, Saw 3 1 (Some 1))] [4];
    Given 6 (Reads 3 1 1);
    Derived 7 [(true, Lt true 1 false 3)] [5; 6];
    Given 8 (Candidates 3 0);
    Derived 9 [(true, Saw 3 0 None)] [8];
    Given 10 (Overwritten 3 0 None 0);
    Derived 11 [(false, Lt true 0 false 3)] [9; 10];
    Given 12 (Candidates 2 0);
    Derived 13 [(true, Saw 2 0 (Some 0))] [12];
    Given 14 (Reads 2 0 0);
    Derived 15 [(true, Lt true 0 false 2)] [13; 14];
    Given 16 (Cycle [(false, 2); (true, 1); (false, 3); (true, 0)]);
    Derived 17 [] [3; 7; 11; 15; 16]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Candidates 2 1);
    Derived 1 [(true, Saw 2 1 None)] [0];
    Given 2 (Overwritten 2 1 None 1);
    Derived 3 [(false, Lt true 1 false 2)] [1; 2];
    Given 4 (Candidates 3 1);
    Derived 5 [(true, Saw 3 1 (Some 1))] [4];
    Given 6 (Reads 3 1 1);
    Derived 7 [(true, Lt true 1 false 3)] [5; 6];
    Given 8 (Candidates 3 0);
    Derived 9 [(true, Saw 3 0 None)] [8];
    Given 10 (Overwritten 3 0 None 0);
    Derived 11 [(false, Lt true 0 false 3)] [9; 10];
    Given 12 (Candidates 2 0);
    Derived 13 [(true, Saw 2 0 (Some 0))] [12];
    Given 14 (Reads 2 0 0);
    Derived 15 [(true, Lt true 0 false 2)] [13; 14];
    Given 16 (Cycle [(false, 2); (true, 1); (false, 3); (true, 0)]);
    Derived 17 [] [3; 7; 11; 15; 16]]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 2 1);
    Derived 1 [(true, Saw 2 1 None)] [0];
    Given 2 (Overwritten 2 1 None 1);
    Derived 3 [(false, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 3 1);
    Derived 5 [(true, Saw 3 1 (Some 1))] [4];
    Given 6 (Reads 3 1 1);
    Derived 7 [(true, Lt true 1 true 3)] [5; 6];
    Given 8 (Candidates 3 0);
    Derived 9 [(true, Saw 3 0 None)] [8];
    Given 10 (Overwritten 3 0 None 0);
    Derived 11 [(false, Lt true 0 true 3)] [9; 10];
    Given 12 (Candidates 2 0);
    Derived 13 [(true, Saw 2 0 (Some 0))] [12];
    Given 14 (Reads 2 0 0);
    Derived 15 [(true, Lt true 0 true 2)] [13; 14];
    Given 16 (Cycle [(true, 2); (true, 1); (true, 3); (true, 0)]);
    Derived 17 [] [3; 7; 11; 15; 16]]);
  Proof StrongSessionSerializable false (BySteps [
    Given 0 (Candidates 2 1);
    Derived 1 [(true, Saw 2 1 None)] [0];
    Given 2 (Overwritten 2 1 None 1);
    Derived 3 [(false, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 3 1);
    Derived 5 [(true, Saw 3 1 (Some 1))] [4];
    Given 6 (Reads 3 1 1);
    Derived 7 [(true, Lt true 1 true 3)] [5; 6];
    Given 8 (Candidates 3 0);
    Derived 9 [(true, Saw 3 0 None)] [8];
    Given 10 (Overwritten 3 0 None 0);
    Derived 11 [(false, Lt true 0 true 3)] [9; 10];
    Given 12 (Candidates 2 0);
    Derived 13 [(true, Saw 2 0 (Some 0))] [12];
    Given 14 (Reads 2 0 0);
    Derived 15 [(true, Lt true 0 true 2)] [13; 14];
    Given 16 (Cycle [(true, 2); (true, 1); (true, 3); (true, 0)]);
    Derived 17 [] [3; 7; 11; 15; 16]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 2 1);
    Derived 1 [(true, Saw 2 1 None)] [0];
    Given 2 (Overwritten 2 1 None 1);
    Derived 3 [(false, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 3 1);
    Derived 5 [(true, Saw 3 1 (Some 1))] [4];
    Given 6 (Reads 3 1 1);
    Derived 7 [(true, Lt true 1 true 3)] [5; 6];
    Given 8 (Candidates 3 0);
    Derived 9 [(true, Saw 3 0 None)] [8];
    Given 10 (Overwritten 3 0 None 0);
    Derived 11 [(false, Lt true 0 true 3)] [9; 10];
    Given 12 (Candidates 2 0);
    Derived 13 [(true, Saw 2 0 (Some 0))] [12];
    Given 14 (Reads 2 0 0);
    Derived 15 [(true, Lt true 0 true 2)] [13; 14];
    Given 16 (Cycle [(true, 2); (true, 1); (true, 3); (true, 0)]);
    Derived 17 [] [3; 7; 11; 15; 16]])
].
Definition answers : list answer := [
  Answer ReadCommitted true 0%nat;
  Answer ReadAtomic true 0%nat;
  Answer Causal true 0%nat;
  Answer Prefix false 1%nat;
  Answer SnapshotIsolation false 2%nat;
  Answer GeneralizedSI false 2%nat;
  Answer StrongSessionSI false 1%nat;
  Answer StrongSI false 1%nat;
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 4%nat;
  Answer StrictSerializable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 Prefix /\
  forall l, implies Prefix l = true -> l <> Prefix -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers Prefix decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End long_fork.

(* T1: r(x,0) w(x,1) · T2: r(x,0) w(x,2) *)
Module lost_update.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 - = 0";
  "O 1 0 w 1 -";
  "T 1 1 C 0 10000";
  "O 2 0 - = 0";
  "O 3 0 w 2 -"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, [None]);
    (1, [None])]);
  Proof Prefix true (ByOrder [0; 1; 0; 1]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [(true, Saw 0 0 None)] [0];
    Given 2 (Overwritten 0 0 None 1);
    Derived 3 [(true, Lt false 0 true 1)] [1; 2];
    Given 4 (NoOverlap 0 0 1);
    Given 5 (NoOverlap 0 1 0);
    Given 6 (Own 1);
    Given 7 (Cycle [(false, 0); (true, 1)]);
    Derived 8 [(true, Lt true 0 false 1)] [3; 4; 5];
    Given 9 (Candidates 1 0);
    Derived 10 [(true, Saw 1 0 None)] [9];
    Given 11 (Overwritten 1 0 None 0);
    Derived 12 [(false, Lt true 0 false 1)] [10; 11];
    Given 13 (Cycle [(true, 0); (false, 1)]);
    Derived 14 [] [8; 12]]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 0);
    Derived 3 [(false, Lt true 0 true 1)] [1; 2];
    Given 4 (Candidates 0 0);
    Derived 5 [(true, Saw 0 0 None)] [4];
    Given 6 (Overwritten 0 0 None 1);
    Derived 7 [(true, Lt true 0 true 1)] [5; 6];
    Given 8 (Cycle [(true, 1); (true, 0)]);
    Derived 9 [] [3; 7]]);
  Proof StrongSessionSerializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 0);
    Derived 3 [(false, Lt true 0 true 1)] [1; 2];
    Given 4 (Candidates 0 0);
    Derived 5 [(true, Saw 0 0 None)] [4];
    Given 6 (Overwritten 0 0 None 1);
    Derived 7 [(true, Lt true 0 true 1)] [5; 6];
    Given 8 (Cycle [(true, 1); (true, 0)]);
    Derived 9 [] [3; 7]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 0);
    Derived 3 [(false, Lt true 0 true 1)] [1; 2];
    Given 4 (Candidates 0 0);
    Derived 5 [(true, Saw 0 0 None)] [4];
    Given 6 (Overwritten 0 0 None 1);
    Derived 7 [(true, Lt true 0 true 1)] [5; 6];
    Given 8 (Cycle [(true, 1); (true, 0)]);
    Derived 9 [] [3; 7]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 0);
    Derived 3 [(false, Lt true 0 true 1)] [1; 2];
    Given 4 (Candidates 0 0);
    Derived 5 [(true, Saw 0 0 None)] [4];
    Given 6 (Overwritten 0 0 None 1);
    Derived 7 [(true, Lt true 0 true 1)] [5; 6];
    Given 8 (Cycle [(true, 1); (true, 0)]);
    Derived 9 [] [3; 7]])
].
Definition answers : list answer := [
  Answer ReadCommitted true 0%nat;
  Answer ReadAtomic true 0%nat;
  Answer Causal true 0%nat;
  Answer Prefix true 1%nat;
  Answer SnapshotIsolation false 2%nat;
  Answer GeneralizedSI false 2%nat;
  Answer StrongSessionSI false 2%nat;
  Answer StrongSI false 2%nat;
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 4%nat;
  Answer StrictSerializable false 5%nat;
  Answer Linearizable false 6%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 SnapshotIsolation /\
  forall l, implies SnapshotIsolation l = true -> l <> SnapshotIsolation -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers SnapshotIsolation decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End lost_update.

(* T1: r(x,0) r(y,0) w(x,1) · T2: r(x,0) r(y,0) w(y,1) *)
Module write_skew.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 - = 0";
  "O 1 1 - = 0";
  "O 2 0 w 1 -";
  "T 1 1 C 0 10000";
  "O 3 0 - = 0";
  "O 4 1 - = 0";
  "O 5 1 w 1 -"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, [None; None]);
    (1, [None; None])]);
  Proof Prefix true (ByOrder [0; 1; 0; 1]);
  Proof SnapshotIsolation true (ByOrder [0; 1; 0; 1]);
  Proof StrongSI true (ByOrder [0; 1; 0; 1]);
  Proof StrongSessionSI true (ByOrder [0; 1; 0; 1]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 0);
    Derived 3 [(false, Lt true 0 true 1)] [1; 2];
    Given 4 (Candidates 0 1);
    Derived 5 [(true, Saw 0 1 None)] [4];
    Given 6 (Overwritten 0 1 None 1);
    Derived 7 [(true, Lt true 0 true 1)] [5; 6];
    Given 8 (Cycle [(true, 1); (true, 0)]);
    Derived 9 [] [3; 7]]);
  Proof StrongSessionSerializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 0);
    Derived 3 [(false, Lt true 0 true 1)] [1; 2];
    Given 4 (Candidates 0 1);
    Derived 5 [(true, Saw 0 1 None)] [4];
    Given 6 (Overwritten 0 1 None 1);
    Derived 7 [(true, Lt true 0 true 1)] [5; 6];
    Given 8 (Cycle [(true, 1); (true, 0)]);
    Derived 9 [] [3; 7]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 0);
    Derived 3 [(false, Lt true 0 true 1)] [1; 2];
    Given 4 (Candidates 0 1);
    Derived 5 [(true, Saw 0 1 None)] [4];
    Given 6 (Overwritten 0 1 None 1);
    Derived 7 [(true, Lt true 0 true 1)] [5; 6];
    Given 8 (Cycle [(true, 1); (true, 0)]);
    Derived 9 [] [3; 7]])
].
Definition answers : list answer := [
  Answer ReadCommitted true 0%nat;
  Answer ReadAtomic true 0%nat;
  Answer Causal true 0%nat;
  Answer Prefix true 1%nat;
  Answer SnapshotIsolation true 2%nat;
  Answer GeneralizedSI true 3%nat;
  Answer StrongSessionSI true 4%nat;
  Answer StrongSI true 3%nat;
  Answer Serializable false 5%nat;
  Answer StrongSessionSerializable false 6%nat;
  Answer StrictSerializable false 7%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 Serializable /\
  forall l, implies Serializable l = true -> l <> Serializable -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers Serializable decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End write_skew.

(* T1: r(x,[1 2]) · T2: r(x,[2 1]) *)
Module incompatible_order.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 1152921504606846976";
  "T 0 0 C 0 10000";
  "O 0 0 - [ 1 2";
  "T 1 1 C 0 10000";
  "O 1 0 - [ 2 1";
  "T 2 2 C 0 10000";
  "O 2 0 a 1 -";
  "T 3 3 C 0 10000";
  "O 3 0 a 2 -"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (Conflict 1 0 0 0);
    Derived 1 [] [0]]);
  Proof Causal false (BySteps [
    Given 0 (Conflict 1 0 0 0);
    Derived 1 [] [0]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Conflict 1 0 0 0);
    Derived 1 [] [0]]);
  Proof Serializable false (BySteps [
    Given 0 (Conflict 1 0 0 0);
    Derived 1 [] [0]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Conflict 1 0 0 0);
    Derived 1 [] [0]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (Conflict 1 0 0 0);
    Derived 1 [] [0]])
].
Definition answers : list answer := [
  Answer ReadCommitted false 0%nat;
  Answer ReadAtomic false 0%nat;
  Answer Causal false 1%nat;
  Answer Prefix false 0%nat;
  Answer SnapshotIsolation false 2%nat;
  Answer GeneralizedSI false 2%nat;
  Answer StrongSessionSI false 0%nat;
  Answer StrongSI false 0%nat;
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 4%nat;
  Answer Linearizable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End incompatible_order.

(* T1: r(x,[1 1]) *)
Module duplicate_element.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 1152921504606846976";
  "T 0 0 C 0 10000";
  "O 0 0 - [ 1 1";
  "T 1 1 C 0 10000";
  "O 1 0 a 1 -"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (TooOften 0 0 1 []);
    Derived 1 [] [0]]);
  Proof Causal false (BySteps [
    Given 0 (TooOften 0 0 1 []);
    Derived 1 [] [0]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (TooOften 0 0 1 []);
    Derived 1 [] [0]]);
  Proof Serializable false (BySteps [
    Given 0 (TooOften 0 0 1 []);
    Derived 1 [] [0]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (TooOften 0 0 1 []);
    Derived 1 [] [0]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (TooOften 0 0 1 []);
    Derived 1 [] [0]])
].
Definition answers : list answer := [
  Answer ReadCommitted false 0%nat;
  Answer ReadAtomic false 0%nat;
  Answer Causal false 1%nat;
  Answer Prefix false 0%nat;
  Answer SnapshotIsolation false 2%nat;
  Answer GeneralizedSI false 2%nat;
  Answer StrongSessionSI false 0%nat;
  Answer StrongSI false 0%nat;
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 4%nat;
  Answer Linearizable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End duplicate_element.

(* T1: cas(x,0,1) fails *)
Module failed_compare_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 - ! 0"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]]);
  Proof Causal false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (Candidates 0 0);
    Derived 1 [] [0]])
].
Definition answers : list answer := [
  Answer ReadCommitted false 0%nat;
  Answer ReadAtomic false 0%nat;
  Answer Causal false 1%nat;
  Answer Prefix false 0%nat;
  Answer SnapshotIsolation false 2%nat;
  Answer GeneralizedSI false 2%nat;
  Answer StrongSessionSI false 0%nat;
  Answer StrongSI false 0%nat;
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 4%nat;
  Answer Linearizable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text 0 proofs answers.
End failed_compare_read.

(* T1@0-10: w(x,1) · T2@20-30: r(x,0) *)
Module stale_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10";
  "O 0 0 w 1 -";
  "T 1 1 C 20 30";
  "O 1 0 - = 0"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, []);
    (1, [None])]);
  Proof StrongSessionSerializable true (ByOrder [1; 0]);
  Proof GeneralizedSI true (ByOrder [1; 0; 0; 1]);
  Proof StrongSI false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 0);
    Derived 3 [(false, Lt true 0 false 1)] [1; 2];
    Given 4 (RealTime 0 1);
    Derived 5 [(true, Lt true 0 false 1)] [4];
    Given 6 (Cycle [(false, 1); (true, 0)]);
    Derived 7 [] [3; 5]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 0);
    Derived 3 [(false, Lt true 0 true 1)] [1; 2];
    Given 4 (RealTime 0 1);
    Derived 5 [(true, Lt true 0 true 1)] [4];
    Given 6 (Cycle [(true, 1); (true, 0)]);
    Derived 7 [] [3; 5]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 0);
    Derived 3 [(false, Lt true 0 true 1)] [1; 2];
    Given 4 (RealTime 0 1);
    Derived 5 [(true, Lt true 0 true 1)] [4];
    Given 6 (Cycle [(true, 1); (true, 0)]);
    Derived 7 [] [3; 5]])
].
Definition answers : list answer := [
  Answer ReadCommitted true 0%nat;
  Answer ReadAtomic true 0%nat;
  Answer Causal true 0%nat;
  Answer Prefix true 1%nat;
  Answer SnapshotIsolation true 1%nat;
  Answer GeneralizedSI true 2%nat;
  Answer StrongSessionSI true 1%nat;
  Answer StrongSI false 3%nat;
  Answer Serializable true 1%nat;
  Answer StrongSessionSerializable true 1%nat;
  Answer StrictSerializable false 4%nat;
  Answer Linearizable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Definition all := Example text 0 proofs answers.
End stale_read.

(* T1@0-10: w(x,1) · T2@20-30: w(y,1) · T3@0-40: r(y,1) r(x,0) *)
Module commits_not_in_real_time.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10";
  "O 0 0 w 1 -";
  "T 1 1 C 0 40";
  "O 2 1 - = 1";
  "O 3 0 - = 0";
  "T 2 2 C 20 30";
  "O 1 1 w 1 -"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, []);
    (2, []);
    (1, [(Some 2); None])]);
  Proof StrongSessionSerializable true (ByOrder [2; 1; 0]);
  Proof GeneralizedSI false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 (Some 2))] [0];
    Given 2 (Reads 1 0 2);
    Derived 3 [(false, Lt false 1 true 2)] [1; 2];
    Given 4 (Candidates 1 1);
    Derived 5 [(true, Saw 1 1 None)] [4];
    Given 6 (Overwritten 1 1 None 0);
    Derived 7 [(false, Lt true 0 false 1)] [5; 6];
    Given 8 (RealTime 0 2);
    Derived 9 [(true, Lt true 0 true 2)] [8];
    Given 10 (Cycle [(true, 2); (false, 1); (true, 0)]);
    Derived 11 [] [3; 7; 9; 10]]);
  Proof StrongSI false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 (Some 2))] [0];
    Given 2 (Reads 1 0 2);
    Derived 3 [(false, Lt false 1 true 2)] [1; 2];
    Given 4 (Candidates 1 1);
    Derived 5 [(true, Saw 1 1 None)] [4];
    Given 6 (Overwritten 1 1 None 0);
    Derived 7 [(false, Lt true 0 false 1)] [5; 6];
    Given 8 (RealTime 0 2);
    Derived 9 [(true, Lt true 0 false 2)] [8];
    Given 10 (Own 2);
    Derived 11 [(true, Lt false 2 true 2)] [10];
    Given 12 (Cycle [(true, 2); (false, 1); (true, 0); (false, 2)]);
    Derived 13 [] [3; 7; 9; 11; 12]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 (Some 2))] [0];
    Given 2 (Reads 1 0 2);
    Derived 3 [(false, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 1 1);
    Derived 5 [(true, Saw 1 1 None)] [4];
    Given 6 (Overwritten 1 1 None 0);
    Derived 7 [(false, Lt true 0 true 1)] [5; 6];
    Given 8 (RealTime 0 2);
    Derived 9 [(true, Lt true 0 true 2)] [8];
    Given 10 (Cycle [(true, 2); (true, 1); (true, 0)]);
    Derived 11 [] [3; 7; 9; 10]])
].
Definition answers : list answer := [
  Answer ReadCommitted true 0%nat;
  Answer ReadAtomic true 0%nat;
  Answer Causal true 0%nat;
  Answer Prefix true 1%nat;
  Answer SnapshotIsolation true 1%nat;
  Answer GeneralizedSI false 2%nat;
  Answer StrongSessionSI true 1%nat;
  Answer StrongSI false 3%nat;
  Answer Serializable true 1%nat;
  Answer StrongSessionSerializable true 1%nat;
  Answer StrictSerializable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Definition all := Example text 0 proofs answers.
End commits_not_in_real_time.

(* T1@0-10: r(x,1), then T2@20-30: w(x,1) *)
Module read_of_the_sessions_future.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10";
  "O 0 0 - = 1";
  "T 1 0 C 20 30";
  "O 1 0 w 1 -"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [(true, Saw 0 0 (Some 1))] [0];
    Given 2 (Reads 0 0 1);
    Derived 3 [(false, Lt true 0 true 1)] [1; 2];
    Given 4 (Session 0 1);
    Derived 5 [(true, Lt true 0 true 1)] [4];
    Given 6 (Cycle [(true, 1); (true, 0)]);
    Derived 7 [] [3; 5]]);
  Proof Serializable true (ByOrder [1; 0]);
  Proof GeneralizedSI true (ByOrder [1; 1; 0; 0]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (Candidates 0 0);
    Derived 1 [(true, Saw 0 0 (Some 1))] [0];
    Given 2 (Reads 0 0 1);
    Derived 3 [(false, Lt true 0 true 1)] [1; 2];
    Given 4 (Session 0 1);
    Derived 5 [(true, Lt true 0 true 1)] [4];
    Given 6 (Cycle [(true, 1); (true, 0)]);
    Derived 7 [] [3; 5]])
].
Definition answers : list answer := [
  Answer ReadCommitted false 0%nat;
  Answer ReadAtomic false 0%nat;
  Answer Causal false 0%nat;
  Answer Prefix false 0%nat;
  Answer SnapshotIsolation true 1%nat;
  Answer GeneralizedSI true 2%nat;
  Answer StrongSessionSI false 0%nat;
  Answer StrongSI false 0%nat;
  Answer Serializable true 1%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 0%nat;
  Answer Linearizable false 3%nat
].

Lemma decided : decides text 50 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Definition all := Example text 50 proofs answers.
End read_of_the_sessions_future.

Definition examples : list example :=
  [thin_air_read.all;
   aborted_read.all;
   future_read.all;
   not_my_last_write.all;
   not_my_own_write.all;
   intermediate_read.all;
   non_repeatable_read.all;
   non_monotonic_read.all;
   session_guarantee_violation.all;
   fractured_read.all;
   causality_violation.all;
   long_fork.all;
   lost_update.all;
   write_skew.all;
   incompatible_order.all;
   duplicate_element.all;
   failed_compare_read.all;
   stale_read.all;
   commits_not_in_real_time.all;
   read_of_the_sessions_future.all].
Lemma all_decided : Forall decided_example examples.
Proof.
  constructor; [exact thin_air_read.decided|].
  constructor; [exact aborted_read.decided|].
  constructor; [exact future_read.decided|].
  constructor; [exact not_my_last_write.decided|].
  constructor; [exact not_my_own_write.decided|].
  constructor; [exact intermediate_read.decided|].
  constructor; [exact non_repeatable_read.decided|].
  constructor; [exact non_monotonic_read.decided|].
  constructor; [exact session_guarantee_violation.decided|].
  constructor; [exact fractured_read.decided|].
  constructor; [exact causality_violation.decided|].
  constructor; [exact long_fork.decided|].
  constructor; [exact lost_update.decided|].
  constructor; [exact write_skew.decided|].
  constructor; [exact incompatible_order.decided|].
  constructor; [exact duplicate_element.decided|].
  constructor; [exact failed_compare_read.decided|].
  constructor; [exact stale_read.decided|].
  constructor; [exact commits_not_in_real_time.decided|].
  constructor; [exact read_of_the_sessions_future.decided|].
  constructor.
Qed.

(* No implication holds but those of the ladder. *)
Theorem ladder_is_strict : forall a b, a <> Linearizable -> b <> Linearizable ->
  implies a b = false -> exists h drift, satisfies h drift a /\ violates h drift b.
Proof. apply (separated_sound examples all_decided). vm_compute. reflexivity. Qed.
