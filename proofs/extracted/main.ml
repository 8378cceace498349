(* cupel-proved HISTORY CERTIFICATE DRIFT: reads the two texts of docs/reference/formats/canonical.md and
   asks the extracted verifier. `cupel verify --proved` writes the texts and runs this.
   cupel-proved --replicated HISTORY CERTIFICATE: the same of a replicated data type.

   Trusted: that the lines of HISTORY are what Format.feed is given, and that what is printed is
   what Verify.verify or ReplicatedCheck.check_replicated said: a line `proved VERDICT LEVEL,
   drift N ns` is printed of an answer that Verify.verify was given and accepted, and `proved
   satisfied TYPE, deliveries known` (or `not known`) of a history whose witness was accepted. Not trusted: how
   CERTIFICATE is read; a wrong certificate proves nothing. *)
open Verifier

exception Bad of string

let bad format = Printf.ksprintf (fun text -> Stdlib.raise (Bad text)) format

let each_line file visit =
  let channel = try open_in_bin file with Sys_error text -> bad "%s" text in
  let line = ref 0 in
  (try
     while true do
       let text = input_line channel in
       incr line;
       visit !line text
     done
   with End_of_file -> ());
  close_in channel

(* --- SHA-256 (FIPS 180-4) --- *)

let sha256_constants =
  (* The first 32 bits of the fractions of the cube roots of the first 64 primes. *)
  [| 0x428a2f98; 0x71374491; 0xb5c0fbcf; 0xe9b5dba5; 0x3956c25b; 0x59f111f1; 0x923f82a4; 0xab1c5ed5;
     0xd807aa98; 0x12835b01; 0x243185be; 0x550c7dc3; 0x72be5d74; 0x80deb1fe; 0x9bdc06a7; 0xc19bf174;
     0xe49b69c1; 0xefbe4786; 0x0fc19dc6; 0x240ca1cc; 0x2de92c6f; 0x4a7484aa; 0x5cb0a9dc; 0x76f988da;
     0x983e5152; 0xa831c66d; 0xb00327c8; 0xbf597fc7; 0xc6e00bf3; 0xd5a79147; 0x06ca6351; 0x14292967;
     0x27b70a85; 0x2e1b2138; 0x4d2c6dfc; 0x53380d13; 0x650a7354; 0x766a0abb; 0x81c2c92e; 0x92722c85;
     0xa2bfe8a1; 0xa81a664b; 0xc24b8b70; 0xc76c51a3; 0xd192e819; 0xd6990624; 0xf40e3585; 0x106aa070;
     0x19a4c116; 0x1e376c08; 0x2748774c; 0x34b0bcb5; 0x391c0cb3; 0x4ed8aa4a; 0x5b9cca4f; 0x682e6ff3;
     0x748f82ee; 0x78a5636f; 0x84c87814; 0x8cc70208; 0x90befffa; 0xa4506ceb; 0xbef9a3f7; 0xc67178f2 |]

