"""Batches drawn without replacement: the repaired theorem, at one Renyi order; and random batches of every kind.

Reveal a batch without the differing sample, drawn once for both runs, and put the sample in place of one of its
elements with probability q = b / n: that is a batch drawn without replacement. Given what is revealed, an update is
one of two maps, the same coin for two copies of one run, so that a distance z grows to at most e_t(z) with no
sensitivity in it. Split the noise: a share beta_t of the variance hides the change of the data, at the price S of
one step between mixtures (`composed_rdp`, in both directions), the rest hides shifts. For every window of
steps from a distance Delta that bounds the runs,

    epsilon(alpha) <= sum S(beta_t) + alpha / 2 sum a_t^2 / ((1 - beta_t) sigma_t^2),   z' = e_t(z) - a_t,  Delta -> 0.

Nothing is conditioned on: the third law moves from one run to the other, as for full batches. Beside it stand
composition (z = 0 throughout, beta = 1), and the worst case over batches, which is Gaussian.

Source: docs/proofs/without_replacement.md; it repairs Chien & Li 2025, Theorem 3.12, whose one-step price is the
smaller direction (claims ours/sampled/*). Price of a step: Balle, Barthe & Gaboardi 2018.
"""

from lastiterate.numeric.accounting.dominating import Composed
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.rounding import precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import optimum
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.subsampling.common import CLOSE, Sampled, composition, moved, never_failing, rate, same_data
from lastiterate.numeric.subsampling.noise_split import Shares
from lastiterate.numeric.subsampling.poisson import poisson_routes
from lastiterate.numeric.subsampling.windows import split_windows

__all__ = ["Sampled", "sampled_loss", "sampled_routes"]


def sampled_loss(run: NoisySGD, assumption: Assumption, order: float) -> Sampled:
    """The least of composition, the best window of shifts, and the worst case over batches, at one order.

    Args:
        run: a run whose batches are random.
        assumption: what is assumed of the losses.
        order: alpha > 1.
    """
    routes = poisson_routes if run.sampling == "poisson" else _routes
    return min(routes(run, assumption, order, needed=False), key=lambda one: one.epsilon)


def sampled_routes(run: NoisySGD, assumption: Assumption, order: float, delta: float | None = None) -> list[Sampled]:
    """Every bound of `sampled_loss`, each valid. Arguments as there.

    With a delta there are routes beside them whose ``composed`` may fail with a chance below it (Poisson batches).
    """
    if run.sampling == "poisson":
        return poisson_routes(run, assumption, order, delta)
    return _routes(run, assumption, order, needed=True)


def _routes(run: NoisySGD, assumption: Assumption, order: float, *, needed: bool) -> list[Sampled]:
    """All routes, or without those that a glance shows to be worse than another."""
    with precision():
        program = ShiftProgram(run, assumption)
        found = [composition(run, order)]
        shares = Shares(program, same_data(run, assumption), moved(run), rate(run), run.adjacency, order)
        for one in split_windows(shares) if needed or shares.least() < found[0].epsilon else []:
            if needed or one.estimate < found[0].epsilon * CLOSE:
                window = (run.steps - one.length, run.steps)
                found.append(never_failing(one.composed, order, "window of shifts", window, one.share))
        if needed or not min(one.epsilon for one in found) <= order / 2 * program.least():
            worst = optimum(program)
            window = (worst.path.start, run.steps)
            found.append(never_failing(Composed(upper(worst.cost)), order, "worst batches", window, 0.0))
        return found
