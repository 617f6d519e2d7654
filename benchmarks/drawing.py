"""Draw who imports whom; count what a run passes on its way through `bound`, and a claim on its way to its verdict.

    make drawing       # imports.svg and numeric.svg, and PNGs of both, into figures/; the counts on the terminal

A room is a subfolder, or a file that lies loose in its folder. A room stands one floor above the highest room that it
imports from, so every arrow leads down unless rooms import each other in a circle. Imports inside functions count,
those for type checkers alone do not.
"""

import argparse
import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, FrameType

from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import lastiterate as li
from lastiterate.proofs_checks.decide import decide
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import Check
from lastiterate.symbolic.claim import Claim

__all__ = ["CLAIMS", "Graph", "files", "followed", "passed", "room", "rooms"]

ROOT = Path(__file__).parents[1]
FOLDERS = ("symbolic", "numeric", "runtime", "proofs_checks")
SCHEMES = ("full", "cyclic", "shuffled", "without_replacement", "poisson")
TARGETS = ({"order": 2.0}, {"delta": 1e-5})
CLAIMS = (
    "chien_li/theorem_3_1/direct/smooth", "altschuler_talwar/theorem_3_1", "d2p2/lemma_4", "ours/contraction/full",
)  # fmt: skip
"""Claims whose way is counted: a derivation with attacks, joined bounds, a refutation, and others."""


@dataclass(frozen=True)
class Graph:
    """Rooms and who imports whom.

    Attributes:
        arrows: room -> the other rooms that it imports from; each of them is a key, too.
    """

    arrows: Mapping[str, frozenset[str]]

    @cached_property
    def _circle_of(self) -> dict[str, int]:
        names = list(self.arrows)
        at = {name: index for index, name in enumerate(names)}
        pairs = [(at[upper], at[lower]) for upper in names for lower in self.arrows[upper]]
        rows, columns = zip(*pairs, strict=True) if pairs else ((), ())
        matrix = csr_array(([1] * len(pairs), (rows, columns)), shape=(len(names), len(names)))
        _, labels = connected_components(matrix, connection="strong")
        return dict(zip(names, labels.tolist(), strict=True))

    @property
    def circles(self) -> list[list[str]]:
        """The groups of rooms that import each other, directly or through others."""
        groups: dict[int, list[str]] = {}
        for name, circle in self._circle_of.items():
            groups.setdefault(circle, []).append(name)
        return [sorted(group) for group in groups.values() if len(group) > 1]

    @cached_property
    def floors(self) -> dict[str, int]:
        """The floor of every room, from 0 upwards; the rooms of a circle share one."""
        members: dict[int, list[str]] = {}
        for name, circle in self._circle_of.items():
            members.setdefault(circle, []).append(name)
        height: dict[int, int] = {}

        def of(circle: int) -> int:
            if circle not in height:
                below = {self._circle_of[lower] for name in members[circle] for lower in self.arrows[name]} - {
                    circle
                }
                height[circle] = 1 + max(map(of, below), default=-1)
            return height[circle]

        return {name: of(circle) for name, circle in self._circle_of.items()}

    @property
    def up(self) -> list[tuple[str, str]]:
        """The arrows that do not lead to a lower floor."""
        floors = self.floors
        return [
            (one, other) for one in self.arrows for other in self.arrows[one] if floors[one] <= floors[other]
        ]

    @property
    def needed(self) -> set[tuple[str, str]]:
        """The arrows between rooms that no other path connects, if there are no cycles."""
        reached: dict[str, set[str]] = {}
        for name in sorted(self.arrows, key=self.floors.__getitem__):
            reached[name] = set(self.arrows[name]).union(
                *(reached.get(lower, ()) for lower in self.arrows[name])
            )
        return {
            (name, lower)
            for name, below in self.arrows.items()
            for lower in below
            if not any(lower in reached[other] for other in below - {lower})
        }

    def __str__(self) -> str:
        """Its measures, on one line."""
        count = sum(map(len, self.arrows.values()))
        floors = 1 + max(self.floors.values())
        return (
            f"{len(self.arrows)} on {floors} floors, {count} arrows, {len(self.up)} of them up, "
            f"{len(self.circles)} circles"
        )


