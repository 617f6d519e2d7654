"""Results cited from other works, and consequences of these results."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations

from sympy import Add, And, Basic, Dummy, Eq, Expr, Ge, Gt, Le, Lt, Ne, Not, S, Symbol, false, true
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.defined import unmet
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.engines.answers import held, refuted, undecided, without_near_misses
from lastiterate.proofs_checks.engines.side_conditions import as_check, prove, proves
from lastiterate.proofs_checks.engines.z3_answers import entails, relations, require_possible
from lastiterate.proofs_checks.feasible_points import NoPointError
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome
from lastiterate.symbolic.checks import Cited, Consequence
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.statement import Binomial, Constant, HockeyStick, Probability, QuantityBase, Walk


def decide(check: Cited, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Accept a citation with its source, or refute it at a point where the cited line fails."""
    found = broken(check, assumptions)
    if found is not None:
        return refuted(check, found, f"the line taken from {check.source} fails")
    return replace(held(check, Grade.CITED, f"taken from {check.source}"), rests_on=(str(check.source),))


@cache
def broken(cited: Cited, assumptions: tuple[Boolean, ...]) -> Counterexample | None:
    """Point at which the cited line fails; None if none is found or the line is not about numbers alone."""
    given = tuple(one for one in relations((*assumptions, *cited.given)) if not one.atoms(AppliedUndef))
    require_possible(given)
    spoken = {letter for one in cited.given if one not in given for letter in one.free_symbols}
    for relation in _of_numbers(cited.conclusion):
        if not relation.free_symbols & spoken:
            outcome = decide_check(as_check(relation, given), ())
            if outcome.counterexample is not None:
                return outcome.counterexample
    return None


def _of_numbers(conclusion: Basic) -> Iterator[Relational]:
    """Relations between numbers implied by a conclusion; unsigned quantities are >= 0, probabilities <= 1."""
    for part in And.make_args(conclusion) if isinstance(conclusion, Boolean) else ():
        if (
            isinstance(part, Relational)
            and not isinstance(part, Ne)
            and not part.has(QuantityBase, AppliedUndef)
        ):
            yield part
        elif isinstance(part, Le | Lt | Ge | Gt) and not part.has(Constant, AppliedUndef):
            if isinstance(part.lts, QuantityBase) and not (part.lts.is_signed or part.gts.has(QuantityBase)):
                yield Le(S.Zero, part.gts, evaluate=False)
            elif isinstance(part.gts, Probability) and not part.lts.has(QuantityBase):
                yield Le(part.lts, S.One, evaluate=False)


near_misses = without_near_misses  # nothing is decided


def _of_laws(said: Iterable[Basic]) -> Iterator[Boolean]:
    known = dict[Basic, Basic]()
    for law in said:
        if isinstance(law, Binomial | Walk):
            letter, count, number = law.args
            if not letter.is_Symbol:
                raise InputError(f"A random quantity needs a letter, got {letter}; write a letter.")
            if known.setdefault(letter, law) != law:
                raise InputError(
                    f"A random letter needs one law, got {letter} with two; use another letter for one of them."
                )
            yield from (Ge(count, 0), Ge(number, 0), *((Le(number, 1),) if isinstance(law, Binomial) else ()))


def _random_letters(said: Collection[Basic], conclusion: Relational) -> set[Symbol]:
    """Letters with a law among the premises, and letters that relations tie to them.

    Raises UnprovedError unless each such relation has a letter of its own with which it can hold at every
    outcome.
    """
    declared, apart = _declared(said), list(relations(said))
    ties = [one for one in apart if one.free_symbols & declared]
    numbers = _outside_events(conclusion).union(
        *(one.free_symbols for one in apart if one not in ties),
        *(part.free_symbols for one in said if isinstance(one, Binomial | Walk) for part in one.args[1:]),
    )
    tied = set[Symbol]().union(*(one.free_symbols for one in ties)) - numbers
    for one in ties:
        own = (one.free_symbols & tied).difference(
            declared, *(other.free_symbols for other in ties if other != one)
        )
        if not any(
            isinstance(one, Relational) and (one.lhs - one.rhs).diff(letter).is_nonzero for letter in own
        ):
            raise UnprovedError(f"{one} is not shown to hold at every outcome of the assumed law")
    return declared | tied


