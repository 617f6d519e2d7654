"""Questions that z3 finds to have no solution, kept as SMT-LIB for another solver."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import z3

_kept: ContextVar[list[str] | None] = ContextVar("kept", default=None)


@contextmanager
def recorded() -> Iterator[list[str]]:
    """Keep what z3 finds to have no solution inside the block; not what it found before and is remembered."""
    questions: list[str] = []
    token = _kept.set(questions)
    try:
        yield questions
    finally:
        _kept.reset(token)


def note(formulas: Sequence[z3.BoolRef]) -> None:
    """Keep formulas that have no solution together, where they are recorded."""
    kept = _kept.get()
    if kept is None:
        return
    solver = z3.Solver()
    solver.add(*formulas)
    text = solver.to_smt2().replace("\\|", "!").replace("'", "~")  # neither stands in a name of SMT-LIB
    kept.append(f"(set-logic {'QF_NIRA' if ' Int)' in text else 'QF_NRA'})\n{text}")
