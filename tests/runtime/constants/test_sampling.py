"""Sets of inputs, slopes in the input, and which starts go on."""

from dataclasses import replace
from math import inf
from typing import Any

import pytest
import torch
from torch import nn

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.runtime.constants.certified import certified_holder, certified_side
from lastiterate.runtime.constants.record import best_end
from lastiterate.runtime.constants.sampling import input_set
from lastiterate.runtime.constants.search import Changes, Search, labels_of, most_promising
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.workloads.networks import no_constants
from lastiterate.runtime.workloads.workload import Workload

GENERATOR = torch.Generator().manual_seed(0)
WORK = Workload(
    "small",
    lambda: nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 3)),
    nn.functional.cross_entropy,
    torch.randn(8, 4, generator=GENERATOR, dtype=torch.float64),
    torch.tensor([0, 1, 2, 0, 1, 2, 0, 1]),
)


def gradients_of(workload: Workload) -> Gradients:
    return Gradients(workload, workload.initial(0))


@pytest.mark.parametrize("text", ["box:-1,2", "box:-3,3"])
def test_inputs_are_projected_and_drawn_into_the_set(text: str) -> None:
    free = input_set(text)
    far = 5 * torch.randn(50, 2, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    middle, reach = free.around(6)
    for rows in (free.projected(far), free.drawn(far, stream(2, 0))):
        assert rows.shape == far.shape
        torch.testing.assert_close(free.projected(rows), rows, rtol=0, atol=1e-12)
        lengths = (rows - middle).flatten(start_dim=1).norm(dim=1)
        assert 0.7 * reach <= float(lengths.max()) <= reach
    inside = free.projected(far * 0.01)
    assert torch.equal(inside, far * 0.01)


@pytest.mark.parametrize(
    "text", ["box:1", "box:2,1", "box:0,inf", "ball:0", "ball:nan", "ball:1,2", "cube:1", "box"]
)
def test_other_sets_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="inputs="):
        input_set(text)


