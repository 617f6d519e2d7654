"""How the campaigns are run: some 2,500 cases in all in CI, eighty times as many under ``-m nightly``."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lastiterate.numeric.errors import InputError

NIGHTLY = 80

both = pytest.mark.parametrize(
    "times",
    [1, pytest.param(NIGHTLY, marks=(pytest.mark.nightly, pytest.mark.timeout(7200)))],
    ids=["ci", "nightly"],
)
"""A campaign twice: ``times`` is 1 in CI and 80 at night."""


def campaign(count: int, wanted: st.SearchStrategy[Any], check: Callable[[Any], None]) -> None:
    """Check so many cases; hypothesis shrinks the one that fails."""
    chosen = settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))
    chosen(given(wanted)(check))()


JUNK = st.one_of(
    st.none(), st.booleans(), st.text(max_size=3), st.integers(-2, 2), st.just(10**400), st.floats(), st.just([]),
    st.just([1.0, "x"]), st.just({}), st.builds(object), st.just(1j), st.just(b"1"),
)  # fmt: skip
"""What is handed in by mistake."""


def refuse_or_answer(count: int, calls: Callable[[Any, Any], Mapping[str, Callable[[], object]]]) -> None:
    """Each of the calls, with junk for two of its arguments: it answers, or raises an `InputError` of one line."""
    names = sorted(calls(None, None))

    def check(drawn: tuple[str, Any, Any]) -> None:
        name, junk, other = drawn
        try:
            calls(junk, other)[name]()
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017

    campaign(count, st.tuples(st.sampled_from(names), JUNK, JUNK), check)


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """The bytes, cut off, with bits flipped, or with a piece missing, repeated or foreign."""
    data = bytearray(whole)
    place = st.integers(0, max(len(whole) - 1, 0))
    for _ in range(draw(st.integers(1, 3))):
        match draw(st.sampled_from(["cut", "flip", "drop", "double", "foreign"])):
            case "cut":
                del data[draw(place) :]
            case "flip" if data:
                data[draw(place) % len(data)] ^= 1 << draw(st.integers(0, 7))
            case "drop":
                at = draw(place)
                del data[at : at + draw(st.integers(1, 40))]
            case "double":
                at = draw(place)
                data[at:at] = data[at : at + draw(st.integers(1, 40))]
            case _:
                data[draw(place) : 0] = draw(st.binary(max_size=6))
    return bytes(data)
