"""Text networks of the Transformers library from a user's folder in the format of ``save_pretrained``.

``config.json`` describes the network, and the weights are read as numbers. No code in the folder is executed and
nothing is downloaded. Parts of a configuration that could fetch or run code (``auto_map``, attention kernels,
quantisation) are ignored.

Attention is computed step by step, since fused kernels support neither second derivatives nor batching. The
mask is a tensor that is added to the scores, since Transformers branches on the values of any other mask. It
lets every token attend to all visible tokens, or in decoders to those before it. The outputs are compared with
those that Transformers computes with its own mask.
"""

import json
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.trials import user_code
from lastiterate.runtime.workloads.columns import read_columns
from lastiterate.runtime.workloads.weights import put_in, read_weights
from lastiterate.runtime.workloads.workload import Workload

_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ForSequenceClassification": "AutoModelForSequenceClassification",
        "ForTokenClassification": "AutoModelForTokenClassification",
        "ForMaskedLM": "AutoModelForMaskedLM",
        "ForCausalLM": "AutoModelForCausalLM",
        "LMHeadModel": "AutoModelForCausalLM",
    }
)
"""Classes of Transformers by the end of the name of an architecture."""

_LANGUAGE: Final = ("AutoModelForMaskedLM", "AutoModelForCausalLM")

_IGNORED: Final = -100
"""Label of the tokens that the loss ignores, as in Transformers."""

_HIDDEN: Final = -1e30
"""Number added to the attention score of a masked token; its exponential is 0 in float32, too."""

_CLOSE: Final = 1e-5
"""Largest difference between scores with two kinds of masks, relative to the largest score, in float64. Some networks
compute parts in float32."""

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


class OnRows(nn.Module):
    """Network as a map from rows, shape (n, 3, tokens), to scores, (n, classes) or (n, tokens, classes)."""

    def __init__(self, whole: nn.Module, *, segmented: bool) -> None:
        super().__init__()
        for name, part in whole.named_children():
            self.add_module(name, part)
        self._causal, self._segmented = False, segmented
        object.__setattr__(self, "_whole", whole)  # not as a submodule, which would prefix all names

    def causally(self, causal: bool) -> "OnRows":
        """The network itself, with a mask that lets tokens attend to those before them only if ``causal``."""
        self._causal = causal
        return self

    def forward(self, rows: Tensor, *, their_mask: bool = False) -> Tensor:
        ids, mask, segments = rows.unbind(dim=1)
        seen = mask if their_mask else added_mask(mask != 0, self, causal=self._causal)
        more = {"token_type_ids": segments} if self._segmented else {}
        scores: Tensor = self._whole(input_ids=ids, attention_mask=seen, **more).logits  # type: ignore[operator]
        return scores


def added_mask(kept: Tensor, module: nn.Module, *, causal: bool = False) -> Tensor:
    """Additive attention mask, (sentences, 1, tokens, tokens), from a mask of shape (sentences, tokens)."""
    size = kept.shape[1]
    seen = kept[:, None, None, :].expand(-1, 1, size, -1)
    if causal:
        seen = seen & torch.ones(size, size, dtype=torch.bool, device=kept.device).tril()
    return torch.where(seen, 0.0, _HIDDEN).to(next(module.parameters()).dtype)


