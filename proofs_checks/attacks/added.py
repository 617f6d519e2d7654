"""Attacks for data sets of which one has a sample more, the adjacency of Liang et al. and of D2P2-SGD's page.

P is the law with the added sample, which pushes the iterate up. Batches are of b samples drawn without replacement, so
that it comes with chance b/(n + 1) and takes another's place, or every sample comes with chance b/n and the sum is
divided by b. A setting has a size b of the batches. Where all others have gradient -K, a batch of b samples with the
added one is moved by 2 eta K/b; where they push outwards as steeply as L-smooth losses may, runs that have drifted
apart are pushed further apart.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import inf, isfinite

import numpy as np

from lastiterate.numeric.lower.grid import Update
from lastiterate.numeric.lower.line import BinomialLaw, mixture_masses
from lastiterate.numeric.lower.masses import renyi_below
from lastiterate.numeric.lower.walk import Walk, last_masses
from lastiterate.proofs_checks.attacks.record import JUST_BELOW, Assumed, Attack, BothDirections, Setting

MAX_STEPS = 60
_Pair = tuple[Update, Update]
"""The updates on a batch without and with the added sample."""


def _half(setting: Setting) -> float:
    """Half the length of the interval; anything where there is none, as only means at 0 are used."""
    return setting["D"] / 2 if isfinite(setting["D"]) else 1.0


def _affine(setting: Setting, drift: float) -> Update:
    return Update.affine(1.0, drift, _half(setting))


def _others_down(setting: Setting) -> _Pair:
    """Others -K, in batches of b samples."""
    pull, r = setting["eta"] * setting["K"], setting["eta"] * setting["K"] / setting["b"] * JUST_BELOW
    return _affine(setting, -pull), _affine(setting, -pull + 2 * r)


def _others_apart(setting: Setting) -> _Pair:
    """Others clip(L x, -K, K) uphill, in batches of b samples."""
    push, r = setting["eta"] * setting["K"] * JUST_BELOW, setting["eta"] * setting["K"] / setting["b"] * JUST_BELOW
    reach = setting["K"] / setting["L"] if setting["L"] else inf
    rest = (setting["b"] - 1) / setting["b"]
    half = _half(setting)
    return Update.pushed(1.0, 0.0, half, push, reach), Update.pushed(1.0, r, half, push * rest, reach)


def _others_nothing(setting: Setting) -> _Pair:
    """Others 0; the batches are of any size."""
    return _affine(setting, 0.0), _affine(setting, setting["eta"] * setting["K"] / setting["b"] * JUST_BELOW)


def _on_the_line(setting: Setting, pair: _Pair, rate: Fraction) -> BothDirections | None:
    move = float((pair[1].mean(np.zeros(1)) - pair[0].mean(np.zeros(1)))[0])
    up, base = (BinomialLaw(int(setting["T"]), rate, z, setting["sigma"]) for z in (move, 0.0))
    order = setting["alpha"]
    try:
        return BothDirections(*(renyi_below(order, *mixture_masses(order, *laws)) for laws in ((up, base), (base, up))))
    except ArithmeticError:  # too far apart for floats
        return None


def _on_an_interval(setting: Setting, pair: _Pair, rate: Fraction) -> BothDirections | None:
    if setting["T"] > MAX_STEPS:
        return None
    plain, order = pair[0], setting["alpha"]
    laws = [
        last_masses(
            Walk(int(setting["T"]), setting["sigma"], setting["D"], ((1.0, plain),), ((1.0, met),), float(rate))
        )
        for met in (pair[1], plain)
    ]
    if laws[0] is None or laws[1] is None:
        return None
    both = (renyi_below(order, laws[0], laws[1]), renyi_below(order, laws[1], laws[0]))
    return BothDirections(*(value * JUST_BELOW for value in both))


@lru_cache(maxsize=4096)
def _solved(batches: str, numbers: tuple[tuple[str, float], ...]) -> tuple[BothDirections, ...]:
    """Losses of the attacks on such batches at a setting; they depend on neither the bound nor the order asked for."""
    setting, found = dict(numbers), list[BothDirections | None]()
    n, b = int(setting["n"]), int(setting["b"])
    rate = Fraction(b, n) if batches == "drawn" else Fraction(b, n + 1)
    for run in _RUNS[batches]:
        if isfinite(setting["D"]):
            found.append(_on_an_interval(setting, run(setting), rate))
        elif run is not _others_apart:
            found.append(_on_the_line(setting, run(setting), rate))
    return tuple(filter(None, found))


def _attack(batches: str, *, second: bool) -> Attack:
    def attack(setting: Setting, assumed: Assumed) -> BothDirections | None:  # noqa: ARG001
        found = _solved(batches, tuple(setting.items()))
        if not found:
            return None
        forward = 0.0 if second else max(one.forward for one in found)
        return BothDirections(forward, max(one.backward for one in found))

    size = "batches of b samples" if batches == "fixed" else "every sample drawn with chance b/n"
    return Attack(
        name=f"added_{batches}" + ("_second" if second else ""),
        run=f"one sample more, which pushes up; {size}" + ("; the larger data set second" if second else ""),
        meets=frozenset({Assumed.CLIPPED, Assumed.SMOOTH}),
        bounded=None,
        maps=False,
        solve=attack,
    )


_RUNS: Mapping[str, tuple[Callable[[Setting], _Pair], ...]] = {
    "fixed": (_others_down, _others_apart),
    "drawn": (_others_nothing,),
}
ADDED = tuple(_attack(batches, second=second) for batches in _RUNS for second in (False, True))
"""One attack a kind of batches, of both orders and of the one whose second law is that of the larger data set."""
