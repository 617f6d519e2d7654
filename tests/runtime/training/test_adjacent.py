"""Runs side by side against a plain loop over the runs, in numpy."""

from dataclasses import replace

import known
import numpy as np
import pytest
import torch

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.store import Store
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training import adjacent
from lastiterate.runtime.training.adjacent import adjacent_runs, in_blocks, real_sample
from lastiterate.runtime.training.batches import draw_batches_of_many

CURVES = np.array([[1.0, 2.0], [30.0, 1.0], [0.1, 0.1], [5.0, 5.0], [0.5, 3.0], [2.0, 0.2], [0.3, 9.0]])
RUN = NoisySGD(
    7, (0.1, 0.2, 0.1, 0.1, 0.3, 0.1, 0.1), 0.2, 1.0, 6, 2, sampling="cyclic", diameter=1.5, weight_decay=0.4
)
PURPOSE = 2**50


def plain_loop(run: NoisySGD, start: np.ndarray, pairs: int, coupled: bool, target: int) -> np.ndarray:
    """Last iterates, shape (2, pairs, 2), one run after the other."""
    seed = 3 * 1_000_003 + 4
    draws = pairs if coupled else 2 * pairs
    noise, chosen = stream(seed, PURPOSE), stream(seed, adjacent._BATCHES)
    moves = [noise.normals(draws, 2, torch.zeros(1).double()).numpy() for _ in range(run.steps)]
    drawn = [rows.expand(draws, -1).numpy() for rows in draw_batches_of_many(run, draws, chosen)]
    ends = np.zeros((2, pairs, 2))
    for side in (0, 1):
        for i in range(pairs):
            w, row = start.copy(), i + side * pairs * (not coupled)
            for t in range(run.steps):
                total = np.zeros(2)
                for sample in drawn[t][row]:
                    taken = int(sample)
                    if side and sample == target:
                        taken = len(CURVES) - 1 if run.adjacency == "replace" else -1
                    if taken >= 0:
                        gradient = CURVES[taken] * w
                        total += gradient * min(1.0, run.clip_norm / np.linalg.norm(gradient))
                w = (
                    w
                    - run.step_size_at(t) * (total / run.batch + 0.4 * w)
                    + run.noise_std_at(t) * moves[t][row]
                )
                away = w - start
                w = start + away * min(1.0, run.diameter / 2 / np.linalg.norm(away))
            ends[side, i] = w
    return ends


@pytest.mark.parametrize("coupled", [True, False])
@pytest.mark.parametrize("sampling", ["full", "cyclic", "shuffled", "without_replacement", "poisson"])
def test_side_by_side_equals_one_after_the_other(sampling: str, coupled: bool) -> None:
    run = replace(RUN, sampling=sampling, adjacency="", batch_size=None if sampling == "full" else 2)
    workload = known.quadratic(CURVES.tolist(), 2.0)
    gradients = Gradients(workload, workload.initial(0), memory=20_000)
    differing = real_sample(gradients, run, 1)
    *_, ends = adjacent_runs(gradients, run, differing, 5, coupled=coupled, seed=3, block=4, purpose=PURPOSE)
    expected = plain_loop(run, gradients.start.numpy(), 5, coupled, target=1)
    np.testing.assert_allclose(torch.stack(ends).numpy(), expected, rtol=1e-10, atol=1e-12)


def test_runs_are_the_same_bit_for_bit_and_blocks_differ() -> None:
    workload = known.quadratic(CURVES.tolist(), 2.0)
    gradients = Gradients(workload, workload.initial(0))
    run = replace(RUN, sampling="poisson", adjacency="")

    def last(seed: int, block: int) -> torch.Tensor:
        differing = real_sample(gradients, run, 0)
        pairs = adjacent_runs(gradients, run, differing, 4, coupled=False, seed=seed, block=block, purpose=9)
        return torch.stack(list(pairs)[-1])

    assert torch.equal(last(1, 0), last(1, 0))
    for seed, block in ((1, 1), (2, 0)):
        assert not (last(1, 0) == last(seed, block)).any()


@pytest.mark.parametrize("kept", [False, True])
def test_blocks_cover_every_pair_and_finished_ones_are_found_again(
    tmp_path: object, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adjacent, "_MOST_RUNS", 4)
    workload = known.quadratic(CURVES.tolist(), 2.0)
    gradients = Gradients(workload, workload.initial(0))
    store = Store(tmp_path if kept else None, {"what": "test"})
    computed: list[tuple[int, int]] = []

    def compute(block: int, size: int, tick: object) -> dict[str, np.ndarray]:
        if len(computed) == 2:
            raise KeyboardInterrupt
        computed.append((block, size))
        for _ in range(RUN.steps):
            tick()  # type: ignore[operator]
        return {"x": np.full(size, float(block))}

    seen: list[tuple[int, int]] = []
    with pytest.raises(KeyboardInterrupt):
        in_blocks(gradients, RUN, 11, compute, store, lambda done, total: seen.append((done, total)))
    assert computed == [(0, 4), (1, 4)]
    assert seen[-1] == (14, 21)
    computed[:] = [(9, 9)] if kept else []
    if kept:
        found = in_blocks(gradients, RUN, 11, compute, store, lambda done, total: seen.append((done, total)))
        assert computed == [(9, 9), (2, 3)]
        assert np.concatenate([part["x"] for part in found]).tolist() == [0.0] * 4 + [1.0] * 4 + [2.0] * 3
        assert seen[-1] == (21, 21)


def test_parameters_that_stop_being_finite() -> None:
    workload = known.quadratic([[1e100, 1.0], [1e100, 1.0]])
    gradients = Gradients(workload, workload.initial(0))
    run = NoisySGD(9, 1e250, 1.0, 1e300, 1)
    with pytest.raises(InputError, match="got nan or inf after step=1; lower step_size"):
        list(
            adjacent_runs(
                gradients, run, real_sample(gradients, run, 0), 2, coupled=True, seed=0, block=0, purpose=1
            )
        )
