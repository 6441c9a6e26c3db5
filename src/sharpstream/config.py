"""Every setting of a run, as frozen dataclasses that refuse bad values by name.

Recipes (`experiments/recipes.py`) return these, the command line edits them, `config_files.py` reads and writes them.
Paper constants live only in the recipes: the defaults here are the small settings of the simulations.
"""

import dataclasses
import math
import re
import typing
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from sharpstream.config_subword import SubwordConfig
from sharpstream.errors import ConfigError

DEEPEST, WIDEST = 64, 65_536  # no learner of ours is near; a slip of the keyboard is refused before it allocates


def require(ok: bool, owner: object, name: str, allowed: str) -> None:
    """Refuse a field's value, naming the field, the value and what is allowed."""
    if not ok:
        raise ConfigError(f"{type(owner).__name__}.{name} = {getattr(owner, name)!r}: it must be {allowed}")


def require_choices(owner: Any) -> None:
    """Check every Literal field of a dataclass against its choices (the types alone do not hold at run time)."""
    for name, hint in typing.get_type_hints(type(owner)).items():
        if typing.get_origin(hint) is Literal:
            choices = typing.get_args(hint)
            require(getattr(owner, name) in choices, owner, name, "one of " + ", ".join(map(repr, choices)))


def positive(owner: object, *names: str, most: int | None = None) -> None:
    """Each named field is an integer of at least 1, and at most `most`."""
    allowed = "an integer ≥ 1" if most is None else f"an integer in 1..{most}"
    for name in names:
        value = getattr(owner, name)
        whole = isinstance(value, int) and not isinstance(value, bool)
        require(whole and 1 <= value <= (value if most is None else most), owner, name, allowed)


def finite_at_least(owner: object, low: float, *names: str) -> None:
    """Each named field is a finite number of at least `low`."""
    for name in names:
        value = getattr(owner, name)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        require(number and math.isfinite(value) and value >= low, owner, name, f"a finite number ≥ {low:g}")


SMALLEST_MEMORY, LARGEST_MEMORY = 64 << 10, 1 << 40  # bytes


def parse_bytes(text: str) -> int | None:
    """Bytes from a number with an optional unit; None when it is neither.

    >>> parse_bytes("256MB"), parse_bytes("1.5 kB"), parse_bytes("a lot")
    (268435456, 1536, None)
    """
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s*(|k|m|g)i?b?\s*", text.lower())
    if match is None:
        return None
    return int(float(match[1]) * 1024 ** ("kmg".find(match[2]) + 1 if match[2] else 0))


@dataclass(frozen=True, kw_only=True)
class AdamConfig:
    """Adam with coupled weight decay (the decay is added to the gradient)."""

    lr: float = 1e-4
    """Step size; pattern block ℓ uses lr·γ^(ℓ−1)."""
    beta1: float = 0.9
    """Share of the running mean of gradients that is kept at a step."""
    beta2: float = 0.999
    """Share of the running mean of squared gradients that is kept at a step."""
    eps: float = 1e-8
    """Added to the root of the squares, in units of a gradient."""
    weight_decay: float = 1e-8
    """Share of a weight that is added to its gradient."""

    def __post_init__(self) -> None:
        finite_at_least(self, 0.0, "lr", "weight_decay")
        for name in ("beta1", "beta2"):
            require(0.0 <= getattr(self, name) < 1.0, self, name, "in [0, 1)")
        require(math.isfinite(self.eps) and self.eps > 0.0, self, "eps", "a finite number > 0")


