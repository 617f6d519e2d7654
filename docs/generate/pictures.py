"""The pictures of the pages: the figures of `lastiterate figure`, drawn as SVG while the site is built."""

import io
from importlib import import_module

from lastiterate.commands.figure import FIGURES
from lastiterate.numeric.plotting.canvas import draw
from lastiterate.numeric.plotting.drawing import table

__all__ = ["pictures"]

SHOWN = ("ours/path", "ours/assumptions")


def pictures() -> dict[str, str | bytes]:
    """Each picture, and the CSV behind it, by its path in the site."""
    from matplotlib import rc_context

    made: dict[str, str | bytes] = {}
    for name in SHOWN:
        module, _, function = FIGURES[name].draws.partition(":")
        figure = getattr(import_module(f"lastiterate.{module}"), function)()
        image = io.BytesIO()
        with rc_context({"svg.hashsalt": name}):  # the same names inside the file in every build
            draw(figure).savefig(image, format="svg", metadata={"Date": None})
        stem = f"pictures/{name.replace('/', '-')}"
        made |= {f"{stem}.svg": image.getvalue(), f"{stem}.csv": table(figure)}
    return made
