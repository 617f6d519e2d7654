(* Theorem 3.1 of Chien & Li 2025 in Coq's real numbers: every alpha > 1 is an order of renyi.v, and the cost
   exp(alpha (alpha - 1) r / (2 sigma^2)) of Gaussian noise has the properties that theorem_3_1 asks.

   Page: docs/proofs/trusted.md.  That Gaussian noise has this cost is not proved: it is a hypothesis of the theorem. *)
From Coq Require Import Reals Lra.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import Rstruct.
From lastiterate Require Import laws rules renyi full_batch.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Delimit Scope R_scope with coqR.
Local Open Scope R_scope.
Notation RA := R_realArchiFieldType.

(* x^(alpha / (alpha - 1)) for x >= 0. *)
Definition real_power (alpha x : R) := if Rlt_dec 0 x then exp (alpha / (alpha - 1) * ln x) else 0.
(* The cost at the order alpha of a shift of the squared length r. *)
Definition gauss (alpha sigma r : R) := exp (alpha * (alpha - 1) * r / (2 * (sigma * sigma))).

Section Powers.
Variable alpha : R.
Hypothesis alpha1 : 1 < alpha.
Lemma real_power_ge0 x : 0 <= real_power alpha x.
Proof. unfold real_power; destruct (Rlt_dec 0 x); simpl; [left; apply exp_pos | lra]. Qed.
Lemma real_power0 : real_power alpha 0 = 0.
Proof. unfold real_power; destruct (Rlt_dec 0 0); simpl; lra. Qed.
Lemma real_power_mul x y : 0 <= x -> 0 <= y -> real_power alpha (x * y) = real_power alpha x * real_power alpha y.
Proof.
intros x0 y0; unfold real_power.
destruct (Rlt_dec 0 x) as [xp|xn], (Rlt_dec 0 y) as [yp|yn], (Rlt_dec 0 (x * y)) as [xyp|xyn]; simpl;
  try (replace x with 0 in * by lra; lra); try (replace y with 0 in * by lra; lra).
2: contradict xyn; apply Rmult_lt_0_compat; assumption.
rewrite (ln_mult x y xp yp) -exp_plus; f_equal; ring.
Qed.
(* exp(v) <= exp(c v) / c + (1 - 1 / c) for c = alpha / (alpha - 1) > 1. *)
Lemma real_power_young x : 0 <= x -> alpha * x - (alpha - 1) * real_power alpha x <= 1.
Proof.
intros x0; unfold real_power; destruct (Rlt_dec 0 x) as [xp|xn]; simpl; [|replace x with 0 by lra; lra].
set (c := alpha / (alpha - 1)); pose proof (exp_ln x xp) as xE; set (v := ln x) in *.
assert (H1 := exp_ineq1_le (c * v - v)); assert (H2 := exp_ineq1_le (- v)).
assert (E1 : exp (c * v) = exp v * exp (c * v - v)) by (rewrite -exp_plus; f_equal; ring).
assert (E2 : exp v * exp (- v) = 1) by (rewrite -exp_plus Rplus_opp_r; apply exp_0).
rewrite E1 xE; rewrite xE in E2.
assert (G1 := Rmult_le_compat_l x _ _ x0 H1); assert (G2 := Rmult_le_compat_l x _ _ x0 H2); rewrite E2 in G2.
assert (cE : (alpha - 1) * (x * (1 + (c * v - v))) = (alpha - 1) * x + x * v) by (unfold c; field; lra).
assert (G3 := Rmult_le_compat_l (alpha - 1) _ _ (ltac:(lra) : 0 <= alpha - 1) G1); rewrite cE in G3; lra.
Qed.
Lemma gauss_add sigma x y : gauss alpha sigma (x + y) = gauss alpha sigma x * gauss alpha sigma y.
Proof. unfold gauss; rewrite -exp_plus; f_equal; unfold Rdiv; ring. Qed.
Lemma gauss_le sigma x y : 0 < sigma -> x <= y -> gauss alpha sigma x <= gauss alpha sigma y.
Proof.
intros s0 [lt|<-]; [left; apply exp_increasing | right; reflexivity].
assert (0 < 2 * (sigma * sigma)) by (assert (H := Rmult_lt_0_compat _ _ s0 s0); lra).
apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat; assumption | apply Rmult_lt_compat_l; [|assumption]].
apply Rmult_lt_0_compat; lra.
Qed.
End Powers.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Every real alpha > 1 is an order. *)
Definition real_order (a : R) : (1 < a)%coqR -> order RA.
Proof.
move=> a1; apply: (@Order RA a (real_power a)).
- exact/RltP.
- exact: real_power0.
- by move=> x _; apply/RleP; apply: real_power_ge0.
- by move=> x y /RleP x0 /RleP y0; apply: real_power_mul.
- by move=> x /RleP x0; apply/RleP; apply: real_power_young.
Defined.
Theorem gaussian_real (a sigma : R) (a1 : (1 < a)%coqR) (E : space RA) (vectors : GRing.Lmodule.class_of RA E) dot
  (measurable_shift : forall u h, measurable h -> measurable (fun b : E => h (@GRing.add (full_batch.E_zmodType vectors) u b)))
  (xi : law E) : (0 < sigma)%coqR ->
  (forall h, renyi_le (real_order a1) (fun u v => u = v) xi (image xi (shift measurable_shift h))
    (gauss a sigma (dot h h))) ->
  gaussian dot measurable_shift xi (real_order a1) (gauss a sigma).
Proof.
move=> s0 cost; split=> // [x y|x y /RleP le]; first exact: gauss_add.
by apply/RleP; apply: gauss_le.
Qed.
