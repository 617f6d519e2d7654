r"""Theorem 3.1 of Chien & Li 2025: noisy gradient descent on full batches, with $L$-smooth losses.

With $s = 2 \eta K/n$,
$$D_\alpha(W_T \| W_T') \le \frac{\alpha}{2 \sigma^2} \min_{\tau, \beta} \Bigl[\sum_{t=\tau}^{T-1}
\frac{s^2}{\beta_t} + \frac{D_\tau^2}{\sum_{t=\tau}^{T-1} (1 - \beta_t) c^{-2 (t - \tau + 1)}}\Bigr], \quad
D_\tau = \min\Bigl\{s \sum_{t<\tau} c^t, 2 \eta K \tau, D\Bigr\} \tag{3}$$
with $c = 1 + \eta L$; $c = 1$ for convex losses and $\eta \le 2/L$; $c = 1 - \eta \mu$ for $\mu$-strongly convex losses
and $\eta \le 1/L$.

Checked: (3) holds for each class, by shifts from each of the three distances in $D_\tau$; exactly solvable
runs attack it. For convex losses all but the cost of shifted Gaussian noise is one theorem of Coq (`theorem_3_1` in
proofs_checks/coq/full_batch.v; docs/proofs/trusted.md).
Fails: a step of the printed proof (`proof_3_1`). Instead, a direct shift by s + a costs at most as much as
shifts by s with the share beta and by a with 1 - beta.
Letters: the paper's $\mu$ is m in the code.
"""

from lastiterate.symbolic.chien_li.paper import *

CLAIMS = (
    Claim(
        "chien_li/theorem_3_1/smooth",
        "(3) bounds the Renyi divergence for L-smooth losses, c = 1 + eta L",
        at("Theorem 3.1", "(3)"),
        attacked(
            "chien_li_3_1_smooth",
            SMOOTH_RUNS,
            *COMMON,
            "as if there were 2 n samples",
            "alpha / 2 for alpha",
            "a tenth of the diameter",
            "no smoothness at all",
        ),
        *share_checks("smooth", c),
        statement=private(split_bound(1 + eta * L), *FULL_BATCHES, Smooth(L), L > 0),
        assumptions=(alpha > 1, Eq(c, 1 + eta * L), c > 1),
    ),
    Claim(
        "chien_li/theorem_3_1/convex",
        "(3) bounds the Renyi divergence for convex losses, c = 1",
        at("Theorem 3.1", "(3)"),
        attacked("chien_li_3_1_convex", CONVEX_RUNS, *COMMON, "radius for diameter"),
        *share_checks("convex", S.One),
        statement=private(split_bound(S.One), *FULL_BATCHES, Convex(L, K), eta * L <= 2),
        assumptions=(alpha > 1, eta * L <= 2),
    ),
    Claim(
        "chien_li/theorem_3_1/strongly_convex",
        "(3) bounds the Renyi divergence for strongly convex losses, c = 1 - eta m",
        at("Theorem 3.1", "(3)"),
        attacked("chien_li_3_1_strongly_convex", STRONG_RUNS, *COMMON, "as if there were 2 n samples"),
        *share_checks("strongly convex", c),
        statement=private(
            split_bound(1 - eta * m), *FULL_BATCHES, StronglyConvex(m, L, K), eta * L <= 1, eta * m < 1
        ),
        assumptions=(alpha > 1, m <= L, eta * L <= 1, eta * m < 1, Eq(c, 1 - eta * m), c < 1),
    ),
    Ours(
        "chien_li/theorem_3_1/composition",
        "Composition: alpha T s^2 / (2 sigma^2), the baseline that releases every iterate",
        at("Section 1", "standard composition"),
        attacked("composition", ALL_RUNS, *COMMON),
        Derived("full_batch/composition", Gauss(T * sensitivity() ** 2 / sigma**2)),
        statement=private(alpha * T * sensitivity() ** 2 / (2 * sigma**2), Clipped(K), FullBatches(n)),
        assumptions=(alpha > 1,),
    ),
)
