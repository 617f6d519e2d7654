"""The same seed on the CPU and on a GPU: the same pairs, and a measurement that begins on one goes on on the other."""

from pathlib import Path

import pytest
import torch

from lastiterate.runtime.attacks.attack import attack
from lastiterate.runtime.constants.holder import estimate_holder
from lastiterate.runtime.constants.sampling import Sampling
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
from lastiterate.runtime.pair_table import Kind
from lastiterate.runtime.training.descent import paper_run
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload, subset

OTHERS = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")),
]
"""The CPU, too, so that what is asked of a GPU is known to run."""

WORKLOAD = load_workload("builtin:iris-mlp-tanh")
IMAGES = subset(load_workload("builtin:digits-cnn"), 30, 0)
"""Convolutions of a GPU take TF32 where nobody forbids it, which is off by far more than is assumed of float32."""

RUN = paper_run(WORKLOAD, steps=6)
LAMBDAS = (0.5, 1.0)


def sampling(device: str, inits: int = 1, dtype: str = "float64") -> Sampling:
    return Sampling(inits=inits, points=5, device=device, dtype=dtype)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("workload", [WORKLOAD, IMAGES], ids=["linear", "convolutions"])
def test_the_largest_pairs_are_the_same(workload: Workload, dtype: str, other: str) -> None:
    run = paper_run(workload, steps=6)
    here, there = (
        estimate_holder(workload, run, LAMBDAS, sampling(device, dtype=dtype)) for device in ("cpu", other)
    )
    for kind in Kind:
        for order in range(len(LAMBDAS)):
            off = here.measured[kind].float_errors[order] + there.measured[kind].float_errors[order] + 1e-12
            assert there.measured[kind].constants[order] == pytest.approx(
                here.measured[kind].constants[order], rel=off
            )
    assert there.device == other
    assert there.memory > 0


@pytest.mark.sweep(1)
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("first", ["cpu", "other"])
def test_what_is_interrupted_on_one_goes_on_on_the_other(other: str, first: str, tmp_path: Path) -> None:
    begun, ended = ("cpu", other) if first == "cpu" else (other, "cpu")

    def stop(done: int, _all: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        estimate_holder(WORKLOAD, RUN, LAMBDAS, sampling(begun, inits=2), folder=tmp_path, on_step=stop)
    steps: list[tuple[int, int]] = []
    found = estimate_holder(
        WORKLOAD, RUN, LAMBDAS, sampling(ended, inits=2), folder=tmp_path, on_step=lambda *of: steps.append(of)
    )
    kept = list(tmp_path.rglob("*.npz"))
    assert len({file.parent for file in kept}) == 1, "both devices keep their parts in one place"
    alone = estimate_holder(WORKLOAD, RUN, LAMBDAS, sampling("cpu", inits=2))
    for kind in Kind:
        assert found.measured[kind].constants == pytest.approx(alone.measured[kind].constants, rel=1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.sweep(1)
def test_searches_and_attacks_find_as_much(other: str, request: pytest.FixtureRequest) -> None:
    """Ascents may part where two devices round differently; what they reach is as good."""
    if other == "cpu":
        request.getfixturevalue("short_search")
    here, there = (
        worst_case_constants(WORKLOAD, RUN, (1.0,), device=device).searched[0].constant
        for device in ("cpu", other)
    )
    assert there == pytest.approx(here, rel=0.05)
    audits = [attack(WORKLOAD, paper_run(WORKLOAD, steps=3, noise_std=0.01), delta=1e-5, runs=40, device=device)
              for device in ("cpu", other)]  # fmt: skip
    assert audits[1].epsilon == pytest.approx(audits[0].epsilon, rel=1e-6, abs=1e-6)
