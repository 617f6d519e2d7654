(* The README's run: full batches of 5 samples, step size 0.1, gradients clipped at 2, noise 1, a domain of diameter 1
   and 1-smooth losses.  A sample that differs moves a step by at most 2 * 0.1 * 2 / 5 = 0.08, so a step from equal
   points costs theta_0.08.  Points of the domain are at most 1 + 0.1 * 4 / 5 + 0.08 = 1.16 apart after the maps of a
   step, so a step from any two points costs theta_1.16.  These two costs of one step are the hypotheses.  The spaces,
   the dimension and the number of steps are arbitrary. *)
From Coq Require Import ZArith Reals Lra List.
From Interval Require Import Tactic.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From mathcomp Require Import ssrZ Rstruct.
From lastiterate Require Import laws rules composition induction checker.
From lastiterate.reals Require Import gaussian table_costs readme_numbers readme_table.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Delimit Scope R_scope with coqR.
Open Scope R_scope.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* In one order of the runs: P(A) <= exp(0.411115) Q(B) + 1e-5. *)
Theorem readme_run (X Y : nat -> space RA) (P : law (X 0%N)) (Q : law (Y 0%N))
  (K : forall j, kernel (X j) (X j.+1)) (K' : forall j, kernel (Y j) (Y j.+1))
  (near : forall j, X j -> Y j -> Prop) :
  divergence_le (@near 0%N) P Q (@equal _) ->
  (forall j, gaussian_cost (@near j) (@near j.+1) (K j) (K' j) (2 / 25)%coqR) ->
  (forall j, gaussian_cost (fun _ _ => True) (@near j.+1) (K j) (K' j) (29 / 25)%coqR) ->
  forall n (A : set (X n)) (B : set (Y n)), measurable_set A -> measurable_set B ->
  (forall x y, near n x y -> A x -> B y) ->
  (probability (run P K n) A <= exp (411115 / 1000000) * probability (run' Q K' n) B + 1 / 100000)%coqR.
Proof.
move=> start HN HF n A B FA FB AB.
have GT : good_table scale table by vm_compute.
have GN : good_table scale near_cost by vm_compute.
have GF : good_table scale far_cost by vm_compute.
have T0 := @check_table_sound RA scale table near_cost far_cost thresholds accepted
  X Y P Q K K' near (erefl _) start (fun j => table_cost GN near_all (HN j)) (fun j => table_cost GF far_all (HF j)) n.
have H := T0 (real RA 1508498 / real RA 1000000).
have V := @table_below scale table 1000000%ZZ 1508498%ZZ 100000%ZZ (erefl _) (erefl _) at_delta.
move: H V; rewrite !realIZR => H V.
have E : IZR 1508498 / IZR 1000000 = (1508498 / 1000000)%coqR.
  by rewrite -RdivE //; apply/eqP; change (1000000 <> 0)%coqR; lra.
rewrite E in H V.
apply: (to_epsilon_delta _ V).
- by apply: H => //; apply/RleP; change (0 <= 1508498 / 1000000)%coqR; lra.
- by lra.
- by interval with (i_prec 60).
- exact: probability_ge0.
Qed.

(* In both orders, from the same hypotheses: both costs are the same in both orders.  If near x y says that x and y are
   equal, A = B and the last iterate is (0.411115, 1e-5)-differentially private. *)
Theorem readme_run_both (X Y : nat -> space RA) (P : law (X 0%N)) (Q : law (Y 0%N))
  (K : forall j, kernel (X j) (X j.+1)) (K' : forall j, kernel (Y j) (Y j.+1))
  (near : forall j, X j -> Y j -> Prop) :
  divergence_le (@near 0%N) P Q (@equal _) ->
  (forall j, gaussian_cost (@near j) (@near j.+1) (K j) (K' j) (2 / 25)%coqR) ->
  (forall j, gaussian_cost (fun _ _ => True) (@near j.+1) (K j) (K' j) (29 / 25)%coqR) ->
  forall n (A : set (X n)) (B : set (Y n)), measurable_set A -> measurable_set B ->
  ((forall x y, near n x y -> A x -> B y) ->
    (probability (run P K n) A <= exp (411115 / 1000000) * probability (run' Q K' n) B + 1 / 100000)%coqR) /\
  ((forall x y, near n x y -> B y -> A x) ->
    (probability (run' Q K' n) B <= exp (411115 / 1000000) * probability (run P K n) A + 1 / 100000)%coqR).
Proof.
move=> start HN HF n A B FA FB; split=> AB; first exact: (readme_run start HN HF FA FB AB).
have same j : run P K j = run' P K j by elim: j => //= j ->.
have same' j : run Q K' j = run' Q K' j by elim: j => //= j ->.
rewrite same -same'.
apply: (readme_run (near := fun j y x => near j x y)) => //; last by move=> y x; apply: AB.
- exact: (reflect_equal start).
- by move=> j; apply: gaussian_cost_reflected; apply: HN.
- by move=> j; apply: (gaussian_cost_reflected (near := fun _ _ => True)); apply: HF.
Qed.
