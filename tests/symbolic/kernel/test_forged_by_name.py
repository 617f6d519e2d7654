"""Forty and more forged derivations through names that anybody can import: each ends in an error or is not PROVED.

Those of `test_forged_derivations` are older; these try what changes later, what is called by another name, what
belongs to another step, and the names of the kernel themselves.
"""

import pickle
import sys
from collections.abc import Callable, Iterator
from importlib import import_module, reload
from pathlib import Path
from typing import Any

import pytest
from sympy import (
    Abs,
    Expr,
    Ge,
    I,
    Integer,
    Le,
    Rational,
    S,
    Sum,
    Symbol,
    Tuple,
    false,
    floor,
    oo,
    symbols,
    true,
)
from test_forged_derivations import FIRST, KERNEL, ONE, STEP, STILL, free_step, supposed

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.decide import decide as decide_claim
from lastiterate.proofs_checks.engines import derivation
from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.proofs_checks.folder import read_claims
from lastiterate.proofs_checks.verdict import ClaimReport, Verdict
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import Derived, NormBound, Printed, RenyiBound, Tracked
from lastiterate.symbolic.claim import Claim, Ours, derived
from lastiterate.symbolic.derivations.iterations import _least
from lastiterate.symbolic.derivations.losses import LOSSES, both_orders, by_claim, moved_apart, no_less, unmoved
from lastiterate.symbolic.kernel import induction
from lastiterate.symbolic.kernel.induction import Sequence, StepInduction, pay_in_cyclic_order, payments
from lastiterate.symbolic.kernel.judgement import Guarantee, Hypothesis, Meaning, Span, UnprovedError, Variable
from lastiterate.symbolic.kernel.lemmas import (
    Coin,
    Expansion,
    Guide,
    gaussian_shift,
    no_shift,
    on_condition,
    supposing,
)
from lastiterate.symbolic.kernel.profiles import (
    EVERYTHING,
    Atoms,
    Composed,
    Equal,
    Gauss,
    MeanProfile,
    Order,
    Power,
    Projected,
    Recurring,
    Steps,
    SwapStep,
    sound,
)
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.kernel.substitution import whichever
from lastiterate.symbolic.notation import D, K, T, alpha, b, eta, n, sigma, t, tau
from lastiterate.symbolic.papers import Source, proof
from lastiterate.symbolic.statement import Clipped, CyclicBatches, Diameter, FullBatches, LeastOver, private
from lastiterate.symbolic.vectors import Norm, Vector

x, u, u_m, v, v_m = symbols("x u u_m v v_m", real=True)
lam = Symbol("lambda", real=True)
i, j = symbols("i j", integer=True, nonnegative=True)
m = Symbol("m", integer=True, positive=True)
whole = Symbol("k'", integer=True)
z, other_z, s = symbols("z y s", nonnegative=True)
BATCH = Variable("the batch", S.Zero)
CLIPPED = LOSSES["clipped"].other_data(eta, n, ONE)
DISGUISED = (x + 1) ** 2 - x**2 - 2 * x - 1


def emptied_laws() -> Span:
    """Steps of any size at no cost: the law that the size is 0 is taken away after its use."""
    laws = [Le(u, 0), Ge(u, 0)]
    steps = StepInduction(KERNEL, j, T, (Sequence(v, S.Zero, v + u**2, v_m),), letters=(u,), laws=laws)  # type: ignore[arg-type]
    laws.clear()
    losses = LOSSES["clipped"].other_data(u, n, ONE)
    return steps.span(
        S.Zero, S.Zero, Equal(), lambda kernel, *_: kernel.step(FIRST, j, STILL, losses, no_shift(), ONE)
    )


def filled_keeps() -> Span:
    """u is 1 at first and grows by 1, and is said afterwards to stay below -5."""
    keeps: list[Any] = []
    steps = StepInduction(KERNEL, j, T, (Sequence(u, ONE, u + 1, u_m, j + 1),), keeps)  # type: ignore[arg-type]
    keeps.append(Le(u, -5))
    return steps.close(steps.span(S.Zero, S.Zero, Equal(), free_step))


def table_that_changes() -> Span:
    pairs = [(Integer(2), Rational(1, 4)), (ONE, S.Half)]
    made = KERNEL.weaken(KERNEL.identity(FIRST, S.Zero, S.Zero), profile=Atoms(pairs))  # type: ignore[arg-type]
    pairs[:] = [(ONE, -ONE)]
    return KERNEL.exchange(made)


