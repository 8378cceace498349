(* The canonical text of a history of a replicated data type (docs/reference/formats/canonical.md), line
   by line. [print_r] says what it is, and is trusted; [parse_r] reads it. They are inverse, but for
   comments: [print_parse_r], [parse_text_r]. *)
From Coq Require Import List ZArith Uint63 Bool Lia.
From Cupel Require Import Order Format Replicated.
Import ListNotations.
Local Open Scope uint63_scope.

Definition print_type (t : type) : int :=
  match t with
  | AddWinsSet => 0 | RemoveWinsSet => 1 | GrowOnlySet => 2 | TwoPhaseSet => 3
  | EnableWinsFlag => 4 | DisableWinsFlag => 5 | MultiValueRegister => 6
  | LastWriterWinsRegister => 7 | AnyMaximalRegister => 8 | Counter => 9
  | ResettableCounter => 10 | BoundedCounter => 11 | GrowableArray => 12
  end.
Definition print_call (c : call) : list word :=
  match c with
  | Add e => [C 43; N e]
  | Remove e => [C 45; N e]
  | Contains e yes => [C 63; N e; N (if yes then 1 else 0)]
  | Elements es => C 123 :: map N es
  | Increment n => [C 105; N n]
  | Decrement n => [C 100; N n]
  | Reset => [C 122]
  | Total s n => [C 61; N (if s then 1 else 0); N n]
  | Write v => [C 119; N v]
  | Values vs => C 91 :: map N vs
  | Insert p e => [C 97; print_time p; N e]
  end.
Definition print_op_r (o : op) : list word :=
  C 79 :: N (id o) :: N (replica o) :: N (object o) :: print_time (begun o) :: print_time (ended o) ::
  print_call (call_of o).
Fixpoint print_pairs (ps : list (int * int)) : list word :=
  match ps with [] => [] | (j, n) :: rest => N j :: N n :: print_pairs rest end.
Definition print_ops_r (o : op) : list (list word) :=
  print_op_r o :: match received o with [] => [] | ps => [C 86 :: print_pairs ps] end.
Definition print_r (h : history) : list (list int) :=
  map print_words ([C 68; N (print_type (type_of h)); N (if known h then 1 else 0)] ::
                   flat_map print_ops_r (ops h)).

Definition types : list type :=
  [AddWinsSet; RemoveWinsSet; GrowOnlySet; TwoPhaseSet; EnableWinsFlag; DisableWinsFlag; MultiValueRegister;
   LastWriterWinsRegister; AnyMaximalRegister; Counter; ResettableCounter; BoundedCounter; GrowableArray].
Definition parse_type (n : int) : option type := find (fun t => print_type t =? n) types.
Definition parse_flag (n : int) : option bool :=
  if n =? 0 then Some false else if n =? 1 then Some true else None.
Definition parse_call (ws : list word) : option call :=
  match ws with
  | C c :: rest =>
      if c =? 123 then match numbers rest with Some es => Some (Elements es) | None => None end
      else if c =? 91 then match numbers rest with Some vs => Some (Values vs) | None => None end
      else match rest with
           | [] => if c =? 122 then Some Reset else None
           | [N n] =>
               if c =? 43 then Some (Add n)
               else if c =? 45 then Some (Remove n)
               else if c =? 105 then Some (Increment n)
               else if c =? 100 then Some (Decrement n)
               else if c =? 119 then Some (Write n) else None
           | [w; N n] =>
               if c =? 97 then match parse_time w with Some p => Some (Insert p n) | None => None end
               else match w with
                    | N m =>
                        if c =? 63 then match parse_flag n with Some b => Some (Contains m b) | None => None end
                        else if c =? 61 then match parse_flag m with Some s => Some (Total s n) | None => None end
                        else None
                    | C _ => None
                    end
           | _ => None
           end
  | _ => None
  end.

Fixpoint parse_pairs (ws : list word) : option (list (int * int)) :=
  match ws with
  | [] => Some []
  | N j :: N n :: rest => match parse_pairs rest with Some ps => Some ((j, n) :: ps) | None => None end
  | _ => None
  end.

(* What has been read; the latest operation first. *)
Record reading_r := Reading_r { r_type : option (type * bool); r_ops : list op }.
Definition nothing_r : reading_r := Reading_r None [].
Definition feed_words_r (r : reading_r) (ws : list word) : option reading_r :=
  match ws with
  | C c :: rest =>
      if c =? 79 then
        match rest, r_type r with
        | N i :: N j :: N k :: b :: e :: rest, Some _ =>
            match parse_time b, parse_time e, parse_call rest with
            | Some b, Some e, Some c => Some (Reading_r (r_type r) (Op i j k b e c [] :: r_ops r))
            | _, _, _ => None
            end
        | _, _ => None
        end
      else if c =? 68 then
        match rest, r_type r with
        | [N n; N k], None =>
            match parse_type n, parse_flag k with
            | Some t, Some k => Some (Reading_r (Some (t, k)) [])
            | _, _ => None
            end
        | _, _ => None
        end
      else if c =? 86 then
        match parse_pairs rest, r_ops r with
        | Some ((_ :: _) as ps), Op i j k b e c [] :: before =>
            Some (Reading_r (r_type r) (Op i j k b e c ps :: before))
        | _, _ => None
        end
      else None
  | _ => None
  end.
