"""Random finite chains, each with a bound by the rules of the kernel, and with the same bound as a term of Coq.

Laws are exact fractions on two to four points; a run has up to four steps. Premises are exact profiles. The term of Coq
is written from the premises with the functions of proofs_checks/coq/values.v, which compute the definitions of the
theorems. Where a table replaces a bound, in `weaken` and before `contract`, Coq compares the table with its own value.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from random import Random
from typing import Any

from contraction_on_chains import table as through
from counted_rules_on_chains import _at_both, _i, _linear
from finite_chains import (
    Chain,
    Law,
    Metric,
    Pair,
    _enlarged,
    cycle,
    envelope,
    law,
    metric,
    mixed,
    near_pairs,
    pushed,
)
from rules_on_chains import _after, _apart, _exact, _expansion, _lipschitz, _maps, _shifted
from sympy import Expr, Integer, Rational, S

from lastiterate.symbolic.formulas import divergences as formulas
from lastiterate.symbolic.formulas.contraction import block
from lastiterate.symbolic.kernel.induction import StepInduction
from lastiterate.symbolic.kernel.judgement import Hypothesis, Span, Variable
from lastiterate.symbolic.kernel.lemmas import Coin, Guide, Shift, no_shift
from lastiterate.symbolic.kernel.profiles import (
    EVERYTHING,
    Atoms,
    Average,
    BlockChain,
    Composed,
    Contracted,
    Equal,
    MeanProfile,
    Order,
    Power,
    Profile,
    ThreeLaws,
    compose,
)
from lastiterate.symbolic.kernel.rules import Kernel, anything, compare_with_third, contract

KERNEL = Kernel(_exact)
SAME = "(fun g => qpos (qsub q1 g))"
FAULTS = ("a mass forgotten", "g inverted", "orders exchanged", "a weight forgotten", "a part forgotten")
MOST = 24
"""The largest number of atoms before a step."""

Curve = Callable[[Rational], Expr]
Shares = tuple[tuple[Rational, Rational], ...]


def fraction(one: Expr) -> Fraction:
    return Fraction(int(one.p), int(one.q))


def rational(one: Fraction) -> Rational:
    return Rational(one.numerator, one.denominator)


# ---- Terms of Coq. ----


def number(one: Fraction | Expr) -> str:
    one = one if isinstance(one, Fraction) else fraction(one)
    return f"({one.numerator}#{one.denominator})"


def pairs_text(pairs: Iterable[tuple[Any, Any]]) -> str:
    return "[:: " + "; ".join(f"({number(a)}, {number(b)})" for a, b in pairs) + "]"


def masses(table: Atoms) -> list[tuple[Fraction, Fraction]]:
    """The masses of both runs at the atoms of a table, in order of falling ratio; the second add up to 1."""
    found = [(fraction(y) * fraction(m), fraction(m)) for y, m in reversed(table.pairs) if m != 0]
    rest = 1 - sum((m for _, m in found), Fraction(0))
    return [*found, (Fraction(0), rest)] if rest > 0 else found


def table_text(table: Atoms) -> str:
    return pairs_text(masses(table))


def parts_text(table: Atoms, shares: Shares) -> tuple[str, str]:
    """The atoms of a table and the parts of them, and of the mass that run 2 has not, by shares."""
    atoms = [(fraction(y * m), fraction(m)) for y, m in table.pairs]
    rows = [(a, b, fraction(u), fraction(v)) for (a, b), (u, v) in zip(atoms, shares[:-1], strict=True)]
    rows = [row for row in reversed(rows) if row[1] > 0]
    left = 1 - sum((b for _, b, *_ in rows), Fraction(0))
    rows += [(Fraction(0), left, Fraction(0), Fraction(0))] if left > 0 else []
    kept = [(a * u, b * v) for a, b, u, v in rows] + [(fraction(table.rest * shares[-1][0]), Fraction(0))]
    return pairs_text((a, b) for a, b, *_ in rows), pairs_text(kept)


# ---- Values of profiles that the kernel returns. ----


def as_table(profile: Profile, tables: Mapping[Profile, Atoms]) -> Atoms | None:
    """The table that a profile of tables is, or None; those of chains of blocks are given."""
    match profile:
        case BlockChain():
            return tables[profile]
        case Equal():
            return Atoms(((S.One, S.One),))
        case Atoms():
            return profile
        case Composed():
            parts = [as_table(part, tables) for part in profile.parts]
            return compose(*parts) if all(part is not None for part in parts) else None  # type: ignore[return-value]
        case Power():
            part = as_table(profile.part, tables)
            return None if part is None else compose(*[part] * int(profile.count))  # type: ignore[return-value]
        case Average():
            parts = [
                (profile.weight, profile.part, {profile.index: Integer(i)}) for i in range(int(profile.count))
            ]
            mean = tuple((w.subs(at).doit(), part.subs(at)) for w, part, at in parts)
            return as_table(MeanProfile(mean), tables)
        case MeanProfile():
            atoms: dict[Expr, Expr] = {}
            for weight, part in profile.pairs:
                table = as_table(part, tables)
                if table is None:
                    return None
                for y, m in table.pairs:
                    atoms[y] = atoms.get(y, S.Zero) + weight * m
            return Atoms(tuple(sorted(atoms.items())))
    return None


@dataclass
class Values:
    """Values of profiles, with the shares of each block; a fault changes them."""

    shares: dict[Contracted, Shares] = field(default_factory=dict)
    tables: dict[Profile, Atoms] = field(default_factory=dict)
    """The table of each chain of blocks."""
    choices: dict[ThreeLaws, Shares] = field(default_factory=dict)
    """The numbers c and t of each case."""
    fault: str = ""

    def at(self, profile: Profile, g: Rational) -> Expr:
        table = as_table(profile, self.tables)
        if table is not None:
            forgotten = table.rest if self.fault == "a mass forgotten" else S.Zero
            return table.at(1 / g if self.fault == "g inverted" and g != 0 else g) - forgotten
        if isinstance(profile, MeanProfile):
            return profile.failure + sum((w * self.at(part, g) for w, part in profile.pairs), S.Zero)
        if isinstance(profile, Composed):
            tables = [table for part in profile.parts if (table := as_table(part, self.tables)) is not None]
            (other,) = (part for part in profile.parts if as_table(part, self.tables) is None)
            second = compose(*tables)
            assert isinstance(second, Atoms)
            return second.rest + sum(
                (m * y * self.at(other, g / y) for y, m in second.pairs if y * m != 0), S.Zero
            )
        if isinstance(profile, ThreeLaws):
            cases = enumerate(self.choices[profile])
            return sum((self._case(profile, Integer(i), g, c, t) for i, (c, t) in cases), S.Zero)
        assert isinstance(profile, Contracted)
        return self._block(profile, g)

    def _case(self, profile: ThreeLaws, i: Expr, g: Rational, c: Rational, t: Rational) -> Expr:
        """The value of the docstring of `ThreeLaws` for one case, with its weight."""
        known, ahead, back = (
            one.subs({profile.index: i}) for one in (profile.known, profile.ahead, profile.back)
        )
        weight = profile.weight.subs(profile.index, i)
        if c < 0:
            return weight * (self.at(known, g * t) - c * self.at(back, g * (1 - t) / -c))
        seen = t * self.at(known, g / t) if t else S.Zero
        return weight * (seen + ((1 - t) * self.at(ahead, c / (1 - t)) if t < 1 else S.Zero))

    def _block(self, profile: Contracted, g: Rational) -> Expr:
        before, near, far = (
            as_table(part, self.tables) for part in (profile.before, profile.near, profile.far)
        )
        assert before is not None
        assert near is not None
        assert far is not None
        *shares, (singular, _) = self.shares[profile]
        parts = [(y * m * of_p, m * of_q) for (y, m), (of_p, of_q) in zip(before.pairs, shares, strict=True)]
        far_at: Curve = (lambda _: S.Zero) if self.fault == "a part forgotten" else far.at
        return block(g, parts, singular * before.rest, near.at, far_at)


# ---- Random instances. ----


def spread(random: Random, k: int) -> Law:
    """A random law, more often than `law` on all points, so that fewer bounds are trivial."""
    if random.random() < 0.3:
        return law(random, k)
    heights = [random.choice((1, 1, 2, 3, 5)) for _ in range(k)]
    return tuple(Fraction(height, sum(heights)) for height in heights)


def two_runs(random: Random, k: int) -> tuple[Chain, Chain]:
    """A step of both runs, often the same from some points."""
    one, kept = tuple(spread(random, k) for _ in range(k)), random.choice((0.0, 0.5, 1.0))
    return one, tuple(row if random.random() < kept else spread(random, k) for row in one)


@dataclass
class Instance:
    """Two runs with a bound on their divergence: the pairs of laws, and the bound as a profile and as a term of Coq."""

    pairs: list[Pair]
    d: Metric
    z: int
    value: Callable[[Rational], Expr]
    term: str
    checks: list[str]
    nodes: list[Rational]
    profile: Profile | None = None
    """The kernel's conclusion; the formula of a coin is not a profile of the kernel."""

    @cached_property
    def probabilities(self) -> set[tuple[Fraction, Fraction]]:
        """P(A) and Q(A^z) for all sets A and all pairs."""
        sets = list(zip(_enlarged(self.d, 0), _enlarged(self.d, self.z), strict=True))
        return {
            (sum((p[x] for x in plain), Fraction(0)), sum((q[x] for x in large), Fraction(0)))
            for p, q in self.pairs
            for plain, large in sets
        }

    def truth(self, g: Rational) -> Fraction:
        """The greatest P(A) - g Q(A^z) over all sets A and all pairs, one by one."""
        factor = fraction(g)
        return max(one - factor * other for one, other in self.probabilities)

    def exceeded(self) -> bool:
        return any(self.truth(g) > fraction(self.value(g)) for g in self.nodes)

    def text(self) -> str:
        """A boolean of Coq: the tables are tables, and the term has the values of the kernel."""
        values = "; ".join(f"({number(g)}, {number(self.value(g))})" for g in self.nodes)
        return f"[&& {' && '.join(self.checks) or 'true'} & agrees {self.term} [:: {values}]]"


