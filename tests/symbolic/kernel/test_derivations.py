"""Derivations reach their theorems for all values of the symbols, and wrong ones stop at the line that fails."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hockey_stick import hockey_stick_mixtures
from random_projection import _ratio
from sympy import (
    Eq,
    Expr,
    Function,
    Ge,
    Gt,
    Integer,
    Max,
    Rational,
    S,
    Symbol,
    expand,
    false,
    symbols,
    true,
)
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.divergences.mixtures import Mixture
from lastiterate.proofs_checks.engines import derivation
from lastiterate.proofs_checks.engines.derivation import _lessened
from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.proofs_checks.lock import read_lock
from lastiterate.proofs_checks.verdict import Status
from lastiterate.symbolic import notation
from lastiterate.symbolic.checks import Derived, RenyiBound
from lastiterate.symbolic.derivations import DERIVATIONS
from lastiterate.symbolic.derivations.known_batches import (
    A,
    hide_in_window,
    known_cyclic,
    known_cyclic_from_0,
    known_path,
)
from lastiterate.symbolic.derivations.losses import LOSSES, from_equal_points
from lastiterate.symbolic.derivations.random_batches import poisson_composition, swap_composition
from lastiterate.symbolic.formulas import update
from lastiterate.symbolic.kernel.induction import Sequence, StepInduction
from lastiterate.symbolic.kernel.judgement import End, Guarantee, Hypothesis, Span, UnprovedError, Variable
from lastiterate.symbolic.kernel.lemmas import (
    Coin,
    Expansion,
    Guide,
    gaussian_shift,
    no_shift,
    poisson_coin,
    supposing,
    swap_coin,
)
from lastiterate.symbolic.kernel.profiles import (
    Atoms,
    Equal,
    Gauss,
    MeanProfile,
    Order,
    PoissonStep,
    Power,
    Profile,
    Steps,
    SwapStep,
    compose,
)
from lastiterate.symbolic.kernel.rules import Kernel, contract
from lastiterate.symbolic.ledger import claims

c, s, D, v = symbols("c s D v", positive=True)
T, m = symbols("T m", integer=True, positive=True)
j = Symbol("j", integer=True, nonnegative=True)
z = Symbol("z", nonnegative=True)
q = Symbol("q", positive=True)
KERNEL = Kernel(prove)
FIRST, SECOND = Order


def expansion(after: Expr, guide: Guide = Guide.OTHER) -> Expansion:
    return Expansion(z, after, guide, ("a lemma",))


def test_a_side_condition_that_a_premise_says_is_shown():
    z = Symbol("z")
    assert prove(z <= 0, frozenset({Eq(z, 0)})) == "it is one of the premises"


def test_the_window_of_a_convex_loss() -> None:
    made = window_of_convex_losses()
    assert made.first.profile == made.second.profile == Gauss((D + m * s) ** 2 / (m * v))
    assert (made.first.start, made.first.end) == (0, T)
    assert made.first.given == {m <= T}
    with pytest.raises(UnprovedError):
        KERNEL.weaken(made.first, profile=Gauss(Rational(97, 100) * (D + m * s) ** 2 / (m * v)))


def test_the_window_of_a_strongly_convex_loss() -> None:
    made = hide_in_window(KERNEL.under(c < 1), expansion(c * z + s), c, s, D, v, T, m)
    square = (D + s * (c**-m - 1) / (1 - c)) ** 2 * (1 - c**2) / (v * (c ** (-2 * m) - 1))
    assert isinstance(made.first.profile, Gauss)
    assert (made.first.profile.square - square).equals(0)
    assert (c < 1) in made.first.given


def test_the_window_of_a_smooth_loss_asks_whether_it_is_feasible() -> None:
    made = hide_in_window(KERNEL.under(c > 1), expansion(c * z + s), c, s, D, v, T, m)
    (test,) = made.first.given - {c > 1, m <= T}
    numbers = {c: Rational(3, 2), s: S.One, D: S.One, v: S.One}
    assert test.subs(numbers | {m: 1}) == true
    assert test.subs(numbers | {m: 40}) == false
    ended = KERNEL.specialise(made.first, numbers | {m: S.One, T: Integer(5)})
    assert ended.profile == Gauss((S.One + Rational(3, 2)) ** 2)
    with pytest.raises(UnprovedError):
        KERNEL.specialise(made.first, numbers | {m: Integer(40), T: Integer(50)})


def test_any_path_of_any_losses() -> None:
    made = known_path(KERNEL.under(m <= T), LOSSES["convex"], T - m, D, m)
    assert made.first.profile == Gauss(A)
    assert any(
        "z_next >=" in str(hypothesis) and "a_j" in str(hypothesis) for hypothesis in made.first.hypotheses
    )
    assert made.first.given == {m <= T, T - m >= 0}
    assert End("this holds", (Eq(Symbol("z_m", real=True), 0),)) in made.first.hypotheses


_CLAIMED = {
    check.derivation for claim in claims() for check in claim.checks if isinstance(check, Derived | RenyiBound)
}


_UNCLAIMED = sorted(DERIVATIONS.keys() - _CLAIMED)
"""Where no near miss is tried in the ledger."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if "modulus" in name or "strongly" in name else pytest.mark.nightly)
        for name in _UNCLAIMED
    ],
)
def test_every_window_is_derived_and_costs_no_less(name: str) -> None:
    step, low, high = notation.eta, notation.m, notation.L
    factor = (notation.c < 1, notation.c >= 1 - step * low, notation.c >= step * high - 1, step * high <= 1)
    made = derivation.derive(name, frozenset({*factor, notation.m <= notation.L, q <= 1}))
    for span in (made.first, made.second):
        with pytest.raises(UnprovedError):
            KERNEL.weaken(span, profile=_lessened(span.profile, Rational(97, 100)))