def _modules() -> dict[str, Path]:
    """Module -> file, without the leading `lastiterate.`; a package is called as its folder."""
    found = {}
    for base, names in ((ROOT, FOLDERS), (ROOT / "src/lastiterate", ("commands", "*.py"))):
        for path in (path for name in names for top in base.glob(name) for path in [top, *top.rglob("*.py")]):
            if path.suffix == ".py" and path.parent != ROOT / "src":
                inside = path.relative_to(base).with_suffix("")
                parts = inside.parts[:-1] if inside.name == "__init__" else inside.parts
                found[".".join(parts)] = path
    return found


def _imported(tree: ast.AST) -> Iterator[str]:
    if isinstance(tree, ast.If) and ast.unparse(tree.test) == "TYPE_CHECKING":
        return
    if isinstance(tree, ast.Import):
        yield from (alias.name for alias in tree.names)
    elif isinstance(tree, ast.ImportFrom):
        yield from (f"{tree.module}.{alias.name}" for alias in tree.names)
    for child in ast.iter_child_nodes(tree):
        yield from _imported(child)


@cache
def files() -> Graph:
    """Every module of the package."""
    modules = _modules()
    arrows = {}
    for name, path in modules.items():
        wanted = set()
        for imported in _imported(ast.parse(path.read_text(encoding="utf-8"))):
            own, _, inside = imported.partition(".")
            if own == "lastiterate":
                wanted.add(inside if inside in modules else inside.rpartition(".")[0])
        arrows[name] = frozenset(wanted & modules.keys() - {name, ""})
    return Graph(arrows)


def room(module: str, folder: str = "") -> str:
    """The room of a module: in a folder, or, without one, in the whole package."""
    parts = module.removeprefix(f"{folder}.").split(".") if folder else module.split(".")
    return parts[0] if folder or parts[0] not in FOLDERS else "/".join(parts[:2])


def rooms(folder: str = "") -> Graph:
    """The rooms of one folder, or of the whole package, without those that have to do with no other."""
    every = files().arrows
    inside = (
        [name for name in every if name.startswith(f"{folder}.")]
        if folder
        else [name for name in every if name]
    )
    arrows: dict[str, set[str]] = {}
    for name in inside:
        below = {room(lower, folder) for lower in every[name] if lower in inside}
        arrows.setdefault(room(name, folder), set()).update(below - {room(name, folder)})
    met = {name for name, below in arrows.items() if below}.union(*arrows.values())
    return Graph({name: frozenset(below) for name, below in arrows.items() if name in met})


