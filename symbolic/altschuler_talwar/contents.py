"""The modules of this paper, in its order."""

from types import ModuleType
from typing import Final

from lastiterate.symbolic.altschuler_talwar import (
    appendix_a_4,
    appendix_b_1,
    appendix_b_2,
    appendix_b_3,
    definition_2_10,
    lemma_2_12,
    proof_3_1,
    proof_3_1_loss,
    section_1,
    section_2_2,
    section_2_4,
    section_5_1,
    section_5_2,
    section_5_3,
    theorem_3_1,
    theorem_4_1,
    theorem_5_1,
)

__all__ = ["MODULES"]

MODULES: Final[tuple[ModuleType, ...]] = (
    section_1,
    section_2_2,
    definition_2_10,
    lemma_2_12,
    section_2_4,
    theorem_3_1,
    proof_3_1,
    proof_3_1_loss,
    theorem_4_1,
    theorem_5_1,
    section_5_1,
    section_5_2,
    section_5_3,
    appendix_a_4,
    appendix_b_1,
    appendix_b_2,
    appendix_b_3,
)
"""One module a theorem, lemma, remark or appendix."""