@dataclass
class Run:
    """A run on its way: the laws of both runs, the judgement, and its bound as a term of Coq."""

    random: Random
    fault: str
    d: Metric
    order: Order
    pairs: list[Pair]
    z: int
    span: Span
    term: str
    checks: list[str]
    values: Values
    time: int = 1

    @property
    def k(self) -> int:
        return len(self.d)

    def priced(self, pairs: list[Pair], z: int) -> tuple[Atoms, str]:
        """The exact profile as the kernel is given it, and as Coq is: they differ by a fault."""
        exact = envelope(pairs, self.d, z)
        self.checks.append(f"good {table_text(exact)}")
        given = envelope([(q, p) for p, q in pairs], self.d, z) if self.fault == "orders exchanged" else exact
        return given, table_text(exact)

    def ends(self) -> tuple[Integer, Integer]:
        return Integer(self.time), Integer(self.time + 1)

    def supposed(self, near: int, far: int, price: Atoms, *more: Any) -> Span:
        return KERNEL.suppose(self.order, self.ends(), (Integer(near), Integer(far)), price, "a step", *more)

    def moved(self, one: Chain, other: Chain, far: int) -> None:
        self.pairs = [(pushed(p, one), pushed(q, other)) for p, q in self.pairs]
        self.z, self.time = far, self.time + 1


