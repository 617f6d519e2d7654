"""Files of strangers: a run, a sweep. Whatever is in them: a number, or one sentence and exit status 2."""

import re
import tomllib
from itertools import islice
from math import isnan
from pathlib import Path

import pytest
from fuzzing import both, campaign, damaged
from hypothesis import strategies as st
from shared import parse_run

import lastiterate as li
from lastiterate.__main__ import main
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.sweeps import load_sweep

_RUN = {
    "steps": "5",
    "step_size": "0.1",
    "noise_std": "1.0",
    "clip_norm": "2.0",
    "dataset_size": "6",
    "batch_size": "2",
    "sampling": '"cyclic"',
    "diameter": "1.0",
    "adjacency": '"replace"',
}
_ASSUMPTION = {
    "kind": '"smooth"',
    "L": "1.0",
    "lam": "0.5",
    "m": "0.5",
    "distances": "[1.0, 2.0]",
    "values": "[1, 2]",
}
_KINDS = ("smooth", "holder", "clipped", "convex", "strongly_convex", "tabulated", "sum", "minimum", "none")
_SCHEMES = ("full", "cyclic", "shuffled", "without_replacement", "poisson", "all")

_NUMBERS = st.one_of(
    st.sampled_from(
        ["0", "-1", "1", "nan", "inf", "-inf", "1e-300", "1e300", "5e-324", "1e400", "9" * 400, "0.5", "2"]
    ),
    st.floats().map(repr).map(lambda text: text.replace("e+", "e")),
    st.integers(-3, 12).map(str),
)
_VALUES = st.one_of(
    _NUMBERS,
    st.sampled_from(
        ["true", '""', '"1"', "[]", "{}", "[1.0, 2.0]", "[[1]]", "1979-05-27", "[nan]", '"\\u0000"']
    ),
    st.sampled_from(_KINDS + _SCHEMES).map(lambda text: f'"{text}"'),
    st.lists(_NUMBERS, min_size=1, max_size=6).map(lambda items: f"[{', '.join(items)}]"),
    st.just("[" + '{kind = "clipped"}, ' * 2 + '{kind = "smooth", L = 1.0}]'),
)


@st.composite
def _texts(draw: st.DrawFn, extra: str = "") -> str:
    """A run file in which some values are replaced, left out, or new."""
    run = dict(_RUN)
    assumption = {"kind": f'"{draw(st.sampled_from(_KINDS))}"'}
    wanted = {
        '"smooth"': ["L"],
        '"holder"': ["L", "lam"],
        '"convex"': ["L"],
        '"strongly_convex"': ["L", "m"],
        '"tabulated"': ["distances", "values"],
    }
    assumption |= {name: _ASSUMPTION[name] for name in wanted.get(assumption["kind"], [])}
    if assumption["kind"] in ('"sum"', '"minimum"'):
        assumption["parts"] = '[{kind = "clipped"}, {kind = "smooth", L = 1.0}]'
    if draw(st.booleans()):
        scheme = draw(st.sampled_from(_SCHEMES))
        run |= {"sampling": f'"{scheme}"', "adjacency": '"add_remove"' if scheme == "poisson" else '"replace"'}
        if scheme == "full":
            del run["batch_size"]
    for _ in range(draw(st.integers(0, 3))):
        table = draw(st.sampled_from([run, assumption]))
        name = draw(st.sampled_from([*table, "noise", "parts", "kind", "λ"]))
        if draw(st.booleans()):
            table[name] = draw(_VALUES)
        else:
            table.pop(name, None)
    tables = {"run": run, "assumption": assumption}
    lines = [
        f"[{name}]\n" + "".join(f'"{k}" = {v}\n' for k, v in table.items()) for name, table in tables.items()
    ]
    return "\n".join([*lines, extra])


def _sentence(message: str) -> None:
    assert "\n" not in message.strip()
    assert len(message) > 20


def _is_a_run(text: str) -> None:
    try:
        run, assumption = parse_run(text)
    except InputError as error:
        _sentence(str(error))
        return
    if run.steps > 12:
        return  # `test_numbers` has the large ones
    for target in ({"order": 2.0}, {"delta": 1e-5}):
        try:
            found = li.bound(run, assumption, **target).epsilon  # type: ignore[arg-type]
        except InputError as error:
            _sentence(str(error))
            continue
        assert not isnan(found)
        assert found >= 0


@pytest.mark.nightly
@both
def test_run_files(times: int) -> None:
    campaign(250 * times, _texts(), _is_a_run)


@both
def test_damaged_run_files(times: int, tmp_path: Path) -> None:
    """Bytes that may be no text at all, through the file."""
    whole = "\n".join(
        ["[run]", *(f"{k} = {v}" for k, v in _RUN.items()), '[assumption]\nkind = "clipped"\n']
    ).encode()
    path = tmp_path / "run.toml"

    def check(data: bytes) -> None:
        path.write_bytes(data)
        try:
            found = load_run_of(path)
        except InputError as error:
            _sentence(str(error))
        else:
            assert isinstance(found, li.NoisySGD)

    campaign(300 * times, damaged(whole), check)


def load_run_of(path: Path) -> object:
    from lastiterate.numeric.run_file import load_run

    return load_run(path)[0]


@both
def test_sweep_files(times: int, tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    grids = st.dictionaries(
        st.sampled_from(["noise_std", "L", "order", "delta", "steps", "sampling", "m", "orders"]),
        _VALUES,
        max_size=3,
    ).map(lambda axes: "[grid]\n" + "".join(f"{name} = {values}\n" for name, values in axes.items()))

    def check(text: str) -> None:
        path.write_text(text, encoding="utf-8")
        try:
            plan = load_sweep(path)
        except InputError as error:
            _sentence(str(error))
            return
        for point in islice(plan.points(), 3):
            found = plan.solve(point)
            assert (found.epsilon is None) == bool(found.error)
            if found.error:
                _sentence(found.error)

    campaign(150 * times, st.tuples(_texts(), grids).map("\n".join), check)


@pytest.mark.sweep(1)
@both
@pytest.mark.parametrize("command", ["bound", "compare", "calibrate"])
def test_the_commands(command: str, times: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit status 0 with a number on stdout, or 2 with one line on stderr; never anything else."""
    path = tmp_path / "run.toml"
    options = {
        "bound": ["--order", "2"],
        "compare": ["--order", "3"],
        "calibrate": ["--epsilon", "1", "--order", "2"],
    }

    def check(text: str) -> None:
        path.write_text(text, encoding="utf-8")
        steps = re.search(r'"steps" = (\S+)', text)
        try:
            long = steps is not None and float(tomllib.loads(f"x = {steps[1]}")["x"]) > 12
        except (tomllib.TOMLDecodeError, TypeError, ValueError, OverflowError):
            long = False
        if long:
            return
        with pytest.raises(SystemExit) as caught:
            main([command, str(path), *options[command], "--json"])
        told = capsys.readouterr()
        assert caught.value.code in (0, 2), told
        if caught.value.code == 2:
            assert told.out == ""
            assert told.err.startswith("error: ")
            assert told.err.count("\n") == 1
        else:
            assert told.out.startswith(("{", "["))
            assert told.err == ""

    campaign({"bound": 40, "compare": 20, "calibrate": 12}[command] * times, _texts(), check)
