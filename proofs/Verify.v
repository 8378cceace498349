(* The verifier as a whole: evidence for a verdict at a level, and answers that follow from it.

   The theorems that everything else is for are here: [accept_sound], [reject_sound] and, of a
   whole certificate, [verify_sound]. *)
From Coq Require Import List ZArith Uint63 Bool Sorted Lia.
From Cupel Require Import History Levels Order Ladder Witness Weak Extend Clauses Derivation.
Import ListNotations.
Local Open Scope Z_scope.

Inductive evidence :=
| ByOrder (order : list int)                   (* satisfied: a total order of events *)
| ByOrders (orders : list (int * list int))    (* satisfied, linearizable: one for each key *)
| ByWeak (entries : list (int * list (option int))) (* satisfied, weak: the order, and whose each read saw *)
| BySteps (steps : list proof_step)            (* violated *)
| ByStepsOn (k : int) (steps : list proof_step). (* violated, linearizable: about one key *)

(* --- does a level apply? --- *)

Definition is_some {A} (a : option A) : bool := match a with Some _ => true | None => false end.
Definition has_times_b (h : history) : bool :=
  forallb (fun t => match outcome t with
                    | Committed => is_some (invoked t) && is_some (completed t)
                    | Indeterminate => is_some (invoked t)
                    | Aborted => true
                    end) (txns h).
Definition single_objects_b (h : history) : bool :=
  match ranges h with [] => true | _ => false end &&
  forallb (fun t => match outcome t with
                    | Aborted => true
                    | _ => match ops t with
                           | [] => true
                           | o :: rest => forallb (fun o' => (on o' =? on o)%uint63) rest
                           end
                    end) (txns h).
Definition applies_b (h : history) (l : level) : bool :=
  match l with
  | GeneralizedSI | StrongSI | StrictSerializable => has_times_b h
  | Linearizable => has_times_b h && single_objects_b h
  | _ => true
  end.

Lemma is_some_ok : forall A (a : option A), is_some a = true -> a <> None.
Proof. intros A [a|]; simpl; congruence. Qed.
Lemma has_times_ok : forall h, has_times_b h = true -> has_times h.
Proof.
  intros h H t I. unfold has_times_b in H. rewrite forallb_forall in H. specialize (H t I).
  split; intros O; rewrite O in H.
  - apply andb_prop in H. destruct H. split; now apply is_some_ok.
  - now apply is_some_ok.
Qed.
Lemma single_objects_ok : forall h, single_objects_b h = true -> single_objects h.
Proof.
  intros h H. unfold single_objects_b in H. apply andb_prop in H. destruct H as (R & H).
  split; [now destruct (ranges h)|].
  intros t o o' I A Io Io'. rewrite forallb_forall in H.
  specialize (H t I).
  assert (X : exists k, forall x, In x (ops t) -> on x = k).
  { destruct (outcome t); [|congruence|]; (destruct (ops t) as [|y rest]; [destruct Io|]);
      exists (on y); rewrite forallb_forall in H; intros x [<-|J]; auto;
      specialize (H x J); now apply eqb_id in H. }
  destruct X as (k & X). now rewrite (X o Io), (X o' Io').
Qed.
Lemma applies_ok : forall h l, applies_b h l = true -> applies h l.
Proof.
  intros h [] H; simpl in *; auto using has_times_ok. apply andb_prop in H. destruct H.
  split; auto using has_times_ok, single_objects_ok.
Qed.

(* --- linearizable --- *)

(* The transactions of each key, of histories in which each touches one. *)
Definition by_key (ts : list txn) : M.t (list txn) :=
  fold_left
    (fun m t => match outcome t, ops t with
                | Aborted, _ | _, [] => m
                | _, o :: _ => put m (on o) (t :: match get m (on o) with Some l => l | None => [] end)
                end) (rev_append ts []) none.
Definition of_key (groups : M.t (list txn)) (k : int) : list txn :=
  match get groups k with Some l => l | None => [] end.
