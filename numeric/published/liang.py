"""Liang et al., Theorems 3.3 and 3.4 in both versions, as printed.

Their noise sigma_DP is on the gradient, eta sigma_DP = ``noise_std`` here, C is the clip norm K, batches come with
probability q = b/n, and one data set has a sample more. Write

    A = 2 alpha K^2 / (n b sigma_DP^2),   A' = 8 alpha K^2 / (n^2 sigma_DP^2),
    B = alpha (1 + eta L)^2 D^2 / (2 eta^2 sigma_DP^2).

A' may stand for A where b <= n/5, alpha <= alpha*(b/n, b sqrt(beta) sigma_DP / (2 K)), sigma_DP > 8 K / (b sqrt(beta)).
The later version states both theorems up to a constant; the constants here are those of its own proofs, (46) and (51).
D is called a diameter in the theorems and is a radius in section 2.2: it is read as the diameter. Values are Renyi
epsilons, rounded up.

Source: Liang et al., file 000 (later version) and file 003 (earlier version).
"""

from math import inf, isfinite

from flint import arb

from lastiterate.numeric.published.altschuler_talwar import order_is_small
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD

__all__ = ["naive_bound", "theorem_3_3", "theorem_3_3_earlier", "theorem_3_4", "theorem_3_4_earlier"]


def theorem_3_3(run: NoisySGD, order: float) -> float:
    """(11): O(alpha K^2 T / (n b sigma_DP^2)); here A T of (46) with beta up to 1, or A' T of (42).

    Source: file 000, Theorem 3.3, line 199, and B.2.
    """
    with precision():
        return min(upper(run.steps * price) for price in _prices(run, order, 1.0))


def theorem_3_3_earlier(run: NoisySGD, order: float) -> float:
    """(12): 2 alpha K^2 T / (beta n b sigma_DP^2) for every beta < 1; (13): 8/n^2 for 2/(n b). The limit at 1.

    Source: file 003, Theorem 3.3, lines 191 and 195.
    """
    return theorem_3_3(run, order)


def theorem_3_4(run: NoisySGD, order: float, smoothness: float) -> float:
    """(12): O(alpha K^2/(n b sigma_DP^2) min{T, (1 + eta L)^2 n b D^2/(eta^2 K^2)}); here min{A T, B}, and A' of (48).

    Source: file 000, Theorem 3.4, line 205, and B.3.
    """
    with precision():
        steps = (upper(run.steps * price) for price in _prices(run, order, 1.0))
        return min(*steps, upper(_domain(run, order, smoothness)))


def theorem_3_4_earlier(run: NoisySGD, order: float, smoothness: float) -> float:
    """(14): 2 alpha K^2/(beta n b sigma_DP^2) + alpha (1 + eta L)^2 D^2/(2 eta^2 sigma_DP^2 (1 - beta)), best beta.

    That is (sqrt A + sqrt B)^2; (15) has A' for A, where its conditions hold at its own best beta.

    Source: file 003, Theorem 3.4, lines 204 and 208.
    """
    if not isfinite(run.diameter):
        return inf
    with precision():
        B = _domain(run, order, smoothness)
        first, *_ = _prices(run, order, 1.0)
        found = [upper((first.sqrt() + B.sqrt()) ** 2)]
        second = first * 4 * run.batch / run.dataset_size
        share = float(second.sqrt() / (second.sqrt() + B.sqrt()))
        if len(_prices(run, order, share)) > 1:
            found.append(upper((second.sqrt() + B.sqrt()) ** 2))
        return min(found)


def naive_bound(run: NoisySGD, order: float) -> float:
    """E.1: 2 alpha (D + eta K / b)^2 / sigma_DP^2, of post-processing and one Gaussian step; refuted.

    A squared length over the variance of noise on gradients: eta^2 is missing below it (``liang/appendix_e_1``).
    D is read as for Theorem 3.4, with which E.1 compares it.

    Source: file 000, E.1, line 829.
    """
    with precision():
        reach = exact(run.diameter) + exact(run.step_size_at(0)) * exact(run.clip_norm) / run.batch
        noise = exact(run.noise_std_at(0)) / exact(run.step_size_at(0))
        return upper(2 * exact(order) * (reach / noise) ** 2)


def _prices(run: NoisySGD, order: float, share: float) -> list[arb]:
    """A, and A' where its conditions hold at beta = ``share``; both without the factor 1 / beta."""
    noise = exact(run.noise_std_at(0)) / exact(run.step_size_at(0))
    load = exact(order) * exact(run.clip_norm) ** 2 / noise**2
    found = [2 * load / (run.dataset_size * run.batch)]
    multiplier = run.batch * share**0.5 * float(noise) / (2 * run.clip_norm)
    if 5 * run.batch <= run.dataset_size and multiplier > 4 and order_is_small(_rate(run), multiplier, order):
        found.append(8 * load / run.dataset_size**2)
    return found


def _rate(run: NoisySGD) -> float:
    return run.batch / run.dataset_size


def _domain(run: NoisySGD, order: float, smoothness: float) -> arb:
    """B."""
    reach = (1 + exact(run.step_size_at(0)) * exact(smoothness)) * exact(run.diameter)
    return exact(order) * reach**2 / (2 * exact(run.noise_std_at(0)) ** 2)
