"""The settings of every learner but SHARP, one frozen dataclass each, and Adam's; `config.py` puts them into a run."""

import math
from dataclasses import dataclass, field
from typing import Literal

from sharpstream.config_checks import (
    DEEPEST,
    LARGEST_MEMORY,
    SMALLEST_MEMORY,
    WIDEST,
    finite_at_least,
    parse_bytes,
    positive,
    require,
    require_choices,
)

MOST_CLOCKS = 8  # of the episodic learner's slow level


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
    """Fill `correct` with whether the most probable symbol was right; costs a whole distribution per token, and half
    as much memory again: each context then lists its cells."""

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
    """The budget of the memory (slots, ring, match index): a number of bytes, or with kB, MB, GB (powers of 1024). The
    network's hashed rows stand beside it: 12 MB up to 256 MB, 5 % of the budget above that."""
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
    tail: int = 3
    """Order of the interpolated counts behind a vocabulary of more than 256 symbols; 0: none."""
    network: int = 256
    """Width of the network expert; 0: none."""
    expert: Literal["none", "sharp", "gru"] = "none"
    """A learner that reads the same stream; its log-probabilities are one more input of the mixers."""
    keeping: Literal["counted", "challenged", "said", "thrifty", "aged", "swept"] = "counted"
    """Who gives way where the memory is full: the least counted of four; that one by chance, the less the more it was
    counted; none to a context whose parent says the same; thrifty: both; the stale (aged); what was seen once and is
    old is dropped while asleep (swept)."""
    sweep_every: int = 100_000
    """Tokens between two sweeps (`keeping = "swept"`)."""
    replay: Literal["none", "uniform", "recent", "surprising", "again"] = "none"
    """What mixers and network learn from once more: stored inputs of any token, of the last, of surprising ones
    (asleep); the present token a second time (again, awake, nothing stored)."""
    replay_into: Literal["both", "mixers", "network"] = "both"
    """Who learns from what is replayed."""
    replay_every: int = 1000
    """Tokens between two sleeps."""
    replays: int = 250
    """Tags learned from in a sleep; of `again`, tokens of every `replay_every` that are learned from twice."""
    replay_step: float = 1.0
    """Steps asleep, as a multiple of the steps awake."""
    replay_tags: int = 4096
    """Tags that are kept, about 6 kB each beside the budget."""
    residual: bool = True
    """One more linear model over the memory, trained by the error of the whole prediction: fewer bits for a quarter
    more time. Its rows take an eighth of the budget."""
    slow: int = 0
    """Clocks of the slow level (16, 64, 256, ... tokens) that scales and shifts the network's hidden layer; 0: none."""
    mean_every: int = 100_000
    """Tokens between two looks at mixers and network: a frozen pass reads the mean of the looks, later ones weighing
    more, not what was learned last. 0: it reads what was learned last."""
    accuracy: bool = False
    """Fill `correct` with whether the most probable symbol was right; with many symbols the counts behind them then
    take half as much memory again."""
    dtype: Literal["float32", "float64"] = "float32"

    def __post_init__(self) -> None:
        require_choices(self)
        positive(self, "orders", most=16)
        positive(self, "sweep_every", "replay_every", "replays", "replay_tags", most=1 << 20)
        finite_at_least(self, 0.0, "replay_step")
        looks = isinstance(self.mean_every, int) and not isinstance(self.mean_every, bool)
        require(looks and 0 <= self.mean_every <= 1 << 40, self, "mean_every", "an integer in 0..2^40 (0: no mean)")
        clocks = isinstance(self.slow, int) and not isinstance(self.slow, bool)
        require(clocks and 0 <= self.slow <= MOST_CLOCKS, self, "slow", f"an integer in 0..{MOST_CLOCKS} (0: none)")
        ordered = isinstance(self.tail, int) and not isinstance(self.tail, bool) and 0 <= self.tail <= 8
        require(ordered, self, "tail", "an integer in 0..8 (0: none)")
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
