"""Further tiny networks, of the kinds that strangers bring: blocks, wrappers, states, shapes, dtypes, libraries."""

import copy
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from network_corpus import (
    FOUR,
    IMAGES,
    LABELS,
    REAL,
    SIGNALS,
    TOKENS,
    VECTORS,
    Kind,
    Loss,
    Net,
    _transformers,
    between,
    chain,
    cross_entropy,
    normal,
    squares,
    whole,
)
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils import parametrizations, parametrize, prune

BROUGHT: list[Kind] = []

BY_DAY = {
    "normalising_flow", "sparse_graph", "shared_three_times", "sparse_table", "dataclass_output", "returns_the_loss",
}  # fmt: skip
"""Kinds that are tested by day, too."""

RIGHTLY_REFUSED = (
    "batch_norm_training",
    "synchronised_batch_norm_training",
    "instance_norm_statistics_training",
    "dropout_training",
    "spectral_norm_training",
    "sampled",
    "gumbel",
    "counter",
    "hidden_state_kept",
    "no_parameters",
    "all_frozen",
    "lazy",
    "complex_buffer",
    "complex_linear",
    "quantised",
    "rows_mixed",
    "bounded_table",
)
"""Kinds without per-sample gradients of real parameters, or whose complex buffers a cast would make real."""

Rows = Tensor


def of(
    name: str, module: Callable[[], nn.Module], inputs: Rows, loss: Loss = cross_entropy, targets: Any = None
) -> None:
    targets = (LABELS if len(inputs) == len(LABELS) else FOUR) if targets is None else targets
    BROUGHT.append(Kind(name, module, inputs, targets, loss, nightly=name not in BY_DAY))


def of_vectors(name: str, module: Callable[[], nn.Module], *more: Any) -> None:
    of(name, module, VECTORS, *more)


def of_images(name: str, module: Callable[[], nn.Module], *more: Any) -> None:
    of(name, module, IMAGES, *more)


def of_signals(name: str, module: Callable[[], nn.Module], *more: Any) -> None:
    of(name, module, SIGNALS, *more)


def of_tokens(name: str, module: Callable[[], nn.Module], *more: Any) -> None:
    of(name, module, TOKENS, *more)


def small(*middle: nn.Module, width: int = 4) -> nn.Sequential:
    return chain(nn.Linear(3, width), *(middle or (nn.Tanh(),)), nn.Linear(width, 2))


def pooled(*parts: nn.Module, channels: int = 2) -> nn.Sequential:
    """Convolutional parts, their mean over all places and a linear layer."""
    return chain(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 2))


def parameter(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.randn(*shape) / max(1, shape[-1] if shape else 1) ** 0.5)


def convolution(ins: int, outs: int, size: int = 3, **more: Any) -> nn.Conv2d:
    return nn.Conv2d(ins, outs, size, padding=more.pop("padding", "same"), **more)


# Convolutions and their blocks
of(
    "convolution_1d",
    lambda: chain(nn.Conv1d(3, 2, 3, dilation=2), nn.ELU(), nn.Flatten(), nn.Linear(2, 2)),
    SIGNALS.mT.contiguous(),
)
of(
    "convolution_3d",
    lambda: chain(nn.Conv3d(1, 2, 2), nn.Tanh(), nn.AvgPool3d(2), nn.Flatten(), nn.Linear(2, 2)),
    normal(4, 1, 3, 3, 3),
)
of(
    "transposed_3d",
    lambda: chain(nn.ConvTranspose3d(1, 1, 2), nn.Tanh(), nn.Flatten(), nn.Linear(27, 2)),
    normal(4, 1, 2, 2, 2),
)


def _residual(net: Net, rows: Tensor) -> Tensor:
    h = net.stem(rows)
    h = functional.relu(net.n1(net.c1(h)) + h)
    return net.last(functional.relu(net.n2(net.c2(h)) + net.short(h)).mean((2, 3)))


def _resnet() -> nn.Module:
    return Net(
        _residual,
        stem=convolution(1, 2),
        c1=convolution(2, 2),
        n1=nn.BatchNorm2d(2),
        c2=convolution(2, 3),
        n2=nn.BatchNorm2d(3),
        short=convolution(2, 3, 1),
        last=nn.Linear(3, 2),
    ).eval()


of_images("resnet", _resnet)
of_images(
    "densenet",
    lambda: Net(
        lambda net, x: net.last(
            torch.cat([x, a := net.a(x).tanh(), net.b(torch.cat([x, a], 1)).tanh()], 1).mean((2, 3))
        ),
        a=convolution(1, 2),
        b=convolution(3, 2),
        last=nn.Linear(5, 2),
    ),
)


class _Squeeze(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, 1, 1), nn.Conv2d(1, channels, 1)

    def forward(self, rows: Tensor) -> Tensor:
        return rows * torch.sigmoid(
            self.up(functional.silu(self.down(functional.adaptive_avg_pool2d(rows, 1))))
        )


of_images(
    "mobilenet",
    lambda: pooled(
        convolution(1, 2),
        nn.BatchNorm2d(2),
        nn.Hardswish(),
        convolution(2, 2, groups=2),
        _Squeeze(2),
        convolution(2, 2, 1),
    ).eval(),
)
of_images(
    "efficientnet",
    lambda: pooled(
        convolution(1, 4, 1),
        nn.SiLU(),
        convolution(4, 4, groups=4),
        nn.SiLU(),
        _Squeeze(4),
        convolution(4, 2, 1),
    ),
)


def _u_shaped(net: Net, rows: Tensor) -> Tensor:
    wide = net.down(rows).tanh()
    deep = net.mid(functional.max_pool2d(wide, 2)).tanh()
    up = functional.interpolate(deep, scale_factor=2, mode="nearest")
    return net.up(torch.cat([wide, up], 1))


of_images(
    "u_net",
    lambda: Net(_u_shaped, down=convolution(1, 2), mid=convolution(2, 2), up=convolution(4, 2)),
    cross_entropy,
    whole(2, 4, 6, 6),
)
of_images(
    "dilated_pyramid",
    lambda: Net(
        lambda net, x: net.last(
            torch.cat([net.a(x), net.b(x), net.c(x.mean((2, 3), keepdim=True)).expand(-1, -1, 6, 6)], 1)
            .tanh()
            .mean((2, 3))
        ),
        a=convolution(1, 1),
        b=convolution(1, 1, dilation=2),
        c=nn.Conv2d(1, 1, 1),
        last=nn.Linear(3, 2),
    ),
)


