r"""Algorithm 1 of Liang et al. 2026: DPSGD.

For $t = 0, 1, \dots$ draw a batch $B_t$, clip its gradients, add noise, and project.
$$\theta_{t+1} = \Pi_{\mathcal K}\Bigl(\theta_t - \frac{\eta}{b} \sum_{\xi \in B_t} \mathrm{clip}_C(g_\xi(\theta_t))
+ \zeta_t\Bigr), \qquad \zeta_t \sim N(0, \eta^2 \sigma_{DP}^2 I), \qquad
\mathrm{clip}_C(x) = x \min\{1, C/\|x\|\}$$

Clipping and projection are nonexpansive and the noise can be split as in the proofs. The loop makes one
step too many.
"""

from lastiterate.symbolic.liang.paper import *
from lastiterate.symbolic.vector_steps import DOMAIN

_u, _v = Vector("u"), Vector("v")
_Z, _X = Symbol("Z"), Symbol("X")
_parts = {_Z: (dim, S.One, beta * eta**2 * sigma_dp**2), _X: (dim, S.One, (1 - beta) * eta**2 * sigma_dp**2)}


def _covariance(one: Symbol, other: Symbol) -> Expr:
    """E <u, one><other, v> for independent Gaussian entries."""
    laws = {letter: _parts[letter] for letter in (one, other)}
    return gaussian_mean([Transposed(_u), one, Transposed(other), _v], entries=laws)


CLAIMS = (
    Step(
        "liang/algorithm_1/loop",
        "Algorithm 1 makes T updates; 'until t > T' makes T + 1, and theta_T is not the last of them",
        at("Algorithm 1"),
        Recursion(T, S.Zero, PREVIOUS + 1, T, name="passes until t >= T, t counted up from 0"),
        misprint=Recursion(T, S.One, PREVIOUS + 1, T, name="passes until t > T: one even for T = 0"),
    ),
    Claim(
        "liang/algorithm_1/clip",
        "clip_C(x) = x min(1, C/|x|) has norm min(|x|, C)",
        at("Algorithm 1", "step 2"),
        Inequality(g * Min(1, K / g), "==", Min(g, K), (g > 0,)),
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
            _covariance(_Z, _Z) + _covariance(_X, _X) + 2 * _covariance(_Z, _X),
            "==",
            eta**2 * sigma_dp**2 * inner(_u, _v),
            name="the two parts together, along any u and v",
        ),
        assumptions=(beta <= 1,),
    ),
)
