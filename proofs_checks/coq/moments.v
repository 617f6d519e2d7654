(* Renyi moments of whole order, and the conversion to delta.

   Python: symbolic/kernel/renyi.py (M is multiplicative under composition; here for whole orders and finitely many
   atoms).  Page: docs/proofs/privacy_loss.md. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
From lastiterate Require Import laws tables rules composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Moments.
Variable R : archiFieldType.

(* The sum of y^n m over the atoms, with y = p / q and m = q: exp((n - 1) D_n). *)
Definition moment n (f : atoms R) := \sum_(x <- pairs f) (x.1 / x.2) ^+ n * x.2.
(* The moments of a composition multiply. *)
Theorem moment_compose n f h : moment n (product f h) = moment n f * moment n h.
Proof.
rewrite /moment sum_product /= mulr_suml; apply: eq_bigr => x _; rewrite mulr_sumr; apply: eq_bigr => y _.
by rewrite invfM [x.1 * y.1 * _]mulrACA exprMn mulrACA.
Qed.
Lemma moment_neutral n : moment n (neutral R) = 1.
Proof. by rewrite /moment /= big_cons big_nil addr0 invr1 !mulr1 expr1n. Qed.

Lemma bernoulli n (t : R) : 0 <= t -> 1 + n%:R * (t - 1) <= t ^+ n.
Proof.
move=> t0; elim: n => [|n IH]; first by rewrite mul0r addr0 expr0.
rewrite exprS; apply: (@le_trans _ _ (t * (1 + n%:R * (t - 1)))); last by apply: ler_wpmul2l.
rewrite -subr_ge0; have -> : t * (1 + n%:R * (t - 1)) - (1 + n.+1%:R * (t - 1)) = n%:R * (t - 1) ^+ 2.
  by rewrite -[n.+1]addn1 natrD; ring.
by rewrite mulr_ge0 ?ler0n // sqr_ge0.
Qed.

(* (y - g)_+ is at most a multiple of y^(n+1). *)
Lemma tail n (y g : R) : (0 < n)%N -> 0 <= y -> 0 < g ->
  pos (y - g) * (n.+1%:R ^+ n.+1 * g ^+ n) <= n%:R ^+ n * y ^+ n.+1.
Proof.
move=> n0 y0 g0; have a0 : 0 < n.+1%:R :> R by rewrite ltr0n.
have nR : 0 < n%:R :> R by rewrite ltr0n.
case: (leP (y - g) 0) => s.
  by rewrite pos_0 // mul0r mulr_ge0 // exprn_ge0 // ler0n.
rewrite pos_id ?(ltW s) //; pose t := n%:R * y / (n.+1%:R * g).
have ag : 0 < n.+1%:R * g by rewrite mulr_gt0.
have t0 : 0 <= t by rewrite divr_ge0 ?mulr_ge0 ?ler0n // ltW.
have B := bernoulli n.+1 t0.
have yt : n%:R * y = t * (n.+1%:R * g) by rewrite /t divfK // gt_eqF.
have E : n%:R * (n%:R ^+ n * y ^+ n.+1) = (t * (n.+1%:R * g)) ^+ n.+1.
  by rewrite -yt exprMn mulrA -exprS.
rewrite -(ler_pmul2l nR) E exprMn.
have E2 : n%:R * ((y - g) * (n.+1%:R ^+ n.+1 * g ^+ n)) = (1 + n.+1%:R * (t - 1)) * (n.+1%:R * g) ^+ n.+1.
  rewrite exprMn [g ^+ n.+1]exprS.
  have -> : (1 + n.+1%:R * (t - 1)) * (n.+1%:R ^+ n.+1 * (g * g ^+ n)) =
    (t * (n.+1%:R * g) - (n.+1%:R - 1) * g) * (n.+1%:R ^+ n.+1 * g ^+ n) by ring.
  rewrite -yt.
  have -> : n.+1%:R - 1 = n%:R :> R by rewrite -addn1 natrD addrK.
  ring.
by rewrite E2; apply: ler_wpmul2r => //; rewrite exprn_ge0 // ltW.
Qed.
(* delta <= M_a g^(1 - a) (a - 1)^(a - 1) / a^a for a = n + 1 >= 2, if run 1 has no mass where run 2 has none. *)
Theorem moment_to_delta n f g : (0 < n)%N -> sound f -> beyond f = 0 -> 0 < g ->
  atoms_value f g * (n.+1%:R ^+ n.+1 * g ^+ n) <= n%:R ^+ n * moment n.+1 f.
Proof.
move=> n0 [_ pf _ _] c0 g0; rewrite /atoms_value c0 add0r /moment mulr_suml mulr_sumr big_seq [X in _ <=
  X]big_seq.
apply: ler_sum => x /pf [x1 x2].
have -> : pos (x.1 - g * x.2) = x.2 * pos (x.1 / x.2 - g).
  rewrite pos_scale ?(ltW x2) //; congr pos; rewrite mulrBr mulrCA divff ?mulr1 ?gt_eqF //.
  by rewrite [x.2 * g]mulrC.
rewrite -mulrA [X in _ <= X]mulrA [X in _ <= X]mulrC ler_pmul2l //.
by apply: tail => //; rewrite divr_ge0 // ltW.
Qed.
End Moments.
