"""From Lemma 5 to Theorem 1: composition, the orders that are left, and the constants of (13).

Statement    e_M(alpha) <= 7 K^2 B^2 alpha/(nu^2 n^2) for alpha <= (nu^2/2) log(n/B), and (13) can be solved.
Assumptions  step k has noise nu^2/k; (13) is 7 K^2 B^2 alpha/(nu^2 n^2) <= epsilon/2 and (alpha - 1) epsilon/2 >= chi.
Derivation   Lemma 5 at step k allows alpha <= (nu^2/(2 k)) log(n/B); put nu of the theorem into (13).
Source       D2P2-SGD, Lemma 3, Theorem 1, A.3 (5), (12), (13); A.9.2.
Remark       y is log(n/B), u is epsilon and v is chi = log(1/delta); C_2 is the constant of nu^2.
"""

from sympy import Integer, Rational, Sum, ceiling

from lastiterate.symbolic.claim import Asymptotic, Claim, Identity, Inequality, Recursion, Relation, Role, Value
from lastiterate.symbolic.d2p2.paper import at
from lastiterate.symbolic.mutants import wrong
from lastiterate.symbolic.notation import C_2, PREVIOUS, T, alpha, growth, j, nu, q, u, v, x, y

_orders = (alpha <= nu**2 / 2 * y, y >= 2)
_needed = 14 * (u + 2 * v) / v
_epochs = Integer(40) * ceiling(Rational(60000, 1024))

