"""Deductions at the orders above 1, and from 1 or from 0 on."""

from collections.abc import Callable
from functools import partial

from sympy import Expr, Gt, Lt, Symbol

from lastiterate.symbolic.integrals.couplings import Calculus
from lastiterate.symbolic.integrals.judgement import Judgement
from lastiterate.symbolic.integrals.language import ANY_ORDER
from lastiterate.symbolic.notation import alpha

Deduction = Callable[[Calculus], Judgement]
AtOrder = Callable[[Calculus, Expr], Judgement]


def orders(name: str, deduction: AtOrder, *least: int) -> dict[str, Deduction]:
    """A deduction at the orders above 1, and from 1 or from 0 on where that is asked for."""
    made: dict[str, Deduction] = {name: lambda rules: deduction(rules.under(alpha > 1), alpha)}
    letters = {0: ANY_ORDER, 1: alpha}
    for one in least:
        made[f"{name}/from {one}"] = partial(every_order, order=letters[one], least=one, deduction=deduction)
    return made


def every_order(rules: Calculus, order: Symbol, least: int, deduction: AtOrder) -> Judgement:
    """At every order from ``least`` on: above 1, below 1, and limits."""
    above = deduction(rules.under(Gt(order, 1)), order)
    below = deduction(rules.under(Gt(order, 0), Lt(order, 1)), order)
    return rules.every_order(above, below, order, least)