def set_of_hypotheses() -> Expansion:
    said: Any = {Hypothesis("it is so")}
    return supposing(Expansion(z, z, Guide.OTHER, (), said))


def nameless() -> Span:
    """(i - c)^2 is 0 for one i, and then for all, if c is the letter for any i."""
    steps = supposed(Steps(Gauss((i - whichever(i)) ** 2), i, m))
    return KERNEL.weaken(steps, profile=Steps(Gauss(S.Zero), i, m))


def averaged(ends: tuple[Expr, Expr], variable: Variable, *more: Variable) -> Span:
    """A batch that decides all in one of two cases."""
    cases = (
        (S.Half, KERNEL.suppose(FIRST, ends, STILL, profile, "it", (variable, *more)))
        for profile in (EVERYTHING, Equal())
    )
    return KERNEL.mean(variable, cases)


def drawn_again_in_every_step() -> Span:
    """The batch of step 0 is averaged over in each step."""
    steps = StepInduction(KERNEL, j, T, ())
    variable = Variable("the batch", floor(j / (j + 1)))

    def extend(inner: Kernel, before: Span) -> Span:
        one = inner.chain(before, inner.suppose(FIRST, (j, j + 1), STILL, Equal(), "it", (variable,)))
        return inner.mean(variable, ((ONE, one),))

    return steps.recur(KERNEL.identity(FIRST, S.Zero, S.Zero), Equal(), extend)


def cyclic(kernel: Kernel, *laws: Any, visit: Expr = n / b, losses: Expansion | None = None) -> Span:
    """T clipped steps in cyclic order at no cost, by payments that obey laws of one's own."""
    kernel = kernel.under(Le(b, n))
    pay = payments(kernel, j, T, visit)
    steps = StepInduction(kernel, j, T, pay.sequences, pay.keeps, pay.letters, (*pay.laws, *laws), pay.ends)
    moved = losses or LOSSES["clipped"].other_data(eta, b, induction.k)
    made = steps.span(
        S.Zero,
        S.Zero,
        Equal(),
        lambda inner, *_: inner.step(FIRST, j, STILL, moved, no_shift(), sigma**2),
    )
    return pay_in_cyclic_order(kernel, steps, steps.close(made), (b, n))


def unmoved_everywhere(kernel: Kernel = KERNEL) -> Span:
    """No sample of the batch of step 3 is replaced, so that no step costs anything."""
    same = unmoved(Integer(3))
    return StepInduction(kernel, j, T, ()).span(
        S.Zero, S.Zero, Equal(), lambda inner, *_: inner.step(FIRST, j, STILL, same, no_shift(), sigma**2)
    )


LEMMA = Claim(
    "mine/step",
    "Two nonexpansive maps, s apart",
    Source("Mine", "Lemma 1"),
    NormBound(Vector("u") + Vector("w"), z + s, (Norm(Vector("u")) <= z, Norm(Vector("w")) <= s)),
)


def lemma(letter: Symbol) -> Expansion:
    """The expansion of a claim of one's own, for a letter that is its distance, or is not."""
    ledger.OWN[LEMMA.key] = LEMMA
    try:
        return by_claim(LEMMA, letter)
    finally:
        del ledger.OWN[LEMMA.key]


def captured() -> Expansion:
    """min(z + s, y + z) at z for y: the constant z of one expansion is the distance of the other."""
    another = no_less(lemma(s), s + z)
    return _least(LOSSES["clipped"].other_data(eta, n, ONE), another)


class Weird(Le):  # type: ignore[misc]
    """A condition that is every other, and obvious."""

    lhs = lts = property(lambda _: S.Zero)
    rhs = gts = property(lambda _: S.One)
    __hash__ = lambda _: hash(Le(ONE, z, evaluate=False))  # noqa: E731

    def __eq__(self, other: object) -> bool:
        return True


def remembered() -> Span:
    """The prover remembers what it has shown of a condition that equals all others."""
    prove(Weird(ONE, z, evaluate=False), frozenset())
    return KERNEL.weaken(KERNEL.identity(FIRST, S.Zero, z), near=ONE)


