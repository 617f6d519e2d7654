"""Printed theorems by name: claim for a run, verdict and repair; no bound uses them."""

from dataclasses import dataclass

from lastiterate.numeric.errors import positive, teaches
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.published.theorems import theorem_named
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.proofs_checks.lock import read_lock
from lastiterate.proofs_checks.refutations import in_one_line
from lastiterate.symbolic import ledger


@dataclass(frozen=True)
class Stated:
    """Claim of a printed theorem about a run, with the ledger's verdict on it.

    Attributes:
        claim: key of the claim that decides the theorem.
        epsilon: the claimed Renyi epsilon, rounded up; None if the theorem does not apply to the run.
        reading: how the paper's quantities are read off the run.
        refusal: what the theorem needs and the run lacks; "" if the theorem applies.
        why: the claim's remark; "" if it has none.
        shown: for a refuted claim the run on its page with both numbers, else "".
        instead: keys and titles of the claims that repair the claim.
    """

    name: str
    title: str
    claim: str
    verdict: str
    epsilon: float | None
    order: float
    reading: str
    refusal: str
    why: str
    shown: str
    instead: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        """All fields, one per line."""
        says = f"needs {self.refusal}" if self.epsilon is None else f"({self.order:g}, {self.epsilon:.6g})-RDP"
        lines = [f"{self.title}: {says}", f"{self.verdict}: {self.claim}", f"read as: {self.reading}"]
        lines += [f"shown: {self.shown}"] if self.shown else []
        lines += [f"why: {self.why}"] if self.why else []
        return "\n".join([*lines, *(f"instead: {key}: {title}" for key, title in self.instead)])


@teaches()
def theorem(name: str, run: NoisySGD, assumption: Assumption, *, order: float) -> Stated:
    """Claim of a printed theorem for a run, and its verdict; refuted theorems are included.

    ``name`` is in `lastiterate.numeric.published.theorems.THEOREMS`, ``assumption`` is on the losses, and
    alpha = ``order`` > 1.

    Raises:
        InputError: no theorem has this name.

    >>> from lastiterate.numeric.losses.assumptions import Smooth
    >>> run = NoisySGD(1, 1.0, 1.0, 1.0, dataset_size=10, batch_size=1, sampling="without_replacement")
    >>> found = theorem("chien_li_3_12", run, Smooth(1.0), order=20)
    >>> found.verdict, round(found.epsilon, 4)
    ('REFUTED', 0.0807)
    """
    asked, order = theorem_named(name), positive("order", order)
    refusal = asked.refusal(described_run("theorem", run), assumption)
    claims = ledger.naming(asked.claim)
    claim = next(claim for claim in claims if claim.key == asked.claim)
    return Stated(
        name=name,
        title=asked.title,
        claim=asked.claim,
        verdict=str(read_lock()[asked.claim].verdict),
        epsilon=None if refusal else asked.epsilon(run, assumption, order),
        order=order,
        reading=asked.reading,
        refusal=refusal,
        why=claim.remark,
        shown=in_one_line(claim.refutation) if claim.refutation is not None else "",
        instead=tuple((mend.key, mend.title) for mend in claims if mend.repairs == asked.claim),
    )
