(* Certificates of "satisfied" at the weak levels: a total order that extends co, and whose
   version each read saw (docs/reference/formats/certificate.md, "Satisfied").

   The order is walked twice. Witness.v's walk, without the values of others, gives a total order
   with the session order and the own writes ([basis]). The second walk checks each read against
   the writer that the certificate names, and that every other writer of the key that is visible
   to the read, by phi, is before that writer. What is visible is kept as [seen]: of each session
   the last position, and single transactions. *)
From Coq Require Import List ZArith Uint63 Bool Sorted Relations Lia.
From Cupel Require Import History Levels Order Ladder Witness.
Import ListNotations.
Local Open Scope Z_scope.

(* Transactions that are visible: the committed ones of a session up to a position, and single
   ones with their positions. *)
Record seen_set := Seen { upto : M.t (int * Z); single : M.t (txn * Z) }.
Definition nothing_seen : seen_set := Seen none none.
Definition raise (m : M.t (int * Z)) (s : int) (z : Z) : M.t (int * Z) :=
  put m s (s, match get m s with Some (_, y) => Z.max y z | None => z end).
Definition see_one (v : seen_set) (k : txn) (z : Z) : seen_set :=
  Seen (upto v) (put (single v) (id k) (k, z)).
(* With all that precede it in its session, if it is committed. *)
Definition see (v : seen_set) (k : txn) (z : Z) : seen_set :=
  match outcome k with
  | Committed => Seen (raise (upto v) (session k) z) (single v)
  | _ => see_one v k z
  end.
Definition merge (a b : seen_set) : seen_set :=
  Seen (union (fun x y => (fst x, Z.max (snd x) (snd y))) (upto a) (upto b))
       (union (fun x _ => x) (single a) (single b)).

Record placed := Placed { who : txn; at_pos : Z; then_lists : M.t (list int); its_seen : seen_set }.
Record walk_state := Walked {
  now : Z;
  pos : M.t placed;
  lists : M.t (list int);
  by_session_key : M.t (M.t (list (txn * Z)));  (* committed writers, the last first *)
  last_of : M.t (txn * Z);                      (* the last writer of each key *)
  (* What the committed ones of a session have seen and are, the last first. *)
  session_seen : M.t (list (int * seen_set)) }.
Definition no_walk : walk_state := Walked 0 none none none none none.

(* Whose version the reads of others saw, by place; None at other places. *)
Fixpoint assign (t : txn) (p : list op) (os : list op) (sources : list (option int))
  : list (option (option int)) :=
  match os with
  | [] => []
  | o :: rest =>
      if knows t o && match sees o with Some _ => true | None => false end &&
         match last_write (on o) p with None => true | Some _ => false end
      then match sources with
           | s :: sources => Some s :: assign t (p ++ [o]) rest sources
           | [] => Some None :: assign t (p ++ [o]) rest []
           end
      else None :: assign t (p ++ [o]) rest sources
  end.

Definition read_pair : Type := op * option (option int).
Fixpoint each_pair (f : list read_pair -> read_pair -> bool) (p xs : list read_pair) : bool :=
  match xs with [] => true | x :: rest => f p x && each_pair f (x :: p) rest end.
Lemma each_pair_all : forall f xs p, each_pair f (rev p) xs = true ->
  forall q x r, xs = q ++ x :: r -> f (rev (p ++ q)) x = true.
Proof.
  induction xs as [|y xs IH]; intros p H q x r E; [now destruct q|].
  simpl in H. apply andb_prop in H. destruct H as (F & H). destruct q as [|z q]; injection E as -> E.
  - now rewrite app_nil_r.
  - specialize (IH (p ++ [z])). rewrite rev_app_distr in IH. specialize (IH H q x r E).
    now rewrite <- app_assoc in IH.
Qed.

Section Check.
Variables (h : history) (start_value : int -> change) (l : level).

Definition is_writer_of (k : txn) (r : option int) : bool :=
  match r with Some i => (id k =? i)%uint63 | None => false end.
Definition source_pos (w : walk_state) (r : option int) : option Z :=
  match r with
  | None => None
  | Some i => match get (pos w) i with Some p => Some (at_pos p) | None => None end
  end.
Definition before_source (z : Z) (source : option Z) : bool :=
  match source with None => false | Some p => z <? p end.
Definition value_ok (w : walk_state) (o : op) (r : option int) : bool :=
  match sees o with
  | None => true
  | Some s =>
      match r with
      | None => match s with
                | Elements vs => match vs with [] => true | _ => false end
                | _ => fits h s (start_value (on o))
                end
      | Some i =>
          match get (pos w) i with
          | None => false
          | Some p =>
              match last_write (on o) (ops (who p)) with
              | None => false
              | Some c =>
                  match s with
                  | Elements vs => same_list (rev_append vs []) (elements (then_lists p) (on o))
                  | _ => fits h s c
                  end
              end
          end
      end
  end.
Definition session_writers (w : walk_state) (s k : int) : list (txn * Z) :=
  match get (by_session_key w) s with
  | Some m => match get m k with Some xs => xs | None => [] end
  | None => []
  end.
Fixpoint first_upto (z : Z) (xs : list (txn * Z)) : option (txn * Z) :=
  match xs with
  | [] => None
  | x :: rest => if snd x <=? z then Some x else first_upto z rest
  end.
(* Every visible writer of the key but the one that was read from is before that one. *)
Definition none_missed (w : walk_state) (v : seen_set) (o : op) (r : option int) : bool :=
  match get (last_of w) (on o) with None => true | Some (k, _) => is_writer_of k r end ||
  let source := source_pos w r in
  for_all (fun x : txn * Z => let (k, z) := x in
             negb (writes_key (on o) k) || is_writer_of k r || before_source z source)
    (single v) &&
  for_all (fun x : int * Z => let (s, z) := x in
             before_source z source ||
             match first_upto z (session_writers w s (on o)) with
             | None => true
             | Some (k, zk) => is_writer_of k r || before_source zk source
             end)
    (upto v).

Definition rc : bool := match l with ReadCommitted => true | _ => false end.
Definition row_first (p : list read_pair) (o : op) : bool :=
  forallb (fun x => negb ((number (fst x) =? number o) && (on (fst x) =? on o))%uint63) p.

(* What the reads among [xs], latest first, have seen. *)
Fixpoint of_reads (w : walk_state) (skip : op -> bool) (xs : list read_pair) : seen_set :=
  match xs with
  | [] => nothing_seen
  | (o, r) :: rest =>
      let v := of_reads w skip rest in
      match r with
      | Some (Some i) =>
          if skip o || (rc && negb (row_first rest o)) then v
          else match get (pos w) i with
               | Some p => if match l with Causal => true | _ => false end
                           then see (merge v (its_seen p)) (who p) (at_pos p)
                           else see_one v (who p) (at_pos p)
               | None => v
               end
      | _ => v
      end
  end.
Definition seen_by (w : walk_state) (s : int) : list (int * seen_set) :=
  match get (session_seen w) s with Some xs => xs | None => [] end.
(* The last of them that is earlier in the session: an indeterminate one may come after later ones. *)
Fixpoint before_id (i : int) (xs : list (int * seen_set)) : seen_set :=
  match xs with
  | [] => nothing_seen
  | x :: rest => if (fst x <? i)%uint63 then snd x else before_id i rest
  end.
Definition of_session (w : walk_state) (t : txn) : seen_set :=
  match l with
  | ReadAtomic | Causal => before_id (id t) (seen_by w (session t))
  | _ => nothing_seen
  end.
(* All that is visible to the transaction; at read-committed it depends on the read. *)
Definition all_seen (w : walk_state) (t : txn) (pairs : list read_pair) : seen_set :=
  match l with
  | ReadCommitted => nothing_seen
  | _ => merge (of_reads w (fun _ => false) (rev_append pairs [])) (of_session w t)
  end.
(* At read-committed a further row of a key that a range read returned orders nothing: its writer
   may also stand later. *)
Definition later_ok (table : M.t txn) (sources : M.t (list (option int))) (t : txn) (o : op)
    (r : option int) : bool :=
  match r, sees o with
  | Some i, Some s =>
      negb (i =? id t)%uint63 && has sources i &&
      match get table i with
      | None => false
      | Some x =>
          match last_write (on o) (ops x), s with
          | None, _ | _, Elements _ => false
          | Some c, _ => fits h s c
          end
      end
  | _, _ => false
  end.
Definition pair_ok (later : op -> option int -> bool) (w : walk_state) (v : seen_set) (p : list read_pair) (x : read_pair) : bool :=
  let (o, r) := x in
  match r with
  | None => true
  | Some r =>
      if rc then
        if row_first p o then
          value_ok w o r &&
          none_missed w (of_reads w (fun o' => (number o' =? number o)%uint63) p) o r
        else value_ok w o r || later o r
      else value_ok w o r && none_missed w v o r
  end.

