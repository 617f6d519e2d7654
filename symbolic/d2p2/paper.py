"""Sources in the D2P2-SGD paper, and the units of its normalised gradients."""

from functools import partial
from types import MappingProxyType

from lastiterate.symbolic.derivations import statements
from lastiterate.symbolic.prelude import *
from lastiterate.symbolic.vector_steps import X, Y, tangent

D2P2_UNITS: Final[Mapping[Symbol, Expr]] = MappingProxyType(
    {eta: LENGTH, L: GRADIENT / LENGTH, r: GRADIENT * LENGTH}
)
"""Normalised gradients and their noise have no unit, so a step size is a length; r is a loss."""

at: Final = partial(Source, PAPERS["d2p2"])
