"""The one error a user's input can raise."""

__all__ = ["InputError"]


class InputError(ValueError):
    """Bad input, in one sentence: what is needed, what was got as ``name=value``, what to do.

    The command line prints the sentence and exits with status 2.
    """
