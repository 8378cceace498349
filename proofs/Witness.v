(* Certificates of "satisfied" at the order levels: a total order of events, which is replayed
   on an empty store (docs/reference/formats/certificate.md, "Satisfied").

   [replay] is the checker, [replay_sound] its theorem. At the begin of a transaction the reads
   must fit the store; at its commit its writes go there. Whose version a read saw is no part
   of the certificate: it is the store's.

   The proof looks at every event with the events before it ([steps_at]) and relates the maps
   of the checker to that list ([inv]); each axiom of Levels.v then follows by itself. *)
From Coq Require Import List ZArith Uint63 Bool Sorted Lia.
From Cupel Require Import History Levels Order Ladder.
Import ListNotations.
Local Open Scope Z_scope.

Definition event : Type := bool * txn.  (* true: the commit *)
Definition is (b : bool) (t : txn) (x : event) : bool :=
  Bool.eqb (fst x) b && (id (snd x) =? id t)%uint63.

(* A row of the table of levels. *)
Record shape := Shape {
  two : bool;        (* begin and commit *)
  apart : bool;      (* writers of a key do not overlap *)
  sessions : bool;   (* session order *)
  rt_any : bool;     (* real time ... *)
  rt_begin : bool }. (* ... up to begins, not only commits *)

Record state := State {
  latest : M.t (txn * change);     (* the last committed writer of each key *)
  content : M.t (list int);        (* lists, their last elements first *)
  opened : M.t (M.t (txn * change)); (* who has begun and not committed: [latest] at its begin *)
  done : M.t bool;                 (* who has committed *)
  youngest : M.t int;              (* by session: the greatest id that has begun *)
  newest : option int }.           (* the greatest invocation *)
Definition empty : state := State none none none none none None.

Definition elements (m : M.t (list int)) (k : int) : list int :=
  match get m k with Some l => l | None => [] end.

Definition knows (t : txn) (o : op) : bool :=
  match outcome t with
  | Committed => true
  | Indeterminate => match writes o with Some _ => true | None => false end
  | Aborted => false
  end.

Fixpoint same_list (a b : list int) : bool :=
  match a, b with
  | [], [] => true
  | x :: a, y :: b => (x =? y)%uint63 && same_list a b
  | _, _ => false
  end.
Lemma same_list_eq : forall a b, same_list a b = true -> a = b.
Proof.
  induction a; destruct b; simpl; try discriminate; auto.
  intros H. apply andb_prop in H. destruct H as [E H]. apply eqb_id in E. f_equal; auto.
Qed.

Definition install (t : txn) (m : M.t (txn * change)) : M.t (txn * change) :=
  fold_left (fun m o => match writes o with Some c => put m (on o) (t, c) | None => m end)
    (ops t) m.
Definition lengthen (t : txn) (m : M.t (list int)) : M.t (list int) :=
  fold_left
    (fun m o => match writes o with
                | Some (Append v) => put m (on o) (v :: elements m (on o)) | _ => m end)
    (ops t) m.

Definition same_writer (a b : option (txn * change)) : bool :=
  match a, b with
  | None, None => true
  | Some (x, _), Some (y, _) => (id x =? id y)%uint63
  | _, _ => false
  end.

(* Is [c] + 2 [drift] not before [n]? *)
Definition not_after (twice : int) (n c : int) : bool :=
  ((n <=? c) || (n - c <=? twice))%uint63.

Section Check.
(* [values]: are reads of others' versions to be compared with the store? At the weak levels
   they are not (Weak.v). *)
Variables (h : history) (start_value : int -> change) (twice_drift : int) (sh : shape) (values : bool).

