"""Means of random quantities with symbolic sizes, which the engine of `Expected` replaces with exact values."""

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Final

from sympy import Basic, Dummy, Expr, Function, Ge, Gt, Le, Poly, S, Symbol, Tuple, prod
from sympy.logic.boolalg import Boolean
from sympy.printing.pretty.stringpict import prettyForm
from sympy.utilities.iterables import connected_components

from lastiterate.symbolic.vectors import Norm, Vector, inner

_MOST = 12
"""Maximum number of Gaussian factors in a mean; this many have 10,395 pairings."""


class Transposed(Function):  # type: ignore[misc]
    """The transpose of a matrix or a vector."""

    nargs = 1

    def _sympystr(self, printer: Any) -> str:
        return f"{printer._print(self.args[0])}'"

    def _latex(self, printer: Any) -> str:
        return rf"{printer._print(self.args[0])}^\top"


class ExactMean(Function):  # type: ignore[misc]
    """The mean of a random quantity."""

    is_real = True
    is_commutative = True

    def _pretty(self, printer: Any) -> prettyForm:  # noqa: ARG002 as Sympy calls it
        return prettyForm(str(self))

    @abstractmethod
    def value(self) -> Expr:
        """The mean as an expression without means, if `conditions` hold."""

    @abstractmethod
    def conditions(self) -> tuple[Boolean, ...]:
        """Conditions on numbers under which the rule applies."""

    @abstractmethod
    def random(self) -> set[Basic]:
        """The random letters, which the mean binds."""

    @abstractmethod
    def sizes(self) -> tuple[Expr, ...]:
        """The expressions that must be integers."""

    @abstractmethod
    def parts(self) -> tuple[Expr, ...]:
        """The expressions that must be defined."""


class GaussianMean(ExactMean):
    """The mean of a product of traces of words in Gaussian matrices, their transposes, and fixed vectors.

    Args: the words, each a Tuple of factors; then, for each Gaussian matrix, a Tuple (letter, rows, columns,
    variance). The entries of a matrix are independent with mean 0. A letter that is a `Vector` is a fixed column.

    Lemma (Isserlis, Wick). For jointly Gaussian centred X_1, ..., X_2k, the mean of their product is a sum
    over all pairings. Each term is the product of the covariances in the pairs. Distinct entries of a matrix
    are uncorrelated, so a pair joins row to row and column to column. An index without a vector runs over its
    range, and an index between two vectors gives their inner product.

    >>> from sympy import symbols
    >>> d, p, s = symbols("d p s", positive=True)
    >>> A, v = Symbol("A"), Vector("v")
    >>> gaussian_mean([Transposed(v), A, Transposed(A), v], entries={A: (d, p, s**2)}).value()
    p*s**2*|v|**2
    """

    @property
    def free_symbols(self) -> set[Basic]:
        words, *laws = self.args
        sizes = set[Basic]().union(*(part.free_symbols for law in laws for part in law.args[1:]))
        return set(words.free_symbols | sizes) - self.random()

    def random(self) -> set[Basic]:
        return {law.args[0] for law in self.args[1:]}

    def sizes(self) -> tuple[Expr, ...]:
        return tuple(size for law in self.args[1:] for size in law.args[1:3])

    def parts(self) -> tuple[Expr, ...]:
        return tuple(part for law in self.args[1:] for part in law.args[1:])

    def conditions(self) -> tuple[Boolean, ...]:
        return tuple(Ge(part, 0) for part in self.parts())

    def _read(self) -> tuple[dict[Expr, tuple[Expr, ...]], list[Expr], list[tuple["_End", "_End"]]]:
        words, *laws = self.args
        letters, joined = list[Expr](), list[tuple[_End, _End]]()
        for word in words:
            ends = list[tuple[_End, _End]]()
            for factor in word:
                turned = int(isinstance(factor, Transposed))
                ends.append(((len(letters), turned), (len(letters), 1 - turned)))
                letters.append(factor.args[0] if turned else factor)
            joined += [(last, first) for (_, last), (first, _) in zip(ends, ends[1:] + ends[:1], strict=True)]
        return {law.args[0]: law.args[1:] for law in laws}, letters, joined

    def rooms(self) -> tuple[Expr, ...]:
        """The known sizes of the fixed vectors; a ValueError if sizes do not match."""
        entries, letters, joined = self._read()
        classes = _classes([((letters[k], end), (letters[j], other)) for (k, end), (j, other) in joined])
        sizes = [(ends, _sizes(ends, entries)) for ends in classes]
        fixed = [some for ends, some in sizes if any(isinstance(one, Vector) and end == 0 for one, end in ends)]
        return tuple(size for some in fixed for size in some)

    def value(self) -> Expr:
        entries, letters, joined = self._read()
        random = [k for k, letter in enumerate(letters) if letter in entries]
        if len(random) > _MOST or any(not isinstance(one, Vector) and one not in entries for one in letters):
            raise ValueError(
                f"A mean may have vectors and at most {_MOST} Gaussian factors, got {self.args[0]}."
            )
        if not all(self.args[0]):
            raise ValueError("Each product in a mean needs a factor, got an empty product.")
        self.rooms()
        total: Expr = S.Zero
        for pairs in _pairings(random, letters):
            links = [*joined, *(((one, end), (other, end)) for one, other in pairs for end in (0, 1))]
            scale = prod((entries[letters[one]][2] for one, _ in pairs), start=S.One)
            total += scale * prod((_summed(ends, letters, entries) for ends in _classes(links)), start=S.One)
        return total

    def _sympystr(self, printer: Any) -> str:
        words, *laws = self.args
        said = " ".join("(" + " ".join(map(printer._print, word)) + ")" for word in words)
        of = (tuple(map(printer._print, law)) for law in laws)
        return f"E[{said}; {', '.join(f'{rows} x {columns} {a} of N(0, {v})' for a, rows, columns, v in of)}]"

    def _latex(self, printer: Any, exp: str = "") -> str:
        words, *laws = self.args
        said = " ".join(rf"\operatorname{{tr}}({' '.join(map(printer._print, word))})" for word in words)
        of = (tuple(map(printer._print, law)) for law in laws)
        kinds = (
            rf"{a} \in \mathbb{{R}}^{{{rows} \times {columns}}} \sim N(0, {v})" for a, rows, columns, v in of
        )
        return rf"\mathbb{{E}}_{{{', '.join(kinds)}}}[{said}]" + (f"^{{{exp}}}" if exp else "")


