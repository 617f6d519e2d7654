"""The state of the accountant for Opacus, kept and read back."""

from copy import deepcopy
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("opacus")

from opacus_training import DELTA, Training, composition  # noqa: E402

from lastiterate.numeric.errors import InputError  # noqa: E402
from lastiterate.numeric.losses.assumptions import Convex  # noqa: E402
from lastiterate.opacus import LastIterateAccountant, project  # noqa: E402

_DESCRIBED = {"dataset_size": 3, "batch_size": 1, "clip_norm": 1.0, "diameter": 1.0, "centre": ""}


def test_a_checkpoint_goes_on_where_it_stopped() -> None:
    straight, first, second = Training(), Training(), Training()
    centre = [one.detach().clone() for one in first.model.parameters()]
    for training in (straight, first):
        project(training.optimizer, 1.0)
        training.described(Convex(0.25), 1.0)
    straight.train(6)
    state = first.train(4).accountant.state_dict()
    second.model.load_state_dict(first.model.state_dict())
    second.accountant.load_state_dict(deepcopy(state))
    assert second.accountant.get_epsilon(DELTA) == composition(4)
    assert second.accountant.route.endswith("as describe() was not called after a state was loaded")
    project(second.optimizer, 1.0, centre=centre)
    second.described(Convex(0.25), 1.0).train(2)
    assert second.accountant.run() == straight.accountant.run()
    assert second.accountant.get_epsilon(DELTA) == straight.accountant.get_epsilon(DELTA)
    states = [one.accountant.state_dict() for one in (second, straight)]
    assert len({one.pop("parameters") for one in states}) == 2  # of other noise
    assert states[0] == states[1]
    other = Training()
    other.accountant.load_state_dict(deepcopy(state))
    project(other.optimizer, 1.0, centre=[torch.ones(1, 4)])
    with pytest.raises(InputError, match=r"centre of the domain that .*centre=copies"):
        other.described(Convex(0.25), 1.0)
    forgotten = Training()
    forgotten.accountant.load_state_dict(deepcopy(state))
    project(forgotten.optimizer, 1.0, centre=centre)
    with pytest.raises(InputError, match="load the model of the same checkpoint"):
        forgotten.described(Convex(0.25), 1.0)
    wider = Training()
    wider.accountant.load_state_dict(deepcopy(state))
    project(wider.optimizer, 1.0, centre=centre)
    with pytest.raises(InputError, match=r"got diameter=2.0 after diameter=1.0"):
        wider.described(Convex(0.25), 2.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": 1}, "got extra=1"),
        ({"history": None}, r"got history=.*required"),
        ({"mechanism": "rdp"}, "mechanism='rdp'"),
        ({"history": [(1.0, 0.1)]}, r"got history\.0\.2="),
        ({"history": [(-1.0, 0.1, 4)]}, r"got history\.0\.0=-1"),
        ({"history": [(1.0, 0.1, 9)]}, "different lengths"),
        ({"step_sizes": [("fast", 4)]}, r"got step_sizes\.0\.0='fast'"),
        ({"projected": float("inf")}, "projected=inf"),
        ({"projected": -1}, "projected=-1"),
        ({"description": {"dataset_size": 3}}, r"got description\.\w+="),
        ({"description": {**_DESCRIBED, "more": 1}}, r"got description\.more=1"),
        ({"description": 3}, "got description=3"),
    ],
)
def test_a_broken_state_is_refused(change: dict[str, Any], message: str) -> None:
    state = {**Training().train(4).accountant.state_dict(), **change}
    state = {key: value for key, value in state.items() if not (key == "history" and value is None)}
    accountant = LastIterateAccountant()
    with pytest.raises(InputError, match=message):
        accountant.load_state_dict(state)
    with pytest.raises(InputError, match=r"got state=\["):
        accountant.load_state_dict(list(state))  # type: ignore[arg-type]
    assert len(accountant) == 0