def assigned(module: str, name: str, value: object = None) -> Callable[[], object]:
    """Assign a name of a module, use it, and put it back."""

    def attempt() -> object:
        owner = import_module(f"lastiterate.{module}")
        before = getattr(owner, name)
        setattr(owner, name, value or (lambda *_, **__: []))
        vars(owner)[name] = before
        return owner

    return attempt


class Says(str):
    """Words that equal all others."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True


class Named(Variable):
    """A variable that is no other."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return False


class Cases:
    """Cases of a mean that are others when they are read again."""

    def __iter__(self) -> Iterator[tuple[Expr, Span]]:
        return iter(((ONE, supposed(Equal(), FIRST, BATCH)),))


class Values(dict[Symbol, Expr]):
    """Values that are not what is shown of them."""


KERNEL_LIKE = type("Kernel", (), {"__module__": "lastiterate.symbolic.kernel.rules"})

FORGED: dict[str, Callable[[], object]] = {
    "laws that are emptied": emptied_laws,
    "kept conditions that are added": filled_keeps,
    "a table that changes": table_that_changes,
    "a set of hypotheses": set_of_hypotheses,
    "conditions that change": lambda: on_condition(Coin(Equal(), conditions=[Ge(x, 0)])),  # type: ignore[arg-type]
    "what is given in a set": lambda: Kernel(prove, {Ge(x, 0)}).identity(FIRST, S.Zero, x),  # type: ignore[arg-type]
    "a letter for any index": nameless,
    "a value with a letter for any index": lambda: KERNEL.specialise(
        supposed(Gauss(lam**2)), {lam: whichever(i)}
    ),
    "one batch in two steps, by another name": lambda: KERNEL.chain(
        averaged(STEP, BATCH), averaged((ONE, Integer(2)), Variable("the batch", DISGUISED))
    ),
    "a batch of another step": lambda: averaged((ONE, Integer(2)), BATCH),
    "a batch of a later step": lambda: averaged(STEP, Variable("the batch", ONE)),
    "a batch revealed after its mean": lambda: KERNEL.chain(
        averaged(STEP, BATCH),
        KERNEL.suppose(FIRST, (ONE, Integer(2)), STILL, Equal(), "it", (Variable("the batch", DISGUISED),)),
    ),
    "a batch revealed before its mean": lambda: KERNEL.chain(
        KERNEL.suppose(FIRST, STEP, STILL, Equal(), "it", (Variable("the batch", 1 + DISGUISED),)),
        averaged((ONE, Integer(2)), Variable("the batch", ONE)),
    ),
    "two batches of one name": lambda: averaged(STEP, BATCH, Variable("the batch", DISGUISED)),
    "a batch in every step": drawn_again_in_every_step,
    "payments of nothing": lambda: cyclic(KERNEL, Le(induction.k, 0)),
    "payments that are negative": lambda: cyclic(KERNEL, Le(induction.u, -1), losses=CLIPPED),
    "payments of another visit": lambda: cyclic(KERNEL, visit=S.Zero),
    "a step of another number": lambda: KERNEL.step(FIRST, S.Zero, STILL, unmoved(ONE), no_shift(), sigma**2),
    "a step for all": unmoved_everywhere,
    "the lesser of two of different steps": lambda: _least(unmoved(ONE), unmoved(S.Zero)),
    "batches of less than no sample": lambda: KERNEL.step(
        FIRST, S.Zero, STILL, LOSSES["clipped"].other_data(eta, -n, ONE), no_shift(), sigma**2
    ),
    "a letter that is another's": captured,
    "a mean over any number": lambda: KERNEL.mean(
        BATCH, ((ONE, supposed(Gauss(ONE), FIRST, BATCH)),), over=(i, whole, 1 / whole)
    ),
    "an infinite distance": lambda: KERNEL.identity(FIRST, S.Zero, oo),
    "a distance of a letter that is not real": lambda: KERNEL.identity(FIRST, S.Zero, Abs(Symbol("c"))),
    "an imaginary step": lambda: KERNEL.identity(FIRST, I, S.Zero),
    "a condition that equals all": remembered,
    "another comparison": assigned("symbolic.kernel.rules", "covers"),
    "no condition on a profile": assigned("symbolic.kernel.rules", "sound"),
    "no condition on a table": assigned("symbolic.kernel.profiles", "_sound"),
    "no condition on a value": assigned("symbolic.kernel.substitution", "numbers"),
    "another way to show": assigned("symbolic.kernel.judgement", "show"),
    "a shift for nothing": assigned("symbolic.kernel.lemmas", "_ratio"),
    "classes of losses": assigned("symbolic.derivations.losses", "LOSSES"),
    "what is genuine": assigned("symbolic.kernel.induction", "genuine"),
    "another prover of the package": assigned("proofs_checks.engines.side_conditions", "prove"),
    "another engine of its prover": assigned("proofs_checks.engines.side_conditions", "decide_check"),
    "no replay": assigned("proofs_checks.engines.side_conditions", "replayed"),
    "a comparison that is gone": lambda: delattr(import_module("lastiterate.symbolic.kernel.rules"), "covers"),
    "a rule without its record": lambda: KERNEL.exchange(
        Kernel.weaken.__wrapped__(KERNEL, KERNEL.identity(FIRST, S.Zero, S.Zero), profile=Gauss(ONE))  # type: ignore[attr-defined]
    ),
    "a judgement as bytes": lambda: pickle.dumps(KERNEL.identity(FIRST, S.Zero, S.Zero)),
    "words that equal all": lambda: KERNEL.suppose(FIRST, STEP, STILL, Equal(), Says("it")),
    "a variable that is no other": lambda: averaged(STEP, Named("the batch", S.Zero)),
    "cases of one's own": lambda: KERNEL.mean(BATCH, Cases()),
    "values of one's own": lambda: KERNEL.specialise(supposed(Gauss(lam**2)), Values({lam: ONE})),
    "a kernel by name": lambda: Kernel.identity(KERNEL_LIKE(), FIRST, S.Zero, S.Zero),
    "an unlimited power": lambda: sound(Power(Gauss(ONE), oo)),
    "a power that takes away": lambda: KERNEL.suppose(
        FIRST, STEP, STILL, Power(SwapStep(S.Half, ONE), -ONE), "it"
    ),
    "a mean of less than nothing": lambda: supposed(MeanProfile(((Integer(2), Gauss(ONE)), (-ONE, Equal())))),
    "a recurrence of more than all": lambda: supposed(Recurring(Integer(2), Equal(), Gauss(ONE), Equal(), ONE)),
    "a projection to nothing": lambda: supposed(Projected(Gauss(ONE), S.Zero)),
    "a composition with what is no profile": lambda: supposed(Composed((Gauss(ONE), Atoms(((ONE, -ONE),))))),
}


