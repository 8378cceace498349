(* Theorems about one recorded history: `cupel verify --proved --coq FILE` writes a file that
   gives the canonical text of the history and a certificate, and Coq's kernel evaluates the
   verifier on them. Such a theorem needs neither extraction nor OCaml. *)
From Coq Require Import List String Ascii NArith ZArith Uint63 Bool.
From Cupel Require Import History Levels Ladder Format Verify.
Import ListNotations.

Definition bytes (s : string) : list int :=
  map (fun a => of_Z (Z.of_N (N_of_ascii a))) (list_ascii_of_string s).
Definition read (lines : list string) : option history := parse (map bytes lines).

(* The text is that of a history, for which each answer is true. *)
Definition decides (lines : list string) (drift : int) (proofs : list proof) (answers : list answer)
  : bool :=
  match read lines with Some h => verify h drift proofs answers | None => false end.
Definition true_answer (h : history) (drift : int) (a : answer) : Prop :=
  if verdict a then satisfies h drift (for_level a) else violates h drift (for_level a).

Theorem decides_sound : forall lines drift proofs answers, decides lines drift proofs answers = true ->
  exists h, read lines = Some h /\ forall a, In a answers -> true_answer h drift a.
Proof.
  intros lines drift proofs answers D. unfold decides in D.
  destruct (read lines) as [h|]; [|discriminate]. exists h. split; auto.
  intros a I. exact (verify_sound h drift proofs answers D a I).
Qed.
(* The verdict of the n-th answer, for whoever reads the theorem. *)
Corollary decides_nth : forall lines drift proofs answers n a,
  decides lines drift proofs answers = true -> nth_error answers n = Some a ->
  exists h, read lines = Some h /\ true_answer h drift a.
Proof.
  intros lines drift proofs answers n a D N. destruct (decides_sound _ _ _ _ D) as (h & R & A).
  exists h. split; auto. apply A. eapply nth_error_In; eauto.
Qed.

(* --- anomalies, and what separates two levels (Examples.v) --- *)

Definition all_levels : list level :=
  [ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI;
   StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable].
Lemma every_level : forall l, In l all_levels.
Proof. intros []; simpl; tauto. Qed.
Definition says (answers : list answer) (l : level) (v : bool) : bool :=
  existsb (fun a => level_eqb (for_level a) l && Bool.eqb (verdict a) v) answers.
Lemma says_in : forall answers l v, says answers l v = true ->
  exists a, In a answers /\ for_level a = l /\ verdict a = v.
Proof.
  intros answers l v S. apply existsb_exists in S. destruct S as (a & I & E).
  apply andb_prop in E. destruct E as (E & V). apply level_eqb_eq in E. apply eqb_prop in V. eauto.
Qed.

(* The level forbids the anomaly, and no level that it implies does. *)
Definition weakest (answers : list answer) (l : level) : bool :=
  says answers l false &&
  forallb (fun l' => negb (implies l l') || level_eqb l l' || says answers l' true) all_levels.
Theorem weakest_sound : forall lines drift proofs answers l,
  decides lines drift proofs answers = true -> weakest answers l = true ->
  exists h, read lines = Some h /\ violates h drift l /\
            forall l', implies l l' = true -> l' <> l -> satisfies h drift l'.
Proof.
  intros lines drift proofs answers l D W. destruct (decides_sound _ _ _ _ D) as (h & R & A).
  exists h. split; auto. apply andb_prop in W. destruct W as (V & S). split.
  - apply says_in in V. destruct V as (a & I & <- & E). apply A in I. unfold true_answer in I.
    now rewrite E in I.
  - intros l' Im N. rewrite forallb_forall in S. specialize (S l' (every_level l')).
    rewrite Im in S. simpl in S. apply orb_prop in S. destruct S as [S|S].
    + apply level_eqb_eq in S. congruence.
    + apply says_in in S. destruct S as (a & I & <- & E). apply A in I. unfold true_answer in I.
      now rewrite E in I.
Qed.

(* A history that violates all of some levels and satisfies all of others. *)
Definition classified (answers : list answer) (bad good : list level) : bool :=
  forallb (fun l => says answers l false) bad && forallb (fun l => says answers l true) good.
Theorem classified_sound : forall lines drift proofs answers bad good,
  decides lines drift proofs answers = true -> classified answers bad good = true ->
  exists h, read lines = Some h /\
    (forall l, In l bad -> violates h drift l) /\ (forall l, In l good -> satisfies h drift l).
Proof.
  intros lines drift proofs answers bad good D C. destruct (decides_sound _ _ _ _ D) as (h & R & A).
  exists h. split; auto. apply andb_prop in C. destruct C as (B & G). rewrite forallb_forall in B, G.
  split; intros l I; [apply B in I|apply G in I]; apply says_in in I; destruct I as (a & Ia & <- & E);
    apply A in Ia; unfold true_answer in Ia; now rewrite E in Ia.
Qed.

Record example := Example { lines_of : list string; proofs_of : list proof;
                            answers_of : list answer }.
(* With clocks that are right. *)
Definition decided_example (x : example) : Prop :=
  decides (lines_of x) 0 (proofs_of x) (answers_of x) = true.
(* Of any two levels but linearizable, which is about other histories, the one implies the other
   or some example satisfies the one and violates the other. *)
Definition not_linearizable (l : level) : bool := negb (level_eqb l Linearizable).
Definition all_separated (xs : list example) : bool :=
  forallb (fun a => forallb (fun b =>
    implies a b || negb (not_linearizable a) || negb (not_linearizable b) ||
    existsb (fun x => says (answers_of x) a true && says (answers_of x) b false) xs)
    all_levels) all_levels.
Theorem separated_sound : forall xs, Forall decided_example xs -> all_separated xs = true ->
  forall a b, a <> Linearizable -> b <> Linearizable -> implies a b = false ->
  exists h, satisfies h 0 a /\ violates h 0 b.
Proof.
  intros xs D S a b Na Nb Im. unfold all_separated in S. rewrite forallb_forall in S.
  specialize (S a (every_level a)). rewrite forallb_forall in S. specialize (S b (every_level b)).
  rewrite Im in S.
  assert (X : forall l, l <> Linearizable -> negb (not_linearizable l) = false)
    by (intros []; simpl; congruence).
  rewrite (X a Na), (X b Nb) in S. cbn [orb] in S.
  apply existsb_exists in S. destruct S as (x & I & S). apply andb_prop in S. destruct S as (Sa & Sb).
  rewrite Forall_forall in D. destruct (decides_sound _ _ _ _ (D x I)) as (h & _ & A).
  exists h. apply says_in in Sa, Sb.
  destruct Sa as (p & Ip & <- & Ep), Sb as (q & Iq & <- & Eq). apply A in Ip, Iq.
  unfold true_answer in *. rewrite Ep in Ip. rewrite Eq in Iq. auto.
Qed.
