(* The implications between the levels (docs/reference/levels.md, "Implications"): a history that
   satisfies a level satisfies every level that it implies. That no further implication holds
   is in Examples.v, by histories that are decided. *)
From Coq Require Import List ZArith Uint63 Bool Sorted Relations Lia.
From Cupel Require Import History Levels.
Import ListNotations.
Local Open Scope Z_scope.

(* --- the table --- *)

Definition arrows (l : level) : list level :=
  match l with
  | StrictSerializable => [StrongSessionSerializable; StrongSI]
  | StrongSessionSerializable => [Serializable; StrongSessionSI]
  | Serializable => [SnapshotIsolation]
  | StrongSI => [StrongSessionSI; GeneralizedSI]
  | GeneralizedSI => [SnapshotIsolation]
  | StrongSessionSI => [SnapshotIsolation; Prefix]
  | Prefix => [Causal]
  | Causal => [ReadAtomic]
  | ReadAtomic => [ReadCommitted]
  | SnapshotIsolation | ReadCommitted | Linearizable => []
  end.

Definition level_eqb (a b : level) : bool :=
  match a, b with
  | ReadCommitted, ReadCommitted | ReadAtomic, ReadAtomic | Causal, Causal | Prefix, Prefix
  | SnapshotIsolation, SnapshotIsolation | GeneralizedSI, GeneralizedSI
  | StrongSessionSI, StrongSessionSI | StrongSI, StrongSI | Serializable, Serializable
  | StrongSessionSerializable, StrongSessionSerializable
  | StrictSerializable, StrictSerializable | Linearizable, Linearizable => true
  | _, _ => false
  end.
Lemma level_eqb_eq : forall a b, level_eqb a b = true -> a = b.
Proof. destruct a, b; simpl; congruence. Qed.

(* The longest path of arrows has seven. *)
Fixpoint reaches (steps : nat) (a b : level) : bool :=
  level_eqb a b ||
  match steps with O => false | S n => existsb (fun c => reaches n c b) (arrows a) end.
Definition implies (a b : level) : bool := reaches 8 a b.

(* --- executions whose commits are in the same order --- *)

