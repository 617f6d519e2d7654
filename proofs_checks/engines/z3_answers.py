"""Translation of Sympy conditions to z3 over the reals, and the answers of z3."""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial, reduce
from math import ceil, inf
from time import monotonic
from typing import Final

import sympy as sp
import z3
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, Boolean, BooleanAtom, Not, Or

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.enclosure.tape import enclose
from lastiterate.proofs_checks import declared
from lastiterate.proofs_checks.engines.time_limit import seconds_left
from lastiterate.proofs_checks.exact_values import rational
from lastiterate.proofs_checks.feasible_points import NoPointError, find_points, free_symbols

_RANGES: Final[Mapping[type, Callable[..., list[z3.BoolRef]]]] = {
    sp.exp: lambda value, x: [value >= 1 + x, z3.Implies(x < 0, value < 1), z3.Implies(x == 0, value == 1)],
    sp.log: lambda value, x: [value <= x - 1, z3.Implies(x > 1, value > 0), z3.Implies(x == 1, value == 0)],
    sp.Pow: lambda value, base, exponent: [
        z3.Implies(z3.And(base > 0, z3.Or(base == 1, exponent == 0)), value == 1),
        z3.Implies(z3.Or(z3.And(base > 1, exponent > 0), z3.And(base > 0, base < 1, exponent < 0)), value > 1),
        z3.Implies(z3.Or(z3.And(base > 1, exponent < 0), z3.And(base > 0, base < 1, exponent > 0)), value < 1),
    ],
    sp.cosh: lambda value, x: [value >= 1],  # noqa: ARG005
    sp.tanh: lambda value, x: [value > -1, value < 1, z3.If(x >= 0, value <= x, value >= x)],
    sp.sin: lambda value, x: [value >= -1, value <= 1, z3.If(x >= 0, value <= x, value >= x)],
    sp.cos: lambda value, x: [value >= 1 - x * x / 2, value >= -1, value <= 1],
    sp.erf: lambda value, x: [value > -1, value < 1, z3.If(x >= 0, value >= 0, value <= 0)],
    sp.erfc: lambda value, x: [value > 0, value < 2],  # noqa: ARG005
    sp.factorial: lambda value, x: [z3.Implies(x >= 0, value > 0)],
    sp.binomial: lambda value, n, k: [z3.Implies(z3.And(k >= 0, n >= k), value > 0)],
    sp.floor: lambda value, x: [value <= x, value > x - 1],
    sp.ceiling: lambda value, x: [value >= x, value < x + 1],
}
"""Facts about the values of functions that z3 does not know."""


def _known_of(expression: sp.Expr, value: z3.ArithRef) -> list[z3.BoolRef]:
    if isinstance(expression, AppliedUndef) and expression.is_real is not True:
        raise UnsupportedError(
            f"z3 cannot handle {expression}, which need not be real; declare the function real."
        )
    if expression.is_extended_real is False or expression.has(sp.oo, -sp.oo, sp.zoo, sp.nan, sp.I):
        raise UnsupportedError(f"z3 cannot handle {expression}, which is not a finite real number.")
    zero = z3.RealVal(0)
    signs = (("positive", value > zero), ("negative", value < zero), ("nonnegative", value >= zero),
             ("nonpositive", value <= zero), ("nonzero", value != zero))  # fmt: skip
    known = [fact for name, fact in signs if getattr(expression, f"is_{name}")]
    if not expression.free_symbols:
        low, high = (z3.RealVal(str(end)) for end in _ends(expression))
        known += [low <= value, value <= high]
    return known


def _ends(number: sp.Expr) -> tuple[sp.Rational, sp.Rational]:
    ball = enclose(number, {})
    if not ball.is_finite():
        raise UnsupportedError(f"z3 cannot handle the number {number}, which has no finite enclosure.")
    return rational(ball.lower().fmpq()), rational(ball.upper().fmpq())


_RELATIONS: Final = {
    sp.Eq: operator.eq, sp.Ne: operator.ne, sp.Lt: operator.lt, sp.Le: operator.le, sp.Gt: operator.gt,
    sp.Ge: operator.ge,
}  # fmt: skip
_FOLDS: Final[Mapping[type, Callable[[z3.ArithRef, z3.ArithRef], z3.ArithRef]]] = {
    sp.Add: operator.add,
    sp.Mul: operator.mul,
    sp.Min: lambda total, part: z3.If(total <= part, total, part),
    sp.Max: lambda total, part: z3.If(total >= part, total, part),
}

MOST_TERMS = 200
"""Largest absolute value of the limits of a sum or product that is written out term by term."""


