"""Epochs of shuffled batches in which the place of the sample stays hidden.

Both runs draw the place j of the differing sample from one law, and nobody learns it. P_j and Q_j are the laws of
the runs after the epoch given the place, and R is Q_j for one place, the pivot. Let f_j, h_j and h'_j be the
profiles of P_j against Q_j, of P_j against R and of R against Q_j. Then, for weights w_j and any numbers c_j with
sum w_j c_j <= 0,

    E_g(mean P || mean Q) <= sum w_j psi_j(c_j),
    psi_j((1 - t) r) = t f_j(g / t) + (1 - t) h_j(r)     for 0 <= t <= 1,
    psi_j(-k) = f_j(g - k r) + k h'_j(r)                 for 0 <= k r <= g,
    psi_j(c) = f_j(g + c)                                at the pivot, for c >= -g,

and chords between such values. With a multiplier for the sum of the c_j, each place chooses alone. Of two
multipliers with sums on both sides of 0, the chord is taken at sum 0. Choices are made in floats, and their values
are rounded up.

Exchanging the sample with one sample of another batch moves it there, so the runs given place j and given the pivot
differ in one sample of each of these two batches.

Source: docs/proofs/hidden_places.md (claim ours/contraction/shuffled).
"""

from copy import copy
from dataclasses import dataclass, field

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.contraction.block import Block, Prices, forget
from lastiterate.numeric.contraction.table import DOWN, TINY, UP, Table, equal

_MULTIPLIERS, _LEAST = 120, 1e-16
"""Number of multipliers tried, and the smallest."""


@dataclass(frozen=True)
class Place:
    """Some places of an epoch: their number, their block, and the numbers of clean blocks before and after it."""

    count: int
    block: Prices
    before: int
    after: int


@dataclass(frozen=True)
class HiddenEpoch:
    """An epoch, or the beginning of one, whose ``batches`` places are equally likely.

    The pivot is the first place: ``first`` holds the costs of its step with the sample, and the far cost without it.
    If ``first`` is None, the pivot stands for all places after the last step. ``clean`` are the far costs of the
    other blocks without the sample, which come before and after the blocks of the ``places``.
    """

    batches: int
    first: tuple[Prices, Table] | None
    clean: tuple[Table, ...]
    places: tuple[Place, ...]

    @property
    def size(self) -> int:
        """Number of blocks with a near cost."""
        return 2 * len(self.places) + 2


@dataclass(eq=False)
class HiddenBlocks:
    """The tables after a `HiddenEpoch`, on the nodes g of the table before it."""

    g: Array
    epoch: HiddenEpoch
    _first: Block | None = field(init=False, repr=False)
    _blocks: list[tuple[Block, ...]] = field(init=False, repr=False)
    _back: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        known = dict[int, Block]()
        for place in self.epoch.places:
            known.setdefault(id(place.block), Block(self.g, *place.block))
        own = [known[id(place.block)] for place in self.epoch.places]
        self._blocks = [tuple(_twin(block) for block in own) for _ in range(3)]
        self._first = None if self.epoch.first is None else Block(self.g, *self.epoch.first[0])
        begin = equal(self.g)
        self._back = self._ends(begin if self._first is None else self._first.after(begin), 2)

    def after(self, before: Table) -> Table:
        """The table after the epoch."""
        met, unmet, first = before, before, self.epoch.first
        if self._first is not None and first is not None:
            ahead = forget(self.g, before.ahead, first[1])
            met, unmet = self._first.after(before), Table(self.g, ahead, ahead)
        pivot = met.ahead
        for far in self.epoch.clean:
            pivot = forget(self.g, pivot, far)
        known = self._ends(unmet, 0)
        ahead = known if first is None else self._ends(met, 1)
        number = np.array([place.count for place in self.epoch.places], dtype=np.float64)
        counts = number, self.epoch.batches - float(number.sum())
        found = hide_places(self.g, (known, ahead, self._back), pivot, counts)
        return Table(self.g, found, found)

    def _ends(self, before: Table, which: int) -> Array:
        """Profiles after the epoch for every place, shape (places, n), from a table before the blocks."""
        tables = [before]
        for far in self.epoch.clean[: max(place.before for place in self.epoch.places)]:
            ahead = forget(self.g, tables[-1].ahead, far)
            tables.append(Table(self.g, ahead, ahead))
        rows = np.array(
            [
                block.after(tables[place.before]).ahead
                for block, place in zip(self._blocks[which], self.epoch.places, strict=True)
            ]
        )
        skipped = np.array([len(self.epoch.clean) - place.after for place in self.epoch.places])
        for k, far in enumerate(self.epoch.clean):
            rows[skipped <= k] = forget(self.g, rows[skipped <= k], far)
        return rows


def _twin(block: Block) -> Block:
    """A block that shares kernels and the lattice of thresholds, but has thresholds of its own."""
    _, found = block._lattice_ahead, copy(block)
    found.thresholds, found._searches = {}, type(block._searches)()
    return found


