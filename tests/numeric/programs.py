"""Random programs: a seeded list for the brackets, and hypothesis strategies for the properties."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Clipped,
    Convex,
    Holder,
    Minimum,
    Smooth,
    StronglyConvex,
    Sum,
    Tabulated,
)
from lastiterate.numeric.run import NoisySGD

KINDS = (
    *("smooth", "holder", "sum", "strongly convex"),
    *("capped smooth", "capped holder", "minimum", "clipped", "tabulated", "mixed"),
)
SMOOTH_KINDS = KINDS[:4]


@dataclass(frozen=True)
class Case:
    """A program and how close the bracket must come, relative."""

    kind: str
    run: NoisySGD
    assumption: Assumption
    tolerance: float

    def __str__(self) -> str:
        return f"{self.kind.replace(' ', '-')}-T{self.run.steps}"


def random_cases(seed: int, count: int, *, schedule: bool = False) -> Iterator[Case]:
    """Programs whose best window is neither empty nor everything, of each kind in turn.

    The domain is a few sensitivities wide, and the modulus at the diameter is of the order of the sensitivity:
    else composition or one last step would be the answer of nearly all of them.
    """
    rng = np.random.default_rng(seed)
    for i in range(count):
        kind = KINDS[i % len(KINDS)]
        capped = kind in ("capped smooth", "capped holder", "clipped", "mixed")
        steps = int(rng.integers(20, 80))
        samples = int(rng.integers(2, 4 if capped else 12))
        eta, K = float(np.exp(rng.uniform(-4.6, -0.7))), float(np.exp(rng.uniform(-1, 1.5)))
        sensitivity = 2 * eta * K / samples
        D = sensitivity * float(np.exp(rng.uniform(0.5, np.log(steps / (8 if capped else 5)))))
        noise = float(np.exp(rng.uniform(-1, 1)))
        step_sizes = tuple((eta * rng.uniform(0.5, 1, steps)).tolist()) if schedule else eta
        noises = tuple((noise * rng.uniform(0.7, 1.4, steps)).tolist()) if schedule else noise
        run = NoisySGD(steps, step_sizes, noises, K, samples, diameter=D)
        assumption = _assumption(kind, rng, eta, K, D, samples)
        yield Case(kind, run, assumption, 1e-6 if kind in SMOOTH_KINDS else 1e-4)


def _assumption(
    kind: str, rng: np.random.Generator, eta: float, K: float, D: float, samples: int
) -> Assumption:
    lam = float(rng.uniform(0.15, 0.95))

    def height(low: float, high: float) -> float:
        """omega(D)."""
        return 2 * K * float(rng.uniform(low, high))

    def low() -> float:
        return height(0.05 / samples, 0.8 / samples)

    match kind:
        case "smooth":
            return Smooth(low() / D)
        case "holder":
            return Holder(low() / D**lam, lam)
        case "sum":
            return Sum(Smooth(low() / 2 / D), Holder(low() / 2 / D**lam, lam))
        case "strongly convex":
            return StronglyConvex(float(rng.uniform(0.3, 1.9)) / eta, float(rng.uniform(0.005, 0.3)) / eta)
        case "capped smooth":
            return Smooth(height(1.05, 3) / D)
        case "capped holder":
            return Holder(height(1.05, 2) / D**lam, lam)
        case "minimum":
            return Minimum(Smooth(2 * low() / D), Holder(low() / D**lam, lam))
        case "clipped":
            return Clipped()
        case "tabulated":
            values = 2 * K * np.sort(rng.uniform(0.02, min(1, 2 / samples), 3))
            return Tabulated(tuple((D * np.array([0.2, 0.5, 0.8])).tolist()), tuple(values.tolist()))
    parts = (Smooth(height(1, 3) / D), Clipped(), Holder(height(0.5, 1.5) / D**lam, lam))
    return Minimum(*parts, Sum(Smooth(low() / D), Holder(low() / D**lam, lam)))


def _spread(low: float, high: float) -> st.SearchStrategy[float]:
    """Floats spread evenly on the scale of logarithms."""
    return st.floats(float(np.log(low)), float(np.log(high))).map(lambda x: float(np.exp(x)))


@st.composite
def settings(draw: st.DrawFn, *, longest: int = 60) -> dict[str, float]:
    """Parameters of a run and of losses, in the letters of the papers."""
    eta, K, n = draw(_spread(0.01, 0.5)), draw(_spread(0.3, 5)), draw(st.integers(1, 12))
    D = 2 * eta * K / n * draw(_spread(0.3, 40))
    lam = draw(st.floats(0.1, 1))
    return {
        "T": draw(st.integers(1, longest)),
        "n": n,
        "eta": eta,
        "sigma": draw(_spread(0.2, 5)),
        "K": K,
        "D": D,
        "lam": lam,
        "L": 2 * K / D**lam * draw(_spread(0.01, 3)),
        "alpha": draw(_spread(1.01, 50)),
    }


def run_of(setting: dict[str, float]) -> NoisySGD:
    """The run of a setting."""
    return NoisySGD(
        steps=int(setting["T"]),
        step_size=setting["eta"],
        noise_std=setting["sigma"],
        clip_norm=setting["K"],
        dataset_size=int(setting["n"]),
        diameter=setting["D"],
    )


ASSUMPTIONS = {
    "holder": lambda p: Holder(p["L"], p["lam"]),
    "smooth": lambda p: Smooth(p["L"] * p["D"] ** (p["lam"] - 1)),
    "clipped": lambda p: Clipped(),  # noqa: ARG005
    "convex": lambda p: Convex(1 / p["eta"]),
    "sum": lambda p: Sum(Holder(p["L"] / 2, p["lam"]), Smooth(p["L"] / 4 * p["D"] ** (p["lam"] - 1))),
    "minimum": lambda p: Minimum(Holder(p["L"], p["lam"]), Smooth(p["L"] * p["D"] ** (p["lam"] - 1) * 2)),
    "strongly convex": lambda p: StronglyConvex(1.5 / p["eta"], 0.4 * p["lam"] / p["eta"]),
    "tabulated": lambda p: Tabulated(
        (p["D"] * 0.3, p["D"] * 0.7), (p["L"] * p["D"] ** p["lam"] / 2, p["L"] * p["D"] ** p["lam"])
    ),
}
"""Each assumption, made from a setting."""
