"""Never above an upper bound, equal to it where the theory says tight, and below what is known exactly."""

from dataclasses import replace
from math import inf, isfinite
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Blocks,
    Clipped,
    Convex,
    Holder,
    Minimum,
    Smooth,
    StronglyConvex,
    Sum,
    Tabulated,
)
from lastiterate.numeric.lower import lower_bound, lower_bounds
from lastiterate.numeric.lower.gradients import admits_curvature, steepest_push
from lastiterate.numeric.run import NoisySGD

RUN = NoisySGD(20, 0.1, 0.2, 1.0, dataset_size=10, batch_size=2, sampling="cyclic", diameter=1.0)
WHAT = {"assumption": Convex(1.0), "order": 2.0}
SAMPLED = NoisySGD(1, 1.0, 1.0, 1.0, dataset_size=10, batch_size=1, sampling="without_replacement")


def random_case(generator: np.random.Generator, schemes: tuple[str, ...]) -> tuple[NoisySGD, Assumption]:
    scheme = str(generator.choice(schemes))
    batch, batches = int(generator.choice([1, 2, 5])), int(generator.choice([1, 2, 3, 8]))
    eta = float(10 ** generator.uniform(-2, 0.5))
    noise = float(10 ** generator.uniform(-1.5, 1))
    L = float(10 ** generator.uniform(-3, 0.29)) / eta
    m = L * float(generator.choice([1.0, generator.uniform(0.01, 1)]))
    K = noise * batch / eta * float(10 ** generator.uniform(-2, 0.5))
    run = NoisySGD(
        steps=int(generator.choice([1, 2, 3, int(10 ** generator.uniform(0, 2))])),
        step_size=eta,
        noise_std=noise,
        clip_norm=K,
        dataset_size=batch * batches,
        batch_size=None if scheme == "full" else batch,
        sampling=scheme,
        diameter=float(generator.choice([inf, noise * 10 ** generator.uniform(-1.5, 2)])),
    )
    kinds: list[Assumption] = [Convex(L), StronglyConvex(L, m), Smooth(L), Clipped(), Holder(L, 0.5)]
    kinds += [Minimum(Smooth(L), Clipped()), Sum(Smooth(L), Holder(L, 0.3)), Minimum(Smooth(L), Convex(L))]
    return run, kinds[int(generator.integers(len(kinds)))]


def check(seed: int, cases: int, schemes: tuple[str, ...]) -> None:
    generator = np.random.default_rng(seed)
    spoke = 0
    for _ in range(cases):
        run, assumption = random_case(generator, schemes)
        target = {"order": float(generator.choice([1.0001, 1.5, 2.0, 8.0, 60.0]))}
        if generator.random() < 0.3:
            target = {"delta": float(10 ** generator.uniform(-8, -1))}
        least = lower_bound(run, assumption, **target)
        assert least.value >= 0
        spoke += least.value > 0
        if least.value:
            above = bound(run, assumption, **target).epsilon
            assert least.value <= above, (run, assumption, target, least)
    assert spoke > 0.3 * cases


def test_never_above_an_upper_bound_fixed_batches() -> None:
    check(0, 10, ("full", "cyclic"))


def test_never_above_an_upper_bound_random_batches() -> None:
    check(1, 10, ("without_replacement", "shuffled", "poisson"))


@pytest.mark.nightly
def test_never_above_an_upper_bound_many() -> None:
    check(2, 4000, ("full", "cyclic"))
    check(3, 600, ("without_replacement", "shuffled", "poisson"))


@given(st.integers(1, 3000), st.floats(0.01, 50), st.floats(0.01, 3), st.floats(1.01, 200))
@settings(max_examples=60)
def test_tight_for_linear_losses_without_projection(steps: int, noise: float, eta: float, order: float) -> None:
    run = NoisySGD(steps, eta, noise, 1.0, dataset_size=7)
    for assumption in (Convex(0.5), Smooth(1.0), Clipped(), Holder(1.0, 0.5)):
        above, below = (
            bound(run, assumption, order=order).epsilon,
            lower_bound(run, assumption, order=order).value,
        )
        assert above * (1 - 1e-12) <= below <= above


