(* Coq's native integers, 63 bits without a sign, as OCaml's: the functions that verifier.ml
   calls. This file is trusted, with OCaml's integers of a 64-bit machine. *)
type t = int

let () = assert (Sys.int_size = 63)

let of_int (x : int) : t = x
let l_sr x y = if 0 <= y && y < 63 then x lsr y else 0
let l_and x y = x land y
let add (x : t) (y : t) : t = x + y
let sub (x : t) (y : t) : t = x - y
let mul (x : t) (y : t) : t = x * y
let equal (x : t) (y : t) = x = y

(* The order without a sign: flip the top bit. *)
let lt (x : t) (y : t) = x lxor min_int < y lxor min_int
let le (x : t) (y : t) = x lxor min_int <= y lxor min_int
