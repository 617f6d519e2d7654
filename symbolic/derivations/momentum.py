"""Momentum with full batches: shifts that hide the distances of states with a present and a previous point.

A step that shifts its noise by a takes the distances (z, y) to (z', z) with z' >= e - a. Here e is (1 + beta) e'(z) +
beta y for a heavy ball, and e'((1 + beta) z + beta y) if gradients are taken ahead (Nesterov), and e' is the expansion
of the step without momentum, of size eta / (1 + beta) or eta. Blocks of steps end at equal states, the run at equal
points.
"""

from lastiterate.symbolic.derivations.contraction import ABOVE, BEGINS, T_0, chain_of_blocks, ell, far, near
from lastiterate.symbolic.derivations.known_batches import any_steps
from lastiterate.symbolic.derivations.losses import *
from lastiterate.symbolic.kernel.prelude import *
from lastiterate.symbolic.notation import D, T, beta, t, tau, w

KINDS: Final = {"heavy ball": False, "Nesterov": True}
"""The methods, and whether they take gradients ahead of the point."""

CLASSES: Final = ("convex", "steps")
"""Classes of losses; the second one contains all others."""

first, last_near, last_far = symbols("A_0 A_near A_far", real=True)
"""The costs of paths for the first steps, and for the last steps from equal states and from the diameter."""


def hide_states(
    kernel: Kernel, losses: Losses, ahead: bool, run: Run, end: Expr, cost: Expr, path: str
) -> Span:
    """mu^2 = ``cost`` for steps tau, ..., tau + m - 1 with shifts that take (z_0, z_0) to (0, ``end``)."""
    begins, start, m = run
    names = "z_j z_next z_m y_j y_m A_j A_m a_j v_j".replace(" ", f"{path} ") + path
    z, after, z_m, y, y_m, A_j, A_m, a, v = symbols(names, real=True)
    plain, letters, laws = any_steps(losses)
    carried = with_momentum(plain, beta, y, ahead=ahead)

    def step(inner: Kernel, *_: Expr) -> Span:
        made = inner.step(Order.FIRST, begins + j, (z, after), carried, gaussian_shift(a, v), v)
        return remember(inner, made, y)

    steps = StepInduction(
        kernel,
        j,
        m,
        (
            Sequence(z, start, after, z_m),
            Sequence(y, start, z, y_m),
            Sequence(A_j, S.Zero, A_j + a**2 / v, A_m),
        ),
        keeps=(Ge(z, 0), Ge(y, 0), Ge(A_j, 0)),
        letters=(after, a, v, *letters),
        laws=(Ge(after, 0), Ge(a, 0), Gt(v, 0), *laws, Ge(after, carried.at(z) - a)),
        ends=(Eq(z_m, 0), Le(y_m, end)),
    )
    made = steps.close(steps.span(begins, Both(z, y), Gauss(A_j), step, far=Both(S.Zero, end)))
    return kernel.specialise(made, {A_m: cost})


def _window(ahead: bool, kernel: Kernel, losses: Losses, start: Expr, run: Run) -> Guarantee:
    """mu^2 = A for the last steps, from equal states or from any states of the domain."""
    made = hide_states(kernel, losses, ahead, run, D, first, "")
    if start != 0:
        begun = kernel.domain(made.order, (S.Zero, start), Both(S.Zero, S.Zero), D)
        made = kernel.chain(begun, made)
    return both_orders(kernel, present(kernel, made))


def _blocks(ahead: bool, kernel: Kernel, losses: Losses, begin: str) -> Guarantee:
    """T_0 steps, N blocks of w steps that end at equal states, and t last steps that end at equal points."""
    hide = partial(hide_states, losses=losses, ahead=ahead)

    def block(inner: Kernel, start: Expr) -> tuple[Span, Span]:
        one = hide(inner, run=(start, S.Zero, w), end=S.Zero, cost=near(ell), path="'")
        return one, hide(inner, run=(start, D, w), end=S.Zero, cost=far(ell), path="")

    if begin == ABOVE:
        begun = anything(kernel, Order.FIRST, (S.Zero, T_0), Both(S.Zero, S.Zero))
    else:
        begun = hide(kernel, run=(S.Zero, S.Zero, T_0), end=S.Zero, cost=first, path="''")
    made = chain_of_blocks(kernel, begun, block)
    one = hide(kernel, run=(made.end, S.Zero, t), end=D, cost=last_near, path="*'")
    other = hide(kernel, run=(made.end, D, t), end=D, cost=last_far, path="*")
    return both_orders(kernel, present(kernel, contract(kernel, made, one, other, D)))


_RUNS: Final = {"from 0": (S.Zero, (S.Zero, S.Zero, T)), "from the domain": (tau, (tau, D, w))}

TABLE: Final[dict[str, Derivation]] = {}
for kind, ahead in KINDS.items():
    TABLE.update(by_losses(f"momentum/{kind}/window", partial(_window, ahead), _RUNS, CLASSES))
    begins = {begin: (begin,) for begin in BEGINS}
    TABLE.update(by_losses(f"momentum/{kind}/blocks", partial(_blocks, ahead), begins, CLASSES))
