"""Guaranteed enclosures of Sympy expressions, gradients, and integrals and sums without free symbols.

Integrals and sums are enclosed only if they are shown to exist. The closed interval of an integral is
subdivided until ball arithmetic shows on every part that each operation of the integrand is defined and
continuous; Arb then computes the integral. A sum over k >= a is computed up to k = N, and the rest is bounded
by one of two lemmas, whose assumptions are checked by enclosures in u = 1/k on [0, 1/N]:

- |f(k + 1)| <= q |f(k)| with q < 1 for k >= N: the rest is at most |f(N)|/(1 - q), by a geometric series. If
  f(k + 1)/f(k) is between q and r in [0, 1), the rest is between f(N)/(1 - q) and f(N)/(1 - r).
- c <= f(k) k^p <= C with p > 1 for k >= N: the sum of k^-p is between the integrals from N and from N - 1 on,
  N^(1 - p)/(p - 1) and (N - 1)^(1 - p)/(p - 1).
"""

# Sympy and flint have no stubs; pyright infers wider types from their sources than they document.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportAssignmentType=false

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import count
from operator import add, mul
from typing import Any, Final

import sympy as sp
from flint import acb, arb, ctx

from lastiterate.numeric.enclosure import interval as iv
from lastiterate.numeric.enclosure.interval import WHOLE, Interval
from lastiterate.numeric.enclosure.operations import (
    ONE,
    REWRITTEN,
    Operation,
    UnsupportedError,
    choice_operation,
    enclose_number,
    operation_of,
)

_DEPTH: Final = 12
_TERMS: Final = 400
_POWERS: Final = tuple(sp.Rational(k, 2) for k in (8, 6, 5, 4, 3))
_ENTIRE: Final[Mapping[type, Callable[[Any], Any]]] = {
    sp.exp: lambda z: z.exp(), sp.sin: lambda z: z.sin(), sp.cos: lambda z: z.cos(), sp.sinh: lambda z: z.sinh(),
    sp.cosh: lambda z: z.cosh(), sp.erf: lambda z: z.erf(), sp.erfc: lambda z: z.erfc(),
}  # fmt: skip
MAX_TERMS = 5000
"""Maximum number of terms of a finite sum or product."""


def is_limit(part: sp.Basic) -> bool:
    """Tell whether an expression is an integral or an infinite sum."""
    return isinstance(part, sp.Integral) or (isinstance(part, sp.Sum) and part.limits[0][-1] is sp.oo)


def exists(part: sp.Basic) -> bool:
    """Tell whether an integral or infinite sum without free symbols is shown to exist."""
    try:
        enclose_limit(part)
    except UnsupportedError:
        return False
    return True


def enclose_limit(part: sp.Integral | sp.Sum) -> arb:
    """A finite ball around an integral or sum; raises `UnsupportedError` if the limit may not exist."""
    return _enclosed(part, ctx.prec)


@lru_cache(maxsize=1024)
def _enclosed(part: sp.Integral | sp.Sum, bits: int) -> arb:  # noqa: ARG001
    if part.free_symbols or len(part.limits) != 1 or len(part.limits[0]) != 3:
        raise UnsupportedError(f"{part} is not a single integral or sum with numeric limits")
    letter, low, _ = part.limits[0]
    whole = isinstance(part, sp.Sum)
    signs = (
        (letter.is_positive and low < int(whole))
        or (letter.is_nonnegative and low < 0)
        or letter.is_nonpositive
    )
    if signs or (letter.is_integer and not whole) or letter.is_even or letter.is_odd or letter.is_prime:
        raise UnsupportedError(f"{letter} takes values in {part} that its declaration excludes")
    value = _sum(part) if whole else _integral(part)
    if not value.is_finite():
        raise UnsupportedError(f"{part} has no finite enclosure")
    return value


