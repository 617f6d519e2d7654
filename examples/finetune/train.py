r"""Fine-tune the last layer of a pretrained transformer in private, and what its last iterate costs.

    python examples/finetune/train.py --out examples/finetune

Sentences go through all-MiniLM-L6-v2, whose weights are public and stay as they are; on its features a linear head is
trained by projected noisy SGD with weight decay on Poisson batches, to tell the documentation of sympy from that of
matplotlib. Bounds (epsilon, delta) of the last iterate for every number of steps, beside what Opacus's accountants say
of the same noise multiplier, rate and steps: they account for the release of *all* iterates. Writes epsilon.csv and
epsilon.png. Needs pip install 'lastiterate[runtime,opacus,transformer]'.
"""

import ast
import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path

import click
import numpy as np
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn
from torch.nn import functional

from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.certified import logistic_regression
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.store import write_whole
from lastiterate.runtime.devices import threads_of_torch
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import flat
from lastiterate.runtime.training.descent import train
from lastiterate.runtime.workloads.workload import Workload

_OTHER = run_path(str(Path(__file__).parents[1] / "breast_cancer" / "train.py"))
COLORS, DELTA, multiplier, opacus = (_OTHER[name] for name in ("COLORS", "DELTA", "multiplier", "opacus"))
_NETWORK = run_path(str(Path(__file__).parents[1] / "networks" / "minilm.py"))
pretrained, tokens = _NETWORK["pretrained"], _NETWORK["tokens"]

LIBRARIES = ("matplotlib", "sympy")
"""Whose sentences have the labels -1 and 1."""
EACH = 2400
"""Sentences of each library; one in six is held out."""
DECAY, RADIUS, NOISE = 0.01, 7.0, 20.0
"""Weight decay inside the loss, radius of the domain, noise multiplier as Opacus means it."""
CONSTANTS = logistic_regression(1.0, l2=DECAY, parameter_norm=RADIUS)
"""Rows have norm at most 1, whatever the sentence: `features` divides each by its own norm."""


@dataclass(frozen=True)
class Row:
    """Results after a number of steps: epsilon at `DELTA`, accuracies over the seeds, and without noise.

    The heads without noise minimise the loss, one with the weight decay, one with a hundredth of it.
    """

    steps: int
    last_iterate: float
    route: str
    opacus_rdp: float
    opacus_prv: float
    accuracy: float
    least_accuracy: float
    most_accuracy: float
    without_noise: float
    less_decay: float


def sentences(library: str) -> set[str]:
    """First paragraphs of the docstrings of a library, those of 6 to 30 words that end in a full stop.

    The sources are read and never run; tests are left out.
    """
    found: set[str] = set()
    spec = find_spec(library)
    home = Path(spec.origin or "").parent if spec else Path()
    for path in home.rglob("*.py"):
        if "tests" in path.parts:
            continue
        for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                words = (ast.get_docstring(node) or "").split("\n\n")[0].split()
                if 6 <= len(words) <= 30 and words[-1].endswith("."):
                    found.add(" ".join(words))
    return found


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all statements below it; expressions, which are most of a source, hold none."""
    yield node
    for below in ast.iter_child_nodes(node):
        if isinstance(below, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _statements(below)


def described_sentences(each: int) -> tuple[list[str], Tensor]:
    """So many sentences of each library, in the order of their hashes, and their labels; none is of both libraries."""
    one, other = (sentences(library) for library in LIBRARIES)
    kept = [sorted(found, key=_hash)[:each] for found in (one - other, other - one)]
    if min(map(len, kept)) < each:
        raise click.ClickException(
            f"Needs {each} sentences of each library, got {[*map(len, kept)]}; ask for fewer."
        )
    label = {text: sign for texts, sign in zip(kept, (-1.0, 1.0), strict=True) for text in texts}
    both = sorted(label, key=_hash)
    return both, torch.tensor([label[text] for text in both], dtype=torch.float64)


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def features(texts: list[str]) -> Tensor:
    """One row a sentence, of norm at most 1: the network's 384 numbers and a 1, divided by their own norm.

    Nothing is computed from the sentences together, so the row of one says nothing of another.
    """
    encoder, numbers = pretrained(), tokens(texts)
    made = torch.empty(len(texts), 384, dtype=torch.float64)
    with torch.no_grad():
        for chunk in (numbers != 0).sum(dim=1).argsort().split(64):  # of one length, with little to pad
            longest = int((numbers[chunk] != 0).sum(dim=1).max())
            made[chunk] = encoder(numbers[chunk, :longest]).double()
    rows = torch.cat([made, torch.ones(len(made), 1, dtype=torch.float64)], dim=1)
    return rows / (torch.linalg.vector_norm(rows, dim=1, keepdim=True) * (1 + 1e-12))


class Head(nn.Module):
    """A linear score from the origin, and the squared norm of the weights, which the loss decays."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(width))

    def forward(self, rows: Tensor) -> Tensor:
        """Score and squared norm, shape (rows, 2)."""
        score = rows @ self.weight
        return torch.stack([score, (self.weight**2).sum().expand_as(score)], dim=1)


