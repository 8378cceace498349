(* The canonical text of a history (docs/reference/formats/canonical.md), line by line. [print] says what it
   is, and is trusted; [parse] reads it. They are inverse, but for comments: a text that is read is
   the text of what was read ([print_parse]), and the text of a history is read as this history
   ([parse_print]). So the digest of the text says which history was verified.

   A line is a list of bytes without its end. The program reads lines and gives each to [feed];
   a line that begins with # is a comment. *)
From Coq Require Import List ZArith Uint63 Bool Lia.
From Cupel Require Import History Order.
Import ListNotations.
Local Open Scope uint63_scope.

(* --- words: numbers and single characters, with one space between --- *)

Inductive word := N (n : int) | C (c : int).

Fixpoint digits (fuel : nat) (n : int) (after : list int) : list int :=
  match fuel with
  | O => after
  | S fuel =>
      let after := (48 + n mod 10) :: after in
      if n <? 10 then after else digits fuel (n / 10) after
  end.
Definition print_word (w : word) : list int :=
  match w with N n => digits 20 n [] | C c => [c] end.
Fixpoint print_words (ws : list word) : list int :=
  match ws with
  | [] => []
  | [w] => print_word w
  | w :: rest => print_word w ++ 32 :: print_words rest
  end.

(* --- records as words --- *)

Definition print_change (c : option change) : list word :=
  match c with
  | None => [C 45]
  | Some (Put v) => [C 119; N v]
  | Some (Delete v) => [C 100; N v]
  | Some (Append v) => [C 97; N v]
  end.
Definition print_seen (s : option seen) : list word :=
  match s with
  | None => [C 45]
  | Some (Value v) => [C 61; N v]
  | Some Absent => [C 95]
  | Some (Other v) => [C 33; N v]
  | Some (Elements vs) => C 91 :: map N vs
  end.
Definition print_time (t : option int) : word := match t with None => C 45 | Some n => N n end.
Definition print_status (s : status) : word :=
  match s with Committed => C 67 | Aborted => C 65 | Indeterminate => C 73 end.
Definition print_op (o : op) : list word :=
  C 79 :: N (number o) :: N (on o) :: print_change (writes o) ++ print_seen (sees o).
Definition print_txn (t : txn) : list (list word) :=
  [C 84; N (id t); N (session t); print_status (outcome t); print_time (invoked t);
   print_time (completed t)] :: map print_op (ops t).
Definition print_history (h : history) : list (list word) :=
  [C 72; N (null h); N (default h)] ::
  map (fun kv => [C 73; N (fst kv); N (snd kv)]) (initials h) ++
  map (fun n => [C 82; N n]) (ranges h) ++ flat_map print_txn (txns h).
Definition print (h : history) : list (list int) := map print_words (print_history h).
(* A line that begins with # says nothing. *)
Definition comment (line : list int) : bool :=
  match line with b :: _ => (b =? 35)%uint63 | [] => false end.

(* --- reading it --- *)

Definition is_digit (b : int) : bool := (48 <=? b) && (b <=? 57).
(* [now]: the word that has begun. A number that does not fit into 63 bits is none, nor is one that
   begins with a 0 and goes on. *)
Definition grow (n d : int) : option int :=
  let m := 10 * n + d in
  if (n <=? 922337203685477580) && (10 * n <=? m) then Some m else None.
Fixpoint parse_words (now : option word) (bytes : list int) : option (list word) :=
  match bytes with
  | [] => match now with Some w => Some [w] | None => None end
  | b :: rest =>
      if is_digit b then
        match now with
        | None => parse_words (Some (N (b - 48))) rest
        | Some (N n) =>
            if n =? 0 then None
            else match grow n (b - 48) with Some m => parse_words (Some (N m)) rest | None => None end
        | Some (C _) => None
        end
      else if b =? 32 then
        match now with
        | None => None
        | Some w => match parse_words None rest with Some ws => Some (w :: ws) | None => None end
        end
      else
        match now with
        | None => parse_words (Some (C b)) rest
        | Some _ => None
        end
  end.

Fixpoint numbers (ws : list word) : option (list int) :=
  match ws with
  | [] => Some []
  | N n :: rest => match numbers rest with Some l => Some (n :: l) | None => None end
  | C _ :: _ => None
  end.
Definition parse_change (ws : list word) : option (option change * list word) :=
  match ws with
  | C c :: rest =>
      if c =? 45 then Some (None, rest)
      else match rest with
           | N v :: rest =>
               if c =? 119 then Some (Some (Put v), rest)
               else if c =? 100 then Some (Some (Delete v), rest)
               else if c =? 97 then Some (Some (Append v), rest)
               else None
           | _ => None
           end
  | _ => None
  end.
Definition parse_seen (ws : list word) : option (option seen) :=
  match ws with
  | C c :: rest =>
      if c =? 91 then match numbers rest with Some vs => Some (Some (Elements vs)) | None => None end
      else match rest with
           | [] => if c =? 45 then Some None else if c =? 95 then Some (Some Absent) else None
           | [N v] =>
               if c =? 61 then Some (Some (Value v))
               else if c =? 33 then Some (Some (Other v)) else None
           | _ => None
           end
  | _ => None
  end.
Definition parse_time (w : word) : option (option int) :=
  match w with N n => Some (Some n) | C c => if c =? 45 then Some None else None end.
Definition parse_status (w : word) : option status :=
  match w with
  | C c => if c =? 67 then Some Committed else if c =? 65 then Some Aborted
           else if c =? 73 then Some Indeterminate else None
  | N _ => None
  end.

(* What has been read: the latest transaction last, its latest operation first. *)
Record reading := Reading {
  r_head : option (int * int); r_initials : list (int * int); r_ranges : list int; r_txns : list txn }.
Definition nothing : reading := Reading None [] [] [].

Definition turned (t : txn) : txn :=
  Txn (id t) (session t) (outcome t) (invoked t) (completed t) (rev_append (ops t) []).
Definition close (ts : list txn) : list txn :=
  match ts with [] => [] | t :: rest => turned t :: rest end.

Definition feed_words (r : reading) (ws : list word) : option reading :=
  match ws with
  | C c :: rest =>
      if c =? 79 then
        match rest, r_txns r with
        | N n :: N k :: rest, t :: before =>
            match parse_change rest with
            | None => None
            | Some (w, rest) =>
                match parse_seen rest with
                | None => None
                | Some s =>
                    Some (Reading (r_head r) (r_initials r) (r_ranges r)
                      (Txn (id t) (session t) (outcome t) (invoked t) (completed t)
                         (Op n k s w :: ops t) :: before))
                end
            end
        | _, _ => None
        end
      else if c =? 84 then
        match rest, r_head r with
        | [N i; N s; st; inv; comp], Some _ =>
            match parse_status st, parse_time inv, parse_time comp with
            | Some st, Some inv, Some comp =>
                Some (Reading (r_head r) (r_initials r) (r_ranges r) (Txn i s st inv comp [] :: close (r_txns r)))
            | _, _, _ => None
            end
        | _, _ => None
        end
      else if c =? 73 then
        match rest, r_head r, r_ranges r, r_txns r with
        | [N k; N v], Some _, [], [] => Some (Reading (r_head r) ((k, v) :: r_initials r) [] [])
        | _, _, _, _ => None
        end
      else if c =? 82 then
        match rest, r_head r, r_txns r with
        | [N n], Some _, [] => Some (Reading (r_head r) (r_initials r) (n :: r_ranges r) [])
        | _, _, _ => None
        end
      else if c =? 72 then
        match rest, r_head r with
        | [N a; N b], None => Some (Reading (Some (a, b)) [] [] [])
        | _, _ => None
        end
      else None
  | _ => None
  end.
Definition feed (r : reading) (line : list int) : option reading :=
  let words := match parse_words None line with Some ws => feed_words r ws | None => None end in
  match line with
  | b :: _ => if b =? 35 then Some r else words
  | [] => words
  end.
Definition finish (r : reading) : option history :=
  match r_head r with
  | Some (a, b) => Some (History a b (rev_append (r_initials r) []) (rev_append (r_ranges r) [])
                              (rev_append (close (r_txns r)) []))
  | None => None
  end.
Fixpoint feed_all (r : reading) (lines : list (list int)) : option reading :=
  match lines with
  | [] => Some r
  | l :: rest => match feed r l with Some r => feed_all r rest | None => None end
  end.
Definition parse (lines : list (list int)) : option history :=
  match feed_all nothing lines with Some r => finish r | None => None end.

(* --- inverse --- *)

Local Open Scope Z_scope.

Lemma div_mod_10 : forall n : int, to_Z (n / 10) = to_Z n / 10 /\ to_Z (n mod 10) = to_Z n mod 10.
Proof. intros. rewrite div_spec, mod_spec. auto. Qed.

Lemma digit_byte : forall d : int, to_Z d < 10 ->
  is_digit (48 + d)%uint63 = true /\ (48 + d - 48)%uint63 = d.
Proof.
  intros d L. pose proof (to_Z_bounded d). assert (W : wB = 9223372036854775808) by reflexivity.
  assert (E : to_Z (48 + d) = 48 + to_Z d).
  { rewrite add_spec, Z.mod_small; [reflexivity|]. change (to_Z 48) with 48. lia. }
  split.
  - unfold is_digit. apply andb_true_iff. rewrite !leb_spec, E.
    change (to_Z 48) with 48. change (to_Z 57) with 57. lia.
  - apply to_Z_inj. rewrite sub_spec, E. change (to_Z 48) with 48. rewrite Z.mod_small; lia.
Qed.

Lemma digits_app : forall fuel n after, digits fuel n after = digits fuel n [] ++ after.
Proof.
  induction fuel as [|fuel IH]; simpl; intros n after; auto.
  destruct (n <? 10)%uint63; auto. rewrite IH, (IH _ [_]), <- app_assoc. reflexivity.
Qed.

Lemma grow_ok : forall n : int, grow (n / 10) (n mod 10) = Some n.
Proof.
  intros n. unfold grow. destruct (div_mod_10 n) as (D & M). pose proof (to_Z_bounded n) as B.
  assert (W : wB = 9223372036854775808) by reflexivity.
  pose proof (Z.div_mod (to_Z n) 10 ltac:(lia)) as E. pose proof (Z.mod_pos_bound (to_Z n) 10 ltac:(lia)) as P.
  assert (T : to_Z (10 * (n / 10)) = 10 * (to_Z n / 10)).
  { rewrite mul_spec, D. change (to_Z 10) with 10. apply Z.mod_small. lia. }
  assert (S : to_Z (10 * (n / 10) + n mod 10) = to_Z n).
  { rewrite add_spec, T, M, Z.mod_small; lia. }
  assert (Q : (10 * (n / 10) + n mod 10)%uint63 = n) by now apply to_Z_inj.
  rewrite Q. assert (X : (n / 10 <=? 922337203685477580)%uint63 && (10 * (n / 10) <=? n)%uint63 = true).
  { apply andb_true_iff. rewrite !leb_spec, T, D. change (to_Z 922337203685477580) with 922337203685477580. lia. }
  now rewrite X.
Qed.

Lemma parse_number : forall fuel n rest, (0 < fuel)%nat -> to_Z n < 10 ^ Z.of_nat fuel ->
  parse_words None (digits fuel n [] ++ rest) = parse_words (Some (N n)) rest.
Proof.
  induction fuel as [|fuel IH]; intros n rest F L; [lia|]. cbn [digits].
  destruct (div_mod_10 n) as (D & M).
  assert (P : to_Z (n mod 10) < 10) by (rewrite M; apply Z.mod_pos_bound; lia).
  destruct (digit_byte (n mod 10) P) as (Dg & Sb).
  destruct (n <? 10)%uint63 eqn:S.
  - apply ltb_spec in S. change (to_Z 10) with 10 in S. cbn [app parse_words]. rewrite Dg, Sb.
    assert (X : (n mod 10)%uint63 = n).
    { apply to_Z_inj. rewrite M. apply Z.mod_small. pose proof (to_Z_bounded n). lia. }
    now rewrite X.
  - assert (G : 10 <= to_Z n).
    { apply not_true_iff_false in S. rewrite ltb_spec in S. change (to_Z 10) with 10 in S. lia. }
    rewrite digits_app, <- app_assoc. rewrite IH.
    + assert (Z : (n / 10 =? 0)%uint63 = false).
      { apply not_true_iff_false. intros Q. apply Uint63.eqb_spec in Q. apply (f_equal to_Z) in Q.
        rewrite D in Q. change (to_Z 0) with 0 in Q. apply Z.div_small_iff in Q; lia. }
      cbn [app parse_words]. now rewrite Dg, Sb, Z, grow_ok.
    + destruct fuel; [|lia]. change (10 ^ Z.of_nat 1) with 10 in L. lia.
    + rewrite D. rewrite Nat2Z.inj_succ, Z.pow_succ_r in L by lia.
      apply Z.div_lt_upper_bound; lia.
Qed.

Definition plain (w : word) : Prop :=
  match w with N _ => True | C c => is_digit c = false /\ (c =? 32)%uint63 = false end.
Lemma parse_word : forall w rest, plain w ->
  parse_words None (print_word w ++ rest) = parse_words (Some w) rest.
Proof.
  intros [n|c] rest P; cbn [print_word].
  - apply parse_number; [lia|]. pose proof (to_Z_bounded n). assert (wB = 9223372036854775808) by reflexivity.
    change (10 ^ Z.of_nat 20) with 100000000000000000000. lia.
  - destruct P as (A & B). cbn [app parse_words]. now rewrite A, B.
Qed.
Lemma parse_print_words : forall ws, ws <> [] -> Forall plain ws ->
  parse_words None (print_words ws) = Some ws.
Proof.
  induction ws as [|w ws IH]; intros N F; [congruence|]. inversion F as [|? ? P F']; subst.
  destruct ws as [|w' ws].
  - cbn [print_words]. rewrite <- (app_nil_r (print_word w)), parse_word by auto. reflexivity.
  - cbn [print_words]. rewrite parse_word by auto. cbn [parse_words].
    change (is_digit 32) with false. change (32 =? 32)%uint63 with true. cbn match.
    change (match ws with [] => print_word w' | _ :: _ => print_word w' ++ 32%uint63 :: print_words ws end)
      with (print_words (w' :: ws)).
    rewrite IH; auto. discriminate.
Qed.

Lemma numbers_map : forall vs, numbers (map N vs) = Some vs.
Proof. induction vs; simpl; auto. now rewrite IHvs. Qed.
Lemma change_back : forall c rest, parse_change (print_change c ++ rest) = Some (c, rest).
Proof. intros [[v|v|v]|] rest; reflexivity. Qed.
Lemma seen_back : forall s, parse_seen (print_seen s) = Some s.
Proof. intros [[v| |v|vs]|]; try reflexivity. simpl. now rewrite numbers_map. Qed.
Lemma time_back : forall t, parse_time (print_time t) = Some t.
Proof. intros [n|]; reflexivity. Qed.
Lemma status_back : forall s, parse_status (print_status s) = Some s.
Proof. intros []; reflexivity. Qed.

Lemma plain_map : forall vs, Forall plain (map N vs).
Proof. induction vs; constructor; simpl; auto. Qed.
Lemma plain_op : forall o, Forall plain (print_op o).
Proof.
  intros [n k s w]. unfold print_op. cbn [map app].
  repeat (constructor; [simpl; auto|]). apply Forall_app. split.
  - destruct w as [[v|v|v]|]; repeat constructor; simpl; auto.
  - destruct s as [[v| |v|vs]|]; repeat (constructor; [simpl; auto|]); auto. apply plain_map.
Qed.
Lemma plain_head : forall t, Forall plain [C 84; N (id t); N (session t); print_status (outcome t);
  print_time (invoked t); print_time (completed t)].
Proof.
  intros t. repeat constructor; simpl; auto.
  - destruct (outcome t); simpl; auto.
  - destruct (invoked t); simpl; auto.
  - destruct (completed t); simpl; auto.
Qed.

Lemma feed_line : forall r c ws, Forall plain (C c :: ws) -> (c =? 35)%uint63 = false ->
  feed r (print_words (C c :: ws)) = feed_words r (C c :: ws).
Proof.
  intros r c ws F H. unfold feed. rewrite parse_print_words by (auto; discriminate).
  destruct ws; cbn [print_words print_word app]; now rewrite H.
Qed.

Lemma feed_app : forall a r b, feed_all r (a ++ b) =
  match feed_all r a with Some r => feed_all r b | None => None end.
Proof. induction a as [|x a IH]; simpl; intros; auto. destruct (feed r x); auto. Qed.

Lemma feed_ops : forall os r t before, r_txns r = t :: before ->
  feed_all r (map print_words (map print_op os)) =
  Some (Reading (r_head r) (r_initials r) (r_ranges r)
          (Txn (id t) (session t) (outcome t) (invoked t) (completed t) (rev os ++ ops t) :: before)).
Proof.
  induction os as [|o os IH]; intros r t before E; cbn [map feed_all].
  - destruct r, t; simpl in *; now subst.
  - pose proof (plain_op o) as Pl. unfold print_op in *. rewrite feed_line by (auto; reflexivity).
    cbn [feed_words]. change (79 =? 79)%uint63 with true. cbn match.
    rewrite E, change_back, seen_back.
    rewrite (IH _ (Txn (id t) (session t) (outcome t) (invoked t) (completed t)
                     (Op (number o) (on o) (sees o) (writes o) :: ops t)) before) by reflexivity.
    cbn [r_head r_initials r_ranges id session outcome invoked completed ops]. destruct o.
    cbn. now rewrite <- app_assoc.
Qed.

(* Transactions as they are kept while reading: the last one turned round. *)
Fixpoint kept (done : list txn) (ts : list txn) : list txn :=
  match ts with [] => done | t :: rest => kept (turned t :: close done) rest end.
Lemma turned_twice : forall t, turned (turned t) = t.
Proof. intros [i s st a b os]. unfold turned. cbn. now rewrite <- !rev_alt, rev_involutive. Qed.
Lemma close_kept : forall ts done, close (kept done ts) = rev ts ++ close done.
Proof.
  induction ts as [|t ts IH]; intros done; auto. cbn [kept rev]. rewrite IH. cbn [close].
  now rewrite turned_twice, <- app_assoc.
Qed.

Lemma feed_txns : forall ts r p, r_head r = Some p ->
  feed_all r (map print_words (flat_map print_txn ts)) =
  Some (Reading (r_head r) (r_initials r) (r_ranges r) (kept (r_txns r) ts)).
Proof.
  induction ts as [|t ts IH]; intros r p E.
  - destruct r. reflexivity.
  - cbn [flat_map]. rewrite map_app, feed_app. unfold print_txn at 1. cbn [map feed_all].
    pose proof (plain_head t) as Pl. rewrite feed_line by (auto; reflexivity).
    cbn [feed_words]. change (84 =? 79)%uint63 with false. change (84 =? 84)%uint63 with true.
    cbn match. rewrite E, status_back, !time_back.
    rewrite (feed_ops (ops t) _ (Txn (id t) (session t) (outcome t) (invoked t) (completed t) [])
               (close (r_txns r))) by reflexivity.
    cbn [r_head r_initials r_ranges id session outcome invoked completed ops].
    rewrite (IH _ p) by reflexivity. cbn [r_head r_initials r_ranges r_txns kept]. do 3 f_equal.
    unfold turned. now rewrite <- rev_alt, app_nil_r.
Qed.

Lemma feed_initials : forall kvs r p, r_head r = Some p -> r_ranges r = [] -> r_txns r = [] ->
  feed_all r (map print_words (map (fun kv => [C 73; N (fst kv); N (snd kv)]) kvs)) =
  Some (Reading (r_head r) (rev kvs ++ r_initials r) [] []).
Proof.
  induction kvs as [|(k & v) kvs IH]; intros r p E R T; cbn [map feed_all].
  - destruct r. simpl in *. now subst.
  - rewrite feed_line; [|repeat constructor; simpl; auto|reflexivity]. cbn [feed_words fst snd].
    change (73 =? 79)%uint63 with false. change (73 =? 84)%uint63 with false.
    change (73 =? 73)%uint63 with true. cbn match. rewrite E, R, T.
    rewrite (IH _ p) by reflexivity. cbn [r_head r_initials r_ranges rev]. now rewrite <- app_assoc.
Qed.

Lemma feed_ranges : forall ns r p, r_head r = Some p -> r_txns r = [] ->
  feed_all r (map print_words (map (fun n => [C 82; N n]) ns)) =
  Some (Reading (r_head r) (r_initials r) (rev ns ++ r_ranges r) []).
Proof.
  induction ns as [|n ns IH]; intros r p E T; cbn [map feed_all].
  - destruct r. simpl in *. now subst.
  - rewrite feed_line; [|repeat constructor; simpl; auto|reflexivity]. cbn [feed_words].
    change (82 =? 79)%uint63 with false. change (82 =? 84)%uint63 with false.
    change (82 =? 73)%uint63 with false. change (82 =? 82)%uint63 with true. cbn match. rewrite E, T.
    rewrite (IH _ p) by reflexivity. cbn [r_head r_initials r_ranges rev]. now rewrite <- app_assoc.
Qed.

Theorem parse_print : forall h, parse (print h) = Some h.
Proof.
  intros [n d kvs ns ts]. unfold parse, print, print_history. cbn [null default initials ranges txns].
  cbn [map feed_all]. rewrite feed_line; [|repeat constructor; simpl; auto|reflexivity].
  cbn [feed_words]. change (72 =? 79)%uint63 with false. change (72 =? 84)%uint63 with false.
  change (72 =? 73)%uint63 with false. change (72 =? 82)%uint63 with false.
  change (72 =? 72)%uint63 with true. cbn match. cbn [r_head nothing].
  rewrite map_app, feed_app, (feed_initials _ _ (n, d)) by reflexivity. cbn [r_head r_initials r_ranges].
  rewrite map_app, feed_app, (feed_ranges _ _ (n, d)) by reflexivity. cbn [r_head r_initials r_ranges].
  rewrite (feed_txns _ _ (n, d)) by reflexivity. cbn [r_head r_initials r_ranges r_txns].
  unfold finish. cbn [r_head r_initials r_ranges r_txns]. rewrite close_kept. cbn [close].
  rewrite !app_nil_r, <- !rev_alt, !rev_involutive. reflexivity.
Qed.

(* Two histories with the same text are the same. *)
Corollary print_inj : forall h h', print h = print h' -> h = h'.
Proof. intros h h' E. pose proof (parse_print h) as P. rewrite E, parse_print in P. congruence. Qed.

(* --- comments --- *)

Lemma feed_comment : forall r line, comment line = true -> feed r line = Some r.
Proof. intros r [|b line] H; [discriminate|]. unfold comment in H. unfold feed. now rewrite H. Qed.
Lemma feed_all_comments : forall lines r,
  feed_all r lines = feed_all r (filter (fun l => negb (comment l)) lines).
Proof.
  induction lines as [|l lines IH]; intros r; cbn [filter feed_all]; auto.
  destruct (comment l) eqn:C; cbn [negb feed_all].
  - rewrite feed_comment by auto. apply IH.
  - destruct (feed r l); auto.
Qed.
Theorem parse_comments : forall lines, parse lines = parse (filter (fun l => negb (comment l)) lines).
Proof. intros. unfold parse. now rewrite feed_all_comments. Qed.
Theorem parse_text : forall lines h, filter (fun l => negb (comment l)) lines = print h ->
  parse lines = Some h.
Proof. intros lines h E. rewrite parse_comments, E. apply parse_print. Qed.

(* --- and back: a text that is read is the text of what was read --- *)

Lemma digit_of_byte : forall b : int, is_digit b = true -> to_Z (b - 48) < 10 /\ (48 + (b - 48))%uint63 = b.
Proof.
  intros b D. unfold is_digit in D. apply andb_prop in D. destruct D as (L & U).
  apply leb_spec in L, U. change (to_Z 48) with 48 in L. change (to_Z 57) with 57 in U.
  pose proof (to_Z_bounded b). assert (W : wB = 9223372036854775808) by reflexivity.
  assert (E : to_Z (b - 48) = to_Z b - 48).
  { rewrite sub_spec. change (to_Z 48) with 48. apply Z.mod_small. lia. }
  split; [lia|]. apply to_Z_inj. rewrite add_spec, E. change (to_Z 48) with 48. rewrite Z.mod_small; lia.
Qed.
Lemma print_digit : forall b : int, is_digit b = true -> print_word (N (b - 48)) = [b].
Proof.
  intros b D. destruct (digit_of_byte b D) as (L & E). cbn [print_word digits].
  destruct (div_mod_10 (b - 48)) as (_ & M).
  assert (X : ((b - 48) mod 10)%uint63 = (b - 48)%uint63).
  { apply to_Z_inj. rewrite M. apply Z.mod_small. pose proof (to_Z_bounded (b - 48)%uint63). lia. }
  assert (Y : (b - 48 <? 10)%uint63 = true) by (apply ltb_spec; exact L).
  now rewrite X, Y, E.
Qed.
Lemma digits_fuel : forall fuel n after, (0 < fuel)%nat -> to_Z n < 10 ^ Z.of_nat fuel ->
  digits (S fuel) n after = digits fuel n after.
Proof.
  induction fuel as [|fuel IH]; intros n after F L; [lia|].
  change (digits (S (S fuel)) n after) with
    (let after := (48 + n mod 10)%uint63 :: after in
     if (n <? 10)%uint63 then after else digits (S fuel) (n / 10) after).
  change (digits (S fuel) n after) with
    (let after := (48 + n mod 10)%uint63 :: after in
     if (n <? 10)%uint63 then after else digits fuel (n / 10) after).
  cbv zeta. destruct (n <? 10)%uint63 eqn:S; auto.
  assert (G : 10 <= to_Z n).
  { apply not_true_iff_false in S. rewrite ltb_spec in S. change (to_Z 10) with 10 in S. lia. }
  destruct (div_mod_10 n) as (D & _). apply IH.
  - destruct fuel; [|lia]. change (10 ^ Z.of_nat 1) with 10 in L. lia.
  - rewrite D. rewrite Nat2Z.inj_succ, Z.pow_succ_r in L by lia. apply Z.div_lt_upper_bound; lia.
Qed.
Lemma print_grown : forall n b m, is_digit b = true -> (n =? 0)%uint63 = false ->
  grow n (b - 48) = Some m -> print_word (N m) = print_word (N n) ++ [b].
Proof.
  intros n b m D Z G. destruct (digit_of_byte b D) as (L & E). unfold grow in G.
  destruct ((n <=? 922337203685477580)%uint63 && (10 * n <=? 10 * n + (b - 48))%uint63) eqn:H; [|discriminate].
  injection G as <-. apply andb_prop in H. destruct H as (U & NoWrap). apply leb_spec in U, NoWrap.
  change (to_Z 922337203685477580) with 922337203685477580 in U.
  pose proof (to_Z_bounded n) as Bn. pose proof (to_Z_bounded (b - 48)%uint63) as Bb.
  assert (W : wB = 9223372036854775808) by reflexivity.
  assert (P : 0 < to_Z n).
  { destruct (Z.eq_dec (to_Z n) 0) as [Q|]; [|lia]. apply not_true_iff_false in Z. exfalso. apply Z.
    apply Uint63.eqb_spec. apply to_Z_inj. exact Q. }
  assert (T : to_Z (10 * n) = 10 * to_Z n).
  { rewrite mul_spec. change (to_Z 10) with 10. apply Z.mod_small. lia. }
  assert (M : to_Z (10 * n + (b - 48)) = 10 * to_Z n + to_Z (b - 48)).
  { rewrite add_spec, T in *. destruct (Z_lt_le_dec (10 * to_Z n + to_Z (b - 48)%uint63) wB) as [|Big].
    - apply Z.mod_small. lia.
    - exfalso. replace (10 * to_Z n + to_Z (b - 48)%uint63) with
        (10 * to_Z n + to_Z (b - 48)%uint63 - wB + 1 * wB) in NoWrap by lia.
      rewrite Z_mod_plus_full, Z.mod_small in NoWrap; lia. }
  set (m := (10 * n + (b - 48))%uint63) in *. destruct (div_mod_10 m) as (Dm & Mm).
  assert (Qd : (m / 10)%uint63 = n).
  { apply to_Z_inj. rewrite Dm, M. symmetry. apply Z.div_unique with (to_Z (b - 48)%uint63); lia. }
  assert (Qm : (m mod 10)%uint63 = (b - 48)%uint63).
  { apply to_Z_inj. rewrite Mm, M. symmetry. apply Z.mod_unique with (to_Z n); lia. }
  assert (S : (m <? 10)%uint63 = false).
  { apply not_true_iff_false. rewrite ltb_spec. change (to_Z 10) with 10. lia. }
  cbn [print_word]. change (digits 20 m []) with
    (let after := [(48 + m mod 10)%uint63] in
     if (m <? 10)%uint63 then after else digits 19 (m / 10) after).
  cbv zeta. rewrite S, Qd, Qm, E, digits_app. f_equal. symmetry. apply digits_fuel; [lia|].
  change (10 ^ Z.of_nat 19) with 10000000000000000000. lia.
Qed.

Lemma parse_words_back : forall bytes now ws, parse_words now bytes = Some ws ->
  print_words ws = match now with Some w => print_word w ++ bytes | None => bytes end /\ ws <> [].
Proof.
  induction bytes as [|b bytes IH]; intros now ws H; cbn [parse_words] in H.
  - destruct now as [w|]; [|discriminate]. injection H as <-. cbn [print_words]. rewrite app_nil_r.
    split; [reflexivity|discriminate].
  - destruct (is_digit b) eqn:D.
    + destruct now as [[n|c]|]; [|discriminate|].
      * destruct (n =? 0)%uint63 eqn:Z; [discriminate|].
        destruct (grow n (b - 48)) as [m|] eqn:G; [|discriminate]. apply IH in H. destruct H as (P & Ne).
        split; auto. rewrite P, (print_grown n b m D Z G), <- app_assoc. reflexivity.
      * apply IH in H. destruct H as (P & Ne). split; auto. now rewrite P, print_digit.
    + destruct (b =? 32)%uint63 eqn:Sp.
      * destruct now as [w|]; [|discriminate]. destruct (parse_words None bytes) as [ws'|] eqn:Q; [|discriminate].
        injection H as <-. apply IH in Q. destruct Q as (P & Ne). split; [|discriminate].
        apply Uint63.eqb_spec in Sp. subst b. destruct ws' as [|w' ws']; [congruence|].
        change (print_words (w :: w' :: ws')) with (print_word w ++ 32%uint63 :: print_words (w' :: ws')).
        now rewrite P.
      * destruct now as [w|]; [discriminate|]. apply IH in H. destruct H as (P & Ne). now split.
Qed.

Ltac bytes_equal := repeat match goal with
  | H : context [if (?a =? ?b)%uint63 then _ else _] |- _ =>
      let E := fresh "E" in destruct (a =? b)%uint63 eqn:E; [apply Uint63.eqb_spec in E; subst a|]
  end.
Lemma numbers_back : forall ws vs, numbers ws = Some vs -> ws = map N vs.
Proof.
  induction ws as [|[n|c] ws IH]; intros vs H; cbn [numbers] in H; try discriminate.
  - now injection H as <-.
  - destruct (numbers ws) as [l|]; [|discriminate]. injection H as <-. cbn [map]. f_equal. auto.
Qed.
Lemma parse_change_back : forall ws c rest, parse_change ws = Some (c, rest) -> ws = print_change c ++ rest.
Proof.
  intros [|[n|b] ws] c rest H; cbn [parse_change] in H; try discriminate.
  bytes_equal; try (injection H as <- <-; reflexivity).
  all: destruct ws as [|[v|] ws]; try discriminate; bytes_equal; try discriminate;
    injection H as <- <-; reflexivity.
Qed.
Lemma parse_seen_back : forall ws s, parse_seen ws = Some s -> ws = print_seen s.
Proof.
  intros [|[n|b] ws] s H; cbn [parse_seen] in H; try discriminate.
  destruct (b =? 91)%uint63 eqn:E91.
  - apply Uint63.eqb_spec in E91. subst b. destruct (numbers ws) as [vs|] eqn:Q; [|discriminate].
    injection H as <-. apply numbers_back in Q. now subst.
  - destruct ws as [|[v|] [|? ?]]; try discriminate; bytes_equal; try discriminate;
      injection H as <-; reflexivity.
Qed.
Lemma parse_time_back : forall w t, parse_time w = Some t -> w = print_time t.
Proof.
  intros [n|b] t H; cbn [parse_time] in H.
  - now injection H as <-.
  - bytes_equal; [|discriminate]. now injection H as <-.
Qed.
Lemma parse_status_back : forall w s, parse_status w = Some s -> w = print_status s.
Proof.
  intros [n|b] s H; cbn [parse_status] in H; try discriminate.
  bytes_equal; try discriminate; injection H as <-; reflexivity.
Qed.

(* The lines of what has been read. *)
Definition said (r : reading) : list (list word) :=
  match r_head r with
  | None => []
  | Some (a, b) =>
      [C 72; N a; N b] :: map (fun kv => [C 73; N (fst kv); N (snd kv)]) (rev (r_initials r)) ++
      map (fun n => [C 82; N n]) (rev (r_ranges r)) ++ flat_map print_txn (rev (close (r_txns r)))
  end.
Definition begun (r : reading) : Prop :=
  r_head r = None -> r_initials r = [] /\ r_ranges r = [] /\ r_txns r = [].

Lemma feed_words_back : forall r ws r', begun r -> feed_words r ws = Some r' ->
  said r' = said r ++ [ws] /\ begun r'.
Proof.
  intros [hd is rs ts] [|[n|c] ws] r' B H; cbn [feed_words r_head r_initials r_ranges r_txns] in H;
    try discriminate.
  bytes_equal; try discriminate.
  - (* O *)
    destruct ws as [|[n|] [|[k|] ws]]; try discriminate. destruct ts as [|t before]; try discriminate.
    destruct (parse_change ws) as [(w & rest)|] eqn:Pc; [|discriminate].
    destruct (parse_seen rest) as [s|] eqn:Ps; [|discriminate]. injection H as <-.
    apply parse_change_back in Pc. apply parse_seen_back in Ps. subst ws rest.
    destruct hd as [(a & b)|]; [|destruct B as (_ & _ & X); [reflexivity|discriminate]].
    split; [|intros X; discriminate]. unfold said. cbn [r_head r_initials r_ranges r_txns close rev].
    rewrite !flat_map_app. cbn [flat_map]. rewrite !app_nil_r. rewrite <- app_comm_cons, <- !app_assoc.
    do 4 f_equal. unfold print_txn, turned. cbn [id session outcome invoked completed ops].
    rewrite <- !rev_alt. cbn [rev]. rewrite map_app. reflexivity.
  - (* T *)
    destruct ws as [|[i|] [|[s|] [|st [|inv [|comp [|]]]]]]; try discriminate.
    destruct hd as [(a & b)|]; [|discriminate].
    destruct (parse_status st) as [st'|] eqn:P1; [|discriminate].
    destruct (parse_time inv) as [inv'|] eqn:P2; [|discriminate].
    destruct (parse_time comp) as [comp'|] eqn:P3; [|discriminate]. injection H as <-.
    apply parse_status_back in P1. apply parse_time_back in P2, P3. subst st inv comp.
    split; [|intros X; discriminate]. unfold said. cbn [r_head r_initials r_ranges r_txns].
    change (close (?t :: ?rest)) with (turned t :: rest). cbn [rev]. rewrite flat_map_app. cbn [flat_map].
    rewrite app_nil_r, <- app_comm_cons, <- !app_assoc. reflexivity.
  - (* I *)
    destruct ws as [|[k|] [|[v|] [|]]]; try discriminate. destruct hd as [(a & b)|]; [|discriminate].
    destruct rs; [|discriminate]. destruct ts; [|discriminate]. injection H as <-.
    split; [|intros X; discriminate]. unfold said. cbn [r_head r_initials r_ranges r_txns close rev map flat_map app].
    rewrite map_app, !app_nil_r. reflexivity.
  - (* R *)
    destruct ws as [|[k|] [|]]; try discriminate. destruct hd as [(a & b)|]; [|discriminate].
    destruct ts; [|discriminate]. injection H as <-.
    split; [|intros X; discriminate]. unfold said. cbn [r_head r_initials r_ranges r_txns close rev map flat_map].
    rewrite map_app, !app_nil_r, app_comm_cons, app_assoc. reflexivity.
  - (* H *)
    destruct ws as [|[a|] [|[b|] [|]]]; try discriminate. destruct hd as [(x & y)|]; [discriminate|].
    injection H as <-. split; [reflexivity|intros X; discriminate].
Qed.
Lemma feed_all_back : forall lines r r', begun r -> feed_all r lines = Some r' ->
  map print_words (said r') = map print_words (said r) ++ filter (fun l => negb (comment l)) lines.
Proof.
  induction lines as [|l lines IH]; intros r r' B H; cbn [feed_all filter] in *.
  - injection H as <-. now rewrite app_nil_r.
  - destruct (comment l) eqn:Co; cbn [negb].
    + rewrite feed_comment in H by auto. auto.
    + assert (F : feed r l = match parse_words None l with Some ws => feed_words r ws | None => None end).
      { unfold feed. destruct l as [|b l]; auto. unfold comment in Co. now rewrite Co. }
      rewrite F in H. destruct (parse_words None l) as [ws|] eqn:P; [|discriminate].
      destruct (feed_words r ws) as [r1|] eqn:W; [|discriminate].
      apply parse_words_back in P. destruct P as (P & _).
      destruct (feed_words_back r ws r1 B W) as (S & B1).
      rewrite (IH r1 r' B1 H), S, map_app, <- app_assoc. cbn [map app]. now rewrite P.
Qed.

(* So [print] alone says what a text means: a text that is read is that of the history, but for its
   comments. *)
Theorem print_parse : forall lines h, parse lines = Some h ->
  filter (fun l => negb (comment l)) lines = print h.
Proof.
  intros lines h H. unfold parse in H. destruct (feed_all nothing lines) as [r|] eqn:F; [|discriminate].
  assert (B : begun nothing) by (intros _; auto).
  pose proof (feed_all_back lines nothing r B F) as E. cbn [said nothing r_head map app] in E.
  rewrite <- E. unfold finish in H. destruct (r_head r) as [(a & b)|] eqn:Hd; [|discriminate].
  injection H as <-. unfold print, print_history, said. rewrite Hd. cbn [null default initials ranges txns].
  now rewrite <- !rev_alt.
Qed.