@pytest.mark.parametrize("attempt", FORGED.values(), ids=FORGED)
def test_it_ends_in_an_error(attempt: Callable[[], object]) -> None:
    with pytest.raises((UnprovedError, TypeError, AttributeError)):
        attempt()


def each(made: Callable[[Kernel, Order], Span]) -> Callable[[Kernel], Guarantee]:
    return lambda kernel: Guarantee(*(made(kernel, order) for order in Order))


def within(kernel: Kernel, order: Order, end: Expr = T) -> Span:
    """Steps in a domain of one point."""
    return kernel.weaken(kernel.domain(order, (S.Zero, end), S.Zero, S.Zero), far=S.Zero)


def honest(kernel: Kernel, order: Order) -> Span:
    both = derivation.DERIVATIONS["full_batch/composition"](kernel)
    return both.first if order is FIRST else both.second


def less(kernel: Kernel, order: Order) -> Span:
    return kernel.weaken(honest(kernel, order), profile=CHEAP)


def not_derived(kernel: Kernel, order: Order) -> Span:
    return kernel.suppose(order, (S.Zero, T), STILL, Equal(), "it")


def two_meanings(kernel: Kernel) -> Guarantee:
    """The sum of the costs of all steps, with a hypothesis that it is a sum of zeros."""
    cost, zero, total = symbols("A_j B_j A", real=True)
    said = "which begins at the first and goes at every step j to the second, is after so many steps the last"
    moved = supposing(moved_apart(2 * eta * K / n), Meaning(said, (S.Zero, zero, T, total), value=cost))
    apart = 2 * eta * K / n
    sums = (Sequence(cost, S.Zero, cost + apart**2 / sigma**2, total),)
    steps = StepInduction(kernel, j, T, sums, (Ge(cost, 0),))

    def step(inner: Kernel, *_: Expr) -> Span:
        return inner.step(FIRST, j, STILL, moved, gaussian_shift(apart, sigma**2), sigma**2)

    return both_orders(kernel, steps.close(steps.span(S.Zero, S.Zero, Gauss(cost), step)))


