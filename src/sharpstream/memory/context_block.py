"""A context block of any kind, compiled: what it must offer the rest of SHARP, and the choice among the kinds.

    advance    the state after one more input          awake for every level, asleep for the dreams
    read       what others see of a state              the pattern block, and the level above
    surprise   how badly the last T inputs are recalled
    learn      one Adam step from that

The arithmetic of a kind is in its own file; `decoder.py` and `embedding.py` are shared. `kind` is a number at run time:
no kind is compiled twice, and one learner may have several.
"""

from sharpstream.kernels.adam import Step
from sharpstream.kernels.jit import Array, flat_kernel, lean_kernel
from sharpstream.kernels.views import copy, shift
from sharpstream.memory import decoder, delay, diagonal, gated, legendre, rnn
from sharpstream.memory.arrays import Arrays, Workspace
from sharpstream.memory.embedding import embed_token, embed_vector, update_projection, update_table
from sharpstream.memory.kinds import DELAY, DIAGONAL, GRU, LEGENDRE, LSTM, ORTHOGONAL, RNN

KEEP = 0.9  # how much of the old reconstruction error the smoothed one keeps, awake and asleep, in both engines


@flat_kernel
def advance(kind: int, p: Arrays, embedded: Array, state: Array, out: Array, passed: Array) -> None:
    """out ← the state after one more input; `out` and `state` are different arrays, (S,).

    What learning needs of the step stays in `passed`: in the window a row of the workspace, else scratch.
    """
    if kind in (RNN, ORTHOGONAL):
        rnn.advance(p.encode_in, p.encode_rec, p.encode_in_bias, p.encode_rec_bias, embedded, state, out)
    elif kind in (GRU, LSTM):
        gated.advance(kind, p, embedded, state, out, passed)
    elif kind == DIAGONAL:
        diagonal.advance(p, embedded, state, out, passed)
    elif kind == DELAY:
        delay.advance(embedded, state, out)
    elif kind == LEGENDRE:
        legendre.advance(p, embedded, state, out, passed)


@flat_kernel
def read(kind: int, state: Array, out: Array) -> None:
    """out ← what is read of a state, (H,)."""
    if kind == DIAGONAL:
        diagonal.read(state, out)
    elif kind in (DELAY, LEGENDRE):
        delay.read(state, out)
    else:
        copy(state, out)  # of an LSTM the hidden units, which stand first


@lean_kernel
def surprise_tokens(kind: int, p: Arrays, tokens: Array, carried: Array, w: Workspace) -> float:
    """Mean cross-entropy (nats) of reading the window's T tokens back; `carried` moves on to after the first."""
    for t in range(_start(w, carried), tokens.size):
        embed_token(p, tokens[t], w.embedded[t])
        advance(kind, p, w.embedded[t], w.states[t], w.states[t + 1], w.passed[t])
    copy(w.states[1], carried)
    read(kind, w.states[tokens.size], w.decoded[0])
    decoder.decode(p, w)
    return decoder.compare_tokens(tokens, w)


@lean_kernel
def surprise_vectors(kind: int, p: Arrays, inputs: Array, targets: Array, carried: Array, w: Workspace) -> float:
    """Mean squared error of reading the window's T vectors back, (T, D); `carried` moves on to after the first."""
    for t in range(_start(w, carried), inputs.shape[0]):
        embed_vector(p, inputs[t], w.embedded[t])
        advance(kind, p, w.embedded[t], w.states[t], w.states[t + 1], w.passed[t])
    copy(w.states[1], carried)
    read(kind, w.states[inputs.shape[0]], w.decoded[0])
    decoder.decode(p, w)
    return decoder.compare_vectors(targets, w)


@lean_kernel
def _start(w: Workspace, carried: Array) -> int:
    """Where the window's encoding begins: the first input that has to be taken in.

    With unchanged weights the window one step on passes through the very states this one did, so they are shifted
    instead of computed again: one encoder step instead of T, and the same numbers to the last bit.
    """
    if not w.aligned[0]:
        copy(carried, w.states[0])
        w.aligned[0] = 1
        return 0
    window = w.embedded.shape[0]
    shift(w.states)
    shift(w.embedded)
    shift(w.passed[:window])
    return window - 1


@lean_kernel
def learn_tokens(kind: int, p: Arrays, m: Arrays, v: Arrays, tokens: Array, w: Workspace, s: Step) -> None:
    """One Adam step on a token block from its last surprise."""
    _learn(kind, p, m, v, w, s)
    update_table(p, m, v, tokens, w, s)


@lean_kernel
def learn_vectors(kind: int, p: Arrays, m: Arrays, v: Arrays, inputs: Array, w: Workspace, s: Step) -> None:
    """One Adam step on a vector block from its last surprise."""
    _learn(kind, p, m, v, w, s)
    update_projection(p, m, v, inputs, w, s)


@lean_kernel
def _learn(kind: int, p: Arrays, m: Arrays, v: Arrays, w: Workspace, s: Step) -> None:
    """Back through decoder and memory, then one Adam step on everything but the embedding."""
    decoder.backward(p, w)
    if kind == RNN:
        rnn.backward(p, w)
        rnn.update(p, m, v, w, s)
    elif kind in (GRU, LSTM):
        gated.backward(kind, p, w)
        gated.update(p, m, v, w, s)
    elif kind == DIAGONAL:
        diagonal.backward(p, w)
        diagonal.update(p, m, v, w, s)
    decoder.update(p, m, v, w, s)
    w.aligned[0] = 0  # the states of this window belong to the old weights
