(* The smallest history of each anomaly in the tables of docs/anomalies.md violates the level
   that the page says, and no weaker one ([weakest_level]). The smallest example that `cupel
   explain` has of each violates the levels that it says forbid it, and of the others those
   that it says ([as_explained]). And no two levels imply each other but as Ladder.v has it.
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
  "# session 0 is 0";
  "# transaction 0 is T1";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text proofs answers.
End thin_air_read.

(* T1: w(x,1) aborted · T2: r(x,1) *)
Module aborted_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text proofs answers.
End aborted_read.

(* T1: r(x,1) w(x,1) *)
Module future_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# transaction 0 is T1";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text proofs answers.
End future_read.

(* T1: w(x,1) w(x,2) r(x,1) *)
Module not_my_last_write.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# transaction 0 is T1";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text proofs answers.
End not_my_last_write.

(* T1: w(x,1) r(x,0) *)
Module not_my_own_write.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# transaction 0 is T1";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text proofs answers.
End not_my_own_write.

(* T1: w(x,1) w(x,2) · T2: r(x,1) *)
Module intermediate_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text proofs answers.
End intermediate_read.

(* T1: w(x,1) · T2: r(x,0) r(x,1) *)
Module non_repeatable_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
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
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 1%nat;
  Answer StrictSerializable false 4%nat;
  Answer Linearizable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadAtomic /\
  forall l, implies ReadAtomic l = true -> l <> ReadAtomic -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadAtomic decided eq_refl). Qed.
Definition all := Example text proofs answers.
End non_repeatable_read.

(* T1: w(x,1), then T2: w(x,2) w(y,2) · T3: r(y,2) r(x,1) *)
Module non_monotonic_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T4";
  "# transaction 2 is T5";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 1000";
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
  Proof SnapshotIsolation true (ByOrder [1; 1; 0; 0; 2; 2]);
  Proof GeneralizedSI true (ByOrder [1; 1; 0; 0; 2; 2]);
  Proof Serializable true (ByOrder [1; 0; 2])
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
  Answer Serializable true 3%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 0%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text proofs answers.
End non_monotonic_read.

(* T1: w(x,1), then in its session T2: r(x,0) *)
Module session_guarantee_violation.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# transaction 0 is T1";
  "# transaction 1 is T3";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 1000";
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
  Proof SnapshotIsolation true (ByOrder [1; 1; 0; 0]);
  Proof GeneralizedSI true (ByOrder [1; 1; 0; 0]);
  Proof Serializable true (ByOrder [1; 0]);
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
  Answer Serializable true 4%nat;
  Answer StrongSessionSerializable false 1%nat;
  Answer StrictSerializable false 1%nat;
  Answer Linearizable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadAtomic /\
  forall l, implies ReadAtomic l = true -> l <> ReadAtomic -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadAtomic decided eq_refl). Qed.
Definition all := Example text proofs answers.
End session_guarantee_violation.

(* T1: w(x,1) w(y,1) · T2: r(y,0) r(x,1) *)
Module fractured_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 1%nat;
  Answer StrictSerializable false 1%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadAtomic /\
  forall l, implies ReadAtomic l = true -> l <> ReadAtomic -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadAtomic decided eq_refl). Qed.
Definition all := Example text proofs answers.
End fractured_read.

(* T1: w(x,1) · T2: r(x,1) w(y,1) · T3: r(y,1) r(x,0) *)
Module causality_violation.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# session 0 is 0";
  "# session 1 is 1";
  "# session 2 is 2";
  "# transaction 0 is T3";
  "# transaction 1 is T4";
  "# transaction 2 is T5";
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
    Derived 15 [] [3; 7; 11; 13; 14]])
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
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 2%nat;
  Answer StrictSerializable false 2%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 Causal /\
  forall l, implies Causal l = true -> l <> Causal -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers Causal decided eq_refl). Qed.
Definition all := Example text proofs answers.
End causality_violation.

(* T1: w(x,1) · T2: w(y,1) · T3: r(x,1) r(y,0) · T4: r(x,0) r(y,1) *)
Module long_fork.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# session 0 is 0";
  "# session 1 is 1";
  "# session 2 is 2";
  "# session 3 is 3";
  "# transaction 0 is T4";
  "# transaction 1 is T5";
  "# transaction 2 is T6";
  "# transaction 3 is T7";
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
Definition all := Example text proofs answers.
End long_fork.

(* T1: r(x,0) w(x,1) · T2: r(x,0) w(x,2) *)
Module lost_update.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
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
Definition all := Example text proofs answers.
End lost_update.

(* T1: r(x,0) r(y,0) w(x,1) · T2: r(x,0) r(y,0) w(y,1) *)
Module write_skew.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
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
Definition all := Example text proofs answers.
End write_skew.

(* T1: r(x,[1 2]) · T2: r(x,[2 1]) *)
Module incompatible_order.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# session 2 is 2";
  "# session 3 is 3";
  "# transaction 0 is T4";
  "# transaction 1 is T5";
  "# transaction 2 is T6";
  "# transaction 3 is T7";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text proofs answers.
End incompatible_order.

(* T1: r(x,[1 1]) *)
Module duplicate_element.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text proofs answers.
End duplicate_element.

(* T1: cas(x,0,1) fails *)
Module failed_compare_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# transaction 0 is T1";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem weakest_level : exists h, read text = Some h /\
  violates h 0 ReadCommitted /\
  forall l, implies ReadCommitted l = true -> l <> ReadCommitted -> satisfies h 0 l.
Proof. exact (weakest_sound text 0 proofs answers ReadCommitted decided eq_refl). Qed.
Definition all := Example text proofs answers.
End failed_compare_read.

(* T1: r(x,7) *)
Module example_thin_air_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# transaction 0 is T1";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] [] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_thin_air_read.

(* T1: w(x,1) aborted · T2: r(x,1) *)
Module example_aborted_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] [] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_aborted_read.

(* T1: r(x,1) w(x,1) *)
Module example_future_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# transaction 0 is T1";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] [] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_future_read.

(* T1: w(x,1) w(x,2) r(x,1) *)
Module example_not_my_last_write.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# transaction 0 is T1";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] [] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_not_my_last_write.

(* T1: w(x,1) · T2: w(x,2) r(x,1) *)
Module example_not_my_own_write.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 w 1 -";
  "T 1 1 C 0 10000";
  "O 1 0 w 2 -";
  "O 2 0 - = 1"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (Mismatch 1 1);
    Derived 1 [] [0]]);
  Proof Causal false (BySteps [
    Given 0 (Mismatch 1 1);
    Derived 1 [] [0]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Mismatch 1 1);
    Derived 1 [] [0]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Mismatch 1 1);
    Derived 1 [] [0]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (Mismatch 1 1);
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] [] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_not_my_own_write.

(* T1: w(x,1) w(x,2) · T2: r(x,1) *)
Module example_intermediate_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] [] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_intermediate_read.

(* T1: w(x,1) · T2: r(x,0) r(x,1) *)
Module example_non_repeatable_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
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
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 1%nat;
  Answer StrictSerializable false 4%nat;
  Answer Linearizable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] [ReadCommitted] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_non_repeatable_read.

(* T1: w(x,1), then T2: r(x,0) *)
Module example_session_guarantee_violation.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# transaction 0 is T1";
  "# transaction 1 is T3";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 1000";
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
  Proof SnapshotIsolation true (ByOrder [1; 1; 0; 0]);
  Proof GeneralizedSI true (ByOrder [1; 1; 0; 0]);
  Proof Serializable true (ByOrder [1; 0]);
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
  Answer Serializable true 4%nat;
  Answer StrongSessionSerializable false 1%nat;
  Answer StrictSerializable false 1%nat;
  Answer Linearizable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadAtomic; Causal; Prefix; StrongSessionSI; StrongSI; StrongSessionSerializable; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted; SnapshotIsolation; GeneralizedSI; Serializable] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadAtomic; Causal; Prefix; StrongSessionSI; StrongSI; StrongSessionSerializable; StrictSerializable; Linearizable] [ReadCommitted; SnapshotIsolation; GeneralizedSI; Serializable] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_session_guarantee_violation.

