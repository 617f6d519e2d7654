"""Sampling schemes for batches, the runs that they admit, and their assumptions."""

import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lastiterate.numeric.run import NoisySGD


@dataclass(frozen=True)
class Scheme:
    """A way to draw the batches of a run.

    Attributes:
        name: as in `NoisySGD.sampling`.
        statement: assumption of a bound about the batches, to be formatted with the run.
        claim: key of the ledger's claim behind a bound; empty if the claim for the losses suffices.
        random: whether every batch is drawn independently.
        in_epochs: whether every sample is used once per epoch.
        permuted: whether the batches of every epoch come from a fresh permutation.
        fixed_size: whether every batch has the same number of samples.
        adjacency: the supported adjacency relation of data sets.
    """

    name: str
    statement: str
    claim: str = ""
    random: bool = False
    in_epochs: bool = False
    permuted: bool = False
    fixed_size: bool = True
    adjacency: str = "replace"

    @property
    def full(self) -> bool:
        """Tell whether every batch holds all samples."""
        return not self.random and not self.in_epochs

    @property
    def fixed(self) -> bool:
        """Tell whether it is known in advance which batches use a sample."""
        return not self.random and not self.permuted

    def refusal(self, run: "NoisySGD") -> str:
        """Error message if a run does not admit such batches, else empty."""
        needs = f"sampling={self.name!r} needs"
        if isinstance(run.batch_size, tuple):
            if self.random:
                return ""
            return (
                f"{needs} one batch_size for all steps, got a list; use sampling='poisson' or "
                "'without_replacement', or call participation with the steps that use a sample."
            )
        if self.full and run.batch != run.dataset_size:
            return (
                f"{needs} batch_size equal to dataset_size={run.dataset_size}, got batch_size={run.batch_size}; leave "
                "batch_size out, or use sampling='cyclic'."
            )
        if self.in_epochs and run.dataset_size % run.batch:
            return (
                f"{needs} a batch_size that divides dataset_size={run.dataset_size}, got batch_size={run.batch_size}; "
                "drop the samples that are left over."
            )
        return ""


GROUPS: Final = "docs/proofs/poisson.md, Groups of samples (not in the ledger)"
"""Reference to the proof of a bound for a group with Poisson batches."""

_ROWS: Final = tomllib.loads((resources.files(__package__) / "schemes.toml").read_text("utf-8"))
SCHEMES: Final = {name: Scheme(name, **row) for name, row in _ROWS.items()}
"""Schemes by name."""
