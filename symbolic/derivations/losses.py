"""Classes of losses, with the distance between two points after an update, and steps of several derivations.

Each distance is a formula of `formulas.update` that claims prove for every loss of the class and dimension.
"""

from functools import wraps

from sympy import Max

from lastiterate.symbolic.checks import NormBound
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.formulas import update
from lastiterate.symbolic.kernel.prelude import *
from lastiterate.symbolic.ledger import known
from lastiterate.symbolic.notation import D, Delta, K, L, T, c, eta, lam, m, n, s, t, tau, w
from lastiterate.symbolic.vectors import Vector

_z, _size = symbols("z size", nonnegative=True)
omega: Final = Function("omega", nonnegative=True)
"""The largest difference between two gradients, as a function of the distance between the points."""
psi: Final = Function("psi", nonnegative=True)
"""The largest distance after a step, as a function of the step size and the distance before."""

j: Final = Symbol("j", integer=True, nonnegative=True)
"""The number of a step in an induction."""
Run = tuple[Expr, Expr, Expr]
"""The first step, the distance before this step, and the number of steps."""

_COCOERCIVE: Final = "interpolation of smooth convex losses: Nesterov 2004, Theorems 2.1.5 and 2.1.12"
_TRIANGLE: Final = "a mean of vectors is no longer than the mean of their lengths"


@dataclass(frozen=True)
class Losses:
    """A class of losses with (clipped) gradients of length at most K: its hypothesis and its constants.

    ``modulus`` is a bound on the difference between unclipped gradients at points z apart; None for convex
    losses, which are L-smooth with curvature at least ``least``, and for losses of which only the largest
    distance after a step is known, ``carries``. ``lemmas`` are keys of claims and cited mathematics.
    """

    says: str
    constants: tuple[Expr, ...]
    lemmas: tuple[str, ...]
    modulus: Expr | None = None
    least: Expr = S.Zero
    carries: Callable[[Expr, Expr], Expr] | None = None

    @rule
    def same_data(self, low: Expr, high: Expr) -> Expansion:
        """The map of one data set: a step of size between ``low`` and ``high`` along the mean gradient."""
        return self._expansion(self._after(low, high), Guide.OWN, (Ge(low, 0), Le(low, high)))

    @rule
    def other_data(self, eta: Expr, b: Expr, k: Expr) -> Expansion:
        """The maps of two data sets if k of the b samples of a batch are replaced, 0 <= k <= b."""
        common = self._after(eta, eta) if self._curved else self._after(S.Zero, eta * (b - k) / b)
        after, conditions = (
            common + k * update.step_sensitivity(eta, K, b),
            (Ge(eta, 0), Gt(b, 0), Ge(k, 0), Le(k, b)),
        )
        return self._expansion(after, Guide.OTHER, conditions, replaced(k, b), "ours/expansions/sensitivity")

    def in_any_batch(self, eta: Expr, b: Expr) -> Expansion:
        """The maps of two data sets if one sample, in the batch of b samples or not, is replaced."""
        without, inside = (self.other_data(eta, b, k) for k in (S.Zero, S.One))
        larger = inside.after if self.carries is None else Max(without.after, inside.after)
        return supposing(no_less(without, larger), *inside.hypotheses)

    @rule
    def one_more(self, low: Expr, high: Expr, moved: Expr) -> Expansion:
        """The maps of two data sets, one with an additional sample that can be in the batch; see `same_data`."""
        sampled = Hypothesis("one run has one sample more, which moves the mean by at most this", (moved,))
        conditions = (Ge(low, 0), Le(low, high), Ge(moved, 0))
        return self._expansion(self._after(low, high) + moved, Guide.OTHER, conditions, sampled)

    def affine(self, c: Expr) -> Expansion:
        """z -> c z + s for full batches, with a letter s, if this is at least the expansion of the class."""
        return no_less(self.other_data(eta, n, S.One), c * _z + s)

    @property
    def _curved(self) -> bool:
        return self.modulus is None and self.carries is None

    def _after(self, low: Expr, high: Expr) -> Expr:
        if self.carries is not None:
            return self.carries(high, _z)
        if self.modulus is not None:
            return update.same_batch(_z, self.modulus, high, K)
        return update.strongly_convex_over_sizes(S.One, L, self.least, S.One, low, high) * _z

    def _expansion(
        self,
        after: Expr,
        guide: Guide,
        conditions: tuple[Boolean, ...],
        also: Hypothesis | None = None,
        *lemmas: str,
    ) -> Expansion:
        curved = (Le(self.least, L),) if self._curved else ()
        supposed = frozenset({Hypothesis(self.says, self.constants), *((also,) if also else ())})
        made = Expansion(_z, after, guide, (*self.lemmas, *lemmas), supposed, (*conditions, *curved))
        known = any(self is one for one in LOSSES.values())  # claims of the ledger show only those
        return shown(made) if known else made


