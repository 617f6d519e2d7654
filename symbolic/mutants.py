"""Mutants in one line: the engine that must refute one is the engine of its check's type."""

from typing import Final

from lastiterate.symbolic.claim import (
    Asymptotic,
    Check,
    Engine,
    Holds,
    Identity,
    Inequality,
    Mutant,
    Recursion,
    Sampled,
    Simulated,
    Unbounded,
    Units,
    UpperBound,
    Value,
)

__all__ = ["ENGINE_OF", "wrong"]

ENGINE_OF: Final[dict[type, Engine]] = {
    Identity: Engine.IDENTITY,
    Recursion: Engine.IDENTITY,
    Inequality: Engine.INEQUALITY,
    Holds: Engine.ENCLOSURE,
    Value: Engine.ENCLOSURE,
    Sampled: Engine.SAMPLING,
    UpperBound: Engine.WITNESS,
    Asymptotic: Engine.ASYMPTOTICS,
    Unbounded: Engine.ASYMPTOTICS,
    Units: Engine.UNITS,
    Simulated: Engine.SIMULATION,
}
"""Which engine decides which type of check."""


def wrong(name: str, check: Check) -> Mutant:
    """A mutant that the engine of its check's type must refute.

    >>> from sympy import Integer
    >>> wrong("off by one", Identity(Integer(1), Integer(2))).caught_by
    <Engine.IDENTITY: 'identity'>
    """
    return Mutant(name, check, ENGINE_OF[type(check)])
