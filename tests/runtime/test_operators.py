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


@pytest.mark.parametrize("function", [_branch, _random, _counted, lambda *_: 1 / 0])
def test_what_is_not_a_fixed_list_of_operators_has_no_graph(function: Callable[..., Tensor]) -> None:
    assert graph_of(function, [ROWS[:3], ROWS[3:]], 1e-8) is None


def test_a_tensor_that_is_written_to_is_right_or_has_no_graph() -> None:
    graph = graph_of(_filled, [ROWS[:3], ROWS[3:]], 1e-8)
    assert graph is None or torch.equal(graph(ROWS[5], ROWS[0]), _filled(ROWS[5], ROWS[0]))
    whole = graph_of(lambda row, along: torch.zeros_like(row).add_(along), [ROWS[:3], ROWS[3:]], 1e-8)
    assert whole is not None
    assert torch.equal(whole(ROWS[5], ROWS[0]), ROWS[0])


def test_zero_tensors_without_memory_are_recorded() -> None:
    """The slope of a curvature that does not depend on the point; torch crashed here."""
    bend = lambda row, along: (jvp(grad(lambda w: w.square().sum()), (row,), (along,))[1] * along).sum()  # noqa: E731
    graph = graph_of(grad(bend), [ROWS[:3], ROWS[3:]], 1e-8)
    assert graph is not None
    assert torch.equal(graph(ROWS[0], ROWS[1]), torch.zeros_like(ROWS[0]))
