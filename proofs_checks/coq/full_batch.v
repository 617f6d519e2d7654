(* Theorem 3.1 of Chien & Li 2025, convex losses: two runs of projected noisy gradient descent on full batches.

   Ledger: chien_li/theorem_3_1/convex and ours/derived/convex_window.  Python: symbolic/derivations/known_batches.py.
   Page: docs/proofs/trusted.md.
   A run repeats x -> Pi(x - eta (mean gradient at x) + noise) on vectors of any dimension.  No square root is used: a
   vector x is at most z long if dot x x <= z^2. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
From lastiterate Require Import laws tables chain rules step renyi.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section FullBatch.
Variable R : archiFieldType.

(* The points of E are vectors with an inner product, and translations are measurable. *)
Variables (E : space R) (vectors : GRing.Lmodule.class_of R E).
#[local] Canonical E_zmodType := @GRing.Zmodule.Pack E (GRing.Lmodule.base vectors).
#[local] Canonical E_lmodType := @GRing.Lmodule.Pack R (Phant R) E vectors.
Variable dot : E -> E -> R.
Hypothesis dotC : forall x y, dot x y = dot y x.
Hypothesis dotDl : forall x y z, dot (x + y) z = dot x z + dot y z.
Hypothesis dotZl : forall k x y, dot (k *: x) y = k * dot x y.
Hypothesis dot_ge0 : forall x, 0 <= dot x x.
Hypothesis dot_eq0 : forall x, dot x x = 0 -> x = 0.
Definition short (z : R) (x : E) := dot x x <= z ^+ 2.
Definition near (z : R) (x y : E) := short z (x - y).
Hypothesis measurable_shift : forall (u : E) h, measurable h -> measurable (fun b : E => h (u + b)).
Definition shift (u : E) : map E E := Map (measurable_shift u).

(* The domain C has diameter D, and Pi v is its point nearest to v: C is convex. *)
Variables (C : E -> Prop) (D : R) (Pi : map E E).
Hypothesis in_domain : forall v, C (Pi v).
Hypothesis nearest : forall v c, C c -> dot (v - Pi v) (c - Pi v) <= 0.
Hypothesis diameter : forall x y, C x -> C y -> near D x y.

(* The noise has the law xi, and u + noise the law add_noise u. *)
Variables (xi : law E) (add_noise : kernel E E).
Hypothesis adds : forall u h, measurable h -> expect (add_noise u) h = expect xi (fun b => h (u + b)).
Definition step (phi : map E E) : kernel E E :=
  then_kernel (map_kernel phi) (then_kernel add_noise (map_kernel Pi)).
Variable start : law E.
Fixpoint run (phi : map E E) t : law E := if t is t'.+1 then after (run phi t') (step phi) else start.

(* phi is a step of gradient descent for n losses, convex and L-smooth, with gradients of length at most K. *)
Variables (n : nat) (L eta K : R).
Hypothesis signs : [/\ (0 < n)%N, 0 <= L, 0 <= eta, 0 <= K & 0 <= D].
Hypothesis step_size : eta * L <= 2%:R.
Definition convex_smooth (f : E -> R) (g : E -> E) := forall x y, f x + dot (g x) (y - x) <= f y /\
  f y <= f x + dot (g x) (y - x) + L / 2%:R * dot (y - x) (y - x).
Definition descends (g : 'I_n -> E -> E) (phi : map E E) := [/\ forall i, exists f, convex_smooth f (g i),
  forall i x, short K (g i x) & forall x, phi x = x - (eta / n%:R) *: \sum_i g i x].
Definition adjacent (g g' : 'I_n -> E -> E) := exists i0, forall i x, i != i0 -> g i x = g' i x.
Definition sensitivity := 2%:R * eta * K / n%:R.
Local Notation s := sensitivity.
(* A bound on the distance of the two runs after tau steps. *)
Definition reach tau := Num.min (s * tau%:R) (Num.min (2%:R * eta * K * tau%:R) D).
(* At the order alpha a shift of the noise by h costs gauss(|h|^2).  For Gaussian noise of variance sigma^2 this holds with
   gauss(r) = exp(alpha (alpha - 1) r / (2 sigma^2)). *)
Definition gaussian (o : order R) (gauss : R -> R) := [/\ forall x y, gauss (x + y) = gauss x * gauss y,
  forall x y, x <= y -> gauss x <= gauss y &
  forall h, renyi_le o (fun u v => u = v) xi (image xi (shift h)) (gauss (dot h h))].

