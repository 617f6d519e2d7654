"""Algorithm 1: how many updates it makes, its projection, its noise and its clipping; the domain is a ball around 0."""

from sympy import Abs, Expr, Integer, Max, Min

from lastiterate.symbolic.claim import Claim, Identity, Inequality, Recursion, Simulated, Step, Units
from lastiterate.symbolic.letters import g, gamma, xi, zeta
from lastiterate.symbolic.liang.paper import at
from lastiterate.symbolic.notation import PREVIOUS, D, K, T, beta, dim, eta, sigma_dp

_noise = {dim: 5, eta: Integer(1) / 2, sigma_dp: Integer(2)}
_clipped = g * Min(1, K / g)


def _project(point: Expr) -> Expr:
    """The nearest point of [-D, D]."""
    return Max(-D, Min(D, point))


def _bounded(gradient: Expr) -> Expr:
    """The clipped gradient on the line."""
    return Max(-K, Min(K, gradient))


CLAIMS = (
    Step(
        "liang/algorithm_1/loop",
        "Algorithm 1 makes T updates; 'until t > T' makes T + 1, and theta_T is not the last of them",
        at("Algorithm 1"),
        Recursion(T, Integer(0), PREVIOUS + 1, T, name="passes until t >= T, t counted up from 0"),
        misprint=Recursion(T, Integer(1), PREVIOUS + 1, T, name="passes until t > T: one even for T = 0"),
        remark="""The counter is raised before it is tested, so 'until t > T' runs the loop for t = 0, ..., T and makes
        T + 1 updates. Theorems 3.3 and 3.4 price T of them, and theta_T, which is returned, is made by the T-th. Read
        'until t >= T'.""",
    ),
    Claim(
        "liang/algorithm_1/clip",
        "clip_C(x) = x min(1, C/|x|) has norm min(|x|, C)",
        at("Algorithm 1", "step 2"),
        Inequality(_clipped, "<= and attained", K, name="at most C"),
        Inequality(_clipped, "==", Min(g, K), name="norm"),
        Inequality(
            Abs(_bounded(gamma) - _bounded(xi)),
            "<= and attained",
            Abs(gamma - xi),
            name="keeps L, for (36)",
        ),
        assumptions=(g > 0,),
    ),
    Claim(
        "liang/algorithm_1/projection",
        "(7), Lemma A.3 on the line: projecting on [-D, D] does not move two points apart",
        at("Section 2.2", "(7)"),
        Inequality(Abs(_project(xi) - _project(zeta)), "<= and attained", Abs(xi - zeta), name="non-expansive").mutant(
            "contracts by half", sign="<=", right=Abs(xi - zeta) / 2
        ),
        Inequality(Abs(_project(xi)), "<= and attained", D, name="in the domain"),
    ),
    Step(
        "liang/algorithm_1/noise",
        "(6), (56): noise sigma_DP on the gradient is eta sigma_DP on the iterate, split by beta in (9), (43)",
        at("B.2", "(43)"),
        Identity(
            eta**2 * beta * sigma_dp**2 + eta**2 * (1 - beta) * sigma_dp**2, eta**2 * sigma_dp**2, "the parts add"
        ),
        Units(eta * sigma_dp, D, name="a length"),
        Simulated("noise_energy", "==", dim * eta**2 * sigma_dp**2, _noise, Integer(1) / 2, "E|zeta|^2, d = 5"),
    ),
)
