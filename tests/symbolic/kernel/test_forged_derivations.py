"""Forged derivations: attempts to reach a false judgement through names that anybody can import; each is refused.

Every entry names the guard that it is a witness of: with that guard switched off the attempt goes through.
"""

import ast
import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest
from sympy import (
    Eq,
    Expr,
    Float,
    Function,
    Ge,
    I,
    Integer,
    Le,
    Rational,
    S,
    Sum,
    Symbol,
    log,
    oo,
    sqrt,
    symbols,
)

from lastiterate.proofs_checks.decide import decide as decide_claim
from lastiterate.proofs_checks.engines import derivation
from lastiterate.proofs_checks.engines.derivation import deduce
from lastiterate.proofs_checks.engines.side_conditions import prove, replayed
from lastiterate.proofs_checks.verdict import ClaimReport, Status, Verdict
from lastiterate.symbolic.checks import Derived, Tracked
from lastiterate.symbolic.claim import Ours, derived
from lastiterate.symbolic.derivations import TRACKED
from lastiterate.symbolic.derivations.deductions import DEDUCTIONS
from lastiterate.symbolic.derivations.losses import LOSSES, Losses, both_orders
from lastiterate.symbolic.kernel.induction import Sequence, StepInduction, steps_before
from lastiterate.symbolic.kernel.integrals import Calculus, Proposition
from lastiterate.symbolic.kernel.judgement import (
    Guarantee,
    Hypothesis,
    Span,
    UnprovedError,
    Variable,
    record,
    show,
)
from lastiterate.symbolic.kernel.judgement import apply as draft
from lastiterate.symbolic.kernel.lemmas import (
    Coin,
    Expansion,
    Guide,
    Shift,
    gaussian_shift,
    no_shift,
    projected_sample,
    shown,
)
from lastiterate.symbolic.kernel.profiles import (
    EVERYTHING,
    Atoms,
    Average,
    BlockChain,
    Chords,
    Composed,
    Equal,
    Gauss,
    MeanProfile,
    Order,
    PoissonStep,
    Power,
    Profile,
    Projected,
    Steps,
    SwapStep,
    X,
    put_values,
    sound,
)
from lastiterate.symbolic.kernel.rules import Kernel, contract
from lastiterate.symbolic.kernel.sealed import rule
from lastiterate.symbolic.kernel.substitution import whichever
from lastiterate.symbolic.notation import D, K, T, alpha, n, sigma
from lastiterate.symbolic.notation import eta as step_size
from lastiterate.symbolic.papers import proof
from lastiterate.symbolic.statement import FullBatches, StronglyConvex, private

KERNEL, FIRST, ONE, STILL = Kernel(prove), Order.FIRST, S.One, (S.Zero, S.Zero)
OBVIOUS = Kernel(lambda *_: "obvious")
STEP = (S.Zero, ONE)
x, u, u_m, w, w_m, a, eta = symbols("x u u_m w w_m a eta", real=True)
lam = Symbol("lambda", real=True)
p, prime = Symbol("p", positive=True), Symbol("p", prime=True)
j, i = symbols("j i", integer=True, nonnegative=True)
m = Symbol("m", integer=True, positive=True)
even = Symbol("j", even=True, nonnegative=True)
z = Symbol("z", nonnegative=True)
SWAP = SwapStep(S.Half, ONE)
ONE_ORDER = PoissonStep(S.Half, ONE, FIRST)
ORDERS = Variable("the orders", S.Zero)


def above_nothing(profile: object) -> Span:
    """Whatever is a profile is above that of no step."""
    return KERNEL.weaken(KERNEL.identity(FIRST, S.Zero, S.Zero), profile=profile)  # type: ignore[arg-type]


def supposed(profile: object, order: Order = FIRST, *revealed: Variable) -> Span:
    return KERNEL.suppose(order, STEP, STILL, profile, "it", revealed)  # type: ignore[arg-type]


def averaged(index: Symbol, share: Expr) -> Span:
    case = (ONE, supposed(Gauss(ONE), FIRST, ORDERS))
    return KERNEL.mean(ORDERS, (case,), over=(index, m, share))


def free_step(kernel: Kernel, *_: Expr) -> Span:
    kept = Expansion(z, z, Guide.OTHER, ())
    return kernel.step(FIRST, j, STILL, kept, no_shift(), ONE)


