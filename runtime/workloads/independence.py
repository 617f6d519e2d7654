"""Test of per-sample independence: no row may change the output, the loss or the gradient of another.

The theorems assume that one more row moves the clipped sum by at most one clip norm. This fails for a network
that mixes rows, and for a loss that divides by a quantity that depends on the batch (class weights, a count
of entries, a norm) and cancels for a single row. The test therefore compares the output and gradient of a row
alone and in a batch. It also requires that the loss of a batch has the same slopes in the outputs as the
mean, or the sum, of the single-row losses. Passing the test is not a proof.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, is_dataclass, replace
from itertools import combinations_with_replacement
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.leaves import called_at, places_of
from lastiterate.runtime.trials import user_code
from lastiterate.runtime.workloads.rows import Rows, telling_rows

Loss = Callable[[Any, Tensor], Tensor]

_ROWS: Final = 4
"""Number of rows passed through the module together."""

_PARAMETERS: Final = 2**22
"""Largest number of parameter entries that are moved and differentiated, smallest tensors first."""

_MOVED: Final = 0.01
"""Relative size of a change of the parameters, since a part that is initially zero does not yet mix rows."""

_SLACK: Final = 16.0
"""Rounding error of a gradient relative to an output's, and of a slope of order 1, in ulps."""

_LABELS: Final = 16
"""Number of labels tested in addition to the rows' labels, since adjacent data may contain them."""

_NUMBERS: Final = 2**22
"""Largest number of output entries processed together."""

_SIZES: Final = (64, 257)
"""Sizes of batches with repeated rows, used if they fit."""

_COARSE: Final = ((1e-11, torch.float32), (1e-5, torch.bfloat16))
"""Relative changes of outputs, each with the dtype that a loss is taken to use if the change has no effect."""

_SAME: Final = 1e-5
"""Relative difference up to which two losses count as equal."""


@contextmanager
def keep_random_state(device: torch.device) -> Iterator[None]:
    """Leave torch's random state unchanged."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        yield


def opened(output: Any) -> Any:
    """Tensors of a dataclass by name; any other output itself."""
    if not is_dataclass(output) or isinstance(output, Mapping):
        return output
    return {key: value for key, value in vars(output).items() if isinstance(value, Tensor)}


def first_tensor(output: object) -> Tensor | None:
    """First tensor of a module's output, or None if it is not real."""
    output = opened(output)
    while isinstance(output, tuple | list | Mapping) and output:
        output = next(iter(output.values() if isinstance(output, Mapping) else output))
    return output if isinstance(output, Tensor) and output.is_floating_point() else None


def outputs_differ(left: Tensor, right: Tensor) -> bool:
    """Test whether two outputs differ by more than rounding."""
    largest = right.nan_to_num(0.0, 0.0, 0.0).abs().max() if right.numel() else 0.0
    # nan compares False; the loss shows it.
    return bool(((left - right).abs() > tolerance(right) * largest).any())


def tolerance(values: Tensor) -> float:
    """Relative tolerance, above rounding in another order of summation and far below the effect of mixing."""
    return float(torch.finfo(values.dtype).eps ** 0.5)


def _perturb(values: Tensor, share: float) -> Tensor:
    """Real values, each reduced by a random share of at most ``share``, or noise if all are 0."""
    if not values.is_floating_point():
        return values
    return (
        values * (1 - share * torch.rand_like(values))
        if bool(values.any())
        else share * torch.randn_like(values)
    )


