"""Section 4 and D.4: the attack's estimate, steps in epochs, and the theory at the numbers of the experiments.

p and q are FPR and FNR, v is e^epsilon, r is delta. D.4: eta = 0.1, sigma_DP = 0.002, C = 20, n = 10000, alpha = 1.1.
"""

from lastiterate.symbolic.liang.paper import at
from lastiterate.symbolic.prelude import *

_private = (1 - q <= v * p + r, 1 - p <= v * q + r, r < 1)
_numbers: dict[Symbol, Expr] = {
    eta: Rational(1, 10),
    sigma_dp: Rational(2, 1000),
    K: Integer(20),
    n: Integer(10000),
    alpha: Rational(11, 10),
    L: Integer(0),
}
_step = 2 * alpha * K**2 / (n * b * sigma_dp**2)
_domain = alpha * (1 + eta * L) ** 2 * D**2 / (2 * eta**2 * sigma_dp**2)


def _at(expression: Expr, batch: int, radius: int = 20) -> Expr:
    return expression.subs(list(_numbers.items())).subs([(b, Integer(batch)), (D, Integer(radius))])


def _ratio(batch: int) -> Expr:
    """(54) at D = 20 over (46) of an epoch."""
    return put(_domain * b / (n * _step), {**_numbers, b: batch, D: 20})


def _per_epoch(batch: int) -> Expr:
    """1/(n b) times the steps of an epoch, n = 10000, in units of 10^-8."""
    return Integer(10**8) * ceiling(Rational(10000, batch)) / (10000 * batch)


def _whole(batch: Expr) -> Expr:
    """(11) for an epoch of batches that divide n."""
    return 2 * alpha * K**2 / (batch**2 * sigma_dp**2)


def _cheaper(small: int, large: int) -> Inequality:
    return Inequality(_per_epoch(large), "<", _per_epoch(small), name=f"{small} and {large}")


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
        Identity(put(_step * T, {n: b * T}), _whole(b), "T steps an epoch, n = b T"),
        Inequality(_whole(r), "<", _whole(b), (b < r,), "batches of r > b"),
        _cheaper(200, 300),
        _cheaper(300, 400),
        _cheaper(400, 600),
        _cheaper(600, 1000),
    ),
    Claim(
        "liang/section_4/slower",
        "In epochs the first two terms of (14) grow with the batch size: T = n E/b",
        at("Section 4", "Effect of the Batch Size"),
        Inequality(
            b / (eta * K * n * T) + sqrt(b / (eta * n * T)), "<=", p / (eta * K * n * T) + sqrt(p / (eta * n * T))
        ),
        assumptions=(b <= p,),
        letters={T: "epochs E", p: "a larger batch size"},
    ),
    Ours(
        "liang/section_4/no_plateau",
        "D.4: (46) stays below (54) for 250 000 epochs at D = 20 and L = 0, and longer at D = 60",
        at("Figure 3"),
        Identity(_ratio(100), Integer(250_000), "epochs of 100 steps, b = 100"),
        Identity(_ratio(400), Integer(4_000_000), "epochs of 25 steps, b = 400"),
        IntervalInequality(_at(_domain, 100), "<", _at(_domain, 100, 60), {}, "D = 60"),
    ),
)
