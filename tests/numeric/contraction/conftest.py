from collections.abc import Iterator

import pytest

from lastiterate.numeric.contraction import chain, random_batches, table

_KEPT = table.gaussian_table, random_batches.sampled_step, random_batches.compose_prices


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tables with few nodes: bounds all the same, and soon made; no other test finds them kept."""
    monkeypatch.setattr(table, "NODES", 160)
    monkeypatch.setattr(random_batches, "_FAR_NODES", 160)
    monkeypatch.setattr(random_batches, "NODES", 160)
    monkeypatch.setattr(chain, "COARSE", 40)
    monkeypatch.setattr(chain, "FINE", 80)
    for one in _KEPT:
        one.cache_clear()
    yield
    for one in _KEPT:
        one.cache_clear()
