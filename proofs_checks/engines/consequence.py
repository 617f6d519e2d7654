"""Consequences of cited results: their premises are met, and what they say gives the conclusion."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import z3
from sympy import Add, Basic, Dummy, Expr, Ge, Gt, Le, Lt, Not, Symbol, false, true
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.defined import unmet
from lastiterate.proofs_checks.engines import chances
from lastiterate.proofs_checks.engines.answers import held, undecided
from lastiterate.proofs_checks.engines.citation import broken
from lastiterate.proofs_checks.engines.possible import impossible, relations
from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.proofs_checks.engines.z3_answers import ask, entails
from lastiterate.proofs_checks.engines.z3_terms import Terms
from lastiterate.proofs_checks.feasible_points import NoPointError
from lastiterate.proofs_checks.verdict import Grade, Outcome
from lastiterate.symbolic.checks import Cited, Consequence
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.statement import Constant, HockeyStick, Probability, QuantityBase


def decide(check: Consequence, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Show the premises of every cited result, then the conclusion; what does not follow is undecided.

    Raises:
        InputError: more than one cited result has a constant, events cover no probability, or a cited line fails.
        NoPointError: no point meets the relations among the premises.
    """
    said = (*assumptions, *check.given)
    if not check.cited:
        raise InputError(
            "A consequence needs a result that it rests on, got cited=(); name one, or write an Inequality."
        )
    if check.conclusion in said:
        return undecided(check, "it supposes what it concludes")
    for one in (check.conclusion, *(one.conclusion for one in check.cited)):
        for part in one.atoms(Constant, Probability):
            if len(part.args) != 1:
                raise InputError(f"{part.func} needs one argument, got {part}; write one.")
    numbers = frozenset(relations(said))
    possible = sorted((numbers | set(chances.of_laws(said))) - {true}, key=str)
    terms = Terms(whole=True)
    answer = ask(terms, [terms.condition(one) for one in possible])
    why = "" if answer == z3.sat and not terms.loose else impossible(possible)
    if why:
        raise NoPointError(why)
    if any(check.conclusion == one.conclusion and set(one.given) <= set(said) for one in check.cited):
        return undecided(check, "it is what it cites, word for word: write Cited")
    for one in check.cited:
        fails = broken(one, ())
        if fails is not None:
            at = ", ".join(f"{name} = {value}" for name, value in fails.at.items())
            raise InputError(f"A cited result needs to hold, got {one.conclusion}, which fails at {at}; mend it.")
    try:
        random = chances.random_letters(said, check.conclusion)
        for one in check.cited:
            chances.of_numbers(one, random)
            _supposed(one, said, numbers)
        _of_defined((check.conclusion, *(one.conclusion for one in check.cited)), numbers)
        if check.conclusion.has(Constant):
            _up_to_a_constant(check, numbers)
        else:
            known = _finite(check.conclusion, [*(one.conclusion for one in check.cited), *_boole(check, numbers)])
            known += chances.facts([check.conclusion, *known], numbers)
            if any(one.has(Constant) for one in known):
                raise UnprovedError("each bound up to a constant has a constant of its own")
            names = _named((check.conclusion, *known))
            facts = [one.xreplace(names) for one in known]
            _defined(facts, numbers)
            if entails([*possible, *facts], false):
                raise NoPointError("no numbers are what the premises and the cited results say together.")
            prove(check.conclusion.xreplace(names), numbers.union(facts))
    except UnprovedError as error:
        return undecided(check, f"it does not follow: {error}")
    sources = tuple(dict.fromkeys(str(one.source) for one in check.cited))
    return replace(held(check, Grade.CITED, "it follows from what is cited"), rests_on=sources)


def _supposed(cited: Cited, said: Iterable[Basic], numbers: frozenset[Boolean]) -> None:
    """Raise an error unless the premises of a cited result are met."""
    for premise in cited.given:
        if premise in said:
            continue
        if not isinstance(premise, Relational):
            raise UnprovedError(f"{cited.source} supposes: {premise}")
        prove(premise, numbers)


