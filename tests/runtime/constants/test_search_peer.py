"""The search against an independent one of ten times the effort: Adam on log ratios and on curvature, whole Hessians.

Nothing of the package's ascents is used there: plain autograd through torch.func, starts along the top eigenvector of a
dense Hessian, and the step lengths of Adam.
"""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, jacfwd, jvp, vmap

from lastiterate.runtime.constants.record import best_end
from lastiterate.runtime.constants.search import Search
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.workload import Workload

DIAMETER = 1.0
SHARE = 0.95


class Attention(nn.Module):
    """One head over three tokens of width four, a residual connection and a layer norm, as in a transformer block."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(4, 4) for _ in range(3))
        self.norm, self.head = nn.LayerNorm(4), nn.Linear(4, 3)

    def forward(self, rows: Tensor) -> Tensor:
        tokens = rows.reshape(len(rows), 3, 4)
        weights = torch.softmax(self.query(tokens) @ self.key(tokens).transpose(1, 2) / 2, dim=2)
        return self.head(self.norm(tokens + weights @ self.value(tokens)).mean(dim=1))


def _small(name: str, module: Callable[[], nn.Module], *shape: int) -> Workload:
    generator = torch.Generator().manual_seed(sum(map(ord, name)))
    inputs = torch.randn(12, *shape, generator=generator, dtype=torch.float64)
    targets = torch.randint(3, (12,), generator=generator)
    return Workload(name, module, nn.functional.cross_entropy, inputs, targets)


def _deep(activation: Callable[[], nn.Module]) -> nn.Module:
    return nn.Sequential(nn.Linear(4, 6), activation(), nn.Linear(6, 6), activation(), nn.Linear(6, 3))


def _convolution() -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 3, 3), nn.Tanh(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(12, 3))


class _Residual(nn.Sequential):
    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        moved: torch.Tensor = super().forward(rows)
        return rows + moved


def _residual() -> nn.Module:
    block = _Residual(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6))
    return nn.Sequential(nn.Linear(4, 6), block, nn.Tanh(), nn.Linear(6, 3))


MODELS = {
    "softmax": _small("softmax", lambda: nn.Linear(5, 3), 5),
    "tanh": _small("tanh", lambda: nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)), 4),
    "deep tanh": _small("deep tanh", lambda: _deep(nn.Tanh), 4),
    "softplus": _small("softplus", lambda: nn.Sequential(nn.Linear(4, 8), nn.Softplus(), nn.Linear(8, 3)), 4),
    "deep gelu": _small("deep gelu", lambda: _deep(nn.GELU), 4),
    "convolution": _small("convolution", _convolution, 1, 6, 6),
    "attention": _small("attention", Attention, 12),
    "residual": _small("residual", _residual, 4),
}


class Peer:
    """The losses of a workload as functions of the offset from its initial parameters."""

    def __init__(self, work: Workload, starts: int, iterations: int) -> None:
        module = work.initial(0).double()
        named = {name: p.detach() for name, p in module.named_parameters()}
        self.center = torch.cat([p.reshape(-1) for p in named.values()])
        self.starts, self.iterations = starts, iterations
        chosen = torch.arange(starts) % work.samples
        self.samples = work.inputs.double()[chosen], work.targets[chosen]
        self.generator = torch.Generator().manual_seed(5)

        def loss(at: Tensor, row: Tensor, target: Tensor) -> Tensor:
            parts = (self.center + at).split([p.numel() for p in named.values()])
            weights = {
                name: part.reshape(p.shape) for (name, p), part in zip(named.items(), parts, strict=True)
            }
            return work.loss(functional_call(module, weights, (row[None],)), target[None])

        self.gradient = grad(loss)

    def drawn(self) -> Tensor:
        away = torch.randn(self.starts, len(self.center), generator=self.generator, dtype=torch.float64)
        far = torch.rand(self.starts, 1, generator=self.generator, dtype=torch.float64)
        return away / away.norm(dim=1, keepdim=True) * far * DIAMETER / 2

    def ascended(self, variables: list[Tensor], value: Callable[[], Tensor], mend: Callable[[], None]) -> float:
        """The largest value that Adam meets while the variables stay in the ball."""
        for one in variables:
            one.requires_grad_()
        optimiser = torch.optim.Adam(variables, lr=1.0)
        best = 0.0
        for step in range(self.iterations):
            optimiser.param_groups[0]["lr"] = 0.015 * DIAMETER * (1 - step / self.iterations)
            found = value()
            best = max(best, float(found.detach().max()))
            optimiser.zero_grad()
            (-found.clamp(min=1e-30).log().sum()).backward()
            optimiser.step()
            with torch.no_grad():
                mend()
                for one in variables:
                    one.mul_((DIAMETER / 2 / one.norm(dim=1, keepdim=True)).clamp(max=1))
        return best

    def ratio(self, lam: float) -> float:
        """The largest |g(x) - g(y)| / |x - y|^lam, from pairs along curved and along drawn directions."""
        middle, along = self.drawn(), self.drawn()
        hessians = vmap(jacfwd(self.gradient))(middle, *self.samples)
        values, vectors = torch.linalg.eigh(hessians)
        top = vectors[torch.arange(self.starts), :, values.abs().argmax(dim=1)]
        along[::2] = top[::2]
        along = along / along.norm(dim=1, keepdim=True)
        length = 0.25 * 10.0 ** -(torch.arange(self.starts) // 2 % 4)[:, None] * DIAMETER
        x, y = middle * 0.9 + length * along / 2, middle * 0.9 - length * along / 2

        def value() -> Tensor:
            change = vmap(self.gradient)(x, *self.samples) - vmap(self.gradient)(y, *self.samples)
            return change.norm(dim=1) / (x - y).norm(dim=1) ** lam

        def apart() -> None:
            center, away = (x + y) / 2, x - y
            longer = (5e-5 * DIAMETER / away.norm(dim=1, keepdim=True).clamp(min=1e-12)).clamp(min=1)
            x.copy_(center + longer * away / 2)
            y.copy_(center - longer * away / 2)

        return self.ascended([x, y], value, apart)

    def curvature(self) -> float:
        """The largest |v' H v| over unit vectors v, which is the constant of order 1 of pairs that are close."""
        at, along = self.drawn(), self.drawn()
        pushed = vmap(lambda w, v, r, t: jvp(lambda p: self.gradient(p, r, t), (w,), (v,))[1])

        def turn() -> None:
            for _ in range(3):
                new = pushed(at, along, *self.samples)
                along.copy_(new / new.norm(dim=1, keepdim=True).clamp(min=1e-30))

        turn()
        return self.ascended([at], lambda: (pushed(at, along, *self.samples) * along).sum(dim=1).abs(), turn)