def cheap(span: Span) -> Span:
    """The same at the price of nothing, put together by hand."""
    return record(span, profile=Equal())


class Free(Gauss):
    """A profile that says that it is any other."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = Gauss.__hash__


class Zero(Function):  # type: ignore[misc]
    """A number that says of itself what it likes."""

    is_real = is_nonnegative = is_finite = True


Namesake = type("Symbol", (Zero,), {"__module__": "sympy.core.symbol"})


class Anything(frozenset[Hypothesis]):
    """An event that takes away all that is supposed."""

    def __rsub__(self, _: object) -> frozenset[Hypothesis]:
        return frozenset()


class Called(Anything):
    def __call__(self) -> None: ...


class Judged(Anything):
    premises = ()


def on_anything(event: type[Anything]) -> Callable[[], Span]:
    cases, said = ((ONE, supposed(Equal(), FIRST, ORDERS)),), Hypothesis("it is so")
    return lambda: KERNEL.mean(ORDERS, cases, events=(event({said}),))


def without_a_distance() -> Span:
    """An expansion of clipped gradients that leaves no distance, although its fields are as they were."""
    losses = LOSSES["clipped"].other_data(step_size, n, ONE)
    object.__setattr__(losses, "at", lambda _: S.Zero)
    return KERNEL.step(FIRST, S.Zero, STILL, losses, no_shift(), sigma**2)


def of_no_letters() -> Span:
    # A name of its own: to Sympy's cache functions of one name are equal.
    hiding = Function("hiding", nonnegative=True)
    hiding.args = property(lambda _: ())
    return supposed(Gauss(hiding(i)))


def letters_of_one_name() -> Span:
    """p is positive in one place and prime in the other."""
    made = KERNEL.chain(supposed(Gauss(p)), KERNEL.suppose(FIRST, (ONE, Integer(2)), STILL, Gauss(prime), "it"))
    replayed(made)
    return made


def of_sqrt() -> Span:
    """The price lambda^2 of sqrt(x), which x = -1 would make -1."""
    made = KERNEL.weaken(KERNEL.identity(FIRST, S.Zero, S.Zero), profile=Gauss(lam**2))
    return KERNEL.specialise(KERNEL.specialise(made, {lam: sqrt(x)}), {x: -ONE})


def specialised(profile: object, values: dict[Any, Any], kernel: Kernel = KERNEL) -> Span:
    return kernel.specialise(kernel.suppose(FIRST, STEP, STILL, profile, "it"), values)  # type: ignore[arg-type]


def recurrence() -> Span:
    """A recurrence in which the letter for its value gets a value is another one."""
    steps = StepInduction(KERNEL, j, m, (Sequence(u, S.Zero, u + 1, u_m),), (Ge(u, 0),))
    step = lambda kernel, *_: kernel.step(  # noqa: E731
        FIRST, j, STILL, Expansion(z, z + 1, Guide.OTHER, ()), gaussian_shift(ONE, ONE), ONE
    )
    return KERNEL.under(Ge(u_m, 0)).specialise(steps.span(S.Zero, S.Zero, Gauss(u), step), {u: S.Zero})


def one_sided_event() -> Span:
    """What is supposed of one order is put into an event, and the runs are exchanged."""
    coin = Variable("a coin", S.Zero)
    made = KERNEL.suppose(FIRST, STEP, STILL, Equal(), "it", (coin,))
    return KERNEL.exchange(KERNEL.mean(coin, ((ONE, made),), events=(made.hypotheses,)))


def contracted(before: object, far_from: Expr = ONE) -> Span:
    """A block that leaves less than is there: the masses of Q add up to more than 1."""
    parts = (
        KERNEL.suppose(FIRST, STEP, STILL, before, "before"),  # type: ignore[arg-type]
        KERNEL.suppose(FIRST, (ONE, Integer(2)), STILL, Gauss(ONE), "near"),
        KERNEL.suppose(FIRST, (ONE, Integer(2)), (far_from, S.Zero), EVERYTHING, "far"),
    )
    return contract(KERNEL, *parts, ONE)


def from_afar() -> Span:
    """Points 100 apart before any step, where any two of the domain are 1 apart."""
    before = KERNEL.identity(FIRST, S.Zero, Integer(100))
    near = KERNEL.suppose(FIRST, STEP, (Integer(100), S.Zero), EVERYTHING, "near")
    return contract(KERNEL, before, near, KERNEL.suppose(FIRST, STEP, (ONE, S.Zero), Equal(), "far"), ONE)


def near_distances() -> Span:
    """An expansion by a half, shown for distances of at most 1 and used at 100."""
    kernel = KERNEL.under(Le(z, 1))
    kept = Expansion(z, z, Guide.OTHER, (), conditions=(Ge(2, z + 1),))
    return kernel.step(FIRST, S.Zero, (Integer(100), Integer(100)), kept, no_shift(), ONE)


def edited(put: Callable[[object, str, object], None], **changes: object) -> Span:
    """An induction that is changed after it was made."""
    steps = StepInduction(KERNEL, j, m, (Sequence(u, ONE, u, u_m),), (Ge(u, 1),))
    for name, value in changes.items():
        put(steps, name, value)
    return steps.span(S.Zero, S.Zero, Equal(), free_step)


def copied_induction() -> Span:
    made = copy.copy(StepInduction(KERNEL, j, m, (Sequence(u, ONE, u, u_m),)))
    return made.span(S.Zero, S.Zero, Equal(), free_step)


def _overwritten(span: Span) -> Span:
    object.__setattr__(span, "near", S.One)
    return span


def induction_by_hand() -> Span:
    made = object.__new__(StepInduction)
    for name, value in vars(StepInduction(KERNEL, j, m, ())).items():
        object.__setattr__(made, name, value)
    return made.span(S.Zero, S.Zero, Equal(), free_step)


def induction(**changes: Any) -> StepInduction:
    """An induction of which something is not as it has to be."""
    fields: dict[str, Any] = {"index": j, "count": m, "sequences": (), **changes}
    return StepInduction(KERNEL, fields.pop("index"), fields.pop("count"), fields.pop("sequences"), **fields)


def anybodys_prover() -> Span:
    """A cost z is at most its square, which is obvious."""
    made = OBVIOUS.weaken(supposed(Gauss(z)), profile=Gauss(z**2))
    replayed(made)
    return made


def anybodys_calculus() -> Proposition:
    DEDUCTIONS["forged"] = lambda _: Calculus(lambda *_: "obvious").indicator(-p, p)  # type: ignore[index]
    try:
        return deduce("forged")
    finally:
        del DEDUCTIONS["forged"]  # type: ignore[attr-defined]


class MyKernel(Kernel):  # type: ignore[misc]
    """Rules of one's own."""