(* ---- Inner products. ---- *)
Lemma dotDr x y z : dot z (x + y) = dot z x + dot z y. Proof. by rewrite dotC dotDl !(dotC z). Qed.
Lemma dotZr k x y : dot y (k *: x) = k * dot y x. Proof. by rewrite dotC dotZl (dotC y). Qed.
Lemma dotNl x y : dot (- x) y = - dot x y. Proof. by rewrite -scaleN1r dotZl mulN1r. Qed.
Lemma dotNr x y : dot y (- x) = - dot y x. Proof. by rewrite dotC dotNl (dotC y). Qed.
Lemma dot0l y : dot 0 y = 0. Proof. by rewrite -(scale0r 0) dotZl mul0r. Qed.
Lemma dot_suml (I : finType) (v : I -> E) y : dot (\sum_i v i) y = \sum_i dot (v i) y.
Proof. by apply: (big_morph (fun x => dot x y)) => [x z|]; rewrite ?dotDl ?dot0l. Qed.
Definition dots := (dotDl, dotDr, dotNl, dotNr, dotZl, dotZr).

Lemma cauchy x y : dot x y ^+ 2 <= dot x x * dot y y.
Proof.
have [yE|yE] := eqVneq (dot y y) 0; first by rewrite (dot_eq0 yE) !(dotC _ 0) !dot0l expr0n mulr0.
have yp : 0 < dot y y by rewrite lt_neqAle eq_sym yE dot_ge0.
rewrite -subr_ge0 -(pmulr_rge0 _ yp).
have := dot_ge0 (dot y y *: x - dot x y *: y); rewrite !dots (dotC y x); congr (_ <= _); ring.
Qed.
Lemma short_add a b x y : 0 <= a -> 0 <= b -> short a x -> short b y -> short (a + b) (x + y).
Proof.
rewrite /short => a0 b0 xa yb; have xy : dot x y <= a * b.
  apply: (le_trans (ler_norm _)); rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?mulr_ge0 // ?normr_ge0 //.
  rewrite real_normK ?num_real // exprMn; apply: (le_trans (cauchy x y)).
  by apply: ler_pmul.
rewrite !dots (dotC y x) sqrrD mulr2n.
have -> : dot x x + dot x y + (dot x y + dot y y) = dot x x + (dot x y + dot x y) + dot y y by ring.
by do !apply: ler_add.
Qed.
Lemma short_scale k a x : short a x -> short (k * a) (k *: x).
Proof. by rewrite /short !dots => H; rewrite exprMn mulrA -expr2; apply: ler_wpmul2l => //; apply: sqr_ge0. Qed.
Lemma short_opp a x : short a x -> short a (- x). Proof. by rewrite /short !dots opprK. Qed.
Lemma near_sym z x y : near z x y -> near z y x.
Proof. by rewrite /near => /short_opp; rewrite opprB. Qed.
Lemma short_le a b x : 0 <= a -> a <= b -> short a x -> short b x.
Proof. by move=> a0 ab H; apply: (le_trans H); rewrite ler_expn2r // nnegrE // (le_trans a0). Qed.
Lemma near0 x y : near 0 x y -> x = y.
Proof.
rewrite /near /short expr0n => le; have z : dot (x - y) (x - y) = 0 by apply/eqP; rewrite eq_le le dot_ge0.
by rewrite -(subrK y x) (dot_eq0 z) add0r.
Qed.

(* Every vector is one of length at most c and a rest shorter by c (the hypothesis `parts` of step.v). *)
Lemma parts z c d : 0 <= z -> 0 <= c -> short (z + c) d -> exists h, short c h /\ short z (d - h).
Proof.
move=> z0 c0 H; have [e|e] := eqVneq (z + c) 0.
  exists d; rewrite subrr /short dot0l sqr_ge0; split=> //; apply: (le_trans H).
  by rewrite e expr0n sqr_ge0.
have p : 0 <= (z + c)^-1 by rewrite invr_ge0 addr_ge0.
exists ((c / (z + c)) *: d); split.
  by have := short_scale (c / (z + c)) H; rewrite divfK.
have -> : d - (c / (z + c)) *: d = (z / (z + c)) *: d.
  by rewrite -{1}[d]scale1r -scalerBl -(divff e) -mulrBl addrK.
by have := short_scale (z / (z + c)) H; rewrite divfK.
Qed.

(* ---- The projection does not expand. ---- *)
Lemma projection z u v : near z u v -> near z (Pi u) (Pi v).
Proof.
rewrite /near /short; apply: le_trans; set d := u - v; set p := Pi u - Pi v.
have H : 0 <= dot (d - p) p.
  have -> : d - p = (u - Pi u) - (v - Pi v) by rewrite /d /p !opprB addrACA [RHS]addrACA [- v - _]addrC.
  have := nearest u (in_domain v); have := nearest v (in_domain u).
  have -> : Pi v - Pi u = - p by rewrite opprB.
  rewrite -/p dotNr oppr_le0 => H1 H2.
  by rewrite dotDl dotNl addr_ge0 // oppr_ge0.
move: d p H => d p H; rewrite -subr_ge0.
have -> : dot d d - dot p p = dot (d - p) (d - p) + 2%:R * dot (d - p) p.
  by rewrite !dots (dotC p d); ring.
