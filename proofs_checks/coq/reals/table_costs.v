(* From Gaussian costs to tables of whole numbers, and from a table to (epsilon, delta). *)
From Coq Require Import ZArith Reals Lra List.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From mathcomp Require Import ssrZ Rstruct.
From lastiterate Require Import laws rules composition induction checker.
From lastiterate.reals Require Import gaussian.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Delimit Scope R_scope with coqR.
Open Scope R_scope.

(* The value of the list L at a node x is at least theta: the node is not below exp(mu s), at which theta is at most
   the value of the list. *)
Definition node_cost mu S L (x : Z * Z) := x.1 = 0%ZZ \/ exists s, exp (mu * s) <= IZR x.1 / IZR x.2 /\
  theta mu (exp (mu * s)) <= IZR (scaled S L x.2 x.1) / (IZR x.2 * IZR S).

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.
Notation RA := R_realArchiFieldType.
Lemma realIZR z : real RA z = IZR z.
Proof.
have N n : (n%:R : R) = INR n by rewrite INRE.
case: z => [|p|p] //; rewrite /real /=.
  by rewrite -[LHS]/((Pos.to_nat p)%:R) N INR_IZR_INZ positive_nat_Z.
rewrite -Pos2Z.opp_pos opp_IZR -positive_nat_Z -INR_IZR_INZ -N.
by have := Pos2Nat.is_pos p; case: (Pos.to_nat p) => // /PeanoNat.Nat.lt_irrefl.
Qed.

(* The judgement near -> near' at theta_mu. *)
Definition gaussian_cost (X Y U V : space RA) (near : X -> Y -> Prop) (near' : U -> V -> Prop)
  (K : kernel X U) (K' : kernel Y V) (mu : R) :=
  forall x y, near x y -> forall g : R, 0 < g -> hockey_stick near' (K x) (K' y) g (theta mu g).
(* theta is a bound at the nodes of the list, so the table of the list is a bound everywhere. *)
Lemma table_cost (S : Z) L mu (X Y U V : space RA) (near : X -> Y -> Prop)
  (near' : U -> V -> Prop) (K : kernel X U) (K' : kernel Y V) :
  good_table S L -> List.Forall (node_cost mu S L) L -> gaussian_cost near near' K K' mu ->
  span near near' K K' (atoms_value (atoms_of RA S L)).
Proof.
move=> G /List.Forall_forall H HK x y xy; apply: at_nodes; first exact: atoms_sound.
move=> z /mapP [k kL ->] /=.
have S0 : 0 < real RA S.
  by move: G; rewrite /good_table => /andP [/andP [/andP [s _] _] _]; apply: real_gt0; apply/Z.ltb_lt.
have [k1 k2] : (0 <= k.1)%ZZ /\ (0 < k.2)%ZZ.
  move: G; rewrite /good_table => /andP [/andP [/andP [_ /allP H1] _] _]; have /andP [h1 h2] := H1 k kL.
  by split; [apply/Z.leb_le | apply/Z.ltb_lt].
have m0 := real_gt0 RA k2.
have -> : real RA k.1 / real RA S / (real RA k.2 / real
  RA S) =
    real RA k.1 / real RA k.2.
  by rewrite invfM invrK mulrACA [_^-1 * real _ S]mulrC divff ?mulr1 ?gt_eqF.
have P := perspective L S0 m0 (erefl _) (erefl (real RA k.1)).
have inL : List.In k L by elim: (L) kL => //= a l IH; rewrite inE => /orP [/eqP ->|/IH]; [left|right].
have k1' := real_ge0 RA k1.
case: (H k inL) => [z0|[s [e1 e2]]].
  rewrite z0 checker.real0 mul0r; have -> : atoms_value (atoms_of RA S L) 0 = 1.
    have [_ pf _ up_] := atoms_sound RA G; rewrite /atoms_value -[RHS]up_; congr (_ + _).
    by rewrite !big_seq; apply: eq_bigr => w /pf [w1 _]; rewrite mul0r subr0 tables.pos_id.
  by move=> A B FA FB AB; apply: (@anything RA U V near' (K x) (K' y) 0 (lexx _) A B FA FB
    AB).
have g0 : 0 < exp (mu * s) by apply/RltP; apply: exp_pos.
move=> A B FA FB AB; apply: le_trans (_ : theta mu (exp (mu * s)) <= _).
  apply: le_trans (HK x y xy _ g0 A B FA FB AB); rewrite ler_add2l ler_opp2; apply: ler_wpmul2r; first exact:
    probability_ge0.
  apply/RleP; move: e1; rewrite -!realIZR -RdivE //; by rewrite gt_eqF.
have -> : atoms_value (atoms_of RA S L) (real RA k.1 / real
  RA k.2) =
    real RA (scaled S L k.2 k.1) / (real RA k.2 * real RA
      S).
  by apply: (mulfI (lt0r_neq0 m0)); rewrite P invfM mulrCA mulVKf ?gt_eqF //.
apply/RleP; move: e2; rewrite -!realIZR -RdivE -?RmultE //.
by rewrite mulf_neq0 // gt_eqF.
Qed.

(* The table is at most 1 / k at n / m. *)
Lemma table_below (S : Z) T m n k : (0 < S)%ZZ -> (0 < m)%ZZ ->
  Z.leb (Z.mul k (scaled S T m n)) (Z.mul m S) = true ->
  atoms_value (atoms_of RA S T) (real RA n / real RA m) *
    real RA k <= 1.
Proof.
move=> Sp mp /Z.leb_le /(real_le RA); rewrite !checker.realM => D.
have S0 := real_gt0 RA Sp; have m0 := real_gt0 RA mp.
have P := perspective T S0 m0 (erefl _) (erefl (real RA n)).
rewrite -(ler_pmul2l m0) mulr1 mulrA P -(ler_pmul2r S0) mulrAC divfK ?gt_eqF //.
by rewrite mulrC.
Qed.
(* From a bound v <= 1 / k at g <= e to e c + 1 / k. *)
Lemma to_epsilon_delta (a c v g k e : R) : a - g * c <= v -> v * k <= 1 -> (0 < k)%coqR ->
  (g <= e)%coqR -> 0 <= c ->
  (a <= e * c + 1 / k)%coqR.
Proof.
move=> /RleP H1 /RleP H2 k0 ge /RleP c0.
change (a - g * c <= v)%coqR in H1; change (v * k <= 1)%coqR in H2; change (0 <= c)%coqR in c0.
have := Rmult_le_compat_r _ _ _ c0 ge => H3.
have H4 : (v <= 1 / k)%coqR by apply: (Rmult_le_reg_r k) => //; rewrite /Rdiv Rmult_assoc Rinv_l; lra.
by lra.
Qed.

(* theta is the same in both orders. *)
Lemma gaussian_cost_reflected (X Y U V : space RA) (near : X -> Y -> Prop) (near' : U -> V -> Prop)
  (K : kernel X U) (K' : kernel Y V) (mu : R) :
  gaussian_cost near near' K K' mu -> gaussian_cost (fun y x => near x y) (fun v u => near' u v) K' K mu.
Proof.
move=> H y x xy g g0; have r0 : 0 < 1 / g by apply: divr_gt0 => //; exact: ltr01.
have E : theta mu g = 1 - g + g * theta mu (1 / g)%R.
  by rewrite -RdivE; [apply: theta_reflected; apply/RltP | rewrite gt_eqF].
by move=> B A FB FA BA; apply: le_trans (reflect g0 (H x y xy _ r0) FB FA BA) _; rewrite E.
Qed.
