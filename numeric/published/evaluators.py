"""Every bound by name: those of the papers as they claim them, and ours.

An evaluator maps a setting to the Renyi epsilon at order alpha that the theorem claims, rounded up. A name here is
not a verdict: which of them hold is decided by the ledger, and only ours are used by `bound`.
"""

from collections.abc import Callable, Mapping
from math import inf, isfinite
from types import MappingProxyType
from typing import Final

from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.published.altschuler_talwar import equation_b_1
from lastiterate.numeric.published.chien_li import theorem_3_1, theorem_3_7
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram

__all__ = ["EVALUATORS", "Setting", "batch_run", "empty_is_private", "run_of"]

Setting = Mapping[str, float]
"""T, n, eta, sigma, K, D (may be inf), L, lam, m, alpha: the letters of `lastiterate.symbolic.notation`."""

_UP = 1 + 1e-14


def run_of(setting: Setting) -> NoisySGD:
    """The full-batch run that a setting describes."""
    return NoisySGD(
        steps=int(setting["T"]),
        step_size=setting["eta"],
        noise_std=setting["sigma"],
        clip_norm=setting["K"],
        dataset_size=int(setting["n"]),
        diameter=setting["D"],
    )


def batch_run(setting: Setting, sampling: str) -> NoisySGD:
    """The run of a setting, with the largest proper divisor of n as the size of a batch, for a setting has none.

    So a rate is one over a prime and the fixed batches of an epoch come out even; n = 1 is a full batch.

    >>> setting = dict(T=3, n=10, eta=0.1, sigma=1.0, K=1.0, D=2.0)
    >>> batch_run(setting, "poisson").batch
    5
    """
    n = int(setting["n"])
    batch = next((n // p for p in range(2, n + 1) if n % p == 0), 1)
    return NoisySGD(
        int(setting["T"]),
        setting["eta"],
        setting["sigma"],
        setting["K"],
        dataset_size=n,
        batch_size=batch,
        sampling="full" if batch == n and sampling == "cyclic" else sampling,
        diameter=setting["D"],
    )


def _step(setting: Setting) -> float:
    return 2 * setting["eta"] * setting["K"] / setting["n"]


def _renyi(setting: Setting, squared_length: float) -> float:
    return setting["alpha"] / (2 * setting["sigma"] ** 2) * squared_length * _UP


def _composition(setting: Setting) -> float:
    return _renyi(setting, setting["T"] * _step(setting) ** 2)


def _output_perturbation(setting: Setting) -> float:
    """Alpha D^2 / (2 sigma^2), as Chien & Li A.15 has it; the noise comes after a step, so it is no bound."""
    return _renyi(setting, setting["D"] ** 2)


def _last_step(assumption: Callable[[Setting], Assumption]) -> Callable[[Setting], float]:
    def evaluate(setting: Setting) -> float:
        if not isfinite(setting["D"]):
            return inf
        with precision():
            reach = ShiftProgram(run_of(setting), assumption(setting)).expansion(0).ball(exact(setting["D"]))
            return _renyi(setting, upper(reach**2))

    return evaluate


def _altschuler_talwar_b1(setting: Setting) -> float:
    return equation_b_1(run_of(setting), setting["alpha"])


def _chien_li_3_1(contraction: Callable[[Setting], float]) -> Callable[[Setting], float]:
    def evaluate(setting: Setting) -> float:
        drift = 2 * setting["eta"] * setting["K"]
        return _renyi(
            setting, theorem_3_1(contraction(setting), _step(setting), drift, setting["D"], int(setting["T"]))
        )

    return evaluate


def _chien_li_3_7(setting: Setting) -> float:
    weight = setting["eta"] * setting["L"]
    return _renyi(setting, theorem_3_7(weight, setting["lam"], _step(setting), setting["D"], int(setting["T"])))


def _shift(assumption: Callable[[Setting], Assumption]) -> Callable[[Setting], float]:
    return lambda setting: bound(run_of(setting), assumption(setting)).rdp(setting["alpha"])


def _ours(sampling: str) -> Callable[[Setting], float]:
    return lambda setting: bound(batch_run(setting, sampling), Convex(setting["L"]), order=setting["alpha"]).epsilon


_ASSUMPTIONS: Final[dict[str, Callable[[Setting], Assumption]]] = {
    "smooth": lambda setting: Smooth(setting["L"]),
    "convex": lambda setting: Convex(setting["L"]),
    "strongly_convex": lambda setting: StronglyConvex(setting["L"], setting["m"]),
    "holder": lambda setting: Holder(setting["L"], setting["lam"]),
    "clipped": lambda setting: Clipped(),  # noqa: ARG005
}

_CONTRACTIONS: Final[dict[str, Callable[[Setting], float]]] = {
    "smooth": lambda setting: 1 + setting["eta"] * setting["L"],
    "convex": lambda setting: 1.0,  # noqa: ARG005
    "strongly_convex": lambda setting: 1 - setting["eta"] * setting["m"],
}


def empty_is_private(evaluate: Callable[[Setting], float]) -> Callable[[Setting], float]:
    """No step, no loss: so that a bound for T - 1 can be asked at T = 1."""
    return lambda setting: evaluate(setting) if setting["T"] >= 1 else 0.0


EVALUATORS: Final[Mapping[str, Callable[[Setting], float]]] = MappingProxyType(
    {
        name: empty_is_private(evaluate)
        for name, evaluate in {
            "composition": _composition,
            "output_perturbation": _output_perturbation,
            **{f"last_step_{name}": _last_step(of) for name, of in _ASSUMPTIONS.items()},
            "altschuler_talwar_b1": _altschuler_talwar_b1,
            **{f"chien_li_3_1_{name}": _chien_li_3_1(of) for name, of in _CONTRACTIONS.items()},
            "chien_li_3_7": _chien_li_3_7,
            **{f"shift_{name}": _shift(of) for name, of in _ASSUMPTIONS.items()},
            **{f"{sampling}_convex": _ours(sampling) for sampling in ("without_replacement", "poisson", "cyclic")},
        }.items()
    }
)
"""Name of a bound -> evaluator."""
