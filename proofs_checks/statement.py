"""Checks and quantified statements as lines, displayed formulas and sentences with formulas, for every output."""

# Sympy has no stubs; what pyright infers from its sources is wider than what it documents.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportCallIssue=false

from collections.abc import Iterable, Iterator
from textwrap import fill
from typing import Any, Final, NamedTuple

import sympy as sp
from sympy.core.relational import Relational
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.pretty.stringpict import prettyForm
from sympy.printing.str import StrPrinter

from lastiterate.proofs_checks.misfits import misfit
from lastiterate.proofs_checks.profile_words import profile_words
from lastiterate.symbolic.claim import (
    Asymptotic,
    Certified,
    Check,
    Cited,
    Claim,
    Consequence,
    Deduced,
    Derived,
    Expected,
    Identity,
    Induction,
    Inequality,
    IntervalInequality,
    NormBound,
    Printed,
    RandomPoints,
    Recomputed,
    Recursion,
    RenyiBound,
    Simulated,
    Tracked,
    Unbounded,
    Units,
    UpperBound,
    Value,
    VectorInequality,
)
from lastiterate.symbolic.conditions import Condition
from lastiterate.symbolic.kernel.profiles import Gauss, Profile
from lastiterate.symbolic.notation import PREVIOUS, unit_text
from lastiterate.symbolic.statement import EveryStep, Exists, ForAll, Minimum, Statement
from lastiterate.symbolic.vectors import Norm

_ALTERED: Final = "The bound sees other parameters than the run: it replaces"
_WIDEST: Final = 180
"""Columns that a formula may take; a wider one is written in a line and wrapped."""
_RANGES: Final = 2
"""A minimum of more arguments than this has its ranges on lines of their own."""


class Line(NamedTuple):
    """A line of a statement.

    Attributes:
        parts: Sympy expressions and texts; in a displayed formula a text is a sign.
        sentence: with a place {} for every part; "" for a displayed formula.
    """

    parts: tuple[Any, ...]
    sentence: str = ""


def of_check(check: Check) -> Iterator[Line]:
    """The lines of a check."""
    if isinstance(check, Identity):
        yield Line((check.left, "=", check.right))
    elif isinstance(check, Expected | Inequality | IntervalInequality | RandomPoints):
        yield Line((check.left, check.relation.value, check.right))
    elif isinstance(check, NormBound):
        yield Line((Norm(check.vector), "<=", check.bound))
    elif isinstance(check, VectorInequality):
        yield from _of_vectors(check)
    elif isinstance(check, Asymptotic | Unbounded):
        yield Line((check.left, "<~" if isinstance(check, Asymptotic) else ">>", check.right))
    elif isinstance(check, Units):
        yield Line((check.left, "~", check.right))
        yield Line((), "Every sum adds like things, and the sides are alike.")
        yield from _listed("Here", "{} in [{}]", ((s, unit_text(unit)) for s, unit in check.units.items()))
    elif isinstance(check, Recursion):
        u, index = sp.Function("u"), check.index
        yield Line((u(check.start), "=", check.initial))
        yield Line((u(index), "=", check.step.xreplace({PREVIOUS: u(index - 1)})))
        yield Line((), "is solved by")
        yield Line((u(index), "=", check.closed_form))
    elif isinstance(check, Value):
        yield Line((check.expression,))
        yield Line((check.printed,), "is printed as {}.")
    elif isinstance(check, Simulated):
        within = (" within {}", (check.tolerance,)) if check.tolerance else ("", ())
        yield Line((check.quantity, check.relation.value, check.value, *within[1]), "The mean of {} {} {}" + within[0])
        yield from _listed("at", "{} = {}", check.parameters.items())
    elif isinstance(check, UpperBound):
        yield Line(
            (sp.Symbol("alpha"), check.bound),
            "The Rényi divergence of order {} between the last iterates, either law first, is at most {}.",
        )
        yield from _listed(_ALTERED, "{} by {}", check.altered.items())
        yield from _listed("Attacked by the runs", "{}", ((name,) for name in check.attacks))
    elif isinstance(check, Certified):
        what = "an epsilon at a delta" if check.delta else "a Rényi divergence"
        yield Line((check.scheme, check.losses), f"The checker accepts each certificate of {what}: {{}} batches, {{}}.")
        yield from _listed(_ALTERED, "{} by {}", check.altered.items())
    elif isinstance(check, Recomputed):
        off = (", changed by a share of {}", (check.off,)) if check.off else ("", ())
        yield Line((check.quantity, *off[1]), f"Each number of {{}}{off[0]} lies where another computation puts it.")
    elif isinstance(check, Deduced):
        yield from quantified(check.statement)
        yield Line((check.derivation,), "By the deduction {} in the calculus of integrals.")
    elif isinstance(check, Derived):
        yield from (Line((), f"Suppose that {one}.") for one in check.supposed)
        yield from _of_profile(check.profile)
        yield Line((check.derivation,), "By the derivation {}.")
    elif isinstance(check, RenyiBound):
        yield from (Line((), f"Suppose that {one}.") for one in check.supposed)
        yield Line((), "The Rényi divergence of order alpha between the last iterates, either law first, is at most")
        yield Line((check.bound,))
        yield Line((check.derivation,), "By the derivation {}.")
        yield from _listed("In the statement", "{} = {}", check.at.items())
    elif isinstance(check, Tracked):
        yield Line((check.distance,), "W_infinity of the laws of the last iterates of the two runs is at most {}.")
        yield Line((check.derivation,), "By the derivation {}.")
    elif isinstance(check, Printed):
        yield Line((check.derivation,), "Every line of the printed proof of {} follows by a rule of the kernel.")
    elif isinstance(check, Induction):
        yield Line((check.conclusion.lhs, check.conclusion.rel_op, check.conclusion.rhs))
        yield Line((check.index, check.start), "For every whole {} from {} on.")
        yield from _listed("At the start", "{}", ((one,) for one in check.first))
        yield from _listed("At every index", "{}", ((one,) for one in check.laws))
        yield from _listed("Shown on the way", "{}", ((one,) for one in check.keeps))
    elif isinstance(check, Cited):
        said = check.conclusion
        yield Line((said.lhs, said.rel_op, said.rhs) if isinstance(said, Relational) else (said,))
        yield Line((str(check.source),), "It is taken from {}.")
    elif isinstance(check, Consequence):
        yield Line((check.conclusion.lhs, check.conclusion.rel_op, check.conclusion.rhs))
        for one in check.cited:
            yield Line((one.conclusion, str(one.source)), "It follows from {}, taken from {}.")
            yield from _listed("  which supposes", "{}", ((premise,) for premise in one.given))
        yield from _listed("Where it fails, one of", "{}", ((one,) for one in check.covers))
    else:
        raise TypeError(f"no statement for a check of type {type(check).__name__}")
    if isinstance(check, IntervalInequality | RandomPoints):
        yield from _listed("On the box", "{} in [{}, {}]", ((s, *ends) for s, ends in check.box.items()))
    if isinstance(check, Asymptotic) and check.constant is not None:
        yield Line((check.constant,), "With the constant {}.")
    if isinstance(check, Asymptotic | Unbounded):
        lead = "Tried on the path" if isinstance(check, Asymptotic) else "No constant serves on the path"
        yield from _listed(lead, "{} = {}", check.path.items())
    if isinstance(
        check,
        Asymptotic
        | Cited
        | Consequence
        | Expected
        | Identity
        | Inequality
        | NormBound
        | Recursion
        | RenyiBound
        | Unbounded,
    ):
        yield from _listed("Given", "{}", ((premise,) for premise in check.given))
    if isinstance(check, Inequality):
        yield from _listed("Attained where", "{}", ((condition,) for condition in check.attained))