class Terms:
    """Translation with shared variables that collects the assumptions about auxiliary variables.

    A root becomes a new variable r >= 0 with r^q = base >= 0, and a power becomes a product. Min, Max, Abs,
    sign and Piecewise become case distinctions. Conditions that denominators are nonzero and bases of roots
    nonnegative are added to ``side``, so a proof covers the points at which all parts are defined;
    `defined.unmet` tests whether these are all points that the premises allow. Inside a case distinction no
    condition is added, and an undefined part may have any value. A term that is not algebraic becomes a number
    of known range. Unless ``whole``, integer symbols are relaxed to reals, which is sound for proofs. If
    ``loose``, a solution need not satisfy the conditions as written.
    """

    def __init__(self, *, whole: bool) -> None:
        self.whole = whole
        self.loose = False
        self.variables: dict[sp.Symbol, z3.ArithRef] = {}
        self.side: list[z3.BoolRef] = []
        self._known: dict[sp.Expr, z3.ArithRef] = {}
        self._cases = 0

    def term(self, expression: sp.Expr) -> z3.ArithRef:
        """Real term of an expression."""
        seconds_left()
        if expression not in self._known:
            self._known[expression] = self._term(expression)
        return self._known[expression]

    def condition(self, condition: Boolean) -> z3.BoolRef:
        """Formula of a condition."""
        if condition in (sp.true, sp.false):
            return z3.BoolVal(bool(condition))
        if isinstance(condition, And):
            return z3.And(*(self.condition(part) for part in condition.args))
        if isinstance(condition, Or):
            with self._case():
                return z3.Or(*(self.condition(part) for part in condition.args))
        if isinstance(condition, Not):
            with self._case():
                return z3.Not(self.condition(condition.args[0]))
        relation = _RELATIONS.get(type(condition))
        if relation is None:
            raise UnsupportedError(f"z3 cannot handle the condition {condition}")
        return relation(self.term(condition.lhs), self.term(condition.rhs))

    def _term(self, expression: sp.Expr) -> z3.ArithRef:
        if isinstance(expression, sp.Rational):
            return z3.RealVal(f"{expression.p}/{expression.q}")
        if expression.is_Symbol:
            return self._symbol(expression)
        if isinstance(expression, sp.Pow | sp.exp):
            return self._power(*expression.as_base_exp())
        if isinstance(expression, sp.Piecewise):
            with self._case():
                return self._piecewise(expression)
        if isinstance(expression, sp.Sum | sp.Product):
            return self.term(expression.doit()) if _short(expression) else self._unknown(expression)
        if not isinstance(expression, sp.Add | sp.Mul | sp.Min | sp.Max | sp.Abs | sp.sign):
            return self._unknown(expression)
        parts = [self.term(part) for part in expression.args]
        if isinstance(expression, sp.Abs):
            return z3.If(parts[0] >= 0, parts[0], -parts[0])
        if isinstance(expression, sp.sign):
            return z3.If(parts[0] > 0, z3.RealVal(1), z3.If(parts[0] < 0, z3.RealVal(-1), z3.RealVal(0)))
        return reduce(_FOLDS[type(expression)], parts)

    def _symbol(self, symbol: sp.Symbol) -> z3.ArithRef:
        name = f"{symbol.name}!{len(self.variables)}"
        if symbol.is_integer and self.whole:
            self.variables[symbol] = z3.Int(name)
            value = z3.ToReal(self.variables[symbol])
        else:
            value = self.variables[symbol] = z3.Real(name)
        if symbol.is_integer and symbol.is_positive:
            self.side.append(value >= 1)
        self.side += [_RELATIONS[type(sign)](value, z3.RealVal(0)) for sign in declared.conditions(symbol)]
        self.loose = self.loose or declared.is_scattered(symbol)
        return value

    def _power(self, base: sp.Expr, exponent: sp.Expr) -> z3.ArithRef:
        if not isinstance(exponent, sp.Rational):
            return self._general_power(base, exponent)
        if exponent == 0:
            return z3.RealVal(1)
        root = self.term(base) if exponent.q == 1 else self._root(base, int(exponent.q))
        power = _repeated(root, abs(int(exponent.p)))
        if exponent.p > 0:
            return power
        if self._cases:
            self.loose = True
        else:
            self.side.append(root != 0)
        return z3.RealVal(1) / power

    def _general_power(self, base: sp.Expr, exponent: sp.Expr) -> z3.ArithRef:
        """Power of a positive base, split into powers that z3 takes as unknown numbers."""
        if not base.is_positive:
            return self._unknown(sp.Pow(base, exponent))
        if isinstance(exponent, sp.Add):
            total = z3.RealVal(1)
            for part in exponent.args:
                total = total * self._power(base, part)
            return total
        times, rest = exponent.as_coeff_Mul()
        if times == 1 or not times.is_Integer:
            return self._unknown(sp.Pow(base, exponent))
        if times == 0:
            return z3.RealVal(1)
        power = _repeated(self._power(base, rest), abs(int(times)))
        return power if times > 0 else z3.RealVal(1) / power

    def _unknown(self, expression: sp.Expr) -> z3.ArithRef:
        if expression in self._known:
            return self._known[expression]
        value = z3.Real(f"part!{len(self._known)}")
        self.side += _known_of(expression, value)
        self.loose = True
        self._known[expression] = value
        if type(expression) in _RANGES:
            self.side += _RANGES[type(expression)](value, *(self.term(part) for part in expression.args))
        return value

    def _root(self, base: sp.Expr, q: int) -> z3.ArithRef:
        key = sp.Pow(base, sp.Rational(1, q), evaluate=False)
        if key not in self._known:
            inside = self.term(base)
            root = z3.Real(f"root{q}!{len(self._known)}")
            facts = [root >= 0, _repeated(root, q) == inside]
            if self._cases:
                self.loose = True
                facts = [z3.Implies(inside >= 0, z3.And(*facts))]
            else:
                facts.append(inside >= 0)
            self.side += facts
            self._known[key] = root
        return self._known[key]

    def _piecewise(self, expression: sp.Piecewise) -> z3.ArithRef:
        *pieces, last = [piece.args for piece in expression.args]
        value = self.term(last[0])
        self.loose = self.loose or last[1] != sp.true
        for piece, condition in reversed(pieces):
            case, then = self.condition(condition), self.term(piece)
            value = z3.If(case, then, value)
        return value

    @contextmanager
    def _case(self) -> Iterator[None]:
        """Mark a case distinction, in which conditions on parts need not hold everywhere."""
        self._cases += 1
        try:
            yield
        finally:
            self._cases -= 1

    def point(self, model: z3.ModelRef) -> dict[sp.Symbol, sp.Rational]:
        """Values of the model as rationals; algebraic numbers are rounded."""
        point: dict[sp.Symbol, sp.Rational] = {}
        for symbol, variable in self.variables.items():
            value = model.eval(variable, model_completion=True)
            if isinstance(value, z3.AlgebraicNumRef):
                value = value.approx(20)
            point[symbol] = sp.Rational(value.as_string())
        return point


