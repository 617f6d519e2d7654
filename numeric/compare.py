"""Every theorem that applies to a run, side by side."""

from dataclasses import dataclass
from math import isfinite

from lastiterate.numeric.assumptions import Assumption, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.balls import precision, upper
from lastiterate.numeric.bound import bound, gaussian_bound, rdp_epsilon
from lastiterate.numeric.program import ShiftProgram
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.sampled import sampled_routes
from lastiterate.numeric.theorems import EVALUATORS, Setting

__all__ = ["Row", "compare"]


@dataclass(frozen=True)
class Row:
    """One theorem's number for a run.

    Attributes:
        name: the evaluator in `lastiterate.numeric.theorems`, or "composition", "last_step", "bound".
        title: the theorem, as a reader knows it.
        claim: its key in the ledger, where its verdict stands.
        epsilon: what it claims as Renyi epsilon at the order asked for; inf where it says nothing.
        usable: whether it is proved here, so that the number is a bound.
    """

    name: str
    title: str
    claim: str
    epsilon: float
    usable: bool


def compare(run: NoisySGD, assumption: Assumption, *, order: float) -> tuple[Row, ...]:
    """Composition, one last step, the papers' theorems that apply, and ours, at one order.

    Args:
        run: the run; the papers' theorems are shown for full batches with constant step size and noise.
        assumption: what is assumed of the losses.
        order: alpha > 1.

    Returns:
        Rows; ours is last. The epsilon of a row that is not ``usable`` is a claim of a paper, not a bound.

    Raises:
        InputError: as `lastiterate.numeric.bound.bound`.

    >>> run = NoisySGD(steps=2000, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5, diameter=1)
    >>> [(row.name, round(row.epsilon, 4)) for row in compare(run, Smooth(1), order=2)][-2:]
    [('chien_li_3_7', 0.5463), ('bound', 0.4992)]
    """
    if run.sampling == "without_replacement":
        return _random(run, assumption, order)
    ours = gaussian_bound(run, assumption, order=order)
    program = ShiftProgram(run, assumption, ours.position)
    with precision():
        trivial = {"composition": upper(program.composition()), "last_step": upper(program.last_step())}
    rows = [
        Row(name, title, claim, rdp_epsilon(trivial[name], order), usable=True)
        for name, title, claim in _TRIVIAL
        if isfinite(trivial[name])
    ]
    if program.constant:
        setting = _setting(run, assumption, order)
        rows += [
            Row(name, title, claim, EVALUATORS[name](setting), usable)
            for name, title, claim, usable in _PRINTED
            if _applies(name, assumption, setting)
        ]
    return (*rows, Row("bound", f"ours, by {ours.route}", ours.theorem, ours.epsilon, usable=True))


def _random(run: NoisySGD, assumption: Assumption, order: float) -> tuple[Row, ...]:
    """The routes of the repaired theorem for random batches; the papers' own use the smaller direction."""
    ours = bound(run, assumption, order=order)
    rows = [
        Row(one.route, one.route, "ours/sampled/step", one.epsilon, usable=True)
        for one in sampled_routes(run, assumption, order)
    ]
    return (*rows, Row("bound", f"ours, by {ours.route}", ours.theorem, ours.epsilon, usable=True))


_TRIVIAL = (
    ("composition", "composition of all steps", "chien_li/theorem_3_1/composition"),
    ("last_step", "one last step from the domain", "chien_li/remarks_3_1/last_step"),
)

_PRINTED = (
    ("output_perturbation", "output perturbation, as printed", "chien_li/remarks_3_1/output_perturbation", False),
    ("altschuler_talwar_b1", "Altschuler & Talwar 2022, (B.1)", "chien_li/remarks_3_1/below_altschuler_talwar", True),
    ("chien_li_3_1_smooth", "Chien & Li 2025, Theorem 3.1, smooth", "chien_li/theorem_3_1/smooth", True),
    ("chien_li_3_1_convex", "Chien & Li 2025, Theorem 3.1, convex", "chien_li/theorem_3_1/convex", True),
    (
        "chien_li_3_1_strongly_convex",
        "Chien & Li 2025, Theorem 3.1, strongly convex",
        "chien_li/theorem_3_1/strongly_convex",
        True,
    ),
    ("chien_li_3_7", "Chien & Li 2025, Theorem 3.7", "chien_li/theorem_3_7", True),
)


def _applies(name: str, assumption: Assumption, setting: Setting) -> bool:
    if name == "output_perturbation":
        return isfinite(setting["D"])
    kinds: dict[str, tuple[type, ...]] = {
        "altschuler_talwar_b1": (Convex, StronglyConvex),
        "chien_li_3_1_smooth": (Smooth,),
        "chien_li_3_1_convex": (Convex,),
        "chien_li_3_1_strongly_convex": (StronglyConvex,),
        "chien_li_3_7": (Holder,),
    }
    if name == "chien_li_3_1_strongly_convex" and setting["eta"] * setting["L"] > 1:
        return False  # the theorem asks for eta <= 1/L
    return isinstance(assumption, kinds[name])


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
