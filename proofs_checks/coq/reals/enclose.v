(* Tactics with which coq-interval encloses Gaussian costs, for files written by `lastiterate verify --coq`. *)
From Coq Require Import ZArith Reals Lra List.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From lastiterate Require Import checker.
From lastiterate.reals Require Import gaussian table_costs runs.
Open Scope R_scope.

(* An enclosure of I at b, from one at a. *)
Ltac grows prior a b lo hi dlo dhi :=
  apply (grow a b lo hi dlo dhi); [exact prior | integral with (i_prec 70, i_width (-54)) | lra | lra].
(* theta at the node p / q of a list, from enclosures Hu of I at mu / 2 - s and Hv at - mu / 2 - s. *)
Ltac node s S L q p value Hu Hv :=
  right; exists s; cbn [fst snd];
  replace (scaled S L q p) with value by (vm_compute; reflexivity);
  split; [interval with (i_prec 70) |];
  rewrite theta_exp by lra;
  match type of Hu with _ <= I ?x <= _ => match type of Hv with _ <= I ?y <= _ =>
    match goal with |- context [I (?m / 2 - ?t)] =>
      replace (m / 2 - t) with x by lra; replace (- m / 2 - t) with y by lra end;
    generalize Hu Hv; generalize (I x) (I y); intros ? ? ? ?; interval with (i_prec 70) end end.
(* Every line in whole numbers is at least one of the run. *)
Ltac used_lines unfolds :=
  repeat apply List.Forall_cons; try apply List.Forall_nil;
  match goal with |- line_of _ ?l => unfolds; unfold l end;
  first [eexists; eexists; split; [left; reflexivity | split; unfold slope, offset; cbn; try apply Rmax_lub; lra]
       | eexists; eexists; split; [right; left; reflexivity | split; unfold slope, offset; cbn; try apply Rmax_lub; lra]].
