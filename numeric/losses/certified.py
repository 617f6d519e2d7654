"""Closed-form constants of losses, for bounds without measurements.

Let r bound the norm of the features x, including a constant feature for the bias. With logits W x, softmax
cross-entropy has per-sample gradients of norm at most sqrt(2) r and smoothness r^2 / 2; for the logistic loss
of one logit they are r and r^2 / 4. With logits W2 phi(W1 x + b1) + b2 on a ball, where |phi'| <= p and
|phi''| <= c, the Jacobian J and the norm H of the second derivative satisfy

    |J|^2 <= |phi|^2 + 1 + (p |W2| r)^2,  H <= (c |W2| r^2 + sqrt((c |W2| r^2)^2 + 4 (p r)^2)) / 2,

and the loss has gradients of norm at most sqrt(2) |J| and smoothness |J|^2 / 2 + sqrt(2) H.

Source: docs/proofs/constants.md (claims ours/certified/*).
"""

from dataclasses import KW_ONLY, dataclass
from math import inf, isfinite

from flint import arb

from lastiterate.numeric.errors import InputError, count, positive, within
from lastiterate.numeric.losses.activations import SMOOTH
from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Clipped,
    ClippedConvex,
    Convex,
    Smooth,
    StronglyConvex,
    Tabulated,
)
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD, described_run


@dataclass(frozen=True)
class LossConstants:
    """Constants of every per-sample loss that meets the conditions in ``statement``.

    Attributes:
        lipschitz: upper bound on the norm of a per-sample gradient; clipping at this norm never acts.
        smoothness: upper bound L on the Lipschitz constant of a per-sample gradient.
        strong_convexity: lower bound m on the curvature; 0 for a convex loss, -inf for a nonconvex loss.
        statement: the conditions, in words.
        linear_score: whether the loss is a convex function of one linear score of the sample. Its clipped
            gradients are then gradients of another convex loss (claim ours/clipped_scores/convex).
        radius: radius of the ball of parameters on which the constants hold; inf for all parameters.
        any_sample: whether the constants hold for every sample that the statement admits.
        input_norm: largest norm of an input; inf if the statement gives another set.
        loss: "cross_entropy" or "logistic", times ``scale``; empty if only the statement describes the loss.
    """

    lipschitz: float
    smoothness: float
    strong_convexity: float
    statement: str
    linear_score: bool = False
    _: KW_ONLY
    radius: float
    any_sample: bool
    input_norm: float = inf
    loss: str = ""
    scale: float = 1.0

    @staticmethod
    def unknown(why: str) -> "LossConstants":
        """Infinite constants, with a reason as the statement."""
        return LossConstants(inf, inf, -inf, why, radius=inf, any_sample=True)

    def assumption(self, run: NoisySGD) -> Assumption:
        """The strongest assumption that these constants prove for a run; `Clipped` if they prove nothing.

        With infinite smoothness, as of kinks, gradients still change by at most twice the Lipschitz constant,
        which is used if it is below the clip norm. The domain must lie in the ball. The check diameter / 2 <=
        radius suffices if both have the same centre, as in this package. The caller must check other domains.

        Raises:
            InputError: the ball is too small for the domain, or the constants hold only for given samples.
        """
        # Nesterov's method takes gradients outside the domain.
        described_run("A class from certified constants", run, groups=True, momentum=not run.nesterov)
        if not isfinite(self.smoothness):
            fits = self.any_sample and isfinite(run.diameter) and exact(run.diameter) <= 2 * exact(self.radius)
            shorter = fits and self.lipschitz < run.clip_norm
            return Tabulated((run.diameter,), (2 * self.lipschitz,)) if shorter else Clipped()
        if not self.any_sample:
            raise InputError(
                "A bound needs constants for every sample that adjacent data can contain, got constants only for "
                f"statement={self.statement!r}; specify the possible inputs: constants_of_network(input_norm)."
            )
        if exact(run.diameter) > 2 * exact(self.radius):
            raise InputError(
                f"A bound needs constants on the whole domain, of radius diameter / 2, got radius={self.radius!r} for "
                f"diameter={run.diameter!r}; certify that ball, or project onto a ball of diameter "
                f"{2 * self.radius:g}."
            )
        unclipped = run.clip_norm >= self.lipschitz
        if self.strong_convexity > 0 and unclipped:
            return StronglyConvex(self.smoothness, self.strong_convexity)
        if self.strong_convexity >= 0:
            return (Convex if unclipped or self.linear_score else ClippedConvex)(self.smoothness)
        return Smooth(self.smoothness)


def logistic_regression(
    feature_norm: float, *, scale: float = 1.0, l2: float = 0.0, parameter_norm: float = inf
) -> LossConstants:
    """Constants of the l2-strongly convex loss scale * log(1 + exp(-y w.x)) + l2/2 |w|^2, y = +-1, rounded up.

    Args:
        feature_norm: largest norm of a possible sample's features, including the constant feature.
        scale: factor of the loss.
        l2: weight of the regulariser, at least 0.
        parameter_norm: largest |w| on the domain; needed if l2 > 0, since the Lipschitz constant depends on
            it.

    >>> logistic_regression(2.0).smoothness
    1.0
    """
    return _regression(
        "logistic loss", feature_norm, arb(1), arb(1) / 4, scale, l2, parameter_norm, one_score=not l2
    )


