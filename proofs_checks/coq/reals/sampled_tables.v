(* Tables of whole numbers for runs with random batches, and the (epsilon, delta) of the last iterate.

   Python: proofs_checks/certificates/coq.py writes files whose last theorem applies those below to the numbers of
   one certificate.  Pages: docs/proofs/contraction.md, "Random batches"; docs/proofs/poisson.md;
   docs/proofs/without_replacement.md. *)
From Coq Require Import ZArith Reals Lra Lia List.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From mathcomp Require Import ssrZ Rstruct.
From lastiterate Require Import laws tables chain contract rules step composition coins induction checker batches.
From lastiterate.reals Require Import gaussian table_costs runs sampled_runs.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Delimit Scope R_scope with coqR.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* Squares in whole numbers, for the root in mu_of. *)
Lemma mu_of_bound (noise mu : Z * Z) D t : (0 < D)%ZZ -> above0 noise -> above0 mu -> (0 <= t)%ZZ ->
  (t * (mu.2 * noise.2) * (mu.2 * noise.2) <= (mu.1 * noise.1 * D) * (mu.1 * noise.1 * D))%ZZ ->
  (mu_of (ratio noise) D t <= ratio mu)%coqR.
Proof.
move=> D0 /andP [/Z.ltb_lt /IZR_lt nz1 /Z.ltb_lt /IZR_lt nz2] /andP [/Z.ltb_lt /IZR_lt mu1 /Z.ltb_lt /IZR_lt mu2] t0 le.
have DR := IZR_lt _ _ D0; have mp : (0 < ratio mu)%coqR by apply: Rdiv_lt_0_compat.
have np : (0 < ratio noise)%coqR by apply: Rdiv_lt_0_compat.
have nD : (0 < ratio noise * IZR D)%coqR by apply: Rmult_lt_0_compat.
apply: Rsqr_incr_0_var; last by left.
rewrite /Rsqr mu_of_square //.
apply: (Rmult_le_reg_r ((ratio noise * IZR D) * (ratio noise * IZR D))); first exact: Rmult_lt_0_compat.
have -> : (IZR t / (ratio noise * IZR D * (ratio noise * IZR D)) * (ratio noise * IZR D * (ratio noise * IZR D)) = IZR t)%coqR.
  by field; split; apply: Rgt_not_eq.