def _of_numbers_alone(cited: Cited, random: set[Symbol]) -> None:
    """Raise UnprovedError if a cited result has random letters, except its own letters inside events."""
    own = _declared(cited.given)
    laws = [one for one in cited.given if isinstance(one, Binomial | Walk)]
    outside = _outside_events(cited.conclusion).union(
        *(part.free_symbols for one in laws for part in one.args[1:])
    )
    wrong = (outside & (random | own)) | (cited.conclusion.free_symbols & (random - own))
    if wrong:
        letters = ", ".join(sorted(map(str, wrong)))
        raise UnprovedError(f"{cited.source} holds for numbers only, but these letters are random: {letters}")


def _declared(said: Iterable[Basic]) -> set[Symbol]:
    return set[Symbol]().union(*(one.args[0].free_symbols for one in said if isinstance(one, Binomial | Walk)))


def _outside_events(part: Basic) -> set[Symbol]:
    if isinstance(part, Probability):
        return set()
    return (
        part.free_symbols
        if not part.has(Probability)
        else set[Symbol]().union(*map(_outside_events, part.args))
    )


def _facts(said: Iterable[Basic], numbers: Iterable[Boolean]) -> Iterator[Boolean]:
    """Relations between probabilities of certain, impossible, nested, covering or disjoint events."""
    known = tuple(numbers)
    events = sorted({one.args[0] for part in said for one in part.atoms(Probability)}, key=str)
    for event in events:
        chance = Probability(event)
        yield from (Ge(chance, 0, evaluate=False), Le(chance, 1, evaluate=False))
        if entails(known, event):
            yield Eq(chance, 1, evaluate=False)
        elif entails((*known, event), false):
            yield Eq(chance, 0, evaluate=False)
    for one, other in combinations(events, 2):
        first, second = Probability(one), Probability(other)
        for smaller, larger in ((one, other), (other, one)):
            if entails((*known, smaller), larger):
                yield Le(Probability(smaller), Probability(larger), evaluate=False)
        if entails((*known, Not(one)), other):
            yield Ge(first + second, 1, evaluate=False)
        if entails((*known, one), Not(other)):
            yield Le(first + second, 1, evaluate=False)


