"""Classifiers from folders: their scores and gradients are those of Transformers, and what is amiss is one sentence."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from lastiterate.__main__ import main
from lastiterate.numeric.errors import InputError
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import flat
from lastiterate.runtime.workloads.hugging_face import read_tokens, transformers
from lastiterate.runtime.workloads.loading import load_workload

pytest.importorskip("transformers", reason="it is in the transformer extra")

FAMILIES = ("albert", "bert", "camembert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta")

_SMALL = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "embedding_size": 16,
    "dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "initializer_range": 0.3,
    "vocab_size": 50, "max_position_embeddings": 20, "num_labels": 3, "pad_token_id": 1,
}  # fmt: skip
_LENGTHS = (9, 4, 7, 9)


def _saved(folder: Path, family: str = "bert", **changed: Any) -> Any:
    library = transformers("test")
    config = library.AutoConfig.for_model(family, **_SMALL | changed)
    torch.manual_seed(3)
    model = library.AutoModelForSequenceClassification.from_config(config).eval()
    model.save_pretrained(folder)
    return model


def _columns(*, segments: bool = False) -> dict[str, list[Any]]:
    draw = np.random.default_rng(0)
    ids = [draw.integers(5, 50, size=length).tolist() for length in _LENGTHS]
    columns = {
        "input_ids": ids,
        "attention_mask": [[1] * length for length in _LENGTHS],
        "labels": [0, 2, 1, 0],
    }
    if segments:
        columns["token_type_ids"] = [[0] * 2 + [1] * (length - 2) for length in _LENGTHS]
    return columns


def _lines(path: Path, columns: dict[str, list[Any]]) -> Path:
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return _lines(tmp_path / "tokens.jsonl", _columns())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    _saved(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("family", FAMILIES)
def test_scores_are_those_of_transformers_and_gradients_their_slope(family: str, tmp_path: Path) -> None:
    """In float64, for padded rows: the slope is within the error of differences, which float32 anywhere exceeds."""
    segments = family in ("bert", "albert", "electra")
    theirs = _saved(tmp_path / "model", family).double()
    path = _lines(tmp_path / "tokens.jsonl", _columns(segments=segments))
    work = load_workload(f"hf:{tmp_path / 'model'}", path)
    gradients = Gradients(work, work.initial(0))
    module = work.initial(0).double()
    ids, mask, kinds = work.inputs.unbind(dim=1)
    more = {"token_type_ids": kinds} if segments else {}
    with torch.no_grad():
        wanted = theirs(input_ids=ids, attention_mask=mask, **more).logits
        torch.testing.assert_close(module(work.inputs), wanted, rtol=1e-12, atol=1e-12)
        if segments:
            assert not torch.allclose(wanted, theirs(input_ids=ids, attention_mask=mask).logits, rtol=1e-3)
    assert list(module.state_dict()) == list(theirs.state_dict())
    found = flat(gradients.at(gradients.start[None]))[0]
    direction = torch.randn(
        gradients.dimension, generator=torch.Generator().manual_seed(1), dtype=torch.float64
    )
    direction /= direction.norm()

    def losses(step: float) -> Tensor:
        torch.nn.utils.vector_to_parameters(gradients.start + step * direction, module.parameters())
        with torch.no_grad():
            return torch.nn.functional.cross_entropy(module(work.inputs), work.targets, reduction="none")

    h = 1e-3
    slope = (8 * (losses(h) - losses(-h)) - (losses(2 * h) - losses(-2 * h))) / (12 * h)
    torch.testing.assert_close(found @ direction, slope, rtol=0, atol=1e-9)


def test_all_files_say_the_same(tmp_path: Path) -> None:
    columns = _columns(segments=True)
    rows, labels = read_tokens(_lines(tmp_path / "tokens.jsonl", columns), padding=1)
    assert rows.shape == (4, 3, 9)
    assert rows[1, 0, 4:].tolist() == [1] * 5
    assert rows[1, 1].tolist() == [1] * 4 + [0] * 5
    names = {"input_ids": 0, "attention_mask": 1, "token_type_ids": 2}
    whole = {name: rows[:, k].numpy().copy() for name, k in names.items()} | {"labels": labels.numpy()}
    np.savez(tmp_path / "tokens.npz", **whole)
    from safetensors.numpy import save_file

    save_file(whole, tmp_path / "tokens.safetensors")
    kinds = ["npz", "safetensors"]
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        pass
    else:
        renamed = {name if name != "labels" else "label": values for name, values in columns.items()}
        parquet.write_table(pa.table(renamed), tmp_path / "tokens.parquet")
        kinds.append("parquet")
    for kind in kinds:
        found = read_tokens(tmp_path / f"tokens.{kind}", padding=1)
        assert torch.equal(found[0], rows), kind
        assert torch.equal(found[1], labels), kind


def test_the_command_measures_it(
    folder: Path, data: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    options = ("--steps", "2", "--points", "3", "--lambda", "1", "--json", "--resume", str(tmp_path / "kept"))
    with pytest.raises(SystemExit) as end:
        main(["estimate", f"hf:{folder}", "--data", str(data), *options])
    assert not end.value.code
    said = json.loads(capsys.readouterr().out)["measurement"]
    assert said["measured"]["sample"]["constants"][0] > 0
    assert (said["inits"], said["subset"]["samples"]) == (1, 4)
    assert "model, whose own training is not accounted for" in said["remark"]


def _rewritten(path: Path, **changed: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"model_type": "gpt2"}, "network that it is loaded into, got checkpoint="),
        ({"model_type": None}, "must end in one of .*got model_type=None"),
        (
            {"architectures": ["BertModel"]},
            r"must end in one of .*and architectures=\['BertModel'\]",
        ),
        ({"architectures": None}, "must end in one of .*and architectures=None"),
        (
            {"problem_type": "regression"},
            r"must be numbers of shape=\(4, 3\) for this network, got shape=\(4,\)",
        ),
        ({"hidden_size": 24}, "must belong to the network that it is loaded into, got checkpoint=.* real for "),
        ({"hidden_size": "wide"}, "config.json must describe its network|must be built without an error"),
    ],
    ids=str,
)
def test_a_config_that_does_not_do(folder: Path, data: Path, changed: dict[str, Any], said: str) -> None:
    _rewritten(folder / "config.json", **changed)
    with pytest.raises(InputError, match=said):
        load_workload(f"hf:{folder}", data).initial(0)


def test_nothing_that_a_config_names_is_fetched_or_run(folder: Path, data: Path) -> None:
    (folder / "evil.py").write_text("raise SystemExit('ran')")
    runs = {"AutoConfig": "evil.C", "AutoModelForSequenceClassification": "evil.M"}
    _rewritten(
        folder / "config.json",
        auto_map=runs,
        _attn_implementation="someone/kernels",
        quantization_config={"a": 1},
    )
    assert load_workload(f"hf:{folder}", data).initial(0)._whole.config._attn_implementation == "eager"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("config.json", "needs its config.json"),
        ("model.safetensors", "must be a file, or a folder with model.safetensors"),
        ("../tokens.jsonl", "Tokenised data must be a file"),
    ],
)
def test_what_is_missing_is_told(folder: Path, data: Path, name: str, said: str) -> None:
    (folder / name).unlink()
    with pytest.raises(InputError, match=said):
        load_workload(f"hf:{folder}", data)


def test_without_data_it_is_one_sentence(folder: Path) -> None:
    with pytest.raises(InputError, match=r"sentences, got workload=hf:.* without data; give --data FILE"):
        load_workload(f"hf:{folder}")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"attention_mask": None, "input_ids": [[7, 1, 1]] * 4}, "got data=.* without attention_mask"),
        ({"labels": None}, "got data=.* without labels"),
        ({"input_ids": [[50, 3]] * 4, "attention_mask": [[1, 1]] * 4}, "within the 50 token ids .* got 50 in"),
        ({"labels": [0, 3, 1, 0]}, "within the 3 classes .* got 3 in"),
        ({"labels": [0, -1, 1, 0]}, "within the 3 classes .* got -1 in"),
        ({"labels": [0.5, 1.0, 1.0, 0.0]}, "must be whole numbers"),
        ({"attention_mask": [[1]] * 4}, "a mask as long as each sentence"),
        (
            {"attention_mask": [[2] * length for length in _LENGTHS]},
            "must be 1 at the tokens and 0 after them, got row=0",
        ),
        (
            {"attention_mask": [[0] * length for length in _LENGTHS]},
            "must be 1 at the tokens and 0 after them, got row=0",
        ),
        ({"token_type_ids": [[2] * length for length in _LENGTHS]}, "within the 2 segments .* got 2 in"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_data_that_do_not_suit(folder: Path, data: Path, changed: dict[str, Any], said: str) -> None:
    _lines(data, {name: values for name, values in (_columns() | changed).items() if values is not None})
    with pytest.raises(InputError, match=said):
        load_workload(f"hf:{folder}", data)


@pytest.mark.parametrize(
    "name", ["tokens.npz", "tokens.safetensors", "tokens.jsonl", "tokens.csv", "tokens.parquet"]
)
def test_damaged_and_unknown_files_are_one_sentence(folder: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04 nothing of the kind")
    with pytest.raises(InputError, match=r"^(Tokenised data must be|This file needs )[^\n]*$"):
        load_workload(f"hf:{folder}", tmp_path / name)


def test_pickled_arrays_are_refused(folder: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "tokens.npz", input_ids=np.array([[1], [1, 2]], dtype=object))
    with pytest.raises(InputError, match="Tokenised data must be whole numbers"):
        load_workload(f"hf:{folder}", tmp_path / "tokens.npz")


def test_too_long_sentences_are_told(folder: Path, tmp_path: Path) -> None:
    long = {"input_ids": [[5] * 30], "attention_mask": [[1] * 30], "labels": [0]}
    with pytest.raises(InputError, match=r"The network must take the sentences, got .*; use others"):
        load_workload(f"hf:{folder}", _lines(tmp_path / "long.jsonl", long))


_CONFIG = {"n_embd": 16, "n_layer": 2, "n_head": 2, "num_key_value_heads": 1, "head_dim": 8}
"""Sizes that decoders name differently."""


@pytest.mark.parametrize(
    ("family", "kind", "changed", "labels"),
    [
        ("bert", "SequenceClassification", {"num_labels": 1}, [0.5, 1.0, -2.0, 0.0]),
        (
            "bert",
            "SequenceClassification",
            {"problem_type": "multi_label_classification"},
            [[1.0, 0.0, 1.0]] * 4,
        ),
        ("distilbert", "TokenClassification", {}, [[-100] + [2] * (length - 1) for length in _LENGTHS]),
        ("roberta", "MaskedLM", {}, [[7] + [-100] * (length - 1) for length in _LENGTHS]),
        ("gpt2", "SequenceClassification", {}, [0, 2, 1, 0]),
        ("gpt2", "SequenceClassification", {"initializer_range": 0.02}, [0, 2, 1, 0]),  # masks hardly differ
        ("gpt2", "CausalLM", {}, None),
        ("llama", "CausalLM", {}, None),
    ],
)
def test_other_losses_are_those_of_transformers(
    family: str, kind: str, changed: dict[str, Any], labels: list[Any] | None, tmp_path: Path
) -> None:
    """The gradient of each padded row is that of the loss that Transformers computes for the sentence alone."""
    library, columns = transformers("test"), _columns()
    config = library.AutoConfig.for_model(family, **_SMALL | _CONFIG | changed)
    torch.manual_seed(3)
    theirs = getattr(library, f"AutoModelFor{kind}").from_config(config, attn_implementation="eager").eval()
    theirs.save_pretrained(tmp_path / "model", max_shard_size="20KB")
    assert len([*(tmp_path / "model").glob("*.safetensors")]) > 1
    del columns["attention_mask"], columns["labels"]
    columns |= {} if labels is None else {"labels": labels}
    work = load_workload(f"hf:{tmp_path / 'model'}", _lines(tmp_path / "tokens.jsonl", columns))
    gradients = Gradients(work, work.initial(0))
    found, theirs = flat(gradients.at(gradients.start[None]))[0], theirs.double()
    names = [name for name, one in work.initial(0).named_parameters() if one.requires_grad]
    for k, ids in enumerate(columns["input_ids"]):
        theirs.zero_grad()
        theirs(
            input_ids=torch.tensor([ids]), labels=torch.tensor([ids if labels is None else labels[k]])
        ).loss.backward()
        every = {name: one.grad for name, one in theirs.named_parameters()}
        parts = [
            every[name] if every[name] is not None else torch.zeros_like(theirs.get_parameter(name))
            for name in names
        ]
        wanted = torch.cat([part.reshape(-1) for part in parts])
        assert float((found[k] - wanted).norm()) < 1e-5 * float(
            wanted.norm()
        )  # some families compute in float32


def test_sentences_of_one_token_do_not_hide_that_attention_is_causal(tmp_path: Path) -> None:
    library, columns = transformers("test"), _columns()
    config = library.AutoConfig.for_model("gpt2", **_SMALL | _CONFIG)
    for kind in ("SequenceClassification", "CausalLM"):
        torch.manual_seed(3)
        theirs = getattr(library, f"AutoModelFor{kind}").from_config(config).eval()
        theirs.save_pretrained(tmp_path / kind)
    columns["input_ids"][1], columns["attention_mask"][1] = [7], [1]
    path = _lines(tmp_path / "tokens.jsonl", columns)
    work = load_workload(f"hf:{tmp_path / 'SequenceClassification'}", path)
    theirs = library.AutoModelForSequenceClassification.from_pretrained(tmp_path / "SequenceClassification")
    with torch.no_grad():
        wanted = theirs.eval()(input_ids=work.inputs[:1, 0]).logits
        torch.testing.assert_close(work.initial(0)(work.inputs)[:1], wanted, rtol=1e-4, atol=1e-5)
    del columns["labels"]
    with pytest.raises(InputError, match="a labelled token after the first"):
        load_workload(f"hf:{tmp_path / 'CausalLM'}", _lines(path, columns))
