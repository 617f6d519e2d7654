r"""Delete a sample of the breast-cancer data from a private logistic regression: epsilon over the steps that forget it.

    python examples/forget/forget.py --out examples/forget

Trains with projected noisy gradient descent on full batches, deletes a sample, and goes on with the rest. Writes
epsilon.csv and epsilon.png. Needs pip install 'lastiterate[runtime]'.
"""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from runpy import run_path

import click
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scipy.special import expit, ndtr

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.forgetting import forgetting
from lastiterate.numeric.losses.assumptions import Convex
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.store import write_whole

_OTHER = run_path(str(Path(__file__).parents[1] / "breast_cancer" / "train.py"))
COLORS, DELTA, TEST, CONSTANTS = (_OTHER[name] for name in ("COLORS", "DELTA", "TEST", "CONSTANTS"))


@dataclass(frozen=True)
class Row:
    """Results after a number of clean steps: epsilon at `DELTA`, accuracy as median over the seeds."""

    clean_steps: int
    never_saw: float
    retrained: float
    shifts: float
    least_retrained: float
    accuracy: float


def rows_and_labels() -> tuple[Array, Array]:
    """The samples of the other example: rows of norm below 1, shape (569, 11), and labels -1 or 1."""
    rows, labels = _OTHER["rows_and_labels"]()
    return rows.numpy(), labels.numpy()


def described(samples: int, steps: int) -> NoisySGD:
    """The run: full batches, steps as long as convexity allows."""
    step_size, clip_norm, noise = 2 / CONSTANTS.smoothness * (1 - 1e-9), 0.5, 15.0
    return NoisySGD(
        steps=steps,
        step_size=step_size,
        noise_std=noise * step_size * clip_norm / samples,
        clip_norm=clip_norm,
        dataset_size=samples,
        diameter=1.0,
    )


def trained(
    run: NoisySGD, rows: Array, labels: Array, start: Array, steps: int, draw: np.random.Generator
) -> Array:
    """Iterates of so many steps on these samples, shape (steps + 1, 11); the domain is the ball around the origin."""
    points = [start]
    for _ in range(steps):
        gradients = -(labels * expit(-labels * (rows @ points[-1])))[:, None] * rows
        lengths = np.linalg.norm(gradients, axis=1, keepdims=True)
        clipped = gradients * np.minimum(1, run.clip_norm / np.maximum(lengths, 1e-300))
        noise = run.noise_std_at(0) * draw.standard_normal(rows.shape[1])
        moved = points[-1] - run.step_size_at(0) * clipped.mean(axis=0) + noise
        points.append(moved * min(1.0, run.diameter / 2 / np.linalg.norm(moved)))
    return np.array(points)


def known_to_lose(run: NoisySGD, most: int, cells: int = 400) -> list[float]:
    """Epsilon that two models lose after 0..most clean steps: losses without gradients, from both ends; in floats.

    The exact law of W <- clip(W + N(0, sigma^2)) on an interval as long as the domain is wide, put into cells.
    """
    edges = np.linspace(-0.5, 0.5, cells + 1) * run.diameter / run.noise_std_at(0)
    middles = (edges[1:] + edges[:-1]) / 2
    below = np.pad(ndtr(edges[1:-1] - middles[:, None]), ((0, 0), (1, 1)), constant_values=(0.0, 1.0))
    kernel, (p, q), found = np.diff(below, axis=1), np.eye(cells)[[0, -1]], [np.inf]
    for _ in range(most):
        p, q = p @ kernel, q @ kernel
        low, high = 0.0, 700.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if np.maximum(p - np.exp(middle) * q, 0).sum() > DELTA else (low, middle)
        found.append(low)
    return found