def hide_places(
    g: Array, profiles: tuple[Array, Array, Array], pivot: Array, counts: tuple[Array, float]
) -> Array:
    """Upper bounds at the nodes g on the mean over hidden places, for profiles f, h, h' of shape (places, n).

    ``pivot`` is f at the pivot, and ``counts`` are the numbers of places and how many the pivot stands for. Every
    profile serves both orders of the laws.
    """
    number, rest = counts
    total = float(number.sum()) + rest
    multipliers = np.geomspace(_LEAST, 1.0, _MULTIPLIERS)
    value, up, down = _at_pivot(g, pivot, multipliers)
    value, more, less = rest * value, rest * up, rest * down
    for times, f, h, back in zip(number.tolist(), *profiles, strict=True):
        one, up, down = _at_place(g, (f, h, back), multipliers)
        value, more, less = value + times * one, more + times * up, less + times * down
    sums = more * UP - less * DOWN
    # Sums decrease as the multiplier grows: join the last positive one with the next, or take one that is not.
    columns = np.arange(len(g))
    last = len(multipliers) - 1 - np.argmax(sums[::-1] > 0, axis=0)
    last[np.all(sums <= 0, axis=0)] = 0
    after = np.minimum(last + 1, len(multipliers) - 1)
    (one, other), (s, t) = ((array[last, columns], array[after, columns]) for array in (value, sums))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(s <= 0, 1.0, np.where(t < 0, -t / (s - t) * DOWN, 0.0))
    found = share * one + (1 - share) * other
    found = np.where((s <= 0) | (t <= 0), found, np.inf)
    revealed = number @ profiles[0] + rest * pivot
    found = np.minimum(np.minimum(found, revealed) / total * UP + TINY, 1.0)
    return np.asarray(np.minimum.accumulate(found))


def _outer(g: Array, values: Array) -> Array:
    """Values at the ratios 1/g, in increasing order, and at g."""
    return np.concatenate([((g - 1 + values) / g)[:0:-1], values])


def _at_pivot(g: Array, f: Array, multipliers: Array) -> tuple[Array, Array, Array]:
    """Values, and the positive and negative parts of c, for every multiplier (rows) and node g (columns)."""
    wide, b = _outer(g, f), np.concatenate([1 / g[:0:-1], g])
    k = np.argmin(wide + multipliers[:, None] * b, axis=1)
    value, n = np.broadcast_to(wide[k][:, None], (len(k), len(g))), len(g) - 1
    # b - g is a difference of nodes, or for b < 1 minus the sum of g - 1 and 1 - b.
    below = (g[None, :] - 1) + ((g - 1) / g)[np.maximum(n - k, 0)][:, None]
    c = np.where(k[:, None] >= n, g[np.maximum(k - n, 0)][:, None] - g, -below)
    return value, np.maximum(c, 0.0), np.maximum(-c, 0.0)


def _at_place(g: Array, profiles: tuple[Array, Array, Array], multipliers: Array) -> tuple[Array, Array, Array]:
    """Like `_at_pivot`, for a place with profiles f, h and h'."""
    f, h, back = profiles
    n, m = len(g), len(g) - 1
    wide, ratio = _outer(g, f), np.concatenate([1 / g[:0:-1], g])
    seen, hidden = _outer(g, h), _outer(g, back)
    r = np.argmin(seen + multipliers[:, None] * ratio, axis=1)
    least = seen[r] + multipliers * ratio[r]
    # c >= 0: from a = g / t on, the least of (f(a) - least) / a.
    falls = (f - least[:, None]) / g
    suffix = np.minimum.accumulate(falls[:, ::-1], axis=1)[:, ::-1]
    at = np.where(falls == suffix, np.arange(n), n)
    at = np.minimum(np.minimum.accumulate(at[:, ::-1], axis=1)[:, ::-1], m)
    none = suffix >= 0  # t = 0
    ahead = least[:, None] + g * np.minimum(suffix, 0.0)
    # c < 0: up to a = g - k r, the least of f(a) + (g - a) (h'(r) - multiplier) / r.
    rho = np.argmin((hidden - multipliers[:, None]) / ratio, axis=1)
    slope = (hidden[rho] - multipliers) / ratio[rho]
    costs = wide - ratio * slope[:, None]
    prefix = np.minimum.accumulate(costs, axis=1)
    place = np.maximum.accumulate(np.where(costs == prefix, np.arange(2 * n - 1), 0), axis=1)[:, m:]
    lower = prefix[:, m:] + g * slope[:, None] < ahead
    a = g[at]
    kept, left = np.where(none, 0.0, g / a), np.where(none, 1.0, (a - g) / a)
    value = kept * f[at] + left * seen[r][:, None]
    up = left * ratio[r][:, None]
    inside = place >= m
    away = np.where(inside, g - g[np.maximum(place - m, 0)], (g - 1) + ((g - 1) / g)[np.maximum(m - place, 0)])
    down = away / ratio[rho][:, None]
    value = np.where(lower, wide[place] + down * hidden[rho][:, None], value)
    return value, np.where(lower, 0.0, up), np.where(lower, down, 0.0)