def workload(rows: Tensor, labels: Tensor) -> Workload:
    """Logistic regression with weight decay on rows of norm at most 1."""

    def loss(out: Tensor, label: Tensor) -> Tensor:
        return (functional.softplus(-label * out[:, 0]) + DECAY / 2 * out[:, 1]).sum()

    return Workload("head", lambda: Head(rows.shape[1]), loss, rows, labels)


def described(samples: int, steps: int = 1000) -> NoisySGD:
    """The run: half of the samples in a batch, steps as long as suits even a batch of all samples.

    A Poisson batch of all n samples moves by step_size n / b times the mean gradient, so step_size n / b < 2 / L. No
    gradient is longer than the clip norm, so clipping never acts.
    """
    batch = (samples + 1) // 2
    step_size = 2 / (CONSTANTS.smoothness + DECAY) * batch / samples
    return NoisySGD(
        steps=steps,
        step_size=step_size,
        noise_std=NOISE * step_size * CONSTANTS.lipschitz / batch,
        clip_norm=CONSTANTS.lipschitz,
        dataset_size=samples,
        batch_size=batch,
        sampling="poisson",
        diameter=2 * RADIUS,
    )


def held_out(samples: int) -> int:
    """How many of the samples are tested on; they are the first ones."""
    return samples // 6


