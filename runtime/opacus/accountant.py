"""Opacus accountant for training that releases only the last iterate, registered as "last_iterate".

Opacus passes the noise multiplier and the sampling rate of each step to an accountant;
`LastIterateAccountant.describe` takes the rest of the description. The parameters and batches before the last
step must stay secret, including checkpoints and validation scores of earlier models.

Units: Opacus adds noise of standard deviation sigma C to the sum of the clipped gradients, where sigma is the
noise multiplier and C is max_grad_norm, and divides by the expected batch size b. With step size eta, the
standard deviation on the *iterate* is eta sigma C / b. Batches are Poisson. In adjacent data sets, one sample
is absent from the batches; see ``public`` of `describe` for the number of samples.

Without a description or a theorem that gives less, epsilon comes from composition, which is always valid, and
`LastIterateAccountant.route` gives the reason.
"""

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from math import inf, isfinite
from typing import Annotated, Any, TypeVar, cast

from opacus.accountants import IAccountant, register_accountant
from opacus.optimizers import DPOptimizer
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from torch import Tensor, nn

from lastiterate.numeric.accounting.dominating import DominatingPair, SampledSteps
from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError, chance, echo, teaches
from lastiterate.numeric.explain import UNTRIED, why_composition
from lastiterate.numeric.losses.assumptions import Assumption, described_assumption
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.fingerprint import fingerprint_of_values
from lastiterate.runtime.opacus.description import Description, check_plain, describe_training, step_size_of
from lastiterate.runtime.opacus.projection import Projection, attached, parameters_of
from lastiterate.runtime.opacus.watch import SCHEDULED, Watch, try_on_data

_Positive = Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]
_AtLeastZero = Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)]
_Count = Annotated[int, Field(gt=0, strict=True)]

_NAME = "last_iterate"

Method = TypeVar("Method", bound=Callable[..., None])


class _State(BaseModel, extra="forbid"):
    """State of the accountant in a checkpoint.

    ``projected`` counts the steps with a projection; ``parameters`` is a fingerprint after the last step.
    """

    mechanism: str
    history: list[tuple[_Positive, _Positive, _Count]]
    step_sizes: list[tuple[_AtLeastZero, _Count]]
    projected: Annotated[int, Field(ge=0, strict=True)]
    description: Description | None
    parameters: str = ""


def _remembering_refusal(describe: Method) -> Method:
    """Store the message of a refused description in ``refused``."""

    @wraps(describe)
    def remembering(self: "LastIterateAccountant", *given: Any, **named: Any) -> None:
        self.refused = ""
        try:
            describe(self, *given, **named)
        except InputError as error:
            self.refused = str(error)
            raise

    return cast("Method", remembering)


