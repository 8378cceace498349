(* Written by `cupel verify --proved --coq`. Coq's kernel accepts it with the files of
   cupel's proofs/: tools/prove.sh makes them, then coqc -Q build/proofs Cupel FILE. *)
From Coq Require Import List String Uint63.
From Cupel Require Import History Levels Clauses Derivation Verify Text.
Import ListNotations.
Local Open Scope uint63_scope.

(* The canonical text of the history: a line for each transaction and operation. *)
Definition text : list string := [
  "# times are in ns since 0";
  "# key 0 is 15";
  "# key 1 is 10";
  "# key 2 is 0";
  "# key 3 is 18";
  "# key 4 is 7";
  "# key 5 is 3";
  "# key 6 is 13";
  "# key 7 is 9";
  "# key 8 is 16";
  "# key 9 is 8";
  "# key 10 is 5";
  "# key 11 is 2";
  "# key 12 is 17";
  "# key 13 is 6";
  "# key 14 is 12";
  "# key 15 is 1";
  "# key 16 is 19";
  "# key 17 is 14";
  "# key 18 is 4";
  "# key 19 is 11";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C - -";
  "O 0 0 - = 0";
  "O 1 1 - = 0";
  "O 2 2 - = 0";
  "O 3 3 w 1 -";
  "O 4 4 w 1 -";
  "O 5 5 - = 0";
  "O 6 6 - = 0";
  "O 7 7 - = 0";
  "O 8 8 w 1 -";
  "O 9 9 - = 0";
  "T 1 0 C - -";
  "O 10 10 - = 0";
  "O 11 5 - = 0";
  "O 12 11 - = 26";
  "O 13 12 - = 0";
  "O 14 4 w 2 -";
  "O 15 8 - = 1";
  "O 16 3 - = 32";
  "O 17 13 w 1 -";
  "O 18 0 - = 0";
  "O 19 1 - = 0";
  "T 2 0 C - -";
  "O 20 10 - = 24";
  "O 21 5 - = 0";
  "O 22 8 - = 26";
  "O 23 3 - = 32";
  "O 24 9 - = 0";
  "O 25 2 - = 0";
  "O 26 14 - = 0";
  "O 27 15 - = 26";
  "O 28 4 - = 2";
  "O 29 16 - = 19";
  "T 3 0 C - -";
  "O 30 5 w 1 -";
  "O 31 4 - = 2";
  "O 32 6 - = 20";
  "O 33 10 w 1 -";
  "O 34 0 - = 0";
  "O 35 17 w 1 -";
  "O 36 12 w 1 -";
  "O 37 1 w 1 -";
  "O 38 18 w 1 -";
  "O 39 19 w 1 -";
  "T 4 0 C - -";
  "O 40 7 - = 28";
  "O 41 11 - = 27";
  "O 42 1 - = 1";
  "O 43 13 - = 1";
  "O 44 19 w 2 -";
  "O 45 2 - = 28";
  "O 46 0 w 1 -";
  "O 47 3 - = 33";
  "O 48 8 w 2 -";
  "O 49 18 - = 1";
  "T 5 0 C - -";
  "O 50 16 w 1 -";
  "O 51 6 w 1 -";
  "O 52 5 w 2 -";
  "O 53 3 w 2 -";
  "O 54 12 - = 1";
  "O 55 2 w 1 -";
  "O 56 1 w 2 -";
  "O 57 11 - = 27";
  "O 58 7 - = 28";
  "O 59 0 w 2 -";
  "T 6 0 C - -";
  "O 60 4 w 3 -";
  "O 61 17 - = 1";
  "O 62 13 - = 1";
  "O 63 6 - = 21";
  "O 64 8 w 3 -";
  "O 65 0 w 3 -";
  "O 66 2 w 2 -";
  "O 67 10 - = 1";
  "O 68 7 w 1 -";
  "O 69 14 w 1 -";
  "T 7 0 C - -";
  "O 70 0 - = 2";
  "O 71 1 w 3 -";
  "O 72 12 - = 28";
  "O 73 13 - = 33";
  "O 74 3 w 3 -";
  "O 75 9 w 1 -";
  "O 76 19 - = 24";
  "O 77 2 w 3 -";
  "O 78 16 - = 1";
  "O 79 15 w 1 -";
  "T 8 0 C - -";
  "O 80 7 w 2 -";
  "O 81 15 - = 29";
  "O 82 11 - = 29";
  "O 83 4 w 4 -";
  "O 84 2 - = 30";
  "O 85 13 w 2 -";
  "O 86 0 - = 2";
  "O 87 3 w 4 -";
  "O 88 12 - = 28";
  "O 89 5 w 3 -";
  "T 9 0 C - -";
  "O 90 11 w 1 -";
  "O 91 16 w 2 -";
  "O 92 3 - = 4";
  "O 93 8 w 4 -";
  "O 94 6 - = 22";
  "O 95 15 - = 29";
  "O 96 1 - = 26";
  "O 97 18 w 2 -";
  "O 98 5 w 4 -";
  "O 99 7 w 3 -";
  "T 10 1 C - -";
  "O 100 18 w 28 -";
  "O 101 5 - = 0";
  "O 102 12 - = 0";
  "O 103 13 - = 0";
  "O 104 1 - = 0";
  "O 105 19 - = 0";
  "O 106 16 w 19 -";
  "O 107 11 w 25 -";
  "O 108 0 - = 0";
  "O 109 10 - = 0";
  "T 11 1 C - -";
  "O 110 13 w 32 -";
  "O 111 4 w 29 -";
  "O 112 9 - = 0";
  "O 113 8 - = 1";
  "O 114 11 w 26 -";
  "O 115 7 w 27 -";
  "O 116 18 - = 28";
  "O 117 19 - = 0";
  "O 118 3 w 32 -";
  "O 119 1 - = 0";
  "T 12 1 C - -";
  "O 120 11 w 27 -";
  "O 121 15 w 26 -";
  "O 122 19 w 22 -";
  "O 123 10 w 24 -";
  "O 124 12 - = 0";
  "O 125 18 w 29 -";
  "O 126 1 w 25 -";
  "O 127 7 w 28 -";
  "O 128 13 - = 32";
  "O 129 8 w 26 -";
  "T 13 1 C - -";
  "O 130 16 - = 19";
  "O 131 10 - = 24";
  "O 132 18 w 30 -";
  "O 133 1 - = 25";
  "O 134 13 - = 1";
  "O 135 8 w 27 -";
  "O 136 15 - = 26";
  "O 137 7 - = 28";
  "O 138 14 - = 0";
  "O 139 19 w 23 -";
  "T 14 1 C - -";
  "O 140 3 w 33 -";
  "O 141 1 - = 25";
  "O 142 19 - = 23";
  "O 143 14 w 26 -";
  "O 144 17 w 26 -";
  "O 145 12 w 27 -";
  "O 146 2 w 28 -";
  "O 147 16 - = 19";
  "O 148 6 w 20 -";
  "O 149 15 w 27 -";
  "T 15 1 C - -";
  "O 150 4 - = 2";
  "O 151 3 w 34 -";
  "O 152 1 w 26 -";
  "O 153 15 w 28 -";
  "O 154 6 w 21 -";
  "O 155 2 w 29 -";
  "O 156 11 w 28 -";
  "O 157 10 - = 1";
  "O 158 12 - = 1";
  "O 159 14 w 27 -";
  "T 16 1 C - -";
  "O 160 16 - = 1";
  "O 161 6 - = 21";
  "O 162 11 w 29 -";
  "O 163 2 - = 29";
  "O 164 19 - = 2";
  "O 165 15 w 29 -";
  "O 166 13 w 33 -";
  "O 167 17 - = 1";
  "O 168 5 - = 2";
  "O 169 18 - = 1";
  "T 17 1 C - -";
  "O 170 2 w 30 -";
  "O 171 3 - = 34";
  "O 172 0 - = 2";
  "O 173 12 w 28 -";
  "O 174 14 - = 27";
  "O 175 8 - = 2";
  "O 176 17 w 27 -";
  "O 177 16 - = 1";
  "O 178 9 w 20 -";
  "O 179 19 w 24 -";
  "T 18 1 C - -";
  "O 180 10 w 25 -";
  "O 181 19 w 25 -";
  "O 182 17 - = 27";
  "O 183 13 - = 33";
  "O 184 14 w 28 -";
  "O 185 6 w 22 -";
  "O 186 9 - = 20";
  "O 187 3 - = 34";
  "O 188 16 w 20 -";
  "O 189 8 w 28 -";
  "T 19 1 C - -";
  "O 190 14 w 29 -";
  "O 191 12 w 29 -";
  "O 192 9 w 21 -";
  "O 193 5 - = 4";
  "O 194 2 - = 30";
  "O 195 8 - = 4";
  "O 196 19 w 26 -";
  "O 197 15 - = 29";
  "O 198 16 w 21 -";
  "O 199 7 w 29 -"
]%string.

Definition proofs : list proof := [
  Proof ReadCommitted true (ByWeak [
    (0, [None; None; None; None; None; None; None]);
    (10, [None; None; None; None; None; None; None]);
    (11, [None; (Some 0); (Some 10); None; None]);
    (1, [None; None; (Some 11); None; (Some 0); (Some 11); None; None]);
    (12, [None; (Some 11)]);
    (2, [(Some 12); None; (Some 12); (Some 11); None; None; None; (Some 12); (Some 1); (Some 10)]);
    (13, [(Some 10); (Some 12); (Some 12); (Some 1); (Some 12); (Some 12); None]);
    (14, [(Some 12); (Some 13); (Some 10)]);
    (3, [(Some 1); (Some 14); None]);
    (4, [(Some 12); (Some 12); (Some 3); (Some 1); (Some 14); (Some 14); (Some 3)]);
    (5, [(Some 3); (Some 12); (Some 12)]);
    (15, [(Some 1); (Some 3); (Some 3)]);
    (6, [(Some 3); (Some 1); (Some 15); (Some 3)]);
    (16, [(Some 5); (Some 15); (Some 15); (Some 4); (Some 3); (Some 5); (Some 3)]);
    (17, [(Some 15); (Some 5); (Some 15); (Some 4); (Some 5)]);
    (7, [(Some 5); (Some 17); (Some 16); (Some 17); (Some 5)]);
    (8, [(Some 16); (Some 16); (Some 17); (Some 5); (Some 17)]);
    (18, [(Some 17); (Some 16); (Some 17); (Some 15)]);
    (9, [(Some 8); (Some 18); (Some 16); (Some 15)]);
    (19, [(Some 9); (Some 17); (Some 9); (Some 16)])]);
  Proof ReadAtomic false (BySteps [
    Given 0 (Session 6 7);
    Derived 1 [(true, Lt true 6 true 7)] [0];
    Given 2 (Candidates 7 0);
    Derived 3 [(true, Saw 7 0 (Some 5))] [2];
    Given 4 (Visible 7 0 (Some 5) 6 [BySession 7]);
    Derived 5 [(false, Lt true 5 true 6)] [3; 4];
    Given 6 (Session 5 6);
    Derived 7 [(true, Lt true 5 true 6)] [6];
    Given 8 (Cycle [(true, 6); (true, 5)]);
    Derived 9 [] [5; 7]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Candidates 3 4);
    Derived 1 [(true, Saw 3 4 None)] [0];
    Given 2 (Overwritten 3 4 None 5);
    Derived 3 [(true, Lt false 3 true 5)] [1; 2];
    Given 4 (Candidates 17 2);
    Derived 5 [(true, Saw 17 2 (Some 5))] [4];
    Given 6 (Reads 17 2 5);
    Derived 7 [(true, Lt true 5 false 17)] [5; 6];
    Given 8 (Own 17);
    Derived 9 [(true, Lt false 17 true 17)] [8];
    Given 10 (Candidates 6 1);
    Derived 11 [(true, Saw 6 1 (Some 3))] [10];
    Given 12 (Overwritten 6 1 (Some 3) 17);
    Given 13 (NoOverlap 17 17 3);
    Given 14 (Own 3);
    Given 15 (Cycle [(false, 3); (true, 5); (false, 17); (true, 17)]);
    Derived 16 [(true, Lt false 6 true 17)] [11; 3; 7; 9; 12; 15; 13];
    Given 17 (NoOverlap 2 6 17);
    Given 18 (NoOverlap 2 17 6);
    Given 19 (Own 17);
    Given 20 (Cycle [(false, 6); (true, 17)]);
    Derived 21 [(true, Lt true 6 false 17)] [16; 17; 18];
    Given 22 (Own 15);
    Derived 23 [(true, Lt false 15 true 15)] [22];
    Given 24 (Candidates 6 3);
    Derived 25 [(true, Saw 6 3 (Some 15))] [24];
    Given 26 (Reads 6 3 15);
    Derived 27 [(false, Lt false 6 true 15)] [25; 26];
    Given 28 (Own 6);
    Derived 29 [(true, Lt false 6 true 6)] [28];
    Given 30 (Candidates 17 4);
    Derived 31 [(true, Saw 17 4 (Some 15))] [30];
    Given 32 (Overwritten 17 4 (Some 15) 6);
    Given 33 (NoOverlap 14 6 15);
    Given 34 (Own 15);
    Given 35 (Cycle [(false, 15); (true, 15); (false, 6); (true, 6)]);
    Derived 36 [(false, Lt true 6 false 17)] [31; 34; 27; 29; 32; 35; 33];
    Given 37 (Cycle [(true, 6); (false, 17)]);
    Derived 38 [] [21; 36]]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 1 2);
    Derived 1 [(true, Saw 1 2 (Some 11))] [0];
    Given 2 (Reads 1 2 11);
    Derived 3 [(false, Lt true 1 true 11)] [1; 2];
    Given 4 (Candidates 1 9);
    Derived 5 [(true, Saw 1 9 None)] [4];
    Given 6 (Overwritten 1 9 None 12);
    Derived 7 [(true, Lt true 1 true 12)] [5; 6];
    Given 8 (Candidates 12 8);
    Derived 9 [(true, Saw 12 8 (Some 11))] [8];
    Given 10 (Overwritten 12 8 (Some 11) 1);
    Given 11 (Cycle [(true, 1); (true, 12)]);
    Derived 12 [(true, Lt true 1 true 11)] [9; 7; 10];
    Given 13 (Cycle [(true, 11); (true, 1)]);
    Derived 14 [] [3; 12]])
].
Definition answers : list answer := [
  Answer ReadCommitted true 0%nat;
  Answer ReadAtomic false 1%nat;
  Answer Causal false 1%nat;
  Answer Prefix false 1%nat;
  Answer SnapshotIsolation false 2%nat;
  Answer StrongSessionSI false 1%nat;
  Answer Serializable false 3%nat;
  Answer StrongSessionSerializable false 1%nat
].

