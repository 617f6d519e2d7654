from dataclasses import replace
from pathlib import Path

import known
import numpy as np
import pytest
import torch
from torch import nn

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.holder import constants_along_training, estimate_holder
from lastiterate.runtime.constants.pairs import ball_points, measure_center
from lastiterate.runtime.constants.record import HolderEstimate, envelope_of, read_off
from lastiterate.runtime.constants.sampling import Draw, Sampling
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.pair_table import Kind, PairTable
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.descent import paper_run
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

SMALL = Sampling(inits=2, points=30, dtype="float64")


def table_of(
    workload: Workload, *, points: int = 20, clip_norm: float = 1.0, dtype: str = "float64", **options: int
) -> PairTable:
    module = workload.initial(0)
    gradients = Gradients(workload, module, dtype=dtype, **options)
    start = gradients.start
    generator = stream(0, purpose=1)
    centers = torch.stack([start, 1.5 * start])
    sampling = Sampling(points=points, draw=Draw.LOG_UNIFORM)
    each = (
        measure_center(gradients, at, clip_norm, sampling, generator.part(k)) for k, at in enumerate(centers)
    )
    return PairTable.of_columns(np.concatenate([one.columns() for one in each]))


def test_quadratic_gives_the_top_eigenvalue_from_below() -> None:
    workload = known.quadratic([[1.0, 0.5], [3.0, 0.1]])
    run = paper_run(workload, steps=20, noise_std=0.1)
    estimate = estimate_holder(workload, run, (1.0,), replace(SMALL, points=100))
    assert 2.94 <= estimate.constant(1.0) <= 3.0 * (1 + 1e-12)


def test_the_cube_root_gradient_gives_two_to_the_two_thirds() -> None:
    workload = known.odd_power()
    run = paper_run(workload, steps=60, noise_std=0.1)
    estimate = estimate_holder(workload, run, (1 / 3, 1.0), replace(SMALL, points=200, draw=Draw.LOG_UNIFORM))
    assert 0.98 * 2 ** (2 / 3) <= estimate.constant(1 / 3) <= 2 ** (2 / 3) * (1 + 1e-9)
    assert estimate.constant(1.0) > 10, "the gradient is not Lipschitz, and close pairs show it"


def test_every_kind_equals_the_plain_formula() -> None:
    workload = known.quadratic([[1.0, 0.5], [8.0, 0.1], [0.2, 4.0]])
    table = table_of(workload, clip_norm=0.9)
    start = Gradients(workload, workload.initial(0)).start.numpy()
    generator = stream(0, purpose=1)
    rows = np.array([[1.0, 0.5], [8.0, 0.1], [0.2, 4.0]])

    def clipped(g: np.ndarray) -> np.ndarray:
        return g * np.minimum(1, 0.9 / np.linalg.norm(g, axis=-1, keepdims=True))

    k, like = 0, torch.zeros(2, dtype=torch.float64)
    for part, center in enumerate((start, 1.5 * start)):
        for point in center + ball_points(20, 1.0, Draw.LOG_UNIFORM, generator.part(part), like).numpy():
            here, there = rows * center, rows * point
            change, clipped_change = there - here, clipped(there) - clipped(here)
            want = {
                Kind.SAMPLE: np.linalg.norm(change, axis=1).max(),
                Kind.SAMPLE_CLIPPED: np.linalg.norm(clipped_change, axis=1).max(),
            }
            assert table.distances[k] == pytest.approx(np.linalg.norm(point - center), rel=1e-9)
            for kind in Kind:
                assert table.differences[kind][k] == pytest.approx(want[kind], rel=1e-9, abs=1e-13)
            k += 1
    assert k == len(table.distances)
    assert (table.differences[Kind.SAMPLE_CLIPPED] < table.differences[Kind.SAMPLE]).any()


@pytest.mark.nightly
@pytest.mark.parametrize("memory", [100_000, 1_000_000])
def test_the_memory_budget_changes_nothing(memory: int) -> None:
    workload = load_workload("builtin:iris-mlp")
    workload = replace(workload, inputs=workload.inputs[::5], targets=workload.targets[::5])
    whole, parts = table_of(workload), table_of(workload, memory=memory)
    np.testing.assert_allclose(parts.distances, whole.distances, rtol=0)
    for kind in Kind:
        np.testing.assert_allclose(parts.differences[kind], whole.differences[kind], rtol=1e-9, atol=1e-15)


