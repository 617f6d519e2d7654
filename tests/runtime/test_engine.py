"""Gradients and Hessian products of many kinds of networks against a plain loop over points and samples."""

import pytest
import torch
from network_corpus import KINDS, Kind
from torch import Tensor, nn
from torch.func import vmap
from torch.nn.utils import vector_to_parameters

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.engine import unwrapped, without_recomputation
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import flat

REFUSED = {"complex_parameters"}
HALF = {"cast_to_half": "float64", "autocast": "float32"}
COARSE = {"cast_to_float32", "softmax_in_float32", "cast_to_half"}
NONE = {"straight_through", "backward_hook"}
"""Networks whose gradients are not gradients of their loss, so that their Hessians need not be symmetric."""


def plain(kind: Kind, module: nn.Module, point: Tensor, sample: int) -> Tensor:
    """Gradient of one sample by a backward pass of the module, with the point in its parameters."""
    moving = [one for one in module.parameters() if one.requires_grad]
    vector_to_parameters(point, moving)
    row, target = (values[sample : sample + 1] for values in (kind.inputs, kind.targets))
    row, target = (one.double() if one.is_floating_point() else one for one in (row, target))
    with torch.enable_grad(), without_recomputation():
        parts = torch.autograd.grad(
            kind.loss(module(row), target), moving, allow_unused=True, materialize_grads=True
        )
    return torch.cat([part.flatten() for part in parts])


def points_near(start: Tensor, number: int) -> Tensor:
    noise = torch.randn(number, len(start), generator=torch.Generator().manual_seed(5), dtype=start.dtype)
    return start + 0.1 * noise


@pytest.mark.parametrize(
    "kind",
    [pytest.param(one, id=one.name, marks=[pytest.mark.nightly] * one.nightly) for one in KINDS],
)
def test_gradients_and_products_are_those_of_a_plain_loop(kind: Kind) -> None:
    work = kind.workload()
    if kind.name in REFUSED:
        with pytest.raises(InputError, match="needs real numbers"):
            work.initial(0)
        return
    gradients = Gradients(work, work.initial(0))
    module = unwrapped(work.initial(0)).double()
    points = points_near(gradients.start, work.samples)  # batches of one size may be confused
    found = flat(gradients.at(points))
    wanted = torch.stack(
        [torch.stack([plain(kind, module, p, k) for k in range(work.samples)]) for p in points]
    )
    exact = 0.05 if kind.name in COARSE else 1e-9
    assert float((found - wanted).norm()) <= exact * float(wanted.norm())
    if kind.name in HALF or kind.name in NONE:
        return
    rows, targets = (held[:] for held in gradients.rows())
    vectors = points_near(torch.zeros_like(gradients.start), work.samples)
    made = vmap(gradients.curved)(points, vectors, rows, targets)
    step = 1e-2 if kind.name in COARSE else 1e-5
    for k, (point, vector) in enumerate(zip(points, vectors, strict=True)):
        ends = [plain(kind, module, point + sign * step * vector, k) for sign in (1, -1)]
        there = (ends[0] - ends[1]) / (2 * step)
        room = (0.05 if kind.name in COARSE else 1e-4) * float(there.norm()) + 1e-7 * float(wanted.norm())
        assert float((made[k] - there).norm()) <= room


@pytest.mark.parametrize("name", HALF)
def test_half_precision_inside_a_module_has_no_constants(name: str) -> None:
    work = next(one for one in KINDS if one.name == name).workload()
    gradients = Gradients(work, work.initial(0), dtype=HALF[name])
    with pytest.raises(InputError, match=r"computes in bfloat16 \(in aten\..*remove autocast and casts"):
        _ = gradients.rounding


def test_single_precision_inside_a_module_raises_the_rounding() -> None:
    work = next(one for one in KINDS if one.name == "cast_to_float32").workload()
    gradients = Gradients(work, work.initial(0))
    assert gradients.rounding == 32 * torch.finfo(torch.float32).eps
    work = next(one for one in KINDS if one.name == "float32_constants").workload()
    assert Gradients(work, work.initial(0)).rounding == 32 * torch.finfo(torch.float64).eps


def test_one_sentence_says_how_a_network_is_differentiated() -> None:
    ways = {}
    for kind in KINDS:
        if kind.name in ("tanh", "prelu", "experts"):
            work = kind.workload()
            ways[kind.name] = Gradients(work, work.initial(0)).engine.words()
    assert ways["tanh"] == ""
    assert (
        "Gradients are computed from a graph of decomposed operators, recorded once (as it is: "
        in ways["prelu"]
    )
    assert "in a loop over pairs" in ways["experts"]
    assert all(len(words) < 300 for words in ways.values())
