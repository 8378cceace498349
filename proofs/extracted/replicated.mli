
val negb : bool -> bool

type nat =
| O
| S of nat

val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option

val fst : ('a1 * 'a2) -> 'a1

val snd : ('a1 * 'a2) -> 'a2

val app : 'a1 list -> 'a1 list -> 'a1 list

type comparison =
| Eq
| Lt
| Gt

val compOpp : comparison -> comparison

val add : nat -> nat -> nat

type positive =
| XI of positive
| XO of positive
| XH

type z =
| Z0
| Zpos of positive
| Zneg of positive

val eqb : bool -> bool -> bool

module type EqLtLe =
 sig
  type t
 end

module MakeOrderTac :
 functor (O:EqLtLe) ->
 functor (P:sig
 end) ->
 sig
 end

module Pos :
 sig
  val succ : positive -> positive

  val add : positive -> positive -> positive

  val add_carry : positive -> positive -> positive

  val pred_double : positive -> positive

  val compare_cont : comparison -> positive -> positive -> comparison

  val compare : positive -> positive -> comparison

  val eqb : positive -> positive -> bool
 end

module Z :
 sig
  val double : z -> z

  val succ_double : z -> z

  val pred_double : z -> z

  val pos_sub : positive -> positive -> z

  val add : z -> z -> z

  val opp : z -> z

  val compare : z -> z -> comparison

  val leb : z -> z -> bool

  val eqb : z -> z -> bool
 end

val rev_append : 'a1 list -> 'a1 list -> 'a1 list

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

