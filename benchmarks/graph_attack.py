"""Attacks on the certified constants of random graphs of operators.

    python -m benchmarks.graph_attack [--graphs 60] [--points 100000] [--first 0]

Each graph has two or three random steps on three tokens: attention with one or two heads and possibly a causal mask,
layer, RMS and group norms, gates, recurrent cells, mixtures of experts, adapters of low rank, and entrywise functions,
many of them with a skip; then a linear head and one of six losses. The parameters lie in balls of three radii around
random ones. For half of those without an RMS norm the input moves as well, in a ball of radius 0.05.

An attack starts at points on the spheres, within the balls and along single blocks, with the eigenvector of the largest
|eigenvalue| of the exact Hessian. From each of them it ascends on |v.H v|, where every step replaces v by H v / |H v|,
or on the length of the gradient g, with steps that become smaller, and ends with exact Hessians. At every point the
lengths of g and of H v are at most the constants, or the attack fails. The table has the largest found/certified.

On 2026-11-29 no constant of 60 graphs (seeds 0 to 59) was exceeded at 438,674 points in all: 20,000 for each of the
first eight graphs, 6,000 for each of the others, and fewer where a larger ball has no constant because the root of an
RMS norm may meet 0.

| kind | graphs | points | Hessian | gradient |
|---|--:|--:|--:|--:|
| GRU | 15 | 112,669 | 0.9639 | 0.9994 |
| Huber loss | 10 | 60,001 | 0.9884 | 0.9994 |
| LSTM | 17 | 126,669 | 0.9908 | 0.9990 |
| RMS norm | 14 | 78,668 | 0.9887 | 0.9996 |
| adapter | 19 | 126,001 | 0.9897 | 0.9996 |
| attention | 9 | 82,002 | 0.9908 | 0.9973 |
| cross-entropy | 10 | 74,668 | 0.9897 | 0.9974 |
| entrywise | 9 | 64,001 | 0.9940 | 0.9994 |
| experts | 11 | 76,001 | 0.9884 | 0.9987 |
| gate | 15 | 102,001 | 0.9897 | 0.9986 |
| group norm | 15 | 114,002 | 0.9389 | 0.9994 |
| input given | 38 | 306,674 | 0.9940 | 0.9996 |
| input moves | 22 | 132,000 | 0.9702 | 0.9966 |
| layer norm | 10 | 96,003 | 0.9940 | 0.9953 |
| log of a sigmoid | 10 | 74,001 | 0.9908 | 0.9991 |
| logistic loss | 10 | 68,001 | 0.9325 | 0.9986 |
| skip | 41 | 278,670 | 0.9940 | 0.9991 |
| smoothed labels | 10 | 74,001 | 0.9572 | 0.9969 |
| squared loss | 10 | 88,002 | 0.9940 | 0.9996 |
"""

import argparse
import math
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, hessian, jvp, vmap
from torch.nn import functional

from lastiterate.numeric.networks.centres import NoRuleError
from lastiterate.numeric.networks.jets import Bounds
from lastiterate.runtime.engine import plain_kernels
from lastiterate.runtime.graphs import constants_of_graph

RADII = (0.01, 0.1, 0.5)
_TOKENS, _NEAR = 3, 0.05
_ROUNDING = 1 + 1e-9


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int, scale: float, *, causal: bool) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, width * heads, bias=False) for _ in range(3))
        self.out, self.heads, self.scale = nn.Linear(width * heads, width), heads, scale / math.sqrt(width)
        hidden = torch.full((_TOKENS, _TOKENS), -math.inf, dtype=torch.float64).triu(1)
        self.register_buffer("mask", hidden if causal else torch.zeros_like(hidden))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        shares = torch.softmax(q @ k.transpose(-1, -2) * self.scale + self.mask, -1)
        return self.out((shares @ v).transpose(1, 2).flatten(2))