def decide_consequence(check: Consequence, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Prove the premises of every cited result, then the conclusion from the cited results."""
    said = (*assumptions, *check.given)
    if not check.cited:
        raise InputError(
            "A consequence needs a cited result, got cited=(); cite a result, or write an Inequality."
        )
    for one in (check.conclusion, *(one.conclusion for one in check.cited)):
        for part in one.atoms(Constant, Probability):
            if len(part.args) != 1:
                raise InputError(f"{part.func} needs one argument, got {part}; give it one.")
    numbers = frozenset(relations(said))
    possible = sorted((numbers | set(_of_laws(said))) - {true}, key=str)
    require_possible(possible)
    if any(check.conclusion == one.conclusion and set(one.given) <= set(said) for one in check.cited):
        return undecided(check, "the conclusion is a cited result, word for word; write Cited")
    for one in check.cited:
        fails = broken(one, ())
        if fails is not None:
            raise InputError(
                f"A cited result must hold, got {one.conclusion}, which fails at {fails.point}; correct it."
            )
    try:
        random = _random_letters(said, check.conclusion)
        for one in check.cited:
            _of_numbers_alone(one, random)
            for premise in (premise for premise in one.given if premise not in said):
                if not isinstance(premise, Relational):
                    raise UnprovedError(f"{one.source} assumes {premise}, which is not given")
                prove(premise, numbers)
        _of_defined((check.conclusion, *(one.conclusion for one in check.cited)), numbers)
        if check.conclusion.has(Constant):
            _up_to_a_constant(check, numbers)
        else:
            known = _finite(
                check.conclusion, [*(one.conclusion for one in check.cited), *_boole(check, numbers)]
            )
            known += _facts([check.conclusion, *known], numbers)
            if any(one.has(Constant) for one in known):
                raise UnprovedError("a cited bound up to a constant needs a conclusion up to a constant")
            quantities = set[Basic]().union(*(one.atoms(QuantityBase) for one in (check.conclusion, *known)))
            names = {
                one: Dummy(f"quantity {i}", real=True) for i, one in enumerate(sorted(quantities, key=str))
            }
            facts = [one.xreplace(names) for one in known]
            _defined(facts, numbers)
            if entails([*possible, *facts], false):
                raise NoPointError("no numbers satisfy the premises and the cited results together.")
            prove(check.conclusion.xreplace(names), numbers.union(facts))
    except UnprovedError as error:
        return undecided(check, f"it does not follow: {error}")
    sources = tuple(dict.fromkeys(str(one.source) for one in check.cited))
    return replace(held(check, Grade.CITED, "it follows from what is cited"), rests_on=sources)


def _up_to_a_constant(check: Consequence, numbers: frozenset[Boolean]) -> None:
    found = [one.conclusion for one in check.cited if one.conclusion.has(Constant)]
    if len(found) != 1:
        raise InputError(
            f"Exactly one cited result must have a constant, got {len(found)}; cite one such result."
        )
    (cited,), claimed = found, check.conclusion
    if not all(isinstance(one, Le) and isinstance(one.rhs, Constant) for one in (cited, claimed)):
        raise UnprovedError("both bounds must say that a quantity is at most a constant times a number")
    if cited.lhs != claimed.lhs:
        raise UnprovedError(f"the cited bound must be on {claimed.lhs}, got one on {cited.lhs}")
    (less,), (more,) = cited.rhs.args, claimed.rhs.args
    smaller, larger = list(Add.make_args(less)), list(Add.make_args(more))
    for term in [one for one in smaller if one in larger]:
        smaller.remove(term)
        larger.remove(term)
    for term in smaller:
        above = next((one for one in larger if proves(Le(term, one, evaluate=False), numbers)), None)
        if above is None:
            raise UnprovedError(f"no term of the claimed bound is shown to be at least {term}")
        larger.remove(above)
    for term in larger:
        if (positive := Ge(term, 0)) != true:
            prove(positive, numbers)


def _boole(check: Consequence, numbers: frozenset[Boolean]) -> list[Boolean]:
    """Lower bound on the claimed event's probability; outcomes outside it must be in events of ``covers``."""
    if not check.covers:
        return []
    claimed = check.conclusion.atoms(Probability)
    if len(claimed) != 1:
        raise InputError(
            f"covers needs one probability in the conclusion, got {check.conclusion}; leave covers out."
        )
    (probability,) = claimed
    event = probability.args[0]
    _defined(check.covers, numbers)
    if not entails([*numbers, *map(Not, check.covers)], event):
        raise UnprovedError(f"{event} is not proved where none of {', '.join(map(str, check.covers))} holds")
    return [Ge(probability, 1 - sum(Probability(one) for one in check.covers), evaluate=False)]


def _defined(said: Sequence[Boolean], numbers: frozenset[Boolean]) -> None:
    sides = [side for one in said for relation in one.atoms(Relational) for side in relation.args]
    undefined = unmet(sides, tuple(numbers), entails)
    if undefined:
        raise UnprovedError(undefined)


def _of_defined(said: Iterable[Basic], numbers: frozenset[Boolean]) -> None:
    parts = {part for one in said for quantity in one.atoms(QuantityBase) for part in quantity.args}
    asked = [Ge(part, 0, evaluate=False) if isinstance(part, Expr) else part for part in sorted(parts, key=str)]
    _defined([part for part in asked if isinstance(part, Boolean)], numbers)


def _finite(conclusion: Relational, known: Sequence[Boolean]) -> list[Boolean]:
    """Facts about finite quantities alone; UnprovedError if a quantity of the conclusion may be infinite.

    An unsigned larger side may be infinite, since the conclusion then holds trivially.
    """
    said = set[Basic]().union(*map(_quantities, (conclusion, *known)))
    large = isinstance(conclusion, Le | Lt | Ge | Gt) and _is_unsigned(conclusion.gts)
    finite = _bounded({one for one in said if isinstance(one, Probability | HockeyStick)}, known)
    unbounded = _quantities(conclusion.lts if large else conclusion) - finite
    if unbounded:
        raise UnprovedError(f"{min(unbounded, key=str)} is not shown to be finite")
    finite = _bounded(finite | {conclusion.gts}, known) if large else finite
    return [one for one in known if _quantities(one) <= finite]


def _bounded(finite: set[Basic], known: Iterable[Boolean]) -> set[Basic]:
    """Finite quantities, and the unsigned quantities that they bound; signed quantities may be minus infinity."""
    bounds = [one for one in known if isinstance(one, Le | Lt | Ge | Gt) and _is_unsigned(one.lts)]
    while more := {one.lts for one in bounds if _quantities(one.gts) <= finite} - finite:
        finite = finite | more
    return finite


def _is_unsigned(part: Basic) -> bool:
    return isinstance(part, QuantityBase) and not part.is_signed


def _quantities(part: Basic) -> set[Basic]:
    return {part} if isinstance(part, QuantityBase) else set[Basic]().union(*map(_quantities, part.args))
