"""The public names by subject, in the order in which a user needs them."""

from dataclasses import dataclass

import lastiterate

__all__ = ["SUBJECTS", "Subject"]


@dataclass(frozen=True)
class Subject:
    """A page of the reference.

    Attributes:
        path: name of its file.
        title: its heading.
        opening: what the names are for, in Markdown.
        names: public names of the package.
        elsewhere: public path -> module that defines it, for names that are not imported from `lastiterate`.
    """

    path: str
    title: str
    opening: str
    names: str
    elsewhere: tuple[tuple[str, str], ...] = ()

    def page(self) -> str:
        """The page, which mkdocstrings completes."""
        places = [(f"li.{name}", f"{lastiterate._HOME[name]}.{name}") for name in self.names.split()]
        parts = [f"# {self.title}\n\n{self.opening}\n"]
        for public, home in (*places, *self.elsewhere):
            parts.append(f"::: {home}\n    options:\n      heading: {public}\n      toc_label: {public}\n")
        return "\n".join(parts)


SUBJECTS = (
    Subject(
        "runs",
        "Runs",
        "The training run, step by step.",
        "NoisySGD InputError",
    ),
    Subject(
        "assumptions",
        "Assumptions on the losses",
        "What a bound may assume in addition to clipping. [Which theorem uses what](../trust.md).",
        "Assumption Clipped Smooth Holder Convex ClippedConvex StronglyConvex Blocks Sum Minimum Tabulated Measured",
    ),
    Subject(
        "bounds",
        "Bounds",
        "Rigorous upper bounds, rounded up, and estimates, which say what they are conditional on.",
        "bound Bound by_position ByPosition participation Participation theorem estimate Estimate ShiftProgram",
    ),
    Subject(
        "choices",
        "Plan a run",
        "Compare, calibrate and sweep plans, and bound what remains of a deleted sample.",
        "compare Comparison calibrate Calibrated sweep forgetting steps_to_forget Forgetting",
    ),
    Subject(
        "lower",
        "Lower bounds and attacks",
        "Numbers below which no bound can be, certified by solvable runs or at a stated confidence by an attack.",
        "lower_bound LowerBound Witness replay attack worst_case coupled_runs measure_drift",
    ),
    Subject(
        "constants",
        "Constants of networks",
        "Certified and measured constants, and pairs that refute a constant. [Measure and attack](../measure.md).",
        "Workload load_workload estimate_holder certified_constants constants_of_network "
        "assumption_of ClippedRows refute Refutation look Portrait HessianOperator",
    ),
    Subject(
        "training",
        "Training",
        "Optimisers that account for every step, and the names in `lastiterate.opacus`. "
        "[Train with privacy](../train.md).",
        "ProjectedNoisySGD",
        tuple(
            (f"lastiterate.opacus.{path.rpartition('.')[2]}", f"lastiterate.runtime.opacus.{path}")
            for path in ("accountant.LastIterateAccountant", "projection.project", "projection.Projection")
        ),
    ),
)
