"""What changes in mid-run is noticed before the step that would use it, with a projection or with weight decay."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("opacus")

from opacus.utils.batch_memory_manager import BatchMemoryManager  # noqa: E402
from opacus_training import DELTA, N, Training  # noqa: E402
from torch.utils.data import TensorDataset  # noqa: E402

from lastiterate.numeric.errors import InputError  # noqa: E402
from lastiterate.numeric.losses.assumptions import Clipped, Convex  # noqa: E402
from lastiterate.opacus import project  # noqa: E402
from lastiterate.runtime.fingerprint import data_fingerprint, fingerprint_of_values  # noqa: E402


def projected() -> Training:
    training = Training()
    project(training.optimizer, 1.0)
    return training.described(Convex(0.25), 1.0)


def decaying() -> Training:
    return Training(lambda parameters: torch.optim.SGD(parameters, lr=0.5, weight_decay=0.2)).described(
        Convex(0.25)
    )


def another_loader(training: Training) -> None:
    training.loader = Training().loader


def another_batch_size(training: Training) -> None:
    training.optimizer.expected_batch_size = 12


def another_rate(training: Training) -> None:
    training.loader.sample_rate = training.loader.batch_sampler.sample_rate = 0.2


def another_sampler(training: Training) -> None:
    vars(training.loader)["batch_sampler"] = Training().loader.batch_sampler


def another_data_set(training: Training) -> None:
    vars(training.loader)["dataset"] = TensorDataset(*training.loader.dataset.tensors)


def more_data(training: Training) -> None:
    data = training.loader.dataset
    data.tensors = tuple(torch.cat([one, one[:1]]) for one in data.tensors)


def scaled_rows(training: Training) -> None:
    training.loader.dataset.tensors[0].mul_(20)


def step_size(training: Training) -> None:
    training.optimizer.param_groups[0]["lr"] = 0.25


def noise(training: Training) -> None:
    training.optimizer.noise_multiplier = 0.5


def parameters(training: Training) -> None:
    next(training.model.parameters()).data.mul_(0.5)  # which counts as no version of the tensor


def uncounted(training: Training) -> None:
    training.optimizer.original_optimizer.step()


CHANGES: tuple[tuple[Callable[[Training], None], str], ...] = (
    (another_loader, r"got a step on \d+ samples that this loader did not draw"),
    (another_batch_size, "expected_batch_size=12"),
    (another_rate, "got another sampler or sample_rate=0.2"),
    (another_sampler, "got another sampler"),
    (another_data_set, "got a different or changed data set of 60 samples"),
    (more_data, "got a different or changed data set of 61 samples"),
    (scaled_rows, "got a different or changed data set of 60 samples"),
    (step_size, r"got lr=0.25 after lr=0.5; .* describe\(..., scheduled=\('lr',\)\)"),
    (noise, "got noise_multiplier=0.5 after noise_multiplier=1.5"),
    (parameters, "got parameters that changed after its last step"),
    (uncounted, "got (parameters that changed after its last step|one after)"),
)


@pytest.mark.parametrize("begun", [projected, decaying])
@pytest.mark.parametrize(("change", "message"), CHANGES, ids=[change.__name__ for change, _ in CHANGES])
def test_what_changes_in_mid_run_is_refused(begun: Callable[[], Training], change: Any, message: str) -> None:
    torch.manual_seed(1)  # the loader draws from it: two loaders may draw as many samples by chance
    training = begun().train(3)
    change(training)
    with pytest.raises(InputError, match=message):
        training.train(1)
    assert len(training.accountant) == 3
    if change in (parameters, uncounted):  # what the number speaks of is gone
        with pytest.raises(InputError, match=message):
            training.accountant.get_epsilon(DELTA)
    else:  # the number is still that of the three steps
        assert training.accountant.get_epsilon(DELTA) == begun().train(3).accountant.get_epsilon(DELTA) > 0


@pytest.mark.parametrize("begun", [projected, decaying])
def test_one_batch_is_one_step(begun: Callable[[], Training]) -> None:
    training = begun()
    for inputs, labels in training.loader:
        for again in range(2):
            training.optimizer.zero_grad()
            training.loss(training.model(inputs).squeeze(1), labels).backward()
            if again:
                with pytest.raises(InputError, match="one step for each of its batches"):
                    training.optimizer.step()
            else:
                training.optimizer.step()
        break
    assert len(training.accountant) == 1


def test_a_projection_that_is_left_out_or_widened_is_refused() -> None:
    training = projected().train(2)
    hooks = training.optimizer.original_optimizer._optimizer_step_post_hooks
    hooks.pop(next(iter(hooks)))
    training.train(1)
    with pytest.raises(InputError, match="after 2 of 3 steps"):
        training.train(1)
    with pytest.raises(InputError, match="after 2 of 3 steps"):
        training.accountant.get_epsilon(DELTA)
    wider = projected().train(2)
    wider.accountant._projection.diameter = 2.0
    with pytest.raises(InputError, match="The projection must stay as described"):
        wider.train(1)


def test_microbatches_and_a_second_description_go_on() -> None:
    training = projected()
    with BatchMemoryManager(
        data_loader=training.loader, max_physical_batch_size=2, optimizer=training.optimizer
    ) as pieces:
        for inputs, labels in pieces:
            training.optimizer.zero_grad()
            training.loss(training.model(inputs).squeeze(1), labels).backward()
            training.optimizer.step()
    assert len(training.accountant) == len(training.loader) == 10
    training.optimizer.param_groups[0]["lr"] = 0.25
    training.described(Convex(0.25), 1.0, scheduled=("lr",)).train(2)
    assert training.accountant.run().step_size == (0.5,) * 10 + (0.25,) * 2
    parameters(training)
    with pytest.raises(InputError, match="got parameters that changed after its last step"):
        training.described(Convex(0.25), 1.0)
    with pytest.raises(InputError, match=r"scheduled='lr'; write, say, \('lr',\)"):
        training.described(Convex(0.25), 1.0, scheduled="lr")


def test_rows_that_are_too_long_are_refused_by_the_steps_themselves() -> None:
    """Logistic regression on rows of norm 20 has L = 100, and neither network nor loss is told to `describe`."""
    training = Training()
    training.loader.dataset.tensors[0].mul_(20)
    training.described(Convex(0.25))
    with pytest.raises(
        InputError, match=r"got assumption=Convex\(L=0.25\), but at two iterates .* L is at least"
    ):
        training.train(60)
    assert 0 < len(training.accountant) < 60
    with pytest.raises(InputError, match="L is at least"):
        training.accountant.run()
    assert training.accountant.get_epsilon(DELTA) == training.accountant.composition().dp(DELTA)
    assert "as no theorem for the last iterate applies: Training needs" in training.accountant.route
    honest = Training()
    honest.loader.dataset.tensors[0].mul_(20)
    honest.optimizer.param_groups[0]["lr"] = 0.019
    assert len(honest.described(Convex(100.0)).train(60).accountant) == 60
    training.described(Clipped()).train(5)
    assert training.accountant.run().steps == len(training.accountant)


def test_losses_that_are_not_convex_are_refused_by_the_steps_themselves() -> None:
    for assumption, message in ((Convex(3.9), "losses are less convex"), (Clipped(), "")):
        training = Training(hidden=6)
        training.described(assumption)
        if message:
            with pytest.raises(InputError, match=message):
                training.train(150)
        else:
            assert len(training.train(30).accountant) == 30


def test_public_sizes_are_those_of_the_run_whatever_the_number_of_samples() -> None:
    """Opacus divides by 6 with 60 samples and by 5 with 59, which no noise hides."""
    assert [Training(samples=n).optimizer.expected_batch_size for n in (N, N - 1)] == [6, 5]
    runs = []
    for samples in (N, N - 1):
        training = Training(samples=samples).described(Clipped(), public=(10, 6)).train(12)
        assert (training.loader.sample_rate, len(training.loader), training.optimizer.expected_batch_size) == (
            0.1,
            10,
            6,
        )
        runs.append(training.accountant.run())
        assert training.accountant.history == [(1.5, 0.1, 12)]
    larger, smaller = runs
    assert larger.dataset_size >= N + 1
    assert larger.noise_std == smaller.noise_std
    assert larger.step_size_at(0) / larger.batch == pytest.approx(smaller.step_size_at(0) / smaller.batch)
    for bad in ((0, 6), (10,), 10):
        with pytest.raises(InputError, match="public"):
            Training().described(Clipped(), public=bad)


def test_data_are_known_again_by_their_items() -> None:
    points = torch.arange(200.0).reshape(100, 2)
    data = TensorDataset(points, torch.zeros(100, dtype=torch.bfloat16))
    assert (
        data_fingerprint(data)
        == data_fingerprint(TensorDataset(points.clone(), torch.zeros(100).bfloat16()))
        != ""
    )
    assert data_fingerprint(data) != data_fingerprint(TensorDataset(points + 1, torch.zeros(100)))
    assert data_fingerprint([(k, "text", {"ids": [k]}) for k in range(3)]) != ""

    class Noisy(list):  # type: ignore[type-arg]
        def __getitem__(self, _: Any) -> Any:
            return torch.randn(2)

    assert data_fingerprint(Noisy(range(5))) == ""
    assert fingerprint_of_values([[1], [2]]) != fingerprint_of_values([[1, 2], []])