Definition feed_r (r : reading_r) (line : list int) : option reading_r :=
  let words := match parse_words None line with Some ws => feed_words_r r ws | None => None end in
  match line with
  | b :: _ => if b =? 35 then Some r else words
  | [] => words
  end.
Definition finish_r (r : reading_r) : option history :=
  match r_type r with Some (t, k) => Some (History t k (rev_append (r_ops r) [])) | None => None end.
Fixpoint feed_all_r (r : reading_r) (lines : list (list int)) : option reading_r :=
  match lines with
  | [] => Some r
  | l :: rest => match feed_r r l with Some r => feed_all_r r rest | None => None end
  end.
Definition parse_r (lines : list (list int)) : option history :=
  match feed_all_r nothing_r lines with Some r => finish_r r | None => None end.

(* --- inverse --- *)

Lemma type_back : forall t, parse_type (print_type t) = Some t.
Proof. intros []; reflexivity. Qed.
Lemma call_back : forall c, parse_call (print_call c) = Some c.
Proof.
  intros [e|e|e []|es|n|n| |[] n|v|vs|[p|] e]; try reflexivity; cbn; now rewrite numbers_map.
Qed.
Lemma pairs_back : forall ps, parse_pairs (print_pairs ps) = Some ps.
Proof. induction ps as [|(j & n) ps IH]; cbn; auto. now rewrite IH. Qed.
Lemma plain_pairs : forall ps, Forall plain (print_pairs ps).
Proof. induction ps as [|(j & n) ps IH]; cbn; repeat (constructor; [simpl; auto|]); auto. Qed.
Lemma plain_op_r : forall o, Forall plain (print_op_r o).
Proof.
  intros [i j k b e c ps]. unfold print_op_r. cbn [id replica object begun ended call_of].
  assert (T : forall t, plain (print_time t)) by (intros [?|]; simpl; auto).
  repeat (constructor; [simpl; auto|]).
  destruct c; cbn [print_call]; repeat (constructor; [simpl; auto|]); auto using plain_map.
Qed.
Lemma feed_line_r : forall r c ws, Forall plain (C c :: ws) -> (c =? 35) = false ->
  feed_r r (print_words (C c :: ws)) = feed_words_r r (C c :: ws).
Proof.
  intros r c ws F H. unfold feed_r. rewrite parse_print_words by (auto; discriminate).
  destruct ws; cbn [print_words print_word app]; now rewrite H.
Qed.
Lemma feed_app_r : forall a r b, feed_all_r r (a ++ b) =
  match feed_all_r r a with Some r => feed_all_r r b | None => None end.
Proof. induction a as [|x a IH]; simpl; intros; auto. destruct (feed_r r x); auto. Qed.
Lemma feed_op_r : forall o r t, r_type r = Some t ->
  feed_all_r r (map print_words (print_ops_r o)) = Some (Reading_r (r_type r) (o :: r_ops r)).
Proof.
  intros o r t T. unfold print_ops_r. cbn [map feed_all_r].
  pose proof (plain_op_r o) as Pl. unfold print_op_r in *. rewrite feed_line_r by (auto; reflexivity).
  cbn [feed_words_r]. change (79 =? 79) with true. cbn match. rewrite T, !time_back, call_back.
  destruct o as [i j k b e c [|p ps]]; cbn [received map feed_all_r id replica object begun ended call_of]; auto.
  rewrite feed_line_r; [|constructor; [simpl; auto|apply plain_pairs]|reflexivity].
  cbn [feed_words_r r_ops r_type]. change (86 =? 79) with false. change (86 =? 68) with false.
  change (86 =? 86) with true. cbn match.
  rewrite pairs_back. reflexivity.
Qed.
Lemma feed_ops_r : forall os r t, r_type r = Some t ->
  feed_all_r r (map print_words (flat_map print_ops_r os)) = Some (Reading_r (r_type r) (rev os ++ r_ops r)).
Proof.
  induction os as [|o os IH]; intros r t T; cbn [flat_map].
  - now destruct r.
  - rewrite map_app, feed_app_r, (feed_op_r o r t T). rewrite (IH (Reading_r (r_type r) (o :: r_ops r)) t T).
    cbn [r_type r_ops rev]. now rewrite <- app_assoc.