(* T1: w(x,1), then T2: w(x,2) w(y,2) · T3: r(y,2) r(x,1) *)
Module example_non_monotonic_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T4";
  "# transaction 2 is T5";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 1000";
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
  Proof SnapshotIsolation true (ByOrder [1; 1; 0; 0; 2; 2]);
  Proof GeneralizedSI true (ByOrder [1; 1; 0; 0; 2; 2]);
  Proof Serializable true (ByOrder [1; 0; 2])
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
  Answer Serializable true 3%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 0%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; StrongSessionSI; StrongSI; StrongSessionSerializable; StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [SnapshotIsolation; GeneralizedSI; Serializable] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadCommitted; ReadAtomic; Causal; Prefix; StrongSessionSI; StrongSI; StrongSessionSerializable; StrictSerializable] [SnapshotIsolation; GeneralizedSI; Serializable] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_non_monotonic_read.

(* T1: w(x,1) w(y,1) · T2: r(x,0) r(y,1) *)
Module example_fractured_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 w 1 -";
  "O 1 1 w 1 -";
  "T 1 1 C 0 10000";
  "O 2 0 - = 0";
  "O 3 1 - = 1"
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 1%nat;
  Answer StrictSerializable false 1%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable] [ReadCommitted] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_fractured_read.

(* T1: w(x,1) · T2: r(x,1) w(y,1) · T3: r(y,1) r(x,0) *)
Module example_causality_violation.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# session 0 is 0";
  "# session 1 is 1";
  "# session 2 is 2";
  "# transaction 0 is T3";
  "# transaction 1 is T4";
  "# transaction 2 is T5";
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
    Derived 15 [] [3; 7; 11; 13; 14]])
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
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 2%nat;
  Answer StrictSerializable false 2%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted; ReadAtomic] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable] [ReadCommitted; ReadAtomic] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_causality_violation.

(* T1: w(x,1) · T2: w(y,1) · T3: r(x,1) r(y,0) · T4: r(x,0) r(y,1) *)
Module example_long_fork.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# session 0 is 0";
  "# session 1 is 1";
  "# session 2 is 2";
  "# session 3 is 3";
  "# transaction 0 is T4";
  "# transaction 1 is T5";
  "# transaction 2 is T6";
  "# transaction 3 is T7";
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
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable] [ReadCommitted; ReadAtomic; Causal] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_long_fork.

(* T1: r(x,0) w(x,1) · T2: r(x,0) w(x,2) *)
Module example_lost_update.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
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
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] [ReadCommitted; ReadAtomic; Causal; Prefix] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_lost_update.

(* T1: r(x,0) w(y,1) · T2: r(y,0) w(x,1) *)
Module example_write_skew.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 - = 0";
  "O 1 1 w 1 -";
  "T 1 1 C 0 10000";
  "O 2 1 - = 0";
  "O 3 0 w 1 -"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, [None]);
    (1, [None])]);
  Proof Prefix true (ByOrder [0; 1; 0; 1]);
  Proof SnapshotIsolation true (ByOrder [0; 1; 0; 1]);
  Proof StrongSI true (ByOrder [0; 1; 0; 1]);
  Proof StrongSessionSI true (ByOrder [0; 1; 0; 1]);
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
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [Serializable; StrongSessionSerializable; StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [Serializable; StrongSessionSerializable; StrictSerializable] [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_write_skew.

(* T1: append(x,1) · T2: append(x,2) · T3: r(x,[1 2]) · T4: r(x,[2 1]) *)
Module example_incompatible_order.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# session 2 is 2";
  "# session 3 is 3";
  "# transaction 0 is T4";
  "# transaction 1 is T5";
  "# transaction 2 is T6";
  "# transaction 3 is T7";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 1152921504606846976";
  "T 0 0 C 0 10000";
  "O 0 0 a 1 -";
  "T 1 1 C 0 10000";
  "O 1 0 a 2 -";
  "T 2 2 C 0 10000";
  "O 2 0 - [ 1 2";
  "T 3 3 C 0 10000";
  "O 3 0 - [ 2 1"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (Conflict 3 0 2 0);
    Derived 1 [] [0]]);
  Proof Causal false (BySteps [
    Given 0 (Conflict 3 0 2 0);
    Derived 1 [] [0]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Conflict 3 0 2 0);
    Derived 1 [] [0]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Conflict 3 0 2 0);
    Derived 1 [] [0]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (Conflict 3 0 2 0);
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] [] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_incompatible_order.

(* T1: append(x,1) · T2: r(x,[1 1]) *)
Module example_duplicate_element.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 1152921504606846976";
  "T 0 0 C 0 10000";
  "O 0 0 a 1 -";
  "T 1 1 C 0 10000";
  "O 1 0 - [ 1 1"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (TooOften 1 0 1 []);
    Derived 1 [] [0]]);
  Proof Causal false (BySteps [
    Given 0 (TooOften 1 0 1 []);
    Derived 1 [] [0]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (TooOften 1 0 1 []);
    Derived 1 [] [0]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (TooOften 1 0 1 []);
    Derived 1 [] [0]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (TooOften 1 0 1 []);
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] [] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_duplicate_element.

(* T1: cas(x,0,1) fails *)
Module example_failed_compare_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# transaction 0 is T1";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] [] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_failed_compare_read.

(* T1: append(x,1) append(y,1) · T2: append(x,2) append(y,2) · T3: r(x,[1 2]) r(y,[2 1]) *)
Module example_G0.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# session 0 is 0";
  "# session 1 is 1";
  "# session 2 is 2";
  "# transaction 0 is T3";
  "# transaction 1 is T4";
  "# transaction 2 is T5";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 1152921504606846976";
  "T 0 0 C 0 10000";
  "O 0 0 a 1 -";
  "O 1 1 a 1 -";
  "T 1 1 C 0 10000";
  "O 2 0 a 2 -";
  "O 3 1 a 2 -";
  "T 2 2 C 0 10000";
  "O 4 0 - [ 1 2";
  "O 5 1 - [ 2 1"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (ListOrder 2 1 1 2 0 1);
    Derived 1 [(false, Lt true 0 true 1)] [0];
    Given 2 (ListOrder 2 0 0 1 1 2);
    Derived 3 [(true, Lt true 0 true 1)] [2];
    Given 4 (Cycle [(true, 1); (true, 0)]);
    Derived 5 [] [1; 3]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (NoOverlap 0 0 1);
    Given 1 (NoOverlap 0 1 0);
    Given 2 (Own 1);
    Given 3 (ListOrder 2 0 0 1 1 2);
    Derived 4 [(true, Lt true 0 false 1)] [3; 0];
    Given 5 (Own 1);
    Derived 6 [(true, Lt false 1 true 1)] [5];
    Given 7 (NoOverlap 1 1 0);
    Given 8 (NoOverlap 1 0 1);
    Given 9 (Own 0);
    Given 10 (ListOrder 2 1 1 2 0 1);
    Derived 11 [(false, Lt false 0 true 1)] [10; 7];
    Given 12 (Own 0);
    Derived 13 [(true, Lt false 0 true 0)] [12];
    Given 14 (Cycle [(true, 0); (false, 1); (true, 1); (false, 0)]);
    Derived 15 [] [4; 6; 11; 13; 14]])
].
Definition answers : list answer := [
  Answer ReadCommitted false 0%nat;
  Answer ReadAtomic false 0%nat;
  Answer Causal false 0%nat;
  Answer Prefix false 0%nat;
  Answer SnapshotIsolation false 1%nat;
  Answer GeneralizedSI false 1%nat;
  Answer StrongSessionSI false 0%nat;
  Answer StrongSI false 0%nat;
  Answer Serializable false 1%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 0%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable] [] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G0.