def drawn_in_cyclic_order(kernel: Kernel) -> Guarantee:
    return both_orders(kernel, cyclic(kernel, Le(induction.k, 0)))


COST = T * (2 * eta * K / n) ** 2 / sigma**2
CHEAP = Gauss(COST / 10**6)
POINT = "after every step both runs are in one convex set of this diameter (0)"
JUDGED = "it (0, T, 0, 0), so that the profile is at most the same law"


def says(square: Expr, *conditions: Any) -> Any:
    return private(alpha * square / 2, *(conditions or (Clipped(K), FullBatches(n))))


NONE = each(lambda kernel, order: kernel.identity(order, S.Zero, S.Zero))
LITTLE = says(CHEAP.square)
CLAIMS: dict[str, tuple[Callable[[Kernel], Guarantee], Derived, Any]] = {
    "a bound without a statement": (each(within), Derived("forged", CHEAP, supposed=(POINT,)), None),
    "no step": (NONE, Derived("forged", CHEAP), LITTLE),
    "no step, said by itself": (NONE, Derived("forged", CHEAP), ...),
    "one step less": (
        each(lambda kernel, order: within(kernel, order, T - 1)),
        Derived("forged", CHEAP, supposed=(POINT,)),
        ...,
    ),
    "a domain of one point": (each(within), Derived("forged", CHEAP), LITTLE),
    "a domain of one point, listed": (
        each(within),
        Derived("forged", CHEAP, supposed=(POINT,)),
        says(CHEAP.square, Clipped(K), FullBatches(n), Diameter(D)),
    ),
    "the other order is another's": (
        lambda kernel: Guarantee(honest(kernel, FIRST), within(kernel, Order.SECOND)),
        Derived("forged", Gauss(COST), supposed=(POINT,)),
        says(COST),
    ),
    "what is false is given": (
        lambda kernel: each(less)(kernel.under(false)),
        Derived("forged", CHEAP),
        LITTLE,
    ),
    "what no number meets is given": (
        lambda kernel: each(less)(kernel.under(Le(K, 0), Ge(K, 1))),
        Derived("forged", CHEAP),
        LITTLE,
    ),
    "a supposition": (each(not_derived), Derived("forged", CHEAP), LITTLE),
    "a supposition, listed": (each(not_derived), Derived("forged", CHEAP, supposed=(JUDGED,)), LITTLE),
    "a sum of two meanings": (
        two_meanings,
        Derived("forged", Gauss(Symbol("A", real=True) + CHEAP.square)),
        says(CHEAP.square + LeastOver(Sum(CHEAP.square / T, (t, tau, T - 1)), Tuple(tau, 0, T - 1))),
    ),
    "batches in cyclic order": (
        drawn_in_cyclic_order,
        Derived("forged", CHEAP),
        says(CHEAP.square, Clipped(K), CyclicBatches(b, n), Le(b, n)),
    ),
    "a step for all": (
        lambda kernel: both_orders(kernel, unmoved_everywhere(kernel)),
        Derived("forged", CHEAP),
        LITTLE,
    ),
    "a part of the cost": (each(honest), Derived("forged", Gauss(COST)), says(COST * Rational(99, 100))),
    "another class": (each(honest), Derived("forged", Gauss(COST)), says(COST, FullBatches(n))),
    "no full batches": (
        each(honest),
        Derived("forged", Gauss(COST)),
        says(COST, Clipped(K), CyclicBatches(b, n)),
    ),
}


def decided(
    made: Callable[[Kernel], Any],
    check: Any,
    statement: Any,
    monkeypatch: pytest.MonkeyPatch,
    kind: type[Claim] = Ours,
) -> ClaimReport:
    monkeypatch.setitem(derivation.DERIVATIONS, "forged", made)
    monkeypatch.setitem(derivation.TRACKED, "forged", made)
    for table in (derivation.derive, derivation.track):
        table.cache_clear()
    said = derived((check,), ()) if statement is ... else statement
    claim = kind(
        "ours/forged", "T steps cost hardly anything", proof("contraction", "x"), check, statement=said
    )
    try:
        return decide_claim(claim)
    finally:
        for table in (derivation.derive, derivation.track):
            table.cache_clear()


