"""Sources in the paper, and its letters.

The paper's Lipschitz constant L is K here, its smoothness M is L, and its noise sigma is sigma_DP.
"""

from functools import partial

from lastiterate.symbolic.derivations import statements
from lastiterate.symbolic.derivations.checks import windows
from lastiterate.symbolic.derivations.deductions import CLOSE, CONTRACTION, LIPSCHITZ
from lastiterate.symbolic.derivations.iterations import A
from lastiterate.symbolic.derivations.statements import APART, FACTOR, OTHER_MAP
from lastiterate.symbolic.kernel.renyi import largest_order
from lastiterate.symbolic.prelude import *
from lastiterate.symbolic.vector_steps import (
    MAP_LETTERS,
    PROJECTED_LETTERS,
    REPLACED_LETTERS,
    X,
    Y,
    noisy_map,
    projected_map,
    replaced_sample,
    step,
)
from lastiterate.symbolic.windows import ANY_SHIFTS

at: Final = partial(Source, PAPERS["altschuler_talwar"])