class MyCalculus(Calculus):
    """Every order is above 1."""

    def sign(self, order: Expr) -> Expr:  # noqa: ARG002
        return S.One


class MyInduction(StepInduction):  # type: ignore[misc]
    """An induction that shows nothing."""

    def _show(self, *_: object) -> list[Any]:
        return []


def own_rule() -> object:
    return rule(lambda: record(object.__new__(Span)))


def own_calculus_line() -> Proposition:
    """A draft of the calculus among premises."""
    rules = Calculus(prove)
    return rules.times(rules._draw("obvious", Le(p, 0, evaluate=False)), ONE)


def rounded() -> None:
    """A step from 1024 to 1024 + s at no cost: with one digit the sum is 1024 again."""
    far, losses = Float("1024", 1), LOSSES["clipped"].other_data(step_size, n, ONE)
    span = KERNEL.step(FIRST, S.Zero, (far, losses.at(far)), losses, no_shift(), sigma**2)
    replayed(KERNEL.specialise(span, {K: ONE, step_size: Rational(1, 8), n: ONE}))


def of_both_orders(profile: Profile) -> Profile:
    """The profile of one order, which says of itself that it bounds both."""
    object.__setattr__(profile, "order", None)
    return profile


def owed_class() -> Span:
    """A class of losses of one's own among those of the package."""
    LOSSES["mine"] = Losses("every loss is nice", (), (), S.Zero)  # type: ignore[index]
    return KERNEL.identity(FIRST, S.Zero, S.Zero)