Qed.
Theorem parse_print_r : forall h, parse_r (print_r h) = Some h.
Proof.
  intros [t k os]. unfold parse_r, print_r. cbn [type_of known ops map feed_all_r].
  rewrite feed_line_r; [|repeat constructor; simpl; auto|reflexivity].
  cbn [feed_words_r]. change (68 =? 79) with false. change (68 =? 68) with true. cbn match. cbn [r_type nothing_r].
  rewrite type_back. replace (parse_flag (if k then 1 else 0)) with (Some k) by now destruct k.
  erewrite feed_ops_r by reflexivity. unfold finish_r. cbn [r_type r_ops].
  now rewrite app_nil_r, <- rev_alt, rev_involutive.
Qed.

Lemma feed_comment_r : forall r line, comment line = true -> feed_r r line = Some r.
Proof. intros r [|b line] H; [discriminate|]. unfold comment in H. unfold feed_r. now rewrite H. Qed.
Lemma feed_all_comments_r : forall lines r,
  feed_all_r r lines = feed_all_r r (filter (fun l => negb (comment l)) lines).
Proof.
  induction lines as [|l lines IH]; intros r; cbn [filter feed_all_r]; auto.
  destruct (comment l) eqn:C; cbn [negb feed_all_r].
  - rewrite feed_comment_r by auto. apply IH.
  - destruct (feed_r r l); auto.
Qed.
Theorem parse_text_r : forall lines h, filter (fun l => negb (comment l)) lines = print_r h ->
  parse_r lines = Some h.
Proof. intros lines h E. unfold parse_r. rewrite feed_all_comments_r, E. apply parse_print_r. Qed.

(* --- and back: a text that is read is the text of what was read --- *)

Lemma parse_flag_back : forall n b, parse_flag n = Some b -> n = if b then 1 else 0.
Proof.
  intros n b H. unfold parse_flag in H. bytes_equal; try discriminate; now injection H as <-.
Qed.
Lemma parse_type_back : forall n t, parse_type n = Some t -> n = print_type t.
Proof.
  intros n t H. unfold parse_type in H. apply find_some in H. destruct H as (_ & H).
  symmetry. now apply Uint63.eqb_spec.
Qed.
Lemma parse_call_back : forall ws c, parse_call ws = Some c -> ws = print_call c.
Proof.
  intros [|[n|b] ws] c H; cbn [parse_call] in H; try discriminate.
  destruct (b =? 123) eqn:E1.
  { apply Uint63.eqb_spec in E1. subst b. destruct (numbers ws) as [vs|] eqn:Q; [|discriminate].
    injection H as <-. apply numbers_back in Q. now subst. }
  destruct (b =? 91) eqn:E2.
  { apply Uint63.eqb_spec in E2. subst b. destruct (numbers ws) as [vs|] eqn:Q; [|discriminate].
    injection H as <-. apply numbers_back in Q. now subst. }
  destruct ws as [|w [|[n|] [|]]]; try discriminate; try (destruct w; discriminate).
  - bytes_equal; try discriminate. now injection H as <-.
  - destruct w as [n|]; [|discriminate]. bytes_equal; try discriminate; now injection H as <-.
  - destruct w as [m|x].
    + destruct (b =? 97) eqn:E3.
      { apply Uint63.eqb_spec in E3. subst b. cbn [parse_time] in H. now injection H as <-. }
      destruct (b =? 63) eqn:E4.
      { apply Uint63.eqb_spec in E4. subst b. destruct (parse_flag n) as [f|] eqn:Q; [|discriminate].
        injection H as <-. apply parse_flag_back in Q. now subst. }
      destruct (b =? 61) eqn:E5; [|discriminate].
      apply Uint63.eqb_spec in E5. subst b. destruct (parse_flag m) as [f|] eqn:Q; [|discriminate].
      injection H as <-. apply parse_flag_back in Q. now subst.
    + destruct (b =? 97) eqn:E3; [|discriminate]. apply Uint63.eqb_spec in E3. subst b.
      destruct (parse_time (C x)) as [p|] eqn:Q; [|discriminate].
      injection H as <-. apply parse_time_back in Q. cbn [print_call]. now rewrite <- Q.
Qed.
Lemma parse_pairs_back : forall n ws ps, (length ws <= n)%nat -> parse_pairs ws = Some ps -> ws = print_pairs ps.
Proof.
  induction n as [|n IH]; intros ws ps L H.
  - destruct ws; [|simpl in L; lia]. now injection H as <-.
  - destruct ws as [|[j|] [|[k|] ws]]; cbn [parse_pairs] in H; try discriminate.
    + now injection H as <-.
    + destruct (parse_pairs ws) as [l|] eqn:Q; [|discriminate]. injection H as <-. cbn [print_pairs].
      do 2 f_equal. apply IH; auto. simpl in L. lia.
