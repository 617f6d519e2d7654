import pytest

from lastiterate.numeric.contraction import chain, random_batches, table


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables with few nodes: bounds all the same, and soon made."""
    monkeypatch.setattr(table, "NODES", 160)
    monkeypatch.setattr(random_batches, "_FAR_NODES", 160)
    monkeypatch.setattr(random_batches, "NODES", 160)
    monkeypatch.setattr(chain, "COARSE", 40)
    monkeypatch.setattr(chain, "FINE", 80)
