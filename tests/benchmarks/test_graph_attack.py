"""The attack on random graphs tries what it says, and fails where a constant is too small."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from benchmarks import graph_attack  # noqa: E402
from benchmarks.graph_attack import RADII, attack, task  # noqa: E402


def test_an_attack_finds_most_of_a_constant_and_a_constant_that_is_too_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = attack(1, 480)
    assert 0.9 < found.hessian <= 1 >= found.gradient > 0.9
    assert found.points == 480
    whole = graph_attack.constants_of_graph

    def smaller(*args: Any) -> list[Any]:
        return [one._replace(smoothness=0.8 * one.smoothness) for one in whole(*args)]

    monkeypatch.setattr(graph_attack, "constants_of_graph", smaller)
    with pytest.raises(SystemExit, match=r"graph 1 \(layer norm, .* exceeds"):
        attack(1, 480)


def test_sixty_graphs_contain_all_kinds() -> None:
    tasks = [task(seed) for seed in range(60)]
    kinds = {kind for one in tasks for kind in one.kinds}
    assert {"attention", "LSTM", "GRU", "experts", "adapter", "gate", "skip", "group norm", "RMS norm"} < kinds
    assert {one.near for one in tasks} == {0.0, 0.05}


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.nightly
def test_no_constant_of_graphs_of_many_kinds_is_exceeded(seed: int) -> None:
    assert attack(seed, 2000).refused < len(RADII)
