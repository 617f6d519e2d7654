"""Privacy theorems as derivations: functions of a kernel that apply its rules in the order of the proof.

Each function returns a guarantee for both orders. The letters are those of `lastiterate.symbolic.notation`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from lastiterate.symbolic.derivations import (
    contraction,
    iterations,
    known_batches,
    momentum,
    noisy_sgd,
    random_batches,
    shared_noise,
)
from lastiterate.symbolic.derivations.iterations import TRACKED as TRACKED
from lastiterate.symbolic.derivations.losses import Derivation

DERIVATIONS: Final[dict[str, Derivation]] = {
    **known_batches.TABLE,
    **shared_noise.TABLE,
    **random_batches.TABLE,
    **iterations.TABLE,
    **noisy_sgd.TABLE,
    **contraction.TABLE,
    **momentum.TABLE,
}
"""The derivations by the names that claims use."""

OF_PACKAGE: Final[Mapping[str, Any]] = MappingProxyType({**DERIVATIONS, **TRACKED})
"""The package's own derivations, the hypotheses of which the lock file records; users can add others to
`DERIVATIONS`, but not here."""
