"""D2P2-SGD, Theorem 1, as printed. Its run projects gradients at random, so it is no `NoisySGD`.

Source: D2P2-SGD, Theorem 1, and A.3.
"""

from math import nan

from flint import arb

from lastiterate.numeric.enclosure.tape import enclose
from lastiterate.numeric.errors import chance, count, positive
from lastiterate.numeric.published.record import PublishedBound
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.symbolic.formulas import published as stated
from lastiterate.symbolic.notation import T, b, chi, n, nu


def theorem_1(delta: float, *, steps: int, batch_size: int, dataset_size: int, noise_std: float) -> float:
    """The epsilon of (epsilon, delta)-DP that the proof's constants give, rounded up.

    The theorem says that constants C_1, C_2 exist with epsilon = sqrt(C_2 ln(1/delta)) B K / (n sigma_epsilon) for
    epsilon <= C_1 B^2 K / n^2. Its proof asks in (13) for an order eta with

        7 K^2 B^2 eta / (sigma_epsilon^2 n^2) <= epsilon / 2,   exp(-(eta - 1) epsilon / 2) <= delta;

    the least epsilon is (a + sqrt(a^2 + 8 a ln(1/delta))) / 2 with a = 14 K^2 B^2 / (sigma_epsilon^2 n^2). The limit on
    eta, sigma_epsilon^2 log(n/B) / 2, is not enforced. No C_2 is large enough: claim d2p2/theorem_1.
    `lastiterate.numeric.random_projection.bound` has what holds. ``noise_std`` is sigma_epsilon before the decay
    sigma_epsilon / sqrt(k), in units of the clip norm.

    Raises:
        InputError: an argument is out of range.

    >>> round(theorem_1(1e-5, steps=1, batch_size=1, dataset_size=1, noise_std=4.8448), 2)
    4.02
    """
    delta = chance("delta", delta)
    with precision():
        known = {
            T: arb(count("steps", steps)),
            b: arb(count("batch_size", batch_size)),
            n: arb(count("dataset_size", dataset_size)),
            nu: exact(positive("noise_std", noise_std)),
            chi: -exact(delta).log(),
        }
        return upper(enclose(stated.D2P2_1, known))


THEOREMS = (
    PublishedBound(
        name="d2p2_1",
        title="D2P2-SGD, Theorem 1",
        claim="d2p2/theorem_1",
        schemes=(),
        assumptions=(),
        statement=stated.D2P2_1,
        evaluate=lambda _run, _assumption, _order: nan,
        reading="the run projects gradients at random; see lastiterate.numeric.published.d2p2.theorem_1",
    ),
)