def test_a_window_pays_for_the_coin_and_the_shift_out_of_one_noise() -> None:
    """The parts of a step's noise may not add up to more than the noise."""
    u, a, noise = symbols("u a v_j", real=True)
    coin, shift = swap_coin(q, s, u, s**2), gaussian_shift(a, noise, a**2)
    losses = LOSSES["convex"].same_data(s, s)
    given = (*coin.conditions, *shift.conditions, notation.L >= 0, q <= 1)
    for variance, sound in ((u + noise, True), (noise, False)):
        kernel = KERNEL.under(*given)
        if sound:
            assert kernel.step(FIRST, S.Zero, (S.Zero, S.Zero), losses, shift, variance, coin)
        else:
            with pytest.raises(UnprovedError):
                kernel.step(FIRST, S.Zero, (S.Zero, S.Zero), losses, shift, variance, coin)


def test_derivations_carry_a_distance_by_the_formulas_of_bounds() -> None:
    """`bound` evaluates the formulas of `update`, and so do the claims that a derivation cites conclude."""
    K, L, curvature, eta, b = notation.K, notation.L, notation.m, notation.eta, notation.b
    low, high = symbols("low high", nonnegative=True)
    other = {name: losses.other_data(eta, b, S.One).at(z) for name, losses in LOSSES.items()}
    sized = {name: losses.same_data(eta * low / b, eta * high / b).at(z) for name, losses in LOSSES.items()}
    for name, least in (("convex", S.Zero), ("strongly convex", curvature)):
        assert (
            other[name] - Max(1 - eta * least, eta * L - 1) * z - update.step_sensitivity(eta, K, b)
        ).equals(0)
        assert (sized[name] - update.strongly_convex_over_sizes(eta, L, least, b, low, high) * z).equals(0)
    for name, omega in (("smooth", L * z), ("modulus", Function("omega", nonnegative=True)(z))):
        assert expand(other[name] - update.modulus(z, omega, eta, K, b)) == 0
        assert expand(sized[name] - update.same_batch(z, omega, eta * high / b, K)) == 0
    clipped = LOSSES["clipped"].other_data(eta, b, S.One)
    assert clipped.at(S.Zero) == update.step_sensitivity(eta, K, b)
    assert (
        expand(
            clipped.at(Symbol("x", positive=True))
            - update.modulus(Symbol("x", positive=True), 2 * K, eta, K, b)
        )
        == 0
    )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: hide_in_window(KERNEL, expansion(z + 2 * s), S.One, s, D, v, T, m),
        lambda: hide_in_window(KERNEL, expansion(c * z + s), S.One, s, D, v, T, m),
        lambda: hide_in_window(KERNEL, expansion(z + s, Guide.OWN), S.One, s, D, v, T, m),
    ],
    ids=["twice the sensitivity", "an expansion that may grow", "the own map of a run"],
)
def test_a_window_needs_its_expansion(wrong: Callable[[], Guarantee]) -> None:
    with pytest.raises(UnprovedError):
        wrong()