def _repeated(base: z3.ArithRef, times: int) -> z3.ArithRef:
    return reduce(operator.mul, [base] * times)


def _short(expression: sp.Sum | sp.Product) -> bool:
    limits = [limit.args[1:] for limit in expression.args[1:]]
    return all(len(ends) == 2 and all(e.is_Integer and abs(e) <= MOST_TERMS for e in ends) for ends in limits)


EFFORT = 1_000_000
"""z3 resource units for one question (a few seconds); unlike time, the same on every machine."""
_LONGEST = 60.0
"""Largest number of seconds for one question, in case z3 overruns its resources."""
_LITTLE: Final = 20_000
"""Resource units for a first attempt (a few milliseconds), enough for 99 % of questions."""
_NLSAT: Final = z3.Tactic("qfnra-nlsat")
_SHORT: Final = 0.1
"""Largest number of seconds for a first attempt that overruns its resources."""


def ask_z3(terms: Terms, formulas: Iterable[z3.BoolRef]) -> z3.CheckSatResult:
    """Tell whether the formulas and the terms' side conditions have a solution, if z3 knows."""
    asked = [*formulas, *terms.side]
    answer = _soon(asked)
    return _for_long(asked)[0] if answer == z3.unknown else answer


def solve(terms: Terms, formulas: Iterable[z3.BoolRef]) -> tuple[z3.CheckSatResult, z3.ModelRef | None]:
    """Like `ask_z3`, with a solution if there is one; the solution is the same each time."""
    asked = [*formulas, *terms.side]
    answer = _soon(asked)
    return (answer, None) if answer == z3.unsat else _for_long(asked)


def _soon(asked: Sequence[z3.BoolRef]) -> z3.CheckSatResult:
    """Answer after little effort; the state of z3 affects only whether there is an answer."""
    return _checked(_NLSAT.solver(), asked, _LITTLE, _SHORT)


