"""Sources in the paper, and its letters.

The paper's Lipschitz constant L is K here, its smoothness M is L, and its noise sigma is sigma_DP.
"""

from functools import partial

from lastiterate.symbolic.derivations import statements
from lastiterate.symbolic.derivations.checks import windows
from lastiterate.symbolic.derivations.deductions import CLOSE, CONTRACTION, LIPSCHITZ
from lastiterate.symbolic.derivations.iterations import A
from lastiterate.symbolic.derivations.statements import APART, FACTOR, OTHER_MAP, mixed_step
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

T_STEPS: Final = RenyiBound(
    "noisy_sgd/composition, all noise", T * mixed_step(), (alpha > 1, b <= n), by=Sampled.MIXED, name="T steps"
)
"""T steps at the cost of a step between two mixtures with all of the noise."""

HALVES: Final = alpha * D**2 / (2 * eta**2 * (1 - beta) * sigma_dp**2)
"""alpha D^2/(2 eta^2 sigma_1^2), where the coin has the share beta of the noise."""


def mixed_window(losses: str, hidden: Expr, *given: Boolean) -> RenyiBound:
    """The last w steps: coins with a share beta of the noise, and the distance that the rest hides, at any order."""
    bound, given = w * mixed_step(beta) + hidden, (alpha > 1, b <= n, beta > 0, beta < 1, *given)
    return replace(
        T_STEPS, derivation=f"noisy_sgd/{losses}", bound=bound, given=given, at={tau: T - w}, name="w steps"
    )


def any_order(bound: Expr, *conditions: Any) -> ForAll:
    """The bound for every order, noise, split of the noise and window of 1 to T steps."""
    return private(bound, BatchesOf(b, n), Diameter(D), b <= n, w <= T, beta > 0, beta < 1, *conditions)


CONVEX: Final = mixed_window("convex, share", HALVES / w, eta * L <= 2)
CONTRACTS: Final = (m <= L, c >= 1 - eta * m, c >= eta * L - 1)
"""A step contracts by c."""
