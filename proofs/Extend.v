(* docs/reference/levels.md, "Indeterminate": an indeterminate transaction from which nobody read "can
   only add constraints". If an execution explains a history, so does one in which every
   indeterminate transaction that is known to have read nothing took effect: at the very end.
   So a violation may be shown with all of them. *)
From Coq Require Import List ZArith Uint63 Bool Sorted Relations Lia.
From Cupel Require Import History Levels Order Witness.
Import ListNotations.
Local Open Scope Z_scope.

(* What a row of the table says of an execution. *)
Definition facts (h : history) (drift : int) (sh : shape) (e : execution) : Prop :=
  consistent h e /\ commits_apart h e /\ wr_order h e /\ rw_order h e /\
  (if two sh then two_events h e else one_event h e) /\
  (apart sh = true -> no_overlap h e) /\
  (sessions sh = true -> so_order h e) /\
  (rt_any sh = true -> rt_begin sh = true -> rt_begins h drift e) /\
  (rt_any sh = true -> rt_begin sh = false -> rt_commits h drift e).
Lemma order_facts : forall h drift e l sh, shape_of l = Some sh -> order_level h drift e l ->
  facts h drift sh e.
Proof.
  intros h drift e l sh S (C & A & W & R & L).
  destruct l; try discriminate; injection S as <-; unfold facts; cbn [two apart sessions rt_any rt_begin];
    cbn match in L; intuition discriminate.
Qed.

(* No operation of it is known to have read if it took effect. *)
Definition blind (t : txn) : bool :=
  match outcome t with
  | Indeterminate =>
      forallb (fun o => match sees o, writes o with Some _, Some _ => false | _, _ => true end) (ops t)
  | _ => false
  end.

Lemma blind_reads : forall t p o s, blind t = true -> ~ reads t p o s.
Proof.
  intros t p o s B ((rest & Sp) & So & K). unfold blind in B. destruct (outcome t); try discriminate.
  rewrite forallb_forall in B. specialize (B o). rewrite So in B.
  destruct (writes o); [|congruence]. discriminate B. rewrite Sp, in_app_iff. simpl. auto.
Qed.

Lemma bounded : forall (f : txn -> Z) l, exists m, forall t, In t l -> f t < m.
Proof.
  induction l as [|x l (m & IH)].
  - exists 0. simpl. tauto.
  - exists (Z.max m (f x + 1)). intros t [<-|I]; [lia|]. specialize (IH t I). lia.
Qed.

Section Extend.
Variables (h : history) (drift : int) (e : execution) (m gap : Z).
Hypothesis wf : well_formed h.
Hypothesis above : forall t, In t (txns h) -> start e t < m /\ finish e t < m.

Definition late (t : txn) : Z := m + 2 * to_Z (id t) + 1.
Definition extended : execution := Execution
  (fun t => live e t || blind t) (source e)
  (fun t => if live e t then start e t else late t - gap)
  (fun t => if live e t then finish e t else late t).
Notation e' := extended.
Hypothesis gap_ok : 0 <= gap <= 1.

Lemma cases : forall t, counts h e' t ->
  (counts h e t /\ start e' t = start e t /\ finish e' t = finish e t) \/
  (blind t = true /\ start e' t = late t - gap /\ finish e' t = late t /\ ~ counts h e t).
Proof.
  intros t (I & L). unfold extended in *. cbn [live start finish source] in *. destruct (live e t) eqn:E.
  - left. split; auto. split; auto.
  - right. repeat split; auto. intros (_ & X). congruence.
Qed.
Lemma old : forall t, counts h e t ->
  counts h e' t /\ start e' t = start e t /\ finish e' t = finish e t /\
  start e t < m /\ finish e t < m.
Proof.
  intros t (I & L). unfold counts, extended. cbn [live start finish source]. rewrite L. repeat split; auto; now apply above.