def _for_long(asked: Sequence[z3.BoolRef]) -> tuple[z3.CheckSatResult, z3.ModelRef | None]:
    """Answer and solution, from nlsat or, if nlsat gives up, from more general solvers."""
    # A separate context costs as much as a question. Without it, earlier questions could delay the answer from
    # milliseconds to minutes or prevent it, and change the solution. Each solver is created only when it is
    # asked, because an idle solver also affects the answers of the others.
    alone = z3.Context()
    translated = [one.translate(alone) if isinstance(one, z3.AstRef) else one for one in asked]
    nlsat, others = z3.Tactic("qfnra-nlsat", alone).solver, (partial(z3.SolverFor, "QF_NRA"), z3.Solver)
    begun, left = monotonic(), seconds_left()
    for make in (nlsat, *(partial(one, ctx=alone) for one in others)):
        solver = make()
        answer = _checked(solver, translated, EFFORT, _LONGEST)
        if answer == z3.sat:
            return answer, solver.model().translate(z3.main_ctx())
        if answer == z3.unsat:
            return answer, None
    if left < inf and monotonic() - begun >= min(left, _LONGEST):  # z3 does not tell which limit stopped it
        raise TimeoutError("z3 found no answer within the time limit of the check")  # more time may give one
    return z3.unknown, None


def _checked(solver: z3.Solver, asked: Sequence[z3.BoolRef], effort: int, longest: float) -> z3.CheckSatResult:
    solver.set("rlimit", effort)
    # A polynomial may overrun the resources. The time is doubled, because a busy machine's clock outruns its processor.
    solver.set("timeout", ceil(2000 * min(seconds_left(), longest)))
    solver.add(*asked)
    return solver.check()


def usable(conditions: Sequence[Boolean]) -> tuple[Boolean, ...]:
    """Conditions that z3 can take; a proof from fewer premises is still valid."""
    return tuple(condition for condition in conditions if _can_take(condition))


@lru_cache(maxsize=8192)
def _can_take(condition: Boolean) -> bool:
    try:
        Terms(whole=False).condition(condition)
    except UnsupportedError:
        return False
    return True


def entails(premises: Sequence[Boolean], conclusion: Boolean) -> bool:
    """Tell whether z3 proves the conclusion from the premises."""
    return _entails(tuple(premises), conclusion)


@lru_cache(maxsize=8192)
def _entails(premises: tuple[Boolean, ...], conclusion: Boolean) -> bool:
    symbols = {s for part in (*premises, conclusion) for s in part.free_symbols}
    for whole in (False, True) if any(s.is_integer for s in symbols) else (False,):
        terms = Terms(whole=whole)
        try:
            formulas = [terms.condition(premise) for premise in usable(premises)]
            formulas.append(z3.Not(terms.condition(conclusion)))
        except UnsupportedError:
            return False
        if ask_z3(terms, formulas) == z3.unsat:
            return True
    return False


FEW, MANY = 100, 20_000
"""Numbers of points tried before z3 is asked, and after z3 gave no answer."""


def impossible(assumptions: Sequence[Boolean]) -> str:
    """Reason why no point meets the assumptions; "" if there is one, possibly irrational (from z3)."""
    why = _without_point(assumptions, FEW)
    if not why or entails(assumptions, sp.false):
        return why
    return "" if consistent(tuple(assumptions)) else _without_point(assumptions, MANY)


def _without_point(assumptions: Sequence[Boolean], tries: int) -> str:
    try:
        next(find_points(free_symbols(assumptions), assumptions, 1, tries=tries))
    except NoPointError as error:
        return str(error)
    return ""


def require_possible(assumptions: Sequence[Boolean]) -> None:
    """Raise NoPointError if the assumptions are `impossible`."""
    if why := impossible(assumptions):
        raise NoPointError(why)


@lru_cache(maxsize=4096)
def consistent(conditions: tuple[Boolean, ...]) -> bool | None:
    """Tell whether numbers meet the conditions; None if z3 has no answer or treats parts as free letters."""
    terms = Terms(whole=True)
    try:
        answer = ask_z3(terms, [terms.condition(one) for one in conditions])
    except UnsupportedError:
        return None
    return False if answer == z3.unsat else True if answer == z3.sat and not terms.loose else None


def relations(said: Iterable[sp.Basic]) -> Iterator[Boolean]:
    """Relations between numbers among premises, and combinations of them; conjunctions are split."""
    for one in said:
        for part in And.make_args(one) if isinstance(one, Boolean) else ():
            if _of_relations(part):
                yield part


def _of_relations(part: Boolean) -> bool:
    if isinstance(part, And | Or | Not):
        return all(map(_of_relations, part.args))
    return isinstance(part, Relational | BooleanAtom)
