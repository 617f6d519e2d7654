"""Hockey-stick divergences H_t(P || Q) = integral of max(P - t Q, 0), P the numerator, t > 0.

H at t = e^epsilon is the least delta for which P(S) <= e^epsilon Q(S) + delta for every event S. For mixtures the
intervals on which P > t Q are found by halving, with sums of rising exponentials for a proof of the sign.

Source: docs/proofs/divergences.md; Balle & Wang 2018, theorem 5, for two Gaussians.
"""

from typing import Any

from flint import arb

from lastiterate.numeric.divergences.mixtures import Enclosure, Mixture, positive_scale, ratio, refine
from lastiterate.numeric.divergences.sampled import gaussian_profile
from lastiterate.numeric.errors import InputError, positive
from lastiterate.numeric.rounding import exact, precision

_EXACT_BITS = 5000
"""Products and differences of two shares and a float need no more."""

_MOST_INTERVALS = 20_000


def hockey_stick_gaussian(shift: Any, noise: Any, *, t: Any) -> Enclosure:
    """H_t(N(shift, noise^2) || N(0, noise^2)), enclosed, for t > 0; the two directions agree.

    >>> round(hockey_stick_gaussian(1.0, 1.0, t=1.0).middle, 6)  # the total variation distance
    0.382925
    """
    d, s, t = positive_scale("shift", shift), positive_scale("noise", noise), positive("t", t)
    ratio(s, d)
    return refine(lambda _bits: gaussian_profile(exact(d) / exact(s), exact(t).log()))


def hockey_stick_mixtures(numerator: Mixture, denominator: Mixture, noise: Any = 1.0, *, t: Any) -> Enclosure:
    """H_t(numerator || denominator), enclosed; the denominator is multiplied by t > 0.

    ``noise`` is the standard deviation of every component, in the unit of the means.

    Raises:
        InputError: an argument is out of range.
        ArithmeticError: P and t Q touch so closely that the sign of P - t Q cannot be told on too many intervals.

    >>> profile = hockey_stick_mixtures(Mixture(0.1, 0, 1), Mixture(0, 0, 1), t=1.0)
    >>> round(profile.middle, 6)  # 0.1 times that of the Gaussians
    0.038292
    """
    for name, value in (("numerator", numerator), ("denominator", denominator)):
        if not isinstance(value, Mixture):
            raise InputError(
                f"{name} needs a Mixture, got {name}={value!r}; write Mixture(weight, first, second)."
            )
    s, t = positive_scale("noise", noise), positive("t", t)
    coefficients: dict[float, arb] = {}
    with precision(_EXACT_BITS):
        for law, factor in ((numerator, arb(1)), (denominator, -exact(t))):
            for mean, weight in law.parts():
                coefficients[mean] = coefficients.get(mean, arb(0)) + factor * (
                    arb(weight.numerator) / weight.denominator
                )
    terms = [(mean, coefficient) for mean, coefficient in sorted(coefficients.items()) if coefficient != 0]
    return refine(lambda bits: _positive_part([(exact(mean) / exact(s), c) for mean, c in terms], bits))


def _positive_part(terms: list[tuple[arb, arb]], bits: int) -> arb:
    """The integral of the positive part of sum c N(m, 1) over the pairs (m, c), m rising, c not 0."""
    if all(c < 0 for _, c in terms):
        return arb(0)
    if all(c > 0 for _, c in terms):
        return sum((c for _, c in terms), arb(0))
    base = terms[0][0]
    sums = [(m - base, abs(c) * (-(m - base) * (m - base) / 2).exp(), c > 0) for m, c in terms]

    def part(x: arb, sign: bool) -> arb:
        return sum((height * (slope * x).exp() for slope, height, above in sums if above == sign), arb(0))

    reach = _reach(sums)
    total, kept = arb(0), []
    pending = [(-reach, reach)]
    finest = reach * arb(2) ** (-bits // 2)  # an error of the end counts twice: the integrand vanishes there
    for _ in range(_MOST_INTERVALS):
        if not pending:
            break
        left, right = pending.pop()
        if part(left, True) > part(right, False):
            kept.append((left, right))
        elif not part(right, True) < part(left, False):
            if right - left > finest:
                middle = ((left + right) / 2).mid()
                pending += [(middle, right), (left, middle)]
            elif left == -reach or right == reach:
                raise ArithmeticError(
                    "the sign of P - t Q is not told where one component dominates; move t a little"
                )
            else:  # x is the distance from the base: the factor is its density, largest at the end nearest to 0
                nearest = max(left, -right, arb(0))
                most = (part(right, True) - part(left, False)).upper() * (-nearest * nearest / 2).exp()
                rest = ((most if most > 0 else arb(0)) * (right - left)).upper()
                total += arb(rest / 4, rest / 4)  # [0, rest / 2]: the density is below 0.4
    else:
        raise ArithmeticError(
            "P and t Q touch too closely to tell the sign of P - t Q; move t or a mean a little"
        )
    for left, right in _joined(kept):
        start, stop = (None if left == -reach else left), (None if right == reach else right)
        total += sum((c * _mass(start, stop, m - base) for m, c in terms), arb(0))
    return total


def _reach(sums: list[tuple[arb, arb, bool]]) -> arb:
    """A distance past which the outermost exponential on each side exceeds all others together."""
    reach = arb(1)
    while True:
        if all(
            2 * sums[end][1] * (sums[end][0] * x).exp()
            > sum((h * (slope * x).exp() for slope, h, _ in sums), arb(0))
            for end, x in ((0, -reach), (-1, reach))
        ):
            return reach
        reach *= 2


def _joined(kept: list[tuple[arb, arb]]) -> list[tuple[arb, arb]]:
    """Neighbouring intervals made one; they come from left to right."""
    joined: list[tuple[arb, arb]] = []
    for left, right in kept:
        if joined and joined[-1][1] == left:
            joined[-1] = (joined[-1][0], right)
        else:
            joined.append((left, right))
    return joined


def _mass(start: arb | None, stop: arb | None, mean: arb) -> arb:
    """N(mean, 1) between the two ends; None is infinity."""
    root = arb(2).sqrt()
    above_start = arb(1) if start is None else ((start - mean) / root).erfc() / 2
    above_stop = arb(0) if stop is None else ((stop - mean) / root).erfc() / 2
    return above_start - above_stop
