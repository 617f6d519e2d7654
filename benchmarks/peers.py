"""Other accountants, each asked the same two questions about the Poisson-sampled Gaussian.

A peer that is not installed, that raises, or that takes no such question says so in one line of the table.
"""

import importlib
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

__all__ = ["EPSILON", "RENYI", "Peer", "absent", "quiet"]

Renyi = Callable[[float, float, Sequence[float]], Sequence[float]]
"""(rate, noise multiplier, orders) -> Renyi epsilon of one step at each order."""

Epsilon = Callable[[float, float, int, float], float]
"""(rate, noise multiplier, steps, delta) -> epsilon."""


@dataclass(frozen=True)
class Peer:
    """A package and one of its accountants.

    Attributes:
        name: the accountant.
        package: what must be installed.
        ask: the question, in the signature of `Renyi` or of `Epsilon`.
    """

    name: str
    package: str
    ask: Callable[..., Any]


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings and log lines of the peers."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


def absent(peer: Peer) -> str:
    """Why a peer cannot be asked; empty where it can."""
    try:
        version(peer.package)
    except PackageNotFoundError:
        return "not installed"
    return ""


def _google_rdp(q: float, noise: float, orders: Sequence[float]) -> Sequence[float]:
    accountant = importlib.import_module("dp_accounting.rdp").RdpAccountant(orders=list(orders))
    accountant.compose(_google_event(q, noise, 1))
    found: Sequence[float] = accountant._rdp  # it has no public reader
    return found


def _google_rdp_epsilon(q: float, noise: float, steps: int, delta: float) -> float:
    accountant = importlib.import_module("dp_accounting.rdp").RdpAccountant()
    return float(accountant.compose(_google_event(q, noise, steps)).get_epsilon(delta))


def _google_pld_epsilon(q: float, noise: float, steps: int, delta: float) -> float:
    accountant = importlib.import_module("dp_accounting.pld").PLDAccountant()
    return float(accountant.compose(_google_event(q, noise, steps)).get_epsilon(delta))


def _google_event(q: float, noise: float, steps: int) -> Any:
    events = importlib.import_module("dp_accounting")
    step = events.PoissonSampledDpEvent(q, events.GaussianDpEvent(noise))
    return events.SelfComposedDpEvent(step, steps)


def _opacus_rdp(q: float, noise: float, orders: Sequence[float]) -> Sequence[float]:
    analysis = importlib.import_module("opacus.accountants.analysis.rdp")
    found: Sequence[float] = analysis.compute_rdp(q=q, noise_multiplier=noise, steps=1, orders=list(orders))
    return found


def _opacus_epsilon(mechanism: str) -> Epsilon:
    def ask(q: float, noise: float, steps: int, delta: float) -> float:
        accountant = importlib.import_module("opacus.accountants").create_accountant(mechanism)
        accountant.history = [(noise, q, steps)]
        return float(accountant.get_epsilon(delta))

    return ask


def _prv_epsilon(q: float, noise: float, steps: int, delta: float) -> float:
    accountants = importlib.import_module("prv_accountant")
    step = accountants.PoissonSubsampledGaussianMechanism(noise_multiplier=noise, sampling_probability=q)
    accountant = accountants.PRVAccountant(
        prvs=[step], max_self_compositions=[steps], eps_error=0.01, delta_error=delta / 1000
    )
    return float(accountant.compute_epsilon(delta=delta, num_self_compositions=[steps])[2])  # its upper bound


def _autodp(q: float, noise: float) -> Any:
    gaussian = importlib.import_module("autodp.mechanism_zoo").GaussianMechanism(sigma=noise)
    sampling = importlib.import_module("autodp.transformer_zoo").AmplificationBySampling(PoissonSampling=True)
    return sampling(gaussian, q, improved_bound_flag=True)


def _autodp_rdp(q: float, noise: float, orders: Sequence[float]) -> Sequence[float]:
    step = _autodp(q, noise)
    return [float(step.RenyiDP(order)) for order in orders]


def _autodp_epsilon(q: float, noise: float, steps: int, delta: float) -> float:
    compose = importlib.import_module("autodp.transformer_zoo").Composition()
    return float(compose([_autodp(q, noise)], [steps]).get_approxDP(delta))


RENYI = (
    Peer("dp-accounting RDP", "dp-accounting", _google_rdp),
    Peer("Opacus RDP", "opacus", _opacus_rdp),
    Peer("autodp", "autodp", _autodp_rdp),
)

EPSILON = (
    Peer("dp-accounting RDP", "dp-accounting", _google_rdp_epsilon),
    Peer("dp-accounting PLD", "dp-accounting", _google_pld_epsilon),
    Peer("Opacus RDP", "opacus", _opacus_epsilon("rdp")),
    Peer("Opacus PRV", "opacus", _opacus_epsilon("prv")),
    Peer("Opacus GDP", "opacus", _opacus_epsilon("gdp")),
    Peer("prv-accountant", "prv-accountant", _prv_epsilon),
    Peer("autodp", "autodp", _autodp_epsilon),
)
