"""Tiny networks of many kinds, each with a few samples, for tests of what measures any network."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from lastiterate.runtime.workloads.hugging_face import import_torchvision
from lastiterate.runtime.workloads.workload import Workload

Loss = Callable[[Any, Tensor], Tensor]
cross_entropy = nn.functional.cross_entropy


def squares(output: Tensor, target: Tensor) -> Tensor:
    return (output - target).square().mean()


class Net(nn.Module):
    """Named parts and a forward pass over them."""

    def __init__(self, forward: Callable[["Net", Tensor], Any], **parts: nn.Module | nn.Parameter) -> None:
        super().__init__()
        self._own_forward = forward
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, rows: Tensor) -> Any:
        return self._own_forward(self, rows)


class Kind(NamedTuple):
    """A kind of network: its factory, its inputs and how it is judged."""

    name: str
    module: Callable[[], nn.Module]
    inputs: Tensor
    targets: Tensor
    loss: Loss = cross_entropy
    nightly: bool = False

    def workload(self) -> Workload:
        return Workload(self.name, self.module, self.loss, self.inputs, self.targets)


def normal(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def whole(high: int, *shape: int, seed: int = 2) -> Tensor:
    return torch.randint(0, high, shape, generator=torch.Generator().manual_seed(seed))


VECTORS, IMAGES, SIGNALS, TOKENS = normal(5, 3), normal(4, 1, 6, 6), normal(4, 5, 3), whole(7, 4, 5)
LABELS, FOUR = torch.tensor([0, 1, 1, 0, 1]), torch.tensor([0, 1, 1, 0])
KINDS: list[Kind] = []


def of_vectors(name: str, module: Callable[[], nn.Module], loss: Loss = cross_entropy, **more: Any) -> None:
    KINDS.append(Kind(name, module, more.pop("inputs", VECTORS), more.pop("targets", LABELS), loss, **more))


def of_images(name: str, module: Callable[[], nn.Module], **more: Any) -> None:
    KINDS.append(Kind(name, module, IMAGES, FOUR, **more))


def of_signals(name: str, module: Callable[[], nn.Module], loss: Loss = cross_entropy, **more: Any) -> None:
    KINDS.append(Kind(name, module, SIGNALS, more.pop("targets", FOUR), loss, **more))


def of_tokens(name: str, module: Callable[[], nn.Module], loss: Loss = cross_entropy, **more: Any) -> None:
    KINDS.append(Kind(name, module, TOKENS, FOUR, loss, **more))


def chain(*parts: nn.Module) -> nn.Sequential:
    return nn.Sequential(*parts)


def between(middle: Callable[[Tensor], Any], width: int = 4, **parts: Any) -> Callable[[], nn.Module]:
    """A factory of a linear layer, a function of its output (and of parts), and a linear layer."""

    def module() -> nn.Module:
        own = {name: make() for name, make in parts.items()}
        call = (lambda net, h: middle(net, h)) if own else (lambda _net, h: middle(h))  # type: ignore[call-arg, arg-type]
        first, last = nn.Linear(3, width), nn.Linear(width, 2)
        return Net(lambda net, rows: net.last(call(net, net.first(rows))), first=first, last=last, **own)

    return module


# Layers without recurrence or attention
of_vectors("tanh", lambda: chain(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))
of_vectors("relu", lambda: chain(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
of_vectors("prelu", lambda: chain(nn.Linear(3, 4), nn.PReLU(), nn.Linear(4, 2)))
of_images(
    "prelu_of_channels",
    lambda: chain(nn.Conv2d(1, 2, 3), nn.PReLU(2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 2)),
)
of_vectors("layer_norm", lambda: chain(nn.Linear(3, 4), nn.LayerNorm(4), nn.GELU(), nn.Linear(4, 2)))
of_vectors("rms_norm", lambda: chain(nn.Linear(3, 4), nn.RMSNorm(4), nn.SiLU(), nn.Linear(4, 2)))
of_vectors("bilinear", lambda: Net(lambda net, x: net.b(x, x.tanh()), b=nn.Bilinear(3, 3, 2)))
of_vectors("glu", lambda: chain(nn.Linear(3, 8), nn.GLU(), nn.Linear(4, 2)))
of_vectors("batch_norm_eval", lambda: chain(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)).eval())
of_vectors("dropout_of_0", lambda: chain(nn.Linear(3, 4), nn.Dropout(0.0), nn.Tanh(), nn.Linear(4, 2)))
of_vectors("normalised", between(lambda h: functional.normalize(h.tanh(), dim=-1)))
of_vectors("distances", between(lambda net, h: (-torch.cdist(h, net.centers)).exp(), 3,
                                centers=lambda: nn.Parameter(torch.randn(3, 3))))  # fmt: skip
of_vectors("in_place", between(lambda h: h.clone().mul_(2.0).tanh_()))
of_vectors("sorted", between(lambda h: h.sort(dim=-1).values.tanh()))
of_vectors("cumulated", between(lambda h: h.cumsum(dim=-1).logcumsumexp(dim=-1)))
of_vectors("solved", between(lambda h: torch.linalg.solve(
    torch.eye(4).to(h) * 3 + (h[:, :, None] * h[:, None, :]), h.tanh())))  # fmt: skip
of_images("convolutions", lambda: chain(nn.Conv2d(1, 2, 3), nn.GroupNorm(1, 2), nn.Tanh(), nn.Flatten(),
                                        nn.Linear(32, 2)))  # fmt: skip
of_images("max_pool", lambda: chain(nn.Conv2d(1, 2, 3), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 2)))
of_images("instance_norm", lambda: chain(nn.Conv2d(1, 2, 3), nn.InstanceNorm2d(2, affine=True), nn.Tanh(),
                                         nn.Flatten(), nn.Linear(32, 2)))  # fmt: skip
of_images("transposed", lambda: chain(nn.ConvTranspose2d(1, 1, 3), nn.PixelUnshuffle(2), nn.Flatten(),
                                      nn.Tanh(), nn.Linear(64, 2)))  # fmt: skip
of_images("interpolated", lambda: Net(
    lambda net, x: net.l(functional.interpolate(net.c(x).tanh(), scale_factor=0.5, mode="bilinear").flatten(1)),
    c=nn.Conv2d(1, 1, 3), l=nn.Linear(4, 2)))  # fmt: skip
of_images("spatial_transformer", lambda: Net(
    lambda net, x: net.l(functional.grid_sample(x, functional.affine_grid(
        net.t(x.flatten(1)).reshape(-1, 2, 3) * 0.1, list(x.shape), align_corners=False),
        align_corners=False).flatten(1)), t=nn.Linear(36, 6), l=nn.Linear(36, 2)))  # fmt: skip
of_vectors("weight_norm", lambda: chain(nn.utils.parametrizations.weight_norm(nn.Linear(3, 4)), nn.Tanh(),
                                        nn.Linear(4, 2)))  # fmt: skip
of_vectors("weight_norm_by_hook", lambda: chain(nn.utils.weight_norm(nn.Linear(3, 4)), nn.Tanh(),  # type: ignore[no-untyped-call]
                                                nn.Linear(4, 2)))  # fmt: skip
of_vectors("spectral_norm_eval", lambda: chain(nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4)),
                                               nn.Tanh(), nn.Linear(4, 2)).eval())  # fmt: skip
of_vectors("orthogonal", lambda: chain(nn.utils.parametrizations.orthogonal(nn.Linear(3, 3)), nn.Tanh(),
                                       nn.Linear(3, 2)))  # fmt: skip
of_vectors("low_rank", between(lambda net, h: h.tanh() + h @ net.a.T @ net.b.T,
                               a=lambda: nn.Parameter(torch.randn(1, 4)),
                               b=lambda: nn.Parameter(torch.zeros(4, 1))))  # fmt: skip
of_vectors("scalar", between(lambda net, h: h.tanh() * net.scale, scale=lambda: nn.Parameter(torch.ones(()))))
of_vectors("graph", between(lambda h: (torch.tensor([[2.0, 1], [1, 2]]).to(h) @ h.reshape(-1, 2, 2).tanh())
                            .flatten(1)))  # fmt: skip


# Precision
class _Narrow(nn.Module):
    """Two linear layers; the function between them computes in another dtype."""

    def __init__(self, middle: Callable[[nn.Module, Tensor], Tensor]) -> None:
        super().__init__()
        self.first, self.last, self._middle = nn.Linear(3, 4), nn.Linear(4, 2), middle

    def forward(self, rows: Tensor) -> Tensor:
        return self._middle(self, rows)


def _autocast(net: Any, rows: Tensor) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return net.last(net.first(rows).tanh())  # type: ignore[no-any-return]


of_vectors("autocast", lambda: _Narrow(_autocast))
of_vectors("cast_to_float32", lambda: _Narrow(lambda net, x: net.last(net.first(x).float().tanh().to(x))))
of_vectors("softmax_in_float32", lambda: _Narrow(
    lambda net, x: net.last(functional.softmax(net.first(x), dim=-1, dtype=torch.float32).to(x))))  # fmt: skip
of_vectors("cast_to_half", lambda: _Narrow(lambda net, x: net.last(net.first(x).bfloat16().tanh().to(x))))
of_vectors("float32_constants", lambda: _Narrow(
    lambda net, x: net.last((net.first(x) * torch.linspace(0, 1, 4, dtype=torch.float32).cos()).tanh())))  # fmt: skip


# Recurrence
def _recurrent(kind: Callable[..., nn.Module], **options: Any) -> Callable[[], nn.Module]:
    wide = 2 * (1 + bool(options.get("bidirectional")))
    return lambda: Net(
        lambda net, x: net.last(net.cells(x)[0][:, -1]),
        cells=kind(3, 2, batch_first=True, **options), last=nn.Linear(wide, 2),
    )  # fmt: skip


def _stepped(net: Net, rows: Tensor) -> Tensor:
    state: Any = None
    for t in range(rows.shape[1]):
        state = net.cell(rows[:, t], state)
    return net.last(state[0] if isinstance(state, tuple) else state)  # type: ignore[no-any-return]


def _packed(net: Net, rows: Tensor) -> Tensor:
    lengths = torch.full((len(rows),), 4)
    packed = nn.utils.rnn.pack_padded_sequence(rows, lengths, batch_first=True, enforce_sorted=False)
    return net.last(net.cells(packed)[1][-1])  # type: ignore[no-any-return]


for kind in (nn.LSTM, nn.GRU, nn.RNN):
    of_signals(kind.__name__.lower(), _recurrent(kind))
of_signals("lstm_in_both_directions", _recurrent(nn.LSTM, bidirectional=True, num_layers=2))
of_signals("lstm_cell", lambda: Net(_stepped, cell=nn.LSTMCell(3, 2), last=nn.Linear(2, 2)))
of_signals("gru_cell", lambda: Net(_stepped, cell=nn.GRUCell(3, 2), last=nn.Linear(2, 2)))
of_signals("packed_gru", lambda: Net(_packed, cells=nn.GRU(3, 2, batch_first=True), last=nn.Linear(2, 2)))


# Attention
def _attention(**options: Any) -> Callable[[], nn.Module]:
    return lambda: Net(
        lambda net, x: net.last(net.mha(net.first(x), net.first(x), net.first(x), **options)[0].mean(1)),
        first=nn.Linear(3, 4), mha=nn.MultiheadAttention(4, 2, batch_first=True), last=nn.Linear(4, 2),
    )  # fmt: skip


def _encoder(layers: int, evaluated: bool, **options: Any) -> Callable[[], nn.Module]:
    def module() -> nn.Module:
        layer = nn.TransformerEncoderLayer(4, 2, 4, dropout=0.0, batch_first=True, **options)
        stack = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False) if layers else layer
        net = Net(lambda net, x: net.last(net.stack(net.first(x)).mean(1)),
                  first=nn.Linear(3, 4), stack=stack, last=nn.Linear(4, 2))  # fmt: skip
        return net.eval() if evaluated else net

    return module


def _decoder() -> nn.Module:
    def forward(net: Net, x: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)
        h = net.first(x)
        return net.last(net.layer(h, h, tgt_mask=mask, tgt_is_causal=True).mean(1))  # type: ignore[no-any-return]

    layer = nn.TransformerDecoderLayer(4, 2, 4, dropout=0.0, batch_first=True)
    return Net(forward, first=nn.Linear(3, 4), layer=layer, last=nn.Linear(4, 2)).eval()


of_signals("attention", _attention(need_weights=False))
of_signals("attention_with_weights", _attention())
of_signals("encoder_layer", _encoder(0, True))
of_signals("encoder_layer_in_training", _encoder(0, False))
of_signals("encoder", _encoder(2, True, activation="gelu", norm_first=True))
of_signals("decoder_layer", _decoder)
of_signals("scaled_dot_product", lambda: Net(
    lambda net, x: net.last(functional.scaled_dot_product_attention(
        net.first(x)[:, None], x[:, None], x[:, None].tanh(), is_causal=True).mean((1, 2))),
    first=nn.Linear(3, 3), last=nn.Linear(3, 2)))  # fmt: skip

# Tables, spectra, routes
of_tokens("embedding", lambda: Net(lambda net, x: net.last(net.table(x).tanh().mean(1)),
                                   table=nn.Embedding(7, 3, padding_idx=0), last=nn.Linear(3, 2)))  # fmt: skip
of_tokens("embedding_bag", lambda: Net(lambda net, x: net.last(net.table(x).tanh()),
                                       table=nn.EmbeddingBag(7, 3), last=nn.Linear(3, 2)))  # fmt: skip
of_tokens("tied", lambda: Net(lambda net, x: (net.table(x).tanh().mean(1) @ net.table.weight.T)[:, :2],
                              table=nn.Embedding(7, 3)))  # fmt: skip
of_vectors("spectrum", between(lambda h: torch.fft.irfft(torch.fft.rfft(h) * 2.0j, n=4).tanh()))
of_vectors("complex_view", between(lambda net, h: torch.view_as_real(
    torch.view_as_complex(h.reshape(-1, 2, 2)) * torch.view_as_complex(net.w)).flatten(1).tanh(),
    w=lambda: nn.Parameter(torch.randn(2, 2))))  # fmt: skip


def _routed(net: Net, rows: Tensor) -> Tensor:
    scores = net.gate(rows).softmax(dim=-1)
    best = scores.argmax(dim=-1)
    out = rows.new_zeros(len(rows), 2)
    for k in range(2):
        chosen = best == k
        if bool(chosen.any()):
            out[chosen] = scores[chosen, k, None] * net.get_submodule(f"expert{k}")(rows[chosen])
    return out


def _experts() -> dict[str, nn.Module]:
    parts = {f"expert{k}": chain(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 2)) for k in range(2)}
    return {"gate": nn.Linear(3, 2)} | parts


def _mixed(net: Net, rows: Tensor) -> Tensor:
    each = torch.stack([net.expert0(rows), net.expert1(rows)], dim=1)
    return (net.gate(rows).softmax(dim=-1)[..., None] * each).sum(1)  # type: ignore[no-any-return]


of_vectors("experts", lambda: Net(_routed, **_experts()))
of_vectors("soft_experts", lambda: Net(_mixed, **_experts()))
of_vectors("branches", between(lambda h: h.tanh() if float(h.detach().sum()) > 0 else h.sigmoid()))
of_vectors("branches_by_numpy", between(
    lambda h: h.tanh() if float(np.sum(h.detach().numpy())) > 0 else h.sigmoid()))  # fmt: skip


def _early(net: Net, rows: Tensor) -> Tensor:
    first = net.a(rows).split(1)
    sure = [bool(one.softmax(-1).max() > 0.7) for one in first]
    late = net.b(net.c(rows).tanh()).split(1)
    return torch.cat([a if done else b for a, b, done in zip(first, late, sure, strict=True)])


of_vectors("early_exit", lambda: Net(_early, a=nn.Linear(3, 2), c=nn.Linear(3, 3), b=nn.Linear(3, 2)))

# What wraps a network
for reentrant in (False, True):
    of_vectors(f"checkpointed{'_reentrant' * reentrant}", lambda again=reentrant: Net(  # type: ignore[misc]
        lambda net, x: net.last(checkpoint(lambda h: net.mid(h).tanh(), net.first(x), use_reentrant=again)),
        first=nn.Linear(3, 3), mid=nn.Linear(3, 3), last=nn.Linear(3, 2)))  # fmt: skip


class _Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> Tensor:  # type: ignore[override]
        (x,) = ctx.saved_tensors
        return 3 * x**2 * slope


class _NumpySine(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return torch.from_numpy(np.sin(x.detach().numpy()))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, slope: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return torch.from_numpy(np.cos(x.detach().numpy())) * slope


class _Straight(torch.autograd.Function):
    """A rounded value whose gradient passes straight through."""

    @staticmethod
    def forward(_ctx: Any, x: Tensor) -> Tensor:
        return (x * 4).round() / 4

    @staticmethod
    def backward(_ctx: Any, slope: Tensor) -> Tensor:  # type: ignore[override]
        return slope


of_vectors("own_function", between(lambda h: _Cube.apply(h)))
of_vectors("own_function_of_numpy", between(lambda h: _NumpySine.apply(h)))
of_vectors("straight_through", between(lambda h: _Straight.apply(h.tanh())))


def _scripted() -> nn.Module:
    return torch.jit.script(chain(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))  # type: ignore[no-any-return, no-untyped-call]


of_vectors("scripted", _scripted)
of_vectors("compiled", lambda: torch.compile(chain(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), backend="eager"),
           nightly=True)  # fmt: skip
of_vectors("data_parallel", lambda: nn.DataParallel(chain(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))))


def _hooked() -> nn.Module:
    net = chain(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    net[1].register_full_backward_hook(lambda _m, slopes, _out: (slopes[0] * 0.5,))
    return net


def _energy(net: Net, rows: Tensor) -> Tensor:
    with torch.enable_grad():
        moving = rows.detach().requires_grad_()
        (slope,) = torch.autograd.grad(net.first(moving).tanh().sum(), moving, create_graph=True)
    return net.last(slope)  # type: ignore[no-any-return]


of_vectors("backward_hook", _hooked)
of_vectors("gradient_inside", lambda: Net(_energy, first=nn.Linear(3, 4), last=nn.Linear(3, 2)))

# Losses and outputs
REAL = normal(5, 2, seed=3)
of_vectors("huber_loss", lambda: chain(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 2)), functional.huber_loss,
           targets=REAL)  # fmt: skip
of_vectors("smooth_l1_loss", lambda: nn.Linear(3, 2), functional.smooth_l1_loss, targets=REAL)
of_vectors("mse_loss", lambda: chain(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 2)), functional.mse_loss,
           targets=REAL)  # fmt: skip
of_vectors("cosine_embedding_loss", lambda: chain(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 2)),
           lambda out, y: functional.cosine_embedding_loss(out, y, torch.ones(len(out))), targets=REAL)  # fmt: skip
of_vectors("soft_margin_loss", lambda: nn.Linear(3, 2),
           lambda out, y: functional.soft_margin_loss(out, y.sign()), targets=REAL)  # fmt: skip
of_vectors("kl_loss", lambda: nn.Linear(3, 2),
           lambda out, y: functional.kl_div(out.log_softmax(-1), y.softmax(-1), reduction="batchmean"),
           targets=REAL)  # fmt: skip
of_signals("ctc_loss", lambda: Net(lambda net, x: net.last(x), last=nn.Linear(3, 3)),
           lambda out, y: functional.ctc_loss(
               out.log_softmax(-1).transpose(0, 1), y, torch.full((len(out),), 5), torch.full((len(out),), 2)),
           targets=1 + whole(2, 4, 2))  # fmt: skip
of_vectors("dictionary", lambda: Net(lambda net, x: {"logits": net.l(x)}, l=nn.Linear(3, 2)),
           lambda out, y: cross_entropy(out["logits"], y))  # fmt: skip
of_vectors("pair_of_outputs", lambda: Net(lambda net, x: (net.l(x), x), l=nn.Linear(3, 2)),
           lambda out, y: cross_entropy(out[0], y))  # fmt: skip
of_vectors("complex_parameters", lambda: Net(lambda net, x: (x.to(net.w) @ net.w).abs(),
                                             w=nn.Parameter(torch.randn(3, 2, dtype=torch.complex64))))  # fmt: skip
of_vectors("tiny_loss", lambda: chain(nn.Linear(3, 4), nn.PReLU(), nn.Linear(4, 2)),
           lambda out, y: 1e-9 * cross_entropy(out, y))  # fmt: skip


# Networks of Transformers
def _transformers(kind: str, config: str, **options: Any) -> Callable[[], nn.Module]:
    def module() -> nn.Module:
        if find_spec("torchvision") is not None:
            import_torchvision(
                "models"
            )  # Transformers imports torchvision, which may be built for another torch
        import transformers

        made = getattr(transformers, kind)(getattr(transformers, config)(**options)).eval()
        return Net(lambda net, x: net.made(x).logits, made=made)

    return module


SMALL = {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 4}
of_tokens("bert", _transformers("BertForSequenceClassification", "BertConfig", vocab_size=7,
                                max_position_embeddings=8, **SMALL), nightly=True)  # fmt: skip
of_tokens("distilbert", _transformers("DistilBertForSequenceClassification", "DistilBertConfig", vocab_size=7,
                                      max_position_embeddings=8, dim=4, n_layers=1, n_heads=2, hidden_dim=4),
          nightly=True)  # fmt: skip
of_tokens("gpt2", _transformers("GPT2ForSequenceClassification", "GPT2Config", vocab_size=7, n_positions=8,
                                n_embd=4, n_layer=1, n_head=2, pad_token_id=0), nightly=True)  # fmt: skip
of_tokens("llama", _transformers("LlamaForSequenceClassification", "LlamaConfig", vocab_size=7, pad_token_id=0,
                                 max_position_embeddings=8, **SMALL), nightly=True)  # fmt: skip
of_tokens("mamba", lambda: _transformers("MambaForCausalLM", "MambaConfig", vocab_size=7, hidden_size=4,
                                         state_size=2, num_hidden_layers=1)(),
          lambda out, y: cross_entropy(out[:, -1], y), nightly=True)  # fmt: skip
of_images("vit", _transformers("ViTForImageClassification", "ViTConfig", image_size=6, patch_size=3,
                               num_channels=1, **SMALL), nightly=True)  # fmt: skip
