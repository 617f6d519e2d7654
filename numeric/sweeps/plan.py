"""Plan of a sweep: a run, an assumption, and the axes along which some of their numbers vary."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from math import prod
from pathlib import Path
from typing import Any, Final

from lastiterate.numeric.errors import InputError, echo, plain_number, suggestion
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.run_file import described, read_toml

Scalar = int | float | str

MOST_ROWS: Final = 1_000_000
"""More rows than this are refused: a longer list is more likely a slip than a wish."""

_TARGETS = ("order", "delta")
_LARGEST = 2**63 - 1
"""The largest whole number that a column of a table holds."""

_RUN_FIELDS = tuple(field.name for field in fields(NoisySGD))


@dataclass(frozen=True)
class Plan:
    """A grid of bounds.

    Attributes:
        run: the run, for everything that does not vary.
        assumption: the assumption on its losses, for everything that does not vary.
        axes: name -> values, in the order of the grid; the last axis varies fastest. Names are fields of the run,
            numbers of the assumption, and either "order" or "delta".

    Raises:
        InputError: an axis has no such name, no value, values of two kinds or a value twice; neither or both of order
            and delta; or more than `MOST_ROWS` rows.

    >>> from lastiterate.numeric.losses.assumptions import Smooth
    >>> run = NoisySGD(steps=10, step_size=0.1, noise_std=1.0, clip_norm=1.0, dataset_size=5)
    >>> plan = Plan(run, Smooth(1.0), {"noise_std": [1.0, 2.0], "order": [2, 4, 8]})
    >>> plan.rows, plan.values(4)
    (6, {'noise_std': 2.0, 'order': 4})
    """

    run: NoisySGD
    assumption: Assumption
    axes: Mapping[str, Sequence[Scalar]]

    def __post_init__(self) -> None:
        if not isinstance(self.run, NoisySGD) or not isinstance(self.assumption, Assumption):
            raise InputError(
                f"A sweep needs a NoisySGD and an assumption, got run={self.run!r} and "
                f"assumption={self.assumption!r}; give what bound takes."
            )
        if not isinstance(self.axes, Mapping):
            raise InputError(f"The grid of a sweep needs names with lists, got grid={self.axes!r}; write a table.")
        known = (*_RUN_FIELDS, *_numbers_of(self.assumption), *_TARGETS)
        axes = {}
        for name, listed in self.axes.items():
            if name not in known:
                hint = suggestion(name, known, f"the names are {', '.join(known)}.")
                raise InputError(f"An axis of a sweep needs a name that is known, got key={name!r}; {hint}")
            axes[name] = _axis(name, listed)
        given = [name for name in _TARGETS if name in axes]
        if len(given) != 1:
            raise InputError(
                f"The grid of a sweep needs either order or delta, got {' and '.join(given) or 'neither'}; "
                "write for example order = [2]."
            )
        object.__setattr__(self, "axes", axes)
        if self.rows > MOST_ROWS:
            raise InputError(
                f"A sweep needs at most {MOST_ROWS} rows, got rows={self.rows}; shorten a list or split the grid."
            )

    @property
    def rows(self) -> int:
        """The number of points of the grid."""
        return prod(len(values) for values in self.axes.values())

    def values(self, row: int) -> dict[str, Scalar]:
        """The values of the axes in a row, counted from 0."""
        found = {}
        for name in reversed(list(self.axes)):
            row, place = divmod(row, len(self.axes[name]))
            found[name] = self.axes[name][place]
        return {name: found[name] for name in self.axes}

    def point(self, row: int) -> tuple[NoisySGD, Assumption, dict[str, Any]]:
        """The run, the assumption and the target (order or delta) of a row.

        Raises:
            InputError: the values of the row describe no run.
        """
        values: dict[str, Any] = {**self.values(row)}
        target = {name: values.pop(name) for name in _TARGETS if name in values}
        changed = {name: value for name, value in values.items() if name in _RUN_FIELDS}
        if "sampling" in changed:
            changed = {"adjacency": ""} | changed  # the one that is accounted for, as if the run were written anew
        rest = {name: value for name, value in values.items() if name not in _RUN_FIELDS}
        assumption = replace(self.assumption, **rest) if rest else self.assumption  # type: ignore[type-var]
        return replace(self.run, **changed), assumption, target


def load_sweep(path: Path) -> Plan:
    """Read a sweep from a TOML file: a run file with a table [grid] of lists.

    Raises:
        InputError: as `lastiterate.numeric.run_file.load_run`, and as `Plan`.
    """
    data, origin = read_toml(path), str(path)
    grid = data.pop("grid", None)
    if not isinstance(grid, dict):
        raise InputError(f"A sweep file needs a table [grid], got grid={grid!r} in {origin}; write [grid] and lists.")
    return Plan(*described(data, origin), grid)


def _numbers_of(assumption: Assumption) -> tuple[str, ...]:
    """The fields of an assumption that are one number each and can be given anew."""
    listed: tuple[Field[Any], ...] = fields(assumption) if is_dataclass(assumption) else ()
    required: list[str] = [field.name for field in listed if field.default is MISSING]
    return tuple(name for name in required if isinstance(getattr(assumption, name), float))


def _axis(name: str, listed: Any) -> tuple[Scalar, ...]:
    values = getattr(listed, "tolist", lambda: listed)()  # an array becomes a list of plain numbers
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(f"An axis of a sweep needs a list, got {name}={listed!r}; write {name} = [...].")
    values = [plain_number(name, value) for value in values]
    if not values:
        raise InputError(f"An axis of a sweep needs at least one value, got {name}={values!r}; leave the axis out.")
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in values]
    if not (all(numbers) or all(isinstance(value, str) for value in values)):
        raise InputError(
            f"An axis of a sweep needs numbers only or texts only, got {name}={echo(values)}; one schedule for all "
            "rows belongs into the run."
        )
    if any(isinstance(value, int) and abs(value) > _LARGEST for value in values):
        raise InputError(f"A whole number in a sweep needs to be at most 2^63 - 1, got one in {name} above; lower it.")
    if len(set(values)) != len(values):
        again = next(value for value in values if values.count(value) > 1)
        raise InputError(f"An axis of a sweep needs each value once, got {name}={again!r} again; drop the second.")
    return tuple(values)
