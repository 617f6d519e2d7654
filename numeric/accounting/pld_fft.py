"""The law of the sum of many privacy losses, tilted so that its tail is large, with a bound on every error.

With masses m_j at losses l_j = h j that dominate one release (`pld_lattice`), y_j = m_j e^(lam l_j) / Y is convolved T
times with itself, and c(l) Y^T e^(-lam l) is the mass of the loss l: rounding costs about 1e-16 T of delta, not of 1.
The discrete Fourier transform has length n. With u = 2^-53, eta = 8 u log2(n), A_ki = |Y_ki| + eta and A_k = prod
A_ki^T_i the spectrum is off by e_k <= A_k (eta sum T_i / A_ki + 5 u sum T_i), c by |e|_2 + eta |spectrum|_2 in the l1
norm, and an error has a weight of at most 1 / (1 + lam). What wraps around counts on top, what lies above the window
is bounded by Chernoff; masses, exponentials and sums are rounded up.

Source: docs/proofs/privacy_loss.md (claims ours/pld/*); Koskela, Jälkö & Honkela 2020 (transform).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, fsum, inf, log, log2, sqrt

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lastiterate.numeric.accounting.pld_fft_plan import TILTS, Plan, choose, moments_of
from lastiterate.numeric.accounting.pld_lattice import Losses, Release
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.rounding import exact, precision, upper

_UNIT = 2.0**-53
_CLOSE = 1e-6
"""How close epsilon comes to where the bound crosses delta, relatively."""


@dataclass(frozen=True)
class Composition:
    """The law of the sum of all losses, tilted, on a window of the lattice, with a bound on all errors.

    Attributes:
        spacing: of the lattice, a power of two.
        tilt: lam above.
        first: lattice index of the first loss of the window.
        weights: c, shape (n,), from the first loss on.
        log_scale: log of the product of Y^T, as a ball.
        error: bound on the l1 norm of the error of the weights.
        lost: bound on the mass above the window and at infinity.
    """

    spacing: float
    tilt: float
    first: int
    weights: Array
    log_scale: arb
    error: float
    lost: float

    @classmethod
    def of(cls, found: Sequence[Release], delta: float, tilt: float | None = None) -> "Composition | None":
        """Compose releases.

        Args:
            found: the releases.
            delta: near which the profile is wanted.
            tilt: lam; 0 for the plain law, None for what is best near delta.

        Returns:
            None where floats do not reach.
        """
        plan = choose(found, delta, tilt)
        return None if plan is None else cls.on(plan, found, delta)

    @classmethod
    def on(cls, plan: Plan, found: Sequence[Release], delta: float) -> "Composition":
        """Compose releases with a tilt and a grid that are given; any are valid."""
        parts = [one.on_lattice(plan.spacing, nodes) for one, nodes in zip(found, plan.nodes, strict=True)]
        counts = [one.count for one in found]
        stop, above = _stop(parts, counts, plan.spacing, delta)
        spectra, log_scale = [], arb(0)
        with precision():
            for part, count in zip(parts, counts, strict=True):
                folded, log_sum = _tilted(part, plan)
                spectra.append(folded)
                log_scale += count * log_sum
            lost = upper(_lost(parts, counts, stop, above, plan.spacing))
        weights, error = _convolved(spectra, counts)
        first = stop - plan.length
        return cls(plan.spacing, plan.tilt, first, np.roll(weights, -(first % plan.length)), log_scale, error, lost)

    @property
    def losses(self) -> Array:
        """The losses of the window, exact."""
        found: Array = self.spacing * (self.first + np.arange(len(self.weights), dtype=np.float64))
        return found

    def masses(self) -> Array:
        """The masses of the losses of the window where ``tilt`` is 0, rounded up; their error is ``error``."""
        if self.tilt:
            raise ValueError(f"masses are those of an untilted law, got tilt={self.tilt:g}")
        with precision():
            found: Array = self.weights * (upper(self.log_scale.exp()) * (1 + 4 * _UNIT))
        return found

    def delta(self, epsilon: float) -> float:
        """An upper bound of the profile at epsilon, which is at least 0 and at least the first loss."""
        start = max(0, int(np.floor(epsilon / self.spacing)) - self.first)
        beyond = self.losses[start:] - epsilon
        kept = beyond > 0
        x, c = beyond[kept], self.weights[start:][kept]
        if not len(x):  # errors of the weights are errors of losses in the window
            return self.lost
        total = float(np.sum(c * np.exp(-self.tilt * x) * -np.expm1(-x))) * (1 + 1e-9) + 1e-290
        with precision():
            scale = (self.log_scale - exact(self.tilt) * exact(epsilon)).exp()
            return upper(scale * (exact(total) + exact(self.error) / (1 + exact(self.tilt))) + exact(self.lost))

    def epsilon(self, delta: float) -> float:
        """The least epsilon, nearly, at which `delta` is at most the one given; inf where there is none."""
        losses = self.losses
        low, high = max(0.0, float(losses[0])), float(losses[-1])
        if high <= low or self.delta(high) > delta:
            return inf
        if (most := self.delta(low)) <= delta:
            return low
        # False position on the log, where the profile is nearly straight; the end that stays put counts half, and
        # every third time the middle is tried.
        left, right = _log_ratio(most, delta), _log_ratio(self.delta(high), delta)
        turn = 0
        while high - low > _CLOSE * high + 1e-12:
            turn += 1
            share = 0.5 if turn % 3 == 0 else min(max(left / (left - right), 0.01), 0.99)
            middle = low + share * (high - low)
            gap = _log_ratio(self.delta(middle), delta)
            if gap > 0:
                low, left, right = middle, gap, right / 2
                just_above = min(high, low * (1 + _CLOSE))
                if self.delta(just_above) <= delta:
                    return just_above
            else:
                high, right, left = middle, gap, left / 2
        return high


def _log_ratio(value: float, delta: float) -> float:
    return log(min(max(value, 1e-300), 1e300)) - log(delta)


def _tilted(part: Losses, plan: Plan) -> tuple[Array, arb]:
    """Tilted masses, folded to the length of the transform, of sum about 1; and the log of what they are scaled by."""
    exponents: Array = np.asarray(plan.tilt * (plan.spacing * part.index), dtype=np.float64)
    with np.errstate(divide="ignore"):
        shift = float(np.max(exponents + np.log(part.mass)))
    tilted = (part.mass * np.exp(np.minimum(exponents - shift, 700.0)) + 1e-300) * _rounded(exponents)
    total = fsum(tilted)
    scaled: Array = (tilted / total) * (1 + 8 * _UNIT)
    return np.bincount(part.index % plan.length, scaled, minlength=plan.length).astype(np.float64), exact(
        total
    ).log() + exact(shift)


def _rounded(exponents: Array) -> float:
    """Covers the rounding of lam l, of e^(lam l - s) for exponents down to -700, and of a sum of a thousand masses."""
    return 1 + 4e-13 + 2 * _UNIT * float(np.max(np.abs(exponents)))


def _stop(parts: Sequence[Losses], counts: Sequence[int], spacing: float, delta: float) -> tuple[int, float]:
    """The end of the window, and the tilt that shows that little lies beyond; any values are valid."""
    moments = np.zeros_like(TILTS)
    for part, count in zip(parts, counts, strict=True):
        moments += count * moments_of(spacing * part.index.astype(np.float64), part.mass)
    ends = (moments - log(1e-4 * delta)) / (TILTS * spacing)
    above = int(np.argmin(ends))
    most = sum(count * int(part.index[-1]) for part, count in zip(parts, counts, strict=True))
    return min(ceil(ends[above]), most) + 1, float(TILTS[above])


def _lost(parts: Sequence[Losses], counts: Sequence[int], stop: int, above: float, spacing: float) -> arb:
    """The mass of sums from ``stop`` on, by Chernoff, and of an infinite loss."""
    exponent, infinite, whole = arb(0), arb(0), arb(0)
    for part, count in zip(parts, counts, strict=True):
        exponents: Array = np.asarray(above * (spacing * part.index), dtype=np.float64)
        with np.errstate(divide="ignore"):
            shift = float(np.max(exponents + np.log(part.mass)))
        moment = fsum(part.mass * np.exp(np.minimum(exponents - shift, 700.0)) + 1e-300) * _rounded(exponents)
        exponent += count * (exact(moment).log() + exact(shift))
        infinite += count * exact(part.infinite)
        whole += count * exact((fsum(part.mass) + part.infinite) * (1 + 4 * _UNIT)).log()
    out_of_reach = sum(count * int(part.index[-1]) for part, count in zip(parts, counts, strict=True)) < stop
    chernoff = arb(0) if out_of_reach else (exponent - exact(above) * exact(spacing) * stop).exp()
    return chernoff + infinite * whole.exp()


def _convolved(folded: Sequence[Array], counts: Sequence[int]) -> tuple[Array, float]:
    """The convolution of each law with itself as often as its count says, and a bound on the l1 norm of its error."""
    length = len(folded[0])
    eta = 8 * _UNIT * log2(length) * max(fsum(one) for one in folded)
    spectrum: NDArray[np.complex128] = np.ones(length // 2 + 1, dtype=np.complex128)
    log_size, relative = np.zeros(length // 2 + 1), np.zeros(length // 2 + 1)
    for one, count in zip(folded, counts, strict=True):
        here = np.fft.rfft(one)
        size = np.abs(here) * (1 + 4 * _UNIT) + eta
        log_size += count * np.log(size)
        relative += count * (eta / size + 5 * _UNIT)
        spectrum *= _power(here, count)
    sizes = np.exp(log_size + 1e-9)
    error = sqrt(2 * float(np.sum((sizes * relative) ** 2))) + eta * sqrt(2 * float(np.sum(sizes**2)))
    return np.maximum(np.fft.irfft(spectrum, length), 0.0), error * (1 + 1e-6) + exp(-600)


def _power(base: NDArray[np.complex128], count: int) -> NDArray[np.complex128]:
    """The power by repeated squaring."""
    result = np.ones_like(base)
    while count:
        if count & 1:
            result = result * base
        count >>= 1
        base = base * base if count else base
    return result
