"""Whether all that is written in a picture is inside it, and beside the axes where it is the legend."""

from plotting import Figure, draw

__all__ = ["assert_inside"]


def assert_inside(figure: Figure) -> set[str]:
    """Every text lies in the picture, and every curve is in it; all that is written."""
    picture = draw(figure)
    picture.canvas.draw()
    renderer = picture.canvas.get_renderer()  # type: ignore[attr-defined]
    texts = [*picture.texts, *picture.legends[0].get_texts()]
    for text in texts:
        box = text.get_window_extent(renderer)
        assert box.x0 >= 0, text
        assert box.x1 <= picture.bbox.x1, text
        assert box.y0 >= 0, text
    words = {text.get_text().replace("\n", " ") for text in texts}
    for curve in figure.curves:
        name = f"{curve.label}{', ' * bool(curve.of)}{curve.of}"
        assert any(
            word.startswith((f"{name} (", f"{name}: ")) and word.endswith(f"({curve.status})") for word in words
        )
    return words
