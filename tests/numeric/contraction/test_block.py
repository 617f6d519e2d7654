"""One block against exact laws on finite chains, in both orders; and wrong variants, which the same chains catch."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.contraction.block import Block
from lastiterate.numeric.contraction.table import Table, spread_nodes, unknown

_POINTS, _CHAINS = 4, 60
_NODES = np.exp(spread_nodes(0.03, 25.0, 50))
Law = Array


def _laws(rng: np.random.Generator, count: int, spike: float) -> Law:
    found = rng.dirichlet(np.full(_POINTS, spike), size=count) + 1e-6
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _profile(p: Law, q: Law, g: Array) -> Array:
    return np.asarray(np.maximum(p[..., None, :] - g[:, None] * q[..., None, :], 0.0).sum(axis=-1))


def _worst(pairs: list[tuple[Law, Law]]) -> Table:
    """The table of the greatest profile of some pairs of laws."""
    ahead = np.max([_profile(p, q, _NODES) for p, q in pairs], axis=0)
    back = np.max([_profile(q, p, _NODES) for p, q in pairs], axis=0)
    ahead[0] = back[0] = max(ahead[0], back[0])
    return Table(_NODES, ahead, back)


def _excess(
    rng: np.random.Generator, changed: Callable[[Table, Table, Table], tuple[Table, Table, Table]]
) -> float:
    """How far the exact profile after a block lies above the table, over it, at its greatest; both orders."""
    p, q = _laws(rng, 2, 0.3)
    bridge = rng.uniform(0, 0.3)
    q = (1 - bridge) * p + bridge * q
    kernel = _laws(rng, _POINTS, 0.15)
    shift = rng.uniform(0, 0.3)
    other = (1 - shift) * kernel + shift * _laws(rng, _POINTS, 0.15)
    near = _worst([(kernel[x], other[x]) for x in range(_POINTS)])
    far = _worst([(kernel[x], other[y]) for x in range(_POINTS) for y in range(_POINTS)])
    before, near, far = changed(_worst([(p, q)]), near, far)
    after = Block(_NODES, near, far).after(before)
    exact_ahead, exact_back = _profile(p @ kernel, q @ other, _NODES), _profile(q @ other, p @ kernel, _NODES)
    kept = slice(0, 30)
    return float(
        max(
            np.max(exact_ahead[kept] / np.maximum(after.ahead[kept], 1e-9)),
            np.max(exact_back[kept] / np.maximum(after.back[kept], 1e-9)),
        )
    )


def test_no_chain_is_above_the_table() -> None:
    rng = np.random.default_rng(5)
    assert max(_excess(rng, lambda *tables: tables) for _ in range(_CHAINS)) <= 1 + 1e-9


def _scaled(table: Table, factor: float) -> Table:
    return Table(table.g, table.ahead * factor, table.back * factor)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda x, n, f: (x, _scaled(n, 0.9), f), id="near price low"),
        pytest.param(lambda x, n, f: (x, n, _scaled(f, 0.9)), id="far price low"),
        pytest.param(lambda x, n, f: (_scaled(x, 0.8), n, f), id="table before low"),
        pytest.param(lambda x, n, f: (x, n.reversed, f), id="near price of the other order"),
        pytest.param(lambda x, n, f: (x.reversed, n, f), id="table of the other order"),
        pytest.param(lambda x, n, _: (x, n, n), id="far price at equal points"),
    ],
)
def test_wrong_prices_are_caught(wrong: Callable[[Table, Table, Table], tuple[Table, Table, Table]]) -> None:
    rng = np.random.default_rng(5)
    assert sum(_excess(rng, wrong) > 1 + 1e-6 for _ in range(_CHAINS)) >= 2


def test_clean_steps_are_a_block_of_their_own() -> None:
    """Their table is the one-block bound where both thresholds are the ratio asked for; exactly, in fractions."""
    far = _worst([tuple(_laws(np.random.default_rng(1), 2, 1.0))])
    before = _worst([tuple(_laws(np.random.default_rng(2), 2, 1.0))])
    after = Block(_NODES, None, far).after(before)
    for k in range(0, 20, 4):
        a, g = Fraction(float(before.ahead[k])), Fraction(float(_NODES[k]))
        exactly = a * Fraction(float(far(np.array(float(1 + (g - 1) / a))))) if a else Fraction(0)
        assert float(after.ahead[k]) == pytest.approx(float(exactly), rel=1e-9)
    assert np.all(after.ahead <= before.ahead)


def test_a_block_that_is_the_same_in_both_runs_has_no_near_price() -> None:
    with pytest.raises(ValueError, match="no near cost"):
        _ = Block(_NODES, None, unknown(_NODES)).prices