def gaussian_mean(*words: Sequence[Expr], entries: dict[Symbol, tuple[Expr, Expr, Expr]]) -> GaussianMean:
    """The mean of a product of traces of words; ``entries`` are rows, columns and variance of each matrix."""
    laws = (Tuple(a, *law) for a, law in entries.items())
    made: GaussianMean = GaussianMean(Tuple(*(Tuple(*word) for word in words)), *laws)
    return made


_End = tuple[int, int]
"""The position of a factor, and 0 for its row index or 1 for its column index."""


def _pairings(places: Sequence[int], letters: Sequence[Expr]) -> Iterator[tuple[tuple[int, int], ...]]:
    if not places:
        yield ()
        return
    first, *rest = places
    for other in rest:
        if letters[other] == letters[first]:
            for pairs in _pairings([k for k in rest if k != other], letters):
                yield ((first, other), *pairs)


def _classes(links: Sequence[tuple[Any, Any]]) -> list[set[Any]]:
    ends = list(dict.fromkeys(end for link in links for end in link))
    return list(map(set, connected_components((ends, links))))


def _sizes(ends: set[tuple[Expr, int]], entries: dict[Expr, tuple[Expr, ...]]) -> set[Expr]:
    sizes = {
        entries[letter][end] if letter in entries else S.One for letter, end in ends if letter in entries or end
    }
    if len(sizes) > 1:
        raise ValueError(
            f"Factors of a product need matching sizes, got {', '.join(map(str, sizes))} for the same index."
        )
    return sizes


def _summed(ends: set[_End], letters: Sequence[Expr], entries: dict[Expr, tuple[Expr, ...]]) -> Expr:
    vectors = [letters[k] for k, end in sorted(ends) if letters[k] not in entries and end == 0]
    sizes = _sizes({(letters[k], end) for k, end in ends}, entries)
    if len(vectors) == 2:
        return inner(*vectors)
    if vectors or not sizes:
        raise ValueError(
            f"A trace needs known sizes and no unpaired vector, got {', '.join(map(str, vectors)) or 'none'}."
        )
    return sizes.pop()


TOTAL: Final = Vector("S")
"""The sum of the vectors of a batch, with repetitions in a batch of draws."""

MEAN: Final = Vector("M")
"""The mean of the vectors of all samples, or of the law from which they are drawn."""

SQUARES: Final = Symbol("A_2", nonnegative=True)
"""The mean of the squared lengths of the vectors."""

