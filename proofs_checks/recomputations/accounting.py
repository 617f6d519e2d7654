"""Gaussian trade-offs, conversions, sampled Gaussians and compositions, in closed form or by quadrature."""

from collections.abc import Iterator
from itertools import product
from math import exp, log

from lastiterate.numeric import divergences
from lastiterate.numeric.accounting import conversion
from lastiterate.numeric.accounting.conversion import gdp_delta, gdp_epsilon, gdp_epsilon_below
from lastiterate.numeric.accounting.dominating import DominatingPair, SampledSteps
from lastiterate.proofs_checks.recomputations import profiles
from lastiterate.proofs_checks.recomputations.record import Number, equals, lower_bound_of, upper_bound

_SCAN, _LATTICE, _PROFILE = 5e-6, 3e-4, 2e-3
"""The error of a scan for a minimum; the most that a lattice of losses adds to an epsilon, and to a delta."""
_BY = "quadrature"


def recompute_gaussian() -> Iterator[Number]:
    """The epsilon and the delta of mu-GDP."""
    for mu, delta in ((0.3, 1e-5), (1.0, 1e-5), (4.0, 1e-9), (1.0, 0.3), (0.1, 0.1)):
        truth, by = profiles.gaussian_epsilon(mu, delta), "erfc to fifty digits"
        yield upper_bound(f"epsilon of {mu:g}-GDP at {delta:g}", gdp_epsilon(mu, delta), truth * (1 - 1e-12), by)
        below = gdp_epsilon_below(mu, delta)
        yield lower_bound_of(f"the same from below, {mu:g}, {delta:g}", below, truth * (1 + 1e-12), by)
    for mu, epsilon in ((0.3, 1.0), (1.0, 0.0), (2.0, 5.0)):
        truth = float(profiles.gaussian_delta(mu, epsilon))
        yield upper_bound(f"delta of {mu:g}-GDP at {epsilon:g}", gdp_delta(mu, epsilon), truth * (1 - 1e-12), by)


def recompute_conversions() -> Iterator[Number]:
    """From Renyi to (epsilon, delta), and mixtures of Renyi bounds."""
    for order, rho, delta in (
        (2.0, 0.1, 1e-5),
        (8.0, 1.0, 1e-3),
        (1.5, 0.01, 1e-2),
        (30.0, 5.0, 1e-6),
        (1.2, 1e-5, 1e-3),
    ):
        name, quick = (
            f"({order:g}, {rho:g})-RDP at {delta:g}",
            rho + log(1 - 1 / order) - log(delta * order) / (order - 1),
        )
        truth = profiles.converted_epsilon(order, rho, delta)
        yield equals(name, conversion.rdp_to_dp(order, rho, delta), truth, "a scan", _SCAN)
        yield equals(f"{name}, quickly", conversion.quick_rdp_to_dp(order, rho, delta), quick)
        yield equals(f"{name}, back", conversion.quick_rdp_to_delta(order, rho, quick), delta, "its inverse")
    for inside, failure, outside, order in ((0.5, 1e-3, 4.0, 2.0), (0.1, 1e-6, 3.0, 5.0)):
        power = order - 1
        total = (1 - failure) * exp(power * inside) + failure * exp(power * outside)
        found = conversion.mixed_rdp(inside, failure, outside, order)
        yield equals(f"mixed, order {order:g}", found, log(total) / power, "a sum")
        found = conversion.mixed_rdp(inside, failure, outside, order, ((1e-7, 9.0),))
        yield equals(f"mixed and rarer, {order:g}", found, log(total + 1e-7 * exp(power * 9.0)) / power, "a sum")


def recompute_sampling() -> Iterator[Number]:
    """The divergences of a sampled step."""
    for rate, gap, order in ((0.1, 1.0, 4), (0.3, 0.5, 2), (0.01, 2.0, 16)):
        at, between = f"q = {rate:g}, gap {gap:g}, order", order + 0.5
        mixture, base = profiles.sampled_densities(rate, gap)
        up, down = (
            profiles.renyi_of_densities(mixture, base, between),
            profiles.renyi_of_densities(base, mixture, between),
        )
        many_up = divergences.s_up_orders(rate, 1 / gap, [order, between])
        many_down = divergences.s_down_orders(rate, 1 / gap, [between])
        binomial = profiles.binomial_renyi(rate, gap, order)
        replaced = profiles.replaced_renyi(rate, gap, min(order, 6))
        step = SampledSteps(rate, 1 / gap, "add_remove", 3)
        yield equals(
            f"S_up, {at} {order}", divergences.s_up(rate, 1 / gap, alpha=order).upper, binomial, "a binomial sum"
        )
        yield equals(f"S_up, {at} {between}", divergences.s_up(rate, 1 / gap, alpha=between).upper, up, _BY)
        yield equals(f"S_down, {at} {between}", divergences.s_down(rate, 1 / gap, alpha=between).upper, down, _BY)
        yield equals(f"S_up together, {at} {order}", many_up.upper[0], binomial, "a binomial sum")
        yield equals(f"S_up together, {at} {between}", many_up.lower[1], up, _BY)
        yield equals(f"S_down together, {at} {between}", many_down.upper[0], down, _BY)
        found = divergences.replacement_step(rate, 1 / gap, alpha=min(order, 6)).upper
        yield equals(f"replacement, {at} {min(order, 6)}", found, replaced, _BY)
        found = DominatingPair(0.25, (step,)).rdp(float(order))
        yield equals(f"three steps and a Gaussian, {at} {order}", found, order / 8 + 3 * binomial, "a sum")


def recompute_compositions() -> Iterator[Number]:
    """Two releases on a lattice of losses, against the mean of the profile of one over the loss of the other."""
    kinds = ((0.1, 1.0, "add_remove", 1e-5), (0.3, 2.0, "replace", 1e-4), (0.02, 0.5, "add_remove", 1e-6))
    for (rate, noise, adjacency, delta), gaussian in list(product(kinds, (False, True)))[:5]:
        sides = ("remove", "add") if adjacency == "add_remove" else ("replace",)
        pair = DominatingPair(0.25 * gaussian, (SampledSteps(rate, noise, adjacency, 1 if gaussian else 2),))
        steps = [(rate, 1 / noise, side) for side in sides]
        other = [(1.0, 0.5, "gaussian") if gaussian else step for step in steps]
        truth = max(map(profiles.two_steps, steps, other, (delta,) * len(steps)))
        name = f"q = {rate:g}, noise {noise:g}, {adjacency}, {'and a Gaussian' if gaussian else 'twice'}"
        yield upper_bound(f"epsilon at {delta:g}: {name}", pair.dp(delta), truth * (1 - 1e-6), _BY, _LATTICE)
        if gaussian and rate > 0.1:
            yield upper_bound(f"delta at {truth:.4g}: {name}", pair.delta(truth), delta * (1 - 1e-6), _BY, _PROFILE)
    whole = DominatingPair(0.0, (SampledSteps(1.0, 2.0, "add_remove", 3),)).dp(1e-5)
    truth = profiles.gaussian_epsilon(3**0.5 / 2, 1e-5)
    yield upper_bound(
        "epsilon of three steps that all meet the sample", whole, truth * (1 - 1e-12), "erfc to fifty digits"
    )
