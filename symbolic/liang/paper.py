"""Sources in the two versions, and the units of their smooth losses."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sympy import Symbol

from lastiterate.symbolic.notation import L
from lastiterate.symbolic.papers import PAPERS, Source

__all__ = ["SMOOTH", "at", "earlier"]

SMOOTH: Final[Mapping[Symbol, str]] = MappingProxyType({L: "gradient / length"})
"""The unit of L where it is a Lipschitz constant of gradients (order lambda = 1)."""


def at(number: str, detail: str = "") -> Source:
    """The source of a claim in the later version, of the AAAI 2026 proceedings.

    >>> print(at("Theorem 3.4", "(12)"))
    Liang et al. 2026 (arXiv:2502.17772), Theorem 3.4, (12)
    """
    return Source(PAPERS["liang"], number, detail)


def earlier(number: str, detail: str = "") -> Source:
    """The source of a claim in the earlier version, with explicit constants in Theorems 3.3 and 3.4.

    >>> print(earlier("Theorem 3.4", "(14)"))
    Liang et al., earlier version (arXiv:2502.17772), Theorem 3.4, (14)
    """
    return Source(PAPERS["liang_earlier"], number, detail)
