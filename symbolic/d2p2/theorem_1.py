"""Privacy of D2P2-SGD, refuted, and the divergence of the projected step that stands in its place.

Statement    There are C_1, C_2 such that for epsilon <= C_1 B^2 K / n^2 noise nu^2 >= C_2 B^2 K^2 ln(1/delta) /
             (n^2 epsilon^2) makes D2P2-SGD (epsilon, delta)-DP for any delta > 0.
Assumptions  per-sample gradients of norm at most 1; the noise is added after the projection A^T g / sqrt(p).
Derivation   At K = B = n = p = d = epsilon = 1 and |A| = x the step is a Gaussian mechanism of mu = x / nu, whose
             delta grows with x: the true delta with A known is at least P(|A| >= x) times that at x.
Source       D2P2-SGD, Theorem 1 and A.3.
Remark       The norm of A is unbounded, so no fixed noise multiple covers it. The exact account of the projected
             step is in `lastiterate.numeric.random_projection.cost`.
"""

from sympy import Expr, Integer, Rational, diff, exp, log, sqrt

from lastiterate.symbolic.claim import Claim, Engine, Holds, Identity, Inequality, Mutant, Relation, Role, Value
from lastiterate.symbolic.d2p2.paper import at
from lastiterate.symbolic.gaussian import delta_of_gdp, renyi, tail
from lastiterate.symbolic.notation import C_2, T, alpha, b, chi, ell, n, nu, u, v, xi

_one, _zero = Integer(1), Integer(0)
_tenth = Rational(1, 10**5)
_classic = sqrt(2 * log(Rational(5, 4) * 10**5))


def _at_least(noise: Expr, length: Expr) -> Expr:
    """A lower bound of the true delta at epsilon = 1, p = d = 1: |A| >= length, and then the Gaussian mechanism."""
    return 2 * tail(length) * delta_of_gdp(_one, length / noise)


def _below_truth(constant: int, minus_log: int) -> Holds:
    noise = sqrt(Integer(constant * minus_log))
    name = f"C_2 = {constant}, delta = exp(-{minus_log})"
    return Holds(exp(-Integer(minus_log)), Relation.BELOW, _at_least(noise, sqrt(noise)), {}, name)


_noise = sqrt(C_2 * chi)
_box = {C_2: (1, 2), chi: (10, 20)}
_moment = (1 - u) ** Rational(-1, 2)
_pair = ((xi, v), (_zero, v))
_first = C_2 * b**2 * T**2 / n**2