def _start(random: Random, fault: str) -> Run:
    k, order, checks = random.randint(2, 4), random.choice(tuple(Order)), list[str]()
    d = cycle(k) if random.random() < 0.5 else metric(random, k)
    z, kind = random.randint(0, 2), random.random()
    ends, values = (S.Zero, S.One), Values(fault=fault)
    run = Run(random, fault, d, order, [], z, None, SAME, checks, values)  # type: ignore[arg-type]
    if kind < 0.2:
        run.span = KERNEL.identity(order, S.One, Integer(z))
        still = [tuple(Fraction(x == y) for y in range(k)) for x in range(k)]
        run.pairs = [(still[x], still[y]) for x in range(k) for y in range(k) if d[x][y] <= z]
    elif kind < 0.3:
        run.z = max(map(max, d))
        run.span = KERNEL.domain(order, ends, Integer(z), Integer(run.z))
        run.pairs = near_pairs(d, z, *two_runs(random, k))
    elif kind < 0.35:
        run.span, p = KERNEL.apart(order, ends, Integer(z)), spread(random, k)
        to = [random.choice([y for y in range(k) if d[x][y] <= z]) for x in range(k)]
        run.pairs = [(p, tuple(sum((p[x] for x in range(k) if to[x] == y), Fraction(0)) for y in range(k)))]
    elif kind < 0.45:
        run.span, run.z, run.term = anything(KERNEL, order, ends), 0, f"(qvalue {table_text(EVERYTHING)})"
        run.pairs = [(spread(random, k), spread(random, k))]
    else:
        run.pairs = [(spread(random, k), spread(random, k))]
        price, term = run.priced(run.pairs, z)
        run.span = KERNEL.suppose(order, ends, (S.Zero, Integer(z)), price, "the start")
        run.term = f"(qvalue {term})"
    if kind < 0.3 and random.random() < 0.5:
        run.span, run.order = KERNEL.exchange(run.span), order.other
        run.pairs = [(q, p) for p, q in run.pairs]
    return run