def replaced(k: Expr, b: Expr) -> Hypothesis:
    """The hypothesis that k of the b samples of a batch differ in the two data sets."""
    return Hypothesis("k of the b samples of a batch are replaced; (k, b) is", (k, b))


@rule
def no_less(expansion: Expansion, after: Expr) -> Expansion:
    """The expansion z -> ``after``, a function of the same z that is at least ``expansion``."""
    made = replace(expansion, after=after, conditions=(*expansion.conditions, Ge(after, expansion.after)))
    return shown(made, expansion)


_MODULUS: Final = ("ours/expansions/projection", "ours/expansions/modulus", _TRIANGLE)

_HOELDER: Final = "gradients of every loss are (L, lambda)-Hoelder, and clipped at K"
_ANY: Final = "gradients at points z apart differ by at most omega(z), nondecreasing, and are clipped at K"
_STEPS: Final = (
    "a step of some size along the mean of (clipped) gradients takes points z apart to points at most psi(size, z) "
    "apart, psi is nondecreasing in both, and no gradient is longer than K; (psi(size, z), K) is"
)
_CONVEX: Final = "every loss is convex and L-smooth, and no gradient is longer than K"
_STRONG: Final = "every loss is m-strongly convex and L-smooth, and no gradient is longer than K"

LOSSES: Final[Mapping[str, Losses]] = MappingProxyType(
    {
        "clipped": Losses(
            "gradients are clipped at K", (K,), _MODULUS, Piecewise((S.Zero, Eq(_z, 0)), (2 * K, True))
        ),
        "smooth": Losses("every loss is L-smooth, and gradients are clipped at K", (L, K), _MODULUS, L * _z),
        "Hoelder": Losses(_HOELDER, (L, lam, K), _MODULUS, L * _z**lam),
        "modulus": Losses(_ANY, (omega(_z), K), _MODULUS, omega(_z)),
        "steps": Losses(_STEPS, (psi(_size, _z), K), (), carries=psi),
        "convex": Losses(_CONVEX, (L, K), ("ours/expansions/convex", _COCOERCIVE, _TRIANGLE)),
        "strongly convex": Losses(
            _STRONG, (m, L, K), ("ours/expansions/strongly_convex", _COCOERCIVE, _TRIANGLE), least=m
        ),
    }
)
"""The classes of losses of the package, whose expansions the claims of the ledger prove."""


def from_step_0(kernel: Kernel, later: Span) -> Span:
    """Extend ``later``, which begins at the distance 0 or the diameter, to begin at step 0."""
    if later.near == 0:
        return later
    return kernel.chain(kernel.domain(later.order, (S.Zero, later.start), S.Zero, later.near), later)


def each_step(
    start: Expr,
    carried: Expansion,
    shift: Shift,
    variance: Expr,
    coin: Coin | None = None,
    *,
    order: Order = Order.FIRST,
    revealed: tuple[Variable, ...] = (),
    drawn: Variable | None = None,
) -> Callable[[Kernel, Expr, Expr], Span]:
    """Step ``start`` + j of an induction, averaged over the variable ``drawn``."""

    def step(kernel: Kernel, near: Expr, far: Expr) -> Span:
        given = (drawn, *revealed) if drawn else revealed
        made = kernel.step(order, start + j, (near, far), carried, shift, variance, coin, given)
        return kernel.mean(drawn, ((S.One, made),)) if drawn else made

    return step


def both_orders(kernel: Kernel, first: Span) -> Guarantee:
    """The guarantee from a derivation whose hypotheses are symmetric in the runs."""
    return Guarantee(first, kernel.exchange(first))


def each_order(side: Callable[..., Span]) -> Callable[..., Guarantee]:
    """Turn a derivation whose last argument is ``order`` into a guarantee, by deriving each order."""

    @wraps(side)
    def both(*args: Any) -> Guarantee:
        return Guarantee(side(*args, order=Order.FIRST), side(*args, order=Order.SECOND))

    return both