by rewrite addr_ge0 // mulr_ge0 // ler0n.
Qed.

(* ---- A step of gradient descent does not expand: of convex and L-smooth losses with eta L <= 2. ---- *)
Lemma cocoercive f g x y : convex_smooth f g -> dot (g x - g y) (g x - g y) <= L * dot (g x - g y) (x - y).
Proof.
have [_ L_ge0 _ _ _] := signs; move=> H; case: (eqVneq L 0) => [L00|ne].
  have flat u v : f v = f u + dot (g u) (v - u).
    by have [lo hi] := H u v; apply/eqP; rewrite eq_le lo andbT (le_trans hi) // L00 !mul0r addr0.
  rewrite L00 mul0r; set p := g x - g y.
  have ex : f (x + p) = f x + dot (g x) p by rewrite (flat x) addrAC subrr add0r.
  have ey : f (x + p) = f x + dot (g y) p.
    have -> : x + p = y + (x - y + p) by rewrite [RHS]addrA [y + _]addrC subrK.
    by rewrite (flat y (y + _)) (flat y x) [y + _]addrC addrK dotDr addrA.
  by rewrite {1}/p dotDl dotNl; move: ey; rewrite ex => /addrI ->; rewrite subrr.
have L0 : 0 < L by rewrite lt_neqAle eq_sym ne.
have half u v : f u + dot (g u) (v - u) + dot (g v - g u) (g v - g u) / (2%:R * L) <= f v.
  set d := g v - g u; have [lo _] := H u (v - L^-1 *: d); have [_ hi] := H v (v - L^-1 *: d).
  have e1 : v - L^-1 *: d - v = - (L^-1 *: d) by rewrite addrAC subrr add0r.
  have e2 : v - L^-1 *: d - u = v - u - L^-1 *: d by rewrite addrAC.
  have e3 : dot d d = dot (g v) d - dot (g u) d by rewrite -dotNl -dotDl.
  move: (le_trans lo hi); rewrite e1 e2 -subr_ge0 -[X in _ -> is_true X]subr_ge0.
  rewrite (dotDr (v - u)) !dotNr !dotNl !dotZr !dotZl e3 opprK; congr (_ <= _); field.
  by rewrite gt_eqF.
have := ler_add (half x y) (half y x).
have -> : g y - g x = - (g x - g y) by rewrite opprB.
have -> : y - x = - (x - y) by rewrite opprB.
have -> : dot (g x - g y) (x - y) = dot (g x) (x - y) - dot (g y) (x - y) by rewrite dotDl dotNl.
rewrite !dotNr !dotNl opprK -subr_ge0 -[X in _ -> is_true X]subr_ge0 -(pmulr_rge0 _ L0).
by congr (_ <= _); field; rewrite gt_eqF.
Qed.
Lemma descent f g z x y : convex_smooth f g -> near z x y -> near z (x - eta *: g x) (y - eta *: g y).
Proof.
have [_ L_ge0 eta0 _ _] := signs; move=> H; rewrite /near /short; apply: le_trans.
have -> : x - eta *: g x - (y - eta *: g y) = x - y - eta *: (g x - g y).
  by rewrite opprB addrACA scalerBr opprB [RHS]addrACA [- y - _]addrC.
have := cocoercive x y H; move: (x - y) (g x - g y) => d p le.
rewrite -subr_ge0; have -> : dot d d - dot (d - eta *: p) (d - eta *: p) = eta * (2%:R * dot p d - eta * dot p p).
  by rewrite !dots (dotC d p); ring.
apply: mulr_ge0 => //; case: (eqVneq L 0) => [L00|ne].
  have -> : p = 0 by apply: dot_eq0; apply/eqP; rewrite eq_le dot_ge0 andbT; move: le; rewrite L00 mul0r.
  have zero z' : dot 0 z' = 0 by rewrite -(scale0r (0 : E)) dotZl mul0r.
  by rewrite !zero !mulr0 subrr.
have L0 : 0 < L by rewrite lt_neqAle eq_sym ne.
rewrite -(pmulr_rge0 _ L0) mulrBr mulrCA subr_ge0.
apply: le_trans (ler_wpmul2l (ler0n _ 2) le); rewrite mulrA [L * _]mulrC.
by apply: ler_wpmul2r.
Qed.
(* The mean of the losses is convex and L-smooth. *)
Lemma mean_loss g phi : descends g phi -> exists f h, convex_smooth f h /\ forall x, phi x = x - eta *: h x.
Proof.
have [n0 _ _ _ _] := signs; case=> each _ E_; have [f F] := fin_all_exists each.
exists (fun x => n%:R^-1 * \sum_i f i x), (fun x => n%:R^-1 *: \sum_i g i x); split; last first.
  by move=> x; rewrite E_ scalerA.
