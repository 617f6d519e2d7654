"""Gradients and Hessian products of many kinds of networks against a plain loop over points and samples."""

import pytest
import torch
from brought_networks import BROUGHT, RIGHTLY_REFUSED
from network_corpus import KINDS, LABELS, Kind, chain, normal
from torch import Tensor, nn
from torch.func import vmap
from torch.nn.utils import vector_to_parameters

from lastiterate.numeric.errors import InputError
from lastiterate.runtime import engine, factors
from lastiterate.runtime.engine import Plain, Way, unwrapped, without_recomputation
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import flat
from lastiterate.runtime.workloads.workload import Workload

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
    [
        pytest.param(one, id=one.name, marks=[pytest.mark.nightly] * one.nightly)
        for one in [*KINDS, *BROUGHT]
        if one.name not in RIGHTLY_REFUSED
    ],
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
    vectors = vectors * (wanted.diagonal().T != 0)  # a padding row without a gradient moves the other gradients
    made = vmap(gradients.curved)(points, vectors, rows, targets)
    step = 1e-2 if kind.name in COARSE else 1e-5
    for k, (point, vector) in enumerate(zip(points, vectors, strict=True)):
        ends = [plain(kind, module, point + sign * step * vector, k) for sign in (1, -1)]
        there = (ends[0] - ends[1]) / (2 * step)
        room = (0.05 if kind.name in COARSE else 1e-4) * float(there.norm()) + 1e-7 * float(wanted.norm())
        assert float((made[k] - there).norm()) <= room


def test_a_repeated_module_keeps_its_parameters() -> None:
    work = next(one for one in BROUGHT if one.name == "shared_three_times").workload()
    module = work.initial(0)
    held = list(module.parameters())
    gradients = Gradients(work, module)
    gradients.at(gradients.start[None])
    assert [id(one) for one in module.parameters()] == [id(one) for one in held]
    assert torch.equal(torch.cat([one.detach().flatten() for one in held]), gradients.start)


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


class OneRowWrong(Way):
    """Gradients of which those of one sample of a batch are wrong."""

    def __init__(self, plain: Plain, forward: bool, first: Tensor) -> None:
        super().__init__(plain, forward)
        right = self.gradient
        self.gradient = lambda leaves, row, target: tuple(
            leaf * torch.where((row == first).all(), 1.01, 1.0) for leaf in right(leaves, row, target)
        )


class Cast(Way):
    """Gradients that pass through half precision."""

    def __init__(self, plain: Plain, forward: bool, *_: Tensor) -> None:
        super().__init__(plain, forward)
        right = self.gradient
        self.gradient = lambda *at: tuple(leaf.half().to(leaf) for leaf in right(*at))


class NotSymmetric(Way):
    """Products with a matrix that is not symmetric."""

    def __init__(self, plain: Plain, forward: bool, *_: Tensor) -> None:
        super().__init__(plain, forward)
        right = super().product
        self.product = lambda point, vector, *at: right(point, vector, *at) + 0.1 * vector.roll(1)  # type: ignore[method-assign]


class TwiceTheHessian(Way):
    """Products with twice the Hessian, which is symmetric."""

    def __init__(self, plain: Plain, forward: bool, *_: Tensor) -> None:
        super().__init__(plain, forward)
        right = super().product
        self.product = lambda *at: 2 * right(*at)  # type: ignore[method-assign]


class Frozen(Way):
    """A curvature whose slope in the point is lost."""

    def __init__(self, plain: Plain, forward: bool, *_: Tensor) -> None:
        super().__init__(plain, forward)
        right = super().bend
        self.bend = lambda point, *at: right(point.detach(), *at) + 0 * point.sum()  # type: ignore[method-assign]


FAULTS: list[tuple[type[Way], str, str]] = [
    (OneRowWrong, "gradients", "gradients differ from a plain backward pass by "),
    (Cast, "gradients", "gradients differ from a plain backward pass by "),
    (NotSymmetric, "products", "products with the Hessian are not symmetric"),
    (TwiceTheHessian, "products", "products with the Hessian differ from differences of gradients by "),
    (TwiceTheHessian, "slopes", "products with the Hessian differ from differences of gradients by "),
    (Frozen, "slopes", "third derivatives differ from differences of the curvature"),
    (Frozen, "inputs", "third derivatives differ from differences of the curvature"),
]