val find : ('a1 -> bool) -> 'a1 list -> 'a1 option

val lsr0 : Uint63.t -> Uint63.t -> Uint63.t

val land0 : Uint63.t -> Uint63.t -> Uint63.t

val add0 : Uint63.t -> Uint63.t -> Uint63.t

val sub : Uint63.t -> Uint63.t -> Uint63.t

val mul : Uint63.t -> Uint63.t -> Uint63.t

val eqb0 : Uint63.t -> Uint63.t -> bool

val ltb : Uint63.t -> Uint63.t -> bool

val leb0 : Uint63.t -> Uint63.t -> bool

val size : nat

val is_zero : Uint63.t -> bool

val is_even : Uint63.t -> bool

val to_Z_rec : nat -> Uint63.t -> z

val to_Z : Uint63.t -> z

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

module OrderedTypeFacts :
 functor (O:OrderedType) ->
 sig
  module TO :
   sig
    type t = O.t
   end

  module IsTO :
   sig
   end

  module OrderTac :
   sig
   end

  val eq_dec : O.t -> O.t -> bool

  val lt_dec : O.t -> O.t -> bool

  val eqb : O.t -> O.t -> bool
 end

module KeyOrderedType :
 functor (O:OrderedType) ->
 sig
  module MO :
   sig
    module TO :
     sig
      type t = O.t
     end

    module IsTO :
     sig
     end

    module OrderTac :
     sig
     end

    val eq_dec : O.t -> O.t -> bool

    val lt_dec : O.t -> O.t -> bool

    val eqb : O.t -> O.t -> bool
   end
 end

module PositiveOrderedTypeBits :
 sig
  type t = positive

  val compare : t -> t -> positive compare0

  val eq_dec : positive -> positive -> bool
 end

val append : positive -> positive -> positive

module PositiveMap :
 sig
  module E :
   sig
    type t = positive

    val compare : t -> t -> positive compare0

    val eq_dec : positive -> positive -> bool
   end

  module ME :
   sig
    module MO :
     sig
      module TO :
       sig
        type t = positive
       end

      module IsTO :
       sig
       end

      module OrderTac :
       sig
       end

      val eq_dec : positive -> positive -> bool

      val lt_dec : positive -> positive -> bool

      val eqb : positive -> positive -> bool
     end
   end

  type key = positive

  type 'a tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  val empty : 'a1 t

  val is_empty : 'a1 t -> bool

  val find : key -> 'a1 t -> 'a1 option

  val mem : key -> 'a1 t -> bool

  val add : key -> 'a1 -> 'a1 t -> 'a1 t

  val remove : key -> 'a1 t -> 'a1 t

  val xelements : 'a1 t -> key -> (key * 'a1) list

  val elements : 'a1 t -> (key * 'a1) list

  val cardinal : 'a1 t -> nat

  val xfind : key -> key -> 'a1 t -> 'a1 option

  val xmapi : (key -> 'a1 -> 'a2) -> 'a1 t -> key -> 'a2 t

  val mapi : (key -> 'a1 -> 'a2) -> 'a1 t -> 'a2 t

  val map : ('a1 -> 'a2) -> 'a1 t -> 'a2 t

  val xmap2_l : ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a3 t

  val xmap2_r : ('a1 option -> 'a2 option -> 'a3 option) -> 'a2 t -> 'a3 t

  val _map2 :
    ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t

  val map2 :
    ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t

  val xfoldi : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> key -> 'a2

  val fold : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> 'a2

  val equal : ('a1 -> 'a1 -> bool) -> 'a1 t -> 'a1 t -> bool
 end

module M :
 sig
  module E :
   sig
    type t = positive

    val compare : t -> t -> positive compare0

    val eq_dec : positive -> positive -> bool
   end

  module ME :
   sig
    module MO :
     sig
      module TO :
       sig
        type t = positive
       end

      module IsTO :
       sig
       end

      module OrderTac :
       sig
       end

      val eq_dec : positive -> positive -> bool

      val lt_dec : positive -> positive -> bool

      val eqb : positive -> positive -> bool
     end
   end

  type key = positive

  type 'a tree = 'a PositiveMap.tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  val empty : 'a1 t

  val is_empty : 'a1 t -> bool

  val find : key -> 'a1 t -> 'a1 option

  val mem : key -> 'a1 t -> bool

  val add : key -> 'a1 -> 'a1 t -> 'a1 t

  val remove : key -> 'a1 t -> 'a1 t

  val xelements : 'a1 t -> key -> (key * 'a1) list

  val elements : 'a1 t -> (key * 'a1) list

  val cardinal : 'a1 t -> nat

  val xfind : key -> key -> 'a1 t -> 'a1 option

  val xmapi : (key -> 'a1 -> 'a2) -> 'a1 t -> key -> 'a2 t

  val mapi : (key -> 'a1 -> 'a2) -> 'a1 t -> 'a2 t

  val map : ('a1 -> 'a2) -> 'a1 t -> 'a2 t

  val xmap2_l : ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a3 t

  val xmap2_r : ('a1 option -> 'a2 option -> 'a3 option) -> 'a2 t -> 'a3 t

  val _map2 :
    ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t

  val map2 :
    ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t

  val xfoldi : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> key -> 'a2

  val fold : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> 'a2

  val equal : ('a1 -> 'a1 -> bool) -> 'a1 t -> 'a1 t -> bool
 end

val half : Uint63.t -> Uint63.t

val find_at : nat -> Uint63.t -> 'a1 M.t -> 'a1 option

val alone_at : nat -> Uint63.t -> 'a1 -> 'a1 M.t

val add_at : nat -> Uint63.t -> 'a1 -> 'a1 M.t -> 'a1 M.t

val get : 'a1 M.t -> Uint63.t -> 'a1 option

val put : 'a1 M.t -> Uint63.t -> 'a1 -> 'a1 M.t

val none : 'a1 M.t

val has : 'a1 M.t -> Uint63.t -> bool

val for_all : ('a1 -> bool) -> 'a1 M.t -> bool

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

val is_update : call -> bool

type op = { id : Uint63.t; replica : Uint63.t; object0 : Uint63.t;
            begun : Uint63.t option; ended : Uint63.t option; call_of : 
            call; received : (Uint63.t * Uint63.t) list }

type history = { type_of : type0; known : bool; ops : op list }

val amount : call -> z

val signed : bool -> Uint63.t -> z

val is_reset : call -> bool

type entry = { it : op; place : Uint63.t;
               counts : (Uint63.t * Uint63.t) list; row : Uint63.t M.t;
               seq : Uint63.t; worth : z }

type witness = { clocks : (Uint63.t * (Uint63.t * Uint63.t) list) list;
                 characters : (Uint63.t * (Uint63.t * Uint63.t)) list }

val get0 : Uint63.t M.t -> Uint63.t -> Uint63.t

val row_of : (Uint63.t * Uint63.t) list -> Uint63.t M.t

val entry_of : (op * (Uint63.t * (Uint63.t * Uint63.t) list)) -> entry

val zip :
  op list -> (Uint63.t * (Uint63.t * Uint63.t) list) list -> entry list ->
  entry list option

val saw : entry -> entry -> bool

val time_le : Uint63.t option -> Uint63.t option -> bool

val in_line : Uint63.t option -> entry M.t -> entry list -> bool

val at_replica : entry M.t M.t -> Uint63.t -> entry M.t

val index_lines : entry list -> entry M.t M.t

val index_ids : entry list -> entry M.t

val row_le : entry -> entry -> bool

val not_late : op -> op -> bool

val closed : entry M.t M.t -> entry -> bool

val as_received : entry M.t M.t -> entry -> bool

val distinct : bool M.t -> Uint63.t list -> bool

val in_group : entry list M.t -> Uint63.t -> entry list

val group : (entry -> Uint63.t option) -> entry list -> entry list M.t

val is_key : Uint63.t option -> Uint63.t -> bool

val by_object : entry -> Uint63.t option

val seen_in : entry list M.t -> entry -> entry list

val raise : Uint63.t M.t -> (Uint63.t * Uint63.t) list -> Uint63.t M.t

val join : entry list -> Uint63.t M.t

val observed : Uint63.t M.t -> entry -> bool

val is_add : entry -> bool

val is_remove : entry -> bool

val nonempty : entry list -> bool

val shows_b : type0 -> entry list -> bool

val element_of : entry -> Uint63.t option

val set_of : Uint63.t list -> bool M.t

val members_b : type0 -> entry list -> Uint63.t list -> bool

val total : entry list -> z

val is_reset_entry : entry -> bool

val not_reset : entry list -> entry list

val value_of : entry -> Uint63.t option

val is_write : entry -> bool

val maximal_b : entry list -> entry list

val writes_v : Uint63.t -> entry -> bool

val without_write : Uint63.t -> entry list -> entry list option

val each_written : entry list -> Uint63.t list -> bool

val is_insert : entry -> bool

val inserted : entry -> Uint63.t

val inserts : entry list -> entry M.t

val added_b : entry M.t -> entry -> Uint63.t -> bool

val spans_of :
  (Uint63.t * (Uint63.t * Uint63.t)) list -> (Uint63.t * Uint63.t) M.t

val rising :
  entry M.t -> (Uint63.t * Uint63.t) M.t -> Uint63.t option -> Uint63.t list
  -> bool

val removed_in : entry list -> bool M.t

val characters_b :
  entry M.t -> (Uint63.t * Uint63.t) M.t -> entry -> entry list -> Uint63.t
  list -> bool

val siblings :
  entry M.t -> Uint63.t option -> Uint63.t M.t -> Uint63.t M.t ->
  (Uint63.t * (Uint63.t * Uint63.t)) list -> bool

val inside : entry M.t -> (Uint63.t * Uint63.t) M.t -> entry -> bool

val right_b :
  type0 -> entry list M.t -> entry M.t -> (Uint63.t * Uint63.t) M.t -> entry
  -> bool

val check_array :
  entry list -> entry M.t -> entry M.t -> (Uint63.t * (Uint63.t * Uint63.t))
  list -> bool

val check_replicated : history -> witness -> bool

type word =
| N of Uint63.t
| C of Uint63.t

val is_digit : Uint63.t -> bool

val grow : Uint63.t -> Uint63.t -> Uint63.t option

val parse_words : word option -> Uint63.t list -> word list option

val numbers : word list -> Uint63.t list option

val parse_time : word -> Uint63.t option option

val print_type : type0 -> Uint63.t

val types : type0 list

val parse_type : Uint63.t -> type0 option

val parse_flag : Uint63.t -> bool option

val parse_call : word list -> call option

val parse_pairs : word list -> (Uint63.t * Uint63.t) list option

type reading_r = { r_type : (type0 * bool) option; r_ops : op list }

val nothing_r : reading_r

val feed_words_r : reading_r -> word list -> reading_r option

val feed_r : reading_r -> Uint63.t list -> reading_r option

val finish_r : reading_r -> history option