(* T1: w(x,1) aborted · T2: r(x,1) *)
Module example_G1a.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] [] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G1a.

(* T1: w(x,1) w(x,2) · T2: r(x,1) *)
Module example_G1b.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
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
  Answer Serializable false 2%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 3%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable] [] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G1b.

(* T1: r(x,1) w(y,1) · T2: r(y,1) w(x,1) *)
Module example_G1c.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T3";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 - = 1";
  "O 1 1 w 1 -";
  "T 1 1 C 0 10000";
  "O 2 1 - = 1";
  "O 3 0 w 1 -"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [(true, Saw 0 0 (Some 1))] [0];
    Given 2 (Reads 0 0 1);
    Derived 3 [(false, Lt true 0 true 1)] [1; 2];
    Given 4 (Candidates 1 0);
    Derived 5 [(true, Saw 1 0 (Some 0))] [4];
    Given 6 (Reads 1 0 0);
    Derived 7 [(true, Lt true 0 true 1)] [5; 6];
    Given 8 (Cycle [(true, 1); (true, 0)]);
    Derived 9 [] [3; 7]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 (Some 0))] [0];
    Given 2 (Reads 1 0 0);
    Derived 3 [(true, Lt true 0 false 1)] [1; 2];
    Given 4 (Own 1);
    Derived 5 [(true, Lt false 1 true 1)] [4];
    Given 6 (Candidates 0 0);
    Derived 7 [(true, Saw 0 0 (Some 1))] [6];
    Given 8 (Reads 0 0 1);
    Derived 9 [(false, Lt false 0 true 1)] [7; 8];
    Given 10 (Own 0);
    Derived 11 [(true, Lt false 0 true 0)] [10];
    Given 12 (Cycle [(true, 0); (false, 1); (true, 1); (false, 0)]);
    Derived 13 [] [3; 5; 9; 11; 12]])
].
Definition answers : list answer := [
  Answer ReadCommitted false 0%nat;
  Answer ReadAtomic false 0%nat;
  Answer Causal false 0%nat;
  Answer Prefix false 0%nat;
  Answer SnapshotIsolation false 1%nat;
  Answer GeneralizedSI false 1%nat;
  Answer StrongSessionSI false 0%nat;
  Answer StrongSI false 0%nat;
  Answer Serializable false 1%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 0%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable] [] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G1c.

(* T1: append(x,1) append(z,1) · T2: append(z,2) append(y,2) · T3: r(y,[2]) r(x,[]) · T4: r(z,[1 2]) *)
Module example_G_single.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is z";
  "# key 2 is y";
  "# session 0 is 0";
  "# session 1 is 1";
  "# session 2 is 2";
  "# session 3 is 3";
  "# transaction 0 is T4";
  "# transaction 1 is T5";
  "# transaction 2 is T6";
  "# transaction 3 is T7";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 1152921504606846976";
  "T 0 0 C 0 10000";
  "O 0 0 a 1 -";
  "O 1 1 a 1 -";
  "T 1 1 C 0 10000";
  "O 2 1 a 2 -";
  "O 3 2 a 2 -";
  "T 2 2 C 0 10000";
  "O 4 2 - [ 2";
  "O 5 0 - [";
  "T 3 3 C 0 10000";
  "O 6 1 - [ 1 2"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, []);
    (1, []);
    (2, [(Some 1); None]);
    (3, [(Some 1)])]);
  Proof Prefix false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 (Some 1))] [0];
    Given 2 (Reads 2 0 1);
    Derived 3 [(true, Lt true 1 false 2)] [1; 2];
    Given 4 (Candidates 2 1);
    Derived 5 [(true, Saw 2 1 None)] [4];
    Given 6 (Overwritten 2 1 None 0);
    Derived 7 [(false, Lt true 0 false 2)] [5; 6];
    Given 8 (ListOrder 3 0 0 1 1 2);
    Derived 9 [(true, Lt true 0 true 1)] [8];
    Given 10 (Cycle [(true, 1); (false, 2); (true, 0)]);
    Derived 11 [] [3; 7; 9; 10]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 (Some 1))] [0];
    Given 2 (Reads 2 0 1);
    Derived 3 [(true, Lt true 1 false 2)] [1; 2];
    Given 4 (Candidates 2 1);
    Derived 5 [(true, Saw 2 1 None)] [4];
    Given 6 (Overwritten 2 1 None 0);
    Derived 7 [(false, Lt true 0 false 2)] [5; 6];
    Given 8 (NoOverlap 1 0 1);
    Given 9 (NoOverlap 1 1 0);
    Given 10 (Own 1);
    Given 11 (ListOrder 3 0 0 1 1 2);
    Derived 12 [(true, Lt true 0 false 1)] [11; 8];
    Given 13 (Own 1);
    Derived 14 [(true, Lt false 1 true 1)] [13];
    Given 15 (Cycle [(true, 1); (false, 2); (true, 0); (false, 1)]);
    Derived 16 [] [3; 7; 12; 14; 15]]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 (Some 1))] [0];
    Given 2 (Reads 2 0 1);
    Derived 3 [(true, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 2 1);
    Derived 5 [(true, Saw 2 1 None)] [4];
    Given 6 (Overwritten 2 1 None 0);
    Derived 7 [(false, Lt true 0 true 2)] [5; 6];
    Given 8 (ListOrder 3 0 0 1 1 2);
    Derived 9 [(true, Lt true 0 true 1)] [8];
    Given 10 (Cycle [(true, 1); (true, 2); (true, 0)]);
    Derived 11 [] [3; 7; 9; 10]]);
  Proof StrongSessionSerializable false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 (Some 1))] [0];
    Given 2 (Reads 2 0 1);
    Derived 3 [(true, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 2 1);
    Derived 5 [(true, Saw 2 1 None)] [4];
    Given 6 (Overwritten 2 1 None 0);
    Derived 7 [(false, Lt true 0 true 2)] [5; 6];
    Given 8 (ListOrder 3 0 0 1 1 2);
    Derived 9 [(true, Lt true 0 true 1)] [8];
    Given 10 (Cycle [(true, 1); (true, 2); (true, 0)]);
    Derived 11 [] [3; 7; 9; 10]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 (Some 1))] [0];
    Given 2 (Reads 2 0 1);
    Derived 3 [(true, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 2 1);
    Derived 5 [(true, Saw 2 1 None)] [4];
    Given 6 (Overwritten 2 1 None 0);
    Derived 7 [(false, Lt true 0 true 2)] [5; 6];
    Given 8 (ListOrder 3 0 0 1 1 2);
    Derived 9 [(true, Lt true 0 true 1)] [8];
    Given 10 (Cycle [(true, 1); (true, 2); (true, 0)]);
    Derived 11 [] [3; 7; 9; 10]])
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
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable] [ReadCommitted; ReadAtomic; Causal] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G_single.

