"""Values of the code, each compared with another computation of `lastiterate.proofs_checks.recomputations`.

The lower limit of a value is from a closed form, a quadrature or a run whose loss is known exactly, and the
upper limit from a closed form, a quadrature or the recorded value.
"""

from lastiterate.symbolic.ours.paper import *


def _numbers(key: str, title: str, source: Source, *quantities: str) -> CodeTest:
    small = Rational(1, 500)
    checks = (
        Recomputed(one, name=one.replace("_", " "))
        .mutant(f"{one}: two thousandths less", off=-small)
        .mutant(f"{one}: two thousandths more", off=small)
        for one in quantities
    )
    return CodeTest(key, title, source, *checks)


CLAIMS = (
    _numbers(
        "ours/numbers/accounting",
        "Gaussian trade-offs, conversions, sampled steps and their compositions agree with quadrature",
        proof("privacy_loss", "Lattice"),
        "gaussian", "conversions", "sampling", "compositions",
    ),
    _numbers(
        "ours/numbers/tables",
        "Tables of profiles, a block of steps, sizes of batches and events agree with direct sums",
        proof("contraction", "One block"),
        "tables", "batches", "events",
    ),
    _numbers(
        "ours/numbers/losses",
        "The distance after an update for every class of losses, and the distance of runs",
        proof("expansions", "Weight decay"),
        "expansions", "distances",
    ),
    _numbers(
        "ours/numbers/contraction",
        "Bounds by contraction, for every scheme and runs of one to three blocks, are as recorded and above exact runs",
        proof("contraction", "Many blocks"),
        "contraction",
    ),
    _numbers(
        "ours/numbers/routes",
        "Bounds of every class of losses and scheme, with decay, schedules and projections, are as recorded",
        proof("shift_program", "Theorem"),
        "classes", "projections",
    ),
    _numbers(
        "ours/numbers/uses",
        "Forgetting, participation, positions, calibration, gaps and profiles",
        proof("participation", "Samples used at listed steps"),
        "uses",
    ),
    _numbers(
        "ours/numbers/lower",
        "Exact runs and audits agree with quadrature and binomial sums",
        proof("lower_bounds", "Audits"),
        "lower", "by_counts", "by_scores", "in_one_run",
    ),
    _numbers(
        "ours/numbers/networks",
        "Certified constants of networks are those of differences at the centre, and above them on a ball",
        proof("network_constants", "The constants"),
        "at_the_centre", "closed_forms",
    ),
)  # fmt: skip
