"""The code of `bound`, one percent off: a certificate must be refused, or the checker does not hold the formula.

A number or a name is off wherever it stands for a real number; counts and indices stay as they are. Where a fault makes
a bound larger, or misleads a search whose result is certified afterwards, every certificate is accepted.
"""

import ast
import sys
from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from pkgutil import walk_packages
from types import FunctionType
from typing import Any, Final

import numpy as np
import sympy as sp
from flint import arb

from lastiterate import numeric
from lastiterate.numeric.rounding import exact
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.places.planted import Fate, Planted
from lastiterate.proofs_checks.places.source import OFF, SourcePlace, mutated, source_places
from lastiterate.proofs_checks.verdict import Status
from lastiterate.symbolic import ledger
from lastiterate.symbolic.claim import Certified

_PACKAGES: Final = ("accounting", "losses", "shift_program", "shuffling", "subsampling")
"""Folders of `lastiterate.numeric` in which bounds are computed."""


def code_places() -> Iterator[SourcePlace]:
    """The places of all modules in which bounds are computed, in sums, products and powers."""
    for found in walk_packages(numeric.__path__, f"{numeric.__name__}."):
        if found.name.split(".")[2] in _PACKAGES and not found.ispkg:
            yield from source_places(found.name, ast.BinOp)


def try_code(place: SourcePlace, share: sp.Rational) -> Planted:
    """Plant the fault in this process, for good, and have the certificates of every bound checked."""
    off = _Off(share, literal=place.words[0].isdigit())
    _plant(place, off)
    _forget()
    asked = [
        (check, claim) for claim in ledger.claims("ours") for check in claim.checks if isinstance(check, Certified)
    ]
    stopped = ""
    for check, claim in asked:
        outcome = decide_check(check, claim.assumptions)
        if outcome.status is Status.REFUTED:
            return Planted(str(place), Fate.NOTICED, f"{claim.key}: {check.name}")
        if outcome.status is not Status.HELD:
            stopped = stopped or f"{claim.key}: {outcome.detail}"[:120]
    if not off.met:
        return Planted(str(place), Fate.UNUSED, "no certificate computes a real number there")
    if stopped:
        return Planted(str(place), Fate.BROKEN, stopped)
    return Planted(str(place), Fate.KEPT, "every certificate is accepted")


class _Off:
    """A real number, or a whole one that is written out, off by a share of itself; whether one was met."""

    def __init__(self, share: sp.Rational, *, literal: bool) -> None:
        self._whole = literal
        self._exact, self._float, self.met = exact(1) + exact(int(share.p)) / int(share.q), 1 + float(share), False

    def __call__(self, value: Any) -> Any:
        if isinstance(value, arb):
            changed: Any = value * self._exact
        elif isinstance(value, Fraction):
            changed = value * Fraction(self._float).limit_denominator(1000)
        elif (
            isinstance(value, float)
            or (self._whole and type(value) is int)
            or (isinstance(value, np.ndarray) and value.dtype.kind == "f")
        ):
            changed = value * self._float
        else:
            return value
        self.met = True
        return changed


def _plant(place: SourcePlace, off: _Off) -> None:
    """Give every function of the module the code of its namesake in the changed one."""
    module = import_module(place.module)
    vars(module)[OFF] = off
    changed = dict(vars(module))
    exec(mutated(place), changed)  # noqa: S102 our own source, one place changed
    for old, new in zip(_functions(vars(module), place.module), _functions(changed, place.module), strict=True):
        old.__code__ = new.__code__
    for name, value in changed.items():
        if isinstance(value, float | arb | np.ndarray):
            vars(module)[name] = value


def _functions(names: dict[str, Any], module: str) -> Iterator[FunctionType]:
    """The functions and methods that a module defines, in a fixed order."""
    for _, value in sorted(names.items(), key=lambda pair: pair[0]):
        if getattr(value, "__module__", None) != module:
            continue
        if isinstance(value, type):
            for _, own in sorted(vars(value).items()):
                yield from _code(own, module)
        else:
            yield from _code(value, module)


def _code(value: Any, module: str) -> Iterator[FunctionType]:
    inner = value
    for name in ("fget", "func", "__func__", "__wrapped__"):
        inner = getattr(inner, name, None) or inner
    if isinstance(inner, FunctionType) and inner.__module__ == module:
        yield inner


def _forget() -> None:
    """Empty the caches through which what was computed before would outlive the fault."""
    for name, module in list(sys.modules.items()):
        if name.startswith(numeric.__name__):
            for function in vars(module).values():
                if hasattr(function, "cache_clear"):
                    function.cache_clear()
