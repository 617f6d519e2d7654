"""Recorded work gives what plain work gives, bit for bit: on the CPU with a stand-in, on CUDA with graphs."""

import gc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import ref

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils._pytree import tree_leaves

from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime import factors, replay
from lastiterate.runtime.attacks.attack import attack
from lastiterate.runtime.constants.holder import estimate_holder
from lastiterate.runtime.constants.sampling import InputSet, Sampling
from lastiterate.runtime.constants.search import Search
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.optimisers.optimiser import ProjectedNoisySGD
from lastiterate.runtime.pair_table import Kind
from lastiterate.runtime.replay import Replayed
from lastiterate.runtime.training.descent import paper_run, train
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")),
]


@dataclass
class Recorder:
    """Does the work again and writes it over what was made, which was made useless before; counts both."""

    made: int = 0
    started: int = 0

    def __call__(self, work: Callable[[], Any], _device: torch.device) -> tuple[Callable[[], None], Any]:
        made = work()
        self.made += 1

        def start() -> None:
            self.started += 1
            replay._RECORDING.append(work)  # a graph starts no other
            for old, new in zip(tree_leaves(made), tree_leaves(work()), strict=True):
                old.copy_(new)
            replay._RECORDING.pop()

        for one in tree_leaves(made):
            one.fill_(-77)
        return start, made


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    found = Recorder()
    monkeypatch.setitem(replay._RECORDERS, "cpu", found)
    return found


