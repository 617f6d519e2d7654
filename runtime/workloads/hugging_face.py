"""Classifiers of the Transformers library from a user's folder in the format of ``save_pretrained``.

``config.json`` describes the network, and ``model.safetensors`` holds the weights. No code in the folder is
executed and nothing is downloaded. Parts of a configuration that could fetch or run code (``auto_map``,
attention kernels, quantisation) are ignored.

Attention is computed step by step, since fused kernels support neither second derivatives nor batching. The
mask is a tensor that is added to the scores, since Transformers branches on the values of any other mask. It
lets every token attend to all visible tokens, as in encoders.
"""

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.workloads.cifar import torchvision
from lastiterate.runtime.workloads.trials import user_code
from lastiterate.runtime.workloads.weights import put_in, read_weights
from lastiterate.runtime.workloads.workload import Workload

FAMILIES: Final = ("albert", "bert", "camembert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta")
"""Values of ``model_type`` that are known to work."""

_SEGMENTED: Final = ("albert", "bert", "camembert", "electra", "roberta", "xlm-roberta")
"""Families whose networks take segments."""

_HIDDEN: Final = -1e30
"""Number added to the attention score of a masked token; its exponential is 0 in float32, too."""

_FEW: Final = 8

_TOKENS, _MASK, _SEGMENTS, _LABELS = "input_ids", "attention_mask", "token_type_ids", "labels"

_RECOMMENDED: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "inits": 1,
        "centers": 3,
        "points": 8,
        "steps": 20,
        "noise_std": 1e-5,
        "draw": "log-uniform",
        "memory": 2 * 2**30,
    }
)
"""Settings with which measuring a transformer takes a few minutes."""


class Classifier(nn.Module):
    """Classifier as a map from (sentences, 3, tokens) to (sentences, classes)."""

    def __init__(self, whole: nn.Module, *, segmented: bool) -> None:
        super().__init__()
        for name, part in whole.named_children():
            self.add_module(name, part)
        self._segmented = segmented
        object.__setattr__(self, "_whole", whole)  # not as a submodule, which would prefix all names

    def forward(self, rows: Tensor) -> Tensor:
        ids, mask, segments = rows.unbind(dim=1)
        hidden = added_mask(mask != 0, self)
        more = {"token_type_ids": segments} if self._segmented else {}
        scores: Tensor = self._whole(input_ids=ids, attention_mask=hidden, **more).logits  # type: ignore[operator]
        return scores


def added_mask(kept: Tensor, module: nn.Module) -> Tensor:
    """Additive attention mask, (sentences, 1, tokens, tokens), from a mask of shape (sentences, tokens)."""
    hidden = torch.where(kept, 0.0, _HIDDEN).to(next(module.parameters()).dtype)
    return hidden[:, None, None, :].expand(-1, 1, kept.shape[1], -1)


def hugging_face(folder: Path, data: Path | None = None) -> Workload:
    """Classifier in ``folder`` on the tokenised sentences of the file ``data``; see `read_tokens`.

    Raises:
        InputError: a missing file or package, a network that is not a classifier of a known family, or
            weights or data that do not fit.
    """
    name, path = f"hf:{folder}", folder / "model.safetensors"
    config = _read_config(folder, name)
    if data is None:
        raise InputError(
            f"A classifier needs tokenised sentences, got workload={name} without data; give --data FILE."
        )
    if not path.is_file():
        raise InputError(
            f"A classifier needs its weights in a single file, model.safetensors, got workload={name} without it; "
            "save the classifier with save_pretrained(FOLDER, safe_serialization=True)."
        )
    kept = read_weights(path)
    # Positions were saved until 2023.
    weights = {one: values for one, values in kept.items() if not one.endswith("position_ids")}
    rows, labels = read_tokens(data, getattr(config, "pad_token_id", None) or 0)
    segmented = config.model_type in _SEGMENTED
    for what, values, limit in (
        ("token ids", rows[:, 0], config.vocab_size),
        ("classes", labels, config.num_labels),
        ("segments", rows[:, 2], getattr(config, "type_vocab_size", 1) if segmented else 1),
    ):
        outside = values[(values < 0) | (values >= int(limit))]
        if len(outside):
            raise InputError(
                f"The data must stay within the {limit} {what} of workload={name}, got {int(outside[0])} in "
                f"data={data}; use the tokenizer and the labels of this network."
            )

    def classifier() -> nn.Module:
        made = transformers(name).AutoModelForSequenceClassification.from_config(
            config, attn_implementation="eager"
        )
        module = Classifier(made.eval(), segmented=segmented).eval()
        put_in(weights, module, path)
        return module

    return Workload(
        name=name,
        module=classifier,
        loss=functional.cross_entropy,
        inputs=rows,
        targets=labels,
        remark=f"Every run starts at the weights of {folder.name}, whose own training is not accounted for; dropout "
        "is off.",
        recommended={**_RECOMMENDED, "samples": min(_FEW, len(labels))},
    )


