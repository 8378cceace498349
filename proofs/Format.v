(* The canonical text of a history (docs/formats/canonical.md), line by line. [print] and
   [parse] are inverse: [parse_print]. So two histories have the same text only if they are the
   same, and the digest of the text says which history was verified.

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

Definition is_digit (b : int) : bool := (48 <=? b) && (b <=? 57).
(* [now]: the word that has begun. A number that does not fit into 63 bits is none. *)
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
            match grow n (b - 48) with Some m => parse_words (Some (N m)) rest | None => None end
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
        match rest, r_head r, r_txns r with
        | [N k; N v], Some _, [] => Some (Reading (r_head r) ((k, v) :: r_initials r) (r_ranges r) [])
        | _, _, _ => None
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
    + cbn [app parse_words]. now rewrite Dg, Sb, grow_ok.
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

Lemma feed_initials : forall kvs r p, r_head r = Some p -> r_txns r = [] ->
  feed_all r (map print_words (map (fun kv => [C 73; N (fst kv); N (snd kv)]) kvs)) =
  Some (Reading (r_head r) (rev kvs ++ r_initials r) (r_ranges r) []).
Proof.
  induction kvs as [|(k & v) kvs IH]; intros r p E T; cbn [map feed_all].
  - destruct r. simpl in *. now subst.
  - rewrite feed_line; [|repeat constructor; simpl; auto|reflexivity]. cbn [feed_words fst snd].
    change (73 =? 79)%uint63 with false. change (73 =? 84)%uint63 with false.
    change (73 =? 73)%uint63 with true. cbn match. rewrite E, T.
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

(* A line that begins with # says nothing, so the text with its comments has the same meaning. *)
Definition comment (line : list int) : bool :=
  match line with b :: _ => (b =? 35)%uint63 | [] => false end.
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