@pytest.fixture(params=[False, True], ids=["in full", "factored"])
def factored(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Let small layers be taken for large ones, or not."""
    if request.param:
        monkeypatch.setattr(factors, "_FEWEST", 1)
        monkeypatch.setattr(factors, "_GRAM_COST", 0)
    return bool(request.param)


def test_a_function_is_recorded_once_for_every_shape(recorder: Recorder) -> None:
    calls: list[int] = []

    def double(values: Tensor, factor: float) -> dict[str, Tensor]:
        calls.append(len(values))
        return {"twice": factor * values}

    replayed, kept = Replayed(double), []
    for _ in range(4):
        for length in (2, 3):
            for factor in (2.0, 3.0):
                values = torch.arange(float(length)) + len(kept)
                kept.append((replayed(values, factor)["twice"], factor * values))
    assert (recorder.made, recorder.started) == (4, 4 * 2)
    assert all(torch.equal(found, expected) for found, expected in kept), (
        "no answer is written over by the next"
    )
    assert replayed(torch.ones(2, dtype=torch.float64), 2.0)["twice"].dtype is torch.float64


def test_the_third_call_is_recorded(recorder: Recorder) -> None:
    replayed, made = Replayed(lambda values: values * 2), []
    for _ in range(5):
        replayed(torch.ones(3))
        made.append((recorder.made, recorder.started))
    assert made == [(0, 0), (0, 0), (1, 1), (1, 2), (1, 3)]


MEAN = torch.tensor([0.5])
UNFIT: dict[str, Callable[[Tensor], Tensor]] = {
    "a number": lambda values: values * 2 if bool(values.sum() > 0) else values,
    "a mask": lambda values: values[values > 0].sum() + values,
    "a size": lambda values: values + len(values.nonzero()),
}
ONLY_THERE: dict[str, Callable[[Tensor], Tensor]] = {
    "a copy": lambda values: values + MEAN.to(values.device),
    "an index": lambda values: values[torch.tensor([0, 0, 1])],
}
UNFIT |= ONLY_THERE


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("what", UNFIT)
def test_what_reads_the_device_runs_as_it_is(device: str, what: str, request: pytest.FixtureRequest) -> None:
    if device == "cpu":
        request.getfixturevalue("recorder")
    replayed = Replayed(UNFIT[what])
    for sign in (1.0, 1.0, -1.0, 1.0, 1.0):
        values = sign * torch.arange(1.0, 4.0, device=device)
        assert torch.equal(replayed(values), UNFIT[what](values))
    assert replayed._recordings == {} or (device == "cpu" and what in ONLY_THERE)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_torch_goes_on_after_a_recording_that_fails_halfway() -> None:
    values = torch.ones(3, device="cuda")
    assert replay._recorded(lambda one: one * float(one.sum()), (values,)) is None
    torch.cuda.empty_cache()
    assert torch.rand(3, device="cuda").shape == (3,)
    replayed = Replayed(lambda one: one * 2)
    assert [float(replayed(k * values).sum()) for k in range(4)] == [0.0, 6.0, 12.0, 18.0]
    assert list(replayed._recordings.values()) != [None]


def test_what_is_to_be_differentiated_and_what_fails_run_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_work: object, _device: object) -> Any:
        raise torch.OutOfMemoryError

    monkeypatch.setitem(replay._RECORDERS, "cpu", full)
    replayed = Replayed(lambda values: values * 2)
    for _ in range(3):
        assert replayed(torch.ones(3, requires_grad=True)).requires_grad
        assert torch.equal(replayed(torch.ones(3)), 2 * torch.ones(3))
    assert not replay._RECORDING


def test_what_is_to_be_differentiated_is_not_played_back(recorder: Recorder) -> None:
    replayed = Replayed(lambda values: values * 2)
    for _ in range(4):
        assert torch.equal(replayed(torch.ones(3)), 2 * torch.ones(3))
    assert recorder.started == 2
    assert replayed(torch.ones(3, requires_grad=True)).requires_grad
    assert recorder.started == 2


@pytest.mark.parametrize("device", DEVICES)
def test_recordings_outlive_one_another(device: str, request: pytest.FixtureRequest) -> None:
    if device == "cpu":
        request.getfixturevalue("recorder")
    for factor in range(5):  # each is thrown away before the next
        replayed = Replayed(lambda values, factor=factor: factor * values)
        for k in range(4):
            assert torch.equal(
                replayed(torch.full((3,), float(k), device=device)).cpu(), torch.full((3,), k * factor)
            )
        assert list(replayed._recordings.values()) != [None]


def test_few_shapes_are_kept_and_nothing_is_recorded_within_a_recording(recorder: Recorder) -> None:
    inner = Replayed(lambda values: values + 1)
    outer = Replayed(lambda values: 2 * inner(values))
    for _ in range(3):
        for length in range(1, 12):
            assert torch.equal(outer(torch.ones(length)), torch.full((length,), 4.0))
    assert recorder.made == replay._MOST + 3, (
        "the inner one alone of the shapes for which the outer has no room"
    )


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_recorded_goes_with_its_gradients(device: str, request: pytest.FixtureRequest) -> None:
    """At once, and not when circles are looked for: it holds memory of the device."""
    if device == "cpu":
        request.getfixturevalue("recorder")
    workload = load_workload("builtin:iris-mlp-tanh")
    gradients = Gradients(workload, workload.initial(0), device=device)
    gc.disable()
    try:
        for _ in range(4):
            gradients.total(gradients.start)
            Search(gradients, gradients.start, 1.0).curved(screened=8, starts=2, iterations=4, rounds=1)
        (recording,) = gradients._replayed.values()
        assert list(recording._recordings.values()) != [None]
        left = [ref(gradients), ref(recording)]
        del gradients, recording
        assert [one() for one in left] == [None, None]
        assert not [one for one in gc.get_objects() if type(one) is Replayed]
    finally:
        gc.enable()


def trained(device: str, sampling: str = "") -> Any:
    workload = load_workload("builtin:iris-mlp")
    gradients = Gradients(workload, workload.initial(0), device=device)
    return train(gradients, gradients.start, _run(sampling), 0)[-1].cpu().numpy()


def _run(sampling: str) -> NoisySGD:
    return NoisySGD(6, 0.1, 0.01, 0.5, 150, 30 if sampling else None, sampling=sampling or "full", diameter=2.0)


def test_steps_share_no_recording(recorder: Recorder) -> None:
    """A loop of one's own may change the loss or the module between them, and that is seen."""
    workload, weight = load_workload("builtin:iris-mlp"), 1.0
    module = workload.initial(0).double()
    loss = lambda output, target: weight * workload.loss(output, target)  # noqa: E731
    optimiser = ProjectedNoisySGD(module, loss, NoisySGD(6, 0.1, 1e-9, 100.0, 150))
    for t, batch in enumerate(optimiser.batches()):
        weight = 0.0 if t == 5 else 1.0
        before = torch.cat([p.detach().reshape(-1) for p in module.parameters()])
        optimiser.step(workload.inputs[batch], workload.targets[batch])
    after = torch.cat([p.detach().reshape(-1) for p in module.parameters()])
    assert (after - before).norm() < 1e-7
    assert recorder.made == 0


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("samples", "length"), [(9, 8), (7, 8), (9, 12)])
def test_the_same_network_on_other_samples(
    factored: bool,
    samples: int,
    length: int,
    device: str,
    request: pytest.FixtureRequest,
) -> None:
    recorder = request.getfixturevalue("recorder") if device == "cpu" else None
    make = lambda: nn.Sequential(nn.Linear(4, 3), nn.Flatten(1), nn.AdaptiveAvgPool1d(2))  # noqa: E731
    work = [
        Workload(
            "rows",
            make,
            cross_entropy,
            torch.randn(k, n, 4, generator=torch.manual_seed(n)),
            torch.arange(k) % 2,
        )
        for k, n in ((9, 8), (samples, length))
    ]
    module = work[0].initial(0)
    gradients = Gradients(work[0], module, device=device)
    assert (gradients.factored is not None) == factored
    for _ in range(4):
        gradients.total(gradients.start)
    expected = Gradients(work[1], module, device=device).total(gradients.start)
    other, start = gradients.on(work[1].inputs, work[1].targets), gradients.start
    before = recorder.made if recorder else 0
    del gradients
    for _ in range(4):
        torch.testing.assert_close(other.total(start), expected)
    if factored:
        assert [chunk.stop for chunk in other.factored.chunks()] == [samples]
    if recorder is not None:
        assert recorder.made - before == 1