Lemma decided : decides text 0 proofs answers = true.
Proof. vm_compute. reflexivity. Qed.

Theorem answer_0 : exists h, read text = Some h /\ satisfies h 0 ReadCommitted.
Proof. exact (decides_nth text 0 proofs answers 0 _ decided eq_refl). Qed.

Theorem answer_1 : exists h, read text = Some h /\ violates h 0 ReadAtomic.
Proof. exact (decides_nth text 0 proofs answers 1 _ decided eq_refl). Qed.

Theorem answer_2 : exists h, read text = Some h /\ violates h 0 Causal.
Proof. exact (decides_nth text 0 proofs answers 2 _ decided eq_refl). Qed.

Theorem answer_3 : exists h, read text = Some h /\ violates h 0 Prefix.
Proof. exact (decides_nth text 0 proofs answers 3 _ decided eq_refl). Qed.

Theorem answer_4 : exists h, read text = Some h /\ violates h 0 SnapshotIsolation.
Proof. exact (decides_nth text 0 proofs answers 4 _ decided eq_refl). Qed.

Theorem answer_5 : exists h, read text = Some h /\ violates h 0 StrongSessionSI.
Proof. exact (decides_nth text 0 proofs answers 5 _ decided eq_refl). Qed.

Theorem answer_6 : exists h, read text = Some h /\ violates h 0 Serializable.
Proof. exact (decides_nth text 0 proofs answers 6 _ decided eq_refl). Qed.

Theorem answer_7 : exists h, read text = Some h /\ violates h 0 StrongSessionSerializable.
Proof. exact (decides_nth text 0 proofs answers 7 _ decided eq_refl). Qed.
