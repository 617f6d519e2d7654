(* Random batches: the law of a batch, the mean of the steps over it, and the coin of the sample that differs.

   Python: symbolic/derivations/random_batches.py; numeric/subsampling.  Pages: docs/proofs/poisson.md, "Two directions";
   docs/proofs/without_replacement.md, "Reveal a batch, keep a coin hidden".
   The samples of both data sets are the members of one finite set, and a data set is a subset of it. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
From lastiterate Require Import laws tables chain rules step.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Batches.
Variable R : archiFieldType.

(* ---- A mean over finitely many outcomes. ---- *)
Section Means.
Variables (I : finType) (w : I -> R) (W : masses w) (X U : space R).
Definition mean_law (P : I -> law U) : law U := after (finite_law W) (any_kernel P).
Lemma mean_lawE (P : I -> law U) h : expect (mean_law P) h = \sum_i w i * expect (P i) h.
Proof. by []. Qed.
Lemma measurable_mean (f : I -> X -> R) : (forall i, measurable (f i)) -> measurable (fun x => \sum_i w i * f i x).
Proof.
move=> F; elim: (index_enum I) => [|i s IH].
  by apply: measurable_ext (measurable_const X 0) => x; rewrite big_nil.
by apply: measurable_ext (measurable_add (measurable_scale (w i) (F i)) IH) => x; rewrite big_cons.
Qed.
(* A step whose outcome i has the probability w i: from x, the mean of the laws of the steps K i. *)
Definition mean_kernel (K : I -> kernel X U) : kernel X U :=
  Kernel (from := fun x => mean_law (fun i => K i x))
    (fun h H => measurable_mean (fun i => measurable_from (K i) H)).
Lemma expect_mean (P : law X) (f : I -> X -> R) : (forall i, measurable (f i)) ->
  expect P (fun x => \sum_i w i * f i x) = \sum_i w i * expect P (f i).
Proof.
move=> F; have M s : measurable (fun x => \sum_(i <- s) w i * f i x).
  elim: s => [|i s IH]; first by apply: measurable_ext (measurable_const X 0) => x; rewrite big_nil.
  by apply: measurable_ext (measurable_add (measurable_scale (w i) (F i)) IH) => x; rewrite big_cons.
elim: (index_enum I) => [|i s IH].
  by rewrite big_nil -[RHS](expect_const P); apply: expect_ext => [|x]; [exact: M | rewrite big_nil].
rewrite big_cons -IH -expect_scale // -expect_add //; last exact: measurable_scale.
by apply: expect_ext => [|x]; [exact: M | rewrite big_cons].
Qed.
End Means.

Lemma coin_gap (w q a b c d g : R) : w * ((1 - q) * a + q * b) - g * (w * ((1 - q) * c + q * d)) =
  w * ((1 - q) * (a - g * c) + q * (b - g * d)).
Proof. by ring. Qed.
Lemma coin_sum (q u0 u1 c r : R) : (1 - q) * (u0 + c) + q * (u1 + c) + r = (1 - q) * u0 + q * u1 + (c + r).
Proof. by ring. Qed.
Lemma near_gap (q g b e : R) : (1 - q) * (b - g * b) + q * (e - g * b) = q * e - (g - 1 + q) * b.
Proof. by ring. Qed.

Variable N : finType.
Implicit Types (D B : {set N}) (i j : N) (q t : R).

(* ---- Poisson batches: each sample of the data set D is in the batch with probability q, independently. ---- *)
Definition rate q D i := if i \in D then q else 0.
Definition poisson_batch q D B := \prod_i (if i \in B then rate q D i else 1 - rate q D i).

Lemma sum_subsets (F G : N -> R) : \prod_i (F i + G i) = \sum_(B : {set N}) \prod_i (if i \in B then F i else G i).
Proof.
rewrite (eq_bigr (fun i => \sum_(b : bool) if b then F i else G i)); last by move=> i _; rewrite big_bool.
rewrite bigA_distr_bigA (reindex (fun B : {set N} => [ffun i => i \in B])) /=.
  by apply: eq_bigr => B _; apply: eq_bigr => i _; rewrite ffunE.
exists (fun f : {ffun N -> bool} => [set i | f i]) => [B _|f _]; first by apply/setP => i; rewrite inE ffunE.
by apply/ffunP => i; rewrite ffunE inE.
Qed.
Lemma poisson_total q D (f : N -> R) :
  \sum_B poisson_batch q D B * \prod_(i in B) f i = \prod_i (rate q D i * f i + (1 - rate q D i)).
Proof.
rewrite sum_subsets; apply: eq_bigr => B _; rewrite [\prod_(i in B) _]big_mkcond -big_split /=.
by apply: eq_bigr => i _; case: ifP; rewrite ?mulr1.
Qed.
Lemma poisson_masses q D : 0 <= q -> q <= 1 -> masses (poisson_batch q D).
Proof.
move=> q0 q1; split.
  move=> B; apply: prodr_ge0 => i _; rewrite /rate; case: ifP; case: ifP => // _ _; rewrite ?subr_ge0 //.
  exact: ler01.
rewrite (eq_bigr (fun B => poisson_batch q D B * \prod_(i in B) 1)).
  by rewrite poisson_total big1 // => i _; rewrite mulr1 addrC subrK.
by move=> B _; rewrite big1 ?mulr1.
Qed.

(* With sample i or without it: a coin of probability q decides whether i joins a batch of the other samples. *)
Theorem poisson_coin q D i (f : {set N} -> R) : i \in D ->
  \sum_B poisson_batch q D B * f B =
  \sum_B poisson_batch q (D :\ i) B * ((1 - q) * f B + q * f (i |: B)).
Proof.
move=> iD; pose rest B := \prod_(j | j != i) (if j \in B then rate q D j else 1 - rate q D j).
have same j B : j != i -> (j \in i |: B) = (j \in B) by move=> ji; rewrite !inE (negbTE ji).
have restU B : rest (i |: B) = rest B by apply: eq_bigr => j ji; rewrite same.
have E B : poisson_batch q D B = (if i \in B then q else 1 - q) * rest B.
  by rewrite /poisson_batch (bigD1 i) //= {1 2}/rate iD.
have E' B : poisson_batch q (D :\ i) B = (i \notin B)%:R * rest B.
  rewrite /poisson_batch (bigD1 i) //= {1 2}/rate !inE eqxx /= subr0; congr (_ * _); first by case: (i \in B).
  by apply: eq_bigr => j ji; rewrite /rate !inE ji.
rewrite (bigID (fun B : {set N} => i \in B)) /= addrC [RHS](bigID (fun B : {set N} => i \in B)) /=.
rewrite [X in _ = X + _]big1 ?add0r; last by move=> B iB; rewrite E' iB !mul0r.
rewrite [X in _ + X](reindex_onto (fun B => i |: B) (fun B => B :\ i)) /=; last by move=> B iB; rewrite setD1K.
rewrite [X in _ + X](eq_bigl (fun B : {set N} => i \notin B)); last first.
  move=> B; rewrite setU11 /=; apply/eqP/idP => [<-|iB]; first by rewrite !inE eqxx.
  by rewrite setU1K.
rewrite -big_split /=; apply: eq_bigr => B iB.
by rewrite !E E' setU11 (negbTE iB) restU /= mul1r; ring.
Qed.

(* ---- Batches without replacement: every subset of b samples of the data set is equally probable. ---- *)
Definition uniform_batch b D B := if (B \subset D) && (#|B| == b) then 1 / 'C(#|D|, b)%:R else 0 : R.
Lemma uniform_masses b D : (b <= #|D|)%N -> masses (uniform_batch b D).
Proof.
move=> bD; have c0 : 0 < 'C(#|D|, b)%:R :> R by rewrite ltr0n bin_gt0.
split; first by move=> B; rewrite /uniform_batch; case: ifP => // _; rewrite divr_ge0 ?ler01 // ltW.
rewrite -big_mkcond sumr_const /= -cards_draws.
have -> : #|[pred B : {set N} | (B \subset D) && (#|B| == b)]| = #|[set B : {set N} | B \subset D & #|B| == b]|.
  by rewrite cardsE.
by rewrite cards_draws -[LHS]mulr_natr mul1r mulVf // gt_eqF.
Qed.
(* A batch of b common samples C and one of its members, the slot; all pairs are equally probable. *)
Definition slot_batch b (C : {set N}) (o : {set N} * N) :=
  if [&& o.1 \subset C, #|o.1| == b & o.2 \in o.1] then 1 / ('C(#|C|, b)%:R * b%:R) else 0 : R.
Definition swapped i (o : {set N} * N) := i |: (o.1 :\ o.2).

Lemma slot_sum b C (f : {set N} * N -> R) : \sum_o slot_batch b C o * f o =
  1 / ('C(#|C|, b)%:R * b%:R) * \sum_(B : {set N} | (B \subset C) && (#|B| == b)) \sum_(r in B) f (B, r).
Proof.
rewrite pair_big_dep mulr_sumr [RHS]big_mkcond /=; apply: eq_bigr => -[B r] _ /=.
by rewrite /slot_batch /= -andbA; case: ifP; rewrite ?mul0r.
Qed.
Lemma slot_masses b (C : {set N}) : (0 < b <= #|C|)%N -> masses (slot_batch b C).
Proof.
move=> /andP [b0 bC]; have c0 : 0 < 'C(#|C|, b)%:R :> R by rewrite ltr0n bin_gt0.
have b_0 : 0 < b%:R :> R by rewrite ltr0n.
split; first by move=> o; rewrite /slot_batch; case: ifP => // _; rewrite divr_ge0 ?ler01 // ltW // mulr_gt0.
rewrite (eq_bigr (fun o => slot_batch b C o * 1)) ?slot_sum; last by move=> o _; rewrite mulr1.
rewrite (eq_bigr (fun=> b%:R)); last by move=> B /andP [_ /eqP Bb]; rewrite sumr_const Bb.
have [_] := uniform_masses bC; rewrite -big_mkcond /= !sumr_const -mulr_natr => E.
rewrite -[X in _ * X]mulr_natr -[RHS]E invfM; set k := _%:R in c0 E *; set m := #|_|%:R.
by rewrite !mul1r [b%:R * m]mulrC mulrACA (mulVf (lt0r_neq0 b_0)) mulr1 mulr_natr.
Qed.
(* A coin of probability b / n decides whether sample i takes the slot. *)
Theorem uniform_coin b (C : {set N}) i (f : {set N} -> R) : i \notin C -> (0 < b <= #|C|)%N ->
  \sum_B uniform_batch b (i |: C) B * f B =
  \sum_o slot_batch b C o * ((1 - b%:R / #|C|.+1%:R) * f o.1 + b%:R / #|C|.+1%:R * f (swapped i o)).
Proof.
move=> iC /andP [b0 bC]; set n := #|C|.+1; set q := b%:R / n%:R.
have Dn : #|i |: C| = n by rewrite cardsU1 iC.
have n0 : n%:R != 0 :> R by rewrite pnatr_eq0.
have b_0 : b%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have c0 : 'C(#|C|, b)%:R != 0 :> R by rewrite pnatr_eq0 -lt0n bin_gt0.
have c1 : 'C(n, b)%:R != 0 :> R by rewrite pnatr_eq0 -lt0n bin_gt0 leqW.
have bin : n%:R * 'C(#|C|, b)%:R = (n - b)%:R * 'C(n, b)%:R :> R by rewrite -!natrM -mul_bin_down.
have k1 : (n - b)%:R / (n%:R * 'C(#|C|, b)%:R) = 1 / 'C(n, b)%:R :> R.
  have nb0 : (n - b)%:R != 0 :> R by rewrite pnatr_eq0 subn_eq0 -ltnNge ltnS.
  by rewrite bin invfM mulrA divff.
have without (c x y z : R) : z != 0 -> 1 / (c * z) * (y / x) * z = y / (x * c).
  by move=> z0; rewrite mul1r invfM mulrAC divfK // mulrC -mulrA -invfM.
have with_ (c x y z h : R) : z != 0 -> 1 / (c * z) * (z / x * h * y) = y / (x * c) * h.
  move=> z0; rewrite mul1r [in LHS]invfM -!mulrA mulKf // invfM -!mulrA [h * y]mulrC mulrCA.
  by rewrite [c^-1 * (y * _)]mulrCA mulrCA.
pose k := 1 / 'C(n, b)%:R : R.
have -> : \sum_B uniform_batch b (i |: C) B * f B =
    k * \sum_(B : {set N} | (B \subset i |: C) && (#|B| == b)) f B.
  rewrite mulr_sumr [RHS]big_mkcond /=; apply: eq_bigr => B _; rewrite /uniform_batch Dn.
  by case: ifP; rewrite ?mul0r.
rewrite slot_sum; under [in RHS]eq_bigr => B _ do rewrite big_split /=.
rewrite [in RHS]big_split /= [RHS]mulrDr (bigID (fun B : {set N} => i \notin B)) mulrDr /=; congr (_ + _).
  rewrite (eq_bigl (fun B : {set N} => (B \subset C) && (#|B| == b))); last first.
    by move=> B; rewrite andbAC -subsetD1 setU1K.
  rewrite !mulr_sumr; apply: eq_bigr => B /andP [_ /eqP Bb].
  rewrite sumr_const Bb -[_ * f B *+ b]mulr_natr.
  rewrite (_ : _ * (_ * _ * _) = 1 / ('C(#|C|, b)%:R * b%:R) * (1 - q) * b%:R * f B); last by ring.
  congr (_ * f B).
  rewrite /k -k1 natrB; last by apply: ltnW.
  have -> : 1 - q = (n%:R - b%:R) / n%:R by rewrite mulrBl divff.
  by rewrite without.
rewrite pair_big_dep /= (reindex_onto (fun o : {set N} * N => (o.2 |: o.1, o.2)) (fun o => (o.1 :\ o.2, o.2))) /=; last first.
  by case=> B r /andP [_ rB] /=; rewrite setD1K.
rewrite (eq_bigl (fun o : {set N} * N => ((o.1 \subset C) && (#|o.1|.+1 == b)) && (o.2 \in C :\: o.1))); last first.
  case=> S r /=; rewrite setU11 andbT inE xpair_eqE eqxx andbT subUset sub1set.
  case: (boolP (r \in S)) => rS /=.
    rewrite !andbF; apply/negbTE; apply/negP => /andP [_ /eqP E].
    by move: rS; rewrite -E !inE eqxx.
  by rewrite setU1K // eqxx andbT cardsU1 rS add1n -andbA andbC.
rewrite -(pair_big_dep (fun S : {set N} => (S \subset C) && (#|S|.+1 == b)) (fun S r => r \in C :\: S)
  (fun S r => q * f (swapped i (r |: S, r)))) /=.
rewrite (reindex_onto (fun S => i |: S) (fun B : {set N} => B :\ i)) /=; last first.
  by move=> B /andP [_]; rewrite negbK => iB; rewrite setD1K.
rewrite (eq_bigl (fun S : {set N} => (S \subset C) && (#|S|.+1 == b))); last first.
  move=> S; rewrite setU11 /= andbT; case: (boolP (i \in S)) => iS.
    have -> : (S \subset C) = false by apply/negbTE/negP => /subsetP /(_ i iS); rewrite (negbTE iC).
    by apply/negbTE; apply/negP => /andP [_ /eqP E]; move: iS; rewrite -E !inE eqxx.
  rewrite setU1K // eqxx andbT cardsU1 iS add1n; congr (_ && _).
  by rewrite subUset sub1set setU11 -[in RHS](setU1K iC) subsetD1 iS andbT.
rewrite !mulr_sumr; apply: eq_bigr => S /andP [SC /eqP Sb].
rewrite (eq_bigr (fun=> q * f (i |: S))); last first.
  by move=> r; rewrite inE => /andP [rS _]; rewrite /swapped /= setU1K.
rewrite sumr_const cardsD (setIidPr SC) -[_ * f _ *+ _]mulr_natr.
have -> : (#|C| - #|S|)%N = (n - b)%N by rewrite /n -Sb subSS.
by rewrite /q with_ // k1.
Qed.
End Batches.
