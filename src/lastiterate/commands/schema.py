"""``lastiterate schema``: the JSON schema of what each command prints under --json."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NotRequired

import click
from typing_extensions import TypedDict

from lastiterate.commands.completion import commands
from lastiterate.numeric.compare import Row
from lastiterate.numeric.errors import InputError, suggestion
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.numeric.lower.audit import Audit
from lastiterate.numeric.lower.one_run import OneRun
from lastiterate.proofs_checks.places.planted import Planted
from lastiterate.proofs_checks.places.record import PlacesReport
from lastiterate.proofs_checks.stated import Stated
from lastiterate.proofs_checks.verdict import ClaimReport, Verdict
from lastiterate.runtime.constants.along_record import AlongTraining
from lastiterate.runtime.constants.record import HolderEstimate


class _Files(TypedDict):
    files: list[str]


class _Figure(_Files):
    figures: NotRequired[dict[str, str]]


class _Listed(TypedDict):
    key: str
    title: str
    paper: str
    verdict: Verdict


@dataclass(frozen=True)
class _Claim(ClaimReport):
    rejected: int = 0


class _Check(TypedDict):
    claims: list[_Claim]
    drifts: list[str]
    summary: str


class _Bound(TypedDict):
    kind: Literal["bound", "estimate"]
    epsilon: float | None
    order: float | None
    delta: float | None
    window: list[int]
    route: str
    claim: str
    assumptions: list[str]
    mu: float | None
    cost: float | None
    position: int | None
    share: float | None
    conditional_on: NotRequired[str]
    certified: NotRequired[float]


class _Calibrated(_Bound):
    noise_std: NotRequired[float]
    steps: NotRequired[int]
    diameter: NotRequired[float]
    batch_size: NotRequired[int]


class _Forgotten(TypedDict):
    kind: Literal["forgetting"]
    clean_steps: int
    epsilon: float
    retrained: float
    before: float
    shifts: float
    order: float | None
    delta: float | None
    claim: str
    assumptions: list[str]


class _Used(TypedDict):
    kind: Literal["participation"]
    epsilon: float
    shifts: float
    order: float | None
    delta: float | None
    claim: str
    times: int
    last: int | None
    assumptions: list[str]


class _ByPosition(TypedDict):
    kind: Literal["by_position"]
    order: float | None
    delta: float | None
    worst: float
    median: float
    epsilons: list[float]
    shifts: list[float]
    assumptions: list[str]


@dataclass(frozen=True)
class _Compared(Row):
    verdict: str | None


class _Sweep(TypedDict):
    out: str
    rows: int
    refused: int
    picture: str | None


_Carried = TypedDict("_Carried", {"lambda": float, **_Bound.__annotations__})  # type: ignore[misc]


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
    extremes: list[dict[str, Any] | None]
    certified: LossConstants | None
    bounded: _Bound | None
    remark: str


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


class _Under(_Bound):
    under: str
    exceeded: bool
    refuted: list[Literal["epsilon", "mu", "profile"]]


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
    greatest: list[float]
    tracked: list[_Tracked]
    wasserstein: _Wasserstein
    remark: str


class _Verified(TypedDict):
    holds: bool
    statement: str


_PRINTED: dict[str, Any] = {
    "attack": _Attack,
    "bound": _Bound,
    "calibrate": _Calibrated,
    "check": _Check,
    "checkpoints": _Along,
    "compare": list[_Compared] | Stated,
    "drift": _Drift,
    "estimate": _Measured | _Searched | _Rechecked,
    "figure": _Figure,
    "forget": _Forgotten,
    "list": list[_Listed] | dict[str, dict[Verdict, int]],
    "participation": _Used | _ByPosition,
    "places": list[PlacesReport] | list[Planted],
    "report": _Files,
    "show": _Claim,
    "sweep": _Sweep,
    "verify": _Verified,
}


@lru_cache(maxsize=1)
def schemas() -> dict[str, dict[str, Any]]:
    """Command -> the JSON schema (draft 2020-12) of what it prints under --json."""
    from pydantic import TypeAdapter
    from pydantic.json_schema import GenerateJsonSchema

    class Schema(GenerateJsonSchema):
        """Numbers may be "inf", "-inf" or "nan", and records have no other keys than those named."""

        def float_schema(self, schema: Any) -> dict[str, Any]:  # noqa: ARG002
            return {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf", "nan"]}]}

        def typed_dict_schema(self, schema: Any) -> dict[str, Any]:
            return super().typed_dict_schema(schema) | {"additionalProperties": False}

        def dataclass_schema(self, schema: Any) -> dict[str, Any]:
            return super().dataclass_schema(schema) | {"additionalProperties": False}

    return {
        name: {"$schema": Schema.schema_dialect}
        | TypeAdapter(record).json_schema(schema_generator=Schema, mode="serialization")
        for name, record in _PRINTED.items()
    }


@click.command(name="schema")
@click.argument("name", metavar="COMMAND", required=False, shell_complete=commands)
def command(name: str | None) -> None:
    r"""Print the JSON schema of what COMMAND prints under --json, or of every command.

    Numbers that JSON does not know are the texts "inf", "-inf" and "nan".

    \b
    Examples:
      lastiterate schema bound
      lastiterate bound run.toml --json | check-jsonschema --schemafile <(lastiterate schema bound) -
    """
    known = schemas()
    if name is None:
        click.echo(json.dumps(known, indent=2))
        return
    if name not in known:
        hint = suggestion(name, known, f"choose one of {', '.join(known)}.")
        raise InputError(f"schema needs a command that prints JSON, got command={name}; {hint}")
    click.echo(json.dumps(known[name], indent=2))
