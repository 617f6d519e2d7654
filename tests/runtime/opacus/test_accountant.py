"""The accountant for Opacus, on real trainings."""

import warnings
from collections.abc import Callable
from copy import deepcopy
from math import inf
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("opacus")

from opacus import PrivacyEngine  # noqa: E402
from opacus.accountants import RDPAccountant, create_accountant  # noqa: E402
from scipy.stats import chi2  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

from lastiterate.numeric.accounting.composed import Composed, SampledStep  # noqa: E402
from lastiterate.numeric.accounting.pld import composed_epsilon  # noqa: E402
from lastiterate.numeric.assumptions import Assumption, Clipped, Convex, Minimum, StronglyConvex  # noqa: E402
from lastiterate.numeric.bound import bound  # noqa: E402
from lastiterate.numeric.errors import InputError  # noqa: E402
from lastiterate.numeric.run import NoisySGD  # noqa: E402
from lastiterate.opacus import LastIterateAccountant, project  # noqa: E402

_N, _B, _DELTA = 60, 6, 1e-3


class _Training:
    """Logistic regression on 60 points, with Opacus."""

    def __init__(self, optimizer: Callable[[Any], Any] | None = None, samples: int = _N, **private: Any) -> None:
        generator = torch.Generator().manual_seed(3)
        points = torch.nn.functional.normalize(torch.randn(samples, 4, generator=generator))
        labels = (points[:, 0] > 0).float()
        model = torch.nn.Linear(4, 1, bias=False)
        torch.nn.init.zeros_(model.weight)
        inner = (optimizer or (lambda parameters: torch.optim.SGD(parameters, lr=0.5)))(model.parameters())
        self.engine = PrivacyEngine(accountant="last_iterate")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model, self.optimizer, *criterion, self.loader = self.engine.make_private(
                module=model, optimizer=inner, data_loader=DataLoader(TensorDataset(points, labels), batch_size=_B),
                noise_multiplier=private.pop("noise_multiplier", 1.5),
                max_grad_norm=private.pop("max_grad_norm", 1.0), **private,
            )  # fmt: skip

        self.loss = criterion[0] if criterion else torch.nn.BCEWithLogitsLoss()

    @property
    def accountant(self) -> LastIterateAccountant:
        found = self.engine.accountant
        assert isinstance(found, LastIterateAccountant)
        return found

    def train(self, steps: int) -> "_Training":
        loss = self.loss
        taken = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            while taken < steps:
                for points, labels in self.loader:
                    if taken == steps:
                        break
                    self.optimizer.zero_grad()
                    loss(self.model(points).squeeze(1), labels).backward()
                    self.optimizer.step()
                    taken += 1
        return self

    def described(self, assumption: Assumption, diameter: float = inf) -> "_Training":
        self.accountant.describe(self.optimizer, assumption, self.loader, diameter=diameter)
        return self


def _composition(steps: int, noise: float = 1.5) -> float:
    return composed_epsilon(Composed(0.0, (SampledStep(0.1, noise, "add_remove", steps),)), _DELTA)


def test_it_is_registered() -> None:
    assert isinstance(create_accountant("last_iterate"), LastIterateAccountant)
    assert LastIterateAccountant.mechanism() == "last_iterate"


def test_without_a_description_it_composes_and_says_so() -> None:
    training = _Training().train(25)
    accountant = training.accountant
    assert len(accountant) == 25
    assert accountant.history == [(1.5, 0.1, 25)]
    assert training.engine.get_epsilon(_DELTA) == _composition(25)
    assert accountant.route == "composition through PLD, as describe() was not called"
    theirs = RDPAccountant()
    theirs.history = list(accountant.history)
    assert accountant.get_epsilon(_DELTA) < theirs.get_epsilon(_DELTA)
    with pytest.raises(InputError, match="describe"):
        accountant.run()


def test_a_target_can_be_asked_for() -> None:
    engine = PrivacyEngine(accountant="last_iterate")
    model = torch.nn.Linear(4, 1)
    data = TensorDataset(torch.randn(_N, 4), torch.zeros(_N))
    _, optimizer, _ = engine.make_private_with_epsilon(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=DataLoader(data, batch_size=_B), target_epsilon=3.0, target_delta=_DELTA, epochs=5,
        max_grad_norm=1.0,
    )  # fmt: skip
    assert 2.98 <= _composition(50, optimizer.noise_multiplier) <= 3.0