def _read_config(folder: Path, name: str) -> Any:
    try:
        read = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"A classifier needs its config.json, got workload={name} ({type(error).__name__}); name the folder that "
            "save_pretrained wrote."
        ) from None
    kind, built = (
        (read.get(key) for key in ("model_type", "architectures")) if isinstance(read, dict) else (None, None)
    )
    if kind not in FAMILIES:
        raise InputError(
            f"A classifier must belong to one of the families {', '.join(FAMILIES)}, got model_type={kind} in "
            f"workload={name}; write a function that builds it, and name the function as module:factory."
        )
    if not (isinstance(built, list) and any(str(one).endswith("ForSequenceClassification") for one in built)):
        raise InputError(
            f"The network must classify whole sentences, got architectures={built} in workload={name}; save "
            "an AutoModelForSequenceClassification."
        )
    left_out = ("auto_map", "quantization_config", "model_type")
    kept = {key: value for key, value in read.items() if not key.startswith("_") and key not in left_out}
    with user_code("config.json must describe its network", f"in workload={name}; save it again."):
        config = transformers(name).AutoConfig.for_model(kind, **kept)
        several = config.num_labels
    if several < 2 or config.problem_type not in (None, "single_label_classification"):
        raise InputError(
            f"A classifier must choose one of at least 2 classes, got num_labels={several} and "
            f"problem_type={config.problem_type} in workload={name}; write a module:factory with its loss."
        )
    return config


def transformers(name: str) -> Any:
    """The transformers library; an `InputError` naming the workload if it is missing."""
    missing = [one for one in ("transformers", "safetensors") if find_spec(one) is None]
    if missing:
        raise InputError(
            f"A Hugging Face classifier needs packages that are not installed, got workload={name} without "
            f"{', '.join(missing)}; run pip install 'lastiterate[runtime,transformer]'."
        )
    if find_spec("torchvision") is not None:
        torchvision("models", name)  # Transformers imports torchvision if it is installed
    return import_module("transformers")


def read_tokens(path: Path, padding: int) -> tuple[Tensor, Tensor]:
    """Sentences of a file with the columns input_ids, attention_mask, labels and optionally token_type_ids.

    Args:
        path: a .safetensors, .npz, .parquet or .jsonl file; no code in it is executed.
        padding: number of the padding token, which fills up shorter sentences.

    Returns:
        Rows, shape (n, 3, tokens), which hold the token numbers, the mask (1 at tokens, 0 after the end) and
        the segments; and classes, shape (n,).

    Raises:
        InputError: a file that is missing, damaged or of another kind, or columns that do not fit together.
    """
    if not path.is_file():
        raise InputError(f"Tokenised data must be a file, got data={path}; check the path.")
    if path.suffix not in _READERS:
        raise InputError(
            f"Tokenised data must be in a file whose name ends in one of {', '.join(_READERS)}, got "
            f"data={path}; convert it."
        )
    try:
        columns = _READERS[path.suffix](path)
        columns = {_LABELS if name == "label" else name: values for name, values in columns.items()}
        for name in (_TOKENS, _MASK, _LABELS):
            if name not in columns:
                raise InputError(
                    f"Tokenised data need {_TOKENS}, {_MASK} and {_LABELS}, got data={path} without {name}; write the "
                    "output of the tokenizer, and the class of each sentence."
                )
        ids, mask = ([_whole_numbers(row) for row in columns[name]] for name in (_TOKENS, _MASK))
        segments = [_whole_numbers(row) for row in columns.get(_SEGMENTS, ())] or [
            torch.zeros_like(row) for row in ids
        ]
        labels = _whole_numbers(columns[_LABELS])
    except InputError:
        raise
    except ImportError as error:
        raise InputError(
            f"This file needs {error.name}, which is not installed, got data={path}; install the package."
        ) from None
    except Exception as error:  # damaged bytes may raise anything
        said = f"{type(error).__name__}: {' '.join(str(error).split())[:100].rstrip('.')}"
        raise InputError(
            f"Tokenised data must be whole numbers in an undamaged file, got data={path} ({said}); write it again."
        ) from None
    lengths = {tuple(map(len, one)) for one in (ids, mask, segments)}
    if len(lengths) > 1 or labels.ndim != 1 or len(labels) != len(ids) or not ids:
        raise InputError(
            f"Tokenised data need a mask as long as each sentence and one label per sentence, got data={path} with "
            f"{len(ids)} sentences and {_LABELS} of shape={tuple(labels.shape)}; write columns of equal length."
        )
    for row, one in enumerate(mask):
        if not set(one.tolist()) <= {0, 1} or not one.any():
            raise InputError(
                f"{_MASK} must be 1 at the tokens and 0 after them, got row={row} of data={path}; correct it."
            )
    filled = [pad_sequence(one, True, by) for one, by in ((ids, padding), (mask, 0), (segments, 0))]
    return torch.stack(filled, dim=1), labels


def _whole_numbers(values: Any) -> Tensor:
    read = np.asarray(values)
    if read.dtype.kind not in "iub":
        raise ValueError(f"{read.dtype} is not an integer type")
    return torch.from_numpy(read.astype(np.int64))


def _of_lines(path: Path) -> Mapping[str, Any]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {name: [row[name] for row in rows] for name in rows[0]}


_READERS: Final[Mapping[str, Callable[[Path], Mapping[str, Any]]]] = MappingProxyType({
    ".safetensors": lambda path: import_module("safetensors.numpy").load_file(path),
    ".npz": lambda path: dict(np.load(path, allow_pickle=False)),
    ".parquet": lambda path: import_module("pyarrow.parquet").read_table(path).to_pydict(),
    ".jsonl": _of_lines,
})  # fmt: skip
