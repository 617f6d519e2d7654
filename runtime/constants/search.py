"""Adversarial search for the pair of points between which a per-sample gradient changes most.

The ratio |G(x) - G(y)| / |x - y|^lambda is raised for many pairs in parallel within the ball of the domain.
With m = (x + y) / 2 and d = x - y, steps in d and in m alternate, each along the slope of the log ratio. The
step in d is |d|^2 times the slope, which for lambda = 1 and a quadratic loss with Hessian H is power
iteration with H^2. If inputs are free within a set, there are also steps in the input, projected onto the
set. A step that lowers the ratio is undone, and the next step of its kind is half as long; after any other
step it is 1.5 times as long.

Pairs start in the ball and around the iterates, and at short and long distances along the directions of largest
curvature. To find these directions, many points are screened with one sample each by a few power iterations.
From the best points w and directions v, |v' H(w) v| is raised in the same way, by third derivatives in w and
power iteration in v, with further starts until two ascents agree. The pairs of all orders ascend together. All
pairs take a few steps, and the most promising of each order take more, up to one in sixteen; in between, the
best pairs are tried with every sample. An ascent ends when its best quarter no longer gains. The steps are
computed from graphs of their operators (`lastiterate.runtime.operators`). The result is the ratio of an
existing pair less the assumed rounding error, so it is a lower estimate of the constant on the domain. It comes
within 2% of the constants of quadratics, powers and logistic losses, and on small networks it reaches 95% of
what ten times the effort finds (tests/runtime/constants/test_acceptance.py and test_search_peer.py).

Source: ours; Pearlmutter 1994 for products with the Hessian.
"""

from collections.abc import Callable
from functools import partial
from math import ceil, inf
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.func import grad, grad_and_value, vjp, vmap

from lastiterate.numeric.errors import InputError, count, positive
from lastiterate.numeric.store import Arrays
from lastiterate.runtime.clock import UNLIMITED, Clock
from lastiterate.runtime.constants.pairs import ball_points
from lastiterate.runtime.constants.record import TRUSTED_ERROR
from lastiterate.runtime.constants.sampling import Draw, InputSet
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import clip_factor, difference, norm
from lastiterate.runtime.random_streams import Stream, stream
from lastiterate.runtime.replay import Replayed
from lastiterate.runtime.training.descent import project_onto_ball

_SEARCH: Final = 2**42
_FREE: Final = 2**48
"""Purposes of the streams that draw the starts of a search and the free inputs."""

_SCREENED: Final = 2**46
_FREE_SCREENED: Final = 2**47
"""Purposes of the streams that draw the screened points and their free inputs."""

_LEVELS: Final = ((1 / 3, 2), (1 / 3, 2), (2 / 3, 4), (1.0, 1))
_KEPT: Final = 2**18
"""Ascents: share of the iterations, and of how many pairs one is kept afterwards; largest number of entries in
all points kept, unless a single point has more."""

_SCREENING: Final = 3
_TURNS: Final = 8
"""Number of power iterations for each screened point, and before an ascent of the curvature."""

_FEWEST: Final = 2
"""Smallest number of starts if time is short."""

_CLOSE: Final = 1e-4
APART: Final = (1.0, 100.0, 1000.0)
"""Distance within a pair from `Search.curved`, in diameters; factors that give its starting distances."""

_AGREED: Final = 0.99
_ROUNDS: Final = 6
"""Share of the largest curvature that a second ascent must reach; largest number of ascents."""

_FIRST_MOVE: Final = 0.3
_LONGER: Final = 1.5
_SHORTER: Final = 0.5
"""First step of a midpoint, as a share of the radius; step factors after an improvement and otherwise."""

_WATCHED: Final = 10
_GAIN: Final = 1e-4
"""An ascent ends when none of the best quarter of the pairs gained this share in so many steps."""

_COPIES: Final = 52
"""Twice the number of point-sized tensors alive in an ascent, so that they take half of the memory budget."""

_PRODUCT: Final = 2
_WEIGHT: Final = 4
_THIRD: Final = 6
_TRIED: Final = 4
"""Memory of a Hessian product, of a repeated or an input slope, and of a third derivative, in gradients; number of
pairs tried with every sample."""

ROW: Final = ("inputs", "targets", "samples")
State = dict[str, Tensor]
"""Pairs, one per row: points x and y, inputs, targets, samples, ratios and their parts, slopes, step lengths."""


