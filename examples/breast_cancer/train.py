r"""Private logistic regression on the breast-cancer data or on digits, and what its last iterate costs.

    python examples/breast_cancer/train.py --out examples/breast_cancer
    python examples/breast_cancer/train.py --data digits --out examples/digits

Trains with projected noisy SGD on Poisson batches, then bounds (epsilon, delta) of the last iterate for every number of
steps, beside what Opacus's accountants say of the same noise multiplier, rate and steps: they account for the release
of *all* iterates. Writes epsilon.csv and epsilon.png. Needs pip install 'lastiterate[runtime,opacus]'.
"""

import csv
import io
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_digits
from torch import Tensor, nn
from torch.nn import functional

from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.assumptions import Convex
from lastiterate.numeric.losses.certified import logistic_regression
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.store import write_whole
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import flat
from lastiterate.runtime.training.descent import train
from lastiterate.runtime.workloads.workload import Workload

COLORS = {"blue": "#0072B2", "orange": "#D55E00", "grey": "#777777", "black": "#000000"}
DELTA = 1e-5
TEST = 114
"""Samples of the breast-cancer data that are held out; the first ones of a fixed permutation."""

CONSTANTS = logistic_regression(1.0)
"""Rows have norm at most 1, so the loss log(1 + exp(-y <x, w>)) is 1/4-smooth."""


@dataclass(frozen=True)
class Row:
    """Results after a number of steps: epsilon at `DELTA`, accuracies over the seeds."""

    steps: int
    last_iterate: float
    route: str
    opacus_rdp: float
    opacus_prv: float
    accuracy: float
    least_accuracy: float
    most_accuracy: float


def rows_and_labels() -> tuple[Tensor, Tensor]:
    """All samples in a fixed order: rows of norm at most 1, shape (569, 11), and labels -1 or 1.

    Nothing is computed from the samples together. Of the ten measurements called "worst" a row has their places in the
    ranges that the description of the data publishes (square roots, since measurements are skewed to the right) and a
    constant feature; then it is divided by its own norm.
    """
    data = load_breast_cancer()
    published = re.findall(r"^\s*[a-z ]+\(worst\):\s+([\d.]+)\s+([\d.]+)\s*$", data.DESCR, re.M)
    low, high = np.array(published, dtype=float).T
    share = np.clip((data.data[:, 20:] - low) / (high - low), 0, 1)
    rows = np.column_stack([np.sqrt(share) - 0.5, np.full(len(share), 0.1)])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True) * (1 + 1e-12)
    return _shuffled(rows, 2.0 * data.target - 1)


def digits() -> tuple[Tensor, Tensor]:
    """All digits in a fixed order: 64 pixels and a constant in rows of norm at most 1; labels 1 if odd, -1 if even.

    A row is divided by its own norm, after a light grey is taken from every pixel.
    """
    pixels, target = load_digits(return_X_y=True)
    rows = np.column_stack([pixels / 16 - 0.3, np.full(len(pixels), 0.3)])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True) * (1 + 1e-12)
    return _shuffled(rows, 2.0 * (target % 2) - 1)


def _shuffled(rows: np.ndarray, labels: np.ndarray) -> tuple[Tensor, Tensor]:
    order = np.random.default_rng(0).permutation(len(rows))
    return torch.from_numpy(rows[order]), torch.from_numpy(labels[order])


DATA: Mapping[str, tuple[Callable[[], tuple[Tensor, Tensor]], int]] = {
    "breast-cancer": (rows_and_labels, TEST),
    "digits": (digits, 360),
}
"""Data sets: rows with labels, and the number of samples that are held out."""


def workload(rows: Tensor, labels: Tensor) -> Workload:
    """Logistic regression from the origin; no regulariser, so that gradients point along their row."""

    def model() -> nn.Module:
        linear = nn.Linear(rows.shape[1], 1, bias=False)
        nn.init.zeros_(linear.weight)
        return linear

    return Workload(
        "linear", model, lambda out, label: functional.softplus(-label * out[:, 0]).sum(), rows, labels
    )


def described(samples: int, *, sampling: str = "poisson", steps: int = 5000) -> NoisySGD:
    """The run: half of the samples in a batch, steps as long as convexity allows even a batch of all samples.

    A Poisson batch of all n samples moves by step_size n / b times the mean gradient, so step_size n / b <= 2 / L.
    """
    batch = samples if sampling == "full" else (samples + 1) // 2
    step_size = 2 / CONSTANTS.smoothness * batch / samples * (1 - 1e-9)
    clip_norm, noise = 0.5, 30.0
    return NoisySGD(
        steps=steps,
        step_size=step_size,
        noise_std=noise * step_size * clip_norm / batch,
        clip_norm=clip_norm,
        dataset_size=samples,
        batch_size=batch,
        sampling=sampling,
        diameter=1.0,
    )


def multiplier(run: NoisySGD) -> float:
    """The noise multiplier as Opacus means it: noise on the sum of gradients over what one sample changes in it.

    Replacing a sample changes the sum by 2 K, adding or removing one by K.
    """
    change = run.clip_norm * (2 if run.adjacency == "replace" else 1)
    return run.noise_std_at(0) * run.batch / (run.step_size_at(0) * change)


