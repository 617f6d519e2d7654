"""Sources in the two versions, units, and the quantities that several modules compare."""

from functools import partial
from types import MappingProxyType

from lastiterate.symbolic.derivations import statements
from lastiterate.symbolic.derivations.statements import mixed_step
from lastiterate.symbolic.kernel.renyi import largest_order
from lastiterate.symbolic.prelude import *
from lastiterate.symbolic.vector_steps import CLIPPING, X, Y, projection

SMOOTH: Final[Mapping[Symbol, Expr]] = MappingProxyType({L: GRADIENT / LENGTH})
"""The unit of L as a Lipschitz constant of gradients (order lambda = 1)."""

WITH_GAP: Final[Mapping[Symbol, Expr]] = MappingProxyType({**SMOOTH, r: GRADIENT * LENGTH})
"""The units `SMOOTH`, with r as a loss, such as the initial gap l(theta_0) - l*."""

at: Final = partial(Source, PAPERS["liang"])
"""The source of a claim in the later version (AAAI 2026): its number, and an equation or words of the line."""

earlier: Final = partial(Source, PAPERS["liang_earlier"])
"""The source of a claim in the earlier version, with explicit constants in Theorems 3.3 and 3.4."""

STEP: Final = 2 * alpha * K**2 / (n * b * sigma_dp**2)
"""A of (46); T A is the constant behind Theorem 3.3."""

DOMAIN: Final = alpha * (1 + eta * L) ** 2 * D**2 / (2 * eta**2 * sigma_dp**2)
"""B of (51)."""

REACH: Final = (1 + eta * L) ** 2 * n * b * D**2 / (eta**2 * K**2)
"""T-bar of (12) and (18), which is 4 B/A."""

SMALL_STEPS: Final = (2 * alpha * (alpha - 1) * K**2 <= b**2 * sigma_dp**2,)
"""Orders and noise at which a step costs no more than a multiple of the rate b/n."""


def one_order(bound: Expr, *conditions: Any) -> ForAll:
    """The bound in the order that the paper proves, with the larger data set second, for batches of b = |B_t|."""
    said = RenyiDivergence(alpha, LastIterate(SAMPLES), LastIterate(OTHER)) <= bound
    return closed(said, Larger(SAMPLES, OTHER), alpha > 1, BatchesOf(b, n), b <= n, *conditions)


def small_orders(share: Expr) -> tuple[Boolean, ...]:
    """The conditions of Lemma A.13 on a step with a share of the noise, with 5 b < n for 5 b <= n."""
    noise = b * sqrt(share) * sigma_dp / (2 * K)
    said = (5 * b < n, share > 0, share < 1, noise > 4, alpha <= largest_order(b / n, noise))
    return tuple(one for one in said if one is not S.true)
