r"""Theorem 4.1 of Altschuler & Talwar 2022: the lower bound.

There are absolute constants $c_\sigma, c_D, c_\alpha$ (footnote 9: $1/1000$, $1/1000$, $10^{-7}$;
$\alpha \ge 100$) such that for $\eta L \le c_D D$ and $\sigma^2 \le c_\sigma D^2/(\eta^2\bar T)$ some pair
of adjacent data sets is not $(\alpha, \varepsilon)$-RDP for
$$\varepsilon < c_\alpha \frac{\alpha L^2}{n^2\sigma^2}\min\{T, \bar T\},
  \quad \bar T = \frac{3Dn}{4L\eta}, \qquad(4.1)$$
from any start.

The proof compares two walks on $[-D/2, D/2]$. One is pushed up by $\eta L/b$ with probability $b/n$; the
other is not pushed and is bounded through its maximum. The proof shows (4.1) for $T = \bar T$ and runs that
start at 0. Gaps: small noise, shorter runs, other starts, and the matching DP bound of Remark 1.4.
"""

from lastiterate.symbolic.altschuler_talwar.paper import *

# y = D^2/(T bar eta^2 sigma_DP^2) >= 1/c_sigma = 1000.
BAR = 3 * D * n / (4 * K * eta)
LEVEL = Rational(9, 1_600_000)  # (4.1) over y, at T >= T bar
SEEN = 100 * log((1 + erf(sqrt(Rational(5, 4)))) / 2 - Rational(1, 10)) / 99 + y / 800
_grown = exp(Rational(1, 10))
_shown = Rational(1, 10) - log(100) / 99
"""A lower bound on the divergence of order 100 if (1/10, 1/100)-DP fails."""

_run, _mirrored, _below, _noise = (Function(name, real=True) for name in ("x", "y", "u", "Z"))
# The loss of a run, and of all runs so far.
_by_one, _lost = (Function(name, nonnegative=True) for name in ("x", "X"))


def quantity(bar: Expr) -> Expr:
    """The bound (4.1), with ``bar`` for min{T, T bar}."""
    return Rational(1, 10**7) * 100 * K**2 / (n**2 * sigma_dp**2) * bar


def _clamped(run: Any, move: Expr) -> Relational:
    return Eq(run(t + 1), Min(Max(run(t) + move, -D / 2), D / 2))


