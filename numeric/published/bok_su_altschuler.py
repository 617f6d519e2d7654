"""Bok, Su & Altschuler 2024, closed forms for strongly convex losses.

Their gradients of two samples are at most L_sens apart, which is 2 K here, and their noise sigma is on the gradient,
eta sigma = ``noise_std``; c is the contraction of the step that is taken, max(|1 - eta m|, |1 - eta L|). One
encounter's sensitivity over the noise is m_1 = 2 eta K / (b noise_std). No projection is used.

No seed of this package holds the paper; the ledger derives both values (`ours/cyclic/strongly_convex`, and the optimum
of direct shifts for full batches). Values are Renyi epsilons alpha mu^2 / 2, rounded up.
"""

from flint import arb

from lastiterate.numeric.published.altschuler_talwar import contraction
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD

__all__ = ["noisy_cgd", "noisy_gd"]


def noisy_gd(run: NoisySGD, order: float, curvatures: tuple[float, float]) -> float:
    """Full batches: mu^2 = m_1^2 (1 + c)/(1 - c) (1 - c^T)/(1 + c^T).

    Args:
        run: a run with full batches, constant step size and noise.
        order: alpha.
        curvatures: m and L.

    >>> run = NoisySGD(steps=50, step_size=0.1, noise_std=1, clip_norm=1, dataset_size=5)
    >>> round(noisy_gd(run, 2.0, (1.0, 1.0)), 6)
    0.030088
    """
    with precision():
        c = contraction(run, curvatures)
        u = c**run.steps
        growth = (1 + c) / (1 - c) * (1 - u) / (1 + u) if c < 1 else arb(run.steps)
        return _epsilon(run, order, growth)


def noisy_cgd(run: NoisySGD, order: float, curvatures: tuple[float, float]) -> float:
    """NoisyCGD, l batches in E epochs, for the worst position of the sample.

    mu^2 = m_1^2 (1 + c^(2l-2) (1 - c^2)/(1 - c^l)^2 (1 - c^(l(E-1)))/(1 + c^(l(E-1)))).

    Args:
        run: a run with cyclic batches and whole epochs, constant step size and noise.
        order: alpha.
        curvatures: m and L.

    >>> run = NoisySGD(20, 0.1, 1.0, 5.0, dataset_size=5, batch_size=1, sampling="cyclic")
    >>> round(noisy_cgd(run, 2.0, (1.0, 1.0)), 5)  # one encounter's sensitivity is the noise
    1.32117
    """
    with precision():
        c, batches = contraction(run, curvatures), run.batches
        epochs = run.steps // batches
        p, q = c**batches, c ** (batches * (epochs - 1))
        if c < 1:
            growth = 1 + c ** (2 * batches - 2) * (1 - c**2) / (1 - p) ** 2 * (1 - q) / (1 + q)
        else:
            growth = 1 + arb(epochs - 1) / batches
        return _epsilon(run, order, growth)


def _epsilon(run: NoisySGD, order: float, growth: arb) -> float:
    first = 2 * exact(run.step_size_at(0)) * exact(run.clip_norm) / (run.batch * exact(run.noise_std_at(0)))
    return upper(exact(order) * first**2 * growth / 2)
