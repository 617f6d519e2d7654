"""The modulus of a gradient from those of its blocks: values, concavity, enclosures, bounds."""

from dataclasses import replace
from math import inf, sqrt

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from shared import parse_run

from lastiterate.numeric.bound import bound_by_shifts as bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import (
    Blocks,
    Clipped,
    Convex,
    Holder,
    Minimum,
    Modulus,
    Smooth,
    Sum,
    Tabulated,
)
from lastiterate.numeric.run import NoisySGD

_RUN = NoisySGD(steps=30, step_size=0.1, noise_std=1.0, clip_norm=2.0, dataset_size=5, diameter=1.0)
_LONG = replace(_RUN, steps=400)
_PARTS = st.lists(
    st.builds(Holder, st.sampled_from([0.0, 1e-3, 1.0]) | st.floats(1e-3, 10), st.floats(0.01, 1)),
    min_size=1,
    max_size=4,
)
_DISTANCES = np.geomspace(1e-6, 1e3, 181)


@given(parts=_PARTS)
def test_values_lie_between_the_root_of_the_sum_of_squares_and_the_sum(parts: list[Holder]) -> None:
    blocks = Blocks(*parts)
    each = np.stack([part.value(_DISTANCES) for part in parts])
    found, root = blocks.value(_DISTANCES), np.sqrt(np.square(each).sum(axis=0))
    assert (found >= root * (1 - 1e-12)).all()
    assert (found <= np.minimum(each.sum(axis=0), sqrt(2) * root) * (1 + 1e-12)).all()
    if len(blocks.groups) == 1:
        np.testing.assert_allclose(found, root, rtol=1e-12)
    assert blocks.value(np.array(0.0)) == 0


@given(parts=_PARTS)
def test_it_is_concave_and_its_slope_is_the_derivative(parts: list[Holder]) -> None:
    blocks = Blocks(*parts)
    low, high = _DISTANCES[:-1], _DISTANCES[1:]
    middle = (low + high) / 2
    value = blocks.value(middle)
    assert (value >= (blocks.value(low) + blocks.value(high)) / 2 * (1 - 1e-12)).all()
    step = 1e-4 * middle
    numeric = (blocks.value(middle + step) - blocks.value(middle - step)) / (2 * step)
    np.testing.assert_allclose(blocks.slope(middle), numeric, rtol=1e-5, atol=1e-300)
    for z in (0.0, 1e-6, 0.37, 20.0):
        assert blocks.ball(arb(z)).contains(arb(float(blocks.value(np.array(z))))) or blocks.ball(
            arb(z)
        ).overlaps(arb(float(blocks.value(np.array(z))), 1e-12 * float(blocks.value(np.array(z)))))


def test_the_root_with_orders_far_apart_is_convex_at_places_and_so_it_is_split() -> None:
    far = Blocks(Holder(1.0, 0.1), Smooth(1.0))
    root = np.sqrt(_DISTANCES**0.2 + _DISTANCES**2)
    bend = np.diff(np.diff(root) / np.diff(_DISTANCES))
    assert bend.max() > 0
    assert [len(group) for group in far.groups] == [1, 1]
    for near in ((0.5, 1.0), (0.01, 0.5), (0.25, 0.75)):
        assert len(Blocks(*(Holder(1.0, lam) for lam in near)).groups) == 1


def test_a_bound_holds_for_the_blocks_of_a_known_gradient() -> None:
    """Blocks h w_1 and sign(w_2) |w_2|^(1/2): the change of the whole is never above the combination."""
    generator = np.random.default_rng(0)
    x, y = generator.uniform(-1, 1, (2, 100_000, 2))
    change = np.hypot(
        0.8 * (x[:, 0] - y[:, 0]),
        np.copysign(np.sqrt(abs(x[:, 1])), x[:, 1]) - np.copysign(np.sqrt(abs(y[:, 1])), y[:, 1]),
    )
    allowed = Blocks(Smooth(0.8), Holder(sqrt(2), 0.5)).value(np.hypot(*(x - y).T))
    assert (change <= allowed * (1 + 1e-12)).all()
    assert (change / allowed).max() > 0.9


def test_bounds_with_blocks() -> None:
    one = bound(_LONG, Smooth(5.0), order=2).epsilon
    assert bound(_LONG, Blocks(Smooth(3.0), Smooth(4.0)), order=2).epsilon == pytest.approx(one, rel=1e-9)
    assert (
        bound(_LONG, Blocks(Holder(1.0, 0.5)), order=2).epsilon
        == bound(_LONG, Holder(1.0, 0.5), order=2).epsilon
    )
    mixed = (Smooth(2.0), Holder(0.5, 0.5))
    together = bound(_LONG, Blocks(*mixed), order=2).epsilon
    assert together < bound(_LONG, Sum(*mixed), order=2).epsilon
    assert together > max(bound(_LONG, part, order=2).epsilon for part in mixed)
    assert bound(_LONG, Minimum(Blocks(*mixed), Blocks(Smooth(3.0))), order=2).epsilon <= together
    table = Tabulated((0.25, 0.5, 1.0), (0.1, 0.3, 0.4))
    assert bound(_LONG, Blocks(table), order=2).epsilon == pytest.approx(
        bound(_LONG, table, order=2).epsilon, rel=1e-6
    )
    assert bound(_LONG, Blocks(table, Smooth(0.1)), order=2).epsilon >= bound(_LONG, table, order=2).epsilon


def test_a_table_that_ends_leaves_only_clipping() -> None:
    blocks = Blocks(Tabulated((0.5,), (1.0,)), Smooth(1.0))
    assert blocks.value(np.array([0.4, 0.6])).tolist() == [pytest.approx(1.4), inf]
    assert not blocks.ball(arb("0.6")).is_finite()
    assert float(blocks.slope(np.array(0.4))) == 1.0
    assert blocks.knots == (0.5,)


@pytest.mark.parametrize("parts", [(), (1.0,), (Clipped(),), (Convex(1.0),), (Sum(Smooth(1.0)),)])
def test_what_is_no_block(parts: tuple[Modulus, ...]) -> None:
    with pytest.raises(InputError, match="Blocks needs"):
        Blocks(*parts)  # type: ignore[arg-type]


def test_blocks_in_a_run_file() -> None:
    text = "steps = 3\nstep_size = 0.1\nnoise_std = 1\nclip_norm = 1\ndataset_size = 5\n"
    parts = 'parts = [{kind = "smooth", L = 1}, {kind = "holder", L = 2, lam = 0.5}]'
    assert parse_run(f'[run]\n{text}[assumption]\nkind = "blocks"\n{parts}')[1] == Blocks(
        Smooth(1), Holder(2, 0.5)
    )
