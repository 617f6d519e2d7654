"""Deductions by name: each is a statement for every pair of laws, from the rules of the calculus."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from sympy import Expr, Gt, Lt, S, Symbol

from lastiterate.symbolic.integrals import lemmas
from lastiterate.symbolic.integrals.couplings import Calculus
from lastiterate.symbolic.integrals.judgement import Judgement
from lastiterate.symbolic.integrals.language import (
    ANY_ORDER,
    FORMER,
    KERNEL,
    KERNEL_2,
    LATTER,
    Every,
    Joint,
    Next,
    Prefix,
)
from lastiterate.symbolic.integrals.statements import COST, COUNT, EPSILON_1, EPSILON_2, INDEX, POINT, STEP
from lastiterate.symbolic.notation import alpha
from lastiterate.symbolic.statement import FIRST, MAP, SECOND, RenyiDivergence

Deduction = Callable[[Calculus], Judgement]
AtOrder = Callable[[Calculus, Expr], Judgement]


def _from(rules: Calculus, order: Symbol, least: int, deduction: AtOrder) -> Judgement:
    """At every order from ``least`` on: above 1, below 1, and limits."""
    above = deduction(rules.under(Gt(order, 1)), order)
    below = deduction(rules.under(Gt(order, 0), Lt(order, 1)), order)
    return rules.every_order(above, below, order, least)


def orders(name: str, deduction: AtOrder, *least: int) -> dict[str, Deduction]:
    """A deduction at the orders above 1, and from 1 or from 0 on where that is asked for."""
    made: dict[str, Deduction] = {name: lambda rules: deduction(rules.under(alpha > 1), alpha)}
    letters = {0: ANY_ORDER, 1: alpha}
    for one in least:
        made[f"{name}/from {one}"] = partial(_from, order=letters[one], least=one, deduction=deduction)
    return made


def _post_processing(rules: Calculus, order: Expr) -> Judgement:
    return lemmas.post_processing(rules, order, MAP, FIRST, SECOND)


def _composition(rules: Calculus, order: Expr) -> Judgement:
    kernels = KERNEL, KERNEL_2
    return lemmas.composition(rules, order, (FIRST, SECOND), kernels, lemmas.everywhere(rules, order, kernels, POINT))


def _sequences(rules: Calculus, order: Expr) -> Judgement:
    """Composition of the first i variables with the next one, from no variables on, summed over i."""
    laws = Prefix(FORMER, INDEX), Prefix(LATTER, INDEX)
    kernels = Next(FORMER, INDEX), Next(LATTER, INDEX)
    step = lemmas.composition(rules, order, laws, kernels, lemmas.everywhere(rules, order, kernels, POINT))
    for law, kernel in zip(laws, kernels, strict=True):
        step = rules.rewrite(step, Joint(law, kernel), law.subs(INDEX, INDEX + 1))
    base = lemmas.nothing(rules, order, Prefix(FORMER, S.Zero))
    return rules.telescope(step, base, RenyiDivergence(order, *laws), INDEX, COUNT)


def _budgets(rules: Calculus) -> Judgement:
    """Composition where either divergence is bounded."""
    made = _from(rules, alpha, 1, _composition)
    second, first = sorted(made.right.args, key=lambda one: isinstance(one, RenyiDivergence))
    return rules.chain(made, rules.assume(first <= EPSILON_1), rules.assume(second <= EPSILON_2))


def _steps(rules: Calculus) -> Judgement:
    """Composition of sequences where the divergence of each step is bounded by a number of its own."""
    made = _from(rules, alpha, 1, _sequences)
    return rules.chain(made, rules.total(rules.each(Every(STEP <= COST, INDEX)), S.One, INDEX, COUNT))


DEDUCTIONS: Final[Mapping[str, Deduction]] = {
    **orders("post_processing", _post_processing, 0, 1),
    **orders("composition", _composition, 1),
    "composition/budgets": _budgets,
    **orders("sequences", _sequences, 1),
    "sequences/budgets": _steps,
}
