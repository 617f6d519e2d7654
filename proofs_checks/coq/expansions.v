(* Expansions of an update: from two states at most z apart to two states at most e(z) apart.

   Python: symbolic/derivations/losses.py and symbolic/derivations/iterations.py; the formulas are those of
   symbolic/formulas/update.py.  Pages: docs/proofs/kernel.md; the claims are ours/expansions/*.
   E is any real inner product space.  A gradient is a map from E to E; what a class of losses supposes of its
   gradients is a hypothesis (modulus, two_gradients), and so is what a projection is (nearest).  Square roots are
   not needed: within a x says that x has length at most a. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Expansions.
Variable R : realFieldType.

Record inner_product_space := Inner_product_space {
  vectors :> lmodType R;
  inner : vectors -> vectors -> R;
  inner_add : forall x y w, inner (x + y) w = inner x w + inner y w;
  inner_scale : forall k x y, inner (k *: x) y = k * inner x y;
  inner_sym : forall x y, inner x y = inner y x;
  inner_ge0 : forall x, 0 <= inner x x }.

Variable E : inner_product_space.
Implicit Types (x y u d g : E) (a c k m L z eta : R).

Lemma inner_addr x y w : inner w (x + y) = inner w x + inner w y.
Proof. by rewrite inner_sym inner_add !(inner_sym w). Qed.
Lemma inner_scaler k x y : inner y (k *: x) = k * inner y x.
Proof. by rewrite inner_sym inner_scale (inner_sym y). Qed.
Lemma inner_0l y : inner 0 y = 0.
Proof. by rewrite -(scale0r (0 : E)) inner_scale mul0r. Qed.
Lemma inner_opp x y : inner (- x) y = - inner x y.
Proof. by rewrite -scaleN1r inner_scale mulN1r. Qed.
Lemma inner_oppr x y : inner y (- x) = - inner y x.
Proof. by rewrite inner_sym inner_opp (inner_sym y). Qed.
Definition innerE := (inner_add, inner_addr, inner_scale, inner_scaler, inner_opp, inner_oppr).

(* x has length at most a. *)
Definition within a x := 0 <= a /\ inner x x <= a ^+ 2.

Lemma cauchy_schwarz x y : inner x y ^+ 2 <= inner x x * inner y y.
Proof.
have [y0|y0] := eqVneq (inner y y) 0; last first.
  have y_gt0 : 0 < inner y y by rewrite lt_neqAle eq_sym y0 inner_ge0.
  have := inner_ge0 (inner y y *: x - inner x y *: y); rewrite !innerE (inner_sym y x).
  set p := inner x y; set q := inner y y in y_gt0 *; set r := inner x x => H.
  have {H} : 0 <= q * (r * q - p ^+ 2) by move: H; congr (_ <= _); ring.
  by rewrite pmulr_rge0 // subr_ge0.
rewrite y0 mulr0; set p := inner x y; set r := inner x x.
have [->|p0] := eqVneq p 0; first by rewrite expr0n.
have := inner_ge0 (x - ((r + 1) / p) *: y); rewrite !innerE (inner_sym y x) y0 -/p -/r.
set k := (r + 1) / p => H; have kp : k * p = r + 1 by rewrite divfK.
have r0 : 0 <= r := inner_ge0 x.
have {H} : 0 <= r - 2%:R * (k * p) by move: H; congr (_ <= _); ring.
rewrite kp leNgt => /negP []; rewrite (_ : r - _ = - (r + 2%:R)); last by ring.
by rewrite oppr_lt0 ltr_paddl // ltr0n.
Qed.

Lemma within_inner a c x y : within a x -> within c y -> inner x y <= a * c.
Proof.
move=> [a0 xa] [c0 yc]; apply: le_trans (ler_norm _) _.
rewrite -ler_sqr ?nnegrE ?normr_ge0 ?mulr_ge0 // real_normK ?num_real // exprMn.
by apply: le_trans (cauchy_schwarz x y) _; apply: ler_pmul => //; apply: inner_ge0.
Qed.
Lemma within_le a c x : a <= c -> within a x -> within c x.
Proof.
move=> ac [a0 xa]; have c0 : 0 <= c := le_trans a0 ac; split=> //.
by apply: le_trans xa _; rewrite ler_sqr ?nnegrE.
Qed.
Lemma within_0 : within 0 0. Proof. by split=> //; rewrite inner_0l expr0n. Qed.
Lemma within_opp a x : within a x -> within a (- x).
Proof. by move=> [a0 xa]; split=> //; rewrite !innerE opprK. Qed.
Lemma within_add a c x y : within a x -> within c y -> within (a + c) (x + y).
Proof.
move=> xa yc; have := within_inner xa yc; move: xa yc => [a0 xa] [c0 yc] xy; split; first exact: addr_ge0.
rewrite !innerE (inner_sym y x) (_ : _ ^+ 2 = (a ^+ 2 + a * c) + (a * c + c ^+ 2)); last by ring.
by apply: ler_add; apply: ler_add.
Qed.
Lemma within_scale k a x : 0 <= k -> within a x -> within (k * a) (k *: x).
Proof.
move=> k0 [a0 xa]; split; first exact: mulr_ge0.
by rewrite !innerE mulrA -expr2 exprMn ler_wpmul2l // sqr_ge0.
Qed.
Lemma within_sum (I : finType) (J : pred I) (a : I -> R) (x : I -> E) :
  (forall i, J i -> within (a i) (x i)) -> within (\sum_(i | J i) a i) (\sum_(i | J i) x i).
Proof.
by move=> H; apply: (big_ind2 (fun a x => within a x)) => //; [exact: within_0|move=> *; exact: within_add].
Qed.
Lemma inner_sum (I : finType) (x : I -> E) y : inner (\sum_i x i) y = \sum_i inner (x i) y.
Proof. by apply: (big_ind2 (fun v r => inner v y = r)) => [|v r w s <- <-|//]; rewrite ?inner_0l ?inner_add. Qed.

(* Python: iterations._least.  Two bounds hold: the less of them does. *)
Theorem lesser a c x : within a x -> within c x -> within (Num.min a c) x.
Proof. by case: (leP a c). Qed.
(* losses.no_less. *)
Theorem no_less a c x : a <= c -> within a x -> within c x. Proof. exact: within_le. Qed.
(* losses.one_more, iterations._maps: a map that takes points z apart to points f apart, and another that is at most
   s from it at the second point. *)
Theorem maps f s x y (phi psi : E -> E) : within f (phi x - phi y) -> within s (phi y - psi y) ->
  within (f + s) (phi x - psi y).
Proof. by move=> H S; rewrite -(subrKA (phi y)); apply: within_add. Qed.
(* losses.from_equal_points, unmoved: one map takes equal points to equal points. *)
Theorem from_equal_points x y (phi : E -> E) : x = y -> within 0 (phi x - phi y).
Proof. by move=> ->; rewrite subrr; exact: within_0. Qed.

(* P x is the point of the convex set C nearest to x: the angle at P x towards any point of C is not acute. *)
Definition nearest (C : E -> Prop) (P : E -> E) :=
  forall x, C (P x) /\ forall w, C w -> inner (x - P x) (w - P x) <= 0.

(* "The projection on a convex set brings no two points farther apart": used by every rule, after the noise, too. *)
Theorem projected (C : E -> Prop) (P : E -> E) z x y : nearest C P -> within z (x - y) -> within z (P x - P y).
Proof.
move=> H [z0 xy]; split=> //; apply: le_trans xy; have [Cx Hx] := H x; have [Cy Hy] := H y.
have := ler_add (Hx _ Cy) (Hy _ Cx); set p := P x; set q := P y; rewrite addr0 => S.
rewrite -subr_ge0; have := inner_ge0 ((x - y) - (p - q)) => S2.
have {S S2} : 0 <= inner (x - y - (p - q)) (x - y - (p - q)) - 2%:R * (inner (x - p) (q - p) + inner (y - q) (p - q)).
  by rewrite subr_ge0; apply: le_trans S2; rewrite pmulr_rle0 // ltr0n.
by congr (_ <= _); rewrite !innerE !(inner_sym y x) !(inner_sym p _) !(inner_sym q y) !(inner_sym q x); ring.
Qed.

(* Clipping at K is the projection on the vectors of length at most K. *)
Definition clips K (clip : E -> E) := nearest (within K) clip.
Lemma clipped_gap K clip a g d : clips K clip -> within a (g - d) -> within (Num.min a (2%:R * K)) (clip g - clip d).
Proof.
move=> H gd; apply: lesser; first exact: projected H gd.
by rewrite mulr_natl mulr2n; apply: within_add; [case: (H g)|apply: within_opp; case: (H d)].
Qed.

(* A step along d, the difference of two gradients at points u apart. *)
Lemma contraction m L low high eta c z u d : 0 <= m -> m <= L -> low <= eta -> eta <= high -> 0 <= low ->
  1 - low * m <= c -> high * L - 1 <= c -> inner d d + m * L * inner u u <= (m + L) * inner d u ->
  within z u -> within (c * z) (u - eta *: d).
Proof.
move=> m0 mL eta_low eta_high low0 c_low c_high; set p := inner d u; set q := inner d d; set r := inner u u => qp uz.
have eta0 : 0 <= eta := le_trans low0 eta_low.
have L0 : 0 <= L := le_trans m0 mL.
have r0 : 0 <= r := inner_ge0 u.
set s := p - m * r; set e := inner (d - m *: u) (d - m *: u).
have eE : e = q - 2%:R * m * p + m ^+ 2 * r.
  by rewrite /e !innerE (inner_sym u d) -/p -/q -/r; ring.
have es : e <= (L - m) * s.
  rewrite eE -subr_ge0 (_ : _ - _ = (m + L) * p - (q + m * L * r)); last by rewrite /s; ring.
  by rewrite subr_ge0.
have ss : s ^+ 2 <= e * r.
  have := cauchy_schwarz (d - m *: u) u; rewrite -/e -/r; congr (_ <= _).
  by rewrite !innerE -/p -/r; congr (_ ^+ 2); rewrite /s; ring.
have l0 : 0 <= L - m by rewrite subr_ge0.
have e0 : 0 <= e := inner_ge0 _.
have s0 : 0 <= s.
  rewrite leNgt; apply/negP => s1; have : s ^+ 2 <= 0.
    apply: le_trans ss _; apply: mulr_le0_ge0 => //; apply: le_trans es _.
    by apply: mulr_ge0_le0 => //; apply: ltW.
  by apply/negP; rewrite -ltNge exprn_even_gt0 //= lt_eqF.
have sr : s <= (L - m) * r.
  have [->|s1] := eqVneq s 0; first exact: mulr_ge0.
  have {}s1 : 0 < s by rewrite lt_neqAle eq_sym s1.
  rewrite -(ler_pmul2l s1) -expr2; apply: le_trans ss _; rewrite mulrCA mulrA.
  by apply: ler_wpmul2r.
have sqr_le a : - c <= a -> a <= c -> a ^+ 2 <= c ^+ 2.
  move=> a1 a2; have c0 : 0 <= c by move: (le_trans a1 a2); rewrite -subr_ge0 opprK -mulr2n pmulrn_lge0.
  by rewrite -(real_normK (num_real a)) ler_sqr ?nnegrE // ler_norml a1.
have em : eta * m <= eta * L by rewrite ler_wpmul2l.
have lm : low * m <= eta * m by rewrite ler_wpmul2r.
have hL : eta * L <= high * L by rewrite ler_wpmul2r.
have c1 : 1 - eta * m <= c by apply: le_trans c_low; rewrite ler_add2l ler_opp2.
have c2 : eta * L - 1 <= c by apply: le_trans c_high; rewrite ler_add2r.
have cm : (1 - eta * m) ^+ 2 <= c ^+ 2.
  by apply: sqr_le => //; rewrite ler_oppl opprB; apply: le_trans c2; rewrite ler_add2r.
have cL : (1 - eta * L) ^+ 2 <= c ^+ 2.
  by apply: sqr_le; [rewrite ler_oppl opprB|apply: le_trans c1; rewrite ler_add2l ler_opp2].
have c0 : 0 <= c.
  have : 0 <= c + c.
    apply: le_trans (ler_add c1 c2); have -> : 1 - eta * m + (eta * L - 1) = eta * L - eta * m by ring.
    by rewrite subr_ge0.
  by rewrite -mulr2n pmulrn_lge0.
case: uz => z0 uz; split; first exact: mulr_ge0.
rewrite exprMn; apply: le_trans (_ : c ^+ 2 * r <= _); last by apply: ler_wpmul2l => //; apply: sqr_ge0.
have -> : inner (u - eta *: d) (u - eta *: d) =
  (1 - eta * m) ^+ 2 * r - 2%:R * eta * (1 - eta * m) * s + eta ^+ 2 * e.
  by rewrite eE !innerE (inner_sym u d) -/p -/q -/r /s; ring.
have eta_e : eta ^+ 2 * e <= eta ^+ 2 * ((L - m) * s) by rewrite ler_wpmul2l // sqr_ge0.
apply: le_trans (ler_add (lexx _) eta_e) _.
have -> : (1 - eta * m) ^+ 2 * r - 2%:R * eta * (1 - eta * m) * s + eta ^+ 2 * ((L - m) * s) =
  (1 - eta * m) ^+ 2 * r + (eta ^+ 2 * (L - m) - 2%:R * eta * (1 - eta * m)) * s by ring.
have [k1|/ltW k1] := leP (eta ^+ 2 * (L - m) - 2%:R * eta * (1 - eta * m)) 0.
  apply: le_trans (_ : (1 - eta * m) ^+ 2 * r <= _); last exact: ler_wpmul2r.
  by rewrite ger_addl; apply: mulr_le0_ge0.
apply: le_trans (_ : (1 - eta * L) ^+ 2 * r <= _); last exact: ler_wpmul2r.
apply: le_trans (ler_add (lexx _) (ler_wpmul2l k1 sr)) _.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

(* One update with step size eta along the mean of the gradients of a batch I, for the data of run 1 (g) and of run 2
   (g'), which agree but for the samples in J. *)
Section Batch.
Variables (I : finType) (J : pred I) (eta : R).
Hypothesis b_gt0 : (0 < #|I|)%N.
Let b : R := #|I|%:R.
Let k : R := #|J|%:R.
Definition update (g : I -> E -> E) (x : E) : E := x - (eta / b) *: \sum_i g i x.
Let b0 : 0 < b. Proof. by rewrite ltr0n. Qed.

(* The difference of two updates, one sample after the other. *)
Lemma update_gap (g g' : I -> E -> E) x y :
  update g x - update g' y = (x - y) + (eta / b) *: \sum_i - (g i x - g' i y).
Proof.
rewrite /update sumrN sumrB scalerN scalerBr; set u := _ *: _; set v := _ *: _.
by rewrite [- (y - v)]opprB [v - y]addrC addrACA opprB [v - u]addrC.
Qed.

Section Clipped.
Variables (K omega z : R) (clip : E -> E) (g g' : I -> E -> E) (x y : E).
Hypothesis eta0 : 0 <= eta.
Hypothesis clipK : clips K clip.
Hypothesis xy : within z (x - y).
(* The gradients of one sample at x and y differ by at most omega, which is the modulus at z. *)
Hypothesis modulus : forall i, ~~ J i -> within omega (g i x - g i y).
Hypothesis agree : forall i, ~~ J i -> g' i y = g i y.
Let of_clipped (h : I -> E -> E) i v := clip (h i v).

(* losses.other_data for losses with clipped gradients. *)
Theorem other_data_clipped : within (z + eta * (b - k) / b * Num.min omega (2%:R * K) + k * (2%:R * eta * K / b))
  (update (of_clipped g) x - update (of_clipped g') y).
Proof.
rewrite update_gap -addrA; apply: within_add => //.
have -> : eta * (b - k) / b * Num.min omega (2%:R * K) + k * (2%:R * eta * K / b) =
  eta / b * \sum_i (if J i then 2%:R * K else Num.min omega (2%:R * K)).
  rewrite (bigID J) /= (eq_bigr (fun=> 2%:R * K) (P := J)); last by move=> i ->.
  rewrite (eq_bigr (fun=> Num.min omega (2%:R * K)) (P := predC J)); last by move=> i /negbTE ->.
  have bk : #|predC J|%:R = b - k by rewrite /b /k -(cardC J) natrD addrAC subrr add0r.
  rewrite !sumr_const -[_ *+ #|J|]mulr_natl -[_ *+ #|predC J|]mulr_natl bk /k.
  by move: (lt0r_neq0 b0) => bn; field.
apply: within_scale; first by rewrite divr_ge0 // ltW.
apply: within_sum => i _; apply: within_opp; case: ifP => [_|/negbT Ji].
  by rewrite mulr_natl mulr2n; apply: within_add; [case: (clipK (g i x))|apply: within_opp; case: (clipK (g' i y))].
by rewrite /of_clipped agree //; apply: clipped_gap; [|apply: modulus].
Qed.
End Clipped.

(* losses.replaced: the samples in J move the update by 2 eta K / b each. *)
Theorem replaced K (g g' : I -> E -> E) y : 0 <= eta -> (forall i, ~~ J i -> g' i y = g i y) ->
  (forall i, J i -> within K (g i y)) -> (forall i, J i -> within K (g' i y)) ->
  within (k * (2%:R * eta * K / b)) (update g y - update g' y).
Proof.
move=> eta0 agree gK g'K; rewrite update_gap subrr add0r.
have -> : k * (2%:R * eta * K / b) = eta / b * \sum_(i | J i) 2%:R * K.
  by rewrite sumr_const -[_ *+ _]mulr_natl /k; move: (lt0r_neq0 b0) => bn; field.
rewrite [X in within _ (_ *: X)](bigID J) /= [X in _ + X]big1 ?addr0; last first.
  by move=> i /agree ->; rewrite subrr oppr0.
apply: within_scale; first by rewrite divr_ge0 // ltW.
by apply: within_sum => i Ji; apply: within_opp; rewrite mulr_natl mulr2n; apply: within_add;
  [apply: gK|apply: within_opp; apply: g'K].
Qed.

(* What convexity supposes of the gradients of one loss at two points: Nesterov 2004, Theorem 2.1.12, for an L-smooth
   and m-strongly convex loss; 2.1.5 for m = 0. *)
Definition two_gradients m L (g : E -> E) x y :=
  inner (g x - g y) (g x - g y) + m * L * inner (x - y) (x - y) <= (m + L) * inner (g x - g y) (x - y).

Let mean (h : I -> E) : E := b^-1 *: \sum_i h i.
Lemma inner_mean (h : I -> E) u : inner (mean h) u = b^-1 * \sum_i inner (h i) u.
Proof. by rewrite inner_scale inner_sum. Qed.
Lemma inner_mean_le (h : I -> E) : inner (mean h) (mean h) <= b^-1 * \sum_i inner (h i) (h i).
Proof.
have := inner_mean h; move: (mean h) => v vE.
have : 0 <= b^-1 * \sum_i inner (h i - v) (h i - v).
  by rewrite mulr_ge0 ?invr_ge0 ?(ltW b0) // sumr_ge0 // => i _; apply: inner_ge0.
rewrite (eq_bigr (fun i => inner (h i) (h i) - 2%:R * inner (h i) v + inner v v)); last first.
  by move=> i _; rewrite !innerE (inner_sym v); ring.
rewrite big_split /= sumrB -mulr_sumr sumr_const -[inner v v *+ _]mulr_natl -/b.
set p := \sum_i inner (h i) (h i); have -> : \sum_i inner (h i) v = b * inner v v by rewrite vE mulVKf ?lt0r_neq0.
by rewrite -(subr_ge0 (inner v v)); move: (lt0r_neq0 b0) => bn; congr (_ <= _); field.
Qed.

Section Convex.
Variables (m L low high c z : R) (g : I -> E -> E) (x y : E).
Hypothesis m0 : 0 <= m.
Hypothesis mL : m <= L.
Hypothesis eta_low : low <= eta.
Hypothesis eta_high : eta <= high.
Hypothesis low0 : 0 <= low.
Hypothesis c_low : 1 - low * m <= c.
Hypothesis c_high : high * L - 1 <= c.
Hypothesis two : forall i, two_gradients m L (g i) x y.
Hypothesis xy : within z (x - y).

(* losses.same_data for convex losses: the factor c is at least max(1 - low m, high L - 1). *)
Theorem same_data : within (c * z) (update g x - update g y).
Proof.
set u := x - y; set d := mean (fun i => g i x - g i y).
have -> : update g x - update g y = u - eta *: d.
  by rewrite update_gap sumrN scalerN /d /mean scalerA.
apply: (contraction m0 mL eta_low eta_high low0 c_low c_high) => //.
have bi : 0 <= b^-1 by rewrite invr_ge0 ltW.
have H : \sum_i (inner (g i x - g i y) (g i x - g i y) + m * L * inner u u) <=
  \sum_i (m + L) * inner (g i x - g i y) u.
  by apply: ler_sum => i _; apply: two.
have {H} := ler_wpmul2l bi H.
rewrite big_split /= sumr_const -[_ *+ #|_|]mulr_natl -/b mulrDr mulKf ?lt0r_neq0 // -mulr_sumr mulrCA.
rewrite -[b^-1 * \sum_i inner (g i x - g i y) u]inner_mean -/d => H; apply: le_trans H.
by rewrite ler_add2r; apply: inner_mean_le.
Qed.

(* losses.other_data for convex losses. *)
Theorem other_data K (g' : I -> E -> E) : (forall i, ~~ J i -> g' i y = g i y) ->
  (forall i, J i -> within K (g i y)) -> (forall i, J i -> within K (g' i y)) ->
  within (c * z + k * (2%:R * eta * K / b)) (update g x - update g' y).
Proof.
move=> agree gK g'K; apply: maps same_data _.
by have eta0 : 0 <= eta := le_trans low0 eta_low; apply: replaced.
Qed.
End Convex.
End Batch.
End Expansions.