(* T1: append(x,1) append(z,1) · T2: append(z,2) append(y,2) · T3: r(y,[2]) r(w,[]) · T4: append(w,3) · T5: r(w,[3]) r(x,[]) · T6: r(z,[1 2]) *)
Module example_G_nonadjacent.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is z";
  "# key 2 is y";
  "# key 3 is w";
  "# session 0 is 0";
  "# session 1 is 1";
  "# session 2 is 2";
  "# session 3 is 3";
  "# session 4 is 4";
  "# session 5 is 5";
  "# transaction 0 is T6";
  "# transaction 1 is T7";
  "# transaction 2 is T8";
  "# transaction 3 is T9";
  "# transaction 4 is T10";
  "# transaction 5 is T11";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 1152921504606846976";
  "T 0 0 C 0 10000";
  "O 0 0 a 1 -";
  "O 1 1 a 1 -";
  "T 1 1 C 0 10000";
  "O 2 1 a 2 -";
  "O 3 2 a 2 -";
  "T 2 2 C 0 10000";
  "O 4 2 - [ 2";
  "O 5 3 - [";
  "T 3 3 C 0 10000";
  "O 6 3 a 3 -";
  "T 4 4 C 0 10000";
  "O 7 3 - [ 3";
  "O 8 0 - [";
  "T 5 5 C 0 10000";
  "O 9 1 - [ 1 2"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, []);
    (1, []);
    (2, [(Some 1); None]);
    (3, []);
    (4, [(Some 3); None]);
    (5, [(Some 1)])]);
  Proof Prefix false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 (Some 1))] [0];
    Given 2 (Reads 2 0 1);
    Derived 3 [(true, Lt true 1 false 2)] [1; 2];
    Given 4 (Candidates 2 1);
    Derived 5 [(true, Saw 2 1 None)] [4];
    Given 6 (Overwritten 2 1 None 3);
    Derived 7 [(true, Lt false 2 true 3)] [5; 6];
    Given 8 (Candidates 4 0);
    Derived 9 [(true, Saw 4 0 (Some 3))] [8];
    Given 10 (Reads 4 0 3);
    Derived 11 [(true, Lt true 3 false 4)] [9; 10];
    Given 12 (Candidates 4 1);
    Derived 13 [(true, Saw 4 1 None)] [12];
    Given 14 (Overwritten 4 1 None 0);
    Derived 15 [(false, Lt true 0 false 4)] [13; 14];
    Given 16 (ListOrder 5 0 0 1 1 2);
    Derived 17 [(true, Lt true 0 true 1)] [16];
    Given 18 (Cycle [(true, 1); (false, 2); (true, 3); (false, 4); (true, 0)]);
    Derived 19 [] [3; 7; 11; 15; 17; 18]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 (Some 1))] [0];
    Given 2 (Reads 2 0 1);
    Derived 3 [(true, Lt true 1 false 2)] [1; 2];
    Given 4 (Candidates 2 1);
    Derived 5 [(true, Saw 2 1 None)] [4];
    Given 6 (Overwritten 2 1 None 3);
    Derived 7 [(true, Lt false 2 true 3)] [5; 6];
    Given 8 (Candidates 4 0);
    Derived 9 [(true, Saw 4 0 (Some 3))] [8];
    Given 10 (Reads 4 0 3);
    Derived 11 [(true, Lt true 3 false 4)] [9; 10];
    Given 12 (Candidates 4 1);
    Derived 13 [(true, Saw 4 1 None)] [12];
    Given 14 (Overwritten 4 1 None 0);
    Derived 15 [(false, Lt true 0 false 4)] [13; 14];
    Given 16 (NoOverlap 1 0 1);
    Given 17 (NoOverlap 1 1 0);
    Given 18 (Own 1);
    Given 19 (ListOrder 5 0 0 1 1 2);
    Derived 20 [(true, Lt true 0 false 1)] [19; 16];
    Given 21 (Own 1);
    Derived 22 [(true, Lt false 1 true 1)] [21];
    Given 23 (Cycle [(true, 1); (false, 2); (true, 3); (false, 4); (true, 0); (false, 1)]);
    Derived 24 [] [3; 7; 11; 15; 20; 22; 23]]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 (Some 1))] [0];
    Given 2 (Reads 2 0 1);
    Derived 3 [(true, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 2 1);
    Derived 5 [(true, Saw 2 1 None)] [4];
    Given 6 (Overwritten 2 1 None 3);
    Derived 7 [(true, Lt true 2 true 3)] [5; 6];
    Given 8 (Candidates 4 0);
    Derived 9 [(true, Saw 4 0 (Some 3))] [8];
    Given 10 (Reads 4 0 3);
    Derived 11 [(true, Lt true 3 true 4)] [9; 10];
    Given 12 (Candidates 4 1);
    Derived 13 [(true, Saw 4 1 None)] [12];
    Given 14 (Overwritten 4 1 None 0);
    Derived 15 [(false, Lt true 0 true 4)] [13; 14];
    Given 16 (ListOrder 5 0 0 1 1 2);
    Derived 17 [(true, Lt true 0 true 1)] [16];
    Given 18 (Cycle [(true, 1); (true, 2); (true, 3); (true, 4); (true, 0)]);
    Derived 19 [] [3; 7; 11; 15; 17; 18]]);
  Proof StrongSessionSerializable false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 (Some 1))] [0];
    Given 2 (Reads 2 0 1);
    Derived 3 [(true, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 2 1);
    Derived 5 [(true, Saw 2 1 None)] [4];
    Given 6 (Overwritten 2 1 None 3);
    Derived 7 [(true, Lt true 2 true 3)] [5; 6];
    Given 8 (Candidates 4 0);
    Derived 9 [(true, Saw 4 0 (Some 3))] [8];
    Given 10 (Reads 4 0 3);
    Derived 11 [(true, Lt true 3 true 4)] [9; 10];
    Given 12 (Candidates 4 1);
    Derived 13 [(true, Saw 4 1 None)] [12];
    Given 14 (Overwritten 4 1 None 0);
    Derived 15 [(false, Lt true 0 true 4)] [13; 14];
    Given 16 (ListOrder 5 0 0 1 1 2);
    Derived 17 [(true, Lt true 0 true 1)] [16];
    Given 18 (Cycle [(true, 1); (true, 2); (true, 3); (true, 4); (true, 0)]);
    Derived 19 [] [3; 7; 11; 15; 17; 18]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 (Some 1))] [0];
    Given 2 (Reads 2 0 1);
    Derived 3 [(true, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 2 1);
    Derived 5 [(true, Saw 2 1 None)] [4];
    Given 6 (Overwritten 2 1 None 3);
    Derived 7 [(true, Lt true 2 true 3)] [5; 6];
    Given 8 (Candidates 4 0);
    Derived 9 [(true, Saw 4 0 (Some 3))] [8];
    Given 10 (Reads 4 0 3);
    Derived 11 [(true, Lt true 3 true 4)] [9; 10];
    Given 12 (Candidates 4 1);
    Derived 13 [(true, Saw 4 1 None)] [12];
    Given 14 (Overwritten 4 1 None 0);
    Derived 15 [(false, Lt true 0 true 4)] [13; 14];
    Given 16 (ListOrder 5 0 0 1 1 2);
    Derived 17 [(true, Lt true 0 true 1)] [16];
    Given 18 (Cycle [(true, 1); (true, 2); (true, 3); (true, 4); (true, 0)]);
    Derived 19 [] [3; 7; 11; 15; 17; 18]])
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
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable; StrictSerializable] [ReadCommitted; ReadAtomic; Causal] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G_nonadjacent.

