"""Settings of a trainer that the theory does not cover, told in one sentence."""

from collections.abc import Sequence
from typing import Final

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import described_assumption
from lastiterate.runtime.training.recorded import RecordedSGD

_WHY: Final = {
    "accumulate_grad_batches": "every step is on one batch; describe a larger batch_size",
    "gradient_accumulation_steps": "every step is on one batch; describe a larger batch_size",
    "gradient_clip_val": "samples are clipped one by one to clip_norm, and a clip of their mean would do nothing",
    "max_grad_norm": "samples are clipped one by one to clip_norm, and a clip of their mean would do nothing",
    "weight_decay": "decay is a number of the run, outside of the clip; describe it there, or leave it out",
    "averaging": "the theory is about the last iterate, and not about an average of several",
    "load_best_model_at_end": "the theory is about the last iterate, and not about the best of several",
    "label_smoothing_factor": "the loss is that of the optimiser; smooth there",
    "neftune_noise_alpha": "the only noise is that of the run",
}


def check_account(optimiser: object, assumption: object) -> None:
    """Refuse, before anything is trained, what keeps no account and what is no assumption.

    Raises:
        InputError: the optimiser is no `RecordedSGD`, or the assumption none.
    """
    if not isinstance(optimiser, RecordedSGD):
        raise InputError(
            f"A record needs the RecordedSGD that trains, got optimiser={type(optimiser).__name__}; make one of the "
            "module, its loss and the run."
        )
    described_assumption(assumption)


def check_settings(optimiser: RecordedSGD, optimisers: Sequence[object], **settings: tuple[object, object]) -> None:
    """Refuse another optimiser, and settings that are not what they need to be.

    Args:
        optimiser: the one that keeps the account.
        optimisers: those of the trainer.
        **settings: name -> (what it is, what it needs to be).

    Raises:
        InputError: the first that does not fit.
    """
    if len(optimisers) != 1 or optimisers[0] is not optimiser:
        names = [type(one).__name__ for one in optimisers]
        raise InputError(
            f"The account needs its own optimiser to be the only one that trains, got optimizers={names}; hand over "
            "the RecordedSGD."
        )
    for name, (got, needed) in settings.items():
        if got != needed:
            why = _WHY.get(name, "other settings are not covered by the theory")
            raise InputError(f"The run needs {name}={needed}, got {name}={got}: {why}.")
