"""Batches drawn without replacement.

Reveal a batch without the differing sample, drawn once for both runs, and put the sample in place of one of its
elements with probability q = b / n: that is a batch drawn without replacement. Given what is revealed, an update is
one of two maps, the same coin for two copies of one run, so that a distance z grows to at most e_t(z) with no
sensitivity in it. Split the noise: a share beta_t of the variance hides the change of the data, at the cost S of
one step between mixtures (`step_rdp`, in both directions), the rest hides shifts. For every window of
steps from a distance Delta that bounds the runs,

    epsilon(alpha) <= sum S(beta_t) + alpha / 2 sum a_t^2 / ((1 - beta_t) sigma_t^2),   z' = e_t(z) - a_t,  Delta -> 0.

Nothing is conditioned on: the third law moves from one run to the other, as for full batches. Beside it stand
composition (z = 0 throughout, beta = 1), and the worst case over batches, which is Gaussian.

Source: docs/proofs/without_replacement.md; it repairs Chien & Li 2025, Theorem 3.12, whose one-step price is the
smaller direction (claims ours/sampled/*). Price of a step: Balle, Barthe & Gaboardi 2018.
"""

from lastiterate.numeric.accounting.dominating import Candidate
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.rounding import precision
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.subsampling.noise_split import Shares
from lastiterate.numeric.subsampling.windows import beside, composition

__all__ = ["without_replacement_routes"]


def without_replacement_routes(
    run: NoisySGD, assumption: Assumption, order: float, delta: float | None = None, *, every: bool = True
) -> list[Candidate]:
    """Composition, the best window of shifts, and the worst case over batches.

    Args:
        run: a run with batches drawn without replacement.
        assumption: what is assumed of the losses.
        order: alpha > 1.
        delta: not used; none of these bounds may fail.
        every: whether routes that cannot be the least are wanted too.
    """
    del delta
    with precision():
        program, composed = ShiftProgram(run, assumption), composition(run)
        return [composed, *beside(Shares(run, program, order), composed.rdp(order), every=every)]