have i0 : 0 <= n%:R^-1 :> R by rewrite invr_ge0 ler0n.
move=> x y; rewrite dotZl dot_suml -mulrDr -big_split /=; split.
  by apply: ler_wpmul2l => //; apply: ler_sum => i _; case: (F i x y).
have -> : L / 2%:R * dot (y - x) (y - x) = n%:R^-1 * \sum_(i < n) L / 2%:R * dot (y - x) (y - x).
  by rewrite sumr_const card_ord -[X in _ = _ * X]mulr_natl mulrA mulVf ?mul1r // pnatr_eq0 -lt0n.
rewrite -mulrDr -big_split /=; apply: ler_wpmul2l => //; apply: ler_sum => i _; by case: (F i x y).
Qed.

(* The two runs: distances grow by at most s = 2 eta K / n in a step. *)
Lemma expands g g' phi phi' z x y : descends g phi -> descends g' phi' -> adjacent g g' -> 0 <= z ->
  near z x y -> near (z + s) (phi x) (phi' y).
Proof.
have [n0 _ eta0 K0 _] := signs; move=> H H' [i0 same] z0 xy; rewrite /near.
have -> : phi x - phi' y = (phi x - phi y) + (phi y - phi' y) by rewrite addrA subrK.
have s0 : 0 <= s by rewrite divr_ge0 ?mulr_ge0 ?ler0n.
apply: short_add => //.
  by have [f [h [F E_]]] := mean_loss H; rewrite !E_; apply: descent F xy.
