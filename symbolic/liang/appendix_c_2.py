"""C.2, the trade-off of privacy and utility without projection.

Statement    Squared gradient norms of O(max{X, sigma_SGD^(4/3) X^(1/3)}), X = dim L log(1/delta)/(epsilon n)^2.
Assumptions  eta <= 1/(9 L) from Lemma 3.7; the strengthened privacy bound (42).
Derivation   Choose T, then K and eta, and put them in.
Source       Liang et al., C.2, (83)-(93).
Remark       chi = log(1/delta). x = sqrt(dim L chi), y = epsilon n, so that X = x^2/y^2.
"""

from sympy import Expr, Integer, Rational, diff

from lastiterate.symbolic.claim import Claim, Identity, Inequality, Ours, Step
from lastiterate.symbolic.liang.paper import at
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
        "liang/appendix_c_2/conversion",
        "(83): alpha = 1 + 2 chi/epsilon at RDP epsilon/2 is (epsilon, delta)-DP, and alpha/(eps/2) <= 8 chi/eps^2",
        at("C.2", "above (83)"),
        Identity(epsilon / 2 + chi / (2 * chi / epsilon), epsilon, "Lemma 2.4"),
        Inequality(
            (1 + 2 * chi / epsilon) / (epsilon / 2),
            "<= and attained",
            8 * chi / epsilon**2,
            (epsilon <= 2 * chi,),
            "rate",
        ),
        assumptions=(epsilon > 0,),
    ),
    Step(
        "liang/appendix_c_2/steps",
        "(85): T = epsilon n/(eta K sqrt(dim L chi)) makes the terms of (84) equal in pairs",
        at("C.2", "(85)"),
        Identity(1 / (eta * K * _steps) ** 2, _X, "first"),
        Identity(1 / (eta * _steps), K * u / v, "second").mutant("T squared", left=1 / (eta * _steps**2)),
        Identity(u**4 * (eta * K * _steps) ** 2 / v**4, _X, "fifth"),
        Identity(u**2 * eta * _steps * K**2 / v**2, K * u / v, "sixth"),
    ),
    Step(
        "liang/appendix_c_2/small_noise",
        "(87), (88): K = sqrt(dim L chi)/(epsilon n), eta = b/L give X and T = epsilon^2 n^2/(b dim chi)",
        at("C.2", "(88)"),
        Identity(_small_clip * u / v, _X, "(87)"),
        Identity(_names(_at(_steps, _small_clip, b / L)), epsilon**2 * n**2 / (b * dim * chi), "(88)"),
        assumptions=_positive,
    ),
    Step(
        "liang/appendix_c_2/step_size",
        "eta = Theta(b/L) meets the precondition eta <= 1/(9 L) of Lemma 3.7, for some constant and every b",
        at("C.2", "below (86)"),
        Inequality(r * b / L, "<=", 1 / (9 * L), (r <= Rational(1, 9),), "constant r <= 1/9").mutant(
            "r = 1", left=b / L, given=()
        ),
        assumptions=(L > 0,),
        remark="""C.2 sets eta = Theta(b/L) after a bound that needs eta <= 1/(9 L). A constant r that serves all batch
        sizes would have to be at most 1/(9 b); r = 1/9 fails already at b = 2. With eta = 1/(9 L) the trade-off
        stands, since eta L sigma^2/b only falls, at b times the steps of (88).""",
    ),
    Ours(
        "liang/appendix_c_2/step_size_repaired",
        "eta = 1/(9 L) meets the precondition, keeps the sampling term below that of b/L, and "
        "takes 9 b times the steps",
        at("C.2", "below (86)"),
        Inequality(sigma_sgd**2 / (9 * b), "<=", sigma_sgd**2, name="eta L sigma^2/b").mutant(
            "a tenth", left=sigma_sgd**2 / b, right=sigma_sgd**2 / 10
        ),
        Inequality(1 / (9 * L), "<", r * b / L, (9 * r * b > 1,), "no r serves every b"),
        Identity(_steps.subs(eta, 1 / (9 * L)), 9 * b * _steps.subs(eta, b / L), "steps").mutant(
            "as many steps", right=_steps.subs(eta, b / L)
        ),
        assumptions=(L > 0,),
        repairs="liang/appendix_c_2/step_size",
    ),
    Step(
        "liang/appendix_c_2/large_noise",
        "(90)-(92): the best K, and with it the rate sigma^(4/3) X^(1/3), eta and T",
        at("C.2", "(90)"),
        Identity(
            diff(K * u / v + sigma_sgd**4 / K**2, K).subs(K, 2**_third * _large_clip), Integer(0), "g'(K) = 0"
        ).mutant("K itself stationary", left=diff(K * u / v + sigma_sgd**4 / K**2, K).subs(K, _large_clip)),
        Identity(_large_clip * u / v, sigma_sgd ** (4 * _third) * _X**_third, "(90), first term"),
        Identity(sigma_sgd**4 / _large_clip**2, sigma_sgd ** (4 * _third) * _X**_third, "(90), second term"),
        Identity(_large_eta * L * sigma_sgd**2 / b, sigma_sgd ** (4 * _third) * _X**_third, "(91)"),
        Identity(
            _at(_steps, _large_clip, _large_eta),
            v ** (4 * _third) * L / (b * u ** (4 * _third) * sigma_sgd ** (2 * _third)),
            "(92)",
        ),
        assumptions=_positive,
    ),
)
