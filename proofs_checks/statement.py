"""Checks and quantified statements as lines, formulas or sentences with formulas, for every output."""

from collections.abc import Iterable, Iterator
from textwrap import fill
from typing import Any, Final, NamedTuple

import sympy as sp
from sympy.core.relational import Relational
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.pretty.stringpict import prettyForm
from sympy.printing.str import StrPrinter

from lastiterate.proofs_checks.declared import misfit
from lastiterate.symbolic.checks import Check
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.statement import Condition, EveryStep, Exists, ForAll, LeastOver, Statement

_WIDEST: Final = 180
"""Columns that a formula may take; a wider formula is written in a line and wrapped."""
_RANGES: Final = 2
"""Largest number of arguments of a minimum whose ranges are not on lines of their own."""


class Line(NamedTuple):
    """A line of a statement.

    Attributes:
        parts: Sympy expressions and strings; in a displayed formula, a string is a sign.
        sentence: with a place {} for every part; "" for a displayed formula.
    """

    parts: tuple[Any, ...]
    sentence: str = ""


def of_check(check: Check) -> Iterator[Line]:
    """Formula of a check, and notes for its engine."""
    yield from quantified(check.says)
    yield from (Line((note,), "{}.") for note in check.notes)


def _listed(lead: str, each: str, rows: Iterable[tuple[Any, ...]]) -> Iterator[Line]:
    found = list(rows)
    if found:
        parts = tuple(part for row in found for part in row)
        yield Line(parts, f"{lead} {', '.join([each] * len(found))}.")


def quantified(said: Statement, given: tuple[sp.Basic, ...] = ()) -> Iterator[Line]:
    """Quantifiers of a statement with their conditions, then the body."""
    if not isinstance(said, ForAll | Exists):
        yield from _body(said, given)
        return
    opening = "Where" if not said.variables else "For all" if isinstance(said, ForAll) else "For some"
    places = [", ".join(["{}"] * len(parts)) for parts in (said.variables, said.conditions)]
    if said.variables or said.conditions:
        yield Line((*said.variables, *said.conditions), f"{opening} {' with '.join(filter(None, places))}:")
    yield from quantified(said.body, (*given, *said.conditions))


def _body(said: sp.Basic, given: tuple[sp.Basic, ...]) -> Iterator[Line]:
    """Lines of relations, conditional relations last; several ranges of a minimum are on lines below."""
    if isinstance(said, sp.And):
        for one in sorted(sp.ordered(said.args), key=lambda one: isinstance(one, sp.Implies)):
            if not (isinstance(one, sp.Eq) and one.lhs == one.rhs):
                yield from _body(one, given)
        return
    if isinstance(said, sp.Implies):
        supposed = [one for one in sp.And.make_args(said.args[0]) if one not in given]
        in_order = sorted(sp.ordered(supposed), key=lambda one: isinstance(one, EveryStep))
        yield from _listed("Where", "{}", ((one,) for one in in_order))
        yield from _body(said.args[1], given)
        return
    wide = sorted((one for one in said.atoms(LeastOver) if len(one.args) > _RANGES), key=str)
    named = {one: sp.Symbol("M" if len(wide) == 1 else f"M_{place}") for place, one in enumerate(wide, 1)}
    shown = said.xreplace(named)
    if isinstance(shown, Condition):
        yield Line((shown,), "{}.")
        return
    yield Line((shown.lhs, shown.rel_op, shown.rhs) if isinstance(shown, Relational) else (shown,))
    for one, letter in named.items():
        value, *over = one.args
        yield Line((letter, "=", sp.Function("min")(value)))
        ranges = [part for part in over if isinstance(part, sp.Tuple)]
        yield from _listed("over", "{} in [{}, {}]", ((*part,) for part in ranges))
        yield from _listed("where", "{}", ((part,) for part in over if part not in ranges))


def as_text(lines: Iterable[Line]) -> str:
    """Lines for a terminal; a formula may take several rows."""
    return "\n".join(
        fill(line.sentence.format(*map(_in_words, line.parts)), _WIDEST)
        if line.sentence
        else _displayed(line.parts)
        for line in lines
    )


def in_a_line(claim: Claim) -> str:
    """Statement of a claim in one line; "" if a field has a wrong type."""
    return "" if misfit(claim) else one_line(quantified(claim.stated))


def one_line(lines: Iterable[Line]) -> str:
    """Lines joined into one."""
    words = ((line.sentence, [_in_words(part) for part in line.parts]) for line in lines)
    return " ".join(sentence.format(*parts) if sentence else f"{' '.join(parts)}." for sentence, parts in words)


class _Words(StrPrinter):  # type: ignore[misc]
    def _print_Equality(self, said: sp.Eq) -> str:  # noqa: N802 as Sympy calls it
        return f"{self._print(said.lhs)} = {self._print(said.rhs)}"

    def _print_Unequality(self, said: sp.Ne) -> str:  # noqa: N802
        return f"{self._print(said.lhs)} != {self._print(said.rhs)}"


def _in_words(part: Any) -> str:
    return str(_Words().doprint(part)) if isinstance(part, sp.Basic) else str(part)


def _displayed(parts: tuple[Any, ...]) -> str:
    printer = PrettyPrinter({"use_unicode": True, "wrap_line": False})
    form = prettyForm("")
    for part in parts:
        sign = (
            f" {part} " if isinstance(part, str) else "" if isinstance(part, sp.Expr | int) else sp.sstr(part)
        )
        form = prettyForm(
            *form.right(prettyForm(sign) if sign else printer._print(sp.sympify(part, strict=True)))
        )
    if form.width() > _WIDEST:
        return fill(" ".join(map(str, parts)), _WIDEST, break_long_words=False)
    return "\n".join(line.rstrip() for line in str(form).splitlines())
