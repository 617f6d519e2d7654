"""C.2, the trade-off of privacy and utility without projection.

Statement    Squared gradient norms of O(max{X, sigma_SGD^(4/3) X^(1/3)}), X = dim L log(1/delta)/(epsilon n)^2.
Assumptions  eta <= 1/(9 L) from Lemma 3.7; the strengthened privacy bound (42).
Derivation   Choose T, then K and eta, and put them in.
Source       Liang et al., C.2, (83)-(93).
Remark       chi = log(1/delta). x = sqrt(dim L chi), y = epsilon n, so that X = x^2/y^2.
"""

from sympy import Expr, Integer, Rational, diff

from lastiterate.symbolic.claim import Claim, Identity, Inequality, Relation, Role
from lastiterate.symbolic.liang.paper import at
from lastiterate.symbolic.mutants import wrong
from lastiterate.symbolic.notation import K, L, b, chi, dim, epsilon, eta, n, r, sigma_sgd, u, v

_third = Rational(1, 3)
_steps = v / (eta * K * u)
_X = u**2 / v**2
_small_clip = u / v
_large_clip = sigma_sgd ** (4 * _third) * v**_third / u**_third
_large_eta = b / (L * sigma_sgd ** (2 * _third)) * _X**_third
_positive = (L > 0, epsilon > 0)


def _at(steps: Expr, clip: Expr, step: Expr) -> Expr:
    return steps.subs({eta: step}).subs({K: clip})


def _names(expression: Expr) -> Expr:
    """u^2 = dim L chi, v = epsilon n written out."""
    return expression.subs({u: (dim * L * chi) ** Rational(1, 2), v: epsilon * n})