Definition add_writer (t : txn) (z : Z) (m : M.t (list (txn * Z))) : M.t (list (txn * Z)) :=
  fold_left (fun m o => match writes o with
                        | Some _ => put m (on o) ((t, z) :: match get m (on o) with Some xs => xs | None => [] end)
                        | None => m
                        end) (ops t) m.
Definition place_txn (w : walk_state) (t : txn) (v : seen_set) : walk_state :=
  let after := lengthen t (lists w) in
  let committed := match outcome t with Committed => true | _ => false end in
  Walked (now w + 1) (put (pos w) (id t) (Placed t (now w) after v)) after
    (if committed then
       put (by_session_key w) (session t)
         (add_writer t (now w) match get (by_session_key w) (session t) with Some m => m | None => none end)
     else by_session_key w)
    (fold_left (fun m o => match writes o with Some _ => put m (on o) (t, now w) | None => m end)
       (ops t) (last_of w))
    (if committed then put (session_seen w) (session t) ((id t, see v t (now w)) :: seen_by w (session t))
     else session_seen w).

Definition pairs_of (sources : M.t (list (option int))) (t : txn) : list read_pair :=
  combine (ops t)
    (assign t [] (ops t) match get sources (id t) with Some xs => xs | None => [] end).
Fixpoint weak_walk (table : M.t txn) (sources : M.t (list (option int))) (w : walk_state)
    (order : list int) : bool :=
  match order with
  | [] => true
  | i :: rest =>
      match get table i with
      | None => false
      | Some t =>
          let pairs := pairs_of sources t in
          let v := all_seen w t pairs in
          each_pair (pair_ok (later_ok table sources t) w v) [] pairs &&
          weak_walk table sources (place_txn w t match l with Causal => v | _ => nothing_seen end) rest
      end
  end.
End Check.

Definition weak_shape : shape := Shape false false true false false.
Definition is_weak_level (l : level) : bool :=
  match l with ReadCommitted | ReadAtomic | Causal => true | _ => false end.
Definition check_weak (h : history) (l : level) (entries : list (int * list (option int))) : bool :=
  is_weak_level l && ascending None (txns h) &&
  (let table := index_txns (txns h) in
   let starts := initial_map h in
   let order := rev_append (fold_left (fun l x => fst x :: l) entries []) [] in  (* [map] would need stack *)
   let sources := fold_left (fun m x => put m (fst x) (snd x)) entries none in
   replay h (initial_in h starts) 0 weak_shape false table order &&
   weak_walk h (initial_in h starts) l table sources no_walk order).

(* --- an order that is accepted is an execution --- *)

Section Sound.
Variables (h : history) (start_value : int -> change) (l : level).
Variables (sources : M.t (list (option int))) (evs : list event) (final : state).
Notation table := (index_txns (txns h)).
Hypothesis weak : is_weak_level l = true.
Hypothesis wf : well_formed h.
Hypothesis start_value_ok : forall k, start_value k = initial h k.
Hypothesis ran : steps h start_value 0 weak_shape false empty evs = Some final.
Hypothesis all : complete h final = true.
Hypothesis in_h : forall x, In x evs -> In (snd x) (txns h).
Hypothesis whole : forall x, In x evs -> fst x = true.
Hypothesis in_order : forall i, has sources i = true -> exists x, In (true, x) evs /\ id x = i.

Notation base := (replayed weak_shape evs).
Definition named (t : txn) (n : nat) : option txn :=
  match nth_error (pairs_of sources t) n with
  | Some (_, Some (Some i)) => get table i
  | _ => None
  end.
Definition walked : execution := Execution (live base) named (finish base) (finish base).
Notation e := walked.

Definition at_sessions (m : M.t (int * Z)) : Prop :=
  forall p s z, M.find p m = Some (s, z) -> p = slot s.
Definition valid (v : seen_set) : Prop :=
  at_sessions (upto v) /\
  (forall p k z, M.find p (single v) = Some (k, z) ->
     In k (txns h) /\ p = slot (id k) /\ z = finish e k).
Definition covers (v : seen_set) (k : txn) : Prop :=
  (outcome k = Committed /\ exists z, get (upto v) (session k) = Some (session k, z) /\ finish e k <= z) \/
  get (single v) (id k) = Some (k, finish e k).

Lemma valid_none : forall m, at_sessions m -> valid (Seen m none).
Proof.
  intros m A. split; auto. intros p k z F. cbn [single] in F. unfold none in F. rewrite M.gempty in F. discriminate.
Qed.
Lemma at_sessions_none : at_sessions none.
Proof. intros p s z F. unfold none in F. rewrite M.gempty in F. discriminate. Qed.
Lemma at_sessions_put : forall m s z, at_sessions m -> at_sessions (put m s (s, z)).
Proof.
  intros m s z A p s' z' F. rewrite put_add in F. destruct (Pos.eq_dec p (slot s)) as [->|N].
  - rewrite M.gss in F. now injection F as <- <-.
  - rewrite M.gso in F by auto. eauto.
Qed.
Lemma valid_nothing : valid nothing_seen.
Proof. apply valid_none, at_sessions_none. Qed.
Lemma raise_covers : forall m s z s' y, get m s' = Some (s', y) ->
  exists y', get (raise m s z) s' = Some (s', y') /\ y <= y'.
Proof.
  intros m s z s' y G. unfold raise. rewrite get_put. destruct (sameP s s') as [->|]; [|exists y; split; auto; lia].
  rewrite G. eexists. split; [reflexivity|]. lia.
Qed.
Lemma raise_has : forall m s z, exists y, get (raise m s z) s = Some (s, y) /\ z <= y.
Proof.
  intros m s z. unfold raise. rewrite get_put, eqb_same. destruct (get m s) as [(a & b)|];
    eexists; (split; [reflexivity|]); lia.
Qed.
Lemma see_one_valid : forall v k, valid v -> In k (txns h) -> valid (see_one v k (finish e k)).
Proof.
  intros v k (A & V) I. split; [exact A|]. intros p k' z F. unfold see_one in F. cbn [single] in F. rewrite put_add in F.
  destruct (Pos.eq_dec p (slot (id k))) as [->|N].
  - rewrite M.gss in F. injection F as <- <-. auto.
  - rewrite M.gso in F by auto. now apply V.
Qed.
Lemma see_valid : forall v k, valid v -> In k (txns h) -> valid (see v k (finish e k)).
Proof.
  intros v k V I. unfold see. destruct (outcome k); auto using see_one_valid.
  destruct V as (A & V). split; auto. now apply at_sessions_put.
Qed.
Lemma see_one_keeps : forall v k x, In k (txns h) -> In x (txns h) -> covers v x ->
  covers (see_one v k (finish e k)) x.
Proof.
  intros v k x Ik Ix [C|C]; [left; exact C|right]. unfold see_one. cbn [single]. rewrite get_put.
  destruct (sameP (id k) (id x)) as [E|]; auto.
  assert (k = x) as -> by (eapply unique_id; eauto). auto.
Qed.
Lemma see_keeps : forall v k x, In k (txns h) -> In x (txns h) -> covers v x ->
  covers (see v k (finish e k)) x.
Proof.
  intros v k x Ik Ix C. unfold see. destruct (outcome k); auto using see_one_keeps.
  destruct C as [(O & z & G & L)|C]; [left|right; exact C]. split; auto. cbn [upto].
  destruct (raise_covers _ (session k) (finish e k) _ _ G) as (y & -> & Y). exists y. split; auto. lia.
Qed.
Lemma see_one_has : forall v k, covers (see_one v k (finish e k)) k.
Proof. intros. right. unfold see_one. cbn [single]. now rewrite get_put, eqb_same. Qed.
Lemma see_has : forall v k, covers (see v k (finish e k)) k.
Proof.
  intros. unfold see. destruct (outcome k) eqn:O; auto using see_one_has. left. split; auto. cbn [upto].
  destruct (raise_has (upto v) (session k) (finish e k)) as (y & -> & L). eauto.
Qed.

Lemma merge_valid : forall a b, valid a -> valid b -> valid (merge a b).
Proof.
  intros a b (Sa & A) (Sb & B). split.
  { intros p s z F. unfold merge in F. cbn [upto] in F. rewrite find_union in F.
    destruct (M.find p (upto a)) as [(s1 & z1)|] eqn:Fa; destruct (M.find p (upto b)) as [(s2 & z2)|] eqn:Fb;
      cbn [either fst] in F; try discriminate; injection F as <- <-; eauto. }
  intros p k z F. unfold merge in F. cbn [single] in F. rewrite find_union in F.
  destruct (M.find p (single a)) as [(k1 & z1)|] eqn:Fa; destruct (M.find p (single b)) as [(k2 & z2)|] eqn:Fb;
    cbn [either] in F; try discriminate; injection F as <- <-; eauto.
