"""The public names with the modules that define them, for type checkers and for the package itself."""

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

__version__: str
