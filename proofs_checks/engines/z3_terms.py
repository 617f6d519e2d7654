"""Sympy expressions and conditions as z3 terms over the reals."""

# Sympy and z3 have no stubs; what pyright infers from their sources is wider than what they document.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportAssignmentType=false

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

import sympy as sp
import z3
from sympy.logic.boolalg import And, Boolean, Not, Or

from lastiterate.numeric.enclosure.operations import UnsupportedError

__all__ = ["Terms", "algebraic", "ask", "entails"]

EFFORT = 1_000_000
"""z3 resource units for one question, a few seconds; the answer does not depend on how busy the machine is."""


Found = TypeVar("Found")


class Terms:
    """A translation that shares its variables, and collects what it has to assume of auxiliary ones.

    Roots become a new variable r >= 0 with r^q = base >= 0; powers become products; Min, Max, Abs and
    Piecewise become case distinctions. A quotient needs its denominator to differ from zero and a root its
    base not to be negative: that is added to ``side``, so a proof covers the points where all is defined. A
    partial operation inside a case distinction would cut off the other cases, and is refused.

    Args:
        whole: keep integer symbols integer; else they are relaxed to reals, which is sound for proofs.

    Attributes:
        variables: z3 variable of each Sympy symbol met so far.
        side: conditions on the variables that came up on the way.
    """

    def __init__(self, *, whole: bool) -> None:
        self.whole = whole
        self.variables: dict[sp.Symbol, z3.ArithRef] = {}
        self.side: list[z3.BoolRef] = []
        self._known: dict[sp.Expr, z3.ArithRef] = {}
        self._partial = 0
        self._relations = {
            sp.Eq: lambda a, b: a == b,
            sp.Ne: lambda a, b: a != b,
            sp.Lt: lambda a, b: a < b,
            sp.Le: lambda a, b: a <= b,
            sp.Gt: lambda a, b: a > b,
            sp.Ge: lambda a, b: a >= b,
        }

    def term(self, expression: sp.Expr) -> z3.ArithRef:
        """The expression as a real term.

        Raises:
            UnsupportedError: it is not algebraic.
        """
        if expression not in self._known:
            self._known[expression] = self._term(expression)
        return self._known[expression]

    def condition(self, condition: Boolean) -> z3.BoolRef:
        """The condition as a formula.

        Raises:
            UnsupportedError: it is not a combination of relations between algebraic expressions.
        """
        if condition in (sp.true, sp.false):
            return z3.BoolVal(bool(condition))
        if isinstance(condition, And):
            return z3.And(*(self.condition(part) for part in condition.args))
        if isinstance(condition, Or):
            return z3.Or(*(self._total(partial(self.condition, part)) for part in condition.args))
        if isinstance(condition, Not):
            return z3.Not(self._total(lambda: self.condition(condition.args[0])))
        relation = self._relations.get(type(condition))
        if relation is None:
            raise UnsupportedError(f"z3 cannot take the condition {condition}")
        return relation(self.term(condition.lhs), self.term(condition.rhs))

    def _term(self, expression: sp.Expr) -> z3.ArithRef:
        if isinstance(expression, sp.Rational):
            return z3.RealVal(f"{expression.p}/{expression.q}")
        if expression.is_Symbol:
            return self._symbol(expression)
        if isinstance(expression, sp.Pow):
            return self._power(*expression.args)
        if isinstance(expression, sp.Piecewise):
            return self._total(lambda: self._piecewise(expression))
        if not isinstance(expression, sp.Add | sp.Mul | sp.Min | sp.Max | sp.Abs):
            raise UnsupportedError(f"z3 cannot take {type(expression).__name__} in {expression}")
        parts = [self.term(part) for part in expression.args]
        if isinstance(expression, sp.Abs):
            return z3.If(parts[0] >= 0, parts[0], -parts[0])
        total = parts[0]
        for part in parts[1:]:
            if isinstance(expression, sp.Add):
                total = total + part
            elif isinstance(expression, sp.Mul):
                total = total * part
            elif isinstance(expression, sp.Min):
                total = z3.If(total <= part, total, part)
            else:
                total = z3.If(total >= part, total, part)
        return total

    def _symbol(self, symbol: sp.Symbol) -> z3.ArithRef:
        if symbol.is_integer and self.whole:
            self.variables[symbol] = z3.Int(str(symbol))
            value = z3.ToReal(self.variables[symbol])
        else:
            value = self.variables[symbol] = z3.Real(str(symbol))
        if symbol.is_positive:
            self.side.append(value >= 1 if symbol.is_integer else value > 0)
        elif symbol.is_nonnegative:
            self.side.append(value >= 0)
        return value

    def _power(self, base: sp.Expr, exponent: sp.Expr) -> z3.ArithRef:
        if not isinstance(exponent, sp.Rational):
            power = base**exponent
            raise UnsupportedError(f"z3 cannot take the power {power}; its exponent is not a number (Holds takes it)")
        root = self.term(base) if exponent.q == 1 else self._root(base, int(exponent.q))
        power = self._repeated(root, abs(int(exponent.p)))
        if exponent.p > 0:
            return power
        self.side.append(root != 0)
        self._partial += 1
        return z3.RealVal(1) / power

    def _root(self, base: sp.Expr, q: int) -> z3.ArithRef:
        key = sp.Pow(base, sp.Rational(1, q), evaluate=False)
        if key not in self._known:
            inside = self.term(base)
            root = z3.Real(f"root{q}_{len(self._known)}")
            self.side += [root >= 0, inside >= 0, self._repeated(root, q) == inside]
            self._known[key] = root
            self._partial += 1
        return self._known[key]

    @staticmethod
    def _repeated(base: z3.ArithRef, times: int) -> z3.ArithRef:
        total = base
        for _ in range(times - 1):
            total = total * base
        return total

    def _piecewise(self, expression: sp.Piecewise) -> z3.ArithRef:
        *pieces, last = [piece.args for piece in expression.args]
        if last[1] != sp.true:
            raise UnsupportedError("a Piecewise needs a last piece that holds otherwise")
        value = self.term(last[0])
        for piece, condition in reversed(pieces):
            case, then = self.condition(condition), self.term(piece)
            value = z3.If(case, then, value)
        return value

    def _total(self, translate: Callable[[], Found]) -> Found:
        """What ``translate`` gives, if it holds no operation that is undefined somewhere."""
        before = self._partial
        found = translate()
        if self._partial > before:
            raise UnsupportedError("z3 cannot take a quotient or a root inside a case distinction")
        return found

    def point(self, model: z3.ModelRef) -> dict[sp.Symbol, sp.Rational]:
        """The model's values as rationals; an algebraic number is replaced by a near rational."""
        point: dict[sp.Symbol, sp.Rational] = {}
        for symbol, variable in self.variables.items():
            value = model.eval(variable, model_completion=True)
            if isinstance(value, z3.AlgebraicNumRef):
                value = value.approx(20)
            if isinstance(value, z3.IntNumRef):
                point[symbol] = sp.Integer(value.as_long())
            else:
                point[symbol] = sp.Rational(value.numerator_as_long(), value.denominator_as_long())
        return point