@dataclass(frozen=True, kw_only=True)
class SleepConfig:
    """When the learner sleeps and what it replays."""

    trigger: Literal["every", "idle", "novelty", "never"] = "every"
    """every: after N wake steps; idle: after seconds without input; novelty: when reconstruction gets worse."""
    every: int = 20_000
    """Wake steps between sleeps (trigger `every`)."""
    idle_seconds: float = 5.0
    """Seconds without input before sleep (trigger `idle`)."""
    novelty_ratio: float = 2.0
    """Sleep when the reconstruction EMA exceeds this multiple of its floor since the last sleep (trigger `novelty`)."""
    novelty_rest: int = 1_000
    """Wake steps after a sleep before the floor is measured (trigger `novelty`): the EMA starts from 0."""
    tags: int = 100
    """How many tagged moments (h¹, c²) are kept, first in first out."""
    replay_length: int = 64
    """R: tokens generated from each tag."""
    tau: float | None = None
    """Gate of the consolidation updates; the wake threshold when not given."""
    top_k: int = 0
    """Sample replayed tokens from the k most probable only; 0 samples from all."""
    replay_noise: float = 0.0
    """Standard deviation of Gaussian noise added to the input windows of consolidation."""
    reset_on_sleep: bool = False
    """Zero the hidden states and clocks after sleep instead of restoring them (what the published numbers did)."""

    def __post_init__(self) -> None:
        require_choices(self)
        positive(self, "every", "novelty_rest", "tags", "replay_length")
        finite_at_least(self, 0.0, "idle_seconds", "replay_noise")
        require(math.isfinite(self.novelty_ratio) and self.novelty_ratio > 1.0, self, "novelty_ratio", "a number > 1")
        require(isinstance(self.top_k, int) and self.top_k >= 0, self, "top_k", "an integer ≥ 0 (0 means all)")
        if self.tau is not None:
            finite_at_least(self, 0.0, "tau")


@dataclass(frozen=True, kw_only=True)
class SharpConfig:
    """The SHARP model and how it learns (DESIGN section 3)."""

    levels: int = 3
    """L: how many context blocks, and as many pattern blocks."""
    width: int = 100
    """H: numbers in every hidden state."""
    embedding: int = 30
    """E: numbers in a block's input after its embedding."""
    depth: int = 3
    """Linear layers in each pattern block."""
    window: int = 4
    """T: how many tokens back a gradient reaches."""
    alpha: int | None = None
    """α: ticks of a level for one tick of the level above; equal to the window when not given."""
    gamma: float = 0.1
    """γ: the step of a pattern block as a share of that of the block below."""
    tau: float = 1e-3
    """τ: context block 1 learns, and the step is tagged, when the reconstruction EMA exceeds this."""
    decoder: Literal["rnn", "recall"] = "rnn"
    """rnn: the paper's decoder; recall: T linear read-outs of the last state."""
    conditioning: Literal["film", "film-normed", "concat"] = "film"
    """How a pattern block takes the context from above. film: the paper's plain scale and shift; film-normed: a later
    form with two LayerNorms and bounded gains; concat: the context beside the state."""
    activation: Literal["own", "every", "pre", "between"] = "own"
    """Where GELU stands: before every linear, before every linear but the last (pre), or between consecutive linears.
    own: the block's own, `every` for film and `pre` for the others."""
    credit: Literal["every-step", "on-tick"] = "every-step"
    """When pattern blocks 2..L learn: at every token (the paper's), or from the summed error when their level ticks."""
    input_size: int = 0
    """0: block 1 reads tokens through its own table. D > 0: it reads frozen D-dimensional vectors given beside it."""
    output_adam: Literal["full", "no-momentum", "factored", "factored-no-momentum"] = "full"
    """What Adam keeps of the output layer's V × H weights. A large vocabulary is faster with less: no first moment
    (β1 = 0), a second moment in a row and a column (factored), or both."""
    train_upper_awake: bool = False
    """The wake-only arm: upper context blocks learn online whenever their clock ticks, and there is no sleep."""
    dead_upper_levels: bool = False
    """Control: every upper encoder weight is 1.0 at the start, which kills the upper levels (a published artefact)."""
    cells: Literal["orthogonal", "uniform"] = "orthogonal"
    """How recurrent cells begin: Xavier and orthogonal with zero biases, or all uniform in ±1/√H (published runs)."""
    dtype: Literal["float32", "float64"] = "float32"
    adam: AdamConfig = field(default_factory=AdamConfig)
    sleep: SleepConfig = field(default_factory=SleepConfig)

    def __post_init__(self) -> None:
        require_choices(self)
        positive(self, "levels", "depth", most=DEEPEST)
        positive(self, "width", "embedding", "window", most=WIDEST)
        if self.alpha is not None:
            positive(self, "alpha", most=WIDEST)
        slowest = self.acceleration ** (self.levels - 1)  # steps between two ticks of the top level
        require(slowest < 2**62, self, "levels", f"small enough that α^(levels−1) < 2^62 (α is {self.acceleration})")
        finite_at_least(self, 0.0, "gamma", "tau")
        require(isinstance(self.input_size, int) and self.input_size >= 0, self, "input_size", "an integer ≥ 0")
        splits = self.width > 1 or not self.output_adam.startswith("factored")
        require(splits, self, "output_adam", "'full' or 'no-momentum' where width = 1: there is nothing to factor")

    @property
    def acceleration(self) -> int:
        """α, resolved: the window's length unless it was given."""
        return self.window if self.alpha is None else self.alpha

    @property
    def placement(self) -> str:
        """Where GELU stands, resolved: every, pre or between."""
        if self.activation != "own":
            return self.activation
        return "every" if self.conditioning == "film" else "pre"

    @property
    def sleep_tau(self) -> float:
        """τ of the consolidation updates, resolved."""
        return self.tau if self.sleep.tau is None else self.sleep.tau


