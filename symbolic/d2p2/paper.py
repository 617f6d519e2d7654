"""Where a line of the D2P2-SGD paper stands, and the units of its normalised gradients."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sympy import Symbol

from lastiterate.symbolic.claim import Source
from lastiterate.symbolic.notation import L, eta, r

__all__ = ["UNITS", "at"]

FILE: Final = "002_eb02520b5be3e2ca.txt"

UNITS: Final[Mapping[Symbol, str]] = MappingProxyType({eta: "length", L: "gradient / length", r: "gradient length"})
"""Normalised gradients and the noise on them are numbers, so a step size is a length; r is a loss."""


def at(line: int, number: str, equation: str = "") -> Source:
    """The source of a claim: line in shared/seeds/002_eb02520b5be3e2ca.txt, number in the paper, equation.

    >>> at(118, "Theorem 1").file
    '002_eb02520b5be3e2ca.txt'
    """
    return Source(FILE, line, number, equation)
