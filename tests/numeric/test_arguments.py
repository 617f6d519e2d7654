"""Numbers of every type, and names of arguments, in every public call: read, or refused in one sentence."""

from collections.abc import Callable
from dataclasses import astuple
from decimal import Decimal
from fractions import Fraction
from itertools import cycle
from math import inf, nextafter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_projection import RandomProjectionRun, projection_bound

import lastiterate as li
from lastiterate.numeric.errors import count, real

_RUN = li.NoisySGD(8, 0.1, 0.05, 1.0, 10, diameter=1.0)
_CYCLIC = li.NoisySGD(8, 0.1, 0.05, 1.0, 10, 2, "cyclic", diameter=1.0)


def _torch(value: float) -> object:
    torch = pytest.importorskip("torch")
    return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else torch.int64)


_KINDS: dict[str, Callable[[float], object]] = {
    "Fraction": Fraction,
    "Decimal": Decimal,
    "NumPy": lambda x: np.array(x)[()],
    "0-d array": np.array,
    "0-d tensor": _torch,
}
_CALLS: dict[str, Callable[[Callable[[float], Any]], object]] = {
    "run": lambda x: li.NoisySGD(
        x(2), x(0.125), [x(0.5)] * 2, x(1), x(10), x(2), "cyclic", x(1.0), "", x(0.25)
    ),
    "gradient_noise": lambda x: li.NoisySGD.gradient_noise(
        gradient_noise_std=x(0.5), step_size=x(0.25), steps=2, clip_norm=1, dataset_size=5
    ),
    "Holder": lambda x: li.Holder(x(0.5), x(0.25)),
    "StronglyConvex": lambda x: li.StronglyConvex(x(0.5), x(0.25)),
    "Tabulated": lambda x: li.Tabulated([x(0.5), x(1.0)], [x(0.25), x(0.5)]),
    "order": lambda x: li.bound(_RUN, li.Convex(1.0), order=x(2.5)),
    "delta": lambda x: li.bound(_RUN, li.Convex(1.0), delta=x(0.125)),
    "rdp": lambda x: li.bound(_RUN, li.Convex(1.0)).rdp(x(2.5)),
    "dp": lambda x: li.bound(_RUN, li.Convex(1.0)).dp(x(0.125)),
    "profile": lambda x: li.bound(_RUN, li.Convex(1.0)).profile()(x(0.5)),
    "by_position": lambda x: li.by_position(_CYCLIC, li.Convex(1.0), delta=x(0.125)).quantile(x(0.5)),
    "calibrate": lambda x: li.calibrate(_RUN, li.Convex(1.0), epsilon=x(1), delta=x(0.125)).value,
    "compare": lambda x: li.compare(_RUN, li.Convex(1.0), order=x(2.5)),
    "forgetting": lambda x: (
        li.forgetting(_RUN, li.Convex(1.0), x(2), delta=x(0.125), step_size=x(0.125), noise_std=x(0.25)).epsilon
    ),
    "lower_bound": lambda x: li.lower_bound(_RUN, li.Convex(1.0), delta=x(0.125)).value,
    "participation": lambda x: (
        li.participation(_RUN, li.Convex(1.0), steps=[x(3), x(5)], delta=x(0.125)).epsilon
    ),
    "position": lambda x: li.participation(_CYCLIC, li.Convex(1.0), position=x(2), order=x(2.5)).epsilon,
    "sweep": lambda x: [
        one.epsilon
        for one in li.sweep(_RUN, li.Convex(1.0), {"noise_std": [x(0.5), x(1)], "delta": [x(0.125)]}).results
    ],
    "theorem": lambda x: li.theorem("output_perturbation", _RUN, li.Convex(1.0), order=x(2.5)).epsilon,
    "ShiftProgram": lambda x: astuple(li.ShiftProgram(_CYCLIC, li.Convex(1.0), x(1), x(2), x(0.5))),
    "projection": lambda x: (
        projection_bound(
            RandomProjectionRun(x(20), x(0.125), x(0.5), (x(2),), x(10), entry_std=x(1), stability=x(0.25)),
            order=x(2),
        ).epsilon
    ),
}


