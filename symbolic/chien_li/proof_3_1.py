"""The steps of the proof of Theorem 3.1, (8)-(12).

Statement    Split the noise, condition on the part that hides the change of the data, unroll the shifts of the
             rest, and choose the shifts by Cauchy-Schwarz.
Assumptions  as Theorem 3.1; windows of three steps are written out, positions j = 1, 2, 3.
Derivation   (8) splits N(0, sigma^2) into shares beta and 1 - beta; (10) composes; (11) unrolls
             z -> (z + a) / c backwards; (12) is Cauchy-Schwarz with weights 1 - beta_j.
Source       Chien & Li 2025, section 3.1 and A.4.
Remark       One step does not follow: conditioning on Z = Z', see `proof_3_1_conditioning`. The theorem survives by
             another proof (`theorem_3_1_direct`), which splits no noise.
"""

# Sympy has no stubs; what pyright infers from its source is wider than what it documents.
# pyright: reportArgumentType=false

from sympy import Abs, Expr, Integer, Ne

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Identity, Inequality, Recursion, Step
from lastiterate.symbolic.gaussian import renyi
from lastiterate.symbolic.notation import (
    PREVIOUS,
    SHARES,
    SHIFTS,
    Delta,
    K,
    a,
    alpha,
    beta,
    c,
    eta,
    gamma,
    kappa,
    n,
    s,
    sigma,
    w,
    x,
    xi,
    zeta,
)
from lastiterate.symbolic.shift_program import v_sum

_zero = Integer(0)
_s = 2 * eta * K / n


def _unrolled(shifts: tuple[Expr, ...]) -> Expr:
    """The shift at tau that is left of none at T: A -> (A + a) / c, backwards."""
    total: Expr = _zero
    for shift in reversed(shifts):
        total = (total + shift) / c
    return total


def _weighted(sign: int = -1) -> Expr:
    return sum((c ** (sign * j) * shift for j, shift in enumerate(SHIFTS, 1)), _zero)


_price = sum((shift**2 / (1 - share) for shift, share in zip(SHIFTS, SHARES, strict=True)), _zero)
_budget = sum(((1 - share) * c ** (-2 * j) for j, share in enumerate(SHARES, 1)), _zero)
_slack_shares = tuple(share < 1 for share in SHARES)
_pairs = ((0, 1), (0, 2), (1, 2))


def _lagrange(sign: int) -> Expr:
    """The sum of squares by which Cauchy-Schwarz fails to be an equality."""
    total: Expr = _zero
    for i, k in _pairs:
        (a1, b1), (a2, b2) = (SHIFTS[i], SHARES[i]), (SHIFTS[k], SHARES[k])
        ratio = a1 * (1 - b2) * c ** -(k + 1) + sign * a2 * (1 - b1) * c ** -(i + 1)
        total += ratio**2 / ((1 - b1) * (1 - b2))
    return total


_optimal = {
    shift: Delta / _budget * (1 - share) * c**-j for j, (shift, share) in enumerate(zip(SHIFTS, SHARES, strict=True), 1)
}

CLAIMS = (
    Step(
        "chien_li/proof_3_1/sensitivity",
        "(33)-(36), (75): the two update maps differ by at most 2 eta K / n, which prices one step",
        at("A.4", "(75)"),
        Inequality(
            Abs(eta / n * (gamma - kappa)),
            "<= and attained",
            _s,
            given=(Abs(gamma) <= K, Abs(kappa) <= K),
            name="two clipped gradients",
        ).mutant("one gradient not clipped", sign="<=", given=(Abs(gamma) <= K,)),
        Inequality(
            x**2 / (2 * beta * sigma**2),
            "<=",
            s**2 / (2 * beta * sigma**2),
            given=(x <= s, beta > 0),
            name="one step, divided by alpha",
        ).mutant("beta multiplied", right=beta * s**2 / (2 * sigma**2), given=(x <= s, beta > 0, beta < 1)),
    ),
    Step(
        "chien_li/proof_3_1/noise_split",
        "(8): Y + Z' around psi(W') has the law of the noise around psi'(W')",
        at("Section 3.1", "(8)"),
        Identity((1 - beta) * sigma**2 + beta * sigma**2, sigma**2, "variances add"),
        Identity(xi + (zeta - xi), zeta, "means add").mutant("mean of the wrong sign", left=xi - (zeta - xi)),
    ),
    Step(
        "chien_li/proof_3_1/unrolled",
        "(11): the shifts a_t add to sum c^-(t - tau + 1) a_t at tau",
        at("Section 3.1", "above (11)"),
        Identity(_unrolled(SHIFTS), _weighted(), "three steps").mutant("order reversed", left=_unrolled(SHIFTS[::-1])),
        Recursion(
            w, a / c, (PREVIOUS + a) / c, a * v_sum(c, w), start=1, name="equal shifts, any window", given=(Ne(c, 1),)
        ),
    ),
    Step(
        "chien_li/proof_3_1/price",
        "The unrolled price is the sum of alpha a_t^2 / (2 (1 - beta_t) sigma^2) from t = tau",
        at("Section 3.1", "above (11)"),
        Identity(
            sum((renyi((shift, sigma**2), (_zero, sigma**2), alpha) for shift in SHIFTS), _zero),
            alpha * (SHIFTS[0] ** 2 + SHIFTS[1] ** 2 + SHIFTS[2] ** 2) / (2 * sigma**2),
            "from t = tau = 0, beta = 0",
            given=(alpha > 1,),
        ),
        misprint=Identity(
            sum((renyi((shift, sigma**2), (_zero, sigma**2), alpha) for shift in SHIFTS), _zero),
            alpha * (SHIFTS[1] ** 2 + SHIFTS[2] ** 2) / (2 * sigma**2),
            name="from t = 1, as printed",
            given=(alpha > 1,),
        ),
        remark="""The last line above (11) sums the prices from t = 1, while the shift is summed from t = tau. Read so,
        the first shift would be free at tau = 0, and steps before tau would be charged for tau > 1. The sum starts at
        tau, as it does in (11).""",
    ),
    Step(
        "chien_li/proof_3_1/cauchy_schwarz",
        "(12): price times sum (1 - beta_j) c^-2j is at least (sum a_j c^-j)^2, equal at a_j ~ (1 - beta_j) c^-j",
        at("Section 3.1", "(12)"),
        Identity(_price * _budget - _weighted() ** 2, _lagrange(-1), "the gap is a sum of squares").mutant(
            "c^-j for c^-2j",
            left=_price * sum(((1 - b) * c**-j for j, b in enumerate(SHARES, 1)), _zero) - _weighted() ** 2,
        ),
        Identity((_price * _budget - _weighted() ** 2).subs(_optimal), _zero, "equality case"),
        Inequality(_zero, "<=", _lagrange(-1), name="squares over positive numbers"),
        assumptions=_slack_shares,
    ),
    Step(
        "chien_li/proof_3_1/reduction",
        "(11) to (3): the best shifts cost Delta^2 / sum (1 - beta_j) c^-2j and meet the constraint",
        at("Section 3.1", "below (12)"),
        Identity(_price.subs(_optimal), Delta**2 / _budget, "price of the best shifts").mutant(
            "c^-j in the budget", right=Delta**2 / sum(((1 - b) * c**-j for j, b in enumerate(SHARES, 1)), _zero)
        ),
        Identity(_weighted().subs(_optimal), Delta, "they cover Delta").mutant(
            "constraint with c^j", left=_weighted(sign=1).subs(_optimal)
        ),
        assumptions=_slack_shares,
    ),
)
