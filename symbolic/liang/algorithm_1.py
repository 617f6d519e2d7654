"""Algorithm 1: how many updates it makes, its projection, its noise and its clipping; the domain is a ball around 0."""

from lastiterate.symbolic.liang.paper import at
from lastiterate.symbolic.prelude import *
from lastiterate.symbolic.vector_steps import CLIPPING, DOMAIN, projection

_Z, _X = Symbol("Z"), Symbol("X")
_u, _v = Vector("u"), Vector("v")
_whole = {_Z: (dim, Integer(1), eta**2 * sigma_dp**2)}
_first = {_Z: (dim, Integer(1), beta * eta**2 * sigma_dp**2)}
_second = {_Z: (dim, Integer(1), (1 - beta) * eta**2 * sigma_dp**2)}
_across = gaussian_mean(
    [Transposed(_u), _Z, Transposed(_X), _v],
    entries=_first | {_X: (dim, Integer(1), (1 - beta) * eta**2 * sigma_dp**2)},
)


def _covariance(law: dict[Symbol, tuple[Expr, Expr, Expr]]) -> Expr:
    """E <u, Z><Z, v> for independent Gaussian entries of Z."""
    return gaussian_mean([Transposed(_u), _Z, Transposed(_Z), _v], entries=law)


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
        projection(CLIPPING),
    ),
    Claim(
        "liang/algorithm_1/projection",
        "(7), Lemma A.3: projecting onto a convex set of R^d brings no two points farther apart",
        at("Section 2.2", "(7)"),
        projection(DOMAIN),
    ),
    Step(
        "liang/algorithm_1/noise",
        "(6), (56): noise sigma_DP on the gradient is eta sigma_DP on the iterate, split by beta in (9), (43)",
        at("B.2", "(43)"),
        Expected(
            _covariance(_first) + _covariance(_second) + 2 * _across,
            "==",
            eta**2 * sigma_dp**2 * inner(_u, _v),
            name="the two parts together, along any u and v",
        ),
        Expected(_covariance(_whole), "==", eta**2 * sigma_dp**2 * inner(_u, _v), name="the noise of a step"),
        Expected(
            gaussian_mean([Transposed(_Z), _Z], entries=_whole), "==", dim * eta**2 * sigma_dp**2, name="E|zeta|^2"
        ).mutant("one coordinate", right=eta**2 * sigma_dp**2),
        Units(eta * sigma_dp, D, name="a length"),
        assumptions=(beta <= 1,),
    ),
)
