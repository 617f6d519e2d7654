"""Lines that several derivations share."""

from sympy import Eq, Expr, Piecewise, S, Symbol, oo

from lastiterate.symbolic.checks import NormBound
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.kernel.judgement import Guarantee, Hypothesis, Span, UnprovedError
from lastiterate.symbolic.kernel.lemmas import Expansion, Guide, shown
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.kernel.sealed import rule
from lastiterate.symbolic.ledger import known
from lastiterate.symbolic.vectors import Vector

_z = Symbol("z", nonnegative=True)


def from_step_0(kernel: Kernel, later: Span) -> Span:
    """``later`` from step 0 on: where it begins from a distance, that is the diameter of the domain until then."""
    if later.near == 0:
        return later
    return kernel.chain(kernel.domain(later.order, (S.Zero, later.start), S.Zero, later.near), later)


def both_orders(kernel: Kernel, first: Span) -> Guarantee:
    """The guarantee of a derivation that supposes the same of both runs."""
    return Guarantee(first, kernel.exchange(first))


@rule
def from_equal_points(
    guide: Guide, after: Expr = S.Zero, lemmas: tuple[str, ...] = (), hypotheses: tuple[Hypothesis, ...] = ()
) -> Expansion:
    """An update at one point: 0 -> ``after``, whatever the losses are; of two points nothing is said.

    With the map of the run itself the two are one point. Else that is to be shown: a hypothesis may say it.
    """
    made = Expansion(_z, Piecewise((after, Eq(_z, 0)), (oo, True)), guide, lemmas, frozenset(hypotheses))
    return shown(made) if guide is Guide.OWN and after == 0 else made


@rule
def moved_apart(s: Expr) -> Expansion:
    """An update at one point: 0 -> s, where a hypothesis says that it leads two runs at most that far apart."""
    moved = Hypothesis("the maps of the two runs carry one point to points at most this far apart", (s,))
    return shown(from_equal_points(Guide.OTHER, s, ("ours/expansions/sensitivity",), (moved,)))


@rule
def unmoved(step: Expr) -> Expansion:
    """An update at one point: 0 -> 0, where no sample of its batch is replaced, so that both runs have one map."""
    same = Hypothesis("no sample of the batch of this step is replaced", (step,))
    return shown(from_equal_points(Guide.OTHER, hypotheses=(same,)))


@rule
def by_claim(claim: Claim, z: Symbol) -> Expansion:
    """The expansion that a claim of one's own shows by its only `NormBound`; z is its letter for the distance.

    What the bound supposes of vectors is supposed of the difference of the two states after the maps of a step, for
    points at most z apart; what it supposes of numbers, and the claim assumes, is a condition.

    Raises:
        UnprovedError: there is no such check, or more than one, or no list of claims has the claim.
    """
    if known(claim.key) is not claim:
        raise UnprovedError(f"An expansion needs a claim that is decided, got {claim.key}, which is not among CLAIMS.")
    bounds = [check for check in claim.checks if isinstance(check, NormBound)]
    if len(bounds) != 1:
        raise UnprovedError(f"An expansion needs a claim with one NormBound, got {claim.key} with {len(bounds)}.")
    (check,) = bounds
    of_vectors = sorted(str(one) for one in check.given if one.has(Vector))
    says = f"points at most z apart differ after the maps of a step by {check.vector}, where {' and '.join(of_vectors)}"
    numbers = tuple(one for one in (*check.given, *claim.assumptions) if not one.has(Vector))
    supposed = frozenset({Hypothesis(says, (z,))})
    return shown(Expansion(z, check.bound, Guide.OTHER, (claim.key,), supposed, numbers))
