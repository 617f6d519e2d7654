(* Sequences of numbers beside a run: the rules of symbolic/kernel/induction.py on numbers alone.

   Python: StepInduction.falls and returns, pay_in_cyclic_order.  Pages: docs/proofs/kernel.md, docs/proofs/cyclic.md. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Sequences.
Variable R : realFieldType.

(* StepInduction.falls: u / w is nonincreasing, so u_m w_j <= u_j w_m for j <= m. *)
Theorem falls (u w : nat -> R) m : (forall j, (j < m)%N -> 0 <= w j) -> (forall j, (j < m)%N -> 0 < w j.+1) ->
  (forall j, (j < m)%N -> u j.+1 * w j <= u j * w j.+1) ->
  forall j, (j <= m)%N -> u m * w j <= u j * w m.
Proof.
elim: m => [|m IH] w0 w1 step j; first by rewrite leqn0 => /eqP ->.
rewrite leq_eqVlt => /orP [/eqP -> //|]; rewrite ltnS leq_eqVlt => /orP [/eqP ->|jm]; first exact: step.
have {}IH : u m * w j <= u j * w m.
  by apply: IH; [| | |exact: ltnW] => i im; [apply: w0 | apply: w1 | apply: step]; apply: ltnW.
have wm : 0 < w m by rewrite -(ltn_predK jm); apply: w1; apply: leq_ltn_trans (leq_pred _) (ltnSn _).
have wj : 0 <= w j by apply: w0; apply: ltn_trans jm _.
rewrite -(ler_pmul2r wm); apply: (@le_trans _ _ (u m * w m.+1 * w j)).
  by rewrite mulrAC; apply: ler_wpmul2r => //; apply: step.
by rewrite mulrAC [X in _ <= X]mulrAC; apply: ler_wpmul2r => //; apply/ltW/w1.
Qed.

(* StepInduction.returns: a condition that holds at m, and at j whenever it holds at j + 1. *)
Theorem returns (condition : nat -> Prop) m : condition m ->
  (forall j, (0 < j < m)%N -> condition j.+1 -> condition j) -> forall j, (0 < j <= m)%N -> condition j.
Proof.
move=> last back j /andP [j0 jm]; rewrite -(subKn jm).
have : (m - j < m)%N by rewrite ltn_subrL j0 (leq_trans j0 jm).
elim: (m - j)%N => [|k IH] km; first by rewrite subn0.
have k1 : (m - k = (m - k.+1).+1)%N by rewrite subnSK // ltnW.
by apply: back; [rewrite subn_gt0 km ltn_subrL (leq_trans _ km) | rewrite -k1; apply: IH; apply: ltnW].
Qed.
(* ---- pay_in_cyclic_order: step t takes the b samples t b, ..., t b + b - 1 modulo n. ---- *)
Section Cyclic.
Variables n b : nat.
Hypothesis b0 : (0 < b)%N.
Hypothesis bn : (b <= n)%N.
Let n0 : (0 < n)%N. Proof. exact: leq_trans b0 bn. Qed.

(* i - t b modulo n: the place of sample i behind the first sample of the batch.  It is in the batch if it is below b. *)
Definition place i t := ((i + (n - (t * b) %% n)) %% n)%N.
Lemma place_unique i t s : (s < n)%N -> ((t * b + s) %% n = i)%N -> place i t = s.
Proof.
move=> sn <-; rewrite /place modnDml.
have -> : (t * b + s + (n - (t * b) %% n) = (t * b) %/ n * n + (s + n))%N.
  rewrite {1}(divn_eq (t * b) n) -!addnA [(_ %% _ + (s + _))%N]addnCA subnKC //.
  by rewrite ltnW // ltn_pmod.
by rewrite modnMDl modnDr modn_small.
Qed.
Lemma place_of i t : (i < n)%N -> ((t * b + place i t) %% n = i)%N.
Proof.
move=> i_n; rewrite /place modnDmr.
have -> : (t * b + (i + (n - (t * b) %% n)) = (t * b) %/ n * n + (i + n))%N.
  rewrite {1}(divn_eq (t * b) n) -!addnA [(_ %% _ + (i + _))%N]addnCA subnKC //.
  by rewrite ltnW // ltn_pmod.
by rewrite modnMDl modnDr modn_small.
Qed.
Lemma place_lt i t : (place i t < n)%N. Proof. by rewrite ltn_pmod. Qed.
Lemma in_batch i t : (i < n)%N -> (place i t < b)%N <-> exists2 s, (s < b)%N & ((t * b + s) %% n = i)%N.
Proof.
move=> i_n; split=> [lt|[s sb si]]; first by exists (place i t) => //; apply: place_of.
by rewrite (place_unique (leq_trans sb bn) si).
Qed.
Lemma place_next i t : (i < n)%N ->
  place i t.+1 = if (place i t < b)%N then (place i t + (n - b))%N else (place i t - b)%N.
Proof.
move=> i_n; have yn := place_lt i t; have yi := place_of t i_n.
case: ltnP => yb; apply: place_unique.
- by rewrite -[X in (_ < X)%N](subnKC bn) ltn_add2r.
- by rewrite mulSn [(b + _)%N]addnC -addnA [(b + (_ + _))%N]addnCA subnKC // addnA modnDr yi.
- exact: leq_ltn_trans (leq_subr _ _) yn.
- by rewrite mulSn [(b + _)%N]addnC -addnA subnKC.
Qed.

(* Payments u for the visits of sample i in m steps from step t0 on: each visit adds r = n / b to the debt p, which is
   never negative and is 0 at the end; U = sum of u <= m + r, and Q = sum of u^2 <= m + 2 r + r^2. *)
Local Notation r := (n%:R / b%:R : R).
Theorem pay_in_cyclic_order i t0 m : (i < n)%N -> exists u p : nat -> R,
  [/\ p 0%N = 0 /\ p m = 0,
      forall j, (j < m)%N -> p j.+1 = p j + (place i (t0 + j) < b)%N%:R * r - u j,
      forall j, (j < m)%N -> 0 <= u j /\ 0 <= p j.+1,
      \sum_(j < m) u j <= m%:R + r &
      \sum_(j < m) u j ^+ 2 <= m%:R + 2%:R * r + r ^+ 2].
Proof.
move=> i_n; pose x j := place i (t0 + j); pose k j := (x j < b)%N.
have bR : 0 < b%:R :> R by rewrite ltr0n.
have r0 : 0 <= r by rewrite divr_ge0 ?ler0n.
have next j : x j.+1 = if k j then (x j + (n - b))%N else (x j - b)%N by rewrite /x addnS place_next.
have xlast j : (x j)%:R / b%:R >= 0 :> R by rewrite divr_ge0 ?ler0n.
have whole j : (x j)%:R / b%:R + (k j)%:R * r - (x j.+1)%:R / b%:R = 1.
  rewrite next /k; case: ltnP => xb /=; last first.
    by rewrite natrB // mul0r addr0 mulrBl opprB addrCA subrr addr0 divff // gt_eqF.
  rewrite natrD natrB // mul1r !mulrDl mulNr divff ?gt_eqF //.
  by rewrite opprD addrACA subrr add0r opprB addrCA subrr addr0.
have slack (c : bool) : 0 <= 1 + c%:R * r by rewrite addr_ge0 ?ler01 // mulr_ge0 // ler0n.
have more (c : bool) : 1 <= 1 + c%:R * r by rewrite ler_addl mulr_ge0 // ler0n.
have sums (u : nat -> R) l : (forall j, (j < m)%N -> 0 <= u j /\ u j <= 1 + (j == l)%:R * r) ->
  \sum_(j < m) u j <= m%:R + r /\ \sum_(j < m) u j ^+ 2 <= m%:R + 2%:R * r + r ^+ 2.
  move=> bounds.
  have once (c : R) : 0 <= c -> \sum_(j < m) (1 + (j == l :> nat)%:R * c) <= m%:R + c.
    move=> c0; rewrite big_split /= sumr_const card_ord ler_add2l.
    case: (ltnP l m) => lm; last first.
      rewrite big1 // => j _; suff -> : (j == l :> nat) = false by rewrite mul0r.
      by apply/negbTE; rewrite neq_ltn (leq_trans (ltn_ord j) lm).
    rewrite (bigD1 (Ordinal lm)) //= eqxx mul1r big1 ?addr0 // => j; rewrite -val_eqE /= => /negbTE ->.
    by rewrite mul0r.
  split; first by apply: le_trans (once r r0); apply: ler_sum => j _; case: (bounds j).
  have c0 : 0 <= 2%:R * r + r ^+ 2 by apply: addr_ge0; [apply: mulr_ge0; rewrite ?ler0n | apply: exprn_ge0].
  rewrite -addrA; apply: le_trans (once _ c0).
  apply: ler_sum => j _; have [u0 u1] := bounds j (ltn_ord j).
  apply: (le_trans (ler_pmul u0 u0 u1 u1)); case: (_ == _); rewrite ?mul0r ?addr0 ?mulr1 // !mul1r.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
have [some|none] := boolP [exists j : 'I_m, k j]; last first.
  have no j : (j < m)%N -> k j = false.
    by move=> jm; apply: contraNF none => kj; apply/existsP; exists (Ordinal jm).
  exists (fun _ => 0), (fun _ => 0).
  have [] := sums (fun _ => 0) 0%N; first by move=> j _; split=> //; exact: slack.
  split=> //=.
  by move=> j jm; rewrite -/(x j) -/(k j) no // mul0r addr0 subr0.
have ex : exists j, (j < m)%N && k j by case/existsP: some => j kj; exists j; rewrite ltn_ord.
have [v /andP [vm kv] first_] := ex_minnP ex.
have bounded j : (j < m)%N && k j -> (j <= m)%N by case/andP => /ltnW.
have [l /andP [lm kl] last_] := ex_maxnP ex bounded.
have vl : (v <= l)%N by apply: first_; rewrite lm.
pose p j : R := if (v < j <= l)%N then (x j)%:R / b%:R else 0.
pose u j : R := p j + (k j)%:R * r - p j.+1.
have p0 j : 0 <= p j by rewrite /p; case: ifP.
have off j : (j < m)%N -> (j < v)%N || (l < j)%N -> k j = false.
  move=> jm out; apply/negbTE/negP => kj; have J : (j < m)%N && k j by rewrite jm.
  by move: out; rewrite ltnNge first_ //= ltnNge last_.
have small j : k j -> (x j)%:R / b%:R <= 1 :> R by move=> kj; rewrite ler_pdivr_mulr // mul1r ler_nat ltnW.
have p_in j : (v < j)%N -> (j <= l)%N -> p j = (x j)%:R / b%:R by rewrite /p => -> ->.
have p_out j : (j <= v)%N || (l < j)%N -> p j = 0.
  by rewrite /p; case/orP => out; [rewrite ltnNge out | rewrite [(j <= l)%N]leqNgt out andbF].
have bounds j : (j < m)%N -> 0 <= u j /\ u j <= 1 + (j == l)%:R * r.
  move=> jm; rewrite /u; case: (ltngtP j v) => [jv|vj|jv].
  - by rewrite (off _ jm) ?jv // (p_out j) ?(ltnW jv) // (p_out j.+1) ?jv // mul0r addr0 subr0.
  - case: (ltngtP j l) => [jl|lj|jl].
    + have vj1 : (v < j.+1)%N by rewrite ltnS ltnW.
      by rewrite (p_in j) ?(ltnW jl) // (p_in j.+1) // whole ler01 more.
    + rewrite (off _ jm) ?lj ?orbT // (p_out j) ?lj ?orbT // (p_out j.+1) ?ltnS ?(ltnW lj) ?orbT //.
      by rewrite mul0r !addr0 subr0 lexx ler01.
    + have kj : k j by rewrite jl.
      have -> : p j.+1 = 0 by apply: p_out; rewrite jl ltnSn orbT.
      have jl' : (j <= l)%N by rewrite jl.
      rewrite kj (p_in j vj jl') subr0 !mul1r addr_ge0 // ler_add2r.
      by rewrite small.
  - rewrite jv p_out ?leqnn // kv mul1r add0r; move: vl; rewrite leq_eqVlt => /orP [/eqP vl|vl].
      by rewrite p_out ?vl ?ltnSn ?orbT // subr0 eqxx mul1r r0 ler_addr ler01.
    have -> : r - p v.+1 = 1 - (x v)%:R / b%:R.
      have W := whole v; rewrite kv mul1r in W.
      by apply: (addrI ((x v)%:R / b%:R)); rewrite (p_in v.+1) // [LHS]addrA W addrCA subrr addr0.
    rewrite subr_ge0 small //; split=> //.
    by apply: le_trans (more _); rewrite ler_subl_addr ler_addl.
exists u, p; have [s1 s2] := sums u l bounds; split=> //.
- by rewrite !p_out ?lm ?orbT.
- by move=> j jm; rewrite /u opprB addrCA subrr addr0.
- by move=> j jm; have [? _] := bounds j jm.
Qed.
End Cyclic.
End Sequences.