CLAIMS = (
    Claim(
        key="d2p2/theorem_1",
        title="nu^2 >= C_2 B^2 K^2 ln(1/delta) / (n^2 epsilon^2) gives (epsilon, delta)-DP, at K = B = n = p = d = 1",
        source=at(118, "Theorem 1"),
        checks=(
            Holds(_at_least(_noise, sqrt(_noise)), Relation.AT_MOST, exp(-chi), _box, "epsilon = 1, A known"),
            Holds(_at_least(_classic, Integer(3)), Relation.AT_MOST, _tenth, {}, "nu^2 = 2 ln(1.25/delta)"),
            Inequality(
                alpha * (alpha - 1),
                Relation.BELOW,
                ell * nu**2,
                (alpha <= nu**2, alpha > 1),
                "n >= 10 B: the orders of the proof have a finite divergence",
            ),
        ),
        mutants=(
            Mutant(
                "delta squared",
                Holds(_at_least(_noise, sqrt(_noise)), Relation.AT_MOST, exp(-2 * chi), _box),
                Engine.ENCLOSURE,
            ),
            Mutant(
                "half the noise",
                Holds(_at_least(_classic / 2, Integer(3)), Relation.AT_MOST, _tenth, {}),
                Engine.ENCLOSURE,
            ),
        ),
        relation=Relation.AT_MOST,
        remark=(
            "Theorem 1 calls the step post-processing of a Gaussian mechanism of bounded sensitivity. The noise "
            "is added "
            "after the random projection, so the sensitivity is |A^T (g - g')| / sqrt(p), which has no bound: at "
            "K = B = n = p = d = 1, epsilon = 1 and nu^2 = 2 ln(1.25/delta) the true delta is 4e-4 where 1e-5 is "
            "claimed. By z3 the orders of its proof reach where the divergence is infinite. "
            "What holds is the Renyi divergence d2p2/theorem_1/projected_step, finite for small orders only."
        ),
    ),
    Claim(
        key="d2p2/theorem_1/every_constant",
        title="C_2 = 1, 10, 100, 1000 all fail: the true delta is about exp(-sqrt(C_2 ln(1/delta))), above delta",
        source=at(118, "Theorem 1"),
        checks=(
            *tuple(_below_truth(constant, 16 * constant) for constant in (1, 10, 100, 1000)),
            Value(10**4 * _at_least(_classic, Integer(3)), "0.597", "a lower bound of delta, in 1e-4"),
        ),
        mutants=(
            Mutant("delta not small", _below_truth(1000, 1), Engine.ENCLOSURE),
            Mutant(
                "the claimed delta",
                Value(10**4 * _at_least(_classic, Integer(3)), "0.100"),
                Engine.ENCLOSURE,
            ),
        ),
        role=Role.OURS,
        relation=Relation.BELOW,
    ),
    Claim(
        key="d2p2/theorem_1/projected_step",
        title="A known: -p/(2(alpha-1)) log(1 - alpha(alpha-1) Delta^2 sigma_A^2/(p nu^2)), either way",
        source=at(118, "Theorem 1"),
        assumptions=(alpha > 1,),
        checks=(
            Identity(renyi(*_pair, alpha), alpha * xi**2 / (2 * v), "two Gaussians, A fixed"),
            Identity(renyi(*_pair, alpha), renyi(_pair[1], _pair[0], alpha), "either law as the numerator"),
            Identity(2 * (1 - u) * diff(_moment, u), _moment, "M(u) = E exp(u Z^2/2): by parts 2 (1 - u) M' = M"),
            Identity(_moment.subs(u, 0), _one, "M(0) = 1"),
            Identity((alpha - 1) * renyi(*_pair, alpha), alpha * (alpha - 1) / v * xi**2 / 2, "u is the load"),
            Holds(
                u,
                Relation.BELOW,
                -log(1 - u),
                {u: (Rational(1, 100), Rational(99, 100))},
                "dearer than no projection",
            ),
        ),
        mutants=(
            Mutant("order alone", Identity(renyi(*_pair, alpha), alpha * xi**2 / v), Engine.IDENTITY),
            Mutant(
                "M with power -1",
                Identity(2 * (1 - u) * diff(1 / (1 - u), u), 1 / (1 - u)),
                Engine.IDENTITY,
            ),
            Mutant(
                "cheaper than no projection",
                Holds(-log(1 - u), Relation.BELOW, u, {u: (Rational(1, 100), Rational(99, 100))}),
                Engine.ENCLOSURE,
            ),
        ),
        role=Role.OURS,
        repairs="d2p2/theorem_1",
    ),
    Claim(
        key="d2p2/theorem_1/finite_orders",
        title="The projected step is finite exactly while alpha (alpha - 1) Delta^2 sigma_A^2 < p nu^2 (sigma_A = 1)",
        source=at(118, "Theorem 1"),
        assumptions=(alpha > 1,),
        checks=(
            Inequality(
                alpha,
                Relation.BELOW,
                (1 + sqrt(1 + 4 * ell * nu**2)) / 2,
                given=(alpha * (alpha - 1) < ell * nu**2,),
                name="in units of Delta",
            ),
        ),
        mutants=(
            Mutant(
                "no condition",
                Inequality(alpha, Relation.BELOW, (1 + sqrt(1 + 4 * ell * nu**2)) / 2),
                Engine.INEQUALITY,
            ),
            Mutant(
                "sqrt(p) nu",
                Inequality(alpha**2, Relation.BELOW, ell * nu**2, given=(alpha * (alpha - 1) < ell * nu**2,)),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.OURS,
        relation=Relation.BELOW,
    ),
    Claim(
        key="d2p2/theorem_1/last_noise",
        title="The last variance nu^2 / K is at least C_2 K B^2 (...) exactly where nu^2 is at least C_2 K^2 B^2 (...)",
        source=at(122, "Section 3.2", "below Theorem 1"),
        checks=(Identity(T * (C_2 * T * b**2 / n**2), _first, "times K"),),
        mutants=(Mutant("K^3", Identity(T * (C_2 * T**2 * b**2 / n**2), _first), Engine.IDENTITY),),
        role=Role.STEP,
    ),
    Claim(
        key="d2p2/theorem_1/range",
        title="The proof's epsilon = C_1 B^2 K^2 / n^2 meets the statement's epsilon <= C_1 B^2 K / n^2",
        source=at(405, "A.3", "last line of the proof"),
        checks=(Inequality(_first, Relation.AT_MOST, C_2 * b**2 * T / n**2, name="same C_1, here C_2"),),
        mutants=(Mutant("K^3", Inequality(_first * T, Relation.AT_MOST, C_2 * b**2 * T / n**2), Engine.INEQUALITY),),
        role=Role.STEP,
        relation=Relation.AT_MOST,
        remark=(
            "The proof ends with epsilon = C_1 B^2 K^2 / n^2, the theorem asks for epsilon <= C_1 B^2 K / n^2. "
            "From two "
            "steps on the first is greater by the factor K. The two agree for one step only."
        ),
    ),
    Claim(
        key="d2p2/theorem_1/range_one_step",
        title="For K = 1 the two ranges of epsilon agree",
        source=at(405, "A.3", "last line of the proof"),
        checks=(Identity(_first.subs(T, 1), (C_2 * b**2 * T / n**2).subs(T, 1), "K = 1"),),
        mutants=(Mutant("K = 2", Identity(_first.subs(T, 2), (C_2 * b**2 * T / n**2).subs(T, 2)), Engine.IDENTITY),),
        role=Role.OURS,
        repairs="d2p2/theorem_1/range",
    ),
    Claim(
        key="d2p2/theorem_1/decaying_noise",
        title="(12): with variances nu^2 / k the steps' costs k / nu^2 add up to K (K + 1) / 2 <= K^2 over nu^2",
        source=at(399, "A.3", "(12)"),
        checks=(Inequality(T * (T + 1) / 2, Relation.TIGHT, T**2, name="in units of one step's cost at nu"),),
        mutants=(
            Mutant(
                "as if the noise did not decay", Inequality(T * (T + 1) / 2, Relation.AT_MOST, T), Engine.INEQUALITY
            ),
            Mutant("half of K^2", Inequality(T * (T + 1) / 2, Relation.AT_MOST, T**2 / 2), Engine.INEQUALITY),
        ),
        role=Role.STEP,
        relation=Relation.TIGHT,
    ),
)