let sha256 file =
  let state = [| 0x6a09e667; 0xbb67ae85; 0x3c6ef372; 0xa54ff53a; 0x510e527f; 0x9b05688c; 0x1f83d9ab;
                 0x5be0cd19 |] in
  let w = Array.make 64 0 in
  (* In the low 32 bits; what is above them does not matter. *)
  let turn x n = (x lsr n) lor (x lsl (32 - n)) in
  let low x = x land 0xffffffff in
  let add i x = state.(i) <- low (state.(i) + x) in
  let rec rounds i a b c d e f g h =
    if i = 64 then begin
      add 0 a; add 1 b; add 2 c; add 3 d; add 4 e; add 5 f; add 6 g; add 7 h
    end
    else begin
      let s0 = low (turn a 2 lxor turn a 13 lxor turn a 22) in
      let s1 = low (turn e 6 lxor turn e 11 lxor turn e 25) in
      let choice = (e land f) lxor (lnot e land g) and majority = (a land b) lxor (a land c) lxor (b land c) in
      let one = h + s1 + low choice + sha256_constants.(i) + w.(i) in
      rounds (i + 1) (low (one + s0 + majority)) a b c (low (d + one)) e f g
    end
  in
  let block bytes at =
    for i = 0 to 15 do
      w.(i) <- low (Int32.to_int (Bytes.get_int32_be bytes (at + (4 * i))))
    done;
    for i = 16 to 63 do
      let a = w.(i - 15) and b = w.(i - 2) in
      let s0 = turn a 7 lxor turn a 18 lxor (a lsr 3) and s1 = turn b 17 lxor turn b 19 lxor (b lsr 10) in
      w.(i) <- low (w.(i - 16) + low s0 + w.(i - 7) + low s1)
    done;
    rounds 0 state.(0) state.(1) state.(2) state.(3) state.(4) state.(5) state.(6) state.(7)
  in
  let channel = try open_in_bin file with Sys_error text -> bad "%s" text in
  let length = in_channel_length channel in
  let buffer = Bytes.create 65536 in
  let rec whole left =
    if left >= 65536 then begin
      really_input channel buffer 0 65536;
      for i = 0 to 1023 do block buffer (64 * i) done;
      whole (left - 65536)
    end
    else left
  in
  let left = whole length in
  let tail = Bytes.make ((left + 9 + 63) / 64 * 64) '\000' in
  really_input channel tail 0 left;
  close_in channel;
  Bytes.set tail left '\x80';
  Bytes.set_int64_be tail (Bytes.length tail - 8) (Int64.of_int (8 * length));
  for i = 0 to (Bytes.length tail / 64) - 1 do block tail (64 * i) done;
  String.concat "" (Array.to_list (Array.map (Printf.sprintf "%08x") state))

(* --- the history --- *)

let bytes text =
  let rec from i rest = if i < 0 then rest else from (i - 1) (Uint63.of_int (Char.code text.[i]) :: rest) in
  from (String.length text - 1) []

let read_lines file nothing feed finish first =
  let reading = ref nothing in
  each_line file (fun line text ->
      match feed !reading (bytes text) with
      | Some next -> reading := next
      | None -> bad "%s, line %d: this is no line of a canonical history" file line);
  match finish !reading with Some h -> h | None -> bad "%s: it has no line %s" file first

let read_history file = read_lines file nothing feed finish "H"
let read_replicated file = Replicated.(read_lines file nothing_r feed_r finish_r "D")

let numeral text = text <> "" && String.for_all (fun c -> '0' <= c && c <= '9') text
let number text = if numeral text then int_of_string_opt text else None
let integer text =
  match number text with Some i when i >= 0 -> Uint63.of_int i | _ -> bad "%s is no number" text

(* --- what is proved --- *)

let name = function
  | ReadCommitted -> "read-committed"
  | ReadAtomic -> "read-atomic"
  | Causal -> "causal"
  | Prefix -> "prefix"
  | SnapshotIsolation -> "snapshot-isolation"
  | GeneralizedSI -> "generalized-snapshot-isolation"
  | StrongSessionSI -> "strong-session-snapshot-isolation"
  | StrongSI -> "strong-snapshot-isolation"
  | Serializable -> "serializable"
  | StrongSessionSerializable -> "strong-session-serializable"
  | StrictSerializable -> "strict-serializable"
  | Linearizable -> "linearizable"

(* `drift` is given as its numeral, so that what is printed is what was given. *)
let verify_and_say h drift proofs answers say =
  let good = answers <> [] && verify h (integer drift) proofs answers in
  if good then
    List.iter
      (fun a ->
        let verdict = if a.verdict then "satisfied" else "violated" in
        say (Printf.sprintf "proved %s %s, drift %s ns" verdict (name a.for_level) drift))
      answers;
  good

(* --- the certificate --- *)

let levels =
  [| ReadCommitted; ReadAtomic; Causal; Prefix; SnapshotIsolation; GeneralizedSI; StrongSessionSI;
     StrongSI; Serializable; StrongSessionSerializable; StrictSerializable; Linearizable |]

