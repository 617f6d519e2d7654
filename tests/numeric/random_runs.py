"""Random runs: evenly on logarithmic scales around where the window of shifts is neither empty nor all of the run.

Most are full batches of affine expansions, which cost a tenth of a millisecond; every kind is among them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import numpy as np

from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.run import NoisySGD

_KINDS = {
    "smooth": 0.32,
    "convex": 0.22,
    "strongly convex": 0.32,
    "clipped": 0.08,
    "capped": 0.03,
    "holder": 0.03,
}


@dataclass(frozen=True)
class Case:
    """A run and an assumption, in the letters of the papers; ``batches`` of b samples in an epoch."""

    kind: str
    T: int
    b: int
    batches: int
    eta: float
    sigma: float
    K: float
    D: float
    L: float
    lam: float
    m: float

    @property
    def assumption(self) -> Assumption:
        match self.kind:
            case "convex":
                return Convex(self.L)
            case "strongly convex":
                return StronglyConvex(self.L, self.m)
            case "clipped":
                return Clipped()
            case "holder":
                return Holder(self.L, self.lam)
        return Smooth(self.L)

    @property
    def run(self) -> NoisySGD:
        fixed = {"batch_size": self.b, "sampling": "cyclic"} if self.batches > 1 else {}
        return NoisySGD(
            self.T,
            self.eta,
            self.sigma,
            self.K,
            self.b * self.batches,
            diameter=self.D,
            **fixed,  # type: ignore[arg-type]
        )

    @property
    def cost(self) -> float:
        return bound(self.run, self.assumption).cost


def drawn(seed: int, count: int, *, bounded: bool = True, cyclic: float = 0.04) -> Iterator[Case]:
    """So many runs; of affine kinds the share ``cyclic`` has fixed batches."""
    rng = np.random.default_rng(seed)
    names, shares = list(_KINDS), list(_KINDS.values())

    def spread(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    for _ in range(count):
        kind = names[rng.choice(len(names), p=shares)]
        eta, K, b = spread(0.01, 0.5), spread(0.3, 5), int(rng.integers(1, 13))
        D = 2 * eta * K / b * spread(0.3, 40)
        lam = float(rng.uniform(0.3, 0.9))
        # omega(D) against 2 K: below it the expansion is affine on the domain, above it the clip cap acts.
        height = {"smooth": spread(0.01, 0.99), "capped": spread(1.1, 3), "holder": spread(0.01, 0.99)}.get(
            kind, 1.0
        )
        L = 2 * K * height / D ** (lam if kind == "holder" else 1.0)
        if "convex" in kind:
            L = float(rng.uniform(0.3, 0.9)) / eta
        several = kind not in ("capped", "holder") and rng.random() < cyclic
        yield Case(
            kind=kind,
            T=int(rng.integers(1, 13 if several else 61)),
            b=b,
            batches=int(rng.integers(2, 5)) if several else 1,
            eta=eta,
            sigma=spread(0.2, 5),
            K=K,
            D=D if bounded else inf,
            L=L,
            lam=lam,
            m=L * spread(0.01, 0.5),
        )