CLAIMS = (
    Claim(
        "altschuler_talwar/theorem_4_1",
        "Theorem 4.1: for some pair of data sets D_100 exceeds (4.1), at every admissible noise, from any start",
        at("Theorem 4.1", "(4.1)"),
        Identity(
            put(quantity(x), {x: BAR}),
            put(LEVEL * D**2 / (x * eta**2 * sigma_dp**2), {x: BAR}),
            "(4.1) is a multiple of y",
        ),
        IntervalInequality(-Rational(1, 5), "<", SEEN - y / 800, {}, "what the event shows, T = T bar from 0"),
        Inequality(LEVEL * y, "<", y / 800 - Rational(1, 5), (y >= 1000,), "(4.1) is below it at every noise"),
        Identity(
            put(exp(-(z**2) / (2 * v)), {z: D / 20, v: D**2 / y}),
            exp(-y / 800),
            "maximum of the walk",
            (y >= 1000,),
        ),
        statement=closed(
            Exists(
                (SAMPLES, OTHER),
                (Neighbours(SAMPLES, OTHER),),
                RenyiDivergence(100, LastIterate(SAMPLES), LastIterate(OTHER)) > quantity(Min(T, BAR)),
            ),
            Diameter(D),
            BatchesOf(b, n),
            1000 * eta * K <= D,
            sigma_dp**2 <= D**2 / (1000 * eta**2 * BAR),
        ),
    ),
    Step(
        "altschuler_talwar/theorem_4_1/construction",
        "The push is 3D/4 in all, so that the mean is D/4 and the variance at most D^2/1000",
        at("Section 4"),
        Identity(put(-D / 2 + x * eta * K / n, {x: BAR}), D / 4, "eta K/b with probability b/n, T bar times"),
        Inequality(
            BAR * eta**2 * sigma_dp**2,
            "<= and attained",
            D**2 / 1000,
            (sigma_dp**2 <= D**2 / (1000 * eta**2 * BAR),),
            "variance",
        ),
    ),
    Step(
        "altschuler_talwar/theorem_4_1/constants",
        "A.4: with the constants of footnote 9, (4.1) exceeds 0.005, and 0.005 + log(100)/99 < 0.1",
        at("A.4"),
        Inequality(Rational(5, 1000), "<", LEVEL * y, (y >= 1000,), "(4.1) above 0.005"),
        IntervalInequality(
            Rational(5, 1000) + log(100) / 99, "<", Rational(1, 10), {}, "conversion at delta = 0.01"
        ),
    ),
    Step(
        "altschuler_talwar/theorem_4_1/suffices",
        "A.4: it suffices to show that the run is not (100, 0.005)-RDP",
        at("A.4"),
        Inequality(LEVEL * y, "<=", Rational(5, 1000), (y >= 1000,), "(4.1) at most 0.005").mutant(
            "at most 1/2", right=Rational(1, 2)
        ),
        Asymptotic(LEVEL * y, S.One, path={y: 1000 + growth}, given=(y >= 1000,), name="(4.1) bounded"),
    ),
    Ours(
        "altschuler_talwar/theorem_4_1/suffices_repaired",
        "For y up to 9000, noise within a factor three of the largest, failing (0.1, 0.01)-DP suffices",
        at("A.4"),
        IntervalInequality(LEVEL * y, "<", _shown, {y: (1000, 9000)}, "y, or 2 y for T below T bar"),
        assumptions=(y >= 1000, y <= 9000),
        repairs="altschuler_talwar/theorem_4_1/suffices",
    ),
    Step(
        "altschuler_talwar/theorem_4_1/short_runs",
        "A.4: for T below T bar the bound follows by composition of runs of T steps",
        at("A.4"),
        Inequality(
            x + y, "<=", 2 * x, name="two runs: x from the start, y from where the first one ends"
        ).mutant("four runs", right=4 * x),
    ),
    Ours(
        "altschuler_talwar/theorem_4_1/short_runs_repaired",
        "Runs of T steps from some start lose what T bar steps lose, over their number",
        at("A.4"),
        sum_induction("any number of runs", Le(_lost(t), t * z), {_lost: _by_one(t)}, Le(_by_one(t), z)),
        repairs="altschuler_talwar/theorem_4_1/short_runs",
    ),
    Step(
        "altschuler_talwar/theorem_4_1/matching_dp",
        "Remark 1.4: the proof gives a DP lower bound that matches (1.3), for the parameters of Theorem 4.1",
        at("Remark 1.4", "A matching DP lower bound"),
        Asymptotic(
            sqrt(y * log(100 * r) / r),
            1 / r,
            path={r: growth, y: Integer(1000)},
            name="T = T bar/r, delta = 1/(100 r): (1.3), and 0.1/r by composition",
        ).mutant("without the logarithm", left=sqrt(y / r)),
        assumptions=(y >= 1000, r >= 1),
        letters={r: "T bar over T"},
    ),
    Ours(
        "altschuler_talwar/theorem_4_1/matching_dp_repaired",
        "From T bar on, for y up to 9000, noise within a factor three of the largest, the two match",
        at("Remark 1.4", "A matching DP lower bound"),
        Asymptotic(sqrt(y), S.One, Integer(95), given=(y <= 9000,)).mutant(
            "any noise", constant=None, path={y: 1000 + growth}, given=()
        ),
        Asymptotic(S.One, sqrt(y), S.One, name="conversely"),
        assumptions=(y >= 1000,),
        repairs="altschuler_talwar/theorem_4_1/matching_dp",
    ),
    Step(
        "altschuler_talwar/theorem_4_1/start",
        "The test of positivity distinguishes the runs from any start",
        at("Theorem 4.1"),
        IntervalInequality(
            _grown * (1 - exp(-125)) + Rational(1, 100), "<=", S.One, {}, "start D/2, T = T bar"
        ).mutant("start at 0 with twice the probability", left=_grown * Rational(99, 100) + Rational(1, 100)),
    ),
    Ours(
        "altschuler_talwar/theorem_4_1/start_repaired",
        "Push to the farther end: not both Z and -Z lift the other run above 0, so 1/2; .5 e^(1/10) + .01 < .89",
        at("Theorem 4.1"),
        Induction(
            t,
            Le(_run(t) + _mirrored(t), 0),
            (Le(_run(0), 0), Eq(_mirrored(0), _run(0))),
            (_clamped(_run, _noise(t)), _clamped(_mirrored, -_noise(t))),
            name="from one start at 0 or below, noise Z and -Z",
        ).mutant("start at D/100 or below", first=(Le(_run(0), D / 100), Eq(_mirrored(0), _run(0)))),
        Inequality(
            x, "<= and attained", S.Half, (x + y <= 1, Eq(x, y)), "disjoint events of equal probability"
        ),
        Induction(
            t,
            Le(_below(t), _run(t)),
            (Le(_below(0), _run(0)),),
            (_clamped(_run, _noise(t)), Eq(_below(t + 1), Min(_below(t) + _noise(t), D / 2))),
            name="pushes and noise Z: not projected from below, a run stays below one that starts above it",
        ),
        IntervalInequality(_grown / 2 + Rational(1, 100), "<", Rational(89, 100), {}, "what is needed"),
        repairs="altschuler_talwar/theorem_4_1/start",
    ),
)
