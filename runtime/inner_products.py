"""Inner products of gradients that are sums of outer products, in double precision, with rounding bounds.

For g = sum_t d_t a_t' at one point and h = sum_t (d_t + q_t) (a_t + b_t)' at another, the change is

    h - g = sum_t q_t a_t' + (d_t + q_t) b_t',

so |h - g|^2, <h - g, g> and |g|^2 are sums over pairs of tokens. Each term is a product of two inner products
of a, b, d and q, and nothing cancels if h is near g. If clipping multiplies h by u and g by v, the change is
u h - v g = u (h - g) + (u - v) g; if both are clipped to the same length, |u - v| |g| <= u |h - g|.

Rounding. An inner product of m floats, in any order, has error at most gamma_m |x| |y|, where gamma_m = m w /
(1 - m w) and w = 2^-53 (Higham 2002, Accuracy and Stability of Numerical Algorithms, section 3.1). With S =
sum_t |q_t| |a_t| + (|d_t| + |q_t|) |b_t| and s = sum_t |d_t| |a_t|, the three sums have errors at most
gamma_N S^2, gamma_N S s and gamma_N s^2 for T tokens and N = in + out + 3 T^2 + 16: they contain two inner
products, a product and a sum over 3 T^2 terms, whose absolute values add up to at most S^2, S s and s^2. So
|u h - v g|^2 has error at most E = gamma_N (u S + |u - v| s)^2, and its root has error at most min(E^(1/2), E
/ root), since |x - y| = |x^2 - y^2| / (x + y) for x, y >= 0. The differences b and q of the network's floats
have relative error at most w, which the term 16 covers. The lengths in S and s have relative rounding error
at most gamma_N, which the larger denominator 1 - 4 N w in gamma_N covers.
"""

from typing import Final, NamedTuple

import torch
from torch import Tensor

from lastiterate.runtime.factors import Outer, Part

_HALF_ULP: Final = 2.0**-53
_FURTHER: Final = 64
"""Allowance for further roundings, in differences and factors; sums over parameters count separately."""


