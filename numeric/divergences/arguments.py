"""Tests of the arguments of a divergence, each refusal one sentence."""

from math import isfinite
from typing import Any

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import positive, real

_SPREAD = 1e50


def order(alpha: Any) -> float:
    """The order of a Rényi divergence: finite, above 1."""
    number = real("alpha", alpha, "a number above 1")
    if not 1 < number < 1e9:
        raise InputError(f"alpha needs a number above 1 and below 1e9, got alpha={number!r}; 2 is customary.")
    return number


def sampling(q: Any) -> float:
    """A sampling rate: in (0, 1], and at least 1e-50, below which floats of the result would vanish."""
    number = real("q", q, "a rate in (0, 1]")
    if not 0 < number <= 1:
        raise InputError(f"q needs a rate in (0, 1], got q={number:g}; give batch size over data size.")
    if number < 1 / _SPREAD:
        raise InputError(f"q needs a rate of at least 1e-50, got q={number:g}; round it up to 1e-50, a larger loss.")
    return number


def spread(name: str, value: Any) -> float:
    """A standard deviation or a length in [1e-50, 1e50]."""
    number = positive(name, value)
    if not 1 / _SPREAD <= number <= _SPREAD:
        raise InputError(f"{name} needs a number in [1e-50, 1e50], got {name}={number:g}; change the unit of length.")
    return number


def ratio(noise: float, shift: float, widest: float = 1e4) -> None:
    """Tell whether noise and shift compare: quadrature resolves so many widths, floats squares of 10^-50."""
    if not 1 / _SPREAD <= shift / noise <= 1.0001 * widest:
        raise InputError(
            f"noise needs to lie between {1 / widest:g} and 1e50 times the shift {shift:g}, got noise={noise:g}; "
            "with less noise take the whole batch, `renyi_gaussian`."
        )


def finite(name: str, value: Any) -> float:
    """A finite number."""
    number = real(name, value, "a finite number")
    if not isfinite(number):
        raise InputError(f"{name} needs a finite number, got {name}={number}; give a position on the line.")
    return number


def probability(name: str, value: Any) -> float:
    """A number in [0, 1]."""
    number = real(name, value, "a probability in [0, 1]")
    if not 0 <= number <= 1:
        raise InputError(f"{name} needs a probability in [0, 1], got {name}={number:g}; give a share of the mixture.")
    return number
