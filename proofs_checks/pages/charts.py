"""Small charts as SVG inside the page: they take the page's colours and need nothing from outside."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, isfinite, log10

from markupsafe import Markup

__all__ = ["curves", "stacked_bars"]

_SVG = '<svg class="chart {}" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'


def stacked_bars(rows: Sequence[tuple[str, Mapping[str, int]]], label: str) -> Markup:
    """One bar a row, its segments in the order of the mapping; a segment has the class ``fill-NAME``.

    Args:
        rows: name of a row, and the length of each segment.
        label: what the chart shows, for readers who do not see it.
    """
    longest = max((sum(parts.values()) for _, parts in rows), default=0) or 1
    bar = Markup('<rect class="fill-{}" x="{:.1f}" y="{}" width="{:.1f}" height="16"><title>{}</title></rect>')
    drawn = Markup("")
    for k, (name, parts) in enumerate(rows):
        top, at = 4 + 24 * k, 170.0
        drawn += Markup('<text x="162" y="{}" text-anchor="end">{}</text>').format(top + 13, name)
        for kind, count in parts.items():
            if count:
                width = 400 * count / longest
                drawn += bar.format(kind, at, top, width, f"{name}: {count} {kind}")
                at += width
        drawn += Markup('<text x="{:.1f}" y="{}">{}</text>').format(at + 6, top + 13, sum(parts.values()))
    return Markup(_SVG).format("bars", 620, 8 + 24 * len(rows), label, drawn)  # noqa: S704 - a constant


def curves(x: Sequence[float], lines: Sequence[tuple[str, str, Sequence[float]]], name: str, mark: float) -> Markup:
    """Curves over a logarithmic x axis; the y axis is logarithmic where every value is positive.

    Args:
        x: positive abscissae, shape (k,).
        lines: class, words for the legend, and ordinates of each curve, shape (k,); not finite is left out.
        name: what x is.
        mark: abscissa at which a vertical line stands.
    """
    finite = [y for _, _, ys in lines for y in ys if isfinite(y)]
    logarithmic = min(finite) > 0
    scaled = [log10(y) if logarithmic else y for y in finite]
    low, high = min(scaled), max(scaled)
    span = high - low or 1.0

    def across(value: float) -> float:
        return 70 + 420 * (log10(value) - log10(x[0])) / (log10(x[-1]) - log10(x[0]))

    def up(value: float) -> float:
        return 190 - 170 * ((log10(value) if logarithmic else value) - low) / span

    drawn = Markup('<path class="axis" d="M70 10V195H495"/>')
    line = Markup('<path class="mark" d="M{0:.1f} 10V195"/>')
    drawn += line.format(across(mark))
    for value in _ticks(log10(x[0]), log10(x[-1])):
        drawn += Markup('<text x="{:.1f}" y="210" text-anchor="middle">{}</text>').format(across(value), f"{value:g}")
    for value in (10**low, 10**high) if logarithmic else (low, high):
        drawn += Markup('<text x="64" y="{:.1f}" text-anchor="end">{}</text>').format(up(value) + 4, f"{value:.3g}")
    drawn += Markup('<text x="282" y="228" text-anchor="middle">{}</text>').format(name)
    for k, (kind, words, ys) in enumerate(lines):
        path = "".join(
            f"{'L' if i and isfinite(ys[i - 1]) else 'M'}{across(a):.1f} {up(y):.1f}"
            for i, (a, y) in enumerate(zip(x, ys, strict=True))
            if isfinite(y)
        )
        drawn += Markup('<path class="curve {}" d="{}"/>').format(kind, path)
        top = 20 + 20 * k
        drawn += Markup('<path class="curve {}" d="M505 {}h24"/><text x="534" y="{}">{}</text>').format(
            kind, top, top + 4, words
        )
    return Markup(_SVG).format("plot", 700, 236, f"{' and '.join(words for _, words, _ in lines)} over {name}", drawn)  # noqa: S704


def _ticks(low: float, high: float) -> list[float]:
    """Powers of ten between two exponents, or the ends where there are fewer than two."""
    powers = [10.0**k for k in range(ceil(low - 1e-9), floor(high + 1e-9) + 1)]
    return powers if len(powers) >= 2 else [10**low, 10**high]
