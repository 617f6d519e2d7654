"""Published theorems by name, from ``theorems.toml``; papers are in the order of the ledger."""

import tomllib
from collections.abc import Mapping
from importlib import resources
from math import isfinite
from types import MappingProxyType
from typing import Any, Final

from lastiterate.numeric.errors import InputError, suggestion
from lastiterate.numeric.losses import assumptions
from lastiterate.numeric.published import altschuler_talwar, chien_li, closed_forms
from lastiterate.numeric.published.record import PublishedBound, Refusal, Setting, hypothesis, run_of
from lastiterate.numeric.run import NoisySGD
from lastiterate.symbolic.formulas import published as stated

_EVALUATED: Final = {
    "altschuler_talwar": altschuler_talwar,
    "chien_li": chien_li,
    "closed_forms": closed_forms,
}
_NEEDS: Final[Mapping[str, Refusal]] = {
    "bounded": hypothesis("a domain of finite diameter", lambda run, _losses: isfinite(run.diameter)),
    "unbounded": hypothesis("a run without projection", lambda run, _losses: not isfinite(run.diameter)),
    "short steps": hypothesis(
        "step_size <= 1/L", lambda run, losses: run.step_size_at(0) * getattr(losses, "L", 0.0) <= 1
    ),
    "whole epochs": hypothesis("whole epochs", lambda run, _losses: run.steps % run.batches == 0),
}
_ROWS: Final = tomllib.loads((resources.files(__package__) / "theorems.toml").read_text("utf-8"))


def _theorem(name: str, row: Mapping[str, Any]) -> PublishedBound:
    module, _, function = row.get("evaluate", "").partition(".")
    statement = getattr(stated, row["statement"])
    return PublishedBound(
        name,
        row["title"],
        row["claim"],
        tuple(row["schemes"]),
        tuple(getattr(assumptions, kind) for kind in row["assumptions"]),
        statement,
        getattr(_EVALUATED[module], function) if function else closed_forms.formula(statement),
        row["reading"],
        tuple(_NEEDS[need] for need in row.get("needs", ())),
        row.get("decays", False),
    )


_ALL: Final = {name: _theorem(name, row) for name, row in _ROWS.items()}
TRIVIAL: Final[Mapping[str, PublishedBound]] = {
    name: one for name, one in _ALL.items() if "trivial" in _ROWS[name]
}
"""Closed forms that `bound` also tries."""

THEOREMS: Final[Mapping[str, PublishedBound]] = MappingProxyType(
    {name: one for name, one in _ALL.items() if name not in TRIVIAL}
)
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
