"""Trained weights from a file, read as numbers; no code in the file is executed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from zipfile import BadZipFile, ZipFile, is_zipfile

import torch
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.checkpointing import HEAD
from lastiterate.runtime.devices import refuse_beyond

Weights = dict[str, Tensor]
"""Tensors by the names of a ``state_dict``."""

_NESTED: Final = ("state_dict", "model_state_dict", "model_state", "model")
"""Keys under which training scripts store the weights next to an optimiser's state."""

_WRAPPERS: Final = ("module.", "_module.", "_orig_mod.")
"""Prefixes of names added by DataParallel, Opacus and torch.compile, possibly nested."""

_NAMED: Final = 3


def read_weights(path: Path) -> Weights:
    """Tensors of a checkpoint, on the CPU, by their names in the network.

    The file is the output of ``torch.save(module.state_dict(), path)``, possibly with an optimiser's state,
    or a safetensors file. Prefixes of DataParallel, Opacus and torch.compile are removed.

    Raises:
        InputError: a file that is missing, damaged or not a checkpoint, or that holds more than tensors (a
            pickled module is never loaded), or a weight that is not finite.
    """
    read = read_saved(path)
    found: object = next((read[key] for key in _NESTED if isinstance(read.get(key), Mapping)), read)
    named = found if isinstance(found, Mapping) else {}
    weights: Weights = {str(name): values for name, values in named.items() if isinstance(values, Tensor)}
    if not weights or len(weights) < len(named):
        raise InputError(
            f"A checkpoint must hold tensors by name, got checkpoint={path} with another object at the top level; "
            "save it again with torch.save(module.state_dict(), FILE)."
        )
    while prefix := next((one for one in _WRAPPERS if all(name.startswith(one) for name in weights)), ""):
        weights = {name.removeprefix(prefix): values for name, values in weights.items()}
    for name, values in weights.items():
        if not bool(torch.isfinite(values).all()):
            raise InputError(
                f"A checkpoint must hold finite weights, got nan or inf in {name} of checkpoint={path}; use one from "
                "before the training diverged."
            )
    return weights


def read_saved(path: Path, called: str = "checkpoint") -> Mapping[str, object]:
    """Tensors and plain values from a torch.save or safetensors file; errors refer to it as ``called``."""
    got = f"got {called}={path}"
    if not path.is_file():
        raise InputError(f"A {called} must be a file, {got}; check the path.")
    smaller = "use that of a smaller network, or a machine with more memory"
    refuse_beyond(f"{called}={path} takes", path.stat().st_size, torch.device("cpu"), smaller)
    try:
        return _of_safetensors(path, called) if path.suffix == ".safetensors" else _of_torch(path, called)
    except OSError as error:
        raise InputError(f"A {called} must be readable, {got} ({error.strerror}); check it.") from None


def put_in(weights: Weights, module: nn.Module, path: Path) -> None:
    """Load weights into a module, which must match up to number formats."""
    own = module.state_dict()
    # safetensors omits tensors that alias others, such as a tied head
    places = {(own[name].data_ptr(), own[name].shape): name for name in own if name in weights}
    twins = {
        name: places.get((values.data_ptr(), values.shape))
        for name, values in own.items()
        if name not in weights
    }
    tied = {name: weights[twin] for name, twin in twins.items() if twin is not None and not own[name].is_meta}
    weights = weights | tied
    differences = [f"lacks {name}" for name in own if name not in weights]
    differences += [f"also has {name}" for name in weights if name not in own]
    kinds = {name: (_kind(weights[name]), _kind(own[name])) for name in own if name in weights}
    differences += [
        f"has {name} {given} for {needed}" for name, (given, needed) in kinds.items() if given != needed
    ]
    if differences:
        first = next(iter(weights)).partition(".")[0] + "."
        remedy = "build the network that was trained."
        if all(name.startswith(first) and name.removeprefix(first) in own for name in weights):
            remedy = f"every name has the prefix {first!r}: save only the state_dict of that part."
        more = f" and {len(differences) - _NAMED} more" if len(differences) > _NAMED else ""
        raise InputError(
            f"A checkpoint must belong to the network that it is loaded into, got checkpoint={path}, which "
            f"{', '.join(differences[:_NAMED])}{more}; {remedy}"
        )
    module.load_state_dict(weights)


def _of_torch(path: Path, called: str) -> Mapping[str, object]:
    got = f"got {called}={path}"
    with path.open("rb") as opened:
        if opened.read(len(HEAD)) == HEAD:
            raise InputError(
                f"A {called} must be a file that torch.save wrote, {got}, written by an optimiser of this package; "
                "load it into that optimiser and save its module with torch.save(module.state_dict(), FILE)."
            )
    wrong = (
        f"be a complete file that torch.save or safetensors wrote, {got}, which is cut off or of another kind"
    )
    try:
        if is_zipfile(path):  # every format since torch 1.6
            wrong = f"be undamaged, {got}, which has errors"
            with ZipFile(path) as file:
                if file.testzip() is not None:  # torch itself does not compare the checksums
                    raise BadZipFile
            wrong = (
                f"contain only tensors, {got} with other objects, such as a pickled module, which could run code and "
                "are never loaded"
            )
        read = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:  # damaged bytes may raise anything
        raise InputError(
            f"A {called} must {wrong}; save it again with torch.save(x.state_dict(), FILE)."
        ) from None
    return read if isinstance(read, Mapping) else {}


def _of_safetensors(path: Path, called: str) -> Mapping[str, object]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except SafetensorError as error:
        said = " ".join(str(error).split())
        raise InputError(
            f"A {called} must be a complete file, got {called}={path} ({said}); save it again."
        ) from None


def _kind(values: Tensor) -> str:
    number = "complex" if values.is_complex() else "real" if values.is_floating_point() else "whole"
    return f"{tuple(values.shape)} {number}"
