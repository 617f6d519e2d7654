"""Privacy of noisy gradient descent with smooth losses, full batches.

Statement    The last iterate is (alpha, epsilon)-RDP with epsilon = alpha / (2 sigma^2) times the minimum
             over tau and beta of sum s^2 / beta_t + Delta_tau^2 / sum (1 - beta_t) c^(-2 (t - tau + 1)),
             Delta_tau = min(s sum c^t, 2 eta K tau, D), s = 2 eta K / n.
Assumptions  alpha > 1, gradients clipped at K, domain of diameter D, batches full, and one of
             L-smooth: c = 1 + eta L;
             convex, L-smooth, K-Lipschitz, eta <= 2/L: c = 1;
             m-strongly convex, L-smooth, K-Lipschitz, eta <= 1/L: c = 1 - eta m.
Derivation   See `proof_3_1` for the steps (one of them a gap), `theorem_3_1_shares` for the best beta, and
             `theorem_3_1_direct` for a proof without the gap, which gives the same or less.
Source       Chien & Li 2025, Theorem 3.1, (3)-(4).
Remark       At tau = 0 the second term is 0 / sum (1 - beta), zero, so beta = 1 gives composition, T s^2.
             Every bound here is attacked with exactly solvable runs, in both directions of the divergence.
"""

from sympy import Expr, Symbol

from lastiterate.symbolic.chien_li.paper import LINEAR, QUADRATIC, at
from lastiterate.symbolic.claim import Claim, Engine, Mutant, Relation, Role, UpperBound
from lastiterate.symbolic.notation import K, L, T, alpha, eta, m, n, sigma

__all__ = ["CLAIMS", "altered"]


def altered(bound: str, witnesses: tuple[str, ...], **named: tuple[dict[Symbol, Expr], str]) -> tuple[Mutant, ...]:
    """Mutants of an upper bound: the evaluator is given other parameters than the run has."""
    return tuple(
        Mutant(text, UpperBound(bound, witnesses, change, name), Engine.WITNESS)
        for name, (change, text) in named.items()
    )


_wrong = {
    "factor_two": ({K: K / 2}, "factor two dropped in 2 eta K / n"),
    "one_step_less": ({T: T - 1}, "T - 1 for T"),
    "noise": ({sigma: 2 * sigma}, "noise counted twice"),
}

CLAIMS = (
    Claim(
        key="chien_li/theorem_3_1/smooth",
        title="(3) bounds the Renyi divergence for L-smooth losses, c = 1 + eta L",
        source=at(94, "Theorem 3.1", "(3)"),
        assumptions=(alpha > 1,),
        checks=(UpperBound("chien_li_3_1_smooth", (LINEAR, QUADRATIC), name="smooth"),),
        mutants=altered(
            "chien_li_3_1_smooth",
            (LINEAR, QUADRATIC),
            **_wrong,
            samples=({n: 2 * n}, "as if there were 2 n samples"),
            order=({alpha: alpha / 2}, "alpha / 2 for alpha"),
        ),
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="chien_li/theorem_3_1/convex",
        title="(3) bounds the Renyi divergence for convex losses, c = 1",
        source=at(99, "Theorem 3.1", "(3)"),
        assumptions=(alpha > 1, eta * L <= 2),
        checks=(UpperBound("chien_li_3_1_convex", (LINEAR, QUADRATIC), name="convex"),),
        mutants=altered("chien_li_3_1_convex", (LINEAR, QUADRATIC), **_wrong),
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="chien_li/theorem_3_1/strongly_convex",
        title="(3) bounds the Renyi divergence for strongly convex losses, c = 1 - eta m",
        source=at(99, "Theorem 3.1", "(3)"),
        assumptions=(alpha > 1, m <= L, eta * L <= 1),
        checks=(UpperBound("chien_li_3_1_strongly_convex", (QUADRATIC,), name="strongly convex"),),
        mutants=altered(
            "chien_li_3_1_strongly_convex",
            (QUADRATIC,),
            factor_two=({K: K / 2}, "factor two dropped in 2 eta K / n"),
            noise=({sigma: 2 * sigma}, "noise counted twice"),
            contraction=({m: 4 * m}, "four times the strong convexity"),
        ),
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="chien_li/theorem_3_1/composition",
        title="Composition: alpha T s^2 / (2 sigma^2), the baseline that releases every iterate",
        source=at(13, "Section 1", "standard composition"),
        assumptions=(alpha > 1,),
        checks=(UpperBound("composition", (LINEAR, QUADRATIC), name="composition"),),
        mutants=altered("composition", (LINEAR, QUADRATIC), **_wrong),
        role=Role.OURS,
        relation=Relation.TIGHT,
    ),
)