def _up_to_a_constant(check: Consequence, numbers: frozenset[Boolean]) -> None:
    """Raise an error unless a cited bound up to a constant is at most the one claimed, term by term."""
    found = [one.conclusion for one in check.cited if one.conclusion.has(Constant)]
    if len(found) != 1:
        raise InputError(f"One cited result needs to have a constant, got {len(found)} of them; name one.")
    (cited,), claimed = found, check.conclusion
    if not all(isinstance(one, Le) and isinstance(one.rhs, Constant) for one in (cited, claimed)):
        raise UnprovedError("a quantity at most a constant times a number is needed")
    if cited.lhs != claimed.lhs:
        raise UnprovedError(f"the cited bound is one of {cited.lhs}")
    (less,), (more,) = cited.rhs.args, claimed.rhs.args
    smaller, larger = list(Add.make_args(less)), list(Add.make_args(more))
    for term in [one for one in smaller if one in larger]:
        smaller.remove(term)
        larger.remove(term)
    for term in smaller:
        larger.remove(next((one for one in larger if _at_most(term, one, numbers)), None) or _none(term))
    for term in larger:
        if (positive := Ge(term, 0)) != true:
            prove(positive, numbers)


def _at_most(less: Expr, more: Expr, numbers: frozenset[Boolean]) -> bool:
    try:
        prove(Le(less, more, evaluate=False), numbers)
    except UnprovedError:
        return False
    return True


def _none(term: Expr) -> Expr:
    raise UnprovedError(f"no term claimed is shown to be at least {term}")


def _boole(check: Consequence, numbers: frozenset[Boolean]) -> list[Boolean]:
    """The bound of the probability of the event claimed, once every outcome is in it or in one that covers the rest."""
    if not check.covers:
        return []
    claimed = check.conclusion.atoms(Probability)
    if len(claimed) != 1:
        raise InputError(f"One probability is needed in the conclusion, got {check.conclusion}; leave out covers.")
    (probability,) = claimed
    event = probability.args[0]
    _defined(check.covers, numbers)
    if not entails([*numbers, *map(Not, check.covers)], event):
        raise UnprovedError(f"{event} is not shown where none of {', '.join(map(str, check.covers))} happens")
    return [Ge(probability, 1 - sum(Probability(one) for one in check.covers), evaluate=False)]


def _defined(said: Sequence[Boolean], numbers: frozenset[Boolean]) -> None:
    """Raise an error unless what is taken as a fact is defined wherever the premises hold."""
    sides = [side for one in said for relation in one.atoms(Relational) for side in relation.args]
    undefined = unmet(sides, tuple(numbers), entails)
    if undefined:
        raise UnprovedError(undefined)


def _of_defined(said: Iterable[Basic], numbers: frozenset[Boolean]) -> None:
    """Raise an error unless the numbers that quantities are taken of are shown to be defined."""
    parts = {part for one in said for quantity in one.atoms(QuantityBase) for part in quantity.args}
    asked = sorted((part for part in parts if isinstance(part, Expr)), key=str)
    _defined([Ge(part, 0, evaluate=False) for part in asked], numbers)
    _defined([part for part in parts if isinstance(part, Boolean)], numbers)


def _finite(conclusion: Relational, known: Sequence[Boolean]) -> list[Boolean]:
    """Facts about finite quantities alone; those of the conclusion must be such, but for one that is said to be large.

    A divergence may be infinite, and then it is no number to calculate with. Where the large one is, all is shown.
    """
    said = set[Basic]().union(*map(_quantities, (conclusion, *known)))
    large = isinstance(conclusion, Le | Lt | Ge | Gt) and _is_unsigned(conclusion.gts)
    finite = _bounded({one for one in said if isinstance(one, Probability | HockeyStick)}, known)
    unbounded = _quantities(conclusion.lts if large else conclusion) - finite
    if unbounded:
        raise UnprovedError(f"{min(unbounded, key=str)} may be infinite")
    finite = _bounded(finite | {conclusion.gts}, known) if large else finite
    return [one for one in known if _quantities(one) <= finite]


def _bounded(finite: set[Basic], known: Iterable[Boolean]) -> set[Basic]:
    """The quantities that are finite where these are: what may be below 0 may be minus infinity."""
    bounds = [one for one in known if isinstance(one, Le | Lt | Ge | Gt) and _is_unsigned(one.lts)]
    while more := {one.lts for one in bounds if _quantities(one.gts) <= finite} - finite:
        finite = finite | more
    return finite


def _is_unsigned(part: Basic) -> bool:
    return isinstance(part, QuantityBase) and not part.is_signed


def _quantities(part: Basic) -> set[Basic]:
    """Quantities that are not parts of others."""
    return {part} if isinstance(part, QuantityBase) else set[Basic]().union(*map(_quantities, part.args))


def _named(said: Iterable[Basic]) -> dict[Expr, Symbol]:
    """A letter for every quantity."""
    quantities = sorted(set[Expr]().union(*(one.atoms(QuantityBase) for one in said)), key=str)
    return {one: Dummy(f"quantity {i}", real=True) for i, one in enumerate(quantities)}
