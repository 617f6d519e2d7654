"""What a check says, for a page: formulas as MathML and the words between them."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false

from collections.abc import Iterable, Iterator

import sympy as sp
from markupsafe import Markup

from lastiterate.proofs_checks.describe import formula
from lastiterate.proofs_checks.pages.mathml import display, inline, relation_sign, row
from lastiterate.symbolic.claim import (
    Asymptotic,
    Check,
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
from lastiterate.symbolic.notation import PREVIOUS
from lastiterate.symbolic.statement import Condition, Exists, ForAll, Statement

__all__ = ["quantified", "statement"]


def quantified(said: Statement) -> Iterator[Markup]:
    """The lines of a statement: its quantifiers with their conditions, then what holds."""
    if not isinstance(said, ForAll | Exists):
        yield row(said)
        return
    sentence = "For all {}" if isinstance(said, ForAll) else "For some {}"
    conditions = [_condition(condition) for condition in said.conditions]
    yield _words(f"{sentence}{' with {}' if conditions else '{}'}:", _inlined(said.variables), _list(conditions))
    yield from quantified(said.body)


def _condition(condition: sp.Basic) -> Markup:
    if isinstance(condition, Condition):
        return Markup(condition.words).format(*map(inline, condition.args))  # noqa: S704 - the words are ours
    return inline(condition)


def _inlined(parts: Iterable[sp.Basic]) -> Markup:
    return _list(map(inline, parts))


def statement(check: Check) -> tuple[Markup, ...]:
    """The lines of a check: displayed formulas, and sentences with formulas in them."""
    if isinstance(check, Identity):
        lines = [display(check.left, "==", check.right)]
    elif isinstance(check, Inequality):
        lines = [display(check.left, check.relation, check.right), *_given(check.given)]
        if check.attained:
            lines.append(_words("Attained where {}.", _list(inline(condition) for condition in check.attained)))
    elif isinstance(check, IntervalInequality | RandomPoints):
        lines = [display(check.left, check.relation, check.right), *_box(check)]
    elif isinstance(check, Recursion):
        lines = list(_recursion(check))
    elif isinstance(check, Value):
        lines = [row(check.expression), _words("is printed as {}.", check.printed)]
    elif isinstance(check, Asymptotic | Unbounded):
        lines = list(_growth(check))
    elif isinstance(check, Units):
        lines = [display(check.left, "~", check.right), _words("Every sum adds like things, and the sides are alike.")]
        if check.units:
            units = _list(Markup("{} in [{}]").format(inline(symbol), unit) for symbol, unit in check.units.items())
            lines.append(_words("Here {}.", units))
    elif isinstance(check, Simulated):
        lines = list(_simulated(check))
    elif isinstance(check, UpperBound):
        lines = list(_bound(check))
    else:
        lines = [Markup("<pre>{}</pre>").format(formula(check))]
    return tuple(lines)


def _words(sentence: str, *parts: object) -> Markup:
    return Markup("<p>{}</p>").format(Markup(sentence).format(*parts))  # noqa: S704 - the sentences are ours


def _list(parts: Iterable[Markup]) -> Markup:
    return Markup(", ").join(parts)


def _given(premises: tuple[sp.Basic, ...]) -> Iterator[Markup]:
    if premises:
        yield _words("Given {}.", _list(inline(premise) for premise in premises))


def _box(check: IntervalInequality | RandomPoints) -> Iterator[Markup]:
    ends = (
        Markup("{} in [{}, {}]").format(inline(s), inline(low), inline(high)) for s, (low, high) in check.box.items()
    )
    if check.box:
        yield _words("On the box {}.", _list(ends))


def _recursion(check: Recursion) -> Iterator[Markup]:
    u, index = sp.Function("u"), check.index
    yield row(u(check.start), "=", check.initial)
    yield row(u(index), "=", check.step.xreplace({PREVIOUS: u(index - 1)}))
    yield _words("is solved by")
    yield row(u(index), "=", check.closed_form)


def _growth(check: Asymptotic | Unbounded) -> Iterator[Markup]:
    yield display(check.left, "<~", check.right)
    if isinstance(check, Asymptotic) and check.constant is not None:
        yield _words("With the constant {}.", inline(check.constant))
    if check.path:
        verb = "No constant serves" if isinstance(check, Unbounded) else "Tried"
        path = _list(Markup("{} = {}").format(inline(s), inline(value)) for s, value in check.path.items())
        yield _words("{} on the path {}.", verb, path)
    yield from _given(check.given)


def _simulated(check: Simulated) -> Iterator[Markup]:
    sign = relation_sign(check.relation)
    within = Markup(" within {}").format(inline(check.tolerance)) if check.tolerance else ""
    yield _words("The mean of {} {} {}{},", check.quantity, sign, inline(check.value), within)
    yield _words("at {}.", _list(Markup("{} = {}").format(inline(s), inline(v)) for s, v in check.parameters.items()))


def _bound(check: UpperBound) -> Iterator[Markup]:
    yield _words(
        "The Rényi divergence of order {} between the last iterates, either law first, is at most <code>{}</code>.",
        inline(sp.Symbol("alpha")), check.bound,
    )  # fmt: skip
    if check.altered:
        changes = _list(Markup("{} by {}").format(inline(s), inline(v)) for s, v in check.altered.items())
        yield _words("The bound sees other parameters than the run: it replaces {}.", changes)
    yield _words("Attacked by the runs {}.", ", ".join(check.attacks))
