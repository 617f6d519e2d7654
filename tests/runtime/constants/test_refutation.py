"""Assumptions that are false by a few per cent are refuted by a pair of points; those that hold are not."""

import pytest
import torch
from torch import nn

import lastiterate as li
from lastiterate.numeric.losses.certified import logistic_regression
from lastiterate.runtime.constants.refutation import check_not_refuted, refute
from lastiterate.runtime.workloads.workload import Workload

GENERATOR = torch.Generator().manual_seed(3)
ROWS = torch.randn(60, 5, generator=GENERATOR, dtype=torch.float64)
UNIT = ROWS / ROWS.norm(dim=1, keepdim=True)
CLASSES = torch.randint(3, (60,), generator=GENERATOR)


def run(clip_norm: float = 10.0, diameter: float = 1.0) -> li.NoisySGD:
    return li.NoisySGD(10, 0.1, 1.0, clip_norm, dataset_size=60, diameter=diameter)


def logistic(scale: float) -> Workload:
    return Workload(
        "logistic", lambda: nn.Linear(5, 1, bias=False), nn.functional.binary_cross_entropy_with_logits,
        scale * UNIT, (CLASSES[:, None] > 0).double(),
    )  # fmt: skip


def softmax() -> Workload:
    return Workload("softmax", lambda: nn.Linear(5, 3), nn.functional.cross_entropy, UNIT, CLASSES)


def network() -> Workload:
    return Workload(
        "network", lambda: nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3)), nn.functional.cross_entropy,
        UNIT, CLASSES,
    )  # fmt: skip


def test_convex_losses_whose_gradients_are_clipped() -> None:
    """Clipped gradients of softmax losses need not be monotone, which is no reason to refuse them."""
    assert refute(softmax(), run(clip_norm=0.05), li.ClippedConvex(1.0)) is None
    assert "differ by" in str(refute(softmax(), run(clip_norm=10.0), li.ClippedConvex(0.1)))
    found = refute(network(), run(clip_norm=0.05, diameter=4.0), li.ClippedConvex(float("inf")))
    assert found is not None
    assert found.along < 0
    assert "the gradients of sample" in str(found)
    assert str(found).endswith("losses are not convex")


@pytest.mark.nightly
@pytest.mark.parametrize("clip_norm", [0.5, 10.0])
@pytest.mark.parametrize("diameter", [1.0, float("inf")])
def test_logistic_losses_are_what_they_are_and_not_two_per_cent_more(clip_norm: float, diameter: float) -> None:
    setting = run(clip_norm, diameter)
    assert logistic_regression(feature_norm=1.0).smoothness == 0.25
    check_not_refuted("describe", logistic(1.0), setting, li.Convex(0.25))
    found = refute(logistic(1.02), setting, li.Convex(0.25))
    assert found is not None
    assert 0.25 < found.constant <= 0.25 * 1.02**2
    assert found.constant == pytest.approx(found.change / found.distance)
    assert "L is at least 0.2" in str(found)


def test_scaled_rows_are_refuted_where_clipping_flattens_nearly_everything() -> None:
    found = refute(logistic(100.0), run(clip_norm=1.0), li.Convex(0.25))
    assert found is not None
    assert 0.25 < found.constant <= 2500


@pytest.mark.nightly
def test_clipping_acts_on_softmax_and_spoils_convexity() -> None:
    assert refute(softmax(), run(clip_norm=10.0, diameter=4.0), li.Convex(2.0)) is None
    found = refute(softmax(), run(clip_norm=0.2, diameter=4.0), li.Convex(2.0))
    assert found is not None
    assert found.along < 0
    assert "or clipping acts" in str(found)


@pytest.mark.nightly
def test_a_network_is_not_convex_and_has_a_constant() -> None:
    known = li.constants_of_network(input_norm=1.0)(network().initial(0), 1.0).smoothness
    assert refute(network(), run(), li.Clipped()) is None
    steep = refute(network(), run(), li.Minimum(li.Smooth(known), li.Smooth(0.5)))
    bent = refute(network(), run(), li.Convex(known))
    assert steep is not None
    assert steep.assumption == li.Smooth(0.5), "not the first, which holds"
    assert 0.5 < steep.constant <= known
    assert bent is not None
    assert -known <= bent.along < 0


@pytest.mark.sweep(1)
@pytest.mark.parametrize("m", [0.0499, 0.051])
def test_strong_convexity_is_tried_to_two_per_cent(m: float) -> None:
    def loss(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return nn.functional.mse_loss(output, target) * 0.025

    wide = Workload("ridge", lambda: nn.Linear(1, 1, bias=False), loss, torch.ones(4, 1), torch.zeros(4, 1))
    found = refute(wide, run(), li.StronglyConvex(1.0, m))
    assert (found is None) == (m < 0.05)


def test_holder_orders_are_tried() -> None:
    found = refute(network(), run(), li.Holder(0.3, 0.5))
    assert found is not None
    assert found.constant == pytest.approx(found.change / found.distance**0.5)
    assert "of order 0.5" in str(found)


def test_the_error_is_one_sentence_with_the_pair() -> None:
    with pytest.raises(
        li.InputError, match=r"got assumption=Convex\(L=0.25\), but at two points .* L is at least 2"
    ):
        check_not_refuted("describe", logistic(3.0), run(), li.Convex(0.25))
    with pytest.raises(li.InputError, match="workload=int"):
        refute(3, run(), li.Clipped())  # type: ignore[arg-type]


def test_losses_that_torch_cannot_differentiate_twice_as_they_are_can_be_refuted() -> None:
    bags = nn.Sequential(nn.EmbeddingBag(9, 4), nn.Linear(4, 3))
    data = torch.arange(20).reshape(4, 5) % 9, torch.arange(4) % 3
    work = Workload("bags", lambda: bags, nn.functional.cross_entropy, *data)
    assert refute(work, run(), li.Smooth(1e9)) is None
    assert refute(work, run(), li.Smooth(1e-3)) is not None


@pytest.mark.nightly
def test_rows_that_were_divided_by_their_lengths_in_single_precision_are_not_refuted_by_rounding() -> None:
    assert refute(logistic(1 + 2e-7), run(), li.Convex(0.25)) is None
    assert refute(logistic(1 + 2e-6), run(), li.Convex(0.25)) is not None
