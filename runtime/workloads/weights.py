"""Trained weights from a file, read as numbers; no code in the file is executed.

A file may hold more than the weights of one network: an optimiser's state, averaged weights, a discriminator.
The weights are looked for under every prefix of the names in the file. Two sets that differ are refused.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain, zip_longest
from pathlib import Path
from typing import Final
from zipfile import BadZipFile, ZipFile, is_zipfile

import torch
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.checkpointing import HEAD
from lastiterate.runtime.devices import refuse_beyond

Weights = dict[str, Tensor]
"""Tensors by name, as in a ``state_dict``; the keys of nested dictionaries are joined by dots."""

INDEX: Final = ".index.json"
"""Suffix of the index of a sharded checkpoint, which lists its files."""

SHARD: Final = re.compile(r"-\d{5}-of-\d{5}\.")
"""Pattern in the names of these files."""

_IN_FOLDERS: Final = tuple(
    name + end for name in ("model.safetensors", "pytorch_model.bin") for end in ("", INDEX)
)
"""Files of weights in a folder that ``save_pretrained`` wrote, the preferred one first."""

_WRAPPERS: Final = frozenset(
    ("module", "_module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module")
)
"""Parts of names added by DataParallel, Opacus, torch.compile, FSDP and activation checkpointing."""

_POSITIONS: Final = "position_ids"
"""Buffer that Transformers saved with the weights until 2023."""

_NAMED: Final = 4


def read_weights(path: Path) -> Weights:
    """Tensors of a checkpoint, on the CPU, by their names; the state of optimisers is left out.

    Args:
        path: a file written by ``torch.save`` or safetensors, the index of one in several files, or a folder
            that ``save_pretrained`` wrote.

    Raises:
        InputError: a file that is missing, damaged or not a checkpoint, or with other objects (a pickled module
            is never loaded).
    """
    weights: Weights = {}
    read = read_saved(path)
    nodes: list[tuple[str, object]] = [("", read)]
    seen: set[int] = set()
    while nodes:
        at, node = nodes.pop()
        if isinstance(node, Tensor):
            unusable = node.is_meta or node.is_quantized or node.layout is not torch.strided
            if at in weights or unusable:
                got = "without plain numbers" if unusable else "twice"
                raise InputError(
                    f"A checkpoint must hold dense numbers under each name, got {at} {got} in checkpoint={path}; save "
                    "it again with torch.save(module.state_dict(), FILE)."
                )
            weights[at] = node.float() if node.is_floating_point() and node.itemsize == 1 else node
        elif isinstance(node, Mapping | list | tuple) and id(node) not in seen:
            seen.add(id(node))
            entries = list(node.items() if isinstance(node, Mapping) else enumerate(node))
            if not {"state", "param_groups"} <= {key for key, _ in entries}:  # of an optimiser
                nodes += reversed([(f"{at}.{key}" if at else str(key), value) for key, value in entries])
    if not weights:
        raise InputError(
            f"A checkpoint must hold tensors by name, got checkpoint={path} without weights; save it again with "
            "torch.save(module.state_dict(), FILE)."
        )
    return weights


def read_saved(path: Path, called: str = "checkpoint") -> Mapping[str, object]:
    """Tensors and plain values from files of torch.save or safetensors; errors refer to them as ``called``."""
    got = f"got {called}={path}"
    if path.is_dir():
        path = next((path / name for name in _IN_FOLDERS if (path / name).is_file()), path)
    if not path.is_file():
        raise InputError(
            f"A {called} must be a file, or a folder with {_IN_FOLDERS[0]}, {got}; check the path."
        )
    smaller = "use that of a smaller network, or a machine with more memory"
    try:
        if path.name.endswith(INDEX):
            return _of_shards(path, called)
        refuse_beyond(f"{called}={path} takes", path.stat().st_size, torch.device("cpu"), smaller)
        with path.open("rb") as opened:
            start = opened.read(len(HEAD))
        of_safetensors = start[8:9] == b"{" or (path.suffix == ".safetensors" and not is_zipfile(path))
        return _of_safetensors(path, called) if of_safetensors else _of_torch(path, called, start)
    except OSError as error:
        raise InputError(f"A {called} must be readable, {got} ({error.strerror}); check it.") from None


def weights_for(module: nn.Module, saved: Weights, path: Path) -> tuple[str, Weights, list[str]]:
    """Find the weights of a module in a file; return the prefix of their names, the weights, and all other names.

    Raises:
        InputError: the file lacks a weight, has one of another shape or one more under the same prefix, has a
            weight that is not finite, or has several sets of weights that differ.
    """
    own: Weights = {name: one for name, one in module.state_dict().items() if isinstance(one, Tensor)}
    parts: dict[str, dict[str, str]] = {}
    for name, theirs, part in _places(own, saved):
        parts.setdefault(part, {}).setdefault(name, theirs)
    parts = {part: _with_tied(own, found) for part, found in parts.items()}
    complete = [part for part, found in parts.items() if not _differences(own, saved, found)]
    fitting = [part for part in complete if not _surplus(saved, part, parts[part])]
    chosen = next(iter([*fitting, *complete]), "")
    sets = {part: {name: saved[theirs] for name, theirs in parts[part].items()} for part in complete}
    others = [part for part in complete if part != chosen and _differ(sets[part], sets[chosen])]
    if complete:
        others += _unnamed_sets(module, saved, {theirs for part in complete for theirs in parts[part].values()})
    if others:
        raise InputError(
            f"A checkpoint must hold one set of weights, got checkpoint={path} with several: "
            f"{', '.join(part or 'names without a prefix' for part in (chosen, *others))}; save only one of them, by "
            "torch.save(module.state_dict(), FILE)."
        )
    if not fitting:
        best = max(parts, key=lambda part: len(parts[part]), default="")
        found = parts.get(best, {})
        both = zip_longest(_differences(own, saved, found), _surplus(saved, best, found))
        differences = [one for one in chain(*both) if one is not None]
        more = f" and {len(differences) - _NAMED} more" if len(differences) > _NAMED else ""
        whole = [*path.parent.glob(f"*{INDEX}")] if SHARD.search(path.name) else []
        mend = (
            f"give the index of all its files, {whole[0].name}"
            if whole
            else "build the network that was trained"
        )
        raise InputError(
            f"A checkpoint must belong to the network that it is loaded into, got checkpoint={path}, which "
            f"{', '.join(differences[:_NAMED])}{more}; {mend}."
        )
    for name, values in sets[chosen].items():
        if not bool(torch.isfinite(values).all()):
            raise InputError(
                f"A checkpoint must hold finite weights, got nan or inf in {name} of checkpoint={path}; use one from "
                "before the training diverged."
            )
    used = {*parts[chosen].values()}
    return chosen, sets[chosen], [name for name in saved if name not in used]


def put_in(saved: Weights, module: nn.Module, path: Path) -> None:
    """Load the weights of a file into a module; see `weights_for`."""
    module.load_state_dict(weights_for(module, saved, path)[1], strict=False)


def _places(own: Weights, saved: Weights) -> Iterator[tuple[str, str, str]]:
    """Name in the network, name in the file that ends with it up to wrappers, and what precedes it there."""
    cores = {tuple(step for step in name.split(".") if step not in _WRAPPERS): name for name in own}
    wrappers = _WRAPPERS if len(cores) == len(own) else frozenset()
    cores = cores if wrappers else {tuple(name.split(".")): name for name in own}
    for theirs in saved:
        steps = theirs.split(".")
        kept = [k for k, step in enumerate(steps) if step not in wrappers]
        for first in range(len(kept)):
            name = cores.get(tuple(steps[k] for k in kept[first:]))
            if name is not None:
                before = steps[: kept[first]]
                for step in reversed(name.split(".")[: name.split(".").index(steps[kept[first]])]):
                    before = before[:-1] if before[-1:] == [step] else before
                yield name, theirs, ".".join(before)


def _with_tied(own: Weights, found: Mapping[str, str]) -> dict[str, str]:
    """Add the names of tied tensors, which a file may hold only once, as safetensors does for a tied head."""
    first = {
        (own[name].data_ptr(), own[name].shape): theirs
        for name, theirs in found.items()
        if not own[name].is_meta
    }
    left_out = {name: first.get((one.data_ptr(), one.shape)) for name, one in own.items() if name not in found}
    return {**found, **{name: theirs for name, theirs in left_out.items() if theirs is not None}}


def _differences(own: Weights, saved: Weights, found: Mapping[str, str]) -> list[str]:
    kinds = {name: (_kind(saved[theirs]), _kind(own[name])) for name, theirs in found.items()}
    off = [f"has {name} {given} for {needed}" for name, (given, needed) in kinds.items() if given != needed]
    tied: dict[tuple[int, torch.Size], str] = {}
    for name, theirs in found.items():
        twin = tied.setdefault((own[name].data_ptr(), own[name].shape), theirs)
        differs = twin != theirs and not off and not own[name].is_meta
        if differs and bool((saved[twin] != saved[theirs]).any()):
            off.append(f"has different {twin} and {theirs}, which the network ties")
    return off + [f"lacks {name}" for name in own if name not in found]


def _surplus(saved: Weights, part: str, found: Mapping[str, str]) -> list[str]:
    under, used = f"{part}." if part else "", {*found.values()}
    more = [name for name in saved if name.startswith(under) and name not in used]
    return [f"also has {name}" for name in more if not name.endswith(_POSITIONS)]


def _differ(weights: Weights, others: Weights) -> bool:
    return any(bool((one != others[name]).any()) for name, one in weights.items())


def _unnamed_sets(module: nn.Module, saved: Weights, used: set[str]) -> list[str]:
    """Find a prefix of unused tensors with the shapes of all parameters, such as a list of averaged weights."""
    shapes: dict[str, list[tuple[int, ...]]] = {}
    for name, values in saved.items():
        steps = name.split(".")
        for k in range(1, len(steps)):
            if name not in used and values.ndim:
                shapes.setdefault(".".join(steps[:k]), []).append(tuple(values.shape))
    wanted = sorted(tuple(one.shape) for one in module.parameters() if one.ndim)
    return [part for part, found in shapes.items() if sorted(found) == wanted][-1:]


def _of_shards(path: Path, called: str) -> Mapping[str, object]:
    try:
        names = json.loads(path.read_text(encoding="utf-8"))["weight_map"]
        files = {str(file) for file in names.values()}
        inside = all(Path(file).name == file and not file.endswith(INDEX) for file in files)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        inside, files = False, set()
    if not inside or not files:
        raise InputError(
            f"An index must list the files of a {called} in its folder, got {called}={path}; save it again."
        )
    found: dict[str, object] = {}
    for file in sorted(files):
        found |= read_saved(path.with_name(file), called)
    if missing := next((name for name in names if name not in found), ""):
        raise InputError(
            f"The files of a {called} must hold its weights, got {called}={path} without {missing}; save it again."
        )
    return found


def _of_torch(path: Path, called: str, start: bytes) -> Mapping[str, object]:
    got = f"got {called}={path}"
    if start == HEAD:
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
                scripted = any("/code/" in name for name in file.namelist())
            wrong = f"contain only tensors, {got} with {'TorchScript code' if scripted else 'other objects'}"
            wrong += ", which could run and is never loaded" if scripted else ", which are never loaded"
        with path.open("rb") as opened:  # torch would judge a path by its ending
            read = torch.load(opened, map_location="cpu", weights_only=True)
    except Exception as error:  # damaged bytes may raise anything
        if named := re.search(r"GLOBAL (\S{1,100}) was", str(error)):
            wrong = f"contain only tensors, {got} with {named[1]}, which could run code and is never loaded"
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
