"""The proof of Theorem 2 again: the size of the gradient, the term that is said to vanish, static noise, units.

E f(mean) >= f(E mean), and one normalised step moves the mean by at most eta. x = |x_1 - x*|; g_k is the gradient
before it is normalised, so |g_k| <= 1 is not given.
"""

from sympy import Eq, Expr, Integer, Rational, Sum

from lastiterate.symbolic.claim import Claim, Identity, Inequality, Ours, Step, Units
from lastiterate.symbolic.d2p2.paper import UNITS, at
from lastiterate.symbolic.letters import g, gamma, h, j, kappa, r, x, xi, zeta
from lastiterate.symbolic.notation import T, dim, ell, eta, nu, sigma_A, stab

_root = ell ** Rational(1, 2)
_half = Rational(1, 2)


def _rate(size: Expr) -> Expr:
    """(2) with this in place of 1 + gamma."""
    return (
        x**2 * size / (2 * eta * T * sigma_A**2 * _root)
        + eta * ell * _root * size * nu**2 / (2 * T)
        + eta * ell * dim**2 * sigma_A**2 * size / 2
    )


def _far(gradient: Expr) -> Expr:
    """(2) at K = 3, d = p = L = sigma_A = 1, eta = 1/2, nu = 0."""
    return x**2 * gradient / 3 + gradient / 4


def _below(epsilon: int, other: int, ours: int) -> Inequality:
    """Accuracies at an epsilon, in units of 10^-4."""
    return Inequality(Rational(other, 10**4), "<", Rational(ours, 10**4), name=f"epsilon = {epsilon}")


CLAIMS = (
    Claim(
        "d2p2/lemma_6",
        "(14) on h x^2/2: f(x) >= f(y) + f'(y)(x - y)",
        at("Lemma 6", "(14)"),
        Inequality(h * zeta**2 / 2 + h * zeta * (xi - zeta), "<= and attained", h * xi**2 / 2, name="quadratics"),
        assumptions=(h >= 0,),
    ),
    Step(
        "d2p2/theorem_2/units",
        "(2), (15): its three terms are losses with |g| + gamma for 1 + gamma",
        at("Theorem 2", "(2)"),
        Units(_rate(g + stab), r, UNITS, "|g| + gamma"),
        misprint=Units(_rate(1 + stab), r, UNITS, "1 + gamma: a number and a gradient"),
        remark="""gamma is added to the norm of a gradient in line 4, so it is a gradient, and 1 + gamma adds unlike
        things. The 1 comes from the step (19) to (20), where it stands for |g_k|. That is more than a slip of units,
        see d2p2/theorem_2/gradient_size.""",
    ),
    Step(
        "d2p2/theorem_2/gradient_size",
        "(19)-(20): |g_k| <= 1 for the gradient before normalising, so (2) holds far from the minimum, K = 3",
        at("A.4", "below (19)"),
        Inequality((x - _half) ** 2 / 2, "<=", _far(1 + Rational(1, 100)), (x <= 100,), "gamma = 1/100"),
        Inequality(Integer(99) ** 2 / 2, "<=", _far(Rational(101, 100)).subs(x, 100), name="x = 100").mutant(
            "twice gamma", right=_far(Rational(102, 100)).subs(x, 100)
        ),
        remark="""(20) puts 1 for the |g_k| in the denominator, which is the norm before normalising. On x^2/2 from x =
        100 with eta = 1/2, three steps of mean length at most eta leave f above 99^2/2 = 4900, where (2) has 3368.
        With a bound G of all gradients, G + gamma for 1 + gamma, the step holds.""",
    ),
    Ours(
        "d2p2/theorem_2/gradient_size_repaired",
        "1/(|g| + gamma) >= 1/(G + gamma) for gradients of norm at most G, which covers the example",
        at("A.4", "below (19)"),
        Inequality(1 / (x + stab), "<= and attained", 1 / (g + stab), (g <= x, g > 0), "x = G here"),
        Inequality((x - _half) ** 2 / 2, "<", _far(x + stab), (x >= 2,), "G = x, the start"),
        repairs="d2p2/theorem_2/gradient_size",
    ),
    Step(
        "d2p2/theorem_2/vanishing_term",
        "(17)-(18): E (g - grad f)/(|g| + gamma) = 0 since E g = grad f: gradients 3 and -1",
        at("A.4", "below (17)"),
        Identity(((3 - 1) / (3 + stab) + (-1 - 1) / (1 + stab)) / 2, Integer(0), "their mean is 1").mutant(
            "+1", right=Integer(1)
        ),
        remark="""The proof says that the mean of (g_k - grad f)/(|g_k| + gamma) is 0 because the numerator's is. The
        denominator depends on g_k: for g = 3 or -1 with equal chances the mean is -2/((3 + gamma)(1 + gamma)). It is 0
        where |g_k| does not vary.""",
    ),
    Ours(
        "d2p2/theorem_2/vanishing_term_repaired",
        "For gradients 3 and -1 the term is -2/((3 + gamma)(1 + gamma)); with a constant below it, it vanishes",
        at("A.4", "below (17)"),
        Identity(((3 - 1) / (3 + stab) + (-1 - 1) / (1 + stab)) / 2, -2 / ((3 + stab) * (1 + stab)), "its value"),
        Identity(((3 - 1) / (x + stab) + (-1 - 1) / (x + stab)) / 2, Integer(0), "norm x throughout"),
        repairs="d2p2/theorem_2/vanishing_term",
    ),
    Step(
        "d2p2/theorem_2/static_noise",
        "With static noise the second term is a constant; the noises of DPSGD and D2P-SGD end alike",
        at("Section 3.2", "below Theorem 2"),
        Identity(
            eta * ell * _root * (1 + stab) / (2 * T) * Sum(nu**2, (j, 1, T)),
            eta * ell * _root * (1 + stab) * nu**2 / 2,
            "K terms",
        ),
    ),
    Step(
        "d2p2/theorem_2/sum",
        "(20)-(21): the distances telescope, and K terms over K leave the projection term alone",
        at("A.4", "(21)"),
        Identity(Sum(eta * ell * dim**2 * sigma_A**2 / 2, (j, 1, T)) / T, eta * ell * dim**2 * sigma_A**2 / 2, "mean"),
        Inequality(
            (kappa - gamma) / T,
            "<= and attained",
            kappa / T,
            (gamma >= 0,),
            "last distance dropped",
            attained=(Eq(gamma, 0),),
        ).mutant("twice", sign="<=", right=kappa / (2 * T), given=(gamma >= 0, kappa >= 0), attained=()),
    ),
    Step(
        "d2p2/appendix_a_8/left_side",
        "(35), (36): their left side is min E|grad f|, as in (34); E[f - f*] is a loss",
        at("A.8", "(35)"),
        Units(g + 2 * stab, g, UNITS, "gradients"),
        misprint=Units(r, g, UNITS, "E[f(mean iterate) - f*], as printed, against gradients"),
        remark="""(34) bounds min_k E|grad f(x_k)|; (35) and (36) rewrite it with E[f(mean) - f*] on the left, as in
        A.5 for convex losses. A loss and a gradient cannot be bounded by the same terms. Read min_k E|grad f(x_k)|.""",
    ),
    Claim(
        "d2p2/table_2",
        "Table 2: D2P2-SGD has the best accuracy in each column",
        at("Table 2"),
        _below(1, 6910, 7132),
        _below(2, 7063, 7322),
        _below(4, 5884, 7417),
        _below(6, 5704, 7851),
        _below(8, 6297, 7566),
    ),
)
