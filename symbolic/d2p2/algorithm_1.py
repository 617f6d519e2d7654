r"""Section 3.1, Algorithm 1, Lemmas 1 and 2, and Table 3 of Jiang et al. 2025: a step and its random projection.

$$x_{k+1} = x_k - \alpha A_k\Big(\frac1{\sqrt p}A_k^\top
  \frac1B\sum_i \frac{g_i}{|g_i| + \gamma} + \epsilon_k\Big),$$
$A_k \in \mathbb R^{d \times p}$ with entries $N(0, \sigma_A^2)$ and
$\epsilon_k \sim N(0, \sigma_\epsilon^2/k)$.

Lemma 1 is cited. The fourth moment is wrong at $d = 1$; the sensitivity is 2, not 1.
"""

from lastiterate.symbolic.d2p2.paper import *

_A, _o, _u, _v, _w = Symbol("A"), *map(Vector, "ouvw")  # u and v: also normalised gradients
_T = Transposed
_entries = {_A: (dim, ell, sigma_A**2)}
_length = Norm(_o) ** 2
_there_and_back = gaussian_mean([_T(_o), _A, _T(_A), _A, _T(_A), _o], entries=_entries) / ell
_short = (Norm(_u) <= 1, Norm(_v) <= 1)
_clipped = gamma / (Abs(gamma) + stab)
_step = kappa * (xi * kappa * g + gamma)  # a coordinate of A (xi A^T g + e) at A = kappa I


def _updates(begun: int, name: str) -> Recursion:
    """The number of updates after K passes, with ``begun`` updates before the first pass."""
    return Recursion(T, Integer(begun), PREVIOUS + 1, T, 1, name)