@pytest.mark.parametrize("clip_norm", [inf, 0.2])
def test_slopes_in_the_input_are_those_of_differences(clip_norm: float) -> None:
    gradients = gradients_of(WORK)
    ascent = Search(gradients, gradients.start, 4.0, (0.5,), clip_norm, free=input_set("box:-9,9"))
    away = torch.randn(
        2, 5, gradients.dimension, generator=torch.Generator().manual_seed(4), dtype=torch.float64
    )
    x, y = gradients.start + 0.2 * away
    index = torch.arange(5)
    inputs, targets = (part[index] for part in gradients.rows())
    state = ascent.pairs(x, y, {"inputs": inputs, "targets": targets, "samples": index})

    def log_ratio(rows: torch.Tensor) -> torch.Tensor:
        change, _ = Changes(gradients, rows, targets, clip_norm).between(x, y)
        return (change.norm(dim=1) / (x - y).norm(dim=1) ** 0.5).log()

    along = torch.randn(inputs.shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    wanted = (log_ratio(inputs + 1e-5 * along) - log_ratio(inputs - 1e-5 * along)) / 2e-5
    torch.testing.assert_close((state["slope_input"] * along).sum(dim=1), wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.nightly
def test_a_free_input_finds_more_and_never_less() -> None:
    """Softmax regression without a bias has the constant r^2 / 2 for inputs of norm r."""
    rows = torch.full((3, 2), 0.3, dtype=torch.float64)
    work = Workload("line", lambda: nn.Linear(2, 3, bias=False), WORK.loss, rows, torch.arange(3))
    gradients = gradients_of(work)
    search = Search(gradients, gradients.start, 6.0)
    _, alone = best_end(search.climb(starts=48, iterations=24), 1.0)
    found = search._replace(free=input_set("box:-2,2")).climb(starts=48, iterations=24)
    assert alone <= 0.18 / 2 * (1 + 1e-9)
    assert 0.97 * 4 <= best_end(found, 1.0)[1] <= 4 * (1 + 1e-9)
    assert float(torch.from_numpy(found["inputs"]).abs().max()) <= 2


def test_every_label_is_tried() -> None:
    """The loss of label 2 alone bends."""
    rows, targets = torch.ones(6, 1, dtype=torch.float64), torch.tensor([0, 1, 0, 1, 0, 2])

    def loss(out: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return (out[:, 0] ** 2 * torch.where(target == 2, 3.0, 0.01)).sum() / 2

    work = Workload("bends", lambda: nn.Linear(1, 1, bias=False), loss, rows, targets)
    gradients = gradients_of(work)
    free = input_set("box:0,1")
    assert labels_of(gradients, free).tolist() == [0, 1, 2]
    assert len(labels_of(gradients, None)) == 0
    found = Search(gradients, gradients.start, 1.0, free=free).climb(starts=2, iterations=6)
    assert best_end(found, 1.0)[1] == pytest.approx(3.0)


def test_every_sample_has_a_start_that_goes_on() -> None:
    values = torch.tensor([9.0, 8.0, 7.0, 6.0, 2.0, 1.0, 0.5])
    samples = torch.tensor([0, 0, 0, 0, 1, 1, 2])
    assert sorted(most_promising(values, samples, 4).tolist()) == [0, 1, 4, 6]
    assert most_promising(values, samples, 9).sort().values.tolist() == list(range(7))


def test_the_certified_constant_of_an_order_is_attained() -> None:
    """min(L r, 2 G) / r^lambda is largest at r = 2 G / L, or at the diameter."""
    known = LossConstants(
        lipschitz=1.0, smoothness=4.0, strong_convexity=0.0, statement="", radius=inf, any_sample=True
    )
    for diameter in (0.1, 0.5, 3.0, inf):
        distances = torch.linspace(1e-4, min(diameter, 3.0), 300_001, dtype=torch.float64)
        for lam in (0.25, 0.5, 1.0):
            most = float((torch.minimum(4 * distances, torch.tensor(2.0)) / distances**lam).max())
            found = certified_holder(known, lam, diameter, inf)
            assert most <= found <= most * (1 + 1e-4)
            assert certified_holder(known, lam, diameter, 0.01) <= found
    assert certified_holder(LossConstants.unknown(""), 0.5, 1.0, 1.0) == inf


def test_what_is_certified_covers_what_is_found_or_says_why_not() -> None:
    free = input_set("box:0,1")
    known, why = certified_side(WORK, 0, 0.2, free)
    assert why == ""
    gradients = gradients_of(WORK)
    found = Search(gradients, gradients.start, 0.2, free=free).climb(starts=16, iterations=20)
    assert known is not None
    assert 0.05 * known.smoothness < best_end(found, 1.0)[1] <= known.smoothness
    own, _ = certified_side(WORK, 0, 0.2)
    assert own is not None
    assert (known.any_sample, own.any_sample) == (True, False)
    kinked = Workload("kink", lambda: nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 3)), *_data())
    assert certified_side(kinked, 0, 1.0)[1].startswith("infinite: ")
    unread = Workload("unread", lambda: nn.Sequential(nn.Linear(4, 3), nn.CELU()), *_data())
    assert "of 1 has no rule" in certified_side(unread, 0, 1.0)[1]
    squares = Workload(
        "squares", lambda: nn.Linear(4, 2), nn.functional.mse_loss, WORK.inputs, WORK.inputs[:, :2]
    )
    assert certified_side(squares, 0, 1.0)[1] == ""
    own_words = [
        replace(WORK, constants=no_constants(f"{word}: so it is")) for word in ("not known", "infinite")
    ]
    assert [certified_side(work, 0, 1.0)[1] for work in own_words] == [
        "not known: so it is",
        "infinite: so it is",
    ]
    assert certified_side(own_words[0], 0, 1.0)[0] is None
    dropped = replace(WORK, module=lambda: nn.Sequential(*WORK.module(), nn.Dropout()).eval())
    assert certified_side(dropped, 0, 0.2)[0] == own
    assert certified_side(WORK, 0, inf)[1] == "not known: the domain is unbounded"


def _data() -> tuple[Any, ...]:
    return WORK.loss, WORK.inputs, WORK.targets