@given(st.integers(1, 3000), st.floats(0.01, 50), st.floats(0.01, 0.999), st.floats(1.01, 200))
@settings(max_examples=60)
def test_tight_for_quadratics_without_projection(steps: int, noise: float, m: float, order: float) -> None:
    run = NoisySGD(steps, 1.0, noise, 1.0, dataset_size=7)
    above = bound(run, StronglyConvex(1.0, m), order=order).epsilon
    found = lower_bound(run, StronglyConvex(1.0, m), order=order)
    assert above * (1 - 1e-9) <= found.value <= above
    assert "update maps" in found.description


def test_tight_for_one_step_without_replacement() -> None:
    for order in (1.5, 2.0, 20.0):
        above = bound(SAMPLED, Smooth(1.0), order=order).epsilon
        assert lower_bound(SAMPLED, Smooth(1.0), order=order).value <= above
    found = {one.witness: one.value for one in lower_bounds(SAMPLED, Smooth(1.0), order=20)}
    assert round(found["linear losses, +K against -K, all others at 0"], 7) == 7.6815868
    assert round(found["linear losses, +K against -K, all others at -K"], 6) == 37.576226


def test_gaussian_epsilon() -> None:
    endless = NoisySGD(100, 0.1, 1.0, 1.0, dataset_size=2)
    for delta in (1e-9, 1e-5, 0.1):
        above, below = (f(endless, Convex(1.0), delta=delta) for f in (bound, lower_bound))
        assert above.epsilon * (1 - 1e-9) <= below.value <= above.epsilon
    assert lower_bound(replace(endless, noise_std=1000.0), Convex(1.0), delta=0.5).value == 0


@pytest.mark.sweep(2)
@pytest.mark.parametrize("scheme", ["shuffled", "poisson", "without_replacement", "cyclic"])
@pytest.mark.parametrize("diameter", [inf, 1.0])
def test_every_scheme_has_a_witness(scheme: str, diameter: float) -> None:
    run = replace(RUN, sampling=scheme, adjacency="", diameter=diameter, steps=23)
    for assumption in (Convex(1.0), Clipped()):
        renyi = lower_bound(run, assumption, order=2.0)
        assert renyi.value > 0
        assert lower_bound(run, assumption, order=4.0).value >= renyi.value
        assert lower_bound(run, assumption, delta=1e-3).value > 0


def test_a_whole_poisson_batch_holds_the_sample_or_has_none() -> None:
    """One sample more or less moves an update by eta K / b, half of what replacing it does."""
    for steps in (1, 7):
        run = replace(RUN, sampling="poisson", adjacency="", batch_size=10, diameter=inf, steps=steps)
        exact = 2.0 * steps * (0.1 / 10) ** 2 / (2 * 0.2**2)
        for order, factor in ((2.0, 1.0), (8.0, 4.0)):
            assert (
                exact * factor * (1 - 1e-4)
                <= lower_bound(run, Convex(1.0), order=order).value
                <= exact * factor
            )
        near = lower_bound(replace(run, diameter=4.0), Convex(1.0), order=2.0).value
        assert near <= exact


@pytest.mark.nightly
def test_a_wide_domain_shows_no_less_than_none() -> None:
    """Linear losses never feel its ends, and the last step alone is there as well."""
    wide, endless = replace(RUN, diameter=10.0), replace(RUN, diameter=inf)
    for scheme in ("cyclic", "shuffled", "without_replacement", "poisson"):
        one, other = (
            {
                one.witness: one.value
                for one in lower_bounds(replace(run, sampling=scheme, adjacency="", steps=7), **WHAT)
            }
            for run in (wide, endless)
        )
        if scheme in ("cyclic", "poisson"):
            walked = max(value for words, value in one.items() if words.startswith("clamped linear losses"))
            assert walked >= max(other.values()) * (1 - 5e-3)
        assert max(one.values()) >= max(other.values()) * 0.98


