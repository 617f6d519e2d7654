(* Tables: profiles of finitely many atoms, their power at a given size, and the Neyman-Pearson lemma.

   Python: symbolic/kernel/profiles.py, Atoms (a pair (y, m) is an atom with mass2 = m and mass1 = y m), and the
   conditions of `sound` for it.  Page: docs/proofs/contraction.md, "Tables"; power: docs/proofs/enlarged_sets.md. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Table.
Variable R : realFieldType.
Definition pos (a : R) := Num.max a 0.
Lemma pos_ge0 (x : R) : 0 <= pos x. Proof. by rewrite /pos le_maxr lexx orbT. Qed.
Lemma pos_ge (x : R) : x <= pos x. Proof. by rewrite /pos le_maxr lexx. Qed.
Lemma pos_scale (s x : R) : 0 <= s -> s * pos x = pos (s * x).
Proof. by move=> s0; rewrite /pos maxr_pmulr // mulr0. Qed.
Lemma pos_id (x : R) : 0 <= x -> pos x = x. Proof. by move=> x0; rewrite /pos; apply/max_idPl. Qed.
Lemma pos_0 (x : R) : x <= 0 -> pos x = 0. Proof. by move=> x0; rewrite /pos; apply/max_idPr. Qed.
Lemma pos_le (x y : R) : x <= y -> pos x <= pos y.
Proof. by move=> xy; rewrite /pos le_maxl !le_maxr xy lexx orbT. Qed.

(* Atoms j of mass1 under run 1 and of mass2 under run 2, in order of falling likelihood ratio mass1 / mass2, and
   the mass `rest` of run 1 where run 2 has none.  Both laws have mass 1. *)
Record table := Table {
  node_count : nat; rest : R; mass1 : nat -> R; mass2 : nat -> R;
  rest_ge0 : 0 <= rest;
  mass1_ge0 : forall j, 0 <= mass1 j;
  mass2_gt0 : forall j, 0 < mass2 j;
  mass2_sum : \sum_(j < node_count) mass2 j = 1;
  mass1_sum : rest + \sum_(j < node_count) mass1 j = 1;
  falling : forall i j, (i <= j)%N -> mass1 j * mass2 i <= mass1 i * mass2 j }.
(* The profile of a table: rest + sum of (mass1 - r mass2)_+. *)
Definition value (N : table) (r : R) := rest N + \sum_(j < node_count N) pos (mass1 N j - r * mass2 N j).

Variable N : table.
Local Notation n := (node_count N). Local Notation c := (rest N).
Local Notation a := (mass1 N). Local Notation b := (mass2 N).
Local Notation profile := (value N).
Let c0 : 0 <= c := rest_ge0 N.
Let a0 : forall j, 0 <= a j := mass1_ge0 N.
Let b0 : forall j, 0 < b j := mass2_gt0 N.
Let b1 : \sum_(j < n) b j = 1 := mass2_sum N.
Let ac1 : c + \sum_(j < n) a j = 1 := mass1_sum N.
Let sorted : forall i j, (i <= j)%N -> a j * b i <= a i * b j.
Proof. exact: falling. Qed.

(* The test of size s takes atoms in order until run 2 has given it the mass s; test s j is its share of atom j.
   Its power is its probability under run 1, with the rest. *)
Definition cum2 j := \sum_(i < j) b i.
Definition test (s : R) j := pos (Num.min s (cum2 j.+1) - cum2 j) / b j.
Definition power (s : R) := c + \sum_(j < n) a j * test s j.

Lemma cum20 : cum2 0 = 0. Proof. by rewrite /cum2 big_ord0. Qed.
Lemma cum2S j : cum2 j.+1 = cum2 j + b j. Proof. by rewrite /cum2 big_ord_recr. Qed.
Lemma cum2_le i j : (i <= j)%N -> cum2 i <= cum2 j.
Proof.
elim: j => [|j IH]; first by rewrite leqn0 => /eqP ->.
rewrite leq_eqVlt => /orP [/eqP -> // | ]; rewrite ltnS => /IH le.
by rewrite cum2S; apply: (le_trans le); rewrite ler_addl ltW.
Qed.
Lemma cum2_ge0 j : 0 <= cum2 j. Proof. by rewrite -cum20 cum2_le. Qed.

Lemma min_sub (s x y : R) : x <= y -> pos (Num.min s y - x) = Num.min s y - Num.min s x.
Proof.
move=> xy; case: (leP s x) => sx.
  by rewrite (min_idPl (le_trans sx xy)) subrr pos_0 // subr_le0.
by rewrite pos_id // subr_ge0 le_minr xy ltW.
Qed.

Lemma test_le s t j : s <= t -> test s j <= test t j.
Proof.
move=> st; rewrite /test; apply: ler_wpmul2r; first by rewrite invr_ge0 ltW.
apply: pos_le; rewrite ler_add2r.
by rewrite le_minr !le_minl st lexx orbT.
Qed.
Lemma test_ge0 s j : 0 <= test s j.
Proof. by rewrite /test divr_ge0 ?pos_ge0 ?ltW. Qed.
Lemma test_full s j : cum2 j.+1 <= s -> test s j = 1.
Proof.
move=> le; rewrite /test (min_idPr le) cum2S addrAC subrr add0r pos_id ?ltW //.
by rewrite divff // gt_eqF.
Qed.
Lemma test_none s j : s <= cum2 j -> test s j = 0.
Proof. by move=> le; rewrite /test pos_0 ?mul0r // subr_le0 le_minl le. Qed.
Lemma test_le1 s j : test s j <= 1.
Proof.
rewrite -(@test_full (Num.max s (cum2 j.+1)) j) ?le_maxr ?lexx ?orbT //.
by apply: test_le; rewrite le_maxr lexx.
Qed.

Lemma size_test s : 0 <= s -> s <= 1 -> \sum_(j < n) b j * test s j = s.
Proof.
move=> s0 s1.
have E m : \sum_(j < m) b j * test s j = Num.min s (cum2 m).
  elim: m => [|m IH]; first by rewrite big_ord0 cum20; apply/esym/min_idPr.
  rewrite big_ord_recr /= IH /test mulrCA divff ?gt_eqF // mulr1 min_sub ?cum2_le //.
  by rewrite addrC subrK.
by rewrite E -/(cum2 n); apply/min_idPl; rewrite /cum2 b1.
Qed.

Lemma power_le s t : s <= t -> power s <= power t.
Proof.
move=> st; rewrite /power ler_add2l; apply: ler_sum => j _.
by apply: ler_wpmul2l => //; apply: test_le.
Qed.
Lemma power1 : power 1 = 1.
Proof.
rewrite /power -[RHS]ac1; congr (_ + _); apply: eq_bigr => j _.
by rewrite test_full ?mulr1 // -b1 -/(cum2 n) cum2_le.
Qed.
Lemma power_ge0 s : 0 <= power s.
Proof. by apply: addr_ge0 => //; apply: sumr_ge0 => j _; rewrite mulr_ge0 ?test_ge0. Qed.

(* The atom at which the test of size s stops. *)
Lemma atom_at s : 0 <= s -> s <= 1 -> exists m, [/\ (m < n)%N, cum2 m <= s & s <= cum2 m.+1].
Proof.
move=> s0 s1.
have [z nN] : exists k, n = k.+1.
  case: n b1 => [|k _]; last by exists k.
  by rewrite big_ord0 => /eqP; rewrite eq_sym oner_eq0.
have ex : exists m, s <= cum2 m.+1 by exists z; rewrite -nN /cum2 b1.
case: (ex_minnP ex) => m sm least; exists m; split => //.
  by rewrite nN ltnS; apply: least; rewrite -nN /cum2 b1.
case: m sm least => [|m] sm least; first by rewrite cum20.
by rewrite leNgt; apply/negP => lt; have := least m (ltW lt); rewrite ltnn.
Qed.

(* Neyman-Pearson: T_f(s) = inf over r >= 0 of f(r) + r s is at most the power of the test of size s. *)
Lemma neyman_pearson k s : 0 <= s -> s <= 1 ->
  (forall r, 0 <= r -> k <= profile r + r * s) -> k <= power s.
Proof.
move=> s0 s1 H; have [m [mn cm cm1]] := atom_at s0 s1.
pose r := a m / b m.
have r0 : 0 <= r by rewrite divr_ge0 // ltW.
apply: (le_trans (H r r0)); rewrite /profile /power -addrA ler_add2l.
rewrite -{1}(size_test s0 s1) mulr_sumr -big_split /=; apply: ler_sum => j _.
have rb : r * b m = a m by rewrite /r divfK // gt_eqF.
have cross i : (r * b i <= a i) = (a m * b i <= a i * b m).
  by rewrite /r mulrAC ler_pdivr_mulr.
have cross' i : (a i <= r * b i) = (a i * b m <= a m * b i).
  by rewrite /r mulrAC ler_pdivl_mulr.
case: (ltngtP j m) => jm.
- rewrite test_full; last by apply: le_trans cm; apply: cum2_le.
  by rewrite !mulr1 pos_id ?subr_ge0 ?subrK // cross sorted // ltnW.
- rewrite test_none; last by apply: (le_trans cm1); apply: cum2_le.
  by rewrite !mulr0 addr0 pos_0 // subr_le0 cross' sorted // ltnW.
- by rewrite jm rb subrr pos_0 // add0r mulrA rb.
Qed.

(* Every number between the powers at the sizes 0 and 1 is the power of a test. *)
Lemma power_onto k : c <= k -> k <= 1 -> exists s, [/\ 0 <= s, s <= 1 & power s = k].
Proof.
move=> ck k1.
pose cp j := c + \sum_(i < j) a i.
have cpS j : cp j.+1 = cp j + a j by rewrite /cp big_ord_recr addrA.
have powercum m : (m <= n)%N -> power (cum2 m) = cp m.
  move=> mn; rewrite /power /cp (big_ord_widen _ _ mn) [in RHS]big_mkcond /=.
  congr (_ + _); apply: eq_bigr => j _; case: ltnP => jm.
    by rewrite test_full ?mulr1 // cum2_le.
  by rewrite test_none ?mulr0 // cum2_le.
have [z nN] : exists q, n = q.+1.
  case: n b1 => [|q _]; last by exists q.
  by rewrite big_ord0 => /eqP; rewrite eq_sym oner_eq0.
have ex : exists m, k <= cp m.+1 by exists z; rewrite -nN /cp ac1.
case: (ex_minnP ex) => m km least.
have mn : (m < n)%N by rewrite nN ltnS; apply: least; rewrite -nN /cp ac1.
have cpm : cp m <= k.
  case: m km least mn => [|m] km least mn; first by rewrite /cp big_ord0 addr0.
  by rewrite leNgt; apply/negP => lt; have := least m (ltW lt); rewrite ltnn.
have cm1 j : (j <= n)%N -> cum2 j <= 1 by move=> jn; rewrite -b1 -/(cum2 n) cum2_le.
case: (eqVneq (a m) 0) => am.
  exists (cum2 m); split; rewrite ?cum2_ge0 ?cm1 1?ltnW // powercum 1?ltnW //.
  by apply/eqP; rewrite eq_le cpm /=; move: km; rewrite cpS am addr0.
have am0 : 0 < a m by rewrite lt_neqAle eq_sym am a0.
pose w := (k - cp m) / a m.
have w0 : 0 <= w by rewrite divr_ge0 // subr_ge0.
have w1 : w <= 1 by rewrite ler_pdivr_mulr // mul1r ler_subl_addl -cpS.
pose s := cum2 m + w * b m.
have sm : cum2 m <= s by rewrite ler_addl mulr_ge0 // ltW.
have sm1 : s <= cum2 m.+1 by rewrite cum2S ler_add2l ger_pmull.
exists s; split; [exact: le_trans (cum2_ge0 m) sm | exact: le_trans sm1 (cm1 _ mn) |].
have E j : (j < n)%N -> a j * test s j = a j * test (cum2 m) j + (j == m)%:R * (w * a j).
  move=> jn; case: (ltngtP j m) => jm.
  - by rewrite !test_full ?mul0r ?addr0 ?cum2_le // (le_trans _ sm) // cum2_le.
  - by rewrite !test_none ?mul0r ?addr0 ?cum2_le 1?ltnW // (le_trans sm1) // cum2_le.
  - rewrite jm (test_none (lexx _)) mulr0 add0r mul1r /test (min_idPl sm1).
    have -> : s - cum2 m = w * b m by rewrite /s addrAC subrr add0r.
    have -> : pos (w * b m) = w * b m by apply/pos_id/mulr_ge0 => //; apply: ltW.
    by rewrite mulfK ?gt_eqF // mulrC.
rewrite /power (eq_bigr (fun j : 'I_n => a j * test (cum2 m) j + (val j == m)%:R * (w * a j))); last first.
  by move=> j _; apply: E.
rewrite big_split /= addrA -/(power (cum2 m)) powercum 1?ltnW //.
rewrite (bigD1 (Ordinal mn)) //= eqxx mul1r big1 ?addr0; last first.
  by move=> j; rewrite -val_eqE /= => /negbTE ->; rewrite mul0r.
by rewrite /w divfK // addrC subrK.
Qed.

(* The same by power: the share of atom j in the test of power k. *)
Definition cum1 j := c + \sum_(i < j) a i.
Definition fill (k : R) j := pos (Num.min k (cum1 j.+1) - cum1 j) / a j.
Lemma cum1S j : cum1 j.+1 = cum1 j + a j. Proof. by rewrite /cum1 big_ord_recr addrA. Qed.
Lemma cum1_le i j : (i <= j)%N -> cum1 i <= cum1 j.
Proof.
elim: j => [|j IH]; first by rewrite leqn0 => /eqP ->.
rewrite leq_eqVlt => /orP [/eqP -> // | ]; rewrite ltnS => /IH le.
by rewrite cum1S; apply: (le_trans le); rewrite ler_addl.
Qed.
Lemma fill_ge0 k j : 0 <= fill k j. Proof. by rewrite divr_ge0 ?pos_ge0. Qed.
Lemma fill_le k l j : k <= l -> fill k j <= fill l j.
Proof.
move=> kl; apply: ler_wpmul2r; first by rewrite invr_ge0.
by apply: pos_le; rewrite ler_add2r le_minr !le_minl kl lexx orbT.
Qed.
Lemma fill_le1 k j : fill k j <= 1.
Proof.
case: (eqVneq (a j) 0) => aj; first by rewrite /fill aj invr0 mulr0 ler01.
have aj0 : 0 < a j by rewrite lt_neqAle eq_sym aj a0.
rewrite ler_pdivr_mulr // mul1r /pos le_maxl a0 andbT ler_subl_addl -cum1S.
by rewrite le_minl lexx orbT.
Qed.
Lemma fill_sum k : k <= 1 -> k <= c + \sum_(j < n) a j * fill k j.
Proof.
move=> k1.
have E m : \sum_(j < m) a j * fill k j = Num.min k (cum1 m) - Num.min k (cum1 0).
  elim: m => [|m IH]; first by rewrite big_ord0 subrr.
  rewrite big_ord_recr /= IH /fill.
  have -> : a m * (pos (Num.min k (cum1 m.+1) - cum1 m) / a m) = pos (Num.min k (cum1 m.+1) - cum1 m).
    case: (eqVneq (a m) 0) => am; last by rewrite mulrCA divff // mulr1.
    rewrite am mul0r cum1S am addr0; apply/esym/pos_0.
    by rewrite subr_le0 le_minl lexx orbT.
  by rewrite min_sub ?cum1_le // addrC addrA subrK.
have e1 : Num.min k (cum1 n) = k by apply/min_idPl; rewrite /cum1 ac1.
rewrite E e1 addrCA ler_addl subr_ge0 {1}/cum1 big_ord0 addr0.
by rewrite le_minl lexx orbT.
Qed.
Lemma fill_power s j : (j < n)%N -> 0 < a j -> fill (power s) j <= test s j.
Proof.
move=> jn aj; case: (leP s (cum2 j.+1)) => sj; last by rewrite (test_full (ltW sj)) fill_le1.
rewrite /fill ler_pdivr_mulr // /pos le_maxl mulr_ge0 ?test_ge0 // andbT.
apply: (@le_trans _ _ (power s - cum1 j)); first by rewrite ler_add2r le_minl lexx.
rewrite ler_subl_addl /power /cum1 -addrA ler_add2l.
rewrite (bigID (fun i : 'I_n => (i < j)%N)) /=; apply: ler_add.
  rewrite (big_ord_widen _ _ (ltnW jn)); apply: ler_sum => i _.
  by rewrite ler_pimulr // test_le1.
rewrite (bigD1 (Ordinal jn)) /= ?ltnn // big1 ?addr0; first by rewrite mulrC.
move=> i /andP [ij ne]; rewrite test_none ?mulr0 //; apply: (le_trans sj); apply: cum2_le.
by rewrite ltn_neqAle leqNgt ij andbT eq_sym; apply: contra ne => /eqP e; apply/eqP/val_inj.
Qed.

(* What the chain rule needs: if k - r s <= f(r) for all r >= 0, the test of power k takes at most as much of each
   atom as the test of size s. *)
Lemma fill_test k s j : (j < n)%N -> 0 < a j -> 0 <= s -> s <= 1 ->
  (forall r, 0 <= r -> k - r * s <= profile r) -> fill k j <= test s j.
Proof.
move=> jn aj s0 s1 H; apply: le_trans (fill_power s jn aj); apply: fill_le.
by apply: neyman_pearson => // r r0; rewrite -ler_subl_addr; apply: H.
Qed.
End Table.
