from dataclasses import replace

import known
import numpy as np
import pytest
import torch

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.holder import estimate_holder
from lastiterate.runtime.constants.pairs import ball_points, measure_center
from lastiterate.runtime.constants.record import HolderEstimate, constants_by_layer
from lastiterate.runtime.constants.sampling import Draw, Sampling
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import flat
from lastiterate.runtime.pair_table import Kind, PairTable
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.descent import paper_run
from lastiterate.runtime.workloads.loading import load_workload

SMALL = Sampling(inits=2, points=60, draw=Draw.LOG_UNIFORM)


def table_of(gradients: Gradients, clip_norm: float) -> PairTable:
    drawn = Sampling(points=6, radius=1.0, draw=Draw.LOG_UNIFORM)
    return measure_center(gradients, gradients.start, clip_norm, drawn, stream(0, purpose=1).part(0))


def test_blocks_equal_the_plain_formula() -> None:
    workload = load_workload("builtin:iris-mlp-tanh")
    gradients = Gradients(workload, workload.initial(0))
    assert gradients.layer_sizes == {"0": 4 * 64 + 64, "2": 64 * 3 + 3}
    clip_norm = float(flat(gradients.at(gradients.start[None]))[0].norm(dim=1).median())
    table = table_of(gradients, clip_norm)
    own = stream(0, purpose=1).part(0)
    points = gradients.start + ball_points(6, 1.0, Draw.LOG_UNIFORM, own, gradients.start)

    def clipped(g: torch.Tensor) -> torch.Tensor:
        return g * (clip_norm / g.norm(dim=1, keepdim=True)).clamp(max=1)

    here = flat(gradients.at(gradients.start[None]))[0]
    for k, point in enumerate(points):
        there = flat(gradients.at(point[None]))[0]
        changes = {Kind.SAMPLE: there - here, Kind.SAMPLE_CLIPPED: clipped(there) - clipped(here)}
        for j, columns in enumerate((slice(0, 320), slice(320, 515))):
            for kind, change in changes.items():
                longest = float(change[:, columns].norm(dim=1).max())
                assert table.blocks[kind][k, j] == pytest.approx(longest, rel=1e-9)
    assert (table.blocks[Kind.SAMPLE_CLIPPED] < 0.99 * table.blocks[Kind.SAMPLE]).any()


def test_the_root_of_the_sum_of_squares_is_above_the_whole() -> None:
    workload = load_workload("builtin:digits-cnn")
    table = table_of(Gradients(workload, workload.initial(0)), 1.0)
    for kind in Kind:
        together = np.linalg.norm(table.blocks[kind], axis=1)
        assert table.blocks[kind].shape == (6, 3)
        assert (together >= table.differences[kind] * (1 - 1e-12)).all()
        assert (table.blocks[kind] <= table.differences[kind][:, None] * (1 + 1e-12)).all()


def test_every_layer_has_its_own_order() -> None:
    workload = known.two_orders(0.5)
    found = estimate_holder(
        workload, paper_run(workload, steps=60, noise_std=0.1), (1 / 3, 1.0), SMALL, layers=True
    )
    smooth, rough = found.layers
    assert (smooth.name, smooth.size, rough.name, rough.size) == ("first", 2, "second", 1)
    assert 0.49 <= smooth.measured[Kind.SAMPLE].constants[1] <= 0.5 * (1 + 1e-12)
    assert 1.4 <= rough.measured[Kind.SAMPLE].constants[0] <= 2 ** (2 / 3) * (1 + 1e-12)
    assert rough.measured[Kind.SAMPLE].constants[1] > 10, "not Lipschitz, and close pairs show it"


def test_layers_cost_no_gradient_and_survive_json(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    workload = known.two_orders()
    run = paper_run(workload, steps=2)
    small = replace(SMALL, points=5)
    plain = estimate_holder(workload, run, (1.0,), small, folder=tmp_path)  # type: ignore[arg-type]
    assert plain.layers == ()
    monkeypatch.setattr("lastiterate.runtime.constants.holder.measure_center", None)
    found = estimate_holder(workload, run, (1.0,), small, layers=True, folder=tmp_path)  # type: ignore[arg-type]
    assert len(found.layers) == 2
    assert replace(found, layers=()) == plain
    assert HolderEstimate.from_json(found.to_json()) == found


def test_one_module_with_all_parameters_is_one_layer() -> None:
    workload = known.quadratic([[1.0, 0.5], [3.0, 0.1]])
    gradients = Gradients(workload, workload.initial(0))
    table = table_of(gradients, 0.1)
    (layer,) = constants_by_layer(table, gradients.layer_sizes, (1.0,))
    assert (layer.name, layer.size) == ("(module)", 2)
    for kind in Kind:
        np.testing.assert_array_equal(table.blocks[kind][:, 0], table.differences[kind])


def test_where_no_pair_can_be_trusted_there_is_no_number() -> None:
    workload = load_workload("builtin:iris-mlp-tanh")
    sampling = Sampling(inits=1, points=4, radius=1e-7, dtype="float32")
    found = estimate_holder(workload, paper_run(workload, steps=2), (0.5, 1.0), sampling)
    assert not found.trusted
    assert found.measured[Kind.SAMPLE].left_out == found.pairs == 12
    assert found.measured[Kind.SAMPLE].cell(0) == "none trusted"
    for take in (lambda: found.holder(1.0), found.modulus):
        with pytest.raises(
            InputError, match=r"No pair could be trusted.*float32 \(12 pairs.*float64 or with a larger"
        ):
            take()
    again = estimate_holder(workload, paper_run(workload, steps=2), (1.0,), replace(sampling, dtype="float64"))
    assert again.trusted, "float64 resolves what float32 does not"
