"""Batches in cyclic order: when they hold the sample that differs, and how its visits are paid for one by one."""

from sympy import Eq, Expr, Ge, Gt, Le, S, Symbol, symbols

from lastiterate.symbolic.kernel.applied import apply
from lastiterate.symbolic.kernel.induction import Induction, Sequence
from lastiterate.symbolic.kernel.judgement import Hypothesis, Span, UnprovedError, record
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.kernel.sealed import genuine, rule

p, _p_m, k, u, U, _U_m, Q, _Q_m = symbols("p_j p_m k_j u_j U_j U Q_j Q", real=True)
"""At step j: what is owed, whether the batch holds the sample, what is paid, and the sums of that and of its square."""


def paid(kernel: Kernel, index: Symbol, count: Expr, visit: Expr) -> Induction:
    """An induction in which a visit adds ``visit`` to what is owed, some of which a step pays; all at the end."""
    left = p + k * visit - u
    return Induction(
        kernel,
        index,
        count,
        (Sequence(p, S.Zero, left, _p_m), Sequence(U, S.Zero, U + u, _U_m), Sequence(Q, S.Zero, Q + u**2, _Q_m)),
        keeps=(Ge(p, 0), Ge(U, 0), Ge(Q, 0)),
        letters=(k, u),
        laws=(Ge(k, 0), Le(k, 1), Ge(u, 0), Ge(left, 0)),
        ends=(Eq(_p_m, 0),),
    )


@rule
def cyclic(kernel: Kernel, steps: Induction, made: Span, batch: tuple[Expr, Expr]) -> Span:
    """Payments in cyclic order, r = n/b to a visit: U <= m + r and Q <= m + 2 r + r^2 after m steps.

    Step t takes the samples number t b, ..., t b + b - 1 modulo n, b <= n. Let x_j = i - t b modulo n for sample i at
    step t, the j-th of the m: the batch holds i, k_j = 1, where x_j < b, and x_{j+1} = x_j - b + n k_j. Summed up,
    U = r sum k_j = m + (x_m - x_0)/b <= m + r, if all is paid in the end.
    Pay nothing before the first visit, then r - x_{j+1}/b at it, which is in (0, 1] because n - b <= x_{j+1} < n, and
    leaves p_{j+1} = x_{j+1}/b; then u = 1, which keeps p = x/b >= 0; and at the last visit all, p + r < 1 + r for
    x < b there, and no more after it. A visit that is the first and the last is paid at once. So one payment is at
    most 1 + r, and no other of the m exceeds 1.
    """
    if not genuine(steps):
        raise UnprovedError("Payments are those of an induction that was made as one.")
    b, n = batch
    of_steps = {p, k, u, U, Q, _p_m, _U_m, _Q_m}
    meant = steps.supposed(Hypothesis("so many of so many samples of a batch are replaced: one or none", (k, b)))
    others = made.hypotheses - meant
    spoken = (made.near, made.far, made.start, made.end, *made.given, *(c for one in others for c in one.constants))
    if not meant <= made.hypotheses or of_steps & set().union(*(one.free_symbols for one in spoken)):
        raise UnprovedError("Payments are chosen where nothing but the profile speaks of them.")
    r, m = n / b, steps.count
    most = {_U_m: m + r, _Q_m: m + 2 * r + r**2}
    within = kernel.under(*(Le(letter, bound) for letter, bound in most.items()), Ge(_U_m, 0), Ge(_Q_m, 0))
    less = within.weaken(made, profile=made.profile.subs(most))
    order = Hypothesis("step t takes so many samples, from number t times that on, modulo so many in all", (b, n))
    shown = apply(kernel, "cyclic", made.order, (made.start, made.end), (made.near, made.far), less.profile,
                         (Gt(b, 0), Le(b, n)), (), {*others, order})  # fmt: skip
    return record(shown, premises=(less,), given=kernel.given | made.given, scope=made.scope, drawn=made.drawn)
