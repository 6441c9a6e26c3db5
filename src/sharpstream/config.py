"""Every setting of a run, as frozen dataclasses that refuse bad values by name.

Recipes (`experiments/recipes.py`) return these, the command line edits them, `config_files.py` reads and writes them.
Paper constants live only in the recipes: the defaults here are the small settings of the simulations. The settings of
the other learners are in `config_learners.py`; all are imported from here.
"""

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from sharpstream.config_checks import DEEPEST as DEEPEST
from sharpstream.config_checks import WIDEST as WIDEST
from sharpstream.config_checks import finite_at_least, positive, require, require_choices
from sharpstream.config_learners import AdamConfig as AdamConfig
from sharpstream.config_learners import ClockworkConfig as ClockworkConfig
from sharpstream.config_learners import CountsConfig as CountsConfig
from sharpstream.config_learners import EpisodicConfig as EpisodicConfig
from sharpstream.config_learners import RecurrentConfig as RecurrentConfig
from sharpstream.config_learners import TransformerConfig as TransformerConfig
from sharpstream.config_subword import SubwordConfig

Memory = Literal["rnn", "gru", "lstm", "diagonal", "orthogonal", "delay", "legendre"]
NEVER_LEARN = ("orthogonal", "delay", "legendre")  # memories that stay as they begin
HOLD_INPUTS = ("delay", "legendre")  # memories that keep width // embedding numbers of each coordinate of an input


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
    memory: Memory = "rnn"
    """What the context blocks are. They learn to reconstruct: rnn (the paper's), gru, lstm, diagonal (leaky linear
    units). They never learn: orthogonal (the rnn as it begins), delay (the last inputs), legendre (their best fit)."""
    upper_memory: Literal["same", Memory] = "same"
    """What the context blocks above level 1 are, if not the same."""
    tag_by: Literal["own", "reconstruction", "prediction"] = "own"
    """What tags a moment. reconstruction: memory 1 learned from it (the paper's); prediction: the loss of its token
    exceeded the smoothed one, and τ (nats). own: reconstruction, or prediction where memory 1 never learns."""
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
        self._check_memories()

    def _check_memories(self) -> None:
        upper = self.memory_of(2)
        holds = self.memory in HOLD_INPUTS or upper in HOLD_INPUTS
        fits = self.embedding <= self.width or not holds
        require(fits, self, "embedding", f"at most width = {self.width}: delay and legendre hold whole inputs")
        tags = self.tag_by != "reconstruction" or self.memory not in NEVER_LEARN
        require(tags, self, "tag_by", f"'prediction' where memory = {self.memory!r}, which reconstructs nothing")
        awake = not self.train_upper_awake or upper not in NEVER_LEARN
        require(awake, self, "train_upper_awake", f"False where the upper memories are {upper!r}, which never learn")
        dead = not self.dead_upper_levels or upper == "rnn"
        require(dead, self, "dead_upper_levels", "False unless the upper memories are 'rnn', as in the published runs")

    def memory_of(self, level: int) -> str:
        """What context block ℓ is."""
        return self.memory if level == 1 or self.upper_memory == "same" else self.upper_memory

    @property
    def tags_by_prediction(self) -> bool:
        """What tags a moment, resolved."""
        return self.tag_by == "prediction" or self.memory in NEVER_LEARN

    @property
    def learns_asleep(self) -> bool:
        """Whether sleep has anything to train."""
        return not self.train_upper_awake and self.memory_of(2) not in NEVER_LEARN

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