@pytest.mark.parametrize("name", CLAIMS)
def test_it_is_not_proved(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = decided(*CLAIMS[name], monkeypatch)
    assert found.verdict is Verdict.UNDECIDED, found


def test_a_bound_on_a_divergence_is_not_either(monkeypatch: pytest.MonkeyPatch) -> None:
    check = RenyiBound("forged", alpha * CHEAP.square / 2)
    for made in (CLAIMS["no step"][0], CLAIMS["a domain of one point"][0], CLAIMS["a supposition"][0]):
        assert decided(made, check, LITTLE, monkeypatch).verdict is Verdict.UNDECIDED
        assert decided(made, check, None, monkeypatch).verdict is Verdict.UNDECIDED


def test_a_distance_is_not_either(monkeypatch: pytest.MonkeyPatch) -> None:
    check = Tracked("forged", D)
    for end in (S.Zero, T - 1):
        made = lambda kernel, end=end: kernel.weaken(kernel.identity(FIRST, end, S.Zero), far=D)  # noqa: E731
        assert decided(made, check, None, monkeypatch).verdict is Verdict.UNDECIDED


def test_a_printed_proof_may_not_suppose_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError):
        derivation.PRINTED["forged"] = CLAIMS["a supposition"][0]  # type: ignore[index]
    monkeypatch.setattr(derivation, "PRINTED", {"forged": CLAIMS["a supposition"][0]})
    found = decided(CLAIMS["a supposition"][0], Printed("forged"), None, monkeypatch)
    assert found.verdict is Verdict.UNDECIDED


