"""Iterations X_{j+1} = phi_j(X_j) + Z_j of two runs with close Lipschitz maps: shifts and distances.

The maps can be random and coupled so that phi_j and phi'_j are at most s_j apart at every point; each pair of
maps is revealed and averaged over. A projection of both states is such a pair.
"""

from lastiterate.symbolic.derivations.losses import *
from lastiterate.symbolic.kernel.prelude import *
from lastiterate.symbolic.notation import D, K, T, b, c, eta, n, sensitivity, sigma, tau, w

_z, _z_m, _A, A, _a, _s, _v, _k = symbols("z_j z_m A_j A a_j s_j v_j k_j", real=True)
_near = Symbol("z", nonnegative=True)
_distance, D_T = symbols("D_t D_T", real=True)
"""A is the sum of a_j^2 / v_j for shifts a_j and noise variances v_j, and D_T is the distance after T steps."""
factor: Final = Symbol("c", nonnegative=True)
"""The Lipschitz constant of the maps, which can be 0."""


@rule
def _maps(constant: Expr, apart: Expr) -> Expansion:
    """Two ``constant``-Lipschitz maps with values at most ``apart`` from each other."""
    says = "the map of a step is Lipschitz with the first constant in both runs, at most the second apart"
    supposed = frozenset({Hypothesis(says, (constant, apart))})
    signs = (Ge(constant, 0), Ge(apart, 0))
    return shown(
        Expansion(_near, constant * _near + apart, Guide.OTHER, ("ours/expansions/maps",), supposed, signs)
    )


def _shifted(constant: Expr, begins: Expr, start: Expr, steps: Expr, kernel: Kernel) -> Guarantee:
    """mu^2 = A for the last ``steps``, with real a_j, z_0 = 0 or D, z_{j+1} = c z_j + s_j - a_j >= 0, and z_m = 0."""
    after = constant * _z + _s - _a
    run = StepInduction(
        kernel,
        j,
        steps,
        (Sequence(_z, start, after, _z_m), Sequence(_A, S.Zero, _A + _a**2 / _v, A)),
        keeps=(Ge(_z, 0), Ge(_A, 0)),
        letters=(_a, _s, _v),
        laws=(Gt(_v, 0), Ge(_s, 0), Ge(after, 0)),
        ends=(Eq(_z_m, 0),),
    )

    maps, shift = Variable("the maps of both runs", begins + j), gaussian_shift(Abs(_a), _v, _a**2 / _v)
    step = each_step(begins, _maps(constant, _s), shift, _v, drawn=maps)
    hidden = run.close(run.span(begins, _z, Gauss(_A), step, far=S.Zero))
    if start != 0:
        hidden = kernel.chain(kernel.apart(Order.FIRST, (S.Zero, begins), start), hidden)
    return both_orders(kernel, hidden)


@rule
def _least(one: Expansion, other: Expansion) -> Expansion:
    if (one.guide, one.z, one.step) != (other.guide, other.z, other.step):
        raise UnprovedError(f"Two bounds need the same guide, letter and step, got {one} and {other}.")
    least = replace(
        one,
        after=Min(one.after, other.after),
        lemmas=(*one.lemmas, *other.lemmas),
        hypotheses=one.hypotheses | other.hypotheses,
        conditions=(*one.conditions, *other.conditions),
    )
    return shown(least, one, other)


@rule
def _moved() -> Expansion:
    """The c-Lipschitz maps of full batches; a replaced sample moves a step by 2 eta K/n."""
    maps, says = _maps(c, sensitivity()), "the map of a step is Lipschitz with this constant in both runs"
    lemmas = (*maps.lemmas, "ours/expansions/sensitivity")
    return shown(
        replace(maps, lemmas=lemmas, hypotheses=frozenset({Hypothesis(says, (c,)), replaced(S.One, n)}))
    )


def _modulus(kernel: Kernel, b: Expr, k: Expr) -> Span:
    """D_t = min(D_{t-1} + eta (b - k)/b omega(D_{t-1}) + 2 eta K k/b, D_{t-1} + 2 eta K), k = 0 or 1."""
    grown = eta * (omega(_near) if b == n else (b - k) / b * omega(_near)) + 2 * eta * K * k / b
    made = _near + Min(grown, 2 * eta * K)
    return _tracked(kernel, no_less(LOSSES["modulus"].other_data(eta, b, k), made), k)


def _tracked(kernel: Kernel, carried: Expansion, k: Expr) -> Span:
    run = StepInduction(
        kernel,
        j,
        T,
        (Sequence(_distance, S.Zero, carried.at(_distance), D_T),),
        keeps=(Ge(_distance, 0),),
        letters=() if k == 1 else (_k,),
        laws=() if k == 1 else (Ge(_k, 0), Le(_k, 1)),
    )
    return run.close(run.span(S.Zero, _distance, Equal(), each_step(S.Zero, carried, no_shift(), sigma**2)))


def _lipschitz_maps(kernel: Kernel) -> Span:
    """D_0 = 0 and D_t = min(c D_{t-1} + s, D_{t-1} + 2 eta K), for full batches and c-Lipschitz maps."""
    clipped = no_less(LOSSES["clipped"].other_data(eta, n, S.One), _near + 2 * eta * K)
    return _tracked(kernel, _least(_moved(), clipped), S.One)


TABLE: Final[dict[str, Derivation]] = {
    "iterations/contractions": partial(_shifted, S.One, S.Zero, S.Zero, T),
    "iterations/contractions, apart": partial(_shifted, S.One, tau, D, w),
    "iterations/Lipschitz, apart": partial(_shifted, factor, tau, D, w),
}

TRACKED: Final[dict[str, Callable[[Kernel], Span]]] = {
    "Lipschitz maps": _lipschitz_maps,
    "modulus": lambda kernel: _modulus(kernel, n, S.One),
    "batches": lambda kernel: _modulus(kernel, b, _k),
    "domain": lambda kernel: kernel.domain(Order.FIRST, (S.Zero, T), S.Zero, D),
}
"""Derivations of bounds on the distance between the last iterates, by the names that claims use."""

fix(__name__)