(* T1: r(x,0) w(y,1) · T2: r(y,0) w(z,1) · T3: r(z,0) w(x,1) *)
Module example_G2_item.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# key 2 is z";
  "# session 0 is 0";
  "# session 1 is 1";
  "# session 2 is 2";
  "# transaction 0 is T3";
  "# transaction 1 is T4";
  "# transaction 2 is T5";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10000";
  "O 0 0 - = 0";
  "O 1 1 w 1 -";
  "T 1 1 C 0 10000";
  "O 2 1 - = 0";
  "O 3 2 w 1 -";
  "T 2 2 C 0 10000";
  "O 4 2 - = 0";
  "O 5 0 w 1 -"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, [None]);
    (1, [None]);
    (2, [None])]);
  Proof Prefix true (ByOrder [0; 1; 2; 0; 1; 2]);
  Proof SnapshotIsolation true (ByOrder [0; 1; 2; 0; 1; 2]);
  Proof StrongSI true (ByOrder [0; 1; 2; 0; 1; 2]);
  Proof StrongSessionSI true (ByOrder [0; 1; 2; 0; 1; 2]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 None)] [0];
    Given 2 (Overwritten 2 0 None 1);
    Derived 3 [(false, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 1 0);
    Derived 5 [(true, Saw 1 0 None)] [4];
    Given 6 (Overwritten 1 0 None 0);
    Derived 7 [(false, Lt true 0 true 1)] [5; 6];
    Given 8 (Candidates 0 0);
    Derived 9 [(true, Saw 0 0 None)] [8];
    Given 10 (Overwritten 0 0 None 2);
    Derived 11 [(true, Lt true 0 true 2)] [9; 10];
    Given 12 (Cycle [(true, 2); (true, 1); (true, 0)]);
    Derived 13 [] [3; 7; 11; 12]]);
  Proof StrongSessionSerializable false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 None)] [0];
    Given 2 (Overwritten 2 0 None 1);
    Derived 3 [(false, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 1 0);
    Derived 5 [(true, Saw 1 0 None)] [4];
    Given 6 (Overwritten 1 0 None 0);
    Derived 7 [(false, Lt true 0 true 1)] [5; 6];
    Given 8 (Candidates 0 0);
    Derived 9 [(true, Saw 0 0 None)] [8];
    Given 10 (Overwritten 0 0 None 2);
    Derived 11 [(true, Lt true 0 true 2)] [9; 10];
    Given 12 (Cycle [(true, 2); (true, 1); (true, 0)]);
    Derived 13 [] [3; 7; 11; 12]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 None)] [0];
    Given 2 (Overwritten 2 0 None 1);
    Derived 3 [(false, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 1 0);
    Derived 5 [(true, Saw 1 0 None)] [4];
    Given 6 (Overwritten 1 0 None 0);
    Derived 7 [(false, Lt true 0 true 1)] [5; 6];
    Given 8 (Candidates 0 0);
    Derived 9 [(true, Saw 0 0 None)] [8];
    Given 10 (Overwritten 0 0 None 2);
    Derived 11 [(true, Lt true 0 true 2)] [9; 10];
    Given 12 (Cycle [(true, 2); (true, 1); (true, 0)]);
    Derived 13 [] [3; 7; 11; 12]])
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
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [Serializable; StrongSessionSerializable; StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [Serializable; StrongSessionSerializable; StrictSerializable] [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G2_item.

(* T1: append(x,1), then T2: append(x,2) · T3: r(x,[2 1]) *)
Module example_G0_process.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T4";
  "# transaction 2 is T5";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 1152921504606846976";
  "T 0 0 C 0 1000";
  "O 0 0 a 1 -";
  "T 1 0 C 1000 10000";
  "O 1 0 a 2 -";
  "T 2 1 C 0 10000";
  "O 2 0 - [ 2 1"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (ListOrder 2 0 1 2 0 1);
    Derived 1 [(false, Lt true 0 true 1)] [0];
    Given 2 (Session 0 1);
    Derived 3 [(true, Lt true 0 true 1)] [2];
    Given 4 (Cycle [(true, 1); (true, 0)]);
    Derived 5 [] [1; 3]]);
  Proof SnapshotIsolation true (ByOrder [1; 1; 0; 0; 2; 2]);
  Proof GeneralizedSI true (ByOrder [1; 1; 0; 0; 2; 2]);
  Proof Serializable true (ByOrder [1; 0; 2]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (ListOrder 2 0 1 2 0 1);
    Derived 1 [(false, Lt true 0 true 1)] [0];
    Given 2 (Session 0 1);
    Derived 3 [(true, Lt true 0 true 1)] [2];
    Given 4 (Cycle [(true, 1); (true, 0)]);
    Derived 5 [] [1; 3]])
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
  Answer Serializable true 3%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 0%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; StrongSessionSI; StrongSI; StrongSessionSerializable; StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [SnapshotIsolation; GeneralizedSI; Serializable] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadCommitted; ReadAtomic; Causal; Prefix; StrongSessionSI; StrongSI; StrongSessionSerializable; StrictSerializable] [SnapshotIsolation; GeneralizedSI; Serializable] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G0_process.

(* T1: r(x,1), then T2: w(y,1) · T3: r(y,1) w(x,1) *)
Module example_G1c_process.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T4";
  "# transaction 2 is T5";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 1000";
  "O 0 0 - = 1";
  "T 1 0 C 1000 10000";
  "O 1 1 w 1 -";
  "T 2 1 C 0 10000";
  "O 2 1 - = 1";
  "O 3 0 w 1 -"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 (Some 1))] [0];
    Given 2 (Reads 2 0 1);
    Derived 3 [(true, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 0 0);
    Derived 5 [(true, Saw 0 0 (Some 2))] [4];
    Given 6 (Reads 0 0 2);
    Derived 7 [(false, Lt true 0 true 2)] [5; 6];
    Given 8 (Session 0 1);
    Derived 9 [(true, Lt true 0 true 1)] [8];
    Given 10 (Cycle [(true, 1); (true, 2); (true, 0)]);
    Derived 11 [] [3; 7; 9; 10]]);
  Proof SnapshotIsolation true (ByOrder [1; 1; 2; 2; 0; 0]);
  Proof GeneralizedSI true (ByOrder [1; 1; 2; 2; 0; 0]);
  Proof Serializable true (ByOrder [1; 2; 0])
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
  Answer Serializable true 3%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 0%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; StrongSessionSI; StrongSI; StrongSessionSerializable; StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [SnapshotIsolation; GeneralizedSI; Serializable] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [ReadCommitted; ReadAtomic; Causal; Prefix; StrongSessionSI; StrongSI; StrongSessionSerializable; StrictSerializable] [SnapshotIsolation; GeneralizedSI; Serializable] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G1c_process.

