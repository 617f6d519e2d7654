"""A certified bracket of the optimum of the shift program.

The upper end is the cost of a feasible path. The lower end is a closed form where one is proved to be the optimum, and
else value iteration, rounded down (`sweeps`).
"""

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.rounding import lower, precision, upper
from lastiterate.numeric.run import count, positive, refuse_extreme
from lastiterate.numeric.shift_program.optimum import optimum
from lastiterate.numeric.shift_program.paths import Shifts
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.shift_program.search import horizon
from lastiterate.numeric.shift_program.sweeps import Bracket, enclosed

__all__ = ["Bracket", "bracket"]

_LEAST_CELLS = 6


def bracket(program: ShiftProgram, path: Shifts | None = None, *, tolerance: float = 1e-7, cells: int = 400) -> Bracket:
    """Enclose the optimum of the program between a certified lower bound and a feasible path.

    Args:
        program: any program.
        path: a feasible path to start from; None to find one.
        tolerance: relative gap at which to stop, above 0.
        cells: how finely the state is cut at each time; the work is about steps x cells^2 a level.

    Returns:
        The bracket; its gap may exceed the tolerance where floats resolve no more.

    Raises:
        InputError: an argument is out of range, or the numbers of the run are beyond floats.
    """
    if not isinstance(program, ShiftProgram):
        raise InputError(f"bracket needs a ShiftProgram, got program={type(program).__name__}; make one of a run.")
    positive("tolerance", tolerance)
    if count("cells", cells) < _LEAST_CELLS:
        raise InputError(f"cells needs a whole number of at least {_LEAST_CELLS}, got cells={cells}; try 400.")
    refuse_extreme("bracket", program.run, program.assumption)
    found = optimum(program)
    with precision():
        if found.proved:
            return Bracket(lower(found.cost), upper(found.cost), found.path)
        if path is None or program.cost(path).upper() > found.cost.upper():
            path = found.path
    return enclosed(program, path, length=horizon(program, tolerance / 10), tolerance=tolerance, cells=cells)
