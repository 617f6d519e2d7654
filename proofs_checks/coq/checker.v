(* A checker of tables in whole numbers: what it accepts bounds every number of blocks.

   Python: proofs_checks/certificates/checker.py decides the same inequality for certificates of contraction.
   Page: docs/proofs/contraction.md, "Many blocks", one table for all lengths. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From mathcomp Require Import ring ssrZ.
From lastiterate Require Import laws tables chain contract rules induction composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Delimit Scope Z_scope with ZZ.

(* ---- The program.  A list of pairs of whole numbers are masses over one scale S. ---- *)
Section Program.
Local Open Scope Z_scope.
Definition total (f : Z * Z -> Z) (L : seq (Z * Z)) := foldr (fun x s => f x + s) 0 L.
(* Masses are nonnegative, those of run 2 are positive and add up to S, those of run 1 add up to at most S. *)
Definition good_table (S : Z) (L : seq (Z * Z)) :=
  (0 <? S) && all (fun x => (0 <=? x.1) && (0 <? x.2)) L && (total snd L =? S) && (total fst L <=? S).
(* S times the mass of run 1 where run 2 has none. *)
Definition rest_of (S : Z) L := S - total fst L.

(* m S times the value of the profile at g = n / m. *)
Definition scaled (S : Z) L (m n : Z) := m * rest_of S L + total (fun x => Z.max (m * x.1 - n * x.2) 0) L.
Definition clip (a b : Z) := Z.max 0 (Z.min a b).

(* The parts u = min(p, g1 q) and v = min(q, p / g0) for thresholds g1 = h.1 / h.2 and g0 = l.1 / l.2, rounded
   down. *)
Definition u_of (h : Z * Z) (x : Z * Z) := clip x.1 (x.2 * h.1 / h.2).
Definition v_of (l : Z * Z) (x : Z * Z) := clip x.2 (x.1 * l.2 / l.1).
(* At the node g = n / m of the table T': one contraction of T with the near cost N and the far cost F is at most T'. *)
Definition node_ok (S : Z) (T N F T' : seq (Z * Z)) (k h l : Z * Z) :=
  let n := k.1 in let m := k.2 in
  let A := rest_of S T + total (fun x => x.1 - u_of h x) T in
  let B := total (fun x => x.2 - v_of l x) T in
  total (fun x => scaled S N (m * u_of h x) (n * v_of l x)) T + scaled S F (m * A) (n * B) <=? S * scaled S T' m
    n.
Fixpoint nodes_ok S T N F T' (ks : seq (Z * Z)) (hs : seq ((Z * Z) * (Z * Z))) :=
  match ks, hs with
  | k :: ks', h :: hs' => node_ok S T N F T' k h.1 h.2 && nodes_ok S T N F T' ks' hs'
  | [::], _ => true
  | _, _ => false
  end.
Definition check_table S T N F hs := good_table S T && good_table S N && nodes_ok S T N F T T hs.
End Program.

Local Open Scope ring_scope.
(* ---- What the program accepts, in any archimedean field. ---- *)
Section Sound.
Variable R : archiFieldType.
Definition real (z : Z) : R := (int_of_Z z)%:~R.
Lemma real0 : real 0 = 0. Proof. by []. Qed.
Lemma realD x y : real (x + y)%ZZ = real x + real y.
Proof. by rewrite /real -[(x + y)%ZZ]/(x + y) rmorphD rmorphD. Qed.
Lemma realM x y : real (x * y)%ZZ = real x * real y.
Proof. by rewrite /real -[(x * y)%ZZ]/(x * y) rmorphM rmorphM. Qed.
Lemma realB x y : real (x - y)%ZZ = real x - real y.
Proof. by rewrite /real -[(x - y)%ZZ]/(x - y) rmorphB rmorphB. Qed.
Lemma real_ge0 x : (0 <= x)%ZZ -> 0 <= real x.
Proof. by case: x => [|p|p] // _; rewrite /real ler0z; case: (Pos.to_nat p). Qed.
Lemma real_gt0 x : (0 < x)%ZZ -> 0 < real x.
Proof.
case: x => [|p|p] // _; rewrite /real ltr0z /=; have := Pos2Nat.is_pos p.
by case: (Pos.to_nat p) => // /PeanoNat.Nat.lt_irrefl.
Qed.
Lemma real_le x y : (x <= y)%ZZ -> real x <= real y.
Proof. by move=> xy; rewrite -subr_ge0 -realB; apply: real_ge0; apply: Zle_minus_le_0. Qed.
Lemma real_pos x : real (Z.max x 0) = pos (real x).
Proof.
case: (Z.le_ge_cases x 0) => c.
  by rewrite Z.max_r // pos_0 // -real0; apply: real_le.
by rewrite Z.max_l // pos_id //; apply: real_ge0.
Qed.
Lemma real_total f L : real (total f L) = \sum_(x <- L) real (f x).
Proof. by elim: L => [|x L IH]; rewrite ?big_nil // big_cons /= realD IH. Qed.

(* The atoms for which a list stands. *)
Definition atoms_of (S : Z) (L : seq (Z * Z)) : atoms R :=
  Atoms (real (rest_of S L) / real S) [seq (real x.1 / real S, real x.2 / real S) | x <- L].
Section Good.
Variables (S : Z) (L : seq (Z * Z)).
Hypothesis G : good_table S L.
Let S0 : 0 < real S.
Proof. by move: G; rewrite /good_table => /andP [/andP [/andP [s _] _] _]; apply: real_gt0; apply/Z.ltb_lt. Qed.
Let L0 x : x \in L -> (0 <= x.1)%ZZ /\ (0 < x.2)%ZZ.
Proof.
move: G; rewrite /good_table => /andP [/andP [/andP [_ /allP H] _] _] /H /andP [h1 h2].
by split; [apply/Z.leb_le | apply/Z.ltb_lt].
Qed.
Lemma atoms_sound : sound (atoms_of S L).
Proof.
have E (f : Z * Z -> Z) : \sum_(x <- L) real (f x) / real S = real (total f L) / real S by rewrite real_total
  mulr_suml.
split.
- rewrite /= divr_ge0 ?(ltW S0) //; apply: real_ge0; apply: Zle_minus_le_0.
  by move: G; rewrite /good_table => /andP [_ /Z.leb_le].
- move=> y /mapP [x xL ->] /=; have [h1 h2] := L0 xL.
  split; first by apply: divr_ge0; [apply: real_ge0 | apply: ltW].
  by apply: divr_gt0 => //; apply: real_gt0.
- rewrite /= big_map /= (E snd); move: G; rewrite /good_table => /andP [/andP [_ /Z.eqb_eq ->] _].
  by rewrite divff // gt_eqF.
- by rewrite /= big_map /= (E fst) -mulrDl -realD Z.sub_add divff // gt_eqF.
Qed.
End Good.
Lemma scaledE S L m n : real (scaled S L m n) =
  real m * real (rest_of S L) + \sum_(x <- L) pos (real m * real x.1 - real n * real x.2).
Proof.
rewrite realD realM real_total; congr (_ + _); apply: eq_bigr => x _.
by rewrite real_pos realB !realM.
Qed.

(* U f(V / U), computed by `scaled`. *)
Lemma perspective S L (U V : R) (m n : Z) : 0 < real S -> 0 < U -> U = real m -> V = real n ->
  U * atoms_value (atoms_of S L) (V / U) = real (scaled S L m n) / real S.
Proof.
move=> S0 U0 Um Vn; rewrite scaledE -Um -Vn /atoms_value /= big_map mulrDr mulrDl mulrA mulr_sumr mulr_suml;
  congr (_ + _).
apply: eq_bigr => x _ /=; rewrite pos_scale ?(ltW U0) // [RHS]mulrC pos_scale ?invr_ge0 ?(ltW S0) //; congr pos.
have -> : U * (real x.1 / real S - V / U * (real x.2 / real S)) =
  (real S)^-1 * (U * real x.1 - (U / U) * (V * real x.2)) by ring.
by rewrite divff ?mul1r // gt_eqF.
Qed.

Lemma floor_of (s : seq R) g : 0 <= g -> exists lo, [/\ lo \in 0 :: s, lo <= g & forall y, y \in s -> y <= g ->
  y <= lo].
Proof.
move=> g0; elim: s => [|x s [lo [l1 l2 l3]]]; first by exists 0; rewrite inE eqxx.
case: (leP x g) => xg; last first.
  exists lo; split=> //; first by move: l1; rewrite !inE => /orP [->|->]; rewrite ?orbT.
  by move=> y; rewrite inE => /orP [/eqP -> /(lt_le_trans xg)|]; [rewrite ltxx | exact: l3].
exists (Num.max x lo); split; first by rewrite /Num.max; case: ifP; rewrite !inE ?eqxx ?orbT //; move: l1;
  rewrite inE => /orP [->|->]; rewrite ?orbT.
  by rewrite le_maxl xg.
by move=> y; rewrite inE => /orP [/eqP -> _|ys yg]; rewrite le_maxr ?lexx // l3 ?orbT.
Qed.
Lemma ceiling_of (s : seq R) g : (forall y, y \in s -> y < g) \/
  exists hi, [/\ hi \in s, g <= hi & forall y, y \in s -> g <= y -> hi <= y].
Proof.
elim: s => [|x s IH]; first by left.
case: (leP g x) => gx.
  right; case: IH => [none|[hi [h1 h2 h3]]].
    exists x; rewrite inE eqxx; split=> // y; rewrite inE => /orP [/eqP -> //|/none lt /(lt_le_trans lt)].
    by rewrite ltxx.
  exists (Num.min x hi); split; first by rewrite /Num.min; case: ifP; rewrite inE ?eqxx // h1 orbT.
    by rewrite le_minr gx.
  by move=> y; rewrite inE => /orP [/eqP -> _|ys yg]; rewrite le_minl ?lexx // h3 ?orbT.
case: IH => [none|[hi [h1 h2 h3]]]; [left|right].
  by move=> y; rewrite inE => /orP [/eqP ->|/none].
exists hi; rewrite inE h1 orbT; split=> // y; rewrite inE => /orP [/eqP -> /(lt_le_trans gx)|]; last exact: h3.
by rewrite ltxx.
Qed.
(* What holds at the nodes of a profile of atoms holds at every g, because the divergence is convex in g. *)
Theorem at_nodes (X Y : space R) (near : X -> Y -> Prop) (P : law X) (Q : law Y) f : sound f ->
  (forall x, x \in pairs f -> hockey_stick near P Q (x.1 / x.2) (atoms_value f (x.1 / x.2))) -> divergence_le
    near P Q (atoms_value f).
Proof.
move=> [c0 pf low_ up_] H g g0.
pose s := [seq x.1 / x.2 | x <- pairs f].
have ratio x r : x \in pairs f -> (x.1 - r * x.2 <= 0) = (x.1 / x.2 <= r).
  by move=> /pf [_ x2]; rewrite subr_le0 ler_pdivr_mulr.
have [lo [l1 l2 l3]] := floor_of s g0.
have lo0 : 0 <= lo.
  move: l1; rewrite inE => /orP [/eqP -> //|/mapP [x /pf [x1 x2] ->]]; by rewrite divr_ge0 // ltW.
have at_lo : hockey_stick near P Q lo (atoms_value f lo).
  move: l1; rewrite inE => /orP [/eqP ->|/mapP [x xf ->]]; last exact: H.
  have -> : atoms_value f 0 = 1.
    rewrite /atoms_value -[RHS]up_; congr (_ + _); rewrite !big_seq; apply: eq_bigr => x /pf [x1 _].
    by rewrite mul0r subr0 pos_id.
  by move=> A B FA FB AB; apply: (@anything R X Y near P Q 0 (lexx _) A B FA FB AB).
have low0 x : x \in pairs f -> x.1 / x.2 <= g -> forall r, lo <= r -> pos (x.1 - r * x.2) = 0.
  by move=> xf xg r lr; rewrite pos_0 // ratio //; apply: le_trans lr; apply: l3 => //; apply: map_f.
case: (ceiling_of s g) => [none|[hi [h1 h2 h3]]].
  have E : atoms_value f g = atoms_value f lo.
    rewrite /atoms_value; congr (_ + _); rewrite !big_seq; apply: eq_bigr => x xf.
    have xg : x.1 / x.2 <= g by apply/ltW/none/map_f.
    by rewrite !low0.
  move=> A B FA FB AB; rewrite E; apply: le_trans (at_lo A B FA FB AB).
  by rewrite ler_add2l ler_opp2; apply: ler_wpmul2r => //; apply: probability_ge0.
have at_hi : hockey_stick near P Q hi (atoms_value f hi) by case/mapP: h1 => x xf ->; apply: H.
case: (eqVneq g hi) => [->//|ne].
have gh : g < hi by rewrite lt_neqAle ne.
have lh : 0 < hi - lo by rewrite subr_gt0; apply: le_lt_trans gh.
pose l := (hi - g) / (hi - lo).
have l_0 : 0 <= l by rewrite divr_ge0 ?subr_ge0 // (le_trans l2).
have l_1 : l <= 1 by rewrite ler_pdivr_mulr // mul1r ler_add2l ler_opp2.
have lE : l * (hi - lo) = hi - g by rewrite /l divfK // gt_eqF.
have gE : l * lo + (1 - l) * hi = g.
  have -> : l * lo + (1 - l) * hi = hi - l * (hi - lo) by ring.
  by rewrite lE opprB addrC subrK.
have hi0 : 0 <= hi by apply: le_trans g0 h2.
have C := chord lo0 hi0 l_0 l_1 at_lo at_hi; rewrite gE in C.
move=> A B FA FB AB; apply: (le_trans (C A B FA FB AB)).
rewrite /atoms_value !mulrDr addrACA -mulrDl [l + _]addrC subrK mul1r ler_add2l !mulr_sumr -big_split /=.
rewrite big_seq [X in _ <= X]big_seq; apply: ler_sum => x xf.
case: (leP (x.1 / x.2) g) => xg.
  by rewrite !low0 // ?mulr0 ?addr0 ?lexx //; apply: le_trans l2 h2.
have hx : hi <= x.1 / x.2 by apply: h3; [apply: map_f | apply: ltW].
have [x1 x2] := pf x xf.
have up_id r : r <= hi -> pos (x.1 - r * x.2) = x.1 - r * x.2.
  move=> rh; rewrite pos_id // subr_ge0 -ler_pdivl_mulr //; exact: le_trans rh hx.
rewrite !up_id //; last by apply: le_trans l2 h2.
by rewrite -gE le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

Section Step.
Variables (S : Z) (T N F T' : seq (Z * Z)) (hs : seq ((Z * Z) * (Z * Z))).
Hypotheses (GT : good_table S T) (GN : good_table S N) (GT' : good_table S T').
Hypothesis accepted : nodes_ok S T N F T' T' hs.
Lemma each_node k : k \in T' -> exists h l, node_ok S T N F T' k h l.
Proof.
move: accepted; elim: {2 3}T' hs => [//|k' ks IH] [//|h hs'] /= /andP [h1 h2].
by rewrite inE => /orP [/eqP ->|kk]; [exists h.1, h.2 | apply: (IH hs' h2 kk)].
Qed.

(* One block leads from the table T to the table T'. *)
Theorem next_block (X Y U V : space R) (near : X -> Y -> Prop) (near' : U -> V -> Prop) (P : law X) (Q : law Y)
  (K : kernel X U) (K' : kernel Y V) :
  (0 < S)%ZZ -> divergence_le near P Q (atoms_value (atoms_of S T)) ->
  span near near' K K' (atoms_value (atoms_of S N)) ->
  span (fun _ _ => True) near' K K' (atoms_value (atoms_of S F)) ->
  divergence_le near' (after P K) (after Q K') (atoms_value (atoms_of S T')).
Proof.
move=> Spos H HN HF; have S0 : 0 < real S by apply: real_gt0.
have sT := atoms_sound GT.
have [M MN] := in_order (atoms_sound GN).
have HM : span near near' K K' (value M).
  by move=> x y xy g g0; rewrite MN; apply: HN.
apply: at_nodes => [|x0 /mapP [k kT ->] /=]; first exact: atoms_sound.
have [h [l ok]] := each_node kT.
have kpos : (0 <= k.1)%ZZ /\ (0 < k.2)%ZZ.
  move: GT'; rewrite /good_table => /andP [/andP [/andP [_ /allP H1] _] _]; have /andP [h1 h2] := H1 k kT.
  by split; [apply/Z.leb_le | apply/Z.ltb_lt].
have Tpos x : x \in T -> (0 <= x.1)%ZZ /\ (0 < x.2)%ZZ.
  move: GT; rewrite /good_table => /andP [/andP [/andP [_ /allP H1] _] _] xT; have /andP [h1 h2] := H1 x xT.
  by split; [apply/Z.leb_le | apply/Z.ltb_lt].
set m := k.2; set n := k.1.
have m0 : 0 < real m by apply: real_gt0; case: kpos.
have n0 : 0 <= real n by apply: real_ge0; case: kpos.
have -> : real n / real S / (real m / real S) = real n / real m.
  by rewrite invfM invrK mulrACA [_^-1 * real S]mulrC divff ?mulr1 ?gt_eqF.
set g := real n / real m; have g0 : 0 <= g by rewrite divr_ge0 // ltW.

pose I := option 'I_(size T).
pose tn j := nth (0, 0)%ZZ T j.
pose p (i : I) := if i is Some j then real (tn j).1 / real S else real (rest_of S T) / real S.
pose q (i : I) := if i is Some j then real (tn j).2 / real S else 0.
pose u (i : I) := if i is Some j then real (u_of h (tn j)) / real S else 0.
pose v (i : I) := if i is Some j then real (v_of l (tn j)) / real S else 0.
have sumI (w : I -> R) : \sum_i w i = w None + \sum_(j < size T) w (Some j).
  rewrite (bigD1 None) //=; congr (_ + _); rewrite (reindex_omap Some id) /=; last by case.
  by apply: eq_bigl => j; rewrite eqxx.
have sumT (w : Z * Z -> R) : \sum_(j < size T) w (tn j) = \sum_(x <- T) w x by rewrite (big_nth (0, 0)%ZZ)
  big_mkord.
have clip0 a b : (0 <= clip a b)%ZZ by exact: Z.le_max_l.
have clip_le a b : (0 <= a)%ZZ -> (clip a b <= a)%ZZ.
  by move=> a0; apply: Z.max_lub => //; apply: Z.le_min_l.
have tT (j : 'I_(size T)) : tn j \in T by apply: mem_nth.
have pq r : 0 <= r -> atoms_value (atoms_of S T) r <= \sum_i pos (p i - r * q i).
  move=> r0; rewrite sumI /= mulr0 subr0 pos_id; last first.
    by case: sT.
  by rewrite /atoms_value /= big_map ler_add2l (sumT (fun x => pos (real x.1 / real S - r * (real x.2 / real
    S)))).
have [_ _ lowT upT] := sT; rewrite /= !big_map /= in lowT upT.
have q1 : \sum_i q i <= 1.
  by rewrite sumI /= (sumT (fun x => real x.2 / real S)) lowT add0r.
have dv (z : Z) : (0 <= z)%ZZ -> 0 <= real z / real S by move=> z0; apply: divr_ge0; [exact: real_ge0 | exact:
  ltW].
have dle (y z : Z) : (y <= z)%ZZ -> real y / real S <= real z / real S.
  by move=> yz; rewrite ler_wpmul2r ?invr_ge0 ?(ltW S0) // real_le.
have u0 i : 0 <= u i by case: i => [j|] //=; apply: dv; apply: clip0.
have up_ i : u i <= p i.
  case: i => [j|] /=; first by apply: dle; apply: clip_le; case: (Tpos _ (tT j)).
  by case: sT.
have v0 i : 0 <= v i by case: i => [j|] //=; apply: dv; apply: clip0.
have vq i : v i <= q i.
  by case: i => [j|] //=; apply: dle; apply: clip_le; case: (Tpos _ (tT j)) => _ /Z.lt_le_incl.
move=> A B FA FB AB.
apply: (le_trans (contract H HM HF pq q1 u0 up_ v0 vq g0 FA FB AB)).

pose ZA := (rest_of S T + total (fun x => x.1 - u_of h x) T)%ZZ.
pose ZB := (total (fun x => x.2 - v_of l x) T)%ZZ.
have EA : \sum_i (p i - u i) = real ZA / real S.
  rewrite sumI /= subr0 /ZA realD mulrDl; congr (_ + _); rewrite real_total mulr_suml.
  rewrite -(sumT (fun x => real (x.1 - u_of h x)%ZZ / real S)); apply: eq_bigr => j _; by rewrite realB mulrBl.
have EB : \sum_i (q i - v i) = real ZB / real S.
  rewrite sumI /= subr0 add0r /ZB real_total mulr_suml.
  rewrite -(sumT (fun x => real (x.2 - v_of l x)%ZZ / real S)); apply: eq_bigr => j _; by rewrite realB mulrBl.
have persp L a b : 0 < real a -> real a / real S * atoms_value (atoms_of S L) (g * (real b / real S) / (real a /
  real S)) =
    real (scaled S L (m * a) (n * b)) / real S / real S / real m.
  move=> a0.
  have -> : g * (real b / real S) / (real a / real S) = real (n * b) / real (m * a).
    rewrite !realM /g invfM invrK.
    have -> : real n / real m * (real b / real S) * ((real a)^-1 * real S) =
      (real n * real b) * ((real m)^-1 * (real a)^-1) * (real S / real S) by ring.
    by rewrite divff ?gt_eqF // mulr1 -invfM.
  have ma : 0 < real (m * a) by rewrite realM mulr_gt0.
  have Pm := perspective L S0 ma (erefl _) (erefl (real (n * b))).
  apply: (mulfI (lt0r_neq0 m0)); apply: (mulfI (lt0r_neq0 S0)).
  have -> : real S * (real m * (real a / real S * atoms_value (atoms_of S L) (real (n * b) / real (m * a)))) =
    (real S / real S) * (real m * real a * atoms_value (atoms_of S L) (real (n * b) / real (m * a))) by ring.
  rewrite divff ?gt_eqF // mul1r -realM Pm.
  have -> : real S * (real m * (real (scaled S L (m * a) (n * b)) / real S / real S / real m)) =
    (real S / real S) * (real m / real m) * (real (scaled S L (m * a) (n * b)) / real S) by ring.
  by rewrite !divff ?gt_eqF // !mul1r.
rewrite /contracted EA EB.
have near_sum : \sum_(i | 0 < u i) u i * value M (g * v i / u i) <=
    real (total (fun x => scaled S N (m * u_of h x) (n * v_of l x)) T) / real S / real S / real m.
  rewrite real_total 3!mulr_suml big_mkcond sumI /= ltxx add0r.
  rewrite -(sumT (fun x => real (scaled S N (m * u_of h x) (n * v_of l x)) / real S / real S / real m)).
  apply: ler_sum => j _; case: ltP => uj; last first.
    apply: divr_ge0 (ltW m0); apply: divr_ge0 (ltW S0); apply: divr_ge0 (ltW S0).
    rewrite scaledE; apply: addr_ge0; last by apply: sumr_ge0 => x _; apply: pos_ge0.
    rewrite realM; apply: mulr_ge0.
      by apply: mulr_ge0; [apply: ltW | apply: real_ge0; apply: clip0].
    by case: (atoms_sound GN) => /=; rewrite pmulr_lge0 // invr_gt0.
  rewrite MN persp //; move: uj; rewrite pmulr_lgt0 // invr_gt0 //.
have far_part : (if 0 < real ZA / real S then real ZA / real S * atoms_value (atoms_of S F) (g * (real ZB / real
  S) / (real ZA / real S)) else 0)
    <= real (scaled S F (m * ZA) (n * ZB)) / real S / real S / real m.
  case: ltP => za; first by rewrite persp //; move: za; rewrite pmulr_lgt0 // invr_gt0.
  apply: divr_ge0 (ltW m0); apply: divr_ge0 (ltW S0); apply: divr_ge0 (ltW S0).
  have za0 : real ZA = 0.
    have A0 : 0 <= real ZA / real S by rewrite -EA; apply: sumr_ge0 => i _; rewrite subr_ge0.
    have := le_anti (introT andP (conj za A0)) => /eqP; rewrite mulf_eq0 invr_eq0 [real S == _]gt_eqF // orbF =>
      /eqP.
    by [].
  rewrite scaledE realM za0 mulr0 mul0r add0r; apply: sumr_ge0 => x _; exact: pos_ge0.
apply: (le_trans (ler_add near_sum far_part)).
rewrite -!mulrDl -realD.
have ok' : (total (fun x => scaled S N (m * u_of h x) (n * v_of l x)) T + scaled S F (m * ZA) (n * ZB) <= S *
  scaled S T' m n)%ZZ.
  by apply/Z.leb_le; move: ok; rewrite /node_ok.
have Pm := perspective T' S0 m0 (erefl _) (erefl (real n)).
rewrite ler_pdivr_mulr // [X in _ <= X]mulrC Pm ler_pdivr_mulr // divfK ?gt_eqF // ler_pdivr_mulr //.
by apply: (le_trans (real_le ok')); rewrite realM mulrC.
Qed.

End Step.

(* From equal starts, an accepted table bounds every number n of blocks. *)
Theorem check_table_sound (S : Z) (T N F : seq (Z * Z)) hs : check_table S T N F hs ->
  forall (X Y : nat -> space R) (P : law (X 0%N)) (Q : law (Y 0%N))
  (K : forall j, kernel (X j) (X j.+1)) (K' : forall j, kernel (Y j) (Y j.+1))
  (near : forall j, X j -> Y j -> Prop),
  (0 < S)%ZZ -> divergence_le (@near 0%N) P Q (@equal R) ->
  (forall j, span (@near j) (@near j.+1) (K j) (K' j) (atoms_value (atoms_of S N))) ->
  (forall j, span (fun _ _ => True) (@near j.+1) (K j) (K' j) (atoms_value (atoms_of S F))) ->
  forall n, divergence_le (@near n) (run P K n) (run' Q K' n) (atoms_value (atoms_of S T)).
Proof.
move=> /andP [/andP [GT GN] ok] X Y P Q K K' near S0 start HN HF; elim=> [|n IH] /=.
  2: exact: (next_block GT GN GT ok S0 IH (HN n) (HF n)).
move=> g g0 A B FA FB AB; apply: (le_trans (start g g0 A B FA FB AB)).
by have [M MN] := in_order (atoms_sound GT); rewrite -MN; apply: equal_le.
Qed.
End Sound.