def test_the_rounding_of_float32_is_below_the_floor_that_is_assumed() -> None:
    workload = load_workload("builtin:iris-mlp-tanh")
    exact, rounded = table_of(workload), table_of(workload, dtype="float32")
    for kind in Kind:
        error = np.abs(exact.differences[kind] - rounded.differences[kind])
        moved = exact.differences[kind] * np.abs(rounded.distances / exact.distances - 1)
        assert (error <= rounded.floors + 2 * moved).all(), kind
    assert rounded.floors.max() < 1e-4


def test_pairs_dominated_by_rounding_are_left_out_and_counted() -> None:
    distances = np.array([1e-9, 0.5, 0.0, 1.0])
    differences = {kind: np.array([1e-3, 0.2, 5.0, 0.3]) for kind in Kind}
    table = PairTable(distances, differences, np.array([1e-5, 1e-9, 1e-9, 1e-9]))
    measured = read_off(table, Kind.SAMPLE, (0.5, 1.0))
    assert measured.left_out == 2
    assert measured.constants == pytest.approx((0.3, 0.4))
    assert measured.constants == (0.3 - 1e-9, (0.2 - 1e-9) / 0.5), "less what rounding may have added"
    assert measured.float_errors == pytest.approx((1e-9 / 0.3, 1e-9 / 0.2))
    envelope = envelope_of(table, Kind.SAMPLE, 1.0)
    assert (envelope.distances[0], envelope.values[0]) == (0.5, 0.2 - 1e-9)
    assert (envelope.distances[-1], envelope.values[-1]) == (1.0, 0.3 - 1e-9)


def test_a_linear_loss_has_constant_zero() -> None:
    workload = known.linear()
    estimate = estimate_holder(workload, paper_run(workload, steps=3), (0.5, 1.0), SMALL)
    assert estimate.measured[Kind.SAMPLE].constants == (0.0, 0.0)
    assert estimate.measured[Kind.SAMPLE].left_out == estimate.pairs
    assert estimate.envelopes[Kind.SAMPLE].values == (0.0,)


def test_the_envelope_is_above_every_pair_and_attained() -> None:
    table = table_of(load_workload("builtin:iris-mlp-tanh"), points=200)
    envelope = envelope_of(table, Kind.SAMPLE, 1.0)
    values = envelope.value(np.minimum(table.distances, envelope.distances[-1]))
    changes = table.differences[Kind.SAMPLE] - table.floors
    assert (values >= changes * (1 - 1e-12)).all()
    assert set(envelope.values) <= set(changes.tolist())
    assert len(envelope.distances) <= 48
    assert envelope.values[0] < 0.1 * envelope.values[-1], "log-uniform radii reach short distances"


def test_uniform_points_lie_near_the_boundary_and_log_uniform_ones_do_not() -> None:
    center = torch.zeros(515, dtype=torch.float64)
    uniform = ball_points(2000, 2.0, Draw.UNIFORM, stream(0, 1), center).norm(dim=1) / 2
    logarithmic = ball_points(2000, 2.0, Draw.LOG_UNIFORM, stream(0, 1), center).norm(dim=1) / 2
    assert uniform.max() <= 1 + 1e-12
    assert float((uniform**515).mean()) == pytest.approx(0.5, abs=0.03)
    assert float(uniform.median()) == pytest.approx(2 ** (-1 / 515), abs=3e-4)
    assert float(logarithmic.median()) == pytest.approx(10**-1.5, rel=0.1)
    assert logarithmic.min() >= 1e-3 * (1 - 1e-9)


def test_uniform_points_in_the_plane_are_uniform_in_area() -> None:
    points = ball_points(20_000, 1.0, Draw.UNIFORM, stream(1, 1), torch.zeros(2, dtype=torch.float64))
    assert float((points.norm(dim=1) < 0.5).double().mean()) == pytest.approx(0.25, abs=0.015)
    assert points.mean(dim=0).abs().max() < 0.02