case: H => _ gK ->; case: H' => _ g'K ->.
have -> : y - (eta / n%:R) *: (\sum_i g i y) - (y - (eta / n%:R) *: (\sum_i g' i y)) =
    - ((eta / n%:R) *: (g i0 y - g' i0 y)).
  rewrite opprB addrACA [- _ - y]addrC addrACA subrr add0r -scalerBr -scalerN opprB; congr (_ *: _).
  have rest_ : \sum_(i | i != i0) g' i y = \sum_(i | i != i0) g i y by apply: eq_bigr => i /same ->.
  by rewrite !(bigD1 i0 (erefl true)) /= rest_ opprD addrACA subrr addr0.
apply: short_opp; have -> : s = eta / n%:R * (K + K) by rewrite /s; ring.
by apply: short_scale; apply: short_add => //; apply: short_opp.
Qed.

(* ---- One step: the shift c hides as much of the distance. ---- *)
Section OneStep.
Variables (g g' : 'I_n -> E -> E) (phi phi' : map E E) (z z' c : R).
Hypothesis run1 : descends g phi.
Hypothesis run2 : descends g' phi'.
Hypothesis pair : adjacent g g'.
Hypothesis distances : [/\ 0 <= z, 0 <= z', 0 <= c & z + s <= z' + c].
(* Both runs are functions of the noise, shifted in run 2, and their values stay within z'. *)
Lemma hidden x y : near z x y -> exists h (m m' : map E E), [/\ short c h,
  forall k, measurable k -> expect (step phi x) k = expect (image xi m) k,
  forall k, measurable k -> expect (step phi' y) k = expect (image (image xi (shift h)) m') k &
  forall b, near z' (m b) (m' b)].
Proof.
have [z0 z'0 c0 le] := distances; move=> xy.
have zs : 0 <= z + s.
  by have [_ _ ? ? _] := signs; rewrite addr_ge0 // divr_ge0 ?mulr_ge0 ?ler0n.
have := short_le zs le (expands run1 run2 pair z0 xy); case/(parts z'0 c0) => h [hc rest].
have F u k : measurable k -> measurable (fun b => k (Pi (u + b))).
  by move=> Fk; apply: (measurable_shift u (measurable_of Pi Fk)).
exists (- h), (Map (F (phi x))), (Map (F (phi' y + h))); split=> //; first exact: short_opp.
- by move=> k Fk; rewrite /= /after_expect /= adds //; apply: (measurable_of Pi).
- move=> k Fk; rewrite /= /after_expect /= adds; last exact: (measurable_of Pi).
  by apply: expect_ext => [|b]; [apply: F | rewrite /= addrA addrK].
- by move=> b; apply: projection; rewrite /near /= opprD addrACA subrr addr0 opprD addrA.
Qed.

(* Orders of Renyi's divergence: a bound M on the moment of the noise shifted by at most c. *)
Lemma renyi_step o M : (forall h, short c h -> renyi_le o (fun u v => u = v) xi (image xi (shift h)) M) ->
  forall x y, near z x y -> renyi_le o (near z') (step phi x) (step phi' y) M.
Proof.
move=> cost x y xy; have [h [m [m' [hc Em Em' mm]]]] := hidden xy.
move=> k k' Fk Fk' k0 le k'0; rewrite Em // Em' //.
by apply: (renyi_map (near' := near z') (m := m) (m' := m') (cost h hc)) => // u v ->.
Qed.
(* Hockey sticks: a bound f at every g. *)
Lemma span_step f : (forall h, short c h -> divergence_le (fun u v => u = v) xi (image xi (shift h)) f) ->
  span (near z) (near z') (step phi) (step phi') f.
Proof.
move=> cost x y xy; have [h [m [m' [hc Em Em' mm]]]] := hidden xy.
apply: (divergence_le_ext (P := image xi m) (Q := image (image xi (shift h)) m')).
- by move=> k Fk; rewrite Em.
- by move=> k Fk; rewrite Em'.
- by apply: (map_both (cost h hc)) => u v ->.
Qed.
End OneStep.

(* ---- Many steps: from z 0 to z m by the shifts c j. ---- *)
Definition leads (z c : nat -> R) m := forall j, (j < m)%N ->
  [/\ 0 <= z j, 0 <= z j.+1, 0 <= c j & z j + s <= z j.+1 + c j ].
Section Steps.
Variables (g g' : 'I_n -> E -> E) (phi phi' : map E E) (z c : nat -> R).
Hypothesis run1 : descends g phi.
Hypothesis run2 : descends g' phi'.
Hypothesis pair : adjacent g g'.
Variables (tau m : nat).
Hypothesis path : leads z c m.
(* Moments multiply. *)
Lemma renyi_steps o (M : nat -> R) M0 :
  renyi_le o (near (z 0%N)) (run phi tau) (run phi' tau) M0 ->
  (forall j, (j < m)%N -> 0 < M j /\
    forall h, short (c j) h -> renyi_le o (fun u v => u = v) xi (image xi (shift h)) (M j)) ->
  renyi_le o (near (z m)) (run phi (tau + m)) (run phi' (tau + m)) (M0 * \prod_(j < m) M j).
Proof.
move=> begin; elim: (m) path => [|k IH] leads_ cost; first by rewrite addn0 big_ord0 mulr1.
rewrite addnS big_ord_recr /= mulrA mulrC; have [M_0 Mk] := cost k (ltnSn k).
apply: (renyi_chain M_0 (IH _ _)) => [j lt|j lt|]; [exact/leads_/ltnW | exact/cost/ltnW |].
exact: (renyi_step run1 run2 pair (leads_ k (ltnSn k)) Mk).
Qed.
(* Tables compose. *)
Fixpoint composed (N : nat -> table R) f k : R -> R := if k is k'.+1 then compose (composed N f k') (N k') else f.
Lemma span_steps (N : nat -> table R) f :
  divergence_le (near (z 0%N)) (run phi tau) (run phi' tau) f ->
  (forall j, (j < m)%N -> forall h, short (c j) h ->
    divergence_le (fun u v => u = v) xi (image xi (shift h)) (value (N j))) ->
  divergence_le (near (z m)) (run phi (tau + m)) (run phi' (tau + m)) (composed N f m).
Proof.
move=> begin; elim: (m) path => [|k IH] leads_ cost; first by rewrite addn0.
rewrite addnS /=; apply: (chain_laws (near := near (z k)) (IH _ _)) => [j lt|j lt|].
- exact/leads_/ltnW.
- exact/cost/ltnW.
- exact: (span_step run1 run2 pair (leads_ k (ltnSn k)) (cost k (ltnSn k))).
Qed.
End Steps.

(* ---- The distance before the shifts: the differences add up, and states are in the domain. ---- *)
Lemma s_ge0 : 0 <= s.
Proof. by have [_ _ ? ? _] := signs; rewrite divr_ge0 ?mulr_ge0 ?ler0n. Qed.
Lemma reach_ge0 tau : 0 <= reach tau.
Proof.
have [_ _ eta0 K0 D0] := signs; rewrite /reach !le_minr D0 andbT; apply/andP; split; apply: mulr_ge0; rewrite ?ler0n //.
  exact: s_ge0.
by rewrite !mulr_ge0 ?ler0n.
Qed.
Lemma short0 : short 0 0. Proof. by rewrite /short dot0l expr0n. Qed.

Section Main.
Variables (g g' : 'I_n -> E -> E) (phi phi' : map E E).
Hypothesis run1 : descends g phi.
Hypothesis run2 : descends g' phi'.
Hypothesis pair : adjacent g g'.

(* A step ends with a projection into the domain, where all points are near. *)
Definition unprojected (f : map E E) tau := after (run f tau) (then_kernel (map_kernel f) add_noise).
Lemma all_near u v : True -> near D (Pi u) (Pi v). Proof. by move=> _; apply: diameter. Qed.
Lemma renyi_projected o tau : renyi_le o (near D) (run phi tau.+1) (run phi' tau.+1) 1.
Proof.
have all : renyi_le o (fun _ _ => True) (unprojected phi tau) (unprojected phi' tau) 1 by apply: renyi_domain.
by move=> k k' Fk Fk' k0 le k'0; apply: (renyi_map (near' := near D) all all_near).
Qed.
Lemma span_projected tau : divergence_le (near D) (run phi tau.+1) (run phi' tau.+1) (@equal R).
Proof.
have all : divergence_le (fun _ _ => True) (unprojected phi tau) (unprojected phi' tau) (@equal R) by apply: domain.
by move=> r r0 A B FA FB AB; apply: (map_both (near' := near D) all all_near r0 FA FB).
Qed.

(* Steps without a shift: the distance grows by s. *)
Lemma renyi_tracked o tau : renyi_le o (near (s * tau%:R)) (run phi tau) (run phi' tau) 1.
Proof.
have := @renyi_steps g g' phi phi' (fun j => s * j%:R) (fun _ => 0) run1 run2 pair 0 tau _ o (fun _ => 1) 1.
rewrite big1 // mulr1 add0n; apply=> [j _||j _].
- have s0 i : 0 <= s * i%:R by rewrite mulr_ge0 ?s_ge0 ?ler0n.
  by split; rewrite ?s0 // addr0 -[j.+1]addn1 natrD mulrDr mulr1.
- move=> k k' Fk Fk' k0 le k'0; apply: renyi_equal => // x y ->; apply: le.
  by rewrite /near /short subrr mulr0 dot0l expr0n.
split=> [|h h0 k k' Fk Fk' k0 le k'0]; first exact: ltr01.
have hE : h = 0 by rewrite -[h]subr0; apply/near0; rewrite /near !subr0.
apply: (@renyi_equal R o E xi k (fun b => k' (h + b))) => // [|x y ->]; first exact: measurable_shift.
by rewrite hE add0r; apply: le.
Qed.

Lemma renyi_reach o tau : renyi_le o (near (reach tau)) (run phi tau) (run phi' tau) 1.
Proof.
have [n0 _ eta0 K0 D0] := signs; have t0 : 0 <= tau%:R :> R by rewrite ler0n.
have tracked r : s * tau%:R <= r -> renyi_le o (near r) (run phi tau) (run phi' tau) 1.
  move=> le; apply: (renyi_weaken (near' := near r) (@renyi_tracked o tau)) => // x y.
  by apply: short_le => //; rewrite mulr_ge0 ?s_ge0.
rewrite /reach; case: (leP (s * _)) => _; first exact: tracked.
case: (leP (2%:R * eta * K * tau%:R)) => _.
  apply: tracked; apply: ler_wpmul2r => //; rewrite ler_pdivr_mulr ?ltr0n //.
  by rewrite ler_pemulr ?mulr_ge0 ?ler0n // ler1n.
by case: tau t0 tracked => [|k] _ tracked; [apply: tracked; rewrite mulr0 | apply: renyi_projected].
Qed.

(* Any shifts that lead from the distance before them to 0, at any cost of the noise for each. *)
Theorem renyi_shifts o tau m (z c M : nat -> R) : leads z c m -> reach tau <= z 0%N -> z m = 0 ->
  (forall j, (j < m)%N -> 0 < M j /\
    forall h, short (c j) h -> renyi_le o (fun u v => u = v) xi (image xi (shift h)) (M j)) ->
  renyi_le o (fun x y => x = y) (run phi (tau + m)) (run phi' (tau + m)) (\prod_(j < m) M j).
Proof.
move=> path begin end_ cost; have [_ _ eta0 K0 D0] := signs.
have r0 := reach_ge0 tau.
have H0 : renyi_le o (near (z 0%N)) (run phi tau) (run phi' tau) 1.
  by apply: (renyi_weaken (near' := near (z 0%N)) (@renyi_reach o tau)) => // x y; apply: short_le.
have := renyi_steps run1 run2 pair path H0 cost; rewrite mul1r end_ => H.
by apply: (renyi_weaken (near' := fun x y => x = y) H) => // x y; apply: near0.
Qed.
(* The same for tables, from the diameter or from equal starts: a bound for every g, so for every order. *)
Theorem span_shifts tau m (z c : nat -> R) (N : nat -> table R) : leads z c m ->
  (tau = 0%N \/ D <= z 0%N) -> z m = 0 -> (forall j, (j < m)%N -> forall h, short (c j) h ->
    divergence_le (fun u v => u = v) xi (image xi (shift h)) (value (N j))) ->
  divergence_le (fun x y => x = y) (run phi (tau + m)) (run phi' (tau + m)) (composed N (@equal R) m).
Proof.
move=> path begin end_ cost; have [_ _ _ _ D0] := signs.
have z0 : 0 <= z 0%N by case: (m) path end_ => [_ ->|k path _] //; case: (path 0%N (ltn0Sn k)).
have H0 : divergence_le (near (z 0%N)) (run phi tau) (run phi' tau) (@equal R).
  case: (tau) begin => [_|k [//|le]] r r0 A B FA FB AB.
    apply: (same_law start r0 FA FB) => x y ->; apply: AB; rewrite /near subrr; exact: short_le z0 short0.
  by apply: (@span_projected k r r0 A B FA FB) => x y xy; apply: AB; apply: short_le le xy.
have := span_steps run1 run2 pair path H0 cost; rewrite end_ => H r r0 A B FA FB AB.
by apply: (H r r0 A B FA FB) => x y /near0 ->; apply: AB.
Qed.

Section Gaussian.
Variables (o : order R) (gauss : R -> R).
Hypothesis noise : gaussian o gauss.
Lemma gauss_ge1 r : 0 <= r -> 1 <= gauss r.
Proof. by case: noise => _ up cost r0; apply: le_trans (up _ _ r0); have := renyi_ge1 (cost 0); rewrite dot0l. Qed.
Lemma gauss_sum m (c : nat -> R) : \prod_(j < m) gauss (c j) = gauss (\sum_(j < m) c j).
Proof.
case: noise => gauss_add _ _; elim: m => [|m IH]; last by rewrite !big_ord_recr /= IH gauss_add.
have g0 : gauss 0 != 0 by rewrite gt_eqF // (lt_le_trans ltr01) // gauss_ge1.
by rewrite !big_ord0; apply: (mulfI g0); rewrite mulr1 -gauss_add addr0.
Qed.
Theorem direct_shifts tau m (z c : nat -> R) : leads z c m -> reach tau <= z 0%N -> z m = 0 ->
  renyi_le o (fun x y => x = y) (run phi (tau + m)) (run phi' (tau + m)) (gauss (\sum_(j < m) c j ^+ 2)).
Proof.
move=> path begin end_; rewrite -(gauss_sum _ (fun j => c j ^+ 2)).
apply: (renyi_shifts (M := fun j => gauss (c j ^+ 2)) path begin end_) => j jm.
split=> [|h hc]; first by rewrite (lt_le_trans ltr01) // gauss_ge1 // sqr_ge0.
by case: noise => _ up cost; apply: (renyi_weaken (near' := fun u v => u = v) (cost h)) => //; apply: up.
Qed.

(* A share beta_j of the noise for the difference and the rest for a shift cost no less than one shift by both. *)
Lemma shared_cost (b l : R) : 0 < b -> b <= 1 -> (s + l * (1 - b)) ^+ 2 <= s ^+ 2 / b + l ^+ 2 * (1 - b).
Proof.
move=> b0 b1; rewrite -subr_ge0 -(pmulr_rge0 _ b0).
have -> : b * (s ^+ 2 / b + l ^+ 2 * (1 - b) - (s + l * (1 - b)) ^+ 2) = (1 - b) * (s - l * b) ^+ 2.
  by field; rewrite gt_eqF.
by rewrite mulr_ge0 ?sqr_ge0 // subr_ge0.
Qed.
Lemma one_order tau m (beta : nat -> R) : (forall j, (j < m)%N -> 0 < beta j /\ beta j <= 1) ->
  0 < \sum_(j < m) (1 - beta j) -> renyi_le o (fun x y => x = y) (run phi (tau + m)) (run phi' (tau + m))
    (gauss (\sum_(j < m) s ^+ 2 / beta j + reach tau ^+ 2 / \sum_(j < m) (1 - beta j))).
Proof.
move=> shares; set W := \sum_(j < m) _ => W0; have [_ _ eta0 K0 D0] := signs; have s0 := s_ge0.
have r0 := reach_ge0 tau.
pose l := reach tau / W; have l0 : 0 <= l by rewrite divr_ge0 // ltW.
have part k : (k <= m)%N -> \sum_(j < k) (1 - beta j) <= W.
  move=> km; rewrite /W (big_ord_widen _ (fun j => 1 - beta j) km) [X in X <= _]big_mkcond /=.
  by apply: ler_sum => j _; case: ifP => // _; rewrite subr_ge0; case: (shares j (ltn_ord j)).
pose z j := l * (W - \sum_(i < j) (1 - beta i)); pose c j := s + l * (1 - beta j).
have path : leads z c m.
  move=> j jm; have [b0 b1] := shares j jm; rewrite /z /c; split.
  - by rewrite mulr_ge0 // subr_ge0 part // ltnW.
  - by rewrite mulr_ge0 // subr_ge0 part.
  - by rewrite addr_ge0 // mulr_ge0 // subr_ge0.
  - by rewrite big_ord_recr /= le_eqVlt; apply/orP; left; apply/eqP; ring.
have begin : reach tau <= z 0%N by rewrite /z big_ord0 subr0 /l divfK // gt_eqF.
have end_ : z m = 0 by rewrite /z subrr mulr0.
apply: (renyi_weaken (near' := fun x y => x = y) (direct_shifts path begin end_)) => //.
case: noise => _ up _; apply: up.
have -> : reach tau ^+ 2 / W = l ^+ 2 * W by rewrite /l; field; rewrite gt_eqF.
rewrite mulr_sumr -big_split /=; apply: ler_sum => j _; have [b0 b1] := shares j (ltn_ord j).
exact: shared_cost.
Qed.
End Gaussian.
End Main.

Lemma adjacent_sym g g' : adjacent g g' -> adjacent g' g.
Proof. by case=> i0 same; exists i0 => i x /same ->. Qed.

(* Theorem 3.1, (3), for convex losses (c = 1): T = tau + m, and the shares are beta_0, ..., beta_(m-1) in the last m
   steps.  Both orders of the runs. *)
Theorem theorem_3_1 (g g' : 'I_n -> E -> E) (phi phi' : map E E) (o : order R) (gauss : R -> R) (tau m : nat)
  (beta : nat -> R) : descends g phi -> descends g' phi' -> adjacent g g' -> gaussian o gauss ->
  (forall j, (j < m)%N -> 0 < beta j /\ beta j <= 1) -> 0 < \sum_(j < m) (1 - beta j) ->
  let M := gauss (\sum_(j < m) s ^+ 2 / beta j + reach tau ^+ 2 / \sum_(j < m) (1 - beta j)) in
  renyi_le o (fun x y => x = y) (run phi (tau + m)) (run phi' (tau + m)) M /\
  renyi_le o (fun x y => x = y) (run phi' (tau + m)) (run phi (tau + m)) M.
Proof.
move=> H H' pair noise shares W; split.
  exact: (@one_order g g' phi phi' H H' pair o gauss noise tau m beta shares W).
exact: (@one_order g' g phi' phi H' H (adjacent_sym pair) o gauss noise tau m beta shares W).
Qed.

(* The last m of tau + m steps, by equal shifts: c = s + D / m in each, and (D + m s)^2 / m in all. *)
Lemma equal_shifts m : (0 < m)%N -> let z j := D - D / m%:R * j%:R in leads z (fun _ => s + D / m%:R) m /\ z m = 0.
Proof.
move=> m0; have [_ _ _ _ D0] := signs; have mR : 0 < m%:R :> R by rewrite ltr0n.
have q0 : 0 <= D / m%:R by rewrite divr_ge0 // ltW.
have left_ j : (j <= m)%N -> 0 <= D - D / m%:R * j%:R.
  by move=> jm; rewrite subr_ge0 -[X in _ <= X](divfK (lt0r_neq0 mR)) ler_wpmul2l // ler_nat.
split=> [j jm|]; last by rewrite divfK ?subrr // gt_eqF.
split; [exact/left_/ltnW | exact: left_ | by rewrite addr_ge0 ?s_ge0 |].
by rewrite -[j.+1]addn1 natrD le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.
Section Window.
Variables (g g' : 'I_n -> E -> E) (phi phi' : map E E) (tau m : nat).
Hypothesis run1 : descends g phi.
Hypothesis run2 : descends g' phi'.
Hypothesis pair : adjacent g g'.
Hypothesis m0 : (0 < m)%N.
Theorem convex_window (o : order R) (gauss : R -> R) : gaussian o gauss ->
  let M := gauss ((D + m%:R * s) ^+ 2 / m%:R) in
  renyi_le o (fun x y => x = y) (run phi (tau + m)) (run phi' (tau + m)) M /\
  renyi_le o (fun x y => x = y) (run phi' (tau + m)) (run phi (tau + m)) M.
Proof.
move=> noise M; have [path end_] := equal_shifts m0; have mR : m%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have <- : gauss (\sum_(j < m) (s + D / m%:R) ^+ 2) = M.
  by rewrite /M sumr_const card_ord -mulr_natl; congr gauss; field.
have begin : reach tau <= D - D / m%:R * 0%:R by rewrite mulr0 subr0 /reach !le_minl lexx !orbT.
split; first exact: (direct_shifts run1 run2 pair noise path begin end_).
exact: (direct_shifts run2 run1 (adjacent_sym pair) noise path begin end_).
Qed.
Theorem convex_window_of_tables (N : table R) : (forall h, short (s + D / m%:R) h ->
    divergence_le (fun u v => u = v) xi (image xi (shift h)) (value N)) ->
  divergence_le (fun x y => x = y) (run phi (tau + m)) (run phi' (tau + m)) (composed (fun _ => N) (@equal R) m) /\
  divergence_le (fun x y => x = y) (run phi' (tau + m)) (run phi (tau + m)) (composed (fun _ => N) (@equal R) m).
Proof.
move=> cost; have [path end_] := equal_shifts m0.
have begin : tau = 0%N \/ D <= D - D / m%:R * 0%:R by right; rewrite mulr0 subr0.
split; first exact: (span_shifts run1 run2 pair path begin end_ (fun _ _ => cost)).
exact: (span_shifts run2 run1 (adjacent_sym pair) path begin end_ (fun _ _ => cost)).
Qed.
End Window.
End FullBatch.