CLAIMS = (
    Claim(
        key="d2p2/lemma_3",
        title="(5): K steps of cost x compose to at most K x",
        source=at(329, "Lemma 3", "(5)"),
        checks=(Recursion(T, Integer(0), PREVIOUS + x, T * x, name="equal steps"),),
        mutants=(wrong("K^2", Recursion(T, Integer(0), PREVIOUS + x, T**2 * x)),),
    ),
    Claim(
        key="d2p2/lemma_5/reciprocal",
        title="Proof of Lemma 5: from B/n < 1/10 it uses q <= 1/10, and prints 1/q <= 1/10",
        source=at(387, "A.3", "proof of Lemma 5"),
        checks=(Inequality(q, Relation.AT_MOST, Rational(1, 10), (q < Rational(1, 10),), "q"),),
        misprint=Inequality(1 / q, Relation.AT_MOST, Rational(1, 10), (q < Rational(1, 10),), "1/q, as printed"),
        mutants=(wrong("1/20", Inequality(q, Relation.AT_MOST, Rational(1, 20), (q < Rational(1, 10),))),),
        role=Role.STEP,
        remark=(
            "The proof says 1/q <= 1/10 for the sampling rate q = B/n. The lemma assumes q < 1/10, so 1/q is above 10. "
            "Read q <= 1/10."
        ),
    ),
    Claim(
        key="d2p2/lemma_5/range",
        title="(12): an order alpha <= (nu^2/2) log(n/B) is within Lemma 5's range at every step",
        source=at(399, "A.3", "(12)"),
        checks=(Inequality(alpha, Relation.AT_MOST, nu**2 / (2 * T) * y, _orders, "at step K, of noise nu^2/K"),),
        mutants=(wrong("at twice it", Inequality(alpha, Relation.AT_MOST, nu**2 / T * y, _orders)),),
        role=Role.STEP,
        relation=Relation.AT_MOST,
        remark=(
            "Lemma 5 holds for orders up to half the variance times log(n/B), and the variance at step k is nu^2/k. "
            "(12) keeps the range of the first step for all of them. What composition allows is alpha <= "
            "(nu^2/(2 K)) log(n/B)."
        ),
    ),
    Claim(
        key="d2p2/lemma_5/range_repaired",
        title="An order alpha <= (nu^2/(2 K)) log(n/B) is within Lemma 5's range at every step k <= K",
        source=at(399, "A.3", "(12)"),
        checks=(
            Inequality(alpha, Relation.TIGHT, nu**2 / (2 * j) * y, (alpha <= nu**2 / (2 * T) * y, j <= T), "at step k"),
        ),
        mutants=(
            wrong("past K", Inequality(alpha, Relation.AT_MOST, nu**2 / (2 * j) * y, (alpha <= nu**2 / (2 * T) * y,))),
        ),
        role=Role.OURS,
        relation=Relation.TIGHT,
        repairs="d2p2/lemma_5/range",
    ),
    Claim(
        key="d2p2/theorem_1/sum_of_steps",
        title="(12): the costs 7 q^2 alpha k/nu^2 of the steps add up to 7 q^2 alpha K (K + 1)/(2 nu^2)",
        source=at(399, "A.3", "(12)"),
        checks=(
            Identity(
                7 * q**2 * alpha / nu**2 * Sum(j, (j, 1, T)), 7 * q**2 * alpha * T * (T + 1) / (2 * nu**2), "the sum"
            ),
            Inequality(T * (T + 1) / 2, Relation.TIGHT, T**2, name="at most K^2, and K is not what counts them"),
        ),
        mutants=(
            wrong(
                "K steps alike",
                Identity(7 * q**2 * alpha / nu**2 * Sum(j, (j, 1, T)), 7 * q**2 * alpha * T / nu**2),
            ),
        ),
        role=Role.STEP,
    ),
    Claim(
        key="d2p2/theorem_1/solvable",
        title="(13): with nu^2 = C_2^2 (B K/n)^2 chi/epsilon^2 some constant C_2 serves all epsilon and delta",
        source=at(403, "A.3", "(13)"),
        checks=(
            Inequality(_needed, Relation.AT_MOST, C_2**2, name="from 1 + 2 chi/epsilon to C_2^2 chi/(14 epsilon)"),
            Asymptotic(_needed, Integer(1), path={u: growth, v: Integer(1)}, name="epsilon large against chi"),
        ),
        mutants=(wrong("14", Inequality(14 * (u + 2 * v) / v, Relation.AT_MOST, Integer(29))),),
        role=Role.STEP,
        relation=Relation.UP_TO_CONSTANT,
        remark=(
            "(13) asks for an order between 1 + 2 chi/epsilon and C_2^2 chi/(14 epsilon), chi = log(1/delta), so "
            "C_2^2 >= 28 + 14 epsilon/chi. Theorem 1 lets epsilon grow with K^2 and delta be anything, and then no "
            "constant serves: z3 and the path epsilon = N agree. With epsilon <= 2 chi the constant C_2^2 = 56 does."
        ),
    ),
    Claim(
        key="d2p2/theorem_1/solvable_repaired",
        title="For epsilon <= 2 log(1/delta) the orders of (13) exist with C_2^2 = 56",
        source=at(403, "A.3", "(13)"),
        checks=(
            Inequality(_needed, Relation.TIGHT, Integer(56), (u <= 2 * v,), "C_2^2 = 56"),
            Identity(14 * (1 + 2 * v / u) * u / v, _needed, "the two ends of the range"),
        ),
        mutants=(
            wrong("55", Inequality(_needed, Relation.AT_MOST, Integer(55), (u <= 2 * v,))),
            wrong("alpha for alpha - 1", Identity(14 * (2 * v / u) * u / v, _needed)),
        ),
        role=Role.OURS,
        relation=Relation.TIGHT,
        repairs="d2p2/theorem_1/solvable",
    ),
    Claim(
        key="d2p2/appendix_a_9/iterations",
        title="A.9.2: 40 epochs of batches of 1024 from 60000 are 2360 steps, so K = 40 is not the K of (12)",
        source=at(585, "A.9.2"),
        checks=(
            Value(_epochs, "2360", "steps"),
            Value(Rational(275, 100) * Integer(60000) ** 2 / (1024**2 * _epochs), "4.0006", "C_1 for 2.75 at K = 2360"),
        ),
        mutants=(wrong("58 batches", Value(_epochs, "2320")),),
        role=Role.OURS,
    ),
)
