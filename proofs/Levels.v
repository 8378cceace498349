(* The isolation levels of docs/reference/levels.md.

   This file is trusted: it says what the theorems are about. Beside each definition
   stands its sentence of that page. *)
From Coq Require Import List ZArith Uint63 Bool Sorted Relations.
From Cupel Require Import History.
Import ListNotations.
Local Open Scope Z_scope.

Inductive level :=
| ReadCommitted | ReadAtomic | Causal | Prefix
| SnapshotIsolation | GeneralizedSI | StrongSessionSI | StrongSI
| Serializable | StrongSessionSerializable | StrictSerializable | Linearizable.

(* An execution that explains a history: which indeterminate transactions took effect
   ("cupel tries both"), whose version each read saw (None: the initial one; reads by their place
   in the transaction, from 0), and a total order of events, given as distinct moments. *)
Record execution := Execution {
  live : txn -> bool;
  source : txn -> nat -> option txn;
  start : txn -> Z;    (* B, the begin *)
  finish : txn -> Z }. (* C, the commit *)

Section Of.
Variables (h : history) (drift : int) (e : execution).

Definition counts (t : txn) : Prop := In t (txns h) /\ live e t = true.
Definition writer (k : int) (t : txn) : Prop := counts t /\ last_write k (ops t) <> None.

(* "T |- W(x,v): v is the last value that T writes to x." *)
Definition version (k : int) (w : option txn) : change :=
  match w with
  | None => initial h k
  | Some t => match last_write k (ops t) with Some c => c | None => initial h k end
  end.