def measured(run: NoisySGD, most: int, seeds: int, count: int) -> list[Row]:
    """Rows for about ``count`` numbers of clean steps up to ``most``."""
    rows, labels = rows_and_labels()
    rest, accuracy = slice(TEST + 1, None), []  # the first sample of the training data is deleted
    for seed in range(seeds):
        draw = np.random.default_rng(seed)
        last = trained(run, rows[TEST:], labels[TEST:], np.zeros(rows.shape[1]), run.steps, draw)[-1]
        points = trained(run, rows[rest], labels[rest], last, most, draw)
        accuracy.append((np.sign(points @ rows[:TEST].T) == labels[:TEST]).mean(axis=1))
    least, found = known_to_lose(run, most), []
    for steps in np.unique(np.geomspace(1, most, count).round().astype(int)).tolist():
        ours = forgetting(run, Convex(CONSTANTS.smoothness), steps, delta=DELTA)
        here = float(np.median([one[steps] for one in accuracy]))
        found.append(Row(steps, ours.epsilon, ours.retrained, ours.shifts, least[steps], here))
    return found


def picture(rows: list[Row], run: NoisySGD, before: float, ending: str = "png") -> bytes:
    """Epsilon against clean steps; bounds are points, for a line between them can lie below a bound."""
    canvas = Figure(figsize=(8, 4.5))
    FigureCanvasAgg(canvas)
    axes, steps = canvas.subplots(), [row.clean_steps for row in rows]
    for values, color, marker, label in (
        ([row.shifts for row in rows], "orange", "^", "shifts of the clean steps alone"),
        ([row.retrained for row in rows], "blue", "s", "ours, against a model that was retrained"),
        ([row.never_saw for row in rows], "blue", "o", "ours, against the run that never saw the sample"),
        ([row.least_retrained for row in rows], "grey", "v", "what some models lose that were retrained"),
    ):
        axes.plot(
            steps, values, color=COLORS[color], linestyle="none", marker=marker, markersize=5, label=label
        )
    axes.axhline(before, color=COLORS["black"], linewidth=0.8, label="at the deletion")
    axes.set_yscale("log")
    axes.set_ylim(1e-3, 30)
    axes.set_xlabel(
        f"number of clean steps after the deletion\n{run.dataset_size} samples, full batches, {run.steps} steps before "
        f"it, clip norm {run.clip_norm:g}, noise of standard deviation {run.noise_std:.3g} on\n"
        f"the iterate, domain of diameter {run.diameter:g}; assumption: convex losses",
        fontsize=8,
    )
    axes.set_ylabel(rf"privacy loss $\varepsilon$ at $\delta$ = {DELTA:g}")
    axes.set_title("Forgetting a sample of the breast-cancer data", loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=9)
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
@click.option("--steps", default=1000, show_default=True, help="Steps before the deletion.")
@click.option("--clean-steps", default=140, show_default=True, help="Most clean steps.")
@click.option("--seeds", default=5, show_default=True, help="Runs that the accuracy is measured on.")
@click.option(
    "--points", default=24, show_default=True, help="About how many numbers of clean steps are shown."
)
def main(out: Path, steps: int, clean_steps: int, seeds: int, points: int) -> None:
    """Train, delete, forget, and write epsilon.csv, and epsilon.png, .svg and .pdf."""
    run = described(len(rows_and_labels()[0]) - TEST, steps)
    rows = measured(run, clean_steps, seeds, points)
    before = forgetting(run, Convex(CONSTANTS.smoothness), 1, delta=DELTA).before
    out.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Row.__dataclass_fields__)
    writer.writerows(vars(row).values() for row in rows)
    write_whole(out / "epsilon.csv", text.getvalue().encode())
    for ending in ("png", "svg", "pdf"):
        write_whole(out / f"epsilon.{ending}", picture(rows, run, before, ending))
    last = rows[-1]
    click.echo(
        f"epsilon {before:.3f} at the deletion, after {last.clean_steps} clean steps {last.never_saw:.3g} against the "
        f"run that never saw the sample, {last.retrained:.3g} against a retrained model, {last.shifts:.3f} by shifts. "
        f"Test accuracy {last.accuracy:.3f}."
    )


if __name__ == "__main__":
    main()
