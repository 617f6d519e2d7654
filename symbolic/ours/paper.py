"""Letters and checks of every module, and what several modules take from derivations."""

from lastiterate.symbolic.derivations import statements
from lastiterate.symbolic.derivations.checks import lattice_checks, projection_checks, windows
from lastiterate.symbolic.derivations.known_batches import feasible
from lastiterate.symbolic.derivations.losses import omega
from lastiterate.symbolic.formulas import update
from lastiterate.symbolic.kernel.profiles import (
    EVERYTHING,
    BlockChain,
    Chords,
    Contracted,
    Damped,
    Letter,
    ThreeLaws,
)
from lastiterate.symbolic.prelude import *
from lastiterate.symbolic.vector_steps import projection, step