@pytest.mark.nightly
def test_the_last_step_alone_is_the_whole_run_of_one_step() -> None:
    """Where the true answer is known: one step on a bounded domain loses what it loses without projection."""
    for sampling, adjacency in (("full", ""), ("cyclic", ""), ("without_replacement", ""), ("poisson", "")):
        batch = None if sampling == "full" else 2
        run = replace(RUN, sampling=sampling, batch_size=batch, adjacency=adjacency, steps=1)
        for target in ({"order": 2.0}, {"order": 30.0}, {"delta": 1e-5}):
            below, endless = (
                lower_bound(one, Clipped(), **target) for one in (run, replace(run, diameter=inf))
            )
            assert below.value >= endless.value
            above = bound(run, Clipped(), **target).epsilon
            assert below.value <= above
            if sampling != "without_replacement":  # no tight bound of it is known
                assert below.value >= above * (1 - 3e-3)


def test_contracting_runs_with_random_batches() -> None:
    run = replace(RUN, sampling="without_replacement", diameter=inf)
    found = lower_bounds(run, StronglyConvex(10.0, 5.0), order=2.0)
    assert len(found) == 2
    assert "curvature 5," in found[0].witness
    steeper = lower_bound(replace(run, sampling="shuffled", steps=40), StronglyConvex(10.0, 0.01), order=2.0)
    assert steeper.value > 0
    assert "curvature 0.01" not in steeper.witness
    assert 0 < max(one.value for one in found) <= bound(run, StronglyConvex(10.0, 5.0), order=2.0).epsilon


@pytest.mark.nightly
def test_a_contraction_that_floats_do_not_see() -> None:
    """1 - eta m is 1: the curvature is raised until the interval is narrow enough, as for any other small one."""
    run = replace(RUN, sampling="shuffled", steps=40, diameter=inf)
    tiny, small = (lower_bound(run, StronglyConvex(10.0, m), order=2.0).value for m in (1e-19, 1e-3))
    assert tiny == pytest.approx(small, rel=0.3)
    assert lower_bound(replace(run, step_size=1e-18), StronglyConvex(10.0, 5.0), order=2.0).value == 0.0


def test_domains_that_no_strongly_convex_lipschitz_loss_fits() -> None:
    nothing = lower_bound(replace(RUN, diameter=1.0, clip_norm=0.4), StronglyConvex(1.0, 1.0), order=2.0)
    assert nothing.value == 0
    assert nothing.witness == "no witness"
    assert lower_bound(replace(RUN, diameter=1.0, clip_norm=0.6), StronglyConvex(1.0, 1.0), order=2.0).value > 0


@pytest.mark.parametrize(
    "assumption",
    [
        Smooth(2.0),
        Holder(2.0, 0.5),
        Holder(30.0, 0.1),
        Clipped(),
        Tabulated((0.1, 0.4), (0.3, 1.0)),
        Sum(Smooth(1.0)),
    ],
)
def test_the_push_meets_its_modulus(assumption: Assumption) -> None:
    """Against the definition: |g(x) - g(y)| <= omega(|x - y|) for pairs on a grid."""
    run = replace(RUN, diameter=1.0)
    kappa = steepest_push(assumption, run)
    assert kappa > 0
    x = np.linspace(-0.5, 0.5, 201)
    g = np.sign(x) if not isfinite(kappa) else np.clip(kappa * x, -1, 1)
    change, distance = np.abs(g[:, None] - g[None, :]), np.abs(x[:, None] - x[None, :])
    omega = np.where(distance > 0, assumption.value(np.maximum(distance, 1e-300)), 0.0)  # type: ignore[attr-defined]
    assert np.all(change <= np.minimum(omega, 2) * (1 + 1e-9) + 1e-12)
    if assumption == Smooth(2.0):
        assert kappa == pytest.approx(2.0)


def test_curvatures() -> None:
    assert admits_curvature(Convex(1.0), 1.0, 1.0)
    assert not admits_curvature(Convex(1.0), 1.1, 1.0)
    assert not admits_curvature(StronglyConvex(1.0, 0.5), 0.4, 1.0)
    assert admits_curvature(Minimum(StronglyConvex(1.0, 0.5), Smooth(0.5)), 0.5, 1.0)
    assert not admits_curvature(Minimum(StronglyConvex(1.0, 0.5), Smooth(0.4)), 0.5, 1.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "order=None and"),
        ({"order": 2.0, "delta": 0.1}, "order=2.0"),
        ({"order": 1.0}, "order=1"),
        ({"delta": 1.5}, "delta=1.5"),
    ],
)
def test_bad_requests(arguments: dict, words: str) -> None:
    with pytest.raises(InputError, match=words.split(" and")[0]):
        lower_bound(RUN, Convex(1.0), **arguments)