def _step(order: Order, guide: Guide = Guide.OTHER) -> Span:
    return KERNEL.step(order, S.Zero, (S.Zero, S.Zero), expansion(z + s, guide), gaussian_shift(s, v), v)


def _hypothetical(near: Expr, far: Expr, *revealed: Variable, order: Order = FIRST) -> Span:
    return KERNEL.suppose(order, (S.Zero, S.One), (near, far), Gauss(s), "a step", revealed)


def _one_sided() -> Span:
    one_sided = replace(
        expansion(z + s), hypotheses=frozenset({Hypothesis("run 1 has the sample", symmetric=False)})
    )
    return KERNEL.exchange(KERNEL.step(FIRST, S.Zero, (S.Zero, S.Zero), one_sided, gaussian_shift(s, v), v))


COIN = Variable("R", S.Zero)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: KERNEL.step(FIRST, S.Zero, (S.Zero, S.Zero), expansion(z + s), gaussian_shift(s / 2, v), v),
        lambda: KERNEL.step(FIRST, S.Zero, (S.Zero, S.Zero), expansion(z + s), no_shift(), v),
        lambda: KERNEL.step(
            FIRST, S.Zero, (S.Zero, S.Zero), expansion(z + s), gaussian_shift(s, Symbol("u", real=True)), v
        ),
        lambda: KERNEL.step(
            FIRST,
            S.Zero,
            (S.Zero, S.Zero),
            expansion(z),
            gaussian_shift(s, v / 2),
            v,
            Coin(PoissonStep(c, s), v / 2),
        ),
        lambda: KERNEL.step(
            FIRST,
            S.Zero,
            (S.Zero, S.Zero),
            expansion(z, Guide.OWN),
            gaussian_shift(s, v),
            v,
            poisson_coin(c, s, v, FIRST),
        ),
        lambda: _step(FIRST, Guide.OWN),
        lambda: KERNEL.chain(_step(FIRST), _step(FIRST)),
        lambda: KERNEL.chain(
            _step(FIRST), KERNEL.step(SECOND, S.One, (S.Zero, S.Zero), expansion(z), no_shift(), v)
        ),
        lambda: KERNEL.chain(_hypothetical(S.Zero, D), KERNEL.identity(FIRST, S.One, S.Zero)),
        lambda: KERNEL.weaken(_hypothetical(S.Zero, D), far=D / 2),
        lambda: KERNEL.weaken(_hypothetical(S.Zero, D), profile=Equal()),
        lambda: KERNEL.domain(FIRST, (T, S.Zero), S.Zero, D),
        _one_sided,
        lambda: KERNEL.mean(COIN, [(S.One, _hypothetical(S.Zero, D))]),
        lambda: KERNEL.mean(COIN, [(S.Half, _hypothetical(S.Zero, D, COIN))]),
        lambda: KERNEL.mean(COIN, [(S.Half, _hypothetical(S.Zero, one, COIN)) for one in (D, 2 * D)]),
        lambda: KERNEL.exchange(_hypothetical(S.Zero, S.Zero)),
        lambda: Guarantee(_step(FIRST), _step(FIRST)),
        lambda: KERNEL.specialise(KERNEL.under(v > s).identity(FIRST, S.Zero, S.Zero), {v: s}),
        lambda: KERNEL.under(v > s).specialise(KERNEL.under(v > s).identity(FIRST, S.Zero, S.Zero), {v: s}),
        lambda: KERNEL.specialise(KERNEL.identity(FIRST, S.Zero, D), {D: Integer(-1)}),
        lambda: KERNEL.specialise(
            KERNEL.identity(FIRST, Symbol("k", even=True), S.Zero), {Symbol("k", even=True): S.One}
        ),
    ],
)
def test_what_does_not_follow_is_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(UnprovedError):
        wrong()


