"""Sources in the two versions, units, and the quantities that several modules compare."""

from functools import partial
from types import MappingProxyType

from lastiterate.symbolic.derivations import statements
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
