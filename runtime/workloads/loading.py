"""Workloads by name: ``builtin:NAME``, ``hf:FOLDER``, or the user's ``module:factory``."""

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from torch import nn

from lastiterate.numeric.errors import InputError, suggestion, teaches
from lastiterate.runtime.trials import describe_error, user_code
from lastiterate.runtime.workloads.hugging_face import hugging_face
from lastiterate.runtime.workloads.scikit_learn import breast_cancer, digits_cnn, iris_mlp, iris_softmax
from lastiterate.runtime.workloads.workload import Workload

BUILTIN: Final[Mapping[str, Callable[[], Workload]]] = MappingProxyType(
    {
        "iris-mlp": iris_mlp,
        "iris-mlp-tanh": lambda: iris_mlp(nn.Tanh, name="builtin:iris-mlp-tanh"),
        "iris-mlp-gelu": lambda: iris_mlp(nn.GELU, name="builtin:iris-mlp-gelu"),
        "iris-softmax": iris_softmax,
        "breast-cancer": breast_cancer,
        "digits-cnn": digits_cnn,
    }
)
"""Built-in workloads, which include their data."""


@teaches()
def load_workload(name: str, data: Path | None = None, checkpoint: Path | None = None) -> Workload:
    """Load the workload called ``name``.

    The user's module is imported, so its code runs; the current folder is searched first.

    Args:
        name: builtin:NAME, hf:FOLDER (`lastiterate.runtime.workloads.hugging_face`) or module:factory.
        data: folder or file of the user's data, passed to the factory as ``data``, or read by `Workload.on_file`
            if the factory does not take ``data``; None omits it.
        checkpoint: initial weights, as in `Workload.at_checkpoint`; None for the factory's own.

    Raises:
        InputError: a factory that does not exist, raises, or does not return a `Workload`; a module that
            raises; or unsuitable data or an unsuitable checkpoint.
    """
    home, colon, attribute = name.partition(":") if isinstance(name, str) else ("", "", "")
    if not (home and colon and attribute):
        hint = "try builtin:iris-mlp."
        if isinstance(name, str) and name.endswith((".pt", ".pth", ".bin", ".ckpt", ".safetensors")):
            hint = "a checkpoint holds only weights: name the workload that builds the network, and add --checkpoint."
        elif isinstance(name, str) and "." in name:
            hint = f"try {':'.join(name.rsplit('.', 1))}."
        raise InputError(
            f"A workload must be builtin:NAME, hf:FOLDER or module:factory, got workload={name}; {hint}"
        )
    if home == "builtin":
        if attribute not in BUILTIN:
            hint = suggestion(attribute, BUILTIN, f"choose one of {', '.join(BUILTIN)}.", prefix="builtin:")
            raise InputError(f"A built-in workload needs a known name, got workload={name}; {hint}")
        factory: object = BUILTIN[attribute]
    elif home == "hf":
        factory = partial(hugging_face, Path(attribute))
    else:
        factory = _imported(home, attribute, name)
    if not callable(factory):
        raise InputError(
            f"The factory of a workload must be callable, got {attribute}={type(factory).__name__} in "
            f"workload={name}; name a function that returns a Workload."
        )
    with user_code(
        "The factory of a workload must return a workload", f"from workload={name}; correct the factory."
    ):
        takes = {} if data is None else inspect.signature(factory).parameters
        passed = "data" in takes or any(one.kind is one.VAR_KEYWORD for one in takes.values())
        workload = factory(data=data) if passed else factory()
    if not isinstance(workload, Workload):
        got = f"the class {workload.__name__}" if isinstance(workload, type) else type(workload).__name__
        remedy = (
            "call it" if workload is Workload else "build one from a module factory, a per-sample loss and data"
        )
        raise InputError(
            f"The factory must return a lastiterate.Workload, got {got} from workload={name}; {remedy}."
        )
    workload = workload if passed or data is None else workload.on_file(data)
    return workload if checkpoint is None else workload.at_checkpoint(checkpoint)


def _imported(home: str, attribute: str, name: str) -> object:
    if "/" in home or Path(home).suffix == ".py":
        raise InputError(
            f"A workload must be named by its module, got a file in workload={name}; run from its folder, and name it "
            f"{Path(home).stem}:{attribute}."
        )
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(home)
    except ModuleNotFoundError as error:
        missing = error.name or home
        what = "that module" if home == missing or home.startswith(f"{missing}.") else f"its import {missing}"
        raise InputError(
            f"The module of a workload must be importable, got workload={name} where {what} was not found; run from "
            "the folder that holds it, or install it."
        ) from None
    except (Exception, SystemExit) as error:
        raise InputError(
            f"The module of a workload must be importable, got {describe_error(error)} from workload={name}; "
            "correct it."
        ) from error
    if not hasattr(module, attribute):
        hint = suggestion(attribute, vars(module), "name a function that it defines.", prefix=f"{home}:")
        raise InputError(f"The module {home} has no {attribute}, got workload={name}; {hint}")
    return getattr(module, attribute)
