(* Runs of noisy steps: from what one step does to the distance of two states, to (epsilon, delta) for the last iterate.

   Python: proofs_checks/certificates/coq.py writes files whose last theorem applies those below to the numbers of one
   certificate.  Pages: docs/proofs/contraction.md, "Many blocks"; docs/proofs/shift_program.md.

   The hypotheses are those of `noisy_run`.  Numbers of a path are whole numbers over one scale D. *)
From Coq Require Import ZArith Reals Lra List.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From mathcomp Require Import ssrZ Rstruct.
From lastiterate Require Import laws tables chain contract rules step composition induction checker.
From lastiterate.reals Require Import gaussian table_costs.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Delimit Scope R_scope with coqR.
Open Scope R_scope.

(* ---- What the theorems suppose of a run. ---- *)
Section Statements.
Variables (X Y U V : space RA) (within : R -> X -> Y -> Prop) (within' : R -> U -> V -> Prop).
Variables (K : kernel X U) (K' : kernel Y V).
(* A step moves states that are z apart to states at most c z + s apart, and adds Gaussian noise.  A part a of the
   distance is hidden by the noise at the cost theta_(a / noise), and at most z' is left (Theorem 2 of
   enlarged_sets.md).  `within z` says that two states are at most z apart. *)
Definition noisy_step (noise c s : R) := forall z z' a, 0 <= z -> 0 <= z' -> 0 < a -> c * z + s <= z' + a ->
  gaussian_cost (within z) (within' z') K K' (a / noise).
End Statements.

(* Both runs start at one point, all states are at most `diameter` apart, and each pair (c, s) of `lines j` bounds the
   distance after step j. *)
Definition noisy_steps (X Y : nat -> space RA) (P : law (X 0%N)) (Q : law (Y 0%N))
  (K : forall j, kernel (X j) (X j.+1)) (K' : forall j, kernel (Y j) (Y j.+1))
  (within : forall j, R -> X j -> Y j -> Prop) (noise diameter : R) (lines : nat -> list (R * R)) :=
  divergence_le (within 0%N 0) P Q (@equal RA) /\
  (forall j x y, within j diameter x y) /\
  (forall j z z' x y, z <= z' -> within j z x y -> within j z' x y) /\
  (forall j c s, List.In (c, s) (lines j) -> noisy_step (within j) (within j.+1) (K j) (K' j) noise c s).
(* The same `lines` for every step. *)
Definition noisy_run (X Y : nat -> space RA) (P : law (X 0%N)) (Q : law (Y 0%N))
  (K : forall j, kernel (X j) (X j.+1)) (K' : forall j, kernel (Y j) (Y j.+1))
  (within : forall j, R -> X j -> Y j -> Prop) (noise diameter : R) (lines : list (R * R)) :=
  noisy_steps P Q K K' within noise diameter (fun _ => lines).

(* Costs of successive steps compose like the lengths of orthogonal vectors (enlarged_sets.md, "Profiles and their
   composition").  This is a hypothesis where it is used. *)
Definition gaussian_composition := forall (X Y U V W Z : space RA) (near : X -> Y -> Prop) (near' : U -> V -> Prop)
  (near'' : W -> Z -> Prop) (K : kernel X U) (K' : kernel Y V) (L : kernel U W) (L' : kernel V Z) a b c,
  0 < a -> 0 < b -> 0 < c -> a * a + b * b <= c * c ->
  gaussian_cost near near' K K' a -> gaussian_cost near' near'' L L' b ->
  gaussian_cost near near'' (then_kernel K L) (then_kernel K' L') c.

Lemma gaussian_cost_le (X Y U V : space RA) (near : X -> Y -> Prop) (near' : U -> V -> Prop)
  (K : kernel X U) (K' : kernel Y V) mu nu : 0 < mu -> mu <= nu ->
  gaussian_cost near near' K K' mu -> gaussian_cost near near' K K' nu.
Proof.
move=> m0 mn H x y xy g g0 A B FA FB AB; apply: Order.POrderTheory.le_trans (H x y xy g g0 A B FA FB AB) _.
by apply/RleP; apply: theta_le => //; apply/RltP.
Qed.

(* ---- Paths: for each step the hidden part a, the distance z left, and the line of the step; the last step first. ---- *)
Definition line := ((Z * Z) * (Z * Z))%type.
Definition slope (l : line) := IZR l.1.1 / IZR l.1.2.
Definition offset (l : line) := IZR l.2.1 / IZR l.2.2.
Definition path := seq (Z * Z * line).
Definition reach (z : Z) (p : path) := if p is s :: _ then s.1.2 else z.
Section Program.
Local Open Scope Z_scope.
Fixpoint path_ok (D z : Z) (p : path) := if p is s :: p' then
  let l := s.2 in [&& 0 <? s.1.1, 0 <=? s.1.2, 0 <? l.1.2, 0 <? l.2.2,
    (l.1.1 * reach z p' * l.2.2 + l.2.1 * l.1.2 * D <=? (s.1.2 + s.1.1) * l.1.2 * l.2.2) & path_ok D z p']
  else 0 <=? z.
Definition squares (p : path) := foldr (fun s t => s.1.1 * s.1.1 + t) 0 p.
(* The squares add up to at most (mu noise D)^2. *)
Definition path_cost (D : Z) (noise mu : Z * Z) p :=
  squares p * (mu.2 * noise.2) * (mu.2 * noise.2) <=? (mu.1 * noise.1 * D) * (mu.1 * noise.1 * D).
End Program.

Lemma reach_ge0 D z p : path_ok D z p -> 0 <= IZR (reach z p).
Proof. by case: p => [|s p] /=; [|case/and5P => _ + _ _ _]; move=> /Z.leb_le /IZR_le. Qed.
Lemma squares_ge0 p : 0 <= IZR (squares p).
Proof.
elim: p => [|s p IH] /=; first lra.
by rewrite plus_IZR mult_IZR; have := Rle_0_sqr (IZR s.1.1); rewrite /Rsqr; lra.
Qed.
Lemma path_step D z s p : (0 < D)%ZZ -> path_ok D z (s :: p) -> 0 < IZR s.1.1 /\ 0 <= IZR s.1.2 /\
  slope s.2 * (IZR (reach z p) / IZR D) + offset s.2 <= IZR s.1.2 / IZR D + IZR s.1.1 / IZR D.
Proof.
move=> /IZR_lt D0 /= /and5P [/Z.ltb_lt /IZR_lt a0 /Z.leb_le /IZR_le z0 /Z.ltb_lt /IZR_lt c0 /Z.ltb_lt /IZR_lt s0].
move=> /andP [/Z.leb_le /IZR_le + _]; rewrite !(plus_IZR, mult_IZR) => H; split=> //; split=> //.
rewrite /slope /offset; apply: (Rmult_le_reg_r (IZR D * IZR s.2.1.2 * IZR s.2.2.2)).
  by apply: Rmult_lt_0_compat => //; apply: Rmult_lt_0_compat.
apply: Rle_trans (_ : IZR s.2.1.1 * IZR (reach z p) * IZR s.2.2.2 + IZR s.2.2.1 * IZR s.2.1.2 * IZR D <= _).
  by right; field; lra.
by apply: Rle_trans H _; right; field; lra.
Qed.

(* ---- Steps m, ..., m + v - 1 of a run. ---- *)
Section Block.
Variables (X : nat -> space RA) (K : forall j, kernel (X j) (X j.+1)).
Fixpoint block m v : kernel (X m) (X (v + m)%N) :=
  if v is u.+1 then then_kernel (block m u) (K (u + m)%N) else no_step (X m).
Lemma run_block (P : law (X 0%N)) m v h :
  expect (run P K (v + m)%N) h = expect (after (run P K m) (block m v)) h.
Proof. by elim: v h => [//|v IH] h; exact: (IH (fun y => expect (K (v + m)%N y) h)). Qed.
End Block.
Lemma divergence_block (X Y : nat -> space RA) (K : forall j, kernel (X j) (X j.+1))
  (K' : forall j, kernel (Y j) (Y j.+1)) P Q m v near f :
  divergence_le near (after (run P K m) (block K m v)) (after (run Q K' m) (block K' m v)) f ->
  divergence_le near (run P K (v + m)%N) (run Q K' (v + m)%N) f.
Proof. by move=> H g g0 A B FA FB AB; rewrite /probability !run_block; apply: H. Qed.

Section Paths.
Variables (X Y : nat -> space RA) (K : forall j, kernel (X j) (X j.+1)) (K' : forall j, kernel (Y j) (Y j.+1)).
Variables (within : forall j, R -> X j -> Y j -> Prop) (noise : R).
Arguments within j _ _ _ : clear implicits.
Hypothesis noise0 : 0 < noise.
Fixpoint follows m (p : path) : Prop := if p is s :: p' then
  noisy_step (within (size p' + m)%N) (within (size p' + m)%N.+1) (K (size p' + m)%N) (K' (size p' + m)%N)
    noise (slope s.2) (offset s.2) /\ follows m p'
  else True.
Theorem path_gaussian (D z : Z) p m mu : (0 < D)%ZZ -> path_ok D z p -> (0 < size p)%N ->
  ((1 < size p)%N -> gaussian_composition) -> follows m p -> 0 < mu ->
  IZR (squares p) <= (mu * noise * IZR D) * (mu * noise * IZR D) ->
  gaussian_cost (within m (IZR z / IZR D)) (within (size p + m)%N (IZR (reach z p) / IZR D))
    (block K m (size p)) (block K' m (size p)) mu.
Proof.
move=> Dpos; have D0 := IZR_lt _ _ Dpos; have nD : 0 < noise * IZR D by apply: Rmult_lt_0_compat.
elim: p mu => [//|s p IH] mu ok _ comp [step rest] mu0 sq.
have [a0 [z0 le]] := path_step Dpos ok.
have okp : path_ok D z p by move: ok => /= /and5P [_ _ _ _ /andP []].
have r0 := reach_ge0 okp.
have div0 x : 0 <= IZR x -> 0 <= IZR x / IZR D by move=> x0; apply: Rle_mult_inv_pos.
have last := step _ _ _ (div0 _ r0) (div0 _ z0) (Rdiv_lt_0_compat _ _ a0 D0) le.
set a := IZR s.1.1 / IZR D / noise in last.
have a_0 : 0 < a by do 2 (apply: Rdiv_lt_0_compat => //).
have aE : IZR s.1.1 = a * noise * IZR D by rewrite /a; field; lra.
have sqE : IZR (squares (s :: p)) = a * a * ((noise * IZR D) * (noise * IZR D)) + IZR (squares p).
  by rewrite /= plus_IZR mult_IZR aE; ring.
have nD2 : 0 < (noise * IZR D) * (noise * IZR D) by apply: Rmult_lt_0_compat.
have S0 := squares_ge0 p.
have total : a * a + IZR (squares p) / ((noise * IZR D) * (noise * IZR D)) <= mu * mu.
  apply: (Rmult_le_reg_r ((noise * IZR D) * (noise * IZR D))) => //.
  apply: Rle_trans (_ : IZR (squares (s :: p)) <= _); first by right; rewrite sqE; field; lra.
  by apply: Rle_trans sq _; right; ring.
case: p IH ok comp rest okp r0 le last sq sqE S0 total {step} => [|s' p] IH ok comp rest okp r0 le last sq sqE S0 total.
  apply: (gaussian_cost_le a_0); last exact: last.
  have : 0 <= IZR (squares [::]) / ((noise * IZR D) * (noise * IZR D)) by rewrite /= /Rdiv Rmult_0_l; lra.
  move=> ?; apply: Rsqr_incr_0_var; last lra; rewrite /Rsqr; lra.
set q := IZR (squares (s' :: p)) in S0 total.
have q0 : 0 < q.
  have [b0 _] := path_step Dpos okp; rewrite /q /= plus_IZR mult_IZR.
  by have := squares_ge0 p; have := Rmult_lt_0_compat _ _ b0 b0; lra.
pose b := sqrt (q / ((noise * IZR D) * (noise * IZR D))).
have bb : b * b = q / ((noise * IZR D) * (noise * IZR D)).
  by apply: sqrt_sqrt; left; apply: Rdiv_lt_0_compat.
have b0 : 0 < b by apply: sqrt_lt_R0; apply: Rdiv_lt_0_compat.
apply: ((comp isT) _ _ _ _ _ _ _ _ _ _ _ _ _ b a mu b0 a_0 mu0 _ _ last); first by lra.
apply: IH => //; first by move=> _; apply: comp.
have -> : b * noise * IZR D * (b * noise * IZR D) = b * b * ((noise * IZR D) * (noise * IZR D)) by ring.
by rewrite bb; right; rewrite -/q; field; lra.
Qed.
End Paths.

(* ---- The exchange of the runs. ---- *)
Lemma noisy_steps_reflected X Y P Q K K' within noise diameter lines :
  @noisy_steps X Y P Q K K' within noise diameter lines ->
  noisy_steps Q P K' K (fun j z y x => within j z x y) noise diameter lines.
Proof.
move=> [start [domain [wider steps]]]; split; first exact: (reflect_equal start).
split; first by move=> j y x; apply: domain.
split; first by move=> j z z' y x; apply: wider.
move=> j c s inl z z' a z0 z'0 a0 le.
exact: (gaussian_cost_reflected (near := within j z) (near' := within j.+1 z') (steps j c s inl z z' a z0 z'0 a0 le)).
Qed.
Lemma noisy_run_reflected X Y P Q K K' within noise diameter lines :
  @noisy_run X Y P Q K K' within noise diameter lines ->
  noisy_run Q P K' K (fun j z y x => within j z x y) noise diameter lines.
Proof. exact: noisy_steps_reflected. Qed.

(* ---- Lines of a path that are at least lines of the run. ---- *)
Definition line_of (lines : list (R * R)) (l : line) :=
  exists c s, List.In (c, s) lines /\ c <= slope l /\ s <= offset l.
Lemma all_In (T : eqType) (P : T -> Prop) (s : seq T) : List.Forall P s -> forall x, x \in s -> P x.
Proof.
by elim=> [//|y l Py _ IH] x; rewrite inE => /orP [/eqP ->|/IH].
Qed.
Lemma follows_lines X Y P Q K K' within noise diameter lines (used : seq line) m (p : path) :
  @noisy_run X Y P Q K K' within noise diameter lines -> List.Forall (line_of lines) used ->
  all (fun s => s.2 \in used) p -> follows K K' within noise m p.
Proof.
move=> [_ [_ [_ steps]]] ok; elim: p => [//|s p IH] /= /andP [sin rest]; split; last exact: IH.
have [c [o [inl [cl ol]]]] := all_In ok sin.
move=> z z' a z0 z'0 a0 le; apply: (steps _ c o inl) => //.
by apply: Rle_trans le; apply: Rplus_le_compat ol; apply: Rmult_le_compat_r cl.
Qed.

(* ---- The last steps of a path. ---- *)
Lemma path_ok_cat D z p1 p2 : path_ok D z (p1 ++ p2) -> path_ok D (reach z p2) p1 /\ path_ok D z p2.
Proof.
elim: p1 => [|s p1 IH] /=.
  by case: p2 => [|s p2] /=; [move=> ->|move=> /and5P [h1 h2 h3 h4 h5]; rewrite h2 h1 h3 h4 h5].
move=> /and5P [h1 h2 h3 h4 /andP [h5 /IH [h6 h7]]]; split=> //; rewrite h1 h2 h3 h4 h6 andbT /=.
by case: p1 h5 {IH h6} => [|t p1].
Qed.
Lemma reach_cat z p1 p2 : reach z (p1 ++ p2) = reach (reach z p2) p1.
Proof. by case: p1. Qed.
Lemma squares_cat p1 p2 : IZR (squares p1) <= IZR (squares (p1 ++ p2)).
Proof.
elim: p1 => [|s p1 IH]; first exact: squares_ge0.
change (IZR (s.1.1 * s.1.1 + squares p1) <= IZR (s.1.1 * s.1.1 + squares (p1 ++ p2))).
by rewrite !plus_IZR; apply: Rplus_le_compat_l.
Qed.
Lemma path_costE D nz mu p : path_cost D nz mu p -> (0 < nz.2)%ZZ -> (0 < mu.2)%ZZ ->
  IZR (squares p) <= (IZR mu.1 / IZR mu.2 * (IZR nz.1 / IZR nz.2) * IZR D) * (IZR mu.1 / IZR mu.2 * (IZR nz.1 / IZR nz.2) * IZR D).
Proof.
move=> /Z.leb_le /IZR_le; rewrite !mult_IZR => H /IZR_lt n0 /IZR_lt m0.
have k0 : 0 < (IZR mu.2 * IZR nz.2) * (IZR mu.2 * IZR nz.2) by do 3 (apply: Rmult_lt_0_compat => //).
apply: (Rmult_le_reg_r _ _ _ k0); rewrite -Rmult_assoc; apply: Rle_trans H _; right; field; lra.
Qed.

(* ---- Tables of whole numbers. ---- *)
Definition table_le S N T := all (fun k => Z.leb (scaled S N k.2 k.1) (scaled S T k.2 k.1)) T.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.
Lemma at_ratio S T m n : (0 < S)%ZZ -> (0 < m)%ZZ ->
  real RA m * atoms_value (atoms_of RA S T) (real RA n / real RA m) = real RA (scaled S T m n) / real RA S.
Proof. by move=> S0 m0; apply: perspective; rewrite ?real_gt0. Qed.
Lemma table_le_cost S N T (X Y : space RA) (near : X -> Y -> Prop) P Q : good_table S T -> table_le S N T ->
  divergence_le near P Q (atoms_value (atoms_of RA S N)) -> divergence_le near P Q (atoms_value (atoms_of RA S T)).
Proof.
move=> G /allP le H; apply: at_nodes; first exact: atoms_sound.
move=> z /mapP [k kT ->] /=.
have [S0 k0] : (0 < S)%ZZ /\ (0 < k.2)%ZZ.
  move: G; rewrite /good_table => /andP [/andP [/andP [/Z.ltb_lt s /allP H1] _] _].
  by split=> //; have /andP [_ /Z.ltb_lt] := H1 k kT.
have k1 : (0 <= k.1)%ZZ.
  by move: G; rewrite /good_table => /andP [/andP [/andP [_ /allP H1] _] _]; have /andP [/Z.leb_le] := H1 k kT.
have s0 := real_gt0 RA S0; have m0 := real_gt0 RA k0.
have -> : real RA k.1 / real RA S / (real RA k.2 / real RA S) = real RA k.1 / real RA k.2.
  by rewrite invfM invrK mulrACA [_^-1 * real _ S]mulrC divff ?mulr1 ?gt_eqF.
move=> A B FA FB AB; apply: le_trans (H _ _ A B FA FB AB) _.
  by apply: divr_ge0; [exact: real_ge0 | exact: ltW].
rewrite -(ler_pmul2l m0) !at_ratio // ler_wpmul2r ?invr_ge0 ?(ltW s0) //.
by apply: real_le; apply/Z.leb_le; apply: le.
Qed.
(* From a table to (epsilon, delta): the table is at most d.1 / d.2 at e.1 / e.2. *)
Definition delta_ok S T (e d : Z * Z) := [&& Z.ltb 0 S, Z.leb 0 e.1, Z.ltb 0 e.2, Z.ltb 0 d.2 &
  Z.leb (scaled S T e.2 e.1 * d.2)%ZZ (d.1 * e.2 * S)%ZZ].
Lemma table_private S T (e d : Z * Z) eps (X Y : space RA) (near : X -> Y -> Prop) P Q A B :
  delta_ok S T e d -> (IZR e.1 / IZR e.2 <= exp eps)%coqR ->
  divergence_le near P Q (atoms_value (atoms_of RA S T)) -> measurable_set A -> measurable_set B ->
  (forall x y, near x y -> A x -> B y) ->
  (probability P A <= exp eps * probability Q B + IZR d.1 / IZR d.2)%coqR.
Proof.
move=> /and5P [/Z.ltb_lt S0 /Z.leb_le e1 /Z.ltb_lt e2 /Z.ltb_lt d2 /Z.leb_le le] ee H FA FB AB.
have s0 := real_gt0 RA S0; have m0 := real_gt0 RA e2; have k0 := real_gt0 RA d2.
have V : atoms_value (atoms_of RA S T) (real RA e.1 / real RA e.2) <= real RA d.1 / real RA d.2.
  rewrite -(ler_pmul2l m0) at_ratio // ler_pdivr_mulr // -(ler_pmul2r k0) -!checker.realM.
  have -> : real RA e.2 * (real RA d.1 / real RA d.2) * real RA S * real RA d.2 = real RA (d.1 * e.2 * S)%ZZ.
    by rewrite !checker.realM [LHS]mulrAC -[_ * _ * real RA d.2]mulrA divfK ?gt_eqF // [_ * real RA d.1]mulrC.
  exact: real_le le.
have g0 : 0 <= real RA e.1 / real RA e.2 by apply: divr_ge0; [exact: real_ge0 | exact: ltW].
have := le_trans (H _ g0 A B FA FB AB) V.
have -> : real RA e.1 / real RA e.2 = (IZR e.1 / IZR e.2)%coqR by rewrite !realIZR RdivE // -realIZR gt_eqF.
have -> : real RA d.1 / real RA d.2 = (IZR d.1 / IZR d.2)%coqR by rewrite !realIZR RdivE // -realIZR gt_eqF.
move=> /RleP h; have /RleP q0 := probability_ge0 Q FB.
change (0 <= probability Q B)%coqR in q0.
change (probability P A - IZR e.1 / IZR e.2 * probability Q B <= IZR d.1 / IZR d.2)%coqR in h.
by have := Rmult_le_compat_r _ _ _ q0 ee => ?; lra.
Qed.

(* ---- Full batches: blocks of `size near` equal steps, each of which may use the sample. ---- *)
Record numbers := Numbers {
  scale : Z; table : seq (Z * Z); near_cost : seq (Z * Z); far_cost : seq (Z * Z); thresholds : seq ((Z * Z) * (Z * Z));
  units : Z; widest : Z; near_mu : Z * Z; far_mu : Z * Z; near_path : path; far_path : path }.
Definition above0 (q : Z * Z) := Z.ltb 0 q.1 && Z.ltb 0 q.2.
Definition hides (units z : Z) (noise mu : Z * Z) (used : seq line) (p : path) :=
  [&& path_ok units z p, reach z p == 0%ZZ, (0 < size p)%N, above0 mu, path_cost units noise mu p &
    all (fun s => s.2 \in used) p].
(* The steps of a path that are left in a run with fewer steps: they begin where the path before them ends. *)
Lemma hides_take n D z noise mu used p : above0 noise -> hides D z noise mu used p -> (0 < n < size p)%N ->
  hides D (reach z (drop n p)) noise mu used (take n p).
Proof.
move=> noise0 /and5P [ok /eqP r _ mu0 /andP [c us]] /andP [n0 np].
have cat : p = take n p ++ drop n p by rewrite cat_take_drop.
rewrite cat in ok r us; have [okp _] := path_ok_cat ok.
rewrite /hides okp -reach_cat r eqxx size_take np n0 mu0 /=.
move: us; rewrite all_cat => /andP [-> _]; rewrite andbT.
move: c; rewrite /path_cost => /Z.leb_le c; apply/Z.leb_le; apply: Z.le_trans c.
have sq : (squares (take n p) <= squares p)%ZZ by rewrite [in X in (_ <= X)%ZZ]cat; apply: le_IZR; apply: squares_cat.
move: mu0 noise0 => /andP [_ /Z.ltb_lt m2] /andP [_ /Z.ltb_lt d2].
have k0 : (0 <= mu.2 * noise.2)%ZZ by apply: Z.mul_nonneg_nonneg; apply: Z.lt_le_incl.
by do 2 (apply: Z.mul_le_mono_nonneg_r => //).
Qed.
Lemma reach_drop n D z noise mu used p : hides D z noise mu used p -> (0 <= IZR (reach z (drop n p)))%coqR.
Proof.
move=> /and5P [ok _ _ _ _]; move: ok; rewrite -{1}(cat_take_drop n p) => /path_ok_cat [_ okd].
exact: (reach_ge0 okd).
Qed.
Definition numbers_ok (noise : Z * Z) (used : seq line) (c : numbers) :=
  [&& check_table (scale c) (table c) (near_cost c) (far_cost c) (thresholds c), good_table (scale c) (far_cost c),
    table_le (scale c) (near_cost c) (table c), above0 noise, Z.ltb 0 (units c),
    hides (units c) 0 noise (near_mu c) used (near_path c), hides (units c) (widest c) noise (far_mu c) used (far_path c) &
    size (near_path c) == size (far_path c)].
Definition ratio (q : Z * Z) := (IZR q.1 / IZR q.2)%coqR.

Section Blocks.
Variables (X Y : nat -> space RA) (P : law (X 0%N)) (Q : law (Y 0%N)).
Variables (K : forall j, kernel (X j) (X j.+1)) (K' : forall j, kernel (Y j) (Y j.+1)).
Variables (within : forall j, R -> X j -> Y j -> Prop) (diameter : R) (lines : list (R * R)).
Arguments within j _ _ _ : clear implicits.
Variables (noise : Z * Z) (used : seq line).
Hypothesis noisy : noisy_run P Q K K' within (ratio noise) diameter lines.
Hypothesis used_lines : List.Forall (line_of lines) used.

Lemma path_span S L (D z : Z) mu p m : (0 < D)%ZZ -> above0 noise -> hides D z noise mu used p ->
  ((1 < size p)%N -> gaussian_composition) -> good_table S L -> List.Forall (node_cost (ratio mu) S L) L ->
  span (within m (IZR z / IZR D)%coqR) (within (size p + m)%N 0%coqR) (block K m (size p)) (block K' m (size p))
    (atoms_value (atoms_of RA S L)).
Proof.
move=> D0 /andP [/Z.ltb_lt n1 /Z.ltb_lt n2] /and5P [ok /eqP r0 p0 /andP [/Z.ltb_lt m1 /Z.ltb_lt m2] /andP [cost us]] comp G nodes.
have q0 (q : Z * Z) : (0 < q.1)%ZZ -> (0 < q.2)%ZZ -> (0 < ratio q)%coqR.
  by move=> /IZR_lt ? /IZR_lt ?; apply: Rdiv_lt_0_compat.
apply: (table_cost G nodes).
have := path_gaussian (q0 _ n1 n2) D0 ok p0 comp (follows_lines m noisy used_lines us) (q0 _ m1 m2) (path_costE cost n2 m2).
by rewrite r0 /Rdiv Rmult_0_l.
Qed.

Theorem blocks_bound c : numbers_ok noise used c -> (diameter <= IZR (widest c) / IZR (units c))%coqR ->
  ((1 < size (near_path c))%N -> gaussian_composition) ->
  List.Forall (node_cost (ratio (near_mu c)) (scale c) (near_cost c)) (near_cost c) ->
  List.Forall (node_cost (ratio (far_mu c)) (scale c) (far_cost c)) (far_cost c) ->
  forall n, divergence_le (within n 0%coqR) (run P K n) (run Q K' n) (atoms_value (atoms_of RA (scale c) (table c))).
Proof.
case: c => S T N F hs D zD muN muF near far /=.
rewrite /numbers_ok /= => /and5P [accepted GF NT noise0 /andP [/Z.ltb_lt D0 /and3P [hN hF /eqP sizes]]] wide comp nN nF.
have /andP [/andP [GT GN] ok] := accepted.
have S0 : (0 < S)%ZZ by move: GT; rewrite /good_table => /andP [/andP [/andP [/Z.ltb_lt]]].
have compF : (1 < size far)%N -> gaussian_composition by rewrite -sizes.
have [start [domain [wider _]]] := noisy.
have w0 : (0 < size near)%N by have /and5P [_ _ ? _ _] := hN.
have D0' := IZR_lt _ _ D0.
have start_le : divergence_le (within 0%N 0%coqR) P Q (atoms_value (atoms_of RA S T)).
  have [M MN] := in_order (atoms_sound RA GT).
  move=> g g0 A B FA FB AB; apply: le_trans (start g g0 A B FA FB AB) _; rewrite -MN; exact: equal_le.
have from_start n : (0 < n < size near)%N ->
    divergence_le (within n 0%coqR) (run P K n) (run Q K' n) (atoms_value (atoms_of RA S T)).
  move=> /andP [n0 nw]; pose z := reach 0%ZZ (drop n near); pose p := take n near.
  have np : size p = n by rewrite size_take nw.
  have hp : hides D z noise muN used p by apply: hides_take => //; rewrite n0.
  have compp : (1 < size p)%N -> gaussian_composition.
    by rewrite np => n1; apply: comp; apply: ltn_trans nw.
  have H := path_span (m := 0%N) D0 noise0 hp compp GN nN.
  have [M MN] := in_order (atoms_sound RA GN).
  have HM : span (within 0%N (IZR z / IZR D)%coqR) (within (size p + 0)%N 0%coqR) (block K 0 (size p)) (block K' 0 (size p)) (value M).
    by move=> x y xy g g0; rewrite MN; apply: H.
  have begun : divergence_le (within 0%N (IZR z / IZR D)%coqR) P Q (@equal RA).
    move=> g g0 A B FA FB AB; apply: start => // x y xy; apply: AB; apply: wider xy.
    by apply: Rle_mult_inv_pos => //; exact: (reach_drop n hN).
  have first : divergence_le (within (size p + 0)%N 0%coqR) (run P K (size p + 0)) (run Q K' (size p + 0)) (atoms_value (atoms_of RA S N)).
    apply: divergence_block => g g0 A B FA FB AB; rewrite -MN -compose_equal //.
    exact: (chain_laws begun HM g0 FA FB AB).
  by have := table_le_cost GT NT first; rewrite addn0 np.
move=> n; elim/ltn_ind: n => n IH.
case: (ltnP n (size near)) => nw.
  case: (posnP n) => [-> //|n0]; apply: from_start; by rewrite n0.
have {}IH := IH (n - size near)%N; set m := (n - size near)%N in IH *.
have nE : n = (size near + m)%N by rewrite /m subnKC.
rewrite nE; apply: divergence_block.
apply: (next_block GT GN GT ok S0 (IH _)).
- by rewrite nE -[X in (X < _)%N]add0n ltn_add2r.
- have := path_span (m := m) D0 noise0 hN comp GN nN; by rewrite /Rdiv Rmult_0_l.
- have HF := path_span (m := m) D0 noise0 hF compF GF nF; rewrite sizes => x y _.
  by apply: HF; apply: wider wide _; apply: domain.
Qed.
End Blocks.

(* Both orders. *)
Theorem run_private noise diameter lines S T (e d : Z * Z) eps :
  (forall X Y P Q K K' within, @noisy_run X Y P Q K K' within noise diameter lines ->
    forall n, divergence_le (within n 0%coqR) (run P K n) (run Q K' n) (atoms_value (atoms_of RA S T))) ->
  delta_ok S T e d -> (IZR e.1 / IZR e.2 <= exp eps)%coqR ->
  forall X Y P Q K K' within, @noisy_run X Y P Q K K' within noise diameter lines ->
  forall n (A : set (X n)) (B : set (Y n)), measurable_set A -> measurable_set B ->
  ((forall x y, within n 0%coqR x y -> A x -> B y) ->
    (probability (run P K n) A <= exp eps * probability (run Q K' n) B + IZR d.1 / IZR d.2)%coqR) /\
  ((forall x y, within n 0%coqR x y -> B y -> A x) ->
    (probability (run Q K' n) B <= exp eps * probability (run P K n) A + IZR d.1 / IZR d.2)%coqR).
Proof.
move=> bound de ee X Y P Q K K' within noisy n A B FA FB; split=> AB.
  exact: (table_private de ee (bound _ _ _ _ _ _ _ noisy n) FA FB AB).
apply: (table_private de ee (bound _ _ _ _ _ _ _ (noisy_run_reflected noisy) n) FB FA) => y x; exact: AB.
Qed.

(* ---- A path over the last steps of a run, from equal points at the start or from any two points. ---- *)
Lemma laws_cost (X Y U V : space RA) (near : X -> Y -> Prop) (near' : U -> V -> Prop) (P : law X) (Q : law Y)
  (K : kernel X U) (K' : kernel Y V) g e : 0 <= g -> 0 <= e ->
  hockey_stick near P Q 1 0 \/ (forall x y, near x y) ->
  (forall x y, near x y -> hockey_stick near' (K x) (K' y) g e) -> hockey_stick near' (after P K) (after Q K') g e.
Proof.
move=> g0 e0 begun H A B FA FB AB; rewrite !probability_after.
set k := fun x => probability (K x) A; set k' := fun y => probability (K' y) B.
have Fk : measurable k by exact: measurable_from.
have Fk' : measurable k' by exact: measurable_from.
have Fgk : measurable (fun y => g * k' y) by apply: measurable_scale.
have Fpsi : measurable (fun y => e + g * k' y) by apply: measurable_add => //; exact: measurable_const.
have E : expect Q (fun y => e + g * k' y) = e + g * expect Q k'.
  by rewrite expect_add ?expect_const ?expect_scale //; exact: measurable_const.
have k'0 y : 0 <= k' y by exact: probability_ge0.
have le x y : near x y -> k x <= e + g * k' y by move=> xy; rewrite -ler_subl_addr; exact: H.
rewrite ler_subl_addr -E; case: begun => [start|all].
  have := layer_cake ler01 start (phi := k) (psi := fun y => e + g * k' y) (M := 1) Fk Fpsi.
  rewrite !mul1r subr_le0; apply=> //; try exact: ler01.
  - by move=> x; apply: probability_ge0.
  - by move=> x; apply: probability_le1.
  - by move=> y; apply: addr_ge0 => //; apply: mulr_ge0.
have each y : expect P k <= e + g * k' y.
  by rewrite -[X in _ <= X](expect_const P); apply: expect_le => // [|x]; [exact: measurable_const | exact: le].
by rewrite -[X in X <= _](expect_const Q); apply: expect_le => //; exact: measurable_const.
Qed.
Lemma hockey_stick_private (X Y : space RA) (near : X -> Y -> Prop) P Q eps e (delta : R) A B :
  hockey_stick near P Q (exp eps) e -> (e <= delta)%coqR -> measurable_set A -> measurable_set B ->
  (forall x y, near x y -> A x -> B y) -> (probability P A <= exp eps * probability Q B + delta)%coqR.
Proof.
move=> H ed FA FB AB; have /RleP h := H A B FA FB AB.
by change (probability P A - exp eps * probability Q B <= e)%coqR in h; lra.
Qed.
Theorem path_private noise diameter lines (nz : Z * Z) used (D z : Z) mu p m n eps delta : (size p + m)%N == n ->
  (0 < D)%ZZ -> above0 nz -> noise = ratio nz -> List.Forall (line_of lines) used -> hides D z nz mu used p ->
  (z == 0%ZZ) && (m == 0%N) \/ (diameter <= IZR z / IZR D)%coqR -> ((1 < size p)%N -> gaussian_composition) ->
  (0 <= theta (ratio mu) (exp eps) <= delta)%coqR ->
  forall X Y P Q K K' within, @noisy_run X Y P Q K K' within noise diameter lines ->
  forall (A : set (X n)) (B : set (Y n)), measurable_set A -> measurable_set B ->
  ((forall x y, within n 0%coqR x y -> A x -> B y) ->
    (probability (run P K n) A <= exp eps * probability (run Q K' n) B + delta)%coqR) /\
  ((forall x y, within n 0%coqR x y -> B y -> A x) ->
    (probability (run Q K' n) B <= exp eps * probability (run P K n) A + delta)%coqR).
Proof.
move=> /eqP <- D0 n0 -> usedl /and5P [ok /eqP r0 p0 /andP [/Z.ltb_lt m1 /Z.ltb_lt m2] /andP [cost us]] begin comp [t0 td].
have q0 (q : Z * Z) : (0 < q.1)%ZZ -> (0 < q.2)%ZZ -> (0 < ratio q)%coqR.
  by move=> /IZR_lt ? /IZR_lt ?; apply: Rdiv_lt_0_compat.
move: n0 => /andP [/Z.ltb_lt n1 /Z.ltb_lt n2].
have one X Y P Q K K' within : @noisy_run X Y P Q K K' within (ratio nz) diameter lines ->
    hockey_stick (within (size p + m)%N 0%coqR) (run P K (size p + m)) (run Q K' (size p + m)) (exp eps) (theta (ratio mu) (exp eps)).
  move=> noisy; have [start [domain [wider _]]] := noisy.
  have := path_gaussian (q0 _ n1 n2) D0 ok p0 comp (follows_lines m noisy usedl us) (q0 _ m1 m2) (path_costE cost n2 m2).
  rewrite r0 [(0 / IZR D)%coqR]/Rdiv Rmult_0_l => G.
  have e0 : 0 < exp eps by apply/RltP; apply: exp_pos.
  move=> A B FA FB AB; rewrite /probability !run_block.
  apply: (laws_cost (near := within m (IZR z / IZR D)%coqR)) (ltW e0) _ _ (fun x y xy => G x y xy _ e0) A B FA FB AB.
    by apply/RleP.
  case: begin => [/andP [/eqP zz /eqP mm]|wide]; last by right=> x y; apply: wider wide _; apply: domain.
  left; move: G; rewrite zz mm => _; rewrite /Rdiv Rmult_0_l.
  have := start 1 ler01; by rewrite /equal subrr pos_0.
move=> X Y P Q K K' within noisy A B FA FB; split=> AB.
  exact: (hockey_stick_private (one _ _ _ _ _ _ _ noisy) td FA FB AB).
apply: (hockey_stick_private (one _ _ _ _ _ _ _ (noisy_run_reflected noisy)) td FB FA) => y x; exact: AB.
Qed.
