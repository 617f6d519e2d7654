"""Utility for non-convex losses: the clipping bias does not fall with the batch.

Statement    min_k E|grad f(x_k)| <= (f(x_1) - f*)/(K sigma_A^2 sqrt(p) eta) + eta L p^1.5 nu^2 (ln K + 1)/K +
             L eta sqrt(p) d^2 sigma_A^2 + 2 sigma/sqrt(B) + stab.
Assumptions  f is L-smooth and bounded below, eta <= 1/(2 L); full batches of B = 27, d = p = sigma_A = 1, nu small.
Derivation   13 samples of slope 14 and 14 of slope -1 with stab = 1/12: the normalised slopes 168/169 and -12/13 add to
             0, so the run stays where the mean slope is 56/9. Below 0 all slopes fall to 0 at -1.
Source       D2P2-SGD, Theorem 3, (3), (25)-(33), Table 4.
Remark       Each sample is clipped, so the triangle inequality works sample by sample: 2 sigma + stab, as in (25).
"""

from sympy import Abs, Expr, Integer, Rational, log, sqrt

from lastiterate.symbolic.claim import (
    Asymptotic,
    Claim,
    Holds,
    Identity,
    Inequality,
    Relation,
    Role,
    Simulated,
    Units,
    Value,
)
from lastiterate.symbolic.d2p2.paper import UNITS, at
from lastiterate.symbolic.mutants import wrong
from lastiterate.symbolic.notation import (
    L,
    T,
    b,
    dim,
    ell,
    eta,
    g,
    gamma,
    growth,
    kappa,
    nu,
    r,
    sigma_A,
    sigma_sgd,
    stab,
    u,
    v,
    x,
    xi,
    y,
)

__all__ = ["CLAIMS", "clipping_bias", "first_term", "noise_term"]

_twelfth = Rational(1, 12)
_slope, _variance = Rational(56, 9), Rational(182 * 225, 27**2)
_up, _down = 14 / (14 + _twelfth), -1 / (1 + _twelfth)
_start = Rational(3, 2) * _slope  # f(1) - f*: 1 down to 0 at full slope, then half of it
_curve = Integer(14)  # the greatest smoothness of a sample; that of f is 56/9


def _bound(steps: Expr, step: Expr, bias: Expr) -> Expr:
    """(3) at d = p = sigma_A = 1 and nu = 0, with this clipping bias beside stab."""
    return _start / (steps * step) + _curve * step + bias + _twelfth


_many: dict[Expr, Expr] = {T: Integer(10) ** 5, eta: Rational(1, 1000)}
_long = _bound(T, eta, 2 * sqrt(_variance / 27)).subs(list(_many.items()))
_run = {T: 500, eta: Rational(1, 50), nu: Rational(1, 20), stab: _twelfth}
_noisy = _bound(T, eta, 2 * sqrt(_variance / 27)) + eta * _curve * nu**2 * (log(T) + 1) / T
first_term = r / (T * sigma_A**2 * sqrt(ell) * eta)
noise_term = eta * L * ell ** Rational(3, 2) * nu**2 / T
_projection = L * eta * sqrt(ell) * dim**2 * sigma_A**2
clipping_bias = 2 * sigma_sgd / sqrt(b) + stab
_step = eta * sqrt(ell) * sigma_A**2

