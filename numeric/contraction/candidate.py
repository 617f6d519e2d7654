"""The candidate bound of a table, beside the best of the other routes."""

from dataclasses import dataclass, field
from typing import Self

from lastiterate.numeric.accounting.dominating import Candidate
from lastiterate.numeric.contraction.moments import table_rdp
from lastiterate.numeric.contraction.table import Table


@dataclass(frozen=True, eq=False)
class Contracted(Candidate):
    """A bound by contraction; its pair, its shifts and its Renyi divergence at high orders are those of another route.

    Attributes:
        table: bounds the profile of the last iterates, in both orders.
        other: the best bound without contraction.
    """

    table: Table = field(kw_only=True, repr=False)
    other: Candidate = field(kw_only=True, repr=False)

    @classmethod
    def of(cls, table: Table, claim: str, window: tuple[int, int], other: Candidate) -> Self:
        """A table and what stands beside it."""
        return cls(
            "contraction",
            claim,
            window,
            other.pair,
            optimum=other.optimum,
            position=other.position,
            share=other.share,
            table=table,
            other=other,
        )

    def rdp(self, order: float) -> float:
        return min(table_rdp(self.table, order, self.other.rdp), self.other.rdp(order))

    def dp(self, delta: float) -> float:
        return min(self.table.epsilon(delta), self.other.dp(delta))

    def delta(self, epsilon: float) -> float:
        return min(self.table.delta(epsilon), self.other.delta(epsilon))