def test_a_variable_that_was_averaged_over_is_used_once() -> None:
    averaged = KERNEL.mean(COIN, [(S.One, _hypothetical(S.Zero, S.Zero, COIN))])
    again = KERNEL.suppose(FIRST, (S.One, Integer(2)), (S.Zero, S.Zero), Gauss(s), "a step", (COIN,))
    with pytest.raises(UnprovedError, match="A side condition is false"):
        KERNEL.chain(averaged, again)
    assert (
        KERNEL.mean(COIN, [(S.One, KERNEL.chain(_hypothetical(S.Zero, S.Zero, COIN), again))]).scope
        == frozenset()
    )


def _one(*hypotheses: Hypothesis) -> frozenset[Hypothesis]:
    return frozenset(hypotheses)


def test_a_mean_takes_the_event_of_each_case_from_what_is_supposed_and_no_other() -> None:
    small, large = (Hypothesis(f"the batch is {size}", (q,)) for size in ("small", "large"))

    def case(cost: Expr, *events: Hypothesis) -> Span:
        return KERNEL.suppose(FIRST, (S.Zero, S.One), (S.Zero, S.Zero), Gauss(cost), "a step", (COIN,), events)

    kernel = KERNEL.under(q <= 1)
    both = ((q, case(s, small)), (1 - q, case(v, large)))
    made = kernel.mean(COIN, both, events=(_one(small), _one(large)))
    assert not made.hypotheses & {small, large}
    assert {one.constants[0] for one in made.hypotheses if "of at least this probability" in one.says} == {
        q,
        1 - q,
    }
    rest = kernel.mean(COIN, both, events=(_one(small, large), frozenset()))
    assert rest.hypotheses >= {large}
    assert small not in rest.hypotheses
    assert kernel.mean(COIN, both).hypotheses >= {small, large}
    another = ((q, case(s, small)), (1 - q, case(v, small)))
    assert small in kernel.mean(COIN, another, events=(_one(small), _one(large))).hypotheses
    for events in ((_one(small),), (_one(small), _one(large), _one(small))):
        with pytest.raises(UnprovedError, match="events for all cases or for none"):
            kernel.mean(COIN, both, events=events)
    with pytest.raises(UnprovedError):  # chances that may add to less than 1
        kernel.mean(COIN, ((q / 2, case(s, small)), (1 - q, case(v, large))), events=(_one(small), _one(large)))


def test_what_the_letters_of_an_induction_stand_for_is_supposed() -> None:
    made = known_path(KERNEL, LOSSES["convex"], S.Zero, S.Zero, m).first
    meant = {one.constants for one in made.hypotheses if "is after so many steps the last" in one.says}
    shift, noise = symbols("a_j v_j", real=True)
    assert (S.Zero, symbols("A_j", real=True) + shift**2 / noise, m, A) in meant
    assert not any("is after so many" in one.says for one in window_of_convex_losses().first.hypotheses)


def window_of_convex_losses() -> Guarantee:
    return hide_in_window(KERNEL, expansion(z + s), S.One, s, D, v, T, m)


def test_a_path_for_the_last_step_serves_a_sample_met_earlier() -> None:
    k = Symbol("k", integer=True, nonnegative=True)
    made = known_cyclic(KERNEL, LOSSES["clipped"], k, D, m, k).first
    assert (made.profile, made.end) == (Gauss(A), m + 2 * k)
    cut = known_cyclic_from_0(KERNEL, LOSSES["clipped"], D, s, m, k).first
    assert (cut.profile, cut.end, cut.near) == (Gauss(A), m + k, 0)
    starts = {one.constants[0] for one in cut.hypotheses if "is after so many steps the last" in one.says}
    assert starts == {D, s}
    assert any("no sample of the batch" in one.says and one.constants[0] == k for one in cut.hypotheses)
    paid = Symbol("A_0", real=True)
    assert known_cyclic_from_0(KERNEL, LOSSES["clipped"], D, paid, m, k).first.given == {paid >= 0}