class LastIterateAccountant(IAccountant):  # type: ignore[misc]
    """Accountant for DP-SGD that releases only the last iterate.

    Use it as ``PrivacyEngine(accountant="last_iterate")``, with one engine per model. After ``make_private``,
    call:

        project(optimizer, diameter=2.0)
        engine.accountant.describe(optimizer, Convex(L=1.0), data_loader, diameter=2.0)

    Attributes:
        history: (noise multiplier, sampling rate, number of steps) for each series of equal steps, as in
            Opacus.
        route: method that gave the last result of `get_epsilon`; empty before the first call.
        refused: error message of the last call of `describe`; empty if the description was accepted.
    """

    def __init__(self) -> None:
        super().__init__()
        self.history: list[tuple[float, float, int]] = []
        self._step_sizes: list[tuple[float, int]] = []
        self._description: Description | None = None
        self._assumption: Assumption | None = None
        self._parameters: list[Tensor] | None = None
        self._projection: Projection | None = None
        self._projected_before = 0
        self._watch: Watch | None = None
        self._left = self._tried = self.route = self.refused = ""

    @_remembering_refusal
    @teaches()
    def describe(
        self,
        optimizer: DPOptimizer,
        assumption: Assumption,
        data_loader: Any,
        *,
        diameter: float = inf,
        scheduled: Collection[str] = (),
        public: tuple[int, int] | None = None,
        module: nn.Module | None = None,
        loss: Callable[[Tensor, Tensor], Tensor] | None = None,
    ) -> None:
        """Describe the training for the last-iterate theorems; call it again after loading a state.

        Args:
            optimizer: optimiser from ``make_private``: plain SGD, flat clipping, mean reduction.
            assumption: assumption on the losses over the domain.
            data_loader: loader from ``make_private``, with Poisson batches; its data set has all n samples.
            diameter: diameter of the domain, a length; inf without projection. If it is finite, call
                `project` first.
            scheduled: settings, "lr" or "noise_multiplier", that change between steps by a schedule that does
                not depend on the data. A step with any other change is refused.
            public: numbers (m, b) that do not depend on the data or on its size, to which loader and
                optimiser are set. Every sample is drawn with probability 1/m, an epoch has m batches, and
                sums are divided by b; adjacent data sets may then differ in size by one. If None, Opacus
                computes m and b from n, which stays the same, and the differing sample has gradient 0.
            module: module from ``make_private``. With ``loss``, some of the data are used to test whether the
                loss of a batch is the mean of its single-row losses and whether the assumption holds; otherwise
                only the gradients of the steps test the assumption.
            loss: loss(output, target) of a batch, as in the training loop.

        Raises:
            InputError: an optimiser that is not plain SGD, batches that are not Poisson, a step that no
                theorem covers or that precedes or contradicts the description, only one of ``module`` and
                ``loss``, a row that changes the gradients of others, or losses that violate the assumption.
        """
        described_assumption(assumption)
        if isinstance(scheduled, str) or not set(scheduled) <= set(SCHEDULED):
            raise InputError(
                f"scheduled needs a tuple of names from {SCHEDULED}, got scheduled={scheduled!r}; write, say, ('lr',)."
            )
        found = describe_training(optimizer, data_loader, diameter, public)
        if public is not None:
            optimizer.attach_step_hook(self.get_optimizer_hook_fn(data_loader.sample_rate))
        if self._description is not None:
            found.check_continues(self._description)
        elif len(self):
            raise InputError(
                f"describe must be called before the first step, got {len(self)} steps before it; call it right "
                "after make_private."
            )
        if len(self):
            self._check_same_model(optimizer)
            self._check_same_parameters(optimizer)
        step = ((optimizer.noise_multiplier, data_loader.sample_rate, 1),), ((step_size_of(optimizer), 1),)
        run = found.run(*step, assumption)
        bound(run, assumption, order=2)  # refuses immediately if no theorem applies
        self._tried = try_on_data(module, loss, data_loader, run, assumption)
        self._description, self._assumption = found, assumption
        self._parameters, projection = parameters_of(optimizer), attached(optimizer)
        self._projected_before = self._projected() - (projection.steps if projection else 0)
        self._projection = projection
        if self._watch is not None:
            self._watch.end()
        last = (self.history[-1][0], self._step_sizes[-1][0]) if len(self) else None
        self._watch = Watch(optimizer, data_loader, found, assumption, scheduled, last)

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Count a step of unknown step size, which only composition can account for."""
        self._count(noise_multiplier, sample_rate, 0.0)

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[DPOptimizer], None]:
        """Hook that counts a step with the current step size; Opacus calls it before each update."""

        def hook(optimizer: DPOptimizer) -> None:
            if self._description is not None:
                check_plain(optimizer)
                self._check_same_model(optimizer)
                if self._watch is not None:
                    if isfinite(self._description.diameter):
                        self._check_projected()
                    self._watch.check_step(optimizer, sample_rate)
            rate = sample_rate * optimizer.accumulated_iterations
            step_size = step_size_of(optimizer) if optimizer.accumulated_iterations == 1 else 0.0
            self._count(optimizer.noise_multiplier, rate, step_size)

        return hook

    def get_epsilon(self, delta: float, **_: Any) -> float:
        """Epsilon for which the last iterate is (epsilon, delta)-DP, rounded up; sets `route`.

        Raises:
            InputError: delta out of range, steps not projected onto the domain, or parameters that changed
                after the last step.
        """
        delta = chance("delta", delta, -inf)
        if self._watch is not None:
            self._watch.check_parameters()
        composed = self.composition().dp(delta)
        self.route = "composition through PLD"
        if not len(self):
            self.route = "no steps"
        elif self._description is None or self._assumption is None:
            self.route += ", as describe() was not called"
            if self.refused:
                self.route = (
                    "composition through PLD, which holds for every optimiser, as describe() was refused: "
                )
                self.route += self.refused
            elif self._description is not None:
                self.route += " after a state was loaded"
        else:
            if isfinite(self._description.diameter):
                self._check_projected()
            try:
                run = self.run()
                found = bound(run, self._assumption, delta=delta)
            except InputError as error:
                self.route += f", as no theorem for the last iterate applies: {error}"
                return composed
            if found.route.startswith("composition") or composed <= found.epsilon:
                self.route += f"; {why_composition(run)}"
            else:
                self.route = found.route
            return min(found.epsilon, composed)
        return composed

    @property
    def tried(self) -> str:
        """Description of the tests of loss and assumption so far."""
        steps = "" if self._watch is None else self._watch.tried
        tied = (
            "" if self._tried or not steps else "it was not tested whether rows change the gradients of others"
        )
        return "; ".join(filter(None, (self._tried, steps, tied))) or UNTRIED

    def composition(self) -> DominatingPair:
        """Dominating pair of all steps so far, as if every iterate were released; needs no description."""
        return DominatingPair(
            0.0, tuple(SampledSteps(q, sigma, "add_remove", times) for sigma, q, times in self.history)
        )

    def run(self) -> NoisySGD:
        """The steps taken so far, as a run, with the noise rounded down.

        Raises:
            InputError: steps that were not described, do not fit the description, or refuted the assumption.
        """
        described = self._description
        if described is None or self._assumption is None:
            raise InputError(
                "The accountant needs a description of the run, got none; call describe(optimizer, "
                "assumption, ...) after make_private, and again after loading a state."
            )
        if isfinite(described.diameter):
            self._check_projected()
        if self._watch is not None:
            self._watch.check_assumption()
        return described.run(self.history, self._step_sizes, self._assumption)

    def __len__(self) -> int:
        return sum(times for _, _, times in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """Name under which the accountant is registered with Opacus."""
        return _NAME

    def state_dict(self, destination: Any = None) -> Any:
        """State without assumption and optimiser, in ``destination`` or a new mapping."""
        now = _State(
            mechanism=self.mechanism(),
            history=self.history,
            step_sizes=self._step_sizes,
            projected=self._projected(),
            description=self._description,
            parameters=self._left if self._watch is None else self._watch.fingerprint,
        ).model_dump()
        if destination is not None:
            destination |= now
        return now if destination is None else destination

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore a `state_dict`; `describe` must then be called again."""
        try:
            found = TypeAdapter(_State).validate_python(state_dict)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "state"
            raise InputError(
                f"The state must be the unchanged output of state_dict, got {place}={echo(first['input'], 80)} "
                f"({first['msg']}); load an intact one."
            ) from None
        if found.mechanism != self.mechanism():
            raise InputError(
                f"The state needs mechanism={self.mechanism()!r}, got mechanism={found.mechanism!r}; load another."
            )
        if sum(times for *_, times in found.history) != sum(times for _, times in found.step_sizes):
            raise InputError(
                "The state needs a step size for every step, got lists of different lengths; load another."
            )
        self.history, self._step_sizes = found.history, found.step_sizes
        self._projected_before, self._description = found.projected, found.description
        self._assumption = self._parameters = self._projection = None
        if self._watch is not None:
            self._watch.end()
        self._watch, self._left = None, found.parameters

    def _count(self, sigma: float, rate: float, step_size: float) -> None:
        for runs, kind in ((self.history, (sigma, rate)), (self._step_sizes, (step_size,))):
            times = runs.pop()[-1] if runs and runs[-1][:-1] == kind else 0
            runs.append((*kind, times + 1))

    def _check_same_model(self, optimizer: DPOptimizer) -> None:
        now, before = parameters_of(optimizer), self._parameters
        if before is not None and (
            len(now) != len(before) or any(a is not b for a, b in zip(now, before, strict=True))
        ):
            raise InputError(
                "An accountant of the last iterate can follow only one model, got the parameters of another; make a "
                "PrivacyEngine for each model, and compose their bounds."
            )

    def _check_same_parameters(self, optimizer: DPOptimizer) -> None:
        if self._watch is not None:
            self._watch.check_parameters()
        elif self._left and fingerprint_of_values(parameters_of(optimizer)) != self._left:
            raise InputError(
                "describe needs the parameters as the last step left them, got different ones; load the model of the "
                "same checkpoint before calling describe."
            )

    def _projected(self) -> int:
        return self._projected_before + (0 if self._projection is None else self._projection.steps)

    def _check_projected(self) -> None:
        if self._projected() != len(self):
            raise InputError(
                f"A domain of finite diameter needs a projection after every step, got one after {self._projected()} "
                f"of {len(self)} steps; attach project(optimizer, diameter) before the first step."
            )


register_accountant(_NAME, LastIterateAccountant, force=True)
