"""Numbers that were recorded, by name.

What is recorded is not thereby right: the other limit of such a number is an exact run where there is one, and what no
other computation reaches is at least noticed when it changes. To record what has changed, after reading the difference:

    python -m lastiterate.proofs_checks.recomputations.kept && git diff proofs_checks/recomputations/numbers.py
"""

from math import inf, nan
from pathlib import Path

from lastiterate.proofs_checks.recomputations.numbers import NUMBERS
from lastiterate.proofs_checks.recomputations.record import CLOSE, Number, recorded


def kept(what: str, value: float, share: float = CLOSE, least: float = -inf) -> Number:
    """A number that is as it was recorded, within a share, and not below what an exact run certifies."""
    return recorded(what, value, NUMBERS.get(what, nan), share, least)


def _record() -> None:
    from lastiterate.proofs_checks.recomputations import recomputations

    found = [one for numbers in recomputations().values() for one in numbers() if one.recorded]
    same = {one.what: NUMBERS[one.what] for one in found if one.low <= one.value <= one.high}
    rows = "".join(f"    {one.what!r}: {same.get(one.what, one.value)!r},\n".replace("'", '"') for one in found)
    file = Path(__file__).with_name("numbers.py")
    head = file.read_text(encoding="utf-8").partition("{\n")[0]
    file.write_text(f"{head}{{\n{rows}}}\n", encoding="utf-8")


if __name__ == "__main__":
    _record()
