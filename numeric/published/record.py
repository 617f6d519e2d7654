"""Records of published theorems, and the evaluation of their statements for a run."""

# Sympy has no stubs; pyright infers wider types from its source than it documents.
# pyright: reportArgumentType=false, reportReturnType=false

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

from flint import arb
from sympy import Expr, Integer, Pow, Sum, Symbol

from lastiterate.numeric.enclosure.tape import enclose
from lastiterate.numeric.errors import InputError, positive
from lastiterate.numeric.losses.assumptions import Assumption, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD, described_run, refuse_extreme
from lastiterate.numeric.schemes import GROUPS, SCHEMES
from lastiterate.symbolic import notation

Setting = Mapping[str, float]
"""T, n, eta, sigma, K, D (may be inf), L, lam, m, alpha: the letters of `lastiterate.symbolic.notation`."""
Evaluator = Callable[[NoisySGD, Assumption, float], float]
Refusal = Callable[[NoisySGD, Assumption], str]
"""A hypothesis that a run violates, in words; empty if the run satisfies it."""

USABLE = ("bound", "supported")
"""Kinds of values that may be used as bounds."""
_LETTERS = vars(notation)


def run_of(setting: Setting, sampling: str = "full") -> NoisySGD:
    """The run described by a setting, which has no batch size.

    The batch size is the largest proper divisor of n, so the rate is 1 / p for a prime p; if n = 1, the batch
    is full.

    >>> run_of(dict(T=3, n=10, eta=0.1, sigma=1.0, K=1.0, D=2.0), "poisson").batch
    5
    """
    n, scheme = int(setting["n"]), SCHEMES[sampling]
    batch = n if scheme.full else next((n // p for p in range(2, n + 1) if n % p == 0), 1)
    return NoisySGD(
        int(setting["T"]),
        setting["eta"],
        setting["sigma"],
        setting["K"],
        dataset_size=n,
        batch_size=batch,
        sampling="full" if batch == n and scheme.fixed else sampling,
        diameter=setting["D"],
    )


def statement_value(statement: Expr, run: NoisySGD, order: float, **more: float | arb) -> float:
    """Value of a statement for a run, rounded up.

    The run gives T, n, b, K, D, and eta and sigma of its first step; ``order`` is alpha. Keywords, named as
    in `lastiterate.symbolic.notation`, give other letters or replace these values.
    """
    known: dict[str, float | arb] = {"T": run.steps, "n": run.dataset_size, "b": run.batch, "K": run.clip_norm}
    known |= {
        "eta": run.step_size_at(0),
        "sigma": run.noise_std_at(0),
        "D": run.diameter,
        "alpha": order,
    } | more
    with precision():
        values = {_LETTERS[name]: value for name, value in known.items()}
        # Substitute integer exponents and limits, since c^T is also defined at c = 0.
        whole = {
            letter: Integer(values[letter]) for letter in _counted(statement) if isinstance(values[letter], int)
        }
        rest = {letter: arb(value) for letter, value in values.items() if letter not in whole}
        return upper(enclose(statement.xreplace(whole), rest))


@lru_cache(maxsize=256)
def _counted(statement: Expr) -> frozenset[Symbol]:
    powers = (power.exp.free_symbols for power in statement.atoms(Pow))
    limits = (total.args[1].free_symbols for total in statement.atoms(Sum))
    return frozenset().union(*powers, *limits)


def contraction_factor(run: NoisySGD, assumption: Assumption) -> arb:
    """c = max(|1 - eta m|, |1 - eta L|) of one step."""
    eta = exact(run.step_size_at(0))
    m, L = getattr(assumption, "m", 0.0), getattr(assumption, "L", 0.0)
    return abs(1 - eta * exact(m)).max(abs(1 - eta * exact(L)))


def hypothesis(words: str, holds: Callable[[NoisySGD, Assumption], bool]) -> Refusal:
    """A refusal, in these words, unless ``holds`` is true."""
    return lambda run, assumption: "" if holds(run, assumption) else words


def _stable(run: NoisySGD, losses: Assumption) -> bool:
    if not isinstance(losses, Convex | StronglyConvex):
        return True
    return all(
        exact(run.step_size_at(t)) * exact(losses.L) <= 2 for t in range(1 if run.constant else run.steps)
    )


_STABLE = hypothesis("step_size <= 2/L", _stable)  # every theorem for convex losses assumes it


@cache
def _verdicts() -> dict[str, dict[str, str]]:
    file = resources.files("lastiterate") / "proofs_checks" / "verdicts.lock.json"
    found: dict[str, dict[str, str]] = json.loads(file.read_text(encoding="utf-8"))
    return found


def kind_of(claim: str) -> str:
    """Status of a value, from the locked verdict on its claim.

    The status is "bound" if the claim is proved, and "supported" if the evidence has a scope stated in the
    ledger and nothing contradicts the claim outside this scope. Otherwise it is "refuted", "gap" or
    "unknown".
    """
    if claim == GROUPS:
        return "bound"
    known = {"PROVED": "bound", "SUPPORTED": "supported", "REFUTED": "refuted", "GAP": "gap"}
    return known.get(_verdicts().get(claim, {}).get("verdict", ""), "unknown")


def _meets(assumption: Assumption, kind: type[Assumption]) -> bool:
    if kind is Smooth:
        return isinstance(assumption, Holder) and assumption.lam == 1
    return isinstance(assumption, kind)


@dataclass(frozen=True)
class PublishedBound:
    """A theorem of a paper.

    Attributes:
        claim: key of the ledger's claim that decides the theorem; empty if there is none.
        schemes: values of `NoisySGD.sampling` that the theorem covers; empty if its run is not a `NoisySGD`.
        assumptions: kinds of losses that the theorem covers.
        statement: a formula of `lastiterate.symbolic.formulas.published`.
        evaluate: maps run, assumption and order to the smallest value of the statement, rounded up.
        reading: how the paper's quantities are obtained from the run, and which constants are used.
        needs: further hypotheses on the run.
        decays: whether the theorem covers weight decay.
    """

    name: str
    title: str
    claim: str
    schemes: tuple[str, ...]
    assumptions: tuple[type[Assumption], ...]
    statement: Expr
    evaluate: Evaluator
    reading: str
    needs: tuple[Refusal, ...] = ()
    decays: bool = False

    @property
    def kind(self) -> str:
        """Status of the claimed value, see `kind_of`."""
        return kind_of(self.claim)

    @property
    def usable(self) -> bool:
        """Tell whether the claimed value may be used as a bound."""
        return self.kind in USABLE

    def refusal(self, run: NoisySGD, assumption: Assumption) -> str:
        """A hypothesis that the run violates, in words; empty if there is none."""
        if run.sampling not in self.schemes:
            return f"batches that are {' or '.join(self.schemes)}" if self.schemes else "a different algorithm"
        if not any(_meets(assumption, kind) for kind in self.assumptions):
            return f"losses that are {' or '.join(kind.__name__ for kind in self.assumptions)}"
        if run.weight_decay and not self.decays:
            return "a run without weight decay"
        if run.group > 1:
            return "data sets that differ in one sample"
        if not run.constant:
            return "one step_size and noise_std for all steps"
        return next((words for one in (*self.needs, _STABLE) if (words := one(run, assumption))), "")

    def epsilon(self, run: NoisySGD, assumption: Assumption, order: float) -> float:
        """The claimed value, rounded up; inf if the theorem claims nothing.

        Raises:
            InputError: the theorem does not cover this run.
        """
        missing = self.refusal(described_run(self.title, run), assumption)
        if missing:
            raise InputError(
                f"{self.title} needs {missing}, got sampling={run.sampling!r}, "
                f"assumption={type(assumption).__name__}; see lastiterate.numeric.published."
            )
        order = positive("order", order)
        refuse_extreme(self.title, run, assumption)
        return self.evaluate(run, assumption, order)
