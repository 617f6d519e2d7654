"""Utility for convex losses: two moments of the projection are wrong, and the dimension of the noise with them.

A^T A is p x p with mean d sigma_A^2 I, so E|A e|^2 = d p sigma_A^2 nu^2, not p^2 sigma_A^2 nu^2. Start at the minimum
of L |x|^2 / 2, two steps, eta = 1/(2L): the mean iterate is -eta A e / 2.
"""

from sympy import Expr, Function, Integer, Rational, Symbol, log, sqrt

from lastiterate.symbolic.claim import Claim, Identity, Inequality, IntervalInequality, Ours, Simulated, Step
from lastiterate.symbolic.d2p2.paper import at
from lastiterate.symbolic.letters import x
from lastiterate.symbolic.notation import L, T, dim, ell, eta, nu, sigma_A, stab
from lastiterate.symbolic.statement import Convex, Expectation, closed

_two = Integer(2)
_noise_true = dim * ell * sigma_A**2 * nu**2
_noise_printed = ell**2 * sigma_A**2 * nu**2
_fourth = dim * (dim + 2) * sigma_A**4  # E|a|^4 of one column a
_root = sqrt(ell)
_small = (Rational(10**4, 3) + Rational(1, 4)) * Rational(101, 100)
_far = "no noise, d = p = L = 1, K = 3, eta = 1/2, from x = 100"
_eight = {dim: 8, ell: 3, sigma_A: 1, nu: 1}
_half_step = 2 * eta * _root * sigma_A**2


# Theorem 2 from x_1 = x*, K = 2, sigma_A = 1.
_bound = eta * ell * (1 + stab) * (_root * (log(_two) + 1) * nu**2 / 4 + dim**2 / 2)


_at_start: dict[Expr, Expr] = {
    ell: Integer(1),
    dim: Integer(8),
    stab: Rational(1, 100),
    nu: Integer(30),
    L: Integer(1),
}
_risk = L * dim * ell * eta**2 * nu**2 / 8  # f of -eta A e / 2 in the mean
_gap = (_risk - _bound).subs(eta, 1 / (2 * L)).subs(list(_at_start.items()))