def _plain(run: Run) -> None:
    one, other = two_runs(run.random, run.k)
    far = run.random.randint(0, 3)
    price, term = run.priced(near_pairs(run.d, run.z, one, other), far)
    run.span = KERNEL.chain(run.span, run.supposed(run.z, far, price))
    run.term = f"(qcompose {run.term} {term})"
    run.moved(one, other, far)


def _weakened(run: Run) -> None:
    table = run.span.profile
    if not isinstance(table, Atoms):
        return
    keep = Rational(run.random.randint(1, 4), 4)
    above = Atoms(tuple((y, m * keep) for y, m in table.pairs))
    run.z += run.random.randint(0, 1)
    run.span = KERNEL.weaken(run.span, far=Integer(run.z), profile=above)
    if run.fault != "orders exchanged":  # else the tables differ
        run.checks += [f"good {table_text(above)}", f"below {run.term} {table_text(above)}"]
        run.term = f"(qvalue {table_text(above)})"


def _revealed(run: Run) -> None:
    """A mean over a revealed variable with a weight of failure, with or without events."""
    random, count = run.random, run.random.randint(2, 3)
    chains, chances, far = (
        [two_runs(random, run.k) for _ in range(count)],
        spread(random, count),
        random.randint(0, 2),
    )
    variable, drawn = Variable("R", Integer(run.time)), frozenset({Hypothesis("R is in the event")})
    weights, groups, events = list(chances), [[i] for i in range(count)], None
    if random.random() < 0.4:
        inside = random.sample(range(count), random.randint(1, count - 1))
        likely = sum((chances[i] for i in inside), Fraction(0))
        weight = likely * random.choice((Fraction(1, 2), Fraction(1)))
        weights = [weight, (1 - weight) * random.choice((Fraction(1), Fraction(2, 3)))]
        groups, events = [inside, list(range(count))], (drawn, frozenset[Hypothesis]())
    failure = 1 - sum(weights, Fraction(0))
    inner = random.random() < 0.5
    cases, terms = list[Span](), list[str]()
    for place, group in enumerate(groups):
        pairs = [pair for i in group for pair in near_pairs(run.d, run.z, *chains[i])]
        price, term = run.priced(pairs, far)
        case = run.supposed(run.z, far, price, (variable,), drawn if events and place == 0 else ())
        cases.append(KERNEL.chain(run.span, case) if inner else case)
        terms.append(f"(qcompose {run.term} {term})")
    said = weights
    if run.fault == "a weight forgotten":
        said = [(1 - failure) * Fraction(i == weights.index(min(weights))) for i in range(len(weights))]
    mean = KERNEL.mean(
        variable,
        [(rational(w), one) for w, one in zip(said, cases, strict=True)],
        rational(failure),
        events or (),
    )
    run.span = mean if inner else KERNEL.chain(run.span, mean)
    parts = "; ".join(f"({number(w)}, {one})" for w, one in zip(weights, terms, strict=True))
    run.term = f"(qmean {number(failure)} [:: {parts}])"
    one, other = (
        tuple(mixed(chances, [chain[which][x] for chain in chains]) for x in range(run.k)) for which in range(2)
    )
    run.moved(one, other, far)