def softmax_regression(
    feature_norm: float, *, scale: float = 1.0, l2: float = 0.0, parameter_norm: float = inf
) -> LossConstants:
    """Constants of scale * cross-entropy of the logits W x, plus l2/2 |W|^2; arguments as in `logistic_regression`.

    >>> softmax_regression(2.0).smoothness
    2.0
    """
    with precision():
        slope = arb(2).sqrt()
    return _regression("softmax cross-entropy", feature_norm, slope, arb(1) / 2, scale, l2, parameter_norm)


def linear_score(feature_norm: float, *, slope: float, curvature: float, name: str) -> LossConstants:
    """Constants of phi(w.x) for a convex phi, from upper bounds on |phi'| and phi''.

    The slope may be inf, as for the squared error.

    >>> linear_score(3.0, slope=inf, curvature=2.0, name="squared error").smoothness
    18.0
    """
    steepest, most = exact(positive("slope", slope, finite=False)), exact(positive("curvature", curvature))
    return _regression(name, feature_norm, steepest, most, one_score=True)


def _regression(
    name: str,
    feature_norm: float,
    slope: arb,
    curvature: arb,
    scale: float = 1.0,
    l2: float = 0.0,
    parameter_norm: float = inf,
    *,
    one_score: bool = False,
) -> LossConstants:
    r, factor = positive("feature_norm", feature_norm), positive("scale", scale)
    weight = within("l2", l2, "a finite number of at least 0", lambda x: 0 <= x < inf, "0 means none.")
    reach = positive("parameter_norm", parameter_norm, finite=False)
    with precision():
        lipschitz = exact(factor) * slope * exact(r)
        if weight:
            lipschitz = lipschitz + exact(weight) * exact(reach) if reach < inf else arb("inf")
        return LossConstants(
            lipschitz=upper(lipschitz),
            smoothness=upper(exact(factor) * curvature * exact(r) ** 2 + exact(weight)),
            strong_convexity=weight,
            statement=f"{name} of features of norm at most {r:g}" + (f", l2 = {weight:g}" if weight else ""),
            linear_score=one_score,
            radius=reach if weight else inf,
            any_sample=True,
            input_norm=r,
        )


def two_layer(
    feature_norm: float,
    *,
    first_norm: float,
    second_norm: float,
    radius: float,
    hidden: int,
    activation: str,
    scale: float = 1.0,
) -> LossConstants:
    """Constants of scale * cross-entropy of W2 phi(W1 x + b1) + b2 in all parameters, rounded up.

    Args:
        feature_norm: largest norm of (x, 1) over all possible samples.
        first_norm: largest spectral norm of (W1, b1) on the domain: the norm at its centre plus the radius.
        second_norm: largest spectral norm of W2 on the domain.
        radius: radius of the domain, a ball of parameters.
        hidden: number of hidden units.
        activation: a key of `lastiterate.numeric.losses.activations.SMOOTH`.
        scale: factor of the loss.
    """
    if activation not in SMOOTH:
        raise InputError(
            f"activation needs one of {', '.join(SMOOTH)}, got activation={activation!r}; "
            "ReLU has no smoothness constant, since its gradients jump."
        )
    phi = SMOOTH[activation]
    with precision():
        r, factor = exact(positive("feature_norm", feature_norm)), exact(positive("scale", scale))
        first, second = exact(positive("first_norm", first_norm)), exact(positive("second_norm", second_norm))
        slope, width = exact(phi.most[1]), count("hidden", hidden)
        linear = (
            arb(width).sqrt() * abs(phi.value(arb(0))) + slope * first * r
        ) ** 2  # |phi(u) - phi(0)| <= slope |u|
        outputs = min(width * exact(phi.most[0]) ** 2, linear, key=upper)
        jacobian = outputs + 1 + (slope * second * r) ** 2
        bent, mixed = exact(phi.most[2]) * second * r**2, slope * r
        hessian = (bent + (bent**2 + 4 * mixed**2).sqrt()) / 2
        root = arb(2).sqrt()
        return LossConstants(
            lipschitz=upper(factor * root * jacobian.sqrt()),
            smoothness=upper(factor * (jacobian / 2 + root * hessian)),
            strong_convexity=-inf,
            statement=f"{activation} network of two layers with softmax cross-entropy, features with the constant one "
            f"of norm at most {feature_norm:g}, on a domain with |(W1, b1)| <= {first_norm:g}, |W2| <= {second_norm:g}",
            radius=min(positive("radius", radius), first_norm, second_norm),  # no larger ball fits
            any_sample=True,
            input_norm=feature_norm,
        )
