"""Algorithm 1 while awake, compiled: the whole stream loop, thousands of tokens without returning to Python.

`wake` is the loop; each numbered function below is one line of the algorithm, in order. The arrays of a learner travel
as three named tuples: the `Model` that learns, the `Mind` it has now, and the `Desk` it works on.
"""

import math
from typing import NamedTuple

from sharpstream.kernels.adam import adam_step
from sharpstream.kernels.jit import LOWEST, Array, flat_kernel, lean_kernel
from sharpstream.kernels.norm import LN2, softmax
from sharpstream.kernels.views import clear, copy, shift
from sharpstream.memory import arrays, embedding
from sharpstream.memory.arrays import Arrays, Workspace
from sharpstream.memory.context_block import (
    KEEP,
    advance,
    learn_tokens,
    learn_vectors,
    read,
    surprise_tokens,
    surprise_vectors,
)
from sharpstream.memory.drowsiness import drowsy
from sharpstream.pattern import pattern_block
from sharpstream.pattern.pattern_block import Form, Scratch, Trace

context_arrays, embed_lowest, embed_vector = arrays.borrowed_arrays, embedding.embed_lowest, embedding.embed_vector
NOBODY = 0  # no level is deaf


class Model(NamedTuple):
    """What learns, and how: parameters, Adam's moments, and the settings the loop needs."""

    p: Array
    m: Array
    v: Array
    table: Array  # the layout of the three buffers
    hyper: Array  # (4,): β1, β2, eps, weight decay
    vectors: Array  # (V, D) frozen inputs; empty when block 1 reads tokens
    kinds: Array  # (L,): what each memory is
    sizes: Array  # (L,): S, the numbers in each memory's state
    form: Form
    first: int  # the layout row where the context blocks begin
    levels: int
    alpha: int
    on_tick: bool  # pattern blocks 2..L take credit when their level ticks, not at every step
    lr: float
    gamma: float
    tau: float
    learns: bool  # whether memory 1 does
    by_prediction: bool  # what tags: the surprise of the prediction, or memory 1's
    upper_awake: bool
    trigger: int
    every: int
    novelty_ratio: float
    novelty_rest: int


class Mind(NamedTuple):
    """What the learner remembers: everything but the parameters that decides what happens next."""

    states: Array  # (L, S): prediction path, what each memory holds; h^ℓ is read from it
    carried: Array  # (L, S): training path, after the first input of the last window
    tokens: Array  # (T,): block 1's window, when it reads tokens
    inputs: Array  # (T, D): block 1's window, when it reads vectors
    windows: Array  # (L, T, H): windows of the upper blocks (wake-only arm)
    fill: Array  # (L,): how many inputs each window holds
    ema: Array  # (L,)
    expected: Array  # (1,): tagging by prediction, the smoothed loss of the predictions
    recon_sum: Array  # (L,)
    recon_count: Array  # (L,)
    updates: Array  # (L,): Adam steps each context block has taken awake
    pending: Array  # (L, H): on-tick, δ at c^ℓ summed since level ℓ last ticked
    ticks: Array  # (L,): on-tick, Adam steps pattern block ℓ ≥ 2 has taken
    observed: Array  # (1,), as all that follow: tokens seen
    clock: Array  # steps on which the levels tick
    tagged: Array  # steps ever tagged
    since_sleep: Array
    floor: Array  # lowest EMA since the last sleep
    tags_state: Array  # (N, S): first-in-first-out, a ring
    tags_context: Array  # (N, H)
    tag_count: Array
    tag_next: Array


class Desk(NamedTuple):
    """Working space; nothing here outlives a token but the forward pass that the next credit step needs."""

    trace: Trace
    scratch: Scratch
    lowest: Workspace
    upper: Workspace
    contexts: Array  # (L + 1, H): contexts[ℓ - 1] = c^ℓ
    logits: Array  # (V,)
    p: Array  # (V,): p̂ of the next token
    delta: Array  # (V,)
    delta_context: Array  # (2, H)
    embedded: Array  # (E,)
    state: Array  # (S,)
    passed: Array  # what a step of the prediction path leaves; nobody reads it
    readout: Array  # (H,)
    mean: Array  # (H,): of the contexts that a deaf level would have heard
    moves: Array  # (1,): how many those were
    stale: Array  # (1,): contexts and logits of levels up to this one are not those of the present mind and model
    tagging: Array  # (1,): 1 when the step under way is to be tagged
    due: Array  # (1,): 1 when the loop stopped for sleep
    failed: Array  # (1,): 1 when a loss was not finite


