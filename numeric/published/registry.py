"""The printed theorems by name: what each says of a run, and the claim of the ledger that decides it.

A `Theorem` is asked in three steps: whether the run is one it speaks of (`Theorem.refusal`), what it claims
(`Theorem.epsilon`), and of what kind the number is: "bound" where its claim holds, "refuted" and "gap" where it
does not. The verdicts themselves are in the lock file; a test compares them with the kinds.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lastiterate.numeric.errors import InputError, suggestion
from lastiterate.numeric.losses.assumptions import Assumption, Convex, Holder, StronglyConvex
from lastiterate.numeric.published import altschuler_talwar, bok_su_altschuler, liang
from lastiterate.numeric.published.chien_li_batches import corollary_a_3, theorem_a_1
from lastiterate.numeric.published.chien_li_sampled import theorem_3_12
from lastiterate.numeric.published.record import (
    Theorem,
    bounded,
    by_setting,
    nothing,
    one_gradient_noise,
    short_step,
    smooth_only,
    unbounded,
    whole_epochs,
)

__all__ = ["THEOREMS", "named"]


def _curvatures(assumption: Assumption) -> tuple[float, float]:
    return getattr(assumption, "m", 0.0), getattr(assumption, "L", 0.0)


def _smoothness(assumption: Assumption) -> float:
    return float(getattr(assumption, "L", 0.0))


_TALWAR = "sigma = noise_std / step_size, L = clip_norm, D a diameter"
_CHIEN_LI = "the paper's conventions are those of this package: noise on the iterate, D a diameter"
_LIANG = "sigma_DP = noise_std / step_size, C = clip_norm, D read as the diameter; constants of the paper's own proof"
_ANY_BATCH = ("full", "without_replacement", "poisson")

_ALL: Final[tuple[Theorem, ...]] = (
    Theorem(
        name="output_perturbation",
        title="output perturbation, as printed",
        claim="chien_li/remarks_3_1/output_perturbation",
        kind="refuted",
        schemes=("full",),
        kinds=(Assumption,),
        evaluate=by_setting("output_perturbation"),
        reading=_CHIEN_LI,
        needs=bounded,
    ),
    Theorem(
        name="altschuler_talwar_b1",
        title="Altschuler & Talwar 2022, (B.1)",
        claim="altschuler_talwar/appendix_b_1/bound",
        kind="bound",
        schemes=("full",),
        kinds=(Convex, StronglyConvex),
        evaluate=lambda run, _assumption, order: altschuler_talwar.equation_b_1(run, order),
        reading=_TALWAR,
    ),
    Theorem(
        name="altschuler_talwar_3_7",
        title="Altschuler & Talwar 2022, (3.7)",
        claim="altschuler_talwar/proof_3_1/bound",
        kind="refuted",
        schemes=("without_replacement",),
        kinds=(Convex, StronglyConvex),
        evaluate=lambda run, _assumption, order: altschuler_talwar.equation_3_7(run, order),
        reading=f"{_TALWAR}; sigma_1 = sigma_2",
        needs=bounded,
    ),
    Theorem(
        name="altschuler_talwar_5_3",
        title="Altschuler & Talwar 2022, (5.3)",
        claim="altschuler_talwar/section_5_1/bound",
        kind="refuted",
        schemes=("without_replacement",),
        kinds=(StronglyConvex,),
        evaluate=lambda run, assumption, order: altschuler_talwar.equation_5_3(run, order, _curvatures(assumption)),
        reading=f"{_TALWAR}; sigma_1 = sigma_2, c of the step that is taken",
        needs=bounded,
    ),
    Theorem(
        name="altschuler_talwar_5_7",
        title="Altschuler & Talwar 2022, (5.7)",
        claim="altschuler_talwar/section_5_3/bound",
        kind="refuted",
        schemes=("without_replacement",),
        kinds=(Convex, StronglyConvex),
        evaluate=lambda run, _assumption, order: altschuler_talwar.equation_5_7(run, order),
        reading=f"{_TALWAR}; sigma_1 = sigma_2",
        needs=lambda run, assumption: bounded(run, assumption) or one_gradient_noise(run, assumption),
        schedules=True,
    ),
    Theorem(
        name="altschuler_talwar_5_6",
        title="Altschuler & Talwar 2022, Theorem 5.6",
        claim="altschuler_talwar/section_5_2/theorem_5_6",
        kind="bound",
        schemes=("cyclic",),
        kinds=(Convex, StronglyConvex),
        evaluate=lambda run, _assumption, order: altschuler_talwar.theorem_5_6(run, order),
        reading=f"{_TALWAR}; with the constants of its proof, at the worst position of the sample",
    ),
    Theorem(
        name="altschuler_talwar_b2",
        title="Altschuler & Talwar 2022, (B.2)",
        claim="altschuler_talwar/appendix_b_2/bound",
        kind="refuted",
        schemes=("without_replacement",),
        kinds=(Convex, StronglyConvex),
        evaluate=lambda run, _assumption, order: altschuler_talwar.equation_b_2(run, order),
        reading=f"{_TALWAR}; at the best split of the noise",
    ),
    Theorem(
        name="altschuler_talwar_b3",
        title="Altschuler & Talwar 2022, (B.3)",
        claim="altschuler_talwar/appendix_b_3/bound",
        kind="refuted",
        schemes=("without_replacement",),
        kinds=(StronglyConvex,),
        evaluate=lambda run, assumption, order: altschuler_talwar.equation_b_3(run, order, _curvatures(assumption)),
        reading=f"{_TALWAR}; at the best split of the noise, c of the step that is taken",
    ),
    Theorem(
        name="altschuler_talwar_b3_full",
        title="Altschuler & Talwar 2022, (B.3), full batches",
        claim="chien_li/remarks_3_1/strict_with_window",
        kind="bound",
        schemes=("full",),
        kinds=(StronglyConvex,),
        evaluate=lambda run, assumption, order: altschuler_talwar.equation_b_3(run, order, _curvatures(assumption)),
        reading=f"{_TALWAR}; at b = n the sampled Gaussian has one direction; c of the step that is taken",
    ),
    *(
        Theorem(
            name=f"chien_li_3_1_{name}",
            title=f"Chien & Li 2025, Theorem 3.1, {name.replace('_', ' ')}",
            claim=f"chien_li/theorem_3_1/{name}",
            kind="bound",
            schemes=("full",),
            kinds=(kind,),
            evaluate=by_setting(f"chien_li_3_1_{name}"),
            reading=_CHIEN_LI,
            needs=needs,
        )
        for name, kind, needs in (
            ("smooth", Holder, smooth_only),
            ("convex", Convex, nothing),
            ("strongly_convex", StronglyConvex, short_step),
        )
    ),
    Theorem(
        name="chien_li_3_7",
        title="Chien & Li 2025, Theorem 3.7",
        claim="chien_li/theorem_3_7",
        kind="bound",
        schemes=("full",),
        kinds=(Holder,),
        evaluate=by_setting("chien_li_3_7"),
        reading=_CHIEN_LI,
    ),
    Theorem(
        name="chien_li_3_12",
        title="Chien & Li 2025, Theorem 3.12",
        claim="chien_li/theorem_3_12",
        kind="refuted",
        schemes=("without_replacement",),
        kinds=(Holder,),
        evaluate=lambda run, assumption, order: theorem_3_12(
            run, order, _smoothness(assumption), getattr(assumption, "lam", 1.0)
        ),
        reading=f"{_CHIEN_LI}; beta_t in (19) read as sqrt(beta_t)",
    ),
    Theorem(
        name="chien_li_a_1",
        title="Chien & Li 2025, Theorem A.1",
        claim="chien_li/theorem_a_1",
        kind="bound",
        schemes=("cyclic",),
        kinds=(Holder,),
        evaluate=lambda run, assumption, order: theorem_a_1(run, assumption, order, (run.steps - 1) % run.batches),
        reading=f"{_CHIEN_LI}; the sample in the batch of the last step, where it costs most",
    ),
    Theorem(
        name="chien_li_a_3",
        title="Chien & Li 2025, Corollary A.3",
        claim="chien_li/corollary_a_3",
        kind="bound",
        schemes=("shuffled",),
        kinds=(Holder,),
        evaluate=corollary_a_3,
        reading=f"{_CHIEN_LI}; an upper bound of the mean over orders, by shifts that do not look at the order",
    ),
    Theorem(
        name="liang_3_3",
        title="Liang et al. 2026, Theorem 3.3",
        claim="liang/theorem_3_3",
        kind="refuted",
        schemes=_ANY_BATCH,
        kinds=(Holder,),
        evaluate=lambda run, _assumption, order: liang.theorem_3_3(run, order),
        reading=_LIANG,
        needs=lambda run, assumption: unbounded(run, assumption) or smooth_only(run, assumption),
    ),
    Theorem(
        name="liang_3_3_earlier",
        title="Liang et al., earlier version, Theorem 3.3",
        claim="liang/theorem_3_3/earlier",
        kind="refuted",
        schemes=_ANY_BATCH,
        kinds=(Holder,),
        evaluate=lambda run, _assumption, order: liang.theorem_3_3_earlier(run, order),
        reading=f"{_LIANG}; its constant beta is taken up to 1",
        needs=lambda run, assumption: unbounded(run, assumption) or smooth_only(run, assumption),
    ),
    Theorem(
        name="liang_3_4",
        title="Liang et al. 2026, Theorem 3.4",
        claim="liang/theorem_3_4",
        kind="refuted",
        schemes=_ANY_BATCH,
        kinds=(Holder,),
        evaluate=lambda run, assumption, order: liang.theorem_3_4(run, order, _smoothness(assumption)),
        reading=_LIANG,
        needs=lambda run, assumption: bounded(run, assumption) or smooth_only(run, assumption),
    ),
    Theorem(
        name="liang_3_4_earlier",
        title="Liang et al., earlier version, Theorem 3.4",
        claim="liang/theorem_3_4/earlier",
        kind="refuted",
        schemes=_ANY_BATCH,
        kinds=(Holder,),
        evaluate=lambda run, assumption, order: liang.theorem_3_4_earlier(run, order, _smoothness(assumption)),
        reading=f"{_LIANG}; at its best constant beta",
        needs=lambda run, assumption: bounded(run, assumption) or smooth_only(run, assumption),
    ),
    Theorem(
        name="d2p2_1",
        title="D2P2-SGD, Theorem 1",
        claim="d2p2/theorem_1",
        kind="refuted",
        schemes=(),
        kinds=(),
        evaluate=lambda _run, _assumption, _order: float("nan"),
        reading="the run projects gradients at random; see lastiterate.numeric.published.d2p2.theorem_1",
    ),
    Theorem(
        name="bok_su_altschuler",
        title="Bok, Su & Altschuler 2024, strongly convex",
        claim="chien_li/theorem_3_1/direct/strongly_convex",
        kind="bound",
        schemes=("full",),
        kinds=(StronglyConvex,),
        evaluate=lambda run, assumption, order: bok_su_altschuler.noisy_gd(run, order, _curvatures(assumption)),
        reading="L_sens = 2 clip_norm, sigma = noise_std / step_size; the projection is not used",
    ),
    Theorem(
        name="bok_su_altschuler_cyclic",
        title="Bok, Su & Altschuler 2024, NoisyCGD",
        claim="ours/cyclic/strongly_convex",
        kind="bound",
        schemes=("cyclic",),
        kinds=(StronglyConvex,),
        evaluate=lambda run, assumption, order: bok_su_altschuler.noisy_cgd(run, order, _curvatures(assumption)),
        reading="as for full batches; the worst position of the sample",
        needs=whole_epochs,
    ),
)

THEOREMS: Final[Mapping[str, Theorem]] = MappingProxyType({theorem.name: theorem for theorem in _ALL})
"""Name -> theorem, papers in the order of the ledger, works beyond it last."""


def named(name: str) -> Theorem:
    """The theorem of this name.

    Raises:
        InputError: there is none.
    """
    if not isinstance(name, str) or name not in THEOREMS:
        raise InputError(
            f"theorem needs one of {', '.join(THEOREMS)}, got theorem={name!r}; {suggestion(name, THEOREMS)}"
        )
    return THEOREMS[name]