(* A read of another's version, or of an own write; own list reads are for the commit. *)
Definition read_fits (st : state) (t : txn) (p : list op) (own : M.t change) (o : op) : bool :=
  if knows t o then
    match sees o with
    | None => true
    | Some s =>
        match get own (on o) with
        | Some c => match s with Elements _ => true | _ => fits h s c end
        | None =>
            negb values ||
            match s with
            | Elements vs => same_list (rev_append vs []) (elements (content st) (on o))
            | _ =>
                fits h s match get (latest st) (on o) with
                         | Some (_, c) => c
                         | None => start_value (on o)
                         end
            end
        end
    end
  else true.
Definition own_list_fits (st : state) (t : txn) (p : list op) (own : M.t change) (o : op) : bool :=
  match sees o with
  | Some (Elements vs) =>
      if knows t o then
        match get own (on o) with
        | Some _ =>
            same_list (rev_append vs [])
              (rev_append (appends (on o) (rev_append p [])) [] ++ elements (content st) (on o))
        | None => true
        end
      else true
  | _ => true
  end.

Definition begins (b : bool) : bool := negb b || negb (two sh).

Definition check_begin (st : state) (t : txn) : bool :=
  negb (has (opened st) (id t)) && negb (has (done st) (id t)) &&
  each_op (read_fits st t) [] none (ops t).

Definition is_committed (t : txn) : bool :=
  match outcome t with Committed => true | _ => false end.

Definition check_commit (st : state) (t : txn) : bool :=
  (if two sh then
     match get (opened st) (id t) with
     | None => false
     | Some then_latest =>
         if apart sh then
           forallb (fun o => match writes o with
                             | None => true
                             | Some _ => same_writer (get (latest st) (on o)) (get then_latest (on o))
                             end) (ops t)
         else true
     end
   else true) &&
  each_op (own_list_fits st t) [] none (ops t) &&
  (if sessions sh && is_committed t then
     match get (youngest st) (session t) with None => true | Some y => (y <=? id t)%uint63 end
   else true) &&
  (if rt_any sh && is_committed t then
     match completed t, newest st with
     | Some c, Some n => not_after twice_drift n c
     | _, _ => true
     end
   else true).

Definition later (a : option int) (b : option int) : option int :=
  match a, b with
  | Some x, Some y => if (x <=? y)%uint63 then b else a
  | None, _ => b
  | _, None => a
  end.

Definition update (st : state) (b : bool) (t : txn) : state :=
  State
    (if b then install t (latest st) else latest st)
    (if b then lengthen t (content st) else content st)
    (if b then (if two sh then del (opened st) (id t) else opened st)
     else put (opened st) (id t) (latest st))
    (if b then put (done st) (id t) true else done st)
    (if begins b then
       match later (get (youngest st) (session t)) (Some (id t)) with
       | Some y => put (youngest st) (session t) y
       | None => youngest st
       end
     else youngest st)
    (if (if rt_begin sh then begins b else b) then later (newest st) (invoked t) else newest st).

Definition step (st : state) (x : event) : option state :=
  let (b, t) := x in
  if (if begins b then check_begin st t else true) && (if b then check_commit st t else true)
  then Some (update st b t) else None.

Fixpoint steps (st : state) (xs : list event) : option state :=
  match xs with
  | [] => Some st
  | x :: rest => match step st x with Some st' => steps st' rest | None => None end
  end.

(* The same with ids: at levels with two events the first is the begin. *)
Fixpoint walk (table : M.t txn) (st : state) (order : list int) : option state :=
  match order with
  | [] => Some st
  | i :: rest =>
      match get table i with
      | None => None
      | Some t =>
          match step st (if two sh then has (opened st) i else true, t) with
          | Some st' => walk table st' rest
          | None => None
          end
      end
  end.
Lemma walk_steps : forall table order st st', walk table st order = Some st' ->
  exists xs, steps st xs = Some st' /\
             Forall (fun x => exists i, get table i = Some (snd x)) xs /\
             (two sh = false -> Forall (fun x => fst x = true) xs).
Proof.
  induction order as [|i order IH]; cbn [walk]; intros st st' H.
  - exists []. injection H as <-. simpl. auto.
  - destruct (get table i) as [t|] eqn:G; [|discriminate].
    remember (if two sh then has (opened st) i else true) as b.
    destruct (step st (b, t)) as [st1|] eqn:S; [|discriminate].
    destruct (IH _ _ H) as (xs & R & F & W).
    exists ((b, t) :: xs). cbn [steps]. rewrite S. split; [|split]; auto.
    + constructor; eauto.
    + intros T. constructor; auto. rewrite T in Heqb. auto.
Qed.

(* Who must have committed has, and nobody else. *)
Definition complete (st : state) : bool :=
  M.is_empty (opened st) &&
  forallb (fun t => match outcome t with
                    | Committed => has (done st) (id t)
                    | Aborted => negb (has (done st) (id t))
                    | Indeterminate => true
                    end) (txns h).

Definition replay (table : M.t txn) (order : list int) : bool :=
  match walk table empty order with Some st => complete st | None => false end.

(* --- the maps say what the events before do --- *)

Definition commits (p : list event) : list txn := map snd (filter fst p).
Definition writers (k : int) (p : list event) : list txn := filter (writes_key k) (commits p).

Lemma commits_app : forall p q, commits (p ++ q) = commits p ++ commits q.
Proof. intros. unfold commits. now rewrite filter_app, map_app. Qed.
Lemma writers_app : forall k p q, writers k (p ++ q) = writers k p ++ writers k q.
Proof. intros. unfold writers. now rewrite commits_app, filter_app. Qed.
Lemma writers_begin : forall k p t, writers k (p ++ [(false, t)]) = writers k p.
Proof. intros. rewrite writers_app. cbn. apply app_nil_r. Qed.
Lemma writers_commit : forall k p t, writers k (p ++ [(true, t)]) =
  writers k p ++ (if writes_key k t then [t] else []).
Proof. intros. rewrite writers_app. reflexivity. Qed.
Lemma in_writers : forall k p t, In t (writers k p) <-> In (true, t) p /\ writes_key k t = true.
Proof.
  intros. unfold writers, commits. rewrite filter_In, in_map_iff. split.
  - intros (((b & x) & E & F) & W). apply filter_In in F. simpl in *. destruct F as (F & ->).
    subst. auto.
  - intros (I & W). split; auto. exists (true, t). split; auto. apply filter_In. auto.
Qed.

Definition latest_ok (m : M.t (txn * change)) (p : list event) : Prop :=
  forall k, match get m k with
            | None => writers k p = []
            | Some (t, c) => (exists r, writers k p = r ++ [t]) /\ last_write k (ops t) = Some c
            end.
Definition content_ok (m : M.t (list int)) (p : list event) : Prop :=
  forall k, elements m k = rev (flat_map (fun a => appends k (ops a)) (writers k p)).

Lemma get_install : forall t m k, get (install t m) k =
  match last_write k (ops t) with Some c => Some (t, c) | None => get m k end.
Proof.
  intros t m k. unfold install. induction (ops t) as [|o os IH] using rev_ind; auto.
  rewrite fold_left_app, last_write_snoc. simpl. destruct (writes o).
  - rewrite get_put. destruct (on o =? k)%uint63; auto.
  - rewrite IH. now destruct (on o =? k)%uint63.
Qed.
Lemma elements_lengthen : forall t m k,
  elements (lengthen t m) k = rev (appends k (ops t)) ++ elements m k.
Proof.
  intros t m k. unfold lengthen. induction (ops t) as [|o os IH] using rev_ind; auto.
  rewrite fold_left_app. unfold appends in *. rewrite flat_map_app. cbn.
  rewrite app_nil_r, rev_app_distr, <- app_assoc, <- IH.
  destruct (writes o) as [[v|v|v]|]; try (destruct (on o =? k)%uint63; reflexivity).
  unfold elements at 1. rewrite get_put. destruct (sameP (on o) k) as [->|]; auto.
Qed.

Lemma latest_ok_commit : forall m p t, latest_ok m p ->
  latest_ok (install t m) (p ++ [(true, t)]).
Proof.
  intros m p t L k. rewrite get_install, writers_commit. unfold writes_key. specialize (L k).
  destruct (last_write k (ops t)) eqn:W.
  - split; auto. exists (writers k p). auto.
  - now rewrite app_nil_r.
Qed.
Lemma content_ok_commit : forall m p t, content_ok m p ->
  content_ok (lengthen t m) (p ++ [(true, t)]).
Proof.
  intros m p t L k. rewrite elements_lengthen, writers_commit, (L k), flat_map_app, rev_app_distr.
  unfold writes_key. destruct (last_write k (ops t)) eqn:W.
  - simpl. now rewrite app_nil_r.
  - now rewrite no_write_no_appends.
Qed.

Record inv (p : list event) (st : state) : Prop := {
  inv_latest : latest_ok (latest st) p;
  inv_content : content_ok (content st) p;
  inv_there : forall b t, In (b, t) p ->
    has (opened st) (id t) = true \/ has (done st) (id t) = true;
  inv_done : forall i, has (done st) i = true <-> exists t, In (true, t) p /\ id t = i;
  inv_opened : forall i m, get (opened st) i = Some m ->
    has (done st) i = false /\
    exists q t r, p = q ++ (false, t) :: r /\ id t = i /\ existsb (is false t) q = false /\
                  latest_ok m q;
  inv_youngest : forall b t, In (b, t) p -> begins b = true ->
    exists y, get (youngest st) (session t) = Some y /\ to_Z (id t) <= to_Z y;
  inv_newest : forall b t v, In (b, t) p -> (if rt_begin sh then begins b else b) = true ->
    invoked t = Some v -> exists n, newest st = Some n /\ to_Z v <= to_Z n }.

Lemma inv_empty : inv [] empty.
Proof.
  constructor; simpl; try tauto.
  - intros k. now rewrite get_none.
  - intros k. unfold elements. now rewrite get_none.
  - intros i. unfold has. rewrite get_none. split; [discriminate|intros (t & [] & _)].
  - intros i m. rewrite get_none. discriminate.
Qed.

Lemma later_left : forall a x b, a = Some x ->
  exists y, later a b = Some y /\ to_Z x <= to_Z y.
Proof.
  intros a x [z|] ->; simpl; [|exists x; split; auto; lia].
  destruct (x <=? z)%uint63 eqn:L; [apply leb_le in L; eauto|exists x; split; auto; lia].
Qed.
Lemma later_right : forall a x b, b = Some x ->
  exists y, later a b = Some y /\ to_Z x <= to_Z y.
Proof.
  intros [z|] x b ->; simpl; [|exists x; split; auto; lia].
  destruct (z <=? x)%uint63 eqn:L; [exists x; split; auto; lia|].
  exists z. split; auto. destruct (Z.le_gt_cases (to_Z x) (to_Z z)); auto.
  assert (X : to_Z z <= to_Z x) by lia. apply leb_le in X. congruence.
Qed.

Lemma has_put : forall A (m : M.t A) i j a, has (put m i a) j = (i =? j)%uint63 || has m j.
Proof. intros. unfold has. rewrite get_put. now destruct (i =? j)%uint63. Qed.
Lemma has_del : forall A (m : M.t A) i j, has (del m i) j = negb (i =? j)%uint63 && has m j.
Proof. intros. unfold has. rewrite get_del. now destruct (i =? j)%uint63. Qed.

Lemma is_in : forall b t p, existsb (is b t) p = true <-> exists t', In (b, t') p /\ id t' = id t.
Proof.
  intros. rewrite existsb_exists. unfold is. split.
  - intros ((b' & t') & I & E). simpl in E. apply andb_prop in E. destruct E as (E & F).
    apply eqb_prop in E. apply eqb_id in F. subst. eauto.
  - intros (t' & I & E). exists (b, t'). simpl. rewrite E, eqb_same. destruct b; auto.
