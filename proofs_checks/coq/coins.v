(* The costs of hidden coins: a sample that only run 1 has (Poisson batches), and a replaced sample.

   Python: symbolic/kernel/lemmas.py, poisson_coin and swap_coin; symbolic/kernel/profiles.py, PoissonStep and
   SwapStep.  Pages: docs/proofs/poisson.md, "Two directions"; docs/proofs/without_replacement.md.
   theta is any function that bounds the divergences of the laws with the sample: in the rules it is Gaussian. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
From lastiterate Require Import laws tables rules.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Coins.
Variable R : archiFieldType.
Implicit Types (X : space R) (theta : R -> R) (q g : R).

(* E_g(P || Q) <= f(g) for all g >= 0, for the two laws on one space: A = B. *)
Definition at_most X (P Q : law X) (f : R -> R) := divergence_le (fun x y => x = y) P Q f.
Lemma at_mostP X (P Q : law X) f : at_most P Q f <->
  (forall g, 0 <= g -> forall A, measurable_set A -> probability P A - g * probability Q A <= f g).
Proof.
split=> H g g0.
  by move=> A FA; apply: (H g g0 A A) => // x y ->.
move=> A B FA FB AB; apply: le_trans (H g g0 A FA); rewrite ler_add2l ler_opp2 ler_wpmul2l //.
by apply: expect_le => // x; rewrite /indicator ler_nat; case: (A x) (AB x x erefl) => // ->.
Qed.
(* N0 and N1 are the laws of the outcome without and with the sample, and M is their mixture by a coin of
   probability q. *)
Section Coin.
Variables (X : space R) (q : R).
Hypothesis q0 : 0 < q.
Hypothesis q1 : q <= 1.
Variables (N0 N1 M : law X).
Hypothesis mixed : forall A, measurable_set A ->
  probability M A = (1 - q) * probability N0 A + q * probability N1 A.
Variable theta : R -> R.

(* poisson_coin, order FIRST, with the sample in the first law; profiles.py, PoissonStep. *)
Definition sampled g := if 1 - q < g then q * theta ((g - 1 + q) / q) else 1 - g.
Theorem poisson_coin_first : at_most N1 N0 theta -> at_most M N0 sampled.
Proof.
move=> H; apply/at_mostP => g g0 A FA; rewrite mixed // /sampled; case: ltP => c.
  have t0 : 0 <= (g - 1 + q) / q.
    have -> : g - 1 + q = g - (1 - q) by ring.
    by rewrite divr_ge0 ?subr_ge0 ?ltW.
  have := proj1 (at_mostP _ _ _) H _ t0 A FA; rewrite -(ler_pmul2l q0); apply: le_trans.
  have -> : q * (probability N1 A - (g - 1 + q) / q * probability N0 A) = q * probability N1 A - (q / q) * ((g -
    1 + q) * probability N0 A) by ring.
  by rewrite divff ?gt_eqF // le_eqVlt; apply/orP; left; apply/eqP; ring.
have a0 := probability_ge0 N0 FA; have a1 := probability_le1 N0 FA; have b1 := probability_le1 N1 FA.
apply: (@le_trans _ _ ((1 - q - g) * 1 + q * 1)); last by rewrite !mulr1 addrAC subrK.
have -> : (1 - q) * probability N0 A + q * probability N1 A - g * probability N0 A = (1 - q - g) * probability
  N0 A + q * probability N1 A by ring.
by apply: ler_add; apply: ler_wpmul2l => //; rewrite ?subr_ge0 // ltW.
Qed.

(* poisson_coin, order SECOND. *)
Corollary poisson_coin_second : at_most N1 N0 theta -> forall g, 0 < g -> forall A, measurable_set A ->
  probability N0 A - g * probability M A <= reflected sampled g.
Proof.
move=> H g g0 A FA; have r0 : 0 <= 1 / g by rewrite divr_ge0 ?ler01 ?ltW.
by apply: (reflect g0 (poisson_coin_first H r0) FA FA) => x y ->.
Qed.

(* swap_coin: the sample of run 1 gives N1, that of run 2 gives N1'; profiles.py, SwapStep, for g >= 1.  Of the three
   pairs of laws only (N1, N0) and (N1, N1') are used. *)
Variables (N1' M' : law X).
Hypothesis mixed' : forall A, measurable_set A ->
  probability M' A = (1 - q) * probability N0 A + q * probability N1' A.
Definition above_one g := q * theta (1 + (g - 1) / q).
Theorem swap_coin_above g : at_most N1 N0 theta -> at_most N1 N1' theta -> 1 <= g ->
  forall A, measurable_set A -> probability M A - g * probability M' A <= above_one g.
Proof.
move=> H0 H1 g1 A FA; rewrite mixed // mixed' // /above_one; set t := 1 + (g - 1) / q.
have qt : q * t = q + (g - 1) by rewrite /t mulrDr mulr1 mulrCA divff ?mulr1 // gt_eqF.
have t1 : 1 <= t by rewrite ler_addl divr_ge0 ?subr_ge0 // ltW.
have t0 : 0 <= t by apply: le_trans ler01 t1.
have P0 : 0 <= q * t - q * g.
  rewrite qt; have -> : q + (g - 1) - q * g = (1 - q) * (g - 1) by ring.
  by rewrite mulr_ge0 ?subr_ge0.
have h0 := proj1 (at_mostP _ _ _) H0 t t0 A FA; have h1 := proj1 (at_mostP _ _ _) H1 t t0 A FA.

have tp : 0 < t by apply: lt_le_trans ltr01 t1.
pose w := g / t.
have wt : w * t = g by rewrite divfK // gt_eqF.
have w1 : w <= 1.
  rewrite ler_pdivr_mulr // mul1r -(ler_pmul2l q0) -subr_ge0; exact: P0.
have w0 : 0 <= w by rewrite divr_ge0 // (le_trans ler01).
have E : (1 - q) * probability N0 A + q * probability N1 A - g * ((1 - q) * probability N0 A + q * probability
  N1' A) =
  q * ((1 - w) * (probability N1 A - t * probability N0 A) + w * (probability N1 A - t * probability N1' A)).
  have -> : q * ((1 - w) * (probability N1 A - t * probability N0 A) + w * (probability N1 A - t * probability
    N1' A)) =
    q * probability N1 A - (q * t - q * (w * t)) * probability N0 A - q * (w * t) * probability N1' A by ring.
  by rewrite wt qt; ring.
rewrite E ler_pmul2l //; apply: (@le_trans _ _ ((1 - w) * theta t + w * theta t)).
  by apply: ler_add; apply: ler_wpmul2l; rewrite ?subr_ge0.
by rewrite -mulrDl subrK mul1r.
Qed.
End Coin.

(* SwapStep for g < 1: the reflection of the same with the runs exchanged. *)
Theorem swap_coin_below X q (N0 N1 N1' M M' : law X) theta g : 0 < q -> q <= 1 ->
  (forall A, measurable_set A -> probability M A = (1 - q) * probability N0 A + q * probability N1 A) ->
  (forall A, measurable_set A -> probability M' A = (1 - q) * probability N0 A + q * probability N1' A) ->
  at_most N1' N0 theta -> at_most N1' N1 theta -> 0 < g -> g <= 1 ->
  forall A, measurable_set A -> probability M A - g * probability M' A <= reflected (above_one q theta) g.
Proof.
move=> q0 q1 mixed mixed' H0 H1 g0 g1 A FA.
have h1 : 1 <= 1 / g by rewrite ler_pdivl_mulr ?mul1r.
have := swap_coin_above q0 q1 mixed' mixed H0 H1 h1 (measurable_complement FA).
rewrite !probability_complement // => {}H.
have -> : probability M A - g * probability M' A =
    1 - g + g * ((1 - probability M' A) - 1 / g * (1 - probability M A)).
  have -> : g * (1 - probability M' A - 1 / g * (1 - probability M A)) =
    g * (1 - probability M' A) - (g / g) * (1 - probability M A) by ring.
  by rewrite divff ?gt_eqF //; ring.
by rewrite /reflected ler_add2l ler_pmul2l.
Qed.

(* A lower rate costs no more (covers of two steps of different rates; poisson.md, Lemma): with w = q' / q the laws of
   the lower rate are mixtures of the laws of the higher rate with the law N without the sample. *)
Theorem lower_rate X (N P Q P' Q' : law X) w f : 0 <= w -> w <= 1 ->
  (forall A, measurable_set A -> probability P' A = (1 - w) * probability N A + w * probability P A) ->
  (forall A, measurable_set A -> probability Q' A = (1 - w) * probability N A + w * probability Q A) ->
  at_most P Q f -> at_most P' Q' f.
Proof.
move=> w0 w1 mixedP mixedQ H; apply/at_mostP => g g0 A FA; rewrite mixedP // mixedQ //.
have w10 : 0 <= 1 - w by rewrite subr_ge0.
have -> : (1 - w) * probability N A + w * probability P A - g * ((1 - w) * probability N A + w * probability Q A) =
    (1 - w) * (probability N A - g * probability N A) + w * (probability P A - g * probability Q A) by ring.
have same : probability N A - g * probability N A <= f g.
  by apply: le_trans (probability_gap g0 FA FA (lexx _)) (equal_least H g0).
have mixed : probability P A - g * probability Q A <= f g by apply: (proj1 (at_mostP _ _ _) H).
have -> : f g = (1 - w) * f g + w * f g by ring.
by apply: ler_add; apply: ler_wpmul2l.
Qed.
End Coins.
