r"""Lemma 5 and A.3 of Jiang et al. 2025: the moment bound for the subsampled Gaussian, and how Theorem 1 follows.

(11): $D_\eta \le \frac{7 B^2\eta}{\sigma_\epsilon^2 n^2}$ for
$\eta \le \frac{\sigma_\epsilon^2}2\ln\frac nB$ and $\frac Bn < \frac1{10}$, with a sensitivity of 1.
(12): the costs add up to $7 q^2\eta K(K + 1)/(2\sigma_\epsilon^2)$.
(13): one constant $C_2$ is enough for all $\epsilon, \delta$.

(11) is refuted for small noise: it omits the conditions $\sigma_\epsilon \ge 1$ and
$q < 1/(16\sigma_\epsilon)$ of the lemma that it quotes (Abadi et al. 2016, Lemma 3). (12) uses the orders of
the first step for all steps, but step $k$ has the noise $\sigma_\epsilon^2/k$. (13) needs
$\epsilon \le 2\ln(1/\delta)$.
"""

from lastiterate.symbolic.d2p2.paper import *

_bound = 7 * b**2 * alpha / (nu**2 * n**2)
_order_two = log(1 + q**2 * (exp(1 / nu**2) - 1))  # S_up of order 2 at a sensitivity of 1
_rare = {q: (Rational(1, 10**10), Rational(2, 10**9))}  # to exp(-20)

_first, _ratio = q**2 * alpha / nu**2, Rational(7, 2) * alpha / nu**2
_quoted = _first + Rational(7, 2) * q**2 * alpha**2 / nu**4
_factor: Expr = Add(1, Rational(7, 4) * log(1 / q))  # 1 + the ratio, at the greatest order
_needed = 14 * (u + 2 * v) / v  # C_2^2, u for epsilon and v for chi
_epochs = Integer(40) * ceiling(Rational(60000, 1024))

_MOMENTS = RefutingRun(
    fails=words(
        "The lemma that it quotes asks for {}; below, at order 2, a step costs {}, which grows exponentially as the "
        "noise falls.",
        nu >= 1,
        _order_two.subs(q, b / n),
    ),
    at={n: 10**9, b: 1, nu: Rational(9, 20), alpha: 2},
    run="one step on a batch, sensitivity 1; the order is allowed, 2 <= (nu^2/2) log(n/B)",
    quantity=words("Rényi divergence of order {} of one step", alpha),
    claimed=_bound,
    true=_order_two.subs(q, b / n),
    says=private(_bound, BatchesOf(b, n), 10 * b < n, alpha <= nu**2 / 2 * log(n / b)),
)

_LAWS: Final = (1 - b / n) * Normal(0, nu**2) + b / n * Normal(1, nu**2), Normal(0, nu**2)


def _small(*laws: Expr) -> ForAll:
    most = nu**2 / 2 * log(n / b)
    return closed(
        RenyiDivergence(alpha, *laws) <= _bound * 3 / 7, 10 * b < n, nu >= 1, alpha > 1, alpha <= most
    )


def _factored(ratio: Expr, name: str) -> Identity:
    return Identity(_quoted, _first * (1 + ratio), name)