def _table(near: Expr, far: Expr, *revealed: Variable) -> Span:
    return KERNEL.suppose(FIRST, (S.Zero, S.One), (near, far), Atoms(((S.One, S.One),)), "a table", revealed)


def test_a_contraction_asks_for_all_pairs_of_points_and_one_kernel() -> None:
    ends = (S.One, Integer(2))
    near = KERNEL.suppose(FIRST, ends, (s, S.Zero), Gauss(s), "near")
    far = KERNEL.suppose(FIRST, ends, (D, S.Zero), Gauss(D), "far")
    made = contract(KERNEL, _table(S.Zero, s), near, far, D)
    assert (made.near, made.far, made.end) == (0, 0, 2)
    tracked = KERNEL.suppose(FIRST, ends, (s, S.Zero), Gauss(D), "from a distance that was tracked")
    later = Variable("a coin", S.One)
    hidden = KERNEL.mean(later, [(S.One, KERNEL.suppose(FIRST, ends, (D, S.Zero), Gauss(D), "far", (later,)))])
    reversed_far = KERNEL.suppose(SECOND, ends, (D, S.Zero), Gauss(D), "far")
    revealed = KERNEL.suppose(FIRST, ends, (D, S.Zero), Gauss(D), "far", (COIN,))
    longer = KERNEL.suppose(FIRST, (S.One, Integer(3)), (D, S.Zero), Gauss(D), "far")
    for wrong in (
        lambda: contract(KERNEL, _table(S.Zero, s), near, tracked, D),
        lambda: contract(KERNEL, _table(S.Zero, D), near, far, D),
        lambda: contract(KERNEL, _table(S.Zero, s, later), near, hidden, D),
        lambda: contract(KERNEL, _table(S.Zero, s), near, reversed_far, D),
        lambda: contract(KERNEL, _table(S.Zero, s), near, revealed, D),
        lambda: contract(KERNEL, _table(S.Zero, s), near, longer, D),
    ):
        with pytest.raises(UnprovedError):
            wrong()
    with pytest.raises(UnprovedError):
        KERNEL.weaken(made, profile=replace(made.profile, far=Gauss(s)))


def _induction(closed: Expr = 2**j, keeps: tuple[Boolean, ...] = (), after: int = 2) -> StepInduction:
    u, last = symbols("u u_m", real=True)
    return StepInduction(KERNEL, j, m, (Sequence(u, S.One, after * u, last, closed),), keeps)


def test_an_induction_shows_what_its_sequences_keep() -> None:
    u = Symbol("u", real=True)
    assert _induction(keeps=(Gt(u, 0), Ge(u, 1)))
    with pytest.raises(UnprovedError):
        _induction(keeps=(Ge(u, 2),))  # not at first
    with pytest.raises(UnprovedError):
        _induction(keeps=(u <= 5,))  # not passed on
    with pytest.raises(UnprovedError):
        _induction(closed=3**j)
    with pytest.raises(UnprovedError):
        _induction(keeps=(Eq(u, Symbol("u_m", real=True)),))  # nothing is known of the last value beforehand


@pytest.mark.parametrize("declared", ["nonnegative", "nonzero", "integer", "negative"])
def test_an_induction_takes_nothing_from_a_declaration(declared: str) -> None:
    u, last = Symbol("u", **{declared: True}, real=True), Symbol("u_m", real=True)
    with pytest.raises(UnprovedError, match="declared as real only"):
        StepInduction(KERNEL, j, m, (Sequence(u, S.One, 2 * u, last, 2**j),))
    with pytest.raises(UnprovedError, match="its count must be an integer"):
        StepInduction(KERNEL, j, s, ())


def test_a_derivation_that_supposes_a_judgement_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def supposing(kernel: Kernel) -> Guarantee:
        return Guarantee(
            *(kernel.suppose(order, (S.Zero, T), (S.Zero, S.Zero), Gauss(s), "it") for order in Order)
        )

    monkeypatch.setattr(derivation, "DERIVATIONS", {"supposing": supposing})
    outcome = derivation.decide(Derived("supposing", Gauss(s)), ())
    assert outcome.status is Status.UNDECIDED
    assert "assumes" in outcome.detail


