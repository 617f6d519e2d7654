"""Modules of which a network with constants that are proved may be made, besides torch's own."""

from torch import Tensor, nn

from lastiterate.numeric.errors import InputError, count, positive


class Residual(nn.Sequential):
    """A block of modules to whose output its input is added: x + body(x)."""

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002  # as torch names it
        """The input plus what the modules make of it, shape (samples, width)."""
        moved = input
        for part in self:
            moved = part(moved)
        return input + moved


class LowRank(nn.Module):
    """A frozen linear layer and a product of two small matrices that move: W x + b + (alpha / rank) B A x.

    A is drawn as torch draws a linear layer and B is zero, so that it begins as the layer that is given.

    Args:
        linear: the layer; its parameters are frozen.
        rank: rows of A and columns of B.
        alpha: factor of the product, times ``rank``; None for ``rank``.

    Source: Hu, Shen, Wallis, Allen-Zhu, Li, Wang, Wang & Chen, "LoRA: Low-Rank Adaptation of Large Language Models",
    2021.
    """

    def __init__(self, linear: nn.Linear, rank: int, alpha: float | None = None) -> None:
        super().__init__()
        if not isinstance(linear, nn.Linear):
            raise InputError(f"LowRank needs a linear layer, got linear={type(linear).__name__}; give torch.nn.Linear.")
        self.linear = linear.requires_grad_(requires_grad=False)
        self.down = nn.Linear(linear.in_features, count("rank", rank), bias=False).to(linear.weight)
        self.up = nn.Linear(rank, linear.out_features, bias=False).to(linear.weight)
        self.scale = 1.0 if alpha is None else positive("alpha", alpha) / rank
        nn.init.zeros_(self.up.weight)

    def forward(self, rows: Tensor) -> Tensor:
        """The outputs of the layer and of the product, shape (samples, outputs)."""
        moved: Tensor = self.linear(rows) + self.up(self.scale * self.down(rows))
        return moved
