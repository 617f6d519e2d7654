"""Losses and networks that tie the rows of a batch, and as many that do not."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

ROWS = 60
PAD = 0


@dataclass(frozen=True)
class Case:
    """A network, a loss of its outputs, and data."""

    name: str
    loss: Callable[..., Any]
    data: str = "classes"
    module: Callable[[], nn.Module] | None = None


def made(case: Case) -> tuple[nn.Module, Tensor, Tensor]:
    """The network and the data of a case, the same every time."""
    torch.manual_seed(5)
    inputs = functional.normalize(torch.randn(ROWS, 4))
    rare = (torch.arange(ROWS) % 20 == 7).long() + (torch.arange(ROWS) % 30 == 11).long() * 2
    tokens = torch.randint(1, 5, (ROWS, 6))
    tokens[torch.arange(6)[None] >= 2 + torch.arange(ROWS)[:, None] % 5] = PAD
    targets = {
        "classes": rare,
        "some ignored": rare.where(torch.arange(ROWS) % 7 != 3, -100),
        "tokens": tokens,
        "numbers": torch.randn(ROWS, 3),
        "weighed": torch.stack([torch.randn(ROWS), 1.0 + (torch.arange(ROWS) == 41) * 8], dim=1),
        "bits": (torch.rand(ROWS, 3) < 0.2).float(),
        "flat": torch.randn(ROWS),
        "soft": torch.rand(ROWS, 3).softmax(dim=1),
    }[case.data]
    outputs = {"tokens": 30, "weighed": 1, "flat": 1}.get(case.data, 3)
    module = case.module() if case.module else nn.Linear(4, outputs)
    if case.data == "tokens":
        module = nn.Sequential(module, nn.Unflatten(1, (6, 5)))
    return module.eval(), inputs, targets


WEIGHT = torch.tensor([1.0, 9.0, 2.0])
TOKENS = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])


class Centred(nn.Module):
    """Divides by a running mean of the losses that it has seen."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.ones(()))

    def forward(self, output: Tensor, target: Tensor) -> Tensor:
        value = functional.cross_entropy(output, target)
        self.mean.mul_(0.9).add_(0.1 * value.detach())
        return value / self.mean


class Mixing(nn.Module):
    """A linear layer, and something of all rows behind a factor, which may begin at zero."""

    def __init__(self, mixed: Callable[[Tensor], Tensor], factor: float = 1.0, power: int = 1) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.factor = nn.Parameter(torch.tensor(factor))
        self.mixed, self.power = mixed, power

    def forward(self, rows: Tensor) -> Tensor:
        out = self.layer(rows)
        return out + self.factor**self.power * self.mixed(out)


def per_token(output: Tensor, target: Tensor) -> Tensor:
    """Losses of the tokens, shape (rows, tokens), 0 for padding."""
    return functional.cross_entropy(output.transpose(1, 2), target, ignore_index=PAD, reduction="none")


def each(output: Tensor, target: Tensor) -> Tensor:
    return functional.cross_entropy(output, target, reduction="none")


def weighted(output: Tensor, target: Tensor, weight: Tensor = WEIGHT) -> Tensor:
    return weight.to(output)[target] * each(output, target)


def contrastive(output: Tensor, target: Tensor) -> Tensor:
    near = functional.normalize(output, dim=1) @ functional.normalize(output, dim=1).T / 0.5
    same = (target[:, None] == target[None]).to(near)
    return -(near.log_softmax(dim=1) * same).sum() / same.sum()


