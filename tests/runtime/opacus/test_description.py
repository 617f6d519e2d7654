"""What the accountant for Opacus refuses to be told."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("opacus")

from opacus_training import DELTA, Training  # noqa: E402

from lastiterate.numeric.errors import InputError  # noqa: E402
from lastiterate.numeric.losses.assumptions import Clipped, Convex  # noqa: E402
from lastiterate.opacus import project  # noqa: E402


def test_an_engine_accounts_for_one_model() -> None:
    first, second = Training(), Training()
    first.described(Clipped()).train(2)
    with pytest.raises(InputError, match="a PrivacyEngine for each model"):
        first.accountant.describe(second.optimizer, Clipped(), second.loader)
    second.optimizer.attach_step_hook(first.accountant.get_optimizer_hook_fn(0.1))
    with pytest.raises(InputError, match="a PrivacyEngine for each model"):
        second.train(1)
    assert len(first.accountant) == 2


def test_a_domain_needs_a_projection_in_every_step() -> None:
    training = Training()
    with pytest.raises(InputError, match=r"got none; call project"):
        training.described(Convex(1.0), 1.0)
    project(training.optimizer, 2.0)
    with pytest.raises(InputError, match="diameter=2"):
        training.described(Convex(1.0), 1.0)
    with pytest.raises(InputError, match="does not already project"):
        project(training.optimizer, 1.0)
    training.described(Convex(1.0), 2.0).train(2)
    training.accountant.step(noise_multiplier=1.5, sample_rate=0.1)  # a step that this optimiser did not take
    with pytest.raises(InputError, match="2 of 3 steps"):
        training.accountant.get_epsilon(DELTA)


@pytest.mark.parametrize(
    ("optimizer", "message"),
    [
        (lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), "momentum=0.9"),
        (lambda p: torch.optim.Adam(p), "optimizer=Adam"),
    ],
)
def test_other_optimisers_are_refused_by_name(optimizer: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Training(optimizer).described(Clipped())


@pytest.mark.parametrize("make", [lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), torch.optim.AdamW])
def test_what_was_refused_is_said_beside_the_composition(make: Callable[[Any], Any]) -> None:
    training = Training(make)
    with pytest.raises(InputError) as refused:
        training.described(Clipped())
    training.train(2)
    assert training.engine.get_epsilon(DELTA) == training.accountant.composition().dp(DELTA)
    said = (
        f"composition through PLD, which holds for every optimiser, as describe() was refused: {refused.value}"
    )
    assert training.accountant.route == said


def test_a_wrong_name_in_a_description_is_refused() -> None:
    training = Training()
    with pytest.raises(InputError, match=r"^describe takes .*, got radius=1; diameter is twice the radius"):
        training.accountant.describe(training.optimizer, Clipped(), training.loader, radius=1)  # type: ignore[call-arg]


def test_other_bad_descriptions() -> None:
    with pytest.raises(InputError, match="loss_reduction='sum'"):
        Training(loss_reduction="sum").described(Clipped())
    with pytest.raises(InputError, match="assumption=1"):
        Training().described(1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Poisson batches, got data_loader=DataLoader"):
        Training(poisson_sampling=False).described(Clipped())
    with pytest.raises(InputError, match="rand_on_empty=True"):
        Training(rand_on_empty=True).described(Clipped())
    with pytest.raises(
        InputError, match="optimizer=DPPerLayerOptimizer; use make_private with clipping='flat'"
    ):
        Training(clipping="per_layer", max_grad_norm=[1.0]).described(Clipped())
    bare = Training()
    with pytest.raises(InputError, match="that make_private returned, got optimizer=SGD"):
        bare.accountant.describe(bare.optimizer.original_optimizer, Clipped(), bare.loader)
    with pytest.raises(InputError, match="before the first step"):
        Training().train(1).described(Clipped())
    with pytest.raises(InputError, match="delta=2"):
        Training().accountant.get_epsilon(2.0)
    with pytest.raises(InputError, match="same shape"):
        project(Training().optimizer, 1.0, centre=[torch.zeros(3)])
    changing = Training().described(Clipped())
    changing.optimizer.max_grad_norm = 2.0
    with pytest.raises(InputError, match="max_grad_norm=2"):
        changing.train(1)


@pytest.mark.usefixtures("short_refutation")
def test_an_assumption_is_tried_on_the_data_and_the_network_is_left_as_it_is() -> None:
    def loss(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.binary_cross_entropy_with_logits(output.squeeze(1), target)

    training = Training()
    told = {"module": training.model, "loss": loss}
    with pytest.raises(InputError, match=r"got assumption=Convex\(L=0.24\), but at two points"):
        training.accountant.describe(training.optimizer, Convex(0.24), training.loader, **told)
    for name, one in told.items():
        with pytest.raises(InputError, match=f"module and loss together, got only {name}"):
            training.accountant.describe(training.optimizer, Convex(0.24), training.loader, **{name: one})
    training.accountant.describe(training.optimizer, Convex(0.25), training.loader)
    assert training.accountant.tried == "assumed, not tested on data"
    training.accountant.describe(training.optimizer, Convex(0.25), training.loader, **told)
    assert training.accountant.tried.endswith("rows of the data, not refuted")
    training.train(20)
    assert "gradients of samples that were drawn again, not refuted" in training.accountant.tried
    assert len(training.accountant) == 20
    assert training.accountant.get_epsilon(DELTA) > 0


@pytest.mark.parametrize("change", [
    lambda rows, _: (rows,),
    lambda rows, _: (rows, [torch.ones(1 + k % 2) for k in range(len(rows))]),
    lambda rows, _: (rows, [{"label": 1.0}] * len(rows)),
])  # fmt: skip
def test_items_that_are_no_pairs_of_one_size_are_told(change: Callable[..., Any]) -> None:
    training = Training()
    training.loader.dataset.tensors = change(*training.loader.dataset.tensors)
    with pytest.raises(InputError, match="pairs of an input and a target"):
        training.accountant.describe(
            training.optimizer, Convex(0.25), training.loader, module=training.model, loss=training.loss
        )
