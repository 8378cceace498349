
(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

type nat =
| O
| S of nat

(** val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option **)

let option_map f = function
| Some a -> Some (f a)
| None -> None

(** val fst : ('a1 * 'a2) -> 'a1 **)

let fst = function
| (x, _) -> x

(** val snd : ('a1 * 'a2) -> 'a2 **)

let snd = function
| (_, y) -> y

(** val length : 'a1 list -> nat **)

let rec length = function
| [] -> O
| _ :: l' -> S (length l')

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l1 -> a :: (app l1 m)

type comparison =
| Eq
| Lt
| Gt

(** val compOpp : comparison -> comparison **)

let compOpp = function
| Eq -> Eq
| Lt -> Gt
| Gt -> Lt

module Coq__1 = struct
 (** val add : nat -> nat -> nat **)
 let rec add n m =
   match n with
   | O -> m
   | S p -> S (add p m)
end
include Coq__1

type positive =
| XI of positive
| XO of positive
| XH

type z =
| Z0
| Zpos of positive
| Zneg of positive

(** val eqb : bool -> bool -> bool **)

let eqb b1 b2 =
  if b1 then b2 else if b2 then false else true

module type EqLtLe =
 sig
  type t
 end

module MakeOrderTac =
 functor (O:EqLtLe) ->
 functor (P:sig
 end) ->
 struct
 end

module Nat =
 struct
  (** val eqb : nat -> nat -> bool **)

  let rec eqb n m =
    match n with
    | O -> (match m with
            | O -> true
            | S _ -> false)
    | S n' -> (match m with
               | O -> false
               | S m' -> eqb n' m')

  (** val leb : nat -> nat -> bool **)

  let rec leb n m =
    match n with
    | O -> true
    | S n' -> (match m with
               | O -> false
               | S m' -> leb n' m')

  (** val ltb : nat -> nat -> bool **)

  let ltb n m =
    leb (S n) m
 end

module Pos =
 struct
  (** val succ : positive -> positive **)

  let rec succ = function
  | XI p -> XO (succ p)
  | XO p -> XI p
  | XH -> XO XH

  (** val add : positive -> positive -> positive **)

  let rec add x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> XO (add_carry p q)
       | XO q -> XI (add p q)
       | XH -> XO (succ p))
    | XO p ->
      (match y with
       | XI q -> XI (add p q)
       | XO q -> XO (add p q)
       | XH -> XI p)
    | XH -> (match y with
             | XI q -> XO (succ q)
             | XO q -> XI q
             | XH -> XO XH)

  (** val add_carry : positive -> positive -> positive **)

  and add_carry x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> XI (add_carry p q)
       | XO q -> XO (add_carry p q)
       | XH -> XI (succ p))
    | XO p ->
      (match y with
       | XI q -> XO (add_carry p q)
       | XO q -> XI (add p q)
       | XH -> XO (succ p))
    | XH ->
      (match y with
       | XI q -> XI (succ q)
       | XO q -> XO (succ q)
       | XH -> XI XH)

  (** val pred_double : positive -> positive **)

  let rec pred_double = function
  | XI p -> XI (XO p)
  | XO p -> XI (pred_double p)
  | XH -> XH

  (** val compare_cont : comparison -> positive -> positive -> comparison **)

  let rec compare_cont r x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> compare_cont r p q
       | XO q -> compare_cont Gt p q
       | XH -> Gt)
    | XO p ->
      (match y with
       | XI q -> compare_cont Lt p q
       | XO q -> compare_cont r p q
       | XH -> Gt)
    | XH -> (match y with
             | XH -> r
             | _ -> Lt)

  (** val compare : positive -> positive -> comparison **)

  let compare =
    compare_cont Eq

  (** val iter_op : ('a1 -> 'a1 -> 'a1) -> positive -> 'a1 -> 'a1 **)

  let rec iter_op op0 p a =
    match p with
    | XI p0 -> op0 a (iter_op op0 p0 (op0 a a))
    | XO p0 -> iter_op op0 p0 (op0 a a)
    | XH -> a

  (** val to_nat : positive -> nat **)

  let to_nat x =
    iter_op Coq__1.add x (S O)
 end

module Z =
 struct
  (** val double : z -> z **)

  let double = function
  | Z0 -> Z0
  | Zpos p -> Zpos (XO p)
  | Zneg p -> Zneg (XO p)

  (** val succ_double : z -> z **)

  let succ_double = function
  | Z0 -> Zpos XH
  | Zpos p -> Zpos (XI p)
  | Zneg p -> Zneg (Pos.pred_double p)

  (** val pred_double : z -> z **)

  let pred_double = function
  | Z0 -> Zneg XH
  | Zpos p -> Zpos (Pos.pred_double p)
  | Zneg p -> Zneg (XI p)

  (** val pos_sub : positive -> positive -> z **)

  let rec pos_sub x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> double (pos_sub p q)
       | XO q -> succ_double (pos_sub p q)
       | XH -> Zpos (XO p))
    | XO p ->
      (match y with
       | XI q -> pred_double (pos_sub p q)
       | XO q -> double (pos_sub p q)
       | XH -> Zpos (Pos.pred_double p))
    | XH ->
      (match y with
       | XI q -> Zneg (XO q)
       | XO q -> Zneg (Pos.pred_double q)
       | XH -> Z0)

  (** val add : z -> z -> z **)

  let add x y =
    match x with
    | Z0 -> y
    | Zpos x' ->
      (match y with
       | Z0 -> x
       | Zpos y' -> Zpos (Pos.add x' y')
       | Zneg y' -> pos_sub x' y')
    | Zneg x' ->
      (match y with
       | Z0 -> x
       | Zpos y' -> pos_sub y' x'
       | Zneg y' -> Zneg (Pos.add x' y'))

  (** val compare : z -> z -> comparison **)

  let compare x y =
    match x with
    | Z0 -> (match y with
             | Z0 -> Eq
             | Zpos _ -> Lt
             | Zneg _ -> Gt)
    | Zpos x' -> (match y with
                  | Zpos y' -> Pos.compare x' y'
                  | _ -> Gt)
    | Zneg x' ->
      (match y with
       | Zneg y' -> compOpp (Pos.compare x' y')
       | _ -> Lt)

  (** val leb : z -> z -> bool **)

  let leb x y =
    match compare x y with
    | Gt -> false
    | _ -> true

  (** val ltb : z -> z -> bool **)

  let ltb x y =
    match compare x y with
    | Lt -> true
    | _ -> false

  (** val max : z -> z -> z **)

  let max n m =
    match compare n m with
    | Lt -> m
    | _ -> n

  (** val to_nat : z -> nat **)

  let to_nat = function
  | Zpos p -> Pos.to_nat p
  | _ -> O
 end

(** val nth_error : 'a1 list -> nat -> 'a1 option **)

let rec nth_error l = function
| O -> (match l with
        | [] -> None
        | x :: _ -> Some x)
| S n0 -> (match l with
           | [] -> None
           | _ :: l0 -> nth_error l0 n0)

(** val rev_append : 'a1 list -> 'a1 list -> 'a1 list **)

let rec rev_append l l' =
  match l with
  | [] -> l'
  | a :: l0 -> rev_append l0 (a :: l')

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t0 -> (f a) :: (map f t0)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t0 -> app (f x) (flat_map f t0)

(** val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1 **)

let rec fold_left f l a0 =
  match l with
  | [] -> a0
  | b :: t0 -> fold_left f t0 (f a0 b)

(** val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1 **)

let rec fold_right f a0 = function
| [] -> a0
| b :: t0 -> f b (fold_right f a0 t0)

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

(** val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec filter f = function
| [] -> []
| x :: l0 -> if f x then x :: (filter f l0) else filter f l0

(** val find : ('a1 -> bool) -> 'a1 list -> 'a1 option **)

let rec find f = function
| [] -> None
| x :: tl -> if f x then Some x else find f tl

(** val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list **)

let rec combine l l' =
  match l with
  | [] -> []
  | x :: tl ->
    (match l' with
     | [] -> []
     | y :: tl' -> (x, y) :: (combine tl tl'))

(** val firstn : nat -> 'a1 list -> 'a1 list **)

let rec firstn n l =
  match n with
  | O -> []
  | S n0 -> (match l with
             | [] -> []
             | a :: l0 -> a :: (firstn n0 l0))

(** val lsr0 : Uint63.t -> Uint63.t -> Uint63.t **)

let lsr0 = Uint63.l_sr

(** val land0 : Uint63.t -> Uint63.t -> Uint63.t **)

let land0 = Uint63.l_and

(** val add0 : Uint63.t -> Uint63.t -> Uint63.t **)

let add0 = Uint63.add

(** val sub : Uint63.t -> Uint63.t -> Uint63.t **)

let sub = Uint63.sub

(** val mul : Uint63.t -> Uint63.t -> Uint63.t **)

let mul = Uint63.mul

(** val eqb0 : Uint63.t -> Uint63.t -> bool **)

let eqb0 = Uint63.equal

(** val ltb0 : Uint63.t -> Uint63.t -> bool **)

let ltb0 = Uint63.lt

(** val leb0 : Uint63.t -> Uint63.t -> bool **)

let leb0 = Uint63.le

(** val size : nat **)

let size =
  S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    O))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))

(** val is_zero : Uint63.t -> bool **)

let is_zero i =
  eqb0 i (Uint63.of_int (0))

(** val is_even : Uint63.t -> bool **)

let is_even i =
  is_zero (land0 i (Uint63.of_int (1)))

(** val to_Z_rec : nat -> Uint63.t -> z **)

let rec to_Z_rec n i =
  match n with
  | O -> Z0
  | S n0 ->
    if is_even i
    then Z.double (to_Z_rec n0 (lsr0 i (Uint63.of_int (1))))
    else Z.succ_double (to_Z_rec n0 (lsr0 i (Uint63.of_int (1))))

(** val to_Z : Uint63.t -> z **)

let to_Z =
  to_Z_rec size

type seen =
| Value of Uint63.t
| Absent
| Other of Uint63.t
| Elements of Uint63.t list

type change =
| Put of Uint63.t
| Delete of Uint63.t
| Append of Uint63.t

type op = { number : Uint63.t; on : Uint63.t; sees : seen option;
            writes : change option }

type status =
| Committed
| Aborted
| Indeterminate

type txn = { id : Uint63.t; session : Uint63.t; outcome : status;
             invoked : Uint63.t option; completed : Uint63.t option;
             ops : op list }

type history = { null : Uint63.t; default : Uint63.t;
                 initials : (Uint63.t * Uint63.t) list;
                 ranges : Uint63.t list; txns : txn list }

(** val last_write : Uint63.t -> op list -> change option **)

let last_write k os =
  fold_left (fun last o ->
    if eqb0 o.on k
    then (match o.writes with
          | Some c -> Some c
          | None -> last)
    else last) os None

(** val appends : Uint63.t -> op list -> Uint63.t list **)

let appends k os =
  flat_map (fun o ->
    if eqb0 o.on k
    then (match o.writes with
          | Some c -> (match c with
                       | Append v -> v :: []
                       | _ -> [])
          | None -> [])
    else []) os

(** val initial : history -> Uint63.t -> change **)

let initial h k =
  Put
    (match find (fun kv -> eqb0 (fst kv) k) h.initials with
     | Some kv -> snd kv
     | None -> h.default)

(** val fits : history -> seen -> change -> bool **)

let fits h s = function
| Put v ->
  (match s with
   | Value x -> eqb0 v x
   | Absent -> eqb0 v h.null
   | Other x -> negb (eqb0 v x)
   | Elements _ -> false)
| Delete v ->
  (match s with
   | Value x -> eqb0 v x
   | Absent -> true
   | Other x -> negb (eqb0 v x)
   | Elements _ -> false)
| Append _ -> false

type level =
| ReadCommitted
| ReadAtomic
| Causal
| Prefix
| SnapshotIsolation
| GeneralizedSI
| StrongSessionSI
| StrongSI
| Serializable
| StrongSessionSerializable
| StrictSerializable
| Linearizable

(** val touches : Uint63.t -> txn -> bool **)

let touches k t0 =
  match t0.outcome with
  | Aborted -> false
  | _ -> existsb (fun o -> eqb0 o.on k) t0.ops

(** val only_on : history -> Uint63.t -> history **)

let only_on h k =
  { null = h.null; default = h.default; initials = h.initials; ranges =
    h.ranges; txns = (filter (touches k) h.txns) }

type 'x compare0 =
| LT
| EQ
| GT

module type OrderedType =
 sig
  type t

  val compare : t -> t -> t compare0

  val eq_dec : t -> t -> bool
 end

module OrderedTypeFacts =
 functor (O:OrderedType) ->
 struct
  module TO =
   struct
    type t = O.t
   end

  module IsTO =
   struct
   end

  module OrderTac = MakeOrderTac(TO)(IsTO)

  (** val eq_dec : O.t -> O.t -> bool **)

  let eq_dec =
    O.eq_dec

  (** val lt_dec : O.t -> O.t -> bool **)

  let lt_dec x y =
    match O.compare x y with
    | LT -> true
    | _ -> false

  (** val eqb : O.t -> O.t -> bool **)

  let eqb x y =
    if eq_dec x y then true else false
 end

module KeyOrderedType =
 functor (O:OrderedType) ->
 struct
  module MO = OrderedTypeFacts(O)
 end

module PositiveOrderedTypeBits =
 struct
  type t = positive

  (** val compare : t -> t -> positive compare0 **)

  let rec compare p y =
    match p with
    | XI p0 -> (match y with
                | XI p1 -> compare p0 p1
                | _ -> GT)
    | XO p0 -> (match y with
                | XO p1 -> compare p0 p1
                | _ -> LT)
    | XH -> (match y with
             | XI _ -> LT
             | XO _ -> GT
             | XH -> EQ)

  (** val eq_dec : positive -> positive -> bool **)

  let eq_dec x y =
    match Pos.compare x y with
    | Eq -> true
    | _ -> false
 end

(** val append : positive -> positive -> positive **)

let rec append i j =
  match i with
  | XI ii -> XI (append ii j)
  | XO ii -> XO (append ii j)
  | XH -> j

module PositiveMap =
 struct
  module E = PositiveOrderedTypeBits

  module ME = KeyOrderedType(E)

  type key = positive

  type 'a tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  (** val empty : 'a1 t **)

  let empty =
    Leaf

  (** val is_empty : 'a1 t -> bool **)

  let rec is_empty = function
  | Leaf -> true
  | Node (l, o, r) ->
    (match o with
     | Some _ -> false
     | None -> (&&) (is_empty l) (is_empty r))

  (** val find : key -> 'a1 t -> 'a1 option **)

  let rec find i = function
  | Leaf -> None
  | Node (l, o, r) ->
    (match i with
     | XI ii -> find ii r
     | XO ii -> find ii l
     | XH -> o)

  (** val mem : key -> 'a1 t -> bool **)

  let rec mem i = function
  | Leaf -> false
  | Node (l, o, r) ->
    (match i with
     | XI ii -> mem ii r
     | XO ii -> mem ii l
     | XH -> (match o with
              | Some _ -> true
              | None -> false))

  (** val add : key -> 'a1 -> 'a1 t -> 'a1 t **)

  let rec add i v = function
  | Leaf ->
    (match i with
     | XI ii -> Node (Leaf, None, (add ii v Leaf))
     | XO ii -> Node ((add ii v Leaf), None, Leaf)
     | XH -> Node (Leaf, (Some v), Leaf))
  | Node (l, o, r) ->
    (match i with
     | XI ii -> Node (l, o, (add ii v r))
     | XO ii -> Node ((add ii v l), o, r)
     | XH -> Node (l, (Some v), r))

  (** val remove : key -> 'a1 t -> 'a1 t **)

  let rec remove i m =
    match i with
    | XI ii ->
      (match m with
       | Leaf -> Leaf
       | Node (l, o, r) ->
         (match l with
          | Leaf ->
            (match o with
             | Some _ -> Node (l, o, (remove ii r))
             | None ->
               (match remove ii r with
                | Leaf -> Leaf
                | Node (t0, o0, t1) -> Node (Leaf, None, (Node (t0, o0, t1)))))
          | Node (_, _, _) -> Node (l, o, (remove ii r))))
    | XO ii ->
      (match m with
       | Leaf -> Leaf
       | Node (l, o, r) ->
         (match o with
          | Some _ -> Node ((remove ii l), o, r)
          | None ->
            (match r with
             | Leaf ->
               (match remove ii l with
                | Leaf -> Leaf
                | Node (t0, o0, t1) -> Node ((Node (t0, o0, t1)), None, Leaf))
             | Node (_, _, _) -> Node ((remove ii l), o, r))))
    | XH ->
      (match m with
       | Leaf -> Leaf
       | Node (l, _, r) ->
         (match l with
          | Leaf ->
            (match r with
             | Leaf -> Leaf
             | Node (_, _, _) -> Node (l, None, r))
          | Node (_, _, _) -> Node (l, None, r)))

  (** val xelements : 'a1 t -> key -> (key * 'a1) list **)

  let rec xelements m i =
    match m with
    | Leaf -> []
    | Node (l, o, r) ->
      (match o with
       | Some x ->
         app (xelements l (append i (XO XH))) ((i,
           x) :: (xelements r (append i (XI XH))))
       | None ->
         app (xelements l (append i (XO XH))) (xelements r (append i (XI XH))))

  (** val elements : 'a1 t -> (key * 'a1) list **)

  let elements m =
    xelements m XH

  (** val cardinal : 'a1 t -> nat **)

  let rec cardinal = function
  | Leaf -> O
  | Node (l, o, r) ->
    (match o with
     | Some _ -> S (Coq__1.add (cardinal l) (cardinal r))
     | None -> Coq__1.add (cardinal l) (cardinal r))

  (** val xfind : key -> key -> 'a1 t -> 'a1 option **)

  let rec xfind i j m =
    match i with
    | XI ii ->
      (match j with
       | XI jj -> xfind ii jj m
       | XO _ -> None
       | XH -> find i m)
    | XO ii ->
      (match j with
       | XI _ -> None
       | XO jj -> xfind ii jj m
       | XH -> find i m)
    | XH -> (match j with
             | XH -> find i m
             | _ -> None)

  (** val xmapi : (key -> 'a1 -> 'a2) -> 'a1 t -> key -> 'a2 t **)

  let rec xmapi f m i =
    match m with
    | Leaf -> Leaf
    | Node (l, o, r) ->
      Node ((xmapi f l (append i (XO XH))), (option_map (f i) o),
        (xmapi f r (append i (XI XH))))

  (** val mapi : (key -> 'a1 -> 'a2) -> 'a1 t -> 'a2 t **)

  let mapi f m =
    xmapi f m XH

  (** val map : ('a1 -> 'a2) -> 'a1 t -> 'a2 t **)

  let map f m =
    mapi (fun _ -> f) m

  (** val xmap2_l :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a3 t **)

  let rec xmap2_l f = function
  | Leaf -> Leaf
  | Node (l, o, r) -> Node ((xmap2_l f l), (f o None), (xmap2_l f r))

  (** val xmap2_r :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a2 t -> 'a3 t **)

  let rec xmap2_r f = function
  | Leaf -> Leaf
  | Node (l, o, r) -> Node ((xmap2_r f l), (f None o), (xmap2_r f r))

  (** val _map2 :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t **)

  let rec _map2 f m1 m2 =
    match m1 with
    | Leaf -> xmap2_r f m2
    | Node (l1, o1, r1) ->
      (match m2 with
       | Leaf -> xmap2_l f m1
       | Node (l2, o2, r2) ->
         Node ((_map2 f l1 l2), (f o1 o2), (_map2 f r1 r2)))

  (** val map2 :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t **)

  let map2 f =
    _map2 (fun o1 o2 ->
      match o1 with
      | Some _ -> f o1 o2
      | None -> (match o2 with
                 | Some _ -> f o1 o2
                 | None -> None))

  (** val xfoldi :
      (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> key -> 'a2 **)

  let rec xfoldi f m v i =
    match m with
    | Leaf -> v
    | Node (l, o, r) ->
      (match o with
       | Some x ->
         xfoldi f r (f i x (xfoldi f l v (append i (XO XH))))
           (append i (XI XH))
       | None ->
         xfoldi f r (xfoldi f l v (append i (XO XH))) (append i (XI XH)))

  (** val fold : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> 'a2 **)

  let fold f m i =
    xfoldi f m i XH

  (** val equal : ('a1 -> 'a1 -> bool) -> 'a1 t -> 'a1 t -> bool **)

  let rec equal cmp m1 m2 =
    match m1 with
    | Leaf -> is_empty m2
    | Node (l1, o1, r1) ->
      (match m2 with
       | Leaf -> is_empty m1
       | Node (l2, o2, r2) ->
         (&&)
           ((&&)
             (match o1 with
              | Some v1 ->
                (match o2 with
                 | Some v2 -> cmp v1 v2
                 | None -> false)
              | None -> (match o2 with
                         | Some _ -> false
                         | None -> true)) (equal cmp l1 l2)) (equal cmp r1 r2))
 end

module M = PositiveMap

(** val bits : nat -> Uint63.t -> positive **)

let rec bits fuel i =
  match fuel with
  | O -> XH
  | S fuel0 ->
    if eqb0 i (Uint63.of_int (0))
    then XH
    else let x = bits fuel0 (lsr0 i (Uint63.of_int (1))) in
         if is_even i then XO x else XI x

(** val slot : Uint63.t -> positive **)

let slot i =
  bits (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    O))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))) i

(** val half : Uint63.t -> Uint63.t **)

let half i =
  lsr0 i (Uint63.of_int (1))

(** val find_at : nat -> Uint63.t -> 'a1 M.t -> 'a1 option **)

let rec find_at fuel i = function
| M.Leaf -> None
| M.Node (l, o, r) ->
  (match fuel with
   | O -> o
   | S fuel0 ->
     if eqb0 i (Uint63.of_int (0))
     then o
     else if is_even i
          then find_at fuel0 (half i) l
          else find_at fuel0 (half i) r)

(** val alone_at : nat -> Uint63.t -> 'a1 -> 'a1 M.t **)

let rec alone_at fuel i a =
  match fuel with
  | O -> M.Node (M.Leaf, (Some a), M.Leaf)
  | S fuel0 ->
    if eqb0 i (Uint63.of_int (0))
    then M.Node (M.Leaf, (Some a), M.Leaf)
    else if is_even i
         then M.Node ((alone_at fuel0 (half i) a), None, M.Leaf)
         else M.Node (M.Leaf, None, (alone_at fuel0 (half i) a))

(** val add_at : nat -> Uint63.t -> 'a1 -> 'a1 M.t -> 'a1 M.t **)

let rec add_at fuel i a = function
| M.Leaf -> alone_at fuel i a
| M.Node (l, o, r) ->
  (match fuel with
   | O -> M.Node (l, (Some a), r)
   | S fuel0 ->
     if eqb0 i (Uint63.of_int (0))
     then M.Node (l, (Some a), r)
     else if is_even i
          then M.Node ((add_at fuel0 (half i) a l), o, r)
          else M.Node (l, o, (add_at fuel0 (half i) a r)))

(** val get : 'a1 M.t -> Uint63.t -> 'a1 option **)

let get m i =
  find_at (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    O))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))) i m