def opacus(run: NoisySGD, mechanism: str) -> float:
    """Epsilon at `DELTA` of all iterates of the run by an accountant of Opacus."""
    from opacus.accountants import create_accountant

    accountant = create_accountant(mechanism)
    accountant.history = [(multiplier(run), run.batch / run.dataset_size, run.steps)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(accountant.get_epsilon(DELTA))


def trained(run: NoisySGD, data: str, seeds: int) -> tuple[np.ndarray, float]:
    """Accuracy on the held-out samples, shape (seeds, steps + 1), and the share of gradients that were clipped."""
    load, held_out = DATA[data]
    rows, labels = load()
    task = workload(rows[held_out:], labels[held_out:])
    gradients = Gradients(task, task.initial(0))
    accuracy, clipped = [], []
    for seed in range(seeds):
        points = train(gradients, gradients.start, run, seed)
        right = torch.sign(rows[:held_out] @ points.T) == labels[:held_out, None]
        accuracy.append(right.double().mean(dim=0).numpy())
        norms = flat(gradients.at(points[:: max(1, run.steps // 50)])).norm(dim=2)
        if not bool((norms <= CONSTANTS.lipschitz).all()):
            raise AssertionError("a gradient is longer than its row: the constants of the bound are wrong")
        clipped.append(float((norms > run.clip_norm).double().mean()))
    return np.array(accuracy), float(np.mean(clipped))


def measured(run: NoisySGD, data: str, seeds: int, count: int) -> tuple[list[Row], float]:
    """Rows for about ``count`` numbers of steps, and the share of gradients that were clipped."""
    accuracy, clipped = trained(run, data, seeds)
    found = []
    for steps in np.unique(np.geomspace(1, run.steps, count).round().astype(int)).tolist():
        short = replace(run, steps=steps)
        ours = bound(short, Convex(CONSTANTS.smoothness), delta=DELTA)
        here = accuracy[:, steps]
        found.append(
            Row(steps, ours.epsilon, ours.route, opacus(short, "rdp"), opacus(short, "prv"),
                float(np.median(here)), float(here.min()), float(here.max()))
        )  # fmt: skip
    return found, clipped


def picture(rows: list[Row], run: NoisySGD, data: str, seeds: int, ending: str = "png") -> bytes:
    """Epsilon against steps above, accuracy against steps below; a bound is points, as a line can lie below it."""
    canvas = Figure(figsize=(8, 6))
    FigureCanvasAgg(canvas)
    above, below = canvas.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": [2, 1]})
    steps = [row.steps for row in rows]
    for values, color, marker, label in (
        ([row.opacus_rdp for row in rows], "orange", "^", "Opacus, RDP accountant (all iterates)"),
        ([row.opacus_prv for row in rows], "orange", "s", "Opacus, PRV accountant (all iterates)"),
        ([row.last_iterate for row in rows], "blue", "o", "lastiterate (last iterate only), certified"),
    ):
        above.plot(
            steps, values, color=COLORS[color], linestyle="none", marker=marker, markersize=5, label=label
        )
    above.set_ylabel(rf"privacy loss $\varepsilon$ at $\delta$ = {DELTA:g}")
    above.set_ylim(bottom=0)
    above.legend(frameon=False)
    above.set_title(f"Private logistic regression, {data}", loc="left", fontsize=11)
    low, high = [row.least_accuracy for row in rows], [row.most_accuracy for row in rows]
    below.fill_between(steps, low, high, color=COLORS["grey"], alpha=0.25, linewidth=0)
    below.plot(steps, [row.accuracy for row in rows], color=COLORS["black"])
    below.set_ylabel("test accuracy (share)")
    below.set_ylim(0.5, 1)
    below.set_xlabel(
        f"number of steps (accuracy: median and range of {seeds} seeds)\n{run.dataset_size} samples, "
        f"{run.sampling.capitalize()} batches of {run.batch}, clip norm {run.clip_norm:g}, noise of standard "
        f"deviation {run.noise_std:.3g} on\nthe iterate, domain of diameter {run.diameter:g}; assumption: convex, "
        f"{CONSTANTS.smoothness:.3g}-smooth losses",
        fontsize=8,
    )
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    image = io.BytesIO()
    canvas.tight_layout()
    canvas.savefig(image, format=ending, dpi=110)
    return image.getvalue()


def table(rows: list[Row]) -> bytes:
    """The rows as CSV; our bound is rounded up as it stands."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(Row.__dataclass_fields__)
    writer.writerows(vars(row).values() for row in rows)
    return out.getvalue().encode()


@click.command()
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder to write to."
)
@click.option(
    "--data", type=click.Choice(tuple(DATA)), default="breast-cancer", show_default=True, help="Samples."
)
@click.option("--sampling", default="poisson", show_default=True, help="poisson or full.")
@click.option("--steps", default=5000, show_default=True, help="Steps of the longest run.")
@click.option("--seeds", default=5, show_default=True, help="Runs that the accuracy is measured on.")
@click.option("--points", default=25, show_default=True, help="About how many numbers of steps are shown.")
def main(out: Path, data: str, sampling: str, steps: int, seeds: int, points: int) -> None:
    """Train, account, and write epsilon.csv, and epsilon.png, .svg and .pdf."""
    load, held_out = DATA[data]
    samples = len(load()[0]) - held_out
    run = described(samples, sampling=sampling, steps=steps)
    rows, clipped = measured(run, data, seeds, points)
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / "epsilon.csv", table(rows))
    for ending in ("png", "svg", "pdf"):
        write_whole(out / f"epsilon.{ending}", picture(rows, run, data, seeds, ending))
    last = rows[-1]
    click.echo(
        f"{last.steps} steps, {run.sampling} batches, adjacency {run.adjacency}: the last iterate is "
        f"({last.last_iterate:.3f}, {DELTA:g})-DP by {last.route}; Opacus says {last.opacus_rdp:.3f} (RDP) and "
        f"{last.opacus_prv:.3f} (PRV) of all iterates. Test accuracy {last.accuracy:.3f}; "
        f"{clipped:.0%} of the gradients were clipped."
    )


if __name__ == "__main__":
    main()
