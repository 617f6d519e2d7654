r"""Windows of shifts in closed form, and compositions of random batches (docs/proofs/affine_windows.md).

For the last $w$ of $\tau + w$ steps, from the diameter $D$, if every distance $z$ goes to at most $c z + s$,
$s = 2\eta K/n$,
$$\mu^2 \le \frac{(D + s V_w)^2}{W_w\sigma^2},
  \quad V_w = \sum_{j \le w} c^{-j},\ W_w = \sum_{j \le w} c^{-2j}:$$
$c = 1$ for convex losses, $c \ge \max(1 - \eta m, \eta L - 1)$ for strongly convex losses, and
$c = 1 + \eta L(n - 1)/n$ for smooth losses if the window is feasible. Random batches have the profile
$S^{\otimes T}$, with $S$ the profile of a step with a hidden coin. Any shifts $a_t$ that hide the difference
between the runs add the cost $\mu^2 = \sum_t a_t^2/\sigma_t^2$.
"""

from lastiterate.symbolic.ours.paper import *

_s = sensitivity()


def _square(factor: Expr) -> Expr:
    drift, noise = (w, w) if factor == 1 else (v_sum(factor, w), w_sum(factor, w))
    return cost(_s, D, drift, noise) / sigma**2


CLAIMS = (
    Ours(
        "ours/derived/convex_window",
        "Convex losses, full batches: (D + w s)^2 / (w sigma^2) bounds mu^2 for every window of w steps",
        proof("affine_windows", "Closed form"),
        Derived("full_batch/convex", Gauss(_square(S.One))),
        assumptions=(eta * L <= 2),
    ),
    Ours(
        "ours/derived/strongly_convex_window",
        "Strongly convex losses, full batches: the closed form for every window of w steps",
        proof("affine_windows", "Closed form"),
        Derived("full_batch/strongly convex", Gauss(_square(c))),
        assumptions=(c < 1, c >= 1 - eta * m, c >= eta * L - 1, m <= L),
    ),
    Ours(
        "ours/derived/smooth_window",
        "Smooth losses, full batches: the closed form for every window of w steps that is feasible",
        proof("affine_windows", "Closed form"),
        Derived("full_batch/smooth", Gauss(_square(c))),
        assumptions=(c > 1, Eq(c, 1 + eta * L * (n - 1) / n), feasible(c, _s, D, sigma**2, w)),
    ),
    Ours(
        "ours/derived/without_replacement",
        "Batches without replacement: the last iterate costs no more than T steps with the coin hidden",
        proof("without_replacement", "The cost of the coin"),
        Derived("without_replacement/composition", Power(SwapStep(q, (2 * eta * K / b) ** 2 / sigma**2), T)),
        assumptions=(q <= 1,),
    ),
    Ours(
        "ours/derived/poisson",
        "Poisson batches: the last iterate costs no more than T steps with the coin hidden, each order its own",
        proof("poisson", "Two directions"),
        Derived("poisson/composition", Power(PoissonStep(q, (eta * K / b) ** 2 / sigma**2), T)),
        assumptions=(q <= 1,),
    ),
    *(
        Ours(
            f"ours/derived/{name}_windows",
            f"{title}: shifts of any lengths that hide what the runs differ in, for every class of losses",
            proof(*where),
            *windows(scheme, "modulus", "convex", "strongly convex", "steps"),
            assumptions=(q <= 1, m <= L),
        )
        for name, scheme, title, where in (
            ("known", "known_batches", "Batches in a known order", ("shift_program", "Theorem")),
            ("shuffled", "shuffled", "Shuffled batches", ("shuffled", "Shuffled batches")),
            (
                "swapped",
                "without_replacement",
                "Batches without replacement",
                ("without_replacement", "Windows"),
            ),
            ("poisson", "poisson", "Poisson batches", ("poisson", "Two directions")),
        )
    ),
)
