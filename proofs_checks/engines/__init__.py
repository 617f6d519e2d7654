"""Engines, one module each, with `decide(check, assumptions)` and `near_misses(check, assumptions, room)`.

`decide` also assumes the check's own premises. It raises NoPointError if no point is known to meet the
assumptions, InputError if the check cannot be read as a statement, and UnsupportedError if the engine does not
decide such checks. An engine may also have `refute_by_drawing(check, assumptions)`: it refutes at points drawn at
random, which is cheap and serves near misses, whose counterexamples nobody sees; None if no point does. An engine
may also have `confirm(check, assumptions)`, which is `decide` without the search for a counterexample.
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


def decide_check(
    check: Check, assumptions: tuple[Boolean, ...], *, by_drawing: bool = False, refute: bool = True
) -> Outcome:
    """Decide a check with the engine of its type; exceptions become errors, and vacuous checks are undecided.

    ``by_drawing``: try `refute_by_drawing` first, if the engine has it. Without ``refute``, leave a check that
    is not proved undecided at once, if the engine has `confirm`.
    """
    try:
        engine = engine_of(check)
        with limited():
            nothing = says_nothing(check, assumptions)
            if nothing:
                return undecided(check, nothing)
            asked = prepared(check, assumptions)
            draw = getattr(engine, "refute_by_drawing", None) if by_drawing else None
            ask = engine.decide if refute else getattr(engine, "confirm", engine.decide)
            found: Outcome = (draw and draw(*asked)) or ask(*asked)
            if type(found) is not Outcome or (engine is type(check) and found.engine != check.engine):
                raise TypeError(f"an engine must answer with an Outcome under its own name, got {found!r}")
            return found
    except Exception as error:
        if isinstance(error, TimeoutError):
            seconds_left()  # raises if the time was that of an enclosing check
        return Outcome(check.name, check.engine, Status.ERROR, detail=sentence_of(error))


def sentence_of(error: Exception) -> str:
    """Describe an error of an engine in a sentence."""
    known = isinstance(error, InputError | UnsupportedError | NoPointError | TimeoutError)
    return str(error) if known else f"the engine stopped with {type(error).__name__}: {error}"


def engine_of(check: Check) -> Any:
    """Engine of a check: its own class, or the module of the package's engine."""
    if check.engine not in set(Engine):
        return type(check)
    module = import_module(f"lastiterate.proofs_checks.engines.{check.engine}")
    if missing := [name for name in ("decide", "near_misses") if not hasattr(module, name)]:
        raise TypeError(
            f"An engine needs decide and near_misses, got {module.__name__} without {missing}; define them."
        )
    return module
