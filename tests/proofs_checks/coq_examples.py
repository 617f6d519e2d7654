"""Examples of the rules of the kernel in letters, and calls that a rule refuses, for the table of their conditions."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sympy import Expr, Ge, Rational, S, Symbol, symbols
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.derivations import iterations
from lastiterate.symbolic.derivations.losses import LOSSES, from_equal_points, no_less, unmoved
from lastiterate.symbolic.kernel.induction import (
    Sequence,
    StepInduction,
    pay_in_cyclic_order,
    payments,
    steps_before,
)
from lastiterate.symbolic.kernel.judgement import Both, Hypothesis, Span, UnprovedError, Variable
from lastiterate.symbolic.kernel.lemmas import (
    Coin,
    Expansion,
    Guide,
    Shift,
    gaussian_shift,
    no_shift,
    poisson_coin,
    projected_sample,
    swap_coin,
    with_momentum,
)
from lastiterate.symbolic.kernel.profiles import (
    Atoms,
    BlockChain,
    Chords,
    Contracted,
    Damped,
    Equal,
    Gauss,
    Letter,
    MeanProfile,
    Order,
    PoissonStep,
    Power,
    Profile,
    SwapStep,
    ThreeLaws,
    compose,
)
from lastiterate.symbolic.kernel.renyi import bound_renyi
from lastiterate.symbolic.kernel.rules import (
    Kernel,
    anything,
    compare_with_third,
    contract,
    observe,
    present,
    remember,
)

FIRST, SECOND = Order
s, t, r, z, w, x, D, a, e, v = symbols("s t r z w x D a e v", real=True)
"""Steps s, t and r; distances z, w, x and a diameter D; a length a, an expansion e and a variance v."""

y, m, M, q1, q2, fail = symbols("y m M q1 q2 fail", real=True)
"""A table with one node y of mass m, another with mass M; weights q1 and q2 and what is left."""

rate, moved, dimension, spread, load = symbols("rate moved dimension spread load", real=True)
u, low, U_last, Low_last, g1 = symbols("u low U_last Low_last g1", real=True)
j = Symbol("j", integer=True, nonnegative=True)
n = Symbol("n", integer=True)
i, k = symbols("i k", integer=True)
near_z = Symbol("near_z", nonnegative=True)

TABLE, LARGER = Atoms(((y, m),)), Atoms(((y, M),))


def asked(example: Callable[[Kernel], Any], refused: str = "") -> list[str]:
    """The side conditions that an example asks its prover to show; the prover refuses one of them."""
    found: list[str] = []

    def note(condition: Boolean, _: frozenset[Boolean]) -> str:
        if str(condition) == refused:
            raise UnprovedError(f"{condition} is not shown.")
        found.append(str(condition))
        return "noted"

    example(Kernel(note))
    return found


def _any(_: Boolean, __: frozenset[Boolean]) -> str:
    return "not looked at"


FREE = Kernel(_any)


def hook(span: Span) -> Span:
    """A premise as it is; a test puts a copy that no rule made in its place."""
    return span


def supposed(
    ends: tuple[Expr, Expr] = (s, t),
    distances: tuple[Expr, Expr] = (z, w),
    profile: Profile = TABLE,
    order: Order = FIRST,
    **more: Any,
) -> Span:
    return hook(FREE.suppose(order, ends, distances, profile, "a premise", **more))


BATCH = Variable("batch", s)
EVENT = Hypothesis("the batch is in the event")


def _mean(kernel: Kernel, variable: Variable = BATCH, **more: Any) -> Span:
    revealed = {"revealed": (variable,)}
    cases = ((q1, supposed(**revealed, hypotheses=(EVENT,))), (q2, supposed(profile=LARGER, **revealed)))
    return kernel.mean(variable, cases, fail, (frozenset({EVENT}), frozenset()), **more)


SHIFT, COIN = Shift(a, TABLE, v / 2), Coin(LARGER, v / 2)


def _step(kernel: Kernel, guide: Guide = Guide.OWN, coin: Coin | None = COIN) -> Span:
    return kernel.step(FIRST, t, (z, w), Expansion(near_z, near_z + e, guide, ("ours/x",)), SHIFT, v, coin)


def _contract(kernel: Kernel, **more: Span) -> Span:
    premises = {
        "before": supposed((s, t), (z, w)),
        "near": supposed((t, r), (x, a), LARGER),
        "far": supposed((t, r), (e, a)),
    }
    return contract(kernel, **premises | more, diameter=D)


def _remember(kernel: Kernel, before: Expr = x) -> Span:
    moved = with_momentum(Expansion(near_z, e, Guide.OTHER, ("ours/x",)), q1, x, ahead=False)
    return remember(kernel, hook(FREE.step(FIRST, t, (z, w), moved, gaussian_shift(a, v), v)), before)


def _present(kernel: Kernel, near: Expr = S.Zero) -> Span:
    return present(kernel, supposed((s, t), (Both(S.Zero, near), Both(w, a))))


def _three_laws(
    kernel: Kernel,
    share: Expr = 1 / n,
    variable: Variable = BATCH,
    orders: tuple[Order, Order, Order] = (FIRST, FIRST, FIRST),
    profiles: tuple[Profile, Profile, Profile] = (TABLE, LARGER, Gauss(g1)),
) -> Span:
    revealed = {"hypotheses": (EVENT,), "revealed": (variable,)}
    parts = [
        supposed(profile=one, order=order, **revealed) for one, order in zip(profiles, orders, strict=True)
    ]
    return compare_with_third(kernel, variable, (parts[0], parts[1], parts[2]), (j, n, share))


def _induction(kernel: Kernel) -> StepInduction:
    own = Sequence(u, S.Zero, u + 1, U_last), Sequence(low, S.Zero, low + 2, Low_last)
    return StepInduction(kernel, j, n, own, keeps=(Ge(u, 0),))


def _recur(kernel: Kernel) -> Span:
    def extend(inner: Kernel, before: Span) -> Span:
        return inner.chain(before, supposed((j, j + 1), (S.Zero, S.Zero), Gauss(g1)))

    begin = kernel.identity(FIRST, S.Zero, S.Zero)
    return StepInduction(kernel, j, n, ()).recur(begin, Gauss(j * g1), extend)


def _pay(kernel: Kernel, batch: tuple[Expr, Expr] = (k, i)) -> Span:
    b, size = batch
    steps = payments(kernel, j, n, size / b)
    meant = steps.supposed(
        Hypothesis("k of the b samples of a batch are replaced; (k, b) is", (symbols("k_j", real=True), b))
    )
    made = supposed((S.Zero, n), (S.Zero, S.Zero), Gauss(symbols("U Q", real=True)[1]), hypotheses=tuple(meant))
    return pay_in_cyclic_order(kernel, steps, made, batch)


def _used(kernel: Kernel, coin: Coin) -> Span:
    return kernel.step(FIRST, t, (z, w), Expansion(near_z, near_z, Guide.OWN, ("ours/x",)), no_shift(), v, coin)


def _renyi(kernel: Kernel, profile: Profile) -> None:
    for condition in bound_renyi(profile, a).conditions:
        kernel.how(condition, frozenset())


def _raised(kernel: Kernel, above: Profile, below: Profile) -> Span:
    return kernel.weaken(supposed(profile=below), profile=above)


def _updated(kernel: Kernel, expansion: Expansion) -> Span:
    coin = Coin(TABLE) if expansion.guide is Guide.OWN else None
    return kernel.step(FIRST, t, (z, w), expansion, no_shift(), v, coin)


size, batch, high, curved = symbols("size batch high curved", real=True)
_CURVED = replace(LOSSES["strongly convex"], least=curved)
_CLIPPED = LOSSES["smooth"].other_data(size, batch, S.One)

RULES: Mapping[str, Callable[[Kernel], Any]] = {
    "symbolic.kernel.rules.Kernel.identity": lambda kernel: kernel.identity(FIRST, t, z),
    "symbolic.kernel.rules.Kernel.suppose": lambda kernel: kernel.suppose(
        FIRST, (s, t), (z, w), TABLE, "a premise"
    ),
    "symbolic.kernel.rules.Kernel.suppose (a Renyi divergence)": lambda kernel: _renyi(kernel, Gauss(v)),
    "symbolic.kernel.rules.Kernel.domain": lambda kernel: kernel.domain(FIRST, (s, t), z, D),
    "symbolic.kernel.rules.Kernel.apart": lambda kernel: kernel.apart(FIRST, (S.Zero, t), z),
    "symbolic.kernel.rules.Kernel.weaken": lambda kernel: kernel.weaken(supposed(), x, e, LARGER),
    "symbolic.kernel.rules.Kernel.weaken (a composition)": lambda kernel: _raised(
        kernel, compose(Letter("N"), Gauss(e), LARGER), compose(Letter("N"), Gauss(v), TABLE)
    ),
    "symbolic.kernel.rules.Kernel.weaken (a lower rate)": lambda kernel: _raised(
        kernel, PoissonStep(load, v), PoissonStep(rate, v)
    ),
    "symbolic.kernel.rules.Kernel.weaken (the least profile)": lambda kernel: _raised(kernel, TABLE, Equal()),
    "symbolic.kernel.rules.Kernel.weaken (a larger square)": lambda kernel: _raised(
        kernel, PoissonStep(rate, e), PoissonStep(rate, v)
    ),
    "symbolic.kernel.rules.Kernel.weaken (a replaced sample)": lambda kernel: _raised(
        kernel, SwapStep(rate, e), SwapStep(rate, v)
    ),
    "symbolic.kernel.rules.Kernel.weaken (a mean)": lambda kernel: _raised(
        kernel,
        MeanProfile(((q1, Gauss(e)), (q2, LARGER)), fail),
        MeanProfile(((q1, Gauss(v)), (q2, TABLE)), fail),
    ),
    "symbolic.kernel.rules.Kernel.weaken (a power)": lambda kernel: _raised(
        kernel, Power(Gauss(e), i), Power(Gauss(v), k)
    ),
    "symbolic.kernel.rules.Kernel.weaken (a block)": lambda kernel: _raised(
        kernel, Contracted(TABLE, LARGER, Gauss(e)), Contracted(TABLE, TABLE, Gauss(v))
    ),
    "symbolic.kernel.rules.Kernel.weaken (forgetting)": lambda kernel: _raised(
        kernel, Damped(Gauss(e), LARGER, j, n), Damped(Gauss(v), TABLE, j, n)
    ),
    "symbolic.kernel.rules.Kernel.weaken (three laws)": lambda kernel: kernel.weaken(
        _three_laws(FREE, profiles=(TABLE, Gauss(v), Gauss(q1))),
        profile=ThreeLaws(1 / n, LARGER, Gauss(e), Gauss(q2), j, n),
    ),
    "symbolic.kernel.rules.Kernel.exchange": lambda kernel: kernel.exchange(
        hook(FREE.domain(FIRST, (s, t), z, D))
    ),
    "symbolic.kernel.rules.Kernel._linked": lambda kernel: kernel.chain(
        supposed(), supposed((t, r), (x, e), LARGER)
    ),
    "symbolic.kernel.rules.Kernel._linked (steps between)": lambda kernel: kernel.chain(
        supposed(), supposed((r, s), (x, e), LARGER)
    ),
    "symbolic.kernel.rules.Kernel.mean": _mean,
    "symbolic.kernel.rules.Kernel.step": _step,
    "symbolic.kernel.rules.anything": lambda kernel: anything(kernel, FIRST, (s, t)),
    "symbolic.kernel.rules.remember": _remember,
    "symbolic.kernel.rules.present": _present,
    "symbolic.kernel.rules.contract": _contract,
    "symbolic.kernel.rules.contract (other steps far)": lambda kernel: _contract(
        kernel, far=supposed((t, s), (e, a))
    ),
    "symbolic.kernel.rules.contract (chords)": lambda kernel: _raised(
        kernel, Chords(TABLE, w * j, j, n), TABLE
    ),
    "symbolic.kernel.rules.compare_with_third": _three_laws,
    "symbolic.kernel.rules.observe": lambda kernel: observe(kernel, FIRST, t, Coin(TABLE, v)),
    "symbolic.kernel.induction.steps_before": _recur,
    "symbolic.kernel.induction.StepInduction.falls": lambda kernel: _induction(kernel).falls(u, low),
    "symbolic.kernel.induction.StepInduction.returns": lambda kernel: _induction(kernel).returns(Ge(low, u)),
    "symbolic.kernel.induction.StepInduction.recur": _recur,
    "symbolic.kernel.induction.pay_in_cyclic_order": _pay,
    "symbolic.kernel.lemmas.no_shift": lambda kernel: _used(kernel, Coin(TABLE)),
    "symbolic.kernel.lemmas.gaussian_shift": lambda kernel: kernel.step(
        FIRST, t, (z, w), Expansion(near_z, e, Guide.OTHER, ("ours/x",)), gaussian_shift(a, v), v
    ),
    "symbolic.kernel.lemmas.poisson_coin": lambda kernel: _used(kernel, poisson_coin(rate, moved, v, FIRST)),
    "symbolic.kernel.lemmas.swap_coin": lambda kernel: _used(kernel, swap_coin(rate, moved, v)),
    "symbolic.kernel.lemmas.projected_sample": lambda kernel: observe(
        kernel, FIRST, t, projected_sample(S.One, moved, spread, v, dimension, load)
    ),
    "symbolic.kernel.renyi.bound_renyi": lambda kernel: _renyi(kernel, Gauss(v)),
    "symbolic.derivations.losses.Losses.same_data": lambda kernel: _updated(
        kernel, _CURVED.same_data(low, high)
    ),
    "symbolic.derivations.losses.Losses.same_data (clipped)": lambda kernel: _updated(
        kernel, LOSSES["modulus"].same_data(low, high)
    ),
    "symbolic.derivations.losses.Losses.other_data": lambda kernel: _updated(
        kernel, _CURVED.other_data(size, batch, k)
    ),
    "symbolic.derivations.losses.Losses.other_data (clipped)": lambda kernel: _updated(
        kernel, LOSSES["modulus"].other_data(size, batch, k)
    ),
    "symbolic.derivations.losses.Losses.one_more": lambda kernel: _updated(
        kernel, _CURVED.one_more(low, high, moved)
    ),
    "symbolic.derivations.losses.no_less": lambda kernel: _updated(kernel, no_less(_CLIPPED, _CLIPPED.z + u)),
    "symbolic.derivations.losses.from_equal_points": lambda kernel: _updated(
        kernel, from_equal_points(Guide.OWN)
    ),
    "symbolic.derivations.losses.unmoved": lambda kernel: _updated(kernel, unmoved(t)),
    "symbolic.derivations.iterations._maps": lambda kernel: _updated(kernel, iterations._maps(size, moved)),
    "symbolic.derivations.iterations._least": lambda kernel: _updated(
        kernel, iterations._least(_CLIPPED, _CLIPPED)
    ),
    "symbolic.derivations.iterations._moved": lambda kernel: _updated(kernel, iterations._moved()),
}
"""An example of each rule that has a theorem; the name of a further example ends with its case."""

SOUND = "symbolic.kernel.rules.Kernel.suppose"
"""The example in which a table is shown to be a profile."""


def _other_steps_before(kernel: Kernel) -> Span:
    def extend(inner: Kernel, _: Span) -> Span:
        more = (S.Zero, j), (S.Zero, S.Zero), Equal(), j, frozenset[Variable]()
        return inner.chain(steps_before(inner, FIRST, *more), supposed((j, j + 1), (S.Zero, S.Zero), Gauss(g1)))

    begin = kernel.identity(FIRST, S.Zero, S.Zero)
    return StepInduction(kernel, j, n, ()).recur(begin, Gauss(j * g1), extend)


def _other_order(kernel: Kernel) -> Span:
    def extend(_: Kernel, __: Span) -> Span:
        return supposed((S.Zero, j + 1), (S.Zero, S.Zero), Gauss(g1), SECOND)

    begin = kernel.identity(FIRST, S.Zero, S.Zero)
    return StepInduction(kernel, j, n, ()).recur(begin, Gauss(j * g1), extend)


_BLOCKS = BlockChain(Equal(), TABLE, TABLE, j, n)

REFUSED: Mapping[str, Callable[[Kernel], Any]] = {
    "exchange under a hypothesis on one run": lambda kernel: kernel.exchange(supposed()),
    "exchange of a profile of one order": lambda kernel: kernel.exchange(
        _used(kernel, poisson_coin(rate, moved, v, FIRST))
    ),
    "a chain of two orders": lambda kernel: kernel.chain(supposed(), supposed((t, r), (x, e), order=SECOND)),
    "a mean over a variable that follows the state": lambda kernel: _mean(
        kernel, Variable("batch", s, follows=True)
    ),
    "a step with the guide of a coin and without a coin": lambda kernel: _step(kernel, coin=None),
    "three laws with weights that do not add up to 1": lambda kernel: _three_laws(kernel, 1 / (n + 1)),
    "three laws and a variable that follows the state": lambda kernel: _three_laws(
        kernel, variable=Variable("batch", s, follows=True)
    ),
    "three laws with run 2 against the third": lambda kernel: _three_laws(
        kernel, orders=(FIRST, SECOND, FIRST)
    ),
    "three laws with the third against run 1": lambda kernel: _three_laws(
        kernel, orders=(FIRST, FIRST, SECOND)
    ),
    "a contraction of two orders": lambda kernel: _contract(
        kernel, near=supposed((t, r), (x, a), order=SECOND)
    ),
    "a contraction with other revealed variables far": lambda kernel: _contract(
        kernel, far=supposed((t, r), (e, a), revealed=(Variable("batch", t),))
    ),
    "an extension that supposes another judgement about the steps before": _other_steps_before,
    "an extension with another order": _other_order,
    "blocks above a block that costs more": lambda kernel: _raised(
        kernel, _BLOCKS, Contracted(replace(_BLOCKS, count=n - 1), LARGER, Gauss(v))
    ),
    "damped blocks with a cost from near points": lambda kernel: _raised(
        kernel, Damped(TABLE, TABLE, j, S.One), Contracted(TABLE, Gauss(v), TABLE)
    ),
    "a previous point at another distance than that of the step": lambda kernel: _remember(kernel, z),
    "the present point from states that are not equal": lambda kernel: _present(kernel, z),
    "payments for a batch size that is not whole": lambda kernel: _pay(kernel, (Rational(1, 2), S.One)),
    "payments for a size of the data set that is not whole": lambda kernel: _pay(
        kernel, (S.One, Rational(3, 2))
    ),
    "the Renyi divergence of a table": lambda kernel: _renyi(kernel, TABLE),
}
"""Calls that a rule refuses, whatever its prover shows."""
