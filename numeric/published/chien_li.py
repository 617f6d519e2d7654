"""Chien & Li 2025: the theorems as records.

Their conventions are those of this package: noise on the iterate, K the clip norm, D a diameter.
"""

from collections.abc import Callable

from lastiterate.numeric.losses.assumptions import Assumption, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.published.chien_li_batches import corollary_a_3, theorem_a_1
from lastiterate.numeric.published.chien_li_full import theorem_3_1, theorem_3_7
from lastiterate.numeric.published.chien_li_sampled import theorem_3_12
from lastiterate.numeric.published.record import Evaluator, PublishedBound, nothing, short_step
from lastiterate.numeric.run import NoisySGD
from lastiterate.symbolic.formulas import published as stated

_READING = "the paper's conventions are those of this package: noise on the iterate, D a diameter"
_UP = 1 + 1e-14


def _renyi(run: NoisySGD, order: float, squared_length: float) -> float:
    return order / (2 * run.noise_std_at(0) ** 2) * squared_length * _UP


def _at(lipschitz: Callable[[float, Assumption], float]) -> Evaluator:
    """Theorem 3.1 with the Lipschitz constant c of the update."""

    def evaluate(run: NoisySGD, assumption: Assumption, order: float) -> float:
        eta, drift = run.step_size_at(0), 2 * run.step_size_at(0) * run.clip_norm
        c = lipschitz(eta, assumption)
        return _renyi(run, order, theorem_3_1(c, drift / run.dataset_size, drift, run.diameter, run.steps))

    return evaluate


def _hoelder(run: NoisySGD, assumption: Assumption, order: float) -> float:
    assert isinstance(assumption, Holder)  # noqa: S101  # see the record
    eta = run.step_size_at(0)
    s = 2 * eta * run.clip_norm / run.dataset_size
    return _renyi(run, order, theorem_3_7(eta * assumption.L, assumption.lam, s, run.diameter, run.steps))


THEOREMS = (
    *(
        PublishedBound(
            name=f"chien_li_3_1_{name}",
            title=f"Chien & Li 2025, Theorem 3.1, {name.replace('_', ' ')}",
            claim=f"chien_li/theorem_3_1/{name}",
            schemes=("full",),
            assumptions=(kind,),
            statement=stated.EQUATION_3,
            evaluate=_at(lipschitz),
            reading=_READING,
            needs=needs,
        )
        for name, kind, needs, lipschitz in (
            ("smooth", Smooth, nothing, lambda eta, losses: 1 + eta * losses.L),
            ("convex", Convex, nothing, lambda eta, losses: 1.0),  # noqa: ARG005
            ("strongly_convex", StronglyConvex, short_step, lambda eta, losses: 1 - eta * losses.m),
        )
    ),
    PublishedBound(
        name="chien_li_3_7",
        title="Chien & Li 2025, Theorem 3.7",
        claim="chien_li/theorem_3_7",
        schemes=("full",),
        assumptions=(Holder,),
        statement=stated.EQUATION_13,
        evaluate=_hoelder,
        reading=_READING,
    ),
    PublishedBound(
        name="chien_li_3_12",
        title="Chien & Li 2025, Theorem 3.12",
        claim="chien_li/theorem_3_12",
        schemes=("without_replacement",),
        assumptions=(Holder,),
        statement=stated.EQUATION_19,
        evaluate=lambda run, assumption, order: theorem_3_12(
            run, order, getattr(assumption, "L", 0.0), getattr(assumption, "lam", 1.0)
        ),
        reading=f"{_READING}; beta_t in (19) read as sqrt(beta_t)",
    ),
    PublishedBound(
        name="chien_li_a_1",
        title="Chien & Li 2025, Theorem A.1",
        claim="chien_li/theorem_a_1",
        schemes=("cyclic",),
        assumptions=(Holder,),
        statement=stated.THEOREM_A_1,
        evaluate=lambda run, assumption, order: theorem_a_1(run, assumption, order, (run.steps - 1) % run.batches),
        reading=f"{_READING}; the sample in the batch of the last step, where it costs most",
    ),
    PublishedBound(
        name="chien_li_a_3",
        title="Chien & Li 2025, Corollary A.3",
        claim="chien_li/corollary_a_3",
        schemes=("shuffled",),
        assumptions=(Holder,),
        statement=stated.THEOREM_A_1,
        evaluate=corollary_a_3,
        reading=f"{_READING}; an upper bound of the mean over orders, by shifts that do not look at the order",
    ),
)
