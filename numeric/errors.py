"""The one error a user's input can raise, and what an interrupted computation says."""

__all__ = ["InputError", "Interrupted"]


class InputError(ValueError):
    """Bad input, in one sentence: what is needed, what was got as ``name=value``, what to do.

    The command line prints the sentence and exits with status 2.
    """


class Interrupted(Exception):  # noqa: N818  # it is no error
    """Ctrl-C, with what is finished and kept as its message, the beginning of a sentence.

    The command line prints it, says that the same command goes on from there, and exits with status 130.
    """
