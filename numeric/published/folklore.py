"""Bounds that belong to no one paper: composition of all steps, one last step, and "output perturbation"."""

from math import inf

from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.published.record import PublishedBound, bounded, claimed
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.symbolic.formulas import published as stated

_READING = "the paper's conventions are those of this package: noise on the iterate, D a diameter"


def _last_step(run: NoisySGD, assumption: Assumption, order: float) -> float:
    """Alpha e(D)^2 / (2 sigma^2): not D^2, since the noise comes after a gradient step."""
    if not run.diameter < inf:
        return inf
    with precision():
        reach = upper(ShiftProgram(run, assumption).expansion(0).ball(exact(run.diameter)))
        return upper(exact(order) / 2 * (exact(reach) / exact(run.noise_std_at(0))) ** 2)


THEOREMS = (
    PublishedBound(
        name="output_perturbation",
        title="output perturbation, as printed",
        claim="chien_li/remarks_3_1/output_perturbation",
        schemes=("full",),
        assumptions=(Assumption,),
        statement=stated.OUTPUT_PERTURBATION,
        evaluate=lambda run, _assumption, order: claimed(stated.OUTPUT_PERTURBATION, run, order),
        reading=_READING,
        needs=bounded,
    ),
)

TRIVIAL = {
    one.name: one
    for one in (
        PublishedBound(
            name="composition",
            title="composition of all steps",
            claim="chien_li/theorem_3_1/composition",
            schemes=("full",),
            assumptions=(Assumption,),
            statement=stated.COMPOSITION,
            evaluate=lambda run, _assumption, order: claimed(stated.COMPOSITION, run, order),
            reading=_READING,
            decays=True,
        ),
        PublishedBound(
            name="last_step",
            title="one last step from the domain",
            claim="chien_li/remarks_3_1/last_step",
            schemes=("full",),
            assumptions=(Assumption,),
            statement=stated.LAST_STEP,
            evaluate=_last_step,
            reading=_READING,
        ),
    )
}
"""What `bound` has among its candidates, in closed form."""
