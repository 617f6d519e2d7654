"""Proximal steps after the noise: what is run, what is refused, and that the number is that of the run without them."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss, softshrink

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.optimisers.optimiser import ProjectedNoisySGD, check_nonexpansive

RUN = NoisySGD(4, 0.5, 0.05, 0.3, dataset_size=6, diameter=1.0)
INPUTS, TARGETS = torch.linspace(-1, 1, 18).reshape(6, 3).double(), torch.ones(6, 1).double()


def trained(proximal: Callable[[Tensor], Tensor] | None, run: NoisySGD = RUN) -> tuple[ProjectedNoisySGD, Tensor]:
    module = nn.Linear(3, 1, bias=False).double()
    nn.init.zeros_(module.weight)
    optimiser = ProjectedNoisySGD(module, mse_loss, run, proximal=proximal, seed=7)
    for batch in optimiser.batches():
        optimiser.step(INPUTS[batch], TARGETS[batch])
    return optimiser, module.weight.detach().reshape(-1)


def test_the_map_comes_after_the_noise_and_before_the_projection() -> None:
    for run in (RUN, NoisySGD(1, 0.5, 5.0, 0.3, dataset_size=6, diameter=1.0)):
        calls: list[Tensor] = []

        def shrunk(point: Tensor, calls: list[Tensor] = calls) -> Tensor:
            calls.append(softshrink(point, 0.1))
            return calls[-1]

        optimiser, weight = trained(shrunk, run)
        last = calls[-1]
        torch.testing.assert_close(weight, last * min(1.0, 0.5 / float(last.norm())))
        assert optimiser.accounted() == run
        assert float(weight.norm()) <= 0.5 * (1 + 1e-12)
        assert not torch.equal(weight, trained(None, run)[1])
    assert bool((trained(lambda point: softshrink(point, 10.0))[1] == 0).all())


@pytest.mark.parametrize(
    "proximal",
    [
        lambda w: softshrink(w, 0.2),
        lambda w: w / 1.1,
        lambda w: w.clamp(min=0),
        lambda w: w * max(0.0, 1 - 0.3 / max(float(w.norm()), 1e-12)),
        lambda w: -w,
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_maps_that_bring_no_points_apart_pass(proximal: Callable[[Tensor], Tensor], dtype: torch.dtype) -> None:
    for dimension in (1, 5, 300):
        check_nonexpansive(proximal, torch.full((dimension,), 0.1, dtype=dtype), 2.0)


@pytest.mark.parametrize(
    ("proximal", "message"),
    [
        (lambda w: torch.where(w.abs() > 0.2, w, 0.0), "proximal needs a map that moves no two points apart"),
        (lambda w: 1.001 * w, "got images .* apart of points"),
        (lambda w: torch.cat([1.2 * w[:1], w[1:] / 2]), "got images .* apart of points"),
        (lambda w: w * w.norm(), "got images .* apart of points"),
        (lambda w: w + torch.randn_like(w), "without randomness"),
        (lambda w: w[:-1], r"needs to return 40 finite numbers, got shape \(39,\)"),
        (lambda w: w / 0, "finite numbers, got nan or inf"),
        (lambda _: 3, "got int"),
    ],
)
def test_other_maps_are_refused_with_a_witness(proximal: Callable[[Tensor], Tensor], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_nonexpansive(proximal, torch.zeros(40, dtype=torch.float64), 1.0)
