(* The verifier of a certificate "satisfied" of a replicated data type, and its theorem,
   [replicated_sound].

   The witness gives each operation a clock: of each replica, how many of its operations
   happened before. It also gives each a place in the linearization and, of an array, each
   character an interval such that those below it have theirs inside. *)
From Coq Require Import List ZArith Uint63 Bool Sorted Lia Permutation FinFun.
From Cupel Require Import Order Replicated.
Import ListNotations.
Local Open Scope Z_scope.

(* An operation with its witness; [seq] is its own number on its replica, [worth] its amount. *)
Record entry := Entry {
  it : op; place : int; counts : list (int * int); row : M.t int; seq : int; worth : Z }.
Record witness := Witness {
  clocks : list (int * list (int * int));       (* of each operation: place, counts *)
  characters : list (int * (int * int)) }.      (* id of an insert, its interval; the last in the
                                                   linearization first *)

Definition get0 (m : M.t int) (i : int) : int := match get m i with Some n => n | None => 0%uint63 end.
Definition row_of (cs : list (int * int)) : M.t int :=
  fold_left (fun m jc => put m (fst jc) (snd jc)) cs none.
Definition entry_of (oc : op * (int * list (int * int))) : entry :=
  let r := row_of (snd (snd oc)) in
  Entry (fst oc) (fst (snd oc)) (snd (snd oc)) r (get0 r (replica (fst oc))) (amount (call_of (fst oc))).
Fixpoint zip (os : list op) (cs : list (int * list (int * int))) (done : list entry) : option (list entry) :=
  match os, cs with
  | [], [] => Some (rev_append done [])
  | o :: os, c :: cs => zip os cs (entry_of (o, c) :: done)
  | _, _ => None
  end.
Definition sound (e : entry) : Prop :=
  row e = row_of (counts e) /\ seq e = get0 (row e) (replica (it e)) /\ worth e = amount (call_of (it e)).
Lemma zip_ok : forall os cs done es, zip os cs done = Some es ->
  map it es = rev (map it done) ++ os /\ (Forall sound done -> Forall sound es).
Proof.
  induction os as [|o os IH]; intros [|c cs] done es H; simpl in H; try discriminate.
  - injection H as <-. rewrite <- rev_alt, map_rev, app_nil_r. split; auto. apply Forall_rev.
  - apply IH in H. destruct H as (E & F). split.
    + rewrite E. simpl. now rewrite <- app_assoc.
    + intros D. apply F. constructor; auto. now repeat split.
Qed.

(* Had e seen a? *)
Definition saw (e a : entry) : bool := (seq a <? get0 (row e) (replica (it a)))%uint63.

(* --- one pass in the order of the file: ids, and the lines of the replicas --- *)

Definition time_le (a b : option int) : bool :=
  match a, b with None, _ => true | Some x, Some y => (x <=? y)%uint63 | Some _, None => false end.
Fixpoint in_line (before : option int) (last : M.t entry) (es : list entry) : bool :=
  match es with
  | [] => true
  | e :: rest =>
      match before with None => true | Some i => (i <? id (it e))%uint63 end &&
      match get last (replica (it e)) with
      | None => true
      | Some p => (seq p <? seq e)%uint63 && time_le (begun (it p)) (begun (it e))
      end &&
      in_line (Some (id (it e))) (put last (replica (it e)) e) rest
  end.
Definition comes (a b : entry) : Prop :=
  to_Z (id (it a)) < to_Z (id (it b)) /\
  (replica (it a) = replica (it b) ->
     to_Z (seq a) < to_Z (seq b) /\ time_le (begun (it a)) (begun (it b)) = true).
Lemma time_le_trans : forall a b c, time_le a b = true -> time_le b c = true -> time_le a c = true.
Proof.
  intros [a|] [b|] [c|]; simpl; auto; try discriminate. rewrite !leb_le. lia.
Qed.
Lemma time_le_same : forall a, time_le a a = true.
Proof. intros [a|]; simpl; auto. apply leb_le. lia. Qed.
Lemma in_line_ok : forall es before last done,
  (match before with None => done = [] | Some i => forall a, In a done -> to_Z (id (it a)) <= to_Z i end) ->
  (forall a, In a done -> exists p, get last (replica (it a)) = Some p /\
     to_Z (seq a) <= to_Z (seq p) /\ time_le (begun (it a)) (begun (it p)) = true) ->
  in_line before last es = true ->
  StronglySorted comes es /\ forall a e, In a done -> In e es -> comes a e.
