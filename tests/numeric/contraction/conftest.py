import pytest

from lastiterate.numeric.contraction import chain, gaussian, sampled


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables with few nodes: bounds all the same, and soon made."""
    monkeypatch.setattr(gaussian, "NODES", 160)
    monkeypatch.setattr(sampled, "_FAR_NODES", 160)
    monkeypatch.setattr(sampled, "NODES", 160)
    monkeypatch.setattr(chain, "COARSE", 40)
    monkeypatch.setattr(chain, "FINE", 80)
