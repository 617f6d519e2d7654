"""Gradients as sums of outer products: the same as those made in full, for every kind of layer, near and far."""

import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lastiterate.runtime import factors as module
from lastiterate.runtime import inner_products
from lastiterate.runtime.constants.pairs import measure_center
from lastiterate.runtime.constants.sampling import Sampling
from lastiterate.runtime.factors import Factored, Outer
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.inner_products import _gamma, prepare_factors, products, root
from lastiterate.runtime.leaves import flat
from lastiterate.runtime.pair_table import PairTable
from lastiterate.runtime.random_streams import WORDS, stream
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

SAMPLES = 5


class Tokens(nn.Module):
    """Two tables of rows, one with a padding row, one layer of attention, and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(30, 32, padding_idx=0), nn.Embedding(8, 32)
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True).eval()
        self.norm, self.head = nn.LayerNorm(32), nn.Linear(32, 40)

    def forward(self, rows: Tensor) -> Tensor:
        with sdpa_kernel(SDPBackend.MATH):
            hidden = self.layer(self.words(rows) + self.places(torch.arange(rows.shape[1])))
        return self.head(self.norm(hidden).mean(dim=1))


class Tied(nn.Module):
    """One matrix used twice, one that is reshaped, one that is used plainly, and a scale."""

    def __init__(self) -> None:
        super().__init__()
        self.twice, self.turned, self.plain = (nn.Linear(24, size, bias=False) for size in (24, 24, 72))
        self.scale = nn.Parameter(torch.ones(24))

    def forward(self, rows: Tensor) -> Tensor:
        inside = torch.tanh(self.twice(self.twice(rows) * self.scale))
        return self.plain(torch.tanh(inside @ self.turned.weight))


class Alike(nn.Module):
    """Two tables of one shape, and four matrices of one shape, one of which sees another number of tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Embedding(30, 32), nn.Embedding(30, 32)
        self.first, self.second, self.third, self.pooled = (nn.Linear(32, 32) for _ in range(4))

    def forward(self, rows: Tensor) -> Tensor:
        hidden = self.left(rows) + torch.tanh(self.right(rows.flip(1)))
        for part in (self.first, self.second, self.third):
            hidden = torch.tanh(part(hidden))
        return self.pooled(hidden.mean(dim=1))


def rows_of(*shape: int) -> Tensor:
    return torch.randn(SAMPLES, *shape, generator=torch.Generator().manual_seed(3))


def words() -> Tensor:
    return torch.tensor([[4, 4, 7], [0, 29, 4], [1, 2, 3], [7, 7, 7], [5, 0, 0]])


def convolutions() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(4, 16, 3, stride=2, padding=1),
        nn.Tanh(),
        nn.Conv2d(16, 60, 3, stride=(1, 2), padding=(1, 0)),
        nn.Tanh(),
        nn.Conv2d(60, 60, 3, padding="same", groups=60),
        nn.Flatten(),
        nn.Linear(120, 9),
    )


NETWORKS: dict[str, tuple[Callable[[], nn.Module], Tensor, set[str]]] = {
    "linear": (
        lambda: nn.Sequential(nn.Linear(24, 40), nn.Tanh(), nn.Linear(40, 30, bias=False)),
        rows_of(24),
        {"0.weight", "2.weight"},
    ),
    "tokens": (
        Tokens,
        words(),
        {
            "words.weight", "places.weight", "head.weight", "layer.self_attn.in_proj_weight",
            "layer.self_attn.out_proj.weight", "layer.linear1.weight", "layer.linear2.weight",
        },
    ),
    "convolutions": (convolutions, rows_of(4, 4, 8), {"2.weight", "6.weight"}),
    "tied": (Tied, rows_of(24), {"plain.weight"}),
    "alike": (Alike, words(), {f"{name}.weight" for name in ("left", "right", "first", "second", "third", "pooled")}),
}  # fmt: skip