def _block(run: Run) -> None:
    """A contraction: shares of every atom at random, or by thresholds."""
    before = as_table(run.span.profile, run.values.tables)
    if before is None or "orders" in run.fault:
        return
    random, (one, other), end = run.random, two_runs(run.random, run.k), run.random.randint(0, 2)
    wide = max(map(max, run.d))
    near, near_term = run.priced(near_pairs(run.d, run.z, one, other), end)
    far, far_term = run.priced(near_pairs(run.d, wide, one, other), end)
    made = contract(
        KERNEL,
        run.span if run.span.near <= wide else KERNEL.weaken(run.span, near=Integer(wide)),
        run.supposed(run.z, end, near),
        run.supposed(wide, end, far),
        Integer(wide),
    )
    cut, quarter = random.randint(0, len(before.pairs)), Rational(random.randint(0, 4), 4)
    kinds: tuple[Callable[[int], tuple[Rational, Rational]], ...] = (
        lambda i: (Integer(i >= cut), Integer(i >= cut)),
        lambda _: (S.One, quarter),
        lambda _: (Rational(random.randint(0, 3), 3), Rational(random.randint(0, 3), 3)),
    )
    share = random.choice(kinds)
    shares = (*(share(i) for i in range(len(before.pairs))), (Rational(random.randint(0, 1)), S.Zero))
    assert isinstance(made.profile, Contracted)
    run.values.shares[made.profile] = shares
    listed, parts = parts_text(before, shares)
    run.checks += [f"good {listed}", f"parts_of (qpairs {listed}) {parts}", f"below {run.term} {listed}"]
    run.term = f"(qcontracted (qvalue {far_term}) {near_term} (qpairs {listed}) {parts})"
    run.span = made
    run.moved(one, other, end)


def _noisy(run: Run) -> None:
    """A step with noise on a cycle, without a coin."""
    random, k = run.random, run.k
    if run.d != cycle(k):
        return
    (one, other), noise, last, length = (
        _maps(random, k),
        spread(random, k),
        _lipschitz(random, run.d),
        random.randint(0, 2),
    )
    after = _apart(run.d, run.z, one, other)
    far = max(after - length, 0)
    free = random.random() < 0.3
    pairs = [(_shifted(noise, h), noise) for h in range(k) if run.d[0][h] <= length]
    price, term = run.priced(pairs, 0)
    shift = no_shift() if free else Shift(Integer(length), price)
    far = after if free else far
    step = KERNEL.step(
        run.order,
        Integer(run.time),
        (Integer(run.z), Integer(far)),
        _expansion(after, Guide.OTHER),
        shift,
        S.Zero,
    )
    run.span = KERNEL.chain(run.span, step)
    run.term = run.term if free else f"(qcompose {run.term} {term})"
    run.moved(_after(one, noise, last), _after(other, noise, last), far)