@dataclass(frozen=True)
class Together:
    """Outputs of some rows (tensors in any nesting), the rows' targets, and the loss of a batch."""

    loss: Loss
    outputs: Any
    targets: Tensor
    names: list[str]

    def on(self, batch: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Loss of a batch, and its slopes in the outputs, shape (rows, numbers)."""
        places = torch.tensor(batch).to(self.targets.device)
        held = tree_map(lambda leaf: leaf[places].detach(), self.outputs)
        moving = [leaf.requires_grad_() for leaf in tree_leaves(held) if leaf.is_floating_point()]
        with torch.enable_grad():
            value = self.loss(held, self.targets[places])
        if not isinstance(value, Tensor) or value.ndim or not value.is_floating_point():
            raise TypeError("a loss that is not one real number")
        slopes: Sequence[Tensor] = [torch.zeros_like(leaf) for leaf in moving]
        if value.requires_grad:
            slopes = torch.autograd.grad(value, moving, allow_unused=True, materialize_grads=True)
        return value.detach(), torch.cat([slope.reshape(len(batch), -1) for slope in slopes], dim=1)

    def in_its_precision(self) -> "Together":
        """Copy in double precision or, if the loss refuses it, in a precision that the loss accepts."""
        for dtype in (torch.float64, tree_leaves(self.outputs)[0].dtype, torch.float32):
            with suppress(Exception):  # tensors of another dtype in the loss, or a device without doubles
                cast = lambda one: one.to(dtype) if one.is_floating_point() else one  # noqa: B023, E731
                loss = deepcopy(self.loss).to(dtype) if isinstance(self.loss, nn.Module) else self.loss
                outputs, targets = tree_map(cast, (self.outputs, self.targets))
                found = replace(self, loss=loss, outputs=outputs, targets=targets)
                found.on([0])
                return found
        return self

    def perturbed(self, share: float) -> "Together":
        """Copy with perturbed outputs, since all may be 0 initially."""
        return replace(self, outputs=tree_map(lambda leaf: _perturb(leaf, share), self.outputs))

    def with_labels(self) -> "Together":
        """Copy with additional rows that have other labels; on a GPU only labels between existing labels."""
        targets = self.targets
        classes = [
            leaf.shape[place]
            for leaf in tree_leaves(self.outputs)
            if leaf.ndim > 1
            for place in {1, leaf.ndim - 1}  # a label out of range may end the process, as in ctc_loss
            if leaf.ndim == 2 or (*leaf.shape[1:place], *leaf.shape[place + 1 :]) == targets.shape[1:]
        ]
        if (
            targets.is_floating_point()
            or targets.is_complex()
            or targets.dtype is torch.bool
            or not targets.numel()
        ):
            return self
        seen = torch.unique(targets.cpu())
        least, most = max(0, int(seen[0])), int(seen[-1])
        if targets.device.type == "cpu":  # an out-of-range label does no harm on the CPU
            least, most = 0, max([most, *(number - 1 for number in classes)])
        labels = torch.unique(
            torch.linspace(least, max(least, most), _LABELS, dtype=torch.float64).round().to(seen)
        )
        labels = labels[~torch.isin(labels, seen)]
        base = (torch.arange(len(labels)) % len(targets)).to(targets.device)
        others = labels.to(targets.device).reshape(-1, *[1] * (targets.ndim - 1)).expand(-1, *targets.shape[1:])
        return replace(
            self,
            outputs=tree_map(lambda leaf: torch.cat([leaf, leaf[base]]), self.outputs),
            targets=torch.cat([targets, others]),
            names=[*self.names, *(f"a row of label {label}" for label in labels.tolist())],
        )

    def is_random(self) -> bool:
        """True if the loss of a row varies between calls, but not for a fixed random seed."""
        first, again = (self.on([0])[0] for _ in range(2))
        values = []
        for _ in range(2):
            torch.manual_seed(0)
            values.append(self.on([0])[0])
        return bool(first != again) and torch.equal(*values)


def random_outputs(loss: Loss, targets: Tensor, outputs: int) -> Together:
    """Random outputs, ``outputs`` for each telling row, in the shape of the targets if sizes agree."""
    chosen = telling_rows(targets, targets)
    labels = targets[torch.tensor(chosen)].cpu()
    output = torch.randn(len(chosen), outputs, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    output = output.reshape(labels.shape) if output.numel() == labels.numel() else output
    return Together(loss, output, labels, [f"row {k}" for k in chosen])


def refuse_tied_rows(
    name: str, module: nn.Module, loss: Loss, inputs: Rows, targets: Rows, *, batched: bool = False
) -> str:
    """Refuse a module that mixes rows, and a batch loss that is not the mean or sum of the single-row losses.

    If gradients are read off a pass over the whole batch (``batched``), the loss must accept a batch and
    return the mean. Returns a description of the test.
    """
    chosen = telling_rows(inputs, targets)
    rows, labels = (held[torch.tensor(chosen)] for held in (inputs, targets))
    with (
        keep_random_state(rows.device),
        user_code("The module must take rows", f"in workload={name}; correct its forward."),
    ):
        mixing = "" if _refuse_mixed_rows(name, module, rows[:_ROWS]) else ", the module itself was not tested"
        outputs, closed = _outputs_of(module, rows)
        leaves = tree_leaves(outputs)
    if not leaves or not all(
        isinstance(leaf, Tensor) and leaf.ndim and len(leaf) == len(rows) for leaf in leaves
    ):
        return "rows were not tested together, because the module has no output for each row"
    most = max(2, min(len(rows), _NUMBERS // max(1, sum(leaf[0].numel() for leaf in leaves))))
    outputs, names = tree_map(lambda leaf: leaf[:most], outputs), [f"row {k}" for k in chosen[:most]]
    own = loss if closed is None else lambda held, target: loss(closed(held), target)
    return refuse_tied_losses(name, Together(own, outputs, labels[:most], names), batched=batched) + mixing


def refuse_tied_losses(name: str, given: Together, *, batched: bool = False) -> str:
    """Refuse a loss that ties rows, as in `refuse_tied_rows`, at the given outputs and at perturbed ones."""
    need = "The loss must take the outputs and the targets of several rows"
    rest = f"in workload={name}; give loss(output, target) of a batch, as the training loop calls it."
    with keep_random_state(given.targets.device), user_code(need, rest):
        given = given.in_its_precision()
        try:
            given.on([0, 0])
        except Exception:
            if batched:
                raise
            return "the loss takes one row at a time"
        if given.is_random():
            return "rows were not tested together, because the loss is random"
        for tried in (given.with_labels(), given.perturbed(0.5)):
            _Trial(tried, batched).refuse(name)
    return f"the loss of {len(given.names)} rows together is the mean{'' if batched else ' or the sum'} of their losses"


def refuse_other_loss(given: Loss, targets: Tensor, outputs: int, loss: str, scale: float) -> None:
    """Refuse a loss that ties rows or differs at random outputs from ``scale`` times the named ``loss``."""
    refuse_tied_losses("certified", random_outputs(given, targets, outputs))
    generator = torch.Generator().manual_seed(0)
    for target in targets[: 2 * _ROWS]:
        output = torch.randn(1, outputs, generator=generator, dtype=torch.float64)
        with user_code(f"The workload's loss must be scale times {loss}", "at a random output; name the loss."):
            if loss == "cross_entropy":
                wanted = float(functional.cross_entropy(output, target[None].long()))
            else:
                wanted = float(
                    functional.binary_cross_entropy_with_logits(output[0, 0], target.reshape(()).double())
                )
            got = float(given(output, target[None]))
        if not abs(got - scale * wanted) <= _SAME * scale:
            raise InputError(
                f"The workload's loss must be scale times {loss}, got {got:g} instead of {scale * wanted:g} with "
                f"scale={scale:g}; give constants_of_network the loss and the scale of the workload (for this loss, "
                f"the scale is {got / wanted:g})."
            )


def _outputs_of(module: nn.Module, rows: Tensor) -> tuple[Any, Callable[[Any], Any] | None]:
    """Outputs of rows (None if there are none for each row) and, if they are lists of tensors, `_closing` of one."""
    for size in (_ROWS, 1):
        try:
            with torch.no_grad():
                made = [module(some) for some in torch.split(rows, size)]
            closed = _closing(made[0])
            if closed is not None:
                made = [[leaf for leaf in tree_leaves(opened(one)) if isinstance(leaf, Tensor)] for one in made]
            if not all(leaf.ndim for leaf in tree_leaves(made)):
                break
            return tree_map(lambda *leaves: torch.cat(leaves), *made), closed
        except Exception:
            if size == 1:
                raise
    return None, None


def _closing(output: Any) -> Callable[[Any], Any] | None:
    """Function that makes an output of its tensors, or None if it is a tree of tensors only."""
    inner = opened(output)
    leaves, form = tree_flatten(inner)
    places = [k for k, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    if inner is output and len(places) == len(leaves):
        return None

    def closed(tensors: Any) -> Any:
        given = dict(zip(places, tensors, strict=True))
        whole = tree_unflatten([given.get(k, leaf) for k, leaf in enumerate(leaves)], form)
        return whole if inner is output else replace(output, **whole)

    return closed


def _refuse_mixed_rows(name: str, module: nn.Module, rows: Tensor) -> bool:
    """Refuse a module that mixes rows at or near its parameters; False if this cannot be tested."""
    if len(rows) == 1 and rows.is_floating_point():
        rows = torch.cat([rows, _perturb(rows, 0.5)])
    places = places_of(module)
    for share in (0.0, _MOVED):
        point = _some_parameters(module, share)
        try:
            again, together, *each = (
                _real_tensors(called_at(module, point, some, places))
                for some in (rows[:1], rows, *torch.split(rows, 1))
            )
        except Exception:  # a module for single rows cannot mix rows
            return False
        tried = False
        for first, whole, *alone in zip(again, together, *each, strict=False):
            if outputs_differ(alone[0], first) or whole.shape != (len(alone), *alone[0].shape[1:]):
                continue  # random, or not one output per row
            tried, apart = True, torch.cat(alone)
            if outputs_differ(whole, apart) or _gradients_differ(whole, apart, list(point.values())):
                raise InputError(
                    "Per-sample gradients need a module whose output for a row does not depend on the other rows, got "
                    f"different outputs for {len(rows)} rows together and one by one in workload={name}; normalise "
                    "within a sample (group norm, layer norm)."
                )
        if not tried:
            return False
    return True


def _real_tensors(output: object) -> list[Tensor]:
    first = first_tensor(output)
    leaves = [
        leaf for leaf in tree_leaves(opened(output)) if isinstance(leaf, Tensor) and leaf.is_floating_point()
    ]
    return leaves if first is None else [first, *(leaf for leaf in leaves if leaf is not first)]


def _some_parameters(module: nn.Module, share: float) -> dict[str, Tensor]:
    trained = [(key, one.detach()) for key, one in module.named_parameters() if one.requires_grad]
    point: dict[str, Tensor] = {}
    numbers = 0
    for key, one in sorted(trained, key=lambda pair: pair[1].numel()):
        numbers += one.numel()
        if numbers > _PARAMETERS and point:
            break
        size = share * (one.square().mean().sqrt() + 1)
        point[key] = (one + size * torch.randn_like(one) if share else one.clone()).requires_grad_()
    return point


def _gradients_differ(together: Tensor, apart: Tensor, leaves: Sequence[Tensor]) -> bool:
    if not together.requires_grad or not apart.requires_grad:
        return False
    along = torch.randn_like(together)
    options = {"retain_graph": True, "allow_unused": True, "materialize_grads": True}  # outputs share graphs
    here, there = (
        torch.cat(
            [
                (one.to_dense() if one.is_sparse else one).reshape(-1)
                for one in torch.autograd.grad(outputs, leaves, along, **options)
            ]
        )
        for outputs in (together, apart)
    )
    # nan compares False.
    return bool((here - there).norm() > _SLACK * tolerance(together) * there.norm())


class _Trial:
    """Comparison of the losses of batches with the losses of single rows."""

    def __init__(self, given: Together, batched: bool) -> None:
        self._given, self._batched = given, batched
        self._alone: dict[int, tuple[Tensor, Tensor]] = {}
        self._lost: list[int] = []
        for row in range(len(given.names)):
            with suppress(Exception):  # labels unknown to the loss
                value, slopes = given.on([row])
                if _finite(value, slopes):
                    self._alone[row] = value[None], slopes
                else:
                    self._lost.append(row)
        self._epsilon = self._rounding()

    def refuse(self, name: str) -> None:
        rows = list(self._alone)
        pair = next(((row, lost) for lost in self._lost for row in rows if self._is_finite((row, lost))), None)
        if rows and pair is None:
            steep = max(
                rows, key=lambda row: tuple(float(one.abs().max()) for one in reversed(self._alone[row]))
            )
            twice = self._off([steep, steep])
            summed = not self._batched and twice[1] < twice[0]
            if max(self._off(batch)[summed] for batch in self._batches(rows)) > self._epsilon**0.5:
                pair = max(combinations_with_replacement(rows, 2), key=lambda one: self._off(one)[summed])
        if pair is None:
            return
        values = [self._alone[row][0] if row in self._alone else torch.tensor(torch.nan) for row in pair]
        together, *alone = (f"{float(value):.6g}" for value in (self._given.on(pair)[0], *values))
        mean, mend = "mean", "reduction='none', times fixed weights of the rows, and then .mean()"
        if not self._batched:
            mean, mend = "mean or the sum", f"reduction='sum' over a constant, or {mend}"
        raise InputError(
            f"The loss of several rows must be the {mean} of the losses of the individual rows, got loss={together} "
            f"for {' and '.join(self._given.names[row] for row in pair)} of workload={name} and {' and '.join(alone)} "
            f"for the individual rows, so one row changes the gradients of others; divide by a fixed number: {mend}."
        )

    def _batches(self, rows: list[int]) -> Iterator[list[int]]:
        yield rows
        if len(rows) > 1:
            yield from (rows[: len(rows) // 2], rows[len(rows) // 2 :], rows[:3], rows[-2:])
        for size in _SIZES:
            if size * self._alone[rows[0]][1].shape[1] <= _NUMBERS:
                yield (rows * size)[:size]
        yield rows[:1]  # reveals state kept from earlier batches

    def _off(self, batch: Sequence[int]) -> tuple[float, float]:
        """Deviation of a batch from the mean and the sum, relative to the largest slope or the loss."""
        value, slopes = self._given.on(batch)
        each, want = (torch.cat(ones) for ones in zip(*(self._alone[row] for row in batch), strict=True))
        floor, found = _SLACK * self._epsilon**0.5 / want.shape[1], []
        for times in (1 / len(batch), 1.0):
            off, most = (slopes - times * want).abs().max(), times * want.abs().max()
            if not bool(off > 0) and not bool(most > 0):
                off, most = (value - times * each.sum()).abs(), times * each.abs().sum()
            found.append(float((off / (most + floor)).nan_to_num(nan=1.0, posinf=1.0)))
        return found[0], found[1]

    def _is_finite(self, batch: Sequence[int]) -> bool:
        with suppress(Exception):  # rows that are not finite alone
            return _finite(*self._given.on(batch))
        return False

    def _rounding(self) -> float:
        """Relative rounding error of the loss, which may compute in lower precision than its result."""
        rows = [row for row, (_, slopes) in self._alone.items() if bool(slopes.any())][:_ROWS]
        found = torch.finfo(self._alone[rows[0]][0].dtype if rows else torch.float64).eps
        for share, dtype in _COARSE:
            near = self._given.perturbed(share)
            if rows and all(bool(near.on([row])[0] == self._alone[row][0]) for row in rows):
                found = max(found, torch.finfo(dtype).eps)
        return found


def _finite(value: Tensor, slopes: Tensor) -> bool:
    return bool(value.isfinite()) and bool(slopes.isfinite().all())
