"""The one error a user's input can raise, and what an interrupted computation says."""

__all__ = ["InputError", "Interrupted"]


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