def _of_vectors(check: VectorInequality) -> Iterator[Line]:
    """The members of families and what is known of points, then the inequality."""
    yield from _listed("For all", "{}", ((one,) for one in check.conditions))
    yield from quantified(check.conclusion)


def _of_profile(profile: Profile) -> Iterator[Line]:
    """The lines of a profile of two last iterates, either first."""
    if isinstance(profile, Gauss):
        yield Line((), "The last iterates of the two runs are mu-GDP, in both orders, with")
        yield Line((sp.Symbol("mu") ** 2, "<=", profile.square))
    else:
        parts = tuple(profile_words(profile))
        places = "".join(part if isinstance(part, str) else "{}" for part in parts)
        values = tuple(part for part in parts if not isinstance(part, str))
        yield Line(values, f"The last iterates of the two runs cost no more, in either order, than {places}.")


def _listed(lead: str, each: str, rows: Iterable[tuple[Any, ...]]) -> Iterator[Line]:
    """A sentence that lists the rows, if there are any."""
    found = list(rows)
    if found:
        parts = tuple(part for row in found for part in row)
        yield Line(parts, f"{lead} {', '.join([each] * len(found))}.")


def quantified(said: Statement, given: tuple[sp.Basic, ...] = ()) -> Iterator[Line]:
    """The lines of a statement: its quantifiers with their conditions, then what holds."""
    if not isinstance(said, ForAll | Exists):
        yield from _body(said, given)
        return
    opening = "Where" if not said.variables else "For all" if isinstance(said, ForAll) else "For some"
    places = [", ".join(["{}"] * len(parts)) for parts in (said.variables, said.conditions)]
    if said.variables or said.conditions:
        yield Line((*said.variables, *said.conditions), f"{opening} {' with '.join(filter(None, places))}:")
    yield from quantified(said.body, (*given, *said.conditions))


def _body(said: sp.Basic, given: tuple[sp.Basic, ...]) -> Iterator[Line]:
    """A relation or condition; a minimum over several things is named, and what it is taken over stands below.

    Of several, each has its line, those under premises last, below these; 0 = 0 is left out, and what is given.
    """
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
    wide = sorted((one for one in said.atoms(Minimum) if len(one.args) > _RANGES), key=str)
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
    """Lines for a terminal; a formula may take several."""
    return "\n".join(
        fill(line.sentence.format(*map(_in_words, line.parts)), _WIDEST) if line.sentence else _displayed(line.parts)
        for line in lines
    )


def in_a_line(claim: Claim) -> str:
    """Statement of a claim in one line; that of its checks where it has no other, "" where it cannot be read."""
    if misfit(claim):
        return ""
    checks = (line for check in claim.checks for line in of_check(check))
    lines = checks if claim.stated is None else quantified(claim.stated)
    words = ((line.sentence, [_in_words(part) for part in line.parts]) for line in lines)
    return " ".join(sentence.format(*parts) if sentence else f"{' '.join(parts)}." for sentence, parts in words)


class _Words(StrPrinter):  # type: ignore[misc]
    """An equation within a sentence has its sign between its sides."""

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
        sign = f" {part} " if isinstance(part, str) else "" if isinstance(part, sp.Expr | int) else sp.sstr(part)
        form = prettyForm(*form.right(prettyForm(sign) if sign else printer._print(sp.sympify(part, strict=True))))
    if form.width() > _WIDEST:
        return fill(" ".join(map(str, parts)), _WIDEST, break_long_words=False)
    return "\n".join(line.rstrip() for line in str(form).splitlines())
