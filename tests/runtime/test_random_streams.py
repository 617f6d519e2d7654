"""Random streams: their laws, their independence, and that a number depends on seed, purpose and place alone."""

import re
from collections import Counter
from pathlib import Path

import mpmath
import numpy as np
import pytest
import torch
from scipy.stats import chisquare, kstest, norm

import lastiterate
from lastiterate.runtime.constants.pairs import ball_points
from lastiterate.runtime.constants.sampling import Draw
from lastiterate.runtime.random_streams import LARGE, Stream, shift_right, stream

LIKE = {dtype: torch.zeros(1, dtype=dtype) for dtype in (torch.float32, torch.float64)}
UNLIKELY = 1e-6
COUNT = 200_000


def drawn(dtype: torch.dtype, seed: int = 0, purpose: int = 0, count: int = COUNT) -> np.ndarray:
    return stream(seed, purpose).normals(1, count, LIKE[dtype], dtype)[0].double().numpy()


@pytest.mark.parametrize("dtype", LIKE)
def test_normal_numbers_are_normal(dtype: torch.dtype) -> None:
    values = drawn(dtype, seed=3)
    assert kstest(values, "norm").pvalue > UNLIKELY
    counts = np.bincount((norm.cdf(values) * 1000).astype(int), minlength=1000)
    assert chisquare(counts).pvalue > UNLIKELY
    far = np.abs(drawn(dtype, count=10 * COUNT))
    for limit in (3.0, 4.0, 4.5):
        expected = 2 * norm.sf(limit) * len(far)
        assert abs((far > limit).sum() - expected) < 5 * np.sqrt(expected)


def test_uniform_and_whole_numbers_are_uniform() -> None:
    uniform = stream(1, 0).uniform(1, COUNT)[0].numpy()
    assert 0 <= uniform.min() < uniform.max() < 1
    assert kstest(uniform, "uniform").pvalue > UNLIKELY
    assert chisquare(np.bincount((uniform * 2**20).astype(int) % 64, minlength=64)).pvalue > UNLIKELY
    whole = stream(1, 1).integers(7, COUNT).numpy()
    assert chisquare(np.bincount(whole, minlength=7)).pvalue > UNLIKELY


def test_permutations_are_uniform() -> None:
    own = stream(2, 0)
    counts = Counter(tuple(own.permutation(4).tolist()) for _ in range(4800))
    assert chisquare(list(counts.values())).pvalue > UNLIKELY
    assert len(counts) == 24


@pytest.mark.parametrize("dtype", LIKE)
def test_streams_know_nothing_of_each_other(dtype: torch.dtype) -> None:
    """Of neighbouring seeds, purposes and parts, and of one stream shifted by a few numbers; and their squares."""
    like = LIKE[dtype]
    rows = [
        drawn(dtype, seed, purpose, 2**16) for seed in (0, 1, 2, 2**63) for purpose in (0, 1, 2**40, 2**40 + 1)
    ]
    rows += [stream(0, 0).part(k).normals(1, 2**16, like, dtype)[0].double().numpy() for k in range(3)]
    rows += [np.roll(rows[0], lag) for lag in range(1, 5)]
    for values in (np.array(rows), np.array(rows) ** 2):
        together = np.corrcoef(values) - np.eye(len(rows))
        assert np.abs(together).max() < 6 / 2**8


def test_seeds_and_purposes_draw_different_numbers() -> None:
    purposes = [0, 1, *(2**k for k in range(40, 60))]
    first = [int(stream(seed, purpose).words(1, 1)) for seed in range(50) for purpose in purposes]
    first += [int(stream(0, 0).part(k).words(1, 1)) for k in range(50)]
    assert len(set(first)) == len(first)


def test_no_two_purposes_are_the_same() -> None:
    folder = Path(lastiterate.__file__).parent / "runtime"
    found = Counter(
        int(power)
        for file in sorted(folder.rglob("*.py"))
        for power in re.findall(
            r"^_?[A-Z_]+(?:: Final)? = 2\*\*(\d+)\n(?=.*\n?.*(?i:purpose))", file.read_text(), re.M
        )
        if int(power) >= 40
    )
    assert len(found) >= 11
    assert max(found.values()) == 1, found