def hard_mining(output: Tensor, target: Tensor) -> Tensor:
    values = each(output, target)
    return values.topk(max(1, len(values) // 2)).values.mean()


def by_class(output: Tensor, target: Tensor) -> Tensor:
    values = each(output, target)
    return torch.stack([values[target == k].mean() for k in target.unique().tolist()]).mean()


def effective_number(output: Tensor, target: Tensor) -> Tensor:
    counts = torch.bincount(target, minlength=3).to(output)
    return (each(output, target) / counts[target]).mean()


def dice(output: Tensor, target: Tensor) -> Tensor:
    share = output.sigmoid()
    return 1 - 2 * (share * target).sum() / (share.sum() + target.sum() + 1)


def dice_each(output: Tensor, target: Tensor) -> Tensor:
    share = output.sigmoid()
    return (1 - 2 * (share * target).sum(dim=1) / (share.sum(dim=1) + target.sum(dim=1) + 1)).mean()


def standardised(output: Tensor, target: Tensor) -> Tensor:
    return ((output - target) / (output.std() + 0.1)).square().mean()


def correlation(output: Tensor, target: Tensor) -> Tensor:
    x, y = output.flatten() - output.mean(), target.flatten() - target.mean()
    return 1 - (x * y).sum() / ((x * x).sum() * (y * y).sum() + 1e-3).sqrt()


def variance(output: Tensor, target: Tensor) -> Tensor:
    return (output - target).square().mean() + (output - output.mean(dim=0)).square().mean()


def ranking(output: Tensor, target: Tensor) -> Tensor:
    return (1 - (output - output.T) * (target[:, None] - target[None]).sign()).relu().mean()


def smoothed_by_batch(output: Tensor, target: Tensor) -> Tensor:
    prior = functional.one_hot(target, 3).to(output).mean(dim=0)
    return -((0.9 * functional.one_hot(target, 3) + 0.1 * prior) * output.log_softmax(dim=1)).sum(dim=1).mean()


def focal_by_batch(output: Tensor, target: Tensor) -> Tensor:
    values = each(output, target)
    hard = (1 - (-values).exp()) ** 2
    return (hard * values).sum() / hard.sum()


def focal(output: Tensor, target: Tensor) -> Tensor:
    values = each(output, target)
    return ((1 - (-values).exp()) ** 2 * values).mean()


def mse(output: Tensor, target: Tensor) -> Tensor:
    return functional.mse_loss(output[:, 0], target[:, 0], reduction="none")


TIED = (
    Case("weight", nn.CrossEntropyLoss(weight=WEIGHT)),
    Case("weight of a nearby class", nn.CrossEntropyLoss(weight=torch.tensor([1.0, 1.01, 1.0]))),
    Case("weight and smoothing", nn.CrossEntropyLoss(weight=WEIGHT, label_smoothing=0.1)),
    Case("weight as a function", partial(functional.cross_entropy, weight=WEIGHT)),
    Case("weight of nll", lambda out, y: nn.NLLLoss(weight=WEIGHT.to(out))(out.log_softmax(dim=1), y)),
    Case("ignored class", nn.CrossEntropyLoss(ignore_index=0)),
    Case("ignored rows", nn.CrossEntropyLoss(), "some ignored"),
    Case("weight by hand", lambda out, y: weighted(out, y).sum() / WEIGHT.to(out)[y].sum()),
    Case("counts of the batch", effective_number),
    Case("mean by class", by_class),
    Case("hard mining", hard_mining),
    Case("focal, normalised", focal_by_batch),
    Case("contrastive", contrastive),
    Case("smoothed by the batch", smoothed_by_batch),
    Case("running mean", Centred()),
    Case("root of the mean", lambda out, y: each(out, y).mean().sqrt()),
    Case("square of the mean", lambda out, y: each(out, y).mean().square()),
    Case("largest", lambda out, y: each(out, y).max()),
    Case("log-sum-exp", lambda out, y: each(out, y).logsumexp(dim=0)),
    Case("divided by a root", lambda out, y: each(out, y).sum() / len(y) ** 0.5),
    Case("valid tokens", lambda out, y: per_token(out, y).sum() / (y != PAD).sum(), "tokens"),
    Case("valid tokens of torch", lambda out, y: functional.cross_entropy(out.transpose(1, 2), y, ignore_index=PAD),
         "tokens"),
    Case("weights of tokens", lambda out, y: functional.cross_entropy(out.transpose(1, 2), y, TOKENS.to(out)),
         "tokens"),
    Case("longest row", lambda out, y: per_token(out, y).sum() / (y != PAD).sum(dim=1).max(), "tokens"),
    Case("weights of rows", lambda out, y: (y[:, 1] * mse(out, y)).sum() / y[:, 1].sum(), "weighed"),
    Case("positive entries", lambda out, y: functional.binary_cross_entropy_with_logits(out, y, reduction="sum")
         / y.sum().clamp(min=1), "bits"),
    Case("weight of positives", lambda out, y: functional.binary_cross_entropy_with_logits(
        out, y, pos_weight=(1 - y).sum() / y.sum().clamp(min=1)), "bits"),
    Case("dice", dice, "bits"),
    Case("standardised", standardised, "numbers"),
    Case("correlation", correlation, "numbers"),
    Case("variance", variance, "numbers"),
    Case("norm", lambda out, y: (out - y).norm(), "numbers"),
    Case("root mean square", lambda out, y: (out - y).square().mean().sqrt(), "numbers"),
    Case("broadcast", lambda out, y: (out - y).square().mean(), "flat"),
    Case("ranking", ranking, "flat"),
    Case("norm of targets", lambda out, y: (out - y).square().mean() / y.square().mean(), "numbers"),
    Case("weight of a class that the data lack", nn.CrossEntropyLoss(weight=torch.tensor([1.0, 1.0, 1.0, 9.0])),
         module=lambda: nn.Linear(4, 4)),
    Case("more than 32 rows", lambda out, y: each(out, y).sum() / min(len(y), 32)),
    Case("away from zero", lambda out, y: (out - y).square().mean() * (1 + out.mean().square()), "numbers",
         lambda: zeroed(nn.Linear(4, 3))),
    Case("mean of outputs", nn.CrossEntropyLoss(), module=lambda: Mixing(lambda out: out.mean(dim=0))),
    Case("attention", nn.CrossEntropyLoss(), module=lambda: Mixing(lambda out: (out @ out.T).softmax(dim=1) @ out)),
    Case("attention that begins at zero", nn.CrossEntropyLoss(),
         module=lambda: Mixing(lambda out: (out @ out.T).softmax(dim=1) @ out, 0.0)),
    Case("attention without a slope at zero", nn.CrossEntropyLoss(),
         module=lambda: Mixing(lambda out: (out @ out.T).softmax(dim=1) @ out, 0.0, 2)),
    Case("mean in the gradient alone", nn.CrossEntropyLoss(),
         module=lambda: Mixing(lambda out: out.mean(dim=0) - out.mean(dim=0).detach())),
)  # fmt: skip

FREE = (
    Case("plain", nn.CrossEntropyLoss()),
    Case("sum", nn.CrossEntropyLoss(reduction="sum")),
    Case("function", functional.cross_entropy),
    Case("smoothing", nn.CrossEntropyLoss(label_smoothing=0.1)),
    Case("sum of weighted", nn.CrossEntropyLoss(weight=WEIGHT, reduction="sum")),
    Case("mean of weighted", lambda out, y: weighted(out, y).mean()),
    Case("sum over a constant", lambda out, y: weighted(out, y).sum() / 64),
    Case("equal weights", nn.CrossEntropyLoss(weight=torch.full((3,), 2.0))),
    Case("focal", focal),
    Case("scaled", lambda out, y: 1e3 * functional.cross_entropy(out, y)),
    Case("shifted", lambda out, y: functional.cross_entropy(out, y, reduction="sum") + 1.0),
    Case("sum of ignored", nn.CrossEntropyLoss(reduction="sum"), "some ignored"),
    Case("single precision inside", lambda out, y: functional.cross_entropy(out.float(), y).to(out)),
    Case("tensors of single precision", lambda out, y: (WEIGHT[y] * each(out.float(), y)).mean()),
    Case("margin", nn.MultiMarginLoss()),
    Case("weighted margin", nn.MultiMarginLoss(weight=WEIGHT)),
    Case("tokens, a row at a time", lambda out, y: (per_token(out, y).sum(dim=1) / (y != PAD).sum(dim=1)).mean(),
         "tokens"),
    Case("tokens over a constant", lambda out, y: per_token(out, y).sum() / 6, "tokens"),
    Case("tokens, padding counted", lambda out, y: functional.cross_entropy(out.transpose(1, 2), y), "tokens"),
    Case("fixed weights of rows", lambda out, y: (y[:, 1] * mse(out, y)).mean(), "weighed"),
    Case("squares", nn.MSELoss(), "numbers"),
    Case("sum of squares", lambda out, y: (out - y).square().sum() / 2, "numbers"),
    Case("norm of each", lambda out, y: (out - y).norm(dim=1).mean(), "numbers"),
    Case("huber", nn.HuberLoss(), "numbers"),
    Case("absolute", nn.L1Loss(), "numbers"),
    Case("cosine", lambda out, y: 1 - functional.cosine_similarity(out, y).mean(), "numbers"),
    Case("variance of the layer", lambda out, y: nn.GaussianNLLLoss()(out, y, torch.ones_like(out)), "numbers"),
    Case("bits", nn.BCEWithLogitsLoss(), "bits"),
    Case("fixed weight of positives", nn.BCEWithLogitsLoss(pos_weight=torch.tensor([9.0, 1.0, 2.0])), "bits"),
    Case("weights of columns", nn.BCEWithLogitsLoss(weight=torch.tensor([9.0, 1.0, 2.0])), "bits"),
    Case("multi-label margin", nn.MultiLabelSoftMarginLoss(), "bits"),
    Case("probabilities", lambda out, y: functional.binary_cross_entropy(out, y), "bits",
         lambda: nn.Sequential(nn.Linear(4, 3), nn.Sigmoid())),
    Case("dice of each", dice_each, "bits"),
    Case("soft labels", nn.CrossEntropyLoss(), "soft"),
    Case("weighted soft labels", nn.CrossEntropyLoss(weight=WEIGHT), "soft"),
    Case("divergence", lambda out, y: functional.kl_div(out.log_softmax(dim=1), y, reduction="batchmean"), "soft"),
    Case("flat", lambda out, y: (out.squeeze(1) - y).square().mean(), "flat"),
    Case("layer norm", nn.CrossEntropyLoss(), module=lambda: nn.Sequential(nn.Linear(4, 3), nn.LayerNorm(3))),
    Case("batch norm in eval mode", nn.CrossEntropyLoss(),
         module=lambda: nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))),
    Case("dropout in eval mode", nn.CrossEntropyLoss(),
         module=lambda: nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.5))),
    Case("zero network", nn.CrossEntropyLoss(), module=lambda: nn.Sequential(zeroed(nn.Linear(4, 3)))),
    Case("certain network", nn.CrossEntropyLoss(), module=lambda: scaled(nn.Linear(4, 3), 1e3)),
)  # fmt: skip


def zeroed(layer: nn.Linear) -> nn.Linear:
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def scaled(layer: nn.Linear, factor: float) -> nn.Linear:
    with torch.no_grad():
        layer.weight.mul_(factor)
    return layer