class _Gate(nn.Module):
    def __init__(self, width: int, inner: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.a, self.b, self.inner = nn.Linear(width, width, bias=False), nn.Linear(width, width), inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(self.a(x)) * self.b(x)


class _Recurrent(nn.Module):
    """An LSTM or a GRU, one token after the other."""

    def __init__(self, width: int, *, gru: bool) -> None:
        super().__init__()
        self.x, self.h = nn.Linear(width, (4 - gru) * width), nn.Linear(width, (4 - gru) * width, bias=False)
        self.gru = gru

    def forward(self, x: Tensor) -> Tensor:
        h = c = torch.zeros_like(x[:, 0])
        found = []
        for step in range(_TOKENS):
            a, b = self.x(x[:, step]), self.h(h)
            if self.gru:
                (r, z, n), (s, w, m) = a.chunk(3, -1), b.chunk(3, -1)
                z = torch.sigmoid(z + w)
                h = (1 - z) * torch.tanh(n + torch.sigmoid(r + s) * m) + z * h
            else:
                i, f, g, o = (a + b).chunk(4, -1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
            found.append(h)
        return torch.stack(found, 1)


class _Experts(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, 2)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.Tanh()) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        share = torch.softmax(self.gate(x), -1)
        return share[..., :1] * self.experts[0](x) + share[..., 1:] * self.experts[1](x)


class _Adapter(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.base = nn.Linear(width, width).requires_grad_(requires_grad=False)
        self.a, self.b = nn.Linear(width, 1, bias=False), nn.Linear(1, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.base(x) + 2 * self.b(self.a(x)))


_FORMULAS = [False]
"""Whether norms and losses are computed by their formulas, as in attacks; captured are torch's own operators."""


class _Norm(nn.Module):
    """Layer norm by its formula; the second derivatives of torch's operator are not symmetric in forward mode."""

    def __init__(self, width: int, eps: float, *, groups: int = 0) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))
        self.eps, self.groups = eps, groups

    def forward(self, x: Tensor) -> Tensor:
        if not _FORMULAS[0]:
            if self.groups:
                y = functional.group_norm(x.transpose(1, 2), self.groups, self.weight, self.bias, self.eps)
                return y.transpose(1, 2)
            return functional.layer_norm(x, x.shape[-1:], self.weight, self.bias, self.eps)
        z = x.transpose(1, 2).reshape(len(x), self.groups, -1) if self.groups else x
        z = z - z.mean(-1, keepdim=True)
        z = z / (z.square().mean(-1, keepdim=True) + self.eps).sqrt()
        z = z.reshape(len(x), -1, _TOKENS).transpose(1, 2) if self.groups else z
        return z * self.weight + self.bias


class _Skip(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return x + self.inner(x)


class _Pooled(nn.Module):
    def __init__(self, steps: list[nn.Module], width: int) -> None:
        super().__init__()
        self.steps, self.head = nn.Sequential(*steps), nn.Linear(width, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.steps(x).mean(1))


def _one_hot(outputs: Tensor, targets: Tensor) -> Tensor:
    return (torch.arange(outputs.shape[-1]) == targets[:, None]).to(outputs)


def _huber(outputs: Tensor, targets: Tensor) -> Tensor:
    wanted = 5 * _one_hot(outputs, targets)
    if not _FORMULAS[0]:
        return functional.huber_loss(outputs, wanted, delta=0.5)
    off = outputs - wanted
    return torch.where(off.abs() <= 0.5, off.square() / 2, (off.abs() - 0.25) / 2).mean()


_LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "cross-entropy": functional.cross_entropy,
    "squared loss": lambda o, y: functional.mse_loss(o, _one_hot(o, y)),
    "logistic loss": lambda o, y: functional.binary_cross_entropy_with_logits(o, _one_hot(o, y)),
    "Huber loss": _huber,
    "smoothed labels": lambda o, y: functional.cross_entropy(o, y, label_smoothing=0.1),
    "log of a sigmoid": lambda o, y: -(functional.logsigmoid(o) * _one_hot(o, y)).sum(),
}
_ENTRIES: tuple[Callable[[], nn.Module], ...] = (
    nn.Tanh, nn.GELU, nn.SiLU, nn.Softplus, nn.Sigmoid, nn.LogSigmoid, lambda: nn.Softmax(-1),
)  # fmt: skip


class Task(NamedTuple):
    """A random graph, its kinds of steps and loss, one sample, and the radius in which the input moves."""

    module: nn.Module
    kinds: tuple[str, ...]
    loss: Callable[[Tensor, Tensor], Tensor]
    x: Tensor
    y: Tensor
    near: float


