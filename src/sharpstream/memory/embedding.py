"""What a context block makes of an input before its memory takes it in: a row of a table, or a linear projection."""

from sharpstream.kernels.adam import Step, adam_outers, adam_vector
from sharpstream.kernels.jit import FIRST, Array, flat_kernel, lean_kernel
from sharpstream.kernels.linear import affine
from sharpstream.kernels.views import clear, copy
from sharpstream.memory.arrays import Arrays, Workspace
from sharpstream.memory.decoder import update_biases


@flat_kernel
def embed_token(p: Arrays, token: int, out: Array) -> None:
    """The token's row of the table."""
    copy(p.embed[token], out)


@lean_kernel
def embed_vector(p: Arrays, x: Array, out: Array) -> None:
    """Linear D→E, no activation."""
    affine(p.embed, p.embed_bias, x, out)


@flat_kernel
def embed_lowest(p: Arrays, token: int, vectors: Array, out: Array) -> None:
    """Block 1's embedding of a token, through its own table or through the token's frozen vector."""
    if vectors.shape[0] == 0:
        embed_token(p, token, out)
    else:
        embed_vector(p, vectors[token], out)


@lean_kernel
def update_table(p: Arrays, m: Arrays, v: Arrays, tokens: Array, w: Workspace, s: Step) -> None:
    """One Adam step on the table: every row moves on its moments, the window's rows also on their gradient."""
    g = w.row[: p.embed.shape[1]]
    for token in range(p.embed.shape[0]):
        clear(g)
        for t in range(tokens.size):
            if tokens[t] == token:
                for j in range(g.size):
                    g[j] += w.delta_embed[t, j]
        adam_vector(p.embed[token], m.embed[token], v.embed[token], g, s)


@lean_kernel
def update_projection(p: Arrays, m: Arrays, v: Arrays, inputs: Array, w: Workspace, s: Step) -> None:
    """One Adam step on the linear embedding of vectors."""
    adam_outers(p.embed, m.embed, v.embed, w.delta_embed, FIRST, inputs, FIRST, s)
    update_biases(p.embed_bias, m.embed_bias, v.embed_bias, w.delta_embed, w.row[: p.embed_bias.size], s)