@dataclass(frozen=True, kw_only=True)
class CountsConfig:
    """Interpolated order-k counts in tables of fixed size."""

    order: int = 5
    """How many past tokens a context holds: -1 predicts uniformly, 0 is the unigram, at most 8."""
    table_bits: int = 22
    """2^bits count cells and half as many contexts: 128 MB at 22; a full bucket gives up its least counted entry."""
    discount: float | None = None
    """Taken from every count and given to the order below; None: three per order (counts 1, 2, 3+), learned online."""
    lower_orders: Literal["novel", "all"] = "novel"
    """What a lower order counts: only symbols new to the order above (as Kneser-Ney does), or every symbol."""
    accuracy: bool = False
    """Fill `correct` with whether the most probable symbol was right; costs a whole distribution per token."""

    def __post_init__(self) -> None:
        require_choices(self)
        for name, low, high in (("order", -1, 8), ("table_bits", 4, 28)):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            require(whole and low <= value <= high, self, name, f"an integer in {low}..{high}")
        if self.discount is not None:
            finite_at_least(self, 0.0, "discount")
            require(0.0 < self.discount < 1.0, self, "discount", "a number between 0 and 1, or None to learn it")


@dataclass(frozen=True, kw_only=True)
class EpisodicConfig:
    """An episodic memory of what followed each context, and a pattern block that learns to read it."""

    memory: str = "256MB"
    """The budget of the memory (slots, ring, match index): a number of bytes, or with kB, MB, GB (powers of 1024)."""
    contexts: Literal["auto", "text", "plain"] = "auto"
    """text: orders, words and skips; plain: orders and skips; auto: text for 27 letters and for bytes."""
    orders: int = 7
    """The longest order: contexts of the last 1, 2, ... symbols."""
    words: bool = True
    """Contexts of words (text only)."""
    skips: bool = True
    """Contexts that leave symbols out."""
    states: bool = True
    """Learned state tables; without them only the counts speak."""
    selectors: bool = True
    """Mixers choose their weights by what was found; without, each has one set."""
    match: bool = True
    """Match models: verbatim recall of long repeats."""
    corrections: bool = True
    """Additive corrections of the final probabilities."""
    network: int = 256
    """Width of the network expert; 0: none."""
    expert: Literal["none", "sharp", "gru"] = "none"
    """A learner that reads the same stream; its log-probabilities are one more input of the mixers."""
    accuracy: bool = False
    """Fill `correct` with whether the most probable symbol was right."""
    dtype: Literal["float32", "float64"] = "float32"

    def __post_init__(self) -> None:
        require_choices(self)
        positive(self, "orders", most=16)
        whole = isinstance(self.network, int) and not isinstance(self.network, bool)
        require(whole and 0 <= self.network <= WIDEST, self, "network", f"an integer in 0..{WIDEST} (0: none)")
        allowed = f"a size such as '256MB', at least {SMALLEST_MEMORY >> 10}kB and below {LARGEST_MEMORY >> 40} TB"
        require(isinstance(self.memory, str) and parse_bytes(self.memory) is not None, self, "memory", allowed)
        require(SMALLEST_MEMORY <= self.memory_bytes < LARGEST_MEMORY, self, "memory", allowed)

    @property
    def memory_bytes(self) -> int:
        """The budget as a number."""
        return parse_bytes(self.memory) or 0


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """A causal Transformer that learns from a stream in chunks, one Adam update each."""

    layers: int = 2
    """How many blocks of attention and SwiGLU."""
    width: int = 64
    """Numbers in a token's vector."""
    heads: int = 4
    """Attention heads a layer."""
    d_ff: int = 176
    """Inner width of the SwiGLU layers."""
    chunk: int = 1024
    """Tokens per update, and the longest context."""
    scoring: Literal["full", "window4"] = "full"
    """What frozen evaluation sees: a sliding context of at least half a chunk, or isolated windows of 4 tokens."""
    input_size: int = 0
    """0: tokens are read through a trained table. D > 0: frozen D-dimensional vectors through a trained projection."""
    dtype: Literal["float32", "float64"] = "float32"
    adam: AdamConfig = field(default_factory=AdamConfig)

    def __post_init__(self) -> None:
        require_choices(self)
        positive(self, "layers", "width", "heads", "d_ff", "chunk")
        pairs = self.width % (2 * self.heads) == 0
        require(pairs, self, "width", f"a multiple of 2 × heads ({2 * self.heads}): rotary positions turn pairs")
        require(self.chunk >= 2, self, "chunk", "an integer ≥ 2")
        require(isinstance(self.input_size, int) and self.input_size >= 0, self, "input_size", "an integer ≥ 0")