def task(seed: int) -> Task:
    """The random graph of this seed."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    width = 2 + int(seed % 8 == 7)
    gates = (torch.sigmoid, torch.tanh, functional.silu, functional.gelu)
    makers: dict[str, Callable[[], nn.Module]] = {
        "attention": lambda: _Attention(
            width, int(rng.integers(1, 3)), float(rng.uniform(0.5, 2)), causal=rng.random() < 0.3
        ),
        "layer norm": lambda: _Norm(width, float(rng.choice([1e-3, 0.1]))),
        "group norm": lambda: _Norm(width, 0.05, groups=1 if width == 3 else 2),
        "RMS norm": lambda: nn.RMSNorm(width, eps=0.05),
        "gate": lambda: _Gate(width, gates[int(rng.integers(len(gates)))]),
        "LSTM": lambda: _Recurrent(width, gru=False),
        "GRU": lambda: _Recurrent(width, gru=True),
        "experts": lambda: _Experts(width),
        "adapter": lambda: _Adapter(width),
        "entrywise": lambda: nn.Sequential(
            nn.Linear(width, width), _ENTRIES[int(rng.integers(len(_ENTRIES)))]()
        ),
    }
    steps, kinds = list[nn.Module](), list[str]()
    for k in range(2 + int(seed % 3 == 0)):
        kind = list(makers)[(seed if k == 0 else int(rng.integers(len(makers)))) % len(makers)]
        skip = rng.random() < 0.4
        steps.append(_Skip(makers[kind]()) if skip else makers[kind]())
        kinds += [kind, "skip"] if skip else [kind]
    module = _Pooled(steps, width).double().eval()
    with torch.no_grad():
        for one in module.parameters():
            one.mul_(float(rng.uniform(0.6, 1.6)))
    name = list(_LOSSES)[seed % len(_LOSSES)]
    x = 1.5 * torch.randn(1, _TOKENS, width, dtype=torch.float64)
    near = _NEAR * (seed // len(makers) % 2) * ("RMS norm" not in kinds)
    return Task(module, (*dict.fromkeys(kinds), name), _LOSSES[name], x, torch.tensor([seed // 2 % 2]), near)


def _within(away: Tensor, radius: float) -> Tensor:
    return away * (radius / away.norm(dim=-1, keepdim=True).clamp(min=1e-300)).clamp(max=1)


def _moved(one: Tensor, up: Tensor, step: float, radius: float) -> Tensor:
    return _within(one + step * radius * functional.normalize(up, dim=-1), radius)


class _Attack:
    """Ascents from many points at once."""

    def __init__(self, work: Task, chains: int) -> None:
        self._work, self._generator = work, torch.Generator().manual_seed(0)
        moving = {name: one for name, one in work.module.named_parameters() if one.requires_grad}
        self._sizes, shapes = zip(*((one.numel(), one.shape) for one in moving.values()), strict=True)
        self._start = torch.cat([one.detach().reshape(-1) for one in moving.values()])
        self._chains = chains

        def of(w: Tensor, x: Tensor) -> Tensor:
            parts = [part.reshape(shape) for part, shape in zip(w.split(self._sizes), shapes, strict=True)]
            _FORMULAS[0] = True
            try:
                called = functional_call(work.module, dict(zip(moving, parts, strict=True)), (x[None],))
                return work.loss(called, work.y)
            finally:
                _FORMULAS[0] = False

        def along(w: Tensor, x: Tensor, v: Tensor) -> Tensor:
            return jvp(lambda a: jvp(lambda b: of(b, x), (a,), (v,))[1], (w,), (v,))[1]

        self._gradient, self._hessian = vmap(grad(of)), vmap(hessian(of))
        self._along = vmap(grad(along, argnums=(0, 1, 2)))
        self._steeper = vmap(grad(lambda w, x: grad(of)(w, x).norm(), argnums=(0, 1)))

    def _random(self, columns: int) -> Tensor:
        found = torch.randn(self._chains, columns, generator=self._generator, dtype=torch.float64)
        return functional.normalize(found, dim=1)

    def _points(self, radius: float) -> Tensor:
        """Points on the sphere, within the ball, and on the sphere in a single block."""
        away = self._random(len(self._start))
        block = torch.repeat_interleave(torch.arange(len(self._sizes)), torch.tensor(self._sizes))
        index = torch.arange(self._chains)[:, None]
        away *= (index % 4 != 0) | (index // 4 % len(self._sizes) == block)
        inside = torch.rand(self._chains, 1, generator=self._generator, dtype=torch.float64)
        return radius * torch.where(index % 4 == 1, inside, 1.0) * functional.normalize(away, dim=1)

    def _exact(self, w: Tensor, x: Tensor) -> tuple[float, float, Tensor]:
        """The longest gradient and the largest |eigenvalue| at these points, and their eigenvectors."""
        values, vectors = torch.linalg.eigh(self._hessian(w, x))
        upper = values[:, -1] >= -values[:, 0]
        v = torch.where(upper[:, None], vectors[:, :, -1], vectors[:, :, 0])
        return float(self._gradient(w, x).norm(dim=1).max()), float(values.abs().max()), v

    def run(self, radius: float, points: int) -> tuple[float, float]:
        """The longest gradient and the largest norm of the Hessians that are found at this number of points."""
        near, x = self._work.near, self._work.x[0]
        away, off = self._points(radius), near * self._random(x.numel())

        def at(some: Any = slice(None)) -> tuple[Tensor, Tensor]:
            return self._start + away[some], x + off[some].reshape(-1, *x.shape)

        steepest, largest, v = self._exact(*at())
        steps = math.ceil(points / self._chains) - 1
        slow = torch.arange(self._chains) // 4 % 4 == 3  # ascents on the gradient, the others on the Hessian
        fast = ~slow
        for step in range(steps):
            size = 0.5 * 0.01 ** (step / steps)
            up, over, product = self._along(*at(fast), v[fast])
            found, sign = product.norm(dim=1) / 2, (product * v[fast]).sum(dim=1).sign()[:, None]
            steeper, farther = self._steeper(*at(slow))
            largest = max(largest, float(found.max()), float(steeper.norm(dim=1).max()))
            steepest = max(steepest, float(self._gradient(*at()).norm(dim=1).max()))
            v[fast] = functional.normalize(product, dim=1)
            away[fast] = _moved(away[fast], sign * up, size, radius)
            off[fast] = _moved(off[fast], sign * over.flatten(1), size, near)
            away[slow] = _moved(away[slow], steeper, size, radius)
            off[slow] = _moved(off[slow], farther.flatten(1), size, near)
        last = self._exact(*at())
        return max(steepest, last[0]), max(largest, last[1])


class Outcome(NamedTuple):
    """Largest found/certified for the Hessian and the gradient, the points, and the radii without a constant."""

    hessian: float
    gradient: float
    points: int
    refused: int


def _known(work: Task) -> dict[float, Bounds]:
    """The constants on the balls; the root of RMS norm may meet 0 in the larger ones, which then have none."""
    given = work.module, work.loss, work.x, work.y
    for radii in (RADII, RADII[:-1]):
        try:
            return dict(zip(radii, constants_of_graph(*given, radii, work.near), strict=True))
        except NoRuleError:
            continue
    return dict(zip(RADII[:1], constants_of_graph(*given, RADII[:1], work.near), strict=True))


def attack(seed: int, points: int) -> Outcome:
    """Attack the constants of one graph at this number of points in all."""
    work = task(seed)
    with plain_kernels():
        attacked = _Attack(work, min(1000, max(16, points // 80)))
    curved = steep = 0.0
    bounds, tried = _known(work), 0
    refused = len(RADII) - len(bounds)
    for radius, known in bounds.items():
        share = math.ceil(points / len(RADII))
        with plain_kernels():
            found = attacked.run(radius, share)
        tried += share
        refused += math.isinf(known.smoothness)
        steep = max(steep, found[0] / known.lipschitz)
        curved = max(curved, found[1] / known.smoothness)
        if found[0] > known.lipschitz * _ROUNDING or found[1] > known.smoothness * _ROUNDING:
            raise SystemExit(
                f"graph {seed} ({', '.join(work.kinds)}), radius {radius}: {found} exceeds {known}"
            )
    return Outcome(curved, steep, tried, refused)


def _rows(seeds: range, points: int) -> Iterator[str]:
    kinds: dict[str, list[Any]] = {}
    total = 0
    for seed in seeds:
        begun = process_time()
        found, work = attack(seed, points), task(seed)
        total += found.points
        yield (
            f"graph {seed}: {found.hessian:.4f} {found.gradient:.4f}, {found.points} points, "
            f"{found.refused} radii without a constant, {process_time() - begun:.0f} s"
            f" ({', '.join(work.kinds)}; input within {work.near})"
        )
        for kind in (*work.kinds, "input moves" if work.near else "input given"):
            kinds.setdefault(kind, []).append(found)
    yield "\n| kind | graphs | points | Hessian | gradient |\n|---|--:|--:|--:|--:|"
    for kind, all_found in sorted(kinds.items()):
        count = sum(one.points for one in all_found)
        largest = max(one.hessian for one in all_found), max(one.gradient for one in all_found)
        yield f"| {kind} | {len(all_found)} | {count:,} | {largest[0]:.4f} | {largest[1]:.4f} |"
    yield f"\n{len(seeds)} graphs, {total:,} points: no constant is exceeded."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("--graphs", 60), ("--points", 100_000), ("--first", 0)):
        parser.add_argument(name, type=int, default=value)
    options = parser.parse_args()
    for row in _rows(range(options.first, options.first + options.graphs), options.points):
        print(row, flush=True)


if __name__ == "__main__":
    main()
