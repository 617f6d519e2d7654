(* Rule step: one noisy update with a hidden coin and a third law.

   Python: symbolic/kernel/rules.py, Kernel.step; symbolic/kernel/lemmas.py (Expansion, Shift, Coin, Guide).
   Page: docs/proofs/enlarged_sets.md, Theorems 2 and 3.
   step_first and step_second hold on any space; their hypotheses are the cost of the coin, the cost of the shift
   and a coupling.  The second part of the file writes everything out on a finite commutative group, where the
   coupling follows from the expansion of the update.  The coins may have any values, and their law given the
   outcome is not used. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum finalg.
From mathcomp Require Import ring.
From lastiterate Require Import laws tables chain rules.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Step.
Variable R : archiFieldType.
Implicit Types (f S : R -> R) (N : table R).

Lemma same_law (X : space R) (P : law X) : divergence_le (fun x y => x = y) P P (@equal R).
Proof.
move=> g g0 A B FA FB AB; apply: probability_gap => //; apply: expect_le => // x.
by rewrite /indicator ler_nat; case: (A x) (AB x x erefl) => // ->.
Qed.
Lemma divergence_le_ext (X Y : space R) (near : X -> Y -> Prop) (P P1 : law X) (Q Q1 : law Y) f :
  (forall h, measurable h -> expect P h = expect P1 h) -> (forall h, measurable h -> expect Q h = expect Q1 h) ->
  divergence_le near P Q f -> divergence_le near P1 Q1 f.
Proof. by move=> EP EQ H g g0 A B FA FB AB; rewrite /probability -EP // -EQ //; apply: H. Qed.

(* What a step observes can be hidden: a point z of the first law and a point u of the second are near if u is the
   value of chi at z.  So the coin in z is averaged over within the expectation of the chain rule. *)
Theorem hidden_first (Z G W : space R) (J : law Z) (J' : law G) (chi : map Z G) (L : kernel Z W)
  (L' : kernel G W) S N :
  divergence_le (fun u u' => u = u') (image J chi) J' S ->
  (forall z, divergence_le (fun u u' => u = u') (L z) (L' (chi z)) (value N)) ->
  divergence_le (fun u u' => u = u') (after J L) (after J' L') (compose S N).
Proof.
move=> HS HN; apply: (chain_laws (near := fun z u => chi z = u)); last by move=> z u <-; apply: HN.
move=> g g0 A B FA FB AB; apply: le_trans (HS g g0 B B FB FB _); last by move=> x y ->.
rewrite ler_add2r; apply: (@expect_le _ _ J (indicator A) (fun z => indicator B (chi z))) => //.
  exact: (measurable_of chi FB).
by move=> z; rewrite /indicator ler_nat; case: (A z) (AB z _ erefl) => // ->.
Qed.
Theorem hidden_second (Z G W : space R) (J : law G) (J' : law Z) (chi : map Z G) (L : kernel G W)
  (L' : kernel Z W) S N :
  divergence_le (fun u u' => u = u') J (image J' chi) S ->
  (forall z, divergence_le (fun u u' => u = u') (L (chi z)) (L' z) (value N)) ->
  divergence_le (fun u u' => u = u') (after J L) (after J' L') (compose S N).
Proof.
move=> HS HN; apply: (chain_laws (near := fun u z => u = chi z)); last by move=> u z ->; apply: HN.
move=> g g0 A B FA FB AB; apply: le_trans (HS g g0 A A FA FA _); last by move=> x y ->.
rewrite ler_add2l ler_opp2; apply: ler_wpmul2l => //.
apply: (@expect_le _ _ J' (fun z => indicator A (chi z)) (indicator B)) => //; first exact: (measurable_of chi FA).
by move=> z; rewrite /indicator ler_nat; case: (A _) (AB _ z erefl) => // ->.
Qed.

(* The rule on any space.  Run 1: z holds the coin c and the part xi1 of the noise, and L z is the law of
   Pi(phi_c(x) + xi1 + xi2) given z.  The third law starts at y: chi z = chi_c(y) + xi1, and M z is the law of
   Pi(chi z + h_c + xi2), with the shift h_c of length at most a.  Run 2: u = phi'_c'(y) + xi1 has the law J', and
   L' u is the law of Pi(u + xi2).  The hypotheses: the coin costs S, every shift costs N, and the third law stays
   near run 1, which follows from |phi_c(x) - chi_c(y)| <= e and the same xi1 and xi2 in both. *)
Theorem step_first (Z G W : space R) (near : W -> W -> Prop) (J : law Z) (J' : law G) (chi : map Z G)
  (L M : kernel Z W) (L' : kernel G W) S N :
  divergence_le (fun u u' => u = u') (image J chi) J' S ->
  (forall z, divergence_le (fun u u' => u = u') (M z) (L' (chi z)) (value N)) ->
  (forall z, coupled near (L z) (M z)) ->
  divergence_le near (after J L) (after J' L') (compose S N).
Proof.
move=> HS HN C g g0 A B FA FB AB.
apply: le_trans (hidden_first HS HN g0 FB FB _); last by move=> x y ->.
rewrite ler_add2r !probability_after; apply: expect_le; try exact: measurable_from.
by move=> z; apply: (coupled_le (C z)).
Qed.
(* The third law starts at x and stays near run 2. *)
Theorem step_second (Z G W : space R) (near : W -> W -> Prop) (J : law G) (J' : law Z) (chi : map Z G)
  (L : kernel G W) (L' M : kernel Z W) S N :
  divergence_le (fun u u' => u = u') J (image J' chi) S ->
  (forall z, divergence_le (fun u u' => u = u') (L (chi z)) (M z) (value N)) ->
  (forall z, coupled near (M z) (L' z)) ->
  divergence_le near (after J L) (after J' L') (compose S N).
Proof.
move=> HS HN C g g0 A B FA FB AB.
apply: le_trans (hidden_second HS HN g0 FA FA _); last by move=> x y ->.
rewrite ler_add2l ler_opp2 !probability_after; apply: ler_wpmul2l => //.
apply: expect_le; try exact: measurable_from.
by move=> z; apply: (coupled_le (C z)).
Qed.

(* E_0 x N = N: a step without a coin costs its shift. *)
Lemma compose_equal N g : 0 <= g -> compose (@equal R) N g = value N g.
Proof.
move=> g0; rewrite /compose /value; congr (_ + _); rewrite big_mkcond /=; apply: eq_bigr => j _.
case: ltP => aj; last first.
  have -> : mass1 N j = 0 by apply/eqP; rewrite eq_le aj mass1_ge0.
  by rewrite pos_0 // sub0r oppr_le0 mulr_ge0 // ltW // mass2_gt0.
by rewrite /equal pos_scale ?(ltW aj) // mulrBr mulr1 mulrCA divff ?mulr1 // gt_eqF.
Qed.

(* ---- The same on a finite commutative group G, with the length len of a vector and a map Pi to the states. ---- *)
Variables (G : finZmodType) (len : G -> R) (W : finType) (near : W -> W -> Prop) (Pi : G -> W).
Variables xi1 xi2 : G -> R.
Hypothesis law1 : masses xi1.
Hypothesis law2 : masses xi2.

Definition any_map (T : finType) (U : space R) (m : T -> U) : map (finite R T) U :=
  @Map R (finite R T) U m (fun _ _ => I).
Definition any_kernel (T : finType) (U : space R) (K : T -> law U) : kernel (finite R T) U :=
  @Kernel R (finite R T) U K (fun _ _ => I).

Section Product.
Variables (A B : finType) (v : A -> R) (w : B -> R).
Lemma masses_pair : masses v -> masses w -> masses (fun x : A * B => v x.1 * w x.2).
Proof.
case=> v0 v1 [w0 w1]; split; first by move=> x; apply: mulr_ge0.
rewrite -(pair_bigA _ (fun a b => v a * w b)) /=.
by rewrite -[RHS]v1; apply: eq_bigr => a _; rewrite -mulr_sumr w1 mulr1.
Qed.
End Product.
Definition both (T : finType) (k : T -> R) (H : masses k) := masses_pair H (masses_pair law1 law2).

(* The law of the state Pi(m_c + xi1 + xi2), where m_c is the value of the map of the run for the coin c. *)
Definition noisy (T : finType) (k : T -> R) (H : masses k) (m : T -> G) : law (finite R W) :=
  image (finite_law (both H)) (@any_map _ (finite R W) (fun x : T * (G * G) => Pi (m x.1 + x.2.1 + x.2.2))).

(* The law of m_c + xi1, and the law of h + xi2. *)
Definition early (T : finType) (k : T -> R) (H : masses k) (m : T -> G) : law (finite R G) :=
  image (finite_law (masses_pair H law1)) (@any_map _ (finite R G) (fun x : T * G => m x.1 + x.2)).
Definition shifted (h : G) : law (finite R G) := image (finite_law law2) (@any_map _ (finite R G) (fun b => h + b)).

Lemma sum_noise (T : finType) (k : T -> R) (F : T -> G -> G -> R) :
  \sum_(x : T * (G * G)) k x.1 * (xi1 x.2.1 * xi2 x.2.2) * F x.1 x.2.1 x.2.2 =
  \sum_(x : T * G) k x.1 * xi1 x.2 * \sum_b xi2 b * F x.1 x.2 b.
Proof.
rewrite -(pair_bigA _ (fun c (n : G * G) => k c * (xi1 n.1 * xi2 n.2) * F c n.1 n.2)) /=.
rewrite -(pair_bigA _ (fun c a => k c * xi1 a * \sum_b xi2 b * F c a b)) /=.
apply: eq_bigr => c _; rewrite -(pair_bigA _ (fun a b => k c * (xi1 a * xi2 b) * F c a b)) /=.
by apply: eq_bigr => a _; rewrite mulr_sumr; apply: eq_bigr => b _; ring.
Qed.
Lemma expect_noisy (T : finType) (k : T -> R) (H : masses k) (m : T -> G) h :
  expect (noisy H m) h = \sum_(x : T * G) k x.1 * xi1 x.2 * \sum_b xi2 b * h (Pi (m x.1 + x.2 + b)).
Proof. exact: (sum_noise k (fun c a b => h (Pi (m c + a + b)))). Qed.

Variable a : R.
Variable N : table R.

(* The cost of a shift of xi2 of length at most a (lemmas.py, Shift). *)
Hypothesis cost : forall h, len h <= a -> divergence_le (fun u u' => u = u') (shifted h) (shifted 0) (value N).

(* Every vector has a part of length at most a such that the rest is shorter by a.  True in Euclidean spaces. *)
Hypothesis parts : forall d, exists h, len h <= a /\ len (d - h) <= Num.max (len d - a) 0.

Lemma shorter e (T : finType) (m m' : T -> G) : (forall c, len (m c - m' c) <= e) ->
  exists h : T -> G, forall c, len (h c) <= a /\ len (m c - m' c - h c) <= Num.max (e - a) 0.
Proof.
move=> H; apply: (fin_all_exists (P := fun c h => len h <= a /\ len (m c - m' c - h) <= Num.max (e - a) 0)) => c.
have [h [h1 h2]] := parts (m c - m' c); exists h; split => //.
by apply: (le_trans h2); rewrite le_maxl le_maxr ler_add2r H /= le_maxr lexx orbT.
Qed.
Lemma cancel (p q x y h : G) : p + x + y - (q + x + (h + y)) = p - q - h.
Proof.
rewrite (_ : q + x + (h + y) = (q + h) + (x + y)); last by rewrite addrACA.
by rewrite -[p + x + y]addrA opprD addrACA subrr addr0 opprD addrA.
Qed.

Lemma shift_after (m h : G) : divergence_le (fun u u' => u = u') (shifted h) (shifted 0) (value N) ->
  divergence_le (fun u u' => u = u') (image (shifted h) (@any_map _ (finite R W) (fun u => Pi (m + u))))
    (image (shifted 0) (@any_map _ (finite R W) (fun u => Pi (m + u)))) (value N).
Proof. by move=> H; apply: (map_both H) => x y ->. Qed.
Lemma shift_after' (m h : G) : divergence_le (fun u u' => u = u') (shifted 0) (shifted h) (value N) ->
  divergence_le (fun u u' => u = u') (image (shifted 0) (@any_map _ (finite R W) (fun u => Pi (m + u))))
    (image (shifted h) (@any_map _ (finite R W) (fun u => Pi (m + u)))) (value N).
Proof. by move=> H; apply: (map_both H) => x y ->. Qed.
(* The other order: shift both laws back. *)
Lemma cost_back h : len h <= a -> divergence_le (fun u u' => u = u') (shifted 0) (shifted (- h)) (value N).
Proof.
move=> ha; pose m := @any_map _ (finite R G) (fun u => - h + u).
have H : divergence_le (fun u u' => u = u') (image (shifted h) m) (image (shifted 0) m) (value N).
  by apply: (map_both (cost ha)) => x y ->.
by apply: divergence_le_ext H => f _ /=; apply: eq_bigr => b _; rewrite ?addKr ?add0r.
Qed.
Definition with_shift (T : finType) (h : T -> G) (u : T -> G -> G) : kernel
    (finite R [finType of T * G]) (finite R W) :=
  any_kernel (fun x : T * G => image (shifted (h x.1)) (@any_map _ (finite R W) (fun v => Pi (u x.1 x.2 + v)))).

Section OnePair.
Variables (C C' : finType) (coin : C -> R) (coin' : C' -> R).
Hypothesis lawC : masses coin.
Hypothesis lawC' : masses coin'.
Variables (e : R) (phi : C -> G) (phi' : C' -> G) (S : R -> R).
(* Points at most z' = max(e - a, 0) apart are near after Pi: Pi is 1-Lipschitz. *)
Hypothesis near_ : forall u v, len (u - v) <= Num.max (e - a) 0 -> near (Pi u) (Pi v).

(* The third law chi starts at y and stays near run 1. *)
Theorem group_step_first (chi : C -> G) : (forall c, len (phi c - chi c) <= e) ->
  divergence_le (fun u u' => u = u') (early lawC chi) (early lawC' phi') S ->
  @divergence_le R (finite R W) (finite R W) near (noisy lawC phi) (noisy lawC' phi') (compose S N).
Proof.
move=> He HS; have [h hP] := shorter He.
pose v := @any_map _ (finite R W) (fun x : C * (G * G) => Pi (chi x.1 + x.2.1 + (h x.1 + x.2.2))).
apply: (@move_first R (finite R W) near _ (image (finite_law (both lawC)) v)).
  by apply: coupled_image; case=> c [x y]; apply: near_; rewrite /= cancel; case: (hP c).
have L := @hidden_first _ _ _ (finite_law (masses_pair lawC law1)) (early lawC' phi')
  (@any_map _ (finite R G) (fun x : C * G => chi x.1 + x.2)) (with_shift h (fun c x => chi c + x))
  (any_kernel (fun u : G => image (shifted 0) (@any_map _ (finite R W) (fun w => Pi (u + w))))) S N HS.
apply: divergence_le_ext (L _).
- by move=> f _; apply/esym; exact: (sum_noise coin (fun c x y => f (Pi (chi c + x + (h c + y))))).
- move=> f _; rewrite expect_noisy /=; apply: eq_bigr => x _; congr (_ * _).
  by apply: eq_bigr => b _; rewrite add0r.
- by case=> c x; apply: (shift_after (chi c + x)); apply: cost; case: (hP c).
Qed.

(* The third law chi starts at x and stays near run 2. *)
Theorem group_step_second (chi : C' -> G) : (forall c, len (chi c - phi' c) <= e) ->
  divergence_le (fun u u' => u = u') (early lawC phi) (early lawC' chi) S ->
  @divergence_le R (finite R W) (finite R W) near (noisy lawC phi) (noisy lawC' phi') (compose S N).
Proof.
move=> He HS; have [h hP] := shorter He.
pose v := @any_map _ (finite R W) (fun x : C' * (G * G) => Pi (chi x.1 + x.2.1 + (- h x.1 + x.2.2))).
apply: (@move_second R (finite R W) near _ (image (finite_law (both lawC')) v)).
  apply: coupled_image; case=> c [x y]; apply: near_ => /=.
  by rewrite -[X in len X]opprK opprB cancel opprK opprD opprB; case: (hP c).
have L := @hidden_second _ _ _ (early lawC phi) (finite_law (masses_pair lawC' law1))
  (@any_map _ (finite R G) (fun x : C' * G => chi x.1 + x.2))
  (any_kernel (fun u : G => image (shifted 0) (@any_map _ (finite R W) (fun w => Pi (u + w)))))
  (with_shift (fun c => - h c) (fun c x => chi c + x)) S N HS.
apply: divergence_le_ext (L _).
- move=> f _; rewrite expect_noisy /=; apply: eq_bigr => x _; congr (_ * _).
  by apply: eq_bigr => b _; rewrite add0r.
- by move=> f _; apply/esym; exact: (sum_noise coin' (fun c x y => f (Pi (chi c + x + (- h c + y))))).
- by case=> c x; apply: (shift_after' (chi c + x)); apply: cost_back; case: (hP c).
Qed.
End OnePair.

Variables (C : finType) (coin : C -> R).
Hypothesis lawC : masses coin.

(* No hidden coin (Guide.OTHER): c is drawn by both runs from one law, and the third map is that of run 2. *)
Corollary group_step_without_coin (e : R) (phi phi' : C -> G) :
  (forall u v, len (u - v) <= Num.max (e - a) 0 -> near (Pi u) (Pi v)) ->
  (forall c, len (phi c - phi' c) <= e) ->
  @divergence_le R (finite R W) (finite R W) near (noisy lawC phi) (noisy lawC phi') (value N).
Proof.
move=> near_ He g g0; rewrite -compose_equal //.
have H := @group_step_first C C coin coin lawC lawC e phi phi' (@equal R) near_ phi' He.
by apply: H => //; apply: same_law.
Qed.
End Step.
