"""The informal main result, its (epsilon, delta) form, and footnotes 3 and 4.

Statement    epsilon <~ alpha K^2/(n^2 sigma_DP^2) min{T, D n/(K eta)}, tight up to a constant, "for a large range of
             parameters"; known analyses give T for the minimum; (epsilon, delta) by the conversion.
Assumptions  x = D n/(K eta); w is the T bar of Theorem 3.1, the least whole number with x <= w; v is the factor
             min{..} K^2/(n^2 sigma_DP^2); chi = log(1/delta).
Derivation   (1.1) is Lemma 2.12 at noise b sigma_DP/(2 K), T times. (1.2) is Theorem 3.1 where x >= 1, so that the
             ceiling costs a factor 2. (1.3) is the order 1 + sqrt(chi/v) put into Lemma 2.5.
Source       Altschuler & Talwar 2022, section 1.2.
"""

from sympy import Abs, Expr, Integer, Min, sqrt

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import (
    Asymptotic,
    Claim,
    Identity,
    Inequality,
    Relation,
    Role,
    Unbounded,
    Units,
    UpperBound,
)
from lastiterate.symbolic.mutants import wrong
from lastiterate.symbolic.notation import D, K, T, alpha, b, chi, eta, gamma, growth, kappa, n, sigma_dp, u, v, w, x, z

_step = 2 * alpha * (b / n) ** 2 / (b * sigma_dp / (2 * K)) ** 2
_rate = alpha * K**2 / (n**2 * sigma_dp**2)
_one = Integer(1)


def _gradients(bound: Expr) -> Inequality:
    """Two updates on the batches that hold the different sample, in units of eta."""
    return Inequality(
        Abs(gamma - kappa) / b, Relation.AT_MOST, bound, (Abs(gamma) <= K, Abs(kappa) <= K), "one dimension"
    )


