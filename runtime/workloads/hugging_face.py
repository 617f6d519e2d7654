"""Classifiers of the Transformers library from a folder of the user, as ``save_pretrained`` writes it.

``config.json`` says what the network is, and Transformers' own code builds it; ``model.safetensors`` has the weights,
read as numbers. Nothing of the folder runs and nothing is downloaded. Parts that a configuration may name to be fetched
or run (``auto_map``, kernels of attention, quantisation) are left out.

Attention is computed step by step, since the fused kernels have no second derivatives and no batching, and the mask is
handed over as numbers to be added, since Transformers branches on the values of one that is not. Only encoders look at
all tokens that such a mask lets them, so the families are those that were tried.
"""

import json
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.workloads.cifar import torchvision
from lastiterate.runtime.workloads.token_files import read_tokens
from lastiterate.runtime.workloads.trials import told
from lastiterate.runtime.workloads.weights import put_in, read_weights
from lastiterate.runtime.workloads.workload import Workload

FAMILIES: Final = ("albert", "bert", "camembert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta")
"""Values of ``model_type`` that are known to work."""

_SEGMENTED: Final = ("albert", "bert", "camembert", "electra", "roberta", "xlm-roberta")
"""Those of them that take segments."""

_HIDDEN: Final = -1e30
"""Added to what a token thinks of one that it must not look at; also in float32, and its exponential is 0."""

_FEW: Final = 8
_RECOMMENDED: Final[Mapping[str, object]] = {
    "inits": 1,
    "centers": 3,
    "points": 8,
    "steps": 20,
    "noise_std": 1e-5,
    "draw": "log-uniform",
    "memory": 2 * 2**30,
}


class Classifier(nn.Module):
    """A classifier of Transformers as a map of rows to scores; its parameters keep the names that they have there.

    Args:
        whole: the classifier.
        segmented: whether it takes segments.

    Shapes: (sentences, 3, tokens) of whole numbers, as `lastiterate.runtime.workloads.token_files.Tokens`, to
    (sentences, classes).
    """

    def __init__(self, whole: nn.Module, *, segmented: bool) -> None:
        super().__init__()
        for name, part in whole.named_children():
            self.add_module(name, part)
        self._segmented = segmented
        object.__setattr__(self, "_whole", whole)  # not as a part, which would put its name before all others

    def forward(self, rows: Tensor) -> Tensor:
        """Scores, shape (sentences, classes)."""
        ids, mask, segments = rows.unbind(dim=1)
        dtype = next(self.parameters()).dtype
        hidden = torch.where(mask == 0, _HIDDEN, 0.0).to(dtype)[:, None, None, :]
        hidden = hidden.expand(-1, 1, rows.shape[2], -1)
        more = {"token_type_ids": segments} if self._segmented else {}
        scores: Tensor = self._whole(input_ids=ids, attention_mask=hidden, **more).logits  # type: ignore[operator]
        return scores


def hugging_face(folder: Path, data: Path | None = None) -> Workload:
    """The classifier in ``folder`` on the tokenised sentences of the file ``data``, as ``hf:FOLDER`` names it.

    Args:
        folder: with config.json and model.safetensors.
        data: as `lastiterate.runtime.workloads.token_files.read_tokens`.

    Raises:
        InputError: a file or a package is missing, the network is no classifier of a known family, the weights are not
            its weights, or the data do not suit it.
    """
    name = f"hf:{folder}"
    config = _configured(folder, name)
    if data is None:
        raise InputError(f"A classifier needs tokenised sentences, got workload={name} without data; give --data FILE.")
    path = folder / "model.safetensors"
    if not path.is_file():
        raise InputError(
            f"A classifier needs its weights in one file model.safetensors, got workload={name} without it; save it "
            "by save_pretrained(FOLDER, safe_serialization=True)."
        )
    kept = read_weights(path)
    weights = {one: values for one, values in kept.items() if not one.endswith("position_ids")}  # saved until 2023
    found = read_tokens(data, getattr(config, "pad_token_id", None) or 0)
    segmented = config.model_type in _SEGMENTED
    classes, words = int(config.num_labels), int(config.vocab_size)
    for what, values, limit in (
        ("vocabulary", found.rows[:, 0], words),
        ("classes", found.labels, classes),
        ("segments", found.rows[:, 2], getattr(config, "type_vocab_size", 1) if segmented else 1),
    ):
        outside = values[(values < 0) | (values >= limit)]
        if len(outside):
            raise InputError(
                f"The data must stay within the {limit} {what} of workload={name}, got {int(outside[0])} in "
                f"data={data}; take the tokenizer and the labels of this network."
            )

    def classifier() -> nn.Module:
        made = _transformers(name).AutoModelForSequenceClassification.from_config(config, attn_implementation="eager")
        module = Classifier(made.eval(), segmented=segmented).eval()
        put_in(weights, module, path)
        return module

    return Workload(
        name=name,
        module=classifier,
        loss=functional.cross_entropy,
        inputs=found.rows,
        targets=found.labels,
        remark=f"Every run starts at the weights of {folder.name}, whose own training is not accounted for; dropout "
        "is off.",
        recommended={**_RECOMMENDED, "samples": min(_FEW, len(found.labels))},
    )


def _configured(folder: Path, name: str) -> Any:
    """The configuration of a classifier, without what it may ask to be fetched or run."""
    try:
        read = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"A classifier needs its config.json, got workload={name} ({type(error).__name__}); name the folder that "
            "save_pretrained wrote."
        ) from None
    kind, built = (read.get(key) for key in ("model_type", "architectures")) if isinstance(read, dict) else (None, None)
    if kind not in FAMILIES:
        raise InputError(
            f"A classifier must be of the families {', '.join(FAMILIES)}, got model_type={kind} in workload={name}; "
            "write a function that builds it, and name that as module:factory."
        )
    if not (isinstance(built, list) and any(str(one).endswith("ForSequenceClassification") for one in built)):
        raise InputError(
            f"The network must be a classifier of whole sentences, got architectures={built} in workload={name}; save "
            "one of AutoModelForSequenceClassification."
        )
    kept = {
        key: value
        for key, value in read.items()
        if not key.startswith("_") and key not in ("auto_map", "quantization_config", "model_type")
    }
    with told("config.json must describe its network", f"in workload={name}; save it again."):
        config = _transformers(name).AutoConfig.for_model(kind, **kept)
        several = config.num_labels
    if several < 2 or config.problem_type not in (None, "single_label_classification"):
        raise InputError(
            f"A classifier must choose one of at least 2 classes, got num_labels={several} and "
            f"problem_type={config.problem_type} in workload={name}; write a module:factory with its loss."
        )
    return config


def _transformers(name: str) -> Any:
    missing = [one for one in ("transformers", "safetensors") if find_spec(one) is None]
    if missing:
        raise InputError(
            f"A classifier of Hugging Face needs its library, got workload={name} without {', '.join(missing)}; run "
            "pip install 'lastiterate[runtime,transformer]'."
        )
    if find_spec("torchvision") is not None:
        torchvision("models", name)  # which Transformers imports where it is installed
    return import_module("transformers")
