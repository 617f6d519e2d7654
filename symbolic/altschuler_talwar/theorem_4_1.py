"""The lower bound: its construction, its constants, and the reduction to one pair of numbers.

Statement    Noisy-SGD on linear losses is not (100, epsilon)-RDP for epsilon <= c_alpha 100 K^2/(n^2 sigma_DP^2)
             min{T, x} when D >= c_D eta K and sigma_DP^2 <= c_sigma D^2/(eta^2 x), from any start.
Assumptions  x = 3 D n/(4 K eta) is the T bar of section 4; y = D^2/(x eta^2 sigma_DP^2) >= 1/c_sigma = 1000; c_D =
             1000, c_alpha = 10^-7; (4.1) at T >= x is y times 9/1600000.
Derivation   A walk that is clamped to [-D/2, D/2] and pushed up by eta K/b with probability b/n, against one that is
             not pushed. At T = x from 0: the pushed walk is at least D/20 with probability P(N >= -sqrt(5/2)) - 1/10
             or more, the other with probability exp(-y/800) or less, by the maximum of the walk that ends at T. The
             pushed run is not pushed in its last k steps with probability (1 - q)^k, and then Proposition 3.2 bounds
             the order with the other run first.
Source       Altschuler & Talwar 2022, section 4 and the beginning of appendix A.4.
"""

from sympy import Expr, Integer, Rational, erf, exp, log, sqrt

from lastiterate.symbolic.altschuler_talwar.paper import at, wrong
from lastiterate.symbolic.claim import Asymptotic, Claim, Holds, Identity, Inequality, Relation, Role, Unbounded
from lastiterate.symbolic.notation import D, K, T, b, eta, growth, n, q, sigma_dp, u, v, w, x, y, z

_one = Integer(1)
_level = Rational(9, 1_600_000)  # (4.1) over y
_bar = 3 * D * n / (4 * K * eta)
_pushed = (1 + erf(sqrt(Rational(5, 4)))) / 2 - Rational(1, 10)
_seen = 100 * log(_pushed) / 99 + y / 800
_noises = {y: (Integer(1000), Integer(10) ** 9)}
_shown = Rational(1, 10) - log(100) / 99
"""What is known of the order 100 where (1/10, 1/100)-DP fails."""


def _quantity(bar: Expr) -> Expr:
    """(4.1) for T >= T bar."""
    return Rational(1, 10**7) * 100 * K**2 / (n**2 * sigma_dp**2) * bar


def _in_units(level: Expr) -> Identity:
    return Identity(_quantity(_bar), level * D**2 / (_bar * eta**2 * sigma_dp**2), "(4.1) is a multiple of y")


