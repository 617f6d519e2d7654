"""Enclosures of integrals and of infinite sums in numbers, which exist: none is given of one that may not.

An integral needs an integrand that is continuous on its closed interval: the interval is cut until ball arithmetic
shows on every part that each operation is defined. Its value is Arb's. A sum over k >= a is taken up
to k = N; the rest obeys one of two lemmas, whose suppositions are enclosed in u = 1/k on [0, 1/N]:

- |f(k + 1)| <= q |f(k)| with q < 1 for k >= N: the rest is at most |f(N)|/(1 - q), by a geometric series; and where
  f(k + 1)/f(k) is between q and r in [0, 1), it is between f(N)/(1 - q) and f(N)/(1 - r).
- c <= f(k) k^p <= C with p > 1 for k >= N: k^-p decreases, so its sum is between the integrals of it from N and from
  N - 1 on, which are N^(1 - p)/(p - 1) and (N - 1)^(1 - p)/(p - 1).
"""

# Sympy and flint have no stubs; what pyright infers from their sources is wider than what they document.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportAssignmentType=false

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import sympy as sp
from flint import acb, arb, ctx

from lastiterate.numeric.enclosure.operations import UnsupportedError, number

_DEPTH: Final = 12
_TERMS: Final = 400
_POWERS: Final = tuple(sp.Rational(k, 2) for k in (8, 6, 5, 4, 3))
_ENTIRE: Final[Mapping[type, Callable[[Any], Any]]] = {
    sp.exp: lambda z: z.exp(), sp.sin: lambda z: z.sin(), sp.cos: lambda z: z.cos(), sp.sinh: lambda z: z.sinh(),
    sp.cosh: lambda z: z.cosh(), sp.erf: lambda z: z.erf(), sp.erfc: lambda z: z.erfc(),
}  # fmt: skip


def is_limit(part: sp.Basic) -> bool:
    """Tell whether an expression is an integral or an infinite sum."""
    return isinstance(part, sp.Integral) or (isinstance(part, sp.Sum) and part.limits[0][-1] is sp.oo)


def exists(part: sp.Basic) -> bool:
    """Tell whether an integral or an infinite sum in numbers is shown to exist."""
    try:
        enclosed(part)
    except UnsupportedError:
        return False
    return True


def enclosed(part: sp.Integral | sp.Sum) -> arb:
    """A finite ball around the value at the working precision.

    Raises:
        UnsupportedError: it is not shown to exist, or is no number.
    """
    return _enclosed(part, ctx.prec)


@lru_cache(maxsize=1024)
def _enclosed(part: sp.Integral | sp.Sum, bits: int) -> arb:  # noqa: ARG001
    if part.free_symbols or len(part.limits) != 1 or len(part.limits[0]) != 3:
        raise UnsupportedError(f"{part} is not one integral or sum between given ends in numbers")
    letter, low, _ = part.limits[0]
    whole = isinstance(part, sp.Sum)
    signs = (letter.is_positive and low < int(whole)) or (letter.is_nonnegative and low < 0) or letter.is_nonpositive
    if signs or (letter.is_integer and not whole) or letter.is_even or letter.is_odd or letter.is_prime:
        raise UnsupportedError(f"{letter} takes values in {part} that it is declared not to have")
    value = _sum(part) if whole else _integral(part)
    if not value.is_finite():
        raise UnsupportedError(f"{part} has no finite enclosure")
    return value


def _integral(part: sp.Integral) -> arb:
    (letter, low, high), body = part.limits[0], part.function
    ends = [_value(end, letter, arb(0)) for end in (low, high)]
    if not (ends[0] <= ends[1] and all(end.is_finite() for end in ends)):
        raise UnsupportedError(f"{part} needs finite ends in order")
    _continuous(body, letter, ends[0].union(ends[1]), _DEPTH)
    found: arb = acb.integral(lambda z, analytic: _value(body, letter, z, analytic), ends[0], ends[1]).real
    return found


def _continuous(body: sp.Expr, letter: sp.Symbol, where: arb, depth: int) -> None:
    """Raise an error unless each operation of a real expression is shown to be defined, and continuous, on a ball."""
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
        raise UnsupportedError(f"{part} needs to begin at a whole number")
    last = max(int(low), 1) + _TERMS
    terms = [_value(body, letter, arb(k)) for k in range(int(low), last + 1)]
    return sum(terms[:-1], arb(0)) + _rest(body, letter, last, terms[-1])


def _rest(body: sp.Expr, letter: sp.Symbol, first: int, term: arb) -> arb:
    """The sum from ``first`` on, where the term is ``term``."""
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
    raise UnsupportedError(f"no bound of the sum of {body} from {first} on is known")


def _everywhere(f: sp.Expr, x: sp.Symbol, first: int) -> None:
    """Raise an error unless a term is made of operations that are defined at every x >= ``first``.

    Raises:
        UnsupportedError: a part may not be.
    """
    for part in sp.preorder_traversal(f):
        inside = part.args[0] if isinstance(part, sp.log | sp.Pow | sp.factorial) else sp.S.One
        whole = isinstance(part, sp.Pow) and part.exp.is_Integer and part.exp > 0
        if inside.is_positive or whole or (isinstance(inside, sp.factorial) and isinstance(part, sp.Pow)):
            continue
        if not (_value(inside, x, arb(first)) > 0 and sp.diff(inside, x).is_nonnegative):
            raise UnsupportedError(f"{part} is not shown to be defined from {first} on")


def _value(part: sp.Expr, letter: sp.Symbol, at: Any, analytic: bool = False) -> Any:
    """The expression at a ball, real or complex; every operation is defined there, and with ``analytic`` holomorphic.

    Raises:
        UnsupportedError: it may not be, or it is not known how to enclose it.
    """
    if part == letter:
        return at
    if not part.free_symbols:
        if not part.is_real:
            raise UnsupportedError(f"{part} is no real number")
        if is_limit(part) or not part.args:
            return type(at)(enclosed(part) if is_limit(part) else number(part))
    inner = [_value(one, letter, at, analytic) for one in part.args]
    if isinstance(part, sp.Add | sp.Mul):
        total = inner[0]
        for one in inner[1:]:
            total = total + one if isinstance(part, sp.Add) else total * one
        return total
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
                raise UnsupportedError(f"{part} may be divided by 0")
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
