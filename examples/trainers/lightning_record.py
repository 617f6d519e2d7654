"""Callback for PyTorch Lightning (pip install 'lastiterate[lightning]'); needs `trainer_record`."""

from importlib.util import find_spec
from typing import Any

from trainer_record import Record, check_settings

from lastiterate.numeric.errors import teaches
from lastiterate.runtime.workloads.hugging_face import import_torchvision

if find_spec("torchvision") is not None:  # Lightning imports torchvision, even if built for another torch
    import_torchvision("models")

from lightning.pytorch import Callback, LightningModule, Trainer


@teaches()
class LightningRecord(Record, Callback):
    """Callback that checks training with Lightning against its run, and bounds the run at the end.

    The module's ``configure_optimizers`` returns the optimiser, and its training step returns the loss. No
    checkpoint and no logged number of an earlier model may be released. Arguments and attributes are those of
    `Record`.
    """

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:  # noqa: ARG002
        """Refuse settings that the theory does not cover."""
        bits = str(8 * self._optimiser.param_groups[0]["params"][0].dtype.itemsize)
        averages = [type(one).__name__ for one in vars(trainer)["callbacks"]]
        check_settings(
            self._optimiser,
            list[Any](trainer.optimizers),
            accumulate_grad_batches=(trainer.accumulate_grad_batches, 1),
            gradient_clip_val=(trainer.gradient_clip_val or 0, 0),
            precision=(str(trainer.precision).partition("-")[0], bits),
            devices=(trainer.world_size, 1),
            averaging=([name for name in averages if "Averaging" in name], []),
        )

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:  # noqa: ARG002
        """Bound the run."""
        self._ended()