Proof.
  induction es as [|e es IH]; intros before last done B L H; [split; [constructor|intros a x _ []]|].
  simpl in H. apply andb_prop in H. destruct H as (H & R). apply andb_prop in H. destruct H as (I & Q).
  assert (E : forall a, In a done -> comes a e).
  { intros a Ia. split.
    - destruct before as [i|]; [|now subst]. apply ltb_lt in I. specialize (B a Ia). lia.
    - intros Er. destruct (L a Ia) as (p & G & S & T). rewrite Er in G. rewrite G in Q.
      apply andb_prop in Q. destruct Q as (Q & Q'). apply ltb_lt in Q. split; [lia|].
      eapply time_le_trans; eauto. }
  destruct (IH (Some (id (it e))) (put last (replica (it e)) e) (e :: done)) as (S & C); auto.
  - intros a [<-|Ia]; [lia|]. apply E in Ia. destruct Ia. lia.
  - intros a Ia. rewrite get_put. destruct (sameP (replica (it e)) (replica (it a))) as [Er|N].
    + exists e. split; auto. destruct Ia as [<-|Ia]; [split; [lia|apply time_le_same]|].
      apply E in Ia. destruct Ia as (_ & X). destruct X; auto. split; auto. lia.
    + destruct Ia as [<-|Ia]; [congruence|]. auto.
  - split.
    + constructor; auto. apply Forall_forall. intros x Ix. apply C; simpl; auto.
    + intros a x Ia [<-|Ix]; [auto|]. apply C; simpl; auto.
Qed.
Lemma sorted_two : forall A (T : A -> A -> Prop) l a b, StronglySorted T l -> In a l -> In b l ->
  a = b \/ T a b \/ T b a.
Proof.
  induction 1 as [|x l S IH F]; [intros []|]. rewrite Forall_forall in F.
  intros [<-|Ia] [<-|Ib]; auto.
Qed.

(* --- entries by replica and number, and by id --- *)

Definition at_replica (m : M.t (M.t entry)) (j : int) : M.t entry :=
  match get m j with Some l => l | None => none end.
Definition index_lines (es : list entry) : M.t (M.t entry) :=
  fold_left (fun m e => put m (replica (it e)) (put (at_replica m (replica (it e))) (seq e) e)) es none.
Lemma index_lines_in : forall es j s e, get (at_replica (index_lines es) j) s = Some e ->
  In e es /\ replica (it e) = j /\ seq e = s.
Proof.
  intros es j s e. unfold index_lines.
  assert (G : forall es m,
    get (at_replica (fold_left (fun m e => put m (replica (it e)) (put (at_replica m (replica (it e))) (seq e) e)) es m) j) s = Some e ->
    (In e es /\ replica (it e) = j /\ seq e = s) \/ get (at_replica m j) s = Some e).
  { clear es. induction es as [|x es IH]; simpl; auto. intros m H. apply IH in H.
    destruct H as [(I & X)|H]; [left; auto|]. unfold at_replica at 1 in H. rewrite get_put in H.
    destruct (sameP (replica (it x)) j) as [Ej|N]; [|auto].
    rewrite get_put in H. destruct (sameP (seq x) s) as [Es|N].
    - injection H as ->. auto.
    - subst j. auto. }
  intros H. destruct (G _ _ H) as [X|X]; auto. unfold at_replica in X. now rewrite !get_none in X.
Qed.
Definition index_ids (es : list entry) : M.t entry := fold_left (fun m e => put m (id (it e)) e) es none.
Lemma index_ids_in : forall es i e, get (index_ids es) i = Some e -> In e es /\ id (it e) = i.
Proof.
  intros es i e. unfold index_ids.
  assert (G : forall es m, get (fold_left (fun m e => put m (id (it e)) e) es m) i = Some e ->
              (In e es /\ id (it e) = i) \/ get m i = Some e).
  { clear es. induction es as [|x es IH]; simpl; auto. intros m H. apply IH in H.
    destruct H as [(I & E)|H]; auto. rewrite get_put in H.
    destruct (sameP (id (it x)) i); auto. injection H as ->. auto. }
  intros H. destruct (G _ _ H) as [X|X]; auto. now rewrite get_none in X.
Qed.
Lemma index_ids_all : forall es e, StronglySorted comes es -> In e es ->
  get (index_ids es) (id (it e)) = Some e.
Proof.
  intros es e S I. unfold index_ids.
  assert (G : forall (es : list entry) m, (forall x, In x es -> id (it x) <> id (it e)) ->
            get (fold_left (fun m e => put m (id (it e)) e) es m) (id (it e)) = get m (id (it e))).
  { clear. induction es as [|x es IH]; simpl; auto. intros m N. rewrite IH by auto.
    rewrite get_put. destruct (sameP (id (it x)) (id (it e))) as [E|]; auto. exfalso. eapply N; eauto. }
  generalize (@none entry). induction S as [|x es S IH F]; intros m; [destruct I|].
  simpl. destruct I as [<-|I].
  - rewrite G.
    + now rewrite get_put, eqb_same.
    + rewrite Forall_forall in F. intros y J E. destruct (F y J) as (L & _). rewrite E in L. lia.
  - now apply IH.
Qed.

(* --- clocks --- *)

Definition row_le (a e : entry) : bool :=
  forallb (fun jc => (snd jc <=? get0 (row e) (fst jc))%uint63) (counts a).
Definition not_late (o u : op) : bool :=
  (replica u =? replica o)%uint63 ||
  match begun u, ended o with Some b, Some e => (b <=? e)%uint63 | _, _ => true end.
(* The last operation of each replica that e has seen: it is there, before e in the
   linearization, and e has seen what it had seen. *)
Definition closed (lines : M.t (M.t entry)) (e : entry) : bool :=
  forallb (fun jc =>
    (get0 (row e) (fst jc) =? snd jc)%uint63 &&
    ((snd jc =? 0)%uint63 ||
     match get (at_replica lines (fst jc)) (snd jc - 1)%uint63 with
     | None => false
     | Some q => (place q <? place e)%uint63 && row_le q e && not_late (it e) (it q)
     end)) (counts e).
(* What e has seen of other replicas is what it had received. *)
Definition as_received (lines : M.t (M.t entry)) (e : entry) : bool :=
  let last j := match get0 (row e) j with
                | n => if (n =? 0)%uint63 then None else get (at_replica lines j) (n - 1)%uint63
                end in
  forallb (fun jn => negb (fst jn =? replica (it e))%uint63 &&
                     match last (fst jn) with Some q => (id (it q) =? snd jn)%uint63 | None => false end)
    (received (it e)) &&
  forallb (fun jc => (fst jc =? replica (it e))%uint63 || (snd jc =? 0)%uint63 ||
                     existsb (fun jn => (fst jn =? fst jc)%uint63) (received (it e)))
    (counts e).
Fixpoint distinct (m : M.t bool) (ns : list int) : bool :=
  match ns with [] => true | n :: rest => negb (has m n) && distinct (put m n true) rest end.
Lemma distinct_ok : forall ns m, distinct m ns = true ->
  NoDup ns /\ forall n, In n ns -> has m n = false.
Proof.
  induction ns as [|n ns IH]; intros m H; [split; [constructor|intros _ []]|].
  simpl in H. apply andb_prop in H. destruct H as (H & R). apply negb_true_iff in H.
  destruct (IH _ R) as (D & F). split.
  - constructor; auto. intros I. specialize (F n I). unfold has in F. rewrite get_put, eqb_same in F.
    discriminate.
  - intros x [<-|I]; auto. specialize (F x I). unfold has in *. rewrite get_put in F.
    destruct (sameP n x); [discriminate|auto].
Qed.
Lemma no_dup_map : forall A B (f : A -> B) l a b, NoDup (map f l) -> In a l -> In b l -> f a = f b -> a = b.
Proof.
  induction l as [|x l IH]; simpl; [tauto|]. intros a b N [<-|Ia] [<-|Ib] E; auto; inversion N; subst.
  - exfalso. apply H1. rewrite E. now apply in_map.
  - exfalso. apply H1. rewrite <- E. now apply in_map.
  - eauto.
Qed.

Lemma row_of_in : forall cs j c, get (row_of cs) j = Some c -> In (j, c) cs.
Proof.
  intros cs j c. unfold row_of.
  assert (G : forall cs m, get (fold_left (fun m jc => put m (fst jc) (snd jc)) cs m) j = Some c ->
     In (j, c) cs \/ get m j = Some c).
  { clear cs. induction cs as [|(i & d) cs IH]; simpl; auto. intros m H. apply IH in H.
    destruct H as [H|H]; auto. rewrite get_put in H. destruct (sameP i j); auto. injection H as ->.
    subst. auto. }
  intros H. destruct (G _ _ H) as [X|X]; auto. now rewrite get_none in X.
Qed.
Lemma get0_counts : forall e j, sound e -> 0 < to_Z (get0 (row e) j) -> In (j, get0 (row e) j) (counts e).
Proof.
  intros e j (R & _) P. unfold get0 in *. destruct (get (row e) j) as [c|] eqn:G.
  - apply row_of_in. now rewrite <- R.
  - change (to_Z 0) with 0 in P. lia.
Qed.
Lemma row_le_ok : forall a e j, sound a -> row_le a e = true ->
  to_Z (get0 (row a) j) <= to_Z (get0 (row e) j).
Proof.
  intros a e j S H. unfold row_le in H. rewrite forallb_forall in H.
  destruct (Z_le_gt_dec (to_Z (get0 (row a) j)) 0) as [L|L].
  - pose proof (to_Z_bounded (get0 (row e) j)). lia.
  - apply get0_counts with (j := j) in S; [|lia]. specialize (H _ S). now apply leb_le in H.
Qed.

(* --- what an operation has seen --- *)

Definition in_group (m : M.t (list entry)) (k : int) : list entry :=
  match get m k with Some l => l | None => [] end.
Definition group (f : entry -> option int) (l : list entry) : M.t (list entry) :=
  fold_left (fun m e => match f e with None => m | Some k => put m k (e :: in_group m k) end)
    (rev_append l []) none.
Definition is_key (o : option int) (k : int) : bool :=
  match o with Some i => (i =? k)%uint63 | None => false end.
Lemma group_ok : forall f l k, in_group (group f l) k = filter (fun e => is_key (f e) k) l.
Proof.
  intros f l k. unfold group. rewrite <- rev_alt. rewrite <- (rev_involutive l) at 2.
  generalize (rev l). clear l. intros l. induction l as [|e l IH] using rev_ind.
  - unfold in_group. now rewrite get_none.
  - rewrite fold_left_app, rev_app_distr. cbn [fold_left rev app filter].
    rewrite <- IH. destruct (f e) as [i|]; cbn [is_key]; auto.
    unfold in_group at 1. rewrite get_put. destruct (sameP i k) as [->|]; auto.
Qed.
Definition by_object (e : entry) : option int :=
  if is_update (call_of (it e)) then Some (object (it e)) else None.
Definition seen_in (g : M.t (list entry)) (e : entry) : list entry :=
  filter (saw e) (in_group g (object (it e))).

Lemma filter_map : forall A B (f : A -> B) p l, filter p (map f l) = map f (filter (fun a => p (f a)) l).
Proof. induction l as [|a l IH]; simpl; auto. destruct (p (f a)); simpl; congruence. Qed.
Lemma filter_and : forall A (p q : A -> bool) l, filter p (filter q l) = filter (fun a => q a && p a) l.
Proof.
  induction l as [|a l IH]; simpl; auto. destruct (q a); simpl; [destruct (p a)|]; congruence.
Qed.
Lemma filter_same : forall A (p q : A -> bool) l, (forall a, In a l -> p a = q a) -> filter p l = filter q l.
Proof.
  induction l as [|a l IH]; simpl; auto. intros H. rewrite IH by auto. now rewrite (H a) by auto.
Qed.

(* --- observed by any of some operations: the largest of their clocks --- *)

Definition raise (m : M.t int) (cs : list (int * int)) : M.t int :=
  fold_left (fun m jc => if (get0 m (fst jc) <? snd jc)%uint63 then put m (fst jc) (snd jc) else m) cs m.
Definition join (rs : list entry) : M.t int := fold_left (fun m r => raise m (counts r)) rs none.
Definition observed (m : M.t int) (a : entry) : bool := (seq a <? get0 m (replica (it a)))%uint63.
Lemma get0_put : forall m i n j, get0 (put m i n) j = if (i =? j)%uint63 then n else get0 m j.
Proof. intros. unfold get0. rewrite get_put. now destruct (i =? j)%uint63. Qed.
Lemma raise_ok : forall cs m s j, s < to_Z (get0 (raise m cs) j) <->
  s < to_Z (get0 m j) \/ exists c, In (j, c) cs /\ s < to_Z c.
Proof.
  induction cs as [|(i & c) cs IH]; intros m s j; cbn [raise fold_left fst snd].
  - split; auto. intros [H|(c & [] & _)]; auto.
  - change (fold_left _ cs ?x) with (raise x cs). rewrite IH. clear IH.
    assert (E : s < to_Z (get0 (if (get0 m i <? c)%uint63 then put m i c else m) j) <->
                s < to_Z (get0 m j) \/ (i = j /\ s < to_Z c)).
    { destruct (get0 m i <? c)%uint63 eqn:L.
      - apply ltb_lt in L. rewrite get0_put. destruct (sameP i j) as [<-|N]; split; auto; intros [H|H]; auto; try lia; tauto.
      - apply not_true_iff_false in L. rewrite ltb_lt in L. split; auto. intros [H|(<- & H)]; auto. lia. }
    rewrite E. split.
    + intros [[H|(<- & H)]|(d & I & H)]; auto; right; eexists; simpl; eauto.
    + intros [H|(d & [X|I] & H)]; auto; [injection X as <- <-; auto|right; eauto].
Qed.
Lemma join_counts : forall rs s j, 0 <= s -> s < to_Z (get0 (join rs) j) <->
  exists r c, In r rs /\ In (j, c) (counts r) /\ s < to_Z c.
Proof.
  intros rs s j P. unfold join.
  assert (G : forall rs m, s < to_Z (get0 (fold_left (fun m r => raise m (counts r)) rs m) j) <->
     s < to_Z (get0 m j) \/ exists r c, In r rs /\ In (j, c) (counts r) /\ s < to_Z c).
  { clear rs. induction rs as [|r rs IH]; intros m; cbn [fold_left].
    - split; auto. intros [H|(r & c & [] & _)]; auto.
    - rewrite IH, raise_ok. split.
      + intros [[H|(c & I & H)]|(r' & c & I & H)]; auto; right; do 2 eexists; simpl; eauto.
      + intros [H|(r' & c & [<-|I] & H)]; auto; [left; right; eexists; eauto|right; eauto]. }
  rewrite G. split; [|auto]. intros [H|H]; auto. unfold get0 in H. rewrite get_none in H.
  change (to_Z 0) with 0 in H. lia.
Qed.

(* --- reads --- *)

Definition is_add (e : entry) : bool := match call_of (it e) with Add _ => true | _ => false end.
Definition is_remove (e : entry) : bool := match call_of (it e) with Remove _ => true | _ => false end.
Definition nonempty (l : list entry) : bool := match l with [] => false | _ => true end.
(* Of the visible adds and removes of one element. *)
Definition shows_b (t : type) (us : list entry) : bool :=
  let adds := filter is_add us in
  let removes := filter is_remove us in
  match t with
  | AddWinsSet | EnableWinsFlag =>
      let m := join removes in existsb (fun a => negb (observed m a)) adds
  | RemoveWinsSet | DisableWinsFlag =>
      let m := join adds in nonempty adds && forallb (observed m) removes
  | GrowOnlySet => nonempty adds
  | TwoPhaseSet => nonempty adds && negb (nonempty removes)
  | _ => false
  end.
Definition element_of (e : entry) : option int :=
  match call_of (it e) with Add n | Remove n => Some n | _ => None end.
Definition set_of (ns : list int) : M.t bool := fold_left (fun m n => put m n true) ns none.
Lemma set_of_ok : forall ns n, has (set_of ns) n = true <-> In n ns.
Proof.
  intros ns n. unfold set_of.
  assert (G : forall ns m, has (fold_left (fun m n => put m n true) ns m) n = true <-> In n ns \/ has m n = true).
  { clear ns. induction ns as [|a ns IH]; simpl; intros m; [tauto|]. rewrite IH. unfold has at 1.
    rewrite get_put. destruct (sameP a n) as [->|N]; [tauto|]. unfold has.
    split; intros H; [tauto|]. destruct H as [[H|H]|H]; auto; congruence. }
  rewrite G. unfold has. rewrite get_none. split; auto. intros [H|H]; auto. discriminate.
Qed.
Definition members_b (t : type) (us : list entry) (es : list int) : bool :=
  let g := group element_of us in
  let named := set_of es in
  forallb (fun e => shows_b t (in_group g e)) es &&
  for_all (fun l => match l with
                    | [] => true
                    | u :: _ => match element_of u with
                                | Some e => has named e || negb (shows_b t l)
                                | None => true
                                end
                    end) g.

Definition total (us : list entry) : Z := fold_left (fun s u => s + worth u) us 0.
Definition is_reset_entry (e : entry) : bool := is_reset (call_of (it e)).
Definition not_reset (us : list entry) : list entry :=
  let m := join (filter is_reset_entry us) in filter (fun u => negb (observed m u)) us.

Definition value_of (e : entry) : option int := match call_of (it e) with Write v => Some v | _ => None end.
Definition is_write (e : entry) : bool := match call_of (it e) with Write _ => true | _ => false end.
Definition maximal_b (us : list entry) : list entry :=
  let ws := filter is_write us in
  let m := join ws in filter (fun w => negb (observed m w)) ws.
Definition writes_v (v : int) (e : entry) : bool := is_key (value_of e) v.
(* Each value has a write of its own. *)
Fixpoint without_write (v : int) (ws : list entry) : option (list entry) :=
  match ws with
  | [] => None
  | w :: rest =>
      if writes_v v w then Some rest
      else match without_write v rest with None => None | Some l => Some (w :: l) end
  end.
Fixpoint each_written (ws : list entry) (vs : list int) : bool :=
  match vs with
  | [] => true
  | v :: rest => match without_write v ws with None => false | Some l => each_written l rest end
  end.

(* Arrays: the insert of each character, and its interval by id. *)
Definition is_insert (e : entry) : bool := match call_of (it e) with Insert _ _ => true | _ => false end.
Definition inserted (e : entry) : int := match call_of (it e) with Insert _ c => c | _ => 0%uint63 end.
Definition inserts (es : list entry) : M.t entry :=
  fold_left (fun m e => put m (inserted e) e) (filter is_insert es) none.
Definition added_b (ins : M.t entry) (o : entry) (c : int) : bool :=
  match get ins c with Some a => (object (it a) =? object (it o))%uint63 && saw o a | None => false end.
Definition spans_of (cs : list (int * (int * int))) : M.t (int * int) :=
  fold_left (fun m c => put m (fst c) (snd c)) cs none.
(* Strictly rising beginnings of intervals. *)
Fixpoint rising (ins : M.t entry) (spans : M.t (int * int)) (last : option int) (cs : list int) : bool :=
  match cs with
  | [] => true
  | c :: rest =>
      match get ins c with
      | None => false
      | Some a =>
          match get spans (id (it a)) with
          | None => false
          | Some (lo, _) =>
              match last with None => true | Some l => (l <? lo)%uint63 end &&
              rising ins spans (Some lo) rest
          end
      end
  end.
Definition removed_in (us : list entry) : M.t bool :=
  fold_left (fun m u => match call_of (it u) with Remove e => put m e true | _ => m end) us none.
Definition characters_b (ins : M.t entry) (spans : M.t (int * int)) (o : entry) (us : list entry)
    (cs : list int) : bool :=
  let removed := removed_in us in
  let named := set_of cs in
  forallb (fun c => added_b ins o c && negb (has removed c)) cs &&
  forallb (fun u => match call_of (it u) with
                    | Insert _ c => has removed c || has named c
                    | _ => true
                    end) us &&
  rising ins spans None cs.

(* The characters, the last in the linearization first: those added after one character have
   their intervals one after the other. [after] has the end of the latest one by that
   character, [first] by the object of those at the beginning. *)
Fixpoint siblings (ids : M.t entry) (last : option int) (after first : M.t int)
    (cs : list (int * (int * int))) : bool :=
  match cs with
  | [] => true
  | (i, (lo, hi)) :: rest =>
      match get ids i with
      | None => false
      | Some a =>
          match last with None => true | Some l => (place a <? l)%uint63 end && (lo <? hi)%uint63 &&
          match call_of (it a) with
          | Insert (Some p) _ =>
              (get0 after p <=? lo)%uint63 && siblings ids (Some (place a)) (put after p hi) first rest
          | Insert None _ =>
              (get0 first (object (it a)) <=? lo)%uint63 &&
              siblings ids (Some (place a)) after (put first (object (it a)) hi) rest
          | _ => false
          end
      end
  end.
(* The interval of an insert is not empty, and inside that of the character before it. *)
Definition inside (ins : M.t entry) (spans : M.t (int * int)) (a : entry) : bool :=
  match call_of (it a) with
  | Insert p _ =>
      match get spans (id (it a)) with
      | None => false
      | Some (lo, hi) =>
          (lo <? hi)%uint63 &&
          match p with
          | None => true
          | Some p =>
              match get ins p with
              | None => false
              | Some b =>
                  (object (it b) =? object (it a))%uint63 &&
                  match get spans (id (it b)) with
                  | None => false
                  | Some (lo', hi') => (lo' <? lo)%uint63 && (hi <=? hi')%uint63
                  end
              end
          end
      end
  | _ => true
  end.

Definition right_b (t : type) (g : M.t (list entry)) (ins : M.t entry) (spans : M.t (int * int))
    (o : entry) : bool :=
  let us := if is_update (call_of (it o)) then [] else seen_in g o in
  match t, call_of (it o) with
  | (AddWinsSet | RemoveWinsSet | TwoPhaseSet | EnableWinsFlag | DisableWinsFlag),
    (Add _ | Remove _) => true
  | GrowOnlySet, Add _ => true
  | (AddWinsSet | RemoveWinsSet | GrowOnlySet | TwoPhaseSet | EnableWinsFlag | DisableWinsFlag),
    Contains e yes => Bool.eqb yes (shows_b t (filter (fun u => is_key (element_of u) e) us))
  | (AddWinsSet | RemoveWinsSet | GrowOnlySet | TwoPhaseSet), Elements es => members_b t us es
  | (MultiValueRegister | LastWriterWinsRegister | AnyMaximalRegister), Write _ => true
  | MultiValueRegister, Values vs =>
      let ws := maximal_b us in
      each_written ws vs &&
      forallb (fun w => existsb (is_key (value_of w)) vs) ws
  | (LastWriterWinsRegister | AnyMaximalRegister), Values [] => negb (existsb is_write us)
  | LastWriterWinsRegister, Values [v] =>
      let ws := filter is_write us in
      existsb (fun w => writes_v v w && forallb (fun w' => (place w' <=? place w)%uint63) ws) ws
  | AnyMaximalRegister, Values [v] => existsb (writes_v v) (maximal_b us)
  | (Counter | ResettableCounter | BoundedCounter), (Increment _ | Decrement _) => true
  | ResettableCounter, Reset => true
  | Counter, Total s n => signed s n =? total us
  | ResettableCounter, Total s n => signed s n =? total (not_reset us)
  | BoundedCounter, Total s n => (signed s n =? total us) && (0 <=? signed s n)
  | GrowableArray, Insert None _ => true
  | GrowableArray, Insert (Some p) _ => added_b ins o p
  | GrowableArray, Remove e => added_b ins o e
  | GrowableArray, Elements es => characters_b ins spans o us es
  | _, _ => false
  end.

Lemma Z2Nat_le : forall n, to_Z n <= Z.of_nat (Z.to_nat (to_Z n)).
Proof. intros. pose proof (to_Z_bounded n). lia. Qed.

Section Checked.
Variable t : type.
Variable kn : bool.
Variable es : list entry.
Hypothesis Sound : Forall sound es.
Hypothesis Sorted : StronglySorted comes es.
Hypothesis Closed : forall e, In e es -> closed (index_lines es) e = true.
Hypothesis Distinct : NoDup (map place es).
Hypothesis Received : kn = true -> forall e, In e es -> as_received (index_lines es) e = true.
Let h := History t kn (map it es).
Let ids := index_ids es.

Definition of_ids (m : M.t entry) : execution :=
  Execution
    (fun o u => match get m (id o), get m (id u) with Some e, Some a => saw e a | _, _ => false end)
    (fun o => match get m (id o) with Some e => to_Z (place e) | None => 0 end).
Let x := of_ids ids.

Lemma sound_in : forall e, In e es -> sound e.
Proof. rewrite Forall_forall in Sound. auto. Qed.
Lemma sees_saw : forall e a, In e es -> In a es -> sees x (it e) (it a) = saw e a.
Proof. intros. unfold x, of_ids, ids. simpl. now rewrite !index_ids_all. Qed.
Lemma stamp_place : forall e, In e es -> stamp x (it e) = to_Z (place e).
Proof. intros. unfold x, of_ids, ids. simpl. now rewrite index_ids_all. Qed.
Lemma same_number : forall a b, In a es -> In b es -> replica (it a) = replica (it b) -> seq a = seq b -> a = b.
Proof.
  intros a b A B R Q. destruct (sorted_two _ _ _ _ _ Sorted A B) as [|[(_ & T)|(_ & T)]]; auto;
    destruct T as (T & _); auto; rewrite Q in T; lia.
Qed.
Lemma saw_lt : forall e a, saw e a = true <-> to_Z (seq a) < to_Z (get0 (row e) (replica (it a))).
Proof. intros. apply ltb_lt. Qed.

Lemma closed_all : forall n e a, In e es -> In a es -> saw e a = true ->
  to_Z (get0 (row e) (replica (it a))) - to_Z (seq a) <= Z.of_nat n ->
  to_Z (place a) < to_Z (place e) /\
  (forall j, to_Z (get0 (row a) j) <= to_Z (get0 (row e) j)) /\ ~ late (it e) (it a).
Proof.
  induction n as [|n IH]; intros e a Ie Ia S L; apply saw_lt in S; [lia|].
  set (j := replica (it a)) in *. set (c := get0 (row e) j) in *.
  pose proof (to_Z_bounded (seq a)) as B. pose proof (to_Z_bounded c) as Bc.
  assert (Ic : In (j, c) (counts e)) by (apply get0_counts; [now apply sound_in|fold c; lia]).
  pose proof (Closed e Ie) as H. unfold closed in H. rewrite forallb_forall in H. specialize (H _ Ic).
  cbn [fst snd] in H. apply andb_prop in H. destruct H as (_ & H). apply orb_prop in H. destruct H as [H|H].
  { apply eqb_id in H. rewrite H in S. change (to_Z 0) with 0 in S. lia. }
  destruct (get (at_replica (index_lines es) j) (c - 1)) as [q|] eqn:G; [|discriminate].
  apply index_lines_in in G. destruct G as (Iq & Rq & Sq).
  apply andb_prop in H. destruct H as (H & Lt). apply andb_prop in H. destruct H as (P & R).
  apply ltb_lt in P.
  assert (Sz : to_Z (seq q) = to_Z c - 1).
  { rewrite Sq, sub_spec. change (to_Z 1) with 1. apply Z.mod_small. lia. }
  assert (NL : ~ late (it e) (it q)).
  { intros (D & X). unfold not_late in Lt. apply orb_prop in Lt. destruct Lt as [Lt|Lt].
    - now apply eqb_id in Lt.
    - destruct (begun (it q)), (ended (it e)); auto. apply leb_le in Lt. lia. }
  assert (Rle : forall i, to_Z (get0 (row q) i) <= to_Z (get0 (row e) i))
    by (intros; apply row_le_ok; auto using sound_in).
  destruct (Z.eq_dec (to_Z (seq a)) (to_Z (seq q))) as [E|E].
  { apply to_Z_inj in E. assert (a = q) by (apply same_number; auto). subst q. auto. }
  assert (T : to_Z (seq a) < to_Z (seq q)) by lia.
  assert (Own : get0 (row q) (replica (it a)) = seq q).
  { destruct (sound_in q Iq) as (_ & Q & _). fold j. rewrite <- Rq. auto. }
  destruct (IH q a Iq Ia) as (Pa & Ra & _).
  - apply saw_lt. now rewrite Own.
  - rewrite Own. lia.
  - split; [lia|]. split; [intros i; specialize (Ra i); specialize (Rle i); lia|].
    intros (D & X). apply NL. split; [rewrite Rq; exact D|].
    assert (W : time_le (begun (it a)) (begun (it q)) = true).
    { destruct (sorted_two _ _ _ _ _ Sorted Ia Iq) as [<-|[(_ & Y)|(_ & Y)]].
      - apply time_le_same.
      - destruct Y; auto.
      - destruct Y as (Y & _); auto. lia. }
    destruct (begun (it a)) as [b|]; [|tauto]. destruct (begun (it q)) as [b'|]; [|discriminate].
    simpl in W. apply leb_le in W. destruct (ended (it e)); auto. lia.
Qed.
Lemma closed_ok : forall e a, In e es -> In a es -> saw e a = true ->
  to_Z (place a) < to_Z (place e) /\
  (forall j, to_Z (get0 (row a) j) <= to_Z (get0 (row e) j)) /\ ~ late (it e) (it a).
Proof.
  intros e a Ie Ia S.
  apply (closed_all (Z.to_nat (to_Z (get0 (row e) (replica (it a))) - to_Z (seq a)))); auto.
  apply saw_lt in S. lia.
Qed.

Lemma received_ok : kn = true -> forall a e, In a es -> In e es -> replica (it a) <> replica (it e) ->
  saw e a = true <-> exists n, In (replica (it a), n) (received (it e)) /\ to_Z (id (it a)) <= to_Z n.
Proof.
  intros K a e Ia Ie N. pose proof (Received K e Ie) as H. unfold as_received in H.
  apply andb_prop in H. destruct H as (A & B). rewrite forallb_forall in A, B.
  set (j := replica (it a)) in *. set (c := get0 (row e) j) in *. rewrite saw_lt. fold j c.
  pose proof (to_Z_bounded (seq a)) as Bs. pose proof (to_Z_bounded c) as Bc.
  (* The last one that was received, if there is one. *)
  assert (Last : forall n, In (j, n) (received (it e)) -> exists q, In q es /\ replica (it q) = j /\
     to_Z (seq q) = to_Z c - 1 /\ id (it q) = n).
  { intros n I. specialize (A _ I). cbn [fst snd] in A. apply andb_prop in A. destruct A as (_ & A). fold c in A.
    destruct (sameP c 0%uint63) as [|Z]; [discriminate|].
    destruct (get (at_replica (index_lines es) j) (c - 1)) as [q|] eqn:G; [|discriminate].
    apply index_lines_in in G. destruct G as (Iq & Rq & Sq). apply eqb_id in A. exists q. repeat split; auto.
    assert (to_Z c <> 0) by (intros X; apply Z; apply to_Z_inj; exact X).
    rewrite Sq, sub_spec. change (to_Z 1) with 1. apply Z.mod_small. lia. }
  assert (Order : forall q, In q es -> replica (it q) = j -> (to_Z (seq a) <= to_Z (seq q) <-> to_Z (id (it a)) <= to_Z (id (it q)))).
  { intros q Iq Rq. destruct (sorted_two _ _ _ _ _ Sorted Ia Iq) as [<-|[(L & T)|(L & T)]].
    - lia.
    - destruct T as (T & _); [auto|]. lia.
    - destruct T as (T & _); [auto|]. lia. }
  split.
  - intros L. assert (Ic : In (j, c) (counts e)) by (apply get0_counts; [now apply sound_in|fold c; lia]).
    specialize (B _ Ic). cbn [fst snd] in B. apply orb_prop in B. destruct B as [B|B].
    + apply orb_prop in B. destruct B as [B|B]; apply eqb_id in B; [congruence|].
      rewrite B in L. change (to_Z 0) with 0 in L. lia.
    + apply existsb_exists in B. destruct B as ((j' & n) & I & E). cbn [fst] in E. apply eqb_id in E. subst j'.
      exists n. split; auto. destruct (Last n I) as (q & Iq & Rq & Sq & <-). apply Order; auto. lia.
  - intros (n & I & L). destruct (Last n I) as (q & Iq & Rq & Sq & <-). apply Order in L; auto. lia.
Qed.
Lemma possible_ok : possible h x.
Proof.
  unfold possible, h. cbn [ops].
  assert (P : forall o, In o (map it es) -> exists e, o = it e /\ In e es).
  { intros o I. apply in_map_iff in I. destruct I as (e & <- & I). eauto. }
  refine (conj _ (conj _ (conj _ (conj _ (conj _ _))))).
  - intros a b Ia Ib R L. destruct (P a Ia) as (a' & -> & Ja), (P b Ib) as (b' & -> & Jb).
    rewrite sees_saw by auto. apply saw_lt.
    destruct (sound_in b' Jb) as (_ & Q & _). rewrite R, <- Q.
    destruct (sorted_two _ _ _ _ _ Sorted Ja Jb) as [<-|[(_ & T)|(T & _)]]; try lia. now apply T.
  - intros a b c Ia Ib Ic. destruct (P a Ia) as (a' & -> & Ja), (P b Ib) as (b' & -> & Jb),
      (P c Ic) as (c' & -> & Jc). rewrite !sees_saw by auto. intros S S'.
    destruct (closed_ok _ _ Jc Jb S') as (_ & R & _). apply saw_lt in S. apply saw_lt.
    specialize (R (replica (it a'))). lia.
  - intros a b Ia Ib. destruct (P a Ia) as (a' & -> & Ja), (P b Ib) as (b' & -> & Jb).
    rewrite sees_saw, !stamp_place by auto. intros S. now apply closed_ok.
  - intros a b Ia Ib. destruct (P a Ia) as (a' & -> & Ja), (P b Ib) as (b' & -> & Jb).
    rewrite !stamp_place by auto. intros E. apply to_Z_inj in E. f_equal.
    eapply no_dup_map with (f := place); eauto.
  - intros a b Ia Ib _. destruct (P a Ia) as (a' & -> & Ja), (P b Ib) as (b' & -> & Jb).
    rewrite sees_saw by auto. intros S. now apply closed_ok.
  - cbn [known]. intros K a b Ia Ib _ N. destruct (P a Ia) as (a' & -> & Ja), (P b Ib) as (b' & -> & Jb).
    rewrite sees_saw by auto. now apply received_ok.
Qed.

(* --- what was seen is what is visible --- *)

Let g := group by_object es.

Lemma type_h : type_of h = t. Proof. reflexivity. Qed.
Lemma in_seen : forall o a, In a (seen_in g o) <->
  In a es /\ is_update (call_of (it a)) = true /\ object (it a) = object (it o) /\ saw o a = true.
Proof.
  intros o a. unfold seen_in, g. rewrite filter_In, group_ok, filter_In. unfold by_object.
  destruct (is_update (call_of (it a))); cbn [is_key]; [rewrite eqb_id|]; intuition congruence.
Qed.
Lemma visible_seen : forall o, In o es -> visible h x (it o) = map it (seen_in g o).
Proof.
  intros o I. unfold visible, h. cbn [ops]. rewrite filter_map. unfold seen_in, g.
  rewrite group_ok, filter_and. f_equal. apply filter_same. intros a Ia.
  rewrite sees_saw by auto. unfold by_object. destruct (is_update (call_of (it a))); reflexivity.
Qed.
Lemma in_visible : forall o u, In o es -> In u (visible h x (it o)) <-> exists a, u = it a /\ In a (seen_in g o).
Proof.
  intros o u I. rewrite visible_seen, in_map_iff by auto. split; intros (a & E & J); eauto.
Qed.
Lemma seen_es : forall o a, In a (seen_in g o) -> In a es.
Proof. intros o a I. now apply in_seen in I. Qed.

Lemma counts_row : forall e j c, In e es -> In (j, c) (counts e) -> get0 (row e) j = c.
Proof.
  intros e j c I J. pose proof (Closed e I) as H. unfold closed in H. rewrite forallb_forall in H.
  specialize (H _ J). apply andb_prop in H. destruct H as (H & _). now apply eqb_id in H.
Qed.
Lemma join_ok : forall rs a, (forall r, In r rs -> In r es) ->
  observed (join rs) a = true <-> exists r, In r rs /\ saw r a = true.
Proof.
  intros rs a A. unfold observed. rewrite ltb_lt, join_counts by apply to_Z_bounded. split.
  - intros (r & c & I & J & L). exists r. split; auto. apply saw_lt. erewrite counts_row; eauto.
  - intros (r & I & S). apply saw_lt in S. exists r. eexists. split; [exact I|]. split; [|exact S].
    apply get0_counts; [now apply sound_in, A|]. pose proof (to_Z_bounded (seq a)). lia.
Qed.
Lemma join_none : forall rs a, (forall r, In r rs -> In r es) ->
  observed (join rs) a = false <-> forall r, In r rs -> saw r a = false.
Proof.
  intros rs a A. rewrite <- not_true_iff_false, join_ok by auto. split.
  - intros N r I. apply not_true_iff_false. intros S. eauto.
  - intros N (r & I & S). rewrite (N r I) in S. discriminate.
Qed.

(* --- sets --- *)

Lemma is_add_ok : forall a e, is_key (element_of a) e = true /\ is_add a = true <-> call_of (it a) = Add e.
Proof.
  intros a e. unfold element_of, is_add.
  destruct (call_of (it a)) eqn:C; cbn [is_key]; try rewrite eqb_id; intuition congruence.
Qed.
Lemma is_remove_ok : forall a e, is_key (element_of a) e = true /\ is_remove a = true <-> call_of (it a) = Remove e.
Proof.
  intros a e. unfold element_of, is_remove.
  destruct (call_of (it a)) eqn:C; cbn [is_key]; try rewrite eqb_id; intuition congruence.
Qed.
Definition about (o : entry) (e : int) : list entry := filter (fun u => is_key (element_of u) e) (seen_in g o).
Lemma in_adds : forall o e a, In a (filter is_add (about o e)) <-> In a (seen_in g o) /\ call_of (it a) = Add e.
Proof. intros. unfold about. rewrite !filter_In, <- is_add_ok. tauto. Qed.
Lemma in_removes : forall o e a, In a (filter is_remove (about o e)) <-> In a (seen_in g o) /\ call_of (it a) = Remove e.
Proof. intros. unfold about. rewrite !filter_In, <- is_remove_ok. tauto. Qed.
Lemma nonempty_ok : forall l, nonempty l = true <-> exists a, In a l.
Proof.
  intros [|a l]; simpl; split; intros H; try discriminate; eauto. destruct H as (a & []).
Qed.
Lemma adds_some : forall o e, In o es -> nonempty (filter is_add (about o e)) = true <->
  exists a, In a (visible h x (it o)) /\ call_of a = Add e.
Proof.
  intros o e I. rewrite nonempty_ok. split.
  - intros (a & J). apply in_adds in J. destruct J. exists (it a). rewrite in_visible by auto. eauto.
  - intros (u & J & C). apply in_visible in J; auto. destruct J as (a & -> & J). exists a. now apply in_adds.
Qed.
Lemma shows_ok : forall o e, In o es -> shows_b t (about o e) = true <-> shows h x (it o) e.
Proof.
  intros o e I. unfold shows_b, shows. rewrite type_h.
  assert (Aw : existsb (fun a => negb (observed (join (filter is_remove (about o e))) a))
                 (filter is_add (about o e)) = true <->
    exists a, In a (visible h x (it o)) /\ call_of a = Add e /\
      forall r, In r (visible h x (it o)) -> call_of r = Remove e -> sees x r a = false).
  { rewrite existsb_exists. split.
    - intros (a & Ia & N). apply in_adds in Ia. destruct Ia as (Ia & C). apply negb_true_iff in N.
      rewrite join_none in N by (intros r Ir; apply in_removes in Ir; eapply seen_es; apply Ir).
      exists (it a). rewrite in_visible by auto. split; [eauto|]. split; auto. intros r Ir Cr.
      apply in_visible in Ir; auto. destruct Ir as (r' & -> & Ir).
      rewrite sees_saw by (eapply seen_es; eauto). apply N. now apply in_removes.
    - intros (u & Iu & C & N). apply in_visible in Iu; auto. destruct Iu as (a & -> & Ia). exists a. split.
      + now apply in_adds.
      + apply negb_true_iff. rewrite join_none by (intros r Ir; apply in_removes in Ir; eapply seen_es; apply Ir).
        intros r Ir. apply in_removes in Ir. destruct Ir as (Ir & Cr).
        rewrite <- sees_saw by (eapply seen_es; eauto). apply N; auto. rewrite in_visible by auto. eauto. }
  assert (Rw : nonempty (filter is_add (about o e)) &&
      forallb (observed (join (filter is_add (about o e)))) (filter is_remove (about o e)) = true <->
    (exists a, In a (visible h x (it o)) /\ call_of a = Add e) /\
    forall r, In r (visible h x (it o)) -> call_of r = Remove e ->
      exists a, In a (visible h x (it o)) /\ call_of a = Add e /\ sees x a r = true).
  { rewrite andb_true_iff, adds_some, forallb_forall by auto. apply and_iff_compat_l. split.
    - intros A u Iu Cu. apply in_visible in Iu; auto. destruct Iu as (r & -> & Ir).
      specialize (A r). rewrite in_removes, join_ok in A
        by (intros y Iy; apply in_adds in Iy; eapply seen_es; apply Iy).
      destruct (A (conj Ir Cu)) as (a & Ia & S). apply in_adds in Ia. destruct Ia as (Ia & Ca).
      exists (it a). rewrite in_visible, sees_saw by (eauto using seen_es). eauto.
    - intros A r Ir. apply in_removes in Ir. destruct Ir as (Ir & Cr).
      rewrite join_ok by (intros y Iy; apply in_adds in Iy; eapply seen_es; apply Iy).
      destruct (A (it r)) as (u & Iu & Cu & S); auto; [rewrite in_visible by auto; eauto|].
      apply in_visible in Iu; auto. destruct Iu as (a & -> & Ia). exists a. rewrite in_adds. split; auto.
      rewrite <- sees_saw by (eapply seen_es; eauto). exact S. }
  assert (Tp : nonempty (filter is_add (about o e)) && negb (nonempty (filter is_remove (about o e))) = true <->
    (exists a, In a (visible h x (it o)) /\ call_of a = Add e) /\
    forall r, In r (visible h x (it o)) -> call_of r <> Remove e).
  { rewrite andb_true_iff, adds_some, negb_true_iff by auto. apply and_iff_compat_l.
    rewrite <- not_true_iff_false, nonempty_ok. split.
    - intros N u Iu Cu. apply in_visible in Iu; auto. destruct Iu as (r & -> & Ir). apply N. exists r.
      now apply in_removes.
    - intros N (r & Ir). apply in_removes in Ir. destruct Ir as (Ir & Cr). apply (N (it r)); auto.
      rewrite in_visible by auto. eauto. }
  pose proof (adds_some o e I) as As. destruct t; auto; (split; [discriminate|tauto]).
Qed.
Lemma members_ok : forall o ns, In o es -> members_b t (seen_in g o) ns = true ->
  forall e, In e ns <-> shows h x (it o) e.
Proof.
  intros o ns I H e. unfold members_b in H. apply andb_prop in H. destruct H as (A & B).
  rewrite forallb_forall in A.
  assert (G : forall e, in_group (group element_of (seen_in g o)) e = about o e).
  { intros d. rewrite group_ok. reflexivity. }
  split.
  - intros J. apply A in J. rewrite G in J. now apply shows_ok.
  - intros S. apply shows_ok in S; auto.
    destruct (get (group element_of (seen_in g o)) e) as [l|] eqn:Gl.
    + assert (E : l = about o e) by (rewrite <- G; unfold in_group; now rewrite Gl).
      pose proof (for_all_get _ _ _ _ _ B Gl) as X. cbn beta in X.
      destruct l as [|u l].
      * rewrite <- E in S. unfold shows_b in S. destruct t; discriminate S.
      * assert (Iu : In u (about o e)) by (rewrite <- E; now left).
        unfold about in Iu. apply filter_In in Iu. destruct Iu as (_ & Q).
        destruct (element_of u) as [d|]; [|discriminate]. cbn [is_key] in Q. apply eqb_id in Q. subst d.
        rewrite E, S in X. rewrite orb_false_r in X. now apply set_of_ok in X.
    + assert (E : about o e = []) by (rewrite <- G; unfold in_group; now rewrite Gl).
      rewrite E in S. unfold shows_b in S. destruct t; discriminate S.
Qed.

(* --- counters --- *)

Lemma total_ok : forall us, (forall u, In u us -> In u es) -> total us = sum (map it us).
Proof.
  intros us A. unfold total, sum.
  assert (X : forall us s, (forall u, In u us -> In u es) ->
     fold_left (fun s u => s + worth u) us s = s + fold_right Z.add 0 (map (fun u => amount (call_of u)) (map it us))).
  { clear us A. induction us as [|u us IH]; intros s A; simpl; [lia|]. rewrite IH by (intros; apply A; now right).
    assert (Iu : In u es) by (apply A; now left).
    destruct (sound_in u Iu) as (_ & _ & ->). lia. }
  rewrite X by auto. lia.
Qed.
Lemma not_reset_ok : forall o, In o es -> map it (not_reset (seen_in g o)) = since_reset h x (it o).
Proof.
  intros o I. unfold since_reset, not_reset. rewrite visible_seen, filter_map by auto. f_equal.
  apply filter_same. intros a Ia. f_equal. apply eq_true_iff_eq.
  rewrite join_ok by (intros r Ir; apply filter_In in Ir; eapply seen_es; apply Ir).
  rewrite existsb_exists. split.
  - intros (r & Ir & S). apply filter_In in Ir. destruct Ir as (Ir & R). exists (it r).
    rewrite sees_saw, S by (eapply seen_es; eauto). split; [now apply in_map|]. unfold is_reset_entry in R. now rewrite R.
  - intros (u & Iu & S). apply in_map_iff in Iu. destruct Iu as (r & <- & Ir). apply andb_prop in S.
    destruct S as (R & S). rewrite sees_saw in S by (eapply seen_es; eauto). exists r. split; auto.
    apply filter_In. auto.
Qed.

(* --- registers --- *)

Lemma writes_v_ok : forall v a, writes_v v a = true <-> call_of (it a) = Write v.
Proof.
  intros v a. unfold writes_v, value_of. destruct (call_of (it a)) eqn:C; cbn [is_key];
    try rewrite eqb_id; split; intros X; try congruence. 
Qed.
Lemma is_write_ok : forall a, is_write a = true <-> exists v, call_of (it a) = Write v.
Proof.
  intros a. unfold is_write. destruct (call_of (it a)); split; intros X; try discriminate; eauto;
    destruct X; discriminate.
Qed.
Lemma no_write_ok : forall o, In o es -> existsb is_write (seen_in g o) = false -> no_write h x (it o).
Proof.
  intros o I N w v Iw C. apply in_visible in Iw; auto. destruct Iw as (a & -> & Ia).
  assert (existsb is_write (seen_in g o) = true); [|congruence]. apply existsb_exists. exists a. split; auto.
  apply is_write_ok. eauto.
Qed.
Lemma maximal_ok : forall o a, In o es -> In a (maximal_b (seen_in g o)) <->
  maximal h x (it o) (it a) /\ In a (seen_in g o) /\ is_write a = true.
Proof.
  intros o a I. unfold maximal_b, maximal. rewrite !filter_In, negb_true_iff.
  rewrite join_none by (intros r Ir; apply filter_In in Ir; eapply seen_es; apply Ir).
  split.
  - intros ((Ia & W) & N). split; auto. split; [rewrite in_visible by auto; eauto|].
    intros w v Iw C. apply in_visible in Iw; auto. destruct Iw as (b & -> & Ib).
    rewrite sees_saw by (eapply seen_es; eauto). apply N. apply filter_In. split; auto. apply is_write_ok. eauto.
  - intros ((_ & N) & Ia & W). split; auto. intros b Ib. apply filter_In in Ib. destruct Ib as (Ib & Wb).
    apply is_write_ok in Wb. destruct Wb as (v & C). rewrite <- sees_saw by (eapply seen_es; eauto).
    apply N with v; auto. rewrite in_visible by auto. eauto.
Qed.
Lemma maximal_v : forall o v, In o es -> existsb (writes_v v) (maximal_b (seen_in g o)) = true <->
  exists w, maximal h x (it o) w /\ call_of w = Write v.
Proof.
  intros o v I. rewrite existsb_exists. split.
  - intros (a & Ia & W). apply maximal_ok in Ia; auto. apply writes_v_ok in W. exists (it a). tauto.
  - intros (w & M & C). assert (Iw : In w (visible h x (it o))) by apply M. apply in_visible in Iw; auto.
    destruct Iw as (a & -> & Ia). exists a. rewrite maximal_ok, writes_v_ok by auto. repeat split; try apply M; auto.
    apply is_write_ok. eauto.
Qed.

Lemma maximal_distinct : forall o, In o es -> NoDup (map it (maximal_b (seen_in g o))).
Proof.
  intros o I. assert (D : NoDup (map it es)).
  { apply NoDup_map_inv with (f := stamp x). rewrite map_map.
    replace (map (fun e => stamp x (it e)) es) with (map (fun e => to_Z (place e)) es).
    - rewrite <- (map_map place to_Z). apply FinFun.Injective_map_NoDup; auto. intros a b. apply to_Z_inj.
    - apply map_ext_in. intros e J. now rewrite stamp_place. }
  assert (F : forall f l, NoDup (map it l) -> NoDup (map it (filter f l))).
  { intros f l. induction l as [|a l IH]; cbn; auto. intros N. inversion N as [|? ? A B]; subst.
    destruct (f a); cbn; auto. constructor; auto. rewrite in_map_iff in *. intros (b & E & J).
    apply filter_In in J. apply A. exists b. tauto. }
  unfold maximal_b. apply F, F. rewrite <- visible_seen by auto. unfold visible. now apply NoDup_filter.
Qed.
Lemma without_write_ok : forall v ws l, without_write v ws = Some l ->
  exists w, writes_v v w = true /\ Permutation ws (w :: l).
Proof.
  intros v ws. induction ws as [|a ws IH]; cbn; [discriminate|]. intros l.
  destruct (writes_v v a) eqn:W.
  - intros E. injection E as <-. eauto.
  - destruct (without_write v ws) as [m|]; [|discriminate]. intros E. injection E as <-.
    destruct (IH m eq_refl) as (w & Ww & P). exists w. split; auto. rewrite P. apply perm_swap.
Qed.
Lemma each_written_ok : forall vs ws, each_written ws vs = true ->
  exists us rest, Permutation ws (us ++ rest) /\ map (fun w => call_of (it w)) us = map Write vs.
Proof.
  intros vs. induction vs as [|v vs IH]; cbn; intros ws H; [now exists [], ws|].
  destruct (without_write v ws) as [l|] eqn:E; [|discriminate].
  apply without_write_ok in E. destruct E as (w & W & P). apply IH in H. destruct H as (us & rest & Q & M).
  exists (w :: us), rest. split; [now rewrite P, Q|]. cbn. apply writes_v_ok in W. congruence.
Qed.

(* --- arrays --- *)

Let ins := inserts es.
Variable cs : list (int * (int * int)).
Let spans := spans_of cs.

Lemma ins_in : forall c a, get ins c = Some a -> In a es /\ exists p, call_of (it a) = Insert p c.
Proof.
  intros c a. unfold ins, inserts.
  assert (G : forall l m, (forall u, In u l -> In u (filter is_insert es)) ->
     get (fold_left (fun m e => put m (inserted e) e) l m) c = Some a ->
     (In a (filter is_insert es) /\ inserted a = c) \/ get m c = Some a).
  { induction l as [|u l IH]; simpl; auto. intros m A H. apply IH in H; auto. destruct H as [H|H]; auto.
    rewrite get_put in H. destruct (sameP (inserted u) c); auto. injection H as <-. left. auto. }
  intros H. apply G in H; auto. destruct H as [(I & E)|H]; [|now rewrite get_none in H].
  apply filter_In in I. destruct I as (I & J). split; auto. unfold is_insert in J. unfold inserted in E.
  destruct (call_of (it a)); try discriminate. subst. eauto.
Qed.
Lemma added_b_ok : forall o c, In o es -> added_b ins o c = true -> has_seen_added h x (it o) c.
Proof.
  intros o c I A. unfold added_b in A. destruct (get ins c) as [a|] eqn:G; [|discriminate].
  apply ins_in in G. destruct G as (Ia & p & C). apply andb_prop in A. destruct A as (K & S).
  apply eqb_id in K. exists (it a), p. split; auto. apply in_visible; auto. exists a. split; auto.
  apply in_seen. rewrite C. auto.
Qed.


Hypothesis Once : NoDup (map inserted (filter is_insert es)).
Hypothesis Siblings : siblings ids None none none cs = true.
Hypothesis Inside : forall a, In a es -> inside ins spans a = true.

Lemma added_once_ok : added_once h.
Proof.
  intros a b p q e Ia Ib Ca Cb. unfold h in *. cbn [ops] in *. apply in_map_iff in Ia, Ib.
  destruct Ia as (a' & <- & Ia), Ib as (b' & <- & Ib). f_equal.
  assert (X : forall c r, In c es -> call_of (it c) = Insert r e -> In c (filter is_insert es) /\ inserted c = e).
  { intros c r I C. rewrite filter_In. unfold is_insert, inserted. rewrite C. auto. }
  destruct (X _ _ Ia Ca) as (Ja & Ea), (X _ _ Ib Cb) as (Jb & Eb).
  eapply no_dup_map with (f := inserted); eauto. congruence.
Qed.

(* The first of two items has its interval before that of the second one, if both were added
   after the same character. *)
Definition apart (c d : int * (int * int)) : Prop :=
  forall a b p e f, get ids (fst c) = Some a -> get ids (fst d) = Some b ->
    to_Z (place b) < to_Z (place a) /\
    (call_of (it a) = Insert p e -> call_of (it b) = Insert p f ->
     object (it a) = object (it b) -> to_Z (snd (snd c)) <= to_Z (fst (snd d))).
Lemma siblings_ok : forall l last after first done,
  (match last with
   | None => done = []
   | Some n => forall c a, In c done -> get ids (fst c) = Some a -> to_Z n <= to_Z (place a)
   end) ->
  (forall c a p e, In c done -> get ids (fst c) = Some a -> call_of (it a) = Insert (Some p) e ->
     to_Z (snd (snd c)) <= to_Z (get0 after p)) ->
  (forall c a e, In c done -> get ids (fst c) = Some a -> call_of (it a) = Insert None e ->
     to_Z (snd (snd c)) <= to_Z (get0 first (object (it a)))) ->
  siblings ids last after first l = true ->
  StronglySorted apart l /\ forall c d, In c done -> In d l -> apart c d.
Proof.
  induction l as [|(i & lo & hi) l IH]; intros last after first done Hl Ha Hf H;
    [split; [constructor|intros c d _ []]|].
  cbn [siblings] in H. destruct (get ids i) as [b|] eqn:Gb; [|discriminate].
  apply andb_prop in H. destruct H as (H & R). apply andb_prop in H. destruct H as (L & W).
  apply ltb_lt in W.
  assert (Pl : forall c a, In c done -> get ids (fst c) = Some a -> to_Z (place b) < to_Z (place a)).
  { intros c a I G. destruct last as [n|]; [|now subst]. apply ltb_lt in L. specialize (Hl c a I G). lia. }
  assert (Hl' : forall c a, In c ((i, (lo, hi)) :: done) -> get ids (fst c) = Some a ->
            to_Z (place b) <= to_Z (place a)).
  { intros c a [<-|I] G; cbn [fst] in *; [replace a with b by congruence; lia|].
    specialize (Pl c a I G). lia. }
  assert (D : forall c, In c done -> apart c (i, (lo, hi))).
  { intros c I a b' p e f Ga Gb'. cbn [fst snd] in *. assert (b' = b) by congruence. subst b'.
    split; [eauto|]. intros Ca Cb Ob. rewrite Cb in R. destruct p as [p|]; apply andb_prop in R; destruct R as (R & _);
      apply leb_le in R.
    - specialize (Ha c a p e I Ga Ca). lia.
    - specialize (Hf c a e I Ga Ca). rewrite Ob in Hf. lia. }
  assert (Rest : exists after' first',
     (forall c a p e, In c ((i, (lo, hi)) :: done) -> get ids (fst c) = Some a -> call_of (it a) = Insert (Some p) e ->
        to_Z (snd (snd c)) <= to_Z (get0 after' p)) /\
     (forall c a e, In c ((i, (lo, hi)) :: done) -> get ids (fst c) = Some a -> call_of (it a) = Insert None e ->
        to_Z (snd (snd c)) <= to_Z (get0 first' (object (it a)))) /\
     siblings ids (Some (place b)) after' first' l = true).
  { destruct (call_of (it b)) as [| | | | | | | | | |[p|] e] eqn:Cb; try discriminate; apply andb_prop in R;
      destruct R as (B & R); apply leb_le in B; do 2 eexists; (split; [|split; [|exact R]]).
    - intros c a p' e' [<-|I] Ga Ca; cbn [fst snd] in *.
      + assert (a = b) by congruence. subst a. rewrite Cb in Ca. injection Ca as <- <-.
        rewrite get0_put, eqb_same. lia.
      + rewrite get0_put. specialize (Ha c a p' e' I Ga Ca). destruct (sameP p p') as [<-|]; lia.
    - intros c a e' [<-|I] Ga Ca; cbn [fst snd] in *; eauto.
      assert (a = b) by congruence. subst a. congruence.
    - intros c a p' e' [<-|I] Ga Ca; cbn [fst snd] in *; eauto.
      assert (a = b) by congruence. subst a. congruence.
    - intros c a e' [<-|I] Ga Ca; cbn [fst snd] in *.
      + assert (a = b) by congruence. subst a. rewrite get0_put, eqb_same. lia.
      + rewrite get0_put. specialize (Hf c a e' I Ga Ca).
        destruct (sameP (object (it b)) (object (it a))) as [Eo|]; [rewrite <- Eo in Hf|]; lia. }
  destruct Rest as (after' & first' & Ha' & Hf' & R').
  destruct (IH (Some (place b)) after' first' ((i, (lo, hi)) :: done) Hl' Ha' Hf' R') as (S & C). split.
  - constructor; auto. apply Forall_forall. intros d Id. apply C; simpl; auto.
  - intros c d Ic [<-|Id]; auto. apply C; simpl; auto.
Qed.

Lemma spans_in : forall i s, get spans i = Some s -> In (i, s) cs.
Proof.
  intros i s. unfold spans, spans_of.
  assert (G : forall l m, get (fold_left (fun m (c : int * (int * int)) => put m (fst c) (snd c)) l m) i = Some s ->
            In (i, s) l \/ get m i = Some s).
  { induction l as [|(j & r) l IH]; simpl; auto. intros m H. apply IH in H. destruct H as [H|H]; auto.
    rewrite get_put in H. destruct (sameP j i) as [->|]; auto. injection H as ->. auto. }
  intros H. destruct (G _ _ H) as [X|X]; auto. now rewrite get_none in X.
Qed.

Definition char (k c : int) (a : entry) (lo hi : int) : Prop :=
  In a es /\ object (it a) = k /\ (exists p, call_of (it a) = Insert p c) /\
  get spans (id (it a)) = Some (lo, hi) /\ to_Z lo < to_Z hi.
Lemma char_of : forall a p c, In a es -> call_of (it a) = Insert p c ->
  exists lo hi, char (object (it a)) c a lo hi.
Proof.
  intros a p c I C. pose proof (Inside a I) as H. unfold inside in H. rewrite C in H.
  destruct (get spans (id (it a))) as [(lo & hi)|] eqn:G; [|discriminate].
  apply andb_prop in H. destruct H as (W & _). apply ltb_lt in W. exists lo, hi. repeat split; eauto.
Qed.
Lemma char_up : forall k c a lo hi p, char k c a lo hi -> call_of (it a) = Insert (Some p) c ->
  exists b lo' hi', char k p b lo' hi' /\ to_Z lo' < to_Z lo /\ to_Z hi <= to_Z hi'.
Proof.
  intros k c a lo hi p (I & K & _ & G & W) C. pose proof (Inside a I) as H. unfold inside in H.
  rewrite C, G in H. apply andb_prop in H. destruct H as (_ & H).
  destruct (get ins p) as [b|] eqn:Gp; [|discriminate]. apply ins_in in Gp. destruct Gp as (Ib & q & Cb).
  apply andb_prop in H. destruct H as (O & H). apply eqb_id in O.
  destruct (get spans (id (it b))) as [(lo' & hi')|] eqn:Gb; [|discriminate].
  apply andb_prop in H. destruct H as (A & B). apply ltb_lt in A. apply leb_le in B.
  exists b, lo', hi'. split; auto. repeat split; eauto; [congruence|lia].
Qed.
Lemma char_same : forall k c a lo hi k' b lo' hi', char k c a lo hi -> char k' c b lo' hi' ->
  a = b /\ lo = lo' /\ hi = hi'.
Proof.
  intros k c a lo hi k' b lo' hi' (Ia & _ & (p & Ca) & Ga & _) (Ib & _ & (q & Cb) & Gb & _).
  assert (a = b).
  { assert (X : forall d r, In d es -> call_of (it d) = Insert r c -> In d (filter is_insert es) /\ inserted d = c).
    { intros d r I C. rewrite filter_In. unfold is_insert, inserted. rewrite C. auto. }
    destruct (X _ _ Ia Ca), (X _ _ Ib Cb). eapply no_dup_map with (f := inserted); eauto. congruence. }
  subst b. split; auto. split; congruence.
Qed.
Lemma in_ops : forall u, In u (ops h) -> exists a, u = it a /\ In a es.
Proof. intros u I. unfold h in I. cbn [ops] in I. apply in_map_iff in I. destruct I as (a & <- & I). eauto. Qed.
Lemma ops_in : forall a, In a es -> In (it a) (ops h).
Proof. intros. unfold h. cbn [ops]. now apply in_map. Qed.

Lemma nested : forall k c d, below h k c d -> forall b lo hi, char k d b lo hi ->
  exists a lo' hi', char k c a lo' hi' /\ to_Z lo' <= to_Z lo /\ to_Z hi <= to_Z hi'.
Proof.
  induction 1 as [|u p e Iu K C B IH]; intros b lo hi Ch.
  - exists b, lo, hi. split; auto. lia.
  - apply in_ops in Iu. destruct Iu as (a & -> & Ia).
    destruct (char_of a _ _ Ia C) as (lo' & hi' & Ch'). rewrite K in Ch'.
    destruct (char_same _ _ _ _ _ _ _ _ _ Ch Ch') as (-> & -> & ->).
    destruct (char_up _ _ _ _ _ _ Ch' C) as (b' & l & r & Cp & L & R).
    destruct (IH _ _ _ Cp) as (a' & l' & r' & Ca & L' & R'). exists a', l', r'. split; auto. lia.
Qed.
(* What is below a character is itself, or below one that was added after it. *)
Lemma below_split : forall k p d, below h k p d -> p = d \/
  exists w c, In w es /\ object (it w) = k /\ call_of (it w) = Insert (Some p) c /\ below h k c d.
Proof.
  induction 1 as [|u q e Iu K C B IH]; auto. right. destruct IH as [<-|(w & c & Iw & Kw & Cw & Bw)].
  - apply in_ops in Iu. destruct Iu as (a & -> & Ia). exists a, e. repeat split; auto. constructor.
  - exists w, c. repeat split; auto. econstructor; eauto.
Qed.
Lemma below_root : forall n k d b lo hi, char k d b lo hi -> to_Z lo <= Z.of_nat n ->
  exists w r, In w es /\ object (it w) = k /\ call_of (it w) = Insert None r /\ below h k r d.
Proof.
  induction n as [|n IH]; intros k d b lo hi Ch L.
  - destruct Ch as (I & K & ([p|] & C) & G & W); [|exists b, d; repeat split; auto; constructor].
    destruct (char_up k d b lo hi p) as (b' & lo' & hi' & _ & X & _); auto; [repeat split; eauto|].
    pose proof (to_Z_bounded lo'). lia.
  - pose proof Ch as (I & K & ([p|] & C) & G & W); [|exists b, d; repeat split; auto; constructor].
    destruct (char_up _ _ _ _ _ _ Ch C) as (b' & lo' & hi' & Cp & X & _).
    destruct (IH _ _ _ _ _ Cp) as (w & r & Iw & Kw & Cw & Bw); [lia|].
    exists w, r. repeat split; auto. apply under with (it b) p; auto using ops_in.
Qed.
Definition fork (k c d : int) : Prop :=
  exists u v p a b, In u es /\ In v es /\ object (it u) = k /\ object (it v) = k /\
    call_of (it u) = Insert p a /\ call_of (it v) = Insert p b /\ a <> b /\ below h k a c /\ below h k b d.
Lemma forks : forall n k c d a b lo hi lo' hi', char k c a lo hi -> char k d b lo' hi' ->
  to_Z lo <= Z.of_nat n -> below h k c d \/ below h k d c \/ fork k c d.
Proof.
  induction n as [|n IH]; intros k c d a b lo hi lo' hi' Cc Cd L;
    pose proof Cc as (Ia & Ka & ([p|] & Ca) & _).
  - destruct (char_up _ _ _ _ _ _ Cc Ca) as (? & l & ? & _ & X & _). pose proof (to_Z_bounded l). lia.
  - destruct (below_root _ _ _ _ _ _ Cd (Z2Nat_le _)) as (w & r & Iw & Kw & Cw & Bw).
    destruct (sameP r c) as [->|N]; auto. right. right. exists a, w, None, c, r.
    repeat split; auto. constructor.
  - destruct (char_up _ _ _ _ _ _ Cc Ca) as (q & l & r & Cp & X & _).
    assert (U : forall y, below h k y p -> below h k y c).
    { intros y B. apply under with (it a) p; auto using ops_in. }
    destruct (IH _ _ _ _ _ _ _ _ _ Cp Cd) as [B|[B|(u & v & s & e & f & Iu & Iv & Ku & Kv & Cu & Cv & N & Be & Bf)]];
      [lia| | |].
    + apply below_split in B. destruct B as [<-|(w & e & Iw & Kw & Cw & B)].
      * right. left. apply U. constructor.
      * destruct (sameP c e) as [->|N]; auto. right. right. exists a, w, (Some p), c, e.
        repeat split; auto. constructor.
    + auto.
    + right. right. exists u, v, s, e, f. repeat split; auto.
  - destruct (below_root _ _ _ _ _ _ Cd (Z2Nat_le _)) as (w & r & Iw & Kw & Cw & Bw).
    destruct (sameP r c) as [->|N]; auto. right. right. exists a, w, None, c, r.
    repeat split; auto. constructor.
Qed.

Lemma order_ok : forall k c d a b lo hi lo' hi', char k c a lo hi -> char k d b lo' hi' ->
  to_Z lo < to_Z lo' -> in_tree_order h x k c d.
Proof.
  intros k c d a b lo hi lo' hi' Cc Cd L.
  destruct (forks _ _ _ _ _ _ _ _ _ _ Cc Cd (Z2Nat_le _)) as
      [B|[B|(u & v & p & e & f & Iu & Iv & Ku & Kv & Cu & Cv & N & Be & Bf)]].
  - left. split; auto. intros <-. destruct (char_same _ _ _ _ _ _ _ _ _ Cc Cd) as (_ & -> & _). lia.
  - destruct (nested _ _ _ B _ _ _ Cc) as (a' & l & r & Cx & Y & _).
    destruct (char_same _ _ _ _ _ _ _ _ _ Cx Cd) as (_ & -> & _). lia.
  - right. exists (it u), (it v), p, e, f. rewrite !stamp_place by auto. repeat split; auto using ops_in.
    destruct (char_of u _ _ Iu Cu) as (lu & ru & Chu), (char_of v _ _ Iv Cv) as (lv & rv & Chv).
    rewrite Ku in Chu. rewrite Kv in Chv.
    destruct (nested _ _ _ Be _ _ _ Cc) as (a1 & l1 & r1 & C1 & L1 & R1).
    destruct (char_same _ _ _ _ _ _ _ _ _ C1 Chu) as (-> & -> & ->).
    destruct (nested _ _ _ Bf _ _ _ Cd) as (a2 & l2 & r2 & C2 & L2 & R2).
    destruct (char_same _ _ _ _ _ _ _ _ _ C2 Chv) as (-> & -> & ->).
    assert (Su : In (id (it u), (lu, ru)) cs) by (apply spans_in; apply Chu).
    assert (Sv : In (id (it v), (lv, rv)) cs) by (apply spans_in; apply Chv).
    assert (Gu : get ids (id (it u)) = Some u) by now apply index_ids_all.
    assert (Gv : get ids (id (it v)) = Some v) by now apply index_ids_all.
    assert (Srt : StronglySorted apart cs).
    { apply (siblings_ok cs None none none []); auto; intros; destruct H. }
    destruct Chu as (_ & _ & _ & Gsu & _), Chv as (_ & _ & _ & Gsv & _), Cd as (_ & _ & _ & _ & Wd).
    destruct (sorted_two _ _ _ _ _ Srt Su Sv) as [E|[A|A]].
    + injection E as E _ _. rewrite E in Gu. assert (u = v) by congruence. subst v. congruence.
    + destruct (A u v p e f Gu Gv). lia.
    + destruct (A v u p f e Gv Gu) as (_ & X). specialize (X Cv Cu ltac:(congruence)). cbn [fst snd] in X. lia.
Qed.

Lemma rising_ok : forall o ns last, (forall c, In c ns -> added_b ins o c = true) ->
  rising ins spans last ns = true ->
  StronglySorted (in_tree_order h x (object (it o))) ns /\ NoDup ns /\
  forall c, In c ns -> exists a lo hi, char (object (it o)) c a lo hi /\
    match last with None => True | Some l => to_Z l < to_Z lo end.
Proof.
  induction ns as [|c ns IH]; intros last A H; [repeat split; [constructor|constructor|intros c []]|].
  cbn [rising] in H. destruct (get ins c) as [a|] eqn:G; [|discriminate].
  destruct (get spans (id (it a))) as [(lo & hi)|] eqn:Gs; [|discriminate].
  apply andb_prop in H. destruct H as (L & R).
  destruct (IH _ (fun c I => A c (or_intror I)) R) as (S & D & C).
  pose proof (ins_in _ _ G) as (Ia & p & Ca).
  assert (Ob : object (it a) = object (it o)).
  { specialize (A c (or_introl eq_refl)). unfold added_b in A. rewrite G in A. apply andb_prop in A.
    destruct A as (A & _). now apply eqb_id in A. }
  destruct (char_of a p c Ia Ca) as (lo' & hi' & Ch). pose proof Ch as (_ & _ & _ & Gs' & _).
  assert (lo' = lo) by congruence. assert (hi' = hi) by congruence. subst lo' hi'. rewrite Ob in Ch.
  assert (L' : match last with None => True | Some l => to_Z l < to_Z lo end).
  { destruct last; auto. now apply ltb_lt in L. }
  split; [|split].
  - constructor; auto. apply Forall_forall. intros d Id. destruct (C d Id) as (b & l & r & Cd & X).
    eapply order_ok; eauto.
  - constructor; auto. intros I. destruct (C c I) as (b & l & r & Cd & X).
    destruct (char_same _ _ _ _ _ _ _ _ _ Ch Cd) as (_ & -> & _). lia.
  - intros d [<-|Id]; [exists a, lo, hi; auto|]. destruct (C d Id) as (b & l & r & Cd & X).
    exists b, l, r. split; auto. destruct last; auto. lia.
Qed.

Lemma removed_in_ok : forall us e, has (removed_in us) e = true <-> exists u, In u us /\ call_of (it u) = Remove e.
Proof.
  intros us e. unfold removed_in.
  assert (G : forall us m, has (fold_left (fun m u => match call_of (it u) with Remove e => put m e true | _ => m end) us m) e = true <->
     (exists u, In u us /\ call_of (it u) = Remove e) \/ has m e = true).
  { clear us. induction us as [|u us IH]; intros m; cbn [fold_left].
    - split; auto. intros [(u & [] & _)|H]; auto.
    - rewrite IH. split.
      + intros [(w & I & C)|H]; [left; exists w; simpl; auto|].
        destruct (call_of (it u)) eqn:Cu; auto. unfold has in H. rewrite get_put in H.
        destruct (sameP e0 e) as [->|]; [left; exists u; simpl; auto|auto].
      + intros [(w & [<-|I] & C)|H]; [|left; eauto|].
        * right. rewrite C. unfold has. now rewrite get_put, eqb_same.
        * right. destruct (call_of (it u)); auto. unfold has in *. rewrite get_put.
          now destruct (e0 =? e)%uint63. }
  rewrite G. unfold has. rewrite get_none. split; auto. intros [H|H]; auto. discriminate.
Qed.
Lemma characters_ok : forall o ns, In o es -> characters_b ins spans o (seen_in g o) ns = true ->
  NoDup ns /\
  (forall e, In e ns <->
     has_seen_added h x (it o) e /\ forall r, In r (visible h x (it o)) -> call_of r <> Remove e) /\
  StronglySorted (in_tree_order h x (object (it o))) ns.
Proof.
  intros o ns I H. unfold characters_b in H. apply andb_prop in H. destruct H as (H & R).
  apply andb_prop in H. destruct H as (A & B). rewrite forallb_forall in A, B.
  assert (A' : forall c, In c ns -> added_b ins o c = true /\ has (removed_in (seen_in g o)) c = false).
  { intros c J. apply A in J. apply andb_prop in J. destruct J as (J & K). now apply negb_true_iff in K. }
  destruct (rising_ok o ns None) as (S & D & _); auto; [intros c J; now apply A'|].
  split; auto. split; auto. intros e. split.
  - intros J. apply A' in J. destruct J as (J & K). split; [now apply added_b_ok|].
    intros r Ir Cr. apply in_visible in Ir; auto. destruct Ir as (r' & -> & Ir).
    apply not_true_iff_false in K. apply K. apply removed_in_ok. eauto.
  - intros ((u & p & Iu & Cu) & N). apply in_visible in Iu; auto. destruct Iu as (a & -> & Ia).
    specialize (B a Ia). rewrite Cu in B. apply orb_prop in B. destruct B as [B|B].
    + apply removed_in_ok in B. destruct B as (r & Ir & Cr). exfalso. apply (N (it r)); auto.
      apply in_visible; eauto.
    + now apply set_of_ok in B.
Qed.

(* --- all reads --- *)

Lemma array_ok : t = GrowableArray -> forall o, In o es -> right_b t g ins spans o = true -> right h x (it o).
Proof.
  intros T o I H. unfold right. rewrite type_h. unfold right_b in H. rewrite T in *.
  destruct (call_of (it o)) as [| e | | ns | | | | | | |[p|] e]; cbn [is_update] in H; auto; try discriminate.
  - now apply added_b_ok.
  - now apply characters_ok.
  - now apply added_b_ok.
Qed.
Lemma right_ok : t <> GrowableArray -> forall o, In o es -> right_b t g ins spans o = true -> right h x (it o).
Proof.
  intros T o I H. unfold right. rewrite type_h. unfold right_b in H.
  assert (Set_ok : forall e yes, Bool.eqb yes (shows_b t (about o e)) = true -> (yes = true <-> shows h x (it o) e)).
  { intros e yes E. apply eqb_prop in E. rewrite E. now apply shows_ok. }
  pose proof (members_ok o) as Members.
  pose proof (total_ok (seen_in g o) (fun u J => seen_es _ _ J)) as Sum. rewrite <- visible_seen in Sum by auto.
  assert (Reset : total (not_reset (seen_in g o)) = sum (since_reset h x (it o))).
  { rewrite total_ok; [now rewrite not_reset_ok|]. intros u J. apply filter_In in J. eapply seen_es, J. }
  assert (None_ok : forall P : Prop, negb (existsb is_write (seen_in g o)) = true ->
            ([] = @nil int /\ no_write h x (it o)) \/ P).
  { intros P N. left. split; auto. apply no_write_ok; auto. now apply negb_true_iff. }
  remember t as t0 eqn:Et in H |- *.
  destruct (call_of (it o)) as [e|e|e yes|ns|n|n| |s n|v|vs|p e] eqn:C; cbn [is_update] in H; destruct t0; auto; try discriminate; try congruence;
    try (apply Set_ok; rewrite <- Et; exact H); try (apply Members; auto; rewrite <- Et; exact H).
  - rewrite <- Sum. now apply Z.eqb_eq.
  - rewrite <- Reset. now apply Z.eqb_eq.
  - apply andb_prop in H. destruct H as (A & B). rewrite <- Sum. split; [now apply Z.eqb_eq|now apply Z.leb_le].
  - apply andb_prop in H. destruct H as (A & B). rewrite forallb_forall in B. split.
    + intros m v J Cm. assert (J' : exists w, maximal h x (it o) w /\ call_of w = Write v) by eauto.
      apply maximal_v in J'; auto. apply existsb_exists in J'. destruct J' as (w & Iw & W).
      specialize (B w Iw). apply existsb_exists in B. destruct B as (v' & Iv & K).
      unfold writes_v in W. destruct (value_of w); [|discriminate]. cbn [is_key] in *.
      apply eqb_id in W, K. congruence.
    + apply each_written_ok in A. destruct A as (us & rest & P & M). exists (map it us).
      pose proof (maximal_distinct o I) as D. split; [|split].
      * rewrite P, map_app in D. revert D. generalize (map it us) (map it rest). intros l l'.
        induction l as [|a l IH]; cbn; intros D; [constructor|]. inversion D as [|? ? A D']; subst.
        constructor; auto. intros J. apply A, in_or_app. auto.
      * intros w Iw. apply in_map_iff in Iw. destruct Iw as (a & <- & Ia). apply maximal_ok; auto.
        rewrite P. apply in_or_app. auto.
      * now rewrite map_map.
  - destruct vs as [|v [|? ?]]; [now apply None_ok| |discriminate]. right.
    apply existsb_exists in H. destruct H as (w & Iw & W). apply andb_prop in W. destruct W as (W & L).
    apply writes_v_ok in W. apply filter_In in Iw. destruct Iw as (Iw & _). rewrite forallb_forall in L.
    exists (it w), v. split; auto. split; [apply in_visible; eauto|]. split; auto.
    intros w' v' Iw' C'. apply in_visible in Iw'; auto. destruct Iw' as (b & -> & Ib).
    rewrite !stamp_place by (eapply seen_es; eauto). apply leb_le. apply L. apply filter_In. split; auto.
    apply is_write_ok. eauto.
  - destruct vs as [|v [|? ?]]; [now apply None_ok| |discriminate]. right.
    apply maximal_v in H; auto. destruct H as (w & M & W). exists w, v. auto.
Qed.
End Checked.

(* --- the verifier --- *)

Definition check_array (es : list entry) (ids ins : M.t entry) (cs : list (int * (int * int))) : bool :=
  distinct none (map inserted (filter is_insert es)) && siblings ids None none none cs &&
  forallb (inside ins (spans_of cs)) es.
Definition check_replicated (h : history) (w : witness) : bool :=
  match zip (ops h) (clocks w) [] with
  | None => false
  | Some es =>
      in_line None none es && distinct none (map place es) &&
      (let lines := index_lines es in
       forallb (closed lines) es && (negb (known h) || forallb (as_received lines) es)) &&
      let ins := inserts es in
      match type_of h with
      | GrowableArray => check_array es (index_ids es) ins (characters w)
      | _ => true
      end &&
      let g := group by_object es in
      let spans := spans_of (characters w) in
      forallb (right_b (type_of h) g ins spans) es
  end.

(* If the verifier accepts a witness, the history satisfies its type. *)
Theorem replicated_sound : forall h w, check_replicated h w = true -> satisfies h.
Proof.
  intros [t k os] w H. unfold check_replicated in H. cbn [type_of known ops] in H.
  destruct (zip os (clocks w) []) as [es|] eqn:Z; [|discriminate].
  apply zip_ok in Z. destruct Z as (E & So). cbn [map rev app] in E. specialize (So ltac:(constructor)).
  apply andb_prop in H. destruct H as (H & Ri). apply andb_prop in H. destruct H as (H & Cl).
  apply andb_prop in Cl. destruct Cl as (Cl & Re).
  apply andb_prop in H. destruct H as (Li & Di).
  apply andb_prop in Ri. destruct Ri as (Ar & Ri).
  destruct (in_line_ok es None none []) as (Srt & _); auto; [intros a []|].
  apply distinct_ok in Di. destruct Di as (Di & _). rewrite forallb_forall in Cl, Ri. subst os.
  assert (Received : k = true -> forall e, In e es -> as_received (index_lines es) e = true).
  { intros ->. now apply forallb_forall. }
  assert (Array : t = GrowableArray ->
     NoDup (map inserted (filter is_insert es)) /\
     siblings (index_ids es) None none none (characters w) = true /\
     forall a, In a es -> inside (inserts es) (spans_of (characters w)) a = true).
  { intros ->. unfold check_array in Ar. apply andb_prop in Ar. destruct Ar as (Ar & In1).
    apply andb_prop in Ar. destruct Ar as (On & Si). apply distinct_ok in On. destruct On as (On & _).
    rewrite forallb_forall in In1. auto. }
  split; [|split].
  - unfold numbered. cbn [ops]. clear - Srt. induction Srt as [|e l S IH F]; cbn [map]; constructor; auto.
    apply Forall_map. eapply Forall_impl; [|exact F]. intros a X. apply X.
  - cbn [type_of]. intros T. destruct (Array T) as (On & _). now apply added_once_ok.
  - exists (of_ids (index_ids es)). split; [now apply possible_ok|]. cbn [ops]. intros o I.
    apply in_map_iff in I. destruct I as (e & <- & I). specialize (Ri e I).
    assert (D : t = GrowableArray \/ t <> GrowableArray) by (destruct t; auto; right; discriminate).
    destruct D as [T|T].
    + destruct (Array T) as (On & Si & Ins). eapply array_ok; eauto.
    + eapply right_ok; eauto.
Qed.