def made(name: str, monkeypatch: pytest.MonkeyPatch, dtype: str = "float64", memory: int = 2**28) -> Gradients:
    monkeypatch.setattr(module, "_FEWEST", 1)
    network, rows, _ = NETWORKS[name]
    targets = torch.arange(SAMPLES) % 4

    def loss(out: Tensor, target: Tensor) -> Tensor:
        return nn.functional.cross_entropy(out.flatten(1), target)

    workload = Workload(name, network, loss, rows, targets)
    return Gradients(workload, workload.initial(0), dtype=dtype, memory=memory)


def in_full(gradients: Gradients) -> Gradients:
    gradients.__dict__["factored"] = None
    return gradients


@pytest.mark.parametrize("name", NETWORKS)
def test_each_layer_has_the_gradient_that_is_made_in_full(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gradients = made(name, monkeypatch)
    assert gradients.factored is not None
    names = [name for name, p in gradients.module.named_parameters() if p.requires_grad]
    assert {names[k] for k in gradients.factored.uses} == NETWORKS[name][2]
    point = gradients.start + 0.1 * torch.randn(gradients.dimension, generator=torch.Generator().manual_seed(1))
    for samples in (slice(1, 4), torch.tensor([4, 0])):
        full = gradients.at(point[None], samples)
        parts = gradients.factored.at(gradients.parameters(point), samples)
        for i in range(full[0].shape[1]):
            one = torch.zeros(full[0].shape[1], dtype=torch.float64)
            one[i] = 1.0
            found = gradients.factored.in_order(gradients.factored.summed(parts, one))
            for mine, theirs in zip(found, full, strict=True):
                torch.testing.assert_close(mine, theirs[0, i], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("clip_norm", [0.05, 100.0])
@pytest.mark.parametrize("radius", [1e-5, 0.3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["linear", "tokens", "convolutions", "alike"])
def test_pairs_agree_within_the_floors(
    name: str, dtype: str, radius: float, clip_norm: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    gradients = made(name, monkeypatch, dtype)
    assert gradients.factored is not None
    found, full = (
        table(own, radius, clip_norm) for own in (gradients, in_full(made(name, monkeypatch, dtype)))
    )
    assert (found.distances == full.distances).all()
    for kind, expected in full.differences.items():
        assert (abs(found.differences[kind] - expected) <= found.floors + full.floors).all(), kind
        assert (abs(found.blocks[kind] - full.blocks[kind]).max(axis=1) <= found.floors + full.floors).all(), (
            kind
        )
        if dtype == "float64":  # with |g|^2 - 2 <g, h> + |h|^2 six digits would be gone at the short distance
            assert abs(found.differences[kind] / expected - 1).max() < 3e-9, kind
    assert (found.floors >= full.floors * (1 - 1e-4)).all()
    assert (found.floors <= 2 * full.floors).all() or dtype == "float64"
    assert (found.floors <= 2e-7 * found.differences["sample"]).all() or dtype == "float32"  # type: ignore[index]


def table(gradients: Gradients, radius: float, clip_norm: float) -> PairTable:
    return measure_center(
        gradients, gradients.start, clip_norm, Sampling(points=3, radius=radius), stream(5, 1)
    )


def test_sums_of_chunks_are_those_of_all_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, few = made("tokens", monkeypatch), made("tokens", monkeypatch)
    assert few.factored is not None
    few.factored._at_once = 2
    expected, found = (table(gradients, 0.3, 0.05) for gradients in (whole, few))
    for kind in expected.differences:
        torch.testing.assert_close(
            torch.from_numpy(found.blocks[kind]), torch.from_numpy(expected.blocks[kind]), rtol=1e-9, atol=1e-12
        )
    total = whole.total(whole.start, 0.05)
    torch.testing.assert_close(few.total(few.start, 0.05), total, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("chosen", [None, torch.tensor([3, 0]), torch.tensor([], dtype=torch.long)])
def test_clipped_totals_are_those_of_gradients_in_full(
    chosen: Tensor | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tokens", "convolutions"):
        gradients = made(name, monkeypatch)
        assert gradients.factored is not None
        found = gradients.total(gradients.start, 0.5, chosen)
        expected = in_full(gradients).total(gradients.start, 0.5, chosen)
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)


def test_small_networks_and_wrong_factors_are_made_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    workload = load_workload("builtin:digits-cnn")
    assert Gradients(workload, workload.initial(0)).factored is None
    of_samples = module.Use.of_samples

    def off(self: Any, *given: Any) -> Outer:
        right = of_samples(self, *given)
        return Outer(right.inputs, right.slopes * 1.01)

    assert made("linear", monkeypatch).factored is not None
    monkeypatch.setattr(module.Use, "of_samples", off)
    assert made("linear", monkeypatch).factored is None


def test_the_functions_of_torch_are_put_back_and_other_threads_see_none_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = [getattr(nn.functional, name) for name in module._ARGUMENTS]
    gradients, seen = made("linear", monkeypatch), []
    assert gradients.factored is not None
    other, rows = nn.Linear(3, 2), torch.ones(4, 3)
    expected = other(rows)
    loss = gradients.factored._loss

    def asking(*given: Any) -> Tensor:
        asked = threading.Thread(target=lambda: seen.append(other(rows)))
        asked.start()
        asked.join()
        return loss(*given)

    monkeypatch.setattr(gradients.factored, "_loss", asking)
    gradients.factored.at(gradients.parameters(gradients.start), slice(0, 2))
    assert [torch.equal(one, expected) for one in seen] == [True]

    def broken(*_given: Any) -> Tensor:
        raise ValueError("broken")

    monkeypatch.setattr(gradients.factored, "_loss", broken)
    with pytest.raises(ValueError, match="broken"):
        gradients.factored.at(gradients.parameters(gradients.start), slice(0, 2))
    assert [getattr(nn.functional, name) for name in module._ARGUMENTS] == before


class Longest(TorchDispatchMode):
    """The numbers of the longest tensor that is made."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        self.numbers = max([self.numbers, *(leaf.untyped_storage().nbytes() // leaf.element_size()
                                            for leaf in tree_leaves(out) if isinstance(leaf, Tensor))])  # fmt: skip
        return out


def test_nothing_of_samples_times_parameters_is_made() -> None:
    workload = Workload(
        "wide",
        lambda: nn.Sequential(nn.Linear(600, 500), nn.Tanh(), nn.Linear(500, 10)),
        nn.functional.cross_entropy,
        torch.randn(20, 600, generator=torch.Generator().manual_seed(0)),
        torch.zeros(20, dtype=torch.long),
    )
    gradients = Gradients(workload, workload.initial(0))
    assert gradients.factored is not None
    with Longest() as seen:
        table(gradients, 1.0, 0.1)
        gradients.total(gradients.start, 0.1)
    words = -(-gradients.dimension // WORDS) * WORDS
    assert gradients.dimension <= seen.numbers <= 3 * words, "three points are drawn at once"


@pytest.mark.parametrize("cancelling", [0.0, 1.0 - 1e-7, 1.0])
@pytest.mark.parametrize("near", [1e-9, 1.0])
def test_the_rounding_of_inner_products_is_bounded(near: float, cancelling: float) -> None:
    """Exact rational arithmetic says what the products of these very floats are."""
    drawn = torch.Generator().manual_seed(7)
    here, there = ends(near, cancelling, drawn)
    found = products((there,), prepare_factors((here,)))
    u, v = torch.tensor([0.75], dtype=torch.float64), torch.tensor([0.5], dtype=torch.float64)
    for scale, factors in (((u, v), (0.75, 0.5)), ((u / u, v / v), (1.0, 1.0))):
        squared, error = found.scaled(*scale)
        exact = exact_square(here, there, *factors)
        assert abs(Fraction(float(squared)) - exact) <= Fraction(float(error))
        value, off = root(squared, error)
        low, high = (max(Fraction(float(value)) + sign * Fraction(float(off)), Fraction(0)) for sign in (-1, 1))
        assert low**2 <= exact * (1 + Fraction(1, 2**50))
        assert exact <= high**2 * (1 + Fraction(1, 2**50))
        assert float(off) <= 1e-5 * float(found.reach + found.length)


def test_every_parameter_counts_in_the_rounding() -> None:
    """N = in + out + 3 T^2 of a matrix, the numbers of a vector, and all parameters and `_FURTHER` beside."""
    pair, vector = Outer(torch.ones(2, 1, 3, 7), torch.ones(2, 1, 3, 5)), torch.ones(1, 1, 11)
    further = 3 + inner_products._FURTHER
    expected = [[_gamma(7 + 5 + 27 + further)]] * 2 + [[_gamma(11 + further)]]
    assert products((pair, vector), prepare_factors((pair, vector))).gamma.tolist() == expected


def ends(near: float, cancelling: float, drawn: torch.Generator) -> tuple[Outer, Outer]:
    """Two points of which the second token takes away that much of what the first one gives."""

    def one(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=drawn, dtype=torch.float64)

    a, d, b, q = one(1, 1, 1, 7), one(1, 1, 1, 5), one(1, 1, 1, 7), one(1, 1, 1, 5)
    pair = (torch.cat([a, a], dim=2), torch.cat([d, -cancelling * d], dim=2))
    other = (
        torch.cat([a + near * b] * 2, dim=2),
        torch.cat([d + near * q, -cancelling * (d + near * q)], dim=2),
    )
    return Outer(*pair), Outer(*other)


def exact_square(here: Outer, there: Outer, u: float, v: float) -> Fraction:
    """|u h - v g|^2 of the floats that are given, exactly."""
    whole = []
    for part, factor in ((there, u), (here, v)):
        a = [[Fraction(x) for x in row] for row in part.inputs[0, 0].tolist()]
        d = [[Fraction(x) for x in row] for row in part.slopes[0, 0].tolist()]
        whole.append([Fraction(factor) * sum(d[t][i] * a[t][j] for t in range(len(a)))
                      for i in range(len(d[0])) for j in range(len(a[0]))])  # fmt: skip
    return sum(((x - y) ** 2 for x, y in zip(*whole, strict=True)), Fraction(0))


def test_clipping_counts_in_the_length_of_the_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a clip norm below every gradient the clipped ones have that length, made in full or not."""
    gradients = made("linear", monkeypatch)
    assert isinstance(gradients.factored, Factored)
    total = gradients.total(gradients.start, 0.01, torch.tensor([2]))
    assert float(total.norm()) == pytest.approx(0.01, rel=1e-12)
    full = flat(gradients.at(gradients.start[None], slice(2, 3)))[0, 0]
    torch.testing.assert_close(total, full * (0.01 / full.norm()), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("kernel", [(1, 1), (3, 3), (2, 5)])
@pytest.mark.parametrize("stride", [(1, 1), (2, 3)])
@pytest.mark.parametrize("padding", [(0, 0), (1, 2)])
@pytest.mark.parametrize("dilation", [(1, 1), (2, 1)])
def test_patches_are_those_of_torch(
    kernel: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int], dilation: tuple[int, int]
) -> None:
    images, weight = rows_of(3, 7, 9), torch.zeros(2, 3, *kernel)
    places = torch.nn.functional.conv2d(images, weight, None, stride, padding, dilation).shape[2:]
    expected = torch.nn.functional.unfold(images, kernel, dilation, padding, stride).mT
    assert torch.equal(module._patches(images, kernel, places, stride, padding, dilation), expected)


@pytest.mark.parametrize("count", [1, 100, 10**6])
def test_the_factor_of_rounding_is_no_less_than_it_is(count: int) -> None:
    """gamma_N = N w / (1 - N w), with room for the rounding of lengths, of a share of it."""
    rounded = count * Fraction(1, 2**53)
    gamma = rounded / (1 - rounded)
    assert gamma <= Fraction(_gamma(count)) <= gamma * (1 + 4 * gamma) + Fraction(1, 2**90)
