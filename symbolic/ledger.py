"""Every claim, in the order of the paper; what the solvers rest on comes last.

The tuple is explicit and a test compares it with the files: a module that is not listed is not checked, and
nothing registers itself on import.

>>> CLAIMS[0].key
'chien_li/definition_2_1/gaussians'
"""

from types import ModuleType
from typing import Final

from lastiterate.symbolic.altschuler_talwar import contents as altschuler_talwar_contents
from lastiterate.symbolic.chien_li import (
    appendix_a_13,
    appendix_a_14,
    appendix_a_15,
    corollary_a_3,
    definition_2_1,
    definition_2_5,
    definition_2_7,
    lemma_2_3,
    lemma_2_4,
    lemma_3_2,
    lemma_3_3,
    lemma_3_4,
    lemma_3_5,
    lemma_3_5_closed_form,
    lemma_3_8,
    lemma_3_9,
    lemma_3_10,
    lemma_a_2,
    proof_3_1,
    proof_3_1_conditioning,
    remarks_3_1,
    remarks_3_1_last_step,
    section_5,
    theorem_3_1,
    theorem_3_1_direct,
    theorem_3_1_direct_optimum,
    theorem_3_1_gdp,
    theorem_3_1_shares,
    theorem_3_1_window,
    theorem_3_7,
    theorem_3_12,
    theorem_a_1,
)
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.d2p2 import contents as d2p2_contents
from lastiterate.symbolic.liang import contents as liang_contents
from lastiterate.symbolic.ours import (
    certified,
    clipped_scores,
    conversion,
    cyclic,
    encounters,
    kinks,
    layers,
    pld,
    poisson,
    projection,
    sampled,
    shuffled,
    taut_string,
    value_iteration,
)

__all__ = ["CLAIMS", "MODULES"]

MODULES: Final[tuple[ModuleType, ...]] = (
    definition_2_1,
    lemma_2_3,
    lemma_2_4,
    definition_2_5,
    definition_2_7,
    theorem_3_1,
    remarks_3_1,
    remarks_3_1_last_step,
    lemma_3_2,
    lemma_3_3,
    lemma_3_4,
    lemma_3_5,
    lemma_3_5_closed_form,
    proof_3_1,
    proof_3_1_conditioning,
    theorem_3_1_shares,
    theorem_3_1_direct,
    theorem_3_1_direct_optimum,
    theorem_3_1_window,
    theorem_3_1_gdp,
    theorem_3_7,
    lemma_3_8,
    lemma_3_9,
    lemma_3_10,
    theorem_3_12,
    section_5,
    theorem_a_1,
    lemma_a_2,
    corollary_a_3,
    appendix_a_13,
    appendix_a_14,
    appendix_a_15,
    *altschuler_talwar_contents.MODULES,
    *liang_contents.MODULES,
    *d2p2_contents.MODULES,
    taut_string,
    value_iteration,
    kinks,
    cyclic,
    encounters,
    clipped_scores,
    sampled,
    pld,
    conversion,
    poisson,
    projection,
    shuffled,
    certified,
    layers,
)
"""One module a theorem, lemma, remark or appendix."""

CLAIMS: Final[tuple[Claim, ...]] = tuple(claim for module in MODULES for claim in module.CLAIMS)
"""All claims; within a module the statement first, then the steps, then what is ours."""
