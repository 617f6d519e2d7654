(* Laws, Markov kernels and the hockey-stick divergence of enlarged sets, on any space.

   Python: symbolic/kernel/judgement.py (E^z_g and the judgement Span).  Page: docs/proofs/enlarged_sets.md.

   A space is a type of points with a class of measurable functions; a law is a positive, normalised, linear
   functional on these functions.  On a measurable space take the bounded measurable functions and the integral.
   On a finite set every function is measurable and a law is a list of masses (see the end of this file).
   Numbers are those of an archimedean ordered field.  Neither countable additivity nor compactness nor a choice
   of points is used. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Spaces.
Variable R : archiFieldType.

(* The measurable functions form a vector lattice with the constants and the indicators of the sets {t < f}. *)
Record space := Space {
  point :> Type;
  measurable : (point -> R) -> Prop;
  measurable_ext : forall f h, f =1 h -> measurable f -> measurable h;
  measurable_const : forall k, measurable (fun _ => k);
  measurable_add : forall f h, measurable f -> measurable h -> measurable (fun x => f x + h x);
  measurable_scale : forall k f, measurable f -> measurable (fun x => k * f x);
  measurable_max : forall f h, measurable f -> measurable h -> measurable (fun x => Num.max (f x) (h x));
  measurable_above : forall f t, measurable f -> measurable (fun x => (t < f x)%R%:R) }.

Record law (X : space) := Law {
  expect : (X -> R) -> R;
  expect_add : forall f h, measurable f -> measurable h -> expect (fun x => f x + h x) = expect f + expect h;
  expect_scale : forall k f, measurable f -> expect (fun x => k * f x) = k * expect f;
  expect_le : forall f h, measurable f -> measurable h -> (forall x, f x <= h x) -> expect f <= expect h;
  expect_one : expect (fun _ => 1) = 1 }.

(* A set is a predicate with values true and false; it is measurable if its indicator is. *)
Definition set (X : space) := X -> bool.
Definition indicator (X : space) (A : set X) : X -> R := fun x => (A x)%:R.
Definition measurable_set (X : space) (A : set X) := measurable (indicator A).
Definition probability (X : space) (P : law X) (A : set X) := expect P (indicator A).

(* E^near_g(P || Q) <= e: P(A) - g Q(B) <= e for all measurable sets A, and all measurable B that contain every
   point near A.  With "near x y" for |x - y| <= z this is E^z_g(P || Q) <= e, by fact 1 of enlarged_sets.md.
   The two runs may have different spaces, and nothing is assumed of the relation. *)
Definition hockey_stick (X Y : space) (near : X -> Y -> Prop) (P : law X) (Q : law Y) (g e : R) :=
  forall (A : set X) (B : set Y), measurable_set A -> measurable_set B ->
    (forall x y, near x y -> A x -> B y) -> probability P A - g * probability Q B <= e.

(* The same at every g >= 0: the function f bounds the divergence of P and Q. *)
Definition divergence_le X Y near P Q (f : R -> R) := forall g, 0 <= g -> @hockey_stick X Y near P Q g (f g).

(* A kernel takes points to laws, measurably. *)
Record kernel (X U : space) := Kernel {
  from :> X -> law U;
  measurable_from : forall h, measurable h -> measurable (fun x => expect (from x) h) }.

(* The judgement Span: near -> near' at f, for a kernel K of run 1 and a kernel K' of run 2. *)
Definition span (X Y U V : space) (near : X -> Y -> Prop) (near' : U -> V -> Prop)
  (K : kernel X U) (K' : kernel Y V) (f : R -> R) :=
  forall x y, near x y -> divergence_le near' (K x) (K' y) f.

Section OneSpace.
Variable X : space.
Implicit Types (P : law X) (f h : X -> R).

Lemma measurable_opp f : measurable f -> measurable (fun x => - f x).
Proof. by move=> F; apply: measurable_ext (measurable_scale (-1) F) => x; rewrite mulN1r. Qed.
Lemma measurable_sub f h : measurable f -> measurable h -> measurable (fun x => f x - h x).
Proof. by move=> F H; apply: measurable_add => //; apply: measurable_opp. Qed.
Lemma measurable_min f h : measurable f -> measurable h -> measurable (fun x => Num.min (f x) (h x)).
Proof.
move=> F H; apply: measurable_ext (measurable_opp (measurable_max (measurable_opp F) (measurable_opp H))) => x.
by rewrite -oppr_min opprK.
Qed.
Lemma measurable_sum n (h : nat -> X -> R) : (forall j, measurable (h j)) ->
  measurable (fun x => \sum_(j < n) h j x).
Proof.
move=> H; elim: n => [|n IH].
  by apply: measurable_ext (measurable_const X 0) => x; rewrite big_ord0.
by apply: measurable_ext (measurable_add IH (H n)) => x; rewrite big_ord_recr.
Qed.

Lemma expect_ext P f h : measurable f -> f =1 h -> expect P f = expect P h.
Proof.
move=> F E; have H := measurable_ext E F.
by apply/eqP; rewrite eq_le !expect_le // => x; rewrite E.
Qed.
Lemma expect_const P k : expect P (fun _ => k) = k.
Proof.
rewrite -[RHS]mulr1 -(expect_one P) -expect_scale; last exact: measurable_const.
by apply: expect_ext => [|x]; [apply: measurable_const | rewrite mulr1].
Qed.
Lemma expect_sub P f h : measurable f -> measurable h ->
  expect P (fun x => f x - h x) = expect P f - expect P h.
Proof.
move=> F H; rewrite expect_add //; last exact: measurable_opp.
congr (_ + _); rewrite -[RHS]mulN1r -expect_scale //.
by apply: expect_ext => [|x]; [apply: measurable_opp | rewrite mulN1r].
Qed.
Lemma expect_sum P n (h : nat -> X -> R) : (forall j, measurable (h j)) ->
  expect P (fun x => \sum_(j < n) h j x) = \sum_(j < n) expect P (h j).
Proof.
move=> H; elim: n => [|n IH].
  rewrite big_ord0 -[RHS](expect_const P); apply: expect_ext => [|x]; last by rewrite big_ord0.
  exact: measurable_sum.
rewrite big_ord_recr /= -IH -expect_add //; last exact: measurable_sum.
by apply: expect_ext => [|x]; [apply: measurable_sum | rewrite big_ord_recr].
Qed.
Lemma expect_ge0 P f : measurable f -> (forall x, 0 <= f x) -> 0 <= expect P f.
Proof. by move=> F f0; rewrite -[X in X <= _](expect_const P); apply: expect_le => //; exact: measurable_const. Qed.
Lemma expect_le1 P f : measurable f -> (forall x, f x <= 1) -> expect P f <= 1.
Proof. by move=> F f1; rewrite -[X in _ <= X](expect_const P); apply: expect_le => //; exact: measurable_const. Qed.
Lemma probability_ge0 P A : measurable_set A -> 0 <= probability P A.
Proof. by move=> F; apply: expect_ge0 => // x; rewrite /indicator ler0n. Qed.
Lemma probability_le1 P A : measurable_set A -> probability P A <= 1.
Proof. by move=> F; apply: expect_le1 => // x; rewrite /indicator; case: (A x); rewrite ?ler01 ?lexx. Qed.
Definition complement (A : set X) : set X := fun x => ~~ A x.
Lemma measurable_complement A : measurable_set A -> measurable_set (complement A).
Proof.
move=> F; apply: measurable_ext (measurable_sub (measurable_const X 1) F) => x.
by rewrite /indicator /complement; case: (A x); rewrite ?subrr ?subr0.
Qed.
Lemma probability_complement P A : measurable_set A -> probability P (complement A) = 1 - probability P A.
Proof.
move=> F; rewrite -[X in X - _](expect_one P) -expect_sub //; last exact: measurable_const.
apply: expect_ext => [|x]; first exact: measurable_complement.
by rewrite /indicator /complement; case: (A x); rewrite ?subrr ?subr0.
Qed.
End OneSpace.

(* How many of n layers of height d lie below v, times d. *)
Lemma layer_sum (d v : R) n : 0 <= d -> 0 <= v ->
  Num.min v (n%:R * d) <= \sum_(k < n) d * (k%:R * d < v)%R%:R /\
  \sum_(k < n) d * (k%:R * d < v)%R%:R <= Num.min (v + d) (n%:R * d).
Proof.
move=> d0 v0; elim: n => [|n [lo hi]].
  by rewrite big_ord0 mul0r le_minr le_minl lexx orbT addr_ge0.
have E : n.+1%:R * d = n%:R * d + d by rewrite -addn1 natrD mulrDl mul1r.
rewrite big_ord_recr /= E; split.
- case: ltP => c; rewrite /= ?mulr1 ?mulr0 ?addr0.
    rewrite le_minl; apply/orP; right; rewrite ler_add2r; apply: le_trans lo.
    by rewrite le_minr lexx ltW.
  by rewrite le_minl; apply/orP; left; apply: le_trans lo; rewrite le_minr lexx.
- move: hi; rewrite !le_minr => /andP [hi1 hi2]; case: ltP => c; rewrite /= ?mulr1 ?mulr0 ?addr0.
    by rewrite !ler_add2r hi2 (le_trans hi2) // ltW.
  by rewrite hi1 (le_trans hi2) // ler_addl.
Qed.

(* From sets to functions: a bound for sets holds for functions phi <= M and psi with phi(x) <= psi(y) at near
   points.  The integral over layers of enlarged_sets.md, as a limit of finite sums. *)
Theorem layer_cake (X Y : space) (near : X -> Y -> Prop) (P : law X) (Q : law Y) (g e : R) :
  0 <= g -> hockey_stick near P Q g e -> forall (phi : X -> R) (psi : Y -> R) (M : R),
  measurable phi -> measurable psi -> (forall x, 0 <= phi x) -> (forall x, phi x <= M) ->
  (forall y, 0 <= psi y) -> 0 <= M -> (forall x y, near x y -> phi x <= psi y) ->
  expect P phi - g * expect Q psi <= M * e.
Proof.
move=> g0 H phi psi M F1 F2 phi0 phiM psi0 M0 mono.
have step n : (0 < n)%N -> expect P phi - g * expect Q psi <= M * e + g * (M / n%:R).
  move=> n0; set d := M / n%:R.
  have d0 : 0 <= d by rewrite divr_ge0 // ler0n.
  have nd : n%:R * d = M by rewrite mulrC divfK // pnatr_eq0 -lt0n.
  pose A (k : nat) : set X := fun x => k%:R * d < phi x.
  pose B (k : nat) : set Y := fun y => k%:R * d < psi y.
  have FA k : measurable_set (A k) by exact: (measurable_above (k%:R * d) F1).
  have FB k : measurable_set (B k) by exact: (measurable_above (k%:R * d) F2).
  have leP : expect P phi <= \sum_(k < n) d * probability P (A k).
    apply: (@le_trans _ _ (expect P (fun x => \sum_(k < n) d * indicator (A k) x))).
      apply: expect_le => [//||x]; first by apply: (@measurable_sum X n (fun k x => d * indicator (A k) x)) =>
        j; apply: measurable_scale; apply: FA.
      have [lo _] := layer_sum n d0 (phi0 x); apply: le_trans lo.
      by rewrite le_minr lexx nd phiM.
    rewrite (@expect_sum X P n (fun k x => d * indicator (A k) x)); last by move=> j; apply: measurable_scale;
      apply: FA.
    by apply: ler_sum => j _; rewrite expect_scale //; apply: FA.
  have leQ : \sum_(k < n) d * probability Q (B k) <= expect Q psi + d.
    rewrite -[X in _ <= _ + X](expect_const Q d) -expect_add //; last exact: measurable_const.
    apply: (@le_trans _ _ (expect Q (fun y => \sum_(k < n) d * indicator (B k) y))).
      rewrite (@expect_sum Y Q n (fun k y => d * indicator (B k) y)); last by move=> j; apply: measurable_scale;
        apply: FB.
      by apply: ler_sum => j _; rewrite expect_scale //; apply: FB.
    apply: expect_le => [||y]; first by apply: (@measurable_sum Y n (fun k y => d * indicator (B k) y)) => j;
      apply: measurable_scale; apply: FB.
      by apply: measurable_add => //; apply: measurable_const.
    have [_ hi] := layer_sum n d0 (psi0 y); apply: (le_trans hi).
    by rewrite le_minl lexx.
  have each : \sum_(k < n) d * probability P (A k) <= \sum_(k < n) (d * e + g * (d * probability Q (B k))).
    apply: ler_sum => k _.
    have -> : d * e + g * (d * probability Q (B k)) = d * (e + g * probability Q (B k)) by ring.
    apply: ler_wpmul2l => //; rewrite -ler_subl_addr; apply: H => // x y xy.
    by rewrite /A /B => lt; apply: lt_le_trans lt (mono _ _ xy).
  rewrite ler_subl_addr; apply: (le_trans leP); apply: (le_trans each).
  rewrite big_split /= sumr_const card_ord -mulr_natl mulrA nd -mulr_sumr -addrA ler_add2l -mulrDr.
  by apply: ler_wpmul2l => //; rewrite addrC.
rewrite leNgt; apply/negP => lt; set gap := expect P phi - g * expect Q psi - M * e.
have gap0 : 0 < gap by rewrite subr_gt0.
have gM : 0 <= g * M / gap by rewrite divr_ge0 ?mulr_ge0 // ltW.
have := archi_boundP gM; set n := Num.bound _ => big.
have n0 : (0 < n)%N.
  by rewrite lt0n; apply/eqP => n0; move: big; rewrite n0 ltNge gM.
have nR : 0 < n%:R :> R by rewrite ltr0n.
have le : gap <= g * (M / n%:R) by rewrite ler_subl_addl; apply: step.
move: le; rewrite mulrA ler_pdivl_mulr // leNgt => /negP; apply.
by rewrite [_ * n%:R]mulrC -ltr_pdivr_mulr.
Qed.

(* ---- The second part of a run after the first. ---- *)
Section After.
Variables (X U : space) (P : law X) (K : kernel X U).
Definition after_expect (h : U -> R) := expect P (fun x => expect (K x) h).
Lemma after_add f h : measurable f -> measurable h ->
  after_expect (fun x => f x + h x) = after_expect f + after_expect h.
Proof.
move=> F H; rewrite /after_expect -expect_add; try exact: measurable_from.
apply: expect_ext => [|x]; last by rewrite expect_add.
by apply: measurable_from; apply: measurable_add.
Qed.
Lemma after_scale k f : measurable f -> after_expect (fun x => k * f x) = k * after_expect f.
Proof.
move=> F; rewrite /after_expect -expect_scale; last exact: measurable_from.
apply: expect_ext => [|x]; last by rewrite expect_scale.
by apply: measurable_from; apply: measurable_scale.
Qed.
Lemma after_le f h : measurable f -> measurable h -> (forall x, f x <= h x) -> after_expect f <= after_expect h.
Proof. by move=> F H le; apply: expect_le => [||x]; try exact: measurable_from; apply: expect_le. Qed.
Lemma after_one : after_expect (fun _ => 1) = 1.
Proof.
rewrite /after_expect -[RHS](expect_const P); apply: expect_ext => [|x]; last by rewrite expect_const.
by apply: measurable_from; apply: measurable_const.
Qed.
Definition after := Law after_add after_scale after_le after_one.
End After.

Lemma measurable_after (X U W : space) (K : kernel X U) (L : kernel U W) h :
  measurable h -> measurable (fun x => expect (after (K x) L) h).
Proof. by move=> H; apply: (measurable_from K); apply: measurable_from. Qed.
Definition then_kernel (X U W : space) (K : kernel X U) (L : kernel U W) : kernel X W :=
  Kernel (from := fun x => after (K x) L) (fun h H => measurable_after K L H).

(* ---- Measurable maps, and the laws of points. ---- *)
Record map (X U : space) := Map {
  map_point :> X -> U;
  measurable_of : forall h, measurable h -> measurable (fun x => h (map_point x)) }.
Definition dirac (X : space) (x : X) : law X.
Proof. by apply: (@Law X (fun h => h x)) => // f h _ _; apply. Defined.
Definition no_step (X : space) : kernel X X.
Proof. by apply: (@Kernel X X (fun x => dirac x)). Defined.
Definition map_kernel (X U : space) (m : map X U) : kernel X U.
Proof. by apply: (@Kernel X U (fun x => dirac (m x))) => h H; apply: (measurable_of m). Defined.
End Spaces.

(* ---- Finite sets. ---- *)
Section Finite.
Variables (R : archiFieldType).
Definition finite (T : finType) : space R.
Proof. by apply: (@Space R T (fun _ => True)). Defined.
Definition masses (T : finType) (w : T -> R) := (forall x, 0 <= w x) /\ \sum_x w x = 1.
Section One.
Variables (T : finType) (w : T -> R) (W : masses w).
Definition finite_law : law (finite T).
Proof.
apply: (@Law R (finite T) (fun h => \sum_x w x * h x)) => [f h _ _|k f _|f h _ _ le|].
- by rewrite -big_split /=; apply: eq_bigr => x _; rewrite mulrDr.
- by rewrite mulr_sumr; apply: eq_bigr => x _; rewrite mulrCA.
- by apply: ler_sum => x _; apply: ler_wpmul2l => //; case: W.
- by rewrite -[RHS](proj2 W); apply: eq_bigr => x _; rewrite mulr1.
Defined.
End One.

(* On finite sets the definition is that of the sets A and their enlargements {y : near x y for some x in A}. *)
Lemma finite_hockey_stick (S T : finType) (near : S -> T -> bool) (P : law (finite S)) (Q : law (finite T))
  (g e : R) :
  0 <= g -> @hockey_stick R (finite S) (finite T) (fun (x : S) (y : T) => near x y) P Q g e <->
  (forall A : {set S}, probability P (mem A : set (finite S)) -
     g * probability Q ((fun y => [exists x in A, near x y]) : set (finite T)) <= e).
Proof.
move=> g0; split=> H.
  by move=> A; apply: H => // x y xy xA; apply/existsP; exists x; rewrite xy andbT.
move=> A B _ _ AB; pose A' := [set x | A x].
have -> : probability P A = probability P (mem A' : set (finite S)).
  by apply: expect_ext => // x; rewrite /indicator; congr (_ %:R); congr nat_of_bool; rewrite -[RHS]/(x \in A')
    inE.
apply: le_trans (H A'); apply: ler_sub => //; apply: ler_wpmul2l => //.
apply: expect_le => // y; rewrite /indicator ler_nat.
case: existsP => // -[x /andP [xA xy]]; rewrite (AB x y xy) //.
by move: xA; rewrite inE.
Qed.
End Finite.
