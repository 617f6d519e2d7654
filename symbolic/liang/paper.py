"""Sources in the two versions, and the units of their smooth losses."""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from sympy import Expr, Symbol

from lastiterate.symbolic.notation import GRADIENT, LENGTH, L
from lastiterate.symbolic.papers import PAPERS, Source

SMOOTH: Final[Mapping[Symbol, Expr]] = MappingProxyType({L: GRADIENT / LENGTH})
"""The unit of L where it is a Lipschitz constant of gradients (order lambda = 1)."""

at: Final = partial(Source, PAPERS["liang"])
"""The source of a claim in the later version, of the AAAI 2026 proceedings: number; equation, or words of the line."""

earlier: Final = partial(Source, PAPERS["liang_earlier"])
"""The same in the earlier version, with explicit constants in Theorems 3.3 and 3.4."""