def _integral(part: sp.Integral) -> arb:
    (letter, low, high), body = part.limits[0], part.function
    ends = [_value(end, letter, arb(0)) for end in (low, high)]
    if not (ends[0] <= ends[1] and all(end.is_finite() for end in ends)):
        raise UnsupportedError(f"{part} needs finite limits, the lower one first")
    _continuous(body, letter, ends[0].union(ends[1]), _DEPTH)
    found: arb = acb.integral(lambda z, analytic: _value(body, letter, z, analytic), ends[0], ends[1]).real
    return found


def _continuous(body: sp.Expr, letter: sp.Symbol, where: arb, depth: int) -> None:
    """Raise `UnsupportedError` unless all operations are defined and continuous on a real ball."""
    try:
        if _value(body, letter, where).is_finite():
            return
    except UnsupportedError:
        if depth == 0:
            raise
    if depth == 0:
        raise UnsupportedError(f"{body} is not shown to be finite")
    low, middle, high = arb(where.lower()), arb(where.mid()), arb(where.upper())
    for half in (low.union(middle), middle.union(high)):
        _continuous(body, letter, half, depth - 1)


def _sum(part: sp.Sum) -> arb:
    (letter, low, _), body = part.limits[0], part.function
    if not low.is_Integer:
        raise UnsupportedError(f"{part} must start at a whole number")
    last = max(int(low), 1) + _TERMS
    terms = [_value(body, letter, arb(k)) for k in range(int(low), last + 1)]
    return sum(terms[:-1], arb(0)) + _rest(body, letter, last, terms[-1])


def _rest(body: sp.Expr, letter: sp.Symbol, first: int, term: arb) -> arb:
    k, x = sp.Symbol("k", integer=True, positive=True), sp.Symbol("x", positive=True)
    f, u = body.subs(letter, k), sp.Symbol("u", positive=True)
    near = arb(0).union(1 / arb(first))

    def over(expression: sp.Expr) -> arb | None:
        try:
            found: arb = _value(sp.simplify(expression.subs(k, 1 / u)), u, near)
        except UnsupportedError:
            return None
        return found

    _everywhere(body.subs(letter, x), x, first)
    ratio = over(sp.combsimp(sp.simplify(f.subs(k, k + 1) / f)))
    if ratio is not None and abs(ratio) < 1:
        most = abs(term) / (1 - arb(abs(ratio).upper()))
        return term / (1 - ratio) if ratio >= 0 else arb(0, most.upper())
    for p in _POWERS:
        size = over(f * k**p)
        if size is not None and size.is_finite():
            power, n = arb(int(p.p)) / int(p.q) - 1, arb(first)
            return size * (n ** (-power)).union((n - 1) ** (-power)) / power
    raise UnsupportedError(f"no bound is known on the sum of {body} from {first} on")


def _everywhere(f: sp.Expr, x: sp.Symbol, first: int) -> None:
    """Raise `UnsupportedError` unless all operations of a term are defined at every x >= ``first``."""
    for part in sp.preorder_traversal(f):
        inside = part.args[0] if isinstance(part, sp.log | sp.Pow | sp.factorial) else sp.S.One
        whole = isinstance(part, sp.Pow) and part.exp.is_Integer and part.exp > 0
        if inside.is_positive or whole or (isinstance(inside, sp.factorial) and isinstance(part, sp.Pow)):
            continue
        if not (_value(inside, x, arb(first)) > 0 and sp.diff(inside, x).is_nonnegative):
            raise UnsupportedError(f"{part} is not shown to be defined from {first} on")


