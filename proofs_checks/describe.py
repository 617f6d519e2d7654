"""One claim with its evidence, as text for a reader."""

# Sympy and z3 have no stubs; what pyright infers from their sources is wider than what they document.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportAssignmentType=false

from collections.abc import Iterator, Sequence
from textwrap import fill, indent
from typing import Final

import sympy as sp
from sympy.core.relational import Relational
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.pretty.stringpict import prettyForm

from lastiterate.proofs_checks.feasible_points import free_symbols
from lastiterate.proofs_checks.verdict import ClaimReport, Outcome, Status
from lastiterate.symbolic.claim import (
    Asymptotic,
    Check,
    Claim,
    Identity,
    Inequality,
    IntervalInequality,
    RandomPoints,
    Recursion,
    Simulated,
    Unbounded,
    Units,
    UpperBound,
    Value,
)
from lastiterate.symbolic.notation import MEANING, PREVIOUS, UNITS
from lastiterate.symbolic.statement import Exists, ForAll, Statement

__all__ = ["describe", "evidence", "formula", "statement", "symbols"]


_WIDEST: Final = 180
"""Columns that a formula may take; a wider one is written in a line and wrapped."""


def _side_by_side(left: sp.Expr, relation: str, right: sp.Expr) -> str:
    printer = PrettyPrinter({"use_unicode": True, "wrap_line": False})
    form = printer._print(sp.sympify(left, strict=True))
    for part in (prettyForm(f" {relation} "), printer._print(sp.sympify(right, strict=True))):
        form = prettyForm(*form.right(part))
    if form.width() > _WIDEST:
        return fill(f"{left} {relation} {right}", _WIDEST, break_long_words=False)
    return "\n".join(line.rstrip() for line in str(form).splitlines())


def _box(check: IntervalInequality | RandomPoints) -> str:
    ends = (f"{symbol} in [{low}, {high}]" for symbol, (low, high) in check.box.items())
    return "\non the box " + ", ".join(ends) if check.box else ""


def _asymptotic(check: Asymptotic | Unbounded) -> str:
    given = "".join(f"\ngiven {premise}" for premise in check.given)
    path = ", ".join(f"{symbol} = {value}" for symbol, value in check.path.items())
    if isinstance(check, Unbounded):
        return _side_by_side(check.left, ">>", check.right) + given + f"\non the path {path}"
    tried = [f"constant {check.constant}"] * (check.constant is not None) + [f"path {path}"] * bool(path)
    return _side_by_side(check.left, "<~", check.right) + given + f"\nby {', '.join(tried)}"


def formula(check: Check) -> str:
    """What a check says, as a formula of one or several lines."""
    if isinstance(check, Identity):
        return _side_by_side(check.left, "=", check.right)
    if isinstance(check, Recursion):
        u, index = sp.Function("u"), check.index
        start = _side_by_side(u(check.start), "=", check.initial)
        step = _side_by_side(u(index), "=", check.step.xreplace({PREVIOUS: u(index - 1)}))
        return f"{start}\n{step}\nis solved by\n{_side_by_side(u(index), '=', check.closed_form)}"
    if isinstance(check, Inequality):
        given = "".join(f"\ngiven {premise}" for premise in check.given)
        where = "".join(f"\nattained where {condition}" for condition in check.attained)
        return _side_by_side(check.left, check.relation.value, check.right) + given + where
    if isinstance(check, IntervalInequality | RandomPoints):
        return _side_by_side(check.left, check.relation.value, check.right) + _box(check)
    if isinstance(check, Asymptotic | Unbounded):
        return _asymptotic(check)
    if isinstance(check, Units):
        given = "".join(f"\nwhere {symbol} is in [{unit}]" for symbol, unit in check.units.items())
        return _side_by_side(check.left, "~", check.right) + "\nadds like things, and the sides are alike" + given
    if isinstance(check, Simulated):
        numbers = ", ".join(f"{symbol} = {value}" for symbol, value in check.parameters.items())
        within = f" within {check.tolerance}" if check.tolerance else ""
        return f"mean of {check.quantity} {check.relation} {check.value}{within}\nat {numbers}"
    if isinstance(check, Value):
        return f"{sp.pretty(check.expression, wrap_line=False)}\nis printed as {check.printed}"
    if isinstance(check, UpperBound):
        altered = "".join(f", {symbol} replaced by {value}" for symbol, value in check.altered.items())
        attacked = ", ".join(check.attacks)
        return f"D_alpha of the last iterates, either first, <= {check.bound}{altered}\nattacked by {attacked}"
    raise TypeError(f"no formula for a check of type {type(check).__name__}")


def _outcome(outcome: Outcome) -> Iterator[str]:
    grade = f" ({outcome.grade})" if outcome.grade else ""
    yield f"{outcome.engine}: {outcome.status}{grade}{f'; {outcome.detail}' if outcome.detail else ''}"
    point = outcome.counterexample
    if point:
        if point.at:
            yield "  at " + ", ".join(f"{name} = {value}" for name, value in point.at.items())
        yield f"  {point.left}  {point.relation}  {point.right}  fails"
        if point.note:
            yield f"  sides: {point.note}"


