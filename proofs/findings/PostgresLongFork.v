(* Written by `cupel verify --proved --coq`. Coq's kernel accepts it with the files of
   cupel's proofs/: tools/prove.sh makes them, then coqc -Q build/proofs Cupel FILE. *)
From Coq Require Import List String Uint63.
From Cupel Require Import History Levels Clauses Derivation Verify Text.
Import ListNotations.
Local Open Scope uint63_scope.

(* The canonical text of the history: a line for each transaction and operation. *)
Definition text : list string := [
  "# times are in ns since 687530226";
  "# key 0 is 13";
  "# key 1 is 9";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 0";
  "T 0 0 C 0 726083649";
  "O 0 0 - = 0";
  "O 1 0 w 3 -";
  "T 1 0 C 1042697155 1092656634";
  "O 22 1 - = 299";
  "O 23 1 w 35 -";
  "T 2 0 C 1480450249 1531238741";
  "O 28 1 - = 35";
  "O 29 1 w 259 -";
  "T 3 1 A 5007525 727173124";
  "O 4 0 - -";
  "O 5 0 w 5 -";
  "T 4 2 A 117841114 726494696";
  "O 2 0 - -";
  "O 3 0 w 8 -";
  "T 5 3 A 165356847 727645712";
  "O 6 0 - -";
  "O 7 0 w 13 -";
  "T 6 3 C 727654305 738115847";
  "O 8 1 - = 0";
  "O 9 1 w 45 -";
  "T 7 3 C 2924178111 2990331961";
  "O 88 1 - = 278";
  "O 89 0 - = 690";
  "T 8 4 C 755444741 758417390";
  "O 10 0 - = 3";
  "O 11 0 w 107 -";
  "T 9 4 C 767607635 768338691";
  "O 12 1 - = 45";
  "O 13 1 w 299 -";
  "T 10 4 C 773797640 777009547";
  "O 16 0 - = 210";
  "O 17 0 w 395 -";
  "T 11 4 C 1746478468 1783471216";
  "O 40 1 - = 52";
  "O 41 1 w 651 -";
  "T 12 4 C 2249560814 2289441845";
  "O 54 0 - = 341";
  "O 55 0 w 779 -";
  "T 13 5 C 768748676 770585341";
  "O 14 0 - = 107";
  "O 15 0 w 210 -";
  "T 14 5 C 2882533905 2946688647";
  "O 80 0 - = 535";
  "O 81 0 w 690 -";
  "T 15 6 A 773699062 982221002";
  "O 18 0 - -";
  "O 19 0 w 98 -";
  "T 16 6 C 1676377487 1725381142";
  "O 36 0 - = 20";
  "O 37 0 w 354 -";
  "T 17 6 C 2552877004 2606692817";
  "O 68 1 - = 204";
  "O 69 1 w 610 -";
  "T 18 7 C 1009155103 1077231286";
  "O 20 0 - = 395";
  "O 21 0 w 119 -";
  "T 19 7 C 2724288680 2773942890";
  "O 74 0 - = 182";
  "O 75 0 w 535 -";
  "T 20 8 C 1155427639 1179785927";
  "O 24 0 - = 119";
  "O 25 0 w 65 -";
  "T 21 8 C 1894359968 2056190031";
  "O 48 1 - = 651";
  "O 49 1 w 289 -";
  "T 22 9 C 1194130023 1358510701";
  "O 26 0 - = 65";
  "O 27 0 w 143 -";
  "T 23 9 C 2216025542 2274153032";
  "O 50 1 - = 289";
  "O 51 1 w 303 -";
  "T 24 9 A 2332146902 2478361953";
  "O 62 0 - -";
  "O 63 0 w 335 -";
  "T 25 10 C 1515281235 1627491499";
  "O 30 1 - = 259";
  "O 31 1 w 83 -";
  "T 26 11 C 1629533432 1661818218";
  "O 34 1 - = 83";
  "O 35 1 w 46 -";
  "T 27 12 C 1632088054 1661252189";
  "O 32 0 - = 143";
  "O 33 0 w 20 -";
  "T 28 12 C 1661256566 1725800311";
  "O 38 1 - = 46";
  "O 39 1 w 52 -";
  "T 29 12 C 2967469718 2978444640";
  "O 84 1 - = 134";
  "O 85 0 - = 317";
  "T 30 13 A 1761868683 1837490725";
  "O 42 1 - -";
  "O 43 1 w 59 -";
  "T 31 14 C 1783184236 1870374390";
  "O 44 0 - = 354";
  "O 45 0 w 22 -";
  "T 32 14 C 2574271015 2620506668";
  "O 70 0 - = 94";
  "O 71 0 w 182 -";
  "T 33 14 C 2946948506 2980123028";
  "O 86 1 - = 134";
  "O 87 1 w 278 -";
  "T 34 15 C 1873387119 1996392595";
  "O 46 0 - = 22";
  "O 47 0 w 341 -";
  "T 35 16 A 2240293880 2276089397";
  "O 52 1 - -";
  "O 53 1 w 61 -";
  "T 36 16 C 2924814405 2968718451";
  "O 82 0 - = 690";
  "O 83 0 w 317 -";
  "T 37 17 C 2254836548 2332009146";
  "O 56 1 - = 303";
  "O 57 1 w 144 -";
  "T 38 17 A 2620851595 2852217136";
  "O 76 0 - -";
  "O 77 0 w 208 -";
  "T 39 18 C 2388994843 2407296115";
  "O 58 0 - = 779";
  "O 59 0 w 140 -";
  "T 40 18 C 2460133791 2477678327";
  "O 60 1 - = 144";
  "O 61 1 w 204 -";
  "T 41 19 C 2536107300 2584414210";
  "O 64 0 - = 140";
  "O 65 0 w 94 -";
  "T 42 20 A 2564364936 2606350895";
  "O 66 0 - -";
  "O 67 0 w 102 -";
  "T 43 20 C 2606356162 2866487035";
  "O 78 1 - = 152";
  "O 79 1 w 134 -";
  "T 44 21 C 2623610394 2713240918";
  "O 72 1 - = 610";
  "O 73 1 w 152 -";
  "T 45 22 A 2888058197 3105603152";
  "O 92 0 - -";
  "O 93 0 w 137 -";
  "T 46 23 A 2924551731 3057857538";
  "O 90 0 - -";
  "O 91 0 w 92 -"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, [None]);
    (8, [(Some 0)]);
    (6, [None]);
    (9, [(Some 6)]);
    (1, [(Some 9)]);
    (2, [(Some 1)]);
    (13, [(Some 8)]);
    (10, [(Some 13)]);
    (18, [(Some 10)]);
    (20, [(Some 18)]);
    (22, [(Some 20)]);
    (27, [(Some 22)]);
    (16, [(Some 27)]);
    (31, [(Some 16)]);
    (25, [(Some 2)]);
    (26, [(Some 25)]);
    (28, [(Some 26)]);
    (11, [(Some 28)]);
    (34, [(Some 31)]);
    (12, [(Some 34)]);
    (39, [(Some 12)]);
    (41, [(Some 39)]);
    (32, [(Some 41)]);
    (21, [(Some 11)]);
    (23, [(Some 21)]);
    (37, [(Some 23)]);
    (40, [(Some 37)]);
    (17, [(Some 40)]);
    (44, [(Some 17)]);
    (43, [(Some 44)]);
    (33, [(Some 43)]);
    (19, [(Some 32)]);
    (14, [(Some 19)]);
    (7, [(Some 33); (Some 14)]);
    (36, [(Some 14)]);
    (29, [(Some 43); (Some 36)])]);
  Proof Prefix false (BySteps [
    Given 0 (Candidates 29 1);
    Derived 1 [(true, Saw 29 1 (Some 36))] [0];
    Given 2 (Reads 29 1 36);
    Derived 3 [(false, Lt false 29 true 36)] [1; 2];
    Given 4 (Candidates 33 0);
    Derived 5 [(true, Saw 33 0 (Some 43))] [4];
    Given 6 (Reads 33 0 43);
    Derived 7 [(false, Lt false 33 true 43)] [5; 6];
    Given 8 (Own 33);
    Derived 9 [(true, Lt false 33 true 33)] [8];
    Given 10 (Candidates 29 0);
    Derived 11 [(true, Saw 29 0 (Some 43))] [10];
    Given 12 (Overwritten 29 0 (Some 43) 33);
    Given 13 (Cycle [(true, 43); (false, 33); (true, 33)]);
    Derived 14 [(true, Lt false 29 true 33)] [11; 7; 9; 12; 13];
    Given 15 (Candidates 7 0);
    Derived 16 [(true, Saw 7 0 (Some 33))] [15];
    Given 17 (Reads 7 0 33);
    Derived 18 [(false, Lt false 7 true 33)] [16; 17];
    Given 19 (Candidates 36 0);
    Derived 20 [(true, Saw 36 0 (Some 14))] [19];
    Given 21 (Reads 36 0 14);
    Derived 22 [(true, Lt true 14 false 36)] [20; 21];
    Given 23 (Own 36);
    Derived 24 [(true, Lt false 36 true 36)] [23];
    Given 25 (Candidates 7 1);
    Derived 26 [(true, Saw 7 1 (Some 14))] [25];
    Given 27 (Overwritten 7 1 (Some 14) 36);
    Given 28 (Cycle [(true, 14); (false, 36); (true, 36)]);
    Derived 29 [(true, Lt false 7 true 36)] [26; 22; 24; 27; 28];
    Given 30 (Cycle [(true, 36); (false, 29); (true, 33); (false, 7)]);
    Derived 31 [] [3; 14; 18; 29; 30]]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Candidates 29 1);
    Derived 1 [(true, Saw 29 1 (Some 36))] [0];
    Given 2 (Reads 29 1 36);
    Derived 3 [(false, Lt false 29 true 36)] [1; 2];
    Given 4 (Own 43);
    Derived 5 [(true, Lt false 43 true 43)] [4];
    Given 6 (Candidates 33 0);
    Derived 7 [(true, Saw 33 0 (Some 43))] [6];
    Given 8 (Reads 33 0 43);
    Derived 9 [(false, Lt false 33 true 43)] [7; 8];
    Given 10 (Own 33);
    Derived 11 [(true, Lt false 33 true 33)] [10];
    Given 12 (Candidates 29 0);
    Derived 13 [(true, Saw 29 0 (Some 43))] [12];
    Given 14 (Overwritten 29 0 (Some 43) 33);
    Given 15 (NoOverlap 1 33 43);
    Given 16 (Own 43);
    Given 17 (Cycle [(false, 43); (true, 43); (false, 33); (true, 33)]);
    Derived 18 [(true, Lt false 29 true 33)] [13; 16; 9; 11; 14; 17; 15];
    Given 19 (Candidates 7 0);
    Derived 20 [(true, Saw 7 0 (Some 33))] [19];
    Given 21 (Reads 7 0 33);
    Derived 22 [(false, Lt false 7 true 33)] [20; 21];
    Given 23 (Own 14);
    Derived 24 [(true, Lt false 14 true 14)] [23];
    Given 25 (Candidates 36 0);
    Derived 26 [(true, Saw 36 0 (Some 14))] [25];
    Given 27 (Reads 36 0 14);
    Derived 28 [(true, Lt true 14 false 36)] [26; 27];
    Given 29 (Own 36);
    Derived 30 [(true, Lt false 36 true 36)] [29];
    Given 31 (Candidates 7 1);
    Derived 32 [(true, Saw 7 1 (Some 14))] [31];
    Given 33 (Overwritten 7 1 (Some 14) 36);
    Given 34 (NoOverlap 0 36 14);
    Given 35 (Own 14);
    Given 36 (Cycle [(false, 14); (true, 14); (false, 36); (true, 36)]);
    Derived 37 [(true, Lt false 7 true 36)] [32; 35; 28; 30; 33; 36; 34];
    Given 38 (Cycle [(true, 36); (false, 29); (true, 33); (false, 7)]);
    Derived 39 [] [3; 18; 22; 37; 38]]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 29 1);
    Derived 1 [(true, Saw 29 1 (Some 36))] [0];
    Given 2 (Reads 29 1 36);
    Derived 3 [(false, Lt true 29 true 36)] [1; 2];
    Given 4 (Candidates 33 0);
    Derived 5 [(true, Saw 33 0 (Some 43))] [4];
    Given 6 (Reads 33 0 43);
    Derived 7 [(false, Lt true 33 true 43)] [5; 6];
    Given 8 (Candidates 29 0);
    Derived 9 [(true, Saw 29 0 (Some 43))] [8];
    Given 10 (Overwritten 29 0 (Some 43) 33);
    Given 11 (Cycle [(true, 43); (true, 33)]);
    Derived 12 [(true, Lt true 29 true 33)] [9; 7; 10];
    Given 13 (Candidates 7 0);
    Derived 14 [(true, Saw 7 0 (Some 33))] [13];
    Given 15 (Reads 7 0 33);
    Derived 16 [(false, Lt true 7 true 33)] [14; 15];
    Given 17 (Candidates 36 0);
    Derived 18 [(true, Saw 36 0 (Some 14))] [17];
    Given 19 (Reads 36 0 14);
    Derived 20 [(true, Lt true 14 true 36)] [18; 19];
    Given 21 (Candidates 7 1);
    Derived 22 [(true, Saw 7 1 (Some 14))] [21];
    Given 23 (Overwritten 7 1 (Some 14) 36);
    Given 24 (Cycle [(true, 14); (true, 36)]);
    Derived 25 [(true, Lt true 7 true 36)] [22; 20; 23];
    Given 26 (Cycle [(true, 36); (true, 29); (true, 33); (true, 7)]);
    Derived 27 [] [3; 12; 16; 25; 26]]);
  Proof StrongSessionSerializable false (BySteps [
    Given 0 (Candidates 29 1);
    Derived 1 [(true, Saw 29 1 (Some 36))] [0];
    Given 2 (Reads 29 1 36);
    Derived 3 [(false, Lt true 29 true 36)] [1; 2];
    Given 4 (Candidates 33 0);
    Derived 5 [(true, Saw 33 0 (Some 43))] [4];
    Given 6 (Reads 33 0 43);
    Derived 7 [(false, Lt true 33 true 43)] [5; 6];
    Given 8 (Candidates 29 0);
    Derived 9 [(true, Saw 29 0 (Some 43))] [8];
    Given 10 (Overwritten 29 0 (Some 43) 33);
    Given 11 (Cycle [(true, 43); (true, 33)]);
    Derived 12 [(true, Lt true 29 true 33)] [9; 7; 10];
    Given 13 (Candidates 7 0);
    Derived 14 [(true, Saw 7 0 (Some 33))] [13];
    Given 15 (Reads 7 0 33);
    Derived 16 [(false, Lt true 7 true 33)] [14; 15];
    Given 17 (Candidates 36 0);
    Derived 18 [(true, Saw 36 0 (Some 14))] [17];
    Given 19 (Reads 36 0 14);
    Derived 20 [(true, Lt true 14 true 36)] [18; 19];
    Given 21 (Candidates 7 1);
    Derived 22 [(true, Saw 7 1 (Some 14))] [21];
    Given 23 (Overwritten 7 1 (Some 14) 36);
    Given 24 (Cycle [(true, 14); (true, 36)]);
    Derived 25 [(true, Lt true 7 true 36)] [22; 20; 23];
    Given 26 (Cycle [(true, 36); (true, 29); (true, 33); (true, 7)]);
    Derived 27 [] [3; 12; 16; 25; 26]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 29 1);
    Derived 1 [(true, Saw 29 1 (Some 36))] [0];
    Given 2 (Reads 29 1 36);
    Derived 3 [(false, Lt true 29 true 36)] [1; 2];
    Given 4 (Candidates 33 0);
    Derived 5 [(true, Saw 33 0 (Some 43))] [4];
    Given 6 (Reads 33 0 43);
    Derived 7 [(false, Lt true 33 true 43)] [5; 6];
    Given 8 (Candidates 29 0);
    Derived 9 [(true, Saw 29 0 (Some 43))] [8];
    Given 10 (Overwritten 29 0 (Some 43) 33);
    Given 11 (Cycle [(true, 43); (true, 33)]);
    Derived 12 [(true, Lt true 29 true 33)] [9; 7; 10];
    Given 13 (Candidates 7 0);
    Derived 14 [(true, Saw 7 0 (Some 33))] [13];
    Given 15 (Reads 7 0 33);
    Derived 16 [(false, Lt true 7 true 33)] [14; 15];
    Given 17 (Candidates 36 0);
    Derived 18 [(true, Saw 36 0 (Some 14))] [17];
    Given 19 (Reads 36 0 14);
    Derived 20 [(true, Lt true 14 true 36)] [18; 19];
    Given 21 (Candidates 7 1);
    Derived 22 [(true, Saw 7 1 (Some 14))] [21];
    Given 23 (Overwritten 7 1 (Some 14) 36);
    Given 24 (Cycle [(true, 14); (true, 36)]);
    Derived 25 [(true, Lt true 7 true 36)] [22; 20; 23];
    Given 26 (Cycle [(true, 36); (true, 29); (true, 33); (true, 7)]);
    Derived 27 [] [3; 12; 16; 25; 26]])
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