def passed(scheme: str, target: Mapping[str, float]) -> list[str]:
    """The modules of numeric/ whose functions run while `bound` answers for one run of this scheme, in order.

    Where a number is only checked, in `errors`, is no stop on the way.
    """
    run = li.NoisySGD(
        steps=12, step_size=0.1, noise_std=0.5, clip_norm=1.0, dataset_size=12, diameter=1.0,
        batch_size=None if scheme == "full" else 3, sampling=scheme,
    )  # fmt: skip
    names = {str(path): name for name, path in _modules().items() if name.startswith("numeric.")}
    names.pop(str(_modules()["numeric.errors"]))
    module_of = cache(lambda file: names.get(str(Path(file).resolve())) if "numeric" in file else None)
    way: list[str] = []

    def entered(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>":
            name = module_of(code.co_filename)
            if name and (not way or way[-1] != name):
                way.append(name)

    li.bound(run, li.Smooth(1.0), **target)  # imports and tables that are made once are no part of the way
    sys.setprofile(entered)
    try:
        li.bound(run, li.Smooth(1.0), **target)
    finally:
        sys.setprofile(None)
    return way


def followed(key: str) -> list[str]:
    """The modules that a claim or one of its checks is handed to while the claim is decided, in order.

    A function counts when it is first entered; a property, and what makes or compares records, is no stop on the way.
    """
    (claim,) = (one for one in ledger.naming(key) if one.key == key)
    seen = set[CodeType]()
    way: list[str] = []

    def entered(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or code in seen:
            return
        name = frame.f_globals.get("__name__", "")
        owner = getattr(sys.modules.get(name), code.co_qualname.partition(".")[0], None)
        if (
            not name.startswith("lastiterate.")
            or code.co_name.startswith(("__", "<"))
            or isinstance(getattr(owner, code.co_name, None), property)
        ):
            seen.add(code)
            return
        given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if any(isinstance(frame.f_locals.get(one), Claim | Check) for one in given):
            seen.add(code)
            if not way or way[-1] != name:
                way.append(name)

    decide(claim)  # what is kept of an earlier claim is no part of the way
    sys.setprofile(entered)
    try:
        decide(claim)
    finally:
        sys.setprofile(None)
    return [name.removeprefix("lastiterate.") for name in way]


def _columns(graph: Graph) -> dict[str, float]:
    """A place on its floor for every room, near to the rooms that it has to do with."""
    levels: dict[int, list[str]] = {}
    for name, floor in sorted(graph.floors.items()):
        levels.setdefault(floor, []).append(name)
    linked: dict[str, set[str]] = {name: set(below) for name, below in graph.arrows.items()}
    for name, below in graph.arrows.items():
        for lower in below:
            linked[lower].add(name)
    place = {name: index - (len(row) - 1) / 2 for row in levels.values() for index, name in enumerate(row)}
    for sweep in range(24):
        for floor in sorted(levels, reverse=bool(sweep % 2)):
            near = {
                name: sum(place[one] for one in linked[name]) / max(1, len(linked[name]))
                for name in levels[floor]
            }
            row = sorted(levels[floor], key=lambda name: (near[name], name))
            place |= {name: index - (len(row) - 1) / 2 for index, name in enumerate(row)}
    return place


def draw(graph: Graph, title: str, path: Path) -> None:
    """Draw a graph, the rooms on their floors, as SVG and PNG."""
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyArrowPatch

    place, floors, needed = _columns(graph), graph.floors, graph.needed
    wide, high = max(place.values()) - min(place.values()) + 1, max(floors.values()) + 1
    figure = Figure(figsize=(max(8.0, 1.9 * wide), max(5.0, 1.1 * high)), layout="constrained")
    axes = figure.add_subplot()
    folders = sorted({name.partition("/")[0] for name in graph.arrows if "/" in name})
    for name, below in graph.arrows.items():
        for lower in below:
            start, end = (place[name], floors[name]), (place[lower], floors[lower])
            colour = (
                "#c0392b"
                if floors[name] <= floors[lower]
                else "#555555"
                if (name, lower) in needed
                else "#dcdcdc"
            )
            bent = 0.0 if floors[name] - floors[lower] == 1 else 0.12
            arrow = FancyArrowPatch(
                start, end, arrowstyle="-|>", mutation_scale=9, color=colour, linewidth=0.8,
                connectionstyle=f"arc3,rad={bent}", shrinkA=11, shrinkB=11, zorder=1 if colour == "#dcdcdc" else 2,
            )  # fmt: skip
            axes.add_patch(arrow)
    for name, across in place.items():
        folder = name.partition("/")[0]
        shade = f"C{folders.index(folder)}" if folder in folders else "black"
        box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": shade, "linewidth": 1.4}
        axes.text(
            across, floors[name], name.replace("/", "/\n"), ha="center", va="center", fontsize=8, bbox=box
        )
    axes.set(
        xlim=(min(place.values()) - 0.7, max(place.values()) + 0.7), ylim=(-0.6, high - 0.4), yticks=range(high)
    )
    axes.set_ylabel("floor")
    axes.set_xticks([])
    axes.set_title(
        f"{title}: {graph}\ngrey: arrows beside which there is another way; red: arrows that lead up"
    )
    axes.spines[:].set_visible(False)
    for ending in ("svg", "png"):
        figure.savefig(path.with_suffix(f".{ending}"), dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.drawing", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("figures"), help="folder of the pictures")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    print(f"modules of lastiterate: {files()}")
    for name, title, graph in (
        ("imports", "rooms of lastiterate", rooms()),
        ("numeric", "rooms of numeric/", rooms("numeric")),
    ):
        draw(graph, title, out / name)
        print(f"{title}: {graph}, see {out / name}.svg")
        for circle in graph.circles:
            print(f"  a circle: {', '.join(circle)}")
        for one, other in graph.up:
            print(f"  up: {one} -> {other}")
    for scheme in SCHEMES:
        for target in TARGETS:
            way = passed(scheme, target)
            (kind,) = target
            inside = {room(name, "numeric") for name in way}
            print(
                f"bound, {scheme}, at {kind}: {len(set(way))} modules in {len(inside)} rooms, {len(way)} stays"
            )
            print(f"  {', '.join(dict.fromkeys(name.removeprefix('numeric.') for name in way))}")
    for key in CLAIMS:
        way = followed(key)
        print(f"decide, {key}: {len(set(way))} rooms, {len(way) - len(set(way))} returns")
        print(f"  {', '.join(way)}")


if __name__ == "__main__":
    main()
