
val negb : bool -> bool

type nat =
| O
| S of nat

val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option

val fst : ('a1 * 'a2) -> 'a1

val snd : ('a1 * 'a2) -> 'a2

val length : 'a1 list -> nat

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

module Nat :
 sig
  val eqb : nat -> nat -> bool

  val leb : nat -> nat -> bool

  val ltb : nat -> nat -> bool
 end

module Pos :
 sig
  val succ : positive -> positive

  val add : positive -> positive -> positive

  val add_carry : positive -> positive -> positive

  val pred_double : positive -> positive

  val compare_cont : comparison -> positive -> positive -> comparison

  val compare : positive -> positive -> comparison

  val iter_op : ('a1 -> 'a1 -> 'a1) -> positive -> 'a1 -> 'a1

  val to_nat : positive -> nat
 end

module Z :
 sig
  val double : z -> z

  val succ_double : z -> z

  val pred_double : z -> z

  val pos_sub : positive -> positive -> z

  val add : z -> z -> z

  val compare : z -> z -> comparison

  val leb : z -> z -> bool

  val ltb : z -> z -> bool

  val max : z -> z -> z

  val to_nat : z -> nat
 end

val nth_error : 'a1 list -> nat -> 'a1 option

val rev_append : 'a1 list -> 'a1 list -> 'a1 list

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1

val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

val find : ('a1 -> bool) -> 'a1 list -> 'a1 option

val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list

val firstn : nat -> 'a1 list -> 'a1 list

val lsr0 : Uint63.t -> Uint63.t -> Uint63.t

val land0 : Uint63.t -> Uint63.t -> Uint63.t

val add0 : Uint63.t -> Uint63.t -> Uint63.t

val sub : Uint63.t -> Uint63.t -> Uint63.t

val mul : Uint63.t -> Uint63.t -> Uint63.t

val eqb0 : Uint63.t -> Uint63.t -> bool

val ltb0 : Uint63.t -> Uint63.t -> bool

val leb0 : Uint63.t -> Uint63.t -> bool

val size : nat

val is_zero : Uint63.t -> bool

val is_even : Uint63.t -> bool

val to_Z_rec : nat -> Uint63.t -> z

val to_Z : Uint63.t -> z

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

val last_write : Uint63.t -> op list -> change option

val appends : Uint63.t -> op list -> Uint63.t list

val initial : history -> Uint63.t -> change

val fits : history -> seen -> change -> bool

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

val touches : Uint63.t -> txn -> bool

val only_on : history -> Uint63.t -> history

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

val bits : nat -> Uint63.t -> positive

val slot : Uint63.t -> positive

val half : Uint63.t -> Uint63.t

val find_at : nat -> Uint63.t -> 'a1 M.t -> 'a1 option

val alone_at : nat -> Uint63.t -> 'a1 -> 'a1 M.t

val add_at : nat -> Uint63.t -> 'a1 -> 'a1 M.t -> 'a1 M.t

val get : 'a1 M.t -> Uint63.t -> 'a1 option

val put : 'a1 M.t -> Uint63.t -> 'a1 -> 'a1 M.t

val del : 'a1 M.t -> Uint63.t -> 'a1 M.t

val none : 'a1 M.t

val has : 'a1 M.t -> Uint63.t -> bool

val either : ('a1 -> 'a1 -> 'a1) -> 'a1 option -> 'a1 option -> 'a1 option

val union : ('a1 -> 'a1 -> 'a1) -> 'a1 M.t -> 'a1 M.t -> 'a1 M.t

val for_all : ('a1 -> bool) -> 'a1 M.t -> bool

val ascending : Uint63.t option -> txn list -> bool

val index_txns : txn list -> txn M.t

val writes_key : Uint63.t -> txn -> bool

val each_op :
  (op list -> change M.t -> op -> bool) -> op list -> change M.t -> op list
  -> bool

type var =
| Lt0 of bool * Uint63.t * bool * Uint63.t
| Saw of Uint63.t * Uint63.t * Uint63.t option
| Bounded of bool * Uint63.t * Uint63.t * Uint63.t
| Begins of Uint63.t * Uint63.t * Uint63.t
| Lives of Uint63.t

type literal = bool * var

type clause = literal list

val option_eqb : Uint63.t option -> Uint63.t option -> bool

val var_eqb : var -> var -> bool

val negate : literal -> literal

val literal_eqb : literal -> literal -> bool

val is_in : literal -> literal list -> bool

val propagate : clause M.t -> literal list -> Uint63.t list -> bool

val follows : clause M.t -> clause -> Uint63.t list -> bool

val arrows : level -> level list

val level_eqb : level -> level -> bool

val reaches : nat -> level -> level -> bool

val implies : level -> level -> bool

type event = bool * txn

type shape = { two : bool; apart : bool; sessions : bool; rt_any : bool;
               rt_begin : bool }

type state = { latest : (txn * change) M.t; content : Uint63.t list M.t;
               opened : (txn * change) M.t M.t; done0 : bool M.t;
               youngest : Uint63.t M.t; newest : Uint63.t option }

val empty0 : state

val elements0 : Uint63.t list M.t -> Uint63.t -> Uint63.t list

val knows : txn -> op -> bool

val same_list : Uint63.t list -> Uint63.t list -> bool

val install : txn -> (txn * change) M.t -> (txn * change) M.t

val lengthen : txn -> Uint63.t list M.t -> Uint63.t list M.t

val same_writer : (txn * change) option -> (txn * change) option -> bool

val not_after : Uint63.t -> Uint63.t -> Uint63.t -> bool

val read_fits :
  history -> (Uint63.t -> change) -> bool -> state -> txn -> op list ->
  change M.t -> op -> bool

val own_list_fits : state -> txn -> op list -> change M.t -> op -> bool

val begins : shape -> bool -> bool

val check_begin :
  history -> (Uint63.t -> change) -> bool -> state -> txn -> bool

val is_committed : txn -> bool

val check_commit : Uint63.t -> shape -> state -> txn -> bool

val later : Uint63.t option -> Uint63.t option -> Uint63.t option

val update : shape -> state -> bool -> txn -> state

val step :
  history -> (Uint63.t -> change) -> Uint63.t -> shape -> bool -> state ->
  event -> state option

val walk :
  history -> (Uint63.t -> change) -> Uint63.t -> shape -> bool -> txn M.t ->
  state -> Uint63.t list -> state option

val complete : history -> state -> bool

val replay :
  history -> (Uint63.t -> change) -> Uint63.t -> shape -> bool -> txn M.t ->
  Uint63.t list -> bool

val shape_of : level -> shape option

val initial_map : history -> Uint63.t M.t

val initial_in : history -> Uint63.t M.t -> Uint63.t -> change

val small : Uint63.t -> bool

val check_order : history -> Uint63.t -> level -> Uint63.t list -> bool

val blind : txn -> bool

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

val nat_of : Uint63.t -> nat

val note : txn -> txn list M.t -> op -> txn list M.t

val writer_index : txn list -> txn list M.t

val is_prefix : Uint63.t list -> Uint63.t list -> bool

val holds_int : Uint63.t -> Uint63.t list -> bool

val up_to : Uint63.t -> Uint63.t list -> Uint63.t list option

val copies : Uint63.t -> Uint63.t list -> nat

val appended : Uint63.t -> Uint63.t -> txn list -> nat

val drop : Uint63.t -> Uint63.t list -> Uint63.t list option

val starts : Uint63.t -> Uint63.t list -> Uint63.t -> Uint63.t list

val reaches0 : Uint63.t list -> Uint63.t -> bool

val matches :
  Uint63.t -> Uint63.t -> Uint63.t list -> Uint63.t list -> Uint63.t list

val same_elements : Uint63.t list -> Uint63.t list -> bool

val without : txn -> Uint63.t list -> txn list -> txn list

val splits : level -> bool

val is_weak : level -> bool

val is_rc : level -> bool

val at_start : level -> bool

val known_event : level -> txn M.t -> (bool * Uint63.t) -> bool

val same_event : (bool * Uint63.t) -> (bool * Uint63.t) -> bool

val below : (bool * Uint63.t) -> (bool * Uint63.t) -> bool

val lt : (bool * Uint63.t) -> (bool * Uint63.t) -> literal

val guard : txn -> clause option

val with_txn : txn M.t -> Uint63.t -> (txn -> clause option) -> clause option

val at_read :
  txn -> Uint63.t -> (op list -> op -> seen -> clause option) -> clause option

val first_row_b : op list -> op -> bool

val external0 : op list -> op -> bool

val only_if : bool -> clause -> clause option

val may_end : Uint63.t list -> change -> bool

val may_see : history -> txn -> op -> seen -> txn option -> bool

val writers_of : txn list M.t -> Uint63.t -> txn list

val saw : Uint63.t -> Uint63.t -> Uint63.t option -> literal

val not_saw : Uint63.t -> Uint63.t -> Uint63.t option -> literal

val cycle_from :
  level -> txn M.t -> (bool * Uint63.t) -> (bool * Uint63.t) ->
  (bool * Uint63.t) list -> clause option

val so_b : txn -> txn -> bool

val rt_b : Uint63.t -> txn -> txn -> bool

val shape_has : level -> (shape -> bool) -> bool

val hops : txn M.t -> txn -> hop list -> txn -> clause option

val one_step : hop -> bool

val path_fits : level -> txn -> op list -> op -> hop list -> bool

val within : bool -> txn -> txn -> bool

val row_ok : level -> op list -> op -> bool

val begins0 : Uint63.t -> Uint63.t -> Uint63.t -> literal

val not_begins : Uint63.t -> Uint63.t -> Uint63.t -> literal

val conclude :
  history -> Uint63.t -> level -> txn M.t -> txn list M.t -> axiom -> clause
  option

type proof_step =
| Given of Uint63.t * axiom
| Derived of Uint63.t * clause * Uint63.t list

val run : (axiom -> clause option) -> clause M.t -> proof_step list -> bool

val refute_level : history -> Uint63.t -> level -> proof_step list -> bool

type word =
| N of Uint63.t
| C of Uint63.t

val is_digit : Uint63.t -> bool

val grow : Uint63.t -> Uint63.t -> Uint63.t option

val parse_words : word option -> Uint63.t list -> word list option

val numbers : word list -> Uint63.t list option

val parse_change : word list -> (change option * word list) option

val parse_seen : word list -> seen option option

val parse_time : word -> Uint63.t option option

val parse_status : word -> status option

type reading = { r_head : (Uint63.t * Uint63.t) option;
                 r_initials : (Uint63.t * Uint63.t) list;
                 r_ranges : Uint63.t list; r_txns : txn list }

val nothing : reading

val turned : txn -> txn

val close : txn list -> txn list

val feed_words : reading -> word list -> reading option

val feed : reading -> Uint63.t list -> reading option

val finish : reading -> history option

type seen_set = { upto : (Uint63.t * z) M.t; single : (txn * z) M.t }

val nothing_seen : seen_set

val raise : (Uint63.t * z) M.t -> Uint63.t -> z -> (Uint63.t * z) M.t

val see_one : seen_set -> txn -> z -> seen_set

val see : seen_set -> txn -> z -> seen_set

val merge : seen_set -> seen_set -> seen_set

type placed = { who : txn; at_pos : z; then_lists : Uint63.t list M.t;
                its_seen : seen_set }

type walk_state = { now : z; pos : placed M.t; lists : Uint63.t list M.t;
                    by_session_key : (txn * z) list M.t M.t;
                    last_of : (txn * z) M.t;
                    session_seen : (Uint63.t * seen_set) list M.t }

val no_walk : walk_state

val assign :
  txn -> op list -> op list -> Uint63.t option list -> Uint63.t option option
  list

type read_pair = op * Uint63.t option option

val each_pair :
  (read_pair list -> read_pair -> bool) -> read_pair list -> read_pair list
  -> bool

val is_writer_of : txn -> Uint63.t option -> bool

val source_pos : walk_state -> Uint63.t option -> z option

val before_source : z -> z option -> bool

val value_ok :
  history -> (Uint63.t -> change) -> walk_state -> op -> Uint63.t option ->
  bool

val session_writers : walk_state -> Uint63.t -> Uint63.t -> (txn * z) list

val first_upto : z -> (txn * z) list -> (txn * z) option

val none_missed : walk_state -> seen_set -> op -> Uint63.t option -> bool

val rc : level -> bool

val row_first : read_pair list -> op -> bool

val of_reads :
  level -> walk_state -> (op -> bool) -> read_pair list -> seen_set

val seen_by : walk_state -> Uint63.t -> (Uint63.t * seen_set) list

val before_id : Uint63.t -> (Uint63.t * seen_set) list -> seen_set

val of_session : level -> walk_state -> txn -> seen_set

val all_seen : level -> walk_state -> txn -> read_pair list -> seen_set

val later_ok :
  history -> txn M.t -> Uint63.t option list M.t -> txn -> op -> Uint63.t
  option -> bool

val pair_ok :
  history -> (Uint63.t -> change) -> level -> (op -> Uint63.t option -> bool)
  -> walk_state -> seen_set -> read_pair list -> read_pair -> bool

val add_writer : txn -> z -> (txn * z) list M.t -> (txn * z) list M.t

val place_txn : walk_state -> txn -> seen_set -> walk_state

val pairs_of : Uint63.t option list M.t -> txn -> read_pair list

val weak_walk :
  history -> (Uint63.t -> change) -> level -> txn M.t -> Uint63.t option list
  M.t -> walk_state -> Uint63.t list -> bool

val weak_shape : shape

val is_weak_level : level -> bool

val check_weak :
  history -> level -> (Uint63.t * Uint63.t option list) list -> bool

type evidence =
| ByOrder of Uint63.t list
| ByOrders of (Uint63.t * Uint63.t list) list
| ByWeak of (Uint63.t * Uint63.t option list) list
| BySteps of proof_step list
| ByStepsOn of Uint63.t * proof_step list

val is_some : 'a1 option -> bool

val has_times_b : history -> bool

val single_objects_b : history -> bool

val applies_b : history -> level -> bool

val by_key : txn list -> txn list M.t

val of_key : txn list M.t -> Uint63.t -> txn list

val alone : history -> txn list -> history

val check_orders :
  history -> Uint63.t -> (Uint63.t * Uint63.t list) list -> bool

val accepts : history -> Uint63.t -> level -> evidence -> bool

val rejects : history -> Uint63.t -> level -> evidence -> bool

type proof = { at_level : level; satisfied : bool; shown : evidence }

type answer = { for_level : level; verdict : bool; by_proof : nat }

val check_proof : history -> Uint63.t -> proof -> bool

val check_answer : history -> proof list -> answer -> bool

val verify : history -> Uint63.t -> proof list -> answer list -> bool