@pytest.mark.parametrize(
    ("fault", "use", "said"), FAULTS, ids=[f"{one.__name__}-{use}" for one, use, _ in FAULTS]
)
def test_a_way_that_is_wrong_is_not_used(
    fault: type[Way], use: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for dtype in ("float64", "float32"):
        work = next(one for one in KINDS if one.name == "tanh").workload()
        gradients = Gradients(work, work.initial(0), dtype=dtype, tried=False)
        wrong = lambda plain, forward, _leaves, row, _target: fault(plain, forward, row)  # type: ignore[call-arg, arg-type]  # noqa: E731
        with monkeypatch.context() as changed:
            changed.setattr(engine, "_WAYS", (("wrong", "are wrong", wrong), *engine._WAYS[1:]))
            used = gradients.engine.way(use)
        assert type(used) is Way
        assert gradients.engine._said[use][1].startswith(f"wrong: {said}")


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(one, id=one.name, marks=[pytest.mark.nightly] * one.nightly)
        for one in KINDS
        if one.name not in {*REFUSED, *HALF}
    ],
)
def test_gradients_that_are_no_slopes_of_the_loss_are_said(kind: Kind) -> None:
    work = kind.workload()
    for dtype in ("float64", "float32"):
        engine_of = Gradients(work, work.initial(0), dtype=dtype, tried=False).engine
        engine_of.way("gradients")
        assert ("the constants describe the steps of training" in engine_of.words()) is (kind.name in NONE)


def test_steep_curvature_in_float32_is_no_other_backward_pass() -> None:
    class Steep(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.full((4,), 1.0))

        def forward(self, rows: Tensor) -> Tensor:
            return torch.sin(3e4 * (self.weight.float() * rows.float()).sum(dim=1, keepdim=True)).to(rows)

    work = Workload("steep", Steep, lambda z, y: (z * y).sum(), normal(4, 4), torch.ones(4, 1))
    assert Gradients(work, work.initial(0)).engine.own_backward == ""


def test_hooks_on_parameters_are_said() -> None:
    module = chain(nn.Linear(3, 3))
    module[0].weight.register_hook(lambda slopes: 2 * slopes)
    work = Workload("hooked", lambda: module, nn.functional.cross_entropy, normal(4, 3), LABELS[:4])
    assert Gradients(work, work.initial(0)).engine.words() == "Hooks on parameters are not applied: 0.weight."


def test_rows_of_another_shape_are_tried_again() -> None:
    module = chain(nn.AdaptiveAvgPool1d(2), nn.Flatten(), nn.Linear(2, 2), nn.PReLU())
    work = Workload("ragged", lambda: module, nn.functional.cross_entropy, normal(4, 1, 3), LABELS[:4])
    gradients = Gradients(work, work.initial(0))
    longer = gradients.on(normal(4, 1, 5), LABELS[:4])
    assert longer.engine is not gradients.engine
    assert gradients.on(normal(3, 1, 5), LABELS[:3]).engine is longer.engine
    found = flat(longer.at(longer.start[None]))[0]
    kind = Kind("ragged", lambda: module, normal(4, 1, 5), LABELS[:4])
    wanted = [plain(kind, module, longer.start, k) for k in range(4)]
    assert torch.allclose(found, torch.stack(wanted))


def test_factors_are_tested_on_several_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    work = next(one for one in KINDS if one.name == "tanh").workload()
    monkeypatch.setattr(factors, "_FEWEST", 1)
    monkeypatch.setattr(factors, "_GRAM_COST", 0)
    assert Gradients(work, work.initial(0)).factored is not None
    right = factors.Use.of_samples

    def one_wrong(use: factors.Use, inputs: Tensor, slopes: Tensor, parameter: torch.Size) -> factors.Outer:
        slopes = slopes.clone()
        slopes[1:2] *= 1.01
        return right(use, inputs, slopes, parameter)

    monkeypatch.setattr(factors.Use, "of_samples", one_wrong)
    assert Gradients(work, work.initial(0)).factored is None