def measured(device: str) -> Any:
    workload = load_workload("builtin:iris-mlp")
    run = paper_run(workload, steps=4, clip_norm=0.05)
    sampling = Sampling(inits=1, points=3, device=device)  # so few that all of them are recorded at once
    found = estimate_holder(workload, run, (0.5, 1.0), sampling, layers=True)
    assert found.measured[Kind.SAMPLE].constants != found.measured[Kind.SAMPLE_CLIPPED].constants, (
        "clipping acts"
    )
    return {str(kind): found.measured[kind].constants for kind in Kind} | {"layers": repr(found.layers)}


def searched(device: str) -> Any:
    workload = load_workload("builtin:iris-mlp-tanh")
    gradients = Gradients(workload, workload.initial(0), device=device)
    search = Search(gradients, gradients.start, 1.0, (0.5,), clip_norm=0.3, free=InputSet(0.0, 8.0))
    curved = search.curved(screened=12, starts=4, iterations=4, rounds=1)
    found = search.climb(starts=4, iterations=4, also=curved)
    return [found["changes"], found["x"], curved["ratio"]]


def attacked(device: str) -> Any:
    workload = load_workload("builtin:iris-mlp-tanh")
    run = NoisySGD(5, 0.1, 0.01, 1.0, 20, 4, sampling="without_replacement", diameter=2.0)
    return repr(attack(workload, run, "loss", delta=1e-5, runs=12, device=device))


@pytest.mark.sweep(1)
@pytest.mark.usefixtures("factored")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("path", [measured, searched, attacked, trained])
def test_recorded_work_is_plain_work(
    path: Callable[[str], Any],
    device: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patched:
        patched.delitem(replay._RECORDERS, "cuda")
        plain = path(device)
    recorder = request.getfixturevalue("recorder") if device == "cpu" else None
    found = path(device)
    if device == "cpu" or path is not searched:
        np.testing.assert_equal(found, plain)
    else:  # sums over samples there are of any order
        for one, other in zip(found, plain, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
    if recorder is not None:
        assert recorder.started > recorder.made > 0