Section Same.
Variables (h : history) (e e' : execution).
Hypothesis same_live : forall t, live e' t = live e t.
Hypothesis same_source : forall t o, source e' t o = source e t o.
Hypothesis same_order : forall a b, finish e' a < finish e' b <-> finish e a < finish e b.

Lemma same_order_le : forall a b, finish e' a <= finish e' b <-> finish e a <= finish e b.
Proof. intros. specialize (same_order b a). lia. Qed.

Lemma counts_same : forall t, counts h e' t <-> counts h e t.
Proof. intros. unfold counts. rewrite same_live. tauto. Qed.
Lemma writer_same : forall k t, writer h e' k t <-> writer h e k t.
Proof. intros. unfold writer. rewrite counts_same. tauto. Qed.

Lemma sorted_same : forall ws,
  StronglySorted (fun a b => finish e a < finish e b) ws ->
  StronglySorted (fun a b => finish e' a < finish e' b) ws.
Proof.
  induction 1; constructor; auto. eapply Forall_impl; [|eassumption].
  intros b. cbn. apply same_order.
Qed.

Lemma list_of_same : forall k who who' vs,
  (forall a, who' a <-> who a) -> list_of h e k who vs -> list_of h e' k who' vs.
Proof.
  intros k who who' vs W (ws & S & I & V). exists ws. split; [|split]; auto.
  - now apply sorted_same.
  - intros a. rewrite I, writer_same, W. tauto.
Qed.

Lemma consistent_same : consistent h e -> consistent h e'.
Proof.
  intros (A & B & R). split; [|split].
  - intros. rewrite same_live. auto.
  - intros. rewrite same_live. auto.
  - intros t p o s C P. rewrite counts_same in C. specialize (R t p o s C P).
    destruct (last_write (on o) p) as [c|].
    + destruct s; simpl in *; auto. destruct R as (before & L & V).
      exists before. split; auto.
      eapply list_of_same; [|eassumption]. intros. apply same_order.
    + unfold sees_other in *. rewrite same_source. destruct R as (S & F). split.
      * destruct (source e t (length p)); auto. rewrite writer_same. auto.
      * destruct s; simpl in *; auto. eapply list_of_same; [|eassumption].
        intros. destruct (source e t (length p)); [apply same_order_le|tauto].
Qed.

Lemma commits_apart_same : commits_apart h e -> commits_apart h e'.
Proof.
  intros A a b Ca Cb E. rewrite counts_same in Ca, Cb. apply A; auto.
  pose proof (same_order a b). pose proof (same_order b a). lia.
Qed.
End Same.

(* --- each arrow --- *)

(* Every transaction of a serial order becomes a short interval. *)
Definition split (e : execution) : execution :=
  Execution (live e) (source e) (fun t => 2 * finish e t) (fun t => 2 * finish e t + 1).

Lemma split_order : forall e a b, finish (split e) a < finish (split e) b <-> finish e a < finish e b.
Proof. intros. cbn -[Z.mul]. lia. Qed.

Section Split.
Variables (h : history) (drift : int) (e : execution).
Hypothesis con : consistent h e.
Hypothesis apart : commits_apart h e.
Hypothesis wr : wr_order h e.
Hypothesis rw : rw_order h e.
Hypothesis one : one_event h e.

Lemma split_consistent : consistent h (split e).
Proof. apply (consistent_same h e); auto using split_order. Qed.
Lemma split_apart : commits_apart h (split e).
Proof. apply (commits_apart_same h e); auto using split_order. Qed.
Lemma split_two : two_events h (split e).
Proof.
  split; [|split]; cbn -[Z.mul]; intros.
  - lia.
  - lia.
  - apply apart; auto; lia.
Qed.
Lemma split_wr : wr_order h (split e).
Proof.
  intros t p o s w C R S. cbn -[Z.mul] in *. specialize (wr t p o s w C R S). rewrite one in wr by auto. lia.
Qed.
Lemma split_rw : rw_order h (split e).
Proof.
  intros t p o s b C R W N S. cbn -[Z.mul] in *.
  assert (start e t < finish e b) as L.
  { eapply rw; eauto. destruct (source e t (length p)); auto. lia. }
  rewrite one in L by auto. lia.
Qed.
Lemma split_no_overlap : no_overlap h (split e).
Proof.
  intros k a b Wa Wb N. cbn -[Z.mul].
  assert (finish e a <> finish e b) by (intro E; apply N, apart; auto; [apply Wa|apply Wb]). lia.
Qed.
Lemma split_so : so_order h e -> so_order h (split e).
Proof. intros S i j Ci Cj R. cbn -[Z.mul]. specialize (S i j Ci Cj R). rewrite (one j Cj) in S. lia. Qed.
Lemma split_rt : rt_begins h drift e -> rt_begins h drift (split e).
Proof. intros S i j Ci Cj R. cbn -[Z.mul]. specialize (S i j Ci Cj R). rewrite (one j Cj) in S. lia. Qed.
End Split.

Lemma rt_begins_commits : forall h drift e,
  two_events h e -> rt_begins h drift e -> rt_commits h drift e.
Proof.
  intros h d e (T & _) R i j Ci Cj X. specialize (R i j Ci Cj X). specialize (T j Cj). lia.
Qed.

Lemma prefix_causal : forall h drift e, order_level h drift e Prefix -> weak_level h e Causal.
Proof.
  intros h d e (Con & Ap & Wr & Rw & (Lt & Di & _) & So). simpl in So.
  assert (Step : forall a b, co_step h e a b -> counts h e b /\ finish e a < start e b).
  { intros a b [(Ca & Cb & S)|(p & o & Cb & (s & R) & _ & Src)]; split; eauto. }
  assert (Path : forall a b, clos_trans _ (co_step h e) a b ->
                        counts h e b /\ finish e a < start e b).
  { induction 1.
    - auto.
    - destruct IHclos_trans1, IHclos_trans2. split; auto. specialize (Lt y). intuition lia. }
  split; [|split; [|split; [|split]]]; auto.
  - intros i j S. destruct (Step i j) as (C & L); [now left|]. specialize (Lt j C). lia.
  - intros w t p o (C & (s & R) & _ & S). specialize (Wr _ _ _ _ _ C R S). specialize (Lt t C). lia.
  - intros t p o s k C R _ W P N. simpl in P. destruct (Path _ _ P) as (_ & L).
    assert (k <> t) by (intros ->; specialize (Lt t C); lia).
    destruct (source e t (length p)) as [w|] eqn:S.
    + destruct (Z.lt_trichotomy (finish e k) (finish e w)) as [X|[X|X]]; auto.
      * exfalso. apply N. f_equal. symmetry. apply Ap; auto; [apply W|].
        destruct Con as (_ & _ & Con). specialize (Con t p o s C (proj1 R)).
        rewrite (proj2 R) in Con. destruct Con as (Y & _). rewrite S in Y. apply Y.
      * exfalso. assert (start e t < finish e k); [|lia].
        eapply Rw; eauto. now rewrite S.
    + assert (start e t < finish e k); [|lia]. eapply Rw; eauto. now rewrite S.
Qed.

Lemma causal_atomic : forall h e, weak_level h e Causal -> weak_level h e ReadAtomic.
Proof.
  intros h e (A & B & C & D & E). split; [|split; [|split; [|split]]]; auto.
  intros t p o s k ? ? ? ? P ?. eapply E; eauto. simpl in *. now constructor.
Qed.

Lemma atomic_committed : forall h e, weak_level h e ReadAtomic -> weak_level h e ReadCommitted.
Proof.
  intros h e (A & B & C & D & E).
  assert (W : forall w t p o, wr_read h e true w t p o -> wr_read h e false w t p o).
  { intros w t p o (U & V & _ & X). split; [|split; [|split]]; auto. discriminate. }
  split; [|split; [|split; [|split]]]; eauto.
  intros t p o s k ? ? _ ? P ?. eapply E; eauto. discriminate.
  destruct P as (p' & o' & r & _ & _ & P). right. exists p', o'. auto.
Qed.

Lemma arrow_sound : forall h drift a b,
  In b (arrows a) -> allowed h drift a -> allowed h drift b.
Proof.
  intros h d a b B.
  destruct a; cbn [arrows In] in B; repeat (destruct B as [<-|B]); try contradiction;
    intros (e & H); cbn [allowed].
  1: { exists e. now apply atomic_committed. }
  1: { exists e. now apply causal_atomic. }
  1: { exists e. eapply prefix_causal; eauto. }
  all: destruct H as (Con & Ap & Wr & Rw & H); cbn [order_level] in *.
  all: try (exists e; repeat match goal with H : _ /\ _ |- _ => destruct H end;
            refine (conj _ (conj _ (conj _ (conj _ _)))); auto; tauto).
  - exists (split e). refine (conj _ (conj _ (conj _ (conj _ (conj _ _)))));
      eauto using split_consistent, split_apart, split_wr, split_rw, split_two, split_no_overlap.
  - exists (split e). destruct H as (One & So).
    refine (conj _ (conj _ (conj _ (conj _ (conj _ (conj _ _))))));
      eauto using split_consistent, split_apart, split_wr, split_rw, split_two, split_no_overlap,
        split_so.
  - exists (split e). destruct H as (One & So & Rt).
    refine (conj _ (conj _ (conj _ (conj _ (conj _ (conj _ (conj _ (conj _ _))))))));
      eauto using split_consistent, split_apart, split_wr, split_rw, split_two, split_no_overlap,
        split_so, split_rt, rt_begins_commits.
Qed.

Lemma arrow_applies : forall h a b, In b (arrows a) -> applies h a -> applies h b.
Proof.
  intros h a b B. destruct a; cbn [arrows In] in B; repeat (destruct B as [<-|B]);
    try contradiction; cbn [applies]; intuition auto.
Qed.

(* A history that satisfies a level satisfies every level that it implies. *)
Theorem implies_sound : forall a b, implies a b = true ->
  forall h drift, satisfies h drift a -> satisfies h drift b.
Proof.
  unfold implies. generalize 8%nat. intros n a b R h d (W & Ap & Al).
  revert a R Ap Al. induction n as [|n IH]; intros a R Ap Al; simpl in R;
    apply orb_prop in R; destruct R as [R|R]; try discriminate.
  1, 2: apply level_eqb_eq in R; subst; repeat split; auto.
  apply existsb_exists in R. destruct R as (c & I & R).
  apply (IH c R); eauto using arrow_applies, arrow_sound.
Qed.

(* A history that violates a level violates every level that implies it, where that applies. *)
Theorem implies_violates : forall a b, implies a b = true ->
  forall h drift, violates h drift b -> applies h a -> violates h drift a.
Proof.
  intros a b R h d (W & _ & N) Ap. repeat split; auto. intros Al. apply N.
  now destruct (implies_sound a b R h d) as (_ & _ & X); [repeat split|].
Qed.