Qed.

Definition said_r (r : reading_r) : list (list word) :=
  match r_type r with
  | None => []
  | Some (t, k) =>
      [C 68; N (print_type t); N (if k then 1 else 0)] :: flat_map print_ops_r (rev (r_ops r))
  end.
Definition begun_r (r : reading_r) : Prop := r_type r = None -> r_ops r = [].
Lemma feed_words_back_r : forall r ws r', begun_r r -> feed_words_r r ws = Some r' ->
  said_r r' = said_r r ++ [ws] /\ begun_r r'.
Proof.
  intros [ty os] [|[n|c] ws] r' B H; cbn [feed_words_r r_type r_ops] in H; try discriminate.
  destruct (c =? 79) eqn:EO.
  { apply Uint63.eqb_spec in EO. subst c.
    destruct ws as [|[i|] [|[j|] [|[k|] [|b [|e ws]]]]]; try discriminate.
    destruct ty as [(t & kn)|]; [|discriminate].
    destruct (parse_time b) as [b'|] eqn:P1; [|discriminate].
    destruct (parse_time e) as [e'|] eqn:P2; [|discriminate].
    destruct (parse_call ws) as [c'|] eqn:P3; [|discriminate]. injection H as <-.
    apply parse_time_back in P1, P2. apply parse_call_back in P3. subst b e ws.
    split; [|intros X; discriminate]. unfold said_r. cbn [r_type r_ops rev]. rewrite flat_map_app.
    reflexivity. }
  destruct (c =? 68) eqn:ED.
  { apply Uint63.eqb_spec in ED. subst c. destruct ws as [|[n|] [|[k|] [|]]]; try discriminate.
    destruct ty; [discriminate|]. destruct (parse_type n) as [t|] eqn:P1; [|discriminate].
    destruct (parse_flag k) as [f|] eqn:P2; [|discriminate]. injection H as <-.
    apply parse_type_back in P1. apply parse_flag_back in P2. subst n k.
    split; [reflexivity|intros X; discriminate]. }
  destruct (c =? 86) eqn:EV; [|discriminate]. apply Uint63.eqb_spec in EV. subst c.
  destruct (parse_pairs ws) as [[|p ps]|] eqn:P; try discriminate.
  destruct os as [|[i j k b e c [|]] before]; try discriminate. injection H as <-.
  apply (parse_pairs_back (length ws)) in P; [|lia]. subst ws.
  destruct ty as [(t & kn)|]; [|specialize (B eq_refl); discriminate].
  split; [|intros X; discriminate]. unfold said_r. cbn [r_type r_ops rev]. rewrite !flat_map_app.
  cbn [flat_map app]. rewrite !app_nil_r. unfold print_ops_r.
  cbn [received id replica object begun ended call_of]. cbn [app].
  rewrite <- app_assoc. reflexivity.
Qed.
Lemma feed_all_back_r : forall lines r r', begun_r r -> feed_all_r r lines = Some r' ->
  map print_words (said_r r') = map print_words (said_r r) ++ filter (fun l => negb (comment l)) lines.
Proof.
  induction lines as [|l lines IH]; intros r r' B H; cbn [feed_all_r filter] in *.
  - injection H as <-. now rewrite app_nil_r.
  - destruct (comment l) eqn:Co; cbn [negb].
    + rewrite feed_comment_r in H by auto. auto.
    + assert (F : feed_r r l = match parse_words None l with Some ws => feed_words_r r ws | None => None end).
      { unfold feed_r. destruct l as [|b l]; auto. unfold comment in Co. now rewrite Co. }
      rewrite F in H. destruct (parse_words None l) as [ws|] eqn:P; [|discriminate].
      destruct (feed_words_r r ws) as [r1|] eqn:W; [|discriminate].
      apply parse_words_back in P. destruct P as (P & _).
      destruct (feed_words_back_r r ws r1 B W) as (S & B1).
      rewrite (IH r1 r' B1 H), S, map_app, <- app_assoc. cbn [map app]. now rewrite P.
Qed.
Theorem print_parse_r : forall lines h, parse_r lines = Some h ->
  filter (fun l => negb (comment l)) lines = print_r h.
Proof.
  intros lines h H. unfold parse_r in H. destruct (feed_all_r nothing_r lines) as [r|] eqn:F; [|discriminate].
  assert (B : begun_r nothing_r) by (intros _; auto).
  pose proof (feed_all_back_r lines nothing_r r B F) as E. cbn [said_r nothing_r r_type map app] in E.
  rewrite <- E. unfold finish_r in H. destruct (r_type r) as [(t & k)|] eqn:Ty; [|discriminate].
  injection H as <-. unfold print_r, said_r. rewrite Ty. cbn [type_of known ops]. now rewrite <- rev_alt.
Qed.
