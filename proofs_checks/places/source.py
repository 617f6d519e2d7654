"""Places in the source of a module: numbers and names of its formulas, and the module with one of them off.

What stands in annotations, defaults, subscripts, ranges, comparisons and calls by name is no formula.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Final

OFF: Final = "__off__"
"""Name of the function around the number or the name that is off."""


_Place = ast.Name | ast.Attribute | ast.Constant


@dataclass(frozen=True)
class SourcePlace:
    """A number or a name in a module.

    Attributes:
        module: full name of the module.
        owner: the function or the assigned name to which it belongs, with its class.
        line: line of the source.
        column: column of the source.
        end: column in which it ends.
        words: number or name, and the expression around it.
    """

    module: str
    owner: str
    line: int
    column: int
    end: int
    words: str

    def __str__(self) -> str:
        return f"{self.module.removeprefix('lastiterate.')}:{self.line}:{self.column} {self.owner}, {self.words}"


def source_places(module: str, around_it: type[ast.AST] = ast.AST) -> Iterator[SourcePlace]:
    """Every place of a module, in the order of its source; only those that stand in such a node."""
    for owner, statement in _owners(ast.parse(_text(module)).body):
        for node, around in _formulas(statement, statement):
            if not isinstance(around, around_it):
                continue
            what = ast.unparse(node)
            words = f"{what} in {ast.unparse(around)}" if around is not node else what
            yield SourcePlace(
                module, owner, node.lineno, node.col_offset, node.end_col_offset or 0, " ".join(words.split())[:120]
            )


def mutated(place: SourcePlace) -> CodeType:
    """The code of the module with a call of `OFF` around what is at the place."""
    here = place.line, place.column, place.end

    class Wrap(ast.NodeTransformer):
        def generic_visit(self, node: ast.AST) -> ast.AST:
            if isinstance(node, _Place) and (node.lineno, node.col_offset, node.end_col_offset) == here:
                return ast.copy_location(ast.Call(ast.Name(OFF, ast.Load()), [node], []), node)
            return super().generic_visit(node)

    tree = Wrap().visit(ast.parse(_text(place.module)))
    return compile(ast.fix_missing_locations(tree), _file(place.module), "exec")


def _file(module: str) -> str:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    return spec.origin


def _text(module: str) -> str:
    return Path(_file(module)).read_text(encoding="utf-8")


def _owners(body: list[ast.stmt], within: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Statements of functions and values of assignments, with the names to which they belong."""
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield from _owners(statement.body, f"{within}{statement.name}.")
        elif isinstance(statement, ast.FunctionDef):
            for inner in statement.body:
                yield f"{within}{statement.name}", inner
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None and not within:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            yield ast.unparse(target), statement.value


def _formulas(node: ast.AST, around: ast.AST) -> Iterator[tuple[_Place, ast.AST]]:
    """Numbers and names of an expression, with the smallest expression around each."""
    if isinstance(node, ast.Constant):
        if type(node.value) in (int, float) and node.value != 0:
            yield node, around
    elif isinstance(node, ast.Name | ast.Attribute):
        if isinstance(node.ctx, ast.Load):
            yield node, around
    elif isinstance(node, ast.Call):
        if not (isinstance(node.func, ast.Name) and node.func.id in ("range", "Symbol", "isinstance", "len")):
            for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                yield from _formulas(argument, node)
    elif isinstance(node, ast.Subscript | ast.JoinedStr | ast.Raise | ast.Compare | ast.Import):
        return
    elif isinstance(node, ast.FunctionDef):
        for inner in node.body:
            yield from _formulas(inner, inner)
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None:
            yield from _formulas(node.value, node.value)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _formulas(child, node if isinstance(node, ast.expr) else child)
