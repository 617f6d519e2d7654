"""Bounds of a Renyi divergence, each for a part of what a statement speaks of, joined to its one bound.

A check bounds the divergence for all values of its letters that meet its premises. Some letters may be chosen, such as
the window of shifts: they take values in the letters of the statement. The statement follows where at every point some
check has all its premises met and a bound no larger than each alternative of the one claimed.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Final

from sympy import (
    Basic,
    Dummy,
    Eq,
    Expr,
    Function,
    Ge,
    Gt,
    Le,
    Lt,
    Max,
    Min,
    Mul,
    Not,
    S,
    Symbol,
    exp,
    expand_log,
    factor,
    false,
    log,
    simplify,
    sympify,
)
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, Implies

from lastiterate.proofs_checks.defined import unmet
from lastiterate.proofs_checks.engines.derivation import derive, supposed_order
from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.proofs_checks.engines.z3_answers import entails, impossible
from lastiterate.proofs_checks.theorems import CLASSES
from lastiterate.symbolic.checks import Inequality, IntervalInequality, RenyiBound
from lastiterate.symbolic.claim import Claim, derived
from lastiterate.symbolic.derivations.losses import LOSSES
from lastiterate.symbolic.kernel.judgement import Hypothesis, UnprovedError
from lastiterate.symbolic.kernel.renyi import largest_order
from lastiterate.symbolic.kernel.substitution import declared
from lastiterate.symbolic.notation import MEANING, D, K, T, b, c, eta, n, sensitivity, sigma_dp, tau, w
from lastiterate.symbolic.statement import (
    OTHER,
    SAMPLES,
    BatchesOf,
    Clipped,
    CyclicBatches,
    Diameter,
    Neighbours,
)

_CHOSEN: Final = {w, tau, c}
"""Letters with a meaning that are no part of a run: a window of its steps, and a bound of how much a step expands."""

_DRAWN: Final[set[Basic]] = {Neighbours(SAMPLES, OTHER), BatchesOf(b, n)}
_GRANTS: Final[Mapping[tuple[str, tuple[Basic, ...]], set[Basic]]] = {
    ("after every step both runs are in one convex set of this diameter", (D,)): {Diameter(D)},
    ("independent Gaussian noise of this variance is added in every coordinate", (eta**2 * sigma_dp**2,)): set(),
    ("the batch without the sample that differs has one law in both runs and is independent of the state before", ()): (
        _DRAWN
    ),
    (
        "one sample is replaced, in each batch with the first chance; any two means are at most the second apart",
        (b / n, sensitivity(b)),
    ): _DRAWN | {Clipped(K)},
    ("step t takes so many samples, from number t times that on, modulo so many in all", (b, n)): {
        Neighbours(SAMPLES, OTHER),
        CyclicBatches(b, n),
    },
    **{(LOSSES[name].says, LOSSES[name].constants): conditions for name, conditions in CLASSES.items()},
}
"""The conditions of a statement that grant what a derivation supposes of the runs: its words, and its constants."""


def join(
    claim: Claim, bound: Expr, letters: Collection[Basic], granted: Collection[Basic], supposed: frozenset[Boolean]
) -> None:
    """Raise an error unless the bounds among the checks of a claim together give the one of its statement.

    Args:
        claim: the claim, of which all checks hold.
        bound: of the divergence of order alpha of the last iterates.
        letters: the letters of the statement, each with a quantifier.
        granted: the conditions of the statement, and those that they contain.
        supposed: the relations between numbers among them.

    Raises:
        UnprovedError: they do not, or it is not seen.
    """
    numbers = frozenset(one for one in supposed if not one.has(largest_order))
    why = impossible(sorted(numbers, key=str))
    if why:
        raise UnprovedError(why)
    cases = [_Case(claim, check, letters, granted, numbers) for check in claim.checks if isinstance(check, RenyiBound)]
    known = numbers.union(*(case.given for case in cases))
    for claimed in _alternatives(bound):
        needs = [(*case.open, Le(case.bound, claimed, evaluate=False)) for case in cases]
        undefined = unmet([side for case in needs for one in case for side in one.args], tuple(numbers), entails)
        if undefined:
            raise UnprovedError(undefined)
        names = _names(*known, *(one for case in needs for one in case))
        lettered = [tuple(_signed(one.xreplace(names)) for one in case) for case in needs]
        _cover(lettered, frozenset(one.xreplace(names) for one in known))


class _Case:
    """A bound in the letters of a statement; ``given`` are its premises that follow there, ``open`` the others."""

    def __init__(
        self,
        claim: Claim,
        check: RenyiBound,
        letters: Collection[Basic],
        granted: Collection[Basic],
        numbers: frozenset[Boolean],
    ) -> None:
        self.values = {letter: sympify(value, strict=True) for letter, value in check.at.items()}
        run = [one for one in self.values if one in letters or (one in MEANING and one not in _CHOSEN)]
        if run:
            raise UnprovedError(f"{sorted(run, key=str)} are letters of the run, which are not chosen")
        given = (*claim.assumptions, *check.given)
        orders = [one for one in given if one.has(largest_order)]
        if not all(supposed_order(one, granted) for one in orders):
            raise UnprovedError(f"the statement does not suppose {orders}")
        made = derive(check.derivation, frozenset(given).difference(orders)).first
        if simplify(self._put(made.end) - T) != 0:
            raise UnprovedError(f"laws after T steps are needed, got {self._put(made.end)}")
        for one in made.hypotheses:
            key = one.says, tuple(map(self._put, one.constants))
            if one.bounds or one.lemma or key not in _GRANTS or not _GRANTS[key] <= set(granted):
                raise UnprovedError(f"the statement does not suppose that {Hypothesis(*key, bounds=one.bounds)}")
        self.bound = self._put(check.bound)
        premises = [*map(self._put, given), *self._signs(self.values)]
        strange = set().union(self.bound.free_symbols, *(one.free_symbols for one in premises)).difference(letters)
        if strange:
            raise UnprovedError(f"{sorted(strange, key=str)} need values in the letters of the statement")
        known = numbers.union(self._facts(claim, letters, numbers))
        needed = [one for one in premises if not one.has(largest_order)]
        own = set(check.given)  # those without a letter that is chosen tell its cases apart
        self.given = frozenset(one for one in needed if one not in own - known and _shown(one, known))
        self.open = [one for one in needed if one not in self.given]

    def _put(self, what: Basic) -> Basic:
        return what.subs(self.values, simultaneous=True)

    def _signs(self, letters: Collection[Symbol]) -> list[Boolean]:
        """The declarations of letters, said of their values."""
        return [one for letter in letters if letter in self.values for one in declared(letter, self.values[letter])]

    def _facts(self, claim: Claim, letters: Collection[Basic], numbers: frozenset[Boolean]) -> Iterator[Boolean]:
        """The inequalities among the checks at these values, where their premises are met."""
        for check in claim.checks:
            if not isinstance(check, Inequality | IntervalInequality):
                continue
            one = derived((check,), claim.assumptions)
            premises, fact = one.body.args if isinstance(one.body, Implies) else (S.true, one.body)
            conditions = [*map(self._put, (*one.conditions, premises)), *self._signs(one.variables)]
            orders = [condition for condition in conditions if condition.has(largest_order)]
            if (
                not orders
                and self._put(fact).free_symbols <= set(letters)
                and all(_shown(x, numbers) for x in conditions)
            ):
                yield self._put(fact)


def _alternatives(bound: Expr) -> Iterator[Expr]:
    """The terms that a bound may be: the least of several numbers is one of them."""
    choices = sorted(bound.atoms(Min), key=str)
    for chosen in product(*(one.args for one in choices)):
        yield bound.xreplace(dict(zip(choices, chosen, strict=True)))


def _names(*conditions: Boolean) -> dict[Expr, Dummy]:
    """A letter for every value of a function, of which nothing is known but its sign and whether it is whole."""
    values = set().union(*(one.atoms(Function, Max) for one in conditions))
    facts = ("integer", "positive", "nonnegative")
    known = {one: {fact: True for fact in facts if getattr(one, f"is_{fact}")} for one in values}
    return {one: Dummy(str(one), **({"real": True} | known[one])) for one in values}


def _signed(condition: Boolean) -> Boolean:
    """An inequality without the positive factors of the difference of its sides."""
    if not isinstance(condition, Le):
        return condition
    gap = factor(condition.lhs - condition.rhs)
    return Le(Mul(*(one for one in Mul.make_args(gap) if not one.is_positive)), 0)


def _cover(cases: Sequence[Sequence[Boolean]], known: frozenset[Boolean]) -> None:
    """Raise an error unless at every point all needs of some case are met: decide one need after the other."""
    if entails(sorted(known, key=str), false):
        return
    left = sorted((tuple(one for one in case if not _shown(one, known)) for case in cases), key=len)
    if left and not left[0]:
        return
    undecided = next(
        (one for case in left for one in case if isinstance(one, Relational) and not isinstance(one, Eq)), None
    )
    if undecided is None:
        raise UnprovedError(f"no bound is known to serve where {', '.join(sorted(map(str, known)))}")
    _cover(left, known | {undecided})
    _cover([case for case in left if undecided not in case], known | {Not(undecided)})


@cache
def _shown(condition: Boolean, known: frozenset[Boolean]) -> bool:
    """Tell whether a condition follows, or the same of the logarithms of positive sides does."""
    if condition == S.true or condition in known:
        return True
    for one in dict.fromkeys((_logarithms(condition), condition)):
        try:
            prove(one, known)
        except UnprovedError:
            continue
        return True
    return False


def _logarithms(condition: Boolean) -> Boolean:
    """An inequality of positive numbers with exponentials as one of their logarithms, written out."""
    if not isinstance(condition, Ge | Gt | Le | Lt) or not condition.has(exp):
        return condition
    if not all(side.is_positive for side in condition.args):
        return condition
    sides = (log(side).replace(log, lambda x: expand_log(log(x))) for side in condition.args)
    return condition.func(*sides)
