"""Machine-checked theory for private training when only the last iterate is released.

Three doors: ``lastiterate check`` decides every claim of the papers, `bound` turns a described run into a
rigorous privacy bound, and `lastiterate.runtime` measures the constants of a trained network. Names are
imported when they are first used, so that ``import lastiterate`` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # "as" marks what is exported
    from lastiterate.numeric.bound import Bound as Bound
    from lastiterate.numeric.bound import bound as bound
    from lastiterate.numeric.calibrate import calibrate as calibrate
    from lastiterate.numeric.compare import compare as compare
    from lastiterate.numeric.dp_events import from_dp_event as from_dp_event
    from lastiterate.numeric.dp_events import to_dp_event as to_dp_event
    from lastiterate.numeric.dp_events import to_pld as to_pld
    from lastiterate.numeric.errors import InputError as InputError
    from lastiterate.numeric.estimate import Estimate as Estimate
    from lastiterate.numeric.estimate import estimate as estimate
    from lastiterate.numeric.losses.assumptions import Assumption as Assumption
    from lastiterate.numeric.losses.assumptions import Blocks as Blocks
    from lastiterate.numeric.losses.assumptions import Clipped as Clipped
    from lastiterate.numeric.losses.assumptions import Convex as Convex
    from lastiterate.numeric.losses.assumptions import Holder as Holder
    from lastiterate.numeric.losses.assumptions import Measured as Measured
    from lastiterate.numeric.losses.assumptions import Minimum as Minimum
    from lastiterate.numeric.losses.assumptions import Smooth as Smooth
    from lastiterate.numeric.losses.assumptions import StronglyConvex as StronglyConvex
    from lastiterate.numeric.losses.assumptions import Sum as Sum
    from lastiterate.numeric.losses.assumptions import Tabulated as Tabulated
    from lastiterate.numeric.losses.automatic_clipping import automatic_clipping as automatic_clipping
    from lastiterate.numeric.lower import LowerBound as LowerBound
    from lastiterate.numeric.lower import lower_bound as lower_bound
    from lastiterate.numeric.random_projection.bound import ProjectionBound as ProjectionBound
    from lastiterate.numeric.random_projection.bound import projection_bound as projection_bound
    from lastiterate.numeric.random_projection.run import RandomProjectionRun as RandomProjectionRun
    from lastiterate.numeric.run import NoisySGD as NoisySGD
    from lastiterate.numeric.shift_program.optimum import bracket as bracket
    from lastiterate.numeric.shift_program.program import ShiftProgram as ShiftProgram
    from lastiterate.numeric.shift_program.sweeps import Bracket as Bracket
    from lastiterate.numeric.sweeps.run import sweep as sweep
    from lastiterate.proofs_checks.stated import theorem as theorem
    from lastiterate.runtime.attacks.attack import attack as attack
    from lastiterate.runtime.attacks.worst_case import worst_case as worst_case
    from lastiterate.runtime.constants.holder import estimate_holder as estimate_holder
    from lastiterate.runtime.coupled.drift import measure_drift as measure_drift
    from lastiterate.runtime.coupled.runs import coupled_runs as coupled_runs
    from lastiterate.runtime.training.optimiser import ProjectedNoisySGD as ProjectedNoisySGD
    from lastiterate.runtime.training.random_projection import RandomProjectionSGD as RandomProjectionSGD
    from lastiterate.runtime.training.random_projection import layer_ranks as layer_ranks
    from lastiterate.runtime.workloads.loading import load_workload as load_workload
    from lastiterate.runtime.workloads.workload import Workload as Workload

_HOMES = {
    "numeric.losses.assumptions": "Assumption Blocks Clipped Convex Holder Measured Minimum Smooth StronglyConvex Sum "
    "Tabulated",
    "numeric.losses.automatic_clipping": "automatic_clipping",
    "numeric.bound": "Bound bound",
    "numeric.estimate": "Estimate estimate",
    "numeric.shift_program.optimum": "bracket",
    "numeric.calibrate": "calibrate",
    "numeric.compare": "compare",
    "numeric.dp_events": "from_dp_event to_dp_event to_pld",
    "numeric.errors": "InputError",
    "numeric.lower": "LowerBound lower_bound",
    "numeric.shift_program.program": "ShiftProgram",
    "numeric.shift_program.sweeps": "Bracket",
    "numeric.random_projection.bound": "ProjectionBound projection_bound",
    "numeric.random_projection.run": "RandomProjectionRun",
    "numeric.run": "NoisySGD",
    "numeric.sweeps.run": "sweep",
    "proofs_checks.stated": "theorem",
    "runtime.attacks.attack": "attack",
    "runtime.attacks.worst_case": "worst_case",
    "runtime.constants.holder": "estimate_holder",
    "runtime.coupled.drift": "measure_drift",
    "runtime.coupled.runs": "coupled_runs",
    "runtime.training.optimiser": "ProjectedNoisySGD",
    "runtime.training.random_projection": "RandomProjectionSGD layer_ranks",
    "runtime.workloads.loading": "load_workload",
    "runtime.workloads.workload": "Workload",
}
_HOME = {name: f"lastiterate.{module}" for module, names in _HOMES.items() for name in names.split()}
__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    """Import a public name from its module on first use; the version is that of the installation."""
    if name == "__version__":
        from importlib.metadata import version

        return version("lastiterate")
    if name not in _HOME:
        raise AttributeError(f"module 'lastiterate' has no attribute {name!r}")
    try:
        return getattr(import_module(_HOME[name]), name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(f"{name} needs torch, which is not installed; pip install 'lastiterate[runtime]'.") from None


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
