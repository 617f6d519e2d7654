"""The one error a user's input can raise, what it suggests, and what an interrupted computation says."""

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    r"""Bad input, in one sentence: what is needed, what was got as ``name=value``, what to do.

    The command line prints the sentence and exits with status 2. What a stranger's file puts into it is escaped, line
    breaks and what steers a terminal included.

    >>> print(InputError("A name needs letters, got name=\x1b[2J\n; rename it."))
    A name needs letters, got name=\x1b[2J\n; rename it.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in sentence))


class Interrupted(Exception):  # noqa: N818  # it is no error
    """Ctrl-C, with what is finished and kept as its message, the beginning of a sentence.

    The command line prints it, says that the same command goes on from there, and exits with status 130.
    """


def suggestion(
    got: object, known: Iterable[str], otherwise: str = "choose one of them.", *, cutoff: float = 0.6, prefix: str = ""
) -> str:
    """The end of an error about a name that is not known: the nearest one, upper and lower case alike.

    Args:
        got: what was given.
        known: the names.
        otherwise: what to say if none is near.
        cutoff: how near is near, from 0 (all) to 1 (the same).
        prefix: what a user writes before the name.

    >>> suggestion("Poison", ["full", "poisson"]), suggestion("l", ["kind", "L"]), suggestion("x", ["kind"])
    ('did you mean poisson?', 'did you mean L?', 'choose one of them.')
    """
    names = {name.casefold(): name for name in known}
    near = get_close_matches(str(got).casefold(), names, n=1, cutoff=cutoff)
    return f"did you mean {prefix}{names[near[0]]}?" if near else otherwise
