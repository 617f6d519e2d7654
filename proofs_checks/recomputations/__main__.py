"""Record the numbers that have changed; see `kept`."""

from pathlib import Path

from lastiterate.proofs_checks.recomputations import recomputations
from lastiterate.proofs_checks.recomputations.numbers import NUMBERS


def main() -> None:
    """Write `numbers.py` anew: what holds stays as it is."""
    found = [one for numbers in recomputations().values() for one in numbers() if one.recorded]
    same = {one.what: NUMBERS[one.what] for one in found if one.low <= one.value <= one.high}
    rows = "".join(f"    {one.what!r}: {same.get(one.what, one.value)!r},\n".replace("'", '"') for one in found)
    file = Path(__file__).with_name("numbers.py")
    head = file.read_text(encoding="utf-8").partition("{\n")[0]
    file.write_text(f"{head}{{\n{rows}}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
