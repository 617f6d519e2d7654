(* The rule three laws: a variable that stays hidden, with a third run.

   Python: symbolic/kernel/rules.py, compare_with_third; symbolic/kernel/profiles.py, ThreeLaws; the numbers are those of
   numeric/contraction/hidden.py.  Page: docs/proofs/hidden_places.md.

   In case i the two runs have the laws K i and K' i, the third run has the law T in all cases, and the cases have the
   same masses w in both runs.  The divergences of K i and K' i, of K i and T, and of T and K' i are at most f i, h i and
   back i; nothing else is assumed of these functions. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
From lastiterate Require Import laws tables rules coins.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section ThreeLaws.
Variable R : archiFieldType.
Implicit Types (X : space R) (f h back : R -> R) (g c t e l : R).

(* The value of the page for the numbers c and t.  A term with the factor 0 is 0. *)
Definition third_value f h back g c t :=
  if 0 <= c then t * f (g / t) + (1 - t) * h (c / (1 - t))
  else f (g * t) - c * back (g * (1 - t) / - c).

Section OneCase.
Variables (X : space R) (P Q T : law X).

(* (P - g Q - c T)(A) <= e for all sets A. *)
Definition third_le g c e := forall A : set X, measurable_set A ->
  probability P A - g * probability Q A - c * probability T A <= e.

Lemma scaled (M N : law X) f s b : at_most M N f -> 0 <= s -> 0 <= b -> forall A, measurable_set A ->
  s * probability M A - b * probability N A <= s * f (b / s).
Proof.
move=> H; rewrite le_eqVlt => /orP [/eqP <-|s0] b0 A FA.
  by rewrite !mul0r sub0r oppr_le0 mulr_ge0 // probability_ge0.
have r0 : 0 <= b / s by rewrite divr_ge0 // ltW.
have := proj1 (at_mostP _ _ _) H _ r0 A FA; rewrite -(ler_pmul2l s0) mulrBr mulrA mulrCA divff ?gt_eqF //.
by rewrite mulr1.
Qed.

Theorem one_third f h back g c t : at_most P Q f -> at_most P T h -> at_most T Q back ->
  0 <= g -> 0 <= t -> t <= 1 -> third_le g c (third_value f h back g c t).
Proof.
move=> Hf Hh Hb g0 t0 t1 A FA; have t10 : 0 <= 1 - t by rewrite subr_ge0.
rewrite /third_value; case: ifP => [c0|/negbT]; last rewrite -ltNge => c0.
  have -> : probability P A - g * probability Q A - c * probability T A =
    (t * probability P A - g * probability Q A) + ((1 - t) * probability P A - c * probability T A) by ring.
  by apply: ler_add; [apply: (scaled Hf) | apply: (scaled Hh)].
have k0 : 0 < - c by rewrite oppr_gt0.
have -> : probability P A - g * probability Q A - c * probability T A =
  (probability P A - g * t * probability Q A) + (- c * probability T A - g * (1 - t) * probability Q A) by ring.
rewrite -[- (c * back _)]mulNr; apply: ler_add; last by apply: (scaled Hb); rewrite ?mulr_ge0 // ltW.
by apply: (proj1 (at_mostP _ _ _) Hf); rewrite ?mulr_ge0.
Qed.

(* The greatest value over the sets is convex in c. *)
Theorem third_mean g (J : finType) (l c e : J -> R) : masses l -> (forall j, third_le g (c j) (e j)) ->
  third_le g (\sum_j l j * c j) (\sum_j l j * e j).
Proof.
move=> [l0 l1] H A FA.
have -> : probability P A - g * probability Q A - (\sum_j l j * c j) * probability T A =
  \sum_j l j * (probability P A - g * probability Q A - c j * probability T A).
  rewrite mulr_suml -[probability P A - _]mul1r -{1}l1 mulr_suml -sumrB.
  by apply: eq_bigr => j _; ring.
by apply: ler_sum => j _; apply: ler_wpmul2l => //; apply: H.
Qed.
End OneCase.

(* The mean over the cases. *)
Section Cases.
Variables (X : space R) (I : finType) (w : I -> R) (W : masses w).
Variables (K K' : kernel (finite R I) X) (T : law X).

Lemma probability_of_cases (M : kernel (finite R I) X) A :
  probability (after (finite_law W) M) A = \sum_i w i * probability (M i) A.
Proof. by []. Qed.

Theorem hidden_cases g (c e : I -> R) : 0 <= g ->
  (forall i, third_le (K i) (K' i) T g (c i) (e i)) -> \sum_i w i * c i <= 0 ->
  hockey_stick (fun x y => x = y) (after (finite_law W) K) (after (finite_law W) K') g (\sum_i w i * e i).
Proof.
move=> g0 H none A B FA FB AB.
have le : probability (after (finite_law W) K') A <= probability (after (finite_law W) K') B.
  apply: (@expect_le _ _ (after (finite_law W) K')) => // x.
  by rewrite /indicator ler_nat; case: (A x) (AB x x erefl) => // ->.
apply: (@le_trans _ _ (probability (after (finite_law W) K) A - g * probability (after (finite_law W) K') A)).
  by rewrite ler_add2l ler_opp2 ler_wpmul2l.
rewrite !probability_of_cases.
apply: (@le_trans _ _ (\sum_i w i * (probability (K i) A - g * probability (K' i) A - c i * probability T A))).
  have -> : \sum_i w i * (probability (K i) A - g * probability (K' i) A - c i * probability T A) =
    \sum_i w i * probability (K i) A - g * (\sum_i w i * probability (K' i) A) -
    (\sum_i w i * c i) * probability T A.
    by rewrite mulr_sumr mulr_suml -!sumrB; apply: eq_bigr => i _; ring.
  by rewrite ler_addl oppr_ge0 mulr_le0_ge0 // probability_ge0.
by apply: ler_sum => i _; apply: ler_wpmul2l; [case: W | apply: H].
Qed.
End Cases.

(* The rule.  A choice: for each case i some numbers c i j and t i j, with chords of the weights l i j. *)
Section Rule.
Variables (I : finType) (w : I -> R) (f h back : I -> R -> R).

Definition choice g e := exists (J : finType) (l c t : I -> J -> R),
  [/\ forall i, masses (l i),
    forall i, forall j, 0 <= t i j /\ t i j <= 1,
    \sum_i w i * (\sum_j l i j * c i j) <= 0 &
    e = \sum_i w i * (\sum_j l i j * third_value (f i) (h i) (back i) g (c i j) (t i j))].

(* F is at most the greatest convex function below the values of all choices, up to any d > 0. *)
Definition hidden_profile (F : R -> R) := forall g d, 0 <= g -> 0 < d -> exists (J : finType) (m gs e : J -> R),
  [/\ masses m, forall j, 0 <= gs j, \sum_j m j * gs j = g,
    forall j, choice (gs j) (e j) & \sum_j m j * e j <= F g + d].

Variables (X : space R) (K K' : kernel (finite R I) X) (T : law X).
Hypothesis law_w : masses w.
Hypothesis known : forall i, divergence_le (fun x y => x = y) (K i) (K' i) (f i).
Hypothesis ahead : forall i, divergence_le (fun x y => x = y) (K i) T (h i).
Hypothesis behind : forall i, divergence_le (fun x y => x = y) T (K' i) (back i).

Theorem three_laws g e : 0 <= g -> choice g e ->
  hockey_stick (fun x y => x = y) (after (finite_law law_w) K) (after (finite_law law_w) K') g e.
Proof.
move=> g0 [J [l [c [t [l1 ts none ->]]]]].
apply: (hidden_cases law_w g0 _ none) => i; apply: third_mean => // j.
by case: (ts i j) => t0 t1; apply: one_third => //; [apply: known | apply: ahead | apply: behind].
Qed.

Theorem three_laws_profile F : hidden_profile F ->
  divergence_le (fun x y => x = y) (after (finite_law law_w) K) (after (finite_law law_w) K') F.
Proof.
move=> HF g g0 A B FA FB AB; rewrite leNgt; apply/negP => lt.
set v := probability _ A - _ in lt; have d0 : 0 < (v - F g) / 2%:R by rewrite divr_gt0 ?subr_gt0 ?ltr0n.
have [J [m [gs [e [[m0 m1] gs0 mean_g chosen below]]]]] := HF g _ g0 d0.
have : v <= \sum_j m j * e j.
  rewrite /v -mean_g; set PA := probability _ A; set QB := probability _ B.
  have -> : PA - (\sum_j m j * gs j) * QB = \sum_j m j * (PA - gs j * QB).
    by rewrite mulr_suml -[PA]mul1r -{1}m1 mulr_suml -sumrB; apply: eq_bigr => j _; ring.
  apply: ler_sum => j _; apply: ler_wpmul2l => //.
  by apply: (three_laws (gs0 j) (chosen j) FA FB AB).
rewrite leNgt => /negP; apply; apply: (le_lt_trans below).
have half : v = F g + ((v - F g) / 2%:R + (v - F g) / 2%:R).
  by rewrite -mulrDl -mulr2n -(mulr_natr (v - F g)) mulfK ?pnatr_eq0 // addrC subrK.
by rewrite [X in _ < X]half ltr_add2l ltr_addl.
Qed.
End Rule.

(* Larger profiles give larger values (covers). *)
Theorem third_value_le f h back f1 h1 back1 g c t : 0 <= g -> 0 <= t -> t <= 1 ->
  (forall r, 0 <= r -> f r <= f1 r) -> (forall r, 0 <= r -> h r <= h1 r) ->
  (forall r, 0 <= r -> back r <= back1 r) -> third_value f h back g c t <= third_value f1 h1 back1 g c t.
Proof.
move=> g0 t0 t1 ff hh bb; have t10 : 0 <= 1 - t by rewrite subr_ge0.
rewrite /third_value; case: ifP => [c0|/negbT]; last rewrite -ltNge => c0.
  by apply: ler_add; apply: ler_wpmul2l => //; [apply: ff | apply: hh]; rewrite divr_ge0.
have k0 : 0 < - c by rewrite oppr_gt0.
rewrite -[- (c * back _)]mulNr -[- (c * back1 _)]mulNr; apply: ler_add; first by apply: ff; rewrite mulr_ge0.
apply: ler_wpmul2l; first exact: ltW.
by apply: bb; rewrite divr_ge0 ?mulr_ge0 ?(ltW k0).
Qed.

(* With c = 0 and t = 1 the case is revealed. *)
Lemma revealed f h back g : third_value f h back g 0 1 = f g.
Proof. by rewrite /third_value lexx divr1 mul1r subrr mul0r addr0. Qed.

(* The pivot: a case whose law in run 2 is the third law, so h = f and the other profile is E_0.  Every number from -g on
   may be chosen, at the value f (g + c). *)
Theorem pivot_ahead f back g c : 0 < g -> 0 <= c -> third_value f f back g c (g / (g + c)) = f (g + c).
Proof.
move=> g0 c0; have a0 : 0 < g + c by rewrite ltr_paddr.
have [gn an] : g != 0 /\ g + c != 0 by rewrite !gt_eqF.
have E x : x != 0 -> x / (x / (g + c)) = g + c by move=> xn; rewrite invf_div mulrCA divff ?mulr1.
rewrite /third_value c0 (E g gn).
have -> : 1 - g / (g + c) = c / (g + c) by rewrite -{1}(divff an) -mulrBl addrC addKr.
have [->|cn] := eqVneq c 0; first by rewrite !mul0r addr0 addr0 divff // mul1r.
by rewrite (E c cn) -mulrDl -mulrDl divff // mul1r.
Qed.
Theorem pivot_behind f h g k : 0 < k -> k <= g -> third_value f h (@equal R) g (- k) (1 - k / g) = f (g - k).
Proof.
move=> k0 kg; have g0 : 0 < g by apply: lt_le_trans kg.
have [gn kn] : g != 0 /\ k != 0 by rewrite !gt_eqF.
rewrite /third_value oppr_ge0 leNgt k0 /= opprK mulNr opprK.
have -> : g * (1 - (1 - k / g)) = k by rewrite opprB addrC subrK mulrCA divff ?mulr1.
have -> : g * (1 - k / g) = g - k by rewrite mulrBr mulr1 mulrCA divff ?mulr1.
by rewrite divff // /equal subrr pos_0 // mulr0 addr0.
Qed.

(* Cases of one group have the same profiles and choices, so a group counts as one case of their weight together. *)
Lemma in_groups (I G : finType) (group : I -> G) (w : I -> R) (v : G -> R) :
  \sum_i w i * v (group i) = \sum_G0 (\sum_(i | group i == G0) w i) * v G0.
Proof.
rewrite (partition_big group xpredT) //=; apply: eq_bigr => G0 _; rewrite mulr_suml.
by apply: eq_bigr => i /eqP ->.
Qed.

(* One shuffled batch is a batch without replacement.  From equal points, the batch of the step has the sample with
   probability q, and the third law is that without the sample; the best choice has the value of swap_coin. *)
Theorem one_batch theta back q g : 0 < q -> q <= 1 -> 1 <= g ->
  choice (fun b : bool => if b then q else 1 - q) (fun b => if b then theta else @equal R)
    (fun b => if b then theta else @equal R) (fun b => if b then back else @equal R) g (above_one q theta g).
Proof.
move=> q0 q1 g1; set a := 1 + (g - 1) / q.
have g0 : 0 < g by apply: lt_le_trans ltr01 g1.
have qa : q * a = q + (g - 1) by rewrite /a mulrDr mulr1 mulrCA divff ?mulr1 // gt_eqF.
have c0 : 0 <= a - g.
  rewrite -(pmulr_rge0 _ q0) mulrBr qa; have -> : q + (g - 1) - q * g = (1 - q) * (g - 1) by ring.
  by rewrite mulr_ge0 // subr_ge0.
have ga : g + (a - g) = a by rewrite addrC subrK.
have a0 : 0 < a by rewrite -ga ltr_paddr.
have one (x : R) : \sum_(j : unit) 1 * x = x by rewrite big_const card_unit /= addr0 mul1r.
pose t := if g == 1 then 1 else 1 - (g - 1) / g.
have at_one : third_value (@equal R) (@equal R) (@equal R) g (1 - g) t = 0.
  have E1 : @equal R 1 = 0 by rewrite /equal subrr pos_0.
  rewrite /t; have [->|gn] := eqVneq g 1; first by rewrite subrr revealed E1.
  have k0 : 0 < g - 1 by rewrite subr_gt0 lt_neqAle eq_sym gn.
  by rewrite -[1 - g]opprB pivot_behind ?ler_subl_addl ?ler_addr ?ler01 // subKr E1.
exists [finType of unit], (fun _ _ => 1), (fun b _ => if b then a - g else 1 - g),
  (fun b _ => if b then g / a else t); split.
- by move=> b; split=> [_|]; rewrite ?ler01 // big_const card_unit /= addr0.
- case=> _; split.
  + by rewrite divr_ge0 ?ltW.
  + by rewrite ler_pdivr_mulr // mul1r -subr_ge0.
  + rewrite /t; case: ifP => _; rewrite ?ler01 // subr_ge0 ler_pdivr_mulr // mul1r ler_subl_addl ler_addr.
    exact: ler01.
  + by rewrite /t; case: ifP => _ //; rewrite ler_subl_addl ler_addr divr_ge0 ?subr_ge0 // ltW.
- rewrite big_bool /= !one mulrBr qa le_eqVlt; apply/orP; left; apply/eqP; ring.
- rewrite big_bool /= !one at_one mulr0 addr0 -{2}ga pivot_ahead // ga //.
Qed.
End ThreeLaws.
