"""Parameters at the ends of the range of floats: a bound that is still one, or a refusal; from Python, quickly.

Oracles: exact balls for composition and for one last step, scale invariance, and the order of the parameters.
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf, isnan

import pytest
from flint import arb

import lastiterate as li
from lastiterate.numeric.accounting.conversion import gdp_delta, gdp_epsilon
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Clipped
from lastiterate.numeric.rounding import exact, lower, precision
from lastiterate.numeric.run import NoisySGD, extreme, refuse_extreme

_ENDS = (5e-324, 1e-300, 1e-160, 1e-60, 1e160, 1e300, 1.7e308)
_RUN = NoisySGD(50, 1.0, 1.0, 1.0, 4, diameter=3.0)
_SCHEMES = {
    "full": {},
    "cyclic": {"sampling": "cyclic", "batch_size": 2},
    "shuffled": {"sampling": "shuffled", "batch_size": 2},
    "without_replacement": {"sampling": "without_replacement", "batch_size": 2},
    "poisson": {"sampling": "poisson", "batch_size": 2, "adjacency": ""},
}
_ASSUMPTIONS = {
    "smooth": li.Smooth(1.0),
    "convex": li.Convex(1e-310),
    "strongly convex": li.StronglyConvex(1e-310, 5e-324),
    "holder": li.Holder(1.0, 0.5),
    "clipped": li.Clipped(),
    "tabulated": li.Tabulated((1.0, 2.0), (0.5, 1.0)),
    "sum": li.Sum(li.Smooth(1e-300), li.Holder(1e300, 0.5)),
    "minimum": li.Minimum(li.Smooth(1e300), li.Clipped()),
}


def _composed(run: NoisySGD, order: float) -> float:
    """Renyi epsilon of the composition of all steps at once, rounded down."""
    with precision(400):
        samples = 1 if run.adjacency == "add_remove" else 2
        met = run.steps if run.sampling in ("without_replacement", "poisson") else -(-run.steps // run.batches)
        step = (
            samples * exact(run.step_size_at(0)) * exact(run.clip_norm) / run.batch / exact(run.noise_std_at(0))
        )
        return lower(exact(order) / 2 * met * step**2)


@pytest.mark.parametrize("scheme", _SCHEMES)
def test_one_number_at_an_end(subtests: pytest.Subtests, scheme: str) -> None:
    """Never nan, never above composition, and below it only where one last step explains it."""
    for name in ["noise_std", "clip_norm", "step_size", "diameter"]:
        for kind in _ASSUMPTIONS:
            with subtests.test(kind=kind, name=name):
                assumption = _ASSUMPTIONS[kind]
                for value in _ENDS:
                    run = replace(_RUN, **{name: value}, **_SCHEMES[scheme])
                    try:
                        found = li.bound(run, assumption, order=2.0).epsilon
                    except InputError as error:
                        assert extreme(run, assumption) or ("step_size" in str(error) and "convex" in kind)  # noqa: PT017
                        continue
                    above = _composed(run, 2.0)
                    assert not isnan(found)
                    assert found <= above * (1 + 1e-9) + 5e-324
                    if run.diameter == inf or (above == inf and name == "diameter"):
                        assert found == inf or found >= above


@pytest.mark.parametrize("scheme", ["full", "without_replacement", "poisson"])
def test_without_projection_linear_losses_attain_composition(scheme: str) -> None:
    """No bound may be below composition: constant gradients of norm K attain it where batches meet the sample.

    Random batches meet it in all T steps with chance q^T. That takes 2 T log(1 / q) at most from the divergence, which
    is nothing beside composition where the noise is tiny; where it is large, they are amplified in truth.
    """
    random = scheme != "full"
    for noise in (1e-20, 1e-6, 0.1, 1e6):
        run = replace(_RUN, noise_std=noise, diameter=inf, **_SCHEMES[scheme])
        if noise < 1e-3 or not random:
            least = _composed(run, 2.0) * (1 - 1e-9 * random)
            assert li.bound(run, li.Smooth(1.0), order=2.0).epsilon >= least


@pytest.mark.nightly
def test_the_unit_of_length_matters_only_beyond_floats(subtests: pytest.Subtests) -> None:
    """In a unit 2^power times as small: the same, or a refusal."""
    for kind, plain in {"smooth": li.Smooth(0.1), "convex": li.Convex(0.1), "clipped": li.Clipped()}.items():
        truth = li.bound(_RUN, plain, order=2.0).epsilon
        for power in [-1000, -190, -50, 150, 950]:
            with subtests.test(power=power, kind=kind):
                unit = 2.0**power
                run = replace(_RUN, noise_std=unit, diameter=3.0 * unit, step_size=unit)
                assumption = {
                    "smooth": li.Smooth(0.1 / unit),
                    "convex": li.Convex(0.1 / unit),
                    "clipped": li.Clipped(),
                }[kind]
                if extreme(run, assumption):
                    with pytest.raises(InputError, match="in another unit"):
                        li.bound(run, assumption, order=2.0)
                else:
                    assert li.bound(run, assumption, order=2.0).epsilon == pytest.approx(truth, rel=1e-9)


def test_a_domain_of_no_width_costs_one_last_step() -> None:
    run = replace(_RUN, diameter=1e-25)
    with precision():
        least = lower(exact(2.0) / 2 * (2 * exact(1.0) / 4) ** 2)
    for assumption in (li.Smooth(1.0), li.Clipped(), li.Convex(1.0)):
        found = li.bound(run, assumption, order=2.0).epsilon
        assert least <= found
    assert li.bound(run, li.Smooth(1.0), order=2.0).epsilon == pytest.approx(least, rel=1e-12, abs=0)


@pytest.mark.parametrize("scheme", _SCHEMES)
@pytest.mark.sweep(1)
def test_orders_of_every_size(subtests: pytest.Subtests, scheme: str) -> None:
    run = replace(_RUN, **_SCHEMES[scheme])
    least = li.bound(run, li.Convex(1.0), order=1 + 1e-12).epsilon
    for order in [1 + 1e-9, 2.0, 1e6, 1e300]:
        with subtests.test(order=order):
            found = li.bound(run, li.Convex(1.0), order=order).epsilon
            assert 0 < found <= _composed(run, order) * (1 + 1e-9)
            if order <= 1e6:
                assert found >= li.lower_bound(run, li.Convex(1.0), order=order).value
            assert found >= least * (1 - 1e-5)


@pytest.mark.parametrize("scheme", _SCHEMES)
@pytest.mark.sweep(2)
def test_deltas_of_every_size(subtests: pytest.Subtests, scheme: str) -> None:
    for delta in [5e-324, 1e-300, 1e-100, 0.5, 1 - 1e-15]:
        with subtests.test(delta=delta):
            run = replace(_RUN, steps=5, **_SCHEMES[scheme])
            found = li.bound(run, li.Convex(1.0), delta=delta).epsilon
            with precision():
                composed = _composed(run, 2.0) * (1 + 1e-12)
            assert 0 <= found <= gdp_epsilon(composed**0.5 * (1 + 1e-12), delta) * (1 + 1e-9)
            assert found >= li.lower_bound(run, li.Convex(1.0), delta=delta).value


_LONG: dict[str, Callable[[], li.Assumption]] = {
    "smooth": lambda: li.Smooth(0.01),
    "convex": lambda: li.Convex(1.0),
    "strongly convex": lambda: li.StronglyConvex(1.0, 0.01),
    "clipped": li.Clipped,
    "minimum": lambda: li.Minimum(li.StronglyConvex(1.0, 0.01), li.Holder(1.0, 0.5)),
}


@pytest.mark.parametrize("scheme", _SCHEMES)
@pytest.mark.nightly
def test_a_billion_steps(subtests: pytest.Subtests, scheme: str) -> None:
    """In seconds and little memory; never below the same run with fewer steps."""
    for kind in _LONG:
        with subtests.test(kind=kind):
            run = replace(_RUN, steps=10**9, **_SCHEMES[scheme])
            long = li.bound(run, _LONG[kind](), order=2.0).epsilon
            short = li.bound(replace(run, steps=20), _LONG[kind](), order=2.0).epsilon
            assert long >= short * (1 - 1e-6)
            assert long <= _composed(run, 2.0)


def test_a_sample_among_a_million_million() -> None:
    run = NoisySGD(10**4, 1.0, 1.0, 1.0, 10**12, batch_size=1, sampling="without_replacement")
    rate, order = 1e-12, 8.0
    found = li.bound(run, li.Convex(1.0), order=order).epsilon
    whole = _composed(run, order)
    least = li.lower_bound(replace(run, steps=1), li.Convex(1.0), order=order).value
    assert least <= found < whole * rate  # amplified, yet more than one step
    assert (
        li.bound(replace(run, sampling="poisson", adjacency=""), li.Convex(1.0), order=order).epsilon
        < whole * rate
    )


@pytest.mark.parametrize("batches", ["cyclic", "shuffled"])
def test_more_batches_than_steps(batches: str) -> None:
    """One participation at most, whichever of a million million batches holds the sample."""
    run = NoisySGD(5, 1.0, 2.0, 1.0, 10**12, batch_size=1, sampling=batches)
    assert li.bound(run, li.Smooth(1.0), order=2.0).epsilon <= 1.0 * (1 + 1e-9)
    varied = replace(run, noise_std=(2.0, 2.0, 1.0, 2.0, 2.0))
    cost = li.bound(varied, li.Clipped()).cost  # of shuffled batches for the worst order
    assert cost is not None
    assert cost >= 1.0


_REFUSING: dict[str, Callable[[NoisySGD], object]] = {
    "theorem": lambda run: li.theorem("output_perturbation", run, li.Smooth(1.0), order=2.0),
    "bound": lambda run: li.bound(run, li.Clipped(), order=2.0),
    "compare": lambda run: li.compare(run, li.Clipped(), order=2.0),
}


def test_what_rests_on_floats_refuses(subtests: pytest.Subtests) -> None:
    for change in [{"noise_std": 1e-300}, {"clip_norm": 1e300}, {"diameter": 1e-200}]:
        for call in _REFUSING:
            with subtests.test(call=call, change=change):
                run = replace(_RUN, **change)  # type: ignore[arg-type]
                with pytest.raises(InputError, match=r"needs numbers between .*, got .*=1e[-+]\d+") as caught:
                    _REFUSING[call](run)
                assert "\n" not in str(caught.value)


def test_a_lower_bound_beyond_floats_is_zero_and_says_why() -> None:
    for change, named in [
        ({"noise_std": 1e-300}, "noise_std=1e-300"),
        ({"clip_norm": 1e300}, "clip_norm=1e+300"),
    ]:
        found = li.lower_bound(replace(_RUN, **change), li.Clipped(), order=2.0)  # type: ignore[arg-type]
        assert found.value == 0.0
        assert found.description.endswith(f"{named} is beyond what floats can handle")


class _Unread(Clipped):
    """An assumption that holds something else than numbers."""

    note = "no number"


def test_the_number_that_is_out_of_reach_is_named(subtests: pytest.Subtests) -> None:
    for change, assumption, named in [
        ({}, li.Smooth(1e30), ""),
        ({}, li.Smooth(1e-300), ""),
        ({}, li.Smooth(1e31), "L=1e+31 with step_size=1"),
        ({"step_size": (1.0,) * 49 + (10.0,)}, li.Smooth(1.1e29), "L=1.1e+29 with step_size=10"),
        ({}, li.Smooth(1e61), "L=1e+61"),
        ({}, li.Sum(li.Smooth(1.0), li.Holder(1e61, 0.5)), "L=1e+61"),
        ({}, li.Tabulated((1 / 1e60, 1.0), (1.0, 1.0)), ""),
        ({}, li.Tabulated((1e-61, 1.0), (1.0, 1.0)), "distances[0]=1e-61"),
        ({}, li.Tabulated((1.0, 2.0), (0.0, 1e61)), "values[1]=1e+61"),
        ({}, _Unread(), ""),
        ({"clip_norm": 1 / 1e60, "noise_std": 1 / 1e60, "diameter": 1 / 1e60}, li.Clipped(), ""),
        ({"clip_norm": 1.1e60, "noise_std": 1e60}, li.Clipped(), "clip_norm=1.1e+60"),
        ({"noise_std": (1.0,) * 49 + (1e61,)}, li.Clipped(), "noise_std[49]=1e+61"),
        ({"diameter": inf}, li.Clipped(), ""),
        ({"noise_std": 2e30}, li.Clipped(), "noise_std=2e+30 and step_size * clip_norm / batch_size=0.25"),
        ({"noise_std": 2e29}, li.Clipped(), ""),
        ({"diameter": 1e-31}, li.Clipped(), "step_size * clip_norm / batch_size=1 and diameter=1e-31"),
        ({"diameter": 1e31}, li.Clipped(), "diameter=1e+31 and step_size * clip_norm / batch_size=0.25"),
    ]:
        with subtests.test(change=change, assumption=assumption, named=named):
            run = replace(_RUN, **change)  # type: ignore[arg-type]
            assert extreme(run, assumption) == named
            if named:
                with pytest.raises(
                    InputError, match=r"^A test needs numbers between 1e-60 and 1e\+60, .* in another unit\.$"
                ):
                    refuse_extreme("A test", run, assumption)
            else:
                refuse_extreme("A test", run, assumption)


def test_calibration_from_an_end() -> None:
    """Either a run that meets the target, or a refusal."""
    for noise in (1e-300, 1e-20, 1e20, 1e300):
        run = replace(_RUN, noise_std=noise, diameter=inf)
        try:
            found = li.calibrate(run, li.Convex(1.0), epsilon=1.0, delta=1e-5)
        except InputError as error:
            assert "reachable" in str(error) or "noise_std" in str(error)  # noqa: PT017
        else:
            assert found.epsilon <= 1.0
            assert gdp_delta(found.mu, 1.0) <= 1e-5  # type: ignore[union-attr]


def test_the_gaussian_profile_everywhere(subtests: pytest.Subtests) -> None:
    """Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu) in 4000 bits is at most delta at the epsilon that is returned."""
    for delta in [5e-324, 1e-300, 1e-12, 0.3, 0.9, 1 - 1e-15]:
        for mu in [5e-324, 1e-300, 1e-20, 1e-3, 1.0, 100.0, 1e5, 1e7, 1e20, 1e150, 1e300]:
            with subtests.test(mu=mu, delta=delta):
                epsilon = gdp_epsilon(mu, delta)
                assert epsilon >= 0
                if epsilon == inf:
                    assert mu >= 1e150
                    continue
                with precision(4000):
                    m, e = exact(mu), exact(epsilon)
                    assert _profile(m, e)[1] <= exact(delta)
                    if epsilon > 0 and mu < 1e100:
                        assert _profile(m, e * (1 - arb(10) ** -9))[0] >= exact(delta) * (1 - arb(10) ** -6)


def _profile(mu: arb, epsilon: arb) -> tuple[arb, arb]:
    """From below and from above; the second term is between 0 and the density over its argument (Mills)."""
    z, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    near = (z / arb(2).sqrt()).erfc() / 2
    if mu <= 1e5:
        exactly = near - epsilon.exp() * (far / arb(2).sqrt()).erfc() / 2
        return exactly, exactly
    return near - (-(z**2) / 2).exp() / (far * (2 * arb.pi()).sqrt()), near
