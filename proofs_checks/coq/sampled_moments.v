(* Moments of steps whose batch a coin decides, at integer orders: the rule MIXED.

   Python: symbolic/kernel/renyi.py, Sampled.  Page: docs/proofs/privacy_loss.md.
   The profile of the step is at most that of a revealed coin, whose moment is 1 - q + q M for the moment M of the step
   with the sample in every batch.  The orders of the two runs are those of coins.v. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
From lastiterate Require Import laws tables rules composition coins moments monotone.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Sampled.
Variable R : archiFieldType.
Implicit Types (f k : atoms R) (g q : R).

(* With probability 1 - q nothing differs, and the coin is known. *)
Definition revealed q f := Atoms (q * beyond f) ((1 - q, 1 - q) :: [seq (q * x.1, q * x.2) | x <- pairs f]).
Lemma revealed_value q f g : 0 <= q -> q <= 1 ->
  atoms_value (revealed q f) g = (1 - q) * equal g + q * atoms_value f g.
Proof.
move=> q0 q1; have E : \sum_(x <- pairs f) pos (q * x.1 - g * (q * x.2)) = q * \sum_(x <- pairs f) pos (x.1 - g * x.2).
  by rewrite mulr_sumr; apply: eq_bigr => x _; rewrite pos_scale //; congr pos; ring.
rewrite /atoms_value /= big_cons big_map E /equal pos_scale ?subr_ge0 // mulrDr addrCA /=.
by congr (pos _ + _); ring.
Qed.
Lemma revealed_sound q f : 0 < q -> q < 1 -> sound f -> sound (revealed q f).
Proof.
move=> q0 q1 [c0 ps l1 u1]; split=> /=.
- by rewrite mulr_ge0 // ltW.
- move=> x; rewrite inE => /orP [/eqP -> /=|/mapP [y /ps [y1 y2] ->] /=]; first by rewrite subr_ge0 subr_gt0 ltW.
  by rewrite mulr_ge0 ?mulr_gt0 // ltW.
- by rewrite big_cons big_map /= -mulr_sumr l1 mulr1 subrK.
- rewrite big_cons big_map /= -mulr_sumr addrCA -mulrDr u1 mulr1 subrK //.
Qed.
Lemma moment_revealed n q f : 0 < q -> q < 1 -> moment n (revealed q f) = 1 - q + q * moment n f.
Proof.
move=> q0 q1; have [qn pn] : q != 0 /\ 1 - q != 0 by rewrite !gt_eqF ?subr_gt0.
rewrite /moment /= big_cons big_map /= divff // expr1n mul1r mulr_sumr; congr (_ + _).
by apply: eq_bigr => x _; rewrite invfM [q * x.1 * _]mulrACA divff // mul1r mulrCA.
Qed.

(* A sample that run 1 has with probability q. *)
Theorem sampled_revealed q f g : 0 < q -> q <= 1 -> sound f -> 0 <= g ->
  sampled q (atoms_value f) g <= (1 - q) * equal g + q * atoms_value f g.
Proof.
move=> q0 q1 [c0 ps l1 u1] g0; have p0 : 0 <= 1 - q by rewrite subr_ge0.
rewrite /sampled; case: ltP => c; last first.
  have le : 1 - g <= atoms_value f g.
    apply: le_trans (equal_below (And4 c0 ps l1 u1) g0); exact: pos_ge.
  have -> : 1 - g = (1 - q) * (1 - g) + q * (1 - g) by ring.
  by apply: ler_add; apply: ler_wpmul2l => //; [exact: pos_ge | exact: ltW].
have E : (1 - q) * equal g = \sum_(x <- pairs f) (1 - q) * (pos (1 - g) * x.2).
  by rewrite -mulr_sumr -mulr_sumr l1 mulr1.
rewrite /atoms_value !mulrDr addrCA ler_add2l !mulr_sumr E -big_split /=.
rewrite big_seq [X in _ <= X]big_seq; apply: ler_sum => x /ps [x1 x2].
rewrite !pos_scale ?(ltW q0) // [pos _ * _]mulrC pos_scale ?(ltW x2) // pos_scale //.
have -> : q * (x.1 - (g - 1 + q) / q * x.2) = (1 - q) * (x.2 * (1 - g)) + q * (x.1 - g * x.2).
  have -> : q * (x.1 - (g - 1 + q) / q * x.2) = q * x.1 - q / q * ((g - 1 + q) * x.2) by ring.
  by rewrite divff ?gt_eqF //; ring.
rewrite {1}/pos le_maxl; apply/andP; split; first by apply: ler_add; apply: pos_ge.
by rewrite addr_ge0 // pos_ge0.
Qed.
(* A sample that is replaced with probability q, for g >= 1; below 1 both sides are reflected. *)
Theorem above_one_revealed q f g : 0 < q -> q <= 1 -> sound f -> 1 <= g ->
  above_one q (atoms_value f) g <= (1 - q) * equal g + q * atoms_value f g.
Proof.
move=> q0 q1 sf g1; have g0 : 0 <= g by apply: le_trans ler01 g1.
apply: (@le_trans _ _ (q * atoms_value f g)); last first.
  by rewrite ler_addr mulr_ge0 ?subr_ge0 // /equal pos_ge0.
rewrite /above_one ler_pmul2l //.
suff le : g <= 1 + (g - 1) / q by case: (table_falls sf g0 le).
by rewrite -ler_subl_addl ler_pdivl_mulr // ler_pimulr ?subr_ge0.
Qed.
(* MIXED: the moments of a profile that is at most that of the revealed coin. *)
Theorem moment_mixed n q f k : 0 < q -> q < 1 -> sound f -> sound k -> beyond f = 0 -> beyond k = 0 ->
  (forall g, 0 <= g -> atoms_value k g <= (1 - q) * equal g + q * atoms_value f g) ->
  moment n k <= 1 - q + q * moment n f.
Proof.
move=> q0 q1 sf sk f0 k0 le; rewrite -moment_revealed //.
apply: moment_le => //; first exact: revealed_sound; first by rewrite /= f0 mulr0.
by move=> g g0; rewrite (revealed_value f g (ltW q0) (ltW q1)); apply: le.
Qed.
End Sampled.
