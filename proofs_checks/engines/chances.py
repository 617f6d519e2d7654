"""Probabilities among premises: which letters are random, and what holds of the probabilities of all events."""

from collections.abc import Collection, Iterable, Iterator
from itertools import combinations

from sympy import Basic, Eq, Ge, Le, Not, Symbol, false
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.engines.possible import relations
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.symbolic.checks import Cited
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.statement import Binomial, Probability, Walk


def of_laws(said: Iterable[Basic]) -> Iterator[Boolean]:
    """Conditions on the numbers of the laws among the premises, without which these are none."""
    known = dict[Basic, Basic]()
    for law in said:
        if isinstance(law, Binomial | Walk):
            letter, count, number = law.args
            if not letter.is_Symbol:
                raise InputError(f"A letter is needed for what is random, got {letter}; write a letter.")
            if known.setdefault(letter, law) != law:
                raise InputError(f"A random letter needs one law, got {letter} with two; give one another letter.")
            yield from (Ge(count, 0), Ge(number, 0), *((Le(number, 1),) if isinstance(law, Binomial) else ()))


def random_letters(said: Collection[Basic], conclusion: Relational) -> set[Symbol]:
    """Letters whose law is a premise, and those that a relation ties to them and that nothing says to be numbers.

    Raises:
        UnprovedError: a relation with such letters has no further letter of its own, with which every outcome meets it.
    """
    declared, apart = _declared(said), list(relations(said))
    ties = [one for one in apart if one.free_symbols & declared]
    numbers = _outside_events(conclusion).union(
        *(one.free_symbols for one in apart if one not in ties),
        *(part.free_symbols for one in said if isinstance(one, Binomial | Walk) for part in one.args[1:]),
    )
    tied = set[Symbol]().union(*(one.free_symbols for one in ties)) - numbers
    for one in ties:
        own = (one.free_symbols & tied).difference(declared, *(other.free_symbols for other in ties if other != one))
        if not any(isinstance(one, Relational) and (one.lhs - one.rhs).diff(letter).is_nonzero for letter in own):
            raise UnprovedError(f"{one} is not known to hold at every outcome of the law that is supposed")
    return declared | tied


def of_numbers(cited: Cited, random: set[Symbol]) -> None:
    """Raise an error unless a cited result is taken at numbers, with no random letters but those that are its own."""
    own = _declared(cited.given)
    laws = [one for one in cited.given if isinstance(one, Binomial | Walk)]
    outside = _outside_events(cited.conclusion).union(*(part.free_symbols for one in laws for part in one.args[1:]))
    wrong = (outside & (random | own)) | (cited.conclusion.free_symbols & (random - own))
    if wrong:
        letters = ", ".join(sorted(map(str, wrong)))
        raise UnprovedError(f"{cited.source} holds for numbers, and {letters} is random")


def _declared(said: Iterable[Basic]) -> set[Symbol]:
    return set[Symbol]().union(*(one.args[0].free_symbols for one in said if isinstance(one, Binomial | Walk)))


def _outside_events(part: Basic) -> set[Symbol]:
    """Letters that stand elsewhere than in the event of a probability."""
    if isinstance(part, Probability):
        return set()
    return part.free_symbols if not part.has(Probability) else set[Symbol]().union(*map(_outside_events, part.args))


def facts(said: Iterable[Basic], numbers: Iterable[Boolean]) -> Iterator[Boolean]:
    """Relations between probabilities of events: one implies another, covers what it leaves, or excludes it."""
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
