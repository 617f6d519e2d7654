"""Bounds of other papers for strongly convex losses, drawn beside ours.

Both take update (1) of Chien & Li 2025 with full batches, m-strongly convex, L-smooth, K-Lipschitz losses,
and noise of standard deviation sigma in the *iterate*.
"""

from collections.abc import Mapping

from flint import arb

from lastiterate.numeric.balls import exact, precision, upper

__all__ = ["altschuler_talwar_strongly_convex", "chourasia_strongly_convex"]


def altschuler_talwar_strongly_convex(setting: Mapping[str, float]) -> float:
    """Altschuler & Talwar 2022, (B.3), with full batches. Direction: rounded up.

    With b = n the sampled Gaussian is a Gaussian, Q = alpha s^2 / (2 sigma_2^2), s = 2 eta K / n, and the bound
    is the least of composition alpha T s^2 / (2 sigma^2) and, over windows w = 1..T - 1 and splits
    sigma_1^2 + sigma_2^2 = sigma^2,

        (w + 1) Q + alpha D^2 (1 - c^2) / (2 sigma_1^2 (c^(-2 w) - 1)).

    The best split is exact: A / sigma_2^2 + B / sigma_1^2 has the minimum (sqrt A + sqrt B)^2 / sigma^2. The
    paper states c = (kappa - 1)/(kappa + 1), which needs the step size 2/(L + m); at any other step size its
    proof needs the contraction of the step that is taken, c = max(|1 - eta m|, |1 - eta L|), used here.

    Args:
        setting: keys T, n, eta, sigma, K, D, L, m, alpha; see `lastiterate.numeric.theorems`.

    Returns:
        Rényi epsilon at order alpha.

    >>> run = {"T": 1000, "n": 5, "eta": 0.1, "sigma": 1, "K": 2, "D": 1, "L": 1, "m": 1, "alpha": 2}
    >>> round(altschuler_talwar_strongly_convex(run), 4)
    0.1695
    """
    with precision():
        eta, sigma, D = (exact(setting[key]) for key in ("eta", "sigma", "D"))
        s = 2 * eta * exact(setting["K"]) / int(setting["n"])
        c = abs(1 - eta * exact(setting["m"])).max(abs(1 - eta * exact(setting["L"])))
        steps = int(setting["T"])
        best = upper(steps * s**2)
        if D.is_finite():
            shrunk = arb(1)
            for window in range(1, steps):
                if upper((window + 1) * s**2) >= best:
                    break  # the first term alone is larger from here on
                shrunk *= c**2
                rest = D**2 * (1 - c**2) * shrunk / (1 - shrunk)
                best = min(best, upper((exact(window + 1).sqrt() * s + rest.sqrt()) ** 2))
        return upper(exact(setting["alpha"]) / 2 * exact(best) / sigma**2)


def chourasia_strongly_convex(setting: Mapping[str, float]) -> float:
    """Chourasia, Ye & Shokri 2021, Corollary 1, as it is quoted elsewhere: no seed of this package holds it.

    epsilon = alpha S^2 / (m v n^2) (1 - exp(-m eta T / 2)), with S = 2 K the sensitivity of the summed gradient
    and v their noise variance, 2 eta v = sigma^2. It asks for eta < 1/L and for a start drawn from
    N(0, 2 v / m) projected onto the domain, not for the fixed start of update (1). Ye & Shokri 2022 extend it
    to mini-batches. Direction: the formula is rounded up; the formula itself is not checked here.

    Args:
        setting: keys T, n, eta, sigma, K, m, alpha; see `lastiterate.numeric.theorems`.

    Returns:
        Rényi epsilon at order alpha.

    >>> run = {"T": 10**6, "n": 5, "eta": 0.1, "sigma": 1, "K": 2, "m": 1, "alpha": 2}
    >>> round(chourasia_strongly_convex(run), 6)
    0.256
    """
    with precision():
        eta, m = exact(setting["eta"]), exact(setting["m"])
        variance = exact(setting["sigma"]) ** 2 / (2 * eta)
        S = 2 * exact(setting["K"]) / int(setting["n"])
        decay = -(-m * eta * int(setting["T"]) / 2).expm1()
        return upper(exact(setting["alpha"]) * S**2 / (m * variance) * decay)
