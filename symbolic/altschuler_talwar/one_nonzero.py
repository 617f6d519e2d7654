"""The lower bound where all losses but one are zero: it fails for long runs, and what holds in place of it."""

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.altschuler_talwar.theorem_4_1 import BAR, LEVEL, SEEN, quantity
from lastiterate.symbolic.prelude import *

_small = Rational(1, 10**7)
_pair = quantity(Integer(1500)).subs({K: 1, n: 2})
"""(4.1) at n = 2, b = K = eta = 1 and D = 1000, for T >= 1500."""

_lengths = D / (eta * sigma_dp)
_divergence = RenyiDivergence(100, LastIterate(SAMPLES), LastIterate(OTHER))
OneNonzero: Final = condition("OneNonzero", "all losses of {0} and {1} but one are zero", __name__)
OnInterval: Final = condition("OnInterval", "the domain an interval of length {0}", __name__)


def _most(lengths: Expr) -> Expr:
    """A bound of D_100 for any pair with one nonzero loss at b = n/2, T >= lengths + 3, lengths = D/(eta sigma_DP)."""
    return (lengths + 3) * (log(2) + 2 + log(2 * pi) / 2) + 100 * log(2) / 99 + 50


_refutation = RefutingRun(
    fails=words(
        "With one loss that is not zero the other run reaches the same places at a cost of order {} at most, while "
        "the lower bound grows like {}.",
        _lengths,
        1 / sigma_dp**2,
    ),
    at={n: 2, b: 1, K: 1, eta: 1, D: 1000, sigma_dp: _small, T: 10**10 + 3},
    run="any pair of data sets with one loss that is not zero, at order 100",
    quantity=("Rényi divergence of order 100 of the last iterates",),
    claimed=quantity(Min(T, BAR)),
    true=_most(_lengths),
    sign=">=",
    says=closed(_divergence >= quantity(Min(T, BAR)), Neighbours(SAMPLES, OTHER), OneNonzero(SAMPLES, OTHER)),
)


def _apart(length: Expr, name: str) -> Inequality:
    return Inequality(
        (xi - zeta) ** 2, "<= and attained", length**2, (2 * Abs(xi) <= length, 2 * Abs(zeta) <= length), name
    )


_chance = Function("chance", nonnegative=True)  # that so many free steps lead from interval to interval as they should

CLAIMS = (
    Claim(
        "altschuler_talwar/theorem_4_1/one_nonzero",
        "The lower bound holds even when all but one of the losses are zero",
        at("Section 4"),
        IntervalInequality(
            _pair.subs(sigma_dp, _small),
            "<=",
            _most(1000 / _small),
            {},
            "n = 2, b = K = eta = 1, D = 1000, sigma_DP = 10^-7, T at least 10^10 + 3",
        ).mutant("a third of (4.1)", left=_pair.subs(sigma_dp, _small) / 3),
        Asymptotic(
            _pair,
            _most(1000 / sigma_dp),
            path={sigma_dp: 1 / growth**4},
            name="the same, noise falling to 0, whatever c_alpha",
        ),
        refutation=_refutation,
        remark="""The lower bound is said to hold even when all but one of the losses are zero, as in the pair of its
        proof. With b = n/2, little noise and T above D/(eta sigma) + 3 the last iterates of any such pair have D_100 of
        order D/(eta sigma), in both orders, where (4.1) grows like 1/sigma^2. It holds at T = T bar, and for noise
        within a factor three of the largest; data sets with more nonzero losses are not covered by this.""",
    ),
    Ours(
        "altschuler_talwar/theorem_4_1/one_nonzero_repaired",
        "One nonzero loss: (4.1) holds at T bar from 0; D_100 is O(D/(eta sigma_DP)) from T = D/(eta sigma_DP) + 3 on",
        at("Section 4"),
        IntervalInequality(-Rational(1, 5), "<", SEEN - y / 800, {}, "T = T bar: what the event shows"),
        Inequality(LEVEL * y, "<", y / 800 - Rational(1, 5), (y >= 1000,), "T = T bar: (4.1) is below it"),
        _apart(Integer(2), "two points of neighbours, around their middle"),
        Identity(-log(exp(-(x**2) / 2) / sqrt(2 * pi)), x**2 / 2 + log(2 * pi) / 2, "density at a distance of x"),
        Inequality(x**2 / 2, "<= and attained", Integer(2), (x <= 2,), "which is 2 at most"),
        Induction(
            t,
            Le((q * r) ** t, _chance(t)),
            (Eq(_chance(0), 1),),
            (Le(q * r * _chance(t), _chance(t + 1)),),
            name="q: chance that a step is free, r: that it leads into the next interval",
        ),
        Inequality(x**2, "<=", (x + z) ** 2, name="past the end the density only falls"),
        _apart(Integer(1), "two points of one interval"),
        Identity(
            log(u**100 * v**-99 * exp(99 * 50)) / 99,
            100 * log(u) / 99 - log(v) + 50,
            "order 100 of a step between such points, at most u = 2 times the density, reached with chance v",
        ),
        Inequality(
            (x + 1) * p + x * q,
            "<=",
            (_lengths + 3) * (p + q),
            (x <= _lengths + 2,),
            "x + 1 free steps, x of them to reach I, p = log 2 and q = 2 + log(2 pi)/2",
        ),
        IntervalInequality(
            _pair.subs(sigma_dp, Rational(1, 1000)), "<", _most(Integer(10) ** 6), {}, "silent at 1/1000"
        ),
        statement=closed(
            _divergence <= _most(_lengths),
            Neighbours(SAMPLES, OTHER),
            OneNonzero(SAMPLES, OTHER),
            OnInterval(D),
            BatchesOf(b, 2 * b),
            _lengths + 3 <= T,
        ),
        repairs="altschuler_talwar/theorem_4_1/one_nonzero",
        remark="""Each step of the argument is a check; that together they are the bound no engine decides. Lengths are
        in standard deviations eta sigma_DP: the last k + 1 steps of the second run are free of the loss with chance
        2^-(k + 1), and of intervals of length 1 let I be the one next to where the first run is before its last noise.
        A free step leads from each interval into a given neighbour with chance phi(2) at least, as no two points of
        them are more than 2 apart, so k <= D + 2 of them lead into I with chance phi(2)^k. The last noise and the
        projection give the first run at most twice the density of the point of I next to it, and other points of I are
        within 1 of that. The first run is a mixture over places and batches, and costs no more than the worst of its
        parts (Lemma 2.6).""",
    ),
)
