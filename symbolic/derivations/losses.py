"""Classes of losses: how far apart one update leaves two points, in the words of the kernel.

Each is a formula of `lastiterate.symbolic.formulas.update`, with the claims that show it for every loss of the class in
every dimension.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from sympy import Eq, Expr, Function, Ge, Le, Piecewise, S, Symbol
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.formulas import update
from lastiterate.symbolic.kernel.judgement import Hypothesis
from lastiterate.symbolic.kernel.lemmas import Expansion, Guide, shown, supposing
from lastiterate.symbolic.kernel.sealed import genuine, rule
from lastiterate.symbolic.notation import K, L, eta, lam, m, n, s

_z: Final = Symbol("z", nonnegative=True)
omega: Final = Function("omega", nonnegative=True)
"""Of a distance: the most by which two gradients differ."""

_COCOERCIVE: Final = "interpolation of smooth convex losses: Nesterov 2004, Theorems 2.1.5 and 2.1.12"
_TRIANGLE: Final = "a mean of vectors is no longer than the mean of their lengths"


@dataclass(frozen=True)
class Losses:
    """A class of losses whose gradients, perhaps clipped, are no longer than K.

    Attributes:
        says: what is supposed of every loss.
        constants: the constants that it names.
        lemmas: keys of claims, and cited mathematics.
        modulus: the most by which gradients z apart differ before clipping; None for convex losses.
        least: the least curvature of convex losses, which are L-smooth.
    """

    says: str
    constants: tuple[Expr, ...]
    lemmas: tuple[str, ...]
    modulus: Expr | None = None
    least: Expr = S.Zero

    @rule
    def same_data(self, low: Expr, high: Expr) -> Expansion:
        """One map of one data set: a step along the mean gradient, its size between ``low`` and ``high``."""
        return self._expansion(self._after(low, high), Guide.OWN, Ge(low, 0), Le(low, high))

    @rule
    def other_data(self, eta: Expr, b: Expr, k: Expr) -> Expansion:
        """The maps of two data sets, where k of the b samples of a batch are replaced: k is 0 or 1."""
        common = self._after(eta, eta) if self.modulus is None else self._after(S.Zero, eta * (b - k) / b)
        after, conditions = common + k * update.sensitivity(eta, K, b), (Ge(eta, 0), Ge(k, 0), Le(k, 1))
        made = self._expansion(after, Guide.OTHER, *conditions)
        return _beside(made, replaced(k, b), "ours/expansions/sensitivity")

    def in_any_batch(self, eta: Expr, b: Expr) -> Expansion:
        """The maps of two data sets, one sample replaced, whether a batch of b has it or not."""
        without, inside = (self.other_data(eta, b, k) for k in (S.Zero, S.One))
        made = no_less(without, inside.after)
        return supposing(made, *inside.hypotheses)

    @rule
    def one_more(self, low: Expr, high: Expr, moved: Expr) -> Expansion:
        """The maps of two data sets of which one has a sample more, in the batch or not; steps as in `same_data`."""
        made = self._expansion(self._after(low, high) + moved, Guide.OTHER, Ge(low, 0), Le(low, high), Ge(moved, 0))
        sampled = Hypothesis("one run has one sample more, which moves the mean by at most this", (moved,))
        return _beside(made, sampled)

    def affine(self, c: Expr) -> Expansion:
        """z -> c z + s for full batches, where that is no less than the expansion of the class; s is a letter."""
        return no_less(self.other_data(eta, n, S.One), c * _z + s)

    def _after(self, low: Expr, high: Expr) -> Expr:
        if self.modulus is not None:
            return update.same_batch(_z, self.modulus, high, K)
        return update.strongly_convex_over_sizes(S.One, L, self.least, S.One, low, high) * _z

    def _expansion(self, after: Expr, guide: Guide, *conditions: Boolean) -> Expansion:
        curved = () if self.modulus is not None else (Le(self.least, L),)
        supposed = frozenset({Hypothesis(self.says, self.constants)})
        made = Expansion(_z, after, guide, self.lemmas, supposed, (*conditions, *curved))
        known = any(self is one for one in LOSSES.values())  # claims of the ledger show those and no others
        return shown(made) if known else made


def _beside(made: Expansion, supposed: Hypothesis, *lemmas: str) -> Expansion:
    """A draft of an expansion that supposes and cites more."""
    more = replace(made, hypotheses=made.hypotheses | {supposed}, lemmas=(*made.lemmas, *lemmas))
    return shown(more) if made.is_shown else more


def replaced(k: Expr, b: Expr) -> Hypothesis:
    """k of the b samples of a batch differ in the two data sets."""
    return Hypothesis("so many of so many samples of a batch are replaced: one or none", (k, b))


@rule
def no_less(expansion: Expansion, after: Expr) -> Expansion:
    """z -> ``after``, a function of the same z, where that is no less than the expansion."""
    made = replace(expansion, after=after, conditions=(*expansion.conditions, Ge(after, expansion.after)))
    return shown(made) if genuine(expansion) else made


_MODULUS: Final = ("ours/expansions/projection", "ours/expansions/modulus", _TRIANGLE)

LOSSES: Final[Mapping[str, Losses]] = MappingProxyType(
    {
        "clipped": Losses("gradients are clipped at K", (K,), _MODULUS, Piecewise((S.Zero, Eq(_z, 0)), (2 * K, True))),
        "smooth": Losses("every loss is L-smooth, and gradients are clipped at K", (L, K), _MODULUS, L * _z),
        "Hoelder": Losses(
            "gradients of every loss are (L, lambda)-Hoelder, and clipped at K", (L, lam, K), _MODULUS, L * _z**lam
        ),
        "modulus": Losses(
            "gradients at points z apart differ by at most omega(z), nondecreasing, and are clipped at K",
            (omega(_z), K),
            _MODULUS,
            omega(_z),
        ),
        "convex": Losses(
            "every loss is convex and L-smooth, and no gradient is longer than K",
            (L, K),
            ("ours/expansions/convex", _COCOERCIVE, _TRIANGLE),
        ),
        "strongly convex": Losses(
            "every loss is m-strongly convex and L-smooth, and no gradient is longer than K",
            (m, L, K),
            ("ours/expansions/strongly_convex", _COCOERCIVE, _TRIANGLE),
            least=m,
        ),
    }
)
"""The classes for which derivations are made."""