apply: (Rmult_le_reg_r ((IZR mu.2 * IZR noise.2) * (IZR mu.2 * IZR noise.2))).
  by do 2 (apply: Rmult_lt_0_compat => //); apply: Rmult_lt_0_compat.
move: (IZR_le _ _ le); rewrite !mult_IZR => {}le; rewrite -Rmult_assoc; apply: Rle_trans le _.
by right; rewrite /ratio; field; split; apply: Rgt_not_eq.
Qed.
Lemma moved_ratio (noise mu : Z * Z) m D : (0 < IZR noise.1)%coqR -> (0 < IZR noise.2)%coqR -> (0 < IZR mu.1)%coqR ->
  (0 < IZR mu.2)%coqR -> (0 < IZR D)%coqR -> (IZR (m * mu.2 * noise.2)%ZZ <= IZR (mu.1 * noise.1 * D)%ZZ)%coqR ->
  (IZR m / IZR D / ratio noise <= ratio mu)%coqR.
Proof.
move=> n1 n2 u1 u2 D0; rewrite !mult_IZR => le.
apply: (Rmult_le_reg_r (IZR mu.2 * IZR noise.1 * IZR D)); first by do 2 (apply: Rmult_lt_0_compat => //).
have -> : (IZR m / IZR D / ratio noise * (IZR mu.2 * IZR noise.1 * IZR D) = IZR m * IZR mu.2 * IZR noise.2)%coqR.
  by rewrite /ratio; field; split; [|split]; apply: Rgt_not_eq.
have -> : (ratio mu * (IZR mu.2 * IZR noise.1 * IZR D) = IZR mu.1 * IZR noise.1 * IZR D)%coqR; last by [].
by rewrite /ratio; field; apply: Rgt_not_eq.
Qed.
From mathcomp Require Import ring.

(* ---- The near cost of one step: a table of the hidden coin, from a table of the Gaussian cost. ---- *)
(* The coin has the probability qa / qb.  At the ratio k.1 / k.2, the table `one` is at least q L(1 + (g - 1) / q). *)
Definition coin_up (q : Z * Z) S L one (k : Z * Z) :=
  Z.leb (scaled S L (q.1 * k.2) (k.1 * q.2 - (q.2 - q.1) * k.2))%ZZ (q.2 * scaled S one k.2 k.1)%ZZ.
Definition poisson_node q S L one (k : Z * Z) :=
  Z.leb (k.1 * q.2)%ZZ ((q.2 - q.1) * k.2)%ZZ || coin_up q S L one k.
(* Below 1 the reflection of the same, for a sample that is replaced. *)
Definition swap_node (q : Z * Z) S L one (k : Z * Z) :=
  if Z.leb k.2 k.1 then coin_up q S L one k else
  Z.leb k.1 0 || Z.leb ((k.2 - k.1) * S * q.2 + scaled S L (q.1 * k.1) (k.2 * q.2 - (q.2 - q.1) * k.1))%ZZ
    (q.2 * scaled S one k.2 k.1)%ZZ.
Definition probability_of (q : Z * Z) := [&& Z.ltb 0 q.1 & Z.leb q.1 q.2].
Definition rate_of (q : Z * Z) := real RA q.1 / real RA q.2.

Section Rate.
Variable q : Z * Z.
Hypothesis ok : probability_of q.
Lemma q_pos : (0 < q.1)%ZZ /\ (0 < q.2)%ZZ.
Proof. by move: ok => /andP [/Z.ltb_lt ? /Z.leb_le ?]; lia. Qed.
Lemma rate_gt0 : 0 < rate_of q.
Proof. by have [h1 h2] := q_pos; rewrite /rate_of; apply: divr_gt0; apply: real_gt0. Qed.
Lemma rate_le1 : rate_of q <= 1.
Proof.
have [h1 h2] := q_pos; rewrite /rate_of ler_pdivr_mulr ?mul1r; last exact: real_gt0.
by apply: real_le; move: ok => /andP [_ /Z.leb_le].
Qed.
End Rate.

Section Near.
Variables (q : Z * Z) (S : Z) (L one : seq (Z * Z)).
Hypothesis ok : probability_of q.
Hypothesis S0 : (0 < S)%ZZ.
Hypothesis GL : good_table S L.
Hypothesis G1 : good_table S one.
Lemma atoms_equal g : equal g <= atoms_value (atoms_of RA S one) g.
Proof. by have [M <-] := in_order (atoms_sound RA G1); exact: equal_le. Qed.
(* The ratio at which L is read. *)
Definition coin_ratio (k : Z * Z) := real RA (k.1 * q.2 - (q.2 - q.1) * k.2)%ZZ / real RA (q.1 * k.2)%ZZ.
Lemma coin_ratioE k : (0 < k.2)%ZZ -> rate_of q * coin_ratio k = real RA k.1 / real RA k.2 - 1 + rate_of q.
Proof.
move=> k2; have [h1 h2] := (q_pos ok); rewrite /rate_of /coin_ratio !(checker.realM, checker.realB).
have := (real_gt0 RA h1, real_gt0 RA h2, real_gt0 RA k2); move=> [[a b] c].
by field; rewrite ?(gt_eqF a) ?(gt_eqF b) ?(gt_eqF c).
Qed.
Lemma coin_value k : (0 < k.2)%ZZ ->
  rate_of q * atoms_value (atoms_of RA S L) (coin_ratio k) =
  real RA (scaled S L (q.1 * k.2) (k.1 * q.2 - (q.2 - q.1) * k.2))%ZZ / (real RA q.2 * real RA k.2 * real RA S).
Proof.
move=> k2; have [h1 h2] := (q_pos ok); have qk : (0 < q.1 * k.2)%ZZ by apply: Z.mul_pos_pos.
have := (real_gt0 RA h1, real_gt0 RA h2, real_gt0 RA k2, real_gt0 RA S0); move=> [[[a b] c] s].
have := at_ratio L (k.1 * q.2 - (q.2 - q.1) * k.2)%ZZ S0 qk; rewrite -/(coin_ratio k); set v := atoms_value _ _; set z := real RA (scaled _ _ _ _).
rewrite checker.realM => E; rewrite /rate_of.
have -> : z = real RA q.1 * real RA k.2 * v * real RA S by rewrite E divfK // gt_eqF.
by field; rewrite ?(gt_eqF s) ?(gt_eqF b) ?(gt_eqF c).
Qed.
Lemma one_value k : (0 < k.2)%ZZ -> atoms_value (atoms_of RA S one) (real RA k.1 / real RA k.2) =
  real RA (scaled S one k.2 k.1) / (real RA k.2 * real RA S).
Proof.
move=> k2; have := (real_gt0 RA k2, real_gt0 RA S0); move=> [c s].
have := at_ratio one k.1 S0 k2; set v := atoms_value _ _; set z := real RA (scaled _ _ _ _) => E.
have -> : z = real RA k.2 * v * real RA S by rewrite E divfK // gt_eqF.
by field; rewrite ?(gt_eqF s) ?(gt_eqF c).
Qed.
Lemma coin_up_sound k : (0 < k.2)%ZZ -> coin_up q S L one k ->
  rate_of q * atoms_value (atoms_of RA S L) (coin_ratio k) <= atoms_value (atoms_of RA S one) (real RA k.1 / real RA k.2).
Proof.
move=> k2 /Z.leb_le /(real_le RA); have [h1 h2] := (q_pos ok); rewrite coin_value // one_value // checker.realM.
have := (real_gt0 RA h2, real_gt0 RA k2, real_gt0 RA S0); move=> [[b c] s] le.
have k0 : 0 < (real RA q.2 * real RA k.2 * real RA S)^-1 by rewrite invr_gt0; do 2 (apply: mulr_gt0 => //).
apply: le_trans (ler_wpmul2r (ltW k0) le) _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
by field; rewrite ?(gt_eqF b) ?(gt_eqF c) ?(gt_eqF s).
Qed.
Lemma at_node_of k : (0 < k.2)%ZZ -> real RA k.1 / real RA S / (real RA k.2 / real RA S) = real RA k.1 / real RA k.2.
Proof.
move=> k2; have := (real_gt0 RA k2, real_gt0 RA S0); move=> [c s].
by field; rewrite ?(gt_eqF s) ?(gt_eqF c).
Qed.
Lemma one_positive k : k \in one -> (0 <= k.1)%ZZ /\ (0 < k.2)%ZZ.
Proof.
move: G1; rewrite /good_table => /andP [/andP [/andP [_ /allP H] _] _] /H /andP [h1 h2].
by split; [apply/Z.leb_le | apply/Z.ltb_lt].
Qed.

Variables (O : finType) (p : O -> R) (X : space RA) (K K' : kernel X X) (G GS GT : O -> kernel X X) (x : X).
Hypothesis pP : masses p.
Hypothesis toss : tossed p (rate_of q) K G GS.
Local Notation near_le P Q g v := (hockey_stick (@same_point X) P Q g v).

(* Below 1 - q, nothing has to be shown. *)
Lemma poisson_below g : 0 <= g -> g + rate_of q <= 1 -> tossed p (rate_of q) K' G G ->
  near_le (K x) (K' x) g (1 - g).
Proof.
have [p0 p1] := pP; have q0 := ltW (rate_gt0 ok); have q1 := (rate_le1 ok); have q10 : 0 <= 1 - rate_of q by rewrite subr_ge0.
move=> g0 gq toss' A B FA FB AB; rewrite /probability toss // toss' // mulr_sumr -sumrB.
rewrite -[X in _ <= X]mul1r -[X in _ <= X * _]p1 mulr_suml; apply: ler_sum => o _.
rewrite coin_gap; apply: ler_wpmul2l => //.
have le : expect (G o x) (indicator A) <= expect (G o x) (indicator B).
  by apply: expect_le => // y; rewrite /indicator ler_nat; case: (A y) (AB y y erefl) => // ->.
have b1 : expect (GS o x) (indicator A) <= 1 := probability_le1 (GS o x) FA.
have c1 : expect (G o x) (indicator B) <= 1 := probability_le1 (G o x) FB.
move: le b1 c1; set a := expect _ _; set c := expect _ _; set b := expect _ _ => le b1 c1.
apply: (@le_trans _ _ ((1 - rate_of q) * (c - g * c) + rate_of q * (1 - g * c))).
  by apply: ler_add; apply: ler_wpmul2l => //; rewrite ler_add2r.
have -> : (1 - rate_of q) * (c - g * c) + rate_of q * (1 - g * c) = (1 - (g + rate_of q)) * c + rate_of q by ring.
have -> : 1 - g = (1 - (g + rate_of q)) * 1 + rate_of q by ring.
by rewrite ler_add2r; apply: ler_wpmul2l => //; rewrite subr_ge0.
Qed.
Theorem poisson_one : tossed p (rate_of q) K' G G -> all (poisson_node q S L one) one ->
  (forall o, divergence_le (@same_point X) (GS o x) (G o x) (atoms_value (atoms_of RA S L))) ->
  divergence_le (@same_point X) (K x) (K' x) (atoms_value (atoms_of RA S one)).
Proof.
move=> toss' /allP nodes H; apply: at_nodes; first exact: atoms_sound.
move=> z /mapP [k kL ->] /=; have [k1 k2] := one_positive kL; rewrite at_node_of //.
have [h1 h2] := (q_pos ok); have c := real_gt0 RA k2; have b := real_gt0 RA h2.
have g0 : 0 <= real RA k.1 / real RA k.2 by apply: divr_ge0 (ltW c); exact: real_ge0.
have := nodes k kL; rewrite /poisson_node; case: (Z.leb_spec (k.1 * q.2) ((q.2 - q.1) * k.2)) => [le _|lt /= up].
  have gq : real RA k.1 / real RA k.2 + rate_of q <= 1.
    move: (real_le RA le); rewrite !(checker.realM, checker.realB) => {}le.
    rewrite -(ler_pmul2r (mulr_gt0 c b)) mul1r.
    have -> : (real RA k.1 / real RA k.2 + rate_of q) * (real RA k.2 * real RA q.2) =
        real RA k.1 * real RA q.2 + real RA q.1 * real RA k.2.
      by rewrite /rate_of; field; rewrite ?(gt_eqF b) ?(gt_eqF c).
    rewrite -ler_subr_addr; apply: le_trans le _; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
  move=> A B FA FB AB; apply: le_trans (atoms_equal _); apply: le_trans (pos_ge _).
  exact: (poisson_below g0 gq toss').
have r0 : 0 <= coin_ratio k.
  by apply: divr_ge0; [apply: real_ge0; apply: Z.lt_le_incl; apply/Z.lt_0_sub; exact: lt | apply: ltW; apply: real_gt0; apply: Z.mul_pos_pos].
move=> A B FA FB AB; apply: le_trans (coin_up_sound k2 up).
exact: (poisson_near pP (ltW (rate_gt0 ok)) (rate_le1 ok) toss toss' (coin_ratioE k2) (fun o => H o _ r0)).
Qed.

(* A mixture of two laws by the coin. *)
Lemma coin_masses : masses (fun b : bool => if b then rate_of q else 1 - rate_of q).
Proof.
split; first by case; [exact: ltW (rate_gt0 ok) | rewrite subr_ge0; exact: (rate_le1 ok)].
by rewrite big_bool /= addrC subrK.
Qed.
Definition mixed (P Q : law X) : law X := mean_law coin_masses (fun b => if b then Q else P).
Lemma mixed_probability P Q A : measurable_set A ->
  probability (mixed P Q) A = (1 - rate_of q) * probability P A + rate_of q * probability Q A.
Proof. by move=> FA; rewrite /probability /mixed mean_lawE big_bool /= [LHS]addrC. Qed.
Lemma mixed_means (P Q : O -> law X) (M M' : law X) g v :
  (forall A, measurable_set A -> probability M A = \sum_o p o * probability (P o) A) ->
  (forall A, measurable_set A -> probability M' A = \sum_o p o * probability (Q o) A) ->
  0 <= g -> (forall o A, measurable_set A -> probability (P o) A - g * probability (Q o) A <= v) -> near_le M M' g v.
Proof.
have [p0 p1] := pP; move=> HM HM' g0 H A B FA FB AB.
rewrite HM // HM' // mulr_sumr -sumrB -[X in _ <= X]mul1r -[X in _ <= X * _]p1 mulr_suml; apply: ler_sum => o _.
have -> : p o * probability (P o) A - g * (p o * probability (Q o) B) =
  p o * (probability (P o) A - g * probability (Q o) B) by ring.
apply: ler_wpmul2l => //; apply: le_trans (H o A FA); rewrite ler_add2l ler_opp2; apply: ler_wpmul2l => //.
by apply: expect_le => // y; rewrite /indicator ler_nat; case: (A y) (AB y y erefl) => // ->.
Qed.
Theorem swap_one : tossed p (rate_of q) K' G GT -> all (swap_node q S L one) one ->
  (forall o, let le P Q := at_most P Q (atoms_value (atoms_of RA S L)) in
    [/\ le (GS o x) (G o x), le (GS o x) (GT o x), le (GT o x) (G o x) & le (GT o x) (GS o x)]) ->
  divergence_le (@same_point X) (K x) (K' x) (atoms_value (atoms_of RA S one)).
Proof.
move=> toss' /allP nodes H; apply: at_nodes; first exact: atoms_sound.
move=> z /mapP [k kL ->] /=; have [k1 k2] := one_positive kL; rewrite at_node_of //.
have [h1 h2] := (q_pos ok); have c := real_gt0 RA k2; have b := real_gt0 RA h2; have s := real_gt0 RA S0.
have q0 := (rate_gt0 ok); have q1 := (rate_le1 ok); set g := real RA k.1 / real RA k.2.
have g0 : 0 <= g by apply: divr_ge0 (ltW c); exact: real_ge0.
have HM A : measurable_set A -> probability (K x) A = \sum_o p o * probability (mixed (G o x) (GS o x)) A.
  by move=> FA; rewrite [LHS]toss //; apply: eq_bigr => o _; rewrite mixed_probability.
have HM' A : measurable_set A -> probability (K' x) A = \sum_o p o * probability (mixed (G o x) (GT o x)) A.
  by move=> FA; rewrite [LHS]toss' //; apply: eq_bigr => o _; rewrite mixed_probability.
apply: (mixed_means HM HM' g0) => o A FA.
have m1 B := @mixed_probability (G o x) (GS o x) B; have m2 B := @mixed_probability (G o x) (GT o x) B.
have [H10 H12 H20 H21] := H o.
have := nodes k kL; rewrite /swap_node; case: (Z.leb_spec k.2 k.1) => [le up|lt].
  have g1 : 1 <= g by rewrite ler_pdivl_mulr ?mul1r //; apply: real_le.
  apply: le_trans (coin_up_sound k2 up).
  have -> : coin_ratio k = 1 + (g - 1) / rate_of q.
    apply: (mulfI (lt0r_neq0 q0)); rewrite coin_ratioE // -/g; field; by rewrite gt_eqF.
  exact: (swap_coin_above q0 q1 m1 m2 H10 H12 g1).
case: (Z.leb_spec k.1 0) => [none _|kpos /= up].
  have -> : g = 0 by rewrite /g (Z.le_antisymm _ _ none k1) checker.real0 mul0r.
  have [_ pf _ up1] := atoms_sound RA G1; have -> : atoms_value (atoms_of RA S one) 0 = 1.
    rewrite /atoms_value -[RHS]up1; congr (_ + _).
    by rewrite !big_seq; apply: eq_bigr => w /pf [w1 _]; rewrite mul0r subr0 tables.pos_id.
  by rewrite mul0r subr0; exact: probability_le1.
have a := real_gt0 RA kpos; have gp : 0 < g by apply: divr_gt0.
have g1 : g <= 1 by rewrite ler_pdivr_mulr ?mul1r //; apply: real_le; apply: Z.lt_le_incl.
apply: le_trans (swap_coin_below q0 q1 m1 m2 H20 H21 gp g1 FA) _.
have V := @coin_value (k.2, k.1) kpos; have E := @coin_ratioE (k.2, k.1) kpos; rewrite /= in V E.
have R : 1 + (1 / g - 1) / rate_of q = coin_ratio (k.2, k.1).
  apply: (mulfI (lt0r_neq0 q0)); rewrite E /g; field; by rewrite ?(gt_eqF q0) ?(gt_eqF a) ?(gt_eqF c).
rewrite /reflected /above_one R V one_value //.
move: up; move: (scaled S L _ _) (scaled S one k.2 k.1) => zL z1 /Z.leb_le /(real_le RA).
rewrite !(checker.realM, checker.realD, checker.realB); move: (real RA zL) (real RA z1) => sL s1 up.
have d0 : 0 < (real RA q.2 * real RA k.2 * real RA S)^-1 by rewrite invr_gt0; do 2 (apply: mulr_gt0 => //).
have := ler_wpmul2r (ltW d0) up; rewrite /g.
have -> : ((real RA k.2 - real RA k.1) * real RA S * real RA q.2 + sL) / (real RA q.2 * real RA k.2 * real RA S) =
    1 - real RA k.1 / real RA k.2 + real RA k.1 / real RA k.2 * (sL / (real RA q.2 * real RA k.1 * real RA S)).
  by field; rewrite ?(gt_eqF a) ?(gt_eqF b) ?(gt_eqF c) ?(gt_eqF s).
have -> : real RA q.2 * s1 / (real RA q.2 * real RA k.2 * real RA S) = s1 / (real RA k.2 * real RA S); last by [].
by field; rewrite ?(gt_eqF b) ?(gt_eqF c) ?(gt_eqF s).
Qed.
End Near.

(* ---- The far cost: a value for each number of uses of the sample, and their mean. ---- *)
Section Mean.
Local Open Scope Z_scope.
(* From values of h uses after j of w steps to those after j - 1 steps, times the denominator of the probability. *)
Definition folded (q : Z * Z) (l : seq Z) := [seq (q.2 - q.1) * x.1 + q.1 * x.2 | x <- zip l (behead l)].
Definition mean_of (q : Z * Z) w (l : seq Z) := head 0 (iter w (folded q) l).
(* `counts` numbers of uses have the same value. *)
Definition spread (T : Type) (counts : seq nat) (values : seq T) := flatten [seq nseq x.1 x.2 | x <- zip counts values].
(* A table F is at least the mean at k.1 / k.2, plus w times a probability rho; values are over k.2 S. *)
Definition far_node (q : Z * Z) S F w (counts : seq nat) (rho : Z * Z) (k : Z * Z) (vs : seq Z) :=
  (k.1 <=? 0) || all (Z.leb 0) vs &&
  (mean_of q w (spread counts vs) * rho.2 + Z.of_nat w * rho.1 * k.2 * S * q.2 ^ Z.of_nat w <=?
    scaled S F k.2 k.1 * q.2 ^ Z.of_nat w * rho.2).
(* The squares of the hidden parts of a path and of h uses add up to at most (mu noise D)^2. *)
Definition uses_cost (D : Z) (noise : Z * Z) (squares extra : Z) (counts : seq nat) (mus : seq (Z * Z)) w :=
  let l := spread counts mus in (size l == w.+1) && all (fun mu => above0 mu) l &&
  all (fun h => let mu := nth (0, 1) l h in
    (squares + Z.of_nat h * extra) * (mu.2 * noise.2) * (mu.2 * noise.2) <=? (mu.1 * noise.1 * D) * (mu.1 * noise.1 * D))
    (iota 0 w.+1).
End Mean.
(* Costs at the node k.1 / k.2 for each mu: all are read at one number below it. *)
Definition far_costs (mus : seq (Z * Z)) (S : Z) (k : Z * Z) (vs : seq Z) := k.1 = 0%ZZ \/
  exists r, (exp r <= IZR k.1 / IZR k.2)%coqR /\ List.Forall2 (fun mu v => (theta (ratio mu) (exp r) <= IZR v / (IZR k.2 * IZR S))%coqR) mus vs.

Lemma uses_collapse q w f h : uses q w.+1 f h = uses q w (fun k => (1 - q) * f k + q * f k.+1) h.
Proof. by elim: w h => [//|w IH] h; rewrite -[LHS]/((1 - q) * uses q w.+1 f h + q * uses q w.+1 f h.+1) !IH. Qed.
Section Far.
Variable q : Z * Z.
Hypothesis ok : probability_of q.
Lemma size_folded l : size (folded q l) = (size l).-1.
Proof. by rewrite size_map size_zip size_behead; apply/minn_idPr; exact: leq_pred. Qed.
Lemma nth_folded l k : (k.+1 < size l)%N ->
  nth 0%ZZ (folded q l) k = ((q.2 - q.1) * nth 0%ZZ l k + q.1 * nth 0%ZZ l k.+1)%ZZ.
Proof.
move=> kl; have s : size (behead l) = (size l).-1 by exact: size_behead.
have kz : (k < size (zip l (behead l)))%N.
  by rewrite size_zip s; have -> : minn (size l) (size l).-1 = (size l).-1; [apply/minn_idPr; exact: leq_pred | rewrite -ltnS prednK // (leq_trans _ kl)].
rewrite (nth_map (0%ZZ, 0%ZZ)) // nth_zip_cond kz /=; congr (_ + _ * _)%ZZ; by rewrite nth_behead.
Qed.
Lemma uses_mean w l c f : size l = w.+1 -> 0 < c -> (forall k, (k <= w)%N -> f k * c <= real RA (nth 0%ZZ l k)) ->
  uses (rate_of q) w f 0 * c * real RA (q.2 ^ Z.of_nat w)%ZZ <= real RA (mean_of q w l).
Proof.
move=> + c0; have [h1 h2] := q_pos ok; have b := real_gt0 RA h2; have q0 := ltW (rate_gt0 ok); have q1 := rate_le1 ok.
rewrite /mean_of; elim: w l f => [|w IH] l f sl le.
  by rewrite /= -nth0; have := le 0%N (leqnn 0); rewrite (_ : real RA 1 = 1) ?mulr1.
rewrite Nat2Z.inj_succ Z.pow_succ_r; last exact: Zle_0_nat.
rewrite checker.realM uses_collapse iterSr.
set f1 := fun k => _; have qE : real RA q.2 * rate_of q = real RA q.1 by rewrite /rate_of mulrC divfK // gt_eqF.
have sf : size (folded q l) = w.+1 by rewrite size_folded sl.
have scale k : (k <= w)%N -> (real RA q.2 * f1 k) * c <= real RA (nth 0%ZZ (folded q l) k).
  move=> kw; rewrite nth_folded ?sl // !(checker.realM, checker.realD, checker.realB) /f1.
  have -> : real RA q.2 * ((1 - rate_of q) * f k + rate_of q * f k.+1) * c =
    (real RA q.2 - real RA q.1) * (f k * c) + real RA q.1 * (f k.+1 * c) by rewrite -qE; ring.
  have a0 : 0 <= real RA q.2 - real RA q.1.
    by rewrite subr_ge0; apply: real_le; move: ok => /andP [_ /Z.leb_le].
  by apply: ler_add; apply: ler_wpmul2l; rewrite ?(ltW (real_gt0 RA h1)) //; apply: le; rewrite // leqW.
have lin v g h : uses (rate_of q) v (fun k => real RA q.2 * g k) h = real RA q.2 * uses (rate_of q) v g h.
  by elim: v h => [//|v IHv] h /=; rewrite !IHv mulrDr !(mulrCA (real RA q.2)).
have := IH (folded q l) (fun k => real RA q.2 * f1 k) sf scale; rewrite lin.
by rewrite [X in X <= _ -> _](_ : _ = uses (rate_of q) w f1 0 * c * (real RA q.2 * real RA (q.2 ^ Z.of_nat w)%ZZ)) //; ring.
Qed.
End Far.

Lemma at_zero S T : good_table S T -> atoms_value (atoms_of RA S T) 0 = 1.
Proof.
move=> G; have [_ pf _ up1] := atoms_sound RA G; rewrite /atoms_value -[RHS]up1; congr (_ + _).
by rewrite !big_seq; apply: eq_bigr => w /pf [w1 _]; rewrite mul0r subr0 tables.pos_id.
Qed.
Lemma zip_second (T U : eqType) (a : seq T) (b : seq U) x : x \in zip a b -> x.2 \in b.
Proof. by elim: a b => [|y a IH] [|z b] //=; rewrite !inE => /orP [/eqP ->|/IH ->]; rewrite ?eqxx ?orbT. Qed.
Lemma spread_size (T U : Type) (Q : T -> U -> Prop) counts mus vs : List.Forall2 Q mus vs ->
  size (spread counts mus) = size (spread counts vs).
Proof.
move=> H; elim: H counts => [|mu v mus' vs' _ _ IH] [|n counts] //.
by rewrite /spread /= !size_cat !size_nseq; congr (_ + _)%N; exact: IH.
Qed.
Lemma spread_nth (T U : Type) (Q : T -> U -> Prop) counts mus vs mu v h : List.Forall2 Q mus vs ->
  (h < size (spread counts mus))%N -> Q (nth mu (spread counts mus) h) (nth v (spread counts vs) h).
Proof.
move=> H; elim: H counts h => [|mu' v' mus' vs' Hq _ IH] [|n counts] h //.
rewrite /spread /= size_cat size_nseq !nth_cat !size_nseq => lt; case: ltnP => hn.
  by rewrite !nth_nseq hn.
by apply: IH; rewrite ltn_subLR.
Qed.

(* ---- Numbers of a block of steps: the table after every number of steps; the cost of the move of the sample, the cost of
   one step, and those of more steps, each composed with the last one (true) or with the first; the far cost, a path over
   the block, the last step first, and what the uses of the sample add to it. ---- *)
Record drawn := Drawn {
  carried : numbers; one_step : seq (Z * Z); plan : seq (bool * seq (Z * Z)); probability_q : Z * Z; move : Z; extra : Z;
  counts : seq nat; far_mus : seq (Z * Z); values : seq (seq Z); rare : Z * Z }.
Fixpoint plan_ok S (one cur : seq (Z * Z)) (plan : seq (bool * seq (Z * Z))) :=
  if plan is x :: r then composed_ok S cur (if x.1 then cur else one) x.2 && plan_ok S one x.2 r else true.
Fixpoint plan_steps (n : nat) (plan : seq (bool * seq (Z * Z))) : nat :=
  if plan is x :: r then plan_steps ((if x.1 then n else 1) + n)%N r else n.
Definition plan_table (one : seq (Z * Z)) (plan : seq (bool * seq (Z * Z))) := last one [seq x.2 | x <- plan].
Lemma planned (X : space RA) S one cur n plan : composes X S one 1 one -> composes X S one n cur -> plan_ok S one cur plan ->
  composes X S one (plan_steps n plan) (last cur [seq x.2 | x <- plan]).
Proof.
move=> H1; elim: plan n cur => [//|[b T] r IH] n cur H /= /andP [ok oks]; apply: IH oks.
by case: b ok => ok; [exact: (composed ok H H) | exact: (composed ok H1 H)].
Qed.
(* The checks that do not depend on how batches are drawn. *)
Definition drawn_ok (noise : Z * Z) (used : seq line) (c : drawn) :=
  let n := carried c in let S := scale n in let p := far_path n in let w := size p in
  [&& [&& check_table S (table n) (plan_table (one_step c) (plan c)) (far_cost n) (thresholds n), good_table S (far_cost n),
      table_le S (plan_table (one_step c) (plan c)) (table n) & plan_ok S (one_step c) (one_step c) (plan c)],
    [&& good_table S (near_cost n), good_table S (one_step c), probability_of (probability_q c) & plan_steps 1 (plan c) == w],
    [&& path_ok (units n) (widest n) p, reach (widest n) p == 0%ZZ, (0 < w)%N, extra_ok (move c) (extra c) p &
      all (fun s => s.2 \in used) p],
    [&& above0 noise, Z.ltb 0 (units n), Z.ltb 0 (move c), Z.leb 0 (extra c) & Z.leb 0 (rare c).1 && Z.ltb 0 (rare c).2] &
    [&& above0 (near_mu n), Z.leb (move c * (near_mu n).2 * noise.2) ((near_mu n).1 * noise.1 * units n),
      uses_cost (units n) noise (squares p) (extra c) (counts c) (far_mus c) w, size (values c) == size (far_cost n) &
      all (fun x => far_node (probability_q c) S (far_cost n) w (counts c) (rare c) x.1 x.2) (zip (far_cost n) (values c))]].
Definition far_known (c : drawn) :=
  List.Forall (fun x => far_costs (far_mus c) (scale (carried c)) x.1 x.2) (zip (far_cost (carried c)) (values c)).

Section Drawn.
Variables (O : finType) (p : O -> R) (X : space RA) (c : drawn) (noise : Z * Z) (used : seq line).
Hypothesis ok : drawn_ok noise used c.
Local Notation q := (probability_q c).
Local Notation D := (units (carried c)).
Hypothesis pP : masses p.
Variables (K K' : nat -> kernel X X) (G G1 G2 : nat -> O -> kernel X X).
Hypothesis toss : forall j, tossed p (rate_of q) (K j) (G j) (G1 j).
Hypothesis toss' : forall j, tossed p (rate_of q) (K' j) (G j) (G2 j).
Variables (within : R -> X -> X -> Prop) (good : pred O).
Hypothesis unlikely : \sum_(o | ~~ good o) p o <= real RA (rare c).1 / real RA (rare c).2.
Hypothesis same : forall j o l, good o -> l \in used ->
  noisy_step within within (G j o) (G j o) (ratio noise) (slope l) (offset l).
Hypothesis differ : forall j o l, good o -> l \in used ->
  noisy_step within within (G1 j o) (G2 j o) (ratio noise) (slope l) (offset l + IZR (move c) / IZR D)%coqR.
Hypothesis zero : forall x y, within 0%coqR x y -> x = y.
Hypothesis domain : forall x y, within (IZR (widest (carried c)) / IZR D)%coqR x y.
Hypothesis composes_ : (1 < size (far_path (carried c)))%N -> gaussian_composition.
Hypothesis known_far : far_known c.

Lemma drawn_far m : span (fun _ _ => True) (@same_point X) (block (X := fun=> X) K m (size (far_path (carried c))))
  (block (X := fun=> X) K' m (size (far_path (carried c)))) (atoms_value (atoms_of RA (scale (carried c)) (far_cost (carried c)))).
Proof.
move: ok; rewrite /drawn_ok; set n := carried c; set S := scale n; set F := far_cost n; set s := far_path n.
move=> /and5P [/and4P [_ GF _ _] /and4P [_ _ qok _] /and5P [hp /eqP r0 w0 ex us] /and5P [n0 /Z.ltb_lt D0 /Z.ltb_lt /Z.lt_le_incl m0 /Z.leb_le e0 /andP [/Z.leb_le ra /Z.ltb_lt rb]] /and5P [_ _ cost /eqP sz nodes]].
have noise0 : (0 < ratio noise)%coqR.
  by move: n0 => /andP [/Z.ltb_lt /IZR_lt ? /Z.ltb_lt /IZR_lt ?]; apply: Rdiv_lt_0_compat.
have S0 : (0 < S)%ZZ by move: GF; rewrite /good_table => /andP [/andP [/andP [/Z.ltb_lt]]].
have [h1 h2] := q_pos qok; have b := real_gt0 RA h2; have sR := real_gt0 RA S0.
move=> x y _; apply: at_nodes; first exact: atoms_sound.
move=> z /mapP [k kF ->] /=; have [k1 k2] := one_positive GF kF; rewrite (at_node_of S0) //.
have cc := real_gt0 RA k2.
pose vs := nth [::] (values c) (index k F).
have kz : (k, vs) \in zip F (values c).
  have lt : (index k F < size F)%N by rewrite index_mem.
  have -> : (k, vs) = nth (k, [::]) (zip F (values c)) (index k F) by rewrite nth_zip // nth_index.
  by apply: mem_nth; rewrite size_zip sz minnn.
have node := allP nodes _ kz; have costs_ := all_In known_far kz; rewrite /= in node costs_.
case: costs_ => [z0|[r [rk H2]]].
  move=> A B FA FB AB; rewrite z0 checker.real0 mul0r (at_zero GF).
  exact: (@anything RA X X _ (block (X := fun=> X) K m (size s) x) (block (X := fun=> X) K' m (size s) y) 0 (lexx _) A B FA FB AB).
move: node; rewrite /far_node; case: (Z.leb_spec k.1 0) => [z0 _|kpos /= /andP [v0 mean]].
  move=> A B FA FB AB; rewrite (Z.le_antisymm _ _ z0 k1) checker.real0 mul0r (at_zero GF).
  exact: (@anything RA X X _ (block (X := fun=> X) K m (size s) x) (block (X := fun=> X) K' m (size s) y) 0 (lexx _) A B FA FB AB).
have g0 : 0 < exp r by apply/RltP; apply: exp_pos.
have e_here : ends within (ratio noise) D (IZR (reach (widest n) s) / IZR D)%coqR 0 (no_step X) (no_step X).
  by rewrite r0 /Rdiv Rmult_0_l; exact: ends_here.
move=> A B FA FB AB.
have main := far_mean pP (ltW (rate_gt0 qok)) (rate_le1 qok) toss toss' D0 m0 noise0 unlikely same differ m hp w0 ex us
  (Z.le_refl 0) e0 composes_ e_here (domain x y) g0 FA FB (fun u => AB u u erefl).
have le_g : exp r <= real RA k.1 / real RA k.2.
  by apply/RleP; move: rk; rewrite -!realIZR -RdivE // gt_eqF.
have Q0 : 0 <= probability (block (X := fun=> X) K' m (size s) y) B by exact: probability_ge0.
apply: le_trans (_ : probability (block (X := fun=> X) K m (size s) x) A - exp r * probability (block (X := fun=> X) K' m (size s) y) B <= _).
  by rewrite ler_add2l ler_opp2; apply: ler_wpmul2r.
apply: (le_trans main).
move: cost; rewrite /uses_cost => /andP [/andP [/eqP szm /allP mus0] /allP sq].
set l := spread (counts c) vs; have szl : size l = (size s).+1 by rewrite -szm (spread_size _ H2).
have t0 : (0 < squares s)%ZZ.
  move: hp w0; case: (s) => [//|s1 s'] /= /and5P [/Z.ltb_lt a0 _ _ _ _] _.
  apply: Z.add_pos_nonneg; [exact: Z.mul_pos_pos | exact: (le_IZR _ _ (squares_ge0 s'))].
have k_S : 0 < real RA k.2 * real RA S by apply: mulr_gt0.
have each h : (h <= size s)%N -> costs (ratio noise) D (extra c) (0 + squares s)%ZZ (exp r) h * (real RA k.2 * real RA S) <= real RA (nth 0%ZZ l h).
  move=> hw; have hm : (h < size (spread (counts c) (far_mus c)))%N by rewrite szm ltnS.
  have hl : (h < size l)%N by rewrite szl ltnS.
  have := spread_nth (0, 1)%ZZ 0%ZZ H2 hm; rewrite -/l; set mu := nth _ _ h => th.
  have mu_pos : above0 mu by apply: mus0; apply: mem_nth.
  have := sq h; rewrite mem_iota /= add0n ltnS => /(_ hw) /Z.leb_le le.
  have v_0 : (0 <= nth 0%ZZ l h)%ZZ.
    have : nth 0%ZZ l h \in l by apply: mem_nth.
    rewrite /l /spread => /flattenP [row /mapP [[n' v'] /= inz ->]]; rewrite mem_nseq => /andP [_ /eqP ->].
    by apply/Z.leb_le; apply: (allP v0); exact: (zip_second inz).
  rewrite /costs; set t := (squares s + _)%ZZ.
  have tp : (0 < t)%ZZ.
    by apply: Z.add_pos_nonneg => //; apply: Z.mul_nonneg_nonneg => //; exact: Zle_0_nat.
  have mle : (mu_of (ratio noise) D t <= ratio mu)%coqR by apply: (mu_of_bound D0 n0 mu_pos (Z.lt_le_incl _ _ tp) le).
  set v := nth 0%ZZ l h in th v_0 *; apply: (@le_trans _ _ (real RA v / (real RA k.2 * real RA S) * (real RA k.2 * real RA S))); last first.
    by rewrite divfK // gt_eqF.
  apply: (ler_wpmul2r (ltW k_S)); rewrite /pos le_maxl; apply/andP; split; last first.
    by apply: divr_ge0 (ltW k_S); exact: real_ge0.
  have th2 : (theta (mu_of (ratio noise) D t) (exp r) <= IZR v / (IZR k.2 * IZR S))%coqR.
    exact: Rle_trans (theta_le _ _ _ (mu_of_gt0 D0 noise0 tp) mle (exp_pos r)) th.
  apply/RleP; move: th2; rewrite -!realIZR -RdivE -?RmultE //.
  by rewrite gt_eqF.
have U := uses_mean qok szl k_S each.
rewrite one_value //; move: mean U; move: (mean_of _ _ _) (scaled S F k.2 k.1) => zm zF /Z.leb_le /(real_le RA).
rewrite !(checker.realM, checker.realD); have -> : real RA (Z.of_nat (size s)) = (size s)%:R.
  by rewrite realIZR -INR_IZR_INZ INRE.
have Q0' : 0 < real RA (q.2 ^ Z.of_nat (size s))%ZZ by apply: real_gt0; apply: Z.pow_pos_nonneg => //; exact: Zle_0_nat.
move: Q0'; set pw := real RA (q.2 ^ _)%ZZ => Q0'; have d0 := real_gt0 RA rb.
move: (real RA zm) (real RA zF) (uses _ _ _ _) => sm sF u mean U.
have T0 : 0 < real RA k.2 * real RA S * pw * real RA (rare c).2 by do 2 (apply: mulr_gt0 => //).
rewrite -(ler_pmul2r T0).
have -> : (u + (size s)%:R * (real RA (rare c).1 / real RA (rare c).2)) * (real RA k.2 * real RA S * pw * real RA (rare c).2) =
    u * (real RA k.2 * real RA S) * pw * real RA (rare c).2 + (size s)%:R * real RA (rare c).1 * real RA k.2 * real RA S * pw.
  by field; rewrite gt_eqF.
have -> : sF / (real RA k.2 * real RA S) * (real RA k.2 * real RA S * pw * real RA (rare c).2) = sF * pw * real RA (rare c).2.
  by field; rewrite ?(gt_eqF cc) ?(gt_eqF sR).
apply: le_trans mean; rewrite ler_add2r; exact: (ler_wpmul2r (ltW d0) U).
Qed.
Theorem drawn_bound (P : law X) : (forall j, span (@same_point X) (@same_point X) (K j) (K' j) (atoms_value (atoms_of RA (scale (carried c)) (one_step c)))) ->
  forall n, divergence_le (@same_point X) (run (X := fun=> X) P K n) (run (X := fun=> X) P K' n)
    (atoms_value (atoms_of RA (scale (carried c)) (table (carried c)))).
Proof.
move=> near; have far := drawn_far.
move: ok => /and5P [/and4P [accepted _ above plans] /and4P [_ G1' _ /eqP steps] /and5P [_ _ w0 _ _] _ _].
have H1 := composes_one X G1'; have := planned H1 H1 plans; rewrite steps => window.
exact: (every_number P near G1' window w0 far accepted above).
Qed.
(* The cost of the move of the sample, at one point. *)
Lemma moved_cost (U V : kernel X X) a : List.Forall (node_cost (ratio (near_mu (carried c))) (scale (carried c)) (near_cost (carried c))) (near_cost (carried c)) ->
  (forall x, within 0%coqR x x) -> (exists s, noisy_step within within U V (ratio noise) s a) -> (a <= IZR (move c) / IZR D)%coqR ->
  forall x, divergence_le (@same_point X) (U x) (V x) (atoms_value (atoms_of RA (scale (carried c)) (near_cost (carried c)))).
Proof.
move: ok => /and5P [_ /and4P [GN _ _ _] _ /and5P [/andP [/Z.ltb_lt /IZR_lt n1 /Z.ltb_lt /IZR_lt n2] /Z.ltb_lt /IZR_lt D0 /Z.ltb_lt /IZR_lt m0 _ _] /and5P [/andP [/Z.ltb_lt /IZR_lt u1 /Z.ltb_lt /IZR_lt u2] /Z.leb_le /IZR_le le _ _ _]].
move=> nodes refl [s step] am x; have a0 : (0 < IZR (move c) / IZR D)%coqR by apply: Rdiv_lt_0_compat.
have H : gaussian_cost (within 0%coqR) (within 0%coqR) U V (IZR (move c) / IZR D / ratio noise)%coqR.
  apply: step => //; first exact: Rle_refl.
    exact: Rle_refl.
  by rewrite Rmult_0_r !Rplus_0_l.
have mle : (IZR (move c) / IZR D / ratio noise <= ratio (near_mu (carried c)))%coqR by apply: moved_ratio.
have np : (0 < ratio noise)%coqR by apply: Rdiv_lt_0_compat.
have {}H := gaussian_cost_le (Rdiv_lt_0_compat _ _ a0 np) mle H.
have := table_cost GN nodes H (refl x) => cost g g0 A B FA FB AB; apply: (cost g g0 A B FA FB) => u v uv; apply: AB; exact: zero.
Qed.
End Drawn.

(* ---- What the theorems suppose of steps on batches. ---- *)
(* A step on the batch B adds Gaussian noise; for each (c, s) of `lines k`, a step on a batch of k samples takes states
   that are z apart to states at most c z + s apart, and at most c z + s + moved if the batches are `apart`. *)
Definition noisy_batches (X : space RA) (N : finType) (within : R -> X -> X -> Prop) (step : nat -> {set N} -> kernel X X)
  (apart : {set N} -> {set N} -> nat -> Prop) (noise diameter moved : R) (lines : nat -> list (R * R)) :=
  [/\ forall x y, within 0%coqR x y <-> x = y, forall x y, within diameter x y,
    forall z z' x y, (z <= z')%coqR -> within z x y -> within z' x y,
    forall j (B : {set N}) c s, List.In (c, s) (lines #|B|) -> noisy_step within within (step j B) (step j B) noise c s &
    forall j B B' k c s, apart B B' k -> List.In (c, s) (lines k) ->
      noisy_step within within (step j B) (step j B') noise c (s + moved)%coqR].
(* With one sample more than the k samples of B'. *)
Definition joined (N : finType) (B B' : {set N}) k := exists i, [/\ i \notin B', B = i |: B' & k = #|B'|].
(* One of the k samples is another one. *)
Definition exchanged (N : finType) (B B' : {set N}) k :=
  exists (S : {set N}) i i', [/\ i \notin S, i' \notin S, B = i |: S, B' = i' |: S & k = #|S|.+1].

Lemma sized_step (X : space RA) (within : R -> X -> X -> Prop) (U V : kernel X X) noise lines l (a b : R) :
  (forall c s, List.In (c, s) lines -> noisy_step within within U V noise c (s + a)%coqR) -> line_of lines l -> (a <= b)%coqR ->
  noisy_step within within U V noise (slope l) (offset l + b)%coqR.
Proof.
move=> H [c [s [inl [cl sl]]]] ab z z' d z0 z'0 d0 le; apply: (H c s inl z z' d z0 z'0 d0).
apply: Rle_trans le; apply: Rplus_le_compat; first exact: Rmult_le_compat_r.
exact: Rplus_le_compat.
Qed.
(* The numbers of a file, as for other runs. *)
Definition sizes_rare (n : nat) (q : Z * Z) (lo hi : nat) (rho : R) := forall (N : finType) (D : {set N}), #|D| = n ->
  \sum_(B : {set N} | ~~ (lo <= #|B| <= hi)%N) poisson_batch (rate_of q) D B <= rho.

Section Poisson.
Variables (noise diameter moved : R) (lines : nat -> list (R * R)) (nz : Z * Z) (used : seq line) (c : drawn) (n lo hi : nat).
Hypothesis noiseE : noise = ratio nz.
Hypothesis ok : drawn_ok nz used c.
Local Notation q := (probability_q c).
Local Notation S := (scale (carried c)).
Hypothesis coin : all (poisson_node q S (near_cost (carried c)) (one_step c)) (one_step c).
Hypothesis wide : (diameter <= IZR (widest (carried c)) / IZR (units (carried c)))%coqR.
Hypothesis far_enough : (moved <= IZR (move c) / IZR (units (carried c)))%coqR.
Hypothesis kept : forall k, exists s, List.In (s, 0%coqR) (lines k).
Hypothesis used_lines : forall k, (lo <= k <= hi)%N -> List.Forall (line_of (lines k)) used.
Hypothesis rare_sizes : sizes_rare n q lo hi (rate_of (rare c)).
Hypothesis comp : (1 < size (far_path (carried c)))%N -> gaussian_composition.
Hypothesis near_nodes : List.Forall (node_cost (ratio (near_mu (carried c))) S (near_cost (carried c))) (near_cost (carried c)).
Hypothesis far_nodes : far_known c.

Theorem poisson_bound (X : space RA) (P : law X) (N : finType) (D : {set N}) i within step (q0 : 0 <= rate_of q) (q1 : rate_of q <= 1) :
  i \in D -> #|D :\ i| = n -> noisy_batches within step (@joined N) noise diameter moved lines ->
  forall m, divergence_le (@same_point X) (run (X := fun=> X) P (fun j => poisson_step (step j) q0 q1 D) m)
    (run (X := fun=> X) P (fun j => poisson_step (step j) q0 q1 (D :\ i)) m) (atoms_value (atoms_of RA S (table (carried c)))).
Proof.
move=> iD Dn [zero domain wider same differ].
pose good (B : {set N}) := (i \notin B) && (lo <= #|B| <= hi)%N.
have pP := poisson_masses (D :\ i) q0 q1.
have zero1 x y : within 0%coqR x y -> x = y by move/zero.
have refl x : within 0%coqR x x by apply/zero.
have none (Q : pred {set N}) : \sum_(B : {set N} | Q B && (i \in B)) poisson_batch (rate_of q) (D :\ i) B = 0.
  by rewrite big1 // => B /andP [_ iB]; rewrite /poisson_batch (bigD1 i) //= iB /rate !inE eqxx mul0r.
have unlikely : \sum_(B | ~~ good B) poisson_batch (rate_of q) (D :\ i) B <= real RA (rare c).1 / real RA (rare c).2.
  have -> : \sum_(B | ~~ good B) poisson_batch (rate_of q) (D :\ i) B =
      \sum_(B : {set N} | ~~ (lo <= #|B| <= hi)%N) poisson_batch (rate_of q) (D :\ i) B; last exact: rare_sizes.
    rewrite (bigID (fun B : {set N} => i \in B)) [RHS](bigID (fun B : {set N} => i \in B)) /= !none !add0r.
    by apply: eq_bigl => B; rewrite /good; case: (i \in B); rewrite /= ?andbF ?andbT.
have same' j B l : good B -> l \in used -> noisy_step within within (step j B) (step j B) (ratio nz) (slope l) (offset l).
  move=> /andP [_ sz] lu; have := @sized_step X within (step j B) (step j B) (ratio nz) (lines #|B|) l 0%coqR 0%coqR.
  rewrite Rplus_0_r; apply; last exact: Rle_refl; last exact: (all_In (used_lines sz) lu).
  by move=> c' s inl; rewrite Rplus_0_r -noiseE; exact: same.
have differ' j B l : good B -> l \in used ->
    noisy_step within within (step j (i |: B)) (step j B) (ratio nz) (slope l) (offset l + IZR (move c) / IZR (units (carried c)))%coqR.
  move=> /andP [iB sz] lu; apply: (@sized_step _ _ _ _ _ (lines #|B|) _ moved) => //; last exact: (all_In (used_lines sz) lu).
  by move=> c' s inl; rewrite -noiseE; apply: (differ j (i |: B) B #|B|) => //; exists i.
have toss j := poisson_tossed (step j) q0 q1 iD; have toss' j := untossed (step j) q0 q1 (D :\ i).
have domain' x y : within (IZR (widest (carried c)) / IZR (units (carried c)))%coqR x y by apply: wider wide _; apply: domain.
apply: (drawn_bound ok pP toss toss' unlikely same' differ' zero1 domain' comp far_nodes).
move=> j x _ <-; move: ok => /and5P [/and4P [/andP [/andP [GT _] _] _ _ _] /and4P [GN G1' qok _] _ _ _].
have S0 : (0 < S)%ZZ by move: GN; rewrite /good_table => /andP [/andP [/andP [/Z.ltb_lt]]].
apply: (poisson_one qok S0 G1' pP (toss j) (toss' j) coin) => B; case: (boolP (i \in B)) => iB.
  have -> : i |: B = B by apply/setUidPr; rewrite sub1set.
  by move=> g g0 A A' FA FA' AA; apply: le_trans (atoms_equal GN g); exact: same_law.
apply: (moved_cost ok zero1 near_nodes refl _ far_enough); have [s ins] := kept #|B|; exists s.
have := differ j (i |: B) B #|B| s 0%coqR; rewrite Rplus_0_l -noiseE; apply=> //; by exists i.
Qed.
(* Both orders, with the sample i or without it. *)
Theorem poisson_private (e d : Z * Z) eps : delta_ok S (table (carried c)) e d -> delta_back_ok S (table (carried c)) e d ->
  (IZR e.1 / IZR e.2 <= exp eps)%coqR ->
  forall (X : space RA) (P : law X) (N : finType) (D : {set N}) i within step (q0 : 0 <= rate_of q) (q1 : rate_of q <= 1),
  i \in D -> #|D :\ i| = n -> noisy_batches within step (@joined N) noise diameter moved lines ->
  let run_on (E : {set N}) m := run (X := fun=> X) P (fun j => poisson_step (step j) q0 q1 E) m in
  forall m (A : set X), measurable_set A ->
  (probability (run_on D m) A <= exp eps * probability (run_on (D :\ i) m) A + IZR d.1 / IZR d.2)%coqR /\
  (probability (run_on (D :\ i) m) A <= exp eps * probability (run_on D m) A + IZR d.1 / IZR d.2)%coqR.
Proof.
move=> ahead back ee X P N D i within step q0 q1 iD Dn noisy run_on m A FA.
have H := poisson_bound P q0 q1 iD Dn noisy m.
split; first by apply: (table_private ahead ee H FA FA) => x y ->.
by apply: (table_private_back back ee H FA FA) => x y ->.
Qed.
End Poisson.

(* ---- Batches of b samples without replacement, from n common samples and one that differs. ---- *)
Section Uniform.
Variables (noise diameter moved : R) (lines : nat -> list (R * R)) (nz : Z * Z) (used : seq line) (c : drawn) (n b : nat).
Hypothesis noiseE : noise = ratio nz.
Hypothesis ok : drawn_ok nz used c.
Local Notation q := (probability_q c).
Local Notation S := (scale (carried c)).
Hypothesis coin : all (swap_node q S (near_cost (carried c)) (one_step c)) (one_step c).
Hypothesis rateE : rate_of q = b%:R / n.+1%:R.
Hypothesis sizes : (0 < b <= n)%N.
Hypothesis wide : (diameter <= IZR (widest (carried c)) / IZR (units (carried c)))%coqR.
Hypothesis far_enough : (moved <= IZR (move c) / IZR (units (carried c)))%coqR.
Hypothesis kept : exists s, List.In (s, 0%coqR) (lines b).
Hypothesis used_lines : List.Forall (line_of (lines b)) used.
Hypothesis comp : (1 < size (far_path (carried c)))%N -> gaussian_composition.
Hypothesis near_nodes : List.Forall (node_cost (ratio (near_mu (carried c))) S (near_cost (carried c))) (near_cost (carried c)).
Hypothesis far_nodes : far_known c.

Section Run.
Variables (X : space RA) (N : finType) (C : {set N}) (within : R -> X -> X -> Prop) (step : nat -> {set N} -> kernel X X).
Hypothesis Cn : #|C| = n.
Local Notation good := (fun o : {set N} * N => [&& o.1 \subset C, #|o.1| == b & o.2 \in o.1]).
(* A pair that is no batch of common samples with one of its members has the probability 0; what a step does there does not
   matter. *)
Let plain j (o : {set N} * N) : kernel X X := step j (if good o then o.1 else set0).
Let with_ i j (o : {set N} * N) : kernel X X := step j (if good o then swapped i o else set0).
Lemma uniform_toss i (bi : (b <= #|i |: C|)%N) j : i \notin C ->
  tossed (slot_batch RA b C) (rate_of q) (uniform_step (step j) bi) (plain j) (with_ i j).
Proof.
move=> iC x h Fh; have bC : (0 < b <= #|C|)%N by rewrite Cn.
rewrite (uniform_tossed (step j) iC bC bi x Fh) rateE Cn; apply: eq_bigr => o _.
by rewrite /slot_batch /plain /with_; case: ifP => // _; rewrite !mul0r.
Qed.
(* Of two batches with i and with i', one sample is another one; so it is with the member in the slot. *)
Lemma slots o u v : good o -> u \notin o.1 :\ o.2 -> v \notin o.1 :\ o.2 -> exchanged (u |: (o.1 :\ o.2)) (v |: (o.1 :\ o.2)) b.
Proof.
move=> /and3P [_ /eqP sz oo] uS vS; exists (o.1 :\ o.2), u, v; split=> //.
by rewrite -sz (cardsD1 o.2) oo.
Qed.
Lemma slot_out o i : good o -> i \notin C -> i \notin o.1 :\ o.2.
Proof. by move=> /and3P [/subsetP sub _ _] iC; rewrite inE negb_and; apply/orP; right; apply: contra iC; exact: sub. Qed.

Theorem uniform_bound (P : law X) i i' (bi : (b <= #|i |: C|)%N) (bi' : (b <= #|i' |: C|)%N) :
  i \notin C -> i' \notin C -> noisy_batches within step (@exchanged N) noise diameter moved lines ->
  forall m, divergence_le (@same_point X) (run (X := fun=> X) P (fun j => uniform_step (step j) bi) m)
    (run (X := fun=> X) P (fun j => uniform_step (step j) bi') m) (atoms_value (atoms_of RA S (table (carried c)))).
Proof.
move=> iC i'C [zero domain wider same differ].
have bC : (0 < b <= #|C|)%N by rewrite Cn.
have pP : masses (slot_batch RA b C) by exact: slot_masses.
have zero1 x y : within 0%coqR x y -> x = y by move/zero.
have refl x : within 0%coqR x x by apply/zero.
have unlikely : \sum_(o | ~~ good o) slot_batch RA b C o <= real RA (rare c).1 / real RA (rare c).2.
  rewrite big1; last by move=> o /negbTE no; rewrite /slot_batch no.
  move: ok => /and5P [_ _ _ /and5P [_ _ _ _ /andP [/Z.leb_le ra /Z.ltb_lt rb]] _].
  by apply: divr_ge0; [exact: real_ge0 | exact: ltW (real_gt0 RA rb)].
have member o : good o -> o.1 = o.2 |: (o.1 :\ o.2) by move=> /and3P [_ _ oo]; rewrite setD1K.
have same' j o l : good o -> l \in used -> noisy_step within within (plain j o) (plain j o) (ratio nz) (slope l) (offset l).
  move=> go lu; rewrite /plain go; have /and3P [_ /eqP sz _] := go.
  have := @sized_step X within (step j o.1) (step j o.1) (ratio nz) (lines #|o.1|) l 0%coqR 0%coqR.
  rewrite Rplus_0_r sz; apply; last exact: Rle_refl; last exact: (all_In used_lines lu).
  by move=> c' s inl; rewrite Rplus_0_r -noiseE; apply: same; rewrite sz.
have differ' j o l : good o -> l \in used ->
    noisy_step within within (with_ i j o) (with_ i' j o) (ratio nz) (slope l) (offset l + IZR (move c) / IZR (units (carried c)))%coqR.
  move=> go lu; rewrite /with_ go; apply: (@sized_step _ _ _ _ _ (lines b) _ moved) => //; last exact: (all_In used_lines lu).
  by move=> c' s inl; rewrite -noiseE; apply: (differ j _ _ b) => //; apply: slots => //; apply: slot_out.
have toss j := @uniform_toss i bi j iC; have toss' j := @uniform_toss i' bi' j i'C.
have domain' x y : within (IZR (widest (carried c)) / IZR (units (carried c)))%coqR x y by apply: wider wide _; apply: domain.
apply: (drawn_bound ok pP toss toss' unlikely same' differ' zero1 domain' comp far_nodes).
move=> j x _ <-; move: ok => /and5P [/and4P [/andP [/andP [GT _] _] _ _ _] /and4P [GN G1' qok _] _ _ _].
have S0 : (0 < S)%ZZ by move: GN; rewrite /good_table => /andP [/andP [/andP [/Z.ltb_lt]]].
have one o u v : good o -> u \notin o.1 :\ o.2 -> v \notin o.1 :\ o.2 ->
    at_most (step j (u |: (o.1 :\ o.2)) x) (step j (v |: (o.1 :\ o.2)) x) (atoms_value (atoms_of RA S (near_cost (carried c)))).
  move=> go uS vS; apply: (moved_cost ok zero1 near_nodes refl _ far_enough); have [s ins] := kept; exists s.
  by have := differ j _ _ b s 0%coqR (slots go uS vS) ins; rewrite Rplus_0_l -noiseE.
apply: (swap_one qok S0 G1' pP (toss j) (toss' j) coin) => o /=; rewrite /plain /with_; case: ifP => go; last first.
  by split=> g g0 A B FA FB AB; apply: le_trans (atoms_equal GN g); exact: same_law.
have [uS vS] := (slot_out go iC, slot_out go i'C).
have oS : o.2 \notin o.1 :\ o.2 by rewrite !inE eqxx.
by rewrite /swapped {2 6}(member o go); split; apply: one.
Qed.
(* The two samples are arbitrary, so this is both orders. *)
Theorem uniform_private (e d : Z * Z) eps : delta_ok S (table (carried c)) e d -> (IZR e.1 / IZR e.2 <= exp eps)%coqR ->
  noisy_batches within step (@exchanged N) noise diameter moved lines ->
  forall (P : law X) i i' (bi : (b <= #|i |: C|)%N) (bi' : (b <= #|i' |: C|)%N), i \notin C -> i' \notin C ->
  forall m (A : set X), measurable_set A ->
  (probability (run (X := fun=> X) P (fun j => uniform_step (step j) bi) m) A <=
    exp eps * probability (run (X := fun=> X) P (fun j => uniform_step (step j) bi') m) A + IZR d.1 / IZR d.2)%coqR.
Proof.
move=> fits ee noisy P i i' bi bi' iC i'C m A FA.
by apply: (table_private fits ee (uniform_bound P bi bi' iC i'C noisy m) FA FA) => x y ->.
Qed.
End Run.
End Uniform.
Lemma uniform_rate (q : Z * Z) b n : (0 < q.2)%ZZ -> (q.1 * (Z.of_nat n + 1) = Z.of_nat b * q.2)%ZZ ->
  rate_of q = b%:R / n.+1%:R.
Proof.
move=> q2 E; have a := real_gt0 RA q2; have realN k : real RA (Z.of_nat k) = k%:R by rewrite realIZR -INR_IZR_INZ INRE.
have {}E : real RA q.1 * n.+1%:R = b%:R * real RA q.2.
  rewrite -(realN n.+1) -(realN b) -!checker.realM; congr (real RA _); rewrite -E; congr (_ * _)%ZZ; lia.
have n0 : n.+1%:R != 0 :> R by rewrite pnatr_eq0.
rewrite /rate_of; apply: (mulIf n0); rewrite divfK // mulrAC E mulfK //; by rewrite gt_eqF.
Qed.

(* ---- Sizes of Poisson batches of n samples. ---- *)
Lemma poisson_batch_out (N : finType) q (D B : {set N}) : ~~ (B \subset D) -> poisson_batch (R := RA) q D B = 0.
Proof.
by move=> /subsetPn [j jB jD]; rewrite /poisson_batch (bigD1 j) //= jB /rate (negbTE jD) mul0r.
Qed.
Lemma no_more n hi q rho : (n <= hi)%N -> 0 <= rho -> sizes_rare n q 0 hi rho.
Proof.
move=> nhi r0 N D Dn; apply: le_trans r0; rewrite le_eqVlt; apply/orP; left; apply/eqP.
apply: big1 => B; rewrite leq0n /= -ltnNge => many; apply: poisson_batch_out; apply/negP => /subset_leq_card.
by rewrite Dn leqNgt (leq_ltn_trans nhi many).
Qed.
(* Sizes as real numbers. *)
Lemma size_bounds k h : (0 <= k <= Z.to_nat h)%N -> (0 <= h)%ZZ -> (0 <= INR k <= IZR h)%coqR.
Proof.
move=> /andP [_ kh] h0; have {}kh := @ssrnat.leP _ _ kh; split; first exact: pos_INR.
by apply: Rle_trans (le_INR _ _ kh) _; rewrite INR_IZR_INZ Z2Nat.id //; exact: Rle_refl.
Qed.
Lemma none_rare : 0 <= rate_of (0, 1)%ZZ.
Proof. by rewrite /rate_of mul0r. Qed.
