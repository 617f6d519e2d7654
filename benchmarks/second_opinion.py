"""Ask cvc5 about every question that z3 answers with unsat while a claim is decided.

    python -m benchmarks.second_opinion [KEY ...]

Prints each contradiction and the number of questions that cvc5 leaves open, for these claims of the ledger or for
all. The exit status is 1 if cvc5 contradicts z3.
"""

import multiprocessing
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import click
import z3
from joblib import cpu_count
from sympy import Basic

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.engines import decide_check, side_conditions, z3_answers
from lastiterate.proofs_checks.implies import left_open
from lastiterate.proofs_checks.selection import of_ledger
from lastiterate.proofs_checks.verdict import Grade, Outcome, Status
from lastiterate.symbolic import ledger
from lastiterate.symbolic.claim import Claim

__all__ = ["Opinion", "ask_cvc5", "opinion", "opinions", "record_questions"]


@dataclass(frozen=True)
class Opinion:
    """cvc5's answers to a claim's questions; ``disagreed`` contains the questions with a solution."""

    key: str
    questions: int
    agreed: int
    disagreed: tuple[str, ...]

    @property
    def unknown(self) -> int:
        """Number of questions left open."""
        return self.questions - self.agreed - len(self.disagreed)


@contextmanager
def record_questions() -> Iterator[list[str]]:
    """Record the questions inside the block that z3 shows to have no solution, except cached ones.

    A side condition that another engine proves is recorded only if z3 proves it as well.
    """
    questions = list[str]()
    checked, outcome_of = z3_answers._checked, side_conditions._outcome

    def asked(
        solver: z3.Solver, formulas: Sequence[z3.BoolRef], effort: int, longest: float
    ) -> z3.CheckSatResult:
        answer = checked(solver, formulas, effort, longest)
        if answer == z3.unsat:
            questions.append(_smt_lib(formulas, solver.ctx))
        return answer

    def proved(condition: Basic, near: tuple[Basic, ...], *, few: bool) -> Outcome | str:
        found = outcome_of(condition, near, few=few)
        if isinstance(found, Outcome) and (found.status, found.grade) == (Status.HELD, Grade.PROVED):
            z3_answers.entails(near, condition)
        return found

    with (
        patch.object(z3_answers, "_checked", asked),
        patch.dict(vars(side_conditions), _outcome=proved),  # whose names cannot be assigned
    ):
        yield questions


def _smt_lib(formulas: Sequence[z3.BoolRef], context: z3.Context) -> str:
    solver = z3.Solver(ctx=context)
    solver.add(*formulas)
    text = solver.to_smt2().replace("\\|", "!").replace("'", "~")  # names in SMT-LIB may contain neither
    return f"(set-logic {'QF_NIRA' if ' Int)' in text else 'QF_NRA'})\n{text}"


@lru_cache(maxsize=8192)
def ask_cvc5(question: str) -> str:
    """cvc5's answer: sat, unsat or unknown; RuntimeError if cvc5 cannot read the question."""
    program = [sys.executable, str(Path(__file__).with_name("cvc5_answer.py"))]
    ended = subprocess.run(program, input=question, capture_output=True, text=True, check=False)  # noqa: S603
    if ended.returncode > 0:
        raise RuntimeError(f"cvc5 stopped: {ended.stderr.strip()[-300:]}")
    return ended.stdout.strip() or "unknown"  # no output: a signal ended the process


def opinion(claim: Claim) -> Opinion:
    """cvc5's opinion on a claim decided in this process, except on formulas already proved in it."""
    questions: dict[str, None] = {}
    hold = True
    for check in claim.checks:
        with record_questions() as found:
            holds = decide_check(check, claim.assumptions).status is Status.HELD
        hold &= holds
        questions |= dict.fromkeys(found if holds else ())
    with record_questions() as found:
        if hold:
            left_open(claim)
    questions |= dict.fromkeys(found)
    answers = {question: ask_cvc5(question) for question in questions}
    agreed = sum(answer == "unsat" for answer in answers.values())
    return Opinion(
        claim.key, len(answers), agreed, tuple(q for q, answer in answers.items() if answer == "sat")
    )


def _need_cvc5() -> None:
    """Raise an InputError if cvc5 is not installed."""
    if find_spec("cvc5") is None:
        raise InputError(
            "A second opinion needs cvc5, which is not installed; run pip install 'lastiterate[cvc5]'."
        )


def _of_key(key: str) -> Opinion:
    (claim,) = of_ledger(keys=(key,))
    return opinion(claim)


def opinions(
    keys: Iterable[str], *, jobs: int = -1, on_claim: Callable[[int, int], None] = lambda _done, _claims: None
) -> tuple[Opinion, ...]:
    """cvc5's opinions on claims of the ledger, from new processes, which reuse no proof."""
    _need_cvc5()
    wanted, given = tuple(keys), list[Opinion]()
    workers = max(1, min(len(wanted), cpu_count() if jobs < 0 else jobs))
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        for found in pool.map(_of_key, wanted):
            given.append(found)
            on_claim(len(given), len(wanted))
    return tuple(given)


@click.command()
@click.argument("keys", nargs=-1)
def command(keys: tuple[str, ...]) -> None:
    """Ask cvc5 about these claims, or about all."""
    given = opinions(keys or [claim.key for claim in ledger.claims()])
    for one in given:
        for question in one.disagreed:
            click.echo(
                f"contradiction: cvc5 has a solution where z3 shows that there is none, in {one.key}:\n{question}"
            )
        if one.unknown:
            click.echo(f"{one.key}: cvc5 leaves {one.unknown} of {one.questions} questions open")
    asked, agreed, left = (sum(getattr(one, of) for one in given) for of in ("questions", "agreed", "unknown"))
    click.echo(f"cvc5: {asked} questions, {agreed} answered as z3 did, {left} left open")
    sys.exit(any(one.disagreed for one in given))


if __name__ == "__main__":
    command()
