"""The proof of Theorem 2 again: the size of the gradient, the term that is said to vanish, static noise, units.

Statement    (17) -> (18) drops a term of mean 0; (19) -> (20) divides by 1/(|g_k| + gamma) and puts 1 for |g_k|.
Assumptions  as Theorem 2; f = L x^2/2 started far from its minimum for the second.
Derivation   E f(mean) >= f(E mean), and one normalised step moves the mean by at most eta.
Source       D2P2-SGD, Lemma 6, Theorem 2, (14)-(21), section 3.2.
Remark       x = |x_1 - x*|; g_k is the gradient before it is normalised, so |g_k| <= 1 is not given.
"""

from sympy import Expr, Integer, Rational, Sum

from lastiterate.symbolic.claim import Claim, Identity, Inequality, Relation, Role, Units
from lastiterate.symbolic.d2p2.paper import UNITS, at
from lastiterate.symbolic.mutants import wrong
from lastiterate.symbolic.notation import (
    L,
    T,
    dim,
    ell,
    eta,
    g,
    gamma,
    h,
    j,
    kappa,
    nu,
    r,
    sigma_A,
    stab,
    x,
    xi,
    zeta,
)

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


CLAIMS = (
    Claim(
        key="d2p2/lemma_6",
        title="(14) on h x^2/2: f(x) >= f(y) + f'(y)(x - y)",
        source=at(413, "Lemma 6", "(14)"),
        assumptions=(h >= 0,),
        checks=(
            Inequality(h * zeta**2 / 2 + h * zeta * (xi - zeta), Relation.TIGHT, h * xi**2 / 2, name="quadratics"),
        ),
        mutants=(
            wrong(
                "without the half", Inequality(h * zeta**2 + h * zeta * (xi - zeta), Relation.AT_MOST, h * xi**2 / 2)
            ),
        ),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="d2p2/theorem_2/units",
        title="(2), (15): its three terms are losses with |g| + gamma for 1 + gamma",
        source=at(128, "Theorem 2", "(2)"),
        checks=(Units(_rate(g + stab), r, UNITS, "|g| + gamma"),),
        misprint=Units(_rate(1 + stab), r, UNITS, "1 + gamma: a number and a gradient"),
        mutants=(wrong("sigma_A gone with L", Units(_rate(g + stab) * L, r, UNITS)),),
        role=Role.STEP,
        remark=(
            "gamma is added to the norm of a gradient in line 4, so it is a gradient, and 1 + gamma adds unlike "
            "things. The 1 comes from the step (19) to (20), where it stands for |g_k|. That is more than a slip of "
            "units, see d2p2/theorem_2/gradient_size."
        ),
    ),
    Claim(
        key="d2p2/theorem_2/gradient_size",
        title="(19)-(20): |g_k| <= 1 for the gradient before normalising, so (2) holds far from the minimum, K = 3",
        source=at(439, "A.4", "below (19)"),
        checks=(
            Inequality(
                (x - _half) ** 2 / 2, Relation.AT_MOST, _far(1 + Rational(1, 100)), (x <= 100,), "gamma = 1/100"
            ),
            Inequality(Integer(99) ** 2 / 2, Relation.AT_MOST, _far(Rational(101, 100)).subs(x, 100), name="x = 100"),
        ),
        mutants=(
            wrong(
                "twice gamma", Inequality(Integer(99) ** 2 / 2, Relation.AT_MOST, _far(Rational(102, 100)).subs(x, 100))
            ),
        ),
        role=Role.STEP,
        relation=Relation.AT_MOST,
        remark=(
            "(20) puts 1 for the |g_k| in the denominator, which is the norm before normalising. On x^2/2 from x = 100 "
            "with eta = 1/2, three steps of mean length at most eta leave f above 99^2/2 = 4900, where (2) has 3368. "
            "With a bound G of all gradients, G + gamma for 1 + gamma, the step holds."
        ),
    ),
    Claim(
        key="d2p2/theorem_2/gradient_size_repaired",
        title="1/(|g| + gamma) >= 1/(G + gamma) for gradients of norm at most G, which covers the example",
        source=at(439, "A.4", "below (19)"),
        checks=(
            Inequality(1 / (x + stab), Relation.TIGHT, 1 / (g + stab), (g <= x, g > 0), "x = G here"),
            Inequality((x - _half) ** 2 / 2, Relation.BELOW, _far(x + stab), (x >= 2,), "G = x, the start"),
        ),
        mutants=(wrong("G/2", Inequality(2 / (x + stab), Relation.AT_MOST, 1 / (g + stab), (g <= x, g > 0))),),
        role=Role.OURS,
        relation=Relation.TIGHT,
        repairs="d2p2/theorem_2/gradient_size",
    ),
    Claim(
        key="d2p2/theorem_2/vanishing_term",
        title="(17)-(18): E (g - grad f)/(|g| + gamma) = 0 since E g = grad f: gradients 3 and -1",
        source=at(431, "A.4", "below (17)"),
        checks=(Identity(((3 - 1) / (3 + stab) + (-1 - 1) / (1 + stab)) / 2, Integer(0), "their mean is 1"),),
        mutants=(wrong("+1", Identity(((3 - 1) / (3 + stab) + (-1 - 1) / (1 + stab)) / 2, Integer(1))),),
        role=Role.STEP,
        remark=(
            "The proof says that the mean of (g_k - grad f)/(|g_k| + gamma) is 0 because the numerator's is. The "
            "denominator depends on g_k: for g = 3 or -1 with equal chances the mean is -2/((3 + gamma)(1 + gamma)). "
            "It is 0 where |g_k| does not vary."
        ),
    ),
    Claim(
        key="d2p2/theorem_2/vanishing_term_repaired",
        title="For gradients 3 and -1 the term is -2/((3 + gamma)(1 + gamma)); with a constant below it, it vanishes",
        source=at(431, "A.4", "below (17)"),
        checks=(
            Identity(((3 - 1) / (3 + stab) + (-1 - 1) / (1 + stab)) / 2, -2 / ((3 + stab) * (1 + stab)), "its value"),
            Identity(((3 - 1) / (x + stab) + (-1 - 1) / (x + stab)) / 2, Integer(0), "norm x throughout"),
        ),
        mutants=(
            wrong(
                "-1/(..)", Identity(((3 - 1) / (3 + stab) + (-1 - 1) / (1 + stab)) / 2, -1 / ((3 + stab) * (1 + stab)))
            ),
        ),
        role=Role.OURS,
        repairs="d2p2/theorem_2/vanishing_term",
    ),
    Claim(
        key="d2p2/theorem_2/static_noise",
        title="With static noise the second term is a constant; the noises of DPSGD and D2P-SGD end alike",
        source=at(132, "Section 3.2", "below Theorem 2"),
        checks=(
            Identity(
                eta * ell * _root * (1 + stab) / (2 * T) * Sum(nu**2, (j, 1, T)),
                eta * ell * _root * (1 + stab) * nu**2 / 2,
                "K terms",
            ),
            Identity((T**2 / j).subs(j, T), T, "K^2/k at k = K is DPSGD's K"),
        ),
        mutants=(wrong("over K", Identity(eta / (2 * T) * Sum(nu**2, (j, 1, T)), eta * nu**2 / (2 * T))),),
        role=Role.STEP,
    ),
    Claim(
        key="d2p2/theorem_2/sum",
        title="(20)-(21): the distances telescope, and K terms over K leave the projection term alone",
        source=at(445, "A.4", "(21)"),
        checks=(
            Identity(
                Sum(eta * ell * dim**2 * sigma_A**2 / 2, (j, 1, T)) / T, eta * ell * dim**2 * sigma_A**2 / 2, "mean"
            ),
            Inequality((kappa - gamma) / T, Relation.TIGHT, kappa / T, (gamma >= 0,), "last distance dropped"),
        ),
        mutants=(
            wrong(
                "twice", Inequality((kappa - gamma) / T, Relation.AT_MOST, kappa / (2 * T), (gamma >= 0, kappa >= 0))
            ),
        ),
        role=Role.STEP,
    ),
    Claim(
        key="d2p2/appendix_a_8/left_side",
        title="(35), (36): their left side is min E|grad f|, as in (34); E[f - f*] is a loss",
        source=at(560, "A.8", "(35)"),
        checks=(Units(g + 2 * stab, g, UNITS, "gradients"),),
        misprint=Units(r, g, UNITS, "E[f(mean iterate) - f*], as printed, against gradients"),
        mutants=(wrong("|x|", Units(x, g, UNITS)),),
        role=Role.STEP,
        remark=(
            "(34) bounds min_k E|grad f(x_k)|; (35) and (36) rewrite it with E[f(mean) - f*] on the left, as in A.5 "
            "for convex losses. A loss and a gradient cannot be bounded by the same terms. Read min_k E|grad f(x_k)|."
        ),
    ),
    Claim(
        key="d2p2/table_2",
        title="Table 2: D2P2-SGD has the best accuracy in each column",
        source=at(177, "Table 2"),
        checks=tuple(
            Inequality(Rational(other, 10**4), Relation.BELOW, Rational(ours, 10**4), name=f"epsilon = {epsilon}")
            for epsilon, other, ours in (
                (1, 6910, 7132),
                (2, 7063, 7322),
                (4, 5884, 7417),
                (6, 5704, 7851),
                (8, 6297, 7566),
            )
        ),
        mutants=(
            wrong("grows with epsilon", Inequality(Rational(7851, 10**4), Relation.BELOW, Rational(7566, 10**4))),
        ),
    ),
)
