"""Runs described in TOML files. Nothing in a file is executed; unknown keys are rejected."""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from lastiterate.numeric.errors import InputError, explain_unknown, suggestion
from lastiterate.numeric.losses.assumptions import KINDS, Assumption
from lastiterate.numeric.run import NoisySGD


def load_run(path: Path) -> tuple[NoisySGD, Assumption]:
    """Read a run and the assumption on its losses from a TOML file.

    Raises:
        InputError: the file cannot be read, is not TOML, lacks a value, or has an unknown key or value.
    """
    return described_tables(read_toml(path), str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """Read the tables of a TOML file; raises `InputError` if this fails."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors write a byte order mark
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(
            f"A run file must be readable text, got path={path}: {why}; check the path."
        ) from error
    except (ValueError, RecursionError) as error:  # also numbers and nesting beyond what Python reads
        raise InputError(f"A run file must be TOML, got path={path}: {error}; correct that line.") from error


def described_tables(data: Mapping[str, Any], origin: str) -> tuple[NoisySGD, Assumption]:
    """Run and assumption from the tables of a file; raises an `InputError` that names ``origin``."""
    _known(data, ("run", "assumption"), origin)
    for name in ("run", "assumption"):
        if name not in data:
            got = ", ".join(data) or "nothing"
            raise InputError(f"{origin} needs a table [{name}], got {got}; add a line [{name}].")
        if not isinstance(data[name], dict):
            raise InputError(f"{name} in {origin} must be a table, got {name}={data[name]!r}; write [{name}].")
    known = {field.name: field.default is MISSING for field in fields(NoisySGD)}
    _known(data["run"], tuple(known), f"[run] of {origin}")
    for name, required in known.items():
        if required:
            _required(data["run"], name, f"[run] of {origin}")
    return NoisySGD(**data["run"]), _assumption(data["assumption"], f"[assumption] of {origin}")


def _assumption(table: Mapping[str, Any], place: str) -> Assumption:
    kind = _required(table, "kind", place)
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(
            f"kind in {place} must be one of {', '.join(KINDS)}, got kind={kind!r}; {suggestion(kind, KINDS)}"
        )
    make, names = KINDS[kind]
    _known(table, ("kind", *names), place)
    values = {name: _required(table, name, place) for name in names}
    for name, value in values.items():
        if name in ("parts", "distances", "values") and not isinstance(value, list):
            raise InputError(f"{name} in {place} needs a list, got {name}={value!r}; write {name} = [...].")
    if "parts" in values:
        parts = values["parts"]
        if not all(isinstance(part, dict) for part in parts):
            raise InputError(
                f"parts in {place} needs tables, each with a kind, got parts={parts!r}; see the README."
            )
        return make(*(_assumption(part, f"parts[{i}] in {place}") for i, part in enumerate(parts)))
    return make(**values)


def _required(table: Mapping[str, Any], name: str, place: str) -> Any:
    if name not in table:
        raise InputError(
            f"{place} needs {name}, got keys={', '.join(table) or 'none'}; add a line {name} = ..."
        )
    return table[name]


def _known(table: Mapping[str, Any], names: tuple[str, ...], place: str) -> None:
    for key in table:
        if key not in names:
            hint = explain_unknown(key, names, f"the keys are {', '.join(names)}.")
            raise InputError(f"{place} may contain only known keys, got key={key!r}; {hint}")