class Changes:
    """Changes of gradients, clipped to ``clip_norm`` (inf: unclipped), over many pairs of points at once.

    Every pair has its own row of the data; inputs and targets have shape (pairs, ...). The Jacobian J of a
    clipped gradient is the Hessian H if the gradient g is no longer than the clip norm K, and (K / |g|) (1 - g
    g' / |g|^2) H otherwise; both factors are symmetric.
    """

    def __init__(self, gradients: Gradients, inputs: Tensor, targets: Tensor, clip_norm: float = inf) -> None:
        self._rows, self._clip_norm, self._gradients = (inputs, targets), clip_norm, gradients
        self.rounding = gradients.rounding

    def between(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Change G(x) - G(y), shape (pairs, dimension), and |g(x)| + |g(y)| before clipping, (pairs,)."""
        of_pair = self._gradients.captured(_of_pair, self._clip_norm, weight=2 * _WEIGHT)
        change, scale, *_ = of_pair(x, y, *self._rows)
        return change, scale

    def pulled(self, at: Tensor, vectors: Tensor) -> Tensor:
        """Products J(at)' vectors for every pair, shape (pairs, dimension)."""
        of_row = self._gradients.captured(_pulled, self._clip_norm, weight=_WEIGHT)
        product: Tensor = of_row(at, vectors, *self._rows)
        return product


def _pulled(
    gradients: Gradients, clip_norm: float, at: Tensor, vector: Tensor, row: Tensor, target: Tensor
) -> Tensor:
    if clip_norm < inf:
        gradient = gradients.of_one(at, row, target)
        length = torch.linalg.vector_norm(gradient)
        along = gradient / length
        across = (vector - along * (along * vector).sum()) * (clip_norm / length)
        vector = torch.where(length <= clip_norm, vector, across)
    return gradients.curved(at, vector, row, target)


def _of_pair(
    gradients: Gradients, clip_norm: float, x: Tensor, y: Tensor, row: Tensor, target: Tensor
) -> tuple[Tensor, ...]:
    """Results of `Changes.between` for one pair, the change over its squared length, and its `Changes.pulled`."""
    ends = torch.stack([x, y])
    found = gradients.at_both(gradients.of_one, ends, row, target)
    lengths = torch.linalg.vector_norm(found, dim=1)
    clipped = found * clip_factor(lengths, clip_norm)[:, None]
    change = clipped[0] - clipped[1]
    along = (change / change.square().sum()).nan_to_num(0.0, 0.0, 0.0)
    pulled = gradients.at_both(partial(_pulled, gradients, clip_norm), ends, along, row, target)
    return change, lengths.sum(), along, pulled[0], pulled[1]


def _of_bend(
    gradients: Gradients, use: str, point: Tensor, vector: Tensor, row: Tensor, target: Tensor
) -> tuple[Any, ...]:
    """Curvature along a vector, the next vector of a power iteration, and slopes in the point and a free input."""
    way, given = gradients.engine.way(use), (point, vector, row, target)
    slopes, value = grad_and_value(way.bend, argnums=(0, 2) if use == "inputs" else (0,))(*given)
    return value, unit_vectors(way.product(*given)[None], vector)[0], *slopes


class Search(NamedTuple):
    """Settings of a search.

    Attributes:
        center: center of the domain, shape (dimension,).
        diameter: diameter of the domain, a length.
        lams: the orders, each in (0, 1]; the pairs of all orders ascend together.
        clip_norm: clip norm of the compared gradients; inf without clipping.
        around: points such as iterates, shape (points, dimension); every second start is near such a point.
        free: set of inputs searched, with every label of the data; None for the samples themselves.
        part: index of the stream from ``seed`` that draws the starts.
        time: clock; there are fewer starts if they take too long, and the steps end when the time is over.
    """

    gradients: Gradients
    center: Tensor
    diameter: float
    lams: tuple[float, ...] = (1.0,)
    clip_norm: float = inf
    around: Tensor | None = None
    free: InputSet | None = None
    seed: int = 0
    part: int = 0
    time: Clock = UNLIMITED

    @torch.no_grad()
    def climb(self, starts: int = 256, iterations: int = 60, also: Arrays | None = None) -> Arrays:
        """Raise the ratios of drawn pairs, and of the pairs ``also`` from `curved`, in three ascents.

        Returns:
            Best pairs, one per row: ``changes`` |G(x) - G(y)| and their assumed rounding errors ``floors``,
            gradients; ``distances``, lengths; ``samples``, indices, -1 if inputs are free; ``x``, ``y``,
            ``inputs`` and ``targets``. ``started`` is the ratio of the best drawn pair at the start, by order.

        Raises:
            InputError: the diameter or a gradient is not finite.
        """
        starts, iterations = count("starts", starts), count("iterations", iterations)
        each = len(self.lams) * (6 + 3 * iterations)
        starts = self.time.fitting(starts, _FEWEST, lambda: each * self.gradients.pace)
        generator = self._stream(_SEARCH)
        samples = generator.integers(self.gradients.samples, starts, self.center.device)
        first, offsets = self._starts(starts, generator)
        rows = self._rows(samples, self._stream(_FREE))
        state = self.pairs(first, project_onto_ball(first + offsets, self.center, self.diameter), rows)
        started = torch.stack([_ratio(state, lam).amax() for lam in self.lams])
        if also is not None and len(also["x"]):
            state = _joined([state, *self._again({name: values[:starts] for name, values in also.items()})])
        state = self._of_every_order(state)
        for share, of in _LEVELS:
            state = self._climbed(state, ceil(share * iterations))
            if of > 1:
                state = self._promising(self._with_worst_samples(state), -(-len(state["ratio"]) // of))
        best = self._promising(self._of_every_order(state), max(1, _KEPT // self.gradients.dimension))
        turns = torch.arange(len(best["x"]), device=best["x"].device).reshape(len(self.lams), -1)
        best = _taken(best, turns.T.flatten())  # the best of every order first
        if self.free is not None:
            best["samples"] = torch.full_like(best["ratio"], -1)
        return _ends(best, started) | {"short": np.array([self.time.short])}

    @torch.no_grad()
    def curved(
        self, screened: int = 2000, starts: int = 48, iterations: int = 40, rounds: int = _ROUNDS
    ) -> Arrays:
        """Find close pairs along the directions of largest curvature.

        ``screened`` points are tested with one sample each. The best ``starts`` points ascend by
        ``iterations`` steps, and the best quarter of these by twice as many more. The search is repeated, at
        most ``rounds`` times, until two ascents agree.

        Returns:
            The most promising pairs, at most ``starts``: ``x``, ``y``, ``inputs``, ``targets``, ``samples``,
            and |v' H v| as ``ratio``, in gradient / length.
        """
        screened, starts = count("screened", screened), count("starts", starts)
        screened = self.time.fitting(screened, 4 * _FEWEST, lambda: 3 * (_SCREENING + 1) * self.gradients.pace)
        found: list[State] = []
        reached = [0.0]
        for again in range(count("rounds", rounds)):
            bend = _Bend(*self._replace(part=_ROUNDS * self.part + again))
            found.append(bend.one_ascent(screened, starts, iterations))
            reached.append(float(found[-1]["ratio"].max()))
            *_, second, most = sorted(reached)
            if self.time.late() or (again and second >= _AGREED * most):
                break
        best = _Bend(*self)._promising(_joined(found), starts)
        best = _taken(best, best["ratio"] > 0)
        middle, away = best["x"], _CLOSE * self.diameter / 2 * best["vectors"]
        middle = project_onto_ball(middle, self.center, self.diameter * (1 - _CLOSE))
        best |= {"x": middle + away, "y": middle - away}
        best["short"] = torch.tensor([self.time.short])
        return {name: best[name].cpu().numpy() for name in ("x", "y", "ratio", "short", *ROW)}

    def _of_every_order(self, state: State) -> State:
        """The same pairs once for each order, with its ratios, for which they ascend."""
        ratios = {lam: _ratio(state, lam) for lam in self.lams}
        return _joined([state | {"lam": torch.full_like(r, lam), "ratio": r} for lam, r in ratios.items()])

    def _promising(self, state: State, number: int) -> State:
        """The most promising pairs of every order, ``number`` in all.

        Pairs of other orders are left out, since most have ascended from the same start to nearly the same pair.
        """
        each, kept = -(-number // len(self.lams)), []
        for lam in self.lams:
            own = _taken(state, state["lam"] == lam)
            kept.append(_taken(own, most_promising(own["ratio"], own["samples"], each)))
        return _joined(kept)

    def _best(self, state: State, number: int) -> Tensor:
        """Indices of ``number`` of the best pairs of every order, or of other pairs where there are fewer."""
        each = (state["ratio"].masked_fill(state["lam"] != lam, -1.0) for lam in self.lams)
        return torch.cat([ratio.topk(min(number, len(ratio))).indices for ratio in each])

    def pairs(self, x: Tensor, y: Tensor, rows: State) -> State:
        """Initial pairs, each with its row of the data; an `InputError` if a gradient is not finite."""
        state = self._begun({"x": x, "y": y}, rows)
        if not bool(torch.isfinite(state["moved"]).all()):
            raise InputError(
                f"The search needs finite gradients in the ball, got nan or inf with diameter={self.diameter:g}; "
                "search a smaller ball."
            )
        return state

    def _begun(self, points: State, rows: State) -> State:
        state = points | {name: part.clone() for name, part in rows.items()}
        step = self.center.new_ones(len(points["x"]))
        state |= {"stretch": step, "shift": _FIRST_MOVE * self.diameter / 2 * step, "push": _FIRST_MOVE * step}
        state |= {"lam": self.lams[0] * step}
        return _joined([self._at(_taken(state, part)) for part in self._chunks(len(step))])

    def _stream(self, purpose: int) -> Stream:
        positive("diameter", self.diameter)
        return stream(self.seed, purpose=purpose + self.part)

    def _starts(self, number: int, generator: Stream) -> tuple[Tensor, Tensor]:
        """Points in the ball, every second one near a point of ``around`` if given, and offsets."""
        at = self.center.repeat(number, 1)
        if self.around is not None:
            near = self.around[generator.integers(len(self.around), number // 2, self.around.device)]
            at[1::2] = near.to(self.center)
        offsets = ball_points(2 * number, self.diameter / 2, Draw.LOG_UNIFORM, generator, self.center)
        return project_onto_ball(at + offsets[::2], self.center, self.diameter), offsets[1::2]

    def _rows(self, samples: Tensor, generator: Stream) -> State:
        """Rows of the samples; free inputs are projected onto the set or, every second one, drawn from it."""
        inputs, targets = (part[samples] for part in self.gradients.rows())
        if self.free is not None:
            drawn = torch.arange(len(inputs), device=inputs.device) % 2 == 1
            inputs = _either(drawn, self.free.drawn(inputs, generator), self.free.projected(inputs))
        return {"inputs": inputs, "targets": targets, "samples": samples}

    def _again(self, ends: Arrays) -> list[State]:
        """Pairs from `curved`, at their own distance and at larger distances."""
        x, y, *values = (torch.from_numpy(ends[name]).to(self.center.device) for name in ("x", "y", *ROW))
        rows, away = dict(zip(ROW, values, strict=True)), x - y
        rows["samples"] = rows["samples"].long()
        ends_at = [self._inside((x + y) / 2, times * away) for times in APART]
        return [self.pairs(at["x"], at["y"], rows) for at in ends_at]

    def _moves(self) -> list[Callable[[State], State]]:
        return [self._apart, self._middle]

    def _climbed(self, state: State, iterations: int) -> State:
        """Take ``iterations`` / 2 steps of each kind in turn; the pairs are overwritten."""
        moves = self._moves() + ([] if self.free is None else [self._input])
        for part in self._chunks(len(state["x"])):
            own, ways = _taken(state, part), moves
            if self.gradients.little(_THIRD * len(own["x"])):
                ways = [Replayed(move) for move in moves]
            before = own["ratio"]
            for step in range(iterations * len(moves) // 2):
                if self.time.late():
                    break
                own = ways[step % len(ways)](own)
                if step % _WATCHED == _WATCHED - 1:
                    if not self._gains(own, before):
                        break
                    before = own["ratio"]
            for name, values in own.items():
                state[name][part] = values
        return state

    def _gains(self, state: State, before: Tensor) -> bool:
        """True if a ratio in the best quarter of an order has grown by more than `_GAIN` of its value before."""
        best = self._best(state, -(-len(before) // (4 * len(self.lams))))
        return bool((state["ratio"] > (1 + _GAIN) * before)[best].any())

    def _with_worst_samples(self, state: State) -> State:
        """Give the best pairs the sample or label whose gradient changes most, if that raises the ratio."""
        if self.time.late():
            return state
        inputs, targets = self.gradients.rows()
        labels = labels_of(self.gradients, self.free)
        tried = self._best(state, _TRIED)
        for part in self._chunks(len(tried)):
            own = _taken(state, tried[part])
            best = self._certain(own, self.gradients).argmax(dim=1).cpu()
            rows = inputs[best] if self.free is None else self.free.projected(inputs[best])
            tries = [(rows, targets[best], best.to(own["samples"]))]
            if len(labels):
                ones = (_taken(own, slice(k, k + 1)) for k in range(len(best)))
                label = torch.cat([self._by_label(one, labels) for one in ones])
                tries.append((own["inputs"], labels[label], own["samples"]))
            for row in tries:
                new = self._at(own | dict(zip(ROW, row, strict=True)))
                better = new["ratio"] > own["ratio"]
                own = {name: _either(better, new[name], old) for name, old in own.items()}
            for name, value in own.items():
                state[name][tried[part]] = value
        return state

    def _by_label(self, own: State, labels: Tensor) -> Tensor:
        """Index of the label with which one pair's gradient changes most, shape (1,)."""
        same = own["inputs"].expand(len(labels), *own["inputs"].shape[1:])
        return self._certain(own, self.gradients.on(same, labels)).argmax(dim=1)

    def _certain(self, own: State, gradients: Gradients) -> Tensor:
        """Changes of every sample's gradient between the points of pairs, less the rounding, (pairs, samples)."""
        found = []
        for part in gradients.point_chunks(len(own["x"]), 2 * gradients.samples):
            certain = []
            for chunk in gradients.sample_chunks(weight=2):  # the ascending points take half of the budget
                here, there = (gradients.at(own[name][part], chunk) for name in "xy")
                lengths = [norm(here), norm(there)]
                factors = [clip_factor(one, self.clip_norm) for one in lengths]
                moved = norm(difference(here, there, (factors[0], factors[1])))
                certain.append(_less_rounding(moved, self.gradients.rounding * (lengths[0] + lengths[1])))
            found.append(torch.cat(certain, dim=1))
        return torch.cat(found)

    def _chunks(self, pairs: int) -> list[slice]:
        return list(self.gradients.vector_chunks(pairs, copies=_COPIES))

    def _apart(self, state: State) -> State:
        stretch, lam, distance = (state[name][:, None] for name in ("stretch", "lam", "distance"))
        away = (1 - 2 * lam * stretch) * (state["x"] - state["y"])
        away += stretch * distance**2 * (state["slope_x"] - state["slope_y"])
        return self._better(state, "stretch", self._inside((state["x"] + state["y"]) / 2, away))

    def _middle(self, state: State) -> State:
        ahead = unit_vectors(state["slope_x"] + state["slope_y"])
        middle = (state["x"] + state["y"]) / 2 + state["shift"][:, None] * ahead
        return self._better(state, "shift", self._inside(middle, state["x"] - state["y"]), self.diameter / 2)

    def _input(self, state: State) -> State:
        assert self.free is not None  # noqa: S101
        inputs = state["inputs"]
        length = state["push"] * self.free.around(inputs[0].numel())[1]
        ahead = unit_vectors(state["slope_input"].flatten(start_dim=1)) * length[:, None]
        return self._better(
            state, "push", {"inputs": self.free.projected(inputs + ahead.reshape(inputs.shape))}, 2.0
        )

    def _inside(self, middle: Tensor, away: Tensor) -> State:
        x, y = (project_onto_ball(middle + sign * away / 2, self.center, self.diameter) for sign in (1, -1))
        return {"x": x, "y": y}

    def _better(self, state: State, step: str, changed: State, most: float = inf) -> State:
        new = self._at(state | changed)
        better = new["ratio"] > state["ratio"]
        kept = {name: _either(better, new[name], old) for name, old in state.items()}
        kept[step] = (state[step] * (_SHORTER + (_LONGER - _SHORTER) * better.to(state[step]))).clamp(max=most)
        return kept

    def _at(self, state: State) -> State:
        x, y, inputs, targets = (state[name] for name in ("x", "y", "inputs", "targets"))
        of_pair = self.gradients.captured(_of_pair, self.clip_norm, weight=2 * _WEIGHT)
        change, scale, along, pulled_x, pulled_y = of_pair(x, y, inputs, targets)
        moved, distance = (torch.linalg.vector_norm(part, dim=1) for part in (change, x - y))
        found = {"moved": moved, "floor": self.gradients.rounding * scale, "distance": distance}
        slopes = {"slope_x": pulled_x, "slope_y": -pulled_y}  # without those of the distance
        if self.free is not None:
            over_inputs = vmap(grad(self._along, argnums=0), chunk_size=self.gradients.fitting(_WEIGHT))
            slopes["slope_input"] = over_inputs(inputs, targets, x, y, along)
        slopes = {name: slope.nan_to_num(0.0, 0.0, 0.0) for name, slope in slopes.items()}
        return state | slopes | found | {"ratio": _ratio(found, state["lam"])}

    def _along(self, row: Tensor, target: Tensor, x: Tensor, y: Tensor, along: Tensor) -> Tensor:
        """Change of one sample's gradient along a vector, differentiable in the input."""

        def at(point: Tensor) -> Tensor:
            vector = along
            if self.clip_norm < inf:
                gradient = self.gradients.of_one(point, row.detach(), target)
                clipped = vjp(lambda g: g * clip_factor(torch.linalg.vector_norm(g), self.clip_norm), gradient)
                vector = clipped[1](along)[0].detach()
            return self.gradients.engine.way("inputs").along(point, vector, row, target)

        return at(x) - at(y)


class _Bend(Search):
    """Ascent of |v' H(w) v| (``ratio``) in w (``x``) and v (``vectors``), for the Hessian H of one sample."""

    def one_ascent(self, screened: int, starts: int, iterations: int) -> State:
        generator, gradients, center = self._stream(_SCREENED), self.gradients, self.center
        samples = generator.integers(gradients.samples, screened, center.device)
        points, _ = self._starts(screened, generator)
        rows = self._rows(samples, self._stream(_FREE_SCREENED))
        vector = unit_vectors(generator.normals(1, len(center), center))
        screen = rows | {"x": points, "vectors": vector.expand_as(points)}
        parts = gradients.pair_chunks(screened, weight=_PRODUCT)
        values = torch.cat([self._steepness(_taken(screen, part)) for part in parts])
        starts = self.time.fitting(starts, _FEWEST, lambda: (_TURNS + 6 * iterations) * gradients.pace)
        best = most_promising(values, samples, starts)
        vectors = unit_vectors(generator.normals(len(best), len(center), center))
        state = {"x": points[best], "vectors": vectors} | _taken(rows, best)
        for _ in range(_TURNS):
            state["vectors"] = torch.cat(
                [self._turned(_taken(state, part)) for part in self._chunks(len(best))]
            )
        state = self._ascended(self._begun(state, {}), iterations)
        return _joined([state, self._ascended(self._promising(state, -(-starts // 4)), 2 * iterations)])

    def _ascended(self, state: State, iterations: int) -> State:
        for half in (-(-iterations // 2), iterations // 2):
            state = self._climbed(self._with_worst_samples(state), 2 * half)
        return state

    def _moves(self) -> list[Callable[[State], State]]:
        return [self._shift]

    def _chunks(self, pairs: int) -> list[slice]:
        return list(self.gradients.pair_chunks(pairs, weight=_THIRD))

    def _shift(self, state: State) -> State:
        ahead = state["shift"][:, None] * unit_vectors(state["slope_x"])
        x = project_onto_ball(state["x"] + ahead, self.center, self.diameter)
        return self._better(state, "shift", {"x": x, "vectors": state["turned"]}, self.diameter / 2)

    def _steepness(self, state: State) -> Tensor:
        """Length of each Hessian times a unit vector, (pairs,), after a few power iterations."""
        for _ in range(_SCREENING):
            state["vectors"] = self._turned(state)
        lengths: Tensor = torch.linalg.vector_norm(self._pushed(state), dim=1)
        return lengths.nan_to_num(0.0, 0.0, 0.0)

    def _pushed(self, state: State) -> Tensor:
        products = self.gradients.captured(Gradients.curved, weight=_PRODUCT)
        found: Tensor = products(state["x"], state["vectors"], state["inputs"], state["targets"])
        return found

    def _promising(self, state: State, number: int) -> State:
        return _taken(state, most_promising(state["ratio"], state["samples"], number))

    def _turned(self, state: State) -> Tensor:
        return unit_vectors(self._pushed(state), state["vectors"])

    def _bend(self, point: Tensor, vector: Tensor, row: Tensor, target: Tensor) -> Tensor:
        use = "slopes" if self.free is None else "inputs"
        return self.gradients.engine.way(use).bend(point, vector, row, target)

    def _at(self, state: State) -> State:
        use = "slopes" if self.free is None else "inputs"
        of_bend = self.gradients.captured(_of_bend, use, weight=_THIRD)
        values, turned, *slopes = of_bend(state["x"], state["vectors"], state["inputs"], state["targets"])
        named = dict(zip(("slope_x", "slope_input"), slopes, strict=False))
        up = {
            name: (slope * _column(values.sign(), slope)).nan_to_num(0.0, 0.0, 0.0)
            for name, slope in named.items()
        }
        return state | up | {"turned": turned, "ratio": values.abs().nan_to_num(0.0, 0.0)}

    def _certain(self, own: State, gradients: Gradients) -> Tensor:
        """Curvature of every sample's loss at the points, shape (points, samples)."""
        rows, targets = gradients.rows()
        over_samples = vmap(self._bend, (None, None, 0, 0))
        found = []
        for at, along in zip(own["x"], own["vectors"], strict=True):
            chunks = gradients.sample_chunks(weight=_THIRD)
            found.append(torch.cat([over_samples(at, along, rows[one], targets[one]) for one in chunks]))
        return torch.stack(found).abs().nan_to_num(0.0, 0.0)


def labels_of(gradients: Gradients, free: InputSet | None) -> Tensor:
    """Labels that a free input may have; empty for fixed inputs and for targets that are not labels."""
    targets = gradients.rows()[1]
    labelled = free is not None and targets.values.ndim == 1 and not targets.dtype.is_floating_point
    return torch.unique(targets.values).to(targets.device) if labelled else targets[:0]


def most_promising(values: Tensor, samples: Tensor, number: int) -> Tensor:
    """Indices of ``number`` starts: half with the largest values, half with the best of different samples."""
    order = values.argsort(descending=True, stable=True)
    of = samples[order]
    grouped = of.argsort(stable=True)
    places = torch.arange(len(of), device=of.device)
    first = torch.searchsorted(of[grouped], of[grouped])
    rank = torch.empty_like(places)
    rank[grouped] = places - first
    rank[: -(-number // 2)] = -1
    return order[rank.argsort(stable=True)[:number]]


def _ends(state: State, started: Tensor) -> Arrays:
    named = {"changes": state["moved"], "floors": state["floor"], "distances": state["distance"]}
    named |= {"samples": state["samples"], "started": started}
    arrays = {name: values.cpu().double().numpy() for name, values in named.items()}
    return arrays | {name: state[name].cpu().numpy() for name in ("x", "y", "inputs", "targets")}


def _joined(states: list[State]) -> State:
    return {name: torch.cat([state[name] for state in states]) for name in states[0]}


def _taken(state: State, rows: Tensor | slice) -> State:
    return {name: values[rows] for name, values in state.items()}


def _either(chosen: Tensor, these: Tensor, those: Tensor) -> Tensor:
    return torch.where(_column(chosen, these), these, those)


def _column(values: Tensor, like: Tensor) -> Tensor:
    """Reshape one number per row so that it broadcasts against ``like``."""
    return values.reshape(-1, *[1] * (like.ndim - 1))


def _ratio(state: State, lam: Tensor | float) -> Tensor:
    """Ratios of pairs for an order, less the rounding."""
    ratio = _less_rounding(state["moved"], state["floor"]) / state["distance"] ** lam
    return ratio.nan_to_num(0.0, 0.0, 0.0)


def _less_rounding(moved: Tensor, floor: Tensor) -> Tensor:
    """Change of a gradient less its rounding error; 0 if rounding may dominate it."""
    return (moved - floor).masked_fill(~(floor <= TRUSTED_ERROR * moved), 0.0)


def unit_vectors(vectors: Tensor, otherwise: Tensor | float = 0.0) -> Tensor:
    """Vectors scaled to length 1, with ``otherwise`` in place of entries that are not finite."""
    unit: Tensor = vectors / torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
    return torch.where(torch.isfinite(unit), unit, otherwise)
