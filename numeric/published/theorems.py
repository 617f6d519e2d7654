"""Published theorems by name; papers are in the order of the ledger."""

# Sympy has no stubs; pyright infers wider types from its source than it documents.
# pyright: reportArgumentType=false

from collections.abc import Mapping
from functools import partial
from math import isfinite, nan
from types import MappingProxyType
from typing import Final

from sympy import Min

from lastiterate.numeric.errors import InputError, suggestion
from lastiterate.numeric.losses.assumptions import Assumption, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.published import altschuler_talwar as at
from lastiterate.numeric.published import chien_li, closed_forms
from lastiterate.numeric.published.closed_forms import formula
from lastiterate.numeric.published.record import PublishedBound, Setting, hypothesis, run_of
from lastiterate.numeric.run import NoisySGD
from lastiterate.symbolic.formulas import published as stated
from lastiterate.symbolic.notation import T, beta

_FULL, _CYCLIC, _DRAWN = ("full",), ("cyclic",), ("without_replacement",)
_CONVEX, _STRONG, _ANY = (Convex, StronglyConvex), (StronglyConvex,), (Assumption,)

_OWN = "the paper's conventions are those of this package: noise on the iterate, D a diameter"
_ALTSCHULER = "sigma = noise_std / step_size, L = clip_norm, D a diameter"
_LIANG = "sigma_DP = noise_std / step_size, C = clip_norm, D read as the diameter; constants of the paper's own proof"
_C_TAKEN = "c of the step that is taken"
_SPLIT = "at the best split of the noise"


_BOUNDED = hypothesis("a domain of finite diameter", lambda run, _losses: isfinite(run.diameter))
_UNBOUNDED = hypothesis("a run without projection", lambda run, _losses: not isfinite(run.diameter))
_SHORT_STEP = hypothesis(
    "step_size <= 1/L", lambda run, losses: run.step_size_at(0) * getattr(losses, "L", 0.0) <= 1
)
_WHOLE_EPOCHS = hypothesis("whole epochs", lambda run, _losses: run.steps % run.batches == 0)
_full = partial(PublishedBound, schemes=_FULL, assumptions=_ANY, reading=_OWN)
_liang = partial(
    PublishedBound, schemes=("full", "without_replacement", "poisson"), assumptions=(Smooth,), reading=_LIANG
)

TRIVIAL: Final[Mapping[str, PublishedBound]] = {
    "composition": _full(
        "composition", "composition of all steps", "chien_li/theorem_3_1/composition",
        statement=stated.COMPOSITION, evaluate=formula(stated.COMPOSITION), decays=True,
    ),
    "last_step": _full(
        "last_step", "one last step from the domain", "chien_li/remarks_3_1/last_step",
        statement=stated.LAST_STEP, evaluate=closed_forms.one_last_step,
    ),
}  # fmt: skip
"""Closed forms that `bound` also tries."""

