"""A Transformer that learns from a stream in chunks, under the learner contract (extra `torch`).

Training: the stream is cut into contiguous chunks of n tokens. Each token is scored by what precedes it *in its chunk*
(no context crosses from one chunk to the next; a chunk's first prediction reads the last token of the one before), and
when the n-th prediction has been scored, one Adam update is made from all n. The stream's first token costs log2 V.
Which windows frozen scoring reads is in `transformer_windows.py`, the network in `transformer_model.py`.

Many tokens at once are scored by one pass over the chunk (the very pass that trains, if they complete it), few by a
cache of keys and values. Both agree to rounding. What is learned, and so every later chunk, never depends on how the
tokens were handed in; and bits are repeated exactly, also by a resumed learner, whenever the calls are.
"""

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from sharpstream.config import TransformerConfig
from sharpstream.errors import ConfigError, NumericalError, RunError
from sharpstream.learners.contract import (
    Array,
    Bits,
    LearnerBase,
    Regime,
    State,
    Tokens,
    check_resets,
    check_state_tokens,
    check_tokens,
)
from sharpstream.reference.transformer_model import Transformer
from sharpstream.reference.transformer_windows import WINDOW, Windows, full_windows, segments, short_windows

Scores = tuple[Bits, npt.NDArray[np.bool_]]  # bits, and whether the most probable symbol was right
MOMENTS = (("m", "exp_avg"), ("v", "exp_avg_sq"))  # our names of Adam's moments, and torch's
BLOCK = 32  # tokens: fewer are scored through the cache, which is filled in blocks of this size
BATCH_TOKENS = 8192  # read at once when scoring frozen
BATCH_LOGITS = 1 << 24  # and logits held at once


