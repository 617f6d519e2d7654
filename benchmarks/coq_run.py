"""The generated files of the README's run in Coq: what the tables of readme_table.v cost at their nodes.

    python -m benchmarks.coq_run

It reads the tables near_cost and far_cost of proofs_checks/coq/reals/readme_table.v and writes gauss_numbers.v, in
which coq-interval encloses the Gaussian costs at their nodes, and readme_numbers.v, which collects these facts for
each table. Nothing that it writes is trusted: Coq refuses a number that is wrong.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from mpmath import erf, floor, log, mp, mpf, pi, sqrt

REALS = Path(__file__).parents[1] / "proofs_checks" / "coq" / "reals"
COSTS = {"near": Fraction(2, 25), "far": Fraction(29, 25)}
GRID = 2**48  # of the enclosures of I
NODES = 2**36  # of the exponents s of the nodes exp(mu s)
Table = list[tuple[int, int]]


def tables() -> tuple[int, dict[str, Table]]:
    """The scale of readme_table.v, and its tables of costs."""
    text = (REALS / "readme_table.v").read_text()
    (scale,) = re.findall(r"Definition scale := (\d+)\.", text)
    found = {}
    for name in COSTS:
        (pairs,) = re.findall(rf"Definition {name}_cost : [^=]*:= \[::(.*?)\]\.", text, flags=re.DOTALL)
        found[name] = [(int(p), int(q)) for p, q in re.findall(r"\((\d+), (\d+)\)", pairs)]
    return int(scale), found


def scaled(scale: int, table: Table, m: int, n: int) -> int:
    """m times the scale times the value of a table at n / m, as in checker.v."""
    return m * (scale - sum(p for p, _ in table)) + sum(max(m * p - n * q, 0) for p, q in table)


def exponent(p: int, q: int, mu: Fraction) -> Fraction:
    """A number s with exp(mu s) a little below p / q."""
    return Fraction(int(floor(log(mpf(p) / q) * mu.denominator / mu.numerator * NODES - 2)), NODES)


def _quotient(x: Fraction) -> str:
    return f"({x.numerator}/{x.denominator})" if x.denominator != 1 else f"({x.numerator})"


def _on_grid(n: int) -> str:
    return f"({n}/{GRID})" if n else "0"


def _integral(x: Fraction) -> mpf:
    return sqrt(pi / 2) * erf(mpf(x.numerator) / x.denominator / sqrt(2))


def enclosures(points: set[Fraction]) -> Iterator[tuple[str, Fraction, str]]:
    """A lemma for every point: its name, the point and its text. It encloses I, from its value at the point before."""
    for side, letter in ((1, "p"), (-1, "m")):
        before, x0, low, high = "zero", Fraction(0), 0, 0
        for k, x in enumerate(sorted((x for x in points if x * side > 0), key=abs)):
            least = int(floor((_integral(x) - _integral(x0)) * GRID)) - 2
            name, at = f"i{letter}{k}", _quotient(x)
            more = (least, least + 5)
            ends = " ".join(map(_on_grid, (low, high, *more)))
            yield (
                name,
                x,
                (
                    f"Lemma {name} : {_on_grid(low + more[0])} <= I {at} <= {_on_grid(high + more[1])}.\n"
                    f"Proof.\napply (grow {_quotient(x0) if x0 else '0'} {at} {ends});\n"
                    f"  [exact {before} | integral with (i_prec 64, i_width (-50)) | lra | lra].\nQed."
                ),
            )
            before, x0, low, high = name, x, low + more[0], high + more[1]
    yield "zero", Fraction(0), ""


def node(name: str, k: int, mu: Fraction, s: Fraction, bound: str, known: dict[Fraction, str]) -> str:
    """The lemma that a table is at least theta at its node number k."""
    q, half = _quotient, mu / 2
    above, below = half - s, -half - s
    return (
        f"Lemma {name}{k} : exp ({q(mu)} * {q(s)}) <= {bound.partition(';')[0]} /\\\n"
        f"  theta {q(mu)} (exp ({q(mu)} * {q(s)})) <= {bound.partition(';')[2]}.\n"
        f"Proof.\nsplit; [interval with (i_prec 60) | rewrite theta_exp by lra].\n"
        f"replace ({q(mu)} / 2 - {q(s)}) with {q(above)} by lra.\n"
        f"replace (- {q(mu)} / 2 - {q(s)}) with {q(below)} by lra.\n"
        f"generalize {known[above]} {known[below]}; generalize (I {q(above)}) (I {q(below)}); intros u v Hu Hv.\n"
        f"interval with (i_prec 60).\nQed."
    )


def lemmas() -> tuple[str, str]:
    """The lemmas of gauss_numbers.v, and those of readme_numbers.v."""
    scale, found = tables()
    nodes = {
        name: [(p, q, exponent(p, q, COSTS[name])) for p, q in table if p] for name, table in found.items()
    }
    points = {
        sign * COSTS[name] / 2 - s for name, some in nodes.items() for _, _, s in some for sign in (1, -1)
    }
    made = list(enclosures(points))
    known = {x: name for name, x, _ in made}
    numbers, collected = [text for _, _, text in made if text], []
    for name, mu in COSTS.items():
        lines, k = [], 0
        for p, q in found[name]:
            if not p:
                lines.append("- left; reflexivity.")
                continue
            s, value = nodes[name][k][2], scaled(scale, found[name], q, p)
            numbers.append(node(name, k, mu, s, f"{p} / {q};{value} / ({q} * {scale})", known))
            lines += [
                f"- right; exists {_quotient(s)}; cbn [fst snd].",
                f"  replace (scaled scale {name}_cost {q} {p}) with {value}%ZZ by (vm_compute; reflexivity).",
                f"  exact {name}{k}.",
            ]
            k += 1
        collected.append(
            f"Lemma {name}_all :\n"
            f"  List.Forall (node_cost ({mu.numerator} / {mu.denominator}) scale {name}_cost) {name}_cost.\n"
            f"Proof.\nunfold {name}_cost at 2; repeat (apply List.Forall_cons).\n"
            + "\n".join([*lines, "- apply List.Forall_nil.", "Qed."])
        )
    return "\n".join(numbers), "\n".join(collected)


def main() -> None:
    """Write the lemmas in place of those in the two files."""
    mp.prec = 120
    for file, text in zip(("gauss_numbers.v", "readme_numbers.v"), lemmas(), strict=True):
        path = REALS / file
        path.write_text(path.read_text().partition("Lemma ")[0] + text + "\n")


if __name__ == "__main__":
    main()
