"""Graphs of operators: each once, equal to their functions for other rows, or none."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.func import grad, jvp, vmap

from lastiterate.runtime.operators import graph_of

TABLE = torch.linspace(-1.0, 1.0, 5)
ROWS = torch.randn(6, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def _loss(row: Tensor) -> Tensor:
    return torch.softmax(row * 2, dim=0).square().sum() + torch.tanh(row @ TABLE.double())


def _both(row: Tensor, along: Tensor) -> tuple[Tensor, Tensor]:
    return grad(_loss)(row), jvp(grad(_loss), (row,), (along,))[1]


def _filled(row: Tensor, along: Tensor) -> Tensor:
    held = torch.zeros(5, dtype=row.dtype)
    held.add_(row)
    held[1:3].mul_(along[:2])
    return held.add_(1.0)


def test_a_graph_gives_what_its_function_gives_and_computes_nothing_twice() -> None:
    graph = graph_of(_both, [ROWS[:3], ROWS[3:]], 1e-8)
    for found, right in zip(vmap(graph)(ROWS, ROWS.flip(0)), vmap(_both)(ROWS, ROWS.flip(0)), strict=True):
        torch.testing.assert_close(found, right)
    targets = [node.target for node in graph.graph.nodes]
    assert targets.count(torch.ops.aten._softmax.default) == 1


def _branch(row: Tensor, along: Tensor) -> Tensor:
    return row if float(row.sum()) > 0 else along


def _random(row: Tensor, along: Tensor) -> Tensor:
    return torch.dropout(row, 0.5, True) + along


COUNTED: list[Tensor] = []


def _counted(row: Tensor, along: Tensor) -> Tensor:
    COUNTED.append(row)
    return row * len(COUNTED) + along


def _clamped(row: Tensor, along: Tensor) -> Tensor:
    """Writes through a view, which changes nothing at the points of the test."""
    made = row * 2
    made[:3].clamp_(max=100.0)
    return made + along


def _earlier_view(row: Tensor, along: Tensor) -> Tensor:
    made = row * 2
    view = made[:3]
    made.clamp_(max=100.0)
    return view + along[:3]


def _into(row: Tensor, along: Tensor) -> Tensor:
    return torch.add(row, along, out=torch.zeros_like(row))


def _written_constant(row: Tensor, along: Tensor) -> Tensor:
    held = torch.zeros(5, dtype=row.dtype)
    before = row + held
    held[:1].mul_(along[:1])
    return before + along


def _by_numpy(row: Tensor, along: Tensor) -> Tensor:
    return row + along * float(row.detach().numpy().max() < 100)


def _by_list(row: Tensor, along: Tensor) -> Tensor:
    return row + along * (max(row.tolist()) < 100)


_REFUSED = [_branch, _random, _counted, _clamped, _earlier_view, _into, _written_constant, _by_numpy, _by_list]


@pytest.mark.parametrize("function", [*_REFUSED, lambda *_: 1 / 0])
def test_what_is_not_a_fixed_list_of_operators_has_no_graph(function: Callable[..., Tensor]) -> None:
    assert graph_of(function, [ROWS[:3], ROWS[3:]], 1e-8) is None


def test_a_tensor_that_is_written_to_is_right_or_has_no_graph() -> None:
    assert graph_of(_filled, [ROWS[:3], ROWS[3:]], 1e-8) is None  # the whole is read after a write to a part
    whole = graph_of(lambda row, along: torch.zeros_like(row).add_(along), [ROWS[:3], ROWS[3:]], 1e-8)
    assert whole is not None
    assert torch.equal(whole(ROWS[5], ROWS[0]), ROWS[0])


def _overwritten(row: Tensor, along: Tensor) -> Tensor:
    made = torch.nn.functional.silu(row * 2, inplace=True)
    return made.mul_(along)[:3].view(3, 1).add_(1.0)


def test_a_tensor_that_overwrites_itself_has_a_graph() -> None:
    graph = graph_of(_overwritten, [ROWS[:3], ROWS[3:]], 1e-8)
    assert graph is not None
    torch.testing.assert_close(graph(ROWS[5], ROWS[0]), _overwritten(ROWS[5], ROWS[0]))


@pytest.mark.parametrize("inplace", [False, True])
def test_networks_have_graphs_and_memory_of_any_strides_is_read(inplace: bool) -> None:
    torch.manual_seed(0)
    parts = [
        torch.nn.Conv2d(2, 3, 2),
        torch.nn.ReLU(inplace=inplace),
        torch.nn.Flatten(),
        torch.nn.Linear(12, 2),
    ]
    network = torch.nn.Sequential(*parts).double()
    values = {name: one.detach() for name, one in network.named_parameters()}
    images = torch.randn(5, 2, 3, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)

    def loss(image: Tensor, along: Tensor) -> tuple[Tensor, Tensor]:
        of = lambda given: torch.func.functional_call(network, given, (image[None],)).square().sum()  # noqa: E731
        slopes = jvp(grad(of), (values,), ({name: one * along for name, one in values.items()},))
        return slopes[0]["0.weight"], slopes[1]["3.weight"]

    numbers = torch.linspace(0.0, 1.0, 5, dtype=torch.float64)
    graph = graph_of(loss, [images, numbers], 1e-8)
    assert graph is not None
    for found, right in zip(vmap(graph)(-images, numbers), vmap(loss)(-images, numbers), strict=True):
        torch.testing.assert_close(found, right)


def test_zero_tensors_without_memory_are_recorded() -> None:
    """The slope of a curvature that does not depend on the point; torch crashed here."""
    bend = lambda row, along: (jvp(grad(lambda w: w.square().sum()), (row,), (along,))[1] * along).sum()  # noqa: E731
    graph = graph_of(grad(bend), [ROWS[:3], ROWS[3:]], 1e-8)
    assert graph is not None
    assert torch.equal(graph(ROWS[0], ROWS[1]), torch.zeros_like(ROWS[0]))
