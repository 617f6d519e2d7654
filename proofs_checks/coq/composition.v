(* Composition of profiles of finitely many atoms: it is commutative, associative and monotone, and E_0 is neutral.

   Python: symbolic/kernel/profiles.py, compose (Atoms), sound and covers.
   Page: docs/proofs/enlarged_sets.md, "Profiles and their composition". *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
From lastiterate Require Import laws tables chain rules step.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Composition.
Variable R : archiFieldType.

(* Atoms in any order: pairs of a mass of run 1 and a mass of run 2, and the mass of run 1 where run 2 has none. *)
Record atoms := Atoms { beyond : R; pairs : seq (R * R) }.
Definition atoms_value (f : atoms) (g : R) := beyond f + \sum_(x <- pairs f) pos (x.1 - g * x.2).
(* The conditions under which atoms are a profile: profiles.py, sound. *)
Definition sound (f : atoms) := [/\ 0 <= beyond f, forall x, x \in pairs f -> 0 <= x.1 /\ 0 < x.2,
  \sum_(x <- pairs f) x.2 = 1 & beyond f + \sum_(x <- pairs f) x.1 = 1].
(* Likelihood ratios multiply: the product of the two pairs of laws. *)
Definition product (f h : atoms) := Atoms (beyond h + beyond f * (1 - beyond h))
  [seq (x.1 * y.1, x.2 * y.2) | x <- pairs f, y <- pairs h].
Definition neutral := Atoms 0 [:: (1, 1)].

Lemma sum_product (F : R * R -> R) f h : \sum_(z <- pairs (product f h)) F z =
  \sum_(x <- pairs f) \sum_(y <- pairs h) F (x.1 * y.1, x.2 * y.2).
Proof. by rewrite /= big_allpairs_dep. Qed.

Lemma product_sound f h : sound f -> sound h -> sound (product f h).
Proof.
move=> [cf pf lf uf] [ch ph lh uh]; split.
- rewrite /= addr_ge0 // mulr_ge0 // subr_ge0 -uh ler_addl.
  by rewrite big_seq; apply: sumr_ge0 => x /ph [].
- move=> z /allpairsP [[x y] /= [xf yh ->]] /=; have [x1 x2] := pf x xf; have [y1 y2] := ph y yh.
  by rewrite mulr_ge0 // mulr_gt0.
- rewrite sum_product /= -[RHS]lf; apply: eq_bigr => x _; by rewrite -mulr_sumr lh mulr1.
- rewrite sum_product /=.
  have -> : \sum_(x <- pairs f) \sum_(y <- pairs h) x.1 * y.1 = (\sum_(x <- pairs f) x.1) * (\sum_(y <- pairs h)
    y.1).
    by rewrite mulr_suml; apply: eq_bigr => x _; rewrite mulr_sumr.
  have -> : \sum_(x <- pairs f) x.1 = 1 - beyond f by rewrite -uf addrC addKr.
  have -> : \sum_(y <- pairs h) y.1 = 1 - beyond h by rewrite -uh addrC addKr.
  ring.
Qed.

Definition of_table (N : table R) := Atoms (rest N) [seq (mass1 N j, mass2 N j) | j <- iota 0 (node_count N)].
Lemma of_table_value N g : atoms_value (of_table N) g = value N g.
Proof. by rewrite /atoms_value /value /= big_map -[node_count N]subn0 big_mkord subn0. Qed.

(* The composition f x N of the rule chain is that of the products, as profiles.py computes it. *)
Theorem compose_product f N g : 0 <= g -> sound f ->
  compose (atoms_value f) N g = atoms_value (product f (of_table N)) g.
Proof.
move=> g0 [cf pf lf uf]; rewrite /compose /atoms_value sum_product /= -!addrA; congr (_ + _).
rewrite exchange_big /= big_map -[node_count N]subn0 big_mkord subn0.
have -> : 1 - rest N = \sum_(j < node_count N) mass1 N j by rewrite -(mass1_sum N) addrC addKr.
rewrite mulr_sumr -big_split /= big_mkcond /=; apply: eq_bigr => j _; case: ltP => aj; last first.
  have -> : mass1 N j = 0 by apply/eqP; rewrite eq_le aj mass1_ge0.
  rewrite mulr0 add0r big1_seq // => x /andP [_ /pf [x1 x2]].
  by rewrite mulr0 sub0r pos_0 // oppr_le0 !mulr_ge0 // ltW // mass2_gt0.
rewrite mulrDr mulrC; congr (_ + _); rewrite mulr_sumr; apply: eq_bigr => x _.
rewrite pos_scale ?(ltW aj) //; congr pos; rewrite mulrBr mulrC; congr (_ - _).
have -> : mass1 N j * (g * mass2 N j / mass1 N j * x.2) = (mass1 N j / mass1 N j) * (g * (x.2 * mass2 N j)) by
  ring.
by rewrite divff ?mul1r // gt_eqF.
Qed.

(* Composed, Power: parts commute and associate, and Equal is neutral. *)
Lemma product_comm f h g : atoms_value (product f h) g = atoms_value (product h f) g.
Proof.
rewrite /atoms_value !sum_product /= exchange_big /=; congr (_ + _); first ring.
by apply: eq_bigr => y _; apply: eq_bigr => x _; rewrite [x.1 * _]mulrC [x.2 * _]mulrC.
Qed.
Lemma product_assoc f h k g : atoms_value (product (product f h) k) g = atoms_value (product f (product h k)) g.
Proof.
rewrite /atoms_value !sum_product /=; congr (_ + _); first ring.
apply: eq_bigr => x _; rewrite big_allpairs_dep /=.
by apply: eq_bigr => y _; apply: eq_bigr => z _; rewrite !mulrA.
Qed.
Lemma product_neutral f g : atoms_value (product f neutral) g = atoms_value f g.
Proof.
rewrite /atoms_value sum_product /=; congr (_ + _); first by rewrite subr0 mulr1 add0r.
by apply: eq_bigr => x _; rewrite big_cons big_nil addr0 !mulr1.
Qed.
Lemma neutral_equal g : atoms_value neutral g = equal g.
Proof. by rewrite /atoms_value /= big_cons big_nil addr0 add0r mulr1. Qed.

Lemma product_slices f h g : sound h -> atoms_value (product f h) g =
  beyond h + \sum_(y <- pairs h) (beyond f * y.1 + \sum_(x <- pairs f) pos (x.1 * y.1 - g * (x.2 * y.2))).
Proof.
move=> [ch ph lh uh]; rewrite /atoms_value sum_product /= -addrA; congr (_ + _).
rewrite big_split /= exchange_big /=; congr (_ + _).
by rewrite -mulr_sumr; congr (_ * _); rewrite -uh addrC addKr.
Qed.
(* Monotone in both arguments (covers of two compositions).  The profiles f and f' need not have the same atoms. *)
Theorem product_le f f' h g : sound f -> sound f' -> sound h -> 0 <= g ->
  (forall r, 0 <= r -> atoms_value f r <= atoms_value f' r) ->
  atoms_value (product f h) g <= atoms_value (product f' h) g.
Proof.
move=> [cf pf lf uf] [cf' pf' lf' uf'] sh g0 le; rewrite !product_slices // ler_add2l.
have [ch ph lh uh] := sh.
rewrite big_seq [X in _ <= X]big_seq; apply: ler_sum => y /ph [y1 y2].
case: (eqVneq y.1 0) => [->|ne].
  have z (k : atoms) : sound k -> \sum_(x <- pairs k) pos (x.1 * 0 - g * (x.2 * y.2)) = 0.
    move=> [_ pk _ _]; apply: big1_seq => x /andP [_ /pk [x1 x2]].
    by rewrite mulr0 sub0r pos_0 // oppr_le0 !mulr_ge0 // ltW.
  by rewrite !z // !mulr0.
have y0 : 0 < y.1 by rewrite lt_neqAle eq_sym ne.
have slice e (s : seq (R * R)) : e * y.1 + \sum_(x <- s) pos (x.1 * y.1 - g * (x.2 * y.2)) =
    y.1 * (e + \sum_(x <- s) pos (x.1 - g * y.2 / y.1 * x.2)).
  rewrite mulrDr mulrC mulr_sumr; congr (_ + _); apply: eq_bigr => x _; rewrite pos_scale ?(ltW y0) //; congr
    pos.
  have -> : y.1 * (x.1 - g * y.2 / y.1 * x.2) = x.1 * y.1 - (y.1 / y.1) * (g * (x.2 * y.2)) by ring.
  by rewrite divff ?mul1r // gt_eqF.
rewrite !slice; apply: ler_wpmul2l; first exact: ltW.
by apply: le; rewrite divr_ge0 ?mulr_ge0 // ltW.
Qed.
Corollary product_le2 f f' h h' g : sound f -> sound f' -> sound h -> sound h' -> 0 <= g ->
  (forall r, 0 <= r -> atoms_value f r <= atoms_value f' r) ->
  (forall r, 0 <= r -> atoms_value h r <= atoms_value h' r) ->
  atoms_value (product f h) g <= atoms_value (product f' h') g.
Proof.
move=> sf sf' sh sh' g0 le1 le2; apply: (le_trans (product_le sf sf' sh g0 le1)).
by rewrite product_comm [X in _ <= X]product_comm; apply: product_le.
Qed.

(* Atoms sorted by their likelihood ratio are a table of the same profile. *)
Definition above (x y : R * R) := y.1 * x.2 <= x.1 * y.2.
Lemma permuted f s : perm_eq (pairs f) s -> sound f ->
  sound (Atoms (beyond f) s) /\ forall g, atoms_value (Atoms (beyond f) s) g = atoms_value f g.
Proof.
move=> p [c0 ps l u]; split; last by move=> g; rewrite /atoms_value /= (perm_big _ p).
by split=> //=; rewrite -?(perm_big _ p) // => x; rewrite -(perm_mem p); apply: ps.
Qed.
Theorem in_order f : sound f -> exists N : table R, forall g, value N g = atoms_value f g.
Proof.
move=> sf; pose s := sort above (pairs f).
have p : perm_eq (pairs f) s by rewrite perm_sym perm_sort.
have [[c0 ps l u] vals] := permuted p sf; rewrite /= in c0 ps l u.
have tot : total above by move=> x y; apply: le_total.
have srt : sorted above s by apply: sort_sorted.
pose a j := (nth (0, 1) s j).1; pose b j := (nth (0, 1) s j).2.
have a0 j : 0 <= a j.
  by rewrite /a; case: (ltnP j (size s)) => js; [case: (ps _ (mem_nth (0, 1) js)) | rewrite nth_default].
have b0 j : 0 < b j.
  by rewrite /b; case: (ltnP j (size s)) => js; [case: (ps _ (mem_nth (0, 1) js)) | rewrite nth_default //=
    ltr01].
have sums (F : R * R -> R) : \sum_(x <- s) F x = \sum_(j < size s) F (nth (0, 1) s j).
  by rewrite (big_nth (0, 1)) big_mkord.
have l1 : \sum_(j < size s) b j = 1 by rewrite -[RHS]l sums.
have u1 : beyond f + \sum_(j < size s) a j = 1 by rewrite -[RHS]u sums.
have fall i j : (i <= j)%N -> a j * b i <= a i * b j.
  move=> ij; case: (ltnP j (size s)) => js; last first.
    by rewrite /a /b (nth_default _ js) /= mul0r mulr1; apply: a0.
  have is_ : (i < size s)%N by apply: leq_ltn_trans js.
  have tr : {in s & &, transitive above}.
    move=> y x z ys xs zs; rewrite /above => xy yz; have [y1 y2] := ps _ ys; have [x1 x2] := ps _ xs; have [z1
      z2] := ps _ zs.
    rewrite -(ler_pmul2r y2); apply: (@le_trans _ _ (y.1 * x.2 * z.2)).
      by rewrite mulrAC [X in _ <= X]mulrAC ler_pmul2r.
    by rewrite [X in _ <= X]mulrAC ler_pmul2r.
  have refl : {in s, reflexive above} by move=> x _; rewrite /above lexx.
  have all_s : all (mem s) s by apply/allP.
  exact: (sorted_leq_nth_in tr refl (0, 1) all_s srt i j is_ js ij).
by exists (@Table _ (size s) (beyond f) a b c0 a0 b0 l1 u1 fall) => g; rewrite -vals /value /atoms_value /=
  sums.
Qed.
End Composition.
