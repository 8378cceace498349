(* Replicated data types: what a history is, and when it satisfies its type. Each definition
   stands beside its sentence of docs/reference/crdt.md.

   This file is trusted: it says what the theorem of ReplicatedCheck.v is about. Objects,
   elements, values and replicas are native 63-bit integers, which the verifier compares and
   never calculates with; ReplicatedFormat.v reads them. *)
From Coq Require Import List ZArith Uint63 Bool Sorted.
Import ListNotations.
Local Open Scope Z_scope.

Inductive type :=
| AddWinsSet | RemoveWinsSet | GrowOnlySet | TwoPhaseSet
| EnableWinsFlag | DisableWinsFlag
| MultiValueRegister | LastWriterWinsRegister | AnyMaximalRegister
| Counter | ResettableCounter | BoundedCounter
| GrowableArray.

(* A flag is a set with one element, 0: "enable is add, disable is remove". *)
Inductive call :=
| Add (e : int)                        (* of a set; enable *)
| Remove (e : int)                     (* of a set or an array; disable *)
| Contains (e : int) (yes : bool)      (* a read of one element, or of a flag *)
| Elements (es : list int)             (* a read of a whole set or array *)
| Increment (n : int) | Decrement (n : int) | Reset
| Total (below_0 : bool) (n : int)     (* a read of a counter: n or -n *)
| Write (v : int)
| Values (vs : list int)               (* a read of a register *)
| Insert (after : option int) (e : int). (* addAfter; None: at the beginning *)

Definition is_update (c : call) : bool :=
  match c with Contains _ _ | Elements _ | Total _ _ | Values _ => false | _ => true end.

(* "A history contains the operations that each replica executed and the values that it
   returned, in the order of that replica": of one replica the smaller id is earlier. It was
   not invoked before [begun], and had ended at [ended]; None: not known. "It may contain what
   each replica had received": then [known], and an operation has received, for (j, n) in
   [received], the updates of the other replica j up to the one with the id n. *)
Record op := Op {
  id : int; replica : int; object : int;
  begun : option int; ended : option int; call_of : call; received : list (int * int) }.
Record history := History { type_of : type; known : bool; ops : list op }.

(* "Happens-before": [sees o u] if u happened before o. "Linearization": the order of the stamps. *)
Record execution := Execution { sees : op -> op -> bool; stamp : op -> Z }.

(* u was invoked after o had ended, on another replica. *)
Definition late (o u : op) : Prop :=
  replica u <> replica o /\
  match begun u, ended o with Some b, Some e => to_Z e < to_Z b | _, _ => False end.