def evidence(claim: Claim, report: ClaimReport) -> Iterator[str]:
    """The title, and what each check that does not hold came to, in a line or two."""
    yield f"{claim.title} ({claim.source})"
    for outcome in report.outcomes:
        if outcome.status is Status.HELD:
            continue
        detail = f": {outcome.detail}" if outcome.detail else ""
        yield f"check '{outcome.check}': {outcome.engine} says {outcome.status}{detail}"
        if outcome.counterexample is not None:
            point = outcome.counterexample
            at = f"at {', '.join(f'{name} = {value}' for name, value in point.at.items())}: " if point.at else ""
            yield f"  {at}{point.left} {point.relation} {point.right} fails"


def symbols(claim: Claim) -> Iterator[tuple[sp.Symbol, str, str]]:
    """Each symbol of a claim with its meaning there and its unit; of one that stands for any number, which numbers."""
    parts: list[sp.Basic] = list(claim.assumptions)
    for check in claim.checks:
        parts += [value for value in vars(check).values() if isinstance(value, sp.Basic)]
    measured = any(isinstance(check, Units) for check in claim.checks)
    for symbol in free_symbols(parts):
        meaning, unit = MEANING.get(symbol, (_range(symbol), UNITS.get(symbol, "") if measured else ""))
        if symbol in claim.letters:
            yield symbol, claim.letters[symbol], ""
        elif symbol != PREVIOUS:
            yield symbol, meaning, unit


def _range(symbol: sp.Symbol) -> str:
    """What a symbol is declared to be.

    >>> _range(sp.Symbol("k", integer=True, positive=True)), _range(sp.Symbol("x", nonnegative=True))
    ('a positive integer', 'a nonnegative number')
    """
    sign = "positive " if symbol.is_positive else "nonnegative " if symbol.is_nonnegative else ""
    kind = "integer" if symbol.is_integer else "number" if sign else "real number"
    return f"a{'n' * (sign + kind).startswith('i')} {sign}{kind}"


def statement(said: Statement) -> Iterator[str]:
    """A statement in lines: its quantifiers with their conditions, then what holds."""
    if not isinstance(said, ForAll | Exists):
        yield _side_by_side(said.lhs, said.rel_op, said.rhs) if isinstance(said, Relational) else sp.sstr(said)
        return
    letters = ", ".join(map(str, said.variables))
    conditions = "; ".join(map(str, said.conditions))
    opening = f"for all {letters}" if isinstance(said, ForAll) else f"for some {letters}"
    yield fill(f"{opening}{' with ' if conditions else ''}{conditions}:", _WIDEST)
    yield from statement(said.body)


def describe(claim: Claim, report: ClaimReport, repaired_by: Sequence[str] = ()) -> str:
    """Title, source, verdict, assumptions, symbols with units, checks and mutants with their outcomes, remark."""
    grade = f" ({report.grade})" if report.grade else ""
    lines = [
        claim.key,
        f"  {claim.title}",
        f"  {claim.source}; {claim.role}",
        f"  verdict: {report.verdict}{grade}; {report.rejected} of {len(report.mutants)} mutants rejected",
    ]
    if claim.repairs:
        lines.append(f"  repairs: {claim.repairs}")
    if repaired_by:
        lines.append(f"  what holds instead: {', '.join(repaired_by)}")
    lines += ["", "Statement"]
    if claim.statement is None:
        lines.append("  what the checks say, wherever the assumptions hold")
    else:
        lines += [indent(line, "  ") for line in statement(claim.statement)]
    conditions = [sp.pretty(condition, wrap_line=False) for condition in claim.assumptions] or ["none"]
    lines += ["", "Assumptions", *(f"  {condition}" for condition in conditions)]
    meanings = [f"  {symbol!s:8}{meaning}{f'  [{unit}]' if unit else ''}" for symbol, meaning, unit in symbols(claim)]
    if meanings:
        lines += ["", "Symbols", *meanings]
    for check, outcome in zip(claim.checks, report.outcomes, strict=True):
        lines += ["", f"Check {check.name}", indent(formula(check), "    "), *(f"  {x}" for x in _outcome(outcome))]
    if claim.misprint is not None and report.misprint is not None:
        lines += ["", "As printed", indent(formula(claim.misprint), "    ")]
        lines += [f"  {line}" for line in _outcome(report.misprint)]
    for mutant, tried in zip(claim.mutants, report.mutants, strict=True):
        state = "rejected" if tried.rejected else "NOT rejected"
        lines += ["", f"Mutant {mutant.name}: {state}", indent(formula(mutant), "    ")]
        lines += [f"  {line}" for line in _outcome(tried)]
    if claim.remark:
        lines += ["", "Remark", indent(claim.remark, "  ")]
    return "\n".join(lines)
