"""A derivation line by line, and what it rests on, as text for a reader."""

from collections.abc import Iterator

from lastiterate.symbolic.kernel.judgement import Guarantee, Span


def derivation_text(made: Guarantee) -> Iterator[str]:
    """Every judgement by number with its rule and side conditions, then hypotheses and what is cited.

    A line reads: number, rule, numbers of its premises, the order of the two laws; steps, distances, profile.
    """
    spans = list(dict.fromkeys([*made.first.lines(), *made.second.lines()]))
    number = {id(span): index for index, span in enumerate(spans, 1)}
    for span in spans:
        premises = ", ".join(str(number[id(premise)]) for premise in span.premises)
        yield f"{number[id(span)]:3} {span.rule}{f' ({premises})' if premises else ''}: {span}"
        for shown in span.shown:
            yield f"      {shown.condition}   [{shown.how}]"
    yield "Supposes"
    yield from (f"  {one}" for one in sorted(map(str, made.first.hypotheses | made.second.hypotheses)))
    yield from (f"  {condition}" for condition in sorted(map(str, made.first.given | made.second.given)))
    yield "Rests on"
    yield from (f"  {one}" for one in _cited(made.first, made.second))


def _cited(*spans: Span) -> list[str]:
    """Claims and cited mathematics, and what every derivation rests on."""
    always = (
        "finite Borel measures on Polish spaces are inner regular",
        "the projection on a closed convex set brings no two points farther apart",
        "a Renyi divergence is at most the profile's, and moments of profiles multiply (docs/proofs/privacy_loss.md)",
    )
    return [*dict.fromkeys([*always, *(one for span in spans for one in span.cited())])]
