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

at: Final = partial(Source, PAPERS["altschuler_talwar"])
"""The source of a claim: its number in the paper, and an equation or words of the line."""

_order = alpha <= largest_order(b / n, b * sigma_dp / (2 * sqrt(2) * K))
SMALL: Final = (b / n < Rational(1, 5), _order)
"""Small batches, and the orders of Lemma 2.12 at half of the variance."""

PRINTED: Final = (BatchesOf(b, n), Diameter(D), b <= n, sigma_dp > 8 * sqrt(2) * K / b, _order)
"""The conditions of the theorems on random batches, except the class of losses and the step size."""
