(* A checker of blocks that do not use the sample, in whole numbers: a table before some of them leads to a table after
   them by the formula of Forgetting, at each node by itself.

   Python: proofs_checks/certificates/checker.py, _contracted, where `met` is false.
   Page: docs/proofs/contraction.md, "Forgetting". *)
From Coq Require Import ZArith Lia.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From mathcomp Require Import ring ssrZ.
From lastiterate Require Import laws tables chain rules induction composition checker.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.

(* ---- The program.  a / S is at least the divergence of the laws at g = n / m, where k = (n, m). ---- *)
Section Program.
Local Open Scope Z_scope.
Definition up (a b : Z) := (a + b - 1) / b.
(* After one block with the far cost F: A F(1 + (g - 1) / A) for A = a / S, rounded up. *)
Definition damp (S : Z) (F : seq (Z * Z)) (k : Z * Z) (a : Z) :=
  if a <=? 0 then 0 else
    Z.min S (up (scaled S F (k.2 * a) (k.2 * a + (k.1 - k.2) * S)) (S * k.2)).
Fixpoint damps (S : Z) (blocks : seq (nat * seq (Z * Z))) (k : Z * Z) (a : Z) :=
  if blocks is (t, F) :: rest then damps S rest k (iter t (damp S F k) a) else a.
Definition at_node (S : Z) (T : seq (Z * Z)) (k : Z * Z) := Z.min S (up (scaled S T k.2 k.1) k.2).
(* The blocks lead from the table T to the table M. *)
Definition damps_to (S : Z) (T M : seq (Z * Z)) (blocks : seq (nat * seq (Z * Z))) :=
  all (fun k => k.2 * damps S blocks k (at_node S T k) <=? scaled S M k.2 k.1) M.
End Program.

Local Open Scope ring_scope.
Section Sound.
Variable R : archiFieldType.
Notation real := (real R).
Notation atoms_of := (atoms_of R).
Lemma up_ge a b : (0 < b)%ZZ -> (a <= b * up a b)%ZZ.
Proof.
move=> b0; rewrite /up; have := Z.div_mod (a + b - 1) b (Z.neq_sym _ _ (Z.lt_neq _ _ b0)).
have := Z.mod_pos_bound (a + b - 1) b b0; lia.
Qed.

Lemma hockey_le (X Y : space R) (near : X -> Y -> Prop) P Q g e e' :
  e <= e' -> hockey_stick near P Q g e -> hockey_stick near P Q g e'.
Proof. by move=> le H A B FA FB AB; apply: le_trans (H A B FA FB AB) le. Qed.
Lemma hockey_one (X Y : space R) (near : X -> Y -> Prop) P Q g : 0 <= g -> hockey_stick near P Q g 1.
Proof. exact: anything. Qed.

