"""Machine-checked theory for private training when only the last iterate is released.

Three doors: ``lastiterate check`` decides every claim of the papers, `bound` turns a described run into a
rigorous privacy bound, and `lastiterate.runtime` measures the constants of a trained network. Names are
imported when they are first used, so that ``import lastiterate`` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lastiterate.numeric.accounting.dp_events import from_dp_event, to_dp_event, to_pld
    from lastiterate.numeric.assumptions import (
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
    from lastiterate.numeric.bound import bound, estimate
    from lastiterate.numeric.calibrate import calibrate
    from lastiterate.numeric.compare import compare
    from lastiterate.numeric.errors import InputError
    from lastiterate.numeric.lower import Lower, lower_bound
    from lastiterate.numeric.results import Bound, Estimate, Measured
    from lastiterate.numeric.run import NoisySGD
    from lastiterate.numeric.shift_program.bracket import Bracket, bracket
    from lastiterate.numeric.shift_program.program import ShiftProgram
    from lastiterate.numeric.sweeps.run import sweep
    from lastiterate.proofs_checks.stated import theorem

__all__ = [
    "Assumption",
    "Bound",
    "Bracket",
    "Clipped",
    "Convex",
    "Estimate",
    "Holder",
    "InputError",
    "Lower",
    "Measured",
    "Minimum",
    "NoisySGD",
    "ShiftProgram",
    "Smooth",
    "StronglyConvex",
    "Sum",
    "Tabulated",
    "bound",
    "bracket",
    "calibrate",
    "compare",
    "estimate",
    "from_dp_event",
    "lower_bound",
    "sweep",
    "theorem",
    "to_dp_event",
    "to_pld",
]

_HOMES = {
    "assumptions": (
        "Assumption Clipped Convex Holder Minimum Smooth StronglyConvex Sum Tabulated"  # what is assumed
    ),
    "bound": "bound estimate",
    "shift_program.bracket": "Bracket bracket",
    "calibrate": "calibrate",
    "compare": "compare",
    "accounting.dp_events": "from_dp_event to_dp_event to_pld",
    "errors": "InputError",
    "lower": "Lower lower_bound",
    "shift_program.program": "ShiftProgram",
    "results": "Bound Estimate Measured",
    "run": "NoisySGD",
    "sweeps.run": "sweep",
}
_HOME = {name: f"lastiterate.numeric.{module}" for module, names in _HOMES.items() for name in names.split()}
_HOME["theorem"] = "lastiterate.proofs_checks.stated"


def __getattr__(name: str) -> object:
    """Import a public name from its module on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'lastiterate' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