Theorem answer_0 : exists h, read text = Some h /\ satisfies h 0 ReadCommitted.
Proof. exact (decides_nth text 0 proofs answers 0 _ decided eq_refl). Qed.

Theorem answer_1 : exists h, read text = Some h /\ satisfies h 0 ReadAtomic.
Proof. exact (decides_nth text 0 proofs answers 1 _ decided eq_refl). Qed.

Theorem answer_2 : exists h, read text = Some h /\ satisfies h 0 Causal.
Proof. exact (decides_nth text 0 proofs answers 2 _ decided eq_refl). Qed.

Theorem answer_3 : exists h, read text = Some h /\ violates h 0 Prefix.
Proof. exact (decides_nth text 0 proofs answers 3 _ decided eq_refl). Qed.

Theorem answer_4 : exists h, read text = Some h /\ violates h 0 SnapshotIsolation.
Proof. exact (decides_nth text 0 proofs answers 4 _ decided eq_refl). Qed.

Theorem answer_5 : exists h, read text = Some h /\ violates h 0 GeneralizedSI.
Proof. exact (decides_nth text 0 proofs answers 5 _ decided eq_refl). Qed.

Theorem answer_6 : exists h, read text = Some h /\ violates h 0 StrongSessionSI.
Proof. exact (decides_nth text 0 proofs answers 6 _ decided eq_refl). Qed.

Theorem answer_7 : exists h, read text = Some h /\ violates h 0 StrongSI.
Proof. exact (decides_nth text 0 proofs answers 7 _ decided eq_refl). Qed.

Theorem answer_8 : exists h, read text = Some h /\ violates h 0 Serializable.
Proof. exact (decides_nth text 0 proofs answers 8 _ decided eq_refl). Qed.

Theorem answer_9 : exists h, read text = Some h /\ violates h 0 StrongSessionSerializable.
Proof. exact (decides_nth text 0 proofs answers 9 _ decided eq_refl). Qed.

Theorem answer_10 : exists h, read text = Some h /\ violates h 0 StrictSerializable.
Proof. exact (decides_nth text 0 proofs answers 10 _ decided eq_refl). Qed.