@pytest.mark.nightly
def test_relu_gradients_have_no_constant_but_smooth_ones_do() -> None:
    def steepness(name: str) -> float:
        table = table_of(load_workload(name), points=300)
        constants = read_off(table, Kind.SAMPLE, (1.0,)).constants
        far = read_off(
            PairTable(
                table.distances[table.distances > 0.5],
                {kind: table.differences[kind][table.distances > 0.5] for kind in Kind},
                table.floors[table.distances > 0.5],
            ),
            Kind.SAMPLE,
            (1.0,),
        ).constants
        return constants[0] / far[0]

    assert steepness("builtin:iris-mlp") > 5
    assert steepness("builtin:iris-mlp-tanh") < 2


@pytest.mark.parametrize(("part", "told"), [(nn.PReLU(), "PReLU gradients jump"), (nn.Softplus(), "")])
def test_it_is_told_where_gradients_of_a_users_network_jump(part: nn.Module, told: str) -> None:
    rows = torch.tensor([[1.0, 2.0], [-3.0, 0.5]])
    work = Workload("theirs", lambda: nn.Sequential(nn.Linear(2, 2), part), nn.functional.mse_loss, rows, rows)
    found = estimate_holder(work, paper_run(work, steps=1), (1.0,), replace(SMALL, inits=1, points=2))
    assert found.remark.startswith(told)
    assert bool(found.remark) == bool(told)


def test_json_round_trip() -> None:
    workload = known.quadratic([[1.0, 0.5]])
    for diameter in (1.0, float("inf")):
        run = paper_run(workload, steps=2, diameter=diameter)
        estimate = estimate_holder(workload, run, (0.3, 1.0), replace(SMALL, inits=1, points=5))
        assert HolderEstimate.from_json(estimate.to_json()) == estimate
    for text in ("", "[]", "{}", '{"run": 3}'):
        with pytest.raises(InputError, match="lastiterate estimate --draw uniform --json"):
            HolderEstimate.from_json(text)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"inits": 0}, "inits=0"),
        ({"points": -1}, "points=-1"),
        ({"radius": 0.0}, "radius=0"),
        ({"radius": float("nan")}, "radius=nan"),
        ({"draw": "gaussian"}, "draw=gaussian"),
        ({"seed": -1}, "seed=-1"),
        ({"memory": 0}, "memory=0"),
        ({"folder": 3}, "folder=3"),
        ({"on_step": 3}, "on_step=3"),
        ({"radus": 2.0}, "Sampling takes .*, got radus=2.0; did you mean radius"),
    ],
)
def test_bad_settings(changes: dict[str, object], named: str) -> None:
    with pytest.raises(InputError, match=named):
        Sampling(**changes)  # type: ignore[arg-type]


def test_a_setting_of_another_name_is_refused_by_what_was_called(tmp_path: Path) -> None:
    workload = known.quadratic([[1.0]])
    run = paper_run(workload, steps=2)
    for function, *given in (
        (estimate_holder, workload, run),
        (constants_along_training, workload, [tmp_path] * 2),
    ):
        with pytest.raises(
            InputError, match=rf"{function.__name__} takes .*, got layer=True; did you mean layers"
        ):
            function(*given, (1.0,), layer=True)
    with pytest.raises(InputError, match=r"worst_case_constants takes .*, got lambda=1; did you mean lambdas"):
        worst_case_constants(workload, run, (1.0,), **{"lambda": 1})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="sampling=3"):
        constants_along_training(workload, [tmp_path] * 2, (1.0,), 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="gradients needs a Workload, got workload=int"):
        Sampling().gradients(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("lambdas", [(), (0.0,), (1.5,), (float("nan"),), (-0.5, 0.5)])
def test_bad_orders(lambdas: tuple[float, ...]) -> None:
    workload = known.quadratic([[1.0, 0.5]])
    with pytest.raises(InputError, match="lambda"):
        estimate_holder(workload, paper_run(workload, steps=2), lambdas, SMALL)


def test_an_order_that_was_not_measured_is_refused() -> None:
    workload = known.quadratic([[1.0, 0.5]])
    estimate = estimate_holder(workload, paper_run(workload, steps=2), (0.5,), replace(SMALL, points=2))
    with pytest.raises(InputError, match=r"lam=0\.75"):
        estimate.constant(0.75)
