"""The modules of the paper, in its order."""

from types import ModuleType
from typing import Final

from lastiterate.symbolic.d2p2 import (
    algorithm_1,
    appendix_a_5,
    appendix_a_8,
    corollary_1,
    corollary_2,
    lemma_4,
    lemma_5,
    lemma_5_range,
    theorem_1,
    theorem_2,
    theorem_2_steps,
    theorem_3,
)

__all__ = ["MODULES"]

MODULES: Final[tuple[ModuleType, ...]] = (
    algorithm_1,
    theorem_1,
    lemma_4,
    lemma_5,
    lemma_5_range,
    theorem_2,
    theorem_2_steps,
    corollary_1,
    appendix_a_5,
    theorem_3,
    corollary_2,
    appendix_a_8,
)
"""One module a theorem, lemma, corollary or appendix."""
