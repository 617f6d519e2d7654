(* The Gaussian cost theta in Coq's real numbers.

   Python: symbolic/kernel/profiles.py, Gauss; symbolic/formulas/divergences.py, hockey_stick.
   Page: docs/proofs/enlarged_sets.md.  That theta bounds the divergence of two Gaussian laws is not proved here: it is
   a hypothesis where it is used. *)
From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(* The standard normal distribution function is Phi(x) = 1/2 + I(x) / sqrt(2 pi). *)
Definition bell (t : R) := exp (- (t * t) / 2).
Definition I (x : R) := RInt bell 0 x.

(* theta_mu(g) = Phi(mu/2 - ln g / mu) - g Phi(-mu/2 - ln g / mu), for g > 0 and mu > 0. *)
Definition theta (mu g : R) :=
  (1 - g) / 2 + (I (mu / 2 - ln g / mu) - g * I (- mu / 2 - ln g / mu)) / sqrt (2 * PI).

Lemma theta_exp mu s : 0 < mu -> theta mu (exp (mu * s)) =
  (1 - exp (mu * s)) / 2 + (I (mu / 2 - s) - exp (mu * s) * I (- mu / 2 - s)) / sqrt (2 * PI).
Proof. intros H; unfold theta; rewrite ln_exp; replace (mu * s / mu) with s by (field; lra); reflexivity. Qed.
Lemma bell_integrable a b : ex_RInt bell a b.
Proof.
apply (ex_RInt_continuous (V := R_CompleteNormedModule)); intros z _.
apply (ex_derive_continuous (V := R_NormedModule)); unfold bell; auto_derive; trivial.
Qed.
(* An enclosure of I at b, from one at a and one of the integral from a to b. *)
Lemma grow a b lo hi dlo dhi lo' hi' : lo <= I a <= hi -> dlo <= RInt (fun t => exp (- (t * t) / 2)) a b <= dhi ->
  lo' <= lo + dlo -> hi + dhi <= hi' -> lo' <= I b <= hi'.
Proof.
intros H1 H2 H3 H4; unfold I.
rewrite <- (RInt_Chasles bell 0 a b (bell_integrable _ _) (bell_integrable _ _)).
unfold I in H1; change plus with Rplus.
change (RInt (fun t => exp (- (t * t) / 2)) a b) with (RInt bell a b) in H2; lra.
Qed.
Lemma zero : 0 <= I 0 <= 0.
Proof. unfold I; rewrite RInt_point; split; apply Rle_refl. Qed.

(* I is odd, so theta is its own reflection: it is the same in both orders. *)
Lemma I_opp x : I (- x) = - I x.
Proof.
assert (H : is_RInt bell (- 0) (- - x) (I x)).
  rewrite Ropp_0, Ropp_involutive; apply (RInt_correct bell), bell_integrable.
apply is_RInt_comp_opp, is_RInt_opp in H; unfold I at 1; apply is_RInt_unique.
apply (is_RInt_ext (fun y => opp (opp (bell (- y))))); [|exact H].
intros y _; unfold opp; simpl; unfold bell; rewrite Ropp_involutive; do 3 f_equal; ring.
Qed.
Theorem theta_reflected mu g : 0 < g -> theta mu g = 1 - g + g * theta mu (1 / g).
Proof.
intros g0; unfold theta; replace (1 / g) with (/ g) by (field; lra); rewrite (ln_Rinv g g0).
replace (mu / 2 - - ln g / mu) with (- (- mu / 2 - ln g / mu)) by (unfold Rdiv; ring).
replace (- mu / 2 - - ln g / mu) with (- (mu / 2 - ln g / mu)) by (unfold Rdiv; ring).
assert (root : sqrt (2 * PI) <> 0) by (apply Rgt_not_eq, sqrt_lt_R0; assert (H := PI_RGT_0); lra).
rewrite !I_opp; set (u := I _); set (v := I _); field; split; [lra | exact root].
Qed.

(* theta increases with mu: its derivative in mu is bell / sqrt (2 pi) at mu / 2 - ln g / mu. *)
Lemma I_derive x : is_derive I x (bell x).
Proof.
apply (is_derive_RInt bell I 0 x).
  exists (mkposreal 1 Rlt_0_1); intros y _; apply (RInt_correct bell), bell_integrable.
apply (ex_derive_continuous (V := R_NormedModule)); unfold bell; auto_derive; trivial.
Qed.
Lemma bell_shift mu l : 0 < mu -> bell (mu / 2 - l / mu) = exp l * bell (- mu / 2 - l / mu).
Proof. intros m0; unfold bell; rewrite <- exp_plus; f_equal; field; lra. Qed.
Theorem theta_le mu nu g : 0 < mu -> mu <= nu -> 0 < g -> theta mu g <= theta nu g.
Proof.
intros m0 mn g0; assert (root : 0 < sqrt (2 * PI)) by (apply sqrt_lt_R0; assert (H := PI_RGT_0); lra).
unfold theta; apply Rplus_le_compat_l; apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
set (l := ln g); set (f := fun m => I (m / 2 - l / m) - g * I (- m / 2 - l / m)); change (f mu <= f nu).
destruct mn as [mn | mn]; [left | right; now rewrite mn].
apply (incr_function_le f (Finite mu) (Finite nu) (fun m => bell (m / 2 - l / m))); simpl; try lra; [|intros m _ _; apply exp_pos].
intros m h1 h2; assert (m1 : 0 < m) by lra; unfold f.
  evar_last.
    apply @is_derive_minus.
      apply (is_derive_comp I (fun m => m / 2 - l / m)); [apply I_derive|].
      instantiate (1 := 1 / 2 + l / (m * m)); auto_derive; [lra | field; lra].
    apply @is_derive_scal.
    apply (is_derive_comp I (fun m => - m / 2 - l / m)); [apply I_derive|].
    instantiate (1 := - (1 / 2) + l / (m * m)); auto_derive; [lra | field; lra].
  unfold minus, plus, opp, scal; simpl; unfold mult; simpl.
  assert (E := bell_shift m l m1); unfold l in E at 2; rewrite (exp_ln g g0) in E; rewrite E; field; lra.
Qed.