def ask(terms: Terms, formulas: Iterable[z3.BoolRef]) -> tuple[z3.CheckSatResult, z3.ModelRef | None]:
    """z3's answer and its model, from nlsat first and from the general solver when that gives up."""
    formulas = [*formulas, *terms.side]
    answer = z3.unknown
    for solver in (z3.SolverFor("QF_NRA"), z3.Solver()):
        solver.set("rlimit", EFFORT)
        solver.add(*formulas)
        answer = solver.check()
        if answer == z3.sat:
            return answer, solver.model()
        if answer == z3.unsat:
            return answer, None
    return answer, None


def algebraic(conditions: Sequence[Boolean]) -> tuple[Boolean, ...]:
    """The conditions that z3 can take. A proof from fewer premises is still a proof."""
    kept = []
    for condition in conditions:
        try:
            Terms(whole=False).condition(condition)
        except UnsupportedError:
            continue
        kept.append(condition)
    return tuple(kept)


def entails(premises: Sequence[Boolean], conclusion: Boolean) -> bool:
    """Whether z3 proves the conclusion from the premises; False when it does not, or cannot say."""
    terms = Terms(whole=False)
    try:
        formulas = [terms.condition(premise) for premise in algebraic(premises)]
        formulas.append(z3.Not(terms.condition(conclusion)))
    except UnsupportedError:
        return False
    return bool(ask(terms, formulas)[0] == z3.unsat)