CLAIMS = (
    Claim(
        "d2p2/lemma_1",
        "Lemma 1: a linear map to R^p keeps the distances of m points, p > 8 ln(m)/zeta^2",
        at("Lemma 1"),
        Cited(
            Projectable(m, dim, ell, zeta),
            Source(cited("Larsen & Nelson 2017"), "Johnson-Lindenstrauss"),
            (zeta > 0, zeta < 1, ell > 8 * log(m) / zeta**2),
        ),
        letters={m: "number of points", zeta: "distortion"},
    ),
    Claim(
        "d2p2/lemma_2",
        "r = A^T o/sqrt(p) is r_i = (1/sqrt(p)) sum_j A_ji o_j, with covariance |o|^2/p I for every d and p",
        at("Lemma 2"),
        Expected(
            gaussian_mean([_T(_u), _T(_A), _o], [_T(_w), _T(_A), _o], entries={_A: (dim, ell, S.One)}) / ell,
            "==",
            inner(_u, _w) * _length / ell,
            name="E <u, r> <w, r>",
        ),
        # d = p = 2: A = ((xi, zeta), (h, x)), o = (y, z)
        Identity(put(kappa * y + gamma * z, {kappa: xi, gamma: h}), xi * y + h * z, "down the first column"),
        misprint=Identity(
            put(kappa * y + gamma * z, {kappa: xi, gamma: h}), xi * y + zeta * z, "sum_j A_ij o_j"
        ),
    ),
    Ours(
        "d2p2/lemma_2/norm",
        "|A^T o|^2/p has mean sigma_A^2 |o|^2, for every d and p; with variance 1 the mean squared length is kept",
        at("Lemma 2"),
        Expected(gaussian_mean([_T(_o), _A, _T(_A), _o], entries=_entries) / ell, "==", sigma_A**2 * _length),
    ),
    Ours(
        "d2p2/algorithm_1/second_moments",
        "E A A^T = p sigma_A^2 I and E A^T A = d sigma_A^2 I, by all forms u^T . w; line 425 has p for both",
        at("A.4", "below (16)"),
        *(
            Expected(gaussian_mean(word, entries=_entries), "==", size * sigma_A**2 * inner(_u, _w), name=name)
            for word, size, name in (
                ([_T(_u), _A, _T(_A), _w], ell, "A A^T"),
                ([_T(_u), _T(_A), _A, _w], dim, "A^T A"),
            )
        ),
    ),
    Ours(
        "d2p2/algorithm_1/projected_gradient",
        "E|A A^T g|^2/p = (p + d + 1) sigma_A^4 |g|^2; the paper's p d^2 sigma_A^4 covers it from d = 2 on",
        at("A.6", "(30)"),
        Expected(_there_and_back, "==", (ell + dim + 1) * sigma_A**4 * _length, name="fourth moment"),
        Expected(_there_and_back, "<=", ell * dim**2 * sigma_A**4 * _length, (dim >= 2,), "d >= 2"),
    ),
    Step(
        "d2p2/algorithm_1/projected_gradient_one",
        "Below (16), (30): E|A A^T g|^2/p <= p d^2 sigma_A^4, for |g| = 1",
        at("A.6", "(30)"),
        Expected(_there_and_back, "<=", ell * dim**2 * sigma_A**4, (Eq(Norm(_o), 1),), "every d and p"),
    ),
    Ours(
        "d2p2/algorithm_1/projected_gradient_repaired",
        "E|A A^T g|^2/p <= 3 p d^2 sigma_A^4 |g|^2 for every d and p, with equality at d = p = 1",
        at("A.6", "(30)"),
        Expected(_there_and_back, "<=", 3 * ell * dim**2 * sigma_A**4 * _length, name="every d and p"),
        Expected(
            _there_and_back,
            "==",
            3 * ell * dim**2 * sigma_A**4 * _length,
            (Eq(dim, 1), Eq(ell, 1)),
            "d = p = 1",
        ),
        repairs="d2p2/algorithm_1/projected_gradient_one",
    ),
    Step(
        "d2p2/algorithm_1/noise_exponent",
        "Table 3: the variance of the noise at step k is nu^2/k, the square of nu/sqrt(k) in section 3.1",
        at("Table 3"),
        Identity(put(z**2, {z: nu / sqrt(j)}), nu**2 / j, "section 3.1 and Theorem 2"),
        misprint=Identity(put(z**2, {z: nu / sqrt(j)}), nu**2 / sqrt(j), "Table 3, as printed"),
    ),
    Claim(
        "d2p2/section_3_1/degenerates",
        "With A_k = I, and 1 for 1/sqrt(p), D2P2-SGD is D2P-SGD: A (A^T g + e) = g + e",
        at("Section 3.1", "a unified framework"),
        Identity(put(_step, {kappa: 1, xi: 1}), g + gamma, "1 for 1/sqrt(p)"),
        misprint=Identity(put(_step, {kappa: 1, xi: 1 / sqrt(ell)}), g + gamma, "A = I is d x d, so p = d"),
    ),
    Step(
        "d2p2/algorithm_1/returned",
        "Algorithm 1 makes K updates, the last of them x_(K+1); Theorem 2 is on the mean of x_1, ..., x_K",
        at("Algorithm 1"),
        _updates(1, "updates in K passes, K from 1 on"),
        misprint=_updates(0, "those in the x_K that is returned"),
    ),
    Claim(
        "d2p2/algorithm_1/clip",
        "Line 4: a gradient over its norm plus gamma has norm below 1, and keeps its direction",
        at("Algorithm 1", "line 4"),
        Inequality(g / (g + stab), "<", S.One, name="norm"),
        Inequality(S.Zero, "<=", gamma * _clipped, name="direction"),
        assumptions=(stab > 0,),
    ),
    Step(
        "d2p2/algorithm_1/sensitivity",
        "Lemma 5's proof: the mini-batch sum has sensitivity 1; in batches of fixed size a sample replaces another",
        at("A.3", "proof of Lemma 5"),
        Inequality(
            Abs(_clipped - kappa / (Abs(kappa) + stab)), "<=", S.One, name="one sample, on the line"
        ).mutant("3/2", right=Rational(3, 2)),
        Printed("d2p2/theorem_1", "the printed proof of Theorem 1, a projection by r"),
        assumptions=(stab > 0,),
    ),
    Ours(
        "d2p2/algorithm_1/sensitivity_repaired",
        "Replacing one sample moves the sum by at most 2 and the mean of line 5 by at most 2/B",
        at("A.3", "proof of Lemma 5"),
        Inequality(g / (g + stab), "<", S.One, name="a gradient of norm g over g + gamma"),
        NormBound(_u - _v, Integer(2), _short, "sum"),
        NormBound((_u - _v) / T, 2 / T, _short, "mean of a batch of T"),
        assumptions=(stab > 0,),
        repairs="d2p2/algorithm_1/sensitivity",
    ),
)
