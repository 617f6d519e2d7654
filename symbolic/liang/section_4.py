r"""Section 4 and D.4 of Liang et al. 2026: the attack's estimate, steps in epochs, and the theory for the experiments.

$$\hat\epsilon = \max\Bigl\{\log\frac{1 - \delta - \mathrm{FPR}}{\mathrm{FNR}},
\log\frac{1 - \delta - \mathrm{FNR}}{\mathrm{FPR}}\Bigr\} \tag{20}$$

The estimate is a lower bound. Per epoch, larger batches cost less and learn more slowly. With D.4's
parameters, eta = 0.1, sigma_DP = 0.002, C = 20, n = 10000, alpha = 1.1, the bound of Theorem 3.4 is not
reached in any epoch of the figure. p and q are FPR and FNR, v is e^epsilon, r is delta.
"""

from itertools import pairwise

from lastiterate.symbolic.liang.paper import *

_private = (1 - q <= v * p + r, 1 - p <= v * q + r, r < 1)
_numbers = {eta: Rational(1, 10), sigma_dp: Rational(2, 1000), K: 20, n: 10000, alpha: Rational(11, 10), L: 0}


def _epochs(batch: int, diameter: int) -> Expr:
    """B of (54), divided by (46) for an epoch."""
    return put(DOMAIN * b / (n * STEP), {**_numbers, b: batch, D: diameter})


def _of_epoch(batch: int) -> Expr:
    """(Number of steps in an epoch) / (n b) for n = 10000, in units of 10^-8."""
    return Integer(10**8) * ceiling(Rational(10000, batch)) / (10000 * batch)


def _whole(batch: Expr) -> Expr:
    """(46) for an epoch, if the batch size divides n."""
    return 2 * alpha * K**2 / (batch**2 * sigma_dp**2)


CLAIMS = (
    Claim(
        "liang/section_4/estimate",
        "(20): (1 - delta - FPR)/FNR and (1 - delta - FNR)/FPR are at most e^epsilon",
        at("Section 4", "(20)"),
        Inequality((1 - r - p) / q, "<= and attained", v, _private, "first"),
        Inequality((1 - r - q) / p, "<= and attained", v, _private, "second"),
    ),
    Claim(
        "liang/section_4/epochs",
        "Figure 2: in epochs (11) is alpha C^2 E/(b^2 sigma_DP^2) where b divides n, so larger batches cost less",
        at("Figure 2"),
        Identity(put(STEP * T, {n: b * T}), _whole(b), "T steps an epoch, n = b T"),
        Inequality(_whole(r), "<", _whole(b), (b < r,), "batches of r > b"),
        *(
            Inequality(_of_epoch(large), "<", _of_epoch(small), name=f"{small} and {large}")
            for small, large in pairwise((200, 300, 400, 600, 1000))
        ),
    ),
    Claim(
        "liang/section_4/slower",
        "In epochs the first two terms of (14) grow with the batch size: T = n E/b",
        at("Section 4", "Effect of the Batch Size"),
        Inequality(
            b / (eta * K * n * T) + sqrt(b / (eta * n * T)),
            "<=",
            p / (eta * K * n * T) + sqrt(p / (eta * n * T)),
        ),
        assumptions=(b <= p,),
        letters={T: "epochs E", p: "a larger batch size"},
    ),
    Ours(
        "liang/section_4/no_plateau",
        "D.4: (46) stays below (54) for 250 000 epochs at D = 20 and L = 0, and longer at D = 60",
        at("Figure 3"),
        Identity(_epochs(100, 20), Integer(250_000), "epochs of 100 steps, b = 100"),
        Identity(_epochs(400, 20), Integer(4_000_000), "epochs of 25 steps, b = 400"),
        IntervalInequality(Integer(250_000), "<", carried_out(_epochs(100, 60)), {}, "D = 60"),
    ),
)