Qed.
Lemma merge_left : forall a b x, covers a x -> covers (merge a b) x.
Proof.
  intros a b x [(O & z & G & L)|C]; unfold merge, covers in *; rewrite !get_find in *; cbn [upto single]; rewrite !find_union.
  - left. split; auto. rewrite G. destruct (M.find _ (upto b)) as [(s & y)|]; cbn [either fst snd];
      eexists; (split; [reflexivity|]); lia.
  - right. rewrite C. now destruct (M.find _ (single b)).
Qed.
Lemma merge_right : forall a b x, valid a -> In x (txns h) -> covers b x -> covers (merge a b) x.
Proof.
  intros a b x (A & V) Ix [(O & z & G & L)|C]; unfold merge, covers in *; rewrite !get_find in *; cbn [upto single]; rewrite !find_union.
  - left. split; auto. rewrite G. destruct (M.find _ (upto a)) as [(s & y)|] eqn:F; cbn [either fst snd].
    + apply A, slot_inj in F. subst s. eexists. split; [reflexivity|]. lia.
    + exists z. auto.
  - right. rewrite C. destruct (M.find _ (single a)) as [(k & y)|] eqn:F; cbn [either]; auto.
    destruct (V _ _ _ F) as (I & S & ->). apply slot_inj in S. assert (k = x) as -> by (eapply unique_id; eauto). auto.
Qed.

(* --- what the walk knows of the events before --- *)

Lemma ev_at : forall q t r, evs = q ++ (true, t) :: r ->
  counts h e t /\ finish e t = Z.of_nat (length q) /\ In t (txns h).
Proof.
  intros q t r E. assert (C : counts h base t).
  { apply (in_counts h weak_shape evs in_h evs []); [now rewrite app_nil_r|].
    rewrite E, in_app_iff. simpl. auto. }
  split; [exact C|]. split; [|apply C].
  destruct (at_all h start_value 0 weak_shape false evs final ran) as (_ & A).
  destruct (A q true t r E) as (_ & F). specialize (F eq_refl). apply ac_fresh in F.
  simpl. unfold place. rewrite E, before_at; auto. unfold is. simpl. now rewrite eqb_same.
Qed.
Lemma in_q : forall q r a, evs = q ++ r -> In a (txns h) ->
  In (true, a) q <-> finish e a < Z.of_nat (length q).
Proof. intros q r a E I. exact (finish_in h weak_shape evs wf in_h q r a E I). Qed.
Lemma q_counts : forall q r a, evs = q ++ r -> In (true, a) q -> counts h e a.
Proof. intros q r a E I. exact (in_counts h weak_shape evs in_h q r a E I). Qed.
Lemma unique : forall a b, In a (txns h) -> In b (txns h) -> id a = id b -> a = b.
Proof. intros. eapply unique_id; eauto. Qed.