let level text =
  match number text with
  | Some i when 0 <= i && i < Array.length levels -> levels.(i)
  | _ -> bad "%s is no level" text

let writer = function "-" -> None | text -> Some (integer text)
let flag = function "0" -> false | "1" -> true | text -> bad "%s is no flag" text

let rec nat i = if i <= 0 then O else S (nat (i - 1))

let rec literals = function
  | [] -> []
  | sign :: "<" :: bx :: x :: by :: y :: rest ->
      (flag sign, Lt0 (flag bx, integer x, flag by, integer y)) :: literals rest
  | sign :: "s" :: t :: n :: w :: rest ->
      (flag sign, Saw (integer t, integer n, writer w)) :: literals rest
  | sign :: "e" :: t :: n :: w :: rest ->
      (flag sign, Bounded (true, integer t, integer n, integer w)) :: literals rest
  | sign :: "f" :: t :: n :: w :: rest ->
      (flag sign, Bounded (false, integer t, integer n, integer w)) :: literals rest
  | sign :: "b" :: k :: w :: p :: rest ->
      (flag sign, Begins (integer k, integer w, integer p)) :: literals rest
  | sign :: "l" :: t :: rest -> (flag sign, Lives (integer t)) :: literals rest
  | word :: _ -> bad "%s begins no literal" word

let rec events = function
  | [] -> []
  | b :: t :: rest -> (flag b, integer t) :: events rest
  | [ word ] -> bad "%s is half an event" word

let rec hops = function
  | [] -> []
  | "so" :: j :: rest -> BySession (integer j) :: hops rest
  | "later" :: j :: n :: rest -> ByLater (integer j, integer n) :: hops rest
  | "wr" :: j :: n :: rest -> ByRead (integer j, integer n) :: hops rest
  | word :: _ -> bad "%s begins no step" word

