"""Theorem 3.4 in the two versions: explicit and with O().

Statement    Later (12), min{T, T-bar} up to a constant; earlier (12) and (14), with the additive term kept.
Assumptions  none on the parameters: x^2 = A is the price of a step, y^2 = B that of the domain, see theorem_3_4.
Derivation   Compare the two minima.
Source       Liang et al., Theorem 3.4; earlier version (12), (14).
"""

from sympy import Integer, Min

from lastiterate.symbolic.claim import Asymptotic, Inequality, Ours
from lastiterate.symbolic.liang.paper import earlier
from lastiterate.symbolic.notation import T, growth, r, x, y

CLAIMS = (
    Ours(
        "liang/theorem_3_4/versions",
        "Both versions say the same of bounded domains: earlier (14) at its best beta is within r of later (12)",
        earlier("Theorem 3.4", "(14)"),
        Inequality(
            Min(T * x**2, (x + y) ** 2),
            "<=",
            r * Min(T * x**2 / 2, 2 * y**2),
            (x > 0, y > 0),
            "(12), (14) of the earlier against (12) of the later version",
        ).mutant("r = 8", right=8 * Min(T * x**2 / 2, 2 * y**2)),
        Asymptotic(
            Min(T * x**2, (x + y) ** 2),
            Min(T * x**2 / 2, 2 * y**2),
            path={x: growth, y: Integer(1), T: growth},
            name="D small against C",
        ),
        remark="""The earlier version's (14) keeps 2 alpha K^2/(beta n b sigma_DP^2) beside the term in D; the later
        (12), from the same proof, does not. So the two disagree without limit as D falls, and it is the later one that
        is wrong. The later is below the earlier up to the constant 4, never the other way.""",
    ),
    Ours(
        "liang/theorem_3_4/versions_order",
        "Later (12) is at most four times earlier (12) and (14) at their best beta",
        earlier("Theorem 3.4", "(14)"),
        Inequality(Min(T * x**2 / 2, 2 * y**2), "<=", 4 * Min(T * x**2, (x + y) ** 2), name="in this order").mutant(
            "a hundredth", right=Min(T * x**2, (x + y) ** 2) / 100
        ),
        Inequality(2 * r * y**2, "<", x**2, (x > 0, (r + 2) * y <= x), "no r serves the other"),
        repairs="liang/theorem_3_4/versions",
    ),
)
