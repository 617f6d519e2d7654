"""Which theorem claims less than which: by hand on made-up numbers, and on the real theorems."""

import pytest

from lastiterate.__main__ import main
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.published.record import PublishedBound
from lastiterate.proofs_checks.dominance import PROVED, compared, dominance, pairs
from lastiterate.proofs_checks.lock import read_lock


@pytest.fixture(scope="module")
def found():
    return dominance()


def theorem(name):
    return PublishedBound(name, name, "toy/claim", "bound", ("full",), (Assumption,), lambda *_: 1.0, "")


def test_relations_ratios_and_hypotheses():
    a, b, c = map(theorem, "abc")
    rows = [[1.0, 2.0, 4.0], [1.0, 1.0, 0.5], [3.0, None, 3.0], [float("inf"), 1.0, 1.0]]
    by_names = {(pair.lower.name, pair.higher.name): pair for pair in pairs((a, b, c), rows)}
    first = by_names["a", "b"]
    assert (first.relation, first.least, first.greatest, first.runs) == ("<=", 0.5, 1.0, 2)
    assert not first.contained  # a speaks of the third run, b does not
    assert by_names["b", "c"].relation == "either"
    assert by_names["b", "c"].contained
    assert by_names["a", "c"].relation == "either"
    assert (by_names["a", "c"].least, by_names["a", "c"].greatest) == (0.25, 2.0)


def test_the_lower_one_comes_first_whatever_the_order():
    (pair,) = pairs((theorem("high"), theorem("low")), [[4.0, 1.0], [2.0, 2.0]])
    assert (pair.lower.name, pair.higher.name, pair.least, pair.greatest) == ("low", "high", 0.25, 1.0)


def test_theorems_that_never_speak_together_are_not_compared():
    assert pairs((theorem("a"), theorem("b")), [[1.0, None], [None, 1.0]]) == ()


def test_what_is_proved_holds_in_the_ledger_and_on_every_sample(found):
    verdicts = read_lock()
    proved = {(pair.lower.name, pair.higher.name): pair for pair in found if pair.proved}
    assert set(proved) == set(PROVED)
    for pair in proved.values():
        assert verdicts[pair.proved].verdict == "PROVED"
        assert pair.relation in ("<=", "=")


def test_ours_is_never_above_a_theorem_that_holds(found):
    for pair in found:
        names = (pair.lower.name, pair.higher.name)
        if "ours" in names and pair.lower.usable and pair.higher.usable:
            assert pair.relation in ("<=", "=")
            assert pair.lower.name == "ours" or pair.relation == "="


def test_stronger_assumptions_pay_off_and_composition_is_never_beaten_by_itself(found):
    relations = {(pair.lower.name, pair.higher.name): pair.relation for pair in found}
    assert relations["chien_li_3_1_strongly_convex", "chien_li_3_1_convex"] == "<="
    assert relations["chien_li_3_1_convex", "chien_li_3_1_smooth"] == "<="
    assert all(pair.least <= pair.greatest for pair in found)
    assert len({frozenset(names) for names in relations}) == len(relations)


def test_it_is_the_same_every_time(found):
    again = dominance()
    assert [(pair.least, pair.greatest) for pair in again] == [(pair.least, pair.greatest) for pair in found]


def test_every_theorem_for_full_batches_is_compared(found):
    seen = {theorem.name for pair in found for theorem in (pair.lower, pair.higher)}
    assert seen == {theorem.name for theorem in compared()}


def test_the_command(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["list", "--dominance"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert "proved: chien_li/theorem_3_1/shares/no_gain" in out
    assert "output_perturbation (refuted)" in out
    assert "hypotheses contained" in out
    with pytest.raises(SystemExit) as caught:
        main(["list", "--dominance", "--paper", "d2p2"])
    assert caught.value.code == 2
