"""The printed theorems by name: what each says of a run, and the claim of the ledger that decides it.

A `Theorem` is asked in three steps: whether the run is one it speaks of (`Theorem.refusal`), what it claims
(`Theorem.epsilon`), and of what kind the number is: "bound" where its claim holds, "refuted" and "gap" where it
does not. The verdicts themselves are in the lock file; a test compares them with the kinds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType
from typing import Final

from lastiterate.numeric.assumptions import Assumption, Convex, Holder, StronglyConvex
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.printed import altschuler_talwar, bok_su_altschuler, liang
from lastiterate.numeric.printed.chien_li_sampled import theorem_3_12
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.theorems import EVALUATORS, Setting

__all__ = ["THEOREMS", "Theorem", "named"]

Evaluator = Callable[[NoisySGD, Assumption, float], float]
Refusal = Callable[[NoisySGD, Assumption], str]


def _nothing(run: NoisySGD, assumption: Assumption) -> str:  # noqa: ARG001
    """What else a theorem needs of a run: nothing."""
    return ""


def _bounded(run: NoisySGD, assumption: Assumption) -> str:  # noqa: ARG001
    return "" if isfinite(run.diameter) else "a domain of finite diameter"


def _unbounded(run: NoisySGD, assumption: Assumption) -> str:  # noqa: ARG001
    return "a run without projection" if isfinite(run.diameter) else ""


def _short_step(run: NoisySGD, assumption: Assumption) -> str:
    L = getattr(assumption, "L", 0.0)
    return "" if run.step_size_at(0) * L <= 1 else "step_size <= 1/L"


def _whole_epochs(run: NoisySGD, assumption: Assumption) -> str:  # noqa: ARG001
    return "" if run.steps % run.batches == 0 else "whole epochs"


def _smooth_only(run: NoisySGD, assumption: Assumption) -> str:  # noqa: ARG001
    return "" if getattr(assumption, "lam", 1.0) == 1 else "smooth losses, a Hoelder order of 1"


@dataclass(frozen=True)
class Theorem:
    """A theorem of a paper.

    Attributes:
        name: by which it is asked for.
        title: as a reader knows it.
        claim: key of the ledger's claim that decides it.
        kind: "bound", "refuted" or "gap"; only a bound is a bound.
        schemes: values of `NoisySGD.sampling` it speaks of; none where its run is no `NoisySGD`.
        kinds: assumptions it speaks of.
        evaluate: run, assumption and order to the Renyi epsilon it claims, rounded up.
        reading: how the paper's quantities are read off the run, and which constants are used.
        needs: what else the run must have, in words; empty where it has.
        schedules: whether it speaks of step sizes and noise that vary, and only of them.
    """

    name: str
    title: str
    claim: str
    kind: str
    schemes: tuple[str, ...]
    kinds: tuple[type[Assumption], ...]
    evaluate: Evaluator
    reading: str
    needs: Refusal = _nothing
    schedules: bool = False

    @property
    def usable(self) -> bool:
        """Whether the number is a bound."""
        return self.kind == "bound"

    def refusal(self, run: NoisySGD, assumption: Assumption) -> str:
        """Why the theorem says nothing of this run: what it needs. Empty where it does say something."""
        if run.sampling not in self.schemes:
            return f"batches that are {' or '.join(self.schemes)}" if self.schemes else "an algorithm of its own"
        if not isinstance(assumption, self.kinds):
            return f"losses that are {' or '.join(kind.__name__ for kind in self.kinds)}"
        if run.constant == self.schedules:
            return "step sizes that vary" if self.schedules else "one step size and one noise for all steps"
        return self.needs(run, assumption)

    def epsilon(self, run: NoisySGD, assumption: Assumption, order: float) -> float:
        """What the theorem claims, rounded up; inf where it claims nothing.

        Raises:
            InputError: the theorem does not speak of this run.
        """
        missing = self.refusal(run, assumption)
        if missing:
            raise InputError(
                f"{self.title} needs {missing}, got sampling={run.sampling!r}, "
                f"assumption={type(assumption).__name__}; see lastiterate.numeric.printed."
            )
        return self.evaluate(run, assumption, order)


def _by_setting(name: str) -> Evaluator:
    def evaluate(run: NoisySGD, assumption: Assumption, order: float) -> float:
        return EVALUATORS[name](_setting(run, assumption, order))

    return evaluate


def _setting(run: NoisySGD, assumption: Assumption, order: float) -> Setting:
    return {
        "T": run.steps,
        "n": run.dataset_size,
        "eta": run.step_size_at(0),
        "sigma": run.noise_std_at(0),
        "K": run.clip_norm,
        "D": run.diameter,
        "L": getattr(assumption, "L", 0.0),
        "lam": getattr(assumption, "lam", 1.0),
        "m": getattr(assumption, "m", 0.0),
        "alpha": order,
    }


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
        evaluate=_by_setting("output_perturbation"),
        reading=_CHIEN_LI,
        needs=_bounded,
    ),
    Theorem(
        name="altschuler_talwar_b1",
        title="Altschuler & Talwar 2022, (B.1)",
        claim="chien_li/remarks_3_1/below_altschuler_talwar",
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
        needs=_bounded,
    ),
    *(
        Theorem(
            name=f"chien_li_3_1_{name}",
            title=f"Chien & Li 2025, Theorem 3.1, {name.replace('_', ' ')}",
            claim=f"chien_li/theorem_3_1/{name}",
            kind="bound",
            schemes=("full",),
            kinds=(kind,),
            evaluate=_by_setting(f"chien_li_3_1_{name}"),
            reading=_CHIEN_LI,
            needs=needs,
        )
        for name, kind, needs in (
            ("smooth", Holder, _smooth_only),
            ("convex", Convex, _nothing),
            ("strongly_convex", StronglyConvex, _short_step),
        )
    ),
    Theorem(
        name="chien_li_3_7",
        title="Chien & Li 2025, Theorem 3.7",
        claim="chien_li/theorem_3_7",
        kind="bound",
        schemes=("full",),
        kinds=(Holder,),
        evaluate=_by_setting("chien_li_3_7"),
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
        name="liang_3_3",
        title="Liang et al. 2026, Theorem 3.3",
        claim="liang/theorem_3_3",
        kind="refuted",
        schemes=_ANY_BATCH,
        kinds=(Holder,),
        evaluate=lambda run, _assumption, order: liang.theorem_3_3(run, order),
        reading=_LIANG,
        needs=lambda run, assumption: _unbounded(run, assumption) or _smooth_only(run, assumption),
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
        needs=lambda run, assumption: _unbounded(run, assumption) or _smooth_only(run, assumption),
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
        needs=lambda run, assumption: _bounded(run, assumption) or _smooth_only(run, assumption),
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
        needs=lambda run, assumption: _bounded(run, assumption) or _smooth_only(run, assumption),
    ),
    Theorem(
        name="d2p2_1",
        title="D2P2-SGD, Theorem 1",
        claim="d2p2/theorem_1",
        kind="refuted",
        schemes=(),
        kinds=(),
        evaluate=lambda _run, _assumption, _order: float("nan"),
        reading="the run projects gradients at random; see lastiterate.numeric.printed.d2p2.theorem_1",
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
        needs=_whole_epochs,
    ),
)

THEOREMS: Final[Mapping[str, Theorem]] = MappingProxyType({theorem.name: theorem for theorem in _ALL})
"""Name -> theorem, papers in the order of the ledger, what came after the seeds last."""


def named(name: str) -> Theorem:
    """The theorem of this name.

    Raises:
        InputError: there is none.
    """
    if name not in THEOREMS:
        raise InputError(f"theorem needs one of {', '.join(THEOREMS)}, got theorem={name!r}; choose one of them.")
    return THEOREMS[name]
