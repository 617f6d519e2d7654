"""Gaussian trade-offs, conversions, sampled Gaussians and compositions, in closed form or by quadrature."""

from collections.abc import Iterator
from itertools import product
from math import exp, log

from lastiterate.numeric import divergences
from lastiterate.numeric.accounting import conversion
from lastiterate.numeric.accounting.dominating import DominatingPair, SampledSteps
from recomputations import profiles
from recomputations.record import Number, equals, lower_bound_of, upper_bound

_SCAN, _LATTICE, _PROFILE = 5e-6, 3e-4, 2e-3
"""Errors of a scan for a minimum, and of a lattice of losses, in epsilon and in delta."""


def recompute_gaussian() -> Iterator[Number]:
    """Epsilon and delta of mu-GDP."""
    for mu, delta in ((0.3, 1e-5), (1.0, 1e-5), (4.0, 1e-9), (1.0, 0.3), (0.1, 0.1)):
        truth = profiles.gaussian_epsilon(mu, delta)
        yield upper_bound(f"epsilon of {mu:g}-GDP at {delta:g}", conversion.gdp_epsilon(mu, delta), truth)
        below = conversion.gdp_epsilon_below(mu, delta)
        yield lower_bound_of(f"the same from below, {mu:g}, {delta:g}", below, truth)
    for mu, epsilon in ((0.3, 1.0), (1.0, 0.0), (2.0, 5.0)):
        found = conversion.gdp_delta(mu, epsilon)
        yield upper_bound(f"delta of {mu:g}-GDP at {epsilon:g}", found, profiles.gaussian_delta(mu, epsilon))


def recompute_conversions() -> Iterator[Number]:
    """Conversions from Renyi DP to (epsilon, delta)-DP, and mixtures of Renyi bounds."""
    cases = ((2.0, 0.1, 1e-5), (8.0, 1.0, 1e-3), (1.5, 0.01, 1e-2), (30.0, 5.0, 1e-6), (1.2, 1e-5, 1e-3))
    for order, rho, delta in cases:
        name = f"({order:g}, {rho:g})-RDP at {delta:g}"
        truth = profiles.converted_epsilon(order, rho, delta)
        yield equals(name, conversion.rdp_to_dp(order, rho, delta), truth, _SCAN)
        quick = rho + log(1 - 1 / order) - log(delta * order) / (order - 1)
        yield equals(f"{name}, quickly", conversion.quick_rdp_to_dp(order, rho, delta), quick)
        yield equals(f"{name}, back", conversion.quick_rdp_to_delta(order, rho, quick), delta)
    for inside, failure, outside, order in ((0.5, 1e-3, 4.0, 2.0), (0.1, 1e-6, 3.0, 5.0)):
        power = order - 1
        total = (1 - failure) * exp(power * inside) + failure * exp(power * outside)
        found = conversion.mixed_rdp(inside, failure, outside, order)
        yield equals(f"mixed, order {order:g}", found, log(total) / power)
        found = conversion.mixed_rdp(inside, failure, outside, order, ((1e-7, 9.0),))
        yield equals(f"mixed and rarer, {order:g}", found, log(total + 1e-7 * exp(power * 9.0)) / power)


def recompute_sampling() -> Iterator[Number]:
    """Divergences of a sampled step."""
    for rate, gap, order in ((0.1, 1.0, 4), (0.3, 0.5, 2), (0.01, 2.0, 16)):
        noise, between, least = 1 / gap, order + 0.5, min(order, 6)
        mixture, base = profiles.sampled_densities(rate, gap)
        up = profiles.renyi_of_densities(mixture, base, between)
        down = profiles.renyi_of_densities(base, mixture, between)
        binomial = profiles.binomial_renyi(rate, gap, order)
        replaced = divergences.replacement_step(rate, noise, alpha=least)
        pair = DominatingPair(0.25, (SampledSteps(rate, noise, "add_remove", 3),))
        for what, at, found, truth in (
            ("S_up", order, divergences.s_up(rate, noise, alpha=order).upper, binomial),
            ("S_up", between, divergences.s_up(rate, noise, alpha=between).upper, up),
            ("S_down", between, divergences.s_down(rate, noise, alpha=between).upper, down),
            ("replacement", least, replaced.upper, profiles.replaced_renyi(rate, gap, least)),
            ("three steps and a Gaussian", order, pair.rdp(float(order)), order / 8 + 3 * binomial),
        ):
            yield equals(f"{what}, q = {rate:g}, gap {gap:g}, order {at}", found, truth)


def recompute_compositions() -> Iterator[Number]:
    """Compositions of two releases, against the mean profile of one release over the losses of the other."""
    another = profiles.losses_of_sampling(1.0, 0.5, "remove")
    kinds = ((0.1, 1.0, "add_remove", 1e-5), (0.3, 2.0, "replace", 1e-4), (0.02, 0.5, "add_remove", 1e-6))
    for (rate, noise, adjacency, delta), gaussian in list(product(kinds, (False, True)))[:5]:
        sides = ("remove", "add") if adjacency == "add_remove" else ("replace",)
        pair = DominatingPair(0.25 * gaussian, (SampledSteps(rate, noise, adjacency, 1 if gaussian else 2),))
        steps = [profiles.losses_of_sampling(rate, 1 / noise, side) for side in sides]
        truth = max(profiles.two_steps(step, another if gaussian else step, delta) for step in steps)
        name = f"q = {rate:g}, noise {noise:g}, {adjacency}, {'and a Gaussian' if gaussian else 'twice'}"
        yield upper_bound(f"epsilon at {delta:g}: {name}", pair.dp(delta), truth * (1 - 1e-6), _LATTICE)
        if gaussian and adjacency == "replace":
            yield upper_bound(f"delta at {truth:.4g}: {name}", pair.delta(truth), delta * (1 - 1e-6), _PROFILE)
    whole = DominatingPair(0.0, (SampledSteps(1.0, 2.0, "add_remove", 3),)).dp(1e-5)
    truth = profiles.gaussian_epsilon(3**0.5 / 2, 1e-5)
    yield upper_bound("epsilon of three steps that all meet the sample", whole, truth)
