(* A step whose noise hides any part of the distance, however small, costs nothing from equal points. *)
From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From lastiterate.reals Require Import gaussian.
Open Scope R_scope.

Lemma I_le x : 0 <= x -> I x <= x.
Proof.
intros x0; unfold I; apply Rle_trans with (RInt (fun _ => 1) 0 x).
  apply RInt_le; [exact x0 | apply bell_integrable | apply ex_RInt_const |].
  intros t _; unfold bell; rewrite <- exp_0.
  assert (H : 0 <= t * t) by apply Rle_0_sqr.
  destruct (Rle_lt_or_eq_dec _ _ H) as [h | h]; [left; apply exp_increasing; lra | right; f_equal; lra].
rewrite RInt_const; unfold scal; simpl; unfold mult; simpl; lra.
Qed.
Theorem theta_one mu : 0 < mu -> theta mu 1 <= mu.
Proof.
intros m0; unfold theta; rewrite ln_1; replace (mu / 2 - 0 / mu) with (mu / 2) by (field; lra).
replace (- mu / 2 - 0 / mu) with (- (mu / 2)) by (field; lra); rewrite I_opp.
assert (H : I (mu / 2) <= mu / 2) by (apply I_le; lra).
assert (root : 1 <= sqrt (2 * PI)).
  rewrite <- sqrt_1; apply sqrt_le_1_alt; assert (P := PI2_3_2); lra.
apply (Rmult_le_reg_r (sqrt (2 * PI))); [lra|].
replace (((1 - 1) / 2 + (I (mu / 2) - 1 * - I (mu / 2)) / sqrt (2 * PI)) * sqrt (2 * PI)) with (2 * I (mu / 2)) by (field; lra).
apply Rle_trans with (mu * 1); [lra | apply Rmult_le_compat_l; lra].
Qed.
