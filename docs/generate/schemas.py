"""JSON schemas of the --json output of the commands, generated from types."""

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import Any, Final, Literal, NotRequired, cast, get_type_hints

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict

from lastiterate.numeric.bound import Bound
from lastiterate.numeric.compare import Row
from lastiterate.numeric.display import Displayed
from lastiterate.numeric.forgetting import Forgetting
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.numeric.lower.audit import Audit
from lastiterate.numeric.participation import ByPosition, Participation
from lastiterate.proofs_checks.stated import Stated
from lastiterate.proofs_checks.verdict import ClaimReport, Verdict
from lastiterate.runtime.constants.record import AlongTraining, HolderEstimate
from lastiterate.runtime.pair_table import Subset

_record, _list = cast("Any", TypedDict), cast("Any", list)  # for types that are built at run time


def _plain(result: type[Displayed], **more: Any) -> Any:
    found = {"kind": Literal[result._kind]} | get_type_hints(result)
    found |= {
        name: get_type_hints(one.fget)["return"]
        for base in reversed(result.__mro__)
        for name, one in vars(base).items()
        if isinstance(one, property) and "return" in one.fget.__annotations__
    }
    named = {name: found[name] for name in ("kind", *result._named.split())}
    return _record(f"_{result.__name__}", named | more)


def _fields(kind: Any, names: str) -> dict[str, Any]:
    return dict.fromkeys(names.split(), kind)


@dataclass(frozen=True)
class _Claim(ClaimReport):
    rejected: int = 0


@dataclass(frozen=True)
class _Compared(Row):
    verdict: str | None


_NUMBER = {"kind": Literal["bound", "estimate"], "epsilon": float | None, "window": list[int]}
_BOUND = _plain(Bound, **_NUMBER, conditional_on=NotRequired[str], certified=NotRequired[float])
_CARRIED = {"carried": _list[_record("_Carried", {"lambda": float, **_BOUND.__annotations__})]}
_KINDS = list[Literal["epsilon", "mu", "profile"]]
_UNDER = _plain(Bound, **_NUMBER, conditional_on=NotRequired[str], under=str, exceeded=bool, refuted=_KINDS)
_VARIED = {"noise_std": float, "steps": int, "any_steps": bool, "diameter": float, "batch_size": int}
_JUMP = _record(
    "_Jump", {**_fields(float, "slope reach greatest diameter"), "pair": dict[str, Any], "upper": float | None}
)
_SEARCH = _record(
    "_Search",
    _fields(str, "workload kind why device remark")
    | {"inputs": str | None, "run": dict[str, Any], "searched": list[dict[str, Any]], "found": list[float]}
    | {"upper": list[float | None], "certified": LossConstants | None, "memory": int}
    | {"bounded": _BOUND | None, "subset": Subset | None, "jump": _JUMP | None},
)
_PAIR = _record("_Pair", {**_fields(float, "lambda said recomputed distance"), "problem": str, "holds": bool})
_TRACKED = _record(
    "_Tracked",
    {"kind": Literal["assumed", "certified"], "excess": float, "distances": list[float]}
    | _fields(str, "name statement"),
)
_DRIFT = {
    "pairs": int,
    "replaced": int,
    "pull": float,
    "greatest": list[float],
    "root_mean_square": list[float],
    "remark": str,
    "tracked": _list[_TRACKED],
}
_STAGE = _record("_Stage", {"at": str, "around": float, "moved": float | None, "between": float | None})
_AT_RADIUS = _record(
    "_AtRadius",
    _fields(float, "radius found") | {"certified": float | None, "why": str, "improves": NotRequired[bool]},
)
_LAYER = _record(
    "_Layer",
    {"name": str, "size": int, "found": float, "worst": int, "share": float | None, "alone": _AT_RADIUS | None},
)
_MEASURED = {"measurement": HolderEstimate, "untrusted": NotRequired[str], **_CARRIED}
_LISTED = _record("_Listed", {"key": str, "title": str, "paper": str, "verdict": Verdict | None})

PRINTED: Final[dict[str, Any]] = {
    "attack": _record(
        "_Attack", {"workload": str, "kind": str, "runs": int, "attack": Audit, "bounds": _list[_UNDER]}
    ),
    "bound": _BOUND,
    "calibrate": _plain(Bound, **_NUMBER, **{name: NotRequired[kind] for name, kind in _VARIED.items()}),
    "check": _record("_Check", {"claims": list[_Claim], "drifts": list[str], "summary": str}),
    "checkpoints": AlongTraining,
    "compare": list[_Compared] | Stated,
    "drift": _record("_Drift", {"workload": str, **_DRIFT}),
    "estimate": _record("_Measured", _MEASURED)
    | _record("_Searched", {"search": _SEARCH, **_CARRIED})
    | _record("_Rechecked", {"rechecked": _list[_PAIR]}),
    "forget": _plain(Forgetting),
    "list": _list[_LISTED],
    "look": _record(
        "_Portrait",
        _fields(str, "workload versions data")
        | {"given": bool, "delta": float, "run": dict[str, Any], "facts": dict[str, str], "constants": _SEARCH}
        | {"numbers": _list[_record("_Number", {"under": str, **_BOUND.__annotations__})]}
        | {"curve": _list[_AT_RADIUS], "modulus": list[tuple[float, float]], "layers": _list[_LAYER]}
        | {"spectra": _list[_record("_Spectrum", {"of": str} | _fields(float, "least greatest trace error"))]}
        | {"training": _list[_STAGE], "drift": _record("_OwnDrift", _DRIFT) | None, "audit": Audit | None}
        | {"seconds": dict[str, float], "skipped": dict[str, str]}
        | {"repeat": _record("_Repeat", {"command": str, "seed": int})},
    ),
    "participation": _plain(Participation) | _plain(ByPosition),
    "report": _record("_Files", {"files": list[str]}),
    "show": _Claim,
    "statement": _record(
        "_Statement",
        {"format": str, "form": str, "declared": dict[str, str], "certificate": dict[str, Any], "digest": str}
        | {"guarantee": str, "hypotheses": list[str]},
    ),
    "sweep": _record("_Sweep", {"out": str, "rows": int, "refused": int}),
    "verify": _record("_Verified", {"holds": bool, "statement": str}),
}
"""Command -> type of its JSON output."""


class _Schema(GenerateJsonSchema):
    """Schemas in which numbers may be "inf", "-inf" or "nan", and records have only the named keys."""

    def float_schema(self, schema: Any) -> dict[str, Any]:  # noqa: ARG002
        return {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf", "nan"]}]}

    def typed_dict_schema(self, schema: Any) -> dict[str, Any]:
        return super().typed_dict_schema(schema) | {"additionalProperties": False}

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        return super().dataclass_schema(schema) | {"additionalProperties": False}


@lru_cache(maxsize=1)
def schemas() -> dict[str, dict[str, Any]]:
    """Command -> the JSON schema (draft 2020-12) of what it prints."""
    return {
        name: {"$schema": _Schema.schema_dialect, "$id": f"urn:lastiterate:{version('lastiterate')}:{name}"}
        | TypeAdapter(record).json_schema(schema_generator=_Schema, mode="serialization")
        for name, record in PRINTED.items()
    }


def schema_files() -> dict[str, str]:
    """Path -> content of the schema of every command."""
    return {
        f"reference/schemas/{name}.json": json.dumps(one, indent=1) + "\n" for name, one in schemas().items()
    }


def schema_list() -> str:
    """Links to the schemas."""
    return ", ".join(f"[`{name}`](schemas/{name}.json)" for name in schemas()) + ".\n"