def test_what_is_derived_rests_on_claims_that_hold() -> None:
    cited = {one for losses in LOSSES.values() for one in losses.other_data(s, s, S.One).lemmas if "/" in one}
    held = {key for key, entry in read_lock().items() if entry.verdict == "PROVED"}
    assert cited <= held
    outcome = derivation.decide(Derived("full_batch/composition", Gauss(T)), ())
    assert outcome.status is Status.UNDECIDED
    square = notation.T * notation.sensitivity() ** 2 / notation.sigma**2
    outcome = derivation.decide(Derived("full_batch/composition", Gauss(square)), ())
    assert (outcome.status, outcome.scope) == (Status.HELD, "")  # what it cites is proved in every dimension


def test_what_is_not_proved_in_every_dimension_is_a_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = supposing(from_equal_points(Guide.OWN), lemmas=("liang/algorithm_1/projection",))

    def one(kernel: Kernel) -> Guarantee:
        made = kernel.step(FIRST, S.Zero, (S.Zero, S.Zero), moved, no_shift(), v, swap_coin(q, s, v))
        return Guarantee(made, kernel.exchange(made))

    monkeypatch.setattr(derivation, "DERIVATIONS", {"on the line": one})
    check = Derived("on the line", SwapStep(q, s**2 / v))
    assert derivation.decide(check, (q <= 1,)).scope == "derived from liang/algorithm_1/projection"


def test_the_mean_over_orders_of_any_number() -> None:
    i, count = Symbol("i", integer=True, nonnegative=True), Symbol("N", integer=True, positive=True)
    orders, cost, chance = (
        Variable("the orders", S.Zero),
        Function("A", nonnegative=True),
        Function("w", real=True),
    )
    known = KERNEL.suppose(FIRST, (S.Zero, T), (S.Zero, S.Zero), Gauss(cost(i)), "one order", (orders,))
    each = (i, count, chance(i))
    made = KERNEL.mean(orders, ((S.One, known),), over=each)
    assert (made.scope, made.drawn) == (frozenset(), {orders})
    two = made.profile.subs({count: Integer(2)}).at(z).doit()
    assert two == sum(chance(place) * Gauss(cost(place)).at(z) for place in range(2))
    hidden = KERNEL.suppose(FIRST, (S.Zero, T), (S.Zero, S.Zero), Gauss(cost(i)), "no order is known")
    apart = KERNEL.suppose(FIRST, (S.Zero, T), (S.Zero, cost(i)), Gauss(s), "apart", (orders,))
    some = KERNEL.under(cost(i) > 1).suppose(FIRST, (S.Zero, T), (S.Zero, S.Zero), Gauss(s), "some", (orders,))
    of_all = KERNEL.mean(orders, ((S.One, some),), over=each)
    assert not of_all.given
    assert any("for every i below the first" in one.says for one in of_all.hypotheses)
    for wrong in (hidden, apart):
        with pytest.raises(UnprovedError):
            KERNEL.mean(orders, ((S.One, wrong),), over=each)
    with pytest.raises(UnprovedError, match="the same for every"):
        KERNEL.mean(orders, ((chance(i), known), (1 - chance(i), known)), over=each)
    again = KERNEL.suppose(FIRST, (T, T + 1), (S.Zero, S.Zero), Gauss(s), "again", (orders,))
    with pytest.raises(UnprovedError, match="A side condition is false"):
        KERNEL.chain(made, again)


