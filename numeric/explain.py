"""Explanations: the assumptions of a bound, and why it is not smaller than composition."""

from math import isfinite, sqrt
from typing import Final

from flint import arb

from lastiterate.numeric.losses.assumptions import Assumption, Clipped
from lastiterate.numeric.rounding import exact, lower, precision, printed_up, upper
from lastiterate.numeric.run import NoisySGD

_MANY, _HARDLY = 50.0, 0.02
_MOVES: Final = "each update adds {:g} times the difference of the last two iterates, which are projected"
_AHEAD: Final = "; gradients are taken that far ahead, where the losses are as assumed also outside the domain"
UNTRIED: Final = "assumed, not tested on data"


def assumed(run: NoisySGD, assumption: Assumption, tried: str = "") -> tuple[str, ...]:
    """Assumptions on losses, data, batches, noise and domain; ``tried`` says how they were tested."""
    some = "one sample" if run.group == 1 else f"{run.group} samples"
    differ = (
        f"by replacing {some}" if run.adjacency == "replace" else f"by removing {some} of {run.dataset_size}"
    )
    if isinstance(assumption, Clipped) and tried == UNTRIED:
        tried = "not tested on data"
    stated = (
        assumption.statement + (f"; {tried}" if tried else ""),
        f"per-sample gradients are clipped to norm {run.clip_norm:g}, and the data sets differ {differ}",
        run.scheme.statement.format(run=run),
        *([f"weight decay {run.weight_decay:g}, which is not clipped"] if run.weight_decay else []),
        *([_MOVES.format(run.momentum) + _AHEAD * run.nesterov] if run.momentum else []),
        "isotropic Gaussian noise of the stated standard deviation; only the last iterate is released",
    )
    if isfinite(run.diameter):
        return (*stated, f"every iterate is projected onto a convex domain of diameter {run.diameter:g}")
    return stated


def remarks(run: NoisySGD, delta: float | None) -> dict[str, str]:
    """Remarks on a bound: the noise multiplier of Opacus, and a warning if delta promises little.

    >>> remarks(NoisySGD(9, 4.0, 0.08, 1.0, 4000, batch_size=400, sampling="poisson"), delta=1e-5)
    {'noise multiplier': '8'}
    """
    found = {}
    if run.constant:
        with precision():
            # float 0.08 > 0.08
            found["noise multiplier"] = printed_up(upper(_multiplier(run) * (1 - 2.0**-50)))
        if asked := question(run):
            found["noise_std"] = asked
    if delta is not None and delta * run.dataset_size >= 1:
        found["delta"] = (
            "at least 1/n, so even releasing one sample drawn at random would satisfy the guarantee"
        )
    return found


def _multiplier(run: NoisySGD) -> arb:
    return exact(run.noise_std_at(0)) * run.batch / (exact(run.step_size_at(0)) * exact(run.clip_norm))


def question(run: NoisySGD) -> str:
    """Ask whether a noise multiplier was given for ``noise_std``; "" if the noise is plausible.

    A multiplier of at least 50 is implausible if releasing all iterates would cost at most about mu = 0.02.

    >>> question(NoisySGD(1000, 0.1, 1.0, 1.0, 50_000, 500, "poisson"))  # doctest: +ELLIPSIS
    'noise_std=1 is 5000 times step_size * clip_norm / batch_size; if it is meant as a noise multiplier, ...=0.0002'
    """
    if not run.constant:
        return ""
    multiplier = float(_multiplier(run))
    share = run.batch / run.dataset_size
    often = share * sqrt(run.steps) if run.scheme.random else sqrt(run.steps * share)
    if multiplier < _MANY or (1 + (run.adjacency == "replace")) * often / multiplier > _HARDLY:
        return ""
    noise = run.noise_std_at(0)
    return (
        f"noise_std={noise:g} is {multiplier:.4g} times step_size * clip_norm / batch_size; if it is meant as a noise "
        f"multiplier, write noise_std={noise * noise / multiplier:.4g}"
    )


def why_composition(run: NoisySGD) -> str:
    """Explain why no window of shifts costs less than composition: a window must also hide the whole domain.

    >>> run = NoisySGD(100, step_size=0.1, noise_std=0.01, clip_norm=1, dataset_size=50, diameter=4)
    >>> why_composition(run)
    'no window of shifts is cheaper: diameter=4 against noise of standard deviation 0.1 over all 100 steps'
    """
    if not isfinite(run.diameter):
        return "only a domain of finite diameter or many contracting steps let the last steps hide the earlier ones"
    with precision():
        squares = [exact(run.noise_std_at(t)) ** 2 for t in range(run.steps if not run.constant else 1)]
        total = lower((sum(squares[1:], squares[0]) * (run.steps if run.constant else 1)).sqrt())
    return (
        f"no window of shifts is cheaper: diameter={run.diameter:g} against noise of standard deviation {total:.3g} "
        f"over all {run.steps} steps"
    )
