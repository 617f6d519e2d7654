"""Records that commands print under --json, of which ``lastiterate schema`` makes the schemas."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NotRequired, TypeAlias, cast, get_type_hints

from typing_extensions import TypedDict

from lastiterate.numeric.bound import Bound
from lastiterate.numeric.compare import Row
from lastiterate.numeric.display import Displayed
from lastiterate.numeric.forgetting import Forgetting
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.numeric.lower.audit import Audit
from lastiterate.numeric.lower.one_run import OneRun
from lastiterate.numeric.participation import ByPosition, Participation
from lastiterate.proofs_checks.stated import Stated
from lastiterate.proofs_checks.verdict import ClaimReport, Verdict
from lastiterate.runtime.constants.record import AlongTraining, HolderEstimate, WorkloadConstants
from lastiterate.runtime.pair_table import Subset


class _Files(TypedDict):
    files: list[str]


class _Listed(TypedDict):
    key: str
    title: str
    paper: str
    verdict: Verdict | None


@dataclass(frozen=True)
class _Claim(ClaimReport):
    rejected: int = 0


class _Check(TypedDict):
    claims: list[_Claim]
    drifts: list[str]
    summary: str


def _plain(result: type[Displayed], **more: Any) -> Any:
    """The type of what `Displayed.as_dict` gives of a result: its fields and properties by their annotations."""
    make, literal = cast("Any", TypedDict), cast("Any", Literal)  # of names that are known when it runs
    found = {"kind": literal[result._kind]} | get_type_hints(result)
    found |= {
        name: get_type_hints(one.fget)["return"]
        for base in reversed(result.__mro__)
        for name, one in vars(base).items()
        if isinstance(one, property) and "return" in one.fget.__annotations__
    }
    named = {name: found[name] for name in ("kind", *result._named.split())}
    return make(f"_{result.__name__}", named | more)


_NUMBER = {"kind": Literal["bound", "estimate"], "epsilon": float | None, "window": list[int]}
if TYPE_CHECKING:
    _Bound: TypeAlias = dict[str, Any]
    _Carried: TypeAlias = dict[str, Any]
    _Under: TypeAlias = dict[str, Any]
else:
    _Bound = _plain(Bound, **_NUMBER, conditional_on=NotRequired[str], certified=NotRequired[float])
    _Carried = TypedDict("_Carried", {"lambda": float, **_Bound.__annotations__})
    _REFUTED = list[Literal["epsilon", "mu", "profile"]]
    _Under = _plain(Bound, **_NUMBER, conditional_on=NotRequired[str], under=str, exceeded=bool, refuted=_REFUTED)
_VARIED = {"noise_std": float, "steps": int, "any_steps": bool, "diameter": float, "batch_size": int}
_Calibrated = _plain(Bound, **_NUMBER, **{name: NotRequired[kind] for name, kind in _VARIED.items()})


@dataclass(frozen=True)
class _Compared(Row):
    verdict: str | None


class _Sweep(TypedDict):
    out: str
    rows: int
    refused: int
    picture: str | None


class _Search(TypedDict):
    workload: str
    run: dict[str, Any]
    kind: str
    inputs: str | None
    effort: int
    inits: int
    found: list[float]
    upper: list[float | None]
    why: str
    searched: list[dict[str, Any]]
    curvature: float | None
    certified: LossConstants | None
    bounded: _Bound | None
    device: str
    memory: int
    remark: str
    subset: Subset | None


class _Measured(TypedDict):
    measurement: HolderEstimate
    carried: list[_Carried]
    layers_together: NotRequired[_Bound]
    untrusted: NotRequired[str]


class _Searched(TypedDict):
    search: _Search
    carried: list[_Carried]


_Recomputed = TypedDict(
    "_Recomputed", {"lambda": float, "said": float, "recomputed": float, "problem": str, "holds": bool}
)


class _Rechecked(TypedDict):
    rechecked: list[_Recomputed]


@dataclass(frozen=True)
class _Along(AlongTraining):
    files: list[str]


class _SideBySide(TypedDict):
    side_by_side: list[WorkloadConstants]
    files: list[str]


class _Attack(TypedDict):
    workload: str
    kind: str
    runs: int
    attack: Audit | OneRun
    bounds: list[_Under]


class _Tracked(TypedDict):
    name: str
    kind: Literal["assumed", "certified", "estimate"]
    statement: str
    excess: float
    distances: list[float]


class _Wasserstein(TypedDict):
    level: float
    low: float
    w2_high: float
    w_infinity_high: float
    share_left_out: float
    w2_of_clouds: float
    w_infinity_of_clouds: float
    matched_points: int


class _Drift(TypedDict):
    workload: str
    pairs: int
    replaced: int
    pull: float
    greatest: list[float]
    tracked: list[_Tracked]
    wasserstein: _Wasserstein
    remark: str


class _Knob(TypedDict):
    change: str
    epsilon: float
    composition: float


class _Advice(TypedDict):
    kind: Literal["advice"]
    delta: float
    bound: _Bound
    composition: float
    lower_bound: float
    linear_estimate: float
    helps: bool
    helps_from: int | None
    stop_after: int | None
    in_words: str
    knobs: list[_Knob]
    files: NotRequired[list[str]]


class _Verified(TypedDict):
    holds: bool
    statement: str


PRINTED: Final[dict[str, Any]] = {
    "advise": _Advice,
    "attack": _Attack,
    "bound": _Bound,
    "calibrate": _Calibrated,
    "check": _Check,
    "checkpoints": _Along,
    "compare": list[_Compared] | Stated,
    "drift": _Drift,
    "estimate": _Measured | _Searched | _Rechecked | _SideBySide,
    "forget": _plain(Forgetting),
    "list": list[_Listed] | dict[str, dict[Verdict, int]],
    "participation": _plain(Participation) | _plain(ByPosition),
    "report": _Files,
    "show": _Claim,
    "sweep": _Sweep,
    "verify": _Verified,
}
"""Command -> the type of what it prints."""
