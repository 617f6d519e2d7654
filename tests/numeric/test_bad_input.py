"""Whatever is wrong with a run, an assumption or a target is one sentence that names it, from Python and the shell.

What the shell must do: status 2, nothing on stdout, one line on stderr, no file written.
"""

from pathlib import Path

import numpy as np
import pytest
from shared import parse_run

from lastiterate.__main__ import main
from lastiterate.numeric.bound import bound
from lastiterate.numeric.divergences import s_down, s_up
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Convex, Measured, Smooth, StronglyConvex
from lastiterate.numeric.run import NoisySGD

_RUN = {"steps": "20", "step_size": "0.1", "noise_std": "1.0", "clip_norm": "2.0", "dataset_size": "6"}
_CONVEX = {"kind": '"convex"', "L": "1.0"}
_ORDER, _DELTA = ("--order", "2"), ("--delta", "1e-5")
_DRAWN = {"batch_size": "2", "sampling": '"without_replacement"'}
_POISSON = {"batch_size": "2", "sampling": '"poisson"'}

_BAD = {
    "batch larger than the data": ({"batch_size": "7"}, {}, _ORDER, "batch_size=7"),
    "full batch of a part": ({"batch_size": "3"}, {}, _ORDER, "batch_size=3"),
    "batch that does not divide": ({"batch_size": "4", "sampling": '"cyclic"'}, {}, _ORDER, "batch_size=4"),
    "shuffled batch that does not divide": (
        {"batch_size": "4", "sampling": '"shuffled"'},
        {},
        _ORDER,
        "batch_size=4",
    ),
    "Poisson with replace": (_POISSON | {"adjacency": '"replace"'}, {}, _DELTA, "adjacency='add_remove'"),
    "fixed batches with add_remove": ({"adjacency": '"add_remove"'}, {}, _DELTA, "adjacency='replace'"),
    "unknown adjacency": ({"adjacency": '"swap"'}, {}, _DELTA, "adjacency='swap'"),
    "unknown sampling": ({"sampling": '"random"'}, {}, _ORDER, "sampling='random'"),
    "batch of 0": ({"batch_size": "0"}, {}, _ORDER, "batch_size=0"),
    "batch of a half": ({"batch_size": "0.5"}, {}, _ORDER, "batch_size=0.5"),
    "order 1": ({}, {}, ("--order", "1"), "order=1"),
    "order below 1": ({}, {}, ("--order", "0.5"), "order=0.5"),
    "order nan": ({}, {}, ("--order", "nan"), "order=nan"),
    "order infinite": ({}, {}, ("--order", "inf"), "order=inf"),
    "order 1, random batches": (_DRAWN, {}, ("--order", "1"), "order=1"),
    "delta 0": ({}, {}, ("--delta", "0"), "delta=0"),
    "delta 1": ({}, {}, ("--delta", "1"), "delta=1"),
    "delta above 1": ({}, {}, ("--delta", "1.5"), "delta=1.5"),
    "delta negative": ({}, {}, ("--delta", "-0.1"), "delta=-0.1"),
    "delta nan": ({}, {}, ("--delta", "nan"), "delta=nan"),
    "delta 0, random batches": (_DRAWN, {}, ("--delta", "0"), "delta=0"),
    "order and delta": ({}, {}, (*_ORDER, *_DELTA), "order=2.0, delta=1e-05"),
    "random batches without a target": (_DRAWN, {}, (), "order=None, delta=None"),
    "noise nan": ({"noise_std": "nan"}, {}, _ORDER, "noise_std=nan"),
    "noise negative": ({"noise_std": "-1.0"}, {}, _ORDER, "noise_std=-1"),
    "noise 0": ({"noise_std": "0"}, {}, _ORDER, "noise_std=0"),
    "noise infinite": ({"noise_std": "inf"}, {}, _ORDER, "noise_std=inf"),
    "noise true": ({"noise_std": "true"}, {}, _ORDER, "noise_std=True"),
    "noise a text": ({"noise_std": '"1"'}, {}, _ORDER, "noise_std='1'"),
    "noise of one step nan": ({"steps": "2", "noise_std": "[1.0, nan]"}, {}, _ORDER, "noise_std[1]=nan"),
    "schedule too short": ({"noise_std": "[1.0, 2.0]"}, {}, _ORDER, "got 2 numbers"),
    "step size negative": ({"step_size": "-0.1"}, {}, _ORDER, "step_size=-0.1"),
    "clip norm negative": ({"clip_norm": "-2.0"}, {}, _ORDER, "clip_norm=-2"),
    "clip norm nan": ({"clip_norm": "nan"}, {}, _ORDER, "clip_norm=nan"),
    "diameter negative": ({"diameter": "-1.0"}, {}, _ORDER, "diameter=-1"),
    "diameter nan": ({"diameter": "nan"}, {}, _ORDER, "diameter=nan"),
    "no step": ({"steps": "0"}, {}, _ORDER, "steps=0"),
    "steps negative": ({"steps": "-1"}, {}, _ORDER, "steps=-1"),
    "no sample": ({"dataset_size": "0"}, {}, _ORDER, "dataset_size=0"),
    "m above L": ({}, {"kind": '"strongly_convex"', "m": "2.0"}, _ORDER, "m=2"),
    "L negative": ({}, {"L": "-1.0"}, _ORDER, "L=-1"),
    "L nan": ({}, {"L": "nan"}, _ORDER, "L=nan"),
    "L infinite": ({}, {"kind": '"smooth"', "L": "inf"}, _ORDER, "L=inf"),
    "Hoelder order above 1": ({}, {"kind": '"holder"', "lam": "1.5"}, _ORDER, "lam=1.5"),
    "unknown key": ({"noise": "1.0"}, {}, _ORDER, "did you mean noise_std"),
    "a key of another program": (
        {"noise_multiplier": "1.0"},
        {},
        _ORDER,
        "noise_std is step_size * noise_multiplier",
    ),
    "half a diameter": ({"radius": "1.0"}, {}, _ORDER, "twice the radius"),
    "a name in capitals": ({"sampling": '"Poisson"'}, {}, _ORDER, "did you mean poisson"),
    "a key in small letters": ({}, {"l": "1.0"}, _ORDER, "key='l'; did you mean L"),
    "unknown key of the assumption": ({}, {"lambda": "1.0"}, _ORDER, "key='lambda'"),
    "unknown assumption": ({}, {"kind": '"conxev"'}, _ORDER, "did you mean convex"),
}