TABLE = Atoms(((ONE, S.Half), (Integer(3), Rational(1, 6))))
HEAVY = Atoms(((S.Half, Integer(2)),))
DENTED = Atoms(((S.Half, Rational(-1, 10)), (ONE, S.Half), (Integer(2), Rational(1, 4))))
cost = Function("A", nonnegative=True)

FORGED: dict[str, dict[str, Callable[[], object]]] = {
    "a value is a real number wherever it is given": {
        "a root, then of a negative number": of_sqrt,
        "a logarithm of any number": lambda: specialised(Gauss(lam**2), {lam: log(x)}),
        "an inverse of any number": lambda: specialised(Gauss(lam**2), {lam: 1 / x}),
        "an inverse of a nonnegative number": lambda: specialised(Gauss(lam**2), {lam: 1 / z}),
        "a letter of which no more than a name is known": lambda: specialised(
            Gauss(lam**2), {lam: Symbol("c")}
        ),
        "an imaginary number": lambda: specialised(Gauss(lam**2), {lam: I}),
        "an infinite sum": lambda: specialised(Gauss(lam**2), {lam: Sum(x, (i, 0, oo))}),
        "an infinite number": lambda: specialised(Gauss(lam**2), {lam: oo}),
    },
    "a value has all that its letter was declared to have": {
        "4 for a prime": lambda: specialised(Gauss(prime), {prime: Integer(4)}),
        "a half for a whole number": lambda: specialised(Gauss(m), {m: S.Half}),
        "a negative number for a positive one": lambda: specialised(Gauss(p), {p: -ONE}),
        "0 for a number that is not": lambda: specialised(
            Equal(), {Symbol("c", real=True, zero=False): S.Zero}
        ),
    },
    "numbers are exact": {"a distance that takes up what is added": rounded},
    "a value is put for a letter": {
        "for a power": lambda: specialised(Gauss(lam**2), {lam**2: -ONE}),
        "for a number": lambda: specialised(Gauss(ONE), {S.One: S.Zero}),
    },
    "no value is put for what ranges over many": {
        "the value of a sequence": recurrence,
        "the chi-square variable": lambda: specialised(Projected(Gauss(X * lam**2), Integer(3)), {X: S.Zero}),
        "made of the chi-square variable": lambda: specialised(Projected(Gauss(X * z), Integer(3)), {z: 1 / X}),
        "a load made of it": lambda: projected_sample(ONE, ONE, ONE, ONE, Integer(3), 1 / X),
    },
    "a table has masses that add up to at most 1": {
        "heavier than no step": lambda: above_nothing(HEAVY),
        "supposed": lambda: supposed(HEAVY),
        "before a block": lambda: contracted(HEAVY),
    },
    "a supposed profile is one": {
        "a table that is not convex": lambda: supposed(DENTED),
        "a negative price": lambda: supposed(Gauss(-ONE)),
        "weights of a half": lambda: supposed(MeanProfile(((S.Half, Gauss(ONE)),))),
    },
    "a profile is of the order of its parts": {
        "a power": lambda: KERNEL.weaken(
            supposed(Power(ONE_ORDER, m)), profile=of_both_orders(Power(ONE_ORDER, m))
        ),
        "a composition": lambda: sound(of_both_orders(Composed((ONE_ORDER, Gauss(ONE))))),
        "a mean": lambda: sound(of_both_orders(MeanProfile(((ONE, ONE_ORDER),)))),
        "a projected step": lambda: sound(of_both_orders(Projected(ONE_ORDER, Integer(3)))),
        "a mean of both": lambda: MeanProfile(
            ((S.Half, ONE_ORDER), (S.Half, PoissonStep(S.Half, ONE, Order.SECOND)))
        ),
    },
    "a profile is of a class of the kernel": {
        "one that equals all others": lambda: sound(Free(S.Zero)),
    },
    "a judgement is of the order of its profile": {
        "supposed": lambda: supposed(ONE_ORDER, Order.SECOND),
        "cases of both orders": lambda: KERNEL.mean(
            ORDERS, tuple((S.Half, supposed(Gauss(ONE), order, ORDERS)) for order in Order)
        ),
    },
    "a variable is drawn once": {
        "the same batch in two steps": lambda: KERNEL.chain(
            KERNEL.mean(ORDERS, ((ONE, supposed(Gauss(ONE), FIRST, ORDERS)),)),
            KERNEL.suppose(FIRST, (ONE, Integer(2)), STILL, Gauss(ONE), "it", (ORDERS,)),
        ),
    },
    "an index is any whole number": {
        "an even one of steps": lambda: sound(Steps(Gauss(cost(even)), even, m)),
        "an even one of an induction": lambda: induction(index=even),
        "of a mean": lambda: averaged(even, 1 / m),
        "half a time": lambda: sound(Power(SWAP, S.Half)),
    },
    "what is below grows with a rate that is a chance": {
        "a rate of 2": lambda: KERNEL.weaken(supposed(SWAP), profile=SwapStep(Integer(2), ONE)),
        "chances that may add up to more": lambda: KERNEL.weaken(
            supposed(MeanProfile(((S.Half, Gauss(ONE)),), S.Half)),
            profile=MeanProfile(((S.Half, Gauss(ONE)),), ONE),
        ),
        "weights of a mean that add up to a half": lambda: averaged(i, 1 / (2 * m)),
        "a lattice left of 0": lambda: KERNEL.weaken(
            supposed(Gauss(ONE)), profile=Chords(Gauss(ONE), -1 - i, i, m)
        ),
        "no block": lambda: KERNEL.weaken(
            supposed(EVERYTHING), profile=BlockChain(EVERYTHING, Equal(), Average(ONE, Equal(), i, m), i, -ONE)
        ),
    },
    "a draft is no judgement": {
        "weakened by hand": lambda: KERNEL.exchange(cheap(KERNEL.identity(FIRST, S.Zero, S.Zero))),
        "weakened by hand, with others": lambda: KERNEL.chain(
            supposed(Gauss(ONE)), cheap(supposed(Gauss(ONE)))
        ),
        "in a mean": lambda: KERNEL.mean(ORDERS, ((ONE, cheap(supposed(Gauss(ONE), FIRST, ORDERS))),)),
        "one application that no rule made": lambda: KERNEL.exchange(
            draft(KERNEL, "obvious", FIRST, STEP, STILL, Equal(), ())
        ),
        "in a guarantee": lambda: Guarantee(cheap(supposed(Gauss(ONE))), supposed(Gauss(ONE), Order.SECOND)),
        "of the calculus": own_calculus_line,
    },
    "a copy is no judgement": {
        "copied": lambda: KERNEL.exchange(copy.copy(KERNEL.identity(FIRST, S.Zero, S.Zero))),
        "deeply": lambda: KERNEL.exchange(copy.deepcopy(KERNEL.identity(FIRST, S.Zero, S.Zero))),
        "pickled": lambda: KERNEL.exchange(pickle.loads(pickle.dumps(KERNEL.identity(FIRST, S.Zero, S.Zero)))),  # noqa: S301
        "overwritten": lambda: KERNEL.exchange(_overwritten(KERNEL.identity(FIRST, S.Zero, S.Zero))),
        "replaced": lambda: replace(KERNEL.identity(FIRST, S.Zero, S.Zero), profile=Equal()),
        "of an induction": copied_induction,
        "an induction by hand": induction_by_hand,
    },
    "the rules are those of the package": {
        "a rule of one's own": own_rule,
        "a kernel of one's own": lambda: MyKernel(prove).identity(FIRST, S.Zero, S.Zero),
        "a calculus of one's own": lambda: MyCalculus(prove).reflexive(Symbol("P"), p),
        "an induction of one's own": lambda: MyInduction(
            KERNEL, j, m, (Sequence(u, ONE, u + 1, u_m),), (Le(u, 0),)
        ),
        "what only looks like a kernel": lambda: Kernel.identity(
            SimpleNamespace(prover=prove, given=frozenset()),
            FIRST,
            S.Zero,
            S.Zero,  # type: ignore[arg-type]
        ),
        "what only looks like a calculus": lambda: Calculus.indicator(
            SimpleNamespace(prover=prove, given=frozenset()),
            p,
            p,  # type: ignore[arg-type]
        ),
        "an induction that is changed": lambda: edited(setattr, keeps=(Ge(u, 5),)),
        "an induction that is overwritten": lambda: edited(object.__setattr__, _known=frozenset({Ge(u, 5)})),
        "a class of losses that is added": owed_class,
    },
    "objects have the methods of their class, one of Sympy's or of the package": {
        "an event that takes away all": on_anything(Anything),
        "that may be called": on_anything(Called),
        "that has premises": on_anything(Judged),
        "a number that says of itself what it likes": lambda: KERNEL.identity(FIRST, S.Zero, Zero(ONE)),
        "one with the name of a class of Sympy's": lambda: KERNEL.identity(FIRST, S.Zero, Namesake(ONE)),
        "an expansion with another method": without_a_distance,
        "a function that hides its letter": of_no_letters,
    },
    "side conditions are shown by the package": {
        "anybody's prover": anybodys_prover,
        "anybody's prover in the calculus": anybodys_calculus,
    },
    "a letter has one meaning": {
        "two of one name": letters_of_one_name,
        "a sequence twice": lambda: induction(
            sequences=(Sequence(u, S.Zero, u + 1, u_m), Sequence(u, ONE, u, w_m))
        ),
        "one last value of two": lambda: induction(
            sequences=(Sequence(u, S.Zero, u, u_m), Sequence(w, ONE, w, u_m))
        ),
        "a sequence made of its last value": lambda: induction(sequences=(Sequence(u, S.Zero, u_m + 1, u_m),)),
    },
    "a condition holds for any distance and any index": {
        "for distances of at most 1": near_distances,
        "for what stands for any value": lambda: KERNEL.under(Eq(whichever(i), 0)).weaken(
            supposed(Steps(Gauss(i), i, m)), profile=Steps(Gauss(S.Zero), i, m)
        ),
    },
    "an event is no less one-sided than what it says": {"exchanged": one_sided_event},
    "the points before a block are in the domain": {"100 apart before any step": from_afar},
    "a step of an induction is made under it": {
        "steps before that are no induction's": lambda: derivation._replayed(
            steps_before(KERNEL, FIRST, STEP, STILL, Equal(), j, frozenset())
        ),
    },
}
ATTEMPTS = {f"{guard}: {name}": attempt for guard, some in FORGED.items() for name, attempt in some.items()}


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
def test_a_forged_judgement_is_refused(attempt: Callable[[], object]) -> None:
    with pytest.raises((UnprovedError, TypeError, AttributeError)):
        attempt()


