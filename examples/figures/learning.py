"""Training loss and test accuracy of a module, epoch by epoch."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from lastiterate.numeric.store import Arrays
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.workloads.workload import Workload

SPLIT = 2**51
"""The purpose of the stream that draws which rows are held out."""

Split = tuple[Tensor, Tensor, Tensor, Tensor]
"""Training inputs and targets, held-out inputs and targets."""


def split(workload: Workload, held_out: int) -> Split:
    """The rows of a workload, shuffled once, the same way for all seeds; ``held_out`` of them are for the test.

    Inputs are float32.
    """
    order = stream(0, SPLIT).permutation(workload.samples)
    inputs, targets = workload.inputs[order].float(), workload.targets[order]
    return inputs[held_out:], targets[held_out:], inputs[:held_out], targets[:held_out]


@torch.no_grad()
def learning_curve(
    workload: Workload, module: nn.Module, rows: Split, step: Callable[[], bool], steps_an_epoch: int
) -> Arrays:
    """Train by ``step``, which moves the module in place, and look at it at the start and after every epoch.

    Returns:
        "loss", the mean training loss, and "accuracy", the share of held-out rows that are classified rightly, each of
        shape (epochs + 1,), float64.
    """
    looks = [_look(workload, module, rows)]
    done = 0
    while step():
        done += 1
        if done % steps_an_epoch == 0:
            looks.append(_look(workload, module, rows))
    values = torch.tensor(looks, dtype=torch.float64).T.numpy()
    return {"loss": values[0], "accuracy": values[1]}


def stepping(
    batches: Iterator[Tensor], rows: Split, move: Callable[[Tensor, Tensor], object]
) -> Callable[[], bool]:
    """Make one step, ``move``, on the rows of the next batch; False when there is none left."""

    def step() -> bool:
        batch = next(batches, None)
        if batch is not None:
            move(rows[0][batch], rows[1][batch])
        return batch is not None

    return step


def _look(workload: Workload, module: nn.Module, rows: Split) -> tuple[float, float]:
    inputs, targets, tests, answers = rows
    each = torch.func.vmap(lambda output, target: workload.loss(output[None], target[None]))
    outputs = module(tests)
    said = outputs.argmax(dim=1) if outputs.shape[1] > 1 else (outputs[:, 0] > 0).long()
    return float(each(module(inputs), targets).mean()), float((said == answers).double().mean())
