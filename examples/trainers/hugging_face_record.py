"""Callback for the Trainer of Hugging Face (pip install 'lastiterate[trainer]'); needs `trainer_record`."""

from typing import Any

from trainer_record import Record, check_settings
from transformers import TrainerCallback

from lastiterate.numeric.errors import teaches


@teaches()
class HuggingFaceRecord(Record, TrainerCallback):
    """Callback that checks ``transformers.Trainer`` against its run, and bounds the run at the end.

    The trainer takes ``optimizers=(optimiser, None)``, its ``get_train_dataloader`` returns the optimiser's
    batches, and its arguments are ``max_grad_norm=0`` and ``lr_scheduler_type="constant"``, unless the run
    describes another schedule. No checkpoint and no logged number of an earlier model may be released.
    Arguments and attributes are those of `Record`.
    """

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        """Refuse settings that the theory does not cover."""
        wrapped, decay = given.get("optimizer"), self._optimiser.run.weight_decay
        check_settings(
            self._optimiser,
            [getattr(wrapped, "optimizer", wrapped)],
            gradient_accumulation_steps=(args.gradient_accumulation_steps, 1),
            max_grad_norm=(args.max_grad_norm or 0, 0),
            fp16=(args.fp16, False),
            bf16=(args.bf16, False),
            weight_decay=(args.weight_decay or decay, decay),
            label_smoothing_factor=(args.label_smoothing_factor, 0),
            load_best_model_at_end=(args.load_best_model_at_end, False),
            neftune_noise_alpha=(args.neftune_noise_alpha or 0, 0),
            n_gpu=(max(args.n_gpu, args.world_size), 1),
        )

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        """Bound the run."""
        self._ended()
