(* Finite maps on native integers, and places in a list of events. Nothing here is trusted. *)
From Coq Require Import List ZArith Uint63 Bool Sorted Lia FMapPositive.
From Cupel Require Import History.
Import ListNotations.
Local Open Scope Z_scope.

(* --- maps --- *)

Module M := PositiveMap.

(* The bits of an integer, the lowest first: where its value is in a map. *)
Fixpoint bits (fuel : nat) (i : int) : positive :=
  match fuel with
  | O => xH
  | S fuel =>
      if (i =? 0)%uint63 then xH
      else (if is_even i then xO else xI) (bits fuel (i >> 1)%uint63)  (* once: Coq's kernel may unfold it *)
  end.
Definition slot (i : int) : positive := bits 63 i.
Fixpoint of_bits (p : positive) : Z :=
  match p with xH => 0 | xO p => 2 * of_bits p | xI p => 2 * of_bits p + 1 end.
Lemma of_bits_ok : forall fuel i, to_Z i < 2 ^ Z.of_nat fuel -> of_bits (bits fuel i) = to_Z i.
Proof.
  induction fuel as [|fuel IH]; intros i L; pose proof (to_Z_bounded i) as B; [cbn in *; lia|].
  cbn [bits]. destruct (i =? 0)%uint63 eqn:E; [apply Uint63.eqb_spec in E; now subst|].
  assert (H : to_Z (i >> 1) = to_Z i / 2) by (rewrite lsr_spec; reflexivity).
  rewrite Nat2Z.inj_succ, Z.pow_succ_r in L by lia.
  assert (V : of_bits (bits fuel (i >> 1)%uint63) = to_Z i / 2).
  { rewrite IH; rewrite H; auto. apply Z.div_lt_upper_bound; lia. }
  pose proof (Z.div_mod (to_Z i) 2 ltac:(lia)) as D. pose proof (is_even_spec i) as P.
  destruct (is_even i); cbn [of_bits]; rewrite V; lia.
Qed.
Lemma bits_inj : forall fuel a b, to_Z a < 2 ^ Z.of_nat fuel -> to_Z b < 2 ^ Z.of_nat fuel ->
  bits fuel a = bits fuel b -> a = b.
Proof.
  intros fuel a b A B E. apply to_Z_inj. rewrite <- (of_bits_ok fuel a A), E. now apply of_bits_ok.
Qed.
Lemma slot_inj : forall a b, slot a = slot b -> a = b.
Proof. intros a b. apply (bits_inj 63); apply to_Z_bounded. Qed.

Lemma sameP : forall a b : int, reflect (a = b) (a =? b)%uint63.
Proof.
  intros. destruct (eqbP a b); constructor; [now apply to_Z_inj|congruence].
Qed.

(* [M.find] and [M.add] at the slot, without making the slot. *)
Definition half (i : int) : int := (i >> 1)%uint63.
Fixpoint find_at {A} (fuel : nat) (i : int) (m : M.t A) {struct m} : option A :=
  match m with
  | M.Leaf _ => None
  | M.Node l o r =>
      match fuel with
      | O => o
      | S fuel =>
          if (i =? 0)%uint63 then o
          else if is_even i then find_at fuel (half i) l else find_at fuel (half i) r
      end
  end.
Fixpoint alone_at {A} (fuel : nat) (i : int) (a : A) : M.t A :=
  match fuel with
  | O => M.Node (M.Leaf _) (Some a) (M.Leaf _)
  | S fuel =>
      if (i =? 0)%uint63 then M.Node (M.Leaf _) (Some a) (M.Leaf _)
      else if is_even i then M.Node (alone_at fuel (half i) a) None (M.Leaf _)
      else M.Node (M.Leaf _) None (alone_at fuel (half i) a)
  end.
Fixpoint add_at {A} (fuel : nat) (i : int) (a : A) (m : M.t A) {struct m} : M.t A :=
  match m with
  | M.Leaf _ => alone_at fuel i a
  | M.Node l o r =>
      match fuel with
      | O => M.Node l (Some a) r
      | S fuel =>
          if (i =? 0)%uint63 then M.Node l (Some a) r
          else if is_even i then M.Node (add_at fuel (half i) a l) o r
          else M.Node l o (add_at fuel (half i) a r)
      end
  end.
Lemma find_at_ok : forall A fuel i (m : M.t A), find_at fuel i m = M.find (bits fuel i) m.
Proof.
  intros A fuel i m. revert fuel i. induction m as [|l IHl o r IHr]; intros fuel i.
  - rewrite M.gleaf. reflexivity.
  - destruct fuel as [|fuel]; cbn [find_at bits]; [reflexivity|].
    destruct (i =? 0)%uint63; [reflexivity|]. destruct (is_even i); cbn [M.find]; auto.
Qed.
Lemma alone_at_ok : forall A fuel i (a : A), alone_at fuel i a = M.add (bits fuel i) a (M.Leaf _).
Proof.
  induction fuel as [|fuel IH]; intros i a; cbn [alone_at bits]; [reflexivity|].
  destruct (i =? 0)%uint63; [reflexivity|]. destruct (is_even i); cbn [M.add]; now rewrite IH.
Qed.
Lemma add_at_ok : forall A fuel i (a : A) m, add_at fuel i a m = M.add (bits fuel i) a m.
Proof.
  intros A fuel i a m. revert fuel i. induction m as [|l IHl o r IHr]; intros fuel i.
  - apply alone_at_ok.
  - destruct fuel as [|fuel]; cbn [add_at bits]; [reflexivity|].
    destruct (i =? 0)%uint63; [reflexivity|]. destruct (is_even i); cbn [M.add]; [now rewrite IHl|now rewrite IHr].
Qed.
Definition get {A} (m : M.t A) (i : int) : option A := find_at 63 i m.
Definition put {A} (m : M.t A) (i : int) (a : A) : M.t A := add_at 63 i a m.
Definition del {A} (m : M.t A) (i : int) : M.t A := M.remove (slot i) m.
Definition none {A} : M.t A := M.empty A.
Lemma get_find : forall A (m : M.t A) i, get m i = M.find (slot i) m.
Proof. intros. apply find_at_ok. Qed.
Lemma put_add : forall A (m : M.t A) i a, put m i a = M.add (slot i) a m.
Proof. intros. apply add_at_ok. Qed.
Global Opaque slot get put.  (* else tactics unfold all of their steps *)

Lemma get_none : forall A i, get (@none A) i = None.
Proof. intros. rewrite get_find. apply M.gempty. Qed.
Lemma get_put : forall A (m : M.t A) i j a,
  get (put m i a) j = if (i =? j)%uint63 then Some a else get m j.
Proof.
  intros. rewrite !get_find, put_add. destruct (sameP i j) as [->|N].
  - apply M.gss.
  - apply M.gso. intro E. apply N. symmetry. now apply slot_inj.
Qed.
Lemma get_del : forall A (m : M.t A) i j,
  get (del m i) j = if (i =? j)%uint63 then None else get m j.
Proof.
  intros. rewrite !get_find. unfold del. destruct (sameP i j) as [->|N].
  - apply M.grs.
  - apply M.gro. intro E. apply N. symmetry. now apply slot_inj.
Qed.

Definition has {A} (m : M.t A) (i : int) : bool :=
  match get m i with Some _ => true | None => false end.

(* Both maps together; [f] where both have something. *)
Definition either {A} (f : A -> A -> A) (a b : option A) : option A :=
  match a, b with Some x, Some y => Some (f x y) | None, _ => b | _, None => a end.
Fixpoint union {A} (f : A -> A -> A) (a b : M.t A) : M.t A :=
  match a, b with
  | M.Leaf _, _ => b
  | _, M.Leaf _ => a
  | M.Node l o r, M.Node l' o' r' => M.Node (union f l l') (either f o o') (union f r r')
  end.
