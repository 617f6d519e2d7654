"""Derivations for full batches and equal steps, as theorems in the letters of a statement."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from sympy import Basic, Eq, Expr, S, Symbol, symbols
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.engines.derivation import derive
from lastiterate.symbolic.checks import Derived
from lastiterate.symbolic.derivations.losses import LOSSES, omega, replaced
from lastiterate.symbolic.kernel.judgement import End, Hypothesis, Law, Meaning, UnprovedError
from lastiterate.symbolic.kernel.profiles import Gauss
from lastiterate.symbolic.notation import D, K, L, T, b, eta, lam, m, n, sensitivity, sigma, t, tau, w
from lastiterate.symbolic.statement import (
    OTHER,
    SAMPLES,
    Clipped,
    Convex,
    Diameter,
    FullBatches,
    Holder,
    Neighbours,
    Smooth,
    StronglyConvex,
)

_EVERY: Final = "at every step j of the next number of steps "
STEP: Final = Symbol("j", integer=True, nonnegative=True)
AT_STEP: Final = symbols("z_j z_next a_j", real=True)
"""A step of the window, and at it the distance, that after it, and the shift."""
_z, _next, _a = AT_STEP
_k, _v, _eta = symbols("k_j v_j eta_j", real=True)
_FULL: Final = {b: n, _k: S.One, _v: sigma**2, _eta: eta, w: T - tau, omega(_z): L * _z**lam}
"""Letters of derivations, for full batches, equal steps and Hoelder continuous gradients."""

CLASSES: Final[Mapping[str, set[Basic]]] = {
    "clipped": {Clipped(K)},
    "smooth": {Smooth(L), Clipped(K)},
    "Hoelder": {Holder(L, lam), Clipped(K)},
    "modulus": {Holder(L, lam), Clipped(K)},
    "convex": {Convex(L, K)},
    "strongly convex": {StronglyConvex(m, L, K)},
}
"""The conditions of a statement that grant what a derivation supposes of its class of losses."""


class Theorem(NamedTuple):
    """A derived theorem about full batches and equal steps, in the letters of a statement.

    Attributes:
        square: the bound of mu^2.
        sums: the letters in it that stand for a sum over the steps of a window, with the summand at step j.
        laws: what it supposes of every step of a number of them: of the window, of those before it, or of all T.
        start: the distance at the beginning of its window, where it has shifts.
        hypotheses: what else it supposes of the runs.
        given: what it supposes of the numbers.
    """

    square: Expr
    sums: Mapping[Symbol, Expr]
    laws: tuple[tuple[Expr, Relational], ...]
    start: Expr | None
    hypotheses: tuple[Hypothesis, ...]
    given: frozenset[Boolean]


def read(check: Derived, assumptions: tuple[Boolean, ...], meant: Mapping[Basic, Expr]) -> Theorem:
    """A derivation for full batches and equal steps, put into the letters of a statement."""
    if not isinstance(check.profile, Gauss):
        raise UnprovedError("a Gaussian profile is needed")
    made = derive(check.derivation, frozenset(assumptions)).first
    put = {**meant, **_FULL}
    if made.end.subs(w, T - tau) not in {T, T + t}:  # the domain is known from any step t on
        raise UnprovedError(f"laws after T steps are needed, got {made.end}")
    distances, sums, others = list[Expr](), dict[Symbol, Expr](), list[Hypothesis]()
    laws, ends, hidden = list[tuple[Expr, Relational]](), set[Boolean](), set[Boolean]()
    for one in made.hypotheses:
        if type(one) is Meaning and len(one.constants) == 4:
            letter, (first, after, count, last) = one.says.partition(",")[0], one.constants
            term = after - Symbol(letter, real=True)
            if first == 0 and Symbol(letter, real=True) not in term.free_symbols and letter[0] != "z":
                if count == w or (count == T and term.subs(_a, 0) == 0):
                    sums[last] = term.subs(put)
            elif first in (S.Zero, D):  # else it is tracked before
                distances.append(first)
            if (Symbol(letter, real=True), after) == (_z, _next):
                hidden.add(Eq(last, 0))
        elif type(one) is Law and len(one.constants) == 2:
            laws.append((one.constants[0], one.constants[1].subs(put)))
        elif type(one) is End:
            ends.add(one.constants[0])
        elif type(one) is not Hypothesis or one.bounds or one.lemma:
            raise UnprovedError(f"it is not known how a statement would suppose that {one}")
        else:
            says, constants = one.says.removeprefix(_EVERY), one.constants
            others.append(Hypothesis(says, constants[1:] if says != one.says else constants))
    square = check.profile.square
    start = distances[0] if distances else None
    if ends - hidden:  # what a path hides, of which the statement says so
        raise UnprovedError(f"it is not known how a statement would suppose that {sorted(map(str, ends))}")
    classes = {(losses.says, losses.constants) for losses in LOSSES.values()}
    kept = tuple(
        one
        if (one.says, one.constants) in classes
        else Hypothesis(one.says, tuple(part.subs(put) for part in one.constants))
        for one in others
    )
    given = frozenset(condition.subs(meant) for condition in made.given)
    return Theorem(square.subs(put), sums, tuple(laws), start, kept, given)


def needs(hypothesis: Hypothesis) -> set[Basic]:
    """The conditions of a statement that grant a hypothesis.

    Raises:
        UnprovedError: none is known to.
    """
    for classes, conditions in CLASSES.items():
        losses = LOSSES[classes]
        if hypothesis == Hypothesis(losses.says, losses.constants):
            return conditions
    known = {
        Hypothesis("after every step both runs are in one convex set of this diameter", (D,)): {Diameter(D)},
        Hypothesis("independent Gaussian noise of this variance is added in every coordinate", (sigma**2,)): set(),
        replaced(S.One, n): {Neighbours(SAMPLES, OTHER), FullBatches(n)},
        Hypothesis("the maps of the two runs carry one point to points at most this far apart", (sensitivity(),)): {
            Neighbours(SAMPLES, OTHER),
            FullBatches(n),
            Clipped(K),
        },
    }
    if hypothesis not in known:
        raise UnprovedError(f"it is not known which condition grants that {hypothesis}")
    return known[hypothesis]
