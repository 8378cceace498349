(* A history: what the clients of a database saw.

   This file is trusted: it says what the theorems are about. Beside each definition
   stands its sentence of docs/reference/levels.md ("Vocabulary" and "Choices").

   Keys, values, sessions, transactions and operations are native 63-bit integers, which
   the verifier compares and never calculates with. The program `cupel` numbers them
   (docs/reference/formats/canonical.md); Format.v reads what it writes. *)
From Coq Require Import List ZArith Uint63 Bool.
Import ListNotations.

(* What a read saw of one key. *)
Inductive seen :=
| Value (v : int)            (* this value *)
| Absent                     (* a range read did not return the key: null, or a delete *)
| Other (v : int)            (* a compare-and-set that failed: anything but this value *)
| Elements (vs : list int).  (* a whole list *)

(* What an operation writes to its key. A delete writes a tombstone, which a read of the
   key returns as the value [v]. *)
Inductive change :=
| Put (v : int)
| Delete (v : int)
| Append (v : int).

(* "A transaction is a sequence of operations with the values that the client saw."
   A compare-and-set that succeeded reads, then writes. A range read is one record for each
   key of its range, and the records have the same [number]. [sees] is None if the operation
   reads nothing or the client does not know what it read. *)
Record op := Op { number : int; on : int; sees : option seen; writes : option change }.

(* "A transaction is committed, aborted or indeterminate." *)
Inductive status := Committed | Aborted | Indeterminate.

(* Times are nanoseconds of the client's clock. *)
Record txn := Txn {
  id : int; session : int; outcome : status;
  invoked : option int; completed : option int;
  ops : list op }.

(* "A set of sessions. A session is a sequence of transactions." Transactions are in the
   order of their ids; of one session the smaller id is earlier.
   "Initial value": of a key named in [initials] that value, of any other [default].
   [ranges]: the numbers of the range reads of transactions that are not aborted. Even one that
   returned nothing, and so has no record, is an operation on more than one object. *)
Record history := History {
  null : int; default : int; initials : list (int * int); ranges : list int;
  txns : list txn }.

(* The last write to the key in a sequence of operations: T |- W(x,v) if it is all of T's. *)
Definition last_write (k : int) (os : list op) : option change :=
  fold_left
    (fun last o =>
       if (on o =? k)%uint63 then match writes o with Some c => Some c | None => last end
       else last)
    os None.

(* The elements that a sequence of operations appends to the key, in program order. *)
Definition appends (k : int) (os : list op) : list int :=
  flat_map
    (fun o =>
       if (on o =? k)%uint63 then match writes o with Some (Append v) => [v] | _ => [] end
       else [])
    os.

Definition initial (h : history) (k : int) : change :=
  Put (match find (fun kv => (fst kv =? k)%uint63) (initials h) with
       | Some kv => snd kv
       | None => default h
       end).

(* Does what a read saw fit a version of a register? *)
Definition fits (h : history) (s : seen) (c : change) : bool :=
  match c with
  | Append _ => false
  | Put v =>
      match s with
      | Value x => (v =? x)%uint63
      | Absent => (v =? null h)%uint63
      | Other x => negb (v =? x)%uint63
      | Elements _ => false
      end
  | Delete v =>
      match s with
      | Value x => (v =? x)%uint63
      | Absent => true
      | Other x => negb (v =? x)%uint63
      | Elements _ => false
      end
  end.

(* Operation [o] of [t] reads its key and saw [s]; the operations [p] precede it.
   "Indeterminate: only its writes count, because its reads are unknown. Compare-and-set is
   a special case: if it took effect, it saw its expected value." *)
Definition reads (t : txn) (p : list op) (o : op) (s : seen) : Prop :=
  (exists rest, ops t = p ++ o :: rest) /\ sees o = Some s /\
  match outcome t with
  | Committed => True
  | Indeterminate => writes o <> None
  | Aborted => False
  end.

(* T |- R(x,v): "T reads v from x before it writes x." *)
Definition reads_other (t : txn) (p : list op) (o : op) (s : seen) : Prop :=
  reads t p o s /\ last_write (on o) p = None.

(* so. "No so-edge leaves" an indeterminate transaction. *)
Definition so (i j : txn) : Prop :=
  session i = session j /\ (to_Z (id i) < to_Z (id j))%Z /\ outcome i = Committed.

(* rt: "i completed before j was invoked", each clock wrong by the drift at most. The
   completion of an indeterminate transaction "is at infinity". *)
Definition rt (drift : int) (i j : txn) : Prop :=
  i <> j /\ outcome i = Committed /\
  match completed i, invoked j with
  | Some c, Some b => (to_Z c + 2 * to_Z drift < to_Z b)%Z
  | _, _ => False
  end.
