"""Algorithm 1: how many updates it makes, its projection, its noise and its clipping.

Statement    DPSGD-DC starts at t = 0, updates and counts until t > T, and returns theta_T.
Assumptions  the domain is the ball of radius D around 0.
Derivation   Count the passes of the loop; the rest is read off one line at a time.
Source       Liang et al., Algorithm 1, section 2.2, (6), (7), (9), (43).
Remark       The test t > T comes after t <- t + 1, so the pass that makes theta_(T+1) is made too.
"""

from sympy import Abs, Expr, Integer, Max, Min

from lastiterate.symbolic.claim import Claim, Identity, Inequality, Recursion, Relation, Role, Simulated, Units
from lastiterate.symbolic.liang.paper import SMOOTH, at
from lastiterate.symbolic.mutants import wrong
from lastiterate.symbolic.notation import PREVIOUS, D, K, T, b, beta, dim, eta, g, gamma, sigma_dp, xi, zeta

_noise = {dim: 5, eta: Integer(1) / 2, sigma_dp: Integer(2)}
_clipped = g * Min(1, K / g)


def _project(point: Expr) -> Expr:
    """The nearest point of [-D, D]."""
    return Max(-D, Min(D, point))


def _bounded(gradient: Expr) -> Expr:
    """The clipped gradient on the line."""
    return Max(-K, Min(K, gradient))


CLAIMS = (
    Claim(
        key="liang/algorithm_1/loop",
        title="Algorithm 1 makes T updates; 'until t > T' makes T + 1, and theta_T is not the last of them",
        source=at(144, "Algorithm 1"),
        checks=(Recursion(T, Integer(0), PREVIOUS + 1, T, name="passes until t >= T, t counted up from 0"),),
        misprint=Recursion(T, Integer(1), PREVIOUS + 1, T, name="passes until t > T: one even for T = 0"),
        mutants=(wrong("T - 1 passes", Recursion(T, Integer(0), PREVIOUS + 1, T - 1)),),
        role=Role.STEP,
        remark=(
            "The counter is raised before it is tested, so 'until t > T' runs the loop for t = 0, ..., T and makes "
            "T + 1 updates. Theorems 3.3 and 3.4 price T of them, and theta_T, which is returned, is made by the "
            "T-th. Read 'until t >= T'."
        ),
    ),
    Claim(
        key="liang/algorithm_1/clip",
        title="clip_C(x) = x min(1, C/|x|) has norm min(|x|, C)",
        source=at(138, "Algorithm 1", "step 2"),
        assumptions=(g > 0,),
        checks=(
            Inequality(_clipped, Relation.TIGHT, K, name="at most C"),
            Inequality(_clipped, Relation.EQUAL, Min(g, K), name="norm"),
            Inequality(
                Abs(_bounded(gamma) - _bounded(xi)),
                Relation.TIGHT,
                Abs(gamma - xi),
                name="keeps L, for (36)",
            ),
        ),
        mutants=(
            wrong("C/2", Inequality(_clipped, Relation.AT_MOST, K / 2)),
            wrong("max for min", Inequality(g * Max(1, K / g), Relation.EQUAL, Min(g, K))),
        ),
    ),
    Claim(
        key="liang/algorithm_1/projection",
        title="(7), Lemma A.3 on the line: projecting on [-D, D] does not move two points apart",
        source=at(157, "Section 2.2", "(7)"),
        checks=(
            Inequality(Abs(_project(xi) - _project(zeta)), Relation.TIGHT, Abs(xi - zeta), name="non-expansive"),
            Inequality(Abs(_project(xi)), Relation.TIGHT, D, name="in the domain"),
        ),
        mutants=(
            wrong(
                "contracts by half",
                Inequality(Abs(_project(xi) - _project(zeta)), Relation.AT_MOST, Abs(xi - zeta) / 2),
            ),
            wrong("radius D/2", Inequality(Abs(_project(xi)), Relation.AT_MOST, D / 2)),
        ),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="liang/algorithm_1/noise",
        title="(6), (56): noise sigma_DP on the gradient is eta sigma_DP on the iterate, split by beta in (9), (43)",
        source=at(474, "B.2", "(43)"),
        checks=(
            Identity(
                eta**2 * beta * sigma_dp**2 + eta**2 * (1 - beta) * sigma_dp**2, eta**2 * sigma_dp**2, "the parts add"
            ),
            Units(eta * sigma_dp, D, name="a length"),
            Simulated(
                "noise_energy", Relation.EQUAL, dim * eta**2 * sigma_dp**2, _noise, Integer(1) / 2, "E|zeta|^2, d = 5"
            ),
        ),
        mutants=(
            wrong(
                "square roots of the shares add",
                Identity(eta**2 * beta**2 * sigma_dp**2 + eta**2 * (1 - beta) ** 2 * sigma_dp**2, eta**2 * sigma_dp**2),
            ),
            wrong("without eta", Units(sigma_dp, D)),
            wrong("without d", Simulated("noise_energy", Relation.EQUAL, eta**2 * sigma_dp**2, _noise)),
        ),
        role=Role.STEP,
    ),
    Claim(
        key="liang/algorithm_1/units",
        title="(6): iterate, step times clipped gradient and step times noise are lengths",
        source=at(153, "Section 2.2", "(6)"),
        checks=(Units(xi - eta * (K / b + sigma_dp), D, SMOOTH, "(6), term by term"),),
        mutants=(
            wrong("noise outside the bracket", Units(xi - eta * K / b + sigma_dp, D, SMOOTH)),
            wrong("no step size", Units(xi - K / b, D, SMOOTH)),
        ),
    ),
    Claim(
        key="liang/algorithm_1/start",
        title="Started at 0 in the ball of radius D the optimum is at most D away, as (65) and (76) use it",
        source=at(132, "Algorithm 1"),
        checks=(
            Inequality(Abs(xi - 0), Relation.TIGHT, D, (Abs(xi) <= D,), "theta* in the ball, theta_0 = 0"),
            Inequality(Abs(xi - zeta), Relation.TIGHT, 2 * D, (Abs(xi) <= D, Abs(zeta) <= D), "from elsewhere"),
        ),
        mutants=(
            wrong("any start", Inequality(Abs(xi - gamma), Relation.AT_MOST, D, (Abs(xi) <= D, Abs(gamma) <= D))),
        ),
        role=Role.OURS,
        relation=Relation.TIGHT,
    ),
)
