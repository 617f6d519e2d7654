"""A run inside the loops of others: equal to the one written by hand, or refused in one sentence."""

import gc
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from recorded_sgd import RecordedSGD
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, mse_loss
from torch.utils.data import DataLoader, TensorDataset

import lastiterate as li
from lastiterate.runtime.workloads.hugging_face import import_torchvision

_RUN = li.NoisySGD(
    6, 0.1, 0.05, 1.0, dataset_size=12, batch_size=4, sampling="shuffled", diameter=1.0, weight_decay=0.1
)
_HALVES = partial(torch.optim.lr_scheduler.ExponentialLR, gamma=0.5)
_SCHEDULE = tuple(0.1 * 0.5**t for t in range(6))
_DRAWN = torch.Generator().manual_seed(0)
INPUTS, TARGETS = torch.randn(12, 3, generator=_DRAWN), torch.randn(12, 1, generator=_DRAWN)


@pytest.fixture(autouse=True, scope="module")
def _little_to_collect() -> None:
    gc.freeze()  # every trainer collects garbage, and would look through all that other tests keep


class Model(nn.Module):
    """What the Hugging Face Trainer takes: a module whose output has its loss."""

    config = None  # looked at where labels are smoothed

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.net = nn.Linear(3, 1)

    def forward(self, x: Tensor, labels: Tensor) -> dict[str, Tensor]:
        output = self.net(x)
        return {"loss": mse_loss(output, labels), "logits": output}


def recorded(run: li.NoisySGD = _RUN) -> tuple[Model, RecordedSGD]:
    model = Model()
    return model, RecordedSGD(model.net, mse_loss, run, INPUTS, TARGETS, seed=3)


def by_hand(run: li.NoisySGD = _RUN) -> Tensor:
    net = Model().net
    optimiser = li.ProjectedNoisySGD(net, mse_loss, run, seed=3)
    for batch in optimiser.batches():
        optimiser.step(INPUTS[batch], TARGETS[batch])
    return nn.utils.parameters_to_vector(net.parameters())


def same(model: Model, run: li.NoisySGD = _RUN) -> bool:
    return torch.equal(nn.utils.parameters_to_vector(model.net.parameters()), by_hand(run))


def loader(optimiser: RecordedSGD) -> DataLoader[Any]:
    return DataLoader(TensorDataset(INPUTS, TARGETS), batch_sampler=optimiser.batch_sampler())


def plain(optimiser: RecordedSGD, model: Model, batches: Any, **odd: Any) -> None:
    """A loop as people write it, with what they add to it."""
    scheduler = odd["scheduler"](optimiser) if "scheduler" in odd else None
    other = torch.optim.AdamW(model.parameters(), weight_decay=0.1) if "other" in odd else None
    for k, (inputs, targets) in enumerate(batches):
        optimiser.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled="autocast" in odd):
            loss = model(inputs, targets)["loss"]
        loss.backward()
        if k % odd.get("accumulated", 1):
            continue
        if "clip" in odd:
            nn.utils.clip_grad_norm_(model.parameters(), odd["clip"])
        if other is not None:
            other.step()
        optimiser.step()
        with torch.no_grad():
            model(inputs, targets)  # a look at the model is no step
        if scheduler is not None:
            scheduler.step()


@pytest.mark.parametrize("sampling", ["full", "cyclic", "shuffled", "without_replacement"])
def test_a_plain_loop_is_the_run_by_hand(sampling: str) -> None:
    run = li.NoisySGD(
        6,
        0.1,
        0.05,
        1.0,
        dataset_size=12,
        batch_size=12 if sampling == "full" else 4,
        sampling=sampling,
        diameter=1.0,
    )
    model, optimiser = recorded(run)
    plain(optimiser, model, loader(optimiser))
    assert same(model, run)
    assert optimiser.accounted() == run
    expected = li.bound(run, li.Clipped(), delta=1e-5)
    assert optimiser.bound(li.Clipped(), delta=1e-5).epsilon == expected.epsilon


def test_a_clip_of_the_mean_changes_nothing() -> None:
    model, optimiser = recorded()
    plain(optimiser, model, loader(optimiser), clip=1e-6)
    assert same(model)


