"""Semidefinite programs by Clarabel: suggestions, which are verified exactly elsewhere."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import clarabel
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats: TypeAlias = NDArray[np.float64]


def solve(
    cost: Floats, equal: tuple[Floats, Floats], above: tuple[Floats, Floats], psd: Sequence[tuple[Floats, Floats]]
) -> Floats | None:
    """The least ``cost . x`` where A x = b, A x >= b, and all matrices B + sum of x_j A_j are positive semidefinite.

    Args:
        cost: a number for every x_j.
        equal: A and b of equations.
        above: A and b of inequalities.
        psd: of every matrix the A_j, stacked, and B.
    """
    rows, sides, cones = [equal[0], -above[0]], [equal[1], -above[1]], list[Any]()
    if len(equal[1]):
        cones.append(clarabel.ZeroConeT(len(equal[1])))
    if len(above[1]):
        cones.append(clarabel.NonnegativeConeT(len(above[1])))
    for parts, rest in psd:
        size = len(rest)
        if size:
            places = np.triu_indices(size)
            order = np.lexsort((places[0], places[1]))
            i, k = places[0][order], places[1][order]
            scale = np.where(i == k, 1.0, np.sqrt(2.0))
            rows.append(-(parts[:, i, k] * scale).T)
            sides.append(rest[i, k] * scale)
            cones.append(clarabel.PSDTriangleConeT(size))
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    count = len(cost)
    constraints = sparse.csc_matrix(np.vstack([row.reshape(-1, count) for row in rows]))
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((count, count)), cost, constraints, np.concatenate(sides), cones, settings
    )
    found = solver.solve()
    good = {"Solved", "AlmostSolved"}
    return np.array(found.x) if str(found.status) in good else None
