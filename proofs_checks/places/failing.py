"""A point at which an inequality fails, looked for in floating point and then shown to be one in exact arithmetic.

Random points of many sizes and some near the ends of each range climb towards the largest share by which the left
exceeds the right. What is found is rounded to short rational numbers, and evaluated there by fractions or by balls.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.engines.inequality import fails
from lastiterate.proofs_checks.exact_values import Point
from lastiterate.proofs_checks.feasible_points import NoPointError, definitions, free_symbols, points, range_of
from lastiterate.symbolic.claim import Inequality

_Floats = NDArray[np.float64]

_DRAWN: Final = 4000
_BEST: Final = 40
_ROUNDS: Final = 40
_CHILDREN: Final = 25
_DIGITS: Final = (2, 3, 5, 8)
_WHOLE: Final = 10**6
"""Size of the largest whole number where terms are counted, and of the largest that is written out."""

_COUNT: Final = (sp.Sum, sp.Product, sp.binomial, sp.factorial)

_LEAST: Final = 1e-11
"""Share of the sides by which the left must exceed the right before it is looked at exactly."""

_NOT_COMPUTED: Final = (
    UnsupportedError, NotImplementedError, TypeError, ValueError, NameError, AttributeError, ArithmeticError, KeyError
)  # fmt: skip
"""What Sympy and numpy raise about an expression that is no real function in floating point."""


def failing_point(check: Inequality, premises: Sequence[Boolean]) -> Point | None:
    """A point at which the premises certainly hold and the relation certainly fails; None where none is found."""
    with np.errstate(all="ignore"), suppress(*_NOT_COMPUTED):
        if not free_symbols(check.left, check.right, premises):
            return {} if fails(check, tuple(premises), {}) else None
        search = _search(check, premises)
        for candidate in () if search is None else search.candidates():
            if fails(check, tuple(premises), candidate):
                return candidate
    return None


@dataclass(frozen=True)
class _Search:
    """The search: letters that are drawn, with their ranges, and the functions of them."""

    letters: tuple[sp.Symbol, ...]
    meant: dict[sp.Symbol, sp.Expr]
    low: _Floats
    high: _Floats
    excess: Any
    rooms: Any
    premises: tuple[Boolean, ...]

    def candidates(self) -> Iterator[Point]:
        """Points at which the left seems to be larger, the largest share first."""
        generator = np.random.default_rng(0)
        best, scores = self._best(self._random(generator), _BEST)
        if len(best) < _BEST:
            best, scores = self._best(np.concatenate([best, self._beside(generator)]), _BEST)
        for scale in np.geomspace(2, 1e-5, _ROUNDS):
            if not len(best):
                return
            yield from self._short(best[:3], scores[:3])
            moved = self._moved(np.repeat(best, _CHILDREN, axis=0), scale, generator)
            best, scores = self._best(np.concatenate([best, moved]), _BEST)

    def _random(self, generator: np.random.Generator) -> _Floats:
        """Distances from the ends of the ranges, or numbers where there are none, about a common size or far apart."""
        size = _DRAWN, len(self.letters)
        far = generator.choice([40, 120], (_DRAWN, 1))  # x^1.01 is 16 times x there
        common = generator.uniform(-far, far) * (generator.random((_DRAWN, 1)) < 0.4)
        each = generator.uniform(-1, 1, size) * generator.choice([0, 1, 2, 6], (_DRAWN, 1))
        return self._at(np.zeros(size), 10.0 ** (common + each), generator)

    def _beside(self, generator: np.random.Generator) -> _Floats:
        """Points that are known to meet the premises, and some beside them."""
        try:
            found = list(points(self.letters, self.premises, 20, tries=20))
        except NoPointError:
            return np.empty((0, len(self.letters)))
        known = np.array([[float(point[letter]) for letter in self.letters] for point in found])
        return np.concatenate([known, self._moved(np.repeat(known, 20, axis=0), 0.3, generator)])

    def _moved(self, at: _Floats, scale: float, generator: np.random.Generator) -> _Floats:
        """About half of the distances of points from an end of their range are multiplied."""
        some = generator.random(at.shape) < 0.5
        steps = np.exp(scale * generator.standard_normal(at.shape) * some)
        to_low, to_high = at - self.low, self.high - at
        distance = np.where(np.isfinite(np.minimum(to_low, to_high)), np.minimum(to_low, to_high), abs(at))
        return self._at(at, distance * steps, generator)

    def _at(self, near: _Floats, distance: _Floats, generator: np.random.Generator) -> _Floats:
        """Points so far from the low or the high end, of the two the nearer one, or of zero."""
        sides = np.isfinite(self.low), np.isfinite(self.high)
        signs = np.where(near == 0, generator.choice([-1, 1], near.shape), np.sign(near))
        upper = np.where(near == 0, generator.random(near.shape) < 0.5, self.high - near < near - self.low)
        from_high = sides[1] & (upper | ~sides[0])
        ends = np.where(from_high, self.high, self.low)
        at = np.where(sides[0] | sides[1], ends + np.where(from_high, -distance, distance), signs * distance)
        whole = [letter.is_integer is True for letter in self.letters]
        return np.where(whole, np.round(np.clip(at, self.low, self.high)), np.clip(at, self.low, self.high))

    def _best(self, at: _Floats, count: int) -> tuple[_Floats, _Floats]:
        columns = list(at.T)
        score = np.broadcast_to(np.asarray(self.excess(*columns), dtype=float), len(at)).copy()
        for room in self.rooms:
            score[~np.broadcast_to(np.asarray(room(*columns), dtype=bool), len(at))] = np.nan
        score[~np.isfinite(score)] = -np.inf
        order = np.argsort(-score)[:count]
        order = order[np.isfinite(score[order])]
        return at[order], score[order]

    def _short(self, best: _Floats, scores: _Floats) -> Iterator[Point]:
        for row, score in zip(best, scores, strict=True):
            if score > _LEAST:
                for digits in _DIGITS:
                    point = {
                        letter: sp.Integer(round(value))
                        if letter.is_integer and abs(value) <= _WHOLE
                        else sp.Rational(f"{value:.{digits}g}")
                        for letter, value in zip(self.letters, row, strict=True)
                    }
                    meant = {letter: value.xreplace(point).doit() for letter, value in self.meant.items()}
                    if all(value.is_Rational for value in meant.values()):
                        yield point | meant


def _search(check: Inequality, premises: Sequence[Boolean]) -> _Search | None:
    """None where a side or a premise cannot be computed in floating point."""
    meant = definitions(premises)
    left, right = (sp.sympify(one, strict=True).xreplace(meant) for one in (check.left, check.right))
    conditions = [one for one in (condition.xreplace(meant) for condition in premises) if one != sp.true]
    letters = tuple(s for s in free_symbols(check.left, check.right, premises) if s not in meant)
    real = all(letter.is_real for letter in letters)
    if not letters or not real or any(one == sp.false or isinstance(one, sp.Eq) for one in conditions):
        return None
    own = [
        sp.Ge(value, 0) if letter.is_nonnegative and not letter.is_positive else sp.Gt(value, 0)
        for letter, value in meant.items()
        if letter.is_nonnegative
    ]
    excess = sp.lambdify(letters, (left - right) / (sp.Abs(left) + sp.Abs(right)), "numpy")
    rooms = [sp.lambdify(letters, one, "numpy") for one in (*conditions, *own) if one != sp.true]
    ends = [range_of(letter, conditions) for letter in letters]
    low = np.array([-np.inf if end.low is None else float(end.low) for end in ends])
    high = np.array([np.inf if end.high is None else float(end.high) for end in ends])
    whole = np.array([letter.is_integer is True for letter in letters])
    if left.has(*_COUNT) or right.has(*_COUNT):
        low, high = np.where(whole, np.maximum(low, -_WHOLE), low), np.where(whole, np.minimum(high, _WHOLE), high)
    return _Search(letters, meant, low, high, excess, rooms, tuple(premises))
