"""Means of random quantities: rules evaluate the means, and an engine decides the remaining relation."""

from dataclasses import replace

from sympy import Basic, Dummy, Expr, Ge, Le, Rational, S, Symbol, sqrt
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.defined import unmet
from lastiterate.proofs_checks.engines import identity, inequality
from lastiterate.proofs_checks.engines.answers import LESS, MORE, undecided, variant
from lastiterate.proofs_checks.engines.vectors import MOST, gram, products_as_letters
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.verdict import Counterexample, Outcome, Status
from lastiterate.symbolic.checks import Check, Expected, Identity, Inequality, Relation
from lastiterate.symbolic.expectations import MEAN, SQUARES, ExactMean, GaussianMean
from lastiterate.symbolic.vectors import Inner, Norm, Vector, inner


def decide(check: Expected, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Decide an `Expected` check."""
    check, assumptions = _whole(check, assumptions)
    premises = (*assumptions, *check.given)
    means = _means(check)
    _not_random(check, premises)
    for mean in means:
        for condition in mean.conditions():
            if not entails(premises, condition):
                return undecided(check, f"the rule for {mean} assumes {condition}, which is not shown")
    try:
        values = {mean: mean.value() for mean in means}
    except ValueError as error:
        raise InputError(str(error)) from None
    left, right = (side.xreplace(values) for side in (check.left, check.right))
    letters = sorted(set[Vector]().union(*(one.atoms(Vector) for one in (left, right, *premises))), key=str)
    if len(letters) > MOST:
        raise InputError(
            f"A check of means may have at most {MOST} vectors, got {', '.join(map(str, letters))}."
        )
    known = [*check.given, *gram(letters)]
    if left.has(SQUARES) or right.has(SQUARES):
        known.append(Le(Norm(MEAN) ** 2, SQUARES))
    numbers = {mean: Dummy(real=True) for mean in means}
    said = (check.left, check.right, *(part for mean in means for part in mean.parts()))
    parts = [part.xreplace(numbers) for part in said]
    names = products_as_letters((left, right, *assumptions, *known, *parts))
    back = {number: values[mean].xreplace(names) for mean, number in numbers.items()}
    left, right = left.xreplace(names), right.xreplace(names)
    given = tuple(one.xreplace(names) for one in known)
    supposed = tuple(one.xreplace(names) for one in assumptions)
    why = unmet(
        tuple(part.xreplace(names) for part in parts),
        (*supposed, *given),
        lambda known, need: entails(tuple(known), need.xreplace(back)),
    )
    if why:
        return undecided(check, why)
    if check.relation is Relation.EQUAL:
        outcome = identity.decide(Identity(left, right, check.name, given), supposed)
    else:
        outcome = inequality.decide(Inequality(left, check.sign, right, given, check.name), supposed)
    if outcome.counterexample and not _has_room(outcome.counterexample, means, letters):
        sizes = {size for mean in means for size in mean.sizes() if not size.is_number}
        room = {Ge(size, len(letters)) for size in sizes} - {*assumptions}
        outcome = decide(check, (*assumptions, *sorted(room, key=str))) if room else outcome
        if not room or outcome.status is not Status.REFUTED:
            return undecided(check, f"fails only at sizes too small for {len(letters)} vectors")
        return outcome
    rules = f"{len(means)} mean{'s' * (len(means) != 1)} by rule"
    detail = f"{rules}; {outcome.detail}" if outcome.status is Status.HELD else outcome.detail
    return replace(outcome, engine=check.engine, detail=detail)


def _means(check: Expected) -> list[ExactMean]:
    return sorted(check.left.atoms(ExactMean) | check.right.atoms(ExactMean), key=str)


def _whole(check: Expected, assumptions: tuple[Boolean, ...]) -> tuple[Expected, tuple[Boolean, ...]]:
    left, right = _of_letters(check.left), _of_letters(check.right)
    sizes = {size for mean in left.atoms(ExactMean) | right.atoms(ExactMean) for size in mean.sizes()}
    sizes = {size for size in sizes if size.is_Symbol and not size.is_integer}
    names = {size: Symbol(size.name, **size.assumptions0 | {"integer": True}) for size in sizes}
    given, assumptions = (
        tuple(_of_letters(one).xreplace(names) for one in some) for some in (check.given, assumptions)
    )
    return replace(check, left=left.xreplace(names), right=right.xreplace(names), given=given), assumptions


def _of_letters(said: Basic) -> Basic:
    """Expand lengths and inner products of sums into lengths and inner products of letters."""

    def of(one: Expr) -> Expr:
        try:
            found: Expr = sqrt(inner(*one.args * 2)) if isinstance(one, Norm) else inner(*one.args)
        except ValueError as error:
            raise InputError(str(error)) from None
        return found

    return said.replace(lambda one: isinstance(one, Norm | Inner) and one.has(Vector), of)


def _not_random(check: Expected, premises: tuple[Boolean, ...]) -> None:
    means = _means(check)
    left, right = (side.xreplace(dict.fromkeys(means, S.Zero)) for side in (check.left, check.right))
    sizes = (size for mean in means for size in mean.sizes())
    spoken = set[Basic]().union(*(one.free_symbols for one in (left, right, *premises, *sizes)))
    random = sorted(spoken & set[Basic]().union(*(mean.random() for mean in means)), key=str)
    if random:
        raise InputError(
            f"A random letter may occur only inside a mean, got {random[0]} outside a mean; rename the letter outside."
        )


def _has_room(found: Counterexample, means: list[ExactMean], letters: list[Vector]) -> bool:
    """Tell whether matrices of known sizes are large enough for vectors with arbitrary inner products."""
    sizes = [size for mean in means if isinstance(mean, GaussianMean) for size in mean.rooms()]
    at = {
        one: Rational(found.at[str(one)]) for size in sizes for one in size.free_symbols if str(one) in found.at
    }
    numbers = [number for size in sizes if (number := size.xreplace(at)).is_number]
    return len(letters) < 2 or all(number >= len(letters) for number in numbers)


def near_misses(check: Expected, assumptions: tuple[Boolean, ...], room: Expr) -> tuple[Check, ...]:  # noqa: ARG001
    """Right side reduced by 3 % more than its room, or increased by 3 % in an equation."""
    right = (MORE if check.relation is Relation.EQUAL else LESS * (1 - room)) * check.right or S.One
    return (variant(check, f"{right} on the right", right=right),)