_CASES = pytest.mark.parametrize("name", _BAD)


def _text(name: str) -> str:
    run, assumption = _RUN | _BAD[name][0], _CONVEX | _BAD[name][1]
    tables = {"run": run, "assumption": assumption}
    return "\n".join(
        f"[{table}]\n" + "".join(f"{k} = {v}\n" for k, v in keys.items()) for table, keys in tables.items()
    )


def _one_sentence(message: str, said: str) -> None:
    assert said in message
    assert ", got " in message
    assert "\n" not in message
    assert message[-1] in ".?"


def test_from_python(subtests: pytest.Subtests) -> None:
    for name in _BAD:
        with subtests.test(name=name):
            options, said = _BAD[name][2:]
            target = {key[2:]: float(value) for key, value in zip(options[::2], options[1::2], strict=True)}
            with pytest.raises(InputError) as caught:
                bound(*parse_run(_text(name)), **target)
            _one_sentence(str(caught.value), said)


def test_from_the_shell(subtests: pytest.Subtests, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in _BAD:
        with subtests.test(name=name):
            options, said = _BAD[name][2:]
            path = tmp_path / "run.toml"
            path.write_text(_text(name))
            with pytest.raises(SystemExit) as caught:
                main(["bound", str(path), *options])
            told = capsys.readouterr()
            assert caught.value.code == 2
            assert told.out == ""
            assert told.err.startswith("error: ")
            assert told.err.count("\n") == 1
            _one_sentence(told.err.strip(), said)
            assert list(tmp_path.iterdir()) == [path]


def test_the_table_is_bad_for_one_reason_each() -> None:
    """What is left once the change is taken out is a run that has a bound."""
    for changes in ({}, _DRAWN):
        text = "".join(f"{key} = {value}\n" for key, value in (_RUN | changes).items())
        found = bound(*parse_run(f'[run]\n{text}[assumption]\nkind = "convex"\nL = 1.0\n'), order=2)
        assert 0 < found.epsilon < np.inf


def test_rates_outside_0_1(subtests: pytest.Subtests) -> None:
    for price in [s_up, s_down]:
        for q in [0.0, -0.1, 1.0 + 1e-9, 2.0, np.nan, np.inf, "0.1", None, True]:
            with subtests.test(q=q, price=price):
                with pytest.raises(InputError) as caught:
                    price(q, 1.0, alpha=2.0)  # type: ignore[operator]
                _one_sentence(str(caught.value), "q=")


@pytest.mark.parametrize("order", [1.0, 0.5, np.nan, np.inf])
def test_orders_outside_their_range(order: float) -> None:
    with pytest.raises(InputError) as caught:
        s_up(0.1, 1.0, alpha=order)
    _one_sentence(str(caught.value), "alpha=")


@pytest.mark.parametrize(
    ("assumption", "said"),
    [
        (1.0, "assumption=1.0"),
        (Convex, "assumption=the class"),
        (Measured(Smooth(1.0), "a sample"), "Measured"),
    ],
)
def test_assumptions_that_are_none(assumption: object, said: str) -> None:
    run = NoisySGD(20, 0.1, 1.0, 2.0, 6)
    with pytest.raises(InputError) as caught:
        bound(run, assumption, order=2.0)  # type: ignore[arg-type]
    _one_sentence(str(caught.value), said)


def test_the_longest_step_is_allowed() -> None:
    run = NoisySGD(20, 2.0, 1.0, 2.0, 6)
    for assumption in (Convex(1.0), StronglyConvex(1.0, 0.5)):
        assert bound(run, assumption, order=2.0).epsilon > 0
