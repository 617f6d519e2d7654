"""Chourasia, Ye & Shokri 2021, Corollary 1, as it is quoted elsewhere."""

from collections.abc import Mapping
from math import inf

from lastiterate.numeric.published.record import claimed, run_of
from lastiterate.symbolic.formulas import published as stated


def chourasia_strongly_convex(setting: Mapping[str, float]) -> float:
    """Epsilon = alpha S^2 / (m v n^2) (1 - exp(-m eta T / 2)), for strongly convex losses and full batches.

    S = 2 K is the sensitivity of the summed gradient and v the noise variance, 2 eta v = sigma^2 with sigma the noise
    in the *iterate*. It asks for eta < 1/L and for a start drawn from N(0, 2 v / m) projected onto the domain, not for
    the fixed start of update (1). Ye & Shokri 2022 extend it to mini-batches. Direction: the formula, for the Rényi
    epsilon at order alpha, is rounded up; the formula itself is not checked here.

    >>> run = {"T": 10**6, "n": 5, "eta": 0.1, "sigma": 1, "K": 2, "m": 1, "alpha": 2}
    >>> round(chourasia_strongly_convex(run), 6)
    0.256
    """
    run = run_of({"D": inf, **setting})
    return claimed(stated.CHOURASIA, run, setting["alpha"], m=setting["m"])
