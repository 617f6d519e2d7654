"""Schema of the files of certificates, for readers and other programs; the checker stands without it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, ValidationError

from lastiterate.numeric.errors import InputError

Dyadic = tuple[NonNegativeInt, int]
"""[m, e], which is m 2^e."""
Runs = list[tuple[NonNegativeInt, int, PositiveInt]]
"""[m, e, k], k times in a row."""


class Part(BaseModel):
    """An object of a certificate: no other keys than those named, and a digest."""

    model_config = ConfigDict(extra="forbid", strict=True)
    digest: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]


class _Run(Part):
    """The run."""

    steps: PositiveInt
    step_size: Runs
    noise_std: Runs
    clip_norm: Dyadic
    dataset_size: PositiveInt
    batch_size: PositiveInt
    diameter: Dyadic | None
    scheme: Literal["full", "cyclic", "shuffled", "without_replacement", "poisson"]
    adjacency: Literal["replace", "add_remove"]


class _Row(Part):
    """A row of a tabulated modulus."""

    distance: Dyadic
    value: Dyadic


class _Loss(Part):
    """The class of losses, with the constants that its name calls for."""

    name: Literal["smooth", "holder", "clipped", "convex", "strongly_convex", "tabulated", "sum", "blocks", "minimum"]
    L: Dyadic | None = None
    lam: Dyadic | None = None
    m: Dyadic | None = None
    table: list[_Row] | None = None
    parts: "list[_Loss] | None" = None


class _Claim(Part):
    """The claim: mu, or an epsilon at an order or a delta."""

    quantity: Literal["gdp", "rdp", "dp"]
    at: Dyadic | None = None
    value: Dyadic


class Sizes(Part):
    """Sizes of Poisson batches without the sample."""

    low: NonNegativeInt
    high: NonNegativeInt


class Price(Part):
    """The multiplier of a sampled step, and its Renyi divergence where an order is asked for."""

    multiplier: Dyadic
    rdp: Dyadic | None = None


class Lattice(Part):
    """Losses, as multiples of a spacing, between which the profile of every kind of step is replaced by chords."""

    spacing: Dyadic
    nodes: list[list[int]]


class _Blocks(Part):
    """Blocks of strongly convex steps."""

    width: PositiveInt
    sum: NonNegativeInt
    largest: NonNegativeInt
    before: NonNegativeInt
    chance: Dyadic


class _Table(Part):
    """A table: its vertices, as multiples of a spacing of logarithms, and the masses there."""

    nodes: list[PositiveInt]
    masses: list[Dyadic]


class _Contracted(Part):
    """A block of steps, or equal ones, the table after it, and two thresholds for each vertex."""

    steps: PositiveInt
    times: PositiveInt
    near: "_Step | None"
    far: "_Step"
    table: _Table
    thresholds: list[tuple[NonNegativeInt, NonNegativeInt]] | None


class _Step(Part):
    """A node of the proof: a rule, its choices, and the number that it states."""

    rule: Literal[
        "composition", "path", "straight",
        "positions", "late order", "orders", "worst batches",
        "gaussian", "window", "ranges", "stretches",
        "contract", "moments",
        "from gdp", "from rdp", "from losses", "from table",
    ]  # fmt: skip
    of: "_Step | list[_Step] | None" = None
    start: NonNegativeInt | None = None
    steps: PositiveInt | None = None
    since: NonNegativeInt | None = None
    shifts: Literal["proportional"] | Runs | None = None
    prices: list[Price] | None = None
    kinds: list[tuple[NonNegativeInt, PositiveInt]] | None = None
    blocks: _Blocks | list[_Contracted] | None = None
    sizes: Sizes | None = None
    chance: Dyadic | None = None
    order: Dyadic | None = None
    tangent: Dyadic | None = None
    ends: list[Dyadic] | None = None
    chords: bool | None = None
    ahead: NonNegativeInt | None = None
    distances: list[Runs] | None = None
    lattices: list[Lattice] | None = None
    bits: PositiveInt | None = None
    trim: NonNegativeInt | None = None
    spacing: Dyadic | None = None
    round: bool | None = None
    rest: "_Step | None" = None
    tail: "_Step | None" = None
    cut: NonNegativeInt | None = None
    cost: Dyadic | None = None
    rdp: Dyadic | None = None


class Certificate(Part):
    """A certificate."""

    format: Literal["lastiterate certificate 1"]
    hypotheses: list[str]
    run: _Run
    loss: _Loss = Field(alias="class")
    claim: _Claim
    proof: _Step


def shaped(text: str) -> dict[str, Any]:
    """The schema of certificates (JSON schema, draft 2020-12), to which the text is held.

    Raises:
        InputError: the text is no certificate: a key is missing, or not known.
    """
    try:
        Certificate.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(
            f"A certificate needs the keys of its schema, got {place or 'the text'}: {first['msg']}; see "
            "docs/certificates.md."
        ) from error
    return Certificate.model_json_schema()
