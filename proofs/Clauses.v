(* Refutations by clauses: reverse unit propagation (RUP) with hints, as in LRAT (Cruz-Filipe
   et al., CADE 2017). A clause follows from clauses that are there if, with all its literals
   false, the hints in turn leave one literal each, and at last none. *)
From Coq Require Import List ZArith Uint63 Bool Lia.
From Cupel Require Import History Order.
Import ListNotations.

(* An event: of a transaction its begin (false) or its commit (true). At levels with one event
   it is always the commit. *)
Inductive var :=
| Lt (bx : bool) (x : int) (by_ : bool) (y : int)  (* event x before event y *)
| Saw (t : int) (n : int) (w : option int)         (* operation n of t, from 0, saw w's version *)
| Bounded (up : bool) (t n w : int)                (* the same of w or one of w's session: an earlier
                                                      one ([up]), or a later one *)
| Begins (k w p : int)                             (* w's appends to list k begin at place p *)
| Lives (t : int).                                 (* t took effect *)
Definition literal : Type := bool * var.           (* false: negated *)
Definition clause : Type := list literal.

Definition option_eqb (a b : option int) : bool :=
  match a, b with
  | None, None => true | Some x, Some y => (x =? y)%uint63 | _, _ => false
  end.
Definition var_eqb (a b : var) : bool :=
  match a, b with
  | Lt p x q y, Lt p' x' q' y' =>
      (x =? x')%uint63 && (y =? y')%uint63 && Bool.eqb p p' && Bool.eqb q q'
  | Saw t n w, Saw t' n' w' => (t =? t')%uint63 && (n =? n')%uint63 && option_eqb w w'
  | Bounded u t n w, Bounded u' t' n' w' =>
      (t =? t')%uint63 && (n =? n')%uint63 && (w =? w')%uint63 && Bool.eqb u u'
  | Begins k w p, Begins k' w' p' => (k =? k')%uint63 && (w =? w')%uint63 && (p =? p')%uint63
  | Lives t, Lives t' => (t =? t')%uint63
  | _, _ => false
  end.
Lemma option_eqb_eq : forall a b, option_eqb a b = true -> a = b.
Proof.
  destruct a, b; simpl; try discriminate; auto. intros H. apply eqb_id in H. congruence.
Qed.
Lemma var_eqb_eq : forall a b, var_eqb a b = true -> a = b.
Proof.
  destruct a, b; simpl; try discriminate; intros H; repeat (apply andb_prop in H; destruct H as (H & ?));
    repeat match goal with
    | H : (_ =? _)%uint63 = true |- _ => apply eqb_id in H
    | H : Bool.eqb _ _ = true |- _ => apply eqb_prop in H
    | H : option_eqb _ _ = true |- _ => apply option_eqb_eq in H
    end; congruence.
Qed.

Definition negate (l : literal) : literal := (negb (fst l), snd l).
Definition literal_eqb (a b : literal) : bool := Bool.eqb (fst a) (fst b) && var_eqb (snd a) (snd b).
Definition is_in (l : literal) (ls : list literal) : bool := existsb (literal_eqb l) ls.

(* [known]: literals that are true if the clause is not. *)
Fixpoint propagate (db : M.t clause) (known : list literal) (hints : list int) : bool :=
  match hints with
  | [] => false
  | n :: rest =>
      match get db n with
      | None => false
      | Some c =>
          match filter (fun l => negb (is_in (negate l) known)) c with
          | [] => true
          | [l] => propagate db (l :: known) rest
          | _ => false
          end
      end
  end.
Definition follows (db : M.t clause) (c : clause) (hints : list int) : bool :=
  propagate db (map negate c) hints.

Section Sound.
Variable value : var -> bool.
Definition true_literal (l : literal) : bool := Bool.eqb (fst l) (value (snd l)).
Definition true_clause (c : clause) : Prop := exists l, In l c /\ true_literal l = true.
Definition true_all (db : M.t clause) : Prop := forall n c, get db n = Some c -> true_clause c.

Lemma true_negate : forall l, true_literal (negate l) = negb (true_literal l).
Proof. intros (b & v). unfold true_literal. simpl. now destruct b, (value v). Qed.

Lemma propagate_sound : forall db, true_all db -> forall hints known,
  propagate db known hints = true -> ~ (forall l, In l known -> true_literal l = true).
Proof.
  intros db D. induction hints as [|n hints IH]; simpl; intros known H K; [discriminate|].
  destruct (get db n) as [c|] eqn:G; [|discriminate]. destruct (D n c G) as (l & I & T).
  assert (J : In l (filter (fun l => negb (is_in (negate l) known)) c)).
  { apply filter_In. split; auto. apply negb_true_iff, not_true_iff_false. intros E.
    apply existsb_exists in E. destruct E as (l' & I' & E). apply andb_prop in E.
    destruct E as (E & E'). apply eqb_prop in E. apply var_eqb_eq in E'.
    assert (l' = negate l) as -> by (destruct l'; unfold negate in *; simpl in *; congruence).
    apply K in I'. rewrite true_negate, T in I'. discriminate. }
  destruct (filter _ c) as [|l1 [|]]; try discriminate; [destruct J|].
  destruct J as [->|[]]. apply (IH _ H). intros x [<-|X]; auto.
Qed.

Theorem follows_sound : forall db c hints, true_all db -> follows db c hints = true -> true_clause c.
Proof.
  intros db c hints D F. destruct (existsb true_literal c) eqn:E.
  - apply existsb_exists in E. exact E.
  - exfalso. apply (propagate_sound db D hints _ F). intros l I. apply in_map_iff in I.
    destruct I as (x & <- & I). rewrite true_negate. apply negb_true_iff.
    apply not_true_iff_false. intros T. apply not_true_iff_false in E. apply E.
    apply existsb_exists. eauto.
Qed.
End Sound.