def test_an_induction_adds_up_its_steps() -> None:
    sums, last = symbols("A A_m", real=True)
    steps = StepInduction(KERNEL, j, m, (Sequence(sums, S.Zero, sums + s**2, last, j * s**2),), (Ge(sums, 0),))

    def one(kernel: Kernel, near: Expr, far: Expr) -> Span:
        return kernel.step(FIRST, j, (near, far), expansion(z + s), gaussian_shift(s, v), v)

    made = steps.close(steps.span(S.Zero, S.Zero, Gauss(sums / v), one))
    assert made.profile == Gauss(m * s**2 / v)
    assert made.given == frozenset()
    with pytest.raises(UnprovedError):
        steps.span(S.Zero, S.Zero, Gauss(Rational(19, 20) * sums / v), one)

    def two(kernel: Kernel, near: Expr, far: Expr) -> Span:
        return kernel.chain(one(kernel, near, far), kernel.domain(FIRST, (j + 1, j + 2), far, far))

    with pytest.raises(UnprovedError):
        steps.span(S.Zero, S.Zero, Gauss(sums / v), two)


def test_profiles_are_what_they_say() -> None:
    assert compose(Gauss(s), Gauss(v), Equal()) == Gauss(s + v)
    assert compose() == Equal()
    half = Rational(1, 2)
    with_the_sample, without = PoissonStep(half, S.One, FIRST), PoissonStep(half, S.One, SECOND)
    for g in (Rational(1, 4), S.One, Integer(3)):
        assert abs((with_the_sample.at(g) - (1 - g + g * without.at(1 / g))).evalf()) < 1e-12
    assert MeanProfile(((half, Gauss(s)), (half, Equal()))).at(z) == (Gauss(s).at(z) + Equal().at(z)) / 2


def test_steps_compose_as_often_as_they_come() -> None:
    i = Symbol("i", integer=True, nonnegative=True)
    p = Function("p", real=True)
    some = Steps(PoissonStep(q, p(i)), i, j)
    assert compose(some, PoissonStep(q, p(j))) == Steps(PoissonStep(q, p(i)), i, j + 1)
    assert compose(some, some) == Power(some, Integer(2))
    nested = Steps(Steps(PoissonStep(q, p(i)), i, j), Symbol("k", integer=True, nonnegative=True), j)
    assert compose(nested, some) == Steps(nested.part, nested.index, j + 1)


def test_hidden_batches_compose() -> None:
    kernel, cost = KERNEL.under(q <= 1), (notation.eta * notation.K / notation.b) ** 2 / notation.sigma**2
    swapped = swap_composition(kernel)
    assert swapped.first.profile == swapped.second.profile == Power(SwapStep(q, 4 * cost), notation.T)
    poisson = poisson_composition(kernel)
    assert poisson.first.profile == Power(PoissonStep(q, cost, FIRST), notation.T)
    assert poisson.second.profile == Power(PoissonStep(q, cost, SECOND), notation.T)
    with pytest.raises(UnprovedError, match="symmetric"):
        kernel.exchange(poisson.first)


@pytest.mark.parametrize("factor", [0.3, 0.95, 1.0, 1.2, 4.0])
def test_the_profiles_of_a_coin_are_those_of_its_laws_in_either_order(factor: float) -> None:
    rate, moved = Rational(1, 4), 1.5
    base, mixture = Mixture(0.25, 0.0, 0.0), Mixture(0.25, 0.0, moved)
    laws = {FIRST: (mixture, base), SECOND: (base, mixture)}
    swapped = SwapStep(rate, Rational(9, 4)).at(Rational(factor))
    for order, (numerator, denominator) in laws.items():
        exact = hockey_stick_mixtures(numerator, denominator, t=factor)
        told = float(PoissonStep(rate, Rational(9, 4), order).at(Rational(factor)))
        assert told == pytest.approx(exact.middle, abs=1e-9)
        assert exact.lower <= float(PoissonStep(rate, Rational(9, 4)).at(Rational(factor))) + 1e-9
        assert exact.lower <= float(swapped) + 1e-9