@dataclass(frozen=True, kw_only=True)
class RecurrentConfig:
    """A recurrent baseline: embedding, stacked cells, linear read-out, learning online from a short window."""

    cell: Literal["rnn", "lstm", "gru"] = "rnn"
    layers: int = 3
    """How many cells on top of each other."""
    width: int = 100
    """H: numbers in every layer's state."""
    embedding: int = 30
    """E: numbers in a token's embedding."""
    window: int = 4
    """T: how many tokens back a gradient reaches."""
    carry: Literal["aligned", "overlap"] = "aligned"
    """The state a window starts from: after the first token of the last window, or (as published) after its end."""
    input_size: int = 0
    """0: tokens have a table of their own. D > 0: frozen D-dimensional vectors are given, read through a Linear D→E."""
    dtype: Literal["float32", "float64"] = "float32"
    adam: AdamConfig = field(default_factory=AdamConfig)

    def __post_init__(self) -> None:
        require_choices(self)
        positive(self, "layers", most=DEEPEST)
        positive(self, "width", "embedding", "window", most=WIDEST)
        require(isinstance(self.input_size, int) and self.input_size >= 0, self, "input_size", "an integer ≥ 0")


@dataclass(frozen=True, kw_only=True)
class ClockworkConfig:
    """A Clockwork RNN: modules of tanh units, each ticking at its own period, and a read-out of all of them."""

    modules: int = 5
    """How many groups of units, each with its own period."""
    growth: int = 2
    """Each module's period is this many times the one before: 1, 2, 4, 8, 16 by default."""
    width: int = 100
    """H: units in each module."""
    embedding: int = 30
    """E: numbers in a token's embedding."""
    window: int = 4
    """T: how many tokens back a gradient reaches."""
    carry: Literal["aligned", "overlap"] = "aligned"
    """As for the other recurrent baselines; with `overlap` the clock ticks at every re-read token (as published)."""
    wiring: Literal["original", "reversed"] = "original"
    """original: slow modules feed fast ones; reversed: fast ones feed slow ones (as published; `overlap` only)."""
    input_size: int = 0
    """0: tokens have a table of their own. D > 0: frozen D-dimensional vectors are given, read through a Linear D→E."""
    dtype: Literal["float32", "float64"] = "float32"
    adam: AdamConfig = field(default_factory=AdamConfig)

    def __post_init__(self) -> None:
        require_choices(self)
        positive(self, "modules", most=DEEPEST)
        positive(self, "growth", "width", "embedding", "window", most=WIDEST)
        require(self.growth ** (self.modules - 1) < 2**62, self, "modules", "few enough that growth^(modules−1) < 2^62")
        require(isinstance(self.input_size, int) and self.input_size >= 0, self, "input_size", "an integer ≥ 0")
        fair = self.wiring == "original" or self.carry == "overlap"
        require(fair, self, "wiring", "'original' unless carry = 'overlap': only the published protocol reverses it")

    @property
    def periods(self) -> tuple[int, ...]:
        """How many tokens lie between two ticks of each module, fastest first."""
        return tuple(self.growth**module for module in range(self.modules))