Qed.
Lemma reader_old : forall t p o s, counts h e' t -> reads t p o s -> counts h e t.
Proof.
  intros t p o s C R. destruct (cases t C) as [(X & _)|(B & _)]; auto.
  now apply blind_reads with (p := p) (o := o) (s := s) in B.
Qed.
Lemma late_high : forall t, m < late t.
Proof. intros. unfold late. pose proof (to_Z_bounded (id t)). lia. Qed.
Lemma late_apart : forall a b, counts h e' a -> counts h e' b -> late a = late b -> a = b.
Proof.
  intros a b (Ia & _) (Ib & _) E. apply (unique_id (txns h)); auto. apply to_Z_inj. unfold late in E. lia.
Qed.
Lemma writer_old : forall k t, writer h e k t -> writer h e' k t.
Proof. intros k t (C & W). split; auto. now apply old. Qed.

Lemma list_of_old : forall k who who' vs,
  (forall a, counts h e' a -> (who' a <-> counts h e a /\ who a)) ->
  list_of h e k who vs -> list_of h e' k who' vs.
Proof.
  intros k who who' vs X (ws & S & I & V). exists ws. split; [|split]; auto.
  - assert (O : forall a, In a ws -> counts h e a) by (intros a J; apply I in J; apply J).
    clear I V. induction S as [|a l S IH F]; constructor.
    + apply IH. intros. apply O. now right.
    + rewrite Forall_forall in *. intros b J. specialize (F b J).
      destruct (old a) as (_ & _ & -> & _); [apply O; now left|].
      destruct (old b) as (_ & _ & -> & _); [apply O; now right|]. exact F.
  - intros a. rewrite I. split.
    + intros (W & Y). split; [now apply writer_old|]. apply X; [|split; auto; apply W].
      apply old, W.
    + intros ((C & W) & Y). apply X in Y; auto. destruct Y as (Y & Z). split; auto. split; auto.
Qed.

Lemma below : forall a w, counts h e' a -> counts h e w ->
  (finish e' a <= finish e' w <-> counts h e a /\ finish e a <= finish e w) /\
  (finish e' a < finish e' w <-> counts h e a /\ finish e a < finish e w).
Proof.
  intros a w Ca Cw. destruct (old w Cw) as (_ & _ & -> & _ & B).
  destruct (cases a Ca) as [(Oa & _ & ->)|(_ & _ & -> & N)]; [tauto|].
  pose proof (late_high a). split; split; [lia|tauto|lia|tauto].
Qed.