(* T1: append(x,1) append(z,1) · T2: append(z,2), then T3: r(x,[]) · T4: r(z,[1 2]) *)
Module example_G_single_process.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is z";
  "# key 1 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# session 2 is 2";
  "# transaction 0 is T5";
  "# transaction 1 is T3";
  "# transaction 2 is T6";
  "# transaction 3 is T7";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 1152921504606846976";
  "T 0 0 C 0 10000";
  "O 1 1 a 1 -";
  "O 2 0 a 1 -";
  "T 1 1 C 0 1000";
  "O 0 0 a 2 -";
  "T 2 1 C 1000 10000";
  "O 3 1 - [";
  "T 3 2 C 0 10000";
  "O 4 0 - [ 1 2"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, []);
    (1, []);
    (2, [None]);
    (3, [(Some 1)])]);
  Proof Prefix false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 None)] [0];
    Given 2 (Overwritten 2 0 None 0);
    Derived 3 [(false, Lt true 0 false 2)] [1; 2];
    Given 4 (ListOrder 3 0 0 1 1 2);
    Derived 5 [(true, Lt true 0 true 1)] [4];
    Given 6 (Session 1 2);
    Derived 7 [(true, Lt true 1 false 2)] [6];
    Given 8 (Cycle [(false, 2); (true, 0); (true, 1)]);
    Derived 9 [] [3; 5; 7; 8]]);
  Proof Serializable true (ByOrder [2; 0; 1; 3]);
  Proof GeneralizedSI true (ByOrder [2; 2; 0; 0; 1; 1; 3; 3]);
  Proof StrongSessionSerializable false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 None)] [0];
    Given 2 (Overwritten 2 0 None 0);
    Derived 3 [(false, Lt true 0 true 2)] [1; 2];
    Given 4 (ListOrder 3 0 0 1 1 2);
    Derived 5 [(true, Lt true 0 true 1)] [4];
    Given 6 (Session 1 2);
    Derived 7 [(true, Lt true 1 true 2)] [6];
    Given 8 (Cycle [(true, 2); (true, 0); (true, 1)]);
    Derived 9 [] [3; 5; 7; 8]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 None)] [0];
    Given 2 (Overwritten 2 0 None 0);
    Derived 3 [(false, Lt true 0 true 2)] [1; 2];
    Given 4 (ListOrder 3 0 0 1 1 2);
    Derived 5 [(true, Lt true 0 true 1)] [4];
    Given 6 (Session 1 2);
    Derived 7 [(true, Lt true 1 true 2)] [6];
    Given 8 (Cycle [(true, 2); (true, 0); (true, 1)]);
    Derived 9 [] [3; 5; 7; 8]])
].
Definition answers : list answer := [
  Answer ReadCommitted true 0%nat;
  Answer ReadAtomic true 0%nat;
  Answer Causal true 0%nat;
  Answer Prefix false 1%nat;
  Answer SnapshotIsolation true 2%nat;
  Answer GeneralizedSI true 3%nat;
  Answer StrongSessionSI false 1%nat;
  Answer StrongSI false 1%nat;
  Answer Serializable true 2%nat;
  Answer StrongSessionSerializable false 4%nat;
  Answer StrictSerializable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [Prefix; StrongSessionSI; StrongSI; StrongSessionSerializable; StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; SnapshotIsolation; GeneralizedSI; Serializable] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [Prefix; StrongSessionSI; StrongSI; StrongSessionSerializable; StrictSerializable] [ReadCommitted; ReadAtomic; Causal; SnapshotIsolation; GeneralizedSI; Serializable] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G_single_process.

(* T1: w(x,1), then T2: r(y,0) · T3: w(y,1), then T4: r(x,0) *)
Module example_G_nonadjacent_process.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T6";
  "# transaction 2 is T3";
  "# transaction 3 is T7";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 1000";
  "O 0 0 w 1 -";
  "T 1 0 C 1000 10000";
  "O 2 1 - = 0";
  "T 2 1 C 0 1000";
  "O 1 1 w 1 -";
  "T 3 1 C 1000 10000";
  "O 3 0 - = 0"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, []);
    (1, [None]);
    (2, []);
    (3, [None])]);
  Proof Prefix false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 2);
    Derived 3 [(true, Lt false 1 true 2)] [1; 2];
    Given 4 (Session 2 3);
    Derived 5 [(true, Lt true 2 false 3)] [4];
    Given 6 (Candidates 3 0);
    Derived 7 [(true, Saw 3 0 None)] [6];
    Given 8 (Overwritten 3 0 None 0);
    Derived 9 [(false, Lt true 0 false 3)] [7; 8];
    Given 10 (Session 0 1);
    Derived 11 [(true, Lt true 0 false 1)] [10];
    Given 12 (Cycle [(false, 1); (true, 2); (false, 3); (true, 0)]);
    Derived 13 [] [3; 5; 9; 11; 12]]);
  Proof Serializable true (ByOrder [3; 0; 1; 2]);
  Proof GeneralizedSI true (ByOrder [3; 3; 0; 2; 0; 1; 1; 2]);
  Proof StrongSessionSerializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 2);
    Derived 3 [(true, Lt true 1 true 2)] [1; 2];
    Given 4 (Session 2 3);
    Derived 5 [(true, Lt true 2 true 3)] [4];
    Given 6 (Candidates 3 0);
    Derived 7 [(true, Saw 3 0 None)] [6];
    Given 8 (Overwritten 3 0 None 0);
    Derived 9 [(false, Lt true 0 true 3)] [7; 8];
    Given 10 (Session 0 1);
    Derived 11 [(true, Lt true 0 true 1)] [10];
    Given 12 (Cycle [(true, 1); (true, 2); (true, 3); (true, 0)]);
    Derived 13 [] [3; 5; 9; 11; 12]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 2);
    Derived 3 [(true, Lt true 1 true 2)] [1; 2];
    Given 4 (Session 2 3);
    Derived 5 [(true, Lt true 2 true 3)] [4];
    Given 6 (Candidates 3 0);
    Derived 7 [(true, Saw 3 0 None)] [6];
    Given 8 (Overwritten 3 0 None 0);
    Derived 9 [(false, Lt true 0 true 3)] [7; 8];
    Given 10 (Session 0 1);
    Derived 11 [(true, Lt true 0 true 1)] [10];
    Given 12 (Cycle [(true, 1); (true, 2); (true, 3); (true, 0)]);
    Derived 13 [] [3; 5; 9; 11; 12]]);
  Proof Linearizable true (ByOrders [
    (0, [3; 0]);
    (1, [1; 2])])
].
Definition answers : list answer := [
  Answer ReadCommitted true 0%nat;
  Answer ReadAtomic true 0%nat;
  Answer Causal true 0%nat;
  Answer Prefix false 1%nat;
  Answer SnapshotIsolation true 2%nat;
  Answer GeneralizedSI true 3%nat;
  Answer StrongSessionSI false 1%nat;
  Answer StrongSI false 1%nat;
  Answer Serializable true 2%nat;
  Answer StrongSessionSerializable false 4%nat;
  Answer StrictSerializable false 5%nat;
  Answer Linearizable true 6%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [Prefix; StrongSessionSI; StrongSI; StrongSessionSerializable; StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; SnapshotIsolation; GeneralizedSI; Serializable] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [Prefix; StrongSessionSI; StrongSI; StrongSessionSerializable; StrictSerializable] [ReadCommitted; ReadAtomic; Causal; SnapshotIsolation; GeneralizedSI; Serializable] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G_nonadjacent_process.

(* T1: w(z,1), then T2: r(x,0) · T3: r(z,0) w(x,1) *)
Module example_G2_item_process.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is z";
  "# key 1 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T4";
  "# transaction 2 is T5";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 1000";
  "O 0 0 w 1 -";
  "T 1 0 C 1000 10000";
  "O 1 1 - = 0";
  "T 2 1 C 0 10000";
  "O 2 0 - = 0";
  "O 3 1 w 1 -"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, []);
    (1, [None]);
    (2, [None])]);
  Proof Prefix true (ByOrder [0; 2; 0; 1; 1; 2]);
  Proof Serializable true (ByOrder [1; 2; 0]);
  Proof StrongSI true (ByOrder [0; 2; 0; 1; 1; 2]);
  Proof StrongSessionSI true (ByOrder [0; 2; 0; 1; 1; 2]);
  Proof StrongSessionSerializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 2);
    Derived 3 [(true, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 2 0);
    Derived 5 [(true, Saw 2 0 None)] [4];
    Given 6 (Overwritten 2 0 None 0);
    Derived 7 [(false, Lt true 0 true 2)] [5; 6];
    Given 8 (Session 0 1);
    Derived 9 [(true, Lt true 0 true 1)] [8];
    Given 10 (Cycle [(true, 1); (true, 2); (true, 0)]);
    Derived 11 [] [3; 7; 9; 10]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 1 0);
    Derived 1 [(true, Saw 1 0 None)] [0];
    Given 2 (Overwritten 1 0 None 2);
    Derived 3 [(true, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 2 0);
    Derived 5 [(true, Saw 2 0 None)] [4];
    Given 6 (Overwritten 2 0 None 0);
    Derived 7 [(false, Lt true 0 true 2)] [5; 6];
    Given 8 (Session 0 1);
    Derived 9 [(true, Lt true 0 true 1)] [8];
    Given 10 (Cycle [(true, 1); (true, 2); (true, 0)]);
    Derived 11 [] [3; 7; 9; 10]])
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
  Answer Serializable true 2%nat;
  Answer StrongSessionSerializable false 5%nat;
  Answer StrictSerializable false 6%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [StrongSessionSerializable; StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [StrongSessionSerializable; StrictSerializable] [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G2_item_process.

(* T1@0-10: append(x,2) · T2@20-30: append(x,1) · T3@40-50: r(x,[1 2]) *)
Module example_G0_realtime.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# session 2 is 2";
  "# transaction 0 is T1";
  "# transaction 1 is T3";
  "# transaction 2 is T5";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 1152921504606846976";
  "T 0 0 C 0 10";
  "O 0 0 a 2 -";
  "T 1 1 C 20 30";
  "O 1 0 a 1 -";
  "T 2 2 C 40 50";
  "O 2 0 - [ 1 2"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (1, []);
    (0, []);
    (2, [(Some 0)])]);
  Proof StrongSessionSerializable true (ByOrder [1; 0; 2]);
  Proof GeneralizedSI false (BySteps [
    Given 0 (RealTime 0 1);
    Derived 1 [(true, Lt true 0 true 1)] [0];
    Given 2 (NoOverlap 0 1 0);
    Given 3 (NoOverlap 0 0 1);
    Given 4 (Own 0);
    Given 5 (ListOrder 2 0 1 1 0 2);
    Derived 6 [(false, Lt false 0 true 1)] [5; 2];
    Given 7 (Own 0);
    Derived 8 [(true, Lt false 0 true 0)] [7];
    Given 9 (Cycle [(true, 0); (true, 1); (false, 0)]);
    Derived 10 [] [1; 6; 8; 9]]);
  Proof StrongSI false (BySteps [
    Given 0 (RealTime 0 1);
    Derived 1 [(true, Lt true 0 false 1)] [0];
    Given 2 (Own 1);
    Derived 3 [(true, Lt false 1 true 1)] [2];
    Given 4 (NoOverlap 0 1 0);
    Given 5 (NoOverlap 0 0 1);
    Given 6 (Own 0);
    Given 7 (ListOrder 2 0 1 1 0 2);
    Derived 8 [(false, Lt false 0 true 1)] [7; 4];
    Given 9 (Own 0);
    Derived 10 [(true, Lt false 0 true 0)] [9];
    Given 11 (Cycle [(true, 0); (false, 1); (true, 1); (false, 0)]);
    Derived 12 [] [1; 3; 8; 10; 11]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (ListOrder 2 0 1 1 0 2);
    Derived 1 [(false, Lt true 0 true 1)] [0];
    Given 2 (RealTime 0 1);
    Derived 3 [(true, Lt true 0 true 1)] [2];
    Given 4 (Cycle [(true, 1); (true, 0)]);
    Derived 5 [] [1; 3]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (ListOrder 2 0 1 1 0 2);
    Derived 1 [(false, Lt true 0 true 1)] [0];
    Given 2 (RealTime 0 1);
    Derived 3 [(true, Lt true 0 true 1)] [2];
    Given 4 (Cycle [(true, 1); (true, 0)]);
    Derived 5 [] [1; 3]])
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
  Answer StrictSerializable false 4%nat;
  Answer Linearizable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [GeneralizedSI; StrongSI; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; StrongSessionSI; Serializable; StrongSessionSerializable] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [GeneralizedSI; StrongSI; StrictSerializable; Linearizable] [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; StrongSessionSI; Serializable; StrongSessionSerializable] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G0_realtime.