def test_a_schedule_that_is_described_is_accounted() -> None:
    run = li.NoisySGD(6, _SCHEDULE, 0.05, 1.0, dataset_size=12, batch_size=4, sampling="cyclic", diameter=1.0)
    model, optimiser = recorded(run)
    plain(
        optimiser,
        model,
        loader(optimiser),
        scheduler=_HALVES,
    )
    assert optimiser.accounted() == run
    assert same(model, run)


_REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "accumulation": ({"accumulated": 2}, "passes=2 in step=2; do not use gradient accumulation"),
    "mixed precision": ({"autocast": True}, "got autocast in step=1; turn off mixed precision"),
    "another optimiser": ({"other": True}, "as its last step left them, got different ones after step=0"),
    "a schedule": (
        {"scheduler": _HALVES},
        r"step size of the run, 0.1, got lr=0.05 in step=2; leave out the scheduler",
    ),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_what_is_not_the_run_is_refused_before_anything_moves(name: str) -> None:
    odd, said = _REFUSED[name]
    model, optimiser = recorded()
    with pytest.raises(li.InputError, match=said):
        plain(optimiser, model, loader(optimiser), **odd)
    assert optimiser.done == (1 if "step=2" in said else 0)


@pytest.mark.parametrize(
    "options",
    [{"batch_size": 5}, {"batch_size": 4, "shuffle": True}, {"batch_size": 4}],
    ids=["last", "order", "first"],
)
def test_other_batches_are_refused(options: dict[str, Any]) -> None:
    model, optimiser = recorded()
    with pytest.raises(li.InputError, match="batch that the run draws, 4 rows, got others"):
        plain(optimiser, model, DataLoader(TensorDataset(INPUTS, TARGETS), **options))
    assert optimiser.done == 0


def test_dropout_that_a_trainer_wakes_is_refused() -> None:
    net = nn.Sequential(nn.Linear(3, 1), nn.Dropout()).eval()
    optimiser = RecordedSGD(net, mse_loss, _RUN, INPUTS, TARGETS)
    net.train()
    with pytest.raises(li.InputError, match="Dropout in training mode"):
        optimiser.step(lambda: net(INPUTS[:4]))


def test_what_cannot_be_recorded_is_refused_at_once() -> None:
    poisson = li.NoisySGD(6, 0.1, 0.05, 1.0, dataset_size=12, batch_size=4, sampling="poisson")
    with pytest.raises(li.InputError, match="batches of one size, got sampling='poisson'"):
        recorded(poisson)
    with pytest.raises(li.InputError, match="dataset_size=12 inputs and targets, got 11 and 12"):
        RecordedSGD(nn.Linear(3, 1), mse_loss, _RUN, INPUTS[:11], TARGETS)


def test_it_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    model, optimiser = recorded()
    batches = list(loader(optimiser))
    plain(optimiser, model, batches[:2])
    optimiser.save(tmp_path / "run.pt")
    again, later = recorded()
    later.load(tmp_path / "run.pt")
    assert later.accounted().steps == 2
    plain(later, again, loader(later))
    assert same(again)
    with pytest.raises(li.InputError, match="over after steps=6"):
        plain(later, again, batches[:1])