def _hidden_coin(run: Run) -> None:
    """A step on a cycle with a hidden coin and a third law."""
    random, k = run.random, run.k
    if run.d != cycle(k):
        return
    weights, coins, length = spread(random, 2), [_maps(random, k) for _ in range(2)], random.randint(0, 2)
    first, second, last = spread(random, k), spread(random, k), _lipschitz(random, run.d)
    noise = tuple(sum((first[x] * second[(y - x) % k] for x in range(k)), Fraction(0)) for y in range(k))
    which, still = random.randrange(2), tuple(range(k))
    after = max(_apart(run.d, run.z, coin[which], coin[which]) for coin in coins)

    def step(of: int, xi: Law, end: tuple[int, ...]) -> Chain:
        chains = [_after(coin[of], xi, end) for coin in coins]
        return tuple(mixed(weights, [chain[x] for chain in chains]) for x in range(k))

    price, coin_term = run.priced(list(zip(step(0, first, still), step(1, first, still), strict=True)), 0)
    pairs = [(_shifted(second, h), second) for h in range(k) if run.d[0][h] <= length]
    shift, term = run.priced(pairs, 0)
    far = max(after - length, 0)
    made = KERNEL.step(
        run.order, Integer(run.time), (Integer(run.z), Integer(far)), _expansion(after, Guide.OWN),
        Shift(Integer(length), shift), S.Zero, Coin(price),
    )  # fmt: skip
    run.span = KERNEL.chain(run.span, made)
    run.term = f"(qcompose (qcompose {run.term} {coin_term}) {term})"
    run.moved(step(0, noise, last), step(1, noise, last), far)


def _of_both(tables: list[Atoms]) -> Atoms:
    """The first table at the index 0, and the second at 1."""
    nodes = sorted({y for table in tables for y, _ in table.pairs})
    masses_at = [dict(table.pairs) for table in tables]
    return Atoms(tuple((y, _linear(*(each.get(y, S.Zero) for each in masses_at))) for y in nodes))


def _averaged(run: Run) -> None:
    """A mean over two values, of which one judgement speaks."""
    random, far = run.random, run.random.randint(0, 2)
    weights, chains = spread(random, 2), [two_runs(random, run.k) for _ in range(2)]
    priced = [run.priced(near_pairs(run.d, run.z, *chain), far) for chain in chains]
    pairs = _of_both([table for table, _ in priced])
    variable, kernel = Variable("R", Integer(run.time)), Kernel(_at_both)
    near, ends = (Integer(run.z), Integer(far)), run.ends()
    case = kernel.suppose(run.order, ends, near, pairs, "case", (variable,))
    said = weights[::-1] if run.fault == "a weight forgotten" else weights
    mean = kernel.mean(variable, ((S.One, case),), over=(_i, Integer(2), _linear(*map(rational, said))))
    run.span = KERNEL.chain(run.span, mean)
    parts = "; ".join(
        f"({number(w)}, (qcompose {run.term} {term}))" for w, (_, term) in zip(weights, priced, strict=True)
    )
    run.term = f"(qmean {number(Fraction(0))} [:: {parts}])"
    one, other = (
        tuple(mixed(weights, [c[which][x] for c in chains]) for x in range(run.k)) for which in range(2)
    )
    run.moved(one, other, far)


def _repeated(run: Run) -> None:
    """Two or three equal steps, by induction."""
    (one, other), count = two_runs(run.random, run.k), run.random.randint(2, 3)
    price, term = run.priced(near_pairs(run.d, run.z, one, other), run.z)
    if len(price.pairs) > 4:
        return
    part, z = (
        MeanProfile(((S.One, price),)),
        Integer(run.z),
    )  # which the kernel counts, and does not multiply out

    def step(kernel: Kernel, near: Expr, far: Expr) -> Span:
        return kernel.suppose(run.order, (run.time + _i, run.time + _i + 1), (near, far), part, "a step")

    induction = StepInduction(KERNEL, _i, Integer(count), ())
    made = induction.span(Integer(run.time), z, Power(part, _i), step)
    run.span = KERNEL.chain(run.span, made)
    for _ in range(count):
        run.term = f"(qcompose {run.term} {term})"
        run.moved(one, other, run.z)


