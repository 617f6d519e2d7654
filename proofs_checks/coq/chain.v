(* Rule chain: from near -> near' at f and then near' -> near'' at a table N follows near -> near'' at f x N.

   Python: symbolic/kernel/rules.py, Kernel.chain (`_linked`).  Page: docs/proofs/enlarged_sets.md, Theorem 1.
   f is any function; the second profile is a table.  A profile with a density, such as a Gaussian one, is used
   through tables that are at least it (rule weaken). *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
From lastiterate Require Import laws tables.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Chain.
Variable R : archiFieldType.
Implicit Types (f : R -> R) (N : table R).

(* The composition (f x N)(g). *)
Definition compose f N (g : R) :=
  rest N + \sum_(j < node_count N | 0 < mass1 N j) mass1 N j * f (g * mass2 N j / mass1 N j).

Lemma measurable_pos (X : space R) (h : X -> R) : measurable h -> measurable (fun x => pos (h x)).
Proof. by move=> H; apply: measurable_max => //; apply: measurable_const. Qed.
Lemma measurable_gap (X : space R) (h : X -> R) (lo hi d : R) : measurable h ->
  measurable (fun x => pos (Num.min (h x) hi - lo) / d).
Proof.
move=> H; apply: (@measurable_ext _ _ (fun x => d^-1 * pos (Num.min (h x) hi - lo))) => [x|]; first by rewrite
  mulrC.
apply: measurable_scale; apply: measurable_pos; apply: measurable_sub (measurable_const _ _).
by apply: measurable_min => //; apply: measurable_const.
Qed.
Lemma measurable_test N (X : space R) (h : X -> R) j : measurable h -> measurable (fun x => test N (h x) j).
Proof. by move=> H; apply: measurable_gap. Qed.
Lemma measurable_fill N (X : space R) (h : X -> R) j : measurable h -> measurable (fun x => fill N (h x) j).
Proof. by move=> H; apply: measurable_gap. Qed.
Lemma expect_line (X : space R) (P : law X) k n (w : nat -> R) (h : nat -> X -> R) :
  (forall j, measurable (h j)) ->
  expect P (fun x => k + \sum_(j < n) w j * h j x) = k + \sum_(j < n) w j * expect P (h j).
Proof.
move=> H; have S j : measurable (fun x => w j * h j x) by apply: measurable_scale.
rewrite (expect_add P (f := fun _ => k) (h := fun x => \sum_(j < n) w j * h j x)); first last.
- exact: (@measurable_sum _ _ n (fun j x => w j * h j x)).
- exact: measurable_const.
rewrite expect_const (@expect_sum _ _ P n (fun j x => w j * h j x)) //.
by congr (_ + _); apply: eq_bigr => j _; rewrite expect_scale.
Qed.
Lemma measurable_line (X : space R) k n (w : nat -> R) (h : nat -> X -> R) : (forall j, measurable (h j)) ->
  measurable (fun x => k + \sum_(j < n) w j * h j x).
Proof.
move=> H; apply: (@measurable_add _ _ (fun _ => k) (fun x => \sum_(j < n) w j * h j x)); first exact:
  measurable_const.
by apply: (@measurable_sum _ _ n (fun j x => w j * h j x)) => j; apply: measurable_scale.
Qed.

(* One atom of N costs what the first part costs at the threshold g mass2 / mass1. *)
Lemma atom_cost (X Y : space R) (near : X -> Y -> Prop) (P : law X) (Q : law Y) f g aj bj M phi psi :
  divergence_le near P Q f -> 0 <= g -> 0 <= bj -> 0 < aj -> 0 <= M ->
  measurable phi -> measurable psi -> (forall x, 0 <= phi x) -> (forall x, phi x <= M) -> (forall y, 0 <= psi y)
    ->
  (forall x y, near x y -> phi x <= psi y) ->
  aj * expect P phi - g * (bj * expect Q psi) <= M * (aj * f (g * bj / aj)).
Proof.
move=> H g0 b0 a0 M0 F1 F2 p0 pM q0 mono.
have r0 : 0 <= g * bj / aj by rewrite divr_ge0 ?mulr_ge0 // ltW.
have L := layer_cake r0 (H _ r0) F1 F2 p0 pM q0 M0 mono.
have -> : aj * expect P phi - g * (bj * expect Q psi) = aj * (expect P phi - g * bj / aj * expect Q psi).
  rewrite mulrBr [X in _ = _ - X]mulrA [X in _ = _ - X * _]mulrC divfK ?gt_eqF //.
  by rewrite mulrA.
by rewrite mulrCA; apply: ler_wpmul2l => //; exact: ltW.
Qed.

(* The chain rule for functions k and k' with values in [0, 1] instead of the probabilities of a set. *)
Theorem chain_functions (X Y : space R) (near : X -> Y -> Prop) (P : law X) (Q : law Y) f N (k : X -> R)
  (k' : Y -> R) :
  divergence_le near P Q f -> measurable k -> measurable k' -> (forall x, k x <= 1) -> (forall y, 0 <= k' y) ->
    (forall y, k' y <= 1) ->
  (forall x y, near x y -> forall r, 0 <= r -> k x - r * k' y <= value N r) ->
  forall g, 0 <= g -> expect P k - g * expect Q k' <= compose f N g.
Proof.
move=> H Fk Fk' k1 k'0 k'1 held g g0.
pose phi j x := fill N (k x) j; pose psi j y := test N (k' y) j.
have leP : expect P k <= rest N + \sum_(j < node_count N) mass1 N j * expect P (phi j).
  rewrite -expect_line; last by move=> j; apply: measurable_fill.
  apply: expect_le => [//||x]; last exact: fill_sum.
  by apply: measurable_line => j; apply: measurable_fill.
have eqQ : expect Q k' = 0 + \sum_(j < node_count N) mass2 N j * expect Q (psi j).
  rewrite -expect_line; last by move=> j; apply: measurable_test.
  by apply: expect_ext => // y; rewrite add0r size_test.
rewrite eqQ add0r; apply: (le_trans (ler_sub leP (lexx _))).
rewrite -addrA /compose ler_add2l mulr_sumr -sumrB [X in _ <= X]big_mkcond /=.
apply: ler_sum => j _; case: ltP => aj.
  rewrite -[X in _ <= X]mul1r; apply: (atom_cost H) => //; rewrite ?ler01 //; try by apply: ltW; apply:
    mass2_gt0.
  - exact: measurable_fill.
  - exact: measurable_test.
  - by move=> x; apply: fill_ge0.
  - by move=> x; apply: fill_le1.
  - by move=> y; apply: test_ge0.
  - by move=> x y xy; apply: fill_test => //; apply: held.
have -> : mass1 N j = 0 by apply/eqP; rewrite eq_le aj mass1_ge0.
rewrite mul0r sub0r oppr_le0 !mulr_ge0 //; first by apply: ltW; apply: mass2_gt0.
by apply: expect_ge0 => [|y]; [apply: measurable_test | apply: test_ge0].
Qed.

Lemma probability_after (X U : space R) (P : law X) (K : kernel X U) A :
  probability (after P K) A = expect P (fun x => probability (K x) A).
Proof. by []. Qed.

(* From laws P and Q before the second part. *)
Theorem chain_laws (X Y U V : space R) (near : X -> Y -> Prop) (near' : U -> V -> Prop) (P : law X) (Q : law Y)
  (K : kernel X U) (K' : kernel Y V) f N :
  divergence_le near P Q f -> span near near' K K' (value N) -> divergence_le near' (after P K) (after Q K')
    (compose f N).
Proof.
move=> H H' g g0 A B FA FB AB; rewrite !probability_after.
apply: (chain_functions (near := near)) => //; try exact: measurable_from.
- by move=> x; apply: probability_le1.
- by move=> y; apply: probability_ge0.
- by move=> y; apply: probability_le1.
- by move=> x y xy r r0; apply: (H' x y xy r r0).
Qed.

(* The rule: K and K' are the first parts of the two runs, L and L' the second parts. *)
Theorem chain (X Y U V W Z : space R) (near : X -> Y -> Prop) (near' : U -> V -> Prop) (near'' : W -> Z -> Prop)
  (K : kernel X U) (K' : kernel Y V) (L : kernel U W) (L' : kernel V Z) f N :
  span near near' K K' f -> span near' near'' L L' (value N) ->
  span near near'' (then_kernel K L) (then_kernel K' L') (compose f N).
Proof. by move=> H H' x y xy; apply: chain_laws (H x y xy) H'. Qed.

(* f x N increases with f. *)
Lemma compose_le f h N g : 0 <= g -> (forall r, 0 <= r -> f r <= h r) -> compose f N g <= compose h N g.
Proof.
move=> g0 fh; rewrite ler_add2l; apply: ler_sum => j aj; apply: ler_wpmul2l; first exact: ltW.
by apply: fh; rewrite divr_ge0 ?mulr_ge0 // ltW // mass2_gt0.
Qed.
End Chain.
