"""Account of a training run in a trainer's loop, and checks of the trainer's settings."""

from collections.abc import Sequence
from typing import Final

from recorded_sgd import RecordedSGD

from lastiterate.numeric.bound import Bound, bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption

_ONE_BATCH: Final = "every step uses one batch; describe a larger batch_size"
_CLIPPED: Final = "samples are clipped one by one to clip_norm, which bounds their mean, too; leave it out"
_WHY: Final = {
    "accumulate_grad_batches": _ONE_BATCH,
    "gradient_accumulation_steps": _ONE_BATCH,
    "gradient_clip_val": _CLIPPED,
    "max_grad_norm": _CLIPPED,
    "weight_decay": "weight decay belongs to the run and is not clipped; describe it in the run, or leave it out",
    "averaging": "the theory is about the last iterate, and not about an average of several iterates",
    "load_best_model_at_end": "the theory is about the last iterate, and not about the best of several iterates",
    "label_smoothing_factor": "the loss belongs to the optimiser; smooth the labels in it",
    "neftune_noise_alpha": "the only noise is that of the run",
}


class Record:
    """Base of callbacks that check training against its run and bound the run at the end.

    Args:
        optimiser: the only optimiser that trains.
        assumption: assumption on the losses.
        order, delta: as in `lastiterate.numeric.bound.bound`.

    Attributes:
        bound: bound on the completed run; None before the end.

    Raises:
        InputError: the optimiser is not a `RecordedSGD`, or its run has no bound.
    """

    def __init__(
        self,
        optimiser: RecordedSGD,
        assumption: Assumption,
        *,
        order: float | None = None,
        delta: float | None = None,
    ) -> None:
        if not isinstance(optimiser, RecordedSGD):
            raise InputError(
                f"A record needs the RecordedSGD that trains the module, got optimiser={type(optimiser).__name__}; "
                "make one from the module, its loss and the run."
            )
        bound(optimiser.run, assumption, order=order, delta=delta)  # refuse before training
        self._optimiser, self._assumption, self._at = optimiser, assumption, {"order": order, "delta": delta}
        self.bound: Bound | None = None

    def _ended(self) -> None:
        self._optimiser.check_ended()
        self.bound = self._optimiser.bound(self._assumption, **self._at)


def check_settings(
    optimiser: RecordedSGD, optimisers: Sequence[object], **settings: tuple[object, object]
) -> None:
    """Refuse further ``optimisers`` of the trainer, and settings whose (actual, needed) values differ."""
    if len(optimisers) != 1 or optimisers[0] is not optimiser:
        names = [type(one).__name__ for one in optimisers]
        raise InputError(
            f"The account needs its own optimiser to be the only one that trains, got optimizers={names}; give the "
            "trainer only the RecordedSGD."
        )
    for name, (got, needed) in settings.items():
        if got != needed:
            why = _WHY.get(name, "other settings are not covered by the theory")
            raise InputError(f"The run needs {name}={needed}, got {name}={got}: {why}.")
