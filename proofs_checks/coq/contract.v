(* Rule contract: from near1 at f before a block, a block near1 -> near2 at a table N, and the same block from all
   pairs of points at F, follows near2 at `contracted`.

   Python: symbolic/kernel/rules.py, contract; symbolic/kernel/profiles.py, Contracted.
   Page: docs/proofs/contraction.md, Theorem 1.
   p and q are families of finitely many masses whose profile is at least f, u and v are any parts of them, and F
   is any function.  The rule takes the infimum over all such choices; here each choice is a bound. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
From lastiterate Require Import laws tables chain rules.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Contract.
Variable R : archiFieldType.

(* A decidable goal may assume a point at which a bounded function is within d of its supremum. *)
Lemma near_supremum (T : Type) (x0 : T) (k : T -> R) (d : R) (goal : bool) :
  (forall x, 0 <= k x) -> (forall x, k x <= 1) -> 0 < d ->
  (forall x, (forall y, k y <= k x + d) -> goal) -> goal.
Proof.
move=> k0 k1 d0 H.
have step n : forall x, (forall y, k y <= k x + n%:R * d) -> goal.
  elim: n => [|n IH] x le.
    by apply: (H x) => y; apply: (le_trans (le y)); rewrite mul0r addr0 ler_addl ltW.
  case: goal H IH => // H IH; apply: (H x) => y; rewrite leNgt; apply/negP => lt.
  suff : false by []. apply: (IH y) => z; apply: (le_trans (le z)).
  have -> : k x + n.+1%:R * d = (k x + d) + n%:R * d by rewrite -addn1 natrD; ring.
  by rewrite ler_add2r ltW.
have d0' : 0 <= 1 / d by rewrite divr_ge0 ?ler01 ?ltW.
have := archi_boundP d0'; set n := Num.bound _; rewrite ltr_pdivr_mulr // => big.
apply: (step n x0) => y; apply: (le_trans (k1 y)); apply: ler_paddl => //; exact: ltW.
Qed.

(* A space with a law has a point. *)
Lemma some_point (X : space R) (P : law X) (goal : bool) : (X -> goal) -> goal.
Proof.
case: goal => // H; have E : forall f h : X -> R, measurable f -> measurable h -> expect P f <= expect P h.
  by move=> f h F F'; apply: expect_le => // x; have := H x.
have := E (fun _ => 1) (fun _ => 0) (measurable_const _ _) (measurable_const _ _).
by rewrite !expect_const leNgt ltr01.
Qed.

(* The law before the block, the block of each run, and the three costs: before the block, of the block from near
   points, and of the block from all pairs of points. *)
Variables (X Y U V : space R) (near1 : X -> Y -> Prop) (near2 : U -> V -> Prop).
Variables (P : law X) (Q : law Y) (K : kernel X U) (K' : kernel Y V) (f F : R -> R) (N : table R).
Hypothesis costX : divergence_le near1 P Q f.
Hypothesis costN : span near1 near2 K K' (value N).
Hypothesis costF : span (fun _ _ => True) near2 K K' F.
(* A pair (p, q) whose profile is at least f, with q(1) <= 1, and its parts u and v.  That p(1) >= 1 follows. *)
Variables (I : finType) (p q u v : I -> R).
Hypothesis pq : forall r, 0 <= r -> f r <= \sum_i pos (p i - r * q i).
Hypothesis q1 : \sum_i q i <= 1.
Hypothesis u0 : forall i, 0 <= u i.
Hypothesis up_ : forall i, u i <= p i.
Hypothesis v0 : forall i, 0 <= v i.
Hypothesis vq : forall i, v i <= q i.
Let A := \sum_i (p i - u i).
Let B := \sum_i (q i - v i).
(* The bound (1) of contraction.md. *)
Definition contracted (g : R) :=
  \sum_(i | 0 < u i) u i * value N (g * v i / u i) + (if 0 < A then A * F (g * B / A) else 0).
Let p1 : 1 <= \sum_i p i.
Proof.
have := pq (lexx 0); have := equal_least costX (lexx 0); rewrite /equal subr0 pos_id ?ler01 // => le1 le2.
apply: (le_trans le1); apply: (le_trans le2); apply: ler_sum => i _.
by rewrite mul0r subr0 pos_id // (le_trans (u0 i)).
Qed.
Let A0 : 0 <= A. Proof. by apply: sumr_ge0 => i _; rewrite subr_ge0. Qed.
Let B0 : 0 <= B. Proof. by apply: sumr_ge0 => i _; rewrite subr_ge0. Qed.
Local Notation n := (node_count N). Local Notation c := (rest N).
Local Notation a := (mass1 N). Local Notation b := (mass2 N).
Local Notation T := (power N). Local Notation t := (test N).
Let a0 : forall j, 0 <= a j := mass1_ge0 N.
Let b0 : forall j, 0 < b j := mass2_gt0 N.
Let b0' j : 0 <= b j. Proof. exact: ltW. Qed.

(* A test tau of the atoms of N is no better than u N(g v / u). *)
Lemma near_part g (tau : nat -> R) uu vv : 0 <= g -> 0 <= uu -> 0 <= vv ->
  (forall j, 0 <= tau j) -> (forall j, tau j <= 1) ->
  uu * (c + \sum_(j < n) a j * tau j) - g * vv * (\sum_(j < n) b j * tau j) <=
  if 0 < uu then uu * value N (g * vv / uu) else 0.
Proof.
move=> g0 uu0 vv0 t0 t1; case: ltP => uu1; last first.
  have -> : uu = 0 by apply/eqP; rewrite eq_le uu1 uu0.
  rewrite mul0r sub0r oppr_le0; apply: mulr_ge0; first exact: mulr_ge0.
  by apply: sumr_ge0 => j _; apply: mulr_ge0.
rewrite /value !mulrDr !mulr_sumr -addrA ler_add2l -sumrB; apply: ler_sum => j _.
rewrite pos_scale //.
have -> : uu * (a j - g * vv / uu * b j) = uu * a j - g * vv * b j.
  have -> : uu * (a j - g * vv / uu * b j) = uu * a j - (uu / uu) * (g * vv * b j) by ring.
  by rewrite divff ?gt_eqF // mul1r.
have -> : uu * (a j * tau j) - g * vv * (b j * tau j) = tau j * (uu * a j - g * vv * b j) by ring.
case: (leP 0 (uu * a j - g * vv * b j)) => s.
  by rewrite pos_id //; apply: ler_pimull.
rewrite pos_0; last exact: ltW.
by apply: mulr_ge0_le0 => //; apply: ltW.
Qed.

(* A test of power at most hi and size at least lo: the part (u, v) costs N, the remaining part costs hi and lo. *)
Lemma far_part g hi lo i (tau : nat -> R) : 0 <= g ->
  (forall j, 0 <= tau j) -> (forall j, tau j <= 1) ->
  c + \sum_(j < n) a j * tau j <= hi -> lo <= \sum_(j < n) b j * tau j ->
  p i * (c + \sum_(j < n) a j * tau j) - g * q i * (\sum_(j < n) b j * tau j) <=
  (if 0 < u i then u i * value N (g * v i / u i) else 0) + ((p i - u i) * hi - g * (q i - v i) * lo).
Proof.
move=> g0 t0 t1 H1 H2.
set al := c + _; set be := \sum_(j < n) b j * tau j.
have -> : p i * al - g * q i * be = (u i * al - g * v i * be) + ((p i - u i) * al - g * (q i - v i) * be) by
  ring.
apply: ler_add; first exact: near_part.
apply: ler_sub; first by apply: ler_wpmul2l => //; rewrite subr_ge0.
by apply: ler_wpmul2l => //; apply: mulr_ge0 => //; rewrite subr_ge0.
Qed.

(* The rule for functions k <= hi and lo <= k' that N bounds at near points. *)
Lemma contract_functions (k : X -> R) (k' : Y -> R) hi lo g :
  measurable k -> measurable k' -> (forall x, k x <= hi) -> hi <= 1 -> 0 <= hi ->
  0 <= lo -> (forall y, lo <= k' y) -> (forall y, k' y <= 1) ->
  (forall x y, near1 x y -> forall r, 0 <= r -> k x - r * k' y <= value N r) -> 0 <= g ->
  expect P k - g * expect Q k' <= \sum_(i | 0 < u i) u i * value N (g * v i / u i) + (A * hi - g * B * lo).
Proof.
move=> Fk Fk' khi hi1 hi0 lo0 klo k'1 held g0.
have lo1 : lo <= 1.
  by rewrite -(expect_const Q lo); apply: expect_le1 => [|y]; [apply: measurable_const | apply: le_trans (klo y)
    (k'1 y)].
have k1 x : k x <= 1 by apply: le_trans (khi x) hi1.
have k'0 y : 0 <= k' y by apply: le_trans lo0 (klo y).
have sumfar : \sum_i ((p i - u i) * hi - g * (q i - v i) * lo) = A * hi - g * B * lo.
  by rewrite sumrB -!mulr_suml -mulr_sumr.
suff H : expect P k - g * expect Q k' <= \sum_i ((if 0 < u i then u i * value N (g * v i / u i) else 0)
    + ((p i - u i) * hi - g * (q i - v i) * lo)).
  by apply: (le_trans H); rewrite big_split /= sumfar -big_mkcond.
have topow s : 0 <= s -> s <= 1 -> \sum_(j < n) b j * t s j = s by move=> s0 s1; apply: size_test.
case: (leP hi (T lo)) => case1.
  have H : expect P k - g * expect Q k' <= hi - g * lo.
    apply: ler_sub; first by rewrite -(expect_const P hi); apply: expect_le => //; apply: measurable_const.
    by apply: ler_wpmul2l => //; rewrite -(expect_const Q lo); apply: expect_le => //; apply: measurable_const.
  apply: (le_trans H).
  have H2 : hi - g * lo <= \sum_i (p i * hi - g * q i * lo).
    rewrite sumrB -mulr_suml; apply: ler_sub; first by rewrite ler_pemull.
    have -> : \sum_i g * q i * lo = (\sum_i q i) * (g * lo).
      by rewrite mulr_suml; apply: eq_bigr => i _; ring.
    by rewrite ler_pimull // mulr_ge0.
  apply: (le_trans H2); apply: ler_sum => i _.
  have -> : p i * hi - g * q i * lo = (u i * hi - g * v i * lo) + ((p i - u i) * hi - g * (q i - v i) * lo) by
    ring.
  rewrite ler_add2r.
  have H3 := near_part g0 (u0 i) (v0 i) (fun j => test_ge0 N lo j) (fun j => test_le1 N lo j).
  apply: le_trans H3; rewrite topow // -/(power N lo) ler_add2r.
  by apply: ler_wpmul2l.
have clo : c <= T lo.
  rewrite /power ler_addl; apply: sumr_ge0 => j _; apply: mulr_ge0 => //; exact: test_ge0.
have [sa [sa0 sa1 Tsa]] : exists s, [/\ 0 <= s, s <= 1 & T s = hi].
  by apply: power_onto => //; apply: le_trans clo (ltW case1).
have losa : lo <= sa.
  rewrite leNgt; apply/negP => lt; have := power_le N (ltW lt).
  by rewrite Tsa leNgt case1.
pose ph j x := Num.max (Num.min (fill N (k x) j) (t sa j)) (t lo j) - t lo j.
pose ps j y := Num.min (t (k' y) j) (t sa j) - t lo j.
pose M j := t sa j - t lo j.
have tt j : t lo j <= t sa j by apply: test_le.
have M0 j : 0 <= M j by rewrite subr_ge0.
have Fph j : measurable (ph j).
  apply: (@measurable_sub _ _ (fun x => Num.max (Num.min (fill N (k x) j) (t sa j)) (t lo j)) (fun _ => t lo
    j)).
    apply: (@measurable_max _ _ (fun x => Num.min (fill N (k x) j) (t sa j)) (fun _ => t lo j)); last exact:
      measurable_const.
    by apply: measurable_min; [apply: measurable_fill | apply: measurable_const].
  exact: measurable_const.
have Fps j : measurable (ps j).
  apply: (@measurable_sub _ _ (fun y => Num.min (t (k' y) j) (t sa j)) (fun _ => t lo j)); last exact:
    measurable_const.
  by apply: measurable_min; [apply: measurable_test | apply: measurable_const].
have ph0 j x : 0 <= ph j x by rewrite subr_ge0 le_maxr lexx orbT.
have ps0 j y : 0 <= ps j y.
  by rewrite subr_ge0 le_minr tt andbT; apply: test_le.
have phM j x : ph j x <= M j by rewrite ler_add2r le_maxl tt andbT le_minl lexx orbT.
have mono (j : 'I_n) x y : 0 < a j -> near1 x y -> ph j x <= ps j y.
  move=> aj xy; rewrite ler_add2r le_maxl !le_minr !le_minl lexx orbT andbT tt andbT.
  by rewrite fill_test //=; [apply: test_le | apply: held].
have kx x : k x <= T lo + \sum_(j < n) a j * ph j x.
  rewrite /power -addrA -big_split /=; apply: (le_trans (fill_sum N (k1 x))).
  rewrite ler_add2l; apply: ler_sum => j _; rewrite -mulrDr /ph addrC subrK.
  case: (ltP 0 (a j)) => aj; last first.
    have -> : a j = 0 by apply/eqP; rewrite eq_le aj a0.
    by rewrite !mul0r.
  apply: ler_wpmul2l; first exact: ltW.
  rewrite le_maxr; apply/orP; left; rewrite le_minr lexx /=.
  apply: le_trans (fill_power sa (ltn_ord j) aj); apply: fill_le; by rewrite Tsa.
have ky y : lo + \sum_(j < n) b j * ps j y <= k' y.
  rewrite -{1}(topow lo lo0 lo1) -big_split /= -[X in _ <= X](topow _ (k'0 y) (k'1 y)).
  apply: ler_sum => j _; rewrite -mulrDr /ps addrC subrK; apply: ler_wpmul2l => //.
  by rewrite le_minl lexx.
have EP : expect P k <= T lo + \sum_(j < n) a j * expect P (ph j).
  by rewrite -(expect_line P (T lo) n a Fph); apply: expect_le => //; apply: measurable_line.
have EQ : lo + \sum_(j < n) b j * expect Q (ps j) <= expect Q k'.
  by rewrite -(expect_line Q lo n b Fps); apply: expect_le => //; apply: measurable_line.
have each (j : 'I_n) : a j * expect P (ph j) - g * (b j * expect Q (ps j)) <=
    M j * \sum_i pos (p i * a j - g * q i * b j).
  case: (ltP 0 (a j)) => aj; last first.
    have -> : a j = 0 by apply/eqP; rewrite eq_le aj a0.
    rewrite mul0r sub0r; apply: (@le_trans _ _ 0).
      by rewrite oppr_le0 !mulr_ge0 //; apply: expect_ge0.
    by apply: mulr_ge0 => //; apply: sumr_ge0 => i _; apply: pos_ge0.
  have H := atom_cost costX g0 (b0' j) aj (M0 j) (Fph j) (Fps j) (ph0 j) (phM j) (ps0 j) (fun x y => @mono j x y
    aj).
  apply: (le_trans H); apply: ler_wpmul2l => //.
  have gj : 0 <= g * b j / a j by apply: divr_ge0 => //; apply: mulr_ge0.
  apply: (le_trans (ler_wpmul2l (ltW aj) (pq gj))); rewrite mulr_sumr; apply: ler_sum => i _.
  rewrite pos_scale; last exact: ltW.
  suff -> : a j * (p i - g * b j / a j * q i) = p i * a j - g * q i * b j by exact: lexx.
  have -> : a j * (p i - g * b j / a j * q i) = p i * a j - (a j / a j) * (g * q i * b j) by ring.
  by rewrite divff ?gt_eqF // mul1r.
have total : expect P k - g * expect Q k' <=
    (T lo - g * lo) + \sum_(j < n) M j * \sum_i pos (p i * a j - g * q i * b j).
  apply: (le_trans (ler_sub EP (ler_wpmul2l g0 EQ))).
  have -> : T lo + \sum_(j < n) a j * expect P (ph j) - g * (lo + \sum_(j < n) b j * expect Q (ps j)) =
    (T lo - g * lo) + \sum_(j < n) (a j * expect P (ph j) - g * (b j * expect Q (ps j))).
    have -> : \sum_(j < n) (a j * expect P (ph j) - g * (b j * expect Q (ps j))) =
      \sum_(j < n) a j * expect P (ph j) - g * \sum_(j < n) b j * expect Q (ps j).
      by rewrite sumrB mulr_sumr.
    move: (T lo) (\sum_(j < n) a j * _) (\sum_(j < n) b j * _) => Z1 Z2 Z3; ring.
  by rewrite ler_add2l; apply: ler_sum => j _; apply: each.
apply: (le_trans total).
have start : T lo - g * lo <= \sum_i (p i * T lo - g * q i * lo).
  rewrite sumrB -!mulr_suml -mulr_sumr; apply: ler_sub.
    by apply: ler_pemull => //; apply: power_ge0.
  by rewrite -mulrA mulrCA; apply: ler_pimull => //; apply: mulr_ge0.
have swap : \sum_(j < n) M j * (\sum_i pos (p i * a j - g * q i * b j)) =
    \sum_i \sum_(j < n) M j * pos (p i * a j - g * q i * b j).
  by rewrite exchange_big /=; apply: eq_bigr => j _; rewrite mulr_sumr.
rewrite swap; apply: (le_trans (ler_add start (lexx _))); rewrite -big_split /=.
apply: ler_sum => i _.
pose e j : R := (0 < p i * a j - g * q i * b j)%R%:R.
pose tau j := t lo j + e j * M j.
have e01 j : 0 <= e j /\ e j <= 1 by rewrite /e; case: (_ < _)%R; rewrite ?ler01 ?lexx.
have tau0 j : 0 <= tau j by apply: addr_ge0; [exact: test_ge0 | apply: mulr_ge0 => //; case: (e01 j)].
have tauhi j : tau j <= t sa j.
  rewrite /tau -ler_subr_addl -/(M j); apply: ler_pimull => //; by case: (e01 j).
have taulo j : t lo j <= tau j by rewrite ler_addl; apply: mulr_ge0 => //; case: (e01 j).
have tau1 j : tau j <= 1 by apply: le_trans (tauhi j) (test_le1 N sa j).
have posE j : M j * pos (p i * a j - g * q i * b j) = p i * a j * (e j * M j) - g * q i * b j * (e j * M j).
  rewrite /e; case: (ltP 0 (p i * a j - g * q i * b j)) => s.
    by rewrite pos_id 1?ltW // mul1r -mulrBl mulrC.
  by rewrite pos_0 // mulr0 !mul0r !mulr0 subrr.
have -> : p i * T lo - g * q i * lo + \sum_(j < n) M j * pos (p i * a j - g * q i * b j) =
    p i * (c + \sum_(j < n) a j * tau j) - g * q i * (\sum_(j < n) b j * tau j).
  rewrite (eq_bigr _ (fun (j : 'I_n) _ => posE j)) sumrB.
  have -> : \sum_(j < n) a j * tau j = \sum_(j < n) a j * t lo j + \sum_(j < n) a j * (e j * M j).
    by rewrite -big_split /=; apply: eq_bigr => j _; rewrite -mulrDr.
  have -> : \sum_(j < n) b j * tau j = lo + \sum_(j < n) b j * (e j * M j).
    by rewrite -[X in _ = X + _](topow lo lo0 lo1) -big_split /=; apply: eq_bigr => j _; rewrite -mulrDr.
  have -> : \sum_(j < n) p i * a j * (e j * M j) = p i * \sum_(j < n) a j * (e j * M j).
    by rewrite mulr_sumr; apply: eq_bigr => j _; rewrite -mulrA.
  have -> : \sum_(j < n) g * q i * b j * (e j * M j) = g * q i * \sum_(j < n) b j * (e j * M j).
    by rewrite mulr_sumr; apply: eq_bigr => j _; rewrite -mulrA.
  rewrite /power; move: (\sum_(j < n) a j * t lo j) (\sum_(j < n) a j * (e j * M j)) (\sum_(j < n) b j * (e j *
    M j)) => Z1 Z2 Z3.
  by ring.
apply: far_part => //.
- rewrite -Tsa /power ler_add2l; apply: ler_sum => j _; exact: ler_wpmul2l.
- rewrite -{1}(topow lo lo0 lo1); apply: ler_sum => j _; exact: ler_wpmul2l.
Qed.

(* The rule. *)
Theorem contract : divergence_le near2 (after P K) (after Q K') contracted.
Proof.
move=> g g0 S S' FS FS' SS'; rewrite !probability_after.
set k := fun x => probability (K x) S; set k' := fun y => probability (K' y) S'.
have Fk : measurable k by exact: measurable_from.
have Fk' : measurable k' by exact: measurable_from.
have k0 x : 0 <= k x by exact: probability_ge0.
have k1 x : k x <= 1 by exact: probability_le1.
have k'0 y : 0 <= k' y by exact: probability_ge0.
have k'1 y : k' y <= 1 by exact: probability_le1.
have held x y : near1 x y -> forall r, 0 <= r -> k x - r * k' y <= value N r.
  by move=> xy r r0; apply: (costN xy r0).
have far x y r : 0 <= r -> k x - r * k' y <= F r by move=> r0; apply: (@costF x y).
case: (ltP 0 A) => AA; last first.
  have H := @contract_functions k k' 1 0 g Fk Fk' k1 (lexx _) ler01 (lexx _) k'0 k'1 held g0.
  apply: (le_trans H); rewrite /contracted ltNge AA /= ler_add2l mulr1 mulr0 subr0.
  exact: AA.
set r := g * B / A; have r0 : 0 <= r by rewrite divr_ge0 ?mulr_ge0.
rewrite leNgt; apply/negP => lt.
set gap := expect P k - g * expect Q k' - contracted g.
have gap0 : 0 < gap by rewrite subr_gt0.
pose d := gap / (2%:R * (A * (1 + r))).
have den : 0 < 2%:R * (A * (1 + r)).
  by rewrite mulr_gt0 ?ltr0n // mulr_gt0 // ltr_paddr.
have d0 : 0 < d by rewrite divr_gt0.
suff : false by [].
apply: (some_point P) => x0; apply: (some_point Q) => y0.
apply: (near_supremum (k := k) x0 k0 k1 d0) => xs top.
have k''0 y : 0 <= 1 - k' y by rewrite subr_ge0.
have k''1 y : 1 - k' y <= 1 by rewrite ler_subl_addl ler_addr.
apply: (near_supremum (k := fun y => 1 - k' y) y0 k''0 k''1 d0) => ys bottom.
pose hi := Num.min (k xs + d) 1; pose lo := Num.max (k' ys - d) 0.
have lo_le y : lo <= k' y.
  rewrite le_maxl k'0 andbT -subr_ge0; have H0 := bottom y; rewrite -subr_ge0 in H0.
  by apply: (le_trans H0); rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
have hi_ge x : k x <= hi by rewrite le_minr top k1.
have hi1 : hi <= 1 by rewrite le_minl lexx orbT.
have hi0 : 0 <= hi by apply: le_trans (k0 x0) (hi_ge x0).
have lo0 : 0 <= lo by rewrite le_maxr lexx orbT.
have H := @contract_functions k k' hi lo g Fk Fk' hi_ge hi1 hi0 lo0 lo_le k'1 held g0.
have hf : A * hi - g * B * lo <= A * F r + A * (d * (1 + r)).
  have -> : g * B = A * r by rewrite /r mulrCA divff ?gt_eqF // mulr1.
  rewrite -mulrA -mulrBr -mulrDr; apply: ler_wpmul2l => //.
  have lo1 : k' ys - d <= lo by rewrite le_maxr lexx.
  have hi2 : hi <= k xs + d by rewrite le_minl lexx.
  apply: (le_trans (ler_sub hi2 (ler_wpmul2l r0 lo1))).
  have -> : k xs + d - r * (k' ys - d) = (k xs - r * k' ys) + d * (1 + r) by ring.
  by rewrite ler_add2r far.
have {}H : gap <= A * (d * (1 + r)).
  rewrite /gap ler_subl_addl /contracted AA -/r -addrA; apply: (le_trans H).
  by rewrite ler_add2l.
have E : A * (d * (1 + r)) = gap / 2%:R.
  have ne : A * (1 + r) != 0 by rewrite gt_eqF // mulr_gt0 // ltr_paddr // ltr01.
  have -> : A * (d * (1 + r)) = d * (A * (1 + r)) by ring.
  by rewrite /d invfM [gap * _]mulrA divfK.
by move: H; rewrite E ler_pdivl_mulr ?ltr0n // mulr_natr mulr2n ger_addl leNgt gap0.
Qed.
End Contract.
