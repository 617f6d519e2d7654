"""Ascent of the ratio |G(x) - G(y)| / |x - y|^lambda over many pairs side by side, in the ball of the domain.

With m = (x + y) / 2 and d = x - y, steps along the slope of the log ratio in d and in m take turns; the step in d is
|d|^2 times the slope, for a quadratic loss and lambda = 1 power iteration with H^2. Where the inputs are free within a
set there are steps in the input, too, projected onto the set. A step that lowers the ratio is taken back and the next
one of its kind is half as long, else 1.5 times. So no ratio ever gets smaller.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import torch
from torch import Tensor
from torch.func import grad, jvp, vjp, vmap

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.curvature_climb import FIRST_MOVE, next_step
from lastiterate.runtime.constants.fit import TRUSTED_ERROR
from lastiterate.runtime.constants.gradient_difference import Changes
from lastiterate.runtime.constants.input_sets import InputSet
from lastiterate.runtime.constants.pairs import FLOOR_ULPS
from lastiterate.runtime.constants.starts import Samples, labels_of, most_promising
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import clip_factor, difference, norm
from lastiterate.runtime.replay import Replayed
from lastiterate.runtime.training.descent import project

_COPIES: Final = 52
"""Twice the tensors of the shape of the points that live together in an ascent, so that they take half the budget."""

_WEIGHT: Final = 4
_TRIED: Final = 4
"""Memory of a slope in the input, in gradients; number of the best pairs that are tried with every sample."""

State = dict[str, Tensor]
"""Pairs, one row each: points x and y, inputs, targets and samples, the ratio with its parts, slopes, step lengths."""


class PairAscent(NamedTuple):
    """Settings that the pairs of an ascent have in common.

    Attributes:
        gradients: per-sample gradients of the workload.
        lam: the order.
        center: shape (dimension,), of the domain.
        diameter: of the domain, a length.
        clip_norm: of the gradients that are compared; inf for unclipped ones.
        free: set of the inputs that are searched, with every label of the data; None for the samples themselves.
    """

    gradients: Gradients
    lam: float
    center: Tensor
    diameter: float
    clip_norm: float
    free: InputSet | None = None

    def begun(self, x: Tensor, y: Tensor, chosen: Samples | None) -> State:
        """Pairs at the start, with the samples of each; None for the mean over all of them.

        Raises:
            InputError: a gradient is not finite.
        """
        state = {"x": x, "y": y}
        if chosen is not None:
            state |= {name: part.clone() for name, part in chosen._asdict().items()}
        step = self.center.new_ones(len(x))
        state |= {"stretch": step, "shift": FIRST_MOVE * self.diameter / 2 * step, "push": FIRST_MOVE * step}
        for part in self._chunks(len(x)):
            for name, values in self._at(_rows(state, part)).items():
                if name not in state:
                    state[name] = values.new_empty(len(x), *values.shape[1:])
                state[name][part] = values
        if not bool(torch.isfinite(state["moved"]).all()):
            raise InputError(
                f"The search needs finite gradients in the ball, got nan or inf with diameter={self.diameter:g}."
            )
        return state

    def climbed(self, state: State, iterations: int) -> State:
        """Climb so many steps of each kind but one, of two kinds a step in all; the pairs are overwritten."""
        for part in self._chunks(len(state["x"])):
            for name, values in self._climbed(_rows(state, part), iterations).items():
                state[name][part] = values
        return state

    def with_worst_samples(self, state: State) -> State:
        """The best pairs with the sample, or the label, whose gradient changes most there; no ratio gets smaller."""
        if "inputs" not in state:
            return state
        inputs, targets = self.gradients.rows()
        labels = labels_of(self.gradients, self.free)
        for pair in state["ratio"].topk(min(_TRIED, len(state["ratio"]))).indices.cpu().tolist():
            own = _rows(state, slice(pair, pair + 1))
            best = int(self._certain(own, self.gradients).argmax())
            rows = inputs[best : best + 1]
            tries = [(rows if self.free is None else self.free.projected(rows), targets[best : best + 1], best)]
            if len(labels):
                same = own["inputs"].expand(len(labels), *own["inputs"].shape[1:])
                label = int(self._certain(own, self.gradients.on(same, labels)).argmax())
                tries.append((own["inputs"], labels[label : label + 1], -1))
            for row, target, index in tries:
                number = torch.tensor([index]).to(own["samples"])
                new = self._at(own | {"inputs": row, "targets": target, "samples": number})
                if bool(new["ratio"] > own["ratio"]):
                    own = new
            for name, value in own.items():
                state[name][pair] = value[0]
        return state

    def _certain(self, own: State, gradients: Gradients) -> Tensor:
        """Change of every sample's gradient over one pair, less its rounding error, shape (samples,)."""
        certain = []
        for chunk in gradients.sample_chunks(weight=2):  # the points that climb take half of the budget
            here, there = (gradients.at(own[name], chunk) for name in "xy")
            lengths = torch.cat([norm(here), norm(there)])
            factor = clip_factor(lengths, self.clip_norm)
            moved = norm(difference(here, there, (factor[:1], factor[1:])))[0]
            certain.append(self._less_rounding(moved, lengths.sum(dim=0)))
        return torch.cat(certain)

    def _chunks(self, pairs: int) -> list[slice]:
        return list(self.gradients.vector_chunks(pairs, copies=_COPIES))

    def _climbed(self, state: State, iterations: int) -> State:
        moves: list[Callable[[State], State]] = [self._apart, self._middle]
        if self.free is not None and "inputs" in state:
            moves.append(self._input)
        if self.gradients.little(_WEIGHT * len(state["x"]) * (1 if "inputs" in state else self.gradients.samples)):
            moves = [Replayed(move) for move in moves]
        for step in range(iterations * len(moves) // 2):
            state = moves[step % len(moves)](state)
        return state

    def _apart(self, state: State) -> State:
        stretch = (state["stretch"] * state["distance"] ** 2)[:, None]
        middle, apart = (state["x"] + state["y"]) / 2, state["x"] - state["y"]
        apart = apart + stretch * (state["slope_x"] - state["slope_y"])
        return self._better(state, "stretch", self._inside(middle, apart))

    def _middle(self, state: State) -> State:
        ahead = _unit(state["slope_x"] + state["slope_y"])
        middle = (state["x"] + state["y"]) / 2 + state["shift"][:, None] * ahead
        return self._better(state, "shift", self._inside(middle, state["x"] - state["y"]), self.diameter / 2)

    def _input(self, state: State) -> State:
        assert self.free is not None  # noqa: S101
        inputs = state["inputs"]
        length = state["push"] * self.free.around(inputs[0].numel())[1]
        ahead = _unit(state["slope_input"].flatten(start_dim=1)) * length[:, None]
        return self._better(state, "push", {"inputs": self.free.projected(inputs + ahead.reshape(inputs.shape))}, 2.0)

    def _inside(self, middle: Tensor, apart: Tensor) -> State:
        x, y = (project(middle + sign * apart / 2, self.center, self.diameter) for sign in (1, -1))
        return {"x": x, "y": y}

    def _better(self, state: State, step: str, changed: State, most: float = float("inf")) -> State:
        """The pairs as changed where that is better, with the next length of this kind of step."""
        new = self._at(state | changed)
        better = new["ratio"] > state["ratio"]
        kept = {
            name: torch.where(better.reshape(-1, *[1] * (old.ndim - 1)), new[name], old) for name, old in state.items()
        }
        kept[step] = next_step(state[step], better).clamp(max=most)
        return kept

    def _at(self, state: State) -> State:
        """The pairs with their ratios and slopes."""
        gradients, chosen, inputs = self.gradients, None, state.get("inputs")
        x, y = (gradients.representable(state[name]) for name in "xy")
        if inputs is not None:
            gradients, chosen = gradients.on(inputs, state["targets"]), torch.arange(len(x), device=x.device)
        changes = Changes(gradients, chosen, self.clip_norm)
        change, scale = changes.between(x, y)
        moved, distance = (torch.linalg.vector_norm(part, dim=1) for part in (change, x - y))
        ratio = (self._less_rounding(moved, scale) / distance**self.lam).nan_to_num(0.0, 0.0, 0.0)
        along = (change / moved[:, None] ** 2).nan_to_num(0.0, 0.0, 0.0)
        apart = (self.lam * (x - y) / distance[:, None] ** 2).nan_to_num(0.0, 0.0, 0.0)
        slopes = {"slope_x": changes.pulled(x, along) - apart, "slope_y": apart - changes.pulled(y, along)}
        if self.free is not None and inputs is not None:
            over_inputs = vmap(grad(self._along, argnums=0))
            parts = [
                over_inputs(inputs[part], state["targets"][part], x[part], y[part], along[part])
                for part in gradients.pair_chunks(len(x), weight=_WEIGHT)
            ]
            slopes["slope_input"] = torch.cat(parts)
        found = {name: slope.nan_to_num(0.0, 0.0, 0.0) for name, slope in slopes.items()}
        return (
            state
            | found
            | {"x": x, "y": y, "moved": moved, "floor": self._floor(scale), "distance": distance, "ratio": ratio}
        )

    def _floor(self, scale: Tensor) -> Tensor:
        """Rounding error assumed of the difference of two gradients whose lengths sum to ``scale``."""
        return FLOOR_ULPS * torch.finfo(self.gradients.computed).eps * scale

    def _less_rounding(self, moved: Tensor, scale: Tensor) -> Tensor:
        """Change of a gradient less its rounding error; 0 where that may dominate it, or be all in bfloat16."""
        floor = self._floor(scale)
        most = 1.0 if self.gradients.computed is torch.bfloat16 else TRUSTED_ERROR
        return (moved - floor).masked_fill(~(floor <= most * moved), 0.0)

    def _along(self, row: Tensor, target: Tensor, x: Tensor, y: Tensor, along: Tensor) -> Tensor:
        """The change of one sample's gradient along a vector, to be differentiated in the input: forward, then back."""

        def at(point: Tensor) -> Tensor:
            vector = along
            if self.clip_norm < float("inf"):
                gradient = self.gradients.of_one(point, row.detach(), target)
                clipped = vjp(lambda g: g * clip_factor(torch.linalg.vector_norm(g), self.clip_norm), gradient)
                vector = clipped[1](along)[0].detach()
            pushed: Tensor = jvp(lambda w: self.gradients.losses(w[None], row, target)[0], (point,), (vector,))[1]
            return pushed

        return at(x) - at(y)


def best_rows(state: State, count: int) -> State:
    """The pairs with the largest ratios."""
    return _taken(state, state["ratio"].topk(min(count, len(state["ratio"]))).indices)


def promising_rows(state: State, count: int) -> State:
    """Half of them the pairs with the largest ratios, half the largest of as many samples as there are."""
    return (
        _taken(state, most_promising(state["ratio"], state["samples"], count))
        if "samples" in state
        else best_rows(state, count)
    )


def _taken(state: State, rows: Tensor) -> State:
    return {name: values[rows] for name, values in state.items()}


def joined_with(state: State, other: State) -> State:
    """Both lots of pairs."""
    return {name: torch.cat([state[name], other[name]]) for name in state}


def _rows(state: State, part: slice) -> State:
    return {name: values[part] for name, values in state.items()}


def _unit(vectors: Tensor) -> Tensor:
    found: Tensor = vectors / torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
    return found.nan_to_num(0.0, 0.0, 0.0)