def ratios(name: str, starts: int, iterations: int, seed: int = 0) -> dict[float, float]:
    """What the search finds with its default effort over what the peer finds, for two orders."""
    work = MODELS[name]
    gradients = Gradients(work, work.initial(0))
    search = Search(gradients, gradients.start, DIAMETER, seed=seed)
    curved = search.curved()
    peer = Peer(work, starts, iterations)
    theirs = {0.5: peer.ratio(0.5), 1.0: max(peer.ratio(1.0), peer.curvature())}
    found = {lam: search._replace(lams=(lam,)).climb(also=curved) for lam in theirs}
    return {lam: best_end(found[lam], lam)[1] / theirs[lam] for lam in theirs}


@pytest.mark.nightly  # by day test_acceptance.py holds the search to constants that are known
@pytest.mark.parametrize("name", ["softmax", "tanh"])
def test_the_search_finds_what_another_finds(name: str) -> None:
    found = ratios(name, starts=48, iterations=120)
    assert min(found.values()) >= SHARE, found


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", MODELS)
def test_the_search_finds_what_ten_times_its_effort_finds(name: str, seed: int) -> None:
    """A search takes some 18,000 steps for an order; the peer 180,000, and as many again for the curvature."""
    found = ratios(name, starts=360, iterations=500, seed=seed)
    print(name, seed, found)  # noqa: T201
    assert min(found.values()) >= SHARE, found
