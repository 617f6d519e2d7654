"""The lower bound: its construction, its constants, and the reduction to one pair of numbers.

Statement    Noisy-SGD on linear losses is not (100, epsilon)-RDP for epsilon <= c_alpha 100 K^2/(n^2 sigma_DP^2)
             min{T, x} when D >= c_D eta K and sigma_DP^2 <= c_sigma D^2/(eta^2 x), from any start.
Assumptions  x = 3 D n/(4 K eta) is the T bar of section 4; y = D^2/(x eta^2 sigma_DP^2) >= 1/c_sigma = 1000; c_D =
             1000, c_alpha = 10^-7; (4.1) at T >= x is y times 9/1600000.
Derivation   A walk that is clamped to [-D/2, D/2] and pushed up by eta K/b with probability b/n, against one that is
             not pushed. At T = x from 0: the pushed walk is at least D/20 with probability P(N >= -sqrt(5/2)) - 1/10
             or more, the other with probability exp(-y/800) or less, by the maximum of the walk that ends at T. For
             small noise and one nonzero loss: the denominator's last k + 1 steps are free of it with probability (1 -
             q)^(k + 1); in k <= D/(eta sigma) + 2 of them it reaches any interval of one deviation with probability
             phi(2)^k; a step from inside one costs alpha/2, and a push past the end is within a factor two of a step
             from the end.
Source       Altschuler & Talwar 2022, section 4 and the beginning of appendix A.4.
"""

from sympy import Expr, Integer, Rational, erf, exp, log, pi, sqrt

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import Asymptotic, Claim, Holds, Identity, Inequality, Relation, Role
from lastiterate.symbolic.mutants import wrong
from lastiterate.symbolic.notation import D, K, T, b, eta, growth, n, sigma_dp, u, v, w, x, y, z

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


_small = Rational(1, 10**7)
_pair = _quantity(Integer(1500)).subs({K: 1, n: 2})
"""(4.1) at n = 2, b = K = eta = 1 and D = 1000, for T >= 1500."""


def _most(lengths: Expr) -> Expr:
    """A bound of D_100 for any pair with one nonzero loss at b = n/2, T >= lengths + 3, lengths = D/(eta sigma_DP)."""
    return (lengths + 3) * (log(2) + 2 + log(2 * pi) / 2) + 100 * log(2) / 99 + 50


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
        key="altschuler_talwar/theorem_4_1/one_nonzero",
        title="The lower bound holds even when all but one of the losses are zero",
        source=at(470, "Section 4"),
        checks=(
            Holds(
                _pair.subs(sigma_dp, _small),
                Relation.AT_MOST,
                _most(1000 / _small),
                {},
                "n = 2, b = K = eta = 1, D = 1000, sigma_DP = 10^-7, T at least 10^10 + 3",
            ),
            Asymptotic(
                _pair,
                _most(1000 / sigma_dp),
                path={sigma_dp: 1 / growth**4},
                name="the same, noise falling to 0, whatever c_alpha",
            ),
        ),
        mutants=(
            wrong(
                "a third of (4.1)", Holds(_pair.subs(sigma_dp, _small) / 3, Relation.AT_MOST, _most(1000 / _small), {})
            ),
        ),
        relation=Relation.AT_MOST,
        remark=(
            "The lower bound is said to hold even when all but one of the losses are zero, as in the pair of its "
            "proof. With b = n/2, little noise and T above D/(eta sigma) + 3 the last iterates of any such pair have "
            "D_100 of order D/(eta sigma), in both orders, where (4.1) grows like 1/sigma^2. It holds at T = T bar, "
            "and for noise within a factor three of the largest; data sets with more nonzero losses are not covered "
            "by this."
        ),
    ),
    Claim(
        key="altschuler_talwar/theorem_4_1/one_nonzero_repaired",
        title="Any two such last iterates: a chain of intervals of one deviation, and a last step without a push",
        source=at(470, "Section 4"),
        checks=(
            Identity(-log(exp(-2) / sqrt(2 * pi)), 2 + log(2 * pi) / 2, "density two deviations away"),
            Inequality(x**2, Relation.AT_MOST, (x + z) ** 2, name="past the end the density only falls"),
            Inequality((u - v) ** 2, Relation.AT_MOST, w**2, (u <= w, v <= w), "two points of one interval"),
            Holds(
                _pair.subs(sigma_dp, Rational(1, 1000)), Relation.BELOW, _most(Integer(10) ** 6), {}, "silent at 1/1000"
            ),
        ),
        mutants=(
            wrong("one deviation", Identity(-log(exp(-_one / 2) / sqrt(2 * pi)), 2 + log(2 * pi) / 2)),
            wrong("twice the square", Inequality(2 * x**2, Relation.AT_MOST, (x + z) ** 2)),
        ),
        role=Role.OURS,
        relation=Relation.AT_MOST,
        repairs="altschuler_talwar/theorem_4_1/one_nonzero",
    ),
)