@pytest.mark.parametrize("call", _CALLS)
def test_every_call_reads_numbers_of_every_type(call: str) -> None:
    kinds = cycle(_KINDS.values())
    assert _CALLS[call](lambda x: next(kinds)(x)) == _CALLS[call](lambda x: x)


@pytest.mark.parametrize("kind", _KINDS)
def test_a_number_of_any_type_is_read(kind: str) -> None:
    assert repr(real("x", _KINDS[kind](0.25), "a number")) == "0.25"
    assert repr(count("x", _KINDS[kind](7))) == "7"
    with pytest.raises(li.InputError, match=r"^x needs a whole number"):
        count("x", _KINDS[kind](2.5))


@pytest.mark.parametrize("wrong", [np.bool_(True), True, np.array(True), "1", 1j, None, np.timedelta64(1, "s")])
@pytest.mark.parametrize("name", ["steps", "step_size", "noise_std", "clip_norm", "dataset_size", "diameter"])
def test_what_is_no_number_is_refused(name: str, wrong: object) -> None:
    known = {"steps": 1, "step_size": 0.1, "noise_std": 1.0, "clip_norm": 1.0, "dataset_size": 5}
    with pytest.raises(li.InputError, match=f"^{name} needs .*, got {name}=.*; write a"):
        li.NoisySGD(**(known | {name: wrong}))  # type: ignore[arg-type]


@given(st.fractions(min_value=Fraction(-(10**300)), max_value=Fraction(10**300)))
def test_a_fraction_is_rounded_to_the_side_that_is_asked_for(value: Fraction) -> None:
    low, nearest, high = (real("x", value, "a number", toward) for toward in (-inf, None, inf))
    assert Fraction(low) <= value <= Fraction(high)
    assert nearest in (low, high)
    assert high in (low, nextafter(low, inf))


@given(st.decimals())
def test_a_decimal_is_read_or_refused(value: Decimal) -> None:
    for read in (lambda: real("x", value, "a number"), lambda: count("x", value, least=-(10**20))):
        try:
            assert read() == (float(value) if read() != value else value)
        except li.InputError:
            assert not value.is_finite() or value != value.to_integral_value() or abs(value) > 10**15


def test_a_delta_that_is_no_float_is_rounded_to_the_safe_side() -> None:
    tenth = Fraction(1, 10)
    assert Fraction(0.1) > tenth
    assert li.bound(_RUN, li.Convex(1.0), delta=tenth).delta == nextafter(0.1, 0)  # type: ignore[arg-type]
    assert li.bound(_RUN, li.Convex(1.0), order=Fraction(7, 3)).order >= Fraction(7, 3)  # type: ignore[arg-type,operator]


def _public(name: str) -> Callable[..., object]:
    try:
        found: Callable[..., object] = getattr(li, name)
    except ImportError as error:
        pytest.skip(str(error))
    return found


@pytest.mark.parametrize("name", li.__all__)
def test_a_wrong_name_is_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(li.InputError) as caught:
        _public(name)(unheard_of=1)
    if name != "Assumption":  # which is not to be called
        assert f"{name} takes " in str(caught.value)
        assert "got unheard_of=1; leave it out." in str(caught.value)


_METHODS = {
    "gradient_noise": lambda **wrong: li.NoisySGD.gradient_noise(gradient_noise_std=1, step_size=1, **wrong),
    "d2p2": lambda **wrong: RandomProjectionRun.d2p2(steps=2, noise_std=1, **wrong),
    "rdp": lambda **wrong: li.bound(_RUN, li.Convex(1.0)).rdp(2.0, **wrong),
    "dp": lambda **wrong: li.bound(_RUN, li.Convex(1.0)).dp(0.1, **wrong),
    "certificate": lambda **wrong: li.bound(_RUN, li.Convex(1.0)).certificate(**wrong),
    "quantile": lambda **wrong: li.by_position(_CYCLIC, li.Convex(1.0), delta=0.1).quantile(0.5, **wrong),
}


