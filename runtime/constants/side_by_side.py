"""Record of several workloads side by side: what is found of each, and what is proved or why nothing is.

No torch: a record is described and drawn without it.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lastiterate.runtime.constants.worst_case_record import WorstCaseConstants


@dataclass(frozen=True)
class WorkloadConstants:
    """One workload.

    Attributes:
        workload: its name.
        parameters: numbers that are trained.
        samples: samples of the data, of which as many as were measured.
        settings: what differs from what was asked, since the workload recommends it.
        orders: Hölder orders, each in (0, 1].
        found: for each the largest constant found. Lower estimates; 0 where no pair could be trusted.
        certified: for each the proved constant, perhaps infinite; None where none is known. Upper bounds.
        why: why there is no finite one; empty where there is.
        seconds: that the search took, or its last part, where it was interrupted.
    """

    workload: str
    parameters: int
    samples: int
    settings: dict[str, object]
    orders: tuple[float, ...]
    found: tuple[float, ...]
    certified: tuple[float | None, ...]
    why: str
    seconds: float

    @staticmethod
    def of(
        look: "WorstCaseConstants", parameters: int, samples: int, settings: dict[str, object], seconds: float
    ) -> "WorkloadConstants":
        """The record of a search."""
        orders = range(len(look.searched))
        return WorkloadConstants(
            look.workload,
            parameters,
            samples,
            settings,
            tuple(pair.lam for pair in look.searched),
            tuple(look.found(k) for k in orders),
            tuple(look.upper(k) for k in orders),
            look.side.reason,
            seconds,
        )


def as_csv(rows: Sequence[WorkloadConstants]) -> str:
    """One line for each workload and order."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("workload", "parameters", "samples", "lambda", "found", "certified", "why", "seconds"))
    for row in rows:
        for lam, found, certified in zip(row.orders, row.found, row.certified, strict=True):
            known = "" if certified is None else repr(certified)
            size = (row.workload, row.parameters, row.samples)
            writer.writerow((*size, lam, repr(found), known, row.why, f"{row.seconds:.1f}"))
    return out.getvalue()


def as_dicts(rows: Sequence[WorkloadConstants]) -> list[dict[str, object]]:
    """The rows as plain data."""
    return [asdict(row) for row in rows]