def test_no_condition_is_shown_under_one_on_what_stands_for_any_value() -> None:
    with pytest.raises(UnprovedError, match="may not contain a letter that stands for an arbitrary value"):
        show(KERNEL, Le(i, 0), frozenset({Eq(whichever(i), 0)}))


def test_there_are_many_attempts() -> None:
    assert len(ATTEMPTS) >= 60


def _steps(
    kernel: Kernel, expansion: Expansion, shift: Shift, coin: Coin | None = None, *laws: Any
) -> Guarantee:
    """T steps, each at what its parts say."""
    steps = StepInduction(kernel, j, T, (), letters=(eta,), laws=laws)

    def step(inner: Kernel, *_: Expr) -> Span:
        return inner.step(FIRST, j, STILL, expansion, shift, sigma**2, coin)

    return both_orders(kernel, steps.span(S.Zero, S.Zero, Equal(), step))


APART = Expansion(z, z, Guide.OTHER, ())


@dataclass
class Fake:
    """What only looks like a guarantee."""

    first: Span
    second: Span


def _inside(diameter: Expr) -> Callable[[Kernel], Guarantee]:
    def made(kernel: Kernel) -> Guarantee:
        span = kernel.domain(FIRST, (S.Zero, T), S.Zero, diameter)
        return both_orders(kernel, kernel.weaken(span, far=S.Zero))

    return made


