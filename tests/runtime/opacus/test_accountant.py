"""The accountant for Opacus, on real trainings."""

import warnings
from fractions import Fraction
from math import inf
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("opacus")

from opacus import PrivacyEngine  # noqa: E402
from opacus.accountants import RDPAccountant, create_accountant  # noqa: E402
from opacus_training import DELTA, B, N, Training, composition  # noqa: E402
from scipy.stats import chi2  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

from lastiterate.numeric.accounting.dominating import DominatingPair, SampledSteps  # noqa: E402
from lastiterate.numeric.bound import bound  # noqa: E402
from lastiterate.numeric.errors import InputError  # noqa: E402
from lastiterate.numeric.losses.assumptions import Clipped, Convex, Minimum, StronglyConvex  # noqa: E402
from lastiterate.numeric.run import NoisySGD  # noqa: E402
from lastiterate.opacus import LastIterateAccountant, project  # noqa: E402


def test_it_is_registered() -> None:
    assert isinstance(create_accountant("last_iterate"), LastIterateAccountant)
    assert LastIterateAccountant.mechanism() == "last_iterate"


def test_without_a_description_it_composes_and_says_so() -> None:
    training = Training().train(25)
    accountant = training.accountant
    assert len(accountant) == 25
    assert accountant.history == [(1.5, 0.1, 25)]
    assert training.engine.get_epsilon(DELTA) == composition(25)
    assert accountant.route == "composition through PLD, as describe() was not called"
    theirs = RDPAccountant()
    theirs.history = list(accountant.history)
    assert accountant.get_epsilon(DELTA) < theirs.get_epsilon(DELTA)
    with pytest.raises(InputError, match="describe"):
        accountant.run()


def test_a_target_can_be_asked_for() -> None:
    engine = PrivacyEngine(accountant="last_iterate")
    model = torch.nn.Linear(4, 1)
    data = TensorDataset(torch.randn(N, 4), torch.zeros(N))
    _, optimizer, _ = engine.make_private_with_epsilon(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=DataLoader(data, batch_size=B), target_epsilon=3.0, target_delta=DELTA, epochs=5,
        max_grad_norm=1.0,
    )  # fmt: skip
    assert 2.98 <= composition(50, optimizer.noise_multiplier) <= 3.0


def test_a_projected_training_agrees_with_bound_and_falls_below_composition() -> None:
    training = Training()
    projection = project(training.optimizer, 0.1)
    accountant = training.described(Convex(0.25), 0.1).accountant
    found: list[float] = []
    for steps in (60, 120):
        training.train(steps - len(accountant))
        found.append(accountant.get_epsilon(DELTA))
        run = accountant.run()
        assert run == NoisySGD(
            steps=steps, step_size=0.5, noise_std=run.noise_std, clip_norm=1.0, dataset_size=N, batch_size=B,
            sampling="poisson", diameter=0.1,
        )  # fmt: skip
        assert run.noise_std_at(0) == pytest.approx(0.5 * 1.5 / 6)
        expected = bound(run, Convex(0.25), delta=DELTA)
        assert found[-1] == min(expected.epsilon, composition(steps))
    assert accountant.route == expected.route == "contraction"
    assert projection.steps == 120
    assert torch.linalg.vector_norm(training.model._module.weight) <= 0.05 * (1 + 1e-6)
    theirs = RDPAccountant()
    theirs.history = list(accountant.history)
    assert found[1] < 0.7 * composition(120) < 0.7 * theirs.get_epsilon(DELTA)
    assert found[1] - found[0] < 0.02  # converged, where composition goes on growing


def test_schedules_of_noise_and_step_size_are_tracked() -> None:
    training = Training().described(Clipped(), scheduled=("lr", "noise_multiplier"))
    training.train(3)
    training.optimizer.noise_multiplier = 3.0
    training.optimizer.param_groups[0]["lr"] = 0.2
    training.train(2)
    run = training.accountant.run()
    assert run.step_size == (0.5,) * 3 + (0.2,) * 2
    assert run.noise_std == pytest.approx((0.125,) * 3 + (0.1,) * 2)
    steps = (SampledSteps(0.1, 1.5, "add_remove", 3), SampledSteps(0.1, 3.0, "add_remove", 2))
    assert training.accountant.composition() == DominatingPair(0.0, steps)