def _value(part: sp.Expr, letter: sp.Symbol, at: Any, analytic: bool = False) -> Any:
    """Value on a ball; nan or an error unless all operations are defined, and holomorphic if ``analytic``."""
    if part == letter:
        return at
    if not part.free_symbols:
        if not part.is_real:
            raise UnsupportedError(f"{part} is not a real number")
        if is_limit(part) or not part.args:
            return type(at)(enclose_limit(part) if is_limit(part) else enclose_number(part))
    inner = [_value(one, letter, at, analytic) for one in part.args]
    if isinstance(part, sp.Add | sp.Mul):
        return reduce(add if isinstance(part, sp.Add) else mul, inner)
    if type(part) in _ENTIRE:
        return _ENTIRE[type(part)](inner[0])
    if isinstance(part, sp.factorial) and isinstance(at, arb):
        return (inner[0] + 1).gamma()
    if isinstance(part, sp.log):
        return inner[0].log(analytic) if isinstance(at, acb) else _positive(inner[0], part).log()
    if isinstance(part, sp.Pow):
        return _power(part, inner, analytic)
    raise UnsupportedError(f"no enclosure of {part} under an integral or an infinite sum")


def _power(part: sp.Pow, inner: list[Any], analytic: bool) -> Any:
    base, exponent = inner
    if part.exp.is_Integer:
        if part.exp < 0 and base.contains(0):
            if isinstance(base, arb):
                raise UnsupportedError(f"{part} may divide by 0")
            return acb("nan")
        return base ** int(part.exp)
    if isinstance(base, acb):
        return base.pow(exponent, analytic)
    if part.exp.is_Rational and part.exp > 0 and base >= 0:
        return base**exponent
    return _positive(base, part) ** exponent


def _positive(base: arb, part: sp.Expr) -> arb:
    if not base > 0:
        raise UnsupportedError(f"{part} is not shown to be defined")
    return base


def _number(expression: sp.Expr) -> arb:
    return enclose_limit(expression) if is_limit(expression) else enclose_number(expression)


class Tape:
    """An expression, compiled to interval operations, with the inputs ``symbols`` in this order.

    Raises:
        UnsupportedError: a part has no enclosure (an integral that may not exist, a sum whose limits are not
            whole numbers, a free symbol that is not an input).

    >>> from sympy.abc import x
    >>> low, high = Tape(x**2 - x, (x,)).value([(arb(2), arb(3))])
    >>> low <= 2 and high >= 6
    True
    """

    def __init__(self, expression: sp.Expr, symbols: Sequence[sp.Symbol]) -> None:
        self.symbols = tuple(symbols)
        self._slots: dict[sp.Expr, int] = {symbol: i for i, symbol in enumerate(self.symbols)}
        self._numbers: list[tuple[int, sp.Expr]] = []
        self._steps: list[tuple[int, Operation, tuple[int, ...]]] = []
        self._next = count(len(self.symbols))
        self._output = self._compile(sp.sympify(expression, strict=True))
        self._size = next(self._next)
        self._cache: dict[int, list[tuple[int, Interval]]] = {}

    def value(self, box: Sequence[Interval]) -> Interval:
        """Enclose the values that the expression takes on a box, given as one interval per symbol."""
        return self._run(box)[self._output]

    def gradient(self, box: Sequence[Interval]) -> tuple[Interval, tuple[Interval, ...]]:
        """Enclosures of the value and the gradient over the box; at a kink, of Clarke's gradient."""
        values = self._run(box)
        zero = (arb(0), arb(0))
        slopes: list[Interval] = [zero] * self._size
        slopes[self._output] = ONE
        for slot, operation, inputs in reversed(self._steps):
            outer = slopes[slot]
            if outer[0] == 0 and outer[1] == 0:
                continue
            partials = operation.partials([values[i] for i in inputs], values[slot])
            for i, inner in zip(inputs, partials, strict=True):
                slopes[i] = iv.add(slopes[i], iv.multiply(outer, inner))
        return values[self._output], tuple(slopes[: len(self.symbols)])

    def _run(self, box: Sequence[Interval]) -> list[Interval]:
        values: list[Interval] = [WHOLE] * self._size
        values[: len(self.symbols)] = box
        bits = ctx.prec
        if bits not in self._cache:
            self._cache[bits] = [(slot, iv.point(_number(one))) for slot, one in self._numbers]
        for slot, constant in self._cache[bits]:
            values[slot] = constant
        for slot, operation, inputs in self._steps:
            values[slot] = operation.value([values[i] for i in inputs])
        return values

    def _compile(self, expression: sp.Expr) -> int:
        if expression in self._slots:
            return self._slots[expression]
        if expression.is_Symbol:
            raise UnsupportedError(f"no value was given for the symbol {expression}")
        if is_limit(expression) or (expression.is_number and not expression.args):
            _number(expression)
            slot = next(self._next)
            self._numbers.append((slot, expression))
        elif isinstance(expression, sp.Sum | sp.Product):
            slot = self._compile(_written_out(expression))
        elif isinstance(expression, sp.Piecewise):
            slot = self._piecewise(expression)
        elif type(expression) in REWRITTEN:
            slot = self._compile(REWRITTEN[type(expression)](*expression.args))
        else:
            operation, parts = operation_of(expression)
            slot = self._step(operation, tuple(self._compile(part) for part in parts))
        self._slots[expression] = slot
        return slot

    def _step(self, operation: Operation, inputs: tuple[int, ...]) -> int:
        slot = next(self._next)
        self._steps.append((slot, operation, inputs))
        return slot

    def _piecewise(self, expression: sp.Piecewise) -> int:
        *pieces, last = [piece.args for piece in expression.args]
        slot = self._compile(last[0])
        for value, condition in reversed(pieces):
            slot = self._choice(condition, self._compile(value), slot)
        return slot

    def _choice(self, condition: sp.Basic, value: int, otherwise: int) -> int:
        if isinstance(condition, sp.And):
            for part in condition.args:
                value = self._choice(part, value, otherwise)
            return value
        if isinstance(condition, sp.Or):
            for part in condition.args:
                otherwise = self._choice(part, value, otherwise)
            return otherwise
        if isinstance(condition, sp.Eq | sp.Ne):
            relation, gap = type(condition), self._compile(condition.lhs - condition.rhs)
        elif isinstance(condition, sp.Rel):
            relation = sp.Gt if isinstance(condition, sp.Gt | sp.Lt) else sp.Ge
            gap = self._compile(condition.gts - condition.lts)
        else:
            raise UnsupportedError(f"no enclosure of a piece under the condition {condition}")
        return self._step(choice_operation(relation), (gap, value, otherwise))