Lemma by_key_ok : forall h k, single_objects h -> of_key (by_key (txns h)) k = filter (touches k) (txns h).
Proof.
  intros h k (_ & S). unfold by_key. rewrite <- rev_alt.
  rewrite <- (rev_involutive (txns h)) at 2.
  assert (S' : forall t o o', In t (rev (txns h)) -> outcome t <> Aborted -> In o (ops t) -> In o' (ops t) ->
             on o = on o').
  { intros t o o' I. apply in_rev in I. eauto. }
  revert S'. generalize (rev (txns h)). clear S. intros ts. 
  induction ts as [|t ts IH] using rev_ind; intros S'.
  - unfold of_key. now rewrite get_none.
  - rewrite fold_left_app, rev_app_distr. cbn [fold_left rev app filter].
    rewrite <- IH by (intros; eapply S'; eauto; rewrite in_app_iff; auto).
    set (m := fold_left _ ts none).
    assert (Single : outcome t <> Aborted -> forall o rest, ops t = o :: rest ->
              existsb (fun o => (on o =? k)%uint63) (ops t) = (on o =? k)%uint63).
    { intros A o rest E. apply eq_true_iff_eq. rewrite existsb_exists. split.
      - intros (x & I & Q). rewrite <- (S' t o x) in Q; auto.
        + rewrite in_app_iff. simpl. auto.
        + rewrite E. now left.
      - intros Q. exists o. rewrite E. simpl. auto. }
    unfold touches. destruct (outcome t) eqn:O; auto;
      (destruct (ops t) as [|o rest]; auto;
       rewrite (Single ltac:(congruence) o rest eq_refl); unfold of_key; rewrite get_put;
       destruct (sameP (on o) k) as [<-|]; auto).
Qed.

Definition alone (h : history) (ts : list txn) : history :=
  History (null h) (default h) (initials h) (ranges h) ts.

(* Nobody need take effect. *)
Lemma nobody : forall h drift, (forall t, In t (txns h) -> outcome t <> Committed) ->
  exists e, order_level h drift e StrictSerializable.
Proof.
  intros h drift N.
  exists (Execution (fun _ => false) (fun _ _ => None) (fun _ => 0) (fun _ => 0)).
  assert (X : forall t, ~ counts h (Execution (fun _ => false) (fun _ _ => None) (fun _ => 0) (fun _ => 0)) t).
  { intros t (_ & L). discriminate L. }
  assert (Con : consistent h (Execution (fun _ => false) (fun _ _ => None) (fun _ => 0) (fun _ => 0))).
  { split; [|split]; auto.
    - intros t I O. now apply N in I.
    - intros t p o s C. now apply X in C. }
  refine (conj Con (conj _ (conj _ (conj _ (conj _ (conj _ _)))))).
  - intros a b C. now apply X in C.
  - intros t p o s w C. now apply X in C.
  - intros t p o s b C. now apply X in C.
  - intros t C. now apply X in C.
  - intros i j C. now apply X in C.
  - intros i j C. now apply X in C.
Qed.

Definition check_orders (h : history) (drift : int) (orders : list (int * list int)) : bool :=
  let groups := by_key (txns h) in
  let named := fold_left (fun m ko => put m (fst ko) true) orders none in
  forallb (fun ko => check_order (alone h (of_key groups (fst ko))) drift StrictSerializable (snd ko))
    orders &&
  forallb (fun t => match outcome t, ops t with
                    | Committed, o :: _ => has named (on o)
                    | _, _ => true
                    end) (txns h).

Lemma named_in : forall orders m k, has (fold_left (fun m (ko : int * list int) => put m (fst ko) true) orders m) k = true ->
  has m k = true \/ exists o, In (k, o) orders.
Proof.
  induction orders as [|(k' & o) orders IH]; simpl; auto. intros m k H. apply IH in H.
  destruct H as [H|(x & H)]; eauto. rewrite has_put in H. apply orb_prop in H.
  destruct H as [H|H]; auto. apply eqb_id in H. subst. right. eauto.
Qed.
Lemma check_orders_sound : forall h drift orders, single_objects h ->
  check_orders h drift orders = true -> allowed h drift Linearizable.
Proof.
  intros h drift orders S H. unfold check_orders in H. apply andb_prop in H. destruct H as (A & B).
  rewrite forallb_forall in A, B. intros k.
  destruct (has (fold_left (fun m ko => put m (fst ko) true) orders none) k) eqn:N.
  - apply named_in in N. destruct N as [N|(o & I)].
    + unfold has in N. rewrite get_none in N. discriminate.
    + specialize (A (k, o) I). cbn [fst snd] in A. rewrite by_key_ok in A by auto.
      now apply check_order_sound in A.
  - apply nobody. intros t I C. apply filter_In in I. destruct I as (I & T).
    specialize (B t I). rewrite C in B. unfold touches in T. rewrite C in T.
    apply existsb_exists in T. destruct T as (o & Io & Q). apply eqb_id in Q.
    destruct (ops t) as [|x rest] eqn:Os; [destruct Io|].
    assert (on x = k) as E.
    { rewrite <- Q. apply (proj2 S t); auto; [congruence|rewrite Os; now left|rewrite Os; exact Io]. }
    rewrite E in B. congruence.
Qed.

(* --- evidence --- *)

Definition accepts (h : history) (drift : int) (l : level) (ev : evidence) : bool :=
  applies_b h l &&
  match ev with
  | ByOrder order => check_order h drift l order
  | ByOrders orders =>
      match l with
      | Linearizable => ascending None (txns h) && check_orders h drift orders
      | _ => false
      end
  | ByWeak entries => check_weak h l entries
  | _ => false
  end.
Definition rejects (h : history) (drift : int) (l : level) (ev : evidence) : bool :=
  applies_b h l &&
  match ev, l with
  | BySteps _, Linearizable => false
  | BySteps steps, _ => refute_level h drift l steps
  | ByStepsOn k steps, Linearizable =>
      ascending None (txns h) && refute_level (only_on h k) drift StrictSerializable steps
  | _, _ => false
  end.

(* If the verifier accepts evidence that a history satisfies a level, it does. *)
Theorem accept_sound : forall h drift l ev, accepts h drift l ev = true -> satisfies h drift l.
Proof.
  intros h drift l ev H. unfold accepts in H. apply andb_prop in H. destruct H as (A & H).
  apply applies_ok in A. destruct ev as [order|orders|entries| |]; try discriminate.
  - destruct (check_order_sound _ _ _ _ H) as (W & X). split; auto. split; auto.
    destruct l; try discriminate; exact X.
  - destruct l; try discriminate. apply andb_prop in H. destruct H as (W & H).
    apply ascending_sorted in W. destruct W as (W & _). split; auto. split; auto.
    apply check_orders_sound with orders; auto. apply A.
  - apply check_weak_sound in H. destruct H as (W & L & X). split; auto. split; auto.
    destruct l; try discriminate; exact X.
Qed.

(* If the verifier accepts evidence that a history violates a level, it does: no execution, of
   whatever choice of indeterminate transactions and writers, explains it. *)
Theorem reject_sound : forall h drift l ev, rejects h drift l ev = true -> violates h drift l.
Proof.
  intros h drift l ev H. unfold rejects in H. apply andb_prop in H. destruct H as (A & H).
  apply applies_ok in A. destruct ev as [|orders|entries|steps|k steps]; try discriminate.
  - assert (N : l <> Linearizable) by (intros ->; discriminate).
    assert (R : refute_level h drift l steps = true) by (destruct l; auto; discriminate).
    destruct (refute_level_sound _ _ _ _ N R). repeat split; auto.
  - destruct l; try discriminate. apply andb_prop in H. destruct H as (W & H).
    apply ascending_sorted in W. destruct W as (W & _). split; auto. split; auto.
    intros Al. apply refute_level_sound in H; [|discriminate]. destruct H as (_ & H). apply H. exact (Al k).
Qed.

(* --- certificates --- *)

Record proof := Proof { at_level : level; satisfied : bool; shown : evidence }.
Record answer := Answer { for_level : level; verdict : bool; by_proof : nat }.

Definition check_proof (h : history) (drift : int) (p : proof) : bool :=
  if satisfied p then accepts h drift (at_level p) (shown p) else rejects h drift (at_level p) (shown p).
Definition check_answer (h : history) (proofs : list proof) (a : answer) : bool :=
  match nth_error proofs (by_proof a) with
  | None => false
  | Some p =>
      applies_b h (for_level a) && Bool.eqb (verdict a) (satisfied p) &&
      if verdict a then implies (at_level p) (for_level a) else implies (for_level a) (at_level p)
  end.
Definition verify (h : history) (drift : int) (proofs : list proof) (answers : list answer) : bool :=
  forallb (check_proof h drift) proofs && forallb (check_answer h proofs) answers.

(* Every answer of a certificate that verifies is true. *)
Theorem verify_sound : forall h drift proofs answers, verify h drift proofs answers = true ->
  forall a, In a answers ->
    if verdict a then satisfies h drift (for_level a) else violates h drift (for_level a).
Proof.
  intros h drift proofs answers H a I. unfold verify in H. apply andb_prop in H. destruct H as (P & A).
  rewrite forallb_forall in P, A. specialize (A a I). unfold check_answer in A.
  destruct (nth_error proofs (by_proof a)) as [p|] eqn:N; [|discriminate].
  apply nth_error_In in N. specialize (P p N). unfold check_proof in P.
  apply andb_prop in A. destruct A as (A & Im). apply andb_prop in A. destruct A as (Ap & V).
  apply eqb_prop in V. rewrite <- V in P. destruct (verdict a).
  - apply accept_sound in P. eapply implies_sound; eauto.
  - apply reject_sound in P. eapply implies_violates; eauto. now apply applies_ok.
Qed.