def token_loss(output: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy in the mean over the labelled tokens of each row, and then over the rows."""
    labelled = target != _IGNORED
    each = functional.cross_entropy(output.flatten(0, 1), target.flatten(), reduction="none").view_as(target)
    return (each.sum(dim=1) / labelled.sum(dim=1)).mean()


def next_token_loss(output: Tensor, target: Tensor) -> Tensor:
    """The loss of `token_loss` for the token after each position."""
    return token_loss(output[:, :-1], target[:, 1:])


def _squared_error(output: Tensor, target: Tensor) -> Tensor:
    return functional.mse_loss(output.reshape(target.shape), target.to(output.dtype))


def _binary_losses(output: Tensor, target: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(output, target.to(output.dtype))


def hugging_face(folder: Path, data: Path | None = None) -> Workload:
    """Workload of the network in ``folder`` and the tokenised sentences in the file ``data``; see `read_tokens`.

    It classifies sentences (one class, several classes, or numbers) or tokens, or is a language model. Without
    labels, a causal language model predicts the next token of every sentence.

    Raises:
        InputError: a missing file or package, a network of another kind, weights or data that do not fit, or a
            network whose outputs differ from those with the mask of Transformers.
    """
    name = f"hf:{folder}"
    config, kind = _read_config(folder, name)
    if data is None:
        raise InputError(
            f"A text network needs tokenised sentences, got workload={name} without data; give --data FILE."
        )
    weights = read_weights(folder)
    rows, labels = read_tokens(
        data, getattr(config, "pad_token_id", None) or 0, labelled=kind != "AutoModelForCausalLM"
    )
    classes = config.vocab_size if kind in _LANGUAGE else config.num_labels
    loss = functional.cross_entropy if labels.ndim == 1 else token_loss
    if kind == "AutoModelForCausalLM":
        loss = next_token_loss
    elif kind == "AutoModelForSequenceClassification" and config.problem_type != "single_label_classification":
        if config.problem_type == "regression" or config.num_labels == 1:
            loss = _squared_error
        elif config.problem_type == "multi_label_classification":
            loss = _binary_losses
    chosen = loss in (functional.cross_entropy, token_loss, next_token_loss)
    shape = tuple(rows[:, 0].shape) if kind != "AutoModelForSequenceClassification" else (len(rows),)
    if not chosen and config.num_labels > 1:
        shape = (len(rows), config.num_labels)
    if tuple(labels.shape) != shape or (chosen and labels.is_floating_point()):
        raise InputError(
            f"The labels must be {'whole numbers' if chosen else 'numbers'} of shape={shape} for this network, got "
            f"shape={tuple(labels.shape)} and {labels.dtype} in data={data} for workload={name}; correct the column."
        )
    if loss is next_token_loss and bool((labels[:, 1:] == _IGNORED).all(dim=1).any()):
        raise InputError(
            f"Every sentence needs a labelled token after the first, got data={data} with one without for "
            f"workload={name}; remove it."
        )
    counted = labels[labels != _IGNORED] if labels.ndim > 1 else labels
    segmented = bool(rows[:, 2].any())
    for what, values, limit in (
        ("token ids", rows[:, 0], config.vocab_size),
        ("classes", counted if chosen else counted[:0], classes),
        ("segments", rows[:, 2], getattr(config, "type_vocab_size", 0) or 1),
    ):
        outside = values[(values < 0) | (values >= int(limit))]
        if len(outside):
            raise InputError(
                f"The data must stay within the {limit} {what} of workload={name}, got {int(outside[0])} in "
                f"data={data}; use the tokenizer and the labels of this network."
            )

    def network() -> OnRows:
        made = getattr(transformers(name), kind).from_config(config, attn_implementation="eager")
        module = OnRows(made.eval(), segmented=segmented).eval()
        put_in(weights, module, folder)
        return module

    lengths = rows[:, 1].sum(dim=1)
    tried = rows[[int(lengths.argmin()), int(lengths.argmax())]]
    with user_code("The network must take the sentences", f"in workload={name}; use others."):
        causal = _is_causal(network().double(), tried, name)
    return Workload(
        name=name,
        module=lambda: network().causally(causal),
        loss=loss,
        inputs=rows,
        targets=labels,
        remark=f"Every run starts at the weights of {folder.name}, whose own training is not accounted for; dropout "
        "is off.",
        recommended={**_RECOMMENDED, "samples": min(_FEW, len(labels))},
    )


def _is_causal(module: OnRows, rows: Tensor, name: str) -> bool:
    """Find out if attention is causal: compare scores of padded sentences with those of Transformers without padding.

    Both masks may give similar scores, and they agree on a sentence of one token: the closer one on all ``rows``,
    among them the longest sentence, is right.
    """
    distances: dict[bool, float] = {}
    with torch.no_grad():
        for causal, row in product((False, True), (rows[:1], rows[1:])):
            kept = row[0, 1] != 0
            theirs, ours = module(row[:, :, kept], their_mask=True), module.causally(causal)(row)
            gap = (ours[:, kept] if ours.ndim > 2 else ours) - theirs
            distances[causal] = max(distances.get(causal, 0.0), float(gap.abs().max() / theirs.abs().max()))
    causal = distances[True] < distances[False]
    if not distances[causal] <= _CLOSE:
        raise InputError(
            f"The network must give the scores that Transformers gives for a sentence without padding, got others in "
            f"workload={name}; write a function that builds it, and name the function as module:factory."
        )
    return causal


def _read_config(folder: Path, name: str) -> tuple[Any, str]:
    try:
        read = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"A network needs its config.json, got workload={name} ({type(error).__name__}); name the folder that "
            "save_pretrained wrote."
        ) from None
    kind, built = (
        (read.get(key) for key in ("model_type", "architectures")) if isinstance(read, dict) else (None, None)
    )
    ends = [
        end
        for end in _KINDS
        if any(str(one).endswith(end) for one in (built if isinstance(built, list) else ()))
    ]
    if not isinstance(kind, str) or not ends:
        raise InputError(
            f"The network must end in one of {', '.join(_KINDS)}, got model_type={kind} and architectures={built} in "
            f"workload={name}; write a function that builds it, and name the function as module:factory."
        )
    left_out = ("auto_map", "quantization_config", "model_type")
    kept = {key: value for key, value in read.items() if not key.startswith("_") and key not in left_out}
    with user_code("config.json must describe its network", f"in workload={name}; save it again."):
        config = transformers(name).AutoConfig.for_model(kind, **kept)
    return config, _KINDS[ends[0]]


def transformers(name: str) -> Any:
    """The transformers library; an `InputError` naming the workload if it is missing."""
    missing = [one for one in ("transformers", "safetensors") if find_spec(one) is None]
    if missing:
        raise InputError(
            f"A Hugging Face network needs packages that are not installed, got workload={name} without "
            f"{', '.join(missing)}; run pip install 'lastiterate[runtime,transformer]'."
        )
    if find_spec("torchvision") is not None:
        import_torchvision("models")  # Transformers imports torchvision if it is installed
    return import_module("transformers")


def import_torchvision(part: str) -> ModuleType:
    """Import ``torchvision.models`` or ``torchvision.datasets``, even if built for another torch.

    If torch lacks CUDA, the operators in torchvision's Linux wheels do not load, and the import fails because
    two of them are not declared; these are then declared without an implementation.
    """
    try:
        return import_module(f"torchvision.{part}")
    except RuntimeError as error:
        if "operator torchvision::" not in str(error):
            raise
    for operator in ("nms", "qnms"):
        torch.library.define(
            f"torchvision::{operator}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
        )
    return import_module(f"torchvision.{part}")


def read_tokens(path: Path, padding: int, *, labelled: bool = True) -> tuple[Tensor, Tensor]:
    """Sentences of a file with the columns input_ids, attention_mask, labels and optionally token_type_ids.

    The mask may be omitted if no sentence contains the padding token.

    Args:
        path: a .safetensors, .npz, .parquet or .jsonl file; no code in it is executed.
        padding: number of the padding token, which fills up shorter sentences.
        labelled: False if the tokens themselves are the labels of data without labels.

    Returns:
        Rows, shape (n, 3, tokens), which hold the token numbers, the mask (1 at tokens, 0 after the end) and
        the segments; and labels, one or several per sentence, or one per token (-100 after the end).

    Raises:
        InputError: a file that is missing, damaged or of another kind, or columns that do not fit together.
    """

    def use(columns: Mapping[str, Any]) -> tuple[list[Tensor], ...]:
        columns = {_LABELS if name == "label" else name: values for name, values in columns.items()}
        if _MASK not in columns and not any(padding in row for row in columns.get(_TOKENS, ())):
            columns[_MASK] = [[1] * len(row) for row in columns.get(_TOKENS, ())]
        for name in (_TOKENS, _MASK, _LABELS):
            if name not in columns and (labelled or name != _LABELS):
                raise InputError(
                    f"Tokenised data need {_TOKENS}, {_MASK} and {_LABELS}, got data={path} without {name}; write the "
                    "output of the tokenizer, and the class of each sentence."
                )
        ids, mask = ([_whole_numbers(row) for row in columns[name]] for name in (_TOKENS, _MASK))
        segments = [_whole_numbers(row) for row in columns.get(_SEGMENTS, ())] or [
            torch.zeros_like(row) for row in ids
        ]
        return ids, mask, segments, [torch.from_numpy(np.array(row)) for row in columns.get(_LABELS, ())]

    ids, mask, segments, each = read_columns(path, "Tokenised data", "whole numbers", use)
    lengths = {tuple(map(len, one)) for one in (ids, mask, segments)}
    each = each or [torch.where(held != 0, row, _IGNORED) for row, held in zip(ids, mask, strict=False)]
    one_size = len({one.shape for one in each}) == 1 or [one.shape for one in each] == [
        row.shape for row in ids
    ]
    if len(lengths) > 1 or not one_size or len(each) != len(ids) or each[0].dtype.is_complex:
        raise InputError(
            f"Tokenised data need a mask as long as each sentence, and labels for each sentence or for each token, got "
            f"data={path} with {len(ids)} sentences and {len(each)} {_LABELS}; write columns of equal length."
        )
    labels = pad_sequence(each, True, _IGNORED) if each[0].ndim else torch.stack(each)
    labels = labels.float() if labels.is_floating_point() else labels.long()
    if (
        labels.ndim == 2
        and labels.shape[1] == max(map(len, ids))
        and bool((labels == _IGNORED).all(dim=1).any())
    ):
        raise InputError(f"Every sentence needs a labelled token, got data={path} with one without; remove it.")
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
