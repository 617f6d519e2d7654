"""Upper bounds on a divergence, attacked from below by exactly solvable runs, in both directions.

A bound that no attack refutes may still be false.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice, product
from typing import TYPE_CHECKING

import sympy as sp
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.attacks import ATTACKS, Assumed, BothDirections, ExactRun, Setting
from lastiterate.proofs_checks.attacks.record import settings
from lastiterate.proofs_checks.engines.answers import held, refuted, undecided, without_near_misses
from lastiterate.proofs_checks.engines.z3_answers import relations, require_possible
from lastiterate.proofs_checks.feasible_points import NoPointError
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome
from lastiterate.symbolic import notation
from lastiterate.symbolic.checks import UpperBound
from lastiterate.symbolic.notation import q
from lastiterate.symbolic.statement import OTHER, SAMPLES, ForAll, LastIterate, RenyiDivergence, Statement

if TYPE_CHECKING:
    from lastiterate.proofs_checks.attacks.targets import AttackedBound

UNBOUNDED, BOUNDED = 200, 100
"""Numbers of settings of a check, without a domain and with a bounded one; the nightly tests double both."""

SEED = 2025
"""Seed of the settings, the same for all claims, so that each attack is computed once per setting."""

TRIES = 40
"""Largest number of draws per setting."""

_SYMBOLS = {
    getattr(notation, name): name for name in ["T", "n", "eta", "sigma", "K", "D", "L", "lam", "m", "alpha"]
}
"""Name of each letter in a setting."""

_OF_EVERY_RUN = frozenset({sp.Le(q, 1)})
"""Conditions that every setting meets."""

_FACTOR = {
    Assumed.SMOOTH: 1 + notation.eta * notation.L,
    Assumed.CONVEX: sp.S.One,
    Assumed.STRONGLY_CONVEX: 1 - notation.eta * notation.m,
}
"""Lipschitz constant c of an update under each assumption."""


def _target(name: str) -> "AttackedBound":
    from lastiterate.proofs_checks.attacks.targets import find_target

    return find_target(name)


def _chosen(check: UpperBound, assumed: Assumed) -> list[ExactRun]:
    unknown = [name for name in check.attacks if name not in ATTACKS]
    if unknown or not check.attacks:
        raise InputError(
            f"attacks needs one or more of {', '.join(ATTACKS)}, got attacks={check.attacks}; choose among them."
        )
    chosen = [ATTACKS[name] for name in check.attacks]
    for run in chosen:
        if assumed not in run.meets:
            raise InputError(
                f"The bound {check.bound} needs attacks that meet {assumed.value}, got attack={run.name}, which "
                f"meets {', '.join(sorted(run.meets))}; choose another attack."
            )
    return chosen


def _on_floats(expressions: tuple[sp.Basic | int, ...], assumed: Assumed) -> Callable[[Setting], list[float]]:
    """Function that evaluates expressions at a setting, with s = 2 eta K / n and c substituted."""
    definitions = {notation.s: notation.sensitivity()}
    if assumed in _FACTOR:
        definitions[notation.c] = _FACTOR[assumed]
    written = [sp.sympify(expression, strict=True).subs(definitions) for expression in expressions]
    function = sp.lambdify(list(_SYMBOLS), written, modules="math")
    return lambda setting: list(function(*(setting[key] for key in _SYMBOLS.values())))


def split_assumptions(
    assumptions: tuple[Boolean, ...], assumed: Assumed
) -> tuple[Callable[[Setting], bool], tuple[Boolean, ...]]:
    """Function that tests settings, and the assumptions that it omits; NoPointError if no point meets the latter."""
    known = set(_SYMBOLS) | {notation.s}
    if assumed in _FACTOR:
        known.add(notation.c)
    usable = tuple(a for a in assumptions if a.free_symbols <= known)
    evaluate = _on_floats(usable, assumed)
    rest = tuple(a for a in assumptions if a not in usable and a not in _OF_EVERY_RUN)
    require_possible(sorted(relations(rest), key=str))

    def admits(setting: Setting) -> bool:
        try:
            return all(evaluate(setting))
        except (ArithmeticError, ValueError):  # undefined there
            return False
        except (NameError, TypeError) as error:
            raise InputError(
                "Assumptions of an attack may contain only elementary functions, got "
                f"{', '.join(map(str, usable))}; rewrite them."
            ) from error

    return admits, rest


def _asked(target: "AttackedBound", admits: Callable[[Setting], bool]) -> Iterator[Setting]:
    for bounded, wanted in ((False, UNBOUNDED), (True, BOUNDED)):
        if target.settings:
            yield from filter(admits, target.settings(bounded=bounded))
        else:
            some = wanted // target.thin
            yield from islice(filter(admits, islice(settings(SEED, bounded=bounded), some * TRIES)), some)


@lru_cache(maxsize=2**16)
def _attacked(name: str, assumed: Assumed, setting: tuple[tuple[str, float], ...]) -> BothDirections | None:
    return ATTACKS[name].lower(dict(setting), assumed)


def altered_setting(altered: Mapping[sp.Symbol, sp.Expr], assumed: Assumed) -> Callable[[Setting], Setting]:
    """Function that alters a setting for the evaluator; InputError for an unknown symbol."""
    if not altered:
        return lambda setting: setting
    for symbol in altered:
        if symbol not in _SYMBOLS:
            raise InputError(
                f"altered needs symbols among {', '.join(_SYMBOLS.values())}, got symbol={symbol}; use one of them."
            )
    names = [_SYMBOLS[symbol] for symbol in altered]
    evaluate = _on_floats(tuple(altered.values()), assumed)
    return lambda setting: {**setting, **dict(zip(names, map(float, evaluate(setting)), strict=True))}


def _refutation(
    check: UpperBound, setting: Setting, value: float, run: ExactRun, lower: BothDirections
) -> Outcome | None:
    for direction, certified in (("P || Q", lower.forward), ("Q || P", lower.backward)):
        if value < certified:
            kind = ", as update maps" if run.maps else ""
            note = (
                f"{run.quantity}({direction}) of the attack {run.name}{kind} ({run.run}; P pushed up by the replaced "
                f"sample), and the bound {check.bound}"
            )
            at = {key: repr(number) for key, number in setting.items()}
            return refuted(check, Counterexample(at, f"at least {certified!r}", "<=", repr(value), note))
    return None


def decide(check: UpperBound, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Run the attacks of an `UpperBound` at random settings that meet the assumptions."""
    target = _target(check.bound)
    chosen = _chosen(check, target.assumed)
    admits, unspoken = split_assumptions(assumptions, target.assumed)
    alter = altered_setting(check.altered, target.assumed)
    tried = compared = 0
    closest: dict[str, float] = {}
    for setting in _asked(target, admits):
        key = tuple(setting.items())
        found = [(run, _attacked(run.name, target.assumed, key)) for run in chosen]
        spoken = [(run, lower) for run, lower in found if lower is not None]
        value = _bound(target, alter(setting)) if spoken else None
        if value is None:
            continue
        tried += 1
        for run, lower in spoken:
            compared += 2
            broken = _refutation(check, setting, value, run, lower)
            if broken is not None and unspoken:
                said = ", ".join(map(str, unspoken))
                return undecided(check, f"the bound is too small at a setting where {said} could not be tested")
            if broken is not None:
                return broken
            where = "with projection" if math.isfinite(setting["D"]) else "without projection"
            near = max(lower.forward, lower.backward) / value if 0 < value < math.inf else 0.0
            closest[where] = max(near, closest.get(where, 0.0))
    if not compared:
        raise NoPointError(
            f"no setting that meets {', '.join(map(str, assumptions))} lets an attack test {check.bound}."
        )
    power = " and ".join(
        f"{math.floor(near * 1e4) / 1e4:g} of the bound {where}" for where, near in sorted(closest.items())
    )
    detail = (
        f"not below any attack at {tried} settings, both directions ({compared} tests); attacks reach {power}"
    )
    scope = f"{tried} settings of {', '.join(check.attacks)}"
    return held(check, Grade.NOT_REFUTED, detail, scope)