CLAIMS = (
    Claim(
        key="d2p2/theorem_3",
        title="(3): its clipping bias is 2 sigma/sqrt(B) + gamma; 27 samples, full batches, stuck at slope 56/9",
        source=at(142, "Theorem 3", "(3)"),
        checks=(
            Holds(
                _slope,
                Relation.AT_MOST,
                _long,
                {},
                "K = 10^5, eta = 1/1000",
            ),
            Simulated("stalled_gradient", Relation.AT_MOST, _noisy, _run, name="the run itself, K = 500, nu = 1/20"),
        ),
        mutants=(
            wrong(
                "half",
                Holds(_slope, Relation.AT_MOST, _bound(T, eta, sqrt(_variance / 27)).subs(list(_many.items())), {}),
            ),
            wrong("half, simulated", Simulated("stalled_gradient", Relation.AT_MOST, _noisy / 2, _run)),
        ),
        relation=Relation.AT_MOST,
        remark=(
            "(3) says that the clipping bias 2 sigma/sqrt(B) + gamma vanishes with large batches. Samples are "
            "normalised one by one, so 13 slopes of 14 and 14 of -1 with gamma = 1/12 cancel and the run stays at "
            "slope 6.22, where (3) tends to 2.97; balls refute it at K = 10^5 and a simulation of the run at K = 500. "
            "With 2 sigma + gamma, as the appendix's (25) has it, the bias is right."
        ),
    ),
    Claim(
        key="d2p2/theorem_3/per_sample",
        title="The bias of per-sample clipping: <m, g/(|g| + gamma)> >= |m| - 2 |m - g| - gamma, so 2 sigma + gamma",
        source=at(477, "Theorem 3", "(25)"),
        checks=(
            Inequality(
                Abs(kappa) - 2 * Abs(kappa - gamma) - stab,
                Relation.AT_MOST,
                Abs(gamma) ** 2 / (Abs(gamma) + stab) - Abs(kappa - gamma) * Abs(gamma) / (Abs(gamma) + stab),
                (stab > 0,),
                "one sample on the line, mean kappa",
            ),
            Inequality(
                Abs(kappa) - 2 * Abs(kappa - gamma) - stab,
                Relation.AT_MOST,
                kappa * gamma / (Abs(gamma) + stab),
                (stab > 0,),
                "and the inner product itself",
            ),
            Identity((13 * _up + 14 * _down) / 27, Integer(0), "the example's slopes cancel"),
            Identity(Integer(13 * 14 - 14) / 27, _slope, "their mean"),
            Identity((13 * (14 - _slope) ** 2 + 14 * (-1 - _slope) ** 2) / 27, _variance, "their variance"),
            Holds(_slope, Relation.BELOW, 2 * sqrt(_variance) + _twelfth, {}, "within 2 sigma + gamma"),
        ),
        mutants=(
            wrong(
                "|m - g| once",
                Inequality(
                    Abs(kappa) - Abs(kappa - gamma) / 2 - stab,
                    Relation.AT_MOST,
                    kappa * gamma / (Abs(gamma) + stab),
                    (stab > 0,),
                ),
            ),
            wrong("sigma/2", Holds(_slope, Relation.BELOW, sqrt(_variance) / 2 + _twelfth, {})),
        ),
        role=Role.OURS,
        relation=Relation.AT_MOST,
        repairs="d2p2/theorem_3",
    ),
    Claim(
        key="d2p2/theorem_3/numbers",
        title="In the example sigma is 7.49 and the printed bias 2 sigma/sqrt(27) + 1/12 is 2.97",
        source=at(541, "Table 4", "D2P2-SGD (Ours)"),
        checks=(
            Value(sqrt(_variance), "7.49", "sigma"),
            Value(2 * sqrt(_variance / 27) + _twelfth, "2.97", "the bias of Table 4"),
        ),
        mutants=(wrong("B = 13", Value(2 * sqrt(_variance / 13) + _twelfth, "2.97")),),
        role=Role.OURS,
    ),
    Claim(
        key="d2p2/theorem_3/restated",
        title="The appendix restates Theorem 3 with 2 sigma + gamma, (3) and (34) with 2 sigma/sqrt(B) + gamma",
        source=at(477, "Theorem 3", "(25)"),
        checks=(
            Inequality(2 * sigma_sgd + stab, Relation.AT_MOST, clipping_bias, name="(25) by (3)"),
            Asymptotic(
                2 * sigma_sgd, 2 * sigma_sgd / sqrt(b), path={sigma_sgd: Integer(1), b: growth**2}, name="large batches"
            ),
        ),
        mutants=(
            wrong("B / 100", Inequality(2 * sigma_sgd + stab, Relation.AT_MOST, 2 * sigma_sgd / sqrt(b) + 100 * stab)),
        ),
        role=Role.STEP,
        relation=Relation.AT_MOST,
        remark=(
            "The two statements of Theorem 3 differ by sqrt(B) in the clipping bias, without limit as B grows. (3) "
            "implies (25), not the other way; z3 and the path B = N^2 agree. Only (25) is true, see d2p2/theorem_3."
        ),
    ),
    Claim(
        key="d2p2/theorem_3/restated_repaired",
        title="(3) implies (25), and they agree for B = 1",
        source=at(477, "Theorem 3", "(25)"),
        checks=(Inequality(clipping_bias, Relation.TIGHT, 2 * sigma_sgd + stab, name="equal at B = 1"),),
        mutants=(wrong("sigma", Inequality(clipping_bias, Relation.AT_MOST, sigma_sgd + stab)),),
        role=Role.OURS,
        relation=Relation.TIGHT,
        repairs="d2p2/theorem_3/restated",
    ),
    Claim(
        key="d2p2/theorem_3/units",
        title="(3): its terms are gradients, the step size a length",
        source=at(142, "Theorem 3", "(3)"),
        checks=(Units(first_term + noise_term + _projection + clipping_bias, g, UNITS, "five terms"),),
        mutants=(
            wrong("without L", Units(first_term + noise_term / L + _projection + clipping_bias, g, UNITS)),
            wrong("eta^2", Units(first_term + noise_term * eta + _projection + clipping_bias, g, UNITS)),
        ),
    ),
    Claim(
        key="d2p2/theorem_3/noise_of_gradient",
        title="(32): E|grad f - g_k| <= sigma/sqrt(B) is for batch means, and falls with B as it says",
        source=at(529, "A.6", "below (32)"),
        checks=(
            Inequality(((x + y) / 2) ** 2, Relation.TIGHT, (x**2 + y**2) / 2, name="the root of the mean square"),
            Identity((b * sigma_sgd**2) / b**2, (sigma_sgd / sqrt(b)) ** 2, "independent samples"),
        ),
        mutants=(wrong("sigma/B", Identity((b * sigma_sgd**2) / b**2, (sigma_sgd / b) ** 2)),),
        role=Role.STEP,
    ),
    Claim(
        key="d2p2/theorem_3/sign",
        title="(30): the projection term has the sign + of (29) and (31)",
        source=at(511, "A.6", "(30)"),
        checks=(Inequality(-x + u, Relation.TIGHT, -x + v, (u <= v,), "an upper bound of +u"),),
        misprint=Inequality(-x + u, Relation.AT_MOST, -x - v, (u <= v,), "as printed, minus its bound"),
        mutants=(wrong("half", Inequality(-x + u, Relation.AT_MOST, -x + v / 2, (u <= v,))),),
        role=Role.STEP,
        remark=(
            "(30) subtracts L eta^2 p d^2 sigma_A^4/2, which (29) adds and (31) adds again. An upper bound of a "
            "positive term cannot be subtracted. Read +."
        ),
    ),
    Claim(
        key="d2p2/theorem_3/inner_product",
        title="(30): |g|^2/(|g| + gamma) = |g| - gamma |g|/(|g| + gamma), and gamma |g|/(|g| + gamma) <= gamma",
        source=at(511, "A.6", "(30)"),
        assumptions=(stab > 0,),
        checks=(
            Identity(g**2 / (g + stab), g - stab * g / (g + stab), "(30)"),
            Inequality(stab * g / (g + stab), Relation.BELOW, stab, name="(32)"),
        ),
        mutants=(
            wrong("gamma |g|^2", Identity(g**2 / (g + stab), g - stab * g**2 / (g + stab))),
            wrong("gamma/2", Inequality(stab * g / (g + stab), Relation.BELOW, stab / 2)),
        ),
        role=Role.STEP,
    ),
    Claim(
        key="d2p2/theorem_3/divided",
        title="(31), (32): the terms divided by eta sqrt(p) sigma_A^2",
        source=at(525, "A.6", "(32)"),
        checks=(
            Identity(L * eta**2 / 2 * ell * dim**2 * sigma_A**4 / _step, _projection / 2, "projection"),
            Identity(L * eta**2 / 2 * ell**2 * sigma_A**2 * nu**2 / _step, T * noise_term / 2, "noise, as printed"),
            Identity(
                L * eta**2 / 2 * dim * ell * sigma_A**2 * nu**2 / _step,
                L * eta * dim * sqrt(ell) * nu**2 / 2,
                "noise with E|A e|^2 = d p sigma_A^2 nu^2",
            ),
        ),
        mutants=(
            wrong(
                "p for its root",
                Identity(L * eta**2 / 2 * ell * dim**2 * sigma_A**4 / _step, _projection * sqrt(ell) / 2),
            ),
        ),
        role=Role.STEP,
    ),
    Claim(
        key="d2p2/theorem_3/telescope",
        title="(33): the sum of f(x_k) - f(x_(k+1)) is at most f(x_1) - f*, not f(x_1)",
        source=at(529, "A.6", "(33)"),
        checks=(Inequality(kappa - gamma, Relation.TIGHT, kappa - xi, (xi <= gamma,), "f* <= f(x_(K+1))"),),
        misprint=Inequality(kappa - gamma, Relation.AT_MOST, kappa, (xi <= gamma,), "f(x_1), as printed"),
        mutants=(wrong("twice f*", Inequality(kappa - gamma, Relation.AT_MOST, kappa - 2 * xi, (xi <= gamma,))),),
        role=Role.STEP,
        remark=(
            "(33) has f(x_1) where the sum leaves f(x_1) - f(x_(K+1)). Where f may be negative that is no bound. (25) "
            "and (3) have f(x_1) - f*, which is right."
        ),
    ),
    Claim(
        key="d2p2/theorem_3/logarithm",
        title="Section 4: with a fixed step the noise term falls like ln K/K; ln(K/K), as printed, is 0",
        source=at(170, "Section 4"),
        checks=(Identity(log(T) / T * T, log(T), "ln K over K"),),
        misprint=Identity(log(T / T) * T, log(T), "ln(K/K)"),
        mutants=(wrong("ln K", Identity(log(T) * T, log(T))),),
        role=Role.STEP,
        remark=(
            "Section 4 writes the noise term of Theorem 3 at a fixed step size as O(ln(K/K)), which is O(0). Theorem 3 "
            "has (ln K + 1)/K. Read ln(K)/K."
        ),
    ),
)
