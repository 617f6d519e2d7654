(* Renyi moments of whole order, and the conversion to delta.

   Python: symbolic/kernel/renyi.py (M is multiplicative under composition; here for whole orders and finitely many
   atoms).  Page: docs/proofs/privacy_loss.md. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
From lastiterate Require Import laws tables rules composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Moments.
Variable R : archiFieldType.

(* The sum of y^n m over the atoms, with y = p / q and m = q: exp((n - 1) D_n). *)
Definition moment n (f : atoms R) := \sum_(x <- pairs f) (x.1 / x.2) ^+ n * x.2.
(* The moments of a composition multiply. *)
Theorem moment_compose n f h : moment n (product f h) = moment n f * moment n h.
Proof.
rewrite /moment sum_product /= mulr_suml; apply: eq_bigr => x _; rewrite mulr_sumr; apply: eq_bigr => y _.
by rewrite invfM [x.1 * y.1 * _]mulrACA exprMn mulrACA.
Qed.
Lemma moment_neutral n : moment n (neutral R) = 1.
Proof. by rewrite /moment /= big_cons big_nil addr0 invr1 !mulr1 expr1n. Qed.

Lemma bernoulli n (t : R) : 0 <= t -> 1 + n%:R * (t - 1) <= t ^+ n.
Proof.
move=> t0; elim: n => [|n IH]; first by rewrite mul0r addr0 expr0.
rewrite exprS; apply: (@le_trans _ _ (t * (1 + n%:R * (t - 1)))); last by apply: ler_wpmul2l.
rewrite -subr_ge0; have -> : t * (1 + n%:R * (t - 1)) - (1 + n.+1%:R * (t - 1)) = n%:R * (t - 1) ^+ 2.
  by rewrite -[n.+1]addn1 natrD; ring.
by rewrite mulr_ge0 ?ler0n // sqr_ge0.
Qed.

(* (y - g)_+ is at most a multiple of y^(n+1). *)
Lemma tail n (y g : R) : (0 < n)%N -> 0 <= y -> 0 < g ->
  pos (y - g) * (n.+1%:R ^+ n.+1 * g ^+ n) <= n%:R ^+ n * y ^+ n.+1.
Proof.
move=> n0 y0 g0; have a0 : 0 < n.+1%:R :> R by rewrite ltr0n.
have nR : 0 < n%:R :> R by rewrite ltr0n.
case: (leP (y - g) 0) => s.
  by rewrite pos_0 // mul0r mulr_ge0 // exprn_ge0 // ler0n.
rewrite pos_id ?(ltW s) //; pose t := n%:R * y / (n.+1%:R * g).
have ag : 0 < n.+1%:R * g by rewrite mulr_gt0.
have t0 : 0 <= t by rewrite divr_ge0 ?mulr_ge0 ?ler0n // ltW.
have B := bernoulli n.+1 t0.
have yt : n%:R * y = t * (n.+1%:R * g) by rewrite /t divfK // gt_eqF.
have E : n%:R * (n%:R ^+ n * y ^+ n.+1) = (t * (n.+1%:R * g)) ^+ n.+1.
  by rewrite -yt exprMn mulrA -exprS.
rewrite -(ler_pmul2l nR) E exprMn.
have E2 : n%:R * ((y - g) * (n.+1%:R ^+ n.+1 * g ^+ n)) = (1 + n.+1%:R * (t - 1)) * (n.+1%:R * g) ^+ n.+1.
  rewrite exprMn [g ^+ n.+1]exprS.
  have -> : (1 + n.+1%:R * (t - 1)) * (n.+1%:R ^+ n.+1 * (g * g ^+ n)) =
    (t * (n.+1%:R * g) - (n.+1%:R - 1) * g) * (n.+1%:R ^+ n.+1 * g ^+ n) by ring.
  rewrite -yt.
  have -> : n.+1%:R - 1 = n%:R :> R by rewrite -addn1 natrD addrK.
  ring.
by rewrite E2; apply: ler_wpmul2r => //; rewrite exprn_ge0 // ltW.
Qed.
(* delta <= M_a g^(1 - a) (a - 1)^(a - 1) / a^a for a = n + 1 >= 2, if run 1 has no mass where run 2 has none. *)
Theorem moment_to_delta n f g : (0 < n)%N -> sound f -> beyond f = 0 -> 0 < g ->
  atoms_value f g * (n.+1%:R ^+ n.+1 * g ^+ n) <= n%:R ^+ n * moment n.+1 f.
Proof.
move=> n0 [_ pf _ _] c0 g0; rewrite /atoms_value c0 add0r /moment mulr_suml mulr_sumr big_seq [X in _ <=
  X]big_seq.
apply: ler_sum => x /pf [x1 x2].
have -> : pos (x.1 - g * x.2) = x.2 * pos (x.1 / x.2 - g).
  rewrite pos_scale ?(ltW x2) //; congr pos; rewrite mulrBr mulrCA divff ?mulr1 ?gt_eqF //.
  by rewrite [x.2 * g]mulrC.
rewrite -mulrA [X in _ <= X]mulrA [X in _ <= X]mulrC ler_pmul2l //.
by apply: tail => //; rewrite divr_ge0 // ltW.
Qed.

(* ---- The moment increases with the profile: on finitely many points y^n is a mean of lines and of functions
   (y - g)_+, and masses and mean ratios are the same for all profiles. ---- *)
Lemma tangent n (a y : R) : 0 <= a -> 0 <= y -> a ^+ n + n%:R * a ^+ n.-1 * (y - a) <= y ^+ n.
Proof.
move=> a0 y0; elim: n => [|[|n] IH]; first by rewrite !expr0 mul0r mul0r addr0.
  by rewrite !expr1 expr0 !mul1r addrCA subrr addr0.
rewrite [y ^+ _]exprS; apply: le_trans (ler_wpmul2l y0 IH); rewrite -subr_ge0 /=.
have -> : y * (a ^+ n.+1 + n.+1%:R * a ^+ n * (y - a)) - (a ^+ n.+2 + n.+2%:R * a ^+ n.+1 * (y - a)) =
    n.+1%:R * a ^+ n * (y - a) ^+ 2.
  by rewrite [a ^+ n.+2]exprS [a ^+ n.+1]exprS -[n.+2]addn1 natrD; ring.
by apply: mulr_ge0; [apply: mulr_ge0; rewrite ?ler0n ?exprn_ge0 | apply: sqr_ge0].
Qed.
Definition broken (c0 c1 : R) (ks : seq (R * R)) y := c0 + c1 * y + \sum_(k <- ks) k.1 * pos (y - k.2).
Lemma interpolate n (zs : seq R) : path <%R 0 zs -> exists c0 c1 ks,
  [/\ forall k, k \in ks -> 0 <= k.1 /\ 0 <= k.2,
      forall y, y \in 0 :: zs -> broken c0 c1 ks y = y ^+ n,
      forall y, y \in 0 :: zs -> 0 <= y /\ y <= last 0 zs &
      exists2 b, b <= n%:R * last 0 zs ^+ n.-1 &
        forall y, last 0 zs <= y -> broken c0 c1 ks y = last 0 zs ^+ n + b * (y - last 0 zs)].
Proof.
elim/last_ind: zs => [_|zs z IH].
  exists (0 ^+ n), (n%:R * 0 ^+ n.-1), [::]; split=> //.
  - by move=> y; rewrite inE => /eqP ->; rewrite /broken big_nil mulr0 !addr0.
  - by move=> y; rewrite inE => /eqP ->.
  - by exists (n%:R * 0 ^+ n.-1) => // y _; rewrite /broken big_nil addr0 subr0.
rewrite rcons_path last_rcons => /andP [up lt]; have [c0 [c1 [ks [pos_ks at_ below [b bn beyond_]]]]] := IH up.
set z0 := last 0 zs in lt below bn beyond_.
have z00 : 0 <= z0 by case: (below z0 (mem_last _ _)).
have z_0 : 0 <= z by apply: le_trans z00 (ltW lt).
have gap : 0 < z - z0 by rewrite subr_gt0.
pose s := (z ^+ n - z0 ^+ n) / (z - z0).
have sE : s * (z - z0) = z ^+ n - z0 ^+ n by rewrite divfK // gt_eqF.
have bs : b <= s.
  rewrite ler_pdivl_mulr // ler_subr_addl; apply: le_trans (tangent n z00 z_0).
  by rewrite ler_add2l ler_pmul2r.
have line y : z0 <= y -> broken c0 c1 ((s - b, z0) :: ks) y = z0 ^+ n + s * (y - z0).
  move=> le; rewrite /broken big_cons /= addrCA -/(broken c0 c1 ks y) beyond_ // pos_id ?subr_ge0 //; ring.
exists c0, c1, ((s - b, z0) :: ks); split.
- by move=> k; rewrite inE => /orP [/eqP -> |/pos_ks //]; rewrite subr_ge0.
- move=> y; rewrite -rcons_cons mem_rcons inE => /orP [/eqP -> |y_in].
    by rewrite line ?ltW // sE addrCA subrr addr0.
  have [_ le] := below y y_in.
  by rewrite /broken big_cons /= pos_0 ?subr_le0 // mulr0 add0r -(at_ y y_in).
- move=> y; rewrite -rcons_cons mem_rcons inE => /orP [/eqP -> //|y_in].
  by have [y0 le] := below y y_in; split=> //; apply: le_trans le (ltW lt).
- exists s.
    have := tangent n z_0 z00; rewrite ler_pdivr_mulr // -[z0 - z]opprB mulrN => H.
    by rewrite ler_subl_addr -ler_subl_addl.
  move=> y le; rewrite line ?(le_trans (ltW lt)) //.
  have -> : y - z0 = (z - z0) + (y - z) by rewrite [RHS]addrC addrA subrK.
  by rewrite mulrDr sE addrA [z0 ^+ n + _]addrCA subrr addr0.
Qed.
Lemma moment_of_broken n c0 c1 ks f : sound f -> beyond f = 0 ->
  (forall x, x \in pairs f -> broken c0 c1 ks (x.1 / x.2) = (x.1 / x.2) ^+ n) ->
  moment n f = c0 + c1 + \sum_(k <- ks) k.1 * atoms_value f k.2.
Proof.
move=> [_ pf sum2 sum1] none at_; rewrite none add0r in sum1.
have -> : moment n f = \sum_(x <- pairs f) (c0 * x.2 + c1 * x.1 + \sum_(k <- ks) k.1 * pos (x.1 - k.2 * x.2)).
  rewrite /moment big_seq [RHS]big_seq; apply: eq_bigr => x xf; have [x1 x2] := pf x xf.
  rewrite -(at_ x xf) /broken !mulrDl -mulrA divfK ?gt_eqF // mulr_suml; congr (_ + _); apply: eq_bigr => k _.
  by rewrite -mulrA; congr (_ * _); rewrite mulrC pos_scale ?ltW // mulrBr mulrC divfK ?gt_eqF // mulrC.
rewrite big_split /= big_split /= -!mulr_sumr sum2 sum1 !mulr1 exchange_big /=; congr (_ + _).
by apply: eq_bigr => k _; rewrite -mulr_sumr /atoms_value none add0r.
Qed.
(* renyi.py: M is monotone.  For whole orders, and laws without a mass where the other has none. *)
Theorem moment_le n f h : sound f -> sound h -> beyond f = 0 -> beyond h = 0 ->
  (forall g, 0 <= g -> atoms_value f g <= atoms_value h g) -> moment n f <= moment n h.
Proof.
move=> sf sh f0 h0 le; pose ratios := [seq x.1 / x.2 | x <- pairs f ++ pairs h].
pose zs := sort <=%R (undup [seq r <- ratios | 0 < r]).
have up : path <%R 0 zs.
  rewrite path_sortedE; last exact: lt_trans.
  rewrite sort_lt_sorted undup_uniq andbT; apply/allP => r.
  by rewrite mem_sort mem_undup mem_filter => /andP [].
have [c0 [c1 [ks [pos_ks at_ _ _]]]] := interpolate n up.
have all_at f1 : sound f1 -> {subset pairs f1 <= pairs f ++ pairs h} -> forall x, x \in pairs f1 ->
    broken c0 c1 ks (x.1 / x.2) = (x.1 / x.2) ^+ n.
  move=> [_ p1 _ _] sub x xf; have [x1 x2] := p1 x xf; apply: at_; rewrite inE.
  have r0 : 0 <= x.1 / x.2 by rewrite divr_ge0 // ltW.
  case: eqVneq => //= ne; rewrite mem_sort mem_undup mem_filter lt_neqAle eq_sym ne r0 /=.
  by apply/map_f/sub.
rewrite (moment_of_broken sf f0 (all_at f sf _)); last by move=> x; rewrite mem_cat => ->.
rewrite (moment_of_broken sh h0 (all_at h sh _)); last by move=> x; rewrite mem_cat => ->; rewrite orbT.
rewrite ler_add2l big_seq [X in _ <= X]big_seq; apply: ler_sum => k /pos_ks [k1 k2].
by apply: ler_wpmul2l => //; apply: le.
Qed.
End Moments.
