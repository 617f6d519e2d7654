"""The modules of this paper, in its order."""

from types import ModuleType
from typing import Final

from lastiterate.symbolic.altschuler_talwar import appendix_a_4, appendix_b_1, appendix_b_3

__all__ = ["MODULES"]

MODULES: Final[tuple[ModuleType, ...]] = (appendix_a_4, appendix_b_1, appendix_b_3)
"""One module a theorem, lemma, remark or appendix."""