(** val put : 'a1 M.t -> Uint63.t -> 'a1 -> 'a1 M.t **)

let put m i a =
  add_at (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    O))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))) i a m

(** val del : 'a1 M.t -> Uint63.t -> 'a1 M.t **)

let del m i =
  M.remove (slot i) m

(** val none : 'a1 M.t **)

let none =
  M.empty

(** val has : 'a1 M.t -> Uint63.t -> bool **)

let has m i =
  match get m i with
  | Some _ -> true
  | None -> false

(** val either :
    ('a1 -> 'a1 -> 'a1) -> 'a1 option -> 'a1 option -> 'a1 option **)

let either f a b =
  match a with
  | Some x -> (match b with
               | Some y -> Some (f x y)
               | None -> a)
  | None -> b

(** val union : ('a1 -> 'a1 -> 'a1) -> 'a1 M.t -> 'a1 M.t -> 'a1 M.t **)

let rec union f a b =
  match a with
  | M.Leaf -> b
  | M.Node (l, o, r) ->
    (match b with
     | M.Leaf -> a
     | M.Node (l', o', r') ->
       M.Node ((union f l l'), (either f o o'), (union f r r')))

(** val for_all : ('a1 -> bool) -> 'a1 M.t -> bool **)

let rec for_all f = function
| M.Leaf -> true
| M.Node (l, o, r) ->
  (&&) ((&&) (match o with
              | Some a -> f a
              | None -> true) (for_all f l)) (for_all f r)

(** val ascending : Uint63.t option -> txn list -> bool **)

let rec ascending last = function
| [] -> true
| t0 :: rest ->
  (&&) (match last with
        | Some l -> ltb0 l t0.id
        | None -> true) (ascending (Some t0.id) rest)

(** val index_txns : txn list -> txn M.t **)

let index_txns ts =
  fold_left (fun m t0 -> put m t0.id t0) ts none

(** val writes_key : Uint63.t -> txn -> bool **)

let writes_key k t0 =
  match last_write k t0.ops with
  | Some _ -> true
  | None -> false

(** val each_op :
    (op list -> change M.t -> op -> bool) -> op list -> change M.t -> op list
    -> bool **)

let rec each_op f p own = function
| [] -> true
| o :: rest ->
  (&&) (f p own o)
    (each_op f (o :: p)
      (match o.writes with
       | Some c -> put own o.on c
       | None -> own) rest)

type var =
| Lt0 of bool * Uint63.t * bool * Uint63.t
| Saw of Uint63.t * Uint63.t * Uint63.t option
| Bounded of bool * Uint63.t * Uint63.t * Uint63.t
| Begins of Uint63.t * Uint63.t * Uint63.t
| Lives of Uint63.t

type literal = bool * var

type clause = literal list

(** val option_eqb : Uint63.t option -> Uint63.t option -> bool **)

let option_eqb a b =
  match a with
  | Some x -> (match b with
               | Some y -> eqb0 x y
               | None -> false)
  | None -> (match b with
             | Some _ -> false
             | None -> true)

(** val var_eqb : var -> var -> bool **)

let var_eqb a b =
  match a with
  | Lt0 (p, x, q, y) ->
    (match b with
     | Lt0 (p', x', q', y') ->
       (&&) ((&&) ((&&) (eqb0 x x') (eqb0 y y')) (eqb p p')) (eqb q q')
     | _ -> false)
  | Saw (t0, n, w) ->
    (match b with
     | Saw (t', n', w') ->
       (&&) ((&&) (eqb0 t0 t') (eqb0 n n')) (option_eqb w w')
     | _ -> false)
  | Bounded (u, t0, n, w) ->
    (match b with
     | Bounded (u', t', n', w') ->
       (&&) ((&&) ((&&) (eqb0 t0 t') (eqb0 n n')) (eqb0 w w')) (eqb u u')
     | _ -> false)
  | Begins (k, w, p) ->
    (match b with
     | Begins (k', w', p') -> (&&) ((&&) (eqb0 k k') (eqb0 w w')) (eqb0 p p')
     | _ -> false)
  | Lives t0 -> (match b with
                 | Lives t' -> eqb0 t0 t'
                 | _ -> false)

(** val negate : literal -> literal **)

let negate l =
  ((negb (fst l)), (snd l))

(** val literal_eqb : literal -> literal -> bool **)

let literal_eqb a b =
  (&&) (eqb (fst a) (fst b)) (var_eqb (snd a) (snd b))

(** val is_in : literal -> literal list -> bool **)

let is_in l ls =
  existsb (literal_eqb l) ls

(** val propagate : clause M.t -> literal list -> Uint63.t list -> bool **)

let rec propagate db known = function
| [] -> false
| n :: rest ->
  (match get db n with
   | Some c ->
     (match filter (fun l -> negb (is_in (negate l) known)) c with
      | [] -> true
      | l :: l0 ->
        (match l0 with
         | [] -> propagate db (l :: known) rest
         | _ :: _ -> false))
   | None -> false)

(** val follows : clause M.t -> clause -> Uint63.t list -> bool **)

let follows db c hints =
  propagate db (map negate c) hints

(** val arrows : level -> level list **)

let arrows = function
| ReadAtomic -> ReadCommitted :: []
| Causal -> ReadAtomic :: []
| Prefix -> Causal :: []
| GeneralizedSI -> SnapshotIsolation :: []
| StrongSessionSI -> SnapshotIsolation :: (Prefix :: [])
| StrongSI -> StrongSessionSI :: (GeneralizedSI :: [])
| Serializable -> SnapshotIsolation :: []
| StrongSessionSerializable -> Serializable :: (StrongSessionSI :: [])
| StrictSerializable -> StrongSessionSerializable :: (StrongSI :: [])
| _ -> []

(** val level_eqb : level -> level -> bool **)

let level_eqb a b =
  match a with
  | ReadCommitted -> (match b with
                      | ReadCommitted -> true
                      | _ -> false)
  | ReadAtomic -> (match b with
                   | ReadAtomic -> true
                   | _ -> false)
  | Causal -> (match b with
               | Causal -> true
               | _ -> false)
  | Prefix -> (match b with
               | Prefix -> true
               | _ -> false)
  | SnapshotIsolation -> (match b with
                          | SnapshotIsolation -> true
                          | _ -> false)
  | GeneralizedSI -> (match b with
                      | GeneralizedSI -> true
                      | _ -> false)
  | StrongSessionSI -> (match b with
                        | StrongSessionSI -> true
                        | _ -> false)
  | StrongSI -> (match b with
                 | StrongSI -> true
                 | _ -> false)
  | Serializable -> (match b with
                     | Serializable -> true
                     | _ -> false)
  | StrongSessionSerializable ->
    (match b with
     | StrongSessionSerializable -> true
     | _ -> false)
  | StrictSerializable ->
    (match b with
     | StrictSerializable -> true
     | _ -> false)
  | Linearizable -> (match b with
                     | Linearizable -> true
                     | _ -> false)

(** val reaches : nat -> level -> level -> bool **)

let rec reaches steps a b =
  (||) (level_eqb a b)
    (match steps with
     | O -> false
     | S n -> existsb (fun c -> reaches n c b) (arrows a))

(** val implies : level -> level -> bool **)

let implies a b =
  reaches (S (S (S (S (S (S (S (S O)))))))) a b

type event = bool * txn

type shape = { two : bool; apart : bool; sessions : bool; rt_any : bool;
               rt_begin : bool }

type state = { latest : (txn * change) M.t; content : Uint63.t list M.t;
               opened : (txn * change) M.t M.t; done0 : bool M.t;
               youngest : Uint63.t M.t; newest : Uint63.t option }

(** val empty0 : state **)

let empty0 =
  { latest = none; content = none; opened = none; done0 = none; youngest =
    none; newest = None }

(** val elements0 : Uint63.t list M.t -> Uint63.t -> Uint63.t list **)

let elements0 m k =
  match get m k with
  | Some l -> l
  | None -> []

(** val knows : txn -> op -> bool **)

let knows t0 o =
  match t0.outcome with
  | Committed -> true
  | Aborted -> false
  | Indeterminate -> (match o.writes with
                      | Some _ -> true
                      | None -> false)

(** val same_list : Uint63.t list -> Uint63.t list -> bool **)

let rec same_list a b =
  match a with
  | [] -> (match b with
           | [] -> true
           | _ :: _ -> false)
  | x :: a0 ->
    (match b with
     | [] -> false
     | y :: b0 -> (&&) (eqb0 x y) (same_list a0 b0))

(** val install : txn -> (txn * change) M.t -> (txn * change) M.t **)

let install t0 m =
  fold_left (fun m0 o ->
    match o.writes with
    | Some c -> put m0 o.on (t0, c)
    | None -> m0) t0.ops m

(** val lengthen : txn -> Uint63.t list M.t -> Uint63.t list M.t **)

let lengthen t0 m =
  fold_left (fun m0 o ->
    match o.writes with
    | Some c ->
      (match c with
       | Append v -> put m0 o.on (v :: (elements0 m0 o.on))
       | _ -> m0)
    | None -> m0) t0.ops m

(** val same_writer :
    (txn * change) option -> (txn * change) option -> bool **)

let same_writer a b =
  match a with
  | Some p ->
    let (x, _) = p in
    (match b with
     | Some p0 -> let (y, _) = p0 in eqb0 x.id y.id
     | None -> false)
  | None -> (match b with
             | Some _ -> false
             | None -> true)

(** val not_after : Uint63.t -> Uint63.t -> Uint63.t -> bool **)

let not_after twice n c =
  (||) (leb0 n c) (leb0 (sub n c) twice)

(** val read_fits :
    history -> (Uint63.t -> change) -> bool -> state -> txn -> op list ->
    change M.t -> op -> bool **)

let read_fits h start_value values st t0 _ own o =
  if knows t0 o
  then (match o.sees with
        | Some s ->
          (match get own o.on with
           | Some c -> (match s with
                        | Elements _ -> true
                        | _ -> fits h s c)
           | None ->
             (||) (negb values)
               (match s with
                | Elements vs ->
                  same_list (rev_append vs []) (elements0 st.content o.on)
                | _ ->
                  fits h s
                    (match get st.latest o.on with
                     | Some p0 -> let (_, c) = p0 in c
                     | None -> start_value o.on)))
        | None -> true)
  else true

(** val own_list_fits :
    state -> txn -> op list -> change M.t -> op -> bool **)

let own_list_fits st t0 p own o =
  match o.sees with
  | Some s ->
    (match s with
     | Elements vs ->
       if knows t0 o
       then (match get own o.on with
             | Some _ ->
               same_list (rev_append vs [])
                 (app (rev_append (appends o.on (rev_append p [])) [])
                   (elements0 st.content o.on))
             | None -> true)
       else true
     | _ -> true)
  | None -> true

(** val begins : shape -> bool -> bool **)

let begins sh b =
  (||) (negb b) (negb sh.two)

(** val check_begin :
    history -> (Uint63.t -> change) -> bool -> state -> txn -> bool **)

let check_begin h start_value values st t0 =
  (&&) ((&&) (negb (has st.opened t0.id)) (negb (has st.done0 t0.id)))
    (each_op (read_fits h start_value values st t0) [] none t0.ops)

(** val is_committed : txn -> bool **)

let is_committed t0 =
  match t0.outcome with
  | Committed -> true
  | _ -> false

(** val check_commit : Uint63.t -> shape -> state -> txn -> bool **)

let check_commit twice_drift sh st t0 =
  (&&)
    ((&&)
      ((&&)
        (if sh.two
         then (match get st.opened t0.id with
               | Some then_latest ->
                 if sh.apart
                 then forallb (fun o ->
                        match o.writes with
                        | Some _ ->
                          same_writer (get st.latest o.on)
                            (get then_latest o.on)
                        | None -> true) t0.ops
                 else true
               | None -> false)
         else true) (each_op (own_list_fits st t0) [] none t0.ops))
      (if (&&) sh.sessions (is_committed t0)
       then (match get st.youngest t0.session with
             | Some y -> leb0 y t0.id
             | None -> true)
       else true))
    (if (&&) sh.rt_any (is_committed t0)
     then (match t0.completed with
           | Some c ->
             (match st.newest with
              | Some n -> not_after twice_drift n c
              | None -> true)
           | None -> true)
     else true)

(** val later : Uint63.t option -> Uint63.t option -> Uint63.t option **)

let later a b =
  match a with
  | Some x -> (match b with
               | Some y -> if leb0 x y then b else a
               | None -> a)
  | None -> b

(** val update : shape -> state -> bool -> txn -> state **)

let update sh st b t0 =
  { latest = (if b then install t0 st.latest else st.latest); content =
    (if b then lengthen t0 st.content else st.content); opened =
    (if b
     then if sh.two then del st.opened t0.id else st.opened
     else put st.opened t0.id st.latest); done0 =
    (if b then put st.done0 t0.id true else st.done0); youngest =
    (if begins sh b
     then (match later (get st.youngest t0.session) (Some t0.id) with
           | Some y -> put st.youngest t0.session y
           | None -> st.youngest)
     else st.youngest); newest =
    (if if sh.rt_begin then begins sh b else b
     then later st.newest t0.invoked
     else st.newest) }

(** val step :
    history -> (Uint63.t -> change) -> Uint63.t -> shape -> bool -> state ->
    event -> state option **)

let step h start_value twice_drift sh values st = function
| (b, t0) ->
  if (&&)
       (if begins sh b then check_begin h start_value values st t0 else true)
       (if b then check_commit twice_drift sh st t0 else true)
  then Some (update sh st b t0)
  else None

(** val walk :
    history -> (Uint63.t -> change) -> Uint63.t -> shape -> bool -> txn M.t
    -> state -> Uint63.t list -> state option **)

let rec walk h start_value twice_drift sh values table st = function
| [] -> Some st
| i :: rest ->
  (match get table i with
   | Some t0 ->
     (match step h start_value twice_drift sh values st
              ((if sh.two then has st.opened i else true), t0) with
      | Some st' -> walk h start_value twice_drift sh values table st' rest
      | None -> None)
   | None -> None)

(** val complete : history -> state -> bool **)

let complete h st =
  (&&) (M.is_empty st.opened)
    (forallb (fun t0 ->
      match t0.outcome with
      | Committed -> has st.done0 t0.id
      | Aborted -> negb (has st.done0 t0.id)
      | Indeterminate -> true) h.txns)

(** val replay :
    history -> (Uint63.t -> change) -> Uint63.t -> shape -> bool -> txn M.t
    -> Uint63.t list -> bool **)

let replay h start_value twice_drift sh values table order =
  match walk h start_value twice_drift sh values table empty0 order with
  | Some st -> complete h st
  | None -> false

(** val shape_of : level -> shape option **)

let shape_of = function
| Prefix ->
  Some { two = true; apart = false; sessions = true; rt_any = false;
    rt_begin = false }
| SnapshotIsolation ->
  Some { two = true; apart = true; sessions = false; rt_any = false;
    rt_begin = false }
| GeneralizedSI ->
  Some { two = true; apart = true; sessions = false; rt_any = true;
    rt_begin = false }
| StrongSessionSI ->
  Some { two = true; apart = true; sessions = true; rt_any = false;
    rt_begin = false }
| StrongSI ->
  Some { two = true; apart = true; sessions = true; rt_any = true; rt_begin =
    true }
| Serializable ->
  Some { two = false; apart = false; sessions = false; rt_any = false;
    rt_begin = false }
| StrongSessionSerializable ->
  Some { two = false; apart = false; sessions = true; rt_any = false;
    rt_begin = false }
| StrictSerializable ->
  Some { two = false; apart = false; sessions = true; rt_any = true;
    rt_begin = true }
| _ -> None

(** val initial_map : history -> Uint63.t M.t **)

let initial_map h =
  fold_right (fun kv m -> put m (fst kv) (snd kv)) none h.initials

(** val initial_in : history -> Uint63.t M.t -> Uint63.t -> change **)

let initial_in h m k =
  Put (match get m k with
       | Some v -> v
       | None -> h.default)

(** val small : Uint63.t -> bool **)

let small drift =
  leb0 drift (Uint63.of_int (2305843009213693952))

(** val check_order :
    history -> Uint63.t -> level -> Uint63.t list -> bool **)

let check_order h drift l order =
  match shape_of l with
  | Some sh ->
    (&&) ((&&) (ascending None h.txns) (small drift))
      (let starts0 = initial_map h in
       replay h (initial_in h starts0) (add0 drift drift) sh true
         (index_txns h.txns) order)
  | None -> false

(** val blind : txn -> bool **)

let blind t0 =
  match t0.outcome with
  | Indeterminate ->
    forallb (fun o ->
      match o.sees with
      | Some _ -> (match o.writes with
                   | Some _ -> false
                   | None -> true)
      | None -> true) t0.ops
  | _ -> false

type hop =
| BySession of Uint63.t
| ByRead of Uint63.t * Uint63.t
| ByLater of Uint63.t * Uint63.t

type axiom =
| Cycle of (bool * Uint63.t) list
| Own of Uint63.t
| Session of Uint63.t * Uint63.t
| RealTime of Uint63.t * Uint63.t
| Reads of Uint63.t * Uint63.t * Uint63.t
| Candidates of Uint63.t * Uint63.t
| NotFrom of Uint63.t * Uint63.t * Uint63.t option
| SourceCounts of Uint63.t * Uint63.t * Uint63.t
| SameVersion of Uint63.t * Uint63.t * Uint63.t * Uint63.t option
| Mismatch of Uint63.t * Uint63.t
| NoOverlap of Uint63.t * Uint63.t * Uint63.t
| Overwritten of Uint63.t * Uint63.t * Uint63.t option * Uint63.t
| Visible of Uint63.t * Uint63.t * Uint63.t option * Uint63.t * hop list
| ListOrder of Uint63.t * Uint63.t * Uint63.t * Uint63.t * Uint63.t * Uint63.t
| Conflict of Uint63.t * Uint63.t * Uint63.t * Uint63.t
| TooOften of Uint63.t * Uint63.t * Uint63.t * Uint63.t list
| Within of bool * Uint63.t * Uint63.t * Uint63.t * Uint63.t
| OneWithin of bool * Uint63.t * Uint63.t * Uint63.t
| Stands of Uint63.t * Uint63.t * Uint63.t
| Fits of Uint63.t * Uint63.t * Uint63.t * Uint63.t
| Places of Uint63.t * Uint63.t * Uint63.t * Uint63.t * Uint63.t
| Precedes of Uint63.t * Uint63.t * Uint63.t * Uint63.t * Uint63.t
| Ends of Uint63.t * Uint63.t * Uint63.t * Uint63.t
| OwnBegins of Uint63.t * Uint63.t * Uint63.t
| PlaceCounts of Uint63.t * Uint63.t * Uint63.t

(** val nat_of : Uint63.t -> nat **)

let nat_of n =
  Z.to_nat (to_Z n)

(** val note : txn -> txn list M.t -> op -> txn list M.t **)

let note t0 m o =
  match o.writes with
  | Some _ ->
    (match get m o.on with
     | Some l0 ->
       (match l0 with
        | [] -> put m o.on (t0 :: [])
        | x :: l -> if eqb0 x.id t0.id then m else put m o.on (t0 :: (x :: l)))
     | None -> put m o.on (t0 :: []))
  | None -> m

(** val writer_index : txn list -> txn list M.t **)

let writer_index ts =
  fold_left (fun m t0 ->
    match t0.outcome with
    | Aborted -> m
    | _ -> fold_left (note t0) t0.ops m) ts none

(** val is_prefix : Uint63.t list -> Uint63.t list -> bool **)

let rec is_prefix a b =
  match a with
  | [] -> true
  | x :: a0 ->
    (match b with
     | [] -> false
     | y :: b0 -> (&&) (eqb0 x y) (is_prefix a0 b0))

(** val holds_int : Uint63.t -> Uint63.t list -> bool **)

let holds_int v l =
  existsb (fun x -> eqb0 x v) l

(** val up_to : Uint63.t -> Uint63.t list -> Uint63.t list option **)

let rec up_to v = function
| [] -> None
| x :: r ->
  if eqb0 x v
  then Some []
  else (match up_to v r with
        | Some p -> Some (x :: p)
        | None -> None)

(** val copies : Uint63.t -> Uint63.t list -> nat **)

let copies v l =
  length (filter (fun x -> eqb0 x v) l)

(** val appended : Uint63.t -> Uint63.t -> txn list -> nat **)

let appended k v ws =
  fold_right (fun w n -> add (copies v (appends k w.ops)) n) O ws

(** val drop : Uint63.t -> Uint63.t list -> Uint63.t list option **)

let rec drop q l =
  if eqb0 q (Uint63.of_int (0))
  then Some l
  else (match l with
        | [] -> None
        | _ :: r -> drop (sub q (Uint63.of_int (1))) r)

(** val starts : Uint63.t -> Uint63.t list -> Uint63.t -> Uint63.t list **)

let rec starts v b p =
  match b with
  | [] -> []
  | x :: r ->
    app (if eqb0 x v then p :: [] else [])
      (if eqb0 p (Uint63.of_int (0))
       then []
       else starts v r (sub p (Uint63.of_int (1))))

(** val reaches0 : Uint63.t list -> Uint63.t -> bool **)

let rec reaches0 b d =
  match b with
  | [] -> false
  | _ :: r ->
    (||) (eqb0 d (Uint63.of_int (0))) (reaches0 r (sub d (Uint63.of_int (1))))

(** val matches :
    Uint63.t -> Uint63.t -> Uint63.t list -> Uint63.t list -> Uint63.t list **)

let rec matches q p b l = match l with
| [] -> []
| _ :: r ->
  if ltb0 q p
  then app (if is_prefix b l then q :: [] else [])
         (matches (add0 q (Uint63.of_int (1))) p b r)
  else []

(** val same_elements : Uint63.t list -> Uint63.t list -> bool **)

let same_elements a b =
  (&&) (is_prefix a b) (Nat.eqb (length a) (length b))

(** val without : txn -> Uint63.t list -> txn list -> txn list **)

let without t0 xs ws =
  filter (fun w -> (&&) (negb (eqb0 w.id t0.id)) (negb (holds_int w.id xs)))
    ws

(** val splits : level -> bool **)

let splits l =
  match shape_of l with
  | Some sh -> sh.two
  | None -> false

(** val is_weak : level -> bool **)

let is_weak l =
  match shape_of l with
  | Some _ -> false
  | None -> true

(** val is_rc : level -> bool **)

let is_rc = function
| ReadCommitted -> true
| _ -> false

(** val at_start : level -> bool **)

let at_start l =
  negb (splits l)

(** val known_event : level -> txn M.t -> (bool * Uint63.t) -> bool **)

let known_event l table x =
  (&&) (has table (snd x)) ((||) (splits l) (fst x))

(** val same_event : (bool * Uint63.t) -> (bool * Uint63.t) -> bool **)

let same_event x y =
  (&&) (eqb0 (snd x) (snd y)) (eqb (fst x) (fst y))

(** val below : (bool * Uint63.t) -> (bool * Uint63.t) -> bool **)

let below x y =
  (||) (ltb0 (snd x) (snd y))
    ((&&) ((&&) (eqb0 (snd x) (snd y)) (negb (fst x))) (fst y))

(** val lt : (bool * Uint63.t) -> (bool * Uint63.t) -> literal **)

let lt x y =
  if below x y
  then (true, (Lt0 ((fst x), (snd x), (fst y), (snd y))))
  else (false, (Lt0 ((fst y), (snd y), (fst x), (snd x))))

(** val guard : txn -> clause option **)

let guard t0 =
  match t0.outcome with
  | Committed -> Some []
  | Aborted -> None
  | Indeterminate ->
    Some (if blind t0 then [] else (false, (Lives t0.id)) :: [])

(** val with_txn :
    txn M.t -> Uint63.t -> (txn -> clause option) -> clause option **)

let with_txn table i f =
  match get table i with
  | Some t0 ->
    (match guard t0 with
     | Some g -> (match f t0 with
                  | Some c -> Some (app g c)
                  | None -> None)
     | None -> None)
  | None -> None

(** val at_read :
    txn -> Uint63.t -> (op list -> op -> seen -> clause option) -> clause
    option **)

let at_read t0 n f =
  match nth_error t0.ops (nat_of n) with
  | Some o ->
    (match o.sees with
     | Some s -> if knows t0 o then f (firstn (nat_of n) t0.ops) o s else None
     | None -> None)
  | None -> None

(** val first_row_b : op list -> op -> bool **)

let first_row_b p o =
  forallb (fun x -> negb ((&&) (eqb0 x.number o.number) (eqb0 x.on o.on))) p

(** val external0 : op list -> op -> bool **)

let external0 p o =
  match last_write o.on p with
  | Some _ -> false
  | None -> true

(** val only_if : bool -> clause -> clause option **)

let only_if b c =
  if b then Some c else None

(** val may_end : Uint63.t list -> change -> bool **)

let may_end vs = function
| Append v -> (match rev_append vs [] with
               | [] -> false
               | x :: _ -> eqb0 x v)
| _ -> true

(** val may_see : history -> txn -> op -> seen -> txn option -> bool **)

let may_see h t0 o s = function
| Some x ->
  (&&) (negb (eqb0 x.id t0.id))
    (match last_write o.on x.ops with
     | Some c -> (match s with
                  | Elements vs -> may_end vs c
                  | _ -> fits h s c)
     | None -> false)
| None ->
  (match s with
   | Elements vs -> (match vs with
                     | [] -> true
                     | _ :: _ -> false)
   | _ -> fits h s (initial h o.on))

(** val writers_of : txn list M.t -> Uint63.t -> txn list **)

let writers_of index k =
  match get index k with
  | Some ts -> ts
  | None -> []

(** val saw : Uint63.t -> Uint63.t -> Uint63.t option -> literal **)

let saw t0 n w =
  (true, (Saw (t0, n, w)))

(** val not_saw : Uint63.t -> Uint63.t -> Uint63.t option -> literal **)

let not_saw t0 n w =
  (false, (Saw (t0, n, w)))

(** val cycle_from :
    level -> txn M.t -> (bool * Uint63.t) -> (bool * Uint63.t) ->
    (bool * Uint63.t) list -> clause option **)

let rec cycle_from l table first now0 = function
| [] -> only_if (negb (same_event now0 first)) ((lt first now0) :: [])
| y :: rest0 ->
  if (&&) (known_event l table y) (negb (same_event now0 y))
  then (match cycle_from l table first y rest0 with
        | Some c -> Some ((lt y now0) :: c)
        | None -> None)
  else None

(** val so_b : txn -> txn -> bool **)

let so_b i j =
  (&&) ((&&) (eqb0 i.session j.session) (ltb0 i.id j.id)) (is_committed i)

(** val rt_b : Uint63.t -> txn -> txn -> bool **)

let rt_b drift i j =
  (&&) ((&&) (negb (eqb0 i.id j.id)) (is_committed i))
    (match i.completed with
     | Some c ->
       (match j.invoked with
        | Some v -> (&&) (ltb0 c v) (ltb0 (add0 drift drift) (sub v c))
        | None -> false)
     | None -> false)

(** val shape_has : level -> (shape -> bool) -> bool **)

let shape_has l f =
  match shape_of l with
  | Some sh -> f sh
  | None -> false

(** val hops : txn M.t -> txn -> hop list -> txn -> clause option **)

let rec hops table now0 path t0 =
  match path with
  | [] -> only_if (eqb0 now0.id t0.id) []
  | x :: rest ->
    (match x with
     | BySession j ->
       (match get table j with
        | Some u -> if so_b now0 u then hops table u rest t0 else None
        | None -> None)
     | ByRead (j, n) ->
       (match get table j with
        | Some u ->
          (match at_read u n (fun p o _ -> only_if (external0 p o) []) with
           | Some _ ->
             (match hops table u rest t0 with
              | Some c -> Some ((not_saw j n (Some now0.id)) :: c)
              | None -> None)
           | None -> None)
        | None -> None)
     | ByLater (j, n) ->
       (match get table j with
        | Some u ->
          (match at_read u n (fun p o _ -> only_if (external0 p o) []) with
           | Some _ ->
             (match hops table u rest t0 with
              | Some c ->
                Some ((false, (Bounded (false, j, n, now0.id))) :: c)
              | None -> None)
           | None -> None)
        | None -> None))

(** val one_step : hop -> bool **)

let one_step = function
| ByLater (_, _) -> false
| _ -> true

(** val path_fits : level -> txn -> op list -> op -> hop list -> bool **)

let path_fits l t0 p o path =
  match l with
  | ReadCommitted ->
    (match path with
     | [] -> false
     | h0 :: l0 ->
       (match h0 with
        | ByRead (j, n) ->
          (match l0 with
           | [] ->
             (&&) (eqb0 j t0.id)
               (match nth_error p (nat_of n) with
                | Some o' ->
                  (&&) (negb (eqb0 o'.number o.number))
                    (first_row_b (firstn (nat_of n) p) o')
                | None -> false)
           | _ :: _ -> false)
        | _ -> false))
  | ReadAtomic ->
    (match path with
     | [] -> false
     | x :: l0 -> (match l0 with
                   | [] -> one_step x
                   | _ :: _ -> false))
  | Causal -> (match path with
               | [] -> false
               | _ :: _ -> true)
  | _ -> false

(** val within : bool -> txn -> txn -> bool **)

let within up w x =
  (||) (eqb0 x.id w.id) (if up then so_b x w else so_b w x)

(** val row_ok : level -> op list -> op -> bool **)

let row_ok l p o =
  (||) ((||) (negb (external0 p o)) (negb (is_rc l))) (first_row_b p o)

(** val begins0 : Uint63.t -> Uint63.t -> Uint63.t -> literal **)

let begins0 k w q =
  (true, (Begins (k, w, q)))

(** val not_begins : Uint63.t -> Uint63.t -> Uint63.t -> literal **)

let not_begins k w q =
  (false, (Begins (k, w, q)))

(** val conclude :
    history -> Uint63.t -> level -> txn M.t -> txn list M.t -> axiom ->
    clause option **)

let conclude h drift l table index = function
| Cycle xs ->
  (match xs with
   | [] -> None
   | x :: rest ->
     if known_event l table x then cycle_from l table x x rest else None)
| Own t0 ->
  with_txn table t0 (fun t1 ->
    only_if (splits l) ((lt (false, t1.id) (true, t1.id)) :: []))
| Session (i, j) ->
  with_txn table i (fun i0 ->
    with_txn table j (fun j0 ->
      only_if
        ((&&) (so_b i0 j0)
          ((||) (is_weak l) (shape_has l (fun s -> s.sessions))))
        ((lt (true, i0.id) ((at_start l), j0.id)) :: [])))
| RealTime (i, j) ->
  with_txn table i (fun i0 ->
    with_txn table j (fun j0 ->
      only_if
        ((&&) ((&&) (rt_b drift i0 j0) (shape_has l (fun s -> s.rt_any)))
          (small drift))
        ((lt (true, i0.id)
           ((if shape_has l (fun s -> s.rt_begin) then at_start l else true),
           j0.id)) :: [])))
| Reads (t0, n, w) ->
  (match get table t0 with
   | Some t1 ->
     (match get table w with
      | Some w0 ->
        at_read t1 n (fun p o _ ->
          only_if
            ((&&) ((&&) (external0 p o) (negb (eqb0 w0.id t1.id)))
              ((||) (negb (is_rc l)) (first_row_b p o)))
            ((not_saw t1.id n (Some w0.id)) :: ((lt (true, w0.id)
                                                  ((at_start l), t1.id)) :: [])))
      | None -> None)
   | None -> None)
| Candidates (t0, n) ->
  with_txn table t0 (fun t1 ->
    at_read t1 n (fun p o s ->
      only_if (external0 p o)
        (app (if may_see h t1 o s None then (saw t1.id n None) :: [] else [])
          (map (fun w -> saw t1.id n (Some w.id))
            (filter (fun w -> may_see h t1 o s (Some w))
              (writers_of index o.on))))))
| NotFrom (t0, n, w) ->
  (match get table t0 with
   | Some t1 ->
     at_read t1 n (fun p o s ->
       only_if
         ((&&) (external0 p o)
           (match w with
            | Some i ->
              (match get table i with
               | Some x -> negb (may_see h t1 o s (Some x))
               | None -> true)
            | None -> negb (may_see h t1 o s None)))
         ((not_saw t1.id n w) :: []))
   | None -> None)
| SourceCounts (t0, n, w) ->
  (match get table t0 with
   | Some t1 ->
     (match get table w with
      | Some w0 ->
        at_read t1 n (fun p o _ ->
          only_if (external0 p o) ((not_saw t1.id n (Some w0.id)) :: ((true,
            (Lives w0.id)) :: [])))
      | None -> None)
   | None -> None)
| SameVersion (t0, n, m, w) ->
  (match get table t0 with
   | Some t1 ->
     at_read t1 n (fun p o _ ->
       at_read t1 m (fun p' o' _ ->
         only_if
           ((&&)
             ((&&) ((&&) (negb (is_rc l)) (external0 p o)) (external0 p' o'))
             (eqb0 o.on o'.on))
           ((not_saw t1.id n w) :: ((saw t1.id m w) :: []))))
   | None -> None)
| Mismatch (t0, n) ->
  with_txn table t0 (fun t1 ->
    at_read t1 n (fun p o s ->
      match last_write o.on p with
      | Some c ->
        only_if
          (match s with
           | Elements vs ->
             negb
               (is_prefix (rev_append (appends o.on p) []) (rev_append vs []))
           | _ -> negb (fits h s c)) []
      | None -> None))
| NoOverlap (k, a0, b) ->
  with_txn table a0 (fun a1 ->
    with_txn table b (fun b0 ->
      only_if
        ((&&)
          ((&&) ((&&) (shape_has l (fun s -> s.apart)) (writes_key k a1))
            (writes_key k b0)) (negb (eqb0 a1.id b0.id)))
        ((lt (true, b0.id) (true, a1.id)) :: ((lt (true, a1.id)
                                                ((at_start l), b0.id)) :: []))))
| Overwritten (t0, n, w, b) ->
  (match get table t0 with
   | Some t1 ->
     with_txn table b (fun b0 ->
       at_read t1 n (fun p o _ ->
         only_if
           ((&&)
             ((&&)
               ((&&) ((&&) (negb (is_weak l)) (external0 p o))
                 (writes_key o.on b0)) (negb (eqb0 b0.id t1.id)))
             (match w with
              | Some i -> (&&) (negb (eqb0 i b0.id)) (has table i)
              | None -> true))
           ((not_saw t1.id n w) :: (app
                                     (match w with
                                      | Some i ->
                                        (lt (true, b0.id) (true, i)) :: []
                                      | None -> [])
                                     ((lt ((at_start l), t1.id) (true, b0.id)) :: [])))))
   | None -> None)
| Visible (t0, n, w, k, path) ->
  (match get table t0 with
   | Some t1 ->
     (match get table k with
      | Some k0 ->
        at_read t1 n (fun p o _ ->
          match hops table k0 path t1 with
          | Some c ->
            only_if
              ((&&)
                ((&&)
                  ((&&)
                    ((&&) ((&&) (is_weak l) (external0 p o))
                      ((||) (negb (is_rc l)) (first_row_b p o)))
                    (writes_key o.on k0)) (path_fits l t1 p o path))
                (match w with
                 | Some i -> (&&) (negb (eqb0 i k0.id)) (has table i)
                 | None -> true))
              (app c
                ((not_saw t1.id n w) :: (match w with
                                         | Some i ->
                                           (lt (true, k0.id) (true, i)) :: []
                                         | None -> [])))
          | None -> None)
      | None -> None)
   | None -> None)
| ListOrder (t0, n, a0, v, b, v') ->
  (match get table a0 with
   | Some a1 ->
     with_txn table t0 (fun t1 ->
       with_txn table b (fun b0 ->
         at_read t1 n (fun _ o s ->
           match s with
           | Elements vs ->
             (match up_to v vs with
              | Some before ->
                only_if
                  ((&&)
                    ((&&)
                      ((&&) (holds_int v' (appends o.on b0.ops))
                        (negb (holds_int v' before)))
                      (negb (eqb0 a1.id b0.id)))
                    (forallb (fun w ->
                      (||) (eqb0 w.id a1.id)
                        (negb (holds_int v (appends o.on w.ops))))
                      (writers_of index o.on)))
                  ((lt (true, a1.id) (true, b0.id)) :: [])
              | None -> None)
           | _ -> None)))
   | None -> None)
| Conflict (t0, n, t', n') ->
  with_txn table t0 (fun t1 ->
    with_txn table t' (fun t'0 ->
      at_read t1 n (fun _ o s ->
        at_read t'0 n' (fun _ o' s' ->
          match s with
          | Elements vs ->
            (match s' with
             | Elements vs' ->
               only_if
                 ((&&) ((&&) (eqb0 o.on o'.on) (negb (is_prefix vs vs')))
                   (negb (is_prefix vs' vs))) []
             | _ -> None)
          | _ -> None))))
| TooOften (t0, n, v, xs) ->
  with_txn table t0 (fun t1 ->
    at_read t1 n (fun p o s ->
      match s with
      | Elements vs ->
        only_if
          ((&&) ((&&) (row_ok l p o) (forallb (has table) xs))
            (Nat.ltb
              (add (appended o.on v (without t1 xs (writers_of index o.on)))
                (copies v (appends o.on p))) (copies v vs)))
          (map (fun x -> (true, (Lives x))) xs)
      | _ -> None))
| Within (up, t0, n, w, x) ->
  (match get table t0 with
   | Some t1 ->
     (match get table w with
      | Some w0 ->
        (match get table x with
         | Some x0 ->
           at_read t1 n (fun p o _ ->
             only_if ((&&) (external0 p o) (within up w0 x0))
               ((not_saw t1.id n (Some x0.id)) :: ((true, (Bounded (up,
               t1.id, n, w0.id))) :: [])))
         | None -> None)
      | None -> None)
   | None -> None)
| OneWithin (up, t0, n, w) ->
  (match get table t0 with
   | Some t1 ->
     (match get table w with
      | Some w0 ->
        at_read t1 n (fun p o s ->
          only_if (external0 p o) ((false, (Bounded (up, t1.id, n,
            w0.id))) :: (map (fun x -> saw t1.id n (Some x.id))
                          (filter (fun x ->
                            (&&) (within up w0 x) (may_see h t1 o s (Some x)))
                            (writers_of index o.on)))))
      | None -> None)
   | None -> None)
| Stands (t0, n, p) ->
  with_txn table t0 (fun t1 ->
    at_read t1 n (fun _ o s ->
      match s with
      | Elements vs ->
        (match drop p vs with
         | Some l0 ->
           (match l0 with
            | [] -> None
            | v :: _ ->
              Some
                (flat_map (fun w ->
                  map (begins0 o.on w.id) (starts v (appends o.on w.ops) p))
                  (writers_of index o.on)))
         | None -> None)
      | _ -> None))
| Fits (t0, n, w, q) ->
  (match get table w with
   | Some w0 ->
     with_txn table t0 (fun t1 ->
       at_read t1 n (fun p o s ->
         match s with
         | Elements vs ->
           (match drop q vs with
            | Some l0 ->
              (match l0 with
               | [] -> None
               | v :: rest ->
                 only_if
                   (if eqb0 w0.id t1.id
                    then (&&) (external0 p o) (row_ok l p o)
                    else negb (is_prefix (appends o.on w0.ops) (v :: rest)))
                   ((not_begins o.on w0.id q) :: []))
            | None -> None)
         | _ -> None))
   | None -> None)
| Places (k, a0, p, b, q) ->
  (match get table a0 with
   | Some a1 ->
     (match get table b with
      | Some b0 ->
        let both = (not_begins k a1.id p) :: ((not_begins k b0.id q) :: []) in
        if eqb0 a1.id b0.id
        then only_if (negb (eqb0 p q)) both
        else if (&&)
                  ((&&) (leb0 p q)
                    (reaches0 (appends k b0.ops) (Uint63.of_int (0))))
                  (reaches0 (appends k a1.ops) (sub q p))
             then Some both
             else only_if (ltb0 p q)
                    (app both ((lt (true, a1.id) (true, b0.id)) :: []))
      | None -> None)
   | None -> None)
| Precedes (t0, n, a0, p, b) ->
  (match get table a0 with
   | Some a1 ->
     with_txn table t0 (fun t1 ->
       with_txn table b (fun b0 ->
         at_read t1 n (fun p' o s ->
           match s with
           | Elements vs ->
             (match drop p vs with
              | Some l0 ->
                (match l0 with
                 | [] -> None
                 | _ :: _ ->
                   only_if
                     ((&&)
                       ((&&) (negb (eqb0 a1.id b0.id))
                         (reaches0 (appends o.on b0.ops) (Uint63.of_int (0))))
                       (row_ok l p' o))
                     ((not_begins o.on a1.id p) :: ((lt (true, a1.id) (true,
                                                      b0.id)) :: (if 
                                                                    eqb0
                                                                    b0.id
                                                                    t1.id
                                                                  then []
                                                                  else 
                                                                    map
                                                                    (begins0
                                                                    o.on
                                                                    b0.id)
                                                                    (matches
                                                                    (Uint63.of_int (0))
                                                                    p
                                                                    (appends
                                                                    o.on
                                                                    b0.ops)
                                                                    vs)))))
              | None -> None)
           | _ -> None)))
   | None -> None)
| Ends (t0, n, w, q) ->
  (match get table t0 with
   | Some t1 ->
     (match get table w with
      | Some w0 ->
        at_read t1 n (fun p o s ->
          match s with
          | Elements vs ->
            let b = appends o.on w0.ops in
            (match drop q vs with
             | Some rest ->
               only_if
                 ((&&) (external0 p o)
                   ((||) (Nat.eqb (length rest) (length b))
                     ((&&) (eqb0 q (Uint63.of_int (0)))
                       (Nat.ltb (length rest) (length b)))))
                 ((not_saw t1.id n (Some w0.id)) :: (if same_elements b rest
                                                     then (begins0 o.on w0.id
                                                            q) :: []
                                                     else []))
             | None -> None)
          | _ -> None)
      | None -> None)
   | None -> None)
| OwnBegins (t0, n, q) ->
  with_txn table t0 (fun t1 ->
    at_read t1 n (fun p o s ->
      match s with
      | Elements vs ->
        (match drop q vs with
         | Some rest ->
           only_if
             ((&&) (negb (external0 p o))
               (Nat.eqb (length rest) (length (appends o.on p))))
             ((begins0 o.on t1.id q) :: [])
         | None -> None)
      | _ -> None))
| PlaceCounts (k, w, q) ->
  if has table w
  then Some ((not_begins k w q) :: ((true, (Lives w)) :: []))
  else None

type proof_step =
| Given of Uint63.t * axiom
| Derived of Uint63.t * clause * Uint63.t list

(** val run :
    (axiom -> clause option) -> clause M.t -> proof_step list -> bool **)

let rec run give db = function
| [] -> false
| s :: rest ->
  let next = fun n c ->
    match c with
    | [] -> true
    | _ :: _ -> run give (put db n c) rest
  in
  (match s with
   | Given (n, a) -> (match give a with
                      | Some c -> next n c
                      | None -> false)
   | Derived (n, c, hints) -> (&&) (follows db c hints) (next n c))

(** val refute_level :
    history -> Uint63.t -> level -> proof_step list -> bool **)

let refute_level h drift l steps =
  let table = index_txns h.txns in
  let index = writer_index h.txns in
  (&&) (ascending None h.txns)
    (run (conclude h drift l table index) none steps)

type word =
| N of Uint63.t
| C of Uint63.t

(** val is_digit : Uint63.t -> bool **)

let is_digit b =
  (&&) (leb0 (Uint63.of_int (48)) b) (leb0 b (Uint63.of_int (57)))

(** val grow : Uint63.t -> Uint63.t -> Uint63.t option **)

let grow n d =
  let m = add0 (mul (Uint63.of_int (10)) n) d in
  if (&&) (leb0 n (Uint63.of_int (922337203685477580)))
       (leb0 (mul (Uint63.of_int (10)) n) m)
  then Some m
  else None

(** val parse_words : word option -> Uint63.t list -> word list option **)

let rec parse_words now0 = function
| [] -> (match now0 with
         | Some w -> Some (w :: [])
         | None -> None)
| b :: rest ->
  if is_digit b
  then (match now0 with
        | Some w ->
          (match w with
           | N n ->
             if eqb0 n (Uint63.of_int (0))
             then None
             else (match grow n (sub b (Uint63.of_int (48))) with
                   | Some m -> parse_words (Some (N m)) rest
                   | None -> None)
           | C _ -> None)
        | None -> parse_words (Some (N (sub b (Uint63.of_int (48))))) rest)
  else if eqb0 b (Uint63.of_int (32))
       then (match now0 with
             | Some w ->
               (match parse_words None rest with
                | Some ws -> Some (w :: ws)
                | None -> None)
             | None -> None)
       else (match now0 with
             | Some _ -> None
             | None -> parse_words (Some (C b)) rest)

(** val numbers : word list -> Uint63.t list option **)

let rec numbers = function
| [] -> Some []
| w :: rest ->
  (match w with
   | N n -> (match numbers rest with
             | Some l -> Some (n :: l)
             | None -> None)
   | C _ -> None)

(** val parse_change : word list -> (change option * word list) option **)

let parse_change = function
| [] -> None
| w :: rest ->
  (match w with
   | N _ -> None
   | C c ->
     if eqb0 c (Uint63.of_int (45))
     then Some (None, rest)
     else (match rest with
           | [] -> None
           | w0 :: rest0 ->
             (match w0 with
              | N v ->
                if eqb0 c (Uint63.of_int (119))
                then Some ((Some (Put v)), rest0)
                else if eqb0 c (Uint63.of_int (100))
                     then Some ((Some (Delete v)), rest0)
                     else if eqb0 c (Uint63.of_int (97))
                          then Some ((Some (Append v)), rest0)
                          else None
              | C _ -> None)))

(** val parse_seen : word list -> seen option option **)

let parse_seen = function
| [] -> None
| w :: rest ->
  (match w with
   | N _ -> None
   | C c ->
     if eqb0 c (Uint63.of_int (91))
     then (match numbers rest with
           | Some vs -> Some (Some (Elements vs))
           | None -> None)
     else (match rest with
           | [] ->
             if eqb0 c (Uint63.of_int (45))
             then Some None
             else if eqb0 c (Uint63.of_int (95))
                  then Some (Some Absent)
                  else None
           | w0 :: l ->
             (match w0 with
              | N v ->
                (match l with
                 | [] ->
                   if eqb0 c (Uint63.of_int (61))
                   then Some (Some (Value v))
                   else if eqb0 c (Uint63.of_int (33))
                        then Some (Some (Other v))
                        else None
                 | _ :: _ -> None)
              | C _ -> None)))

(** val parse_time : word -> Uint63.t option option **)

let parse_time = function
| N n -> Some (Some n)
| C c -> if eqb0 c (Uint63.of_int (45)) then Some None else None

(** val parse_status : word -> status option **)

let parse_status = function
| N _ -> None
| C c ->
  if eqb0 c (Uint63.of_int (67))
  then Some Committed
  else if eqb0 c (Uint63.of_int (65))
       then Some Aborted
       else if eqb0 c (Uint63.of_int (73)) then Some Indeterminate else None

type reading = { r_head : (Uint63.t * Uint63.t) option;
                 r_initials : (Uint63.t * Uint63.t) list;
                 r_ranges : Uint63.t list; r_txns : txn list }

(** val nothing : reading **)

let nothing =
  { r_head = None; r_initials = []; r_ranges = []; r_txns = [] }

(** val turned : txn -> txn **)

let turned t0 =
  { id = t0.id; session = t0.session; outcome = t0.outcome; invoked =
    t0.invoked; completed = t0.completed; ops = (rev_append t0.ops []) }

(** val close : txn list -> txn list **)

let close = function
| [] -> []
| t0 :: rest -> (turned t0) :: rest

(** val feed_words : reading -> word list -> reading option **)

let feed_words r = function
| [] -> None
| w :: rest ->
  (match w with
   | N _ -> None
   | C c ->
     if eqb0 c (Uint63.of_int (79))
     then (match rest with
           | [] -> None
           | w0 :: l ->
             (match w0 with
              | N n ->
                (match l with
                 | [] -> None
                 | w1 :: rest0 ->
                   (match w1 with
                    | N k ->
                      (match r.r_txns with
                       | [] -> None
                       | t0 :: before ->
                         (match parse_change rest0 with
                          | Some p ->
                            let (w2, rest1) = p in
                            (match parse_seen rest1 with
                             | Some s ->
                               Some { r_head = r.r_head; r_initials =
                                 r.r_initials; r_ranges = r.r_ranges;
                                 r_txns = ({ id = t0.id; session =
                                 t0.session; outcome = t0.outcome; invoked =
                                 t0.invoked; completed = t0.completed; ops =
                                 ({ number = n; on = k; sees = s; writes =
                                 w2 } :: t0.ops) } :: before) }
                             | None -> None)
                          | None -> None))
                    | C _ -> None))
              | C _ -> None))
     else if eqb0 c (Uint63.of_int (84))
          then (match rest with
                | [] -> None
                | w0 :: l ->
                  (match w0 with
                   | N i ->
                     (match l with
                      | [] -> None
                      | w1 :: l0 ->
                        (match w1 with
                         | N s ->
                           (match l0 with
                            | [] -> None
                            | st :: l1 ->
                              (match l1 with
                               | [] -> None
                               | inv :: l2 ->
                                 (match l2 with
                                  | [] -> None
                                  | comp :: l3 ->
                                    (match l3 with
                                     | [] ->
                                       (match r.r_head with
                                        | Some _ ->
                                          (match parse_status st with
                                           | Some st0 ->
                                             (match parse_time inv with
                                              | Some inv0 ->
                                                (match parse_time comp with
                                                 | Some comp0 ->
                                                   Some { r_head = r.r_head;
                                                     r_initials =
                                                     r.r_initials; r_ranges =
                                                     r.r_ranges; r_txns =
                                                     ({ id = i; session = s;
                                                     outcome = st0; invoked =
                                                     inv0; completed = comp0;
                                                     ops =
                                                     [] } :: (close r.r_txns)) }
                                                 | None -> None)
                                              | None -> None)
                                           | None -> None)
                                        | None -> None)
                                     | _ :: _ -> None))))
                         | C _ -> None))
                   | C _ -> None))
          else if eqb0 c (Uint63.of_int (73))
               then (match rest with
                     | [] -> None
                     | w0 :: l ->
                       (match w0 with
                        | N k ->
                          (match l with
                           | [] -> None
                           | w1 :: l0 ->
                             (match w1 with
                              | N v ->
                                (match l0 with
                                 | [] ->
                                   (match r.r_head with
                                    | Some _ ->
                                      (match r.r_ranges with
                                       | [] ->
                                         (match r.r_txns with
                                          | [] ->
                                            Some { r_head = r.r_head;
                                              r_initials = ((k,
                                              v) :: r.r_initials); r_ranges =
                                              []; r_txns = [] }
                                          | _ :: _ -> None)
                                       | _ :: _ -> None)
                                    | None -> None)
                                 | _ :: _ -> None)
                              | C _ -> None))
                        | C _ -> None))
               else if eqb0 c (Uint63.of_int (82))
                    then (match rest with
                          | [] -> None
                          | w0 :: l ->
                            (match w0 with
                             | N n ->
                               (match l with
                                | [] ->
                                  (match r.r_head with
                                   | Some _ ->
                                     (match r.r_txns with
                                      | [] ->
                                        Some { r_head = r.r_head;
                                          r_initials = r.r_initials;
                                          r_ranges = (n :: r.r_ranges);
                                          r_txns = [] }
                                      | _ :: _ -> None)
                                   | None -> None)
                                | _ :: _ -> None)
                             | C _ -> None))
                    else if eqb0 c (Uint63.of_int (72))
                         then (match rest with
                               | [] -> None
                               | w0 :: l ->
                                 (match w0 with
                                  | N a ->
                                    (match l with
                                     | [] -> None
                                     | w1 :: l0 ->
                                       (match w1 with
                                        | N b ->
                                          (match l0 with
                                           | [] ->
                                             (match r.r_head with
                                              | Some _ -> None
                                              | None ->
                                                Some { r_head = (Some (a,
                                                  b)); r_initials = [];
                                                  r_ranges = []; r_txns = [] })
                                           | _ :: _ -> None)
                                        | C _ -> None))
                                  | C _ -> None))
                         else None)

(** val feed : reading -> Uint63.t list -> reading option **)

let feed r line =
  let words =
    match parse_words None line with
    | Some ws -> feed_words r ws
    | None -> None
  in
  (match line with
   | [] -> words
   | b :: _ -> if eqb0 b (Uint63.of_int (35)) then Some r else words)

(** val finish : reading -> history option **)

let finish r =
  match r.r_head with
  | Some p ->
    let (a, b) = p in
    Some { null = a; default = b; initials = (rev_append r.r_initials []);
    ranges = (rev_append r.r_ranges []); txns =
    (rev_append (close r.r_txns) []) }
  | None -> None

type seen_set = { upto : (Uint63.t * z) M.t; single : (txn * z) M.t }

(** val nothing_seen : seen_set **)

let nothing_seen =
  { upto = none; single = none }

(** val raise : (Uint63.t * z) M.t -> Uint63.t -> z -> (Uint63.t * z) M.t **)

let raise m s z0 =
  put m s (s,
    (match get m s with
     | Some p -> let (_, y) = p in Z.max y z0
     | None -> z0))

(** val see_one : seen_set -> txn -> z -> seen_set **)

let see_one v k z0 =
  { upto = v.upto; single = (put v.single k.id (k, z0)) }

(** val see : seen_set -> txn -> z -> seen_set **)

let see v k z0 =
  match k.outcome with
  | Committed -> { upto = (raise v.upto k.session z0); single = v.single }
  | _ -> see_one v k z0

(** val merge : seen_set -> seen_set -> seen_set **)

let merge a b =
  { upto =
    (union (fun x y -> ((fst x), (Z.max (snd x) (snd y)))) a.upto b.upto);
    single = (union (fun x _ -> x) a.single b.single) }

type placed = { who : txn; at_pos : z; then_lists : Uint63.t list M.t;
                its_seen : seen_set }

type walk_state = { now : z; pos : placed M.t; lists : Uint63.t list M.t;
                    by_session_key : (txn * z) list M.t M.t;
                    last_of : (txn * z) M.t;
                    session_seen : (Uint63.t * seen_set) list M.t }

(** val no_walk : walk_state **)

let no_walk =
  { now = Z0; pos = none; lists = none; by_session_key = none; last_of =
    none; session_seen = none }

(** val assign :
    txn -> op list -> op list -> Uint63.t option list -> Uint63.t option
    option list **)

let rec assign t0 p os sources =
  match os with
  | [] -> []
  | o :: rest ->
    if (&&)
         ((&&) (knows t0 o)
           (match o.sees with
            | Some _ -> true
            | None -> false))
         (match last_write o.on p with
          | Some _ -> false
          | None -> true)
    then (match sources with
          | [] -> (Some None) :: (assign t0 (app p (o :: [])) rest [])
          | s :: sources0 ->
            (Some s) :: (assign t0 (app p (o :: [])) rest sources0))
    else None :: (assign t0 (app p (o :: [])) rest sources)

type read_pair = op * Uint63.t option option

(** val each_pair :
    (read_pair list -> read_pair -> bool) -> read_pair list -> read_pair list
    -> bool **)

let rec each_pair f p = function
| [] -> true
| x :: rest -> (&&) (f p x) (each_pair f (x :: p) rest)

(** val is_writer_of : txn -> Uint63.t option -> bool **)

let is_writer_of k = function
| Some i -> eqb0 k.id i
| None -> false

(** val source_pos : walk_state -> Uint63.t option -> z option **)

let source_pos w = function
| Some i -> (match get w.pos i with
             | Some p -> Some p.at_pos
             | None -> None)
| None -> None

(** val before_source : z -> z option -> bool **)

let before_source z0 = function
| Some p -> Z.ltb z0 p
| None -> false

(** val value_ok :
    history -> (Uint63.t -> change) -> walk_state -> op -> Uint63.t option ->
    bool **)

let value_ok h start_value w o r =
  match o.sees with
  | Some s ->
    (match r with
     | Some i ->
       (match get w.pos i with
        | Some p ->
          (match last_write o.on p.who.ops with
           | Some c ->
             (match s with
              | Elements vs ->
                same_list (rev_append vs []) (elements0 p.then_lists o.on)
              | _ -> fits h s c)
           | None -> false)
        | None -> false)
     | None ->
       (match s with
        | Elements vs -> (match vs with
                          | [] -> true
                          | _ :: _ -> false)
        | _ -> fits h s (start_value o.on)))
  | None -> true

(** val session_writers :
    walk_state -> Uint63.t -> Uint63.t -> (txn * z) list **)

let session_writers w s k =
  match get w.by_session_key s with
  | Some m -> (match get m k with
               | Some xs -> xs
               | None -> [])
  | None -> []

(** val first_upto : z -> (txn * z) list -> (txn * z) option **)

let rec first_upto z0 = function
| [] -> None
| x :: rest -> if Z.leb (snd x) z0 then Some x else first_upto z0 rest

(** val none_missed :
    walk_state -> seen_set -> op -> Uint63.t option -> bool **)

let none_missed w v o r =
  (||)
    (match get w.last_of o.on with
     | Some p -> let (k, _) = p in is_writer_of k r
     | None -> true)
    (let source = source_pos w r in
     (&&)
       (for_all (fun x ->
         let (k, z0) = x in
         (||) ((||) (negb (writes_key o.on k)) (is_writer_of k r))
           (before_source z0 source)) v.single)
       (for_all (fun x ->
         let (s, z0) = x in
         (||) (before_source z0 source)
           (match first_upto z0 (session_writers w s o.on) with
            | Some p ->
              let (k, zk) = p in
              (||) (is_writer_of k r) (before_source zk source)
            | None -> true)) v.upto))

(** val rc : level -> bool **)

let rc = function
| ReadCommitted -> true
| _ -> false

(** val row_first : read_pair list -> op -> bool **)

let row_first p o =
  forallb (fun x ->
    negb ((&&) (eqb0 (fst x).number o.number) (eqb0 (fst x).on o.on))) p

(** val of_reads :
    level -> walk_state -> (op -> bool) -> read_pair list -> seen_set **)

let rec of_reads l w skip = function
| [] -> nothing_seen
| r0 :: rest ->
  let (o, r) = r0 in
  let v = of_reads l w skip rest in
  (match r with
   | Some o0 ->
     (match o0 with
      | Some i ->
        if (||) (skip o) ((&&) (rc l) (negb (row_first rest o)))
        then v
        else (match get w.pos i with
              | Some p ->
                (match l with
                 | Causal -> see (merge v p.its_seen) p.who p.at_pos
                 | _ -> see_one v p.who p.at_pos)
              | None -> v)
      | None -> v)
   | None -> v)

(** val seen_by : walk_state -> Uint63.t -> (Uint63.t * seen_set) list **)

let seen_by w s =
  match get w.session_seen s with
  | Some xs -> xs
  | None -> []

(** val before_id : Uint63.t -> (Uint63.t * seen_set) list -> seen_set **)

let rec before_id i = function
| [] -> nothing_seen
| x :: rest -> if ltb0 (fst x) i then snd x else before_id i rest

(** val of_session : level -> walk_state -> txn -> seen_set **)

let of_session l w t0 =
  match l with
  | ReadAtomic -> before_id t0.id (seen_by w t0.session)
  | Causal -> before_id t0.id (seen_by w t0.session)
  | _ -> nothing_seen

(** val all_seen :
    level -> walk_state -> txn -> read_pair list -> seen_set **)

let all_seen l w t0 pairs =
  match l with
  | ReadCommitted -> nothing_seen
  | _ ->
    merge (of_reads l w (fun _ -> false) (rev_append pairs []))
      (of_session l w t0)

(** val later_ok :
    history -> txn M.t -> Uint63.t option list M.t -> txn -> op -> Uint63.t
    option -> bool **)

let later_ok h table sources t0 o = function
| Some i ->
  (match o.sees with
   | Some s ->
     (&&) ((&&) (negb (eqb0 i t0.id)) (has sources i))
       (match get table i with
        | Some x ->
          (match last_write o.on x.ops with
           | Some c -> (match s with
                        | Elements _ -> false
                        | _ -> fits h s c)
           | None -> false)
        | None -> false)
   | None -> false)
| None -> false

(** val pair_ok :
    history -> (Uint63.t -> change) -> level -> (op -> Uint63.t option ->
    bool) -> walk_state -> seen_set -> read_pair list -> read_pair -> bool **)

let pair_ok h start_value l later0 w v p = function
| (o, r) ->
  (match r with
   | Some r0 ->
     if rc l
     then if row_first p o
          then (&&) (value_ok h start_value w o r0)
                 (none_missed w
                   (of_reads l w (fun o' -> eqb0 o'.number o.number) p) o r0)
          else (||) (value_ok h start_value w o r0) (later0 o r0)
     else (&&) (value_ok h start_value w o r0) (none_missed w v o r0)
   | None -> true)

(** val add_writer : txn -> z -> (txn * z) list M.t -> (txn * z) list M.t **)

let add_writer t0 z0 m =
  fold_left (fun m0 o ->
    match o.writes with
    | Some _ ->
      put m0 o.on ((t0,
        z0) :: (match get m0 o.on with
                | Some xs -> xs
                | None -> []))
    | None -> m0) t0.ops m

(** val place_txn : walk_state -> txn -> seen_set -> walk_state **)

let place_txn w t0 v =
  let after = lengthen t0 w.lists in
  let committed = match t0.outcome with
                  | Committed -> true
                  | _ -> false in
  { now = (Z.add w.now (Zpos XH)); pos =
  (put w.pos t0.id { who = t0; at_pos = w.now; then_lists = after; its_seen =
    v }); lists = after; by_session_key =
  (if committed
   then put w.by_session_key t0.session
          (add_writer t0 w.now
            (match get w.by_session_key t0.session with
             | Some m -> m
             | None -> none))
   else w.by_session_key); last_of =
  (fold_left (fun m o ->
    match o.writes with
    | Some _ -> put m o.on (t0, w.now)
    | None -> m) t0.ops w.last_of); session_seen =
  (if committed
   then put w.session_seen t0.session ((t0.id,
          (see v t0 w.now)) :: (seen_by w t0.session))
   else w.session_seen) }

(** val pairs_of : Uint63.t option list M.t -> txn -> read_pair list **)

let pairs_of sources t0 =
  combine t0.ops
    (assign t0 [] t0.ops
      (match get sources t0.id with
       | Some xs -> xs
       | None -> []))

(** val weak_walk :
    history -> (Uint63.t -> change) -> level -> txn M.t -> Uint63.t option
    list M.t -> walk_state -> Uint63.t list -> bool **)

let rec weak_walk h start_value l table sources w = function
| [] -> true
| i :: rest ->
  (match get table i with
   | Some t0 ->
     let pairs = pairs_of sources t0 in
     let v = all_seen l w t0 pairs in
     (&&)
       (each_pair (pair_ok h start_value l (later_ok h table sources t0) w v)
         [] pairs)
       (weak_walk h start_value l table sources
         (place_txn w t0 (match l with
                          | Causal -> v
                          | _ -> nothing_seen)) rest)
   | None -> false)

(** val weak_shape : shape **)

let weak_shape =
  { two = false; apart = false; sessions = true; rt_any = false; rt_begin =
    false }

(** val is_weak_level : level -> bool **)

let is_weak_level = function
| ReadCommitted -> true
| ReadAtomic -> true
| Causal -> true
| _ -> false

(** val check_weak :
    history -> level -> (Uint63.t * Uint63.t option list) list -> bool **)

let check_weak h l entries =
  (&&) ((&&) (is_weak_level l) (ascending None h.txns))
    (let table = index_txns h.txns in
     let starts0 = initial_map h in
     let order =
       rev_append (fold_left (fun l0 x -> (fst x) :: l0) entries []) []
     in
     let sources = fold_left (fun m x -> put m (fst x) (snd x)) entries none
     in
     (&&)
       (replay h (initial_in h starts0) (Uint63.of_int (0)) weak_shape false
         table order)
       (weak_walk h (initial_in h starts0) l table sources no_walk order))

type evidence =
| ByOrder of Uint63.t list
| ByOrders of (Uint63.t * Uint63.t list) list
| ByWeak of (Uint63.t * Uint63.t option list) list
| BySteps of proof_step list
| ByStepsOn of Uint63.t * proof_step list

(** val is_some : 'a1 option -> bool **)

let is_some = function
| Some _ -> true
| None -> false

(** val has_times_b : history -> bool **)

let has_times_b h =
  forallb (fun t0 ->
    match t0.outcome with
    | Committed -> (&&) (is_some t0.invoked) (is_some t0.completed)
    | Aborted -> true
    | Indeterminate -> is_some t0.invoked) h.txns

(** val single_objects_b : history -> bool **)

let single_objects_b h =
  (&&) (match h.ranges with
        | [] -> true
        | _ :: _ -> false)
    (forallb (fun t0 ->
      match t0.outcome with
      | Aborted -> true
      | _ ->
        (match t0.ops with
         | [] -> true
         | o :: rest -> forallb (fun o' -> eqb0 o'.on o.on) rest)) h.txns)

(** val applies_b : history -> level -> bool **)

let applies_b h = function
| GeneralizedSI -> has_times_b h
| StrongSI -> has_times_b h
| StrictSerializable -> has_times_b h
| Linearizable -> (&&) (has_times_b h) (single_objects_b h)
| _ -> true

(** val by_key : txn list -> txn list M.t **)

let by_key ts =
  fold_left (fun m t0 ->
    match t0.outcome with
    | Aborted -> m
    | _ ->
      (match t0.ops with
       | [] -> m
       | o :: _ ->
         put m o.on (t0 :: (match get m o.on with
                            | Some l -> l
                            | None -> [])))) (rev_append ts []) none

(** val of_key : txn list M.t -> Uint63.t -> txn list **)

let of_key groups k =
  match get groups k with
  | Some l -> l
  | None -> []

(** val alone : history -> txn list -> history **)

let alone h ts =
  { null = h.null; default = h.default; initials = h.initials; ranges =
    h.ranges; txns = ts }

(** val check_orders :
    history -> Uint63.t -> (Uint63.t * Uint63.t list) list -> bool **)

let check_orders h drift orders =
  let groups = by_key h.txns in
  let named = fold_left (fun m ko -> put m (fst ko) true) orders none in
  (&&)
    (forallb (fun ko ->
      check_order (alone h (of_key groups (fst ko))) drift StrictSerializable
        (snd ko)) orders)
    (forallb (fun t0 ->
      match t0.outcome with
      | Committed -> (match t0.ops with
                      | [] -> true
                      | o :: _ -> has named o.on)
      | _ -> true) h.txns)

(** val accepts : history -> Uint63.t -> level -> evidence -> bool **)

let accepts h drift l ev =
  (&&) (applies_b h l)
    (match ev with
     | ByOrder order -> check_order h drift l order
     | ByOrders orders ->
       (match l with
        | Linearizable ->
          (&&) (ascending None h.txns) (check_orders h drift orders)
        | _ -> false)
     | ByWeak entries -> check_weak h l entries
     | _ -> false)

(** val rejects : history -> Uint63.t -> level -> evidence -> bool **)

let rejects h drift l ev =
  (&&) (applies_b h l)
    (match ev with
     | BySteps steps ->
       (match l with
        | Linearizable -> false
        | _ -> refute_level h drift l steps)
     | ByStepsOn (k, steps) ->
       (match l with
        | Linearizable ->
          (&&) (ascending None h.txns)
            (refute_level (only_on h k) drift StrictSerializable steps)
        | _ -> false)
     | _ -> false)

type proof = { at_level : level; satisfied : bool; shown : evidence }

type answer = { for_level : level; verdict : bool; by_proof : nat }

(** val check_proof : history -> Uint63.t -> proof -> bool **)

let check_proof h drift p =
  if p.satisfied
  then accepts h drift p.at_level p.shown
  else rejects h drift p.at_level p.shown

(** val check_answer : history -> proof list -> answer -> bool **)

let check_answer h proofs a =
  match nth_error proofs a.by_proof with
  | Some p ->
    (&&) ((&&) (applies_b h a.for_level) (eqb a.verdict p.satisfied))
      (if a.verdict
       then implies p.at_level a.for_level
       else implies a.for_level p.at_level)
  | None -> false

(** val verify : history -> Uint63.t -> proof list -> answer list -> bool **)

let verify h drift proofs answers =
  (&&) (forallb (check_proof h drift) proofs)
    (forallb (check_answer h proofs) answers)
