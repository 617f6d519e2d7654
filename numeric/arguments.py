"""Wrong arguments of a call, refused in one sentence: names that are not taken, one argument too many, one too few."""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Final, TypeVar, Unpack, cast, get_args, get_origin

from lastiterate.numeric.errors import InputError, echo, suggestion

_RENAMED: Final = {
    "max_grad_norm": "clip_norm",
    "l2_norm_clip": "clip_norm",
    "lr": "step_size",
    "learning_rate": "step_size",
    "expected_batch_size": "batch_size",
}
"""What other programs call the numbers of a run."""

_GROUP: Final = (
    ("run", "clip_norm"),
    (
        "for k samples that differ at once multiply clip_norm by k, which holds for full batches, and for cyclic ones "
        "that hold the k in one batch; elsewhere (epsilon, delta) for one sample is "
        "(k epsilon, k exp((k - 1) epsilon) delta) for k."
    ),
)
_CUT: Final = (
    ("batch_size",),
    (
        "batches that are cut at a largest size have a bound by composition in dp_accounting "
        "(TruncatedSubsampledGaussianDpEvent); for one here leave no sample out: add up a large batch in parts."
    ),
)
_PLAIN: Final = (
    ("step_size",),
    (
        "these bounds are of plain SGD; composition, as dp_accounting counts to_dp_event(run) of the run without it, "
        "holds for every optimiser of the noisy gradients."
    ),
)
_ELSEWHERE: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "noise_multiplier": (("noise_std",), "noise_std is step_size * noise_multiplier * clip_norm / batch_size."),
    "radius": (("diameter",), "diameter is twice the radius."),
    "grid": (("run",), "lastiterate sweep takes a grid of runs."),
    "epochs": (("steps",), "steps counts updates: epochs * dataset_size / batch_size."),
    **dict.fromkeys(("group", "group_size", "groups", "k"), _GROUP),
    **dict.fromkeys(("max_batch_size", "truncated_batch_size", "physical_batch_size"), _CUT),
    **dict.fromkeys(("momentum", "nesterov", "betas", "optimizer", "optimiser"), _PLAIN),
}
"""Names that ask for something else, and what to say of them where one of some names is taken."""

Taught = TypeVar("Taught", bound=Callable[..., object])


def explain_unknown(
    key: str, known: Iterable[str], otherwise: str = "leave it out.", hints: Mapping[str, str] | None = None
) -> str:
    """The end of an error about a name that is not taken: a hint for it, its name here, or a near one.

    >>> explain_unknown("lr", ["step_size"]), explain_unknown("lr", ["L"])
    ('it is called step_size here.', 'leave it out.')
    """
    names = list(known)
    needs, words = _ELSEWHERE.get(key, ((), ""))
    if hints and key in hints:
        return hints[key]
    if (own := _RENAMED.get(key)) in names:
        return f"it is called {own} here."
    return words if any(name in names for name in needs) else suggestion(key, names, otherwise)


def teaches(**hints: str) -> Callable[[Taught], Taught]:
    """Make a function, a method or a class refuse wrong arguments with an `InputError`; hints say what to do instead.

    >>> @teaches(radius="double it.")
    ... def ball(diameter: float) -> float:
    ...     return diameter
    >>> ball(radius=1.0)
    Traceback (most recent call last):
        ...
    lastiterate.numeric.errors.InputError: ball takes diameter, got radius=1.0; double it.
    """

    def taught(what: Taught) -> Taught:
        made = isinstance(what, type)
        inner = cast("Callable[..., object]", what.__init__ if made else what)
        known, method = _parameters(what), next(iter(signature(inner).parameters), "") in ("self", "cls")

        @wraps(inner)
        def checked(*given: Any, **named: Any) -> object:
            try:
                return inner(*given, **named)
            except TypeError:  # of this call, or from within
                name = type(given[0]).__name__ if made else what.__name__
                _refuse(name, known, given[method:], named, hints)
                raise

        if not made:
            return cast("Taught", checked)
        setattr(what, "__init__", checked)  # noqa: B010  # mypy would have none of the assignment
        return what

    return taught


def _parameters(what: Callable[..., object]) -> list[Parameter]:
    """The parameters of a call, without the object itself; those that a class hands on are those of its base.

    Keywords that a typed dictionary describes (``**settings: Unpack[Settings]``) are parameters, too.
    """
    own = [one for one in signature(what).parameters.values() if one.name not in ("self", "cls")]
    if own and get_origin(own[-1].annotation) is Unpack:
        (described,) = get_args(own.pop().annotation)
        own += [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in described.__annotations__]
    if isinstance(what, type) and own and own[-1].kind is Parameter.VAR_KEYWORD:
        base = _parameters(what.__mro__[1])
        return own[:-1] + [one for one in base if one.kind is Parameter.KEYWORD_ONLY]
    return own


def _refuse(
    name: str, takes: list[Parameter], given: tuple[Any, ...], named: Mapping[str, Any], hints: Mapping[str, str]
) -> None:
    """Raise where the arguments do not fit; return where they do.

    Raises:
        InputError: there is one that is not taken, one too many or one too few.
    """
    kinds = {one.kind for one in takes}
    every, takes = takes, [one for one in takes if one.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)]
    names = [one.name for one in takes]
    words = ", ".join(f"*{one.name}" if one.kind is Parameter.VAR_POSITIONAL else one.name for one in every)
    for key, value in named.items() if Parameter.VAR_KEYWORD not in kinds else ():
        if key not in names:
            hint = explain_unknown(key, names, hints=hints)
            raise InputError(f"{name} takes {words or 'nothing'}, got {key}={echo(value)}; {hint}")
    in_order = [one.name for one in takes if one.kind is not Parameter.KEYWORD_ONLY]
    if len(given) > len(in_order) and Parameter.VAR_POSITIONAL not in kinds:
        by_name = ", ".join(f"{one.name}=..." for one in takes if one.kind is Parameter.KEYWORD_ONLY)
        raise InputError(
            f"{name} takes {', '.join(in_order) or 'nothing'} without a name, got {len(given)} arguments; "
            f"{f'write {by_name}' if by_name else 'leave the others out'}."
        )
    filled = {*in_order[: len(given)], *named}
    missing = [one.name for one in takes if one.default is Parameter.empty and one.name not in filled]
    if missing:
        raise InputError(
            f"{name} needs {', '.join(missing)}, got {', '.join(one for one in names if one in filled) or 'nothing'}; "
            f"write {name}(..., {', '.join(f'{one}=...' for one in missing)})."
        )


teaches()(InputError)