_LAWS: Final = {"fixed": "{0} of {1}", "coins": "each of {1} with probability {0}/{1}", "draws": "{0} draws"}
"""The law of a batch, in words."""


class BatchMean(ExactMean):
    """The mean, over a random batch, of a square in `TOTAL` and `MEAN`, such as ``|TOTAL / b - MEAN|^2``.

    Args: the square, the law of the batch, b, and, unless the law is ``draws``, n. Laws: ``fixed`` (b of n
    without replacement), ``coins`` (each of n with probability b/n, independently), and ``draws`` (b
    independent draws from n or any law).

    Lemma. If the batch contains sample i m_i times and S = sum m_i a_i, then E|S|^2 = E m_1^2 sum |a_i|^2 + E
    m_1 m_2 sum over i != j of <a_i, a_j>, where the last sum is n^2 |M|^2 - n A_2, and E<S, M> = E m_1 n
    |M|^2 = b |M|^2. E m_1^2 and E m_1 m_2 are b/n and b(b - 1)/(n(n - 1)) for ``fixed``, and b/n and b^2/n^2
    for ``coins``. For ``draws`` the b^2 pairs of draws give E|S|^2 = b A_2 + b(b - 1)|M|^2.

    >>> from sympy import symbols
    >>> b = symbols("b", positive=True)
    >>> batch_mean(inner(TOTAL / b, TOTAL / b), "draws", b).value()
    (A_2*b + b*(b - 1)*|M|**2)/b**2
    """

    @property
    def free_symbols(self) -> set[Basic]:
        square, _, *sizes = self.args
        return set(square.free_symbols - {TOTAL}).union({MEAN, SQUARES}, *(size.free_symbols for size in sizes))

    def random(self) -> set[Basic]:
        return {TOTAL}

    def sizes(self) -> tuple[Expr, ...]:
        _, law, *sizes = self.args
        return tuple(sizes[1:] if str(law) == "coins" else sizes)

    def parts(self) -> tuple[Expr, ...]:
        square, _, *sizes = self.args
        return (square, *sizes)

    def conditions(self) -> tuple[Boolean, ...]:
        _, law, b, *n = self.args
        if str(law) == "draws":
            return (Ge(b, 1),)
        return (Ge(b, 0), Le(b, n[0]), Gt(n[0], 1))

    def value(self) -> Expr:
        square, law, b, *size = self.args
        middle, squares = Norm(MEAN) ** 2, b * SQUARES
        if str(law) == "draws":
            squares += b * (b - 1) * middle
        else:
            (n,) = size
            two = b * (b - 1) / (n * (n - 1)) if str(law) == "fixed" else b**2 / n**2
            squares += two * (n**2 * middle - n * SQUARES)
        total, across = Dummy(real=True), Dummy(real=True)
        value: Expr = square.xreplace({Norm(TOTAL) ** 2: total, inner(TOTAL, MEAN): across})
        linear = value.is_polynomial(total, across) and Poly(value, total, across).total_degree() <= 1
        if value.has(TOTAL) or not linear:
            raise ValueError(f"The mean over a batch needs a term linear in |S|^2 and <M, S>, got {square}.")
        return value.xreplace({total: squares, across: b * middle})

    def _sympystr(self, printer: Any) -> str:
        square, law, *sizes = self.args
        return f"E[{printer._print(square)}; {_LAWS[str(law)].format(*map(printer._print, sizes))}]"

    def _latex(self, printer: Any, exp: str = "") -> str:
        square, law, *sizes = self.args
        words = filter(None, re.split(r"(\{\d\})", _LAWS[str(law)]))  # MathML has no formulas within text
        said = "".join(printer._print(sizes[int(w[1])]) if w[:1] == "{" else rf"\text{{{w}}}" for w in words)
        return rf"\mathbb{{E}}_{{{said}}}[{printer._print(square)}]" + (f"^{{{exp}}}" if exp else "")


def batch_mean(square: Expr, law: str, b: Expr, n: Expr | None = None) -> BatchMean:
    """The mean of a square over batches of b; ``law`` is "fixed" or "coins", of n samples, or "draws"."""
    if law not in _LAWS or (n is None) != (law == "draws"):
        raise ValueError(
            f"batch_mean needs law='fixed' or 'coins' with n, or 'draws' without n, got law={law!r}, n={n}."
        )
    made: BatchMean = BatchMean(square, Symbol(law), b, *(() if n is None else (n,)))
    return made