@pytest.mark.parametrize("method", _METHODS)
def test_so_are_the_methods(method: str) -> None:
    with pytest.raises(li.InputError, match="got unheard_of=1"):
        _METHODS[method](unheard_of=1)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    ("call", "wrong", "said"),
    [
        (li.NoisySGD, "group_size", "it is called group here."),
        (li.bound, "group_size", "it belongs to the run: NoisySGD(..., group=k)."),
        (li.NoisySGD, "max_batch_size", "no bound is known for batches that are cut to a maximum size;"),
        (li.NoisySGD, "physical_batch_size", "no bound is known for batches that are cut to a maximum size;"),
        (li.NoisySGD, "optimizer", "these bounds are for SGD; for other optimisers"),
        (li.NoisySGD, "max_steps", "leave it out."),
        (li.NoisySGD, "max_step_size", "leave it out."),
        (li.NoisySGD, "data_set_size", "did you mean dataset_size?"),
        (li.NoisySGD, "stepsize", "did you mean step_size?"),
        (li.NoisySGD, "noise", "did you mean noise_std?"),
        (li.NoisySGD, "learning_rate", "it is called step_size here."),
        (li.Holder, "lr", "leave it out."),
        (li.Holder, "k", "leave it out."),
        (li.Clipped, "radius", "leave it out."),
    ],
)
def test_a_suggestion_fits(call: Callable[..., object], wrong: str, said: str) -> None:
    with pytest.raises(li.InputError) as caught:
        call(**{wrong: 4})
    assert f"got {wrong}=4; {said}" in str(caught.value)


def test_a_group_costs_what_the_sentence_says() -> None:
    """Full batches: each of k samples moves the mean by 2 eta K / b, and the others expand no more than they did."""
    one, four = (li.NoisySGD(1000, 0.1, 0.05, k, dataset_size=200, diameter=1.0) for k in (1.0, 4.0))
    assert li.bound(one, li.Convex(1.0), delta=1e-5).epsilon == pytest.approx(1.44702, abs=1e-4)
    assert li.bound(four, li.Convex(1.0), delta=1e-5).epsilon == pytest.approx(6.62459, abs=1e-4)


@pytest.mark.parametrize(
    "call",
    [
        lambda many: li.NoisySGD(3, 0.1, 1.0, 1.0, many),
        lambda many: li.NoisySGD(3, 0.1, 1.0, np.array(many), 5),
        lambda many: li.NoisySGD(3, 0.1, many, 1.0, 5),
        lambda many: li.NoisySGD(3, 0.1, 1.0, 1.0, 5, sampling=many),
        lambda many: li.NoisySGD(3, 0.1, 1.0, 1.0, 5, group_size=many),
        lambda many: li.bound(_RUN, li.Convex(1.0), delta=many),
        lambda many: li.bound(_RUN, li.Convex(1.0), delta=many, order=many),
        lambda many: li.bound(_RUN, many, delta=0.1),
        lambda many: li.calibrate(_RUN, li.Convex(1.0), epsilon=1, delta=0.1, vary=many),
        lambda many: li.participation(_RUN, li.Convex(1.0), steps=many, position=many, delta=0.1),
        lambda many: li.Tabulated(many, "a"),
        lambda many: li.Blocks(many),
        lambda many: li.sweep(_RUN, li.Convex(1.0), many),
        lambda many: li.sweep(_RUN, many, {}),
        lambda many: li.theorem(many, _RUN, li.Convex(1.0), order=2),
    ],
)
@pytest.mark.parametrize("entry", [1.5, np.float64(1.5), Fraction(3, 2), "1.5", (1.5, 2.5)], ids=repr)
def test_no_error_echoes_a_long_list(call: Callable[[Any], object], entry: object) -> None:
    with pytest.raises(li.InputError) as caught:
        call([entry] * 500)
    assert str(caught.value).count("1.5") + str(caught.value).count("3, 2") <= 8


def test_of_a_long_list_the_beginning_and_the_length_are_shown() -> None:
    said = str(li.InputError(f"got {[1, 2, 3, 4] * 5} and {dict.fromkeys(range(9), 0.5)} and {(1, 2, 3)}."))
    assert said == "got [1, 2, 3, ... 20 in all] and {0: 0.5, 1: 0.5, 2: 0.5, ... 9 in all} and (1, 2, 3)."
