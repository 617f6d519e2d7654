"""Every theorem beside ours: ours is never the largest of those that hold."""

import pytest

from lastiterate.numeric.assumptions import Clipped, Convex, Holder, Minimum, Smooth, StronglyConvex, Tabulated
from lastiterate.numeric.bound import bound
from lastiterate.numeric.compare import compare
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD

_RUN = NoisySGD(steps=2000, step_size=0.1, noise_std=1.0, clip_norm=2.0, dataset_size=5, diameter=1.0)
_ASSUMPTIONS = (
    *(Smooth(1), Holder(1, 0.5), Clipped(), Convex(1), StronglyConvex(1, 0.5)),
    *(Tabulated((0.5, 1.0), (1.0, 2.0)), Minimum(Smooth(1), Clipped())),
)


@pytest.mark.parametrize("assumption", _ASSUMPTIONS, ids=lambda assumption: type(assumption).__name__)
def test_ours_is_last_and_least(assumption: Smooth) -> None:
    rows = compare(_RUN, assumption, order=2)
    assert rows[-1].name == "bound"
    assert rows[-1].epsilon == bound(_RUN, assumption, order=2).epsilon
    assert rows[-1].epsilon <= min(row.epsilon for row in rows if row.usable) * (1 + 1e-12)
    names = [row.name for row in rows]
    assert len(set(names)) == len(names)
    assert {"composition", "last_step"} <= set(names)


def test_what_is_refuted_is_shown_and_not_usable() -> None:
    rows = {row.name: row for row in compare(_RUN, Smooth(1), order=2)}
    assert not rows["output_perturbation"].usable
    assert rows["output_perturbation"].claim.startswith("chien_li/")


def test_the_papers_theorems_are_for_constant_runs() -> None:
    schedule = tuple(0.1 / (1 + t) for t in range(20))
    run = NoisySGD(steps=20, step_size=schedule, noise_std=1.0, clip_norm=2.0, dataset_size=5, diameter=1.0)
    assert [row.name for row in compare(run, Smooth(1), order=2)] == ["composition", "last_step", "bound"]


def test_bad_order() -> None:
    with pytest.raises(InputError, match="order=1"):
        compare(_RUN, Smooth(1), order=1)