Qed.
Lemma not_is_in : forall b t p, existsb (is b t) p = false <->
  forall t', In (b, t') p -> id t' <> id t.
Proof.
  intros. rewrite <- not_true_iff_false, is_in. split; [intros H t' I E; apply H; eauto|].
  intros H (t' & I & E). eapply H; eauto.
Qed.

Ltac booleans := repeat match goal with
  | H : _ && _ = true |- _ => apply andb_prop in H; destruct H
  | H : negb _ = true |- _ => apply negb_true_iff in H
  end.

(* What holds of an event and the events before it. *)
Record at_begin (q : list event) (b : bool) (t : txn) : Prop := {
  ab_fresh : existsb (is b t) q = false;
  ab_state : exists st, inv q st /\ each_op (read_fits st t) [] none (ops t) = true }.
Record at_commit (q : list event) (t : txn) : Prop := {
  ac_fresh : existsb (is true t) q = false;
  ac_begun : two sh = true -> exists q' t' r, q = q' ++ (false, t') :: r /\ id t' = id t /\
    existsb (is false t) q' = false /\
    (apart sh = true -> forall k, writes_key k t = true ->
       match rev (writers k q), rev (writers k q') with
       | [], [] => True | a :: _, b :: _ => id a = id b | _, _ => False end);
  ac_lists : exists st, inv q st /\ each_op (own_list_fits st t) [] none (ops t) = true;
  ac_session : sessions sh = true -> outcome t = Committed ->
    forall b x, In (b, x) q -> begins b = true -> session x = session t -> to_Z (id x) <= to_Z (id t);
  ac_time : rt_any sh = true -> outcome t = Committed ->
    forall b x v c, In (b, x) q -> (if rt_begin sh then begins b else b) = true ->
      invoked x = Some v -> completed t = Some c -> to_Z v <= to_Z c + to_Z twice_drift }.

Lemma not_after_le : forall n c v, not_after twice_drift n c = true -> to_Z v <= to_Z n ->
  to_Z v <= to_Z c + to_Z twice_drift.
Proof.
  unfold not_after. intros n c v H L. pose proof (to_Z_bounded twice_drift).
  destruct (n <=? c)%uint63 eqn:E; simpl in H.
  - apply leb_le in E. lia.
  - apply leb_le in H. rewrite sub_spec in H. pose proof (to_Z_bounded n). pose proof (to_Z_bounded c).
    destruct (Z.le_gt_cases (to_Z n) (to_Z c)); [lia|]. rewrite Z.mod_small in H by lia. lia.
Qed.

Lemma rev_latest : forall m p k, latest_ok m p ->
  match get m k with
  | None => rev (writers k p) = []
  | Some (t, c) => (exists r, rev (writers k p) = t :: r) /\ last_write k (ops t) = Some c
  end.
Proof.
  intros m p k L. specialize (L k). destruct (get m k) as [(t & c)|].
  - destruct L as ((r & E) & W). split; auto. rewrite E, rev_app_distr. simpl. eauto.
  - now rewrite L.
Qed.

Lemma step_at : forall p st b t st', inv p st -> step st (b, t) = Some st' ->
  (begins b = true -> at_begin p b t) /\ (b = true -> at_commit p t) /\ inv (p ++ [(b, t)]) st'.
Proof.
  intros p st b t st' I S. unfold step in S.
  destruct ((if begins b then check_begin st t else true) && (if b then check_commit st t else true))
    eqn:C; [|discriminate]. injection S as <-. apply andb_prop in C. destruct C as (Cb & Cc).
  assert (Fresh : begins b = true -> has (opened st) (id t) = false /\ has (done st) (id t) = false).
  { intros B. rewrite B in Cb. unfold check_begin in Cb. booleans. auto. }
  assert (Open : b = true -> two sh = true ->
            exists m, get (opened st) (id t) = Some m /\ has (done st) (id t) = false).
  { intros -> T. unfold check_commit in Cc. rewrite T in Cc. booleans.
    destruct (get (opened st) (id t)) as [m|] eqn:G; [|discriminate]. exists m. split; auto.
    now destruct (inv_opened _ _ I _ _ G). }
  assert (NotDone : b = true -> has (done st) (id t) = false).
  { intros B. destruct (two sh) eqn:T; [now destruct (Open B eq_refl) as (m & _ & N)|].
    apply Fresh. unfold begins. rewrite T. destruct b; auto. }
  split; [|split].
  - intros B. specialize (Fresh B). rewrite B in Cb. unfold check_begin in Cb. booleans.
    constructor; [|eauto].
    apply not_is_in. intros t' J E. apply (inv_there _ _ I) in J. rewrite E in J.
    destruct J; destruct Fresh; congruence.
  - intros ->. specialize (NotDone eq_refl).
    assert (Cc' := Cc). unfold check_commit in Cc. booleans. constructor.
    + apply not_is_in. intros t' J E.
      assert (X : has (done st) (id t) = true) by (apply (inv_done _ _ I); eauto). congruence.
    + intros T. rewrite T in *. destruct (get (opened st) (id t)) as [m|] eqn:G; [|discriminate].
      destruct (inv_opened _ _ I _ _ G) as (_ & q & t' & r & E & Id & F & L).
      exists q, t', r. repeat split; auto.
      * apply not_is_in. rewrite not_is_in in F. intros x J. rewrite <- Id. auto.
      * intros Apt k W. rewrite Apt in *. unfold writes_key in W.
        destruct (last_write k (ops t)) as [c|] eqn:LW; [|discriminate].
        destruct (last_write_in k (ops t)) as (o & c' & Io & Ko & Wo); [congruence|].
        match goal with H : forallb _ (ops t) = true |- _ =>
          rewrite forallb_forall in H; specialize (H o Io); simpl in H; rewrite Wo, Ko in H end.
        pose proof (rev_latest _ _ k (inv_latest _ _ I)) as A1. pose proof (rev_latest _ _ k L) as A2.
        destruct (get (latest st) k) as [(a & ca)|], (get m k) as [(a' & ca')|]; try discriminate.
        -- destruct A1 as ((r1 & ->) & _), A2 as ((r2 & ->) & _). now apply eqb_id.
        -- now rewrite A1, A2.
    + eauto.
    + intros Se Oc b x J B E. rewrite Se in *. unfold is_committed in *. rewrite Oc in *. cbn [andb] in *.
      destruct (inv_youngest _ _ I _ _ J B) as (y & G & L). rewrite E in G. rewrite G in *.
      match goal with H : (y <=? id t)%uint63 = true |- _ => apply leb_le in H end. lia.
    + intros R Oc b x v c J B V Cm. rewrite R in *. unfold is_committed in *. rewrite Oc in *.
      cbn [andb] in *. destruct (inv_newest _ _ I _ _ _ J B V) as (n & G & L).
      rewrite G, Cm in *. eapply not_after_le; eauto.
  - constructor; simpl.
    + destruct b.
      * apply latest_ok_commit, I.
      * intros k. rewrite writers_begin. apply (inv_latest _ _ I).
    + destruct b.
      * apply content_ok_commit, I.
      * intros k. rewrite writers_begin. apply (inv_content _ _ I).
    + intros b' t' J. apply in_app_or in J. destruct J as [J|[J|[]]].
      * apply (inv_there _ _ I) in J. destruct b.
        -- rewrite has_put. destruct (sameP (id t) (id t')) as [E|E]; [auto|]. simpl.
           destruct (two sh); auto. rewrite has_del.
           destruct (sameP (id t) (id t')); [contradiction|auto].
        -- rewrite has_put. destruct J as [->| ->]; rewrite ?orb_true_r; auto.
      * injection J as <- <-. destruct b; rewrite has_put, eqb_same; auto.
    + intros i. destruct b.
      * rewrite has_put, orb_true_iff, (inv_done _ _ I), eqb_id. split.
        -- intros [<-|(x & J & E)]; [exists t|exists x]; rewrite in_app_iff; simpl; auto.
        -- intros (x & J & E). apply in_app_or in J. destruct J as [J|[J|[]]]; eauto.
           left. congruence.
      * rewrite (inv_done _ _ I). split.
        -- intros (x & J & E). exists x. rewrite in_app_iff. auto.
        -- intros (x & J & E). apply in_app_or in J. destruct J as [J|[J|[]]]; [eauto|discriminate].
    + intros i m G. destruct b.
      * assert (G' : get (opened st) i = Some m /\ ((id t =? i)%uint63 = false)).
        { destruct (two sh) eqn:T.
          - rewrite get_del in G. destruct (id t =? i)%uint63; [discriminate|auto].
          - split; auto. destruct (sameP (id t) i) as [<-|]; auto.
            assert (B : begins true = true) by (unfold begins; now rewrite T).
            destruct (Fresh B) as (X & _). unfold has in X. now rewrite G in X. }
        destruct G' as (G' & N). destruct (inv_opened _ _ I _ _ G') as (D & q & x & r & -> & E & F & L).
        split; [now rewrite has_put, N|]. exists q, x, (r ++ [(true, t)]).
        rewrite <- app_assoc. auto.
      * rewrite get_put in G. destruct (sameP (id t) i) as [<-|N].
        -- injection G as <-. destruct (Fresh eq_refl) as (X & D). split; auto.
           exists p, t, []. repeat split; auto; [|apply I].
           apply not_is_in. intros x J E. apply (inv_there _ _ I) in J. rewrite E in J.
           destruct J; congruence.
        -- destruct (inv_opened _ _ I _ _ G) as (D & q & x & r & -> & E & F & L).
           split; auto. exists q, x, (r ++ [(false, t)]). rewrite <- app_assoc. auto.
    + intros b' x J B. apply in_app_or in J. destruct J as [J|[J|[]]].
      * destruct (inv_youngest _ _ I _ _ J B) as (y & G & L). destruct (begins b); eauto.
        destruct (sameP (session t) (session x)) as [E|E].
        -- destruct (later_left (get (youngest st) (session t)) y (Some (id t))) as (z & Lz & Le);
             [now rewrite E|]. rewrite Lz, get_put, E, eqb_same. exists z. split; auto. lia.
        -- destruct (later (get (youngest st) (session t)) (Some (id t))); [|eauto].
           rewrite get_put. destruct (sameP (session t) (session x)); [contradiction|eauto].
      * injection J as <- <-. rewrite B.
        destruct (later_right (get (youngest st) (session t)) (id t) (Some (id t))) as (z & Lz & Le); auto.
        rewrite Lz, get_put, eqb_same. eauto.
    + intros b' x v J B V. apply in_app_or in J. destruct J as [J|[J|[]]].
      * destruct (inv_newest _ _ I _ _ _ J B V) as (n & G & L).
        destruct (if rt_begin sh then begins b else b); eauto.
        destruct (later_left (newest st) n (invoked t) G) as (z & -> & Le). exists z. split; auto. lia.
      * injection J as <- <-. rewrite B.
        destruct (later_right (newest st) v (invoked t) V) as (z & -> & Le). eauto.
Qed.

Lemma steps_at : forall xs p st st', inv p st -> steps st xs = Some st' ->
  inv (p ++ xs) st' /\
  forall q b t r, xs = q ++ (b, t) :: r ->
    (begins b = true -> at_begin (p ++ q) b t) /\ (b = true -> at_commit (p ++ q) t).
Proof.
  induction xs as [|(b & t) xs IH]; intros p st st' I S.
  - injection S as <-. rewrite app_nil_r. split; auto. intros [|? ?]; discriminate.
  - cbn [steps] in S. destruct (step st (b, t)) as [st1|] eqn:E; [|discriminate].
    destruct (step_at _ _ _ _ _ I E) as (B & C & I1). destruct (IH _ _ _ I1 S) as (F & R).
    rewrite <- app_assoc in F. split; auto.
    intros [|y q] b' t' r X; simpl in X.
    + injection X as <- <- <-. rewrite app_nil_r. auto.
    + injection X as <- ->. destruct (R q b' t' r eq_refl) as (R1 & R2). rewrite <- app_assoc in R1, R2. auto.
Qed.
End Check.

(* --- an order that replays is an execution --- *)

Section Sound.
Variables (h : history) (start_value : int -> change) (drift twice_drift : int) (sh : shape) (values : bool).
Variables (evs : list event) (final : state).
Hypothesis wf : well_formed h.
Hypothesis start_value_ok : forall k, start_value k = initial h k.
Hypothesis twice_ok : to_Z twice_drift = 2 * to_Z drift.
Hypothesis ran : steps h start_value twice_drift sh values empty evs = Some final.
Hypothesis all : complete h final = true.
Hypothesis in_h : forall x, In x evs -> In (snd x) (txns h).
Hypothesis whole : two sh = false -> forall x, In x evs -> fst x = true.

Definition bb : bool := negb (two sh).

Definition replayed : execution := Execution
  (fun t => existsb (is true t) evs)
  (fun t i => match nth_error (ops t) i with
              | Some o => hd_error (rev (writers (on o) (before (is bb t) evs)))
              | None => None
              end)
  (fun t => place (is bb t) evs)
  (fun t => place (is true t) evs).
Notation e := replayed.

Lemma at_all : inv sh evs final /\ forall q b t r, evs = q ++ (b, t) :: r ->
  (begins sh b = true -> at_begin h start_value sh values q b t) /\
  (b = true -> at_commit twice_drift sh q t).
Proof.
  destruct (steps_at h start_value twice_drift sh values evs [] empty final) as (I & A); auto.
  apply inv_empty; auto.
Qed.

Lemma same_txn : forall a b, In a (txns h) -> In b (txns h) -> id a = id b -> a = b.
Proof. intros. eapply unique_id; eauto. Qed.

Lemma prefix_place : forall A (f : A -> bool) q r,
  existsb f q = true <-> place f (q ++ r) < Z.of_nat (length q).
Proof.
  unfold place. induction q as [|y q IH]; intros r; simpl.
  - split; [discriminate|lia].
  - destruct (f y); simpl; [split; auto; lia|]. rewrite (IH r). lia.
Qed.
Lemma in_prefix : forall q r b a, evs = q ++ r -> In a (txns h) ->
  In (b, a) q <-> place (is b a) evs < Z.of_nat (length q).
Proof.
  intros q r b a E I. rewrite E at 1. rewrite <- prefix_place, is_in. split; eauto.
  intros (a' & J & X). assert (a' = a) as ->; auto. apply same_txn; auto.
  apply (in_h (b, a')). rewrite E, in_app_iff. auto.
Qed.

Lemma found : forall b t, In t (txns h) -> existsb (is b t) evs = true ->
  exists q r, evs = q ++ (b, t) :: r /\ existsb (is b t) q = false /\ before (is b t) evs = q /\
              place (is b t) evs = Z.of_nat (length q).
Proof.
  intros b t I E. destruct (first_at _ _ _ E) as (q & (b' & t') & r & Q & F & N).
  assert (X := F). unfold is in X. simpl in X. apply andb_prop in X. destruct X as (X & Y).
  apply eqb_prop in X. apply eqb_id in Y. subst b'.
  assert (t' = t) as ->.
  { apply same_txn; auto. apply (in_h (b, t')). rewrite Q, in_app_iff. simpl. auto. }
  exists q, r. unfold place. rewrite Q, before_at by auto. auto.
Qed.

Lemma committed_at : forall t, counts h e t ->
  exists q r, evs = q ++ (true, t) :: r /\ existsb (is true t) q = false /\
              finish e t = Z.of_nat (length q) /\ at_commit twice_drift sh q t.
Proof.
  intros t (I & L). destruct (found true t I L) as (q & r & E & N & _ & P).
  exists q, r. repeat split; auto; now apply (proj2 at_all q true t r).
Qed.
Lemma begun : forall t, counts h e t -> existsb (is bb t) evs = true.
Proof.
  intros t C. destruct (two sh) eqn:T.
  - destruct (committed_at t C) as (q & r & E & _ & _ & A).
    destruct (ac_begun _ _ _ _ A T) as (q' & t' & r' & Q & Id & _).
    apply is_in. exists t'. unfold bb. rewrite T. simpl. split; auto.
    rewrite E, Q, !in_app_iff. simpl. auto.
  - unfold bb. rewrite T. apply C.
Qed.
Lemma begun_at : forall t, counts h e t ->
  exists q r, evs = q ++ (bb, t) :: r /\ existsb (is bb t) q = false /\ before (is bb t) evs = q /\
              start e t = Z.of_nat (length q) /\ at_begin h start_value sh values q bb t.
Proof.
  intros t C. destruct (found bb t (proj1 C) (begun t C)) as (q & r & E & N & B & P).
  exists q, r. repeat split; auto; apply (proj2 at_all q bb t r); auto;
    unfold begins, bb; destruct (two sh); auto.
Qed.

Lemma finish_in : forall q r a, evs = q ++ r -> In a (txns h) ->
  In (true, a) q <-> finish e a < Z.of_nat (length q).
Proof. intros. now apply in_prefix with r. Qed.
Lemma in_counts : forall q r a, evs = q ++ r -> In (true, a) q -> counts h e a.
Proof.
  intros q r a E I. assert (J : In (true, a) evs) by (rewrite E, in_app_iff; auto). split.
  - now apply in_h in J.
  - simpl. apply is_in. eauto.
Qed.
Lemma live_prefix : forall q r k a, evs = q ++ r ->
  In a (writers k q) <-> writer h e k a /\ finish e a < Z.of_nat (length q).
Proof.
  intros q r k a E. rewrite in_writers. unfold writer, writes_key. split.
  - intros (I & W). assert (C := in_counts q r a E I). split; [split; auto|].
    + destruct (last_write k (ops a)); congruence.
    + apply (finish_in q r a E); auto. apply C.
  - intros ((C & W) & L). split.
    + apply (finish_in q r a E); auto. apply C.
    + destruct (last_write k (ops a)); congruence.
Qed.

Lemma start_finish : forall t, counts h e t ->
  if two sh then start e t < finish e t else start e t = finish e t.
Proof.
  intros t C. destruct (two sh) eqn:T.
  - destruct (committed_at t C) as (q & r & E & _ & P & A).
    destruct (ac_begun _ _ _ _ A T) as (q' & t' & r' & Q & Id & _).
    rewrite P. unfold replayed, bb. rewrite T. simpl.
    apply (in_prefix q ((true, t) :: r)); auto; [apply C|].
    assert (t' = t) as ->.
    { apply same_txn; auto; [|apply C]. apply (in_h (false, t')).
      rewrite E, Q, !in_app_iff. simpl. auto. }
    rewrite Q, in_app_iff. simpl. auto.
  - unfold replayed, bb. rewrite T. reflexivity.
Qed.

Lemma sorted_snoc : forall A (R : A -> A -> Prop) l x,
  StronglySorted R l -> Forall (fun a => R a x) l -> StronglySorted R (l ++ [x]).
Proof.
  induction 1 as [|a l S IH F]; intros G; simpl; [repeat constructor|].
  inversion G; subst. constructor; auto. apply Forall_app. auto.
Qed.
Lemma sorted_last : forall A (R : A -> A -> Prop) l x,
  StronglySorted R (l ++ [x]) -> Forall (fun a => R a x) l.
Proof.
  induction l as [|a l IH]; simpl; intros x S; auto. inversion S; subst.
  constructor; auto. rewrite Forall_app in H2. destruct H2 as (_ & F). now inversion F.
Qed.

Lemma writers_sorted : forall k q r, evs = q ++ r ->
  StronglySorted (fun a b => finish e a < finish e b) (writers k q).
Proof.
  intros k q. induction q as [|(b & t) q IH] using rev_ind; intros r E; [constructor|].
  rewrite <- app_assoc in E. simpl in E. specialize (IH _ E). destruct b.
  - rewrite writers_commit. destruct (writes_key k t); [|now rewrite app_nil_r].
    apply sorted_snoc; auto. apply Forall_forall. intros a I.
    apply (live_prefix q _ k a E) in I. destruct I as (_ & L).
    destruct (proj2 at_all q true t r E) as (_ & A). specialize (A eq_refl).
    assert (finish e t = Z.of_nat (length q)) as ->; auto. simpl. unfold place.
    rewrite E, before_at; auto; [apply A|]. unfold is. simpl. now rewrite eqb_same.
  - now rewrite writers_begin.
Qed.

Lemma list_at : forall k q r, evs = q ++ r ->
  list_of h e k (fun a => finish e a < Z.of_nat (length q))
    (flat_map (fun a => appends k (ops a)) (writers k q)).
Proof.
  intros k q r E. exists (writers k q). split; [|split]; auto.
  - eapply writers_sorted; eauto.
  - intros a. eapply live_prefix; exact E.
Qed.

Lemma list_of_ext : forall k who who' vs, (forall a, writer h e k a -> (who a <-> who' a)) ->
  list_of h e k who vs -> list_of h e k who' vs.
Proof.
  intros k who who' vs X (ws & S & I & V). exists ws. split; [|split]; auto.
  intros a. rewrite I. specialize (X a). tauto.
Qed.

Lemma at_place : forall A (p : list A) o rest, nth_error (p ++ o :: rest) (length p) = Some o.
Proof. induction p; simpl; auto. Qed.
Lemma source_is : forall t q r p o, (exists rest, ops t = p ++ o :: rest) -> evs = q ++ (bb, t) :: r -> before (is bb t) evs = q ->
  match source e t (length p) with
  | None => writers (on o) q = []
  | Some w => exists ws, writers (on o) q = ws ++ [w]
  end.
Proof.
  intros t q r p o (rest & Sp) E B. simpl. rewrite Sp, at_place, B. destruct (rev (writers (on o) q)) as [|w ws] eqn:R.
  - simpl. apply (f_equal (@rev _)) in R. now rewrite rev_involutive in R.
  - simpl. exists (rev ws). apply (f_equal (@rev _)) in R. rewrite rev_involutive in R. now simpl in R.
Qed.

Lemma source_writer : forall t p o w, counts h e t -> (exists rest, ops t = p ++ o :: rest) -> source e t (length p) = Some w ->
  writer h e (on o) w /\ finish e w < start e t.
Proof.
  intros t p o w C Sp S. destruct (begun_at t C) as (q & r & E & _ & B & P & _).
  pose proof (source_is t q r p o Sp E B) as X. rewrite S in X. destruct X as (ws & X).
  rewrite P. apply (live_prefix q _ (on o) w E). rewrite X, in_app_iff. simpl. auto.
Qed.

Lemma reads_knows : forall t p o s, reads t p o s -> knows t o = true.
Proof.
  intros t p o s (_ & _ & K). unfold knows. destruct (outcome t), (writes o); tauto.
Qed.

Lemma version_at : forall t q r p o st, (exists rest, ops t = p ++ o :: rest) -> evs = q ++ (bb, t) :: r -> before (is bb t) evs = q ->
  inv sh q st ->
  match get (latest st) (on o) with Some (_, c) => c | None => start_value (on o) end
  = version h (on o) (source e t (length p)).
Proof.
  intros t q r p o st Sp E B I. pose proof (source_is t q r p o Sp E B) as Src.
  pose proof (inv_latest _ _ _ I (on o)) as La. unfold version.
  destruct (get (latest st) (on o)) as [(w & c)|], (source e t (length p)) as [w'|].
  - destruct La as ((ws & Wr) & Lw), Src as (ws' & Src). rewrite Src in Wr.
    apply app_inj_tail in Wr. destruct Wr as (_ & ->). now rewrite Lw.
  - destruct La as ((ws & Wr) & _). rewrite Src in Wr. now destruct ws.
  - destruct Src as (ws' & Src). rewrite Src in La. now destruct ws'.
  - apply start_value_ok.
Qed.

Lemma replayed_other : values = true -> forall t p o s, counts h e t -> reads_other t p o s ->
  sees_other h e t p o s.
Proof.
  intros V0 t p o s C (Rd & Lw). destruct (begun_at t C) as (q & r & E & N & B & P & A).
  destruct (ab_state _ _ _ _ _ _ _ A) as (st & I & X).
  pose proof (reads_knows _ _ _ _ Rd) as K. destruct Rd as ((rest & Sp) & So & _).
  destruct (each_op_all _ _ [] _ X own_ok_none p o rest Sp) as (own & Ok & F). simpl in Ok.
  unfold read_fits in F. rewrite K, So, Ok, Lw, V0 in F. cbn [negb orb] in F.
  pose proof (source_is t q r p o (ex_intro _ rest Sp) E B) as Src. split.
  - destruct (source e t (length p)) as [w|] eqn:S; auto.
    destruct (source_writer t p o w C (ex_intro _ rest Sp) S) as (W & L). split; auto. intros ->.
    pose proof (start_finish t C). destruct (two sh); lia.
  - assert (V : match s with Elements _ => True | _ =>
      fits h s (version h (on o) (source e t (length p))) = true end).
    { rewrite <- (version_at t q r p o st (ex_intro _ rest Sp) E B I). destruct s; auto. }
    destruct s as [v| |v|vs]; auto. clear V. cbn [sees_version].
    apply same_list_eq in F. rewrite <- rev_alt, (inv_content _ _ _ I (on o)) in F.
    apply (f_equal (@rev _)) in F. rewrite !rev_involutive in F. subst vs.
    eapply list_of_ext; [|eapply list_at; exact E]. intros a Wa. cbn beta.
    destruct (source e t (length p)) as [w|].
    + destruct Src as (ws & Src). pose proof (writers_sorted (on o) q _ E) as So'.
      rewrite Src in So'. apply sorted_last in So'. rewrite Forall_forall in So'.
      assert (Lw' : In w (writers (on o) q)) by (rewrite Src, in_app_iff; simpl; auto).
      apply (live_prefix q _ _ _ E) in Lw'. destruct Lw' as (_ & Lw'). split; [|lia].
      intros L. assert (J : In a (writers (on o) q)) by (apply (live_prefix q _ _ _ E); auto).
      rewrite Src, in_app_iff in J. destruct J as [J|[<-|[]]]; [|lia]. apply So' in J. lia.
    + split; [|tauto]. intros L.
      assert (J : In a (writers (on o) q)) by (apply (live_prefix q _ _ _ E); auto).
      rewrite Src in J. destruct J.
Qed.

Lemma replayed_own : forall t p o s c, counts h e t -> reads t p o s ->
  last_write (on o) p = Some c -> sees_own h e t p o s c.
Proof.
  intros t p o s c C Rd Lw. pose proof (reads_knows _ _ _ _ Rd) as K.
  destruct Rd as ((rest & Sp) & So & _).
  destruct s as [v| |v|vs].
  4: { destruct (committed_at t C) as (q & r & E & N & P & A).
       destruct (ac_lists _ _ _ _ A) as (st & I & X).
       destruct (each_op_all _ _ [] _ X own_ok_none p o rest Sp) as (own & Ok & F). simpl in Ok, F.
       unfold own_list_fits in F. rewrite So, K, Ok, Lw in F. apply same_list_eq in F.
       rewrite <- !rev_alt, rev_involutive, (inv_content _ _ _ I (on o)), <- rev_app_distr in F.
       apply (f_equal (@rev _)) in F. rewrite !rev_involutive in F. simpl.
       exists (flat_map (fun a => appends (on o) (ops a)) (writers (on o) q)). split; auto.
       simpl in P. rewrite P. eapply list_at; exact E. }
  all: destruct (begun_at t C) as (q & r & E & N & B & P & A);
    destruct (ab_state _ _ _ _ _ _ _ A) as (st & I & X);
    destruct (each_op_all _ _ [] _ X own_ok_none p o rest Sp) as (own & Ok & F); simpl in Ok;
    unfold read_fits in F; rewrite K, So, Ok, Lw in F; exact F.
Qed.

Lemma done_live : forall t, In t (txns h) -> has (done final) (id t) = live e t.
Proof.
  intros t I. apply eq_true_iff_eq. rewrite (inv_done _ _ _ (proj1 at_all)). simpl. now rewrite is_in.
Qed.

Lemma replayed_live :
  (forall t, In t (txns h) -> outcome t = Committed -> live e t = true) /\
  (forall t, In t (txns h) -> outcome t = Aborted -> live e t = false).
Proof.
  unfold complete in all. apply andb_prop in all. destruct all as (_ & A). rewrite forallb_forall in A.
  split.
  - intros t I O. specialize (A t I). rewrite O, (done_live t I) in A. exact A.
  - intros t I O. specialize (A t I). rewrite O, (done_live t I) in A. now apply negb_true_iff.
Qed.
Lemma replayed_consistent : values = true -> consistent h e.
Proof.
  intros V0.
  unfold complete in all. apply andb_prop in all. destruct all as (_ & A). rewrite forallb_forall in A.
  split; [|split].
  - intros t I O. specialize (A t I). rewrite O, (done_live t I) in A. exact A.
  - intros t I O. specialize (A t I). rewrite O, (done_live t I) in A. now apply negb_true_iff.
  - intros t p o s C R. destruct (last_write (on o) p) as [c|] eqn:L.
    + apply (replayed_own t p o s c); auto.
    + apply (replayed_other V0 t p o s); auto. split; auto.
Qed.

Lemma place_apart : forall b b' x y, In x (txns h) -> In y (txns h) ->
  existsb (is b x) evs = true -> existsb (is b' y) evs = true ->
  place (is b x) evs = place (is b' y) evs -> b = b' /\ x = y.
Proof.
  intros b b' x y Ix Iy Ex Ey P.
  destruct (found b x Ix Ex) as (q & r & E & _ & _ & Px).
  destruct (found b' y Iy Ey) as (q' & r' & E' & _ & _ & Py).
  assert (L : length q = length q') by lia. rewrite E in E'. clear - L E'.
  revert q' L E'. induction q as [|z q IH]; destruct q' as [|z' q']; simpl; try discriminate;
    intros L E; injection E; intros; subst; auto. apply (IH q'); auto.
Qed.
Lemma replayed_apart : commits_apart h e.
Proof. intros a b (Ia & La) (Ib & Lb) E. now destruct (place_apart true true a b). Qed.

Lemma replayed_events : if two sh then two_events h e else one_event h e.
Proof.
  pose proof start_finish as SF. pose proof begun as Bg. pose proof place_apart as PA.
  destruct (two sh) eqn:T; [split; [|split]|]; auto.
  - intros a b Ca Cb E. pose proof (Bg a Ca) as Ba. simpl in E.
    destruct (PA bb true a b) as (X & _); auto; try apply Ca; try apply Cb.
    unfold bb in X. rewrite T in X. discriminate.
  - intros a b Ca Cb E. pose proof (Bg a Ca) as Ba. pose proof (Bg b Cb) as Bb.
    now destruct (PA bb bb a b (proj1 Ca) (proj1 Cb) Ba Bb E).
Qed.

Lemma replayed_wr : wr_order h e.
Proof. intros t p o s w C R S. now apply (source_writer t p o w C (proj1 (proj1 R))). Qed.

Lemma replayed_rw : rw_order h e.
Proof.
  intros t p o s b C R Wb N M. destruct (begun_at t C) as (q & r & E & _ & B & P & _).
  destruct (Z.lt_ge_cases (start e t) (finish e b)) as [L|L]; auto. exfalso.
  assert (L' : finish e b < start e t).
  { destruct (Z.eq_dec (finish e b) (start e t)) as [X|]; [|lia]. exfalso. apply N.
    destruct (place_apart true bb b t (proj1 (proj1 Wb)) (proj1 C)); auto.
    - apply (proj1 Wb).
    - now apply begun. }
  rewrite P in L'. assert (J : In b (writers (on o) q)) by (apply (live_prefix q _ _ _ E); auto).
  pose proof (source_is t q r p o (proj1 (proj1 R)) E B) as Src.
  destruct (source e t (length p)) as [w|].
  - destruct Src as (ws & Src). pose proof (writers_sorted (on o) q _ E) as So.
    rewrite Src in So, J. apply sorted_last in So. rewrite Forall_forall in So.
    rewrite in_app_iff in J. destruct J as [J|[<-|[]]]; [|lia]. apply So in J. lia.
  - now rewrite Src in J.
Qed.

(* An event of an earlier place than t's commit has been when t commits. *)
Lemma earlier : forall t b x, counts h e t -> In x (txns h) -> existsb (is b x) evs = true ->
  place (is b x) evs < finish e t -> exists q r, evs = q ++ (true, t) :: r /\ In (b, x) q /\
    at_commit twice_drift sh q t.
Proof.
  intros t b x C I Ex L. destruct (committed_at t C) as (q & r & E & _ & P & A).
  exists q, r. split; auto. split; auto. rewrite P in L. now apply (in_prefix q _ b x E I).
Qed.
Lemma begins_bb : begins sh bb = true.
Proof. unfold begins, bb. now destruct (two sh). Qed.

Lemma replayed_so : sessions sh = true -> so_order h e.
Proof.
  intros T i j Ci Cj (Se & Lt & Oc).
  destruct (Z.lt_ge_cases (finish e i) (start e j)) as [L|L]; auto. exfalso.
  assert (X : i <> j) by (intros ->; lia).
  assert (L' : start e j < finish e i).
  { destruct (Z.eq_dec (start e j) (finish e i)) as [Y|]; [|lia]. exfalso. apply X.
    destruct (place_apart true bb i j (proj1 Ci) (proj1 Cj)); auto; [apply Ci|now apply begun]. }
  destruct (earlier i bb j Ci (proj1 Cj) (begun j Cj) L') as (q & r & E & J & A).
  pose proof (ac_session _ _ _ _ A T Oc bb j J begins_bb (eq_sym Se)). lia.
Qed.

Lemma replayed_rt_begins : rt_any sh = true -> rt_begin sh = true -> rt_begins h drift e.
Proof.
  intros T Tb i j Ci Cj (X & Oc & R).
  destruct (completed i) as [c|] eqn:Cc; [|tauto]. destruct (invoked j) as [v|] eqn:V; [|tauto].
  destruct (Z.lt_ge_cases (finish e i) (start e j)) as [L|L]; auto. exfalso.
  assert (L' : start e j < finish e i).
  { destruct (Z.eq_dec (start e j) (finish e i)) as [Y|]; [|lia]. exfalso. apply X.
    destruct (place_apart true bb i j (proj1 Ci) (proj1 Cj)); auto; [apply Ci|now apply begun]. }
  destruct (earlier i bb j Ci (proj1 Cj) (begun j Cj) L') as (q & r & E & J & A).
  assert (B : (if rt_begin sh then begins sh bb else bb) = true) by (rewrite Tb; apply begins_bb).
  pose proof (ac_time _ _ _ _ A T Oc bb j v c J B V Cc). lia.
Qed.
Lemma replayed_rt_commits : rt_any sh = true -> rt_begin sh = false -> rt_commits h drift e.
Proof.
  intros T Tb i j Ci Cj (X & Oc & R).
  destruct (completed i) as [c|] eqn:Cc; [|tauto]. destruct (invoked j) as [v|] eqn:V; [|tauto].
  destruct (Z.lt_ge_cases (finish e i) (finish e j)) as [L|L]; auto. exfalso.
  assert (L' : finish e j < finish e i).
  { destruct (Z.eq_dec (finish e j) (finish e i)) as [Y|]; [|lia]. exfalso. apply X.
    symmetry. now apply replayed_apart. }
  destruct (earlier i true j Ci (proj1 Cj) (proj2 Cj) L') as (q & r & E & J & A).
  assert (B : (if rt_begin sh then begins sh true else true) = true) by now rewrite Tb.
  pose proof (ac_time _ _ _ _ A T Oc true j v c J B V Cc). lia.
Qed.

(* The latest writer at b's commit was the latest at its begin: all others were before that. *)
Lemma before_begin : two sh = true -> apart sh = true -> forall k a b,
  writer h e k a -> writer h e k b -> finish e a < finish e b -> finish e a < start e b.
Proof.
  intros T Ap k a b Wa Wb L. destruct Wb as (Cb & Nb).
  destruct (committed_at b Cb) as (q & r & E & _ & P & A).
  destruct (ac_begun _ _ _ _ A T) as (q' & t' & r' & Q & Id & F & Same). specialize (Same Ap k).
  assert (t' = b) as ->.
  { apply same_txn; auto; [|apply Cb]. apply (in_h (false, t')). rewrite E, Q, !in_app_iff. simpl. auto. }
  assert (Eq' : evs = q' ++ (false, b) :: r' ++ (true, b) :: r).
  { rewrite E, Q, <- app_assoc. reflexivity. }
  assert (St : start e b = Z.of_nat (length q')).
  { simpl. unfold bb. rewrite T. simpl. unfold place. rewrite Eq', before_at; auto.
    unfold is. simpl. now rewrite eqb_same. }
  rewrite P in L. assert (J : In a (writers k q)) by (apply (live_prefix q _ _ _ E); auto).
  assert (Wk : writes_key k b = true) by (unfold writes_key; destruct (last_write k (ops b)); congruence).
  specialize (Same Wk).
  destruct (rev (writers k q)) as [|w1 l1] eqn:R1.
  { apply (f_equal (@rev _)) in R1. rewrite rev_involutive in R1. rewrite R1 in J. destruct J. }
  destruct (rev (writers k q')) as [|w2 l2] eqn:R2; [tauto|].
  apply (f_equal (@rev _)) in R1, R2. rewrite rev_involutive in R1, R2. simpl in R1, R2.
  assert (I1 : In w1 (writers k q)) by (rewrite R1, in_app_iff; simpl; auto).
  assert (I2 : In w2 (writers k q')) by (rewrite R2, in_app_iff; simpl; auto).
  apply (live_prefix q _ k w1 E) in I1. apply (live_prefix q' _ k w2 Eq') in I2.
  assert (w1 = w2) as ->.
  { apply same_txn; auto; [apply I1|apply I2]. }
  pose proof (writers_sorted k q _ E) as So. rewrite R1 in So. apply sorted_last in So.
  rewrite Forall_forall in So. rewrite R1, in_app_iff in J. rewrite St. destruct I2 as (_ & I2).
  destruct J as [J|[J|[]]]; [|rewrite <- J; exact I2]. apply So in J. exact (Z.lt_trans _ _ _ J I2).
Qed.
Lemma replayed_no_overlap : two sh = true -> apart sh = true -> no_overlap h e.
Proof.
  intros T Ap k a b Wa Wb N.
  assert (finish e a <> finish e b) by (intro X; apply N, replayed_apart; auto; [apply Wa|apply Wb]).
  destruct (Z.lt_ge_cases (finish e a) (finish e b)).
  - left. now apply (before_begin T Ap k).
  - right. apply (before_begin T Ap k); auto. lia.
Qed.

Lemma replayed_all : values = true ->
  consistent h e /\ commits_apart h e /\ wr_order h e /\ rw_order h e /\
  (if two sh then two_events h e else one_event h e) /\
  (two sh = true -> apart sh = true -> no_overlap h e) /\
  (sessions sh = true -> so_order h e) /\
  (rt_any sh = true -> rt_begin sh = true -> rt_begins h drift e) /\
  (rt_any sh = true -> rt_begin sh = false -> rt_commits h drift e).
Proof.
  intros V0. refine (conj (replayed_consistent V0) (conj replayed_apart (conj replayed_wr (conj replayed_rw
    (conj replayed_events (conj replayed_no_overlap (conj replayed_so
    (conj replayed_rt_begins replayed_rt_commits)))))))).
Qed.
End Sound.

(* --- the checker for each order level --- *)

Definition shape_of (l : level) : option shape :=
  match l with
  | Prefix => Some (Shape true false true false false)
  | SnapshotIsolation => Some (Shape true true false false false)
  | GeneralizedSI => Some (Shape true true false true false)
  | StrongSessionSI => Some (Shape true true true false false)
  | StrongSI => Some (Shape true true true true true)
  | Serializable => Some (Shape false false false false false)
  | StrongSessionSerializable => Some (Shape false false true false false)
  | StrictSerializable => Some (Shape false false true true true)
  | _ => None
  end.

(* Initial values in a map; of a key named twice the first counts. *)
Definition initial_map (h : history) : M.t int :=
  fold_right (fun kv m => put m (fst kv) (snd kv)) none (initials h).
Definition initial_in (h : history) (m : M.t int) (k : int) : change :=
  Put (match get m k with Some v => v | None => default h end).
Lemma initial_map_ok : forall h k, initial_in h (initial_map h) k = initial h k.
Proof.
  intros h k. unfold initial_in, initial_map, initial. f_equal.
  induction (initials h) as [|(k' & v) l IH]; simpl.
  - now rewrite get_none.
  - rewrite get_put. destruct (k' =? k)%uint63; auto.
Qed.

(* Large drifts are refused: twice one must fit into an integer. *)
Definition small (drift : int) : bool := (drift <=? 0x2000000000000000)%uint63.
Lemma small_twice : forall drift, small drift = true -> to_Z (drift + drift) = 2 * to_Z drift.
Proof.
  intros d H. apply leb_le in H. rewrite add_spec, Z.mod_small; [lia|].
  pose proof (to_Z_bounded d). change (to_Z 0x2000000000000000) with 2305843009213693952 in H.
  change wB with 9223372036854775808. lia.
Qed.

Definition check_order (h : history) (drift : int) (l : level) (order : list int) : bool :=
  match shape_of l with
  | None => false
  | Some sh =>
      ascending None (txns h) && small drift &&
      (let starts := initial_map h in
       replay h (initial_in h starts) (drift + drift)%uint63 sh true (index_txns (txns h)) order)
  end.

Theorem check_order_sound : forall h drift l order,
  check_order h drift l order = true -> well_formed h /\ exists e, order_level h drift e l.
Proof.
  intros h drift l order H. unfold check_order in H. destruct (shape_of l) as [sh|] eqn:Sh; [|discriminate].
  apply andb_prop in H. destruct H as (H & R). apply andb_prop in H. destruct H as (A & Sm).
  apply ascending_sorted in A. destruct A as (Wf & _). fold (well_formed h) in Wf. split; auto.
  unfold replay in R. destruct (walk _ _ _ _ _ _ _ order) as [st|] eqn:W; [|discriminate].
  apply walk_steps in W. destruct W as (evs & S & F & Wh).
  assert (In_h : forall x, In x evs -> In (snd x) (txns h)).
  { intros x I. rewrite Forall_forall in F. destruct (F x I) as (i & G).
    now apply index_txns_in in G. }
  assert (Whole : two sh = false -> forall x, In x evs -> fst x = true).
  { intros T x I. specialize (Wh T). rewrite Forall_forall in Wh. auto. }
  exists (replayed sh evs).
  destruct (replayed_all h _ drift _ sh true evs st Wf (initial_map_ok h) (small_twice drift Sm) S R In_h
              Whole eq_refl) as (Con & Ap & Wr & Rw & Ev & No & So & Rb & Rc).
  refine (conj Con (conj Ap (conj Wr (conj Rw _)))).
  destruct l; try discriminate Sh; injection Sh as <-; cbn [two apart sessions rt_any rt_begin] in *;
    cbn match in Ev; repeat split; try (apply Ev); auto.
  apply rt_begins_commits; auto.
Qed.
