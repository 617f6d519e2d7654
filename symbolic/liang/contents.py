"""The modules of the paper, in its order."""

from types import ModuleType
from typing import Final

from lastiterate.symbolic.liang import (
    appendix_c_1,
    appendix_c_2,
    appendix_c_3,
    appendix_e_1,
    lemma_3_2,
    theorem_3_3,
    theorem_3_4,
    theorem_3_4_earlier,
    theorem_3_4_window,
)

__all__ = ["MODULES"]

MODULES: Final[tuple[ModuleType, ...]] = (
    lemma_3_2,
    theorem_3_3,
    theorem_3_4,
    theorem_3_4_earlier,
    theorem_3_4_window,
    appendix_c_1,
    appendix_c_2,
    appendix_c_3,
    appendix_e_1,
)
"""One module a theorem, lemma or appendix."""
