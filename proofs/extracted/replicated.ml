
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

  (** val eqb : positive -> positive -> bool **)

  let rec eqb p q =
    match p with
    | XI p0 -> (match q with
                | XI q0 -> eqb p0 q0
                | _ -> false)
    | XO p0 -> (match q with
                | XO q0 -> eqb p0 q0
                | _ -> false)
    | XH -> (match q with
             | XH -> true
             | _ -> false)
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

  (** val opp : z -> z **)

  let opp = function
  | Z0 -> Z0
  | Zpos x0 -> Zneg x0
  | Zneg x0 -> Zpos x0

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

  (** val eqb : z -> z -> bool **)

  let eqb x y =
    match x with
    | Z0 -> (match y with
             | Z0 -> true
             | _ -> false)
    | Zpos p -> (match y with
                 | Zpos q -> Pos.eqb p q
                 | _ -> false)
    | Zneg p -> (match y with
                 | Zneg q -> Pos.eqb p q
                 | _ -> false)
 end

(** val rev_append : 'a1 list -> 'a1 list -> 'a1 list **)

let rec rev_append l l' =
  match l with
  | [] -> l'
  | a :: l0 -> rev_append l0 (a :: l')

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t0 -> (f a) :: (map f t0)

(** val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1 **)

let rec fold_left f l a0 =
  match l with
  | [] -> a0
  | b :: t0 -> fold_left f t0 (f a0 b)

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

(** val ltb : Uint63.t -> Uint63.t -> bool **)

let ltb = Uint63.lt

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

(** val none : 'a1 M.t **)

let none =
  M.empty

(** val has : 'a1 M.t -> Uint63.t -> bool **)

let has m i =
  match get m i with
  | Some _ -> true
  | None -> false

(** val for_all : ('a1 -> bool) -> 'a1 M.t -> bool **)

let rec for_all f = function
| M.Leaf -> true
| M.Node (l, o, r) ->
  (&&) ((&&) (match o with
              | Some a -> f a
              | None -> true) (for_all f l)) (for_all f r)

type type0 =
| AddWinsSet
| RemoveWinsSet
| GrowOnlySet
| TwoPhaseSet
| EnableWinsFlag
| DisableWinsFlag
| MultiValueRegister
| LastWriterWinsRegister
| AnyMaximalRegister
| Counter
| ResettableCounter
| BoundedCounter
| GrowableArray

type call =
| Add of Uint63.t
| Remove of Uint63.t
| Contains of Uint63.t * bool
| Elements of Uint63.t list
| Increment of Uint63.t
| Decrement of Uint63.t
| Reset
| Total of bool * Uint63.t
| Write of Uint63.t
| Values of Uint63.t list
| Insert of Uint63.t option * Uint63.t

(** val is_update : call -> bool **)

let is_update = function
| Contains (_, _) -> false
| Elements _ -> false
| Total (_, _) -> false
| Values _ -> false
| _ -> true

type op = { id : Uint63.t; replica : Uint63.t; object0 : Uint63.t;
            begun : Uint63.t option; ended : Uint63.t option; call_of : 
            call; received : (Uint63.t * Uint63.t) list }

type history = { type_of : type0; known : bool; ops : op list }

(** val amount : call -> z **)

let amount = function
| Increment n -> to_Z n
| Decrement n -> Z.opp (to_Z n)
| _ -> Z0

(** val signed : bool -> Uint63.t -> z **)

let signed below_0 n =
  if below_0 then Z.opp (to_Z n) else to_Z n

(** val is_reset : call -> bool **)

let is_reset = function
| Reset -> true
| _ -> false

type entry = { it : op; place : Uint63.t;
               counts : (Uint63.t * Uint63.t) list; row : Uint63.t M.t;
               seq : Uint63.t; worth : z }

type witness = { clocks : (Uint63.t * (Uint63.t * Uint63.t) list) list;
                 characters : (Uint63.t * (Uint63.t * Uint63.t)) list }

(** val get0 : Uint63.t M.t -> Uint63.t -> Uint63.t **)

let get0 m i =
  match get m i with
  | Some n -> n
  | None -> (Uint63.of_int (0))

(** val row_of : (Uint63.t * Uint63.t) list -> Uint63.t M.t **)

let row_of cs =
  fold_left (fun m jc -> put m (fst jc) (snd jc)) cs none

(** val entry_of : (op * (Uint63.t * (Uint63.t * Uint63.t) list)) -> entry **)

let entry_of oc =
  let r = row_of (snd (snd oc)) in
  { it = (fst oc); place = (fst (snd oc)); counts = (snd (snd oc)); row = r;
  seq = (get0 r (fst oc).replica); worth = (amount (fst oc).call_of) }

(** val zip :
    op list -> (Uint63.t * (Uint63.t * Uint63.t) list) list -> entry list ->
    entry list option **)

let rec zip os cs done0 =
  match os with
  | [] -> (match cs with
           | [] -> Some (rev_append done0 [])
           | _ :: _ -> None)
  | o :: os0 ->
    (match cs with
     | [] -> None
     | c :: cs0 -> zip os0 cs0 ((entry_of (o, c)) :: done0))

(** val saw : entry -> entry -> bool **)

let saw e a =
  ltb a.seq (get0 e.row a.it.replica)

(** val time_le : Uint63.t option -> Uint63.t option -> bool **)

let time_le a b =
  match a with
  | Some x -> (match b with
               | Some y -> leb0 x y
               | None -> false)
  | None -> true

(** val in_line : Uint63.t option -> entry M.t -> entry list -> bool **)

let rec in_line before last = function
| [] -> true
| e :: rest ->
  (&&)
    ((&&) (match before with
           | Some i -> ltb i e.it.id
           | None -> true)
      (match get last e.it.replica with
       | Some p -> (&&) (ltb p.seq e.seq) (time_le p.it.begun e.it.begun)
       | None -> true))
    (in_line (Some e.it.id) (put last e.it.replica e) rest)

(** val at_replica : entry M.t M.t -> Uint63.t -> entry M.t **)

let at_replica m j =
  match get m j with
  | Some l -> l
  | None -> none

(** val index_lines : entry list -> entry M.t M.t **)

let index_lines es =
  fold_left (fun m e ->
    put m e.it.replica (put (at_replica m e.it.replica) e.seq e)) es none

(** val index_ids : entry list -> entry M.t **)

let index_ids es =
  fold_left (fun m e -> put m e.it.id e) es none

(** val row_le : entry -> entry -> bool **)

let row_le a e =
  forallb (fun jc -> leb0 (snd jc) (get0 e.row (fst jc))) a.counts

(** val not_late : op -> op -> bool **)

let not_late o u =
  (||) (eqb0 u.replica o.replica)
    (match u.begun with
     | Some b -> (match o.ended with
                  | Some e -> leb0 b e
                  | None -> true)
     | None -> true)

(** val closed : entry M.t M.t -> entry -> bool **)

let closed lines e =
  forallb (fun jc ->
    (&&) (eqb0 (get0 e.row (fst jc)) (snd jc))
      ((||) (eqb0 (snd jc) (Uint63.of_int (0)))
        (match get (at_replica lines (fst jc))
                 (sub (snd jc) (Uint63.of_int (1))) with
         | Some q ->
           (&&) ((&&) (ltb q.place e.place) (row_le q e)) (not_late e.it q.it)
         | None -> false))) e.counts

(** val as_received : entry M.t M.t -> entry -> bool **)

let as_received lines e =
  let last = fun j ->
    if eqb0 (get0 e.row j) (Uint63.of_int (0))
    then None
    else get (at_replica lines j) (sub (get0 e.row j) (Uint63.of_int (1)))
  in
  (&&)
    (forallb (fun jn ->
      (&&) (negb (eqb0 (fst jn) e.it.replica))
        (match last (fst jn) with
         | Some q -> eqb0 q.it.id (snd jn)
         | None -> false)) e.it.received)
    (forallb (fun jc ->
      (||)
        ((||) (eqb0 (fst jc) e.it.replica)
          (eqb0 (snd jc) (Uint63.of_int (0))))
        (existsb (fun jn -> eqb0 (fst jn) (fst jc)) e.it.received)) e.counts)

(** val distinct : bool M.t -> Uint63.t list -> bool **)

let rec distinct m = function
| [] -> true
| n :: rest -> (&&) (negb (has m n)) (distinct (put m n true) rest)

(** val in_group : entry list M.t -> Uint63.t -> entry list **)

let in_group m k =
  match get m k with
  | Some l -> l
  | None -> []

(** val group : (entry -> Uint63.t option) -> entry list -> entry list M.t **)

let group f l =
  fold_left (fun m e ->
    match f e with
    | Some k -> put m k (e :: (in_group m k))
    | None -> m) (rev_append l []) none

(** val is_key : Uint63.t option -> Uint63.t -> bool **)

let is_key o k =
  match o with
  | Some i -> eqb0 i k
  | None -> false

(** val by_object : entry -> Uint63.t option **)

let by_object e =
  if is_update e.it.call_of then Some e.it.object0 else None

(** val seen_in : entry list M.t -> entry -> entry list **)

let seen_in g e =
  filter (saw e) (in_group g e.it.object0)

(** val raise : Uint63.t M.t -> (Uint63.t * Uint63.t) list -> Uint63.t M.t **)

let raise m cs =
  fold_left (fun m0 jc ->
    if ltb (get0 m0 (fst jc)) (snd jc) then put m0 (fst jc) (snd jc) else m0)
    cs m

(** val join : entry list -> Uint63.t M.t **)

let join rs =
  fold_left (fun m r -> raise m r.counts) rs none

(** val observed : Uint63.t M.t -> entry -> bool **)

let observed m a =
  ltb a.seq (get0 m a.it.replica)

(** val is_add : entry -> bool **)

let is_add e =
  match e.it.call_of with
  | Add _ -> true
  | _ -> false

(** val is_remove : entry -> bool **)

let is_remove e =
  match e.it.call_of with
  | Remove _ -> true
  | _ -> false

(** val nonempty : entry list -> bool **)

let nonempty = function
| [] -> false
| _ :: _ -> true

(** val shows_b : type0 -> entry list -> bool **)

let shows_b t0 us =
  let adds = filter is_add us in
  let removes = filter is_remove us in
  (match t0 with
   | AddWinsSet ->
     let m = join removes in existsb (fun a -> negb (observed m a)) adds
   | RemoveWinsSet ->
     let m = join adds in (&&) (nonempty adds) (forallb (observed m) removes)
   | GrowOnlySet -> nonempty adds
   | TwoPhaseSet -> (&&) (nonempty adds) (negb (nonempty removes))
   | EnableWinsFlag ->
     let m = join removes in existsb (fun a -> negb (observed m a)) adds
   | DisableWinsFlag ->
     let m = join adds in (&&) (nonempty adds) (forallb (observed m) removes)
   | _ -> false)

(** val element_of : entry -> Uint63.t option **)

let element_of e =
  match e.it.call_of with
  | Add n -> Some n
  | Remove n -> Some n
  | _ -> None

(** val set_of : Uint63.t list -> bool M.t **)

let set_of ns =
  fold_left (fun m n -> put m n true) ns none

(** val members_b : type0 -> entry list -> Uint63.t list -> bool **)

let members_b t0 us es =
  let g = group element_of us in
  let named = set_of es in
  (&&) (forallb (fun e -> shows_b t0 (in_group g e)) es)
    (for_all (fun l ->
      match l with
      | [] -> true
      | u :: _ ->
        (match element_of u with
         | Some e -> (||) (has named e) (negb (shows_b t0 l))
         | None -> true)) g)

(** val total : entry list -> z **)

let total us =
  fold_left (fun s u -> Z.add s u.worth) us Z0

(** val is_reset_entry : entry -> bool **)

let is_reset_entry e =
  is_reset e.it.call_of

(** val not_reset : entry list -> entry list **)

let not_reset us =
  let m = join (filter is_reset_entry us) in
  filter (fun u -> negb (observed m u)) us

(** val value_of : entry -> Uint63.t option **)

let value_of e =
  match e.it.call_of with
  | Write v -> Some v
  | _ -> None

(** val is_write : entry -> bool **)

let is_write e =
  match e.it.call_of with
  | Write _ -> true
  | _ -> false

(** val maximal_b : entry list -> entry list **)

let maximal_b us =
  let ws = filter is_write us in
  let m = join ws in filter (fun w -> negb (observed m w)) ws

(** val writes_v : Uint63.t -> entry -> bool **)

let writes_v v e =
  is_key (value_of e) v

(** val without_write : Uint63.t -> entry list -> entry list option **)

let rec without_write v = function
| [] -> None
| w :: rest ->
  if writes_v v w
  then Some rest
  else (match without_write v rest with
        | Some l -> Some (w :: l)
        | None -> None)

(** val each_written : entry list -> Uint63.t list -> bool **)

let rec each_written ws = function
| [] -> true
| v :: rest ->
  (match without_write v ws with
   | Some l -> each_written l rest
   | None -> false)

(** val is_insert : entry -> bool **)

let is_insert e =
  match e.it.call_of with
  | Insert (_, _) -> true
  | _ -> false

(** val inserted : entry -> Uint63.t **)

let inserted e =
  match e.it.call_of with
  | Insert (_, c) -> c
  | _ -> (Uint63.of_int (0))

(** val inserts : entry list -> entry M.t **)

let inserts es =
  fold_left (fun m e -> put m (inserted e) e) (filter is_insert es) none

(** val added_b : entry M.t -> entry -> Uint63.t -> bool **)

let added_b ins o c =
  match get ins c with
  | Some a -> (&&) (eqb0 a.it.object0 o.it.object0) (saw o a)
  | None -> false

(** val spans_of :
    (Uint63.t * (Uint63.t * Uint63.t)) list -> (Uint63.t * Uint63.t) M.t **)

let spans_of cs =
  fold_left (fun m c -> put m (fst c) (snd c)) cs none

(** val rising :
    entry M.t -> (Uint63.t * Uint63.t) M.t -> Uint63.t option -> Uint63.t
    list -> bool **)

let rec rising ins spans last = function
| [] -> true
| c :: rest ->
  (match get ins c with
   | Some a ->
     (match get spans a.it.id with
      | Some p ->
        let (lo, _) = p in
        (&&) (match last with
              | Some l -> ltb l lo
              | None -> true) (rising ins spans (Some lo) rest)
      | None -> false)
   | None -> false)

(** val removed_in : entry list -> bool M.t **)

let removed_in us =
  fold_left (fun m u ->
    match u.it.call_of with
    | Remove e -> put m e true
    | _ -> m) us none

(** val characters_b :
    entry M.t -> (Uint63.t * Uint63.t) M.t -> entry -> entry list -> Uint63.t
    list -> bool **)

let characters_b ins spans o us cs =
  let removed = removed_in us in
  let named = set_of cs in
  (&&)
    ((&&)
      (forallb (fun c -> (&&) (added_b ins o c) (negb (has removed c))) cs)
      (forallb (fun u ->
        match u.it.call_of with
        | Insert (_, c) -> (||) (has removed c) (has named c)
        | _ -> true) us)) (rising ins spans None cs)

(** val siblings :
    entry M.t -> Uint63.t option -> Uint63.t M.t -> Uint63.t M.t ->
    (Uint63.t * (Uint63.t * Uint63.t)) list -> bool **)

let rec siblings ids last after first = function
| [] -> true
| p :: rest ->
  let (i, p0) = p in
  let (lo, hi) = p0 in
  (match get ids i with
   | Some a ->
     (&&)
       ((&&) (match last with
              | Some l -> ltb a.place l
              | None -> true) (ltb lo hi))
       (match a.it.call_of with
        | Insert (after0, _) ->
          (match after0 with
           | Some p1 ->
             (&&) (leb0 (get0 after p1) lo)
               (siblings ids (Some a.place) (put after p1 hi) first rest)
           | None ->
             (&&) (leb0 (get0 first a.it.object0) lo)
               (siblings ids (Some a.place) after (put first a.it.object0 hi)
                 rest))
        | _ -> false)
   | None -> false)

(** val inside : entry M.t -> (Uint63.t * Uint63.t) M.t -> entry -> bool **)

let inside ins spans a =
  match a.it.call_of with
  | Insert (p, _) ->
    (match get spans a.it.id with
     | Some p0 ->
       let (lo, hi) = p0 in
       (&&) (ltb lo hi)
         (match p with
          | Some p1 ->
            (match get ins p1 with
             | Some b ->
               (&&) (eqb0 b.it.object0 a.it.object0)
                 (match get spans b.it.id with
                  | Some p2 ->
                    let (lo', hi') = p2 in (&&) (ltb lo' lo) (leb0 hi hi')
                  | None -> false)
             | None -> false)
          | None -> true)
     | None -> false)
  | _ -> true

(** val right_b :
    type0 -> entry list M.t -> entry M.t -> (Uint63.t * Uint63.t) M.t ->
    entry -> bool **)

let right_b t0 g ins spans o =
  let us = if is_update o.it.call_of then [] else seen_in g o in
  (match t0 with
   | GrowOnlySet ->
     (match o.it.call_of with
      | Add _ -> true
      | Contains (e, yes) ->
        eqb yes (shows_b t0 (filter (fun u -> is_key (element_of u) e) us))
      | Elements es -> members_b t0 us es
      | _ -> false)
   | EnableWinsFlag ->
     (match o.it.call_of with
      | Add _ -> true
      | Remove _ -> true
      | Contains (e, yes) ->
        eqb yes (shows_b t0 (filter (fun u -> is_key (element_of u) e) us))
      | _ -> false)
   | DisableWinsFlag ->
     (match o.it.call_of with
      | Add _ -> true
      | Remove _ -> true
      | Contains (e, yes) ->
        eqb yes (shows_b t0 (filter (fun u -> is_key (element_of u) e) us))
      | _ -> false)
   | MultiValueRegister ->
     (match o.it.call_of with
      | Write _ -> true
      | Values vs ->
        let ws = maximal_b us in
        (&&) (each_written ws vs)
          (forallb (fun w -> existsb (is_key (value_of w)) vs) ws)
      | _ -> false)
   | LastWriterWinsRegister ->
     (match o.it.call_of with
      | Write _ -> true
      | Values vs ->
        (match vs with
         | [] -> negb (existsb is_write us)
         | v :: l ->
           (match l with
            | [] ->
              let ws = filter is_write us in
              existsb (fun w ->
                (&&) (writes_v v w)
                  (forallb (fun w' -> leb0 w'.place w.place) ws)) ws
            | _ :: _ -> false))
      | _ -> false)
   | AnyMaximalRegister ->
     (match o.it.call_of with
      | Write _ -> true
      | Values vs ->
        (match vs with
         | [] -> negb (existsb is_write us)
         | v :: l ->
           (match l with
            | [] -> existsb (writes_v v) (maximal_b us)
            | _ :: _ -> false))
      | _ -> false)
   | Counter ->
     (match o.it.call_of with
      | Increment _ -> true
      | Decrement _ -> true
      | Total (s, n) -> Z.eqb (signed s n) (total us)
      | _ -> false)
   | ResettableCounter ->
     (match o.it.call_of with
      | Increment _ -> true
      | Decrement _ -> true
      | Reset -> true
      | Total (s, n) -> Z.eqb (signed s n) (total (not_reset us))
      | _ -> false)
   | BoundedCounter ->
     (match o.it.call_of with
      | Increment _ -> true
      | Decrement _ -> true
      | Total (s, n) ->
        (&&) (Z.eqb (signed s n) (total us)) (Z.leb Z0 (signed s n))
      | _ -> false)
   | GrowableArray ->
     (match o.it.call_of with
      | Remove e -> added_b ins o e
      | Elements es -> characters_b ins spans o us es
      | Insert (after, _) ->
        (match after with
         | Some p -> added_b ins o p
         | None -> true)
      | _ -> false)
   | _ ->
     (match o.it.call_of with
      | Add _ -> true
      | Remove _ -> true
      | Contains (e, yes) ->
        eqb yes (shows_b t0 (filter (fun u -> is_key (element_of u) e) us))
      | Elements es -> members_b t0 us es
      | _ -> false))

(** val check_array :
    entry list -> entry M.t -> entry M.t ->
    (Uint63.t * (Uint63.t * Uint63.t)) list -> bool **)

let check_array es ids ins cs =
  (&&)
    ((&&) (distinct none (map inserted (filter is_insert es)))
      (siblings ids None none none cs))
    (forallb (inside ins (spans_of cs)) es)

(** val check_replicated : history -> witness -> bool **)

let check_replicated h w =
  match zip h.ops w.clocks [] with
  | Some es ->
    (&&)
      ((&&)
        ((&&) (in_line None none es)
          (distinct none (map (fun e -> e.place) es)))
        (let lines = index_lines es in
         (&&) (forallb (closed lines) es)
           ((||) (negb h.known) (forallb (as_received lines) es))))
      (let ins = inserts es in
       (&&)
         (match h.type_of with
          | GrowableArray -> check_array es (index_ids es) ins w.characters
          | _ -> true)
         (let g = group by_object es in
          let spans = spans_of w.characters in
          forallb (right_b h.type_of g ins spans) es))
  | None -> false

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

let rec parse_words now = function
| [] -> (match now with
         | Some w -> Some (w :: [])
         | None -> None)
| b :: rest ->
  if is_digit b
  then (match now with
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
       then (match now with
             | Some w ->
               (match parse_words None rest with
                | Some ws -> Some (w :: ws)
                | None -> None)
             | None -> None)
       else (match now with
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

(** val parse_time : word -> Uint63.t option option **)

let parse_time = function
| N n -> Some (Some n)
| C c -> if eqb0 c (Uint63.of_int (45)) then Some None else None

(** val print_type : type0 -> Uint63.t **)

let print_type = function
| AddWinsSet -> (Uint63.of_int (0))
| RemoveWinsSet -> (Uint63.of_int (1))
| GrowOnlySet -> (Uint63.of_int (2))
| TwoPhaseSet -> (Uint63.of_int (3))
| EnableWinsFlag -> (Uint63.of_int (4))
| DisableWinsFlag -> (Uint63.of_int (5))
| MultiValueRegister -> (Uint63.of_int (6))
| LastWriterWinsRegister -> (Uint63.of_int (7))
| AnyMaximalRegister -> (Uint63.of_int (8))
| Counter -> (Uint63.of_int (9))
| ResettableCounter -> (Uint63.of_int (10))
| BoundedCounter -> (Uint63.of_int (11))
| GrowableArray -> (Uint63.of_int (12))

(** val types : type0 list **)

let types =
  AddWinsSet :: (RemoveWinsSet :: (GrowOnlySet :: (TwoPhaseSet :: (EnableWinsFlag :: (DisableWinsFlag :: (MultiValueRegister :: (LastWriterWinsRegister :: (AnyMaximalRegister :: (Counter :: (ResettableCounter :: (BoundedCounter :: (GrowableArray :: []))))))))))))

(** val parse_type : Uint63.t -> type0 option **)

let parse_type n =
  find (fun t0 -> eqb0 (print_type t0) n) types

(** val parse_flag : Uint63.t -> bool option **)

let parse_flag n =
  if eqb0 n (Uint63.of_int (0))
  then Some false
  else if eqb0 n (Uint63.of_int (1)) then Some true else None

(** val parse_call : word list -> call option **)

let parse_call = function
| [] -> None
| w :: rest ->
  (match w with
   | N _ -> None
   | C c ->
     if eqb0 c (Uint63.of_int (123))
     then (match numbers rest with
           | Some es -> Some (Elements es)
           | None -> None)
     else if eqb0 c (Uint63.of_int (91))
          then (match numbers rest with
                | Some vs -> Some (Values vs)
                | None -> None)
          else (match rest with
                | [] ->
                  if eqb0 c (Uint63.of_int (122)) then Some Reset else None
                | w0 :: l ->
                  (match w0 with
                   | N n ->
                     (match l with
                      | [] ->
                        if eqb0 c (Uint63.of_int (43))
                        then Some (Add n)
                        else if eqb0 c (Uint63.of_int (45))
                             then Some (Remove n)
                             else if eqb0 c (Uint63.of_int (105))
                                  then Some (Increment n)
                                  else if eqb0 c (Uint63.of_int (100))
                                       then Some (Decrement n)
                                       else if eqb0 c (Uint63.of_int (119))
                                            then Some (Write n)
                                            else None
                      | w1 :: l0 ->
                        (match w1 with
                         | N n0 ->
                           (match l0 with
                            | [] ->
                              if eqb0 c (Uint63.of_int (97))
                              then (match parse_time w0 with
                                    | Some p -> Some (Insert (p, n0))
                                    | None -> None)
                              else (match w0 with
                                    | N m ->
                                      if eqb0 c (Uint63.of_int (63))
                                      then (match parse_flag n0 with
                                            | Some b -> Some (Contains (m, b))
                                            | None -> None)
                                      else if eqb0 c (Uint63.of_int (61))
                                           then (match parse_flag m with
                                                 | Some s ->
                                                   Some (Total (s, n0))
                                                 | None -> None)
                                           else None
                                    | C _ -> None)
                            | _ :: _ -> None)
                         | C _ -> None))
                   | C _ ->
                     (match l with
                      | [] -> None
                      | w1 :: l0 ->
                        (match w1 with
                         | N n ->
                           (match l0 with
                            | [] ->
                              if eqb0 c (Uint63.of_int (97))
                              then (match parse_time w0 with
                                    | Some p -> Some (Insert (p, n))
                                    | None -> None)
                              else (match w0 with
                                    | N m ->
                                      if eqb0 c (Uint63.of_int (63))
                                      then (match parse_flag n with
                                            | Some b -> Some (Contains (m, b))
                                            | None -> None)
                                      else if eqb0 c (Uint63.of_int (61))
                                           then (match parse_flag m with
                                                 | Some s ->
                                                   Some (Total (s, n))
                                                 | None -> None)
                                           else None
                                    | C _ -> None)
                            | _ :: _ -> None)
                         | C _ -> None)))))

(** val parse_pairs : word list -> (Uint63.t * Uint63.t) list option **)

let rec parse_pairs = function
| [] -> Some []
| w :: l ->
  (match w with
   | N j ->
     (match l with
      | [] -> None
      | w0 :: rest ->
        (match w0 with
         | N n ->
           (match parse_pairs rest with
            | Some ps -> Some ((j, n) :: ps)
            | None -> None)
         | C _ -> None))
   | C _ -> None)

type reading_r = { r_type : (type0 * bool) option; r_ops : op list }

(** val nothing_r : reading_r **)

let nothing_r =
  { r_type = None; r_ops = [] }

(** val feed_words_r : reading_r -> word list -> reading_r option **)

let feed_words_r r = function
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
              | N i ->
                (match l with
                 | [] -> None
                 | w1 :: l0 ->
                   (match w1 with
                    | N j ->
                      (match l0 with
                       | [] -> None
                       | w2 :: l1 ->
                         (match w2 with
                          | N k ->
                            (match l1 with
                             | [] -> None
                             | b :: l2 ->
                               (match l2 with
                                | [] -> None
                                | e :: rest0 ->
                                  (match r.r_type with
                                   | Some _ ->
                                     (match parse_time b with
                                      | Some b0 ->
                                        (match parse_time e with
                                         | Some e0 ->
                                           (match parse_call rest0 with
                                            | Some c0 ->
                                              Some { r_type = r.r_type;
                                                r_ops = ({ id = i; replica =
                                                j; object0 = k; begun = b0;
                                                ended = e0; call_of = c0;
                                                received = [] } :: r.r_ops) }
                                            | None -> None)
                                         | None -> None)
                                      | None -> None)
                                   | None -> None)))
                          | C _ -> None))
                    | C _ -> None))
              | C _ -> None))
     else if eqb0 c (Uint63.of_int (68))
          then (match rest with
                | [] -> None
                | w0 :: l ->
                  (match w0 with
                   | N n ->
                     (match l with
                      | [] -> None
                      | w1 :: l0 ->
                        (match w1 with
                         | N k ->
                           (match l0 with
                            | [] ->
                              (match r.r_type with
                               | Some _ -> None
                               | None ->
                                 (match parse_type n with
                                  | Some t0 ->
                                    (match parse_flag k with
                                     | Some k0 ->
                                       Some { r_type = (Some (t0, k0));
                                         r_ops = [] }
                                     | None -> None)
                                  | None -> None))
                            | _ :: _ -> None)
                         | C _ -> None))
                   | C _ -> None))
          else if eqb0 c (Uint63.of_int (86))
               then (match parse_pairs rest with
                     | Some ps ->
                       (match ps with
                        | [] -> None
                        | _ :: _ ->
                          (match r.r_ops with
                           | [] -> None
                           | o :: before ->
                             let { id = i; replica = j; object0 = k; begun =
                               b; ended = e; call_of = c0; received =
                               received0 } = o
                             in
                             (match received0 with
                              | [] ->
                                Some { r_type = r.r_type; r_ops = ({ id = i;
                                  replica = j; object0 = k; begun = b;
                                  ended = e; call_of = c0; received =
                                  ps } :: before) }
                              | _ :: _ -> None)))
                     | None -> None)
               else None)

(** val feed_r : reading_r -> Uint63.t list -> reading_r option **)

let feed_r r line =
  let words =
    match parse_words None line with
    | Some ws -> feed_words_r r ws
    | None -> None
  in
  (match line with
   | [] -> words
   | b :: _ -> if eqb0 b (Uint63.of_int (35)) then Some r else words)

(** val finish_r : reading_r -> history option **)

let finish_r r =
  match r.r_type with
  | Some p ->
    let (t0, k) = p in
    Some { type_of = t0; known = k; ops = (rev_append r.r_ops []) }
  | None -> None
