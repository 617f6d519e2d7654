r"""Theorem 3 and appendix A.8 of Jiang et al. 2025: utility of D2P2-SGD for non-convex losses.

For $f$ $L$-smooth and $\alpha \le 1/(2L)$
$$\min_k \mathbb E\|\nabla f(x_k)\| \le \frac{f(x_1) - f^*}{\alpha K\sigma_A^2\sqrt p}
  + \frac{\alpha L p^{3/2}(\ln K + 1)\sigma_\epsilon^2}K + \alpha L\sqrt p\,d^2\sigma_A^2
  + \frac{2\sigma}{\sqrt B} + \gamma. \qquad(3)$$

Refuted: samples are normalised one by one, so the clipping bias does not decrease with the batch size. With
$2\sigma + \gamma$, as in (25), the bound is right.
"""

from lastiterate.symbolic.d2p2.paper import *
from lastiterate.symbolic.d2p2.theorem_2_rightly import TELESCOPED

_noise = eta * L * ell ** Rational(3, 2) * nu**2 / T
_projection = L * eta * sqrt(ell) * dim**2 * sigma_A**2
_clipping_bias = 2 * sigma_sgd / sqrt(b) + stab

# The 27 samples, in full batches, d = p = sigma_A = 1: their mean slope, its variance, gamma, and (3) with this bias.
SLOPE, DEVIATION, TWELFTH = Rational(56, 9), 5 * sqrt(Integer(182)) / 9, Rational(1, 12)
_bound = Rational(28, 3) / (T * eta) + 14 * eta + 2 * DEVIATION / sqrt(b) + stab

# Of samples: probabilities and distances |m - g|; sums of both, of squared distances, and of <m, g/(|g| + gamma)>.
_m, _g = Vector("m"), Vector("g")
_chance, _distance, _chances, _distances, _squares = (Function(name, nonnegative=True) for name in "pyPDS")
_products = Function("X", real=True)

# A.8: B = 1 but in the clipping bias; chi = ln(1/delta); theta stands for ln K.
_private = {
    eta: ell ** Rational(3, 2) / (dim**2 * sqrt(T)),
    nu: sqrt(T * sqrt(chi) / (ell ** Rational(5, 2) * theta * n * epsilon * L)),
}
_bias = sigma / sqrt(b) + stab

_STALLED = RefutingRun(
    fails=words(
        "Samples are normalised one by one, so that the clipping bias does not fall with the batch: it is {}, where "
        "the bound has {}.",
        2 * sigma_sgd + stab,
        _clipping_bias,
    ),
    at={T: 10**5, b: 27, n: 27, eta: Rational(1, 1000), stab: TWELFTH, ell: 1, dim: 1},
    run="the 27 samples of slopes 14 and -1, whose normalised gradients add to 0, full batches, no noise",
    quantity=("least mean length of the gradient",),
    claimed=_bound,
    true=SLOPE,
)


def _mean(of: Expr, value: Expr, name: str) -> Identity:
    """The mean of ``of`` over the 27 samples, where gamma is the slope of a sample."""
    up, down = (put(of, {gamma: slope, stab: TWELFTH}) for slope in (14, -1))
    return Identity((13 * up + 14 * down) / 27, value, name)


def _divided(term: Expr) -> Expr:
    return put(x / r, {x: L * eta**2 / 2 * term, r: eta * sqrt(ell) * sigma_A**2})


def _allowed(size: int) -> Expr:
    return Integer(1000 * 1024**2 * 40) / Integer(size) ** 2