def _blocks(run: Run) -> None:
    """Two or three equal blocks: tables through bounds at a few nodes, which Coq compares with its contraction."""
    before = as_table(run.span.profile, run.values.tables)
    if before is None or "orders" in run.fault or isinstance(run.span.profile, BlockChain):
        return
    random, (one, other), count = run.random, two_runs(run.random, run.k), run.random.randint(2, 3)
    wide = max(map(max, run.d))
    near, near_term = run.priced(near_pairs(run.d, run.z, one, other), run.z)
    far, far_term = run.priced(near_pairs(run.d, wide, one, other), run.z)
    base = run.span.profile
    span = run.span if run.span.near <= wide else KERNEL.weaken(run.span, near=Integer(wide))
    known, known_term = before, run.term
    for done in range(count):
        place = Integer(run.time), Integer(run.time + 1)
        premises = [
            KERNEL.suppose(run.order, place, (Integer(z), Integer(run.z)), price, "a block")
            for z, price in ((run.z, near), (wide, far))
        ]
        made = contract(KERNEL, span, *premises, Integer(wide))
        span = KERNEL.weaken(made, profile=BlockChain(base, near, far, _i, Integer(done + 1)))
        cut = random.randint(0, len(known.pairs))
        shares = tuple((Integer(i >= cut), Integer(i >= cut)) for i in range(len(known.pairs)))
        listed, parts = parts_text(known, (*shares, (S.One, S.Zero)))
        pairs = [(y * m * u, m * v) for (y, m), (u, v) in zip(known.pairs, shares, strict=True)]
        forget = run.fault == "a part forgotten"
        values = {
            g: block(g, pairs, known.rest, near.at, (lambda _: S.Zero) if forget else far.at)
            for g in (Rational(1, 2), S.One, Rational(3, 2), Integer(2))
        }
        table = through(values)
        run.checks += [f"good {listed}", f"parts_of (qpairs {listed}) {parts}", f"below {known_term} {listed}"]
        bound = f"(qcontracted (qvalue {far_term}) {near_term} (qpairs {listed}) {parts})"
        run.checks += [f"good {table_text(table)}", f"below {bound} {table_text(table)}"]
        known, known_term = table, f"(qvalue {table_text(table)})"
        run.moved(one, other, run.z)
    run.values.tables[span.profile] = known
    run.span, run.term = span, known_term


_STEPS = (_plain, _plain, _weakened, _revealed, _averaged, _repeated, _block, _blocks, _noisy, _hidden_coin)


def chain(random: Random, fault: str = "") -> Instance:
    """A run of one to four steps."""
    run = _start(random, fault)
    for _ in range(random.randint(1, 4)):
        table = as_table(run.span.profile, run.values.tables)
        if table is not None and len(table.pairs) > MOST:
            break
        random.choice(_STEPS)(run)
    profile, values = run.span.profile, run.values
    table = as_table(profile, values.tables)
    nodes = [y for y, _ in table.pairs] if table else []
    some = sorted(random.sample(nodes, min(len(nodes), 3)))
    nodes = list(dict.fromkeys((*some, Rational(random.randint(1, 12), 4), S.One)))
    return Instance(
        run.pairs,
        run.d,
        run.z,
        lambda g: values.at(profile, g),
        run.term,
        list(dict.fromkeys(run.checks)),
        nodes,
        profile,
    )


def coin(random: Random, fault: str = "") -> Instance:
    """The cost of a hidden coin: a sample of run 1 alone, in both orders, or a sample that is replaced."""
    k, rate = random.randint(2, 4), Fraction(random.randint(1, 4), 4)
    without, with_, other = (spread(random, k) for _ in range(3))
    mean, mean_ = (mixed((1 - rate, rate), (without, one)) for one in (with_, other))
    kind, d, q = (
        random.randrange(3),
        tuple(tuple(int(x != y) for y in range(k)) for x in range(k)),
        rational(rate),
    )
    pairs = (
        [(with_, without)] if kind < 2 else [(a, b) for a in (with_, other) for b in (without, with_, other)]
    )
    exact = envelope(pairs, d, 0)
    theta = envelope([(b, a) for a, b in pairs], d, 0) if fault == "orders exchanged" else exact
    term = f"(qvalue {table_text(exact)})"

    def curve(g: Expr) -> Expr:
        return theta.at(g) - (theta.rest if fault == "a mass forgotten" else S.Zero)

    q = S.One if fault == "a weight forgotten" else q

    def value(g: Rational) -> Expr:
        g = 1 / g if fault == "g inverted" else g
        if kind == 0:
            return formulas.sampled_hockey_stick(g, q, curve)
        if kind == 1:
            return formulas.exchanged(g, lambda r: formulas.sampled_hockey_stick(r, q, curve))
        return formulas.replaced_hockey_stick(g, q, curve)

    above = f"qabove_one {number(rate)} {term}"
    terms = (
        f"(qsampled {number(rate)} {term})",
        f"(qreflected (qsampled {number(rate)} {term}))",
        f"(fun g => if Qle_bool q1 g then {above} g else qreflected ({above}) g)",
    )
    laws = ((mean, without), (without, mean), (mean, mean_))[kind]
    nodes = [*[y for y, _ in exact.pairs if y != 0][:2], Rational(random.randint(1, 12), 4), S.One]
    return Instance([laws], d, 0, value, terms[kind], [f"good {table_text(exact)}"], list(dict.fromkeys(nodes)))