def test_a_projected_training_agrees_with_bound_and_falls_below_composition() -> None:
    training = _Training()
    projection = project(training.optimizer, 0.1)
    accountant = training.described(Convex(0.25), 0.1).accountant
    found: list[float] = []
    for steps in (60, 120):
        training.train(steps - len(accountant))
        found.append(accountant.get_epsilon(_DELTA))
        run = accountant.run()
        assert run == NoisySGD(
            steps=steps, step_size=0.5, noise_std=run.noise_std, clip_norm=1.0, dataset_size=_N, batch_size=_B,
            sampling="poisson", diameter=0.1,
        )  # fmt: skip
        assert run.noise_std_at(0) == pytest.approx(0.5 * 1.5 / 6)
        expected = bound(run, Convex(0.25), delta=_DELTA)
        assert found[-1] == min(expected.epsilon, _composition(steps))
    assert accountant.route == expected.route == "window of shifts through PLD"
    assert projection.steps == 120
    assert torch.linalg.vector_norm(training.model._module.weight) <= 0.05 * (1 + 1e-6)
    theirs = RDPAccountant()
    theirs.history = list(accountant.history)
    assert found[1] < 0.7 * _composition(120) < 0.7 * theirs.get_epsilon(_DELTA)
    assert found[1] - found[0] < 0.02  # converged, where composition goes on growing


def test_schedules_of_noise_and_step_size_are_tracked() -> None:
    training = _Training().described(Clipped())
    training.train(3)
    training.optimizer.noise_multiplier = 3.0
    training.optimizer.param_groups[0]["lr"] = 0.2
    training.train(2)
    run = training.accountant.run()
    assert run.step_size == (0.5,) * 3 + (0.2,) * 2
    assert run.noise_std == pytest.approx((0.125,) * 3 + (0.1,) * 2)
    steps = (SampledStep(0.1, 1.5, "add_remove", 3), SampledStep(0.1, 3.0, "add_remove", 2))
    assert training.accountant.composition() == Composed(0.0, steps)


def test_where_no_theorem_applies_composition_stands() -> None:
    training = _Training().described(Convex(1.0)).train(4)
    training.optimizer.param_groups[0]["lr"] = 5.0
    training.train(1)
    assert training.accountant.get_epsilon(_DELTA) == _composition(5)
    assert "no theorem for the last iterate applies: A convex loss needs step_size <= 2/L" in training.accountant.route


def test_a_step_that_no_theorem_speaks_of_is_refused_before_the_training() -> None:
    with pytest.raises(InputError, match=r"step_size <= 2/L = 2, got step_size=5"):
        _Training(lambda parameters: torch.optim.SGD(parameters, lr=5.0)).described(Convex(1.0))
    with pytest.raises(InputError, match="noise_multiplier=0"):
        _Training(noise_multiplier=0.0).described(Clipped())


def test_it_says_why_composition_is_the_least() -> None:
    training = _Training().described(Convex(0.25))
    assert training.engine.get_epsilon(_DELTA) == 0
    assert training.accountant.route == "no steps"
    training.train(4)
    training.engine.get_epsilon(_DELTA)
    assert training.accountant.route.startswith("composition through PLD; only a domain of finite diameter")
    projected = _Training()
    project(projected.optimizer, 3.0)
    projected.described(Convex(0.25), 3.0).train(4).engine.get_epsilon(_DELTA)
    assert "diameter=3 against noise of standard deviation 0.25 over all 4 steps" in projected.accountant.route


