"""An independent evaluation of the shift program in plain mpmath, under the fixture `sixty_digits`.

Nothing here uses the arithmetic of the package: only the fields of a run and of an assumption are read, the
expansions are written again from the table of docs/proofs/expansions.md, and paths are run forward step by step.
"""

from collections.abc import Sequence

import mpmath as mp
from mpmath import mpf

from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Blocks,
    Clipped,
    Convex,
    Holder,
    Minimum,
    StronglyConvex,
    Sum,
    Tabulated,
)
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import Path

SLACK = mpf(10) ** -45
"""Relative error of the oracle itself, generously."""


def omega(modulus: Assumption, z: mpf) -> mpf:
    """The modulus of continuity."""
    match modulus:
        case Clipped():
            return mp.inf if z > 0 else mpf(0)
        case Holder(L=L, lam=lam):
            return mpf(L) * z ** mpf(lam)
        case Tabulated(distances=distances, values=values):
            known = (mpf(v) for r, v in zip(distances, values, strict=True) if z <= mpf(r))
            return next(known, mp.inf) if z > 0 else mpf(0)
        case Sum(parts=parts):
            return mp.fsum(omega(part, z) for part in parts)
        case Blocks(groups=groups):
            return mp.fsum(mp.sqrt(mp.fsum(omega(part, z) ** 2 for part in group)) for group in groups)
    raise TypeError(modulus)


def expand(run: NoisySGD, assumption: Assumption, t: int, z: mpf) -> mpf:
    """e_t(z)."""
    eta, K, b = mpf(run.step_size_at(t)), mpf(run.clip_norm), mpf(run.dataset_size)
    own = 2 * eta * K / b
    match assumption:
        case Minimum(parts=parts):
            return min(expand(run, part, t, z) for part in parts)
        case Convex():
            return z + own
        case StronglyConvex(L=L, m=m):
            return max(abs(1 - eta * mpf(m)), abs(1 - eta * mpf(L))) * z + own
    steepest = omega(assumption, z)
    return z + (2 * eta * K if mp.isinf(steepest) else min(eta * (b - 1) / b * steepest + own, 2 * eta * K))


def tracked(run: NoisySGD, assumption: Assumption, t: int) -> mpf:
    """min(D, D_t), run forward from 0."""
    z, D = mpf(0), mpf(run.diameter)
    for i in range(t):
        z = min(expand(run, assumption, i, z), D)
    return z


def exact_shifts(run: NoisySGD, assumption: Assumption, path: Path, route: str) -> list[mpf]:
    """The shifts of a path: the floats themselves, or what they stand for where the route is exact."""
    if route == "composition":
        return [expand(run, assumption, t, mpf(0)) for t in range(run.steps)]
    if route != "closed form":
        return [mpf(a) for a in path.shifts.tolist()]
    s = expand(run, assumption, 0, mpf(0))
    scale = mpf(run.diameter) if path.distance else mpf(1)
    c = (expand(run, assumption, 0, scale) - s) / scale
    w = len(path.shifts)
    V, W = mp.fsum(c**-j for j in range(1, w + 1)), mp.fsum(c ** (-2 * j) for j in range(1, w + 1))
    lam = (s * V + mpf(path.distance)) / W
    return [lam * c**-j for j in range(1, w + 1)]


def states(run: NoisySGD, assumption: Assumption, path: Path, shifts: Sequence[mpf]) -> list[mpf]:
    """e_t(z_t) - a_t along the path, before it is cut at 0; one more entry than shifts."""
    rows = [mpf(path.distance)]
    for t, shift in enumerate(shifts, start=path.start):
        rows.append(expand(run, assumption, t, max(rows[-1], mpf(0))) - shift)
    return rows


def cost(run: NoisySGD, assumption: Assumption, path: Path, route: str) -> mpf:
    """The cost of a path: every shift but the last as it stands, the last hides all that is left."""
    shifts = exact_shifts(run, assumption, path, route)
    z = states(run, assumption, path, shifts[:-1])[-1]
    last = expand(run, assumption, run.steps - 1, max(z, mpf(0)))
    spent = [*shifts[:-1], last]
    return mp.fsum((a / mpf(run.noise_std_at(t))) ** 2 for t, a in enumerate(spent, start=path.start))


def gdp_delta(mu: float, epsilon: float) -> mpf:
    """Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu), with digits to spare for the cancellation."""
    with mp.workdps(400):
        m, e = mpf(mu), mpf(epsilon)
        return mp.erfc((e / m - m / 2) / mp.sqrt(2)) / 2 - mp.exp(e) * mp.erfc((e / m + m / 2) / mp.sqrt(2)) / 2