@lean_kernel
def wake(model: Model, mind: Mind, desk: Desk, tokens: Array, bits: Array, correct: Array) -> int:
    """Learn from tokens until they end, or sleep is due, or a loss is not finite; returns how many were taken.

    Step 5 stands at the top of the loop so that it has one call site: after a load it runs once before the first
    token, and the same machine code gives the same bits as if the run had never stopped.
    """
    lowest = context_arrays(model.p, model.table, model.first, LOWEST)
    for i in range(tokens.size + 1):
        if desk.stale[0]:
            look_ahead(model, mind, desk, True, NOBODY)
            if desk.tagging[0]:
                tag(mind, desk)
            if i > 0:
                smoothed = mind.expected[0] if model.by_prediction else mind.ema[0]
                rest, ratio = model.novelty_rest, model.novelty_ratio
                if drowsy(model.trigger, model.every, ratio, rest, mind.since_sleep, mind.floor, smoothed):
                    desk.due[0] = 1
                    return i
        if i == tokens.size:
            break
        x = tokens[i]
        bits[i] = score(desk.logits, desk.p, x)
        correct[i] = is_top(desk.logits, x)
        credit(model, mind, desk, x)
        learned = reconstruct(model, lowest, mind, desk, x)
        tagged = unexpected(bits[i], mind.expected, model.tau) if model.by_prediction else learned
        ticked = remember(model, lowest, mind, desk, x, True)
        mind.observed[0] += 1
        desk.tagging[0] = tagged
        desk.stale[0] = ticked if model.on_tick else model.levels
        if not math.isfinite(bits[i]) or not math.isfinite(mind.ema[0]):
            desk.failed[0] = 1
            return i
    return tokens.size


@lean_kernel
def score(logits: Array, p: Array, x: int) -> float:
    """1. bits of x_t under p̂_t, which was computed before x_t was seen; p ← p̂_t."""
    log_total = softmax(logits, p)
    return (float(log_total) - float(logits[x])) / LN2


@lean_kernel
def is_top(logits: Array, x: int) -> bool:
    """Whether x is the most probable token (the first of equals)."""
    best = 0
    for i in range(1, logits.size):
        if logits[i] > logits[best]:
            best = i
    return best == x


@lean_kernel
def credit(model: Model, mind: Mind, desk: Desk, x: int) -> None:
    """2. one Adam step on every pattern block, bottom-up, block ℓ at lr·γ^(ℓ−1); no context block is touched.

    On-tick, nothing that block ℓ ≥ 2 reads changes between two ticks of its level: what arrives at its output is
    summed, and it learns from the sum in the step in which it ticks. The first level that does not tick ends the walk.
    """
    copy(desk.p, desk.delta)
    desk.delta[x] -= 1
    lr, period = model.lr, 1
    step, delta = mind.observed[0] + 1, desk.delta
    for level in range(1, model.levels + 1):
        if model.on_tick and level > 1:
            pending = mind.pending[level - 1]
            for j in range(pending.size):
                pending[j] += delta[j]
            if (mind.clock[0] + 1) % period != 0:
                return
            mind.ticks[level - 1] += 1
            step, delta = mind.ticks[level - 1], pending
        s = adam_step(model.p, model.hyper, lr, step)
        back = desk.delta_context[level % 2]
        pattern_block.backward(
            model.p, model.m, model.v, model.table, model.form, level,
            delta, desk.contexts[level], desk.trace, desk.scratch, s, back,
        )  # fmt: skip
        if model.on_tick and level > 1:
            clear(mind.pending[level - 1])
        delta = back
        lr *= model.gamma
        period *= model.alpha


