"""The published theorems by name, papers in the order of the ledger.

A `PublishedBound` is asked in two steps: whether the run is one it speaks of (`PublishedBound.refusal`), and what it
claims (`PublishedBound.epsilon`). Whether the claim holds is in the lock file, under `PublishedBound.claim`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lastiterate.numeric.errors import InputError, suggestion
from lastiterate.numeric.losses.assumptions import Assumption, Clipped
from lastiterate.numeric.published import altschuler_talwar, bok_su_altschuler, chien_li, d2p2, folklore, liang
from lastiterate.numeric.published.record import PublishedBound, Setting, run_of

_PAPERS = (folklore, altschuler_talwar, chien_li, liang, d2p2, bok_su_altschuler)

THEOREMS: Final[Mapping[str, PublishedBound]] = MappingProxyType(
    {theorem.name: theorem for paper in _PAPERS for theorem in paper.THEOREMS}
)
"""Name -> theorem."""


def named(name: str) -> PublishedBound:
    """The theorem of this name.

    Raises:
        InputError: there is none.
    """
    if not isinstance(name, str) or name not in THEOREMS:
        raise InputError(
            f"theorem needs one of {', '.join(THEOREMS)}, got theorem={name!r}; {suggestion(name, THEOREMS)}"
        )
    return THEOREMS[name]


def claimed_at(name: str, setting: Setting, assumption: Assumption | None = None) -> float:
    """The claim of a theorem, "composition" or "last_step" for the full-batch run of a setting; clipping by default.

    >>> setting = dict(T=4, n=5, eta=0.1, sigma=1.0, K=2.0, D=1.0, alpha=2.0)
    >>> round(claimed_at("composition", setting), 9)
    0.0256
    """
    asked = folklore.TRIVIAL.get(name) or named(name)
    return asked.epsilon(run_of(setting), assumption or Clipped(), setting["alpha"])