def trained(run: NoisySGD, rows: Tensor, labels: Tensor, seeds: int) -> np.ndarray:
    """Accuracy on the held-out samples, shape (seeds, steps + 1)."""
    test = len(rows) - run.dataset_size
    task = workload(rows[test:], labels[test:])
    gradients = Gradients(task, task.initial(0))
    accuracy = []
    for seed in range(seeds):
        points = train(gradients, gradients.start, run, seed)
        norms = flat(gradients.at(points[:: max(1, run.steps // 10)])).norm(dim=2)
        if not bool((norms <= run.clip_norm).all()):
            raise AssertionError("a gradient was clipped: the constants of the bound are wrong")
        right = torch.sign(rows[:test] @ points.T) == labels[:test, None]
        accuracy.append(right.double().mean(dim=0).numpy())
    return np.array(accuracy)


def without_noise(rows: Tensor, labels: Tensor, decay: float) -> float:
    """Accuracy of the head that minimises the loss with a weight decay, without noise and privacy."""
    test = held_out(len(rows))
    train_rows, train_labels = rows[test:].numpy(), labels[test:].numpy()
    head = LogisticRegression(C=1 / (decay * len(train_rows)), fit_intercept=False, max_iter=1000)
    return float(head.fit(train_rows, train_labels).score(rows[:test].numpy(), labels[:test].numpy()))


def measured(run: NoisySGD, rows: Tensor, labels: Tensor, seeds: int, count: int) -> list[Row]:
    """Rows for about ``count`` numbers of steps."""
    accuracy = trained(run, rows, labels, seeds)
    plain = [without_noise(rows, labels, decay) for decay in (DECAY, DECAY / 100)]
    found = []
    for steps in np.unique(np.geomspace(1, run.steps, count).round().astype(int)).tolist():
        short = replace(run, steps=steps)
        ours = bound(short, CONSTANTS.assumption(short), delta=DELTA)
        here = accuracy[:, steps]
        found.append(
            Row(steps, ours.epsilon, ours.route, opacus(short, "rdp"), opacus(short, "prv"),
                float(np.median(here)), float(here.min()), float(here.max()), *plain)
        )  # fmt: skip
    return found


def table(found: list[Row]) -> bytes:
    """The rows as CSV; our bound is rounded up as it stands."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(Row.__dataclass_fields__)
    writer.writerows(vars(row).values() for row in found)
    return out.getvalue().encode()


def picture(found: list[Row], run: NoisySGD, seeds: int, ending: str = "png") -> bytes:
    """Epsilon against steps above, accuracy against steps below with that of the head without noise.

    Bounds are points, because a line between them can lie below a bound.
    """
    canvas = Figure(figsize=(8, 6))
    FigureCanvasAgg(canvas)
    above, below = canvas.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": [2, 1]})
    steps = [row.steps for row in found]
    for values, color, marker, label in (
        ([row.opacus_rdp for row in found], "orange", "^", "Opacus, RDP accountant (all iterates)"),
        ([row.opacus_prv for row in found], "orange", "s", "Opacus, PRV accountant (all iterates)"),
        ([row.last_iterate for row in found], "blue", "o", "lastiterate (last iterate only), certified"),
    ):
        above.plot(
            steps, values, color=COLORS[color], linestyle="none", marker=marker, markersize=5, label=label
        )
    above.set_xscale("log")
    above.set_yscale("log")
    above.set_ylabel(rf"privacy loss $\varepsilon$ at $\delta$ = {DELTA:g}")
    above.legend(frameon=False)
    above.set_title("Last layer of a pretrained transformer, trained in private", loc="left", fontsize=11)
    low, high = [row.least_accuracy for row in found], [row.most_accuracy for row in found]
    below.fill_between(steps, low, high, color=COLORS["grey"], alpha=0.25, linewidth=0)
    below.plot(steps, [row.accuracy for row in found], color=COLORS["black"], label="private")
    below.axhline(
        found[-1].without_noise, color=COLORS["black"], linestyle=":", label="without noise, same weight decay"
    )
    below.set_ylabel("test accuracy (share)")
    below.set_ylim(0.5, 1)
    below.legend(frameon=False, loc="lower right")
    below.set_xlabel(
        f"number of steps (accuracy: median and range of {seeds} seeds)\n{run.dataset_size} sentences, Poisson "
        f"batches of {run.batch}, clip norm {run.clip_norm:.3g}, noise of standard deviation {run.noise_std:.3g} on\n"
        f"the iterate, domain of diameter {run.diameter:g}; assumption: strongly convex losses",
        fontsize=8,
    )
    above.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    above.yaxis.set_minor_formatter(NullFormatter())
    for axes in (above, below):
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter("{x:g}")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    image = io.BytesIO()
    canvas.tight_layout()
    canvas.savefig(image, format=ending, dpi=110)
    return image.getvalue()


@click.command()
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder to write to."
)
@click.option("--each", default=EACH, show_default=True, help="Sentences of each library.")
@click.option("--steps", default=1000, show_default=True, help="Steps of the longest run.")
@click.option("--seeds", default=3, show_default=True, help="Runs that the accuracy is measured on.")
@click.option("--points", default=21, show_default=True, help="About how many numbers of steps are shown.")
def main(out: Path, each: int, steps: int, seeds: int, points: int) -> None:
    """Train, account, and write epsilon.csv, and epsilon.png, .svg and .pdf."""
    texts, labels = described_sentences(each)
    rows = features(texts)
    run = described(len(rows) - held_out(len(rows)), steps)
    with threads_of_torch(1):  # steps this small wait for a second thread longer than it helps
        found = measured(run, rows, labels, seeds, points)
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / "epsilon.csv", table(found))
    for ending in ("png", "svg", "pdf"):
        write_whole(out / f"epsilon.{ending}", picture(found, run, seeds, ending))
    last = found[-1]
    click.echo(
        f"{last.steps} steps, {run.sampling} batches, adjacency {run.adjacency}: the last iterate is "
        f"({last.last_iterate:.3f}, {DELTA:g})-DP by {last.route}; Opacus says {last.opacus_rdp:.3f} (RDP) and "
        f"{last.opacus_prv:.3f} (PRV) of all iterates. Test accuracy {last.accuracy:.3f}; without noise "
        f"{last.without_noise:.3f}, and {last.less_decay:.3f} with a hundredth of the weight decay."
    )


if __name__ == "__main__":
    main()
