r"""Section 4 of Altschuler & Talwar 2022: "the lower bound holds even when all but one of the losses are zero".

Refuted for long runs: with one loss that is not zero, $b = n/2$ and $T \ge D/(\eta\sigma) + 3$ the divergence
$D_{100}$ of the last iterates is of order $D/(\eta\sigma)$ at most, but (4.1) grows like $1/\sigma^2$.

The proof is in units of $\eta\sigma$. With probability $2^{-(k + 1)}$ the last $k + 1$ steps of the second
run do not use the loss. Each such step leads from an interval of length 1 into a given neighbour with
probability at least $\phi(2)$. So $k \le D + 2$ steps lead with probability at least $\phi(2)^k$ into the
interval $I$ next to the state of the first run before its last noise. This noise and the projection give the
first run at most twice the density that they give from the nearest point of $I$, and all points of $I$ are
within 1 of this point. A mixture costs at most as much as its worst part (Lemma 2.6).
"""

from lastiterate.symbolic.altschuler_talwar.paper import *
from lastiterate.symbolic.altschuler_talwar.theorem_4_1 import BAR, LEVEL, SEEN, quantity

_small = Rational(1, 10**7)
_lengths = D / (eta * sigma_dp)
_divergence = RenyiDivergence(100, LastIterate(SAMPLES), LastIterate(OTHER))
OneNonzero: Final = condition("OneNonzero", "all losses of {0} and {1} but one are zero", __name__)
OnInterval: Final = condition("OnInterval", "the domain an interval of length {0}", __name__)
_chance = Function("probability", nonnegative=True)  # probability that t free steps take the given path

_pair = quantity(Integer(1500)).subs({K: 1, n: 2})
"""(4.1) at n = 2, b = K = eta = 1 and D = 1000, for T >= 1500."""


def _most(lengths: Expr) -> Expr:
    """A bound on D_100 for any pair with one nonzero loss at b = n/2 and T >= ``lengths`` + 3."""
    return (lengths + 3) * (log(2) + 2 + log(2 * pi) / 2) + 100 * log(2) / 99 + 50


def _apart(length: Expr, name: str) -> Inequality:
    given = (2 * Abs(xi) <= length, 2 * Abs(zeta) <= length)
    return Inequality((xi - zeta) ** 2, "<= and attained", length**2, given, name)


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

CLAIMS = (
    Claim(
        "altschuler_talwar/theorem_4_1/one_nonzero",
        "The lower bound holds even when all but one of the losses are zero",
        at("Section 4"),
        IntervalInequality(_pair.subs(sigma_dp, _small), "<=", _most(1000 / _small), {}, "sigma_DP = 10^-7"),
        Asymptotic(_pair, _most(1000 / sigma_dp), path={sigma_dp: 1 / growth**4}, name="noise falling to 0"),
        refutation=_refutation,
    ),
    Ours(
        "altschuler_talwar/theorem_4_1/one_nonzero_repaired",
        "One nonzero loss: (4.1) holds at T bar from 0; D_100 is O(D/(eta sigma_DP)) from T = D/(eta sigma_DP) + 3 on",
        at("Section 4"),
        IntervalInequality(-Rational(1, 5), "<", SEEN - y / 800, {}, "T = T bar: what the event shows"),
        Inequality(LEVEL * y, "<", y / 800 - Rational(1, 5), (y >= 1000,), "T = T bar: (4.1) is below it"),
        _apart(Integer(2), "two points of neighbours, around their middle"),
        Identity(
            -log(exp(-(x**2) / 2) / sqrt(2 * pi)), x**2 / 2 + log(2 * pi) / 2, "density at a distance of x"
        ),
        Inequality(x**2 / 2, "<= and attained", Integer(2), (x <= 2,), "which is 2 at most"),
        Induction(
            t,
            Le((q * r) ** t, _chance(t)),
            (Eq(_chance(0), 1),),
            (Le(q * r * _chance(t), _chance(t + 1)),),
            name="any number of free steps",
        ),
        Inequality(x**2, "<=", (x + z) ** 2, name="past the end the density only falls"),
        _apart(S.One, "two points of one interval"),
        Identity(log(u**100 * v**-99 * exp(99 * 50)) / 99, 100 * log(u) / 99 - log(v) + 50, "order 100"),
        Inequality(
            (x + 1) * p + x * q,
            "<=",
            (_lengths + 3) * (p + q),
            (x <= _lengths + 2,),
            "x + 1 free steps, x of them to reach I",
        ),
        IntervalInequality(
            _pair.subs(sigma_dp, Rational(1, 1000)), "<", _most(Integer(10**6)), {}, "silent at 1/1000"
        ),
        letters={q: "probability that a step is free", r: "that it leads into the next interval", p: "log 2"}
        | {u: "bound of the ratio of densities, 2", v: "probability to reach a point"},
        statement=closed(
            _divergence <= _most(_lengths),
            Neighbours(SAMPLES, OTHER),
            OneNonzero(SAMPLES, OTHER),
            OnInterval(D),
            BatchesOf(b, 2 * b),
            _lengths + 3 <= T,
        ),
        repairs="altschuler_talwar/theorem_4_1/one_nonzero",
    ),
)
