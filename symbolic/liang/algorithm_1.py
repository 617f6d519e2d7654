"""Algorithm 1: how many updates it makes, its projection, its noise and its clipping; the domain is a ball around 0."""

from sympy import Integer, Min, Rational

from lastiterate.symbolic.claim import Claim, Identity, Inequality, Recursion, Simulated, Step, Units
from lastiterate.symbolic.letters import g
from lastiterate.symbolic.liang.paper import at
from lastiterate.symbolic.notation import PREVIOUS, D, K, T, beta, dim, eta, sigma_dp
from lastiterate.symbolic.vector_steps import CLIPPING, DOMAIN, projection

_noise = {dim: 5, eta: Integer(1) / 2, sigma_dp: Integer(2)}
_clipped = g * Min(1, K / g)


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
        assumptions=(g > 0,),
    ),
    Step(
        "liang/algorithm_1/clip_moves",
        "Clipping, the projection onto a ball, brings no two gradients of R^d farther apart, for (36)",
        at("Algorithm 1", "step 2"),
        projection(CLIPPING).mutant("one percent less", projection(CLIPPING, Rational(99, 100))),
    ),
    Claim(
        "liang/algorithm_1/projection",
        "(7), Lemma A.3: projecting onto a convex set of R^d brings no two points farther apart",
        at("Section 2.2", "(7)"),
        projection(DOMAIN).mutant("one percent less", projection(DOMAIN, Rational(99, 100))),
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
