(* Renyi's divergence of laws on enlarged sets: its moments multiply from step to step.

   Python: symbolic/kernel/renyi.py.  Page: docs/proofs/trusted.md.
   Moments of tables are in moments.v.  Here the laws are arbitrary, and no density, supremum or root is used. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
From lastiterate Require Import laws rules.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Renyi.
Variable R : archiFieldType.

(* An order alpha > 1, with the function power x = x^(alpha / (alpha - 1)), by the properties that are used: the last
   is the tangent at 1.  In the real numbers every alpha > 1 is an order (reals/theorem_3_1.v). *)
Record order := Order {
  alpha : R; power : R -> R;
  alpha_gt1 : 1 < alpha;
  power0 : power 0 = 0;
  power_ge0 : forall x, 0 <= x -> 0 <= power x;
  power_mul : forall x y, 0 <= x -> 0 <= y -> power (x * y) = power x * power y;
  power_young : forall x, 0 <= x -> alpha * x - (alpha - 1) * power x <= 1 }.

(* M is at least exp((alpha - 1) D_alpha(P || Q)), the mean of y^alpha under Q with the density y of P: by Young's
   inequality alpha k y - (alpha - 1) k' is at most y^alpha if power k <= k', with equality at k = y^(alpha - 1) and
   k' = y^alpha.  With "near x y" for |x - y| <= z the second law is enlarged, as in hockey_stick. *)
Definition renyi_le (o : order) (X Y : space R) (near : X -> Y -> Prop) (P : law X) (Q : law Y) (M : R) :=
  forall (k : X -> R) (k' : Y -> R), measurable k -> measurable k' -> (forall x, 0 <= k x) ->
    (forall x y, near x y -> power o (k x) <= k' y) -> (forall y, 0 <= k' y) ->
    alpha o * expect P k - (alpha o - 1) * expect Q k' <= M.

Section OneOrder.
Variable o : order.
Local Notation al := (alpha o).
Lemma alpha_ge0 : 0 <= al. Proof. by rewrite ltW // (lt_trans ltr01) // alpha_gt1. Qed.
Lemma less_one : 0 <= al - 1. Proof. by rewrite subr_ge0 ltW // alpha_gt1. Qed.
Lemma power1 : power o 1 = 1.
Proof.
have le : 1 <= power o 1.
  have := power_young o ler01; rewrite mulr1 ler_subl_addl -ler_subl_addr => H.
  by rewrite -(@ler_pmul2l _ (al - 1)) ?subr_gt0 ?alpha_gt1 // mulr1.
have p0 : power o 1 != 0 by rewrite gt_eqF // (lt_le_trans ltr01).
by apply: (mulfI p0); rewrite mulr1 -power_mul ?ler01 // mulr1.
Qed.
Lemma young k k' : 0 <= k -> power o k <= k' -> al * k - (al - 1) * k' <= 1.
Proof. by move=> k0 le; apply: le_trans (power_young o k0); rewrite ler_add2l ler_opp2 ler_wpmul2l ?less_one. Qed.

Section Laws.
Variables X Y : space R.

(* All points are near: laws on a domain, at its diameter. *)
Theorem renyi_domain (near : X -> Y -> Prop) (P : law X) (Q : law Y) :
  (forall x y, near x y) -> renyi_le o near P Q 1.
Proof.
move=> all k k' Fk Fk' k0 le k'0.
have each y : al * expect P k <= 1 + (al - 1) * k' y.
  rewrite -expect_scale // -[X in _ <= X](expect_const P); apply: expect_le => [||x].
  - exact: measurable_scale.
  - exact: measurable_const.
  - by rewrite -ler_subl_addr young // le // all.
rewrite ler_subl_addr -ler_subl_addl -(expect_scale Q) // -[X in X <= _](expect_const Q).
apply: expect_le => [||y]; [exact: measurable_const | exact: measurable_scale |].
by rewrite ler_subl_addl.
Qed.
(* Equal laws, such as those of one starting point. *)
Theorem renyi_equal (P : law X) : renyi_le o (fun x y => x = y) P P 1.
Proof.
move=> k k' Fk Fk' k0 le k'0; rewrite -!expect_scale // -expect_sub; try exact: measurable_scale.
apply: expect_le1 => [|x]; first by apply: measurable_sub; apply: measurable_scale.
by rewrite young // le.
Qed.

Section Bound.
Variables (near : X -> Y -> Prop) (P : law X) (Q : law Y) (M : R).
Hypothesis bound : renyi_le o near P Q M.
Lemma renyi_ge1 : 1 <= M.
Proof.
have := bound (measurable_const X 1) (measurable_const Y 1) (fun _ => ler01) _ (fun _ => ler01).
by rewrite !expect_const !mulr1 opprB addrC subrK power1; apply=> x y _; apply: lexx.
Qed.
Lemma renyi_scaled c (k : X -> R) (k' : Y -> R) : 0 <= c -> measurable k -> measurable k' ->
  (forall x, 0 <= k x) -> (forall x y, near x y -> power o (k x) <= k' y) -> (forall y, 0 <= k' y) ->
  al * (c * expect P k) - (al - 1) * (power o c * expect Q k') <= M.
Proof.
move=> c0 Fk Fk' k0 le k'0; rewrite -[c * _]expect_scale // -[power o c * _]expect_scale //.
have p0 := power_ge0 o c0; apply: bound; try exact: measurable_scale.
- by move=> x; apply: mulr_ge0.
- by move=> x y xy; rewrite power_mul // ler_wpmul2l // le.
- by move=> y; apply: mulr_ge0.
Qed.
(* The means of k and k' have the property of k and k', up to M. *)
Lemma renyi_means (k : X -> R) (k' : Y -> R) : measurable k -> measurable k' ->
  (forall x, 0 <= k x) -> (forall x y, near x y -> power o (k x) <= k' y) -> (forall y, 0 <= k' y) ->
  power o (expect P k / M) <= expect Q k' / M.
Proof.
move=> Fk Fk' k0 le k'0; set a := expect P k; set b := expect Q k'.
have M0 : 0 < M by apply: lt_le_trans renyi_ge1; apply: ltr01.
have a0 : 0 <= a by exact: expect_ge0.
have b0 : 0 <= b by exact: expect_ge0.
have [->|aE] := eqVneq a 0; first by rewrite mul0r power0 divr_ge0 // ltW.
have ap : 0 < a by rewrite lt_neqAle eq_sym aE.
have c0 : 0 <= M / a by rewrite divr_ge0 // ltW.
have := renyi_scaled c0 Fk Fk' k0 le k'0; rewrite -/a -/b divfK // => H.
have {}H : M <= power o (M / a) * b.
  rewrite -(@ler_pmul2l _ (al - 1)) ?subr_gt0 ?alpha_gt1 // mulrBl mul1r ler_subl_addl -ler_subl_addr.
  exact: H.
have r0 : 0 <= a / M by rewrite divr_ge0 // ltW.
rewrite ler_pdivl_mulr // mulrC; apply: le_trans (ler_wpmul2r (power_ge0 o r0) H) _.
rewrite mulrAC -power_mul // mulrA divfK // divff ?gt_eqF // power1 mul1r; exact: lexx.
Qed.

(* From an order to (epsilon, delta): at every c > 0. *)
Theorem renyi_to_delta c : 0 < c -> hockey_stick near P Q ((al - 1) * power o c / (al * c)) (M / (al * c)).
Proof.
move=> c0 A B FA FB AB.
have ac : 0 < al * c by rewrite mulr_gt0 // (lt_trans ltr01) // alpha_gt1.
rewrite ler_pdivl_mulr // mulrBl mulrAC divfK ?gt_eqF //.
have H := @renyi_scaled c (indicator A) (indicator B) (ltW c0) FA FB.
have -> : probability P A * (al * c) - (al - 1) * power o c * probability Q B =
  al * (c * probability P A) - (al - 1) * (power o c * probability Q B) by ring.
apply: H => [x|x y xy|y]; rewrite /indicator ?ler0n //.
by case: (A x) (AB x y xy) => [->|_] //; rewrite ?power1 ?power0 ?ler0n.
Qed.
End Bound.
End Laws.

(* Rule chain for moments: the second part may depend on the state after the first. *)
Theorem renyi_chain (X Y U V : space R) (near : X -> Y -> Prop) (near' : U -> V -> Prop) (P : law X) (Q : law Y)
  (K : kernel X U) (K' : kernel Y V) M M' : 0 < M' -> renyi_le o near P Q M ->
  (forall x y, near x y -> renyi_le o near' (K x) (K' y) M') ->
  renyi_le o near' (after P K) (after Q K') (M' * M).
Proof.
move=> M0 H H' k k' Fk Fk' k0 le k'0; have i0 : 0 <= M'^-1 by rewrite invr_ge0 ltW.
have FK : measurable (fun x => expect (K x) k) by exact: measurable_from.
have FK' : measurable (fun y => expect (K' y) k') by exact: measurable_from.
have := H _ _ (measurable_scale M'^-1 FK) (measurable_scale M'^-1 FK').
rewrite !expect_scale // => {}H; rewrite -ler_pdivr_mull // mulrBr ![M'^-1 * (_ * _)]mulrCA.
apply: H => [x|x y xy|y]; try by rewrite mulr_ge0 // expect_ge0.
by rewrite ![M'^-1 * _]mulrC; apply: (renyi_means (H' x y xy)).
Qed.

(* Larger distances and larger bounds. *)
Lemma renyi_weaken (X Y : space R) (near near' : X -> Y -> Prop) (P : law X) (Q : law Y) M M' :
  renyi_le o near P Q M -> (forall x y, near x y -> near' x y) -> M <= M' -> renyi_le o near' P Q M'.
Proof. by move=> H less MM k k' Fk Fk' k0 le k'0; apply: le_trans MM; apply: H => // x y /less; apply: le. Qed.
(* Functions of points that are near: the same noise in both runs, or a projection. *)
Lemma renyi_map (X Y U V : space R) (near : X -> Y -> Prop) (near' : U -> V -> Prop) (P : law X) (Q : law Y)
  (m : map X U) (m' : map Y V) M : renyi_le o near P Q M -> (forall x y, near x y -> near' (m x) (m' y)) ->
  renyi_le o near' (image P m) (image Q m') M.
Proof.
move=> H mm k k' Fk Fk' k0 le k'0; apply: (H (fun x => k (m x)) (fun y => k' (m' y))) => //.
- exact: (measurable_of m).
- exact: (measurable_of m').
- by move=> x y xy; apply: le; apply: mm.
Qed.

(* On a finite set, with r = (p / q)^(alpha - 1), this is the moment: the sum of p r = (p / q)^alpha q. *)
Theorem renyi_finite (T : finType) (p q r : T -> R) (Hp : masses p) (Hq : masses q) M : (forall x, 0 < q x) ->
  (forall x, [/\ 0 <= r x, power o (r x) = p x / q x * r x & r x = 0 -> p x = 0]) ->
  renyi_le o (fun x y => x = y) (finite_law Hp) (finite_law Hq) M <-> \sum_x p x * r x <= M.
Proof.
move=> q0 Hr; have p0 x : 0 <= p x by case: Hp.
split=> [H|le k k' _ _ k0 kk k'0].
  have pr x : power o (r x) * q x = p x * r x by case: (Hr x) => _ -> _; rewrite mulrAC divfK // gt_eqF.
  have := H r (fun x => power o (r x)) I I; rewrite /= (eq_bigr (fun x => p x * r x)) //.
  have -> : \sum_x q x * power o (r x) = \sum_x p x * r x by apply: eq_bigr => x _; rewrite mulrC pr.
  rewrite -mulrBl opprB addrC subrK mul1r; apply=> [x|x y ->|x]; [by case: (Hr x) | exact: lexx |].
  by apply: power_ge0; case: (Hr x).
apply: le_trans le; rewrite /= !mulr_sumr -sumrB; apply: ler_sum => x _; have [r0 rE rz] := Hr x.
apply: (@le_trans _ _ (al * (p x * k x) - (al - 1) * (q x * power o (k x)))).
  by rewrite ler_add2l ler_opp2 ler_wpmul2l ?less_one // ler_wpmul2l ?(ltW (q0 x)) // kk.
have [rxE|rN] := eqVneq (r x) 0.
  rewrite rz // !mul0r mulr0 sub0r oppr_le0 mulr_ge0 ?less_one // mulr_ge0 ?power_ge0 //; exact: ltW.
have kE : k x = r x * (k x / r x) by rewrite mulrC divfK.
have w0 : 0 <= k x / r x by rewrite divr_ge0.
rewrite kE power_mul // rE; move: (k x / r x) w0 => w w0.
have -> : al * (p x * (r x * w)) - (al - 1) * (q x * (p x / q x * r x * power o w)) =
    p x * r x * (al * w - (al - 1) * power o w) by field; rewrite gt_eqF.
by rewrite ler_pimulr ?mulr_ge0 // power_young.
Qed.
End OneOrder.
End Renyi.