Lemma find_union : forall A (f : A -> A -> A) a b p,
  M.find p (union f a b) = either f (M.find p a) (M.find p b).
Proof.
  induction a as [|l IHl o r IHr]; intros b p.
  - rewrite M.gleaf. destruct b, p; reflexivity.
  - destruct b as [|l' o' r'].
    + rewrite M.gleaf. cbn [union either]. now destruct (M.find p (M.Node l o r)).
    + destruct p; cbn [union M.find]; auto.
Qed.
Fixpoint for_all {A} (f : A -> bool) (m : M.t A) : bool :=
  match m with
  | M.Leaf _ => true
  | M.Node l o r => match o with Some a => f a | None => true end && for_all f l && for_all f r
  end.
Lemma for_all_find : forall A (f : A -> bool) m p a, for_all f m = true -> M.find p m = Some a -> f a = true.
Proof.
  induction m as [|l IHl o r IHr]; intros p a H F.
  - rewrite M.gleaf in F. discriminate.
  - cbn [for_all] in H. apply andb_prop in H. destruct H as (H & R). apply andb_prop in H. destruct H as (O & L).
    destruct p; cbn [M.find] in F; eauto. now subst o.
Qed.

Lemma for_all_get : forall A (f : A -> bool) m i a, for_all f m = true -> get m i = Some a -> f a = true.
Proof. intros A f m i a H G. rewrite get_find in G. eapply for_all_find; eauto. Qed.

(* --- integers --- *)

Lemma eqb_id : forall a b : int, (a =? b)%uint63 = true <-> a = b.
Proof. intros. destruct (sameP a b); split; congruence. Qed.
Lemma eqb_same : forall a : int, (a =? a)%uint63 = true.
Proof. intros. now apply eqb_id. Qed.
Lemma leb_le : forall a b : int, (a <=? b)%uint63 = true <-> to_Z a <= to_Z b.
Proof. intros. apply leb_spec. Qed.
Lemma ltb_lt : forall a b : int, (a <? b)%uint63 = true <-> to_Z a < to_Z b.
Proof. intros. apply ltb_spec. Qed.

(* --- transactions by id --- *)

Fixpoint ascending (last : option int) (ts : list txn) : bool :=
  match ts with
  | [] => true
  | t :: rest =>
      match last with None => true | Some l => (l <? id t)%uint63 end && ascending (Some (id t)) rest
  end.
Lemma ascending_sorted : forall ts last, ascending last ts = true ->
  StronglySorted (fun a b => to_Z (id a) < to_Z (id b)) ts /\
  match last with None => True | Some l => Forall (fun t => to_Z l < to_Z (id t)) ts end.
Proof.
  induction ts as [|t ts IH]; intros last H; simpl in H.
  - split; [constructor|]. destruct last; auto.
  - apply andb_prop in H. destruct H as [L H]. apply IH in H. destruct H as (S & F). split.
    + now constructor.
    + destruct last; auto. apply ltb_lt in L. constructor; auto.
      eapply Forall_impl; [|eassumption]. intros a X. cbn beta in *. lia.
Qed.

Lemma unique_id : forall ts a b,
  StronglySorted (fun a b => to_Z (id a) < to_Z (id b)) ts ->
  In a ts -> In b ts -> id a = id b -> a = b.
Proof.
  induction 1 as [|t ts S IH F]; simpl; [tauto|].
  rewrite Forall_forall in F. intros [<-|Ia] [<-|Ib] E; auto.
  - apply F in Ib. rewrite E in Ib. lia.
  - apply F in Ia. rewrite E in Ia. lia.
Qed.

Definition index_txns (ts : list txn) : M.t txn := fold_left (fun m t => put m (id t) t) ts none.
Lemma index_txns_in : forall ts i t, get (index_txns ts) i = Some t -> In t ts /\ id t = i.
Proof.
  intros ts i t. unfold index_txns.
  assert (G : forall m, get (fold_left (fun m t => put m (id t) t) ts m) i = Some t ->
              (In t ts /\ id t = i) \/ get m i = Some t).
  { induction ts as [|x ts IH]; simpl; auto. intros m H. apply IH in H.
    destruct H as [(I & E)|H]; auto. rewrite get_put in H.
    destruct (sameP (id x) i); auto. left. injection H as <-. auto. }
  intros H. destruct (G _ H) as [X|X]; auto. now rewrite get_none in X.
Qed.

Lemma index_txns_all : forall ts t,
  StronglySorted (fun a b => to_Z (id a) < to_Z (id b)) ts -> In t ts ->
  get (index_txns ts) (id t) = Some t.
Proof.
  intros ts t S I. unfold index_txns.
  assert (G : forall (ts : list txn) m, (forall x, In x ts -> id x <> id t) ->
            get (fold_left (fun m t => put m (id t) t) ts m) (id t) = get m (id t)).
  { clear. induction ts as [|x ts IH]; simpl; auto. intros m N. rewrite IH by auto.
    rewrite get_put. destruct (sameP (id x) (id t)) as [E|]; auto. exfalso. eapply N; eauto. }
  generalize (@none txn). induction S as [|x ts S IH F]; intros m; [destruct I|].
  simpl. destruct I as [<-|I].
  - rewrite G.
    + now rewrite get_put, eqb_same.
    + rewrite Forall_forall in F. intros y J E. specialize (F y J). cbn beta in F. rewrite E in F. lia.
  - now apply IH.
Qed.

(* --- places in a list --- *)

Section Places.
Variable A : Type.
Implicit Types f g : A -> bool.
Fixpoint before (f : A -> bool) (l : list A) : list A :=
  match l with [] => [] | x :: r => if f x then [] else x :: before f r end.
Definition place (f : A -> bool) (l : list A) : Z := Z.of_nat (length (before f l)).

Lemma before_at : forall f (q : list A) x r, existsb f q = false -> f x = true -> before f (q ++ x :: r) = q.
Proof.
  induction q as [|y q IH]; simpl; intros x r E F.
  - now rewrite F.
  - apply orb_false_iff in E. destruct E as (-> & E). f_equal. auto.
Qed.
Lemma first_at : forall f (l : list A), existsb f l = true ->
  exists q x r, l = q ++ x :: r /\ f x = true /\ existsb f q = false.
Proof.
  induction l as [|y l IH]; simpl; [discriminate|]. destruct (f y) eqn:F; simpl.
  - intros _. exists [], y, l. auto.
  - intros E. destruct (IH E) as (q & x & r & -> & Fx & N). exists (y :: q), x, r.
    simpl. rewrite F, N. auto.
Qed.
(* What is in the list comes first by exactly being before. *)
Lemma place_lt : forall f g (q : list A) x r, existsb f q = false -> f x = true -> g x = false ->
  place g (q ++ x :: r) < place f (q ++ x :: r) <-> existsb g q = true.
Proof.
  intros f g q x r E F G. unfold place. rewrite (before_at f) by auto. clear E F.
  induction q as [|y q IH]; simpl.
  - rewrite G. simpl. split; [lia|discriminate].
  - destruct (g y); simpl; [split; auto; lia|]. rewrite <- IH. lia.
Qed.
End Places.
Arguments before {A} f l. Arguments place {A} f l.

(* --- a transaction's operations --- *)

Definition writes_key (k : int) (t : txn) : bool :=
  match last_write k (ops t) with Some _ => true | None => false end.

Lemma last_write_snoc : forall k p o, last_write k (p ++ [o]) =
  if (on o =? k)%uint63 then match writes o with Some c => Some c | None => last_write k p end
  else last_write k p.
Proof. intros. unfold last_write. now rewrite fold_left_app. Qed.

Lemma last_write_in : forall k p, last_write k p <> None ->
  exists o c, In o p /\ on o = k /\ writes o = Some c.
Proof.
  intros k p. induction p as [|o p IH] using rev_ind; [now cbn|].
  rewrite last_write_snoc. destruct (sameP (on o) k) as [E|N].
  - destruct (writes o) as [c|] eqn:W.
    + intros _. exists o, c. repeat split; auto. apply in_or_app. simpl. auto.
    + intros H. destruct (IH H) as (o' & c & I & X). exists o', c. split; auto. apply in_or_app. auto.
  - intros H. destruct (IH H) as (o' & c & I & X). exists o', c. split; auto. apply in_or_app. auto.
Qed.
Lemma writes_last : forall k p o c, In o p -> on o = k -> writes o = Some c ->
  last_write k p <> None.
Proof.
  intros k p o c. induction p as [|x p IH] using rev_ind; [now cbn|].
  intros I K W. rewrite last_write_snoc. apply in_app_or in I. simpl in I.
  destruct (sameP (on x) k).
  - destruct (writes x) eqn:X; [discriminate|]. destruct I as [I|[->|[]]]; [auto|congruence].
  - destruct I as [I|[->|[]]]; [auto|congruence].
Qed.
Lemma no_write_no_appends : forall k p, last_write k p = None -> appends k p = [].
Proof.
  intros k p. induction p as [|x p IH] using rev_ind; auto.
  rewrite last_write_snoc. intros H. unfold appends in *. rewrite flat_map_app. simpl.
  destruct (on x =? k)%uint63; [|rewrite IH; auto].
  destruct (writes x); [discriminate|]. rewrite IH; auto.
Qed.

(* The operations one by one; [f] is told those before, latest first, and the last write to each
   key among them. *)
Fixpoint each_op (f : list op -> M.t change -> op -> bool) (p : list op) (own : M.t change)
    (os : list op) : bool :=
  match os with
  | [] => true
  | o :: rest =>
      f p own o &&
      each_op f (o :: p) (match writes o with Some c => put own (on o) c | None => own end) rest
  end.
Definition own_ok (p : list op) (own : M.t change) : Prop := forall k, get own k = last_write k p.
Lemma each_op_all : forall f os p own,
  each_op f (rev p) own os = true -> own_ok p own ->
  forall q o r, os = q ++ o :: r -> exists own', own_ok (p ++ q) own' /\ f (rev (p ++ q)) own' o = true.
Proof.
  induction os as [|x os IH]; intros p own H K q o r E; [now destruct q|].
  simpl in H. apply andb_prop in H. destruct H as [F H]. destruct q as [|y q]; injection E as -> ->.
  - exists own. rewrite app_nil_r. auto.
  - specialize (IH (p ++ [y])). rewrite rev_app_distr in IH. simpl in IH.
    destruct (IH _ H) with (q := q) (o := o) (r := r) as (own' & K' & F'); auto.
    + intros k. rewrite last_write_snoc. destruct (writes y) eqn:W.
      * rewrite get_put. rewrite K. reflexivity.
      * rewrite K. now destruct (on y =? k)%uint63.
    + exists own'. rewrite <- app_assoc in K', F'. simpl in *. auto.
Qed.
Lemma own_ok_none : own_ok [] none.
Proof. intros k. now rewrite get_none. Qed.