def test_what_is_no_assumption() -> None:
    with pytest.raises(InputError, match="assumption=3"):
        lower_bound(RUN, 3, order=2.0)  # type: ignore[arg-type]


def test_a_long_step_of_convex_losses() -> None:
    assert 0 < lower_bound(RUN, Convex(100.0), order=2.0).value <= bound(RUN, Convex(100.0), order=2.0).epsilon


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ({}, "A lower bound needs an order or a delta, got order=None, delta=None; pass exactly one."),
        (
            {"order": 2.0, "delta": 0.1},
            "A lower bound needs an order or a delta, got order=2.0, delta=0.1; pass exactly one.",
        ),
        ({"order": 1.0}, "order needs a finite number above 1, got order=1; 2 is customary."),
    ],
)
def test_what_is_asked_must_be_one_thing_within_reach(target: dict[str, float], said: str) -> None:
    with pytest.raises(InputError) as caught:
        lower_bounds(RUN, Smooth(1.0), **target)
    assert str(caught.value) == said
    assert lower_bounds(RUN, Smooth(1.0), order=9.9e8)
    assert (
        lower_bound(RUN, Smooth(1.0), order=1e12).value == lower_bound(RUN, Smooth(1.0), order=9.9e8).value > 0
    )


def test_what_is_no_assumption_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"^assumption needs one of .*, got assumption='smooth'; write for example Smooth"
    ):
        lower_bound(RUN, "smooth", order=2.0)  # type: ignore[arg-type]


def _endless(**changes: object) -> NoisySGD:
    return replace(NoisySGD(7, 0.5, 2.0, 1.0, dataset_size=6, batch_size=2, sampling="cyclic"), **changes)


@pytest.mark.parametrize("m", [0.0, 0.4])
@pytest.mark.parametrize("sampling", ["full", "cyclic"])
def test_schedules_on_the_line_follow_the_recursion(sampling: str, m: float) -> None:
    """Means d <- (1 - eta m) d + 2 eta K / b where the sample is met, last of all in the last step."""
    etas, noises = (0.5, 0.3, 0.1, 0.5, 0.2, 0.4, 0.25), (2.0, 1.0, 3.0, 2.0, 1.5, 1.0, 2.0)
    run = _endless(
        step_size=etas, noise_std=noises, sampling=sampling, batch_size=2 if sampling == "cyclic" else None
    )
    gap = variance = 0.0
    for t in range(7):
        met = sampling == "full" or t % 3 == 0
        gap = (1 - etas[t] * m) * gap + (2 * etas[t] / run.batch if met else 0.0)
        variance = (1 - etas[t] * m) ** 2 * variance + noises[t] ** 2
    found = lower_bounds(run, StronglyConvex(1.0, m) if m else Smooth(1.0), order=3.0)
    assert [one.value for one in found] == [pytest.approx(1.5 * gap**2 / variance, rel=1e-12)]
    constant = replace(run, step_size=0.5, noise_std=2.0)
    again = lower_bounds(constant, StronglyConvex(1.0, m) if m else Smooth(1.0), order=3.0)
    gap = sum((1 - 0.5 * m) ** k * (1 / run.batch) for k in range(7) if sampling == "full" or k % 3 == 0)
    variance = sum((1 - 0.5 * m) ** (2 * k) * 4 for k in range(7))
    assert [one.value for one in again] == [pytest.approx(1.5 * gap**2 / variance, rel=1e-12)]


@pytest.mark.nightly
def test_a_schedule_too_long_to_follow_says_nothing() -> None:
    etas = (0.5,) * 200_000 + (0.4,)
    assert lower_bound(_endless(steps=200_001, step_size=etas), Smooth(1.0), order=2.0).value == 0


