"""Near misses of a consequence of cited results: a smaller bound, and a premise less."""

from collections.abc import Iterator
from dataclasses import replace

from sympy import Add, Rational
from sympy.core.relational import Relational

from lastiterate.symbolic.consequence import Consequence
from lastiterate.symbolic.statement import Constant


def near_consequences(check: Consequence) -> Iterator[Consequence]:
    """Each term of a bound up to a constant three percent less, and the check without each premise that is used."""
    for bound in check.conclusion.atoms(Constant):
        for term in Add.make_args(bound.args[0]):
            less = bound.func(bound.args[0] - 3 * term / 100)
            yield replace(
                check,
                name=f"{term} times {Rational(97, 100)}",
                mutants=(),
                conclusion=check.conclusion.xreplace({bound: less}),
            )
    used = {premise for one in check.cited for premise in one.given}
    for premise in check.given:
        if premise in used or isinstance(premise, Relational):
            fewer = tuple(one for one in check.given if one != premise)
            yield replace(check, name=f"without {premise}", mutants=(), given=fewer)
