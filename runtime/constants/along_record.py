"""Record of the constants along a training. No torch: a record is described and drawn without it."""

from dataclasses import dataclass

from lastiterate.runtime.constants.fit import Constants


@dataclass(frozen=True)
class Stage:
    """Measurement at one checkpoint. Direction: lower estimates.

    Attributes:
        checkpoint: its file.
        around: constants over pairs of the checkpoint and points drawn around it, in the order of the lambdas.
        moved: distance to the checkpoint before, a length; None for the first.
        between: constants of the pair of the two; None for the first.
        layers: constants around it of every layer's block of the gradient, by the layer's name, where asked for.
    """

    checkpoint: str
    around: Constants
    moved: float | None
    between: Constants | None
    layers: dict[str, Constants]


@dataclass(frozen=True)
class AlongTraining:
    """Constants at the checkpoints of one training. Direction: lower estimates, measured.

    Attributes:
        workload: name of the network, loss and data.
        lambdas: the orders, each in (0, 1].
        stages: one for each checkpoint.
        points: points drawn around each.
        radius: of the ball they were drawn in, a length.
        draw: ``uniform`` or ``log-uniform``.
        dtype: floating-point format of the gradients.
        seed: of the points.
        samples: number of samples, the largest over which is taken.
        remark: what the workload says of itself, and whether gradients of its network jump.
    """

    workload: str
    lambdas: tuple[float, ...]
    stages: tuple[Stage, ...]
    points: int
    radius: float
    draw: str
    dtype: str
    seed: int
    samples: int
    remark: str