def _written_out(expression: sp.Sum | sp.Product) -> sp.Expr:
    body, *limits = expression.args
    terms = [body]
    for index, low, high in (limit.args for limit in limits):
        if not (low.is_Integer and high.is_Integer):
            raise UnsupportedError(f"{expression} needs integer limits to be enclosed")
        if (high - low + 1) * len(terms) > MAX_TERMS:
            raise UnsupportedError(f"{expression} has more than {MAX_TERMS} terms")
        terms = [
            term.xreplace({index: sp.Integer(i)}) for term in terms for i in range(int(low), int(high) + 1)
        ]
    return (sp.Add if isinstance(expression, sp.Sum) else sp.Mul)(*terms)


_tape = lru_cache(maxsize=512)(Tape)


def enclose(expression: sp.Expr, values: Mapping[sp.Symbol, arb]) -> arb:
    """Ball that contains the expression's values at all points of the given balls.

    The ball is the whole line if the expression leaves its domain. The balls of symbols in limits of a sum
    must be exact integers.

    Raises:
        UnsupportedError: see `Tape`.

    >>> from sympy import sqrt
    >>> from sympy.abc import x
    >>> enclose(sqrt(x) - x, {x: arb(2)}).overlaps(arb(2).sqrt() - 2)
    True
    """
    whole = {
        symbol: sp.Integer(int(number))
        for symbol, ball in values.items()
        if symbol.is_integer and ball.is_exact() and (number := ball.unique_fmpz()) is not None
    }
    replaced = expression.xreplace(whole) if expression.has(sp.Sum, sp.Product) else expression
    free = replaced.free_symbols
    rest = tuple(symbol for symbol in values if symbol in free)
    low, high = _tape(replaced, rest).value([iv.point(values[symbol]) for symbol in rest])
    return low if low == high else low.union(high)