def test_where_no_theorem_applies_composition_stands() -> None:
    training = Training().described(Convex(1.0), scheduled=["lr"]).train(4)
    training.optimizer.param_groups[0]["lr"] = 1e35
    training.train(1)
    assert training.accountant.get_epsilon(DELTA) == composition(5)
    assert "no theorem for the last iterate applies: bound needs numbers" in training.accountant.route


def test_a_step_that_no_theorem_speaks_of_is_refused_before_the_training() -> None:
    with pytest.raises(InputError, match=r"needs numbers between .* got step_size=1e\+70"):
        Training(lambda parameters: torch.optim.SGD(parameters, lr=1e70)).described(Convex(1.0))
    with pytest.raises(InputError, match="noise_multiplier=0"):
        Training(noise_multiplier=0.0).described(Clipped())


def test_a_keyword_that_describe_does_not_know_is_remembered() -> None:
    training = Training()
    with pytest.raises(InputError, match=r"got diametr=2\.0; did you mean diameter"):
        training.described(Convex(0.25), diametr=2.0)
    training.train(1)
    training.engine.get_epsilon(DELTA)
    assert "as describe() was refused: describe takes" in training.accountant.route


def test_it_says_why_composition_is_the_least() -> None:
    training = Training().described(Convex(0.25))
    assert training.engine.get_epsilon(DELTA) == 0
    assert training.accountant.route == "no steps"
    training.train(4)
    training.engine.get_epsilon(DELTA)
    assert training.accountant.route.startswith("composition through PLD; only a domain of finite diameter")
    projected = Training()
    project(projected.optimizer, 3.0)
    projected.described(Convex(0.25), 3.0).train(4).engine.get_epsilon(DELTA)
    assert "diameter=3 against noise of standard deviation 0.25 over all 4 steps" in projected.accountant.route


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("samples", "n", "b", "divisor"), [(62, 66, 6, 5), (61, 66, 6, 5), (67, 72, 6, 5)])
def test_batches_that_do_not_divide_the_data_are_a_run_on_more_data(
    samples: int, n: int, b: int, divisor: int
) -> None:
    """Samples without a gradient change no iterate: rate, step size over divisor and noise are those of Opacus."""
    training = Training(samples=samples)
    project(training.optimizer, 0.1)
    training.described(Convex(0.25), 0.1).train(2)
    run = training.accountant.run()
    assert (training.optimizer.expected_batch_size, len(training.loader)) == (divisor, n // b)
    assert (run.dataset_size, run.batch) == (n, b)
    assert 0 <= run.step_size_at(0) / b - 0.5 / divisor < 1e-15
    assert run.noise_std_at(0) == pytest.approx(0.5 * 1.5 / divisor)
    training.train(100)
    assert training.accountant.get_epsilon(DELTA) < 0.8 * training.accountant.composition().dp(DELTA)
    assert training.accountant.route == "contraction"
    with pytest.raises(
        InputError, match=f"divides dataset_size, got {n // b} batches for dataset_size={samples}"
    ):
        Training(samples=samples).described(Minimum(Clipped(), StronglyConvex(0.25, 0.01)))
    Training().described(StronglyConvex(0.25, 0.01))


def decaying(parameters: Any) -> torch.optim.SGD:
    return torch.optim.SGD(parameters, lr=0.5, weight_decay=0.2)


@pytest.mark.nightly
def test_weight_decay_contracts_without_a_projection() -> None:
    training = Training(decaying).described(Convex(0.25))
    training.train(120)
    run = training.accountant.run()
    assert (run.weight_decay, run.diameter) == (0.2, inf)
    found = training.accountant.get_epsilon(DELTA)
    assert found == bound(run, Convex(0.25), delta=DELTA).epsilon < 0.65 * composition(120)
    training.train(120)
    assert training.accountant.get_epsilon(DELTA) < found * 1.01
    training.optimizer.param_groups[0]["weight_decay"] = 0.1
    with pytest.raises(InputError, match=r"and weight_decay=0\.1; the accountant does not support schedules"):
        training.train(1)


def test_opacus_adds_the_decay_after_clipping_and_noise() -> None:
    """Without gradients to speak of (1 - eta lambda)^t is left of large weights, whatever the clip."""
    training = Training(decaying, noise_multiplier=1e-9, max_grad_norm=1e-6).described(Convex(0.25))
    torch.nn.init.constant_(training.model._module.weight, 3.0)
    training.train(4)
    assert torch.allclose(training.model._module.weight, torch.tensor(3.0 * 0.9**4), atol=1e-4)


@pytest.mark.parametrize("samples", [61, 62, 67])
def test_decay_and_step_size_are_rounded_to_the_safe_side(samples: int) -> None:
    run = Training(decaying, samples=samples).described(Convex(0.25)).train(2).accountant.run()
    eta, decay, true = Fraction(run.step_size_at(0)), Fraction(run.weight_decay), Fraction(0.5) * Fraction(0.2)
    assert 0 <= true - eta * decay < 1e-15
    step = Fraction(0.5) * run.batch / 5
    assert 0 <= eta * (Fraction(0.25) + decay) - step * (Fraction(0.25) + true / step) < 1e-14


def test_several_decays_are_refused() -> None:
    training = Training(decaying)
    groups = training.optimizer.original_optimizer.param_groups
    groups.append({**groups[0], "params": [], "weight_decay": 0.1})
    with pytest.raises(
        InputError, match=r"one weight decay for all parameters, got weight_decay=\[0\.1, 0\.2\]"
    ):
        training.described(Convex(0.25))


def test_samples_without_a_gradient_change_no_update() -> None:
    generator = torch.Generator().manual_seed(5)
    gradients = torch.randn(7, 3, generator=generator)
    # Of 7 samples and two without a gradient.
    chosen = torch.tensor([1, 0, 1, 1, 0, 0, 1, 1, 0], dtype=torch.bool)
    padded = torch.cat([gradients, torch.zeros(2, 3)])
    update = 0.5 / 2 * gradients[chosen[:7]].sum(0)  # three batches, divisor 7 // 3
    assert torch.allclose(update, (0.5 * 9 / (3 * 2)) / 3 * padded[chosen].sum(0))


def test_ghost_clipping_takes_the_same_steps() -> None:
    mode = {"grad_sample_mode": "ghost", "criterion": torch.nn.BCEWithLogitsLoss()}
    weights = []
    for ghost in (False, True):
        torch.manual_seed(2)
        plain = Training(noise_multiplier=1e-9, **(mode if ghost else {}))
        project(plain.optimizer, 1.0)
        plain.described(Convex(0.25), 1.0).train(5)
        weights.append(plain.model._module.weight.detach())
        assert plain.accountant.run().steps == 5
    assert torch.linalg.vector_norm(weights[0]) > 0.01
    assert torch.allclose(*weights, atol=1e-6)


def test_the_noise_of_opacus_is_the_noise_of_the_run() -> None:
    """Rows of zeros have no gradient, so a step is noise alone: chi-square on it, step by step, under a schedule."""
    dimension, sizes = 400, (0.5, 0.25, 0.125, 2.0)
    model = torch.nn.Linear(dimension, 1, bias=False)
    engine = PrivacyEngine(accountant="last_iterate")
    torch.manual_seed(7)
    data = TensorDataset(torch.zeros(N, dimension), torch.zeros(N))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, optimizer, loader = engine.make_private(
            module=model, optimizer=torch.optim.SGD(model.parameters(), lr=1.0),
            data_loader=DataLoader(data, batch_size=B), noise_multiplier=1.5, max_grad_norm=0.7,
        )  # fmt: skip
        engine.accountant.describe(optimizer, Clipped(), loader, scheduled=("lr",))
        moves = []
        for points, _ in loader:
            if len(moves) == len(sizes):
                break
            optimizer.param_groups[0]["lr"] = sizes[len(moves)]
            before = next(model.parameters()).detach().clone()
            optimizer.zero_grad()
            model(points).sum().backward()
            optimizer.step()
            moves.append(next(model.parameters()).detach() - before)
    run = engine.accountant.run()
    assert (run.steps, run.step_size) == (len(sizes), sizes)
    for t, moved in enumerate(moves):
        for factor, fits in ((1.0, True), (1.3, False)):
            tail = chi2.cdf(float(moved.square().sum()) / (factor * run.noise_std_at(t)) ** 2, dimension)
            assert (2 * min(tail, 1 - tail) > 1e-3) == fits