@rule
def from_equal_points(
    guide: Guide, after: Expr = S.Zero, lemmas: tuple[str, ...] = (), hypotheses: tuple[Hypothesis, ...] = ()
) -> Expansion:
    """An update from equal points: 0 -> ``after``, for all losses.

    Under the run's own map the points stay equal. For the other run's map, hypotheses can bound the distance.
    """
    made = Expansion(_z, Piecewise((after, Eq(_z, 0)), (oo, True)), guide, lemmas, frozenset(hypotheses))
    return shown(made) if guide is Guide.OWN and after == 0 else made


@rule
def moved_apart(s: Expr) -> Expansion:
    """An update from equal points: 0 -> s, if a hypothesis bounds the distance after the update by s."""
    moved = Hypothesis("the maps of the two runs carry one point to points at most this far apart", (s,))
    return shown(from_equal_points(Guide.OTHER, s, ("ours/expansions/sensitivity",), (moved,)))


@rule
def unmoved(step: Expr) -> Expansion:
    """An update from equal points: 0 -> 0, if no sample of the batch is replaced, so both maps are equal."""
    same = Hypothesis("no sample of the batch of this step is replaced", (step,))
    return shown(replace(from_equal_points(Guide.OTHER, hypotheses=(same,)), step=step))


@rule
def by_claim(claim: Claim, z: Symbol) -> Expansion:
    """The expansion that a user's claim proves by its only `NormBound`; z is the claim's letter for the distance.

    The bound's assumptions on vectors concern the difference between the two states after the maps of a step,
    for points at most z apart. The assumptions on numbers, of the bound and of the claim, are conditions.

    Raises:
        UnprovedError: the claim has no `NormBound` or more than one, or is in no list of claims.
    """
    if known(claim.key) is not claim:
        raise UnprovedError(f"An expansion needs a claim in CLAIMS, got {claim.key}; add the claim.")
    bounds = [check for check in claim.checks if isinstance(check, NormBound)]
    if len(bounds) != 1:
        raise UnprovedError(
            f"An expansion needs a claim with one NormBound, got {claim.key} with {len(bounds)}."
        )
    (check,) = bounds
    of_vectors = sorted((one for one in check.given if one.has(Vector)), key=str)
    where = " and ".join(map(str, of_vectors))
    named = {
        one for part in (check.vector, *of_vectors) for one in part.free_symbols if not isinstance(one, Vector)
    }
    letters = (z, *sorted(named - {z}, key=str))
    says = (
        f"points at most {z} apart differ after the maps of a step by {check.vector}, where {where}; "
        f"({', '.join(map(str, letters))}) is"
    )
    numbers = tuple(one for one in (*check.given, *claim.assumptions) if not one.has(Vector))
    supposed = frozenset({Hypothesis(says, letters, over=(z,))})
    return shown(Expansion(z, check.bound, Guide.OTHER, (claim.key,), supposed, numbers))


Derivation = Callable[[Kernel], Guarantee]

AFFINE: Final = {"convex": S.One, "strongly convex": c, "smooth": c}
"""Classes of losses for which full batches take z to c z + s, and the constant c."""

GROWING: Final = ("modulus", "convex", "strongly convex", "steps")

PARTS: Final = {
    "from 0": (S.Zero, S.Zero, T),
    "from the domain": (tau, D, w),
    "tracked from 0": (tau, Delta, w),
    "tracked from the domain": (tau + t, Delta, w),
}
"""The whole run, or w steps after other steps, as a `Run`. Delta is a tracked distance."""

UNTRACKED: Final = {name: run for name, run in PARTS.items() if Delta not in run}


def by_losses(
    kind: str,
    made: Callable[..., Guarantee],
    runs: Mapping[str, tuple[Any, ...]],
    classes: Iterable[str] = tuple(LOSSES),
) -> dict[str, Derivation]:
    """A derivation for every class of losses and every run."""

    def derivation(losses: str, run: tuple[Any, ...], kernel: Kernel) -> Guarantee:
        return made(kernel, LOSSES[losses], *run)

    return {
        f"{kind}/{losses}{', ' if name else ''}{name}": partial(derivation, losses, run)
        for losses in classes
        for name, run in runs.items()
    }


fix(__name__)
