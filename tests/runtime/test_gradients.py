import math
from collections.abc import Callable

import known
import pytest
import torch
from torch import Tensor, nn
from torch.func import hessian, vmap

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import clip_factor, difference, flat, norm
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload


@pytest.fixture(scope="module")
def iris() -> Gradients:
    workload = load_workload("builtin:iris-mlp")
    return Gradients(workload, workload.initial(0))


def points_near(gradients: Gradients, count: int) -> torch.Tensor:
    start = gradients.start
    generator = torch.Generator().manual_seed(1)
    return start + 0.1 * torch.randn(count, len(start), generator=generator, dtype=start.dtype)


def test_vmap_equals_a_loop_of_autograd_calls(iris: Gradients) -> None:
    workload = load_workload("builtin:iris-mlp")
    module = workload.initial(0).double()
    points = points_near(iris, 2)
    found = flat(iris.at(points))
    assert found.shape == (2, 150, 515)
    for p, point in enumerate(points):
        torch.nn.utils.vector_to_parameters(point, module.parameters())
        for i in (0, 77, 149):
            loss = workload.loss(module(workload.inputs[i : i + 1]), workload.targets[i : i + 1])
            parts = torch.autograd.grad(loss, tuple(module.parameters()))
            torch.testing.assert_close(found[p, i], torch.cat([part.flatten() for part in parts]))


def test_norms_and_differences_are_those_of_the_flat_vectors(iris: Gradients) -> None:
    leaves = iris.at(points_near(iris, 3))
    there, here = flat(leaves), flat(tuple(leaf[:1] for leaf in leaves))
    torch.testing.assert_close(norm(leaves), there.norm(dim=2))
    change = difference(leaves, tuple(leaf[:1] for leaf in leaves))
    torch.testing.assert_close(norm(change), (there - here).norm(dim=2))
    scale = (torch.rand(3, 150, dtype=torch.float64), torch.rand(1, 150, dtype=torch.float64))
    scaled = difference(leaves, tuple(leaf[:1] for leaf in leaves), scale)
    torch.testing.assert_close(
        norm(scaled), (scale[0][..., None] * there - scale[1][..., None] * here).norm(dim=2)
    )


def test_clipping_is_the_projection_onto_the_ball() -> None:
    norms = torch.tensor([0.0, 0.5, 1.0, 4.0])
    assert (clip_factor(norms, 1.0) * norms).tolist() == [0.0, 0.5, 1.0, 1.0]
    assert clip_factor(norms, math.inf).tolist() == [1.0] * 4


def test_mean_of_clipped_gradients() -> None:
    workload = known.quadratic([[1.0, 1.0], [10.0, 10.0]])
    gradients = Gradients(workload, workload.initial(0))
    point = torch.tensor([0.6, 0.8], dtype=torch.float64)
    torch.testing.assert_close(gradients.total(point), 11 * point)
    torch.testing.assert_close(gradients.total(point, clip_norm=2.0), 3 * point)


@pytest.mark.parametrize("memory", [60_000, 600_000, 2**28])
def test_every_point_may_have_samples_of_its_own(memory: int) -> None:
    workload = load_workload("builtin:iris-mlp")
    gradients = Gradients(workload, workload.initial(0), memory=memory)
    points = points_near(gradients, 4)
    chosen = torch.tensor([[3, 149, 7], [-1, 0, -1], [-1, -1, -1], [7, 7, 80]])
    with torch.no_grad():
        found = gradients.totals(points, 0.05, chosen)
        for point, row, total in zip(points, chosen, found, strict=True):
            torch.testing.assert_close(
                total, gradients.total(point, 0.05, row[row >= 0]), rtol=1e-12, atol=1e-14
            )
        shared = gradients.totals(points, 0.05, chosen[3])
        torch.testing.assert_close(
            shared, gradients.totals(points, 0.05, chosen[3].expand(4, 3)), rtol=1e-12, atol=1e-14
        )


@pytest.mark.parametrize("memory", [40_000, 200_000, 10_000_000])
def test_chunks_cover_everything_once(memory: int) -> None:
    workload = load_workload("builtin:iris-mlp")
    gradients = Gradients(workload, workload.initial(0), memory=memory)
    samples = [i for part in gradients.sample_chunks() for i in range(150)[part]]
    points = [i for part in gradients.point_chunks(7) for i in range(7)[part]]
    assert samples == list(range(150))
    assert points == list(range(7))
    largest = max(part.stop - part.start for part in gradients.sample_chunks())
    assert largest <= max(1, memory // (8 * 515 * 8))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"dtype": "float16"}, "dtype=float16"),
        ({"device": "no-such-device"}, "device=no-such-device"),
        ({"device": "cuda:99"}, "device=cuda:99"),
        ({"memory": 10}, "memory=10"),
    ],
)
def test_bad_options(options: dict[str, object], named: str) -> None:
    workload = load_workload("builtin:iris-mlp")
    with pytest.raises(InputError, match=named):
        Gradients(workload, workload.initial(0), **options)  # type: ignore[arg-type]