CLAIMS = (
    Claim(
        "d2p2/theorem_2",
        "(2) bounds E f(mean iterate) - f*, here from x_1 = x* of L |x|^2/2, K = 2, p = 1, d = 8, stab = 0.01",
        at("Theorem 2", "(2)"),
        IntervalInequality(_gap, "<=", Integer(0), {}, "nu = 30, L = 1, eta = 1/2").mutant(
            "below the bound by 1", left=_gap + 1
        ),
        Inequality(
            Rational(199, 2) ** 2 / 2,
            "<=",
            _small,
            name=_far,
        ),
        statement=closed(
            Expectation(Function("f")(Symbol("mean iterate"))) - Symbol("f^*")
            <= x**2 * (1 + stab) / (2 * eta * T * sigma_A**2 * sqrt(ell))
            + eta * ell ** Rational(3, 2) * (1 + stab) * (log(T) + 1) * nu**2 / (2 * T)
            + eta * ell * dim**2 * sigma_A**2 * (1 + stab) / 2,
            Convex(L, Symbol("G")),
            2 * eta * L <= 1,
        ),
        remark="""(2) has noise p^1.5 nu^2 with no d. From the minimum of L |x|^2 / 2 two steps with eta = 1/(2L) have
        the excess d p nu^2 / (32 L), which exceeds (2) at p = 1, d = 8, nu = 30. The projected-back noise A e has the
        mean square d p sigma_A^2 nu^2: the second term needs at least d sqrt(p) for p^1.5. Independently, z3 finds (2)
        below f after three steps from x = 100 of x^2/2, see d2p2/theorem_2/gradient_size.""",
    ),
    Ours(
        "d2p2/theorem_2/noise_term",
        "Divided by 2 eta sigma_A^2 sqrt(p) the noise of one step is eta d sqrt(p) nu^2 / 2",
        at("A.4", "(20)"),
        Identity(eta**2 * _noise_true / _half_step, eta * dim * _root * nu**2 / 2, "in place of p^1.5"),
        repairs="d2p2/theorem_2",
    ),
    Step(
        "d2p2/theorem_2/noise_moment",
        "E|A e|^2 = p^2 sigma_A^2 nu^2 (E A^T A = p sigma_A^2 I)",
        at("A.4", "below (16)"),
        Identity(_noise_true, _noise_printed, "d p against p^2").mutant("d^2", right=dim**2 * sigma_A**2 * nu**2),
        Simulated("projected_noise", "==", _noise_printed, _eight, name="d = 8, p = 3"),
        remark="""A^T A is p x p, each diagonal entry a sum of d squares, so its mean is d sigma_A^2 I; p sigma_A^2 I
        is the mean of A A^T. The paper takes p for d, and E|A e|^2 comes out too small by d/p; a simulation says so
        too. The right value is d p sigma_A^2 nu^2.""",
    ),
    Ours(
        "d2p2/theorem_2/noise_moment_rightly",
        "E|A e|^2 = d p sigma_A^2 nu^2: d rows, each a sum of p products of variance sigma_A^2 nu^2",
        at("A.4", "below (16)"),
        Identity(dim * (ell * (sigma_A**2 * nu**2)), _noise_true, "rows"),
        Identity(ell * nu**2 * (dim * sigma_A**2), _noise_true, "trace of E A^T A"),
        Simulated("projected_noise", "==", _noise_true, _eight, Integer(3), "d = 8, p = 3"),
        repairs="d2p2/theorem_2/noise_moment",
    ),
    Step(
        "d2p2/theorem_2/fourth_moment",
        "E|a a^T|^2 <= E|a|^2 E|a|^2 = d^2 sigma_A^4 for one column a of A",
        at("A.4", "below (16)"),
        Inequality(_fourth, "<=", dim**2 * sigma_A**4, name="E|a|^4 = d (d + 2) sigma_A^4").mutant(
            "d", right=dim * sigma_A**4
        ),
        remark="""The two factors are the same vector, not independent ones, so the mean of the product is no product
        of means. E|a|^4 is d (d + 2) sigma_A^4, more than d^2 sigma_A^4; at d = p = 1 the paper has 1 for E A^4 = 3.
        With 3 d^2 for d^2 the step holds.""",
    ),
    Ours(
        "d2p2/theorem_2/fourth_moment_rightly",
        "E|a|^4 = d (d + 2) sigma_A^4 <= 3 d^2 sigma_A^4, equal at d = 1",
        at("A.4", "below (16)"),
        Inequality(_fourth, "<= and attained", 3 * dim**2 * sigma_A**4, name="3 d^2"),
        Identity(3 * dim + dim * (dim - 1), dim * (dim + 2), "d fourth powers and d (d - 1) pairs"),
        repairs="d2p2/theorem_2/fourth_moment",
    ),
    Step(
        "d2p2/theorem_2/divided",
        "(19)-(20): the terms of (18) divided by 2 eta sigma_A^2 sqrt(p)",
        at("A.4", "(20)"),
        Identity(eta**2 * ell * _root * dim**2 * sigma_A**4 / _half_step, eta * ell * dim**2 * sigma_A**2 / 2, "p"),
        Identity(eta**2 * _noise_printed / _half_step, eta * ell * _root * nu**2 / 2, "p^1.5"),
    ),
    Step(
        "d2p2/theorem_2/mean_of_clipped",
        "The mean of clipped gradients is the clipped mean gradient (line 425), gradients 5, -1, -1",
        at("A.4", "below (16)"),
        Identity((5 / (5 + stab) - 2 / (1 + stab)) / 3, 1 / (1 + stab), "the mean gradient is 1").mutant(
            "with the other sign", right=-1 / (1 + stab)
        ),
        Simulated("normalised_gradient", "==", 1 / (1 + stab), {stab: Rational(1, 10)}, name="drawn"),
        remark="""The proof replaces the mean of the normalised gradients by the normalised mean. For gradients 5, -1,
        -1 the mean is 1 and the mean of the normalised ones is negative for small stab, so the run moves uphill. The
        two agree where all per-sample gradients are equal.""",
    ),
    Ours(
        "d2p2/theorem_2/mean_of_clipped_equal",
        "For equal gradients the mean of the clipped is the clipped mean; for 5, -1, -1 it is negative",
        at("A.4", "below (16)"),
        Inequality((5 / (5 + stab) - 2 / (1 + stab)) / 3, "<", Integer(0), given=(stab < 1,), name="5, -1, -1"),
        repairs="d2p2/theorem_2/mean_of_clipped",
    ),
)
