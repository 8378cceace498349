(* Written by `cupel verify --proved --coq`. Coq's kernel accepts it with the files of
   cupel's proofs/: tools/prove.sh makes them, then coqc -Q build/proofs Cupel FILE. *)
From Coq Require Import List String Uint63.
From Cupel Require Import History Levels Clauses Derivation Verify Text.
Import ListNotations.
Local Open Scope uint63_scope.

(* The canonical text of the history: a line for each transaction and operation. *)
Definition text : list string := [
  "# times are in ns since 15283680";
  "# key 0 is 1";
  "# key 1 is 5";
  "# key 2 is 0";
  "# key 3 is 3";
  "# key 4 is 6";
  "# key 5 is 2";
  "# key 6 is 7";
  "# key 7 is 4";
  "# key 8 is 9";
  "# key 9 is 8";
  "# value 1152921504606846976 is null";
  "H 1152921504606846976 1152921504606846976";
  "T 0 0 C 0 2923643";
  "O 0 0 - = 1152921504606846976";
  "O 1 1 - = 1152921504606846976";
  "T 1 0 A 2954633 50069390";
  "O 63 9 - -";
  "O 64 9 w 2 -";
  "T 2 0 C 52305584 58190509";
  "O 81 0 - = 3";
  "O 82 8 - = 4";
  "T 3 0 C 58216509 63122846";
  "O 92 4 - = 1152921504606846976";
  "O 93 5 - = 1152921504606846976";
  "T 4 0 C 63139676 74295337";
  "O 112 8 - = 6";
  "O 113 8 w 7 -";
  "T 5 0 C 74321247 83603722";
  "O 138 9 - = 5";
  "O 139 9 w 7 -";
  "T 6 0 C 83623452 90362355";
  "O 156 8 - = 8";
  "O 157 8 w 10 -";
  "T 7 0 I 90380855 -";
  "O 191 9 - -";
  "O 192 4 - -";
  "O 193 9 w 10 -";
  "T 8 1 A 88030 46779888";
  "O 53 9 - -";
  "O 54 9 w 1 -";
  "O 55 4 - -";
  "O 56 4 w 1 -";
  "T 9 1 C 49053213 60923162";
  "O 83 7 - = 1152921504606846976";
  "O 84 2 - = 1";
  "O 85 7 w 4 -";
  "T 10 1 A 60948402 70855976";
  "O 109 6 - -";
  "O 110 2 - -";
  "O 111 6 w 7 -";
  "T 11 1 C 71449484 76803220";
  "O 120 5 - = 1152921504606846976";
  "T 12 1 C 76823950 87529722";
  "O 145 3 - = 2";
  "O 146 3 w 3 -";
  "O 147 5 - = 1152921504606846976";
  "O 148 5 w 2 -";
  "T 13 1 C 87576342 90647834";
  "O 158 3 - = 3";
  "O 159 5 - = 2";
  "T 14 1 C 90663114 105049976";
  "O 186 7 - = 4";
  "O 187 7 w 7 -";
  "T 15 1 I 105074806 -";
  "O 194 3 - -";
  "O 195 3 w 6 -";
  "O 196 1 - -";
  "O 197 1 w 7 -";
  "T 16 2 A 5254657 22490882";
  "O 8 3 - -";
  "O 9 3 w 1 -";
  "O 10 6 - -";
  "O 11 6 w 1 -";
  "T 17 2 C 24405367 32547856";
  "O 29 1 - = 1152921504606846976";
  "O 30 9 - = 1152921504606846976";
  "O 31 1 w 1 -";
  "T 18 2 C 32569116 44321295";
  "O 44 2 - = 1";
  "O 45 5 - = 1152921504606846976";
  "O 46 2 w 2 -";
  "T 19 2 C 44342565 55595516";
  "O 77 2 - = 2";
  "O 78 0 - = 3";
  "O 79 2 w 3 -";
  "O 80 0 w 4 -";
  "T 20 2 C 55644005 68874051";
  "O 106 6 - = 3";
  "O 107 3 - = 1152921504606846976";
  "O 108 6 w 6 -";
  "T 21 2 C 68892561 76965590";
  "O 121 2 - = 3";
  "O 122 0 - = 5";
  "T 22 2 C 76990270 80960449";
  "O 135 5 - = 1152921504606846976";
  "O 136 3 - = 2";
  "T 23 2 C 80979229 86806004";
  "O 144 1 - = 5";
  "T 24 2 C 86820084 95595041";
  "O 168 9 - = 7";
  "O 169 9 w 8 -";
  "T 25 2 C 95625681 106927811";
  "O 188 4 - = 4";
  "O 189 6 - = 8";
  "O 190 4 w 5 -";
  "T 26 3 A 5474486 23874728";
  "O 12 6 - -";
  "O 13 7 - -";
  "O 14 6 w 2 -";
  "T 27 3 C 25297404 29745073";
  "O 26 7 - = 1152921504606846976";
  "O 27 1 - = 1152921504606846976";
  "T 28 3 C 29764323 36801225";
  "O 36 1 - = 1152921504606846976";
  "O 37 8 - = 1152921504606846976";
  "T 29 3 C 36816174 42346030";
  "O 42 0 - = 2";
  "O 43 3 - = 1152921504606846976";
  "T 30 3 C 42366230 51706766";
  "O 70 7 - = 1152921504606846976";
  "O 71 8 - = 2";
  "O 72 7 w 1 -";
  "O 73 8 w 4 -";
  "T 31 3 A 51920745 65028321";
  "O 100 8 - -";
  "O 101 8 w 5 -";
  "T 32 3 C 67079926 80094541";
  "O 131 6 - = 6";
  "O 132 6 w 9 -";
  "O 133 8 - = 6";
  "O 134 8 w 8 -";
  "T 33 3 A 80113621 89574627";
  "O 152 5 - -";
  "O 153 5 w 3 -";
  "T 34 3 C 90920683 100457528";
  "O 176 2 - = 4";
  "O 177 2 w 6 -";
  "T 35 3 I 100477398 -";
  "O 198 4 - -";
  "O 199 4 w 6 -";
  "T 36 4 C 13506235 16498717";
  "O 2 2 - = 1152921504606846976";
  "O 3 3 - = 1152921504606846976";
  "T 37 4 C 16531427 18008863";
  "O 6 2 - = 1152921504606846976";
  "O 7 5 - = 1152921504606846976";
  "T 38 4 A 18031253 24903036";
  "O 19 4 - -";
  "O 20 4 w 2 -";
  "O 21 0 - -";
  "O 22 0 w 1 -";
  "T 39 4 C 25391534 32849615";
  "O 32 2 - = 1152921504606846976";
  "O 33 2 w 1 -";
  "T 40 4 C 32890255 44401754";
  "O 47 9 - = 1152921504606846976";
  "O 48 9 w 4 -";
  "T 41 4 A 44419334 50866578";
  "O 66 7 - -";
  "O 67 1 - -";
  "O 68 7 w 2 -";
  "O 69 1 w 4 -";
  "T 42 4 C 52814813 62943356";
  "O 88 8 - = 4";
  "O 89 9 - = 4";
  "O 90 8 w 6 -";
  "O 91 9 w 5 -";
  "T 43 4 C 62965246 67510894";
  "O 105 9 - = 5";
  "T 44 4 A 67528914 77061909";
  "O 123 8 - -";
  "O 124 7 - -";
  "O 125 8 w 9 -";
  "O 126 7 w 5 -";
  "T 45 4 C 78683825 91229503";
  "O 160 0 - = 5";
  "O 161 9 - = 6";
  "O 162 0 w 6 -";
  "T 46 4 C 91246012 95782591";
  "O 170 8 - = 10";
  "T 47 4 I 95798280 -";
  "O 200 7 - -";
  "O 201 4 - -";
  "O 202 7 w 8 -";
  "T 48 5 C 15371010 16738457";
  "O 4 3 - = 1152921504606846976";
  "O 5 4 - = 1152921504606846976";
  "T 49 5 A 16758657 24532186";
  "O 15 8 - -";
  "O 16 9 - -";
  "O 17 8 w 1 -";
  "O 18 9 w 3 -";
  "T 50 5 C 25787563 36980104";
  "O 38 8 - = 1152921504606846976";
  "O 39 6 - = 1152921504606846976";
  "O 40 8 w 2 -";
  "T 51 5 C 36995894 40713924";
  "O 41 7 - = 1152921504606846976";
  "T 52 5 C 40735714 48568764";
  "O 57 8 - = 2";
  "O 58 8 w 3 -";
  "T 53 5 A 48613574 61019701";
  "O 86 7 - -";
  "O 87 7 w 3 -";
  "T 54 5 C 63952484 76327181";
  "O 117 9 - = 5";
  "O 118 4 - = 1152921504606846976";
  "O 119 9 w 6 -";
  "T 55 5 C 76351721 88259770";
  "O 149 1 - = 1";
  "O 150 8 - = 7";
  "O 151 1 w 6 -";
  "T 56 5 A 88290480 97154337";
  "O 172 9 - -";
  "O 173 2 - -";
  "O 174 9 w 9 -";
  "O 175 2 w 5 -";
  "T 57 5 I 99815120 -";
  "O 203 7 - -";
  "O 204 9 - -";
  "O 205 7 w 10 -";
  "O 206 9 w 11 -";
  "T 58 6 C 22060543 25545854";
  "O 23 5 - = 1152921504606846976";
  "T 59 6 C 25563564 28907145";
  "O 24 5 - = 1152921504606846976";
  "O 25 7 - = 1152921504606846976";
  "T 60 6 C 28930635 31115779";
  "O 28 8 - = 1152921504606846976";
  "T 61 6 C 31139469 46443969";
  "O 49 6 - = 1152921504606846976";
  "O 50 6 w 3 -";
  "O 51 0 - = 2";
  "O 52 0 w 3 -";
  "T 62 6 C 46462909 50485529";
  "O 65 7 - = 1152921504606846976";
  "T 63 6 C 50509049 55070817";
  "O 76 9 - = 4";
  "T 64 6 C 55091347 64061173";
  "O 94 6 - = 3";
  "O 95 1 - = 1";
  "O 96 6 w 5 -";
  "T 65 6 C 64083693 76128892";
  "O 114 4 - = 1152921504606846976";
  "O 115 0 - = 5";
  "O 116 4 w 3 -";
  "T 66 6 C 76174962 81584388";
  "O 137 7 - = 4";
  "T 67 6 C 81603748 89926556";
  "O 154 4 - = 3";
  "O 155 4 w 4 -";
  "T 68 6 C 89960276 103167551";
  "O 178 8 - = 10";
  "O 179 8 w 11 -";
  "T 69 6 I 103193711 -";
  "O 207 4 - -";
  "O 208 4 w 7 -";
  "O 209 3 - -";
  "O 210 3 w 5 -";
  "T 70 7 C 26589011 36692655";
  "O 34 0 - = 1152921504606846976";
  "O 35 0 w 2 -";
  "T 71 7 A 36726535 49208502";
  "O 59 6 - -";
  "O 60 6 w 4 -";
  "O 61 1 - -";
  "O 62 1 w 2 -";
  "T 72 7 C 49674511 65460940";
  "O 102 0 - = 3";
  "O 103 4 - = 1152921504606846976";
  "O 104 0 w 5 -";
  "T 73 7 C 65492639 86719444";
  "O 140 2 - = 3";
  "O 141 6 - = 5";
  "O 142 2 w 4 -";
  "O 143 6 w 8 -";
  "T 74 7 C 86744084 91574702";
  "O 163 4 - = 4";
  "T 75 7 C 91589602 96437089";
  "O 171 6 - = 8";
  "T 76 7 A 96456949 104987327";
  "O 183 7 - -";
  "O 184 3 - -";
  "O 185 7 w 9 -";
  "T 77 7 I 106470713 -";
  "O 211 9 - -";
  "O 212 7 - -";
  "T 78 8 A 37197533 53079512";
  "O 74 1 - -";
  "O 75 1 w 3 -";
  "T 79 8 C 53260191 64871321";
  "O 97 3 - = 1152921504606846976";
  "O 98 0 - = 3";
  "O 99 3 w 2 -";
  "T 80 8 C 64904831 79633573";
  "O 127 5 - = 1152921504606846976";
  "O 128 1 - = 1";
  "O 129 5 w 1 -";
  "O 130 1 w 5 -";
  "T 81 8 C 79653633 93194617";
  "O 164 7 - = 4";
  "O 165 3 - = 2";
  "O 166 7 w 6 -";
  "O 167 3 w 4 -";
  "T 82 8 A 93245177 104831167";
  "O 180 8 - -";
  "O 181 5 - -";
  "O 182 8 w 12 -";
  "T 83 8 I 105162426 -";
  "O 213 5 - -";
  "O 214 6 - -";
  "O 215 5 w 4 -";
  "O 216 6 w 10 -"
]%string.

Definition proofs : list proof := [
  Proof Causal true (ByWeak [
    (0, [None; None]);
    (58, [None]);
    (59, [None; None]);
    (60, [None]);
    (70, [None]);
    (61, [None; (Some 70)]);
    (27, [None; None]);
    (28, [None; None]);
    (29, [(Some 70); None]);
    (48, [None; None]);
    (50, [None; None]);
    (30, [None; (Some 50)]);
    (2, [(Some 61); (Some 30)]);
    (3, [None; None]);
    (36, [None; None]);
    (37, [None; None]);
    (39, [None]);
    (40, [None]);
    (42, [(Some 30); (Some 40)]);
    (51, [None]);
    (52, [(Some 50)]);
    (4, [(Some 42)]);
    (5, [(Some 42)]);
    (17, [None; None]);
    (18, [(Some 39); None]);
    (19, [(Some 18); (Some 61)]);
    (20, [(Some 61); None]);
    (32, [(Some 20); (Some 42)]);
    (6, [(Some 32)]);
    (9, [None; (Some 39)]);
    (11, [None]);
    (79, [None; (Some 61)]);
    (12, [(Some 79); None]);
    (13, [(Some 12); (Some 12)]);
    (14, [(Some 9)]);
    (72, [(Some 61); None]);
    (21, [(Some 19); (Some 72)]);
    (22, [None; (Some 79)]);
    (80, [None; (Some 17)]);
    (23, [(Some 80)]);
    (24, [(Some 5)]);
    (62, [None]);
    (63, [(Some 40)]);
    (64, [(Some 61); (Some 17)]);
    (65, [None; (Some 72)]);
    (66, [(Some 9)]);
    (67, [(Some 65)]);
    (73, [(Some 19); (Some 64)]);
    (25, [(Some 67); (Some 73)]);
    (34, [(Some 73)]);
    (43, [(Some 42)]);
    (54, [(Some 42); None]);
    (45, [(Some 72); (Some 54)]);
    (46, [(Some 6)]);
    (55, [(Some 17); (Some 4)]);
    (68, [(Some 6)]);
    (74, [(Some 67)]);
    (75, [(Some 73)]);
    (81, [(Some 9); (Some 79)])]);
  Proof Prefix true (ByOrder [0; 0; 27; 27; 28; 28; 36; 36; 37; 37; 48; 48; 58; 58; 59; 59; 60; 60; 17; 39; 50; 70; 17; 39; 18; 40; 70; 29; 29; 61; 50; 51; 51; 52; 30; 40; 61; 62; 62; 63; 63; 52; 9; 18; 19; 72; 30; 2; 2; 3; 3; 42; 79; 64; 19; 20; 9; 11; 11; 42; 43; 43; 4; 54; 64; 79; 80; 72; 65; 73; 20; 21; 21; 22; 22; 32; 4; 5; 65; 66; 66; 54; 55; 12; 45; 80; 23; 23; 81; 32; 67; 5; 6; 73; 24; 12; 13; 13; 55; 67; 74; 74; 75; 75; 6; 68; 14; 34; 45; 46; 46; 81; 24; 25; 34; 68; 14; 25]);
  Proof SnapshotIsolation false (BySteps [
    Given 0 (Candidates 9 0);
    Derived 1 [(true, Saw 9 0 None)] [0];
    Given 2 (Overwritten 9 0 None 30);
    Derived 3 [(true, Lt false 9 true 30)] [1; 2];
    Given 4 (Candidates 30 0);
    Derived 5 [(true, Saw 30 0 None)] [4];
    Given 6 (Overwritten 30 0 None 9);
    Derived 7 [(false, Lt true 9 false 30)] [5; 6];
    Given 8 (NoOverlap 7 30 9);
    Given 9 (NoOverlap 7 9 30);
    Given 10 (Own 9);
    Given 11 (Cycle [(false, 30); (true, 9)]);
    Derived 12 [(false, Lt false 9 true 30)] [7; 8; 9];
    Given 13 (Cycle [(false, 9); (true, 30)]);
    Derived 14 [] [3; 12]]);
  Proof Serializable false (BySteps [
    Given 0 (Candidates 9 0);
    Derived 1 [(true, Saw 9 0 None)] [0];
    Given 2 (Overwritten 9 0 None 30);
    Derived 3 [(true, Lt true 9 true 30)] [1; 2];
    Given 4 (Candidates 30 0);
    Derived 5 [(true, Saw 30 0 None)] [4];
    Given 6 (Overwritten 30 0 None 9);
    Derived 7 [(false, Lt true 9 true 30)] [5; 6];
    Given 8 (Cycle [(true, 9); (true, 30)]);
    Derived 9 [] [3; 7]]);
  Proof StrongSessionSerializable false (BySteps [
    Given 0 (Candidates 9 0);
    Derived 1 [(true, Saw 9 0 None)] [0];
    Given 2 (Overwritten 9 0 None 30);
    Derived 3 [(true, Lt true 9 true 30)] [1; 2];
    Given 4 (Candidates 30 0);
    Derived 5 [(true, Saw 30 0 None)] [4];
    Given 6 (Overwritten 30 0 None 9);
    Derived 7 [(false, Lt true 9 true 30)] [5; 6];
    Given 8 (Cycle [(true, 9); (true, 30)]);
    Derived 9 [] [3; 7]]);
  Proof StrictSerializable false (BySteps [
    Given 0 (Candidates 9 0);
    Derived 1 [(true, Saw 9 0 None)] [0];
    Given 2 (Overwritten 9 0 None 30);
    Derived 3 [(true, Lt true 9 true 30)] [1; 2];
    Given 4 (Candidates 30 0);
    Derived 5 [(true, Saw 30 0 None)] [4];
    Given 6 (Overwritten 30 0 None 9);
    Derived 7 [(false, Lt true 9 true 30)] [5; 6];
    Given 8 (Cycle [(true, 9); (true, 30)]);
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

Theorem answer_3 : exists h, read text = Some h /\ satisfies h 0 Prefix.
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