def test_frozen_parameters_and_buffers_stay_as_they_are() -> None:
    class Frozen(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.trained = torch.nn.Parameter(torch.tensor([2.0]))
            self.frozen = torch.nn.Parameter(torch.tensor([3.0]), requires_grad=False)
            self.register_buffer("factor", torch.tensor([5.0]))

        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            return rows * self.trained * self.frozen * self.factor

    rows = torch.tensor([[1.0], [2.0]])
    workload = Workload("frozen", Frozen, lambda out, _target: out.sum(), rows, rows)
    gradients = Gradients(workload, workload.initial(0))
    assert gradients.start.tolist() == [2.0]
    assert flat(gradients.at(gradients.start[None])).flatten().tolist() == [15.0, 30.0]


def test_tied_parameters_count_once() -> None:
    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(1, 1, bias=False)
            self.second = torch.nn.Linear(1, 1, bias=False)
            self.second.weight = self.first.weight

        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            return self.second(self.first(rows))

    rows = torch.ones(1, 1)
    workload = Workload("tied", Tied, lambda out, _target: out.sum(), rows, rows)
    gradients = Gradients(workload, workload.initial(0))
    assert gradients.dimension == 1
    point = torch.tensor([[3.0]], dtype=torch.float64)
    assert flat(gradients.at(point)).item() == 6.0


@pytest.mark.parametrize(
    ("loss", "forward"),
    [
        (nn.functional.mse_loss, False),
        (nn.functional.huber_loss, False),
        (nn.functional.soft_margin_loss, True),
        (nn.functional.binary_cross_entropy_with_logits, True),
    ],
)
def test_the_product_is_that_of_the_dense_hessian(
    loss: Callable[[Tensor, Tensor], Tensor], forward: bool
) -> None:
    generator = torch.Generator().manual_seed(1)
    rows = torch.randn(4, 3, generator=generator, dtype=torch.float64)
    work = Workload(
        "small", lambda: nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1)), loss, rows, rows[:, :1]
    )
    gradients = Gradients(work, work.initial(0))
    points = torch.randn(4, gradients.dimension, generator=generator, dtype=torch.float64)
    vectors = torch.randn(4, gradients.dimension, generator=generator, dtype=torch.float64)
    inputs, targets = (rows[:] for rows in gradients.rows())
    found = vmap(gradients.curved)(points, vectors, inputs, targets)
    assert gradients.engine.way("products").forward == forward
    for k in range(4):
        dense = hessian(lambda at, k=k: gradients.losses(at[None], inputs[k], targets[k])[0], argnums=0)
        try:
            matrix = dense(points[k])
        except RuntimeError:  # of the forward half
            matrix = torch.autograd.functional.hessian(
                lambda at, k=k: gradients.losses(at[None], inputs[k], targets[k])[0], points[k]
            )
        torch.testing.assert_close(found[k], matrix @ vectors[k])


@pytest.mark.parametrize("width", [3, 600])
def test_a_parameter_may_be_a_scalar(width: int) -> None:
    """Such as a learnt temperature; of wide layers the gradients are sums of outer products."""

    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale, self.layer = nn.Parameter(torch.tensor(2.0)), nn.Linear(width, width)

        def forward(self, rows: Tensor) -> Tensor:
            return self.scale * self.layer(rows)

    rows, labels = torch.randn(5, width), torch.arange(5) % 3
    workload = Workload("scaled", Scaled, nn.functional.cross_entropy, rows, labels)
    gradients = Gradients(workload, workload.initial(0))
    assert (gradients.factored is not None) == (width > 3)
    expected = torch.zeros_like(gradients.start)
    for k in range(5):
        loss = nn.functional.cross_entropy(gradients.module(rows[k : k + 1].double()), labels[k : k + 1])
        slopes = torch.autograd.grad(loss, list(gradients.module.parameters()))
        gradient = torch.cat([one.reshape(-1) for one in slopes])
        expected += gradient * min(1.0, 0.5 / float(gradient.norm()))
    torch.testing.assert_close(gradients.total(gradients.start, 0.5), expected)
    torch.testing.assert_close(gradients.totals(gradients.start[None], 0.5, torch.arange(5))[0], expected)
