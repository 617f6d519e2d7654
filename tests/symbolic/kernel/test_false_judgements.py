"""False judgements that an author may reach for by mistake: every rule that would have to give way refuses."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sympy import Eq, Expr, Function, Ge, I, Integer, Rational, S, Symbol, nan, oo, symbols

from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.symbolic.kernel.induction import Sequence, StepInduction
from lastiterate.symbolic.kernel.judgement import Hypothesis, Span, UnprovedError, Variable
from lastiterate.symbolic.kernel.lemmas import (
    Expansion,
    Guide,
    gaussian_shift,
    no_shift,
    projected_sample,
    swap_coin,
)
from lastiterate.symbolic.kernel.profiles import (
    EVERYTHING,
    Atoms,
    Average,
    BlockChain,
    Chords,
    Composed,
    Damped,
    Equal,
    Gauss,
    MeanProfile,
    Order,
    PoissonStep,
    Power,
    Projected,
    Recurring,
    Steps,
    SwapStep,
    X,
    covers,
)
from lastiterate.symbolic.kernel.rules import Kernel, observe

KERNEL, FIRST, ONE, STILL = Kernel(prove), Order.FIRST, S.One, (S.Zero, S.Zero)
i, j = symbols("i j", integer=True, nonnegative=True)
m = Symbol("m", integer=True, positive=True)
a, k, u, u_m, w, w_m = symbols("a k_j u_j u_m w_j w_m", real=True)
v, z = Symbol("v", positive=True), Symbol("z", nonnegative=True)
chance = Function("w", nonnegative=True)
ORDERS = Variable("the orders", S.Zero)
MOVED, KEPT = (Expansion(z, after, Guide.OTHER, ()) for after in (z + 1, z))


def step(kernel: Kernel, number: Expr, *revealed: Variable, noise: Expr = ONE) -> Span:
    """A step that costs 1 over its noise, and no less."""
    return kernel.step(FIRST, number, STILL, MOVED, gaussian_shift(ONE, noise), noise, revealed=revealed)


def free(kernel: Kernel, near: Expr, far: Expr) -> Span:
    return kernel.step(FIRST, j, (near, far), KEPT, no_shift(), ONE)


def supposed(profile: object, *revealed: Variable, kernel: Kernel = KERNEL) -> Span:
    return kernel.suppose(FIRST, (S.Zero, ONE), STILL, profile, "it", revealed)


SWAP, TABLE = SwapStep(S.Half, ONE), Atoms(((ONE, S.Half), (Integer(3), Rational(1, 6))))


@pytest.mark.parametrize(
    "profile",
    [
        Gauss(-ONE),
        Gauss(a),
        Power(SWAP, -ONE),
        Steps(SWAP, i, -ONE),
        Steps(Gauss(-ONE), i, m),
        MeanProfile(((-ONE, Gauss(ONE)), (Integer(2), Equal()))),
        MeanProfile(((S.Half, Gauss(ONE)),)),
        Average(S.Zero, Gauss(ONE), i, m),
        PoissonStep(Integer(2), ONE, FIRST),
        Atoms(((ONE, -ONE),)),
    ],
)
def test_what_is_no_profile_is_above_none(profile: object) -> None:
    """Else a step that costs 1 costs nothing beside one of mu^2 = -1."""
    with pytest.raises(UnprovedError):
        KERNEL.weaken(KERNEL.identity(FIRST, S.Zero, S.Zero), profile=profile)


def test_a_table_above_another_is_convex() -> None:
    with pytest.raises(UnprovedError):
        KERNEL.weaken(supposed(TABLE), profile=Atoms(((S.Half, Rational(-1, 10)), *TABLE.pairs)))


def test_an_induction_begins_with_a_profile() -> None:
    steps = StepInduction(KERNEL, j, m, (Sequence(u, Integer(-5), u + 1, u_m, j - 5),))
    with pytest.raises(UnprovedError):  # mu^2 = m - 5 after m steps of cost 1
        steps.span(S.Zero, S.Zero, Gauss(u), lambda kernel, *_: step(kernel, j))
    with pytest.raises(UnprovedError):
        steps.recur(
            KERNEL.identity(FIRST, S.Zero, S.Zero),
            Gauss(u),
            lambda kernel, made: kernel.chain(made, step(kernel, j)),
        )


def test_an_induction_supposes_the_steps_before_as_they_are() -> None:
    steps = StepInduction(KERNEL, j, m, (Sequence(u, S.Zero, ONE, u_m),))
    begin, kept = KERNEL.identity(FIRST, S.Zero, S.Zero), list[Span]()
    with pytest.raises(
        UnprovedError, match="neither replace nor contain"
    ):  # at u_j = 0 they cost nothing, and the step at j costs 1
        steps.recur(
            begin,
            Gauss(u),
            lambda kernel, made: kernel.chain(kernel.specialise(made, {u: S.Zero}), step(kernel, j)),
        )
    with pytest.raises(UnprovedError):
        steps.recur(
            begin, Equal(), lambda kernel, made: kept.append(made) or kernel.chain(made, step(kernel, j))
        )
    with pytest.raises(
        UnprovedError, match="only the given judgement about the steps before"
    ):  # what another induction supposed is not supposed here
        steps.recur(begin, Gauss(ONE), lambda kernel, _: kernel.chain(kept[0], step(kernel, j)))


def test_a_sequence_is_closed_under_what_its_induction_supposes() -> None:
    letters = (Sequence(u, a, u, u_m, a),)
    made = StepInduction(KERNEL, j, m, letters).span(S.Zero, S.Zero, Equal(), free)
    large = StepInduction(KERNEL.under(Ge(a, 5)), j, m, letters, keeps=(Ge(u, 5),))
    some = KERNEL.under(Ge(u_m, 5))
    with pytest.raises(
        UnprovedError, match="that this induction derived"
    ):  # it is at least 5 where a is, which nobody supposed
        large.close(some.chain(made, some.step(FIRST, m, STILL, KEPT, no_shift(), ONE)))


def test_a_letter_of_one_step_is_not_carried_to_others() -> None:
    steps = StepInduction(
        KERNEL, j, m, (Sequence(w, ONE, w + k, w_m),), (w > 0,), letters=(k,), laws=(k >= -w / 2,)
    )
    with pytest.raises(UnprovedError, match="no other letter of one step"):
        steps.falls(k, w)
    with pytest.raises(UnprovedError, match="no other letter of one step"):
        steps.returns(Ge(k, 0))
    paid = StepInduction(KERNEL, j, m, (), letters=(k,), laws=(Ge(k, 0),))
    kept = Expansion(z, z + k, Guide.OTHER, ())
    with pytest.raises(
        UnprovedError, match="no other letter of one step"
    ):  # m k^2 for k of the last step, which may be 0
        paid.span(
            S.Zero, S.Zero, Gauss(j * k**2),
            lambda kernel, *_: kernel.step(FIRST, j, STILL, kept, gaussian_shift(k, ONE), ONE),
        )  # fmt: skip
    with pytest.raises(UnprovedError, match="no other letter of one step"):
        paid.span(
            S.Zero, j * k, Equal(), lambda kernel, *ends: kernel.step(FIRST, j, ends, kept, no_shift(), ONE)
        )
    with pytest.raises(UnprovedError, match="index"):
        StepInduction(KERNEL, j, m, ()).span(
            -j, S.Zero, Equal(), lambda kernel, *_: kernel.step(FIRST, S.Zero, STILL, KEPT, no_shift(), ONE)
        )


def test_no_value_is_put_for_what_ranges_over_many() -> None:
    """Noise of variance 1 + j costs less than noise of variance 1 at every step."""
    noise, total = 1 + j, Function("A", real=True)
    steps = StepInduction(KERNEL, j, m, (Sequence(u, S.Zero, u + 1 / noise, u_m),), (Ge(u, 0),))
    made = steps.span(S.Zero, S.Zero, Gauss(u), lambda kernel, *_: step(kernel, j, noise=noise))
    of_each = KERNEL.mean(
        ORDERS, ((ONE, step(KERNEL, S.Zero, ORDERS, noise=1 + i)),), over=(i, Integer(2), chance(i))
    )
    for span, values in ((made, {j: S.Zero}), (made, {u_m: total(j)}), (of_each, {i: S.Zero})):
        with pytest.raises(UnprovedError, match="neither replace nor contain"):
            KERNEL.specialise(span, values)


def test_an_index_of_a_profile_stays_its_own() -> None:
    steps = Steps(Gauss(i), i, Integer(3))
    assert steps.subs({i: S.Zero}) == steps
    other = Symbol("i'", integer=True, nonnegative=True)
    assert Steps(Gauss(a), i, m).subs({a: i, m: i + 1}) == Steps(Gauss(i), other, i + 1)
    first = KERNEL.under(Eq(i, 0))
    with pytest.raises(UnprovedError):  # 0 <= 0 at i = 0, and at no other
        first.weaken(supposed(steps, kernel=first), profile=Steps(Gauss(S.Zero), i, Integer(3)))


def test_two_variables_stay_two() -> None:
    def one(number: Expr, variable: Variable) -> Span:
        cases = (
            step(KERNEL, number, variable),
            KERNEL.suppose(FIRST, (number, number + 1), STILL, Equal(), "not there", (variable,)),
        )
        return KERNEL.mean(variable, [(S.Half, case) for case in cases])

    KERNEL.chain(one(S.Zero, Variable("a batch", S.Zero)), one(ONE, Variable("a batch", ONE)))
    for place in (S.Zero, i, (i + 1) ** 2 - i**2 - 2 * i - 1):
        with pytest.raises(UnprovedError):
            one(ONE, Variable("a batch", place))
    with pytest.raises(UnprovedError, match="the only revealed variable of that name"):
        KERNEL.mean(
            Variable("a batch", i),
            [(ONE, step(KERNEL, S.Zero, Variable("a batch", i), Variable("a batch", j)))],
        )


def test_what_is_supposed_of_an_event_is_said() -> None:
    span = step(KERNEL, S.Zero, ORDERS, noise=v)
    noise = frozenset(one for one in span.hypotheses if "noise" in one.says)
    cases = (S.Half, span), (S.Half, supposed(EVERYTHING, ORDERS))
    made = KERNEL.mean(ORDERS, cases, events=(noise, frozenset()), over=(i, m, chance(i)))
    assert any("noise of this variance" in one.says and v in one.constants for one in made.hypotheses)


def test_shares_of_a_mean_are_of_disjoint_events_at_fixed_steps() -> None:
    """Shares of 2 and -1 leave less than nothing where only the second event costs something."""
    said = frozenset({Hypothesis("the batches are equal")})
    on, others = (
        KERNEL.suppose(FIRST, (S.Zero, ONE), STILL, Gauss(ONE), "it", (ORDERS,), of) for of in (said, ())
    )
    share = Function("w", real=True)
    for events, own, why in (
        ((said, frozenset()), share(i), "nonnegative"),
        (
            (frozenset(), said),
            1 / m,
            "may not have cases on events",
        ),  # the value that is always drawn may be in the event
    ):
        cases = [(S.Half, on if event else others) for event in events]
        with pytest.raises(UnprovedError, match=why):
            KERNEL.mean(ORDERS, cases, events=events, over=(i, m, own))
    batch = Variable("a batch", i)
    for variable, also in ((batch, batch), (ORDERS, batch)):
        with pytest.raises(UnprovedError, match="the same for every"):
            KERNEL.mean(variable, ((ONE, supposed(Gauss(ONE), variable, also)),), over=(i, m, 1 / m))


def test_a_distance_before_all_steps_is_no_value_of_a_sequence() -> None:
    steps = StepInduction(KERNEL, j, m, (Sequence(u, u, 2 * u, u_m),))
    with pytest.raises(UnprovedError, match="the initial distance"):  # u_0^2 and u_j^2 would be one
        steps.recur(
            KERNEL.identity(FIRST, S.Zero, u**2), Equal(),
            lambda kernel, made: kernel.chain(made, free(kernel, u**2, 4 * u**2)), distance=u**2,
        )  # fmt: skip


def test_a_letter_stands_for_a_real_number() -> None:
    for value in (oo, nan, I):
        with pytest.raises(UnprovedError, match="real number"):
            KERNEL.specialise(step(KERNEL, S.Zero, noise=v), {v: value})


def test_no_step_projects_no_point() -> None:
    wrong: Callable[[], Span] = lambda: KERNEL.domain(FIRST, STILL, Integer(100), ONE)  # noqa: E731
    with pytest.raises(UnprovedError):
        wrong()


def test_a_supposition_by_the_name_of_that_of_an_induction_stays_one() -> None:
    begin = KERNEL.identity(FIRST, S.Zero, S.Zero)
    made = StepInduction(KERNEL, j, m, ()).recur(
        begin,
        Equal(),
        lambda kernel, _: kernel.suppose(FIRST, (S.Zero, j + 1), STILL, Equal(), "the steps before"),
    )
    assert any("the steps before" in one.says for one in made.hypotheses)


def test_what_is_observed_has_its_noise() -> None:
    """Means that a step shows without noise cost everything; and the noise of an outcome is not that of a step."""
    made = observe(KERNEL, FIRST, S.Zero, swap_coin(S.Half, ONE, v))
    assert any("Gaussian noise" in one.says and one.constants == (v,) for one in made.hypotheses)
    outcome, own = projected_sample(S.Half, ONE, ONE, v, Integer(3), 1 / v), Expansion(z, z, Guide.OWN, ())
    assert observe(KERNEL, FIRST, S.Zero, outcome).profile == outcome.profile
    with pytest.raises(UnprovedError, match="coin"):
        KERNEL.step(FIRST, S.Zero, STILL, own, no_shift(), v, outcome)


@pytest.mark.parametrize(
    ("profile", "less"),
    [
        (Steps(Gauss(ONE), i, m + 1), {"count": m}),
        (Projected(Gauss(X), m), {"dimension": m + 1}),
        (Chords(Gauss(ONE), i + 1, i, m), {"node": i + 2}),
        (Composed((Gauss(ONE), SWAP)), {"parts": (Gauss(ONE),)}),
        (Composed((Gauss(ONE),)), {"parts": (Gauss(ONE), SWAP)}),
        (MeanProfile(((S.Half, SWAP), (S.Half, Equal()))), {"pairs": ((S.Half, Equal()), (S.Half, SWAP))}),
        (MeanProfile(((S.Half, SWAP), (S.Half, Equal()))), {"pairs": ((ONE, SWAP), (S.Zero, Equal()))}),
        (Recurring(S.Half, SWAP, SWAP, Equal(), m), {"chance": ONE / 3}),
        (BlockChain(SWAP, Equal(), SWAP, i, m), {"count": m + 1}),
        (Damped(SWAP, SWAP, i, m), {"count": m + 1}),
    ],
)
def test_a_term_rises_with_its_parts_where_all_else_is_the_same(profile: Any, less: Any) -> None:
    assert covers(profile, profile) == []
    with pytest.raises(UnprovedError, match="not known when"):
        covers(profile, replace(profile, **less))
