(* Certificates of "violated": clauses about an execution, each an axiom of the level or a
   consequence of earlier ones (Clauses.v), up to the empty clause.

   [conclude] says which clause an axiom gives for a history; there is one lemma for each
   axiom, that its clause holds in every execution in which all transactions count that may
   (Extend.v). [refute_sound] is the theorem. The axioms are the rules of
   docs/reference/formats/certificate.md, "Derivations", without their paths: those are cycles here. *)
From Coq Require Import List ZArith Uint63 Bool Sorted Relations Lia.
From Cupel Require Import History Levels Order Witness Extend Clauses.
Import ListNotations.
Local Open Scope Z_scope.

Inductive hop :=
| BySession (j : int)        (* to a later transaction of the session *)
| ByRead (j n : int)         (* to one whose operation n read from here *)
| ByLater (j n : int).       (* or from a later one of the session *)

Inductive axiom :=
| Cycle (xs : list (bool * int))                     (* no cycle of events *)
| Own (t : int)                                      (* begin before commit *)
| Session (i j : int)
| RealTime (i j : int)
| Reads (t n w : int)                                (* wr *)
| Candidates (t n : int)                             (* a read saw one of them *)
| NotFrom (t n : int) (w : option int)               (* and nobody else *)
| SourceCounts (t n w : int)                         (* who was read from took effect *)
| SameVersion (t n m : int) (w : option int)         (* so did another read of the key *)
| Mismatch (t n : int)                               (* a read misses an own write *)
| NoOverlap (k a b : int)                            (* ww *)
| Overwritten (t n : int) (w : option int) (b : int) (* rw *)
| Visible (t n : int) (w : option int) (k : int) (path : list hop)  (* phi *)
| ListOrder (t n a v b v' : int)                     (* ww by a list *)
| Conflict (t n t' n' : int)                         (* two lists, neither the other's beginning *)
| TooOften (t n v : int) (xs : list int)             (* more of an element than but xs appended *)
| Within (up : bool) (t n w x : int)                 (* x is w or of its session, earlier or later *)
| OneWithin (up : bool) (t n w : int)                (* a bound means one of them *)
(* Places in lists, from 0. *)
| Stands (t n p : int)                               (* an append stands at the place *)
| Fits (t n w q : int)                               (* w's appends cannot begin there *)
| Places (k a p b q : int)                           (* two writers' appends are apart, and so ordered *)
| Precedes (t n a p b : int)                         (* before a's place, if b is before a *)
| Ends (t n w q : int)                               (* a list read ends with its writer's appends *)
| OwnBegins (t n q : int)                            (* or with the own ones so far *)
| PlaceCounts (k w q : int).                         (* who appended took effect *)

Definition nat_of (n : int) : nat := Z.to_nat (to_Z n).

(* Who writes each key, each once. *)
Definition note (t : txn) (m : M.t (list txn)) (o : op) : M.t (list txn) :=
  match writes o with
  | None => m
  | Some _ =>
      match get m (on o) with
      | Some (x :: l) => if (id x =? id t)%uint63 then m else put m (on o) (t :: x :: l)
      | _ => put m (on o) [t]
      end
  end.
Definition writer_index (ts : list txn) : M.t (list txn) :=
  fold_left
    (fun m t => match outcome t with Aborted => m | _ => fold_left (note t) (ops t) m end) ts none.

Fixpoint is_prefix (a b : list int) : bool :=
  match a, b with
  | [], _ => true
  | x :: a, y :: b => (x =? y)%uint63 && is_prefix a b
  | _, [] => false
  end.
Definition holds_int (v : int) (l : list int) : bool := existsb (fun x => (x =? v)%uint63) l.
Fixpoint up_to (v : int) (l : list int) : option (list int) :=  (* what precedes the first v *)
  match l with
  | [] => None
  | x :: r => if (x =? v)%uint63 then Some [] else
                match up_to v r with Some p => Some (x :: p) | None => None end
  end.
Definition copies (v : int) (l : list int) : nat := length (filter (fun x => (x =? v)%uint63) l).
Definition appended (k v : int) (ws : list txn) : nat :=
  fold_right (fun w n => (copies v (appends k (ops w)) + n)%nat) 0%nat ws.

(* What is left from the place on; places where an append of [v] would let all begin so that it
   stands at [p]; is there a place d; where before p the list goes on with [b]. *)
Fixpoint drop (q : int) (l : list int) : option (list int) :=
  if (q =? 0)%uint63 then Some l else match l with [] => None | _ :: r => drop (q - 1)%uint63 r end.
Fixpoint starts (v : int) (b : list int) (p : int) : list int :=
  match b with
  | [] => []
  | x :: r => (if (x =? v)%uint63 then [p] else []) ++
              if (p =? 0)%uint63 then [] else starts v r (p - 1)%uint63
  end.
Fixpoint reaches (b : list int) (d : int) : bool :=
  match b with [] => false | _ :: r => (d =? 0)%uint63 || reaches r (d - 1)%uint63 end.
Fixpoint matches (q p : int) (b l : list int) : list int :=
  match l with
  | [] => []
  | _ :: r => if (q <? p)%uint63
              then (if is_prefix b l then [q] else []) ++ matches (q + 1)%uint63 p b r
              else []
  end.
Definition same_elements (a b : list int) : bool := is_prefix a b && (length a =? length b)%nat.
Definition without (t : txn) (xs : list int) (ws : list txn) : list txn :=
  filter (fun w => negb (id w =? id t)%uint63 && negb (holds_int (id w) xs)) ws.

Section Of.
Variables (h : history) (drift : int) (l : level).
Variables (table : M.t txn) (index : M.t (list txn)).

Definition splits : bool := match shape_of l with Some sh => two sh | None => false end.
Definition is_weak : bool := match shape_of l with Some _ => false | None => true end.
Definition is_rc : bool := match l with ReadCommitted => true | _ => false end.
Definition at_start : bool := negb splits.  (* the event that a read is at *)

Definition known_event (x : bool * int) : bool := has table (snd x) && (splits || fst x).
Definition same_event (x y : bool * int) : bool := (snd x =? snd y)%uint63 && Bool.eqb (fst x) (fst y).
Definition below (x y : bool * int) : bool :=
  ((snd x <? snd y) || (snd x =? snd y) && negb (fst x) && fst y)%uint63.
Definition lt (x y : bool * int) : literal :=
  if below x y then (true, Lt (fst x) (snd x) (fst y) (snd y))
  else (false, Lt (fst y) (snd y) (fst x) (snd x)).

Definition guard (t : txn) : option clause :=
  match outcome t with
  | Committed => Some []
  | Aborted => None
  | Indeterminate => Some (if blind t then [] else [(false, Lives (id t))])
  end.
Definition with_txn (i : int) (f : txn -> option clause) : option clause :=
  match get table i with
  | None => None
  | Some t =>
      match guard t, f t with
      | Some g, Some c => Some (g ++ c)
      | _, _ => None
      end
  end.
Definition at_read (t : txn) (n : int) (f : list op -> op -> seen -> option clause) : option clause :=
  match nth_error (ops t) (nat_of n) with
  | None => None
  | Some o =>
      match sees o with
      | Some s => if knows t o then f (firstn (nat_of n) (ops t)) o s else None
      | None => None
      end
  end.
(* A read of another's version that takes part in wr at this level. *)
Definition first_row_b (p : list op) (o : op) : bool :=
  forallb (fun x => negb ((number x =? number o) && (on x =? on o))%uint63) p.
Definition external (p : list op) (o : op) : bool :=
  match last_write (on o) p with None => true | Some _ => false end.
Definition only_if (b : bool) (c : clause) : option clause := if b then Some c else None.

Definition may_end (vs : list int) (c : change) : bool :=
  match c with
  | Append v => match rev_append vs [] with [] => false | x :: _ => (x =? v)%uint63 end
  | _ => true
  end.
Definition may_see (t : txn) (o : op) (s : seen) (w : option txn) : bool :=
  match w with
  | None =>
      match s with
      | Elements vs => match vs with [] => true | _ => false end
      | _ => fits h s (initial h (on o))
      end
  | Some x =>
      negb (id x =? id t)%uint63 &&
      match last_write (on o) (ops x) with
      | None => false
      | Some c => match s with Elements vs => may_end vs c | _ => fits h s c end
      end
  end.
Definition writers_of (k : int) : list txn := match get index k with Some ts => ts | None => [] end.
Definition saw (t n : int) (w : option int) : literal := (true, Saw t n w).
Definition not_saw (t n : int) (w : option int) : literal := (false, Saw t n w).

Fixpoint cycle_from (first now : bool * int) (rest : list (bool * int)) : option clause :=
  match rest with
  | [] => only_if (negb (same_event now first)) [lt first now]
  | y :: rest =>
      if known_event y && negb (same_event now y) then
        match cycle_from first y rest with Some c => Some (lt y now :: c) | None => None end
      else None
  end.

Definition so_b (i j : txn) : bool :=
  ((session i =? session j) && (id i <? id j))%uint63 && is_committed i.
Definition rt_b (i j : txn) : bool :=
  negb (id i =? id j)%uint63 && is_committed i &&
  match completed i, invoked j with
  | Some c, Some v => ((c <? v) && (drift + drift <? v - c))%uint63
  | _, _ => false
  end.

Definition shape_has (f : shape -> bool) : bool :=
  match shape_of l with Some sh => f sh | None => false end.

(* The path from [now] to [t]: its ByRead hops as literals. *)
Fixpoint hops (now : txn) (path : list hop) (t : txn) : option clause :=
  match path with
  | [] => only_if (id now =? id t)%uint63 []
  | x :: rest =>
      match x with
      | BySession j =>
          match get table j with
          | None => None
          | Some u => if so_b now u then hops u rest t else None
          end
      | ByRead j n =>
          match get table j with
          | None => None
          | Some u =>
              match at_read u n (fun p o _ => only_if (external p o) []) with
              | None => None
              | Some _ =>
                  match hops u rest t with
                  | Some c => Some (not_saw j n (Some (id now)) :: c)
                  | None => None
                  end
              end
          end
      | ByLater j n =>
          match get table j with
          | None => None
          | Some u =>
              match at_read u n (fun p o _ => only_if (external p o) []) with
              | None => None
              | Some _ =>
                  match hops u rest t with
                  | Some c => Some ((false, Bounded false j n (id now)) :: c)
                  | None => None
                  end
              end
          end
      end
  end.
Definition one_step (x : hop) : bool := match x with ByLater _ _ => false | _ => true end.
(* What phi asks of the path, beside that it is one. *)
Definition path_fits (t : txn) (p : list op) (o : op) (path : list hop) : bool :=
  match l with
  | ReadCommitted =>
      match path with
      | [ByRead j n] =>
          (j =? id t)%uint63 &&
          match nth_error p (nat_of n) with
          | Some o' => negb (number o' =? number o)%uint63 && first_row_b (firstn (nat_of n) p) o'
          | None => false
          end
      | _ => false
      end
  | ReadAtomic => match path with [x] => one_step x | _ => false end
  | Causal => match path with [] => false | _ => true end
  | _ => false
  end.

(* x is w, or of its session: an earlier one, or a later one. *)
Definition within (up : bool) (w x : txn) : bool :=
  (id x =? id w)%uint63 || if up then so_b x w else so_b w x.
Definition row_ok (p : list op) (o : op) : bool :=
  negb (external p o) || negb is_rc || first_row_b p o.
Definition begins (k : int) (w : int) (q : int) : literal := (true, Begins k w q).
Definition not_begins (k : int) (w : int) (q : int) : literal := (false, Begins k w q).

Definition conclude (a : axiom) : option clause :=
  match a with
  | Cycle [] => None
  | Cycle (x :: rest) => if known_event x then cycle_from x x rest else None
  | Own t => with_txn t (fun t => only_if splits [lt (false, id t) (true, id t)])
  | Session i j =>
      with_txn i (fun i => with_txn j (fun j =>
        only_if (so_b i j && (is_weak || shape_has sessions)) [lt (true, id i) (at_start, id j)]))
  | RealTime i j =>
      with_txn i (fun i => with_txn j (fun j =>
        only_if (rt_b i j && shape_has rt_any && small drift)
          [lt (true, id i) (if shape_has rt_begin then at_start else true, id j)]))
  | Reads t n w =>
      match get table t, get table w with
      | Some t, Some w =>
          at_read t n (fun p o s =>
            only_if (external p o && negb (id w =? id t)%uint63 && (negb is_rc || first_row_b p o))
              [not_saw (id t) n (Some (id w)); lt (true, id w) (at_start, id t)])
      | _, _ => None
      end
  | Candidates t n =>
      with_txn t (fun t => at_read t n (fun p o s =>
        only_if (external p o)
          ((if may_see t o s None then [saw (id t) n None] else []) ++
           map (fun w => saw (id t) n (Some (id w)))
             (filter (fun w => may_see t o s (Some w)) (writers_of (on o))))))
  | NotFrom t n w =>
      match get table t with
      | None => None
      | Some t =>
          at_read t n (fun p o s =>
            only_if (external p o &&
                     match w with
                     | None => negb (may_see t o s None)
                     | Some i => match get table i with
                                 | Some x => negb (may_see t o s (Some x))
                                 | None => true
                                 end
                     end) [not_saw (id t) n w])
      end
  | SourceCounts t n w =>
      match get table t, get table w with
      | Some t, Some w =>
          at_read t n (fun p o _ =>
            only_if (external p o) [not_saw (id t) n (Some (id w)); (true, Lives (id w))])
      | _, _ => None
      end
  | SameVersion t n m w =>
      match get table t with
      | None => None
      | Some t =>
          at_read t n (fun p o _ => at_read t m (fun p' o' _ =>
            only_if (negb is_rc && external p o && external p' o' && (on o =? on o')%uint63)
              [not_saw (id t) n w; saw (id t) m w]))
      end
  | Mismatch t n =>
      with_txn t (fun t => at_read t n (fun p o s =>
        match last_write (on o) p with
        | None => None
        | Some c =>
            only_if match s with
                    | Elements vs =>
                        negb (is_prefix (rev_append (appends (on o) p) []) (rev_append vs []))
                    | _ => negb (fits h s c)
                    end []
        end))
  | NoOverlap k a b =>
      with_txn a (fun a => with_txn b (fun b =>
        only_if (shape_has apart && writes_key k a && writes_key k b && negb (id a =? id b)%uint63)
          [lt (true, id b) (true, id a); lt (true, id a) (at_start, id b)]))
  | Overwritten t n w b =>
      match get table t with
      | None => None
      | Some t =>
          with_txn b (fun b => at_read t n (fun p o _ =>
            only_if (negb is_weak && external p o && writes_key (on o) b && negb (id b =? id t)%uint63 &&
                     match w with
                     | None => true
                     | Some i => negb (i =? id b)%uint63 && has table i
                     end)
              (not_saw (id t) n w ::
               (match w with None => [] | Some i => [lt (true, id b) (true, i)] end) ++
               [lt (at_start, id t) (true, id b)])))
      end
  | Visible t n w k path =>
      match get table t, get table k with
      | Some t, Some k =>
          at_read t n (fun p o _ =>
            match hops k path t with
            | None => None
            | Some c =>
                only_if (is_weak && external p o && (negb is_rc || first_row_b p o) &&
                         writes_key (on o) k && path_fits t p o path &&
                         match w with
                         | None => true
                         | Some i => negb (i =? id k)%uint63 && has table i
                         end)
                  (c ++ not_saw (id t) n w ::
                   match w with None => [] | Some i => [lt (true, id k) (true, i)] end)
            end)
      | _, _ => None
      end
  | ListOrder t n a v b v' =>
      match get table a with
      | None => None
      | Some a =>
          with_txn t (fun t => with_txn b (fun b => at_read t n (fun p o s =>
            match s with
            | Elements vs =>
                match up_to v vs with
                | None => None
                | Some before =>
                    only_if (holds_int v' (appends (on o) (ops b)) && negb (holds_int v' before) &&
                             negb (id a =? id b)%uint63 &&
                             forallb (fun w => (id w =? id a)%uint63 ||
                                               negb (holds_int v (appends (on o) (ops w))))
                               (writers_of (on o)))
                      [lt (true, id a) (true, id b)]
                end
            | _ => None
            end)))
      end
  | Conflict t n t' n' =>
      with_txn t (fun t => with_txn t' (fun t' => at_read t n (fun _ o s => at_read t' n' (fun _ o' s' =>
        match s, s' with
        | Elements vs, Elements vs' =>
            only_if ((on o =? on o')%uint63 && negb (is_prefix vs vs') && negb (is_prefix vs' vs)) []
        | _, _ => None
        end))))
  | TooOften t n v xs =>
      with_txn t (fun t => at_read t n (fun p o s =>
        match s with
        | Elements vs =>
            only_if (row_ok p o && forallb (has table) xs &&
                     (appended (on o) v (without t xs (writers_of (on o))) + copies v (appends (on o) p) <?
                      copies v vs)%nat)
              (map (fun x => (true, Lives x)) xs)
        | _ => None
        end))
  | Within up t n w x =>
      match get table t, get table w, get table x with
      | Some t, Some w, Some x =>
          at_read t n (fun p o _ =>
            only_if (external p o && within up w x)
              [not_saw (id t) n (Some (id x)); (true, Bounded up (id t) n (id w))])
      | _, _, _ => None
      end
  | OneWithin up t n w =>
      match get table t, get table w with
      | Some t, Some w =>
          at_read t n (fun p o s =>
            only_if (external p o)
              ((false, Bounded up (id t) n (id w)) ::
               map (fun x => saw (id t) n (Some (id x)))
                 (filter (fun x => within up w x && may_see t o s (Some x)) (writers_of (on o)))))
      | _, _ => None
      end
  | Stands t n p =>
      with_txn t (fun t => at_read t n (fun _ o s =>
        match s with
        | Elements vs =>
            match drop p vs with
            | Some (v :: _) =>
                Some (flat_map (fun w => map (begins (on o) (id w)) (starts v (appends (on o) (ops w)) p))
                        (writers_of (on o)))
            | _ => None
            end
        | _ => None
        end))
  | Fits t n w q =>
      match get table w with
      | None => None
      | Some w =>
          with_txn t (fun t => at_read t n (fun p o s =>
            match s with
            | Elements vs =>
                match drop q vs with
                | Some (v :: rest) =>
                    only_if (if (id w =? id t)%uint63 then external p o && row_ok p o
                             else negb (is_prefix (appends (on o) (ops w)) (v :: rest)))
                      [not_begins (on o) (id w) q]
                | _ => None
                end
            | _ => None
            end))
      end
  | Places k a p b q =>
      match get table a, get table b with
      | Some a, Some b =>
          let both := [not_begins k (id a) p; not_begins k (id b) q] in
          if (id a =? id b)%uint63 then only_if (negb (p =? q)%uint63) both
          else if ((p <=? q)%uint63 && reaches (appends k (ops b)) 0 &&
                   reaches (appends k (ops a)) (q - p)%uint63) then Some both
          else only_if (p <? q)%uint63 (both ++ [lt (true, id a) (true, id b)])
      | _, _ => None
      end
  | Precedes t n a p b =>
      match get table a with
      | None => None
      | Some a =>
          with_txn t (fun t => with_txn b (fun b => at_read t n (fun p' o s =>
            match s with
            | Elements vs =>
                match drop p vs with
                | Some (_ :: _) =>
                    only_if (negb (id a =? id b)%uint63 && reaches (appends (on o) (ops b)) 0 && row_ok p' o)
                      (not_begins (on o) (id a) p :: lt (true, id a) (true, id b) ::
                       if (id b =? id t)%uint63 then []
                       else map (begins (on o) (id b)) (matches 0 p (appends (on o) (ops b)) vs))
                | _ => None
                end
            | _ => None
            end)))
      end
  | Ends t n w q =>
      match get table t, get table w with
      | Some t, Some w =>
          at_read t n (fun p o s =>
            match s with
            | Elements vs =>
                let b := appends (on o) (ops w) in
                match drop q vs with
                | Some rest =>
                    only_if (external p o &&
                             ((length rest =? length b)%nat || (q =? 0)%uint63 && (length rest <? length b)%nat))
                      (not_saw (id t) n (Some (id w)) ::
                       if same_elements b rest then [begins (on o) (id w) q] else [])
                | None => None
                end
            | _ => None
            end)
      | _, _ => None
      end
  | OwnBegins t n q =>
      with_txn t (fun t => at_read t n (fun p o s =>
        match s with
        | Elements vs =>
            match drop q vs with
            | Some rest =>
                only_if (negb (external p o) && (length rest =? length (appends (on o) p))%nat)
                  [begins (on o) (id t) q]
            | None => None
            end
        | _ => None
        end))
  | PlaceCounts k w q =>
      if has table w then Some [not_begins k w q; (true, Lives w)] else None
  end.
End Of.

(* --- the checker --- *)

Inductive proof_step :=
| Given (n : int) (a : axiom)                       (* clause n is what the axiom gives *)
| Derived (n : int) (c : clause) (hints : list int).

Fixpoint run (give : axiom -> option clause) (db : M.t clause) (steps : list proof_step) : bool :=
  match steps with
  | [] => false
  | s :: rest =>
      let next n c := match c with [] => true | _ => run give (put db n c) rest end in
      match s with
      | Given n a => match give a with Some c => next n c | None => false end
      | Derived n c hints => follows db c hints && next n c
      end
  end.

Definition refute_level (h : history) (drift : int) (l : level) (steps : list proof_step) : bool :=
  let table := index_txns (txns h) in
  let index := writer_index (txns h) in
  ascending None (txns h) && run (conclude h drift l table index) none steps.

(* --- each axiom holds --- *)

Section Truth.
Variables (h : history) (drift : int) (l : level) (e : execution).
Hypothesis wf : well_formed h.
Hypothesis Lin : l <> Linearizable.
Notation table := (index_txns (txns h)).
Hypothesis fulls : full h e.
Hypothesis model :
  match shape_of l with Some sh => facts h drift sh e | None => weak_level h e l end.

Lemma txn_at : forall i t, get table i = Some t -> In t (txns h) /\ id t = i.
Proof. intros. now apply index_txns_in. Qed.
Lemma txn_all : forall t, In t (txns h) -> get table (id t) = Some t.
Proof. intros. now apply index_txns_all. Qed.

Definition moment (b : bool) (t : txn) : Z := if b then finish e t else start e t.
Definition earlier (bx : bool) (x : txn) (by_ : bool) (y : txn) : bool :=
  (moment bx x <? moment by_ y) ||
  (moment bx x =? moment by_ y) && below (bx, id x) (by_, id y).
(* How much was appended to list k by whoever is before w. *)
Definition flat (k : int) (ws : list txn) : list int := flat_map (fun a => appends k (ops a)) ws.
Definition ahead (k : int) (w a : txn) : bool := live e a && (finish e a <? finish e w) && writes_key k a.
Definition lead (k : int) (w : txn) : nat := length (flat k (filter (ahead k w) (txns h))).
Definition value (v : var) : bool :=
  match v with
  | Lt bx x by_ y =>
      match get table x, get table y with
      | Some x, Some y => earlier bx x by_ y
      | _, _ => false
      end
  | Saw t n w =>
      match get table t with
      | Some t =>
          live e t && option_eqb (match source e t (nat_of n) with Some x => Some (id x) | None => None end) w
      | None => false
      end
  | Bounded up t n w =>
      match get table t, get table w with
      | Some t, Some w =>
          live e t && match source e t (nat_of n) with Some x => within up w x | None => false end
      | _, _ => false
      end
  | Begins k w p =>
      match get table w with Some w => live e w && (lead k w =? nat_of p)%nat | None => false end
  | Lives t => match get table t with Some t => live e t | None => false end
  end.
Notation truth := (true_clause value).
Notation yes := (true_literal value).

Lemma truth_cons : forall x c, yes x = true \/ truth c -> truth (x :: c).
Proof.
  intros x c [Y|(y & I & Y)]; [exists x|exists y]; simpl; auto.
Qed.
Lemma truth_app : forall c c', truth c \/ truth c' -> truth (c ++ c').
Proof. intros c c' [(y & I & Y)|(y & I & Y)]; exists y; rewrite in_app_iff; auto. Qed.

Lemma below_total : forall x y, same_event x y = false -> below y x = negb (below x y).
Proof.
  intros (bx & x) (b' & y) S. unfold same_event, below in *. cbn [fst snd] in *.
  destruct (x <? y)%uint63 eqn:L, (y <? x)%uint63 eqn:L'; rewrite ?ltb_lt in *; simpl.
  - lia.
  - destruct (sameP y x) as [->|]; [lia|reflexivity].
  - destruct (sameP x y) as [->|]; [lia|reflexivity].
  - assert (x = y) as ->.
    { apply to_Z_inj. apply not_true_iff_false in L, L'. rewrite ltb_lt in L, L'. lia. }
    rewrite eqb_same in *. destruct bx, b'; simpl in *; congruence.
Qed.
Lemma below_trans : forall x y z, below x y = true -> below y z = true -> below x z = true.
Proof.
  intros (bx & x) (b' & y) (bz & z) A B. unfold below in *. cbn [fst snd] in *.
  apply orb_prop in A. apply orb_prop in B.
  destruct A as [A|A], B as [B|B].
  - apply ltb_lt in A, B. apply orb_true_iff. left. apply ltb_lt. lia.
  - apply andb_prop in B. destruct B as (B & _). apply andb_prop in B. destruct B as (B & _).
    apply eqb_id in B. subst. now rewrite A.
  - apply andb_prop in A. destruct A as (A & _). apply andb_prop in A. destruct A as (A & _).
    apply eqb_id in A. subst. now rewrite B.
  - apply andb_prop in A. destruct A as (A & A'). apply andb_prop in A. destruct A as (A & A'').
    apply andb_prop in B. destruct B as (B & B'). apply andb_prop in B. destruct B as (B & B'').
    rewrite A' in B''. discriminate.
Qed.
Lemma below_irrefl : forall x, below x x = false.
Proof.
  intros (b & x). unfold below. cbn [fst snd]. apply orb_false_iff. split.
  - apply not_true_iff_false. rewrite ltb_lt. lia.
  - rewrite eqb_same. now destruct b.
Qed.

Lemma earlier_total : forall bx x b' y, same_event (bx, id x) (b', id y) = false ->
  earlier b' y bx x = negb (earlier bx x b' y).
Proof.
  intros bx x b' y S. unfold earlier. rewrite (below_total _ _ S).
  destruct (Z.ltb_spec (moment bx x) (moment b' y)), (Z.ltb_spec (moment b' y) (moment bx x)),
    (Z.eqb_spec (moment bx x) (moment b' y)), (Z.eqb_spec (moment b' y) (moment bx x));
    simpl; try lia; auto.
Qed.
Lemma earlier_trans : forall bx x b' y bz z, earlier bx x b' y = true -> earlier b' y bz z = true ->
  earlier bx x bz z = true.
Proof.
  unfold earlier. intros bx x b' y bz z A B. apply orb_prop in A. apply orb_prop in B.
  apply orb_true_iff. rewrite !andb_true_iff, !Z.ltb_lt, !Z.eqb_eq in *.
  destruct A as [A|(A & A')], B as [B|(B & B')]; try (left; lia).
  right. split; [lia|]. eapply below_trans; eauto.
Qed.
Lemma earlier_irrefl : forall b x, earlier b x b x = false.
Proof.
  intros. unfold earlier. rewrite Z.ltb_irrefl, Z.eqb_refl, below_irrefl. reflexivity.
Qed.

Lemma lt_yes : forall bx x b' y, get table (id x) = Some x -> get table (id y) = Some y ->
  same_event (bx, id x) (b', id y) = false -> yes (lt (bx, id x) (b', id y)) = earlier bx x b' y.
Proof.
  intros bx x b' y Gx Gy S. unfold lt. destruct (below _ _); unfold true_literal; cbn [fst snd value].
  - rewrite Gx, Gy. now destruct (earlier bx x b' y).
  - rewrite Gx, Gy, (earlier_total _ _ _ _ S). now destruct (earlier bx x b' y).
Qed.
Lemma lt_moment : forall bx x b' y, In x (txns h) -> In y (txns h) ->
  moment bx x < moment b' y -> yes (lt (bx, id x) (b', id y)) = true.
Proof.
  intros bx x b' y Ix Iy M. assert (S : same_event (bx, id x) (b', id y) = false).
  { unfold same_event. cbn [fst snd]. destruct (sameP (id x) (id y)) as [E|]; auto.
    assert (x = y) as -> by (eapply unique_id; eauto). destruct bx, b'; auto; lia. }
  rewrite lt_yes; auto using txn_all. unfold earlier. apply orb_true_iff. left. now apply Z.ltb_lt.
Qed.

Lemma by_shape : (exists sh, shape_of l = Some sh /\ facts h drift sh e) \/
  (shape_of l = None /\ weak_level h e l).
Proof. destruct (shape_of l) as [sh|]; eauto. Qed.
Lemma model_consistent : consistent h e.
Proof. destruct by_shape as [(sh & _ & M)|(_ & M)]; apply M. Qed.
Lemma model_apart : commits_apart h e.
Proof. destruct by_shape as [(sh & _ & M)|(_ & M)]; apply M. Qed.

(* Two writers, one after the other. *)
Lemma commits_either : forall a b, counts h e a -> counts h e b -> id a <> id b ->
  yes (lt (true, id b) (true, id a)) = true \/ finish e a < finish e b.
Proof.
  intros a b Ca Cb N. destruct (Z.lt_trichotomy (finish e a) (finish e b)) as [L|[E|L]]; auto.
  - exfalso. apply N. f_equal. now apply model_apart.
  - left. apply lt_moment; [apply Cb|apply Ca|exact L].
Qed.

Lemma with_txn_truth : forall i f c, with_txn table i f = Some c ->
  (forall t c', In t (txns h) -> id t = i -> counts h e t -> f t = Some c' -> truth c') -> truth c.
Proof.
  intros i f c W F. unfold with_txn in W. destruct (get table i) as [t|] eqn:G; [|discriminate].
  destruct (guard t) as [g|] eqn:Gu; [|discriminate]. destruct (f t) as [c'|] eqn:E; [|discriminate].
  injection W as <-. apply txn_at in G. destruct G as (I & Id).
  destruct (live e t) eqn:L.
  - apply truth_app. right. apply F with t; auto. split; auto.
  - apply truth_app. left. unfold guard in Gu. destruct (outcome t) eqn:O.
    + rewrite fulls in L; auto. discriminate.
    + discriminate.
    + destruct (blind t) eqn:B; [rewrite fulls in L; auto; discriminate|]. injection Gu as <-.
      exists (false, Lives (id t)). split; [now left|]. unfold true_literal. cbn [fst snd value].
      now rewrite txn_all, L.
Qed.

Lemma knows_reads : forall t p o s rest, ops t = p ++ o :: rest -> sees o = Some s ->
  knows t o = true -> reads t p o s.
Proof.
  intros t p o s rest Sp So K. split; [|split]; eauto.
  unfold knows in K. destruct (outcome t), (writes o); auto; congruence.
Qed.
Lemma at_read_some : forall t n f c, at_read t n f = Some c ->
  exists p o s, reads t p o s /\ length p = nat_of n /\ f p o s = Some c /\
                nth_error (ops t) (nat_of n) = Some o /\ firstn (nat_of n) (ops t) = p.
Proof.
  intros t n f c A. unfold at_read in A. destruct (nth_error (ops t) (nat_of n)) as [o|] eqn:N; [|discriminate].
  destruct (sees o) as [s|] eqn:So; [|discriminate]. destruct (knows t o) eqn:K; [|discriminate].
  exists (firstn (nat_of n) (ops t)), o, s.
  assert (L : (nat_of n < length (ops t))%nat) by (apply nth_error_Some; congruence).
  repeat split; auto.
  - exists (skipn (S (nat_of n)) (ops t)). rewrite <- (firstn_skipn (nat_of n) (ops t)) at 1. f_equal.
    clear - N. revert N. generalize (ops t). induction (nat_of n); destruct l; simpl; try discriminate.
    + congruence.
    + intros. rewrite IHn0; auto.
  - unfold knows in K. destruct (outcome t), (writes o); auto; congruence.
  - apply firstn_length_le. lia.
Qed.
Lemma external_none : forall p o, external p o = true -> last_write (on o) p = None.
Proof. intros p o E. unfold external in E. destruct (last_write (on o) p); congruence. Qed.
Lemma first_row_ok : forall p o, first_row_b p o = true -> first_row p o.
Proof.
  intros p o F x I (E & E'). unfold first_row_b in F. rewrite forallb_forall in F. specialize (F x I).
  rewrite E, E', !eqb_same in F. discriminate.
Qed.
Lemma rc_row : forall p o, negb (is_rc l) || first_row_b p o = true ->
  match l with ReadCommitted => true | _ => false end = true -> first_row p o.
Proof.
  intros p o F R. unfold is_rc in F. rewrite R in F. now apply first_row_ok.
Qed.

(* If "t's read n saw w" is not true the clause is; if it is, this is known. *)
Lemma saw_or : forall t n w c, get table (id t) = Some t ->
  (live e t = true ->
   match source e t (nat_of n), w with
   | None, None => True | Some x, Some i => id x = i | _, _ => False end -> truth c) ->
  truth (not_saw (id t) n w :: c).
Proof.
  intros t n w c G F. destruct (value (Saw (id t) n w)) eqn:V.
  - apply truth_cons. right. cbn [value] in V. rewrite G in V. apply andb_prop in V. destruct V as (L & O).
    apply F; auto. destruct (source e t (nat_of n)), w; simpl in O; auto; try discriminate.
    now apply eqb_id in O.
  - apply truth_cons. left. unfold true_literal, not_saw. cbn [fst snd]. now rewrite V.
Qed.
Lemma saw_yes : forall t n w, In t (txns h) -> live e t = true ->
  source e t (nat_of n) = w -> yes (saw (id t) n (match w with Some x => Some (id x) | None => None end)) = true.
Proof.
  intros t n w I L S. unfold true_literal, saw. cbn [fst snd value]. rewrite txn_all, L, S by auto.
  destruct w; simpl; auto. now rewrite eqb_same.
Qed.

Lemma source_ok : forall t p o s, counts h e t -> reads_other t p o s -> sees_other h e t p o s.
Proof.
  intros t p o s C (R & L). destruct model_consistent as (_ & _ & X). specialize (X t p o s C R).
  now rewrite L in X.
Qed.
Lemma source_counts : forall t p o s w, counts h e t -> reads_other t p o s ->
  source e t (length p) = Some w -> writer h e (on o) w /\ w <> t.
Proof.
  intros t p o s w C R S. destruct (source_ok t p o s C R) as (X & _). now rewrite S in X.
Qed.

Lemma flat_last : forall k ws v vs, vs <> [] -> (vs = flat_map (fun a => appends k (ops a)) (ws ++ [v])) ->
  appends k (ops v) <> [] -> last vs 0%uint63 = last (appends k (ops v)) 0%uint63.
Proof.
  intros k ws v vs N -> A. rewrite flat_map_app. simpl. rewrite app_nil_r.
  destruct (exists_last A) as (x & y & ->). now rewrite app_assoc, !last_last.
Qed.
Lemma appends_last : forall k os v, last_write k os = Some (Append v) ->
  exists x, appends k os = x ++ [v].
Proof.
  intros k os v. induction os as [|o os IH] using rev_ind; [discriminate|].
  rewrite last_write_snoc. unfold appends in *. rewrite flat_map_app. cbn. rewrite app_nil_r.
  destruct (on o =? k)%uint63.
  - destruct (writes o) as [[w|w|w]|]; intros E; try discriminate.
    + injection E as ->. eauto.
    + destruct (IH E) as (x & ->). exists x. now rewrite app_nil_r.
  - intros E. destruct (IH E) as (x & ->). exists x. now rewrite app_nil_r.
Qed.

Lemma list_nil : forall k vs, list_of h e k (fun _ => False) vs -> vs = [].
Proof.
  intros k vs (ws & _ & I & ->). destruct ws as [|a ws]; auto.
  destruct (proj1 (I a)) as (_ & []). now left.
Qed.
(* The list that ends with w's appends. *)
Lemma list_last : forall k w vs, writer h e k w ->
  list_of h e k (fun a => finish e a <= finish e w) vs ->
  exists pre, vs = pre ++ appends k (ops w).
Proof.
  intros k w vs W (ws & S & I & ->).
  assert (J : In w ws) by (apply I; split; auto; lia).
  destruct (in_split w ws J) as (x & y & ->). destruct y as [|b y].
  - exists (flat_map (fun a => appends k (ops a)) x). rewrite flat_map_app. simpl. now rewrite app_nil_r.
  - exfalso. assert (B : finish e w < finish e b).
    { clear - S. induction x as [|a x IH]; simpl in S; inversion S; subst; auto. now inversion H2. }
    assert (K : In b (x ++ w :: b :: y)) by (rewrite in_app_iff; simpl; auto).
    apply I in K. destruct K as (_ & K). cbn beta in K. lia.
Qed.

Lemma may_see_ok : forall t p o s, counts h e t -> reads_other t p o s ->
  may_see h t o s (source e t (length p)) = true.
Proof.
  intros t p o s C R. destruct (source_ok t p o s C R) as (W & V). unfold may_see.
  destruct (source e t (length p)) as [w|].
  - destruct W as ((Cw & Lw) & N). apply andb_true_iff. split.
    + apply negb_true_iff, not_true_iff_false. rewrite eqb_id. intros E. apply N.
      eapply unique_id; eauto; [apply Cw|apply C].
    + destruct (last_write (on o) (ops w)) as [c|] eqn:L; [|congruence].
      destruct s as [v| |v|vs]; cbn [sees_version version] in V; try (now rewrite L in V).
      destruct c as [v|v|v]; auto. simpl. rewrite <- rev_alt.
      destruct (list_last (on o) w vs) as (pre & ->); auto; [split; auto; congruence|].
      destruct (appends_last _ _ _ L) as (x & ->). rewrite !rev_app_distr. simpl. now apply eqb_id.
  - destruct s as [v| |v|vs]; cbn [sees_version version] in V; auto.
    apply list_nil in V. now rewrite V.
Qed.

Lemma note_spec : forall t m o k, exists l, (get (note t m o) k = Some l \/ get (note t m o) k = None /\ l = []) /\
  (forall x, In x l -> (match get m k with Some l0 => In x l0 | None => False end) \/ x = t) /\
  (forall x, match get m k with Some l0 => In x l0 | None => False end -> In x l) /\
  (on o = k -> writes o <> None -> exists x, In x l /\ id x = id t).
Proof.
  intros t m o k. unfold note. destruct (writes o) as [c|] eqn:W.
  2: { destruct (get m k) as [l0|] eqn:G; [exists l0|exists []]; repeat split; auto; try tauto.
       all: intros; congruence. }
  destruct (sameP (on o) k) as [->|N].
  - destruct (get m k) as [[|x l0]|] eqn:G.
    + exists [t]. rewrite get_put, eqb_same. repeat split; auto.
      * intros x [<-|[]]. auto.
      * intros x [].
      * intros _ _. exists t. simpl. auto.
    + destruct (sameP (id x) (id t)) as [E|].
      * exists (x :: l0). rewrite G. repeat split; auto.
        intros _ _. exists x. simpl. auto.
      * exists (t :: x :: l0). rewrite get_put, eqb_same. repeat split; auto.
        -- intros y [<-|I]; auto.
        -- intros y I. now right.
        -- intros _ _. exists t. simpl. auto.
    + exists [t]. rewrite get_put, eqb_same. repeat split; auto.
      * intros x [<-|[]]. auto.
      * intros x [].
      * intros _ _. exists t. simpl. auto.
  - assert (G : forall l1, get (put m (on o) l1) k = get m k).
    { intros l1. rewrite get_put. destruct (sameP (on o) k); [contradiction|auto]. }
    destruct (get m k) as [l0|] eqn:Gk; [exists l0|exists []]; (split; [|split; [|split]]); try tauto.
    + destruct (get m (on o)) as [[|x l1]|]; [|destruct (id x =? id t)%uint63|]; rewrite ?G; auto.
    + destruct (get m (on o)) as [[|x l1]|]; [|destruct (id x =? id t)%uint63|]; rewrite ?G; auto.
Qed.

Definition listed (m : M.t (list txn)) (k : int) (x : txn) : Prop :=
  match get m k with Some l0 => In x l0 | None => False end.
Lemma note_listed : forall t m o k x, listed (note t m o) k x -> listed m k x \/ x = t.
Proof.
  intros t m o k x L. destruct (note_spec t m o k) as (l0 & [G|(G & ->)] & A & _); unfold listed in *;
    rewrite G in L; [auto|destruct L].
Qed.
Lemma note_keeps : forall t m o k x, listed m k x -> listed (note t m o) k x.
Proof.
  intros t m o k x L. destruct (note_spec t m o k) as (l0 & G & _ & B & _). unfold listed in *.
  specialize (B x L). destruct G as [->|(-> & ->)]; auto.
Qed.
Lemma note_adds : forall t m o, writes o <> None -> exists x, listed (note t m o) (on o) x /\ id x = id t.
Proof.
  intros t m o W. destruct (note_spec t m o (on o)) as (l0 & G & _ & _ & C).
  destruct (C eq_refl W) as (x & I & E). exists x. unfold listed.
  destruct G as [->|(-> & ->)]; auto.
Qed.
Lemma notes_listed : forall t os m k x, listed (fold_left (note t) os m) k x -> listed m k x \/ x = t.
Proof.
  intros t os. induction os as [|o os IH]; simpl; intros m k x L; auto.
  apply IH in L. destruct L as [L| ->]; auto. now apply note_listed in L.
Qed.
Lemma notes_keep : forall t os m k x, listed m k x -> listed (fold_left (note t) os m) k x.
Proof. intros t os. induction os as [|o os IH]; simpl; intros; auto. apply IH. now apply note_keeps. Qed.
Lemma notes_add : forall t os m o, In o os -> writes o <> None ->
  exists x, listed (fold_left (note t) os m) (on o) x /\ id x = id t.
Proof.
  intros t os. induction os as [|o' os IH]; simpl; intros m o I W; [tauto|].
  destruct I as [->|I]; [|now apply IH].
  destruct (note_adds t m o W) as (x & L & E). exists x. split; auto. now apply notes_keep.
Qed.

Lemma writers_complete : forall k t, In t (txns h) -> outcome t <> Aborted -> writes_key k t = true ->
  In t (writers_of (writer_index (txns h)) k).
Proof.
  intros k t I O W.
  assert (G : forall ts m, (forall k x, listed m k x -> In x (txns h)) -> incl ts (txns h) ->
     let m' := fold_left (fun m t => match outcome t with Aborted => m | _ => fold_left (note t) (ops t) m end) ts m in
     (forall k x, listed m' k x -> In x (txns h)) /\
     (forall k x, listed m k x -> listed m' k x) /\
     (In t ts -> exists x, listed m' k x /\ id x = id t)).
  { clear I. induction ts as [|y ts IH]; simpl; intros m A S; [tauto|].
    assert (Iy : In y (txns h)) by (apply S; now left).
    assert (S' : incl ts (txns h)) by (intros z Iz; apply S; now right).
    set (m1 := match outcome y with Aborted => m | _ => fold_left (note y) (ops y) m end).
    assert (A1 : forall k x, listed m1 k x -> In x (txns h)).
    { intros k0 x L. unfold m1 in L. destruct (outcome y); eauto;
        (apply notes_listed in L; destruct L as [L| ->]; eauto). }
    assert (K1 : forall k x, listed m k x -> listed m1 k x).
    { intros k0 x L. unfold m1. destruct (outcome y); auto; now apply notes_keep. }
    destruct (IH m1 A1 S') as (B & C & D). split; [exact B|]. split; [intros; apply C, K1; auto|].
    intros [->|J]; [|auto].
    destruct (last_write_in k (ops t)) as (o & c & Io & <- & Wo).
    { unfold writes_key in W. destruct (last_write k (ops t)); congruence. }
    assert (X : exists x, listed m1 (on o) x /\ id x = id t).
    { unfold m1. destruct (outcome t); try congruence; apply notes_add; auto; congruence. }
    destruct X as (x & L & E). exists x. split; auto. }
  destruct (G (txns h) none) as (A & _ & B).
  { intros k0 x. unfold listed. rewrite get_none. tauto. }
  { intros x; auto. }
  destruct (B I) as (x & L & E).
  assert (x = t) as -> by (eapply unique_id; eauto).
  unfold writers_of, writer_index. unfold listed in L. destruct (get _ k); [auto|destruct L].
Qed.

Notation index := (writer_index (txns h)).
Notation gives a c := (conclude h drift l table index a = Some c).

Lemma only : forall b (c c' : clause), only_if b c = Some c' -> b = true /\ c' = c.
Proof. unfold only_if. intros [] c c' E; [|discriminate]. split; congruence. Qed.

Ltac ands := repeat match goal with
  | H : _ && _ = true |- _ => apply andb_prop in H; destruct H
  | H : only_if _ _ = Some _ |- _ => apply only in H; destruct H; subst
  | H : negb _ = true |- _ => apply negb_true_iff in H
  end.
Ltac found_txns := repeat match goal with
  | H : match get table ?i with Some _ => _ | None => None end = Some _ |- _ =>
      let t := fresh "t" in let G := fresh "G" in
      destruct (get table i) as [t|] eqn:G; [|discriminate]; apply txn_at in G; destruct G as (? & <-)
  end.

Lemma cycle_truth : forall rest first now c, known_event l table first = true -> known_event l table now = true ->
  cycle_from l table first now rest = Some c ->
  truth c \/ exists x y, get table (snd first) = Some x /\ get table (snd now) = Some y /\
                     earlier (fst now) y (fst first) x = true.
Proof.
  intros rest. induction rest as [|z rest IH]; cbn [cycle_from]; intros first now c Kf Kn E.
  - ands. unfold known_event, has in Kf, Kn. ands.
    destruct (get table (snd first)) as [x|] eqn:Gx; [|discriminate].
    destruct (get table (snd now)) as [y|] eqn:Gy; [|discriminate].
    destruct (earlier (fst now) y (fst first) x) eqn:Ea; [right; eauto|left].
    exists (lt first now). split; [now left|].
    destruct (txn_at _ _ Gx) as (_ & Ix), (txn_at _ _ Gy) as (_ & Iy).
    destruct first as (bf & f), now as (bn & n). cbn [fst snd] in *. subst f n.
    rewrite lt_yes; auto.
    + rewrite earlier_total; [now rewrite Ea|auto].
    + unfold same_event in *. cbn [fst snd] in *.
      destruct (sameP (id x) (id y)) as [Q|]; auto. rewrite Q, eqb_same in *. now destruct bf, bn.
  - destruct (known_event l table z && negb (same_event now z)) eqn:K; [|discriminate]. ands.
    destruct (cycle_from l table first z rest) as [c'|] eqn:E'; [|discriminate]. injection E as <-.
    destruct (IH first z c' Kf) as [T|(x & y & Gx & Gz & Ea)]; auto.
    + left. apply truth_cons. auto.
    + unfold known_event, has in Kn. ands.
      destruct (get table (snd now)) as [w|] eqn:Gw; [|discriminate].
      destruct (earlier (fst now) w (fst z) y) eqn:Eb.
      * right. exists x, w. repeat split; auto. eapply earlier_trans; eauto.
      * left. apply truth_cons. left.
        destruct (txn_at _ _ Gw) as (_ & Iw), (txn_at _ _ Gz) as (_ & Iz).
        destruct now as (bn & n), z as (bz & z). cbn [fst snd] in *. subst n z.
        rewrite lt_yes; auto.
        -- rewrite earlier_total; [now rewrite Eb|auto].
        -- unfold same_event in *. cbn [fst snd] in *.
           destruct (sameP (id y) (id w)) as [Q|]; auto. rewrite Q, eqb_same in *. now destruct bz, bn.
Qed.
Lemma cycle_holds : forall xs c, gives (Cycle xs) c -> truth c.
Proof.
  intros [|x rest] c E; cbn [conclude] in E; [discriminate|].
  destruct (known_event l table x) eqn:K; [|discriminate].
  destruct (cycle_truth rest x x c K K E) as [T|(a & b & Ga & Gb & Ea)]; auto.
  rewrite Ga in Gb. injection Gb as <-. now rewrite earlier_irrefl in Ea.
Qed.

Lemma own_holds : forall t c, gives (Own t) c -> truth c.
Proof.
  intros i c E. cbn [conclude] in E. eapply with_txn_truth; [exact E|].
  intros t c' I _ C F. cbn beta in F. ands. apply truth_cons. left.
  apply lt_moment; auto. cbn [moment]. unfold splits in *. destruct (shape_of l) as [sh|]; [|discriminate].
  destruct model as (_ & _ & _ & _ & Ev & _). rewrite H in Ev. now apply Ev.
Qed.

(* The place of a read: the begin, at a weak level the transaction. *)
Lemma at_start_lt : forall z t, counts h e t ->
  (is_weak l = true -> weak_level h e l -> z < finish e t) ->
  (forall sh, shape_of l = Some sh -> facts h drift sh e -> z < start e t) ->
  z < moment (at_start l) t.
Proof.
  intros z t C W F. unfold at_start, splits, is_weak in *.
  destruct (shape_of l) as [sh|]; [|now apply W].
  specialize (F sh eq_refl model). destruct model as (_ & _ & _ & _ & Ev & _).
  destruct (two sh); cbn [moment negb]; auto. now rewrite <- Ev.
Qed.
Lemma start_lt : forall z t, counts h e t -> is_weak l = false -> start e t < z ->
  moment (at_start l) t < z.
Proof.
  intros z t C W F. unfold at_start, splits, is_weak in *.
  destruct (shape_of l) as [sh|]; [|discriminate]. destruct model as (_ & _ & _ & _ & Ev & _).
  destruct (two sh); cbn [moment negb]; auto. now rewrite <- Ev.
Qed.

Lemma so_b_ok : forall i j, so_b i j = true -> so i j.
Proof.
  intros i j S. unfold so_b, is_committed in S. ands. apply eqb_id in H. apply ltb_lt in H1.
  split; auto. split; auto. destruct (outcome i); congruence.
Qed.
Lemma session_holds : forall i j c, gives (Session i j) c -> truth c.
Proof.
  intros i j c E. cbn [conclude] in E. eapply with_txn_truth; [exact E|].
  intros a c1 Ia _ Ca F. cbn beta in F. eapply with_txn_truth; [exact F|].
  intros b c2 Ib _ Cb F'. cbn beta in F'. ands. apply so_b_ok in H. apply truth_cons. left.
  apply lt_moment; auto. cbn [moment]. apply at_start_lt; auto.
  - intros _ (_ & _ & So & _). apply So. split; auto.
  - intros sh S (_ & _ & _ & _ & _ & _ & So & _). unfold is_weak, shape_has in H0. rewrite S in H0.
    apply So; auto.
Qed.

Lemma rt_b_ok : forall i j, In i (txns h) -> In j (txns h) -> small drift = true ->
  rt_b drift i j = true -> rt drift i j.
Proof.
  intros i j Ii Ij Sm R. unfold rt_b, is_committed in R. ands. split; [|split].
  - intros ->. now rewrite eqb_same in H.
  - destruct (outcome i); congruence.
  - destruct (completed i) as [c|]; [|discriminate]. destruct (invoked j) as [v|]; [|discriminate].
    ands. apply ltb_lt in H0, H2. rewrite (small_twice drift Sm), sub_spec in H2.
    pose proof (to_Z_bounded c). pose proof (to_Z_bounded v). rewrite Z.mod_small in H2 by lia. lia.
Qed.
Lemma real_time_holds : forall i j c, gives (RealTime i j) c -> truth c.
Proof.
  intros i j c E. cbn [conclude] in E. eapply with_txn_truth; [exact E|].
  intros a c1 Ia _ Ca F. cbn beta in F. eapply with_txn_truth; [exact F|].
  intros b c2 Ib _ Cb F'. cbn beta in F'. unfold shape_has in F'.
  destruct by_shape as [(sh & S & M)|(S & _)]; rewrite S in F';
    [|rewrite andb_false_r in F'; discriminate].
  ands. apply rt_b_ok in H; auto. apply truth_cons. left. apply lt_moment; auto. cbn [moment].
  destruct (rt_begin sh) eqn:B.
  - apply at_start_lt; auto.
    + intros W. unfold is_weak in W. rewrite S in W. discriminate.
    + intros sh' S' (_ & _ & _ & _ & _ & _ & _ & Rb & _). rewrite S in S'. injection S' as <-.
      apply Rb; auto.
  - cbn [moment]. destruct M as (_ & _ & _ & _ & _ & _ & _ & _ & Rc). apply Rc; auto.
Qed.

Lemma same_position : forall t (p : list op) n, length p = nat_of n -> source e t (nat_of n) = source e t (length p).
Proof. intros t p n ->. reflexivity. Qed.

Lemma reads_holds : forall t n w c, gives (Reads t n w) c -> truth c.
Proof.
  intros i n j c E. cbn [conclude] in E. destruct (get table i) as [t|] eqn:G; [|discriminate].
  destruct (get table j) as [w|] eqn:G'; [|discriminate]. apply txn_at in G, G'.
  destruct G as (It & <-), G' as (Iw & <-).
  apply at_read_some in E. destruct E as (p & o & s & R & L & F & _). ands.
  apply external_none in H. apply saw_or; [now apply txn_all|]. intros Li So.
  assert (C : counts h e t) by (split; auto). rewrite <- L in So.
  destruct (source e t (length p)) as [x|] eqn:Sx; [|tauto].
  destruct (source_counts t p o s x C (conj R H) Sx) as ((Cx & _) & _).
  assert (x = w) as -> by (eapply unique_id; eauto; apply Cx).
  apply truth_cons. left. apply lt_moment; auto. cbn [moment]. apply at_start_lt; auto.
  - intros _ (_ & _ & _ & Wr & _). cbn zeta in Wr. apply (Wr w t p o). split; auto. split; [exists s; split; auto|].
    split; auto. now apply rc_row.
  - intros sh S (_ & _ & Wr & _). apply (Wr t p o s w); auto. split; auto.
Qed.

Lemma candidates_hold : forall t n c, gives (Candidates t n) c -> truth c.
Proof.
  intros i n c E. cbn [conclude] in E. eapply with_txn_truth; [exact E|].
  intros t c1 It _ C F. cbn beta in F. apply at_read_some in F.
  destruct F as (p & o & s & R & L & F & _). ands. apply external_none in H.
  assert (R' : reads_other t p o s) by (split; auto).
  pose proof (may_see_ok t p o s C R') as M. destruct (source e t (length p)) as [w|] eqn:S.
  - destruct (source_counts t p o s w C R' S) as ((Cw & Lw) & _).
    apply truth_app. right. exists (saw (id t) n (Some (id w))). split.
    + apply in_map_iff. exists w. split; auto. apply filter_In. split; auto.
      apply writers_complete; [apply Cw| |].
      * destruct model_consistent as (_ & Ab & _). intros O. specialize (Ab w (proj1 Cw) O).
        destruct Cw. congruence.
      * unfold writes_key. destruct (last_write (on o) (ops w)); congruence.
    + apply (saw_yes t n (Some w)); auto; [apply C|]. now rewrite <- L.
  - rewrite M. apply truth_app. left. exists (saw (id t) n None). split; [now left|].
    apply (saw_yes t n None); auto; [apply C|]. now rewrite <- L.
Qed.

Lemma not_from_holds : forall t n w c, gives (NotFrom t n w) c -> truth c.
Proof.
  intros i n w c E. cbn [conclude] in E. destruct (get table i) as [t|] eqn:G; [|discriminate].
  apply txn_at in G. destruct G as (It & <-).
  apply at_read_some in E. destruct E as (p & o & s & R & L & F & _). ands.
  apply external_none in H. apply saw_or; [now apply txn_all|]. intros Li So. exfalso.
  assert (C : counts h e t) by (split; auto). rewrite <- L in So.
  assert (R' : reads_other t p o s) by (split; auto).
  pose proof (may_see_ok t p o s C R') as M.
  destruct (source e t (length p)) as [x|] eqn:Sx, w as [j|]; try tauto.
  - subst j. destruct (source_counts t p o s x C R' Sx) as ((Cx & _) & _).
    rewrite txn_all in H0 by apply Cx. rewrite M in H0. discriminate.
  - rewrite M in H0. discriminate.
Qed.

Lemma source_counts_holds : forall t n w c, gives (SourceCounts t n w) c -> truth c.
Proof.
  intros i n j c E. cbn [conclude] in E. destruct (get table i) as [t|] eqn:G; [|discriminate].
  destruct (get table j) as [w|] eqn:G'; [|discriminate]. apply txn_at in G, G'.
  destruct G as (It & <-), G' as (Iw & <-).
  apply at_read_some in E. destruct E as (p & o & s & R & L & F & _). ands.
  apply external_none in H. apply saw_or; [now apply txn_all|]. intros Li So.
  assert (C : counts h e t) by (split; auto). rewrite <- L in So.
  destruct (source e t (length p)) as [x|] eqn:Sx; [|tauto].
  destruct (source_counts t p o s x C (conj R H) Sx) as (((Ix & Lx) & _) & _).
  assert (x = w) as -> by (eapply unique_id; eauto).
  apply truth_cons. left. unfold true_literal. cbn [fst snd value]. now rewrite txn_all, Lx.
Qed.

(* Two reads of a key see one version, above read-committed. *)
Lemma one_source : forall t p o s p' o' s', is_rc l = false -> counts h e t ->
  reads_other t p o s -> reads_other t p' o' s' -> on o = on o' ->
  source e t (length p) = source e t (length p').
Proof.
  assert (Sym : forall t p o s p' o' s' b, is_rc l = false -> counts h e t ->
    reads_other t p o s -> reads_other t p' o' s' -> on o = on o' ->
    source e t (length p') = Some b ->
    match source e t (length p) with None => False | Some a => a = b \/ finish e b < finish e a end).
  { intros t p o s p' o' s' b Rc C R R' K S'.
    destruct (source_counts t p' o' s' b C R' S') as (Wb & Nb). rewrite <- K in Wb.
    destruct by_shape as [(sh & _ & M)|(Sn & M)].
    - destruct M as (_ & Ap & Wr & Rw & Ev & _). specialize (Wr t p' o' s' b C R' S').
      assert (X : match source e t (length p) with None => True | Some a => finish e a < finish e b end ->
                  False).
      { intros X. pose proof (Rw t p o s b C R Wb Nb X). lia. }
      destruct (source e t (length p)) as [a|] eqn:S; [|exact (X Logic.I)].
      destruct (source_counts t p o s a C R S) as (Wa & _).
      destruct (Z.lt_trichotomy (finish e a) (finish e b)) as [Y|[Y|Y]]; auto.
      { destruct (X Y). }
      left. apply Ap; auto; [apply Wa|apply Wb].
    - destruct M as (_ & _ & _ & _ & Ph). cbn zeta in Ph.
      assert (Ra : match l with ReadCommitted => true | _ => false end = false) by apply Rc.
      rewrite Ra in Ph.
      assert (Step : co_step h e b t).
      { right. exists p', o'. split; auto. split; [eauto|]. split; auto. discriminate. }
      assert (P : phi h e l b t p o).
      { clear - Rc Sn Step Lin. destruct l; try discriminate; auto; [now apply t_step|tauto]. }
      destruct (source e t (length p)) as [a|] eqn:S.
      + destruct (Uint63.eqb (id a) (id b)) eqn:Q.
        * left. apply eqb_id in Q. destruct (source_counts t p o s a C R S) as (Wa & _).
          eapply unique_id; eauto; [apply Wa|apply Wb].
        * right. assert (N : source e t (length p) <> Some b).
          { rewrite S. intros Y. injection Y as ->. now rewrite eqb_same in Q. }
          specialize (Ph t p o s b C R (fun D => ltac:(discriminate D)) Wb P N). now rewrite S in Ph.
      + assert (N : source e t (length p) <> Some b) by (rewrite S; discriminate).
        specialize (Ph t p o s b C R (fun D => ltac:(discriminate D)) Wb P N). now rewrite S in Ph. }
  intros t p o s p' o' s' Rc C R R' K.
  destruct (source e t (length p)) as [a|] eqn:S, (source e t (length p')) as [b|] eqn:S'; auto.
  - pose proof (Sym t p o s p' o' s' b Rc C R R' K S') as X. rewrite S in X.
    pose proof (Sym t p' o' s' p o s a Rc C R' R (eq_sym K) S) as Y. rewrite S' in Y.
    destruct X as [->|X]; auto. destruct Y as [->|Y]; auto. lia.
  - pose proof (Sym t p' o' s' p o s a Rc C R' R (eq_sym K) S) as Y. now rewrite S' in Y.
  - pose proof (Sym t p o s p' o' s' b Rc C R R' K S') as Y. now rewrite S in Y.
Qed.
Lemma same_version_holds : forall t n m w c, gives (SameVersion t n m w) c -> truth c.
Proof.
  intros i n m w c E. cbn [conclude] in E. destruct (get table i) as [t|] eqn:G; [|discriminate].
  apply txn_at in G. destruct G as (It & <-).
  apply at_read_some in E. destruct E as (p & o & s & R & L & F & _).
  apply at_read_some in F. destruct F as (p' & o' & s' & R' & L' & F & _). ands.
  apply external_none in H1, H2. apply eqb_id in H0. apply saw_or; [now apply txn_all|]. intros Li So.
  assert (C : counts h e t) by (split; auto). rewrite <- L in So. apply truth_cons. left.
  rewrite (one_source t p o s p' o' s') in So; auto; try (split; auto).
  rewrite L' in So. destruct (source e t (nat_of m)) as [x|] eqn:Sx, w as [j|]; try tauto.
  - subst j. now apply (saw_yes t m (Some x)).
  - now apply (saw_yes t m None).
Qed.

Lemma is_prefix_app : forall a b, is_prefix a (a ++ b) = true.
Proof. induction a; simpl; auto. intros. now rewrite eqb_same, IHa. Qed.
Lemma mismatch_holds : forall t n c, gives (Mismatch t n) c -> truth c.
Proof.
  intros i n c E. cbn [conclude] in E. eapply with_txn_truth; [exact E|].
  intros t c1 It _ C F. cbn beta in F. apply at_read_some in F.
  destruct F as (p & o & s & R & L & F & _). exfalso.
  destruct model_consistent as (_ & _ & X). specialize (X t p o s C R).
  destruct (last_write (on o) p) as [x|]; [|discriminate]. ands.
  destruct s as [v| |v|vs]; cbn [sees_own] in X; ands; try congruence.
  destruct X as (before & _ & ->). rewrite <- !rev_alt, rev_app_distr, is_prefix_app in H. discriminate.
Qed.

Lemma no_overlap_holds : forall k a b c, gives (NoOverlap k a b) c -> truth c.
Proof.
  intros k i j c E. cbn [conclude] in E. eapply with_txn_truth; [exact E|].
  intros a c1 Ia _ Ca F. cbn beta in F. eapply with_txn_truth; [exact F|].
  intros b c2 Ib _ Cb F'. cbn beta in F'. unfold shape_has in F'.
  destruct by_shape as [(sh & S & M)|(S & _)]; rewrite S in F'; [|discriminate].
  ands. apply truth_cons.
  assert (N : id a <> id b) by (intros Q; rewrite Q, eqb_same in *; discriminate).
  destruct (commits_either a b Ca Cb N) as [Y|Y]; auto. right. apply truth_cons. left.
  apply lt_moment; auto. cbn [moment]. apply at_start_lt; auto.
  - intros sh' S' _. destruct M as (_ & _ & _ & _ & Ev & No & _). specialize (No H).
    assert (Wa : writer h e k a) by (split; auto; unfold writes_key in *; destruct (last_write k (ops a)); congruence).
    assert (Wb : writer h e k b) by (split; auto; unfold writes_key in *; destruct (last_write k (ops b)); congruence).
    destruct (No k a b Wa Wb) as [Z|Z]; auto; [congruence|].
    exfalso. assert (start e a <= finish e a); [|lia].
    destruct (two sh); [destruct Ev as (Ev & _); specialize (Ev a Ca)|specialize (Ev a Ca)]; lia.
Qed.

Lemma overwritten_holds : forall t n w b c, gives (Overwritten t n w b) c -> truth c.
Proof.
  intros i n w j c E. cbn [conclude] in E. destruct (get table i) as [t|] eqn:G; [|discriminate].
  apply txn_at in G. destruct G as (It & <-). eapply with_txn_truth; [exact E|].
  intros b c1 Ib _ Cb F. cbn beta in F. apply at_read_some in F.
  destruct F as (p & o & s & R & L & F & _). ands. apply external_none in H3.
  apply saw_or; [now apply txn_all|]. intros Li So.
  assert (C : counts h e t) by (split; auto). rewrite <- L in So.
  assert (R' : reads_other t p o s) by (split; auto).
  assert (Nb : b <> t) by (intros ->; now rewrite eqb_same in *).
  assert (Wb : writer h e (on o) b).
  { split; auto. unfold writes_key in *. destruct (last_write (on o) (ops b)); congruence. }
  assert (Rw : rw_order h e).
  { unfold is_weak in H. destruct by_shape as [(sh & _ & M)|(S & _)]; [apply M|].
    rewrite S in H. discriminate. }
  destruct w as [x|].
  - destruct (source e t (length p)) as [a|] eqn:Sa; [|tauto]. subst x.
    destruct (source_counts t p o s a C R' Sa) as ((Ca & _) & _). ands.
    assert (N : id a <> id b) by (intros Q; rewrite Q, eqb_same in *; discriminate).
    simpl. apply truth_cons. destruct (commits_either a b Ca Cb N) as [Y|Y]; auto.
    right. apply truth_cons. left. apply lt_moment; auto. cbn [moment]. apply start_lt; auto.
    apply (Rw t p o s b); auto. now rewrite Sa.
  - destruct (source e t (length p)) as [a|] eqn:Sa; [tauto|]. simpl. apply truth_cons. left.
    apply lt_moment; auto. cbn [moment]. apply start_lt; auto. apply (Rw t p o s b); auto. now rewrite Sa.
Qed.

Lemma hops_path : forall t path k c, In k (txns h) -> hops table k path t = Some c -> counts h e t ->
  truth c \/ (path = [] /\ k = t) \/ (path <> [] /\ counts h e k /\ clos_trans _ (co_step h e) k t /\
     (forall x, path = [x] -> one_step x = true -> co_step h e k t)).
Proof.
  intros t path. induction path as [|x path IH]; intros k c Ik E C; cbn [hops] in E.
  - ands. apply eqb_id in H. right. left. split; auto. eapply unique_id; eauto. apply C.
  - destruct x as [j|j n|j n].
    + destruct (get table j) as [u|] eqn:G; [|discriminate]. apply txn_at in G. destruct G as (Iu & <-).
      destruct (so_b k u) eqn:So; [|discriminate]. apply so_b_ok in So.
      assert (Ck : counts h e k) by (split; auto; apply fulls; auto; left; apply So).
      destruct (IH u c Iu E C) as [T|[(-> & ->)|(N & Cu & P & _)]]; auto.
      * right. right. assert (S : co_step h e k t) by (left; split; auto).
        split; [discriminate|]. split; auto. split; [now apply t_step|auto].
      * right. right. assert (S : co_step h e k u) by (left; split; auto).
        split; [discriminate|]. split; auto. split; [eapply t_trans; [apply t_step|]; eauto|].
        intros y Y. injection Y as <- ->. congruence.
    + destruct (get table j) as [u|] eqn:G; [|discriminate]. apply txn_at in G. destruct G as (Iu & <-).
      destruct (at_read u n _) as [c0|] eqn:A; [|discriminate].
      apply at_read_some in A. destruct A as (p & o & s & R & L & F & _). ands. apply external_none in H.
      destruct (hops table u path t) as [c1|] eqn:E1; [|discriminate]. injection E as <-.
      destruct (value (Saw (id u) n (Some (id k)))) eqn:V.
      2: { left. apply truth_cons. left. unfold true_literal, not_saw. cbn [fst snd]. now rewrite V. }
      cbn [value] in V. rewrite txn_all in V by auto. apply andb_prop in V. destruct V as (Lu & V).
      destruct (source e u (nat_of n)) as [y|] eqn:Sy; [|discriminate]. simpl in V. apply eqb_id in V.
      assert (Cu : counts h e u) by (split; auto). rewrite <- L in Sy.
      destruct (source_counts u p o s y Cu (conj R H) Sy) as ((Cy & _) & _).
      assert (y = k) as -> by (eapply unique_id; eauto; apply Cy).
      assert (S : co_step h e k u).
      { right. exists p, o. split; auto. split; [exists s; split; auto|]. split; auto. discriminate. }
      destruct (IH u c1 Iu E1 C) as [T|[(-> & ->)|(N & _ & P & _)]].
      * left. apply truth_cons. auto.
      * right. right. split; [discriminate|]. split; auto. split; [now apply t_step|auto].
      * right. right. split; [discriminate|]. split; auto. split; [eapply t_trans; [apply t_step|]; eauto|].
        intros z Y. injection Y as <- ->. congruence.
    + destruct (get table j) as [u|] eqn:G; [|discriminate]. apply txn_at in G. destruct G as (Iu & <-).
      destruct (at_read u n _) as [c0|] eqn:A; [|discriminate].
      apply at_read_some in A. destruct A as (p & o & s & R & L & F & _). ands. apply external_none in H.
      destruct (hops table u path t) as [c1|] eqn:E1; [|discriminate]. injection E as <-.
      destruct (value (Bounded false (id u) n (id k))) eqn:V.
      2: { left. apply truth_cons. left. unfold true_literal. cbn [fst snd]. now rewrite V. }
      cbn [value] in V. rewrite !txn_all in V by auto. apply andb_prop in V. destruct V as (Lu & V).
      destruct (source e u (nat_of n)) as [y|] eqn:Sy; [|discriminate].
      assert (Cu : counts h e u) by (split; auto). rewrite <- L in Sy.
      destruct (source_counts u p o s y Cu (conj R H) Sy) as ((Cy & _) & _).
      assert (S : co_step h e y u).
      { right. exists p, o. split; auto. split; [exists s; split; auto|]. split; auto. discriminate. }
      assert (P0 : counts h e k /\ clos_trans _ (co_step h e) k u).
      { apply orb_prop in V. destruct V as [V|V].
        - apply eqb_id in V. assert (y = k) as -> by (eapply unique_id; eauto; apply Cy).
          split; auto. now apply t_step.
        - apply so_b_ok in V.
          assert (Ck : counts h e k) by (split; auto; apply fulls; auto; left; apply V).
          split; auto. eapply t_trans; [apply t_step; left; split; [exact Ck|split; [exact Cy|exact V]]|].
          now apply t_step. }
      destruct P0 as (Ck & P0).
      assert (No : forall z, ByLater (id u) n :: path = [z] -> one_step z = true -> co_step h e k t).
      { intros z Y. injection Y as <- _. discriminate. }
      destruct (IH u c1 Iu E1 C) as [T|[(-> & ->)|(N & _ & P & _)]].
      * left. apply truth_cons. auto.
      * right. right. split; [discriminate|]. auto.
      * right. right. split; [discriminate|]. split; auto. split; [eapply t_trans; eauto|auto].
Qed.

Lemma visible_holds : forall t n w k path c, gives (Visible t n w k path) c -> truth c.
Proof.
  intros i n w j path c E. cbn [conclude] in E. destruct (get table i) as [t|] eqn:G; [|discriminate].
  destruct (get table j) as [k|] eqn:G'; [|discriminate]. apply txn_at in G, G'.
  destruct G as (It & <-), G' as (Ik & <-).
  apply at_read_some in E. destruct E as (p & o & s & R & L & F & _).
  destruct (hops table k path t) as [c1|] eqn:Hp; [|discriminate]. ands. apply external_none in H4.
  assert (Wk : is_weak l = true) by auto.
  assert (Weak : weak_level h e l).
  { unfold is_weak in Wk. destruct by_shape as [(sh & S & _)|(_ & M)]; auto.
    rewrite S in Wk. discriminate. }
  destruct (existsb (true_literal value) c1) eqn:T1.
  { apply existsb_exists in T1. apply truth_app. left. exact T1. }
  assert (NT : ~ truth c1).
  { intros (y & I & Y). apply not_true_iff_false in T1. apply T1, existsb_exists. eauto. }
  apply truth_app. right. apply saw_or; [now apply txn_all|]. intros Li So.
  assert (C : counts h e t) by (split; auto). rewrite <- L in So.
  assert (R' : reads_other t p o s) by (split; auto).
  destruct (hops_path t path k c1 Ik Hp C) as [?|[(-> & ->)|(Np & Ck & P & P1)]]; [contradiction| |].
  { unfold path_fits in *. destruct l; discriminate. }
  pose proof source_counts as SC.
  assert (Ph : phi h e l k t p o).
  { unfold path_fits in *. destruct l; try discriminate.
    - destruct path as [|[|u m|] [|]]; try discriminate.
      repeat match goal with H : _ && _ = true |- _ => apply andb_prop in H; destruct H end.
      destruct (nth_error p (nat_of m)) as [o'|] eqn:No; [|discriminate]. ands.
      match goal with H : (u =? id t)%uint63 = true |- _ => apply eqb_id in H; subst u end.
      cbn [hops] in Hp. rewrite txn_all in Hp by auto.
      destruct (at_read t m _) as [c0|] eqn:A; [|discriminate].
      apply at_read_some in A. destruct A as (q & o1 & s1 & R1 & L1 & F1 & N1 & Q1).
      rewrite eqb_same in Hp. cbn [only_if] in Hp. injection Hp as <-.
      apply only in F1. destruct F1 as (Ex & _). apply external_none in Ex.
      assert (V : value (Saw (id t) m (Some (id k))) = true).
      { simpl in T1. rewrite orb_false_r in T1. unfold true_literal, not_saw in T1. cbn [fst snd] in T1.
        now destruct (value (Saw (id t) m (Some (id k)))). }
      cbn [value] in V. rewrite txn_all in V by auto. apply andb_prop in V. destruct V as (_ & V).
      destruct (source e t (nat_of m)) as [y|] eqn:Sy; [|discriminate]. simpl in V. apply eqb_id in V.
      rewrite <- L1 in Sy. destruct (SC t q o1 s1 y C (conj R1 Ex) Sy) as ((Cy & _) & _).
      assert (y = k) as -> by (eapply unique_id; eauto; apply Cy).
      destruct R as ((rest & Sp) & R2). 
      assert (No' : o1 = o').
      { rewrite Sp, nth_error_app1 in N1; [congruence|]. apply nth_error_Some. congruence. }
      subst o1.
      assert (Fp : firstn (nat_of m) p = q).
      { rewrite Sp in Q1. rewrite firstn_app in Q1.
        assert (nat_of m < length p)%nat by (apply nth_error_Some; congruence).
        replace (nat_of m - length p)%nat with 0%nat in Q1 by lia. simpl in Q1. now rewrite app_nil_r in Q1. }
      destruct (nth_error_split p (nat_of m) No) as (q' & rest' & Pq & Lq).
      assert (q' = q) as ->.
      { rewrite <- Fp, Pq, firstn_app. rewrite <- Lq, firstn_all, Nat.sub_diag. simpl. now rewrite app_nil_r. }
      exists q, o', rest'. split; auto. split.
      { intros Q. rewrite Q, eqb_same in *. discriminate. }
      split; auto. split; [exists s1; split; auto|]. split; auto. intros _. apply first_row_ok.
      rewrite Fp in *. assumption.
    - destruct path as [|x [|]]; try discriminate. cbn [phi]. eapply P1; eauto.
    - cbn [phi]. exact P. }
  assert (Wr : writer h e (on o) k).
  { split; auto. unfold writes_key in *. destruct (last_write (on o) (ops k)); congruence. }
  destruct Weak as (_ & _ & _ & _ & Ax). cbn zeta in Ax.
  assert (Row : match l with ReadCommitted => true | _ => false end = true -> first_row p o).
  { now apply rc_row. }
  destruct w as [x|].
  - destruct (source e t (length p)) as [a|] eqn:Sa; [|tauto]. subst x. ands.
    destruct (source_counts t p o s a C R' Sa) as ((Ca & _) & _).
    assert (N : source e t (length p) <> Some k).
    { rewrite Sa. intros Q. injection Q as ->. now rewrite eqb_same in *. }
    specialize (Ax t p o s k C R' Row Wr Ph N). rewrite Sa in Ax.
    apply truth_cons. left. apply lt_moment; auto. apply Ca.
  - destruct (source e t (length p)) as [a|] eqn:Sa; [tauto|].
    assert (N : source e t (length p) <> Some k) by (rewrite Sa; discriminate).
    specialize (Ax t p o s k C R' Row Wr Ph N). now rewrite Sa in Ax.
Qed.

(* --- lists --- *)

Notation sorted ws := (StronglySorted (fun a b => finish e a < finish e b) ws).
(* The first writers of a key, in order. *)
Definition first_writers (k : int) (ws : list txn) (P : txn -> Prop) : Prop :=
  sorted ws /\ (forall a, In a ws <-> writer h e k a /\ P a) /\
  (forall a b, finish e a < finish e b -> P b -> P a).

Lemma read_list : forall t p o vs, counts h e t -> reads t p o (Elements vs) ->
  exists ws P own, first_writers (on o) ws P /\ vs = flat (on o) ws ++ own /\
    (own = [] \/ own = appends (on o) p /\ last_write (on o) p <> None /\
                 forall a, P a <-> finish e a < finish e t).
Proof.
  intros t p o vs C R. destruct model_consistent as (_ & _ & X). specialize (X t p o _ C R).
  destruct (last_write (on o) p) as [c|].
  - destruct X as (before & (ws & S & I & ->) & ->).
    exists ws, (fun a => finish e a < finish e t), (appends (on o) p). split; [|split; auto].
    + split; [|split]; auto. intros. lia.
    + right. split; auto. split; [discriminate|tauto].
  - destruct X as (_ & (ws & S & I & ->)). eexists ws, _, []. split; [|split; auto].
    + split; [exact S|split; [exact I|]]. cbn beta. intros a b L.
      destruct (source e t (length p)); [lia|tauto].
    + now rewrite app_nil_r.
Qed.

Lemma holds_int_in : forall v vs, holds_int v vs = true <-> In v vs.
Proof.
  intros. unfold holds_int. rewrite existsb_exists. split.
  - intros (x & I & E). apply eqb_id in E. now subst.
  - intros I. exists v. split; auto. apply eqb_same.
Qed.
Lemma not_holds_int : forall v vs, holds_int v vs = false <-> ~ In v vs.
Proof. intros. rewrite <- holds_int_in. destruct (holds_int v vs); split; congruence. Qed.
Lemma up_to_split : forall v vs b, up_to v vs = Some b ->
  In v vs /\ forall x y, vs = x ++ y -> ~ In v x -> exists z, b = x ++ z.
Proof.
  induction vs as [|w vs IH]; simpl; intros b E; [discriminate|].
  destruct (sameP w v) as [->|N].
  - injection E as <-. split; auto. intros [|q x] y Q; [eexists; reflexivity|].
    injection Q as <- _. intros X. exfalso. apply X. now left.
  - destruct (up_to v vs) as [c|]; [|discriminate]. injection E as <-.
    destruct (IH c eq_refl) as (I & F). split; auto. intros [|q x] y Q; [eexists; reflexivity|].
    injection Q as <- Q. intros X. destruct (F x y Q) as (z & ->); [|now exists z].
    intros J. apply X. now right.
Qed.
Lemma appends_writer : forall k t v, In v (appends k (ops t)) -> writes_key k t = true.
Proof.
  intros k t v I. unfold writes_key. destruct (last_write k (ops t)) eqn:L; auto.
  rewrite (no_write_no_appends k (ops t) L) in I. destruct I.
Qed.
Lemma sorted_split : forall x (a : txn) y, sorted (x ++ a :: y) ->
  (forall b, In b x -> finish e b < finish e a) /\ (forall b, In b y -> finish e a < finish e b).
Proof.
  induction x as [|c x IH]; simpl; intros a y S; inversion S; subst; rewrite Forall_forall in *.
  - split; auto. intros b [].
  - destruct (IH a y H1) as (A & B). split; auto. intros b [<-|I]; auto.
    apply H2. rewrite in_app_iff. simpl. auto.
Qed.
Lemma alive : forall t, counts h e t -> outcome t <> Aborted.
Proof.
  intros t (I & L) O. destruct model_consistent as (_ & Ab & _). rewrite (Ab t I O) in L. discriminate.
Qed.

Lemma list_order_holds : forall t n a v b v' c, gives (ListOrder t n a v b v') c -> truth c.
Proof.
  intros i n ia v ib v' c E. cbn [conclude] in E. destruct (get table ia) as [a|] eqn:G; [|discriminate].
  apply txn_at in G. destruct G as (Ia & <-). eapply with_txn_truth; [exact E|].
  intros t c1 It _ Ct F. cbn beta in F. eapply with_txn_truth; [exact F|].
  intros b c2 Ib _ Cb F'. cbn beta in F'. apply at_read_some in F'.
  destruct F' as (p & o & s & R & _ & F' & _). destruct s as [| | |vs]; try discriminate.
  destruct (up_to v vs) as [before|] eqn:U; [|discriminate]. ands.
  apply holds_int_in in H. apply not_holds_int in H2. rewrite forallb_forall in H0.
  apply up_to_split in U. destruct U as (Iv & U).
  assert (Only : forall w, counts h e w -> In v (appends (on o) (ops w)) -> w = a).
  { intros w Cw J. specialize (H0 w). rewrite orb_true_iff, negb_true_iff, not_holds_int, eqb_id in H0.
    destruct H0 as [Q|Q]; [|eapply unique_id; eauto; apply Cw|contradiction].
    apply writers_complete; [apply Cw|now apply alive|]. now apply appends_writer with v. }
  assert (Nab : a <> b) by (intros ->; now rewrite eqb_same in *).
  destruct (read_list t p o vs Ct R) as (ws & P & own & (S & I & D) & -> & Own).
  assert (Wb : writer h e (on o) b).
  { split; auto. apply appends_writer in H. unfold writes_key in H. destruct (last_write (on o) (ops b)); congruence. }
  assert (Goal : counts h e a /\ ~ finish e b < finish e a).
  { destruct (in_dec (fun x y => reflect_dec _ _ (sameP x y)) v (flat (on o) ws)) as [J|J].
    - unfold flat in J. apply in_flat_map in J. destruct J as (w & Iw & J).
      assert (Cw : counts h e w) by (apply I in Iw; apply Iw).
      assert (w = a) as -> by (apply Only; auto). split; auto. intros L. apply H2.
      destruct (in_split a ws Iw) as (x & y & ->). destruct (sorted_split x a y S) as (Lx & Ly).
      destruct (U (flat (on o) x) (appends (on o) (ops a) ++ flat (on o) y ++ own)) as (z & ->).
      + unfold flat. rewrite flat_map_app. simpl. now rewrite <- !app_assoc.
      + intros K. unfold flat in K. apply in_flat_map in K. destruct K as (u & Iu & K).
        assert (u = a) as ->.
        { apply Only; auto. assert (X : In u (x ++ a :: y)) by (rewrite in_app_iff; auto).
          apply I in X. apply X. }
        specialize (Lx a Iu). lia.
      + rewrite in_app_iff. left. unfold flat. apply in_flat_map. exists b. split; auto.
        assert (X : In b (x ++ a :: y)).
        { apply I. split; auto. apply D with a; auto. apply I in Iw. apply Iw. }
        rewrite in_app_iff in X. destruct X as [X|[X|X]]; auto; [congruence|].
        specialize (Ly b X). lia.
    - rewrite in_app_iff in Iv. destruct Iv as [Iv|Iv]; [contradiction|].
      destruct Own as [->|(-> & _ & Lim)]; [destruct Iv|].
      assert (a = t) as ->.
      { symmetry. apply Only; auto. destruct R as ((rest & ->) & _). unfold appends in *.
        rewrite flat_map_app, in_app_iff. auto. }
      split; auto. intros L. apply H2.
      destruct (U (flat (on o) ws) (appends (on o) p) eq_refl J) as (z & ->).
      rewrite in_app_iff. left. unfold flat. apply in_flat_map. exists b. split; auto.
      apply I. split; auto. now apply Lim. }
  destruct Goal as (Ca & L). apply truth_cons. left. apply lt_moment; auto. cbn [moment].
  destruct (Z.lt_trichotomy (finish e a) (finish e b)) as [Y|[Y|Y]]; auto; [|contradiction].
  exfalso. apply Nab. now apply model_apart.
Qed.

Lemma sorted_prefix : forall l1 l2 : list txn, sorted l1 -> sorted l2 -> incl l1 l2 ->
  (forall a b, In a l2 -> In b l1 -> finish e a < finish e b -> In a l1) -> exists r, l2 = l1 ++ r.
Proof.
  induction l1 as [|x l1 IH]; intros l2 S1 S2 I D; [eexists; reflexivity|].
  destruct l2 as [|y l2]; [destruct (I x); now left|].
  inversion S1 as [|? ? S1' F1]; inversion S2 as [|? ? S2' F2]; subst. rewrite Forall_forall in *.
  assert (x = y) as ->.
  { destruct (I x (or_introl eq_refl)) as [->|J]; auto.
    specialize (F2 x J). destruct (D y x) as [->|K]; simpl; auto. specialize (F1 y K). lia. }
  destruct (IH l2) as (r & ->); auto; [| |now exists r].
  - intros a J. destruct (I a (or_intror J)) as [->|K]; auto. specialize (F1 a J). lia.
  - intros a b J K L. destruct (D a b) as [->|M]; simpl; auto. specialize (F2 a J). lia.
Qed.
Lemma nested : forall k ws P ws' P', first_writers k ws P -> first_writers k ws' P' ->
  (exists r, ws' = ws ++ r) \/ (exists r, ws = ws' ++ r).
Proof.
  assert (One : forall k ws P ws' P', first_writers k ws P -> first_writers k ws' P' -> incl ws ws' ->
            exists r, ws' = ws ++ r).
  { intros k ws P ws' P' (S & I & D) (S' & I' & D') Q. apply sorted_prefix; auto.
    intros a b Ia Ib L. apply I. apply I' in Ia. split; [apply Ia|].
    apply D with b; auto. apply I in Ib. apply Ib. }
  intros k ws P ws' P' F F'.
  destruct (forallb (fun a => existsb (fun b => (id b =? id a)%uint63) ws') ws) eqn:A.
  - left. eapply One; eauto. intros a J. rewrite forallb_forall in A. specialize (A a J).
    apply existsb_exists in A. destruct A as (b & K & Q). apply eqb_id in Q.
    assert (b = a) as <-; auto. destruct F as (_ & I & _), F' as (_ & I' & _).
    apply I in J. apply I' in K. eapply unique_id; eauto; [apply K|apply J].
  - right. eapply One; eauto. intros b J.
    assert (X : exists a, In a ws /\ ~ In a ws').
    { clear - A. induction ws as [|a ws IH]; simpl in A; [discriminate|].
      apply andb_false_iff in A. destruct A as [A|A].
      - exists a. split; [now left|]. intros K. apply not_true_iff_false in A. apply A.
        apply existsb_exists. exists a. split; auto. apply eqb_same.
      - destruct (IH A) as (x & K & N). exists x. split; auto. now right. }
    destruct X as (a & K & N). destruct F as (_ & I & D), F' as (_ & I' & D').
    apply I. apply I in K. apply I' in J. split; [apply J|].
    destruct (Z.lt_trichotomy (finish e a) (finish e b)) as [L|[L|L]].
    + exfalso. apply N. apply I'. split; [apply K|]. apply D' with b; auto. apply J.
    + exfalso. apply N. apply I'. assert (a = b) as -> by (apply model_apart; [apply K|apply J|auto]). exact J.
    + apply D with a; auto. apply K.
Qed.
Lemma read_beginning : forall t p o vs, counts h e t -> reads t p o (Elements vs) ->
  exists ws P r, first_writers (on o) ws P /\ flat (on o) ws = vs ++ r.
Proof.
  intros t p o vs C R. destruct (read_list t p o vs C R) as (ws & P & own & F & -> & [->|(-> & Lw & Lim)]).
  - exists ws, P, []. rewrite !app_nil_r. auto.
  - destruct F as (S & I & D).
    assert (W : writer h e (on o) t).
    { split; auto. destruct R as ((rest & Sp) & _). destruct (last_write_in _ _ Lw) as (x & c & J & K & Wr).
      apply writes_last with x c; auto. rewrite Sp, in_app_iff. auto. }
    exists (ws ++ [t]), (fun a => finish e a <= finish e t).
    destruct R as ((rest & Sp) & _).
    exists (appends (on o) (o :: rest)). split; [split; [|split]|].
    + apply sorted_snoc; auto. apply Forall_forall. intros a J. apply I in J. destruct J as (_ & J). now apply Lim.
    + intros a. rewrite in_app_iff, I, Lim. simpl. split.
      * intros [(A & B)|[<-|[]]]; split; auto; lia.
      * intros (A & B). destruct (Z.eq_dec (finish e a) (finish e t)) as [Q|Q].
        -- right. left. symmetry. apply model_apart; auto. apply A.
        -- left. split; auto. lia.
    + intros. lia.
    + unfold flat. rewrite flat_map_app. simpl. rewrite app_nil_r, Sp. unfold appends at 2.
      rewrite flat_map_app. now rewrite app_assoc.
Qed.

Lemma prefixes : forall a b r r' : list int, a ++ r = b ++ r' -> is_prefix a b = true \/ is_prefix b a = true.
Proof.
  induction a as [|x a IH]; simpl; auto. intros [|y b] r r' E; simpl; auto.
  injection E as -> E. rewrite eqb_same. simpl. eauto.
Qed.
Lemma conflict_holds : forall t n t' n' c, gives (Conflict t n t' n') c -> truth c.
Proof.
  intros i n i' n' c E. cbn [conclude] in E. eapply with_txn_truth; [exact E|].
  intros t c1 It _ C F. cbn beta in F. eapply with_txn_truth; [exact F|].
  intros t' c2 It' _ C' F'. cbn beta in F'.
  apply at_read_some in F'. destruct F' as (p & o & s & R & _ & F' & _).
  apply at_read_some in F'. destruct F' as (p' & o' & s' & R' & _ & F' & _). exfalso.
  destruct s as [| | |vs]; try discriminate. destruct s' as [| | |vs']; try discriminate. ands.
  apply eqb_id in H.
  destruct (read_beginning t p o vs C R) as (ws & P & r & Fw & Q).
  destruct (read_beginning t' p' o' vs' C' R') as (ws' & P' & r' & Fw' & Q'). rewrite <- H in Fw', Q'.
  assert (X : exists z z', vs ++ z = vs' ++ z').
  { destruct (nested _ _ _ _ _ Fw Fw') as [(x & ->)|(x & ->)]; unfold flat in *;
      rewrite flat_map_app in *; fold flat in *.
    - rewrite Q in Q'. exists (r ++ flat (on o) x), r'. rewrite app_assoc. exact Q'.
    - rewrite Q' in Q. exists r, (r' ++ flat (on o) x). rewrite app_assoc. symmetry. exact Q. }
  destruct X as (z & z' & X). apply prefixes in X. destruct X; congruence.
Qed.

Lemma copies_app : forall v a b, copies v (a ++ b) = (copies v a + copies v b)%nat.
Proof. intros. unfold copies. now rewrite filter_app, app_length. Qed.
Lemma copies_flat : forall k v ws, copies v (flat k ws) = appended k v ws.
Proof.
  intros k v. induction ws as [|w ws IH]; auto. unfold flat in *. cbn [flat_map appended fold_right].
  rewrite copies_app. unfold appended in IH. now rewrite IH.
Qed.
Lemma appended_app : forall k v a b, appended k v (a ++ b) = (appended k v a + appended k v b)%nat.
Proof. intros k v a b. rewrite <- !copies_flat. unfold flat. now rewrite flat_map_app, copies_app. Qed.
Lemma appended_incl : forall k v ws all, NoDup ws -> incl ws all ->
  (appended k v ws <= appended k v all)%nat.
Proof.
  intros k v ws. induction ws as [|w ws IH]; intros all N I; [apply Nat.le_0_l|].
  inversion N as [|? ? Nw N']; subst.
  destruct (in_split w all (I w (or_introl eq_refl))) as (a & b & ->).
  assert (J : incl ws (a ++ b)).
  { intros x Ix. assert (Ix' := I x (or_intror Ix)). rewrite in_app_iff in *. simpl in Ix'.
    destruct Ix' as [?|[<-|?]]; auto. contradiction. }
  specialize (IH (a ++ b) N' J). rewrite !appended_app in *. unfold appended in *. cbn [fold_right]. lia.
Qed.
Lemma sorted_nodup : forall ws, sorted ws -> NoDup ws.
Proof.
  induction 1 as [|w ws S IH F]; constructor; auto. intros I. rewrite Forall_forall in F.
  specialize (F w I). lia.
Qed.
(* --- places in lists --- *)

Lemma nat_of_0 : nat_of 0 = 0%nat.
Proof. reflexivity. Qed.
Lemma nat_of_pred : forall q, (q =? 0)%uint63 = false -> nat_of q = S (nat_of (q - 1)).
Proof.
  intros q N. pose proof (to_Z_bounded q) as B.
  assert (Z0 : to_Z q <> 0).
  { intros E. apply not_true_iff_false in N. apply N, eqb_id, to_Z_inj. rewrite E. reflexivity. }
  unfold nat_of. rewrite sub_spec. change (to_Z 1) with 1. rewrite Z.mod_small by lia.
  rewrite <- Z2Nat.inj_succ by lia. f_equal. lia.
Qed.
Lemma nat_of_lt : forall a b, (a <? b)%uint63 = true -> (nat_of a < nat_of b)%nat.
Proof.
  intros a b L. apply ltb_lt in L. pose proof (to_Z_bounded a). unfold nat_of. lia.
Qed.
Lemma nat_of_sub : forall a b, (a <=? b)%uint63 = true -> (nat_of b = nat_of a + nat_of (b - a))%nat.
Proof.
  intros a b L. apply leb_le in L. pose proof (to_Z_bounded a). pose proof (to_Z_bounded b).
  unfold nat_of. rewrite sub_spec, Z.mod_small by lia. lia.
Qed.
Lemma nat_of_inj : forall a b, nat_of a = nat_of b -> a = b.
Proof.
  intros a b E. apply to_Z_inj. pose proof (to_Z_bounded a). pose proof (to_Z_bounded b). unfold nat_of in E. lia.
Qed.
Lemma nat_of_succ : forall q p, (q <? p)%uint63 = true -> nat_of (q + 1) = S (nat_of q).
Proof.
  intros q p L. apply ltb_lt in L. pose proof (to_Z_bounded q). pose proof (to_Z_bounded p).
  unfold nat_of. rewrite add_spec. change (to_Z 1) with 1. rewrite Z.mod_small by lia. lia.
Qed.

Lemma drop_ok : forall q vs r, drop q vs = Some r -> exists x, vs = x ++ r /\ length x = nat_of q.
Proof.
  intros q vs. revert q. induction vs as [|v vs IH]; intros q r E; cbn [drop] in E;
    (destruct (q =? 0)%uint63 eqn:Q;
     [injection E as <-; exists []; apply eqb_id in Q; subst; split; reflexivity|]).
  - discriminate.
  - destruct (IH _ _ E) as (x & -> & L). exists (v :: x). split; auto. simpl. now rewrite nat_of_pred, L.
Qed.
Lemma starts_ok : forall x v y p, (length x <= nat_of p)%nat ->
  exists q, In q (starts v (x ++ v :: y) p) /\ nat_of p = (nat_of q + length x)%nat.
Proof.
  induction x as [|z x IH]; intros v y p L; cbn [app starts length].
  - rewrite eqb_same. exists p. split; [now left|lia].
  - simpl in L. destruct (p =? 0)%uint63 eqn:Q; [apply eqb_id in Q; subst; rewrite nat_of_0 in L; lia|].
    pose proof (nat_of_pred p Q) as N. destruct (IH v y (p - 1)%uint63) as (q & I & E); [lia|].
    exists q. rewrite in_app_iff. split; auto. lia.
Qed.
Lemma reaches_ok : forall b d, reaches b d = true -> (nat_of d < length b)%nat.
Proof.
  induction b as [|x b IH]; simpl; intros d R; [discriminate|]. destruct (d =? 0)%uint63 eqn:Q.
  - apply eqb_id in Q. subst. rewrite nat_of_0. lia.
  - rewrite nat_of_pred by auto. apply IH in R. lia.
Qed.
Lemma matches_ok : forall x p b r q, is_prefix b r = true -> r <> [] -> (nat_of q + length x < nat_of p)%nat ->
  exists q', In q' (matches q p b (x ++ r)) /\ nat_of q' = (nat_of q + length x)%nat.
Proof.
  assert (Lt : forall q p n, (nat_of q + n < nat_of p)%nat -> (q <? p)%uint63 = true).
  { intros q p n L. apply ltb_lt. pose proof (to_Z_bounded q). pose proof (to_Z_bounded p). unfold nat_of in L. lia. }
  induction x as [|z x IH]; intros p b r q P N L; cbn [app].
  - destruct r as [|v r]; [congruence|]. cbn [matches]. rewrite (Lt q p _ L), P. exists q.
    split; [now left|simpl; lia].
  - cbn [matches]. pose proof (Lt q p _ L) as Q. rewrite Q. simpl length in L.
    destruct (IH p b r (q + 1)%uint63 P N) as (q' & I & E); [rewrite (nat_of_succ q p Q); lia|].
    exists q'. rewrite in_app_iff. split; auto. rewrite E, (nat_of_succ q p Q). simpl. lia.
Qed.
Lemma same_elements_eq : forall a b, same_elements a b = true -> a = b.
Proof.
  intros a b S. unfold same_elements in S. apply andb_prop in S. destruct S as (P & L). apply Nat.eqb_eq in L.
  revert b P L. induction a as [|x a IH]; intros [|y b] P L; simpl in *; try discriminate; auto.
  apply andb_prop in P. destruct P as (E & P). apply eqb_id in E. subst. f_equal. auto.
Qed.
Lemma same_elements_refl : forall a, same_elements a a = true.
Proof.
  intros a. unfold same_elements. rewrite Nat.eqb_refl, andb_true_r. rewrite <- (app_nil_r a) at 2. apply is_prefix_app.
Qed.

Lemma flat_app : forall k a b, flat k (a ++ b) = flat k a ++ flat k b.
Proof. intros. unfold flat. apply flat_map_app. Qed.
Lemma flat_incl : forall k ws all, NoDup ws -> (forall a, In a ws -> appends k (ops a) <> [] -> In a all) ->
  (length (flat k ws) <= length (flat k all))%nat.
Proof.
  intros k ws. induction ws as [|w ws IH]; intros all N I; [apply Nat.le_0_l|].
  inversion N as [|? ? Nw N']; subst. cbn [flat flat_map]. rewrite app_length. fold (flat k ws).
  destruct (appends k (ops w)) as [|v r] eqn:A.
  - apply IH; auto. intros. apply I; auto. now right.
  - destruct (in_split w all) as (a & b & ->); [apply I; [now left|congruence]|].
    rewrite flat_app, app_length. cbn [flat flat_map]. rewrite app_length, A. fold (flat k b).
    assert (J : forall x, In x ws -> appends k (ops x) <> [] -> In x (a ++ b)).
    { intros x Ix Ax. specialize (I x (or_intror Ix) Ax). rewrite in_app_iff in *. simpl in I.
      destruct I as [?|[<-|?]]; auto. contradiction. }
    specialize (IH (a ++ b) N' J). rewrite flat_app, app_length in IH. cbn [length]. lia.
Qed.
Lemma nodup_app : forall (a b : list txn), NoDup a -> NoDup b -> (forall x, In x a -> ~ In x b) -> NoDup (a ++ b).
Proof.
  induction a as [|x a IH]; simpl; auto. intros b N M D. inversion N; subst. constructor.
  - rewrite in_app_iff. intros [?|?]; [contradiction|]. apply (D x); auto.
  - apply IH; auto.
Qed.
Lemma wf_nodup : NoDup (txns h).
Proof.
  unfold well_formed in wf. induction wf as [|t ts S IH F]; constructor; auto.
  intros I. rewrite Forall_forall in F. specialize (F t I). lia.
Qed.
Lemma ahead_in : forall k w a, In a (filter (ahead k w) (txns h)) <->
  counts h e a /\ finish e a < finish e w /\ writes_key k a = true.
Proof.
  intros. rewrite filter_In. unfold ahead, counts. rewrite !andb_true_iff, Z.ltb_lt. tauto.
Qed.
Lemma writes_key_writer : forall k a, counts h e a -> writes_key k a = true -> writer h e k a.
Proof. intros k a C W. split; auto. unfold writes_key in W. destruct (last_write k (ops a)); congruence. Qed.
Lemma writer_writes_key : forall k a, writer h e k a -> writes_key k a = true.
Proof. intros k a (_ & W). unfold writes_key. destruct (last_write k (ops a)); congruence. Qed.
Lemma nonempty_writes : forall k a, appends k (ops a) <> [] -> writes_key k a = true.
Proof.
  intros k a N. destruct (appends k (ops a)) as [|v r] eqn:A; [congruence|].
  apply appends_writer with v. rewrite A. now left.
Qed.

Lemma lead_ge : forall k w ws, sorted ws -> (forall a, In a ws -> writer h e k a /\ finish e a < finish e w) ->
  (length (flat k ws) <= lead k w)%nat.
Proof.
  intros k w ws S I. apply flat_incl; [now apply sorted_nodup|]. intros a J _. apply ahead_in.
  destruct (I a J) as (W & L). split; [apply W|]. split; auto. now apply writer_writes_key.
Qed.
Lemma lead_eq : forall k w ws, sorted ws -> (forall a, In a ws <-> writer h e k a /\ finish e a < finish e w) ->
  length (flat k ws) = lead k w.
Proof.
  intros k w ws S I. apply Nat.le_antisymm.
  - apply lead_ge; auto. intros a J. now apply I.
  - apply flat_incl; [apply NoDup_filter, wf_nodup|]. intros a J _. apply ahead_in in J. destruct J as (C & L & W).
    apply I. split; auto. now apply writes_key_writer.
Qed.
Lemma lead_mono : forall k a b, counts h e a -> finish e a < finish e b ->
  (lead k a + length (appends k (ops a)) <= lead k b)%nat.
Proof.
  intros k a b C L. unfold lead at 1.
  replace (length (flat k (filter (ahead k a) (txns h))) + length (appends k (ops a)))%nat
    with (length (flat k (filter (ahead k a) (txns h) ++ [a])))
    by (rewrite flat_app, app_length; cbn [flat flat_map]; now rewrite app_nil_r).
  apply flat_incl.
  - apply nodup_app; [apply NoDup_filter, wf_nodup|repeat constructor; auto|].
    intros x J [<-|[]]. apply ahead_in in J. lia.
  - intros x J N. rewrite in_app_iff in J. apply ahead_in. destruct J as [J|[<-|[]]].
    + apply ahead_in in J. destruct J as (Cx & Lx & W). split; auto. split; auto. lia.
    + split; auto. split; auto. now apply nonempty_writes.
Qed.
Lemma lead_split : forall k ws P x w y, first_writers k ws P -> ws = x ++ w :: y -> length (flat k x) = lead k w.
Proof.
  intros k ws P x w y (S & I & D) ->. pose proof (sorted_split x w y S) as (Lx & Ly). apply lead_eq.
  - clear - S. induction x as [|a x IH]; [constructor|]. inversion S as [|? ? S' F]; subst. constructor; auto.
    rewrite Forall_forall in *. intros b J. apply F. rewrite in_app_iff. auto.
  - assert (Iw : In w (x ++ w :: y)) by (rewrite in_app_iff; simpl; auto). apply I in Iw.
    intros a. split.
    + intros J. split; auto. assert (K : In a (x ++ w :: y)) by (rewrite in_app_iff; auto). apply I in K. apply K.
    + intros (W & L). assert (K : In a (x ++ w :: y)) by (apply I; split; auto; apply D with w; auto; apply Iw).
      rewrite in_app_iff in K. destruct K as [K|[<-|K]]; auto; [lia|]. specialize (Ly a K). lia.
Qed.

(* Whom a read saw is before the reader. *)
Lemma source_before : forall t p o s w, counts h e t -> reads_other t p o s -> row_ok l p o = true ->
  source e t (length p) = Some w -> finish e w < finish e t.
Proof.
  intros t p o s w C R Ro S.
  assert (Row : match l with ReadCommitted => true | _ => false end = true -> first_row p o).
  { apply rc_row. unfold row_ok, external in Ro. rewrite (proj2 R) in Ro. exact Ro. }
  destruct by_shape as [(sh & Sh & M)|(_ & M)].
  - destruct M as (_ & _ & Wr & _ & Ev & _). specialize (Wr t p o s w C R S).
    assert (start e t <= finish e t); [|lia].
    destruct (two sh); [destruct Ev as (Ev & _)|]; specialize (Ev t C); lia.
  - destruct M as (_ & _ & _ & Wr & _). cbn zeta in Wr. apply (Wr w t p o). split; auto.
    split; [exists s; exact R|]. split; auto.
Qed.

(* A list that was read: whole writers, all before the reader, and its own appends so far. *)
Lemma read_parts : forall t p o vs, counts h e t -> reads t p o (Elements vs) -> row_ok l p o = true ->
  exists ws P own, first_writers (on o) ws P /\ vs = flat (on o) ws ++ own /\
    (forall a, P a -> finish e a < finish e t) /\
    own = (if external p o then [] else appends (on o) p) /\
    (external p o = false -> forall a, P a <-> finish e a < finish e t).
Proof.
  intros t p o vs C R Ro. destruct model_consistent as (_ & _ & X). specialize (X t p o _ C R).
  unfold external. destruct (last_write (on o) p) as [c|] eqn:Lw.
  - destruct X as (before & (ws & S & I & ->) & ->).
    exists ws, (fun a => finish e a < finish e t), (appends (on o) p). split; [|split; [|split; [|split]]]; auto.
    + split; [|split]; auto. intros. lia.
    + intros _ a. tauto.
  - destruct X as (Wr & (ws & S & I & ->)). eexists ws, _, []. split; [|split; [|split; [|split]]].
    + split; [exact S|split; [exact I|]]. cbn beta. intros a b L.
      destruct (source e t (length p)); [lia|tauto].
    + now rewrite app_nil_r.
    + cbn beta. intros a Pa. destruct (source e t (length p)) as [w|] eqn:So; [|tauto].
      pose proof (source_before t p o _ w C (conj R Lw) Ro So). lia.
    + reflexivity.
    + discriminate.
Qed.
Lemma own_lead : forall t p o vs, counts h e t -> reads t p o (Elements vs) -> row_ok l p o = true ->
  (external p o = true -> (length vs <= lead (on o) t)%nat) /\
  (external p o = false -> exists b, vs = b ++ appends (on o) p /\ length b = lead (on o) t).
Proof.
  intros t p o vs C R Ro. destruct (read_parts t p o vs C R Ro) as (ws & P & own & (S & I & D) & -> & Bf & Ow & Own).
  split; intros X; rewrite X in Ow; subst own.
  - rewrite app_nil_r. apply lead_ge; auto. intros a J. apply I in J. destruct J. auto.
  - exists (flat (on o) ws). split; auto. apply lead_eq; auto. intros a. now rewrite I, (Own X).
Qed.
Lemma own_part : forall t p o vs, reads t p o (Elements vs) ->
  (length (appends (on o) p) <= length (appends (on o) (ops t)))%nat.
Proof.
  intros t p o vs ((rest & ->) & _). unfold appends. rewrite flat_map_app, app_length. lia.
Qed.
Lemma in_or_not : forall w ws, In w (txns h) -> (forall a, In a ws -> In a (txns h)) -> In w ws \/ ~ In w ws.
Proof.
  intros w ws Iw A. destruct (existsb (fun a => (id a =? id w)%uint63) ws) eqn:X.
  - left. apply existsb_exists in X. destruct X as (a & J & Q). apply eqb_id in Q.
    assert (a = w) as <- by (eapply unique_id; eauto). exact J.
  - right. intros J. apply not_true_iff_false in X. apply X, existsb_exists. exists w. split; auto. apply eqb_same.
Qed.
(* The same without what is needed at read-committed: of others than the reader. *)
Lemma other_block : forall t p o vs w, counts h e t -> reads t p o (Elements vs) -> counts h e w -> w <> t ->
  appends (on o) (ops w) <> [] -> (lead (on o) w < length vs)%nat ->
  exists x r, vs = x ++ appends (on o) (ops w) ++ r /\ length x = lead (on o) w.
Proof.
  intros t p o vs w C R Cw Nwt Nb L.
  assert (Ww : writer h e (on o) w) by (apply writes_key_writer; auto; now apply nonempty_writes).
  destruct (read_list t p o vs C R) as (ws & P & own & F & -> & Own). pose proof F as (S & I & D).
  destruct (in_or_not w ws) as [J|J]; [apply Cw|intros a K; apply I in K; apply K| |].
  - destruct (in_split w ws J) as (x & y & E). exists (flat (on o) x), (flat (on o) y ++ own).
    split; [|now apply lead_split with ws P y]. rewrite E, flat_app. cbn [flat flat_map]. fold (flat (on o) y).
    now rewrite <- !app_assoc.
  - exfalso. assert (NP : ~ P w) by (intros X; apply J, I; auto).
    assert (Lw : forall a, In a ws -> writer h e (on o) a /\ finish e a < finish e w).
    { intros a K. apply I in K. destruct K as (Wa & Pa). split; auto.
      destruct (Z.lt_trichotomy (finish e a) (finish e w)) as [X|[X|X]]; auto; exfalso; apply NP.
      - assert (a = w) as <- by (apply model_apart; auto; apply Wa). auto.
      - now apply D with a. }
    pose proof (lead_ge (on o) w ws S Lw) as Ge. rewrite app_length in L.
    destruct Own as [->|(-> & Lwr & Lim)]; [simpl in L; lia|].
    assert (Ft : finish e t < finish e w).
    { destruct (Z.lt_trichotomy (finish e t) (finish e w)) as [X|[X|X]]; auto; exfalso.
      - apply Nwt. symmetry. now apply model_apart.
      - apply NP, Lim. auto. }
    pose proof (lead_mono (on o) t w C Ft) as Mo. pose proof (own_part t p o _ R) as Op.
    assert (length (flat (on o) ws) <= lead (on o) t)%nat; [|lia].
    apply lead_ge; auto. intros a K. apply I in K. destruct K as (Wa & Pa). split; auto. now apply Lim.
Qed.

Lemma begins_yes : forall k w q, counts h e w -> lead k w = nat_of q -> yes (begins k (id w) q) = true.
Proof.
  intros k w q (I & L) E. unfold true_literal, begins. cbn [fst snd value]. rewrite txn_all, L, E by auto.
  now rewrite Nat.eqb_refl.
Qed.
(* If it is not true that w's appends begin there the clause is. *)
Lemma begins_or : forall k w q c, In w (txns h) -> (counts h e w -> lead k w = nat_of q -> truth c) ->
  truth (not_begins k (id w) q :: c).
Proof.
  intros k w q c I F. destruct (value (Begins k (id w) q)) eqn:V.
  - apply truth_cons. right. cbn [value] in V. rewrite txn_all in V by auto. apply andb_prop in V.
    destruct V as (L & V). apply Nat.eqb_eq in V. apply F; auto. split; auto.
  - apply truth_cons. left. unfold true_literal, not_begins. cbn [fst snd]. now rewrite V.
Qed.

Lemma app_eq_len : forall (a b c d : list int), length a = length b -> a ++ c = b ++ d -> a = b /\ c = d.
Proof.
  induction a as [|x a IH]; intros [|y b] c d L E; simpl in *; try discriminate; auto.
  injection E as -> E. destruct (IH b c d) as (-> & ->); auto.
Qed.
Lemma within_holds : forall u t n w x c, gives (Within u t n w x) c -> truth c.
Proof.
  intros u i n j m c E. cbn [conclude] in E. found_txns.
  apply at_read_some in E. destruct E as (p & o & s & R & L & F & _). ands. apply external_none in H2.
  apply saw_or; [now apply txn_all|]. intros Li So. assert (C : counts h e t) by (split; auto).
  rewrite <- L in So. destruct (source e t (length p)) as [y|] eqn:Sy; [|tauto].
  destruct (source_counts t p o s y C (conj R H2) Sy) as ((Cy & _) & _).
  assert (y = t1) as -> by (eapply unique_id; eauto; apply Cy).
  apply truth_cons. left. unfold true_literal. cbn [fst snd value]. rewrite !txn_all, Li by auto.
  rewrite <- L, Sy. cbn [andb]. now destruct (within u t0 t1).
Qed.
Lemma one_within_holds : forall u t n w c, gives (OneWithin u t n w) c -> truth c.
Proof.
  intros u i n j c E. cbn [conclude] in E. found_txns.
  apply at_read_some in E. destruct E as (p & o & s & R & L & F & _). ands. apply external_none in H1.
  destruct (value (Bounded u (id t) n (id t0))) eqn:V.
  2: { apply truth_cons. left. unfold true_literal. cbn [fst snd]. now rewrite V. }
  apply truth_cons. right. cbn [value] in V. rewrite !txn_all in V by auto. apply andb_prop in V.
  destruct V as (Li & V). destruct (source e t (nat_of n)) as [y|] eqn:Sy; [|discriminate].
  assert (C : counts h e t) by (split; auto). assert (Sy' := Sy). rewrite <- L in Sy'.
  destruct (source_counts t p o s y C (conj R H1) Sy') as ((Cy & Wy) & _).
  pose proof (may_see_ok t p o s C (conj R H1)) as M. rewrite Sy' in M.
  exists (saw (id t) n (Some (id y))). split; [|now apply (saw_yes t n (Some y))].
  apply in_map_iff. exists y. split; auto. apply filter_In. rewrite V, M. split; auto.
  apply writers_complete; [apply Cy|now apply alive|]. apply writer_writes_key. now split.
Qed.

Lemma stands_holds : forall t n p c, gives (Stands t n p) c -> truth c.
Proof.
  intros i n q c E. cbn [conclude] in E. eapply with_txn_truth; [exact E|].
  intros t c1 It _ C F. cbn beta in F. apply at_read_some in F.
  destruct F as (p & o & s & R & _ & F & _). destruct s as [| | |vs]; try discriminate.
  destruct (drop q vs) as [[|v rest]|] eqn:D; try discriminate. injection F as <-.
  apply drop_ok in D. destruct D as (x & -> & Lx).
  destruct (read_beginning t p o _ C R) as (ws & P & r & Fw & Q).
  assert (Find : forall ws0 x0 r0, flat (on o) ws0 = x0 ++ v :: r0 ->
    exists y w z a b, ws0 = y ++ w :: z /\ appends (on o) (ops w) = a ++ v :: b /\
      (length x0 = length (flat (on o) y) + length a)%nat).
  { clear. induction ws0 as [|w ws0 IH]; intros x0 r0 E; [destruct x0; discriminate|].
    cbn [flat flat_map] in E. fold (flat (on o) ws0) in E.
    destruct (Nat.lt_ge_cases (length x0) (length (appends (on o) (ops w)))) as [L|L].
    - assert (G : exists b, appends (on o) (ops w) = x0 ++ v :: b).
      { revert E L. generalize (appends (on o) (ops w)). clear. induction x0 as [|y x0 IH]; intros [|a bl] E L; simpl in *; try lia.
        - injection E as -> E. eauto.
        - injection E as -> E. destruct (IH bl E) as (b & ->); [lia|]. eauto. }
      destruct G as (b & G). exists [], w, ws0, x0, b. auto.
    - assert (G : exists x1, x0 = appends (on o) (ops w) ++ x1 /\ flat (on o) ws0 = x1 ++ v :: r0).
      { revert E L. generalize (appends (on o) (ops w)). clear. intros bl. revert x0. induction bl as [|a bl IH]; intros x0 E L; simpl in *.
        - exists x0. auto.
        - destruct x0 as [|y x0]; simpl in *; [lia|]. injection E as -> E.
          destruct (IH x0 E) as (x1 & -> & G); [lia|]. exists x1. auto. }
      destruct G as (x1 & -> & G). destruct (IH x1 r0 G) as (y & w' & z & a & b & -> & A & Le).
      exists (w :: y), w', z, a, b. split; auto. split; auto.
      cbn [flat flat_map]. rewrite !app_length, Le. unfold flat. lia. }
  destruct (Find ws x (rest ++ r)) as (y & w & z & a & b & E1 & A & Le).
  { rewrite Q. now rewrite <- app_assoc. }
  rewrite (lead_split (on o) ws P y w z Fw E1) in Le.
  destruct (starts_ok a v b q) as (q' & Iq & Eq); [lia|].
  destruct Fw as (_ & I & _). assert (W : writer h e (on o) w) by (apply I; subst ws; rewrite in_app_iff; simpl; auto).
  exists (begins (on o) (id w) q'). split.
  - apply in_flat_map. exists w. split.
    + apply writers_complete; [apply W|apply alive, W|now apply writer_writes_key].
    + rewrite A. now apply in_map.
  - apply begins_yes; [apply W|lia].
Qed.

Lemma fits_holds : forall t n w q c, gives (Fits t n w q) c -> truth c.
Proof.
  intros i n j q c E. cbn [conclude] in E. destruct (get table j) as [w|] eqn:G; [|discriminate].
  apply txn_at in G. destruct G as (Iw & <-). eapply with_txn_truth; [exact E|].
  intros t c1 It _ C F. cbn beta in F. apply at_read_some in F.
  destruct F as (p & o & s & R & _ & F & _). destruct s as [| | |vs]; try discriminate.
  destruct (drop q vs) as [[|v rest]|] eqn:D; try discriminate. ands.
  apply drop_ok in D. destruct D as (x & -> & Lx). apply begins_or; auto. intros Cw Le. exfalso.
  destruct (sameP (id w) (id t)) as [Q|Q].
  - assert (w = t) as -> by (eapply unique_id; eauto). ands.
    destruct (own_lead t p o _ C R H0) as (X & _). specialize (X H). rewrite app_length in X. simpl in X. lia.
  - ands. destruct (other_block t p o _ w C R Cw) as (x' & r & E1 & L1).
    + intros ->. congruence.
    + intros N. rewrite N in H. discriminate.
    + rewrite app_length. simpl. lia.
    + assert (X : length x = length x') by lia.
      destruct (app_eq_len x x' (v :: rest) (appends (on o) (ops w) ++ r) X E1) as (_ & E2).
      rewrite E2, is_prefix_app in H. discriminate.
Qed.

Lemma places_holds : forall k a p b q c, gives (Places k a p b q) c -> truth c.
Proof.
  intros k i p j q c E. cbn [conclude] in E.
  destruct (get table i) as [a|] eqn:G; [|discriminate]. destruct (get table j) as [b|] eqn:G'; [|discriminate].
  apply txn_at in G, G'. destruct G as (Ia & <-), G' as (Ib & <-).
  destruct (sameP (id a) (id b)) as [Q|Q].
  - assert (a = b) as -> by (eapply unique_id; eauto). ands. apply begins_or; auto. intros _ L.
    apply begins_or; auto. intros _ L'. exfalso. apply not_true_iff_false in H. apply H, eqb_id, nat_of_inj. lia.
  - assert (N : a <> b) by (intros ->; congruence).
    destruct (_ && _ && _)%bool eqn:T.
    + injection E as <-. ands. apply begins_or; auto. intros Ca L. apply begins_or; auto. intros Cb L'. exfalso.
      apply nat_of_sub in H. apply reaches_ok in H0, H1. rewrite nat_of_0 in H1.
      destruct (Z.lt_trichotomy (finish e a) (finish e b)) as [X|[X|X]].
      * pose proof (lead_mono k a b Ca X). lia.
      * apply N. now apply model_apart.
      * pose proof (lead_mono k b a Cb X). lia.
    + ands. apply begins_or; auto. intros Ca L. apply begins_or; auto. intros Cb L'.
      apply nat_of_lt in H. apply truth_cons. left. apply lt_moment; auto. cbn [moment].
      destruct (Z.lt_trichotomy (finish e a) (finish e b)) as [X|[X|X]]; auto; exfalso.
      * apply N. now apply model_apart.
      * pose proof (lead_mono k b a Cb X). lia.
Qed.

Lemma precedes_holds : forall t n a p b c, gives (Precedes t n a p b) c -> truth c.
Proof.
  intros i n j q m c E. cbn [conclude] in E. destruct (get table j) as [a|] eqn:G; [|discriminate].
  apply txn_at in G. destruct G as (Ia & <-). eapply with_txn_truth; [exact E|].
  intros t c1 It _ C F. cbn beta in F. eapply with_txn_truth; [exact F|].
  intros b c2 Ib _ Cb F'. cbn beta in F'. apply at_read_some in F'.
  destruct F' as (p & o & s & R & _ & F' & _). destruct s as [| | |vs]; try discriminate.
  destruct (drop q vs) as [[|v rest]|] eqn:D; try discriminate. ands.
  apply drop_ok in D. destruct D as (x & Ev & Lx). apply begins_or; auto. intros Ca Le.
  apply reaches_ok in H1. rewrite nat_of_0 in H1.
  assert (N : a <> b) by (intros ->; now rewrite eqb_same in *).
  destruct (Z.lt_trichotomy (finish e a) (finish e b)) as [X|[X|X]].
  { apply truth_cons. left. apply lt_moment; auto. }
  { exfalso. apply N. now apply model_apart. }
  apply truth_cons. right. pose proof (lead_mono (on o) b a Cb X) as Mo.
  assert (Lv : (nat_of q < length vs)%nat) by (rewrite Ev, app_length; simpl; lia).
  destruct (sameP (id b) (id t)) as [Q|Q].
  - exfalso. assert (b = t) as -> by (eapply unique_id; eauto).
    destruct (own_lead t p o vs C R H0) as (Ex & Ow). destruct (external p o).
    + specialize (Ex eq_refl). lia.
    + destruct (Ow eq_refl) as (bf & Ev' & Lb). pose proof (own_part t p o vs R) as Op.
      rewrite Ev', app_length in Lv. lia.
  - destruct (other_block t p o vs b C R Cb) as (x' & r & E1 & L1).
    + intros ->. congruence.
    + intros Z. rewrite Z in H1. simpl in H1. lia.
    + lia.
    + rewrite E1. destruct (matches_ok x' q (appends (on o) (ops b)) (appends (on o) (ops b) ++ r) 0) as (q' & Iq & Eq).
      * apply is_prefix_app.
      * intros Z. apply app_eq_nil in Z. destruct Z as (Z & _). rewrite Z in H1. simpl in H1. lia.
      * rewrite nat_of_0. lia.
      * exists (begins (on o) (id b) q'). split; [now apply in_map|]. apply begins_yes; auto. rewrite nat_of_0 in Eq. lia.
Qed.

Lemma ends_holds : forall t n w q c, gives (Ends t n w q) c -> truth c.
Proof.
  intros i n j q c E. cbn [conclude] in E. found_txns.
  apply at_read_some in E. destruct E as (p & o & s & R & L & F & _).
  destruct s as [| | |vs]; try discriminate. destruct (drop q vs) as [rest|] eqn:D; [|discriminate]. ands.
  apply drop_ok in D. destruct D as (x & -> & Lx). apply external_none in H1.
  apply saw_or; [now apply txn_all|]. intros Li So. assert (C : counts h e t) by (split; auto).
  rewrite <- L in So. destruct (source e t (length p)) as [y|] eqn:Sy; [|tauto].
  destruct (source_counts t p o _ y C (conj R H1) Sy) as (Wy & _).
  assert (y = t0) as -> by (eapply unique_id; eauto; apply Wy).
  destruct (source_ok t p o _ C (conj R H1)) as (_ & V). rewrite Sy in V. cbn [sees_version] in V.
  pose proof V as (ws & S & I & Ev).
  destruct (list_last (on o) t0 _ Wy V) as (pre & E1).
  assert (Lp : length pre = lead (on o) t0).
  { assert (J : In t0 ws) by (apply I; split; auto; lia). destruct (in_split t0 ws J) as (u & z & Ew).
    assert (z = []) as ->.
    { destruct z as [|b z]; auto. exfalso. subst ws. pose proof (sorted_split u t0 (b :: z) S) as (_ & Ly).
      specialize (Ly b (or_introl eq_refl)). assert (K : In b (u ++ t0 :: b :: z)) by (rewrite in_app_iff; simpl; auto).
      apply I in K. cbn beta in K. lia. }
    rewrite <- (lead_split (on o) ws (fun a => finish e a <= finish e t0) u t0 []); auto.
    - rewrite E1 in Ev. rewrite Ew in Ev. rewrite flat_map_app in Ev. cbn [flat_map] in Ev. rewrite app_nil_r in Ev.
      apply (f_equal (@length _)) in Ev. rewrite !app_length in Ev. unfold flat. lia.
    - split; [exact S|split; [exact I|]]. cbn beta. intros. lia. }
  assert (Lt : (length x + length rest = length pre + length (appends (on o) (ops t0)))%nat).
  { rewrite <- !app_length. now rewrite E1. }
  apply orb_prop in H2. destruct H2 as [H2|H2].
  - apply Nat.eqb_eq in H2. assert (X : length x = length pre) by lia.
    destruct (app_eq_len x pre rest (appends (on o) (ops t0)) X E1) as (_ & ->).
    rewrite same_elements_refl. apply truth_cons. left. apply begins_yes; [apply Wy|lia].
  - exfalso. apply andb_prop in H2. destruct H2 as (H2 & H3). apply eqb_id in H2. subst q.
    rewrite nat_of_0 in Lx. apply Nat.ltb_lt in H3. lia.
Qed.

Lemma own_begins_holds : forall t n q c, gives (OwnBegins t n q) c -> truth c.
Proof.
  intros i n q c E. cbn [conclude] in E. eapply with_txn_truth; [exact E|].
  intros t c1 It _ C F. cbn beta in F. apply at_read_some in F.
  destruct F as (p & o & s & R & _ & F & _). destruct s as [| | |vs]; try discriminate.
  destruct (drop q vs) as [rest|] eqn:D; [|discriminate]. ands. apply drop_ok in D. destruct D as (x & -> & Lx).
  assert (Ro : row_ok l p o = true) by (unfold row_ok; now rewrite H).
  destruct (own_lead t p o _ C R Ro) as (_ & X). destruct (X H) as (b & E1 & Lb).
  apply Nat.eqb_eq in H0. apply (f_equal (@length _)) in E1. rewrite !app_length in E1.
  apply truth_cons. left. apply begins_yes; auto. lia.
Qed.

Lemma place_counts_holds : forall k w q c, gives (PlaceCounts k w q) c -> truth c.
Proof.
  intros k i q c E. cbn [conclude] in E. unfold has in E. destruct (get table i) as [w|] eqn:G; [|discriminate].
  injection E as <-. apply txn_at in G. destruct G as (Iw & <-). apply begins_or; auto. intros (_ & L) _.
  apply truth_cons. left. unfold true_literal. cbn [fst snd value]. now rewrite txn_all, L.
Qed.

Lemma too_often_holds : forall t n v xs c, gives (TooOften t n v xs) c -> truth c.
Proof.
  intros i n v xs c E. cbn [conclude] in E. eapply with_txn_truth; [exact E|].
  intros t c1 It _ C F. cbn beta in F. apply at_read_some in F.
  destruct F as (p & o & s & R & _ & F & _).
  destruct s as [| | |vs]; try discriminate. ands.
  destruct (existsb yes (map (fun x => (true, Lives x)) xs)) eqn:T; [now apply existsb_exists in T|]. exfalso.
  match goal with H : (_ <? _)%nat = true |- _ => apply Nat.ltb_lt in H; rename H into B end.
  destruct (read_parts t p o vs C R H) as (ws & P & own & (S & I & D) & -> & Bf & Ow & _).
  assert (L : (appended (on o) v ws <= appended (on o) v (without t xs (writers_of index (on o))))%nat).
  { apply appended_incl; [now apply sorted_nodup|]. intros a J. apply I in J.
    destruct J as ((Ca & Lw) & Pa). unfold without. apply filter_In. split.
    - apply writers_complete; [apply Ca|now apply alive|]. apply writer_writes_key. now split.
    - apply andb_true_iff. split.
      + apply negb_true_iff, not_true_iff_false. rewrite eqb_id. intros Q.
        assert (a = t) as -> by (eapply unique_id; eauto; apply Ca). specialize (Bf t Pa). lia.
      + apply negb_true_iff, not_holds_int. intros Q. apply not_true_iff_false in T. apply T.
        apply existsb_exists. exists (true, Lives (id a)). split; [now apply (in_map (fun x => (true, Lives x)))|].
        unfold true_literal. cbn [fst snd value]. destruct Ca as (Ia & La). now rewrite txn_all, La. }
  rewrite <- copies_flat in L. rewrite copies_app in B.
  assert (copies v own <= copies v (appends (on o) p))%nat; [|lia].
  subst own. destruct (external p o); [apply Nat.le_0_l|lia].
Qed.

Theorem axiom_holds : forall a c, gives a c -> truth c.
Proof.
  intros [] c G; eauto using cycle_holds, own_holds, session_holds, real_time_holds, reads_holds,
    candidates_hold, not_from_holds, source_counts_holds, same_version_holds, mismatch_holds, no_overlap_holds,
    overwritten_holds, visible_holds, list_order_holds, conflict_holds, too_often_holds, within_holds, one_within_holds, stands_holds, fits_holds,
    places_holds, precedes_holds, ends_holds, own_begins_holds, place_counts_holds.
Qed.

Lemma run_false : forall steps db, true_all value db ->
  run (conclude h drift l table index) db steps = true -> False.
Proof.
  induction steps as [|s steps IH]; simpl; intros db D R; [discriminate|].
  assert (Next : forall n c, truth c ->
    match c with [] => true | _ => run (conclude h drift l table index) (put db n c) steps end = true -> False).
  { intros n c T Q. destruct c as [|x c]; [destruct T as (y & [] & _)|].
    apply (IH (put db n (x :: c))); auto. intros m c' G. rewrite get_put in G.
    destruct (n =? m)%uint63; [injection G as <-; auto|eauto]. }
  destruct s as [n a|n c hints].
  - destruct (conclude h drift l table index a) as [c|] eqn:G; [|discriminate].
    eapply Next; eauto. eapply axiom_holds; eauto.
  - apply andb_prop in R. destruct R as (F & R). eapply Next; eauto. eapply follows_sound; eauto.
Qed.
End Truth.

Lemma true_all_none : forall value, true_all value none.
Proof. intros value n c G. now rewrite get_none in G. Qed.

(* A refutation at a level but linearizable: no execution explains the history. *)
Theorem refute_level_sound : forall h drift l steps, l <> Linearizable ->
  refute_level h drift l steps = true -> well_formed h /\ ~ allowed h drift l.
Proof.
  intros h drift l steps N R. unfold refute_level in R. apply andb_prop in R. destruct R as (A & R).
  apply ascending_sorted in A. destruct A as (Wf & _). fold (well_formed h) in Wf. split; auto. intros Al.
  assert (X : exists e, (match shape_of l with Some sh => facts h drift sh e | None => weak_level h e l end)
                   /\ full h e).
  { destruct (shape_of l) as [sh|] eqn:S.
    - apply extend_order; auto. assert (Y : exists e, order_level h drift e l).
      { destruct l; try discriminate; exact Al. }
      destruct Y as (e & Y). exists e. eapply order_facts; eauto.
    - apply extend_weak; auto. destruct l; try discriminate; try exact Al. congruence. }
  destruct X as (e & M & F).
  eapply (run_false h drift l e Wf N F M steps none); auto. apply true_all_none.
Qed.
