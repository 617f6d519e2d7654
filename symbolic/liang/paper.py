"""Sources in the two versions, and the units of their smooth losses."""

from functools import partial
from types import MappingProxyType

from lastiterate.symbolic.prelude import *

SMOOTH: Final[Mapping[Symbol, Expr]] = MappingProxyType({L: GRADIENT / LENGTH})
"""The unit of L where it is a Lipschitz constant of gradients (order lambda = 1)."""

at: Final = partial(Source, PAPERS["liang"])
"""The source of a claim in the later version, of the AAAI 2026 proceedings: number; equation, or words of the line."""

earlier: Final = partial(Source, PAPERS["liang_earlier"])
"""The same in the earlier version, with explicit constants in Theorems 3.3 and 3.4."""
