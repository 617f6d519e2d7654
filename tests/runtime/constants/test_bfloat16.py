"""bfloat16: what is assumed of its rounding holds where float64 knows better, and what a search says is of float64."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.bfloat16 import InBfloat16
from lastiterate.runtime.constants import worst_case_constants as worst_case
from lastiterate.runtime.constants.holder import Sampling, estimate_holder
from lastiterate.runtime.constants.input_sets import input_set
from lastiterate.runtime.constants.pairs import Around, Draw, measure_pairs
from lastiterate.runtime.constants.saved_pairs import recheck, save_pairs
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
from lastiterate.runtime.coupled.runs import coupled_runs
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.pair_table import Kind, PairTable
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload, subset

ROWS = torch.randn(20, 4, generator=torch.Generator().manual_seed(0))
DEEP = Workload(
    "deep",
    lambda: nn.Sequential(
        nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 16), nn.Tanh(), nn.LayerNorm(16), nn.Linear(16, 16), nn.Softplus(),
        nn.Linear(16, 3),
    ),
    nn.functional.cross_entropy,
    ROWS,
    torch.arange(20) % 3,
)  # fmt: skip
SMALL = replace(DEEP, module=lambda: nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)))
RUN = NoisySGD(steps=3, step_size=0.1, noise_std=0.05, clip_norm=1.0, dataset_size=20, diameter=1.0)


def tables(workload: Workload, points: int) -> tuple[PairTable, PairTable]:
    """The same pairs, in bfloat16 and in float64, at points that bfloat16 knows."""
    rough, exact = (Gradients(workload, workload.initial(0), dtype=dtype) for dtype in ("bfloat16", "float64"))
    centers = rough.representable(rough.start + 0.1 * torch.randn(10, rough.dimension, generator=torch.Generator()))

    def measured(gradients: Gradients) -> PairTable:
        drawn, own = Around(points, 1.0, Draw.LOG_UNIFORM), stream(0, purpose=0)
        return measure_pairs(gradients, centers.to(gradients.start), 0.5, drawn, own)

    return measured(rough), measured(exact)


@pytest.mark.parametrize("workload", [DEEP, subset(load_workload("builtin:digits-cnn"), 5, 0)], ids=["deep", "cnn"])
def test_no_pair_of_a_thousand_is_off_by_more_than_the_floor(
    workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        Gradients, "representable", lambda _, points: points.to(torch.bfloat16).to(points)
    )  # float64 sees the same points
    rough, exact = tables(workload, 100)
    assert len(rough.distances) == 1000
    np.testing.assert_allclose(rough.distances, exact.distances, rtol=1e-5)
    for kind in Kind:
        off = np.abs(rough.differences[kind] - exact.differences[kind])
        assert (off <= rough.floors).all(), kind
        assert (rough.differences[kind] - rough.floors <= exact.differences[kind]).all()
    off = np.abs(rough.differences[Kind.SAMPLE] - exact.differences[Kind.SAMPLE])
    of_float32 = rough.floors * torch.finfo(torch.float32).eps / torch.finfo(torch.bfloat16).eps
    assert (off > of_float32).mean() > 0.9, "the floor of float32 is no floor of bfloat16"
    assert (off > rough.floors / 512).any(), "nor is an eighth of one rounding"


def test_the_rounding_of_points_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """At points that bfloat16 does not know, close pairs are as far apart as its grid."""
    monkeypatch.setattr(Gradients, "representable", lambda _, points: points)
    rough, exact = tables(DEEP, 20)
    close = exact.distances < 1e-2
    ratios = [t.differences[Kind.SAMPLE][close] / t.distances[close] for t in (rough, exact)]
    assert ratios[0].max() > 2 * ratios[1].max()


def test_drawn_pairs_are_swallowed_by_the_floor_and_it_says_so() -> None:
    found = estimate_holder(DEEP, RUN, (1.0,), Sampling(inits=1, points=5, dtype="bfloat16"))
    assert not found.trusted
    with pytest.raises(InputError, match=r"1000 times the rounding assumed of bfloat16 .*measure with float64"):
        found.holder(1.0)


@pytest.mark.parametrize("inputs", [None, "ball:2"])
@pytest.mark.sweep(1)
def test_a_search_says_what_float64_finds(inputs: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"_STARTS": 16, "_CURVED": 4, "_SCREENED": 40, "_ITERATIONS": 6, "_BENDING": 4}.items():
        monkeypatch.setattr(worst_case, name, value)
    free = None if inputs is None else input_set(inputs)
    rough, exact = (worst_case_constants(SMALL, RUN, (0.5, 1.0), inputs=free, dtype=d) for d in ("bfloat16", "float64"))
    for k, pair in enumerate(rough.searched):
        assert pair.constant >= 0.7 * exact.searched[k].constant
        assert pair.constant >= pair.start > 0
        assert pair.float_error < 1e-9, "of float64"
        assert rough.witnesses[k].x.dtype == np.float64
    assert rough.curvature == pytest.approx(exact.curvature, rel=0.05)
    file = tmp_path / "pairs.safetensors"
    save_pairs(file, rough)
    assert all(one.holds for one in recheck(SMALL, file)), [one.problem for one in recheck(SMALL, file)]


def test_it_computes_in_bfloat16_and_keeps_float32() -> None:
    seen: list[torch.dtype] = []

    class Told(nn.Linear):
        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            seen.append(rows.dtype)
            return super().forward(rows)

    out = InBfloat16(Told(4, 3))(ROWS)
    assert seen == [torch.bfloat16]
    assert out.dtype is torch.float32
    rough = Gradients(DEEP, DEEP.initial(0), dtype="bfloat16")
    assert rough.start.dtype is rough.at(rough.start[None])[0].dtype is torch.float32
    assert list(rough.layers) == list(Gradients(DEEP, DEEP.initial(0)).layers)


def test_runs_are_not_compared_in_it() -> None:
    run = NoisySGD(steps=3, step_size=0.1, noise_std=0.05, clip_norm=1.0, dataset_size=19, diameter=1.0)
    with pytest.raises(InputError, match="float32 or float64, got dtype=bfloat16"):
        coupled_runs(DEEP, run, pairs=4, dtype="bfloat16")