CLAIMS = (
    Claim(
        key="liang/appendix_c_2/conversion",
        title="(83): alpha = 1 + 2 chi/epsilon at RDP epsilon/2 is (epsilon, delta)-DP, and "
        "alpha/(eps/2) <= 8 chi/eps^2",
        source=at(678, "C.2", "above (83)"),
        assumptions=(epsilon > 0,),
        checks=(
            Identity(epsilon / 2 + chi / (2 * chi / epsilon), epsilon, "Lemma 2.4"),
            Inequality(
                (1 + 2 * chi / epsilon) / (epsilon / 2),
                Relation.TIGHT,
                8 * chi / epsilon**2,
                (epsilon <= 2 * chi,),
                "rate",
            ),
        ),
        mutants=(
            wrong("epsilon in full", Identity(epsilon + chi / (2 * chi / epsilon), epsilon)),
            wrong(
                "4 for 8",
                Inequality(
                    (1 + 2 * chi / epsilon) / (epsilon / 2),
                    Relation.AT_MOST,
                    4 * chi / epsilon**2,
                    (epsilon <= 2 * chi,),
                ),
            ),
        ),
    ),
    Claim(
        key="liang/appendix_c_2/steps",
        title="(85): T = epsilon n/(eta K sqrt(dim L chi)) makes the terms of (84) equal in pairs",
        source=at(688, "C.2", "(85)"),
        checks=(
            Identity(1 / (eta * K * _steps) ** 2, _X, "first"),
            Identity(1 / (eta * _steps), K * u / v, "second"),
            Identity(u**4 * (eta * K * _steps) ** 2 / v**4, _X, "fifth"),
            Identity(u**2 * eta * _steps * K**2 / v**2, K * u / v, "sixth"),
        ),
        mutants=(
            wrong("T squared", Identity(1 / (eta * _steps**2), K * u / v)),
            wrong("u for u^2", Identity(u * eta * _steps * K**2 / v**2, K * u / v)),
        ),
        role=Role.STEP,
    ),
    Claim(
        key="liang/appendix_c_2/small_noise",
        title="(87), (88): K = sqrt(dim L chi)/(epsilon n), eta = b/L give X and T = epsilon^2 n^2/(b dim chi)",
        source=at(706, "C.2", "(88)"),
        assumptions=_positive,
        checks=(
            Identity(_small_clip * u / v, _X, "(87)"),
            Identity(_names(_at(_steps, _small_clip, b / L)), epsilon**2 * n**2 / (b * dim * chi), "(88)"),
        ),
        mutants=(
            wrong("L kept", Identity(_names(_at(_steps, _small_clip, b / L)), epsilon**2 * n**2 * L / (b * dim * chi))),
            wrong("K squared", Identity(_small_clip**2 * u / v, _X)),
        ),
        role=Role.STEP,
    ),
    Claim(
        key="liang/appendix_c_2/step_size",
        title="eta = Theta(b/L) meets the precondition eta <= 1/(9 L) of Lemma 3.7, for some constant and every b",
        source=at(698, "C.2", "below (86)"),
        assumptions=(L > 0,),
        checks=(Inequality(r * b / L, Relation.AT_MOST, 1 / (9 * L), (r <= Rational(1, 9),), "constant r <= 1/9"),),
        mutants=(wrong("r = 1", Inequality(b / L, Relation.AT_MOST, 1 / (9 * L))),),
        role=Role.STEP,
        relation=Relation.AT_MOST,
        remark=(
            "C.2 sets eta = Theta(b/L) after a bound that needs eta <= 1/(9 L). A constant r that serves "
            "all batch sizes "
            "would have to be at most 1/(9 b); r = 1/9 fails already at b = 2. "
            "With eta = 1/(9 L) the trade-off stands, since eta L sigma^2/b only falls, at b times the steps of (88)."
        ),
    ),
    Claim(
        key="liang/appendix_c_2/step_size_repaired",
        title="eta = 1/(9 L) meets the precondition, keeps the sampling term below that of b/L, and "
        "takes 9 b times the steps",
        source=at(698, "C.2", "below (86)"),
        assumptions=(L > 0,),
        checks=(
            Inequality(sigma_sgd**2 / (9 * b), Relation.AT_MOST, sigma_sgd**2, name="eta L sigma^2/b"),
            Inequality(1 / (9 * L), Relation.BELOW, r * b / L, (9 * r * b > 1,), "no r serves every b"),
            Identity(_steps.subs(eta, 1 / (9 * L)), 9 * b * _steps.subs(eta, b / L), "steps"),
        ),
        mutants=(
            wrong("as many steps", Identity(_steps.subs(eta, 1 / (9 * L)), _steps.subs(eta, b / L))),
            wrong("a tenth", Inequality(sigma_sgd**2 / b, Relation.AT_MOST, sigma_sgd**2 / 10)),
        ),
        role=Role.OURS,
        repairs="liang/appendix_c_2/step_size",
    ),
    Claim(
        key="liang/appendix_c_2/large_noise",
        title="(90)-(92): the best K, and with it the rate sigma^(4/3) X^(1/3), eta and T",
        source=at(714, "C.2", "(90)"),
        assumptions=_positive,
        checks=(
            Identity(
                diff(K * u / v + sigma_sgd**4 / K**2, K).subs(K, 2**_third * _large_clip), Integer(0), "g'(K) = 0"
            ),
            Identity(_large_clip * u / v, sigma_sgd ** (4 * _third) * _X**_third, "(90), first term"),
            Identity(sigma_sgd**4 / _large_clip**2, sigma_sgd ** (4 * _third) * _X**_third, "(90), second term"),
            Identity(_large_eta * L * sigma_sgd**2 / b, sigma_sgd ** (4 * _third) * _X**_third, "(91)"),
            Identity(
                _at(_steps, _large_clip, _large_eta),
                v ** (4 * _third) * L / (b * u ** (4 * _third) * sigma_sgd ** (2 * _third)),
                "(92)",
            ),
        ),
        mutants=(
            wrong(
                "K itself stationary",
                Identity(diff(K * u / v + sigma_sgd**4 / K**2, K).subs(K, _large_clip), Integer(0)),
            ),
            wrong(
                "power 2/3 of u",
                Identity(
                    _at(_steps, _large_clip, _large_eta),
                    v ** (4 * _third) * L / (b * u ** (2 * _third) * sigma_sgd ** (2 * _third)),
                ),
            ),
        ),
        role=Role.STEP,
    ),
)