class Products(NamedTuple):
    """Inner products of the change c and the gradient g of every parameter, with bounds on their rounding.

    Attributes:
        changes: |c|^2, float64 of shape (parameters, samples) like the next four fields; sorted by group.
        mixed: <c, g>.
        squares: |g|^2.
        reach: S, at least |c|.
        length: s, at least |g|.
        gamma: gamma_N, shape (parameters, 1).
    """

    changes: Tensor
    mixed: Tensor
    squares: Tensor
    reach: Tensor
    length: Tensor
    gamma: Tensor

    def scaled(self, u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Squares |u h - v g|^2 by parameter, and their rounding bounds E; u and v have shape (samples,)."""
        apart = u - v
        squared = u * u * self.changes + 2 * u * apart * self.mixed + apart * apart * self.squares
        return squared, self.gamma * (u * self.reach + apart.abs() * self.length).square()

    def there(self) -> tuple[Tensor, Tensor]:
        """Squares |h|^2 by parameter, and their rounding bounds."""
        return self.changes + 2 * self.mixed + self.squares, self.gamma * (self.reach + self.length).square()

    def here(self) -> tuple[Tensor, Tensor]:
        """Squares |g|^2 by parameter, and their rounding bounds."""
        return self.squares, self.gamma * self.length.square()


class _Grams(NamedTuple):
    inputs: Tensor
    slopes: Tensor
    of_inputs: Tensor
    of_slopes: Tensor


Held = Tensor | Outer | _Grams


def prepare_factors(parts: tuple[Part, ...]) -> tuple[Held, ...]:
    """Gradients at a point, with inner products of their own factors."""
    return tuple(
        _grams(part) if isinstance(part, Outer) and part.inputs.is_floating_point() else part for part in parts
    )


def products(there: tuple[Part, ...], here: tuple[Held, ...]) -> Products:
    """Inner products of gradients of the same samples at two points."""
    pairs = [_of_pair(h, g) for h, g in zip(there, here, strict=True)]
    columns = torch.cat([found for found, _ in pairs], dim=1)
    further = columns.shape[1] + _FURTHER
    gamma = torch.cat([torch.full_like(found[0, :, :1], _gamma(terms + further)) for found, terms in pairs])
    changes, mixed, squares, reach, length = columns
    return Products(changes, mixed, squares, reach, length, gamma)


def _gamma(count: int) -> float:
    return count * _HALF_ULP / (1 - 4 * count * _HALF_ULP)


def lengths(parts: tuple[Part, ...]) -> Tensor:
    """Norm |g| of every sample's gradient, shape (samples,), float64."""
    squares = torch.cat([_square(part) for part in parts]).sum(dim=0)
    return squares.clamp(min=0.0).sqrt()


def root(squared: Tensor, error: Tensor) -> tuple[Tensor, Tensor]:
    """Root of ``squared``, whose error is at most ``error``, and a bound on the error of the root."""
    found = squared.clamp(min=0.0).sqrt()
    return found, torch.minimum(error.sqrt(), (error / found).nan_to_num(nan=0.0))


def _of_pair(there: Part, here: Held) -> tuple[Tensor, int]:
    """First five fields of `Products` for a group, shape (5, parameters, samples), and number of terms."""
    if isinstance(here, _Grams) and isinstance(there, Outer):
        return _of_outer(there, here)
    if isinstance(here, Outer) and isinstance(there, Outer):
        return _of_table(there, here)
    assert isinstance(there, Tensor)  # noqa: S101
    assert isinstance(here, Tensor)  # noqa: S101
    g = here.flatten(2).double()
    return _of_vectors(there.flatten(2).double() - g, g), g.shape[2]


def _of_vectors(c: Tensor, g: Tensor) -> Tensor:
    changes, squares = c.square().sum(dim=2), g.square().sum(dim=2)
    return torch.stack([changes, (c * g).sum(dim=2), squares, changes.sqrt(), squares.sqrt()])


def _of_outer(there: Outer, here: _Grams) -> tuple[Tensor, int]:
    b, q = there.inputs.double() - here.inputs, there.slopes.double() - here.slopes
    aa, dd = here.of_inputs, here.of_slopes
    ba, bb = b @ here.inputs.mT, b @ b.mT
    qd, qq = q @ here.slopes.mT, q @ q.mT
    pushed = qq + qd  # q_t . (d_s + q_s)
    moved = pushed + qd.mT + dd  # (d_t + q_t) . (d_s + q_s)
    changes = (qq * aa + 2 * pushed * ba.mT + moved * bb).sum(dim=(2, 3))
    mixed = (qd * aa + (qd + dd) * ba).sum(dim=(2, 3))
    size_a, size_b, size_d, size_q = (
        gram.diagonal(dim1=2, dim2=3).clamp(min=0.0).sqrt() for gram in (aa, bb, dd, qq)
    )
    reach = (size_q * size_a + (size_d + size_q) * size_b).sum(dim=2)
    length = (size_d * size_a).sum(dim=2)
    terms = b.shape[3] + q.shape[3] + 3 * q.shape[2] ** 2
    return torch.stack([changes, mixed, (dd * aa).sum(dim=(2, 3)), reach, length]), terms


def _of_table(there: Outer, here: Outer) -> tuple[Tensor, int]:
    """Result of `_of_pair` for tables; if a token looks up one row at both points, only its slope changes."""
    d = here.slopes.double()
    same = (there.inputs == here.inputs)[..., None]
    index = torch.cat([here.inputs, there.inputs], dim=2)
    moved = torch.cat([there.slopes.double() * same - d, there.slopes.double() * ~same], dim=2)
    still = torch.cat([d, torch.zeros_like(d)], dim=2)
    rows = torch.stack([moved, still]).norm(dim=4).sum(dim=3)
    found = _of_vectors(*(_rows(index, values).flatten(2) for values in (moved, still)))
    return torch.cat([found[:3], torch.maximum(found[3:], rows)]), 4 * d.shape[2] + 2 * d.shape[2] * d.shape[3]


def _rows(index: Tensor, values: Tensor) -> Tensor:
    """Sum of the values of each table row, placed at the first token that looks up the row; 0 elsewhere."""
    same = index[..., :, None] == index[..., None, :]
    first = ~same.tril(-1).any(dim=3, keepdim=True)
    return (same & first).to(values) @ values


def _square(part: Part) -> Tensor:
    if isinstance(part, Tensor):
        return part.flatten(2).double().square().sum(dim=2)
    if not part.inputs.is_floating_point():
        return _rows(part.inputs, part.slopes.double()).square().sum(dim=(2, 3))
    found = _grams(part)
    return (found.of_inputs * found.of_slopes).sum(dim=(2, 3))


def _grams(part: Outer) -> _Grams:
    a, d = part.inputs.double(), part.slopes.double()
    return _Grams(a, d, a @ a.mT, d @ d.mT)