MODULE = """
from sympy import S
from lastiterate.symbolic.claim import derived
from lastiterate.symbolic.prelude import Claim, Derived, Source
from lastiterate.symbolic.kernel.judgement import Guarantee
from lastiterate.symbolic.kernel.profiles import Gauss, Order
from lastiterate.symbolic.notation import D, T
{first}

def made(kernel):
    {then}
    return Guarantee(*(kernel.weaken(kernel.domain(one, (S.Zero, T), S.Zero, D), far={far}) for one in Order))

SAYS = "after every step both runs are in one convex set of this diameter ({far})"
CHECK = Derived("mine/domain", Gauss(D), supposed=(SAYS,))
DERIVATIONS = {{"mine/domain": made}}
CLAIMS = (Claim("mine/domain", "Nothing", Source("Mine", "1"), CHECK, statement=derived((CHECK,), ())),)
"""
CHANGED = {
    "the prover": ("from lastiterate.proofs_checks.engines import side_conditions as m; m.prove = str", "pass"),
    "the prover's names": (
        "from lastiterate.proofs_checks.engines import side_conditions as m; vars(m)['_prove'] = str", "pass",
    ),
    "an engine": ("from lastiterate.proofs_checks.engines import inequality as m; m.decide = str", "pass"),
    "an engine, later": (
        "", "from lastiterate.proofs_checks.engines import z3_answers as m; m.entails = lambda *_: True",
    ),
    "an engine, with an error": (
        "", "from lastiterate.proofs_checks.engines import z3_answers as m; m.entails = lambda *_: True; 1 / 0",
    ),
    "a class of profiles": ("", "Gauss.__eq__ = lambda *_: True"),
    "what a statement grants": (
        "from lastiterate.proofs_checks import implies as m; m._is_granted = lambda *_: True", "pass",
    ),
    "what a statement grants, one by one": (
        "from lastiterate.proofs_checks import implies as m; m._GRANTS[()] = set()",
        "pass",
    ),
    "what a letter stands for": (
        "from lastiterate.proofs_checks import implies as m; m._FULL[D] = 0",
        "pass",
    ),
    "what may be chosen, later": ("", "from lastiterate.proofs_checks import implies as m; m._CHOSEN.add(T)"),
    "a verdict": ("from lastiterate.proofs_checks import decide as m; m.left_open = str", "pass"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
def test_a_file_of_claims_changes_nothing_of_the_package(name: str, tmp_path: Path) -> None:
    names = {
        (module, key): value
        for module in (
            "engines.z3_answers",
            "engines.inequality",
            "engines.side_conditions",
            "implies",
            "decide",
        )
        for key, value in vars(import_module(f"lastiterate.proofs_checks.{module}")).items()
    }
    first, then = CHANGED[name]
    file = tmp_path / "mine.py"
    file.write_text(MODULE.format(first=first, then=then or "pass", far=S.Zero))
    if first:
        with pytest.raises(InputError, match=r"cannot be changed|may not change this package|not support item"):
            read_claims(file)
    else:
        found = decide_claim(read_claims(file).claims[0])
        assert found.verdict is Verdict.UNDECIDED
        assert "may not change this package" in found.outcomes[0].detail
    for (module, key), value in names.items():
        assert vars(import_module(f"lastiterate.proofs_checks.{module}"))[key] is value
    assert Gauss(ONE) != Gauss(Integer(2))


class Inconstant:
    """What is one thing when it is asked for the first times, and another thing later."""

    asked = first = 0

    def later(self) -> bool:
        type(self).asked += 1
        return type(self).asked > type(self).first


class Check(Inconstant, Derived):
    """A check of a bound that becomes smaller."""

    __module__ = "lastiterate.symbolic.checks"

    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__(self, name)
        return CHEAP if name == "profile" and object.__getattribute__(self, "later")() else own


class Listed(Inconstant, tuple[str, ...]):
    """A list of what is supposed that is empty at first."""

    def __iter__(self) -> Iterator[str]:
        return tuple.__iter__(self) if self.later() else iter(())


class Stated(Inconstant, Ours):
    """A claim whose statement becomes weaker."""

    __module__ = "lastiterate.symbolic.claim"

    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__(self, name)
        return says(COST) if name == "statement" and self.later() else own


class Name(Inconstant, str):
    """The name of a derivation that becomes another's."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash("full_batch/composition" if self.later() else "forged")

    def __eq__(self, other: object) -> bool:
        return str(other) in {"forged", "full_batch/composition"}


CHECKED: dict[str, tuple[type[Inconstant], Callable[[Kernel], Guarantee], Callable[[], Any]]] = {
    "a check": (Check, each(honest), lambda: (Check("forged", Gauss(COST)), LITTLE)),
    "a list": (Listed, each(within), lambda: (Derived("forged", CHEAP, supposed=Listed((POINT,))), ...)),
    "a claim": (Stated, each(honest), lambda: (Derived("forged", Gauss(COST)), LITTLE)),
    "a name": (Name, each(within), lambda: (Derived(Name("forged"), CHEAP), LITTLE)),
}


@pytest.mark.parametrize("name", CHECKED)
def test_no_part_of_a_claim_is_another_later(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, made, parts = CHECKED[name]
    for first in range(15):
        kind.first, kind.asked = first, 0
        check, statement = parts()
        found = decided(made, check, statement, monkeypatch, Stated if kind is Stated else Ours)
        assert found.verdict is Verdict.UNDECIDED, (first, found)


def test_rules_that_are_imported_again_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """With another comparison of numbers, whose conditions always hold, for the rules alone."""
    name = "lastiterate.symbolic.kernel.rules"
    with pytest.raises(AttributeError):
        reload(import_module(name))
    monkeypatch.setattr("sympy.Ge", lambda *_: true)
    monkeypatch.delitem(sys.modules, name)
    with pytest.raises(UnprovedError, match="module of rules"):
        import_module(name)


def test_a_lemma_of_ones_own_says_what_its_letters_become() -> None:
    """Two maps that are s apart cost nothing if s is 0, which the hypothesis then says."""
    for letter, at in ((z, (S.Zero, s)), (s, (S.Zero, z))):
        made = KERNEL.step(FIRST, S.Zero, at, lemma(letter), no_shift(), sigma**2)
        free = KERNEL.specialise(made, {at[1]: S.Zero})
        (told,) = (one for one in free.hypotheses if "after the maps" in one.says)
        assert told.constants == (letter, S.Zero)
        assert f"points at most {letter} apart" in told.says
    with pytest.raises(UnprovedError, match="bound letters"):
        KERNEL.specialise(KERNEL.step(FIRST, S.Zero, (S.Zero, s), lemma(z), no_shift(), sigma**2), {z: ONE})


def test_there_are_more_than_forty() -> None:
    assert len(FORGED) + len(CLAIMS) + len(CHANGED) >= 70