def test_schedules_of_a_few_kinds_with_random_batches_have_linear_witnesses_and_on_a_domain_the_last_step() -> (
    None
):
    varied = {"step_size": (0.5, 0.4, 0.5, 0.5, 0.5, 0.5, 0.5), "sampling": "without_replacement"}
    run = _endless(**varied)
    constant = lower_bound(_endless(sampling="without_replacement"), Smooth(1.0), order=2.0).value
    found = lower_bound(run, Smooth(1.0), order=2.0).value
    assert 0.9 * constant < found < constant
    assert found <= bound(run, Smooth(1.0), order=2.0).epsilon
    ever_smaller = _endless(
        step_size=tuple(0.5 - 0.01 * t for t in range(run.steps)), sampling="without_replacement"
    )
    assert lower_bounds(ever_smaller, Smooth(1.0), order=2.0) == []
    assert lower_bounds(_endless(**varied), StronglyConvex(1.0, 0.5), order=2.0) == []
    last = lower_bounds(_endless(steps=1, sampling="without_replacement"), Smooth(1.0), order=2.0)
    found = lower_bounds(_endless(**varied, diameter=1.0), Smooth(1.0), order=2.0)
    assert [one.value for one in found] == [one.value for one in last]
    assert lower_bounds(_endless(diameter=1.0), Smooth(1.0), order=2.0)


def test_mixtures_too_far_apart_for_floats_say_what_their_parts_do() -> None:
    far = _endless(sampling="without_replacement", noise_std=1e-20)
    assert 1e40 < lower_bound(far, Smooth(1.0), order=2.0).value <= bound(far, Smooth(1.0), order=2.0).epsilon


def test_no_quadratic_is_flat_enough_for_poisson_batches() -> None:
    run = _endless(sampling="poisson", adjacency="")
    assert lower_bounds(run, StronglyConvex(1.0, 0.5), order=2.0) == []


def test_random_batches_that_hold_every_sample_are_full_batches() -> None:
    full = NoisySGD(7, 0.5, 2.0, 1.0, dataset_size=6)
    for sampling in ("without_replacement", "shuffled", "cyclic"):
        every = replace(full, batch_size=6, sampling=sampling)
        assert lower_bounds(every, Smooth(1.0), order=2.0) == lower_bounds(full, Smooth(1.0), order=2.0)


def test_noise_far_smaller_than_a_step_leaves_what_one_component_shows() -> None:
    """The densities of the mixtures are beyond floats; of all 200 steps with the sample one component speaks."""
    run = NoisySGD(200, 0.1, 0.003, 1.0, 20, batch_size=4, sampling="poisson")
    above, below = bound(run, Smooth(1.0), order=2.0).epsilon, lower_bound(run, Smooth(1.0), order=2.0).value
    assert 0.999 * above <= below <= above
    assert lower_bound(run, Smooth(1.0), delta=1e-5).value <= bound(run, Smooth(1.0), delta=1e-5).epsilon


def test_readme() -> None:
    """Half of what was certified of the last iterate when only its place on the interval was looked at."""
    run = NoisySGD(2000, 0.1, 1.0, 2.0, dataset_size=5, diameter=1.0)
    assert lower_bound(run, Smooth(1.0), order=2.0).value >= 0.0137
    assert lower_bound(run, Smooth(1.0), delta=1e-5).value >= 0.37


# (name, D, 2 eta K / b or eta K / b, scheme, dataset_size, batch_size, steps, least, most): what the hockey-stick
# recursion allows at delta = 1e-5, found with a program of its own, and what is reached.
KNOWN = [
    ("full", 1.0, 0.16, None, 10**6, 2000, 0.81, 0.8460),
    ("full", 2.0, 0.1, None, 10**6, 2000, 0.62, 0.7305),
    ("full", 1.0, 0.01, None, 10**6, 10**15, 0.0398, 0.0411),
    ("full", 1.0, 1.0, None, 10**6, 2000, 6.25, 6.540),
    ("full", 4.0, 0.25, None, 10**6, 2000, 2.48, 3.9796),
    ("full", 8.0, 0.02, None, 10**6, 10**6, 0.28, 0.5402),
    ("cyclic", 1.0, 0.5, 1, 5, 1000, 1.9930, 1.9977),
    ("cyclic", 2.0, 0.2, 1, 10, 5000, 0.7254, 0.7296),
    ("shuffled", 1.0, 0.5, 1, 5, 1000, 0.69, 1.9482),
    ("poisson", 1.0, 0.5, 100, 1000, 200, 0.42, 0.4424),
    ("poisson", 2.0, 1.0, 100, 2000, 500, 1.03, 1.1189),
    ("without_replacement", 1.0, 0.5, 10, 100, 200, 0.37, 0.4433),
]