@lean_kernel
def reconstruct(model: Model, p: Arrays, mind: Mind, desk: Desk, x: int) -> bool:
    """3. reconstruct the window ending in x_t; if the smoothed error exceeds τ, learn from it and tag the step."""
    if not model.learns:
        return False
    reads_tokens = model.vectors.shape[0] == 0
    if reads_tokens:
        copy(mind.tokens[1:], mind.tokens[:-1])
        mind.tokens[-1] = x
    else:
        shift(mind.inputs)
        copy(model.vectors[x], mind.inputs[-1])
    mind.fill[0] = min(mind.fill[0] + 1, mind.tokens.size)
    if mind.fill[0] < mind.tokens.size:
        return False
    kind, carried = model.kinds[0], mind.carried[0][: model.sizes[0]]
    if reads_tokens:
        loss = surprise_tokens(kind, p, mind.tokens, carried, desk.lowest)
    else:
        loss = surprise_vectors(kind, p, mind.inputs, mind.inputs, carried, desk.lowest)
    if not surprised(loss, model.tau, LOWEST - 1, mind.ema, mind.recon_sum, mind.recon_count, mind.updates):
        return False
    m = context_arrays(model.m, model.table, model.first, LOWEST)
    v = context_arrays(model.v, model.table, model.first, LOWEST)
    s = adam_step(model.p, model.hyper, model.lr, mind.updates[0])
    if reads_tokens:
        learn_tokens(kind, p, m, v, mind.tokens, desk.lowest, s)
    else:
        learn_vectors(kind, p, m, v, mind.inputs, desk.lowest, s)
    return True


@lean_kernel
def surprised(loss: float, tau: float, i: int, ema: Array, total: Array, count: Array, updates: Array) -> bool:
    """The gate of level i + 1: smooth the reconstruction error, and count an update if it exceeds τ."""
    ema[i] = KEEP * ema[i] + (1.0 - KEEP) * loss
    total[i] += loss
    count[i] += 1
    if not ema[i] > tau:
        return False
    updates[i] += 1
    return True


@lean_kernel
def unexpected(bits: float, expected: Array, tau: float) -> bool:
    """The other reason to tag: the loss of x_t exceeds the smoothed one, and τ (both in nats)."""
    loss = bits * LN2
    rare = loss > max(expected[0], tau)
    expected[0] = KEEP * expected[0] + (1.0 - KEEP) * loss
    return rare


@flat_kernel
def remember(model: Model, lowest: Arrays, mind: Mind, desk: Desk, x: int, learn: bool) -> int:
    """4. advance the memories bottom-up in the same step, level ℓ every α^(ℓ−1) steps; returns the highest that did."""
    mind.clock[0] += 1
    state = mind.states[0][: model.sizes[0]]
    embed_lowest(lowest, x, model.vectors, desk.embedded)
    advance(model.kinds[0], lowest, desk.embedded, state, desk.state[: state.size], desk.passed)
    copy(desk.state, state)
    period = 1
    for level in range(2, model.levels + 1):
        period *= model.alpha
        if mind.clock[0] % period != 0:
            return level - 1
        i = level - 1
        read(model.kinds[i - 1], state, desk.readout)
        if learn and model.upper_awake:
            reconstruct_upper(model, mind, desk, level)
        p, state = context_arrays(model.p, model.table, model.first, level), mind.states[i][: model.sizes[i]]
        embed_vector(p, desk.readout, desk.embedded)
        advance(model.kinds[i], p, desk.embedded, state, desk.state[: state.size], desk.passed)
        copy(desk.state, state)
    return model.levels


