"""The pictures of the pages: figures of examples/figures, drawn as SVG while the site is built."""

import io
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["pictures"]

SHOWN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ours/path": ({}, {}),
    "ours/assumptions": ({}, {"last": 20, "count": 3, "below": 2}),
    "ours/tightness": (
        {"count": 4, "schemes": ("full", "poisson")},
        {"count": 2, "schemes": ("cyclic",), "steps": 20},
    ),
    "ours/usefulness": ({"epochs": 5}, {"epochs": 1, "settings": 1}),
}
"""Each with its arguments, and with those of a coarse one: fewer points and panels than by default where these take
long."""


def pictures(*, coarse: bool) -> dict[str, str | bytes]:
    """Each picture, and the CSV behind it, by its path in the site."""
    from matplotlib import rc_context

    sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "figures"))
    draw, figure_csv = (getattr(import_module("plotting"), name) for name in ("draw", "figure_csv"))
    made: dict[str, str | bytes] = {}
    for name, arguments in SHOWN.items():
        module = name.replace("/", "_")
        figure = getattr(import_module(module), f"figure_{name.partition('/')[2]}")(**arguments[coarse])
        image = io.BytesIO()
        with rc_context({"svg.hashsalt": name}):  # the same names inside the file in every build
            draw(figure).savefig(image, format="svg", metadata={"Date": None})
        stem = f"pictures/{name.replace('/', '-')}"
        made |= {f"{stem}.svg": image.getvalue(), f"{stem}.csv": figure_csv(figure)}
    return made