CLAIMS = (
    Claim(
        "d2p2/lemma_5",
        "(11): 7 B^2 alpha/(nu^2 n^2) for alpha <= (nu^2/2) log(n/B), B/n < 1/10, a sensitivity of 1",
        at("Lemma 5", "(11)"),
        IntervalInequality(
            _order_two.subs(nu, sqrt(Rational(1, 5))), "<=", 70 * q**2, _rare, "alpha = 2, nu^2 = 1/5"
        ),
        IntervalInequality(exp(5) - 1, "<=", Integer(70), {}, "over q^2, as q falls to 0"),
        Inequality(Integer(2), "<=", y / 10, (y >= 20,), "alpha = 2 is allowed, y = log(n/B)"),
        refutation=_MOMENTS,
    ),
    Ours(
        "d2p2/lemma_5/rightly",
        "(11) with 3 for 7 where nu >= 1: a sampled Gaussian of sensitivity 1 and its base, either one first",
        at("Lemma 5", "(11)"),
        *(
            Deduced(_small(*laws), f"small_rate/wide{how}")
            for laws, how in ((_LAWS, ""), (_LAWS[::-1], ", back"))
        ),
        statement=_small(*_LAWS),
        repairs="d2p2/lemma_5",
    ),
    Step(
        "d2p2/lemma_5/factored",
        "q^2 alpha/nu^2 + 3.5 q^2 alpha^2/nu^4 = q^2 alpha/nu^2 (1 + 3.5 q alpha/nu^2)",
        at("A.3", "proof of Lemma 5"),
        _factored(q * _ratio, "as printed"),
    ),
    Ours(
        "d2p2/lemma_5/factored_rightly",
        "q^2 alpha/nu^2 + 3.5 q^2 alpha^2/nu^4 = q^2 alpha/nu^2 (1 + 3.5 alpha/nu^2)",
        at("A.3", "proof of Lemma 5"),
        _factored(_ratio, "no q"),
        Value(_factor.subs(q, Rational(1, 1000)) - 1, "12.1", "the ratio at q = 1/1000"),
        repairs="d2p2/lemma_5/factored",
    ),
    Step(
        "d2p2/lemma_5/seven",
        "So the factor at the greatest order, 1 + 1.75 log(1/q), is at most 7 for q < 1/10",
        at("A.3", "proof of Lemma 5"),
        IntervalInequality(_factor, "<=", Integer(7), {q: (Rational(1, 10**4), Rational(1, 10))}),
    ),
    Ours(
        "d2p2/lemma_5/seven_near",
        "1 + 1.75 log(1/q) <= 7 for 0.033 <= q <= 1/10",
        at("A.3", "proof of Lemma 5"),
        IntervalInequality(_factor, "<=", Integer(7), {q: (Rational(33, 1000), Rational(1, 10))}),
        Value(exp(-Rational(24, 7)), "0.0324", "where it is 7"),
        assumptions=(q >= Rational(33, 1000), q <= Rational(1, 10)),
        repairs="d2p2/lemma_5/seven",
    ),
    Claim(
        "d2p2/lemma_3",
        "(5): k mechanisms, each of which sees the outputs before it, compose to at most the sum of their losses",
        at("Lemma 3", "(5)"),
        Deduced(statements.many_mechanisms(), "sequences/budgets"),
    ),
    Step(
        "d2p2/lemma_5/reciprocal",
        "Proof of Lemma 5: from B/n < 1/10 it uses q <= 1/10, and prints 1/q <= 1/10",
        at("A.3", "proof of Lemma 5"),
        Inequality(b / n, "<=", Rational(1, 10), (10 * b < n,), "q = B/n"),
        misprint=Inequality(n / b, "<=", Rational(1, 10), (10 * b < n,), "1/q, as printed"),
    ),
    Step(
        "d2p2/lemma_5/range",
        "(12): an order alpha <= (nu^2/2) log(n/B) is within Lemma 5's range at every step",
        at("A.3", "(12)"),
        Inequality(alpha, "<=", nu**2 / (2 * T) * y, (alpha <= nu**2 / 2 * y, y >= 2), "at step K").mutant(
            "at twice it", right=nu**2 / T * y
        ),
    ),
    Ours(
        "d2p2/lemma_5/range_repaired",
        "An order alpha <= (nu^2/(2 K)) log(n/B) is within Lemma 5's range at every step k <= K",
        at("A.3", "(12)"),
        Inequality(
            alpha, "<= and attained", nu**2 / (2 * j) * y, (alpha <= nu**2 / (2 * T) * y, j <= T), "at step k"
        ),
        letters={y: "log(n/B)"},
        repairs="d2p2/lemma_5/range",
    ),
    Step(
        "d2p2/theorem_1/sum_of_steps",
        "(12): the costs 7 q^2 alpha k/nu^2 of the steps add up to 7 q^2 alpha K (K + 1)/(2 nu^2)",
        at("A.3", "(12)"),
        Identity(
            7 * q**2 * alpha / nu**2 * Sum(j, (j, 1, T)),
            7 * q**2 * alpha * T * (T + 1) / (2 * nu**2),
            "the sum",
        ),
        Inequality(T * (T + 1) / 2, "<= and attained", T**2, name="at most K^2, and K is not what counts them"),
    ),
    Step(
        "d2p2/theorem_1/solvable",
        "(13): with nu^2 = C_2^2 (B K/n)^2 chi/epsilon^2 some constant C_2 serves all epsilon and delta",
        at("A.3", "(13)"),
        Inequality(_needed, "<=", C_2**2, name="from 1 + 2 chi/epsilon to C_2^2 chi/(14 epsilon)").mutant(
            "29", right=Integer(29)
        ),
        Asymptotic(_needed, S.One, path={u: growth, v: S.One}, name="epsilon large against chi"),
    ),
    Ours(
        "d2p2/theorem_1/solvable_repaired",
        "For epsilon <= 2 log(1/delta) the orders of (13) exist with C_2^2 = 56",
        at("A.3", "(13)"),
        Inequality(_needed, "<= and attained", Integer(56), (u <= 2 * v,), "C_2^2 = 56"),
        Identity(14 * (1 + 2 * v / u) * u / v, _needed, "the two ends of the range"),
        repairs="d2p2/theorem_1/solvable",
    ),
    Ours(
        "d2p2/appendix_a_9/iterations",
        "A.9.2: 40 epochs of batches of 1024 from 60000 are 2360 steps, so K = 40 is not the K of (12)",
        at("A.9.2"),
        Value(_epochs, "2360", "steps"),
        Value(
            Rational(275, 100) * Integer(60000) ** 2 / (1024**2 * _epochs), "4.0006", "C_1 for 2.75 at K = 2360"
        ),
    ),
)
