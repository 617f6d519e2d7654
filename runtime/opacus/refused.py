"""The reason for which steps are composed alone: they were not described, or the description was refused."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.errors import InputError


class Refusing(Protocol):
    """Keeps the sentence with which a description was refused; "" where none was."""

    refused: str


P = ParamSpec("P")
Self = TypeVar("Self", bound=Refusing)


def remembers_refusal(describe: Callable[Concatenate[Self, P], None]) -> Callable[Concatenate[Self, P], None]:
    """Let a description that is refused leave its sentence in ``refused``."""
    checked = teaches()(describe)

    @wraps(describe)
    def told(self: Self, /, *args: P.args, **kwargs: P.kwargs) -> None:
        self.refused = ""
        try:
            checked(self, *args, **kwargs)
        except InputError as error:
            self.refused = str(error)
            raise

    return told


def why_undescribed(refused: str, *, loaded: bool) -> str:
    """The end of a route by composition, where nothing is described; ``loaded`` after a state was loaded.

    >>> why_undescribed("", loaded=False)
    ', as describe() was not called'
    """
    if refused:
        return f", which holds for every optimiser, as describe() was refused: {refused}"
    return f", as describe() was not called{' after a state was loaded' if loaded else ''}"