CLAIMED: dict[str, tuple[str, Callable[[Kernel], object]]] = {
    "a domain of one point": ("what is supposed is listed", _inside(S.Zero)),
    "laws that are no distance apart": (
        "what is supposed is listed",
        lambda kernel: both_orders(kernel, kernel.apart(FIRST, (S.Zero, T), S.Zero)),
    ),
    "a law of step sizes": (
        "what is supposed is listed",
        lambda kernel: _steps(
            kernel, LOSSES["convex"].other_data(eta, T, S.Zero), no_shift(), None, Ge(eta, 0)
        ),
    ),
    "a law of numbers": (
        "a law without a letter of a step is a condition on the numbers",
        lambda kernel: _steps(kernel, LOSSES["clipped"].other_data(S.Zero, T, S.One), no_shift(), None, D <= 2),
    ),
    "a judgement": (
        "a judgement that is not derived is listed",
        lambda kernel: Guarantee(*(kernel.suppose(one, (S.Zero, T), STILL, Equal(), "it") for one in Order)),
    ),
    "an expansion": ("a part of a step is shown by a lemma", lambda kernel: _steps(kernel, APART, no_shift())),
    "an expansion that says so": (
        "a part of a step is shown by a lemma",
        lambda kernel: _steps(kernel, shown(APART), no_shift()),
    ),
    "a shift that says so": (
        "a part of a step is shown by a lemma",
        lambda kernel: _steps(kernel, APART, shown(Shift(ONE, Equal(), S.Zero))),
    ),
    "anybody's prover": ("side conditions are shown by the package", lambda _: _inside(S.Zero)(OBVIOUS)),
    "a drop of anybody's": (
        "side conditions are shown by the package",
        lambda _: both_orders(
            OBVIOUS, OBVIOUS.weaken(OBVIOUS.domain(FIRST, (S.Zero, T), S.Zero, D), far=S.Zero)
        ),
    ),
    "no guarantee": (
        "a derivation returns a guarantee",
        lambda kernel: Fake(*(cheap(kernel.identity(one, S.Zero, S.Zero)) for one in Order)),
    ),
    "the steps before": (
        "what an induction supposes of the steps before is discharged",
        lambda kernel: Guarantee(
            *(steps_before(kernel, one, (S.Zero, T), STILL, Equal(), j, frozenset()) for one in Order)
        ),
    ),
}


