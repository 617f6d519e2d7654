"""The description of a run of D2P2-SGD and its kin, which project gradients at random; accounting for it is elsewhere.

A step clips automatically, projects layer by layer, adds noise *after* the projection, and maps back:

    W <- W - step_size A (A^T g / sqrt(p) + N(0, noise_std^2 I)),   g = 1/b sum over the batch of g_i / (|g_i| + gamma)

with a fresh A of independent N(0, entry_std^2) entries for every layer. `NoisySGD` is no account of it: the noise on
the iterate is not isotropic, and the projection is part of the sensitivity.

Source: D2P2-SGD, algorithms 1 to 3. The variance sigma^2 / sqrt(k) of its Table 3 is a misprint of sigma^2 / k (claim
d2p2/algorithm_1/noise_exponent). Algorithm 1 returns x_K and so throws its last update away; here all are kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.errors import InputError, count, positive
from lastiterate.numeric.rounding import exact, lower, precision
from lastiterate.numeric.run import NoisySGD, Schedule, Steps

_AS_A_RUN: Final = ("steps", "step_size", "noise_std", "dataset_size", "batch_size", "sampling", "adjacency")


@teaches()
@dataclass(frozen=True)
class RandomProjectionRun(Steps):
    """SGD with automatic clipping and noise behind a random projection: D2P2-SGD, DP2-SGD and D2P-SGD.

    Attributes:
        steps: number of updates K.
        step_size: alpha of the paper, a length; one number or one a step. It does not matter for privacy.
        noise_std: sigma_epsilon,k, standard deviation of each coordinate of the noise that is added to the projected
            mean of the clipped gradients, in units of the clip norm 1; one number (DP2-SGD) or one a step. See `d2p2`.
        ranks: p of every layer, one for each trained tensor in its order; the dimension it is projected to. None at
            all, (), for no projection (D2P-SGD, A = I); see `d2p`.
        dataset_size: number n of samples.
        batch_size: B, samples in an update; None for all of them. The divisor, also of "poisson" batches.
        sampling: as in `lastiterate.numeric.run.NoisySGD`.
        entry_std: sigma_A, standard deviation of the entries of A, without unit.
        stability: gamma of automatic clipping, a gradient.
        clip: "before" the projection, as the paper has it, so that a random length |A^T g| is part of the sensitivity;
            or "after" it, the remedy: every sample's projected gradient r is shortened to r / (|r| + gamma), whatever
            A is, and the noise hides it as in ordinary DP-SGD.
        adjacency: as in `lastiterate.numeric.run.NoisySGD`.

    Raises:
        InputError: a value is out of its range.

    Source: D2P2-SGD, algorithms 1 to 3.

    >>> RandomProjectionRun.d2p2(steps=4, step_size=0.01, noise_std=3.0, ranks=[5], dataset_size=10).noise_std[3]
    1.5
    """

    steps: int
    step_size: Schedule
    noise_std: Schedule
    ranks: tuple[int, ...]
    dataset_size: int
    batch_size: int | None = None
    sampling: str = "full"
    entry_std: float = 1.0
    stability: float = 0.01
    clip: str = "before"
    adjacency: str = ""

    def __post_init__(self) -> None:
        put = object.__setattr__
        checked = NoisySGD(clip_norm=1.0, **{name: getattr(self, name) for name in _AS_A_RUN})
        for name in _AS_A_RUN:
            put(self, name, getattr(checked, name))
        if isinstance(self.ranks, str) or not isinstance(self.ranks, Sequence):
            raise InputError(
                f"ranks needs one whole number for each trained tensor, got ranks={self.ranks!r}; "
                "take layer_ranks(module, kept)."
            )
        put(self, "ranks", tuple(count(f"ranks[{i}]", rank) for i, rank in enumerate(self.ranks)))
        put(self, "entry_std", positive("entry_std", self.entry_std))
        put(self, "stability", positive("stability", self.stability))
        if self.clip not in ("before", "after"):
            raise InputError(f"clip needs 'before' or 'after' the projection, got clip={self.clip!r}; choose one.")

    @classmethod
    def d2p2(cls, *, steps: int, noise_std: float, **rest: Any) -> "RandomProjectionRun":
        """D2P2-SGD, algorithm 1: noise that decays, ``noise_std`` / sqrt(k) in step k = 1, 2, ...

        A plain call of the class with one noise_std is DP2-SGD, algorithm 3. Other arguments and errors are those of
        the class.
        """
        first = positive("noise_std", noise_std)
        decaying = tuple(first / k**0.5 for k in range(1, count("steps", steps) + 1))
        return cls(steps=steps, noise_std=decaying, **rest)

    @classmethod
    def d2p(cls, *, steps: int, noise_std: float, **rest: Any) -> "RandomProjectionRun":
        """D2P-SGD, algorithm 2: the noise of `d2p2` and no projection. Arguments and errors are those of `d2p2`."""
        return cls.d2p2(steps=steps, noise_std=noise_std, ranks=(), **rest)

    def plain(self) -> NoisySGD:
        """A run without projection as `NoisySGD`, of clip norm 1 and with noise step_size_at(t) noise_std_at(t).

        `lastiterate.numeric.bound.bound` takes it, with an assumption on the losses that has gone through
        `automatic_clipping`: clipped automatically, the gradients of an L-smooth loss are L / stability-Lipschitz.

        Raises:
            InputError: the run has a projection, behind which the noise on the iterate is not isotropic.

        >>> run = RandomProjectionRun.d2p(steps=4, step_size=0.5, noise_std=3.0, dataset_size=10)
        >>> run.plain().noise_std[3]
        0.75
        """
        if self.ranks:
            raise InputError(
                f"A NoisySGD has noise in every direction, got ranks={self.ranks}; account for a run with projections "
                "by projection_bound."
            )
        same: dict[str, Any] = {name: getattr(self, name) for name in _AS_A_RUN if name != "noise_std"}
        with precision():
            noises = [lower(exact(self.step_size_at(t)) * exact(self.noise_std_at(t))) for t in range(self.steps)]
        return NoisySGD(clip_norm=1.0, noise_std=tuple(noises), **same)
