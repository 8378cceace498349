(* Written by `cupel verify --proved --coq`. Coq's kernel accepts it with the files of
   cupel's proofs/: tools/prove.sh makes them, then coqc -Q build/proofs Cupel FILE. *)
From Coq Require Import List String Uint63.
From Cupel Require Import History Levels Clauses Derivation Verify Text.
Import ListNotations.
Local Open Scope uint63_scope.

(* The canonical text of the history: a line for each transaction and operation. *)
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is 0";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C - -";
  "O 0 0 w 1 -";
  "O 1 0 w 2 -";
  "T 1 0 C - -";
  "O 2 0 w 3 -";
  "O 3 0 w 4 -";
  "T 2 0 C - -";
  "O 4 0 - = 4";
  "O 5 0 w 5 -";
  "T 3 0 C - -";
  "O 6 0 - = 5";
  "O 7 0 - = 5";
  "T 4 1 C - -";
  "O 8 0 - = 4";
  "O 9 0 w 10 -";
  "T 5 1 C - -";
  "O 10 0 w 11 -";
  "O 11 0 w 12 -";
  "T 6 1 C - -";
  "O 12 0 w 13 -";
  "O 13 0 w 14 -"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, []);
    (1, []);
    (2, [(Some 1)]);
    (3, [(Some 2); (Some 2)]);
    (4, [(Some 1)]);
    (5, []);
    (6, [])]);
  Proof Prefix true (ByOrder [0; 0; 1; 1; 4; 2; 4; 5; 5; 2; 3; 3; 6; 6]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Own 1);
    Derived 1 [(true, Lt false 1 true 1)] [0];
    Given 2 (Candidates 4 0);
    Derived 3 [(true, Saw 4 0 (Some 1))] [2];
    Given 4 (Reads 4 0 1);
    Derived 5 [(true, Lt true 1 false 4)] [3; 4];
    Given 6 (Own 4);
    Derived 7 [(true, Lt false 4 true 4)] [6];
    Given 8 (Candidates 2 0);
    Derived 9 [(true, Saw 2 0 (Some 1))] [8];
    Given 10 (Overwritten 2 0 (Some 1) 4);
    Given 11 (NoOverlap 0 4 1);
    Given 12 (Own 1);
    Given 13 (Cycle [(false, 1); (true, 1); (false, 4); (true, 4)]);
    Derived 14 [(true, Lt false 2 true 4)] [9; 12; 5; 7; 10; 13; 11];
    Given 15 (NoOverlap 0 2 4);
    Given 16 (NoOverlap 0 4 2);
    Given 17 (Own 4);
    Given 18 (Cycle [(false, 2); (true, 4)]);
    Derived 19 [(true, Lt true 2 false 4)] [14; 15; 16];
    Given 20 (Reads 2 0 1);
    Derived 21 [(true, Lt true 1 false 2)] [9; 20];
    Given 22 (Own 2);
    Derived 23 [(true, Lt false 2 true 2)] [22];
    Given 24 (Overwritten 4 0 (Some 1) 2);
    Given 25 (NoOverlap 0 2 1);
    Given 26 (Own 1);
    Given 27 (Cycle [(false, 1); (true, 1); (false, 2); (true, 2)]);
    Derived 28 [(false, Lt true 2 false 4)] [3; 26; 21; 23; 24; 27; 25];
    Given 29 (Cycle [(true, 2); (false, 4)]);
    Derived 30 [] [19; 28]]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 2 0);
    Derived 1 [(true, Saw 2 0 (Some 1))] [0];
    Given 2 (Reads 2 0 1);
    Derived 3 [(true, Lt true 1 true 2)] [1; 2];
    Given 4 (Candidates 4 0);
    Derived 5 [(true, Saw 4 0 (Some 1))] [4];
    Given 6 (Overwritten 4 0 (Some 1) 2);
    Given 7 (Cycle [(true, 1); (true, 2)]);
    Derived 8 [(false, Lt true 2 true 4)] [5; 3; 6];
    Given 9 (Reads 4 0 1);
    Derived 10 [(true, Lt true 1 true 4)] [5; 9];
    Given 11 (Overwritten 2 0 (Some 1) 4);
    Given 12 (Cycle [(true, 1); (true, 4)]);
    Derived 13 [(true, Lt true 2 true 4)] [1; 10; 11];
    Given 14 (Cycle [(true, 4); (true, 2)]);
    Derived 15 [] [8; 13]]);
  Proof StrongSessionSerializable false (BySteps [
    Given 0 (Session 1 2);
    Derived 1 [(true, Lt true 1 true 2)] [0];
    Given 2 (Candidates 4 0);
    Derived 3 [(true, Saw 4 0 (Some 1))] [2];
    Given 4 (Overwritten 4 0 (Some 1) 2);
    Given 5 (Cycle [(true, 1); (true, 2)]);
    Derived 6 [(false, Lt true 2 true 4)] [3; 1; 4];
    Given 7 (Reads 4 0 1);
    Derived 8 [(true, Lt true 1 true 4)] [3; 7];
    Given 9 (Candidates 2 0);
    Derived 10 [(true, Saw 2 0 (Some 1))] [9];
    Given 11 (Overwritten 2 0 (Some 1) 4);
    Given 12 (Cycle [(true, 1); (true, 4)]);
    Derived 13 [(true, Lt true 2 true 4)] [10; 8; 11];
    Given 14 (Cycle [(true, 4); (true, 2)]);
    Derived 15 [] [6; 13]])
].
Definition answers : list answer := [
  Answer ReadCommitted true 0%nat;
  Answer ReadAtomic true 0%nat;
  Answer Causal true 0%nat;
  Answer Prefix true 1%nat;
  Answer SnapshotIsolation false 2%nat;
  Answer StrongSessionSI false 2%nat;
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 4%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.

Theorem answer_0 : exists h, read text = Some h /\ satisfies h 0 ReadCommitted.
Proof. exact (decides_nth text 0 proofs answers 0 _ decided eq_refl). Qed.

Theorem answer_1 : exists h, read text = Some h /\ satisfies h 0 ReadAtomic.
Proof. exact (decides_nth text 0 proofs answers 1 _ decided eq_refl). Qed.

Theorem answer_2 : exists h, read text = Some h /\ satisfies h 0 Causal.
Proof. exact (decides_nth text 0 proofs answers 2 _ decided eq_refl). Qed.

Theorem answer_3 : exists h, read text = Some h /\ satisfies h 0 Prefix.
Proof. exact (decides_nth text 0 proofs answers 3 _ decided eq_refl). Qed.

Theorem answer_4 : exists h, read text = Some h /\ violates h 0 SnapshotIsolation.
Proof. exact (decides_nth text 0 proofs answers 4 _ decided eq_refl). Qed.

Theorem answer_5 : exists h, read text = Some h /\ violates h 0 StrongSessionSI.
Proof. exact (decides_nth text 0 proofs answers 5 _ decided eq_refl). Qed.

Theorem answer_6 : exists h, read text = Some h /\ violates h 0 Serializable.
Proof. exact (decides_nth text 0 proofs answers 6 _ decided eq_refl). Qed.

Theorem answer_7 : exists h, read text = Some h /\ violates h 0 StrongSessionSerializable.
Proof. exact (decides_nth text 0 proofs answers 7 _ decided eq_refl). Qed.
