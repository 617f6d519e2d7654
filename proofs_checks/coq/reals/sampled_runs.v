(* Runs with random batches: from what a step on one batch does, to a table for every number of steps.

   Pages: docs/proofs/contraction.md, "Random batches"; docs/proofs/poisson.md; docs/proofs/without_replacement.md.

   A coin of probability q decides in every step whether the sample that differs is used.  The near cost of a block is
   the composition of steps with a hidden coin; for the far cost the coins and the batches are revealed. *)
From Coq Require Import ZArith Reals Lra Lia List.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From mathcomp Require Import ssrZ Rstruct.
From lastiterate Require Import laws tables chain contract rules step composition coins induction checker batches.
From lastiterate.reals Require Import gaussian table_costs runs.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Delimit Scope R_scope with coqR.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* The mean of f over the number of uses in w steps, each of which uses the sample with probability q. *)
Fixpoint uses (q : R) w (f : nat -> R) h : R := if w is v.+1 then (1 - q) * uses q v f h + q * uses q v f h.+1 else f h.
Section Uses.
Variable q : R.
Hypothesis q0 : 0 <= q.
Hypothesis q1 : q <= 1.
Lemma uses_le w f f' h : (forall k, f k <= f' k) -> uses q w f h <= uses q w f' h.
Proof.
move=> le; elim: w h => [|w IH] h //=.
by apply: ler_add; apply: ler_wpmul2l => //; rewrite subr_ge0.
Qed.
Lemma uses_ge0 w f h : (forall k, 0 <= f k) -> 0 <= uses q w f h.
Proof.
move=> f0; elim: w h => [|w IH] h //=.
by apply: addr_ge0; apply: mulr_ge0 => //; rewrite subr_ge0.
Qed.
Lemma uses_shift w f h : uses q w f h.+1 = uses q w (fun k => f k.+1) h.
Proof. by elim: w h => [|w IH] h //=; rewrite !IH. Qed.
End Uses.

Section CoinRun.
Variables (O : finType) (p : O -> R) (X : space RA) (q : R).
Hypothesis pP : masses p.
Hypothesis q0 : 0 <= q.
Hypothesis q1 : q <= 1.
(* A step of the kernel K draws an outcome o and a coin: G o without the sample, and G1 o with it. *)
Definition tossed (K : kernel X X) (G G1 : O -> kernel X X) := forall x h, measurable h ->
  expect (K x) h = \sum_o p o * ((1 - q) * expect (G o x) h + q * expect (G1 o x) h).

Lemma tossed_after K G G1 (P : law X) h : tossed K G G1 -> measurable h ->
  expect (after P K) h = \sum_o p o * ((1 - q) * expect (after P (G o)) h + q * expect (after P (G1 o)) h).
Proof.
move=> H Fh; have F (k : kernel X X) : measurable (fun x => expect (k x) h) by apply: measurable_from.
pose f o x := (1 - q) * expect (G o x) h + q * expect (G1 o x) h.
have Ff o : measurable (f o) by apply: measurable_add; apply: measurable_scale.
have -> : expect (after P K) h = expect P (fun x => \sum_o p o * f o x).
  by rewrite /=; apply: expect_ext => [|x]; [exact: F | exact: H].
rewrite (expect_mean p P Ff); apply: eq_bigr => o _; congr (_ * _).
rewrite /f (@expect_add _ _ P (fun x => (1 - q) * expect (G o x) h) (fun x => q * expect (G1 o x) h)).
- by rewrite !expect_scale.
- exact: measurable_scale.
- exact: measurable_scale.
Qed.