_ROWS: Final = (
    _full(
        "output_perturbation", "output perturbation, as printed", "chien_li/remarks_3_1/output_perturbation",
        statement=stated.OUTPUT_PERTURBATION, evaluate=formula(stated.OUTPUT_PERTURBATION), needs=(_BOUNDED,),
    ),
    PublishedBound(
        "altschuler_talwar_b1", "Altschuler & Talwar 2022, (B.1)", "altschuler_talwar/appendix_b_1/bound",
        _FULL, _CONVEX, stated.EQUATION_B_1, at.equation_b_1, _ALTSCHULER,
    ),
    PublishedBound(
        "altschuler_talwar_3_7", "Altschuler & Talwar 2022, (3.7)", "altschuler_talwar/proof_3_1/bound",
        _DRAWN, _CONVEX, stated.EQUATION_3_7, at.equation_3_7, f"{_ALTSCHULER}; sigma_1 = sigma_2", (_BOUNDED,),
    ),
    PublishedBound(
        "altschuler_talwar_5_6", "Altschuler & Talwar 2022, Theorem 5.6", "altschuler_talwar/section_5_2/theorem_5_6",
        _CYCLIC, _CONVEX, stated.EQUATION_5_6_LONG, at.theorem_5_6,
        f"{_ALTSCHULER}; with the constants of its proof, at the worst position of the sample",
    ),
    PublishedBound(
        "altschuler_talwar_b2", "Altschuler & Talwar 2022, (B.2)", "altschuler_talwar/appendix_b_2/bound",
        _DRAWN, _CONVEX, stated.EQUATION_3_7, at.equation_b_2, f"{_ALTSCHULER}; {_SPLIT}",
    ),
    PublishedBound(
        "altschuler_talwar_b3", "Altschuler & Talwar 2022, (B.3)", "altschuler_talwar/appendix_b_3/bound",
        _DRAWN, _STRONG, stated.EQUATION_B_3, at.equation_b_3, f"{_ALTSCHULER}; {_SPLIT}, {_C_TAKEN}",
    ),
    PublishedBound(
        "altschuler_talwar_b3_full", "Altschuler & Talwar 2022, (B.3), full batches",
        "chien_li/remarks_3_1/strict_with_window", _FULL, _STRONG, stated.EQUATION_B_3, at.equation_b_3,
        f"{_ALTSCHULER}; at b = n the sampled Gaussian has one direction; {_C_TAKEN}",
    ),
    PublishedBound(
        "chien_li_3_1_smooth", "Chien & Li 2025, Theorem 3.1, smooth", "chien_li/theorem_3_1/smooth",
        _FULL, (Smooth,), stated.EQUATION_3, chien_li.of_full_batches, _OWN,
    ),
    PublishedBound(
        "chien_li_3_1_convex", "Chien & Li 2025, Theorem 3.1, convex", "chien_li/theorem_3_1/convex",
        _FULL, (Convex,), stated.EQUATION_3, chien_li.of_full_batches, _OWN,
    ),
    PublishedBound(
        "chien_li_3_1_strongly_convex", "Chien & Li 2025, Theorem 3.1, strongly convex",
        "chien_li/theorem_3_1/strongly_convex", _FULL, _STRONG, stated.EQUATION_3,
        chien_li.of_full_batches, _OWN, (_SHORT_STEP,),
    ),
    PublishedBound(
        "chien_li_3_7", "Chien & Li 2025, Theorem 3.7", "chien_li/theorem_3_7",
        _FULL, (Holder,), stated.EQUATION_13, chien_li.of_hoelder_losses, _OWN,
    ),
    PublishedBound(
        "chien_li_3_12", "Chien & Li 2025, Theorem 3.12", "chien_li/theorem_3_12",
        _DRAWN, (Holder,), stated.EQUATION_19, chien_li.theorem_3_12, f"{_OWN}; beta_t in (19) read as sqrt(beta_t)",
    ),
    _liang(
        "liang_3_3", "Liang et al. 2026, Theorem 3.3", "liang/theorem_3_3",
        statement=T * stated.LIANG_STEP, evaluate=closed_forms.liang_3_3, needs=(_UNBOUNDED,),
    ),
    _liang(
        "liang_3_3_earlier", "Liang et al., earlier version, Theorem 3.3", "liang/theorem_3_3/earlier",
        statement=T * stated.LIANG_STEP, evaluate=closed_forms.liang_3_3, needs=(_UNBOUNDED,),
        reading=f"{_LIANG}; its constant beta may be as large as 1",
    ),
    _liang(
        "liang_3_4", "Liang et al. 2026, Theorem 3.4", "liang/theorem_3_4", needs=(_BOUNDED,),
        statement=Min(T * stated.LIANG_STEP, stated.LIANG_DOMAIN), evaluate=closed_forms.liang_3_4,
    ),
    _liang(
        "liang_3_4_earlier", "Liang et al., earlier version, Theorem 3.4", "liang/theorem_3_4/earlier",
        statement=stated.LIANG_STEP / beta + stated.LIANG_DOMAIN / (1 - beta), needs=(_BOUNDED,),
        evaluate=closed_forms.liang_3_4_earlier, reading=f"{_LIANG}; at its best constant beta",
    ),
    PublishedBound(
        "d2p2_1", "D2P2-SGD, Theorem 1", "d2p2/theorem_1", (), (), stated.D2P2_1, lambda _run, _losses, _order: nan,
        "the run projects gradients at random; docs/proofs/random_projection.md proves a bound that holds",
    ),
    PublishedBound(
        "bok_su_altschuler", "Bok, Su & Altschuler 2024, strongly convex",
        "chien_li/theorem_3_1/direct/strongly_convex", _FULL, _STRONG, stated.NOISY_GD, closed_forms.noisy_gd,
        "L_sens = 2 clip_norm, sigma = noise_std / step_size; the projection is not used",
    ),
    PublishedBound(
        "bok_su_altschuler_cyclic", "Bok, Su & Altschuler 2024, NoisyCGD", "ours/cyclic/strongly_convex",
        _CYCLIC, _STRONG, stated.NOISY_CGD, closed_forms.noisy_cgd,
        "as for full batches; the worst position of the sample", (_WHOLE_EPOCHS,),
    ),
)  # fmt: skip

THEOREMS: Final[Mapping[str, PublishedBound]] = MappingProxyType({theorem.name: theorem for theorem in _ROWS})
"""Theorems by name."""

SETTING: Final[Setting] = {
    "n": 5, "eta": 0.1, "sigma": 1.0, "K": 2.0, "D": 1.0, "L": 1.0, "m": 1.0, "lam": 1.0, "alpha": 2.0,
}  # fmt: skip
"""Setting of Figure 1 of Chien & Li 2025 (appendix A.13), to which measured constants are transferred.

The letters are as in the paper, which does not state its Rényi order; 2 is our choice.
"""


def run_at(T: int) -> NoisySGD:
    """The run of `SETTING` with this many steps."""
    return run_of({**SETTING, "T": T})


def theorem_named(name: str) -> PublishedBound:
    """Return the theorem of this name, or raise an `InputError`."""
    if not isinstance(name, str) or name not in THEOREMS:
        raise InputError(
            f"theorem needs one of {', '.join(THEOREMS)}, got theorem={name!r}; {suggestion(name, THEOREMS)}"
        )
    return THEOREMS[name]
