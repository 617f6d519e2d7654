(* Cyclic batches: every `period`-th step of a run uses the sample that differs, the other steps do not.

   Python: proofs_checks/certificates/coq.py writes files whose last theorem applies those below to the numbers of one
   certificate, for every position of the sample in an epoch.  Pages: docs/proofs/cyclic.md; docs/proofs/contraction.md,
   "Many blocks" and "Forgetting". *)
From Coq Require Import ZArith Reals Lra List.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From mathcomp Require Import ssrZ Rstruct.
From lastiterate Require Import laws tables chain contract rules step composition induction checker clean.
From lastiterate.reals Require Import gaussian table_costs small runs.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Delimit Scope R_scope with coqR.
Open Scope R_scope.

(* ---- What the theorems suppose of a run. ---- *)
(* As noisy_run, where steps position, position + period, position + 2 period, ... use the sample: for a pair (c, s) of
   `lines`, states that are z apart are at most c z + s apart after such a step, for a pair of `without` after any other
   step. *)
Definition cyclic_run (X Y : nat -> space RA) (P : law (X 0%N)) (Q : law (Y 0%N))
  (K : forall j, kernel (X j) (X j.+1)) (K' : forall j, kernel (Y j) (Y j.+1))
  (within : forall j, R -> X j -> Y j -> Prop) (noise diameter : R) (period position : nat)
  (lines without : list (R * R)) :=
  noisy_steps P Q K K' within noise diameter (fun j => if (j %% period == position)%N then lines else without).

(* ---- Steps that use the sample. ---- *)
Lemma uses l pos k : (pos < l)%N -> ((pos + k * l) %% l == pos)%N.
Proof. by move=> pl; rewrite addnC modnMDl modn_small. Qed.
Lemma uses_back l pos k i : (pos < l)%N -> (i <= pos + k * l)%N ->
  ((pos + k * l - i) %% l == pos)%N = (i %% l == 0)%N.
Proof.
move=> pl il; rewrite -{2}(modn_small pl) -(eqn_modDr i) subnK //.
by rewrite [(pos + k * l)%N]addnC modnMDl -[X in (X == _ %[mod _])]addn0 eqn_modDl mod0n eq_sym.
Qed.
Lemma uses_not l pos k i : (pos < l)%N -> (0 < i < l)%N -> ((i + (pos + k * l)) %% l == pos)%N = false.
Proof.
move=> pl /andP [i0 il]; rewrite -{2}(modn_small pl) addnA [(i + pos + _)%N]addnC modnMDl -[X in (_ == X %[mod _])]add0n eqn_modDr.
by rewrite mod0n modn_small // eqn0Ngt i0.
Qed.
Lemma uses_first l pos j : (pos < l)%N -> (j < pos)%N -> (j %% l == pos)%N = false.
Proof. by move=> pl jp; rewrite modn_small ?(ltn_trans jp) // ltn_eqF. Qed.

(* ---- A step without the sample costs nothing from equal points. ---- *)
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.
Lemma no_cost (X Y U V : space RA) (near : X -> Y -> Prop) (near' : U -> V -> Prop) (K : kernel X U) (K' : kernel Y V) :
  (forall mu, (0 < mu)%coqR -> gaussian_cost near near' K K' mu) -> span near near' K K' (@equal RA).
Proof.
move=> H x y xy g g0 A B FA FB AB; apply: probability_gap => //.
apply/RleP; apply: le_epsilon => mu mu0.
have one : (0 : RA) < 1 := ltr01.
have /RleP := H mu mu0 x y xy 1 one A B FA FB AB; rewrite mul1r => h.
change (probability (K x) A - probability (K' y) B <= theta mu 1)%coqR in h.
by have := theta_one mu mu0; lra.
Qed.
Lemma free_step (X Y U V : space RA) (within : R -> X -> Y -> Prop) (within' : R -> U -> V -> Prop)
  (K : kernel X U) (K' : kernel Y V) noise c : (0 < noise)%coqR ->
  noisy_step within within' K K' noise c 0%coqR -> span (within 0%coqR) (within' 0%coqR) K K' (@equal RA).
Proof.
move=> n0 H; apply: no_cost => mu mu0.
have -> : mu = (mu * noise / noise)%coqR by field; lra.
by have a0 := Rmult_lt_0_compat _ _ mu0 n0; apply: H; lra.
Qed.

(* ---- Paths whose steps use the sample or not. ---- *)
Fixpoint fits (allowed : nat -> seq line) i (p : path) :=
  if p is s :: p' then (s.2 \in allowed i) && fits allowed i.+1 p' else true.
Lemma fits_take allowed i n p : fits allowed i p -> fits allowed i (take n p).
Proof. by elim: p i n => [//|s p IH] i [//|n] /= /andP [-> H] /=; apply: IH. Qed.
(* Every period-th step uses the sample, from the last step on. *)
Definition last_uses (period : nat) (used unused : seq line) i := if (i %% period == 0)%N then used else unused.

(* ---- Numbers of a cycle of blocks: a table after each use of the sample; after it blocks that do not use the sample,
   in whole numbers; a table before the last block; and the last block, whose last step uses the sample. ---- *)
Record clean_blocks := Clean { times : nat; clean_mu : Z * Z; clean_path : path; clean_cost : seq (Z * Z) }.
Record cycle := Cycle { last_block : numbers; before : seq (Z * Z); clean : seq clean_blocks }.
Definition clean_steps (bs : seq clean_blocks) := sumn [seq (times b * size (clean_path b))%N | b <- bs].
Definition composed (c : cycle) :=
  (1 < size (far_path (last_block c)))%N || has (fun b => 1 < size (clean_path b))%N (clean c).
Definition cycle_ok (noise : Z * Z) (used unused : seq line) (period : nat) (c : cycle) :=
  let n := last_block c in let S := scale n in let lines := used ++ unused in
  [&& [&& good_table S (table n), good_table S (before c), good_table S (near_cost n) & good_table S (far_cost n)],
    [&& nodes_ok S (before c) (near_cost n) (far_cost n) (table n) (table n) (thresholds n),
      table_le S (near_cost n) (table n) & damps_to S (table n) (before c) [seq (times b, clean_cost b) | b <- clean c]],
    [&& above0 noise, Z.ltb 0 (units n), size (near_path n) == 1%N & (size (far_path n) + clean_steps (clean c) <= period)%N],
    [&& hides (units n) 0 noise (near_mu n) used (near_path n),
      hides (units n) (widest n) noise (far_mu n) lines (far_path n) & fits (last_uses period used unused) 0 (far_path n)] &
    all (fun b => [&& good_table S (clean_cost b), hides (units n) (widest n) noise (clean_mu b) lines (clean_path b) &
      fits (fun _ => unused) 0 (clean_path b)]) (clean c)].

Section Cyclic.
Variables (X Y : nat -> space RA) (P : law (X 0%N)) (Q : law (Y 0%N)).
Variables (K : forall j, kernel (X j) (X j.+1)) (K' : forall j, kernel (Y j) (Y j.+1)).
Variables (within : forall j, R -> X j -> Y j -> Prop) (diameter : R) (period position : nat).
Variables (lines without : list (R * R)).
Arguments within j _ _ _ : clear implicits.
Variables (noise : Z * Z) (used unused : seq line).
Hypothesis noise0 : above0 noise.
Hypothesis noisy : cyclic_run P Q K K' within (ratio noise) diameter period position lines without.
Hypothesis inside : (position < period)%N.
Hypothesis used_lines : List.Forall (line_of lines) used.
Hypothesis unused_lines : List.Forall (line_of without) unused.
Hypothesis kept : exists c, List.In (c, 0%coqR) without.

Lemma positive (q : Z * Z) : above0 q -> (0 < ratio q)%coqR.
Proof. by move=> /andP [/Z.ltb_lt /IZR_lt ? /Z.ltb_lt /IZR_lt ?]; apply: Rdiv_lt_0_compat. Qed.
Definition free m v := forall i, (i < v)%N -> ((i + m) %% period == position)%N = false.
Lemma free_one j : (j %% period == position)%N = false ->
  span (within j 0%coqR) (within j.+1 0%coqR) (K j) (K' j) (@equal RA).
Proof.
move=> no; have [_ [_ [_ steps]]] := noisy; have [c inc] := kept.
by have := steps j c 0%coqR; rewrite no => /(_ inc); apply: free_step; exact: positive.
Qed.
Lemma free_run m v g e : free m v -> 0 <= g -> hockey_stick (within m 0%coqR) (run P K m) (run Q K' m) g e ->
  hockey_stick (within (v + m)%N 0%coqR) (run P K (v + m)%N) (run Q K' (v + m)%N) g e.
Proof.
move=> fr g0 H; elim: v fr => [//|v IH] fr.
have {}IH := IH (fun i iv => fr i (ltnW iv)).
exact: (after_equal g0 IH (free_one (fr v (ltnSn v)))).
Qed.
Lemma free_block m v : free m v ->
  span (within m 0%coqR) (within (v + m)%N 0%coqR) (block K m v) (block K' m v) (@equal RA).
Proof.
elim: v => [|v IH] fr x y xy g g0.
  move=> A B FA FB AB; apply: probability_gap => //.
  by rewrite /probability /= /indicator ler_nat; case: (A x) (AB x y xy) => // ->.
have := IH (fun i iv => fr i (ltnW iv)) x y xy g g0 => {}IH.
exact: (after_equal g0 IH (free_one (fr v (ltnSn v)))).
Qed.
Lemma begun v : free 0 v -> divergence_le (within v 0%coqR) (run P K v) (run Q K' v) (@equal RA).
Proof.
move=> fr g g0; have [start _] := noisy.
by have := free_run fr g0 (start g g0); rewrite addn0.
Qed.

(* The lines of the steps m, ..., m + size p - 1. *)
Lemma follows_cyclic allowed m p : fits allowed 0 p ->
  (forall i, (i < size p)%N ->
    List.Forall (line_of (if ((size p - i.+1 + m) %% period == position)%N then lines else without)) (allowed i)) ->
  follows K K' within (ratio noise) m p.
Proof.
have [_ [_ [_ steps]]] := noisy.
suff : forall i0, fits allowed i0 p -> (forall i, (i < size p)%N ->
    List.Forall (line_of (if ((size p - i.+1 + m) %% period == position)%N then lines else without)) (allowed (i0 + i)%N)) ->
  follows K K' within (ratio noise) m p by move=> H; exact: (H 0%N).
elim: p => [//|s p IH] i0 /= /andP [sin rest] ok; split; last first.
  apply: (IH i0.+1 rest) => i ip; have := ok i.+1; rewrite addnS /= subSS ltnS; exact.
have [c [o [inl [cl ol]]]] := all_In (ok 0%N isT) (eq_ind _ (fun j => s.2 \in allowed j) sin _ (esym (addn0 i0))).
move=> z z' a z0 z'0 a0 le; apply: (steps _ c o) => //; first by move: inl; rewrite subSS subn0.
by apply: Rle_trans le; apply: Rplus_le_compat ol; apply: Rmult_le_compat_r cl.
Qed.
Lemma path_cost_of (D z : Z) mu us p m : (0 < D)%ZZ -> hides D z noise mu us p -> follows K K' within (ratio noise) m p ->
  ((1 < size p)%N -> gaussian_composition) ->
  gaussian_cost (within m (IZR z / IZR D)%coqR) (within (size p + m)%N 0%coqR) (block K m (size p)) (block K' m (size p))
    (ratio mu).
Proof.
move=> D0 /and5P [ok /eqP r0 p0 mu0 /andP [cost us0]] fol comp.
move: (mu0) (noise0) => /andP [_ /Z.ltb_lt m2] /andP [_ /Z.ltb_lt n2].
have := path_gaussian (positive noise0) D0 ok p0 comp fol (positive mu0) (path_costE cost n2 m2).
by rewrite r0 /Rdiv Rmult_0_l.
Qed.
(* A path that ends with a step that uses the sample. *)
Lemma follows_last k p m : fits (last_uses period used unused) 0 p -> (size p + m)%N = (position + k * period).+1 ->
  follows K K' within (ratio noise) m p.
Proof.
move=> fit E; apply: (follows_cyclic fit) => i ip.
have -> : (size p - i.+1 + m = position + k * period - i)%N.
  by rewrite addnC addnBA // [(m + _)%N]addnC E subSS.
have il : (i <= position + k * period)%N by rewrite -ltnS -E (leq_trans ip) // leq_addr.
by rewrite uses_back // /last_uses; case: ifP.
Qed.
Lemma follows_free p m : fits (fun _ => unused) 0 p -> free m (size p) -> follows K K' within (ratio noise) m p.
Proof.
move=> fit fr; apply: (follows_cyclic fit) => i ip.
have lt : (size p - i.+1 < size p)%N by rewrite -subSn // subSS leq_subr.
by rewrite fr.
Qed.

(* ---- A path over the last steps before and with a use of the sample, from equal points or from any two points. ---- *)
Lemma path_at k (D z : Z) mu us p g : (0 < D)%ZZ -> hides D z noise mu us p -> fits (last_uses period used unused) 0 p ->
  (z = 0%ZZ /\ ((position + k * period).+1 <= size p)%N) \/ (diameter <= IZR z / IZR D)%coqR ->
  ((1 < size p)%N -> gaussian_composition) -> 0 < g -> 0 <= theta (ratio mu) g ->
  hockey_stick (within (position + k * period).+1 0%coqR) (run P K (position + k * period).+1)
    (run Q K' (position + k * period).+1) g (theta (ratio mu) g).
Proof.
set e := (position + k * period).+1 => D0 hp fit begin comp g0 t0.
have [start [domain [wider _]]] := noisy.
have one q z1 m : hides D z1 noise mu us q -> fits (last_uses period used unused) 0 q -> (size q + m)%N = e ->
    ((1 < size q)%N -> gaussian_composition) ->
    hockey_stick (within m (IZR z1 / IZR D)%coqR) (run P K m) (run Q K' m) 1 0 \/ (forall x y, within m (IZR z1 / IZR D)%coqR x y) ->
    hockey_stick (within e 0%coqR) (run P K e) (run Q K' e) g (theta (ratio mu) g).
  move=> hq fq E cq start1; have G := path_cost_of D0 hq (follows_last fq E) cq; rewrite -E.
  move=> A B FA FB AB; rewrite /probability !run_block.
  exact: (laws_cost (ltW g0) t0 start1 (fun x y xy => G x y xy g g0) FA FB AB).
have from_zero z1 : (0 <= IZR z1)%coqR -> hockey_stick (within 0%N (IZR z1 / IZR D)%coqR) P Q 1 0.
  move=> z10 A B FA FB AB; have := start 1 ler01 A B FA FB; rewrite /equal subrr pos_0 //; apply=> x y xy; apply: AB.
  apply: wider xy; apply: Rle_mult_inv_pos => //; exact: IZR_lt.
case: (ltnP e (size p)) => ep.
  have np : size (take e p) = e by rewrite size_take ep.
  have lt : (0 < e < size p)%N by rewrite ep.
  apply: (one (take e p) _ 0%N (hides_take noise0 hp lt) (fits_take _ fit)).
  - by rewrite np addn0.
  - by rewrite np => e1; apply: comp; apply: ltn_trans ep.
  - by left; apply: from_zero; apply: (reach_drop e hp).
apply: (one p z (e - size p)%N hp fit _ comp); first by rewrite subnKC.
case: begin => [[z0 le]|wide]; last by right=> x y; apply: wider wide _; apply: domain.
have -> : (e - size p = 0)%N by apply/eqP; rewrite subn_eq0.
by left; rewrite z0; apply: from_zero; lra.
Qed.
Theorem cyclic_path (D z : Z) mu us p n g : (0 < D)%ZZ -> hides D z noise mu us p ->
  fits (last_uses period used unused) 0 p -> (z = 0%ZZ /\ (n <= size p)%N) \/ (diameter <= IZR z / IZR D)%coqR ->
  ((1 < size p)%N -> gaussian_composition) -> (1 <= g)%coqR -> 0 <= theta (ratio mu) g ->
  hockey_stick (within n 0%coqR) (run P K n) (run Q K' n) g (theta (ratio mu) g).
Proof.
move=> D0 hp fit begin comp /RleP g1 t0; have g0 : 0 < g := lt_le_trans ltr01 g1.
case: (leqP n position) => np.
  have fr : free 0 n.
    by move=> i iv; rewrite addn0; apply: uses_first inside _; apply: leq_trans np.
  move=> A B FA FB AB; apply: le_trans (begun fr (ltW g0) FA FB AB) _.
  by rewrite /equal pos_0 // subr_le0.
have per : (0 < period)%N by exact: leq_ltn_trans inside.
set k := ((n - position.+1) %/ period)%N; set r := ((n - position.+1) %% period)%N.
have E : n = (r + (position + k * period).+1)%N.
  by rewrite -addSn addnCA [(r + _)%N]addnC -divn_eq subnKC.
have fr : free (position + k * period).+1 r.
  move=> i ir; rewrite addnS -addSn; apply: uses_not => //=; apply: leq_ltn_trans ir _; exact: ltn_pmod.
rewrite E; apply: (free_run fr (ltW g0)); apply: (path_at (k := k) D0 hp fit) => //.
case: begin => [[z0 le]|wide]; [left; split=> //|by right].
by apply: leq_trans le; rewrite [X in (_ <= X)%N]E leq_addl.
Qed.

(* ---- Blocks. ---- *)
Lemma free_sub m v i u : free m v -> (i + u <= v)%N -> free (i + m) u.
Proof.
move=> fr le j ju; rewrite addnA; apply: fr; apply: leq_trans le; by rewrite addnC ltn_add2l.
Qed.
Lemma far_from (D z : Z) mu us p m S L : good_table S L -> List.Forall (node_cost (ratio mu) S L) L -> (0 < D)%ZZ ->
  (diameter <= IZR z / IZR D)%coqR -> hides D z noise mu us p -> follows K K' within (ratio noise) m p ->
  ((1 < size p)%N -> gaussian_composition) ->
  span (fun _ _ => True) (within (size p + m)%N 0%coqR) (block K m (size p)) (block K' m (size p)) (atoms_value (atoms_of RA S L)).
Proof.
move=> G nodes D0 wide hp fol comp x y _; have [_ [domain [wider _]]] := noisy.
have H := table_cost G nodes (path_cost_of D0 hp fol comp).
by apply: H; apply: wider wide _; apply: domain.
Qed.
Section Damped.
Variables (S D z : Z) (us : seq line) (k : Z * Z).
Hypotheses (D0 : (0 < D)%ZZ) (wide : (diameter <= IZR z / IZR D)%coqR) (k1 : (0 <= k.1)%ZZ) (k2 : (0 < k.2)%ZZ).
Definition at_most e a := hockey_stick (within e 0%coqR) (run P K e) (run Q K' e)
  (real RA k.1 / real RA k.2) (real RA a / real RA S) /\ (a <= S)%ZZ.
Definition known (b : clean_blocks) :=
  [/\ good_table S (clean_cost b), hides D z noise (clean_mu b) us (clean_path b), fits (fun _ => unused) 0 (clean_path b),
    (1 < size (clean_path b))%N -> gaussian_composition &
    List.Forall (node_cost (ratio (clean_mu b)) S (clean_cost b)) (clean_cost b)].
Lemma damped_once b e a : known b -> free e (size (clean_path b)) -> at_most e a ->
  at_most (size (clean_path b) + e) (damp S (clean_cost b) k a).
Proof.
move=> [GF hp fit comp nodes] fr [H aS].
have far := far_from GF nodes D0 wide hp (follows_free fit fr) comp.
have [H1 le] := damp_sound GF (free_block fr) far k1 k2 aS H.
split=> // A B FA FB AB; rewrite /probability !run_block; exact: H1.
Qed.
Lemma damped_times b e a t : known b -> free e (t * size (clean_path b)) -> at_most e a ->
  at_most (t * size (clean_path b) + e) (iter t (damp S (clean_cost b) k) a).
Proof.
move=> kb; elim: t => [//|t IH] fr H; rewrite mulSn -addnA iterS; apply: damped_once => //.
  by apply: (free_sub fr); rewrite mulSn addnC.
by apply: IH => //; have := @free_sub e _ 0%N (t * size (clean_path b)) fr; rewrite !add0n; apply; rewrite mulSn leq_addl.
Qed.
Lemma damped_all bs e a : List.Forall known bs -> free e (clean_steps bs) -> at_most e a ->
  at_most (clean_steps bs + e) (damps S [seq (times b, clean_cost b) | b <- bs] k a).
Proof.
elim: bs e a => [//|b bs IH] e a /List.Forall_cons_iff [kb kbs] fr H /=.
rewrite /clean_steps /= -/(clean_steps bs) addnAC addnC.
have fr1 : free e (times b * size (clean_path b)).
  by have := @free_sub e _ 0%N (times b * size (clean_path b)) fr; rewrite !add0n; apply; rewrite /clean_steps /= leq_addr.
by apply: IH kbs (free_sub fr _) (damped_times kb fr1 H).
Qed.
End Damped.

Theorem cycle_bound c : cycle_ok noise used unused period c ->
  (diameter <= IZR (widest (last_block c)) / IZR (units (last_block c)))%coqR -> (composed c -> gaussian_composition) ->
  let n := last_block c in
  List.Forall (node_cost (ratio (near_mu n)) (scale n) (near_cost n)) (near_cost n) ->
  List.Forall (node_cost (ratio (far_mu n)) (scale n) (far_cost n)) (far_cost n) ->
  List.Forall (fun b => List.Forall (node_cost (ratio (clean_mu b)) (scale n) (clean_cost b)) (clean_cost b)) (clean c) ->
  forall m, divergence_le (within m 0%coqR) (run P K m) (run Q K' m) (atoms_value (atoms_of RA (scale n) (table n))).
Proof.
case: c => -[S T N F hs D z muN muF near far] M bs /=.
rewrite /cycle_ok /composed /=; set us := used ++ unused.
move=> /and5P [/and4P [GT GM GN GF] /and3P [ok NT da] /and4P [_ /Z.ltb_lt D0 /eqP near1 le] /and3P [hN hF fF] oks] wide comp nN nF nC.
have S0 : (0 < S)%ZZ by move: GT; rewrite /good_table => /andP [/andP [/andP [/Z.ltb_lt]]].
have compF : (1 < size far)%N -> gaussian_composition by move=> lt; apply: comp; rewrite lt.
have kbs : List.Forall (known S D z us) bs.
  move: oks comp nC {le da}; elim: bs => [//|b bs IH] /= /andP [/and3P [g h f] oks] comp /List.Forall_cons_iff [nb nbs].
  constructor; first by split=> // lt; apply: comp; rewrite lt orbT.
  by apply: IH => // /orP [lt|lt]; apply: comp; rewrite lt ?orbT.
have per : (0 < period)%N by exact: leq_ltn_trans inside.
have far0 : (0 < size far)%N by have /and5P [_ _ ? _ _] := hF.
have T0 m : divergence_le (within m 0%coqR) (run P K m) (run Q K' m) (@equal RA) ->
    divergence_le (within m 0%coqR) (run P K m) (run Q K' m) (atoms_value (atoms_of RA S T)).
  have [L LT] := in_order (atoms_sound RA GT).
  move=> H g g0 A B FA FB AB; apply: le_trans (H g g0 A B FA FB AB) _; rewrite -LT; exact: equal_le.
(* The near cost of one step that uses the sample. *)
have used_step m : (m %% period == position)%N ->
    span (within m 0%coqR) (within m.+1 0%coqR) (block K m 1) (block K' m 1) (atoms_value (atoms_of RA S N)).
  move=> um; have k : m = (position + (m %/ period) * period)%N.
    by rewrite [LHS](divn_eq m period) (eqP um) addnC.
  have fit : fits (last_uses period used unused) 0 near.
    move: near1 (hN) => {hN}; case: near => [//|s [|//]] _ /and5P [_ _ _ _ /andP [_ /= /andP [us0 _]]].
    by rewrite andbT /last_uses mod0n us0.
  have E : (size near + m = (position + (m %/ period) * period).+1)%N by rewrite near1 -k.
  have comp1 : (1 < size near)%N -> gaussian_composition by rewrite near1.
  have := table_cost GN nN (path_cost_of D0 hN (follows_last fit E) comp1).
  by rewrite near1 /Rdiv Rmult_0_l.
have near_block m v : free m v -> ((v + m) %% period == position)%N ->
    span (within m 0%coqR) (within (v.+1 + m)%N 0%coqR) (block K m v.+1) (block K' m v.+1) (atoms_value (atoms_of RA S N)).
  move=> fr um; have H := used_step _ um.
  have [L LN] := in_order (atoms_sound RA GN).
  have HL : span (within (v + m)%N 0%coqR) (within (v.+1 + m)%N 0%coqR) (K (v + m)%N) (K' (v + m)%N) (value L).
    move=> x y xy g g0; rewrite LN; exact: (H x y xy g g0).
  move=> x y xy g g0; rewrite -LN -compose_equal //; exact: (chain (free_block fr) HL xy g0).
have after_use k : divergence_le (within (position + k * period).+1 0%coqR) (run P K (position + k * period).+1)
    (run Q K' (position + k * period).+1) (atoms_value (atoms_of RA S T)).
  elim: k => [|k IH].
    rewrite mul0n addn0; apply: (table_le_cost GT NT).
    have fr : free 0 position by move=> i ip; rewrite addn0; apply: uses_first inside ip.
    have [L LN] := in_order (atoms_sound RA GN).
    have HL : span (within position 0%coqR) (within position.+1 0%coqR) (block K position 1) (block K' position 1) (value L).
      move=> x y xy g g0; rewrite LN; apply: used_step => //; by rewrite modn_small.
    have := divergence_block (m := position) (v := 1%N); apply => g g0 A B FA FB AB.
    rewrite -LN -compose_equal //; exact: (chain_laws (begun fr) HL g0 FA FB AB).
  set e := (position + k * period).+1 in IH *.
  have fr v : (v < period)%N -> free e v.
    move=> vp i iv; rewrite /e addnS -addSn; apply: uses_not => //=; apply: leq_ltn_trans vp; exact: iv.
  pose v := (size far).-1; have vE : size far = v.+1 by rewrite prednK.
  pose C := clean_steps bs; pose gap := (period - (size far + C))%N.
  have E : ((position + k.+1 * period).+1 = size far + (C + (gap + e)))%N.
    have -> : (size far + (C + (gap + e)) = size far + C + gap + e)%N by rewrite !addnA.
    by rewrite subnKC // /e mulSn addnCA addnS.
  have lt : (v + (C + gap) < period)%N.
    by rewrite -[X in (_ < X)%N](subnKC le) -/gap vE !addSn ltnS addnA.
  have T1 : divergence_le (within (gap + e)%N 0%coqR) (run P K (gap + e)%N) (run Q K' (gap + e)%N) (atoms_value (atoms_of RA S T)).
    move=> g g0; apply: free_run => //; last exact: IH.
    by apply: fr; apply: leq_ltn_trans lt; rewrite addnA leq_addl.
  have M1 : divergence_le (within (C + (gap + e))%N 0%coqR) (run P K (C + (gap + e))%N) (run Q K' (C + (gap + e))%N)
      (atoms_value (atoms_of RA S M)).
    have fr2 : free (gap + e) C.
      apply: (@free_sub e (gap + C)%N); last by rewrite leqnn.
      by apply: fr; apply: leq_ltn_trans lt; rewrite [(gap + C)%N]addnC leq_addl.
    apply: (from_nodes GM da) => n nM; have [_ [n1 n2]] := node_positive GM nM.
    exact: (proj1 (damped_all D0 wide n1 n2 kbs fr2 (at_node_sound S0 n1 n2 T1))).
  rewrite E; apply: divergence_block; apply: (next_block GM GN GT ok S0 M1).
    rewrite vE; apply: near_block.
      by rewrite addnA; apply: (@free_sub e (v + (C + gap))%N); [apply: fr | rewrite addnC].
    move: E; rewrite vE addSn => -[<-]; exact: uses.
  exact: (far_from GF nF D0 wide hF (follows_last fF (esym E)) compF).
move=> m; case: (leqP m position) => mp.
  by apply: T0; apply: begun => i iv; rewrite addn0; apply: uses_first inside _; apply: leq_trans mp.
set k := ((m - position.+1) %/ period)%N; set r := ((m - position.+1) %% period)%N.
have -> : m = (r + (position + k * period).+1)%N.
  by rewrite -addSn addnCA [(r + _)%N]addnC -divn_eq subnKC.
move=> g g0; apply: free_run => //; last exact: after_use.
move=> i ir; rewrite addnS -addSn; apply: uses_not => //=; apply: leq_ltn_trans ir _; exact: ltn_pmod.
Qed.
End Cyclic.

(* ---- Both orders, for every position of the sample. ---- *)
Lemma cyclic_run_reflected X Y P Q K K' within noise diameter period position lines without :
  @cyclic_run X Y P Q K K' within noise diameter period position lines without ->
  cyclic_run Q P K' K (fun j z y x => within j z x y) noise diameter period position lines without.
Proof. exact: noisy_steps_reflected. Qed.
Theorem cycle_private noise diameter period lines without nz used unused c (e d : Z * Z) eps :
  noise = ratio nz -> List.Forall (line_of lines) used -> List.Forall (line_of without) unused ->
  (exists k, List.In (k, 0%coqR) without) -> cycle_ok nz used unused period c ->
  (diameter <= IZR (widest (last_block c)) / IZR (units (last_block c)))%coqR -> (composed c -> gaussian_composition) ->
  let n := last_block c in
  List.Forall (node_cost (ratio (near_mu n)) (scale n) (near_cost n)) (near_cost n) ->
  List.Forall (node_cost (ratio (far_mu n)) (scale n) (far_cost n)) (far_cost n) ->
  List.Forall (fun b => List.Forall (node_cost (ratio (clean_mu b)) (scale n) (clean_cost b)) (clean_cost b)) (clean c) ->
  delta_ok (scale n) (table n) e d -> (IZR e.1 / IZR e.2 <= exp eps)%coqR ->
  forall X Y P Q K K' within position, (position < period)%N ->
  @cyclic_run X Y P Q K K' within noise diameter period position lines without ->
  forall m (A : set (X m)) (B : set (Y m)), measurable_set A -> measurable_set B ->
  ((forall x y, within m 0%coqR x y -> A x -> B y) ->
    (probability (run P K m) A <= exp eps * probability (run Q K' m) B + IZR d.1 / IZR d.2)%coqR) /\
  ((forall x y, within m 0%coqR x y -> B y -> A x) ->
    (probability (run Q K' m) B <= exp eps * probability (run P K m) A + IZR d.1 / IZR d.2)%coqR).
Proof.
move=> -> usedl unusedl kept ok wide comp n nN nF nC de ee X Y P Q K K' within position inside cyclic m A B FA FB.
have n0 : above0 nz by move: ok => /and5P [_ _ /and4P [-> _ _ _] _ _].
have one := cycle_bound n0 cyclic inside usedl unusedl kept ok wide comp nN nF nC (m := m).
have back := cycle_bound n0 (cyclic_run_reflected cyclic) inside usedl unusedl kept ok wide comp nN nF nC (m := m).
split=> AB; first exact: (table_private de ee one FA FB AB).
by apply: (table_private de ee back FB FA) => y x; exact: AB.
Qed.
Theorem cyclic_path_private noise diameter period lines without (nz : Z * Z) used unused (D z : Z) mu p n eps delta :
  (0 < D)%ZZ -> above0 nz -> noise = ratio nz -> List.Forall (line_of lines) used -> List.Forall (line_of without) unused ->
  (exists k, List.In (k, 0%coqR) without) -> hides D z nz mu (used ++ unused) p -> fits (last_uses period used unused) 0 p ->
  (z == 0%ZZ) && (n <= size p)%N \/ (diameter <= IZR z / IZR D)%coqR -> ((1 < size p)%N -> gaussian_composition) ->
  (0 <= eps)%coqR -> (0 <= theta (ratio mu) (exp eps) <= delta)%coqR ->
  forall X Y P Q K K' within position, (position < period)%N ->
  @cyclic_run X Y P Q K K' within noise diameter period position lines without ->
  forall (A : set (X n)) (B : set (Y n)), measurable_set A -> measurable_set B ->
  ((forall x y, within n 0%coqR x y -> A x -> B y) ->
    (probability (run P K n) A <= exp eps * probability (run Q K' n) B + delta)%coqR) /\
  ((forall x y, within n 0%coqR x y -> B y -> A x) ->
    (probability (run Q K' n) B <= exp eps * probability (run P K n) A + delta)%coqR).
Proof.
move=> D0 n0 -> usedl unusedl kept hp fit begin comp e0 [/RleP t0 td] X Y P Q K K' within position inside cyclic A B FA FB.
have e1 : (1 <= exp eps)%coqR.
  by rewrite -exp_0; case: e0 => [lt|<-]; [left; exact: exp_increasing | right].
have {}begin : (z = 0%ZZ /\ (n <= size p)%N) \/ (diameter <= IZR z / IZR D)%coqR.
  by case: begin => [/andP [/eqP zz le]|wide]; [left|right].
split=> AB.
  exact: (hockey_stick_private (cyclic_path n0 cyclic inside usedl unusedl kept D0 hp fit begin comp e1 t0) td FA FB AB).
have back := cyclic_run_reflected cyclic.
apply: (hockey_stick_private (cyclic_path n0 back inside usedl unusedl kept D0 hp fit begin comp e1 t0) td FB FA) => y x; exact: AB.
Qed.
