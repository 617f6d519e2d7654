(* Probability measures are laws.

   On a measurable space of mathcomp-analysis, take the bounded measurable functions and the Lebesgue integral: this is
   a space and a law in the sense of laws.v, so all theorems hold for probability measures. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import classical_sets boolp functions reals ereal topology measure lebesgue_measure.
From mathcomp Require Import numfun lebesgue_integral.
From lastiterate Require laws.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.
Local Open Scope classical_set_scope.

Section Measures.
Variables (R : realType) (d : measure_display) (T : measurableType d).
Implicit Types f h : T -> R.

Definition bounded_measurable f := measurable_fun setT f /\ exists M, forall x, `|f x| <= M.
Lemma bounded_ext f h : f =1 h -> bounded_measurable f -> bounded_measurable h.
Proof. by move=> E; have -> : h = f by apply/funext => x; rewrite E. Qed.
Lemma bounded_const k : bounded_measurable (fun _ => k).
Proof. by split; [exact: measurable_fun_cst | exists `|k|]. Qed.
Lemma bounded_add f h : bounded_measurable f -> bounded_measurable h -> bounded_measurable (fun x => f x + h x).
Proof.
move=> [mf [M fM]] [mh [N hN]]; split; first exact: measurable_funD.
by exists (M + N) => x; apply: (le_trans (ler_norm_add _ _)); apply: ler_add.
Qed.
Lemma bounded_scale k f : bounded_measurable f -> bounded_measurable (fun x => k * f x).
Proof.
move=> [mf [M fM]]; split; first exact: measurable_funrM.
by exists (`|k| * M) => x; rewrite normrM ler_wpmul2l.
Qed.
Lemma bounded_max f h : bounded_measurable f -> bounded_measurable h ->
  bounded_measurable (fun x => Num.max (f x) (h x)).
Proof.
move=> [mf [M fM]] [mh [N hN]]; split; first exact: measurable_fun_max.
exists (M + N) => x; have fx := fM x; have hx := hN x; rewrite /Num.max; case: ifP => _.
  by apply: ler_paddl => //; apply: le_trans fx.
by apply: ler_paddr => //; apply: le_trans hx.
Qed.
Lemma bounded_above f t : bounded_measurable f -> bounded_measurable (fun x => (t < f x)%R%:R).
Proof.
move=> [mf _]; split; last by exists 1 => x; case: (t < f x)%R; rewrite ?normr1 ?normr0.
pose A := [set x | t < f x].
have mA : measurable A.
  rewrite -[A]setTI /A -preimage_itv_o_infty.
  apply: mf; [exact: measurableT | exact: measurable_itv].
have -> : (fun x => (t < f x)%R%:R) = \1_A :> (T -> R).
  apply/funext => x; rewrite indicE; congr (_%:R); congr nat_of_bool.
  by apply/idP/idP; rewrite inE.
exact: measurable_fun_indic.
Qed.
Definition measure_space : laws.space R :=
  laws.Space bounded_ext bounded_const bounded_add bounded_scale bounded_max bounded_above.

Variable mu : {measure set T -> \bar R}.
Hypothesis mu1 : mu setT = 1%E.
Lemma bounded_integrable f : bounded_measurable f -> mu.-integrable setT (EFin \o f).
Proof.
move=> [mf [M fM]]; apply: (@le_integrable _ _ _ mu setT measurableT _ (EFin \o cst M)).
- exact/EFin_measurable_fun.
- by move=> x _ /=; rewrite lee_fin (le_trans (fM x)) // ler_norm.
- split; first by apply/EFin_measurable_fun; exact: measurable_fun_cst.
  have -> : (fun x : T => `|(EFin \o cst M) x|)%E = cst `|M|%:E by [].
  by rewrite integral_cst // mu1 mule1 ltry.
Qed.
Definition integral f : R := fine (\int[mu]_x (f x)%:E)%E.
Let integralE f : bounded_measurable f -> (\int[mu]_x (f x)%:E)%E = (integral f)%:E.
Proof. by move=> F; rewrite fineK //; apply: integral_fune_fin_num => //; exact: (bounded_integrable F). Qed.
Lemma integral_add f h : bounded_measurable f -> bounded_measurable h ->
  integral (fun x => f x + h x) = integral f + integral h.
Proof.
move=> F H; apply: EFin_inj; rewrite EFinD -!integralE //; last exact: bounded_add.
have := integralD measurableT (bounded_integrable F) (bounded_integrable H).
by under [in RHS]eq_integral do rewrite /=; move=> <-; apply: eq_integral.
Qed.
Lemma integral_scale k f : bounded_measurable f -> integral (fun x => k * f x) = k * integral f.
Proof.
move=> F; apply: EFin_inj; rewrite EFinM -!integralE //; last exact: bounded_scale.
by rewrite -(integralM measurableT (bounded_integrable F)); apply: eq_integral.
Qed.
Lemma integral_le f h : bounded_measurable f -> bounded_measurable h -> (forall x, f x <= h x) ->
  integral f <= integral h.
Proof.
move=> F H le; have G := bounded_add H (bounded_scale (-1) F); rewrite -subr_ge0.
have <- : integral (fun x => h x + -1 * f x) = integral h - integral f.
  by rewrite (integral_add H (bounded_scale (-1) F)) (integral_scale (-1) F) mulN1r.
rewrite -lee_fin -(integralE G); apply: integral_ge0 => x _.
by rewrite lee_fin mulN1r subr_ge0 le.
Qed.
Lemma integral_one : integral (fun _ => 1) = 1.
Proof. by apply: EFin_inj; rewrite -integralE ?integral_cst ?mu1 ?mule1 //; exact: bounded_const. Qed.
(* Every probability measure is a law. *)
Definition measure_law : laws.law measure_space :=
  @laws.Law R measure_space integral integral_add integral_scale integral_le integral_one.
(* The probability of a set, which is measurable as its indicator is, is its measure. *)
Theorem measure_probability (A : set T) : measurable A ->
  (laws.probability measure_law (fun x : T => x \in A))%:E = mu A.
Proof.
move=> mA; have F : bounded_measurable (\1_A : T -> R).
  split; first exact: measurable_fun_indic.
  by exists 1 => x; rewrite indicE; case: (x \in A); rewrite ?normr1 ?normr0.
by rewrite /laws.probability /= -[in RHS](setIT A) -(integral_indic mu measurableT mA) (integralE F).
Qed.
End Measures.