class _ConvNext(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.deep, self.norm = convolution(width, width, groups=width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.scale = nn.Parameter(0.1 * torch.ones(width))

    def forward(self, rows: Tensor) -> Tensor:
        h = self.norm(self.deep(rows).permute(0, 2, 3, 1))
        return rows + (self.scale * self.down(functional.gelu(self.up(h)))).permute(0, 3, 1, 2)


of_images("convnext_block", lambda: pooled(nn.Conv2d(1, 2, 2, stride=2), _ConvNext(2)))
of_images(
    "super_resolution",
    lambda: chain(convolution(1, 4), nn.Tanh(), nn.PixelShuffle(2)),
    functional.mse_loss,
    normal(4, 1, 12, 12),
)
of_images(
    "channels_shuffled",
    lambda: pooled(convolution(1, 4), nn.ChannelShuffle(2), nn.Tanh(), convolution(4, 2, groups=2)),
)
of_images(
    "padded_by_reflection",
    lambda: pooled(
        nn.ReflectionPad2d(1),
        nn.Conv2d(1, 2, 3),
        nn.Softplus(),
        nn.Conv2d(2, 2, 3, padding=1, padding_mode="circular"),
    ),
)
of_images(
    "unfolded",
    lambda: Net(
        lambda net, x: net.last(net.first(functional.unfold(x, 3, stride=3).mT).tanh().mean(1)),
        first=nn.Linear(9, 3),
        last=nn.Linear(3, 2),
    ),
)
of_images("response_norm", lambda: pooled(convolution(1, 2), nn.LocalResponseNorm(2), nn.Tanh()))
of_images("power_pool", lambda: pooled(convolution(1, 2), nn.Sigmoid(), nn.LPPool2d(2, 2)))
of_images(
    "unpooled",
    lambda: Net(
        lambda net, x: net.last(
            functional.max_unpool2d(*functional.max_pool2d(net.c(x), 2, return_indices=True), 2).flatten(1)
        ),
        c=convolution(1, 1),
        last=nn.Linear(36, 2),
    ),
)
of_images("bicubic", lambda: pooled(convolution(1, 2), nn.Tanh(), nn.Upsample(scale_factor=2, mode="bicubic")))
of_images("channels_last", lambda: pooled(convolution(1, 2), nn.Tanh()).to(memory_format=torch.channels_last))
of(
    "wavenet",
    lambda: Net(
        lambda net, x: net.last(
            (net.a(functional.pad(x, (2, 0))).tanh() * net.b(functional.pad(x, (2, 0))).sigmoid()).mean(2)
        ),
        a=parametrizations.weight_norm(nn.Conv1d(3, 2, 3)),
        b=nn.Conv1d(3, 2, 3),
        last=nn.Linear(2, 2),
    ),
    SIGNALS.mT.contiguous(),
)

# Norms, dropout and what they refuse
of_images(
    "batch_norm_2d_eval", lambda: pooled(convolution(1, 2), nn.BatchNorm2d(2, momentum=None), nn.Tanh()).eval()
)
of_images("batch_norm_training", lambda: pooled(convolution(1, 2), nn.BatchNorm2d(2), nn.Tanh()))
of_images(
    "synchronised_batch_norm_eval", lambda: pooled(convolution(1, 2), nn.SyncBatchNorm(2), nn.Tanh()).eval()
)
of_images("synchronised_batch_norm_training", lambda: pooled(convolution(1, 2), nn.SyncBatchNorm(2), nn.Tanh()))
of_images(
    "instance_norm_statistics_eval",
    lambda: pooled(convolution(1, 2), nn.InstanceNorm2d(2, track_running_stats=True), nn.Tanh()).eval(),
)
of_images(
    "instance_norm_statistics_training",
    lambda: pooled(convolution(1, 2), nn.InstanceNorm2d(2, track_running_stats=True), nn.Tanh()),
)
of_vectors("dropout_training", lambda: small(nn.Dropout(0.5)))
of_vectors("dropout_eval", lambda: small(nn.AlphaDropout(0.5), nn.SELU()).eval())
of_vectors(
    "spectral_norm_training", lambda: chain(parametrizations.spectral_norm(nn.Linear(3, 4)), nn.Linear(4, 2))
)
of_vectors("sampled", between(lambda h: h + 0.1 * torch.randn_like(h)))
of_vectors("gumbel", between(lambda h: functional.gumbel_softmax(h)))
of_vectors("rows_mixed", between(lambda h: h - h.mean(0, keepdim=True)))
of_vectors(
    "activations",
    lambda: small(nn.Mish(), nn.SELU(), nn.CELU(), nn.LogSigmoid(), nn.Softsign(), nn.Tanhshrink()),
)
of_vectors(
    "hard_activations",
    lambda: small(nn.ReLU6(), nn.Hardsigmoid(), nn.Softshrink(), nn.Hardtanh(), nn.Threshold(0.1, 0)),
)
of_vectors(
    "maxout",
    lambda: Net(
        lambda net, x: net.last(net.first(x).unflatten(1, (4, 2)).amax(2)),
        first=nn.Linear(3, 8),
        last=nn.Linear(4, 2),
    ),
)
of_vectors("random_relu_eval", lambda: small(nn.RReLU()).eval())


# Attention
def heads(x: Tensor, number: int) -> Tensor:
    return x.unflatten(2, (number, -1)).transpose(1, 2)


def _scores(net: Net, x: Tensor, bias: Any = 0.0, turn: Callable[[Tensor], Tensor] = lambda x: x) -> Tensor:
    """Attention of two heads that share one key and value, with a bias of the scores."""
    q, k, v = turn(heads(net.q(x), 2)), turn(heads(net.k(x), 1)), heads(net.v(x), 1)
    shares = (q @ k.mT / k.shape[-1] ** 0.5 + bias).softmax(-1)
    return net.last((shares @ v).transpose(1, 2).flatten(2).mean(1))


def _attending(forward: Callable[[Net, Tensor], Tensor], **more: Any) -> Callable[[], nn.Module]:
    def module() -> nn.Module:
        own = {name: make() for name, make in more.items()}
        return Net(
            forward, q=nn.Linear(3, 4), k=nn.Linear(3, 2), v=nn.Linear(3, 2), last=nn.Linear(4, 2), **own
        )

    return module


def _turned(x: Tensor) -> Tensor:
    angles = torch.arange(x.shape[2]).to(x)[:, None]
    a, b = x.chunk(2, -1)
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


APART = torch.arange(5)[:, None] - torch.arange(5)
of_signals(
    "relative_positions",
    _attending(
        lambda net, x: _scores(net, x, net.table(APART + 4).permute(2, 0, 1)), table=lambda: nn.Embedding(9, 2)
    ),
)
of_signals(
    "alibi",
    _attending(
        lambda net, x: _scores(
            net, x, torch.where(APART >= 0, -APART * torch.tensor([0.5, 0.25])[:, None, None], -torch.inf).to(x)
        )
    ),
)
of_signals("rotary_grouped_queries", _attending(lambda net, x: _scores(net, x, turn=_turned)))


def _linear(net: Net, x: Tensor) -> Tensor:
    q, k = (functional.elu(part) + 1 for part in (heads(net.q(x), 2), heads(net.k(x), 1)))
    made = q @ (k.mT @ heads(net.v(x), 1)) / (q @ k.sum(2)[..., None])
    return net.last(made.transpose(1, 2).flatten(2).mean(1))


of_signals("linear_attention", _attending(_linear))
of_signals("sparse_attention", _attending(lambda net, x: net.last(_top(net, x))))


def _top(net: Net, x: Tensor) -> Tensor:
    scores = heads(net.q(x), 2) @ heads(net.k(x), 1).mT
    least = scores.topk(2, dim=-1).values[..., -1:]
    shares = scores.masked_fill(scores < least, -torch.inf).softmax(-1)
    return (shares @ heads(net.v(x), 1)).transpose(1, 2).flatten(2).mean(1)


of_signals(
    "grouped_sdpa",
    _attending(
        lambda net, x: net.last(
            functional.scaled_dot_product_attention(
                heads(net.q(x), 2), heads(net.k(x), 1), heads(net.v(x), 1), enable_gqa=True
            )
            .transpose(1, 2)
            .flatten(2)
            .mean(1)
        )
    ),
)
of_signals(
    "shifted_windows",
    _attending(lambda net, x: _scores(net, x.roll(1, 1)[:, :4].reshape(-1, 2, 3)).reshape(-1, 2, 2).mean(1)),
)
of_signals(
    "mixer",
    lambda: Net(
        lambda net, x: net.last(
            (h := x + net.tokens(net.norm(x).mT).mT.tanh()).mean(1) + net.channels(h).tanh().mean(1)
        ),
        norm=nn.LayerNorm(3),
        tokens=nn.Linear(5, 5),
        channels=nn.Linear(3, 3),
        last=nn.Linear(3, 2),
    ),
)
of_signals(
    "spatial_gate",
    lambda: Net(
        lambda net, x: net.last(
            ((h := functional.gelu(net.up(x)))[..., :2] * net.places(h[..., 2:].mT).mT).mean(1)
        ),
        up=nn.Linear(3, 4),
        places=nn.Linear(5, 5),
        last=nn.Linear(2, 2),
    ),
)
of_signals(
    "fourier_mixer",
    lambda: Net(
        lambda net, x: net.last((x + torch.fft.fft2(net.first(x)).real).tanh().mean(1)),
        first=nn.Linear(3, 3),
        last=nn.Linear(3, 2),
    ),
)
of_signals(
    "latent_queries",
    lambda: Net(
        lambda net, x: net.last(
            net.mha(net.latents.expand(len(x), -1, -1), x, x, need_weights=False)[0].mean(1)
        ),
        latents=parameter(2, 4),
        mha=nn.MultiheadAttention(4, 2, kdim=3, vdim=3, batch_first=True),
        last=nn.Linear(4, 2),
    ),
)
of_signals(
    "transformer",
    lambda: Net(
        lambda net, x: net.last(net.all(net.first(x), net.first(x[:, :2])).mean(1)),
        first=nn.Linear(3, 4),
        all=nn.Transformer(4, 2, 1, 1, 4, dropout=0.0, batch_first=True),
        last=nn.Linear(4, 2),
    ),
)
of_tokens(
    "padding_masked",
    lambda: Net(
        lambda net, x: net.last(net.layer(net.table(x), src_key_padding_mask=x == 0).mean(1)),
        table=nn.Embedding(7, 4),
        layer=nn.TransformerEncoderLayer(4, 2, 4, dropout=0.0, batch_first=True),
        last=nn.Linear(4, 2),
    ).eval(),
)


def _flexible(net: Net, x: Tensor) -> Tensor:
    from torch.nn.attention.flex_attention import flex_attention

    made = flex_attention(
        heads(net.q(x), 2),
        heads(net.k(x), 1).expand(-1, 2, -1, -1),
        heads(net.v(x), 1).expand(-1, 2, -1, -1),
        score_mod=lambda score, _b, _h, i, j: score - (i - j).abs(),
    )
    return net.last(made.transpose(1, 2).flatten(2).mean(1))


of_signals("flexible_attention", _attending(_flexible))


# Recurrence
def _scanned(step: Callable[[Any, Tensor, Any], Any]) -> Callable[[Net, Tensor], Tensor]:
    def forward(net: Net, rows: Tensor) -> Tensor:
        state = None
        for one in net.gates(rows).unbind(1):
            state = step(net, one, state)
        return net.last(state[0] if isinstance(state, tuple) else state)

    return forward


def _quasi(_net: Net, gates: Tensor, state: Any) -> Tensor:
    value, forget = gates.chunk(2, -1)
    return (
        forget.sigmoid() * (torch.zeros_like(value) if state is None else state)
        + (1 - forget.sigmoid()) * value.tanh()
    )


def _exponential(net: Net, gates: Tensor, state: Any) -> tuple[Tensor, ...]:
    """Cell of an sLSTM, with exponential gates and a stabiliser."""
    h, c, n, m = (gates.new_zeros(len(gates), 2) for _ in range(4)) if state is None else state
    z, i, f, o = (gates + net.back(h)).chunk(4, -1)
    top = torch.maximum(functional.logsigmoid(f) + m, i)
    keep, take = (functional.logsigmoid(f) + m - top).exp(), (i - top).exp()
    c, n = keep * c + take * z.tanh(), keep * n + take
    return o.sigmoid() * c / n.clamp(min=1e-6), c, n, top


def _matrix(_net: Net, gates: Tensor, state: Any) -> tuple[Tensor, Tensor]:
    q, k, v, i, f = gates.split([2, 2, 2, 1, 1], -1)
    memory = gates.new_zeros(len(gates), 2, 2) if state is None else state[1]
    memory = f.sigmoid()[..., None] * memory + i.clamp(max=5).exp()[..., None] * v[:, :, None] * k[:, None]
    return (memory @ q[..., None]).squeeze(-1).tanh(), memory


of_signals("qrnn", lambda: Net(_scanned(_quasi), gates=nn.Linear(3, 4), last=nn.Linear(2, 2)))
of_signals(
    "slstm",
    lambda: Net(
        _scanned(_exponential), gates=nn.Linear(3, 8), back=nn.Linear(2, 8, bias=False), last=nn.Linear(2, 2)
    ),
)
of_signals("mlstm", lambda: Net(_scanned(_matrix), gates=nn.Linear(3, 8), last=nn.Linear(2, 2)))
of_signals(
    "parallel_scan",
    lambda: Net(
        lambda net, x: net.last(
            ((h := net.gates(x).chunk(2, -1))[1].sigmoid().cumprod(1) * h[0].tanh()).cumsum(1)[:, -1]
        ),
        gates=nn.Linear(3, 4),
        last=nn.Linear(2, 2),
    ),
)
of_signals(
    "projected_lstm",
    lambda: Net(
        lambda net, x: net.last(net.cells(x)[0][:, -1]),
        cells=nn.LSTM(3, 3, proj_size=2, batch_first=True),
        last=nn.Linear(2, 2),
    ),
)
of_signals(
    "relu_rnn",
    lambda: Net(
        lambda net, x: net.last(net.cells(x)[1][-1]),
        cells=nn.RNN(3, 2, nonlinearity="relu", batch_first=True),
        last=nn.Linear(2, 2),
    ),
)


def _packed(net: Net, rows: Tensor) -> Tensor:
    lengths = 1 + rows[:, :, 0].gt(0).sum(1).cpu()
    packed = nn.utils.rnn.pack_padded_sequence(
        rows, lengths.clamp(max=5), batch_first=True, enforce_sorted=False
    )
    padded, _ = nn.utils.rnn.pad_packed_sequence(net.cells(packed)[0], batch_first=True, total_length=5)
    return net.last(padded.sum(1))


of_signals(
    "packed_lstm_in_both_directions",
    lambda: Net(_packed, cells=nn.LSTM(3, 2, batch_first=True, bidirectional=True), last=nn.Linear(4, 2)),
)


def _state_space(net: Net, x: Tensor) -> Tensor:
    poles = torch.complex(-net.decay.exp(), net.turn)
    powers = (poles[:, None] * torch.arange(x.shape[1]).to(x)).exp()
    kernel = (torch.view_as_complex(net.gain)[:, None] * powers).real.sum(0)
    wide = torch.fft.irfft(torch.fft.rfft(net.first(x).squeeze(-1), n=10) * torch.fft.rfft(kernel, n=10), n=10)
    return net.last(wide[:, :5].tanh())


of_signals(
    "state_space",
    lambda: Net(
        _state_space,
        first=nn.Linear(3, 1),
        decay=parameter(2),
        turn=parameter(2),
        gain=parameter(2, 2),
        last=nn.Linear(5, 2),
    ),
)


def _translated(net: Net, x: Tensor) -> Tensor:
    keys, state = net.encoder(x)
    state, said = state[0], []
    for _ in range(2):
        shares = (net.look(state)[:, None] * keys).sum(-1).softmax(-1)
        state = net.decoder((shares[..., None] * keys).sum(1), state)
        said.append(net.last(state))
    return torch.stack(said, 2)


of_signals(
    "seq2seq",
    lambda: Net(
        _translated,
        encoder=nn.GRU(3, 2, batch_first=True),
        look=nn.Linear(2, 2),
        decoder=nn.GRUCell(2, 2),
        last=nn.Linear(2, 3),
    ),
    cross_entropy,
    whole(3, 4, 2),
)
of_vectors(
    "reservoir",
    lambda: Net(
        lambda net, x: net.last(net.mix(net.mix(x).tanh()).tanh()),
        mix=nn.Linear(3, 3).requires_grad_(False),
        last=nn.Linear(3, 2),
    ),
)


class _Stateful(nn.Module):
    """A recurrent layer that keeps its hidden state from one call to the next."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.last, self.kept = nn.GRUCell(3, 2), nn.Linear(2, 2), None

    def forward(self, rows: Tensor) -> Tensor:
        kept = (
            self.kept if self.kept is not None and len(self.kept) == len(rows) else rows.new_zeros(len(rows), 2)
        )
        made = self.cell(rows, kept)
        self.kept = made.detach()
        return self.last(made)


of_vectors("hidden_state_kept", _Stateful)

# Graphs and sets
EDGES = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 3, 4, 0]])


def _messages(net: Net, x: Tensor) -> Tensor:
    h = net.first(x)
    sent = net.edge(torch.cat([h[:, EDGES[0]], h[:, EDGES[1]]], -1)).tanh()
    return net.last(torch.zeros_like(h).index_add(1, EDGES[1], sent).tanh().mean(1))


def _scattered(net: Net, x: Tensor) -> Tensor:
    h = net.first(x).tanh()
    index = EDGES[1][None, :, None].expand(len(x), -1, h.shape[-1])
    summed = torch.zeros_like(h).scatter_reduce(1, index, h[:, EDGES[0]], "mean", include_self=False)
    return net.last(summed.mean(1))


def _graph_attention(net: Net, x: Tensor) -> Tensor:
    h = net.first(x)
    scores = functional.leaky_relu(net.left(h) + net.right(h).mT)
    mask = torch.eye(5, dtype=torch.bool).index_put((EDGES[0], EDGES[1]), torch.tensor(True))
    return net.last((scores.masked_fill(~mask, -1e9).softmax(-1) @ h).tanh().mean(1))


class _SparseGraph(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("around", torch.sparse_coo_tensor(EDGES, torch.ones(6), (5, 5)).coalesce())
        self.first, self.last = nn.Linear(3, 2), nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = self.first(x).transpose(0, 1).flatten(1)
        mixed = torch.sparse.mm(self.around, h).unflatten(1, (len(x), -1))
        return self.last(mixed.tanh().mean(0))


of_signals(
    "message_passing", lambda: Net(_messages, first=nn.Linear(3, 2), edge=nn.Linear(4, 2), last=nn.Linear(2, 2))
)
of_signals("scattered_messages", lambda: Net(_scattered, first=nn.Linear(3, 2), last=nn.Linear(2, 2)))
of_signals(
    "graph_attention",
    lambda: Net(
        _graph_attention,
        first=nn.Linear(3, 2),
        left=nn.Linear(2, 1),
        right=nn.Linear(2, 1),
        last=nn.Linear(2, 2),
    ),
)
of_signals("sparse_graph", _SparseGraph)
of_signals(
    "deep_sets",
    lambda: Net(lambda net, x: net.after(net.each(x).tanh().sum(1)), each=nn.Linear(3, 3), after=small()),
)
of_signals(
    "equivariant_graph",
    lambda: Net(
        lambda net, x: net.last(
            (
                net.edge((x[:, :, None] - x[:, None]).square().sum(-1, keepdim=True)).tanh()
                * (x[:, :, None] - x[:, None])
            )
            .sum(2)
            .square()
            .mean(1)
        ),
        edge=nn.Linear(1, 1),
        last=nn.Linear(3, 2),
    ),
)

# Layers out of the ordinary
of_vectors(
    "hypernetwork",
    lambda: Net(
        lambda net, x: net.last(torch.bmm(net.made(x).view(-1, 4, 3), x[:, :, None]).squeeze(-1).tanh()),
        made=nn.Linear(3, 12),
        last=nn.Linear(4, 2),
    ),
)


def _flow(net: Net, x: Tensor) -> Tensor:
    field, step = lambda y: net.field(y).tanh(), 0.25
    for _ in range(4):
        a = field(x)
        b = field(x + step / 2 * a)
        c = field(x + step / 2 * b)
        x = x + step / 6 * (a + 2 * b + 2 * c + field(x + step * c))
    return net.last(x)


def _equilibrium(net: Net, x: Tensor) -> Tensor:
    with torch.no_grad():
        z = torch.zeros_like(x)
        for _ in range(20):
            z = (0.3 * net.inner(z) + net.outer(x)).tanh()
    return net.last((0.3 * net.inner(z) + net.outer(x)).tanh())


def _splines(net: Net, x: Tensor) -> Tensor:
    hats = (1 - (x[..., None] - torch.linspace(-2, 2, 4).to(x)).abs()).clamp(min=0)
    cubic = hats**2 * (3 - 2 * hats)
    return torch.einsum("bik,oik->bo", cubic, net.w) + net.base(functional.silu(x))


of_vectors("neural_ode", lambda: Net(_flow, field=nn.Linear(3, 3), last=nn.Linear(3, 2)))
of_vectors(
    "equilibrium", lambda: Net(_equilibrium, inner=nn.Linear(3, 3), outer=nn.Linear(3, 3), last=nn.Linear(3, 2))
)
of_vectors("splines", lambda: Net(_splines, w=parameter(2, 3, 4), base=nn.Linear(3, 2)))
of_vectors("sines", between(lambda h: (3 * h).sin()))


class _Features(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("waves", torch.randn(3, 2))
        self.last = nn.Linear(4, 2)

    def forward(self, rows: Tensor) -> Tensor:
        phase = 2 * math.pi * rows @ self.waves
        return self.last(torch.cat([phase.sin(), phase.cos()], -1))


of_vectors("fourier_features", _Features)


def _coupled(net: Net, x: Tensor) -> tuple[Tensor, Tensor]:
    a, b = x[:, :1], x[:, 1:]
    scale, shift = net.first(a).tanh().chunk(2, -1)
    b = b * scale.exp() + shift
    more, moved = net.last(b).tanh().chunk(2, -1)
    return torch.cat([a * more.exp() + moved, b], -1), scale.sum(-1) + more.sum(-1)


of_vectors(
    "normalising_flow",
    lambda: Net(_coupled, first=nn.Linear(1, 4), last=nn.Linear(2, 2)),
    lambda out, _y: (out[0].square().sum(-1) / 2 - out[1]).mean(),
)
of_vectors("autoencoder", lambda: chain(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 3)), squares, VECTORS)


def _field(net: Net, x: Tensor) -> Tensor:
    """Negative score of all sequences of labels of a chain."""
    scores = net.first(x)
    total = scores[:, 0]
    for t in range(1, scores.shape[1]):
        total = torch.logsumexp(total[:, :, None] + net.steps, 1) + scores[:, t]
    return torch.stack([total.logsumexp(-1), scores[:, :, 0].sum(1)], -1)


of_signals(
    "random_field",
    lambda: Net(_field, first=nn.Linear(3, 2), steps=parameter(2, 2)),
    lambda out, _y: (out[:, 0] - out[:, 1]).mean(),
)


def _capsules(net: Net, x: Tensor) -> Tensor:
    votes = torch.einsum("bni,noij->bnoj", x[:, :3], net.w)
    logits = torch.zeros_like(votes[..., 0])
    for _ in range(2):
        summed = (logits.softmax(2)[..., None] * votes).sum(1)
        length = summed.square().sum(-1, keepdim=True)
        out = summed * length.sqrt() / (1 + length)
        logits = logits + (votes * out[:, None]).sum(-1)
    return out.norm(dim=-1)


of_signals("capsules", lambda: Net(_capsules, w=parameter(3, 2, 3, 2)))
of_vectors(
    "associative_memory",
    between(lambda net, h: (h @ net.kept.T).softmax(-1) @ net.kept, kept=lambda: parameter(3, 4)),
)
of_vectors(
    "tensor_train",
    lambda: Net(
        lambda net, x: torch.einsum("bi,ir,rsj,so->boj", x, net.a, net.b, net.c).sum(2).tanh(),
        a=parameter(3, 2),
        b=parameter(2, 2, 2),
        c=parameter(2, 2),
    ),
)
of_vectors(
    "matrix_exponential", between(lambda h: torch.linalg.matrix_exp(0.3 * h.reshape(-1, 2, 2)).flatten(1))
)
of_vectors(
    "eigenvalues",
    lambda: Net(
        lambda net, x: net.last(torch.linalg.eigvalsh((h := net.first(x).reshape(-1, 2, 2)) @ h.mT)),
        first=nn.Linear(3, 4),
        last=nn.Linear(2, 2),
    ),
)
of_vectors(
    "cholesky",
    between(lambda h: torch.linalg.cholesky(torch.eye(2).to(h) + (m := h.reshape(-1, 2, 2)) @ m.mT).flatten(1)),
)


def _sinkhorn(h: Tensor) -> Tensor:
    scores = h.reshape(-1, 2, 2)
    for axis in (1, 2, 1, 2):
        scores = scores - scores.logsumexp(axis, keepdim=True)
    return scores.exp().flatten(1)


of_vectors("transport", between(_sinkhorn))

# Wrappers, and what changes parameters
of_vectors("averaged", lambda: torch.optim.swa_utils.AveragedModel(small()))
of_vectors("symmetric_parametrization", lambda: chain(_symmetric(), nn.Tanh(), nn.Linear(3, 2)))


class _Symmetric(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.triu() + x.triu(1).mT


def _symmetric() -> nn.Module:
    layer = nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", _Symmetric())
    return layer


def _pruned() -> nn.Module:
    net = small()
    prune.l1_unstructured(net[0], "weight", amount=0.5)
    return net


def _traced() -> nn.Module:
    return torch.jit.trace(small(), VECTORS)


def _symbolic() -> nn.Module:
    import torch.fx

    return torch.fx.symbolic_trace(small())


def _exported() -> nn.Module:
    from torch.export import Dim, export

    return export(small(), (VECTORS,), dynamic_shapes=({0: Dim("rows", min=1)},)).module()


def _quantised() -> nn.Module:
    return torch.ao.quantization.quantize_dynamic(small(), {nn.Linear}, dtype=torch.qint8)


def _compiled_inside() -> nn.Module:
    return chain(
        nn.Linear(3, 4), torch.compile(chain(nn.Tanh(), nn.Linear(4, 4)), backend="eager"), nn.Linear(4, 2)
    )


class _Flat(nn.Module):
    """Layers whose weights are views of one flat parameter, as in sharded training."""

    def __init__(self) -> None:
        super().__init__()
        self.flat = nn.Parameter(torch.randn(22) / 2)

    def forward(self, rows: Tensor) -> Tensor:
        w, b, v = self.flat.split([12, 4, 6])[0].view(4, 3), self.flat[12:16], self.flat[14:].view(2, 4)
        return functional.linear(functional.linear(rows, w, b).tanh(), v)


class _Lora(nn.Module):
    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.down, self.up = (
            nn.Linear(layer.in_features, 1, bias=False),
            nn.Linear(1, layer.out_features, bias=False),
        )
        nn.init.zeros_(self.up.weight)

    def forward(self, rows: Tensor) -> Tensor:
        return self.layer(rows) + 2 * self.up(self.down(rows))


of_vectors("pruned", _pruned)
of_vectors("traced", _traced)
of_vectors("symbolically_traced", _symbolic)
of_vectors("exported", _exported)
of_vectors("quantised", _quantised)
of_vectors("compiled_inside", _compiled_inside)
of_vectors("flat_parameters", _Flat)
of_vectors("lora", lambda: chain(_Lora(nn.Linear(3, 4)), nn.Tanh(), _Lora(nn.Linear(4, 2))))
of_vectors(
    "fake_quantised", between(lambda h: torch.fake_quantize_per_tensor_affine(h.tanh(), 0.05, 0, -128, 127))
)
of_signals(
    "soft_prompt",
    lambda: Net(
        lambda net, x: net.last(net.layer(torch.cat([net.prompt.expand(len(x), -1, -1), x], 1)).mean(1)),
        prompt=parameter(2, 3),
        layer=nn.TransformerEncoderLayer(3, 1, 4, dropout=0.0, batch_first=True).requires_grad_(False),
        last=nn.Linear(3, 2),
    ),
)
of_vectors(
    "checkpointed_sequence",
    lambda: Net(
        lambda net, x: torch.utils.checkpoint.checkpoint_sequential(net.all, 2, x, use_reentrant=False),
        all=small(),
    ),
)


def _hooked() -> nn.Module:
    net = small()
    net[0].register_forward_hook(lambda _m, _given, out: out * 2)
    net[2].register_forward_pre_hook(lambda _m, given: (given[0].sin(),))
    return net


of_vectors("forward_hooks", _hooked)


class _Vmapped(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x.exp()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Tensor) -> None:  # noqa: ARG004
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> Tensor:
        return ctx.saved_tensors[0] * slope

    @staticmethod
    def jvp(ctx: Any, moved: Tensor) -> Tensor:
        return ctx.saved_tensors[0] * moved


_OPERATORS = itertools.count()


def _saved(ctx: Any, inputs: Any, output: Tensor) -> None:  # noqa: ARG001
    ctx.save_for_backward(*inputs)


def _own_operator() -> nn.Module:
    @torch.library.custom_op(f"brought::sine{next(_OPERATORS)}", mutates_args=())
    def sine(x: Tensor) -> Tensor:
        return x.sin()

    sine.register_autograd(lambda ctx, slope: slope * ctx.saved_tensors[0].cos(), setup_context=_saved)
    return between(lambda h: sine(h))()


of_vectors("own_function_with_vmap", between(lambda h: _Vmapped.apply(h.tanh())))
of_vectors("own_operator", _own_operator)


def _ensemble() -> nn.Module:
    members = [small() for _ in range(2)]
    stacked, _ = torch.func.stack_module_state(members)
    shell = copy.deepcopy(members[0]).to("meta")
    call = lambda given, x: torch.func.functional_call(shell, given, (x,))  # noqa: E731
    own = {name.replace(".", "_"): nn.Parameter(one.detach()) for name, one in stacked.items()}
    return Net(
        lambda net, x: torch.vmap(call, (0, None))(
            {name: getattr(net, name.replace(".", "_")) for name in stacked}, x
        ).mean(0),
        **own,
    )


of_vectors("ensemble", _ensemble)
of_vectors(
    "slope_by_jvp",
    lambda: Net(
        lambda net, x: net.last(torch.func.jvp(lambda y: net.first(y).tanh(), (x,), (torch.ones_like(x),))[1]),
        first=nn.Linear(3, 4),
        last=nn.Linear(4, 2),
    ),
)
of_vectors(
    "laplacian_by_vmap",
    lambda: Net(lambda net, x: torch.vmap(torch.func.jacrev(lambda y: net.all(y)))(x).sum(-1), all=small()),
)
of_vectors(
    "frozen_features",
    lambda: Net(lambda net, x: net.last(_unmoved(net, x)), first=nn.Linear(3, 4), last=nn.Linear(4, 2)),
)


def _unmoved(net: Net, x: Tensor) -> Tensor:
    with torch.no_grad():
        return net.first(x).tanh()


def _inferred(net: Net, x: Tensor) -> Tensor:
    with torch.inference_mode():
        made = net.first(x).tanh()
    return net.last(made.clone())


of_vectors("inference_mode", lambda: Net(_inferred, first=nn.Linear(3, 4), last=nn.Linear(4, 2)))
of_vectors(
    "conditional", between(lambda h: torch.cond(h.sum() > 0, lambda x: x.tanh(), lambda x: x.sigmoid(), (h,)))
)


# Parameters, buffers, dtypes and sizes
class _Holders(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.some = nn.ParameterList([torch.randn(3, 2), torch.randn(2)])
        self.named = nn.ParameterDict({"scale": torch.ones(())})
        self.layers = nn.ModuleDict({"a": nn.Linear(3, 3), "unused": nn.Linear(2, 2)})

    def forward(self, x: Tensor, scale: float = 1.0, **_rest: Any) -> Tensor:
        return scale * self.named["scale"] * (self.layers["a"](x).tanh() @ self.some[0] + self.some[1])


def _shared() -> nn.Module:
    layer = nn.Linear(3, 3)
    return chain(layer, nn.Tanh(), layer, nn.Sigmoid(), layer, nn.Linear(3, 2))


def _partly_frozen() -> nn.Module:
    net = small()
    net[0].weight.requires_grad_(False)
    return net


class _Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(3, 2)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.seen += len(x)
        return self.last(x)


class _WithBuffer(nn.Module):
    def __init__(self, values: Tensor) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 2)
        self.register_buffer("waves", values)

    def forward(self, x: Tensor) -> Tensor:
        turned = torch.view_as_complex(self.first(x).reshape(-1, 2, 2)) * self.waves
        return self.last(torch.view_as_real(turned).flatten(1).tanh())


def _materialised() -> nn.Module:
    net = chain(nn.LazyLinear(4), nn.Tanh(), nn.LazyLinear(2))
    net(VECTORS)
    return net


of_vectors("holders", _Holders)
of_vectors("shared_three_times", _shared)
of_vectors("partly_frozen", _partly_frozen)
of_vectors("all_frozen", lambda: small().requires_grad_(False))
of_vectors("no_parameters", lambda: chain(nn.Tanh(), nn.Flatten()))
of_vectors("counter", _Counter)
of_vectors("lazy", lambda: chain(nn.LazyLinear(4), nn.Tanh(), nn.LazyLinear(2)))
of_vectors("lazy_materialised", _materialised)
of_vectors("complex_buffer", lambda: _WithBuffer(torch.polar(torch.ones(2), torch.arange(2.0))))
of_vectors(
    "complex_linear",
    lambda: Net(lambda net, x: net.c(x.to(net.c.weight)).abs(), c=nn.Linear(3, 2, dtype=torch.cfloat)),
)
of_vectors("not_contiguous", lambda: Net(lambda net, x: x @ net.w, w=nn.Parameter(torch.randn(2, 3).t())))
of_vectors("expanded_buffer", lambda: _Rows(torch.ones(1).expand(3)))
of_vectors(
    "empty_parameter",
    lambda: Net(
        lambda net, x: net.last(torch.cat([x, net.none.expand(len(x), -1)], 1)),
        none=nn.Parameter(torch.empty(0)),
        last=nn.Linear(3, 2),
    ),
)


class _Rows(nn.Module):
    def __init__(self, scale: Tensor) -> None:
        super().__init__()
        self.last = nn.Linear(3, 2)
        self.register_buffer("scale", scale, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.last((x * self.scale).tanh())


of_vectors(
    "one_number",
    lambda: Net(
        lambda net, x: torch.stack([net.w * x[:, 0], -net.w * x[:, 1]], -1).tanh(),
        w=nn.Parameter(torch.tensor(0.5)),
    ),
)
of_vectors(
    "deep",
    lambda: chain(
        nn.Linear(3, 3), *(part for _ in range(40) for part in (nn.Linear(3, 3), nn.Tanh())), nn.Linear(3, 2)
    ),
)
of_vectors("bfloat16_weights", lambda: small().bfloat16())
of_vectors("float16_weights", lambda: small().half())
of_vectors("float64_weights", lambda: small().double())
of_vectors(
    "several_dtypes",
    lambda: Net(
        lambda net, x: net.last(net.first(x.float()).tanh().double()),
        first=nn.Linear(3, 4),
        last=nn.Linear(4, 2).double(),
    ),
)
of(
    "integers",
    lambda: Net(
        lambda net, x: net.last(functional.one_hot(x, 7).to(net.last.weight).flatten(1)), last=nn.Linear(35, 2)
    ),
    TOKENS,
)
of("booleans", lambda: Net(lambda net, x: net.last(x.to(net.last.weight)), last=nn.Linear(3, 2)), VECTORS > 0)
of(
    "bytes",
    lambda: Net(lambda net, x: net.last(x.to(net.last.weight).div(255).tanh()), last=nn.Linear(3, 2)),
    whole(256, 5, 3).to(torch.uint8),
)
of("numbers", lambda: Net(lambda net, x: net.last(x[:, None]), last=nn.Linear(1, 2)), normal(5))
of_tokens(
    "sparse_table",
    lambda: Net(
        lambda net, x: net.last(net.table(x).mean(1).tanh()),
        table=nn.Embedding(7, 3, sparse=True),
        last=nn.Linear(3, 2),
    ),
)
of_tokens(
    "bounded_table",
    lambda: Net(
        lambda net, x: net.last(net.table(x).mean(1).tanh()),
        table=nn.Embedding(7, 3, max_norm=1.0),
        last=nn.Linear(3, 2),
    ),
)
of_tokens(
    "weighted_bags",
    lambda: Net(
        lambda net, x: net.last(net.table(x.flatten(), torch.arange(len(x)) * 5, net.w[x.flatten()])),
        table=nn.EmbeddingBag(7, 3, mode="sum"),
        w=parameter(7),
        last=nn.Linear(3, 2),
    ),
)


of_signals(
    "nested", lambda: Net(lambda net, x: _nested_of_one(net, x), first=nn.Linear(3, 2), last=nn.Linear(2, 2))
)


def _nested_of_one(net: Net, x: Tensor) -> Tensor:
    """Rows of lengths that their first entries state, as a nested tensor."""
    lengths = [2 + int(one[0, 0] > 0) for one in x.detach()]
    parts = torch.nested.as_nested_tensor([net.first(one[:k]) for one, k in zip(x, lengths, strict=True)])
    return net.last(torch.stack([one.tanh().sum(0) for one in parts.unbind()]))


def _filled(net: Net, x: Tensor) -> Tensor:
    out = torch.zeros(len(x), 2, dtype=x.dtype, device=x.device)
    for k in range(2):
        out[:, k] = (net.w[k] * x).sum(-1).tanh()
    return out


of_vectors("filled_in_place", lambda: Net(_filled, w=parameter(2, 3)))
of_vectors("per_row", lambda: Net(lambda net, x: torch.stack([net.all(one) for one in x]), all=small()))
of_vectors("asserting", lambda: Net(lambda net, x: _asserted(net, x), all=small()))


def _asserted(net: Net, x: Tensor) -> Tensor:
    assert x.ndim == 2, x.shape
    assert not torch.isnan(x).any()
    return net.all(x)


# Outputs and losses
@dataclass
class _Output:
    logits: Tensor
    hidden: Tensor | None = None


class _Named(NamedTuple):
    logits: Tensor
    hidden: Tensor


def _hf_output(net: Net, x: Tensor) -> Any:
    from transformers.modeling_outputs import SequenceClassifierOutput

    return SequenceClassifierOutput(logits=net.l(x))


of_vectors(
    "dataclass_output",
    lambda: Net(lambda net, x: _Output(net.l(x), x), l=nn.Linear(3, 2)),
    lambda out, y: cross_entropy(out.logits, y),
)
of_vectors(
    "named_output",
    lambda: Net(lambda net, x: _Named(net.l(x), x), l=nn.Linear(3, 2)),
    lambda out, y: cross_entropy(out.logits, y),
)
of_vectors(
    "list_output",
    lambda: Net(lambda net, x: [net.l(x), [net.l(x)]], l=nn.Linear(3, 2)),
    lambda out, y: cross_entropy(out[0], y) + cross_entropy(out[1][0], y),
)
of_vectors(
    "output_of_transformers",
    lambda: Net(_hf_output, l=nn.Linear(3, 2)),
    lambda out, y: cross_entropy(out.logits, y),
)
of_vectors(
    "returns_losses",
    lambda: Net(
        lambda net, x: cross_entropy(net.l(x), (x[:, 0] > 0).long(), reduction="none"), l=nn.Linear(3, 2)
    ),
    lambda out, _y: out.mean(),
)
of_vectors(
    "returns_the_loss",
    lambda: Net(lambda net, x: cross_entropy(net.l(x), (x[:, 0] > 0).long()), l=nn.Linear(3, 2)),
    lambda out, _y: out,
)
of_vectors(
    "one_output",
    lambda: Net(lambda net, x: net.l(x).squeeze(-1), l=nn.Linear(3, 1)),
    functional.binary_cross_entropy_with_logits,
    LABELS.float(),
)
of_vectors("multi_label", lambda: small(), functional.binary_cross_entropy_with_logits, (REAL > 0).float())
of_vectors(
    "probabilities", lambda: chain(small(), nn.Sigmoid()), functional.binary_cross_entropy, (REAL > 0).float()
)
of_vectors("smoothed_labels", small, nn.CrossEntropyLoss(label_smoothing=0.1))
of_vectors(
    "focal", small, lambda out, y: ((1 - (p := out.softmax(-1).gather(1, y[:, None]))) ** 2 * -p.log()).mean()
)
of_vectors("log_probabilities", lambda: chain(small(), nn.LogSoftmax(-1)), nn.NLLLoss())
of_vectors("quantile", small, lambda out, y: torch.maximum(0.9 * (y - out), 0.1 * (out - y)).mean(), REAL)
of_vectors(
    "gaussian", small, lambda out, y: functional.gaussian_nll_loss(out[:, :1], y[:, :1], out[:, 1:].exp()), REAL
)
of_vectors("poisson", small, nn.PoissonNLLLoss(), REAL.abs().round())
of_vectors("hinge", small, nn.MultiMarginLoss())
of_vectors(
    "distribution",
    small,
    lambda out, y: -torch.distributions.Normal(out[:, 0], out[:, 1].exp()).log_prob(y[:, 0]).mean(),
    REAL,
)
of_vectors(
    "evidence",
    between(lambda h: h, 4),
    lambda out, y: -torch.distributions.Dirichlet(out.exp() + 1).log_prob(y.softmax(-1)).mean(),
    REAL,
)
of(
    "triplet",
    lambda: Net(lambda net, x: net.all(x), all=small()),
    normal(4, 3, 3),
    lambda out, _y: functional.triplet_margin_loss(out[:, 0], out[:, 1], out[:, 2]),
)
of(
    "siamese",
    lambda: Net(
        lambda net, x: torch.stack([a := net.all(x[:, 0]), net.all(x[:, 1]) - a], 1).norm(dim=-1), all=small()
    ),
    normal(4, 2, 3),
)
of_tokens(
    "language_model",
    lambda: Net(
        lambda net, x: net.cells(net.table(x))[0] @ net.table.weight.T,
        table=nn.Embedding(7, 3),
        cells=nn.GRU(3, 3, batch_first=True),
    ),
    lambda out, y: cross_entropy(out[:, :-1].flatten(0, 1), y[:, 1:].flatten()),
    TOKENS,
)


class _Adaptive(nn.Module):
    """A loss with parameters of its own, which are not trained."""

    def __init__(self) -> None:
        super().__init__()
        self.own = nn.AdaptiveLogSoftmaxWithLoss(3, 7, [2, 4]).requires_grad_(False)

    def forward(self, output: Tensor, target: Tensor) -> Tensor:
        return self.own(output, target).loss


of_vectors(
    "adaptive_softmax", lambda: chain(nn.Linear(3, 3), nn.Tanh()), _Adaptive(), torch.tensor([0, 3, 6, 1, 5])
)

# Transformers by their configurations
SMALL = {
    "hidden_size": 4,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 4,
    "vocab_size": 7,
}
SHORT = SMALL | {"max_position_embeddings": 8}
MODELS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("roberta", "Roberta", SMALL | {"max_position_embeddings": 8, "pad_token_id": 1}),
    ("electra", "Electra", SHORT | {"embedding_size": 4}),
    ("albert", "Albert", SHORT | {"embedding_size": 4}),
    ("deberta", "DebertaV2", SHORT | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    ("fnet", "FNet", SHORT),
    ("mistral", "Mistral", SHORT | {"num_key_value_heads": 1, "pad_token_id": 0}),
    ("qwen2", "Qwen2", SHORT | {"num_key_value_heads": 1, "pad_token_id": 0}),
    ("gemma", "Gemma", SHORT | {"num_key_value_heads": 1, "head_dim": 2, "pad_token_id": 0}),
    ("mixtral", "Mixtral", SHORT | {"num_key_value_heads": 1, "num_local_experts": 2, "pad_token_id": 0}),
    ("gpt_neox", "GPTNeoX", SHORT | {"pad_token_id": 0}),
    ("opt", "OPT", SHORT | {"ffn_dim": 4, "word_embed_proj_dim": 4, "pad_token_id": 0}),
    ("bloom", "Bloom", {"vocab_size": 7, "hidden_size": 4, "n_layer": 1, "n_head": 2, "pad_token_id": 0}),
    (
        "t5",
        "T5",
        {
            "vocab_size": 7,
            "d_model": 4,
            "d_kv": 2,
            "d_ff": 4,
            "num_layers": 1,
            "num_heads": 2,
            "decoder_start_token_id": 0,
            "eos_token_id": 6,
        },
    ),
    (
        "bart",
        "Bart",
        {
            "vocab_size": 7,
            "d_model": 4,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "encoder_attention_heads": 2,
            "decoder_attention_heads": 2,
            "encoder_ffn_dim": 4,
            "decoder_ffn_dim": 4,
            "max_position_embeddings": 8,
            "eos_token_id": 6,
        },
    ),
    ("xlnet", "XLNet", {"vocab_size": 7, "d_model": 4, "n_layer": 1, "n_head": 2, "d_inner": 4}),
)
ENDED = torch.cat([TOKENS[:, :4].clamp(max=5), torch.full((4, 1), 6)], 1)
for name, family, options in MODELS:
    quiet = {"num_labels": 2, "dropout": 0.0} if name == "bart" else {"num_labels": 2}
    of(name, _transformers(f"{family}ForSequenceClassification", f"{family}Config", **options, **quiet), ENDED)
of_images(
    "swin",
    _transformers(
        "SwinForImageClassification",
        "SwinConfig",
        image_size=6,
        patch_size=1,
        num_channels=1,
        embed_dim=4,
        depths=[1],
        num_heads=[2],
        window_size=3,
        num_labels=2,
    ),
)
of_images(
    "convnext",
    _transformers(
        "ConvNextForImageClassification",
        "ConvNextConfig",
        num_channels=1,
        patch_size=2,
        hidden_sizes=[2, 4],
        depths=[1, 1],
        num_stages=2,
        num_labels=2,
    ),
)
of_images(
    "resnet_of_transformers",
    _transformers(
        "ResNetForImageClassification",
        "ResNetConfig",
        num_channels=1,
        embedding_size=2,
        hidden_sizes=[2, 4],
        depths=[1, 1],
        layer_type="basic",
        num_labels=2,
    ),
)
of(
    "wav2vec2",
    _transformers(
        "Wav2Vec2ForSequenceClassification",
        "Wav2Vec2Config",
        hidden_size=4,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=4,
        conv_dim=(2, 2),
        conv_stride=(2, 2),
        conv_kernel=(3, 3),
        num_feat_extract_layers=2,
        num_conv_pos_embeddings=2,
        num_conv_pos_embedding_groups=1,
        classifier_proj_size=4,
        num_labels=2,
    ),
    normal(4, 40),
)
of(
    "whisper",
    _transformers(
        "WhisperForAudioClassification",
        "WhisperConfig",
        d_model=4,
        encoder_layers=1,
        encoder_attention_heads=2,
        encoder_ffn_dim=4,
        num_mel_bins=3,
        max_source_positions=4,
        classifier_proj_size=4,
        num_labels=2,
        decoder_layers=1,
        decoder_attention_heads=2,
        decoder_ffn_dim=4,
        vocab_size=7,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    ),
    normal(4, 3, 8),
)
