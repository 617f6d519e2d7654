"""Deductions by name: each is a statement for every pair of laws, from the rules of the calculus."""

from collections.abc import Mapping
from typing import Final

from sympy import Expr, S

from lastiterate.symbolic.integrals import convexity, lemmas, shifts
from lastiterate.symbolic.integrals.couplings import Calculus
from lastiterate.symbolic.integrals.judgement import Judgement
from lastiterate.symbolic.integrals.language import FORMER, KERNEL, KERNEL_2, LATTER, Every, Joint, Next, Prefix
from lastiterate.symbolic.integrals.orders import Deduction, every_order, orders
from lastiterate.symbolic.integrals.statements import (
    COST,
    COUNT,
    EPSILON_1,
    EPSILON_2,
    INDEX,
    LEVEL,
    POINT,
    STEP,
    VARIABLE,
)
from lastiterate.symbolic.notation import alpha
from lastiterate.symbolic.statement import FIRST, MAP, SECOND, RenyiDivergence


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
    made = every_order(rules, alpha, 1, _composition)
    second, first = sorted(made.right.args, key=lambda one: isinstance(one, RenyiDivergence))
    return rules.chain(made, rules.assume(first <= EPSILON_1), rules.assume(second <= EPSILON_2))


def _steps(rules: Calculus) -> Judgement:
    """Composition of sequences where the divergence of each step is bounded by a number of its own."""
    made = every_order(rules, alpha, 1, _sequences)
    return rules.chain(made, rules.total(rules.each(Every(STEP <= COST, INDEX)), S.One, INDEX, COUNT))


def _markov(rules: Calculus) -> Judgement:
    return rules.times(rules.mean(rules.indicator(VARIABLE, LEVEL)), 1 / LEVEL)


DEDUCTIONS: Final[Mapping[str, Deduction]] = {
    **orders("post_processing", _post_processing, 0, 1),
    **orders("composition", _composition, 1),
    "composition/budgets": _budgets,
    **orders("sequences", _sequences, 1),
    "sequences/budgets": _steps,
    "markov": _markov,
    **convexity.DEDUCTIONS,
    **shifts.DEDUCTIONS,
}
