"""Enclosures of the two directions of the sampled Gaussian over a box, by monotonicity.

D(M || N(0, s^2)) and D(N(0, s^2) || M), M = (1 - q) N(0, s^2) + q N(1, s^2), do not decrease in q, do not increase in
s, and do not decrease in the order: the ends of the box hold the ends of the value, and each slope has its sign.

Source: docs/proofs/divergences.md; Van Erven & Harremoes 2014, theorems 3, 9 and 13.
"""

from functools import lru_cache, partial

from flint import arb, ctx, fmpz

from lastiterate.numeric.divergences.mixtures import Components, moment
from lastiterate.numeric.enclosure.interval import WHOLE, Interval
from lastiterate.numeric.rounding import precision

_LEAST_BITS = 96
_MOST_WIDTHS = 1000
"""Means farther apart than this in units of the noise are left unknown: quadrature would take too long."""

_RISING: Interval = (arb(0), arb("inf"))
_FALLING: Interval = (-arb("inf"), arb(0))

_End = tuple[fmpz, fmpz]


def sampled_value(args: list[Interval], *, up: bool) -> Interval:
    """The divergence over a box of (rate, noise, order); the whole line where the box leaves the domain.

    The mixture is the numerator where ``up`` is set, else the base.
    """
    rate, noise, order = args
    ends = [end for interval in args for end in interval]
    inside = rate[0] > 0 and rate[1] < 1 and noise[0] * _MOST_WIDTHS > 1 and order[0] > 1
    if not (inside and all(end.is_finite() for end in ends)):
        return WHOLE
    at = partial(_at, up, max(ctx.prec, _LEAST_BITS))
    low, high = at(*map(_key, (rate[0], noise[1], order[0]))), at(*map(_key, (rate[1], noise[0], order[1])))
    return low.lower(), high.upper()


def sampled_partials(args: list[Interval], value: Interval) -> list[Interval]:
    """The signs of the three slopes, which is all that is known of them, and only inside the domain."""
    if not value[1].is_finite():
        return [WHOLE] * len(args)
    return [_RISING, _FALLING, _RISING]


def _key(end: arb) -> _End:
    """An exact ball as mantissa and exponent, which can be looked up."""
    mantissa, exponent = end.man_exp()
    return mantissa, exponent


def _number(key: _End) -> arb:
    return arb(key[0]) * arb(2) ** arb(key[1])


@lru_cache(maxsize=8192)
def _at(up: bool, bits: int, *point: _End) -> arb:
    with precision(bits):
        rate, noise, order = map(_number, point)
        base: Components = ((arb(1), arb(0)),)
        mixture: Components = ((1 - rate, arb(0)), (rate, 1 / noise))
        laws = (mixture, base) if up else (base, mixture)
        return moment(*laws, order, bits).log() / (order - 1)