Record winv (q : list event) (w : walk_state) : Prop := {
  w_now : now w = Z.of_nat (length q);
  w_pos : forall i p, get (pos w) i = Some p ->
    In (true, who p) q /\ id (who p) = i /\ at_pos p = finish e (who p) /\ valid (its_seen p) /\
    content_ok (then_lists p) (before (is true (who p)) evs ++ [(true, who p)]);
  w_all : forall t, In (true, t) q -> exists p, get (pos w) (id t) = Some p;
  w_lists : content_ok (lists w) q;
  w_writers : forall s x k, In (true, k) q -> outcome k = Committed -> session k = s ->
    writes_key x k = true -> In (k, finish e k) (session_writers w s x);
  w_sorted : forall s x, StronglySorted (fun a b => snd b <= snd a) (session_writers w s x) /\
    Forall (fun a => In (true, fst a) q /\ snd a = finish e (fst a)) (session_writers w s x);
  w_last : forall x k, In (true, k) q -> writes_key x k = true ->
    exists k', get (last_of w) x = Some (k', finish e k') /\ finish e k <= finish e k' /\ In (true, k') q;
  w_session : forall i k, In (true, k) q -> outcome k = Committed -> to_Z (id k) < to_Z i ->
    covers (before_id i (seen_by w (session k))) k /\
    (l = Causal -> forall x, In x (txns h) -> clos_trans _ (co_step h e) x k ->
       covers (before_id i (seen_by w (session k))) x);
  w_session_valid : forall s x, In x (seen_by w s) -> valid (snd x);
  w_causal : l = Causal -> forall i p, get (pos w) i = Some p ->
    forall x, In x (txns h) -> clos_trans _ (co_step h e) x (who p) -> covers (its_seen p) x }.

Lemma winv_none : winv [] no_walk.
Proof.
  constructor; simpl; auto; try tauto.
  - intros i p G. now rewrite get_none in G.
  - intros k. unfold elements. now rewrite get_none.
  - intros s x. unfold session_writers. simpl. rewrite get_none. split; constructor.
  - intros s x J. unfold seen_by in J. cbn [session_seen no_walk] in J. rewrite get_none in J. destruct J.
  - intros _ i p G. now rewrite get_none in G.
Qed.

Lemma first_upto_max : forall xs k z, StronglySorted (fun a b : txn * Z => snd b <= snd a) xs ->
  forall zk, In (k, zk) xs -> zk <= z ->
  exists k' z', first_upto z xs = Some (k', z') /\ zk <= z' /\ In (k', z') xs.
Proof.
  induction xs as [|(k0 & z0) xs IH]; intros k z S zk I L; [destruct I|]. inversion S as [|? ? S' F]; subst.
  cbn [first_upto snd]. destruct (Z.leb_spec z0 z).
  - exists k0, z0. split; auto. split; [|now left]. destruct I as [I|I]; [injection I as <- <-; lia|].
    rewrite Forall_forall in F. now apply (F (k, zk)).
  - destruct I as [I|I]; [injection I as <- <-; lia|].
    destruct (IH k z S' zk I L) as (k' & z' & A & B & C). exists k', z'. repeat split; auto. now right.
Qed.

(* A visible writer of the key is before the writer that was read from. *)
Lemma none_missed_ok : forall q r w v o src k, evs = q ++ r -> winv q w ->
  none_missed w v o src = true -> In (true, k) q -> covers v k -> writes_key (on o) k = true ->
  (forall i, src = Some i -> exists p, get (pos w) i = Some p) ->
  match src with Some i => id k <> i | None => True end ->
  match src with
  | None => False
  | Some i => exists p, get (pos w) i = Some p /\ finish e k < finish e (who p)
  end.
Proof.
  intros q r w v o src k E I N Ik C W Src Ne. unfold none_missed in N.
  assert (Hk : In k (txns h)) by (apply (q_counts q r k E Ik)).
  assert (Fin : forall k', In (true, k') q -> finish e k <= finish e k' ->
            (is_writer_of k' src || before_source (finish e k') (source_pos w src)) = true ->
            match src with None => False | Some i => exists p, get (pos w) i = Some p /\ finish e k < finish e (who p) end).
  { intros k' Ik' L B. destruct src as [i|]; cbn [is_writer_of source_pos before_source] in B.
    - destruct (Src i eq_refl) as (p & G). exists p. split; auto.
      destruct (w_pos _ _ I _ _ G) as (Ip & Idp & At & _).
      apply orb_prop in B. destruct B as [B|B].
      + apply eqb_id in B. assert (k' = who p) as ->.
        { apply unique; [apply (q_counts q r k' E Ik')|apply (q_counts q r _ E Ip)|congruence]. }
        assert (finish e k <> finish e (who p)); [|lia]. intros Q. apply Ne. rewrite <- Idp. f_equal.
        apply (replayed_apart h weak_shape evs wf in_h); auto; [apply (q_counts q r k E Ik)|apply (q_counts q r _ E Ip)].
      + rewrite G in B. cbn [before_source] in B. apply Z.ltb_lt in B. rewrite At in B. lia.
    - discriminate. }
  apply orb_prop in N. destruct N as [N|N].
  - destruct (w_last _ _ I _ _ Ik W) as (k' & G & L & Ik'). rewrite G in N. apply (Fin k'); auto. now rewrite N.
  - apply andb_prop in N. destruct N as (N1 & N2).
    destruct C as [(O & z & G & L)|G].
    + pose proof (for_all_get _ _ _ _ _ N2 G) as N3. cbn beta iota in N3. clear N2. rename N3 into N2.
      apply orb_prop in N2. destruct N2 as [N2|N2].
      { destruct src as [i|]; [|discriminate]. destruct (Src i eq_refl) as (p & Gp). exists p. split; auto.
        cbn [source_pos] in N2. rewrite Gp in N2. cbn [before_source] in N2. apply Z.ltb_lt in N2.
        destruct (w_pos _ _ I _ _ Gp) as (_ & _ & At & _). rewrite At in N2. lia. }
      destruct (first_upto_max (session_writers w (session k) (on o)) k z (proj1 (w_sorted _ _ I _ _)) (finish e k))
        as (k' & z' & F & L' & I'); auto; [now apply (w_writers _ _ I)|].
      rewrite F in N2. pose proof (proj2 (w_sorted _ _ I (session k) (on o))) as Fa.
      rewrite Forall_forall in Fa. destruct (Fa _ I') as (Iq & Z'). cbn [fst snd] in Iq, Z'. subst z'.
      now apply (Fin k').
    + pose proof (for_all_get _ _ _ _ _ N1 G) as N3. cbn beta iota in N3. clear N1. rename N3 into N1.
      rewrite W in N1. cbn [negb orb] in N1. apply (Fin k); auto. lia.
Qed.

Lemma of_reads_valid : forall q r w skip xs, evs = q ++ r -> winv q w -> valid (of_reads l w skip xs).
Proof.
  intros q r w skip xs E I. induction xs as [|(o & src) xs IH]; cbn [of_reads].
  - apply valid_nothing.
  - destruct src as [[i|]|]; auto. destruct (skip o || (rc l && negb (row_first xs o))); auto.
    destruct (get (pos w) i) as [p|] eqn:G; auto.
    destruct (w_pos _ _ I _ _ G) as (Ip & _ & -> & V & _). pose proof (q_counts q r _ E Ip) as C.
    destruct l; try (apply see_one_valid; auto; apply C).
    apply see_valid; [|apply C]. now apply merge_valid.
Qed.
Lemma of_reads_covers : forall q r w skip xs o i p rest before, evs = q ++ r -> winv q w ->
  xs = before ++ (o, Some (Some i)) :: rest -> get (pos w) i = Some p -> skip o = false ->
  (rc l = true -> row_first rest o = true) ->
  covers (of_reads l w skip xs) (who p) /\
  (l = Causal -> forall x, In x (txns h) -> covers (its_seen p) x -> covers (of_reads l w skip xs) x).
Proof.
  intros q r w skip xs o i p rest before0 E I X G Sk Fr. subst xs.
  destruct (w_pos _ _ I _ _ G) as (Ip & _ & At & V & _). pose proof (q_counts q r _ E Ip) as (Hp & _).
  induction before0 as [|(o' & src) xs IH]; cbn [app of_reads].
  - rewrite Sk. cbn [orb].
    assert (F : rc l && negb (row_first rest o) = false).
    { destruct (rc l); auto. now rewrite (Fr eq_refl). }
    pose proof (of_reads_valid q r w skip rest E I) as Vr. rewrite F, G, At. split.
    + destruct l; auto using see_one_has, see_has.
    + intros -> x Hx C. apply see_keeps; auto. now apply merge_right.
  - destruct IH as (A & B).
    assert (K : forall x, In x (txns h) -> covers (of_reads l w skip (xs ++ (o, Some (Some i)) :: rest)) x ->
      covers (of_reads l w skip ((o', src) :: xs ++ (o, Some (Some i)) :: rest)) x).
    { intros x Hx C. cbn [of_reads]. destruct src as [[j|]|]; auto.
      destruct (skip o' || (rc l && negb (row_first (xs ++ (o, Some (Some i)) :: rest) o'))); auto.
      destruct (get (pos w) j) as [p'|] eqn:G'; auto.
      destruct (w_pos _ _ I _ _ G') as (Ip' & _ & -> & V' & _). pose proof (q_counts q r _ E Ip') as (Hp' & _).
      destruct l; try (now apply see_one_keeps). apply see_keeps; auto. now apply merge_left. }
    split; [now apply K|]. intros Ca x Hx C. apply K; auto.
Qed.

(* The pairs of a transaction are its operations with what is named. *)
Lemma assign_length : forall t os p src, length (assign t p os src) = length os.
Proof.
  intros t. induction os as [|o os IH]; intros p src; auto. cbn [assign].
  destruct (_ && _ && _); [destruct src|]; cbn [length]; now rewrite IH.
Qed.
Lemma pairs_fst : forall t, map fst (pairs_of sources t) = ops t.
Proof.
  intros t. unfold pairs_of. generalize (assign_length t (ops t) [] match get sources (id t) with Some xs => xs | None => [] end).
  generalize (assign t [] (ops t) match get sources (id t) with Some xs => xs | None => [] end).
  induction (ops t) as [|o os IH]; intros [|x xs] L; simpl in *; try discriminate; auto. rewrite IH; auto.
Qed.
Lemma pairs_split : forall t p o rest, ops t = p ++ o :: rest ->
  exists pp src rr, pairs_of sources t = pp ++ (o, src) :: rr /\ map fst pp = p /\ length pp = length p.
Proof.
  intros t p o rest Sp. pose proof (pairs_fst t) as F. rewrite Sp in F.
  revert F. generalize (pairs_of sources t). clear. induction p as [|x p IH]; intros [|(o' & src) ys] F; try discriminate.
  - injection F as -> F. exists [], src, ys. auto.
  - injection F as -> F. destruct (IH ys F) as (pp & s & rr & -> & <- & L).
    exists ((x, src) :: pp), s, rr. simpl. auto.
Qed.
Lemma row_first_ok : forall pp o, row_first (rev pp) o = true <-> first_row (map fst pp) o.
Proof.
  intros pp o. unfold row_first, first_row. rewrite forallb_forall. split.
  - intros F x J (A & B). apply in_map_iff in J. destruct J as (y & <- & J).
    specialize (F y (proj1 (in_rev _ _) J)). rewrite A, B, !eqb_same in F. discriminate.
  - intros F y J. apply in_rev in J. apply negb_true_iff, not_true_iff_false. intros Q.
    apply andb_prop in Q. destruct Q as (A & B). apply eqb_id in A, B.
    apply (F (fst y)); auto. now apply in_map.
Qed.

(* A read of others has a name, if only "unnamed". *)
Lemma external_named : forall t p o s pp src rr, reads_other t p o s ->
  pairs_of sources t = pp ++ (o, src) :: rr -> map fst pp = p -> source e t (length p) =
    match src with Some (Some i) => get table i | _ => None end.
Proof.
  intros t p o s pp src rr R Pr Pm. cbn [source walked]. unfold named.
  assert (L : length p = length pp) by (rewrite <- Pm; now rewrite map_length).
  rewrite Pr, L, nth_error_app2, Nat.sub_diag by lia. reflexivity.
Qed.

Lemma assign_external : forall t os p xs q o r, os = q ++ o :: r -> knows t o = true -> sees o <> None ->
  last_write (on o) (p ++ q) = None -> exists x, nth_error (assign t p os xs) (length q) = Some (Some x).
Proof.
  intros t. induction os as [|y os IH]; intros p xs q o r E K S L; [now destruct q|].
  destruct q as [|z q]; injection E as -> E; cbn [assign length nth_error].
  - rewrite app_nil_r in L. rewrite K, L. destruct (sees o); [|congruence]. cbn [andb].
    destruct xs as [|x xs]; eauto.
  - subst os. assert (L' : last_write (on o) ((p ++ [z]) ++ q) = None) by now rewrite <- app_assoc.
    destruct (knows t z && _ && _); [destruct xs|]; cbn [nth_error]; eapply IH; eauto.
Qed.
Lemma external_pair : forall t p o s, reads_other t p o s ->
  exists pp x rr, pairs_of sources t = pp ++ (o, Some x) :: rr /\ map fst pp = p /\
    source e t (length p) = match x with Some i => get table i | None => None end.
Proof.
  intros t p o s R. pose proof (reads_knows _ _ _ _ (proj1 R)) as K.
  destruct R as (((rest & Sp) & So & _) & Lw).
  destruct (pairs_split t p o rest Sp) as (pp & src & rr & Pr & Pm & Pl).
  destruct (assign_external t (ops t) [] (match get sources (id t) with Some xs => xs | None => [] end) p o rest Sp K
              ltac:(congruence) Lw) as (x & N).
  assert (src = Some x) as ->.
  { assert (Q : nth_error (pairs_of sources t) (length pp) = Some (o, src)).
    { rewrite Pr, nth_error_app2, Nat.sub_diag by lia. reflexivity. }
    unfold pairs_of in Q. rewrite Pl in Q. clear - Q N. revert Q N. generalize (length p).
    generalize (assign t [] (ops t) match get sources (id t) with Some xs => xs | None => [] end).
    induction (ops t) as [|y os IH]; intros [|a l0] [|n] Q N; simpl in *; try discriminate.
    - congruence.
    - eapply IH; eauto. }
  exists pp, x, rr. split; auto. split; auto. cbn [source walked]. unfold named.
  rewrite <- Pl, Pr, nth_error_app2, Nat.sub_diag by lia. destruct x; reflexivity.
Qed.

(* The reads of a transaction that is placed after [q]. *)
Notation vis w t := (all_seen l w t (pairs_of sources t)).
Notation checked w t := (each_pair (pair_ok h start_value l (later_ok h table sources t) w (vis w t)) [] (pairs_of sources t) = true).

Lemma rc_not : rc l = match l with ReadCommitted => true | _ => false end.
Proof. reflexivity. Qed.

Lemma value_from : forall q r t w p o s x, evs = q ++ (true, t) :: r -> winv q w -> reads_other t p o s ->
  source e t (length p) = match x with Some i => get table i | None => None end ->
  value_ok h start_value w o x = true ->
  match x with
  | None => source e t (length p) = None
  | Some i => exists P, get (pos w) i = Some P /\ source e t (length p) = Some (who P)
  end.
Proof.
  intros q r t w p o s x E I R So Va. destruct x as [i|]; [|exact So]. unfold value_ok in Va.
  destruct R as ((_ & Se & _) & _). rewrite Se in Va.
  destruct (get (pos w) i) as [P|] eqn:G; [|discriminate]. exists P. split; auto. rewrite So.
  destruct (w_pos _ _ I _ _ G) as (Ip & <- & _).
  apply index_txns_all; auto. apply (q_counts q ((true, t) :: r) _ E Ip).
Qed.
Lemma pair_checked : forall q r t w p o s, evs = q ++ (true, t) :: r -> winv q w -> checked w t ->
  reads_other t p o s -> (rc l = true -> first_row p o) ->
  exists pp x rr, pairs_of sources t = pp ++ (o, Some x) :: rr /\ map fst pp = p /\
    value_ok h start_value w o x = true /\
    (rc l = true -> first_row p o ->
       none_missed w (of_reads l w (fun o' => (number o' =? number o)%uint63) (rev pp)) o x = true) /\
    (rc l = false -> none_missed w (vis w t) o x = true) /\
    match x with
    | None => source e t (length p) = None
    | Some i => exists P, get (pos w) i = Some P /\ source e t (length p) = Some (who P)
    end.
Proof.
  intros q r t w p o s E I C R Fr. destruct (external_pair t p o s R) as (pp & x & rr & Pr & Pm & So).
  pose proof (each_pair_all _ _ [] C pp (o, Some x) rr Pr) as F. simpl app in F. unfold pair_ok in F.
  assert (Va : value_ok h start_value w o x = true).
  { destruct (rc l); [|now apply andb_prop in F]. specialize (Fr eq_refl). rewrite <- Pm in Fr.
    apply row_first_ok in Fr. rewrite Fr in F. now apply andb_prop in F. }
  exists pp, x, rr. split; auto. split; auto. split; auto. split; [|split].
  - intros Rc Fr'. rewrite Rc in F. rewrite <- Pm in Fr'. apply row_first_ok in Fr'. rewrite Fr' in F.
    now apply andb_prop in F.
  - intros Rc. rewrite Rc in F. now apply andb_prop in F.
  - exact (value_from q r t w p o s x E I R So Va).
Qed.

Lemma steps_covered : forall q r t w, evs = q ++ (true, t) :: r -> winv q w -> checked w t ->
  l <> ReadCommitted -> forall k, co_step h e k t ->
  In (true, k) q /\ covers (vis w t) k /\
  (l = Causal -> forall x, In x (txns h) -> clos_trans _ (co_step h e) x k -> covers (vis w t) x).
Proof.
  intros q r t w E I C N k S.
  assert (Vi : vis w t = merge (of_reads l w (fun _ => false) (rev_append (pairs_of sources t) [])) (of_session l w t)).
  { unfold all_seen. destruct l; auto. congruence. }
  rewrite Vi. destruct (ev_at q t r E) as (Ct & Ft & It).
  destruct S as [(Ck & _ & S)|(p & o & _ & (s & R) & _ & So)].
  - assert (Ik : In (true, k) q).
    { apply (in_q q _ k E); [apply Ck|].
      assert (X : finish e k < finish e t).
      { apply (replayed_so h start_value 0 weak_shape false evs final wf ran in_h (fun _ => whole) eq_refl k t); auto. }
      rewrite Ft in X. exact X. }
    split; auto. destruct S as (Ss & Lt & Oc).
    assert (Cov : covers (of_session l w t) k /\ (l = Causal -> forall x, In x (txns h) ->
              clos_trans _ (co_step h e) x k -> covers (of_session l w t) x)).
    { pose proof (w_session _ _ I (id t) k Ik Oc Lt) as Ws. unfold of_session. rewrite <- Ss.
      destruct l; try discriminate weak; [congruence| |]; exact Ws. }
    destruct Cov as (A & B). split; [apply merge_right; eauto using of_reads_valid; apply Ck|].
    intros Ca x Hx P. apply merge_right; eauto using of_reads_valid.
  - destruct (pair_checked q r t w p o s E I C R) as (pp & x & rr & Pr & Pm & _ & _ & _ & Sx).
    { intros Rc. clear - Rc N. now destruct l. }
    rewrite So in Sx. destruct x as [i|]; [|discriminate]. destruct Sx as (P & G & Q). injection Q as ->.
    destruct (w_pos _ _ I _ _ G) as (Ip & Idp & At & Va & _). split; auto.
    assert (X : rev_append (pairs_of sources t) [] = rev rr ++ (o, Some (Some i)) :: rev pp).
    { rewrite <- rev_alt, Pr, rev_app_distr. simpl. now rewrite <- app_assoc. }
    assert (Rc : rc l = true -> row_first (rev pp) o = true) by (intros Y; destruct l; try discriminate; congruence).
    destruct (of_reads_covers q _ w (fun _ => false) _ o i P (rev pp) (rev rr) E I X G eq_refl Rc) as (A & B).
    split; [now apply merge_left|].
    intros Ca y Hy Py. apply merge_left; eauto. apply B; auto.
    apply (w_causal _ _ I Ca i P G y Hy Py).
Qed.

Lemma last_step : forall k t, clos_trans _ (co_step h e) k t ->
  co_step h e k t \/ exists m, clos_trans _ (co_step h e) k m /\ co_step h e m t.
Proof.
  intros k t P. apply clos_trans_tn1 in P. inversion P as [? S|m ? S P']; subst; auto.
  right. exists m. split; auto. now apply clos_tn1_trans.
Qed.
Lemma path_covered : forall q r t w, evs = q ++ (true, t) :: r -> winv q w -> checked w t ->
  l = Causal -> forall k, In k (txns h) -> clos_trans _ (co_step h e) k t -> covers (vis w t) k.
Proof.
  intros q r t w E I C Ca k Hk P. assert (N : l <> ReadCommitted) by (rewrite Ca; discriminate).
  destruct (last_step k t P) as [S|(m & P' & S)].
  - now destruct (steps_covered q r t w E I C N k S) as (_ & A & _).
  - destruct (steps_covered q r t w E I C N m S) as (_ & _ & A). auto.
Qed.
Lemma vis_valid : forall q r t w, evs = q ++ (true, t) :: r -> winv q w -> valid (vis w t).
Proof.
  intros q r t w E I. pose proof valid_nothing as Vn.
  assert (Vo : valid (of_session l w t)).
  { assert (V : forall i, valid (before_id i (seen_by w (session t)))).
    { intros i. pose proof (w_session_valid _ _ I (session t)) as V. clear - V Vn.
      induction (seen_by w (session t)) as [|x xs IH]; cbn [before_id]; auto.
      destruct (fst x <? i)%uint63; [apply V; now left|]. apply IH. intros y J. apply V. now right. }
    unfold of_session. destruct l; auto. }
  unfold all_seen. pose proof (of_reads_valid q _ w (fun _ => false) (rev_append (pairs_of sources t) []) E I).
  destruct l; auto; now apply merge_valid.
Qed.

Lemma get_add_writer : forall t z m k xs, writes_key k t = true ->
  (match get m k with Some ys => ys | None => [] end) = xs ->
  exists n, match get (add_writer t z m) k with Some ys => ys | None => [] end = repeat (t, z) (S n) ++ xs.
Proof.
  intros t z m k xs W <-. unfold writes_key in W. unfold add_writer.
  induction (ops t) as [|o os IH] using rev_ind; [discriminate|].
  rewrite fold_left_app. cbn [fold_left]. rewrite last_write_snoc in W.
  destruct (writes o) as [c|] eqn:Wo.
  - rewrite get_put. destruct (sameP (on o) k) as [->|N].
    + destruct (last_write k os) eqn:L.
      * destruct (IH eq_refl) as (n & ->). exists (S n). reflexivity.
      * exists 0%nat. cbn [repeat app]. f_equal. clear - L.
        induction os as [|x os IH] using rev_ind; auto. rewrite fold_left_app. cbn [fold_left].
        rewrite last_write_snoc in L. destruct (writes x) eqn:Wx; [|destruct (on x =? k)%uint63; auto].
        rewrite get_put. destruct (on x =? k)%uint63; [discriminate|auto].
    + auto.
  - destruct (on o =? k)%uint63; auto.
Qed.
Lemma get_add_other : forall t z m k, writes_key k t = false -> get (add_writer t z m) k = get m k.
Proof.
  intros t z m k W. unfold writes_key in W. unfold add_writer.
  induction (ops t) as [|o os IH] using rev_ind; auto.
  rewrite fold_left_app. cbn [fold_left]. rewrite last_write_snoc in W.
  destruct (writes o) as [c|].
  - rewrite get_put. destruct (on o =? k)%uint63; [discriminate|auto].
  - destruct (on o =? k)%uint63; auto.
Qed.
Lemma get_last : forall t (z : Z) (m : M.t (txn * Z)) k,
  get (fold_left (fun m o => match writes o with Some _ => put m (on o) (t, z) | None => m end) (ops t) m) k =
  if writes_key k t then Some (t, z) else get m k.
Proof.
  intros t z m k. unfold writes_key. induction (ops t) as [|o os IH] using rev_ind; auto.
  rewrite fold_left_app. cbn [fold_left]. rewrite last_write_snoc. destruct (writes o).
  - rewrite get_put. destruct (on o =? k)%uint63; auto.
  - destruct (on o =? k)%uint63; auto.
Qed.

Lemma before_event : forall q t r, evs = q ++ (true, t) :: r -> before (is true t) evs = q.
Proof.
  intros q t r E. destruct (at_all h start_value 0 weak_shape false evs final ran) as (_ & A).
  destruct (A q true t r E) as (_ & F). specialize (F eq_refl). apply ac_fresh in F.
  rewrite E, before_at; auto. unfold is. simpl. now rewrite eqb_same.
Qed.

Lemma sorted_repeat : forall (t : txn) z n xs,
  StronglySorted (fun a b : txn * Z => snd b <= snd a) xs -> Forall (fun a => snd a <= z) xs ->
  StronglySorted (fun a b : txn * Z => snd b <= snd a) (repeat (t, z) n ++ xs).
Proof.
  intros t z n xs S F. induction n as [|n IH]; simpl; auto. constructor; auto.
  apply Forall_app. split.
  - apply Forall_forall. intros x J. apply repeat_spec in J. subst. simpl. lia.
  - eapply Forall_impl; [|exact F]. intros x X. exact X.
Qed.

Lemma place_ok : forall q t r w, evs = q ++ (true, t) :: r -> winv q w -> checked w t ->
  winv (q ++ [(true, t)]) (place_txn w t match l with Causal => vis w t | _ => nothing_seen end).
Proof.
  intros q t r w E I C. destruct (ev_at q t r E) as (Ct & Ft & It).
  assert (Nw : now w = finish e t) by (rewrite Ft; apply I).
  assert (Old : forall k, In (true, k) q -> In k (txns h) /\ id k <> id t /\ finish e k < finish e t).
  { intros k Ik. assert (Ck := q_counts q _ k E Ik).
    assert (L : finish e k < finish e t) by (rewrite Ft; apply (in_q q _ k E); [apply Ck|exact Ik]).
    split; [apply Ck|]. split; auto. intros Q. assert (k = t) as -> by (apply unique; auto; apply Ck). lia. }
  assert (Snoc : forall k, In (true, k) (q ++ [(true, t)]) <-> In (true, k) q \/ k = t).
  { intros k. rewrite in_app_iff. simpl. split; intros [X|X]; auto.
    - destruct X as [X|[]]. right. congruence.
    - subst. auto. }
  assert (Vv : valid (match l with Causal => vis w t | _ => nothing_seen end)).
  { pose proof (vis_valid q r t w E I). destruct l; auto using valid_nothing. }
  constructor; unfold place_txn; cbn [now pos lists by_session_key last_of session_seen].
  - rewrite (w_now _ _ I), app_length, Nat2Z.inj_add. reflexivity.
  - intros i p G. rewrite get_put in G. destruct (sameP (id t) i) as [<-|N].
    + injection G as <-. cbn [who at_pos its_seen then_lists]. split; [apply Snoc; auto|].
      split; auto. split; auto. split; auto.
      rewrite (before_event q t r E). apply content_ok_commit, I.
    + destruct (w_pos _ _ I _ _ G) as (A & B). split; [apply Snoc; auto|exact B].
  - intros k J. rewrite get_put. destruct (sameP (id t) (id k)); [eauto|].
    apply Snoc in J. destruct J as [J| ->]; [|congruence]. now apply (w_all _ _ I).
  - apply content_ok_commit, I.
  - intros s x k J O S W. apply Snoc in J. unfold session_writers. cbn [by_session_key].
    destruct (outcome t) eqn:Ot;
      try (destruct J as [J| ->]; [now apply (w_writers _ _ I s x k)|congruence]).
    rewrite get_put. destruct (sameP (session t) s) as [Q|Q].
    + set (m := match get (by_session_key w) (session t) with Some m => m | None => none end).
      assert (Sw : (match get m x with Some ys => ys | None => [] end) = session_writers w s x).
      { unfold m, session_writers. rewrite Q. destruct (get (by_session_key w) s); auto; now rewrite get_none. }
      destruct (writes_key x t) eqn:Wt.
      * destruct (get_add_writer t (now w) m x _ Wt Sw) as (n & ->). rewrite in_app_iff.
        destruct J as [J| ->]; [right; now apply (w_writers _ _ I s x k)|left; left; now rewrite Nw].
      * rewrite (get_add_other t (now w) m x Wt). rewrite Sw.
        destruct J as [J| ->]; [now apply (w_writers _ _ I s x k)|congruence].
    + destruct J as [J| ->]; [now apply (w_writers _ _ I s x k)|congruence].
  - intros s x. destruct (w_sorted _ _ I s x) as (S & F).
    assert (F' : Forall (fun a => In (true, fst a) (q ++ [(true, t)]) /\ snd a = finish e (fst a)) (session_writers w s x)).
    { eapply Forall_impl; [|exact F]. intros a (A & B). split; auto. apply Snoc. auto. }
    assert (Same : StronglySorted (fun a b : txn * Z => snd b <= snd a) (session_writers w s x) /\
      Forall (fun a => In (true, fst a) (q ++ [(true, t)]) /\ snd a = finish e (fst a)) (session_writers w s x)) by auto.
    destruct (outcome t) eqn:Ot; try exact Same.
    unfold session_writers. cbn [by_session_key].
    rewrite get_put. destruct (sameP (session t) s) as [Q|Q]; [|exact Same].
    set (m := match get (by_session_key w) (session t) with Some m => m | None => none end).
    assert (Sw : (match get m x with Some ys => ys | None => [] end) = session_writers w s x).
    { unfold m, session_writers. rewrite Q. destruct (get (by_session_key w) s); auto; now rewrite get_none. }
    destruct (writes_key x t) eqn:Wt.
    + destruct (get_add_writer t (now w) m x _ Wt Sw) as (n & ->). split.
      * apply sorted_repeat; auto. eapply Forall_impl; [|exact F]. intros a (A & B). rewrite B, Nw.
        destruct (Old _ A) as (_ & _ & L). lia.
      * apply Forall_app. split; auto. apply Forall_forall. intros a J. apply repeat_spec in J. subst a.
        cbn [fst snd]. split; [apply Snoc; auto|exact Nw].
    + rewrite (get_add_other t (now w) m x Wt), Sw. exact Same.
  - intros x k J W. rewrite get_last. apply Snoc in J. destruct (writes_key x t) eqn:Wt.
    + exists t. rewrite Nw. split; auto. split; [|apply Snoc; auto].
      destruct J as [J| ->]; [destruct (Old _ J) as (_ & _ & L)|]; lia.
    + destruct J as [J| ->]; [|congruence]. destruct (w_last _ _ I x k J W) as (k' & A & B & D).
      exists k'. split; auto. split; auto. apply Snoc. auto.
  - intros i k J O Lt. apply Snoc in J. unfold seen_by. cbn [session_seen].
    fold (seen_by w (session k)). destruct (outcome t) eqn:Ot.
    2, 3: destruct J as [J| ->]; [now apply (w_session _ _ I)|congruence].
    rewrite get_put. destruct (sameP (session t) (session k)) as [Q|Q].
    2: { fold (seen_by w (session k)). destruct J as [J| ->]; [now apply (w_session _ _ I)|congruence]. }
    cbn [before_id fst snd]. destruct (id t <? i)%uint63 eqn:Li.
    2: { rewrite Q. destruct J as [J| ->]; [now apply (w_session _ _ I)|].
         apply not_true_iff_false in Li. rewrite ltb_lt in Li. contradiction. }
    rewrite Nw. split.
    + left. split; auto. unfold see. rewrite Ot. cbn [upto].
      destruct (raise_has (upto match l with Causal => vis w t | _ => nothing_seen end) (session t) (finish e t)) as (y & G & Y).
      rewrite <- Q. exists y. split; [exact G|]. destruct J as [J| ->]; [|exact Y].
      destruct (Old k J) as (_ & _ & L). lia.
    + intros Ca x Hx P.
      assert (Vc : (match l with Causal => vis w t | _ => nothing_seen end) = vis w t) by (rewrite Ca; reflexivity).
      assert (N : l <> ReadCommitted) by (rewrite Ca; discriminate).
      rewrite Vc. apply see_keeps; auto. destruct J as [J| ->]; [|now apply (path_covered q r t w E I C Ca)].
      destruct (Old k J) as (Hk & Nid & L).
      assert (So : so k t).
      { split; auto. split; auto. destruct (Z.lt_trichotomy (to_Z (id k)) (to_Z (id t))) as [X|[X|X]]; auto.
        - exfalso. apply Nid. now apply to_Z_inj.
        - exfalso. assert (Y : finish base t < start base k).
          { apply (replayed_so h start_value 0 weak_shape false evs final wf ran in_h (fun _ => whole) eq_refl t k); auto.
            - apply (q_counts q _ k E J).
            - split; auto. }
          assert (Z : finish e t < finish e k) by exact Y. lia. }
      assert (St : co_step h e k t) by (left; split; [apply (q_counts q _ k E J)|split; auto]).
      destruct (steps_covered q r t w E I C N k St) as (_ & _ & B). auto.
  - intros s x J. unfold seen_by in J. cbn [session_seen] in J.
    destruct (outcome t); try (now apply (w_session_valid _ _ I s x)).
    rewrite get_put in J. destruct (sameP (session t) s); [|now apply (w_session_valid _ _ I s x)].
    destruct J as [<-|J]; [|now apply (w_session_valid _ _ I (session t) x)].
    cbn [snd]. rewrite Nw. now apply see_valid.
  - intros Ca i p G x Hx P. rewrite get_put in G. destruct (sameP (id t) i) as [<-|N].
    + injection G as <-. cbn [its_seen who] in *.
      assert (Vc : (match l with Causal => vis w t | _ => nothing_seen end) = vis w t) by (rewrite Ca; reflexivity).
      rewrite Vc. now apply (path_covered q r t w E I C Ca).
    + now apply (w_causal _ _ I Ca i p G).
Qed.

Lemma walk_at : forall order q r w, winv q w -> evs = q ++ r ->
  Forall2 (fun i x => get table i = Some (snd x)) order r ->
  weak_walk h start_value l table sources w order = true ->
  forall q' t r', r = q' ++ (true, t) :: r' -> exists w', winv (q ++ q') w' /\ checked w' t.
Proof.
  induction order as [|i order IH]; intros q r w I E F W q' t r' R.
  - inversion F; subst. now destruct q'.
  - destruct r as [|x r1]; [now inversion F|].
    assert (G : get table i = Some (snd x)) by now inversion F.
    assert (F' : Forall2 (fun i x => get table i = Some (snd x)) order r1) by now inversion F.
    cbn [weak_walk] in W. rewrite G in W.
    apply andb_prop in W. destruct W as (C & W). destruct x as (b & t0). cbn [snd] in *.
    assert (b = true) as ->.
    { apply (whole (b, t0)). rewrite E. apply in_or_app. right. now left. }
    destruct q' as [|y q']; injection R as R1 R2.
    + subst. exists w. rewrite app_nil_r. auto.
    + subst y. assert (E' : evs = (q ++ [(true, t0)]) ++ r1) by now rewrite <- app_assoc.
      destruct (IH _ r1 _ (place_ok q t0 r1 w E I C) E' F' W q' t r' R2) as (w' & A & B).
      exists w'. rewrite <- app_assoc in A. auto.
Qed.

Section Final.
Variable order : list int.
Hypothesis same : Forall2 (fun i x => get table i = Some (snd x)) order evs.
Hypothesis accepted : weak_walk h start_value l table sources no_walk order = true.

Lemma at_txn : forall t, counts h e t -> exists q r w, evs = q ++ (true, t) :: r /\ winv q w /\
  checked w t /\ finish e t = Z.of_nat (length q).
Proof.
  intros t C. destruct (committed_at h start_value 0 weak_shape false evs final wf ran in_h t C)
    as (q & r & E & _ & Fi & _).
  destruct (walk_at order [] evs no_walk winv_none eq_refl same accepted q t r E) as (w & A & B).
  exists q, r, w. auto.
Qed.

Lemma weak_other : forall t p o s, counts h e t -> reads_other t p o s -> sees_other h e t p o s.
Proof.
  intros t p o s C R. destruct (at_txn t C) as (q & r & w & E & I & Ch & Fi).
  destruct (external_pair t p o s R) as (pp & x & rr & Pr & Pm & St).
  pose proof (each_pair_all _ _ [] Ch pp (o, Some x) rr Pr) as F. simpl app in F. unfold pair_ok in F.
  pose proof R as ((_ & Se & _) & _).
  assert (V : value_ok h start_value w o x = true \/ later_ok h table sources t o x = true).
  { destruct (rc l).
    - match type of F with (if ?b then _ else _) = true => destruct b end; [apply andb_prop in F; left; apply F|now apply orb_prop in F].
    - apply andb_prop in F. left. apply F. }
  destruct V as [Va|La].
  2: { unfold later_ok in La. destruct x as [i|]; [|discriminate]. rewrite Se in La.
    apply andb_prop in La. destruct La as (La & Va). apply andb_prop in La. destruct La as (Ni & Hi).
    destruct (in_order i Hi) as (x & Ix & <-).
    assert (Cx : counts h e x) by (apply (q_counts evs [] x); [now rewrite app_nil_r|exact Ix]).
    rewrite (index_txns_all (txns h) x wf (proj1 Cx)) in St, Va. unfold sees_other. rewrite St.
    destruct (last_write (on o) (ops x)) as [c|] eqn:L; [|discriminate]. split.
    - split; [split; auto; congruence|]. intros ->. now rewrite eqb_same in Ni.
    - destruct s as [v| |v|vs]; [| | |discriminate]; cbn [sees_version version]; rewrite L; exact Va. }
  pose proof (value_from q r t w p o s x E I R St Va) as So.
  unfold sees_other. unfold value_ok in Va. rewrite Se in Va.
  destruct x as [i|].
  - destruct So as (P & G & ->). rewrite G in Va.
    destruct (w_pos _ _ I _ _ G) as (Ip & Idp & At & _ & Cn).
    assert (Cp := q_counts q _ _ E Ip).
    destruct (last_write (on o) (ops (who P))) as [c|] eqn:L; [|discriminate].
    assert (Wp : writer h e (on o) (who P)) by (split; auto; congruence).
    assert (Lt : finish e (who P) < finish e t) by (rewrite Fi; apply (in_q q _ _ E); auto; apply Cp).
    split; [split; auto; intros Q; rewrite Q in Lt; lia|].
    destruct s as [v| |v|vs]; cbn [sees_version version]; try (rewrite L; exact Va).
    apply same_list_eq in Va. rewrite <- rev_alt, (Cn (on o)) in Va.
    apply (f_equal (@rev _)) in Va. rewrite !rev_involutive in Va. subst vs.
    destruct (committed_at h start_value 0 weak_shape false evs final wf ran in_h (who P) Cp)
      as (q1 & r1 & E1 & _ & F1 & _). rewrite (before_event q1 (who P) r1 E1).
    assert (E2 : evs = (q1 ++ [(true, who P)]) ++ r1) by now rewrite <- app_assoc.
    pose proof (list_at h start_value 0 weak_shape false evs final wf ran in_h (on o) _ _ E2) as Li.
    eapply (list_of_ext h weak_shape evs (on o)); [|exact Li]. intros a Wa. cbn beta.
    rewrite app_length, Nat2Z.inj_add. cbn [length Z.of_nat Pos.of_succ_nat].
    assert (F1' : finish e (who P) = Z.of_nat (length q1)) by exact F1.
    change (finish base a < Z.of_nat (length q1) + 1 <-> finish base a <= finish e (who P)).
    rewrite F1'. lia.
  - rewrite So. split; auto.
    destruct s as [v| |v|vs]; cbn [sees_version version]; try (rewrite <- start_value_ok; exact Va).
    destruct vs; [|discriminate]. exists []. split; [constructor|]. split; auto. intros a. simpl. tauto.
Qed.

Lemma weak_sound : weak_level h e l.
Proof.
  assert (Ex : forall t p o s w0, counts h e t -> reads_other t p o s -> (rc l = true -> first_row p o) ->
            source e t (length p) = Some w0 -> finish e w0 < finish e t).
  { intros t p o s w0 C R Fr So. destruct (at_txn t C) as (q & r & w & E & I & Ch & Fi).
    destruct (pair_checked q r t w p o s E I Ch R Fr) as (pp & x & rr & _ & _ & _ & _ & _ & Sx).
    rewrite So in Sx. destruct x as [i|]; [|discriminate]. destruct Sx as (P & G & Q). injection Q as ->.
    destruct (w_pos _ _ I _ _ G) as (Ip & _). rewrite Fi. apply (in_q q _ _ E); auto. apply (q_counts q _ _ E Ip). }
  assert (Lt : rc l = false -> forall a b, co_step h e a b -> finish e a < finish e b).
  { intros Rc a b [(Ca & Cb & S)|(p & o & Cb & (s & R) & _ & So)]; [|eapply Ex; eauto; congruence].
    exact (replayed_so h start_value 0 weak_shape false evs final wf ran in_h (fun _ => whole) eq_refl a b Ca Cb S). }
  destruct (replayed_live h start_value 0 weak_shape false evs final ran all) as (Lc & La).
  split; [split; [exact Lc|split; [exact La|]]|split; [|split; [|split]]].
  - intros t p o s C R. destruct (last_write (on o) p) as [c|] eqn:L.
    + exact (replayed_own h start_value 0 weak_shape false evs final wf ran in_h (fun _ => whole) t p o s c C R L).
    + apply weak_other; auto. split; auto.
  - exact (replayed_apart h weak_shape evs wf in_h).
  - intros i j (Ci & Cj & S).
    exact (replayed_so h start_value 0 weak_shape false evs final wf ran in_h (fun _ => whole) eq_refl i j Ci Cj S).
  - intros w0 t p o (C & (s & R) & Fr & So). eapply Ex; eauto.
  - intros t p o s k C R Fr (Ck & Wk) Ph Ne. destruct (at_txn t C) as (q & r & w & E & I & Ch & Fi).
    destruct (pair_checked q r t w p o s E I Ch R Fr) as (pp & x & rr & Pr & Pm & Va & N1 & N2 & So).
    assert (Wk' : writes_key (on o) k = true).
    { unfold writes_key. destruct (last_write (on o) (ops k)); congruence. }
    assert (Src : forall i, x = Some i -> exists P, get (pos w) i = Some P).
    { intros i ->. destruct So as (P & G & _). eauto. }
    assert (Idk : match x with Some i => id k <> i | None => True end).
    { destruct x as [i|]; auto. destruct So as (P & G & So). intros Q. apply Ne. rewrite So. f_equal.
      destruct (w_pos _ _ I _ _ G) as (Ip & Idp & _). apply unique; [apply (q_counts q _ _ E Ip)|apply Ck|congruence]. }
    assert (V : exists v, In (true, k) q /\ covers v k /\ none_missed w v o x = true).
    { assert (Cs : l = ReadCommitted \/ l = ReadAtomic \/ l = Causal).
      { clear - weak. destruct l; auto; discriminate. }
      destruct Cs as [Lv|[Lv|Lv]]; rewrite Lv in Ph; cbn [phi] in Ph.
      - assert (Rc : rc l = true) by (unfold rc; rewrite Lv; reflexivity).
        assert (Fr' : first_row p o) by (apply Fr; rewrite Lv; reflexivity). rename Fr' into Fr0.
        destruct Ph as (p' & o' & rest & Pq & Nu & (_ & (s' & R') & Fr' & So')).
        destruct (pair_checked q r t w p' o' s' E I Ch R' (fun _ => Fr' eq_refl)) as (pp' & x' & rr' & Pr' & Pm' & _ & _ & _ & Sx').
        rewrite So' in Sx'. destruct x' as [i'|]; [|discriminate]. destruct Sx' as (P & G & Q). injection Q as ->.
        destruct (w_pos _ _ I _ _ G) as (Ip & _). exists (of_reads l w (fun o' => (number o' =? number o)%uint63) (rev pp)).
        split; auto. split; [|apply N1; auto].
        assert (Lq : exists mid, pp = pp' ++ (o', Some (Some i')) :: mid).
        { assert (Len : (length pp' < length pp)%nat).
          { rewrite <- (map_length fst pp), <- (map_length fst pp'), Pm, Pm', Pq, app_length. simpl. lia. }
          rewrite Pr in Pr'. clear - Pr' Len. revert pp' Pr' Len. induction pp as [|y pp IH]; intros [|y' pp'] Pr' Len; simpl in *; try lia.
          - injection Pr' as -> _. eauto.
          - injection Pr' as -> Pr'. destruct (IH pp' Pr') as (mid & ->); [lia|]. eauto. }
        destruct Lq as (mid & ->). rewrite rev_app_distr. simpl rev. rewrite <- app_assoc. simpl app.
        refine (proj1 (of_reads_covers q _ w (fun o' => (number o' =? number o)%uint63) _ o' i' P (rev pp') (rev mid) E I eq_refl G _ _)).
        + apply not_true_iff_false. rewrite eqb_id. exact Nu.
        + intros _. apply row_first_ok. rewrite Pm'. now apply Fr'.
      - assert (Rc : rc l = false) by (unfold rc; rewrite Lv; reflexivity).
        assert (Nl : l <> ReadCommitted) by (rewrite Lv; discriminate).
        exists (vis w t). destruct (steps_covered q r t w E I Ch Nl k Ph) as (A & B & _).
        split; auto.
      - assert (Rc : rc l = false) by (unfold rc; rewrite Lv; reflexivity).
        exists (vis w t).
        assert (Cv : covers (vis w t) k) by (apply (path_covered q r t w E I Ch Lv); auto; apply Ck).
        split; [|split; [exact Cv|now apply N2]].
        apply (in_q q _ k E); [apply Ck|].
        specialize (Lt Rc). assert (X : finish e k < finish e t).
        { clear - Ph Lt. induction Ph as [a b St|a b d P1 L1 P2 L2]; [auto|]. eapply Z.lt_trans; eauto. }
        rewrite Fi in X. exact X. }
    destruct V as (v & Ik & Cv & Nm).
    pose proof (none_missed_ok q _ w v o x k E I Nm Ik Cv Wk' Src Idk) as Res.
    destruct x as [i|]; [|contradiction]. destruct Res as (P' & G' & L).
    destruct So as (P & G & ->). rewrite G in G'. injection G' as ->. exact L.
Qed.
End Final.
End Sound.

Lemma walk_same : forall h sv td sh vl table order st st', two sh = false ->
  walk h sv td sh vl table st order = Some st' ->
  exists xs, steps h sv td sh vl st xs = Some st' /\
             Forall2 (fun i x => get table i = Some (snd x)) order xs /\
             Forall (fun x => fst x = true) xs.
Proof.
  intros h sv td sh vl table order. induction order as [|i order IH]; cbn [walk]; intros st st' T H.
  - exists []. injection H as <-. simpl. auto.
  - destruct (get table i) as [t|] eqn:G; [|discriminate]. rewrite T in H.
    destruct (step h sv td sh vl st (true, t)) as [st1|] eqn:S; [|discriminate].
    destruct (IH _ _ T H) as (xs & R & F & W).
    exists ((true, t) :: xs). cbn [steps]. rewrite S. split; [|split]; auto.
Qed.

Theorem check_weak_sound : forall h l entries, check_weak h l entries = true ->
  well_formed h /\ is_weak_level l = true /\ exists e, weak_level h e l.
Proof.
  intros h l entries H. unfold check_weak in H. apply andb_prop in H. destruct H as (H & R).
  apply andb_prop in H. destruct H as (Wk & A). apply ascending_sorted in A. destruct A as (Wf & _).
  fold (well_formed h) in Wf. split; auto. split; auto. cbn zeta in R. apply andb_prop in R. destruct R as (R & W).
  unfold replay in R. destruct (walk _ _ _ _ _ _ _ _) as [st|] eqn:Wa; [|discriminate].
  apply walk_same in Wa; [|reflexivity]. destruct Wa as (evs & S & F & Wh).
  eexists. eapply (weak_sound h (initial_in h (initial_map h)) l _ evs st); eauto using initial_map_ok.
  - intros x I. clear - F I. induction F as [|i y order evs G F IH]; [destruct I|].
    destruct I as [<-|I]; auto. now apply index_txns_in in G.
  - intros x I. rewrite Forall_forall in Wh. auto.
  - intros i Hi.
    assert (J : In i (map fst entries)).
    { assert (G : forall xs (m : M.t (list (option int))),
        has (fold_left (fun m x => put m (fst x) (snd x)) xs m) i = true -> has m i = true \/ In i (map fst xs)).
      { clear. induction xs as [|x xs IH]; cbn [fold_left map]; auto. intros m Hm. apply IH in Hm.
        destruct Hm as [Hm|]; [|right; now right]. rewrite has_put in Hm. apply orb_prop in Hm.
        destruct Hm as [Hm|Hm]; auto. apply eqb_id in Hm. right. now left. }
      destruct (G _ _ Hi) as [X|X]; auto. unfold has in X. now rewrite get_none in X. }
    assert (Or : forall xs acc, fold_left (fun (l0 : list int) (x : int * list (option int)) => fst x :: l0) xs acc =
                   rev (map fst xs) ++ acc).
    { clear. induction xs as [|x xs IH]; auto. intros acc. cbn [fold_left map rev]. now rewrite IH, <- app_assoc. }
    rewrite Or, app_nil_r, <- rev_alt, rev_involutive in F.
    clear - F J Wh. induction F as [|y x order evs G F IH]; [destruct J|]. inversion Wh; subst.
    destruct J as [->|J].
    + apply index_txns_in in G. destruct G as (_ & G). exists (snd x). split; auto. left.
      destruct x. cbn [fst snd] in *. congruence.
    + destruct IH as (z & A & B); auto. exists z. split; auto. now right.
Qed.