(* "This is a partial order of the operations that contains the order of each replica." "A
   linearization of this partial order must exist." "No operation has seen an update that was
   invoked after the operation had ended." *)
Definition possible (h : history) (x : execution) : Prop :=
  (forall a b, In a (ops h) -> In b (ops h) -> replica a = replica b -> to_Z (id a) < to_Z (id b) ->
     sees x b a = true) /\
  (forall a b c, In a (ops h) -> In b (ops h) -> In c (ops h) ->
     sees x b a = true -> sees x c b = true -> sees x c a = true) /\
  (forall a b, In a (ops h) -> In b (ops h) -> sees x b a = true -> stamp x a < stamp x b) /\
  (forall a b, In a (ops h) -> In b (ops h) -> stamp x a = stamp x b -> a = b) /\
  (forall a b, In a (ops h) -> In b (ops h) -> is_update (call_of a) = true ->
     sees x b a = true -> ~ late b a) /\
  (* "Then the happens-before relation is known." *)
  (known h = true -> forall a b, In a (ops h) -> In b (ops h) -> is_update (call_of a) = true ->
     replica a <> replica b ->
     (sees x b a = true <-> exists n, In (replica a, n) (received b) /\ to_Z (id a) <= to_Z n)).

(* "An update is visible to an operation if it happened before that operation." *)
Definition visible (h : history) (x : execution) (o : op) : list op :=
  filter (fun u => is_update (call_of u) && (object u =? object o)%uint63 && sees x o u) (ops h).

(* --- sets and flags: the elements that a read shows --- *)

Definition shows (h : history) (x : execution) (o : op) (e : int) : Prop :=
  match type_of h with
  (* "Each element with a visible add that no visible remove of the element observed." *)
  | AddWinsSet | EnableWinsFlag =>
      exists a, In a (visible h x o) /\ call_of a = Add e /\
        forall r, In r (visible h x o) -> call_of r = Remove e -> sees x r a = false
  (* "Each element with a visible add, if for each visible remove of the element there is a
     visible add of it that observed the remove." *)
  | RemoveWinsSet | DisableWinsFlag =>
      (exists a, In a (visible h x o) /\ call_of a = Add e) /\
      forall r, In r (visible h x o) -> call_of r = Remove e ->
        exists a, In a (visible h x o) /\ call_of a = Add e /\ sees x a r = true
  (* "Each element with a visible add." *)
  | GrowOnlySet => exists a, In a (visible h x o) /\ call_of a = Add e
  (* "Each element with a visible add and no visible remove." *)
  | TwoPhaseSet =>
      (exists a, In a (visible h x o) /\ call_of a = Add e) /\
      forall r, In r (visible h x o) -> call_of r <> Remove e
  | _ => False
  end.

(* --- counters --- *)

Definition amount (c : call) : Z :=
  match c with Increment n => to_Z n | Decrement n => - to_Z n | _ => 0 end.
Definition sum (us : list op) : Z := fold_right Z.add 0 (map (fun u => amount (call_of u)) us).
Definition signed (below_0 : bool) (n : int) : Z := if below_0 then - to_Z n else to_Z n.
Definition is_reset (c : call) : bool := match c with Reset => true | _ => false end.
(* "The visible increments and decrements that no visible reset observed." *)
Definition since_reset (h : history) (x : execution) (o : op) : list op :=
  filter (fun u => negb (existsb (fun r => is_reset (call_of r) && sees x r u) (visible h x o)))
    (visible h x o).

(* --- registers --- *)

Definition no_write (h : history) (x : execution) (o : op) : Prop :=
  forall w v, In w (visible h x o) -> call_of w <> Write v.
(* A visible write "that no other visible write observed". *)
Definition maximal (h : history) (x : execution) (o w : op) : Prop :=
  In w (visible h x o) /\
  forall w' v, In w' (visible h x o) -> call_of w' = Write v -> sees x w' w = false.

(* --- arrays --- *)

(* "Each character of an array is added once." *)
Definition added_once (h : history) : Prop :=
  forall a b p q e, In a (ops h) -> In b (ops h) -> call_of a = Insert p e -> call_of b = Insert q e ->
    a = b.
(* A character that was added below another one, or is itself. *)
Inductive below (h : history) (k : int) (top : int) : int -> Prop :=
| itself : below h k top top
| under : forall u p e, In u (ops h) -> object u = k -> call_of u = Insert (Some p) e ->
    below h k top p -> below h k top e.
(* "A character comes after the one that it was added after. Of several characters added
   after the same one, the later in the linearization comes first." *)
Definition in_tree_order (h : history) (x : execution) (k : int) (c d : int) : Prop :=
  (c <> d /\ below h k c d) \/
  exists u v p a b,
    In u (ops h) /\ In v (ops h) /\ object u = k /\ object v = k /\
    call_of u = Insert p a /\ call_of v = Insert p b /\ stamp x v < stamp x u /\
    below h k a c /\ below h k b d.
Definition has_seen_added (h : history) (x : execution) (o : op) (e : int) : Prop :=
  exists u p, In u (visible h x o) /\ call_of u = Insert p e.

(* --- what an operation may do and return --- *)

Definition right (h : history) (x : execution) (o : op) : Prop :=
  match type_of h, call_of o with
  | (AddWinsSet | RemoveWinsSet | TwoPhaseSet | EnableWinsFlag | DisableWinsFlag),
    (Add _ | Remove _) => True
  | GrowOnlySet, Add _ => True
  | (AddWinsSet | RemoveWinsSet | GrowOnlySet | TwoPhaseSet | EnableWinsFlag | DisableWinsFlag),
    Contains e yes => yes = true <-> shows h x o e
  | (AddWinsSet | RemoveWinsSet | GrowOnlySet | TwoPhaseSet), Elements es =>
      forall e, In e es <-> shows h x o e
  (* "The visible writes that no other visible write observed." *)
  | (MultiValueRegister | LastWriterWinsRegister | AnyMaximalRegister), Write _ => True
  | MultiValueRegister, Values vs =>
      (forall w v, maximal h x o w -> call_of w = Write v -> In v vs) /\
      (* "At most as often as it was written concurrently": each has a write of its own. *)
      exists ws, NoDup ws /\ (forall w, In w ws -> maximal h x o w) /\ map call_of ws = map Write vs
  (* "The visible write that is last in the linearization." *)
  | LastWriterWinsRegister, Values vs =>
      (vs = [] /\ no_write h x o) \/
      exists w v, vs = [v] /\ In w (visible h x o) /\ call_of w = Write v /\
        forall w' v', In w' (visible h x o) -> call_of w' = Write v' -> stamp x w' <= stamp x w
  (* "One of the visible writes that no other visible write observed." *)
  | AnyMaximalRegister, Values vs =>
      (vs = [] /\ no_write h x o) \/
      exists w v, vs = [v] /\ maximal h x o w /\ call_of w = Write v
  (* "The sum of the visible updates"; of a bounded counter "it is not below 0". *)
  | (Counter | ResettableCounter | BoundedCounter), (Increment _ | Decrement _) => True
  | ResettableCounter, Reset => True
  | Counter, Total s n => signed s n = sum (visible h x o)
  | ResettableCounter, Total s n => signed s n = sum (since_reset h x o)
  | BoundedCounter, Total s n => signed s n = sum (visible h x o) /\ 0 <= signed s n
  (* The replica of an update has seen the character that it names. *)
  | GrowableArray, Insert None _ => True
  | GrowableArray, Insert (Some p) _ => has_seen_added h x o p
  | GrowableArray, Remove e => has_seen_added h x o e
  (* "The characters with a visible add and no visible remove, in tree order." *)
  | GrowableArray, Elements es =>
      NoDup es /\
      (forall e, In e es <->
         has_seen_added h x o e /\ forall r, In r (visible h x o) -> call_of r <> Remove e) /\
      StronglySorted (in_tree_order h x (object o)) es
  | _, _ => False
  end.

(* "The history is satisfied if a happens-before relation exists. Every read must return the
   value that its type defines for the updates before it." *)
Definition numbered (h : history) : Prop :=
  StronglySorted (fun a b => to_Z (id a) < to_Z (id b)) (ops h).
Definition satisfies (h : history) : Prop :=
  numbered h /\
  (type_of h = GrowableArray -> added_once h) /\
  exists x, possible h x /\ forall o, In o (ops h) -> right h x o.