@pytest.mark.parametrize(("samples", "n", "b", "divisor"), [(62, 66, 6, 5), (61, 66, 6, 5), (67, 72, 6, 5)])
def test_batches_that_do_not_divide_the_data_are_a_run_on_more_data(samples: int, n: int, b: int, divisor: int) -> None:
    """Samples without a gradient change no iterate: rate, step size over divisor and noise are those of Opacus."""
    training = _Training(samples=samples)
    project(training.optimizer, 0.1)
    training.described(Convex(0.25), 0.1).train(2)
    run = training.accountant.run()
    assert (training.optimizer.expected_batch_size, len(training.loader)) == (divisor, n // b)
    assert (run.dataset_size, run.batch) == (n, b)
    assert 0 <= run.step_size_at(0) / b - 0.5 / divisor < 1e-15
    assert run.noise_std_at(0) == pytest.approx(0.5 * 1.5 / divisor)
    training.train(100)
    assert training.accountant.get_epsilon(_DELTA) < 0.8 * composed_epsilon(training.accountant.composition(), _DELTA)
    assert training.accountant.route == "window of shifts through PLD"
    with pytest.raises(InputError, match=f"divide the data, got {n // b} batches of dataset_size={samples}"):
        _Training(samples=samples).described(Minimum(Clipped(), StronglyConvex(0.25, 0.01)))
    _Training().described(StronglyConvex(0.25, 0.01))


def test_samples_without_a_gradient_change_no_update() -> None:
    generator = torch.Generator().manual_seed(5)
    gradients = torch.randn(7, 3, generator=generator)
    chosen = torch.tensor([1, 0, 1, 1, 0, 0, 1, 1, 0], dtype=torch.bool)  # of 7 samples and two without a gradient
    padded = torch.cat([gradients, torch.zeros(2, 3)])
    update = 0.5 / 2 * gradients[chosen[:7]].sum(0)  # three batches, divisor 7 // 3
    assert torch.allclose(update, (0.5 * 9 / (3 * 2)) / 3 * padded[chosen].sum(0))


def test_ghost_clipping_takes_the_same_steps() -> None:
    mode = {"grad_sample_mode": "ghost", "criterion": torch.nn.BCEWithLogitsLoss()}
    weights = []
    for ghost in (False, True):
        torch.manual_seed(2)
        plain = _Training(noise_multiplier=1e-9, **(mode if ghost else {}))
        project(plain.optimizer, 1.0)
        plain.described(Convex(0.25), 1.0).train(5)
        weights.append(plain.model._module.weight.detach())
        assert plain.accountant.run().steps == 5
    assert torch.linalg.vector_norm(weights[0]) > 0.01
    assert torch.allclose(*weights, atol=1e-6)


def test_an_engine_accounts_for_one_model() -> None:
    first, second = _Training(), _Training()
    first.described(Clipped()).train(2)
    with pytest.raises(InputError, match="a PrivacyEngine for each model"):
        first.accountant.describe(second.optimizer, Clipped(), second.loader)
    second.optimizer.attach_step_hook(first.accountant.get_optimizer_hook_fn(0.1))
    with pytest.raises(InputError, match="a PrivacyEngine for each model"):
        second.train(1)
    assert len(first.accountant) == 2


def test_a_domain_needs_a_projection_in_every_step() -> None:
    training = _Training()
    with pytest.raises(InputError, match=r"got none; call project"):
        training.described(Convex(1.0), 1.0)
    project(training.optimizer, 2.0)
    with pytest.raises(InputError, match="diameter=2"):
        training.described(Convex(1.0), 1.0)
    with pytest.raises(InputError, match="does not project yet"):
        project(training.optimizer, 1.0)
    training.described(Convex(1.0), 2.0).train(2)
    training.accountant.step(noise_multiplier=1.5, sample_rate=0.1)  # a step that this optimiser did not take
    with pytest.raises(InputError, match="2 of 3 steps"):
        training.accountant.get_epsilon(_DELTA)


@pytest.mark.parametrize(
    ("optimizer", "message"),
    [
        (lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), "momentum=0.9"),
        (lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=0.01), "weight_decay=0.01"),
        (lambda p: torch.optim.Adam(p), "optimizer=Adam"),
    ],
)
def test_other_optimisers_are_refused_by_name(optimizer: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        _Training(optimizer).described(Clipped())


def test_other_bad_descriptions() -> None:
    with pytest.raises(InputError, match="loss_reduction='sum'"):
        _Training(loss_reduction="sum").described(Clipped())
    with pytest.raises(InputError, match="assumption=1"):
        _Training().described(1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Poisson batches, got data_loader=DataLoader"):
        _Training(poisson_sampling=False).described(Clipped())
    with pytest.raises(InputError, match="rand_on_empty=True"):
        _Training(rand_on_empty=True).described(Clipped())
    with pytest.raises(InputError, match="optimizer=DPPerLayerOptimizer; use make_private with clipping='flat'"):
        _Training(clipping="per_layer", max_grad_norm=[1.0]).described(Clipped())
    bare = _Training()
    with pytest.raises(InputError, match="that make_private returned, got optimizer=SGD"):
        bare.accountant.describe(bare.optimizer.original_optimizer, Clipped(), bare.loader)
    with pytest.raises(InputError, match="before the first step"):
        _Training().train(1).described(Clipped())
    with pytest.raises(InputError, match="delta=2"):
        _Training().accountant.get_epsilon(2.0)
    with pytest.raises(InputError, match="same shape"):
        project(_Training().optimizer, 1.0, centre=[torch.zeros(3)])
    changing = _Training().described(Clipped())
    changing.optimizer.max_grad_norm = 2.0
    with pytest.raises(InputError, match="max_grad_norm=2"):
        changing.train(1)


def test_a_checkpoint_goes_on_where_it_stopped() -> None:
    straight, first, second = _Training(), _Training(), _Training()
    centre = [one.detach().clone() for one in first.model.parameters()]
    for training in (straight, first):
        project(training.optimizer, 1.0)
        training.described(Convex(0.25), 1.0)
    straight.train(6)
    state = first.train(4).accountant.state_dict()
    second.model.load_state_dict(first.model.state_dict())
    second.accountant.load_state_dict(deepcopy(state))
    assert second.accountant.get_epsilon(_DELTA) == _composition(4)
    assert second.accountant.route.endswith("as describe() was not called after a state was loaded")
    project(second.optimizer, 1.0, centre=centre)
    second.described(Convex(0.25), 1.0).train(2)
    assert second.accountant.run() == straight.accountant.run()
    assert second.accountant.get_epsilon(_DELTA) == straight.accountant.get_epsilon(_DELTA)
    assert second.accountant.state_dict() == straight.accountant.state_dict()
    other = _Training()
    other.accountant.load_state_dict(deepcopy(state))
    project(other.optimizer, 1.0, centre=[torch.ones(1, 4)])
    with pytest.raises(InputError, match=r"centre of the domain that .*centre=copies"):
        other.described(Convex(0.25), 1.0)
    wider = _Training()
    wider.accountant.load_state_dict(deepcopy(state))
    project(wider.optimizer, 1.0, centre=centre)
    with pytest.raises(InputError, match=r"got diameter=2.0 after diameter=1.0"):
        wider.described(Convex(0.25), 2.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": 1}, "unknown=\\['extra'\\]"),
        ({"history": None}, "missing=\\['history'\\]"),
        ({"mechanism": "rdp"}, "mechanism='rdp'"),
        ({"history": [(1.0, 0.1)]}, "rows of 3"),
        ({"history": [(-1.0, 0.1, 4)]}, "noise_multiplier=-1"),
        ({"history": [(1.0, 0.1, 9)]}, "other lengths"),
        ({"step_sizes": [("fast", 4)]}, "step_size='fast'"),
        ({"projected": float("inf")}, "projected=inf"),
        ({"projected": -1}, "projected=-1"),
        ({"description": {"dataset_size": 3}}, "whole description"),
        ({"description": 3}, "whole description"),
    ],
)
def test_a_broken_state_is_refused(change: dict[str, Any], message: str) -> None:
    state = {**_Training().train(4).accountant.state_dict(), **change}
    state = {key: value for key, value in state.items() if not (key == "history" and value is None)}
    accountant = LastIterateAccountant()
    with pytest.raises(InputError, match=message):
        accountant.load_state_dict(state)
    with pytest.raises(InputError, match="state=list"):
        accountant.load_state_dict(list(state))  # type: ignore[arg-type]
    assert len(accountant) == 0


def test_the_noise_of_opacus_is_the_noise_of_the_run() -> None:
    """Rows of zeros have no gradient, so a step is noise alone: chi-square on it, step by step, under a schedule."""
    dimension, sizes = 400, (0.5, 0.25, 0.125, 2.0)
    model = torch.nn.Linear(dimension, 1, bias=False)
    engine = PrivacyEngine(accountant="last_iterate")
    torch.manual_seed(7)
    data = TensorDataset(torch.zeros(_N, dimension), torch.zeros(_N))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, optimizer, loader = engine.make_private(
            module=model, optimizer=torch.optim.SGD(model.parameters(), lr=1.0),
            data_loader=DataLoader(data, batch_size=_B), noise_multiplier=1.5, max_grad_norm=0.7,
        )  # fmt: skip
        engine.accountant.describe(optimizer, Clipped(), loader)
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
