"""The setting of Figure 1 of Chien & Li 2025 (appendix A.13), to which measured constants are carried over.

The paper does not say its Rényi order; ours is 2.
"""

from collections.abc import Mapping
from typing import Final

from lastiterate.numeric.published.record import run_of
from lastiterate.numeric.run import NoisySGD

SETTING: Final[Mapping[str, float]] = {
    "n": 5, "eta": 0.1, "sigma": 1.0, "K": 2.0, "D": 1.0, "L": 1.0, "m": 1.0, "lam": 1.0, "alpha": 2.0,
}  # fmt: skip
"""Its numbers, in the letters of the paper."""


def run_at(T: int) -> NoisySGD:
    """The run of the setting with this many steps."""
    return run_of({**SETTING, "T": T})
