(* Larger parts make larger profiles: the comparisons that Kernel.weaken makes of two profiles of one form.

   Python: symbolic/kernel/profiles.py, covers.  Page: docs/proofs/enlarged_sets.md, fact 2, and the docstrings of the
   profiles.  For compositions see chain.v, compose_le, and composition.v, product_le2; for rates coins.v, lower_rate; for
   hidden variables three_laws.v, third_value_le; for chords rules.v, chord, and checker.v, at_nodes. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
From lastiterate Require Import laws tables chain contract rules induction composition coins.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Monotone.
Variable R : archiFieldType.
Implicit Types (f h F theta : R -> R) (g q : R).
(* f is at most h. *)
Definition below f h := forall r, 0 <= r -> f r <= h r.

(* The least profile. *)
Theorem equal_below (f : atoms R) : sound f -> below (@equal R) (atoms_value f).
Proof.
move=> [c0 ps l1 u1] g g0; rewrite /equal /pos le_maxl; apply/andP; split; last first.
  by rewrite addr_ge0 // sumr_ge0 // => x _; apply: pos_ge0.
rewrite -{1}u1 -addrA /atoms_value ler_add2l -[X in _ - X]mulr1 -l1 mulr_sumr -sumrB.
by apply: ler_sum => x _; apply: pos_ge.
Qed.

(* Costs of coins, in the cost of what the coin decides. *)
Theorem sampled_below theta theta' q : 0 < q -> below theta theta' -> below (sampled q theta) (sampled q theta').
Proof.
move=> q0 le g g0; rewrite /sampled; case: ltP => c //.
rewrite ler_pmul2l //; apply: le; have -> : g - 1 + q = g - (1 - q) by ring.
by rewrite divr_ge0 ?subr_ge0 ?ltW.
Qed.
Theorem above_one_below theta theta' q g : 0 < q -> below theta theta' -> 1 <= g ->
  above_one q theta g <= above_one q theta' g.
Proof.
move=> q0 le g1; rewrite /above_one ler_pmul2l //; apply: le.
by rewrite addr_ge0 ?ler01 // divr_ge0 ?subr_ge0 // ltW.
Qed.
Theorem reflected_below f h g : 0 < g -> below f h -> reflected f g <= reflected h g.
Proof. by move=> g0 le; rewrite /reflected ler_add2l ler_pmul2l //; apply: le; rewrite divr_ge0 ?ler01 ?ltW. Qed.

(* Means over cases. *)
Theorem mean_below (I : finType) (w : I -> R) (f h : I -> R -> R) (failure : R) :
  (forall i, 0 <= w i) -> (forall i, below (f i) (h i)) ->
  below (fun g => failure + \sum_i w i * f i g) (fun g => failure + \sum_i w i * h i g).
Proof. by move=> w0 le g g0; rewrite ler_add2l; apply: ler_sum => i _; rewrite ler_wpmul2l // le. Qed.

(* Compositions of the tables f 0, ..., f (n - 1), in the tables and in their number. *)
Definition composed (f : nat -> atoms R) n := iteri n (fun j k => product (f j) k) (neutral R).
Lemma neutral_sound : sound (neutral R).
Proof.
split=> /=; rewrite ?big_cons ?big_nil ?addr0 ?add0r //.
by move=> x; rewrite inE => /eqP -> /=; rewrite ler01 ltr01.
Qed.
Lemma composed_sound (f : nat -> atoms R) n : (forall j, sound (f j)) -> sound (composed f n).
Proof. by move=> sf; elim: n => [|n IH]; [exact: neutral_sound | exact: product_sound]. Qed.
Theorem composed_below (f h : nat -> atoms R) n m : (forall j, sound (f j)) -> (forall j, sound (h j)) ->
  (forall j, below (atoms_value (f j)) (atoms_value (h j))) -> (n <= m)%N ->
  below (atoms_value (composed f n)) (atoms_value (composed h m)).
Proof.
move=> sf sh le nm; have same k : below (atoms_value (composed f k)) (atoms_value (composed h k)).
  elim: k => [|k IH] g g0 //=.
  exact: (product_le2 (sf k) (sh k) (composed_sound k sf) (composed_sound k sh) g0 (le k) IH).
elim: m nm => [|m IH]; first by rewrite leqn0 => /eqP ->; apply: same.
rewrite leq_eqVlt => /orP [/eqP ->|]; first exact: same.
rewrite ltnS => /IH {}IH g g0; apply: (le_trans (IH g g0)) => /=.
rewrite product_comm -(product_neutral (composed h m)).
apply: (product_le2 (composed_sound m sh) (composed_sound m sh) neutral_sound (sh m) g0) => [//|r r0].
by rewrite neutral_equal; apply: equal_below.
Qed.

(* A block, in the profile before it, in the near cost and in the far cost. *)
Theorem contracted_below (I : finType) (p q u v : I -> R) F F' (N N' : table R) :
  (forall i, 0 <= v i) -> (forall i, u i <= p i) -> (forall i, v i <= q i) ->
  below F F' -> below (value N) (value N') -> below (contracted F N p q u v) (contracted F' N' p q u v).
Proof.
move=> v0 up vq leF leN g g0; rewrite /contracted; apply: ler_add.
  apply: ler_sum => i ui; apply: ler_wpmul2l; first exact: ltW.
  by apply: leN; rewrite divr_ge0 ?mulr_ge0 // ltW.
case: ifP => // A0; apply: ler_wpmul2l; first exact: ltW.
apply: leF; rewrite divr_ge0 // ?(ltW A0) // mulr_ge0 // sumr_ge0 // => i _; by rewrite subr_ge0.
Qed.

(* Forgetting, in the profile before it and in the far cost, which falls more slowly than 1 - r. *)
Theorem damped_below F F' f h : (forall r s, 0 <= r -> r <= s -> F' s <= F' r /\ F' r + r <= F' s + s) ->
  below (@equal R) F' -> below (@equal R) f -> below F F' -> below f h -> below (damped F f) (damped F' h).
Proof.
move=> falls eF ef leF le g g0; rewrite /damped; set a := f g; set b := h g.
have ga : 0 <= a + (g - 1).
  by have := ef g g0; rewrite -/a /equal /pos le_maxl => /andP [le1 _]; rewrite -[g - 1]opprB subr_ge0.
have a0 : 0 <= a by have := ef g g0; rewrite -/a /equal /pos le_maxl => /andP [].
have ab : a <= b by apply: le.
have pos_F r : 0 <= r -> 0 <= F' r by move=> r0; apply: le_trans (eF r r0); apply: pos_ge0.
have b0 : 0 <= b by apply: le_trans ab.
have ratio c : a <= c -> 0 < c -> 0 <= 1 + (g - 1) / c.
  move=> ac c0; rewrite -(pmulr_rge0 _ c0) mulrDr mulr1 mulrCA divff ?gt_eqF // mulr1.
  by apply: (le_trans ga); rewrite ler_add2r.
move: a0; rewrite le_eqVlt => /orP [/eqP a0|a0].
  rewrite -a0 mul0r; move: b0; rewrite le_eqVlt => /orP [/eqP <-|b0]; first by rewrite mul0r.
  by rewrite mulr_ge0 ?(ltW b0) // pos_F // ratio.
have {}b0 : 0 < b by apply: lt_le_trans ab.
set r := 1 + (g - 1) / a; set s := 1 + (g - 1) / b.
have r0 : 0 <= r by apply: ratio.
have s0 : 0 <= s by apply: ratio.
have as_ : a * (r - 1) = g - 1 by rewrite /r addrC addKr mulrCA divff ?gt_eqF // mulr1.
have bs : b * (s - 1) = g - 1 by rewrite /s addrC addKr mulrCA divff ?gt_eqF // mulr1.
apply: (@le_trans _ _ (a * F' r)); first by rewrite ler_pmul2l // leF.
have inv : b^-1 <= a^-1 by rewrite lef_pinv ?posrE.
case: (leP 1 g) => g1.
  have sr : s <= r by rewrite ler_add2l ler_wpmul2l // subr_ge0.
  apply: (@le_trans _ _ (a * F' s)); first by rewrite ler_pmul2l //; case: (falls _ _ s0 sr).
  by rewrite ler_wpmul2r // pos_F.
have rs : r <= s by rewrite ler_add2l ler_wnmul2l // subr_le0 ltW.
have [_ le_s] := falls _ _ r0 rs.
have s1 : 0 <= F' s + s - 1.
  have := eF s s0; rewrite /equal /pos le_maxl => /andP [le1 _]; by rewrite subr_ge0 -ler_subl_addr.
have -> : a * F' r = a * (F' r + r - 1) - a * (r - 1) by ring.
have -> : b * F' s = b * (F' s + s - 1) - b * (s - 1) by ring.
rewrite as_ bs ler_add2r; apply: (@le_trans _ _ (a * (F' s + s - 1))); last by rewrite ler_wpmul2r.
by rewrite ler_pmul2l // ler_add2r.
Qed.
(* Tables fall so. *)
Theorem table_falls (f : atoms R) r s : sound f -> 0 <= r -> r <= s ->
  atoms_value f s <= atoms_value f r /\ atoms_value f r + r <= atoms_value f s + s.
Proof.
move=> [c0 ps l1 u1] r0 rs; rewrite /atoms_value; split.
  rewrite ler_add2l big_seq [X in _ <= X]big_seq; apply: ler_sum => x /ps [_ x2]; apply: pos_le.
  by rewrite ler_add2l ler_opp2 ler_wpmul2r // ltW.
have total t : t = \sum_(x <- pairs f) t * x.2 by rewrite -mulr_sumr l1 mulr1.
rewrite -!addrA ler_add2l [X in _ + X <= _](total r) [X in _ <= _ + X](total s) -!big_split /=.
rewrite big_seq [X in _ <= X]big_seq; apply: ler_sum => x /ps [_ x2].
have E t : pos (x.1 - t * x.2) + t * x.2 = Num.max x.1 (t * x.2).
  by rewrite /pos addr_maxl subrK add0r.
by rewrite !E le_maxl !le_maxr lexx /= ler_wpmul2r ?orbT // ltW.
Qed.
End Monotone.
