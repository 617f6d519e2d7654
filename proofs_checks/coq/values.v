(* Values of the definitions by computation with rational numbers, for vm_compute.

   Tests compare them with the conclusions of the rules in Python on random finite chains, in the same fractions
   (tests/proofs_checks/test_coq_values.py).  A function h of rational numbers computes a function f of R if f takes the
   value h g at every rational g; each definition has a function that computes it. *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From mathcomp Require Import ring ssrZ.
From lastiterate Require Import laws tables chain contract rules induction composition coins three_laws.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
From lastiterate Require Import checker.
Delimit Scope Z_scope with ZZ.
Local Close Scope Q_scope.

(* ---- The program. ---- *)
Section Program.
Definition q0 := Qmake 0 1.
Definition q1 := Qmake 1 1.
Definition qadd x y := Qred (Qplus x y).
Definition qsub x y := Qred (Qplus x (Qopp y)).
Definition qmul x y := Qred (Qmult x y).
Definition qdiv x y := Qred (Qmult x (Qinv y)).
Definition qpos x := if Qle_bool x q0 then q0 else x.
Definition above0 x := ~~ Qle_bool x q0.
Definition qsum := foldr qadd q0.

(* A table as a list of atoms: the masses of run 1 and of run 2. *)
Implicit Types (L : seq (Q * Q)) (h : Q -> Q) (g : Q).
Definition qrest L := qsub q1 (qsum [seq x.1 | x <- L]).
Definition falls (x y : Q * Q) := Qle_bool (qmul y.1 x.2) (qmul x.1 y.2).
Definition good L := [&& all (fun x => Qle_bool q0 x.1 && above0 x.2) L, Qle_bool q0 (qrest L),
  Qeq_bool (qsum [seq x.2 | x <- L]) q1 & sorted falls L].

Definition qvalue L g := qadd (qrest L) (qsum [seq qpos (qsub x.1 (qmul g x.2)) | x <- L]).
Definition qcompose h L g :=
  qadd (qrest L) (qsum [seq if above0 x.1 then qmul x.1 (h (qdiv (qmul g x.2) x.1)) else q0 | x <- L]).
Definition qmean (failure : Q) (cases : seq (Q * (Q -> Q))) g :=
  qadd failure (qsum [seq qmul c.1 (c.2 g) | c <- cases]).
(* The pairs (p, q) are those of a table before the block and its rest, and (u, v) are their parts. *)
Definition qpairs L := rcons L (qrest L, q0).
Definition qcontracted (F : Q -> Q) L (pairs parts : seq (Q * Q)) g :=
  let both := zip pairs parts in
  let A := qsum [seq qsub x.1.1 x.2.1 | x <- both] in
  let B := qsum [seq qsub x.1.2 x.2.2 | x <- both] in
  qadd (qsum [seq if above0 x.2.1 then qmul x.2.1 (qvalue L (qdiv (qmul g x.2.2) x.2.1)) else q0 | x <- both])
    (if above0 A then qmul A (F (qdiv (qmul g B) A)) else q0).
Definition parts_of (pairs parts : seq (Q * Q)) := (size pairs == size parts) && all
  (fun x => [&& Qle_bool q0 x.2.1, Qle_bool x.2.1 x.1.1, Qle_bool q0 x.2.2 & Qle_bool x.2.2 x.1.2]) (zip pairs parts).
Definition qreflected h g := qadd (qsub q1 g) (qmul g (h (qdiv q1 g))).
Definition qsampled q h g :=
  if Qle_bool g (qsub q1 q) then qsub q1 g else qmul q (h (qdiv (qadd (qsub g q1) q) q)).
Definition qabove_one q h g := qmul q (h (qadd q1 (qdiv (qsub g q1) q))).
(* Three laws, for the number c and the share t of one case; and cases (w, c, t) whose numbers have a mean of at most 0. *)
Definition qthird h h1 h2 c t g := if Qle_bool q0 c
  then qadd (qmul t (h (qdiv g t))) (qmul (qsub q1 t) (h1 (qdiv c (qsub q1 t))))
  else qsub (h (qmul g t)) (qmul c (h2 (qdiv (qmul g (qsub q1 t)) (qsub q0 c)))).
Definition chosen (cases : seq (Q * Q * Q)) := Qle_bool (qsum [seq qmul x.1.1 x.1.2 | x <- cases]) q0 &&
  all (fun x => Qle_bool q0 x.2 && Qle_bool x.2 q1) cases.
(* For the tests: a function has these values, and is at most a table at its nodes and at 0. *)
Definition agrees h (values : seq (Q * Q)) := all (fun x => Qeq_bool (h x.1) x.2) values.
Definition below h L := all (fun x => Qle_bool (h x) (qvalue L x)) (q0 :: [seq qdiv x.1 x.2 | x <- L]).
End Program.

Local Open Scope ring_scope.
Section Computed.
Variable R : archiFieldType.
Local Notation real := (real R).
Definition of_Q (x : Q) : R := real (Qnum x) / real (Zpos (Qden x)).
Lemma den_gt0 (d : positive) : 0 < real (Zpos d).
Proof. by apply: real_gt0. Qed.
Lemma den_neq0 (d : positive) : real (Zpos d) != 0.
Proof. by rewrite gt_eqF // den_gt0. Qed.
Lemma real_leE x y : (x <=? y)%ZZ = (real x <= real y).
Proof.
apply/idP/idP => [/Z.leb_le|]; first exact: real_le.
apply: contraLR; rewrite -ltNge => /negbTE /Z.leb_gt lt; rewrite -subr_gt0 -realB; apply: real_gt0.
exact/Z.lt_0_sub.
Qed.
Lemma real_neg p : real (Zneg p) = - real (Zpos p).
Proof. by rewrite -[Zneg p]/(0 - Zpos p)%ZZ realB real0 sub0r. Qed.

Lemma of_Q_eq x y : Qeq x y -> of_Q x = of_Q y.
Proof.
rewrite /Qeq /of_Q => E; apply/eqP; rewrite eqr_div ?den_neq0 //.
by rewrite -!realM E.
Qed.
Lemma of_Q_red x : of_Q (Qred x) = of_Q x. Proof. exact/of_Q_eq/Qred_correct. Qed.
Lemma of_Q0 : of_Q q0 = 0. Proof. by rewrite /of_Q /= mul0r. Qed.
Lemma of_Q1 : of_Q q1 = 1. Proof. by rewrite /of_Q divff // den_neq0. Qed.
Lemma of_Q_add x y : of_Q (qadd x y) = of_Q x + of_Q y.
Proof. by rewrite of_Q_red /of_Q /= Pos2Z.inj_mul realD !realM addf_div ?den_neq0. Qed.
Lemma of_Q_opp x : of_Q (Qopp x) = - of_Q x.
Proof. by rewrite /of_Q /= -[(- Qnum x)%ZZ]Z.sub_0_l realB real0 sub0r mulNr. Qed.
Lemma of_Q_sub x y : of_Q (qsub x y) = of_Q x - of_Q y.
Proof. by rewrite [qsub x y]/(qadd x (Qopp y)) of_Q_add of_Q_opp. Qed.
Lemma of_Q_mul x y : of_Q (qmul x y) = of_Q x * of_Q y.
Proof. by rewrite of_Q_red /of_Q /= Pos2Z.inj_mul !realM mulf_div. Qed.
Lemma of_Q_inv x : of_Q (Qinv x) = (of_Q x)^-1.
Proof.
rewrite /of_Q /Qinv; case: x => [[|p|p] d] /=; first by rewrite !mul0r invr0.
  by rewrite invf_div.
by rewrite !real_neg !mulNr invrN invf_div.
Qed.
Lemma of_Q_div x y : of_Q (qdiv x y) = of_Q x / of_Q y.
Proof. by rewrite -of_Q_inv -of_Q_mul. Qed.
Lemma of_Q_le x y : Qle_bool x y = (of_Q x <= of_Q y).
Proof.
by rewrite /Qle_bool real_leE !realM /of_Q ler_pdivr_mulr ?den_gt0 // mulrAC ler_pdivl_mulr ?den_gt0.
Qed.
Lemma of_Q_positive x : above0 x = (0 < of_Q x).
Proof. by rewrite /above0 of_Q_le of_Q0 ltNge. Qed.
Lemma of_Q_pos x : of_Q (qpos x) = pos (of_Q x).
Proof.
rewrite /qpos of_Q_le of_Q0; case: leP => s; first by rewrite of_Q0 pos_0.
by rewrite pos_id // ltW.
Qed.
Lemma of_Q_if (b : bool) x y : of_Q (if b then x else y) = if b then of_Q x else of_Q y.
Proof. by case: b. Qed.
Lemma of_Q_sum (T : Type) (s : seq T) (f : T -> Q) : of_Q (qsum [seq f x | x <- s]) = \sum_(x <- s) of_Q (f x).
Proof. by elim: s => [|x s IH]; rewrite ?big_nil ?of_Q0 // big_cons /= of_Q_add IH. Qed.
Definition of_QE := (of_Q_add, of_Q_sub, of_Q_mul, of_Q_div, of_Q_pos, of_Q_if, of_Q_positive, of_Q0, of_Q1).

(* The table of a list. *)
Definition table_of (L : seq (Q * Q)) (N : table R) := [/\ node_count N = size L, rest N = of_Q (qrest L),
  forall j, (j < size L)%N -> mass1 N j = of_Q (nth (q0, q1) L j).1 &
  forall j, (j < size L)%N -> mass2 N j = of_Q (nth (q0, q1) L j).2].
Theorem a_good_list_is_a_table L : good L -> exists N, table_of L N.
Proof.
rewrite /good => /and4P [/(all_nthP (q0, q1)) atoms0 rest0 total2 /(sortedP (q0, q1)) sorted_].
pose a j := of_Q (nth (q0, q1) L j).1; pose b j := of_Q (nth (q0, q1) L j).2.
have none j : (size L <= j)%N -> a j = 0 /\ b j = 1 by rewrite /a /b => le; rewrite nth_default //= of_Q0 of_Q1.
have a0 j : 0 <= a j.
  case: (ltnP j (size L)) => jL; last by rewrite (proj1 (none j jL)).
  by have /andP [] := atoms0 j jL; rewrite of_Q_le of_Q0.
have b0 j : 0 < b j.
  case: (ltnP j (size L)) => jL; last by rewrite (proj2 (none j jL)) ltr01.
  by have /andP [_] := atoms0 j jL; rewrite of_Q_positive.
have sums (f : Q * Q -> Q) : of_Q (qsum [seq f x | x <- L]) = \sum_(j < size L) of_Q (f (nth (q0, q1) L j)).
  by rewrite of_Q_sum (big_nth (q0, q1)) big_mkord.
have b1 : \sum_(j < size L) b j = 1.
  by rewrite -(sums snd); move: total2 => /Qeq_bool_eq /of_Q_eq ->; rewrite of_Q1.
have ac1 : of_Q (qrest L) + \sum_(j < size L) a j = 1 by rewrite -(sums fst) of_Q_sub of_Q1 subrK.
have next i : a i.+1 * b i <= a i * b i.+1.
  case: (ltnP i.+1 (size L)) => iL; last by rewrite (proj1 (none i.+1 iL)) mul0r mulr_ge0 // ltW.
  by have := sorted_ i iL; rewrite /falls of_Q_le !of_Q_mul.
have fall i j : (i <= j)%N -> a j * b i <= a i * b j.
  elim: j => [|j IH]; first by rewrite leqn0 => /eqP ->.
  rewrite leq_eqVlt => /orP [/eqP -> //|]; rewrite ltnS => /IH {}IH.
  rewrite -(ler_pmul2r (b0 j)); apply: (@le_trans _ _ (a j * b j.+1 * b i)).
    by rewrite mulrAC ler_pmul2r.
  by rewrite mulrAC [X in _ <= X]mulrAC ler_pmul2r.
have c0 : 0 <= of_Q (qrest L) by rewrite -of_Q0 -of_Q_le.
by exists (Table c0 a0 b0 b1 ac1 fall); split.
Qed.

Section OneTable.
Variables (L : seq (Q * Q)) (N : table R).
Hypothesis NL : table_of L N.
Lemma sum_table (F : R -> R -> R) :
  \sum_(j < node_count N) F (mass1 N j) (mass2 N j) = \sum_(x <- L) F (of_Q x.1) (of_Q x.2).
Proof.
have [n_ _ m1 m2] := NL; rewrite (big_nth (q0, q1)) big_mkord n_; apply: eq_bigr => j _.
by rewrite m1 ?m2.
Qed.
Definition computes (h : Q -> Q) (f : R -> R) := forall g, f (of_Q g) = of_Q (h g).

Theorem value_computed : computes (qvalue L) (value N).
Proof.
move=> g; have [_ r _ _] := NL.
rewrite /value r (sum_table (fun a b => pos (a - of_Q g * b))) /qvalue of_Q_add of_Q_sum; congr (_ + _).
by apply: eq_bigr => x _; rewrite !of_QE.
Qed.
Theorem compose_computed f h : computes h f -> computes (qcompose h L) (compose f N).
Proof.
move=> H g; have [_ r _ _] := NL; rewrite /compose big_mkcond /= r.
rewrite (sum_table (fun a b => if 0 < a then a * f (of_Q g * b / a) else 0)) /qcompose of_Q_add of_Q_sum.
by congr (_ + _); apply: eq_bigr => x _; rewrite !of_QE -H !of_QE.
Qed.

(* p, q, u and v of the rule contract, from lists of pairs (p, q) and (u, v). *)
Variables pairs_ parts : seq (Q * Q).
Hypothesis sizes : size pairs_ = size parts.
Let I := [finType of 'I_(size parts)].
Let zero := (q0, q0).
Definition p_of (i : I) := of_Q (nth zero pairs_ i).1.
Definition q_of (i : I) := of_Q (nth zero pairs_ i).2.
Definition u_of (i : I) := of_Q (nth zero parts i).1.
Definition v_of (i : I) := of_Q (nth zero parts i).2.
Lemma sum_parts (F : R -> R -> R -> R -> R) : \sum_i F (p_of i) (q_of i) (u_of i) (v_of i) =
  \sum_(x <- zip pairs_ parts) F (of_Q x.1.1) (of_Q x.1.2) (of_Q x.2.1) (of_Q x.2.2).
Proof.
rewrite (big_nth (zero, zero)) big_mkord size_zip sizes minnn; apply: eq_bigr => i _.
by rewrite nth_zip.
Qed.
Theorem contracted_computed F h : computes h F ->
  computes (qcontracted h L pairs_ parts) (contracted F N p_of q_of u_of v_of).
Proof.
move=> H g; rewrite /contracted /qcontracted.
rewrite (sum_parts (fun p q u v => p - u)) (sum_parts (fun p q u v => q - v)) big_mkcond /=.
rewrite (sum_parts (fun p q u v => if 0 < u then u * value N (of_Q g * v / u) else 0)).
set A := \sum_(x <- _) (_ - of_Q x.2.1); set B := \sum_(x <- _) (_ - of_Q x.2.2).
set qA := qsum [seq qsub x.1.1 x.2.1 | x <- zip pairs_ parts].
set qB := qsum [seq qsub x.1.2 x.2.2 | x <- zip pairs_ parts].
have EA : of_Q qA = A by rewrite of_Q_sum; apply: eq_bigr => x _; rewrite of_Q_sub.
have EB : of_Q qB = B by rewrite of_Q_sum; apply: eq_bigr => x _; rewrite of_Q_sub.
rewrite of_Q_add of_Q_sum; congr (_ + _).
  by apply: eq_bigr => x _; rewrite of_Q_if of_Q_positive of_Q_mul -value_computed !of_QE.
by rewrite !of_QE EA -EB -EA -H !of_QE.
Qed.
End OneTable.

(* The mean of finitely many cases, as in the theorem mean. *)
Theorem mean_computed failure (cases : seq (Q * (Q -> Q))) (f : 'I_(size cases) -> R -> R) :
  (forall i : 'I_(size cases), computes (nth (q0, id) cases i).2 (f i)) -> computes (qmean failure cases)
    (fun g => of_Q failure + \sum_(i < size cases) of_Q (nth (q0, id) cases i).1 * f i g).
Proof.
move=> H g; rewrite /qmean of_Q_add of_Q_sum (big_nth (q0, id)) big_mkord; congr (_ + _).
by apply: eq_bigr => i _; rewrite H of_Q_mul.
Qed.
Lemma equal_computed : computes (fun g => qpos (qsub q1 g)) (@equal R).
Proof. by move=> g; rewrite !of_QE. Qed.
Theorem reflected_computed f h : computes h f -> computes (qreflected h) (reflected f).
Proof. by move=> H g; rewrite /qreflected /reflected !of_QE -H !of_QE. Qed.
Theorem sampled_computed q theta h : computes h theta -> computes (qsampled q h) (sampled (of_Q q) theta).
Proof.
move=> H g; rewrite /qsampled /sampled of_Q_if of_Q_le !of_QE -H !of_QE leNgt; by case: (_ < _).
Qed.
Theorem above_one_computed q theta h : computes h theta -> computes (qabove_one q h) (above_one (of_Q q) theta).
Proof. by move=> H g; rewrite /qabove_one /above_one !of_QE -H !of_QE. Qed.

Theorem third_computed f h back hf hh hb c t : computes hf f -> computes hh h -> computes hb back ->
  computes (qthird hf hh hb c t) (fun g => third_value f h back g (of_Q c) (of_Q t)).
Proof.
move=> Hf Hh Hb g; rewrite /qthird /third_value of_Q_if of_Q_le of_Q0; case: ifP => _.
  by rewrite !of_QE -Hf -Hh !of_QE.
by rewrite !of_QE -Hf -Hb !of_QE sub0r.
Qed.
(* What chosen checks is what the theorem three_laws asks of a choice. *)
Theorem choice_checked (cases : seq (Q * Q * Q)) (f h back : 'I_(size cases) -> R -> R) g :
  let at_ (i : 'I_(size cases)) := nth (q0, q0, q0) cases i in chosen cases ->
  choice (fun i => of_Q (at_ i).1.1) f h back g
    (\sum_i of_Q (at_ i).1.1 * third_value (f i) (h i) (back i) g (of_Q (at_ i).1.2) (of_Q (at_ i).2)).
Proof.
move=> at_ /andP [none /(all_nthP (q0, q0, q0)) shares].
have one (x : R) : \sum_(j : unit) 1 * x = x by rewrite big_const card_unit /= addr0 mul1r.
exists [finType of unit], (fun _ _ => 1), (fun i _ => of_Q (at_ i).1.2), (fun i _ => of_Q (at_ i).2); split.
- by move=> i; split=> [_|]; rewrite ?ler01 // big_const card_unit /= addr0.
- by move=> i _; have /andP [] := shares i (ltn_ord i); rewrite !of_Q_le of_Q0 of_Q1.
- move: none; rewrite of_Q_le of_Q0 of_Q_sum (big_nth (q0, q0, q0)) big_mkord.
  by congr (_ <= _); apply: eq_bigr => i _; rewrite one of_Q_mul.
- by apply: eq_bigr => i _; rewrite one.
Qed.

(* What qpairs, parts_of and good check is what the rule contract asks of p, q, u and v. *)
Theorem parts_checked L N parts : table_of L N -> good L -> parts_of (qpairs L) parts ->
  [/\ forall r, 0 <= r -> value N r <= \sum_i pos (p_of (qpairs L) (parts := parts) i - r * q_of (qpairs L) i),
    \sum_i q_of (qpairs L) (parts := parts) i <= 1,
    forall i : 'I_(size parts), 0 <= u_of i /\ u_of i <= p_of (qpairs L) i &
    forall i : 'I_(size parts), 0 <= v_of i /\ v_of i <= q_of (qpairs L) i].
Proof.
move=> NL /and4P [_ rest0 total2 _] /andP [/eqP sizes /(all_nthP (q0, q0, (q0, q0))) each].
have [_ rN _ _] := NL.
have sum_pairs (F : R -> R -> R) : \sum_i F (p_of (qpairs L) (parts := parts) i) (q_of (qpairs L) i) =
    \sum_(x <- L) F (of_Q x.1) (of_Q x.2) + F (of_Q (qrest L)) 0.
  have -> : \sum_i F (p_of (qpairs L) (parts := parts) i) (q_of (qpairs L) i) =
      \sum_(x <- qpairs L) F (of_Q x.1) (of_Q x.2).
    by rewrite (big_nth (q0, q0)) big_mkord sizes.
  by rewrite /qpairs -cats1 big_cat big_seq1 /= of_Q0.
have within (i : 'I_(size parts)) : [/\ 0 <= u_of i, u_of i <= p_of (qpairs L) i, 0 <= v_of i &
    v_of i <= q_of (qpairs L) i].
  have iz : (i < size (zip (qpairs L) parts))%N by rewrite size_zip sizes minnn.
  by have := each i iz; rewrite nth_zip //= !of_Q_le of_Q0 => /and4P.
split.
- move=> r r0; rewrite (sum_pairs (fun p q => pos (p - r * q))) mulr0 subr0 pos_id; last first.
    by rewrite -of_Q0 -of_Q_le.
  by rewrite /value rN (sum_table NL (fun a b => pos (a - r * b))) addrC.
- rewrite (sum_pairs (fun p q => q)) addr0 -(of_Q_sum L snd).
  by move: total2 => /Qeq_bool_eq /of_Q_eq ->; rewrite of_Q1.
- by move=> i; have [] := within i.
- by move=> i; have [] := within i.
Qed.
End Computed.