def hidden(random: Random, fault: str) -> Instance:
    """Two cases that stay hidden, compared with a third law."""
    k, order, weight = random.randint(2, 4), random.choice(tuple(Order)), Fraction(random.randint(1, 4), 5)
    weights, d = (weight, 1 - weight), tuple(tuple(int(x != y) for y in range(k)) for x in range(k))
    both = [(spread(random, k), spread(random, k)) for _ in range(2)]
    if random.random() < 0.5:
        both[1] = (both[1][0], both[1][0])
    third = random.choice((both[1][1], spread(random, k)))
    c = Fraction(random.choice((-4, -2, -1, 0, 1, 2, 4)), 2)
    numbers = (c, -weight * c / (1 - weight) - Fraction(random.randint(0, 1), 4))
    choices = tuple((rational(one), Rational(random.randint(0, 4), 4)) for one in numbers)
    kernel, variable, terms = Kernel(_at_both), Variable("R", S.Zero), list[list[str]]()
    parts, checks = list[Span](), list[str]()
    for pairs in (both, [(p, third) for p, _ in both], [(third, q) for _, q in both]):
        exact = [envelope([pair], d, 0) for pair in pairs]
        given = [envelope([pair[::-1]], d, 0) for pair in pairs] if fault == "orders exchanged" else exact
        ends = (S.Zero, S.One), (S.Zero, S.Zero)
        parts.append(kernel.suppose(order, *ends, _of_both(given), "case", (variable,)))
        terms.append([f"(qvalue {table_text(one)})" for one in exact])
        checks += [f"good {table_text(one)}" for one in exact]
    said = weights[::-1] if fault == "a weight forgotten" else weights
    over = (_i, Integer(2), _linear(*map(rational, said)))
    profile = compare_with_third(kernel, variable, (parts[0], parts[1], parts[2]), over).profile
    assert isinstance(profile, ThreeLaws)
    values, cases = Values(choices={profile: choices}, fault=fault), list(zip(weights, choices, strict=True))
    listed = "; ".join(f"({number(w)}, {number(c)}, {number(t)})" for w, (c, t) in cases)
    means = "; ".join(
        f"({number(w)}, qthird {' '.join(own)} {number(c)} {number(t)})"
        for (w, (c, t)), *own in zip(cases, *terms, strict=True)
    )
    means_of = tuple(mixed(weights, [pair[which] for pair in both]) for which in range(2))
    nodes = [S.One, Rational(random.randint(1, 12), 4), Rational(random.randint(4, 12), 4)]
    return Instance(
        [(means_of[0], means_of[1])],
        d,
        0,
        lambda g: values.at(profile, g),
        f"(qmean {number(Fraction(0))} [:: {means}])",
        [*checks, f"chosen [:: {listed}]"],
        list(dict.fromkeys(nodes)),
    )


def instances(count: int, seed: int, fault: str = "") -> Iterator[Instance]:
    """Random instances, of which one in ten is the cost of a coin, and one in ten has hidden cases."""
    random = Random(seed)  # noqa: S311 no secret is drawn
    for i in range(count):
        yield (chain if i % 5 < 4 else coin if i % 10 == 4 else hidden)(random, fault)