(* A mean over the outcomes, the coin revealed; outcomes that are not good are improbable. *)
Lemma mean_step K K' G G1 G' G2 (P Q : law X) (C C' : kernel X X) (A B : set X) g (U0 U1 rho : R) (good : pred O) :
  tossed K G G1 -> tossed K' G' G2 -> measurable_set A -> measurable_set B -> 0 <= g -> 0 <= U0 -> 0 <= U1 ->
  (forall o, good o -> probability (after (after P (G o)) C) A - g * probability (after (after Q (G' o)) C') B <= U0) ->
  (forall o, good o -> probability (after (after P (G1 o)) C) A - g * probability (after (after Q (G2 o)) C') B <= U1) ->
  \sum_(o | ~~ good o) p o <= rho ->
  probability (after (after P K) C) A - g * probability (after (after Q K') C') B <= (1 - q) * U0 + q * U1 + rho.
Proof.
move=> HK HK' FA FB g0 U00 U10 H0 H1 bad; have [p0 p1] := pP.
have FC : measurable (fun x => expect (C x) (indicator A)) by exact: measurable_from.
have FC' : measurable (fun x => expect (C' x) (indicator B)) by exact: measurable_from.
have -> : probability (after (after P K) C) A =
    \sum_o p o * ((1 - q) * probability (after (after P (G o)) C) A + q * probability (after (after P (G1 o)) C) A).
  exact: (tossed_after P HK FC).
have -> : probability (after (after Q K') C') B =
    \sum_o p o * ((1 - q) * probability (after (after Q (G' o)) C') B + q * probability (after (after Q (G2 o)) C') B).
  exact: (tossed_after Q HK' FC').
rewrite mulr_sumr -sumrB (bigID good) /=; set U := (1 - q) * U0 + q * U1.
have q10 : 0 <= 1 - q by rewrite subr_ge0.
have U_0 : 0 <= U by apply: addr_ge0; apply: mulr_ge0.
apply: ler_add.
  apply: (@le_trans _ _ (\sum_(o | good o) p o * U)).
    apply: ler_sum => o og; rewrite coin_gap; apply: ler_wpmul2l => //.
    by apply: ler_add; apply: ler_wpmul2l => //; [apply: H0 | apply: H1].
  rewrite -mulr_suml -[X in _ <= X]mul1r; apply: ler_wpmul2r => //.
  by rewrite -p1 [X in _ <= X](bigID good) /= ler_addl; apply: sumr_ge0.
apply: le_trans bad; apply: ler_sum => o _; rewrite coin_gap -[X in _ <= X]mulr1; apply: ler_wpmul2l => //.
have one (P1 Q1 : law X) : probability P1 A - g * probability Q1 B <= 1.
  rewrite ler_subl_addr (le_trans (probability_le1 P1 FA)) // ler_addl mulr_ge0 //; exact: probability_ge0.
apply: (@le_trans _ _ ((1 - q) * 1 + q * 1)); last by rewrite !mulr1 subrK.
apply: ler_add; apply: ler_wpmul2l => //.
- exact: (one (after (after P (G o)) C) (after (after Q (G' o)) C')).
- exact: (one (after (after P (G1 o)) C) (after (after Q (G2 o)) C')).
Qed.

(* ---- The far cost: a path for each number of uses. ---- *)
Section Far.
Variables (K K' : nat -> kernel X X) (G G1 G2 : nat -> O -> kernel X X).
Hypothesis toss : forall j, tossed (K j) (G j) (G1 j).
Hypothesis toss' : forall j, tossed (K' j) (G j) (G2 j).
Variables (within : R -> X -> X -> Prop) (noise rho : R) (good : pred O) (used : seq line).
Variables (D move extra : Z).
Hypothesis D0 : (0 < D)%ZZ.
Hypothesis move0 : (0 <= move)%ZZ.
Hypothesis noise0 : (0 < noise)%coqR.
Hypothesis rare : \sum_(o | ~~ good o) p o <= rho.
Hypothesis same : forall j o l, good o -> l \in used ->
  noisy_step within within (G j o) (G j o) noise (slope l) (offset l).
Hypothesis differ : forall j o l, good o -> l \in used ->
  noisy_step within within (G1 j o) (G2 j o) noise (slope l) (offset l + IZR move / IZR D)%coqR.
Hypothesis zero : forall x y, within 0%coqR x y -> x = y.

(* mu of hidden parts with squares that add up to t, in units of 1 / D. *)
Definition mu_of (t : Z) := (sqrt (IZR t) / (noise * IZR D))%coqR.
(* A use adds at most `extra` to the square of the hidden part. *)
Definition extra_ok (s : path) := all (fun s => Z.leb (2 * s.1.1 * move + move * move) extra) s.
Definition equals (x y : X) := x = y.
Definition ends (z : R) (t : Z) (C C' : kernel X X) := forall near (L L' : kernel X X) a, (0 < a)%ZZ ->
  gaussian_cost near (within z) L L' (mu_of a) -> gaussian_cost near equals (then_kernel L C) (then_kernel L' C') (mu_of (a + t)).
Definition costs (t : Z) (g : R) (h : nat) : R := pos (theta (mu_of (t + Z.of_nat h * extra)) g).

Lemma mu_of_gt0 t : (0 < t)%ZZ -> (0 < mu_of t)%coqR.
Proof.
move=> /IZR_lt t0; have D0' := IZR_lt _ _ D0; apply: Rdiv_lt_0_compat; first exact: sqrt_lt_R0.
exact: Rmult_lt_0_compat.
Qed.
Lemma mu_of_square t : (0 <= t)%ZZ -> (mu_of t * mu_of t = IZR t / ((noise * IZR D) * (noise * IZR D)))%coqR.
Proof.
move=> /IZR_le t0; have D0' := IZR_lt _ _ D0; rewrite /mu_of -{3}(sqrt_sqrt (IZR t)) //; field; split; lra.
Qed.
Lemma mu_of_le s t : (0 <= s <= t)%ZZ -> (mu_of s <= mu_of t)%coqR.
Proof.
move=> [s0 st]; have D0' := IZR_lt _ _ D0; apply: Rmult_le_compat_r.
  by left; apply: Rinv_0_lt_compat; apply: Rmult_lt_0_compat.
by apply: sqrt_le_1_alt; apply: IZR_le.
Qed.
Lemma single_mu a : (0 < a)%ZZ -> (IZR a / IZR D / noise)%coqR = mu_of (a * a).
Proof.
move=> /IZR_lt a0; have D0' := IZR_lt _ _ D0; rewrite /mu_of mult_IZR sqrt_square; last lra.
by field; split; lra.
Qed.
Lemma ends_here : ends 0%coqR 0%ZZ (no_step X) (no_step X).
Proof.
move=> near L L' a a0 H x y xy g g0 A B FA FB AB; rewrite Z.add_0_r.
by apply: (H x y xy g g0 A B FA FB) => u v /zero; exact: AB.
Qed.
Lemma ends_step z z' t a (L L' C C' : kernel X X) : gaussian_composition -> (0 < a)%ZZ -> (0 <= t)%ZZ ->
  ends z t C C' -> gaussian_cost (within z') (within z) L L' (mu_of a) ->
  ends z' (a + t) (then_kernel L C) (then_kernel L' C').
Proof.
move=> comp a0 t0 HC HL near M M' b b0 HM x y xy.
have ba : (0 < b + a)%ZZ by apply: Z.add_pos_pos.
have both : gaussian_cost near (within z) (then_kernel M L) (then_kernel M' L') (mu_of (b + a)).
  have [b1 a1] := (Z.lt_le_incl _ _ b0, Z.lt_le_incl _ _ a0).
  apply: (comp _ _ _ _ _ _ _ _ _ _ _ _ _ (mu_of b) (mu_of a)) HM HL; try exact: mu_of_gt0.
  rewrite (mu_of_square b1) (mu_of_square a1) (mu_of_square (Z.lt_le_incl _ _ ba)) plus_IZR.
  by right; rewrite /Rdiv; ring.
by have := HC _ _ _ _ ba both x y xy; rewrite -Z.add_assoc.
Qed.

Lemma one_more t b c u k : (0 < b -> 0 <= t -> 0 <= u -> 0 <= extra -> b <= c + extra ->
  0 < t + b + u + Z.of_nat k * extra /\ t + b + u + Z.of_nat k * extra <= t + (c + u) + Z.of_nat k.+1 * extra)%ZZ.
Proof.
move=> b0 t0 u0 e0 le; rewrite Nat2Z.inj_succ Z.mul_succ_l.
by have := Z.mul_nonneg_nonneg _ _ (Zle_0_nat k) e0; set w := (_ * _)%ZZ; lia.
Qed.

(* From states z apart, at most what the path costs for the number of uses, averaged, plus the probability that some batch
   of the block is not good. *)
Theorem far_mean m (s : path) (z : Z) t (C C' : kernel X X) : path_ok D z s -> (0 < size s)%N -> extra_ok s ->
  all (fun one => one.2 \in used) s -> (0 <= t)%ZZ -> (0 <= extra)%ZZ -> ((1 < size s)%N -> gaussian_composition) ->
  ends (IZR (reach z s) / IZR D)%coqR t C C' ->
  forall x y, within (IZR z / IZR D)%coqR x y -> forall g (A B : set X), 0 < g -> measurable_set A -> measurable_set B ->
  (forall x, A x -> B x) ->
  probability (after (block (X := fun=> X) K m (size s) x) C) A - g * probability (after (block (X := fun=> X) K' m (size s) y) C') B <=
    uses q (size s) (costs (t + squares s) g) 0 + (size s)%:R * rho.
Proof.
move=> + + + + t0 e0; elim: s t t0 C C' => [//|s p' IH] t t0 C C' ok _ /= /andP [ex exs] /andP [us uss] comp HC x y xy g A B g0 FA FB AB.
have [a_0 [z0 le]] := path_step D0 ok.
have okp : path_ok D z p' by move: ok => /= /and5P [_ _ _ _ /andP []].
have a0 : (0 < s.1.1)%ZZ by move: ok => /= /and5P [/Z.ltb_lt].
have r0 := reach_ge0 okp; have D0' := IZR_lt _ _ D0.
have div0 u : (0 <= IZR u)%coqR -> (0 <= IZR u / IZR D)%coqR by move=> u0; apply: Rle_mult_inv_pos.
set v := size p'; set a := s.1.1 in a_0 a0 le *; pose a' := (a + move)%ZZ.
have a'0 : (0 < a')%ZZ by rewrite /a'; apply: Z.add_pos_nonneg.
have aa0 : (0 < a * a)%ZZ by apply: Z.mul_pos_pos.
have aa'0 : (0 < a' * a')%ZZ by apply: Z.mul_pos_pos.
have H0 o : good o -> gaussian_cost (within (IZR (reach z p') / IZR D)%coqR) (within (IZR s.1.2 / IZR D)%coqR)
    (G (v + m)%N o) (G (v + m)%N o) (mu_of (a * a)).
  move=> og; rewrite -single_mu //; apply: (same _ og us) => //; try exact: div0.
  exact: Rdiv_lt_0_compat.
have H1 o : good o -> gaussian_cost (within (IZR (reach z p') / IZR D)%coqR) (within (IZR s.1.2 / IZR D)%coqR)
    (G1 (v + m)%N o) (G2 (v + m)%N o) (mu_of (a' * a')).
  move=> og; rewrite -single_mu //; apply: (differ _ og us) => //; try exact: div0.
    by apply: Rdiv_lt_0_compat => //; apply: IZR_lt.
  rewrite /a' plus_IZR; have -> : ((IZR a + IZR move) / IZR D = IZR a / IZR D + IZR move / IZR D)%coqR by field; lra.
  by rewrite -!Rplus_assoc; apply: Rplus_le_compat_r; exact: le.
have aE : (a' * a' <= a * a + extra)%ZZ.
  have -> : (a' * a' = a * a + (2 * a * move + move * move))%ZZ by rewrite /a'; ring.
  by apply: Zplus_le_compat_l; apply/Z.leb_le; exact: ex.
have sq0 : (0 <= squares p')%ZZ by apply: le_IZR; exact: squares_ge0.
(* What is left of the run after the last step, for the coin's two outcomes. *)
pose U b := uses q v (costs (t + b + squares p') g) 0 + v%:R * rho.
have step b o (k k' : kernel X X) : good o -> (0 < b)%ZZ ->
    gaussian_cost (within (IZR (reach z p') / IZR D)%coqR) (within (IZR s.1.2 / IZR D)%coqR) k k' (mu_of b) ->
    probability (after (after (block (X := fun=> X) K m v x) k) C) A -
      g * probability (after (after (block (X := fun=> X) K' m v y) k') C') B <= U b.
  move=> og b0 cost; rewrite /U; case: (posnP v) => v0.
    have p0 : p' = [::] by apply: size0nil.
    move: cost; rewrite /v p0 /= => cost; rewrite mul0r addr0 /costs.
    apply: le_trans (pos_ge _); rewrite Z.add_0_r Z.add_0_r [(t + b)%ZZ]Z.add_comm.
    by apply: (HC _ _ _ _ b0 cost x y xy g g0 A B FA FB) => u w ->; apply: AB.
  have compv : gaussian_composition by apply: comp; rewrite ltnS.
  have bt0 : (0 <= b + t)%ZZ by lia.
  have E := IH (b + t)%ZZ bt0 (then_kernel k C) (then_kernel k' C') okp v0 exs uss (fun=> compv)
    (ends_step compv b0 t0 HC cost) x y xy g A B g0 FA FB AB.
  by rewrite [(t + b)%ZZ]Z.add_comm.
have U_0 b : 0 <= U b.
  apply: addr_ge0; first by apply: uses_ge0 => // k; exact: pos_ge0.
  rewrite mulr_ge0 ?ler0n //; apply: le_trans rare; apply: sumr_ge0 => o _; by case: pP.
have main := mean_step (toss (v + m)%N) (toss' (v + m)%N) FA FB (ltW g0) (U_0 (a * a)%ZZ) (U_0 (a' * a')%ZZ)
  (fun o og => step _ o _ _ og aa0 (H0 o og)) (fun o og => step _ o _ _ og aa'0 (H1 o og)) rare.
apply: (le_trans main); rewrite /U.
have dearer : uses q v (costs (t + a' * a' + squares p') g) 0 <= uses q v (costs (t + (a * a + squares p')) g) 1.
  rewrite uses_shift; apply: uses_le => // k; apply: pos_le.
  have [pos0 le_next] := one_more k aa'0 t0 sq0 e0 aE.
  apply/RleP; apply: theta_le; last by apply/RltP.
    exact: mu_of_gt0.
  by apply: mu_of_le; split=> //; apply: Z.lt_le_incl.
have -> : (t + a * a + squares p')%ZZ = (t + (a * a + squares p'))%ZZ by rewrite Z.add_assoc.
have -> : v.+1%:R * rho = v%:R * rho + rho by rewrite -addn1 natrD mulrDl mul1r.
rewrite coin_sum; apply: ler_add => //.
exact: (ler_add (lexx ((1 - q) * uses q v (costs (t + (a * a + squares p')) g) 0)) (ler_wpmul2l q0 dearer)).
Qed.
End Far.
End CoinRun.

(* ---- Compositions of tables: what a block of several steps costs from equal points. ---- *)
Section Compositions.
Variable X : space RA.
Local Notation kernels := (nat -> kernel X X).
Local Notation steps K m w := (block (X := fun=> X) K m w).
Definition same_point (x y : X) := x = y.
(* N bounds a block of w steps that each cost at most the table one. *)
Definition composes S (one : seq (Z * Z)) (w : nat) N := good_table S N /\ forall K K' : kernels,
  (forall j, span same_point same_point (K j) (K' j) (atoms_value (atoms_of RA S one))) ->
  forall m, span same_point same_point (steps K m w) (steps K' m w) (atoms_value (atoms_of RA S N)).
Definition sure (S : Z) : seq (Z * Z) := [:: (0, S)%ZZ].
Definition composed_ok S T N T' :=
  [&& good_table S (sure S), good_table S T' & nodes_ok S T N (sure S) T' T' (nseq (size T') ((S, 1), (1, S))%ZZ)].

Lemma block_cat (K : kernels) m a b x h :
  expect (steps K m (a + b)%N x) h = expect (after (steps K m b x) (steps K (b + m)%N a)) h.
Proof.
elim: a h => [//|a IH] h /=.
have -> : (a + b + m = a + (b + m))%N by rewrite addnA.
exact: (IH (fun y => expect (K (a + (b + m))%N y) h)).
Qed.
Lemma span_sure S (U V : space RA) (near : U -> V -> Prop) (near' : X -> X -> Prop) (K : kernel U X) (K' : kernel V X) :
  (0 < S)%ZZ -> span near near' K K' (atoms_value (atoms_of RA S (sure S))).
Proof.
move=> S0 x y _ g g0 A B FA FB AB; apply: le_trans (anything (K x) (K' y) g0 FA FB AB) _.
rewrite /atoms_value /= big_cons big_nil /rest_of /= Z.sub_0_r divff ?addr0 ?ler_addl ?pos_ge0 //.
by rewrite gt_eqF // real_gt0.
Qed.
Theorem composed S one a b T N T' : composed_ok S N T T' -> composes S one a T -> composes S one b N ->
  composes S one (a + b) T'.
Proof.
move=> /and3P [GF GT' ok] [GT HT] [GN HN]; split=> // K K' H m x y xy g g0 A B FA FB AB.
have S0 : (0 < S)%ZZ by move: GT; rewrite /good_table => /andP [/andP [/andP [/Z.ltb_lt]]].
rewrite /probability !block_cat.
have E := next_block GN GT GT' ok S0 (HN _ _ H m x y xy) (HT _ _ H (b + m)%N) (span_sure _ _ S0).
exact: (E g g0 A B FA FB AB).
Qed.
Lemma composes_one S one : good_table S one -> composes S one 1 one.
Proof. by move=> G; split=> // K K' H m x y xy; exact: (H m x y xy). Qed.

(* ---- Blocks of w steps: a table that is at least its own contraction bounds every number of steps. ---- *)
Variables (P : law X) (K K' : kernels) (S : Z) (one N F T : seq (Z * Z)) (hs : seq ((Z * Z) * (Z * Z))) (w : nat).
Hypothesis near_cost : forall j, span same_point same_point (K j) (K' j) (atoms_value (atoms_of RA S one)).
Hypothesis good_one : good_table S one.
Hypothesis window : composes S one w N.
Hypothesis w0 : (0 < w)%N.
Hypothesis far_cost : forall m, span (fun _ _ => True) same_point (steps K m w) (steps K' m w) (atoms_value (atoms_of RA S F)).
Hypothesis accepted : check_table S T N F hs.
Hypothesis above : table_le S N T.

Lemma run_shorter (L L' : kernels) n v h : (forall j, (j < n)%N -> L j = L' j) -> (forall j, (n <= j)%N -> L' j = no_step X) ->
  expect (run (X := fun=> X) P L n) h = expect (run (X := fun=> X) P L' (v + n)) h.
Proof.
move=> early late; elim: v h => [|v IH] h; last first.
  by rewrite addSn /= late ?leq_addl //; exact: (IH h).
rewrite add0n; have same k h' : (k <= n)%N -> expect (run (X := fun=> X) P L k) h' = expect (run (X := fun=> X) P L' k) h'.
  elim: k h' => [//|k IHk] h' kn; have E := IHk (fun y => expect (L k y) h') (ltnW kn).
  by rewrite /= /after_expect -(early _ kn); exact: E.
exact: same.
Qed.
Theorem every_number n : divergence_le same_point (run (X := fun=> X) P K n) (run (X := fun=> X) P K' n) (atoms_value (atoms_of RA S T)).
Proof.
have [GN HN] := window; have /andP [/andP [GT _] ok] := accepted.
have S0 : (0 < S)%ZZ by move: GT; rewrite /good_table => /andP [/andP [/andP [/Z.ltb_lt]]].
elim/ltn_ind: n => n IH; case: (ltnP n w) => nw; last first.
  rewrite -(subnKC nw); apply: (@divergence_block (fun=> X) (fun=> X) K K' P P (n - w) w same_point).
  apply: (next_block GT GN GT ok S0 (IH _ _) (HN _ _ near_cost _) (far_cost _)).
  by rewrite ltn_subrL w0 (leq_trans w0 nw).
pose pad (L : kernels) j := if (j < n)%N then L j else no_step X.
have start : divergence_le same_point P P (@equal RA) by exact: same_law.
have near_pad j : span same_point same_point (pad K j) (pad K' j) (atoms_value (atoms_of RA S one)).
  rewrite /pad; case: ifP => // _ x y xy g g0 A B FA FB AB.
  have [M MN] := in_order (atoms_sound RA good_one); rewrite -MN; apply: le_trans (equal_le M g).
  exact: (identity xy g0 FA FB AB).
have [M MN] := in_order (atoms_sound RA GN).
have HM : span same_point same_point (steps (pad K) 0 w) (steps (pad K') 0 w) (value M).
  by move=> x y xy g g0; rewrite MN; apply: HN.
have whole : divergence_le same_point (run (X := fun=> X) P (pad K) (w + 0)) (run (X := fun=> X) P (pad K') (w + 0))
    (atoms_value (atoms_of RA S N)).
  apply: (@divergence_block (fun=> X) (fun=> X) (pad K) (pad K') P P 0 w same_point) => g g0 A B FA FB AB.
  by rewrite -MN -compose_equal //; exact: (chain_laws start HM g0 FA FB AB).
have := table_le_cost GT above whole; rewrite addn0 => H g g0 A B FA FB AB.
have E (L : kernels) h : expect (run (X := fun=> X) P L n) h = expect (run (X := fun=> X) P (pad L) w) h.
  rewrite -(subnK (ltnW nw)); apply: run_shorter => j; rewrite /pad; first by move=> ->.
  by rewrite leqNgt => /negbTE ->.
by rewrite /probability !E; exact: (H g g0 A B FA FB AB).
Qed.
End Compositions.

(* ---- Steps on random batches have a hidden coin. ---- *)
Section Schemes.
Variables (X : space RA) (N : finType) (q : R) (step : {set N} -> kernel X X).
Hypothesis q0 : 0 <= q.
Hypothesis q1 : q <= 1.
(* A step on a Poisson batch of the data set D. *)
Definition poisson_step (D : {set N}) : kernel X X := mean_kernel (poisson_masses D q0 q1) step.
(* A step on a batch of b samples of the data set D, drawn without replacement. *)
Definition uniform_step b (D : {set N}) (bD : (b <= #|D|)%N) : kernel X X := mean_kernel (uniform_masses RA bD) step.

Theorem poisson_tossed (D : {set N}) i : i \in D ->
  tossed (poisson_batch q (D :\ i)) q (poisson_step D) step (fun B => step (i |: B)).
Proof. by move=> iD x h Fh; exact: (poisson_coin q (fun B => expect (step B x) h) iD). Qed.
Lemma untossed (D : {set N}) : tossed (poisson_batch q D) q (poisson_step D) step step.
Proof. by move=> x h Fh /=; apply: eq_bigr => B _; rewrite -mulrDl subrK mul1r. Qed.
Theorem uniform_tossed b (C : {set N}) i (iC : i \notin C) (bC : (0 < b <= #|C|)%N) (bD : (b <= #|i |: C|)%N) :
  tossed (slot_batch RA b C) (b%:R / #|C|.+1%:R)%R (uniform_step bD) (fun o => step o.1) (fun o => step (swapped i o)).
Proof. by move=> x h Fh; exact: (uniform_coin (fun B => expect (step B x) h) iC bC). Qed.
End Schemes.

(* The near cost of a Poisson step at one ratio, with the sample in the first run. *)
Theorem poisson_near (O : finType) (p : O -> R) (X : space RA) (q : R) (K K' : kernel X X) (G G1 : O -> kernel X X) x g r v :
  masses p -> 0 <= q -> q <= 1 -> tossed p q K G G1 -> tossed p q K' G G -> q * r = g - 1 + q ->
  (forall o, hockey_stick (@same_point X) (G1 o x) (G o x) r v) -> hockey_stick (@same_point X) (K x) (K' x) g (q * v).
Proof.
move=> [p0 p1] q0 q1 HK HK' qr H A B FA FB AB; rewrite /probability HK // HK' // mulr_sumr -sumrB -/probability.
have -> : q * v = \sum_o p o * (q * v) by rewrite -mulr_suml p1 mul1r.
apply: ler_sum => o _; rewrite coin_gap; apply: ler_wpmul2l => //.
have le : expect (G o x) (indicator A) <= expect (G o x) (indicator B).
  by apply: expect_le => // y; rewrite /indicator ler_nat; case: (A y) (AB y y erefl) => // ->.
have q10 : 0 <= 1 - q by rewrite subr_ge0.
have h := ler_wpmul2l q0 (H o A B FA FB AB); rewrite mulrBr mulrA qr /probability in h.
apply: le_trans h.
set a := expect (G o x) (indicator A) in le *; set b := expect (G o x) (indicator B) in le *.
apply: (@le_trans _ _ ((1 - q) * (b - g * b) + q * (expect (G1 o x) (indicator A) - g * b))).
  by rewrite ler_add2r; apply: ler_wpmul2l => //; rewrite ler_add2r.
by rewrite near_gap.
Qed.

(* ---- The other order of the two runs: the reflection of the table. ---- *)
Definition delta_back_ok S T (e d : Z * Z) := [&& Z.ltb 0 S, Z.ltb 0 e.1, Z.ltb 0 e.2, Z.ltb 0 d.2 &
  Z.leb (((e.2 - e.1) * S + scaled S T e.1 e.2) * d.2)%ZZ (d.1 * e.2 * S)%ZZ].
Lemma table_private_back S T (e d : Z * Z) eps (X Y : space RA) (near : X -> Y -> Prop) P Q A B :
  delta_back_ok S T e d -> (IZR e.1 / IZR e.2 <= exp eps)%coqR ->
  divergence_le near P Q (atoms_value (atoms_of RA S T)) -> measurable_set A -> measurable_set B ->
  (forall x y, near x y -> B y -> A x) ->
  (probability Q B <= exp eps * probability P A + IZR d.1 / IZR d.2)%coqR.
Proof.
move=> /and5P [/Z.ltb_lt S0 /Z.ltb_lt e1 /Z.ltb_lt e2 /Z.ltb_lt d2 /Z.leb_le le] ee H FA FB BA.
have g0 : 0 < real RA e.1 / real RA e.2 by apply: divr_gt0; apply: real_gt0.
have V := at_ratio T e.2 S0 e1; set u := atoms_value _ _ in V; move: V le; move: (scaled S T e.1 e.2) => sc V le.
have r0 : 0 <= 1 / (real RA e.1 / real RA e.2) by apply: divr_ge0 (ltW g0); exact: ler01.
have rE : 1 / (real RA e.1 / real RA e.2) = real RA e.2 / real RA e.1 by rewrite mul1r invf_div.
have h := reflect g0 (H _ r0) FB FA (fun y x => BA x y); rewrite rE -/u in h.
move: (real_le RA le); rewrite !(checker.realM, checker.realD, checker.realB) => L.
have := (real_gt0 RA S0, real_gt0 RA e1, real_gt0 RA e2, real_gt0 RA d2).
move: V L h g0; rewrite !realIZR => V L h g0 [[[s0 e10] e20] d20].
have /RleP p0 := probability_ge0 P FA; change (0 <= probability P A)%coqR in p0.
move: s0 e10 e20 d20 => /RltP s0 /RltP e10 /RltP e20 /RltP d20; move: L => /RleP L; move: h => /RleP h.
have gE : IZR e.1 / IZR e.2 = (IZR e.1 / IZR e.2)%coqR by rewrite RdivE //; apply/eqP => z; move: e20; rewrite z; apply: Rlt_irrefl.
rewrite gE in h; change (0 < IZR S)%coqR in s0; change (0 < IZR e.1)%coqR in e10; change (0 < IZR e.2)%coqR in e20; change (0 < IZR d.2)%coqR in d20.
have V' : (IZR e.1 * u * IZR S = IZR sc)%coqR.
  by change (IZR e.1 * u * IZR S = IZR sc); rewrite V divfK //; apply/eqP => z; move: s0; rewrite z; apply: Rlt_irrefl.
change (((IZR e.2 - IZR e.1) * IZR S + IZR sc) * IZR d.2 <= IZR d.1 * IZR e.2 * IZR S)%coqR in L.
change (probability Q B - IZR e.1 / IZR e.2 * probability P A <= 1 - IZR e.1 / IZR e.2 + IZR e.1 / IZR e.2 * u)%coqR in h.
have b : (1 - IZR e.1 / IZR e.2 + IZR e.1 / IZR e.2 * u <= IZR d.1 / IZR d.2)%coqR.
  apply: (Rmult_le_reg_r (IZR e.2 * IZR S * IZR d.2)); first by do 2 (apply: Rmult_lt_0_compat => //).
  have -> : ((1 - IZR e.1 / IZR e.2 + IZR e.1 / IZR e.2 * u) * (IZR e.2 * IZR S * IZR d.2) =
    ((IZR e.2 - IZR e.1) * IZR S + IZR e.1 * u * IZR S) * IZR d.2)%coqR by field; lra.
  by rewrite V'; apply: Rle_trans L _; right; field; lra.
by have := Rmult_le_compat_r _ _ _ p0 ee => ?; lra.
Qed.
