"""One module for each engine; all provide `decide(check, assumptions)` and `near_misses(check, assumptions, room)`.

Each type of check names its engine. An engine that raises has decided nothing: the outcome is an error, and an error
never passes. `decide` raises NoPointError where nothing is known to meet the assumptions, InputError where the check
cannot be read as a statement, and UnsupportedError where it is of a kind that the engine cannot decide.
"""

from importlib import import_module
from typing import Any

from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.declared import prepared, says_nothing
from lastiterate.proofs_checks.engines.answers import undecided
from lastiterate.proofs_checks.engines.time_limit import limited, seconds_left
from lastiterate.proofs_checks.feasible_points import NoPointError
from lastiterate.proofs_checks.verdict import Outcome, Status
from lastiterate.symbolic.checks import Check, Engine


def decide_check(check: Check, assumptions: tuple[Boolean, ...]) -> Outcome:
    """The outcome of one check by the engine of its type; an exception in the engine becomes an error.

    A check that says nothing is undecided, so no claim rests on one.
    """
    try:
        engine = engine_of(check)
        with limited():
            nothing = says_nothing(check, assumptions)
            if nothing:
                return undecided(check, nothing)
            found: Outcome = engine.decide(*prepared(check, assumptions))
            if type(found) is not Outcome or (engine is type(check) and found.engine != check.engine):
                raise TypeError(f"an engine needs to answer with an Outcome of its own name, got {found!r}")
            return found
    except Exception as error:
        if isinstance(error, TimeoutError):
            seconds_left()  # raises if the time was that of an enclosing check
        return Outcome(check.name, check.engine, Status.ERROR, detail=sentence_of(error))


def sentence_of(error: Exception) -> str:
    """An error of an engine as a sentence."""
    known = isinstance(error, InputError | UnsupportedError | NoPointError | TimeoutError)
    return str(error) if known else f"the engine stopped with {type(error).__name__}: {error}"


def engine_of(check: Check) -> Any:
    """The engine of a check: its own class, or the module of the package's engine.

    It is imported only here: the dependencies of a claim follow from its checks.
    """
    if check.engine not in set(Engine):
        return type(check)
    module = import_module(f"lastiterate.proofs_checks.engines.{check.engine}")
    if missing := [name for name in ("decide", "near_misses") if not hasattr(module, name)]:
        raise TypeError(
            f"An engine needs decide and near_misses, got {module.__name__} without {missing}; define both."
        )
    return module
