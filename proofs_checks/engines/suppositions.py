"""Suppositions of a derived theorem about every step of a run, evaluated in balls.

A letter of a step, such as a_j, goes by its name; so does a function of the step, C for C(j).
"""

import operator
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Final

from flint import arb
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from lastiterate.numeric.enclosure.tape import enclose
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.rounding import upper
from lastiterate.proofs_checks.engines.derivation import derive
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.notation import L, m, q, rho

_UP: Final = 1 + 2.0**-50
Numbers = dict[str, arb]


class _Law:
    """A supposition about a step, an inequality."""

    def __init__(self, law: Relational) -> None:
        self.law, self.left, self.right = law, _Formula(law.lhs), _Formula(law.rhs)
        self.gap, self.strict = _Formula(law.gts - law.lts), law.rel_op in {"<", ">"}
        self.names, self.seen = self.gap.names, list[arb]()

    def hold(self, values: Numbers) -> None:
        """Raise an error where it is not so, or not seen."""
        numbers = [values[name] for name in self.names]
        if len(numbers) == len(self.seen) and all(map(operator.is_, numbers, self.seen)):
            return  # the step before had the same
        gap, self.seen = self.gap.at(values), numbers
        if not bool(gap > 0 if self.strict else gap >= 0):
            at = ", ".join(f"{name}={values[name].str(6, radius=False)}" for name in sorted(self.names))
            raise UnprovedError(f"The theorem supposes {self.law}, which is not so at {at}.")


class _Formula:
    """An expression in the letters of a step, of which functions of the step, such as C(j), are one."""

    def __init__(self, expression: Expr) -> None:
        self.expression = expression.replace(
            lambda one: isinstance(one, AppliedUndef), lambda one: Symbol(one.func.__name__, real=True)
        )
        self.letters = {str(one): one for one in self.expression.free_symbols}
        self.names = self.letters.keys()

    def at(self, values: Numbers) -> arb:
        return enclose(self.expression, {one: values[name] for name, one in self.letters.items()})


class Theorem:
    """A derived theorem, and what it supposes of the steps of a window and of those before it."""

    def __init__(self, name: str, constants: Numbers) -> None:
        self.name, self.constants, self.coins = name, constants, list[float]()
        laws = _laws(name)
        ends = {"x_j", "x_next", "x_m", "z_m", "P"}
        self.of_windows = [law for law in laws if not law.names & ends]
        self.of_tracked = [law for law in laws if law.names & {"x_j", "x_next"} and "x_m" not in law.names]
        self.grows = next(law for law in self.of_windows if {"z_j", "z_next"} <= law.names)
        self.coin = next((law for law in self.of_windows if {"p", "u_j"} <= law.names), None)

    def tracked(self, rows: Sequence[Numbers], x: arb) -> arb:
        """The distance after steps that cost nothing."""
        grows = next(law for law in self.of_tracked if {"x_j", "x_next"} <= law.names)
        for row in rows:
            values = self.constants | row | {"x_j": x}
            values["x_next"] = x = least(grows.right.at(values))
            for law in self.of_tracked:
                law.hold(values)
        return x

    def proportional(self, rows: Sequence[Numbers], z: arb) -> list[arb]:
        """The best shifts where e_j(z) = c_j z: a_j = l v_j / (c_0 ... c_j), but for the last."""
        growth, parts = arb(1), []
        for row in rows:
            growth *= self.after(row, z) / z
            parts.append((row["v_j"] - row["u_j"], growth))
        slope = z / sum((v / growth**2 for v, growth in parts), arb(0))
        return [(slope * v / growth).mid() for v, growth in parts[:-1]]

    def straight(self, rows: Sequence[Numbers], first: int, z: arb) -> list[arb]:
        """The best shifts of equal steps e(z) = c z + s, a_j = l / c^(j+1), but for the last."""
        for row in rows[:first]:
            z = self.after(row, z)
        s = self.after(rows[-1], arb(0))
        reach = z if z != 0 else s
        c, count = (self.after(rows[-1], reach) - s) / reach, len(rows) - first
        powers = list(accumulate([1 / c] * count, operator.mul))
        slope = (s * sum(powers, arb(0)) + z) / sum((power**2 for power in powers), arb(0))
        return [(slope * power).mid() for power in powers[:-1]]

    def after(self, row: Numbers, z: arb) -> arb:
        """e_j(z), by the supposition about the next distance."""
        return self.grows.right.at(self.constants | row | {"z_j": z, "a_j": arb(0)})

    def window(self, rows: Sequence[Numbers], shifts: Sequence[arb | None], z: arb) -> float:
        """mu^2 of shifts, of which the last hides what is left; all that is supposed of them is checked."""
        total, before, p = arb(0), Numbers(), arb(0)
        if len(shifts) != len(rows) - 1:
            raise InputError(f"A path needs shifts for {len(rows) - 1} steps, got shifts={len(shifts)}; write it anew.")
        for row, shift in zip(rows, [*shifts, None], strict=True):
            after = self.after(row, z)
            a = least(after) if shift is None else shift
            values = self.constants | row | {"z_j": z, "a_j": a, "z_next": least(after - a)}
            if self.coin is not None:
                values["p"] = p if row is before else self.coin.left.at(values) / values["u_j"] * _UP
                before, p = row, values["p"]
                values["C"] = a**2 / (values["v_j"] - values["u_j"]) * _UP if a != 0 else arb(0)
                self.coins.append(upper(values["p"]))
            for law in self.of_windows:
                law.hold(values)
            total += values["C"] if self.coin is not None else a**2 / values["v_j"]
            z = values["z_next"]
        if not bool(z == 0):
            raise UnprovedError(f"The theorem supposes that nothing is left to hide, got z_m = {z}.")
        return upper(total)


@cache
def _laws(name: str) -> tuple[_Law, ...]:
    """Suppositions of a derived theorem about every step."""
    hypotheses = derive(name, frozenset({q <= 1, rho <= 1, m <= L})).first.hypotheses
    told = (one for each in hypotheses if each.says.endswith("this holds") for one in each.constants)
    return tuple(_Law(one) for one in told if isinstance(one, Relational) and one.rel_op != "==")


def least(distance: arb) -> arb:
    """A number that is above a distance, if only just, or 0."""
    return (distance.upper() + arb(2) ** -120).upper() if distance.upper() > 0 else arb(0)
