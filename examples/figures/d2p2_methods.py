"""The five optimisers that D2P2-SGD compares, and the remedy: how each is trained, and what it certifiably costs.

Hyperparameters are those of Table 6 unless a figure says otherwise. The noise sigma_epsilon is read as a multiple of
the clip norm 1 that is added to the *sum* of a batch, so sigma_epsilon / B is added to its mean: Theorem 1 scales like
that. Algorithm 1 as printed adds sigma_epsilon to the mean itself.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from math import ceil, log
from typing import TYPE_CHECKING, Final

from figure_cache import FigureCache
from plotting import COLORS
from random_projection import RandomProjectionRun, projection_bound

from lastiterate.numeric.store import Arrays

if TYPE_CHECKING:
    from learning import Split
    from torch import Tensor, nn

    from lastiterate.runtime.workloads.workload import Workload

DELTA: Final = 1e-5
_STABILITY: Final = 0.01
"""gamma of Table 6."""


@dataclass(frozen=True)
class Method:
    """An optimiser of the comparison.

    Attributes:
        name: as the paper has it.
        color: of its curves.
        decays: whether the noise of step k is divided by the root of k.
        projects: whether every layer is projected at random.
        clip: "before" or "after" the projection.
        line: of its curves; dashed where it may lie on another.
        private: whether there is noise at all.
    """

    name: str
    color: str
    decays: bool = False
    projects: bool = False
    clip: str = "before"
    line: str = "-"
    private: bool = True


METHODS: Final = (
    Method("SGD", COLORS["black"], private=False),
    Method("DPSGD", COLORS["orange"]),
    Method("D2P-SGD", COLORS["purple"], decays=True),
    Method("DP2-SGD", "#B8860B", projects=True),
    Method("D2P2-SGD", COLORS["blue"], decays=True, projects=True),
    Method("D2P2-SGD, clipped after", COLORS["green"], decays=True, projects=True, clip="after", line="--"),
)
"""The paper's five, and D2P2-SGD with the clipping moved behind the projection, which is ours."""


@dataclass(frozen=True)
class Training:
    """Settings of a training.

    Attributes:
        workload: its name.
        held_out: rows for the test.
        samples: rows to train on.
        batch_size: B, drawn without replacement.
        epochs: passes over the rows.
        noise: sigma_epsilon, in units of the clip norm, on the sum of a batch.
        kept: p / d of every layer.
        step_size: alpha, a length for private methods and a length / gradient for SGD.
    """

    workload: str
    held_out: int
    samples: int
    batch_size: int
    epochs: int
    noise: float = 3.0
    kept: float = 0.3
    step_size: float = 0.01

    @property
    def steps_an_epoch(self) -> int:
        """Steps that draw as many rows as there are."""
        return ceil(self.samples / self.batch_size)


def _run(method: Method, training: Training, steps: int, ranks: tuple[int, ...]) -> RandomProjectionRun:
    """The run of a private method, as the accountant takes it; without ranks where it does not project."""
    make: Callable[..., RandomProjectionRun] = (
        RandomProjectionRun.d2p2 if method.decays else RandomProjectionRun
    )
    return make(
        steps=steps, step_size=training.step_size, noise_std=training.noise / training.batch_size,
        ranks=ranks if method.projects else (), dataset_size=training.samples, batch_size=training.batch_size,
        sampling="without_replacement", stability=_STABILITY, clip=method.clip,
    )  # fmt: skip


def certified(keep: FigureCache, method: Method, training: Training, steps: int) -> float:
    """Epsilon of a private method at `DELTA` after this many steps: an upper bound, infinite where there is none."""

    def compute() -> dict[str, list[float]]:
        run = _run(method, training, steps, _ranks(training))
        return {"epsilon": [projection_bound(run, delta=DELTA).epsilon]}

    settings = {"certified": method.name, "steps": steps} | asdict(replace(training, epochs=0, step_size=1.0))
    return float(keep(settings, compute)["epsilon"][0])


def claimed(training: Training, steps: int) -> float:
    """Theorem 1 with the constants of its proof, for the noise before its decay; refuted, and the same for every p.

    Its proof asks in (13) for an order eta with

        7 K^2 B^2 eta / (sigma_epsilon^2 n^2) <= epsilon / 2,   exp(-(eta - 1) epsilon / 2) <= delta;

    the least epsilon is (a + sqrt(a^2 + 8 a ln(1/delta))) / 2 with a = 14 K^2 B^2 / (sigma_epsilon^2 n^2). The limit on
    eta, sigma_epsilon^2 log(n/B) / 2, is not enforced.
    """
    a = 14 * (steps * training.batch_size / (training.noise * training.samples)) ** 2
    return float(a + (a**2 + 8 * a * log(1 / DELTA)) ** 0.5) / 2


def trained(keep: FigureCache, method: Method, training: Training, seed: int) -> Arrays:
    """The learning curve of one run; see `learning.learning_curve`."""
    settings = {"trained": method.name, "seed": seed} | asdict(training)
    return keep(settings, lambda: _train(method, training, seed))


def _ranks(training: Training) -> tuple[int, ...]:
    from random_projection_sgd import layer_ranks

    from lastiterate.runtime.workloads.loading import load_workload

    return layer_ranks(load_workload(training.workload).initial(0), training.kept)


def _train(method: Method, training: Training, seed: int) -> Arrays:
    from learning import learning_curve, split

    from lastiterate.runtime.workloads.loading import load_workload

    workload = load_workload(training.workload)
    rows, module = split(workload, training.held_out), workload.initial(seed)
    steps = training.steps_an_epoch * training.epochs
    run = _run(method, training, steps, _ranks(training))
    step = (_private if method.private else _plain)(run, workload, module, rows, seed)
    return learning_curve(workload, module, rows, step, training.steps_an_epoch)


def _private(
    run: RandomProjectionRun, workload: "Workload", module: "nn.Module", rows: "Split", seed: int
) -> Callable[[], bool]:
    from learning import stepping
    from random_projection_sgd import RandomProjectionSGD

    optimiser = RandomProjectionSGD(module, workload.loss, run, seed=seed)
    return stepping(optimiser.batches(), rows, optimiser.step)


def _plain(
    run: RandomProjectionRun, workload: "Workload", module: "nn.Module", rows: "Split", seed: int
) -> Callable[[], bool]:
    """SGD on the batches of the run: no clipping, no noise."""
    import torch
    from learning import stepping

    from lastiterate.runtime.random_streams import stream
    from lastiterate.runtime.training.batches import draw_batches
    from lastiterate.runtime.training.descent import BATCHES

    optimiser = torch.optim.SGD(module.parameters(), lr=run.step_size_at(0))
    each = torch.func.vmap(lambda output, target: workload.loss(output[None], target[None]))

    def move(inputs: "Tensor", targets: "Tensor") -> None:
        with torch.enable_grad():
            optimiser.zero_grad()
            torch.autograd.backward(each(module(inputs), targets).mean())
        optimiser.step()

    return stepping(draw_batches(run, stream(seed, purpose=BATCHES)), rows, move)
