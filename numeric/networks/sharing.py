"""Layers whose weights are used at many places: convolutions and averages, on inputs of any number of dimensions.

The inputs that the weights of a channel meet at one place are a column of a matrix X(h), and the channel's outputs are
its row of weights times X(h). So |V X(h)| <= |V| |X(h)|, and |X(h)| <= sqrt(m) |h| in the Frobenius norm where no input
stands in more than m columns.

Source: docs/proofs/network_constants.md, "Weights that are shared" (claim ours/certified/network/sharing).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from lastiterate.numeric.errors import InputError, count
from lastiterate.numeric.networks.matrices import Floats, MatrixBall, spectral_norm


@dataclass(frozen=True, eq=False)
class Sharing:
    """The inputs that the weights of a layer meet.

    Attributes:
        inputs: how many there are.
        meets: shape (groups, terms, places): weight k of each channel of group g meets input ``meets[g, k, p]`` at
            place p, or a zero where that is -1. The channels are split evenly among the groups, in their order, and
            the outputs are all places of the first channel, then of the second, and so on.

    Raises:
        InputError: numbers that are no inputs, or an input that is met twice at one place or by one weight.
    """

    inputs: int
    meets: ArrayLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", count("inputs", self.inputs))
        try:
            meets = np.array(self.meets)
        except (TypeError, ValueError):
            meets = np.zeros(0)
        whole = meets.ndim == 3 and meets.size and meets.dtype.kind in "iu"  # groups, terms, places
        if not whole or meets.min() < -1 or meets.max() >= self.inputs:
            raise InputError(
                f"meets needs whole numbers from -1 to {self.inputs - 1} of shape (groups, terms, places), got "
                f"meets of shape {meets.shape}; give those of inputs."
            )
        for axis in (1, 2):
            ordered = np.moveaxis(np.sort(meets, axis=axis), axis, 0)
            if ((ordered[1:] == ordered[:-1]) & (ordered[1:] >= 0)).any():
                raise InputError(
                    "meets needs each input once a place and once a weight, got one twice; part the layer."
                )
        object.__setattr__(self, "meets", meets.astype(np.int64))

    @property
    def _meets(self) -> NDArray[np.int64]:
        return np.asarray(self.meets)

    @property
    def groups(self) -> int:
        """Groups of channels."""
        return len(self._meets)

    @property
    def terms(self) -> int:
        """Weights of a channel."""
        return int(self._meets.shape[1])

    @property
    def places(self) -> int:
        """Outputs of a channel."""
        return int(self._meets.shape[2])

    @cached_property
    def often(self) -> arb:
        """The root of the greatest number of places at which a group meets one input: at least |X(h)| / |h|."""
        met = [np.bincount(group[group >= 0], minlength=1).max() for group in self._meets]
        return arb(int(max(met))).sqrt()

    def columns(self, h: Floats) -> Floats:
        """X(h), shape (groups, terms, places): exactly the entries of h, shape (inputs,), and zeros."""
        return np.append(h, 0.0)[self._meets]

    def dense(self, weight: Floats) -> Floats:
        """The map of these weights, shape (channels, terms), as a matrix, shape (channels places, inputs)."""
        channels, each = len(weight), len(weight) // self.groups
        matrix = np.zeros((channels, self.places, self.inputs + 1))
        for c in range(channels):
            matrix[c, np.arange(self.places), self._meets[c // each]] += weight[c][:, None]
        return matrix[:, :, :-1].reshape(channels * self.places, self.inputs)

    def derivative(
        self, h: Floats, each: Floats, total: arb, channels: int, *, weights: bool, biases: bool
    ) -> MatrixBall:
        """The derivative of the outputs in what moves of the weights and biases, channel by channel.

        Args:
            h: inputs at the centre, shape (inputs,).
            each: how far each of them may be from there, shape (inputs,).
            total: how far all together may be, in the Euclidean norm.
            channels: how many there are.
            weights: whether they move.
            biases: whether they do.
        """
        parts = self.columns(h) if weights else np.zeros((self.groups, 0, self.places))
        if biases:
            parts = np.concatenate([parts, np.ones((self.groups, 1, self.places))], axis=1)
        share, rows = channels // self.groups, parts.shape[1]
        center = np.zeros((channels, self.places, channels, rows))
        for c in range(channels):
            center[c, :, c] = parts[c // share].T
        return MatrixBall(
            center.reshape(channels * self.places, channels * rows),
            (self.often * total).min(self._most(self.columns(each))) if weights else arb(0),
        )

    def weighed(self, outputs: Floats) -> Floats:
        """The matrix of the map from h' to the derivative of u . V X(h') in V, shape (channels terms, inputs).

        Exactly the entries of u, shape (channels places,), and zeros: a weight meets an input once.
        """
        channels = outputs.reshape(-1, self.places)
        share = len(channels) // self.groups
        matrix = np.zeros((len(channels), self.terms, self.inputs + 1))
        for c, row in enumerate(channels):
            for k in range(self.terms):
                matrix[c, k, self._meets[c // share, k]] = row
        return matrix[:, :, :-1].reshape(len(channels) * self.terms, self.inputs)

    @staticmethod
    def _most(columns: Floats) -> arb:
        found = arb(0)
        for group in columns:
            found = found.max(spectral_norm(group))
        return found