@pytest.mark.parametrize("dtype", LIKE)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 515])
def test_rows_at_once_are_rows_one_by_one(dtype: torch.dtype, size: int) -> None:
    like = LIKE[dtype]
    whole, one = stream(5, 6), stream(5, 6)
    for draw in (
        lambda own, rows: own.normals(rows, size, like, dtype),
        lambda own, rows: own.uniform(rows, size),
        lambda own, rows: own.words(rows, size),
        lambda own, rows: ball_points(rows, 2.0, Draw.LOG_UNIFORM, own, torch.zeros(size, dtype=dtype)),
    ):
        together = draw(whole, 300)
        assert torch.equal(together, torch.cat([draw(one, rows) for rows in (1, 1, 2, 200, 96)]))
        assert whole.done == one.done


def test_a_stream_goes_on_from_any_place() -> None:
    own = stream(5, 6)
    first, place, then = own.normals(1, 9, LIKE[torch.float64]), own.done, own.uniform(2, 9)
    again = Stream(5, 6, done=place)
    assert torch.equal(again.uniform(2, 9), then)
    assert torch.equal(stream(5, 6).normals(1, 9, LIKE[torch.float64]), first)


@pytest.mark.parametrize("dtype", LIKE)
def test_long_rows_are_made_in_pieces(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the size of the pieces, which is another on a GPU."""
    count = LARGE + 13
    expected = stream(0, 1).normals(2, count, LIKE[dtype])
    monkeypatch.setattr("lastiterate.runtime.random_streams._AT_ONCE", 3000)
    other = stream(0, 1)
    assert torch.equal(other.normals(2, count, LIKE[dtype]), expected)
    assert kstest(expected[1, -10_000:].double(), "norm").pvalue > UNLIKELY


@pytest.mark.parametrize(("dtype", "bits", "farthest"), [(torch.float64, 53, 8.66), (torch.float32, 32, 6.77)])
def test_normal_numbers_are_as_exact_as_is_said(dtype: torch.dtype, bits: int, farthest: float) -> None:
    """Within 4 eps of the numbers that the bits stand for, in 50 digits; two devices are then within 8."""
    mpmath.mp.dps = 50
    words = stream(9, 0).words(1, 2000)[0]
    u, v = (words[::2], words[1::2]) if bits == 53 else (words & (2**32 - 1), words)
    u = shift_right(u, 11) if bits == 53 else u
    v = shift_right(v, 64 - bits)
    found = stream(9, 0).normals(1, 2000 if bits == 53 else 4000, LIKE[dtype], dtype)[0]
    exact = [(part.to(dtype) + 0.5) * 2.0**-bits for part in (u, v)]
    turn = torch.tensor(2 * np.pi, dtype=dtype)
    worst = 0.0
    for k, (x, y) in enumerate(zip(exact[0], exact[1] * turn, strict=True)):
        length = mpmath.sqrt(-2 * mpmath.log(float(x)))
        for got, wanted in ((found[2 * k], mpmath.cos(float(y))), (found[2 * k + 1], mpmath.sin(float(y)))):
            worst = max(worst, abs(float((float(got) - length * wanted) / (length * wanted or 1))))
    assert worst <= 4 * torch.finfo(dtype).eps
    least = torch.tensor([0.5 * 2.0**-bits], dtype=dtype)
    assert farthest - 0.01 < float((-2 * least.log()).sqrt()) < farthest


def test_the_radii_of_a_log_uniform_draw_are_so_and_independent_of_the_directions() -> None:
    points = ball_points(
        20_000, 3.0, Draw.LOG_UNIFORM, stream(4, 1), torch.zeros(3, dtype=torch.float64)
    ).numpy()
    lengths = np.linalg.norm(points, axis=1)
    assert kstest(np.log(lengths / 3.0) / np.log(1e-3), "uniform").pvalue > UNLIKELY
    cosines = points[:, 0] / lengths
    assert kstest(cosines, "uniform", args=(-1, 2)).pvalue > UNLIKELY
    assert abs(np.corrcoef(np.abs(cosines), np.log(lengths))[0, 1]) < 5 / np.sqrt(len(points))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("dtype", LIKE)
def test_a_gpu_draws_the_numbers_of_the_cpu(dtype: torch.dtype) -> None:
    here, there = (stream(1, 2).normals(3, LARGE + 5, LIKE[dtype].to(at)).cpu() for at in ("cpu", "cuda"))
    assert ((here - there).abs() <= 8 * torch.finfo(dtype).eps * here.abs()).all()
    for draw in (lambda at: stream(1, 2).uniform(5, 77, at), lambda at: stream(1, 2).permutation(1000, at),
                 lambda at: stream(1, 2).integers(150, 1000, at)):  # fmt: skip
        assert torch.equal(draw("cuda").cpu(), draw("cpu"))
