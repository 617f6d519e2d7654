"""Compare what the released code of a certified unlearning method reports with what its stored settings lose.

    python examples/unlearning_audit/audit.py --out examples/unlearning_audit

The formulas are restated from the code at the commit that the README names. Writes audit.csv, audit.png and audit.svg.
Needs pip install 'lastiterate[figures]'.
"""

import csv
import io
from dataclasses import asdict, dataclass, fields
from math import ceil, exp, log, sqrt
from pathlib import Path

import click
import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scipy.special import ndtr
from scipy.stats import norm

from lastiterate.numeric.accounting.conversion import gdp_epsilon, gdp_epsilon_below
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.store import write_whole

DELTA = 1e-5
SETTINGS = Path(__file__).parent / "settings.csv"


@dataclass(frozen=True)
class Setting:
    """A stored setting of the method that clips gradients ("iteration"), in the letters of this example.

    Attributes:
        ball: radius to which the start is clipped, `init_model_clip`.
        clip: length to which the gradient is clipped, `grad_clip`.
        decay: weight decay, `weight_decay`.
        step_size: learning rate, `max_lr`; the schedule is constant in every stored setting.
        target: `epsilon_renyi_target`.
    """

    ball: float
    clip: float
    decay: float
    step_size: float
    target: float

    @property
    def factor(self) -> float:
        """Contraction of a step by weight decay."""
        return 1 - self.step_size * self.decay

    @property
    def steps(self) -> int:
        """Number of noisy steps, `pabi_steps`."""
        steps = ceil(self.ball / (self.clip * self.step_size))
        fewer = ceil(log(2 * self.decay * self.ball / self.clip) / (self.step_size * self.decay))
        return fewer if 0 < fewer < steps else steps

    @property
    def kept(self) -> float:
        """Largest distance of the two starts that is left at the end if both runs have the same clipped gradients."""
        return 2 * self.ball * self.factor**self.steps

    @property
    def moved(self) -> float:
        """Largest distance at the end that different gradients can add."""
        return 2 * self.clip / self.decay * (1 - self.factor**self.steps)

    @property
    def spread(self) -> float:
        """Ratio of the standard deviation of the last iterate, given the gradients, to that of a step's noise."""
        return sqrt((1 - self.factor ** (2 * self.steps)) / (1 - self.factor**2))

    @property
    def noise(self) -> float:
        """Standard deviation of the noise of a step, `unlearn_sigma_t`."""
        return (self.kept + self.moved) / (self.spread * sqrt(2 * self.target))


@dataclass(frozen=True)
class Row:
    """A setting with its epsilons at `DELTA`.

    Attributes:
        reported: by the code's conversion.
        linear: of two runs with a linear loss from opposite ends of the ball, exact and rounded down.
        opposite: of two runs with the loss -C|x|, in floats, an estimate of a loss that is reached.
        certified: of all runs of the method, rounded up.
        noise_needed: noise for which the certified epsilon is the reported one, over the noise of the setting.
    """

    init_model_clip: float
    grad_clip: float
    weight_decay: float
    max_lr: float
    epsilon_renyi_target: float
    steps: int
    noise: float
    reported: float
    linear: float
    opposite: float
    certified: float
    noise_needed: float


def reported(target: float, delta: float = DELTA) -> float:
    """Epsilon as the code computes it: the target, less two terms, least over a grid of orders."""
    orders = np.linspace(1.001, 1000, 10000)
    return float(np.min(target - (log(delta) + np.log(orders)) / (orders - 1) + np.log((orders - 1) / orders)))


def opposite(setting: Setting) -> float:
    """Epsilon of two runs on a line whose clipped gradient is -C sign(x), from opposite ends; in floats.

    The two laws are mirror images. The event is a half-line, so that this is the loss of one attack.
    """
    push, noise = setting.step_size * setting.clip, setting.noise
    farthest = max(setting.ball, (setting.kept + setting.moved) / 2)  # without noise the iterates are monotone
    reach = farthest + 10 * noise * setting.spread
    grid = np.linspace(-reach, reach, 2 * ceil(8 * reach / noise))  # even, so that 0 lies between two points

    width = grid[1] - grid[0]

    def means(points: Array) -> Array:
        return setting.factor * points + push * np.sign(points)

    start, weights = np.array([setting.ball]), np.ones(1)
    if setting.steps > 1:
        weights, start = width * norm.pdf(grid, means(start), noise), grid
        kernel = width * norm.pdf(grid[:, None], means(grid), noise)
        for _ in range(setting.steps - 2):
            weights = kernel @ weights
    ends, last = np.linspace(0, reach, 1001)[:, None], means(start)
    above, below = ndtr((last - ends) / noise) @ weights, ndtr((-ends - last) / noise) @ weights

    low, high = 0.0, 200.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.max(above - exp(middle) * below) > DELTA else (low, middle)
    return low