CLAIMS = (
    Claim(
        key="altschuler_talwar/section_1/known_rate",
        title="(1.1): T steps of the sampled Gaussian cost 8 alpha K^2 T/(n^2 sigma_DP^2)",
        source=at(109, "Section 1.2", "(1.1)"),
        checks=(
            Identity(T * _step, 8 * _rate * T, "Lemma 2.12 put in"),
            Asymptotic(T * _step, _rate * T, Integer(8), name="constant 8"),
        ),
        mutants=(
            wrong("noise b sigma/K", Identity(T * _step / 4, 8 * _rate * T)),
            wrong(
                "n for n^2",
                Asymptotic(_step, _rate / n, path=dict.fromkeys((alpha, b, K, sigma_dp), _one) | {n: growth}),
            ),
        ),
        relation=Relation.UP_TO_CONSTANT,
    ),
    Claim(
        key="altschuler_talwar/section_1/theorem_1_3",
        title="(1.2): where D n/(K eta) >= 1 the bound of Theorem 3.1 needs no ceiling",
        source=at(115, "Theorem 1.3", "(1.2)"),
        assumptions=(x <= w, w <= x + 1),
        checks=(
            Asymptotic(Min(T, w), Min(T, x), Integer(2), given=(x >= 1,), name="twice"),
            Asymptotic(Min(T, x), Min(T, w), _one, name="conversely"),
            Unbounded(Min(T, w), Min(T, x), {T: growth, w: _one, x: 1 / growth}, name="not on all domains"),
        ),
        mutants=(
            wrong("any D", Asymptotic(Min(T, w), Min(T, x), path={T: growth, w: _one, x: 1 / growth})),
            wrong("D^2 for D", Asymptotic(Min(T, w), Min(T, sqrt(x)), path={T: growth**4, w: growth**2, x: growth**2})),
        ),
        relation=Relation.UP_TO_CONSTANT,
    ),
    Claim(
        key="altschuler_talwar/section_1/tight_in_the_order",
        title="The lower bound of Theorem 4.1 matches (1.2) at every order",
        source=at(117, "Theorem 1.3"),
        assumptions=(alpha >= 100,),
        checks=(Asymptotic(alpha, Integer(100), path={alpha: 100 + growth}, name="orders above 100"),),
        mutants=(wrong("root of the order", Asymptotic(sqrt(alpha), Integer(10), path={alpha: 100 + growth})),),
        role=Role.STEP,
        relation=Relation.UP_TO_CONSTANT,
        remark=(
            "(1.2) is said to be tight up to a constant, for every order. Theorem 4.1 gives a lower bound at the one "
            "order 100, and the divergence grows with the order, so that at an order alpha above it a factor "
            "alpha/100 is left open. The two match at orders up to a constant."
        ),
    ),
    Claim(
        key="altschuler_talwar/section_1/tight_at_bounded_orders",
        title="At orders from 100 up to a constant the two bounds match",
        source=at(117, "Theorem 1.3"),
        assumptions=(alpha >= 100, alpha <= 1000),
        checks=(Asymptotic(alpha, Integer(100), Integer(10)),),
        mutants=(
            wrong("alpha^2 at growing n", Asymptotic(alpha * n, Integer(100), path={alpha: Integer(100), n: growth})),
        ),
        role=Role.OURS,
        relation=Relation.UP_TO_CONSTANT,
        repairs="altschuler_talwar/section_1/tight_in_the_order",
    ),
    Claim(
        key="altschuler_talwar/section_1/remark_1_4",
        title="(1.3): the best order gives v + 2 sqrt(v chi), at most 3 sqrt(v chi) where v <= 1 <= chi",
        source=at(132, "Remark 1.4", "(1.3)"),
        checks=(
            Identity(
                (1 + sqrt(chi / v)) * v + chi / sqrt(chi / v), v + 2 * sqrt(v * chi), "Lemma 2.5 at 1 + sqrt(chi/v)"
            ),
            Asymptotic(v + 2 * sqrt(v * chi), sqrt(v * chi), Integer(3), given=(v <= 1, chi >= 1)),
        ),
        mutants=(
            wrong("alpha for alpha - 1", Identity((1 + sqrt(chi / v)) * v + chi / sqrt(chi / v), 2 * sqrt(v * chi))),
            wrong("any epsilon", Asymptotic(v + 2 * sqrt(v * chi), sqrt(v * chi), path={v: growth, chi: _one})),
        ),
        relation=Relation.UP_TO_CONSTANT,
    ),
    Claim(
        key="altschuler_talwar/section_1/remark_1_4_range",
        title="The range of delta, exp(-b sigma_DP/n), does not change when the losses are rescaled",
        source=at(130, "Remark 1.4"),
        checks=(
            Identity(b * sigma_dp / K, b * (u * sigma_dp) / (u * K), "losses times u, with b sigma/K"),
            Units(b * sigma_dp / K, _one, name="a number"),
        ),
        misprint=Units(b * sigma_dp / n, _one, name="as printed"),
        mutants=(wrong("b sigma/K^2", Identity(b * sigma_dp / K**2, b * (u * sigma_dp) / (u * K) ** 2)),),
        remark=(
            "delta may be as small as exp(-b sigma/n), it is said. Losses times u with eta/u give the same run, but b "
            "sigma/n is multiplied by u: it is a gradient, not a number. b sigma over the Lipschitz constant, the "
            "noise that Theorem 3.1 speaks of, is a number."
        ),
    ),
    Claim(
        key="altschuler_talwar/section_1/footnote_3",
        title="Footnote 3: one noise in three conventions, by rescaling",
        source=at(119, "Footnote 3"),
        checks=(
            Identity((u * sigma_dp) ** 2, u * (sqrt(u) * sigma_dp) ** 2, "eta^2 sigma^2 = eta (sqrt(eta) sigma)^2"),
        ),
        mutants=(wrong("without the root", Identity((u * sigma_dp) ** 2, u * (u * sigma_dp) ** 2)),),
    ),
    Claim(
        key="altschuler_talwar/section_1/footnote_4",
        title="Footnote 4: updates on adjacent data differ by at most eta K/b where the batch holds the sample",
        source=at(140, "Footnote 4"),
        checks=(
            _gradients(K / b),
            UpperBound("composition", ("linear",), {K: K / 2}, "full batches, T steps that differ by eta K/n"),
        ),
        mutants=(wrong("K/(2 b)", _gradients(K / (2 * b))),),
        relation=Relation.AT_MOST,
        remark=(
            "Footnote 4 has updates on adjacent data sets differ by at most eta K/b. Adjacent means that one sample "
            "is replaced, and opposite gradients of norm K differ by 2 K. The right bound is 2 eta K/b, which (3.5) "
            "and section 5.2 use."
        ),
    ),
    Claim(
        key="altschuler_talwar/section_1/footnote_4_repaired",
        title="They differ by at most 2 eta K/b",
        source=at(140, "Footnote 4"),
        checks=(_gradients(2 * K / b),),
        mutants=(wrong("3 K/(2 b)", _gradients(3 * K / (2 * b))),),
        role=Role.OURS,
        relation=Relation.AT_MOST,
        repairs="altschuler_talwar/section_1/footnote_4",
    ),
    Claim(
        key="altschuler_talwar/section_1/schedule_rate",
        title="With step sizes t^-c the threshold D n/(K eta_T) grows as T^c, more slowly than T",
        source=at(143, "Section 1.2"),
        checks=(
            Identity(z / (T ** (-u)), z * T**u, "D n/K over eta_T"),
            Unbounded(T, T**u, {T: growth, u: _one / 2}, (u < 1,), "T over T^c at c = 1/2"),
        ),
        mutants=(
            wrong("T^-c", Identity(z / (T ** (-u)), z * T ** (-u))),
            wrong("c = 1", Unbounded(T, T**u, {T: growth, u: _one}, (u <= 1,))),
        ),
    ),
    Claim(
        key="altschuler_talwar/section_1/units",
        title="(1.2), (4.1), (5.5), (5.7) and (B.1) are numbers, and their conditions compare lengths",
        source=at(115, "Theorem 1.3", "(1.2)"),
        checks=(
            Units(_rate * D * n / (K * eta), _one, name="(1.2), (4.1)"),
            Units(D**2 / (eta**2 * D * n / (K * eta)), sigma_dp**2, name="condition of Theorem 4.1 on sigma"),
            Units(D, eta * K, name="condition of Theorem 4.1 on D"),
            Units(alpha * K**2 / sigma_dp**2 * (1 / b**2 + D * n / (K * eta * n**2)), _one, name="(5.5)"),
            Units(w * alpha * D**2 / (2 * sigma_dp**2 * (w * eta) ** 2), _one, name="(5.7), second term"),
            Units(alpha * w * (D / w + 2 * eta * K / n) ** 2 / (2 * eta**2 * sigma_dp**2), _one, name="(B.1)"),
        ),
        mutants=(
            wrong("no step size in (1.2)", Units(_rate * D * n / K, _one)),
            wrong("D^2 with sigma in (B.1)", Units(alpha * w * D**2 / sigma_dp**2, _one)),
            wrong("lengths and numbers", Units(alpha * K**2 / sigma_dp**2 * (1 / b**2 + D / n**2), _one)),
        ),
        role=Role.OURS,
    ),
)
