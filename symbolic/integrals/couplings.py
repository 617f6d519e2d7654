"""The rules on couplings, Gaussian noise and shifted divergences, and the calculus with all rules.

Within(P, P', z) says W_infinity(P, P') <= z, and then there is a coupling (X, X') of P and P' with |X - X'| <= z almost
surely: couplings within z + 1/k have a weak limit point, by Prokhorov's theorem, and its mass on the closed sets
|x - x'| <= z + 1/k is 1 by the portmanteau theorem. ShiftedDivergence(a, z, P, Q) is the infimum of D_a(P' || Q) over
the laws P' within z of P. All spaces are Euclidean, so that X has a law given X'.
"""

from typing import Final

from sympy import Basic, Dummy, Eq, Expr, Ge, Gt, Lambda, Le, Max, S, Symbol, expand
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.integrals.judgement import Judgement, apply
from lastiterate.symbolic.integrals.language import (
    Along,
    At,
    Close,
    Dirac,
    Gaussian,
    Joint,
    Lift,
    OnBall,
    Parting,
    Supremum,
    Within,
)
from lastiterate.symbolic.integrals.laws import Laws
from lastiterate.symbolic.integrals.names import SUM, one_law
from lastiterate.symbolic.integrals.rules import inequality
from lastiterate.symbolic.integrals.terms import Point
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.kernel.sealed import rule
from lastiterate.symbolic.statement import HolderMove, Image, Lipschitz, Noisy, RenyiDivergence, ShiftedDivergence
from lastiterate.symbolic.vectors import Norm, Vector, inner

ATTAINED: Final = "W_infinity is attained by a coupling (Prokhorov, portmanteau)"