def noise_needed(setting: Setting) -> float:
    """Factor by which the noise must grow until the certified epsilon is the reported one."""
    goal, scale = reported(setting.target), sqrt(2 * setting.target)
    low, high = 1e-3, scale
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if gdp_epsilon(middle, DELTA) > goal else (middle, high)
    return scale / low


def audit(setting: Setting) -> Row:
    """Epsilons of a setting."""
    length = setting.spread * setting.noise
    return Row(
        setting.ball,
        setting.clip,
        setting.decay,
        setting.step_size,
        setting.target,
        setting.steps,
        setting.noise,
        reported(setting.target),
        gdp_epsilon_below(setting.kept / length, DELTA),
        opposite(setting),
        gdp_epsilon((setting.kept + setting.moved) / length, DELTA),
        noise_needed(setting),
    )


def stored() -> list[Setting]:
    """The distinct settings of the repository's configuration files."""
    with SETTINGS.open(newline="") as file:
        return [Setting(*(float(row[name]) for name in list(row)[:5])) for row in csv.DictReader(file)]


def draw(rows: list[Row], ending: str) -> bytes:
    """Losses against what is reported, one column of marks a target."""
    canvas = Figure(figsize=(7.5, 4.8))
    FigureCanvasAgg(canvas)
    axes = canvas.subplots()
    targets = sorted({row.epsilon_renyi_target for row in rows})
    for place, (name, marker, color, label) in enumerate(
        (
            ("certified", "_", "#000000", "every run of the method, certified upper bound"),
            ("opposite", "v", "#d55e00", "loss −C|x| on a line, computed in floats"),
            ("linear", "o", "#0072b2", "a linear loss, exact"),
        )
    ):
        across = [targets.index(row.epsilon_renyi_target) + 0.18 * (place - 1) for row in rows]
        size = 14 if marker == "_" else 5
        axes.plot(
            across, [getattr(row, name) for row in rows], marker, color=color, label=label, markersize=size
        )
    for place, target in enumerate(targets):
        label = "what the code reports" if place == 0 else None
        axes.plot(
            (place - 0.4, place + 0.4), 2 * (reported(target),), color="#999999", linewidth=2, label=label
        )
    axes.set_yscale("log")
    axes.set_xticks(range(len(targets)), [f"{one:g}" for one in targets])
    axes.set_xlabel("epsilon_renyi_target in the configuration file; one mark per stored setting")
    axes.set_ylabel(rf"privacy loss $\varepsilon$ at $\delta$ = {DELTA:g}")
    axes.set_title("Unlearning by clipped, noisy steps: reported and lost", loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, axis="y", color="#dddddd", linewidth=0.6)
    canvas.tight_layout()
    file = io.BytesIO()
    with rc_context({"svg.hashsalt": "audit"}):
        canvas.savefig(file, format=ending, dpi=150, metadata={"Date": None} if ending == "svg" else None)
    return file.getvalue()


@click.command()
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path(), help="Folder of the results."
)
@click.option(
    "--first", type=click.IntRange(1), default=None, help="Number of settings to compute, all by default."
)
def main(out: Path, first: int | None) -> None:
    """Audit the stored settings and write audit.csv, audit.png and audit.svg."""
    rows = [audit(setting) for setting in stored()[:first]]
    table = io.StringIO()
    writer = csv.DictWriter(table, [one.name for one in fields(Row)], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        kept = {
            name: float(f"{value:.6g}") if isinstance(value, float) else value
            for name, value in asdict(row).items()
        }
        writer.writerow(kept)
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / "audit.csv", table.getvalue().encode())
    for ending in ("png", "svg"):
        write_whole(out / f"audit.{ending}", draw(rows, ending))
    more, others = (sum(getattr(row, name) > row.reported for row in rows) for name in ("linear", "opposite"))
    most = max(rows, key=lambda row: row.linear / row.reported)
    click.echo(
        f"{len(rows)} settings. A linear loss loses more than is reported in {more}, the loss -C|x| in {others}."
    )
    click.echo(
        f"Largest ratio: {most.linear:.3f} is lost where {most.reported:.3f} is reported (start clipped to "
        f"{most.init_model_clip:g}, gradient to {most.grad_clip:g}, weight decay {most.weight_decay:g}, step size "
        f"{most.max_lr:g}, {most.steps} steps)."
    )


if __name__ == "__main__":
    main()
