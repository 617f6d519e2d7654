"""Bad input: one sentence with what is needed, name=value, and what to do."""

from collections.abc import Callable
from math import inf, nan

import pytest
from hockey_stick import hockey_stick_gaussian, hockey_stick_mixtures

from lastiterate.numeric.divergences import (
    Enclosure,
    Mixture,
    renyi_gaussian,
    renyi_mixtures,
    replacement_step,
    s_down,
    s_up,
)
from lastiterate.numeric.divergences.mixtures import refine
from lastiterate.numeric.errors import InputError

_SAMPLED = pytest.mark.parametrize("function", [s_up, s_down, replacement_step])


def test_rate(subtests: pytest.Subtests) -> None:
    for q in [0.0, -0.1, 1.5, nan, inf, "half", None, True, 1e-60]:
        for function in [s_up, s_down, replacement_step]:
            with (
                subtests.test(function=function, q=q),
                pytest.raises(InputError, match=r"q (needs|must) .*got q="),
            ):
                function(q, 1.0, alpha=2)


def test_order(subtests: pytest.Subtests) -> None:
    for alpha in [1, 1.0, 0.5, -2, inf, nan, "2", None]:
        for function in [s_up, s_down, replacement_step]:
            with (
                subtests.test(function=function, alpha=alpha),
                pytest.raises(InputError, match=r"alpha needs .*got alpha="),
            ):
                function(0.1, 1.0, alpha=alpha)


def test_noise_and_shift(subtests: pytest.Subtests) -> None:
    for name in ("noise", "shift"):
        for value in [0, -1.0, inf, nan, 1e-60, "1"]:
            for function in [s_up, s_down, replacement_step]:
                given = {"noise": 1.0, name: value}
                with subtests.test(**given), pytest.raises(InputError, match=f"{name} needs .*got {name}="):
                    function(0.1, alpha=2, **given)


@_SAMPLED
def test_noise_far_from_shift(function: Callable[..., object]) -> None:
    with pytest.raises(InputError, match=r"noise=1e-30"):
        function(0.1, 1e-30, alpha=2, shift=1e30)


def test_little_noise_without_replacement() -> None:
    with pytest.raises(InputError, match=r"between 0.1 and 1e50 times the shift 2, got noise=0.1;"):
        replacement_step(0.1, 0.1, alpha=2, shift=2.0)


def test_mixtures() -> None:
    with pytest.raises(InputError, match=r"weight=1.2"):
        Mixture(1.2, 0, 1)
    with pytest.raises(InputError, match="first=inf"):
        Mixture(0.1, inf, 1)
    law = Mixture(0.1, 0, 1)
    with pytest.raises(InputError, match="denominator needs a Mixture"):
        renyi_mixtures(law, (0.1, 0, 1), alpha=2)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="numerator needs a Mixture"):
        hockey_stick_mixtures(0.1, law, t=2)  # type: ignore[arg-type]
    for t in (0.0, -1.0, inf):
        with pytest.raises(InputError, match="t needs a positive number"):
            hockey_stick_mixtures(law, law, t=t)
        with pytest.raises(InputError, match="t needs a positive number"):
            hockey_stick_gaussian(1.0, 1.0, t=t)


def test_gaussians() -> None:
    with pytest.raises(InputError, match="std needs"):
        renyi_gaussian(1.0, 0.0, alpha=2)
    with pytest.raises(InputError, match="difference needs"):
        renyi_gaussian(inf, 1.0, alpha=2)


def test_one_law_against_itself() -> None:
    assert renyi_mixtures(Mixture(0.25, 0, 1), Mixture(0.75, 1, 0), alpha=3) == Enclosure(0.0, 0.0)
    assert renyi_mixtures(Mixture(0.2, 1, 1), Mixture(1.0, 5, 1), alpha=3) == Enclosure(0.0, 0.0)
    # 1 - 0.9 is not the float 0.1.
    assert renyi_mixtures(Mixture(0.1, 0, 1), Mixture(0.9, 1, 0), alpha=3).lower > 0


def test_an_enclosure_is_in_order_and_never_a_guess() -> None:
    assert 2.5 in Enclosure(2.0, 3.0)
    assert 3.5 not in Enclosure(2.0, 3.0)
    with pytest.raises(ArithmeticError):
        Enclosure(3.0, 2.0)
    from flint import arb

    with pytest.raises(ArithmeticError, match="no narrow enclosure"):
        refine(lambda _bits: arb(0, 1))
