"""The ways to draw batches, and what is assumed of each."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Scheme:
    """Schemes: the ways to draw the batches of a run.

    Attributes:
        name: as in `NoisySGD.sampling`.
        statement: what a number for the run assumes of the batches, to be formatted with the run.
        claim: key of the ledger's claim behind a bound; empty where that of the losses says all.
        random: whether every batch is drawn afresh.
        in_epochs: whether every sample is met once an epoch.
        permuted: whether the batches of every epoch come from a fresh permutation.
        fixed_size: whether every batch has the same number of samples.
        adjacency: the relation of data sets that is accounted for.
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
        """Tell whether it is known in advance which batches meet a sample."""
        return not self.random and not self.permuted


SCHEMES: Final = {
    one.name: one
    for one in (
        Scheme("full", "batches are full"),
        Scheme(
            "cyclic",
            "the {run.batches} batches are fixed in advance and come in the same order in every epoch",
            "ours/cyclic/theorem",
            in_epochs=True,
        ),
        Scheme(
            "shuffled",
            "the {run.batches} batches of an epoch are cut from a fresh uniform permutation, the same for both data "
            "sets",
            "ours/shuffled/worst",
            in_epochs=True,
            permuted=True,
        ),
        Scheme(
            "without_replacement",
            "each batch is {run.batch_text} of the {run.dataset_size} samples, drawn independently",
            "ours/sampled/theorem",
            random=True,
        ),
        Scheme(
            "poisson",
            "every sample is in every batch with chance b/{run.dataset_size}, independently, and the sum of gradients "
            "is divided by b = {run.batch_text}; nothing is assumed of the sizes of the batches",
            "ours/poisson/theorem",
            random=True,
            fixed_size=False,
            adjacency="add_remove",
        ),
    )
}
