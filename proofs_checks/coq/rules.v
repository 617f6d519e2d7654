(* The rules identity, weaken, exchange, domain, apart, anything, observe and mean, and facts 2 to 4.

   Python: symbolic/kernel/rules.py.  Page: docs/proofs/enlarged_sets.md, "Four facts". *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
From lastiterate Require Import laws tables chain.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Rules.
Variable R : archiFieldType.
Implicit Types (X Y U V W : space R) (g : R) (f : R -> R).

(* E_0 = max(1 - g, 0), the profile of two equal laws (profiles.py, Equal). *)
Definition equal (g : R) := pos (1 - g).

Lemma probability_gap X Y (P : law X) (Q : law Y) A B g : 0 <= g -> measurable_set A -> measurable_set B ->
  probability P A <= probability Q B -> probability P A - g * probability Q B <= equal g.
Proof.
move=> g0 FA FB le; apply: (@le_trans _ _ ((1 - g) * probability P A)).
  by rewrite mulrBl mul1r ler_add2l ler_opp2 ler_wpmul2l.
rewrite /equal; case: (leP 0 (1 - g)) => s.
  by rewrite pos_id // ler_pimulr // probability_le1.
by rewrite pos_0 ?(ltW s) // mulr_le0_ge0 ?(ltW s) // probability_ge0.
Qed.

(* Every bound on the divergence of two laws is at least E_0. *)
Lemma equal_least X Y (near : X -> Y -> Prop) (P : law X) (Q : law Y) f g :
  divergence_le near P Q f -> 0 <= g -> equal g <= f g.
Proof.
move=> H g0; rewrite /equal /pos le_maxl.
have all_measurable (Z : space R) (b : bool) : measurable_set ((fun _ => b) : set Z) by apply: measurable_const.
apply/andP; split.
  have := H g g0 _ _ (all_measurable X true) (all_measurable Y true) (fun _ _ _ _ => isT).
  by rewrite /probability !expect_const mulr1.
have := H g g0 _ _ (all_measurable X false) (all_measurable Y false) (fun _ _ _ none => none).
by rewrite /probability !expect_const mulr0 subr0.
Qed.

(* Kernel.identity: no step. *)
Theorem identity X (near : X -> X -> Prop) : span near near (no_step X) (no_step X) equal.
Proof.
move=> x y xy g g0 A B FA FB AB; apply: probability_gap => //.
by rewrite /probability /= /indicator ler_nat; case: (A x) (AB x y xy) => // ->.
Qed.

(* Kernel.weaken: a smaller distance before, a larger distance after, a larger profile.  `covers` (profiles.py)
   decides the last hypothesis. *)
Theorem weaken X Y U V (near near1 : X -> Y -> Prop) (near' near1' : U -> V -> Prop)
  (K : kernel X U) (K' : kernel Y V) f h :
  span near near' K K' f -> (forall x y, near1 x y -> near x y) -> (forall u v, near' u v -> near1' u v) ->
  (forall g, 0 <= g -> f g <= h g) -> span near1 near1' K K' h.
Proof.
move=> H less more above x y xy g g0 A B FA FB AB; apply: le_trans (above g g0).
by apply: (H x y (less _ _ xy)) => // u v uv; apply: AB; apply: more.
Qed.

(* Kernel.exchange: a judgement about every pair of runs of a class that is closed under exchange. *)
Theorem exchange X U (near : X -> X -> Prop) (near' : U -> U -> Prop)
  (pair : kernel X U -> kernel X U -> Prop) f :
  (forall K K', pair K K' -> pair K' K) -> (forall x y, near x y -> near y x) ->
  (forall K K', pair K K' -> span near near' K K' f) ->
  forall K K', pair K K' -> forall x y, near x y -> divergence_le near' (K' y) (K x) f.
Proof. by move=> sym back H K K' KK' x y xy; apply: (H _ _ (sym _ _ KK')); apply: back. Qed.

(* Kernel.domain: the distance after the steps is at least the diameter, so all points are near. *)
Theorem domain U V (near' : U -> V -> Prop) (P : law U) (Q : law V) :
  (forall u v, near' u v) -> divergence_le near' P Q equal.
Proof.
move=> all g g0 A B FA FB AB; rewrite leNgt; apply/negP => lt.
have none u : A u = false.
  apply/negP => Au; move: lt; rewrite ltNge => /negP; apply; apply: probability_gap => //.
  apply: (@le_trans _ _ 1); first exact: probability_le1.
  rewrite -(expect_one Q); apply: expect_le => //; first exact: measurable_const.
  by move=> v; rewrite /indicator (AB u v (all u v) Au).
move: lt; rewrite ltNge => /negP; apply; apply: probability_gap => //.
apply: (@le_trans _ _ 0); last exact: probability_ge0.
rewrite -(expect_const P 0); apply: expect_le => //; first exact: measurable_const.
by move=> u; rewrite /indicator none.
Qed.

(* rules.py, anything: any steps cost at most 1. *)
Theorem anything U V (near' : U -> V -> Prop) (P : law U) (Q : law V) : divergence_le near' P Q (fun _ => 1).
Proof.
move=> g g0 A B FA FB _; rewrite ler_subl_addr (le_trans (probability_le1 P FA)) // ler_addl mulr_ge0 //.
exact: probability_ge0.
Qed.

(* The law of a function of a random point. *)
Definition image X U (P : law X) (m : map X U) := after P (map_kernel m).
Lemma probability_image X U (P : law X) (m : map X U) A :
  probability (image P m) A = expect P (fun x => indicator A (m x)).
Proof. by []. Qed.

(* Maps that keep near points near, such as a projection, which is 1-Lipschitz, cost nothing. *)
Theorem map_both X Y U V (near : X -> Y -> Prop) (near' : U -> V -> Prop) (P : law X) (Q : law Y)
  (m : map X U) (m' : map Y V) f :
  divergence_le near P Q f -> (forall x y, near x y -> near' (m x) (m' y)) ->
  divergence_le near' (image P m) (image Q m') f.
Proof.
move=> H mm g g0 A B FA FB AB.
apply: (H g g0 (fun x => A (m x)) (fun y => B (m' y))) => [||x y xy Ax].
- exact: (measurable_of m FA).
- exact: (measurable_of m' FB).
- by apply: AB Ax; apply: mm.
Qed.
(* rules.py, observe, at one state before the step: the state after it is a function m of the outcome, whose laws
   in the two runs are O and O'. *)
Corollary observe X U (O O' : law X) (m : map X U) f :
  divergence_le (fun x y => x = y) O O' f -> divergence_le (fun u v => u = v) (image O m) (image O' m) f.
Proof. by move=> H; apply: (map_both H) => x y ->. Qed.

(* A coupling of P and Q in which every pair of points is near: both are laws of functions of one outcome. *)
Definition coupled U V (near : U -> V -> Prop) (P : law U) (Q : law V) :=
  exists (O : space R) (J : law O) (u : map O U) (v : map O V),
    [/\ forall A, measurable_set A -> probability P A = probability (image J u) A,
        forall B, measurable_set B -> probability Q B = probability (image J v) B &
        forall w, near (u w) (v w)].
Lemma coupled_image O U V (near : U -> V -> Prop) (J : law O) (u : map O U) (v : map O V) :
  (forall w, near (u w) (v w)) -> coupled near (image J u) (image J v).
Proof. by move=> uv; exists O, J, u, v. Qed.
Lemma coupled_le U V (near : U -> V -> Prop) (P : law U) (Q : law V) A B : coupled near P Q ->
  measurable_set A -> measurable_set B -> (forall u v, near u v -> A u -> B v) ->
  probability P A <= probability Q B.
Proof.
move=> [O [J [u [v [EP EQ uv]]]]] FA FB AB; rewrite EP // EQ // !probability_image.
apply: expect_le; [exact: (measurable_of u FA) | exact: (measurable_of v FB) |].
by move=> w; rewrite /indicator ler_nat; case: (A (u w)) (AB _ _ (uv w)) => // ->.
Qed.

(* Fact 3, moving the first law: P is coupled with P1. *)
Theorem move_first U (near : U -> U -> Prop) (P P1 Q : law U) f :
  coupled near P P1 -> divergence_le (fun u v => u = v) P1 Q f -> divergence_le near P Q f.
Proof.
move=> C H g g0 A B FA FB AB; apply: le_trans (H g g0 B B FB FB _); last by move=> u v ->.
by apply: ler_sub => //; apply: (coupled_le C).
Qed.
(* Fact 3, moving the second law: Q1 is coupled with Q. *)
Theorem move_second U (near : U -> U -> Prop) (P Q1 Q : law U) f :
  coupled near Q1 Q -> divergence_le (fun u v => u = v) P Q1 f -> divergence_le near P Q f.
Proof.
move=> C H g g0 A B FA FB AB; apply: le_trans (H g g0 A A FA FA _); last by move=> u v ->.
by apply: ler_sub => //; apply: ler_wpmul2l => //; apply: (coupled_le C).
Qed.

(* Kernel.apart, where the infimum W_infinity <= z is attained by a coupling. *)
Theorem apart U V (near : U -> V -> Prop) (P : law U) (Q : law V) :
  coupled near P Q -> divergence_le near P Q equal.
Proof. by move=> C g g0 A B FA FB AB; apply: probability_gap => //; apply: (coupled_le C). Qed.

(* Fact 4: both runs draw w from one law J, and K w and K' w are the laws after the steps given w, from one pair of
   starting points.  A profile for each value of w. *)
Theorem mean_over O U V (near' : U -> V -> Prop) (J : law O) (K : kernel O U) (K' : kernel O V)
  (f : O -> R -> R) :
  (forall g, measurable (fun w => f w g)) -> (forall w, divergence_le near' (K w) (K' w) (f w)) ->
  divergence_le near' (after J K) (after J K') (fun g => expect J (fun w => f w g)).
Proof.
move=> Ff H g g0 A B FA FB AB; rewrite !probability_after.
have FK : measurable (fun w => probability (K w) A) by exact: measurable_from.
have FK' : measurable (fun w => probability (K' w) B) by exact: measurable_from.
rewrite -expect_scale // -expect_sub //; last exact: measurable_scale.
apply: expect_le => // [|w]; first by apply: measurable_sub => //; apply: measurable_scale.
exact: (H w).
Qed.

(* Kernel.mean: finitely many cases of weights w, each either for every value of the variable or on its event, an
   event at least as probable as its weight; events are disjoint; `failure` is the weight outside the cases.  The
   cases of `over` (count cases of one form, profiles.py Average) are cases like all others here. *)
Theorem mean O U V (near' : U -> V -> Prop) (J : law O) (K : kernel O U) (K' : kernel O V)
  (I : finType) (always : pred I) (event : I -> set O) (w : I -> R) (f : I -> R -> R) (failure : R) :
  (forall i x, always i || event i x -> divergence_le near' (K x) (K' x) (f i)) ->
  (forall i, measurable_set (event i)) ->
  (forall i j x, ~~ always i -> ~~ always j -> event i x -> event j x -> i = j) ->
  (forall i, ~~ always i -> w i <= probability J (event i)) ->
  (forall i, 0 <= w i) -> 0 <= failure -> failure + \sum_i w i = 1 ->
  divergence_le near' (after J K) (after J K') (fun g => failure + \sum_i w i * f i g).
Proof.
move=> H FE disjoint likely w0 fail0 total g g0 A B FA FB AB; rewrite !probability_after.
have FK : measurable (fun x => probability (K x) A) by exact: measurable_from.
have FK' : measurable (fun x => probability (K' x) B) by exact: measurable_from.
pose d x := probability (K x) A - g * probability (K' x) B.
have Fd : measurable d by apply: measurable_sub => //; apply: measurable_scale.
have -> : expect J (fun x => probability (K x) A) - g * expect J (fun x => probability (K' x) B) = expect J d.
  by rewrite -expect_scale // -expect_sub //; apply: measurable_scale.
have d1 x : d x <= 1 by exact: (@anything U V near' (K x) (K' x) g g0 A B FA FB AB).
have df i x : always i || event i x -> d x <= f i g by move=> E; apply: (H i x E).
pose Wr := failure + \sum_(i | always i) w i.
pose Wf := failure + \sum_(i | always i) w i * f i g.
have Wr0 : 0 <= Wr by rewrite addr_ge0 // sumr_ge0.
have split_w : Wr = 1 - \sum_(i | ~~ always i) w i.
  by rewrite -total (bigID always) /= addrA addrK.
have dW x : Wr * d x <= Wf.
  rewrite mulrDl; apply: ler_add; first by rewrite ler_pimulr.
  by rewrite mulr_suml; apply: ler_sum => i al; rewrite ler_wpmul2l // df // al.
pose D := if 0 < Wr then Wf / Wr else 1.
have dD x : d x <= D.
  by rewrite /D; case: ltP => // s; rewrite ler_pdivl_mulr // mulrC.
have WD : Wr * D <= Wf.
  rewrite /D; case: ltP => s; first by rewrite mulrCA divff ?mulr1 // gt_eqF.
  have Wr00 : Wr = 0 by apply/eqP; rewrite eq_le s Wr0.
  have f00 : failure = 0.
    apply/eqP; rewrite eq_le fail0 andbT -Wr00 ler_addl; exact: sumr_ge0.
  have w00 i : always i -> w i = 0.
    move=> al; apply/eqP; rewrite eq_le w0 andbT -Wr00 /Wr f00 add0r (bigD1 i) //= ler_addl.
    exact: sumr_ge0.
  by rewrite Wr00 mul0r /Wf f00 add0r big1 // => i al; rewrite w00 // mul0r.
pose m i := Num.min (f i g) D.
have mD i : m i <= D by rewrite le_minl lexx orbT.

have dm x : d x <= D - \sum_(i | ~~ always i) indicator (event i) x * (D - m i).
  have zero : (forall i, ~~ always i -> ~~ event i x) -> \sum_(i | ~~ always i) indicator (event i) x * (D - m
    i) = 0.
    by move=> no; apply: big1 => i al; rewrite /indicator (negbTE (no i al)) mul0r.
  case: (pickP (fun i => ~~ always i && event i x)) => [i /andP [al Ei]|none]; last first.
    by rewrite zero ?subr0 // => i al; have := none i; rewrite al /= => ->.
  rewrite (bigD1 i) //= big1 ?addr0.
    by rewrite /indicator Ei mul1r opprB addrCA subrr addr0 le_minr dD df // Ei orbT.
  move=> j /andP [aj ne]; rewrite /indicator; case: (boolP (event j x)) => Ej; last by rewrite mul0r.
  by case/eqP: ne; apply: disjoint Ej Ei.
have Findicator i : measurable (fun x => indicator (event i) x * (D - m i)).
  by apply: (@measurable_ext _ _ (fun x => (D - m i) * indicator (event i) x)) => [x|]; [rewrite mulrC |
    apply/measurable_scale/FE].
pose h i x := if always i then 0 else indicator (event i) x * (D - m i).
have Fh i : measurable (h i) by rewrite /h; case: (always i) => //; apply: measurable_const.
have Fsum s : measurable (fun x => \sum_(i <- s) h i x).
  elim: s => [|i s IH]; first by apply: measurable_ext (measurable_const _ 0) => x; rewrite big_nil.
  by apply: measurable_ext (measurable_add (Fh i) IH) => x; rewrite big_cons.
have Msum s : expect J (fun x => \sum_(i <- s) h i x) = \sum_(i <- s) expect J (h i).
  elim: s => [|i s IH]; last rewrite big_cons -IH -expect_add //.
    rewrite big_nil -[RHS](expect_const J); apply: expect_ext => [|x]; [exact: Fsum | by rewrite big_nil].
  by apply: expect_ext => [|x]; [exact: Fsum | rewrite big_cons].
apply: (@le_trans _ _ (expect J (fun x => D - \sum_i h i x))).
  apply: expect_le => // [|x]; first by apply: (measurable_sub (measurable_const _ _)); apply: Fsum.
  apply: (le_trans (dm x)); rewrite big_mkcond /= ler_add2l ler_opp2.
  by apply: ler_sum => i _; rewrite /h; case: (always i).
rewrite expect_sub; [|exact: measurable_const|exact: Fsum].
rewrite expect_const Msum.
apply: (@le_trans _ _ (D - \sum_(i | ~~ always i) w i * (D - m i))).
  rewrite ler_add2l ler_opp2 [X in X <= _]big_mkcond /=; apply: ler_sum => i _; rewrite /h.
  case: (boolP (always i)) => al /=; first by rewrite expect_const.
  have -> : expect J (fun x => indicator (event i) x * (D - m i)) = (D - m i) * probability J (event i).
    by rewrite -expect_scale; [apply: expect_ext => // x; rewrite mulrC | apply: FE].
  by rewrite mulrC ler_wpmul2l ?subr_ge0 // likely.
have -> : D - \sum_(i | ~~ always i) w i * (D - m i) = \sum_(i | ~~ always i) w i * m i + Wr * D.
  rewrite split_w mulrBl mul1r [RHS]addrC -addrA; congr (_ + _).
  rewrite mulr_suml -sumrN -sumrN -big_split /=; apply: eq_bigr => i _; ring.
apply: (le_trans (ler_add (lexx _) WD)).
rewrite /Wf addrCA ler_add2l [X in _ <= X](bigID always) /= addrC ler_add2l.
by apply: ler_sum => i _; rewrite ler_wpmul2l // le_minl lexx.
Qed.

(* Fact 2: the divergence is convex in g, so a mean of upper bounds at several g is an upper bound at the mean of
   these g.  So the greatest convex function below upper bounds is an upper bound (Contracted). *)
Theorem least U V (near' : U -> V -> Prop) (P : law U) (Q : law V) (I : finType) (f : I -> R -> R)
  (l gs : I -> R) :
  (forall i, divergence_le near' P Q (f i)) -> (forall i, 0 <= l i) -> \sum_i l i = 1 ->
  (forall i, 0 <= gs i) ->
  hockey_stick near' P Q (\sum_i l i * gs i) (\sum_i l i * f i (gs i)).
Proof.
move=> H l0 l1 gs0 A B FA FB AB.
have -> : probability P A - (\sum_i l i * gs i) * probability Q B = \sum_i l i * (probability P A - gs i *
  probability Q B).
  rewrite mulr_suml -[X in X - _]mul1r -l1 mulr_suml -sumrB; apply: eq_bigr => i _; ring.
by apply: ler_sum => i _; apply: ler_wpmul2l => //; apply: (H i).
Qed.

(* profiles.py, Chords: chords through upper bounds are upper bounds. *)
Corollary chord U V (near' : U -> V -> Prop) (P : law U) (Q : law V) g1 g2 e1 e2 l :
  0 <= g1 -> 0 <= g2 -> 0 <= l -> l <= 1 ->
  hockey_stick near' P Q g1 e1 -> hockey_stick near' P Q g2 e2 ->
  hockey_stick near' P Q (l * g1 + (1 - l) * g2) (l * e1 + (1 - l) * e2).
Proof.
move=> g10 g20 l0 l1 H1 H2 A B FA FB AB.
have -> : probability P A - (l * g1 + (1 - l) * g2) * probability Q B =
  l * (probability P A - g1 * probability Q B) + (1 - l) * (probability P A - g2 * probability Q B) by ring.
by apply: ler_add; apply: ler_wpmul2l; rewrite ?subr_ge0 //; [apply: H1 | apply: H2].
Qed.

(* The other order of the two laws, for any relation near: E_g(Q || P) = 1 - g + g E_(1/g)(P || Q), because the sets
   A and B of the one order are the complements of the sets B and A of the other. *)
Theorem reflect X Y (near : X -> Y -> Prop) (P : law X) (Q : law Y) g e : 0 < g ->
  hockey_stick near P Q (1 / g) e -> hockey_stick (fun y x => near x y) Q P g (1 - g + g * e).
Proof.
move=> g0 H B A FB FA BA.
have near_complement x y : near x y -> complement A x -> complement B y.
  by move=> xy; apply: contra; apply: BA xy.
have := H _ _ (measurable_complement FA) (measurable_complement FB) near_complement.
rewrite !probability_complement // => {}H.
have -> : probability Q B - g * probability P A =
    1 - g + g * ((1 - probability P A) - 1 / g * (1 - probability Q B)).
  have -> : g * (1 - probability P A - 1 / g * (1 - probability Q B)) =
    g * (1 - probability P A) - (g / g) * (1 - probability Q B) by ring.
  by rewrite divff ?gt_eqF //; ring.
by rewrite ler_add2l ler_pmul2l.
Qed.
(* The reflection of a profile; E_0 is its own. *)
Definition reflected f g := 1 - g + g * f (1 / g).
Lemma reflect_equal X Y (near : X -> Y -> Prop) (P : law X) (Q : law Y) :
  divergence_le near P Q equal -> divergence_le (fun y x => near x y) Q P equal.
Proof.
move=> H g; rewrite le_eqVlt => /orP [/eqP <-|g0].
  move=> B A FB FA BA; rewrite mul0r subr0 /equal subr0 pos_id ?ler01 //; exact: probability_le1.
have r0 : 0 <= 1 / g by rewrite divr_ge0 ?ler01 ?ltW.
have := reflect g0 (H _ r0); rewrite /equal.
have -> : 1 - g + g * pos (1 - 1 / g) = pos (1 - g); last by [].
rewrite pos_scale ?ltW // mulrBr mulr1 mulrCA divff ?gt_eqF // mulr1.
case: (leP 1 g) => g1; first by rewrite pos_id ?subr_ge0 // pos_0 ?subr_le0 // addrA subrK subrr.
by rewrite pos_0 ?subr_le0 ?(ltW g1) // pos_id ?subr_ge0 ?(ltW g1) // addr0.
Qed.
End Rules.