class TransformerLearner(LearnerBase):
    """A causal Transformer trained by one Adam update per chunk.

    >>> learner = TransformerLearner(TransformerConfig(layers=1, width=8, heads=2, d_ff=8, chunk=4), vocabulary=3)
    >>> learner.learn(np.array([0, 1, 2] * 4)).shape, learner.updates
    ((12,), 2)
    """

    name = "transformer"

    def __init__(
        self, config: TransformerConfig, vocabulary: int, *, seed: int = 0, vectors: Array | None = None
    ) -> None:
        if vocabulary < 2:
            raise ConfigError(f"vocabulary = {vocabulary}: a learner needs at least 2 symbols to choose from")
        size, shape = config.input_size, None if vectors is None else vectors.shape
        if shape != ((vocabulary, size) if size else None):
            wanted = f"frozen vectors of shape ({vocabulary}, {size})" if size else "no vectors"
            raise ConfigError(f"input_size = {size} needs {wanted}; the given ones have shape {shape}")
        self.config, self.vocabulary, self.seed = config, vocabulary, seed
        context = config.chunk if config.scoring == "full" else WINDOW
        self.regime: Regime = {
            "carry": "-", "train_context": config.chunk, "score_context": context, "update_interval": config.chunk,
        }  # fmt: skip
        self.model = Transformer(config, vocabulary, vectors, seed)
        a = config.adam
        self.adam = torch.optim.Adam(
            self.model.parameters(), lr=a.lr, betas=(a.beta1, a.beta2), eps=a.eps, weight_decay=a.weight_decay
        )
        self.observed = self.updates = 0
        self.chunk: list[int] = []  # inputs of the current chunk; the last one awaits its successor
        self.caches = self.model.make_cache()
        self.cached = self.settled = 0  # how many of them are in the caches, and how many of those by whole blocks
        self.logits = self.model.angles.new_zeros(vocabulary)  # after the last cached token; nothing seen: uniform
        self.correct = np.zeros(0, dtype=np.bool_)  # of the last learn or evaluate: argmax right?

    # ---- learning ----------------------------------------------------------------------------------------------------

    def predict(self) -> npt.NDArray[np.float64]:
        p: npt.NDArray[np.float64] = torch.softmax(self._look_ahead().double(), -1).numpy()
        return p

    def observe(self, token: int) -> float:
        return float(self.learn(np.array([token]))[0])

    def learn(self, tokens: Tokens) -> Bits:
        checked = check_tokens(tokens, self.vocabulary, first=self.observed).tolist()
        bits, self.correct = np.empty(len(checked)), np.zeros(len(checked), dtype=np.bool_)
        done, n = 0, self.config.chunk
        while done < len(checked):
            take = min(n + 1 - len(self.chunk), len(checked) - done)
            if not self.chunk or take < min(BLOCK, n):
                take = 1
                scored = self._one_token(checked[done])
            else:
                scored = self._many_tokens(checked[done : done + take])
            self._insist_on_finite(bool(np.isfinite(scored[0]).all()))
            bits[done : done + take], self.correct[done : done + take] = scored
            self.observed += take
            done += take
        return bits

    def _many_tokens(self, targets: list[int]) -> Scores:
        """Tokens of one chunk at once; when they complete it, what the update computes anyway scores them."""
        inputs = [*self.chunk, *targets[:-1]]
        if len(inputs) == self.config.chunk:
            logits = self._update(inputs, [*inputs[1:], targets[-1]])[-len(targets) :]
            self._begin_chunk(targets[-1])
        else:
            with torch.no_grad():
                logits = self.model(torch.tensor([inputs]), last=len(targets))[0]
            self.chunk += targets
        return bits_of(logits, torch.tensor(targets))

    def _one_token(self, token: int) -> Scores:
        scored = bits_of(self._look_ahead()[None], torch.tensor([token]))
        if len(self.chunk) == self.config.chunk:
            self._update(self.chunk, [*self.chunk[1:], token])
            self._begin_chunk(token)
        else:
            self.chunk.append(token)
        return scored

    def _insist_on_finite(self, finite: bool) -> None:
        if not finite:
            raise NumericalError(
                f"learning left the finite numbers in the chunk that follows token {self.observed}: its loss is not "
                f"finite. Try a smaller adam.lr (now {self.config.adam.lr:g})"
            )

    def _begin_chunk(self, token: int) -> None:
        self.chunk, self.cached, self.settled = [token], 0, 0

    def _update(self, inputs: list[int], targets: list[int]) -> Tensor:
        """One Adam step on the mean loss of a chunk; the logits (n, V) from before it."""
        logits = self.model(torch.tensor([inputs]))[0]
        loss = F.cross_entropy(logits, torch.tensor(targets))
        self._insist_on_finite(bool(torch.isfinite(loss)))
        self.adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.adam.step()
        self.updates += 1
        scored: Tensor = logits.detach()
        return scored

    def _look_ahead(self) -> Tensor:
        """Logits of the next token, (V,). Only caches change.

        The last token's block is read token by token, all blocks before it whole: so what is cached depends on the
        chunk alone, not on when somebody looked, and a resumed learner finds exactly the same.
        """
        with torch.no_grad():
            while self.settled < (len(self.chunk) - 1) // BLOCK * BLOCK:
                self.model.extend(self.chunk[self.settled : self.settled + BLOCK], self.settled, self.caches)
                self.settled += BLOCK
            self.cached = max(self.cached, self.settled)
            for position in range(self.cached, len(self.chunk)):
                self.logits = self.model.extend(self.chunk[position : position + 1], position, self.caches)
            self.cached = len(self.chunk)
        return self.logits

    # ---- looking on --------------------------------------------------------------------------------------------------

    def evaluate(self, tokens: Tokens) -> Bits:
        """Frozen bits; with `scoring` full the current chunk is the context of the first tokens."""
        return self._score(tokens, every=0)

    def evaluate_with_resets(self, tokens: Tokens, every: int) -> Bits:
        """`evaluate` with an empty context before token 0 and every so many tokens after (0: never)."""
        return self._score(tokens, check_resets(every))

    def _score(self, tokens: Tokens, every: int) -> Bits:
        checked = check_tokens(tokens, self.vocabulary)
        before = [] if every else self.chunk
        text = np.concatenate([np.array(before, dtype=np.int64), checked])
        bits, correct = np.full(text.size, math.log2(self.vocabulary)), np.zeros(text.size, dtype=np.bool_)
        cut = full_windows if self.config.scoring == "full" else short_windows
        windows = [cut(start, stop, self.config.chunk) for start, stop in segments(text.size, every)]
        with torch.no_grad():
            for starts, length, scored in batches(windows, self.vocabulary):
                positions = starts[:, None] + np.arange(length)
                logits = self.model(torch.tensor(text[positions]), last=scored)
                targets = positions[:, -scored:] + 1
                bits[targets], correct[targets] = bits_of(logits, torch.tensor(text[targets]))
        self.correct = correct[len(before) :]
        return bits[len(before) :]

    def forget(self) -> None:
        """The chunk under way is given up: nothing is learned from a part of one."""
        self.chunk, self.cached, self.settled = [], 0, 0
        self.logits = self.model.angles.new_zeros(self.vocabulary)

    # ---- state -------------------------------------------------------------------------------------------------------

    def state_dict(self) -> State:
        state: State = {name: p.detach().numpy().copy() for name, p in self.model.named_parameters()}
        for name, p in self.model.named_parameters():
            kept = self.adam.state.get(p, {})
            for short, long in MOMENTS:
                state[f"adam.{short}.{name}"] = kept.get(long, torch.zeros_like(p)).numpy().copy()
        state |= {name: np.array(getattr(self, name), dtype=np.int64) for name in ("observed", "updates", "seed")}
        state["chunk"] = np.array(self.chunk, dtype=np.int64)
        return state

    def load_state_dict(self, state: Mapping[str, Array]) -> None:
        self._check(state)
        with torch.no_grad():
            for name, p in self.model.named_parameters():
                p.copy_(torch.tensor(state[name]))
                moments = {long: torch.tensor(state[f"adam.{short}.{name}"]).to(p) for short, long in MOMENTS}
                self.adam.state[p] = {"step": torch.tensor(float(state["updates"])), **moments}
        self.observed, self.updates, self.seed = (int(state[name]) for name in ("observed", "updates", "seed"))
        self.chunk, self.cached, self.settled = state["chunk"].tolist(), 0, 0
        self.logits = torch.zeros_like(self.logits)

    def _check(self, state: Mapping[str, Array]) -> None:
        own = self.state_dict()
        if own.keys() != state.keys():
            differing = ", ".join(sorted(own.keys() ^ state.keys())[:5])
            raise RunError(f"this state is not of this learner: the arrays {differing} are missing or unknown")
        for name, mine in own.items():
            given = np.asarray(state[name])
            fits = given.ndim == 1 and len(given) <= self.config.chunk if name == "chunk" else given.shape == mine.shape
            if not fits or given.dtype.kind != mine.dtype.kind:
                found, wanted = f"{given.dtype} {given.shape}", f"{mine.dtype} {mine.shape}"
                raise RunError(f"the state's {name} is {found}, but this learner's is {wanted}")
            squares = name.startswith("adam.v.")
            if given.dtype.kind == "f" and not (np.isfinite(given).all() and (not squares or given.min() >= 0)):
                raise RunError(f"the state's {name} holds numbers that no learning leaves behind")
        chunk, observed = state["chunk"], int(state["observed"])
        check_state_tokens("chunk", chunk, self.vocabulary)
        if min(observed, int(state["updates"])) < 0:
            raise RunError("the state's observed or updates is below 0")
        if observed < int(state["updates"]) * self.config.chunk + len(chunk):  # more, where it was told to forget
            raise RunError("the state's observed, updates and chunk contradict one another")

    def parameters(self, *, active: bool = False) -> int:
        return sum(p.numel() for p in self.model.parameters())

    @property
    def growth_bytes(self) -> int:
        return 8 * self.config.chunk  # it fills up with tokens


def bits_of(logits: Tensor, targets: Tensor) -> Scores:
    """−log2 p of the targets, in float64, and whether each was the most probable; logits (..., V), targets (...)."""
    log_p = torch.log_softmax(logits.double(), -1).gather(-1, targets[..., None].long())[..., 0]
    return (log_p / -math.log(2.0)).numpy(), (logits.argmax(-1) == targets).numpy()


def batches(windows: list[Windows], vocabulary: int) -> list[tuple[npt.NDArray[np.int64], int, int]]:
    """Windows of equal length and equally many scored positions, as many together as memory allows."""
    together = np.concatenate(windows) if windows else np.zeros((0, 3), dtype=np.int64)
    found = []
    for length, scored in np.unique(together[:, 1:], axis=0).tolist():
        starts = together[(together[:, 1] == length) & (together[:, 2] == scored), 0]
        rows = max(1, min(BATCH_TOKENS // length, BATCH_LOGITS // (scored * vocabulary)))
        found += [(starts[i : i + rows], length, scored) for i in range(0, len(starts), rows)]
    return found
