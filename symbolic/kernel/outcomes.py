"""Updates that are functions of the state and of an outcome, and outcomes that are projected at random.

Whatever a run keeps or releases of its outcomes may be counted to its state.
"""

from collections.abc import Iterable

from sympy import Expr, Ge, Gt, Le, S

from lastiterate.symbolic.kernel.applied import apply
from lastiterate.symbolic.kernel.composition import sound
from lastiterate.symbolic.kernel.judgement import Hypothesis, Span, UnprovedError, Variable, record
from lastiterate.symbolic.kernel.lemmas import CITES, Coin, noise, owed, shown
from lastiterate.symbolic.kernel.profiles import Equal, Gauss, Mean, Order, PoissonStep, Profile
from lastiterate.symbolic.kernel.projected import Projected, X
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.kernel.sealed import rule


@rule
def observe(kernel: Kernel, order: Order, step: Expr, outcome: Coin, revealed: Iterable[Variable] = ()) -> Span:
    """One update that is a function of the state and of an outcome: 0 -> 0 at the price S of the outcome.

    At one point x let O, O' be the laws of the outcome and U the update from x: K(x) and K'(x) of a set A are O and O'
    of the outcomes that U takes to A, and O(B) - g O'(B) <= E_g(O || O') <= S(g) for every set B.
    """
    function = Hypothesis("a state is a function, one for both runs, of the state before and of what the step observes")
    ends, still = (step, step + 1), (S.Zero, S.Zero)
    noisy = frozenset() if outcome.observed else {noise(outcome.variance)}
    hypotheses = outcome.hypotheses | owed(outcome) | {function} | noisy
    conditions = (*sound(outcome.profile), *outcome.conditions)
    made = apply(kernel, "observe", order, ends, still, outcome.profile, conditions, (), hypotheses)
    return record(made, scope=frozenset(revealed), cites=outcome.cites)


@rule
def projected_sample(
    rate: Expr, moved: Expr, spread: Expr, variance: Expr, dimension: Expr, load: Expr, hidden: Order | None = None
) -> Coin:
    """The pair (A, A^T g / sqrt(p) + xi): a sample that differs moves g by a vector h of length ``moved`` at most.

    A has p = ``dimension`` columns of independent N(0, ``spread``^2) entries and is drawn apart from data and state; xi
    is N(0, ``variance`` I). Given A two Gaussians are |A^T h| / sqrt(p) apart, and the columns of A have independent
    Gaussian products with h, so |A^T h|^2 is |h|^2 spread^2 X. A is part of the outcome, so that its price is the mean
    over A of what is given A, and that grows with |h|. ``load`` is at least (moved spread)^2 / (p variance).

    The sample is in the batch by a coin of chance ``rate``. It is revealed, unless this is the order, ``hidden``, of a
    sample that run 1 has and run 2 lacks: then the price given A is that of a `PoissonStep`.
    """
    if any(X in one.free_symbols for one in (rate, moved, spread, variance, dimension, load)):
        raise UnprovedError(f"The mean over {X} needs numbers that do not name it.")
    signs = (Gt(rate, 0), Le(rate, 1), Ge(moved, 0), Ge(load, 0), Gt(variance, 0))
    enough = Ge(load * dimension * variance, (moved * spread) ** 2)
    what = "run 1 has one sample more" if hidden else "one sample differs"
    says = f"{what}: in each batch with the first chance, where it moves the sum by at most the second"
    drawn = Hypothesis(
        "matrices of this many columns and entries of this standard deviation are fresh in every step and drawn apart "
        "from the data, and Gaussian noise of this variance is added after them",
        (dimension, spread, variance),
    )
    differs = Hypothesis(says, (rate, moved), symmetric=hidden is None)
    if hidden:
        profile: Profile = Projected(PoissonStep(rate, load * X, hidden), dimension, hidden)
    else:
        there = Projected(Gauss(load * X), dimension)
        profile = there if rate == 1 else Mean(((rate, there), (1 - rate, Equal())))
    supposed = frozenset({drawn, differs})
    return shown(Coin(profile, hypotheses=supposed, conditions=(*signs, enough), cites=CITES, observed=True))