_SHARES = (0.25, 0.5, 0.9)
"""Values of beta, a share of the noise, at which a stated bound is compared with the attacked bound."""


def is_of(check: UpperBound, said: Statement) -> bool:
    """Tell whether a statement claims a bound on this divergence, nowhere below the attacked bound."""
    if not isinstance(said, ForAll) or not isinstance(said.body, sp.Le):
        return False
    order, *laws = said.body.lhs.args if said.body.lhs.func is RenyiDivergence else (None,)
    if order != notation.alpha or set(laws) != {LastIterate(SAMPLES), LastIterate(OTHER)}:
        return False
    known = {**_SYMBOLS, notation.b: "b", notation.sigma_dp: "sigma_dp", notation.beta: "beta"}
    parts = (said.body.rhs, *(one for one in said.conditions if isinstance(one, Relational)))
    plain = (sp.Number, sp.Add, sp.Mul, sp.Pow, sp.Min, sp.Max, sp.log, sp.exp, Relational)
    if not all(one in known or isinstance(one, plain) for part in parts for one in sp.preorder_traversal(part)):
        return False
    function, target, compared = sp.lambdify(list(known), parts, modules="math"), _target(check.bound), 0
    for setting, beta in product(_asked(target, lambda _: True), _SHARES):
        given = {"b": setting["n"], **setting, "sigma_dp": setting["sigma"] / setting["eta"], "beta": beta}
        try:
            stated, *conditions = function(*(given[name] for name in known.values()))
        except (ArithmeticError, ValueError, TypeError, NameError):
            return False
        attacked = _bound(target, setting) if all(conditions) else None
        if attacked is not None and stated < attacked * (1 - 1e-9):
            return False
        compared += attacked is not None
    return compared > 0


def _bound(target: "AttackedBound", setting: Setting) -> float | None:
    """Claimed bound at a setting; None outside the bound's domain. NaN raises ArithmeticError."""
    if setting["T"] < 1:
        return None
    try:
        value = target.evaluate(setting)
    except InputError:
        return None
    if math.isnan(value):
        raise ArithmeticError(f"the bound is not a number at {dict(setting)}")
    return value


near_misses = without_near_misses  # a bound that is slightly too small may withstand every attack