(* The list that the writers of the key among [who] appended, one after the other. "A
   transaction's appends to one list are adjacent, in program order." *)
Definition list_of (k : int) (who : txn -> Prop) (vs : list int) : Prop :=
  exists ws,
    StronglySorted (fun a b => finish e a < finish e b) ws /\
    (forall a, In a ws <-> writer k a /\ who a) /\
    vs = flat_map (fun a => appends k (ops a)) ws.

(* "A read of [v1 ... vn] reads from the writer of vn and fixes ww v1 < ... < vn." *)
Definition sees_version (k : int) (s : seen) (w : option txn) : Prop :=
  match s with
  | Elements vs =>
      list_of k (fun a => match w with None => False | Some t => finish e a <= finish e t end) vs
  | _ => fits h s (version k w) = true
  end.

(* A read of another's version: "a value that nobody wrote", one "of an aborted transaction",
   one "that its writer overwrote later" or "that the same transaction writes later" is none. *)
Definition sees_other (t : txn) (p : list op) (o : op) (s : seen) : Prop :=
  match source e t (length p) with None => True | Some w => writer (on o) w /\ w <> t end /\
  sees_version (on o) s (source e t (length p)).

(* A read after own writes returns "the last of them". "A list read after own appends must
   end with them. The elements before them only fix the order." *)
Definition sees_own (t : txn) (p : list op) (o : op) (s : seen) (c : change) : Prop :=
  match s with
  | Elements vs =>
      exists before, list_of (on o) (fun a => finish e a < finish e t) before /\
                     vs = before ++ appends (on o) p
  | _ => fits h s c = true
  end.

Definition consistent : Prop :=
  (forall t, In t (txns h) -> outcome t = Committed -> live e t = true) /\
  (forall t, In t (txns h) -> outcome t = Aborted -> live e t = false) /\
  (forall t p o s, counts t -> reads t p o s ->
     match last_write (on o) p with
     | None => sees_other t p o s
     | Some c => sees_own t p o s c
     end).

(* A total order: no two events at one moment. "The serializable family has one event per
   transaction (B = C). The other levels have two events, begin B < commit C." *)
Definition one_event : Prop := forall t, counts t -> start e t = finish e t.
Definition two_events : Prop :=
  (forall t, counts t -> start e t < finish e t) /\
  (forall a b, counts a -> counts b -> start e a <> finish e b) /\
  (forall a b, counts a -> counts b -> start e a = start e b -> a = b).
Definition commits_apart : Prop :=
  forall a b, counts a -> counts b -> finish e a = finish e b -> a = b.

(* wr, an edge from the writer of a value to its reader: "C_w < B_r for each wr". *)
Definition wr_order : Prop :=
  forall t p o s w, counts t -> reads_other t p o s -> source e t (length p) = Some w ->
    finish e w < start e t.
(* "so: C_i < B_j" *)
Definition so_order : Prop :=
  forall i j, counts i -> counts j -> so i j -> finish e i < start e j.
(* "ww choice for a, b: C_a < B_b or C_b < B_a" *)
Definition no_overlap : Prop :=
  forall k a b, writer k a -> writer k b -> a <> b ->
    finish e a < start e b \/ finish e b < start e a.
(* "rw when a before b: B_r < C_b"; the initial transaction "precedes everything". *)
Definition rw_order : Prop :=
  forall t p o s b, counts t -> reads_other t p o s -> writer (on o) b -> b <> t ->
    match source e t (length p) with None => True | Some a => finish e a < finish e b end ->
    start e t < finish e b.
(* "B_i < C_j, C_i < C_j" and "C_i < B_j"; at one event "i < j". *)
Definition rt_commits : Prop :=
  forall i j, counts i -> counts j -> rt drift i j -> finish e i < finish e j.
Definition rt_begins : Prop :=
  forall i j, counts i -> counts j -> rt drift i j -> finish e i < start e j.

(* The order levels but linearizable: a row of the table each. *)
Definition order_level (l : level) : Prop :=
  consistent /\ commits_apart /\ wr_order /\ rw_order /\
  match l with
  | Prefix => two_events /\ so_order
  | SnapshotIsolation => two_events /\ no_overlap
  | GeneralizedSI => two_events /\ no_overlap /\ rt_commits
  | StrongSessionSI => two_events /\ no_overlap /\ so_order
  | StrongSI => two_events /\ no_overlap /\ so_order /\ rt_commits /\ rt_begins
  | Serializable => one_event
  | StrongSessionSerializable => one_event /\ so_order
  | StrictSerializable => one_event /\ so_order /\ rt_begins
  | _ => False
  end.

(* The weak levels. co is a total order here, [finish]; acyclic and contained in a total order
   is the same, since no phi speaks of co.
   "The keys of one range read are read at one moment: none of them is earlier at
   read-committed." "At read-committed only the first row is a read with a wr edge: the other
   rows order nothing." *)
Definition first_row (p : list op) (o : op) : Prop :=
  forall o', In o' p -> ~ (number o' = number o /\ on o' = on o).
Definition wr_read (rc : bool) (w t : txn) (p : list op) (o : op) : Prop :=
  counts t /\ (exists s, reads_other t p o s) /\ (rc = true -> first_row p o) /\
  source e t (length p) = Some w.
Definition wr_step (w t : txn) : Prop := exists p o, wr_read false w t p o.
Definition so_step (i j : txn) : Prop := counts i /\ counts j /\ so i j.
Definition co_step (a b : txn) : Prop := so_step a b \/ wr_step a b.

(* phi(k, r): "an earlier read, in program order, of the same transaction reads from k";
   "k is an so- or wr-predecessor of r's transaction, in one step";
   "k is an (so U wr)+ predecessor of r's transaction". *)
Definition phi (l : level) (k t : txn) (p : list op) (o : op) : Prop :=
  match l with
  | ReadCommitted =>
      exists p' o' rest, p = p' ++ o' :: rest /\ number o' <> number o /\ wr_read true k t p' o'
  | ReadAtomic => co_step k t
  | Causal => clos_trans _ co_step k t
  | _ => False
  end.

(* "co starts as so U wr, with the initial transaction before all others. For every read r of
   x from w and every other writer k of x with phi(k, r), the edge k -> w is added. The level is
   satisfied if and only if co is acyclic." *)
Definition weak_level (l : level) : Prop :=
  let rc := match l with ReadCommitted => true | _ => false end in
  consistent /\ commits_apart /\
  (forall i j, so_step i j -> finish e i < finish e j) /\
  (forall w t p o, wr_read rc w t p o -> finish e w < finish e t) /\
  (forall t p o s k, counts t -> reads_other t p o s -> (rc = true -> first_row p o) ->
     writer (on o) k -> phi l k t p o -> source e t (length p) <> Some k ->
     match source e t (length p) with None => False | Some w => finish e k < finish e w end).
End Of.

(* "strict-serializable of every single-object sub-history". "Aborted: the transaction is left
   out." *)
Definition touches (k : int) (t : txn) : bool :=
  match outcome t with Aborted => false | _ => existsb (fun o => (on o =? k)%uint63) (ops t) end.
Definition only_on (h : history) (k : int) : history :=
  History (null h) (default h) (initials h) (ranges h) (filter (touches k) (txns h)).

Definition allowed (h : history) (drift : int) (l : level) : Prop :=
  match l with
  | ReadCommitted | ReadAtomic | Causal => exists e, weak_level h e l
  | Linearizable => forall k, exists e, order_level (only_on h k) drift e StrictSerializable
  | _ => exists e, order_level h drift e l
  end.

(* A level may be refused. "If times are missing, cupel refuses the levels of real time."
   "A history with a transaction that touches two objects is refused" at linearizable. *)
Definition has_times (h : history) : Prop :=
  forall t, In t (txns h) ->
    (outcome t = Committed -> invoked t <> None /\ completed t <> None) /\
    (outcome t = Indeterminate -> invoked t <> None).
Definition single_objects (h : history) : Prop :=
  ranges h = [] /\
  forall t o o', In t (txns h) -> outcome t <> Aborted -> In o (ops t) -> In o' (ops t) ->
    on o = on o'.
Definition applies (h : history) (l : level) : Prop :=
  match l with
  | GeneralizedSI | StrongSI | StrictSerializable => has_times h
  | Linearizable => has_times h /\ single_objects h
  | _ => True
  end.

(* Different transactions have different ids, in the order of the list. *)
Definition well_formed (h : history) : Prop :=
  StronglySorted (fun a b => to_Z (id a) < to_Z (id b)) (txns h).

(* The two verdicts. *)
Definition satisfies (h : history) (drift : int) (l : level) : Prop :=
  well_formed h /\ applies h l /\ allowed h drift l.
Definition violates (h : history) (drift : int) (l : level) : Prop :=
  well_formed h /\ applies h l /\ ~ allowed h drift l.
