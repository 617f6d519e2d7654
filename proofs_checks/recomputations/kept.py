"""Numbers that were recorded, by name.

What is recorded is not thereby right: the other limit of such a number is an exact run where there is one, and what no
other computation reaches is at least noticed when it changes. To record what has changed, after reading the difference:

    python -m lastiterate.proofs_checks.recomputations && git diff proofs_checks/recomputations/numbers.py
"""

from math import inf, nan

from lastiterate.proofs_checks.recomputations.numbers import NUMBERS
from lastiterate.proofs_checks.recomputations.record import CLOSE, Number, recorded


def kept(what: str, value: float, share: float = CLOSE, least: float = -inf) -> Number:
    """A number that is as it was recorded, within a share, and not below what an exact run certifies."""
    return recorded(what, value, NUMBERS.get(what, nan), share, least)
