"""Certified constants of graphs of operators over those that an ascent finds, as balls of parameters grow.

    python -m benchmarks.graph_constants [NAME ...]

Each network has the default initialisation of torch, and one sample of standard normal entries with the second label.
The loss is cross-entropy. The largest ratio for two seeds:

| network | parameters | R = 0 | 0.001 | 0.01 | 0.1 | seconds |
|---|--:|--:|--:|--:|--:|--:|
| attention | 280 | 1.000 | 1.004 | 1.045 | 2.698 | 5 |
| encoder | 627 | 1.000 | 1.047 | 2.107 | 1.57e+03 | 12 |
| encoder, norm last | 627 | 1.000 | 1.051 | 2.718 | 5.57e+03 | 12 |
| convolutions | 235 | 1.000 | 1.010 | 1.109 | 2.943 | 2 |
| adapters | 80 | 1.000 | 1.005 | 1.058 | 2.460 | 3 |
| LSTM | 309 | 1.000 | 1.095 | 2.829 | 7e+04 | 12 |
| GRU | 237 | 1.000 | 1.736 | 19.1 | 4.57e+06 | 13 |
| residual, 4 x 4 | 663 | 1.191 | 60 | 6.36e+08 | 5.94e+19 | 21 |

At R = 0 the ascent of the last row does not find the largest eigenvalue, because the bound there is exact. With
respect to the norm of the Hessian at the centre, for one seed of the residual network without a bias in its first
layer, the ratios at 0.001 are 46.7 (4 x 4 pixels) and 32.8 (8 x 8 pixels). The second needs a limit of 2^27
derivatives, four times that of `runtime/graphs.py`, and takes minutes.

The ascent maximises |v.H v| over unit v and over the ball by steps along the gradient, from four starts. It finds a
lower bound, so the true ratio is at most the one shown.
"""

import math
import sys
from collections.abc import Callable
from time import process_time

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from lastiterate.runtime.engine import plain_kernels
from lastiterate.runtime.graphs import constants_of_graph

_RADII = (0.0, 0.001, 0.01, 0.1)


class _Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(8, 8, bias=False) for _ in range(4))
        self.head = nn.Linear(8, 3, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        weights = torch.softmax(self.q(x) @ self.k(x).transpose(-1, -2) / math.sqrt(8), -1)
        return self.head(self.out(weights @ self.v(x)).mean(1))


class _Encoder(nn.Module):
    def __init__(self, *, first: bool) -> None:
        super().__init__()
        options = {"dropout": 0.0, "activation": "gelu", "batch_first": True, "norm_first": first}
        self.layer, self.head = nn.TransformerEncoderLayer(8, 2, 16, **options), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layer(x).mean(1))


class _Recurrent(nn.Module):
    def __init__(self, kind: Callable[..., nn.Module]) -> None:
        super().__init__()
        self.inner, self.head = kind(4, 6, batch_first=True), nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.inner(x)[0][:, -1])


class _Adapter(nn.Module):
    """A frozen layer with trained factors of low rank."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.base = nn.Linear(inputs, outputs).requires_grad_(requires_grad=False)
        self.a, self.b = nn.Linear(inputs, 2, bias=False), nn.Linear(2, outputs, bias=False)
        nn.init.zeros_(self.b.weight)

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + 2 * self.b(self.a(x))


class _Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = (nn.Conv2d(4, 4, 3, padding=1, bias=False) for _ in range(2))
        self.first, self.second = nn.GroupNorm(2, 4), nn.GroupNorm(2, 4)

    def forward(self, x: Tensor) -> Tensor:
        return functional.gelu(x + self.second(self.two(functional.gelu(self.first(self.one(x))))))


class _Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem, self.head = nn.Conv2d(1, 4, 3, padding=1), nn.Linear(4, 3)
        self.blocks = nn.Sequential(_Block(), _Block())

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


def _convolutions() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.GELU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(64, 3)
    )


def _adapters() -> nn.Module:
    return nn.Sequential(_Adapter(5, 8), nn.Tanh(), _Adapter(8, 8), nn.Tanh(), _Adapter(8, 3))


_NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "attention": (_Attention, (5, 8)),
    "encoder": (lambda: _Encoder(first=True), (5, 8)),
    "encoder, norm last": (lambda: _Encoder(first=False), (5, 8)),
    "convolutions": (_convolutions, (1, 8, 8)),
    "adapters": (_adapters, (5,)),
    "LSTM": (lambda: _Recurrent(nn.LSTM), (5, 4)),
    "GRU": (lambda: _Recurrent(nn.GRU), (5, 4)),
    "residual, 4 x 4": (_Residual, (1, 4, 4)),
    "residual, 8 x 8": (_Residual, (1, 8, 8)),
}


def measure(name: str, seed: int) -> tuple[list[float], int, float]:
    """Certified over found at each radius, with the number of parameters and the seconds of one core."""
    make, shape = _NETWORKS[name]
    torch.manual_seed(seed)
    module = make().double().eval()
    x, y = torch.randn(1, *shape, dtype=torch.float64), torch.tensor([1])
    start = process_time()
    known = constants_of_graph(module, functional.cross_entropy, x, y, _RADII)
    seconds = process_time() - start
    found = [_largest(module, x, y, radius) for radius in _RADII]
    total = sum(one.numel() for one in module.parameters() if one.requires_grad)
    return [bound.smoothness / one for bound, one in zip(known, found, strict=True)], total, seconds


def _largest(module: nn.Module, x: Tensor, y: Tensor, radius: float) -> float:
    """The largest |v.H v| that the ascents find in the ball."""
    moving = {name: one for name, one in module.named_parameters() if one.requires_grad}
    sizes = [one.numel() for one in moving.values()]

    def of(w: Tensor) -> Tensor:
        parts = [part.reshape(one.shape) for part, one in zip(w.split(sizes), moving.values(), strict=True)]
        return functional.cross_entropy(functional_call(module, dict(zip(moving, parts, strict=True)), (x,)), y)

    start = torch.cat([one.detach().reshape(-1) for one in moving.values()])
    generator, best = torch.Generator().manual_seed(0), 0.0
    for attempt in range(4):
        w, v = (
            start,
            functional.normalize(torch.randn(len(start), generator=generator, dtype=torch.float64), dim=0),
        )
        sign = 1 - 2 * (attempt % 2)
        for step in range(60):
            w = w.detach().requires_grad_()
            with plain_kernels():
                (gradient,) = torch.autograd.grad(of(w), w, create_graph=True)
                (product,) = torch.autograd.grad(gradient @ v, w, create_graph=True)
                (up,) = torch.autograd.grad(product @ v, w)
            best = max(best, abs(float((product @ v).detach())))
            v = functional.normalize(sign * product.detach() + 0.3 * best * v, dim=0)
            if step >= 30:
                away = w.detach() + radius * functional.normalize(sign * up, dim=0) - start
                w = start + away * min(1.0, radius / max(float(away.norm()), 1e-300))
    return best


def main() -> None:
    print("| network | parameters | R = 0 | 0.001 | 0.01 | 0.1 | seconds |\n|---|--:|--:|--:|--:|--:|--:|")
    for name in sys.argv[1:] or _NETWORKS:
        several = [measure(name, seed) for seed in range(2)]
        ratios = [max(values) for values in zip(*(one[0] for one in several), strict=True)]
        cells = " | ".join(f"{ratio:.3f}" if ratio < 10 else f"{ratio:.3g}" for ratio in ratios)
        print(f"| {name} | {several[0][1]} | {cells} | {max(one[2] for one in several):.0f} |", flush=True)


if __name__ == "__main__":
    main()