def test_what_a_recursion_begins_with_and_how_it_goes_on() -> None:
    """One with another order, a variable, another end or more suppositions is refused at any step."""
    steps = StepInduction(KERNEL, j, T, ())

    def begun(kernel: Kernel = KERNEL, order: Order = FIRST, revealed: tuple[Variable, ...] = ()) -> Span:
        return kernel.suppose(order, (S.Zero, S.One), (S.Zero, S.Zero), Gauss(s), "it", revealed)

    def on(
        order: Order = FIRST, end: Expr = j + 2, revealed: tuple[Variable, ...] = ()
    ) -> Callable[[Kernel, Span], Span]:
        return lambda kernel, _: kernel.suppose(
            order, (S.Zero, end), (S.Zero, S.Zero), Gauss(s), "more", revealed
        )

    made = steps.recur(begun(), Gauss(s), on())
    assert (made.order, made.start, made.end, made.profile) == (FIRST, 0, T + 1, Gauss(s))
    assert {one.sentence for one in made.hypotheses} == {
        "it",
        "at every step j of the next number of steps more",
    }
    for begin, further in (
        (begun(order=SECOND), on()),
        (begun(), on(SECOND)),
        (begun(revealed=(COIN,)), on()),
        (begun(KERNEL.under(v > s)), on()),
        (begun(), on(end=j + 3)),
        (begun(), on(revealed=(COIN,))),
    ):
        with pytest.raises(UnprovedError):
            steps.recur(begin, Gauss(s), further)
    with pytest.raises(UnprovedError):
        steps.recur(begun(), Gauss(s / 2), on())


def test_the_mean_over_events_of_any_number() -> None:
    """Two events and the rest, by the rule for any number of them, have the mean of three cases."""
    i, count = Symbol("i", integer=True, nonnegative=True), Symbol("N", integer=True, positive=True)
    chance, cost = Function("w", nonnegative=True), Function("A", real=True)
    batches, event = Variable("the batches", S.Zero), Hypothesis("all sizes are in range number i")

    def judged(profile: Profile, order: Order = FIRST, revealed: tuple[Variable, ...] = (batches,)) -> Span:
        return KERNEL.suppose(order, (S.Zero, T), (S.Zero, S.Zero), profile, "a case", revealed)

    within = KERNEL.under(cost(i) <= 1, cost(i) >= 0)
    span = within.suppose(FIRST, (S.Zero, T), (S.Zero, S.Zero), Gauss(cost(i)), "a case", (batches,), (event,))
    third = Rational(1, 3)

    def mean(weight: Expr, rest: Span) -> Span:
        cases, events = ((1 - weight, span), (weight, rest)), (frozenset({event}), frozenset[Hypothesis]())
        return KERNEL.mean(batches, cases, events=events, over=(i, count, chance(i)))

    made = mean(third, judged(Gauss(s)))
    assert event not in made.hypotheses
    assert made.given == frozenset()
    assert any("A(i) <= 1" in str(one) for one in made.hypotheses)
    assert any("adds up to 1 (N, w(i))" in str(one) for one in made.hypotheses)
    of_both = made.profile.subs({count: Integer(2)}).at(z).doit()
    parts = [Gauss(one).at(z) for one in (cost(0), cost(1), s)]
    assert expand(of_both - (2 * (chance(0) * parts[0] + chance(1) * parts[1]) + parts[2]) / 3) == 0
    for rest in (judged(Gauss(s), SECOND), judged(Gauss(s), revealed=())):
        with pytest.raises(UnprovedError):
            mean(third, rest)
    with pytest.raises(UnprovedError):
        mean(Integer(2), judged(Gauss(s)))


def test_the_load_of_a_projected_step_is_that_of_the_code() -> None:
    """What the theorem asks of p is the ratio that `random_projection` puts into its moment, and no less."""
    made = derivation.derive("projections/revealed_coin", frozenset({q <= 1}))
    supposed = {str(one): one for each in made.first.hypotheses for one in each.constants}
    (law,) = (one for says, one in supposed.items() if "sigma_A" in says and "p(j)" in says)
    values = {"b": 5, "sigma_A": Rational(3, 2), "ell": 7, "v_j": Rational(9, 4)}
    at = {letter: values[str(letter)] for letter in law.free_symbols if str(letter) in values}
    ratio = Rational(float(_ratio(2 / 5, 1.5, 7, 1.5)))
    (price,) = law.atoms(Function("p", real=True)(j).func)
    for factor, holds in ((Rational(1000001, 1000000), True), (Rational(97, 100), False)):
        assert bool(law.subs({price: factor * ratio}).subs(at)) is holds
