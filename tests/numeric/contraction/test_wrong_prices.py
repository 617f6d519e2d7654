"""Wrong prices of blocks, one mistake each: the adversary loses more than the tables that they lead to."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from adversary import Adversary, another_route, profile

import lastiterate as li
from lastiterate.numeric.bound import contracted
from lastiterate.numeric.contraction import chain, fixed_batches, random_batches
from lastiterate.numeric.contraction.chain import Prices, TableCandidate
from lastiterate.numeric.contraction.hidden import HiddenEpoch, Place

Patch = pytest.MonkeyPatch
_CONVEX, _RATIOS = li.Convex(0.01), np.exp(np.linspace(0, 6, 40))


def _run(sampling: str, steps: int, batches: int, s: float, diameter: float, **other: object) -> li.NoisySGD:
    """A run with noise 1 whose sample moves an iterate by s; batches of one sample, or full ones of two."""
    full = sampling == "full"
    known = {"step_size": s if full or sampling == "poisson" else s / 2, "noise_std": 1.0} | other
    size = 2 if full else batches
    return li.NoisySGD(
        steps,
        clip_norm=1.0,
        dataset_size=size,
        batch_size=size if full else 1,
        sampling=sampling,
        diameter=diameter,
        **known,  # type: ignore[arg-type]
    )


def _power(run: li.NoisySGD, position: int) -> float:
    """The greatest ratio, over ratios, orders and three attacks, of what is lost to what the table says."""
    [found] = contracted(run, _CONVEX, None, 1e-3, [another_route(run, _CONVEX)])
    assert isinstance(found, TableCandidate)
    worst = 0.0
    for ahead in (True, False):
        table = found.table if ahead else found.table.reversed
        one = Adversary(run, _CONVEX, position=position)
        for ratio in (1.02, 1.5, 4.0):
            one.ascend(ratio, ahead=ahead)
            first, second = one.laws if ahead else one.laws[::-1]
            lost, known = profile(first, second, _RATIOS), table(_RATIOS)
            seen = lost > 1e-9
            worst = max(worst, float(np.max(lost[seen] / known[seen], initial=0.0)))
    return worst


def _priced(patch: Patch, change: Callable[[Callable[..., Prices], tuple[Any, ...]], Prices]) -> None:
    """Change the prices of blocks of every scheme: ``change`` gets the sound function and its arguments."""
    for module, name in ((fixed_batches, "window_prices"), (random_batches, "_prices")):
        sound = getattr(module, name)
        patch.setattr(
            module,
            name,
            lambda *given, _sound=sound, price=None: change(_sound, given),  # noqa: ARG005
        )


def half_of_the_domain(patch: Patch) -> None:
    _priced(
        patch,
        lambda sound, given: (
            sound(*given)[0],
            sound(replace(given[0], diameter=given[0].diameter / 2), *given[1:])[1],
        ),
    )


def far_of_a_longer_block(patch: Patch) -> None:
    def change(sound: Callable[..., Prices], given: tuple[Any, ...]) -> Prices:
        *rest, length = given
        return sound(*given)[0], sound(*rest, 2 * length)[1]

    _priced(patch, change)


def near_of_a_shorter_block(patch: Patch) -> None:
    def change(sound: Callable[..., Prices], given: tuple[Any, ...]) -> Prices:
        *rest, length = given
        return sound(*rest, length - 1)[0], sound(*given)[1]

    _priced(patch, change)


def near_of_the_other_order(patch: Patch) -> None:
    def change(sound: Callable[..., Prices], given: tuple[Any, ...]) -> Prices:
        near, far = sound(*given)
        assert near is not None
        return near.reversed, far

    _priced(patch, change)


def coins_that_never_meet(patch: Patch) -> None:
    patch.setattr(random_batches, "outcomes", lambda *_: [(0, 1.0)])


def the_first_position_only(patch: Patch) -> None:
    patch.setattr(fixed_batches, "range", lambda _: [0], raising=False)


def tracked_distance(patch: Patch) -> None:
    _priced(
        patch, lambda sound, given: (sound(*given)[0], sound(replace(given[0], diameter=0.5), *given[1:])[1])
    )


def _places(patch: Patch, change: Callable[[tuple[Place, ...]], tuple[Place, ...]]) -> None:
    sound = fixed_batches._epoch

    def epoch(*given: Any) -> HiddenEpoch:
        found = sound(*given)
        return replace(found, places=change(found.places))

    patch.setattr(fixed_batches, "_epoch", epoch)


def the_last_place_left_out(patch: Patch) -> None:
    _places(patch, lambda places: places[1:])  # the pivot stands for one place more


def the_first_place_for_all(patch: Patch) -> None:
    _places(patch, lambda places: (replace(places[-1], count=sum(one.count for one in places)),))


def from_below(patch: Patch) -> None:
    patch.setattr(fixed_batches, "_always", lambda _: 0.0)
    patch.setattr(chain, "_MOST", ((1, 0.0, 1000), (1, 0.0, 1000)))


WRONG = [
    (half_of_the_domain, _run("full", 30, 1, 0.5, 1.0), 0),
    (far_of_a_longer_block, _run("full", 30, 1, 0.5, 1.0), 0),
    (near_of_a_shorter_block, _run("full", 8, 1, 0.3, 5.0), 0),
    (near_of_the_other_order, _run("poisson", 20, 10, 1.0, 1.0), 0),
    (coins_that_never_meet, _run("poisson", 20, 2, 1.5, 0.5), 0),
    (the_first_position_only, _run("cyclic", 12, 3, 1.0, 1.0, noise_std=(1.0, *(1.01,) * 11)), 2),
    (tracked_distance, _run("full", 40, 1, 0.3, 8.0), 0),
    (the_last_place_left_out, _run("shuffled", 9, 3, 1.0, 1.0), 0),
    (the_first_place_for_all, _run("shuffled", 9, 3, 1.0, 1.0), 0),
    (from_below, _run("full", 160, 1, 0.05, 1.0), 0),
]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("run", "position"), {run: position for _, run, position in WRONG}.items())
def test_sound_prices_hold(run: li.NoisySGD, position: int) -> None:
    assert 0.9 < _power(run, position) <= 1


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("plant", "run", "position"), WRONG)
def test_a_wrong_price_is_caught(
    monkeypatch: Patch, plant: Callable[[Patch], None], run: li.NoisySGD, position: int
) -> None:
    plant(monkeypatch)
    assert _power(run, position) > 1.01