@pytest.fixture
def fit() -> Any:
    """A Lightning training with settings and, where it is given, another optimiser."""
    if find_spec("lightning") is None:
        pytest.skip("lightning is not installed; it is in the extra of this name")
    from lightning_record import LightningRecord

    pl = pytest.importorskip("lightning.pytorch")

    def run(
        other: type[torch.optim.Optimizer] | None = None, *, averaged: bool = False, **settings: Any
    ) -> tuple[Model, LightningRecord]:
        model, optimiser = recorded()

        class Module(pl.LightningModule):
            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def training_step(self, batch: Any, _index: int) -> Tensor:
                return self.model(*batch)["loss"]

            def configure_optimizers(self) -> torch.optim.Optimizer:
                return optimiser if other is None else other(self.parameters())

            def train_dataloader(self) -> Any:
                return loader(optimiser)

        kept = LightningRecord(optimiser, li.Clipped(), delta=1e-5)
        quiet = dict.fromkeys(
            ("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False
        )
        more = [pl.callbacks.StochasticWeightAveraging(swa_lrs=0.1)] if averaged else []
        pl.Trainer(max_epochs=1, accelerator="cpu", callbacks=[kept, *more], **quiet, **settings).fit(Module())
        return model, kept

    return run


@pytest.fixture
def train(tmp_path: Path) -> Any:
    """A training by the Hugging Face Trainer, likewise."""
    if find_spec("transformers") is None or find_spec("accelerate") is None:
        pytest.skip("transformers and accelerate are not installed; they are in the trainer extra")
    if find_spec("torchvision") is not None:
        import_torchvision("models")  # transformers imports it, too
    from hugging_face_record import HuggingFaceRecord
    from transformers import Trainer, TrainingArguments

    def run(
        other: type[torch.optim.Optimizer] | None = None, **settings: Any
    ) -> tuple[Model, HuggingFaceRecord]:
        model, optimiser = recorded()

        class Batched(Trainer):  # type: ignore[misc]
            def get_train_dataloader(self) -> DataLoader[Any]:
                rows = [{"x": x, "labels": y} for x, y in zip(INPUTS, TARGETS, strict=True)]
                return DataLoader(rows, batch_sampler=optimiser.batch_sampler())

        kept = HuggingFaceRecord(optimiser, li.Clipped(), delta=1e-5)
        given = {"max_grad_norm": 0, "lr_scheduler_type": "constant", "num_train_epochs": 1} | settings
        quiet = {"report_to": "none", "disable_tqdm": True, "save_strategy": "no", "logging_strategy": "no"}
        if "load_best_model_at_end" in settings:
            quiet |= {"save_strategy": "steps", "eval_strategy": "steps", "eval_steps": 500}
        arguments = TrainingArguments(output_dir=str(tmp_path), use_cpu=True, **quiet, **given)
        chosen = optimiser if other is None else other(model.parameters())
        Batched(
            model=model,
            args=arguments,
            eval_dataset=[{"x": INPUTS[0], "labels": TARGETS[0]}],
            optimizers=(chosen, None),
            callbacks=[kept],
        ).train()
        return model, kept

    return run


@pytest.mark.parametrize("trainer", ["fit", "train"])
def test_a_trainer_is_the_run_by_hand_and_bounded(trainer: str, request: pytest.FixtureRequest) -> None:
    model, kept = request.getfixturevalue(trainer)()
    assert same(model)
    assert kept.bound == li.bound(_RUN, li.Clipped(), delta=1e-5)


_LIGHTNING = {
    "accumulate_grad_batches": (2, "accumulate_grad_batches=1, got accumulate_grad_batches=2"),
    "gradient_clip_val": (
        1.0,
        "gradient_clip_val=0, got gradient_clip_val=1.0: samples are clipped one by one",
    ),
    "precision": ("bf16-mixed", "precision=32, got precision=bf16"),
    "averaged": (
        True,
        r"averaging=\[\], got averaging=\['StochasticWeightAveraging'\]: the theory is about the last",
    ),
    "max_steps": (
        4,
        "needs steps=6, got 4 when training ended; the number of steps must not depend on the data",
    ),
    "other": (torch.optim.AdamW, r"only one that trains, got optimizers=\['AdamW'\]"),
}
_HUGGING_FACE = {
    "gradient_accumulation_steps": (2, "gradient_accumulation_steps=1, got gradient_accumulation_steps=2"),
    "max_grad_norm": (1.0, "max_grad_norm=0, got max_grad_norm=1.0: samples are clipped one by one"),
    "bf16": (True, "bf16=False, got bf16=True"),
    "weight_decay": (0.01, "weight_decay=0.1, got weight_decay=0.01: weight decay belongs to the run"),
    "label_smoothing_factor": (0.1, "label_smoothing_factor=0, got label_smoothing_factor=0.1"),
    "load_best_model_at_end": (True, "load_best_model_at_end=False, got load_best_model_at_end=True"),
    "max_steps": (
        4,
        "needs steps=6, got 4 when training ended; the number of steps must not depend on the data",
    ),
    "lr_scheduler_type": ("linear", "step size of the run, 0.1, got lr=0.0833333 in step=2"),
    "other": (torch.optim.AdamW, r"only one that trains, got optimizers=\['AdamW'\]"),
}


@pytest.mark.parametrize("setting", _LIGHTNING)
def test_lightning_settings_that_are_refused(setting: str, fit: Any) -> None:
    value, said = _LIGHTNING[setting]
    with pytest.raises(li.InputError, match=said):
        fit(**{setting: value})


@pytest.mark.parametrize("setting", _HUGGING_FACE)
def test_hugging_face_settings_that_are_refused(setting: str, train: Any) -> None:
    value, said = _HUGGING_FACE[setting]
    with pytest.raises(li.InputError, match=said):
        train(**{setting: value})


@pytest.mark.parametrize(
    "record", ["lightning_record.LightningRecord", "hugging_face_record.HuggingFaceRecord"]
)
def test_what_cannot_be_bounded_is_refused_before_anything_is_trained(record: str) -> None:
    module, _, name = record.partition(".")
    made = getattr(pytest.importorskip(module), name)
    _, optimiser = recorded()
    with pytest.raises(
        li.InputError, match="needs the RecordedSGD that trains the module, got optimiser=Linear"
    ):
        made(torch.nn.Linear(1, 1), li.Clipped())
    with pytest.raises(li.InputError, match=r"an order or a delta"):
        made(optimiser, li.Clipped(), order=2.0, delta=1e-5)
    with pytest.raises(li.InputError, match=r"needs numbers between"):
        made(optimiser, li.Convex(1e70), delta=1e-5)


def _steep(kind: type[li.ProjectedNoisySGD], scale: float) -> li.ProjectedNoisySGD:
    """A logistic regression on rows of this length, trained."""
    rows = scale * nn.functional.normalize(torch.randn(12, 3, generator=torch.Generator().manual_seed(1)))
    targets, net = (torch.arange(12.0)[:, None] % 2), nn.Linear(3, 1, bias=False)
    nn.init.zeros_(net.weight)
    if kind is RecordedSGD:
        recorded = RecordedSGD(net, binary_cross_entropy_with_logits, _RUN, rows, targets)
        for batch in recorded.batch_sampler():
            net(rows[batch])
            recorded.step()
        return recorded
    optimiser = kind(net, binary_cross_entropy_with_logits, _RUN)
    for batch in optimiser.batches():
        optimiser.step(rows[batch], targets[batch])
    return optimiser


@pytest.mark.parametrize(("kind", "rows"), [(RecordedSGD, 12), (li.ProjectedNoisySGD, 24)])
@pytest.mark.usefixtures("short_refutation")
def test_the_bound_tries_the_assumption_on_the_data(kind: type[li.ProjectedNoisySGD], rows: int) -> None:
    """Rows of length 20 once had the bound of rows of length 1."""
    with pytest.raises(
        li.InputError, match=r"assumption=Convex\(L=0\.25\), but at two points .* L is at least"
    ):
        _steep(kind, 20.0).bound(li.Convex(0.25), delta=1e-5)
    optimiser = _steep(kind, 1.0)
    before = optimiser.state_dict()["parameters"].clone()
    found = optimiser.bound(li.Convex(0.25), delta=1e-5)
    assert f"; tested on {rows} rows of the data, not refuted" in found.assumptions[0]
    assert found == li.bound(optimiser.accounted(), li.Convex(0.25), delta=1e-5)
    assert torch.equal(optimiser.state_dict()["parameters"], before)
    assert "tried" not in optimiser.bound(li.Clipped(), delta=1e-5).assumptions[0]


def test_what_was_not_tried_says_so() -> None:
    optimiser = _steep(li.ProjectedNoisySGD, 20.0)
    for found in (
        li.bound(optimiser.accounted(), li.Convex(0.25), delta=1e-5),
        optimiser.bound(li.Tabulated((0.1, 1.0), (3.0, 30.0)), delta=1e-5),  # no two gradients can tell
    ):
        assert "; assumed, not tested on data" in found.assumptions[0]
    resumed = li.ProjectedNoisySGD(nn.Linear(3, 1, bias=False), binary_cross_entropy_with_logits, _RUN)
    resumed.load_state_dict(optimiser.state_dict())  # its steps were made elsewhere
    assert "; assumed, not tested on data" in resumed.bound(li.Convex(0.25), delta=1e-5).assumptions[0]


@pytest.mark.nightly
def test_a_trial_in_mid_training_is_no_pass_of_the_trainer() -> None:
    model, optimiser = recorded()
    batches = iter(loader(optimiser))
    plain(optimiser, model, [next(batches)])
    optimiser.bound(li.Smooth(100.0), delta=1e-5)
    plain(optimiser, model, batches)
    assert same(model)