Lemma extended_consistent : consistent h e -> consistent h e'.
Proof.
  intros (A & B & R). split; [|split].
  - intros t I O. cbn. rewrite (A t I O). auto.
  - intros t I O. cbn. rewrite (B t I O). unfold blind. now rewrite O.
  - intros t p o s C Rd. pose proof (reader_old t p o s C Rd) as Co. specialize (R t p o s Co Rd).
    destruct (last_write (on o) p) as [c|].
    + destruct s; auto. destruct R as (b & L & V). exists b. split; auto.
      eapply list_of_old; [|exact L]. intros a Ca. apply below; auto.
    + destruct R as (W & V). unfold sees_other.
      change (source e' t (length p)) with (source e t (length p)). split.
      * destruct (source e t (length p)); auto. destruct W. split; auto. now apply writer_old.
      * destruct s; auto. cbn [sees_version] in *. eapply list_of_old; [|exact V].
        intros a Ca. destruct (source e t (length p)) as [w|]; [|tauto].
        apply below; auto. apply W.
Qed.
Lemma extended_apart : commits_apart h e -> commits_apart h e'.
Proof.
  intros A a b Ca Cb E. pose proof (late_high a). pose proof (late_high b).
  destruct (cases a Ca) as [(Oa & _ & Fa)|(_ & _ & Fa & _)],
    (cases b Cb) as [(Ob & _ & Fb)|(_ & _ & Fb & _)]; rewrite Fa, Fb in E.
  - auto.
  - destruct (old a Oa). lia.
  - destruct (old b Ob). lia.
  - now apply late_apart.
Qed.
Lemma source_old : consistent h e -> forall t p o s w, counts h e t -> reads_other t p o s ->
  source e t (length p) = Some w -> counts h e w.
Proof.
  intros (_ & _ & R) t p o s w C (Rd & L) S. specialize (R t p o s C Rd). rewrite L in R.
  destruct R as (W & _). rewrite S in W. apply W.
Qed.
Lemma extended_wr : consistent h e -> wr_order h e -> wr_order h e'.
Proof.
  intros Co W t p o s w C R S. pose proof (reader_old _ _ _ _ C (proj1 R)) as Ct.
  pose proof (source_old Co _ _ _ _ _ Ct R S) as Cw.
  destruct (old t Ct) as (_ & -> & _), (old w Cw) as (_ & _ & -> & _). eapply W; eauto.
Qed.
Lemma extended_rw : consistent h e -> rw_order h e -> rw_order h e'.
Proof.
  intros Co W t p o s b C R (Cb & Wb) N M. pose proof (reader_old _ _ _ _ C (proj1 R)) as Ct.
  destruct (old t Ct) as (_ & -> & _ & B & _). pose proof (late_high b).
  destruct (cases b Cb) as [(Ob & _ & Fb)|(_ & _ & -> & _)]; [|lia]. rewrite Fb in *.
  eapply W; eauto; [split; auto|]. cbn [source extended] in M.
  destruct (source e t (length p)) as [w|] eqn:S; auto.
  pose proof (source_old Co _ _ _ _ _ Ct R S) as Cw.
  destruct (old w Cw) as (_ & _ & F & _). change (finish e' w < finish e b) in M. now rewrite F in M.
Qed.
Lemma extended_two : gap = 1 -> two_events h e -> two_events h e'.
Proof.
  intros G (A & B & D). split; [|split].
  - intros t C. destruct (cases t C) as [(O & -> & ->)|(_ & -> & -> & _)]; [auto|lia].
  - intros a b Ca Cb. pose proof (late_high a). pose proof (late_high b).
    destruct (cases a Ca) as [(Oa & -> & _)|(_ & -> & _)],
      (cases b Cb) as [(Ob & _ & ->)|(_ & _ & -> & _)]; auto.
    + destruct (old a Oa). lia.
    + destruct (old b Ob). lia.
    + unfold late. lia.
  - intros a b Ca Cb E. pose proof (late_high a). pose proof (late_high b).
    destruct (cases a Ca) as [(Oa & Sa & _)|(_ & Sa & _)],
      (cases b Cb) as [(Ob & Sb & _)|(_ & Sb & _)]; rewrite Sa, Sb in E; auto.
    + destruct (old a Oa). lia.
    + destruct (old b Ob). lia.
    + apply late_apart; auto. lia.
Qed.
Lemma extended_one : gap = 0 -> one_event h e -> one_event h e'.
Proof.
  intros G A t C. destruct (cases t C) as [(O & -> & ->)|(_ & -> & -> & _)]; [auto|lia].
Qed.
Lemma extended_no_overlap : no_overlap h e -> no_overlap h e'.
Proof.
  intros A k a b (Ca & Wa) (Cb & Wb) N. pose proof (late_high a). pose proof (late_high b).
  destruct (cases a Ca) as [(Oa & Sa & Fa)|(_ & Sa & Fa & _)],
    (cases b Cb) as [(Ob & Sb & Fb)|(_ & Sb & Fb & _)]; rewrite Sa, Sb, Fa, Fb.
  - apply A with k; auto; split; auto.
  - destruct (old a Oa). lia.
  - destruct (old b Ob). lia.
  - assert (late a <> late b) by (intros E; apply N; now apply late_apart). unfold late in *. lia.
Qed.
(* Nothing in the order's own terms leaves an indeterminate transaction. *)
Lemma from_old : forall i, counts h e' i -> outcome i = Committed -> counts h e i.
Proof.
  intros i C O. destruct (cases i C) as [(X & _)|(B & _)]; auto. unfold blind in B. now rewrite O in B.
Qed.
Lemma extended_so : so_order h e -> so_order h e'.
Proof.
  intros A i j Ci Cj R. pose proof (from_old i Ci (proj2 (proj2 R))) as Oi.
  destruct (old i Oi) as (_ & _ & -> & _ & B). pose proof (late_high j).
  destruct (cases j Cj) as [(Oj & -> & _)|(_ & -> & _)]; [auto|lia].
Qed.
Lemma extended_rt_begins : rt_begins h drift e -> rt_begins h drift e'.
Proof.
  intros A i j Ci Cj R. pose proof (from_old i Ci (proj1 (proj2 R))) as Oi.
  destruct (old i Oi) as (_ & _ & -> & _ & B). pose proof (late_high j).
  destruct (cases j Cj) as [(Oj & -> & _)|(_ & -> & _)]; [auto|lia].
Qed.
Lemma extended_rt_commits : rt_commits h drift e -> rt_commits h drift e'.
Proof.
  intros A i j Ci Cj R. pose proof (from_old i Ci (proj1 (proj2 R))) as Oi.
  destruct (old i Oi) as (_ & _ & -> & _ & B). pose proof (late_high j).
  destruct (cases j Cj) as [(Oj & _ & ->)|(_ & _ & -> & _)]; [auto|lia].
Qed.

Lemma wr_read_old : forall rc w t p o, wr_read h e' rc w t p o -> wr_read h e rc w t p o.
Proof.
  intros rc w t p o (C & (s & R) & F & S). split; [|split; [|split]]; eauto.
  eapply reader_old; eauto. apply R.
Qed.
Lemma wr_read_counts : consistent h e -> forall rc w t p o, wr_read h e rc w t p o ->
  counts h e w /\ counts h e t.
Proof. intros Co rc w t p o (C & (s & R) & _ & S). split; auto. eapply source_old; eauto. Qed.
Lemma so_step_old : forall i j, so_step h e' i j ->
  counts h e i /\ (so_step h e i j \/ (blind j = true /\ finish e' j = late j)).
Proof.
  intros i j (Ci & Cj & R). pose proof (from_old i Ci (proj2 (proj2 R))) as Oi. split; auto.
  destruct (cases j Cj) as [(Oj & _)|(B & _ & F & _)]; auto. left. split; auto.
Qed.
Lemma co_step_old : consistent h e -> forall a b, co_step h e' a b -> counts h e b ->
  co_step h e a b.
Proof.
  intros Co a b [S|(p & o & W)] C.
  - destruct S as (Ca & Cb & R). left. split; [|split]; auto. apply from_old; auto. apply R.
  - right. exists p, o. now apply wr_read_old.
Qed.
Lemma path_old : consistent h e -> forall a b, clos_trans _ (co_step h e') a b -> counts h e b ->
  clos_trans _ (co_step h e) a b.
Proof.
  intros Co a b P. apply clos_trans_t1n in P. induction P as [a b S|a c b S P IH]; intros C.
  - apply t_step. now apply co_step_old.
  - specialize (IH C). apply t_trans with c; auto. apply t_step. apply co_step_old; auto.
    apply clos_trans_t1n in IH. inversion IH as [? X|? ? X]; subst;
      (destruct X as [(X & _)|(p & o & X)]; auto; now apply (wr_read_counts Co) in X).
Qed.

Lemma extended_weak : forall l, weak_level h e l -> weak_level h e' l.
Proof.
  intros l (Co & Ap & So & Wr & Ph). cbn zeta in *.
  split; [now apply extended_consistent|]. split; [now apply extended_apart|]. split; [|split].
  - intros i j S. destruct (so_step_old i j S) as (Ci & [S'|(_ & ->)]);
      destruct (old i Ci) as (_ & _ & -> & _ & B).
    + destruct (old j) as (_ & _ & -> & _); [apply S'|]. auto.
    + pose proof (late_high j). lia.
  - intros w t p o W. apply wr_read_old in W. destruct (wr_read_counts Co _ _ _ _ _ W) as (Cw & Ct).
    destruct (old w Cw) as (_ & _ & -> & _), (old t Ct) as (_ & _ & -> & _). eapply Wr; eauto.
  - intros t p o s k C R F (Ck & Wk) P N. pose proof (reader_old _ _ _ _ C (proj1 R)) as Ct.
    assert (X : counts h e k /\ phi h e l k t p o).
    { destruct l; try contradiction.
      - destruct P as (p' & o' & r & E & Nu & W). apply wr_read_old in W. split.
        + now apply (wr_read_counts Co) in W.
        + exists p', o', r. auto.
      - assert (Q := co_step_old Co _ _ P Ct). split; auto.
        destruct Q as [(Q & _)|(p' & o' & Q)]; auto. now apply (wr_read_counts Co) in Q.
      - assert (Q := path_old Co _ _ P Ct). split; auto.
        apply clos_trans_t1n in Q. inversion Q as [? Y|? ? Y]; subst;
          (destruct Y as [(Y & _)|(p' & o' & Y)]; auto; now apply (wr_read_counts Co) in Y). }
    destruct X as (Ok & P'). specialize (Ph t p o s k Ct R F (conj Ok Wk) P' N).
    change (source e' t (length p)) with (source e t (length p)).
    destruct (source e t (length p)) as [w|] eqn:S; auto.
    pose proof (source_old Co _ _ _ _ _ Ct R S) as Cw.
    destruct (old w Cw) as (_ & _ & -> & _), (old k Ok) as (_ & _ & -> & _). exact Ph.
Qed.
End Extend.

(* Who counts in the execution that a refutation is about. *)
Definition full (h : history) (e : execution) : Prop :=
  forall t, In t (txns h) -> outcome t = Committed \/ blind t = true -> live e t = true.

Lemma top : forall h e, exists m, forall t, In t (txns h) -> start e t < m /\ finish e t < m.
Proof.
  intros h e. destruct (bounded (start e) (txns h)) as (a & A), (bounded (finish e) (txns h)) as (b & B).
  exists (Z.max a b). intros t I. specialize (A t I). specialize (B t I). lia.
Qed.
Lemma extend_full : forall h e m g, consistent h e -> full h (extended e m g).
Proof.
  intros h e m g (A & _) t I [O|B]; cbn [live extended].
  - now rewrite A.
  - now rewrite B, orb_true_r.
Qed.

Theorem extend_order : forall h drift sh, well_formed h -> (exists e, facts h drift sh e) ->
  exists e, facts h drift sh e /\ full h e.
Proof.
  intros h drift sh Wf (e & Co & Ap & Wr & Rw & Ev & No & So & Rb & Rc).
  destruct (top h e) as (m & M). exists (extended e m (if two sh then 1 else 0)).
  split; [|now apply extend_full].
  assert (G : 0 <= (if two sh then 1 else 0) <= 1) by (destruct (two sh); lia).
  repeat split; intros; try (now apply extended_consistent);
    eauto using extended_apart, extended_wr, extended_rw, extended_no_overlap, extended_so,
      extended_rt_begins, extended_rt_commits.
  all: try (now apply (extended_consistent h e m _ M G Co)).
  destruct (two sh); [apply extended_two|apply extended_one]; auto.
Qed.
Theorem extend_weak : forall h l, well_formed h -> (exists e, weak_level h e l) ->
  exists e, weak_level h e l /\ full h e.
Proof.
  intros h l Wf (e & W). destruct (top h e) as (m & M). exists (extended e m 0).
  split; [|apply extend_full, W]. apply extended_weak; auto. lia.
Qed.
