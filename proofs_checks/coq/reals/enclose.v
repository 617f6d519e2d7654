(* Tactics with which coq-interval encloses Gaussian costs, for files written by `lastiterate verify --coq`. *)
From Coq Require Import ZArith Reals Lra List.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From lastiterate Require Import checker.
From lastiterate.reals Require Import gaussian table_costs runs.
Open Scope R_scope.

(* An enclosure of I at b, from one at a. *)
Ltac grows bits width prior a b lo hi dlo dhi :=
  apply (grow a b lo hi dlo dhi); [exact prior | integral with (i_prec bits, i_width width) | lra | lra].
(* One of the two values of I in theta, from its enclosure H at an absolute value. *)
Ltac value_at y H :=
  match type of H with _ <= I ?x <= _ =>
    first [replace y with x by lra | replace y with (- x) by lra; rewrite I_opp];
    generalize H; let u := fresh in generalize (I x); intros u ?; change R in u end.
(* theta at the node p / q of a list, from enclosures Hu of I at |mu / 2 - s| and Hv at |- mu / 2 - s|. *)
Ltac node bits s S L q p value Hu Hv :=
  right; exists s; cbn [fst snd];
  replace (scaled S L q p) with value by (vm_compute; reflexivity);
  split; [interval with (i_prec bits) |];
  rewrite theta_exp by lra;
  match goal with |- context [I (?m / 2 - ?t)] => value_at (m / 2 - t) Hu; value_at (- m / 2 - t) Hv end;
  interval with (i_prec bits).
(* Every line in whole numbers is at least one of the run. *)
Ltac used_lines unfolds :=
  repeat apply List.Forall_cons; try apply List.Forall_nil;
  match goal with |- line_of _ ?l => unfolds; unfold l end;
  first [eexists; eexists; split; [left; reflexivity | split; unfold slope, offset; cbn; try apply Rmax_lub; lra]
       | eexists; eexists; split; [right; left; reflexivity | split; unfold slope, offset; cbn; try apply Rmax_lub; lra]].
(* 0 <= theta_(m) (exp (m s)) <= delta, from integrals to x = m / 2 - s and y = - m / 2 - s. *)
Ltac theta_at m s e x y :=
  replace (exp e) with (exp (m * s)) by (f_equal; lra);
  rewrite theta_exp by lra; replace (m / 2 - s) with x by lra; replace (- m / 2 - s) with y by lra;
  let H := fresh in let G := fresh in
  integral_intro (RInt (fun t => exp (- (t * t) / 2)) 0 x) with (i_prec 100, i_width (-80)) as H;
  integral_intro (RInt (fun t => exp (- (t * t) / 2)) 0 y) with (i_prec 100, i_width (-80)) as G;
  change (RInt _ 0 x) with (I x) in H; change (RInt _ 0 y) with (I y) in G;
  value_at x H; value_at y G; split; interval with (i_prec 100).
(* Values of theta for several mu at the node p / q of a far cost: all are read at exp r. *)
Ltac far_at bits r := right; exists r; cbn [fst snd]; split; [interval with (i_prec bits) |];
  repeat apply List.Forall2_cons; try apply List.Forall2_nil.
(* theta_m (exp (m s)), where m s = r, from enclosures Hu of I at |m / 2 - s| and Hv at |- m / 2 - s|. *)
Ltac far_value bits m s Hu Hv :=
  match goal with |- theta (ratio _) (exp ?r) <= _ =>
    replace (exp r) with (exp (m * s)) by (f_equal; lra) end;
  match goal with |- theta ?n _ <= _ => change n with m end;
  rewrite theta_exp by lra; value_at (m / 2 - s) Hu; value_at (- m / 2 - s) Hv; interval with (i_prec bits).