@pytest.mark.parametrize(("guard", "made"), CLAIMED.values(), ids=CLAIMED)
def test_a_claim_of_a_forged_derivation_is_not_proved(
    guard: str, made: Callable[[Kernel], Guarantee], monkeypatch: pytest.MonkeyPatch
) -> None:
    """T clipped steps cost nothing, says a claim without a statement."""
    monkeypatch.setitem(derivation.DERIVATIONS, "forged", made)
    derivation.derive.cache_clear()
    claim = Ours(
        "ours/forged", "T clipped steps cost nothing", proof("contraction", "x"), Derived("forged", Equal())
    )
    try:
        found = decide_claim(claim)
    finally:
        derivation.derive.cache_clear()
    assert found.verdict not in {Verdict.PROVED, Verdict.SUPPORTED}, (guard, found.outcomes)


_CURVED = LOSSES["strongly convex"]
_FIRST_STEPS = (S.Zero, _CURVED.constants[0]), _CURVED.constants[1:]
_NAMED = f"at every step j of the next number of steps {_CURVED.says}"


def _named_after_losses(kernel: Kernel) -> Guarantee:
    """A supposition with the name and the constants of a class says that the runs are K apart after m steps."""
    losses = _CURVED.other_data(step_size, n, ONE)
    m, _, near = _CURVED.constants

    def made(order: Order) -> Span:
        before = kernel.weaken(kernel.suppose(order, *_FIRST_STEPS, Equal(), _NAMED), near=S.Zero)
        last = kernel.step(
            order, m, (near, S.Zero), losses, gaussian_shift(losses.at(near), sigma**2), sigma**2
        )
        return kernel.chain(before, last, kernel.identity(order, T, S.Zero))

    return Guarantee(*map(made, Order))