@dataclass(frozen=True, kw_only=True)
class StreamConfig:
    """Where the tokens come from."""

    name: str = "nonlinear"
    """linear, random, nonlinear, python-docs, text8, pg19, pg19-subword, a file path (text; .npy: integers;
    FILE.csv:COLUMN: the column's values), or - for standard input."""
    k: int = 2
    """nonlinear only: how many past community visits decide the direction."""
    start: int = 0
    """First token read (corpora and files)."""
    end: int | None = None
    """One past the last token read; the whole corpus when not given."""
    alphabet: Literal["letters", "bytes"] = "letters"
    """Files and standard input: 27 symbols (space, a-z) or the 256 byte values."""
    subword: SubwordConfig = field(default_factory=SubwordConfig)

    def __post_init__(self) -> None:
        require_choices(self)
        require(bool(self.name), self, "name", "the name of a stream, a file path or -")
        positive(self, "k")
        require(isinstance(self.start, int) and self.start >= 0, self, "start", "an integer ≥ 0")
        if self.end is not None:
            require(
                isinstance(self.end, int) and self.end > self.start, self, "end", f"an integer > start ({self.start})"
            )


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """One run: a learner, a stream, how many tokens, which seed, how often to look."""

    learner: str = "sharp"
    """sharp, or a baseline: rnn, lstm, gru, clockwork, transformer, counts, unigram, uniform; or episodic, which
    `sharp run` takes for text and bytes when nobody says."""
    engine: Literal["fused", "reference"] = "fused"
    """fused: the compiled learner; reference: its PyTorch twin (slow; needs the torch extra)."""
    tokens: int = 200_000
    """How many tokens to learn from (fewer if the stream ends)."""
    seed: int = 0
    """Seeds the model, the replay and a synthetic stream's data."""
    log_every: int = 10_000
    """Tokens per line of metrics.jsonl."""
    probe_every: int = 0
    """Tokens between frozen evaluations of the probe segments seen so far; 0 for none."""
    probe_length: int = 10_000
    """Tokens in each probe segment."""
    reset_states_per_book: bool = False
    """Forget states, windows and clocks where a new part of the stream begins (PG-19: a book), as published."""
    stream: StreamConfig = field(default_factory=StreamConfig)
    sharp: SharpConfig = field(default_factory=SharpConfig)
    recurrent: RecurrentConfig = field(default_factory=RecurrentConfig)
    clockwork: ClockworkConfig = field(default_factory=ClockworkConfig)
    transformer: TransformerConfig = field(default_factory=TransformerConfig)
    counts: CountsConfig = field(default_factory=CountsConfig)
    episodic: EpisodicConfig = field(default_factory=EpisodicConfig)

    def __post_init__(self) -> None:
        require_choices(self)
        positive(self, "tokens", "log_every", "probe_length")
        require(isinstance(self.seed, int) and 0 <= self.seed < 2**63, self, "seed", "an integer in 0..2^63-1")
        require(isinstance(self.probe_every, int) and self.probe_every >= 0, self, "probe_every", "an integer ≥ 0")

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)