(* T1@0-10: r(x,1) · T2@20-30: w(x,1) *)
Module example_G1c_realtime.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T1";
  "# transaction 1 is T3";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10";
  "O 0 0 - = 1";
  "T 1 1 C 20 30";
  "O 1 0 w 1 -"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (1, []);
    (0, [(Some 1)])]);
  Proof StrongSessionSerializable true (ByOrder [1; 0]);
  Proof GeneralizedSI false (BySteps [
    Given 0 (RealTime 0 1);
    Derived 1 [(true, Lt true 0 true 1)] [0];
    Given 2 (Candidates 0 0);
    Derived 3 [(true, Saw 0 0 (Some 1))] [2];
    Given 4 (Reads 0 0 1);
    Derived 5 [(false, Lt false 0 true 1)] [3; 4];
    Given 6 (Own 0);
    Derived 7 [(true, Lt false 0 true 0)] [6];
    Given 8 (Cycle [(true, 0); (true, 1); (false, 0)]);
    Derived 9 [] [1; 5; 7; 8]]);
  Proof StrongSI false (BySteps [
    Given 0 (RealTime 0 1);
    Derived 1 [(true, Lt true 0 false 1)] [0];
    Given 2 (Own 1);
    Derived 3 [(true, Lt false 1 true 1)] [2];
    Given 4 (Candidates 0 0);
    Derived 5 [(true, Saw 0 0 (Some 1))] [4];
    Given 6 (Reads 0 0 1);
    Derived 7 [(false, Lt false 0 true 1)] [5; 6];
    Given 8 (Own 0);
    Derived 9 [(true, Lt false 0 true 0)] [8];
    Given 10 (Cycle [(true, 0); (false, 1); (true, 1); (false, 0)]);
    Derived 11 [] [1; 3; 7; 9; 10]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 0 0);
    Derived 1 [(true, Saw 0 0 (Some 1))] [0];
    Given 2 (Reads 0 0 1);
    Derived 3 [(false, Lt true 0 true 1)] [1; 2];
    Given 4 (RealTime 0 1);
    Derived 5 [(true, Lt true 0 true 1)] [4];
    Given 6 (Cycle [(true, 1); (true, 0)]);
    Derived 7 [] [3; 5]]);
  Proof Linearizable false (ByStepsOn 0 [
    Given 0 (Candidates 0 0);
    Derived 1 [(true, Saw 0 0 (Some 1))] [0];
    Given 2 (Reads 0 0 1);
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
  Answer GeneralizedSI false 2%nat;
  Answer StrongSessionSI true 1%nat;
  Answer StrongSI false 3%nat;
  Answer Serializable true 1%nat;
  Answer StrongSessionSerializable true 1%nat;
  Answer StrictSerializable false 4%nat;
  Answer Linearizable false 5%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [GeneralizedSI; StrongSI; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; StrongSessionSI; Serializable; StrongSessionSerializable] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [GeneralizedSI; StrongSI; StrictSerializable; Linearizable] [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; StrongSessionSI; Serializable; StrongSessionSerializable] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G1c_realtime.

(* T1@0-10: w(x,1) · T2@20-30: r(x,0) *)
Module example_G_single_realtime.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T1";
  "# transaction 1 is T3";
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
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [StrongSI; StrictSerializable; Linearizable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; Serializable; StrongSessionSerializable] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [StrongSI; StrictSerializable; Linearizable] [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; Serializable; StrongSessionSerializable] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G_single_realtime.

(* T1@0-10: w(x,1) · T2@20-30: r(y,0) · T3@5-40: w(y,1) · T4@5-40: r(y,1) r(x,0) *)
Module example_G_nonadjacent_realtime.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# session 0 is 0";
  "# session 1 is 2";
  "# session 2 is 3";
  "# session 3 is 1";
  "# transaction 0 is T3";
  "# transaction 1 is T6";
  "# transaction 2 is T7";
  "# transaction 3 is T5";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10";
  "O 0 0 w 1 -";
  "T 1 1 C 5 40";
  "O 2 1 w 1 -";
  "T 2 2 C 5 40";
  "O 3 1 - = 1";
  "O 4 0 - = 0";
  "T 3 3 C 20 30";
  "O 1 1 - = 0"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, []);
    (1, []);
    (2, [(Some 1); None]);
    (3, [None])]);
  Proof StrongSessionSerializable true (ByOrder [3; 1; 2; 0]);
  Proof GeneralizedSI true (ByOrder [3; 0; 1; 1; 2; 2; 0; 3]);
  Proof StrongSI false (BySteps [
    Given 0 (Candidates 3 0);
    Derived 1 [(true, Saw 3 0 None)] [0];
    Given 2 (Overwritten 3 0 None 1);
    Derived 3 [(false, Lt true 1 false 3)] [1; 2];
    Given 4 (Candidates 2 0);
    Derived 5 [(true, Saw 2 0 (Some 1))] [4];
    Given 6 (Reads 2 0 1);
    Derived 7 [(true, Lt true 1 false 2)] [5; 6];
    Given 8 (Candidates 2 1);
    Derived 9 [(true, Saw 2 1 None)] [8];
    Given 10 (Overwritten 2 1 None 0);
    Derived 11 [(false, Lt true 0 false 2)] [9; 10];
    Given 12 (RealTime 0 3);
    Derived 13 [(true, Lt true 0 false 3)] [12];
    Given 14 (Cycle [(false, 3); (true, 1); (false, 2); (true, 0)]);
    Derived 15 [] [3; 7; 11; 13; 14]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 3 0);
    Derived 1 [(true, Saw 3 0 None)] [0];
    Given 2 (Overwritten 3 0 None 1);
    Derived 3 [(false, Lt true 1 true 3)] [1; 2];
    Given 4 (Candidates 2 0);
    Derived 5 [(true, Saw 2 0 (Some 1))] [4];
    Given 6 (Reads 2 0 1);
    Derived 7 [(true, Lt true 1 true 2)] [5; 6];
    Given 8 (Candidates 2 1);
    Derived 9 [(true, Saw 2 1 None)] [8];
    Given 10 (Overwritten 2 1 None 0);
    Derived 11 [(false, Lt true 0 true 2)] [9; 10];
    Given 12 (RealTime 0 3);
    Derived 13 [(true, Lt true 0 true 3)] [12];
    Given 14 (Cycle [(true, 3); (true, 1); (true, 2); (true, 0)]);
    Derived 15 [] [3; 7; 11; 13; 14]])
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
  Answer StrictSerializable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [StrongSI; StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; Serializable; StrongSessionSerializable] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [StrongSI; StrictSerializable] [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; Serializable; StrongSessionSerializable] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G_nonadjacent_realtime.