@pytest.mark.parametrize(("scheme", "diameter", "move", "batch", "size", "steps", "least", "most"), KNOWN)
def test_between_what_is_reached_and_what_the_recursion_allows(
    scheme: str,
    diameter: float,
    move: float,
    batch: int | None,
    size: int,
    steps: int,
    least: float,
    most: float,
) -> None:
    clip = move * (batch or size) / (0.01 if scheme == "poisson" else 0.02)
    run = NoisySGD(steps, 0.01, 1.0, clip, size, batch, scheme, diameter)
    assert least <= lower_bound(run, Convex(199.0), delta=1e-5).value <= most


def test_time_does_not_matter_where_it_is_forgotten() -> None:
    run = NoisySGD(2000, 0.1, 1.0, 2.0, dataset_size=5, diameter=1.0)
    values = [
        lower_bound(replace(run, steps=steps), Smooth(1.0), order=2.0).value for steps in (500, 2000, 10**15)
    ]
    assert values == [pytest.approx(values[0], rel=1e-6)] * 3


def test_a_sign_is_remembered_best_by_a_push_that_is_not_the_hardest() -> None:
    """The rates of leaving either end then differ by what the sample does, and a run of many steps has seen both."""
    run = NoisySGD(3000, 1.0, 1.0, 20.0, dataset_size=50, diameter=0.75)
    found = lower_bound(run, Clipped(), delta=1e-5)
    assert found.losses is not None
    pushes = [abs(value) for _, value in found.losses.shared[0]]
    assert max(pushes) < 10.0
    assert 7.0 < found.value <= bound(run, Clipped(), delta=1e-5).epsilon


@pytest.mark.parametrize(
    ("change", "assumption", "why"),
    [
        ({"noise_std": 1e70}, Smooth(1.0), "noise_std=1e+70 is beyond what floats can handle"),
        ({"step_size": 1e-61}, Clipped(), "step_size=1e-61 is beyond"),
        (
            {"sampling": "shuffled", "step_size": (0.1, 0.2, 0.1), "weight_decay": 0.1},
            Clipped(),
            "with shuffled batches, a schedule, weight decay and such losses, no known run",
        ),
        (
            {"sampling": "poisson", "adjacency": ""},
            StronglyConvex(1.0, 0.5),
            "with poisson batches and such losses, no",
        ),
    ],
)
def test_where_nothing_speaks_it_is_0_and_says_why(
    change: dict[str, Any], assumption: Assumption, why: str
) -> None:
    run = NoisySGD(3, 0.1, 0.1, 1.0, 4, 2, "cyclic")
    found = lower_bound(replace(run, **change), assumption, delta=0.01)
    assert found.value == 0
    assert f"no exactly solvable run is known here: {why}" in found.description
    if "beyond" not in why:
        assert bound(replace(run, **change), assumption, delta=0.01).epsilon >= 0


@pytest.mark.sweep(3)
@pytest.mark.parametrize("sampling", ["full", "cyclic", "shuffled", "without_replacement", "poisson"])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_what_has_a_bound_has_a_lower_bound(sampling: str, decay: float) -> None:
    run = NoisySGD(
        2, [0.1, 0.2], 0.3, 1.0, 4, None if sampling == "full" else 2, sampling, 1.0, weight_decay=decay
    )
    for assumption in (
        Blocks(Holder(1.0, 0.5), Smooth(1.0)),
        Tabulated((0.5, 1.0), (0.1, 0.2)),
        Minimum(Smooth(1.0), Convex(1.0)),
    ):
        least = lower_bound(run, assumption, delta=0.01).value
        assert 0 < least <= bound(run, assumption, delta=0.01).epsilon