CLAIMS = (
    Claim(
        "d2p2/theorem_3",
        "(3): its clipping bias is 2 sigma/sqrt(B) + gamma; 27 samples, full batches, stuck at slope 56/9",
        at("Theorem 3", "(3)"),
        IntervalInequality(SLOPE, "<=", _bound.subs(_STALLED.at), {}, "K = 10^5, eta = 1/1000"),
        Inequality(
            SLOPE, "<=", _bound.subs({b: 27, stab: TWELFTH}), (100 * eta <= 1, T * eta >= 100), "long runs"
        ),
        statement=closed(
            LeastOver(Expectation(Function("slope")(j)), Tuple(j, 1, T))
            <= x / (T * sigma_A**2 * sqrt(ell) * eta) + _noise * (log(T) + 1) + _projection + _clipping_bias,
            Smooth(L),
            2 * eta * L <= 1,
        ),
        refutation=_STALLED,
    ),
    Ours(
        "d2p2/theorem_3/per_sample",
        "Clipping by samples in R^d: <m, g/(|g| + gamma)> >= |m| - 2 |m - g| - gamma, and so in the mean over any "
        "samples with E|m - g|^2 <= sigma^2 it is at least |m| - 2 sigma - gamma, as in the example of (3)",
        at("Theorem 3", "(25)"),
        Expected(
            Norm(_m) - 2 * Norm(_m - _g) - stab, "<=", inner(_m, _g) / (Norm(_g) + stab), name="one sample"
        ),
        Induction(
            t,
            Le(_chances(t) * (h - stab) - 2 * _distances(t), _products(t)),
            begin(_products, _distances, _chances),
            (
                Le(_products(t) + _chance(t) * (h - stab - 2 * _distance(t)), _products(t + 1)),
                gains(_distances, _chance(t) * _distance(t)),
                gains(_chances, _chance(t)),
            ),
            name="any number of samples, each with its probability; h = |m|",
        ),
        mean_square(
            _distance, _chance, _distances, _squares, _chances, name="their mean distance, by mean square"
        ),
        Inequality(
            h - 2 * sigma_sgd - stab,
            "<= and attained",
            xi,
            (h - stab - 2 * y <= xi, y**2 <= sigma_sgd**2),
            "probabilities of sum 1, y = E|m - g|, xi = E<m, g/(|g| + gamma)>",
        ),
        _mean(gamma / (Abs(gamma) + stab), S.Zero, "the example's slopes cancel"),
        _mean(gamma, SLOPE, "their mean"),
        _mean((gamma - SLOPE) ** 2, DEVIATION**2, "their variance"),
        IntervalInequality(SLOPE, "<", 2 * DEVIATION + TWELFTH, {}, "within 2 sigma + gamma"),
        assumptions=(stab > 0,),
        letters={h: "|m|", xi: "mean inner product", y: "mean distance"},
        repairs="d2p2/theorem_3",
    ),
    Ours(
        "d2p2/theorem_3/numbers",
        "In the example sigma is 7.49 and the printed bias 2 sigma/sqrt(27) + 1/12 is 2.97",
        at("Table 4", "D2P2-SGD (Ours)"),
        Value(DEVIATION, "7.49", "sigma"),
        Value(2 * DEVIATION / sqrt(27) + TWELFTH, "2.97", "the bias of Table 4"),
    ),
    Step(
        "d2p2/theorem_3/restated",
        "The appendix restates Theorem 3 with 2 sigma + gamma, (3) and (34) with 2 sigma/sqrt(B) + gamma",
        at("Theorem 3", "(25)"),
        Inequality(2 * sigma_sgd + stab, "<=", _clipping_bias, name="(25) by (3)").mutant(
            "B / 100", right=2 * sigma_sgd / sqrt(b) + 100 * stab
        ),
        Asymptotic(
            2 * sigma_sgd, 2 * sigma_sgd / sqrt(b), path={sigma_sgd: S.One, b: growth**2}, name="large batches"
        ),
    ),
    Ours(
        "d2p2/theorem_3/restated_repaired",
        "(3) implies (25), and they agree for B = 1",
        at("Theorem 3", "(25)"),
        Inequality(_clipping_bias, "<= and attained", 2 * sigma_sgd + stab, name="equal at B = 1"),
        repairs="d2p2/theorem_3/restated",
    ),
    Step(
        "d2p2/theorem_3/sign",
        "(30): the projection term has the sign + of (29) and (31)",
        at("A.6", "(30)"),
        Inequality(-x + u, "<= and attained", -x + v, (u <= v,), "an upper bound of +u"),
        misprint=Inequality(-x + u, "<=", -x - v, (u <= v,), "as printed, minus its bound"),
    ),
    Step(
        "d2p2/theorem_3/inner_product",
        "(30): |g|^2/(|g| + gamma) = |g| - gamma |g|/(|g| + gamma), and gamma |g|/(|g| + gamma) <= gamma",
        at("A.6", "(30)"),
        Identity(g**2 / (g + stab), g - stab * g / (g + stab), "(30)"),
        Inequality(stab * g / (g + stab), "<", stab, name="(32)"),
        assumptions=(stab > 0,),
    ),
    Step(
        "d2p2/theorem_3/divided",
        "(31), (32): the terms divided by eta sqrt(p) sigma_A^2",
        at("A.6", "(32)"),
        Identity(_divided(ell * dim**2 * sigma_A**4), _projection / 2, "projection"),
        Identity(_divided(ell**2 * sigma_A**2 * nu**2), T * _noise / 2, "noise, as printed"),
        Identity(
            _divided(dim * ell * sigma_A**2 * nu**2),
            L * eta * dim * sqrt(ell) * nu**2 / 2,
            "noise with E|A e|^2 = d p sigma_A^2 nu^2",
        ),
    ),
    Step(
        "d2p2/theorem_3/telescope",
        "(33): the sum of f(x_k) - f(x_(k+1)) is at most f(x_1) - f*, not f(x_1)",
        at("A.6", "(33)"),
        TELESCOPED,
        Inequality(kappa - gamma, "<= and attained", kappa - xi, (xi <= gamma,), "f* <= f(x_(K+1))"),
        misprint=Inequality(kappa - gamma, "<=", kappa, (xi <= gamma,), "f(x_1), as printed"),
    ),
    Step(
        "d2p2/theorem_3/logarithm",
        "Section 4: with a fixed step the noise term falls like ln K/K; ln(K/K), as printed, is 0",
        at("Section 4"),
        Inequality((theta + 1) / T, "<= and attained", 2 * theta / T, (theta >= 1,), "theta = ln K"),
        misprint=Inequality((theta + 1) / T, "<=", 2 * log(T / T), (theta >= 1,), "ln(K/K), which is 0"),
    ),
    Claim(
        "d2p2/appendix_a_8",
        "(36): the privacy and projection terms of (35) after the substitution",
        at("A.8", "(36)"),
        Identity(put(_noise * theta, _private), sqrt(ell * chi) / (dim**2 * n * epsilon) / sqrt(T), "privacy"),
        Identity(put(_projection, _private), L * ell**2 * sigma_A**2 / sqrt(T), "projection, with L"),
        assumptions=(epsilon > 0, L > 0),
        misprint=Identity(put(_projection, _private), ell**2 * sigma_A**2 / sqrt(T), "projection, without L"),
    ),
    Step(
        "d2p2/appendix_a_8/clipping_bias",
        "(36): for B of at most a constant r the bias sigma/sqrt(B) + gamma is sqrt(r) (sigma + gamma)/sqrt(B) at most",
        at("A.8", "(36)"),
        Inequality(
            _bias, "<= and attained", sqrt(r) * (sigma + stab) / sqrt(b), (b <= r,), "B = O(1), as A.8 has it"
        ),
    ),
    Claim(
        "d2p2/appendix_a_8/a_9_2",
        "A.9.2: with B = 1024, K = 40 and C_1 = 314 both epsilons, 2.75 and 2.45, are within C_1 B^2 K/n^2",
        at("A.9.2"),
        *(
            check
            for size, reached, thousandths, allowed in (
                (60000, 275, "11.65", "3.66"),
                (73257, 245, "7.82", "2.45"),
            )
            for check in (
                Inequality(Rational(reached, 100), "<=", 314 * _allowed(size) / 1000, name=f"n = {size}"),
                Value(_allowed(size), thousandths, f"n = {size}, in 1/1000"),
                Value(314 * _allowed(size) / 1000, allowed, "epsilon allowed"),
            )
        ),
    ),
)
