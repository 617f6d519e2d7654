"""Random batches before the first shift: distances that are tracked at no price.

Whether a batch has the sample that differs is revealed and averaged over, so that both runs make steps with one batch:
they cost nothing, and a distance grows as it does for two data sets.
"""

from sympy import Expr, Ge, Le, S, Symbol, symbols
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.derivations.losses import Losses
from lastiterate.symbolic.derivations.parts import from_step_0
from lastiterate.symbolic.formulas import update
from lastiterate.symbolic.kernel.induction import Induction, Sequence
from lastiterate.symbolic.kernel.judgement import Hypothesis, Span, Variable
from lastiterate.symbolic.kernel.lemmas import Expansion, no_shift, supposing
from lastiterate.symbolic.kernel.profiles import Equal
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.notation import D, K, b, t, w

_j, _l = (Symbol(name, integer=True, nonnegative=True) for name in "jl")
_eta, _v = symbols("eta_j v_j", real=True)
N_0 = Symbol("N_0", integer=True, nonnegative=True)
"""Number of blocks that are tracked."""


def tracked(kernel: Kernel, later: Span, carried: Expansion, letters: tuple[Symbol, ...], *laws: Boolean) -> Span:
    """``later`` from step 0 on: x_{j+1} is at least e_j(x_j) and 0, and the last x at most its distance.

    x_0 is 0 at step 0, or the diameter of the domain t steps before ``later``.
    """
    x, following, x_m = symbols("x_j x_next x_m", real=True)
    begins, count = (later.start - t, t) if later.start.has(t) else (S.Zero, later.start)
    steps = Induction(
        kernel,
        _j,
        count,
        (Sequence(x, D if later.start.has(t) else S.Zero, following, x_m),),
        keeps=(Ge(x, 0),),
        letters=(following, _eta, _v, *letters),
        laws=(Ge(following, 0), Ge(_eta, 0), Ge(_v, 0), *laws, Ge(following, carried.at(x))),
        ends=(Le(x_m, later.near),),
    )

    def step(inner: Kernel, near: Expr, far: Expr) -> Span:
        return _one_batch(inner, later, begins + _j, (near, far), carried)

    before = steps.close(steps.span(begins, x, Equal(), step, far=later.near))
    return from_step_0(kernel, kernel.chain(before, later))


def tracked_blocks(kernel: Kernel, losses: Losses, later: Span, sized: Hypothesis, k: Symbol) -> Span:
    """``later`` from step 0 on, after N_0 blocks of w steps: X_{l+1} is at least C_l X_l + w s.

    X_0 is 0, or the diameter of the domain where steps come before them. Within a block a distance stays below
    P_j X + j s, P_j the product of the contractions of its batches of k samples, and s is at least what a sample moves.
    """
    product, product_next, product_w = symbols("P_j P_next P_w", real=True)
    s = Symbol("s", nonnegative=True)
    distance, following, last, contraction = symbols("X_l X_next X_m C_l", real=True)
    weight, moved, begins = _eta * k / b, update.moved(_eta, K, b), later.start - N_0 * w
    carried, factor = losses.one_more(weight, weight, moved), losses.same_data(weight, weight)
    carried = supposing(carried, sized)

    def block(outer: Kernel, near: Expr, far: Expr) -> Span:
        steps = Induction(
            outer,
            _j,
            w,
            (Sequence(product, S.One, product_next, product_w),),
            keeps=(Ge(product, 0),),
            letters=(product_next, _eta, _v, k),
            laws=(
                *(Ge(one, 0) for one in (_eta, _v, k, product_next)),
                Ge(s, moved),
                Le(factor.at(S.One), 1),
                Ge(product_next, factor.at(product)),
            ),
            ends=(Le(product_w, contraction), Ge(far, contraction * near + w * s)),
        )

        def step(inner: Kernel, before: Expr, after: Expr) -> Span:
            return _one_batch(inner, later, begins + _l * w + _j, (before, after), carried)

        return steps.close(steps.span(begins + _l * w, product * near + _j * s, Equal(), step, far=far))

    over = Induction(
        kernel,
        _l,
        N_0,
        (Sequence(distance, S.Zero if begins == 0 else D, following, last),),
        keeps=(Ge(distance, 0),),
        letters=(following, contraction, product_w),
        laws=(Ge(following, 0), Ge(contraction, 0)),
        ends=(Le(last, later.near),),
    )
    before = over.close(over.span(begins, distance, Equal(), block, far=later.near, length=w))
    return from_step_0(kernel, kernel.chain(before, later))


def _one_batch(kernel: Kernel, later: Span, step: Expr, ends: tuple[Expr, Expr], carried: Expansion) -> Span:
    """A step of both runs with one batch, which is averaged over where ``later`` does not leave the others revealed."""
    coin = Variable("the batch" if not later.scope else "whether the batch has the sample that differs", step)
    made = kernel.step(later.order, step, ends, carried, no_shift(), _v, revealed=(coin, *later.scope))
    return kernel.mean(coin, ((S.One, made),))