class Calculus(Laws):
    """Every rule."""

    @rule
    def push(self, made: Judgement, maps: tuple[Basic, Basic], distance: Expr, *how: Boolean) -> Judgement:
        """From P, P' within z: h(P), h'(P') within any distance that is at least e(z) + s.

        |h(x) - h(y)| <= e(|x - y|), e increasing, as ``how`` says of h, and |h(x) - h'(x)| <= s for all x, for coupled
        maps (s = 0 where h' is h). Draw (X, X') from a coupling and the maps independently of it:
        |h(X) - h'(X')| <= |h(X) - h(X')| + |h(X') - h'(X')| <= e(z) + s.
        """
        (one, other), (first, second, z) = maps, self._within(made)
        far, apart = None, S.Zero if one == other else None
        sound: list[Boolean] = []
        for condition in how:
            if isinstance(condition, Lipschitz) and condition.args[0] == one:
                far = condition.args[1] * z
            elif isinstance(condition, HolderMove) and condition.args[0] == one:
                far = z + condition.args[1] * z ** condition.args[2]
                sound = [Ge(condition.args[1], 0), Gt(condition.args[2], 0)]  # it grows with z
            elif isinstance(condition, Close) and condition.args[:2] == (one, other):
                apart = condition.args[2]
        if far is None or apart is None:
            raise UnprovedError(f"To couple {maps} needs how far they move points, got {how}.")
        says = Within(Image(one, first), Image(other, second), distance)
        return apply(self, "push", says, (made,), (Ge(distance, far + apart), *sound), (ATTAINED,), how)

    @rule
    def part(self, made: Judgement, kernel: Symbol, a: Expr, z: Expr, variance: Expr) -> Judgement:
        """From P, P' within b <= z + a: P with Gaussian noise is within z of X' + (noise - H), |H| <= a.

        For a coupling (X, X') let H = (X' - X) min(1, a/|X' - X|), so |H| <= a. Then X' - H + noise and X + noise are
        |X' - X - H| = max(|X' - X| - a, 0) <= z apart. The kernel stands for the law of -H given X', and the noise is
        independent.
        """
        first, second, b = self._within(made)
        if not isinstance(kernel, Symbol):
            raise UnprovedError(f"A part needs a letter for its kernel, got {kernel}.")
        moved = Image(SUM, Joint(second, noisy(kernel, variance)))
        length = Dummy("h", nonnegative=True)
        hidden = inequality(Max(length - a, 0), z)
        chosen = Parting(kernel, first, second, a)
        says = Within(Noisy(first, variance), moved, z)
        signs = (Ge(a, 0), Ge(z, 0))
        return apply(
            self, "part", says, (made,), signs, (ATTAINED,), (chosen,), within=(Le(length, b),), inner=(hidden,)
        )

    @rule
    def parted(self, made: Judgement, chosen: Boolean) -> Judgement:
        """The kernel of `part` is on the ball of radius a at every point, so what holds for laws there holds for it."""
        kernel, *_, radius = chosen.args
        balls = {one for one in made.given if isinstance(one, OnBall) and isinstance(one.args[0], At)}
        balls = {one for one in balls if one.args[0].args[0] == kernel and one.args[1] == radius}
        if not isinstance(chosen, Parting) or len(balls) != 1:
            raise UnprovedError(f"A law on the ball of radius {radius} is needed, got {made.given}.")
        return apply(self, "parted", made.says, (made,), supposed=(chosen,), discharged=balls)

    @rule
    def forget(self, made: Judgement, chosen: Boolean) -> Judgement:
        """The kernel of `part` exists wherever the two laws are within some distance; it is named no more."""
        kernel, first, second, radius = chosen.args
        within = any(isinstance(one, Within) and one.args[:2] == (first, second) for one in made.given)
        named = made.says.free_symbols.union(*(one.free_symbols for one in made.given - {chosen}))
        if not isinstance(chosen, Parting) or not within or not isinstance(kernel, Symbol) or kernel in named:
            raise UnprovedError(f"The kernel {kernel} is still named in {made}, or its laws are not within a distance.")
        return apply(self, "forget", made.says, (made,), (Ge(radius, 0),), discharged=(chosen,))

    @rule
    def competitor(self, made: Judgement, law: Basic, order: Expr) -> Judgement:
        """From P, P' within z: D^(z)(P || Q) <= D(P' || Q), as the infimum is over such laws."""
        first, second, z = self._within(made)
        left, right = ShiftedDivergence(order, z, first, law), RenyiDivergence(order, second, law)
        return apply(self, "competitor", inequality(left, right), (made,))

    @rule
    def infimum(self, made: Judgement, within: Boolean) -> Judgement:
        """From L <= D(P' || Q) + r for every P' within z of P: L <= D^(z)(P || Q) + r. P' is a letter."""
        first, letter, z = within.args
        divergences = [one for one in made.right.atoms(RenyiDivergence) if one.args[1] == letter]
        if not isinstance(within, Within) or within not in made.given or len(divergences) != 1:
            raise UnprovedError(f"An infimum over {letter} needs one divergence of it, got {made}.")
        (divergence,) = divergences
        rest = made.right - divergence
        named = (made.left, rest, first, z, divergence.args[2], *(made.given - {within}))
        if not isinstance(letter, Symbol) or any(letter in one.free_symbols for one in named):
            raise UnprovedError(f"An infimum over {letter} needs {letter} nowhere else, got {made}.")
        bound = ShiftedDivergence(divergence.args[0], z, first, divergence.args[2])
        return apply(self, "infimum", inequality(made.left, bound + rest), (made,), discharged=(within,))

    @rule
    def gaussian(self, point: Point, radius: Expr, variance: Expr, order: Expr) -> Judgement:
        """D(N(h, v I) || N(0, v I)) <= a r^2 / (2 v) for |h| <= r, in every dimension.

        a |y-h|^2 + (1-a) |y|^2 = |y - a h|^2 + c |h|^2 with the number c = a (1-a) that is computed here, so the power
        p^a q^(1-a) is the density of N(a h, v I) times exp(-c |h|^2 / (2 v)): D = -c |h|^2 / (2 v (a-1)).
        """
        y, h = Vector("y"), Vector("h")
        square = expand(order * inner(y - h, y - h) + (1 - order) * inner(y, y) - inner(y - order * h, y - order * h))
        c = square.coeff(Norm(h), 2)
        if expand(square - c * Norm(h) ** 2) != 0:
            raise UnprovedError("The square was not completed.")
        price = (-c / (2 * variance * (order - 1))).factor()
        pair = Gaussian(point, variance), Gaussian(S.Zero, variance)
        says = inequality(RenyiDivergence(order, *pair), price * radius**2)
        conditions = (Ge(price, 0), Ge(radius, 0), Gt(variance, 0))
        return apply(self, "gaussian", says, (), conditions, supposed=(Le(Norm(point), radius),))

    @rule
    def rewrite(self, made: Judgement, old: Basic, new: Basic) -> Judgement:
        """One name of a law for another, where `names.one_law` has both; it supposes that the maps are defined."""
        if not (one_law(old, new) or one_law(new, old)):
            raise UnprovedError(f"Two names of one law are needed, got {old} and {new}.")
        maps = old.atoms(Lift, Along) | new.atoms(Lift, Along)
        if any(set(one.args[1:2]) & (old.free_symbols | new.free_symbols) for one in made.says.atoms(Supremum)):
            raise UnprovedError(f"To rewrite {old} needs its letters, but {made} ranges over one.")
        defined = {(Le if isinstance(one, Lift) else Eq)(Norm(one.args[0]), one.args[1]) for one in maps}
        return apply(self, "rewrite", made.says.xreplace({old: new}), (made,), supposed=defined)

    @rule
    def extremum(self, upper: Judgement, lower: Judgement, ball: Boolean, vector: Symbol) -> Judgement:
        """From f(P) <= B for every law P on a ball, and B <= f of the point v with |v| = R: the supremum of f is B.

        Such a point exists, and its law is on the ball.
        """
        (letter, radius), there = ball.args, Eq(Norm(vector), ball.args[1])
        at_point = upper.left.xreplace({letter: Dirac(vector)})
        if not isinstance(ball, OnBall) or ball not in upper.given or there not in lower.given:
            raise UnprovedError(f"A supremum over the ball of radius {radius} is needed, got {upper} and {lower}.")
        rest = (upper.right, *(upper.given - {ball}), *(lower.given - {there}))
        if (lower.left, lower.right) != (upper.right, at_point) or any(
            one.free_symbols & {letter, vector} for one in rest
        ):
            raise UnprovedError(f"A supremum needs {upper.right} <= {at_point}, got {lower}.")
        says = Eq(Supremum(upper.left, letter, ball), upper.right, evaluate=False)
        return apply(self, "extremum", says, (upper, lower), (Gt(radius, 0),), discharged=(ball, there))

    @staticmethod
    def _within(made: Judgement) -> tuple[Basic, Basic, Expr]:
        if not isinstance(made.says, Within):
            raise UnprovedError(f"Laws within a distance are needed, got {made}.")
        first, second, z = made.says.args
        return first, second, z


def noisy(kernel: Symbol, variance: Expr) -> Lambda:
    """The kernel x -> law of a draw from kernel(x) plus Gaussian noise."""
    x = Point("x")
    return Lambda(x, Noisy(At(kernel, x), variance))
