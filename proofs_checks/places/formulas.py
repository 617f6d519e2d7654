"""Formulas and definitions that claims share, one percent off: a claim must turn, or nothing holds the formula.

A check built from one object on both sides is a tautology: it holds with any other object, too. So the source of the
object is changed, the claims are built again, and those that are other claims now are decided.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from time import process_time
from types import FunctionType
from typing import Any, Final

import sympy as sp

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.lock import read_lock
from lastiterate.proofs_checks.places.imports import dependents
from lastiterate.proofs_checks.places.planted import Fate, Planted
from lastiterate.proofs_checks.places.source import OFF, SourcePlace, mutated, source_places
from lastiterate.proofs_checks.places.sweep import notices
from lastiterate.proofs_checks.verdict import Status, Verdict
from lastiterate.symbolic import formulas, ledger
from lastiterate.symbolic.claim import Check, Claim, Engine

_HOLD: Final = (Verdict.PROVED, Verdict.SUPPORTED, Verdict.TYPO)
_SLOWER: Final = (Engine.DERIVATION, Engine.ATTACK)
_MEASURE: Final = (Engine.CERTIFICATE, Engine.RECOMPUTATION, Engine.SIMULATION)
_BY_NAME: Final = ("lastiterate.proofs_checks.engines.derivation", "lastiterate.proofs_checks.engines.replay")
"""Engines that hold derivations by their names."""

_SECONDS: Final = 5
_ALL: Final = 60
"""Seconds for one check, and after which no further check is decided."""


def formula_places() -> Iterator[SourcePlace]:
    """The places of all formulas that claims share; printed theorems, which none of them uses, are held by tests."""
    for found in iter_modules(formulas.__path__, f"{formulas.__name__}."):
        if dependents(found.name):
            yield from source_places(found.name)


def definition_places() -> Iterator[SourcePlace]:
    """The places of what modules of claims define beside their claims."""
    for module in ledger.modules():
        yield from (place for place in source_places(module.__name__) if place.owner != "CLAIMS")


def try_formula(place: SourcePlace, share: sp.Rational) -> Planted:
    """Change a place in this process, for good, build the claims again that depend on it, and decide them."""
    before = {claim.key: claim for claim in ledger.claims()}
    names = dependents(place.module)
    _change(place, share)
    for name in (*names, *_BY_NAME):
        sys.modules.pop(name, None)
        package, _, last = name.rpartition(".")
        vars(sys.modules.get(package, sp)).pop(last, None)
    known = {f"lastiterate.symbolic.{paper}.{name}" for paper in ledger.ORDER for name in ledger.ORDER[paper]}
    started, left_open, held = process_time(), "", []
    try:
        for check, claim in _rebuilt([name for name in (place.module, *names) if name in known], before):
            outcome = decide_check(check, claim.assumptions, _SECONDS)
            if notices(outcome, check, claim.assumptions):
                return Planted(str(place), Fate.NOTICED, claim.key)
            held.append(claim.key)
            if outcome.status is not Status.HELD:
                left_open = left_open or claim.key
            if process_time() - started > _ALL:
                break
    except (ValueError, TypeError, ArithmeticError) as error:
        return Planted(str(place), Fate.BROKEN, f"the claims cannot be built: {error}")
    if left_open:
        return Planted(str(place), Fate.OPEN, left_open)
    if held:
        return Planted(str(place), Fate.KEPT, f"{len(held)} checks hold with it, of {held[0]} and others")
    return Planted(str(place), Fate.UNUSED, "no claim is another one with it")


def _rebuilt(names: Sequence[str], before: Mapping[str, Claim]) -> Iterator[tuple[Check, Claim]]:
    """The checks that are other ones now, as the modules are built again, those of slower engines at the end."""
    slower = []
    for name in names:
        for claim in import_module(name).CLAIMS:
            for pair in _other(before[claim.key], claim):
                if pair[0].engine in _SLOWER:
                    slower.append(pair)
                else:
                    yield pair
    yield from slower


def _other(before: Claim, now: Claim) -> Iterator[tuple[Check, Claim]]:
    """The checks of a claim that holds which are other checks now."""
    locked = read_lock().get(now.key)
    if locked is None or locked.verdict not in _HOLD or len(before.checks) != len(now.checks):
        return
    for one, other in zip(before.checks, now.checks, strict=True):
        if other.engine not in _MEASURE and (
            replace(one, mutants=()) != replace(other, mutants=()) or before.assumptions != now.assumptions
        ):
            yield other, now


def _change(place: SourcePlace, share: sp.Rational) -> None:
    """Execute the module with the place off; functions keep their identity, and what is a value is put in its place."""
    module = sys.modules[place.module]
    own = vars(module)
    known = {name: value for name, value in own.items() if isinstance(value, FunctionType | type)}
    own[OFF] = _off(share)
    exec(mutated(place), own)  # noqa: S102 our own source, one place changed
    for name, old in known.items():
        if isinstance(old, FunctionType) and isinstance(own[name], FunctionType) and own[name] is not old:
            old.__code__ = own[name].__code__
        own[name] = old


def _off(share: sp.Rational) -> Callable[[Any], Any]:
    def off(value: Any) -> Any:
        number = isinstance(value, sp.Expr | int) and not isinstance(value, bool)
        return sp.sympify(value, strict=True) * (1 + share) if number else value

    return off