def test_a_supposition_that_is_named_after_a_class_of_losses_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement grants losses of a class, and no judgement that was supposed under their name."""
    monkeypatch.setitem(derivation.DERIVATIONS, "forged", _named_after_losses)
    derivation.derive.cache_clear()
    m, smooth, near = _CURVED.constants
    square = _CURVED.other_data(step_size, n, ONE).at(near) ** 2 / sigma**2
    given = (Eq(T, m + 1), m <= smooth, step_size * smooth <= 2)
    said = f"{_NAMED} ({', '.join(map(str, sum(_FIRST_STEPS, ())))}), so that the profile is at most {Equal()}"
    claim = Ours(
        "ours/forged",
        "K apart after m steps",
        proof("contraction", "x"),
        Derived("forged", Gauss(square), supposed=(said,)),
        assumptions=given,
        statement=private(alpha * square / 2, StronglyConvex(m, smooth, near), FullBatches(n), *given),
    )
    try:
        found = decide_claim(claim)
    finally:
        derivation.derive.cache_clear()
    assert found.outcomes[0].status is Status.HELD
    assert found.verdict is Verdict.UNDECIDED


def test_a_distance_is_one_that_rules_track(monkeypatch: pytest.MonkeyPatch) -> None:
    forged_span = cheap(KERNEL.domain(FIRST, (S.Zero, T), S.Zero, D))
    monkeypatch.setitem(TRACKED, "forged", lambda _: record(forged_span, far=S.Zero))
    outcome = derivation.decide(Tracked("forged", S.Zero), ())
    assert outcome.status is Status.UNDECIDED


_COST = Gauss(T * (2 * step_size * K / n) ** 2 / sigma**2)
NO_DISTANCES = {
    "no step": lambda kernel: kernel.identity(FIRST, S.Zero, S.Zero),
    "from the last step on": lambda kernel: kernel.identity(FIRST, T, S.Zero),
    "from starts that are apart": lambda kernel: kernel.domain(FIRST, (S.Zero, T), D, D),
    "at a cost": lambda kernel: derivation.DERIVATIONS["full_batch/composition"](kernel).first,
}


@pytest.mark.parametrize("name", NO_DISTANCES)
def test_a_distance_is_after_all_steps_from_equal_starts_at_no_cost(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(TRACKED, "forged", NO_DISTANCES[name])
    derivation.track.cache_clear()
    try:
        outcome = derivation.decide(Tracked("forged", D), ())
    finally:
        derivation.track.cache_clear()
    assert outcome.status is Status.UNDECIDED
    assert "equal starts" in outcome.detail


@pytest.mark.parametrize("name", ["inside", "noisy_sgd/composition"])
def test_what_is_listed_is_proved(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A claim that says all that it supposes stands; one that leaves a hypothesis out does not, whatever its name."""
    monkeypatch.setitem(derivation.DERIVATIONS, name, _inside(S.Zero))
    derivation.derive.cache_clear()
    says = "after every step both runs are in one convex set of this diameter (0)"
    for listed, verdict in (((says,), Verdict.PROVED), ((), Verdict.UNDECIDED)):
        check = Derived(name, Gauss(D), supposed=listed)
        source = proof("contraction", "x")
        claim = Ours("ours/inside", "A domain of one point", source, check, statement=derived((check,), ()))
        assert decide_claim(claim).verdict is verdict
        claim = Ours("ours/inside", "A domain of one point", source, check)
        assert "needs a statement" in decide_claim(claim).left_open
    derivation.derive.cache_clear()


def test_a_derivation_of_the_package_is_listed_by_a_claim_of_ones_own() -> None:
    """T steps cost what they do on noise and clipped gradients, which a claim without a statement has to say."""

    def decided(*listed: str) -> ClaimReport:
        check = Derived("full_batch/composition", _COST, supposed=listed)
        said = derived((check,), ())
        return decide_claim(
            Ours("mine/composition", "T steps of anything", proof("contraction", "x"), check, statement=said)
        )

    found = decided()
    assert found.verdict is Verdict.UNDECIDED
    named = found.left_open.partition("supposed=")[2]
    assert "independent Gaussian noise of this variance" in named
    assert decided(*ast.literal_eval(named)).verdict is Verdict.PROVED


def test_a_binding_letter_captures_no_value() -> None:
    total = Sum(x * i, (i, 1, m))
    assert put_values(total, {x: i}).free_symbols == {i, m}
    assert put_values(i + total, {i: ONE}) == 1 + total


def test_hypotheses_of_a_template_stay_those_of_all_steps() -> None:
    """A hypothesis is no word: what a supposition is put to is what it supposes."""
    made = KERNEL.specialise(supposed(Gauss(p)), {p: Rational(1, 100)})
    assert any(Gauss(Rational(1, 100)) in one.bounds for one in made.hypotheses)
    assert not any(Gauss(p) in one.bounds for one in made.hypotheses)
