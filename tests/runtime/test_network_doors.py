"""Every kind of network at every command that measures: a number, or one sentence."""

import math
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from brought_networks import BROUGHT, RIGHTLY_REFUSED
from network_corpus import KINDS, Kind
from network_doors import DOORS

from lastiterate.numeric.errors import InputError

FEW = ("prelu", "weight_norm", "lstm", "experts", "ctc_loss", "scripted", "dictionary", "autocast",
       "complex_parameters", "weight_norm_by_hook")  # fmt: skip
"""Kinds that run by day, one for each way to differentiate and one for each refusal."""

SLOW = {"estimate": {"experts", "ctc_loss", "lstm"}, "refute": {"experts", "ctc_loss"}}
"""Kinds that take seconds at some commands, and are measured there by night only."""

SHARE = 0.9
"""Share of the corpus that must get a number from a search for constants."""

pytestmark = pytest.mark.usefixtures("short_search", "short_refutation")


@dataclass
class Results:
    numbers: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)


def measured(door: str, kinds: list[Kind], folder: Path) -> Results:
    """Measured numbers and messages of refusal, by kind; other exceptions are not caught."""
    found = Results()
    for kind in kinds:
        own = folder / kind.name
        own.mkdir()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                value = DOORS[door](kind, own)
        except InputError as error:
            found.refused[kind.name] = str(error)
        else:
            assert 0 <= value < math.inf, kind.name
            found.numbers.add(kind.name)
    assert not [said for said in found.refused.values() if "\n" in said]
    return found


@pytest.mark.parametrize("door", DOORS)
def test_a_number_or_one_sentence(door: str, tmp_path: Path) -> None:
    few = set(FEW) - SLOW.get(door, set())
    found = measured(door, [kind for kind in KINDS if kind.name in few], tmp_path)
    if door != "certified":
        assert set(found.refused) - {"scripted", "autocast", "weight_norm_by_hook"} == {"complex_parameters"}


@pytest.mark.nightly
@pytest.mark.parametrize("door", DOORS)
def test_a_number_or_one_sentence_for_all(door: str, tmp_path: Path) -> None:
    found = measured(door, [*KINDS, *BROUGHT], tmp_path)
    assert len(KINDS) >= 80
    assert not found.numbers & set(RIGHTLY_REFUSED)
    if door != "certified":
        assert len(found.numbers) >= SHARE * (len(KINDS) + len(BROUGHT)), found.refused


def test_what_has_no_gradients_of_rows_is_refused(tmp_path: Path) -> None:
    kinds = [kind for kind in BROUGHT if kind.name in RIGHTLY_REFUSED]
    assert set(measured("estimate", kinds, tmp_path).refused) == set(RIGHTLY_REFUSED)


def test_a_network_that_torch_batches_only_once_is_searched(tmp_path: Path) -> None:
    kinds = [kind for kind in BROUGHT if kind.name == "super_resolution"]
    assert measured("estimate", kinds, tmp_path).numbers == {"super_resolution"}
