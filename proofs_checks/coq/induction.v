(* Induction over steps and over blocks.

   Python: symbolic/kernel/induction.py (StepInduction.span and recur); symbolic/kernel/profiles.py (BlockChain,
   Damped).  Page: docs/proofs/contraction.md, "Many blocks" and "Forgetting".
   Sequences of numbers beside a run are in the index j of the relations near, of the profiles and of the costs. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
From lastiterate Require Import laws tables chain contract rules.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Induction.
Variable R : archiFieldType.

(* ---- StepInduction.span: near 0 -> near m at f m. ---- *)
Section Steps.
Variables (X Y : nat -> space R) (K : forall j, kernel (X j) (X j.+1)) (K' : forall j, kernel (Y j) (Y j.+1)).
Fixpoint steps m : kernel (X 0%N) (X m) :=
  if m is m'.+1 then then_kernel (steps m') (K m') else no_step (X 0%N).
Fixpoint steps' m : kernel (Y 0%N) (Y m) :=
  if m is m'.+1 then then_kernel (steps' m') (K' m') else no_step (Y 0%N).
Variable near : forall j, X j -> Y j -> Prop.
Arguments near j _ _ : clear implicits.
Variables (f : nat -> R -> R) (J : nat -> table R).

Theorem induct m :
  span (near 0%N) (near 0%N) (no_step (X 0%N)) (no_step (Y 0%N)) (f 0%N) ->
  (forall j, (j < m)%N -> span (near j) (near j.+1) (K j) (K' j) (value (J j))) ->
  (forall j g, (j < m)%N -> 0 <= g -> compose (f j) (J j) g <= f j.+1 g) ->
  span (near 0%N) (near m) (steps m) (steps' m) (f m).
Proof.
move=> start; elim: m => [|m IH] each up //.
have H : span (near 0%N) (near m) (steps m) (steps' m) (f m).
  by apply: IH => [j lt|j g lt]; [apply: each; apply: ltnW | apply: up; apply: ltnW].
apply: (weaken (chain H (each m (ltnSn m)))) => // g g0; exact: up.
Qed.
End Steps.

(* Both runs on the same spaces: the start costs E_0 (rule identity). *)
Corollary induct_equal (X : nat -> space R) (K K' : forall j, kernel (X j) (X j.+1))
  (near : forall j, X j -> X j -> Prop) f J m :
  (forall g, 0 <= g -> equal g <= f 0%N g) ->
  (forall j, (j < m)%N -> span (near j) (near j.+1) (K j) (K' j) (value (J j))) ->
  (forall j g, (j < m)%N -> 0 <= g -> compose (f j) (J j) g <= f j.+1 g) ->
  span (near 0%N) (near m) (steps K m) (steps K' m) (f m).
Proof.
by move=> f0 each up; apply: induct each up; apply: (weaken (@identity _ _ (near 0%N))).
Qed.

(* ---- StepInduction.recur: the laws after j blocks of the two runs, from P and Q. ---- *)
Section Blocks.
Variables (X Y : nat -> space R) (P : law (X 0%N)) (Q : law (Y 0%N)).
Variables (K : forall j, kernel (X j) (X j.+1)) (K' : forall j, kernel (Y j) (Y j.+1)).
Variable near : forall j, X j -> Y j -> Prop.
Arguments near j _ _ : clear implicits.
Fixpoint run j : law (X j) := if j is i.+1 then after (run i) (K i) else P.
Fixpoint run' j : law (Y j) := if j is i.+1 then after (run' i) (K' i) else Q.
Theorem recur (f : nat -> R -> R) m : divergence_le (near 0%N) P Q (f 0%N) ->
  (forall j, (j < m)%N -> divergence_le (near j) (run j) (run' j) (f j) ->
    divergence_le (near j.+1) (run j.+1) (run' j.+1) (f j.+1)) ->
  divergence_le (near m) (run m) (run' m) (f m).
Proof.
move=> H each; have : forall j, (j <= m)%N -> divergence_le (near j) (run j) (run' j) (f j).
  by elim=> [//|j IH lt]; apply: each => //; apply: IH; apply: ltnW.
by apply.
Qed.

(* Z is at least Comb[Y; N, F] of contraction.md: at every g some pair and some parts of it give at most Z(g). *)
Definition contracts (Y Z : R -> R) (N : table R) (F : R -> R) := forall g, 0 <= g ->
  exists (I : finType) (p q u v : I -> R), [/\ forall r, 0 <= r -> Y r <= \sum_i pos (p i - r * q i), \sum_i q i <= 1, forall i, 0 <= u i /\ u i <= p i & forall i, 0 <= v i /\ v i <= q i] /\
    contracted F N p q u v g <= Z g.
Lemma contracts_le (Y1 Y2 Z1 Z2 : R -> R) N F :
  (forall g, 0 <= g -> Y1 g <= Y2 g) -> (forall g, 0 <= g -> Z1 g <= Z2 g) ->
  contracts Y2 Z1 N F -> contracts Y1 Z2 N F.
Proof.
move=> Yle Zle H g g0; have [I [p [q [u [v [[H1 H3 H4 H5] H6]]]]]] := H g g0.
exists I, p, q, u, v; split; last by apply: le_trans H6 (Zle g g0).
by split=> // r r0; apply: le_trans (Yle r r0) (H1 r r0).
Qed.
(* One block of the chain, BlockChain.then. *)
Theorem one_block j (Y1 Z : R -> R) (N : table R) F : divergence_le (near j) (run j) (run' j) Y1 ->
  span (near j) (near j.+1) (K j) (K' j) (value N) -> span (fun _ _ => True) (near j.+1) (K j) (K' j) F ->
  contracts Y1 Z N F -> divergence_le (near j.+1) (run j.+1) (run' j.+1) Z.
Proof.
move=> H HN HF C g g0; have [I [p [q [u [v [[H1 H3 H4 H5] H6]]]]]] := C g g0.
have u0 i : 0 <= u i by case: (H4 i).
have up i : u i <= p i by case: (H4 i).
have v0 i : 0 <= v i by case: (H5 i).
have vq i : v i <= q i by case: (H5 i).
move=> A B FA FB AB; apply: le_trans H6.
exact: (contract H HN HF H1 H3 u0 up v0 vq g0).
Qed.

(* Theorem 2 of contraction.md. *)
Theorem many_blocks (Y1 : nat -> R -> R) (N : nat -> table R) (F : nat -> R -> R) m :
  divergence_le (near 0%N) P Q (Y1 0%N) ->
  (forall j, (j < m)%N -> span (near j) (near j.+1) (K j) (K' j) (value (N j))) ->
  (forall j, (j < m)%N -> span (fun _ _ => True) (near j.+1) (K j) (K' j) (F j)) ->
  (forall j, (j < m)%N -> contracts (Y1 j) (Y1 j.+1) (N j) (F j)) ->
  divergence_le (near m) (run m) (run' m) (Y1 m).
Proof.
move=> H HN HF C; apply: recur H _ => j jm H.
exact: (one_block H (HN j jm) (HF j jm) (C j jm)).
Qed.

(* A table that is at least its own contraction bounds every number of blocks. *)
Theorem every_length (T N : table R) (F : R -> R) : divergence_le (near 0%N) P Q (value T) ->
  (forall j, span (near j) (near j.+1) (K j) (K' j) (value N)) ->
  (forall j, span (fun _ _ => True) (near j.+1) (K j) (K' j) F) ->
  contracts (value T) (value T) N F -> forall m, divergence_le (near m) (run m) (run' m) (value T).
Proof. by move=> H HN HF C m; apply: (@many_blocks (fun _ => value T) (fun _ => N) (fun _ => F)). Qed.

(* Blocks that repeat with the period w: one table for each phase. *)
Theorem every_phase (T N : nat -> table R) (F : nat -> R -> R) w : (0 < w)%N ->
  divergence_le (near 0%N) P Q (value (T 0%N)) ->
  (forall j, span (near j) (near j.+1) (K j) (K' j) (value (N (j %% w)%N))) ->
  (forall j, span (fun _ _ => True) (near j.+1) (K j) (K' j) (F (j %% w)%N)) ->
  (forall j, (j < w)%N -> contracts (value (T j)) (value (T (j.+1 %% w)%N)) (N j) (F j)) ->
  forall m, divergence_le (near m) (run m) (run' m) (value (T (m %% w)%N)).
Proof.
move=> w0 H HN HF C m; apply: (@many_blocks (fun j => value (T (j %% w)%N)) (fun j => N (j %% w)%N) (fun j => F
  (j %% w)%N)) => //.
  by rewrite mod0n.
move=> j _; have := C (j %% w)%N; rewrite ltn_mod => /(_ w0).
by rewrite -[((j %% w).+1 %% w)%N]/(((1 + j %% w)) %% w)%N modnDmr.
Qed.

(* From above: Y_0 = 1 after any steps. *)
Theorem from_above (Y1 : nat -> R -> R) (N : nat -> table R) (F : nat -> R -> R) m :
  (forall g, 0 <= g -> 1 <= Y1 0%N g) ->
  (forall j, (j < m)%N -> span (near j) (near j.+1) (K j) (K' j) (value (N j))) ->
  (forall j, (j < m)%N -> span (fun _ _ => True) (near j.+1) (K j) (K' j) (F j)) ->
  (forall j, (j < m)%N -> contracts (Y1 j) (Y1 j.+1) (N j) (F j)) ->
  divergence_le (near m) (run m) (run' m) (Y1 m).
Proof.
move=> one_ HN HF C; apply: many_blocks HN HF C => g g0 A B FA FB AB.
by apply: le_trans (one_ g g0); apply: (@anything R _ _ (near 0%N) P Q g g0 A B FA FB AB).
Qed.

(* Tables from above bound shorter runs from equal points, if all blocks have the same costs: begin with Y_(n-m).
   With a period w the same argument needs m = n modulo w. *)
Theorem shorter_runs (Y1 : nat -> R -> R) (N : table R) (F : R -> R) n m : (m <= n)%N ->
  divergence_le (near 0%N) P Q (@equal R) -> (forall j g, 0 <= g -> equal g <= Y1 j g) ->
  (forall j, span (near j) (near j.+1) (K j) (K' j) (value N)) ->
  (forall j, span (fun _ _ => True) (near j.+1) (K j) (K' j) F) ->
  (forall j, (j < n)%N -> contracts (Y1 j) (Y1 j.+1) N F) ->
  divergence_le (near m) (run m) (run' m) (Y1 n).
Proof.
move=> mn H least_ HN HF C; have := @many_blocks (fun j => Y1 (n - m + j)%N) (fun _ => N) (fun _ => F) m.
rewrite subnK //; apply=> //.
- move=> g g0 A B FA FB AB; apply: le_trans (least_ (n - m + 0)%N g g0); exact: H.
- by move=> j jm; rewrite addnS; apply: C; rewrite -ltn_subRL subnBA // addnC addnK.
Qed.
End Blocks.

(* ---- A table is at least E_0. ---- *)
Lemma equal_le (N : table R) g : equal g <= value N g.
Proof.
rewrite /equal /pos le_maxl; apply/andP; split; last first.
  by apply: addr_ge0; [apply: rest_ge0 | apply: sumr_ge0 => j _; apply: pos_ge0].
rewrite -{1}(mass1_sum N) -[X in _ - X]mulr1 -(mass2_sum N) /value -addrA ler_add2l mulr_sumr -sumrB.
by apply: ler_sum => j _; apply: pos_ge.
Qed.

(* ---- Forgetting: a block that costs nothing from near points (profiles.py, Damped; contraction.md, "Forgetting").
   For every g by itself, f(g) becomes f(g) F(1 + (g - 1) / f(g)); f need not be a table. ---- *)
Definition damped (F f : R -> R) (g : R) := f g * F (1 + (g - 1) / f g).
Section Forget.
Variables (X Y U V : space R) (near1 : X -> Y -> Prop) (near2 : U -> V -> Prop).
Variables (P : law X) (Q : law Y) (K : kernel X U) (K' : kernel Y V) (f F : R -> R).
Hypothesis costX : divergence_le near1 P Q f.
Hypothesis costN : span near1 near2 K K' (@equal R).
Hypothesis costF : span (fun _ _ => True) near2 K K' F.
(* Functions lo <= k' and k <= hi with k(x) <= k'(y) at near points. *)
Lemma forget_functions g hi lo (k : X -> R) (k' : Y -> R) : 0 <= g -> f g <= 1 -> measurable k -> measurable k' ->
  (forall x, k x <= hi) -> (forall y, lo <= k' y) -> (forall x y, near1 x y -> k x <= k' y) ->
  expect P k - g * expect Q k' <= f g * hi - (f g + g - 1) * lo.
Proof.
move=> g0 f1 Fk Fk' khi klo mono; case: (leP lo hi) => lohi; last first.
  apply: (@le_trans _ _ (hi - g * lo)).
    apply: ler_sub; first by rewrite -(expect_const P hi); apply: expect_le => //; apply: measurable_const.
    apply: ler_wpmul2l => //; rewrite -(expect_const Q lo); apply: expect_le => //; exact: measurable_const.
  rewrite -subr_ge0; have -> : f g * hi - (f g + g - 1) * lo - (hi - g * lo) = (1 - f g) * (lo - hi) by ring.
  by rewrite mulr_ge0 // subr_ge0 // ltW.
pose phi x := Num.max (k x) lo - lo; pose psi y := Num.min (k' y) hi - lo.
have Fphi : measurable phi by apply: measurable_sub (measurable_const _ _); apply: measurable_max (measurable_const _ _).
have Fpsi : measurable psi by apply: measurable_sub (measurable_const _ _); apply: measurable_min (measurable_const _ _).
have L : expect P phi - g * expect Q psi <= (hi - lo) * f g.
  apply: (layer_cake g0 (costX g0)) => //.
  - by move=> x; rewrite subr_ge0 le_maxr lexx orbT.
  - by move=> x; rewrite ler_add2r le_maxl khi lohi.
  - by move=> y; rewrite subr_ge0 le_minr klo lohi.
  - by rewrite subr_ge0.
  - by move=> x y xy; rewrite ler_add2r le_maxl !le_minr klo lohi khi (mono x y xy).
have EP : expect P k <= expect P phi + lo.
  rewrite -[X in _ <= _ + X](expect_const P) -expect_add //; last exact: measurable_const.
  apply: expect_le => //; first by apply: measurable_add => //; apply: measurable_const.
  by move=> x; rewrite subrK le_maxr lexx.
have EQ : expect Q psi + lo <= expect Q k'.
  rewrite -[X in _ + X <= _](expect_const Q) -expect_add //; last exact: measurable_const.
  apply: expect_le => //; first by apply: measurable_add => //; apply: measurable_const.
  by move=> y; rewrite subrK le_minl lexx.
apply: (le_trans (ler_sub EP (ler_wpmul2l g0 EQ))).
have -> : expect P phi + lo - g * (expect Q psi + lo) = (expect P phi - g * expect Q psi) + (1 - g) * lo by ring.
by apply: (le_trans (ler_add L (lexx _))); rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.
Theorem forget g : 0 <= g -> f g <= 1 ->
  hockey_stick near2 (after P K) (after Q K') g (damped F f g).
Proof.
move=> g0 f1; have fE := equal_least costX g0; move=> S S' FS FS' SS'; rewrite !probability_after.
set k := fun x => probability (K x) S; set k' := fun y => probability (K' y) S'.
have Fk : measurable k by exact: measurable_from.
have Fk' : measurable k' by exact: measurable_from.
have k0 x : 0 <= k x by exact: probability_ge0.
have k1 x : k x <= 1 by exact: probability_le1.
have k'0 y : 0 <= k' y by exact: probability_ge0.
have k'1 y : k' y <= 1 by exact: probability_le1.
have mono x y : near1 x y -> k x <= k' y.
  move=> xy; have := costN xy ler01 FS FS' SS'.
  by rewrite mul1r /equal subrr pos_0 // subr_le0.
have a0 : 0 <= f g by apply: le_trans fE; apply: pos_ge0.
case: (eqVneq (f g) 0) => fg.
  have := forget_functions g0 f1 Fk Fk' k1 k'0 mono.
  by rewrite /damped fg !mul0r mulr0 subr0.
have a1 : 0 < f g by rewrite lt_neqAle eq_sym fg.
set r := 1 + (g - 1) / f g.
have ar : f g * r = f g + g - 1 by rewrite /r mulrDr mulr1 mulrCA divff // mulr1 addrA.
have r0 : 0 <= r.
  by rewrite -(pmulr_rge0 _ a1) ar -addrA -[g - 1]opprB subr_ge0; apply: le_trans fE; apply: pos_ge.
rewrite leNgt /damped -/r; apply/negP => lt.
set gap := expect P k - g * expect Q k' - f g * F r.
have gap0 : 0 < gap by rewrite subr_gt0.
pose d := gap / (2%:R * (f g * (1 + r))).
have s0 : 0 < f g * (1 + r) by rewrite mulr_gt0 // ltr_paddr.
have d0 : 0 < d by rewrite divr_gt0 // mulr_gt0 // ltr0n.
suff : false by [].
apply: (some_point P) => x0; apply: (some_point Q) => y0.
apply: (near_supremum (k := k) x0 k0 k1 d0) => xs top.
have k''0 y : 0 <= 1 - k' y by rewrite subr_ge0.
have k''1 y : 1 - k' y <= 1 by rewrite ler_subl_addl ler_addr.
apply: (near_supremum (k := fun y => 1 - k' y) y0 k''0 k''1 d0) => ys bottom.
have lo_le y : k' ys - d <= k' y.
  rewrite -subr_ge0; have H0 := bottom y; rewrite -subr_ge0 in H0.
  by apply: (le_trans H0); rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
have := forget_functions g0 f1 Fk Fk' top lo_le mono.
have -> : f g * (k xs + d) - (f g + g - 1) * (k' ys - d) = f g * (k xs - r * k' ys) + d * (f g * (1 + r)).
  by rewrite -ar; ring.
have -> : d * (f g * (1 + r)) = gap / 2%:R by rewrite /d invfM [gap * _]mulrA divfK // gt_eqF.
have far : f g * (k xs - r * k' ys) <= f g * F r by apply: ler_wpmul2l => //; apply: costF.
move=> /le_trans /(_ (ler_add far (lexx _))); rewrite -ler_subl_addl -/gap.
by rewrite ler_pdivl_mulr ?ltr0n // mulr_natr mulr2n ger_addl leNgt gap0.
Qed.
End Forget.

(* `damped` keeps profiles at most 1. *)
Lemma damped_le1 (F f : R -> R) g : equal g <= f g -> f g <= 1 ->
  (forall r, 0 <= r -> 0 <= F r /\ F r <= 1) -> damped F f g <= 1.
Proof.
move=> fE f1 F1; have a0 : 0 <= f g by apply: le_trans fE; apply: pos_ge0.
case: (eqVneq (f g) 0) => fg; first by rewrite /damped fg mul0r ler01.
have a1 : 0 < f g by rewrite lt_neqAle eq_sym fg.
rewrite /damped; set r := 1 + (g - 1) / f g.
have ar : f g * r = f g + g - 1 by rewrite /r mulrDr mulr1 mulrCA divff // mulr1 addrA.
have r0 : 0 <= r.
  by rewrite -(pmulr_rge0 _ a1) ar -addrA -[g - 1]opprB subr_ge0; apply: le_trans fE; apply: pos_ge.
by have [F0 {}F1] := F1 r r0; rewrite mulr_ile1.
Qed.
(* Any number of blocks after the steps that f bounds.  Profiles are at most 1. *)
Theorem forget_blocks (X Y : nat -> space R) (P : law (X 0%N)) (Q : law (Y 0%N))
  (K : forall j, kernel (X j) (X j.+1)) (K' : forall j, kernel (Y j) (Y j.+1))
  (near : forall j, X j -> Y j -> Prop) (F : nat -> R -> R) (f : R -> R) m :
  divergence_le (@near 0%N) P Q f -> (forall g, 0 <= g -> f g <= 1) ->
  (forall j, span (@near j) (@near j.+1) (K j) (K' j) (@equal R)) ->
  (forall j, span (fun _ _ => True) (@near j.+1) (K j) (K' j) (F j)) ->
  (forall j r, 0 <= r -> 0 <= F j r /\ F j r <= 1) ->
  divergence_le (@near m) (run P K m) (run' Q K' m) (iteri m (fun j => damped (F j)) f).
Proof.
move=> start f1 HN HF F1.
suff : divergence_le (@near m) (run P K m) (run' Q K' m) (iteri m (fun j => damped (F j)) f) /\
  forall g, 0 <= g -> iteri m (fun j => damped (F j)) f g <= 1 by case.
elim: m => [|m [IH le1]] /=; first by split=> // g g0; apply: f1.
split=> g g0; first exact: (forget IH (HN m) (HF m) g0 (le1 g g0)).
by apply: (damped_le1 (equal_least IH g0) (le1 g g0)) => r; apply: F1.
Qed.
End Induction.
