"""Trial of a network and its loss on several rows together: no row may change the gradient of another.

Private training clips the gradient of every sample, and its theorems count on one row more moving the clipped sum by
one clip norm at most. A loss that divides by something of the batch (class weights, entries that count, a norm) breaks
that as batch norm does. Alone, a row is divided by its own weight, which cancels: what is clipped is then no part of
what is trained. So the slopes of the loss of several rows in their outputs are compared with those of each row alone:
they must be the mean, or the sum, at every size of the batch. What is not refused is not proved.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations_with_replacement, product
from math import isfinite
from typing import Final

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_unflatten

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.workloads.mixed_rows import ROWS, refuse_mixed_rows
from lastiterate.runtime.workloads.rows import Rows
from lastiterate.runtime.workloads.telling_rows import telling_rows
from lastiterate.runtime.workloads.together import Loss, Network, Together, in_its_precision, moved, with_labels
from lastiterate.runtime.workloads.trials import nearby, random_state_kept, told

_BESIDE: Final = 19
"""Rows in the batch that one more joins."""

_NUMBERS: Final = 2**22
"""Numbers in the outputs that are looked at together."""

_SIZES: Final = (64, 257)
"""Of batches in which rows stand several times, where there is room."""

_COARSE: Final = ((1e-11, torch.float32), (1e-5, torch.bfloat16))
"""A relative change of outputs that a loss in double precision shows, and the dtype of one that does not show it."""

_ULPS: Final = 16.0
"""Rounding of a slope of order 1, as those of a softmax that is all but certain."""

_PAIRS: Final = 3
"""Pairs of rows whose effect is computed, the most tied ones."""


def refuse_tied_rows(
    name: str,
    module: nn.Module,
    loss: Loss,
    inputs: Rows,
    targets: Rows,
    *,
    clip_norm: float | None = None,
    batched: bool = False,
) -> str:
    """Refuse a module that mixes rows, and a loss of several rows that is not the mean or the sum of theirs alone.

    Args:
        name: of the workload.
        module: on the device and in the dtype of its rows.
        loss: loss(output, target) of a batch.
        inputs: shape (n, ...).
        targets: shape (n, ...).
        clip_norm: by which the effect of a row is told; None for the longest gradient of a row alone.
        batched: gradients are read off a pass of the whole batch, so that the loss must take one and be its mean.

    Returns:
        On what it was tried, in words.

    Raises:
        InputError: with the pair of rows and the factor by which one row moves the clipped sum.
    """
    chosen = telling_rows(inputs, targets)
    rows, labels = (held[torch.tensor(chosen)] for held in (inputs, targets))
    with random_state_kept(rows.device), told("The module must take rows", f"in workload={name}; mend its forward."):
        mixing = "" if refuse_mixed_rows(name, module, rows[:ROWS]) else ", the module alone was not tried"
        network = Network(module, rows)
        leaves, spec = tree_flatten(network.outputs())
    if not all(isinstance(leaf, Tensor) and leaf.ndim and len(leaf) == len(rows) for leaf in leaves):
        return "rows were not tried together, as the module has no output for each"
    most = max(2, min(len(rows), _NUMBERS // max(1, sum(leaf[0].numel() for leaf in leaves))))
    given = Together(
        loss, [leaf[:most] for leaf in leaves], lambda held: tree_unflatten(held, spec), labels[:most],
        [f"row {k}" for k in chosen[:most]], list(range(len(rows[:most]))),
    )  # fmt: skip
    return refuse_tied_losses(name, given, network, clip_norm=clip_norm, batched=batched) + mixing


def refuse_tied_losses(
    name: str,
    given: Together,
    network: Network | None = None,
    *,
    clip_norm: float | None = None,
    batched: bool = False,
) -> str:
    """Refuse a loss that ties rows, as `refuse_tied_rows`, at given outputs and at others like them."""
    need = "The loss must take the outputs and the targets of several rows"
    rest = f"in workload={name}; give loss(output, target) of a batch, as the training loop calls it."
    with random_state_kept(given.targets.device), told(need, rest):
        given = in_its_precision(given)
        try:
            first, again = (given.on([0])[0] for _ in range(2))
            given.on([0, 0])
        except Exception:
            if batched:
                raise
            return "the loss takes one row at a time"
        if bool(first != again) and _is_random(given):
            return "rows were not tried together, as the loss is random"
        for tried in (with_labels(given), moved(given)):
            _Trial(name, tried, network, clip_norm, batched).refuse()
    return f"the loss of {len(given.names)} rows together is the mean{'' if batched else ' or the sum'} of theirs alone"


class _Trial:
    """Losses of batches against those of their rows alone."""

    def __init__(
        self, name: str, given: Together, network: Network | None, clip_norm: float | None, batched: bool
    ) -> None:
        self._name, self._given, self._network = name, given, network
        self._clip_norm, self._batched = clip_norm, batched
        self._alone: dict[int, tuple[Tensor, Tensor]] = {}
        self._lost: list[int] = []
        for row in range(len(given.names)):
            with suppress(Exception):  # of a label that the loss does not know
                value, slopes = given.on([row])
                if _finite(value, slopes):
                    self._alone[row] = value, slopes
                else:
                    self._lost.append(row)
        if self._alone:
            other = next(iter(self._alone.values()))
            alone = [self._alone.get(row, other) for row in range(len(given.names))]
            self._values, self._slopes = torch.stack([one[0] for one in alone]), torch.cat([one[1] for one in alone])
            self._epsilon = self._rounding()

    def refuse(self) -> None:
        """Refuse what ties rows, with the pair whose effect is greatest.

        Raises:
            InputError: with it.
        """
        rows, summed = list(self._alone), False
        pairs = [(row, lost) for lost in self._lost for row in rows if self._is_finite((row, lost))]
        if rows and not pairs:
            steep = max(rows, key=lambda row: (float(self._slopes[row].abs().max()), float(self._values[row].abs())))
            twice = self._off([steep, steep])
            summed = not self._batched and twice[1] < twice[0]
            if max(self._off(batch)[summed] for batch in self._batches(rows)) > self._epsilon**0.5:
                most = sorted(combinations_with_replacement(rows, 2), key=lambda pair: -self._off(pair)[summed])
                pairs = most[:_PAIRS]
        if not pairs:
            return
        factor, pair = max((self._factor(pair, summed), pair) for pair in pairs[:_PAIRS])
        values = [self._alone[row][0] if row in self._alone else torch.tensor(torch.nan) for row in pair]
        together, *alone = (f"{float(value):.6g}" for value in (self._given.on(pair)[0], *values))
        named = " and ".join(self._given.names[row] for row in pair)
        norm = f"clip_norm={self._clip_norm:g}" if self._clip_norm else "their greatest length"
        mend = "reduction='none', times fixed weights of the rows, and then .mean()"
        if not self._batched:
            mend = f"reduction='sum' over a constant, or {mend}"
        raise InputError(
            f"The loss of several rows must be the mean{'' if self._batched else ' or the sum'} of the losses of the "
            f"rows alone, got loss={together} for {named} of workload={self._name} and {' and '.join(alone)} alone, so "
            f"that one row more beside {_BESIDE} moves the sum of their gradients, clipped to {norm}, by {factor:.3g} "
            f"clip norms; divide by a fixed number: {mend}."
        )

    def _batches(self, rows: list[int]) -> Iterator[list[int]]:
        yield rows
        if len(rows) > 1:
            yield from (rows[: len(rows) // 2], rows[len(rows) // 2 :], rows[:3], rows[-2:])
        for size in _SIZES:
            if size * self._slopes.shape[1] <= _NUMBERS:
                yield (rows * size)[:size]
        yield rows[:1]  # what a loss keeps of the batches before it shows here

    def _off(self, batch: Sequence[int]) -> tuple[float, float]:
        """Distance of a batch from the mean and from the sum, in units of the greatest slope, or else of the loss."""
        value, slopes = self._given.on(batch)
        places = torch.tensor(batch).to(self._slopes.device)
        want = self._slopes[places]
        floor = _ULPS * self._epsilon**0.5 / want.shape[1]
        found = []
        for times in (1 / len(batch), 1.0):
            off, most = (slopes - times * want).abs().max(), times * want.abs().max()
            if not bool(off > 0) and not bool(most > 0):
                each = self._values[places]
                off, most = (value - times * each.sum()).abs(), times * each.abs().sum()
            share = float(off / (most + floor))
            found.append(share if isfinite(share) else 1.0)
        return found[0], found[1]

    def _is_finite(self, batch: Sequence[int]) -> bool:
        with suppress(Exception):  # of a row that is not finite alone
            return _finite(*self._given.on(batch))
        return False

    def _rounding(self) -> float:
        """The relative rounding of the loss, which may compute in less than what it is given and returns."""
        rows = [row for row, (_, slopes) in self._alone.items() if bool(slopes.any())][:ROWS]
        found = torch.finfo(self._alone[rows[0]][0].dtype if rows else torch.float64).eps
        for share, dtype in _COARSE:
            near = replace(self._given, leaves=[nearby(leaf, share) for leaf in self._given.leaves])
            if rows and all(torch.equal(near.on([row])[0], self._alone[row][0]) for row in rows):
                found = max(found, torch.finfo(dtype).eps)
        return found

    def _factor(self, pair: tuple[int, int], summed: bool) -> float:
        """The most by which a row of the pair moves the clipped sum of many of them, in clip norms."""
        given, network = self._given, self._network

        def gradients(batch: list[int]) -> Tensor:
            slopes = given.on(batch)[1] * (1 if summed else len(batch))
            return given.gradients(batch, slopes.nan_to_num(0.0, 0.0, 0.0), network).double()

        def clipped(found: Tensor, norm: float) -> Tensor:
            return (found * (norm / _lengths(found).clamp(min=norm))[:, None]).sum(dim=0)

        alone = [given.gradients([row], self._alone[row][1], network) for row in pair if row in self._alone]
        longest = max(float(_lengths(one).max()) for one in alone)
        moved = [0.0]
        for others in product(pair, repeat=2):
            beside = [others[k % 2] for k in range(_BESIDE)]
            without = gradients(beside)
            for row in pair:
                with_row = gradients([*beside, row])
                for norm in [self._clip_norm] if self._clip_norm else [longest, float(_lengths(with_row).max())]:
                    if norm > 0:
                        apart = clipped(with_row, norm) - clipped(without, norm)
                        moved.append(float(apart.norm()) / norm)
        return max(moved)


def _lengths(gradients: Tensor) -> Tensor:
    lengths: Tensor = torch.linalg.vector_norm(gradients, dim=1)
    return lengths


def _finite(value: Tensor, slopes: Tensor) -> bool:
    return bool(value.isfinite()) and bool(slopes.isfinite().all())


def _is_random(given: Together) -> bool:
    """Tell whether the loss of a row is the same for the same random numbers: it then keeps no state."""
    values = []
    for _ in range(2):
        torch.manual_seed(0)
        values.append(given.on([0])[0])
    return torch.equal(*values)