let axiom = function
  | "cycle" :: xs -> Cycle (events xs)
  | [ "own"; t ] -> Own (integer t)
  | [ "so"; i; j ] -> Session (integer i, integer j)
  | [ "rt"; i; j ] -> RealTime (integer i, integer j)
  | [ "wr"; t; n; w ] -> Reads (integer t, integer n, integer w)
  | [ "candidates"; t; n ] -> Candidates (integer t, integer n)
  | [ "not"; t; n; w ] -> NotFrom (integer t, integer n, writer w)
  | [ "counts"; t; n; w ] -> SourceCounts (integer t, integer n, integer w)
  | [ "same"; t; n; m; w ] -> SameVersion (integer t, integer n, integer m, writer w)
  | [ "mismatch"; t; n ] -> Mismatch (integer t, integer n)
  | [ "ww"; k; a; b ] -> NoOverlap (integer k, integer a, integer b)
  | [ "rw"; t; n; w; b ] -> Overwritten (integer t, integer n, writer w, integer b)
  | "visible" :: t :: n :: w :: k :: path -> Visible (integer t, integer n, writer w, integer k, hops path)
  | [ "list"; t; n; a; v; b; v' ] ->
      ListOrder (integer t, integer n, integer a, integer v, integer b, integer v')
  | "often" :: t :: n :: v :: xs -> TooOften (integer t, integer n, integer v, List.map integer xs)
  | [ "within"; up; t; n; w; x ] -> Within (flag up, integer t, integer n, integer w, integer x)
  | [ "bound"; up; t; n; w ] -> OneWithin (flag up, integer t, integer n, integer w)
  | [ "stands"; t; n; p ] -> Stands (integer t, integer n, integer p)
  | [ "fits"; t; n; w; q ] -> Fits (integer t, integer n, integer w, integer q)
  | [ "places"; k; a; p; b; q ] -> Places (integer k, integer a, integer p, integer b, integer q)
  | [ "precedes"; t; n; a; p; b ] -> Precedes (integer t, integer n, integer a, integer p, integer b)
  | [ "ends"; t; n; w; q ] -> Ends (integer t, integer n, integer w, integer q)
  | [ "owns"; t; n; q ] -> OwnBegins (integer t, integer n, integer q)
  | [ "appended"; k; w; q ] -> PlaceCounts (integer k, integer w, integer q)
  | [ "conflict"; t; n; t'; n' ] -> Conflict (integer t, integer n, integer t', integer n')
  | words -> bad "%s is no axiom" (String.concat " " words)

let rec until_slash before = function
  | "/" :: rest -> (List.rev before, rest)
  | word :: rest -> until_slash (word :: before) rest
  | [] -> bad "no / between clause and hints"

(* Both latest first. *)
type body = { mutable order : Uint63.t list; mutable orders : (Uint63.t * Uint63.t list) list;
              mutable entries : (Uint63.t * Uint63.t option list) list;
              mutable steps : proof_step list; mutable key : Uint63.t option }

let read_certificate file =
  let proofs = ref [] and answers = ref [] in
  let now = ref None in
  let body = ref { order = []; orders = []; entries = []; steps = []; key = None } in
  let close_key () =
    match !body.key with
    | Some k -> !body.orders <- (k, List.rev !body.order) :: !body.orders; !body.order <- []
    | None -> ()
  in
  let close () =
    match !now with
    | None -> ()
    | Some (at, kind) ->
        let evidence =
          match kind with
          | "order" -> ByOrder (List.rev !body.order)
          | "orders" -> close_key (); ByOrders (List.rev !body.orders)
          | "weak" -> ByWeak (List.rev !body.entries)
          | "steps" -> (
              match !body.key with
              | None -> BySteps (List.rev !body.steps)
              | Some k -> ByStepsOn (k, List.rev !body.steps))
          | _ -> bad "%s is no kind of evidence" kind
        in
        let satisfied = kind <> "steps" in
        proofs := { at_level = at; satisfied; shown = evidence } :: !proofs;
        now := None
  in
  each_line file (fun line text ->
      try
        match String.split_on_char ' ' text with
        | [ "P"; l; kind ] ->
            close ();
            now := Some (level l, kind);
            body := { order = []; orders = []; entries = []; steps = []; key = None }
        | "X" :: ids -> List.iter (fun i -> !body.order <- integer i :: !body.order) ids
        | "W" :: t :: writers ->
            !body.entries <- (integer t, List.map writer writers) :: !body.entries
        | [ "K"; k ] -> close_key (); !body.key <- Some (integer k)
        | "A" :: n :: words -> !body.steps <- Given (integer n, axiom words) :: !body.steps
        | "R" :: n :: words ->
            let clause, hints = until_slash [] words in
            !body.steps <- Derived (integer n, literals clause, List.map integer hints) :: !body.steps
        | [ "N"; l; v; p ] ->
            close ();
            let proof = match number p with Some i when i >= 0 && i < 1_000_000 -> i | _ -> bad "%s is no proof" p in
            answers := { for_level = level l; verdict = flag v; by_proof = nat proof } :: !answers
        | word :: _ -> bad "%s begins no line of a certificate" word
        | [] -> bad "an empty line"
      with Bad why -> bad "%s, line %d: %s" file line why);
  close ();
  (List.rev !proofs, List.rev !answers)

let verify_files history certificate drift say =
  let h = read_history history in
  let proofs, answers = read_certificate certificate in
  let good = verify_and_say h drift proofs answers say in
  if answers = [] then say "the certificate has no answer"
  else if not good then begin
    let drift = integer drift in
    List.iteri
      (fun i p -> if not (check_proof h drift p) then say (Printf.sprintf "proof %d does not check" i)) proofs;
    List.iteri
      (fun i a -> if not (check_answer h proofs a) then say (Printf.sprintf "answer %d does not follow" i))
      answers
  end;
  good

(* --- replicated data types --- *)

let type_name = function
  | Replicated.AddWinsSet -> "add-wins-set"
  | RemoveWinsSet -> "remove-wins-set"
  | GrowOnlySet -> "grow-only-set"
  | TwoPhaseSet -> "two-phase-set"
  | EnableWinsFlag -> "enable-wins-flag"
  | DisableWinsFlag -> "disable-wins-flag"
  | MultiValueRegister -> "multi-value-register"
  | LastWriterWinsRegister -> "last-writer-wins-register"
  | AnyMaximalRegister -> "any-maximal-register"
  | Counter -> "counter"
  | ResettableCounter -> "resettable-counter"
  | BoundedCounter -> "bounded-counter"
  | GrowableArray -> "growable-array"

let rec pairs = function
  | [] -> []
  | j :: n :: rest -> (integer j, integer n) :: pairs rest
  | [ word ] -> bad "%s is half a count" word

let read_witness file =
  let clocks = ref [] and characters = ref [] in
  each_line file (fun line text ->
      try
        match String.split_on_char ' ' text with
        | "S" :: place :: counts -> clocks := (integer place, pairs counts) :: !clocks
        | [ "I"; i; lo; hi ] -> characters := (integer i, (integer lo, integer hi)) :: !characters
        | word :: _ -> bad "%s begins no line of a certificate" word
        | [] -> bad "an empty line"
      with Bad why -> bad "%s, line %d: %s" file line why);
  { Replicated.clocks = List.rev !clocks; characters = List.rev !characters }

let verify_replicated history certificate say =
  let h = read_replicated history in
  let good = Replicated.check_replicated h (read_witness certificate) in
  say
    (if not good then "the witness does not check"
     else
       Printf.sprintf "proved satisfied %s, deliveries %s" (type_name h.Replicated.type_of)
         (if h.Replicated.known then "known" else "not known"));
  good

let guarded work bad_input =
  try work () with
  | Bad why -> bad_input why
  | Stack_overflow -> bad_input "the stack is too small"
  | Out_of_memory -> bad_input "out of memory"
  | Sys_error why -> bad_input why
  | End_of_file -> bad_input "a file that ends before its length"

(* For tests: a line of standard input for each pair, a line of output for what is said. *)
let rec many () =
  match input_line stdin with
  | exception End_of_file -> ()
  | line ->
      let said = ref [] in
      let say word = said := word :: !said in
      let bad_input why = said := [ "bad input: " ^ why ] in
      (match String.split_on_char ' ' line with
      | [ "--replicated"; history; certificate ] ->
          guarded (fun () -> ignore (verify_replicated history certificate say)) bad_input
      | [ history; certificate; drift ] ->
          guarded (fun () -> ignore (verify_files history certificate drift say)) bad_input
      | _ -> said := [ "bad input: expected HISTORY CERTIFICATE DRIFT" ]);
      Printf.printf "%s\n%!" (String.concat "; " (List.rev !said));
      many ()

let help =
  "cupel-proved HISTORY CERTIFICATE DRIFT\n\
   cupel-proved --replicated HISTORY CERTIFICATE\n\n\
   Checks a certificate with the verifier that is extracted from cupel's proofs. HISTORY and CERTIFICATE are\n\
   texts that `cupel verify --proved` and `cupel crdt verify --proved` write, DRIFT is the largest error of the\n\
   clients' clocks in ns. It prints the SHA-256 of HISTORY, and a line `proved ...` for each answer that is proved.\n\
   --many reads such arguments from standard input, a line each, and answers with a line each.\n\n\
   Exit code: 0 every answer is proved, 1 not, 3 bad input."

let () =
  (* Large histories: less work of the collector, for more memory; new objects fit into the cache. *)
  Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 18; space_overhead = 800 };
  let fail why = prerr_endline ("cupel-proved: " ^ why); exit 3 in
  guarded
    (fun () ->
      match Sys.argv with
      | [| _; "--help" |] -> print_endline help
      | [| _; "--many" |] -> many ()
      | [| _; "--replicated"; history; certificate |] ->
          Printf.printf "digest %s\n%!" (sha256 history);
          if not (verify_replicated history certificate print_endline) then exit 1
      | [| _; history; certificate; drift |] ->
          Printf.printf "digest %s\n%!" (sha256 history);
          if not (verify_files history certificate drift print_endline) then exit 1
      | _ -> bad "expected HISTORY CERTIFICATE DRIFT; see cupel-proved --help")
    fail