(* After a step that costs E_0 the bound at one g still holds. *)
Lemma after_equal (X Y U V : space R) (near : X -> Y -> Prop) (near' : U -> V -> Prop) P Q
  (K : kernel X U) (K' : kernel Y V) g e : 0 <= g ->
  hockey_stick near P Q g e -> span near near' K K' (@equal R) -> hockey_stick near' (after P K) (after Q K') g e.
Proof.
move=> g0 H HK A B FA FB AB; rewrite !probability_after.
have := layer_cake g0 H (phi := fun x => probability (K x) A) (psi := fun y => probability (K' y) B) (M := 1).
rewrite mul1r; apply; try exact: measurable_from; try exact: ler01.
- by move=> x; apply: probability_ge0.
- by move=> x; apply: probability_le1.
- by move=> y; apply: probability_ge0.
move=> x y xy; have := HK x y xy 1 ler01 A B FA FB AB; by rewrite mul1r /equal subrr pos_0 // subr_le0.
Qed.

Section Blocks.
Variables (X Y U V : space R) (near : X -> Y -> Prop) (near' : U -> V -> Prop).
Variables (P : law X) (Q : law Y) (K : kernel X U) (K' : kernel Y V) (S : Z) (F : seq (Z * Z)).
Hypothesis GF : good_table S F.
Hypothesis costN : span near near' K K' (@equal R).
Hypothesis costF : span (fun _ _ => True) near' K K' (atoms_value (atoms_of S F)).
Theorem damp_sound k a : (0 <= k.1)%ZZ -> (0 < k.2)%ZZ -> (a <= S)%ZZ ->
  hockey_stick near P Q (real k.1 / real k.2) (real a / real S) ->
  hockey_stick near' (after P K) (after Q K') (real k.1 / real k.2) (real (damp S F k a) / real S) /\
  (damp S F k a <= S)%ZZ.
Proof.
case: k => n m /= n0 m0 aS H.
have Spos : (0 < S)%ZZ by move: GF; rewrite /good_table => /andP [/andP [/andP [/Z.ltb_lt]]].
have S0 := real_gt0 R Spos; have rm := real_gt0 R m0; have rn := real_ge0 R n0.
set g := real n / real m; have g0 : 0 <= g by rewrite divr_ge0 // ltW.
rewrite /damp /=; case: Z.leb_spec => a0.
  split; last exact: Z.lt_le_incl.
  have := after_equal g0 H costN; apply: hockey_le.
  rewrite ler_wpmul2r ?invr_ge0 ?(ltW S0) //; exact: real_le.
split; last exact: Z.le_min_l.
have ra := real_gt0 R a0.
pose f r := if r == g then real a / real S else 1.
have fg : f g = real a / real S by rewrite /f eqxx.
have start : divergence_le near P Q f.
  move=> r r0; rewrite /f; case: eqP => [->//|_]; exact: hockey_one.
have f1 : f g <= 1 by rewrite fg ler_pdivr_mulr // mul1r; apply: real_le.
have main := forget start costN costF g0 f1; rewrite /damped fg in main.
have E : real a / real S * atoms_value (atoms_of S F) (1 + (g - 1) / (real a / real S)) =
    real (scaled S F (m * a) (m * a + (n - m) * S)) / real S / (real S * real m).
  have ma : 0 < real (m * a)%ZZ by rewrite checker.realM mulr_gt0.
  have := perspective F S0 ma (erefl _) (erefl (real (m * a + (n - m) * S)%ZZ)).
  have -> : real (m * a + (n - m) * S)%ZZ / real (m * a)%ZZ = 1 + (g - 1) / (real a / real S).
    rewrite checker.realD !checker.realM checker.realB /g.
    by field; rewrite !gt_eqF.
  move=> <-; rewrite checker.realM; set v := atoms_value _ _.
  by field; rewrite !gt_eqF.
have both (b : Z) : b = S \/ (b = up (scaled S F (m * a) (m * a + (n - m) * S)) (S * m))%ZZ ->
    hockey_stick near' (after P K) (after Q K') g (real b / real S).
  case=> ->; first by rewrite divff ?gt_eqF //; exact: hockey_one.
  apply: hockey_le main; rewrite E -!mulrA [(real S)^-1 * _]mulrC mulrA ler_pmul2r ?invr_gt0 //.
  rewrite -checker.realM ler_pdivr_mulr ?real_gt0 //; last exact: Z.mul_pos_pos.
  rewrite mulrC -checker.realM; apply: real_le; apply: up_ge; exact: Z.mul_pos_pos.
by apply: both; case: (Z.min_spec S (up (scaled S F (m * a) (m * a + (n - m) * S)) (S * m))) => -[_ ->]; [left|right].
Qed.
End Blocks.

Lemma node_positive S L k : good_table S L -> k \in L -> (0 < S)%ZZ /\ (0 <= k.1)%ZZ /\ (0 < k.2)%ZZ.
Proof.
move=> /andP [/andP [/andP [/Z.ltb_lt s /allP H] _] _] kL.
by have /andP [/Z.leb_le k1 /Z.ltb_lt k2] := H k kL.
Qed.
Section Nodes.
Variables (X Y : space R) (near : X -> Y -> Prop) (P : law X) (Q : law Y) (S : Z).
(* The value of a table at a node, rounded up. *)
Lemma at_node_sound T k : (0 < S)%ZZ -> (0 <= k.1)%ZZ -> (0 < k.2)%ZZ ->
  divergence_le near P Q (atoms_value (atoms_of S T)) ->
  hockey_stick near P Q (real k.1 / real k.2) (real (at_node S T k) / real S) /\ (at_node S T k <= S)%ZZ.
Proof.
case: k => n m /= Spos n0 m0 H; split; last exact: Z.le_min_l.
have S0 := real_gt0 R Spos; have rm := real_gt0 R m0; have rn := real_ge0 R n0.
have g0 : 0 <= real n / real m by rewrite divr_ge0 // ltW.
rewrite /at_node /=.
case: (Z.min_spec S (up (scaled S T m n) m)) => -[_ ->]; first by rewrite divff ?gt_eqF //; exact: hockey_one.
apply: hockey_le (H _ g0).
have E := perspective T S0 rm (erefl _) (erefl (real n)).
rewrite -(ler_pmul2l rm) E [X in _ <= X]mulrA ler_pmul2r ?invr_gt0 // -checker.realM.
by apply: real_le; apply: up_ge.
Qed.
(* Bounds at the nodes of a table, each at most its value. *)
Theorem from_nodes M (a : Z * Z -> Z) : good_table S M ->
  all (fun k => (k.2 * a k <=? scaled S M k.2 k.1)%ZZ) M ->
  (forall k, k \in M -> hockey_stick near P Q (real k.1 / real k.2) (real (a k) / real S)) ->
  divergence_le near P Q (atoms_value (atoms_of S M)).
Proof.
move=> GM /allP le H; apply: at_nodes; first exact: atoms_sound.
move=> z /mapP [k kM ->] /=; have [Spos [k1 k2]] := node_positive GM kM.
have S0 := real_gt0 R Spos; have rm := real_gt0 R k2.
have -> : real k.1 / real S / (real k.2 / real S) = real k.1 / real k.2 by field; rewrite !gt_eqF.
apply: hockey_le (H k kM).
have E := perspective M S0 rm (erefl _) (erefl (real k.1)).
rewrite -(ler_pmul2l rm) E [X in X <= _]mulrA ler_pmul2r ?invr_gt0 // -checker.realM.
by apply: real_le; apply/Z.leb_le; exact: le.
Qed.
End Nodes.
End Sound.
