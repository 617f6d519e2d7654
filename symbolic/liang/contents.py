"""The modules of the paper, in its order."""

from types import ModuleType
from typing import Final

from lastiterate.symbolic.liang import (
    algorithm_1,
    appendix_a,
    appendix_b,
    appendix_c_1,
    appendix_c_1_case_2,
    appendix_c_1_end,
    appendix_c_1_sums,
    appendix_c_2,
    appendix_c_2_ranges,
    appendix_c_3,
    appendix_c_3_ranges,
    appendix_e,
    appendix_e_1,
    lemma_3_2,
    lemma_3_7,
    proposition_3_12,
    section_2,
    section_4,
    table_1,
    theorem_3_3,
    theorem_3_4,
    theorem_3_4_earlier,
    theorem_3_4_versions,
    theorem_3_4_window,
)

__all__ = ["MODULES"]

MODULES: Final[tuple[ModuleType, ...]] = (
    table_1,
    section_2,
    algorithm_1,
    lemma_3_2,
    theorem_3_3,
    theorem_3_4,
    theorem_3_4_earlier,
    theorem_3_4_versions,
    theorem_3_4_window,
    lemma_3_7,
    proposition_3_12,
    section_4,
    appendix_a,
    appendix_b,
    appendix_c_1,
    appendix_c_1_case_2,
    appendix_c_1_sums,
    appendix_c_1_end,
    appendix_c_2,
    appendix_c_2_ranges,
    appendix_c_3,
    appendix_c_3_ranges,
    appendix_e_1,
    appendix_e,
)
"""One module a theorem, lemma or appendix."""