CLAIMS = (
    Claim(
        key="altschuler_talwar/theorem_4_1",
        title="Theorem 4.1 at T = T bar from 0: the order 100 exceeds (4.1) at every admissible noise",
        source=at(474, "Theorem 4.1", "(4.1)"),
        checks=(
            _in_units(_level),
            Holds(_level * y, Relation.BELOW, _seen, _noises, "what the event shows"),
            Identity(exp(-((D / 20) ** 2) / (2 * D**2 / y)), exp(-y / 800), "maximum of the walk"),
        ),
        mutants=(
            wrong("c_alpha = 10^-4", Holds(1000 * _level * y, Relation.BELOW, _seen, _noises)),
            wrong(
                "T bar without 3/4", Identity(_quantity(4 * _bar / 3), _level * D**2 / (_bar * eta**2 * sigma_dp**2))
            ),
        ),
        relation=Relation.BELOW,
    ),
    Claim(
        key="altschuler_talwar/theorem_4_1/construction",
        title="The push is 3D/4 in all, so that the mean is D/4 and the variance at most D^2/1000",
        source=at(502, "Section 4"),
        checks=(
            Identity(_bar * eta * K / n, 3 * D / 4, "eta K/b with probability b/n, T bar times"),
            Identity(-D / 2 + 3 * D / 4, D / 4, "mean"),
            Inequality(
                _bar * eta**2 * sigma_dp**2,
                Relation.TIGHT,
                D**2 / 1000,
                (sigma_dp**2 <= D**2 / (1000 * eta**2 * _bar),),
                "variance",
            ),
        ),
        mutants=(
            wrong("eta K/n each step for b", Identity(_bar * eta * K / b, 3 * D / 4)),
            wrong(
                "D^2/2000",
                Inequality(
                    _bar * eta**2 * sigma_dp**2,
                    Relation.AT_MOST,
                    D**2 / 2000,
                    (sigma_dp**2 <= D**2 / (1000 * eta**2 * _bar),),
                ),
            ),
        ),
        role=Role.STEP,
    ),
    Claim(
        key="altschuler_talwar/theorem_4_1/constants",
        title="A.4: with the constants of footnote 9, (4.1) exceeds 0.005, and 0.005 + log(100)/99 < 0.1",
        source=at(697, "A.4"),
        checks=(
            Inequality(Rational(5, 1000), Relation.BELOW, _level * y, (y >= 1000,), "(4.1) above 0.005"),
            Holds(Rational(5, 1000) + log(100) / 99, Relation.BELOW, Rational(1, 10), {}, "conversion at delta = 0.01"),
        ),
        mutants=(
            wrong("above 0.006", Inequality(Rational(6, 1000), Relation.BELOW, _level * y, (y >= 1000,))),
            wrong("order 50", Holds(Rational(5, 1000) + log(100) / 49, Relation.BELOW, Rational(9, 100), {})),
        ),
        role=Role.STEP,
    ),
    Claim(
        key="altschuler_talwar/theorem_4_1/suffices",
        title="A.4: it suffices to show that the run is not (100, 0.005)-RDP",
        source=at(697, "A.4"),
        checks=(
            Inequality(_level * y, Relation.AT_MOST, Rational(5, 1000), (y >= 1000,), "(4.1) at most 0.005"),
            Asymptotic(_level * y, _one, path={y: 1000 + growth}, given=(y >= 1000,), name="(4.1) bounded"),
        ),
        mutants=(wrong("at most 1/2", Inequality(_level * y, Relation.AT_MOST, Rational(1, 2), (y >= 1000,))),),
        role=Role.STEP,
        relation=Relation.AT_MOST,
        remark=(
            "(4.1) is shown to be greater than 0.005, and then it is said to suffice that the run is not (100, "
            "0.005)-RDP. That leaves every epsilon from 0.005 to (4.1), which grows like 1/sigma^2 without limit, "
            "while a test of positivity shows at most 0.054 for T above T bar. The argument gives the theorem for "
            "noise within a factor three of the largest, and a smaller event gives it for every noise at T = T bar."
        ),
    ),
    Claim(
        key="altschuler_talwar/theorem_4_1/suffices_repaired",
        title="For y up to 9000, noise within a factor three of the largest, failing (0.1, 0.01)-DP suffices",
        source=at(697, "A.4"),
        checks=(
            Holds(_level * y, Relation.BELOW, _shown, {y: (1000, 9000)}, "y at most 9000"),
            Holds(2 * _level * y, Relation.BELOW, _shown, {y: (1000, 4500)}, "T below T bar, y at most 4500"),
        ),
        mutants=(wrong("y at most 10000", Holds(_level * y, Relation.BELOW, _shown, {y: (1000, 10000)})),),
        role=Role.OURS,
        relation=Relation.BELOW,
        repairs="altschuler_talwar/theorem_4_1/suffices",
    ),
    Claim(
        key="altschuler_talwar/theorem_4_1/few_steps",
        title="A.4: T <= T bar by composition: ceil(T bar/T) runs have at most twice T bar steps",
        source=at(697, "A.4"),
        checks=(Inequality(w * T, Relation.AT_MOST, 2 * x, (x >= T, (w - 1) * T <= x), "number of steps"),),
        mutants=(wrong("no ceiling", Inequality(w * T, Relation.AT_MOST, x, (x >= T, (w - 1) * T <= x))),),
        role=Role.STEP,
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="altschuler_talwar/theorem_4_1/start",
        title="The test of positivity tells the runs apart from any start",
        source=at(472, "Theorem 4.1"),
        checks=(
            Holds(
                exp(Rational(1, 10)) * (1 - exp(-125)) + Rational(1, 100),
                Relation.AT_MOST,
                _one,
                {},
                "start D/2, T = T bar: what is needed is at most 1",
            ),
        ),
        mutants=(
            wrong(
                "start at 0 with twice the chance",
                Holds(exp(Rational(1, 10)) * Rational(99, 100) + Rational(1, 100), Relation.AT_MOST, _one, {}),
            ),
        ),
        role=Role.STEP,
        remark=(
            "The theorem allows any start, and the proof puts P[w_T >= 0] at 1/2 by symmetry around 0. From D/2 the "
            "walk without a push is still positive after T bar steps with probability 1 - exp(-125), so that no event "
            "of the other run has the probability that is asked for. The symmetry holds from 0; from other starts "
            "push towards the far end, for which a walk from 0 is dominated."
        ),
    ),
    Claim(
        key="altschuler_talwar/theorem_4_1/start_repaired",
        title="Pushed towards the end that is farther from the start, the other run has at most 1/2 there",
        source=at(472, "Theorem 4.1"),
        checks=(
            Holds(exp(Rational(1, 10)) / 2 + Rational(1, 100), Relation.BELOW, Rational(89, 100), {}, "what is needed"),
        ),
        mutants=(wrong("e for e^0.1", Holds(exp(_one) / 2 + Rational(1, 100), Relation.BELOW, Rational(89, 100), {})),),
        role=Role.OURS,
        repairs="altschuler_talwar/theorem_4_1/start",
    ),
    Claim(
        key="altschuler_talwar/theorem_4_1/small_noise",
        title="For batches b < n the construction does not reach (4.1) at small noise, the unpushed run first",
        source=at(470, "Section 4"),
        assumptions=(q < 1,),
        checks=(
            Inequality(2 * sqrt(u * v), Relation.TIGHT, u * z + v / z, (z > 0,), "v steps without a push, v real"),
            Unbounded(
                _level * D**2 / (x * eta**2 * sigma_dp**2),
                D / (eta * sigma_dp) * sqrt(200 * log(1 / (1 - q))),
                {D: _one, x: _one, eta: _one, q: _one / 2, sigma_dp: 1 / growth},
                name="(4.1) against k log(1/(1 - q)) + 100 D^2/(2 k eta^2 sigma_DP^2) at the best k",
            ),
        ),
        mutants=(
            wrong(
                "root of (4.1)",
                Unbounded(
                    D / (sqrt(x) * eta * sigma_dp),
                    D / (eta * sigma_dp) * sqrt(200 * log(1 / (1 - q))),
                    {D: _one, x: _one, eta: _one, q: _one / 2, sigma_dp: 1 / growth},
                ),
            ),
        ),
        role=Role.OURS,
    ),
)