(* T1@0-10: w(y,1) · T2@5-50: r(y,0) w(x,1) · T3@20-100: r(x,0) *)
Module example_G2_item_realtime.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is y";
  "# key 1 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# session 2 is 2";
  "# transaction 0 is T2";
  "# transaction 1 is T4";
  "# transaction 2 is T5";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 10";
  "O 0 0 w 1 -";
  "T 1 1 C 5 50";
  "O 1 0 - = 0";
  "O 2 1 w 1 -";
  "T 2 2 C 20 100";
  "O 3 1 - = 0"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, []);
    (1, [None]);
    (2, [None])]);
  Proof StrongSessionSerializable true (ByOrder [2; 1; 0]);
  Proof StrongSI true (ByOrder [0; 1; 0; 2; 2; 1]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 None)] [0];
    Given 2 (Overwritten 2 0 None 1);
    Derived 3 [(false, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 1 0);
    Derived 5 [(true, Saw 1 0 None)] [4];
    Given 6 (Overwritten 1 0 None 0);
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
  Answer GeneralizedSI true 2%nat;
  Answer StrongSessionSI true 1%nat;
  Answer StrongSI true 2%nat;
  Answer Serializable true 1%nat;
  Answer StrongSessionSerializable true 1%nat;
  Answer StrictSerializable false 3%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Theorem as_explained : exists h, read text = Some h /\
  (forall l, In l [StrictSerializable] -> violates h 0 l) /\
  (forall l, In l [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable] -> satisfies h 0 l).
Proof. exact (classified_sound text 0 proofs answers [StrictSerializable] [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI; StrongSI; Serializable; StrongSessionSerializable] decided eq_refl). Qed.
Definition all := Example text proofs answers.
End example_G2_item_realtime.

(* T1@0-10: w(x,1) · T2@20-30: r(x,0) *)
Module stale_read.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# session 1 is 1";
  "# transaction 0 is T1";
  "# transaction 1 is T3";
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
Definition all := Example text proofs answers.
End stale_read.

(* T1@0-10: w(x,1) · T2@20-30: w(y,1) · T3@0-40: r(y,1) r(x,0) *)
Module commits_not_in_real_time.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# key 1 is y";
  "# session 0 is 0";
  "# session 1 is 2";
  "# session 2 is 1";
  "# transaction 0 is T2";
  "# transaction 1 is T5";
  "# transaction 2 is T4";
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
Definition all := Example text proofs answers.
End commits_not_in_real_time.

(* T1@0-20: r(x,1), then T2@20-30: w(x,1) *)
Module read_of_the_sessions_future.
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is x";
  "# session 0 is 0";
  "# transaction 0 is T1";
  "# transaction 1 is T3";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 20";
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
  Proof SnapshotIsolation true (ByOrder [1; 1; 0; 0]);
  Proof GeneralizedSI true (ByOrder [1; 1; 0; 0]);
  Proof Serializable true (ByOrder [1; 0]);
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
  Answer Serializable true 3%nat;
  Answer StrongSessionSerializable false 0%nat;
  Answer StrictSerializable false 0%nat;
  Answer Linearizable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.
Definition all := Example text proofs answers.
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
   example_thin_air_read.all;
   example_aborted_read.all;
   example_future_read.all;
   example_not_my_last_write.all;
   example_not_my_own_write.all;
   example_intermediate_read.all;
   example_non_repeatable_read.all;
   example_session_guarantee_violation.all;
   example_non_monotonic_read.all;
   example_fractured_read.all;
   example_causality_violation.all;
   example_long_fork.all;
   example_lost_update.all;
   example_write_skew.all;
   example_incompatible_order.all;
   example_duplicate_element.all;
   example_failed_compare_read.all;
   example_G0.all;
   example_G1a.all;
   example_G1b.all;
   example_G1c.all;
   example_G_single.all;
   example_G_nonadjacent.all;
   example_G2_item.all;
   example_G0_process.all;
   example_G1c_process.all;
   example_G_single_process.all;
   example_G_nonadjacent_process.all;
   example_G2_item_process.all;
   example_G0_realtime.all;
   example_G1c_realtime.all;
   example_G_single_realtime.all;
   example_G_nonadjacent_realtime.all;
   example_G2_item_realtime.all;
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
  constructor; [exact example_thin_air_read.decided|].
  constructor; [exact example_aborted_read.decided|].
  constructor; [exact example_future_read.decided|].
  constructor; [exact example_not_my_last_write.decided|].
  constructor; [exact example_not_my_own_write.decided|].
  constructor; [exact example_intermediate_read.decided|].
  constructor; [exact example_non_repeatable_read.decided|].
  constructor; [exact example_session_guarantee_violation.decided|].
  constructor; [exact example_non_monotonic_read.decided|].
  constructor; [exact example_fractured_read.decided|].
  constructor; [exact example_causality_violation.decided|].
  constructor; [exact example_long_fork.decided|].
  constructor; [exact example_lost_update.decided|].
  constructor; [exact example_write_skew.decided|].
  constructor; [exact example_incompatible_order.decided|].
  constructor; [exact example_duplicate_element.decided|].
  constructor; [exact example_failed_compare_read.decided|].
  constructor; [exact example_G0.decided|].
  constructor; [exact example_G1a.decided|].
  constructor; [exact example_G1b.decided|].
  constructor; [exact example_G1c.decided|].
  constructor; [exact example_G_single.decided|].
  constructor; [exact example_G_nonadjacent.decided|].
  constructor; [exact example_G2_item.decided|].
  constructor; [exact example_G0_process.decided|].
  constructor; [exact example_G1c_process.decided|].
  constructor; [exact example_G_single_process.decided|].
  constructor; [exact example_G_nonadjacent_process.decided|].
  constructor; [exact example_G2_item_process.decided|].
  constructor; [exact example_G0_realtime.decided|].
  constructor; [exact example_G1c_realtime.decided|].
  constructor; [exact example_G_single_realtime.decided|].
  constructor; [exact example_G_nonadjacent_realtime.decided|].
  constructor; [exact example_G2_item_realtime.decided|].
  constructor; [exact stale_read.decided|].
  constructor; [exact commits_not_in_real_time.decided|].
  constructor; [exact read_of_the_sessions_future.decided|].
  constructor.
Qed.

(* No implication holds but those of the ladder. *)
Theorem ladder_is_strict : forall a b, a <> Linearizable -> b <> Linearizable ->
  implies a b = false -> exists h, satisfies h 0 a /\ violates h 0 b.
Proof. apply (separated_sound examples all_decided). vm_compute. reflexivity. Qed.
