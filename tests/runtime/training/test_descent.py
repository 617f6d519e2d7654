import known
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis.strategies import integers

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.descent import paper_run, project_onto_ball, spread_iterates, train
from lastiterate.runtime.workloads.loading import load_workload

CURVATURES = [[1.0, 2.0, 0.5], [30.0, 1.0, 1.0]]


def run_of(**changes: object) -> NoisySGD:
    settings = {
        "steps": 4,
        "step_size": 0.3,
        "noise_std": 0.2,
        "clip_norm": 1.0,
        "dataset_size": 2,
        "diameter": 1.5,
    }
    return NoisySGD(**(settings | changes))  # type: ignore[arg-type]


def started(scale: float = 2.0) -> tuple[Gradients, torch.Tensor]:
    workload = known.quadratic(CURVATURES, scale)
    module = workload.initial(3)
    gradients = Gradients(workload, module)
    return gradients, gradients.start


def test_every_step_is_the_update_written_out_by_hand() -> None:
    gradients, start = started()
    run = run_of(step_size=(0.3, 0.2, 0.1, 0.4), noise_std=(0.2, 0.1, 0.3, 0.2), weight_decay=0.7)
    points = train(gradients, start, run, seed=5).numpy()
    noise = stream(5, purpose=0)
    w = start.numpy()
    for t in range(4):
        step = np.zeros(3)
        for row in np.array(CURVATURES):
            gradient = row * w
            step += gradient * min(1.0, 1.0 / np.linalg.norm(gradient))
        g = noise.normals(1, 3, start)[0].numpy()
        moved = w - run.step_size_at(t) * (step / 2 + 0.7 * w) + run.noise_std_at(t) * g
        away = moved - points[0]
        w = points[0] + away * min(1.0, 0.75 / np.linalg.norm(away))
        np.testing.assert_allclose(points[t + 1], w, rtol=1e-12)


def test_the_domain_has_the_diameter_and_not_the_radius() -> None:
    gradients, start = started()
    points = train(gradients, start, run_of(steps=300, noise_std=5.0), seed=0)
    from_start = (points - start).norm(dim=1)
    assert from_start.max() == pytest.approx(0.75)
    apart = torch.cdist(points, points).max()
    assert 1.4 < apart <= 1.5 * (1 + 1e-12)


def test_projection_leaves_inner_points_and_an_infinite_domain_alone() -> None:
    center, inside, outside = torch.zeros(2), torch.tensor([0.3, 0.0]), torch.tensor([3.0, 4.0])
    assert torch.equal(project_onto_ball(inside, center, 1.0), inside)
    assert project_onto_ball(outside, center, float("inf")) is outside
    torch.testing.assert_close(project_onto_ball(outside, center, 1.0), torch.tensor([0.3, 0.4]))


def test_seeds_decide_everything() -> None:
    gradients, start = started()
    first = train(gradients, start, run_of(), seed=1)
    assert torch.equal(first, train(gradients, start, run_of(), seed=1))
    assert not torch.equal(first, train(gradients, start, run_of(), seed=2))


def test_kept_iterates_are_those_of_the_whole_run() -> None:
    gradients, start = started()
    run = run_of(steps=10)
    whole = train(gradients, start, run, seed=1)
    some = train(gradients, start, run, seed=1, centers=4)
    assert len(whole) == 11
    assert torch.equal(some, whole[[0, 3, 7, 10]])


@given(steps=integers(1, 400), centers=integers(2, 420))
def test_kept_iterates_are_evenly_spaced_from_the_first_to_the_last(steps: int, centers: int) -> None:
    kept = spread_iterates(steps, centers)
    gaps = np.diff(kept)
    assert (kept[0], kept[-1], len(kept)) == (0, steps, min(centers, steps + 1))
    assert gaps.min() >= 1
    assert gaps.max() - gaps.min() <= 1


@pytest.mark.parametrize("centers", [1, 0, -3, 2.5, True])
def test_fewer_than_two_iterates_are_refused(centers: object) -> None:
    with pytest.raises(InputError, match=f"centers={centers}"):
        spread_iterates(10, centers)  # type: ignore[arg-type]


def test_the_paper_run_trains_iris() -> None:
    workload = load_workload("builtin:iris-mlp")
    module = workload.initial(0)
    gradients = Gradients(workload, module)
    run = paper_run(workload, steps=200)
    points = train(gradients, gradients.start, run, seed=0)

    def loss_at(point: torch.Tensor) -> float:
        torch.nn.utils.vector_to_parameters(point, module.parameters())
        with torch.no_grad():
            return float(workload.loss(module(workload.inputs), workload.targets))

    assert (run.step_size, run.clip_norm, run.steps, run.dataset_size) == (0.1, 1.0, 200, 150)
    assert loss_at(points[-1]) < 0.9 * loss_at(points[0])


def test_a_run_of_another_data_set_is_refused() -> None:
    gradients, start = started()
    with pytest.raises(InputError, match="dataset_size=5 for 2 samples"):
        train(gradients, start, run_of(dataset_size=5), seed=0)


def test_divergence_is_said() -> None:
    workload = known.quadratic([[1e100, 1.0]])
    module = workload.initial(0)
    gradients = Gradients(workload, module)
    run = run_of(dataset_size=1, clip_norm=1e308, step_size=1e308, diameter=float("inf"))
    with pytest.raises(InputError, match="after step=1"):
        train(gradients, gradients.start, run, seed=0)