@lean_kernel
def reconstruct_upper(model: Model, mind: Mind, desk: Desk, level: int) -> None:
    """The wake-only arm: block ℓ learns from its own window whenever its clock ticks."""
    i = level - 1
    window = mind.windows[i]
    shift(window)
    copy(desk.readout, window[-1])
    mind.fill[i] = min(mind.fill[i] + 1, window.shape[0])
    if mind.fill[i] < window.shape[0]:
        return
    p = context_arrays(model.p, model.table, model.first, level)
    desk.upper.aligned[0] = 0  # the workspace is shared by all upper levels
    kind, carried = model.kinds[i], mind.carried[i][: model.sizes[i]]
    loss = surprise_vectors(kind, p, window, window, carried, desk.upper)
    if surprised(loss, model.tau, i, mind.ema, mind.recon_sum, mind.recon_count, mind.updates):
        m = context_arrays(model.m, model.table, model.first, level)
        v = context_arrays(model.v, model.table, model.first, level)
        s = adam_step(model.p, model.hyper, model.lr, mind.updates[i])
        learn_vectors(kind, p, m, v, window, desk.upper, s)


@lean_kernel
def look_ahead(model: Model, mind: Mind, desk: Desk, learning: bool, deaf: int) -> None:
    """5. contexts c^L … c² top-down, then the logits of p̂_{t+1}; what nothing has changed since is kept.

    A block that has just learned hears the same context otherwise; a frozen one only when the level above has moved.
    A deaf level gets the mean of what it would have heard so far.
    """
    stale = desk.stale[0]
    for level in range(stale, 0, -1):
        context = desk.contexts[level]
        if level == deaf:
            if level < stale:
                add_to_mean(desk, context)
            context = desk.mean
        out = desk.logits if level == 1 else desk.contexts[level - 1]
        read(model.kinds[level - 1], mind.states[level - 1][: model.sizes[level - 1]], desk.readout)
        pattern_block.forward(
            model.p, model.table, model.form, level,
            desk.readout, context, learning or level < stale, desk.trace, out,
        )  # fmt: skip
    desk.stale[0] = 0


@lean_kernel
def add_to_mean(desk: Desk, context: Array) -> None:
    """One more context into the running mean; each stands for equally many tokens."""
    desk.moves[0] += 1
    for j in range(context.size):
        desk.mean[j] += (context[j] - desk.mean[j]) / context.dtype.type(desk.moves[0])


@lean_kernel
def tag(mind: Mind, desk: Desk) -> None:
    """6. keep (memory 1's state, c²) in the ring; the oldest gives way."""
    copy(mind.states[0], mind.tags_state[mind.tag_next[0]])
    copy(desk.contexts[1], mind.tags_context[mind.tag_next[0]])
    capacity = mind.tags_state.shape[0]
    mind.tag_next[0] = (mind.tag_next[0] + 1) % capacity
    mind.tag_count[0] = min(mind.tag_count[0] + 1, capacity)
    mind.tagged[0] += 1
    desk.tagging[0] = 0


@lean_kernel
def score_frozen(
    model: Model, mind: Mind, desk: Desk, tokens: Array, every: int, deaf: int, bits: Array, correct: Array
) -> None:
    """Bits of each token with learning off. `mind` and `desk` are copies.

    every > 0 forgets the past every so often; deaf = ℓ > 0 gives level ℓ the mean of what it would hear from above.
    """
    lowest = context_arrays(model.p, model.table, model.first, LOWEST)
    desk.stale[0] = model.levels
    for i in range(tokens.size):
        if every > 0 and i % every == 0:
            clear(mind.states.reshape(mind.states.size))
            mind.clock[0] = 0
            desk.stale[0] = model.levels
        look_ahead(model, mind, desk, False, deaf)
        bits[i] = score(desk.logits, desk.p, tokens[i])
        correct[i] = is_top(desk.logits, tokens[i])
        desk.stale[0] = remember(model, lowest, mind, desk, tokens[i], False)


@lean_kernel
def walk(model: Model, mind: Mind, desk: Desk, tokens: Array, level: int, readouts: Array) -> None:
    """readouts ← h^ℓ after each token, learning off. `mind` and `desk` are copies; readouts (n, H)."""
    lowest = context_arrays(model.p, model.table, model.first, LOWEST)
    for i in range(tokens.size):
        remember(model, lowest, mind, desk, tokens[i], False)
        read(model.kinds[level - 1], mind.states[level - 1][: model.sizes[level - 1]], readouts[i])
