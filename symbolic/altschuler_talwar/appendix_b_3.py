"""Strongly convex losses: the value of footnote 11 and the printed window of (B.3).

Statement    Shifts a_t = c^-t beta D with beta = c^(tau+2) (1 - c^-2) / (1 - c^(-2w)) meet the constraint and cost
             c^-tau beta D^2; the window is then set by first-order optimality.
Assumptions  0 < c < 1; w = T - tau - 1; u = c^(-2w) > 1 taken real; epsilon stands for the paper's Q > 0 and
             r for alpha D^2 / (2 eta^2 sigma_1^2), the paper's beta in the window being 2 r log(c) (1-c)^2 / Q.
Derivation   The printed u solves u + 1/u = 2 - beta, so r is a function of u; the derivative must vanish there.
Source       Altschuler & Talwar 2022, appendix B.3, lines 784-794 and footnote 11.
"""

from sympy import Expr, Integer, diff, log

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import Claim, Engine, Identity, Mutant, Role
from lastiterate.symbolic.notation import D, c, epsilon, r, tau, u

_beta = c ** (tau + 2) * (1 - c**-2) / (1 - u)
_squares = c**-2 * (1 - u) / (1 - c**-2)  # c^-2 + ... + c^(-2w)
_cost = -epsilon * log(u) / (2 * log(c)) + r * (1 - c**2) / (u - 1)


def _slope(factor: Expr) -> Expr:
    """Slope of the cost at the u with u + 1/u = 2 - 2 r log(c) factor / Q."""
    return diff(_cost, u).subs(r, -((u - 1) ** 2) * epsilon / (2 * u * factor * log(c)))


CLAIMS = (
    Claim(
        key="altschuler_talwar/appendix_b_3/footnote_11",
        title="The shifts of footnote 11 meet the constraint and cost (1 - c^2) D^2 / (c^(-2w) - 1)",
        source=at(792, "B.3", "footnote 11"),
        assumptions=(c < 1, u > 1),
        checks=(
            Identity(c**tau * _beta * D * c ** (-2 * tau) * _squares, D, "constraint"),
            Identity(_beta**2 * D**2 * c ** (-2 * tau) * _squares, c**-tau * _beta * D**2, "value"),
            Identity(c**-tau * _beta * D**2, (1 - c**2) * D**2 / (u - 1), "as in (B.3)"),
        ),
        mutants=(
            Mutant("1 - c for 1 - c^2", Identity(c**-tau * _beta * D**2, (1 - c) * D**2 / (u - 1)), Engine.IDENTITY),
            Mutant("sum from 0", Identity(_beta * c**-tau * c**2 * _squares * D, D), Engine.IDENTITY),
        ),
    ),
    Claim(
        key="altschuler_talwar/appendix_b_3/window",
        title="The printed window, with (1 - c)^2 in beta, meets first-order optimality",
        source=at(790, "B.3", "Numerical computation"),
        assumptions=(c < 1, u > 1, epsilon > 0),
        checks=(Identity(_slope((1 - c) ** 2), Integer(0), "slope at the printed window"),),
        mutants=(Mutant("1 - c", Identity(_slope(1 - c), Integer(0)), Engine.IDENTITY),),
        remark=(
            "The window is printed with (1 - c)^2 in beta and said to follow from first-order optimality of (B.3). "
            "The slope of (B.3) does not vanish there. With 1 - c^2 in the place of (1 - c)^2 it does; (B.3) at the "
            "printed window stays a value of the minimised function, only not the least."
        ),
    ),
    Claim(
        key="altschuler_talwar/appendix_b_3/window_repaired",
        title="With 1 - c^2 in beta the window meets first-order optimality",
        source=at(790, "B.3", "Numerical computation"),
        assumptions=(c < 1, u > 1, epsilon > 0),
        checks=(Identity(_slope(1 - c**2), Integer(0), "slope at the repaired window"),),
        mutants=(Mutant("1 + c^2", Identity(_slope(1 + c**2), Integer(0)), Engine.IDENTITY),),
        role=Role.OURS,
        repairs="altschuler_talwar/appendix_b_3/window",
    ),
)
